"""Runs that do not end by themselves: each check of `endless_checks.py`, all in one process."""

from __future__ import annotations

import pytest

pytest.importorskip("uvicorn")

PROGRAM = "endless_checks.py"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_endless(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
