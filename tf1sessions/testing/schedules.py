"""Threads made to come in a certain order: one order that is given, or all that there are.

Data flow::

    point("name") in the code that is tested ──▶ nothing, unless one of these is on in the program:
      Schedule("A1 B1 A2 B2")   each point waits until those before it have passed
      explore(fn_a, fn_b)       one thread goes on at a time, from point to point, in every order
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import random
import string
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

from tf1sessions.errors import ScheduleError, UsageError
from tf1sessions.sessions.stacks import current_frames
from tf1sessions.texts import text_of

__all__ = ["Exploration", "Schedule", "explore", "point"]

_START = "start"

_schedules: list[Schedule] = []
_threads: dict[int, tuple[_Explorer, _Thread]] = {}  # those of explore(), by their idents


def point(name: str) -> None:
    """Mark a place where threads may be made to wait for each other. Costs a dictionary's look-up when nothing is on.

    Args:
        name: Without blanks.

    Raises:
        ScheduleError: In a Schedule's block, what should have come before did not come in time.

    Example:
        >>> def withdraw(account, amount):
        ...     balance = account["balance"]
        ...     point("read")
        ...     account["balance"] = balance - amount
    """
    mine = _threads.get(threading.get_ident())
    if mine is not None:
        mine[0].reached(mine[1], name)
    for schedule in tuple(_schedules):
        schedule.reached(name)


class Schedule:
    """Block in which points are passed in a certain order.

    Args:
        order: The names of points, with blanks between them; one that is passed twice is named twice. Points that are
            not named, and those after the last one, are passed at once.
        timeout_secs: How long a point waits for those before it.

    Raises:
        UsageError: There are no names.
        ScheduleError: At a point: those before it did not come in time. At the block's end: some were never reached.

    Thread-safety: any thread may reach points.

    Example:
        >>> import threading
        >>> seen = []
        >>> def work(name):
        ...     point(name)
        ...     seen.append(name)
        ...     point(name + "-done")
        >>> with Schedule("b b-done a"):
        ...     threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
        ...     for thread in threads:
        ...         thread.start()
        ...     for thread in threads:
        ...         thread.join()
        >>> seen
        ['b', 'a']
    """

    def __init__(self, order: str, *, timeout_secs: float = 10.0) -> None:
        self._steps = order.split()
        if not self._steps:
            raise UsageError(
                f"order is {order!r}", where="Schedule()", next_step="Name points with blanks between them: 'A1 B1 A2'."
            )
        self._timeout_secs = timeout_secs
        self._passed = 0
        self._changed = threading.Condition()

    def __enter__(self) -> Schedule:
        self._passed = 0
        _schedules.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _schedules.remove(self)
        with self._changed:
            left = self._steps[self._passed :]
            self._passed = len(self._steps)  # so that nothing waits any more
            self._changed.notify_all()
        if left and error is None:
            raise ScheduleError(
                f"of the points {' '.join(self._steps)!r} {left[0]!r} was never reached, nor those after it",
                where="Schedule()",
                next_step="Join the threads inside the block, or leave the point out.",
                schedule=" ".join(self._steps),
            )

    def reached(self, name: str) -> None:
        """Pass a point; what :func:`point` calls."""
        with self._changed:
            if name not in self._steps[self._passed :]:
                return
            due = time.monotonic() + self._timeout_secs
            while self._passed < len(self._steps) and self._steps[self._passed] != name:
                if not self._changed.wait(max(0.0, due - time.monotonic())) and time.monotonic() >= due:
                    raise ScheduleError(
                        f"thread {threading.current_thread().name!r} waited {self._timeout_secs:g} s at the point "
                        f"{name!r} for {self._steps[self._passed]!r}, which did not come",
                        where="Schedule()",
                        next_step="See where the thread is that should come there; a lock may be in its way.",
                        schedule=" ".join(self._steps),
                    )
            self._passed = min(self._passed + 1, len(self._steps))
            self._changed.notify_all()


# -- every order ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Exploration:
    """Result of :func:`explore`.

    Attributes:
        schedules: How many orders were run.
        complete: Whether these are all that there are.
    """

    schedules: int
    complete: bool


def explore(
    *functions: Callable[..., Any],
    setup: Callable[[], Any] | None = None,
    check: Callable[..., Any] | None = None,
    max_schedules: int = 200,
    seed: int = 0,
    replay: str | None = None,
    patience_secs: float = 0.5,
    timeout_secs: float = 60.0,
) -> Exploration:
    """Run functions in threads at once, in every order of the points that they pass.

    One thread goes on at a time, from a point to its next. One that does not get there within ``patience_secs`` is
    taken to wait for another, which then goes on. If there are more than ``max_schedules`` orders, that many different
    ones are drawn.

    Args:
        functions: What the threads A, B, ... run.
        setup: Makes what all of them, and ``check``, are given, anew for each order. Without it they are given nothing.
        check: Called when all have ended; raises when what came out is wrong.
        max_schedules: How many orders at most.
        seed: What the drawing depends on.
        replay: One order, an error's ``schedule``, instead of all.
        patience_secs: When a thread is taken to wait for another.
        timeout_secs: When threads that wait for each other are given up. They are daemons.

    Raises:
        ScheduleError: An order in which a function or the check raised; ``schedule`` replays it, and ``__cause__`` is
            what was raised.
        UsageError: No functions, or a replay that is none.

    Example:
        >>> def add(box):
        ...     value = box[0]
        ...     point("read")
        ...     box[0] = value + 1
        >>> def right(box):
        ...     assert box[0] == 2, box
        >>> try:
        ...     explore(add, add, setup=lambda: [0], check=right)
        ... except ScheduleError as error:
        ...     print(error.schedule)
        A:start B:start A:read B:read
    """
    if not functions or max_schedules < 1:
        raise UsageError(
            f"{len(functions)} functions and max_schedules={max_schedules}",
            where="explore()",
            next_step="Give two functions or more, and at least one schedule.",
        )
    limits = (patience_secs, timeout_secs)

    def run(choose: _Choose) -> _Explorer:
        explorer = _Explorer(functions, setup, check, choose, *limits)
        explorer.run()
        return explorer

    if replay is not None:
        run(_following([step.partition(":")[0] for step in replay.split()], replay))
        return Exploration(1, False)
    tried: set[tuple[str, ...]] = set()
    first = run(_following([], ""))
    tried.add(first.order)
    if _count(first) <= max_schedules:
        return _all(run, first, max_schedules)
    draw = random.Random(seed)
    for _ in range(10 * max_schedules):  # the same may be drawn again
        if len(tried) >= max_schedules:
            break
        tried.add(run(lambda ready: draw.choice(ready)).order)
    return Exploration(len(tried), False)


_Choose = Callable[[Sequence[str]], str]


def _following(order: Sequence[str], schedule: str) -> _Choose:
    """Make a choice as an order says, and then of the first that can go on."""
    left = list(order)

    def choose(ready: Sequence[str]) -> str:
        if not left:
            return ready[0]
        wanted = left.pop(0)
        if wanted not in ready:
            raise UsageError(
                f"in {schedule!r} thread {wanted!r} should go on, and only {' '.join(ready)} can",
                where="explore(replay=...)",
                next_step="Replay with the functions and the points that the order was found with.",
            )
        return wanted

    return choose


def _count(run: _Explorer) -> int:
    """Return how many orders there are, if each thread passes the points that it passed in a run."""
    steps = [run.order.count(name) for name in dict.fromkeys(run.order)]
    return math.factorial(sum(steps)) // math.prod(map(math.factorial, steps))


def _all(run: Callable[[_Choose], _Explorer], first: _Explorer, most: int) -> Exploration:
    """Run every order, each different from the one before as late as possible."""
    done, last = 1, first
    while (prefix := _next(last)) is not None:
        if done >= most:
            return Exploration(done, False)
        last = run(_following(prefix, " ".join(prefix)))
        done += 1
    return Exploration(done, True)


def _next(run: _Explorer) -> list[str] | None:
    for index in reversed(range(len(run.order))):
        ready, chosen = run.choices[index], run.order[index]
        later = ready[ready.index(chosen) + 1 :]
        if later:
            return [*run.order[:index], later[0]]
    return None


class _Thread(threading.Thread):
    """One of the threads of an exploration."""

    def __init__(self, explorer: _Explorer, name: str, function: Callable[..., Any], given: Sequence[Any]) -> None:
        super().__init__(name=name, daemon=True)
        self._explorer = explorer
        self._function = function
        self._given = given
        self.go = threading.Event()
        self.at: str | None = None  # the point where it waits
        self.error: BaseException | None = None
        self.ended = False

    def run(self) -> None:
        ident = threading.get_ident()
        _threads[ident] = self._explorer, self
        try:
            self._explorer.reached(self, _START)
            self._function(*self._given)
        except BaseException as error:  # raised by the explorer, as what the order led to
            self.error = error
        finally:
            del _threads[ident]
            self._explorer.end(self)


class _Explorer:
    """One order. The caller's thread chooses which goes on; ``_changed`` guards what the threads are at."""

    def __init__(
        self,
        functions: Sequence[Callable[..., Any]],
        setup: Callable[[], Any] | None,
        check: Callable[..., Any] | None,
        choose: _Choose,
        patience_secs: float,
        timeout_secs: float,
    ) -> None:
        self._given = [] if setup is None else [setup()]
        self._check = check
        self._choose = choose
        self._patience_secs = patience_secs
        self._timeout_secs = timeout_secs
        self._changed = threading.Condition()
        self._free = False
        names = string.ascii_uppercase
        self._threads = [_Thread(self, names[i], each, self._given) for i, each in enumerate(functions)]
        self._running: set[_Thread] = set(self._threads)
        self.order: tuple[str, ...] = ()
        self.choices: list[list[str]] = []
        self._steps: list[str] = []

    def reached(self, thread: _Thread, name: str) -> None:
        """Let the thread wait at a point until it is chosen."""
        with self._changed:
            if self._free:
                return
            thread.at = name
            thread.go.clear()
            self._running.discard(thread)
            self._changed.notify_all()
        thread.go.wait()

    def end(self, thread: _Thread) -> None:
        """Note that the thread has ended."""
        with self._changed:
            thread.ended = True
            self._running.discard(thread)
            self._changed.notify_all()

    def run(self) -> None:
        """Run all to their ends.

        Raises:
            ScheduleError: What came out is wrong.
        """
        for thread in self._threads:
            thread.start()
        try:
            with self._let_go_at_the_end():
                while (chosen := self._wait_for_a_choice()) is not None:
                    chosen.go.set()
            for thread in self._threads:
                if thread.error is not None:
                    raise thread.error
            if self._check is not None:
                self._check(*self._given)
        except (UsageError, ScheduleError):
            raise
        except BaseException as error:
            raise self._broken(f"it raises {type(error).__name__}: {text_of(error)}") from error

    @contextlib.contextmanager
    def _let_go_at_the_end(self) -> Iterator[None]:
        try:
            yield
        finally:
            with self._changed:
                self._free = True
                for thread in self._threads:
                    thread.go.set()
            due = time.monotonic() + self._timeout_secs
            for thread in self._threads:
                thread.join(max(0.0, due - time.monotonic()))

    def _wait_for_a_choice(self) -> _Thread | None:
        due = time.monotonic() + self._timeout_secs
        with self._changed:
            while True:
                self._changed.wait_for(lambda: not self._running, self._patience_secs)
                if any(thread.error is not None for thread in self._threads):
                    return None
                ready = {each.name: each for each in self._threads if each.at is not None and not each.ended}
                if ready:
                    break
                if all(thread.ended for thread in self._threads):
                    return None
                if time.monotonic() > due:
                    raise self._broken("its threads wait for each other" + self._stacks())
            names = list(ready)
            name = self._choose(names)
            chosen = ready[name]
            self._steps.append(f"{name}:{chosen.at}")
            self.order = (*self.order, name)
            self.choices.append(names)
            chosen.at = None
            self._running.add(chosen)
            return chosen

    def _stacks(self) -> str:
        frames = current_frames()
        text = ""
        for thread in self._threads:
            frame = frames.get(thread.ident or 0)
            if frame is not None and not thread.ended:
                text += f"\n--- thread {thread.name}\n" + "".join(traceback.format_stack(frame)[-4:])
        return text

    def _broken(self, what: str) -> ScheduleError:
        schedule = " ".join(self._steps)
        return ScheduleError(
            f"in the order {schedule!r} {what}",
            where="explore()",
            next_step="Run that order alone with explore(..., replay=error.schedule).",
            schedule=schedule,
        )
