"""Rows about operations that are gone, have another name, or took other inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tf1sessions.models.graph_index import node_of
from tf1sessions.models.upgrades.compositions import COMPOSED, composition
from tf1sessions.models.upgrades.rewriting import (
    Graph,
    LocatedNode,
    Upgrade,
    attr_value,
    become,
    connect,
    copy_of,
    data_count,
    definition_of,
    has,
    inputs_of,
    same_frame,
    with_ops,
)
from tf1sessions.runtime import tf

__all__ = ["OPERATIONS"]


def _without_deleted_key(graph: Graph) -> Iterator[LocatedNode]:
    for op in ("MutableDenseHashTableV2", "MutableDenseHashTable"):
        for place in graph.places.get(op, ()):
            known = has(place, key_dtype="type") and place.node.attr["key_dtype"].type in _KEYS
            if known and data_count(place) == 1 and (op.endswith("V2") or _users(graph, place) is not None):
                yield place


def _users(graph: Graph, place: LocatedNode) -> list[Any] | None:
    """The nodes that use a table with a handle of strings, if each is there for a handle of a resource too."""
    if place.function is not None:
        return None
    users = graph.takers.get(place.node.name, [])
    known = all(definition_of(f"{node.op}V2") is not None and "Table" in node.op for node in users)
    return users if known else None


#: DataType of a key -> two keys that nobody has, of which one is not the empty key.
_KEYS: dict[int, tuple[Any, Any]] = {
    1: (-3.4e38, -3.3e38),
    2: (-1.7e308, -1.6e308),
    3: (-(2**31) + 1, -(2**31) + 2),
    7: (b"\0deleted key", b"\0\0deleted key"),
    9: (-(2**63) + 1, -(2**63) + 2),
}


def _with_deleted_key(graph: Graph, place: LocatedNode) -> None:
    node = place.node
    (empty,) = inputs_of(node)[0]
    kind = node.attr["key_dtype"].type
    source = graph.nodes.get(node_of(empty)) if place.function is None else None
    taken = source is not None and source.op == "Const" and _is_filled_with(source, _KEYS[kind][0])
    key = graph.constant(place, "deleted_key", _KEYS[kind][taken], tf.as_dtype(kind))
    int32 = attr_value(type=tf.int32.as_datatype_enum)
    shape = graph.add(place, "deleted_key/shape", "Shape", [empty], T=attr_value(type=kind), out_type=int32)
    inputs = [*graph.outputs(place, shape), key]
    filled = graph.add(place, "deleted_key/filled", "Fill", inputs, T=attr_value(type=kind), index_type=int32)
    connect(node, [empty, *graph.outputs(place, filled)])
    for user in _users(graph, place) or () if node.op == "MutableDenseHashTable" else ():
        user.op += "V2"
    node.op = "MutableDenseHashTableV2"


def _is_filled_with(node: Any, key: Any) -> bool:
    tensor = node.attr["value"].tensor
    if any(not 0 <= dim.size <= 1024 for dim in tensor.tensor_shape.dim) or len(tensor.tensor_shape.dim) > 1:
        return False  # a claim that need not be true; a key is a number, or a few
    try:
        return bool((tf.make_ndarray(tensor) == key).any())
    except (TypeError, ValueError):  # malformed
        return False


def _argmax_without_type(graph: Graph) -> Iterator[LocatedNode]:
    for op in ("MaxPoolWithArgmax", "MaxPoolGradWithArgmax"):
        yield from (place for place in graph.places.get(op, ()) if "T" not in place.node.attr)


def _float_type(graph: Graph, place: LocatedNode) -> None:
    place.node.attr["T"].type = tf.float32.as_datatype_enum


#: What was called otherwise, with the same inputs and attributes.
_RENAMED = {"CreateVariableOp": "AssignVariableOp", "MapAndBatchDatasetV2": "MapAndBatchDataset"}


def _rename(graph: Graph, place: LocatedNode) -> None:
    place.node.op = _RENAMED[place.node.op]


#: Operations on lists of tensors that got one more input, and how many they have now.
_LISTS = {
    "EmptyTensorList": 2,
    "TensorListGather": 3,
    "TensorListGetItem": 3,
    "TensorListPopBack": 2,
    "TensorListStack": 2,
}


def _short_lists(graph: Graph) -> Iterator[LocatedNode]:
    for op, count in _LISTS.items():
        yield from (place for place in graph.places.get(op, ()) if data_count(place) == count - 1)


def _any_shape(graph: Graph, place: LocatedNode) -> None:
    unknown = graph.constant(place, "any", -1, tf.int32)
    connect(place.node, [*inputs_of(place.node)[0], unknown])


def _sorted_top_k(graph: Graph, place: LocatedNode) -> None:
    node = place.node
    (rows,) = inputs_of(node)[0]
    k = graph.constant(place, "k", node.attr["k"].i, tf.int32)
    kept = {key: copy_of(node.attr[key]) for key in ("T", "sorted") if key in node.attr}
    become(node, "TopKV2", [rows, k], **kept)


def _projective_transform(graph: Graph, place: LocatedNode) -> None:
    node = place.node
    data, _ = inputs_of(node)
    int32 = attr_value(type=tf.int32.as_datatype_enum)
    shape = graph.add(place, "shape", "Shape", data[:1], T=copy_of(node.attr["dtype"]), out_type=int32)
    borders = [graph.constant(place, f"size/{border}", [border], tf.int32) for border in (1, 3)]
    stride = graph.constant(place, "size/stride", [1], tf.int32)
    size = graph.add(
        place, "size", "StridedSlice", [*graph.outputs(place, shape), *borders, stride], T=int32, Index=int32
    )
    kept = {key: copy_of(node.attr[key]) for key in ("dtype", "interpolation") if key in node.attr}
    become(node, "ImageProjectiveTransformV2", [*data, *graph.outputs(place, size)], **kept)


def _composed(graph: Graph) -> Iterator[LocatedNode]:
    """Operations that are not there and that others make up for, with as many inputs and a known type."""
    for (name, count), (_, kinds, _) in COMPOSED.items():
        lacking = [op for op in (name, f"Addons>{name}") if definition_of(op) is None]  # as TensorFlow Addons calls it
        for place in (place for op in lacking for place in graph.places.get(op, ())):
            kind = place.node.attr["T"].type if has(place, T="type") else 0
            if kind in kinds and data_count(place) == count:
                yield place


def _compose(graph: Graph, place: LocatedNode) -> None:
    node = place.node
    data, _ = inputs_of(node)
    template = composition(node.op.removeprefix("Addons>"), len(data), node.attr["T"].type)
    called: dict[str, str] = {}  # a tensor of the template -> its name here
    made = {}
    for each in template.node:
        if each.op == "Placeholder":
            called[each.name] = data[int(each.name.removeprefix("input_"))]
            continue
        made[each.name] = graph.add(place, each.name, each.op, **dict(each.attr))
        for index, name in enumerate(graph.outputs(place, made[each.name])):
            called[f"{each.name}:{index}" if index else each.name] = name
        if each.op == "Enter":
            made[each.name].attr["frame_name"].s += f" of {node.name}".encode()
    for each in template.node:
        if each.name in made:
            inputs = [called[entry] for entry in each.input]
            made[each.name].input.extend(inputs or same_frame(graph, place))
    become(node, "Identity", [called["output"]], T=copy_of(made["output"].attr["T"]))


def _crosses(graph: Graph) -> Iterator[LocatedNode]:
    for op in ("SparseFeatureCross", "SparseFeatureCrossV2"):
        for place in graph.places.get(op, ()):
            if op == "SparseFeatureCrossV2" or (
                has(place, hashed_output="b") and not place.node.attr["hashed_output"].b
            ):
                yield place


def _cross(graph: Graph, place: LocatedNode) -> None:
    if place.node.op == "SparseFeatureCross":
        place.node.attr["hash_key"].i = 0
    place.node.op = "SparseCross"


OPERATIONS: tuple[Upgrade, ...] = (
    Upgrade(
        "TopK is TopKV2",
        "before 0.7; today's kernels of TopK ask for an attribute that it does not have",
        with_ops("TopK", where=lambda place: has(place, k="i", T="type") and data_count(place) == 1),
        _sorted_top_k,
    ),
    Upgrade(
        "a table gets a key for what was deleted",
        "MutableDenseHashTable of tf.contrib.lookup up to 1.12: it had an empty key only. The one of before 1.4 "
        "becomes MutableDenseHashTableV2",
        _without_deleted_key,
        _with_deleted_key,
    ),
    Upgrade(
        "an operation has the name that it has today",
        "CreateVariableOp of resource variables up to 0.12, MapAndBatchDatasetV2 of 1.12",
        with_ops(*_RENAMED),
        _rename,
    ),
    Upgrade(
        "lists of tensors are of any shape, and of any length",
        "EmptyTensorList and others up to 1.12 or 1.13, in loops and their gradients: they got one more input",
        _short_lists,
        _any_shape,
    ),
    Upgrade(
        "a pooling that has no type is of floats",
        "MaxPoolWithArgmax up to 0.12: the default of T was dropped later",
        _argmax_without_type,
        _float_type,
    ),
    Upgrade(
        "contrib's ImageProjectiveTransform is ImageProjectiveTransformV2",
        "tf.contrib.image.transform up to 1.15",
        with_ops("ImageProjectiveTransform", where=lambda place: has(place, dtype="type") and data_count(place) == 2),
        _projective_transform,
    ),
    Upgrade(
        "contrib's SparseFeatureCross is SparseCross",
        "tf.contrib.layers.crossed_column with a hash_key (SparseFeatureCrossV2), or whose result is not hashed; the "
        "other hash is gone",
        _crosses,
        _cross,
    ),
    Upgrade(
        "an operation that is gone is composed of others",
        "GatherTree of tf.contrib.seq2seq's beam search, tf.contrib.resampler, BucketizeWithInputBoundaries of "
        "tf.contrib.boosted_trees, CompareAndBitpack of the core up to 2.19; those of TensorFlow Addons too",
        _composed,
        _compose,
    ),
)
