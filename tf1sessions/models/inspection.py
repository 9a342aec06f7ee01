"""What is in a model: found on its graph, without running any of it.

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
from math import prod
from typing import Any

from tf1sessions.errors import ModelFileError, UsageError
from tf1sessions.models import flops, interface
from tf1sessions.models.checks import check
from tf1sessions.models.files import Artifact
from tf1sessions.models.flops import Shape
from tf1sessions.models.risks import KINDS, RISKS, risky, risky_nodes
from tf1sessions.models.upgrades import unknown_operations, upgrade
from tf1sessions.models.weights import constants_to_variables
from tf1sessions.models.wiring import Wiring, node_of
from tf1sessions.runtime import private, tf

__all__ = [
    "Constant",
    "ControlFlow",
    "Flops",
    "FoundRisk",
    "Function",
    "Inspection",
    "Loop",
    "MadeBy",
    "Part",
    "Signature",
    "Tensor",
    "Variable",
    "dtype_name",
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
    """Who wrote the graph: the version of its form, and that of TensorFlow where it is told."""

    producer: int
    min_consumer: int
    tensorflow: str | None
    git: str | None


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
class Loop:
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

    loops: tuple[Loop, ...]
    conditions: int
    operations: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Part:
    """A queue, reader, dataset or table: its node, its operation, and what else is known of it."""

    name: str
    op: str
    detail: str = ""


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
    """What :func:`inspect` found. Bytes are those of values; names are those of the graph."""

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
    variables: tuple[Variable, ...]
    constants: tuple[Constant, ...]
    flops: Flops
    control_flow: ControlFlow
    queues: tuple[Part, ...]
    readers: tuple[Part, ...]
    datasets: tuple[Part, ...]
    tables: tuple[Part, ...]
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


#: Constants from this size on are named and count as weights; smaller ones are sizes, axes and the like. Arbitrary.
CONSTANT_BYTES = 1024


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
    except ModelFileError as problem:  # load() refuses it for that; here it is told, with all that can be told
        try:
            return _inspect(artifact, upgraded, upgrades, signature, problem)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, UsageError):
                raise
            raise problem from error
    return _inspect(artifact, upgraded, upgrades, signature, None)


def _inspect(
    artifact: Artifact,
    upgraded: Any,
    upgrades: tuple[str, ...],
    signature: str | None,
    problem: ModelFileError | None,
) -> Inspection:
    graph_def = artifact.graph_def
    wiring = Wiring(upgraded)
    face, notes = _face(artifact, wiring, signature)
    feeds = [spec.tensor for spec in face.inputs.values()]
    roots = [spec.tensor for spec in face.outputs.values() if node_of(spec.tensor) in wiring.nodes]
    needed = frozenset(wiring.ancestors(map(node_of, roots), feeds) | ({*map(node_of, feeds)} & wiring.nodes.keys()))
    unknown = {op: tuple(names) for op, names in unknown_operations(upgraded).items()}
    shapes = _infer(artifact, wiring, roots, unknown, face, problem)
    variables = _variables(artifact, notes)
    constants = _constants(artifact)
    variable_bytes = sum(variable.bytes or 0 for variable in variables)
    constant_bytes = sum(constant.bytes for constant in constants)
    loops, stacks = _loops(wiring)
    counted = _flops(wiring, needed, shapes, face)
    notes += shapes.notes
    notes += _remarks(artifact, wiring, needed, variables, counted, stacks, unknown, face)
    return Inspection(
        path=artifact.path,
        kind=artifact.kind,
        tags=artifact.tags,
        made_by=_made_by(artifact),
        signatures=tuple(_signature(name, entry, wiring) for name, entry in sorted(artifact.signatures.items())),
        inputs=tuple(_tensor(spec, wiring, shapes) for spec in face.inputs.values()),
        outputs=tuple(_tensor(spec, wiring, shapes) for spec in face.outputs.values()),
        guessed=face.guessed,
        nodes=len(graph_def.node),
        needed_nodes=sum(node.name in needed for node in graph_def.node),
        ops=dict(Counter(node.op for node in graph_def.node).most_common()),
        functions=tuple(
            Function(each.signature.name, len(each.node_def))
            for each in sorted(graph_def.library.function, key=lambda each: each.signature.name)
        ),
        weight_bytes=variable_bytes + constant_bytes,
        variable_bytes=variable_bytes,
        constant_bytes=constant_bytes,
        variables=variables,
        constants=constants,
        flops=counted,
        control_flow=ControlFlow(loops, _conditions(wiring), _control_operations(graph_def)),
        queues=_parts(graph_def, _QUEUES),
        readers=_parts(graph_def, _READERS),
        datasets=_datasets(graph_def),
        tables=_tables(artifact),
        assets=dict(artifact.assets),
        unknown_ops=unknown,
        custom_gradients=_custom_gradients(graph_def),
        upgrades=upgrades,
        risks=_risks(artifact, wiring, roots, feeds),
        notes=tuple(notes),
        shapes=shapes.by_node,
        needed=needed,
    )


# ------------------------------------------------------------------------------------------------- inputs and outputs


def _face(artifact: Artifact, wiring: Wiring, signature: str | None) -> tuple[interface.Interface, list[str]]:
    """The signature that ``load()`` would answer to, or the one asked for, or what is guessed."""
    notes = list(artifact.notes)
    told = {name: interface.of_signature(name, each, wiring) for name, each in sorted(artifact.signatures.items())}
    told = {name: each for name, each in told.items() if each.outputs and not name.startswith("__saved_model")}
    if signature is not None and signature not in told:
        raise UsageError(
            f"{artifact.path} has no signature {signature!r}",
            where="signature",
            next_step=f"It has {', '.join(told)}." if told else "It has none; leave it out.",
        )
    if not told:
        face = interface.guess(wiring)
    elif signature is not None:
        face = told[signature]
    else:
        face = told[next((name for name in _DEFAULTS if name in told), next(iter(told)))]
        if len(told) > 1:
            notes.append(f"of its signatures {', '.join(told)}, {face.name} was taken")
    return face, notes + list(face.notes)


_DEFAULTS = ("serving_default", "default", "inputs_and_outputs", "predict")


def _signature(name: str, signature: Any, wiring: Wiring) -> Signature:
    face = interface.of_signature(name, signature, wiring)
    sides = [tuple(_tensor(spec, wiring, None) for spec in side.values()) for side in (face.inputs, face.outputs)]
    return Signature(name, signature.method_name, *sides)


def _tensor(spec: interface.TensorSpec, wiring: Wiring, shapes: _Shapes | None) -> Tensor:
    """An input or output, with what the graph tells where the signature is silent."""
    node = wiring.nodes.get(node_of(spec.tensor))
    dtype = spec.dtype
    shape = None if spec.shape is None or spec.shape.rank is None else tuple(spec.shape.as_list())
    index = int(spec.tensor.rpartition(":")[2])
    if node is not None:
        if shape is None:
            shape = _told_shape(node, wiring)
        if shape is None and shapes is not None:
            shape = shapes.open(node.name, index)
        types = interface.output_types(node)
        dtype = dtype or (types[index] if index < len(types) else None)
    return Tensor(spec.name, spec.tensor, None if dtype is None else dtype.name, shape, spec.optional)


_PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})


#: Before this version of graphs a placeholder whose sizes were not all known was written as one of a scalar.
_SCALARS_ARE_SCALARS = 24


def _told_shape(node: Any, wiring: Wiring) -> Shape:
    """The shape that a placeholder names; None for other nodes."""
    if node.op not in _PLACEHOLDERS:
        return None
    shape = _dims(node.attr["shape"].shape) if "shape" in node.attr else None
    if shape == () and node.op == "Placeholder" and wiring.graph_def.versions.producer < _SCALARS_ARE_SCALARS:
        shape = None
    recorded = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else ()
    return _dims(recorded[0]) if shape is None and recorded else shape


def _dims(shape: Any) -> Shape:
    """The sizes of a TensorShapeProto."""
    return None if shape.unknown_rank else tuple(dim.size if dim.size >= 0 else None for dim in shape.dim)


# ------------------------------------------------------------------------------------------------------------- shapes


@dataclasses.dataclass(frozen=True)
class _Shapes:
    """What is known of the shapes of the graph's tensors."""

    by_node: Mapping[str, tuple[Shape, ...]]
    source: str
    one_row: bool
    notes: tuple[str, ...] = ()

    def of(self, tensor: str) -> Shape:
        """The shape of ``"node:1"``, or ``"node"``."""
        name = node_of(tensor)
        index = int(tensor[len(name) + 1 :] or 0)
        shapes = self.by_node.get(name, ())
        return shapes[index] if index < len(shapes) else None

    def open(self, name: str, index: int) -> Shape:
        """The shape of an output of the model. Its first size is a row's where that was set to one, so it is open."""
        shape = self.of(f"{name}:{index}")
        return (None, *shape[1:]) if shape and self.one_row and shape[0] == 1 else shape


