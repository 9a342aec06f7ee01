"""GraphSession and its graph; see graph_checks.py."""

from __future__ import annotations

PROGRAM = "graph_checks.py"


def test_graph_session(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
