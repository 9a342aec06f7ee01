"""What programs leave behind that do not use TensorFlow; see leaks_python_checks.py."""

from __future__ import annotations

FRESH = True
PROGRAM = "leaks_python_checks.py"


def test_leaks_python(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
