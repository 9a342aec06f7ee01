"""Every artifact that genuine TensorFlow 1.15.5 wrote loads, and gives the outputs that it gave there.

``tests/golden/cases/model_cases.py`` has the artifacts, their inputs and how close is close enough.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import PythonRun

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "cases"
sys.path.insert(0, str(FOLDER))
from model_cases import CASES, difference, expected  # noqa: E402

_PROGRAM = """
import os, sys
sys.path.insert(0, sys.argv[1])
import model_cases
import tf1sessions
from tf1sessions.errors import UnknownOperationError

def tensor(name):
    return name if ":" in name else name + ":0"

def loaded(case):
    options = {"tags": case.tags}
    if case.checkpoint:
        options["checkpoint"] = os.path.join(model_cases.FOLDER, case.checkpoint)
    if case.artifact in ("queue", "unknown", "contrib_ops"):
        options.update(inputs=list(case.feeds), outputs=case.fetches)
    key = repr((case.path, options))
    if key not in models:
        models[key] = tf1sessions.load(os.path.join(model_cases.FOLDER, case.path), **options)
    return models[key]

def answers(case):
    feeds = {tensor(key): value for key, value in case.feeds.items()}
    model = loaded(case)
    run = model.run(case.fetches, feeds)
    # the same by its signature, as far as that has these inputs and outputs
    chosen = model.signatures[case.signature] if case.signature else model.signature
    names = {spec.tensor: name for name, spec in chosen.inputs.items()}
    called = chosen({names[key]: value for key, value in feeds.items() if key in names})
    by_tensor = {spec.tensor: called[name] for name, spec in chosen.outputs.items()}
    reported = [by_tensor.get(fetch, value) for fetch, value in zip(case.fetches, run)]
    return {
        "run": model_cases.difference(case, run),
        "called": model_cases.difference(case, reported),
        "by_signature": [fetch for fetch in case.fetches if fetch in by_tensor],
        "notes": list(model.notes),
    }

models = {}
for case in model_cases.CASES:
    try:
        report(**{case.name: answers(case)})
    except UnknownOperationError as error:
        report(**{case.name: {"unknown": {op: list(names) for op, names in error.nodes.items()}}})
    except Exception as error:
        report(**{case.name: {"error": f"{type(error).__name__}: {error}"}})
for model in models.values():
    model.close()
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    results: dict[str, Any] = run_python(_PROGRAM, str(FOLDER), deadline=170).results
    return results


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_artifact_gives_what_1_15_gave(found: dict[str, Any], case: Any) -> None:
    answer = found[case.name]
    assert "error" not in answer
    if case.unknown:
        assert set(case.unknown) <= set(answer["unknown"])
        return
    assert answer["run"] <= case.tolerance
    assert answer["called"] <= case.tolerance
    if case.artifact.startswith(("saved", "bundle")):
        assert answer["by_signature"] == case.fetches


def test_a_difference_is_found() -> None:
    case = next(case for case in CASES if case.name == "saved_predict")
    right = expected()[case.name]["scores:0"]
    assert difference(case, [right]) == 0.0
    assert difference(case, [right + 1]) > 0.1
    assert difference(case, [right[:1]]) == difference(case, [right.astype("float64")]) == 2.0


def test_upgrades_are_reported(found: dict[str, Any]) -> None:
    reported = {
        "checkpoint": "inferred anew",
        "saved_serve_gpu": "another host",
        "old_arrays": "TopK",
        "frozen_references": "a constant here",
        "broken_references": "colocated",
        "saved_tpu": "TPU",
        "trt": "TensorRT",
        "mkl": "MKL",
        "resampler": "composed of others: GatherTree, resampler/Resampler",
        "unknown_not_needed": "ReduceSliceSum",
    }
    assert [name for name, word in reported.items() if not any(word in note for note in found[name]["notes"])] == []
    assert not any("TPU" in note or "MKL" in note for note in found["saved_tpu_cpu"]["notes"])
