"""Graphs of TensorFlow 1 as modules of TensorFlow 2; see module_checks.py."""

from __future__ import annotations

import sys
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
from model_cases import CASES  # noqa: E402

PROGRAM = "module_checks.py"


def more_checks() -> list[str]:
    """A check for each artifact that 1.15.5 has written."""
    return [f"check_artifact_{case.name}" for case in CASES]


def test_modules(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
