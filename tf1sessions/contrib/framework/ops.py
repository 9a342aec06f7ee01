"""Graphs, name scopes and placeholders; functions of Python as operations; conditions that may be known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...runtime import private
from ...runtime import tf1 as tf
from . import nest

__all__ = [
    "get_graph_from_inputs",
    "get_name_scope",
    "get_placeholders",
    "prepend_name_scope",
    "py_func",
    "smart_case",
    "smart_cond",
    "smart_constant_value",
    "strip_name_scope",
]

prepend_name_scope: Any = private.ops.prepend_name_scope
strip_name_scope: Any = private.ops.strip_name_scope


def get_graph_from_inputs(op_input_list: Sequence[Any], graph: Any = None) -> Any:
    """The graph of the inputs; the default graph if none has one.

    Args:
        op_input_list: Tensors, operations and other things.
        graph: The graph that all of them must be of, or None.

    Raises:
        TypeError: ``op_input_list`` is no list or tuple, or ``graph`` no graph.
        ValueError: An input is of another graph.
    """
    if not isinstance(op_input_list, (list, tuple)):
        raise TypeError("The op_input_list must be a list or tuple.")
    if graph is not None and not isinstance(graph, tf.Graph):
        raise TypeError("Input graph needs to be a Graph.")
    first = None
    for item in op_input_list:
        of_item = getattr(item, "graph", None)
        if not isinstance(of_item, tf.Graph):
            continue
        if graph is None:
            first, graph = item, of_item
        elif of_item is not graph:
            if first is None:
                raise ValueError(f"{item} is not from the passed-in graph.")
            raise ValueError(f"{item} must be from the same graph as {first}.")
    return graph or tf.get_default_graph()


def get_name_scope() -> str:
    """The name scope of the default graph here, such as "scope1/scope2"."""
    return str(tf.get_default_graph().get_name_scope())


def get_placeholders(graph: Any) -> list[Any]:
    """The placeholders of a graph, as tensors.

    Raises:
        TypeError: ``graph`` is no graph.
    """
    if not isinstance(graph, tf.Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def smart_constant_value(pred: Any) -> bool | None:
    """The value of a bool or of a tensor whose value is known; else None.

    Raises:
        TypeError: ``pred`` is neither a bool nor a tensor.
    """
    if isinstance(pred, bool) or (isinstance(pred, int) and pred in (0, 1)):
        return bool(pred)
    if not tf.is_tensor(pred):
        raise TypeError(
            f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {pred} of type {type(pred)}"
        )
    value = tf.get_static_value(pred)
    return None if value is None else bool(value)


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """``true_fn()`` or ``false_fn()`` if it is known which, else ``tf.cond``.

    Args:
        pred: A bool, or a scalar.
        true_fn: For True.
        false_fn: For False.
        name: Of the ``tf.cond``.

    Raises:
        TypeError: A function cannot be called, or ``pred`` is neither a bool nor a tensor.
    """
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


def smart_case(
    pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False, name: str = "smart_case"
) -> Any:
    """The first function whose condition is True, without those known to be False; else ``tf.case``.

    Args:
        pred_fn_pairs: Pairs of a condition and a function, in a list; or a dict of them.
        default: What is called if no condition is True.
        exclusive: Whether no two conditions may be True.
        name: Of the ``tf.case``.

    Raises:
        TypeError: ``pred_fn_pairs`` are no pairs, or a function cannot be called.
    """
    if not isinstance(pred_fn_pairs, (list, tuple, dict)):
        raise TypeError("fns must be a list, tuple, or dict")
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        if not callable(pair[1]):
            raise TypeError(f"fn for pred {pair[0]} must be callable.")
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    open_pairs = []
    for pred, function in pairs:
        known = smart_constant_value(pred)
        if known is None:
            open_pairs.append((pred, function))
        elif known and not open_pairs:
            return function()
        elif known:
            default = function
            break
    if not open_pairs and default is not None:
        return default()
    return tf.case(open_pairs, default=default, exclusive=exclusive, name=name)


def py_func(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """A function of arrays as an operation: ``tf.py_func`` for arguments and results that are structures.

    Args:
        func: Called with arrays in place of the tensors.
        args: Its arguments, structures of tensors.
        kwargs: Its arguments by name.
        output_types: The types of its results, in their structure.
        output_shapes: Their shapes; None for unknown ones.
        stateful: Whether it may return something else for the same arguments.
        name: The name of the operation.

    Raises:
        TypeError: An argument has another type.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    given = [list(args), dict(kwargs)]

    def flat_func(*arrays: Any) -> Any:
        arguments, named = nest.pack_sequence_as(given, list(arrays))
        results = nest.flatten(func(*arguments, **named))
        return results if nested else results[0]

    nested = nest.is_sequence(output_types)
    flat_types = nest.flatten(output_types) if output_types is not None else []
    results = tf.py_func(flat_func, nest.flatten(given), flat_types if nested else output_types, stateful, name)
    if output_types is None:
        return results
    flat = nest.flatten(results)
    if output_shapes is not None:
        shapes = nest.flatten_up_to(output_types, output_shapes) if nested else [output_shapes]
        for result, shape in zip(flat, shapes, strict=True):
            result.set_shape(shape)
    return nest.pack_sequence_as(output_types, flat) if nested else flat[0]
