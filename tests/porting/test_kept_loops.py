"""Loops of TensorFlow 1 that stay as they are where nothing is differentiated; see kept_loop_checks.py."""

from __future__ import annotations

PROGRAM = "kept_loop_checks.py"


def test_kept_loops(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
