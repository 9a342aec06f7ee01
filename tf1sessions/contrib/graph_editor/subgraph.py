"""SubGraphView: some operations of a graph, with inputs and outputs that can be chosen and put into another order."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from ...runtime import tf1 as tf
from . import select, util

__all__ = ["SubGraphView", "make_view", "make_view_from_scope"]


class SubGraphView:
    """Some operations of a graph, and the tensors that come in and go out.

    A tensor that belongs to none of the operations, a passthrough, comes in and goes out. Methods return new views and
    leave the graph as it is; only the functions that change the graph change a view, if one is given to them.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with tf.Graph().as_default():
        ...     c = tf.add(tf.constant(1.0, name="a"), tf.constant(2.0, name="b"), name="c")
        >>> view = t1.contrib.graph_editor.SubGraphView(c.op)
        >>> [t.name for t in view.inputs], [t.name for t in view.remap_inputs([1]).inputs]
        (['a:0', 'b:0'], ['b:0'])
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()) -> None:
        """Make a view.

        Args:
            inside_ops: Operations, or a graph.
            passthrough_ts: Tensors; those that one of the operations takes or gives are left out.

        Raises:
            TypeError: An argument is something else.
            ValueError: They belong to several graphs.
        """
        self._ops = util.make_list_of_op(inside_ops)
        given = util.make_list_of_t(passthrough_ts)
        util.get_unique_graph([*self._ops, *given], none_if_empty=True)
        of_ops = set(select.filter_ts(self._ops, True))
        self._passthrough_ts = [tensor for tensor in given if tensor not in of_ops]
        self._input_ts, self._output_ts = self._default_inputs(), self._default_outputs()

    def _default_inputs(self) -> list[Any]:
        return [*select.compute_boundary_ts(self._ops)[0], *self._passthrough_ts]

    def _default_outputs(self) -> list[Any]:
        return [*select.compute_boundary_ts(self._ops)[1], *self._passthrough_ts]

    def __copy__(self) -> SubGraphView:
        return SubGraphView()._assign_from(self)

    def _assign_from(self, other: Any) -> SubGraphView:
        """Make this view what ``other`` is."""
        if not isinstance(other, SubGraphView):
            raise TypeError(f"Expected SubGraphView, got: {type(other)}")
        for name in ("_ops", "_passthrough_ts", "_input_ts", "_output_ts"):
            setattr(self, name, list(getattr(other, name)))
        return self

    def copy(self) -> SubGraphView:
        """Return another view of the same operations."""
        return copy.copy(self)

    def remap(self, new_input_indices: Any = None, new_output_indices: Any = None) -> SubGraphView:
        """Return a view with chosen inputs and outputs: see :meth:`remap_inputs` and :meth:`remap_outputs`."""
        made = self.copy()
        if new_input_indices is not None:
            made._input_ts = _chosen(self._input_ts, new_input_indices, "input")
            if len(set(made._input_ts)) != len(made._input_ts):
                raise ValueError(f"repeated inputs: {[tensor.name for tensor in made._input_ts]}")
        if new_output_indices is not None:
            made._output_ts = _chosen(self._output_ts, new_output_indices, "output")
        return made

    def remap_inputs(self, new_input_indices: Any) -> SubGraphView:
        """Return a view with some of the inputs, in another order.

        Args:
            new_input_indices: Numbers of inputs of this view, or the tensors, none of them twice.

        Raises:
            ValueError: There is no such input, or one is there twice.
            TypeError: ``new_input_indices`` is not iterable.
        """
        return self.remap(new_input_indices=list(new_input_indices))

    def remap_outputs(self, new_output_indices: Any) -> SubGraphView:
        """Return a view with some of the outputs, in another order, some of them perhaps several times.

        Args:
            new_output_indices: Numbers of outputs of this view, or the tensors.

        Raises:
            ValueError: There is no such output.
            TypeError: ``new_output_indices`` is not iterable.
        """
        return self.remap(new_output_indices=list(new_output_indices))

    def remap_default(self, remove_input_map: bool = True, remove_output_map: bool = True) -> SubGraphView:
        """Return a view with all inputs and outputs, as it is made from the operations."""
        made = self.copy()
        if remove_input_map:
            made._input_ts = self._default_inputs()
        if remove_output_map:
            made._output_ts = self._default_outputs()
        return made

    def remap_outputs_make_unique(self) -> SubGraphView:
        """Return a view with each output once."""
        return self.remap_outputs(util.concatenate_unique([], self._output_ts))

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """Return a view with each output as often as there are operations that take it, inside or outside."""
        unique = util.concatenate_unique([], self._output_ts)
        return self.remap_outputs([tensor for tensor in unique for _ in tensor.consumers()])

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """Return a view without the operations that neither take from the inputs nor give to the outputs.

        Args:
            control_inputs: Whether control edges count.
        """
        used = select.get_walks_union_ops(
            self.connected_inputs, self.connected_outputs, within_ops=self._ops, control_inputs=control_inputs
        )
        made = self.copy()
        made._ops = [op for op in self._ops if op in set(used)]
        return made

    @property
    def ops(self) -> list[Any]:
        """The operations."""
        return list(self._ops)

    @property
    def inputs(self) -> util.ListView:
        """The tensors that come in."""
        return util.ListView(self._input_ts)

    @property
    def connected_inputs(self) -> util.ListView:
        """The inputs that one of the operations takes."""
        return util.ListView([tensor for tensor in self._input_ts if not self.is_passthrough(tensor)])

    @property
    def outputs(self) -> util.ListView:
        """The tensors that go out."""
        return util.ListView(self._output_ts)

    @property
    def connected_outputs(self) -> util.ListView:
        """The outputs that are one of the operations'."""
        return util.ListView([tensor for tensor in self._output_ts if not self.is_passthrough(tensor)])

    @property
    def passthroughs(self) -> util.ListView:
        """The tensors that come in and go out."""
        return util.ListView(self._passthrough_ts)

    @property
    def graph(self) -> Any:
        """The graph; None of an empty view."""
        return util.get_unique_graph([*self._ops, *self._passthrough_ts], none_if_empty=True)

    def __bool__(self) -> bool:
        return self.graph is not None

    def op(self, op_id: int) -> Any:
        """The operation of this number."""
        return self._ops[op_id]

    def is_passthrough(self, t: Any) -> bool:
        """Whether the tensor is a passthrough."""
        return any(t is each for each in self._passthrough_ts)

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        pass

    def input_index(self, t: Any) -> int:
        """The number of an input; a tensor that is none is a ValueError."""
        return _index(self._input_ts, t, "input")

    def output_index(self, t: Any) -> int:
        """The number of an output; a tensor that is none is a ValueError."""
        return _index(self._output_ts, t, "output")

    def consumers(self) -> list[Any]:
        """The operations outside that take an output."""
        inside = set(self._ops)
        return [op for op in util.get_consuming_ops(self._output_ts) if op not in inside]

    def find_op_by_name(self, op_name: str) -> Any:
        """The operation of this name.

        Raises:
            ValueError: There is none.
            AssertionError: There are several.
        """
        found = [op for op in self._ops if op.name == op_name]
        if not found:
            raise ValueError(f"{op_name} not found in subgraph.")
        if len(found) > 1:
            raise AssertionError("More than one op found")
        return found[0]

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"
        lines = [f"SubGraphView (graphid={id(self.graph)}):"]
        lines += [f"** ops[{len(self._ops)}]:", *(f"  {op.name}" for op in self._ops)]
        for side, tensors in (("inputs", self._input_ts), ("outputs", self._output_ts)):
            lines.append(f"** {side}[{len(tensors)}]:")
            lines += [f"  {tensor.name}{' *' if self.is_passthrough(tensor) else ''}" for tensor in tensors]
        return "\n".join(lines) + "\n"


