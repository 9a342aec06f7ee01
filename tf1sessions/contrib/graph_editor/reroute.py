"""Moving the edges of a graph: which tensors operations take, and what they wait for.

A session keeps what it has compiled of a graph: change the graph before its first run, or make a new session, as with
1.15.5. Of two tensors that are swapped, an operation that takes both takes one of them twice, as there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from . import subgraph, util

__all__ = [
    "add_control_inputs",
    "remove_control_inputs",
    "reroute_inputs",
    "reroute_ios",
    "reroute_outputs",
    "reroute_ts",
    "swap_inputs",
    "swap_ios",
    "swap_outputs",
    "swap_ts",
]

_MayChange = Callable[[Any], bool]


def _check_compatible(ts0: list[Any], ts1: list[Any]) -> None:
    """Raise a ValueError unless each pair of tensors has one dtype, and shapes that can be the same."""
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    for t0, t1 in zip(ts0, ts1, strict=True):
        if t0.dtype != t1.dtype:
            raise ValueError(f"Dtypes {t0.dtype} and {t1.dtype} are not compatible.")
        if not t0.shape.is_compatible_with(t1.shape):
            raise ValueError(f"Shapes {t0.shape} and {t1.shape} are not compatible.")


def _replace(new: Any, old: Any, consumers: list[Any], may_change: _MayChange) -> int:
    """Let the ``consumers`` of the tensor ``old`` take ``new``; how many inputs that were."""
    count = 0
    for op in filter(may_change, consumers):
        for index in [index for index, tensor in enumerate(op.inputs) if tensor is old]:
            op._update_input(index, new)
            count += 1
    return count


def _reroute(ts0: Any, ts1: Any, swap: bool, may_change: _MayChange) -> int:
    ts0, ts1 = util.make_list_of_t(ts0), util.make_list_of_t(ts1)
    _check_compatible(ts0, ts1)
    util.check_graphs(*ts0, *ts1)
    pairs = list(zip(ts0, ts1, [t.consumers() for t in ts0], [t.consumers() for t in ts1], strict=True))
    count = 0
    for t0, t1, consumers0, consumers1 in pairs:
        if t0 is not t1:
            count += _replace(t0, t1, consumers1, may_change)
            if swap:
                count += _replace(t1, t0, consumers0, may_change)
    return count


def _allowed(can_modify: Any, cannot_modify: Any) -> _MayChange:
    """Whether an operation may be changed."""
    can = None if can_modify is None else set(util.make_list_of_op(can_modify))
    cannot = set() if cannot_modify is None else set(util.make_list_of_op(cannot_modify))
    return lambda op: (can is None or op in can) and op not in cannot


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Let the operations that take a tensor take the other one of its pair.

    Args:
        ts0: A tensor, or some.
        ts1: As many, of the same dtypes and shapes.
        can_modify: The operations that may be changed; by default all.
        cannot_modify: Operations that may not.

    Returns:
        How many inputs of operations were changed.

    Raises:
        TypeError: An argument is something else.
        ValueError: The tensors do not fit each other, or are of several graphs.
    """
    return _reroute(ts0, ts1, True, _allowed(can_modify, cannot_modify))


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Let the operations that take one of ``ts1`` take the one of ``ts0`` in its place.

    Args:
        ts0: A tensor, or some.
        ts1: As many, of the same dtypes and shapes.
        can_modify: The operations that may be changed; by default all.
        cannot_modify: Operations that may not.

    Returns:
        How many inputs of operations were changed.

    Raises:
        TypeError: An argument is something else.
        ValueError: The tensors do not fit each other, or are of several graphs.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     a, b = tf.constant(1.0), tf.constant(5.0)
        ...     c = tf.add(a, 1.0)
        ...     t1.contrib.graph_editor.reroute_ts(b, a)
        ...     float(gs.run(c))
        1
        6.0
    """
    return _reroute(ts0, ts1, False, _allowed(can_modify, cannot_modify))


def _views(sgv0: Any, sgv1: Any) -> tuple[subgraph.SubGraphView, subgraph.SubGraphView]:
    view0, view1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(view0, view1)
    return view0, view1


def _reroute_inputs(sgv0: Any, sgv1: Any, swap: bool) -> tuple[Any, Any]:
    view0, view1 = _views(sgv0, sgv1)
    may = {*view0.ops, *view1.ops, *util.get_consuming_ops([*view0.passthroughs, *view1.passthroughs])}
    _reroute(list(view0.inputs), list(view1.inputs), swap, may.__contains__)
    before = view0.copy()
    if swap:
        _take_inputs(view0, view1, outputs_too=True)
    _take_inputs(view1, before, outputs_too=swap)
    return view0, view1


def _take_inputs(view: subgraph.SubGraphView, other: subgraph.SubGraphView, outputs_too: bool) -> None:
    """Note in ``view`` that it has the inputs of ``other`` now, which pass through if they do there."""
    if outputs_too:
        instead = {id(old): new for old, new in zip(view.inputs, other.inputs, strict=True)}
        view._output_ts = [
            instead.get(id(tensor), tensor) if view.is_passthrough(tensor) else tensor for tensor in view._output_ts
        ]
    view._input_ts = list(other.inputs)
    view._passthrough_ts = list(other.passthroughs)


def _reroute_outputs(sgv0: Any, sgv1: Any, swap: bool) -> tuple[Any, Any]:
    view0, view1 = _views(sgv0, sgv1)
    inside = {*view0.ops, *view1.ops}
    _reroute(list(view0.outputs), list(view1.outputs), swap, lambda op: op not in inside)
    return view0, view1


def swap_inputs(sgv0: Any, sgv1: Any) -> tuple[Any, Any]:
    """Exchange the inputs of two views: of :func:`reroute_inputs`, in both directions."""
    return _reroute_inputs(sgv0, sgv1, swap=True)


def reroute_inputs(sgv0: Any, sgv1: Any) -> tuple[Any, Any]:
    """Let the operations of ``sgv1`` take the inputs of ``sgv0``.

    Args:
        sgv0: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of.
        sgv1: The same, with as many inputs. A view is changed with the graph.

    Returns:
        Both views.

    Raises:
        TypeError: An argument is something else.
        ValueError: The inputs do not fit each other, or are of several graphs.
    """
    return _reroute_inputs(sgv0, sgv1, swap=False)


def swap_outputs(sgv0: Any, sgv1: Any) -> tuple[Any, Any]:
    """Exchange the outputs of two views: of :func:`reroute_outputs`, in both directions."""
    return _reroute_outputs(sgv0, sgv1, swap=True)


def reroute_outputs(sgv0: Any, sgv1: Any) -> tuple[Any, Any]:
    """Let the operations that take the outputs of ``sgv1`` take those of ``sgv0``.

    Args:
        sgv0: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of.
        sgv1: The same, with as many outputs. The operations in either stay as they are.

    Returns:
        Both views.

    Raises:
        TypeError: An argument is something else.
        ValueError: The outputs do not fit each other, or are of several graphs.
    """
    return _reroute_outputs(sgv0, sgv1, swap=False)


def swap_ios(sgv0: Any, sgv1: Any) -> tuple[Any, Any]:
    """Exchange the inputs and the outputs of two views."""
    return _reroute_ios(sgv0, sgv1, swap=True)


def reroute_ios(sgv0: Any, sgv1: Any) -> tuple[Any, Any]:
    """Let ``sgv1`` take the inputs of ``sgv0``, and the outputs of that stand for those of ``sgv1``."""
    return _reroute_ios(sgv0, sgv1, swap=False)


def _reroute_ios(sgv0: Any, sgv1: Any, swap: bool) -> tuple[Any, Any]:
    _reroute_outputs(sgv0, sgv1, swap)
    _reroute_inputs(sgv0, sgv1, swap)
    return sgv0, sgv1


def _operation(op: Any) -> Any:
    if not isinstance(op, tf.Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    return op


def remove_control_inputs(op: Any, cops: Any) -> None:
    """Let the operation ``op`` no longer wait for the operations ``cops``.

    Raises:
        TypeError: An argument is something else.
        ValueError: ``op`` does not wait for one of them.
    """
    removed = util.make_list_of_op(cops, allow_graph=False)
    for other in removed:
        if other not in _operation(op).control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {other.name}")
    kept = [other for other in _operation(op).control_inputs if other not in removed]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


def add_control_inputs(op: Any, cops: Any) -> None:
    """Let the operation ``op`` wait for the operations ``cops``.

    Raises:
        TypeError: An argument is something else.
        ValueError: ``op`` waits for one of them already.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with tf.Graph().as_default():
        ...     first, second = tf.no_op(name="first"), tf.no_op(name="second")
        >>> t1.contrib.graph_editor.add_control_inputs(second, first)
        >>> [op.name for op in second.control_inputs]
        ['first']
    """
    added = util.make_list_of_op(cops, allow_graph=False)
    for other in added:
        if other in _operation(op).control_inputs:
            raise ValueError(f"{op.name} is already a control_input of {other.name}")
    _operation(op)._add_control_inputs(added)
