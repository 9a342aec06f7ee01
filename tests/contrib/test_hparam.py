"""HParams against the answers of genuine TensorFlow 1.15.5."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import hparam_cases  # this folder is on the path; pytest puts it there
from support import PythonRun

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "data" / "contrib" / "hparam.json.gz"
ANSWERS = json.loads(gzip.decompress(GOLDEN.read_bytes()))

_PROGRAM = """
import sys

sys.path.insert(0, sys.argv[1])
import hparam_cases
from tf1sessions.contrib.training.hparam import HParams, parse_values

report(
    answers={each: hparam_cases.answer(each, HParams, parse_values) for each in hparam_cases.EXPRESSIONS},
    hparam_def=hparam_cases.answer("HParams(object())", HParams, parse_values),
)
"""
# whose texts are Python's own, and change with it
PYTHONS = ("AttributeError", "JSONDecodeError", "TypeError")


def _same(answer: object) -> object:
    """What must be equal of an answer: NumPy 2 shows a scalar's type, and Python's own error texts change."""
    if isinstance(answer, list) and answer[0] in PYTHONS:
        return answer[0]
    text = json.dumps(answer)
    return re.sub(r"np\.\w+?_?\((\w+\.?\w*)\)", r"\1", text).replace("np.False_", "False").replace("np.True_", "True")


def test_answers_are_those_of_1_15(run_python: Callable[..., PythonRun]) -> None:
    assert sorted(ANSWERS) == sorted(set(hparam_cases.EXPRESSIONS))
    found = run_python(_PROGRAM, str(Path(__file__).parent)).results
    different = {}
    for expression, golden in ANSWERS.items():
        ours = found["answers"][expression]
        if _same(ours) != _same(golden):
            different[expression] = (ours, golden)
    assert different == {}
    assert sum(isinstance(answer, list) for answer in ANSWERS.values()) > 100  # the errors are among them
    kind, text = found["hparam_def"]
    assert kind == "TypeError"
    assert "parse_json" in text
