"""Programs that use ``tf.contrib.estimator``; see estimator_cases.py. The file has to run on Python 3.7 too."""

import numpy as np
from estimator_canned_record import record_mode
from estimator_cases import World, plain

CASES = {}
X = np.arange(8, dtype=np.float32).reshape(8, 1) / 4
Y = 3 * X + 1


def case(function):
    CASES[function.__name__] = function
    return function


def contrib(world):
    return world.tf.contrib.estimator


# ------------------------------------------------------------------------------------------------ recurrent networks


def sequences(dtype=np.int64):
    """[B=2, T=3]: two values, three values."""
    indices = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]]
    return lambda tf: tf.SparseTensor(indices, tf.constant(np.arange(1, 6), dtype), [2, 3])


def words(tf):
    indices = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]]
    return tf.SparseTensor(indices, ["a", "b", "c", "a", "other"], [2, 3])


FEATURES = {
    "token": sequences(),
    "number": sequences(np.float32),
    "word": words,
    "context": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32),
}
TWO = np.array([[1], [0]])


def columns(tf):
    fc, sequence = tf.feature_column, tf.contrib.feature_column
    word = sequence.sequence_categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    return [
        fc.embedding_column(sequence.sequence_categorical_column_with_identity("token", 10), 3),
        sequence.sequence_numeric_column("number"),
        fc.indicator_column(word),
    ]


def networks(world, names, make):
    found = {}
    for name in names:
        modes, labels, network = make(name)
        built = {"estimator": network, "features": FEATURES, "labels": labels}
        found[name] = {}
        for mode in modes:
            recorded = record_mode(world.tf, built, mode)
            del recorded["summaries"]
            found[name][mode] = recorded
    return plain(found)


@case
def recurrent_classifiers(world):
    tf, e = world.tf, contrib(world)
    context = [tf.feature_column.numeric_column("context", shape=(2,))]
    embedding = columns(tf)[:1]
    arguments = {
        "lstm": (columns(tf), context, {"num_units": [4, 3], "cell_type": "lstm"}),
        "gru": (embedding, None, {"num_units": [2], "cell_type": "gru", "n_classes": 3}),
        "default": (embedding, None, {"num_units": [2]}),
        "class": (embedding, None, {"num_units": [2], "cell_type": tf.nn.rnn_cell.LSTMCell}),
        "weighted": (embedding, None, {"num_units": [2], "weight_column": "weight", "loss_reduction": "weighted_sum"}),
    }

    def make(name):
        modes = ("train", "eval", "infer") if name in ("lstm", "gru") else ("train",)
        sequence, dense, more = arguments[name]
        if name == "weighted":
            FEATURES["weight"] = np.array([1.0, 3.0], np.float32)
        labels = np.array([[2], [0]]) if name == "gru" else TWO
        return modes, labels, e.RNNClassifier(sequence, dense, **more)

    return networks(world, sorted(arguments), make)


@case
def recurrent_estimators(world):
    tf, e = world.tf, contrib(world)

    def make(name):
        head = e.regression_head() if name == "cell_fn" else world.estimator.RegressionHead()
        more = {"rnn_cell_fn": lambda mode: tf.nn.rnn_cell.BasicRNNCell(3)}
        if name == "new_head":
            more = {"num_units": [2], "cell_type": "lstm", "optimizer": "Adam"}
        return ("train",), TWO.astype(np.float32), e.RNNEstimator(head, columns(tf)[:1], **more)

    return networks(world, ["cell_fn", "new_head"], make)


@case
def recurrent_errors(world):
    tf, e = world.tf, contrib(world)
    embedding = columns(tf)[:1]
    plain_column = tf.feature_column.numeric_column("context", shape=(2,))

    def built(columns, **more):
        built = {"estimator": e.RNNClassifier(columns, **more), "features": FEATURES, "labels": TWO}
        return record_mode(tf, built, "train")

    def kind(function, *args, **kwargs):
        return world.error(function, *args, **kwargs)[0]

    return [
        world.error(e.RNNClassifier, embedding, num_units=[3], rnn_cell_fn=lambda mode: None),
        world.error(e.RNNClassifier, embedding, cell_type="lstm", rnn_cell_fn=lambda mode: None),
        world.error(e.RNNEstimator, e.regression_head(), embedding, num_units=[3], return_sequences=True),
        kind(e.RNNClassifier, embedding, num_units=[3], n_classes=1),
        kind(built, embedding, num_units=[3], cell_type="other"),
        kind(built, [plain_column], num_units=[3]),
        kind(built, [], num_units=[3]),
    ]


