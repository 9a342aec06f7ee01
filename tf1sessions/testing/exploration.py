"""Every order of a program's threads: run, compared, shrunk to the shortest that fails.

Data flow::

    explore(body) ──▶ OrdersOf ── a Strategy (orders.py) for each order ──▶ OrdersOf.order()
    order() ──▶ Scheduler (scheduler.py), cooperative() (cooperative.py), a race detector ──▶ Outcome
    a failure ──▶ _shrunk() ──▶ ScheduleError, whose schedule replays it

First the usual order is run, and a few that are drawn by priorities, which find most errors. Then all are searched. If
there are too many for that, more are drawn, and those of few preemptions searched.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import math
import os
import random
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from tf1sessions.errors import ScheduleError, UsageError
from tf1sessions.testing.cooperative import cooperative
from tf1sessions.testing.limits import check_secs
from tf1sessions.testing.orders import ByPriority, GivenOrder, Search, choices, order_of, preemptions, switches
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.reports import LEVELS, RaceKind, failing_levels, worst_report
from tf1sessions.testing.scheduler import Failure, Scheduler, Strategy, TaskWatcher, failed, reported
from tf1sessions.testing.suppressions import Suppressions, read_suppressions
from tf1sessions.testing.tasks import TRIES, TaskStep, preparing
from tf1sessions.testing.vector_clocks import VectorClocks, tracking

__all__ = ["MAX_STEPS", "PATIENCE_SECS", "TIMEOUT_SECS", "Exploration", "OrdersOf", "Outcome", "explore", "watched"]

#: What explore() takes by default. Arbitrary.
MAX_STEPS, PATIENCE_SECS, TIMEOUT_SECS = 20_000, 0.25, 60.0
#: How many orders are drawn at first, and which part of them where there are too many for all. Arbitrary.
_FIRST, _DRAWN = 10, 4
#: The part after which it is looked whether a search of all can come to its end. Arbitrary.
_PILOT = 8
#: How many preemptions the search allows at first: few are enough for most errors (Musuvathi and Qadeer, "Iterative
#: Context Bounding for Systematic Testing of Multithreaded Programs", 2007).
_PREEMPTIONS = 2
#: How many orders, for each of those that were asked for, may be left before their ends because others are like them.
_CUTS = 5
#: How many orders are tried to find a shorter one that fails; after how many garbage is collected. Arbitrary.
_SHRINKING, _COLLECTING = 200, 50
#: How many steps of an order an error shows. Arbitrary.
_SHOWN = 30
_ONCE = "  Not when it was run once more: in the same order, the program does not do the same each time."
#: How long threads may take to end once their order is over. Arbitrary.
_END_SECS = 5.0


@dataclasses.dataclass(frozen=True)
class Exploration:
    """Result of :func:`explore`.

    Attributes:
        schedules: How many orders were run.
        complete: Whether these are all that there are. Of those that only exchange steps which use different
            things, one is enough. Never where threads waited in C.
        preemptions: Up to how many preemptions all orders were run, if not all were.
        estimate: About how many orders there are; ``schedules`` if all were run.
        steps: How many the longest order had.
        repeatable: Whether the program did the same each time when its threads came in the same order.
        outside: Where threads waited in C, which is not under control: others went on meanwhile, in any order.
    """

    schedules: int
    complete: bool
    preemptions: int | None = None
    estimate: int = 0
    steps: int = 0
    repeatable: bool = True
    outside: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.complete or (self.outside and self.estimate == self.schedules):
            text = f"all {self.schedules} orders{'' if self.complete else ' that are under control'}"
        elif self.preemptions is not None:
            text = (
                f"all orders of up to {self.preemptions} preemptions, of about {self.estimate} ({self.schedules} run)"
            )
        else:
            text = f"{self.schedules} of about {self.estimate} orders"
        text += f", of up to {self.steps} steps"
        if not self.repeatable:
            text += "; the program does not do the same each time, in the same order"
        if self.outside:
            text += f"; not under control: waits in C at {', '.join(self.outside)}"
        return text


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of an order. ``recurs`` is False where it did not go wrong when it was run once more."""

    steps: list[TaskStep]
    failure: Failure | None
    is_cut: bool
    recurs: bool = True

    @property
    def order(self) -> str:
        return order_of(self.steps)


