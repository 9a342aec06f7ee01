"""load(): any model that TensorFlow 1 wrote, as one that any thread can call.

::

    files.read ──▶ prepared ──▶ weights ──▶ one graph, one session ──▶ Model
                                                                         │
    a call needs nodes ──▶ values.prepare: what of their variables,  ◀───┘
                           constants and tables has no value yet gets it, once

What no call needs is never read: the slots of an optimizer stay in the checkpoint.
"""

from __future__ import annotations

import asyncio
import dataclasses
import difflib
import functools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from tf1sessions.errors import ClosedError, ModelError, UnknownOperationError, UsageError
from tf1sessions.models import files, subgraphs, upgrades, values, weights
from tf1sessions.models.files import Artifact
from tf1sessions.models.graph_index import GraphIndex, node_of, tensor_name
from tf1sessions.models.interface import Interface, TensorSpec, in_order, other_signatures
from tf1sessions.models.optimizing import better_as_it_is
from tf1sessions.models.prepared import Prepared, default_signature
from tf1sessions.models.ranks import RankCheck, RankedCall
from tf1sessions.models.static_sizes import check_shapes, check_sizes
from tf1sessions.models.trial import try_model
from tf1sessions.pipelines.batching import Batcher
from tf1sessions.pipelines.rows import Rows
from tf1sessions.runtime import tf
from tf1sessions.sessions import logical_devices
from tf1sessions.sessions.config import SessionConfig
from tf1sessions.sessions.session import GraphSession

__all__ = ["Model", "Signature", "load"]


