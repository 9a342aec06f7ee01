"""Arrays from JSON and back, as TensorFlow Serving's REST API has them.

Numbers are JSON's numbers, ``NaN``, ``Infinity`` and ``-Infinity`` among them, which that interface has beyond JSON.
Strings are text, or ``{"b64": ...}`` for bytes. ``instances`` is a list of rows, ``inputs`` a list of columns.
"""

from __future__ import annotations

import base64
import binascii
import collections
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf1sessions.models.interface import TensorSpec
from tf1sessions.serving.answers import RequestError

__all__ = [
    "Columns", "JsonInput", "JsonInputs", "encoded", "outputs_as_columns", "outputs_as_rows", "parse", "without_ones",
]  # fmt: skip


def parse(body: bytes) -> dict[str, Any]:
    """A request's body as an object of JSON.

    Raises:
        RequestError: It is none.
    """
    try:
        found = _DECODER.decode(body.decode(json.detect_encoding(body), "surrogatepass"))
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RequestError(f"JSON Parse error: {why}") from None
    if not isinstance(found, dict):
        raise RequestError(f"JSON Parse error: the body is of type {_kind(found)}, and not an object")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON.

    Raises:
        ValueError: It names a value twice: readers of JSON differ in which of them holds.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        name = collections.Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object names {name!r:.80} twice")
    return found


class _Infinity(float):
    """An infinite number that is written so; that of ``1e999`` is a float."""


_CONSTANTS = {"NaN": float("nan"), "Infinity": _Infinity("inf"), "-Infinity": _Infinity("-inf")}
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_CONSTANTS.__getitem__)


class Columns(NamedTuple):
    """The arrays of a predict request.

    Attributes:
        arrays: By input.
        in_rows: Whether it was in row format, with ``instances``.
        flat: Whether rows were numbers where the model's have the shape [1]; see :func:`without_ones`.
    """

    arrays: dict[str, NDArray[Any]]
    in_rows: bool
    flat: bool


class JsonInputs:
    """The inputs of a signature, as requests give them. What they are compared with is looked up once, here.

    Args:
        specs: By name.

    Thread-safety: safe to use from any number of threads.
    """

    def __init__(self, specs: Mapping[str, TensorSpec]) -> None:
        self._inputs = {name: JsonInput(spec) for name, spec in specs.items()}
        self._required = [name for name, spec in specs.items() if not spec.optional]

    def __getitem__(self, name: str) -> JsonInput:
        return self._inputs[name]

    def columns(self, request: Mapping[str, Any]) -> Columns:
        """The arrays of a predict request.

        Raises:
            RequestError: Neither or both formats, an unknown or missing input, a value of another type or shape.
        """
        in_rows = "instances" in request
        if in_rows == ("inputs" in request):
            which = "both" if in_rows else "neither"
            raise RequestError(f"The request has {which} of 'instances' (row format) and 'inputs' (column format)")
        values = self._of_rows(request["instances"]) if in_rows else self._of_columns(request["inputs"])
        if values.keys() != self._inputs.keys():
            self._check_names(values)
        arrays, flat = {}, False
        for name, value in values.items():
            given = self._inputs[name]
            array = given.array(value)
            arrays[name] = fitted = given.with_ones(array)
            flat |= fitted is not array
            if not given.fits(fitted.shape):
                raise RequestError(f"The input {name!r} has the shape {list(fitted.shape)}, and not {given.spec.shape}")
        return Columns(arrays, in_rows, flat)

    def _check_names(self, values: Mapping[str, Any]) -> None:
        unknown = [name for name in values if name not in self._inputs]
        missing = [name for name in self._required if name not in values]
        if unknown or missing:
            wrong = f"has the unknown input {unknown[0]!r}" if unknown else f"has no input {missing[0]!r}"
            raise RequestError(f"The request {wrong}; the inputs are {', '.join(self._inputs)}")

    def _of_rows(self, instances: Any) -> dict[str, Any]:
        if not isinstance(instances, list) or not instances:
            raise RequestError("'instances' is not a list with a value or an object for each row")
        if not self._are_named(instances[0]):
            if dict in map(type, instances) and any(map(self._are_named, instances)):
                raise RequestError("Some of 'instances' are objects with names of inputs, and some are values")
            return {self._only(): instances}
        keys = instances[0].keys()
        for number, each in enumerate(instances):
            if not isinstance(each, dict) or each.keys() != keys:
                known = ", ".join(keys)
                raise RequestError(f"instances[{number}] does not have the same inputs as instances[0]: {known}")
        return {name: [each[name] for each in instances] for name in keys}

    def _of_columns(self, inputs: Any) -> dict[str, Any]:
        return dict(inputs) if self._are_named(inputs) else {self._only(): inputs}

    def _are_named(self, value: Any) -> bool:
        """Whether a value is an object of inputs by name, and not the bytes of one."""
        return isinstance(value, dict) and (value.keys() != {"b64"} or "b64" in self._inputs)

    def _only(self) -> str:
        if len(self._required) != 1:
            known = ", ".join(self._inputs)
            raise RequestError(f"The model has several inputs, {known}: give an object with their names")
        return self._required[0]


