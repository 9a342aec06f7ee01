"""ThreadSessionPool: isolation of jobs, errors, limits, cancellation, endings."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import gc
import random
import threading
import time
import weakref

import pytest
from support import wait_for

import tf1sessions as t1
import tf1sessions.pools.threads
from tf1sessions.errors import ClosedError, ConcurrentGraphError, JobError, JobTimeoutError, UsageError

DEADLINE = 30.0


@pytest.fixture(scope="module")
def tf():
    return t1.tf1


def pool_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("ThreadSessionPool")]


def test_map_gives_each_job_its_own_graph_in_order(tf):
    def job(session, value):
        assert tf.get_default_graph() is session.graph
        assert tf.get_default_session() is session.session
        assert len(session.graph.get_operations()) == 0
        return float(session.run(tf.constant(float(value)) * 2.0)), id(session.graph)

    with t1.ThreadSessionPool(3) as pool:
        results = list(pool.map(job, range(6)))
    assert [value for value, _ in results] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert not pool_threads()
    assert pool.statistics().succeeded == 6 and pool.statistics().running == pool.statistics().waiting == 0


def test_the_initializer_builds_once_a_worker_and_jobs_only_run(tf):
    built = []

    def build(session, scale):
        built.append(threading.current_thread().name)
        x = tf.placeholder(tf.float32, [None])
        y = x * scale
        return session.compile(feeds=[x], fetches=y)

    barrier = threading.Barrier(2, timeout=DEADLINE)

    def job(session, value):
        if value < 2:
            barrier.wait()  # so that both workers have to start
        return session.built([value]).tolist()

    with t1.ThreadSessionPool(2, initializer=build, initargs=(3.0,)) as pool:
        assert list(pool.map(job, range(20))) == [[3.0 * value] for value in range(20)]
        future = pool.submit(lambda session: tf.constant(1.0))
        with pytest.raises(JobError) as caught:
            future.result(DEADLINE)
        assert isinstance(caught.value.__cause__, ConcurrentGraphError)
        assert pool.submit(job, 5).result(DEADLINE) == [15.0]  # the worker goes on
    assert len(built) == len(set(built)) == 2


@pytest.mark.parametrize("kind", [RuntimeError, SystemExit])
def test_an_exception_without_a_text_is_the_jobs_error(tf, kind):
    class Unprintable(Exception):
        def __str__(self):
            raise kind("no text")

    def fails(session):
        raise Unprintable

    with t1.ThreadSessionPool(1) as pool:
        error = pool.submit(fails).exception(DEADLINE)
        assert type(error) is JobError and f"Unprintable: its str() raises {kind.__name__}" in str(error)
        assert pool.submit(lambda session: 1).result(DEADLINE) == 1


LEAKS = ["graph", "session", "name_scope", "variable_scope", "collection", "device", "seed", "control", "eager"]


# A context manager that was left open complains when it is collected; that is the point of these two.
LEFT_OPEN = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@LEFT_OPEN
@pytest.mark.parametrize("workers", [1, 4])
def test_nothing_leaks_between_jobs_or_threads(tf, workers):
    """Each job first looks for what others may have left, then leaves one thing open, while the others run."""
    entered = []  # kept alive: a context manager that is collected would clean up after itself

    def enter(context):
        context.__enter__()
        entered.append(context)

    def leave_behind(kind):
        graph = tf.get_default_graph()
        if kind == "graph":
            enter(tf.Graph().as_default())
        elif kind == "session":
            enter(tf.Session().as_default())
        elif kind == "name_scope":
            enter(tf.name_scope("left"))
        elif kind == "variable_scope":
            enter(tf.variable_scope("left"))
        elif kind == "collection":
            graph.add_to_collection("left", 1)
        elif kind == "device":
            enter(tf.device("/cpu:0"))
        elif kind == "seed":
            tf.set_random_seed(7)
        elif kind == "control":
            enter(tf.control_dependencies([tf.no_op()]))
        elif kind == "eager":
            enter(tf.init_scope())

    def state(session):
        operation = tf.constant(1.0, name="probe").op
        return {
            "graph": tf.get_default_graph() is session.graph,
            "session": tf.get_default_session() is session.session,
            "name": operation.name,
            "scope": tf.get_variable_scope().name,
            "collection": session.graph.get_collection("left"),
            "device": operation.device,
            "seed": session.graph.seed,
            "control": len(operation.control_inputs),
            "eager": tf.executing_eagerly(),
        }

    def job(session, kind):
        found = state(session)
        leave_behind(kind)
        return found

    clean = {
        "graph": True,
        "session": True,
        "name": "probe",
        "scope": "",
        "collection": [],
        "device": "",
        "seed": None,
        "control": 0,
        "eager": False,
    }
    main_graph, main_eager = tf.get_default_graph(), tf.executing_eagerly()
    with t1.ThreadSessionPool(workers) as pool:
        results = list(pool.map(job, LEAKS * 3))
    assert results == [clean] * len(results)
    assert tf.get_default_graph() is main_graph and tf.executing_eagerly() is main_eager
    assert tf.get_default_session() is None
    entered.clear()
    gc.collect()


@LEFT_OPEN
def test_a_worker_that_stays_is_replaced_when_a_job_leaves_its_stacks_dirty(tf):
    kept = []

    def dirty(session):
        context = tf.Graph().as_default()
        context.__enter__()
        kept.append(context)

    def clean(session):
        return tf.get_default_graph() is session.graph

    with t1.ThreadSessionPool(1, initializer=lambda session: tf.no_op()) as pool:
        pool.submit(dirty).result(DEADLINE)
        assert pool.submit(clean).result(DEADLINE)
    kept.clear()
    gc.collect()


def test_an_error_carries_the_name_and_the_original_traceback(tf):
    def fails(session):
        session.run(tf.matmul(tf.placeholder(tf.float32), tf.constant([[1.0]]), name="the_product"))

    with t1.ThreadSessionPool(1) as pool:
        future = pool.job("the bad one").submit(fails)
        with pytest.raises(JobError, match="'the bad one'") as caught:
            future.result(DEADLINE)
    cause = caught.value.__cause__
    assert isinstance(cause, tf.errors.InvalidArgumentError)
    names = []
    trace = cause.__traceback__
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert "fails" in names
    assert pool.statistics().failed == 1


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), MemoryError()])
def test_whatever_a_job_raises_the_worker_survives(tf, error):
    def fails(session):
        raise error

    with t1.ThreadSessionPool(1, initializer=lambda session: None) as pool:
        with pytest.raises(JobError) as caught:
            pool.submit(fails).result(DEADLINE)
        assert caught.value.__cause__ is error
        assert pool.submit(lambda session: 1).result(DEADLINE) == 1


def test_an_initializer_that_fails_is_the_jobs_error_and_leaves_no_session(tf):
    def build(session):
        raise RuntimeError("cannot build")

    with t1.ThreadSessionPool(1, initializer=build) as pool:
        for _ in range(2):
            with pytest.raises(JobError, match="cannot build"):
                pool.submit(lambda session: 1).result(DEADLINE)
    assert not pool_threads()


def blocks_in_run(session):
    queue = t1.tf1.FIFOQueue(1, [t1.tf1.float32])
    session.run(queue.dequeue())


def blocks_in_a_loop(session):
    tf = t1.tf1
    session.run(tf.while_loop(lambda i: i >= 0, lambda i: tf.maximum(i, 0), [tf.placeholder_with_default(0, [])]))


def runs_again_and_again(session):
    one = t1.tf1.constant(1.0)
    while True:
        session.run(one)


def asks_whether_it_is_closed(session):
    while not session.closed:
        time.sleep(0.001)


def goes_on_after_errors(session):
    for _ in range(3):
        with contextlib.suppress(Exception):
            blocks_in_run(session)


@pytest.mark.parametrize(
    "blocks",
    [blocks_in_run, blocks_in_a_loop, runs_again_and_again, asks_whether_it_is_closed, goes_on_after_errors],
)
def test_a_time_limit_ends_a_job_and_others_go_on(tf, blocks):
    with t1.ThreadSessionPool(1) as pool:
        late = pool.job("late", time_limit_secs=0.3).submit(blocks)
        after = pool.submit(lambda session: float(session.run(tf.constant(4.0))))
        with pytest.raises(JobTimeoutError, match="'late' did not end within 0.3 s"):
            late.result(DEADLINE)
        assert after.result(DEADLINE) == 4.0
    assert not pool_threads()
    statistics = pool.statistics()
    assert (statistics.timed_out, statistics.succeeded, statistics.failed) == (1, 1, 0)


def test_shutdown_waits_for_the_future_of_a_job_whose_time_was_up(tf, monkeypatch):
    """Its timer's thread announces the end; and the thread that closes its session may start late."""
    start = threading.Thread.start

    def start_late(thread):
        worker, is_closing, _ = thread.name.partition("-close")
        for running in threading.enumerate() if is_closing else ():
            if running.name == worker:
                running.join(0.5)  # the job ends meanwhile; its worker, if the pool lets it
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_late)
    pool = t1.ThreadSessionPool(1)
    announce, begun, release = pool._accounts.announce, threading.Event(), threading.Event()

    def announce_late(news):
        if isinstance(threading.current_thread(), threading.Timer):
            begun.set()
            assert release.wait(DEADLINE)
        announce(news)

    pool._accounts.announce = announce_late
    future = pool.job(time_limit_secs=0.05).submit(lambda session: time.sleep(0.1))
    assert begun.wait(DEADLINE)
    ending = threading.Thread(target=pool.shutdown)
    ending.start()
    ending.join(0.3)
    assert ending.is_alive() and not future.done()
    release.set()
    ending.join(DEADLINE)
    assert isinstance(future.exception(0), JobTimeoutError) and not pool_threads()


