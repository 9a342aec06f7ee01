"""Programs that fork: what their children may do with TensorFlow, and which errors they get. Run by test_forks.py.

Each ``state_…`` function brings its process into a state, and then lets children do each of the things in USES, by each
of the ways in which Python programs fork, with a fresh child for each thing or one for all. It returns what was made.
No child lives longer than DEADLINE_SECS.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow

import tf1sessions as t1
from tf1sessions import forks, runtime
from tf1sessions.errors import ForkedAfterSessionError
from tf1sessions.pipelines.batching import Batcher
from tf1sessions.pools.fork_server import WorkerServer
from tf1sessions.sessions.calls import calls_of

tf = t1.tf1  # from here on forks are watched

DEADLINE_SECS = 15.0
FORK = multiprocessing.get_context("fork")

#: What a child does, by name; a state fills it.
USES: dict[str, Callable[[], Any]] = {}


# -- children ----------------------------------------------------------------------------------------------------------


def use(name: str) -> None:
    """What a child does. Nothing that it returns has to be pickled."""
    USES[name]()


def outcome(name: str) -> str:
    try:
        use(name)
    except ForkedAfterSessionError:
        return "raises"
    except BaseException:
        return traceback.format_exc()
    return "works"


def await_child(pid: int, deadline: float = DEADLINE_SECS) -> int | None:
    """A child's exit status; None when it has to be killed."""
    until = time.monotonic() + deadline
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(0.002)


def in_child(do: Callable[[], str]) -> str:
    """What ``do()`` returns in a child by ``os.fork``."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        reported = "nothing"
        try:
            reported = do()
        except BaseException:
            reported = traceback.format_exc()
        finally:
            os.write(writing, reported.encode()[-4000:])
            os._exit(0)
    os.close(writing)
    status = await_child(child)
    with open(reading, encoding="utf-8") as file:
        reported = file.read() if status is not None else "hangs"
    return reported or f"ended with {status}"


def by_os_fork(name: str) -> str:
    return in_child(lambda: outcome(name))


def _tell(name: str, connection: Any) -> None:
    connection.send(outcome(name))


def by_process(name: str) -> str:
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=_tell, args=(name, theirs))
    process.start()
    theirs.close()
    process.join(DEADLINE_SECS)
    if process.is_alive():
        process.kill()
        process.join()
        return "hangs"
    return str(ours.recv()) if ours.poll() else f"ended with {process.exitcode}"


def handed_over(get: Callable[[], Any]) -> str:
    """As outcome(), of an error that another process has sent."""
    try:
        get()
    except ForkedAfterSessionError as error:
        return "raises" if "ProcessSessionPool" in str(error) or "Make it" in str(error) else f"without a fix: {error}"
    except (multiprocessing.TimeoutError, TimeoutError):
        return "hangs"
    except BaseException:
        return traceback.format_exc()
    return "works"


class ByPool:
    """One child for all of them."""

    def __init__(self) -> None:
        self.pool = FORK.Pool(1)

    def __call__(self, name: str) -> str:
        reported = handed_over(lambda: self.pool.apply_async(use, (name,)).get(DEADLINE_SECS))
        if reported == "hangs":
            self.end()
            self.pool = FORK.Pool(1)
        return reported

    def end(self) -> None:
        self.pool.terminate()
        self.pool.join()


class ByExecutor:
    """One child for all of them."""

    def __init__(self) -> None:
        self.executor = concurrent.futures.ProcessPoolExecutor(1, mp_context=FORK)

    def __call__(self, name: str) -> str:
        reported = handed_over(lambda: self.executor.submit(use, name).result(DEADLINE_SECS))
        if reported == "hangs":
            for process in list(self.executor._processes.values()):
                process.kill()
            self.end()
            self.executor = concurrent.futures.ProcessPoolExecutor(1, mp_context=FORK)
        return reported

    def end(self) -> None:
        self.executor.shutdown()


WAYS = ("fork", "process", "pool", "executor")


def every_way(report: Callable[..., None], ways: tuple[str, ...] = WAYS, harmless: tuple[str, ...] = ("fork",)) -> None:
    """Lets children do all that is in USES, and reports what became of each; what is harmless in these ways only."""
    made: dict[str, Any] = {"fork": by_os_fork, "process": by_process}
    if "pool" in ways:
        made["pool"] = ByPool()
    if "executor" in ways:
        made["executor"] = ByExecutor()
    try:
        for way in ways:
            for name in [name for name in USES if way in harmless or name not in HARMLESS]:
                report(**{f"{name} by {way}": made[way](name)})
    finally:
        for way in made.values():
            if isinstance(way, (ByPool, ByExecutor)):
                way.end()


@contextlib.contextmanager
def held_elsewhere(*locks: Any) -> Iterator[None]:
    """Another thread holds the locks: a child that asks for one waits for ever."""
    holds, done = threading.Event(), threading.Event()

    def hold() -> None:
        with contextlib.ExitStack() as stack:
            for lock in locks:
                stack.enter_context(lock)
            holds.set()
            done.wait()

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    holds.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()


# -- what children do --------------------------------------------------------------------------------------------------


def build_graph() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2])
        loss = tf.reduce_sum(tf.layers.dense(x, 3))
        tf.train.AdamOptimizer().minimize(loss)
        tf.train.Saver()
        proto = graph.as_graph_def()
    with tf.Graph().as_default():
        tf.import_graph_def(proto)


def build_graph_with_functions() -> None:
    with tf.Graph().as_default() as graph:
        tf.cond(tf.placeholder(tf.bool, []), lambda: 1.0, lambda: 2.0)
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        tf.data.make_one_shot_iterator(tf.data.Dataset.range(5).map(lambda number: number + 1)).get_next()
        assert graph.as_graph_def().library.function


def new_session(kind: Any) -> None:
    with tf.Graph().as_default():
        two = tf.constant(1.0) + 1.0
        assert kind().run(two) == 2.0


def new_function() -> None:
    @tensorflow.function
    def double(x: Any) -> Any:
        return 2.0 * x

    double(np.float32(1.0))


def files() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records")
        with tensorflow.io.TFRecordWriter(path) as writer:
            writer.write(b"one")
        assert list(tf.python_io.tf_record_iterator(path)) == [b"one"]
        assert tf.gfile.Exists(path)


def subprocesses() -> None:
    assert subprocess.run(["true"], timeout=60, preexec_fn=os.getpid).returncode == 0  # preexec_fn: by fork and exec
    child = os.fork()
    if not child:
        os.execvp("true", ["true"])
    assert await_child(child) == 0


def end_a_child() -> list[Any]:
    """How a child ends that does nothing, by Python's own end, which deletes what the parent had made; what it says.

    For the outermost code of a program: what a child leaves is left like an error.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writing, 2)
        sys.exit(3)
    os.close(writing)
    status = await_child(child, 60.0)  # there is much to delete
    with open(reading, encoding="utf-8") as file:
        return [status, file.read()]


