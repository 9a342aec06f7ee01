"""Explores the orders of a program's threads, in a process of its own; what ``tf1sessions races --explore`` calls.

Data flow; no TensorFlow in the caller's process::

    explore_program(job) ──▶ runs.run_with() ──▶ the program's process: explored_program.py ──▶ its findings
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.scripts.jobs import Job
from tf1sessions.testing.reports import RaceKind, Report, failing_levels
from tf1sessions.testing.runs import named, run_with, shown
from tf1sessions.testing.suppressions import Suppression

__all__ = ["Explored", "explore_program"]


@dataclass(frozen=True)
class Explored:
    """Result of a program's exploration.

    Attributes:
        covered: Which orders were run, in words; empty if one went wrong.
        failure: What went wrong, in words; empty if nothing did.
        schedule: The order in which it did.
        ended: Whether it ended by itself, not by the time limit or an interrupt.
        exit_code: 124 after the time limit, 128 + signal after a signal.
        report: The race detector's, where that is what goes wrong.
        place: ``file:line in function`` of the last step of the order that goes wrong.
        unused: The suppressions that have covered nothing in any order.
    """

    covered: str
    failure: str
    schedule: str
    ended: bool
    exit_code: int
    report: Report | None = None
    place: str = ""
    unused: tuple[Suppression, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``json.dumps``."""
        report = None if self.report is None else self.report.to_json()
        return asdict(replace(self, report=None, unused=())) | {"report": report, "unused": list(map(str, self.unused))}


def explore_program(
    job: Job,
    orders: int,
    *,
    replay: str | None = None,
    ignore: Iterable[RaceKind] = (),
    suppressions: Sequence[Suppression] = (),
    fail_on: str = "hazards",
    time_limit: float | None = None,
    stdio: tuple[int | None, int, int] | None = (0, 1, 2),
) -> Explored:
    """Run a program in so many orders of its threads at most, each from its beginning, until one goes wrong.

    Args:
        job: The program, its arguments and settings.
        orders: How many at most.
        replay: One order instead, the ``schedule`` of an earlier result.
        ignore: Kinds of hazards that do not count.
        suppressions: What else does not; see :func:`~tf1sessions.testing.suppressions.read_suppressions`.
        fail_on: Which reports go wrong: ``"hazards"``, ``"warnings"`` as well, or ``"notes"`` too.
        time_limit: Seconds after which all ends; by default the job's own limit.
        stdio: File descriptors that the program's stdin, stdout and stderr are; None for an output that is discarded.

    Raises:
        ScriptUsageError: The program cannot be run; nothing was started.
        UsageError: The replay is no order of this program, or ``fail_on`` none of the three.
        WorkerStartError: TensorFlow could not be loaded.

    Thread-safety: may be called from any thread, by several at once.

    Example:
        >>> from tf1sessions.scripts.jobs import Job
        >>> found = explore_program(Job(script="train.py"), 100)    # doctest: +SKIP
    """
    more = {
        "ignore": [kind.value for kind in ignore],
        "suppressions": [rule.to_json() for rule in suppressions],
        "levels": failing_levels(fail_on, "explore_program()"),
        "orders": orders,
        "replay": replay,
    }
    target = "tf1sessions.testing.explored_program:execute"
    notes, _, exit_code, ended = run_with(target, more, job, time_limit, stdio)
    found = notes or {}
    if "wrong" in found:
        raise UsageError(found["wrong"], where="the exploration", next_step="See what the program does by itself.")
    covered, failure, schedule = (found.get(name, "") for name in ("covered", "failure", "schedule"))
    report, places = found.get("report"), found.get("places", [])
    return Explored(
        covered,
        failure.replace(f"{job.path}:", f"{job.shown}:").replace(os.path.join(os.getcwd(), ""), ""),
        schedule,
        ended,
        exit_code,
        shown(Report.from_json(report), job) if report else None,
        named(places[0], job) if places else "",
        tuple(suppressions[number] for number in found.get("unused", ())),
    )
