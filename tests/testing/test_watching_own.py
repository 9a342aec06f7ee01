"""What the race detector finds in programs that use tf1sessions' pools and pipelines; see watching_own_checks.py."""

from __future__ import annotations

PROGRAM = "watching_own_checks.py"


def test_watching_own(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
