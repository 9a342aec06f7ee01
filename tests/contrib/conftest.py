"""The programs of these tests start in a process that has TensorFlow; which comparisons are left out."""

import pytest
from warm import run_python

__all__ = ["run_python"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what test_against_1_15.py compares in scripts only."""
    left_out = [item for item in items if _is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _is_left_out(item: pytest.Item) -> bool:
    params = getattr(getattr(item, "callspec", None), "params", {})
    return params.get("compared") == "library" and params.get("module") in item.module.IN_SCRIPTS_ONLY  # type: ignore[attr-defined]
