"""The inputs of a comparison: those that the user gives, checked; the others made to fit what the graph does with them.

What is made is the same each time: it depends on the seed and on the input's name alone.
"""

from __future__ import annotations

import dataclasses
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tf1sessions import files
from tf1sessions.errors import UsageError
from tf1sessions.models.graph_index import node_of
from tf1sessions.models.interface import TensorSpec
from tf1sessions.porting.parity.examples import Feature, features_of, serialized
from tf1sessions.porting.parity.sides import array
from tf1sessions.porting.parity.views import View
from tf1sessions.runtime import tf

__all__ = ["Given", "checked", "made", "read"]

#: What an open dimension of an input becomes: the first, the others. Arbitrary, but different, so that axes that were
#: swapped show; and small, so that whole numbers below them are lengths too.
_ROWS, _OTHERS = 3, 5
#: The largest input that is made, in bytes; arbitrary.
_MOST_BYTES = 1 << 30
#: Height and width of an image whose size is open. Arbitrary: enough for five halvings.
_IMAGE = 64
_WORDS = ("alpha", "beta", "gamma", "delta", "", "naïve")


@dataclasses.dataclass(frozen=True)
class Given:
    """An input of a comparison.

    Attributes:
        name: On the left side.
        other: On the right side.
        dtype, shape: Of its value.
        how: Where the value comes from, in words.
    """

    name: str
    other: str
    dtype: str
    shape: tuple[int, ...]
    how: str


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arrays of an ``.npz`` file by name.

    Raises:
        UsageError: It cannot be read, or an array in it is pickled.
    """
    where = os.fspath(path)
    try:
        with files.open_regular(path) as file:
            found = np.load(file, allow_pickle=False)
            if isinstance(found, np.ndarray):
                raise UsageError(f"{where} is one array", where="inputs=", next_step="Save it with np.savez.")
            return {name: array(files.read_array(found, name)) for name in found.files}
    except OSError as error:
        raise UsageError(f"the inputs {where!r} cannot be read: {error.strerror or error}", where="inputs=") from error
    except files.NOT_ARRAYS as error:
        raise UsageError(
            f"the inputs {where!r} cannot be read: {error}",
            where="inputs=",
            next_step="Save arrays by the names of the inputs: np.savez('data.npz', images=batch).",
        ) from error


def checked(name: str, value: Any, spec: TensorSpec, where: str) -> Any:
    """A value as an array of its input's dtype.

    Raises:
        UsageError: It does not have the shape of the input, or values that its dtype cannot hold.
    """
    found = array(value)
    dtype = _numpy(spec.dtype)
    if found.dtype != dtype:
        if "O" in (dtype.kind, found.dtype.kind) or not _fits(found, dtype):
            raise UsageError(
                f"input {name!r} has the dtype {'string' if found.dtype == object else found.dtype}, and "
                f"{spec.dtype.name} is needed",
                where=where,
                next_step="Convert it where you make it.",
            )
        found = found.astype(dtype)
    if spec.shape is not None and not tf.TensorShape(spec.shape).is_compatible_with(found.shape):
        raise UsageError(
            f"input {name!r} has the shape {list(found.shape)}, and {_shape_text(spec.shape)} is needed", where=where
        )
    return found


def made(specs: Mapping[str, TensorSpec], view: View | None, seed: int) -> dict[str, tuple[Any, str]]:
    """Values for inputs, each with the words that say how it was made.

    Args:
        specs: The inputs.
        view: The graph that they feed, where it can be looked at: what it does with them says which values are sound.
        seed: Of all values.

    Raises:
        UsageError: An input has a dtype of which no value can be made, or is too large.
    """
    found = {}
    for name, spec in specs.items():
        random = np.random.default_rng([seed, zlib.crc32(name.encode())])
        shape = _shape(spec, view)
        if math.prod(shape) * _numpy(spec.dtype).itemsize > _MOST_BYTES:
            raise UsageError(
                f"input {name!r} has the shape {_shape_text(spec.shape)}, which is more than {_MOST_BYTES >> 30} GiB",
                where="the values that are made for inputs",
                next_step="Give it, if you have it: --inputs data.npz.",
            )
        value, how = _value(name, spec, shape, view, random)
        found[name] = value, f"made: {how}, seed {seed}" if "seed" not in how else f"made: {how}"
    return found


def _value(name: str, spec: TensorSpec, shape: tuple[int, ...], view: View | None, random: Any) -> tuple[Any, str]:
    dtype = spec.dtype
    last = name.rpartition("/")[2].lower()
    if dtype == tf.bool:
        if not shape and any(word in last for word in ("train", "phase", "is_t", "learning")):
            return np.asarray(False), "False, because its name speaks of training"
        return random.integers(0, 2, shape).astype(bool), "either"
    if dtype == tf.string and view is not None and (features := features_of(_uses(spec.tensor, view), view)):
        count = int(np.prod(shape))
        texts = [serialized(features, lambda each, dims: _part(each, dims, view, random), random) for _ in range(count)]
        return np.array([*texts, None], object)[:-1].reshape(shape), f"examples, of {len(features)} features"
    if dtype == tf.string:
        words = [word.encode() for word in _WORDS]
        chosen = [words[index] for index in random.integers(0, len(words), int(np.prod(shape)))]
        return np.array([*chosen, None], object)[:-1].reshape(shape), f"words such as {_WORDS[0]!r}"
    if dtype.is_integer:
        limit, why = _limit(spec.tensor, view)
        return random.integers(0, limit, shape).astype(dtype.as_numpy_dtype), f"whole numbers below {limit}, {why}"
    if dtype.is_floating or dtype.is_complex:
        if not shape and "keep" in last:
            return np.asarray(1, dtype.as_numpy_dtype), "1, because its name says that it is what dropout keeps"
        if not shape and ("drop" in last or last == "rate"):
            return np.asarray(0, dtype.as_numpy_dtype), "0, because its name says that it is what dropout drops"
        return np.asarray(random.standard_normal(shape)).astype(dtype.as_numpy_dtype), "standard normal"
    raise UsageError(
        f"no value can be made for input {name!r} of dtype {dtype.name}",
        where="inputs=",
        next_step="Give it: --inputs data.npz.",
    )


def _part(feature: Feature, shape: tuple[int, ...], view: View, random: Any) -> Any:
    """Values of a feature of an example."""
    spec = TensorSpec(feature.key, feature.tensor, feature.dtype, tf.TensorShape(shape))
    return _value(feature.key, spec, shape, view, random)[0]


def _shape(spec: TensorSpec, view: View | None) -> tuple[int, ...]:
    shape = tf.TensorShape(spec.shape)
    if shape.rank is None:
        return (_ROWS,) if _takes_rank(spec.tensor, view) != 0 else ()
    dims = shape.as_list()
    image = len(dims) == 4 and _feeds(spec.tensor, view, "Conv2D") is not None
    return tuple(
        size if size is not None else _ROWS if axis == 0 else _IMAGE if image else _OTHERS
        for axis, size in enumerate(dims)
    )


# ---------------------------------------------------------------------------------------- what the graph says of them

_PASSING = frozenset(
    "Identity Cast Reshape ExpandDims Squeeze StopGradient Transpose Snapshot Pack ConcatV2 StridedSlice Slice".split()
)


def _limit(tensor: str, view: View | None) -> tuple[int, str]:
    """Below which number whole numbers must stay, and why."""
    found: list[tuple[int, str]] = []
    for seen, index in _uses(tensor, view):
        size, op = _classes(seen, index, view), seen.node.op
        if size:
            found.append((size, f"for {op} {seen.node.name} has that many"))
    return min(found) if found else (2, "because nothing says how large they may be")


def _classes(seen: Any, index: int, view: View | None) -> int | None:
    """Return the number of values that an operation has for what it takes as its input ``index``."""
    assert view is not None
    op, taken = seen.node.op, seen.inputs
    if op in ("Gather", "GatherV2") and index == 1:
        axis = _constant(taken[2], view) if len(taken) > 2 else 0
        shape = _shape_of(taken[0], view)
        return shape[axis] if shape and axis is not None and -len(shape) <= axis < len(shape) else None
    if op == "ResourceGather" and index == 1:
        handle = view.nodes.get(node_of(taken[0]))
        dims = handle.attr["shape"].shape.dim if handle is not None else ()
        return dims[0].size if dims and dims[0].size > 0 else None
    if op == "OneHot" and index == 0:
        return _constant(taken[1], view)
    if op == "SparseSoftmaxCrossEntropyWithLogits" and index == 1:
        shape = _shape_of(taken[0], view)
        return shape[-1] if shape else None
    return None


def _uses(tensor: str, view: View | None) -> Iterator[tuple[Any, int]]:
    """The operations that take a tensor, also after it was reshaped and the like, with the number of their input."""
    if view is None:
        return
    consumers = view.consumers
    waiting, done = [tensor], {tensor}
    while waiting:
        for seen, index in consumers.get(waiting.pop(), ()):
            yield seen, index
            if seen.node.op in _PASSING and seen.name not in done:
                done.add(seen.name)
                waiting.append(seen.name)


def _feeds(tensor: str, view: View | None, op: str) -> Any:
    return next((seen for seen, _ in _uses(tensor, view) if seen.node.op == op), None)


def _takes_rank(tensor: str, view: View | None) -> int:
    """The rank of an input of unknown rank: a scalar for what decides about training, else one dimension."""
    return 0 if _feeds(tensor, view, "Switch") or _feeds(tensor, view, "If") else 1


def _constant(tensor: str, view: View) -> int | None:
    node = view.nodes.get(node_of(tensor))
    if node is None or node.op != "Const":
        return None
    value = tf.make_ndarray(node.attr["value"].tensor)
    return int(value) if value.ndim == 0 and value.dtype.kind in "iu" else None


def _shape_of(tensor: str, view: View) -> tuple[int | None, ...] | None:
    seen = view.tensors.get(tensor)
    return seen.shape if seen is not None else None


# ----------------------------------------------------------------------------------------------------------- dtypes


def _numpy(dtype: Any) -> Any:
    return np.dtype(object) if dtype == tf.string else np.dtype(dtype.as_numpy_dtype)


def _fits(values: Any, dtype: Any) -> bool:
    """Whether values of another dtype are those of this one, but for rounding of floats."""
    if values.dtype.kind in "iub" and dtype.kind in "iu":
        info = np.iinfo(dtype)
        return not values.size or bool(info.min <= values.min() and values.max() <= info.max)
    return values.dtype.kind in "iubf" and dtype.kind in "fcV"


def _shape_text(shape: Any) -> str:
    return (
        str(tf.TensorShape(shape).as_list()).replace("None", "?") if tf.TensorShape(shape).rank is not None else "any"
    )
