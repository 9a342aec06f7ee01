"""Taking a part out of a graph, and connecting parts."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from . import reroute, select, subgraph, util

__all__ = [
    "bypass",
    "connect",
    "detach",
    "detach_control_inputs",
    "detach_control_outputs",
    "detach_inputs",
    "detach_outputs",
]


def detach_control_inputs(sgv: Any) -> None:
    """Let the operations of a view no longer wait for operations outside.

    Args:
        sgv: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of.
    """
    view = subgraph.make_view(sgv)
    inside = set(view.ops)
    for op in view.ops:
        reroute.remove_control_inputs(op, [other for other in op.control_inputs if other not in inside])


def detach_control_outputs(sgv: Any, control_outputs: Any) -> None:
    """Let operations outside no longer wait for those of a view.

    Args:
        sgv: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of.
        control_outputs: A ControlOutputs of the graph.
    """
    if not isinstance(control_outputs, util.ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    view = subgraph.make_view(sgv)
    inside = set(view.ops)
    for op in view.ops:
        for other in control_outputs.get(op):
            if other not in inside:
                reroute.remove_control_inputs(other, op)


def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[subgraph.SubGraphView, list[Any]]:
    """Put placeholders in place of the inputs of a view.

    Args:
        sgv: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of. It is changed.
        control_inputs: Whether its operations no longer wait for operations outside, either.

    Returns:
        The view, and the placeholders.
    """
    view = subgraph.make_view(sgv)
    with view.graph.as_default():
        placeholders = [tf.placeholder(dtype=t.dtype, name=util.placeholder_name(t)) for t in view.inputs]
    reroute.swap_inputs(view, placeholders)
    if control_inputs:
        detach_control_inputs(view)
    return view, placeholders


def detach_outputs(sgv: Any, control_outputs: Any = None) -> tuple[subgraph.SubGraphView, list[Any]]:
    """Put placeholders in place of the outputs of a view, for the operations that take them.

    Args:
        sgv: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of.
        control_outputs: A ControlOutputs of the graph, if operations outside shall not wait for those of the view.

    Returns:
        A view with the outputs that an operation takes, and the placeholders.

    Raises:
        ValueError: The view has an output twice.
    """
    given = subgraph.make_view(sgv)
    view = given.remap_outputs([number for number, tensor in enumerate(given.outputs) if tensor.consumers()])
    consumers = view.consumers()
    taken = util.concatenate_unique([], view.outputs)
    with given.graph.as_default():
        placeholders = [util.make_placeholder_from_tensor(tensor) for tensor in taken]
    reroute.reroute_ts(placeholders, view.outputs, can_modify=consumers)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, placeholders


def detach(
    sgv: Any, control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[Any, list[Any], list[Any]]:
    """Put placeholders in place of the inputs and the outputs of a view.

    Args:
        sgv: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of. It is changed.
        control_inputs: Whether its operations no longer wait for operations outside, either.
        control_outputs: A ControlOutputs of the graph, if operations outside shall not wait for those of the view.
        control_ios: A ControlOutputs of the graph for both.

    Returns:
        ``sgv``, the placeholders of the inputs, and those of the outputs.
    """
    control_inputs, control_outputs = select.check_cios(control_inputs, control_outputs, control_ios)
    _, inputs = detach_inputs(sgv, control_inputs)
    _, outputs = detach_outputs(sgv, control_outputs)
    return sgv, inputs, outputs


def connect(sgv0: Any, sgv1: Any, disconnect_first: bool = False) -> tuple[Any, Any]:
    """Let the operations of a view take the outputs of another one.

    As in 1.15.5, other operations that take the outputs of ``sgv0`` take them in place of the inputs of ``sgv1``, too.

    Args:
        sgv0: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of.
        sgv1: The same, with as many inputs as ``sgv0`` has outputs.
        disconnect_first: Put placeholders in place of the outputs of ``sgv0`` for the operations that take them so far.

    Returns:
        Both views.
    """
    view0, view1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(view0, view1)
    if disconnect_first:
        detach_outputs(view0)
    outputs = subgraph.SubGraphView(passthrough_ts=view0.outputs)
    reroute.reroute_inputs(outputs, view1)
    return view0, view1


def bypass(sgv: Any) -> tuple[subgraph.SubGraphView, list[Any]]:
    """Let the operations that take the outputs of a view take its inputs, which become placeholders for the view.

    Args:
        sgv: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of. It is changed.

    Returns:
        The view, and the placeholders.
    """
    view = subgraph.make_view(sgv)
    inputs = list(view.inputs)
    view, placeholders = detach_inputs(view)
    reroute.reroute_ts(inputs, view.outputs)
    return view, placeholders
