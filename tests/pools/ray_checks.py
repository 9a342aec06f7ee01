"""What test_ray.py checks, in one process, the driver of a cluster of several nodes, each of one CPU.

Most workers get eager jobs (``mode="tf2"``) and import no TensorFlow, so that they start in a second.
"""

from __future__ import annotations

import atexit
import functools
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
from ray_nodes import NODE, ray, start_cluster
from support import ROOT, alive, raises, wait_for

from tf1sessions.errors import (
    ClosedError,
    JobError,
    JobTimeoutError,
    RemoteTracebackError,
    UnsupportedEnvironmentError,
    UsageError,
    WorkerDiedError,
)
from tf1sessions.pools.ray_pool import RaySessionPool, put_model

DEADLINE = 60.0
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@functools.cache
def cluster() -> Any:
    """The cluster: a head node without CPUs, and two nodes."""
    found, nodes()[:] = start_cluster()
    ray.init(address=found.address, log_to_driver=False, logging_level="error")
    atexit.register(ray.shutdown)
    return found


@functools.cache
def nodes() -> list[Any]:
    return []


def pool_of(workers: int = 1, **options: Any) -> RaySessionPool:
    return RaySessionPool(workers, **{"address": cluster().address, "mode": "tf2", **options})


def note(path: str, text: str) -> None:
    with open(path, "a") as file:
        file.write(text + "\n")


def noted(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="ray-"))


def fail() -> None:
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise ValueError("bang") from error


def end_process(code: int) -> None:
    os._exit(code)


def end_once(path: str) -> int:
    note(path, "ran")
    if len(open(path).readlines()) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def wait_there(path: str, seconds: float = 300.0) -> None:
    note(path, str(os.getpid()))
    time.sleep(seconds)


def pid_of(path: Path) -> int:
    return int(wait_for(lambda: noted(path), "the job")[-1])


def check_jobs_have_results_errors_names_and_counts() -> None:
    seen = []
    with pool_of(2, progress=lambda change: seen.append((change.job, change.state))) as pool:
        assert list(pool.map(pow, [2, 3, 4], [5, 2, 2])) == [32, 9, 16]
        error = pool.job("bad").submit(fail).exception(DEADLINE)
        pids = set(pool.map(lambda _: os.getpid(), range(4)))
    assert isinstance(error, JobError) and error.job == "bad" and "ValueError: bang" in str(error)
    assert isinstance(error.__cause__, ValueError) and isinstance(error.__cause__.__cause__, KeyError)
    remote = error.__cause__.__cause__.__cause__
    assert isinstance(remote, RemoteTracebackError) and "in fail" in str(remote)
    counts = pool.statistics()
    assert (counts.workers, counts.submitted, counts.succeeded, counts.failed) == (2, 8, 7, 1)
    assert [state for job, state in seen if job == "bad"] == ["running", "failed"]
    assert os.getpid() not in pids
    wait_for(lambda: not any(map(alive, pids)), "the workers' end")
    assert isinstance(raises(ClosedError, pool.submit, os.getpid), ClosedError)
    assert ray.is_initialized()  # the program has connected by itself


def look_at(array: Any, small: Any) -> tuple[Any, ...]:
    small += 1
    return array, array.flags.writeable, raises_read_only(array), small


def raises_read_only(array: Any) -> bool:
    try:
        array[0] = 1.0
    except ValueError:
        return True
    return False


def check_arrays_travel_by_the_object_store() -> None:
    large = np.arange(1 << 20, dtype=np.float32)
    with pool_of() as pool:
        for argument in (large, ray.put(large)):
            back, writeable, read_only, small = pool.submit(look_at, argument, np.zeros(3)).result(DEADLINE)
            assert not writeable and read_only
            assert back.dtype == large.dtype and np.array_equal(back, large)
            assert not back.flags.writeable and small.flags.writeable and small.tolist() == [1.0, 1.0, 1.0]
        assert large.flags.writeable and large[0] == 0.0
        by_name = pool.submit(lambda *, array: array.sum(), array=ray.put(np.ones(1 << 20)))
        assert by_name.result(DEADLINE) == 1 << 20


