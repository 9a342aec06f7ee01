"""Results and feeds of calls share memory with nothing; see aliasing_checks.py."""

from __future__ import annotations

PROGRAM = "aliasing_checks.py"


def test_independent(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
