"""An audit as SARIF."""

from __future__ import annotations

from typing import Any

from ... import sarif
from .record import RULES, Audit, Place

__all__ = ["report"]


def report(found: Audit, version: str) -> dict[str, Any]:
    """The places of an audit as a SARIF log, in plain values: those by hand are warnings, the others notes.

    Paths are relative to the current folder where they were named so. A place in a notebook's cell is at the
    notebook's first line, with the cell and the line in its properties.

    Args:
        found: The audit.
        version: Of tf1sessions.
    """
    places = [place for file in found.files for place in file.places]
    rules = {rule: (what, "warning") for rule, what in RULES.items()}
    return sarif.log("tf1sessions audit", version, rules, [_result(place) for place in places])


def _result(place: Place) -> sarif.Result:
    cell = place.line.cell
    where = "" if cell is None else f"Cell {cell}, line {place.line.line}: "
    fix = "" if place.fix is None else f" {place.fix.rstrip('.')}."
    result: sarif.Result = {
        "ruleId": place.rule,
        "level": "warning" if place.by_hand else "note",
        "message": {"text": f"{where}{place.what.rstrip('.')}.{fix}"},
        "locations": [sarif.location(place.line.file, place.line.line if cell is None else 1)],
    }
    if cell is not None:
        result["properties"] = {"cell": cell, "line": place.line.line}
    return result
