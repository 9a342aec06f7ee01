"""Threads of which none can go on: a thread looks for them ten times a second, and lets one of them give up.

Data flow::

    looking() ──▶ its thread ── waits() of all threads (waits.py) ──▶ stuck(): the wait-for graph ──▶ a circle
                     └── two looks, or more, that find the same ──▶ deadlocks.name_circle() ──▶ one of them is woken

Waits are edges to the threads of which one has to go on: the holder of a lock, a thread that is joined, the worker that
runs a job. For an item of a queue, a notification or an event any thread may come, so such a wait is hopeless only when
no thread is left that does something else. A thread that waits with a time-out, for a socket or in C does so, and so
does a signal handler of the program. So nothing is called a deadlock that might still go on; what is in TensorFlow
counts as a wait only if nothing but queues can keep it there and no thread of the process computes.

Thread-safety: all functions may be called from any thread.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Thread, main_thread
from threading import enumerate as all_threads
from types import FrameType

from tf1sessions.sessions.stacks import current_frames
from tf1sessions.testing.deadlocks import Waiter, announce, is_named, name_circle, unname
from tf1sessions.testing.locks import WatchedLock
from tf1sessions.testing.waits import Wait, has_signal_handler, is_tool, waits

__all__ = ["looking", "of_program", "stuck"]

#: Seconds between two looks; how many more have to find the same, and how many where TensorFlow may compute instead;
#: how many a thread has to give up. Arbitrary.
_LOOK_SECS = 0.1
_LOOKS, _LOOKS_IN_RUNS, _LOOKS_TO_GIVE_UP = 1, 5, 20

#: How the names of threads of this package begin.
_OURS = "tf1sessions-"
_TASKS = Path("/proc/self/task")

_guard = _thread.allocate_lock()  # for the two below
_open = 0
_stop = _thread.allocate_lock()


@contextlib.contextmanager
def looking(free: Callable[[list[int]], object]) -> Iterator[None]:
    """Look for threads of which none can go on while this lasts.

    Args:
        free: Ends the runs of sessions that threads wait in.
    """
    global _open, _stop
    with _guard:
        _open += 1
        if _open == 1:
            _stop = _thread.allocate_lock()
            _stop.acquire()
            _thread.start_new_thread(_look_on, (_stop, free))  # not one of threading's, which the program may count
    try:
        yield
    finally:
        with _guard:
            _open -= 1
            if not _open:
                _stop.release()


def stuck(found: Mapping[int, Wait | None]) -> dict[int, Wait]:
    """Return the threads of which none can go on, whatever the others do; workers without work among them.

    Args:
        found: What each thread waits for; None where it goes on.
    """
    left = {ident: wait for ident, wait in found.items() if wait is not None}
    while left:
        all_wait = len(left) == len(found)
        go_on = [
            ident
            for ident, wait in left.items()
            if (not all_wait if wait.holders is None else any(each not in left for each in wait.holders))
        ]
        if not go_on:
            break
        for ident in go_on:
            del left[ident]
    return left if any(not wait.is_idle for wait in left.values()) else {}


def of_program(frames: Mapping[int, FrameType]) -> dict[int, FrameType]:
    """Leave out the calling thread, those of this package and of tools around a test."""
    threads = {thread.ident: thread for thread in all_threads()}
    left: dict[int, FrameType] = {}
    for ident, frame in frames.items():
        thread = threads.get(ident)
        is_ours = ident == _thread.get_ident() or (thread is not None and thread.name.startswith(_OURS))
        if not is_ours and not is_tool(thread, frame):
            left[ident] = frame
    return left


def _look_on(stop: _thread.LockType, free: Callable[[list[int]], object]) -> None:
    before: dict[int, Wait] = {}
    reported: dict[int, Wait] = {}  # what stays as it is, as no thread could be made to give up
    looks = 0
    while not stop.acquire(True, _LOOK_SECS):
        now = stuck(_found())
        looks, before = looks + 1 if _are_same(now, before) else 0, now
        in_run = any(wait.in_run for wait in now.values())
        if not now or _are_same(now, reported) or looks < (_LOOKS_IN_RUNS if in_run else _LOOKS):
            continue
        if _sleeps(None if in_run else list(now)):
            reported = now if not _end(now, stop, free) else {}
            before = {}


def _are_same(found: Mapping[int, Wait], before: Mapping[int, Wait]) -> bool:
    return found.keys() == before.keys() and all(found[ident].is_same(before[ident]) for ident in found)


def _found() -> dict[int, Wait | None]:
    """Return what each thread of the program waits for."""
    if threading._limbo:  # type: ignore[attr-defined]
        return {}  # one is about to begin
    main = main_thread().ident
    found = waits(of_program(current_frames()))
    wait = found.get(main or 0)
    if wait is not None and wait.holders is None and has_signal_handler():
        found[main or 0] = None
    return found


def _sleeps(threads: list[int] | None) -> bool:
    """Say whether threads, by ``ident``, or all of the process, neither run nor are about to; False if not known."""
    if not sys.platform.startswith("linux"):
        return threads is not None
    me = _thread.get_native_id()
    if threads is None:
        native = [int(path.name) for path in _TASKS.iterdir() if int(path.name) != me]
    else:
        native = [_native_id(thread) for thread in all_threads() if thread.ident in threads]
    with contextlib.suppress(OSError, IndexError):
        return all((_TASKS / str(each) / "stat").read_text().rpartition(")")[2].split()[0] == "S" for each in native)
    return False


def _native_id(thread: Thread) -> int:
    """Return the number that Linux has for a thread; in a fork Python gives the main thread that of its parent's."""
    return os.getpid() if thread is main_thread() else thread.native_id or 0


