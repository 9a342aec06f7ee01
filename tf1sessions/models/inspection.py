"""The contents of a model: found on its graph, without running any of it.

::

    Artifact ─▶ inputs and outputs ─▶ the nodes that the outputs need ─▶ shapes for one row ─▶ FLOPs
             └▶ variables, constants, operations, loops, queues, tables, functions, risks       └▶ Inspection

:func:`inspect` returns an :class:`Inspection`: frozen dataclasses of plain values, which ``to_dict`` turns into what
JSON can hold. The only TensorFlow code that the graph meets is shape inference, and that only after what could bring
TensorFlow down was looked for.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ModelFileError, UsageError
from tf1sessions.models import census, flops, interface
from tf1sessions.models.checks import check, hardened
from tf1sessions.models.files import Artifact
from tf1sessions.models.flops import Shape
from tf1sessions.models.graph_index import GraphIndex, node_of
from tf1sessions.models.risks import KINDS, RISKS, risky
from tf1sessions.models.shapes import Shapes, infer, recorded_shape
from tf1sessions.models.static_sizes import StaticSize
from tf1sessions.models.upgrades import unknown_operations, upgrade
from tf1sessions.models.values import main_operations

__all__ = [
    "Flops",
    "FoundRisk",
    "Function",
    "Inspection",
    "MadeBy",
    "Signature",
    "Tensor",
    "inspect",
]


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or an output. ``shape`` has None for a dimension that is open, and is None where nothing is known."""

    name: str
    tensor: str
    dtype: str | None
    shape: Shape
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Signature:
    name: str
    method: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


@dataclasses.dataclass(frozen=True)
class MadeBy:
    """The writer of the graph: the version of its form, and that of TensorFlow where it is known."""

    producer: int
    min_consumer: int
    tensorflow: str | None
    git: str | None


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    nodes: int


@dataclasses.dataclass(frozen=True)
class FoundRisk:
    """An operation that reaches beyond the graph.

    Attributes:
        op: The operation.
        kind, why: As in :data:`~tf1sessions.models.risks.RISKS`.
        nodes: Where it is.
        needed: Whether the outputs lead there: then ``load()`` refuses the model unless it is allowed.
    """

    op: str
    kind: str
    why: str
    nodes: tuple[str, ...]
    needed: bool


@dataclasses.dataclass(frozen=True)
class Flops:
    """Floating-point operations of one call, multiplications and additions counted apart.

    Attributes:
        total: Their number.
        per_row: Whether that is for one row. Else the sizes of the inputs are fixed, and it is for those.
        by_op: Operation -> its share, largest first.
        assumed: How many nodes were counted as if a first size that is not known were one, as that of the inputs is.
        uncounted: Operation -> how many nodes of it were not counted: no rule, or a shape that is not known.
        shapes_from: Where the shapes came from: ``"shape inference"``, or ``"the file"`` when that was not possible.
    """

    total: int
    per_row: bool
    by_op: Mapping[str, int]
    assumed: int
    uncounted: Mapping[str, int]
    shapes_from: str


