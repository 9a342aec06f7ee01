"""ProcessSessionPool with sessions, models and Keras. Everything here shares one server."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import sys
import types
from collections.abc import Iterator

import cloudpickle
import numpy as np
import pytest

import tf1sessions as t1
from tf1sessions.errors import ConcurrentGraphError, JobError, JobTimeoutError, UsageError, WorkerDiedError
from tf1sessions.pools import processes
from tf1sessions.pools.fork_server import WorkerServer
from tf1sessions.pools.processes import ProcessSessionPool, make_server

DEADLINE = 120.0
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def server() -> Iterator[WorkerServer]:
    with make_server() as server:
        yield server


@pytest.fixture(scope="module")
def plain(server: WorkerServer) -> Iterator[ProcessSessionPool]:
    """A pool for all tests that need no other, because a worker's first session takes a second."""
    with ProcessSessionPool(2, server=server) as pool:
        yield pool


def test_map_gives_each_job_its_own_graph_in_order(plain):
    def job(session, value):
        tf = t1.tf1
        assert tf.get_default_graph() is session.graph
        assert tf.get_default_session() is session.session
        assert len(session.graph.get_operations()) == 0
        return float(session.run(tf.constant(float(value)) * 2.0)), os.getpid()

    results = list(plain.map(job, range(6)))
    assert [value for value, _ in results] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert os.getpid() not in {pid for _, pid in results} and len({pid for _, pid in results}) <= 2


def test_autograph_reads_functions_that_came_by_value(plain):
    def doubled_above_two(value):
        if value > 2:
            return value * 2
        else:
            return value

    def job(session):
        items = t1.tf1.data.Dataset.range(5).map(doubled_above_two).batch(5)
        return session.run(t1.tf1.data.make_one_shot_iterator(items).get_next())

    assert plain.submit(job).result(DEADLINE).tolist() == [0, 1, 2, 6, 8]


def computing_threads():
    """How many threads this process has that TensorFlow computes with."""
    names = [path.read_text().strip() for path in pathlib.Path("/proc/self/task").glob("*/comm")]
    return names.count("tf_Compute")


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="threads are counted by /proc")
def test_workers_share_the_cores_unless_set_otherwise(server, monkeypatch):
    def computes(session):
        session.run(t1.tf1.constant(1.0) + 2.0)
        return computing_threads()

    def has_sessions_of_its_own(session):
        tf = t1.tf1
        config = tf.ConfigProto(inter_op_parallelism_threads=5)
        with tf.Graph().as_default(), tf.Session(config=config) as own:
            own.run(tf.constant(1.0) + 2.0)
        return computing_threads()

    monkeypatch.setattr(processes, "usable_cores", lambda: 9)
    for name in ("TF_NUM_INTEROP_THREADS", "TF_NUM_INTRAOP_THREADS"):
        monkeypatch.delenv(name, raising=False)
    with ProcessSessionPool(3, server=server) as pool:
        assert pool.submit(lambda session: os.environ["TF_NUM_INTRAOP_THREADS"]).result(DEADLINE) == "3"
        if t1.tf1.version.VERSION.startswith("2.16."):
            pytest.skip("TensorFlow 2.16 does not name its threads, by which they are counted from here on")
        assert pool.submit(computes).result(DEADLINE) == 3
    with ProcessSessionPool(3, server=server) as pool:
        assert pool.submit(has_sessions_of_its_own).result(DEADLINE) == 5
    with ProcessSessionPool(3, server=server, config=t1.SessionConfig(inter_op_threads=4)) as pool:
        assert pool.submit(computes).result(DEADLINE) == 4
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "6")
    with ProcessSessionPool(3, server=server) as pool:
        assert pool.submit(computes).result(DEADLINE) == 6


def build(session, scale):
    tf = t1.tf1
    x = tf.placeholder(tf.float32, [None])
    calls = tf.get_variable("calls", [], initializer=tf.zeros_initializer())
    session.initialize()
    return session.compile(feeds=[x], fetches=[x * scale, tf.assign_add(calls, 1.0)])