def explore(
    *functions: Callable[..., Any],
    setup: Callable[[], Any] | None = None,
    check: Callable[..., Any] | None = None,
    max_schedules: int = 1000,
    seed: int = 0,
    replay: str | None = None,
    max_preemptions: int | None = None,
    ignore: Iterable[RaceKind] = (),
    suppressions: str | os.PathLike[str] | None = None,
    fail_on: str = "hazards",
    max_steps: int = MAX_STEPS,
    patience_secs: float = PATIENCE_SECS,
    timeout_secs: float = TIMEOUT_SECS,
) -> Exploration:
    """Run a program in every order of its threads, or in so many, until one goes wrong.

    One thread goes on at a time, to its next use of a lock, condition, event, semaphore, barrier, queue, future,
    executor or thread, to its next run of a session or change of a graph, or to its next :func:`point`. What goes wrong
    is an exception in any thread, a deadlock, a hazard that the race detector sees, or a result that another order did
    not have. The order is then shrunk to one with as few changes between threads as possible.

    Args:
        functions: One, which may start threads and runs in the calling one; its result has to be the same in all
            orders. Or several, which are run in a thread each.
        setup: Makes what all of them, and ``check``, are given, anew for each order. Without it they are given nothing.
        check: Called when all have ended; raises when what came out is wrong, and its result has to be the same in all
            orders.
        max_schedules: How many orders at most.
        seed: What the drawing depends on, and Python's ``random`` at the beginning of each order.
        replay: One order, an error's ``schedule``, instead of all.
        max_preemptions: How often threads that could go on are stopped, in an order. By default up to two at first, and
            then any number.
        ignore: Kinds of hazards that do not count.
        suppressions: What else does not: a file, as :func:`~tf1sessions.testing.suppressions.read_suppressions` reads
            it.
        fail_on: Which reports of the race detector go wrong: ``"hazards"``, ``"warnings"`` as well, or ``"notes"`` too.
        max_steps: After how many steps an order is taken to have no end.
        patience_secs: How long a thread may wait in C, where it is not under control, until others go on.
        timeout_secs: How long no task may go on until an order is given up.

    Returns:
        What was covered.

    Raises:
        ScheduleError: An order went wrong; ``schedule`` replays it, and ``__cause__`` is what was raised.
        UsageError: No functions, a replay or ``fail_on`` that is none, or a file that cannot be read.

    Thread-safety: one exploration at a time in a process. Other threads of the process go on as they like.

    Example:
        >>> import threading
        >>> def body():
        ...     lock, box = threading.Lock(), [0]
        ...     def add():
        ...         with lock:
        ...             value = box[0]
        ...         with lock:
        ...             box[0] = value + 1
        ...     threads = [threading.Thread(target=add) for _ in range(2)]
        ...     for thread in threads:
        ...         thread.start()
        ...     for thread in threads:
        ...         thread.join()
        ...     assert box[0] == 2, box
        >>> try:
        ...     explore(body)
        ... except ScheduleError as error:
        ...     print(error.schedule)
        C2 B
    """
    if not functions or max_schedules < 1:
        raise UsageError(
            f"{len(functions)} functions and max_schedules={max_schedules}",
            where="explore()",
            next_step="Give a function or more, and at least one schedule.",
        )
    check_secs("patience_secs", patience_secs, "explore()")
    check_secs("timeout_secs", timeout_secs, "explore()")
    levels = failing_levels(fail_on, "explore()")
    rules = Suppressions(() if suppressions is None else read_suppressions(suppressions))
    with TaskWatcher(patience_secs, timeout_secs) as watcher:
        exploration = OrdersOf(
            functions, setup, check, seed, tuple(ignore), max_steps, watcher, suppressions=rules, levels=levels
        )
        return exploration.explore(max_schedules, max_preemptions, replay)


