"""Programs that use tf.estimator: what each returns and logs must be what 1.15.5 returned and logged.

``CASES`` has functions of a :class:`World` that return what JSON can keep. The file has to run on Python 3.7 too.
"""

import contextlib
import glob
import json
import logging
import os
import re
import tempfile

import numpy as np

CASES = {}
X = np.arange(8, dtype=np.float32).reshape(4, 2)
Y = X[:, :1] * 2
# not tf.estimator's own: notes that functions are old, and what today's CheckpointSaverHook adds
NOT_OURS = re.compile(
    r"deprecated|checkpoint listeners|global_step/sec|has not been increased|already exists; retrying"
)


def case(function):
    CASES[function.__name__] = function
    return function


def plain(value):
    """``value`` as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in sorted(value.items(), key=lambda pair: str(pair[0]))}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (np.integer, np.floating, np.bool_)):
        return value.item()
    return value


class World:
    """TensorFlow, tf.estimator, and folders; ``lines`` has what was logged."""

    def __init__(self, tf, estimator):
        self.tf = tf
        self.estimator = estimator
        self.root = tempfile.mkdtemp()
        self.lines = []
        self._folders = 0

    def folder(self):
        self._folders += 1
        return os.path.join(self.root, str(self._folders))

    def tidy(self, text):
        """``text`` without what differs from run to run, and between Pythons."""
        text = str(text).replace(self.root, "DIR")
        text = re.sub(r"/tmp/tmp\w+", "TMP", text)
        text = re.sub(r"\b\d{10}\b", "TIMESTAMP", text)
        text = re.sub(r"temp-(b')?TIMESTAMP'?", "temp-TIMESTAMP", text)
        text = re.sub(r"\d{4}-\d\d-\d\d[-T][0-9:]+Z?", "TIME", text)
        text = re.sub(r" \([0-9.]+ sec\)", "", text)
        text = re.sub(r"Tensor\(.*?\)(?=$|[ ,)\]}])", "TENSOR", text)
        text = re.sub(r"<.*>", "OBJECT", text, flags=re.DOTALL)
        return re.sub(r"-?\d+\.\d+(e[-+]\d+)?", lambda found: f"{float(found.group()):.4g}", text)

    def error(self, function, *args, **kwargs):
        """The type and text of the exception; None if there is none."""
        try:
            function(*args, **kwargs)
        except Exception as problem:
            kind = "NotFoundError" if isinstance(problem, self.tf.errors.NotFoundError) else type(problem).__name__
            text = self.tidy(problem)
            return [kind, "" if kind == "NotFoundError" else text]
        return None

    def logged(self):
        """What was logged since the last call."""
        lines, self.lines[:] = list(self.lines), []
        return lines

    def files(self, folder):
        found = []
        for root, _, names in os.walk(folder):
            for name in names:
                path = os.path.relpath(os.path.join(root, name), folder)
                found.append(re.sub(r"(tfevents).*", r"\1", re.sub(r"\b\d{10}\b", "TIMESTAMP", path)))
        return sorted(found)

    def events(self, folder):
        found = []
        for path in sorted(glob.glob(os.path.join(folder, "events*"))):
            for event in self.tf.train.summary_iterator(path):
                for value in event.summary.value:
                    if value.tag != "global_step/sec":
                        found.append([event.step, value.tag, value.WhichOneof("value"), value.simple_value])
        return found

    def config(self, **kwargs):
        kwargs.setdefault("save_checkpoints_steps", 2)
        return self.estimator.RunConfig(tf_random_seed=1, **kwargs)

    def linear(self, folder=None, warm_start_from=None, rate=1e-3, **kwargs):
        """An Estimator of ``y = x w + b``."""
        tf, estimator = self.tf, self.estimator

        def model_fn(features, labels, mode, params):
            x = features["x"]
            w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
            b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
            y = tf.matmul(x, w) + b
            if mode == estimator.ModeKeys.PREDICT:
                return estimator.EstimatorSpec(mode, predictions={"y": y, "x": tf.identity(x)})
            loss = tf.reduce_mean(tf.square(y - labels))
            train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
            return estimator.EstimatorSpec(
                mode, loss=loss, train_op=train_op, predictions={"y": y}, eval_metric_ops={"mean": tf.metrics.mean(y)}
            )

        return estimator.Estimator(
            model_fn, folder or self.folder(), self.config(**kwargs), {"rate": rate}, warm_start_from
        )

    def model(self, function, folder=None, **kwargs):
        """An Estimator of ``function(mode, features, labels)`` in its own variable."""

        def model_fn(features, labels, mode):
            return function(mode, features, labels)

        return self.estimator.Estimator(model_fn, folder or self.folder(), self.config(**kwargs))

    def data(self, epochs=1, batch=2):
        def input_fn():
            return self.tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(epochs).batch(batch)

        return input_fn

    def receiver(self):
        x = self.tf.placeholder(self.tf.float32, [None, 2], name="fed")
        return self.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def run(tf, estimator, names=(), cases=CASES):
    """What the cases return: those of these names, or all."""
    logger = logging.getLogger("tensorflow")
    found = {}
    level, handlers, propagate = logger.level, logger.handlers[:], logger.propagate
    try:
        for name in names or cases:
            function = cases[name]
            world = World(tf, estimator)

            class Lines(logging.Handler):
                def emit(self, record, world=world):
                    text = record.getMessage()
                    if not NOT_OURS.search(text) and not text.startswith("Using config"):
                        world.lines.append(record.levelname + " " + world.tidy(text))

            logger.handlers[:] = [Lines()]
            logger.propagate = False
            logger.setLevel(logging.INFO)
            with tf.Graph().as_default():
                found[name] = json.loads(json.dumps(plain(function(world))))
    finally:
        logger.handlers[:] = handlers
        logger.propagate = propagate
        logger.setLevel(level)
    return found


def errors(world, *calls):
    return [world.error(call) for call in calls]


def hook_class(tf):
    class Notes(tf.train.SessionRunHook):
        """Notes in ``lines`` when it is called."""

        def __init__(self, name, lines):
            self.name, self.lines = name, lines

        def begin(self):
            self.lines.append("HOOK begin " + self.name)

        def after_create_session(self, session, coord):
            self.lines.append("HOOK created " + self.name)
            self.graph = session.graph

        def end(self, session):
            self.lines.append("HOOK end " + self.name)

    return Notes


def collections(graph):
    inner = ("cond_context", "savers", "global_step_read_op_cache", "iterators")
    return {
        key: [getattr(item, "name", str(type(item).__name__)) for item in graph.get_collection(key)]
        for key in map(str, graph.get_all_collection_keys())
        if key not in inner and not key.startswith(("saved_model", "resources"))
    }


@case
def train(world):
    folder = world.folder()
    linear = world.linear(folder, log_step_count_steps=1, save_summary_steps=1)
    hook = hook_class(world.tf)("user", world.lines)
    same = linear.train(world.data(), hooks=[hook]) is linear
    first = world.logged()
    with open(os.path.join(folder, "checkpoint")) as file:
        checkpoint = file.read()
    values = {name: linear.get_variable_value(name) for name in linear.get_variable_names()}
    linear.train(world.data(2), max_steps=2)
    linear.train(world.data(2), steps=1)
    linear.train(world.data(2), max_steps=5)
    return [
        same, first, checkpoint, collections(hook.graph), values, world.logged(), world.files(folder),
        world.events(folder), os.path.basename(linear.latest_checkpoint()),
    ]  # fmt: skip


@case
def evaluate(world):
    folder = world.folder()
    linear = world.linear(folder)
    before = linear.evaluate(world.data())
    linear.train(world.data())
    world.logged()
    hook = hook_class(world.tf)("user", world.lines)
    found = [
        linear.evaluate(world.data(), steps=1, hooks=[hook]),
        linear.evaluate(world.data(20), steps=21, name="other"),
        linear.evaluate(world.data(), checkpoint_path=os.path.join(folder, "model.ckpt-0")),
    ]
    names = [linear.eval_dir(), linear.eval_dir("other")]
    return [
        before, found, world.logged(), collections(hook.graph), world.events(linear.eval_dir()), world.files(folder),
        [world.tidy(name) for name in names],
    ]  # fmt: skip


@case
def predict(world):
    linear = world.linear()
    tf = world.tf
    lazy = linear.predict(world.data())
    found = [world.logged()]
    found.append(list(lazy))
    linear.train(world.data())
    world.logged()
    found.append(list(linear.predict(world.data(), predict_keys="y")))
    found.append(list(linear.predict(world.data(), predict_keys=["x", "nothing"], yield_single_examples=False)))
    forever = linear.predict(lambda: {"x": tf.constant(X)})
    found.append([next(forever) for _ in range(5)])
    forever.close()
    found.append(world.error(list, linear.predict(world.data(), predict_keys=["nothing"])))
    found.append(world.logged())

    def with_predictions(make):
        def function(mode, features, labels):
            return world.estimator.EstimatorSpec(mode, predictions=make(features["x"]))

        return world.model(function).predict(world.data())

    found.append(list(with_predictions(lambda x: x * 2)))
    found.append(world.error(list, with_predictions(lambda x: {"x": x, "y": tf.constant([1.0])})))
    return found


@case
def metrics_of_all_kinds(world):
    tf = world.tf
    nothing = tf.no_op

    def function(mode, features, labels):
        values = {
            "vector": tf.constant([1.0, 2.0]), "int": tf.constant(3), "long": tf.constant(3, tf.int64),
            "double": tf.constant(3, tf.float64), "bool": tf.constant(True), "text": tf.constant("abc"),
            "texts": tf.constant(["abc"]), "byte": tf.constant(3, tf.uint8), "summary": tf.summary.scalar("q", 1.5),
        }  # fmt: skip
        metrics = {key: (value, nothing()) for key, value in values.items()}
        return world.estimator.EstimatorSpec(mode, loss=tf.reduce_mean(features["x"]), eval_metric_ops=metrics)

    model = world.model(function)
    return [model.evaluate(world.data()), world.logged(), world.events(model.eval_dir())]


@case
def hooks_and_listeners(world):
    tf = world.tf
    Notes = hook_class(tf)

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            world.lines.append("LISTENER begin")

        def after_save(self, session, global_step_value):
            world.lines.append(f"LISTENER saved {global_step_value}")

        def end(self, session, global_step_value):
            world.lines.append(f"LISTENER end {global_step_value}")

    def function(mode, features, labels):
        v = tf.get_variable("v", initializer=1.0)
        x = features["x"]
        loss = tf.losses.absolute_difference(x, x + v)
        tf.summary.scalar("loss", loss * 2)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return world.estimator.EstimatorSpec(
            mode, loss=loss, train_op=train_op, predictions=v + 0,
            training_hooks=[Notes("training", world.lines)], training_chief_hooks=[Notes("chief", world.lines)],
            evaluation_hooks=[Notes("evaluation", world.lines)], prediction_hooks=[Notes("prediction", world.lines)],
        )  # fmt: skip

    folder = world.folder()
    model = world.model(function, folder)
    user = Notes("user", world.lines)
    model.train(world.data(), hooks=[user], saving_listeners=[Listener()])
    found = [world.logged(), collections(user.graph)["losses"], world.events(folder)]
    model.evaluate(world.data(), hooks=[user], steps=1)
    next(model.predict(world.data(), hooks=[user], yield_single_examples=False))
    found.append(world.logged())
    saver = tf.train.CheckpointSaverHook(folder, save_steps=1)
    model.train(world.data(), hooks=[saver], saving_listeners=[Listener()])
    found.append(world.logged())
    never = world.model(function, save_checkpoints_steps=None, save_checkpoints_secs=None)
    never.train(world.data())
    found += [world.files(never.model_dir), world.error(never.train, world.data(), saving_listeners=[Listener()])]
    return found


@case
def scaffold(world):
    tf = world.tf

    def function(mode, features, labels):
        v = tf.get_variable("v", initializer=1.0)
        local = tf.Variable(5.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
        train_op = tf.train.GradientDescentOptimizer(1.0).minimize(v, tf.train.get_global_step())
        return world.estimator.EstimatorSpec(
            mode, loss=tf.reduce_mean(features["x"]), train_op=train_op, predictions={"v": v + local},
            scaffold=tf.train.Scaffold(
                saver=tf.train.Saver([v, tf.train.get_global_step()], max_to_keep=1),
                init_fn=lambda scaffold, session: world.lines.append("INIT"),
            ),
        )  # fmt: skip

    model = world.model(function, save_checkpoints_steps=1)
    model.train(world.data())
    folder = model.export_saved_model(world.folder(), world.receiver)
    return [
        world.files(model.model_dir), world.logged(), model.evaluate(world.data()), served(world, folder),
    ]  # fmt: skip


def served(world, folder):
    """The signatures of a SavedModel by the tags of their graphs, and what the default one gives."""
    tf = world.tf
    path = os.path.join(plain(folder), "saved_model.pb")
    model = tf.compat.v1.saved_model.Builder(world.folder())._saved_model  # the proto's class
    with open(path, "rb") as file:
        model.ParseFromString(file.read())
    found = []
    for graph in model.meta_graphs:
        tags = list(graph.meta_info_def.tags)
        signatures = {
            name: [
                signature.method_name,
                {key: [info.name, info.dtype] for key, info in signature.inputs.items()},
                {key: info.dtype for key, info in signature.outputs.items()},
            ]
            for name, signature in graph.signature_def.items()
        }
        found.append([tags, signatures, sorted(key for key in graph.collection_def if key.startswith("saved_model"))])
        if tags == ["serve"]:
            with tf.Graph().as_default(), tf.Session() as session:
                tf.saved_model.loader.load(session, tags, plain(folder))
                signature = graph.signature_def["serving_default"]
                outputs = {key: info.name for key, info in signature.outputs.items()}
                feeds = {info.name: X for key, info in signature.inputs.items() if key != "examples"}
                if feeds:
                    found.append(session.run(outputs, feeds))
    return found


@case
def export(world):
    tf, estimator = world.tf, world.estimator
    linear = world.linear()
    linear.train(world.data())
    world.logged()
    extra = os.path.join(world.root, "extra.txt")
    with open(extra, "w") as file:
        file.write("here")
    folder = linear.export_savedmodel(world.folder(), world.receiver, assets_extra={"a/b.txt": extra})
    found = [world.tidy(folder.decode()), world.files(folder.decode()), served(world, folder), world.logged()]

    def both():
        features, labels = {"x": tf.zeros([3, 2])}, tf.zeros([3, 1])
        return estimator.experimental.build_raw_supervised_input_receiver_fn(features, labels)()

    modes = {"train": both, "eval": both, "infer": world.receiver}
    found.append(served(world, linear.experimental_export_all_saved_models(world.folder(), modes)))
    found.append(served(world, linear.export_saved_model(world.folder(), both, experimental_mode="eval")))
    spec = {"x": tf.FixedLenFeature([2], tf.float32)}
    parsing = estimator.export.build_parsing_serving_input_receiver_fn(spec)
    found.append(served(world, linear.export_saved_model(world.folder(), parsing)))

    def alternatives():
        x = tf.placeholder(tf.float32, [None, 2], name="fed")
        scaled = x * 2.0
        return estimator.export.ServingInputReceiver({"x": scaled}, {"raw": x}, {"scaled": {"scaled": scaled}})

    found.append(served(world, linear.export_saved_model(world.folder(), alternatives)))

    def function(mode, features, labels):
        x = features["x"] + tf.get_variable("v", initializer=1.0)
        outputs = {
            "serving_default": estimator.export.PredictOutput({"x": x}),
            "classes": estimator.export.ClassificationOutput(scores=x, classes=tf.as_string(x)),
            "value": estimator.export.RegressionOutput(x),
        }
        loss = tf.reduce_sum(x)
        train_op = tf.train.GradientDescentOptimizer(1.0).minimize(loss, tf.train.get_global_step())
        return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, predictions=x, export_outputs=outputs)

    model = world.model(function).train(world.data())
    found.append(served(world, model.export_saved_model(world.folder(), world.receiver)))
    return found


@case
def export_errors(world):
    linear = world.linear()
    before = world.error(linear.export_saved_model, world.folder(), world.receiver)
    linear.train(world.data())

    def function(mode, features, labels):
        return world.estimator.EstimatorSpec(
            mode, predictions=features["x"] + world.tf.get_variable("new", initializer=1.0)
        )

    other = world.model(function, linear.model_dir)
    missing = world.error(other.export_saved_model, world.folder(), world.receiver)
    return [
        before, world.error(linear.export_saved_model, world.folder(), None), missing[0],
        world.error(linear.experimental_export_all_saved_models, world.folder(), {})[0],
    ]  # fmt: skip


@case
def training_and_evaluating(world):
    estimator = world.estimator
    calls = []

    class Notes(estimator.Exporter):
        name = "notes"

        def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
            calls.append([world.tidy(export_path), world.tidy(checkpoint_path), eval_result, is_the_final_export])
            return len(calls)

    linear = world.linear()
    train = estimator.TrainSpec(world.data(10), max_steps=5)
    evaluation = estimator.EvalSpec(
        world.data(), steps=1, exporters=[
            Notes(), estimator.LatestExporter("latest", world.receiver, exports_to_keep=1),
            estimator.FinalExporter("final", world.receiver), estimator.BestExporter("best", world.receiver),
        ], throttle_secs=0,
    )  # fmt: skip
    result, exports = estimator.train_and_evaluate(linear, train, evaluation)
    found = [result, [world.tidy(plain(item)) for item in exports], calls, world.logged()]
    files = [re.sub(r"best/TIMESTAMP/(.*)", r"best/\1", name) for name in world.files(linear.model_dir)]
    found += [sorted(set(files)), world.events(linear.eval_dir())]
    again = estimator.train_and_evaluate(linear, train, estimator.EvalSpec(world.data()))
    throttled = world.linear()
    spec = estimator.EvalSpec(world.data(), name="other", throttle_secs=600, exporters=Notes())
    del calls[:]
    estimator.train_and_evaluate(throttled, estimator.TrainSpec(world.data(4)), spec)
    found += [again, calls, world.logged(), world.files(throttled.model_dir)]
    return found


@case
def specs_and_exporters(world):
    e, tf = world.estimator, world.tf
    fn = world.data()
    hook = tf.train.StopAtStepHook(1)
    linear = world.linear()
    found = errors(
        world,
        lambda: e.TrainSpec(3), lambda: e.TrainSpec(fn, max_steps=0), lambda: e.TrainSpec(fn, hooks=[1]),
        lambda: e.EvalSpec(3), lambda: e.EvalSpec(fn, steps=0), lambda: e.EvalSpec(fn, name=3),
        lambda: e.EvalSpec(fn, hooks=[1]), lambda: e.EvalSpec(fn, exporters=3), lambda: e.EvalSpec(fn, exporters=[3]),
        lambda: e.EvalSpec(fn, start_delay_secs=-1), lambda: e.EvalSpec(fn, throttle_secs=-1),
        lambda: e.EvalSpec(fn, exporters=[e.FinalExporter("a", fn), e.FinalExporter("a", fn)]),
        lambda: e.LatestExporter("a", fn, exports_to_keep=0), lambda: e.BestExporter(exports_to_keep=-1),
        lambda: e.BestExporter(compare_fn=None), lambda: e.BestExporter(compare_fn=lambda a: 1),
        lambda: e.BestExporter(compare_fn=lambda best_eval_result, b: 1),
        lambda: e.train_and_evaluate(3, e.TrainSpec(fn), e.EvalSpec(fn)),
        lambda: e.train_and_evaluate(linear, 3, e.EvalSpec(fn)),
        lambda: e.train_and_evaluate(linear, e.TrainSpec(fn), 3),
    )  # fmt: skip
    found.append([len(e.TrainSpec(fn, hooks=[hook]).hooks), list(e.EvalSpec(fn)[1:]), e.BestExporter().name])
    linear.train(fn)
    linear.evaluate(fn)
    checkpoint = linear.latest_checkpoint()
    best = e.BestExporter("best", world.receiver)
    folder = world.folder()

    def export(exporter, loss, final=False):
        result = {"loss": loss, "global_step": 2}
        return exporter.export(linear, folder, checkpoint, result, final) is not None

    found.append([export(best, loss) for loss in (1e3, 5.0, 1.0, 2.0, 0.5)])
    unknowing = e.BestExporter("best", world.receiver, event_file_pattern=None)
    found.append([export(unknowing, loss) for loss in (1e3, 5.0, 6.0)])
    found.append(world.error(unknowing.export, linear, folder, checkpoint, {"other": 1.0}, False))
    final = e.FinalExporter("final", world.receiver)
    found.append([export(final, 1.0), export(final, 1.0, True)])
    folder = world.folder()
    for name in ("1", "22", "1500000000", "1500000001", "name"):
        os.makedirs(os.path.join(folder, name))
    found.append(export(e.LatestExporter("latest", world.receiver, exports_to_keep=2), 1.0))
    found.append(sorted(re.sub(r"(?!15)\d{10}", "TIMESTAMP", name) for name in os.listdir(folder)))
    return found


@case
def early_stopping(world):
    e = world.estimator
    x = e.experimental
    every = {"run_every_secs": None, "run_every_steps": 1}
    linear = world.linear(save_checkpoints_steps=1)
    linear.train(world.data(10), hooks=[x.make_early_stopping_hook(linear, lambda: True, None, 2)], max_steps=9)
    found = [linear.get_variable_names(), linear.get_variable_value("global_step"), world.logged()]
    linear.train(world.data(10), max_steps=2)
    found.append(linear.get_variable_names())

    def train(make, *args, **kwargs):
        model = world.linear(save_checkpoints_steps=1)
        world.logged()
        hook = make(model, "mean", *args, **dict(every, **kwargs))
        train_spec = e.TrainSpec(world.data(10), max_steps=4, hooks=[hook])
        e.train_and_evaluate(model, train_spec, e.EvalSpec(world.data(), throttle_secs=0))
        lines = [line for line in world.logged() if "stopping" in line]
        return [lines, model.get_variable_value("global_step")]

    found.append(train(x.stop_if_lower_hook, 1e9))
    found.append(train(x.stop_if_higher_hook, 0.1, min_steps=3))
    found.append(train(x.stop_if_no_decrease_hook, 2))
    found.append(train(x.stop_if_no_increase_hook, 100))
    stopping = x.make_stop_at_checkpoint_step_hook(linear, 3)
    linear.train(world.data(10), hooks=[stopping])
    found.append(linear.get_variable_value("global_step"))
    found += errors(
        world,
        lambda: x.make_early_stopping_hook(linear, lambda: True, 60, 2),
        lambda: x.make_early_stopping_hook(3, lambda: True),
        lambda: x.make_early_stopping_hook(linear, lambda: True, None),
    )
    return found


@case
def evaluation_in_memory(world):
    x = world.estimator.experimental
    linear = world.linear()
    note = hook_class(world.tf)("memory", world.lines)
    hook = x.InMemoryEvaluatorHook(linear, world.data(), name="memory", every_n_iter=2, hooks=[note])
    linear.train(world.data(10), hooks=[hook], max_steps=5)
    return [
        world.logged(), world.events(linear.eval_dir("memory")),
        world.error(x.InMemoryEvaluatorHook, linear, world.data(), every_n_iter=0),
    ]  # fmt: skip


@case
def more_metrics(world):
    tf, e = world.tf, world.estimator
    linear = world.linear()
    linear.train(world.data())
    world.logged()

    def metric_fn(labels, predictions, features, config):
        doubled = predictions["y"] * 2.0 * features["x"][:, :1]
        return {"doubled": tf.metrics.mean(doubled), "mean": tf.metrics.mean(labels)}

    more = e.add_metrics(linear, metric_fn)
    return [
        more.evaluate(world.data()), more.model_dir == linear.model_dir, len(list(more.predict(world.data()))),
        more.train(world.data(), steps=1).get_variable_value("global_step"), world.logged(),
        world.error(e.add_metrics, linear, lambda x: 0),
    ]  # fmt: skip


@case
def warm_start(world):
    e = world.estimator
    source = world.linear(rate=0.01)
    source.train(world.data(3))
    exported = source.export_saved_model(world.folder(), world.receiver).decode()
    world.logged()

    def values(model):
        return {name: model.get_variable_value(name) for name in model.get_variable_names()}

    warm = world.linear(warm_start_from=source.model_dir)
    found = [values(warm.train(world.data(), max_steps=1)), values(warm.train(world.data(), steps=1)), world.logged()]
    found.append(warm.evaluate(world.data()))
    some = e.WarmStartSettings(source.model_dir, vars_to_warm_start="b")
    found.append(values(world.linear(warm_start_from=some).train(world.data(), max_steps=1)))
    everything = e.WarmStartSettings(source.latest_checkpoint(), vars_to_warm_start=[".*"])
    found.append(values(world.linear(warm_start_from=everything).train(world.data(), steps=1)))
    renamed = e.WarmStartSettings(source.model_dir, var_name_to_prev_var_name={"b": "b"})
    found.append(world.linear(warm_start_from=renamed).evaluate(world.data()))
    found.append(list(world.linear(warm_start_from=exported).predict(world.data())))
    found.append(world.logged()[-6:])
    found += errors(world, lambda: e.WarmStartSettings(""), lambda: world.linear(warm_start_from=3))
    return found


@case
def warm_start_with_another_vocabulary(world):
    tf, e = world.tf, world.estimator
    paths = {}
    for name, words in (("old", "abc"), ("new", "cdab")):
        paths[name] = os.path.join(world.root, name)
        with open(paths[name], "w") as file:
            file.write("\n".join(words) + "\n")

    def function(rows):
        def model(mode, features, labels):
            table = tf.get_variable("table", initializer=np.arange(rows * 2, dtype=np.float32).reshape(rows, 2) + 1.0)
            train_op = tf.assign_add(tf.train.get_global_step(), 1)
            return e.EstimatorSpec(mode, loss=tf.reduce_sum(table), train_op=train_op)

        return model

    old = world.model(function(3)).train(world.data(), steps=1)
    info = e.VocabInfo(paths["new"], 4, 0, paths["old"], backup_initializer=tf.ones_initializer())
    settings = e.WarmStartSettings(old.model_dir, var_name_to_vocab_info={"table": info})
    new = e.Estimator(
        lambda features, labels, mode: function(4)(mode, features, labels), world.folder(), warm_start_from=settings
    )
    return new.train(world.data(), steps=1).get_variable_value("table")


@case
def constructor_errors(world):
    e = world.estimator
    folder = world.folder()

    class Train(e.Estimator):
        def train(self):
            pass

    class Harmless(e.Estimator):
        def more(self):
            return "more"

    def model_fn(features, labels, mode):
        pass

    with_params = e.Estimator(lambda features, params: None, folder, params={"a": [1]})
    with_params.params["a"].append(2)
    return [
        with_params.params, Harmless(model_fn, folder).more(), e.Estimator(model_fn, folder).config.model_dir == folder,
        world.error(e.Estimator(model_fn, folder).model_fn, 1, 2, 3, 4),
    ] + errors(
        world,
        lambda: e.Estimator(None, folder), lambda: e.Estimator(model_fn, folder, e.RunConfig(folder + "other")),
        lambda: e.Estimator(model_fn, folder, {}), lambda: e.Estimator(model_fn, folder, params={}),
        lambda: e.Estimator(lambda labels: 0, folder), lambda: e.Estimator(lambda features, x: 0, folder),
        lambda: e.Estimator(lambda features, **rest: 0, folder, params={}), lambda: Train(model_fn, folder),
        lambda: e.Estimator("x", folder), lambda: e.Estimator(model_fn, folder).get_variable_names(),
        lambda: e.Estimator(model_fn, folder).get_variable_value("v"),
        lambda: e.Estimator(model_fn, folder).train(world.data(), steps=0),
        lambda: e.Estimator(model_fn, folder).train(world.data(), max_steps=0),
        lambda: e.Estimator(model_fn, folder).train(world.data(), steps=1, max_steps=1),
        lambda: e.Estimator(model_fn, folder).train(world.data(), hooks=[3]),
        lambda: e.Estimator(model_fn, folder).train(world.data(), saving_listeners=[3]),
        lambda: e.Estimator(model_fn, folder).evaluate(world.data(), steps=0),
        lambda: next(e.Estimator(model_fn, folder).predict(world.data(), hooks=[3])),
        lambda: e.Estimator(model_fn, folder).train(lambda: (1, 2, 3), steps=1),
        lambda: e.Estimator(lambda features: 0, folder).train(world.data(), steps=1),
        lambda: e.Estimator(model_fn, folder).train(3, steps=1),
        lambda: e.Estimator(model_fn, folder).train(world.data(), steps=1),
    )  # fmt: skip


@case
def spec_errors(world):
    tf, S = world.tf, world.estimator.EstimatorSpec
    out = world.estimator.export.PredictOutput
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    c, op = tf.constant(1.0), tf.no_op()
    kept = S("train", loss=c, train_op=op)
    found = errors(
        world,
        lambda: S("train"), lambda: S("train", loss=c), lambda: S("train", train_op=op), lambda: S("eval"),
        lambda: S("infer"), lambda: S("train", loss=tf.constant([1.0, 2.0]), train_op=op),
        lambda: S("train", loss=1.0, train_op=op), lambda: S("train", loss=other, train_op=op),
        lambda: S("train", loss=c, train_op=1), lambda: S("eval", loss=c, train_op=other),
        lambda: S("eval", loss=c, eval_metric_ops=3), lambda: S("eval", loss=c, eval_metric_ops={"a": c}),
        lambda: S("eval", loss=c, eval_metric_ops={"a": [c, op]}),
        lambda: S("eval", loss=c, eval_metric_ops={"a": (other, op)}),
        lambda: S("infer", predictions={"a": 1}), lambda: S("infer", predictions=other),
        lambda: S("infer", predictions={"a": other}), lambda: S("infer", predictions=c, export_outputs=3),
        lambda: S("infer", predictions=c, export_outputs={"a": c}),
        lambda: S("infer", predictions=c, export_outputs={"a": out(c), "b": out(c)}),
        lambda: S("eval", loss=c, evaluation_hooks=[1]), lambda: S("train", loss=c, train_op=op, training_hooks=[3]),
        lambda: S("train", loss=c, train_op=op, scaffold=3), lambda: kept._replace(mode="eval"),
        lambda: kept._replace(loss=None),
    )  # fmt: skip
    one = S("train", loss=tf.constant([1.0]), train_op=tf.Variable(1.0))
    predicting = S("infer", predictions=c, export_outputs={"a": out(c)})
    found += [
        one.loss.shape.as_list(), one.train_op.name, one.predictions, one.eval_metric_ops, one.training_hooks,
        one.export_outputs, sorted(predicting.export_outputs), list(one._fields), kept._replace(loss=c + 1.0).mode,
        S("other").loss, type(one.scaffold).__name__,
    ]  # fmt: skip
    return found


@case
def run_config(world):
    R, tf = world.estimator.RunConfig, world.tf
    defaults = {key: value for key, value in vars(R()).items() if key != "_cluster_spec"}
    found = [
        defaults,
        [R(save_checkpoints_steps=5).save_checkpoints_secs, R(save_checkpoints_secs=5).save_checkpoints_steps],
    ]
    replaced = R(save_checkpoints_steps=3, tf_random_seed=5).replace(save_checkpoints_secs=4, model_dir="a")
    found.append([replaced.save_checkpoints_steps, replaced.save_checkpoints_secs, replaced.model_dir])
    found.append(world.tidy(world.linear().config.session_config))
    found += errors(
        world,
        lambda: R(save_checkpoints_steps=1, save_checkpoints_secs=1), lambda: R(model_dir=""),
        lambda: R(save_summary_steps=-1), lambda: R(save_checkpoints_secs=-1), lambda: R(keep_checkpoint_max=-1),
        lambda: R(keep_checkpoint_every_n_hours=0), lambda: R(log_step_count_steps=0), lambda: R(tf_random_seed=1.5),
        lambda: R(session_config={}), lambda: R(device_fn=3), lambda: R(device_fn=lambda x: ""),
        lambda: R(protocol="x"), lambda: R(session_creation_timeout_secs=0), lambda: R().replace(foo=1),
        lambda: R().replace(task_id=1), lambda: R().replace(save_checkpoints_steps=3, save_checkpoints_secs=4),
        lambda: R(device_fn=lambda op: "", protocol="grpc", session_config=tf.ConfigProto()),
    )  # fmt: skip
    return found


@case
def run_config_of_the_environment(world):
    R = world.estimator.RunConfig
    cluster = {"chief": ["h0:1"], "ps": ["h1:1", "h2:1"], "worker": ["h3:1", "h4:1"]}
    master = {"master": ["a:1"], "worker": ["b:1"]}
    names = (
        "model_dir service task_type task_id global_id_in_cluster master evaluation_master is_chief num_ps_replicas "
        "num_worker_replicas session_config"
    ).split()

    def task(kind, index=0):
        return {"type": kind, "index": index}

    found = []
    for config in [
        "{", {}, {"model_dir": "/x"}, {"task": task("worker")}, {"task": task("worker", 1)}, {"task": task("chief")},
        {"service": {"a": 1}}, {"service": 3}, {"cluster": cluster},
        {"session_master": "x", "eval_session_master": "y"},
        {"cluster": cluster, "task": task("chief")}, {"cluster": cluster, "task": task("chief", 1)},
        {"cluster": cluster, "task": task("worker", 1)}, {"cluster": cluster, "task": task("worker", 2)},
        {"cluster": cluster, "task": task("worker", -1)}, {"cluster": cluster, "task": task("ps", 1)},
        {"cluster": cluster, "task": task("evaluator")}, {"cluster": cluster, "task": task("foo")},
        {"cluster": cluster, "task": {"type": "chief"}}, {"cluster": cluster, "task": {"index": 0}},
        {"cluster": {"worker": ["a:1"]}, "task": task("worker")},
        {"cluster": {"chief": ["a:1"]}, "task": task("chief")},
        {"cluster": {"chief": ["a:1", "b:1"]}, "task": task("chief")}, {"cluster": master, "task": task("master")},
        {"cluster": {"master": ["a:1"], "chief": ["b:1"]}, "task": task("master")},
        {"cluster": cluster, "task": task("worker", 1), "session_master": "x", "eval_session_master": "y"},
    ]:  # fmt: skip
        with environment(config if isinstance(config, str) else json.dumps(config)):
            problem = world.error(R)
            if problem is None:
                made = R()
                values = {name: getattr(made, name) for name in names}
                found.append(dict(values, session_config=str(made.session_config), cluster=made.cluster_spec.as_dict()))
            else:
                found.append(problem[:1] if problem[0] == "JSONDecodeError" else problem)
    with environment('{"model_dir": "/x"}'):
        found += [world.error(R, "/y"), R("/x").model_dir]
    found.append(sorted(set(world.logged()))[-1])
    return found


@contextlib.contextmanager
def environment(text):
    before = os.environ.get("TF_CONFIG")
    os.environ["TF_CONFIG"] = text
    try:
        yield
    finally:
        del os.environ["TF_CONFIG"]
        if before is not None:
            os.environ["TF_CONFIG"] = before


@case
def input_functions(world):
    tf = world.tf

    def named(params, mode, config):
        world.lines.append(f"INPUT {mode} {sorted(params)} {type(config).__name__}")
        return {"x": tf.constant(X)}, tf.constant(Y)

    linear = world.linear()
    linear.train(named, steps=1)
    evaluated = linear.evaluate(lambda: ({"x": tf.constant(X)}, tf.constant(Y)), steps=2)

    class Callable:
        def __call__(self, mode):
            return [{"x": tf.constant(X)}, tf.constant(Y)]

    linear.train(Callable(), max_steps=2)
    features_only = tf.data.Dataset.from_tensors
    predicted = list(linear.predict(lambda: features_only({"x": X})))
    three = world.error(next, linear.predict(lambda: ({"x": tf.constant(X)}, 1, 2)))
    return [world.logged(), evaluated, predicted, three, linear.get_variable_value("global_step")]


@case
def arrays(world):
    tf = world.tf
    numpy_input_fn = world.estimator.inputs.numpy_input_fn

    def batches(function, count):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            made = function()
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coord)
            got = []
            try:
                for _ in range(count):
                    got.append(session.run(made))
            except tf.errors.OutOfRangeError:
                got.append("end")
            coord.request_stop()
            coord.join(threads)
            names = [operation.name + ":" + operation.type for operation in graph.get_operations()]
            parts = made if isinstance(made, tuple) else (made,)
            flat = [t for part in parts for t in (part.values() if isinstance(part, dict) else [part])]
            shapes = [str(tensor.shape.as_list()) for tensor in flat]
            return [got, names, collections(graph), shapes]

    both = {"a": X, "b": Y}
    found = [
        batches(numpy_input_fn(both, Y, batch_size=3, shuffle=False), 9),
        batches(numpy_input_fn(X, batch_size=3, shuffle=False), 9),
        batches(numpy_input_fn({"a": X}, {"l": Y, "m": Y}, batch_size=3, shuffle=False, num_epochs=2), 9),
        batches(numpy_input_fn({"a": X}, Y, batch_size=2, shuffle=True, num_epochs=None), 3)[1:],
    ]
    shuffled = batches(numpy_input_fn({"a": X}, Y, batch_size=3, shuffle=True, num_epochs=2, queue_capacity=8), 9)[0]
    rows = [row for batch in shuffled[:-1] for row in batch[0]["a"][:, 0].tolist()]
    found.append([sorted(rows), len(shuffled), shuffled[-1]])
    found += errors(
        world,
        lambda: numpy_input_fn({"a": X}), lambda: numpy_input_fn({"a": X}, shuffle=3),
        lambda: numpy_input_fn({"a": X}, Y[:2], shuffle=True)(), lambda: numpy_input_fn({"a": X}, {}, shuffle=True)(),
        lambda: numpy_input_fn({"a": X}, {"a": Y}, shuffle=True)(),
        lambda: numpy_input_fn({"a": X, "b": Y[:1]}, shuffle=True)(),
    )  # fmt: skip
    numpy_input_fn({"a": X}, shuffle=False, num_threads=2)()
    found.append(world.logged())
    linear = world.linear()
    linear.train(numpy_input_fn({"x": X}, Y, batch_size=2, shuffle=False, num_epochs=3))
    found.append(linear.evaluate(numpy_input_fn({"x": X}, Y, batch_size=3, shuffle=False)))
    found.append(list(linear.predict(numpy_input_fn({"x": X}, batch_size=3, shuffle=False))))
    return found


@case
def receivers(world):
    tf, e = world.tf, world.estimator.export
    raw = world.estimator.experimental.build_raw_supervised_input_receiver_fn
    a = tf.placeholder(tf.float32, [None, 2], name="a")

    def names(value):
        if isinstance(value, dict):
            return {str(key): names(item) for key, item in value.items()}
        return value if value is None else [value.name.replace("V2", ""), str(value.shape.as_list())]

    made = [
        e.ServingInputReceiver(a, a), e.ServingInputReceiver({1: a}, {"x": a}), e.ServingInputReceiver(a, a, {"b": a}),
        e.TensorServingInputReceiver(a, a), e.build_raw_serving_input_receiver_fn({"x": a})(),
        e.build_raw_serving_input_receiver_fn({"x": tf.constant(1.0)}, default_batch_size=4)(),
        e.build_parsing_serving_input_receiver_fn({"x": tf.FixedLenFeature([2], tf.float32)}, 3)(),
        raw({"a": a}, {"b": a}, 2)(),
    ]  # fmt: skip
    found = [[names(part) for part in receiver if not hasattr(part, "indices")] for receiver in made]
    single = raw(a, a)()
    found.append([names(single.features), names(single.labels), names(single.receiver_tensors)])
    return found + errors(
        world,
        lambda: e.ServingInputReceiver(None, a), lambda: e.ServingInputReceiver({1.5: a}, a),
        lambda: e.ServingInputReceiver({"x": 3}, a), lambda: e.ServingInputReceiver(a, {1: a}),
        lambda: e.ServingInputReceiver(a, {"a": 3}), lambda: e.ServingInputReceiver(a, None),
        lambda: e.ServingInputReceiver(a, a, 3), lambda: e.TensorServingInputReceiver({"x": a}, a),
        lambda: e.TensorServingInputReceiver(None, a), lambda: e.PredictOutput(3), lambda: e.PredictOutput({1: a}),
        lambda: e.RegressionOutput(3), lambda: raw({"a": a}, {"a": a})(),
        lambda: raw({"label": a}, a)(),
    )  # fmt: skip


@case
def logits(world):
    call = world.estimator.experimental.call_logit_fn
    one = world.tf.constant(1.0)
    found = call(lambda features, params: {"a": features, "b": params}, one, "train", one + 1.0, None)
    return [found["a"].name, found["b"].name] + errors(
        world,
        lambda: call(lambda features: 3, one, "train", {}, None),
        lambda: call(lambda features: {"a": 3}, one, "train", {}, None),
    )


def write_model_dir(tf, estimator, folder):
    """The model_dir that :func:`resume` goes on with."""
    world = World(tf, estimator)
    world.linear(folder, save_summary_steps=None, rate=0.01).train(world.data(2), steps=3)


def resume(tf, estimator, folder):
    """What training further in ``folder`` gives."""
    world = World(tf, estimator)
    linear = world.linear(folder, rate=0.01)
    before = linear.evaluate(world.data())
    linear.train(world.data(2), max_steps=5)
    values = {name: linear.get_variable_value(name) for name in linear.get_variable_names()}
    return plain(
        [before, values, linear.evaluate(world.data()), sorted(os.path.basename(p) for p in checkpoints(folder))]
    )


def checkpoints(folder):
    """The checkpoints that the file ``checkpoint`` names."""
    with open(os.path.join(folder, "checkpoint")) as file:
        return re.findall('all_model_checkpoint_paths: "(.*)"', file.read())
