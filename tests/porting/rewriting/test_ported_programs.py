"""Programs of several kinds after each step: plain Python prints what genuine TensorFlow 1.15.5 printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

from tf1sessions.porting.rewriting.rewrite import port
from tf1sessions.source import files
from tf1sessions.source.files import SourceText

sys.path.insert(0, str(ROOT / "tests" / "golden" / "cases"))
import ported_programs as cases

STEPS = ("v1", "clean", "functions")
#: Those that keep the session: of an estimator there is none to see.
STAYS = {"estimator"}
GOLDEN: dict[str, str] = json.loads((ROOT / "tests" / "golden" / "data" / "ported_programs.json").read_text("utf-8"))
EXPECTED = GOLDEN | {"python two": cases.PYTHON_TWO_PRINTS}


def notebook() -> str:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in cases.NOTEBOOK]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2})


def as_script(text: str) -> str:
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"]) + "\n"


PROGRAMS = cases.PROGRAMS | {"python two": cases.PYTHON_TWO, "notebook": ("a.ipynb", {"a.ipynb": notebook()})}


def write_steps(name: str, folder: Path) -> dict[str, Path]:
    """Port a program; return where it is after each step."""
    script, texts = PROGRAMS[name]
    before = folder / "before"
    for path, text in texts.items():
        (before / path).parent.mkdir(parents=True, exist_ok=True)
        (before / path).write_text(text, "utf-8")
    sources = [files.read(path) for path in files.find([before]) if isinstance(path, Path)]
    assert len(sources) == len(texts) and all(isinstance(source, SourceText) for source in sources)
    found = {}
    for step in port(sources, STEPS[-1], [before]):
        assert not step.unread
        by_hand = [note.what for file in step.files for note in file.notes if note.kind == "by hand"]
        assert not by_hand or (step.step == "functions" and name in STAYS), by_hand
        for file in step.files:
            path = folder / step.step / file.after.path.relative_to(before)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.after.encode())
        found[step.step] = folder / step.step / script
        if script.endswith(".ipynb"):
            found[step.step] = found[step.step].with_suffix(".py")
            found[step.step].write_text(as_script((folder / step.step / script).read_text("utf-8")), "utf-8")
    return found


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """Runs all of them in forks of one process that has TensorFlow: the folder of each."""
    found, jobs = {}, []
    for name in PROGRAMS:
        scripts = write_steps(name, tmp_path_factory.mktemp(name.replace(" ", "-")))
        for step in STEPS:
            if step != "functions" or name not in STAYS:
                found[name, step] = scripts[step].parent
                jobs.append({"script": str(scripts[step]), "args": [], "cwd": str(scripts[step].parent)})
    folder = tmp_path_factory.mktemp("jobs")
    (folder / "cases.json").write_text(json.dumps(jobs))
    subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run_ported.py")), str(folder / "cases.json")],
        env=dict(os.environ, PYTHONPATH=str(ROOT), TF_ENABLE_ONEDNN_OPTS="0"),
        check=True,
        timeout=300,
    )
    return found


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_prints_what_it_printed_on_tensorflow_1_15(printed: dict[tuple[str, str], Path], name: str, step: str) -> None:
    if (name, step) not in printed:
        assert name in STAYS
        return
    folder = printed[name, step]
    assert (folder / "code").read_text() == "0", (folder / "stderr").read_text("utf-8")[-3000:]
    assert (folder / "stdout").read_text("utf-8") == EXPECTED[name]
