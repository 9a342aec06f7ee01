"""Orders of threads that use sessions and graphs; see exploration_checks.py."""

from __future__ import annotations

PROGRAM = "exploration_checks.py"


def test_exploration(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
