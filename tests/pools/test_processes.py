"""ProcessSessionPool without TensorFlow: how jobs and workers end, limits, cancellation, replacement, map.

Its workers are forks of a server that has not imported TensorFlow, and get eager jobs (``mode="tf2"``), so that they
start and end in milliseconds. What needs sessions is in ``test_processes_tensorflow.py``.
"""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import ctypes
import itertools
import logging
import operator
import os
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
from support import wait_for

from tf1sessions.errors import (
    ClosedError,
    JobError,
    JobTimeoutError,
    RemoteTracebackError,
    UsageError,
    WorkerDiedError,
    WorkerStartError,
)
from tf1sessions.pools import messages, processes, warm_servers, worker_link
from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.fork_server import WorkerServer
from tf1sessions.pools.mapping import Chunk
from tf1sessions.pools.processes import ProcessSessionPool

DEADLINE = 60.0
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # a worker need not import pytest


@pytest.fixture(scope="module")
def server() -> Iterator[WorkerServer]:
    with WorkerServer(["tf1sessions.pools.process_worker:preload"], method="fork") as server:
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


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def pool_of(server):
    """Makes pools of such workers, and checks that nothing is left of them after each test."""
    before = Descriptors()
    pools, pids = [], set()

    def make(workers=1, **options):
        pool = ProcessSessionPool(workers, **{"mode": "tf2", "server": server, **options})
        new_worker = pool._new_worker

        def remember(number):
            worker = new_worker(number)
            pids.add(worker._handle.pid)
            make.workers.append(worker)
            return worker

        pool._new_worker = remember
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
        WorkerServer(["tf1sessions.pools.process_worker:preload"], method="fork") as own,
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
    with WorkerServer(["tf1sessions.pools.process_worker:preload"], method="fork") as closed:
        pool = ProcessSessionPool(1, mode="tf2", server=closed)
    with pool:
        assert [type(pool.submit(abs, -1).exception(DEADLINE)) for _ in range(2)] == [ClosedError] * 2


def test_a_mistake_in_the_pool_is_logged_and_leaves_nobody_waiting(pool_of, monkeypatch, caplog):
    with pool_of() as pool:
        with monkeypatch.context() as patch:
            patch.setattr(pool, "_is_worn", lambda seat: 1 / 0)
            assert pool.submit(abs, -1).result(DEADLINE) == 1
            patch.setattr(pool, "_attach", lambda *_, **__: 1 / 0)
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
    monkeypatch.setattr(worker_link, "_END_SECS", 0.2)

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

            warm_servers.make_server = lambda mode, method: WorkerServer(["tf1sessions.pools.process_worker:preload"])

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
        monkeypatch.setattr(messages, "_DUE_SECS", due_secs)
        pool = pool_of(**options)
        monkeypatch.setattr(pool, "_short_secs", lambda job: 1e-9)
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
        monkeypatch.setattr(pool, "_short_secs", lambda job: 1e-9)
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
        monkeypatch.setattr(pool, "_short_secs", lambda job: 1e-9)
        monkeypatch.setattr(messages, "_DUE_SECS", DEADLINE)  # a slow machine gives none of them back
        held = [pool.submit(wait_for_path, tmp_path / path) for path in ("go", "end")]
        for future in held:
            wait_until_running(future)
        sent, prepare = [], worker_link.PoolWorker.prepare
        monkeypatch.setattr(
            worker_link.PoolWorker, "prepare", lambda worker, count: (sent.append(count), prepare(worker, count))
        )
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
            monkeypatch.setattr(pool, "_seconds", {processes._kind(abs): secs})
            monkeypatch.setattr(pool, "_learn", lambda *_: None)
            results = pool.map(abs, (taken.append(number) or number for number in itertools.count()))
            assert len(taken) == most
            next(results)
            results.close()
            taken.clear()


# --------------------------------------------------------- sent by who submits it, and taken in by who waits for it


