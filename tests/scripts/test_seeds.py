"""Seeds by the number of operations; see seed_checks.py."""

from __future__ import annotations

import pytest

PROGRAM = "seed_checks.py"


@pytest.mark.slow
def test_seeds(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
