"""Choosing operations and tensors: by name, by neighbourhood, by walks through the graph.

A walk goes in waves, and what one wave has found is in the order of the operations' inputs and outputs; 1.15.5 left the
order in a wave open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from ...runtime import tf1 as tf
from . import util

__all__ = [
    "can_be_regex",
    "check_cios",
    "compute_boundary_ts",
    "filter_ops",
    "filter_ops_from_regex",
    "filter_ts",
    "filter_ts_from_regex",
    "get_backward_walk_ops",
    "get_forward_walk_ops",
    "get_name_scope_ops",
    "get_ops_ios",
    "get_walks_intersection_ops",
    "get_walks_union_ops",
    "get_within_boundary_ops",
    "make_regex",
    "select_ops",
    "select_ops_and_ts",
    "select_ts",
]

_Within = Callable[[Any], bool]


def can_be_regex(obj: Any) -> bool:
    """Whether ``obj`` is a string or a compiled regular expression."""
    return isinstance(obj, str | re.Pattern)


def make_regex(obj: Any) -> re.Pattern[str]:
    """Return the compiled regular expression of a string or of one; anything else is a ValueError."""
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def _input_ts(ops: list[Any]) -> list[Any]:
    return util.concatenate_unique([], (tensor for op in ops for tensor in op.inputs))


def _output_ts(ops: list[Any]) -> list[Any]:
    return util.concatenate_unique([], (tensor for op in ops for tensor in op.outputs))


def filter_ts(ops: Any, positive_filter: Any) -> list[Any]:
    """Return the tensors that operations take or give and that pass a filter.

    Args:
        ops: Operations, or a graph.
        positive_filter: A function of a tensor; True passes all.

    Returns:
        Each tensor once: for one operation after another, its inputs and then its outputs.
    """
    found: list[Any] = []
    for op in util.make_list_of_op(ops):
        util.concatenate_unique(found, [*op.inputs, *op.outputs])
    return found if positive_filter is True else [tensor for tensor in found if positive_filter(tensor)]


def filter_ts_from_regex(ops: Any, regex: Any) -> list[Any]:
    r"""Return the tensors of operations with a name such as "foo/c:0" in which the regular expression is found."""
    pattern = make_regex(regex)
    return filter_ts(ops, positive_filter=lambda tensor: pattern.search(tensor.name))


def filter_ops(ops: Any, positive_filter: Any) -> list[Any]:
    """Return the operations that pass a filter: a function of an operation, or True for all."""
    found = util.make_list_of_op(ops)
    return found if positive_filter is True else [op for op in found if positive_filter(op)]


def filter_ops_from_regex(ops: Any, regex: Any) -> list[Any]:
    """Return the operations in whose names the regular expression is found."""
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


def get_name_scope_ops(ops: Any, scope: str) -> list[Any]:
    """Return the operations in a scope, and the one that has the scope's name; none for the root scope "".

    Args:
        ops: Operations, or a graph.
        scope: Such as "foo/bar" or "foo/bar/".
    """
    if scope.endswith("/"):
        scope = scope[:-1]
    return filter_ops_from_regex(ops, f"^{re.escape(scope)}(/.*)?$")


def check_cios(control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None) -> tuple[Any, Any]:
    """Return whether control inputs count, and the ControlOutputs or None.

    Args:
        control_inputs: Whether control inputs count.
        control_outputs: A ControlOutputs, if control outputs count.
        control_ios: A ControlOutputs, if both count; instead of the other two.

    Raises:
        ValueError: ``control_ios`` is given with another one.
        TypeError: What should be a ControlOutputs is none.
    """
    if control_ios is not None:
        if not isinstance(control_ios, util.ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_ios)}")
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        return True, control_ios
    if control_outputs is not None and not isinstance(control_outputs, util.ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    return control_inputs, control_outputs


def get_ops_ios(ops: Any, control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None) -> Any:
    """Return the operations that are connected to one of ``ops``: see :func:`check_cios` for control edges."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found: list[Any] = []
    for op in util.make_list_of_op(ops):
        util.concatenate_unique(found, [tensor.op for tensor in op.inputs])
        for tensor in op.outputs:
            util.concatenate_unique(found, tensor.consumers())
        if control_outputs is not None:
            util.concatenate_unique(found, control_outputs.get(op))
        if control_inputs:
            util.concatenate_unique(found, op.control_inputs)
    return found


