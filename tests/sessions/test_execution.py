"""Where requests run, what is compiled, threads and the watchdog; see execution_checks.py."""

from __future__ import annotations

PROGRAM = "execution_checks.py"


def test_execution(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
