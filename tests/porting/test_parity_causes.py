"""Seeded faults, and what is said of them; see parity_cause_checks.py."""

from __future__ import annotations

PROGRAM = "parity_cause_checks.py"


def test_causes(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
