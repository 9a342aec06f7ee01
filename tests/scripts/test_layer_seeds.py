"""Seeds of layers of Keras; see layer_seed_checks.py."""

from __future__ import annotations

import pytest

PROGRAM = "layer_seed_checks.py"


@pytest.mark.slow
def test_layer_seeds(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
