"""Where a limit of the system is too low for a worker: the error names it, and other workers go on."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from tf1sessions.errors import Tf1SessionsError, WorkerDiedError, WorkerStartError
from tf1sessions.pools import fork_server, messages
from tf1sessions.pools.fork_server import WorkerServer
from tf1sessions.pools.processes import ProcessSessionPool
from tf1sessions.pools.resource_limits import limit_step, start_error
from tf1sessions.pools.workers import WorkerSpec

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux has these limits and /proc")
DEADLINE = 60.0
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # a worker need not import pytest


@contextlib.contextmanager
def limit(name: str, value: int) -> Iterator[None]:
    kind = getattr(resource, name)
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (value, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


def high(name: str) -> int:
    """A limit that nothing comes near."""
    hard = resource.getrlimit(getattr(resource, name))[1]
    return 1 << 50 if hard == resource.RLIM_INFINITY else hard


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), "RLIMIT_NOFILE"),
        (BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)), "RLIMIT_NPROC"),
        (RuntimeError("can't start new thread"), "RLIMIT_NPROC"),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), "RLIMIT_AS"),
        (MemoryError(), "RLIMIT_AS"),
        (OSError(errno.ENOENT, os.strerror(errno.ENOENT)), None),
        (OSError(errno.EACCES, os.strerror(errno.EACCES)), None),
    ],
)
def test_the_limit_is_named(error: Exception, name: str | None) -> None:
    with contextlib.ExitStack() as stack:
        if name and name != "RLIMIT_NOFILE":
            stack.enter_context(limit(name, high(name)))
        text = str(start_error("It does not start", error, "here"))
        count = resource.getrlimit(getattr(resource, name))[0] if name else 0
    assert text.startswith("It does not start: ") and "(from here)" in text
    if name is None:
        assert "RLIMIT" not in text
    else:
        assert f"{name} allows {count // (2**20 if name == 'RLIMIT_AS' else 1):,} " in text
        assert "raise it (ulimit -" in text


def test_no_limit_is_none() -> None:
    with limit("RLIMIT_AS", resource.RLIM_INFINITY):
        assert limit_step("MemoryError") is None


@pytest.mark.parametrize("event", ["forked", "refused"])
def test_a_reader_that_fails_leaves_no_caller_waiting(monkeypatch: pytest.MonkeyPatch, event: str) -> None:
    receive = messages.receive

    def failing(control: Any) -> Any:
        message, fds = receive(control)
        if message is not None and message["event"] == "forked":
            if event == "forked":
                raise ImportError("too many open files")
            message |= {"event": "refused", "error": "Too many open files"}
        return message, fds

    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    monkeypatch.setattr(messages, "receive", failing)
    with WorkerServer([], method="fork") as server:
        server.wait_ready(DEADLINE)
        monkeypatch.setattr(fork_server, "limit_step", refuse)
        with pytest.raises((WorkerStartError, WorkerDiedError)):
            server.spawn(WorkerSpec("a", "os:abort", {}, dict(os.environ), "/", None, 2, 2))


def refuse(text: str) -> None:
    if "could not be forked" in text:
        raise ImportError(text)


def test_what_names_a_limit_is_loaded_before_the_limit_is_reached() -> None:
    program = "import sys, tf1sessions.pools.resource_limits; assert 'resource' in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.fixture(scope="module")
def server() -> Iterator[WorkerServer]:
    with WorkerServer(["tf1sessions.pools.pool_worker_main:preload"], method="fork") as server:
        with ProcessSessionPool(1, mode="tf2", server=server) as pool:
            pool.submit(os.getpid).result(DEADLINE)
        yield server


def outcomes(workers: int, server: WorkerServer) -> list[int | Tf1SessionsError]:
    """Which process each of some jobs was run by, or its error."""

    def job() -> int:
        import os
        import time

        time.sleep(0.02)  # so that another worker is asked for
        return os.getpid()

    found: list[int | Tf1SessionsError] = []
    with ProcessSessionPool(workers, mode="tf2", server=server) as pool:
        for future in [pool.submit(job) for _ in range(2 * workers)]:
            try:
                found.append(future.result(DEADLINE))
            except Tf1SessionsError as error:
                found.append(error)
    return found


def test_too_few_open_files(server: WorkerServer, caplog: pytest.LogCaptureFixture) -> None:
    """With each number of them a job is run, or its error names the limit; from some number on, none fails."""
    opened = [int(name) for name in os.listdir("/proc/self/fd")]
    free = sorted({*range(max(opened) + 40)} - {*opened})  # the numbers that the next ones get
    warned = []
    for number in free[:24]:
        caplog.clear()
        with limit("RLIMIT_NOFILE", number + 1):
            try:
                found = outcomes(2, server)
            except WorkerStartError as error:
                found = [error]
        errors = [each for each in found if not isinstance(each, int)]
        assert all("RLIMIT_NOFILE allows" in str(error) for error in errors), errors
        assert not errors or len(errors) == len(found), found
        said = [record.getMessage() for record in caplog.records if "goes on with fewer than 2" in record.getMessage()]
        assert len(said) <= 1
        assert all("RLIMIT_NOFILE allows" in text for text in said), said
        warned.append(bool(said) and not errors)
    assert True in warned, "one of the numbers is enough for one worker"
    assert not errors and not said, "the last is enough for both"


# In the server: at most so many workers at a time, as RLIMIT_NPROC has it for a user who is not root.
_FORKS = """
import errno, os

made, fork = [], os.fork

def refuse(most):
    def limited():
        if sum(os.path.exists(f"/proc/{pid}") for pid in made) >= most:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        made.append(pid := fork())
        return pid
    os.fork = limited

def one():
    refuse(1)

def none():
    refuse(0)
"""


@pytest.mark.parametrize("most", ["one", "none"])
def test_too_few_processes(most: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "limited_forks.py").write_text(_FORKS, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    preload = ["tf1sessions.pools.pool_worker_main:preload", f"limited_forks:{most}"]
    with (
        limit("RLIMIT_NPROC", high("RLIMIT_NPROC")),
        WorkerServer(preload, {**os.environ, "PYTHONPATH": path}, method="fork") as server,
    ):
        found = outcomes(3, server)
    said = [record.getMessage() for record in caplog.records if "goes on with fewer than 3" in record.getMessage()]
    if most == "one":
        assert len(set(found)) == 1 and all(isinstance(each, int) for each in found), found
        assert len(said) == 1 and "RLIMIT_NPROC allows" in said[0], said
    else:
        assert all(isinstance(each, WorkerStartError) and "RLIMIT_NPROC allows" in str(each) for each in found), found
