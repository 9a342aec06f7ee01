"""Graphs of TensorFlow 1 as modules of TensorFlow 2; see module_checks.py."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "golden" / "cases"))
from model_cases import CASES

PROGRAM = "module_checks.py"


def more_checks() -> list[str]:
    """A check for each artifact that 1.15.5 has written."""
    return [f"check_artifact_{case.name}" for case in CASES]


def test_modules(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
