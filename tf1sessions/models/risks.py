"""Operations of a graph that reach beyond it: files, the network, Python, the process, devices.

:data:`RISKS` names them, with the reason. It was made by going through every operation that TensorFlow 1.15.5 (its
contrib libraries included), 2.16 and 2.21 register; tests/models/test_risks.py fails when the TensorFlow that is
installed has one that nobody went through.
:func:`risky` finds those that a run could reach::

    roots ─▶ their inputs, data and control, and the bodies of all functions named on the way ─▶ {op: [nodes]}

A function's whole body counts, as do its gradient, the functions that may stand in for it, and those that any of its
attributes or defaults names. What a function's caller decides on, an argument or an attribute that is a placeholder, is
not known, and counts as the worst that it can be. Nodes in functions are named ``function/node``. No TensorFlow is
needed: the graph is read as a proto.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tf1sessions.models.graph_index import function_values, functions_named

__all__ = ["KINDS", "RISKS", "Risk", "asset_arguments", "functions_of", "own_nodes", "risky", "risky_nodes"]


@dataclass(frozen=True)
class Risk:
    """A risk of an operation. ``kind`` is one of :data:`KINDS`; ``why`` goes on after the operation's name."""

    kind: str
    why: str


#: The kinds, most serious first.
KINDS = ("Python", "native code", "process", "writes files", "reads files", "network", "devices")

