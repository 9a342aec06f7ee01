"""Serialised ``tf.train.Example``\\ s for an input that a graph parses: with the features that the graph asks for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tf1sessions.models.graph_index import node_of
from tf1sessions.porting.parity.views import View
from tf1sessions.runtime import tf

__all__ = ["Feature", "features_of", "serialized"]

#: How many values a feature has where the graph leaves it open: this many at most. Arbitrary.
_MOST = 3


@dataclasses.dataclass(frozen=True)
class Feature:
    """The features that a graph asks of each example.

    Attributes:
        key: In the example.
        dtype: A ``tf.DType``: int64, float32 or string.
        shape: Of its values; None where there may be any number of them.
        tensor: What the graph makes of it, in the whole batch.
    """

    key: str
    dtype: Any
    shape: tuple[int, ...] | None
    tensor: str


def features_of(uses: Iterable[tuple[Any, int]], view: View) -> list[Feature]:
    """The features that the operations ask for which take a tensor; empty where none of them parses examples.

    Args:
        uses: The operations, with the number of their input that it is.
        view: The graph.
    """
    found: dict[str, Feature] = {}
    for seen, index in uses:
        if index == 0 and seen.node.op in _READERS:
            for feature in _READERS[seen.node.op](seen.node, seen.inputs, view):
                found.setdefault(feature.key, feature)
    return list(found.values())


def serialized(features: Sequence[Feature], values: Callable[[Feature, tuple[int, ...]], Any], random: Any) -> bytes:
    """One example.

    Args:
        features: What is in it.
        values: Gives an array for a feature, of a shape.
        random: A ``numpy.random.Generator``.
    """
    example = tf.train.Example()
    for feature in features:
        shape = (int(random.integers(1, _MOST + 1)),) if feature.shape is None else feature.shape
        flat = np.asarray(values(feature, shape)).reshape(-1).tolist()
        parts = example.features.feature[feature.key]
        if feature.dtype == tf.string:
            parts.bytes_list.value.extend(flat)
        elif feature.dtype == tf.float32:
            parts.float_list.value.extend(flat)
        else:
            parts.int64_list.value.extend(flat)
    return bytes(example.SerializeToString(deterministic=True))


def _in_inputs(node: Any, inputs: Sequence[str], view: View) -> Iterator[Feature]:
    """ParseExample: a scalar input for each key, after the examples and their names."""
    sparse, dense = node.attr["Nsparse"].i, node.attr["Ndense"].i
    keys = [key for each in inputs[2 : 2 + sparse + dense] for key in _strings(each, view)]
    if len(keys) == sparse + dense:
        yield from _features(node, keys[:sparse], keys[sparse:])


def _in_vectors(node: Any, inputs: Sequence[str], view: View) -> Iterator[Feature]:
    """ParseExampleV2: the keys of each kind as one input."""
    sparse, dense = _strings(inputs[2], view), _strings(inputs[3], view)
    if (len(sparse), len(dense)) == (node.attr["num_sparse"].i, len(node.attr["Tdense"].list.type)):
        yield from _features(node, sparse, dense)


def _in_attributes(node: Any, inputs: Sequence[str], view: View) -> Iterator[Feature]:
    """ParseSingleExample."""
    names = ([key.decode() for key in node.attr[each].list.s] for each in ("sparse_keys", "dense_keys"))
    yield from _features(node, *names)


def _features(node: Any, sparse: Sequence[str], dense: Sequence[str]) -> Iterator[Feature]:
    """The outputs are the indices, values and shapes of the sparse ones, then the dense ones."""
    count = len(sparse)
    for place, (key, dtype) in enumerate(zip(sparse, node.attr["sparse_types"].list.type, strict=True)):
        yield Feature(key, tf.as_dtype(dtype), None, f"{node.name}:{count + place}")
    shapes = node.attr["dense_shapes"].list.shape
    for place, (key, dtype, proto) in enumerate(zip(dense, node.attr["Tdense"].list.type, shapes, strict=True)):
        shape = tuple(_MOST if size is None else size for size in tf.TensorShape(proto).as_list())
        yield Feature(key, tf.as_dtype(dtype), shape, f"{node.name}:{3 * count + place}")


def _strings(tensor: str, view: View) -> list[str]:
    """A constant of strings."""
    node = view.nodes.get(node_of(tensor))
    if node is None or node.op != "Const":
        return []
    return [key.decode() for key in np.ravel(tf.make_ndarray(node.attr["value"].tensor)).tolist()]


_READERS: dict[str, Callable[[Any, Sequence[str], View], Iterator[Feature]]] = {
    "ParseExample": _in_inputs,
    "ParseExampleV2": _in_vectors,
    "ParseSingleExample": _in_attributes,
}
