"""Inputs and outputs of a graph without a signature, guessed.

1. Data enters at placeholders, and where queues, readers and iterators give it.
2. Outputs are the ends of the inference graph: what depends on data and what nothing in the inference graph takes.
   Left out are gradients and optimizers, savers, initializers, summaries, assertions and what depends on shapes alone.
3. In a graph that is trained, outputs depend on a weight that is trained. The loss and its kin are left out: what
   depends on a label, and, backwards from there and from what the gradient was taken of, the arithmetic that losses are
   made of. What that arithmetic starts from is an output, as scores and logits are. A label is data that no weight
   meets, or that an operation calls so.
4. Where several losses train different variables (a generator and its critic), the output of each part is one.
5. Inputs are the data that the outputs need. A placeholder with a default is optional.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from tf1sessions.models.arguments import output_types
from tf1sessions.models.graph_index import GraphIndex, listed, node_of, tensor_name
from tf1sessions.models.upgrades.loose_ends import WAS
from tf1sessions.runtime import tf

__all__ = ["GRADIENTS", "OPTIMIZES", "PLACEHOLDERS", "SOURCES", "UPDATES", "Guess", "guess", "is_optional", "losses_of"]

PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})


@dataclasses.dataclass(frozen=True)
class Guess:
    """Tensors by name, and in sentences how they were found.

    Attributes:
        inputs, outputs: Names of tensors, in the order of the graph.
        notes: The sentences.
    """

    inputs: list[str]
    outputs: list[str]
    notes: tuple[str, ...]


def guess(graph_index: GraphIndex, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None) -> Guess:
    """Guesses what of ``inputs`` and ``outputs`` is not given, as the module says.

    Args:
        graph_index: The graph.
        inputs: Names of tensors to feed, instead of the placeholders.
        outputs: Names of tensors to give, instead of the ends.
    """
    notes: list[str] = []
    given = None if inputs is None else [tensor_name(name) for name in inputs]
    inference = _Inference(graph_index, given)
    if outputs is None:
        ends = inference.ends()
        found = [tensor for name in ends for tensor in _results(graph_index.nodes[name])]
        if labels := inference.labels_of(ends):
            notes.append(f"taken for labels, and left out with what depends on them: {_listed(graph_index, labels)}")
        if found:
            notes.append(f"outputs are the ends of the inference graph: {listed(ends, most=8)}")
    else:
        found = [tensor_name(name) for name in outputs]
    if given is None:
        given = _needed_data(graph_index, found, inference.data)
        fed = [tensor for tensor in given if _is_placeholder(graph_index.nodes[node_of(tensor)])]
        brought = [tensor for tensor in given if tensor not in fed]
        if fed:
            notes.append(f"inputs are the placeholders that they need: {_listed(graph_index, fed)}")
        if brought:
            notes.append(f"inputs are what queues, readers and iterators give: {_listed(graph_index, brought)}")
    return Guess(given, found, tuple(notes))


def is_optional(graph_index: GraphIndex, tensor: str) -> bool:
    """Whether a tensor has a value if nobody feeds it: one that does not come out of a queue or an iterator."""
    node = graph_index.nodes.get(node_of(tensor))
    if node is None or node.op != "PlaceholderWithDefault":
        return False
    return not any(graph_index.nodes[name].op in SOURCES for name in graph_index.ancestors([node.name], control=False))


# ------------------------------------------------------------------------------------------------ kinds of operations

#: Operations that bring data from outside.
SOURCES = frozenset(
    "QueueDequeue QueueDequeueMany QueueDequeueUpTo QueueDequeueV2 QueueDequeueManyV2 QueueDequeueUpToV2 "
    "IteratorGetNext IteratorGetNextSync IteratorGetNextAsOptional ReaderRead ReaderReadV2 ReaderReadUpTo "
    "ReaderReadUpToV2 Unstage StagePeek".split()
)
#: What changes a variable: none of it is inference.
UPDATES = re.compile(
    r"^(Assign|AssignAdd|AssignSub|AssignVariableOp|AssignAddVariableOp|AssignSubVariableOp|CountUpTo|"
    r"(Resource)?(Sparse)?Apply\w+|(Resource)?Scatter(Nd)?(Add|Sub|Update|Mul|Div|Min|Max)\w*|AccumulatorApplyGradient|"
    r"TakeManySparseFromTensorsMap)$"
)
#: What applies a gradient.
OPTIMIZES = re.compile(r"^(Resource)?(Sparse)?Apply\w+$")
#: What is run for its effect.
_EFFECTS = re.compile(
    r"^(NoOp|Assert|Print|PrintV2|Save\w*|Restore\w*|MergeV2Checkpoints|ShardedFilename\w*|WriteFile|Delete\w*|"
    r"InitializeTable\w*|LookupTable(Import|Insert)\w*|Queue(Enqueue|Close)\w*|IsVariableInitialized|"
    r"VarIsInitializedOp|ReportUninitialized\w*|\w*Summary(V2)?|MakeIterator|DestroyResourceOp|"
    r"Stage|Stack(Push|Close)(V2)?|TensorArrayClose(V\d)?)$"
)
#: What keeps a result for another time.
_KEEPS = re.compile(UPDATES.pattern + r"|^(Queue\w*|Stage)$")
_REPORTS = re.compile(r"^(Assert|\w*Summary(V2)?)$")
_SAVING = re.compile(r"^(Save(Slices|V2)?|Restore(Slice|V2)?|MergeV2Checkpoints|ShardedFilename)$")
#: The scope that ``tf.gradients`` makes its operations in.
GRADIENTS = re.compile(r"(^|/)gradients(_\d+)?(/|$)")
_WEIGHTS = frozenset({"Variable", "VariableV2", "VarHandleOp", "TemporaryVariable", "AutoReloadVariable"})
_SHAPES = frozenset({"Shape", "ShapeN", "Size", "Rank"})
#: Operations whose result is still "the weight" or "the input" itself.
_PASSES = frozenset(
    "Identity ReadVariableOp Enter RefEnter Switch RefSwitch Cast Reshape Transpose ExpandDims Squeeze Snapshot "
    "StopGradient ConcatV2 Concat Split".split()
)
#: Operations that losses, metrics, summaries and assertions are made of, where no weight is their argument.
_ARITHMETIC = frozenset(
    "Add AddV2 AddN Sub Mul Div RealDiv DivNoNan FloorDiv Mod Pow Sqrt Rsqrt Square SquaredDifference Exp Log Log1p "
    "Neg Abs Sign Maximum Minimum ClipByValue Mean Sum Prod Max Min L2Loss Cast Identity Reshape Squeeze ExpandDims "
    "Slice StridedSlice Transpose Pack Unpack Concat ConcatV2 Split SplitV Tile Gather GatherV2 GatherNd Select "
    "SelectV2 Equal NotEqual Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalNot All Any IsNan IsInf "
    "IsFinite StopGradient ZerosLike OnesLike Fill OneHot Range Switch SoftmaxCrossEntropyWithLogits "
    "SparseSoftmaxCrossEntropyWithLogits CTCLoss Dequantize PreventGradient CheckNumerics InvertPermutation "
    "Pad PadV2 MirrorPad".split()
)
#: Operations that choose: what they choose from is worth as much as the choice.
_CHOOSES = frozenset("ArgMax ArgMin TopK TopKV2 Round Rint Multinomial CTCGreedyDecoder CTCBeamSearchDecoder".split())
#: Names that losses and measures have.
_LOSS_WORDS = re.compile(
    r"loss|cost|error|entropy|accura|correct|penalty|metric|(^|[/_])(err|kl|mse|mae|xent|nll|elbo)([/_]|$)", re.I
)
#: What measures end with.
_MEASURES = frozenset("Mean Sum Max Min AddN DivNoNan".split())
#: Operations whose other results are not meant for callers.
_FIRST_ONLY = re.compile(r"^(Merge|FusedBatchNorm(V\d)?|(Sparse)?SoftmaxCrossEntropyWithLogits)$")


def _results(node: Any) -> list[str]:
    count = 1 if _FIRST_ONLY.match(node.op) else len(output_types(node))
    return [f"{node.name}:{index}" for index in range(count)]


def _is_placeholder(node: Any) -> bool:
    return node is not None and node.op in PLACEHOLDERS


# -------------------------------------------------------------------------------------------------- what is inference


class _Inference:
    """The inference graph of a graph: what depends on data and is neither training, saving nor reporting.

    Attributes:
        data: The tensors at which data enters.
    """

    def __init__(self, graph_index: GraphIndex, given: Sequence[str] | None) -> None:
        self._graph_index = graph_index
        self._order = {node.name: index for index, node in enumerate(graph_index.graph_def.node)}
        self._training = _Training(graph_index)
        self.data = list(given) if given is not None else self._entries()
        self._labels = self._found_labels() if self._training.found and given is None else []

    def _entries(self) -> list[str]:
        entries = []
        for node in self._graph_index.graph_def.node:
            if node.op in SOURCES or (_is_placeholder(node) and not _names_a_file(self._graph_index, node)):
                entries += [f"{node.name}:{index}" for index in range(len(output_types(node)))]
        return entries

    def _inside(self, node: Any) -> bool:
        if UPDATES.match(node.op) or _EFFECTS.match(node.op) or node.op in _SHAPES or WAS in node.attr:
            return False
        return not (self._training.found and GRADIENTS.search(node.name))

    def _behind(self, tensors: Collection[str]) -> set[str]:
        """The nodes of the inference graph that depend on these tensors."""
        first = [
            taker.name
            for tensor in tensors
            for taker, entry in self._graph_index.consumers.get(node_of(tensor), ())
            if not entry.startswith("^") and tensor_name(entry) == tensor and self._inside(taker)
        ]
        return self._graph_index.descendants(first, self._inside)

    def _takers(self, name: str) -> list[Any]:
        return [taker for taker, entry in self._graph_index.consumers.get(name, ()) if not entry.startswith("^")]

    @functools.cached_property
    def _weights(self) -> set[str]:
        """The variables that are trained, and what passes them on as they are."""
        variables = set().union(*self._training.parts)
        return self._graph_index.descendants(variables, lambda node: node.op in _PASSES and self._inside(node))

    def _takes_a_weight(self, node: Any) -> bool:
        return any(node_of(entry) in self._weights for entry in node.input if not entry.startswith("^"))

    # ------------------------------------------------------------------------------------------------------- labels

    def _found_labels(self) -> list[str]:
        """The data that no weight meets, or that a sampler takes for the true classes; if other data is left then."""
        behind = {tensor: self._behind([tensor]) for tensor in self.data}
        labels = [
            tensor
            for tensor, reached in behind.items()
            if self._is_sampled(tensor)
            or (
                not _is_setting(self._graph_index.nodes[node_of(tensor)])
                and not any(self._takes_a_weight(self._graph_index.nodes[name]) for name in reached)
            )
        ]
        return labels if any(behind[tensor] for tensor in self.data if tensor not in labels) else []

    def _is_sampled(self, tensor: str) -> bool:
        """Whether a candidate sampler takes a tensor for the true classes."""
        passed = self._graph_index.descendants([node_of(tensor)], lambda node: node.op in _PASSES)
        return any(
            taker.op.endswith("CandidateSampler")
            for name in passed
            for taker in self._takers(name)
            if name != node_of(tensor) or tensor in map(tensor_name, taker.input)
        )

    def labels_of(self, ends: Collection[str]) -> list[str]:
        """The labels: those that something meets, not what leads nowhere."""
        others = self._behind([tensor for tensor in self.data if tensor not in self._labels]) if ends else set()
        return [tensor for tensor in self._labels if self._behind([tensor]) & others]

    # --------------------------------------------------------------------------------------------------------- ends

    def ends(self) -> list[str]:
        """The nodes whose results the graph is there for, in its order."""
        learned = self._graph_index.descendants(set().union(*self._training.parts), self._inside) - self._weights
        region = self._behind([tensor for tensor in self.data if tensor not in self._labels])
        region -= self._behind(self._labels)
        found = self._ends_within(region & learned or region)
        if not found and learned:  # what is trained needs no data: a policy without a state
            found = self._ends_within(learned - self._behind(self.data))
        return sorted(found, key=self._order.__getitem__)

    def _ends_within(self, region: set[str]) -> set[str]:
        entries = {node_of(tensor) for tensor in self.data}
        region = {name for name in region - entries if output_types(self._graph_index.nodes[name])}
        losses = self._graph_index.descendants(self._training.losses, self._inside)
        found = self._ends_of(region, losses)
        parts = [self._graph_index.descendants(variables, self._inside) for variables in self._training.apart]
        shared = {name for name in region if sum(name in part for part in parts) > 1}
        if shared:
            own = self._ends_of(region, losses | shared)
            found = own if all(part & own for part in parts) else found | own
        found = {name for name in found if not GRADIENTS.search(name)} or found
        return {name for name in found if not _of_a_loop(self._graph_index, name)} or found

    def _ends_of(self, region: set[str], losses: set[str]) -> set[str]:
        """The ends of ``region`` without ``losses``, and without what is there for losses and reports alone."""
        nodes = self._graph_index.nodes
        kept = region - losses
        aside: set[str] = set()  # what is there for updates and reports alone
        queue = sorted(kept, key=self._order.__getitem__)
        while queue:
            name = queue.pop()
            takers = self._takers(name)
            if name not in kept or any(taker.name in kept for taker in takers):
                continue
            if any(_KEEPS.match(taker.op) for taker in takers) or self._is_aside(nodes[name], takers, aside):
                aside.add(name)
            elif not self._is_means(nodes[name], takers):
                continue
            kept.discard(name)
            queue += [node_of(entry) for entry in nodes[name].input if not entry.startswith("^")]
        ends = {name for name in kept if not any(taker.name in kept for taker in self._takers(name))} - self._branches
        # What building a network leaves beside what it is there for is none.
        ends = {name for name in ends if not self._is_beside(nodes[name])} or ends
        if self._training.found:  # what is chosen from is as good as the choice
            ends |= self._chosen_from([nodes[name] for name in ends if nodes[name].op in _CHOOSES]) & kept
        return ends

    def _chosen_from(self, choices: Iterable[Any]) -> set[str]:
        """Return what these nodes choose from, back before what is computed for the choice alone."""
        nodes = self._graph_index.nodes
        found: set[str] = set()
        queue = [node_of(node.input[0]) for node in choices if node.input]
        while queue:
            name = queue.pop()
            if name not in nodes:
                continue
            alone = sum(map(self._inside, self._takers(name))) == 1
            if alone and self._is_plumbing(nodes[name]):
                queue += [node_of(entry) for entry in nodes[name].input if not entry.startswith("^")]
            else:
                found.add(name)
        return found

    @functools.cached_property
    def _branches(self) -> set[str]:
        """The nodes inside of loops and branches, where they cannot be fetched."""
        nodes = self._graph_index.graph_def.node
        enters = [node.name for node in nodes if node.op in ("Enter", "RefEnter")]
        switches = [node.name for node in nodes if node.op in ("Switch", "RefSwitch")]
        leaves = {"Exit", "RefExit"}
        return self._graph_index.descendants(
            enters, lambda node: node.op not in leaves
        ) | self._graph_index.descendants(switches, lambda node: node.op not in leaves | {"Merge", "RefMerge"})

    def _is_beside(self, node: Any) -> bool:
        """Whether a node is a by-product that nothing takes: of training, or numbers of rows and steps."""
        if any(self._inside(taker) for taker in self._takers(node.name)):
            return False
        if node.op in ("Exit", "Merge"):  # of a loop or a branch, another result of which is used
            return self._training.found and (node.op, node.name.rpartition("/")[0]) in self._used_branches
        counts = output_types(node)[0] in (tf.int32, tf.bool)
        return self._is_plumbing(node) and (self._training.found or counts)

    @functools.cached_property
    def _used_branches(self) -> set[tuple[str, str]]:
        """The scopes of loops (Exit) and branches (Merge) of which a result is used."""
        return {
            (node.op, node.name.rpartition("/")[0])
            for node in self._graph_index.graph_def.node
            if node.op in ("Exit", "Merge") and any(map(self._inside, self._takers(node.name)))
        }

    def _is_aside(self, node: Any, takers: Sequence[Any], aside: set[str]) -> bool:
        """Whether a node only helps to compute an update or a report."""
        if not takers or not (node.op in _ARITHMETIC or node.op == "Merge"):
            return False
        return all(taker.name in aside or _REPORTS.match(taker.op) or not self._inside(taker) for taker in takers)

    def _is_plumbing(self, node: Any) -> bool:
        """Whether a node only rearranges what others computed, and nobody gave it a name."""
        return node.op in _ARITHMETIC and not self._takes_a_weight(node) and not _is_named(node)

    def _is_means(self, node: Any, takers: Sequence[Any]) -> bool:
        """Whether a node that no inference takes is the means to something else: a loss, a measure, a shape."""
        if _is_left_over(self._graph_index, node):
            return True
        if takers and node.op in _CHOOSES:
            return not _is_named(node)
        arithmetic = node.op in (_ARITHMETIC if takers else _MEASURES if self._training.found else ())
        return arithmetic and not self._takes_a_weight(node) and not _is_named(node)


class _Training:
    """The training of a graph: which gradients of what change which variables.

    Attributes:
        found: Whether it is.
        losses: What the gradients were taken of.
        parts: Variables that are trained together, for one loss.
        apart: The same where several losses train different variables, without those that two of them have.
    """

    def __init__(self, graph_index: GraphIndex) -> None:
        losses = {scope: _differentiated(graph_index, scope, made) for scope, made in _gradients(graph_index).items()}
        by_loss: dict[frozenset[str], frozenset[str]] = {}
        for scope, made in _gradients(graph_index).items():
            reached = _changing(graph_index, made)
            if any(reached & other for other in losses.values()):  # a gradient that a loss is made of
                continue
            if variables := _trained(graph_index, (graph_index.nodes[name] for name in reached)):
                by_loss[losses[scope]] = by_loss.get(losses[scope], frozenset()) | variables
        if not by_loss and (variables := _trained(graph_index, graph_index.graph_def.node, OPTIMIZES)):
            by_loss[frozenset()] = variables
        self.losses = frozenset[str]().union(*by_loss)
        self.parts = list(dict.fromkeys(by_loss.values()))
        self.found = bool(self.parts)
        # A part within another is a stage of it.
        apart = [part.difference(*(other for other in self.parts if other < part)) for part in self.parts]
        shared = {name for name in set().union(*apart) if sum(name in part for part in apart) > 1}
        self.apart = [part - shared for part in apart if part - shared]


def losses_of(graph_index: GraphIndex, operations: Iterable[str]) -> list[str]:
    """The nodes whose gradients these operations apply, by their names: the losses of a train operation.

    A sum of losses has no node in the gradients itself, as they pass through it unchanged: then it is the first node
    that all of them lead to.
    """
    needed = graph_index.ancestors(operations)
    scopes = {scope: made for scope, made in _gradients(graph_index).items() if needed.intersection(made)}
    of_gradients = {name for made in _gradients(graph_index).values() for name in made}
    losses = {scope: _differentiated(graph_index, scope, made) for scope, made in scopes.items()}
    found: set[str] = set()
    for scope, ends in losses.items():
        others = frozenset[str]().union(*(reached for other, reached in losses.items() if other != scope))
        if _changing(graph_index, scopes[scope]) & others:  # a gradient that a loss is made of
            continue
        if len(ends) > 1:
            common = set.intersection(*(graph_index.descendants([end]) for end in ends)) - of_gradients
            ends = frozenset(name for name in common if not common.intersection(graph_index.ancestors([name]) - {name}))
        found |= ends
    return sorted(found)


def _gradients(graph_index: GraphIndex) -> dict[str, list[str]]:
    """The scopes of ``tf.gradients``, each with the names of its nodes."""
    found: dict[str, list[str]] = {}
    for name in graph_index.nodes:
        if match := GRADIENTS.search(name):
            found.setdefault(name[: match.end()].rstrip("/"), []).append(name)
    return found


def _changing(graph_index: GraphIndex, made: Iterable[str]) -> set[str]:
    """Return what depends on gradients, also by way of a variable that is written first and read then."""
    reached: set[str] = set()
    queue = list(made)
    while queue:
        new = graph_index.descendants(queue) - reached
        reached |= new
        queue = [
            taker.name
            for name in new
            if UPDATES.match(graph_index.nodes[name].op)
            for taker, entry in graph_index.consumers[name]
            if entry.startswith("^") and taker.op == "ReadVariableOp"
        ]
    return reached


def _differentiated(graph_index: GraphIndex, scope: str, made: Iterable[str]) -> frozenset[str]:
    """Return the nodes whose gradients are ``made``. They are named ``scope/<name>_grad/...``."""
    forward: set[str] = set()
    for name in made:
        parts = name[len(scope) + 1 :].split("/")
        for end in [end for end, part in enumerate(parts, 1) if part.endswith("_grad")]:
            taken = "/".join(parts[:end])[: -len("_grad")]
            nested = taken.removeprefix("gradients/")  # Keras has one scope within another
            forward |= {taken if taken in graph_index.nodes else nested}
    forward &= graph_index.nodes.keys()
    sources = [
        node_of(entry) for name in forward for entry in graph_index.nodes[name].input if not entry.startswith("^")
    ]
    found = forward - graph_index.ancestors(sources, control=False)
    return frozenset(
        name for name in found if graph_index.nodes[name].op != "Exit"
    )  # the gradient of a last state is zero


def _trained(graph_index: GraphIndex, nodes: Iterable[Any], kind: re.Pattern[str] | None = None) -> frozenset[str]:
    """The variables that these nodes change."""
    changed = [node_of(node.input[0]) for node in nodes if (kind or UPDATES).match(node.op) and node.input]
    found: set[str] = set()
    seen: set[str] = set()
    while changed:
        node = graph_index.nodes.get(changed.pop())
        if node is None or node.name in seen:
            continue
        seen.add(node.name)
        if node.op in _WEIGHTS:
            found.add(node.name)
        elif node.op in _PASSES:
            changed += [node_of(entry) for entry in node.input if not entry.startswith("^")]
    return frozenset(found)


def _is_named(node: Any) -> bool:
    """Whether a node was given a name of its own, and not that of a loss or a measure."""
    last = re.sub(r"_\d+$", "", node.name.rpartition("/")[2]).lower()
    usual = re.sub(r"V\d$", "", node.op).lower()
    return last.replace("_", "") not in {usual, *_USUAL_NAMES.get(usual, ())} and not _LOSS_WORDS.search(node.name)


_USUAL_NAMES = {
    "realdiv": ("truediv", "div"),
    "pack": ("stack", "packed"),
    "unpack": ("unstack",),
    "select": ("where",),
    "maximum": ("clipbyvalue",),
    "gather": ("embeddinglookup",),
}


def _is_setting(node: Any) -> bool:
    """Whether a placeholder is for something like a mode or a rate: a truth value, or a single number."""
    shape = node.attr["shape"].shape
    single = "shape" in node.attr and not shape.unknown_rank and not shape.dim
    return _is_placeholder(node) and (single or node.attr["dtype"].type == tf.bool.as_datatype_enum)


def _is_left_over(graph_index: GraphIndex, node: Any) -> bool:
    """Whether building leaves such a node without a taker: the pivot of a branch, a loop's counter, a check."""
    if node.op in ("Switch", "RefSwitch", "LoopCond", "NextIteration", "All", "Any"):
        return True
    if node.op == "Merge":
        return bool(node.attr["T"].type == tf.bool.as_datatype_enum)
    if node.op == "Exit":
        return bool(node.attr["T"].type == tf.int32.as_datatype_enum) or _is_flow(graph_index, node)
    if node.op != "Identity" or not node.input:
        return False
    source = graph_index.nodes.get(node_of(node.input[0]))
    return node.name.endswith("/pred_id") or (source is not None and source.op in ("Switch", "RefSwitch"))