def test_code_that_does_not_end_at_its_limit_is_replaced_and_named(tf, caplog, monkeypatch):
    monkeypatch.setattr(t1.pools.threads, "STRAGGLER_SECS", 0.1)
    release = threading.Event()

    def deaf(session):
        assert release.wait(DEADLINE)

    with t1.ThreadSessionPool(2) as pool:
        late = [pool.job(f"deaf {number}", time_limit_secs=0.05).submit(deaf) for number in range(3)]
        for future in late:
            assert isinstance(future.exception(DEADLINE), JobTimeoutError)
        assert list(pool.map(lambda session, value: value, range(20))) == list(range(20))
        stuck = pool.statistics().stuck_threads
        assert len(stuck) == 3 and f"stuck threads: {', '.join(stuck)}" in str(pool.statistics())
        pool.shutdown()  # does not wait for them
        for thread in stuck:
            wait_for(lambda: f"in thread {thread}, which" in caplog.text, "the warning")  # noqa: B023
        release.set()
        wait_for(lambda: not pool.statistics().stuck_threads, "the end of the deaf jobs")
    wait_for(lambda: not pool_threads(), "the end of the threads")


def test_a_limit_counts_the_making_of_the_session(tf):
    def build(session):
        blocks_in_run(session)

    with t1.ThreadSessionPool(1, initializer=build, time_limit_secs=0.1) as pool:
        assert isinstance(pool.submit(blocks_in_run).exception(DEADLINE), JobTimeoutError)
    assert not pool_threads()


