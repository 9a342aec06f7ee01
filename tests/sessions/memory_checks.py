"""Checks of MemoryPlan in one process with eager execution on; the first one must find TensorFlow unused.

There is no GPU here. Where one is needed, the machine is described, and a session is made to list a device of the kind
GPU as TensorFlow lists it: ``_DeviceAttributes`` of tensorflow/python/client/session.py.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow

import tf1sessions as t1
from tf1sessions import errors
from tf1sessions.runtime import private
from tf1sessions.sessions import calls, gpu_settings, gpus, graphs, logical_devices, memory
from tf1sessions.sessions.gpus import Gpu, Machine, MemoryHolder

tf = t1.tf1
MACHINE = {"gpus": [{"total_mb": 16000, "count": 2}], "cores": 8}


@contextlib.contextmanager
def fresh(gpu: bool = False) -> Iterator[None]:
    """A process that has settled nothing; with ``gpu``, one whose sessions see a GPU."""
    gpu_settings._forget()
    original = tf.Session.list_devices
    if gpu:
        card = private.session._DeviceAttributes("/job:localhost/device:GPU:0", "GPU", 1 << 30, 1)
        tf.Session.list_devices = lambda self: [*original(self), card]
    try:
        yield
    finally:
        tf.Session.list_devices = original
        gpu_settings._forget()


@contextlib.contextmanager
def said() -> Iterator[list[str]]:
    """What our logger says, at any level."""
    lines: list[str] = []
    logger = logging.getLogger("tf1sessions")
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def conflict(make: Callable[[], Any]) -> errors.MemoryPlanConflict:
    try:
        made = make()
    except errors.MemoryPlanConflict as error:
        return error
    raise AssertionError(f"no conflict: {made}")


def refused(make: Callable[[], Any]) -> str:
    try:
        made = make()
    except errors.MemoryPlanError as error:
        return str(error)
    raise AssertionError(f"it was taken: {made}")


def session(**fields: Any) -> t1.Session:
    with tf.Graph().as_default():
        return t1.Session(config=t1.SessionConfig(**fields))


# -- eager execution --------------------------------------------------------------------------------------------------


def check_applied_to_eager_tensorflow() -> None:
    """Must be the first: TensorFlow 2 takes logical devices and threads only before its first use."""
    with fresh():
        plan = t1.MemoryPlan(gpus=(), workers=2, lanes=3, machine={"cores": 4})
        plan.apply(worker=1)
        names = [device.name for device in tensorflow.config.list_logical_devices("CPU")]
        assert names == ["/device:CPU:0", "/device:CPU:1", "/device:CPU:2"]
        assert tensorflow.config.threading.get_intra_op_parallelism_threads() == 2
        with tensorflow.device(plan.lane(2)):
            assert (tensorflow.constant(1.0) + 1.0).device.endswith("CPU:2")
        plan.apply(worker=1)  # the same again
        with t1.GraphSession() as gs:  # a session that asks for nothing gets it, too
            assert len(gs.session.list_devices()) == 3
            assert gs.session._config.intra_op_parallelism_threads == 2


class FakeConfig:
    """``tf.config`` of a machine with two GPUs: notes what it is given, and fails as after TensorFlow's first use."""

    LogicalDeviceConfiguration = tensorflow.config.LogicalDeviceConfiguration

    def __init__(self, used: bool = False) -> None:
        self.calls: list[Any] = []
        self.used = used
        self.threading = self.experimental = self

    def list_physical_devices(self, kind: str) -> list[str]:
        return [f"{kind}:{number}" for number in range(2)]

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("set_"):
            raise AttributeError(name)

        def note(*args: Any) -> None:
            if self.used:
                raise RuntimeError(f"{name} cannot be modified after being initialized")
            self.calls.append((name, *args))

        return note