def load(
    path: str | os.PathLike[str],
    *,
    tags: Sequence[str] | None = None,
    signature: str | None = None,
    inputs: Sequence[str] | Mapping[str, str] | None = None,
    outputs: Sequence[str] | Mapping[str, str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    initialize: bool = False,
    allow_ops: Collection[str] = (),
    fold_constants: bool = False,
    config: Any = None,
    trial: bool = False,
) -> Model:
    """Loads a model that TensorFlow 1 wrote.

    Args:
        path: A frozen or other GraphDef (``.pb``, ``.pbtxt``), a MetaGraph (``.meta``), the prefix of a checkpoint, a
            folder with checkpoints, a SavedModel, or an export of ``session_bundle``.
        tags: Which graph of a SavedModel, where there are several.
        signature: Which signature the model itself answers to; the one for serving by default. The others are in
            :attr:`Model.signatures`.
        inputs: Tensors to feed, by their names or as name for the caller -> name of the tensor. A queue or a reader in
            the graph is cut off by naming the tensor that is to be fed instead. Default: what the signature says, or
            a guess.
        outputs: Tensors to give, likewise.
        checkpoint: Prefix of a checkpoint with the variables' values, or a folder with one; for a graph that has none,
            or instead of its own.
        initialize: Whether variables that no checkpoint has get fresh initial values.
        allow_ops: Operations (``"PyFunc"``) that the model may run although they touch files, the network or Python.
        fold_constants: Keeps large constants as constants. TensorFlow may then rearrange them for speed (with oneDNN
            up to 1.5 times as fast on small batches), for about 7 times their size in memory.
        config: A :class:`~tf1sessions.SessionConfig` or a ``ConfigProto``. By default operations that name a device
            that is not there run on the CPU.
        trial: Whether the model is first loaded in a child process and run there once, with zeros, 4,096 MB of memory
            and 120 seconds: for files whose author is not known. What a graph may do to files and the network is looked
            at in any case.

    Returns:
        A :class:`Model`. Close it, or use it in a ``with``.

    Raises:
        ModelFileError: There is no model, or it is malformed or cut off; or it has not come through its trial.
        UnknownOperationError: An output needs an operation that this TensorFlow does not have.
        UnsafeModelError: The model would touch files, the network or Python, by an operation not in ``allow_ops``.
        CheckpointMismatchError: The checkpoint is of another graph.
        ModelError: A variable or table has no value; TensorFlow refuses the graph.
        UsageError: A tensor, signature or tag that is not there.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with tf.Graph().as_default() as graph:
        ...     doubled = tf.multiply(tf.placeholder(tf.float32, [None], name="x"), 2.0, name="doubled")
        >>> _ = tf.train.write_graph(graph, ".", "doubling.pb", as_text=False)
        >>> with t1.load("doubling.pb") as model:
        ...     model(x=[1.0, 4.0])["doubled"].tolist()
        [2.0, 8.0]
    """
    artifact = files.read(path, tags)
    if trial:
        given = {
            "tags": tags,
            "signature": signature,
            "inputs": inputs,
            "outputs": outputs,
            "checkpoint": None if checkpoint is None else os.fspath(checkpoint),
            "initialize": initialize,
            "allow_ops": list(allow_ops),
            "fold_constants": fold_constants,
        }
        try_model(path, given)
    if checkpoint is not None:
        artifact = dataclasses.replace(artifact, checkpoint=files.checkpoint_prefix(checkpoint))
    return Model(
        artifact,
        signature=signature,
        inputs=inputs,
        outputs=outputs,
        initialize=initialize,
        allow_ops=allow_ops,
        fold_constants=fold_constants,
        config=config,
    )


class Signature:
    """One way to call a model: ``signature(images=batch)``, or ``signature(batch)``, gives a dict of arrays.

    Attributes:
        name: Its name.
        inputs, outputs: Name -> :class:`TensorSpec`.
        guessed: Whether they were guessed from the graph; ``notes`` then says how.

    Thread-safety: safe to call from any thread.
    """

    def __init__(self, model: Model, interface: Interface) -> None:
        self._model = model
        self.name = interface.name
        self.inputs = interface.inputs
        self.outputs = interface.outputs
        self.guessed = interface.guessed
        self.notes = interface.notes
        self._calls: dict[tuple[str, ...], Any] = {}
        tensor = model.graph.get_tensor_by_name
        self._open = [name for name, spec in self.inputs.items() if tensor(spec.tensor).shape.rank is None]

    def __call__(self, /, *values: Any, **named: Any) -> dict[str, Any]:
        """Runs the model.

        Args:
            *values: Inputs in the order of :attr:`inputs`, optional ones last; or one dict of them by name, for names
                that are no identifiers.
            **named: Inputs by name.

        Returns:
            Output -> array, the caller's own.

        Raises:
            TypeError: An input is unknown, missing or given twice.
            ValueError: A value does not have the shape of its input.
            tf.errors.OpError: As ``Session.run``.
            ClosedError: The model was closed.
        """
        if self._model._gs.closed:
            self._model._check_open()
        given = self._by_name(values, named) if values else named
        names = tuple(given)
        try:
            call = self._calls.get(names) or self._compile(names)
            results = call(*given.values())
        except RuntimeError as error:
            raise self._model._ended_by(error) from error.__cause__
        return dict(zip(self.outputs, results, strict=True))

    def _by_name(self, values: tuple[Any, ...], named: Mapping[str, Any]) -> Mapping[str, Any]:
        """All inputs of a call by name."""
        if len(values) == 1 and isinstance(values[0], Mapping):
            return {**values[0], **named}
        return in_order(
            self.name, self.inputs, values, named, lambda: f"{_spec_text(self.inputs)}. {_example(self.inputs)}"
        )

    def tensors(self, names: Sequence[str] | None = None) -> tuple[dict[str, str], dict[str, str]]:
        """The tensors of its inputs (of ``names``, or of those that are required) and of its outputs."""
        if names is None:
            names = [name for name, spec in self.inputs.items() if not spec.optional]
        return (
            {name: self.inputs[name].tensor for name in names},
            {name: spec.tensor for name, spec in self.outputs.items()},
        )

    def _compile(self, names: tuple[str, ...]) -> Any:
        unknown = [name for name in names if name not in self.inputs]
        missing = [name for name, spec in self.inputs.items() if not spec.optional and name not in names]
        if unknown or missing:
            wrong = f"has no input {unknown[0]!r}" if unknown else f"needs the input {missing[0]!r}, which is not given"
            raise TypeError(
                f"the signature {self.name!r} {wrong}; its inputs are {_spec_text(self.inputs)}. "
                f"{_example(self.inputs)}"
            )
        feeds, fetches = self.tensors(names)
        call = self._model._compile(list(feeds.values()), list(fetches.values()))
        if check := self._model._rank_check(feeds.values(), fetches.values()):
            call = RankedCall(call, check, names, [name for name in names if name in self._open])
        self._calls[names] = call
        return call

    def knows_ranks(self, inputs: Mapping[str, Any]) -> bool:
        """Whether inputs with so many dimensions do not need to be checked by a call first.

        They do where the graph leaves the number of dimensions open, and no call has had these yet.
        """
        if not self._open:
            return True
        call = self._calls.get(tuple(inputs))
        return call is not None and (not isinstance(call, RankedCall) or call.knows(tuple(inputs.values())))

    def __repr__(self) -> str:
        return f"<Signature {self.name!r}: {_spec_text(self.inputs)} -> {_spec_text(self.outputs)}>"


class Model:
    """A model that was loaded; made by :func:`load`.

    One graph, one session and one copy of the weights, whoever calls. What every call does not need is read when a
    call first does.

    Attributes:
        path: Where it came from.
        kind: What that is, such as ``"saved model"``.
        signatures: Name -> :class:`Signature`; of a file without any, one that is guessed.
        signature: The one that the model itself answers to.
        notes: What was chosen, guessed and upgraded, in sentences.
        graph: The ``tf.Graph``. It is sealed.
        plan: What it was loaded from, as it was before (:class:`~tf1sessions.models.prepared.Prepared`).

    Thread-safety: everything is safe from any thread.
    """

    def __init__(
        self,
        artifact: Artifact,
        *,
        signature: str | None = None,
        inputs: Sequence[str] | Mapping[str, str] | None = None,
        outputs: Sequence[str] | Mapping[str, str] | None = None,
        initialize: bool = False,
        allow_ops: Collection[str] | None = (),
        fold_constants: bool = False,
        config: Any = None,
    ) -> None:
        self.path = artifact.path
        self.kind = artifact.kind
        self._prepared: dict[tuple[tuple[str, ...], tuple[str, ...]], RankCheck | None] = {}  # fetches, feeds of run()
        plan = self.plan = Prepared(artifact, inputs, outputs, allow_ops)
        notes, interfaces, main = list(plan.notes), plan.interfaces, plan.main
        graph_def = subgraphs.without_gradient_stops(plan.graph_index)
        graph_index = GraphIndex(graph_def)

        large: list[weights.Weight] = []
        if fold_constants:
            graph_def = _whole(graph_def, artifact)
        else:
            graph_def, large = weights.constants_to_variables(graph_def, artifact.contents)
        restoring = values.find_restoring(graph_index, artifact.meta_graph)
        by_name = []
        if artifact.checkpoint is not None:
            by_name = [
                node.name
                for node in graph_index.graph_def.node
                if node.op in values.VARIABLES and node.name not in restoring
            ]
        graph_def, fills = values.add_fills(graph_def, large, by_name)
        self._graph_index = GraphIndex(graph_def)

        self._gs, refused = _imported(self._graph_index, interfaces, main, config, artifact.path)
        try:
            if refused:
                notes.append(refused)
                self._graph_index = GraphIndex(self._gs.graph.as_graph_def())
            self.graph = self._gs.graph
            self._values = values.Values(
                artifact, self._graph_index, large, restoring, fills, self._gs.session, initialize, self.plan.vet
            )
            self.signatures: dict[str, Signature] = {
                name: Signature(self, _completed(one, self.graph)) for name, one in interfaces.items()
            }
            self.signature = self.signatures[default_signature(self.signatures, signature, notes)]
            for operation in main:
                self._values.run_once(operation, artifact.assets)
            for each in self.signatures.values():
                feeds, fetches = each.tensors()
                self._prepare(fetches.values(), feeds.values())
            self._gs.seal()
        except BaseException:
            self._gs.close()
            raise
        self.notes: tuple[str, ...] = (*notes, *self.signature.notes, *self._values.notes)

    @property
    def inputs(self) -> Mapping[str, TensorSpec]:
        """The inputs of :attr:`signature`."""
        return self.signature.inputs

    @property
    def outputs(self) -> Mapping[str, TensorSpec]:
        """The outputs of :attr:`signature`."""
        return self.signature.outputs

    def __call__(self, /, *values: Any, **named: Any) -> dict[str, Any]:
        """Calls :attr:`signature`: ``model(images=batch)``, ``model(batch)``, or ``model({"my/images": batch})``."""
        return self.signature(*values, **named)

    async def acall(self, /, *values: Any, **named: Any) -> dict[str, Any]:
        """Call without blocking the event loop: it runs in a thread of asyncio's default executor."""
        return await asyncio.to_thread(self.signature, *values, **named)

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """As ``Session.run``: any tensors and operations of the graph, by name.

        Raises:
            UsageError: A tensor is not in the graph.
            ValueError: A value does not have the shape of its feed, or the graph does not take its rank.
            UnknownOperationError: It was left out, because it needs an operation that this TensorFlow does not have.
            UnsafeModelError: What is fetched would touch files, the network or Python.
            ModelError: It needs a variable that has no value.
            ClosedError: The model was closed.
        """
        self._check_open()
        feeds = {
            tensor_name(feed) if isinstance(feed, str) else feed: value for feed, value in (feed_dict or {}).items()
        }
        named, given = (tuple(_name_of(item) for item in items) for items in (tf.nest.flatten(fetches), feeds))
        if (named, given) not in self._prepared:
            for name in (*named, *given):
                self._check_there(name)
            self._prepare(named, given)
            self._prepared[named, given] = self._rank_check(given, named)
        if check := self._prepared[named, given]:
            values = dict(zip(given, feeds.values(), strict=True))
            check.require(check.open_feeds, [values[name] for name in check.open_feeds])
        try:
            return self._gs.session.run(fetches, feeds)
        except RuntimeError as error:
            raise self._ended_by(error) from error.__cause__

    def batched(self, *, signature: str | None = None, inputs: Sequence[str] | None = None, **options: Any) -> Batcher:
        """A callable that puts the rows of many callers together and runs them as one batch.

        Args:
            signature: The one of :attr:`signatures`; by default the model's own.
            inputs: Which inputs callers give; those that are required by default.
            **options: Of :class:`~tf1sessions.pipelines.batching.Batcher`: ``max_batch_size``, ``max_delay_ms``,
                ``queue_limit``, ...

        Returns:
            A Batcher. Close it before the model.
        """
        self._check_open()
        chosen = self.signature if signature is None else self._signature(signature)
        feeds, fetches = chosen.tensors(inputs)
        self._prepare(fetches.values(), feeds.values())
        tensor = self.graph.get_tensor_by_name
        check = self._rank_check(feeds.values(), fetches.values())
        make = Batcher if check is None else functools.partial(_RankedBatcher, check)
        return make(
            self._gs,
            {name: tensor(feed) for name, feed in feeds.items()},
            {name: tensor(fetch) for name, fetch in fetches.items()},
            **options,
        )

    def close(self) -> None:
        """Closes the session and frees the weights. Calls that run end with ``CancelledError``."""
        self._gs.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._gs.closed

    def __enter__(self) -> Model:
        self._check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = " closed" if self.closed else ""
        return f"<Model {self.path!r}{state}, {self.kind}: {_spec_text(self.inputs)} -> {_spec_text(self.outputs)}>"

    # -- inside

    def _signature(self, name: str) -> Signature:
        if name not in self.signatures:
            raise UsageError(
                f"{self.path} has no signature {name!r}",
                where="signature=",
                next_step=other_signatures(name, self.signatures),
            )
        return self.signatures[name]

    def _check_open(self) -> None:
        if self.closed:
            raise self._closed_error()

    def _closed_error(self) -> ClosedError:
        return ClosedError(f"the model {self.path} is closed", where="Model", next_step="Load it again.")

    def _ended_by(self, error: RuntimeError) -> RuntimeError:
        """The error of a call: TensorFlow's own where another thread has closed the session since the call began."""
        return self._closed_error() if type(error) is RuntimeError and self.closed else error

    def _check_there(self, name: str) -> None:
        node = node_of(name)
        if node in self._graph_index.nodes:
            return
        needed = self.plan.whole.ancestors([node])
        lost = {op: names for op, names in self.plan.unknown.items() if not needed.isdisjoint(names)}
        if lost:
            gone = subgraphs.list_operations(lost)
            raise UnknownOperationError(
                f"{name!r} was left out: it needs operations that this TensorFlow does not have ({gone})",
                where=self.path,
                next_step="Load the library that brings them first (tf.load_op_library).",
                nodes=lost,
            )
        near = difflib.get_close_matches(node, self._graph_index.nodes, 3)
        raise UsageError(
            f"the graph has no {name!r}",
            where=self.path,
            next_step=f"Near to it are {', '.join(near)}." if near else "`tf1sessions inspect` lists what is there.",
        )

    def _compile(self, feeds: Sequence[str], fetches: Sequence[str]) -> Any:
        self._prepare(fetches, feeds)
        return self._gs.compile(feeds=list(feeds), fetches=list(fetches))

    def _rank_check(self, feeds: Iterable[str], fetches: Iterable[str]) -> RankCheck | None:
        """The check of the feeds whose ranks the graph leaves open; None where it leaves none open."""
        outputs = {name: self.graph.get_operation_by_name(node_of(name)).outputs for name in feeds}
        tensors = {tensor.name: tensor for name in outputs for tensor in outputs[name] if tensor.name == name}
        open_feeds = [name for name, tensor in tensors.items() if tensor.shape.rank is None]
        if not open_feeds:
            return None
        dtypes = {name: tensor.dtype.base_dtype for name, tensor in tensors.items()}
        return RankCheck(self._graph_index, dtypes, list(fetches), open_feeds)

    def _prepare(self, fetches: Collection[str], feeds: Collection[str]) -> None:
        """Makes ready what a request needs: refuses what is unsafe in it, and sets the values it needs."""
        cut = [tensor_name(name) for name in feeds]
        self.plan.vet(fetches, cut, "what is fetched")
        needed = self._graph_index.ancestors([node_of(name) for name in fetches], cut)
        check_sizes(self.graph, needed, self._graph_index.graph_def.library, self.path)
        self._values.prepare(needed)


class _RankedBatcher(Batcher):
    """A Batcher that asks a check for the ranks of each request."""

    def __init__(self, check: RankCheck, session: Any, feeds: Any, fetches: Any, **options: Any) -> None:
        super().__init__(session, feeds, fetches, **options)
        self._check = check
        self._open = [index for index, feed in enumerate(feeds.values()) if feed.shape.rank is None]

    def _read(
        self, args: tuple[Any, ...], named: Mapping[str, Any], deadline_secs: float | None
    ) -> tuple[Rows, float | None]:
        rows, deadline_secs = super()._read(args, named, deadline_secs)
        given = dict(zip(rows.given, rows.values, strict=True))
        if given.keys() >= set(self._open):
            names = [self._call.names[index] for index in self._open]
            self._check.require(names, [given[index] for index in self._open])
        return rows, deadline_secs


# ------------------------------------------------------------------------------------------------- what load() goes by


def _whole(graph_def: Any, artifact: Artifact) -> Any:
    return dataclasses.replace(artifact, graph_def=graph_def).whole_graph_def()


def _imported(
    graph_index: GraphIndex, interfaces: Mapping[str, Interface], main: Sequence[str], config: Any, path: str
) -> tuple[GraphSession, str | None]:
    """A session with the graph; where TensorFlow refuses it, with the part of it that the signatures need.

    Raises:
        ModelError: TensorFlow refuses that too.
    """
    try:
        return _session(graph_index.graph_def, config, path), None
    except ModelError as error:
        roots = [node_of(spec.tensor) for one in interfaces.values() for spec in one.outputs.values()]
        roots += [node_of(spec.tensor) for one in interfaces.values() for spec in one.inputs.values()]
        part = values.with_setters(graph_index, graph_index.ancestors([*roots, *main]))
        if len(part) == len(graph_index.nodes):
            raise
        gs = _session(subgraphs.subgraph(graph_index, part), config, path)
        return gs, f"only the part that the signatures need was loaded, TensorFlow refuses the whole: {error.__cause__}"


def _session(graph_def: Any, config: Any, path: str) -> GraphSession:
    if config is None:  # a graph that names GPUs runs where there are none
        plain = better_as_it_is(GraphIndex(graph_def))
        config = SessionConfig(soft_placement=True, graph_optimization="off" if plain else "default")
    gs = GraphSession(config, name=f"model {os.path.basename(path)}")
    if gs.config.lane is not None:  # the graph's own nodes are placed as they are imported, its functions' are not
        graph_def = logical_devices.place(graph_def, gs.config.lane)
    try:
        with gs.as_default():
            upgrades.importing(tf.import_graph_def, lambda: _nothing)(graph_def, name="")
        check_shapes(gs.graph)
    except (ValueError, TypeError, LookupError, tf.errors.OpError) as error:
        gs.close()
        raise ModelError(
            f"TensorFlow refuses the graph: {error}",
            where=path,
            next_step="`tf1sessions inspect` shows what is in it.",
        ) from error
    except BaseException:
        gs.close()
        raise
    return gs


def _completed(one: Interface, graph: Any) -> Interface:
    """Complete the dtypes and shapes by those that the graph has."""

    def complete(specs: Mapping[str, TensorSpec]) -> dict[str, TensorSpec]:
        found = {}
        for key, spec in specs.items():
            tensor = graph.get_tensor_by_name(spec.tensor)
            shape = tensor.shape if spec.shape is None or tensor.shape.rank is not None else spec.shape
            found[key] = dataclasses.replace(spec, dtype=tensor.dtype.base_dtype, shape=shape)
        return found

    return dataclasses.replace(one, inputs=complete(one.inputs), outputs=complete(one.outputs))


def _name_of(item: Any) -> str:
    """The name of a tensor or an operation, given as such or by its name."""
    return str(item if isinstance(item, str) else getattr(item, "name", item))


def _example(inputs: Mapping[str, TensorSpec]) -> str:
    """Return an example of a call of a signature with these inputs."""
    names = [name for name, spec in inputs.items() if not spec.optional]
    if all(name.isidentifier() for name in names):
        return f"Call it as model({', '.join(f'{name}=…' for name in names)})."
    return f"Call it as model({{{', '.join(f'{name!r}: …' for name in names)}}})."


def _spec_text(specs: Mapping[str, TensorSpec]) -> str:
    parts = []
    for name, spec in specs.items():
        shape = "" if spec.shape is None else str(spec.shape).replace("None", "?")
        dtype = spec.dtype.name if spec.dtype is not None else ""
        parts.append(f"{name} {dtype} {shape}".strip() + (" (optional)" if spec.optional else ""))
    return ", ".join(parts) or "none"


def _nothing() -> None:
    """Drop what a failed import has left behind."""
