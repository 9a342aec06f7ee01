"""Copies of a part of a graph, in the same graph or another one, some of them changed on the way.

Data flow: a :class:`Transformer` walks over the operations of a view, in the order in which they were made; handlers,
which are its attributes, say what becomes of an operation, of a tensor from outside, of collections.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from . import reroute, select, subgraph, util

__all__ = [
    "Transformer",
    "TransformerInfo",
    "assign_renamed_collections_handler",
    "copy",
    "copy_op_handler",
    "copy_with_input_replacements",
    "graph_replace",
    "keep_t_if_possible_handler",
    "replace_t_with_placeholder_handler",
    "transform_op_if_inside_handler",
]


def replace_t_with_placeholder_handler(info: Any, t: Any) -> Any:
    """Return a placeholder in the new graph for a tensor from outside."""
    with info.graph_.as_default():
        return util.make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info: Any, t: Any) -> Any:
    """Return the tensor itself if the copy is in the same graph, and a placeholder if it is not."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Add what was made of an operation or tensor to the collections of that.

    A collection that TensorFlow does not know gets the name that an operation would get: "x/mine" in the scope "x".
    """
    known = [name for name in util.get_predefined_collection_names() if isinstance(name, str)]
    for name, items in info.collections.items():
        if any(elem is item for item in items):
            info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


def transform_op_if_inside_handler(info: Any, op: Any, keep_if_possible: bool = True) -> Any:
    """Return what was made of an operation that is in the view.

    Args:
        info: Of the transform.
        op: The operation.
        keep_if_possible: Return an operation from outside itself if the copy is in the same graph, and not None.
    """
    if op in info.sgv.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(
    info: Any, op: Any, new_inputs: list[Any], copy_shape: bool = False, nodedef_fn: Callable[[Any], Any] | None = None
) -> tuple[Any, Any]:
    """Make an operation like ``op`` in the new graph.

    Args:
        info: Of the transform.
        op: The operation.
        new_inputs: What the new one takes.
        copy_shape: Give its outputs the static shapes of those of ``op``.
        nodedef_fn: A function that gets the new operation's NodeDef and returns one to use instead.

    Returns:
        The operation, and its outputs.
    """
    node = tf.NodeDef()
    node.CopyFrom(op.node_def)
    node.name = info.graph_.unique_name(info.new_name(op.name))
    if nodedef_fn is not None:
        node = nodedef_fn(node)
    graph = info.graph_
    with graph.as_default(), graph.control_dependencies(None), graph.colocate_with(None, ignore_existing=True):
        made = graph.create_op(
            node.op,
            list(new_inputs),
            list(op._output_types),
            input_types=[tf.as_dtype(number) for number in op._input_types],
            name=f"{node.name}/",  # as it is: the slash says that it is unique
            attrs=dict(node.attr),
            op_def=op.op_def if node.op == op.type else None,
            compute_device=False,
        )
    made._set_device(node.device)
    if copy_shape:
        for tensor, tensor_ in zip(op.outputs, made.outputs, strict=True):
            tensor_.set_shape(tensor.shape)
    return made, made.outputs


class TransformerInfo:
    """The operations and tensors that a transformation made of those it was given."""

    def __init__(self, info: Any) -> None:
        self._graph, self._graph_ = info.graph, info.graph_
        self._scope, self._scope_ = info.scope, info.scope_
        self._transformed_ops: dict[Any, Any] = info.transformed_ops
        self._transformed_ts: dict[Any, Any] = info.transformed_ts

    def _of(self, top: Any) -> dict[Any, Any]:
        if isinstance(top, tf.Operation):
            return self._transformed_ops
        if isinstance(top, tf.Tensor):
            return self._transformed_ts
        raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(top)}")

    def transformed(self, original: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """Return what was made of operations and tensors.

        Args:
            original: An operation or tensor, or a tree of them.
            missing_fn: A function of those of which nothing was made; by default they give None.

        Returns:
            A tree like ``original``.
        """

        def find(top: Any) -> Any:
            found = self._of(top)
            return found[top] if top in found else missing_fn(top) if missing_fn else None

        return util.transform_tree(original, find)

    def original(self, transformed: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """Return of what operations and tensors were made: :meth:`transformed`, the other way round."""

        def find(top: Any) -> Any:
            for key, value in self._of(top).items():
                if value is top:
                    return key
            return missing_fn(top) if missing_fn else None

        return util.transform_tree(transformed, find)

    def __str__(self) -> str:
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            in_place = "" if self._scope_ else " IN-PLACE"
            lines.append(f"  Within graph[{id(self._graph)}]{in_place}")
        else:
            lines.append(f"  graph[{id(self._graph)}] => graph[{id(self._graph_)}]")
        if self._scope:
            lines.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        lines.append("Operations mapping:")
        lines += [f"  {op.name} => {op_.name}" for op, op_ in self._transformed_ops.items()]
        return "\n".join(lines) + "\n"


class _Info:
    """A transform that is under way: what handlers get as ``info``."""

    def __init__(self, sgv: subgraph.SubGraphView, dst_graph: Any, dst_scope: str, src_scope: str) -> None:
        self.sgv = sgv
        self.sgv_inputs_set = frozenset(sgv.inputs)
        self.ops = frozenset(sgv.ops)
        self.control_outputs = util.ControlOutputs(sgv.graph)
        self.graph = sgv.graph
        self.scope = src_scope
        self.graph_ = dst_graph
        self.scope_ = dst_scope
        self.transformed_ops: dict[Any, Any] = {}
        self.transformed_ts: dict[Any, Any] = {}
        self.collections = {name: self.graph.get_collection(name) for name in self.graph.collections}
        self.cyclic: list[tuple[Any, int, Any]] = []  # an operation, and an input that was not there yet: its original

    def new_name(self, name: str) -> str:
        """The name for what is made of ``name``; one that is not in the source scope is a ValueError."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]


