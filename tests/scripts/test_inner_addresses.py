"""Inner addresses of 1.15.5 and what is behind them; see inner_checks.py. What 1.15.5 gave was seen there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "golden" / "data"


@pytest.fixture(scope="module")
def inner(run_python: Callable[..., Any]) -> dict[str, Any]:
    code = (HERE / "inner_checks.py").read_text("utf-8")
    data = [str(DATA / f"{name}.gz") for name in ("inner_1_15.txt", "layers_utils.json", "graph_transforms.json")]
    found: dict[str, Any] = run_python(code, *data[:2], str(DATA.parent / "make"), data[2]).results
    return found


def test_every_module_can_be_imported_both_ways(inner: dict[str, Any]) -> None:
    assert inner["modules"] == {"failed": {}, "wrong": []}


def test_names_of_modules_that_are_gone_say_what_to_use(inner: dict[str, Any]) -> None:
    error, has, text = inner["gone"]
    assert not has
    assert error.startswith("MissingSymbolError") and "Use tf.logging" in error
    assert "set_step is not available" in text and "Use tf.logging" in text


def test_profiler_of_early_releases(inner: dict[str, Any]) -> None:
    assert inner["early_profiler"] == [15, True, True]


def test_graph_transforms(inner: dict[str, Any]) -> None:
    found = inner["graph_transforms"]
    assert found["differing"] == {} and found["calls"] == 28
    assert (found["kept"], found["bytes"], found["ignored"]) == (True, 30, 31)
    assert found["inside"] == ["Placeholder", [], "float32", "(1, 4, 4, 4)"]
    refused, parameter, name, few = found["errors"]
    assert refused.startswith("UnimplementedError: Transform 'quantize_nodes' is not available")
    assert parameter == "InvalidArgumentError: Looking for parameter name, but found Identity)"
    assert name == "InvalidArgumentError: Looking for transform name, but found ("
    assert few == "InvalidArgumentError: minimum_size must be an integer, got few"


def test_names_are_the_same_at_each_address(inner: dict[str, Any]) -> None:
    assert [what for what, same in inner["same"].items() if not same] == []


def test_layers_utils(inner: dict[str, Any]) -> None:
    found = inner["layers_utils"]
    assert found["wrong"] == [] and found["cases"] > 100
    assert found["constants"] == ["True", "None", "None"]
    assert (found["cond"], found["variable"]) == ([1, 1], "Merge")
    assert (found["shapes"], found["reachable"]) == ([[2, None], None], [True, True])


def test_framework(inner: dict[str, Any]) -> None:
    found = inner["framework"]
    assert found["shapes"] == [
        "[TensorShape(None)]", "[TensorShape([Dimension(2)])]", "[TensorShape([])]", [],
        "ValueError: Shape (2,) must have rank 2", 1,
    ]  # fmt: skip
    assert found["applied"] == ["int32", "int64"]
    assert found["unknown"] == "RuntimeError: Unrecognized Op name MatMul"
    assert found["registered"] and found["clash"].startswith("ValueError: Unexpected op_def for MatMul")
    assert found["like"] == [True, True, False, False]


def test_cells(inner: dict[str, Any]) -> None:
    found = inner["cells"]
    assert found["good"] == "None"
    assert found["bad"] == (
        "TypeError: The argument 'cell' (3) is not an RNNCell: 'output_size' property is missing, "
        "'state_size' property is missing, either 'zero_state' or 'get_initial_state' method is required, "
        "is not callable."
    )
    assert found["like"] == [False, True]
    assert found["names"] == [["linear/kernel", [7, 5]], ["linear/bias", [5]]]
    assert found["values"] == [[9.0] * 5] * 2
    assert found["plain"] == "plain/plain/MatMul"
    assert found["errors"] == [
        "ValueError: `args` must be specified",
        "ValueError: linear is expecting 2D arguments: [TensorShape([Dimension(2)])]",
        "ValueError: linear expects shape[1] to be provided for shape (2, ?), but saw ?",
    ]


def test_flags_of_before_1_5(inner: dict[str, Any]) -> None:
    assert inner["flags"] == [5, True, True]


def test_keras(inner: dict[str, Any]) -> None:
    found = inner["keras"]
    assert found["policies"] == [["float16", "dynamic"], ["float32", None], ["float64", None]]
    assert found["set"] == ["ValueError: The global policy can only be set", None]
    assert found["scale"] == [False, 8.0]
    assert found["same"]
    assert "call `multi_gpu_model` with `gpus >= 2`" in found["one"]
    assert found["gpus"].startswith("ValueError: To call `multi_gpu_model` with `gpus=[0, 64]`")
    assert found["devices"] == "/job:localhost/replica:0/task:0/device:CPU:0"


def test_scikit_learn(inner: dict[str, Any]) -> None:
    found = inner["scikit_learn"]
    assert found["same"] and found["history"] == "History"
    assert found["parameters"] == [["batch_size", "build_fn", "epochs", "units", "verbose"], True, {"units": 2}]
    assert found["classes"] == [[5, 7], 2, [5, 7, 5]]
    assert found["probabilities"] == [[3, 2], [3, 2]]
    assert found["single"] == [[1], [1], [1]]
    assert found["scores"][0] == 1.0
    assert found["scores"][1].startswith("ValueError: The model is not configured to compute accuracy.")
    assert found["regressor"] == [[3], -4.4473]
    assert found["set"] == [True, 3]
    assert found["errors"] == [
        "ValueError: nonsense is not a legal parameter",
        "ValueError: bad is not a legal parameter",
        "ValueError: Invalid shape for y: (1, 2, 3)",
    ]


def test_what_needs_a_tpu_says_so(inner: dict[str, Any]) -> None:
    found = inner["needing_a_tpu"]
    assert len(found["errors"]) == 4 and all("needs a TPU, and there is none" in error for error in found["errors"])
    assert found["names"] == ["_tpu_replicate", "_PartitionedInfeedQueue", "rewrite_for_inference"]
    assert found["table"] == ["mean", "TruncatedNormal", "ValueError: Invalid vocabulary_size 0."]
    assert found["adam"] == {
        "learning_rate": 0.1, "use_gradient_accumulation": True, "clip_weight_min": None, "clip_weight_max": None,
        "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-08, "lazy_adam": True, "sum_inside_sqrt": True,
    }  # fmt: skip
    assert found["beta"] == "ValueError: beta1 must be between 0. and 1; got 2."
    assert found["watchdog"] == [None, 0, []]
    assert found["reset"].startswith("CoordinatorResetError")


def test_estimator(inner: dict[str, Any]) -> None:
    found = inner["estimator"]
    assert found["kept"] == {
        "largest": [8, 9], "one of": [3, 9], "mod": [2, 8], "union": [2, 8, 9], "negation": [1, 2, 3],
    }  # fmt: skip
    assert found["listed"] == [9, 10]
    assert found["iterations"] == [[3, "count"], [30, "count"], [10, "seconds"], [120, "seconds"], [3600, "seconds"]]
    assert found["no iterations"] == "ValueError: Invalid TPUConfig `iterations_per_loop`"
    assert found["positive"] == [
        "None", "ValueError: n must be positive, got 0", "TypeError: n must be int, got <class 'float'>",
    ]  # fmt: skip
    assert found["raised"] == ["None", "KeyError", "ValueError", "CancelledError"]
    assert found["spec"] == "TypeError: `eval_spec` must have type `tf.estimator.EvalSpec`. Got: <class 'int'>"
    assert found["model_fn"].endswith("has following not expected args: ['x']")
    assert (found["step"], found["fn_args"]) == (0, ["a", "b"])
    assert found["iterator"] == [
        [1, 2], "ValueError: input_fn should return (features, labels) as a len 2 tuple.",
    ]  # fmt: skip
    assert found["tpu spec"] and found["heads"] == [True, True] and found["early"]
    assert found["abstract"] == "NotImplementedError: Calling an abstract method."


def test_contrib(inner: dict[str, Any]) -> None:
    found = inner["contrib"]
    assert found["cudnn"] == ["unidirectional", 8]
    assert found["session"] and found["transposed"] == [3, 2, 4]
    assert found["strategy"] == [True, True, True, 1]
    assert found["both"] == "ValueError: Must only specify one of num_gpus and devices."
    assert found["forest"] == [[[[3.0, 1.0, 2.0]], [[1.0], [2.0]], [1.0], [[1.0], [-1.0]]], None, 3]


def test_names_of_other_releases_say_what_to_use(inner: dict[str, Any]) -> None:
    assert inner["missing"] == {
        "pack": "It left with TensorFlow 1.0: use tf.stack.",
        "concat_v2": "It left with TensorFlow 1.0: use tf.concat.",
        "scalar_summary": "It left with TensorFlow 1.0: use tf.summary.scalar.",
        "optimizers": "It came with TensorFlow 2: use tf.train, or tf.keras.optimizers.",
        "batch_matrix_determinant": "It left with TensorFlow 1.0: use tf.matrix_determinant.",
    }