def _end(found: dict[int, Wait], stop: _thread.LockType, free: Callable[[list[int]], object]) -> bool:
    """Let one of the threads give up, and wait until it has; says whether. If not, report them in its place."""
    circle = _circle(found)
    first = circle[0].ident
    wait = found[first]
    name_circle(circle)
    if wait.by is not None:
        with contextlib.suppress(RuntimeError):  # it has been notified just now
            wait.by.release()
    elif wait.in_run:
        free([first])
    for _ in range(_LOOKS_TO_GIVE_UP):
        if stop.acquire(True, _LOOK_SECS):
            stop.release()
            break
        if not is_named(first):
            return True
    if not unname(first):
        return True
    if wait.is_same(waits(current_frames()).get(first)):
        announce(circle)
    return False


def _circle(found: Mapping[int, Wait]) -> list[Waiter]:
    """Return threads that wait for each other, of one circle or else all; the one that is to give up comes first."""
    idents = _closed(found) or [ident for ident, wait in found.items() if not wait.is_idle]
    order = [thread.ident for thread in all_threads()]
    main = main_thread().ident

    def gives_up_late(ident: int) -> tuple[bool, bool, bool, int]:
        wait, known = found[ident], ident in order
        waits_for_thread = isinstance(wait.thing, Thread)
        return waits_for_thread, ident == main, wait.in_run, order.index(ident) if known else len(order)

    first = min(idents, key=gives_up_late)
    number = idents.index(first)
    idents = [*idents[number:], *idents[:number]]
    wanted = [found[ident].thing for ident in idents]
    return [Waiter(ident, found[ident].what, _held(ident, wanted), found[ident].frame) for ident in idents]


def _held(ident: int, wanted: list[object]) -> object:
    """Return the lock that a thread holds and another one waits for, if there is one."""
    return next((each for each in wanted if isinstance(each, WatchedLock) and each.owner == ident), None)


def _closed(found: Mapping[int, Wait]) -> list[int]:
    """Return a circle of threads each of which waits for the next one alone; empty if there is none."""
    for start in found:
        path: list[int] = []
        ident: int | None = start
        while ident is not None and ident not in path:
            path.append(ident)
            holders = found[ident].holders
            ident = next(iter(holders)) if holders is not None and len(holders) == 1 else None
        if ident is not None:
            return path[path.index(ident) :]
    return []
