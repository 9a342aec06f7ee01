"""The tensors of a side's graph that can be looked at, in topological order, and why others cannot."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tf1sessions.models.arguments import output_types
from tf1sessions.models.risks import functions_of
from tf1sessions.porting.graphs.structure import CONTROL, Structure, key_of
from tf1sessions.runtime import tf

__all__ = ["View", "ViewedTensor", "blocks"]

LOOPS = "in the body of a loop, where each has many values"
BRANCHES = "in one side of a condition, which may not run"
FUNCTIONS = "in functions of loops, conditions and datasets, from which nothing can be fetched"
UNNEEDED = "of which no output is made"
HANDLES = "handles of variables, tables and lists, which have no value of their own"


@dataclasses.dataclass(frozen=True)
class ViewedTensor:
    """One tensor that can be fetched.

    Attributes:
        name: Such as ``"probs:0"``.
        node: The NodeDef that makes it.
        dtype: Its ``tf.DType``.
        shape: A tuple with None for what is open; None if not even the rank is known.
        inputs: The names of the tensors that its node takes.
    """

    name: str
    node: Any
    dtype: Any
    shape: tuple[int | None, ...] | None
    inputs: tuple[str, ...]


class View:
    """The part of a graph that some outputs need.

    Args:
        graph: A ``tf.Graph``.
        outputs, inputs: Names of tensors. What only the inputs need is left out, as are the inputs themselves.
        where: Where the graph comes from, for errors.

    Attributes:
        tensors: Name -> :class:`ViewedTensor`, each after what it is made of.
        left_out: Why a tensor cannot be looked at -> the names of those.
        nodes: The nodes that are needed, by name.
        random: The names of nodes that draw random numbers.

    Raises:
        ConversionError: Its loops or conditions are put together in a way that TensorFlow 1 does not.
    """

    def __init__(self, graph: Any, outputs: Iterable[str], inputs: Iterable[str], where: str) -> None:
        graph_def = graph.as_graph_def()
        structure = Structure(graph_def, [key_of(name) for name in outputs], [key_of(name) for name in inputs], where)
        self.nodes: Mapping[str, Any] = structure.nodes
        self.tensors: dict[str, ViewedTensor] = {}
        self.left_out: dict[str, list[str]] = {}
        self.random = [name for name in structure.order if _is_random(structure.nodes[name])]
        for name in structure.order:
            self._look_at(graph, structure, name)
        self._count_functions(graph_def)
        unneeded = [node for node in graph_def.node if node.name not in structure.nodes]
        if names := [f"{node.name}:{index}" for node in unneeded for index in range(len(output_types(node)))]:
            self.left_out[UNNEEDED] = names

    @functools.cached_property
    def consumers(self) -> dict[str, list[tuple[ViewedTensor, int]]]:
        """Name of a tensor -> what takes it, as the number of which input; only what can be looked at."""
        found: dict[str, list[tuple[ViewedTensor, int]]] = {}
        for seen in self.tensors.values():
            if seen.name.endswith(":0"):
                for index, name in enumerate(seen.inputs):
                    found.setdefault(name, []).append((seen, index))
        return found

    def _look_at(self, graph: Any, structure: Structure, name: str) -> None:
        node = structure.nodes[name]
        taken = tuple(f"{source}:{index}" for source, index in structure.inputs[name] if index != CONTROL)
        for index in range(len(output_types(node))):
            if structure.is_given((name, index)):
                continue
            frame, condition = structure.context((name, index))
            tensor = graph.get_tensor_by_name(f"{name}:{index}")
            if frame or condition:
                self.left_out.setdefault(LOOPS if frame else BRANCHES, []).append(tensor.name)
            elif tensor.dtype.base_dtype in (tf.resource, tf.variant):
                self.left_out.setdefault(HANDLES, []).append(tensor.name)
            else:
                shape = None if tensor.shape.rank is None else tuple(tensor.shape.as_list())
                self.tensors[tensor.name] = ViewedTensor(tensor.name, node, tensor.dtype.base_dtype, shape, taken)

    def _count_functions(self, graph_def: Any) -> None:
        known = [node.name for node in graph_def.node if node.name in self.nodes]
        called = functions_of(graph_def, graph_def.library, known)
        names = [
            f"{function.signature.name}/{node.name}"
            for function in graph_def.library.function
            if function.signature.name in called
            for node in function.node_def
        ]
        if names:
            self.left_out[FUNCTIONS] = names


def _is_random(node: Any) -> bool:
    definition = "Random" in node.op or node.op in _OTHER_RANDOM
    return definition and not node.op.startswith("Stateless") and "Dataset" not in node.op


_OTHER_RANDOM = frozenset("Multinomial TruncatedNormal ParameterizedTruncatedNormal SampleDistortedBoundingBox".split())


#: How many tensors are fetched at once, and how many bytes of them. Arbitrary: less than a model has, more than the
#: making of a call costs.
_MOST, _MOST_BYTES = 1000, 64 << 20


def blocks(names: Sequence[str], view: View, rows: int) -> Iterator[list[str]]:
    """Names in groups that can be fetched at once, in their order.

    Args:
        names: Of tensors of the view.
        view: Which knows their shapes.
        rows: What an open dimension is taken for.
    """
    group: list[str] = []
    size = 0
    for name in names:
        one = view.tensors[name]
        count = 1
        for dim in one.shape or ():
            count *= rows if dim is None else dim
        own = count * (16 if one.dtype == tf.string else one.dtype.size)
        if group and (size + own > _MOST_BYTES or len(group) >= _MOST):
            yield group
            group, size = [], 0
        group.append(name)
        size += own
    if group:
        yield group
