"""Recorded graphs draw as on genuine 1.15.5: of calls, of estimators and sessions for training, of random calls."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

import pytest
from support import ROOT, PythonRun

from tf1sessions.scripts import (
    op_counts,
    op_counts_gradients,  # noqa: F401, it adds to the tables
    op_counts_models,  # noqa: F401
)

PARTS = range(4)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not importlib.metadata.version("tensorflow").startswith("2.21."),
        reason="operations were counted on TensorFlow 2.21",
    ),
]
# What nobody has counted yet. What comes off this list makes a test fail until it is taken off here, too.
OTHERWISE = set((ROOT / "tests" / "golden" / "data" / "seeds_otherwise.txt").read_text().split())
FOUND: dict[int, dict[str, Any]] = {}

PROGRAM = """
import sys
sys.path[:0] = [sys.argv[1]]
import seed_parts
report(**seed_parts.found(int(sys.argv[2]), int(sys.argv[3])))
"""


def found(run_python: Callable[..., PythonRun], part: int) -> dict[str, Any]:
    if part not in FOUND:
        folder = str(ROOT / "tests" / "scripts")
        FOUND[part] = run_python(PROGRAM, folder, str(part), str(len(PARTS)), deadline=170).results
    return FOUND[part]


@pytest.mark.parametrize("part", PARTS)
def test_recorded_graphs_draw_as_on_1_15(run_python: Callable[..., PythonRun], part: int) -> None:
    result = found(run_python, part)
    wrong, otherwise = set(result["differ"]), OTHERWISE.intersection(result["names"])
    assert wrong == otherwise, f"newly wrong: {wrong - otherwise}, right: {otherwise - wrong}"


@pytest.mark.timeout(180 * len(PARTS))
def test_every_entry_counts_something_and_the_list_has_no_other_names(run_python: Callable[..., PythonRun]) -> None:
    results = [found(run_python, part) for part in PARTS]  # of the tests above, if they ran
    names = {name for result in results for name in result["names"]}
    assert names >= OTHERWISE, OTHERWISE - names
    counting = {entry for result in results for entry in result["entries"]}
    unused = [key for table in (op_counts.FUNCTIONS, op_counts.GRADIENTS) for key in table if key not in counting]
    assert unused == ["tensorflow.python.ops.gradients_util:_GradientsHelper"], unused  # it notes something for others
