"""Rows about attributes and versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tf1sessions.models.upgrades.rewriting import (
    Graph,
    LocatedNode,
    Upgrade,
    attr_value,
    attribute_names,
    definition_of,
    has,
    with_ops,
)

__all__ = ["ATTRIBUTES"]

#: What newer versions write where nothing was asked for, if it is not zero, False or "".
_LATER_DEFAULTS: dict[str, Any] = {
    "axis": -1,
    "blank_index": -1,
    "index": -1,
    "exponential_avg_factor": 1.0,
    "ensure_minimum_range": 0.009999999776482582,
    "leakyrelu_alpha": 0.20000000298023224,
    "Treal": 1,
    "Tcomplex": 8,
    "Tsegmentids": 3,
    "Tshape": 3,
    "Tk": 3,
    "index_type": 3,
    "shape_type": 3,
    "filter_format": b"HWIO",
    "fill_mode": b"CONSTANT",
    "mode": b"auto",
    "drop_remainder": True,
    "use_default_device": True,
    "reshuffle_each_iteration": True,
}
#: What says something about a node without changing what it computes.
_REMARKS = frozenset({"metadata", "debug_name"})


def _is_default(key: str, value: Any) -> bool:
    kind = value.WhichOneof("value")
    if key in _REMARKS or kind is None:
        return True
    if kind == "list":
        return not value.list.ByteSize()
    if kind not in ("s", "i", "f", "b", "type"):
        return False
    given = getattr(value, kind)
    return bool(given == _LATER_DEFAULTS[key]) if key in _LATER_DEFAULTS else not given


def _newer_attributes(graph: Graph) -> Iterator[LocatedNode]:
    for op, places in graph.places.items():
        known = attribute_names(op)
        if known is None:
            continue
        for place in places:
            if any(True for _ in _droppable(place, known)):
                yield place


def _droppable(place: LocatedNode, known: frozenset[str]) -> Iterator[str]:
    attr = place.node.attr
    for key in attr:
        if key not in known and not key.startswith("_") and _is_default(key, attr[key]):
            yield key


def _drop_newer(graph: Graph, place: LocatedNode) -> None:
    for key in list(_droppable(place, attribute_names(place.node.op) or frozenset())):
        del place.node.attr[key]


def _one_type_of_arguments(place: LocatedNode) -> bool:
    return (
        "TArgs" not in place.node.attr and has(place, T="type", num_args="i") and 0 < place.node.attr["num_args"].i < 16
    )


def _note_argument_types(graph: Graph, place: LocatedNode) -> None:
    attr = place.node.attr
    attr["TArgs"].CopyFrom(attr_value(types=[attr["T"].type] * attr["num_args"].i))


def _removed_by_version(graph: Graph) -> Iterator[LocatedNode]:
    """Deprecated operations in a graph that claims to be newer than their end: one that was written anew."""
    producer = graph.graph_def.versions.producer
    for op, places in graph.places.items():
        definition = definition_of(op)
        if definition is not None and 0 < definition.deprecation.version <= producer:
            yield from places


def _older_producer(graph: Graph, place: LocatedNode) -> None:
    versions = graph.graph_def.versions
    versions.producer = min(versions.producer, definition_of(place.node.op).deprecation.version - 1)


def _drop_shapes(graph: Graph, place: LocatedNode) -> None:
    del place.node.attr["_output_shapes"]


ATTRIBUTES: tuple[Upgrade, ...] = (
    Upgrade(
        "the shapes that were recorded for a gradient are inferred anew",
        "1.x inferred other shapes for the reserved outputs of FusedBatchNormGrad",
        with_ops(
            *("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"),
            where=lambda place: "_output_shapes" in place.node.attr,
        ),
        _drop_shapes,
    ),
    Upgrade(
        "the arguments of a fused convolution are all of its type",
        "graphs that Grappler optimised before 2.12: _FusedConv2D without TArgs",
        with_ops("_FusedConv2D", where=_one_type_of_arguments),
        _note_argument_types,
    ),
    Upgrade(
        "an attribute that this TensorFlow does not know has its default and is dropped",
        "graphs of a newer TensorFlow",
        _newer_attributes,
        _drop_newer,
    ),
    Upgrade(
        "the graph counts as one of the time of its operations",
        "deprecated operations in a graph that was written again later: TensorFlow would not take them",
        _removed_by_version,
        _older_producer,
    ),
)