@dataclasses.dataclass(frozen=True)
class Inspection:
    """The result of :func:`inspect`. Bytes are those of values; names are those of the graph.

    ``static_size`` is what a run needs at least, by the sizes that stand in the graph; where ``flops.per_row`` is true,
    for one row. ``load()`` refuses more than the memory that is free. None where shapes could not be inferred.
    """

    path: str
    kind: str
    tags: tuple[str, ...]
    made_by: MadeBy
    signatures: tuple[Signature, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    guessed: bool
    nodes: int
    needed_nodes: int
    ops: Mapping[str, int]
    functions: tuple[Function, ...]
    weight_bytes: int
    variable_bytes: int
    constant_bytes: int
    variables: tuple[census.Variable, ...]
    constants: tuple[census.Constant, ...]
    flops: Flops
    static_size: StaticSize | None
    control_flow: census.ControlFlow
    queues: tuple[census.Part, ...]
    readers: tuple[census.Part, ...]
    datasets: tuple[census.Part, ...]
    tables: tuple[census.Part, ...]
    assets: Mapping[str, str]
    unknown_ops: Mapping[str, tuple[str, ...]]
    custom_gradients: Mapping[str, int]
    upgrades: tuple[str, ...]
    risks: tuple[FoundRisk, ...]
    notes: tuple[str, ...]
    #: Node -> the shapes of its outputs, for one row where that is possible. Not in ``to_dict``.
    shapes: Mapping[str, tuple[Shape, ...]] = dataclasses.field(repr=False, compare=False)
    #: The nodes that the outputs need. Not in ``to_dict``.
    needed: frozenset[str] = dataclasses.field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, strings and numbers."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: _plain(value) for name, value in fields.items() if name not in ("shapes", "needed")}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def inspect(artifact: Artifact, signature: str | None = None) -> Inspection:
    """Says what is in a model.

    Args:
        artifact: What :func:`~tf1sessions.models.files.read` returned.
        signature: Whose inputs and outputs to take; by default that of ``load()``.

    Raises:
        ModelFileError: The graph is so malformed that nothing can be said of it.
        UsageError: The model has no such signature.
    """
    upgraded, upgrades = upgrade(artifact.graph_def)
    try:
        check(upgraded, artifact)
    except ModelFileError as problem:  # load() refuses it for that; here it is reported, with all that can be found
        try:
            return _inspect(artifact, upgraded, upgrades, signature, problem)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, UsageError):
                raise
            raise problem from error
    return _inspect(artifact, hardened(upgraded), upgrades, signature, None)


def _inspect(
    artifact: Artifact,
    upgraded: Any,
    upgrades: tuple[str, ...],
    signature: str | None,
    problem: ModelFileError | None,
) -> Inspection:
    graph_def = artifact.graph_def
    graph_index = GraphIndex(upgraded)
    chosen, notes = _chosen_interface(artifact, graph_index, signature)
    feeds = [spec.tensor for spec in chosen.inputs.values()]
    roots = [spec.tensor for spec in chosen.outputs.values() if node_of(spec.tensor) in graph_index.nodes]
    needed = frozenset(
        graph_index.ancestors(map(node_of, roots), feeds) | ({*map(node_of, feeds)} & graph_index.nodes.keys())
    )
    unknown = {op: tuple(names) for op, names in unknown_operations(upgraded).items()}
    shapes = infer(artifact, graph_index, roots, unknown, chosen, problem)
    variables = census.variables(artifact, notes)
    constants = census.constants(artifact)
    variable_bytes = sum(variable.bytes or 0 for variable in variables)
    constant_bytes = sum(constant.bytes for constant in constants)
    control_flow, stacks = census.control_flow(graph_index, graph_def)
    counted = _flops(graph_index, needed, shapes, chosen)
    notes += shapes.notes
    notes += _remarks(artifact, graph_index, needed, variables, counted, stacks, unknown, chosen)
    return Inspection(
        path=artifact.path,
        kind=artifact.kind,
        tags=artifact.tags,
        made_by=_made_by(artifact),
        signatures=tuple(_signature(name, entry, graph_index) for name, entry in sorted(artifact.signatures.items())),
        inputs=tuple(_tensor(spec, graph_index, shapes) for spec in chosen.inputs.values()),
        outputs=tuple(_tensor(spec, graph_index, shapes) for spec in chosen.outputs.values()),
        guessed=chosen.guessed,
        nodes=len(graph_def.node),
        needed_nodes=sum(node.name in needed for node in graph_def.node),
        ops=dict(Counter(node.op for node in graph_def.node).most_common()),
        functions=_functions(graph_def),
        weight_bytes=variable_bytes + constant_bytes,
        variable_bytes=variable_bytes,
        constant_bytes=constant_bytes,
        variables=variables,
        constants=constants,
        flops=counted,
        static_size=shapes.size,
        control_flow=control_flow,
        queues=census.queues(graph_def),
        readers=census.readers(graph_def),
        datasets=census.datasets(graph_def),
        tables=census.tables(artifact),
        assets=dict(artifact.assets),
        unknown_ops=unknown,
        custom_gradients=_custom_gradients(graph_def),
        upgrades=upgrades,
        risks=_risks(artifact, graph_index, roots, feeds),
        notes=tuple(notes),
        shapes=shapes.by_node,
        needed=needed,
    )