def check_eager_tensorflow_gets_growth_limits_and_lanes() -> None:
    def reported(worker: int = 0, **arguments: Any) -> list[Any]:
        config = FakeConfig()
        plan = t1.MemoryPlan(machine=MACHINE, **arguments)
        memory._apply_to_eager(config, plan.share(worker), plan.gpus == (), "here")
        return [
            (call[0], call[1], [part.memory_limit for part in call[2]])
            if call[0] == "set_logical_device_configuration"
            else call
            for call in config.calls
        ]

    visible = ("set_visible_devices", ["GPU:0"], "GPU")
    assert reported(growth=True) == [visible, ("set_memory_growth", "GPU:0", True)]
    assert reported(limit_mb=4000) == [visible, ("set_logical_device_configuration", "GPU:0", [4000])]
    assert reported(fraction=0.25) == [visible, ("set_logical_device_configuration", "GPU:0", [4000])]
    with said() as lines:
        assert reported(fraction=0.25, growth=True) == [visible, ("set_memory_growth", "GPU:0", True)]
    assert len(lines) == 1 and "may take more than the 4000 MiB of worker 0" in lines[0], lines
    assert reported(fraction=0.25, lanes=2) == [visible, ("set_logical_device_configuration", "GPU:0", [2000, 2000])]
    assert reported(gpus=()) == [("set_visible_devices", [], "GPU")]
    assert reported(worker=1, workers=2, limit_mb=4000) == [
        ("set_intra_op_parallelism_threads", 4),
        ("set_inter_op_parallelism_threads", 4),
        ("set_visible_devices", ["GPU:1"], "GPU"),
        ("set_logical_device_configuration", "GPU:1", [4000]),
    ]
    plan = t1.MemoryPlan(machine=MACHINE, growth=True)
    error = conflict(lambda: memory._apply_to_eager(FakeConfig(used=True), plan.share(), False, "train.py:1"))
    assert error.where == "train.py:1" and isinstance(error.__cause__, RuntimeError)


# -- protos -----------------------------------------------------------------------------------------------------------


def check_protos() -> None:
    def text(worker: int = 0, **arguments: Any) -> str:
        return " ".join(str(t1.MemoryPlan(machine=MACHINE, **arguments).config(worker).to_proto()).split())

    assert text(fraction=0.25) == 'gpu_options { per_process_gpu_memory_fraction: 0.25 visible_device_list: "0" }'
    assert text(growth=True) == 'gpu_options { allow_growth: true visible_device_list: "0" }'
    limit = 'gpu_options { visible_device_list: "0" experimental { virtual_devices { memory_limit_mb: 4000 } } }'
    assert text(limit_mb=4000) == limit
    assert text(limit_mb=4000, lanes=2) == limit.replace(
        "memory_limit_mb: 4000", "memory_limit_mb: 2000 memory_limit_mb: 2000"
    )
    assert text(1, workers=2, fraction=0.5) == (
        "intra_op_parallelism_threads: 4 inter_op_parallelism_threads: 4 "
        'gpu_options { per_process_gpu_memory_fraction: 0.5 visible_device_list: "1" }'
    )
    assert text(gpus=()) == 'device_count { key: "GPU" value: 0 }'
    bare = {"cores": 8}
    assert str(t1.MemoryPlan(machine=bare, fraction=0.3).config().to_proto()) == ""
    assert dict(t1.MemoryPlan(machine=bare, lanes=3).config().to_proto().device_count) == {"CPU": 3}


def check_config_takes_other_fields_and_keeps_its_own() -> None:
    plan = t1.MemoryPlan(machine=MACHINE, lanes=2)
    config = plan.config(lane=1, seed=3, execution="pool")
    assert (config.lane, config.seed, config.execution, config.soft_placement) == ("/device:GPU:1", 3, "pool", True)
    assert not plan.config(lane=1, soft_placement=False).soft_placement
    assert plan.config().lane is None and config.uses_gpu_options
    assert "memory_fraction=0.5" in refused(lambda: plan.config(memory_fraction=0.5))
    assert "lanes 0 to 1" in refused(lambda: plan.config(lane=2))
    assert "lane is True" in refused(lambda: plan.lane(True))
    for worker in (1, -1, True, "0"):
        for use in (plan.share, plan.config, plan.apply, plan.environment, plan.wait_for_memory):
            assert f"worker is {worker!r}" in refused(lambda use=use, worker=worker: use(worker)), use
    assert gpu_settings.current() is None


# -- one process, one share -------------------------------------------------------------------------------------------