def _is_flow(graph_index: GraphIndex, node: Any) -> bool:
    """Whether a loop gives with this only the order of writing to a TensorArray."""
    for kind in ("Switch", "Merge", "Enter"):
        node = graph_index.nodes.get(node_of(node.input[0])) if node.input else None
        if node is None or node.op != kind:
            return False
    source = graph_index.nodes.get(node_of(node.input[0])) if node.input else None
    return source is not None and source.op.startswith("TensorArray")


def _of_a_loop(graph_index: GraphIndex, name: str) -> bool:
    """Whether it only names a result of a loop or a branch, as TensorFlow does for each of them."""
    node = graph_index.nodes[name]
    source = graph_index.nodes.get(node_of(node.input[0])) if node.op == "Identity" and node.input else None
    return source is not None and source.op in ("While", "StatelessWhile", "If", "StatelessIf")


# ----------------------------------------------------------------------------------------------------------- the data


def _names_a_file(graph_index: GraphIndex, node: Any) -> bool:
    """Whether a placeholder is the saver's: for the name of a checkpoint."""
    if tf.string not in output_types(node):
        return False
    reached = graph_index.descendants([node.name], lambda taker: not UPDATES.match(taker.op))
    return any(_SAVING.match(graph_index.nodes[one].op) for one in reached)


def _needed_data(graph_index: GraphIndex, outputs: Sequence[str], data: Sequence[str]) -> list[str]:
    """The tensors of ``data`` that are needed for ``outputs``, if all of them are given."""
    needed = graph_index.ancestors([node_of(name) for name in outputs], data)
    taken = {tensor_name(entry) for name in needed for entry in graph_index.nodes[name].input} | set(outputs)
    return [tensor for tensor in data if tensor in taken]


def _listed(graph_index: GraphIndex, tensors: Sequence[str]) -> str:
    """Tensors by name; a placeholder by that of its node."""
    return listed(
        [node_of(name) if _is_placeholder(graph_index.nodes[node_of(name)]) else name for name in tensors], most=8
    )
