"""The requests that may be run a second time: those that leave nothing changed behind.

::

    operations of a request ─▶ changed_by ─▶ the first operation that changes something, or None

An allow-list again: an operation that TensorFlow calls stateful changes something unless it is named here. What draws
random numbers may be repeated (a failed run has given nobody its numbers), and so may what prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tf1sessions.runtime import private, tf

__all__ = ["changed_by", "functions_of"]

#: Operations that TensorFlow registers as stateful, or that take a reference, and that only read, or keep what they
#: write for the one run.
_READERS = frozenset(
    """
    Variable VariableV2 VarHandleOp ReadVariableOp ResourceGather ResourceGatherNd VariableShape VarIsInitializedOp
    HashTable HashTableV2 MutableHashTable MutableHashTableV2 MutableHashTableOfTensors MutableHashTableOfTensorsV2
    MutableDenseHashTable MutableDenseHashTableV2 LookupTableFindV2 LookupTableSizeV2 LookupTableExportV2
    TensorArray TensorArrayV2 TensorArrayV3 TensorArrayCloseV3 TensorArrayConcatV3 TensorArrayGatherV3 TensorArrayGrad
    TensorArrayGradV2 TensorArrayGradV3 TensorArrayGradWithShape TensorArrayReadV3 TensorArrayScatterV3
    TensorArraySizeV3 TensorArraySplitV3 TensorArrayWriteV3 Stack StackV2 StackCloseV2 StackPopV2 StackPushV2
    Assert CheckNumerics CheckNumericsV2 GuaranteeConst Print PrintV2 Timestamp Empty
    AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler LogUniformCandidateSampler
    ThreadUnsafeUnigramCandidateSampler UniformCandidateSampler Multinomial ParameterizedTruncatedNormal RandomCrop
    RandomGamma RandomPoisson RandomPoissonV2 RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt
    SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 StatelessRandomGetAlg TruncatedNormal
    CudnnRNN CudnnRNNV2 CudnnRNNV3 BoostedTreesEnsembleResourceHandleOp BoostedTreesExampleDebugOutputs
    BoostedTreesPredict If While Case StatefulPartitionedCall _Arg _Retval
    RefEnter RefExit RefIdentity RefMerge RefNextIteration RefSelect RefSwitch IsVariableInitialized LookupTableExport
    LookupTableFind LookupTableSize StackClose StackPop StackPush TensorArrayClose TensorArrayConcat TensorArrayGather
    TensorArrayPack TensorArrayRead TensorArrayScatter TensorArraySize TensorArraySplit TensorArrayUnpack
    TensorArrayWrite
    """.split()
)


def changed_by(graph: Any, operations: Iterable[Any], functions: Mapping[str, Any] | None = None) -> str | None:
    """Names an operation of a request that changes something: a variable, a queue, a table, a file.

    The bodies of functions are looked into. An operation whose definition is not known counts as one that does.

    Args:
        graph: The graph of the request.
        operations: The operations that it runs, as :func:`~tf1sessions.sessions.operations.prune` returns them.
        functions: The definitions of functions by name; those of the graph by default.

    Returns:
        ``"'name' of type Type"``, or None.
    """
    bodies = functions_of(graph) if functions is None else functions
    entered: set[str] = set()
    todo = [(operation.name, operation.type, operation.get_attr) for operation in operations]
    while todo:
        name, kind, attribute = todo.pop()
        called = [kind] if kind in bodies else _called(kind, attribute)
        if called is None or not bodies.keys() >= set(called):
            return f"{name!r} of type {kind}"
        for function in set(called) - entered:
            entered.add(function)
            todo += [(f"{function}/{node.name}", node.op, _reader(node)) for node in bodies[function].node_def]
    return None


def _called(kind: str, attribute: Callable[[str], Any]) -> list[str] | None:
    """The functions that an operation calls; None when it changes something itself, or is not known."""
    definition = private.op_def_registry.get(kind)
    if definition is None:
        return None
    if kind not in _READERS and (definition.is_stateful or any(argument.is_ref for argument in definition.input_arg)):
        return None
    called = []
    for each in definition.attr:
        if each.type == "func":
            called.append(attribute(each.name).name)
        elif each.type == "list(func)":
            called += [function.name for function in attribute(each.name)]
    return called


def _reader(node: Any) -> Callable[[str], Any]:
    """Return a ``get_attr`` for a node of a function: its attributes that are functions."""

    def read(name: str) -> Any:
        value = node.attr[name]
        return value.func if value.HasField("func") else value.list.func

    return read


def functions_of(graph: Any) -> dict[str, Any]:
    """Return the definitions of a graph's functions by name."""
    library = tf.GraphDef()
    graph._copy_functions_to_graph_def(library, 0)
    return {function.signature.name: function for function in library.library.function}
