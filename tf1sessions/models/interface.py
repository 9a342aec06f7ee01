"""What a model takes and what it gives: from its signatures, or guessed from its graph.

The guess, for a graph without a signature:

1. Inputs are the placeholders that the outputs need. One without a value of its own is required; one with a default is
   optional. A graph without any is fed where its queues and iterators give: at the outputs of dequeues.
2. Outputs are the ends of the inference graph: operations that depend on an input and whose results nothing in the
   inference graph takes. Left out are gradients and optimizers, savers, initializers, summaries and assertions.
3. In a graph that is trained, a placeholder that never meets a weight is a label: what depends on it is the loss and
   its kin, and left out too.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tf1sessions.models.wiring import Wiring, node_of, tensor_name
from tf1sessions.runtime import private, tf

__all__ = ["GUESSED", "Interface", "TensorSpec", "guess", "input_types", "of_signature", "output_types"]

#: The name of the signature that is guessed.
GUESSED = "guessed"


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """An input or an output of a model.

    Attributes:
        name: What the caller calls it.
        tensor: The name of the tensor in the graph, such as ``"probs:0"``.
        dtype: Its ``tf.DType``.
        shape: Its ``tf.TensorShape``; None for a dimension that is open.
        optional: Whether it has a default.
    """

    name: str
    tensor: str
    dtype: Any = None
    shape: Any = None
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Interface:
    """Inputs and outputs of one way to call a model.

    Attributes:
        name: Of the signature.
        inputs, outputs: Name -> :class:`TensorSpec`.
        guessed: Whether they were guessed from the graph.
        notes: How, in sentences.
    """

    name: str
    inputs: Mapping[str, TensorSpec]
    outputs: Mapping[str, TensorSpec]
    guessed: bool = False
    notes: tuple[str, ...] = ()


def of_signature(name: str, signature: Any, wiring: Wiring) -> Interface:
    """The interface that a SignatureDef tells. Sparse tensors are their three parts, ``"name/indices"`` and so on.

    A signature that has inputs only (a generic one of ``session_bundle``) has as inputs what a placeholder feeds.
    """
    inputs = _of_infos(signature.inputs)
    outputs = _of_infos(signature.outputs)
    if inputs and not outputs and not signature.method_name:
        given = {key: spec for key, spec in inputs.items() if _is_placeholder(wiring.nodes.get(node_of(spec.tensor)))}
        outputs = {key: spec for key, spec in inputs.items() if key not in given}
        inputs = given
    return Interface(name, _with_defaults(inputs, wiring), outputs)


def guess(wiring: Wiring, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None) -> Interface:
    """Guesses what of ``inputs`` and ``outputs`` is not given, as the module tells.

    Args:
        wiring: The graph.
        inputs: Names of tensors to feed, instead of the placeholders.
        outputs: Names of tensors to give, instead of the ends.
    """
    notes: list[str] = []
    inference = _inference(wiring, [node_of(name) for name in inputs or ()], notes)
    if outputs is None:
        ends = _ends(wiring, inference)
        found = [f"{name}:{index}" for name in ends for index in range(len(output_types(wiring.nodes[name])))]
        if found:
            notes.append(f"outputs are the ends of the inference graph: {_listed(ends)}")
    else:
        found = [tensor_name(name) for name in outputs]
    needed = wiring.ancestors([node_of(name) for name in found], [tensor_name(name) for name in inputs or ()])
    if inputs is None:
        chosen = [f"{name}:0" for name in needed if _is_placeholder(wiring.nodes[name])]
        if chosen:
            notes.append(f"inputs are the placeholders that they need: {_listed(sorted(map(node_of, chosen)))}")
        else:
            chosen = sorted(
                f"{name}:{index}"
                for name in needed
                if wiring.nodes[name].op in _SOURCES
                for index in range(len(output_types(wiring.nodes[name])))
            )
            if chosen:
                notes.append(f"without placeholders, inputs are what queues and iterators give: {_listed(chosen)}")
        order = {node.name: index for index, node in enumerate(wiring.graph_def.node)}
        chosen.sort(key=lambda name: (order[node_of(name)], name))
    else:
        chosen = [tensor_name(name) for name in inputs]
    return Interface(
        GUESSED,
        _with_defaults(_named(chosen), wiring),
        _named(found),
        guessed=inputs is None or outputs is None,
        notes=tuple(notes),
    )


# ---------------------------------------------------------------------------------------------------------- the guess

_PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})
#: Operations that bring data from outside when there is no placeholder.
_SOURCES = frozenset(
    "QueueDequeue QueueDequeueMany QueueDequeueUpTo QueueDequeueV2 QueueDequeueManyV2 QueueDequeueUpToV2 "
    "IteratorGetNext IteratorGetNextSync IteratorGetNextAsOptional ReaderRead ReaderReadV2 ReaderReadUpTo "
    "ReaderReadUpToV2 Unstage StagePeek".split()
)
#: What changes a variable: none of it is inference.
_UPDATES = re.compile(
    r"^(Assign|AssignAdd|AssignSub|AssignVariableOp|AssignAddVariableOp|AssignSubVariableOp|CountUpTo|"
    r"(Resource)?(Sparse)?Apply\w+|(Resource)?Scatter(Nd)?(Add|Sub|Update|Mul|Div|Min|Max)\w*|AccumulatorApplyGradient|"
    r"TakeManySparseFromTensorsMap)$"
)
#: What is run for its effect.
_EFFECTS = re.compile(
    r"^(NoOp|Assert|Print|PrintV2|Save\w*|Restore\w*|MergeV2Checkpoints|ShardedFilename\w*|WriteFile|Delete\w*|"
    r"InitializeTable\w*|LookupTable(Import|Insert)\w*|Queue(Enqueue|Close)\w*|IsVariableInitialized|"
    r"VarIsInitializedOp|ReportUninitialized\w*|\w*Summary(V2)?|MakeIterator|DestroyResourceOp|"
    r"Stage|Stack(Push|Close)(V2)?|TensorArrayClose(V\d)?)$"
)
_ENQUEUES = re.compile(r"^(Queue\w*|Stage)$")
_SAVING = re.compile(r"^(Save(Slices|V2)?|Restore(Slice|V2)?|MergeV2Checkpoints|ShardedFilename)$")
_GRADIENTS = re.compile(r"(^|/)gradients(_\d+)?(/|$)")
_WEIGHTS = frozenset({"Variable", "VariableV2", "VarHandleOp", "TemporaryVariable", "AutoReloadVariable"})
#: Operations whose result is still "the weight" or "the input" itself.
_PASSES = frozenset(
    "Identity ReadVariableOp Enter RefEnter Switch RefSwitch Cast Reshape Transpose ExpandDims Squeeze Snapshot "
    "StopGradient ConcatV2 Concat Split".split()
)


def _is_placeholder(node: Any) -> bool:
    return node is not None and node.op in _PLACEHOLDERS


def _inference(wiring: Wiring, fed: Sequence[str], notes: list[str]) -> set[str]:
    """The nodes of the inference graph: what depends on an input and is neither training, saving nor reporting."""

    trained = any("Apply" in node.op and _UPDATES.match(node.op) for node in wiring.graph_def.node)

    def inside(node: Any) -> bool:
        if _UPDATES.match(node.op) or _EFFECTS.match(node.op):
            return False
        return not (trained and _GRADIENTS.search(node.name))

    starts = list(fed) or [node.name for node in wiring.graph_def.node if _is_placeholder(node)]
    if not wiring.descendants(starts, inside) - set(starts):
        starts += [node.name for node in wiring.graph_def.node if node.op in _SOURCES]
    starts = [name for name in starts if name in wiring.nodes and inside(wiring.nodes[name])]
    if not fed:
        starts = [name for name in starts if not _names_a_file(wiring, name)]
    labels = _labels(wiring, starts, inside) if trained and not fed else []
    found = wiring.descendants([name for name in starts if name not in labels], inside)
    if labels:
        found -= wiring.descendants(labels, inside)
        notes.append(f"taken for labels, because no weight meets them: {_listed(sorted(labels))}")
    return found


def _names_a_file(wiring: Wiring, name: str) -> bool:
    """Whether a placeholder is the saver's: for the name of a checkpoint."""
    node = wiring.nodes[name]
    if tf.string not in output_types(node):
        return False
    reached = wiring.descendants([name], lambda taker: not _UPDATES.match(taker.op))
    return any(_SAVING.match(wiring.nodes[one].op) for one in reached)