def compute_boundary_ts(ops: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Sort the tensors of operations by whether they come from outside, and whether they go there.

    Args:
        ops: Operations, or a graph.

    Returns:
        The tensors from other operations; those that another operation takes, or none does; and those between the
        operations, of which some may be in the second list, too.
    """
    ops = util.make_list_of_op(ops)
    inside = set(ops)
    inputs, outputs = _input_ts(ops), _output_ts(ops)
    from_outside = [tensor for tensor in inputs if tensor.op not in inside]
    to_outside = [
        tensor for tensor in outputs if not tensor.consumers() or any(op not in inside for op in tensor.consumers())
    ]
    return from_outside, to_outside, [tensor for tensor in inputs if tensor.op in inside]


def get_within_boundary_ops(
    ops: Any,
    seed_ops: Any,
    boundary_ops: Any = (),
    inclusive: bool = True,
    control_inputs: Any = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Any]:
    """Return those of ``ops`` that can be reached from seeds, in either direction, without passing a boundary.

    Args:
        ops: Operations, or a graph.
        seed_ops: Where to begin.
        boundary_ops: Where to end.
        inclusive: Whether the boundary that was reached belongs to the result.
        control_inputs: See :func:`check_cios`, as for the other two.
        control_outputs: See there.
        control_ios: See there.

    Raises:
        ValueError: A seed is in the boundary.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops = util.make_list_of_op(ops)
    wave = set(util.make_list_of_op(seed_ops, allow_graph=False))
    boundary = set(util.make_list_of_op(boundary_ops))
    if boundary & wave:
        raise ValueError(f"Boundary is intersecting with the seeds: {[op.name for op in boundary & wave]}")
    within, found = set(ops), set(wave)
    while wave:
        near = get_ops_ios(list(wave), control_inputs, control_outputs)
        wave = {op for op in near if op not in found and op in within}
        found |= wave
        wave -= boundary
    return [op for op in ops if op in found and (inclusive or op not in boundary)]


def _filtered(within_ops: Any, within_ops_fn: _Within | None) -> _Within:
    """Whether an operation is within what a walk may visit."""
    allowed = None if within_ops is None else set(util.make_list_of_op(within_ops, allow_graph=False))
    return lambda op: (allowed is None or op in allowed) and (within_ops_fn is None or bool(within_ops_fn(op)))


def _seeds(given: Any, of_tensors: Callable[[list[Any]], list[Any]]) -> list[Any]:
    """The operations to start from; of tensors, those that ``of_tensors`` finds."""
    items = list(given) if util.is_iterable(given) else [given]
    if items and isinstance(items[0], tf.Tensor):
        return of_tensors(util.make_list_of_t(items, allow_graph=False))
    return util.make_list_of_op(items, allow_graph=False)


def _walk(seeds: list[Any], inclusive: bool, is_within: _Within, neighbours: Callable[[Any], Iterable[Any]]) -> Any:
    """The operations that are reached from ``seeds``, in the order of their distance."""
    seeds = util.concatenate_unique([], filter(is_within, seeds))
    found, wave = list(seeds), seeds
    known = set(seeds)
    while wave:
        near: list[Any] = []
        for op in wave:
            util.concatenate_unique(near, neighbours(op))
        wave = [op for op in near if op not in known and is_within(op)]
        found += wave
        known.update(wave)
    start = set(seeds)
    return found if inclusive else [op for op in found if op not in start]


def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: _Within | None = None,
    stop_at_ts: Any = (),
    control_outputs: Any = None,
) -> list[Any]:
    """Return the operations that depend on others.

    Args:
        seed_ops: Where to begin: operations, or tensors, which stand for the operations that take them.
        inclusive: Whether those operations belong to the result.
        within_ops: The operations that the walk may visit; by default all.
        within_ops_fn: A function that says of an operation whether the walk may visit it.
        stop_at_ts: Tensors through which the walk does not go.
        control_outputs: A ControlOutputs, if control edges count.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with tf.Graph().as_default():
        ...     a = tf.constant(1.0, name="a")
        ...     c = tf.negative(tf.add(a, tf.constant(2.0), name="b"), name="c")
        >>> [op.name for op in t1.contrib.graph_editor.get_forward_walk_ops(a)]
        ['b', 'c']
    """
    check_cios(False, control_outputs)
    stop = set(util.make_list_of_t(stop_at_ts))

    def after(op: Any) -> Iterable[Any]:
        for tensor in op.outputs:
            if tensor not in stop:
                yield from tensor.consumers()
        if control_outputs is not None:
            yield from control_outputs.get(op)

    seeds = _seeds(seed_ops, util.get_consuming_ops)
    return list(_walk(seeds, inclusive, _filtered(within_ops, within_ops_fn), after))


def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: _Within | None = None,
    stop_at_ts: Any = (),
    control_inputs: Any = False,
) -> list[Any]:
    """Return the operations that others depend on.

    Args:
        seed_ops: Where to begin: operations, or tensors, which stand for their operations.
        inclusive: Whether those operations belong to the result.
        within_ops: The operations that the walk may visit; by default all.
        within_ops_fn: A function that says of an operation whether the walk may visit it.
        stop_at_ts: Tensors through which the walk does not go.
        control_inputs: Whether control edges count.
    """
    check_cios(control_inputs)
    stop = set(util.make_list_of_t(stop_at_ts))

    def before(op: Any) -> Iterable[Any]:
        yield from (tensor.op for tensor in op.inputs if tensor not in stop)
        if control_inputs:
            yield from op.control_inputs

    seeds = _seeds(seed_ops, util.get_generating_ops)
    return list(_walk(seeds, inclusive, _filtered(within_ops, within_ops_fn), before))


