"""Reports of the race detector about programs that use tf1sessions' pools and pipelines; see own_race_checks.py."""

from __future__ import annotations

PROGRAM = "own_race_checks.py"


def test_own_races(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
