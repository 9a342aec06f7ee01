"""Programs of ``tf.contrib.learn``, for 1.15.5 and for tf1sessions: ``run(tf, contrib)`` returns what they did.

Variables start with values that are made from their names. Runs on Python 3.7 too.
"""

import os
import tempfile
import zlib

import numpy as np

RNG = np.random.RandomState(0)
X = RNG.rand(40, 4).astype(np.float32)
CLASSES = (X.sum(1) > 2).astype(np.int64) + (X[:, 0] > 0.7)
WORDS = np.array([["a", "b"], ["c", ""], ["b", "a"], ["zz", "c"]] * 10)


def numbers(value):
    value = np.asarray(value)
    if value.dtype.kind in "OSU":
        return [item.decode() if isinstance(item, bytes) else str(item) for item in value.ravel()]
    return [float(f"{item:.7g}") for item in value.ravel()]


def setting(tf, seen):
    class Set(tf.train.SessionRunHook):
        """Gives all variables their values, and notes what is in the graph."""

        def begin(self):
            graph = tf.get_default_graph()
            self.assignments = []
            for variable in tf.trainable_variables():
                rng = np.random.RandomState(zlib.crc32(variable.op.name.encode()) % 2**32)
                self.assignments.append(tf.assign(variable, rng.uniform(-0.5, 0.5, variable.shape.as_list())))
            seen["variables"] = [[v.name, v.shape.as_list(), v.dtype.base_dtype.name] for v in tf.global_variables()]
            seen["local"] = sorted(v.name for v in tf.local_variables())
            seen["collections"] = {
                key: sorted(item.name for item in graph.get_collection(key))
                for key in ("model_variables", "dnn", "linear", "summaries", "trainable_variables", "losses")
            }

        def after_create_session(self, session, coord):
            session.run(self.assignments)

    return Set()


def estimators(tf, contrib):
    learn, layers = contrib.learn, contrib.layers

    def config():
        return learn.RunConfig(tf_random_seed=1, save_summary_steps=50)

    def columns():
        return [layers.real_valued_column("x", dimension=4)]

    def features():
        return {"x": tf.constant(X), "w": tf.constant(1.0 + X[:, :1]), "c": tf.constant(WORDS)}

    def classes():
        return features(), tf.constant(CLASSES)

    def two():
        return features(), tf.constant((CLASSES > 0).astype(np.int64))

    def reals():
        return features(), tf.constant(X.sum(1))

    sparse = [
        layers.sparse_column_with_keys("c", ["a", "b", "c"]),
        layers.bucketized_column(columns()[0], [0.3, 0.6]),
    ]
    both = {"linear_feature_columns": sparse, "dnn_hidden_units": [4], "fix_global_step_increment_bug": True}
    both["dnn_feature_columns"] = columns() + [
        layers.embedding_column(layers.sparse_column_with_hash_bucket("c", 9), 2),
        layers.one_hot_column(sparse[0]),
    ]
    sgd = tf.train.GradientDescentOptimizer
    return {
        "DNNClassifier": (learn.DNNClassifier([5, 3], columns(), n_classes=3, config=config()), classes),
        "DNNClassifier 2": (
            learn.DNNClassifier([5], columns(), config=config(), optimizer=sgd(0.1), gradient_clip_norm=0.1),
            two,
        ),
        "DNNRegressor": (learn.DNNRegressor([5], columns(), config=config(), activation_fn=tf.nn.tanh), reals),
        "DNNRegressor core": (
            learn.DNNRegressor([5], [tf.feature_column.numeric_column("x", shape=[4])], config=config()),
            reals,
        ),
        "LinearClassifier": (learn.LinearClassifier(columns() + sparse, n_classes=3, config=config()), classes),
        "LinearClassifier 2": (learn.LinearClassifier(columns(), config=config()), two),
        "LinearRegressor": (
            learn.LinearRegressor(columns(), weight_column_name="w", config=config(), gradient_clip_norm=0.5),
            reals,
        ),
        "Combined": (learn.DNNLinearCombinedClassifier(n_classes=3, config=config(), **both), classes),
        "Combined regressor": (learn.DNNLinearCombinedRegressor(config=config(), **both), reals),
    }


