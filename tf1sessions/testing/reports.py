"""Reports of the race detector: two accesses, each with its thread and its stack, and why the pair is a hazard."""

from __future__ import annotations

import enum
import linecache
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tf1sessions.errors import UsageError
from tf1sessions.texts import printable

__all__ = [
    "FIX",
    "LEVELS",
    "MOST_PAIRS",
    "WHY",
    "Access",
    "GraphRaceWarning",
    "Kind",
    "RaceKind",
    "Report",
    "StackFrame",
    "failing_levels",
    "how_to_accept",
    "worst_report",
]

#: The levels of reports, the worst first.
LEVELS = ("hazard", "warning", "note")

#: How many pairs of places are counted for one report. Arbitrary: one is shown.
MOST_PAIRS = 1000


class GraphRaceWarning(UserWarning):
    """A report of the race detector of a kind that may be intended, as pytest shows it."""


class RaceKind(enum.Enum):
    """Kind of hazard that two accesses are. The value is the name that users read."""

    CONSTRUCTION = "concurrent construction"
    MUTATION = "mutation while running"
    GROWTH = "graph growth in a loop"
    CLOSED = "run after close"
    VARIABLE = "variable read while assigned"
    LEAK = "default graph leak"
    EXPORT = "graph written while it is built"
    RESTART = "initialized under its users"
    QUEUE = "queue closed under its users"
    FEED = "fed array written during its run"
    RESULT = "result array written by two threads"
    COORDINATOR = "coordinator that nobody joins"
    PYTHON = "state of a Python function in two runs"
    DEADLOCK = "deadlock"
    UNKNOWN = "unknown order"
    PUBLICATION = "publication without a seen order"

    @property
    def level(self) -> str:
        """``"hazard"``; ``"warning"`` for what programs may do on purpose; ``"note"`` for what is no more than that."""
        if self is RaceKind.PUBLICATION:
            return "note"
        return "warning" if self in _WARNINGS else "hazard"

    @property
    def is_warning(self) -> bool:
        """Whether programs may do it on purpose."""
        return self.level == "warning"

    @property
    def is_note(self) -> bool:
        """Whether it is something to look at, and nothing more."""
        return self.level == "note"


_WARNINGS = (
    RaceKind.PYTHON,
    RaceKind.RESULT,
    RaceKind.VARIABLE,
    RaceKind.RESTART,
    RaceKind.QUEUE,
    RaceKind.COORDINATOR,
    RaceKind.UNKNOWN,
)
#: The public name.
Kind = RaceKind