@pytest.fixture
def quick(pool_of, monkeypatch):
    """A pool of one idle worker that has had these functions; its thread does not look for results unasked, however
    slow this machine is."""
    monkeypatch.setattr(processes, "_LOOK_SECS", DEADLINE)
    monkeypatch.setattr(processes, "_HELP_SECS", DEADLINE)
    pool = pool_of(1)
    for function, *args in (operator.neg, 1), (time.sleep, 0.0):
        pool.submit(function, *args).result(DEADLINE)
    pool._packer._function(os._exit)
    wait_for(lambda: pool._ready, "an idle worker", DEADLINE)
    return pool


def note_threads(monkeypatch, owner, name):
    """The threads that call a method from now on."""
    original, threads = getattr(owner, name), []

    def noted(*args):
        threads.append(threading.current_thread())
        return original(*args)

    monkeypatch.setattr(owner, name, noted)
    return threads


def test_a_small_job_needs_no_thread_of_the_pool(quick, monkeypatch):
    sent = note_threads(monkeypatch, worker_link.PoolWorker, "send")
    taken = note_threads(monkeypatch, worker_link.PoolWorker, "replies")
    assert [quick.submit(operator.neg, number).result(DEADLINE) for number in range(20)] == [*range(0, -20, -1)]
    array = np.arange(50_000.0)
    assert np.array_equal(quick.submit(operator.neg, array).result(DEADLINE), -array)
    with pytest.raises(JobError, match=r"neg.* raised TypeError: bad operand"):
        quick.submit(operator.neg, "text").result(DEADLINE)
    assert set(sent) == set(taken) == {threading.main_thread()}
    assert (quick.statistics().succeeded, quick.statistics().failed) == (23, 1)


@pytest.mark.parametrize("how", ["limit", "large", "new function", "no worker is idle"])
def test_other_jobs_are_sent_by_the_pools_thread(quick, monkeypatch, how):
    first = quick.submit(time.sleep, 0.05) if how == "no worker is idle" else None
    sent = note_threads(monkeypatch, worker_link.PoolWorker, "send")
    jobs = quick.job(time_limit_secs=DEADLINE) if how == "limit" else quick
    value = np.ones(1 << 17) if how == "large" else 1
    function = operator.index if how == "new function" else operator.neg
    assert np.all(abs(jobs.submit(function, value).result(DEADLINE)) == 1)
    assert sent and threading.main_thread() not in sent
    assert first is None or first.done()


@pytest.mark.parametrize("how", ["callback", "wait", "exception", "next job", "look", "shutdown"])
def test_a_result_comes_however_it_is_waited_for(quick, monkeypatch, how):
    if how == "look":
        monkeypatch.setattr(processes, "_LOOK_SECS", 0.002)
        quick.submit(operator.neg, 0).result(DEADLINE)  # so that its thread sleeps as long as that
        quick._want(next(iter(quick._seats)))
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
    elif how == "look":
        wait_for(future.done, "the end of the job", DEADLINE)
    else:
        quick.shutdown()
    assert future.done() and future.result(0) is None


@pytest.mark.parametrize("help_secs", [0.005, DEADLINE])
def test_waiting_for_a_longer_job_has_a_limit(quick, monkeypatch, help_secs):
    monkeypatch.setattr(processes, "_HELP_SECS", help_secs)
    future = quick.submit(time.sleep, 0.3)
    with pytest.raises(concurrent.futures.TimeoutError):
        future.result(0.001)
    assert future.running() and future.result(DEADLINE) is None
    future = quick.submit(time.sleep, DEADLINE)
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(future.result, DEADLINE) for _ in range(2)]
        seat = future.job.seat
        wait_for(lambda: seat.helper if help_secs == DEADLINE else seat.sent is None, "somebody to wait for it")
        assert future.cancel()
        assert [type(one.exception(DEADLINE)) for one in waiting] == [concurrent.futures.CancelledError] * 2
    assert quick.submit(operator.neg, 3).result(DEADLINE) == -3


