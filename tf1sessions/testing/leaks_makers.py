"""Who makes threads, processes and shared memory: what is to be gone at the end is noted with the program's line.

::

    Thread.start, Popen, Process.start, os.fork, SharedMemory, ... ──▶ origin(): whose call is it?
                                                                 └──▶ Notes.take() of all who look on ──▶ Made
    ThreadPoolExecutor, Pool, QueuePipeline, ... are owners: what they start, at any time, was made where they were

Not noted is what nobody of the program asked for, the threads of a test runner for one; what an owner starts that is
older than the notes; and what a thread of the program does that is older, such as a server's. Threads that libraries
start in C are not Python's, and are not seen at all.
"""

from __future__ import annotations

import _thread
import contextlib
import functools
import os
import subprocess
import sys
import sysconfig
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import process as process_executors
from concurrent.futures import thread as thread_executors
from multiprocessing import managers, queues, shared_memory
from multiprocessing import pool as pools
from multiprocessing.process import BaseProcess
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tf1sessions.sessions.stacks import current_frames
from tf1sessions.sessions.watchdog import place as place_of
from tf1sessions.testing.frames import is_library
from tf1sessions.testing.leaks_switch import Late, Observers
from tf1sessions.testing.leaks_told import LeakKind
from tf1sessions.testing.patching import Patch

__all__ = [
    "SEGMENTS",
    "Claim",
    "Made",
    "Memory",
    "Notes",
    "Origin",
    "is_installed",
    "is_program",
    "makers",
    "origin",
    "program_line",
    "take",
    "told",
]