WHY = {
    RaceKind.CONSTRUCTION: (
        "Two threads change one graph, and nothing makes one wait for the other: names, scopes, control inputs and "
        "collections get mixed up now and then."
    ),
    RaceKind.MUTATION: (
        "A thread changes the graph while another may run it: a run waits until the session has taken the change in, "
        "and one that begins in the midst sees half of it."
    ),
    RaceKind.GROWTH: (
        "Each round adds operations that stay for ever: memory grows, and each run after a change is slower."
    ),
    RaceKind.CLOSED: "A session may be closed while another thread still runs it, which then ends with an error.",
    RaceKind.VARIABLE: (
        "One run assigns a variable that another may read at the same time: the reader may get the value from before, "
        "from after, or of a variable that is not a resource a mixture of both."
    ),
    RaceKind.LEAK: (
        "The default graph belongs to the thread that entered it. In another thread operations go to a graph of that "
        "thread's own, where nobody looks for them."
    ),
    RaceKind.EXPORT: (
        "A thread writes or finalizes the graph while another may change it: what is written has half of the change, "
        "or the change is refused."
    ),
    RaceKind.RESTART: (
        "An iterator or a table is initialized while another thread takes values from it, which then come from before, "
        "from after, or twice."
    ),
    RaceKind.QUEUE: (
        "A queue is closed while another thread may still put something into it, which then ends with an error."
    ),
    RaceKind.FEED: (
        "The array was written while a run used it. It may be read at any time until the run has ended, so the run has "
        "values from before and from after."
    ),
    RaceKind.RESULT: (
        "Two threads change an array that a run has returned, and nothing makes one wait for the other: of values that "
        "are read and written again, an update may be lost."
    ),
    RaceKind.COORDINATOR: (
        "Threads were started for a Coordinator, and nobody has joined it: their errors are lost, and they may run "
        "while the session is closed."
    ),
    RaceKind.PYTHON: (
        "Two runs call a Python function (tf.py_func) that reads a value and writes it again, and nothing keeps them "
        "apart: TensorFlow calls it in threads of its own, and an update may be lost."
    ),
    RaceKind.DEADLOCK: "Threads wait for each other, and would for ever; one of them got a DeadlockError.",
    RaceKind.UNKNOWN: "Whether one waits for the other could not be seen.",
    RaceKind.PUBLICATION: (
        "One thread went on building after it had made what the other runs, and nothing that could be seen made the "
        "other wait for the end. No change came after the other's first run."
    ),
}
FIX = {
    RaceKind.CONSTRUCTION: (
        "Build in one thread before the others start, give each thread a graph of its own, or hold one lock around all "
        "building."
    ),
    RaceKind.MUTATION: (
        "Build everything before the threads that run it start; graph.finalize() or GraphSession.seal() refuses what "
        "comes later."
    ),
    RaceKind.GROWTH: "Make the operation once, before the loop or the request, and feed what changes.",
    RaceKind.CLOSED: "Join the threads that run the session before it is closed.",
    RaceKind.VARIABLE: "Lock both runs, or read a copy; asynchronous training may mean it so.",
    RaceKind.LEAK: "Enter the graph in the thread: `with graph.as_default(): ...` in its function.",
    RaceKind.EXPORT: (
        "Write the graph in the thread that builds it, before others start; or hold one lock around both."
    ),
    RaceKind.RESTART: "Let all users come to an end, or meet at a barrier, before it is initialized again.",
    RaceKind.QUEUE: "Let the threads that fill the queue end first, or the last of them close it.",
    RaceKind.FEED: "Feed a copy, or wait for the run before the array is used again.",
    RaceKind.RESULT: "Copy the array in each thread, or hold a lock while it is changed.",
    RaceKind.COORDINATOR: "At the end: coord.request_stop(), then coord.join(threads), before the session is closed.",
    RaceKind.PYTHON: "Hold a lock in the function, around the reading and the writing.",
    RaceKind.DEADLOCK: (
        "Take locks in one order everywhere, and join threads without a lock that they need; let what is waited for "
        "come from a thread that does not wait itself, also when it fails."
    ),
    RaceKind.UNKNOWN: (
        "Begin to watch before the lock is made; wait for a job's result before the next is submitted that must not "
        "meet it; or declare what orders them, with testing.hand_over() and testing.take_over()."
    ),
    RaceKind.PUBLICATION: (
        "Publish the model when all of it is built: make the session last, or finalize the graph before others see it."
    ),
}


def failing_levels(fail_on: str, where: str) -> tuple[str, ...]:
    """Return the levels whose reports are failures.

    Args:
        fail_on: ``"hazards"``, ``"warnings"`` for these as well, or ``"notes"`` for all.
        where: Where it was given, for the error.

    Raises:
        UsageError: It is none of these.
    """
    names = [f"{level}s" for level in LEVELS]
    if fail_on not in names:
        raise UsageError(f"fail_on={fail_on!r}", where=where, next_step=f"Give one of {', '.join(map(repr, names))}.")
    return LEVELS[: names.index(fail_on) + 1]


def worst_report(reports: Iterable[Report], levels: tuple[str, ...]) -> Report | None:
    """Return the first of the reports that are of the worst level, among those of some levels."""
    failing = [report for report in reports if report.kind.level in levels]
    return min(failing, key=lambda report: LEVELS.index(report.kind.level), default=None)


def how_to_accept(kind: RaceKind) -> str:
    """Return the options of ``tf1sessions races`` that accept a kind."""
    return f"--ignore {kind.value.replace(' ', '-')}, or an entry in a file for --suppressions"


class StackFrame(NamedTuple):
    """One line of a stack: ``file:line in function``, as stacks have it."""

    file: str
    line: int
    function: str

    @classmethod
    def parse(cls, text: str) -> StackFrame | None:
        """Return the frame that a text is; None for what stands in the place of a stack."""
        found = _FRAME.fullmatch(text)
        return cls(found["file"], int(found["line"]), found["function"]) if found else None

    @property
    def source(self) -> str:
        """The line of the program, without what is around it; empty where the file is not to be read."""
        return linecache.getline(self.file, self.line).strip()