def _infer(
    artifact: Artifact,
    wiring: Wiring,
    roots: Iterable[str],
    unknown: Mapping[str, Iterable[str]],
    face: interface.Interface,
    problem: ModelFileError | None,
) -> _Shapes:
    """Shapes by TensorFlow's own inference on what the outputs need, for one row; else those that the file has.

    What needs an unknown operation is left out of that.
    """
    told = {node.name: tuple(map(_dims, node.attr["_output_shapes"].list.shape)) for node in wiring.graph_def.node}
    wanted = wiring.ancestors(map(node_of, roots)) or set(wiring.nodes)
    wanted |= {node_of(spec.tensor) for spec in face.inputs.values()} & wiring.nodes.keys()
    wanted -= _needing(wiring, (name for names in unknown.values() for name in names))
    if problem is not None:
        return _Shapes(told, "the file", False, (f"load() would refuse it: {problem}",))
    try:
        try:
            graph, one_row = _imported(*_for_one_row(artifact, wiring, wanted, face))
        except ValueError:  # sizes that are written elsewhere in the graph do not agree with one row
            graph, one_row = _imported(*_for_one_row(artifact, wiring, wanted, None))
    except (ValueError, TypeError, KeyError, tf.errors.OpError) as error:  # what an import raises
        reason = str(error).partition("\n")[0]
        note = f"shapes are those that the file has, because TensorFlow cannot import the graph as it is: {reason}"
        return _Shapes(told, "the file", False, (note,))
    found = {}
    for operation in graph.get_operations():
        shapes = []
        for index, output in enumerate(operation.outputs):
            shape = output.shape
            known = told.get(operation.name, ())
            shapes.append(
                tuple(shape.as_list()) if shape.rank is not None else known[index] if index < len(known) else None
            )
        found[operation.name] = tuple(shapes)
    return _Shapes(told | found, "shape inference", one_row)


