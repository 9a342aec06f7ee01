"""The report of ``tf1sessions port``: diffs, a summary by step, explanations, and all of it as plain data for JSON."""

from __future__ import annotations

import collections
import dataclasses
import difflib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tf1sessions.cli.port_differences import PythonDifference
from tf1sessions.porting.rewriting.descriptions import described
from tf1sessions.porting.rewriting.rewrite import FilePort, PortNote, StepPort
from tf1sessions.source.files import SourceText
from tf1sessions.source.program import Unread
from tf1sessions.texts import counted, printable

__all__ = ["PortReport", "diffs", "explanations", "summary"]

if TYPE_CHECKING:
    from tf1sessions.porting.rewriting.verification import StepVerification

_PAGE = "migration_notes/port.md"
_PLACES_SHOWN = 5
#: As git colours a diff.
_STYLES: dict[str, dict[str, Any]] = {
    "---": {"bold": True},
    "+++": {"bold": True},
    "@": {"fg": "cyan"},
    "-": {"fg": "red"},
    "+": {"fg": "green"},
    "#": {"bold": True},
}


@dataclasses.dataclass(frozen=True)
class PortReport:
    """Results of a port, for its report.

    Attributes:
        to: The last step.
        steps: The project after each step that was kept.
        unread: The files that the last of them could not read.
        differences: What plain Python silently computes otherwise than ``tf1sessions run``.
        written: The files that were written, by their paths in the sources.
        out: The folder that has the copy.
        verifications: What was found about each step by running a program before and after it.
        trace: The recording that it was held against, if there was one.
    """

    to: str
    steps: tuple[StepPort, ...]
    unread: tuple[Unread, ...]
    differences: tuple[PythonDifference, ...]
    written: tuple[Path, ...]
    out: str | None
    verifications: tuple[StepVerification, ...] = ()
    trace: str | None = None

    @property
    def by_hand(self) -> list[PortNote]:
        return [note for step in self.steps for note in _notes(step) if note.kind == "by hand"]

    @property
    def is_complete(self) -> bool:
        """Whether all steps were kept, and nothing is left to do by hand."""
        return not self.by_hand and not self.unread and all(each.is_kept for each in self.verifications)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, whose keys the page describes."""
        return {
            "to": self.to,
            "steps": [_step_as_dict(step) for step in self.steps],
            "differences": [each.as_dict() for each in self.differences],
            "unread": [dataclasses.asdict(each) for each in self.unread],
            "by_hand": len(self.by_hand),
            "written": [os.fspath(path) for path in self.written],
            "out": self.out,
            "verified": [each.as_dict() for each in self.verifications],
            "complete": self.is_complete,
        }


def _notes(step: StepPort) -> Iterator[PortNote]:
    for file in step.files:
        yield from file.notes


def _step_as_dict(step: StepPort) -> dict[str, Any]:
    files = [
        {
            "file": file.before.shown,
            "changed": file.is_changed,
            "notes": [dataclasses.asdict(note) for note in file.notes],
        }
        for file in step.files
        if file.is_changed or file.notes
    ]
    return {"step": step.step, "files": files}


# -- diffs ------------------------------------------------------------------------------------------------------------


def diffs(steps: Sequence[StepPort], colour: bool) -> Iterator[bytes]:
    """Yield the diff of each step, as ``patch -p1`` takes it: several steps change a file one after the other."""
    for step in steps:
        changed = [file for file in step.files if file.is_changed]
        if not changed:
            continue
        yield _shown(f"# step {step.step}: {counted(len(changed), 'file')}\n", colour)
        for file in changed:
            for line in _diff(file):
                yield _shown(line, colour)


def _shown(line: str, colour: bool) -> bytes:
    """A line of a diff: as it is, byte for byte, or printable and coloured for a terminal."""
    if not colour:
        return line.encode("utf-8", "surrogateescape")
    style = next((style for start, style in _STYLES.items() if line.startswith(start)), {})
    return click.style(printable(line.rstrip("\r\n"), keep="\t"), **style).encode() + b"\n"


def _diff(file: FilePort) -> Iterator[str]:
    name = _name(file.before)
    before, after = (_lines(source) for source in (file.before, file.after))
    for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _name(source: SourceText) -> str:
    """A file's name for patch, seen from the current folder; a tab ends one that has spaces in it."""
    name = os.path.relpath(source.path)
    name = printable(os.fspath(source.path).lstrip("/") if name.startswith("..") else name)
    return f"{name}\t" if " " in name else name


