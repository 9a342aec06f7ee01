"""The source of a module: a path of anything that ``load()`` takes, a Model, or a function that builds a graph.

::

    path ──▶ files.read ──┐
    Model ────────────────┼──▶ Source: the graph, ready for today's TensorFlow · signatures · where the values are
    build(x, y) ──────────┘
      in a fresh graph: the arguments are placeholders, the graph and its collections are taken as a MetaGraph
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tf1sessions.errors import ConversionError, UsageError
from tf1sessions.models import files
from tf1sessions.models.arguments import output_types
from tf1sessions.models.files import Artifact
from tf1sessions.models.graph_index import GraphIndex, node_of, tensor_name
from tf1sessions.models.interface import TensorSpec
from tf1sessions.models.model import Model
from tf1sessions.models.prepared import Prepared, default_signature
from tf1sessions.porting.values import VariableValues
from tf1sessions.runtime import tf

__all__ = ["PLACEHOLDERS", "Port", "Source", "open_source"]

#: What :func:`open_source` takes.
Port: TypeAlias = "str | os.PathLike[str] | Model | Callable[..., Any]"

PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})
#: The signature of a function.
_SERVING = "serving_default"
#: Until this version of GraphDef, a placeholder of an unknown shape said that it was a scalar.
_SHAPES_ARE_KNOWN = 24


@dataclasses.dataclass(frozen=True)
class Source:
    """A graph, and all that is known of it.

    Attributes:
        where: Where it comes from, for errors.
        prepared: The graph.
        signature: The name of the signature that is the module's own.
        values: The values of its variables.
        structures: What a function took and gave, with the names of inputs and outputs in the place of tensors; None
            for what is not a function.
        notes: What was chosen, in sentences.
        kept: What must live as long as the graph is used: the Python functions that it calls.
    """

    where: str
    prepared: Prepared
    signature: str
    values: VariableValues
    structures: tuple[Any, Any] | None = None
    notes: tuple[str, ...] = ()
    kept: Any = None

    @property
    def graph_index(self) -> GraphIndex:
        return self.prepared.graph_index

    @property
    def artifact(self) -> Artifact:
        return self.prepared.artifact

    def spec(self, name: str, tensor: str) -> TensorSpec:
        """A tensor of the graph as an input: its dtype and shape, as far as the graph shows them."""
        node = self.graph_index.nodes[node_of(tensor)]
        index = int(tensor_name(tensor).rpartition(":")[2])
        if node.op in PLACEHOLDERS and node.attr["dtype"].type:
            dtype, shape = tf.as_dtype(node.attr["dtype"].type), tf.TensorShape(None)
            if "shape" in node.attr and node.op != "PlaceholderV2":
                shape = tf.TensorShape(node.attr["shape"].shape)
                if shape.rank == 0 and self.graph_index.graph_def.versions.producer < _SHAPES_ARE_KNOWN:
                    shape = tf.TensorShape(None)
            return TensorSpec(name, tensor, dtype, shape, optional=node.op == "PlaceholderWithDefault")
        types = output_types(node)
        if index >= len(types) or not types[index]:
            raise ConversionError(
                f"the dtype of {tensor!r} cannot be determined, so it cannot be an input",
                where=self.where,
                next_step="Name the tensor before it, or the one behind it.",
                nodes=(node.name,),
            )
        shapes = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else ()
        shape = tf.TensorShape(shapes[index]) if index < len(shapes) else tf.TensorShape(None)
        return TensorSpec(name, tensor, tf.as_dtype(types[index]).base_dtype, shape)


def open_source(
    source: Port,
    *,
    signature: str | None = None,
    inputs: Any = None,
    outputs: Any = None,
    tags: Sequence[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    initialize: bool = False,
    allow_ops: Collection[str] = (),
) -> Source:
    """Reads what is to become a module; see :func:`tf1sessions.porting.function` for the arguments.

    Raises:
        ConversionError: It is of TensorFlow 2 already.
        ModelError: As :func:`tf1sessions.load`.
        UsageError: As there; or a function whose inputs are not given.
    """
    given = {"tags": tags, "initialize": initialize or None, "allow_ops": allow_ops or None}
    if isinstance(source, Model):
        _refuse_options("a Model has been loaded already", {**given, "checkpoint": checkpoint})
        return _of_model(source, signature, inputs, outputs)
    if not isinstance(source, str | os.PathLike):
        if not callable(source):
            raise UsageError(
                f"the source is {source!r}",
                where="porting.function()",
                next_step="Give a path, a Model of tf1sessions.load(), or a Python function that builds a graph.",
            )
        _refuse_options("a function has one graph, of its own", {**given, "signature": signature, "outputs": outputs})
        return _of_function(source, inputs, None if checkpoint is None else files.checkpoint_prefix(checkpoint))
    artifact = files.read(source, tags)
    _refuse_version_2(artifact)
    if checkpoint is not None:
        artifact = dataclasses.replace(artifact, checkpoint=files.checkpoint_prefix(checkpoint))
    prepared = Prepared(artifact, inputs, outputs, allow_ops)
    notes = [*prepared.notes]
    chosen = default_signature(prepared.interfaces, signature, notes)
    values = VariableValues(prepared, initialize=initialize)
    return Source(artifact.path, prepared, chosen, values, notes=(*notes, *prepared.interfaces[chosen].notes))


def _refuse_options(why: str, given: Mapping[str, Any]) -> None:
    """Refuse options that would have no effect.

    Raises:
        UsageError: One of these is not None.
    """
    for name, value in given.items():
        if value is not None:
            raise UsageError(
                f"{name} is {value!r}, and {why}", where="porting.function()", next_step=f"Leave {name}= out."
            )


def _refuse_version_2(artifact: Artifact) -> None:
    if artifact.meta_graph is not None and len(artifact.meta_graph.object_graph_def.nodes):
        raise ConversionError(
            f"{artifact.path} is a SavedModel of TensorFlow 2 already",
            where="porting.function()",
            next_step="tf.saved_model.load(path) gives its functions and variables as they are.",
            nodes=(),
        )


def _of_model(model: Model, signature: str | None, inputs: Any, outputs: Any) -> Source:
    plan = model.plan
    if inputs is not None or outputs is not None:
        plan = Prepared(plan.artifact, inputs, outputs, None)
    _refuse_version_2(plan.artifact)
    chosen = model.signature.name if signature is None and model.signature.name in plan.interfaces else signature
    notes = list(model.notes)
    chosen = default_signature(plan.interfaces, chosen, notes)
    return Source(model.path, plan, chosen, VariableValues(plan, model=model), notes=tuple(notes))


# --------------------------------------------------------------------------------------- a function that builds a graph


def _of_function(build: Callable[..., Any], inputs: Any, checkpoint: str | None) -> Source:
    where = f"function {getattr(build, '__qualname__', repr(build))}"
    _check_parameters(build, inputs, where)
    with tf.Graph().as_default() as graph:
        if inputs is None:
            taken, given = None, build()
            if isinstance(given, tuple) and len(given) == 2 and _are_placeholders(given[0]):
                taken, given = given
        else:
            taken = _placeholders(inputs)
            given = build(**taken) if isinstance(taken, Mapping) else build(*taken)
        fetched = _fetched(given, graph, where)
        meta = tf.train.export_meta_graph(graph=graph)
    graph_def = tf.GraphDef()
    graph_def.CopyFrom(meta.graph_def)
    meta.ClearField("graph_def")
    artifact = Artifact(where, "function", graph_def, meta_graph=meta, checkpoint=checkpoint)
    if not fetched:
        raise UsageError("it returns no tensor", where=where, next_step="Return the outputs, as tensors of the graph.")
    fed = None if taken is None else _named(taken, where)
    prepared = Prepared(artifact, fed, fetched, allow_ops=None)
    (only,) = prepared.interfaces.values()
    prepared.interfaces = {_SERVING: dataclasses.replace(only, name=_SERVING)}
    taken_names = _names_for(taken) if taken is not None else {key: key for key in only.inputs}
    values = VariableValues(prepared, initialize=True)
    return Source(where, prepared, _SERVING, values, (taken_names, _names_for(given)), kept=graph)


def _fetched(given: Any, graph: tf.Graph, where: str) -> dict[str, str]:
    """Path of an output -> name of its tensor."""
    try:
        return _named(given, where)
    except RuntimeError as error:  # of TensorFlow, which says neither which graph nor why
        if not graph.finalized:
            raise
        raise UsageError(
            "it finalizes its graph, to which what reads the variables that it returns is still added",
            where=where,
            next_step="Leave graph.finalize() to what runs the graph.",
        ) from error


def _check_parameters(build: Callable[..., Any], inputs: Any, where: str) -> None:
    try:
        signature = inspect.signature(build)
    except (TypeError, ValueError):  # of a callable in C
        return
    required = [
        each.name
        for each in signature.parameters.values()
        if each.default is each.empty and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    if inputs is None and required:
        raise UsageError(
            f"it takes {', '.join(required)}, and inputs= does not say what these are",
            where=where,
            next_step=f"Give inputs={{{required[0]!r}: tf.TensorSpec([None, 4], tf.float32), ...}}, or make the "
            "placeholders inside and return (inputs, outputs).",
        )
    if inputs is not None:
        try:
            signature.bind(**inputs) if isinstance(inputs, Mapping) else signature.bind(*inputs)
        except TypeError as error:
            raise UsageError(
                f"inputs= does not fit its parameters: {error}",
                where=where,
                next_step=f"It is {where.split()[-1]}{signature}.",
            ) from error


def _are_placeholders(structure: Any) -> bool:
    leaves = tf.nest.flatten(structure)
    return all(isinstance(each, tf.Tensor) and each.op.type in PLACEHOLDERS for each in leaves)


def _placeholders(inputs: Any) -> Any:
    """A placeholder for each TensorSpec of a structure, under the name that it has there."""
    paths = dict(_paths(inputs))
    made = {}
    for path, spec in paths.items():
        if not isinstance(spec, tf.TensorSpec):
            raise UsageError(
                f"inputs= has {spec!r} for {path!r}",
                where="porting.function()",
                next_step="Give a tf.TensorSpec(shape, dtype) for each input.",
            )
        made[path] = tf.placeholder(spec.dtype, spec.shape, name=_operation_name(spec.name or path))
    return tf.nest.pack_sequence_as(inputs, list(made.values()))


def _operation_name(name: str) -> str:
    safe = "".join(letter if (letter.isalnum() and letter.isascii()) or letter in "_./-" else "_" for letter in name)
    return safe if safe[:1].isalnum() or safe[:1] == "." else f"in{safe}"


def _paths(structure: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of a structure with their path: ``"a"``, ``"b/0"``; a single one is ``"output"``."""
    leaves = tf.nest.flatten(structure)
    names = tf.nest.flatten(_named_like(structure, ""))
    return zip(names, leaves, strict=True)


