"""What ``train_and_evaluate`` does as a task of a cluster, and what ``RunConfig`` makes of ``TF_CONFIG``.

Servers, the clock and training itself are replaced, so that each task is over at once; see estimator_cases.py. The file
has to run on Python 3.7 too.
"""

import json
import os
import time

from estimator_cases import World, plain

CASES = {}
CLUSTER = {"chief": ["h0:1"], "ps": ["h1:1", "h2:2"], "worker": ["h3:1", "h4:1"]}
WITH_MASTER = {"master": ["h0:1"], "ps": ["h1:1"], "worker": ["h3:1", "h4:1"]}


def case(function):
    CASES[function.__name__] = function
    return function


class TooLong(Exception):
    """A task waited more often than it should."""


class Stage:
    """Notes what a task does: servers, waiting, training and evaluations.

    ``steps`` are the global steps of the checkpoints that an evaluator finds, one after the other.
    """

    def __init__(self, world, steps=()):
        self.world = world
        self.notes = []
        self.waits = 0
        self.now = 1000.0
        self.steps = list(steps)

    def __enter__(self):
        tf, notes, stage = self.world.tf, self.notes, self

        class Server:
            target = "grpc://target"

            def __init__(self, spec, job_name=None, task_index=None, config=None, protocol=None, start=True):
                filters = list(config.device_filters) if config else None
                notes.append(["server", tf.train.ClusterSpec(spec).as_dict(), job_name, task_index, filters, protocol])
                notes.append(["starts", start])

            def start(self):
                notes.append("start")

            def join(self):
                notes.append("join")

        def train(estimator, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
            notes.append(["train", len(hooks or ()), max_steps, len(saving_listeners or ())])
            notes.append(["variables", device(tf, estimator)])
            return estimator

        def evaluate(estimator, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
            notes.append(["evaluate", steps, name, os.path.basename(checkpoint_path)])
            return {"global_step": int(checkpoint_path.split("-")[-1]), "loss": 1.0}

        def latest_checkpoint(*args, **kwargs):
            if len(stage.steps) > 1:
                step = stage.steps.pop(0)
            else:
                step = stage.steps[0] if stage.steps else None
            return None if step is None else f"model.ckpt-{step}"

        def sleep(seconds):
            stage.now += seconds
            if seconds < 1:  # between two looks where there is to be no pause: 1.15 looked without end
                return
            notes.append(["sleep", round(seconds, 2)])
            stage.waits += 1
            if stage.waits > 8:
                raise TooLong()

        kind = self.world.estimator.Estimator
        self.saved = [
            (tf.train, "Server", tf.train.Server),
            (time, "sleep", time.sleep),
            (time, "time", time.time),
            (kind, "train", kind.train),
            (kind, "evaluate", kind.evaluate),
            (kind, "latest_checkpoint", kind.latest_checkpoint),
            (tf.train, "latest_checkpoint", tf.train.latest_checkpoint),
        ]
        new = [Server, sleep, lambda: stage.now, train, evaluate, latest_checkpoint, latest_checkpoint]
        for (holder, name, _), value in zip(self.saved, new):  # noqa: B905  (not on Python 3.7)
            setattr(holder, name, value)
        try:  # 1.15's own modules have names of their own for these
            from tensorflow.python.training import server_lib

            self.saved.append((server_lib, "Server", server_lib.Server))
            server_lib.Server = Server
        except ImportError:
            pass
        return self

    def __exit__(self, *args):
        for holder, name, value in self.saved:
            setattr(holder, name, value)


def device(tf, estimator):
    """Where the variables of ``estimator`` are, and its other operations."""
    with tf.Graph().as_default(), tf.device(estimator._device_fn):
        return [tf.get_variable("a", []).device, tf.get_variable("b", []).device, tf.constant(1).device]


class Environment:
    """``TF_CONFIG`` for a while."""

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        self.before = os.environ.get("TF_CONFIG")
        os.environ["TF_CONFIG"] = json.dumps(self.value)

    def __exit__(self, *args):
        del os.environ["TF_CONFIG"]
        if self.before is not None:
            os.environ["TF_CONFIG"] = self.before


def task(cluster, kind, index=0, **more):
    return dict({"cluster": cluster, "task": {"type": kind, "index": index}}, **more)


def model_fn(features, labels, mode):
    raise AssertionError("Nothing is built.")


class Exporter:
    """Notes its calls."""

    def __new__(cls, world, notes):
        class Noting(world.estimator.Exporter):
            @property
            def name(self):
                return "noting"

            def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
                path = export_path[len(estimator.model_dir) :]
                notes.append(["export", path, checkpoint_path, eval_result["global_step"], is_the_final_export])
                return "exported"

        return Noting()


def act(world, tf_config, steps=(), max_steps=100, start_delay_secs=3, throttle_secs=10, **kwargs):
    """What the task of ``tf_config`` does."""
    e = world.estimator
    with Environment(tf_config), Stage(world, steps) as stage:
        error = result = None
        try:
            config = e.RunConfig(model_dir=world.folder(), **kwargs)
            made = e.Estimator(model_fn, config=config)
            result = e.train_and_evaluate(
                made,
                e.TrainSpec(lambda: None, max_steps, hooks=[world.tf.train.SessionRunHook()]),
                e.EvalSpec(
                    lambda: None,
                    steps=7,
                    name="named",
                    exporters=Exporter(world, stage.notes),
                    start_delay_secs=start_delay_secs,
                    throttle_secs=throttle_secs,
                ),
            )
        except (ValueError, TypeError, RuntimeError, TooLong) as problem:
            error = [type(problem).__name__, world.tidy(problem)]
    return plain({"notes": stage.notes, "result": result, "error": error})


@case
def training_tasks(world):
    found = [act(world, task(CLUSTER, kind)) for kind in ("chief", "worker", "ps")]
    found += [act(world, task(WITH_MASTER, kind)) for kind in ("master", "worker", "ps")]
    found += [
        act(world, task(CLUSTER, "worker", 1)),
        act(world, task(CLUSTER, "worker", 1), experimental_max_worker_delay_secs=7),
        act(world, task(CLUSTER, "worker", 1), experimental_max_worker_delay_secs=0),
        act(world, task({"chief": ["a:1"], "worker": ["b:1"] * 20}, "worker", 15)),
        act(world, task({"chief": ["a:1"]}, "chief")),
        act(world, task({"master": ["a:1"]}, "master")),
        act(world, task({"chief": ["a:1"], "worker": ["b:1"]}, "chief"), protocol="grpc"),
        act(world, task({"chief": ["a:1"], "worker": ["b:1"]}, "worker", session_master="grpc://there")),
        act(world, task(CLUSTER, "chief", environment="google")),
        act(world, task(CLUSTER, "ps"), session_config=world.tf.ConfigProto(device_filters=["/job:ps"])),
        act(world, task({"chief": ["a:1"], "other": ["b:1"]}, "other")),
        act(world, {}),
    ]
    return found


@case
def evaluator(world):
    here = task(CLUSTER, "evaluator")
    return [
        act(world, here, steps=[20, 20, 60, 100]),
        act(world, here, steps=[None, None, 0, 50, 50, 120], throttle_secs=0),
        act(world, here, steps=[100], start_delay_secs=0),
        act(world, here, steps=[5, 6, 7], max_steps=None),
        act(world, task(CLUSTER, "evaluator", 1), steps=[100]),
        act(world, task({"chief": ["a:1"]}, "evaluator"), steps=[100]),
        act(world, task({"chief": ["a:1"], "evaluator": ["b:1"]}, "evaluator"), steps=[100]),
    ]


@case
def environments(world):
    """What RunConfig makes of TF_CONFIG."""
    names = (
        "task_type task_id is_chief master evaluation_master num_worker_replicas num_ps_replicas global_id_in_cluster "
        "session_config model_dir service"
    ).split()
    worker = dict(CLUSTER, chief=["x:1"])
    found = []
    for value in (
        [task(CLUSTER, kind) for kind in ("chief", "worker", "ps", "evaluator", "other")]
        + [task(WITH_MASTER, kind) for kind in ("master", "worker", "ps", "evaluator")]
        + [task(CLUSTER, "worker", index) for index in (1, 5, -1)]
        + [task(CLUSTER, "evaluator", index) for index in (2, -1)]
        + [
            {"cluster": CLUSTER},
            {"cluster": CLUSTER, "task": {"type": "worker"}},
            {"cluster": CLUSTER, "task": {"index": 1}},
            task(dict(CLUSTER, master=["y:1"]), "chief"),
            task({"ps": ["x:1"]}, "ps"),
            task({"chief": ["x:1", "y:1"]}, "chief"),
            task({"chief": ["x:1"]}, "chief"),
            task({"chief": ["x:1"], "evaluator": ["y:1"]}, "chief"),
            task({"chief": ["x:1"], "evaluator": ["y:1"]}, "evaluator"),
            task({"chief": ["x:1"], "other": ["y:1"], "worker": ["z:1"]}, "other"),
            task(worker, "worker", session_master="grpc://m", eval_session_master="grpc://e"),
            {"task": {"type": "evaluator", "index": 0}},
            {"task": {"type": "worker", "index": 0}, "session_master": "grpc://m", "eval_session_master": "grpc://e"},
            {"service": {"a": 1}},
            {"service": 3},
            {"model_dir": ""},
            task(CLUSTER, "chief", model_dir="here"),
        ]
    ):
        with Environment(value):
            try:
                config = world.estimator.RunConfig()
                known = {name: getattr(config, name) for name in names}
                known["session_config"] = str(known["session_config"])
                known["cluster_spec"] = config.cluster_spec.as_dict()
            except (ValueError, TypeError) as problem:
                known = [type(problem).__name__, world.tidy(problem)]
        found.append(known)
    with Environment(task(CLUSTER, "chief")):
        given = world.tf.ConfigProto(log_device_placement=True)
        found.append(str(world.estimator.RunConfig(session_config=given).session_config))
    return plain(found)


@case
def strategies(world):
    """RunConfig's arguments for tf.distribute."""
    RunConfig = world.estimator.RunConfig
    strategy = world.tf.distribute.OneDeviceStrategy("/cpu:0")

    class Both:
        train_distribute = eval_distribute = strategy
        remote_cluster = None

    kept = RunConfig(train_distribute=strategy), RunConfig(experimental_distribute=Both())
    return [
        [[config.train_distribute is strategy, config.eval_distribute is strategy] for config in kept],
        world.error(RunConfig, train_distribute=strategy, experimental_distribute=Both()),
        world.error(RunConfig, eval_distribute=strategy, experimental_distribute=Both()),
        world.error(RunConfig, protocol="other"),
        world.error(RunConfig, device_fn=3),
        world.error(RunConfig, device_fn=lambda x: "/cpu:0"),
        world.error(RunConfig, session_creation_timeout_secs=0),
        world.error(RunConfig, model_dir=""),
        world.error(RunConfig().replace, task_type="worker"),
        world.error(RunConfig().replace, model_dir=""),
    ]


def run(tf, estimator, names=()):
    """What each case, or each of ``names``, does."""
    return {name: CASES[name](World(tf, estimator)) for name in names or CASES}