def _labels(wiring: Wiring, starts: Sequence[str], inside: Any) -> list[str]:
    """The placeholders that no weight meets downstream, if others are met."""
    weights = wiring.descendants(
        [node.name for node in wiring.graph_def.node if node.op in _WEIGHTS],
        lambda node: node.op in _PASSES and inside(node),
    )
    meets = {}
    for start in starts:
        reached = wiring.descendants([start], inside)
        meets[start] = any(
            node_of(entry) in weights and not entry.startswith("^")
            for name in reached
            for entry in wiring.nodes[name].input
        )
    return [start for start, met in meets.items() if not met] if any(meets.values()) else []


def _ends(wiring: Wiring, inference: set[str]) -> list[str]:
    """The nodes of the inference graph that none of it takes; in the graph's order."""
    found = [
        node.name
        for node in wiring.graph_def.node
        if node.name in inference and not _is_placeholder(node) and node.op not in _SOURCES and output_types(node)
        if not any(
            taker.name in inference or _ENQUEUES.match(taker.op) or _UPDATES.match(taker.op)
            for taker, entry in wiring.consumers[node.name]
            if not entry.startswith("^")
        )
    ]
    found = [name for name in found if not _left_over(wiring, wiring.nodes[name])]
    # What is left besides others is more likely a helper than a result, in this order.
    found = [name for name in found if not _in_gradients(wiring, name)] or found
    losses = [name for name in found if _is_loss(wiring, name)]
    found = [name for name in found if name not in losses] or _before_losses(wiring, inference, losses) or found
    return [name for name in found if not _of_a_loop(wiring, name)] or found