def _imported(part: Any, one_row: bool) -> tuple[Any, bool]:
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(part, name="")
    return graph, one_row


def _needing(wiring: Wiring, names: Iterable[str]) -> set[str]:
    """These nodes, and all that need them, be it by a control input."""
    found = {name for name in names if name in wiring.nodes}
    waiting = list(found)
    for name in waiting:
        new = {consumer.name for consumer, _ in wiring.consumers[name]} - found
        found |= new
        waiting += new
    return found


def _for_one_row(
    artifact: Artifact, wiring: Wiring, needed: Collection[str], face: interface.Interface | None
) -> tuple[Any, bool]:
    """The needed part of a graph, its large constants as variables, the open first size of each input set to one.

    Without ``face`` the sizes of the inputs stay as they are. TensorFlow runs what it can of a graph to infer shapes,
    functions of constants too. So what is risky is a placeholder here, one for each of its outputs.
    """
    part = tf.GraphDef()
    part.versions.CopyFrom(wiring.graph_def.versions)
    part.library.CopyFrom(wiring.graph_def.library)
    inputs = {} if face is None else {node_of(spec.tensor): spec for spec in face.inputs.values()}
    results = {  # of functions
        function.signature.name: [tf.as_dtype(each.type or tf.float32) for each in function.signature.output_arg]
        for function in part.library.function
    }
    avoided = risky_nodes(wiring.graph_def, wiring.graph_def.library) & set(needed)
    one_row = False
    for original in wiring.graph_def.node:
        if original.name not in needed:
            continue
        if original.name in avoided:
            types = results.get(original.op) or [each or tf.float32 for each in interface.output_types(original)]
            for index, dtype in enumerate(types or [tf.float32]):  # one at least, that others may wait for
                _make_placeholder(part.node.add(name=_stand_in(original.name, index)), dtype, None)
            continue
        node = part.node.add()
        node.CopyFrom(original)
        for attr in ("_output_shapes", "_class"):  # tells what this asks for; names nodes that are not here
            node.attr.pop(attr, None)
        node.device = ""
        for index, entry in enumerate(node.input):
            name = node_of(entry)
            if name in avoided and not entry.startswith("^"):
                node.input[index] = _stand_in(name, int(entry[len(name) + 1 :] or 0))
        if node.name in inputs:
            shape = _first_size_open(node, inputs[node.name], wiring)
            if shape is not None:
                dtype = tf.as_dtype(node.attr["dtype"].type)
                node.Clear()
                node.name = original.name
                _make_placeholder(node, dtype, [1, *shape[1:]])
                one_row = True
    return constants_to_variables(part, artifact.contents)[0], one_row


def _stand_in(name: str, index: int) -> str:
    """What stands for an output of a node: the first has the name of the node."""
    return f"{name}/output_{index}" if index else name