def test_time_outs_at_any_moment_lose_neither_job_nor_worker(tf):
    """Limits about as long as the jobs take, so that they strike before, in and after the job's code."""
    rng = random.Random(0)

    def job(session, kind):
        total = float(session.run(tf.constant(1.0) + 1.0))
        if kind == 1:
            blocks_in_run(session)
        return total

    def build(session):
        return session.compile(fetches=tf.constant(2.0))

    def built(session, kind):
        return float(session.built()) if kind == 0 else asks_whether_it_is_closed(session)

    for function, initializer, most in ((job, None, 0.03), (built, build, 0.005)):
        with t1.ThreadSessionPool(3, initializer=initializer) as pool:
            futures, unlimited = [], []
            for number in range(300):
                limited = pool.job(time_limit_secs=rng.uniform(1e-5, most))
                futures.append(limited.submit(function, rng.randrange(2)))
                if number % 10 == 0:  # these end well, however slow the machine is
                    unlimited.append(pool.submit(function, 0))
            ends = collections.Counter(type(future.exception(DEADLINE)) for future in futures)
            barrier = threading.Barrier(3, timeout=DEADLINE)  # all three workers are there
            met = [pool.submit(lambda session, meet: meet(), barrier.wait) for _ in range(3)]
            assert sorted(future.result(DEADLINE) for future in met) == [0, 1, 2]
        assert set(ends) <= {type(None), JobTimeoutError} and ends[JobTimeoutError], ends
        assert all(future.result(DEADLINE) == 2.0 for future in unlimited)
        assert all(future.exception() is not None or future.result() == 2.0 for future in futures)
        statistics = pool.statistics()
        assert (statistics.running, statistics.waiting, statistics.timed_out) == (0, 0, ends[JobTimeoutError])
    assert not pool_threads()


