"""ProcessSessionPool without TensorFlow: how jobs and workers end, limits, cancellation, replacement, map.

Its workers are forks of a server that has not imported TensorFlow, and get eager jobs (``mode="tf2"``), so that they
start and end in milliseconds. What needs sessions is in ``test_processes_tensorflow.py``.
"""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import ctypes
import gc
import itertools
import logging
import operator
import os
import random
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import weakref
from collections.abc import Iterator
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
from support import alive, wait_for

from tf1sessions.errors import (
    ClosedError,
    JobError,
    JobTimeoutError,
    RemoteTracebackError,
    UsageError,
    WorkerDiedError,
    WorkerStartError,
)
from tf1sessions.pools import accounts, arrays, dispatcher, inbox, processes, warm_servers, worker_proxy
from tf1sessions.pools.fork_server import WorkerServer
from tf1sessions.pools.mapping import Chunk
from tf1sessions.pools.process_jobs import ProcessFuture
from tf1sessions.pools.processes import ProcessSessionPool
from tf1sessions.pools.shared_status import SharedStatus

DEADLINE = 60.0
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # a worker need not import pytest


@pytest.fixture(scope="module")
def server() -> Iterator[WorkerServer]:
    with WorkerServer(["tf1sessions.pools.pool_worker_main:preload"], method="fork") as server:
        with ProcessSessionPool(1, mode="tf2", server=server) as pool:
            pool.submit(os.getpid).result(DEADLINE)  # descriptors that stay are open from here on
        yield server


class Descriptors:
    """The descriptors of this process, and what it has mapped of shared memory."""

    def __init__(self) -> None:
        self.open = {}
        for fd in os.listdir("/proc/self/fd"):
            try:
                self.open[fd] = os.readlink(f"/proc/self/fd/{fd}")
            except FileNotFoundError:  # the one that listed them
                continue
        self.mapped = Path("/proc/self/maps").read_text().count("memfd:tf1sessions")


def pool_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("ProcessSessionPool")]


@pytest.fixture
def pool_of(server):
    """Makes pools of such workers, and checks that nothing is left of them after each test."""
    before = Descriptors()
    pools, pids = [], set()

    def make(workers=1, **options):
        pool = ProcessSessionPool(workers, **{"mode": "tf2", "server": server, **options})
        new_worker = pool._dispatcher._start_worker

        def remember(number):
            worker = new_worker(number)
            pids.add(worker.pid)
            make.workers.append(worker)
            return worker

        pool._dispatcher._start_worker = remember
        pools.append(pool)
        return pool

    make.pids, make.workers = pids, []
    yield make
    for pool in pools:
        pool.interrupt()
        pool.shutdown()
    assert not pool_threads()
    assert [pid for pid in pids if alive(pid)] == []
    after = Descriptors()
    assert after.open.keys() == before.open.keys(), after.open
    assert after.mapped == before.mapped


# ------------------------------------------------------------------------------------------------- the crash table


def spring(kind):
    """Fail in this way, here."""
    if kind == "exception":
        raise ValueError("sprung")
    if kind == "exit":
        sys.exit(3)
    if kind == "memory":
        raise MemoryError("no memory left")
    if kind == "_exit":
        os._exit(7)
    if kind == "SIGKILL":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "SIGSEGV":
        print("last words", file=sys.stderr, flush=True)
        ctypes.string_at(0)
    if kind == "hang":
        threading.Event().wait()


class SpringsWhenUnpickled:
    def __init__(self, kind):
        self.kind = kind

    def __reduce__(self):
        return spring, (self.kind,)


class SpringsWhenPickled:
    def __init__(self, kind):
        self.kind = kind

    def __reduce__(self):
        return spring(self.kind) or (str, ())


