"""What ``tf.contrib.timeseries`` does, as JSON, for 1.15.5 and for tf1sessions; runs on Python 3.7 too.

Variables that are trained start with values that are made from their names.
"""

import importlib
import os
import tempfile
import zlib

import numpy as np

RNG = np.random.RandomState(0)
TIMES = np.array([[1, 2, 3, 5, 6, 9], [2, 3, 4, 5, 6, 7]])
SERIES = RNG.rand(2, 12, 2).astype("f")
EXOGENOUS = RNG.rand(2, 12, 2).astype("f")


def numbers(value):
    value = np.asarray(value)
    if value.dtype.kind in "OSU":
        return [item.decode() if isinstance(item, bytes) else str(item) for item in value.ravel()]
    return [list(value.shape), [float(f"{item:.7g}") for item in value.ravel()]]


def flat(tf, values):
    """A nest of arrays as JSON."""
    if isinstance(values, dict):
        return {key: flat(tf, value) for key, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [flat(tf, value) for value in values]
    return numbers(values)


def file(contrib, name):
    """The module ``name`` of timeseries."""
    package = contrib.timeseries.__name__
    try:
        return importlib.import_module(f"{package}.python.timeseries.{name}")
    except ImportError:
        return importlib.import_module(f"{package}.{name}")


def setters(tf):
    found = [
        tf.assign(variable, variable * 0.5 + 2.0)
        for variable in tf.global_variables()
        if variable.op.name in ("input_statistics/overall_feature_mean", "input_statistics/overall_feature_var")
    ]
    for variable in tf.trainable_variables():
        if "identity_metric" not in variable.name:
            rng = np.random.RandomState(zlib.crc32(variable.op.name.encode()) % 2**32)
            found.append(tf.assign(variable, rng.uniform(-0.5, 0.5, variable.shape.as_list())))
    return found


def statistics(tf, contrib):
    found = {}
    for update in (True, False):
        with tf.Graph().as_default(), tf.Session() as session:
            times, values = tf.placeholder(tf.int64, [None, None]), tf.placeholder(tf.float32, [None, None, 2])
            generator = file(contrib, "math_utils").InputStatisticsFromMiniBatch(num_features=2, dtype=tf.float32)
            got = generator.initialize_graph({"times": times, "values": values}, update_statistics=update)
            session.run(tf.global_variables_initializer())
            for i, start in enumerate((50, 3, 20)):
                feeds = {times: TIMES + start, values: SERIES[:, i : i + 6] + i}
                found[f"{update} {i}"] = flat(tf, session.run(tuple(got), feeds))
                found[f"{update} {i}"].append(flat(tf, session.run(tf.global_variables())))
            found[f"names {update}"] = [[v.name, v.dtype.base_dtype.name] for v in tf.global_variables()]
    return found


def modes(tf, estimator, features):
    """What an estimator makes in each mode, of ``features(mode)``."""
    found = {}
    for mode in ("train", "eval", "infer"):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            tf.train.create_global_step()
            spec = estimator.model_fn(features(mode), None, mode, estimator.config)
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            session.run(setters(tf))
            one = found[mode] = {}
            one["variables"] = [[v.name, v.shape.as_list(), v.dtype.base_dtype.name] for v in tf.global_variables()]
            one["summaries"] = [item.name for item in graph.get_collection("summaries")]
            if mode == "train":
                one["trained"] = [v.name for v in tf.trainable_variables()]
                one["losses"] = [numbers(session.run([spec.loss, spec.train_op])[0]) for _ in range(3)]
                one["after"] = flat(tf, session.run({v.name: v for v in tf.trainable_variables()}))
            elif mode == "eval":
                one["local"] = [v.name for v in tf.local_variables()]
                one["predictions"] = flat(tf, session.run([spec.loss, spec.predictions]))
                session.run([op for _, op in spec.eval_metric_ops.values()])
                one["metrics"] = flat(tf, session.run({key: value for key, (value, _) in spec.eval_metric_ops.items()}))
            else:
                one["predictions"] = flat(tf, session.run(spec.predictions))
    return found


def autoregression(tf, contrib):
    series = contrib.timeseries

    def features(size, exogenous=False):
        def of(mode):
            # 1.15.5 takes exogenous features of other times where windows do not fit
            length = {"train": size + 2, "eval": size + 7 - exogenous, "infer": 7}[mode]
            found = {"times": tf.constant(np.arange(3, 3 + length)[None].repeat(2, 0) * [[1], [2]])}
            if mode != "infer":
                found["values"] = tf.constant(SERIES[:, :length])
            else:
                parts = [TIMES[:, :size], SERIES[:, :size], EXOGENOUS[:, :size, : 2 * exogenous]]
                found["start_tuple"] = tuple(tf.constant(part) for part in parts)
                found["start_tuple"] = (tf.cast(found["start_tuple"][0], tf.int64),) + found["start_tuple"][1:]
            if exogenous:
                found["e"] = tf.constant(EXOGENOUS[:, :length])
            return found

        return of

    column = [tf.feature_column.numeric_column("e", shape=2)]
    kinds = {
        "plain": ({}, 3),
        "squared": ({"loss": series.ARModel.SQUARED_LOSS, "optimizer": tf.train.GradientDescentOptimizer(0.1)}, 3),
        "hidden": ({"hidden_layer_sizes": [4, 3]}, 3),
        "exogenous": ({"exogenous_feature_columns": column}, 3),
        "times only": ({"periodicities": [7, 4]}, 0),
        "gaussian": ({"anomaly_prior_probability": 0.1, "anomaly_distribution": "gaussian"}, 3),
        "cauchy": ({"anomaly_prior_probability": 0.1, "anomaly_distribution": "cauchy"}, 3),
    }
    found = {}
    for name, (arguments, size) in kinds.items():
        arguments = dict({"periodicities": 5, "num_time_buckets": 3}, **arguments)
        estimator = series.ARRegressor(
            input_window_size=size, output_window_size=2, num_features=2, model_dir=tempfile.mkdtemp(), **arguments
        )
        found[name] = modes(tf, estimator, features(size, name == "exogenous"))
    return found


def sequential_model(tf, contrib, **arguments):
    class Model(file(contrib, "model").SequentialTimeSeriesModel):
        def __init__(self):
            super().__init__(
                train_output_names=["mean", "error"], predict_output_names=["mean"], num_features=2, **arguments
            )

        def initialize_graph(self, input_statistics=None):
            super().initialize_graph(input_statistics=input_statistics)
            self._weight = tf.get_variable("w", initializer=tf.constant([0.5, 0.25]))
            self._dense = tf.make_template("dense", lambda x: tf.layers.dense(x, 2), create_scope_now_=True)

        def get_start_state(self):
            return (tf.zeros([], tf.int64), [tf.ones([2])])

        def _filtering_step(self, current_times, current_values, state, predictions):
            error = current_values - predictions["mean"]
            predictions["error"] = error
            predictions["loss"] = tf.reduce_sum(error**2, -1)
            return (current_times, [0.5 * state[1][0] + 0.5 * current_values]), predictions

        def _prediction_step(self, current_times, state):
            return (current_times, [state[1][0]]), {"mean": self._dense(state[1][0]) * self._weight}

        def _imputation_step(self, current_times, state):
            gap = tf.cast(current_times - state[0], tf.float32)[:, None]
            return (state[0], [state[1][0] + 0.01 * gap])

        def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
            more = tf.reduce_sum(current_exogenous_regressors, -1, keepdims=True)
            return (state[0], [state[1][0] + 0.1 * more])

        def _scale_back_predictions(self, predictions):
            return dict(predictions, mean=self._scale_back_data(predictions["mean"]))

    return Model()


def sequential(tf, contrib):
    column = [tf.feature_column.numeric_column("e", shape=2)]
    kinds = {
        "plain": {},
        "scaled": {"normalize_features": True},
        "exogenous": {"exogenous_feature_columns": column, "static_unrolling_window_size_threshold": 6},
        "condition": {
            "exogenous_feature_columns": column,
            "exogenous_update_condition": lambda times, features: tf.logical_and(times > 3, features["e"][:, 0] < 0.7),
        },
    }
    found = {}
    for name, arguments in kinds.items():

        def features(mode, exogenous="exogenous_feature_columns" in arguments):
            made = {"times": tf.constant(TIMES + 20 * (mode == "infer"))}
            if mode == "infer":
                made["start_tuple"] = (tf.constant([9, 7], tf.int64), [tf.constant(SERIES[:, 0])])
            else:
                made["values"] = tf.constant(SERIES[:, :6])
            if exogenous:
                made["e"] = tf.constant(EXOGENOUS[:, :6])
            return made

        estimator = file(contrib, "estimators").TimeSeriesRegressor(sequential_model(tf, contrib, **arguments))
        found[name] = modes(tf, estimator, features)
    return found


def inputs(tf, contrib):
    series = contrib.timeseries
    path = os.path.join(tempfile.mkdtemp(), "a.csv")
    for name, start in ((path, 0), (path + ".2", 9)):
        with open(name, "w") as csv:
            csv.write("# h\n" + "".join(f"{start + i},{i * 0.5:.1f},{-i:.1f},{i * i}\n" for i in range(9)))
    examples = path + ".tfrecord"
    with tf.python_io.TFRecordWriter(examples) as writer:
        for i in range(5):
            example = tf.train.Example()
            example.features.feature["times"].int64_list.value.append(i)
            example.features.feature["values"].float_list.value.extend([i, 0.5 * i])
            writer.write(example.SerializeToString())
    columns = ("times", "values", "values", "e")
    spec = {"times": tf.FixedLenFeature([], tf.int64), "values": tf.FixedLenFeature([2], tf.float32)}
    readers = {
        "numpy": series.NumpyReader({"times": np.arange(30), "values": np.arange(30) * 1.5, "e": np.arange(30)}),
        "numpy batch": series.NumpyReader({"times": np.arange(9)[None], "values": np.ones((1, 9, 2), "f")}, 6),
        "csv": series.CSVReader(path, columns, skip_header_lines=1, read_num_records_hint=4),
        "csv types": series.CSVReader(
            [path, path + ".2"], columns, (tf.int64, tf.float64, tf.float64, tf.int64), skip_header_lines=1
        ),
        "examples": file(contrib, "input_pipeline").TFExampleReader(examples, spec),
    }

    def run(make, times):
        with tf.Graph().as_default(), tf.Session() as session:
            tensors = make()
            tensors = tensors if isinstance(tensors, dict) else tensors[0]  # without labels
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coord)
            values = [session.run(tensors) for _ in range(times)]
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=120)
            return tensors, values

    found = {}
    for name, reader in readers.items():
        one = found[name] = {}
        tensors, values = run(reader.read_full, 1)
        one["full"] = flat(tf, values)
        one["types"] = {key: [value.dtype.name, value.shape.rank] for key, value in tensors.items()}
        _, values = run(series.WholeDatasetInputFn(reader), 1)
        one["whole"] = flat(tf, values)
        if "csv" in name:
            one["chunks"] = flat(tf, run(reader.read, 2)[1])
        elif "numpy batch" in name:
            one["chunks"] = flat(tf, run(reader.read, 3)[1])
        tensors, values = run(series.RandomWindowInputFn(reader, window_size=3, batch_size=4, shuffle_seed=1), 20)
        times = np.concatenate([value["times"] for value in values])
        one["windows"] = {
            "shapes": {key: value.shape.as_list() for key, value in tensors.items()},
            "next": bool((np.diff(times) == 1).all()),
            "jitter": len(set((times[:, 0] % 3).tolist())) > 1,
        }
    previous = {"times": np.arange(8)[None], "start_tuple": (np.arange(3)[None], np.ones((1, 3, 1), "f"))}
    for name, arguments in {
        "steps": {"steps": 3},
        "times": {"times": [9, 12], "exogenous_features": {"e": np.ones((1, 2, 1))}},
    }.items():
        make = series.predict_continuation_input_fn(previous, **arguments)
        found["later " + name] = flat(tf, run(make, 1)[1])
    wrong = {
        "both": lambda: series.predict_continuation_input_fn(previous, steps=1, times=[9]),
        "neither": lambda: series.predict_continuation_input_fn(previous),
        "before": lambda: series.predict_continuation_input_fn(previous, times=[7]),
        "batches": lambda: series.predict_continuation_input_fn(previous, times=[[9], [9]]),
        "evaluation": lambda: series.predict_continuation_input_fn({}, steps=1),
        "no values": lambda: series.NumpyReader({"times": np.arange(3)}),
        "shapes": lambda: series.NumpyReader({"times": np.arange(3), "values": np.arange(4)}).read(),
        "batch": lambda: series.NumpyReader({"times": np.ones([2, 3]), "values": np.ones([2, 3])}).read(),
        "column": lambda: series.CSVReader("x", column_names=("times",)),
        "columns": lambda: series.CSVReader("x", column_dtypes=(tf.int64,)),
        "size": lambda: series.RandomWindowInputFn(readers["numpy"], window_size=40, batch_size=3).create_batch(),
        "anomaly": lambda: series.ARRegressor(5, 3, 2, 1, anomaly_distribution="gaussian"),
        "anomaly loss": lambda: series.ARRegressor(5, 3, 2, 1, anomaly_prior_probability=0.1, loss="squared_loss"),
    }
    for name, mode, shapes in (
        ("no times", "train", {"values": [1, 5, 1]}),
        ("only times", "train", {"times": [1, 5]}),
        ("window", "train", {"times": [1, 6], "values": [1, 6, 1]}),
        ("short", "eval", {"times": [1, 4], "values": [1, 4, 1]}),
        ("no state", "infer", {"times": [1, 4]}),
        ("sizes", "train", {"times": [1, 5], "values": [2, 5, 1]}),
        ("state", "train", {"times": [1, 5], "values": [1, 5, 1], "start_tuple": [1]}),
    ):
        wrong[name] = lambda mode=mode, shapes=shapes: series.ARRegressor(5, 3, 2, 1).model_fn(
            {key: tf.zeros(shape, tf.int64 if key == "times" else tf.float32) for key, shape in shapes.items()},
            None,
            mode,
            None,
        )
    for name, call in wrong.items():
        with tf.Graph().as_default():
            tf.train.create_global_step()
            try:
                call()
                found["wrong " + name] = None
            except Exception as error:
                found["wrong " + name] = [type(error).__name__, str(error)]
    return found