def test_shutdown_inside_a_job_and_its_callbacks_does_not_wait_for_itself(tf):
    pool = t1.ThreadSessionPool(2)
    both = threading.Barrier(2, timeout=DEADLINE)

    def ends_the_pool(session, value):
        both.wait()
        pool.shutdown(wait=True)
        return value

    futures = [pool.submit(ends_the_pool, value) for value in range(2)]
    assert [future.result(DEADLINE) for future in futures] == [0, 1]
    pool.shutdown()
    assert not pool_threads()

    for job, limit in ((lambda session: None, None), (blocks_in_run, 0.05)):
        pool = t1.ThreadSessionPool(1)
        called = threading.Event()
        future = pool.job(time_limit_secs=limit).submit(job)
        future.add_done_callback(lambda future: (pool.shutdown(wait=True), called.set()))  # noqa: B023
        assert called.wait(DEADLINE)
        pool.shutdown()
        assert not pool_threads()


def test_statistics_print_as_a_table(tf):
    with t1.ThreadSessionPool(2) as pool:
        pool.submit(lambda session: None).result(DEADLINE)
    header, row = str(pool.statistics()).splitlines()
    assert header.split()[:4] == ["workers", "submitted", "waiting", "running"] and row.split()[:4] == list("2100")
    assert len(header) == len(row)


def test_cancel_before_the_start_and_with_shutdown(tf):
    started, release = threading.Event(), threading.Event()

    def holds(session):
        started.set()
        assert release.wait(DEADLINE)

    pool = t1.ThreadSessionPool(1)
    running = pool.submit(holds)
    assert started.wait(DEADLINE)
    first, second = pool.submit(holds), pool.submit(holds)
    assert first.cancel() and not running.cancel()
    release.set()
    pool.shutdown(cancel_futures=True)
    assert second.cancelled() and running.result(DEADLINE) is None
    assert pool.statistics().cancelled == 2
    with pytest.raises(ClosedError):
        pool.submit(holds)
    pool.shutdown()  # idempotent


def test_ctrl_c_in_the_body_does_not_wait_for_a_blocked_job(tf):
    started = threading.Event()

    def blocks(session):
        queue = tf.FIFOQueue(1, [tf.float32])
        dequeue = queue.dequeue()
        started.set()
        session.run(dequeue)

    with pytest.raises(KeyboardInterrupt):
        with t1.ThreadSessionPool(1) as pool:
            blocked, waiting = pool.submit(blocks), pool.submit(blocks)
            assert started.wait(DEADLINE)
            raise KeyboardInterrupt
    assert isinstance(blocked.exception(DEADLINE), JobError)
    assert waiting.cancelled()
    assert not pool_threads()


