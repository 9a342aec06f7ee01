"""Starts and ends of SessionServer: each check of `local_life_checks.py`, all in one process and its servers."""

from __future__ import annotations

import pytest

PROGRAM = "local_life_checks.py"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_local_life(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
