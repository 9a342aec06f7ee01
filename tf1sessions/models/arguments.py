"""The dtypes of a node's inputs and outputs, by the definition of its operation."""

from __future__ import annotations

from typing import Any

from tf1sessions.runtime import private, tf

__all__ = ["input_types", "output_types"]


def output_types(node: Any) -> list[Any]:
    """The ``tf.DType`` of each output of a node, by the definition of its operation.

    None for one that is not known. An operation that this TensorFlow does not have counts as one with one output.
    """
    definition = private.op_def_registry.get(node.op)
    if definition is None:
        return [None] * (len(node.attr["_output_shapes"].list.shape) if "_output_shapes" in node.attr else 1)
    return _types(definition.output_arg, node)


def input_types(node: Any) -> list[Any]:
    """The ``tf.DType`` of each data input of a node, as :func:`output_types`; empty for an unknown operation."""
    definition = private.op_def_registry.get(node.op)
    return [] if definition is None else _types(definition.input_arg, node)


def _types(arguments: Any, node: Any) -> list[Any]:
    found: list[Any] = []
    for argument in arguments:
        if argument.type_list_attr:
            found += list(node.attr[argument.type_list_attr].list.type)
            continue
        count = node.attr[argument.number_attr].i if argument.number_attr else 1
        one = node.attr[argument.type_attr].type if argument.type_attr else argument.type
        found += [one] * min(max(count, 0), 65536)
    return [tf.as_dtype(number) if number else None for number in found]