def check_the_first_session_settles_it_where_there_is_a_gpu() -> None:
    with fresh(gpu=True):
        session(memory_fraction=0.4).close()
        session(memory_fraction=0.4).close()
        session().close()
        first = gpu_settings.current()
        assert first is not None and first.settings.fraction == 0.4
        for fields, words in (
            ({"memory_fraction": 0.2}, "per_process_gpu_memory_fraction 0.2 (settled: 0.4)"),
            ({"allow_growth": True}, "allow_growth True (settled: 'not set')"),
            ({"visible_devices": (1,)}, "visible_device_list '1' (settled: 'not set')"),
            ({"memory_limit_mb": 100}, "virtual_devices ((100.0,),) (settled: 'not set')"),
        ):
            error = conflict(lambda fields=fields: session(**fields))
            text = str(error)
            assert words in text and "the first session at " in text and "Two ways out" in text, text
            assert error.first == "the first session"
            assert os.path.basename(error.first_where).startswith("memory_checks.py:")
            assert error.where == error.first_where  # both are made in the line of session()
        assert gpu_settings.current() is first
        made = session()  # what was settled is filled in: TensorFlow refuses another list of devices
        assert made._config.gpu_options.per_process_gpu_memory_fraction == 0.4
        made.close()


def check_without_a_gpu_nothing_is_settled() -> None:
    with fresh():
        for fields in ({"memory_fraction": 0.4}, {"memory_fraction": 0.2}, {"allow_growth": True}):
            session(**fields).close()
        assert gpu_settings.current() is None
        plan = t1.MemoryPlan(machine={"cores": 4}, workers=2, gpus="auto", fraction=0.5)
        gpu_settings.settle(gpu_settings.Agreement(gpu_settings.GpuSettings(), "a plan", "here", b"", gpu=False))
        session(memory_fraction=0.2).close()  # a plan without a GPU has nothing to disagree about
        assert plan.share().gpu is None


def check_a_session_without_gpus_settles_nothing() -> None:
    with fresh(gpu=True):
        with tf.Graph().as_default():
            tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})).close()
            t1.Session(config=tf.ConfigProto(device_count={"GPU": 0})).close()
        assert gpu_settings.current() is None
        session(memory_fraction=0.4).close()
        with tf.Graph().as_default():  # nor does it have to agree
            config = tf.ConfigProto(device_count={"GPU": 0})
            config.gpu_options.allow_growth = True
            t1.Session(config=config).close()


def check_a_plan_settles_it_for_the_process() -> None:
    with fresh(), tf.Graph().as_default():  # in a graph, TensorFlow 2's own context is left alone
        plan = t1.MemoryPlan(workers=2, fraction=0.25, machine={**MACHINE, "mps": True})
        percentage, limit = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"
        for name in (percentage, limit):
            os.environ.pop(name, None)
        original = memory.tf.executing_eagerly_outside_functions
        memory.tf.executing_eagerly_outside_functions = lambda: False
        try:
            plan.apply(worker=1)
            plan.apply(worker=1)
            other = conflict(lambda: plan.apply(worker=0))
            another = conflict(lambda: t1.MemoryPlan(workers=4, fraction=0.25, machine=MACHINE).apply(worker=1))
        finally:
            memory.tf.executing_eagerly_outside_functions = original
        assert os.environ.pop(percentage) == "100"
        assert os.environ.pop(limit) == f"1={math.ceil(plan.share(1).needed_mb)}M"
        assert limit not in t1.MemoryPlan(growth=True, machine={**MACHINE, "mps": True}).environment()
        assert "visible_device_list '0' (settled: '1')" in str(other)
        assert other.first == "MemoryPlan.apply(worker=1)" and "memory_checks.py:" in other.first_where
        assert "another share of the machine" in str(another)
        made = session(seed=1)
        gpu = made._config.gpu_options
        assert (gpu.per_process_gpu_memory_fraction, gpu.visible_device_list) == (0.25, "1")
        assert made._config.intra_op_parallelism_threads == 4
        made.close()
        own = session(intra_op_threads=1, per_session_threads=True)  # threads that a session sets are its own
        assert own._config.intra_op_parallelism_threads == 1 and not own._config.inter_op_parallelism_threads
        own.close()
        t1.GraphSession(plan.config(1)).close()
        assert "MemoryPlan.apply(worker=1)" in str(conflict(lambda: t1.GraphSession(plan.config(0))))
        assert isinstance(conflict(lambda: session(memory_fraction=0.5)), ValueError)


