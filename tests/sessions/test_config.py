"""SessionConfig and ConfigProto; see config_checks.py."""

from __future__ import annotations

PROGRAM = "config_checks.py"


def test_session_config(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
