"""Reports of the race detector about programs; see graph_race_checks.py."""

from __future__ import annotations

PROGRAM = "graph_race_checks.py"


def test_graph_races(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