def _lines(source: SourceText) -> list[str]:
    """The lines of a file as its bytes have them: a carriage return is a part of its line."""
    text = source.encode().decode("utf-8", "surrogateescape")
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]


# -- the summary ------------------------------------------------------------------------------------------------------


def summary(report: PortReport) -> Iterator[str]:
    """Yield the lines that say what was changed by which rule, what is left, and what could not be read."""
    for step in report.steps:
        changed = sum(file.is_changed for file in step.files)
        rules = collections.Counter(note.rule for note in _notes(step) if note.kind == "change")
        by_rule = ", ".join(f"{rule} {count:,}" for rule, count in rules.most_common())
        yield f"{step.step}: {counted(changed, 'file')} of {len(step.files):,} changed" + (by_rule and f": {by_rule}")
        for kind in ("by hand", "good to know"):
            yield from _block(kind, (note for note in _notes(step) if note.kind == kind))
    if report.verifications:
        yield from _verified(report)
    if report.differences:
        yield "otherwise than under tf1sessions run:"
        yield from _grouped(report.differences)
    if report.unread:
        yield "could not be read:"
        yield from (f"  {each.place}: {each.reason}" for each in report.unread)
    yield _outcome(report)


def _block(title: str, notes: Iterable[PortNote]) -> Iterator[str]:
    lines = [f"    {note.place}: {note.what} [{note.rule}]" for note in notes]
    if lines:
        yield f"  {title}:"
        yield from lines


def _verified(report: PortReport) -> Iterator[str]:
    seeds = "with today's seeds (TensorFlow 1's need tf1sessions run)"
    yield f"verified, {seeds}:" if report.trace is None else f"verified against {report.trace}:"
    for each in report.verifications:
        yield f"  {each.step}: {'' if each.is_kept else 'NOT KEPT: '}{each.text}"
        if each.comparison is not None and not each.is_kept:
            yield from (f"    {line}" for line in str(each.comparison).splitlines())


def _grouped(differences: Iterable[PythonDifference]) -> Iterator[str]:
    """A line for each sentence, with the places that it is about."""
    places: dict[tuple[str, str], list[str]] = {}
    for each in differences:
        places.setdefault((each.what, each.rule), []).append(str(each.place))
    for (what, rule), found in places.items():
        more = f" and {len(found) - _PLACES_SHOWN:,} more" if len(found) > _PLACES_SHOWN else ""
        yield f"  {', '.join(found[:_PLACES_SHOWN])}{more}: {what} [{rule}]"


def _outcome(report: PortReport) -> str:
    left = [counted(len(report.by_hand), "place") + " to do by hand"] if report.by_hand else []
    left += [counted(len(report.unread), "file") + " not read"] if report.unread else []
    done = f"{counted(len(report.written), 'file')} written" if report.written else "nothing written"
    if report.out is not None:
        done = f"{report.out} is the copy, with {counted(len(report.written), 'file')} changed"
    return ", ".join([done, *left])


def explanations(report: PortReport) -> Iterator[str]:
    """Yield each rule that changed or remarked something: what it does, its page, and its places."""
    sentences = described()
    for step in report.steps:
        by_rule: dict[str, list[PortNote]] = {}
        for note in _notes(step):
            by_rule.setdefault(note.rule, []).append(note)
        for rule, notes in by_rule.items():
            yield " ".join(
                filter(None, (f"{step.step} {rule}:", sentences[step.step].get(rule), f"See {_PAGE}#{rule}"))
            )
            yield from (f"  {note.place}: {note.what}" + f" ({note.kind})" * (note.kind != "change") for note in notes)