def check_what_cannot_be_pickled_is_named() -> None:
    with pool_of() as pool:
        sent = pool.submit(len, threading.Lock()).exception(DEADLINE)
        assert isinstance(sent, JobError) and "argument 0" in str(sent)
        returned = pool.submit(threading.Lock).exception(DEADLINE)
        assert isinstance(returned, JobError) and "returned what cannot be sent" in str(returned)
        assert pool.submit(os.getpid).result(DEADLINE)


def check_a_worker_that_dies_costs_its_job() -> None:
    path = folder() / "ran"
    with pool_of() as pool:
        died = pool.submit(end_process, 3)
        after = pool.submit(os.getpid)
        error = died.exception(DEADLINE)
        assert isinstance(error, WorkerDiedError) and error.node in {node.node_id for node in nodes()}
        assert error.job == "end_process-0" and "pid" in str(error)
        assert after.result(DEADLINE)
        assert pool.job(retries=1).submit(end_once, str(path)).result(DEADLINE)
    assert noted(path) == ["ran", "ran"]


def check_a_worker_that_dies_while_idle_costs_nothing() -> None:
    with pool_of() as pool:
        first = pool.submit(os.getpid).result(DEADLINE)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: not alive(first), "its end")
        pool._dispatcher._workers[0].since -= 10.0  # it was idle for long
        assert pool.submit(os.getpid).result(DEADLINE) != first


def check_limits_and_cancellation_end_the_worker() -> None:
    paths = [folder() / "pid", folder() / "pid"]
    with pool_of() as pool:
        assert pool.submit(os.getpid).result(DEADLINE)
        late = pool.job("slow", time_limit_secs=0.5).submit(wait_there, str(paths[0])).exception(DEADLINE)
        assert isinstance(late, JobTimeoutError) and "'slow' did not end within 0.5 s" in str(late)
        running = pool.submit(wait_there, str(paths[1]))
        waiting = pool.submit(os.getpid)
        pids = [pid_of(path) for path in paths]
        assert running.running() and not waiting.running()
        assert waiting.cancel() and running.cancel() and not waiting.running()
        assert pool.submit(os.getpid).result(DEADLINE) not in pids
        wait_for(lambda: not any(map(alive, pids)), "the workers' end")
    assert (pool.statistics().timed_out, pool.statistics().cancelled) == (1, 2)


def check_an_interrupt_ends_all() -> None:
    path, pool = folder() / "pid", pool_of()

    def interrupted() -> None:
        with pool:
            pool.submit(wait_there, str(path))
            pid_of(path)
            raise KeyboardInterrupt

    raises(KeyboardInterrupt, interrupted)
    wait_for(lambda: not alive(pid_of(path)), "the worker's end")
    assert pool.statistics().cancelled == 1


def check_a_pool_that_is_dropped_ends_its_workers() -> None:
    pool = pool_of(2, name="dropped")
    gone = weakref.ref(pool)
    futures = [pool.submit(os.getpid), *[pool.submit(time.sleep, 0.2) for _ in range(3)]]
    del pool
    gc.collect()
    pid = futures[0].result(DEADLINE)
    assert [future.result(DEADLINE) for future in futures[1:]] == [None, None, None]  # none is lost
    wait_for(lambda: gc.collect() >= 0 and gone() is None, "the end of the pool", DEADLINE)
    wait_for(lambda: not any(thread.name.startswith("dropped") for thread in threading.enumerate()), "its thread's end")
    wait_for(lambda: not alive(pid), "the worker's end")


def check_workers_are_replaced() -> None:
    with pool_of(max_jobs_per_worker=2) as pool:
        pids = [pool.submit(os.getpid).result(DEADLINE) for _ in range(3)]
        assert pids[0] == pids[1] != pids[2]
        wait_for(lambda: not alive(pids[0]), "the first worker's end")


