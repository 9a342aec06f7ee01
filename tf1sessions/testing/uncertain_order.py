"""Means by which threads possibly wait for each other, and of which it cannot be seen whether they did.

Data flow::

    multiprocessing's events, semaphores, queues and pipes, os.pipe, socketpair, select
                                     ── release(channel), may_acquire(channel, means) ──▶ vector_clocks.py
    loops that sleep until something has changed (polling.py) ──▶ ThreadState.sleep_loop ──▶ may_acquire_all(loop)

Whether another process set an event, or which one wrote what a thread reads from a pipe, is not known to this one; what
a loop waits for can only be guessed. So what such means may order is neither ordered nor a hazard, but of a kind of its
own. A connection over the network orders nothing: the next request may come at any time.

Thread-safety: may be called from any thread, several times at once.
"""

from __future__ import annotations

import importlib
import os
import select
import selectors
import socket
import stat
import sys
import time
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from tf1sessions.testing.frames import asked_by_library, is_library
from tf1sessions.testing.patching import Patch, hooked
from tf1sessions.testing.polling import waiting_loop
from tf1sessions.testing.vector_clocks import active, may_acquire, release

__all__ = ["patches"]


class _UncertainToken:
    """Token that one end releases and the other possibly acquires, with a name for reports."""

    def __init__(self, name: str) -> None:
        self.name = name


#: Sockets and connections by object; pipes by device and inode, which are theirs as long as they are open.
_channels: weakref.WeakKeyDictionary[Any, _UncertainToken] = weakref.WeakKeyDictionary()
_pipes: dict[tuple[int, int], _UncertainToken] = {}


def patches() -> Iterator[Patch]:
    """Yield the hooks of all such means."""
    for each in (_pipe_functions, _sockets, _selects, _sleeps, _process_connections, _process_signals):
        yield from each()


def _release(channel: _UncertainToken | None) -> None:
    if channel is not None:
        release(channel)


def _may_acquire(channel: _UncertainToken | None) -> None:
    if channel is not None:
        may_acquire(channel, channel.name)


def _connect(name: str, ends: Iterable[Any]) -> None:
    channel = _UncertainToken(name)
    for end in ends:
        _channels[end] = channel


def _sends(kind: Any, method: str, name: str = "") -> Patch:
    """Hook a method by which an object sends; one that has no other end is named, and is a channel by itself."""

    def before(self: Any) -> None:
        _release(_channels.setdefault(self, _UncertainToken(name)) if name else _channels.get(self))

    return hooked(kind, method, before=before)


def _receives(kind: Any, method: str) -> Patch:
    """Hook a method by which an object receives, unless it returns False, as of an event that did not come."""

    def after(self: Any, result: Any) -> None:
        if result is not False:
            _may_acquire(_channels.get(self))

    return hooked(kind, method, after=after)


# -- pipes and sockets ------------------------------------------------------------------------------------------------


def _pipe(fd: Any) -> _UncertainToken | None:
    if not active() or not isinstance(fd, int):
        return None
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    if not stat.S_ISFIFO(found.st_mode):
        return None
    return _pipes.setdefault((found.st_dev, found.st_ino), _UncertainToken("a pipe"))


def _pipe_functions() -> Iterator[Patch]:
    read, write = os.read, os.write

    def new_read(fd: int, length: int, /) -> bytes:
        got = read(fd, length)
        _may_acquire(_pipe(fd))
        return got

    def new_write(fd: int, data: Any, /) -> int:
        _release(_pipe(fd))
        return write(fd, data)

    yield os, "read", new_read
    yield os, "write", new_write


def _sockets() -> Iterator[Patch]:
    pair = socket.socketpair

    def new_pair(*args: Any, **named: Any) -> tuple[socket.socket, socket.socket]:
        ends = pair(*args, **named)
        if not asked_by_library():
            _connect("a pair of sockets", ends)
        return ends

    yield socket, "socketpair", new_pair
    for name in ("send", "sendall", "sendmsg"):
        yield _sends(socket.socket, name)
    for name in ("recv", "recv_into", "recvmsg"):
        yield _receives(socket.socket, name)


def _ready(things: Iterable[Any]) -> None:
    for thing in things:
        _may_acquire(_channels.get(thing) if isinstance(thing, socket.socket) else _pipe(thing))


def _selects() -> Iterator[Patch]:
    look = select.select

    def new_select(*args: Any) -> Any:
        found = look(*args)
        _ready(found[0])
        return found

    def after(self: Any, found: Any) -> None:
        _ready(key.fileobj for key, events in found if events & selectors.EVENT_READ)

    yield select, "select", new_select
    for kind in vars(selectors).values():
        if isinstance(kind, type) and issubclass(kind, selectors.BaseSelector) and "select" in vars(kind):
            yield hooked(kind, "select", after=after)


# -- loops ------------------------------------------------------------------------------------------------------------


def _sleeps() -> Iterator[Patch]:
    sleep = time.sleep

    def new_sleep(seconds: float, /) -> None:
        sleep(seconds)
        frame = sys._getframe(1)
        if active() and not is_library(frame.f_code.co_filename):
            loop = waiting_loop(frame.f_code, frame.f_lineno)
            for clocks in active() if loop else ():
                clocks.thread().sleep_loop = loop

    yield time, "sleep", new_sleep


# -- multiprocessing: its locks know which thread holds them, see locks.py --------------------------------------------


def _process_connections() -> Iterator[Patch]:
    connection, queues = _module("connection"), _module("queues")
    if connection is not None:
        pipe, kind = connection.Pipe, connection.Connection

        def new_pipe(duplex: bool = True) -> Any:
            ends = pipe(duplex)
            _connect("a pipe of multiprocessing", ends)
            return ends

        yield connection, "Pipe", new_pipe
        yield _sends(kind, "_send_bytes")
        yield _receives(kind, "_recv_bytes")
    for kind in (queues.Queue, queues.JoinableQueue, queues.SimpleQueue) if queues is not None else ():
        if "put" in vars(kind):
            yield _sends(kind, "put", "a queue of multiprocessing")
        if "get" in vars(kind):
            yield _receives(kind, "get")


def _process_signals() -> Iterator[Patch]:
    synchronize = _module("synchronize")
    if synchronize is None:
        return

    def after_make(self: Any, _: object) -> None:
        acquire, release_ = self.acquire, self.release

        def new_acquire(*args: Any, **named: Any) -> Any:
            got = acquire(*args, **named)
            if got:
                _may_acquire(_channels.get(self))
            return got

        def new_release() -> None:
            _release(_channels.setdefault(self, _UncertainToken("a semaphore of multiprocessing")))
            release_()

        self.acquire, self.release = new_acquire, new_release

    yield hooked(synchronize.Semaphore, "_make_methods", after=after_make)
    yield _sends(synchronize.Event, "set", "an event of multiprocessing")
    for name in ("is_set", "wait"):
        yield _receives(synchronize.Event, name)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(f"multiprocessing.{name}")
    except ImportError:  # this system has no semaphores
        return None
