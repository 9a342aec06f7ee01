"""The contents of a graph, read off it: variables, constants, loops, queues, readers, datasets, tables."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

from tf1sessions.errors import ModelFileError
from tf1sessions.models.files import Artifact, checkpoint_reader
from tf1sessions.models.flops import Shape
from tf1sessions.models.graph_index import GraphIndex, node_of
from tf1sessions.models.shapes import dims
from tf1sessions.runtime import private, tf

__all__ = [
    "CALLS",
    "CONSTANT_BYTES",
    "Constant",
    "ControlFlow",
    "LoopFrame",
    "Part",
    "Variable",
    "constants",
    "control_flow",
    "datasets",
    "dtype_name",
    "every_node",
    "queues",
    "readers",
    "tables",
    "variables",
]


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable of the graph.

    Attributes:
        name: Of its node.
        dtype, shape: As the graph has them; the shape from the checkpoint where the graph has none.
        bytes: Of its value; None where the shape is not known.
        kind: ``"ref"`` or ``"resource"``.
        trainable: Whether it is in the collection of trainable variables; None where the file has no collections.
        slice_of: The variable of which this is one part.
    """

    name: str
    dtype: str
    shape: Shape
    bytes: int | None
    kind: str
    trainable: bool | None = None
    slice_of: str | None = None


@dataclasses.dataclass(frozen=True)
class Constant:
    name: str
    dtype: str
    shape: Shape
    bytes: int


@dataclasses.dataclass(frozen=True)
class LoopFrame:
    """A loop of v1 control flow: a frame, and how many nodes are in it, those of loops inside it too."""

    frame: str
    nodes: int


@dataclasses.dataclass(frozen=True)
class ControlFlow:
    """Control flow of both kinds.

    Attributes:
        loops: The frames of v1 loops.
        conditions: How many tensors v1 conditions (Switch, outside of loops' own) are decided by.
        operations: How many there are of Switch, Merge, Enter and their kin, and of If, While and theirs.
    """

    loops: tuple[LoopFrame, ...]
    conditions: int
    operations: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Part:
    """A queue, reader, dataset or table: its node, its operation, and what else is known of it."""

    name: str
    op: str
    detail: str = ""


#: Constants from this size on are named and count as weights; smaller ones are sizes, axes and the like. Arbitrary.
CONSTANT_BYTES = 1024


# ------------------------------------------------------------------------------------------------------------ weights

_VARIABLES = {"Variable": "ref", "VariableV2": "ref", "AutoReloadVariable": "ref", "VarHandleOp": "resource"}


def variables(artifact: Artifact, notes: list[str]) -> tuple[Variable, ...]:
    """The variables of a graph, in its order. To ``notes`` goes why a shape was not found."""
    collected = _collected(artifact)
    found = []
    saved: Mapping[str, Sequence[int]] | None = None
    for node in artifact.graph_def.node:
        if node.op not in _VARIABLES:
            continue
        dtype = node.attr["dtype"].type
        shape = dims(node.attr["shape"].shape) if "shape" in node.attr else None
        definition, trainable = collected.get(node.name, (None, False if collected else None))
        slice_of = definition.save_slice_info_def.full_name or None if definition is not None else None
        if (shape is None or None in shape) and artifact.checkpoint is not None:
            if saved is None:
                saved = _saved_shapes(artifact.checkpoint, notes)
            if node.name in saved:
                shape = tuple(saved[node.name])
        size = _bytes(dtype, shape)
        found.append(Variable(node.name, dtype_name(dtype), shape, size, _VARIABLES[node.op], trainable, slice_of))
    return tuple(found)


def dtype_name(number: int) -> str:
    """The name of a dtype by its number in the file; "?" for one that there is not."""
    try:
        return str(tf.as_dtype(number).name)
    except TypeError:
        return "?"


def _bytes(dtype: int, shape: Shape) -> int | None:
    if shape is None or None in shape or dtype_name(dtype) == "?":
        return None
    return prod(size for size in shape if size is not None) * int(tf.as_dtype(dtype).size or 0)


