"""Orders of an exploration: as strings, and the strategies that choose them.

Data flow::

    "A3 B2 A" ──▶ GivenOrder ──────────────────┐
    a random priority for each ──▶ ByPriority ─┼─▶ choose(ready, running, steps) ──▶ Scheduler
    what was not tried yet ──▶ Search ─────────┘
    Scheduler.steps ──▶ order_of() ──▶ "A3 B2 A"

An order is which task makes how many steps, one after the other: ``"A3 B2 A"``. Steps before which only one task could
go on do not count. After the order's end the one that runs goes on as long as it can, and then the first that can.

Thread-safety: none; the scheduler calls one at a time.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Hashable, Iterable, Sequence

from tf1sessions.errors import UsageError
from tf1sessions.testing.tasks import TaskStep
from tf1sessions.texts import brief

__all__ = ["ByPriority", "GivenOrder", "Search", "choices", "order_of", "parse", "preemptions", "switches"]

#: Fifty times what an exploration makes by default; each is held in memory.
_MOST_STEPS = 1_000_000
_MOST_DIGITS = 12  # of a number of steps; what is cut off is above all bounds
_PART = re.compile(r"([A-Z]+)([0-9]*)")  # not \d, which is any digit of Unicode


def usual(ready: Sequence[str], running: str | None) -> str:
    """Return the task that goes on where nothing else is said."""
    return running if running is not None else ready[0]


def parse(text: str) -> list[tuple[str, int]]:
    """Read an order: tasks, and how many steps each makes.

    Raises:
        UsageError: It is none, or has more steps than any exploration makes.
    """
    parts = []
    left = _MOST_STEPS
    for part in text.split():
        found = _PART.fullmatch(part)
        if found is None:
            raise UsageError(
                f"{brief(part)} in {brief(text)} is no part of an order",
                where="explore(replay=...)",
                next_step='Give what an error\'s schedule was, such as "A3 B2 A": tasks, and their steps.',
            )
        count = int(found[2].lstrip("0")[:_MOST_DIGITS] or 0) if found[2] else 1
        left -= count
        if left < 0:
            raise UsageError(
                f"{brief(text)} has more than {_MOST_STEPS:,} steps",
                where="explore(replay=...)",
                next_step="Give what an error's schedule was.",
            )
        parts.append((found[1], count))
    return parts


def order_of(steps: Sequence[TaskStep]) -> str:
    """Return the order of some steps, as short as it can be said: at least the first choice."""
    steps = choices(steps)
    last = len(steps)
    while last and steps[last - 1].task == usual(steps[last - 1].ready, steps[last - 1].running):
        last -= 1
    parts = [(task, len(list(same))) for task, same in itertools.groupby(step.task for step in steps[:last])]
    text = [f"{task}{count}" for task, count in parts]
    if parts:
        text[-1] = parts[-1][0] if parts[-1][1] == 1 else text[-1]
    return " ".join(text) or (steps[0].task if steps else "A")


def choices(steps: Iterable[TaskStep]) -> list[TaskStep]:
    """Return the steps before which several tasks could go on."""
    return [step for step in steps if len(step.ready) > 1]


def switches(steps: Sequence[TaskStep]) -> int:
    """Return how often another task goes on than the one before."""
    return sum(one.task != other.task for one, other in itertools.pairwise(steps))


def preemptions(steps: Iterable[TaskStep]) -> int:
    """Return how often a task is stopped that could go on."""
    return sum(step.is_preemption for step in steps)


class GivenOrder:
    """Order that is given.

    Args:
        order: See :func:`parse`.
        is_strict: Whether it is an error that a task cannot go on which should; otherwise it is left out.
    """

    def __init__(self, order: str, *, is_strict: bool = True) -> None:
        self._order = order
        self._left = [task for task, count in parse(order) for _ in range(count)]
        self._left.reverse()
        self._is_strict = is_strict

    def choose(self, ready: Sequence[str], running: str | None, steps: Sequence[TaskStep]) -> str | None:
        while self._left and len(ready) > 1:
            wanted = self._left.pop()
            if wanted in ready:
                return wanted
            if self._is_strict:
                raise UsageError(
                    f"in {self._order!r} task {wanted!r} should go on after {len(steps)} steps, and only "
                    f"{' '.join(ready)} can",
                    where="explore(replay=...)",
                    next_step="Replay with the program that the order was found with; it must do the same each time.",
                )
        return usual(ready, running)


class ByPriority:
    """Order by random priorities, which change a few times: finds what takes few changes with a known probability.

    Args:
        draw: Where the numbers come from.
        length: About how many steps there will be.
        changes: How often the running task's priority becomes the lowest.
        most: How many preemptions there may be; None for any number.

    The method is that of Burckhardt, Kothari, Musuvathi and Nagarakatte ("A Randomized Scheduler with Probabilistic
    Guarantees of Finding Bugs", 2010).
    """

    def __init__(self, draw: random.Random, length: int, changes: int, most: int | None = None) -> None:
        self._draw = draw
        self._most = most
        self._at = {draw.randrange(max(1, length)) for _ in range(changes)}
        self._priorities: dict[str, float] = {}

    def choose(self, ready: Sequence[str], running: str | None, steps: Sequence[TaskStep]) -> str | None:
        if running is not None and self._most is not None and preemptions(steps) >= self._most:
            return running
        for task in ready:
            if task not in self._priorities:
                self._priorities[task] = self._draw.random()
        best = max(ready, key=self._priorities.__getitem__)
        if len(steps) in self._at:
            self._priorities[best] = -float(len(steps))
            best = max(ready, key=self._priorities.__getitem__)
        return best


_Touched = dict[Hashable, bool]
_Asleep = dict[str, _Touched]


def commute(one: _Touched, other: _Touched) -> bool:
    """Say whether two steps may be exchanged: they use nothing that one of them may change."""
    if len(one) > len(other):
        one, other = other, one
    return not any(thing in other and (writes or other[thing]) for thing, writes in one.items())


class _Branch:
    """A choice of the search.

    Attributes:
        ready, running: As the scheduler had them.
        before: How many preemptions were before.
        chosen: The task that goes on now.
        tried: The tasks that did, and what their steps touched.
        asleep: Tasks that need not go on: where one does so first, all that comes of it was seen, or will be.
        first: How many there were to try.
        is_cut: Whether something below was left out for its preemptions; ``is_cut_now``, below the chosen one.
        unsure: Those of which something was left out.
    """

    __slots__ = ("asleep", "before", "chosen", "first", "is_cut", "is_cut_now", "ready", "running", "tried", "unsure")

    def __init__(self, ready: tuple[str, ...], running: str | None, before: int, asleep: _Asleep) -> None:
        self.ready = ready
        self.running = running
        self.before = before
        self.asleep = asleep
        self.tried: dict[str, _Touched] = {}
        self.chosen = ""
        self.unsure: set[str] = set()
        self.is_cut = self.is_cut_now = False
        self.first = sum(task not in asleep for task in ready)

    @property
    def sleepers(self) -> _Asleep:
        """Return the tasks that sleep below the chosen one, until a step comes that uses what theirs does."""
        sure = {task: touched for task, touched in self.tried.items() if task not in self.unsure}
        return self.asleep | sure

    def end(self, touched: _Touched) -> None:
        """Note that all orders in which the chosen one goes on here were run."""
        self.tried[self.chosen] = touched
        if self.is_cut_now:
            self.unsure.add(self.chosen)
            self.is_cut, self.is_cut_now = True, False

    def left(self, most: int | None) -> list[str]:
        """Return the tasks that are still to be tried, the usual one first."""
        found = [task for task in self.ready if task not in self.asleep and task not in self.tried]
        if most is not None and self.running is not None and self.before >= most:
            if any(task != self.running for task in found):
                self.is_cut = True
            found = [task for task in found if task == self.running]
        first = usual(self.ready, self.running)
        return sorted(found, key=lambda task: task != first)


class Search:
    """Every order, each once: depth first, without those that only exchange steps that commute.

    Of orders that differ in steps which use different things one is enough. What was tried first at a choice sleeps
    while the others are, until a step comes that uses what it does (Godefroid, "Partial-Order Methods for the
    Verification of Concurrent Systems", 1996). Where an order was left out for its preemptions, the ones that are like
    it are not left out for that reason.

    Args:
        most: How many preemptions an order may have; None for any number.

    Attributes:
        most: As given.
        count: How many orders were run to their ends.
        is_complete: Whether these are all.
        is_repeatable: Whether the program did the same whenever its tasks came in the same order.
    """

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.begin()

    def begin(self) -> None:
        """Begin with the first order, anew if some were run."""
        self.count = 0
        self.is_complete = False
        self._branches: list[_Branch] = []
        self.is_repeatable = True

    def choose(self, ready: Sequence[str], running: str | None, steps: Sequence[TaskStep]) -> str | None:
        depth = len(steps)
        if depth < len(self._branches):
            branch = self._branches[depth]
            if branch.ready == tuple(ready):
                return branch.chosen
            self.is_repeatable = False
            del self._branches[depth:]
        before, asleep = 0, {}
        if depth:
            last, done = self._branches[-1], steps[-1]
            before = last.before + done.is_preemption
            asleep = {task: touched for task, touched in last.sleepers.items() if commute(touched, done.touched)}
        branch = _Branch(tuple(ready), running, before, asleep)
        left = branch.left(self.most)
        if not left:
            if branch.is_cut:
                self._branches[-1].is_cut_now = True
            return None
        branch.chosen = left[0]
        self._branches.append(branch)
        return branch.chosen

    def advance(self, steps: Sequence[TaskStep], is_cut: bool) -> None:
        """Go to the next order after one has run, perhaps not to its end."""
        self.count += not is_cut
        while self._branches:
            branch = self._branches[-1]
            depth = len(self._branches) - 1
            branch.end(steps[depth].touched)
            left = branch.left(self.most)
            if left:
                branch.chosen = left[0]
                return
            self._branches.pop()
            if branch.is_cut and self._branches:
                self._branches[-1].is_cut_now = True
        self.is_complete = True

    @property
    def estimate(self) -> int:
        """About how many orders there are, by how far the search has come."""
        done, part = 0.0, 1.0
        for branch in self._branches:
            part /= max(1, branch.first)
            done += part * len(branch.tried)
        return self.count if self.is_complete else math.ceil(max(self.count, 1) / max(done, 1e-15))
