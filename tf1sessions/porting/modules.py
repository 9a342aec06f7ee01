"""function(): what TensorFlow 1 wrote, or a function that builds its graphs, as a ``tf.Module``.

::

    source ──▶ sources: graph, signatures ──▶ variables: which there are ──▶ values ──▶ tf.Variables ─┐
                                              tables ──▶ tf.lookup tables ────────────────────────────┤
                                                                                                      ▼
                         module(x=...) ◀── calls: a ConcreteFunction for the inputs given ◀── graphs: Replay
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import ConversionError, UsageError
from tf1sessions.models.graph_index import node_of
from tf1sessions.models.interface import DEFAULT_NAMES, GUESSED, Interface, TensorSpec
from tf1sessions.porting.calls import GraphFunction, GraphParts
from tf1sessions.porting.graphs.references import TABLES, VariablePart
from tf1sessions.porting.saving import by_keyword, flat
from tf1sessions.porting.sources import PLACEHOLDERS, Port, Source, open_source
from tf1sessions.porting.steps import loss_of, train_operations, update_operations
from tf1sessions.porting.tables import make_tables
from tf1sessions.porting.variables import (
    Choice,
    VariableSpec,
    chosen,
    find_variables,
    frozen_variables,
    joined,
    recorded_slices,
)
from tf1sessions.runtime import tf

__all__ = ["GraphModule", "function", "require_eager", "written_name"]

tf2: Any = tf.compat.v2

_SERVING = DEFAULT_NAMES[0]


def function(
    source: Port,
    *,
    signature: str | None = None,
    inputs: Any = None,
    outputs: Sequence[str] | Mapping[str, str] | None = None,
    train: bool | str | Sequence[str] | Mapping[str, str] | None = None,
    trainable: Choice = None,
    partitions: str = "joined",
    tags: Sequence[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    initialize: bool = False,
    allow_ops: Collection[str] = (),
) -> GraphModule:
    """Makes a ``tf.Module`` of what TensorFlow 1 wrote, or of a Python function that builds one of its graphs.

    Args:
        source: A path of anything that :func:`tf1sessions.load` takes, a :class:`~tf1sessions.Model`, or a function. It
            is called once, in a fresh graph.
        signature: The one that the module itself answers to; the one for serving by default. The others are in
            :attr:`GraphModule.signatures`.
        inputs: Of an artifact: tensors to feed, as for ``load``. Of a function: a ``tf.TensorSpec`` for each of its
            parameters, by name or in their order; it gets placeholders. A function without parameters makes its
            placeholders itself, and returns ``(inputs, outputs)``.
        outputs: Tensors to give, as for ``load``.
        train: Which operations are :meth:`GraphModule.train`; True for the graph's own train operation. Where there
            are several, as those of a GAN, a name for each: they are in :attr:`GraphModule.steps` by these names.
        trainable: Which variables are trained, instead of what the graph says: names, patterns such as
            ``"dense*/kernel"``, or a function of the name. Constants of a frozen graph can be chosen as well.
        partitions: Whether a partitioned variable becomes one variable (``"joined"``) or stays in parts (``"kept"``).
        tags: Which graph of a SavedModel, where there are several.
        checkpoint: Prefix of a checkpoint with the variables' values, or a folder with one.
        initialize: Whether variables of an artifact that no checkpoint has get fresh initial values.
        allow_ops: Operations that the graph of an artifact may run although they touch files, the network or Python.

    Returns:
        A :class:`GraphModule`.

    Raises:
        ConversionError: A part of the graph cannot become TensorFlow 2; ``nodes`` names it.
        ModelError: As :func:`tf1sessions.load`.
        UsageError: A tensor, signature or variable that is not there.

    Example:
        >>> import tensorflow as tf
        >>> import tf1sessions as t1
        >>> def build(x):
        ...     w = t1.tf1.get_variable("w", [3, 1], initializer=t1.tf1.ones_initializer())
        ...     return {"y": t1.tf1.matmul(x, w)}
        >>> module = t1.porting.function(build, inputs={"x": tf.TensorSpec([None, 3], tf.float32)})
        >>> module(x=[[1.0, 2.0, 3.0]])["y"].numpy().tolist()
        [[6.0]]
        >>> [variable.name for variable in module.trainable_variables]
        ['w:0']
    """
    require_eager("porting.function()")
    if partitions not in ("joined", "kept"):
        raise UsageError(
            f"partitions is {partitions!r}", where="porting.function()", next_step="Give 'joined' or 'kept'."
        )
    opened = open_source(
        source,
        signature=signature,
        inputs=inputs,
        outputs=outputs,
        tags=tags,
        checkpoint=checkpoint,
        initialize=initialize,
        allow_ops=allow_ops,
    )
    return GraphModule(opened, train=train, trainable=trainable, partitions=partitions)


def require_eager(where: str) -> None:
    """Refuses to work where there are no variables of TensorFlow 2.

    Raises:
        UsageError: Eager execution is off.
    """
    if not tf.executing_eagerly_outside_functions():
        raise UsageError(
            "eager execution is off in this program",
            where=where,
            next_step="Convert in a program of TensorFlow 2: without disable_eager_execution(), disable_v2_behavior() "
            "or tf1sessions.enable_v1_behavior().",
        )


def written_name(signature: str) -> str:
    """Return what a signature is called in a SavedModel: one that was guessed is the one for serving, for everybody."""
    return _SERVING if signature == GUESSED else signature


class GraphModule(tf2.Module):  # type: ignore[misc]
    """A graph of TensorFlow 1 with variables of TensorFlow 2; made by :func:`function`.

    Attributes:
        by_name: The variables by the names that TensorFlow 1 has for them, without ``":0"``.
        variables, trainable_variables: All of them, and those that are trained.
        collections: Name of a collection -> the variables in it.
        notes: What was chosen, guessed and upgraded, in sentences.
        where: Where it came from.

    Thread-safety: calls are safe from any thread.
    """

    # As attributes, not as properties: so that a SavedModel has them, too.
    variables: Any = ()
    trainable_variables: Any = ()

    def __init__(self, source: Source, *, train: Any, trainable: Choice, partitions: str) -> None:
        super().__init__(name="graph_module")
        self.where = source.where
        self.notes = _plain(source.notes)
        self._source = source
        trains = _train_steps(source, train)
        steps = {"update": update_operations(source), **trains}
        losses = {name: loss_of(source, operations) for name, operations in trains.items() if operations}
        if None in losses.values():
            self.notes = _plain([*source.notes, _NO_LOSS])
        takes = {name: _inputs_of(source, one) for name, one in source.prepared.interfaces.items()}
        ends = [
            *(each for names in steps.values() for each in names),
            *(node_of(each) for each in losses.values() if each),
        ]
        needed = _needed(source, takes, ends)
        specs = _variables_of(source, needed, trainable, partitions)
        with tf.init_scope():
            made = _make_variables(source, specs)
            tables = make_tables(
                source, [name for name in sorted(needed) if source.graph_index.nodes[name].op in TABLES]
            )
        self.by_name = {spec.name: made[spec.node] for spec in specs}
        self.variables = [made[spec.node] for spec in specs]
        self.trainable_variables = [made[spec.node] for spec in specs if spec.trainable]
        self.collections = {
            name: tuple(made[spec.node] for spec in specs if name in spec.collections)
            for name in sorted({name for spec in specs for name in spec.collections})
        }
        self._tables = list(tables.values())
        parts = GraphParts(
            source.graph_index.graph_def,
            source.where,
            dict(_by_node(specs, made)),
            {spec.node: made[spec.node] for spec in specs if spec.frozen},
            tables,
        )
        self._parts = _Parts(parts)
        self._distribution: Any = None
        self._calls = _Calls(source, parts, takes, steps, losses)

    def has(self, name: str) -> bool:
        """Whether there is a variable, an input, an output, or a tensor of this name."""
        calls = [*self.signatures.values(), *self.steps.values()]
        known = any(name in call.inputs or name in call.outputs for call in calls)
        return known or name in self.by_name or node_of(name) in self._source.graph_index.nodes

    def distributed(self, distribution: Any) -> None:
        """Have its calls run under a strategy, or on one device again; :func:`distribute` is for callers."""
        before, self._distribution = self._distribution, distribution
        new: dict[int, Any] = {}
        if distribution is not None:
            distribution.meet()
        for variable in self.variables:
            alone = variable if before is None else before.alone(variable)
            new[id(variable)] = alone if distribution is None else distribution.variable(alone)
        self.by_name = {name: new[id(each)] for name, each in self.by_name.items()}
        self.collections = {name: tuple(new[id(each)] for each in of) for name, of in self.collections.items()}
        self.variables, self.trainable_variables = (
            [new[id(each)] for each in of] for of in (self.variables, self.trainable_variables)
        )
        parts = self._parts.of
        self._parts = _Parts(
            dataclasses.replace(
                parts,
                variables={
                    name: dataclasses.replace(each, variable=new[id(each.variable)])
                    if isinstance(each, VariablePart)
                    else new[id(each)]
                    for name, each in parts.variables.items()
                },
                constants={name: new[id(each)] for name, each in parts.constants.items()},
            )
        )
        self._calls.remake(self._parts.of, GraphFunction if distribution is None else distribution.make)

    def __call__(self, values: Any = None, /, *more: Any, **named: Any) -> Any:
        """Runs the signature that the module answers to.

        Args:
            values: Inputs by name, or in the structure that the builder took; or the first input.
            *more: Then the others, in the order of :attr:`inputs`, optional ones last.
            **named: Inputs by name. A switch, such as ``training``, may be Python's True or False: the call is then
                specialised for it.

        Returns:
            The tensors: by the names of the outputs, or in the structure that the builder returned.

        Raises:
            TypeError: An input is unknown or missing.
            ValueError: A value does not have the shape of its input.
        """
        return self._calls.own(values, *more, **named)

    @property
    def concrete(self) -> Any:
        """The ConcreteFunction of the inputs without a default, in the order of :attr:`inputs`."""
        return self._calls.own.concrete

    @property
    def inputs(self) -> dict[str, TensorSpec]:
        """The inputs, by name."""
        return dict(self._calls.own.inputs)

    @property
    def outputs(self) -> dict[str, str]:
        """The tensors of the outputs, by name."""
        return dict(self._calls.own.outputs)

    @property
    def signatures(self) -> dict[str, GraphFunction]:
        """All ways to call the graph, by the names of the signatures."""
        return dict(self._calls.by_signature)

    @property
    def steps(self) -> dict[str, GraphFunction]:
        """The calls that change variables: ``"update"``, and ``"train"`` or what ``train=`` has named."""
        return dict(self._calls.steps)

    def update(self, values: Any = None, /, **named: Any) -> Any:
        """Runs the operations in the collection UPDATE_OPS, such as the moving averages of batch normalisation.

        Returns:
            The outputs, computed by the same execution; a GradientTape sees them.

        Raises:
            ConversionError: There are none.
        """
        if "update" not in self._calls.steps:
            raise ConversionError(
                "the graph has no operations in the collection UPDATE_OPS",
                where=self.where,
                next_step="Convert a MetaGraph: a frozen graph has lost its collections.",
                nodes=(),
            )
        return self._calls.steps["update"](values, **named)

    def train(self, values: Any = None, /, **named: Any) -> Any:
        """Runs the train operation once.

        Returns:
            The outputs, computed before the variables change; with them, as ``"loss"``, what the gradients were taken
            of, unless it is one of the outputs already or the builder has returned a structure of its own.

        Raises:
            UsageError: ``train=`` did not name one.
        """
        if "train" not in self._calls.steps:
            raise UsageError(
                "the module was made without its train operation",
                where=self.where,
                next_step="Make it by porting.function(..., train=True), or call one of its steps.",
            )
        return self._calls.steps["train"](values, **named)

    def export_signatures(self) -> dict[str, Any]:
        """Concrete functions for ``tf.saved_model.save(module, folder, signatures=module.export_signatures())``.

        Those of the signatures, and the train steps where there is no signature of their name. A signature that was
        guessed is the one for serving.
        """
        calls = {written_name(name): call for name, call in self._calls.by_signature.items()}
        for name, call in self._calls.steps.items():
            if name != "update":
                calls.setdefault(name, call)
        return {name: flat(call) for name, call in calls.items()}

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> Any:
        """Add the functions of a SavedModel: ``loaded(x=...)``, ``loaded.train(...)``, ``loaded.update(...)``."""
        children = super()._trackable_children(save_type, **kwargs)
        if save_type == "savedmodel":
            if self._distribution is not None:
                raise UsageError(
                    "the module is distributed over the devices of a strategy",
                    where=self.where,
                    next_step="Save it after porting.distribute(module, None); tf.train.Checkpoint saves it as it is.",
                )
            children.update(self._calls.saved())
        return children

    def __repr__(self) -> str:
        return f"<GraphModule of {self.where}: {', '.join(self.inputs)} -> {', '.join(self.outputs)}>"


class _Parts:
    """The graph of a module; not of a kind that is tracked."""

    def __init__(self, of: GraphParts) -> None:
        self.of = of


class _Calls:
    """The functions of a module; not of a kind that is tracked."""

    def __init__(
        self,
        source: Source,
        parts: GraphParts,
        takes: Mapping[str, Mapping[str, TensorSpec]],
        steps: Mapping[str, Sequence[str]],
        losses: Mapping[str, str | None],
    ) -> None:
        outputs = {
            name: {key: spec.tensor for key, spec in one.outputs.items()}
            for name, one in source.prepared.interfaces.items()
        }
        own = source.signature
        self.by_signature = {
            name: GraphFunction(name, parts, takes[name], outputs[name], structures=source.structures)
            for name in outputs
        }
        self.own = self.by_signature[own]
        self.steps = {}
        for name, operations in steps.items():
            if operations:
                gives = dict(outputs[own])
                loss = losses.get(name)
                if loss is not None and source.structures is None and loss not in gives.values():
                    gives.setdefault("loss", loss)
                inputs = _with_more(source, takes[own], [*operations, *map(node_of, gives.values())])
                structures = source.structures
                if structures is not None and inputs.keys() != takes[own].keys():
                    structures = (None, structures[1])  # it takes more than the function did: by name
                self.steps[name] = GraphFunction(name, parts, inputs, gives, operations, structures)
        self._saved: dict[str, Any] | None = None
        for name, call in {"": self.own, **self.steps}.items():  # what cannot be converted is reported now
            if name != "update":
                call.concrete  # noqa: B018 - a property that traces

    def remake(self, parts: GraphParts, make: Callable[..., GraphFunction]) -> None:
        """Make all functions anew, of other parts."""
        new = {id(call): call.remade(parts, make) for call in (*self.by_signature.values(), *self.steps.values())}
        self.own = new[id(self.own)]
        self.by_signature = {name: new[id(call)] for name, call in self.by_signature.items()}
        self.steps = {name: new[id(call)] for name, call in self.steps.items()}
        self._saved = None

    def saved(self) -> dict[str, Any]:
        """The functions as a SavedModel has them; the same at each call, as saving looks more than once."""
        if self._saved is None:
            named = {"__call__": self.own, **self.steps}
            self._saved = {name: by_keyword(call) for name, call in named.items()}
        return self._saved


_NO_LOSS = (
    "the gradients do not show which tensor is the loss: --output loss=NAME, or outputs={..., 'loss': name}, "
    "has the train step give it"
)
_OWN = ("by_name", "collections", "notes", "where")


def _train_steps(source: Source, train: Any) -> dict[str, list[str]]:
    """The operations of each train step.

    Raises:
        UsageError: A step's name cannot be an attribute of the loaded SavedModel.
    """
    if not isinstance(train, Mapping):
        return {"train": train_operations(source, train)}
    for name in train:
        if not name.isidentifier() or (name != "train" and (name in _OWN or hasattr(GraphModule, name))):
            raise UsageError(
                f"{name!r} cannot be the name of a train step",
                where="train=",
                next_step="Choose one that is a Python name, and that the module does not have: train_generator, say.",
            )
    return {name: train_operations(source, operation) for name, operation in train.items()}


def _plain(notes: Sequence[str]) -> str:
    return "\n".join(notes)


# ------------------------------------------------------------------------------------------------------ what is needed


def _inputs_of(source: Source, one: Interface) -> dict[str, TensorSpec]:
    """The inputs of a signature; after these, the placeholders with a default that it does not name but needs."""
    found = {}
    for name, spec in one.inputs.items():
        known = source.spec(name, spec.tensor)
        shape = known.shape if known.shape.rank is not None or spec.shape is None else spec.shape
        found[name] = TensorSpec(name, spec.tensor, known.dtype, shape, spec.optional)
    switches = _with_more(source, found, [node_of(spec.tensor) for spec in one.outputs.values()])
    return found | {name: spec for name, spec in switches.items() if spec.optional and name not in found}


def _with_more(source: Source, takes: Mapping[str, TensorSpec], names: Sequence[str]) -> dict[str, TensorSpec]:
    """The inputs, and the placeholders that these nodes need besides, by their own names."""
    cut = {spec.tensor for spec in takes.values()}
    inputs = dict(takes)
    needed = source.graph_index.ancestors(names, cut)
    for node in source.graph_index.graph_def.node:
        if node.name in needed and node.op in PLACEHOLDERS and f"{node.name}:0" not in cut:
            inputs[node.name] = source.spec(node.name, f"{node.name}:0")
    return inputs


def _needed(source: Source, takes: Mapping[str, Mapping[str, TensorSpec]], operations: Sequence[str]) -> set[str]:
    """The nodes that the signatures and these operations need."""
    found = source.graph_index.ancestors(operations, {spec.tensor for spec in takes[source.signature].values()})
    for name, one in source.prepared.interfaces.items():
        cut = {spec.tensor for spec in takes[name].values()}
        found |= source.graph_index.ancestors([node_of(spec.tensor) for spec in one.outputs.values()], cut)
    return found


def _variables_of(source: Source, needed: set[str], trainable: Choice, partitions: str) -> list[VariableSpec]:
    specs = find_variables(source.artifact, source.graph_index, needed, trainable)
    if partitions == "joined":
        specs = joined(specs, source.values.slices() | recorded_slices(source.artifact, source.graph_index))
    specs += frozen_variables(source.graph_index, needed, trainable, source.artifact.contents)
    return chosen(specs, trainable, source.where)


def _make_variables(source: Source, specs: Sequence[VariableSpec]) -> dict[str, Any]:
    """A ``tf.Variable`` for each node, with its value. One value at a time is in memory twice."""
    by_node = {spec.node: spec for spec in specs}
    made = {}
    for node, value in _begin(source, specs):
        spec = by_node[node]
        if value.dtype != spec.dtype:
            value = np.asarray(value)  # which is converted
        made[node] = tf2.Variable(value, trainable=spec.trainable, name=spec.name, dtype=spec.dtype, shape=spec.shape)
    return made


def _put_together(source: Source, spec: VariableSpec) -> Any:
    whole = np.empty(spec.shape.as_list(), spec.dtype.as_numpy_dtype)
    places = {part.node: VariablePart(None, part.begin, part.size).slices for part in spec.parts}
    for node, value in source.values.arrays(list(places)):
        whole[places[node]] = value
    return whole


def _by_node(specs: Sequence[VariableSpec], made: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what takes the place of each node that is a variable: a variable, or a part of one."""
    for spec in specs:
        if spec.parts:
            for part in spec.parts:
                yield part.node, VariablePart(made[spec.node], part.begin, part.size)
        elif not spec.frozen:
            for node in (spec.node, *spec.aliases):
                yield node, made[spec.node]


def _begin(source: Source, specs: Sequence[VariableSpec]) -> Iterator[tuple[str, Any]]:
    yield from source.values.arrays([spec.node for spec in specs if not spec.frozen and not spec.parts])
    for spec in specs:
        if spec.parts:
            yield spec.node, _put_together(source, spec)
        if spec.frozen and (content := source.artifact.contents.get(spec.node)):
            yield spec.node, content.array(spec.dtype.as_numpy_dtype, spec.shape.as_list())
        elif spec.frozen:
            yield spec.node, tf.make_ndarray(source.graph_index.nodes[spec.node].attr["value"].tensor)