def programs(tf, contrib):
    """From training to predictions with an export."""
    series = contrib.timeseries
    utils = series.saved_model_utils

    class Set(tf.train.SessionRunHook):
        def begin(self):
            self.setters = setters(tf)

        def after_create_session(self, session, coord):
            session.run(self.setters)

    def windows():
        starts = np.array([0, 9, 17, 22])[:, None] + np.arange(5)
        return {"times": tf.constant(starts), "values": tf.constant(VALUES[starts]), "e": tf.ones([4, 5, 1])}, None

    VALUES = (np.sin(np.arange(30) / 3.0) + 0.1 * np.arange(30)).astype("f")[:, None]
    data = {"times": np.arange(30), "values": VALUES, "e": np.ones([30, 1], "f")}
    more = {"e": np.ones([1, 3, 1], "f")}
    columns = [tf.feature_column.numeric_column("e", shape=1)]
    found = {}
    for name in ("states", "one shot"):
        if name == "states":
            estimator = series.ARRegressor(
                5, 3, 2, 1, num_time_buckets=2, exogenous_feature_columns=columns, model_dir=tempfile.mkdtemp()
            )
        else:
            model = series.ARModel(5, 3, 2, 1, num_time_buckets=2, exogenous_feature_columns=columns)
            estimator = series.TimeSeriesRegressor(
                model, head_type=series.OneShotPredictionHead, model_dir=tempfile.mkdtemp()
            )
        estimator.train(windows, steps=4, hooks=[Set()])
        one = found[name] = {"names": sorted(estimator.get_variable_names())}
        evaluation = estimator.evaluate(series.WholeDatasetInputFn(series.NumpyReader(data)), steps=1)
        one["evaluation"] = flat(tf, evaluation)
        if name == "states":  # the other evaluation has none
            later = series.predict_continuation_input_fn(evaluation, steps=3, exogenous_features=more)
            one["predictions"] = flat(tf, list(estimator.predict(later)))
        receivers = {"raw": estimator.build_raw_serving_input_receiver_fn()}
        if name == "one shot":
            receivers["examples"] = estimator.build_one_shot_parsing_serving_input_receiver_fn(7, 3)
        for kind, receiver in receivers.items():
            path = estimator.export_savedmodel(tempfile.mkdtemp(), receiver)
            with tf.Graph().as_default(), tf.Session() as session:
                signatures = tf.saved_model.loader.load(session, ["serve"], path)
                one[kind] = {
                    label: [sorted(signature.inputs), sorted(signature.outputs)]
                    for label, signature in signatures.signature_def.items()
                }
                if name == "states":
                    state = utils.cold_start_filter(
                        signatures, session, {"times": np.arange(7), "values": VALUES[:7, 0], "e": np.ones([7, 1])}
                    )
                    one["state"] = flat(tf, state)
                    state = utils.filter_continuation(
                        state, signatures, session, {"times": 7, "values": VALUES[7, 0], "e": [1.0]}
                    )
                    one["later state"] = flat(tf, state)
                    one["served"] = flat(
                        tf, utils.predict_continuation(state, signatures, session, 3, exogenous_features=more)
                    )
                    one["served later"] = flat(
                        tf,
                        utils.predict_continuation(
                            evaluation, signatures, session, times=[31, 33, 36], exogenous_features=more
                        ),
                    )
                    continue
                signature = signatures.signature_def["serving_default"]
                example = tf.train.Example()
                example.features.feature["times"].int64_list.value.extend(range(10))
                example.features.feature["values"].float_list.value.extend(VALUES[:7, 0])
                example.features.feature["e"].float_list.value.extend([1] * 10)
                given = {
                    "times": np.arange(10)[None],
                    "values": VALUES[None, :7],
                    "e": np.ones([1, 10, 1]),
                    "examples": [example.SerializeToString()],
                }
                feeds = {tensor.name: given[key] for key, tensor in signature.inputs.items()}
                outputs = {key: tensor.name for key, tensor in signature.outputs.items()}
                one["served " + kind] = flat(tf, session.run(outputs, feeds))
    return found


PARTS = (statistics, autoregression, sequential, inputs, programs)


def run(tf, contrib, parts=PARTS):
    tf.logging.set_verbosity(tf.logging.ERROR)
    return {part.__name__: part(tf, contrib) for part in parts}
