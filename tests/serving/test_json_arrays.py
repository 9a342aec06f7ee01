"""Numbers of JSON as arrays: what NumPy alone would take for something else."""

from __future__ import annotations

import json
import types

import ml_dtypes
import numpy as np
import pytest

from tf1sessions.serving import json_arrays
from tf1sessions.serving.answers import RequestError

QINT8 = np.dtype([("qint8", np.int8)])  # as TensorFlow has quantized types


def test_quantized_numbers_arrive():
    assert to_array([-128, 127], QINT8)["qint8"].tolist() == [-128, 127]


def to_array(value, dtype):
    spec = types.SimpleNamespace(name="x", dtype=types.SimpleNamespace(as_numpy_dtype=dtype), shape=None)
    return json_arrays.JsonInput(spec).array(value)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([2**64 - 1, 0], np.uint64),  # for NumPy a list of floats
        ([0.5, 10**20], np.float32),  # for NumPy objects; JavaScript writes 1e20 so
        ([[10**20], [3]], np.float64),
        ([2**64 - 1, 1.5], np.float64),
    ],
)
def test_large_integers_arrive(value, dtype):
    found = to_array(value, dtype)
    assert found.dtype == dtype and found.tolist() == np.array(value, object).astype(dtype).tolist()


@pytest.mark.parametrize(
    ("value", "dtype", "given"),
    [
        ([1, True], np.int64, "Boolean"),
        ([1.5, False], np.float32, "Boolean"),
        ([[0], [True]], bool, "Number"),
        ([1, "a"], np.float32, "String"),
        ([None, 1.0], np.float32, "Null"),
        ([1.5], QINT8, "Number"),
    ],
)
def test_one_value_of_a_wrong_type_is_refused(value, dtype, given):
    with pytest.raises(RequestError, match=f"of type {given}"):
        to_array(value, dtype)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([2**64, 0], np.uint64), ([-1, 2**64 - 1], np.uint64), ([10**400], np.float64), ([2**63], int),
        ([128], QINT8), ([0, 2**70], QINT8), ([1e39], ml_dtypes.bfloat16),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(value, dtype):
    with pytest.raises(RequestError, match="out of the range"):
        to_array(value, dtype)


def test_only_what_is_written_so_is_infinite():
    infinite = json_arrays.parse(b'{"a": [Infinity, -Infinity, 1.5]}')["a"]
    assert to_array(infinite, np.float32).tolist() == [float("inf"), float("-inf"), 1.5]
    with pytest.raises(RequestError, match="out of the range"):
        to_array([infinite, json_arrays.parse(b'{"a": [Infinity, 1e999, 1]}')["a"]], np.float64)


@pytest.mark.parametrize(
    "body",
    [
        b'{"instances": [1], "signature_name": "a", "instances": [2]}',
        b'{"inputs": {"x": [1], "x": [2]}}',
        b'{"instances": [{"x": 1}, {"x": 1, "y": 2, "\\u0078": 3}]}',
        b'{"instances": [{"b64": "YQ==", "b64": "Yg=="}]}',
    ],
)
def test_a_value_that_is_named_twice_is_refused(body):
    with pytest.raises(RequestError, match=r"JSON Parse error: an object names '(instances|x|b64)' twice"):
        json_arrays.parse(body)


def test_what_is_large_is_encoded_in_pieces_as_the_whole_would_be(monkeypatch):
    """The longest call of `json` is short, as no other thread of the interpreter runs during it."""
    monkeypatch.setattr(json_arrays, "_PIECE", 7)
    longest = 0

    def dumps(value, **options):
        nonlocal longest
        text = json.dumps(value, **options)
        longest = max(longest, text.count(",") + 1)
        return text

    monkeypatch.setattr(json_arrays, "json", types.SimpleNamespace(dumps=dumps))
    values = {
        "long": np.arange(50),
        "wide": np.linspace(0, 1, 60).reshape(2, 30),
        "deep": np.arange(64).reshape(2, 1, 2, 16) % 2 == 0,
        "none": np.zeros([0, 3]),
        "texts": ["é" * 40, *"abcdefghijkl"],
        "rows": [{"a": [number, 1], "b": {"b64": "eA=="}} for number in range(9)],
        "small": [1.5, float("nan"), None, True],
        "one": "x" * 1000,
        "ragged": [[], [1] * 9],
    }
    for value in (*values.values(), values, list(values.values())):
        assert json_arrays.encoded(value) == json.dumps(value, default=np.ndarray.tolist).encode()
    assert longest <= 2 * 7


@pytest.mark.parametrize("write", [json_arrays.outputs_as_rows, json_arrays.outputs_as_columns])
def test_large_outputs_are_written_as_small_ones_are(monkeypatch, write):
    array = np.random.default_rng(1).normal(size=(30, 5)).astype(np.float32)
    for outputs in ({"y": array}, {"y": array, "z": array[:, 0] > 0}):
        small = json_arrays.encoded(write(outputs))
        monkeypatch.setattr(json_arrays, "_PIECE", 7)
        assert json_arrays.encoded(write(outputs)) == small
        monkeypatch.undo()
