"""Scripts read what TensorFlow 1 wrote by TensorFlow 1's functions, and get what 1.15.5 computed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import PythonRun

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "cases"
sys.path.insert(0, str(FOLDER))
from model_cases import CASES  # noqa: E402

_PROGRAM = """
import sys
import tf1sessions.scripts
tf1sessions.scripts.install()
sys.path.insert(0, sys.argv[1])
import tensorflow as tf
import model_cases, model_reading
from tf1sessions.errors import UnknownOperationError

for case in model_cases.CASES:
    with tf.Graph().as_default():
        try:
            with model_reading.read(tf, case, model_cases.FOLDER) as session:
                report(**{case.name: model_cases.difference(case, model_reading.ask(session, case))})
        except UnknownOperationError as error:
            report(**{case.name: [str(error), error.nodes]})
        except Exception as error:
            report(**{case.name: f"{type(error).__name__}: {error}"})

def devices():
    # a script may have a cluster: what it imports stays where it says
    found = model_reading.graph_def(tf, model_cases.FOLDER + "/broken_references.pb")
    before = found.SerializeToString(deterministic=True)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(found, name="again")
        device = graph.get_operation_by_name("again/Const").device
        return [device, found.SerializeToString(deterministic=True) == before]

def refused(value):
    try:
        with tf.Graph().as_default():
            tf.import_graph_def(value)
    except Exception as error:
        return type(error).__name__

report(devices=devices(), no_graph=refused("graph"), unknown_type=refused(None))
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    results: dict[str, Any] = run_python(_PROGRAM, str(FOLDER), deadline=170).results
    return results


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case.artifact != "unknown"], ids=lambda case: case.name)
def test_script_gets_what_1_15_gave(found: dict[str, Any], case: Any) -> None:
    if case.name == "broken_references":
        assert "explicitly assigned to /job:ps" in found[case.name]  # as in 1.15
        return
    assert isinstance(found[case.name], float), found[case.name]
    assert found[case.name] <= case.tolerance


def test_operations_that_are_gone_are_named_with_their_nodes(found: dict[str, Any]) -> None:
    text, nodes = found["unknown"]
    assert nodes == {
        "ReduceSliceMax": ["slices", "ReduceSliceMax in the function slices"],
        "ReduceSliceSum": ["ReduceSliceSum"],
    }
    assert "ReduceSliceSum of tf.contrib.reduce_slice_ops: ReduceSliceSum" in text


def test_devices_stay_what_the_graph_says_and_the_graph_itself_as_it_was(found: dict[str, Any]) -> None:
    assert found["devices"] == ["/job:ps/replica:0/task:3/device:GPU:1", True]


def test_what_is_no_graph_is_refused_as_before(found: dict[str, Any]) -> None:
    assert found["no_graph"] == found["unknown_type"] == "TypeError"
