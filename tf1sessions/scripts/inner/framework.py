"""Names that modules of ``tensorflow.python.framework`` lost: shape functions, registries of operations, tensor-likes.

TensorFlow computes the shapes itself since 1.0, so that a registered shape function was of no effect in 1.15.5, either;
one that is called gives the shapes all the same.
"""

from __future__ import annotations

import abc
import importlib
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["OpDefLibrary", "register_op_list", "registered_ops"]

_registered: dict[str, Any] = {}


class _TensorLike(metaclass=abc.ABCMeta):  # noqa: B024
    """A class to test with ``isinstance`` for what ``tf.convert_to_tensor`` takes without an operation."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        types: Any = importlib.import_module("tensorflow.python.types.core")
        tf: Any = sys.modules["tensorflow"]
        return issubclass(subclass, (types.Tensor, tf.Tensor, tf.SparseTensor, tf.IndexedSlices, tf.Variable))


def registered_ops() -> dict[str, Any]:
    """The definition of each operation, by its name."""
    internal: Any = importlib.import_module("tensorflow.core.framework.op_def_pb2")
    client: Any = importlib.import_module("tensorflow.python.client.pywrap_tf_session")
    operations = internal.OpList()
    operations.ParseFromString(client.TF_GetBuffer(client.TF_GetAllOpList()))
    return {**{operation.name: operation for operation in operations.op}, **_registered}


def register_op_list(op_list: Any) -> None:
    """Adds definitions of operations to those that :func:`registered_ops` returns.

    Raises:
        ValueError: There is another one of the same name.
    """
    known = registered_ops()
    for definition in op_list.op:
        if known.get(definition.name, definition) != definition:
            raise ValueError(f"Unexpected op_def for {definition.name}: it is registered with another definition")
        _registered[definition.name] = definition


class OpDefLibrary:
    """Makes operations of those definitions that were added to it."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def add_op(self, op_def: Any) -> None:
        """Adds one definition, of an operation that TensorFlow has."""
        self._names.add(op_def.name)

    def add_op_list(self, op_list: Any) -> None:
        """Adds several definitions."""
        self._names.update(definition.name for definition in op_list.op)

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Adds an operation to the default graph, with inputs and attributes by name.

        Returns:
            Its outputs: one, a list of several, or the operation if it has none.

        Raises:
            RuntimeError: Its definition was not added.
        """
        if op_type_name not in self._names:
            raise RuntimeError(f"Unrecognized Op name {op_type_name}")
        library: Any = importlib.import_module("tensorflow.python.framework.op_def_library")
        return library.apply_op(op_type_name, name, **keywords)


def unknown_shape(op: Any) -> list[Any]:
    """The shape function of operations whose outputs' shapes are not known."""
    tf: Any = sys.modules["tensorflow"]
    return [tf.TensorShape(None) for _ in op.outputs]


def scalar_shape(unused_op: Any) -> list[Any]:
    """The shape function of an operation that gives a scalar."""
    return [sys.modules["tensorflow"].TensorShape([])]


def unchanged_shape(op: Any) -> list[Any]:
    """The shape function of an operation whose output has the shape of its first input."""
    return [op.inputs[0].get_shape()]


def unchanged_shape_with_rank(rank: int) -> Callable[[Any], list[Any]]:
    """:func:`unchanged_shape` for inputs of one rank, else a ValueError."""
    return lambda op: [op.inputs[0].get_shape().with_rank(rank)]


def unchanged_shape_with_rank_at_least(rank: int) -> Callable[[Any], list[Any]]:
    """:func:`unchanged_shape` for inputs of a rank or above, else a ValueError."""
    return lambda op: [op.inputs[0].get_shape().with_rank_at_least(rank)]


def unchanged_shape_with_rank_at_most(rank: int) -> Callable[[Any], list[Any]]:
    """:func:`unchanged_shape` for inputs of a rank or below, else a ValueError."""
    return lambda op: [op.inputs[0].get_shape().with_rank_at_most(rank)]


def no_outputs(unused_op: Any) -> list[Any]:
    """The shape function of an operation without outputs."""
    return []


def call_cpp_shape_fn(op: Any, require_shape_fn: bool = True) -> list[Any]:
    """The shapes of an operation's outputs, which TensorFlow computed as it was made."""
    return [output.get_shape() for output in op.outputs]


def has_fully_defined_shape(tensor: Any) -> bool:
    """Whether the shape of ``tensor`` is known; in eager mode it always is."""
    return tensor.shape is not None and bool(tensor.shape.is_fully_defined())


def set_shapes_for_outputs(op: Any) -> None:
    """Does nothing: the shapes of an operation's outputs are computed as it is made."""


def rank(tensor: Any) -> int | None:
    """The rank of ``tensor``; None if it is not known."""
    found: int | None = tensor.shape.ndims
    return found