_FRAME = re.compile(r"(?P<file>.*):(?P<line>\d+) in (?P<function>.*?)(, which started it)?")


@dataclass(frozen=True)
class Access:
    """One side of a pair.

    Attributes:
        thread: The thread's name.
        what: What it did, as ``"adds operations"``.
        stack: Where: ``file:line in function``, the innermost first, without the files of libraries.
        names: The operations, or the other things, that are concerned; at most a few.
        times: How often it was seen at this place.
        locks: ``file:line`` where each of the locks was made that the thread held.
        started: ``file:line in function`` where the thread was started; empty for the main thread, and where that was
            not seen.
    """

    thread: str
    what: str
    stack: tuple[str, ...]
    names: tuple[str, ...] = ()
    times: int = 1
    locks: tuple[str, ...] = ()
    started: str = ""

    @property
    def place(self) -> str:
        """``file:line`` of the innermost frame."""
        return self.stack[0].partition(" in ")[0] if self.stack else "an unknown place"

    def __str__(self) -> str:
        named = f": {', '.join(map(printable, self.names))}" if self.names else ""
        more = f" ({self.times} times)" if self.times > 1 else ""
        lines = [f"thread {self.thread!r} {self.what}{named}{more}"]
        lines += [f"    {_with_source(frame)}" for frame in self.stack]
        lines += [f"  it holds the lock made at {printable(place)}" for place in self.locks]
        if self.started and not self.stack[0].endswith(", which started it"):
            lines.append(f"  it was started at {_with_source(self.started)}")
        return "\n".join(lines)


def _plain(access: Access) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(access).items()}


def _access(values: Mapping[str, Any]) -> Access:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return Access(**fields)


def _with_source(text: str) -> str:
    """Return a line of a stack with the program's line behind it."""
    frame = StackFrame.parse(text)
    source = frame.source if frame is not None else ""
    return printable(f"{text}: {source}" if source else text)


@dataclass(frozen=True)
class Report:
    """Two accesses that nothing orders.

    Attributes:
        kind: What is wrong.
        graph: The graph or the session, as messages name it.
        first: The access that came first, this time.
        second: The other.
        others: How many more pairs of places of the same kind and graph there are in threads with such names, counted
            up to :data:`MOST_PAIRS`.
        note: What is known besides.
        made: ``file:line in function`` where the graph or the session was made; empty where that was not seen.
    """

    kind: RaceKind
    graph: str
    first: Access
    second: Access
    others: int = 0
    note: str = ""
    made: str = ""

    def __str__(self) -> str:
        return self.describe(f"graph_races(ignore=[Kind.{self.kind.name}], suppressions=FILE)")

    def describe(self, accept: str) -> str:
        """Return it as text.

        Args:
            accept: How the reader says that it is meant so, in the way that fits where the text is read.
        """
        made = f", made at {_with_source(self.made)}" if self.made else ""
        lines = [f"{self.kind.value}: {printable(self.graph)}{made}"]
        for access in (self.first, self.second)[self.first == self.second :]:
            lines += ["  " + line for line in str(access).split("\n")]
        if self.others:
            least = "at least " if self.others >= MOST_PAIRS else ""
            lines.append(f"  and {least}{self.others} more pair{'s' * (self.others != 1)} of places in such threads")
        note = f" {printable(self.note)}" if self.note else ""
        lines += [f"  why: {WHY[self.kind]}{note}", f"  fix: {FIX[self.kind]}"]
        if self.kind.is_warning:
            lines.append(f"  meant so? {accept}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``json.dumps``."""
        sides = {name: _plain(side) for name, side in (("first", self.first), ("second", self.second))}
        level = {"level": self.kind.level, "warning": self.kind.is_warning}
        head = {"kind": self.kind.value, **level, "graph": self.graph, "made": self.made, **sides}
        return head | {"others": self.others, "note": self.note, "why": WHY[self.kind], "fix": FIX[self.kind]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Report:
        """Return the report of which :meth:`to_json` gave these values."""
        first, second = (_access(values[side]) for side in ("first", "second"))
        kind, more = RaceKind(values["kind"]), (values["others"], values["note"], values["made"])
        return cls(kind, values["graph"], first, second, *more)