def _collected(artifact: Artifact) -> dict[str, tuple[Any, bool]]:
    """Name of a variable's node -> its VariableDef, and whether it is trainable; by the collections of variables."""
    if artifact.meta_graph is None:
        return {}
    collections = artifact.meta_graph.collection_def
    found: dict[str, tuple[Any, bool]] = {}
    for key in ("variables", "local_variables", "model_variables", "trainable_variables"):
        for raw in collections[key].bytes_list.value if key in collections else ():
            definition = private.variable_pb2.VariableDef()
            try:
                definition.ParseFromString(raw)
            except Exception:  # DecodeError of whichever protobuf is installed: this is no variable
                continue
            found[node_of(definition.variable_name)] = (definition, key == "trainable_variables")
    return found


def _saved_shapes(checkpoint: str, notes: list[str]) -> Mapping[str, Sequence[int]]:
    try:
        shapes: Mapping[str, Sequence[int]] = checkpoint_reader(checkpoint).get_variable_to_shape_map()
    except ModelFileError as error:
        notes.append(str(error))
        return {}
    return shapes


def constants(artifact: Artifact) -> tuple[Constant, ...]:
    """The constants of :data:`CONSTANT_BYTES` and more, largest first; those in functions too."""
    found = []
    for name, node in every_node(artifact.graph_def):
        if node.op != "Const":
            continue
        tensor = node.attr["value"].tensor
        size = artifact.contents[name].length if name in artifact.contents else tensor.ByteSize()
        if size >= CONSTANT_BYTES:
            shape = dims(tensor.tensor_shape)
            found.append(Constant(name, dtype_name(tensor.dtype), shape, _bytes(tensor.dtype, shape) or size))
    return tuple(sorted(found, key=lambda each: (-each.bytes, each.name)))


def every_node(graph_def: Any) -> Iterable[tuple[str, Any]]:
    """The nodes of a graph, and those of its functions as ``function/node``."""
    for node in graph_def.node:
        yield node.name, node
    for function in graph_def.library.function:
        for node in function.node_def:
            yield f"{function.signature.name}/{node.name}", node


# ------------------------------------------------------------------------------------------------------- control flow

_V1_CONTROL = frozenset("Switch Merge Enter Exit NextIteration LoopCond".split())
#: Operations of v2 control flow, which call functions.
CALLS = frozenset(
    "If StatelessIf While StatelessWhile Case StatelessCase For PartitionedCall StatefulPartitionedCall".split()
)


def _base(op: str) -> str:
    """``RefSwitch`` -> ``Switch``."""
    return op[3:] if op.startswith("Ref") and op[3:] in _V1_CONTROL else op


def control_flow(graph_index: GraphIndex, graph_def: Any) -> tuple[ControlFlow, Mapping[str, tuple[str, ...]]]:
    """The control flow of a graph, and for each node in a loop the frames around it, outermost first.

    Args:
        graph_index: The graph as it is loaded.
        graph_def: The graph as the file has it, whose operations are counted.
    """
    loops, stacks = _loops(graph_index)
    return ControlFlow(loops, _conditions(graph_index), _control_operations(graph_def)), stacks


def _control_operations(graph_def: Any) -> dict[str, int]:
    kinds = Counter(node.op for _, node in every_node(graph_def))
    return {op: count for op, count in kinds.most_common() if _base(op) in _V1_CONTROL or op in CALLS}


def _loops(graph_index: GraphIndex) -> tuple[tuple[LoopFrame, ...], Mapping[str, tuple[str, ...]]]:
    """The frames of v1 loops, and for each node in one the frames around it, outermost first.

    All that comes into a node comes from the same frame, so one input decides.
    """
    readers: dict[str, list[str]] = {}
    for node in graph_index.graph_def.node:
        for entry in node.input:
            readers.setdefault(node_of(entry), []).append(node.name)
    inside: dict[str, tuple[str, ...]] = {node.name: () for node in graph_index.graph_def.node if not node.input}
    waiting = list(inside)
    for name in waiting:
        node = graph_index.nodes[name]
        frames = inside[name]
        if _base(node.op) == "Enter":
            frames = (*frames, node.attr["frame_name"].s.decode(errors="replace"))
        elif _base(node.op) == "Exit":
            frames = frames[:-1]
        for reader in readers.get(name, ()):
            if reader not in inside:
                inside[reader] = frames
                waiting.append(reader)
    stacks = {name: frames for name, frames in inside.items() if frames}
    counts = Counter(frame for frames in stacks.values() for frame in frames)
    return tuple(LoopFrame(frame, counts[frame]) for frame in sorted(counts)), stacks


