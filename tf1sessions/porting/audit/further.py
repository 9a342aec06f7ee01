"""The reach of the steps that an audit does not know by names: the files are ported in memory."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...source.files import SourceText
from ..rewriting.rewrite import FilePort, port
from .record import STEPS_BY_NAMES, FileAudit

__all__ = ["ported_further"]

#: What a program has in its text that did not take the step.
_LEFT = {"functions": re.compile(r"\.(Interactive)?Session\("), "native": re.compile("disable_v2_behavior")}


def ported_further(files: Iterable[FileAudit], sources: Sequence[SourceText], roots: Sequence[Path]) -> list[FileAudit]:
    """The audits with the steps ``functions`` and ``native``, or why a file stays.

    Args:
        files: The audits by names.
        sources: The texts of the files.
        roots: Folders from which modules are imported.
    """
    steps = {each.step: each.files for each in port(sources, "native", roots)}
    by_name = {step: {each.before.shown: each for each in ported} for step, ported in steps.items()}
    return [_further(each, {step: by_name[step].get(each.file) for step in _LEFT}) for each in files]


def _further(file: FileAudit, ported: dict[str, FilePort | None]) -> FileAudit:
    if file.reach != STEPS_BY_NAMES[-1] or file.stands == "no tensorflow":
        return file
    for step, left in _LEFT.items():
        found = ported[step]
        notes = [each for each in found.notes if each.kind == "by hand"] if found is not None else []
        if found is None or notes or left.search(found.after.text):
            why = f"{notes[0].what} (line {notes[0].place.line} of step {_before(step)})" if notes else None
            return dataclasses.replace(file, stays=why)
        file = dataclasses.replace(file, reach=step, reach_with_imports=step)
    return file


def _before(step: str) -> str:
    steps = (*STEPS_BY_NAMES, *_LEFT)
    return steps[steps.index(step) - 1]