#: In any state.
HARMLESS: dict[str, Callable[[], Any]] = {
    "numpy": lambda: np.ones([300, 300]) @ np.ones([300, 300]),
    "a graph": build_graph,
    "a graph with functions": build_graph_with_functions,
    "protos": lambda: tensorflow.make_ndarray(tensorflow.make_tensor_proto([1.0])),
    "files": files,
    "a seed": lambda: tensorflow.random.set_seed(1),
    "physical devices": lambda: tensorflow.config.list_physical_devices("CPU")[0],
    "subprocesses": subprocesses,
}

#: Only in a child that may use TensorFlow.
NEW: dict[str, Callable[[], Any]] = {
    "a constant": lambda: tensorflow.constant(1.0),
    "an operation": lambda: tensorflow.matmul(np.ones([300, 300]), np.ones([300, 300])),
    "a variable": lambda: tensorflow.Variable(1.0),
    "a function": new_function,
    "a dataset": lambda: list(tensorflow.data.Dataset.range(3).map(lambda number: number + 1)),
    "logical devices": tensorflow.config.list_logical_devices,
    "tf.Session": lambda: new_session(tf.Session),
    "tf.InteractiveSession": lambda: new_session(tf.InteractiveSession),
    "MonitoredSession": lambda: new_session(tf.train.MonitoredSession),
    "t1.Session": lambda: new_session(t1.Session),
    "GraphSession": lambda: t1.GraphSession().run(1.0),
    "a server": lambda: tf.train.Server.create_local_server(),
}