def canned(tf, contrib):
    found = {}
    for name, (estimator, input_fn) in sorted(estimators(tf, contrib).items()):
        seen = found[name] = {}
        estimator.fit(input_fn=input_fn, steps=3, monitors=[setting(tf, seen)])
        seen["names"] = sorted(estimator.get_variable_names())
        # the learning rates are not trained; slots follow from what is
        seen["after"] = {key: numbers(estimator.get_variable_value(key)) for key in seen["names"]}
        metrics = estimator.evaluate(input_fn=input_fn, steps=1)
        seen["metrics"] = {key: numbers(value) for key, value in metrics.items()}
        predictions = estimator.predict(input_fn=input_fn, as_iterable=True)
        seen["predictions"] = [numbers(next(predictions)) for _ in range(4)]
        if hasattr(estimator, "predict_proba"):
            seen["probabilities"] = numbers(next(iter(estimator.predict_proba(input_fn=input_fn))))
    return found


def model_fn_of(tf, contrib, batches):
    def model_fn(features, labels, mode, params):
        def note(value):
            batches.append(value.ravel().tolist())
            return value

        x = tf.py_func(note, [features], features.dtype)
        x.set_shape([None, 2])
        y = contrib.layers.fully_connected(tf.to_float(x), 1, None, weights_initializer=tf.ones_initializer())
        loss, train_op = None, None
        if mode != contrib.learn.ModeKeys.INFER:
            loss = tf.losses.mean_squared_error(tf.reshape(tf.to_float(labels), [-1, 1]), y)
            train_op = contrib.layers.optimize_loss(loss, tf.train.get_global_step(), params["rate"], "SGD")
        if params.get("tuple"):
            return y, loss, train_op
        metrics = {"mean": tf.metrics.mean(y)} if mode == "eval" else None
        return contrib.learn.ModelFnOps(mode, {"y": y, "z": 2 * y}, loss, train_op, metrics)

    return model_fn


def own_model(tf, contrib):
    learn = contrib.learn
    x, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    batches = []
    estimator = learn.Estimator(model_fn_of(tf, contrib, batches), params={"rate": 0.001})
    estimator.fit(x, y, steps=5, batch_size=4)
    found = {"batches": list(batches), "repr": repr(estimator), "names": sorted(estimator.get_variable_names())}

    def error(predictions, labels):
        return tf.metrics.mean_absolute_error(labels, tf.cast(tf.reshape(predictions, [-1]), labels.dtype))

    for metrics in ({"error": learn.MetricSpec(error, prediction_key="y")}, {("other", "z"): error}):
        results = estimator.evaluate(x, y, metrics=metrics)
        found[f"metrics {len(found)}"] = {key: numbers(value) for key, value in results.items()}
    found["in batches"] = {key: numbers(value) for key, value in estimator.evaluate(x, y, batch_size=4).items()}
    found["predictions"] = [numbers(row["z"]) for row in estimator.predict(x)]
    found["at once"] = numbers(estimator.predict(x, as_iterable=False, outputs=["y"], batch_size=4)["y"])
    estimator.partial_fit(x, y)
    found["step"] = int(estimator.get_variable_value("global_step"))
    compat = learn.SKCompat(learn.Estimator(model_fn_of(tf, contrib, []), params={"rate": 0.001, "tuple": 1}))
    found["fit"] = repr(compat.fit(x, y, steps=2, batch_size=3))
    found["score"] = {key: numbers(value) for key, value in compat.score(x, y).items()}
    found["predict"] = numbers(compat.predict(x, batch_size=2))
    for name, call in {
        "both": lambda: estimator.fit(x, y, input_fn=lambda: 1, steps=1),
        "none": lambda: estimator.fit(steps=1),
        "steps": lambda: estimator.fit(x, y, steps=1, max_steps=1),
        "params": lambda: learn.Estimator(lambda features, labels: 1, params={}),
        "unfitted": lambda: learn.Estimator(model_fn_of(tf, contrib, [])).evaluate(x, y),
        "outputs": lambda: list(estimator.predict(x, outputs=["q"])),
        "classes": lambda: learn.DNNClassifier([2], [], n_classes=1),
    }.items():
        try:
            call()
            found["error " + name] = None
        except Exception as error:
            found["error " + name] = type(error).__name__
    return found


def experiment(tf, contrib):
    learn = contrib.learn
    x, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)

    def input_fn():
        return tf.constant(x), tf.constant(y)

    def make(output_dir):
        config = learn.RunConfig(save_checkpoints_steps=2, model_dir=output_dir)
        estimator = learn.Estimator(model_fn_of(tf, contrib, []), params={"rate": 0.001}, config=config)
        return learn.Experiment(estimator, input_fn, input_fn, train_steps=5, eval_steps=1, eval_delay_secs=0)

    folder = tempfile.mkdtemp()
    metrics, exports = learn.learn_runner.run(make, folder)
    found = {"metrics": {key: numbers(value) for key, value in metrics.items()}, "exports": exports}
    found["evaluations"] = sorted(name for name in os.listdir(folder) if name.startswith("eval"))
    metrics = learn.learn_runner.run(make, tempfile.mkdtemp(), schedule="test")
    found["test"] = {key: numbers(value) for key, value in metrics.items()}
    found["evaluate"] = numbers(make(folder).evaluate(delay_secs=0)["loss"])
    return found


