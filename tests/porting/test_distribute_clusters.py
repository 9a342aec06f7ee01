"""A ported program on clusters of processes: workers that train together, and parameter servers."""

from __future__ import annotations

import concurrent.futures
import json
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

pytestmark = pytest.mark.slow
FOLDER = str(Path(__file__).parent)

_START = f"""
import os, signal, sys, threading, time
sys.path.insert(0, {FOLDER!r})
import numpy as np
import tensorflow as tf
from distributed_graphs import Program, assert_close, batch, small
from tf1sessions import porting
from tf1sessions.errors import PeerGoneError, UsageError
"""

# The strategy is made first, as TensorFlow asks for. Both feed the same batches; SIGTERM ends the second one.
WORKER = (
    _START
    + """
with porting.peers_within(60):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
is_first = strategy.cluster_resolver.task_id == 0
alone, program = Program(), Program()
porting.distribute(program.legacy, strategy, limit_secs=60)
alone.initialize()
program.initialize()
program.fill(0.125 + strategy.cluster_resolver.task_id)  # before there are copies, and after that
assert_close(program.curve([8]), (alone.fill(0.125), alone.curve([8]))[1])
program.fill(0.25 + strategy.cluster_resolver.task_id)
alone.fill(0.25)  # that of the first worker, on both
assert_close(program.curve(), alone.curve())
assert_close(program.values(), alone.values())
path = program.saver.save(program.legacy, sys.argv[1] + f"/worker{strategy.cluster_resolver.task_id}")
assert_close(program.predict(*batch(9, 5)), alone.predict(*batch(9, 5)))
refused = []
def other():
    try:
        program.step(*batch(0, 8))
    except UsageError as error:
        refused.append(str(error))
thread = threading.Thread(target=other)
thread.start()
thread.join(60)
report(refused=refused, saved=sorted(os.listdir(sys.argv[1])))
if is_first:
    alone.saver.restore(alone.legacy, path)
    assert_close(alone.values(), program.values(), 0.0)
    try:
        program.curve([8] * 3)
    except PeerGoneError as error:
        report(gone=str(error))
else:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(100)
os._exit(0)
"""
)


def ports(count: int) -> list[int]:
    """Ports that are free at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    found = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return found


def test_workers(run_python: Callable[..., PythonRun], tmp_path: Path) -> None:
    """Losses, values and results of two workers are those of one device; one that ends, ends the other's wait."""
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports(2)]}

    def work(index: int) -> PythonRun:
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        return run_python(WORKER, str(tmp_path), deadline=90, env={"TF_CONFIG": config}, check=False)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(work, range(2)))
    assert [run.returncode for run in runs] == [0, -signal.SIGTERM], [run.stderr[-3000:] for run in runs]
    first, second = (dict(run.results) for run in runs)
    for found in (first, second):
        assert len(found["refused"]) == 1 and "another order" in found["refused"][0], found
    assert "worker0.index" in first["saved"] and not any(name.startswith("worker1") for name in first["saved"])
    assert "another process of the cluster has ended" in first["gone"]


ALONE = (
    _START
    + """
with porting.peers_within(2):
    tf.distribute.MultiWorkerMirroredStrategy()
"""
)


def test_a_worker_that_never_comes_is_named(run_python: Callable[..., PythonRun]) -> None:
    """The first worker makes its strategy alone, in which TensorFlow holds Python's lock, and heeds no SIGTERM."""
    first, second = ports(2)
    cluster = {"worker": [f"127.0.0.1:{first}", f"127.0.0.1:{second}"]}
    config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 0}})
    run = run_python(ALONE, deadline=60, env={"TF_CONFIG": config}, check=False)
    assert run.returncode == -signal.SIGKILL
    assert f"worker:1 (127.0.0.1:{second}) did not come within 2 s" in run.stderr, run.stderr[-3000:]


PEERS = """
import os, sys, time
from tf1sessions import porting
from tf1sessions.errors import UsageError

for limit in (0, -1, "3", float("nan")):
    try:
        with porting.peers_within(limit):
            pass
    except UsageError as error:
        assert repr(limit) in str(error)
    else:
        raise SystemExit(f"no error: {limit!r}")
try:
    with porting.peers_within(600):
        os.environ["TF_CONFIG"] = "{"
        raise KeyError("the program's own")
except KeyError:
    pass
with porting.peers_within(1e-9):  # there is no other task to wait for
    time.sleep(1.5)
report(ended=True)
"""


def test_a_limit_for_peers_ends_with_its_block(run_python: Callable[..., PythonRun]) -> None:
    (port,) = ports(1)
    config = json.dumps(
        {"cluster": {"worker": ["127.0.0.1:1", f"127.0.0.1:{port}"]}, "task": {"type": "worker", "index": 1}}
    )
    assert run_python(PEERS, deadline=60, env={"TF_CONFIG": config}).results == {"ended": True}