class OrdersOf:
    """Orders of one program.

    Args:
        functions, setup, check, seed, ignore, max_steps: As of :func:`explore`.
        watcher: Looks after each order; it is on.
        is_over: Says whether what an order raised is no failure of it: the time of a test is up.
        suppressions: What is no hazard; those that an order has used are marked.
        levels: The levels of reports with which an order goes wrong.

    Attributes:
        wrong: The order that went wrong, as the string that replays it.
    """

    def __init__(
        self,
        functions: Sequence[Callable[..., Any]],
        setup: Callable[[], Any] | None,
        check: Callable[..., Any] | None,
        seed: int,
        ignore: tuple[RaceKind, ...],
        max_steps: int,
        watcher: TaskWatcher,
        is_over: Callable[[], bool] = lambda: False,
        suppressions: Suppressions | None = None,
        levels: tuple[str, ...] = LEVELS[:1],
    ) -> None:
        self.wrong: Outcome | None = None
        self.suppressions = suppressions or Suppressions()
        self._functions = functions
        self._setup = setup
        self._check = check
        self._seed = seed
        self._ignore = ignore
        self._max_steps = max_steps
        self._watcher = watcher
        self._is_over = is_over
        self._levels = levels
        self._first: list[Any] = []  # the result of the first order
        self._run = 0
        self._longest = 0
        self._outside: set[str] = set()
        self._most_orders = 0.0
        self._searches: list[Search] = []
        self._began_anew = False
        self._tried: frozenset[Hashable] = frozenset()  # locks that are tried: their releases are stops

    def explore(self, most: int, max_preemptions: int | None, replay: str | None) -> Exploration:
        """Run orders, or one that is given; see :func:`explore`."""
        with self.prepared():
            if replay is not None:
                self.replay(replay)
            else:
                self.run(most, max_preemptions)
        return self.result()

    def result(self) -> Exploration:
        """Return what was covered."""
        outside = tuple(sorted(self._outside))
        repeatable = all(search.is_repeatable for search in self._searches)
        complete = next((search for search in self._searches if search.is_complete), None)
        run = estimate = self._run
        if complete is not None and complete.most is None:
            run = estimate = complete.count  # those that were drawn are among them
        elif self._searches:
            estimate = max(run, self._searches[0].estimate)
        bound = complete.most if complete is not None else None
        is_all = complete is not None and bound is None and not outside
        return Exploration(run, is_all, bound, estimate, self._longest, repeatable, outside)

    @contextlib.contextmanager
    def prepared(self) -> Iterator[None]:
        """Put all in place that orders need, while this lasts."""
        state, collects = random.getstate(), gc.isenabled()
        gc.disable()  # finalizers would use locks at any step
        try:
            with cooperative():
                yield
        finally:
            random.setstate(state)
            if collects:
                gc.enable()

    # -- which orders -------------------------------------------------------------------------------------------------

    def replay(self, order: str) -> None:
        """Run one order."""
        tried = _tries(self.order(GivenOrder("")).steps)  # which is run for its result, too
        self._run = 1
        while True:  # it was found with stops at the releases of some locks, or of none
            wrong: UsageError | None = None
            try:
                outcome = self.order(GivenOrder(order), with_places=True)
            except UsageError as error:
                wrong = error
            else:
                if outcome.failure is not None:
                    self._raise(outcome)
                tried |= _tries(outcome.steps)
            if tried <= self._tried:
                break
            self._tried = tried
        if wrong is not None:
            raise wrong

    def run(self, most: int, max_preemptions: int | None) -> None:
        """Run orders until one goes wrong, or as many were run, or all."""
        draw, search = random.Random(self._seed), Search(max_preemptions)
        self._searches = [search]
        self._search(search, 1)
        if not search.count:  # it has begun anew
            self._search(search, min(2, most))
        steps = self._longest
        if self._most_orders > most:
            self._draw(draw, min(_FIRST, most - self._run), steps, max_preemptions)
            self._search(search, self._run + most // _PILOT)
        if search.estimate <= 2 * most:
            self._search(search, most)
        if search.is_complete or not search.is_repeatable:
            return
        self._draw(draw, (most - self._run) // _DRAWN, steps, max_preemptions)
        if max_preemptions is None:
            self._searches.append(Search(_PREEMPTIONS))
        self._search(self._searches[-1], most)
        self._draw(draw, most - self._run, steps, max_preemptions)

    def _draw(self, draw: random.Random, count: int, steps: int, most: int | None) -> None:
        """Run some orders that are drawn, of so many preemptions at most."""
        for number in range(count):
            self._learn(self._checked(ByPriority(draw, steps, 1 + number % 3, most)))

    def _search(self, search: Search, most: int) -> None:
        """Search orders in turn, until so many were run in all."""
        cuts = 0
        while self._run < most and not search.is_complete and search.is_repeatable and cuts < _CUTS * most:
            outcome = self._checked(search)
            if not search.count:
                self._most_orders = _count(outcome.steps)
            cuts += outcome.is_cut
            search.advance(outcome.steps, outcome.is_cut)
            if not self._learn(outcome) and self._is_to_begin_anew(search):
                search.begin()

    def _learn(self, outcome: Outcome) -> bool:
        """Begin the searches anew if an order has tried locks that were not known to be: there are more stops then."""
        tried = _tries(outcome.steps) - self._tried
        if tried:
            self._tried |= tried
            for search in self._searches:
                search.begin()
        return bool(tried)

    def _is_to_begin_anew(self, search: Search) -> bool:
        """Say, once, that orders differ: the first may have done what is done once in a process, as imports are."""
        differs = not search.is_repeatable and not self._began_anew
        self._began_anew |= differs
        return differs

    def _checked(self, strategy: Strategy) -> Outcome:
        outcome = self.order(strategy)
        self._run += not outcome.is_cut
        if outcome.failure is not None:
            self._raise(self._shrunk(outcome))
        return outcome

    # -- one order ----------------------------------------------------------------------------------------------------

    def order(self, strategy: Strategy, *, with_places: bool = False) -> Outcome:
        """Run one order."""
        if self._run % _COLLECTING == _COLLECTING - 1:
            gc.collect(1)  # what orders have left: nothing grows old while the collector is off
        random.seed(self._seed)
        scheduler = Scheduler(strategy, self._max_steps, with_places=with_places, tried=self._tried)
        detector = RaceDetector(VectorClocks(), self._ignore, suppressions=self.suppressions)
        given: list[Any] = []
        results: list[Any] = []
        with watched(detector, scheduler):
            if self._setup is not None:
                with preparing(scheduler):
                    given = [self._setup()]
            self._run_tasks(scheduler, given, results)
        if scheduler.error is not None:
            raise scheduler.error
        raised = None if scheduler.failure is None else scheduler.failure.error
        if raised is not None and (self._is_over() or (isinstance(raised, KeyboardInterrupt) and self._is_in_caller)):
            raise raised
        self._longest = max(self._longest, len(scheduler.steps))
        self._outside |= scheduler.outside
        failure = scheduler.failure
        if failure is None and not scheduler.is_cut:
            failure = self._judge(detector, given, results)
        return Outcome(scheduler.steps, failure, scheduler.is_cut)

    @property
    def _is_in_caller(self) -> bool:
        return len(self._functions) == 1

    def _run_tasks(self, scheduler: Scheduler, given: list[Any], results: list[Any]) -> None:
        threads: list[threading.Thread] = []
        if self._is_in_caller:
            body = self._functions[0]
            root = scheduler.add()
            scheduler.begin()
            self._watcher.scheduler = scheduler
            scheduler.run(root, lambda: results.append(body(*given)), is_root=True)
        else:
            for function in self._functions:
                task = scheduler.add()
                target = _target(scheduler, task, function, given)
                task.thread = threading.Thread(target=target, name=f"explored-{task.name}", daemon=True)
                threads.append(task.thread)
            for thread in threads:
                thread.start()
            scheduler.begin()
            self._watcher.scheduler = scheduler
        while not scheduler.wait(0.5):
            pass
        for task in scheduler.tasks:
            if task.thread is not None and task.thread.ident is not None:
                task.thread.join(_END_SECS)

    def _judge(self, detector: RaceDetector, given: list[Any], results: list[Any]) -> Failure | None:
        """Say what is wrong with an order in which all tasks have come to their ends."""
        result = results[0] if results else None
        if self._check is not None:
            try:
                result = self._check(*given)
            except Exception as error:
                return failed(error)
        report = worst_report(detector.reports, self._levels)
        if report is not None:
            accept = f"explore(ignore=[Kind.{report.kind.name}], suppressions=FILE)"
            return reported(report, accept)
        if not self._first:
            self._first.append(result)
        elif not same(self._first[0], result):
            return Failure(
                "result", f"the result is {result!r:.200}, and in the first order it was {self._first[0]!r:.200}"
            )
        return None

    # -- what went wrong ----------------------------------------------------------------------------------------------

    def _shrunk(self, outcome: Outcome) -> Outcome:
        """Return an order with fewer changes between tasks that goes wrong in the same way."""
        assert outcome.failure is not None
        if outcome.failure.kind == "hang":  # each leaves a thread that hangs
            return outcome
        best, left, again = outcome, _SHRINKING, True
        while again and left > 0:
            again = False
            for order in _shorter(best.steps):
                left -= 1
                if left <= 0:
                    break
                found = self.order(GivenOrder(order, is_strict=False))
                if found.failure is not None and found.failure.is_like(best.failure) and _cost(found) < _cost(best):
                    best, again = found, True
                    break
        for order in dict.fromkeys([best.order, outcome.order]):
            with contextlib.suppress(UsageError):  # it does not do the same each time
                shown = self.order(GivenOrder(order), with_places=True)
                if shown.failure is not None and shown.failure.is_like(best.failure):
                    return shown
        return dataclasses.replace(best, recurs=False)

    def _raise(self, outcome: Outcome) -> None:
        assert outcome.failure is not None
        self.wrong = outcome
        order, failure = outcome.order, outcome.failure
        lines = [
            f"in the order {order!r} {failure.text}",
            *_described(outcome.steps),
            *([] if outcome.recurs else [_ONCE]),
            "",
        ]
        raise ScheduleError(
            "\n".join(lines),
            where="explore()",
            next_step=f"Run that order alone with explore(..., replay={order!r}).",
            schedule=order,
        ) from failure.error


def _target(scheduler: Scheduler, task: Any, function: Callable[..., Any], given: list[Any]) -> Callable[[], None]:
    return lambda: scheduler.run(task, lambda: function(*given), is_root=True)


@contextlib.contextmanager
def watched(detector: RaceDetector, scheduler: Scheduler) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(tracking(detector.clocks))
        if "tensorflow" in sys.modules:
            from tf1sessions.testing.tensorflow_hooks import watch_graphs

            stack.enter_context(watch_graphs(detector, scheduler))
        try:
            yield
        finally:
            detector.is_over = True


def _tries(steps: Sequence[TaskStep]) -> frozenset[Hashable]:
    """Return the locks that were tried, which a task may do while another holds them."""
    touched = (thing for step in steps for thing in step.touched)
    return frozenset(thing[1] for thing in touched if isinstance(thing, tuple) and thing[0] == TRIES)


def _count(steps: Sequence[TaskStep]) -> float:
    """Return how many orders there are at most, if each task makes as many steps as it has made."""
    counts: dict[str, int] = {}
    for step in steps:
        counts[step.task] = counts.get(step.task, 0) + 1
    if len(steps) > 100:
        return math.inf
    return math.factorial(len(steps)) // math.prod(map(math.factorial, counts.values()))


def _cost(outcome: Outcome) -> tuple[int, int, int]:
    return preemptions(outcome.steps), switches(outcome.steps), len(outcome.steps)


def _shorter(steps: Sequence[TaskStep]) -> Iterator[str]:
    """Yield orders in which one change between tasks less is asked for, the last ones first."""
    parts: list[tuple[str, int]] = []
    for step in choices(steps):
        if parts and parts[-1][0] == step.task:
            parts[-1] = step.task, parts[-1][1] + 1
        else:
            parts.append((step.task, 1))
    yield ""
    for index in range(len(parts)):
        kept = parts[:index]
        yield " ".join(f"{task}{count}" for task, count in kept)
    for index in reversed(range(len(parts) - 1)):
        # This part's task goes on to where its next part ends.
        task, count = parts[index]
        later = next((number for number in range(index + 1, len(parts)) if parts[number][0] == task), None)
        if later is None:
            continue
        merged = [*parts[:index], (task, count + parts[later][1]), *parts[index + 1 : later], *parts[later + 1 :]]
        yield " ".join(f"{each}{times}" for each, times in merged)


def _described(steps: Sequence[TaskStep]) -> list[str]:
    """Return where the tasks change, and at what."""
    lines = []
    for before, step in zip([None, *steps], steps, strict=False):
        if before is None or before.task != step.task:
            lines.append(f"  {step.task} {step.what}{f' at {step.place}' if step.place else ''}")
    return lines[:_SHOWN]


def same(one: Any, other: Any) -> bool:
    """Say whether two results are the same, as far as they can be compared."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if hasattr(one, "dtype") and hasattr(one, "tobytes"):
        return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())
    if getattr(type(one), "__eq__", None) is object.__eq__:
        return True
    return bool(one == other)
