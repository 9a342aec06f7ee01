"""Which variables a run reads and assigns, as its graph shows."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from tf1sessions.runtime import tf

__all__ = ["VariableUses", "uses_of"]

_WRITES = ("Assign", "Scatter", "Apply", "SparseApply", "Resource", "CountUpTo")
_READS = ("ResourceGather", "ResourceGatherNd")
_FORWARDS = ("Identity", "RefIdentity", "Switch", "RefSwitch", "Enter", "RefEnter")


class VariableUses(NamedTuple):
    """The names of the variables that a run reads and assigns."""

    reads: frozenset[str]
    writes: frozenset[str]

    @property
    def what(self) -> str:
        """The same in words."""
        return "assigns variables" if self.writes else "reads variables"


def uses_of(graph: Any, leaves: Sequence[Any]) -> VariableUses:
    """Return the variables that a run of some fetches uses."""
    reads: set[str] = set()
    writes: set[str] = set()
    fetched = _elements(graph, leaves)
    sources = [_source(each) for each in fetched if isinstance(each, tf.Tensor) and each.dtype._is_ref_dtype]
    reads |= {each.name for each in sources if not each.type.startswith(_WRITES)}  # that of an assignment is one
    waiting = [getattr(each, "op", each) for each in fetched]
    met = set(waiting)
    while waiting:
        operation = waiting.pop()
        variables = [tensor for tensor in operation.inputs if tensor.dtype._is_ref_dtype or tensor.dtype == tf.resource]
        for tensor in variables:
            kept = writes if operation.type.startswith(_WRITES) and operation.type not in _READS else reads
            kept.add(_source(tensor).name)
        for other in (*(tensor.op for tensor in operation.inputs), *operation.control_inputs):
            if other not in met:
                met.add(other)
                waiting.append(other)
    return VariableUses(frozenset(reads), frozenset(writes))


def _elements(graph: Any, leaves: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for leaf in tf.nest.flatten(leaves):
        if isinstance(leaf, (str, bytes)) or hasattr(leaf, "name"):
            with contextlib.suppress(ValueError, KeyError, TypeError):
                found.append(graph.as_graph_element(leaf))
        elif isinstance(leaf, (tf.SparseTensor, tf.IndexedSlices)):
            found += [leaf.values, leaf.indices]
    return found


def _source(tensor: Any) -> Any:
    """The operation that a tensor of a variable comes from: the variable, or what assigns it."""
    while tensor.op.type in _FORWARDS and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor.op
