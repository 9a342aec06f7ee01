"""Two sides compared; see parity_checks.py."""

from __future__ import annotations

PROGRAM = "parity_checks.py"


def test_parity(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