def _index(tensors: list[Any], tensor: Any, side: str) -> int:
    for number, each in enumerate(tensors):
        if each is tensor:
            return number
    raise ValueError(f"{getattr(tensor, 'name', tensor)} is no {side} of this subgraph view")


def _chosen(tensors: list[Any], indices: Iterable[Any], side: str) -> list[Any]:
    """The ``tensors`` that numbers or tensors name."""
    found = []
    for given in indices:
        number = _index(tensors, given, side) if isinstance(given, tf.Tensor) else given
        if not 0 <= number < len(tensors):
            raise ValueError(f"there is no {side} {number}, but {len(tensors)} of them")
        found.append(tensors[number])
    return found


def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """Return a view of operations and passthrough tensors; a single view that is given is returned.

    Args:
        *args: As for :func:`tf1sessions.contrib.graph_editor.select_ops_and_ts`.
        **kwargs: As there; ``graph`` is also the graph that all of them have to be in.

    Raises:
        TypeError: An argument is something else.
        ValueError: A keyword argument is, or an operation is in another graph.
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView) and kwargs.keys() <= {"graph"}:
        made = args[0]
    else:
        made = SubGraphView(*select.select_ops_and_ts(*args, **kwargs))
    graph = kwargs.get("graph")
    if graph is not None and made and made.graph is not graph:
        raise ValueError("the subgraph view is of another graph than the given one")
    return made


def make_view_from_scope(scope: str, graph: Any) -> SubGraphView:
    """Return a view of the operations in a scope such as "foo/bar" of ``graph``."""
    return SubGraphView(select.get_name_scope_ops(graph, scope))