def state_clean(report: Callable[..., None]) -> Any:
    """TensorFlow is imported, and a graph was built: everything goes on working."""
    build_graph()
    tensorflow.config.list_physical_devices()
    USES.update(HARMLESS | NEW)
    del USES["GraphSession"]  # has nothing to run
    every_way(report, ("fork", "process"))
    try:
        t1.Session(execution="nowhere")
    except t1.errors.ConfigError:
        report(**{"after a session that could not be made": by_os_fork("a constant")})
    USES.clear()

    def session_of_its_own(kind: Any) -> str:
        """The child makes a session, and then forks itself."""
        new_session(kind)
        before = forks.forked()
        USES.update({"a constant": NEW["a constant"]})
        return f"{before} {in_child(lambda: outcome('a constant'))}"

    report(**{"a child with a session of its own": in_child(lambda: session_of_its_own(tf.Session))})
    counter, forks._sessions_made = forks._sessions_made, None  # a TensorFlow without it
    report(**{"a child with a session of ours": in_child(lambda: session_of_its_own(t1.Session))})
    forks._sessions_made = counter

    # As where there is a GPU: asking for it starts CUDA.
    module = runtime.private.context
    context = module.context()
    seen = context._physical_devices
    context._physical_devices = [*seen, module.PhysicalDevice("/physical_device:GPU:0", "GPU")]
    USES.update({"a constant": NEW["a constant"]})
    report(**{"after a GPU was listed": by_os_fork("a constant")})
    context._physical_devices = seen


