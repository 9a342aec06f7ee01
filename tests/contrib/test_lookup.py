"""contrib.lookup against genuine TensorFlow 1.15.5, exactly."""

from __future__ import annotations

from collections.abc import Callable

import answers  # this folder is on the path; pytest puts it there
import pytest
from support import PythonRun


@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_programs_return_what_1_15_returned(run_python: Callable[..., PythonRun], way: str) -> None:
    ours = answers.ours(run_python, "lookup", way)
    golden = answers.golden("lookup")
    assert len(golden) >= 5
    assert answers.differences(ours, golden, rtol=0.0, atol=0.0) == []
