"""Calls of converted models on devices; see device_checks.py."""

from __future__ import annotations

PROGRAM = "device_checks.py"


def test_devices(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
