"""The variables, queues, iterators and tables that a run uses, as its graph shows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tf1sessions.runtime import tf

__all__ = ["RunUses", "VariableUses", "is_of_queue", "may_wait", "operations_of", "uses_of"]

_WRITES = ("Assign", "Scatter", "Apply", "SparseApply", "Resource", "CountUpTo")
_READS = ("ResourceGather", "ResourceGatherNd")
_FORWARDS = ("Identity", "RefIdentity", "Switch", "RefSwitch", "Enter", "RefEnter")
#: Updates that read and write under the variable's own lock, always or if they are asked to.
_ALWAYS_ATOMIC = ("AssignAddVariableOp", "AssignSubVariableOp", "CountUpTo", "ResourceCountUpTo")
_NEVER_ATOMIC = ("Assign", "AssignVariableOp")  # they overwrite what another thread has added in the meantime
_ENQUEUES = ("QueueEnqueue", "Stage", "BarrierInsertMany")
_DEQUEUES = ("QueueDequeue", "Unstage", "BarrierTakeMany")
_BEGINS = ("MakeIterator", "InitializeTable", "LookupTableImport")
_TAKES = ("IteratorGetNext", "LookupTableFind")
#: What may wait for something outside of the graph, or in it, besides queues.
_WAITS = (
    *(
        "Iterator",
        "Reader",
        "PyFunc",
        "EagerPyFunc",
        "Recv",
        "_Recv",
        "_HostRecv",
        "Collective",
        "Nccl",
        "Rpc",
        "TryRpc",
    ),
    *("ReadFile", "WholeFileReader", "Accumulator", "ConditionalAccumulator", "Batch", "Unbatch", "GetSessionTensor"),
    *("MapStage", "OrderedMap", "MapUnstage", "Infeed", "Outfeed", "Bigtable", "DatasetToSingle", "ReduceDataset"),
    *("ResourceAccumulator", "SparseAccumulator", "RestoreV2", "SaveV2", "PartitionedCall", "StatefulPartitionedCall"),
)
#: What else takes a resource that is no variable.
_OTHER_RESOURCES = ("Queue", "LookupTable", "Iterator", "TensorArray", "Stack", "MutableHashTable", "Reader", "Barrier")


class VariableUses(NamedTuple):
    """The names of what a run uses: the variables that it reads, assigns and updates atomically, and other resources.

    Attributes:
        reads, writes, updates: Variables.
        begins: Iterators and tables that it initializes.
        takes: Iterators and tables that it takes values from.
        closes: Queues that it closes, without cancelling what is waiting.
        fills: Queues that it puts something into.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    updates: frozenset[str] = frozenset()
    begins: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    closes: frozenset[str] = frozenset()
    fills: frozenset[str] = frozenset()

    @property
    def what(self) -> str:
        """The uses in words."""
        return "assigns variables" if self.writes or self.updates else "reads variables"


class RunUses(NamedTuple):
    """The resources that a run uses, and the names of queues and staging areas by which it may order threads."""

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


def is_of_queue(operation: Any) -> bool:
    """Say whether an operation may wait for items in a queue of TensorFlow's, or for room."""
    return bool(operation.type.startswith((*_ENQUEUES, *_DEQUEUES)))


def may_wait(operation: Any) -> bool:
    """Say whether an operation may wait for something else than its inputs."""
    return is_of_queue(operation) or operation.type.startswith(_WAITS)


def uses_of(graph: Any, leaves: Sequence[Any]) -> RunUses:
    """Return what a run of some fetches uses."""
    found: dict[str, set[str]] = {name: set() for name in (*VariableUses._fields, "empties")}
    fetched = _elements(graph, leaves)
    sources = [_source(each) for each in fetched if isinstance(each, tf.Tensor) and each.dtype._is_ref_dtype]
    found["reads"] |= {each.name for each in sources if not each.type.startswith(_WRITES)}  # that of one is none
    for operation in operations_of(graph, leaves):
        kind = operation.type
        if kind.startswith(_ENQUEUES):
            found["fills"].add(_queue_name(operation))
        elif kind.startswith(_DEQUEUES):
            found["empties"].add(_queue_name(operation))
        elif kind.startswith("QueueClose"):
            if not operation.get_attr("cancel_pending_enqueues"):
                found["closes"].add(_queue_name(operation))
        elif kind.startswith(_BEGINS):
            found["begins"] |= {_source(tensor).name for tensor in _resources(operation)}
        elif kind.startswith(_TAKES):
            found["takes"] |= {_source(tensor).name for tensor in _resources(operation)}
        elif kind.startswith(_WRITES) and kind not in _READS:
            kept = found["updates" if _is_atomic(operation) else "writes"]
            kept |= {_source(tensor).name for tensor in _resources(operation)}
        elif not kind.startswith(_OTHER_RESOURCES):
            found["reads"] |= {_source(tensor).name for tensor in _resources(operation)}
    sets = {name: frozenset(names) for name, names in found.items()}
    return RunUses(VariableUses(*[sets[name] for name in VariableUses._fields]), sets["fills"], sets["empties"])


def _resources(operation: Any) -> list[Any]:
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