_TABLE: tuple[tuple[str, str, str], ...] = (
    ("Python", "calls a Python function of the process", "EagerPyFunc PyFunc PyFuncStateless"),
    (
        "native code",
        "runs code that the graph only names, or holds in a form that cannot be looked into",
        """
        DatasetFromGraph MlirPassthroughOp RemoteFusedGraphExecute TRTEngineOp TfLiteSubgraphExecute XlaCallModule
        XlaCustomCall XlaCustomCallV2 _TPUCompileMlir _XlaHostComputeMlir
        """,
    ),
    ("native code", "starts the program ffmpeg", "DecodeAudio DecodeAudioV2 DecodeVideo EncodeAudio EncodeAudioV2"),
    ("process", "ends the process", "Abort WorkerHeartbeat"),
    ("writes files", "writes to the file it is given", "DatasetToTFRecord ExperimentalDatasetToTFRecord WriteFile"),
    (
        "writes files",
        "writes a checkpoint",
        "DistributedSave MergeV2Checkpoints Save SaveDataset SaveDatasetV2 SaveSlices SaveV2",
    ),
    (
        "writes files",
        "writes what passes through it to files",
        """
        CacheDataset CacheDatasetV2 CalibrationStatisticsSaver DumpTensor SerializeTRTResource SnapshotDataset
        SnapshotDatasetV2
        """,
    ),
    (
        "writes files",
        "writes an event file or a database of events",
        """
        CreateSummaryDbWriter CreateSummaryFileWriter FlushSummaryWriter ImportEvent StatsAggregatorSetSummaryWriter
        WriteAudioSummary WriteGraphSummary WriteHistogramSummary WriteImageSummary WriteRawProtoSummary
        WriteScalarSummary WriteSummary
        """,
    ),
    (
        "writes files",
        "sends what passes through it to a file or a debugger",
        "DebugIdentity DebugIdentityV2 DebugIdentityV3 DebugNanCount DebugNumericSummary",
    ),
    ("writes files", "appends to the file of its output_stream", "PrintV2"),
    (
        "reads files",
        "reads the file it is given",
        """
        FixedUnigramCandidateSampler ImmutableConst InitializeTRTResource ReadFile RecordInput Skipgram
        """,
    ),
    (
        "reads files",
        "lists the files of a folder",
        "ExperimentalMatchingFilesDataset MatchingFiles MatchingFilesDataset",
    ),
    (
        "reads files",
        "reads the files of a queue",
        """
        FixedLengthRecordReader FixedLengthRecordReaderV2 LMDBReader TFRecordReader TFRecordReaderV2 TextLineReader
        TextLineReaderV2 WholeFileReader WholeFileReaderV2
        """,
    ),
    (
        "reads files",
        "reads the files of a dataset",
        """
        CSVDataset CSVDatasetV2 ExperimentalCSVDataset ExperimentalLMDBDataset FixedLengthRecordDataset
        FixedLengthRecordDatasetV2 LMDBDataset ListSnapshotChunksDataset LoadDataset SequenceFileDataset
        SnapshotChunkDataset SnapshotDatasetReader SnapshotNestedDatasetReader TFRecordDataset TFRecordDatasetV2
        TextLineDataset
        """,
    ),
    ("reads files", "reads a database", "ExperimentalSqlDataset SqlDataset"),
    (
        "reads files",
        "reads a vocabulary file",
        "GenerateVocabRemapping InitializeTableFromTextFile InitializeTableFromTextFileV2",
    ),
    (
        "reads files",
        "reads a checkpoint",
        "DTensorRestoreV2 LoadAndRemapMatrix Restore RestoreSlice RestoreV2",
    ),
    ("reads files", "reads the description of a message from a file", "DecodeProtoV2 EncodeProto"),
    (
        "network",
        "calls a server, or is one",
        """
        DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4 DeleteRpcFutureResource
        RegisterDataset RegisterDatasetV2 Rpc RpcCall RpcCheckStatus RpcClient RpcGetValue RpcServer RpcServerRegister
        RpcServerStart TryRpc
        """,
    ),
    (
        "network",
        "reads or writes a store in the network",
        """
        BigQueryReader BigtableClient BigtableLookupDataset BigtablePrefixKeyDataset BigtableRangeKeyDataset
        BigtableSampleKeyPairsDataset BigtableSampleKeysDataset BigtableScanDataset BigtableTable DatasetToBigtable
        GenerateBigQueryReaderPartitions IgniteDataset KafkaDataset KinesisDataset ObtainNext
        """,
    ),
    (
        "network",
        "changes how the process reaches file systems in the network",
        "FileSystemSetConfiguration GcsConfigureBlockCache GcsConfigureCredentials",
    ),
    ("network", "runs a function where its input says, be it on another machine", "RemoteCall"),
    (
        "network",
        "exchanges values with other processes",
        """
        CollectiveAllToAllV2 CollectiveAllToAllV3 CollectiveAssignGroupV2 CollectiveBcastRecv CollectiveBcastRecvV2
        CollectiveBcastSend CollectiveBcastSendV2 CollectiveGather CollectiveGatherV2 CollectiveInitializeCommunicator
        CollectivePermute CollectiveReduce CollectiveReduceScatterV2 CollectiveReduceV2 CollectiveReduceV3 Recv Send
        _HostRecv _HostSend _Recv _Send
        """,
    ),
    (
        "devices",
        "sets up or shuts down the TPUs of the machine",
        """
        ConfigureAndInitializeGlobalTPU ConfigureDistributedTPU ConfigureTPUEmbedding ConfigureTPUEmbeddingHost
        ConfigureTPUEmbeddingMemory ConnectTPUEmbeddingHosts DTensorSetGlobalTPUArray FinalizeTPUEmbedding
        FinalizeTPUEmbeddingV2 ShutdownDistributedTPU ShutdownTPUSystem UpdateTaskIdAndGlobalCoreArray
        _ConfigureDistributedTPU _DisconnectHostFromDistributedTPUSystem _InitializeHostForDistributedTPU
        _SetGlobalTPUArray _ShutdownDistributedTPU _WaitForDistributedTPU
        """,
    ),
)

#: Operation -> what it can do.
RISKS: Mapping[str, Risk] = {op: Risk(kind, why) for kind, why, ops in _TABLE for op in ops.split()}


# ------------------------------------------------------------------------------- operations that depend on a setting


def _text(node: Any, attr: str) -> str | None:
    """A string attribute of a node, empty where it has none; None where the caller of its function decides on it."""
    if attr not in node.attr:
        return ""
    value = node.attr[attr]
    return None if value.WhichOneof("value") not in (None, "s") else str(value.s.decode(errors="replace"))