def _first_size_open(node: Any, spec: interface.TensorSpec, wiring: Wiring) -> Shape:
    """The shape of an input whose first size is open; None for others."""
    told = spec.shape is not None and spec.shape.rank is not None
    shape = tuple(spec.shape.as_list()) if told else _told_shape(node, wiring)
    return shape if shape and shape[0] is None and node.op in _PLACEHOLDERS else None


def _make_placeholder(node: Any, dtype: Any, shape: Sequence[int | None] | None) -> None:
    """Makes a node that has only its name a placeholder of this dtype and shape."""
    node.op = "Placeholder"
    node.attr["dtype"].type = dtype.as_datatype_enum
    proto = node.attr["shape"].shape
    proto.unknown_rank = shape is None
    for size in shape or ():
        proto.dim.add().size = -1 if size is None else size


def _flops(wiring: Wiring, needed: Collection[str], shapes: _Shapes, face: interface.Interface) -> Flops:
    total: Counter[str] = Counter()
    uncounted: Counter[str] = Counter()
    assumed = 0
    fed = {node_of(spec.tensor) for spec in face.inputs.values()}
    for name, node in wiring.nodes.items():
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


# ------------------------------------------------------------------------------------------------------------ weights

_VARIABLES = {"Variable": "ref", "VariableV2": "ref", "AutoReloadVariable": "ref", "VarHandleOp": "resource"}


def _variables(artifact: Artifact, notes: list[str]) -> tuple[Variable, ...]:
    told = _collected(artifact)
    found = []
    saved: Mapping[str, Sequence[int]] | None = None
    for node in artifact.graph_def.node:
        if node.op not in _VARIABLES:
            continue
        dtype = node.attr["dtype"].type
        shape = _dims(node.attr["shape"].shape) if "shape" in node.attr else None
        definition, trainable = told.get(node.name, (None, False if told else None))
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
            except ValueError:  # a DecodeError: the collection holds something else under this name
                continue
            found[node_of(definition.variable_name)] = (definition, key == "trainable_variables")
    return found


def _saved_shapes(checkpoint: str, notes: list[str]) -> Mapping[str, Sequence[int]]:
    try:
        shapes: Mapping[str, Sequence[int]] = tf.train.load_checkpoint(checkpoint).get_variable_to_shape_map()
    except (ValueError, RuntimeError, tf.errors.OpError) as error:
        notes.append(f"the checkpoint {checkpoint} cannot be read: {str(error).partition(chr(10))[0]}")
        return {}
    return shapes


def _constants(artifact: Artifact) -> tuple[Constant, ...]:
    """The constants of :data:`CONSTANT_BYTES` and more, largest first; those in functions too."""
    found = []
    for name, node in _every_node(artifact.graph_def):
        if node.op != "Const":
            continue
        tensor = node.attr["value"].tensor
        size = artifact.contents[name].length if name in artifact.contents else tensor.ByteSize()
        if size >= CONSTANT_BYTES:
            shape = _dims(tensor.tensor_shape)
            found.append(Constant(name, dtype_name(tensor.dtype), shape, _bytes(tensor.dtype, shape) or size))
    return tuple(sorted(found, key=lambda each: (-each.bytes, each.name)))


def _every_node(graph_def: Any) -> Iterable[tuple[str, Any]]:
    """The nodes of a graph, and those of its functions as ``function/node``."""
    for node in graph_def.node:
        yield node.name, node
    for function in graph_def.library.function:
        for node in function.node_def:
            yield f"{function.signature.name}/{node.name}", node


# ------------------------------------------------------------------------------------------------------- control flow

_V1_CONTROL = frozenset("Switch Merge Enter Exit NextIteration LoopCond".split())
_V2_CONTROL = frozenset(
    "If StatelessIf While StatelessWhile Case StatelessCase For PartitionedCall StatefulPartitionedCall".split()
)


def _base(op: str) -> str:
    """``RefSwitch`` -> ``Switch``."""
    return op[3:] if op.startswith("Ref") and op[3:] in _V1_CONTROL else op


def _control_operations(graph_def: Any) -> dict[str, int]:
    kinds = Counter(node.op for _, node in _every_node(graph_def))
    return {op: count for op, count in kinds.most_common() if _base(op) in _V1_CONTROL or op in _V2_CONTROL}