_LOSS = re.compile(
    r"^(Mean|Sum|Square|SquaredDifference|Sub|Neg|Log|Abs|AddN|L2Loss|(Sparse)?SoftmaxCrossEntropyWithLogits|"
    r"ReduceMean|Identity|Reshape|Squeeze)$"
)


def _before_losses(wiring: Wiring, inference: set[str], losses: Sequence[str]) -> list[str]:
    """What a loss was made of: back through the operations that losses consist of."""
    found: dict[str, None] = {}
    peeled = set(losses)
    queue = list(losses)
    while queue:
        node = wiring.nodes[queue.pop()]
        if not _LOSS.match(node.op):
            found[node.name] = None
            continue
        peeled.add(node.name)
        for entry in node.input:
            source = node_of(entry)
            if entry.startswith("^") or source not in inference or _is_placeholder(wiring.nodes[source]):
                continue
            takers = {taker.name for taker, other in wiring.consumers[source] if not other.startswith("^")}
            if source not in peeled and not (takers & inference) - peeled:
                queue.append(source)
    return list(found)


def _left_over(wiring: Wiring, node: Any) -> bool:
    """Whether building leaves such a node without a taker: the pivot of a branch, a loop's counter, a shape."""
    if node.op in ("Switch", "RefSwitch", "LoopCond", "NextIteration", "Shape", "ShapeN", "Size", "Rank"):
        return True
    if node.op == "Exit":
        return bool(node.attr["T"].type == tf.int32.as_datatype_enum)
    if node.op != "Identity" or not node.input:
        return False
    source = wiring.nodes.get(node_of(node.input[0]))
    return node.name.endswith("/pred_id") or (source is not None and source.op in ("Switch", "RefSwitch"))


def _in_gradients(wiring: Wiring, name: str) -> bool:
    return _GRADIENTS.search(name) is not None


def _is_loss(wiring: Wiring, name: str) -> bool:
    """Whether the gradient of just this was taken: it has one, and nothing that takes it has."""

    def has_gradient(node: str) -> bool:
        return any(f"{scope}/{node}_grad" in scopes for scope in starts)

    scopes, starts = _gradient_scopes(wiring)
    return has_gradient(name) and not any(has_gradient(taker.name) for taker, _ in wiring.consumers[name])