def test_the_initializer_builds_once_a_worker_and_jobs_only_run(server):
    def job(session, value):
        scaled, calls = session.built([value])
        return scaled.tolist(), float(calls)

    def extend(session):
        t1.tf1.constant(1.0)

    with ProcessSessionPool(1, server=server, initializer=build, initargs=(3.0,)) as pool:
        assert list(pool.map(job, range(5))) == [([3.0 * value], value + 1.0) for value in range(5)]
        error = pool.submit(extend).exception(DEADLINE)
        assert isinstance(error, JobError) and isinstance(error.__cause__, ConcurrentGraphError)
        assert pool.submit(job, 5).result(DEADLINE) == ([15.0], 6.0)  # the worker goes on


def test_a_worker_whose_stacks_are_left_dirty_is_replaced(server, plain):
    kept = []

    def dirty(session):
        context = t1.tf1.Graph().as_default()
        context.__enter__()
        kept.append(context)
        return os.getpid()

    def clean(session):
        return t1.tf1.get_default_graph() is session.graph, os.getpid()

    with ProcessSessionPool(1, server=server, initializer=lambda session: None) as built:
        for pool in (plain, built):
            pid = pool.submit(dirty).result(DEADLINE)
            after = [future.result(DEADLINE) for future in [pool.submit(clean) for _ in range(4)]]
            assert all(fine and other != pid for fine, other in after)


def blocks_in_run(session):
    queue = t1.tf1.FIFOQueue(1, [t1.tf1.float32])
    session.run(queue.dequeue())


def test_hangs_deaths_and_build_errors_of_sessions(server, plain):
    def value(session):
        return float(session.run(t1.tf1.constant(4.0)))

    def dies(session):
        session.run(t1.tf1.constant(1.0))
        os._exit(9)

    late = plain.job("late", time_limit_secs=1.0).submit(blocks_in_run)
    dead = plain.submit(dies)
    after = [plain.submit(value) for _ in range(2)]
    assert isinstance(late.exception(DEADLINE), JobTimeoutError)
    assert isinstance(dead.exception(DEADLINE), WorkerDiedError) and dead.exception().returncode == 9
    assert [future.result(DEADLINE) for future in after] == [4.0, 4.0]

    def cannot(session):
        raise RuntimeError("cannot build")

    with ProcessSessionPool(1, server=server, initializer=cannot) as pool:
        for _ in range(2):
            with pytest.raises(JobError, match="cannot build"):
                pool.submit(value).result(DEADLINE)


def test_sessions_get_their_config_and_their_share_of_a_plan(server):
    def seed(session):
        return session.config.seed

    with ProcessSessionPool(1, server=server, config=t1.SessionConfig(seed=7)) as pool:
        assert pool.submit(seed).result(DEADLINE) == 7

    plan = t1.MemoryPlan(workers=2, gpus=(), machine={"gpus": [], "cores": 8})

    def threads(session):
        proto = session.session._config
        return proto.intra_op_parallelism_threads, proto.device_count["GPU"]

    with pytest.raises(UsageError, match="2 workers for a pool of 3"):
        ProcessSessionPool(3, server=server, plan=plan)
    with ProcessSessionPool(1, server=server, plan=plan) as pool:
        assert pool.submit(threads).result(DEADLINE) == (4, 0)


@pytest.mark.parametrize(("exported", "percentage"), [(None, "50"), ("80", "80")])
def test_workers_under_mps_get_their_part_unless_the_user_set_one(server, monkeypatch, exported, percentage):
    name = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
    monkeypatch.delenv(name, raising=False)
    if exported is not None:
        monkeypatch.setenv(name, exported)
    plan = t1.MemoryPlan(workers=2, gpus=(), machine={"gpus": [], "cores": 8})
    shares = tuple(dataclasses.replace(share, mps_percentage=50) for share in plan.division.shares)
    object.__setattr__(plan, "division", dataclasses.replace(plan.division, shares=shares))
    with ProcessSessionPool(1, server=server, plan=plan) as pool:
        assert pool.submit(lambda session: os.environ[name]).result(DEADLINE) == percentage


