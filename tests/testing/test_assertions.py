"""What tests claim; see assertion_checks.py."""

from __future__ import annotations

PROGRAM = "assertion_checks.py"


def test_assertions(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
