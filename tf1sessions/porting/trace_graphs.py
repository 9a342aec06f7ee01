"""The graphs of two traces side by side: what the program built otherwise, and what TensorFlow made of it otherwise.

Operations belong together that have one name. TensorFlow 2 makes of the same call other operations than TensorFlow 1
(``AddV2``, a condition instead of a product, other gradients): those are not the program's. What is: another type that
is no newer form of the first, another constant, attribute or input, and an operation that one side alone has, unless
it is of a type with which TensorFlow's own functions were seen to differ and the other side has the line that made it.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.models.graph_index import node_of
from tf1sessions.porting import recorder
from tf1sessions.porting.traces import CallKind, ProgramLine, Trace
from tf1sessions.runtime import tf

__all__ = ["GraphChange", "GraphLacking", "Node", "TraceGraph", "changes", "counts_part"]

#: Where among its inputs an operation takes its two seeds.
_SEED_INPUTS = {
    "ShuffleDataset": 2,
    "ShuffleDatasetV3": 2,
    "ShuffleAndRepeatDataset": 2,
    "ShuffleAndRepeatDatasetV2": 2,
    "RandomDataset": 0,
    "SamplingDataset": 2,
    "AnonymousRandomSeedGenerator": 0,
    "AnonymousSeedGenerator": 0,
}
#: Holders of state: what is read from them was put there by other operations.
_HOLDERS = re.compile(r"Variable|VarHandle|Queue|Iterator|Table|TensorArray|Stack|Barrier|Accumulator|Stage|Reader")
_WRITERS = re.compile(r"Assign|Scatter|Apply")
_GRADIENT = re.compile(r"(^|/)gradients(_\d+)?/")
#: Types of operations of which TensorFlow's functions of 2.21 make more or fewer than those of 1.15.5; measured on the
#: graphs of the examples and of tests/golden.
_GLUE = frozenset(
    """
    Add AddN Sub Mul RealDiv Cast Const Identity IdentityN NoOp Shape ShapeN Size Rank Range Reshape Pack Concat
    IsFinite TensorArraySize
    StridedSlice Slice ExpandDims Squeeze Fill ZerosLike OnesLike Select GreaterEqual Greater Less Equal NotEqual
    LogicalAnd LogicalOr LogicalNot Assert Switch Merge Enter Exit NextIteration Transpose Prod Maximum Minimum
    BroadcastGradientArgs BroadcastTo Tile Floor FloorDiv FloorMod VariableV2 VarHandleOp ReadVariableOp
    AssignVariableOp Assign VarIsInitializedOp IsVariableInitialized OptionalDataset ModelDataset OptimizeDataset
    OptionsDataset Where StopGradient Snapshot
    """.split()
)
#: What says nothing about what is computed.
_NO_MATTER = re.compile(
    r"_.*|T|T\w+|dtype_out|seed2?|shared_name|container|use_locking|validate_shape|output_shapes|shape|shapes|"
    r"use_cudnn_on_gpu|parallel_iterations|explicit_paddings|out_type|value|metadata|N|dtypes|component_types|"
    r"output_types|allowed_devices|debug_name|validate_indices|element_shape|grad_[ab]|bad_indices_policy|"
    r"swap_memory|replicate_on_split|exponential_avg_factor|capacity|Index"
)


@dataclasses.dataclass(frozen=True)
class Node:
    """An operation of a graph, or of a function that the graph calls.

    Attributes:
        name: Its own; inside of a function after the operation and the attribute that call it.
        op: Its type.
        inputs: The operations that it takes values of, those that it waits for not among them.
        tensors: The same, as its NodeDef names them.
        waits: Those that it waits for.
        attrs: As in its NodeDef.
        index: How many operations were made before it.
        place: Where the program made it, the outermost line first.
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    tensors: tuple[str, ...]
    waits: tuple[str, ...]
    attrs: Mapping[str, Any]
    index: int
    place: tuple[ProgramLine, ...]

    @property
    def line(self) -> ProgramLine | None:
        """The program's line that made it."""
        return self.place[-1] if self.place else None

    @property
    def rounds(self) -> bool:
        """Whether it is about floating-point numbers, as far as its attributes show."""
        return any(tf.as_dtype(each.type).is_floating for each in self.attrs.values() if each.type)

    @property
    def known(self) -> str:
        """Its type, whichever version of it."""
        return re.sub(r"V\d+$", "", self.op)


class GraphLacking(Exception):
    """A trace has no such graph."""


