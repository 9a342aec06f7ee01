"""contrib.lookup against genuine TensorFlow 1.15.5, exactly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import answers  # this folder is on the path; pytest puts it there
import pytest
from support import PythonRun

FOLDER = Path(__file__).resolve().parent

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import lookup_cases
import tf1sessions
from tf1sessions.runtime import tf1

if sys.argv[2] == "script":
    tf1sessions.enable_v1_behavior()
from tf1sessions import contrib
report(**lookup_cases.run(tf1, contrib.lookup))
"""


@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_programs_return_what_1_15_returned(run_python: Callable[..., PythonRun], way: str) -> None:
    ours = run_python(_PROGRAM, str(FOLDER), way).results
    golden = answers.golden("lookup")
    assert len(golden) >= 5
    assert answers.differences(ours, golden, rtol=0.0, atol=0.0) == []
