"""``tf.contrib.copy_graph``: operations and variables, one by one, in another graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..runtime import tf1 as tf
from .graph_editor import util

__all__ = ["copy_op_to_graph", "copy_variable_to_graph", "get_copied_op"]


def copy_variable_to_graph(org_instance: Any, to_graph: Any, scope: str = "") -> Any:
    """Make a variable like one of another graph.

    Args:
        org_instance: The variable. Its initial value is computed, in a session of its own.
        to_graph: The graph for the copy.
        scope: The scope for it; "" is the root.

    Returns:
        A variable of TensorFlow 1 that begins with that value, is trainable if the first one is, and is in the
        collections of the same names, with ``scope`` before those that TensorFlow does not know.

    Raises:
        TypeError: ``org_instance`` is no variable.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with tf.Graph().as_default():
        ...     one = tf.get_variable("one", [], initializer=tf.ones_initializer(), use_resource=False)
        >>> t1.contrib.copy_graph.copy_variable_to_graph(one, tf.Graph(), "there").name
        'there/one:0'
    """
    if not isinstance(org_instance, tf.Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    graph = org_instance.graph
    names = [name for name, items in _collections(graph).items() if any(each is org_instance for each in items)]
    with graph.as_default(), tf.Session(graph=graph) as session:
        value = session.run(org_instance.initial_value)
    with to_graph.as_default():
        return tf.Variable(
            value,
            trainable=tf.GraphKeys.TRAINABLE_VARIABLES in names,
            name=_scoped(org_instance.op.name, scope),
            collections=[_collection(name, scope) for name in names if name != tf.GraphKeys.TRAINABLE_VARIABLES],
            validate_shape=False,
            use_resource=False,
        )


def copy_op_to_graph(org_instance: Any, to_graph: Any, variables: Iterable[Any], scope: str = "") -> Any:
    """Make an operation like one of another graph, and all that it needs and that is not there.

    Args:
        org_instance: An operation or a tensor.
        to_graph: The graph for the copies.
        variables: Copies of variables that it needs.
        scope: The scope for the copies; "" is the root.

    Returns:
        The operation or tensor in ``to_graph``.

    Raises:
        TypeError: ``org_instance`` is something else.
    """
    if isinstance(org_instance, tf.Variable):
        name = _scoped(org_instance.name, scope)
        return next((each for each in variables if each.name == name), None) or to_graph.get_tensor_by_name(name)
    if not isinstance(org_instance, tf.Operation | tf.Tensor):
        raise TypeError(f"Could not copy instance: {org_instance}")
    waiting = [org_instance]
    while waiting:
        item = waiting[-1]
        op = item if isinstance(item, tf.Operation) else item.op
        missing = [each for each in [*op.inputs, *op.control_inputs] if not _has(to_graph, each, scope)]
        if _has(to_graph, op, scope) or not missing:
            waiting.pop()
            if not _has(to_graph, op, scope):
                _copy(op, to_graph, scope)
                _collect(item, to_graph, scope)
        else:
            waiting += missing
    return get_copied_op(org_instance, to_graph, scope)


def get_copied_op(org_instance: Any, graph: Any, scope: str = "") -> Any:
    """Return the operation or tensor of ``graph`` that has the name of ``org_instance``, in ``scope``.

    Raises:
        KeyError: There is none.
    """
    return graph.as_graph_element(_scoped(org_instance.name, scope), allow_tensor=True, allow_operation=True)


def _scoped(name: str, scope: str) -> str:
    return f"{scope}/{name}" if scope else name


def _collections(graph: Any) -> dict[Any, list[Any]]:
    return {name: graph.get_collection(name) for name in graph.collections}


def _collection(name: Any, scope: str) -> Any:
    return name if name in util.get_predefined_collection_names() else _scoped(str(name), scope)


def _has(graph: Any, item: Any, scope: str) -> bool:
    """Whether ``graph`` has the copy of an operation or tensor."""
    try:
        get_copied_op(item, graph, scope)
    except KeyError:
        return False
    return True


def _collect(item: Any, graph: Any, scope: str) -> None:
    """Add the copy of an operation or tensor to the collections in which that is."""
    for name, items in _collections(item.graph).items():
        if any(item is each for each in items):
            graph.add_to_collection(_collection(name, scope), get_copied_op(item, graph, scope))


def _copy(op: Any, graph: Any, scope: str) -> None:
    """Make an operation of which all inputs are in ``graph`` already."""
    inputs = [graph.get_tensor_by_name(_scoped(tensor.name, scope)) for tensor in op.inputs]
    waits_for = [graph.get_operation_by_name(_scoped(other.name, scope)) for other in op.control_inputs]
    with graph.as_default(), graph.control_dependencies(None), graph.colocate_with(None, ignore_existing=True):
        with graph.control_dependencies(waits_for), graph.name_scope(None):
            made = graph.create_op(
                op.type,
                inputs,
                list(op._output_types),
                input_types=[tf.as_dtype(number) for number in op._input_types],
                name=f"{_scoped(op.name, scope)}/",  # as it is
                attrs=dict(op.node_def.attr),
                op_def=op.op_def,
                compute_device=False,
            )
    made._set_device(op.device)
