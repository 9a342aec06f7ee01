"""What programs leave behind of TensorFlow; see leaks_checks.py."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow
FRESH = True
PROGRAM = "leaks_checks.py"


def test_leaks(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