def check_a_worker_that_cannot_be_built() -> None:
    with pool_of(initializer=fail) as pool:
        error = pool.submit(os.getpid).exception(DEADLINE)
        assert isinstance(error, JobError) and "building it raised ValueError: bang" in str(error)
    with pool_of(num_cpus=64, build_limit_secs=1.0) as pool:
        late = pool.submit(os.getpid).exception(DEADLINE)
        assert isinstance(late, JobTimeoutError) and "was not built within 1 s" in str(late)
    with pool_of(initializer=end_process, initargs=(1,)) as pool:
        died = pool.submit(os.getpid).exception(DEADLINE)
        assert isinstance(died, WorkerDiedError) and "while it was built" in str(died)


def check_other_versions_are_refused() -> None:
    path = folder()
    fake = path / "tensorflow-9.9.dist-info"
    fake.mkdir()
    (fake / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorflow\nVersion: 9.9\n")
    variables = {"PYTHONPATH": os.pathsep.join([str(path), os.environ.get("PYTHONPATH", "")])}
    with pool_of(runtime_env={"env_vars": variables}) as pool:
        errors = [future.exception(DEADLINE) for future in [pool.submit(os.getpid) for _ in range(3)]]
    assert all(isinstance(error, UnsupportedEnvironmentError) for error in errors), errors
    assert "TensorFlow 9.9, and this process TensorFlow " in str(errors[0]) and "Python" not in str(errors[0])


def ask(model: Any, path: str) -> tuple[Any, ...]:
    from tf1sessions import GraphSession

    note(path, str(os.getpid()))
    with GraphSession() as other:  # gets the plan's share, as all sessions of the process do
        devices = sum(device.device_type == "CPU" for device in other.session.list_devices())
    return sorted(model.signatures), os.path.exists(model.path), devices, os.environ["CUDA_VISIBLE_DEVICES"]


def check_a_worker_has_its_plan_and_loads_its_model_once() -> None:
    path = folder() / "pids"
    cluster()
    stored = put_model(ROOT / "tests/golden/data/models/frozen.pb")
    with pool_of(mode="tf1", model=stored, plan={"lanes": 2}) as pool:
        found = [pool.submit(ask, str(path)).result(DEADLINE) for _ in range(2)]
    assert found[0] == found[1] and found[0][0] and found[0][1:] == (True, 2, ""), found
    assert len(set(noted(path))) == 1
    wait_for(lambda: not alive(int(noted(path)[0])), "the worker's end")
    assert not list(Path(tempfile.gettempdir()).glob("tf1sessions-model-*"))


def check_addresses() -> None:
    address = cluster().address
    with RaySessionPool(1, mode="tf2") as pool:  # the cluster that the process is connected to
        assert pool.submit(os.getpid).result(DEADLINE)
    port = address.rpartition(":")[2]
    other = raises(UsageError, lambda: RaySessionPool(1, address=f"localhost:{int(port) - 1}"))
    assert address in str(other)


DRIVER = """
import os, sys, time
import cloudpickle
from tf1sessions.pools.ray_pool import RaySessionPool
sys.path[:0] = sys.argv[3:]
def wait_there(path):
    with open(path, "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(300)
pool = RaySessionPool(1, address=sys.argv[1], mode="tf2")
pool.submit(wait_there, sys.argv[2]).result()
"""


def check_nothing_outlives_a_caller_that_was_killed() -> None:
    path = folder() / "pid"
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, cluster().address, str(path)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: noted(path) or driver.poll() is not None, "the job")
        assert driver.poll() is None, driver.communicate()
        pid = pid_of(path)
    finally:
        driver.kill()
        driver.communicate()
    wait_for(lambda: not alive(pid), "the worker's end")


