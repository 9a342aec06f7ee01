"""Sessions without TensorFlow's private API; see fallback_checks.py."""

from __future__ import annotations

PROGRAM = "fallback_checks.py"


def test_fallback(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
