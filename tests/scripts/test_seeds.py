"""Seeds by the number of operations; see seed_checks.py."""

from __future__ import annotations

import importlib.metadata

import pytest

PROGRAM = "seed_checks.py"
DEADLINE = 1100  # it builds some 2,700 graphs
pytestmark = [
    pytest.mark.timeout(DEADLINE + 100),
    pytest.mark.skipif(
        not importlib.metadata.version("tensorflow").startswith("2.21."),
        reason="operations were counted on TensorFlow 2.21",
    ),
]


@pytest.mark.slow
def test_seeds(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