def check_of_two_first_sessions_one_is_second() -> None:
    """Eight threads ask at once, each for another fraction: one gets it, and TensorFlow hears of no other."""
    with fresh(gpu=True):
        barrier, ended, asked, probes = threading.Barrier(8, timeout=60), list[Any](), list[float](), list[bool]()
        original = tf.Session.__init__

        def probe() -> None:
            got = gpu_settings._lock.acquire(blocking=False)
            probes.append(got)
            if got:
                gpu_settings._lock.release()

        def init(self: Any, target: str, graph: Any, config: Any) -> None:
            asked.append(config.gpu_options.per_process_gpu_memory_fraction)
            other = threading.Thread(target=probe)  # nothing else gets on while the first session is made
            other.start()
            other.join()
            original(self, target, graph, config)

        def ask(fraction: float) -> None:
            barrier.wait()
            try:
                session(memory_fraction=fraction).close()
            except BaseException as error:
                ended.append(error)
            else:
                ended.append(fraction)

        threads = [threading.Thread(target=ask, args=((number + 1) / 10,)) for number in range(8)]
        tf.Session.__init__ = init
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            tf.Session.__init__ = original
        won = [end for end in ended if isinstance(end, float)]
        assert len(won) == 1 and len(ended) == 8, ended
        assert {type(end) for end in ended if end not in won} == {errors.MemoryPlanConflict}
        assert asked == won and probes == [False]
        settled = gpu_settings.current()
        assert settled is not None and settled.settings.fraction == won[0]


def check_eager_operations_that_came_first_have_settled_it() -> None:
    """Eager TensorFlow has been used in this process (see the first check); here it is given a GPU."""
    with fresh(gpu=True):
        original = tf.config.list_physical_devices
        tf.config.list_physical_devices = lambda kind=None: ["GPU:0"] if kind == "GPU" else original(kind)
        try:
            error = conflict(lambda: session(memory_fraction=0.4))
        finally:
            tf.config.list_physical_devices = original
        assert "an eager operation at an earlier line came first" in str(error)


def check_a_failed_first_session_settles_nothing() -> None:
    with fresh(gpu=True):
        config = t1.SessionConfig(memory_fraction=0.3).to_proto()
        try:
            t1.Session("no such target", tf.Graph(), config)
        except tf.errors.NotFoundError:
            pass
        try:
            with tf.Graph().as_default():
                t1.Session(graph="no graph", config=config)
        except TypeError:
            pass
        assert gpu_settings.current() is None
        session(memory_fraction=0.2).close()


def check_a_forked_child_has_settled_nothing() -> None:
    with fresh():
        gpu_settings.settle(gpu_settings.Agreement(gpu_settings.GpuSettings(fraction=0.5), "the parent", "here"))
        pid = os.fork()
        if pid == 0:  # nothing of TensorFlow is used in it
            os._exit(0 if gpu_settings.current() is None else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert gpu_settings.current() is not None


# -- lanes ------------------------------------------------------------------------------------------------------------


def check_device_strings() -> None:
    gpu, cpu = "/device:GPU:1", "/device:CPU:2"
    for device, on_gpu, on_cpu in (
        ("", gpu, cpu),
        ("/gpu:0", gpu, cpu),
        ("/device:GPU:3", gpu, cpu),
        ("/GPU:*", gpu, cpu),
        ("/device:GPU", gpu, cpu),
        ("/gpu", gpu, cpu),
        ("/cpu:0", "/cpu:0", cpu),
        ("/device:CPU:0", "/device:CPU:0", cpu),
        ("/job:a", "/job:a" + gpu, "/job:a" + cpu),
        ("/job:gpu/task:1", "/job:gpu/task:1" + gpu, "/job:gpu/task:1" + cpu),
        ("/job:a/replica:0/task:1/device:GPU:0", "/job:a/replica:0/task:1" + gpu, "/job:a/replica:0/task:1" + cpu),
        ("/device:TPU:0", "/device:TPU:0", "/device:TPU:0"),
        ("/device:XLA_GPU:0", "/device:XLA_GPU:0", "/device:XLA_GPU:0"),
    ):
        for lane, expected in ((gpu, on_gpu), (cpu, on_cpu)):
            assert logical_devices.on_lane(device, lane) == expected, (device, lane)
            assert logical_devices.on_lane(expected, lane) == expected, "again changes nothing"


def build(x: Any) -> Any:
    """A graph with everything that is placed in its own way."""
    with tf.device("/cpu:0"):
        y = x * 2.0
    with tf.device("/gpu:0"):
        y = y * 2.0
    with tf.device(None):
        y = y + 1.0
    v = tf.get_variable("v", initializer=np.float32(1.0))
    with tf.colocate_with(v.op):
        y = y + v
    with tf.device("/gpu:0"):
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [0, y])[1]

    @tensorflow.function
    def inside(value: Any) -> Any:
        with tensorflow.device("/gpu:0"):
            return tensorflow.sin(value) * 0.0

    return tf.add(y, inside(y), name="y")