def _is_empty(node: Any) -> bool:
    """Whether a node is the constant ``""``."""
    if node.op != "Const" or node.attr["value"].WhichOneof("value") != "tensor":
        return False
    value = node.attr["value"].tensor
    return not any(value.string_val) and not value.tensor_content


#: What PrintV2 prints to, other than files.
_STREAMS = ("", "stderr", "stdout", "log(info)", "log(warning)", "log(error)")


def _caches_in_memory(node: Any, inputs: Callable[[int], Any]) -> bool:
    filename = inputs(1)
    return filename is not None and _is_empty(filename)


def _knows_its_messages(node: Any, inputs: Callable[[int], Any]) -> bool:
    source = _text(node, "descriptor_source")
    return source is not None and (source in ("", "local://") or source.startswith("bytes://"))


# Operation -> whether a node of it does nothing of what RISKS says. The second argument gives the node behind an input.
_HARMLESS: Mapping[str, Callable[[Any, Callable[[int], Any]], bool]] = {
    "CacheDataset": _caches_in_memory,
    "CacheDatasetV2": _caches_in_memory,
    "DecodeProtoV2": _knows_its_messages,
    "EncodeProto": _knows_its_messages,
    "FixedUnigramCandidateSampler": lambda node, inputs: _text(node, "vocab_file") == "",
    "PrintV2": lambda node, inputs: _text(node, "output_stream") in _STREAMS,
} | dict.fromkeys(
    ("DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", "DebugNanCount", "DebugNumericSummary"),
    lambda node, inputs: (
        "debug_urls" not in node.attr
        or (node.attr["debug_urls"].WhichOneof("value") == "list" and not node.attr["debug_urls"].list.s)
    ),
)


# ---------------------------------------------------------------------------------------------------- what is reached


def risky(
    graph_def: Any,
    library: Any,
    roots: Iterable[str] | None = None,
    *,
    feeds: Collection[str] = (),
    saver: Any = None,
    assets: Collection[str] = (),
    asset_arguments: Mapping[str, Collection[str]] | None = None,
) -> dict[str, list[str]]:
    """Finds the operations of :data:`RISKS` that a run could reach.

    Args:
        graph_def: The graph. It is not changed.
        library: The functions that it may call: a FunctionDefLibrary, mostly ``graph_def.library``.
        roots: Names of nodes or tensors that are run. None: every node and every function counts.
        feeds: Names of tensors that the run is given: what only they need is not run.
        saver: The SaverDef of the artifact. Saving and restoring where it says to is left out, unless another root
            than the saver's own ends leads there.
        assets: Names of tensors that this run is fed with paths of the artifact's own files. Filling a table from one
            is left out. A run that does not feed them reads what the graph says, which may be any file.
        asset_arguments: The same for arguments of functions, by the function's name; see :func:`asset_arguments`.

    Returns:
        Operation -> the nodes of it, both sorted.

    Raises:
        ValueError: A root is not in the graph.
    """
    house = _House(graph_def, library)
    own = own_nodes(graph_def, library, saver)
    if roots is None:
        nodes, functions = set(house.nodes), set(house.functions)
        forgiven = own
    else:
        given = {form for name in feeds for form in ({name, name[:-2]} if name.endswith(":0") else {name, f"{name}:0"})}
        wanted = {_node_name(root) for root in roots if root not in given}
        if missing := sorted(wanted - house.nodes.keys()):
            raise ValueError(f"the graph has no node {missing[0]!r}")
        ends = wanted & _ends(saver)
        nodes, functions = house.reach(wanted, given)
        forgiven = own - house.names(*house.reach(wanted - ends, given)) if ends else set()
    found: dict[str, list[str]] = {}
    for name, node, scope in house.all_nodes(nodes, functions):
        if node.op not in RISKS or name in forgiven:
            continue
        inputs = _Inputs(node, scope, feeds if scope is house.nodes else ())
        if node.op in _HARMLESS and _HARMLESS[node.op](node, inputs):
            continue
        function = name.removesuffix(f"/{node.name}")
        own_files = assets if scope is house.nodes else (asset_arguments or {}).get(function, ())
        if node.op in _FILLS_TABLE and _asset(inputs, own_files):
            continue
        found.setdefault(node.op, []).append(name)
    return {op: sorted(names) for op, names in sorted(found.items())}


