"""One thread at a time, and which is next by our own choice: what ``explore()`` runs a program under.

Data flow::

    cooperative.py: an acquire, a sleep, a join ──▶ pause(), block() ──┐
    tensorflow_hooks.py: a run, a change of a graph ──▶ pause() ───────┼─▶ Scheduler._next() ── Strategy ─▶ the next
    schedules.py: point() ──▶ pause() ─────────────────────────────────┘
    TaskWatcher, a thread ──▶ a task that waits outside of all that, in C ──▶ others go on; it is named

A *task* is a thread that the scheduler lets go on and stop. It stops before each use of a primitive, and what it does
from there to its next stop is a *step*. A task that waits for a lock is not run until that is free, so nothing is ever
waited for in wall time, and where no task can go on there is a deadlock, known at once.

Time is the scheduler's, too: it passes when tasks sleep or time out. A sleep orders nothing: it may end at once. So may
a wait with a time-out of up to a second; a longer one times out only when no other task can go on, nor is in C any
more, where it may come back from. Loops that poll would have no end by that: from the fourth time on at one line, a
sleep or short wait ends only when every task that could go on at its beginning has made a step (it is *held*).

What a step touches has to be all that its place among the others' depends on, else the search leaves orders out that
differ (Search in orders.py). So a hold, the sequence of long time-outs and looks at the clock are things as locks are.

Locks: ``Scheduler._guard`` guards the tasks' states; it is never held while a task runs.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from time import sleep
from typing import Any, NoReturn, Protocol

from tf1sessions.sessions.stacks import current_frames, other_threads_run, without_collection
from tf1sessions.testing.frames import format_frame, program_frame, program_frames
from tf1sessions.testing.locks import make_raw_lock
from tf1sessions.testing.reports import Report
from tf1sessions.testing.tasks import PLAIN, Task, TaskStep
from tf1sessions.texts import text_of

__all__ = [
    "Abandoned",
    "Failure",
    "Scheduler",
    "Strategy",
    "failed",
    "reported",
]

#: Seconds of a wait that may time out at any moment, as it may on a busy machine. Arbitrary.
_SHORT_SECS = 1.0
#: How often a task may sleep, or time out, at one line before it has to let others go on. Arbitrary.
_FREE_NAPS = 3
#: What steps touch that depend on who has made a step, who waits longest, and how late it is.
_PACE, _LONG_WAITS, _CLOCK = "who has gone on", "long time-outs", "the clock"
#: After how many steps of one kind in a row a task is taken to poll: then others go on first. Arbitrary.
_POLLS = 20
#: The part of the patience that a task gets which is known to be where it may wait. Arbitrary.
_MAY_WAIT = 0.2
#: What a step touches that begins where a task has slept or timed out: the program has left it to time who comes first.
_NAP = ((PLAIN, True), (_CLOCK, False))

_process_time, _now = time.process_time, time.monotonic


class Abandoned(BaseException):
    """Ends a task whose order is over. Nothing should catch it."""


class Strategy(Protocol):
    """Chooses the task that is next."""

    def choose(self, ready: Sequence[str], running: str | None, steps: Sequence[TaskStep]) -> str | None:
        """Return one of the ready tasks' names; None if this order need not be run to its end.

        Args:
            ready: The names of the tasks that can go on, in the order in which they were made.
            running: The one that made the last step, if it is ready.
            steps: Those before this one.
        """


@dataclasses.dataclass(frozen=True)
class Failure:
    """Failure of an order.

    Attributes:
        kind: ``"exception"``, ``"deadlock"``, ``"hang"``, ``"result"``, ``"endless"``, ``"lost"`` (it is not known), or
            the level of a report: ``"hazard"``, ``"warning"`` or ``"note"``.
        text: What, in words.
        raised: The name of the class of what was raised, if anything was.
        error: That itself, unless it was raised in another process.
        report: The race detector's, if it is one.
    """

    kind: str
    text: str
    raised: str = ""
    error: BaseException | None = None
    report: Report | None = None

    def is_like(self, other: Failure | None) -> bool:
        """Say whether another order went wrong in the same way."""
        return other is not None and (self.kind, self.raised) == (other.kind, other.raised)


def failed(error: BaseException) -> Failure:
    """Return what an exception means for an order."""
    name = type(error).__name__
    return Failure("exception", f"it raises {name}: {text_of(error)}", name, error)


def reported(report: Report, accept: str) -> Failure:
    """Return what a report of the race detector means for an order; ``accept`` says how such reports are left out."""
    return Failure(report.kind.level, f"the race detector reports:\n{report.describe(accept)}", report=report)


class Scheduler:
    """One order of a program's threads.

    Args:
        strategy: Chooses the task that is next.
        max_steps: After how many steps the order is taken to have no end.
        with_places: Whether steps know where they began.
        keeps_still: Whether tasks of an order that is over do nothing more, as the process ends.
        tried: Names of locks that tasks also try, which may find them held: their releases are stops, too.

    Attributes:
        asked: The tasks that could go on when the strategy was last asked, and which of them ran.
        steps: Those that were made.
        failure: What went wrong.
        error: What the strategy raised.
        is_over: Whether tasks are to end where they are.
        is_cut: Whether the strategy did not want it to go on.
        on_stop: Called in a task's thread when it stops or ends.
        outside: Where tasks waited out of the scheduler's sight.
        names: Of the things that tasks have made, by their identity.
    """

    def __init__(
        self,
        strategy: Strategy,
        max_steps: int,
        *,
        with_places: bool = False,
        keeps_still: bool = False,
        tried: frozenset[Hashable] = frozenset(),
    ) -> None:
        self._strategy = strategy
        self._keeps_still = keeps_still
        self.asked: tuple[tuple[str, ...], str | None] = ((), None)
        self._max_steps = max_steps
        self._with_places = with_places
        self.tried = tried
        self._guard = make_raw_lock()
        self._over = make_raw_lock()
        self._over.acquire()
        self._skipped = 0.0
        self._started = _now()
        self._ticks = itertools.count(1)
        self.tasks: list[Task] = []
        self.running: Task | None = None
        self.steps: list[TaskStep] = []
        self.failure: Failure | None = None
        self.error: Exception | None = None
        self.is_over = self.is_cut = False
        self._waits_for_c = True  # whether time-outs wait for tasks that are away
        self.on_stop: Callable[[], None] | None = None
        self.outside: set[str] = set()
        self.names: dict[int, Hashable] = {}

    # -- tasks --------------------------------------------------------------------------------------------------------

    def add(self, thread: Any = None, *, is_daemon: bool = False) -> Task:
        """Make a task for a thread that is about to start."""
        with self._guard:
            task = Task(self, _letters(len(self.tasks)), thread, is_daemon)
            self.tasks.append(task)
        return task

    def run(self, task: Task, function: Callable[[], object], *, is_root: bool = False) -> None:
        """Run a task's function in the calling thread, when it is chosen for the first time."""
        error: BaseException | None = None
        try:
            self.enter(task)
            function()
        except Abandoned:
            pass
        except BaseException as raised:  # it is what this order led to
            error = raised
        finally:
            self.leave_by(task, error, is_root=is_root)

    def enter(self, task: Task) -> None:
        """Let the calling thread be a task from here on, as soon as it is chosen."""
        task.show()
        self._take_baton(task)

    def leave_by(self, task: Task, error: BaseException | None, *, is_root: bool = True) -> None:
        """Let the calling thread be none any more; an error of a root's is one of the order, SystemExit as well."""
        if not task.is_shown:  # this is a forked child
            return
        if self.on_stop is not None and not self.is_over:
            self.on_stop()
        task.hide()
        self._ends(task, error, is_root)

    def begin(self) -> None:
        """Let the first task go."""
        with self._guard:
            chosen = self._next(None)
        self._hand(chosen)

    def wait(self, secs: float) -> bool:
        """Wait until the order is over, at most so long; says whether it is."""
        if self._over.acquire(timeout=secs):
            self._over.release()
            return True
        return False

    def finish(self, failure: Failure | None = None) -> None:
        """End the order where it is."""
        with self._guard:
            self._finish(failure)

    def _finish(self, failure: Failure | None = None) -> None:
        if self.is_over:
            return
        self.failure = failure
        self.is_over = True
        self._over.release()
        for task in self.tasks:
            if task.is_parked:
                task.baton.release()

    def _ends(self, task: Task, error: BaseException | None, is_root: bool) -> None:
        with self._guard:
            task.ended, task.is_away = True, False
            task.is_parked = False
            if self.is_over:
                return
            self.touch(task, ("end", task.name))
            if error is not None and (is_root or not isinstance(error, SystemExit)):
                self._finish(failed(error))
                return
            if self.running is not task:  # it was away
                if self.running is not None:
                    return
            chosen = self._next(None)
        self._hand(chosen)

    # -- stops --------------------------------------------------------------------------------------------------------

    def pause(self, task: Task, what: str, *touching: tuple[Hashable, bool]) -> None:
        """Let others go on, if they are chosen, before a task uses something."""
        self._stop(task, what, touching, None, None)

    def block(
        self,
        task: Task,
        what: str,
        touching: tuple[tuple[Hashable, bool], ...],
        is_ready: Callable[[], bool],
        timeout: float | None = None,
    ) -> bool:
        """Let others go on until a task can; says whether it can, or the time was up."""
        self._stop(task, what, touching, is_ready, timeout)
        return not task.timed_out

    def rest(self, task: Task, what: str, secs: float) -> None:
        """Let a task sleep."""
        self._stop(task, what, _NAP, None, None, sleeps=True)
        self._skipped += secs

    def touch(self, task: Task, thing: Hashable, writes: bool = True) -> None:
        """Note that a task uses a thing, without stopping."""
        if task.step is not None:
            task.step.touch(thing, writes)

    def name_of(self, thing: Any) -> Hashable:
        """Return a thing's name: its own, that which :func:`born` gave it, or its identity; a name is its own."""
        if isinstance(thing, (str, tuple)):
            return thing
        name: Hashable = getattr(thing, "explored_name", None)
        return self.names.get(id(thing), id(thing)) if name is None else name

    def look_at_clock(self, task: Task) -> float:
        """Return what :meth:`now` does to a program, whose task depends on who has slept before."""
        self.touch(task, _CLOCK)
        return self.now()

    def now(self) -> float:
        """Return seconds by a clock that goes on with each look, and by what tasks sleep."""
        return self._started + self._skipped + 1e-6 * next(self._ticks)

    def _stop(
        self,
        task: Task,
        what: str,
        touching: tuple[tuple[Hashable, bool], ...],
        is_ready: Callable[[], bool] | None,
        timeout: float | None,
        sleeps: bool = False,
    ) -> None:
        if self.is_over:
            self._leave()
        if self.on_stop is not None:
            self.on_stop()
        with self._guard:
            task.what, task.touching, task.is_ready = what, touching, is_ready
            if self._with_places:
                frame = program_frame(3)
                task.place = "" if frame is None else format_frame(frame)
            task.due = None if timeout is None else self.now() + timeout
            task.is_parked, task.timed_out = True, False
            key = (what, touching)
            task.repeats = (key, task.repeats[1] + 1 if task.repeats[0] == key else 0)
            naps = sleeps or (timeout is not None and timeout <= _SHORT_SECS)
            task.lets = set() if naps else None
            if task.repeats[1] >= _POLLS or (naps and not task.may_nap(_line(), _FREE_NAPS)):
                task.lets = {each for each in self.tasks if each is not task and each.can_go()}
                task.touching += ((_PACE, True),)
                self.touch(task, _PACE)
            elif timeout is not None and not naps:
                self.touch(task, _LONG_WAITS)
                self.touch(task, _CLOCK)
            was_away, task.is_away = task.is_away, False
            if was_away and self.running is not None:
                chosen = None  # it comes back while another one goes
            else:
                chosen = self._next(task)
                if chosen is task:
                    self._takes(task)
                    return
        self._hand(chosen)
        self._take_baton(task)

    def _hand(self, task: Task | None) -> None:
        if task is not None:
            task.baton.release()

    def _take_baton(self, task: Task) -> None:
        if not self.is_over:
            task.baton.acquire()
        if self.is_over:
            self._leave()
        self._takes(task)

    def _leave(self) -> NoReturn:
        """End the calling task where it is; or let it stand still, where the process ends at once."""
        while self._keeps_still:
            sleep(1.0)
        raise Abandoned

    @staticmethod
    def _takes(task: Task) -> None:
        task.is_parked = False
        for thing, writes in task.touching:
            if task.step is not None:
                task.step.touch(thing, writes)

    # -- the next task ------------------------------------------------------------------------------------------------

    def _next(self, last: Task | None) -> Task | None:
        """Choose the task that goes on; None if none does now, or all is over. The guard is held."""
        if self.is_over:
            return None
        if all(task.ended or task.is_daemon for task in self.tasks):
            self._finish()
            return None
        ready = [task for task in self.tasks if task.can_go()] or self._by_time_out()
        ready.sort(key=lambda task: task.lets is not None)  # those that sleep or time out are not the usual ones
        if not ready:
            self.running = None
            self._nobody()
            return None
        if len(self.steps) >= self._max_steps:
            self._finish(Failure("endless", f"it has made {self._max_steps} steps and does not end"))
            return None
        names = [task.name for task in ready]
        running = last.name if last in ready and last.lets is None else None
        self.asked = tuple(names), running
        try:
            name = self._strategy.choose(names, running, self.steps)
        except Exception as error:  # raised where the order was asked for
            self.error = error
            self._finish()
            return None
        if name is None:
            self.is_cut = True
            self._finish()
            return None
        return self._chosen(ready[names.index(name)], tuple(names), running)

    def _chosen(self, task: Task, names: tuple[str, ...], running: str | None) -> Task:
        if task.due is not None and task.is_ready is not None and not task.is_ready():
            task.timed_out = True
            task.touching += _NAP
            self._skipped = max(self._skipped, task.due - self._started)
        for each in self.tasks:
            if each.lets:
                each.lets.discard(task)
                each.lets = {other for other in each.lets if other.can_go()}
        self.running = task
        task.step = TaskStep(task.name, names, running, task.what, task.place)
        task.step.touch(_PACE, writes=False)
        self.steps.append(task.step)
        return task

    def _by_time_out(self) -> list[Task]:
        """Return the task that goes on when no other can: a sleeper that let others go first, or the first time-out."""
        if resting := [task for task in self.tasks if task.is_parked and not task.ended and self._only_lets(task)]:
            return resting
        if self._waits_for_c and any(task.is_away for task in self.tasks):
            return []
        due = [task for task in self.tasks if task.is_parked and not task.ended and task.due is not None]
        return [min(due, key=lambda task: task.due or 0.0)] if due else []

    @staticmethod
    def _only_lets(task: Task) -> bool:
        return task.lets is not None and (task.is_ready is None or task.is_ready())

    def _nobody(self) -> None:
        """End the order with a deadlock, unless something may come from outside."""
        left = [task for task in self.tasks if not task.ended]
        if any(task.is_away or task.outside for task in left):
            return  # the watcher looks again
        if all(task.is_daemon or is_idle_worker(task.thread) for task in left):
            self._finish()
            return
        lines = [f"{len(left)} tasks wait, and none can go on:"]
        frames = current_frames()
        for task in left:
            frame = frames.get(task.ident)
            place = frame and program_frame_of(frame)
            lines.append(f"  task {task.name} ({_thread_name(task)}) {task.what}{f', at {place}' if place else ''}")
        self._finish(Failure("deadlock", "\n".join(lines)))

    # -- what the watcher calls ---------------------------------------------------------------------------------------

    def look_again(self, *, is_patient: bool = True) -> None:
        """Choose anew where no task could go on: something may have come from outside.

        Args:
            is_patient: Whether tasks that are away may still come back before another one's time is up.
        """
        with self._guard:
            if self.running is not None or self.is_over:
                return
            self._waits_for_c = is_patient
            can_go = not is_patient or any(task.can_go() for task in self.tasks)
            chosen = self._next(None) if can_go else None
            self._waits_for_c = True
        self._hand(chosen)

    def leave(self, task: Task, steps: int) -> None:
        """Let others go on while a task waits outside, if it has not gone on since a count of steps."""
        with self._guard:
            if self.running is not task or len(self.steps) != steps or task.is_parked or self.is_over:
                return
            if not task.is_shown:
                return  # it starts or joins a thread, which is only slow on a busy machine
            task.is_away = True
            frame = current_frames().get(task.ident)
            self.outside.add((frame and program_frame_of(frame)) or "an unknown place")
            chosen = self._next(None)
        self._hand(chosen)


