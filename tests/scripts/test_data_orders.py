"""Orders of elements of data sets; see data_order_checks.py."""

from __future__ import annotations

import pytest

PROGRAM = "data_order_checks.py"
DEADLINE = 400


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_data_orders(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