def devices_that_ran(gs: t1.GraphSession) -> set[str]:
    """Where the nodes of y ran; feeds and what is returned lie on the first device."""
    metadata = tf.RunMetadata()
    options = tf.RunOptions(output_partition_graphs=True)
    assert gs.run("y:0", {"x:0": 1.0}, options, metadata) == 48.0
    nodes = [node for graph in metadata.partition_graphs for node in graph.node]
    assert len(nodes) > 5
    moves = ("_Arg", "_Retval", "_Send", "_Recv", "_HostSend", "_HostRecv")
    return {node.device.rpartition("device:")[2] for node in nodes if node.op not in moves}


def check_a_session_stays_on_its_lane() -> None:
    plan = t1.MemoryPlan(lanes=3, machine={"cores": 2})
    for lane in (0, 2):
        with t1.GraphSession(plan.config(lane=lane)) as gs:
            build(tf.placeholder(tf.float32, [], name="x"))
            gs.initialize()
            assert {op.device for op in gs.graph.get_operations()} == {plan.lane(lane)}
            assert devices_that_ran(gs) == {f"CPU:{lane}"}
    with t1.GraphSession(plan.config()) as gs:  # without a lane it runs where its devices say
        build(tf.placeholder(tf.float32, [], name="x"))
        assert {op.device for op in gs.graph.get_operations()} >= {"", "/device:CPU:0", "/device:GPU:0"}


def check_a_loaded_graph_is_put_on_its_lane() -> None:
    with t1.GraphSession(t1.SessionConfig(soft_placement=True)) as gs:
        build(tf.placeholder(tf.float32, [], name="x"))
        gs.initialize()
        saved = gs.graph.as_graph_def()
        prefix = gs.save("lane/model")
    before = saved.SerializeToString(deterministic=True)
    placed = logical_devices.place(saved, "/device:CPU:1")
    assert saved.SerializeToString(deterministic=True) == before
    assert {node.device for node in placed.node} == {"/device:CPU:1"}
    inner = [node for function in placed.library.function for node in function.node_def]
    assert inner and {node.device for node in inner} == {"/device:CPU:1"}
    assert logical_devices.place(placed, "/device:CPU:1") == placed
    plan = t1.MemoryPlan(lanes=3, machine={"cores": 2})
    model = t1.load(prefix, config=plan.config(lane=1))
    (session_of_model,) = [value for value in vars(model).values() if isinstance(value, t1.GraphSession)]
    assert {op.device for op in session_of_model.graph.get_operations()} == {"/device:CPU:1"}
    assert devices_that_ran(session_of_model) == {"CPU:1"}
    model.close()


def check_a_graph_that_the_program_imports_is_put_on_its_lane() -> None:
    """Functions, which may name devices themselves, included; other graphs and the GraphDef stay as they are."""
    plan = t1.MemoryPlan(lanes=3, machine={"cores": 2})
    with t1.GraphSession(t1.SessionConfig(soft_placement=True)) as gs:
        build(tf.placeholder(tf.float32, [], name="x"))
        with tf.device("/cpu:0"):
            tf.no_op(name="named")
        initializer = tf.global_variables_initializer().name
        meta = tf.train.export_meta_graph(graph=gs.graph, clear_devices=False)
    assert any(node.device for function in meta.graph_def.library.function for node in function.node_def)
    before = meta.SerializeToString(deterministic=True)
    for load in (lambda: tf.import_graph_def(meta.graph_def, name=""), lambda: tf.train.import_meta_graph(meta)):
        with t1.GraphSession(plan.config(lane=2)) as gs:
            load()
            gs.run(initializer)
            assert {op.device for op in gs.graph.get_operations()} == {"/device:CPU:2"}
            assert devices_that_ran(gs) == {"CPU:2"}
        assert meta.SerializeToString(deterministic=True) == before
    with t1.GraphSession(plan.config()) as gs:
        tf.import_graph_def(meta.graph_def, name="")
        assert gs.graph.get_operation_by_name("named").device == "/device:CPU:0"
        again = gs.graph.as_graph_def()
    assert {function.signature.name: function for function in again.library.function} == {
        function.signature.name: function for function in meta.graph_def.library.function
    }


