"""Means by which threads may wait for each other, and of which nobody can see whether they did.

::

    multiprocessing's events, semaphores, queues and pipes, os.pipe, socketpair, select ──▶ order.perhaps_tell, _hear
    loops that sleep until something has changed (polling.py)                             ──▶ Order.perhaps_received_all

Whether another process set an event, or who wrote what a thread reads from a pipe, is not told to this one; what a loop
waits for is anybody's guess. So what such means may order is neither ordered nor a hazard, but of a kind of its own. A
connection over the network orders nothing: the next request may come at any time.

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
from tf1sessions.testing.order import orders, perhaps_hear, perhaps_tell
from tf1sessions.testing.patching import Patch
from tf1sessions.testing.polling import waiting_loop

__all__ = ["patches"]


class _Channel:
    """What one end gives and the other gets."""

    def __init__(self, told: str) -> None:
        self.told = told


#: Sockets and connections by object; pipes by device and inode, which are theirs as long as they are open.
_ends: weakref.WeakKeyDictionary[Any, _Channel] = weakref.WeakKeyDictionary()
_pipes: dict[tuple[int, int], _Channel] = {}


def patches() -> Iterator[Patch]:
    """What is to be put in place."""
    for each in (_pipe_functions, _sockets, _selects, _sleeps, _processes):
        yield from each()


def _gives(channel: _Channel | None) -> None:
    if channel is not None:
        perhaps_tell(channel)


def _channel(thing: Any, told: str) -> _Channel:
    """That of an object by which several give and several get."""
    found = _ends.get(thing)
    return found if found is not None else _ends.setdefault(thing, _Channel(told))


def _giving(method: Any, told: str = "") -> Any:
    def give(self: Any, *args: Any, **named: Any) -> Any:
        _gives(_channel(self, told) if told else _ends.get(self))
        return method(self, *args, **named)

    return give


def _getting(method: Any) -> Any:
    def get(self: Any, *args: Any, **named: Any) -> Any:
        got = method(self, *args, **named)
        if got is not False:  # as of an event that did not come
            _gets(_ends.get(self))
        return got

    return get


def _gets(channel: _Channel | None) -> None:
    if channel is not None:
        perhaps_hear(channel, channel.told)


# -- pipes and sockets ------------------------------------------------------------------------------------------------


def _pipe(fd: Any) -> _Channel | None:
    if not orders() or not isinstance(fd, int):
        return None
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    if not stat.S_ISFIFO(found.st_mode):
        return None
    return _pipes.setdefault((found.st_dev, found.st_ino), _Channel("a pipe"))


def _pipe_functions() -> Iterator[Patch]:
    read, write = os.read, os.write

    def new_read(fd: int, length: int, /) -> bytes:
        got = read(fd, length)
        _gets(_pipe(fd))
        return got

    def new_write(fd: int, data: Any, /) -> int:
        _gives(_pipe(fd))
        return write(fd, data)

    yield os, "read", new_read
    yield os, "write", new_write


def _sockets() -> Iterator[Patch]:
    pair, kind = socket.socketpair, socket.socket

    def new_pair(*args: Any, **named: Any) -> tuple[socket.socket, socket.socket]:
        ends = pair(*args, **named)
        if not asked_by_library():
            channel = _Channel("a pair of sockets")
            for end in ends:
                _ends[end] = channel
        return ends

    yield socket, "socketpair", new_pair
    for name in ("send", "sendall", "sendmsg"):
        yield kind, name, _giving(getattr(kind, name))
    for name in ("recv", "recv_into", "recvmsg"):
        yield kind, name, _getting(getattr(kind, name))


def _ready(things: Iterable[Any]) -> None:
    for thing in things:
        _gets(_ends.get(thing) if isinstance(thing, socket.socket) else _pipe(thing))


def _selects() -> Iterator[Patch]:
    look = select.select

    def new_select(*args: Any) -> Any:
        found = look(*args)
        _ready(found[0])
        return found

    def looking(method: Any) -> Any:
        def select_(self: Any, timeout: float | None = None) -> Any:
            found = method(self, timeout)
            _ready(key.fileobj for key, events in found if events & selectors.EVENT_READ)
            return found

        return select_

    yield select, "select", new_select
    for kind in vars(selectors).values():
        if isinstance(kind, type) and issubclass(kind, selectors.BaseSelector) and "select" in vars(kind):
            yield kind, "select", looking(kind.select)


# -- loops ------------------------------------------------------------------------------------------------------------


def _sleeps() -> Iterator[Patch]:
    sleep = time.sleep

    def new_sleep(seconds: float, /) -> None:
        sleep(seconds)
        if orders():
            frame = sys._getframe(1)
            if not is_library(frame.f_code.co_filename):
                loop = waiting_loop(frame.f_code, frame.f_lineno)
                for order in orders() if loop else ():
                    order.member().waited = loop

    yield time, "sleep", new_sleep


# -- multiprocessing --------------------------------------------------------------------------------------------------


def _processes() -> Iterator[Patch]:
    """Its locks are not here: they know which thread holds them, see locks.py."""
    connection, queues = _module("connection"), _module("queues")
    if connection is not None:
        pipe, kind = connection.Pipe, connection.Connection

        def new_pipe(duplex: bool = True) -> Any:
            ends = pipe(duplex)
            channel = _Channel("a pipe of multiprocessing")
            for end in ends:
                _ends[end] = channel
            return ends

        yield connection, "Pipe", new_pipe
        yield kind, "_send_bytes", _giving(kind._send_bytes)
        yield kind, "_recv_bytes", _getting(kind._recv_bytes)
    if queues is not None:
        for kind in (queues.Queue, queues.JoinableQueue, queues.SimpleQueue):
            if "put" in vars(kind):
                yield kind, "put", _giving(kind.put, "a queue of multiprocessing")
            if "get" in vars(kind):
                yield kind, "get", _getting(kind.get)
    synchronize = _module("synchronize")
    if synchronize is not None:
        event, semaphore = synchronize.Event, synchronize.Semaphore
        make = semaphore._make_methods

        def new_make(self: Any) -> None:
            make(self)
            acquire, release = self.acquire, self.release

            def new_acquire(*args: Any, **named: Any) -> Any:
                got = acquire(*args, **named)
                if got:
                    _gets(_ends.get(self))
                return got

            def new_release() -> None:
                _gives(_channel(self, "a semaphore of multiprocessing"))
                release()

            self.acquire, self.release = new_acquire, new_release

        yield semaphore, "_make_methods", new_make
        yield event, "set", _giving(event.set, "an event of multiprocessing")
        for name in ("is_set", "wait"):
            yield event, name, _getting(getattr(event, name))


def _module(name: str) -> Any:
    try:
        return importlib.import_module(f"multiprocessing.{name}")
    except ImportError:  # this system has no semaphores
        return None
