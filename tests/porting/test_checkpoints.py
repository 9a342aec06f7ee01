"""Checkpoints of TensorFlow 1 for objects of TensorFlow 2, and back; see checkpoint_checks.py."""

from __future__ import annotations

PROGRAM = "checkpoint_checks.py"


def test_checkpoints(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