class Transformer:
    """Makes a copy of a view; its attributes say how.

    Attributes:
        transform_op_handler: A function of (info, operation, new inputs) that returns an operation and its outputs.
        assign_collections_handler: A function of (info, original, copy).
        transform_external_input_handler: A function of (info, tensor) for the inputs of the view, which returns a
            tensor of the new graph; by default a placeholder.
        transform_external_hidden_input_handler: The same for tensors from outside that are not among its inputs; by
            default they stay.
        transform_control_input_handler: A function of (info, operation) for what operations wait for; None is left out.
        transform_original_op_handler: Not used by today's TensorFlow.
    """

    def __init__(self) -> None:
        self.transform_op_handler: Callable[..., Any] = copy_op_handler
        self.transform_control_input_handler: Callable[..., Any] = transform_op_if_inside_handler
        self.assign_collections_handler: Callable[..., Any] = assign_renamed_collections_handler
        self.transform_external_input_handler: Callable[..., Any] = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler: Callable[..., Any] = keep_t_if_possible_handler
        self.transform_original_op_handler: Callable[..., Any] = transform_op_if_inside_handler

    def __call__(
        self, sgv: Any, dst_graph: Any, dst_scope: str, src_scope: str = "", reuse_dst_scope: bool = False
    ) -> tuple[subgraph.SubGraphView, TransformerInfo]:
        """Make the copy.

        Args:
            sgv: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of.
            dst_graph: The graph for the copy.
            dst_scope: The scope for it; a number is added to its name if there is such a scope already.
            src_scope: The scope that ``dst_scope`` stands for.
            reuse_dst_scope: Use ``dst_scope`` as it is.

        Returns:
            A view of the copy, and a :class:`TransformerInfo`.

        Raises:
            TypeError: ``dst_graph`` is no graph, or a scope no string.
            ValueError: An operation is not in ``src_scope``.
        """
        view = subgraph.make_view(sgv)
        if not isinstance(dst_graph, tf.Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        if not (isinstance(src_scope, str) and isinstance(dst_scope, str)):
            raise TypeError("src_scope and dst_scope have to be strings")
        src_scope, dst_scope = util.scope_finalize(src_scope), util.scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = util.scope_finalize(dst_graph.unique_name(dst_scope[:-1]))
        info = _Info(view, dst_graph, dst_scope, src_scope)
        self._copy_ops(info)
        for op_, index, tensor in info.cyclic:
            op_._update_input(index, info.transformed_ts[tensor])
        self._connect_control_inputs(info)
        return self._transform_sgv(info), TransformerInfo(info)

    def _copy_ops(self, info: _Info) -> None:
        for op in sorted(info.sgv.ops, key=lambda op: op._id):
            info_inputs, later = self._inputs(info, op)
            op_, outputs_ = self.transform_op_handler(info, op, info_inputs)
            info.cyclic += [(op_, index, tensor) for index, tensor in later]
            info.transformed_ops[op] = op_
            self.assign_collections_handler(info, op, op_)
            for tensor, tensor_ in zip(op.outputs, outputs_, strict=True):
                info.transformed_ts[tensor] = tensor_
                self.assign_collections_handler(info, tensor, tensor_)

    def _inputs(self, info: _Info, op: Any) -> tuple[list[Any], list[tuple[int, Any]]]:
        """Return the inputs of the copy of ``op``, and those that stand for outputs of operations copied later."""
        found: list[Any] = []
        later: list[tuple[int, Any]] = []
        for index, tensor in enumerate(op.inputs):
            if tensor in info.transformed_ts:
                found.append(info.transformed_ts[tensor])
            elif tensor.op in info.ops:
                later.append((index, tensor))
                found.append(None)
            elif tensor in info.sgv_inputs_set:
                found.append(self.transform_external_input_handler(info, tensor))
            else:
                found.append(self.transform_external_hidden_input_handler(info, tensor))
        for index, tensor in later:
            if tensor.op.type in ("NextIteration", "RefNextIteration"):
                found[index] = next(each for each in found if each is not None)  # of a Merge: the loop's entry
            else:
                with info.graph_.as_default():
                    found[index] = util.make_placeholder_from_tensor(tensor, info.scope_, prefix="geph_tmp")
        return found, later

    def _connect_control_inputs(self, info: _Info) -> None:
        for op in info.sgv.ops:
            waits_for = [self.transform_control_input_handler(info, other) for other in op.control_inputs]
            reroute.add_control_inputs(info.transformed_ops[op], [other for other in waits_for if other is not None])

    def _transform_sgv(self, info: _Info) -> subgraph.SubGraphView:
        """The view of the copy: it has the outputs of the view that were copied, and no inputs."""
        made = subgraph.SubGraphView(list(info.transformed_ops.values()))
        outputs = [info.transformed_ts[tensor] for tensor in info.sgv.outputs if tensor in info.transformed_ts]
        kept = [tensor for tensor in outputs if any(tensor is each for each in made.outputs)]
        return made.remap([], kept)


def copy(
    sgv: Any, dst_graph: Any = None, dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False
) -> tuple[subgraph.SubGraphView, TransformerInfo]:
    """Copy a view; placeholders take the place of its inputs.

    Args:
        sgv: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of.
        dst_graph: The graph for the copy; by default the same.
        dst_scope: The scope for it; a number is added to its name if there is such a scope already.
        src_scope: The scope that ``dst_scope`` stands for.
        reuse_dst_scope: Use ``dst_scope`` as it is.

    Returns:
        A view of the copy, and a :class:`TransformerInfo`.

    Raises:
        TypeError: An argument is something else.
        ValueError: An operation is not in ``src_scope``.
    """
    view = subgraph.make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    return Transformer()(view, graph, dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: Any,
    dst_graph: Any = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[subgraph.SubGraphView, TransformerInfo]:
    """Copy a view, with other tensors in place of some inputs; the other inputs stay.

    Args:
        sgv: A view, or what :func:`tf1sessions.contrib.graph_editor.make_view` makes one of.
        replacement_ts: A dict from inputs of the view to tensors.
        dst_graph: The graph for the copy; by default the same.
        dst_scope: The scope for it; a number is added to its name if there is such a scope already.
        src_scope: The scope that ``dst_scope`` stands for.
        reuse_dst_scope: Use ``dst_scope`` as it is.

    Returns:
        A view of the copy, and a :class:`TransformerInfo`.

    Raises:
        TypeError: An argument is something else.
        ValueError: An operation is not in ``src_scope``.
    """
    view = subgraph.make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph

    def replaced(info: Any, tensor: Any) -> Any:
        return replacement_ts[tensor] if tensor in replacement_ts else keep_t_if_possible_handler(info, tensor)

    transformer = Transformer()
    transformer.transform_external_input_handler = replaced
    return transformer(view, graph, dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


def graph_replace(
    target_ts: Any, replacement_ts: Any, dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False
) -> Any:
    """Return tensors as they would be with other tensors in place of some that they depend on.

    Args:
        target_ts: A tensor, or a tree of them.
        replacement_ts: A dict from tensors to those in their place.
        dst_scope: The scope for the copies; a number is added to its name if there is such a scope already.
        src_scope: The scope that ``dst_scope`` stands for.
        reuse_dst_scope: Use ``dst_scope`` as it is.

    Returns:
        A tree like ``target_ts``; a tensor that does not depend on the replaced ones is itself.

    Raises:
        ValueError: No target depends on a replaced tensor, or an operation is not in ``src_scope``.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     a, b = tf.constant(1.0), tf.constant(5.0)
        ...     c = tf.add(a, 1.0) * 2.0
        ...     other = t1.contrib.graph_editor.graph_replace(c, {a: b})
        ...     [float(value) for value in gs.run([c, other])]
        [4.0, 12.0]
    """
    targets = util.flatten_tree(target_ts)
    graph = util.get_unique_graph(targets, check_types=tf.Tensor)
    control_ios = util.ControlOutputs(graph)
    ops = select.get_walks_intersection_ops(list(replacement_ts), targets, control_ios=control_ios)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(
        ops, replacement_ts, None, dst_scope, src_scope=src_scope, reuse_dst_scope=reuse_dst_scope
    )
    return info.transformed(target_ts, missing_fn=lambda tensor: tensor)