def asset_arguments(graph_def: Any, objects: Any) -> dict[str, list[str]]:
    """Find the arguments that are always files of the artifact, where TensorFlow 2 loads a SavedModel.

    Its loader runs no nodes of the graph. It calls functions, and binds their last arguments to the objects that the
    SavedModel names; some of these are assets.

    Args:
        graph_def: The graph, with its functions.
        objects: The SavedObjectGraph beside it.

    Returns:
        Function -> names of such arguments. A function that another one may call, or stand in for, is left out: it may
        get anything there.
    """
    library = graph_def.library
    house = _House(graph_def, library)
    called = {name for function in library.function for node in function.node_def for name in house.called(node)}
    called |= {gradient.gradient_func for gradient in library.gradient}
    found = {}
    for name, concrete in objects.concrete_functions.items():
        function = house.functions.get(name)
        if function is None or name in called or "api_implements" in function.attr:
            continue
        bound = list(concrete.bound_inputs)
        names = [argument.name for argument in function.signature.input_arg][-len(bound) :] if bound else []
        found[name] = [
            argument
            for argument, index in zip(names, bound, strict=False)
            if len(names) == len(bound)
            and 0 <= index < len(objects.nodes)
            and objects.nodes[index].WhichOneof("kind") == "asset"
        ]
    return {name: arguments for name, arguments in found.items() if arguments}


def risky_nodes(graph_def: Any, library: Any) -> set[str]:
    """Names the nodes of a graph that are of :data:`RISKS` themselves, or call a function in which something is."""
    house = _House(graph_def, library)
    known: dict[frozenset[str], bool] = {}
    found = set()
    for name, node in house.nodes.items():
        called = frozenset(house.called(node))
        if called and called not in known:
            _, functions = house.reach([name], inputs=False)
            known[called] = any(inner.op in RISKS for _, inner, _ in house.all_nodes((), functions))
        if node.op in RISKS or (called and known[called]):
            found.add(name)
    return found


def functions_of(graph_def: Any, library: Any, names: Iterable[str]) -> set[str]:
    """Names the functions that these nodes may call, directly or not."""
    return _House(graph_def, library).reach(names, inputs=False)[1]


_SAVES = frozenset("MergeV2Checkpoints Restore RestoreSlice RestoreV2 Save SaveSlices SaveV2".split())
_FILLS_TABLE = ("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")


def own_nodes(graph_def: Any, library: Any, saver: Any) -> set[str]:
    """Names the nodes by which a SaverDef saves and restores: those that the tensor of its filename leads to."""
    if saver is None or not saver.filename_tensor_name:
        return set()
    house = _House(graph_def, library)
    above, _ = house.reach(_ends(saver) & house.nodes.keys())
    filename = _node_name(saver.filename_tensor_name)
    leads = {filename}
    waiting = list(leads & house.nodes.keys())
    readers: dict[str, list[str]] = {}
    for name in above:
        for input_name in house.nodes[name].input:
            if not input_name.startswith("^"):
                readers.setdefault(_node_name(input_name), []).append(name)
    for name in waiting:
        new = [reader for reader in readers.get(name, ()) if reader not in leads]
        leads.update(new)
        waiting += new
    own = {name for name in leads if name in house.nodes and house.nodes[name].op in _SAVES}
    calls = {name for name in leads if name in house.nodes and any(house.called(house.nodes[name]))}
    _, functions = house.reach(calls, inputs=False)
    return own | {name for name, node, _ in house.all_nodes((), functions) if node.op in _SAVES}


def _ends(saver: Any) -> set[str]:
    """The nodes that a SaverDef runs to save and to restore."""
    if saver is None:
        return set()
    return {_node_name(name) for name in (saver.save_tensor_name, saver.restore_op_name) if name}


