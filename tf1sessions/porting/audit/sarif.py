"""An audit as SARIF 2.1.0, which editors and code hosts read: https://docs.oasis-open.org/sarif/sarif/v2.1.0/."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...source.program import SourceLine
from .record import RULES, Audit, Place

__all__ = ["report"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def report(found: Audit, version: str) -> dict[str, Any]:
    """The places of an audit as a SARIF log, in plain values: those by hand are warnings, the others notes.

    Paths are relative to the current folder where they were named so. A place in a notebook's cell is at the
    notebook's first line, with the cell and the line in its properties.

    Args:
        found: The audit.
        version: Of tf1sessions.
    """
    places = [place for file in found.files for place in file.places]
    rules = list(RULES)
    driver = {
        "name": "tf1sessions audit",
        "version": version,
        "rules": [
            {"id": rule, "shortDescription": {"text": f"{what}."}, "defaultConfiguration": {"level": "warning"}}
            for rule, what in RULES.items()
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(place, rules.index(place.rule)) for place in places],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(place: Place, index: int) -> dict[str, Any]:
    cell = place.line.cell
    where = "" if cell is None else f"Cell {cell}, line {place.line.line}: "
    fix = "" if place.fix is None else f" {place.fix.rstrip('.')}."
    result: dict[str, Any] = {
        "ruleId": place.rule,
        "ruleIndex": index,
        "level": "warning" if place.by_hand else "note",
        "message": {"text": f"{where}{place.what.rstrip('.')}.{fix}"},
        "locations": [_location(place.line)],
    }
    if cell is not None:
        result["properties"] = {"cell": cell, "line": place.line.line}
    return result


def _location(line: SourceLine) -> dict[str, Any]:
    path = Path(line.file)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": line.line if line.cell is None else 1},
        }
    }
