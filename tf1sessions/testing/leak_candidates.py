"""Things that the program has made and that are to be gone at the end: threads, processes, shared memory."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from tf1sessions.sessions.stacks import current_frames
from tf1sessions.sessions.watchdog import place as place_of
from tf1sessions.testing.leak_reports import LeakKind

__all__ = [
    "SEGMENTS",
    "BareThread",
    "Creator",
    "Fork",
    "LeakCandidate",
    "NamedSegment",
    "PoolMemory",
    "PythonProcess",
    "PythonThread",
    "Subprocess",
    "ThreadBody",
    "coordinated",
]

#: Where Linux shows the shared memory that has names.
SEGMENTS = "/dev/shm"


class Creator(NamedTuple):
    """The part of the program that has made something."""

    where: str  # the program's line
    packages: frozenset[str]  # the installed packages by way of which that line has made it
    owner: str = ""  # the name of the type of the owner that has made it; empty if there is none


class LeakCandidate(ABC):
    """Something that the program has made. It is not kept alive; a number stands for itself."""

    kind: LeakKind

    def __init__(self, thing: Any, creator: Creator) -> None:
        self.thing: Callable[[], Any] = (lambda: thing) if isinstance(thing, int) else weakref.ref(thing)
        self.creator = creator

    @abstractmethod
    def is_left(self) -> bool:
        """Say whether it is still there."""

    @abstractmethod
    def describe(self) -> str:
        """Return what it is, in words."""

    def _of(self) -> str:
        return f" of a {self.creator.owner}" if self.creator.owner else ""


# -- threads ----------------------------------------------------------------------------------------------------------

#: Threads of queue runners, and others that a Coordinator joins.
coordinated: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


class PythonThread(LeakCandidate):
    """A ``threading.Thread``."""

    @property
    def kind(self) -> LeakKind:  # type: ignore[override]
        return LeakKind.QUEUE_RUNNER if self.thing() in coordinated else LeakKind.THREAD

    def is_left(self) -> bool:
        thread = self.thing()
        return thread is not None and thread.is_alive()

    def describe(self) -> str:
        thread = self.thing()
        return f"thread {thread.name!r}{self._of()} still runs, {_whereabouts(thread)}"


def _whereabouts(thread: threading.Thread) -> str:
    coordinator = sys.modules.get("tf1sessions.pipelines.coordinator")  # knows operations, but needs TensorFlow
    if coordinator is not None:
        return str(coordinator.whereabouts(thread))
    return f"at {place_of(current_frames().get(thread.ident or 0))}"


class ThreadBody:
    """The function of a thread that ``_thread.start_new_thread`` starts."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        self.ident = 0
        self.ended = False

    def __call__(self, *args: Any, **named: Any) -> None:
        self.ident = threading.get_ident()
        try:
            self._function(*args, **named)
        finally:
            self.ended = True


class BareThread(LeakCandidate):
    """A thread of ``_thread.start_new_thread``, by its ThreadBody."""

    kind = LeakKind.THREAD

    def is_left(self) -> bool:
        body = self.thing()
        return body is not None and not body.ended

    def describe(self) -> str:
        where = place_of(current_frames().get(self.thing().ident))
        return f"a thread of _thread.start_new_thread(){self._of()} still runs, at {where}"


# -- processes --------------------------------------------------------------------------------------------------------


class Subprocess(LeakCandidate):
    """A ``subprocess.Popen``."""

    kind = LeakKind.PROCESS

    def is_left(self) -> bool:
        process = self.thing()
        return process is not None and process.returncode is None and _runs(process.pid)

    def describe(self) -> str:
        process = self.thing()
        return f"process {process.pid}{self._of()} still runs: {_command(process.args)}"


class PythonProcess(LeakCandidate):
    """A process of ``multiprocessing``."""

    kind = LeakKind.PROCESS

    def is_left(self) -> bool:
        process = self.thing()
        try:
            return process is not None and process.is_alive()
        except ValueError:  # it was closed
            return False

    def describe(self) -> str:
        process = self.thing()
        return f"process {process.pid}, {process.name!r}{self._of()}, still runs"


class Fork(LeakCandidate):
    """A process that was forked, by its number."""

    kind = LeakKind.PROCESS

    def is_left(self) -> bool:
        return _runs(self.thing())

    def describe(self) -> str:
        return f"process {self.thing()}, forked{self._of()}, still runs"


def _runs(pid: int) -> bool:
    """Say whether a child runs. One that has ended, and was not waited for, does not; it can still be waited for.

    False where there is no way to ask this: on macOS before Python 3.13.
    """
    if not hasattr(os, "waitid"):
        return False
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def _command(args: Any) -> str:
    words = [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)
    return " ".join(os.fsdecode(word) if isinstance(word, (bytes, os.PathLike)) else str(word) for word in words)[:200]


# -- shared memory ----------------------------------------------------------------------------------------------------


class NamedSegment(LeakCandidate):
    """A segment that ``SharedMemory(create=True)`` has made, or one that was opened."""

    kind = LeakKind.MEMORY

    def __init__(self, thing: Any, creator: Creator, created: bool) -> None:
        super().__init__(thing, creator)
        self.name: str = thing.name
        self._size = thing.size
        self.created = created

    def _is_linked(self) -> bool:
        return self.created and os.path.exists(os.path.join(SEGMENTS, self.name))

    def _is_mapped(self) -> bool:
        thing = self.thing()
        return thing is not None and thing._mmap is not None

    def is_left(self) -> bool:
        return self._is_linked() or self._is_mapped()

    def describe(self) -> str:
        how = [what for what, is_so in (("unlinked", self._is_linked()), ("closed", self._is_mapped())) if is_so]
        return f"segment {self.name!r} of {self._size} bytes{self._of()} was not {' and not '.join(how)}"


class PoolMemory(LeakCandidate):
    """Memory of a ProcessSessionPool, which has no name."""

    kind = LeakKind.MEMORY

    def is_left(self) -> bool:
        return self.thing() is not None

    def describe(self) -> str:
        thing = self.thing()
        return f"{thing.size if thing else '?'} bytes{self._of()} are still in use, by a result that is kept"