def _conditions(graph_index: GraphIndex) -> int:
    """Count the tensors that decide v1 conditions: a predicate's own Switch, and those of loops, are not among them."""
    deciders = set()
    for node in graph_index.graph_def.node:
        if _base(node.op) != "Switch" or len(node.input) < 2 or node.input[0] == node.input[1]:
            continue
        decider = graph_index.nodes.get(node_of(node.input[1]))
        if decider is not None and decider.op != "LoopCond":
            deciders.add(decider.name)
    return len(deciders)


# ------------------------------------------------------------------------------------------- queues, readers, tables

_QUEUES = frozenset(
    f"{name}{version}"
    for name in ("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue", "Barrier", "FakeQueue")
    for version in ("", "V2")
)
_READERS = frozenset(
    f"{name}Reader{version}"
    for name in ("FixedLengthRecord", "Identity", "LMDB", "TFRecord", "TextLine", "WholeFile")
    for version in ("", "V2")
)
_TABLES = frozenset(
    """
    AnonymousHashTable AnonymousMutableDenseHashTable AnonymousMutableHashTable AnonymousMutableHashTableOfTensors
    HashTable HashTableV2 MutableDenseHashTable MutableDenseHashTableV2 MutableHashTable MutableHashTableOfTensors
    MutableHashTableOfTensorsV2 MutableHashTableV2
    """.split()
)
_ITERATORS = frozenset("AnonymousIterator AnonymousIteratorV2 Iterator IteratorV2 OneShotIterator".split())


def _types(node: Any) -> str:
    for attr in ("component_types", "output_types"):
        if attr in node.attr and node.attr[attr].list.type:
            return ", ".join(map(dtype_name, node.attr[attr].list.type))
    return ""


def _parts(graph_def: Any, ops: Iterable[str]) -> tuple[Part, ...]:
    wanted = set(ops)
    return tuple(Part(name, node.op, _types(node)) for name, node in every_node(graph_def) if node.op in wanted)


def queues(graph_def: Any) -> tuple[Part, ...]:
    return _parts(graph_def, _QUEUES)


def readers(graph_def: Any) -> tuple[Part, ...]:
    return _parts(graph_def, _READERS)


def datasets(graph_def: Any) -> tuple[Part, ...]:
    """Datasets and iterators: of the graph, and of the functions that one-shot iterators call."""
    return tuple(
        Part(name, node.op, _types(node))
        for name, node in every_node(graph_def)
        if node.op in _ITERATORS or node.op.rstrip("V0123456789").endswith("Dataset")
    )


def tables(artifact: Artifact) -> tuple[Part, ...]:
    """Tables, with what they map and the file that fills them."""
    files = {}
    nodes = {node.name: node for node in artifact.graph_def.node}
    for node in artifact.graph_def.node:
        if node.op.startswith("InitializeTable") and len(node.input) > 1:
            source = nodes.get(node_of(node.input[1]))
            values = source.attr["value"].tensor.string_val if source is not None and source.op == "Const" else ()
            if node.op.startswith("InitializeTableFromTextFile"):
                name = b"".join(values[:1]).decode(errors="replace") or node_of(node.input[1])
                files[node_of(node.input[0])] = f" from the file {name!r}"
    found = []
    for node in artifact.graph_def.node:
        if node.op in _TABLES:
            key, value = (dtype_name(node.attr[attr].type) for attr in ("key_dtype", "value_dtype"))
            found.append(Part(node.name, node.op, f"{key} to {value}{files.get(node.name, '')}"))
    return tuple(found)
