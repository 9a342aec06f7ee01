"""Common parts of all layers: sizes from arguments, collections, names of outputs, conditions known early."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...runtime import tf1 as tf
from ..framework.variables import model_variable

__all__ = [
    "append_tensor_alias",
    "channel_dimension",
    "collect_named_outputs",
    "constant_value",
    "convert_collection_to_dict",
    "gather_tensors_aliases",
    "get_tensor_aliases",
    "get_variable_collections",
    "last_dimension",
    "n_positive_integers",
    "smart_cond",
    "static_cond",
    "two_element_tuple",
]


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Gives ``tensor`` one more alias, a name without its final slash, and returns it."""
    tensor.aliases = [*getattr(tensor, "aliases", []), alias.removesuffix("/")]
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """The aliases of ``tensor``; its name, of which ":0" is left out, if it has none."""
    return list(getattr(tensor, "aliases", None) or [tensor.name.removesuffix(":0")])


def gather_tensors_aliases(tensors: Any) -> list[str]:
    """The aliases of all ``tensors``, in order."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(collection: str, clear_collection: bool = False) -> OrderedDict[str, Any]:
    """The tensors of a collection by alias: what networks return as their end points.

    Args:
        collection: The collection's name.
        clear_collection: Whether the graph's collection is emptied.
    """
    found = OrderedDict(
        (alias, tensor) for tensor in tf.get_collection(collection) for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        tf.get_default_graph().clear_collection(collection)
    return found


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Adds ``outputs`` to the collections under ``alias`` and returns it."""
    if collections:
        append_tensor_alias(outputs, alias)
        tf.add_to_collections(collections, outputs)
    return outputs


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections of the variable ``name``, of an argument that is a list for all of them or a dict by name."""
    if isinstance(variables_collections, Mapping):
        return variables_collections.get(name)
    return variables_collections


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """The value that is known when the graph is built, or None; that of a variable is its initial value."""
    if value_or_tensor_or_var is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    value = value_or_tensor_or_var
    if isinstance(value, tf.Tensor) or _is_variable(value):
        if dtype and value.dtype.base_dtype != tf.as_dtype(dtype):
            raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
        return tf.get_static_value(value.initial_value if _is_variable(value) else value)
    if dtype and not isinstance(value, np.ndarray) and tf.as_dtype(np.asarray(value).dtype) != tf.as_dtype(dtype):
        raise ValueError(f"It has the wrong type {type(value)} instead of {dtype}")
    return value


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """``fn1()`` if ``pred`` is true, else ``fn2()``: decided now."""
    if not callable(fn1) or not callable(fn2):
        raise TypeError("fn1 and fn2 must be callable.")
    return fn1() if pred else fn2()


def smart_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None) -> Any:
    """``tf.cond``, or only the branch that is taken if ``pred`` is known when the graph is built."""
    value = known(pred)
    return tf.cond(pred, fn1, fn2, name=name) if value is None else static_cond(value, fn1, fn2)


def known(pred: Any) -> bool | None:
    """``pred`` as a bool if it is known when the graph is built, else None.

    Args:
        pred: A bool, a number, or a tensor or variable. A variable is not known: it may be assigned.
    """
    if _is_variable(pred):
        return None
    if isinstance(pred, tf.Tensor):
        value = tf.get_static_value(pred)
        return None if value is None else bool(value)
    return bool(pred)


def _is_variable(value: Any) -> bool:
    return hasattr(value, "assign_add")  # outside of scripts a variable need not be a tf.Variable of version 1


def channel_dimension(shape: Any, data_format: str, min_rank: int = 1) -> int | None:
    """The number of channels of a ``TensorShape``, None if it is unknown.

    Args:
        shape: The shape of a tensor.
        data_format: "NCHW" and its like, with the channels second, or "NHWC", with the channels last.
        min_rank: The smallest rank that is allowed.
    """
    return _dimension(shape, 1 if data_format.startswith("NC") else -1, min_rank)


def last_dimension(shape: Any, min_rank: int = 1) -> int | None:
    """The size of the last dimension of a ``TensorShape``, None if it is unknown."""
    return _dimension(shape, -1, min_rank)


def _dimension(shape: Any, index: int, min_rank: int) -> int | None:
    sizes = tf.TensorShape(shape)
    if sizes.rank is None:
        raise ValueError("dims of shape must be known but is None")
    if sizes.rank < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {sizes.rank}")
    size: int | None = sizes.as_list()[index]
    return size


def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """Height and width from one number for both, or from two."""
    if isinstance(int_or_tuple, (list, tuple, tf.TensorShape)) and len(int_or_tuple) != 2:
        raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
    height, width = n_positive_integers(2, int_or_tuple)
    return height, width


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """``value`` ``n`` times if it is a number, else as a tuple.

    Raises:
        TypeError: ``n`` is no int.
        ValueError: ``value`` is something else, or has another length, or is not above 0.
    """
    if not isinstance(n, int):
        raise TypeError("n must be an integer")
    if n < 1:
        raise ValueError("n must be a positive integer")
    if isinstance(value, tf.TensorShape):
        value = value.as_list()
    try:
        sizes = tuple(int(size) for size in value) if np.ndim(value) else (int(value),) * n
    except (TypeError, ValueError) as error:
        raise ValueError(f"value must be a positive integer or an iterable of {n} of them, and is {value!r}") from error
    if len(sizes) != n or min(sizes) < 1:
        raise ValueError(f"value must be a positive integer or an iterable of {n} of them, and is {value!r}")
    return sizes


def parameter(
    name: str,
    shape: Any,
    dtype: Any,
    initializer: Any,
    collections: Any,
    trainable: bool = True,
    regularizer: Any = None,
    regularized_as: str | None = None,
    group: str | None = None,
) -> Any:
    """A model variable of a layer.

    Args:
        name: Its name below the layer's scope.
        shape: Its shape.
        dtype: Its type.
        initializer: Its initializer.
        collections: The layer's argument ``variables_collections``.
        trainable: Whether it is trained.
        regularizer: A function of the variable, or None.
        regularized_as: Its name in the layer class by which 1.15 made it, if it did: the scope of its regularization
            loss. The collections then have what a custom getter made of the variable, and not the variable.
        group: The variable's name in a dict of ``collections``, where that is not ``name``.
    """
    if regularizer is not None and regularized_as is not None:
        above = tf.get_default_graph().get_name_scope()
        regularizer = _in_scope(regularizer, f"{above}/{regularized_as}/Regularizer/".lstrip("/"))
    named = get_variable_collections(collections, group or name)
    made = model_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        collections=None if regularized_as is not None else named,
        trainable=trainable,
    )
    if regularized_as is not None:
        for collection in named or ():
            for part in list(made) if hasattr(made, "as_tensor") else [made]:  # a tf.PartitionedVariable
                if not any(known is part for known in tf.get_collection(collection)):
                    tf.add_to_collection(collection, part)
    return made


def _in_scope(regularizer: Callable[[Any], Any], scope: str) -> Callable[[Any], Any]:
    def regularize(variable: Any) -> Any:
        with tf.name_scope(scope):
            return regularizer(variable)

    return regularize


@contextmanager
def layer_scope(scope: Any, default: str, inputs: Any, reuse: bool | None = None) -> Iterator[Any]:
    """The variable scope of a layer: ``scope``, or ``default`` made unique."""
    with tf.variable_scope(scope, default, inputs, reuse=reuse) as opened:
        yield opened


def finish(outputs: Any, activation_fn: Any, collections: Any, alias: str) -> Any:
    """The end of a layer: its activation, and the collections of its output."""
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(collections, alias, outputs)


def claim_name(scope: Any) -> None:
    """Takes the scope's own name within it, as some layers of 1.15 do: "BatchNorm/batchnorm" is then not free."""
    tf.get_default_graph().unique_name(scope.name.rpartition("/")[2])


def channels_last(data_format: str) -> bool:
    """Whether ``data_format``, which is checked, is "NHWC".

    Raises:
        ValueError: It is neither "NCHW" nor "NHWC".
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    return data_format == "NHWC"