def check_nothing_outlives_a_caller_that_got_ctrl_c() -> None:
    path = folder() / "pid"
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, cluster().address, str(path)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    try:
        pid = pid_of(path)
        driver.send_signal(signal.SIGINT)
        _, stderr = driver.communicate(timeout=DEADLINE)
    finally:
        driver.kill()
    assert b"KeyboardInterrupt" in stderr, stderr
    wait_for(lambda: not alive(pid), "the worker's end")


def end_or_wait(path: str, number: int) -> tuple[int, str]:
    """The first four end at once, the others wait for a file."""
    node = ray.get_runtime_context().get_node_id()
    note(f"{path}/began", f"{number} {node}")
    while number >= 4 and not os.path.exists(f"{path}/go"):
        time.sleep(0.01)
    return number, node


def check_a_lost_node_loses_nothing_that_was_finished() -> None:
    """Last but one: a node is gone, and another one comes for it."""
    path = folder()
    with pool_of(2) as pool:
        futures = [pool.submit(end_or_wait, str(path), number) for number in range(8)]
        began = path / "began"
        wait_for(lambda: {"4", "5"} <= {line.split()[0] for line in noted(began)}, "both workers to be busy")
        there = dict(line.split() for line in noted(began))
        assert there["4"] != there["5"]
        lost = next(node for node in nodes() if node.node_id == there["4"])
        cluster().remove_node(lost, allow_graceful=False)
        nodes().remove(lost)
        wait_for(lambda: [line.split()[0] for line in noted(began)].count("4") == 1, "nothing")
        nodes().append(cluster().add_node(**NODE))
        wait_for(lambda: [line.split()[0] for line in noted(began)].count("4") == 2, "the second start", DEADLINE)
        (path / "go").touch()
        results = [future.result(DEADLINE) for future in futures]
    assert [number for number, _ in results] == list(range(8))
    assert results[4][1] != lost.node_id and results[5][1] == there["5"]
    times = [line.split()[0] for line in noted(began)]
    assert {number: times.count(str(number)) for number in range(8)} == {**dict.fromkeys(range(8), 1), 4: 2}
    assert pool.statistics().succeeded == 8 and pool.statistics().failed == 0


def check_a_lost_node_is_an_error_where_jobs_must_not_run_twice() -> None:
    path = folder() / "pid"
    with pool_of(node_retries=0) as pool:
        future = pool.submit(end_or_wait, str(path.parent), 9)
        where = wait_for(lambda: noted(path.parent / "began"), "the job")[0].split()[1]
        lost = next(node for node in nodes() if node.node_id == where)
        cluster().remove_node(lost, allow_graceful=False)
        nodes().remove(lost)
        error = future.exception(DEADLINE)
        assert lost.node_id in pool._connection.lost_nodes()  # no worker is started there
    assert isinstance(error, WorkerDiedError) and error.node == lost.node_id and "was lost while it ran" in str(error)


def check_z_a_program_that_disconnects() -> None:
    """Last: the connection is gone."""
    path, pool = folder() / "pid", pool_of()
    future = pool.submit(wait_there, str(path))
    pid = pid_of(path)
    ray.shutdown()
    error = future.exception(DEADLINE)
    assert isinstance(error, ClosedError) and "ray.shutdown()" in str(error), error
    errors = [pool.submit(os.getpid).exception(DEADLINE)]  # Ray would start a cluster for it
    assert not ray.is_initialized()
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="error")
    errors.append(pool.submit(os.getpid).exception(DEADLINE))  # not on a cluster that is not the pool's
    pool._connection._ids = pool._connection._ids_now()  # as Ray answers where its process here was killed
    errors.append(pool.submit(os.getpid).exception(DEADLINE))
    assert [type(each) for each in errors] == [ClosedError] * 3, errors
    ray.shutdown()
    pool.shutdown()
    wait_for(lambda: not alive(pid), "the worker's end")
    assert not ray.is_initialized()