def _functions(graph_def: Any) -> tuple[Function, ...]:
    found = sorted(graph_def.library.function, key=lambda each: each.signature.name)
    return tuple(Function(each.signature.name, len(each.node_def)) for each in found)


# ------------------------------------------------------------------------------------------------- inputs and outputs


def _chosen_interface(
    artifact: Artifact, graph_index: GraphIndex, signature: str | None
) -> tuple[interface.Interface, list[str]]:
    """The signature that ``load()`` would answer to, or the one asked for, or what is guessed."""
    notes = list(artifact.notes)
    interfaces = {
        name: interface.of_signature(name, each, graph_index) for name, each in sorted(artifact.signatures.items())
    }
    interfaces = {
        name: each for name, each in interfaces.items() if each.outputs and not name.startswith("__saved_model")
    }
    if signature is not None and signature not in interfaces:
        raise UsageError(
            f"{artifact.path} has no signature {signature!r}",
            where="signature",
            next_step=f"It has {', '.join(interfaces)}." if interfaces else "It has none; leave it out.",
        )
    if not interfaces:
        chosen = interface.guess(graph_index)
    elif signature is not None:
        chosen = interfaces[signature]
    else:
        chosen = interfaces[interface.default_name(interfaces)]
        if len(interfaces) > 1:
            notes.append(f"of its signatures {', '.join(interfaces)}, {chosen.name} was taken")
    return chosen, notes + list(chosen.notes)


def _signature(name: str, signature: Any, graph_index: GraphIndex) -> Signature:
    one = interface.of_signature(name, signature, graph_index)
    sides = [tuple(_tensor(spec, graph_index, None) for spec in side.values()) for side in (one.inputs, one.outputs)]
    return Signature(name, signature.method_name, *sides)


def _tensor(spec: interface.TensorSpec, graph_index: GraphIndex, shapes: Shapes | None) -> Tensor:
    """An input or output, with what the graph says where the signature is silent."""
    node = graph_index.nodes.get(node_of(spec.tensor))
    dtype = spec.dtype
    shape = None if spec.shape is None or spec.shape.rank is None else tuple(spec.shape.as_list())
    index = int(spec.tensor.rpartition(":")[2])
    if node is not None:
        if shape is None:
            shape = recorded_shape(node, graph_index)
        if shape is None and shapes is not None:
            shape = shapes.open(node.name, index)
        types = interface.output_types(node)
        dtype = dtype or (types[index] if index < len(types) else None)
    return Tensor(spec.name, spec.tensor, None if dtype is None else dtype.name, shape, spec.optional)


# ------------------------------------------------------------------------------------------------------------- shapes


def _flops(graph_index: GraphIndex, needed: Collection[str], shapes: Shapes, chosen: interface.Interface) -> Flops:
    total: Counter[str] = Counter()
    uncounted: Counter[str] = Counter()
    assumed = 0
    fed = {node_of(spec.tensor) for spec in chosen.inputs.values()}
    for name, node in graph_index.nodes.items():
        if name not in needed or name in fed:
            continue
        inputs = [shapes.of(entry) for entry in node.input if not entry.startswith("^")]
        outputs = shapes.by_node.get(name, ())
        number = flops.count(node, inputs, outputs)
        if number is None and shapes.one_row:
            number = flops.count(node, [*map(_as_one_row, inputs)], [*map(_as_one_row, outputs)])
            assumed += number is not None
        if number is None:
            uncounted[node.op] += 1
        elif number:
            total[node.op] += number
    return Flops(
        total=sum(total.values()),
        per_row=shapes.one_row,
        by_op=dict(total.most_common()),
        assumed=assumed,
        uncounted=dict(uncounted.most_common()),
        shapes_from=shapes.source,
    )


def _as_one_row(shape: Shape) -> Shape:
    return (1, *shape[1:]) if shape and shape[0] is None else shape


# ------------------------------------------------------------------------------------------------- what may go wrong


def _custom_gradients(graph_def: Any) -> dict[str, int]:
    """Names under which Python registered a gradient, and how many nodes ask for each."""
    names = Counter(
        node.attr["_gradient_op_type"].s.decode(errors="replace")
        for _, node in census.every_node(graph_def)
        if "_gradient_op_type" in node.attr
    )
    return dict(names.most_common())


