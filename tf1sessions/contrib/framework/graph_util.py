"""fuse_op: a GraphDef, a part of which becomes one operation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["fuse_op"]


def fuse_op(
    graph_def: Any,
    input_nodes: Sequence[str],
    output_nodes: Sequence[str],
    output_dtypes: Sequence[int],
    output_quantized: bool,
    op_name: str,
    op_type: str,
) -> Any:
    """The graph in which what is between two sets of nodes is one operation.

    Args:
        graph_def: A ``GraphDef``.
        input_nodes: The nodes whose outputs the operation takes; they stay.
        output_nodes: The nodes that take its outputs, one each; they stay, and had one input.
        output_dtypes: The types of its outputs, as numbers such as ``tf.float32.as_datatype_enum``.
        output_quantized: Whether its outputs are quantized.
        op_name: Its name.
        op_type: Its type.

    Returns:
        A ``GraphDef``: the nodes that ``input_nodes`` need, the operation, ``output_nodes``, the others.

    Raises:
        TypeError: ``graph_def`` is none, or the nodes are not in lists; or what the inputs need is used between.
        AssertionError: A node is not in the graph, or an output node has not one input.
    """
    if not isinstance(graph_def, tf.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    for argument, given in (("input_nodes", input_nodes), ("output_nodes", output_nodes)):
        if isinstance(given, str):
            raise TypeError(f"{argument} must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in (*input_nodes, *output_nodes):
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    before = _needed(nodes, input_nodes)
    fused = _needed(nodes, output_nodes, end=input_nodes)
    for node in graph_def.node:
        for name in map(_name, node.input):
            if node.name in fused - before and name in before and name not in input_nodes:
                raise TypeError(f"Node {node.name} uses input {name} not in input_nodes.")

    made = tf.GraphDef(versions=graph_def.versions, library=graph_def.library)
    made.node.extend(node for node in graph_def.node if node.name in before)
    operation = made.node.add(name=op_name, op=op_type, input=input_nodes)
    operation.attr["_output_types"].list.type.extend(output_dtypes)
    operation.attr["_output_quantized"].b = output_quantized
    for number, name in enumerate(output_nodes):
        if len(nodes[name].input) != 1:
            raise AssertionError(f"{name} has {len(nodes[name].input)} inputs, not one")
        node = made.node.add()
        node.CopyFrom(nodes[name])
        node.input[:] = [f"{op_name}:{number}" if number else op_name]
    made.node.extend(node for node in graph_def.node if node.name not in before | fused)
    return made


def _name(text: str) -> str:
    """The node of an input such as "a:1" or "^a"."""
    return text.removeprefix("^").partition(":")[0]


def _needed(nodes: Mapping[str, Any], names: Iterable[str], end: Collection[str] = ()) -> set[str]:
    """The nodes that ``names`` need, and themselves; what a node of ``end`` needs is not looked for."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [] if name in end else map(_name, nodes[name].input)
    return found