SERVERS = (
    _START
    + """
import json
from concurrent.futures import ThreadPoolExecutor
from tf1sessions.errors import DeadlineError
spec = tf.train.ClusterSpec(json.loads(sys.argv[1]))
more = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=8)  # three servers share the threads of this process
servers = [
    tf.distribute.Server(spec, job_name=job, task_index=index, protocol="grpc", config=more)
    for job in spec.jobs for index in spec.task_indices(job)
]
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, rpc_layer="grpc")
strategy = tf.distribute.ParameterServerStrategy(resolver)
alone, program, module = Program(), Program(), small()
expected = [module.train(x=np.ones([3, 2]))["loss"] for _ in range(3)]
alone.initialize()
porting.distribute(program.legacy, strategy, limit_secs=60)
program.initialize()
assert_close(program.curve(), alone.curve())
assert_close(program.values(), alone.values())
assert "/job:ps/" in program.legacy["table"].device
path = program.saver.save(program.legacy, sys.argv[2] + "/servers")
alone.saver.restore(alone.legacy, path)
assert_close(alone.values(), program.values(), 0.0)
before = float(program.predict(*batch(0, 8))[1])
with ThreadPoolExecutor(2) as pool:
    list(pool.map(lambda _: program.step(*batch(0, 8)), range(30), timeout=60))
report(steps=int(program.legacy["global_step"].numpy()), learned=float(program.predict(*batch(0, 8))[1]) < before)
program.saver.restore(program.legacy, path)
assert_close(alone.values(), program.values(), 0.0)
module = porting.distribute(small(), strategy)
assert_close([module.train(x=np.ones([3, 2]))["loss"] for _ in range(3)], expected)
porting.distribute(program.legacy, strategy, limit_secs=1e-9)
try:
    program.step(*batch(0, 8))
except DeadlineError as error:
    report(late=str(error))
os._exit(0)
"""
)


def test_parameter_servers(run_python: Callable[..., PythonRun], tmp_path: Path) -> None:
    """One step after another is equal to one device; two threads have two workers."""
    first, second, third = (f"127.0.0.1:{port}" for port in ports(3))
    cluster = json.dumps({"worker": [first, second], "ps": [third]})
    found = dict(run_python(SERVERS, cluster, str(tmp_path), deadline=120).results)
    assert found["steps"] == 8 + 30 and found["learned"] is True
    assert "no worker has ended the step" in found["late"]


POOL = """
import tf1sessions as t1

def devices():
    import tensorflow as tf
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)

def job(_, size):
    import os
    from concurrent.futures import ThreadPoolExecutor
    import numpy as np
    import tensorflow as tf
    from tf1sessions import porting
    rows = np.random.RandomState(0).rand(16, 4).astype("f")

    def of_keras(names):
        copying = tf.distribute.ReductionToOneDevice()
        strategy = tf.distribute.MirroredStrategy(names, cross_device_ops=copying) if names else None
        with strategy.scope() if strategy else tf.device("CPU:3"):
            layers = [tf.keras.layers.Dense(size, kernel_initializer="ones") for size in (size, 1)]
            model = tf.keras.Sequential([tf.keras.layers.Input([4]), *layers])
            model.compile(tf.keras.optimizers.SGD(1e-4), "mse")
        return model.fit(rows, rows[:, :1], batch_size=16, epochs=2, verbose=0, shuffle=False).history["loss"]

    def ported(names):
        def build(x):
            w = tf.compat.v1.get_variable("w", [4, size], initializer=tf.compat.v1.ones_initializer())
            loss = tf.reduce_mean((tf.reduce_sum(tf.matmul(x, w), 1) - 1.0) ** 2)
            tf.compat.v1.train.AdamOptimizer(0.1).minimize(loss)
            return {"loss": loss}

        module = porting.function(build, inputs={"x": tf.TensorSpec([None, 4], tf.float32)}, train=True)
        if names:
            porting.distribute(module, tf.distribute.MirroredStrategy(names))
        return [float(module.train(x=rows)["loss"]) for _ in range(3)]

    first, second = ["CPU:0", "CPU:1"], ["CPU:1", "CPU:2"]
    with ThreadPoolExecutor(4) as threads:
        ways = [(of_keras, first), (ported, second), (ported, first), (of_keras, None), (ported, None)]
        return os.getpid(), [each.result(100) for each in [threads.submit(*way) for way in ways]]

with t1.ProcessSessionPool(2, mode="tf2", initializer=devices) as pool:
    found = [each.result(110) for each in [pool.submit(job, size) for size in (4, 8)]]
report(processes=len({process for process, _ in found}), losses=[losses for _, losses in found])
"""


def test_in_threads_of_a_pool(run_python: Callable[..., PythonRun]) -> None:
    """Keras and ported graphs train at the same time, each on its strategy or device, in threads of two processes."""
    found = run_python(POOL, deadline=170).results
    assert found["processes"] == 2
    for keras, ported, beside, keras_alone, ported_alone in found["losses"]:
        assert keras == pytest.approx(keras_alone, rel=1e-5) and len(keras) == 2
        assert ported == beside == pytest.approx(ported_alone, rel=1e-5) and len(ported) == 3


GPUS = (
    _START
    + """
tf.config.experimental.enable_tensor_float_32_execution(False)  # which rounds those of a part of the batch otherwise
gpu = tf.config.list_physical_devices("GPU")[0]
parts = [tf.config.LogicalDeviceConfiguration(memory_limit=1024)] * 2
tf.config.set_logical_device_configuration(gpu, parts)
strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
alone, program = Program(), Program()
porting.distribute(program.legacy, strategy)
alone.initialize()
program.initialize()
assert_close(program.curve(), alone.curve(), 1e-3)
copies = strategy.experimental_local_results(program.legacy["table"])
report(devices=[copy.device[-5:] for copy in copies], equal=bool(np.array_equal(*[copy.numpy() for copy in copies])))
"""
)


@pytest.mark.gpu
def test_two_parts_of_a_gpu(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(GPUS, deadline=120, fresh=True).results
    assert found == {"devices": ["GPU:0", "GPU:1"], "equal": True}