@case
def trained_recurrent_network(world):
    """That it learns, and what its checkpoint has."""
    tf, e, folder = world.tf, contrib(world), world.folder()
    made = e.RNNClassifier(columns(tf), num_units=[3], cell_type="lstm", model_dir=folder)

    def input_fn():
        return {name: value(tf) for name, value in FEATURES.items() if callable(value)}, tf.constant(TWO)

    made.train(input_fn, steps=150)
    saved = [[name, shape] for name, shape in tf.train.list_variables(folder)]
    return plain([saved, sorted(made.evaluate(input_fn, steps=1)), made.evaluate(input_fn, steps=1)["accuracy"]])


@case
def sequence_input_layer(world):
    tf, found = world.tf, []
    for chosen in (columns(tf), columns(tf)[1:2], columns(tf)[2:]):
        with tf.Graph().as_default() as graph:
            features = {name: value(tf) if callable(value) else value for name, value in FEATURES.items()}
            values, lengths = tf.contrib.feature_column.sequence_input_layer(features, chosen)
            names = [[v.name, v.shape.as_list()] for v in tf.global_variables()]
            setters = [v.assign(np.ones(v.shape.as_list())) for v in tf.global_variables()]
            with tf.Session(graph=graph) as session:
                session.run([tf.global_variables_initializer(), tf.tables_initializer()])
                session.run(setters)
                found.append([names, session.run([values, lengths]), [lengths.dtype.name, len(values.shape)]])
    return plain(found)


# ---------------------------------------------------------------------------------------------------- other Estimators


def linear_model(world, train=None):
    """A ``model_fn`` of w * x + b."""
    tf, e = world.tf, world.estimator

    def model_fn(features, labels, mode):
        x = features["x"] if isinstance(features, dict) else features
        x = tf.sparse.to_dense(x) if isinstance(x, tf.SparseTensor) else x
        w = tf.get_variable("w", [1, 1], initializer=tf.ones_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        found = tf.matmul(x, w) + b
        if mode == "infer":
            outputs = {
                "serving_default": e.export.PredictOutput({"found": found}),
                "other": e.export.RegressionOutput(found),
                "class": e.export.ClassificationOutput(scores=found),
            }
            return e.EstimatorSpec(mode, predictions={"found": found}, export_outputs=outputs)
        loss = tf.losses.mean_squared_error(labels, found)
        step = tf.train.get_global_step()
        train_op = None
        if mode == "train":
            train_op = (train or (lambda *loss: tf.train.GradientDescentOptimizer(0.1).minimize(*loss)))(loss, step)
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, found), "mean": tf.metrics.mean(found)}
        return e.EstimatorSpec(
            mode, loss=loss, train_op=train_op, predictions={"found": found}, eval_metric_ops=metrics
        )

    return model_fn


def data(world, x=X, y=Y, repeat=3):
    return lambda: world.tf.data.Dataset.from_tensors(({"x": x}, y)).repeat(repeat)


class Watch:
    """A hook that notes the graph's variables."""

    def __new__(cls, tf, notes):
        class Hook(tf.train.SessionRunHook):
            def begin(self):
                for key in ("variables", "trainable_variables", "local_variables", "global_step", "losses", "train_op"):
                    notes[key] = sorted(item.name for item in tf.get_collection(key))

        return Hook()


def serving(world):
    tf = world.tf
    with tf.Graph().as_default():
        placeholder = tf.placeholder(tf.float32, [None, 1], name="x")
    return world.estimator.export.build_raw_serving_input_receiver_fn({"x": placeholder})


def used(world, made, x=X, y=Y):
    """What an Estimator does when it trains, evaluates and predicts."""
    tf, notes = world.tf, {}
    made.train(data(world, x, y), steps=2, hooks=[Watch(tf, notes)])
    found = {"notes": notes, "values": {name: made.get_variable_value(name) for name in made.get_variable_names()}}
    found["results"] = made.evaluate(data(world, x, y), steps=1)
    found["predictions"] = list(made.predict(lambda: tf.data.Dataset.from_tensors({"x": x})))
    exported = made.export_saved_model(world.folder(), serving(world)).decode()
    with tf.Graph().as_default(), tf.Session() as session:
        graph = tf.saved_model.loader.load(session, ["serve"], exported)
        found["signatures"] = sorted(
            [name, signature.method_name, sorted(signature.outputs)] for name, signature in graph.signature_def.items()
        )
    return plain(found)