def _loops(wiring: Wiring) -> tuple[tuple[Loop, ...], Mapping[str, tuple[str, ...]]]:
    """The frames of v1 loops, and for each node in one the frames around it, outermost first.

    All that comes into a node comes from the same frame, so one input tells.
    """
    readers: dict[str, list[str]] = {}
    for node in wiring.graph_def.node:
        for entry in node.input:
            readers.setdefault(node_of(entry), []).append(node.name)
    inside: dict[str, tuple[str, ...]] = {node.name: () for node in wiring.graph_def.node if not node.input}
    waiting = list(inside)
    for name in waiting:
        node = wiring.nodes[name]
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
    return tuple(Loop(frame, counts[frame]) for frame in sorted(counts)), stacks


def _conditions(wiring: Wiring) -> int:
    """How many tensors decide v1 conditions: a predicate's own Switch, and those of loops, are not among them."""
    deciders = set()
    for node in wiring.graph_def.node:
        if _base(node.op) != "Switch" or len(node.input) < 2 or node.input[0] == node.input[1]:
            continue
        decider = wiring.nodes.get(node_of(node.input[1]))
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
    return tuple(Part(name, node.op, _types(node)) for name, node in _every_node(graph_def) if node.op in wanted)


def _datasets(graph_def: Any) -> tuple[Part, ...]:
    """Datasets and iterators: of the graph, and of the functions that one-shot iterators call."""
    return tuple(
        Part(name, node.op, _types(node))
        for name, node in _every_node(graph_def)
        if node.op in _ITERATORS or node.op.rstrip("V0123456789").endswith("Dataset")
    )


def _tables(artifact: Artifact) -> tuple[Part, ...]:
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


# ------------------------------------------------------------------------------------------------- what may go wrong


def _custom_gradients(graph_def: Any) -> dict[str, int]:
    """Names under which Python registered a gradient, and how many nodes ask for each."""
    names = Counter(
        node.attr["_gradient_op_type"].s.decode(errors="replace")
        for _, node in _every_node(graph_def)
        if "_gradient_op_type" in node.attr
    )
    return dict(names.most_common())


def _risks(artifact: Artifact, wiring: Wiring, roots: Iterable[str], feeds: Sequence[str]) -> tuple[FoundRisk, ...]:
    """Risky operations: those that load() would run for the outputs, and those elsewhere in the file."""
    saver = artifact.meta_graph.saver_def if artifact.meta_graph is not None else None
    upgraded = wiring.graph_def
    needed = risky(upgraded, upgraded.library, roots, feeds=feeds)
    for op, names in risky(upgraded, upgraded.library, _initializers(artifact, wiring), assets=artifact.assets).items():
        needed[op] = [*needed.get(op, ()), *names]
    everywhere = risky(artifact.graph_def, artifact.graph_def.library, saver=saver, assets=artifact.assets)
    found = []
    for op in {*needed, *everywhere}:
        nodes = sorted({*needed.get(op, ()), *everywhere.get(op, ())})
        found.append(FoundRisk(op, RISKS[op].kind, RISKS[op].why, tuple(nodes), op in needed))
    return tuple(sorted(found, key=lambda each: (not each.needed, KINDS.index(each.kind), each.op)))


def _initializers(artifact: Artifact, wiring: Wiring) -> list[str]:
    """What a SavedModel or an export has run when it is loaded."""
    names: list[str] = []
    if "__saved_model_init_op" in artifact.signatures:
        names = [info.name for info in artifact.signatures["__saved_model_init_op"].outputs.values()]
    elif artifact.meta_graph is not None and artifact.kind in ("saved model", "session bundle"):
        collections = artifact.meta_graph.collection_def
        keys = ("saved_model_main_op", "legacy_init_op", "serving_init_op")
        names = [name for key in keys if key in collections for name in collections[key].node_list.value]
    return [node_of(name) for name in names if node_of(name) in wiring.nodes]


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
    wiring: Wiring,
    needed: frozenset[str],
    variables: Sequence[Variable],
    counted: Flops,
    stacks: Mapping[str, tuple[str, ...]],
    unknown: Mapping[str, Sequence[str]],
    face: interface.Interface,
) -> list[str]:
    """What a reader should know, in sentences."""
    fed = {node_of(spec.tensor) for spec in face.inputs.values()}
    notes = []
    if not artifact.graph_def.node:
        notes.append("the graph is empty")
    elif not face.outputs:
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
    waits = sorted(name for name in needed - fed if wiring.nodes[name].op.startswith(("QueueDequeue", "ReaderRead")))
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
    functions = {function.signature.name for function in wiring.graph_def.library.function}
    if any(wiring.nodes[name].op in _V2_CONTROL | functions for name in needed):
        notes.append("what functions do is not in the FLOPs")
    return notes
