"""Rows about graphs that were cut or frozen by tools: what refers to nodes that are not there, or are another thing."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from tf1sessions.models.graph_index import node_of
from tf1sessions.models.upgrades.rewriting import (
    Graph,
    LocatedNode,
    Upgrade,
    become,
    connect,
    copy_of,
    definition_of,
    has,
    inputs_of,
)

__all__ = ["LOOSE_ENDS", "WAS"]


def _colocated_with_nothing(graph: Graph) -> Iterator[LocatedNode]:
    for place in graph:
        if place.function is None and "_class" in place.node.attr:
            for entry in place.node.attr["_class"].list.s:
                if entry.startswith(b"loc:@") and entry[5:].decode(errors="replace") not in graph.nodes:
                    yield place
                    break


def _not_colocated(graph: Graph, place: LocatedNode) -> None:
    entries = place.node.attr["_class"].list.s
    kept = [
        entry
        for entry in entries
        if not entry.startswith(b"loc:@") or entry[5:].decode(errors="replace") in graph.nodes
    ]
    del entries[:]
    entries.extend(kept)
    if not kept:
        del place.node.attr["_class"]


@functools.cache
def _reference_inputs(op: str) -> int:
    """Return how many of an operation's first inputs are references to a variable; a large number for a list."""
    definition = definition_of(op)
    count = 0
    for arg in definition.input_arg if definition is not None else ():
        if not arg.is_ref:
            break
        count += 2**16 if arg.number_attr else 1
    return count


@functools.cache
def _gives_references(op: str) -> bool:
    definition = definition_of(op)
    return definition is None or any(arg.is_ref for arg in definition.output_arg)


#: The attribute of a node that was an assignment: its result is no output of the model.
WAS = "_tf1sessions_was"

#: What a variable's operations are on a plain value: a graph that was frozen by a tool still has them.
_ON_VALUES = {
    "RefSwitch": "Switch",
    "RefEnter": "Enter",
    "RefExit": "Exit",
    "RefMerge": "Merge",
    "RefNextIteration": "NextIteration",
    "RefIdentity": "Identity",
    "AssignAdd": "AddV2",
    "AssignSub": "Sub",
    "Assign": "Identity",
}


def _assigning_to_values(graph: Graph) -> Iterable[LocatedNode]:
    """Operations on a reference, in a graph that has a constant or another plain value in its place.

    What gives a reference only as long as it gets one, such as RefSwitch, passes a value on.
    """
    takers: dict[str, list[LocatedNode]] = {}
    plain: list[str] = []
    for op in _ON_VALUES:
        for place in graph.places.get(op, ()):
            data = inputs_of(place.node)[0][: _reference_inputs(op)] if place.function is None else []
            for source in map(node_of, data):
                takers.setdefault(source, []).append(place)
                if source in graph.nodes and not _gives_references(graph.nodes[source].op):
                    plain.append(source)
    found: dict[str, LocatedNode] = {}
    while plain:
        for place in takers.pop(plain.pop(), ()):
            if place.node.name not in found:
                found[place.node.name] = place
                plain.append(place.node.name)
    return found.values()


def _on_values(graph: Graph, place: LocatedNode) -> None:
    node = place.node
    data, _ = inputs_of(node)
    if node.op.startswith("Assign"):
        node.attr[WAS].s = node.op.encode()
    node.op = _ON_VALUES[node.op]
    for key in ("use_locking", "validate_shape"):
        node.attr.pop(key, None)
    if node.op == "Identity" and len(data) == 2:  # Assign: the value
        connect(node, data[1:])


#: What takes a resource variable, and what it is on its value.
_ON_RESOURCES = {"ReadVariableOp": "Identity", "ResourceGather": "Gather"}


def _reading_values(graph: Graph) -> Iterator[LocatedNode]:
    """Reads of a resource variable, where the graph has a constant in its place."""
    for op in _ON_RESOURCES:
        for place in graph.places.get(op, ()):
            data, _ = inputs_of(place.node)
            if place.function is not None or not data or not has(place, dtype="type"):
                continue
            source = graph.nodes.get(node_of(data[0]))
            if source is not None and source.op == "Const" and not _batch_dims(place.node):
                yield place


def _batch_dims(node: Any) -> int:
    return int(node.attr["batch_dims"].i) if "batch_dims" in node.attr else 0


def _read_value(graph: Graph, place: LocatedNode) -> None:
    node = place.node
    kind = copy_of(node.attr["dtype"])
    if node.op == "ReadVariableOp":
        become(node, "Identity", inputs_of(node)[0], T=kind)
    else:
        indices = {"Tindices": copy_of(node.attr["Tindices"])} if "Tindices" in node.attr else {}
        become(node, "Gather", inputs_of(node)[0], Tparams=kind, **indices)


LOOSE_ENDS: tuple[Upgrade, ...] = (
    Upgrade(
        "an assignment to a variable that is a constant here gives the value",
        "freezing tools: Assign, AssignSub, RefSwitch … of batch normalisation and of savers stay in the graph",
        _assigning_to_values,
        _on_values,
    ),
    Upgrade(
        "a read of a resource variable that is a constant here gives the constant",
        "freezing tools that know ref variables only",
        _reading_values,
        _read_value,
    ),
    Upgrade(
        "a node is not colocated with one that is not there",
        "graphs that were cut: _class names a node that was left out",
        _colocated_with_nothing,
        _not_colocated,
    ),
)