@case
def replicated(world):
    tf, e = world.tf, contrib(world)
    two = ["/device:CPU:0"] * 2

    def of(optimizer):
        return lambda loss, step: e.TowerOptimizer(optimizer).minimize(loss, step)

    def clipped(loss, step):
        optimizer = e.TowerOptimizer(tf.train.GradientDescentOptimizer(0.1))
        pairs = [(tf.clip_by_value(gradient, -1.0, 1.0), v) for gradient, v in optimizer.compute_gradients(loss)]
        return optimizer.apply_gradients(pairs, step)

    def twice(loss, step):
        first = e.TowerOptimizer(tf.train.GradientDescentOptimizer(0.1)).minimize(loss, step)
        second = e.TowerOptimizer(tf.train.GradientDescentOptimizer(0.05))
        with tf.control_dependencies([first]):  # else both add to the same variables at once, and one may be lost
            return second.minimize(tf.abs(loss), step)

    descent = of(lambda: tf.train.GradientDescentOptimizer(0.1))
    bare = lambda loss, step: tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)  # noqa: E731
    cases = {
        "two": (descent, {"devices": two}),
        "sum": (descent, {"devices": two, "loss_reduction": "weighted_sum"}),
        "one": (descent, {"devices": two[:1]}),
        "bare": (bare, {}),
        "clipped": (clipped, {"devices": two}),
        "twice": (twice, {"devices": two}),
        "adam": (of(tf.train.AdamOptimizer(0.1)), {"devices": two}),
    }
    found = {}
    for name, (train, arguments) in sorted(cases.items()):
        model_fn = e.replicate_model_fn(linear_model(world, train), **arguments)
        found[name] = used(world, world.estimator.Estimator(model_fn, world.folder()))
    return found


@case
def replicated_gather(world):
    """Gradients of part of a variable; examples that are sparse."""
    tf, e = world.tf, contrib(world)

    def model_fn(features, labels, mode):
        table = tf.get_variable("table", [8, 1], initializer=tf.ones_initializer())
        numbers = tf.sparse.to_dense(features["x"])[:, 0] if mode == "train" else features["x"][:, 0]
        found = tf.gather(table, tf.cast(numbers * 4, tf.int32))
        loss = tf.losses.mean_squared_error(labels, found)
        optimizer = e.TowerOptimizer(tf.train.GradientDescentOptimizer(0.1))
        train_op = optimizer.minimize(loss, tf.train.get_global_step()) if mode == "train" else None
        return world.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def sparse():
        indices = np.stack([np.arange(8), np.zeros(8, np.int64)], 1)
        return {"x": tf.SparseTensor(indices, tf.constant(X[:, 0]), [8, 1])}, tf.constant(Y)

    replicated = e.replicate_model_fn(model_fn, devices=["/device:CPU:0"] * 2)
    made = world.estimator.Estimator(replicated, world.folder())
    made.train(sparse, steps=2)
    return plain([made.get_variable_value("table"), made.evaluate(data(world), steps=1)])


@case
def replicated_errors(world):
    tf, e = world.tf, contrib(world)
    two = ["/device:CPU:0"] * 2

    def train(model_fn, size=8):
        made = world.estimator.Estimator(e.replicate_model_fn(model_fn, devices=two), world.folder())
        made.train(data(world, X[:size], Y[:size]), steps=1)

    optimizer = e.TowerOptimizer(tf.train.GradientDescentOptimizer(0.1))
    return [
        world.error(e.replicate_model_fn, linear_model(world), "none"),
        world.error(train, linear_model(world)),
        world.error(train, linear_model(world, optimizer.minimize), 7),
    ]


@case
def of_a_saved_model(world):
    tf, e, folder = world.tf, contrib(world), world.folder()
    source = world.estimator.Estimator(linear_model(world), folder)
    source.train(data(world), steps=2)
    with tf.Graph().as_default():
        placeholders = tf.placeholder(tf.float32, [None, 1], name="x"), tf.placeholder(tf.float32, [None, 1], name="y")
    supervised = e.build_raw_supervised_input_receiver_fn({"x": placeholders[0]}, placeholders[1])
    modes = {"train": supervised, "eval": supervised, "infer": serving(world)}
    all_modes = source.experimental_export_all_saved_models(world.folder(), modes)
    made = e.SavedModelEstimator(all_modes, world.folder())
    found = {"before": made.evaluate(data(world), steps=1), "used": used(world, made)}
    again = e.SavedModelEstimator(source.export_saved_model(world.folder(), serving(world)).decode())
    found["predictions"] = next(again.predict(lambda: tf.data.Dataset.from_tensors({"x": X})))
    found["exported"] = bool(again.export_saved_model(world.folder(), serving(world)))
    found["errors"] = [
        world.error(again.evaluate, data(world), steps=1),
        world.error(again.train, data(world), steps=1),
        world.error(again.get_variable_names)[0],
        world.error(next, again.predict(lambda: tf.data.Dataset.from_tensors({"z": X})))[0],
        world.error(e.SavedModelEstimator, "nowhere"),
    ]
    return plain(found)


