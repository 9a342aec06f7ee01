"""``--seeds report`` of graphs whose right seeds are known; see seed_report_golden_checks.py."""

from __future__ import annotations

import importlib.metadata

import pytest

FRESH = True  # what is counted depends on what was imported before install()
PROGRAM = "seed_report_golden_checks.py"
pytestmark = pytest.mark.skipif(
    not importlib.metadata.version("tensorflow").startswith("2.21."),
    reason="the wrong graphs are those of TensorFlow 2.21",
)


@pytest.mark.slow
def test_seed_report_golden(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
