"""The variables of a graph of TensorFlow 1: their names, whether they are trained, and their collections.

A MetaGraph has it in its collections. Where there is none (a GraphDef), and for the constants that freezing made of
variables, a rule decides: what arithmetic with inputs takes as weights is trained; statistics of batch normalisation,
moving averages, slots of optimizers and whole numbers are not.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tf1sessions.errors import ModelFileError, UsageError
from tf1sessions.models.files import Artifact
from tf1sessions.models.graph_index import GraphIndex, listed, node_of
from tf1sessions.models.values import VARIABLES
from tf1sessions.runtime import private, tf

__all__ = [
    "Choice",
    "Slice",
    "VariableSpec",
    "chosen",
    "find_variables",
    "frozen_variables",
    "joined",
    "recorded_slices",
    "variable_definitions",
]

#: Which variables are trained, as a caller says it: names, patterns (``"dense*/kernel"``), or a function of the name.
Choice: TypeAlias = "str | Collection[str] | Callable[[str], bool] | None"

_TRAINABLE = "trainable_variables"
_NOT_TRAINED = re.compile(
    r"(^|/)(moving_(mean|variance|avg|average)|global_step|beta[12]_power|ExponentialMovingAverage|Adam(_\d+)?|"
    r"Momentum(_\d+)?|RMSProp(_\d+)?|Adagrad(DA)?(_\d+)?|Adadelta(_\d+)?|Ftrl(_\d+)?|Adamax(_\d+)?|Nadam(_\d+)?|"
    r"gradient_(squared_)?accumulator|local_step|biased|population_(mean|variance))(/|$)"
)
#: Operations whose later inputs are weights, with the places of these.
_WEIGHT_PLACES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "SparseTensorDenseMatMul"), (0, 1)),
    **dict.fromkeys(("Conv2D", "Conv3D", "Conv1D", "DepthwiseConv2dNative", "Conv2DBackpropInput"), (1,)),
    **dict.fromkeys(("Conv3DBackpropInputV2", "BiasAdd", "BiasAddV1"), (1,)),
    **dict.fromkeys(("_FusedConv2D", "_FusedMatMul"), (1, 2)),
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), (1, 2)),
    **dict.fromkeys(("Gather", "GatherV2", "ResourceGather"), (0,)),
    **dict.fromkeys(("LSTMBlockCell", "BlockLSTM", "GRUBlockCell"), (3, 4, 5, 6, 7, 8)),
}
_STATISTICS = dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), (3, 4))
#: How the node is called that reads a variable; freezing leaves it as an Identity of the constant.
_READ = re.compile(r"(^|/)(read|Read|ReadVariableOp(_\d+)?)$")


@dataclasses.dataclass(frozen=True)
class Slice:
    """The part of a partitioned variable that a variable is.

    Attributes:
        node: The part.
        whole: The name of the partitioned variable.
        shape: Its shape.
        begin, size: Where the part begins in each dimension, and how long it is.
    """

    node: str
    whole: str
    shape: tuple[int, ...]
    begin: tuple[int, ...]
    size: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class VariableSpec:
    """A variable, or a constant that was one.

    Attributes:
        name: As TensorFlow 1 calls it, without ``":0"``.
        node: Its node; of a joined one, that of its first part.
        dtype: Its ``tf.DType``.
        shape: Its ``tf.TensorShape``.
        trainable: Whether it is trained.
        collections: The collections that it is in, sorted.
        frozen: Whether it is a constant.
        parts: Of a joined one, its parts.
        aliases: Other nodes that are the same variable: towers may share one by its shared name.
    """

    name: str
    node: str
    dtype: Any
    shape: Any
    trainable: bool
    collections: tuple[str, ...] = ()
    frozen: bool = False
    parts: tuple[Slice, ...] = ()
    aliases: tuple[str, ...] = ()


def find_variables(
    artifact: Artifact, graph_index: GraphIndex, names: Iterable[str], choice: Choice
) -> list[VariableSpec]:
    """The variables among the nodes of a graph, in the order of the graph.

    Args:
        artifact: For the collections.
        graph_index: The graph.
        names: The nodes that are needed.
        choice: Which are trained; None for what the collections say, or the rule.

    Raises:
        ModelFileError: A collection cannot be parsed.
    """
    needed = set(names)
    collections = _collections(artifact, graph_index)
    has_trainable = any(_TRAINABLE in found for found in collections.values())
    owners = _owners(graph_index, needed)
    specs = []
    for node in graph_index.graph_def.node:
        if node.name not in owners:
            continue
        dtype, shape = tf.as_dtype(node.attr["dtype"].type), tf.TensorShape(node.attr["shape"].shape)
        found = collections.get(node.name, ())
        if choice is not None:
            trained = False  # decided by chosen(), for all of them at once
        elif has_trainable:
            trained = _TRAINABLE in found
        else:
            trained = (
                dtype.is_floating and not _NOT_TRAINED.search(node.name) and not _is_statistic(graph_index, node.name)
            )
        specs.append(
            VariableSpec(
                node.name, node.name, dtype, shape, trained, tuple(sorted(found)), aliases=tuple(owners[node.name])
            )
        )
    return specs


def _owners(graph_index: GraphIndex, needed: Collection[str]) -> dict[str, list[str]]:
    """The variables that are needed, each with the nodes that are the same variable, because they share its name."""
    shared: dict[Any, str] = {}
    owners: dict[str, list[str]] = {}
    for node in graph_index.graph_def.node:
        if node.op not in VARIABLES:
            continue
        name, container = (node.attr[key].s if key in node.attr else b"" for key in ("shared_name", "container"))
        owner = shared.setdefault((node.op, container, name), node.name) if name else node.name
        if owner == node.name:
            owners[owner] = []
        else:
            owners[owner].append(node.name)
    return {owner: aliases for owner, aliases in owners.items() if not {owner, *aliases}.isdisjoint(needed)}


def frozen_variables(
    graph_index: GraphIndex, names: Collection[str], choice: Choice, contents: Collection[str]
) -> list[VariableSpec]:
    """The constants among the nodes of a graph that were variables, or are as large as if they were.

    Args:
        graph_index: The graph.
        names: The nodes that are needed.
        choice: Which are to be trained, whatever the rule says.
        contents: The constants whose values were left in their file.
    """
    specs = []
    whole = all(graph_index.nodes[name].op not in VARIABLES for name in names)  # no variable is left
    for node in graph_index.graph_def.node:
        if node.op != "Const" or node.name not in names:
            continue
        dtype = tf.as_dtype(node.attr["value"].tensor.dtype)
        shape = tf.TensorShape(node.attr["value"].tensor.tensor_shape)
        weight = dtype.is_floating and shape.num_elements() != 0 and _was_variable(graph_index, node.name, whole)
        asked = choice is not None and _matches(choice, node.name) and (weight or not callable(choice))
        if weight or asked or node.name in contents:
            trained = weight and not _NOT_TRAINED.search(node.name) and not _is_statistic(graph_index, node.name)
            specs.append(VariableSpec(node.name, node.name, dtype, shape, trained, frozen=True))
    return specs


def joined(specs: Sequence[VariableSpec], slices: Mapping[str, Slice]) -> list[VariableSpec]:
    """The variables, one for all parts of each that is partitioned; parts that nothing needs included.

    Args:
        specs: The variables that are needed.
        slices: Node -> which part it is.
    """
    parts: dict[str, list[Slice]] = {}
    for each in slices.values():
        parts.setdefault(each.whole, []).append(each)
    taken = {spec.name for spec in specs if spec.node not in slices}
    found: dict[str, VariableSpec] = {}
    for spec in specs:
        part = slices.get(spec.node)
        if part is None or part.whole in taken:
            found[spec.node] = spec
        elif part.whole not in found:
            every = tuple(sorted(parts[part.whole], key=lambda each: each.begin))
            found[part.whole] = dataclasses.replace(
                spec, name=part.whole, node=every[0].node, shape=tf.TensorShape(part.shape), parts=every
            )
    return list(found.values())


def chosen(specs: Sequence[VariableSpec], choice: Choice, where: str) -> list[VariableSpec]:
    """The variables, trained as the caller chose.

    Raises:
        UsageError: A name or a pattern fits none of them, or one that holds no floating-point numbers.
    """
    if choice is None:
        return list(specs)
    found = [dataclasses.replace(spec, trainable=_matches(choice, spec.name)) for spec in specs]
    if not callable(choice):
        patterns = [choice] if isinstance(choice, str) else list(choice)
        for pattern in patterns:
            if not any(_fits(pattern, spec.name) for spec in specs):
                raise UsageError(
                    f"no variable is called {pattern!r}",
                    where="trainable=",
                    next_step=f"The variables of {where} are {listed([spec.name for spec in specs])}.",
                )
    if wrong := [
        spec.name for spec in found if spec.trainable and not (spec.dtype.is_floating or spec.dtype.is_complex)
    ]:
        raise UsageError(
            f"{listed(wrong)} cannot be trained: no floating-point numbers",
            where="trainable=",
            next_step="Leave it out.",
        )
    return found


def _matches(choice: Choice, name: str) -> bool:
    if callable(choice):
        return bool(choice(name))
    patterns = [choice] if isinstance(choice, str) else list(choice or ())
    return any(_fits(pattern, name) for pattern in patterns)


def _fits(pattern: str, name: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern.removesuffix(":0"))


# ------------------------------------------------------------------------------------------------------------ the rule


def _was_variable(graph_index: GraphIndex, name: str, whole: bool) -> bool:
    """Whether a constant was a variable: something reads it as one; or takes it where weights are taken, if the whole
    graph was frozen."""
    for consumer, entry in graph_index.consumers[name]:
        if entry.startswith("^"):
            continue
        if consumer.op == "Identity" and _READ.search(consumer.name):
            return True
        if not whole:
            continue
        places = (*_WEIGHT_PLACES.get(consumer.op, ()), *_STATISTICS.get(consumer.op, ()))
        if any(place < len(consumer.input) and node_of(consumer.input[place]) == name for place in places):
            return True
    return False


def _is_statistic(graph_index: GraphIndex, name: str) -> bool:
    """Whether a batch normalisation takes it, or what is read from it, as a mean or a variance."""
    readers = [name]
    for consumer, entry in graph_index.consumers[name]:
        if not entry.startswith("^") and consumer.op in ("Identity", "ReadVariableOp"):
            readers.append(consumer.name)
    return any(
        node_of(consumer.input[place]) == reader
        for reader in readers
        for consumer, _ in graph_index.consumers[reader]
        for place in _STATISTICS.get(consumer.op, ())
    )


# ---------------------------------------------------------------------------------------------------- the collections


def recorded_slices(artifact: Artifact, graph_index: GraphIndex) -> dict[str, Slice]:
    """The variables that are parts of others, as the collections say."""
    found = {}
    for definitions in variable_definitions(artifact, graph_index).values():
        for definition in definitions:
            info = definition.save_slice_info_def
            if info.full_name:
                node = node_of(definition.variable_name)
                shape, begin, size = (tuple(each) for each in (info.full_shape, info.var_offset, info.var_shape))
                found[node] = Slice(node, info.full_name, shape, begin, size)
    return found


def _collections(artifact: Artifact, graph_index: GraphIndex) -> dict[str, set[str]]:
    """Node of a variable -> the collections that it is in."""
    found: dict[str, set[str]] = {}
    for collection, definitions in variable_definitions(artifact, graph_index).items():
        for definition in definitions:
            found.setdefault(node_of(definition.variable_name), set()).add(collection)
    return found


def variable_definitions(artifact: Artifact, graph_index: GraphIndex) -> dict[str, list[Any]]:
    """Collection -> the VariableDefs in it, of variables that the graph has.

    Raises:
        ModelFileError: One of TensorFlow's own collections of variables cannot be parsed.
    """
    meta = artifact.meta_graph
    found: dict[str, list[Any]] = {}
    for collection in sorted(meta.collection_def) if meta is not None else ():
        for raw in meta.collection_def[collection].bytes_list.value:
            definition = private.variable_pb2.VariableDef()
            try:
                definition.ParseFromString(raw)
            except Exception as error:  # DecodeError of whichever protobuf is installed
                if not collection.endswith("variables"):
                    break  # of something else
                raise ModelFileError(
                    f"the collection {collection!r} of {artifact.path} cannot be parsed: {error}",
                    where="porting.function()",
                    next_step="The file may be incomplete: compare its size with the original's.",
                    path=artifact.path,
                ) from error
            node = graph_index.nodes.get(node_of(definition.variable_name))
            if node is not None and node.op in VARIABLES:
                found.setdefault(collection, []).append(definition)
    return found
