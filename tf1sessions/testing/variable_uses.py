"""Which variables and queues a run uses, as its graph shows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tf1sessions.runtime import tf

__all__ = ["RunUses", "VariableUses", "operations_of", "uses_of"]

_WRITES = ("Assign", "Scatter", "Apply", "SparseApply", "Resource", "CountUpTo")
_READS = ("ResourceGather", "ResourceGatherNd")
_FORWARDS = ("Identity", "RefIdentity", "Switch", "RefSwitch", "Enter", "RefEnter")
#: Updates that read and write under the variable's own lock, always or if they are asked to.
_ALWAYS_ATOMIC = ("AssignAddVariableOp", "AssignSubVariableOp", "CountUpTo", "ResourceCountUpTo")
_NEVER_ATOMIC = ("Assign", "AssignVariableOp")  # they overwrite what another thread has added in the meantime
_ENQUEUES = ("QueueEnqueue", "Stage", "BarrierInsertMany")
_DEQUEUES = ("QueueDequeue", "Unstage", "BarrierTakeMany")


class VariableUses(NamedTuple):
    """The names of the variables that a run reads, assigns and updates atomically."""

    reads: frozenset[str]
    writes: frozenset[str]
    updates: frozenset[str] = frozenset()

    @property
    def what(self) -> str:
        """The same in words."""
        return "assigns variables" if self.writes or self.updates else "reads variables"


class RunUses(NamedTuple):
    """The variables that a run uses, and the names of TensorFlow's queues that it fills and empties."""

    variables: VariableUses
    fills: frozenset[str]
    empties: frozenset[str]


def operations_of(graph: Any, leaves: Sequence[Any]) -> Iterator[Any]:
    """Yield the operations that a run of some fetches consists of."""
    waiting = [getattr(each, "op", each) for each in _elements(graph, leaves)]
    met = set(waiting)
    while waiting:
        operation = waiting.pop()
        yield operation
        for other in (*(tensor.op for tensor in operation.inputs), *operation.control_inputs):
            if other not in met:
                met.add(other)
                waiting.append(other)


def uses_of(graph: Any, leaves: Sequence[Any]) -> RunUses:
    """Return the variables and queues that a run of some fetches uses."""
    reads: set[str] = set()
    writes: set[str] = set()
    updates: set[str] = set()
    fills: set[str] = set()
    empties: set[str] = set()
    fetched = _elements(graph, leaves)
    sources = [_source(each) for each in fetched if isinstance(each, tf.Tensor) and each.dtype._is_ref_dtype]
    reads |= {each.name for each in sources if not each.type.startswith(_WRITES)}  # that of an assignment is one
    for operation in operations_of(graph, leaves):
        kind = operation.type
        if kind.startswith(_ENQUEUES):
            fills.add(_queue_name(operation))
        elif kind.startswith(_DEQUEUES):
            empties.add(_queue_name(operation))
        elif kind.startswith(_WRITES) and kind not in _READS:
            kept = updates if _is_atomic(operation) else writes
            kept |= {_source(tensor).name for tensor in _variables(operation)}
        else:
            reads |= {_source(tensor).name for tensor in _variables(operation)}
    variables = VariableUses(frozenset(reads), frozenset(writes), frozenset(updates))
    return RunUses(variables, frozenset(fills), frozenset(empties))


def _variables(operation: Any) -> list[Any]:
    return [tensor for tensor in operation.inputs if tensor.dtype._is_ref_dtype or tensor.dtype == tf.resource]


def _is_atomic(operation: Any) -> bool:
    if operation.type in _ALWAYS_ATOMIC or operation.type in _NEVER_ATOMIC:
        return operation.type in _ALWAYS_ATOMIC
    with contextlib.suppress(ValueError):
        return bool(operation.get_attr("use_locking"))
    return False


def _queue_name(operation: Any) -> str:
    """Return the name of the queue, or of the staging area, that an operation fills or empties."""
    if operation.type.startswith(("Stage", "Unstage")):
        return f"staging area {operation.get_attr('shared_name').decode()}"
    return str(_source(operation.inputs[0]).name)


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