def _node_name(name: str) -> str:
    """``^node``, ``node:0`` or, in a function, ``node:output:0`` -> ``node``."""
    return name.removeprefix("^").partition(":")[0]


class _Inputs:
    """Gives the node behind an input of ``node``, by its number; None for what is fed, or an argument of a function."""

    def __init__(self, node: Any, scope: Mapping[str, Any], feeds: Collection[str]) -> None:
        self.node = node
        self.scope = scope
        self.feeds = {_node_name(name) for name in feeds}

    def __call__(self, index: int) -> Any:
        name = _node_name(self.node.input[index]) if index < len(self.node.input) else ""
        return None if name in self.feeds else self.scope.get(name)


def _asset(inputs: _Inputs, assets: Collection[str]) -> bool:
    """Whether the file of a table's initialization is one of the artifact's."""
    if len(inputs.node.input) < 2:
        return False
    name, seen = inputs.node.input[1], set()
    while name not in seen:
        seen.add(name)
        tensor = name if ":" in name else f"{name}:0"
        if tensor in assets or tensor.removesuffix(":0") in assets:
            return True
        node = inputs.scope.get(_node_name(name))
        if node is not None and node.op in ("Identity", "PlaceholderWithDefault") and node.input:
            name = node.input[0]
    return False


class _House:
    """A graph and its functions, by their names."""

    def __init__(self, graph_def: Any, library: Any) -> None:
        self.nodes = {node.name: node for node in graph_def.node}
        self.functions = {function.signature.name: function for function in library.function}
        self.gradients: dict[str, set[str]] = {}
        for gradient in library.gradient:
            self.gradients.setdefault(gradient.function_name, set()).add(gradient.gradient_func)
        self.twins: dict[bytes, set[str]] = {}  # functions that TensorFlow may put in one another's place
        for name, function in self.functions.items():
            if api := function.attr["api_implements"].s if "api_implements" in function.attr else b"":
                self.twins.setdefault(api, set()).add(name)

    def reach(
        self, names: Iterable[str], feeds: Collection[str] = (), inputs: bool = True
    ) -> tuple[set[str], set[str]]:
        """The nodes and functions that running the nodes ``names`` may run; without ``inputs``, what they call."""
        nodes = {name for name in names if name in self.nodes}
        waiting = list(nodes)
        called: set[str] = set()
        for name in waiting:
            node = self.nodes[name]
            called.update(self.called(node))
            if inputs:
                needed = {_node_name(each) for each in node.input if each not in feeds}
                new = {each for each in needed if each in self.nodes and each not in nodes}
                nodes |= new
                waiting += new
        functions = {name for name in called if name in self.functions}
        todo = list(functions)
        for name in todo:
            function = self.functions[name]
            api = function.attr["api_implements"].s if "api_implements" in function.attr else b""
            near = self.gradients.get(name, set()) | self.twins.get(api, set())
            near = near.union((node.op for node in function.node_def), functions_named(function_values(function)))
            new = {each for each in near if each in self.functions and each not in functions}
            functions |= new
            todo += new
        return nodes, functions

    def called(self, node: Any) -> Iterator[str]:
        """The functions that a node names: as its operation, or in any attribute, at any depth."""
        for name in (node.op, *functions_named(node.attr.values())):
            if name in self.functions:
                yield name

    def all_nodes(self, nodes: Iterable[str], functions: Iterable[str]) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
        """The name, the node and the nodes around it, of these nodes and of all that these functions have."""
        for name in nodes:
            yield name, self.nodes[name], self.nodes
        for function in functions:
            body = {node.name: node for node in self.functions[function].node_def}
            for node in self.functions[function].node_def:  # not by name: a name may be there twice
                yield f"{function}/{node.name}", node, body

    def names(self, nodes: Iterable[str], functions: Iterable[str]) -> set[str]:
        return {name for name, _, _ in self.all_nodes(nodes, functions)}