def test_a_worker_loads_a_model_once_and_gives_it_to_its_jobs(server, plain, tmp_path):
    def write(session, folder):
        tf = t1.tf1
        tf.multiply(tf.placeholder(tf.float32, [None], name="x"), 2.0, name="doubled")
        tf.train.write_graph(session.graph, folder, "doubling.pb", as_text=False)

    def use(model, values):
        return model(x=values)["doubled"], id(model)

    plain.submit(write, str(tmp_path)).result(DEADLINE)
    path = tmp_path / "doubling.pb"
    for model in (path, {"path": str(path), "outputs": ["doubled"]}):
        with ProcessSessionPool(1, server=server, model=model) as pool:
            (first, one), (second, other) = pool.map(use, [[1.0, 4.0], np.float32([3.0])])
        assert first.tolist() == [2.0, 8.0] and second.tolist() == [6.0] and one == other
    with ProcessSessionPool(1, server=server, model=tmp_path / "none.pb") as pool:
        error = pool.submit(use, [1.0]).exception(DEADLINE)
        assert "building it raised ModelFileError" in str(error) and str(tmp_path / "none.pb") in str(error)


@pytest.mark.slow
def test_keras_trains_in_workers_of_the_other_mode():
    def train(rate):
        import tensorflow as tf

        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([tf.keras.layers.Input([2]), tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.SGD(rate), "mse")
        x = np.float32([[0, 1], [1, 0], [1, 1], [2, 1]])
        before, after = (model.fit(x, x.sum(1), epochs=20, verbose=0).history["loss"][place] for place in (0, -1))
        return tf.executing_eagerly() and after < before

    with ProcessSessionPool(2, mode="tf2") as pool:
        assert list(pool.map(train, [0.1, 0.05])) == [True, True]


def test_sessions_that_a_job_makes_itself_have_compiled_calls(plain):
    """Also those of TensorFlow's own class; what its run() gives back is the job's, as that of ours."""

    def job(given):
        import tensorflow.compat.v1 as tf

        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=False)
            step = tf.assign_add(v, tf.ones([2]))
            session.run(tf.global_variables_initializer())
            before = [session.run(v) for _ in range(3)][-1]
            session.run(step)
            return type(session) is tf.Session, type(session).run.__module__, before.tolist()

    assert plain.submit(job).result(DEADLINE) == (True, "tf1sessions.sessions.session_methods", [1.0, 1.0])


def test_workers_have_this_programs_behavior(server, monkeypatch):
    def kind(session):
        return type(t1.tf1.get_variable("v", [])).__name__, os.getppid()

    for enabled, expected in ((True, "ResourceVariable"), (False, "RefVariable")):
        behavior = types.SimpleNamespace(enabled=lambda enabled=enabled: enabled)
        monkeypatch.setitem(sys.modules, "tensorflow.python.tf2", behavior)
        with ProcessSessionPool(1, server=server) as pool:
            monkeypatch.setitem(sys.modules, "tensorflow.python.tf2", None)  # the moment that counts has passed
            assert pool.submit(kind).result(DEADLINE) == (expected, server.pid)


def test_workers_are_warm_whether_or_not_tensorflow_was_imported_here(server, monkeypatch):
    assert server.method == "fork"
    for name in ("HDF5_PLUGIN_PATH", "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "TF2_BEHAVIOR"):
        monkeypatch.delenv(name, raising=False)
    with ProcessSessionPool(1, server=server) as before:
        monkeypatch.setenv("TF2_BEHAVIOR", "1")
        monkeypatch.setenv("KMP_INIT_AT_FORK", "FALSE")
        with ProcessSessionPool(1, server=server) as after:
            workers = [pool._dispatcher._start_worker(0) for pool in (before, after)]
    reasons = [worker._handle.cold_reasons for worker in workers]
    for worker in workers:
        worker.kill()
        worker.end()
    assert reasons == [(), ()]