def _walks(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    inclusive: tuple[bool, bool],
    within: tuple[Any, Any],
    control: tuple[Any, Any, Any],
) -> tuple[list[Any], list[Any]]:
    control_inputs, control_outputs = check_cios(*control)
    forward = get_forward_walk_ops(forward_seed_ops, inclusive[0], *within, control_outputs=control_outputs)
    backward = get_backward_walk_ops(backward_seed_ops, inclusive[1], *within, control_inputs=control_inputs)
    return forward, backward


def get_walks_intersection_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: _Within | None = None,
    control_inputs: Any = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Any]:
    """Return the operations between others: those that both a forward and a backward walk reach, in forward order."""
    forward, backward = _walks(
        forward_seed_ops,
        backward_seed_ops,
        (forward_inclusive, backward_inclusive),
        (within_ops, within_ops_fn),
        (control_inputs, control_outputs, control_ios),
    )
    reached = set(backward)
    return [op for op in forward if op in reached]


def get_walks_union_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: _Within | None = None,
    control_inputs: Any = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Any]:
    """Return the operations that a forward or a backward walk reaches, the forward one's first."""
    forward, backward = _walks(
        forward_seed_ops,
        backward_seed_ops,
        (forward_inclusive, backward_inclusive),
        (within_ops, within_ops_fn),
        (control_inputs, control_outputs, control_ios),
    )
    return util.concatenate_unique(forward, backward)


def _select(kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The items of ``kind``, "ops" or "ts", that the arguments of a ``select_`` function name."""
    graph = kwargs.pop("graph", None)
    positive_filter = kwargs.pop("positive_filter", None)
    prefix = f"(?#{kind})"
    other = {"ops": "(?#ts)", "ts": "(?#ops)"}[kind]
    restricted = kwargs.pop(f"restrict_{kind}_regex", False)
    kwargs.pop({"ops": "restrict_ts_regex", "ts": "restrict_ops_regex"}[kind], None)
    if kwargs:
        raise ValueError(f"Invalid keywords: {', '.join(kwargs)}")
    if graph is not None and not isinstance(graph, tf.Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    found: list[Any] = []
    for argument in args:
        if can_be_regex(argument):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            regex = make_regex(argument)
            if regex.pattern.startswith(other) or (restricted and not regex.pattern.startswith(prefix)):
                continue
            by_regex = filter_ops_from_regex if kind == "ops" else filter_ts_from_regex
            items = by_regex(graph, regex)
        elif kind == "ops":
            items = util.make_list_of_op(argument, ignore_ts=True)
        else:
            items = util.make_list_of_t(argument, ignore_ops=True)
        util.concatenate_unique(found, items)
    return found if positive_filter is None else [item for item in found if positive_filter(item)]


def select_ops(*args: Any, **kwargs: Any) -> list[Any]:
    """Return operations.

    Args:
        *args: Operations, lists of operations, and regular expressions for names; tensors are left out, and so are
            expressions that begin with "(?#ts)".
        **kwargs: ``graph``, which regular expressions need; ``positive_filter``, a function of an operation; and
            ``restrict_ops_regex``, whether only expressions that begin with "(?#ops)" count.

    Raises:
        TypeError: An argument is something else.
        ValueError: A keyword argument is, or there is an expression without a graph.
    """
    return _select("ops", args, kwargs)


def select_ts(*args: Any, **kwargs: Any) -> list[Any]:
    """Return tensors.

    Args:
        *args: Tensors, lists of tensors, and regular expressions for names; operations are left out, and so are
            expressions that begin with "(?#ops)".
        **kwargs: ``graph``, which regular expressions need; ``positive_filter``, a function of a tensor; and
            ``restrict_ts_regex``, whether only expressions that begin with "(?#ts)" count.

    Raises:
        TypeError: An argument is something else.
        ValueError: A keyword argument is, or there is an expression without a graph.
    """
    return _select("ts", args, kwargs)


def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple[list[Any], list[Any]]:
    """Return operations, and tensors.

    Args:
        *args: Operations, tensors, lists of them, and regular expressions: those that begin with "(?#ts)" are for
            tensors, the others for operations.
        **kwargs: ``graph`` and ``positive_filter``, as :func:`select_ops` takes them.

    Raises:
        TypeError: An argument is something else.
        ValueError: A keyword argument is, or there is an expression without a graph.
    """
    if {"restrict_ops_regex", "restrict_ts_regex"} & kwargs.keys():
        raise TypeError("select_ops_and_ts takes no restrict_ops_regex or restrict_ts_regex")
    return select_ops(*args, **kwargs), select_ts(*args, restrict_ts_regex=True, **kwargs)
