"""Seeds by the number of operations; see seed_checks.py, and test_seed_calls.py for all that is recorded."""

from __future__ import annotations

import importlib.metadata

import pytest

PROGRAM = "seed_checks.py"
pytestmark = pytest.mark.skipif(
    not importlib.metadata.version("tensorflow").startswith("2.21."),
    reason="operations were counted on TensorFlow 2.21",
)


@pytest.mark.slow
def test_seeds(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