def test_a_job_that_is_cancelled_before_it_is_sent_does_not_run(quick, monkeypatch):
    original = quick._packer.run

    def cancelled(*args):
        thread = threading.Thread(target=quick.interrupt)
        thread.start()
        thread.join(DEADLINE)
        return original(*args)

    sent = note_threads(monkeypatch, worker_link.PoolWorker, "send")
    with monkeypatch.context() as patch:
        patch.setattr(quick._packer, "run", cancelled)
        future = quick.submit(operator.neg, 1)
    assert future.cancelled() and sent == []
    assert quick.submit(operator.neg, 3).result(DEADLINE) == -3


def test_a_death_while_somebody_waits_costs_one_job(quick):
    with pytest.raises(WorkerDiedError) as caught:
        quick.submit(os._exit, 7).result(DEADLINE)
    assert caught.value.returncode == 7
    with pytest.raises(WorkerDiedError):
        quick.job(retries=1).submit(os._exit, 7).result(DEADLINE)
    assert quick.submit(operator.neg, 3).result(DEADLINE) == -3


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "owner, name",
    [
        (messages.Message, "send_at_once"),
        (worker_link.PoolWorker, "prepare"),
        (worker_link._Stderr, "forget"),
        (Channel, "_write"),
        (worker_link.PoolWorker, "wait"),
        (Channel, "_take_frame"),
        (worker_link.PoolWorker, "replies"),
        (ProcessSessionPool, "_end_all"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_ctrl_c_while_a_job_is_sent_or_taken_in_leaves_nobody_waiting(quick, monkeypatch, owner, name, after):
    original, futures = getattr(owner, name), []

    def interrupted(*args):
        monkeypatch.setattr(owner, name, original)
        assert threading.current_thread() is threading.main_thread()
        if after:
            original(*args)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        futures.append(quick.submit(operator.neg, 2))
        futures[0].result(DEADLINE)
    for future in futures:
        try:
            assert future.result(DEADLINE) == -2
        except concurrent.futures.CancelledError:
            assert name != "wait"  # nothing was begun that could be lost
    assert quick.submit(operator.neg, 3).result(DEADLINE) == -3


def test_ctrl_c_before_a_thread_lets_go_does_not_keep_the_pool_from_ending(quick, monkeypatch):
    def interrupted(*_, **__):
        monkeypatch.undo()
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), quick:
        monkeypatch.setattr(quick, "_let_go", interrupted)
        quick.submit(time.sleep, DEADLINE)
    assert not pool_threads()


@pytest.fixture
def quick_two(pool_of, monkeypatch):
    """A pool of two idle workers, which takes jobs of these functions for short."""
    monkeypatch.setattr(processes, "_LOOK_SECS", DEADLINE)
    monkeypatch.setattr(processes, "_HELP_SECS", DEADLINE)
    pool = pool_of(2)
    list(pool.map(time.sleep, iter([0.05] * 4)))
    wait_for(lambda: len(pool._ready) == 2, "idle workers", DEADLINE)
    for function in operator.neg, time.sleep, end_at_three, Chunk(operator.neg, takes_one=True):
        assert pool._packer._function(function)
        pool._seconds[processes._kind(function)] = 1e-6
    return pool


def end_at_three(value):
    return value if value != 3 else os._exit(7)


@pytest.mark.parametrize("chunksize", [1, 3])
def test_the_jobs_of_a_map_are_shared_and_sent_at_once(quick_two, monkeypatch, chunksize):
    sent = note_threads(monkeypatch, worker_link.PoolWorker, "send")
    taken = note_threads(monkeypatch, worker_link.PoolWorker, "replies")
    assert list(quick_two.map(operator.neg, range(100), chunksize=chunksize)) == [*range(0, -100, -1)]
    assert sent == taken == [threading.main_thread()] * 2
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


@pytest.mark.parametrize("how", ["the looker has a long job", "it gets one while others use seats"])
def test_one_thread_looks_at_all_seats_that_others_use(pool_of, how):
    pool = pool_of(2)
    list(pool.map(time.sleep, iter([0.05] * 4)))
    wait_for(lambda: len(pool._ready) == 2, "idle workers", DEADLINE)
    pool._seconds[processes._kind(time.sleep)] = 1e-6
    if how == "the looker has a long job":
        long = pool.submit(time.sleep, DEADLINE)
        wait_for(lambda: any(seat.taken and seat.sent is None for seat in pool._seats), "its thread", DEADLINE)
        short = pool.submit(time.sleep, 0.01)
    else:
        long, short = pool._submit_all(time.sleep, [(DEADLINE,), (0.1,)])
        with pool._lock:
            pool._want(long.job.seat)
    wait_for(short.done, "the end of a job that nobody waits for", DEADLINE)
    assert not long.done() and long.cancel()


def test_a_death_costs_one_of_those_that_were_sent_at_once(quick_two):
    futures = quick_two._submit_all(end_at_three, [(number,) for number in range(10)])
    errors = [future.exception(DEADLINE) for future in futures]
    assert [type(error) for error in errors if error] == [WorkerDiedError] and errors[3].returncode == 7
    assert [future.result() for future in futures if future is not futures[3]] == [0, 1, 2, *range(4, 10)]


def test_cancelling_one_of_those_that_were_sent_at_once(quick_two):
    futures = quick_two._submit_all(time.sleep, [(0.05,)] * 8)
    assert futures[2].cancel() and futures[7].cancel()
    assert [future.result(DEADLINE) for number, future in enumerate(futures) if number not in (2, 7)] == [None] * 6
    assert futures[2].cancelled() and futures[7].cancelled()
    statistics = quick_two.statistics()
    assert (statistics.waiting, statistics.running, statistics.cancelled) == (0, 0, 2)


def test_ctrl_c_between_two_workers_jobs_leaves_nobody_waiting(quick_two, monkeypatch):
    original = quick_two._send_at_once

    def interrupted(*args):
        original(*args)
        monkeypatch.setattr(quick_two, "_send_at_once", original)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(quick_two, "_send_at_once", interrupted)
    with pytest.raises(KeyboardInterrupt):
        quick_two.map(operator.neg, range(8))
    assert list(quick_two.map(operator.neg, range(8))) == [*range(0, -8, -1)]
    wait_for(lambda: len(quick_two._ready) == 2, "idle workers", DEADLINE)


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


def test_progress_tells_each_change(pool_of):
    events = []
    with pool_of(progress=events.append) as pool:
        concurrent.futures.wait([pool.job("good").submit(abs, 1), pool.job("bad").submit(spring, "_exit")])
    assert [(event.job, event.state) for event in events] == [
        ("good", "running"),
        ("good", "succeeded"),
        ("bad", "running"),
        ("bad", "failed"),
    ]


def test_a_progress_function_that_raises_is_logged_and_loses_no_job(pool_of, caplog):
    def raises(event):
        raise ValueError(event.state)

    with pool_of(progress=raises) as pool:
        assert pool.job("the one").submit(abs, -3).result(DEADLINE) == 3
    assert "progress function raised at 'the one', running" in caplog.text


def test_the_end_of_a_worker_is_seen_although_a_fork_keeps_its_socket(pool_of, monkeypatch):
    """As when another thread forks this process while a worker is made."""
    kept = []
    make_pair = socket.socketpair

    def socketpair():
        ours, theirs = make_pair()
        kept.append(theirs.dup())
        return ours, theirs

    monkeypatch.setattr(worker_link, "_LOOK_SECS", 0.05)
    monkeypatch.setattr(worker_link.socket, "socketpair", socketpair)
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