def _risks(
    artifact: Artifact, graph_index: GraphIndex, roots: Iterable[str], feeds: Sequence[str]
) -> tuple[FoundRisk, ...]:
    """Risky operations: those that load() would run for the outputs, and those elsewhere in the file."""
    saver = artifact.meta_graph.saver_def if artifact.meta_graph is not None else None
    upgraded = graph_index.graph_def
    needed = risky(upgraded, upgraded.library, roots, feeds=feeds)
    for op, names in risky(
        upgraded, upgraded.library, main_operations(artifact, graph_index), assets=artifact.assets
    ).items():
        needed[op] = [*needed.get(op, ()), *names]
    everywhere = risky(artifact.graph_def, artifact.graph_def.library, saver=saver, assets=artifact.assets)
    found = []
    for op in {*needed, *everywhere}:
        nodes = sorted({*needed.get(op, ()), *everywhere.get(op, ())})
        found.append(FoundRisk(op, RISKS[op].kind, RISKS[op].why, tuple(nodes), op in needed))
    return tuple(sorted(found, key=lambda each: (not each.needed, KINDS.index(each.kind), each.op)))


def _made_by(artifact: Artifact) -> MadeBy:
    versions = artifact.graph_def.versions
    info = artifact.meta_graph.meta_info_def if artifact.meta_graph is not None else None
    return MadeBy(
        producer=versions.producer,
        min_consumer=versions.min_consumer,
        tensorflow=(info.tensorflow_version or None) if info is not None else None,
        git=(info.tensorflow_git_version or None) if info is not None else None,
    )


def _remarks(
    artifact: Artifact,
    graph_index: GraphIndex,
    needed: frozenset[str],
    variables: Sequence[census.Variable],
    counted: Flops,
    stacks: Mapping[str, tuple[str, ...]],
    unknown: Mapping[str, Sequence[str]],
    chosen: interface.Interface,
) -> list[str]:
    """Return what a reader should know, in sentences."""
    fed = {node_of(spec.tensor) for spec in chosen.inputs.values()}
    notes = []
    if not artifact.graph_def.node:
        notes.append("the graph is empty")
    elif not chosen.outputs:
        notes.append("no outputs were found, so nothing is known to be needed, and FLOPs are not counted")
    if variables and artifact.checkpoint is None:
        notes.append("there is no checkpoint beside it: its variables have no values")
    refs = sum(variable.kind == "ref" for variable in variables)
    if refs:
        which = "its variables" if refs == len(variables) else f"{refs} of its {len(variables)} variables"
        notes.append(f"{which} are TensorFlow 1's ref variables: load() runs them, tf.saved_model.load() does not")
    if any(variable.bytes is None for variable in variables):
        count = sum(variable.bytes is None for variable in variables)
        notes.append(f"bytes do not have those of variables whose shape is not known: {count} of {len(variables)}")
    waits = sorted(
        name for name in needed - fed if graph_index.nodes[name].op.startswith(("QueueDequeue", "ReaderRead"))
    )
    if waits:
        notes.append(f"its outputs wait for {waits[0]}: feed the tensors that it gives instead")
    if broken := [op for op, names in unknown.items() if not needed.isdisjoint(names)]:
        notes.append(f"its outputs need operations that this TensorFlow does not have: {', '.join(broken)}")
    elif unknown:
        notes.append("operations that this TensorFlow does not have are in it, but its outputs do not need them")
    if counted.total and not counted.per_row:
        notes.append("the sizes of its inputs are fixed, or not known: FLOPs are those of one call with what is known")
    if counted.assumed:
        notes.append(f"for the FLOPs of {counted.assumed} nodes a first size that is not known was taken to be one")
    if any(name in stacks for name in needed):
        notes.append("what is in a loop is counted once, as if it had one turn")
    functions = {function.signature.name for function in graph_index.graph_def.library.function}
    if any(graph_index.nodes[name].op in census.CALLS | functions for name in needed):
        notes.append("what functions do is not in the FLOPs")
    return notes
