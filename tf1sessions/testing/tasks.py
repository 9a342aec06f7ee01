"""The tasks of an order: threads that stop before each use of a primitive, and what they do between two stops.

:func:`pause`, :func:`born` and :func:`quietly` are for code that need not know the scheduler; in a thread that is no
task they do nothing, but for the names of what an order begins with, which :func:`preparing` makes.
"""

from __future__ import annotations

import _thread
import contextlib
import itertools
import os
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from tf1sessions.testing.locks import make_raw_lock

__all__ = ["PLAIN", "TRIES", "Task", "TaskStep", "born", "current_task", "new_name", "pause", "preparing", "quietly"]

#: The name of whatever a program's plain variables are; see :class:`TaskStep`.
PLAIN = "plain variables"
#: With a lock's name, what a step reads that does one or another thing, as the lock is held or not.
TRIES = "tries"

_get_ident = _thread.get_ident


class TaskStep:
    """Step of a task: what it did between two stops.

    Attributes:
        task: Its name.
        ready: Those that could have gone instead, with it.
        running: The one that made the step before, if it could have gone on.
        what: What it began with.
        place: Where; empty if that was not asked for.
        touched: What it used: the name of each thing, and whether it may have changed it.
    """

    __slots__ = ("place", "ready", "running", "task", "touched", "what")

    def __init__(self, task: str, ready: tuple[str, ...], running: str | None, what: str, place: str) -> None:
        self.task = task
        self.ready = ready
        self.running = running
        self.what = what
        self.place = place
        self.touched: dict[Hashable, bool] = {}

    def touch(self, thing: Hashable, writes: bool = True) -> None:
        """Note that it uses a thing."""
        self.touched[thing] = writes or self.touched.get(thing, False)

    @property
    def is_preemption(self) -> bool:
        """Whether another task could have gone on with what it was at."""
        return self.running is not None and self.running != self.task


class Task:
    """A thread under the scheduler. All but ``made``, ``quiet`` and ``may_wait`` is guarded by the scheduler.

    Attributes:
        scheduler: Its :class:`~tf1sessions.testing.scheduler.Scheduler`.
        name: A, B, ... in the order in which they were made.
        thread: Python's object for it, if it has one.
        is_daemon: Whether no thread waits for its end.
        ended: Whether it has.
        what: What it is about to do, or waits for.
        step: The step that it makes, or made last.
        is_away: Whether it waits outside of the scheduler's sight.
        quiet: Above 0 where it must not stop: a lock of TensorFlow's is held.
        may_wait: Whether what it is in may wait for another task.
        timed_out: Whether its last wait ended by its time-out.
    """

    def __init__(self, scheduler: Any, name: str, thread: Any, is_daemon: bool) -> None:
        self.scheduler = scheduler
        self.name = name
        self.thread = thread
        self.is_daemon = is_daemon
        self.baton = make_raw_lock()
        self.baton.acquire()
        self.ident = 0
        self.ended = False
        self.what = "starts"
        self.place = ""
        self.touching: tuple[tuple[Hashable, bool], ...] = ((PLAIN, True),)
        self.is_ready: Callable[[], bool] | None = None
        self.due: float | None = None
        self.lets: set[Task] | None = None  # others that are to make a step before it goes on; it gives way to all
        self.is_parked = True
        self.is_away = False
        self.outside = False  # what it waits for may come from outside of the process
        self.quiet = 0
        self.may_wait = False
        self.timed_out = False
        self.step: TaskStep | None = None
        self.made = itertools.count(1)
        self.repeats: tuple[Any, int] = (None, 0)
        self._naps: dict[Hashable, int] = {}

    def may_nap(self, line: Hashable, most: int) -> bool:
        """Say whether it has slept, or timed out, less than so often at a line; counts once more."""
        self._naps[line] = self._naps.get(line, 0) + 1
        return self._naps[line] <= most

    def can_go(self) -> bool:
        """Say whether it can go on now, also by a time-out that may come at any moment."""
        if self.ended or not self.is_parked:
            return False
        if self.is_ready is None or self.is_ready():
            return self.due is not None or not self.lets
        return self.due is not None and self.lets is not None and not self.lets

    def show(self) -> None:
        """Let the calling thread be the task."""
        self.ident = _get_ident()
        _tasks[self.ident] = self

    def hide(self) -> None:
        """Let the calling thread be one that no scheduler knows."""
        del _tasks[self.ident]

    @property
    def is_shown(self) -> bool:
        """Whether its thread is the task now, and not hidden."""
        return _tasks.get(self.ident) is self

    def new_name(self) -> Hashable:
        """Return a name for a thing that it makes: the same in each order in which it has done the same before."""
        return self.name, next(self.made)


class _Preparation:
    """Maker of the things that an order begins with: it names them as a task does, and never stops."""

    def __init__(self, scheduler: Any) -> None:
        self.scheduler = scheduler
        self._made = itertools.count(1)

    def new_name(self) -> Hashable:
        return "before all tasks", next(self._made)


_tasks: dict[int, Task] = {}  # by the threads' idents
_preparations: dict[int, _Preparation] = {}  # likewise


def current_task() -> Task | None:
    """Return the calling thread's task; None if it is under no scheduler."""
    return _tasks.get(_get_ident())


def pause(what: str, *things: tuple[Any, bool]) -> None:
    """Stop the calling task before it uses some things, each with whether it may change it; otherwise do nothing."""
    if _tasks and (task := _tasks.get(_get_ident())) is not None and not task.quiet:
        name_of = task.scheduler.name_of
        task.scheduler.pause(task, what, *[(name_of(thing), writes) for thing, writes in things])


@contextlib.contextmanager
def preparing(scheduler: Any) -> Iterator[None]:
    """Let the calling thread make the things that an order begins with: they have the same names in each order.

    Otherwise the search would take two uses of such a thing, seen in two orders, for uses of different things.
    """
    ident = _get_ident()
    _preparations[ident] = _Preparation(scheduler)
    try:
        yield
    finally:
        del _preparations[ident]


def _maker() -> Task | _Preparation | None:
    ident = _get_ident()
    return _tasks.get(ident) or _preparations.get(ident)


def new_name() -> Hashable:
    """Return a name for a thing that the calling thread makes, the same in each order; None if no order has it."""
    maker = _maker() if _tasks or _preparations else None
    return None if maker is None else maker.new_name()


def born(thing: Any) -> None:
    """Give a thing that the calling thread has made a name that it has in other orders as well."""
    if (_tasks or _preparations) and (maker := _maker()) is not None:
        maker.scheduler.names[id(thing)] = maker.new_name()


@contextlib.contextmanager
def quietly(*, may_wait: bool = False) -> Iterator[None]:
    """Let the calling task not stop while this lasts: it is in TensorFlow, whose locks are none of the scheduler's.

    Args:
        may_wait: Whether it may wait there for another task.
    """
    task = current_task()
    if task is None:
        yield
        return
    task.quiet += 1
    task.may_wait = may_wait
    try:
        yield
    finally:
        task.quiet -= 1
        task.may_wait = False


# -- forks ------------------------------------------------------------------------------------------------------------


def _before_fork() -> None:
    """Let the calling task not stop in what Python does around a fork: in the child no other task could go on."""
    if (task := current_task()) is not None:
        task.quiet += 1


def _in_parent() -> None:
    if (task := current_task()) is not None:
        task.quiet -= 1


def _in_child() -> None:
    """Let the threads of a forked child be under no scheduler: the other tasks are not there."""
    _tasks.clear()
    _preparations.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
