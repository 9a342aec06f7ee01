"""Graphs that grow: one line that adds the same operations again and again, with runs in between.

Data flow::

    graph_accesses.py ── grew(operation), ran(request) ──▶ GraphGrowth ── three rounds alike ──▶ RaceDetector.report()
    RaceDetector.reports ── still_grows() ──▶ is it growth by what is known now?

A *round* is what one line adds between two runs. Growth that ends is none: a round whose operations are run again
is an investment (a layer that is trained, an entry of a cache) and so is what belongs to it (its initializer), one that
belongs to another variable than the other rounds is bounded by the number of variables (weights that are loaded), and
a line that has stopped adding while the runs in between go on is at its end. So it is judged when reports are asked
for, and not when it is found.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from tf1sessions.testing.access_records import AccessRecord, Location
from tf1sessions.testing.frames import program_frames
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.reports import RaceKind

__all__ = ["GraphGrowth"]

#: How many rounds that are alike, after the first one, are growth. Arbitrary.
_ROUNDS = 3
#: How many times longer than ever before it must be quiet until growth has ended. Arbitrary.
_QUIET = 3
#: How many rounds that are alike are looked at when it is judged: the latest. Arbitrary.
_LOOKED_AT = 100
#: How many threads that ran the graph are remembered. Arbitrary: more than programs have.
_REMEMBERED = 1000


class GraphGrowth:
    """The growth of one graph.

    Args:
        location: The graph.
        reused: Gives the numbers of the operations that were run more than once.
    """

    def __init__(self, location: Location, reused: Callable[[], set[int]]) -> None:
        self._location = location
        self._reused = reused
        self._runs = 0
        self._last_run: AccessRecord | None = None
        self._last_runs: dict[int, AccessRecord] = {}  # by the thread's number
        self._lines: dict[Any, _Line] = {}
        self._open: list[_Line] = []  # with a round since the last run
        self._repeated: list[_Repeated] = []

    def ran(self, record: AccessRecord, detector: RaceDetector) -> None:
        """Note a run of the graph."""
        self._runs += 1
        if self._last_run is not record:
            if len(self._last_runs) > _REMEMBERED:
                self._last_runs.clear()
            self._last_run = self._last_runs[record.thread.number] = record
        if self._repeated or self._open:
            self._between_rounds(record, detector)

    def _between_rounds(self, record: AccessRecord, detector: RaceDetector) -> None:
        line = record.key[2:4]
        for each in self._repeated:
            each.quiet += each.run_line == line
        opened, self._open = self._open, []
        for each_line in opened:
            self._close_round(each_line, detector)

    def grew(self, record: AccessRecord, frame: FrameType | None, operation: Any) -> None:
        """Note an operation that was added."""
        key = (id(frame.f_code), frame.f_lineno) if frame is not None else None
        line = self._lines.get(key)
        if line is None:
            self._lines[key] = _Line(frame and frame.f_code, self._runs)
            return
        if line.runs != self._runs:
            line.runs = self._runs
            last_run = self._last_runs.get(record.thread.number, self._last_run)
            if last_run is None:
                return
            line.begin(frame, operation._id, record, last_run)
            self._open.append(line)
        if line.round is not None:
            line.round.add(operation)

    def _close_round(self, line: _Line, detector: RaceDetector) -> None:
        round_, line.round = line.round, None
        if round_ is None:
            return
        repeated = line.repeated.get(round_.key)
        if repeated is None:
            repeated = line.repeated[round_.key] = _Repeated(round_.last_run.key[2:4])
            self._repeated.append(repeated)
        repeated.add(round_)
        if repeated.times == _ROUNDS:
            detector.report(
                RaceKind.GROWTH,
                self._location.name,
                round_.last_run,
                round_.record,
                holds=lambda: repeated.still_grows(self._reused()),
                made=self._location.made,
            )


class _Round:
    """Operations that one line has added between two runs.

    Attributes:
        way: The stack that led to the line: it may be a function's.
        record, last_run: Of what was added, and of the run before.
        first, last: The numbers of the first and the last operation.
        inputs: The inputs that were there before the line's first round.
        newer: Operations of other lines that it uses, and that are newer than that; with their own inputs.
    """

    def __init__(self, way: Any, since: int, number: int, record: AccessRecord, last_run: AccessRecord) -> None:
        self.way = way
        self.record = record
        self.last_run = last_run
        self.first = self.last = number
        self.inputs: set[int] = set()
        self.newer: set[int] = set()
        self._since = since

    def add(self, operation: Any) -> None:
        self.last = operation._id
        for used in (*(tensor.op for tensor in operation.inputs), *operation.control_inputs):
            if used._id < self._since:
                self.inputs.add(used._id)
            elif used._id < self.first:
                self.newer.update((used._id, *(tensor.op._id for tensor in used.inputs)))

    @property
    def range(self) -> range:
        """The numbers of its operations, and of those that other threads have added meanwhile."""
        return range(self.first, self.last + 1)

    @property
    def key(self) -> tuple[Any, frozenset[int]]:
        """The key that is equal for those that are alike."""
        return self.way, frozenset(self.inputs)


class _Line:
    """A line that has added operations."""

    def __init__(self, code: CodeType | None, runs: int) -> None:
        self.code = code  # whose line it is; kept, so that its id stays its own
        self.runs = runs  # of the graph, when the last operation was added
        self.round: _Round | None = None  # the one since the last run
        self.repeated: dict[Any, _Repeated] = {}  # the rounds that are alike, by what they have in common
        self._since: int | None = None

    def begin(self, frame: FrameType | None, number: int, record: AccessRecord, last_run: AccessRecord) -> None:
        """Begin a round with an operation of this number."""
        if self._since is None:
            self._since = number
        way = tuple((each.f_code, each.f_lineno) for each in program_frames(frame))
        self.round = _Round(way, self._since, number, record, last_run)


class _Repeated:
    """Rounds that are alike.

    Attributes:
        run_line: The line of the runs in between.
        times: How many rounds there were.
        quiet: How many runs there were by that line since the last of them.
    """

    def __init__(self, run_line: Any) -> None:
        self.run_line = run_line
        self.times = self.quiet = 0
        self._longest = 1
        self._rounds: list[tuple[range, frozenset[int]]] = []

    def add(self, round_: _Round) -> None:
        if self.times:
            self._longest = max(self._longest, self.quiet)
        self.times += 1
        self.quiet = 0
        self._rounds = [*self._rounds[1 - _LOOKED_AT :], (round_.range, frozenset(round_.newer))]

    def still_grows(self, reused: set[int]) -> bool:
        """Say whether it goes on, and leaves operations that are not used again."""
        if self.quiet > _QUIET * (self._longest + 1):
            return False
        once = [added for added, newer in self._rounds if reused.isdisjoint(added) and reused.isdisjoint(newer)]
        return len(once) >= _ROUNDS
