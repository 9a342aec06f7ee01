"""What the race detector finds in programs; see watching_checks.py."""

from __future__ import annotations

PROGRAM = "watching_checks.py"


def test_watching(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