def check_a_session_whose_graph_is_not_on_the_lane_is_refused() -> None:
    config = t1.MemoryPlan(lanes=3, machine={"cores": 2}).config(lane=1)
    for graph in (None, tf.Graph(), graphs.OwnedGraph("another", "/device:CPU:2")):
        try:
            t1.Session(graph=graph, config=config)
        except errors.ConfigError as error:
            assert "lane is '/device:CPU:1'" in str(error) and "GraphSession(config)" in str(error)
        else:
            raise AssertionError(f"it was taken with {graph}")
    with t1.GraphSession(config) as gs:  # a second session of a graph that is on it
        t1.Session(graph=gs.graph, config=config).close()


# -- waiting ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def driver(*free: float) -> Iterator[list[float]]:
    """NVML that gives these sizes, one after another, and then the last one; yields those that it gave."""
    reported: list[float] = []
    original = gpus.look

    def look(environ: Any = None) -> Machine:
        reported.append(free[min(len(reported), len(free) - 1)])
        holders = (MemoryHolder(77, 9000.0, "python other.py"), MemoryHolder(78, None))
        return Machine((Gpu(0, "A100", 16000.0, reported[-1], 3, "GPU-1", holders),), 4, "NVML")

    gpus.look = look  # type: ignore[assignment]
    try:
        yield reported
    finally:
        gpus.look = original


def check_waiting_ends_when_the_share_is_free() -> None:
    with driver(16000, 100, 8599, 8600, 100) as reported:
        plan = t1.MemoryPlan(fraction=0.5)
        plan.wait_for_memory(poll_secs=0.001, timeout_secs=60)
        assert reported == [16000, 100, 8599, 8600]
    with driver(16000, 8600) as reported:  # no wait at all
        t1.MemoryPlan(fraction=0.5).wait_for_memory(timeout_secs=0)
        assert len(reported) == 2
    with driver(16000, 599, 600) as reported:  # growth needs a context
        t1.MemoryPlan(growth=True).wait_for_memory(poll_secs=0.001)
        assert len(reported) == 3


def check_waiting_that_takes_too_long_names_who_holds_the_memory() -> None:
    with driver(16000, 7000):
        plan = t1.MemoryPlan(fraction=0.5)
        try:
            plan.wait_for_memory(timeout_secs=0.01, poll_secs=0.001)
        except errors.MemoryWaitError as error:
            late = error
    assert isinstance(late, TimeoutError) and (late.free_mb, late.needed_mb) == (7000, 8600)
    for part in ("GPU 0 (A100) has 7000 MiB free and worker 0 needs 8600", "after 0.01 s", "process 78"):
        assert part in str(late), part
    assert "process 77 python other.py holds 9000 MiB" in str(late)


def check_waiting_for_what_cannot_come() -> None:
    plan = t1.MemoryPlan(machine=MACHINE)
    assert "the plan is for the machine of a description" in refused(plan.wait_for_memory)
    t1.MemoryPlan(machine=MACHINE, gpus=()).wait_for_memory(timeout_secs=0)
    with driver(16000):
        plan = t1.MemoryPlan()
    another = Gpu(0, "A100", 16000.0, 16000.0, 3, "GPU-2", ())  # in its place
    original = gpus.look
    try:
        for there in ((), (another,)):
            gpus.look = lambda environ=None, there=there: Machine(there, 4, "NVML")  # type: ignore[assignment]
            assert "GPU 0 (A100) is not there any more" in refused(plan.wait_for_memory)
    finally:
        gpus.look = original


# -- unmodified scripts -----------------------------------------------------------------------------------------------


def check_scripts_get_one_warning_and_their_session() -> None:
    """The last: it puts our calls under every session of this process."""
    assert calls.install_fast_path()
    with fresh(gpu=True), said() as lines, tf.Graph().as_default():

        def script(fraction: float) -> Any:
            options = tf.GPUOptions(per_process_gpu_memory_fraction=fraction)
            made = tf.Session(config=tf.ConfigProto(gpu_options=options))
            assert made._config.gpu_options.per_process_gpu_memory_fraction == fraction
            made.close()

        script(0.5)
        script(0.5)
        assert lines == []
        script(0.3)
        script(0.2)
        (line,) = lines
        assert "per_process_gpu_memory_fraction 0.3 (settled: 0.5), which TensorFlow ignores or refuses" in line
        assert line.count("memory_checks.py:") == 2
        tf.Session().close()
        tf.Session("", tf.Graph(), tf.ConfigProto()).close()
        assert isinstance(conflict(lambda: session(memory_fraction=0.9)), errors.MemoryPlanConflict)
        assert len(lines) == 1