def state_eager(report: Callable[..., None]) -> Any:
    """Things were run eagerly; no session was made."""
    tensor = tensorflow.constant([1.0, 2.0]) + 1.0
    variable = tensorflow.Variable([1.0, 2.0])

    @tensorflow.function
    def scaled(x: Any) -> Any:
        return x * variable

    scaled(tensor)
    concrete = scaled.get_concrete_function(tensorflow.TensorSpec([2]))
    dataset = tensorflow.data.Dataset.range(5).map(lambda number: number + 1).prefetch(2)
    iterator = iter(dataset)
    next(iterator)
    kept = pickle.dumps(tensor)

    def keras(package: Any) -> Any:
        model = package.Sequential([package.layers.Input([2]), package.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.predict(np.ones([4, 2]), verbose=0)
        return model

    def gradient() -> None:
        with tensorflow.GradientTape() as tape:
            tape.watch(tensor)
        tape.gradient(tensor, tensor)

    import tf_keras

    models = {"Keras 3": keras(tensorflow.keras), "tf_keras": keras(tf_keras)}
    x, y = np.ones([4, 2], np.float32), np.ones([4, 1], np.float32)
    USES.update(HARMLESS | NEW)
    USES.update(
        {
            # What is in memory can be read; NumPy does so behind TensorFlow's back.
            "tensor.numpy()": lambda: tensor.numpy().tolist() == [2.0, 3.0] or 1 / 0,
            "np.asarray(tensor)": lambda: np.asarray(tensor),
            "repr(tensor)": lambda: repr(tensor).index("array([2., 3.]"),
            "repr(variable)": lambda: repr(variable),
            "an operation on a tensor": lambda: tensor + 1.0,
            "tensor[0]": lambda: tensor[0],
            "tensor.cpu()": lambda: tensor.cpu(),
            "unpickling a tensor": lambda: pickle.loads(kept),
            "variable.numpy()": lambda: variable.numpy(),
            "variable.assign()": lambda: variable.assign([3.0, 4.0]),
            "a traced function": lambda: scaled(tensor),
            "a traced function of an array": lambda: scaled(np.ones(2, np.float32)),
            "a function of another shape": lambda: scaled(np.ones([3, 2], np.float32)),
            "a ConcreteFunction": lambda: concrete(tensor),
            "a dataset of the parent": lambda: list(dataset),
            "an iterator of the parent": lambda: next(iterator),
            "a gradient": gradient,
            "random numbers": lambda: tensorflow.random.uniform([2]),
            "a summary writer": lambda: tensorflow.summary.create_file_writer(tempfile.gettempdir()),
        }
    )
    for name, model in models.items():
        USES[f"{name} predict"] = lambda model=model: model.predict(x, verbose=0)
        USES[f"{name} fit"] = lambda model=model: model.fit(x, y, verbose=0)
        USES[f"{name} call"] = lambda model=model: model(x)
    every_way(report, harmless=WAYS)
    assert scaled(tensor).numpy().tolist() == [2.0, 6.0]  # the parent goes on
    return tensor, variable, scaled, concrete, dataset, iterator, models


def state_plain(report: Callable[..., None]) -> Any:
    """TensorFlow's own Session and nothing else; then sessions of ours, and what stands on them."""
    with tf.Graph().as_default():
        p = tf.placeholder(tf.float32, [None], name="p")
        doubled = p * 2.0
        plain = tf.Session()
    USES.update(HARMLESS | NEW)
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    plain.run(doubled, {p: [1.0]})
    call = plain.make_callable(doubled, [p])
    compiled = plain._make_callable_from_options(
        runtime.private.config_pb2.CallableOptions(feed=[p.name], fetch=[doubled.name])
    )
    made_one = [plain]
    USES.update(
        {
            "run": lambda: plain.run(doubled, {p: [1.0]}),
            "another run": lambda: plain.run([doubled, p], {p: [1.0]}),
            "run with options": lambda: plain.run(doubled, {p: [1.0]}, options, tf.RunMetadata()),
            "eval": lambda: doubled.eval({p: [1.0]}, plain),
            "partial_run": lambda: plain.partial_run_setup([doubled], [p]),
            "make_callable": lambda: plain.make_callable(doubled, [p])([1.0]),
            "a callable of the parent": lambda: call([1.0]),
            "a compiled callable of the parent": lambda: compiled(np.ones(1, np.float32)),
            "list_devices": lambda: plain.list_devices()[0],
            "close": lambda: plain.close(),
            "deleting a session": lambda: made_one.pop().__del__(),
        }
    )
    every_way(report)
    assert call([1.0]).tolist() == [2.0]
    # As where there is a GPU: what would look for it is refused; CUDA does not survive a fork.
    found, forks._has_gpu = forks._has_gpu, lambda: True
    context = runtime.private.context.context()
    devices, context._physical_devices = context._physical_devices, None
    report(**{f"with a GPU: {name}": by_os_fork(name) for name in HARMLESS})
    context._physical_devices, forks._has_gpu = devices, found
    return plain, call, compiled


def state_ours(report: Callable[..., None]) -> None:
    """Sessions of ours, and what stands on them."""
    folder = tempfile.mkdtemp()
    gs = t1.GraphSession()
    line = sys._getframe().f_lineno - 1
    with gs.as_default():
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.identity(tf.matmul(x, tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())), name="y")
        queue = tf.FIFOQueue(10, tf.float32, shapes=[[2]])
        put, size = queue.enqueue([x[0]]), queue.size()
        loop = tf.constant(0.0)
        for _ in range(40):
            loop = loop + 1.0
        gs.initialize()
        saved = gs.save(os.path.join(folder, "model"))
        frozen = tf.graph_util.convert_variables_to_constants(gs.session, gs.graph.as_graph_def(), ["y"])
    path = os.path.join(folder, "frozen.pb")
    Path(path).write_bytes(frozen.SerializeToString())
    gs.seal()
    row = np.ones([1, 2], np.float32)
    known, fast = gs.compile([x], y), gs.compile([], loop)
    known(row), fast(), gs.run(y, {x: row})
    assert fast.in_caller and known.in_caller is not None
    model = t1.load(path)
    model.run(["y:0"], {"x:0": row})
    batcher, work = Batcher(gs, x, y), t1.WorkQueue(gs)
    batcher(row), work.submit(y, {x: row}).result()
    pipe = t1.QueuePipeline(gs)
    pool = t1.ThreadSessionPool(1)
    unused = t1.ThreadSessionPool(1)
    pool.submit(lambda session: session.run(tf.constant(1.0))).result(60)
    stopped = t1.ThreadSessionPool(1, initializer=lambda session: None)
    stopped.submit(lambda session: 1).result(60)
    processes = t1.ProcessSessionPool(
        1, mode="tf2", server=WorkerServer(["tf1sessions.pools.pool_worker_main:preload"])
    )
    processes.submit(os.getpid).result(60)

    def first_job() -> None:
        error = unused.submit(lambda session: 1).exception(DEADLINE_SECS)
        assert isinstance(error, t1.errors.JobError)
        raise error.__cause__ or error

    USES.update(HARMLESS | NEW)
    USES.update(
        {
            "run": lambda: gs.run(y, {x: row}),
            "another run": lambda: gs.run([size]),
            "a compiled call": lambda: known(row),
            "a compiled call in its caller's thread": lambda: fast(),
            "a compiled call of a list": lambda: known(row.tolist()),
            "compile": lambda: gs.compile([x], [y, y])(row),
            "make_callable": lambda: gs.make_callable(put)(),
            "initialize": gs.initialize,
            "save": lambda: gs.save(saved),
            "restore": lambda: gs.restore(saved),
            "Model": lambda: model.run(["y:0"], {"x:0": row}),
            "load": lambda: t1.load(path),
            "Batcher": lambda: batcher(row),
            "Batcher.submit": lambda: batcher.submit(row),
            "WorkQueue.submit": lambda: work.submit(y, {x: row}),
            "QueuePipeline": lambda: pipe.__enter__(),
            "ThreadSessionPool.submit": lambda: pool.submit(print),
            "ThreadSessionPool.map": lambda: next(iter(pool.map(print, [1]))),
            "the first job of a ThreadSessionPool": first_job,
            "ProcessSessionPool.submit": lambda: processes.submit(print),
            "closing all": lambda: [
                end()
                for one in (pool, processes)
                for end in (one.interrupt, one.shutdown, batcher.close, work.close, model.close, gs.close)
            ],
            "leaving a pool's block": lambda: stopped.__exit__(None, None, None),
        }
    )
    with held_elsewhere(calls_of(gs.session)._lock, gs.graph._lock):
        every_way(report)
    known(row)  # the parent goes on
    USES["a constant"] = NEW["a constant"]

    def message(do: Callable[[], Any]) -> str:
        try:
            do()
        except ForkedAfterSessionError as error:
            same = pickle.loads(pickle.dumps(error))
            assert (str(same), same.where, same.next_step) == (str(error), error.where, error.next_step)
            return f"{os.getppid()} {os.getpid()} {error}"
        return "nothing"

    report(message=in_child(lambda: message(lambda: gs.run(y, {x: row}))), pid=os.getpid(), line=line)
    report(message_of_a_batcher=in_child(lambda: message(lambda: batcher(row))))
    report(nested=in_child(lambda: f"{message(NEW['a constant'])}\n{in_child(lambda: message(NEW['a constant']))}"))
    reported: list[str] = []
    thread = threading.Thread(target=lambda: reported.append(by_os_fork("run")))
    thread.start()
    thread.join(60)
    report(**{"from a thread": reported})

    def in_a_job(session: Any) -> str:
        return in_child(lambda: message(lambda: session.run(tf.constant(1.0))).partition("cannot")[0][-11:])

    report(**{"from a job": pool.submit(in_a_job).result(60)})

    # Off: TensorFlow is as it is, which is enough for what needs no threads. What is ours and has threads reports it.
    os.environ[forks.VARIABLE] = "0"
    USES.clear()
    USES.update(
        {
            "off: a constant": lambda: tensorflow.constant(1.0).numpy(),
            "off: making a session": lambda: tf.Session(graph=tf.Graph()),
            "off: a compiled call in its caller's thread": lambda: fast() == 40.0 or 1 / 0,
            "off: closing": gs.close,
            "off: nothing is replaced": lambda: in_place() == original or 1 / 0,
            "off: Batcher": lambda: batcher(row),
            "off: ThreadSessionPool.submit": lambda: pool.submit(print),
        }
    )
    original = in_place()
    every_way(report, ("fork", "process"))
    for value, expected in {"false": "works", "1": "raises", "": "raises"}.items():
        os.environ[forks.VARIABLE] = value
        report(**{f"{forks.VARIABLE}={value}": [by_os_fork("off: a constant"), expected]})
    for one in (pool, unused, stopped, processes):
        one.shutdown()
    for each in (batcher, work, model, gs):
        each.close()


def in_place() -> list[Any]:
    """What the guard would replace."""
    private = runtime.private
    context = private.context.context()
    return [
        type(context).__name__,
        *[getattr(private.pywrap_session, name, None) for name in forks._RAISING + forks._SILENT],
        private.ops._EagerTensorBase._numpy.__qualname__,
        "__del__" in vars(private.iterator_ops.OwnedIterator),
    ]