@case
def saved_model_with_a_table(world):
    tf, e = world.tf, contrib(world)

    def model_fn(features, labels, mode):
        table = tf.contrib.lookup.index_table_from_tensor(["yes", "no"])
        tf.get_variable("w", [1])
        return world.estimator.EstimatorSpec(
            mode,
            predictions={"index": table.lookup(features["word"])},
            loss=tf.constant(0.0) if mode == "train" else None,
            train_op=tf.train.get_global_step().assign_add(1) if mode == "train" else None,
        )

    def input_fn():
        return tf.data.Dataset.from_tensors({"word": np.array(["no", "yes", "other"])})

    source = world.estimator.Estimator(model_fn, world.folder())
    source.train(input_fn, steps=1)
    with tf.Graph().as_default():
        placeholder = tf.placeholder(tf.string, [None], name="word")
    receiver = world.estimator.export.build_raw_serving_input_receiver_fn({"word": placeholder})
    exported = source.export_saved_model(world.folder(), receiver)
    return plain([p["index"] for p in e.SavedModelEstimator(exported).predict(input_fn)])


@case
def receivers_of_input_functions(world):
    tf, e, found = world.tf, contrib(world), []
    cases = [
        (data(world), {}),
        (lambda: (tf.zeros([4, 2]), tf.zeros([4, 1], tf.int32)), {}),
        (lambda size: ({"x": tf.zeros([size, 2])}, {"y": tf.zeros([4])}), {"size": 3}),
    ]

    def shown(tree):
        if isinstance(tree, dict):
            return {name: shown(tensor) for name, tensor in tree.items()}
        return [tree.op.type, tree.dtype.name, tree.shape.as_list()]

    for input_fn, arguments in cases:
        with tf.Graph().as_default() as graph:
            receiver_fn = e.build_supervised_input_receiver_fn_from_input_fn(input_fn, **arguments)
            before = len(graph.get_operations())
            receiver = receiver_fn()
            parts = [receiver.features, receiver.labels, receiver.receiver_tensors]
            found.append([before, [shown(part) for part in parts]])
    return plain(found)


@case
def inner_addresses(world):
    """What programs import from inside, and what it makes."""
    from tensorflow.contrib.estimator.python.estimator import rnn
    from tensorflow.python.estimator.canned import head, metric_keys, optimizers, prediction_keys

    tf, found = world.tf, []
    for kind in (metric_keys.MetricKeys, prediction_keys.PredictionKeys):
        found.append({name: value for name, value in vars(kind).items() if name.isupper()})
    heads = {
        "two": head._binary_logistic_head_with_sigmoid_cross_entropy_loss(),
        "classes": head._multi_class_head_with_softmax_cross_entropy_loss(3, name="named"),
        "either": head._binary_logistic_or_multi_class_head(2, None, None, "weighted_sum"),
        "number": head._regression_head(label_dimension=1),
    }
    for name in sorted(heads):
        with tf.Graph().as_default(), tf.Session() as session:
            logits = tf.constant([[1.0, 2.0, 3.0]] if name == "classes" else [[2.0]])
            spec = heads[name].create_estimator_spec({}, "eval", logits, labels=tf.constant([[1]]))
            found.append([heads[name].logits_dimension, session.run(spec.loss), sorted(spec.eval_metric_ops)])
    kind = type(optimizers.get_optimizer_instance("Adam", 0.1)).__name__
    return plain([found, kind, rnn.RNNClassifier is contrib(world).RNNClassifier])


@case
def exported_before_training(world):
    """A model that starts with a checkpoint is exported with it."""
    folder, Estimator = world.folder(), world.estimator.Estimator
    Estimator(linear_model(world), folder).train(data(world), steps=2)
    warm = [folder, world.tf.train.latest_checkpoint(folder)]
    return [
        bool(
            Estimator(linear_model(world), world.folder(), warm_start_from=path).export_saved_model(
                world.folder(), serving(world)
            )
        )
        for path in warm
    ]


def run(tf, estimator, names=()):
    """What each case, or each of ``names``, does."""
    return {name: CASES[name](World(tf, estimator)) for name in names or CASES}
