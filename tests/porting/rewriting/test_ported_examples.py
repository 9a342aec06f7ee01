"""The examples after each step that leaves plain TensorFlow: they print what genuine TensorFlow 1.15.5 printed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from examples_cases import CASES, EXAMPLES
from support import ROOT

from tf1sessions.porting.rewriting.rewrite import StepPort, port
from tf1sessions.source import files

STEPS = ("v1", "clean", "functions")
#: With the step ``inputs`` before ``functions``.
INPUTS = "functions with tf.data"
#: Each step makes its program of that of the step before, so every case is run after the last one, and of the others
#: each after one.
PLACES = [(STEPS[-1], case) for case in CASES]
PLACES += [(STEPS[number % (len(STEPS) - 1)], case) for number, case in enumerate(CASES)]
PLACES += [(INPUTS, case) for case in CASES if "csv_queue" in case.script]


def ported(folder: Path) -> list[StepPort]:
    """All examples, ported to the last step; a folder for each step with the programs and their data."""
    sources = [files.read(path) for path in sorted(EXAMPLES.glob("*.py"))]
    steps = port(sources, STEPS[-1], [EXAMPLES])
    with_inputs = port(sources, STEPS[-1], [EXAMPLES], inputs=True)
    for name, step in [*((step.step, step) for step in steps), (INPUTS, with_inputs[-1])]:
        shutil.copytree(EXAMPLES, folder / name)
        for file in step.files:
            (folder / name / file.after.path.name).write_bytes(file.after.encode())
    return [*steps, *with_inputs]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs every case after each step, in plain TensorFlow: a folder of outputs for each."""
    folder = tmp_path_factory.mktemp("ported")
    ported(folder)
    cases = []
    for step, case in PLACES:
        cwd = folder / f"{step}-{case.name}"
        cwd.mkdir()
        cases.append({"script": str(folder / step / case.script), "args": case.args, "cwd": str(cwd)})
    (folder / "cases.json").write_text(json.dumps(cases))
    subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run_ported.py")), str(folder / "cases.json")],
        env=dict(os.environ, PYTHONPATH=str(ROOT), TF_ENABLE_ONEDNN_OPTS="0"),
        check=True,
        timeout=500,
    )
    return folder


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("step", "case"), PLACES, ids=[f"{step}-{case.name}" for step, case in PLACES])
def test_prints_what_it_printed_on_tensorflow_1_15(outputs: Path, step: str, case):
    cwd = outputs / f"{step}-{case.name}"
    assert (cwd / "code").read_text() == "0", (cwd / "stderr").read_text()[-3000:]
    assert case.differences((cwd / "stdout").read_text("utf-8")) == []


def test_no_example_needs_a_hand_and_none_needs_tf1sessions_before_functions(tmp_path: Path):
    for step in ported(tmp_path):
        assert not step.unread
        for file in step.files:
            assert [note for note in file.notes if note.kind == "by hand"] == [], file.after.path
            assert "tf1sessions" not in file.after.text or "tf1sessions" in file.before.text or step.step == "functions"
