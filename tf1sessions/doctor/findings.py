"""Findings of the doctor, each with its place, the reason, and the fix."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable
from typing import Any

from ..source.program import SourceLine

__all__ = ["Finding", "FindingSource", "Severity", "in_order"]


class Severity(enum.IntEnum):
    """The severity of a finding; the order in which findings are reported."""

    NOTE = 1  #: costs time or memory, or is good to know
    WARNING = 2  #: may give other results, or fail, under some circumstances
    ERROR = 3  #: hangs, crashes or silently does something else


class FindingSource(enum.Enum):
    """The way in which a finding was made."""

    MACHINE = "machine"
    STATIC = "static"  #: in the script's text
    RUN = "run"  #: while the script ran


@dataclasses.dataclass(frozen=True)
class Finding:
    """One problem.

    Attributes:
        rule: Its name, for suppressing it and for the guide: ``"late-visible-devices"``.
        severity: How bad it is.
        title: What is there, in a line, with the values and names that it is about.
        why: Why it is a problem.
        fix: What to write instead.
        source: How it was found.
        place: Where; None for the machine.
        others: Further places of the same thing.
    """

    rule: str
    severity: Severity
    title: str
    why: str
    fix: str
    source: FindingSource
    place: SourceLine | None = None
    others: tuple[SourceLine, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain values, the same in every version of this library."""
        return {
            "rule": self.rule,
            "severity": self.severity.name.lower(),
            "title": self.title,
            "why": self.why,
            "fix": self.fix,
            "source": self.source.value,
            "place": None if self.place is None else dataclasses.asdict(self.place),
            "others": [dataclasses.asdict(place) for place in self.others],
        }


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The worst first; of one severity those of the machine first, then by place."""
    return sorted(findings, key=_rank)


def _rank(finding: Finding) -> tuple[Any, ...]:
    place = finding.place or SourceLine("", 0)
    return (-finding.severity, finding.place is not None, place.file, place.cell or 0, place.line, finding.rule)
