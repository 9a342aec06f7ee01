"""contrib.training against genuine TensorFlow 1.15.5, within a relative 1e-5: sums are in another order."""

from __future__ import annotations

from collections.abc import Callable

import answers  # this folder is on the path; pytest puts it there
import pytest
from support import PythonRun


@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_programs_return_what_1_15_returned(run_python: Callable[..., PythonRun], way: str) -> None:
    ours = answers.ours(run_python, "training", way)
    golden = answers.golden("training")
    assert len(golden) >= 15
    assert answers.differences(ours, golden, rtol=1e-5, atol=1e-7) == []


def test_differences_are_found() -> None:
    find = answers.differences
    assert find({"a": [1.0, "x"]}, {"a": [1.0 + 1e-7, "x"]}, 1e-5, 0.0) == []
    assert find({"a": [1.0, "x"]}, {"a": [1.1, "y"]}, 1e-5, 0.0) == [
        "/a/0: 1.0, and on 1.15.5 1.1",
        "/a/1: 'x', and on 1.15.5 'y'",
    ]
    assert len(find([1], [1, 2], 1e-5, 0.0)) == len(find({"a": 1}, {"b": 1}, 1e-5, 0.0)) == 1
    assert len(find(1.0, None, 1e-5, 0.0)) == len(find(None, 1.0, 1e-5, 0.0)) == len(find(True, [1], 1.0, 0.0)) == 1
