"""What several tests use, beside the fixtures of conftest.py."""

from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import dataclasses
import os
import platform
import signal
import tarfile
import tempfile
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tf1sessions
from tf1sessions.sessions.stacks import current_frames

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(tf1sessions.__file__).resolve().parent


def unpack(archive: str | os.PathLike[str], folder: str | os.PathLike[str]) -> None:
    """Unpack a tar archive; early releases of Python 3.10 and 3.11 have no filters."""
    filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(archive) as file:
        file.extractall(folder, **filters)  # type: ignore[arg-type]


def wait_for(condition: Callable[[], Any], what: str | Callable[[], str], deadline: float = 30.0) -> Any:
    """Waits for a state that has no event of its own: polls until ``condition()`` is true, and returns its value.

    What comes next must not depend on how long that took. A condition that raises ends the wait.

    Args:
        condition: Called once a millisecond.
        what: What is waited for, or a function that says it when it has not come.
        deadline: Seconds.

    Raises:
        AssertionError: The condition is not true at the deadline; names ``what``.
    """
    until = time.monotonic() + deadline
    while not (value := condition()):
        if time.monotonic() >= until:
            raise AssertionError(f"waited {deadline:g} s in vain for {what if isinstance(what, str) else what()}")
        time.sleep(0.001)
    return value


def raises(kind: type[BaseException], call: Callable[..., Any], *args: Any) -> BaseException:
    """The error of that kind which ``call(*args)`` raises; without one, an AssertionError."""
    try:
        result = call(*args)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised; got {result!r}")


def in_thread(work: Callable[[], Any], name: str | None = None, deadline: float = 60.0) -> Any:
    """What ``work()`` gave or raised in a thread of its own, of that name."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    thread.join(deadline)
    assert found, "the thread hangs"
    return found[0]


def alive(pid: int) -> bool:
    """Whether a process runs: one that has ended, and was not waited for, does not. Linux only."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextlib.contextmanager
def interrupted_when(condition: Callable[[], Any]) -> Iterator[None]:
    """Sends SIGINT to this process as soon as something is the case, and again while the block goes on.

    A signal that comes just before Python waits for a lock does not end that wait.
    """
    ended = threading.Event()

    def send() -> None:
        wait_for(condition, "the moment to interrupt")
        os.kill(os.getpid(), signal.SIGINT)
        while not ended.wait(2.0):
            os.kill(os.getpid(), signal.SIGINT)

    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        sent = executor.submit(send)
        try:
            yield
        finally:
            ended.set()
        sent.result()


@dataclasses.dataclass(frozen=True)
class PythonRun:
    """What a process started by ``run_python`` did."""

    results: dict[str, Any]
    stdout: str
    stderr: str
    returncode: int
    seconds: float


# In the environment of all that this test session starts, so that orphans are known, too; see mark_this_session.
_MARK = "TF1SESSIONS_TEST_SESSION"


def mark_this_session() -> None:
    """Marks what this process starts from now on."""
    os.environ[_MARK] = uuid.uuid4().hex


def our_processes() -> dict[int, str]:
    """Returns the command line of each process that comes from this one; empty where there is no /proc.

    These are its children, zombies included, and whatever has inherited the mark of this session, wherever it is now.
    """
    mark = f"{_MARK}={os.environ.get(_MARK)}".encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        try:
            stat = (folder / "stat").read_text()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
            continue
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError, PermissionError):  # a zombie, or something else's
            environment = []
        name, _, rest = stat.partition(" (")[2].rpartition(") ")
        state, parent = rest.split()[:2]
        if pid != os.getpid() and (int(parent) == os.getpid() or mark in environment):
            found[pid] = command or f"[{name}] in state {state}"
    return found


def our_folders() -> set[str]:
    """Returns what lies in the temporary folder of this session under the package's name."""
    return {str(path) for path in Path(tempfile.gettempdir()).glob("tf1sessions*")}


# The standard library keeps this helper for as long as the process lives; pytest-timeout watches the current test. The
# server of warm_commands.py is for all tests of the session; its fixture looks at what it has made.
NOT_OURS = ("multiprocessing.resource_tracker", "pytest_timeout ", "/warm_commands0/")


@dataclasses.dataclass(frozen=True)
class Alive:
    """What there is at one moment: processes that come from this one, threads that would keep it alive, folders."""

    processes: dict[int, str]
    threads: list[threading.Thread]
    folders: set[str]

    @staticmethod
    def now() -> Alive:
        return Alive(our_processes(), threading.enumerate(), our_folders())


def leftovers(before: Alive) -> list[str]:
    """Names what is there now and was not there ``before``."""
    found = [
        f"process {pid}: {command[:200]}"
        for pid, command in our_processes().items()
        if pid not in before.processes and not any(name in command for name in NOT_OURS)
    ]
    found += [f"path {path}" for path in sorted(our_folders() - before.folders)]
    frames = current_frames()
    for thread in threading.enumerate():
        if thread.daemon or thread in before.threads or thread.name.startswith(NOT_OURS):
            continue
        frame = frames.get(thread.ident or 0)
        where = traceback.extract_stack(frame)[-1] if frame else None
        found.append(f"thread {thread.name!r}" + (f" at {where.filename}:{where.lineno}" if where else ""))
    return found


#: The number of the system call setresuid, which C's function of that name makes for all threads.
_SETRESUID = {"x86_64": 117, "aarch64": 147}


def without_root(do: Callable[[], object]) -> None:
    """Do something as a user who is not root, who may read everything; what it raises is raised here.

    Modules that it needs are imported before: another user may not be let into where Python is.
    """
    if os.getuid():
        do()
        return
    with concurrent.futures.ThreadPoolExecutor(1) as executor:  # the user of one thread is changed, which then ends
        executor.submit(_as_nobody, do).result()


def _as_nobody(do: Callable[[], object]) -> None:
    nobody = 65534
    assert ctypes.CDLL(None).syscall(_SETRESUID[platform.machine()], nobody, nobody, nobody) == 0
    do()
