"""Orders of a whole program's threads, each in a fork of a process that is ready to run it.

Data flow::

    exploring.py: explore_program() ──▶ the program's process: execute(payload)
      begin() ──▶ _ProgramOrders, in this process: fork() for each order ──▶ the child returns from begin()
                       ▲                                                      └─▶ the program runs, under a Scheduler
                       └── a file: steps, what went wrong ◀── _report(), a thread of the child, which ends it
      what was covered, or went wrong ──▶ findings.py

So each order begins with a program that has never run: its modules, graphs and files in memory are new. TensorFlow has
been imported, but nothing was run, and so a fork is safe. What the program prints is shown for the first order, and for
the one that goes wrong. A child has no descriptor of ours open for its report: a program may close all that there are,
as daemons do, and open files of its own by their numbers.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import random
import sys
from collections.abc import Hashable, Mapping
from threading import Event, Thread
from typing import Any, NoReturn

from tf1sessions.errors import ScheduleError, UsageError
from tf1sessions.scripts import importer, program
from tf1sessions.testing import findings
from tf1sessions.testing.cooperative import cooperative
from tf1sessions.testing.exploration import MAX_STEPS, PATIENCE_SECS, TIMEOUT_SECS, OrdersOf, Outcome
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.reports import RaceKind, how_to_accept, worst_report
from tf1sessions.testing.scheduler import Failure, Scheduler, Strategy, TaskWatcher, reported
from tf1sessions.testing.suppressions import Suppression, Suppressions
from tf1sessions.testing.tasks import TaskStep
from tf1sessions.testing.vector_clocks import VectorClocks, tracking

__all__ = ["execute"]

# As they are before the program runs, which may put something else in their places: a child must end, and say how.
_exit, _getpid, _getppid, _pickled = os._exit, os.getpid, os.getppid, pickle.dumps


def execute(payload: Mapping[str, Any]) -> int:
    """Explore the orders of a program that is run as by :func:`tf1sessions.scripts.program.execute`.

    Args:
        payload: ``notes`` is the file for the result, ``ignore`` the values of the kinds that are not reported,
            ``suppressions`` the rules for what else is not, ``levels`` those with which an order goes wrong,
            ``orders`` how many there may be, ``replay`` the one that is run instead.
    """
    explored = _ExploredProgram(payload)
    return program.execute(payload, explored.begin, explored.end, explored.raised)


class _InChild(BaseException):
    """Unwinds the parent's calls in a child, which is to run one order."""

    def __init__(self, strategy: Strategy, with_places: bool, tried: frozenset[Hashable]) -> None:
        super().__init__()
        self.strategy = strategy
        self.with_places = with_places
        self.tried = tried


class _ExploredProgram:
    def __init__(self, payload: Mapping[str, Any]) -> None:
        self._payload = payload
        self._ignore = tuple(map(RaceKind, payload["ignore"]))
        self._suppressions = Suppressions(Suppression(**rule) for rule in payload["suppressions"])
        self._order: _Order | None = None
        self._error: BaseException | None = None

    def begin(self) -> None:
        """In the parent, run all orders and end the process; in a child, return when the program may begin."""
        unused = TaskWatcher(PATIENCE_SECS, TIMEOUT_SECS)  # each child has one
        orders = _ProgramOrders(
            [lambda: None], None, None, 0, self._ignore, MAX_STEPS, unused, suppressions=self._suppressions
        )
        orders.outcome_path = f"{self._payload['notes']}.order"
        result: dict[str, Any] = {}
        try:
            result["covered"] = str(orders.explore(self._payload["orders"], None, self._payload["replay"]))
        except ScheduleError as error:
            text = str(error).rpartition("\n")[0]  # without what a caller of explore() is to do
            result |= {"failure": text, "schedule": error.schedule, **_found(orders.wrong)}  # type: ignore[attr-defined]
        except UsageError as error:
            result["wrong"] = str(error)
        except _InChild as child:
            levels = tuple(self._payload["levels"])
            self._order = _Order(child, self._ignore, self._suppressions, levels, orders.outcome_path)
        if self._order is None:
            result["unused"] = self._suppressions.unused
            findings.write(self._payload["notes"], result)
            _end_process(1 if "failure" in result else 2 if "wrong" in result else 0)
        self._order.begin()

    def raised(self, error: BaseException) -> None:
        """Note what ended the program."""
        self._error = error

    def end(self, exit_code: int) -> None:
        """Let the order end with the program's other threads; a process that the program forked ends as any other."""
        assert self._order is not None
        if not self._order.is_here:
            return
        error = self._error
        if error is None and exit_code:
            error = SystemExit(exit_code)
        self._order.end(error)


