"""Why a script parts from its recording of TensorFlow 1.15.5; see diagnosis_checks.py, and with scripts here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, PythonRun

pytest_plugins = ("warm_commands",)
PROGRAM = "diagnosis_checks.py"
GOLDENS = ROOT / "tests" / "golden"

#: Scripts with one planted cause: what is replaced in the recorded one, and by what.
PLANTED = {
    "same": ("", ""),
    "extra": ("hidden = ", "unused = tf.constant(1.0)\nhidden = "),
    "rate": ("RATE = 0.1", "RATE = 0.2"),
    "activation": ("tf.nn.tanh", "tf.nn.sigmoid"),
    "initializer": ("stddev=0.3", "stddev=0.4"),
    "feeds": ("RandomState(5)", "RandomState(6)"),
    "raises": ("        print(", "        if step == 2:\n            raise ValueError('boom')\n        print("),
    "unseeded": ("tf.set_random_seed(11)\n", ""),
}

#: Some of them in one process, which verifies each and says what it found.
CODE = """
import json, sys
from tf1sessions.porting import verify

for name in sys.argv[2:]:
    options = {"seeds": "tf2"} if name == "tf2" else {}
    found = verify(sys.argv[1], f"{name.replace('tf2', 'same')}.py", **options)
    report(**{name: [json.loads(found.to_json())["verdict"], str(found)]})
"""


def test_planted_causes(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]


@pytest.fixture
def diagnoses(
    request: pytest.FixtureRequest, run_python: Callable[..., PythonRun], tmp_path: Path
) -> dict[str, tuple[dict[str, Any], str]]:
    text = (GOLDENS / "cases" / "verify_program.py").read_text("utf-8")
    for name, (old, new) in PLANTED.items():
        assert old in text
        (tmp_path / f"{name}.py").write_text(text.replace(old, new) if old else text)
    code = f"import os\nos.chdir({str(tmp_path)!r})\n{CODE}"
    results: dict[str, Any] = run_python(
        code, str(GOLDENS / "data" / "verify.npz"), *request.param, deadline=170
    ).results
    return results


@pytest.mark.slow
@pytest.mark.usefixtures("warm_commands")
@pytest.mark.parametrize("diagnoses", [("same", "extra", "tf2", "unseeded")], indirect=True, ids=["seeds"])
def test_scripts_that_draw_with_other_seeds(diagnoses: dict[str, Any]) -> None:
    assert {name: diagnosis["cause"] for name, (diagnosis, _) in diagnoses.items()} == {
        "same": "none",
        "extra": "seeds",
        "tf2": "seeds",
        "unseeded": "seeds",
    }
    about = {name: diagnosis["about"] for name, (diagnosis, _) in diagnoses.items()}
    assert about["extra"]["recorded"] == [11, 5] and about["extra"]["now"] == [11, 6]
    assert "Const (Const) of extra.py:15" in diagnoses["extra"][1]
    assert "to do: leave --seeds tf2 away" in diagnoses["tf2"][1]
    assert "to do: tf.set_random_seed(11)" in diagnoses["unseeded"][1]
    for name in ("extra", "tf2", "unseeded"):
        assert diagnoses[name][0]["then"]["cause"] == "none", diagnoses[name][1]


@pytest.mark.slow
@pytest.mark.usefixtures("warm_commands")
@pytest.mark.parametrize(
    "diagnoses", [("rate", "activation", "initializer", "feeds", "raises")], indirect=True, ids=["code"]
)
def test_scripts_that_are_others(diagnoses: dict[str, Any]) -> None:
    assert {diagnosis["cause"] for diagnosis, _ in diagnoses.values()} == {"code"}
    about = {name: diagnosis["about"] for name, (diagnosis, _) in diagnoses.items()}
    assert about["rate"] == {"operation": "GradientDescent/learning_rate", "line": "rate.py:20", "changes": 1}
    assert about["initializer"]["operation"] == "hidden/kernel/Initializer/random_normal/stddev"
    assert "lines that the recorded program has not: activation.py:16" in diagnoses["activation"][1]
    assert about["raises"]["line"] == "verify_program.py:25"
    assert "the program makes other calls" in diagnoses["raises"][1]
    assert "the program ended by ValueError: boom" in diagnoses["raises"][1]
    assert about["feeds"]["feed"] == "x:0" and diagnoses["feeds"][0]["then"]["cause"] == "none"