class TraceGraph:
    """A graph of a trace.

    Raises:
        GraphLacking: The trace has no such graph, or not its GraphDef.
    """

    def __init__(self, trace: Trace, number: int) -> None:
        data = trace.graph_def(number) if number in trace.graphs else None
        if data is None:
            raise GraphLacking(number)
        try:
            graph_def = tf.GraphDef.FromString(data)
        except Exception as error:  # protobuf's own DecodeError
            raise trace.damaged(f"is damaged: graph.{number} is no graph: {error}") from error
        self.seed = trace.graphs[number].get("seed")
        self.counts: Mapping[str, int] = trace.graphs[number].get("counts", {})
        self._functions = {each.signature.name: each for each in graph_def.library.function}
        self.nodes: dict[str, Node] = {}
        self._inside: dict[str, list[str]] = {}
        places = trace.places(number) or [()] * len(graph_def.node)
        if len(places) != len(graph_def.node):
            raise trace.damaged(f"is damaged: graph.{number}.places has not one for each of its nodes")
        for index, (node, place) in enumerate(zip(graph_def.node, places, strict=True)):
            self._add(node, node.name, {}, (index, place), ())
        self._written: dict[int, set[str]] = {}
        self._lines = {number for lines in trace.sources.values() for number in lines}

    def _add(
        self, node: Any, name: str, names: Mapping[str, str], made: tuple[Any, ...], callers: tuple[str, ...]
    ) -> None:
        """Adds a node, and what is in the functions that it calls.

        Args:
            node: A NodeDef.
            name: What it is called here.
            names: What the nodes of its function are called here; empty in the graph itself.
            made: Its index and its place.
            callers: The functions around it: one that calls itself is not followed.
        """

        def known(entry: str) -> str:
            source = node_of(entry) if not names else entry.removeprefix("^").partition(":")[0]
            return names.get(source, source)

        inputs = tuple(known(each) for each in node.input if not each.startswith("^"))
        waits = tuple(known(each) for each in node.input if each.startswith("^"))
        tensors = tuple(each for each in node.input if not each.startswith("^"))
        self.nodes[name] = Node(name, node.op, inputs, tensors, waits, node.attr, *made)
        for attr in sorted(node.attr):
            called = node.attr[attr].func.name
            if called in self._functions and called not in callers:
                body = self._functions[called].node_def
                inner = _inner_names(f"{name}/{attr}", body)
                self._inside.setdefault(name, []).extend(inner.values())
                for each in body:
                    self._add(each, inner[each.name], inner, made, (*callers, called))

    def inside(self, name: str) -> list[str]:
        """Return what is in the functions that an operation calls."""
        return self._inside.get(name, [])

    @functools.cached_property
    def top(self) -> list[Node]:
        """The operations of the graph itself, in the order in which they were made."""
        return list({node.index: node for node in reversed(self.nodes.values())}.values())[::-1]

    def counted(self, name: str) -> int:
        """Return how many operations TensorFlow 1 would have made before this one, as far as that is counted."""
        return self.counts.get(name, self.nodes[name].index)

    @functools.cached_property
    def consumers(self) -> dict[str, list[str]]:
        """Operation → those that take what it gives."""
        found: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for each in node.inputs:
                found.setdefault(each, []).append(node.name)
        return found

    def ran(self, kinds: Iterable[CallKind]) -> set[str]:
        """The operations that calls of some kinds need."""
        wanted = [name for kind in kinds for name in (*kind.fetches, *kind.targets, *kind.extras)]
        return self._closure(map(node_of, wanted), None)

    def upstream(self, names: Iterable[str], ran: Collection[str]) -> set[str]:
        """The operations on which values rest, with those that changed, in calls that ran ``ran``, what they read."""
        return self._closure(names, ran)

    def _closure(self, names: Iterable[str], ran: Collection[str] | None) -> set[str]:
        found: set[str] = set()
        ahead = list(names)
        while ahead:
            name = ahead.pop()
            node = self.nodes.get(name)
            if node is None or name in found:
                continue
            found.add(name)
            ahead += [*node.inputs, *node.waits, *self.inside(name)]
            if ran is not None and not node.inputs and _HOLDERS.search(node.op):
                writes = _WRITERS.search if node.op.startswith("Var") else _HOLDERS.search
                ahead += [each for each in self.consumers.get(name, ()) if each in ran and writes(self.nodes[each].op)]
        return found

    def variable(self, name: str) -> str | None:
        """The variable that an operation reads as a reference, or is; None where it does neither."""
        node: Node | None = self.nodes.get(name)
        while node is not None and node.op == "Identity":
            node = self.nodes.get(node.inputs[0])
        return node.name if node is not None and node.op in ("VariableV2", "Variable") else None

    def writes(self, kind: CallKind, variable: str) -> bool:
        """Whether calls of a kind change a variable."""
        if kind.number not in self._written:
            ran = map(self.nodes.__getitem__, self.ran([kind]))
            changing = [node for node in ran if _WRITERS.search(node.op) and node.inputs]
            self._written[kind.number] = {node.inputs[0] for node in changing}
        return variable in self._written[kind.number]

    def seeds(self, name: str) -> tuple[int, int] | None:
        """The two seeds of an operation that draws; None where it takes none, or they are computed."""
        node = self.nodes[name]
        if "seed" in node.attrs and "seed2" in node.attrs:
            return int(node.attrs["seed"].i), int(node.attrs["seed2"].i)
        at = _SEED_INPUTS.get(node.op)
        if at is None or len(node.inputs) < at + 2:
            return None
        pair = [self.constant(self._seed_source(each)) for each in node.inputs[at : at + 2]]
        return None if any(each is None for each in pair) else (int(pair[0]), int(pair[1]))

    def _seed_source(self, name: str) -> str:
        """The constant that a data set's seed is: where both were 0, TensorFlow selects another for the second."""
        while (node := self.nodes.get(name)) is not None and node.op in ("Select", "SelectV2", "Identity", "Cast"):
            name = node.inputs[-1]
        return name

    def draws(self, names: Iterable[str]) -> list[str]:
        """Return the draws of some operations, in the order in which they were made."""
        return [name for name in self.ordered(names) if self.seeds(name) is not None]

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Operations in the order in which they were made."""
        return sorted((name for name in names if name in self.nodes), key=lambda name: self.nodes[name].index)

    def constant(self, name: str) -> Any:
        """The array that an operation is, or None."""
        node = self.nodes.get(name)
        if node is None or node.op != "Const":
            return None
        return tf.make_ndarray(node.attrs["value"].tensor)

    @functools.cached_property
    def seed_constants(self) -> set[str]:
        """The constants that are seeds."""
        found: set[str] = set()
        for node in self.nodes.values():
            if (at := _SEED_INPUTS.get(node.op)) is not None:
                found.update(map(self._seed_source, node.inputs[at : at + 2]))
        return found

    def has_line(self, place: ProgramLine) -> bool:
        """Whether a line of the program, as it reads, is in this program, too."""
        unsure = place.installed or len(place.text) >= recorder._LONGEST_LINE or "\ufffd" in place.text
        return not self._lines or unsure or zlib.crc32(place.text.encode("utf-8")) in self._lines


def _inner_names(scope: str, body: Iterable[Any]) -> dict[str, str]:
    """Return a name for nodes of a function: without its scopes and versions, which each release has its own."""
    found: dict[str, str] = {}
    seen: dict[str, int] = {}
    for node in body:
        short = re.sub(r"V\d+(_\d+)?$", "", node.name.rpartition("/")[2])
        seen[short] = seen.get(short, 0) + 1
        found[node.name] = f"{scope}/{short}" + (f"_{seen[short]}" if seen[short] > 1 else "")
    return found


@dataclasses.dataclass(frozen=True)
class GraphChange:
    """Something that the program built otherwise.

    Attributes:
        name: The operation.
        text: What is otherwise.
        left, right: The lines of the program that made it there and here, where they are known.
        at: Where it is among the operations of the left side.
        of_tensorflow: Whether it may be TensorFlow's functions that make it otherwise; a new line is reported.
    """

    name: str
    text: str
    left: ProgramLine | None
    right: ProgramLine | None
    at: int
    of_tensorflow: bool = False


def changes(left: TraceGraph, right: TraceGraph, ours: Collection[str], theirs: Collection[str]) -> list[GraphChange]:
    """Return what the program built otherwise, of ``ours`` on the left and ``theirs`` on the right, in order."""
    ours, theirs = left.ordered(ours), right.ordered(theirs)  # also of several at one place the first one first
    found = [*_of_both(left, right, [name for name in ours if name in right.nodes])]
    for change in _of_one(left, right, [name for name in ours if name not in right.nodes]):
        found.append(dataclasses.replace(change, text=f"a {change.text} that only the recording has"))
    both = np.array([node.index for node in right.top if node.name in left.nodes])
    for change in _of_one(right, left, [name for name in theirs if name not in left.nodes]):
        before = int(np.searchsorted(both, change.at))  # so many of both sides were made before it
        at = left.nodes[right.top[both[before - 1]].name].index + 1 if before else 0
        text = f"a {change.text} that the recording has not"
        found.append(GraphChange(change.name, text, None, change.left, at, change.of_tensorflow))
    return sorted(found, key=lambda change: change.at)


def _of_both(left: TraceGraph, right: TraceGraph, names: Iterable[str]) -> Iterator[GraphChange]:
    for name in names:
        mine, theirs = left.nodes[name], right.nodes[name]
        if _GRADIENT.search(name) or name in left.seed_constants:
            continue
        text = _other(left, right, mine, theirs)
        if text is not None:
            yield GraphChange(name, text, mine.line, theirs.line, mine.index)


def _other(left: TraceGraph, right: TraceGraph, mine: Node, theirs: Node) -> str | None:
    if mine.known != theirs.known:
        glue = {mine.known, theirs.known} <= _GLUE and not _line_is_new(mine, right) and not _line_is_new(theirs, left)
        return None if glue else f"it was a {mine.op} and is a {theirs.op}"
    if mine.op == "Const":
        return _other_constant(left.constant(mine.name), right.constant(theirs.name))
    for attr in sorted({*mine.attrs} & {*theirs.attrs}):
        if not _NO_MATTER.fullmatch(attr) and mine.attrs[attr] != theirs.attrs[attr]:
            if mine.attrs[attr].WhichOneof("value") == "func":
                continue  # what is in the functions is compared for itself
            return f"{attr} was {_shown(mine.attrs[attr])} and is {_shown(theirs.attrs[attr])}"
    if len(mine.inputs) == len(theirs.inputs):
        turned = sorted(mine.inputs) == sorted(theirs.inputs)
        for was, now in zip(mine.inputs, theirs.inputs, strict=True):
            known = was in right.nodes and now in left.nodes
            if was != now and known and (turned or left.nodes[was].known == left.nodes[now].known):
                return f"it took {was} and takes {now}"
    return None


def _other_constant(was: Any, now: Any) -> str | None:
    if was is None or now is None:
        return None
    if was.dtype.kind in "OS" or now.dtype.kind in "OS":
        same = (was.shape == now.shape and (was == now).all()) or b"/" in b"".join(map(bytes, was.reshape(-1)))
    else:
        same = was.shape == now.shape and np.array_equal(was, now, equal_nan=was.dtype.kind in "fc")
    if same:
        return None
    if was.shape != now.shape:
        return f"it was a constant of shape {list(was.shape)} and is one of {list(now.shape)}"
    where = tuple(int(axis[0]) for axis in np.nonzero(was != now)) if was.ndim else ()
    at = f" at {list(where)}" if where else ""
    return f"it was the constant {was[where]!s} and is {now[where]!s}{at}"


def _of_one(side: TraceGraph, other: TraceGraph, names: Iterable[str]) -> Iterator[GraphChange]:
    """Yield what one side alone has: ``side``."""
    for name in names:
        node = side.nodes[name]
        if not _GRADIENT.search(name) and (node.known not in _GLUE or _line_is_new(node, other)):
            yield GraphChange(name, node.op, node.line, None, node.index, node.known in _GLUE)


def _line_is_new(node: Node, other: TraceGraph) -> bool:
    return any(not other.has_line(place) for place in node.place)


def _shown(value: Any) -> str:
    return " ".join(str(value).split())[:60]


def counts_part(left: TraceGraph, right: TraceGraph, drawn: str) -> list[str]:
    """Return where the numbers of operations made before an operation begin to differ, in sentences; none without.

    On the right counts are those of TensorFlow 1, where seeds follow them.
    """
    end = left.nodes[drawn].index
    last: Node | None = None
    after: Node | None = None
    for node in left.top:
        if node.index > end:
            break
        if node.name in right.nodes:
            same = right.counted(node.name) == node.index
            last, after = (node, None) if same else (last, after or node)
    if after is None:
        return []
    begin = last.index + 1 if last is not None else 0
    first = right.nodes[last.name].index + 1 if last is not None else 0
    ours = left.top[begin : after.index]
    theirs = right.top[first : right.nodes[after.name].index]
    names = {node.name for node in ours} & {node.name for node in theirs}
    ours, theirs = ([node for node in part if node.name not in names] for part in (ours, theirs))
    where = f"after {_named(last)}" if last is not None else "at the beginning"
    found = [f"the counts of operations part {where}"]
    if ours or theirs:
        found.append(f"there the recording makes {_several(ours)}, the script now {_several(theirs)}")
    offset = right.counted(after.name) - after.index
    more = f"{abs(offset)} {'more' if offset > 0 else 'fewer'}"
    found.append(f"at {_named(right.nodes[after.name])} it is {more} than the {after.index:,} of the recording")
    return found


def _several(nodes: Sequence[Node]) -> str:
    shown = ", ".join(_named(node) for node in nodes[:3])
    more = f" and {len(nodes) - 3} more" if len(nodes) > 3 else ""
    return f"{shown}{more}" if nodes else "none"


def _named(node: Node) -> str:
    return f"{node.name} ({node.op})" + (f" of {node.line}" if node.line is not None else "")
