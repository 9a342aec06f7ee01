"""How far arrays are apart, and how far they may be. No TensorFlow here."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tf1sessions.errors import UsageError
from tf1sessions.porting.parity import measures
from tf1sessions.porting.parity.measures import measure
from tf1sessions.porting.parity.tolerances import DEFAULTS, Tolerance, Tolerances, read, records_of


def array(*values: float, dtype: str = "float32") -> np.ndarray:
    return np.array(values, dtype)


# ------------------------------------------------------------------------------------------------------ measures


def test_equal_arrays() -> None:
    found = measure(array(1, np.nan, np.inf, -0.0), array(1, np.nan, np.inf, 0.0))
    assert found.same and found.worst is None
    assert (found.size, found.nans, found.ulps, found.absolute) == (4, 1, 0, 0.0)


def test_worst_element() -> None:
    left = np.arange(12, dtype=np.float32).reshape(3, 4)
    right = left.copy()
    right[1, 2] += 0.5
    right[2, 0] -= 0.25
    found = measure(left, right, absolute=0.3)
    assert (found.worst, found.left, found.right) == ((1, 2), 6.0, 6.5)
    assert (found.differing, found.beyond) == (2, 1)
    assert found.absolute == 0.5 and found.share == pytest.approx(0.5 / 0.3)
    assert found.relative == pytest.approx(0.5 / 6)


def test_relative_to_the_left() -> None:
    assert measure(array(100.0), array(101.0), relative=0.0101).beyond == 0
    assert measure(array(1.0), array(1.0101), relative=0.01).beyond == 1
    assert measure(array(0.0), array(1e-6), relative=1.0).beyond == 1  # nothing is relative to 0


@pytest.mark.parametrize(("steps", "beyond"), [(2, 0), (3, 1)])
def test_units_in_the_last_place(steps: int, beyond: int) -> None:
    value = other = np.float32(-1.0)
    for _ in range(steps):
        other = np.nextafter(other, np.float32(-2))
    found = measure(array(value), array(other), ulps=2)
    assert (found.ulps, found.beyond) == (steps, beyond)


def test_units_across_zero() -> None:
    tiny = np.nextafter(np.float32(0), np.float32(1))
    assert measure(array(-tiny), array(tiny)).ulps == 2


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_on_one_side_is_the_worst(bad: float) -> None:
    found = measure(array(1.0, 5.0, 2.0), array(900.0, bad, 2.0), absolute=1e9, relative=1e9)
    assert (found.worst, found.not_finite, found.beyond) == ((1,), 1, 1)
    assert found.share == math.inf and found.absolute == 899.0


def test_infinities_of_two_signs_differ() -> None:
    assert measure(array(np.inf), array(-np.inf), absolute=1e9).beyond == 1


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "object"])
def test_others_are_exact(dtype: str) -> None:
    left = np.array([1, 0, 1]).astype(dtype)
    right = np.array([1, 1, 1]).astype(dtype)
    assert measure(left, left.copy(), absolute=9.0).same
    found = measure(left, right, absolute=9.0)
    assert (found.beyond, found.worst) == (1, (1,))


def test_strings() -> None:
    found = measure(np.array([b"a", b"b"], object), np.array([b"a", b"c"], object))
    assert (found.left, found.right, found.absolute) == ("b", "c", None)


def test_blocks_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    left = random.standard_normal((7, 5, 3)).astype(np.float32)
    right = left + random.standard_normal(left.shape).astype(np.float32) * 1e-3
    right[3, 2, 1], right[6, 4, 2] = np.inf, left[6, 4, 2] + 9
    whole = measure(left, right, absolute=1e-3)
    monkeypatch.setattr(measures, "_BLOCK", 8)
    assert measure(left, right, absolute=1e-3) == whole
    assert whole.worst == (3, 2, 1) and whole.not_finite == 1


def test_no_elements() -> None:
    assert measure(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)).same


def test_complex_numbers() -> None:
    found = measure(np.array([1 + 1j], np.complex64), np.array([1 + 2j], np.complex64))
    assert (found.absolute, found.ulps, found.beyond) == (1.0, None, 1)


# ---------------------------------------------------------------------------------------------------- tolerances


def test_first_record_that_fits() -> None:
    own = Tolerance(op="Mat* Conv2D", dtype="float32", device="GPU", relative=0.1, source="mine")
    records = Tolerances([own], "GPU")
    assert records.of("MatMul", "a:0", "float32") is own
    assert records.of("Conv2D", "a:0", "float32") is own
    assert records.of("Sum", "a:0", "float32").absolute == 1e-5
    assert records.of("MatMul", "a:0", "float64").absolute == 1e-12
    assert Tolerances([own], "CPU").of("MatMul", "a:0", "float32").source == "default"


def test_records_by_tensor() -> None:
    records = Tolerances([Tolerance(tensor="logits*", absolute=1.0)])
    assert records.of("Identity", "logits:0", "float32").absolute == 1.0
    assert records.of("Identity", "other:0", "float32").absolute == 0.0


def test_equal_kernels_are_held_to_the_bit() -> None:
    records = Tolerances()
    for op in ("Identity", "Relu", "ConcatV2", "Const", "ReadVariableOp", "MaxPool"):
        assert str(records.of(op, "a:0", "float32")) == "equal"
    assert str(records.of("MatMul", "a:0", "float32")) == "1e-05 + 1e-05 of the value"
    assert str(records.of("Tanh", "a:0", "float32")) == "1e-06 + 1e-06 of the value"
    assert records.of("Tanh", "a:0", "float64").absolute == 1e-12
    assert records.of("FFT", "a:0", "complex64").absolute == 2e-3
    assert Tolerances(device="GPU").of("MatMul", "a:0", "float32").absolute == 1e-3


def test_every_default_says_why() -> None:
    assert all(each.reason for each in DEFAULTS)


def test_files(tmp_path: Path) -> None:
    record = {"op": "MatMul", "relative": 1e-4, "reason": "TF32"}
    toml = tmp_path / "a.toml"
    toml.write_text('[[tolerance]]\nop = "MatMul"\nrelative = 1e-4\nreason = "TF32"\n', "utf-8")
    (tmp_path / "a.json").write_text(json.dumps([record]), "utf-8")
    (tmp_path / "b.json").write_text(json.dumps({"tolerance": [record]}), "utf-8")
    for name in ("a.toml", "a.json", "b.json"):
        (found,) = read(tmp_path / name)
        assert (found.op, found.relative, found.reason) == ("MatMul", 1e-4, "TF32")
        assert found.source == f"{tmp_path / name}, record 1"
    assert records_of(str(toml)) == read(toml)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[tolerance]]\nrelativ = 1.0", "unknown key 'relativ'"),
        ("[[tolerance]]\nrelative = -1.0", "relative of a tolerance is -1.0"),
        ('[[tolerance]]\nrelative = "small"', "relative of a tolerance is 'small'"),
        (f"[[tolerance]]\nabsolute = 1{'0' * 400}", "absolute of a tolerance is 1000"),
        ("[[tolerance]]\nop = 3", "op is 3, which is no text"),
        ("[tolerances]\nop = 'a'", "unknown key 'tolerances'"),
        ("tolerance = 1", "there is no list of records"),
        ("tolerance = [1]", "1 is no record"),
        ("[[tolerance", "cannot be read"),
        (
            f"a = {'[' * 20}{']' * 20}",
            "brackets are nested more than 16 deep",
        ),  # what takes the parser's stack, or time
        (f"{'.'.join('a' * 20)} = 1", "a key has more than 16 parts"),
    ],
)
def test_wrong_files(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match="wrong.toml") as caught:
        read(path)
    assert said in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read(tmp_path / "missing.toml")


@pytest.mark.parametrize("given", [3, Tolerance(), {"op": "a"}, [3], [{"no": 1}]])
def test_wrong_records(given: object) -> None:
    with pytest.raises(UsageError):
        records_of(given)


def test_given_records_have_a_source() -> None:
    one, two = records_of([Tolerance(op="A"), {"op": "B", "absolute": 1}])
    assert (one.source, two.source) == ("given 1", "tolerances=, record 2")
    assert two.about == "op B" and str(two) == "1"
