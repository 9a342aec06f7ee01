"""RaySessionPool on a real cluster of several nodes on this machine; the checks are in ray_checks.py."""

from __future__ import annotations

import importlib.util

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs Ray: pip install 'tf1sessions[ray]'"),
]

PROGRAM = "ray_checks.py"


def test_ray(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]
