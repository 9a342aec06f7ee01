"""``tf.contrib.util``: protos of arrays, values known when the graph is built, the operations of a GraphDef.

Files::

    loader.py  operations that come as a library
"""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from . import loader

__all__ = [
    "constant_value",
    "loader",
    "make_ndarray",
    "make_tensor_proto",
    "ops_used_by_graph_def",
    "stripped_op_list_for_graph",
]


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of ``tensor`` as an array if it is known when the graph is built, else None; see the next argument.

    Args:
        tensor: A tensor.
        partial: Whether an array in which some elements are None may be returned.
    """
    return tf.get_static_value(tensor, partial=partial)


def make_ndarray(tensor: Any) -> Any:
    """The array of a ``TensorProto``."""
    return tf.make_ndarray(tensor)


def make_tensor_proto(
    values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False
) -> Any:
    """The ``TensorProto`` of an array, list or number.

    Args:
        values: The values.
        dtype: Their type.
        shape: The shape; of one value for all of it, too, unless ``verify_shape``.
        verify_shape: Whether the values must have that shape.
        allow_broadcast: Whether one value fills the shape.
    """
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    return tf.make_tensor_proto(values, dtype=dtype, shape=shape, verify_shape=verify_shape)


def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """The names of the operations that a ``GraphDef`` and its functions use."""
    functions = {function.signature.name: function for function in graph_def.library.function}
    used: set[str] = set()
    waiting = [node.op for node in graph_def.node]
    while waiting:
        op = waiting.pop()
        if op not in used:
            used.add(op)
            if op in functions:
                waiting += [node.op for node in functions[op].node_def]
    return sorted(used - functions.keys())


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """The ``OpList`` of the operations that a ``GraphDef`` uses, as ``MetaGraphDef`` keeps it."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    return tf.train.export_meta_graph(graph=graph).meta_info_def.stripped_op_list
