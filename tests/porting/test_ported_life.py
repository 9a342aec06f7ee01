"""Converted models in plain TensorFlow 2; see ported_life_checks.py and plain_tf2.py."""

from __future__ import annotations

PROGRAM = "ported_life_checks.py"


def test_ported_life(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