class _ProgramOrders(OrdersOf):
    """Orders of a program, each in a child, which leaves its outcome at ``outcome_path``."""

    outcome_path: str

    @contextlib.contextmanager
    def prepared(self) -> Any:
        yield  # a child does that for itself

    def order(self, strategy: Strategy, *, with_places: bool = False) -> Outcome:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        pid = os.fork()
        if not pid:
            if self._run and not with_places:
                _be_silent()
            raise _InChild(strategy, with_places, self._tried)
        os.waitpid(pid, 0)
        content, lost = findings.read(self.outcome_path), findings.lost(self.outcome_path)
        if lost is not None:
            os.unlink(f"{self.outcome_path}.lost")
            return Outcome([], Failure("lost", f"what happened in it could not be written: {lost}"), False)
        if content is None:
            return Outcome([], Failure("hang", "its process ended before its threads did"), False)
        os.unlink(self.outcome_path)
        outcome = pickle.loads(content)  # which a fork of this process has written
        steps = _follow(strategy, outcome["steps"])
        if outcome["asked"] is not None:
            ready, running = outcome["asked"]
            strategy.choose(ready, running, steps)  # raises what it has raised there
        self._longest = max(self._longest, len(steps))
        self._outside |= outcome["outside"]
        self.suppressions.use(outcome["used"])
        return Outcome(steps, outcome["failure"], outcome["is_cut"])


def _found(outcome: Outcome | None) -> dict[str, Any]:
    """Return plain values of what went wrong: the hazard's report, and where the order's last steps were."""
    assert outcome is not None and outcome.failure is not None
    report = outcome.failure.report
    places = [step.place for step in reversed(outcome.steps) if step.place]
    return {"report": report and report.to_json(), "places": places[:1]}


def _follow(strategy: Strategy, recorded: list[tuple[Any, ...]]) -> list[TaskStep]:
    """Let a strategy know what its copy has chosen in a child; returns the steps."""
    steps: list[TaskStep] = []
    for task, ready, running, what, place, touched in recorded:
        strategy.choose(ready, running, steps)
        steps.append(TaskStep(task, ready, running, what, place))
        steps[-1].touched = touched
    return steps


def _be_silent() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


def _end_process(exit_code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    _exit(exit_code)


class _Order:
    """One order, in its child."""

    def __init__(
        self,
        child: _InChild,
        ignore: tuple[RaceKind, ...],
        suppressions: Suppressions,
        levels: tuple[str, ...],
        outcome_path: str,
    ) -> None:
        self._levels = levels
        self._outcome_path = outcome_path
        self._process, self._parent = os.getpid(), os.getppid()
        self._detector = RaceDetector(VectorClocks(), ignore, suppressions=suppressions)
        self._scheduler = Scheduler(
            child.strategy, MAX_STEPS, with_places=child.with_places, keeps_still=True, tried=child.tried
        )
        self._watched = contextlib.ExitStack()  # never left: the process ends
        self._task = self._scheduler.add()

    @property
    def is_here(self) -> bool:
        """Whether this is the process that runs it, and not a fork of that."""
        return _getpid() == self._process

    def begin(self) -> None:
        """Put all in place, and let the calling thread be the first task."""
        watcher = self._watched.enter_context(TaskWatcher(PATIENCE_SECS, TIMEOUT_SECS))
        Thread(target=self._report, name="tf1sessions-report", daemon=True).start()
        random.seed(0)
        gc.disable()
        self._watched.enter_context(cooperative())
        self._watched.enter_context(tracking(self._detector.clocks))
        importer.after_import(lambda _: self._watch_tensorflow())
        self._scheduler.begin()
        watcher.scheduler = self._scheduler
        self._scheduler.enter(self._task)

    def end(self, error: BaseException | None) -> None:
        """End the first task, and wait for the end of the process."""
        self._scheduler.leave_by(self._task, error)
        Event().wait()

    def _watch_tensorflow(self) -> None:
        from tf1sessions.testing.tensorflow_hooks import watch_graphs

        self._watched.enter_context(watch_graphs(self._detector, self._scheduler))

    def _report(self) -> None:
        """Wait for the order's end, report it to the parent, and end the process."""
        try:
            while not self._scheduler.wait(0.05):
                if _getppid() != self._parent:
                    _exit(1)
            self._detector.is_over = True
            findings.write(self._outcome_path, _pickled(self._outcome()))
        except Exception as error:
            findings.lose(self._outcome_path, error)
        finally:  # else the process would never end: its first thread waits for that
            _end_process(0)

    def _outcome(self) -> dict[str, Any]:
        scheduler = self._scheduler
        failure, report = scheduler.failure, worst_report(self._detector.reports, self._levels)
        if failure is None and report is not None and not scheduler.is_cut:
            failure = reported(report, how_to_accept(report.kind))
        if failure is not None:
            failure = Failure(failure.kind, failure.text, failure.raised, report=failure.report)
        return {
            "steps": [
                (step.task, step.ready, step.running, step.what, step.place, step.touched) for step in scheduler.steps
            ],
            "asked": scheduler.asked if scheduler.is_cut or scheduler.error is not None else None,
            "failure": failure,
            "is_cut": scheduler.is_cut,
            "outside": scheduler.outside,
            "used": self._detector.suppressions.used,
        }