def _named_like(structure: Any, path: str) -> Any:
    """The structure with the paths of its leaves in it."""
    if isinstance(structure, Mapping):
        found = {key: _named_like(value, f"{path}/{key}") for key, value in structure.items()}
        return tf.nest.pack_sequence_as(structure, tf.nest.flatten(found)) if found else found
    if tf.nest.is_nested(structure):
        parts = list(structure)
        fields = getattr(structure, "_fields", range(len(parts)))
        leaves = [_named_like(value, f"{path}/{key}") for key, value in zip(fields, parts, strict=True)]
        return tf.nest.pack_sequence_as(structure, tf.nest.flatten(leaves))
    return path.removeprefix("/") or "output"


def _names_for(structure: Any) -> Any:
    return _named_like(structure, "")


def _named(structure: Any, where: str) -> dict[str, str]:
    """Path of a leaf -> name of its tensor."""
    found = {}
    for path, leaf in _paths(structure):
        if not isinstance(leaf, tf.Tensor | tf.compat.v2.Variable):
            raise UsageError(
                f"it returns {leaf!r} for {path!r}",
                where=where,
                next_step="Return tensors, in lists, tuples and dicts as you like; an operation that trains is named "
                "by train=.",
            )
        found[path] = (leaf if isinstance(leaf, tf.Tensor) else tf.convert_to_tensor(leaf)).name
    return found