def texts(tf, contrib):
    learn = contrib.learn
    lines = ["a b c", "it's A_b a FOOBar x-y 12 \u00e9", "d", "HTMLParser a b"]
    found = {"tokens": list(learn.preprocessing.tokenizer(lines))}
    for name, processor in {
        "plain": learn.preprocessing.VocabularyProcessor(4),
        "min": learn.preprocessing.VocabularyProcessor(4, min_frequency=1),
        "own": learn.preprocessing.VocabularyProcessor(3, tokenizer_fn=lambda texts: (t.split(" ") for t in texts)),
    }.items():
        rows = list(processor.fit_transform(lines))
        found[name] = {"rows": [row.tolist() for row in rows], "dtype": str(rows[0].dtype)}
        found[name]["mapping"] = dict(processor.vocabulary_._mapping)
        found[name]["later"] = [row.tolist() for row in processor.transform(["a unknown d", ""])]
        found[name]["back"] = list(processor.reverse([[1, 0]]))
    path = os.path.join(tempfile.mkdtemp(), "vocabulary")
    processor = learn.preprocessing.VocabularyProcessor(4)
    list(processor.fit_transform(lines))
    processor.save(path)
    again = learn.preprocessing.VocabularyProcessor.restore(path)
    found["restored"] = [row.tolist() for row in again.transform(lines)]
    rows = np.array([["a", "b"], ["a", "c"], ["d", "b"]])
    categories = learn.preprocessing.CategoricalProcessor(min_frequency=1)
    found["categories"] = [row.tolist() for row in categories.fit_transform(rows)]
    shared = learn.preprocessing.CategoricalProcessor(share=True)
    found["shared"] = [row.tolist() for row in shared.fit_transform(rows)]
    found["bytes"] = [row.tolist() for row in learn.preprocessing.ByteProcessor(5).transform(["abcdefg", "\u00e9"])]
    vocabulary = learn.preprocessing.CategoricalVocabulary("U", support_reverse=False)
    vocabulary.add("x", 3)
    vocabulary.add("y")
    vocabulary.freeze()
    vocabulary.trim(1)
    found["trimmed"] = [vocabulary.get("x"), vocabulary.get("y"), len(vocabulary)]
    return found


def data(tf, contrib):
    learn = contrib.learn
    iris = learn.datasets.load_dataset("iris")
    folder = tempfile.mkdtemp()
    found = {"iris": numbers(iris.data.sum(0)) + numbers(iris.data[::37]), "target": iris.target.tolist()}
    base = learn.datasets.base
    with open(os.path.join(folder, "a.csv"), "w") as file:
        file.write("2,3,p,q\n1,2,3,0\n4,5,6,1\n")
    for column in (-1, 0):
        table = base.load_csv_with_header(os.path.join(folder, "a.csv"), np.int32, np.float32, target_column=column)
        found[f"header {column}"] = [numbers(table.data), numbers(table.target), str(table.data.dtype)]
    with open(os.path.join(folder, "b.csv"), "w") as file:
        file.write("1,2,3,0\n4,5,6,1\n7,8,9,0\n")
    table = base.load_csv_without_header(os.path.join(folder, "b.csv"), np.int64, np.float64, target_column=1)
    found["no header"] = [numbers(table.data), numbers(table.target), str(table.target.dtype)]
    base.shrink_csv(os.path.join(folder, "b.csv"), 2)
    with open(os.path.join(folder, "b_small.csv")) as file:
        found["small"] = file.read().split()
    with tf.Graph().as_default():
        variable = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        added = tf.assign_add(variable, 1.0)
        found["run_n"] = [numbers(value["a"]) for value in learn.run_n({"a": added}, n=3)]
    found["columns"] = [list(c[:2]) for c in learn.infer_real_valued_columns_from_input({"b": X, "a": X[:, :1]})]
    found["config"] = {
        name: str(getattr(learn.RunConfig(num_cores=2), name))
        for name in ("task_id", "is_chief", "num_ps_replicas", "save_checkpoints_secs", "environment")
    }
    return found


PARTS = (canned, own_model, experiment, texts, data)


def run(tf, contrib, parts=PARTS):
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    for function in parts:
        found[function.__name__] = function(tf, contrib)
    return found