#: Where Linux shows the shared memory that has names.
SEGMENTS = "/dev/shm"
_INSTALLED = tuple(os.path.join(os.sep, part, "") for part in ("site-packages", "dist-packages"))
_OURS = tuple(
    os.path.join(path, "")
    for path in (sysconfig.get_path("scripts"), os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
)
_THREADING = threading.__file__
_TESTING = __name__.rpartition(".")[0]


# -- whose call it is -------------------------------------------------------------------------------------------------


@functools.cache
def is_installed(path: str) -> bool:
    """Whether a file is of an installed package or command, or of tf1sessions, and not of the program."""
    return path.startswith(_OURS) or any(part in path for part in _INSTALLED)


@functools.cache
def is_program(path: str) -> bool:
    """Whether a file is the program's. What ``python -c`` runs is not, as test runners start workers by it."""
    return path != "<string>" and not is_library(path) and not is_installed(path)


Line = tuple[CodeType, int]


class Origin(NamedTuple):
    """Who called, read off the calling thread's stack.

    Attributes:
        line: The program's innermost line; None if only libraries are on the stack.
        through: The innermost line of an installed library that the program called, if it is not TensorFlow's.
        owners: The owners whose methods are between that line and here, the innermost first.
        packages: The installed packages, and TensorFlow, whose code is between that line and here.
        frame: The frame of the line.
    """

    line: Line | None
    through: Line | None
    owners: tuple[Any, ...]
    packages: frozenset[str]
    frame: FrameType | None

    @property
    def place(self) -> str | None:
        if self.line is None:
            return None
        return told(self.line) + (f", through {told(self.through)}" if self.through else "")


def told(line: Line) -> str:
    """``file:line in function``."""
    code, number = line
    return f"{code.co_filename}:{number} in {getattr(code, 'co_qualname', code.co_name)}"


def origin() -> Origin:
    """Whose call our caller serves."""
    frame: FrameType | None = sys._getframe(1)
    through: Line | None = None
    alone: FrameType | None = None  # `python -c`, if nothing else is the program's
    owners: list[Any] = []
    packages: set[str] = set()
    while frame is not None:
        code = frame.f_code
        if is_program(code.co_filename):
            return Origin((code, frame.f_lineno), through, tuple(owners), frozenset(packages), frame)
        if not is_library(code.co_filename):
            if code.co_filename != "<string>":
                through = through or (code, frame.f_lineno)
            elif through is None:
                alone = alone or frame
        name = frame.f_globals.get("__name__", "")
        if is_installed(code.co_filename) and not name.startswith(_TESTING):
            packages.add(name.partition(".")[0])
        if id(code) in _owner_code:
            owners.append(_first_argument(frame))
        frame = frame.f_back
    line = alone and (alone.f_code, alone.f_lineno)
    return Origin(line, None, tuple(owners), frozenset(packages), alone)


def program_line() -> Line | None:
    """The program's innermost line on the calling thread's stack."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_program(frame.f_code.co_filename):
            return frame.f_code, frame.f_lineno
        frame = frame.f_back
    return None


def _first_argument(frame: FrameType) -> Any:
    names = frame.f_locals
    first = names.get(frame.f_code.co_varnames[0])
    if sys.version_info < (3, 13):
        names.clear()  # a copy, which would keep all of them for as long as the function runs
    return first


def _body_is_of_program(frame: FrameType | None) -> bool:
    """Whether the function that the calling thread was started for is the program's, and not a pool's."""
    body = None
    while frame is not None:
        if frame.f_code.co_filename != _THREADING:
            body = frame
        frame = frame.f_back
    return body is not None and is_program(body.f_code.co_filename)


# -- what was made ----------------------------------------------------------------------------------------------------


class Claim(NamedTuple):
    """To whom something belongs that was made.

    Attributes:
        where: The program's line.
        packages: The installed packages by way of which that line has made it.
        owner: The name of the type of the owner that has made it; empty if there is none.
    """

    where: str
    packages: frozenset[str]
    owner: str = ""


class Made(ABC):
    """Something that the program has made. It is not kept alive; a number stands for itself."""

    kind: LeakKind

    def __init__(self, thing: Any, claim: Claim) -> None:
        self.thing: Callable[[], Any] = (lambda: thing) if isinstance(thing, int) else weakref.ref(thing)
        self.claim = claim

    @abstractmethod
    def left(self) -> bool:
        """Whether it is still there."""

    @abstractmethod
    def told(self) -> str:
        """What it is, in words."""

    def _of(self) -> str:
        return f" of a {self.claim.owner}" if self.claim.owner else ""


class _Thread(Made):
    @property
    def kind(self) -> LeakKind:  # type: ignore[override]
        return LeakKind.QUEUE_RUNNER if self.thing() in _coordinated else LeakKind.THREAD

    def left(self) -> bool:
        thread = self.thing()
        return thread is not None and thread.is_alive()

    def told(self) -> str:
        thread = self.thing()
        return f"thread {thread.name!r}{self._of()} still runs, {_whereabouts(thread)}"


class _Body:
    """What a thread runs that ``_thread.start_new_thread`` starts."""

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


class _BareThread(Made):
    kind = LeakKind.THREAD

    def left(self) -> bool:
        body = self.thing()
        return body is not None and not body.ended

    def told(self) -> str:
        where = place_of(current_frames().get(self.thing().ident))
        return f"a thread of _thread.start_new_thread(){self._of()} still runs, at {where}"


class _Popen(Made):
    kind = LeakKind.PROCESS

    def left(self) -> bool:
        process = self.thing()
        return process is not None and process.returncode is None and _runs(process.pid)

    def told(self) -> str:
        process = self.thing()
        return f"process {process.pid}{self._of()} still runs: {_command(process.args)}"


class _Process(Made):
    kind = LeakKind.PROCESS

    def left(self) -> bool:
        process = self.thing()
        try:
            return process is not None and process.is_alive()
        except ValueError:  # it was closed
            return False

    def told(self) -> str:
        process = self.thing()
        return f"process {process.pid}, {process.name!r}{self._of()}, still runs"


class _Fork(Made):
    kind = LeakKind.PROCESS

    def left(self) -> bool:
        return _runs(self.thing())

    def told(self) -> str:
        return f"process {self.thing()}, forked{self._of()}, still runs"


class Memory(Made):
    """A segment that ``SharedMemory(create=True)`` has made, or one that somebody has opened."""

    kind = LeakKind.MEMORY

    def __init__(self, thing: Any, claim: Claim, created: bool) -> None:
        super().__init__(thing, claim)
        self.name: str = thing.name
        self._size = thing.size
        self.created = created

    def _is_linked(self) -> bool:
        return self.created and os.path.exists(os.path.join(SEGMENTS, self.name))

    def _is_mapped(self) -> bool:
        thing = self.thing()
        return thing is not None and thing._mmap is not None

    def left(self) -> bool:
        return self._is_linked() or self._is_mapped()

    def told(self) -> str:
        how = [what for what, is_so in (("unlinked", self._is_linked()), ("closed", self._is_mapped())) if is_so]
        return f"segment {self.name!r} of {self._size} bytes{self._of()} was not {' and not '.join(how)}"


class _Mapping(Made):
    """Memory of ours without a name."""

    kind = LeakKind.MEMORY

    def left(self) -> bool:
        return self.thing() is not None

    def told(self) -> str:
        thing = self.thing()
        return f"{thing.size if thing else '?'} bytes{self._of()} are still in use, by a result that somebody keeps"


def _runs(pid: int) -> bool:
    """Whether a child runs. One that has ended, and nobody has waited for, does not; it can still be waited for.

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


def _whereabouts(thread: threading.Thread) -> str:
    coordinator = sys.modules.get("tf1sessions.pipelines.coordinator")  # knows operations, but needs TensorFlow
    if coordinator is not None:
        return str(coordinator.whereabouts(thread))
    return f"at {place_of(current_frames().get(thread.ident or 0))}"


#: Threads of queue runners, and others that a Coordinator joins.
_coordinated: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


# -- who looks on -----------------------------------------------------------------------------------------------------


class Notes:
    """What was made while somebody looked on, in the order of its making. Safe to use from any thread.

    Attributes:
        made: All of it.
    """

    def __init__(self) -> None:
        self.made: list[Made] = []
        self._owner_types = tuple(_owner_types)  # those that are noted from their beginning
        self._owners: weakref.WeakKeyDictionary[Any, Claim] = weakref.WeakKeyDictionary()
        self._threads: weakref.WeakKeyDictionary[threading.Thread, Claim] = weakref.WeakKeyDictionary()
        self._home = (threading.get_ident(), threading.main_thread().ident)
        self._aside: list[int] = []

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """What the calling thread makes in this block is not noted, nor what such threads make."""
        ident = threading.get_ident()
        self._aside.append(ident)
        try:
            yield
        finally:
            self._aside.remove(ident)

    def take(self, found: Origin, make: Callable[[Claim], Made]) -> None:
        """Notes what ``make()`` gives, if it is the program's."""
        claim = self._claim(found)
        if claim is not None:
            self.made.append(made := make(claim))
            if isinstance(made, _Thread):
                self._threads[made.thing()] = claim

    def own(self, found: Origin, owner: Any) -> None:
        """Notes that an owner is made, which is new, therefore."""
        claim = self._claim(found._replace(owners=tuple(each for each in found.owners if each is not owner)))
        if claim is not None:
            self._owners.setdefault(owner, claim._replace(owner=type(owner).__name__))

    def _claim(self, found: Origin) -> Claim | None:
        """Whose something is that was made; None if it is not to be noted."""
        ident = threading.get_ident()
        if ident in self._aside:
            return None
        for owner in found.owners:
            claim = self._owners.get(owner)
            if claim is not None:
                return claim
            if isinstance(owner, self._owner_types):
                return None
        claim = None if found.place is None else Claim(found.place, found.packages)
        if ident not in self._home:
            thread = threading._active.get(ident)  # type: ignore[attr-defined]  # current_thread() may make one
            if thread in self._threads:
                return claim or self._threads[thread]
            if found.frame is None or _body_is_of_program(found.frame):
                return None
        return claim


_local = threading.local()


def take(make: Callable[[Claim], Made]) -> None:
    """Notes something with all who look on."""
    if makers.now and getattr(_local, "inside", 0) != os.getpid():
        makers.catch_up()
        found = origin()
        for notes in makers.now:
            notes.take(found, make)


@contextlib.contextmanager
def _as_one() -> Iterator[None]:
    """What is made by what this block makes is not noted by itself."""
    before, _local.inside = getattr(_local, "inside", 0), os.getpid()  # not in a child that is forked here
    try:
        yield
    finally:
        _local.inside = before


# -- the makers -------------------------------------------------------------------------------------------------------


def _threads(_: Any) -> Iterator[Patch]:
    start, start_new_thread = threading.Thread.start, _thread.start_new_thread

    def start_noted(self: Any) -> None:
        take(functools.partial(_Thread, self))
        start(self)

    def start_new_noted(function: Any, *args: Any) -> Any:
        if not callable(function):
            return start_new_thread(function, *args)  # which says so
        body = _Body(function)
        take(functools.partial(_BareThread, body))
        return start_new_thread(body, *args)

    yield threading.Thread, "start", start_noted
    yield _thread, "start_new_thread", start_new_noted


def _processes(_: Any) -> Iterator[Patch]:
    def noted(original: Any, kind: Callable[..., Made]) -> Any:
        def make(self: Any, *args: Any, **named: Any) -> None:
            with _as_one():
                original(self, *args, **named)
            take(functools.partial(kind, self))

        return make

    yield subprocess.Popen, "__init__", noted(subprocess.Popen.__init__, _Popen)
    yield BaseProcess, "start", noted(BaseProcess.start, _Process)
    for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            yield os, name, _noted_fork(getattr(os, name))


def _noted_fork(original: Any) -> Any:
    def make(*args: Any, **named: Any) -> Any:
        result = original(*args, **named)
        pid = result[0] if isinstance(result, tuple) else result
        if pid:
            take(functools.partial(_Fork, pid))
        return result

    return make


def _memory(_: Any) -> Iterator[Patch]:
    original = shared_memory.SharedMemory.__init__

    def make(self: Any, name: Any = None, create: bool = False, *args: Any, **named: Any) -> None:
        original(self, name, create, *args, **named)
        take(functools.partial(Memory, self, created=create))

    yield shared_memory.SharedMemory, "__init__", make


def _own_memory(segments: Any) -> Iterator[Patch]:
    original = segments.Mapping.__init__

    def make(self: Any, *args: Any, **named: Any) -> None:
        original(self, *args, **named)
        take(functools.partial(_Mapping, self))

    yield segments.Mapping, "__init__", make


def _coordinators(coordinator: Any) -> Iterator[Patch]:
    original = coordinator.Coordinator.register_thread

    def register(self: Any, thread: Any) -> None:
        _coordinated.add(thread)
        original(self, thread)

    yield coordinator.Coordinator, "register_thread", register


def _queue_runners(runners: Any) -> Iterator[Patch]:
    original = runners.QueueRunner.create_threads

    def create(self: Any, *args: Any, **named: Any) -> Any:
        threads = original(self, *args, **named)
        _coordinated.update(threads)
        return threads

    yield runners.QueueRunner, "create_threads", create


_OWNERS: dict[str, str] = {
    thread_executors.__name__: "ThreadPoolExecutor",
    process_executors.__name__: "ProcessPoolExecutor",
    pools.__name__: "Pool",
    managers.__name__: "BaseManager",
    queues.__name__: "Queue",
    "asyncio.base_events": "BaseEventLoop",
    "tensorflow.python.training.monitored_session": "_MonitoredSession",
    "tf1sessions.sessions.watchdog": "Watchdog",
    "tf1sessions.sessions.session": "GraphSession",
    "tf1sessions.models.model": "Model",
    "tf1sessions.pools.threads": "ThreadSessionPool",
    "tf1sessions.pools.processes": "ProcessSessionPool",
    "tf1sessions.pools.fork_server": "WorkerServer",
    "tf1sessions.pipelines.batching": "Batcher",
    "tf1sessions.pipelines.work": "WorkQueue",
    "tf1sessions.pipelines.pipeline": "QueuePipeline",
}
_owner_types: list[type] = []
_owner_code: dict[int, CodeType] = {}  # by identity: to hash one takes longer than all else here


def _owners(name: str, module: Any) -> Iterator[Patch]:
    owner = getattr(module, name)
    if owner not in _owner_types:
        methods = (each for kind in owner.__mro__ for each in vars(kind).values())
        code = (each.__code__ for each in methods if hasattr(each, "__code__"))
        _owner_code.update((id(each), each) for each in code if each.co_argcount)
        _owner_types.append(owner)
    yield owner, "__init__", _noted_owner(owner.__init__)


def _noted_owner(original: Any) -> Any:
    def make(self: Any, *args: Any, **named: Any) -> None:
        if makers.now:
            found = origin()
            for notes in makers.now:
                notes.own(found, self)
        original(self, *args, **named)

    return make


_LATE: list[Late] = [
    ("threading", _threads),
    ("subprocess", _processes),
    ("multiprocessing.shared_memory", _memory),
    ("tf1sessions.pools.segments", _own_memory),
    ("tensorflow.python.training.coordinator", _coordinators),
    ("tensorflow.python.training.queue_runner_impl", _queue_runners),
    *((name, functools.partial(_owners, owner)) for name, owner in _OWNERS.items()),
]

#: Who looks on.
makers: Observers[Notes] = Observers(_LATE)