def _line() -> tuple[object, int] | None:
    """Return the program's line that has called the scheduler; None where only libraries have."""
    frame = program_frame(4)
    return None if frame is None else (frame.f_code, frame.f_lineno)


@without_collection
def program_frame_of(frame: Any) -> str:
    """Return the place of the program where a frame is; empty if there is none."""
    return next((format_frame(each) for each in program_frames(frame)), "")


def is_idle_worker(thread: Any) -> bool:
    """Say whether a thread is an executor's worker; at the program's end those that wait for jobs are asked to end."""
    workers = sys.modules.get("concurrent.futures.thread")
    return workers is not None and thread in workers._threads_queues


def _thread_name(task: Task) -> str:
    return task.thread.name if task.thread is not None else "the caller"


def _letters(number: int) -> str:
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


class TaskWatcher:
    """A thread that looks whether the order that runs has tasks which wait outside of the scheduler's sight.

    Args:
        patience_secs: How long a task may do nothing, neither compute, nor want to, nor stop, until others go on.
        timeout_secs: How long no task may go on until the order is given up.
    """

    def __init__(self, patience_secs: float, timeout_secs: float) -> None:
        self._patience_secs = patience_secs
        self._timeout_secs = timeout_secs
        self._end = make_raw_lock()
        self._end.acquire()
        self.scheduler: Scheduler | None = None
        self._thread = threading.Thread(target=self._watch, name="tf1sessions-explore", daemon=True)

    def __enter__(self) -> TaskWatcher:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.release()
        self._thread.join(5.0)

    def _watch(self) -> None:
        seen: Any = None
        since, cpu = 0.0, 0.0
        while not self._end.acquire(timeout=min(0.02, self._patience_secs / 4)):
            scheduler = self.scheduler
            if scheduler is None or scheduler.is_over:
                continue
            scheduler.look_again()
            task = scheduler.running
            state = (id(scheduler), len(scheduler.steps), task)
            if state != seen:
                seen, since, cpu = state, _now(), _process_time()
                continue
            waited = _now() - since
            if waited > self._timeout_secs:
                scheduler.finish(_hang(scheduler, waited))
            elif task is None and waited > self._patience_secs:
                scheduler.look_again(is_patient=False)
            elif task is not None and waited > self._patience_secs * (_MAY_WAIT if task.may_wait else 1.0):
                is_busy = _process_time() - cpu > 0.2 * waited or other_threads_run()
                if not is_busy or waited > 20 * self._patience_secs:
                    scheduler.leave(task, state[1])


def _hang(scheduler: Scheduler, waited: float) -> Failure:
    frames = current_frames()
    lines = [f"nothing has gone on for {waited:.0f} s:"]
    for task in scheduler.tasks:
        if not task.ended:
            frame = frames.get(task.ident)
            does = "waits in C, or computes" if task.is_away or not task.is_parked else task.what
            lines.append(f"  task {task.name} ({_thread_name(task)}) {does}, at {frame and program_frame_of(frame)}")
    return Failure("hang", "\n".join(lines))
