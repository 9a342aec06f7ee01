"""Watches what makes threads, processes and shared memory, and logs what is to be gone at the end.

Data flow::

    Thread.start, Popen, Process.start, os.fork, SharedMemory, ... ──▶ leak_origins.py: whose call is it?
                                                     └──▶ log() ──▶ CreationLog of each LeakWatch ──▶ LeakCandidate
    ThreadPoolExecutor, Pool, QueuePipeline, ... are owners: what they start, at any time, was made where they were

Not logged is what nothing of the program asked for, the threads of a test runner for one; what an owner starts that is
older than the log; and what a thread of the program does that is older, such as a server's. Threads that libraries
start in C are not Python's, and are not seen at all.

Locks: none; a log is a list to which threads append, and weak dictionaries that they add to.
"""

from __future__ import annotations

import _thread
import contextlib
import functools
import os
import subprocess
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import process as process_executors
from concurrent.futures import thread as thread_executors
from multiprocessing import managers, queues, shared_memory
from multiprocessing import pool as pools
from multiprocessing.process import BaseProcess
from typing import Any

from tf1sessions.testing.leak_candidates import (
    BareThread,
    Creator,
    Fork,
    LeakCandidate,
    NamedSegment,
    PoolMemory,
    PythonProcess,
    PythonThread,
    Subprocess,
    ThreadBody,
    coordinated,
)
from tf1sessions.testing.leak_origins import Origin, body_is_of_program, origin, owner_types, register_owner
from tf1sessions.testing.patching import LatePatch, Observers, Patch, hooked

__all__ = ["CreationLog", "creation_logs", "log"]


class CreationLog:
    """Log of all that was made since it was opened, in the order of its making. Safe to use from any thread."""

    def __init__(self) -> None:
        self.made: list[LeakCandidate] = []  # all of it
        self._owner_types = tuple(owner_types)  # those that are known from their beginning
        self._owners: weakref.WeakKeyDictionary[Any, Creator] = weakref.WeakKeyDictionary()
        self._threads: weakref.WeakKeyDictionary[threading.Thread, Creator] = weakref.WeakKeyDictionary()
        self._home = (threading.get_ident(), threading.main_thread().ident)
        self._aside: list[int] = []

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Leave out what the calling thread makes in this block, and what such threads make."""
        ident = threading.get_ident()
        self._aside.append(ident)
        try:
            yield
        finally:
            self._aside.remove(ident)

    def add(self, found: Origin, make: Callable[[Creator], LeakCandidate]) -> None:
        """Add what ``make()`` gives, if it is the program's."""
        creator = self._creator(found)
        if creator is not None:
            self.made.append(made := make(creator))
            if isinstance(made, PythonThread):
                self._threads[made.thing()] = creator

    def add_owner(self, found: Origin, owner: Any) -> None:
        """Note that an owner is made, which is new, therefore."""
        creator = self._creator(found._replace(owners=tuple(each for each in found.owners if each is not owner)))
        if creator is not None:
            self._owners.setdefault(owner, creator._replace(owner=type(owner).__name__))

    def _creator(self, found: Origin) -> Creator | None:
        """Return whose something is that was made; None if it is not to be logged."""
        ident = threading.get_ident()
        if ident in self._aside:
            return None
        for owner in found.owners:
            creator = self._owners.get(owner)
            if creator is not None:
                return creator
            if isinstance(owner, self._owner_types):
                return None
        creator = None if found.place is None else Creator(found.place, found.packages)
        if ident not in self._home:
            thread = threading._active.get(ident)  # type: ignore[attr-defined]  # current_thread() may make one
            if thread in self._threads:
                return creator or self._threads[thread]
            if found.frame is None or body_is_of_program(found.frame):
                return None
        return creator


_local = threading.local()


def log(make: Callable[[Creator], LeakCandidate]) -> None:
    """Add what was made to all logs."""
    if creation_logs.now and getattr(_local, "inside", 0) != os.getpid():
        creation_logs.catch_up()
        found = origin()
        for each in creation_logs.now:
            each.add(found, make)


@contextlib.contextmanager
def _as_one() -> Iterator[None]:
    """Leave out what is made by what this block makes."""
    before, _local.inside = getattr(_local, "inside", 0), os.getpid()  # not in a child that is forked here
    try:
        yield
    finally:
        _local.inside = before


# -- what makes them --------------------------------------------------------------------------------------------------


def _threads(_: Any) -> Iterator[Patch]:
    start_new_thread = _thread.start_new_thread

    def start_new_logged(function: Any, *args: Any) -> Any:
        if not callable(function):
            return start_new_thread(function, *args)  # which says so
        body = ThreadBody(function)
        log(functools.partial(BareThread, body))
        return start_new_thread(body, *args)

    yield hooked(threading.Thread, "start", before=lambda self: log(functools.partial(PythonThread, self)))
    yield _thread, "start_new_thread", start_new_logged


def _processes(_: Any) -> Iterator[Patch]:
    def logged(original: Any, kind: Callable[..., LeakCandidate]) -> Any:
        def make(self: Any, *args: Any, **named: Any) -> None:
            with _as_one():
                original(self, *args, **named)
            log(functools.partial(kind, self))

        return make

    yield subprocess.Popen, "__init__", logged(subprocess.Popen.__init__, Subprocess)
    yield BaseProcess, "start", logged(BaseProcess.start, PythonProcess)
    for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            yield os, name, _logged_fork(getattr(os, name))


def _logged_fork(original: Any) -> Any:
    def make(*args: Any, **named: Any) -> Any:
        result = original(*args, **named)
        pid = result[0] if isinstance(result, tuple) else result
        if pid:
            log(functools.partial(Fork, pid))
        return result

    return make


def _memory(_: Any) -> Iterator[Patch]:
    original = shared_memory.SharedMemory.__init__

    def make(self: Any, name: Any = None, create: bool = False, *args: Any, **named: Any) -> None:
        original(self, name, create, *args, **named)
        log(functools.partial(NamedSegment, self, created=create))

    yield shared_memory.SharedMemory, "__init__", make


def _own_memory(segments: Any) -> Iterator[Patch]:
    yield hooked(segments.Mapping, "__init__", after=lambda self, _: log(functools.partial(PoolMemory, self)))


def _coordinators(coordinator: Any) -> Iterator[Patch]:
    original = coordinator.Coordinator.register_thread

    def register(self: Any, thread: Any) -> None:
        coordinated.add(thread)
        original(self, thread)

    yield coordinator.Coordinator, "register_thread", register


def _queue_runners(runners: Any) -> Iterator[Patch]:
    yield hooked(runners.QueueRunner, "create_threads", after=lambda self, threads: coordinated.update(threads))


#: Module -> the class in it whose objects are owners.
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


def _owners(name: str, module: Any) -> Iterator[Patch]:
    owner = getattr(module, name)
    register_owner(owner)
    yield hooked(owner, "__init__", before=_log_owner)


def _log_owner(owner: Any) -> None:
    if creation_logs.now:
        found = origin()
        for each in creation_logs.now:
            each.add_owner(found, owner)


_LATE: list[LatePatch] = [
    ("threading", _threads),
    ("subprocess", _processes),
    ("multiprocessing.shared_memory", _memory),
    ("tf1sessions.pools.segments", _own_memory),
    ("tensorflow.python.training.coordinator", _coordinators),
    ("tensorflow.python.training.queue_runner_impl", _queue_runners),
    *((name, functools.partial(_owners, owner)) for name, owner in _OWNERS.items()),
]

#: The logs of all watches that are open.
creation_logs: Observers[CreationLog] = Observers(_LATE)
