"""The values of a model's variables, constants and tables: each is set once, when a call first needs it.

::

    prepare(nodes) ──▶ constants: read from their file, straight into the variable that took their place
                   ──▶ variables: from the checkpoint, by the graph's own restoring operations, which are fed what
                       RestoreV2 would have read; by name where the graph has none; else by their initializer
                   ──▶ tables:    their own initializing operations

The graph never opens the checkpoint itself, so a RestoreV2 that names another file reads nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import CheckpointMismatchError, ModelError, ModelFileError
from tf1sessions.models.files import READ_ERRORS, Artifact, bad_checkpoint, checkpoint_reader, read_tensor
from tf1sessions.models.graph_index import GraphIndex, listed, node_of, tensor_name
from tf1sessions.models.weights import Weight
from tf1sessions.runtime import private, tf

__all__ = ["VARIABLES", "Restoring", "Values", "add_fills", "find_restoring", "main_operations", "with_setters"]

VARIABLES = frozenset({"Variable", "VariableV2", "VarHandleOp", "AutoReloadVariable"})
_TABLES = frozenset(
    "HashTable HashTableV2 MutableHashTable MutableHashTableV2 MutableDenseHashTable MutableDenseHashTableV2 "
    "MutableHashTableOfTensors MutableHashTableOfTensorsV2".split()
)
_TABLE_INITIALIZERS = frozenset(
    "InitializeTable InitializeTableV2 InitializeTableFromTextFile InitializeTableFromTextFileV2 LookupTableImport "
    "LookupTableImportV2 InitializeTableFromDataset".split()
)
_UPDATES = frozenset({"Assign", "AssignVariableOp", "LookupTableImport", "LookupTableImportV2"})
_RESTORES = frozenset({"Restore", "RestoreSlice", "RestoreV2"})
#: The collections of a MetaGraph that list variables and their initializers.
_COLLECTIONS = ("variables", "trainable_variables", "model_variables", "moving_average_variables", "local_variables")
_AT_ONCE_BYTES = 64 * 1024 * 1024
_FILLS = "tf1sessions_fill"


def add_fills(graph_def: Any, weights: Sequence[Weight], by_name: Sequence[str]) -> tuple[Any, dict[str, str]]:
    """Returns the graph with a placeholder and an assignment for each weight and each variable of ``by_name``.

    Returns:
        The graph, and the name of a handle or variable -> the common name of its two new nodes.
    """
    result = type(graph_def)()
    result.CopyFrom(graph_def)
    nodes = {node.name: node for node in result.node}
    scope, number = _FILLS, 1
    while any(name == scope or name.startswith(scope + "/") for name in nodes):
        scope, number = f"{_FILLS}_{number}", number + 1
    fills = {}
    for index, name in enumerate([weight.handle for weight in weights] + list(by_name)):
        variable = nodes[name]
        fill = fills[name] = f"{scope}/{index}"
        given = result.node.add(name=f"{fill}/value", op="Placeholder", device=variable.device)
        given.attr["dtype"].CopyFrom(variable.attr["dtype"])
        given.attr["shape"].CopyFrom(variable.attr["shape"])
        handle = variable.op == "VarHandleOp"
        assign = result.node.add(
            name=f"{fill}/assign",
            op="AssignVariableOp" if handle else "Assign",
            device=variable.device,
            input=[name, given.name],
        )
        assign.attr["dtype" if handle else "T"].CopyFrom(variable.attr["dtype"])
        if not handle:
            assign.attr["validate_shape"].b = True
            assign.attr["use_locking"].b = True
    return result, fills


@dataclasses.dataclass(frozen=True)
class _Key:
    """A tensor of a checkpoint, or a slice of it; ``spec`` as in RestoreV2's ``shape_and_slices``."""

    name: str
    spec: str = ""

    def slices(self) -> tuple[list[int] | None, tuple[slice, ...]]:
        """The shape of the whole, and which part is wanted."""
        if not self.spec:
            return None, ()
        *dims, parts = self.spec.split(" ")
        chosen = []
        for part in parts.split(":"):
            start, _, length = part.partition(",")
            chosen.append(slice(None) if part == "-" else slice(int(start), int(start) + int(length)))
        return [int(dim) for dim in dims], tuple(chosen)


