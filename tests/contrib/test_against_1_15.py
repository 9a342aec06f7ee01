"""``tf.contrib`` does what TensorFlow 1.15.5 did: most recorded cases as a script has it, a part in the library."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import compare  # this folder is on the path; pytest puts it there
import pytest
from support import ROOT

COMPARE = Path(compare.__file__)
CASES = COMPARE.parents[1] / "golden" / "cases"

# What has another operation at its end, under another name: the values are those of 1.15.5.
OTHER_NAMES = {
    "feature_columns": {
        "parse",  # parse_example is another operation
        "steps parsed",  # parse_single_sequence_example is in one more scope
        *(f"transform cross{kind}" for kind in ("", " buckets", " cross", " ids", " mixed")),  # several operations
        *(f"transform {kind} ids" for kind in ("dense", "flat")),
        "transform dense",
        "transform hash strong",
    },
    "slim": {
        *("sparse own shape", "sparse shape", "sparse shape key"),  # parse_single_example is another operation
        *(f"cross {kind}" for kind in ("buckets", "key", "key numbers", "numbers", "text", "text key")),
    },
    "data": {"bucket_by_sequence_length"},  # one more constant
    "losses": {"metric_learning npairs multilabel"},  # fewer additions
    "metrics": {
        "confusion_matrix 0",  # tf.math.confusion_matrix scatters where it added
        *(f"curve_points {curve} {number}" for curve in ("PR", "ROC") for number in range(3)),  # fewer stacks
        *(f"equal_thresholds {number}" for number in range(3)),  # fewer casts
        "equal_thresholds double 0",
    },
}


# What takes long, and is the same code in the library as in scripts, where more of it is compared; see conftest.py.
# Of quantize the operations themselves are compared, which are others where variables are resources, as in the library.
IN_SCRIPTS_ONLY = {"bijectors", "distributions", "quantize"}

MODULES = sorted(path.name[len("contrib_") : -len("_cases.py")] for path in CASES.glob("contrib_*_cases.py"))


@pytest.fixture(scope="module", params=["library", "v1"])
def compared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], dict[str, list[str]]]]:
    """A function that tells the differences of a module; one process finds those of all that run, one after another."""
    items = [item for item in request.session.items if item.path == request.path]
    params = [item.callspec.params for item in items if hasattr(item, "callspec")]
    modules = [chosen["module"] for chosen in params if chosen["compared"] == request.param]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    errors = tmp_path_factory.mktemp(request.param) / "stderr"
    found: dict[str, dict[str, list[str]]] = {}
    with errors.open("w") as stderr:
        command = [sys.executable, str(COMPARE), request.param, *modules]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=stderr, bufsize=0)

    def differences(module: str) -> dict[str, list[str]]:
        for name in modules[len(found) : modules.index(module) + 1]:
            assert select.select([process.stdout], [], [], 170)[0], f"{name} takes too long"
            line = process.stdout.readline()
            assert line, errors.read_text()[-4000:]
            found[name] = json.loads(line)
        return found[module]

    with process:
        try:
            yield differences
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_does_what_1_15_did(
    compared: Callable[[str], dict[str, list[str]]], module: str, request: pytest.FixtureRequest
) -> None:
    found = compared(module)
    if request.node.callspec.params["compared"] == "v1":
        expected = OTHER_NAMES.get(module, set())
        wrong = {name: lines for name, lines in found.items() if name not in expected or "differs" in str(lines)}
        assert wrong == {}
        assert set(found) == expected
    else:
        assert found == {}


def test_what_is_compared_in_the_library() -> None:
    assert compare.sample(["a plain", "a fed", "b plain", "b fed", "b fed twice", "c"]) == {
        *("a plain", "a fed", "b plain", "b fed twice", "c")
    }


def test_the_first_case_of_each_function() -> None:
    assert compare.first_of_each(["b two", "a one", "a", "b", "c x", "a two"]) == {"b two", "a one", "c x"}


def test_each_kind_of_arguments_of_a_class() -> None:
    names = ["A", "A double", "A loc", "A loc double", "A loc fed", "B loc", "B loc double", "double"]
    assert compare.each_kind_once(names, ["double"]) == set(names) - {"A loc double"}