def test_progress_and_statistics_add_up(tf):
    events = []

    def job(session, value):
        if value == 1:
            raise ValueError(value)
        return value

    with t1.ThreadSessionPool(2, progress=events.append) as pool:
        futures = [pool.job(f"job {value}").submit(job, value) for value in range(3)]
        done = list(pool.as_completed(futures, timeout=DEADLINE))
    assert set(done) == set(futures)
    assert sorted((event.job, event.state) for event in events) == [
        ("job 0", "running"),
        ("job 0", "succeeded"),
        ("job 1", "failed"),
        ("job 1", "running"),
        ("job 2", "running"),
        ("job 2", "succeeded"),
    ]
    last = pool.statistics()
    assert (last.submitted, last.succeeded, last.failed, last.waiting, last.running) == (3, 2, 1, 0, 0)


@pytest.mark.parametrize("kind", [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_progress_function_that_raises_is_logged_and_loses_no_job(kind, caplog):
    def raises(event):
        raise kind(event.state)

    with t1.ThreadSessionPool(1, progress=raises) as pool:
        futures = [pool.job(f"job {value}").submit(lambda session, value: -value, value) for value in range(2)]
        concurrent.futures.wait(futures, DEADLINE)
        ends = [future.result(0) if future.done() else "never ended" for future in futures]
        for future in futures:
            future.cancel()
    assert ends == [0, -1]
    for name in ("job 0", "job 1"):
        for state in ("running", "succeeded"):
            assert f"progress function raised at '{name}', {state}" in caplog.text


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "4"])
def test_wrong_numbers_of_workers(workers):
    with pytest.raises(UsageError, match="max_workers"):
        t1.ThreadSessionPool(workers)


def test_wrong_arguments_of_an_initializer():
    with pytest.raises(UsageError, match="initargs is 3"):
        t1.ThreadSessionPool(initializer=len, initargs=3)


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), "1", True])
def test_wrong_limits(limit):
    with pytest.raises(UsageError, match="time_limit_secs"):
        t1.ThreadSessionPool(1, time_limit_secs=limit)


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("limit", [float("inf"), 1e30])
def test_a_limit_beyond_all_clocks_is_none(limit):
    with t1.ThreadSessionPool(1, time_limit_secs=limit) as pool:
        assert pool.submit(lambda session: time.sleep(0.1)).result(DEADLINE) is None


@pytest.mark.parametrize("builds", [True, False], ids=["with an initializer", "without"])
@pytest.mark.parametrize("ends_before", [True, False], ids=["after its jobs", "before they end"])
def test_a_pool_that_is_dropped_ends_its_workers(tf, ends_before, builds):
    """As one of concurrent.futures does: a service that makes a pool for each request would run out of threads."""
    sessions, held = [], threading.Event()

    def job(session, number):
        sessions.append(session)
        assert ends_before or held.wait(DEADLINE)
        return number

    pool = t1.ThreadSessionPool(2, initializer=(lambda session: None) if builds else None)
    gone = weakref.ref(pool)
    futures = [pool.submit(job, number) for number in range(4)]
    if ends_before:
        concurrent.futures.wait(futures, DEADLINE)
    del pool
    gc.collect()
    held.set()
    assert [future.result(DEADLINE) for future in futures] == [0, 1, 2, 3]  # none is lost
    wait_for(lambda: gc.collect() >= 0 and gone() is None, "the end of the pool", DEADLINE)
    wait_for(lambda: not pool_threads(), "the end of its threads", DEADLINE)
    assert all(session.closed for session in sessions)


@pytest.mark.parametrize("kind", ["ThreadSessionPool", "ProcessSessionPool"])
def test_the_end_of_the_program_names_jobs_that_are_not_run(run_python, kind):
    done = run_python(
        f"""
        import tf1sessions as t1

        def job(gs, number):
            if number:  # waits until its session is closed, or its process killed
                gs.run(t1.tf1.FIFOQueue(1, t1.tf1.float32).dequeue())
            return number

        pools = [t1.{kind}(1, name=name) for name in ("mine", "idle")]
        futures = [pools[0].job(name=f"j{{number}}").submit(job, number) for number in range(6)]
        assert futures[0].result() == pools[1].submit(job, 0).result() == 0
        """
    )
    lines = [line for line in done.stderr.splitlines() if "not shut down" in line]
    assert len(lines) == 1, lines
    assert lines[0].startswith("mine was not shut down: 5 of its jobs, the first is 'j1', had not ended"), lines
