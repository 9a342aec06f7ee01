"""``--seeds report``; see seed_report_checks.py."""

from __future__ import annotations

import importlib.metadata

import pytest

PROGRAM = "seed_report_checks.py"
pytestmark = pytest.mark.skipif(
    not importlib.metadata.version("tensorflow").startswith("2.21."),
    reason="operations were counted on TensorFlow 2.21",
)


def test_seed_report(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