def build(place, kind, once):
    """Fails in the first worker that is built, or in none."""
    if place == "build":
        try:
            os.close(os.open(once, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        spring(kind)


def job(_, place, kind, argument):
    if place == "run":
        spring(kind)
    if place == "return":
        return SpringsWhenPickled(kind)
    return argument


DIES = {"_exit": (7, None), "SIGKILL": (-9, "SIGKILL"), "SIGSEGV": (-11, "SIGSEGV")}
RAISES = {"exception": ValueError, "exit": SystemExit, "memory": MemoryError}
KINDS = [*RAISES, *DIES, "hang"]


@pytest.mark.parametrize("place", ["unpickle", "build", "run", "return"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_costs_one_job(pool_of, tmp_path, place, kind):
    limit = 1.0 if kind == "hang" else DEADLINE
    arrays = [np.full(100_000, float(number)) for number in range(6)]
    with pool_of(
        2,
        initializer=build,
        initargs=(place, kind, str(tmp_path / "once")),
        build_limit_secs=limit if place == "build" else DEADLINE,
    ) as pool:
        futures = [
            pool.job(
                f"number {number}", time_limit_secs=limit if number == 2 and place != "build" else DEADLINE
            ).submit(
                job,
                place if number == 2 else "",
                kind,
                SpringsWhenUnpickled(kind) if number == 2 and place == "unpickle" else array,
            )
            for number, array in enumerate(arrays)
        ]
        errors = [future.exception(DEADLINE) for future in futures]
    failed = [number for number, error in enumerate(errors) if error is not None]
    assert len(failed) == 1, errors
    if place != "build":
        assert failed == [2]
    for number, future in enumerate(futures):
        if number not in failed:
            np.testing.assert_array_equal(future.result(), arrays[number])

    error = errors[failed[0]]
    assert f"'number {failed[0]}'" in str(error) and error.job == f"number {failed[0]}"
    if kind in DIES:
        assert type(error) is WorkerDiedError
        assert (error.returncode, error.signal_name) == DIES[kind]
        assert ("was built" in str(error)) == (place == "build")
        if kind == "SIGSEGV":
            assert "last words" in error.stderr and "in spring" in error.stderr and error.stderr in str(error)
    elif kind == "hang":
        assert type(error) is JobTimeoutError
    else:
        assert type(error) is JobError and type(error.__cause__) is RAISES[kind]
        remote = error.__cause__.__cause__
        assert type(remote) is RemoteTracebackError and "in spring" in str(remote)
        said = {"unpickle": "unpickling it", "build": "building it", "run": "raised", "return": "pickling it"}[place]
        assert said in str(error)
    statistics = pool.statistics()
    assert (statistics.succeeded, statistics.running, statistics.waiting) == (5, 0, 0)
    assert (statistics.failed, statistics.timed_out) == ((0, 1) if kind == "hang" else (1, 0))


def number_or_spring(_, number, kind):
    return SpringsWhenUnpickled(kind) if number == 4 else number


@pytest.mark.parametrize("kind", RAISES)
def test_a_result_that_cannot_be_unpickled_costs_its_job_alone(pool_of, kind):
    with pool_of(2) as pool:
        futures = [pool.submit(number_or_spring, None, number, kind) for number in range(12)]
        errors = [future.exception(DEADLINE) for future in futures]
    assert [type(error) for error in errors if error is not None] == [JobError] and errors[4] is not None
    assert type(errors[4].__cause__) is RAISES[kind]


def unpicklable_result():
    return threading.Lock()


def unpicklable_exception():
    error = ValueError("with a lock")
    error.lock = threading.Lock()
    raise error


class PickyError(Exception):
    """Can be pickled, and not unpickled."""

    def __init__(self, left, right):
        super().__init__(f"{left} and {right}")


def picky_exception():
    raise PickyError("one", "two")


def chained_exception():
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise ValueError("outer") from error


@pytest.mark.parametrize(
    ("function", "cause", "said"),
    [
        (unpicklable_result, TypeError, "returned what cannot be sent"),
        (unpicklable_exception, RuntimeError, "ValueError: with a lock"),
        (picky_exception, RuntimeError, "PickyError: one and two"),
    ],
)
def test_what_cannot_be_pickled_costs_its_job_and_no_worker(pool_of, function, cause, said):
    with pool_of() as pool:
        first = pool.submit(os.getpid).result(DEADLINE)
        error = pool.submit(function).exception(DEADLINE)
        assert type(error) is JobError and type(error.__cause__) is cause
        assert said in str(error)
        assert f"in {function.__name__}" in str(error.__cause__.__cause__) or function is unpicklable_result
        assert pool.submit(os.getpid).result(DEADLINE) == first


def test_what_cannot_be_sent_or_read_here_costs_its_job_and_no_worker(pool_of):
    class OnlyThere:
        def __reduce__(self):
            return check, (os.getpid(),)

    def check(pid):
        if os.getpid() != pid:
            raise ValueError("not here")

    with pool_of() as pool:
        first = pool.submit(os.getpid).result(DEADLINE)
        sent = pool.submit(len, threading.Lock()).exception(DEADLINE)
        assert "cannot be sent to a worker" in str(sent) and type(sent.__cause__) is TypeError
        read = pool.submit(OnlyThere).exception(DEADLINE)
        assert "cannot be read here" in str(read) and type(read.__cause__) is ValueError
        assert pool.submit(os.getpid).result(DEADLINE) == first


def test_causes_of_an_exception_arrive_and_last_the_traceback(pool_of):
    with pool_of() as pool:
        error = pool.submit(chained_exception).exception(DEADLINE)
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    assert [type(one) for one in chain] == [JobError, ValueError, KeyError, RemoteTracebackError]
    assert "chained_exception" in "".join(traceback.format_exception(error))
    assert "in chained_exception" in str(chain[-1])


@pytest.mark.parametrize("kind", [RuntimeError, SystemExit])
def test_an_exception_without_a_text_is_the_jobs_error(pool_of, kind):
    class Unprintable(Exception):
        def __str__(self):
            raise kind("no text")

    def fails():
        raise Unprintable

    with pool_of() as pool:
        error = pool.submit(fails).exception(DEADLINE)
        assert type(error) is JobError and f"Unprintable: its str() raises {kind.__name__}" in str(error)
        assert pool.submit(abs, -1).result(DEADLINE) == 1


# ------------------------------------------------------------------------------------------- workers, one by one


def test_an_idle_worker_that_dies_costs_no_job(pool_of):
    with pool_of() as pool:
        for _ in range(5):
            pid = pool.submit(os.getpid).result(DEADLINE)
            os.kill(pid, signal.SIGKILL)
            assert pool.submit(os.getpid).result(DEADLINE) != pid
    assert pool.statistics().failed == 0


def test_a_stopped_worker_whose_job_was_not_read_loses_none(pool_of):
    with pool_of() as pool:
        pid = pool.submit(os.getpid).result(DEADLINE)
        os.kill(pid, signal.SIGSTOP)
        future = pool.submit(os.getpid)
        os.kill(pid, signal.SIGKILL)
        assert future.result(DEADLINE) != pid


def test_retries_are_for_deaths_and_hangs(pool_of, tmp_path):
    def dies(times, how):
        with open(tmp_path / how, "a") as file:
            file.write("tried\n")
        if len((tmp_path / how).read_text().splitlines()) <= times:
            spring(how)
        return "done"

    with pool_of(retries=1) as pool:
        assert pool.submit(dies, 1, "SIGKILL").result(DEADLINE) == "done"
        assert pool.job(time_limit_secs=0.5).submit(dies, 1, "hang").result(DEADLINE) == "done"
        assert isinstance(pool.submit(dies, 2, "_exit").exception(DEADLINE), WorkerDiedError)
        assert isinstance(pool.submit(dies, 1, "exception").exception(DEADLINE), JobError)
        assert pool.job(retries=2).submit(dies, 2, "SIGSEGV").result(DEADLINE) == "done"
    tries = {path.name: len(path.read_text().splitlines()) for path in tmp_path.iterdir()}
    assert tries == {"SIGKILL": 2, "hang": 2, "_exit": 2, "exception": 1, "SIGSEGV": 3}
    assert (pool.statistics().succeeded, pool.statistics().failed) == (3, 2)


def test_workers_are_recycled_after_their_jobs(pool_of):
    with pool_of(max_jobs_per_worker=2) as pool:
        pids = [pool.submit(os.getpid).result(DEADLINE) for _ in range(5)]
    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]


def test_workers_are_recycled_when_they_have_grown(pool_of):
    kept = {}

    def grow(mib):
        sys.modules[__name__] = kept  # whatever stays in the process
        kept[mib] = bytearray(os.urandom(1 << 20) * mib)
        return os.getpid()

    with pool_of(max_memory_mb=150) as pool:
        first = pool.submit(grow, 1).result(DEADLINE)
        assert pool.submit(grow, 2).result(DEADLINE) == first
        assert pool.submit(grow, 200).result(DEADLINE) == first
        assert pool.submit(grow, 1).result(DEADLINE) != first


def test_the_server_is_killed_and_a_new_one_goes_on(tmp_path):
    def hangs(path):
        Path(path).touch()
        spring("hang")

    with (
        WorkerServer(["tf1sessions.pools.pool_worker_main:preload"], method="fork") as own,
        ProcessSessionPool(1, mode="tf2", server=own) as pool,
    ):
        pool.submit(os.getpid).result(DEADLINE)
        late = pool.submit(hangs, tmp_path / "begun")
        wait_for((tmp_path / "begun").exists, "the job to begin")  # one that has not begun is run again
        os.kill(own.pid, signal.SIGKILL)
        error = late.exception(DEADLINE)
        assert isinstance(error, WorkerDiedError) and error.job == "hangs-1" and "fork server" in str(error)
        assert pool.submit(max, 3, 4).result(DEADLINE) == 4


def test_a_worker_that_cannot_start_is_its_jobs_error(pool_of, tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    pool = pool_of()
    monkeypatch.chdir(tmp_path)
    folder.rmdir()
    with pool:
        error = pool.job("lost").submit(os.getpid).exception(DEADLINE)
    assert isinstance(error, WorkerStartError) and "'lost'" in str(error) and "gone" in str(error)


def test_a_server_that_was_closed_is_each_jobs_error():
    with WorkerServer(["tf1sessions.pools.pool_worker_main:preload"], method="fork") as closed:
        pool = ProcessSessionPool(1, mode="tf2", server=closed)
    with pool:
        assert [type(pool.submit(abs, -1).exception(DEADLINE)) for _ in range(2)] == [ClosedError] * 2


def test_a_mistake_in_the_pool_is_logged_and_leaves_no_caller_waiting(pool_of, monkeypatch, caplog):
    with pool_of() as pool:
        with monkeypatch.context() as patch:
            patch.setattr(pool._dispatcher, "_is_worn", lambda state: 1 / 0)
            assert pool.submit(abs, -1).result(DEADLINE) == 1
            patch.setattr(pool._dispatcher, "_mark_sent", lambda *_: 1 / 0)
            assert isinstance(pool.submit(abs, -1).exception(DEADLINE), ZeroDivisionError)
        assert pool.submit(abs, -1).result(DEADLINE) == 1
    assert "abs-1" in caplog.text


# ------------------------------------------------------------------------------------------------- cancel, the end


def wait_until_running(future):
    wait_for(future.running, "the job to run", DEADLINE)


def test_cancelling_a_running_job_ends_its_worker(pool_of, tmp_path):
    def hang(path):
        Path(path).write_text(str(os.getpid()))
        threading.Event().wait()

    with pool_of() as pool:
        future = pool.submit(hang, tmp_path / "pid")
        after = pool.submit(os.getpid)
        wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "the job's words", DEADLINE)
        assert future.running() and not future.done()
        assert future.cancel() and future.cancelled() and not future.running()
        assert concurrent.futures.wait([future], timeout=DEADLINE).done == {future}
        assert after.result(DEADLINE) != int((tmp_path / "pid").read_text())
    assert (pool.statistics().cancelled, pool.statistics().succeeded) == (1, 1)


def test_cancel_while_a_worker_is_built(pool_of):
    with pool_of(initializer=spring, initargs=("hang",)) as pool:
        future = pool.submit(len, "")
        wait_until_running(future)
        assert future.cancel()
    assert pool.statistics().cancelled == 1


def test_cancel_before_the_start_and_with_shutdown(pool_of, tmp_path):
    pool = pool_of()

    def hold(_=None):
        while not (tmp_path / "go").exists():
            time.sleep(0.001)

    running = pool.submit(hold)
    wait_until_running(running)
    first, second = pool.submit(hold), pool.submit(hold)
    assert first.cancel()
    assert list(pool.as_completed([first], timeout=DEADLINE)) == [first]
    pool.shutdown(wait=False, cancel_futures=True)
    assert second.cancelled()
    (tmp_path / "go").touch()
    assert running.result(DEADLINE) is None
    pool.shutdown()
    pool.shutdown()  # idempotent
    assert pool.statistics().cancelled == 2
    with pytest.raises(ClosedError):
        pool.submit(hold)


def test_many_cancels_at_any_moment_add_up(pool_of):
    with pool_of(2) as pool:
        futures = [pool.submit(abs, -number) for number in range(60)]
        cancelled = [future for future in futures[::3] if future.cancel()]
        concurrent.futures.wait(futures, DEADLINE)
        assert all(future.result() == number for number, future in enumerate(futures) if future not in cancelled)
    statistics = pool.statistics()
    assert (statistics.cancelled, statistics.succeeded) == (len(cancelled), 60 - len(cancelled))
    assert statistics.waiting == statistics.running == 0


def test_ctrl_c_in_the_body_does_not_wait_for_a_hanging_job(pool_of):
    with pytest.raises(KeyboardInterrupt):
        with pool_of() as pool:
            hanging, waiting = pool.submit(spring, "hang"), pool.submit(spring, "hang")
            wait_until_running(hanging)
            raise KeyboardInterrupt
    assert hanging.cancelled() and waiting.cancelled()


def test_shutdown_runs_what_waits(pool_of):
    pool = pool_of()
    futures = [pool.submit(abs, -number) for number in range(10)]
    pool.shutdown()
    assert [future.result(0) for future in futures] == list(range(10))


def test_a_result_stays_valid_after_its_worker(pool_of):
    with pool_of() as pool:
        array = pool.submit(np.ones, (1000, 1000)).result(DEADLINE)
    assert not any(alive(pid) for pid in pool_of.pids)
    assert array.sum() == 1e6
    array += 1.0
    assert array.sum() == 2e6
    del array


def test_who_keeps_a_future_keeps_no_arguments(pool_of):
    argument = np.zeros(1000)
    gone = weakref.ref(argument)
    with pool_of() as pool:
        future = pool.submit(len, argument)
        assert future.result(DEADLINE) == 1000
        pool.submit(abs, 1).result(DEADLINE)  # its thread has gone on
        del argument
        assert gone() is None


def test_an_idle_worker_keeps_neither_arguments_nor_result(pool_of):
    with pool_of() as pool:
        pool.submit(lambda array: array, np.ones(1_000_000)).result(DEADLINE)
        channel = pool_of.workers[0]._channel
        wait_for(lambda: not channel.statistics().lent_bytes, "the memory to come back", DEADLINE)


def test_a_worker_ends_as_an_interpreter_does(pool_of, tmp_path):
    with pool_of() as pool:
        pool.submit(lambda: atexit.register((tmp_path / "ended").touch) and None).result(DEADLINE)
    assert (tmp_path / "ended").exists()


def test_progress_true_shows_or_logs(pool_of, caplog):
    with caplog.at_level(logging.INFO, "tf1sessions"), pool_of(progress=True) as pool:
        pool.job("one").submit(abs, 1).result(DEADLINE)
    assert any("job 'one' succeeded" in message for message in caplog.messages)


def test_a_job_that_leaves_processes_and_threads_leaves_none(pool_of, monkeypatch):
    monkeypatch.setattr(worker_proxy, "_END_SECS", 0.2)

    def leave():
        pid = os.fork()
        if pid == 0:
            threading.Event().wait()
        threading.Thread(target=threading.Event().wait).start()  # keeps the worker from ending by itself
        return pid

    with pool_of() as pool:
        pid = pool.submit(leave).result(DEADLINE)
        assert alive(pid)
    assert not alive(pid)


def test_jobs_cancelled_while_their_workers_start(pool_of, caplog):
    """That the workers were killed is no failed start: the pool takes more jobs, and ends."""
    for takes_more in [True, False] * 3:
        with pool_of(2) as pool:
            new_worker = pool._dispatcher._start_worker

            def held(number, new_worker=new_worker):
                worker = new_worker(number)
                os.kill(worker.pid, signal.SIGSTOP)  # mostly before it has said that it is there
                return worker

            pool._dispatcher._start_worker = held
            futures = [pool.submit(os.getpid) for _ in range(2)]
            for future in futures:
                wait_for(future.running, "the start of its worker", DEADLINE)
            pool.interrupt()
            pool._dispatcher._start_worker = new_worker
            if takes_more:
                assert pool.submit(abs, -1).result(DEADLINE) == 1
    assert not caplog.records


@pytest.mark.parametrize("ends_before", [True, False], ids=["after its jobs", "before they end"])
def test_a_pool_that_is_dropped_ends_its_workers(server, ends_before):
    """As one of concurrent.futures does: a service that makes a pool for each request would run out of processes."""
    before = Descriptors()
    pool = ProcessSessionPool(2, mode="tf2", server=server)
    gone = weakref.ref(pool)
    futures = [pool.submit(os.getpid), *[pool.submit(time.sleep, 0.2) for _ in range(3)]]
    if ends_before:
        concurrent.futures.wait(futures, DEADLINE)
    del pool
    gc.collect()
    pid = futures[0].result(DEADLINE)
    assert [future.result(DEADLINE) for future in futures[1:]] == [None, None, None]  # none is lost
    wait_for(lambda: gc.collect() >= 0 and gone() is None, "the end of the pool", DEADLINE)
    wait_for(lambda: not pool_threads(), "the end of its threads", DEADLINE)
    assert not alive(pid)
    after = Descriptors()
    assert after.open.keys() == before.open.keys(), after.open


@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL", "end"])
def test_nothing_outlives_the_program(how, tmp_path):
    """However a program with a pool ends, its server and workers end, and its main module is run once."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import os, sys, threading, time
            from tf1sessions.pools import processes, warm_servers
            from tf1sessions.pools.fork_server import WorkerServer

            warm_servers.make_server = lambda mode, method: WorkerServer(["tf1sessions.pools.pool_worker_main:preload"])

            def hang(pid, data):
                print("ready", pid, os.getpid(), os.getppid(), flush=True)
                threading.Event().wait()

            print("main", flush=True)
            pool = processes.ProcessSessionPool(2, mode="tf2")
            futures = [pool.submit(hang, os.getpid(), bytearray(10_000_000)) for _ in range(4)]
            if sys.argv[1] != "end":
                futures[0].result()
            while not futures[0].running():
                time.sleep(0.001)
            """
        )
    )
    process = subprocess.Popen(
        [sys.executable, program, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    try:
        assert process.stdout.readline() == "main\n"
        pids = set()
        if how != "end":
            for _ in range(2):
                pids |= set(map(int, process.stdout.readline().split()[1:]))
            process.send_signal(getattr(signal, how))
        out, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
    assert "main" not in out
    assert process.returncode == {"SIGINT": -2, "SIGKILL": -9, "end": 0}[how]
    assert ("KeyboardInterrupt" in err) == (how == "SIGINT")
    wait_for(lambda: not any(alive(pid) for pid in pids), "the end of server and workers", DEADLINE)


def test_workers_as_fresh_interpreters(pool_of):
    with ProcessSessionPool(1, mode="tf2", method="spawn") as pool:
        pid = pool.submit(os.getpid).result(DEADLINE)
        error = pool.submit(spring, "SIGKILL").exception(DEADLINE)
        assert (error.signal_name, error.returncode) == ("SIGKILL", -9)
        assert pool.submit(np.ones, 100_000).result(DEADLINE).sum() == 100_000
        assert pool.submit(os.getpid).result(DEADLINE) != pid
    assert not alive(pid)


# ------------------------------------------------------------------------------------------- jobs that go together


@pytest.fixture
def together(pool_of, monkeypatch, tmp_path):
    """Makes a pool of one worker whose jobs count as short, and submits jobs that it gets in one message."""

    def submit(calls, due_secs=DEADLINE, limits=None, **options):
        monkeypatch.setattr(dispatcher, "_LOOK_SECS", due_secs)
        pool = pool_of(**options)
        monkeypatch.setattr(pool._durations, "expected", lambda kind: 1e-9)
        held = pool.submit(wait_for_path, tmp_path / "go")
        wait_until_running(held)
        limits = limits or {}
        futures = [
            pool.job(f"number {number}", time_limit_secs=limits.get(number)).submit(*call)
            for number, call in enumerate(calls)
        ]
        (tmp_path / "go").touch()
        held.result(DEADLINE)
        return pool, futures

    return submit


def wait_for_path(path):
    """A job: runs until the path is there. It ends by itself, too, so that a test that fails before leaves none."""
    until = time.monotonic() + DEADLINE
    while not path.exists():
        assert time.monotonic() < until, f"waited in vain for {path}"
        time.sleep(0.001)


def logged_job(log, number, *rest):
    with open(log, "a") as file:
        print(number, file=file)
    return job(None, *rest)


@pytest.mark.parametrize("place", ["unpickle", "run", "return"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_costs_one_of_the_jobs_that_were_sent_together(together, pool_of, tmp_path, place, kind):
    calls = [(logged_job, tmp_path / "log", number, "", "", number) for number in range(6)]
    if place == "unpickle":
        calls[2] = (logged_job, tmp_path / "log", 2, "", "", SpringsWhenUnpickled(kind))
    else:
        calls[2] = (logged_job, tmp_path / "log", 2, place, kind, 2)
    pool, futures = together(calls, limits={2: 0.5} if kind == "hang" else None)
    errors = [future.exception(DEADLINE) for future in futures]
    assert pool_of.workers[0]._channel.statistics().sent == 3  # the setup, the job that held it, and these
    assert [number for number, error in enumerate(errors) if error is not None] == [2]
    assert errors[2].job == "number 2"
    expected = {"hang": JobTimeoutError} | dict.fromkeys(DIES, WorkerDiedError)
    assert type(errors[2]) is expected.get(kind, JobError)
    if kind in DIES:
        assert (errors[2].returncode, errors[2].signal_name) == DIES[kind]
    assert [future.result() for number, future in enumerate(futures) if number != 2] == [0, 1, 3, 4, 5]
    ran = (tmp_path / "log").read_text().split()
    assert ran == [str(number) for number in range(6) if number != 2 or place != "unpickle"], "each once, in order"
    statistics = pool.statistics()
    assert (statistics.succeeded, statistics.running, statistics.waiting) == (6, 0, 0)


def test_a_retry_of_one_of_them(together, tmp_path):
    def dies_once(number):
        with open(tmp_path / f"{number}", "a") as file:
            file.write("tried ")
        if number == 2 and (tmp_path / "2").read_text() == "tried ":
            spring("SIGKILL")
        return number

    pool, futures = together([(dies_once, number) for number in range(5)], retries=1)
    assert [future.result(DEADLINE) for future in futures] == [0, 1, 2, 3, 4]
    assert [len((tmp_path / f"{number}").read_text().split()) for number in range(5)] == [1, 1, 2, 1, 1]
    assert pool.statistics().failed == 0


def test_a_job_that_is_longer_than_thought_delays_none_behind_it(pool_of, monkeypatch, tmp_path):
    """Two workers, one of which gets a long job with others behind it; the other one runs those."""
    with pool_of(2) as pool:
        monkeypatch.setattr(pool._durations, "expected", lambda kind: 1e-9)
        held = [pool.submit(wait_for_path, tmp_path / "go") for _ in range(2)]
        for future in held:
            wait_until_running(future)
        long = pool.submit(wait_for_path, tmp_path / "end")
        short = [pool.submit(abs, -number) for number in range(20)]
        (tmp_path / "go").touch()
        assert [future.result(DEADLINE) for future in short] == list(range(20))
        assert long.running()
        assert pool.statistics().running == 1
        (tmp_path / "end").touch()
        assert long.result(DEADLINE) is None


def test_a_free_worker_takes_the_share_of_a_busy_one(pool_of, monkeypatch, tmp_path):
    """Two workers, one of which is busy: what waits, all short, goes to the other one in one message."""
    with pool_of(2) as pool:
        monkeypatch.setattr(pool._durations, "expected", lambda kind: 1e-9)
        monkeypatch.setattr(dispatcher, "_LOOK_SECS", DEADLINE)  # a slow machine gives none of them back
        held = [pool.submit(wait_for_path, tmp_path / path) for path in ("go", "end")]
        for future in held:
            wait_until_running(future)
        sent, clear = [], SharedStatus.clear
        monkeypatch.setattr(SharedStatus, "clear", lambda status, count: (sent.append(count), clear(status, count)))
        short = [pool.submit(abs, -number) for number in range(20)]
        (tmp_path / "go").touch()
        assert [future.result(DEADLINE) for future in short] == list(range(20))
        assert [count for count in sent if count > 1] == [20]  # the held ones may be sent only now
        (tmp_path / "end").touch()
        assert held[1].result(DEADLINE) is None


def test_results_before_a_long_job_are_not_delayed_by_it(together, tmp_path):
    calls = [(abs, -1), (abs, -2), (wait_for_path, tmp_path / "end"), (abs, -3)]
    pool, futures = together(calls, due_secs=0.005)
    assert [future.result(DEADLINE) for future in futures[:2]] == [1, 2]
    wait_until_running(futures[2])
    assert not futures[3].running() and pool.statistics().waiting == 1
    (tmp_path / "end").touch()
    assert futures[3].result(DEADLINE) == 3


def test_cancelling_those_that_have_not_begun_ends_no_worker(together, pool_of, tmp_path):
    calls = [
        (wait_for_path, tmp_path / "end"),
        *[(logged_job, tmp_path / "log", number, "", "", number) for number in range(1, 6)],
    ]
    pool, futures = together(calls)
    wait_until_running(futures[0])
    assert futures[2].cancel() and futures[4].cancel()
    (tmp_path / "end").touch()
    assert [futures[number].result(DEADLINE) for number in (1, 3, 5)] == [1, 3, 5]
    assert (tmp_path / "log").read_text().split() == ["1", "3", "5"]
    assert len(pool_of.pids) == 1 and pool.statistics().cancelled == 2


def test_cancelling_the_one_that_runs_ends_its_worker_and_no_other_job(together, pool_of, tmp_path):
    log = tmp_path / "log"
    _pool, futures = together([(logged_job, log, n, "run" if n == 1 else "", "hang", n) for n in range(4)])
    wait_for(lambda: log.exists() and log.read_text() == "0\n1\n", "it to begin", DEADLINE)
    assert futures[1].cancel()
    assert [futures[number].result(DEADLINE) for number in (0, 2, 3)] == [0, 2, 3]
    assert log.read_text().split() == ["0", "1", "2", "3"]
    assert len(pool_of.pids) == 2


def test_shutdown_cancels_those_that_have_not_begun(together, pool_of, tmp_path):
    pool, futures = together([(wait_for_path, tmp_path / "end"), *[(abs, -number) for number in range(4)]])
    wait_until_running(futures[0])
    pool.shutdown(wait=False, cancel_futures=True)
    assert all(future.cancelled() for future in futures[1:]) and not futures[0].done()
    (tmp_path / "end").touch()
    assert futures[0].result(DEADLINE) is None
    assert len(pool_of.pids) == 1


def test_those_that_are_long_or_cannot_be_pickled_go_their_own_way(together, pool_of):
    array = np.arange(100_000.0)
    calls = [(abs, -1), (len, threading.Lock()), (np.sum, array), (len, bytes(50_000)), (abs, -2), (np.copy, array)]
    _, futures = together(calls)
    results = [future.exception(DEADLINE) or future.result() for future in futures]
    assert isinstance(results.pop(1), JobError)
    np.testing.assert_array_equal(results.pop(), array)
    assert results == [1, array.sum(), 50_000, 2]


def test_a_worker_that_may_not_go_on_leaves_the_rest_to_another(together, pool_of, monkeypatch):
    """Recycled after its jobs; and after one that has closed what the next ones need."""
    _pool, futures = together([(os.getpid,) for _ in range(6)], max_jobs_per_worker=3)
    pids = [future.result(DEADLINE) for future in futures]
    assert pids[0] == pids[1] != pids[2] == pids[3] == pids[4] != pids[5]


def test_progress_of_those_that_go_together(together):
    events = []
    pool, _futures = together([(abs, -number) for number in range(5)], progress=events.append)
    pool.shutdown()
    states = [(event.job, event.state) for event in events if event.job.startswith("number")]
    assert states == [(f"number {number}", state) for number in range(5) for state in ("running", "succeeded")]
    assert max(event.statistics.running for event in events) == 1
    assert events[-1].statistics.busy_seconds > 0


def test_short_jobs_are_found_to_be_short(pool_of):
    """Without any help: far fewer messages than jobs."""
    with pool_of() as pool:
        assert [future.result(DEADLINE) for future in [pool.submit(abs, -n) for n in range(500)]] == list(range(500))
        assert list(pool.map(abs, range(500))) == list(range(500))
        assert pool_of.workers[0]._channel.statistics().sent < 500


def test_map_goes_no_further_ahead_than_short_jobs_need(pool_of, monkeypatch):
    with pool_of() as pool:
        taken = []
        for secs, most in ((1.0, 2), (1e-9, 2 * 64)):
            monkeypatch.setattr(pool._durations, "expected", lambda kind, secs=secs: secs)
            results = pool.map(abs, (taken.append(number) or number for number in itertools.count()))
            assert len(taken) == most
            next(results)
            results.close()
            taken.clear()


# ------------------------------------------------------------------------------------------------ the dispatcher


@pytest.fixture
def quick(pool_of):
    """A pool of one idle worker."""
    pool = pool_of(1)
    assert pool.submit(operator.neg, 1).result(DEADLINE) == -1
    return pool


@pytest.fixture
def quick_two(pool_of):
    """A pool of two idle workers, which takes jobs of these functions for short."""
    pool = pool_of(2)
    list(pool.map(time.sleep, iter([0.05] * 4)))
    wait_for(lambda: len(pool._dispatcher._idle) == 2, "idle workers", DEADLINE)
    for function in operator.neg, time.sleep, end_at_three, Chunk(operator.neg, takes_one=True):
        pool._durations._seconds[processes.job_kind(function)] = 1e-6
    return pool


def end_at_three(value):
    return value if value != 3 else os._exit(7)


def meet(folder, name, names):
    """A job that ends when others, which run at the same time, have come here, too."""
    (folder / name).touch()
    for other in names:
        wait_for_path(folder / other)
    return name


def all_workers_take_jobs(pool, folder, count):
    """Fails when a worker's place was lost: so many jobs wait for each other."""
    folder.mkdir()
    names = [str(number) for number in range(count)]
    futures = [pool.submit(meet, folder, name, names) for name in names]
    return [future.result(DEADLINE) for future in futures] == names


def test_small_jobs_one_after_the_other(quick):
    assert [quick.submit(operator.neg, number).result(DEADLINE) for number in range(20)] == [*range(0, -20, -1)]
    array = np.arange(50_000.0)
    assert np.array_equal(quick.submit(operator.neg, array).result(DEADLINE), -array)
    with pytest.raises(JobError, match=r"neg.* raised TypeError: bad operand"):
        quick.submit(operator.neg, "text").result(DEADLINE)
    assert (quick.statistics().succeeded, quick.statistics().failed) == (22, 1)


@pytest.mark.parametrize("how", ["callback", "wait", "exception", "next job", "done", "shutdown"])
def test_a_result_comes_however_it_is_waited_for(quick, how):
    future = quick.submit(time.sleep, 0.01)
    if how == "callback":
        ended = threading.Event()
        future.add_done_callback(lambda _: ended.set())
        assert ended.wait(DEADLINE)
    elif how == "wait":
        assert concurrent.futures.wait([future], DEADLINE).done == {future}
    elif how == "exception":
        assert future.exception(DEADLINE) is None
    elif how == "next job":
        assert quick.submit(operator.neg, 3).result(DEADLINE) == -3
    elif how == "done":
        wait_for(future.done, "the end of the job", DEADLINE)
    else:
        quick.shutdown()
    assert future.done() and future.result(0) is None


def test_waiting_for_a_longer_job_has_a_limit(quick):
    future = quick.submit(time.sleep, 0.3)
    with pytest.raises(concurrent.futures.TimeoutError):
        future.result(0.001)
    wait_until_running(future)
    assert future.result(DEADLINE) is None
    future = quick.submit(time.sleep, DEADLINE)
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(future.result, DEADLINE) for _ in range(2)]
        wait_until_running(future)
        assert future.cancel()
        assert [type(one.exception(DEADLINE)) for one in waiting] == [concurrent.futures.CancelledError] * 2
    assert quick.submit(operator.neg, 3).result(DEADLINE) == -3


def test_a_job_that_is_cancelled_while_it_is_pickled_does_not_run(quick, tmp_path, monkeypatch):
    original = dispatcher.pack_message

    def cancelled(*args):
        thread = threading.Thread(target=quick.interrupt)
        thread.start()
        thread.join(DEADLINE)
        return original(*args)

    with monkeypatch.context() as patch:
        patch.setattr(dispatcher, "pack_message", cancelled)
        future = quick.submit(Path.touch, tmp_path / "ran")
        wait_for(future.cancelled, "its end", DEADLINE)
        assert concurrent.futures.wait([future], DEADLINE).done == {future}
    assert quick.submit(operator.neg, 3).result(DEADLINE) == -3
    assert not (tmp_path / "ran").exists() and quick.statistics().cancelled == 1


def test_a_death_costs_one_job(quick):
    with pytest.raises(WorkerDiedError) as caught:
        quick.submit(os._exit, 7).result(DEADLINE)
    assert caught.value.returncode == 7
    with pytest.raises(WorkerDiedError):
        quick.job(retries=1).submit(os._exit, 7).result(DEADLINE)
    assert quick.submit(operator.neg, 3).result(DEADLINE) == -3


@pytest.mark.parametrize("chunksize", [1, 3])
def test_the_jobs_of_a_map_are_shared_and_go_in_few_messages(quick_two, pool_of, monkeypatch, chunksize):
    monkeypatch.setattr(dispatcher, "_LOOK_SECS", DEADLINE)  # a slow machine gives none of them back
    before = [worker._channel.statistics().sent for worker in pool_of.workers]
    assert list(quick_two.map(operator.neg, range(100), chunksize=chunksize)) == [*range(0, -100, -1)]
    sent = [worker._channel.statistics().sent for worker in pool_of.workers]
    assert [now - then for now, then in zip(sent, before, strict=True)] == [1, 1]
    values = [1, np.float32(2), 3, "text", 5]  # one goes its own way, one fails
    results = quick_two.map(operator.neg, values)
    assert [next(results) for _ in range(3)] == [-1, -2, -3]
    with pytest.raises(JobError, match="bad operand"):
        next(results)
    assert list(quick_two.map(operator.neg, [1, 2])) == [-1, -2]


@pytest.mark.parametrize("kind", [list, tuple, range, iter, dict.fromkeys])
@pytest.mark.parametrize("count", [0, 1, 6, 7])
def test_chunks_of_all_kinds_of_items(quick_two, kind, count):
    items = kind(range(count)) if kind is not range else range(count)
    assert list(quick_two.map(operator.neg, items, chunksize=3)) == [-number for number in range(count)]


def test_a_death_costs_one_of_those_of_a_map(quick_two):
    futures = quick_two._submit_all(end_at_three, [(number,) for number in range(10)])
    errors = [future.exception(DEADLINE) for future in futures]
    assert [type(error) for error in errors if error] == [WorkerDiedError] and errors[3].returncode == 7
    assert [future.result() for future in futures if future is not futures[3]] == [0, 1, 2, *range(4, 10)]


def test_cancelling_one_of_those_of_a_map(quick_two):
    futures = quick_two._submit_all(time.sleep, [(0.05,)] * 8)
    assert futures[2].cancel() and futures[7].cancel()
    assert [future.result(DEADLINE) for number, future in enumerate(futures) if number not in (2, 7)] == [None] * 6
    assert futures[2].cancelled() and futures[7].cancelled()
    statistics = quick_two.statistics()
    assert (statistics.waiting, statistics.running, statistics.cancelled) == (0, 0, 2)


def test_a_worker_that_takes_long_to_start_holds_up_no_other(pool_of):
    go = threading.Event()
    with pool_of(2) as pool:
        start = pool._dispatcher._start_worker
        pool._dispatcher._start_worker = lambda number: (number == 0 and go.wait(DEADLINE), start(number))[1]
        late, first = pool.submit(operator.neg, 1), pool.submit(operator.neg, 2)
        assert [first.result(DEADLINE), pool.submit(operator.neg, 3).result(DEADLINE)] == [-2, -3]
        assert late.running() and not late.done()
        go.set()
        assert late.result(DEADLINE) == -1


def test_a_worker_that_is_built_or_ends_for_long_holds_up_no_other(pool_of, monkeypatch, tmp_path):
    def build_one_of_them(go):
        try:
            os.close(os.open(tmp_path / "first", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        wait_for_path(go)

    go, end = threading.Event(), worker_proxy.WorkerProxy.end
    monkeypatch.setattr(worker_proxy.WorkerProxy, "end", lambda worker: (go.wait(DEADLINE), end(worker))[1])
    with pool_of(2, initializer=build_one_of_them, initargs=(tmp_path / "go",)) as pool:
        futures = [pool.submit(lambda _, value: -value, number) for number in range(6)]
        wait_for(lambda: sum(future.done() for future in futures) == 5, "the jobs of the other worker", DEADLINE)
        (tmp_path / "go").touch()
        assert [future.result(DEADLINE) for future in futures] == [0, -1, -2, -3, -4, -5]
        dead = pool.submit(lambda _: os._exit(7))
        assert [pool.submit(lambda _, value: -value, number).result(DEADLINE) for number in range(3)] == [0, -1, -2]
        assert not dead.done(), "what its end costs is known when it has ended"
        go.set()
        assert isinstance(dead.exception(DEADLINE), WorkerDiedError)


def test_a_worker_that_does_not_read_holds_up_no_other(quick_two, pool_of, monkeypatch):
    """It is stopped, and gets more than a socket holds."""
    monkeypatch.setattr(dispatcher, "_LARGE_BYTES", 1 << 20)
    pid = quick_two._dispatcher._idle[-1].worker.pid
    os.kill(pid, signal.SIGSTOP)
    data = [bytes(200_000)] * 10
    stuck = quick_two.submit(len, [*data, *map(bytearray, data)])
    assert [quick_two.submit(operator.neg, number).result(DEADLINE) for number in range(3)] == [0, -1, -2]
    assert not stuck.done()
    os.kill(pid, signal.SIGCONT)
    assert stuck.result(DEADLINE) == 20


def test_half_a_reply_holds_up_no_other(quick_two, pool_of, tmp_path):
    """A worker that is stopped, or busy, in the midst of writing a reply."""

    def writes_half_a_reply(path):

        write = arrays.Channel._write

        def half(channel, frame, descriptors):
            channel._socket.send(frame[:100])
            path.touch()
            wait_for_path(path.parent / "go")
            write(channel, frame[100:], descriptors)

        arrays.Channel._write = half
        return bytes(1000)

    late = quick_two.submit(writes_half_a_reply, tmp_path / "half")
    wait_for((tmp_path / "half").exists, "half a reply", DEADLINE)
    assert [quick_two.submit(operator.neg, number).result(DEADLINE) for number in range(3)] == [0, -1, -2]
    assert not late.done()
    (tmp_path / "go").touch()
    assert late.result(DEADLINE) == bytes(1000)


def test_a_fork_that_cancels_waits_for_no_thread_of_its_parent(quick, tmp_path):
    future = quick.submit(wait_for_path, tmp_path / "go")
    wait_until_running(future)
    locked, go = threading.Event(), threading.Event()

    def hold():
        with quick._lock:
            locked.set()
            go.wait(DEADLINE)

    thread = threading.Thread(target=hold)
    thread.start()
    assert locked.wait(DEADLINE)
    child = os.fork()
    if child == 0:
        os._exit(0 if future.cancel() and future.cancelled() else 1)
    try:
        ended = []
        wait_for(lambda: ended.extend(os.waitpid(child, os.WNOHANG)) or ended[-2], "the fork's end", DEADLINE / 2)
        assert ended[-1] == 0
    finally:
        go.set()
        thread.join(DEADLINE)
        if not ended or not ended[-2]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    (tmp_path / "go").touch()
    assert future.result(DEADLINE) is None


def test_a_large_message_is_sent_by_a_thread_of_its_own_and_can_be_cancelled(quick_two, monkeypatch):
    monkeypatch.setattr(dispatcher, "_LARGE_BYTES", 1 << 20)
    array = np.arange(1_000_000.0)
    assert quick_two.submit(np.sum, array).result(DEADLINE) == array.sum()
    go, sending, send = threading.Event(), threading.Event(), worker_proxy.WorkerProxy.send

    def held(worker, packed):
        if packed.nbytes > 1 << 20:
            sending.set()
            assert go.wait(DEADLINE)
        send(worker, packed)

    monkeypatch.setattr(worker_proxy.WorkerProxy, "send", held)
    future = quick_two.submit(np.sum, array)
    assert sending.wait(DEADLINE)
    assert quick_two.submit(operator.neg, 1).result(DEADLINE) == -1
    assert future.cancel()
    go.set()
    assert [quick_two.submit(operator.neg, number).result(DEADLINE) for number in range(4)] == [0, -1, -2, -3]


# ------------------------------------------------------------------------------------------------------ callbacks


def test_a_callback_may_submit_cancel_and_shut_down(pool_of, tmp_path):
    pool = pool_of()
    more = []

    def go_on(future):
        more.append(pool.submit(operator.neg, 2))
        more.append(pool.submit(spring, "hang"))
        more[1].cancel()
        pool.shutdown(wait=True)
        more.append(future.result())

    pool.submit(wait_for_path, tmp_path / "go").add_done_callback(go_on)
    (tmp_path / "go").touch()
    wait_for(lambda: len(more) == 3, "the callback", DEADLINE)
    assert more[0].result(DEADLINE) == -2 and more[1].cancelled() and more[2] is None
    with pytest.raises(ClosedError):
        pool.submit(operator.neg, 1)


def test_a_callback_that_waits_for_another_job_gets_an_error(pool_of, tmp_path):
    raised = []

    def wait(_):
        for method in (other.result, other.exception):
            with pytest.raises(UsageError, match="cannot end before the callback"):
                method()
        raised.append(True)

    with pool_of() as pool:
        first = pool.submit(wait_for_path, tmp_path / "go")
        other = pool.submit(operator.neg, 2)
        first.add_done_callback(wait)
        (tmp_path / "go").touch()
        assert other.result(DEADLINE) == -2 and raised


@pytest.mark.parametrize("kind", [ValueError, SystemExit, KeyboardInterrupt])
def test_a_callback_that_raises_is_logged_and_costs_nothing(quick, tmp_path, kind, caplog):
    def raises(_):
        raise kind("in a callback")

    quick.job("the one").submit(wait_for_path, tmp_path / "go").add_done_callback(raises)
    (tmp_path / "go").touch()
    assert quick.submit(operator.neg, 3).result(DEADLINE) == -3
    assert "in a callback" in caplog.text


# --------------------------------------------------------------------------------------------------------- Ctrl-C


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "owner, name",
    [
        (ProcessSessionPool, "_new_job"),
        (dispatcher.Dispatcher, "submit"),
        (threading.Thread, "start"),
        (inbox.Inbox, "put"),
        (accounts.JobAccounts, "submitted"),
        (concurrent.futures.Future, "result"),
        (concurrent.futures.Future, "cancel"),
        (dispatcher.Dispatcher, "cancel"),
        (accounts.JobAccounts, "cancelled"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_ctrl_c_in_a_call_of_the_pool_loses_no_worker(pool_of, monkeypatch, tmp_path, owner, name, after):
    original, main, armed = getattr(owner, name), threading.current_thread(), []

    def interrupted(*args, **named):
        if not armed or threading.current_thread() is not main:
            return original(*args, **named)
        armed.clear()
        if after:
            original(*args, **named)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(owner, name, interrupted)
    pool = pool_of(2)
    if name != "start":
        pool.submit(operator.neg, 1).result(DEADLINE)
    armed.append(True)
    with pytest.raises(KeyboardInterrupt):
        future = pool.submit(operator.neg, 2)
        future.result(DEADLINE)
        hanging = pool.submit(spring, "hang")
        wait_until_running(hanging)
        hanging.cancel()
    if name in ("cancel", "cancelled"):
        assert hanging.cancel() and hanging.cancelled()  # it can be said again
    assert all_workers_take_jobs(pool, tmp_path / "jobs", 2)


@pytest.fixture
def interrupts():
    """Has SIGALRM raise KeyboardInterrupt; the timer is off when a test has ended."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_no_interrupt_leaves_a_future_locked(interrupts):
    """The dispatcher would wait for it for ever."""
    rng, future = random.Random(0), ProcessFuture()
    for _ in range(500):
        give_up_lock = time.monotonic() + 0.01
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, rng.random() * 2e-4 + 1e-6)
            while True:  # an interrupt in `while not future.done()` is not caught by Python 3.13: its issue 130279
                future.done()
                # The kernel may give the signal to a thread of TensorFlow's. Python then sees it only when its main
                # thread takes the interpreter's lock again, which this loop by itself never does.
                if time.monotonic() > give_up_lock:
                    time.sleep(0)
        assert not future._condition._is_owned()


def test_ctrl_c_at_any_moment_loses_no_worker(pool_of, interrupts, tmp_path):
    """Interrupts at random moments of all that a caller may do."""
    rng = random.Random(0)
    pool, rounds, caught = pool_of(2), 300, 0
    pool.submit(operator.neg, 1).result(DEADLINE)
    for number in range(rounds):
        try:
            signal.setitimer(signal.ITIMER_REAL, rng.random() * 0.004 + 1e-6)
            futures = [pool.submit(operator.neg, value) for value in range(number % 7)]
            assert [future.result(DEADLINE) for future in futures] == [-value for value in range(number % 7)]
            assert list(pool.map(operator.neg, range(20))) == [-value for value in range(20)]
            futures = [pool.submit(time.sleep, 0.0005) for _ in range(4)]
            futures[number % 4].cancel()
            for future in futures:
                assert future.cancelled() or future.result(DEADLINE) is None
            signal.setitimer(signal.ITIMER_REAL, 0)
        except (KeyboardInterrupt, RuntimeError) as error:  # an interrupted Condition.wait() may raise the second
            assert isinstance(error, KeyboardInterrupt) or isinstance(error.__context__, KeyboardInterrupt)
            caught += 1
    assert caught > rounds // 4
    assert all_workers_take_jobs(pool, tmp_path / "jobs", 2)


def test_a_cancel_that_is_interrupted_before_the_pool_knows_of_it(pool_of):
    with pool_of(1) as pool:
        future = pool.submit(time.sleep, 0.2)
        assert concurrent.futures.Future.cancel(future) and not future.set_running_or_notify_cancel()
        assert pool.submit(operator.neg, 1).result(DEADLINE) == -1
        assert future.cancelled() and pool.statistics().cancelled == 1


def test_a_job_of_a_map_does_not_wait_for_the_next_item(pool_of, tmp_path):
    def items():
        yield tmp_path / "first"
        wait_for((tmp_path / "first").exists, "the first job", DEADLINE)
        yield tmp_path / "second"

    with pool_of(1) as pool:
        assert list(pool.map(Path.touch, items())) == [None, None]


# -------------------------------------------------------------------------------------------- surroundings of a job


def test_a_worker_has_this_process_surroundings(pool_of, monkeypatch, tmp_path, capfd):
    (tmp_path / "module_of_mine.py").write_text("value = 12\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_RATE", "0.1")

    def look():
        import module_of_mine

        print("on stdout", flush=True)
        print("on stderr", file=sys.stderr)
        return module_of_mine.value, os.environ["MY_RATE"], os.getcwd(), sys.stdin.read()

    with pool_of() as pool:
        assert pool.submit(look).result(DEADLINE) == (12, "0.1", str(tmp_path), "")
    out, err = capfd.readouterr()
    assert (out, err) == ("on stdout\n", "on stderr\n")


def test_an_eager_initializer_gives_each_job_what_it_made(pool_of):
    with pool_of(initializer=lambda *start: list(start), initargs=(1, 2)) as pool:
        assert pool.submit(lambda made, more: made.append(more) or made, 3).result(DEADLINE) == [1, 2, 3]
        assert pool.submit(list).result(DEADLINE) == [1, 2, 3]


def test_progress_reports_each_change(pool_of):
    events = []
    with pool_of(progress=events.append) as pool:
        concurrent.futures.wait([pool.job("good").submit(abs, 1), pool.job("bad").submit(spring, "_exit")])
    assert [(event.job, event.state) for event in events] == [
        ("good", "running"),
        ("good", "succeeded"),
        ("bad", "running"),
        ("bad", "failed"),
    ]


@pytest.mark.parametrize("kind", [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_progress_function_that_raises_is_logged_and_loses_no_job(pool_of, caplog, kind):
    def raises(event):
        raise kind(event.state)

    with pool_of(progress=raises) as pool:
        for name in ("the one", "the next"):
            future = pool.job(name).submit(abs, -3)
            assert future.exception(DEADLINE) is None and future.result() == 3
    assert "progress function raised at 'the next', succeeded" in caplog.text
    assert "progress function raised at 'the one', running" in caplog.text


def test_the_end_of_a_worker_is_seen_although_a_fork_keeps_its_socket(pool_of, monkeypatch):
    """As when another thread forks this process while a worker is made."""
    kept = []
    make_pair = socket.socketpair

    def socketpair():
        ours, theirs = make_pair()
        kept.append(theirs.dup())
        return ours, theirs

    monkeypatch.setattr(dispatcher, "_CHECK_SECS", 0.05)
    monkeypatch.setattr(worker_proxy.socket, "socketpair", socketpair)
    with pool_of() as pool:
        error = pool.submit(spring, "SIGKILL").exception(DEADLINE)
        assert error.signal_name == "SIGKILL"
        late = pool.submit(spring, "hang")
        wait_until_running(late)
        assert late.cancel()
        assert pool.submit(abs, -1).result(DEADLINE) == 1
    for end in kept:
        end.close()


# ------------------------------------------------------------------------------------------------------------- map


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("chunksize", [1, 3])
def test_map_over_an_endless_generator_takes_a_bounded_part(pool_of, ordered, chunksize):
    taken = itertools.count()
    furthest = []

    def numbers():
        for number in taken:
            furthest.append(number)
            yield number

    with pool_of(2) as pool:
        results = pool.map(abs, numbers(), chunksize=chunksize, prefetch=4, ordered=ordered)
        assert furthest[-1] == 4 * chunksize - 1
        first = [next(results) for _ in range(30)]
        assert 30 <= len(furthest) <= 30 + 4 * chunksize
        results.close()
    if ordered:
        assert first == list(range(30))
    else:
        assert len(set(first)) == 30 and set(first) <= set(furthest)


def test_unordered_results_come_as_they_are_ready(pool_of, tmp_path):
    def job(number):
        while number == 0 and not (tmp_path / "go").exists():
            time.sleep(0.001)
        return number

    with pool_of(2) as pool:
        results = pool.map(job, range(4), ordered=False, prefetch=4)
        assert [next(results) for _ in range(3)] == [1, 2, 3]
        (tmp_path / "go").touch()
        assert list(results) == [0]


def test_an_error_of_the_items_comes_after_the_results_before_it(pool_of):
    def items():
        yield 1
        raise ValueError("no more")

    with pool_of() as pool:
        results = pool.map(abs, items())
        assert next(results) == 1
        with pytest.raises(ValueError, match="no more"):
            next(results)


def test_an_error_of_a_job_ends_map_and_cancels_what_waits(pool_of):
    with pool_of() as pool:
        results = pool.map(spring, ["exception", "hang", "hang"], prefetch=3)
        with pytest.raises(JobError, match="sprung"):
            next(results)
    assert pool.statistics().cancelled == 2


@pytest.mark.slow
def test_ten_thousand_jobs_some_of_which_die(pool_of):
    def job(number):
        if number % 1000 == 999:
            spring(["_exit", "SIGKILL", "SIGSEGV"][number // 1000 % 3])
        return np.full(number % 100 * 100, number)

    with pool_of(2, max_jobs_per_worker=3000) as pool:
        died = 0
        waiting = collections.deque()
        for number in range(10_000):
            waiting.append((number, pool.submit(job, number)))
            while len(waiting) > (50 if number < 9999 else 0):
                number_of, future = waiting.popleft()
                if isinstance(future.exception(DEADLINE), WorkerDiedError):
                    died += 1
                else:
                    assert future.result().tolist() == [number_of] * (number_of % 100 * 100)
    assert died == 10 and pool.statistics().succeeded == 9990


def _child_exits(value):
    if (child := os.fork()) == 0:
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    return value


def _child_exits_with_a_text(value):
    if (child := os.fork()) == 0:
        sys.stderr = open(os.devnull, "w")
        sys.exit("no")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    return value


def _child_returns(value):
    if (child := os.fork()) == 0:
        return "the child's"
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return value


def _child_raises(value):
    if (child := os.fork()) == 0:
        sys.stderr = open(os.devnull, "w")
        raise ValueError("the child's")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    return value


def _child_forks_and_returns(value):
    if (child := os.fork()) == 0:
        if (grandchild := os.fork()) != 0:
            os.waitpid(grandchild, 0)
        return "the child's"
    os.waitpid(child, 0)
    return value


def _child_is_late(value):
    reading, _writing = os.pipe()
    if os.fork() == 0:
        os.read(reading, 1)  # until the worker ends
        return "the child's"
    return value


def _child_of_multiprocessing(value):
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.map(abs, [-value])[0]


@pytest.mark.parametrize(
    "forks",
    [
        _child_exits,
        _child_exits_with_a_text,
        _child_returns,
        _child_raises,
        _child_forks_and_returns,
        _child_is_late,
        _child_of_multiprocessing,
    ],
)
def test_a_child_of_a_job_gives_no_reply(pool_of, forks):
    with pool_of(2) as pool:
        futures = [pool.submit(forks if value % 2 else abs, value) for value in range(30)]
        assert [future.result(DEADLINE) for future in futures] == list(range(30))
    statistics = pool.statistics()
    assert (statistics.succeeded, statistics.failed) == (30, 0)


def test_a_child_of_a_job_does_not_hold_up_the_end_of_its_worker(pool_of):
    """The pool knows a worker's end by its channel, which the child would keep open."""

    def leaves_a_child_and_dies():
        child = os.fork()
        if child == 0:
            time.sleep(DEADLINE)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)

    with pool_of(1) as pool:
        started = pool.submit(leaves_a_child_and_dies)
        assert isinstance(started.exception(DEADLINE / 2), WorkerDiedError)
        assert pool.submit(abs, -3).result(DEADLINE) == 3


def test_map_has_a_time_limit(pool_of):
    with pool_of() as pool:
        for ordered in (True, False):
            with pytest.raises(concurrent.futures.TimeoutError):
                list(pool.map(spring, ["hang"], timeout=0.2, ordered=ordered))


# ------------------------------------------------------------------------------------------------- wrong arguments


class Plan:
    """Of one worker."""

    workers = 1
    apply = environment = None


@pytest.mark.parametrize(
    ("options", "said", "next_step"),
    [
        ({"max_workers": 0}, "max_workers is 0", "1 or more"),
        ({"max_workers": -1}, "max_workers is -1", "1 or more"),
        ({"max_workers": "x"}, "max_workers is 'x'", "1 or more"),
        ({"mode": "tf3"}, "mode is 'tf3'", '"tf1" or "tf2"'),
        ({"method": "y"}, "method is 'y'", '"spawn"'),
        ({"server": 7}, "server is 7", "make_server()"),
        ({"initializer": 3}, "initializer is 3", "a function"),
        ({"initializer": len, "initargs": 3}, "initargs is 3", "a tuple"),
        ({"progress": 3}, "progress is 3", "PoolProgress"),
        ({"plan": 3}, "plan is 3", "MemoryPlan(workers=2)"),
        ({"plan": Plan()}, "the plan has 1 workers for a pool of 2", "MemoryPlan(workers=2)"),
        ({"retries": -1}, "retries is -1", "0 or more"),
        ({"retries": True}, "retries is True", "0 or more"),
        ({"max_jobs_per_worker": 0}, "max_jobs_per_worker is 0", "1 or more"),
        ({"max_memory_mb": 0}, "max_memory_mb is 0", "MiB above 0"),
        ({"max_memory_mb": -1}, "max_memory_mb is -1", "MiB above 0"),
        ({"time_limit_secs": 0}, "time_limit_secs is 0", "seconds above 0"),
        ({"time_limit_secs": "1"}, "time_limit_secs is '1'", "seconds above 0"),
        ({"build_limit_secs": 0}, "build_limit_secs is 0", "seconds above 0"),
        ({"model": 3}, "model is 3", "a path"),
        ({"model": "frozen.pb", "initializer": len}, "model= is given with an initializer", "Load it in the initial"),
        ({"mode": "tf2", "config": object()}, "mode='tf2' has no sessions", "plan="),
    ],
)
def test_wrong_arguments(options, said, next_step):
    """Each names the value, where it was given and what to do; and starts no server."""
    before = list(warm_servers._servers)
    with pytest.raises(UsageError) as caught:
        ProcessSessionPool(**{"max_workers": 2, **options})
    assert str(caught.value).startswith(said)
    assert caught.value.where == "ProcessSessionPool" and next_step in caught.value.next_step
    assert warm_servers._servers == before


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ((threading.Lock().acquire,), "pickling its function, <built-in method acquire of"),
        ((len, threading.Lock()), "pickling argument 0, <unlocked _thread.lock"),
        ((dict, [("a", 1)], {"more": threading.Lock()}), "pickling argument 1, {'more': <unlocked _thread.lock"),
    ],
)
def test_what_cannot_be_sent_is_named(pool_of, call, said):
    with pool_of() as pool:
        error = pool.job("the job").submit(*call).exception(DEADLINE)
        assert f"job 'the job' cannot be sent to a worker: {said}" in str(error)
        assert "raised TypeError: cannot pickle '_thread.lock' object (from ProcessSessionPool)" in str(error)
        assert "the name of a file" in error.next_step and type(error.__cause__) is TypeError


def test_what_a_worker_is_made_from_cannot_be_sent(pool_of):
    with pool_of(initializer=len, initargs=(threading.Lock(),)) as pool:
        error = pool.submit(abs, -1).exception(DEADLINE)
        assert "has no worker: pickling the pool's initializer, initargs, config or model raised" in str(error)


def test_wrong_arguments_of_jobs_and_map(pool_of):
    with pool_of() as pool:
        for call in (
            lambda: pool.job(retries=-1),
            lambda: pool.job(time_limit_secs=-1),
            lambda: pool.map(abs, [1], prefetch=0),
            lambda: pool.map(abs, [1], chunksize=0),
            lambda: pool.submit(3),
        ):
            with pytest.raises(UsageError):
                call()


def test_a_pool_in_a_deleted_folder_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it has taken a server, which nobody would give back."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setattr(processes, "take_server", lambda mode, method: pytest.fail("a server was taken"))
    with pytest.raises(UsageError, match=r"the current folder was deleted \(from ProcessSessionPool\)"):
        ProcessSessionPool(1, mode="tf2")
