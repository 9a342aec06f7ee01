"""The race detector finds every hazard of the zoo and no other, whatever the timing; see zoo_runs.py.

A program of the zoo is one as people wrote them for TensorFlow 1. Its docstring has the reports that are expected:
kind; graph; which line did what with which operations, twice. Lines are named by the letters in comments at their ends.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

HERE = Path(__file__).parent
ZOO = sorted((HERE / "zoo").glob("*.py"))
NAMES = [path.name for path in ZOO]

_RUN = """
import sys, traceback
sys.path.insert(0, sys.argv[1])
import zoo_runs
for name in sys.argv[2:]:
    try:
        report(**{name: zoo_runs.differences(name)})
    except BaseException:
        report(**{name: [traceback.format_exc()]})
"""


@pytest.fixture(scope="module")
def wrong(run_python: Callable[..., PythonRun]) -> dict[str, list[str]]:
    """For each program what is reported and not expected, or the other way round."""
    done = run_python(_RUN, str(HERE), *NAMES, fresh=True, check=False, deadline=170)
    missing = [f"the process ended with {done.returncode} in or before this program:\n{done.stderr[-6000:]}"]
    return {name: done.results.get(name, missing) for name in NAMES}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_zoo(name: str, wrong: dict[str, list[str]]) -> None:
    assert not wrong[name], "\n".join(wrong[name])


def test_half_of_the_zoo_only_looks_like_it() -> None:
    texts = [path.read_text(encoding="utf-8") for path in ZOO]
    assert [name for name, text in zip(NAMES, texts, strict=True) if text.count("\nExpected:") != 1] == []
    hazards = [text for text in texts if "\nExpected: nothing\n" not in text]
    assert len(ZOO) >= 40 and len(ZOO) / 3 < len(hazards) < len(ZOO) * 2 / 3


@pytest.mark.slow
def test_an_inference_server(tmp_path: Path) -> None:
    """``tf1sessions races`` reports the constant in the request handler, with both stacks."""
    program = HERE / "zoo" / "server_with_constant.py"
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "races", str(program)],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        timeout=150,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = program.read_text(encoding="utf-8").splitlines()
    adds, runs = (1 + next(i for i, line in enumerate(lines) if line.endswith(mark)) for mark in ("# A", "# B"))
    text = done.stdout
    assert re.search(rf"graph growth in a loop: .*\n.*runs the graph.*\n.*:{runs} in (Handler\.)?do_POST", text), text
    assert re.search(rf"adds operations.*\n.*server_with_constant\.py:{adds} in (Handler\.)?do_POST", text), text
