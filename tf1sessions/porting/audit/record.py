"""Results of an audit: frozen records with plain values."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

from ...source.program import SourceLine

__all__ = ["RULES", "STEPS", "STEPS_BY_NAMES", "Audit", "FileAudit", "Place", "SymbolCount"]

#: The steps of a port in their order; ``run`` is the program as it is, under ``tf1sessions run``.
STEPS = ("run", "py3", "v1", "clean", "functions", "native")
#: Those that the names in a file decide about. For the others the files are ported, in memory.
STEPS_BY_NAMES = STEPS[:4]

#: Rule -> what it says, for reports that name rules.
RULES = {
    "gone-symbol": "A name of TensorFlow 1 that is nowhere in TensorFlow 2 or tf1sessions",
    "inner-symbol": "A name from inside TensorFlow 1 that has another address now",
    "custom-operation": "A library of operations that was compiled for TensorFlow 1",
    "old-protocol-buffer": "A module that protoc wrote for an old release of protobuf",
    "old-library": "What left Python 3, NumPy or another library, and has no equal there",
    "python-2": "A file in Python 2",
    "not-python": "A file that is not Python",
    "unreadable": "A file or folder that cannot be read",
    "unknown-symbol": "A name that TensorFlow 1.15.5 did not have",
    "unclear-name": "A name that may be TensorFlow's, or something else",
}


@dataclasses.dataclass(frozen=True)
class Place:
    """A line at which something is to be known or done.

    Attributes:
        rule: One of :data:`RULES`.
        line: Where.
        what: What is there.
        fix: What to do; None where that is not known.
        symbol: The name that it is about.
        blocks: The first step that cannot be reached without a change by hand here; None if it blocks none.
    """

    rule: str
    line: SourceLine
    what: str
    fix: str | None = None
    symbol: str | None = None
    blocks: str | None = None

    @property
    def by_hand(self) -> bool:
        return self.blocks is not None

    def to_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "place": dataclasses.asdict(self.line),
            "what": self.what,
            "fix": self.fix,
            "symbol": self.symbol,
            "blocks": self.blocks,
            "by_hand": self.by_hand,
        }


@dataclasses.dataclass(frozen=True)
class FileAudit:
    """Result for one file.

    Attributes:
        file: As the user named it.
        lines: How many it has; of a notebook those of its code cells.
        stands: What it is today: ``"tensorflow 1"``, ``"v1"``, ``"clean"``, ``"python 2"``, ``"no tensorflow"`` or
            ``"unread"``.
        reach: The last of :data:`STEPS` that it reaches without a change by hand; None if not even the first. It is
            one of :data:`STEPS_BY_NAMES` where not all steps are asked for.
        reach_with_imports: The same, with what it imports of the other files.
        waits_for: The imported file that holds it back.
        stays: Why it does not reach the last step, where all steps are asked for.
        imports: The files of the audit that it imports.
        uses: Verdict of symbols.py, or ``"unknown"`` -> how many uses of names there are.
        constructs: What it does in TensorFlow 1's way -> the places.
        places: What is to be known or done.
    """

    file: str
    lines: int
    stands: str
    reach: str | None
    reach_with_imports: str | None
    waits_for: str | None = None
    stays: str | None = None
    imports: tuple[str, ...] = ()
    uses: dict[str, int] = dataclasses.field(default_factory=dict)
    constructs: dict[str, tuple[SourceLine, ...]] = dataclasses.field(default_factory=dict)
    places: tuple[Place, ...] = ()

    @property
    def by_hand(self) -> int:
        return sum(place.by_hand for place in self.places)

    def to_json(self) -> dict[str, Any]:
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        constructs = {
            kind: [dataclasses.asdict(line) for line in lines] for kind, lines in sorted(self.constructs.items())
        }
        places = [place.to_json() for place in self.places]
        return plain | {"constructs": constructs, "places": places, "by_hand": self.by_hand}


@dataclasses.dataclass(frozen=True)
class SymbolCount:
    """A name of TensorFlow 1, what became of it, and how often it is used; verdicts are those of symbols.py."""

    name: str
    verdict: str
    target: str | None
    sentence: str | None
    uses: int
    files: int


@dataclasses.dataclass(frozen=True)
class Audit:
    """The findings in all files, which stand in the order in which they are to be ported: imports first.

    Attributes:
        files, symbols: What was found.
        steps: The steps that were asked for: of ``native`` nothing is known where that is none of them.
    """

    files: tuple[FileAudit, ...]
    symbols: tuple[SymbolCount, ...]
    steps: tuple[str, ...] = STEPS_BY_NAMES

    @property
    def by_hand(self) -> int:
        return sum(file.by_hand for file in self.files)

    @property
    def incomplete(self) -> bool:
        """Whether something could not be read at all."""
        return any(place.rule == "unreadable" for file in self.files for place in file.places)

    def reaches(self) -> dict[str, int]:
        """Step, or ``"none"`` -> how many files that use TensorFlow reach just that, with what they import."""
        counts = collections.Counter(file.reach_with_imports or "none" for file in self.to_port())
        return {step: counts[step] for step in (*reversed(self.steps), "none")}

    def to_port(self) -> list[FileAudit]:
        """The files that are part of the port: those with TensorFlow or Python 2, and those that cannot be read."""
        return [file for file in self.files if file.stands != "no tensorflow"]

    def verdicts(self) -> dict[str, int]:
        """Verdict -> how many uses of names have it."""
        counts: collections.Counter[str] = collections.Counter()
        for file in self.files:
            counts.update(file.uses)
        return dict(counts.most_common())

    def constructs(self) -> dict[str, tuple[int, int]]:
        """Construct -> in how many places and in how many files it is, the most frequent first."""
        places: collections.Counter[str] = collections.Counter()
        files: collections.Counter[str] = collections.Counter()
        for file in self.files:
            places.update({kind: len(lines) for kind, lines in file.constructs.items()})
            files.update(file.constructs.keys())
        return {kind: (count, files[kind]) for kind, count in places.most_common()}

    def to_json(self) -> dict[str, Any]:
        return {
            "by_hand": self.by_hand,
            "lines": sum(file.lines for file in self.files),
            "reaches": self.reaches(),
            "verdicts": self.verdicts(),
            "constructs": {
                kind: {"places": places, "files": files} for kind, (places, files) in self.constructs().items()
            },
            "symbols": [dataclasses.asdict(symbol) for symbol in self.symbols],
            "files": [file.to_json() for file in self.files],
        }
