"""Findings as SARIF 2.1.0, which editors and code hosts read: https://docs.oasis-open.org/sarif/sarif/v2.1.0/."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

__all__ = ["Result", "location", "log"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

#: A result of SARIF, in plain values.
Result = dict[str, Any]


def log(tool: str, version: str, rules: Mapping[str, tuple[str, str]], results: Sequence[Result]) -> dict[str, Any]:
    """Return a log of one run, in plain values for ``json.dumps``.

    Args:
        tool: Its name.
        version: Of tf1sessions.
        rules: Name of a rule -> what it finds, and its level: ``"error"``, ``"warning"`` or ``"note"``.
        results: Each with a ``ruleId`` of them.
    """
    numbers = {rule: number for number, rule in enumerate(rules)}
    driver = {
        "name": tool,
        "version": version,
        "rules": [
            {"id": rule, "shortDescription": {"text": f"{what}."}, "defaultConfiguration": {"level": level}}
            for rule, (what, level) in rules.items()
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [{"ruleIndex": numbers[result["ruleId"]], **result} for result in results],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def location(file: str, line: int) -> dict[str, Any]:
    """Return a place in a file; a relative path stays one."""
    path = Path(file)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}