@dataclasses.dataclass(frozen=True)
class Restoring:
    """An operation that sets a variable or a table from a checkpoint, and what it is fed: tensor -> key."""

    operation: str
    feeds: Mapping[str, _Key]


def main_operations(artifact: Artifact, graph_index: GraphIndex) -> list[str]:
    """Return what a SavedModel or an export has run when its variables are there."""
    names: list[str] = []
    if "__saved_model_init_op" in artifact.signatures:
        names = [info.name for info in artifact.signatures["__saved_model_init_op"].outputs.values()]
    elif artifact.meta_graph is not None and artifact.kind in ("saved model", "session bundle"):
        collections = artifact.meta_graph.collection_def
        for key in ("saved_model_main_op", "legacy_init_op", "serving_init_op"):
            if key in collections and collections[key].node_list.value:
                names = list(collections[key].node_list.value)
                break
    return [node_of(name) for name in names if node_of(name) in graph_index.nodes]


def find_restoring(graph_index: GraphIndex, meta_graph: Any = None) -> dict[str, Restoring]:
    """Finds how the graph's savers restore each variable and table, by name. The saver of the MetaGraph comes first."""
    restores = [node.name for node in graph_index.graph_def.node if node.op in _RESTORES]
    reached = graph_index.descendants(restores, lambda node: node.op not in _UPDATES)
    updates: dict[str, list[str]] = {}
    for name in reached:
        for consumer, entry in graph_index.consumers[name]:
            if consumer.op in _UPDATES and not entry.startswith("^") and node_of(consumer.input[0]) not in reached:
                updates.setdefault(consumer.name, []).append(entry)
    operation = node_of(meta_graph.saver_def.restore_op_name) if meta_graph is not None else ""
    own = graph_index.ancestors([operation]) if operation else set()
    found: dict[str, Restoring] = {}
    for operation in sorted(updates, key=lambda name: (name not in own, name)):
        target = _root(graph_index, node_of(graph_index.nodes[operation].input[0]))
        feeds = _restored_tensors(graph_index, updates[operation], reached)
        if target is not None and feeds is not None:
            found.setdefault(target, Restoring(operation, feeds))
    return found


def with_setters(graph_index: GraphIndex, names: set[str]) -> set[str]:
    """``names``, with all that can give their variables and tables a value, and what that needs."""
    setters: dict[str, list[str]] = {}
    for node in graph_index.graph_def.node:
        if node.op in _UPDATES or node.op in _TABLE_INITIALIZERS:
            if node.input and (target := _root(graph_index, node_of(node.input[0]))):
                setters.setdefault(target, []).append(node.name)
    found, new = set(names), set(names)
    while new:
        new = graph_index.ancestors([setter for name in new for setter in setters.get(name, ())]) - found
        found |= new
    return found


def _root(graph_index: GraphIndex, name: str) -> str | None:
    """The variable or table behind a handle or a reference."""
    seen: set[str] = set()
    while name in graph_index.nodes and name not in seen:
        seen.add(name)
        node = graph_index.nodes[name]
        if node.op in VARIABLES or node.op in _TABLES:
            return name
        if node.op not in ("Identity", "RefIdentity", "Enter", "RefEnter") or not node.input:
            return None
        name = node_of(node.input[0])
    return None


def _restored_tensors(graph_index: GraphIndex, entries: Sequence[str], reached: set[str]) -> dict[str, _Key] | None:
    """The outputs of restoring operations that lead to ``entries``, with their keys; None if one has no key."""
    feeds: dict[str, _Key] = {}
    queue, seen = [tensor_name(entry) for entry in entries], set()
    while queue:
        tensor = queue.pop()
        node = graph_index.nodes[node_of(tensor)]
        if node.op in _RESTORES:
            key = _key_of_output(graph_index, node, int(tensor.rpartition(":")[2]))
            if key is None:
                return None
            feeds[tensor] = key
            continue
        for entry in node.input:
            source = tensor_name(entry) if not entry.startswith("^") else ""
            if source and node_of(source) in reached and source not in seen:
                seen.add(source)
                queue.append(source)
    return feeds