def _gradient_scopes(wiring: Wiring) -> tuple[set[str], set[str]]:
    """The scopes ``gradients/<name>_grad`` of a graph, and those of ``gradients`` themselves."""
    scopes: set[str] = set()
    starts: set[str] = set()
    for name in wiring.nodes:
        if found := _GRADIENTS.search(name):
            starts.add(name[: found.end()].rstrip("/"))
            parts = name.split("/")
            scopes.update("/".join(parts[:end]) for end in range(len(parts)) if parts[end - 1].endswith("_grad"))
    return scopes, starts


def _of_a_loop(wiring: Wiring, name: str) -> bool:
    """Whether it only names a result of a loop or a branch, as TensorFlow does for each of them."""
    node = wiring.nodes[name]
    source = wiring.nodes.get(node_of(node.input[0])) if node.op == "Identity" and node.input else None
    return source is not None and source.op in ("While", "StatelessWhile", "If", "StatelessIf")


def output_types(node: Any) -> list[Any]:
    """The ``tf.DType`` of each output of a node, by the definition of its operation.

    None for one that is not told. An operation that this TensorFlow does not have counts as one with one output.
    """
    definition = private.op_def_registry.get(node.op)
    if definition is None:
        return [None] * (len(node.attr["_output_shapes"].list.shape) if "_output_shapes" in node.attr else 1)
    return _types(definition.output_arg, node)


def input_types(node: Any) -> list[Any]:
    """The ``tf.DType`` of each data input of a node, as :func:`output_types`; empty for an unknown operation."""
    definition = private.op_def_registry.get(node.op)
    return [] if definition is None else _types(definition.input_arg, node)


def _types(arguments: Any, node: Any) -> list[Any]:
    found: list[Any] = []
    for argument in arguments:
        if argument.type_list_attr:
            found += list(node.attr[argument.type_list_attr].list.type)
            continue
        count = node.attr[argument.number_attr].i if argument.number_attr else 1
        one = node.attr[argument.type_attr].type if argument.type_attr else argument.type
        found += [one] * min(max(count, 0), 65536)
    return [tf.as_dtype(number) if number else None for number in found]


# ------------------------------------------------------------------------------------------------------------- names


def _named(tensors: Iterable[str]) -> dict[str, TensorSpec]:
    """Tensors by the name of their node; by their own name where a node has several."""
    tensors = list(dict.fromkeys(tensors))
    nodes = [node_of(name) for name in tensors]
    return {
        key: TensorSpec(key, name)
        for name, node in zip(tensors, nodes, strict=True)
        for key in [node if nodes.count(node) == 1 and name.endswith(":0") else name]
    }


def _of_infos(infos: Mapping[str, Any]) -> dict[str, TensorSpec]:
    specs = {}
    for key in sorted(infos):
        info = infos[key]
        dtype = tf.as_dtype(info.dtype) if info.dtype else None
        shape = tf.TensorShape(info.tensor_shape) if info.HasField("tensor_shape") else None
        which = info.WhichOneof("encoding")
        if which == "coo_sparse":
            sparse = info.coo_sparse
            parts = {
                "indices": (sparse.indices_tensor_name, tf.int64),
                "values": (sparse.values_tensor_name, dtype),
                "dense_shape": (sparse.dense_shape_tensor_name, tf.int64),
            }
            for part, (name, part_dtype) in parts.items():
                specs[f"{key}/{part}"] = TensorSpec(f"{key}/{part}", tensor_name(name), part_dtype)
        elif info.name:
            specs[key] = TensorSpec(key, tensor_name(info.name), dtype, shape)
    return specs


def _with_defaults(specs: Mapping[str, TensorSpec], wiring: Wiring) -> dict[str, TensorSpec]:
    return {
        key: dataclasses.replace(
            spec, optional=getattr(wiring.nodes.get(node_of(spec.tensor)), "op", "") == "PlaceholderWithDefault"
        )
        for key, spec in specs.items()
    }


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