class JsonInput:
    """One input: the array of a value of JSON.

    Args:
        spec: Of the input.
    """

    def __init__(self, spec: TensorSpec) -> None:
        self.spec = spec
        self._dtype = dtype = np.dtype(spec.dtype.as_numpy_dtype)
        if dtype.names:  # of a quantized type: a structure with one integer
            dtype = dtype[0]
        self._sizes = None if spec.shape is None or spec.shape.rank is None else spec.shape.as_list()
        takes: dict[str, tuple[set[type], str]] = {"b": ({bool}, "b"), "i": ({int}, "iu"), "u": ({int}, "iu")}
        takes["c"] = set(), ""
        # types of Python that it takes, and kinds of arrays that NumPy makes of them; bfloat16 has the kind V
        self._types, self._kinds = takes.get(dtype.kind, ({int, float, _Infinity}, "iuf"))
        self._range = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind in "iu" else None

    def with_ones(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array with the last dimension of 1 that its input has, and that it was sent without.

        TensorFlow Serving compares no shapes, and its documentation sends ``[1.0, 2.0, 5.0]`` to an input of [?, 1].
        """
        sizes = self._sizes
        if array.ndim and sizes and len(sizes) == array.ndim + 1 and self.fits((*array.shape, 1)):
            return array[..., np.newaxis]
        return array

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether the input may have a shape."""
        sizes = self._sizes
        if sizes is None:
            return True
        return len(sizes) == len(shape) and all(
            [wanted in (None, size) for wanted, size in zip(sizes, shape, strict=True)]
        )

    def array(self, value: Any) -> NDArray[Any]:
        """The array of a JSON value, of the input's dtype.

        Raises:
            RequestError: Ragged rows, a value of another type, or one out of range.
        """
        if self._dtype.kind == "O":
            return _strings(value, self.spec)
        spec, wanted = self.spec, self._dtype
        if isinstance(value, (str, dict)) or value is None:
            raise RequestError(_wrong_type(spec, _kind(value), wanted))
        try:
            array = np.asarray(value)
        except (ValueError, OverflowError) as error:
            raise RequestError(f"The rows of the input {spec.name!r} differ in length: {error}") from None
        if array.size == 0:
            return array.astype(wanted)
        types = _types(value, array.ndim)  # not by the array's dtype: NumPy takes True for 1, large integers otherwise
        if not types <= self._types:
            wrong = min(types - self._types, key=lambda each: each in (int, float))
            raise RequestError(_wrong_type(spec, _KINDS.get(wrong, "Number"), wanted))
        if array.dtype.kind not in self._kinds:
            array = _large(value, array.shape, wanted[0] if wanted.names else wanted, spec)
        if self._range is not None:
            if array.min() < self._range[0] or array.max() > self._range[1]:
                raise self._out_of_range()
            return array.astype(wanted)
        with np.errstate(over="ignore"):
            converted = array.astype(wanted)
        infinite = np.isinf(converted if wanted.kind == "f" else converted.astype(np.float64))  # not of a bfloat16
        if infinite.any() and not all(isinstance(each, _Infinity) for each in np.array(value, object)[infinite]):
            raise self._out_of_range()
        return converted

    def _out_of_range(self) -> RequestError:
        return RequestError(f"A number of the input {self.spec.name!r} is out of the range of {self._dtype}")


def without_ones(outputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The outputs of a request with flat rows, in which rows of one number are that number."""
    return {
        name: array[..., 0] if array.ndim > 1 and array.shape[-1] == 1 else array for name, array in outputs.items()
    }


def _types(value: Any, depth: int) -> set[type]:
    """The types of what is in lists that are nested so deep."""
    found = [value]
    for _ in range(depth):
        found = itertools.chain.from_iterable(found)  # type: ignore[assignment]
    return set(map(type, found))


def _large(value: Any, shape: tuple[int, ...], wanted: np.dtype[Any], spec: TensorSpec) -> NDArray[Any]:
    """An array of numbers among which are integers that NumPy has no common type for.

    Encoders write a float of 1e20 as an integer, and of an uint64 half the values are beyond int64.
    """
    flat = np.array(value, object).reshape(-1).tolist()
    whole = wanted.kind in "iu"
    try:
        if whole and (min(flat) < np.iinfo(wanted).min or max(flat) > np.iinfo(wanted).max):
            raise OverflowError
        return np.array(flat, wanted if whole else np.float64).reshape(shape)
    except OverflowError:
        raise RequestError(f"A number of the input {spec.name!r} is out of the range of {wanted}") from None


def _strings(value: Any, spec: TensorSpec) -> NDArray[Any]:
    """An array of bytes. Its shape is found first, as bytes in an array of NumPy's would lose zeros at their ends."""
    shape: list[int] = []
    inner = value
    while isinstance(inner, list):
        shape.append(len(inner))
        if not inner:
            break
        inner = inner[0]
    found: list[bytes] = []
    _collect(value, shape, 0, found, spec)
    array = np.empty(len(found), object)
    array[:] = found
    return array.reshape(shape)


def _collect(value: Any, shape: list[int], depth: int, found: list[bytes], spec: TensorSpec) -> None:
    if depth == len(shape):
        found.append(_bytes(value, spec))
        return
    if not isinstance(value, list) or len(value) != shape[depth]:
        raise RequestError(f"The rows of the input {spec.name!r} differ in length")
    for each in value:
        _collect(each, shape, depth + 1, found, spec)


def _bytes(value: Any, spec: TensorSpec) -> bytes:
    if isinstance(value, str):
        try:
            return value.encode("utf-8")
        except UnicodeEncodeError:
            raise RequestError(f"A string of the input {spec.name!r} is no text: half a character") from None
    if isinstance(value, dict) and value.keys() == {"b64"} and isinstance(value["b64"], str):
        try:
            return base64.b64decode(value["b64"], validate=True)
        except (binascii.Error, ValueError):
            raise RequestError(f"A value of the input {spec.name!r} is no base64") from None
    raise RequestError(_wrong_type(spec, _kind(value), "string"))


def _wrong_type(spec: TensorSpec, given: str, wanted: Any) -> str:
    return f"A value of the input {spec.name!r} is of type {given}, and not of the expected type {wanted}"


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "Number")


_KINDS = {dict: "Object", list: "Array", str: "String", bool: "Boolean", type(None): "Null"}


# -- from arrays


def outputs_as_rows(outputs: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """``{"predictions": ...}``: a value for each row, or an object where there are several outputs.

    Raises:
        RequestError: The outputs do not have the same number of rows.
    """
    if len(outputs) == 1:
        [(name, array)] = outputs.items()
        if array.ndim:
            return {"predictions": _listed(name, array)}
    counts = {name: array.shape[0] if array.ndim else -1 for name, array in outputs.items()}
    if len(set(counts.values())) != 1 or -1 in counts.values():
        raise RequestError(
            f"The outputs have no rows in common ({counts}; -1 for none): ask in column format, with 'inputs'"
        )
    listed = {name: _listed(name, array) for name, array in outputs.items()}
    return {"predictions": [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)]}


def outputs_as_columns(outputs: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """``{"outputs": ...}``: the array, or an object of them where there are several outputs."""
    listed = {name: _listed(name, array) for name, array in outputs.items()}
    return {"outputs": next(iter(listed.values())) if len(listed) == 1 else listed}


def _listed(name: str, array: NDArray[Any]) -> Any:
    array = np.asarray(array)
    if array.dtype.kind == "O" or array.dtype.kind == "S":
        return _texts(array.tolist(), name.endswith("_bytes"))
    if array.dtype.kind not in "biuf":  # bfloat16
        array = array.astype(np.float32)
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        if array.size <= _FEW:
            return np.array([float(str(each)) for each in array.flat]).reshape(array.shape).tolist()
        array = _with_few_digits(array)
    return array.tolist() if array.size <= _PIECE else array  # which encoded() takes apart


_FEW = 50  # numbers that are written faster one by one


def _with_few_digits(array: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers of float32 as doubles that are written with few digits: 0.1, and not 0.10000000149011612.

    They are the same numbers of float32: what is not is left as it is.
    """
    exact = array.astype(np.float64)
    found: NDArray[np.float64] = exact.copy()
    with np.errstate(all="ignore"):
        digits = 5 - np.floor(np.log10(np.abs(exact)))
        open_ = np.abs(digits) < 18  # powers of ten that are exact; not for 0, NaN and infinities
        for more in (0, 1, 2, 3):
            if not open_.any():
                break
            power = 10.0 ** np.clip(np.abs(digits + more), 0, 22)
            up = digits + more >= 0
            scaled = np.rint(np.where(up, exact * power, exact / power))
            candidate = np.where(up, scaled / power, scaled * power)
            right = open_ & (candidate.astype(array.dtype) == array)
            found[right] = candidate[right]
            open_ &= ~right
    return found


_PIECE = 1 << 14  # numbers and texts; takes milliseconds


def encoded(value: Any) -> bytes:
    """A value, which may have arrays in it, as JSON, with NaN and infinities as TensorFlow Serving writes them.

    What is large is encoded in pieces: no other thread of the interpreter runs while ``json`` makes one.
    """
    return b"".join(_pieces(value))


def _pieces(value: Any) -> Iterator[bytes]:
    if _count(value) <= _PIECE or not isinstance(value, (dict, list, np.ndarray)):
        yield json.dumps(value, default=_plain).encode("utf-8")
    elif isinstance(value, dict):
        for number, (name, each) in enumerate(value.items()):
            yield (", " if number else "{").encode("utf-8") + json.dumps(name).encode("utf-8") + b": "
            yield from _pieces(each)
        yield b"}"
    else:
        many = max(1, _PIECE // max(1, _count(value[0])))
        for first in range(0, len(value), many):
            yield b", " if first else b"["
            if many == 1:
                yield from _pieces(value[first])
            else:
                yield json.dumps(value[first : first + many], default=_plain)[1:-1].encode("utf-8")
        yield b"]"


def _count(value: Any) -> int:
    """Count the numbers and texts, a long text as several; each element of a list as the first of them."""
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, dict):
        return sum(map(_count, value.values()))
    if isinstance(value, list):
        return len(value) * _count(value[0]) if value else 0
    return 1 + len(value) // 16 if isinstance(value, str) else 1


def _plain(value: Any) -> Any:
    return value.tolist()


def _texts(value: Any, as_bytes: bool) -> Any:
    if isinstance(value, list):
        return [_texts(each, as_bytes) for each in value]
    data = value if isinstance(value, bytes) else str(value).encode("utf-8")
    if not as_bytes:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return {"b64": base64.b64encode(data).decode("ascii")}