def _key_of_output(graph_index: GraphIndex, node: Any, index: int) -> _Key | None:
    names = _strings(graph_index, node, 1)
    specs = _strings(graph_index, node, 2) if node.op != "Restore" else [""]
    if names is None or specs is None or index >= len(names) or index >= len(specs):
        return None
    return _Key(names[index], specs[index])


def _strings(graph_index: GraphIndex, node: Any, index: int) -> list[str] | None:
    source = graph_index.nodes.get(node_of(node.input[index])) if index < len(node.input) else None
    if source is None or source.op != "Const":
        return None
    flat = np.asarray(tf.make_ndarray(source.attr["value"].tensor)).reshape(-1)
    return [bytes(value).decode("utf-8", "replace") for value in flat]


class Values:
    """Sets the values of one session's graph.

    Args:
        artifact: For the checkpoint, the collections and the assets.
        graph_index: The graph that was imported, fills included.
        weights: The constants that became variables.
        restoring: As from :func:`find_restoring`.
        fills: As from :func:`add_fills`.
        session: The session.
        initialize: Whether a variable without another source may be initialized.
        vet: Called with what is to be run and what it is fed, before it is; raises where that is not safe.

    Attributes:
        notes: What was initialized for want of a value, and what of the checkpoint nobody needs.

    Thread-safety: safe from any thread. ``_lock`` is held while values are read and set, so a second thread that needs
    the same ones waits for them.
    """

    def __init__(
        self,
        artifact: Artifact,
        graph_index: GraphIndex,
        weights: Sequence[Weight],
        restoring: Mapping[str, Restoring],
        fills: Mapping[str, str],
        session: Any,
        initialize: bool,
        vet: Callable[..., None],
    ) -> None:
        self._artifact = artifact
        self._graph_index = graph_index
        self._restoring = restoring
        self._weights = {weight.handle: weight for weight in weights}
        self._fills = fills
        self._session = session
        self._initialize = initialize
        self._vet = vet
        self._lock = threading.Lock()
        self._done: set[str] = set()
        self._ran: set[str] = set()
        self.notes: list[str] = []

    def prepare(self, nodes: Collection[str]) -> None:
        """Sets what of ``nodes`` (all ancestors of what is to be run) has no value yet.

        Raises:
            CheckpointMismatchError: The checkpoint lacks a variable that is needed, or has it in another shape.
            ModelError: A variable or a table has no value, and nothing that would give it one.
            ModelFileError: The checkpoint or the file of the graph cannot be read.
        """
        with self._lock, self._renamed_error():
            self._prepare(set(nodes), frozenset())

    def run_once(self, operation: str, feeds: Mapping[str, Any]) -> None:
        """Runs an initializing operation, after what it needs has its values."""
        with self._lock, self._renamed_error():
            nodes = self._graph_index.ancestors([operation], feeds)
            given = self._given_by(nodes)
            self._prepare(nodes - given, frozenset())
            if operation not in self._ran:
                self._vet([operation], feeds, assets=feeds)
                self._session.run(operation, dict(feeds))
                self._ran |= nodes
                self._done |= given

    def _given_by(self, nodes: Collection[str]) -> set[str]:
        """The variables that no checkpoint has and that these nodes set without reading them."""
        found = set()
        for name in nodes:
            if self._graph_index.nodes[name].op not in VARIABLES or name in self._weights or name in self._restoring:
                continue
            uses = [(node, entry) for node, entry in self._graph_index.consumers[name] if node.name in nodes]
            if not self._has(self._key_of(name)) and all(
                node.op in ("Assign", "AssignVariableOp") and entry == node.input[0] for node, entry in uses
            ):
                found.add(name)
        return found

    @contextlib.contextmanager
    def _renamed_error(self) -> Iterator[None]:
        try:
            yield
        except tf.errors.CancelledError:  # the session was closed meanwhile
            raise
        except (tf.errors.OpError, ValueError, TypeError, KeyError) as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(
                f"the model cannot be initialized: {getattr(error, 'message', None) or error}",
                where=self._artifact.path,
                next_step="Its files may be damaged or incomplete: compare them with the original's.",
            ) from error

    # -- the lock is held from here on

    def _prepare(self, nodes: set[str], waiting: frozenset[str]) -> None:
        missing = nodes - self._done
        self._fill([self._weights[name] for name in sorted(missing & self._weights.keys())])
        operations = self._graph_index.nodes
        variables = sorted(name for name in missing if name not in self._weights and operations[name].op in VARIABLES)
        tables = sorted(name for name in missing if operations[name].op in _TABLES)
        if self._reader is not None:
            fresh = self._local if not self._initialize else {*self._local, *variables}
            restorable = [
                name
                for name in (*variables, *tables)
                if name in self._restoring
                and (name not in fresh or all(self._has(key.name) for key in self._restoring[name].feeds.values()))
            ]
            named = [
                name
                for name in variables
                if name not in self._restoring and (name not in fresh or self._has(self._key_of(name)))
            ]
            self._check(restorable, named)
            self._restore(restorable)
            self._fill_by_name(named)
            self._done.update(restorable, named)
        self._initialize_variables([name for name in variables if name not in self._done], waiting)
        self._initialize_tables([name for name in tables if name not in self._done], waiting)
        self._done |= missing

    def _fill(self, weights: Sequence[Weight]) -> None:
        for group in _groups(weights, lambda weight: weight.content.length):
            # Read into aligned memory that nobody else holds: the variable takes it over.
            feeds = {f"{self._fills[weight.handle]}/value:0": weight.array() for weight in group}
            self._give([f"{self._fills[weight.handle]}/assign" for weight in group], feeds)
            self._done.update(weight.handle for weight in group)

    def _fill_by_name(self, names: Sequence[str]) -> None:
        for group in _groups(names, lambda name: self._bytes_of([_Key(self._key_of(name))])):
            feeds = {f"{self._fills[name]}/value:0": self._read(_Key(self._key_of(name))) for name in group}
            self._give([f"{self._fills[name]}/assign" for name in group], feeds)

    def _restore(self, names: Sequence[str]) -> None:
        for group in _groups(names, lambda name: self._bytes_of(self._restoring[name].feeds.values())):
            feeds = {}
            for name in group:
                for tensor, key in self._restoring[name].feeds.items():
                    feeds[tensor] = self._read(key)
            self._vet([self._restoring[name].operation for name in group], feeds)
            self._give([self._restoring[name].operation for name in group], feeds)

    def _give(self, operations: Sequence[str], feeds: Mapping[str, Any]) -> None:
        """Runs assignments of arrays that nobody else holds. A run with options is TensorFlow's own, which lets a
        variable take over what it is fed; a run of ours would copy it first."""
        self._session.run(list(operations), dict(feeds), options=tf.RunOptions(report_tensor_allocations_upon_oom=True))

    def _initialize_variables(self, names: Sequence[str], waiting: frozenset[str]) -> None:
        local = self._local
        lost = [name for name in names if name not in self._initializers or not (self._initialize or name in local)]
        if lost:
            raise ModelError(
                f"{len(lost)} variables have no values: {listed(lost)}",
                where=self._artifact.path,
                next_step="Name their checkpoint (checkpoint=), or give them fresh values (initialize=True).",
                variables=tuple(lost),
            )
        self._run_initializers([self._initializers[name] for name in names], waiting)
        fresh = [name for name in names if name not in local]
        if fresh:
            self.notes.append(f"variables that no checkpoint has were initialized: {listed(fresh)}")

    def _initialize_tables(self, names: Sequence[str], waiting: frozenset[str]) -> None:
        for name in names:
            filling = self._table_initializers.get(name, [])
            if self._graph_index.nodes[name].op.startswith("HashTable") and not filling:
                raise ModelError(
                    f"the table {name!r} has no entries: the graph lost the operation that fills it",
                    where=self._artifact.path,
                    next_step="Keep its initializer when the graph is frozen (name it as an output), load the "
                    "SavedModel or .meta file instead, or cut the graph behind the table (inputs=...).",
                    table=name,
                )
            self._run_initializers(filling, waiting)

    def _run_initializers(self, operations: Sequence[str], waiting: frozenset[str]) -> None:
        """Runs initializers, each after those of the variables that it reads, as many at once as that allows.

        Args:
            operations: Each sets the variable or table that is its first input.
            waiting: The variables and tables whose initializers wait for these.
        """
        nodes = self._graph_index.nodes
        target = {operation: node_of(nodes[operation].input[0]) for operation in operations}
        reads = {
            operation: self._graph_index.ancestors([node_of(entry) for entry in nodes[operation].input[1:]])
            for operation in operations
            if operation not in self._ran
        }
        left = dict(reads)
        waiting = waiting | {target[operation] for operation in left}
        while left:
            unset = {target[operation] for operation in left}
            ready = [name for name, read in left.items() if not (read & (unset - {target[name]}))]
            needed = set().union(*(left[name] for name in ready)) - {target[name] for name in ready}
            if not ready or needed & waiting & {*self._initializers, *self._table_initializers} - self._done:
                raise ModelError(
                    f"the initial values of {listed(sorted(unset))} need each other",
                    where=self._artifact.path,
                    next_step="Name a checkpoint with their values.",
                )
            self._prepare(needed, waiting)
            feeds = self._assets_for(needed)
            self._vet(ready, feeds, assets=feeds)
            self._session.run(ready, feeds)
            self._ran.update(ready)
            self._done.update(target[name] for name in ready)
            for name in ready:
                del left[name]

    def _assets_for(self, nodes: set[str]) -> dict[str, str]:
        return {tensor: file for tensor, file in self._artifact.assets.items() if node_of(tensor) in nodes}

    # -- the checkpoint

    @functools.cached_property
    def _reader(self) -> Any:
        prefix = self._artifact.checkpoint
        if prefix is None:
            return None
        return checkpoint_reader(prefix)

    @functools.cached_property
    def _saved_shapes(self) -> dict[str, list[int]]:
        return dict(self._reader.get_variable_to_shape_map()) if self._reader is not None else {}

    @functools.cached_property
    def _saved_dtypes(self) -> dict[str, Any]:
        return dict(self._reader.get_variable_to_dtype_map())

    def _has(self, key: str) -> bool:
        return key in self._saved_shapes

    def _key_of(self, name: str) -> str:
        """The key of a variable that no operation restores: its shared name, or the name of its node."""
        node = self._graph_index.nodes[name]
        shared = node.attr["shared_name"].s.decode("utf-8", "replace")
        return shared if node.op == "VarHandleOp" and shared and self._has(shared) else name

    def _bytes_of(self, keys: Iterable[_Key]) -> int:
        return sum(
            int(np.prod(self._saved_shapes[key.name], dtype=np.int64)) * max(self._saved_dtypes[key.name].size, 1)
            for key in keys
        )

    def _read(self, key: _Key) -> Any:
        try:
            value = read_tensor(self._reader, str(self._artifact.checkpoint), key.name)
        except READ_ERRORS as error:
            raise bad_checkpoint(str(self._artifact.checkpoint), error) from error
        _, part = key.slices()
        return value[part] if part else value

    def _check(self, restorable: Sequence[str], named: Sequence[str]) -> None:
        """Compares what is needed with what the checkpoint has, all of it before anything is read."""
        wanted = [(name, key) for name in restorable for key in self._restoring[name].feeds.values()] + [
            (name, _Key(self._key_of(name))) for name in named
        ]
        missing = sorted({key.name for _, key in wanted if not self._has(key.name)})
        shapes = {}
        for name, key in wanted:
            if not self._has(key.name):
                continue
            found = list(self._saved_shapes[key.name])
            whole, _ = key.slices()
            attr = self._graph_index.nodes[name].attr["shape"].shape
            plain = name in named or len(self._restoring[name].feeds) == 1
            shape = None if attr.unknown_rank or not plain else [dim.size for dim in attr.dim]
            expected = whole or shape
            if self._graph_index.nodes[name].op in VARIABLES and expected is not None and not _fits(expected, found):
                shapes[key.name] = (tuple(expected), tuple(found))
        if not missing and not shapes:
            return
        known = {key.name for restoring in self._restoring.values() for key in restoring.feeds.values()}
        known |= {self._key_of(name) for name, node in self._graph_index.nodes.items() if node.op in VARIABLES}
        extra = sorted(key for key in self._saved_shapes if key not in known and not key.startswith("_CHECKPOINTABLE"))
        parts = []
        if missing:
            parts.append(f"it lacks {listed(missing)}")
        if shapes:
            wrong = [f"{key} ({list(found)} instead of {list(expected)})" for key, (expected, found) in shapes.items()]
            parts.append(f"it has in another shape {listed(wrong)}")
        if extra:
            parts.append(f"it has beyond the graph {listed(extra)}")
        raise CheckpointMismatchError(
            f"the checkpoint {self._artifact.checkpoint} is not one of this graph: {'; '.join(parts)}",
            where=self._artifact.path,
            next_step="Give the checkpoint that was written with this graph.",
            missing=tuple(missing),
            extra=tuple(extra),
            shapes=shapes,
        )

    # -- what the graph has for it

    @functools.cached_property
    def _initializers(self) -> dict[str, str]:
        """Name of a variable -> the operation that gives it its initial value."""
        found: dict[str, str] = {}
        for definition in self._variable_defs(_COLLECTIONS):
            if definition.initializer_name:
                operation = node_of(definition.initializer_name)
                if operation in self._graph_index.nodes and self._graph_index.nodes[operation].op in _UPDATES:
                    target = _root(self._graph_index, node_of(self._graph_index.nodes[operation].input[0]))
                    if target is not None:
                        found[target] = operation
        restoring = {entry.operation for entry in self._restoring.values()}
        filling = {f"{fill}/assign" for fill in self._fills.values()}
        candidates: dict[str, list[str]] = {}
        for node in self._graph_index.graph_def.node:
            if node.op in ("Assign", "AssignVariableOp") and node.name not in restoring | filling:
                if target := _root(self._graph_index, node_of(node.input[0])):
                    candidates.setdefault(target, []).append(node.name)
        for target, operations in candidates.items():
            own = [name for name in operations if name in (f"{target}/Assign", f"{target}/assign")]
            if target not in found and (own or len(operations) == 1):
                found[target] = (own or operations)[0]
        return found

    @functools.cached_property
    def _local(self) -> set[str]:
        """The variables that programs initialize anew each time, such as the counters of metrics."""
        return {node_of(definition.variable_name) for definition in self._variable_defs(("local_variables",))}

    def _variable_defs(self, collections: Sequence[str]) -> list[Any]:
        meta = self._artifact.meta_graph
        found = []
        for name in collections if meta is not None else ():
            if name not in meta.collection_def:
                continue
            for raw in meta.collection_def[name].bytes_list.value:
                definition = private.variable_pb2.VariableDef()
                try:
                    definition.ParseFromString(raw)
                except Exception as error:  # DecodeError of whichever protobuf is installed
                    raise ModelFileError(
                        f"the collection {name!r} of {self._artifact.path} cannot be parsed: {error}",
                        where="load()",
                        next_step="The file may be incomplete: compare its size with the original's.",
                        path=self._artifact.path,
                    ) from error
                found.append(definition)
        return found

    @functools.cached_property
    def _table_initializers(self) -> dict[str, list[str]]:
        restoring = {entry.operation for entry in self._restoring.values()}
        found: dict[str, list[str]] = {}
        for node in self._graph_index.graph_def.node:
            if node.op in _TABLE_INITIALIZERS and node.name not in restoring and node.input:
                if target := _root(self._graph_index, node_of(node.input[0])):
                    found.setdefault(target, []).append(node.name)
        return found


def _fits(expected: Sequence[int], found: Sequence[int]) -> bool:
    return len(expected) == len(found) and all(a in (-1, b) for a, b in zip(expected, found, strict=True))


def _groups(items: Sequence[Any], size_of: Any) -> list[list[Any]]:
    """``items`` in groups that are set at once."""
    groups: list[list[Any]] = []
    total = 0
    for item in items:
        size = size_of(item)
        if not groups or total + size > _AT_ONCE_BYTES:
            groups.append([])
            total = 0
        groups[-1].append(item)
        total += size
    return groups
