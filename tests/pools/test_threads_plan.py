"""ThreadSessionPool with a MemoryPlan: each session on a lane of its own, here logical devices of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support import PythonRun

CHECKS = """
import contextlib, threading, traceback
import tf1sessions as t1
from tf1sessions import errors
from tf1sessions.pools import threads
from tf1sessions.sessions import gpu_settings, gpus

tf = t1.tf1
PLAN = t1.MemoryPlan(lanes=3, machine={"cores": 2})
DEADLINE = 30.0

def fresh():
    gpu_settings._forget()

def refused(make, kind):
    try:
        made = make()
    except kind as error:
        return str(error)
    raise AssertionError(f"{made} was taken")

def placed(session, value):
    \"\"\"Where TensorFlow has run an operation: its graphs, a graph for each device.\"\"\"
    x = tf.placeholder(tf.float32, [])
    with tf.device("/gpu:0"):
        doubled = tf.multiply(x, 2.0, name="mul")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(output_partition_graphs=True)
    found = session.run(doubled, {x: value}, options=options, run_metadata=metadata)
    ran = {node.device for graph in metadata.partition_graphs for node in graph.node if node.name == "mul"}
    return float(found), doubled.device, ran

def check_each_session_has_its_own_lane():
    \"\"\"While three are open at once, the operations of each run on another device, whatever the code names.\"\"\"
    barrier = threading.Barrier(3, timeout=DEADLINE)
    def job(session, value):
        barrier.wait()
        found = placed(session, value)
        barrier.wait()
        return found
    with t1.ThreadSessionPool(3, plan=PLAN) as pool:
        results = list(pool.map(job, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    assert [value for value, _, _ in results] == [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    for _, device, ran in results:
        assert ran == {f"/job:localhost/replica:0/task:0{device}"}, results
    for three in (results[:3], results[3:]):
        assert {device for _, device, _ in three} == {"/device:CPU:0", "/device:CPU:1", "/device:CPU:2"}
    assert set(pool._lanes.values()) == {0}
    assert PLAN.applied() == 0

def check_workers_with_an_initializer_keep_theirs():
    def build(session):
        x = tf.placeholder(tf.float32, [])
        y = x * 2.0
        return session.compile(x, y), y.device
    barrier = threading.Barrier(2, timeout=DEADLINE)
    def job(session, number):
        if number < 2:
            barrier.wait()
        run, device = session.built
        return float(run(number)), device, threading.current_thread().name
    with t1.ThreadSessionPool(2, plan=PLAN, initializer=build, config=t1.SessionConfig(seed=3)) as pool:
        results = list(pool.map(job, range(12)))
        assert sorted(pool._lanes.values()) == [0, 1, 1]
    assert [value for value, _, _ in results] == [2.0 * number for number in range(12)]
    lanes = {thread: {device for _, device, other in results if other == thread} for _, _, thread in results}
    assert sorted(map(sorted, lanes.values())) == [["/device:CPU:0"], ["/device:CPU:1"]]
    assert set(pool._lanes.values()) == {0}

def check_a_failed_build_leaves_its_lane():
    def build(session):
        raise ValueError("no")
    with t1.ThreadSessionPool(1, plan=PLAN, initializer=build) as pool:
        assert all("no" in str(pool.submit(print).exception(DEADLINE)) for _ in range(5))
    assert set(pool._lanes.values()) == {0}

def check_a_session_that_cannot_be_made_leaves_its_lane():
    def fails(config, name):
        assert config.lane == "/device:CPU:0" and config.seed == 3
        raise ValueError("no session")
    original, threads.GraphSession = threads.GraphSession, fails
    try:
        with t1.ThreadSessionPool(1, plan=PLAN, config=t1.SessionConfig(seed=3)) as pool:
            assert all("no session" in str(pool.submit(print).exception(DEADLINE)) for _ in range(5))
    finally:
        threads.GraphSession = original
    assert set(pool._lanes.values()) == {0}

def check_a_given_up_session_keeps_its_lane_until_it_ends():
    stuck, go = threading.Event(), threading.Event()
    def job(session):
        stuck.set()
        go.wait(DEADLINE)
    with t1.ThreadSessionPool(1, plan=PLAN) as pool:
        late = pool.job(time_limit_secs=0.1).submit(job)
        assert stuck.wait(DEADLINE)
        assert isinstance(late.exception(DEADLINE), errors.JobTimeoutError)
        try:
            _, device, _ = pool.submit(placed, 1.0).result(DEADLINE)
            assert device == "/device:CPU:1" and pool._lanes["/device:CPU:0"] == 1
        finally:
            go.set()
    assert set(pool._lanes.values()) == {0}

def check_one_plan_a_process():
    fresh()
    other = t1.MemoryPlan(lanes=2, machine={"cores": 2})
    other.apply()
    text = refused(lambda: t1.ThreadSessionPool(2, plan=PLAN), errors.MemoryPlanConflict)
    assert "MemoryPlan.apply(worker=0)" in text
    with t1.ThreadSessionPool(2, plan=other) as pool:
        assert pool.submit(placed, 1.0).result(DEADLINE)[1] == "/device:CPU:0"
    assert PLAN.applied() is None and other.applied() == 0

def check_the_worker_that_the_process_is():
    fresh()
    plan = t1.MemoryPlan(workers=2, fraction=0.2, lanes=2, machine={"gpus": [{"total_mb": 16000, "count": 2}]})
    plan.apply(worker=1)
    assert plan.applied() == 1
    pool = t1.ThreadSessionPool(2, plan=plan)  # does not wait: the process has its share already
    assert list(pool._lanes) == ["/device:GPU:0", "/device:GPU:1"]
    pool.shutdown()

@contextlib.contextmanager
def driver(*free):
    \"\"\"A driver that gives these sizes of a GPU of 16000 MiB, one after another, and then the last one.\"\"\"
    original, reported = gpus.look, []
    def look(environ=None):
        reported.append(free[min(len(reported), len(free) - 1)])
        return gpus.Machine((gpus.Gpu(0, "A100", 16000.0, reported[-1], 0, "GPU-1"),), 4, "NVML")
    gpus.look = look
    try:
        yield reported
    finally:
        gpus.look = original

def check_the_pool_waits_until_its_share_is_free():
    fresh()
    with driver(16000.0, 100.0, 9000.0) as reported:
        plan = t1.MemoryPlan(fraction=0.5, lanes=2)
        t1.ThreadSessionPool(2, plan=plan).shutdown()
        assert reported == [16000.0, 100.0, 9000.0] and plan.applied() == 0
        t1.ThreadSessionPool(2, plan=plan).shutdown()
        assert len(reported) == 3, "the process has its share now"

def check_memory_that_does_not_become_free():
    fresh()
    original = t1.MemoryPlan.wait_for_memory
    t1.MemoryPlan.wait_for_memory = lambda self, worker: original(self, worker, timeout_secs=0)
    try:
        with driver(16000.0, 100.0):
            plan = t1.MemoryPlan(fraction=0.5, lanes=2)
            text = refused(lambda: t1.ThreadSessionPool(2, plan=plan), errors.MemoryWaitError)
    finally:
        t1.MemoryPlan.wait_for_memory = original
    assert "GPU 0 (A100) has 100 MiB free and worker 0 needs 8600" in text and gpu_settings.current() is None

def check_without_lanes_all_share():
    fresh()
    plan = t1.MemoryPlan(workers=2, machine={"cores": 6})
    with t1.ThreadSessionPool(3, plan=plan) as pool:
        found = pool.submit(lambda session: session.session._config.intra_op_parallelism_threads).result(DEADLINE)
    assert found == 3 and plan.applied() == 0

def check_another_machines_plan_is_refused_and_settles_nothing():
    fresh()
    plan = t1.MemoryPlan(lanes=2, machine={"gpus": [{"total_mb": 16000}]})
    text = refused(lambda: t1.ThreadSessionPool(2, plan=plan), errors.MemoryPlanError)
    assert "the plan is for the machine of a description" in text
    assert gpu_settings.current() is None

def check_wrong_arguments():
    fresh()
    assert "the plan has 3 lanes for a pool of 4" in refused(
        lambda: t1.ThreadSessionPool(4, plan=PLAN), errors.UsageError)
    assert "plan is 7" in refused(lambda: t1.ThreadSessionPool(1, plan=7), errors.UsageError)
    config = t1.SessionConfig(lane="/device:CPU:1")
    assert "Leave lane out" in refused(lambda: t1.ThreadSessionPool(1, plan=PLAN, config=config), errors.UsageError)
    assert gpu_settings.current() is None, "nothing is applied by a pool that is not made"

with tf.Graph().as_default():  # in a graph, TensorFlow 2's own context is left alone
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            try:
                check()
            except BaseException:
                report(**{name: traceback.format_exc()})
            else:
                report(**{name: None})
"""
NAMES = [line.split("(")[0].removeprefix("def ") for line in CHECKS.splitlines() if line.startswith("def check_")]


@pytest.fixture(scope="module")
def findings(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    """What each check found, all in one process."""
    return run_python(CHECKS, check=False).results


@pytest.mark.parametrize("name", NAMES, ids=[name.removeprefix("check_") for name in NAMES])
def test_plan(findings: dict[str, Any], name: str) -> None:
    assert findings.get(name, "it has not ended") is None, findings.get(name)
