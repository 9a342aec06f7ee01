"""porting.convert(): what is written, what comes along, what leaves all as it was; see export_checks.py."""

from __future__ import annotations

PROGRAM = "export_checks.py"


def test_export(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
