"""A graph whose requests are functions gives what a session gives; see legacy_graph_checks.py."""

from __future__ import annotations

PROGRAM = "legacy_graph_checks.py"


def test_legacy_graph(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
