"""LegacyGraph: a graph that code of TensorFlow 1 builds, whose requests are functions of TensorFlow 2.

::

    with legacy:                      the graph is built as it was: placeholders, layers, optimizers
        ...
    legacy.function(fetches, feeds) ──▶ LegacyFunction ──▶ calls.GraphFunction, by graphs.Replay
                                              │
    legacy.variables ◀── tf.Variable for each variable of the graph, shared by all functions
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import ConversionError, UsageError
from tf1sessions.models.files import check_index
from tf1sessions.models.graph_index import functions_named
from tf1sessions.models.interface import TensorSpec
from tf1sessions.models.signature_inference import UPDATES
from tf1sessions.porting.calls import GraphFunction, GraphParts
from tf1sessions.porting.graphs.random_streams import new_stream, streams_in
from tf1sessions.porting.graphs.references import HANDLES, REFERENCES
from tf1sessions.porting.graphs.replay import GraphReplay
from tf1sessions.porting.modules import require_eager
from tf1sessions.runtime import private, tf

__all__ = ["LegacyFunction", "LegacyGraph", "LegacySaver"]

tf2: Any = tf.compat.v2

_NUMBERS = itertools.count()
#: What reads a variable as a whole, and what gives it its first value.
_READS = frozenset(["Identity", "ReadVariableOp"])
_SETS = frozenset(["Assign", "AssignVariableOp"])
#: The LegacyGraph of each graph that has one.
_KNOWN: weakref.WeakKeyDictionary[Any, LegacyGraph] = weakref.WeakKeyDictionary()
#: What LegacyGraph.default() gives, once it was called.
_SHARED: list[LegacyGraph] = []
#: The names of types in errors of sessions, where they are not those of NumPy.
_DTYPES_OF_ERRORS = {"float16": "half", "float32": "float", "float64": "double"}


class LegacyGraph(tf2.Module):  # type: ignore[misc]
    """A graph that code of TensorFlow 1 builds once, and whose requests are functions.

    What was ``session.run(fetches, feed_dict)`` is a function of :meth:`function`. Values live in :attr:`variables`,
    which all functions share; to read one is an error until an initializer of the graph, a checkpoint or the program
    has set it. Random operations with a seed give the numbers that they would give in one session.

    Args:
        graph: The graph; a new one by default.

    Attributes:
        graph: The ``tf.Graph``.
        generation: How often it was :meth:`reset`, from 1.

    Thread-safety: functions may be called from any thread. One thread builds.

    Raises:
        UsageError: Eager execution is off.

    Example:
        >>> import tensorflow as tf
        >>> import tf1sessions as t1
        >>> legacy = t1.porting.LegacyGraph()
        >>> with legacy:
        ...     x = tf.compat.v1.placeholder(tf.float32, [None])
        ...     w = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.ones_initializer())
        ...     y, double = x * w, w.assign(w * 2.0)
        ...     initialize = legacy.function(tf.compat.v1.global_variables_initializer())
        ...     predict = legacy.function(y, feeds=[x])
        >>> initialize()
        >>> print(legacy.run(double), predict([1.0, 2.0]), legacy[w].numpy())
        2.0 [2. 4.] 2.0
    """

    def __init__(self, graph: Any = None) -> None:
        require_eager("porting.LegacyGraph()")
        super().__init__(name="legacy_graph")
        self.graph = tf.Graph() if graph is None else graph
        self._contexts: list[Any] = []
        self._functions: dict[Any, LegacyFunction] = {}
        self._lock = threading.RLock()
        self.generation = 0
        self.changes = 0  # how often its variables became others: functions are made anew then
        self.distribution: Any = None  # a distributing.Distribution
        self.reset()
        _KNOWN[self.graph] = self

    def reset(self) -> None:
        """Forget all values, as a new session of the graph has none.

        Variables are new ones without a value, random operations begin anew, queues, iterators and tables are empty.
        """
        with self._lock:
            self.generation += 1
            self.changes += 1
            self._moved: set[str] = set()  # the variables that are those of the strategy
            self._container = f"legacy_graph_{next(_NUMBERS)}"
            self._variables: dict[str, Any] = {}
            self._streams: dict[str, Any] = {}
            self._iterators: set[str] = set()
            self._parts: tuple[int, GraphParts] | None = None

    def __enter__(self) -> LegacyGraph:
        context = self.graph.as_default()
        context.__enter__()
        self._contexts.append(context)
        return self

    def __exit__(self, *error: object) -> None:
        self._contexts.pop().__exit__(*error)

    def has(self, name: str) -> bool:
        """Whether the graph has an operation, a variable or a tensor of this name."""
        try:
            self.graph.as_graph_element(name)
        except (ValueError, KeyError):
            return False
        return True

    def distributed(self, distribution: Any) -> None:
        """Have its requests run under a strategy, or on one device again; :func:`distribute` is for callers."""
        with self._lock, private.context.eager_mode():
            before, self.distribution = self.distribution, distribution
            for name in sorted(self._moved):
                self._variables[name] = before.alone(self._variables[name])
            self._streams = {name: new_stream(int(self._local(before, each))) for name, each in self._streams.items()}
            self._moved, self._parts = set(), None
            self.changes += 1
            self.settle(self.variables)

    def settle(self, names: Iterable[str]) -> None:
        """Make variables that have a value variables of the strategy, if there is one."""
        if self.distribution is None or self._moved.issuperset(names):
            return
        with self._lock, private.context.eager_mode():
            variables = self.variables
            found = [name for name in sorted({*names} - self._moved) if bool(variables[name].is_initialized())]
            if found:
                self.distribution.meet()
            if found and not self._moved:
                self._streams.update({name: self.distribution.variable(each) for name, each in self._streams.items()})
            for name in found:
                self._variables[name] = self.distribution.variable(variables[name])
            self._moved.update(found)
            self.changes += bool(found)

    def local(self, variable: Any) -> Any:
        """As ``legacy[variable]``; of a variable of a strategy, the copy on the first device."""
        return self._local(self.distribution, self[variable])

    @staticmethod
    def _local(distribution: Any, variable: Any) -> Any:
        return variable if distribution is None else distribution.local(variable)

    @property
    def graph_def(self) -> Any:
        """The graph as a ``tf.GraphDef``, as that of a session."""
        return self.graph.as_graph_def()

    @property
    def variables(self) -> dict[str, Any]:
        """The ``tf.Variable`` of each variable of the graph, by its name in TensorFlow 1, without ``":0"``."""
        self.graph_parts()
        return dict(self._variables)

    def values(self, names: Iterable[str]) -> dict[str, Any]:
        """The values of these variables, as arrays; of those that have one."""
        variables = self.variables
        with private.context.eager_mode():
            known = [name for name in names if name in variables and bool(variables[name].is_initialized())]
            return {name: variables[name].numpy() for name in known}

    def function(self, fetches: Any, feeds: Sequence[Any] = ()) -> LegacyFunction:
        """Make a function of what was a request.

        Args:
            fetches: As ``session.run`` takes them: tensors, operations, variables, their names, in lists, tuples and
                dicts.
            feeds: The tensors that are fed, in the order in which the function takes their values; or tuples and
                lists of such, as the state of a recurrent cell, whose values are structured in the same way.

        A placeholder that is needed and not fed is an error of the calls, as in a session:
        ``tf.errors.InvalidArgumentError``.

        Raises:
            ConversionError: A part of the graph cannot become TensorFlow 2; ``nodes`` names it. Where a truth value is
                fed, some are found by the first call.
            UsageError: A fetch or a feed is nothing of this graph.
        """
        return LegacyFunction(self, fetches, feeds)

    @classmethod
    def default(cls) -> LegacyGraph:
        """The one that all files of a program share, made when it is asked for first, in place of the default graph.

        For programs in which one file builds when it is imported, and others use what it has built.
        """
        if not _SHARED:
            _SHARED.append(cls())
        return _SHARED[0]

    @classmethod
    def current(cls) -> LegacyGraph | None:
        """The one whose block the caller is in; None outside of such."""
        return _KNOWN.get(tf.get_default_graph())

    def run(
        self,
        fetches: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Compute fetches as ``session.run`` does, by a function that is made once for each combination.

        For fetches that a program puts together while it runs; where they are known, a :meth:`function` says more.

        Args:
            fetches, feed_dict: As there.
            options: As there; its time limit and its traces are refused.
            run_metadata: Stays empty, as it does there without a trace.

        Raises:
            UsageError: The options ask for a trace, or have a time limit: functions have neither.
        """
        if options is not None and (options.trace_level or options.timeout_in_ms):
            raise UsageError(
                f"the options {str(options).strip()!r} are for a session",
                where="LegacyGraph.run()",
                next_step="Use tf.profiler.experimental for a trace, and a thread for a time limit.",
            )
        feeds = dict(feed_dict or {})
        key = _structure_key(fetches), _structure_key(tuple(feeds))
        with self._lock:
            found = self._functions.get(key)
            if found is None:
                found = self._functions[key] = self.function(fetches, list(feeds))
        return found(*feeds.values())

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None) -> LegacyFunction:
        """As ``session.make_callable``: the threads of a QueueRunner ask for it."""
        return self.function(fetches, feed_list or ())

    def start_queue_runners(
        self, coord: Any = None, daemon: bool = True, collection: str = tf.GraphKeys.QUEUE_RUNNERS
    ) -> list[Any]:
        """Start the threads of the graph's queue runners, as ``tf.train.start_queue_runners`` does.

        Args:
            coord: The ``tf.train.Coordinator`` that stops them.
            daemon: Whether they end with the program.
            collection: Where the queue runners are.

        Returns:
            The threads.
        """
        with self:
            return [
                thread
                for runner in tf.get_collection(collection)
                for thread in runner.create_threads(self, coord=coord, daemon=daemon, start=True)
            ]

    def close(self) -> None:
        """Nothing: what closes a session may close this."""

    def __getitem__(self, variable: Any) -> Any:
        """The ``tf.Variable`` of a variable of the graph, or of its name."""
        name = variable if isinstance(variable, str) else variable.op.name
        found = self.variables.get(name)
        if found is None:
            raise UsageError(
                f"the graph has no variable {name!r}",
                where="LegacyGraph",
                next_step=f"It has {', '.join(sorted(self._variables)) or 'none'}.",
            )
        return found

    def element(self, value: Any, where: str) -> Any:
        """The tensor or operation of the graph that a fetch or a feed means.

        Raises:
            UsageError: It is none.
        """
        try:
            return self.graph.as_graph_element(value)
        except (TypeError, ValueError, KeyError) as error:
            raise UsageError(
                f"{value!r} is nothing of this graph: {error}",
                where=where,
                next_step="Give tensors, operations or variables that were made inside of `with legacy:`, or names.",
            ) from error

    def graph_parts(self) -> GraphParts:
        """The graph as it is now, with the variables that it has."""
        with self._lock, private.context.eager_mode():  # also inside of `with legacy:`
            version = self.graph.version
            if self._parts is None or self._parts[0] != version:
                graph_def = self.graph.as_graph_def()
                self._add_variables(graph_def)
                for name in streams_in(graph_def):
                    if name not in self._streams:
                        self._streams[name] = new_stream()
                parts = GraphParts(
                    graph_def,
                    "LegacyGraph",
                    self._variables,
                    {},
                    {},
                    self._streams,
                    self._container,
                    lambda name: self.graph.get_tensor_by_name(name).shape,
                )
                self._parts = version, parts
                self._start_iterators(graph_def)
            return self._parts[1]

    def _start_iterators(self, graph_def: Any) -> None:
        """Start the iterators that a session would start when it uses them first."""
        for node in graph_def.node:
            if node.op == "OneShotIterator" and node.name not in self._iterators:
                self._iterators.add(node.name)
                replay = GraphReplay(graph_def, [(node.name, 0)], [], "LegacyGraph", self._container)
                start = tf2.function(functools.partial(replay.start_iterator, node.name), autograph=False)
                start()

    def _add_variables(self, graph_def: Any) -> None:
        trainable = {variable.op.name for variable in self.graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)}
        for node in graph_def.node:
            if node.op in REFERENCES | HANDLES and node.name not in self._variables:
                self._variables[node.name] = private.resource_variable_ops.UninitializedVariable(
                    trainable=node.name in trainable,
                    name=node.name,
                    dtype=tf.as_dtype(node.attr["dtype"].type),
                    shape=tf.TensorShape(node.attr["shape"].shape),
                )


class LegacySaver(tf.train.Saver):  # type: ignore[misc]
    """A ``tf.train.Saver`` for the variables of a :class:`LegacyGraph`: same files, same names, no session.

    Args:
        var_list: Variables of the graph, in a list or by name; by default those that a Saver would save.
        **options: As ``tf.train.Saver`` takes them.

    Raises:
        UsageError: It is not made inside of ``with legacy:``.
    """

    def __init__(self, var_list: Any = None, **options: Any) -> None:
        legacy = LegacyGraph.current()
        if legacy is None:
            raise UsageError(
                "there is no LegacyGraph here", where="LegacySaver", next_step="Make it inside of `with legacy:`."
            )
        self._legacy = legacy
        if var_list is None:
            var_list = tf.global_variables() + tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
        if not isinstance(var_list, Mapping):
            var_list = {variable.op.name: variable for variable in var_list}
        options.setdefault("write_version", tf.train.SaverDef.V2)
        self._of_graph = dict(var_list)
        with private.context.eager_mode():
            super().__init__(self._current(), **options)

    def _current(self) -> dict[str, Any]:
        """The variables as they are after the last reset; of those on several devices, the copies on the first."""
        return {name: self._legacy.local(variable) for name, variable in self._of_graph.items()}

    def build(self) -> None:
        """Nothing: it needs no operations in the graph."""

    def save(self, sess: Any, save_path: Any, global_step: Any = None, **options: Any) -> Any:
        """As ``tf.train.Saver.save``; the session is not looked at."""
        if global_step is not None and not isinstance(global_step, int | np.integer):
            global_step = int(self._legacy.run(global_step))
        self._var_list = self._current()
        with private.context.eager_mode():
            _refuse_unset(self._var_list)
            if self._legacy.distribution is not None and not self._legacy.distribution.writes:
                return save_path if global_step is None else f"{save_path}-{global_step}"  # another worker writes it
            return super().save(None, save_path, global_step, **options)

    def restore(self, sess: Any, save_path: Any) -> None:
        """As ``tf.train.Saver.restore``; the session is not looked at.

        Raises:
            ModelFileError: The checkpoint is damaged so that TensorFlow would stop the process.
        """
        check_index(os.fspath(save_path))
        self._var_list = self._current()
        with private.context.eager_mode():
            super().restore(None, save_path)
            if self._legacy.distribution is not None:
                with self._legacy.distribution.guard():
                    self._legacy.distribution.copy_changed([self._legacy[each] for each in self._of_graph.values()])


class LegacyFunction:
    """A request of a :class:`LegacyGraph` as a function; made by :meth:`LegacyGraph.function`.

    Attributes:
        legacy: The graph.
        feeds: What it takes values of, in their order.
        fed: The tensors of these, one after another.
        tensors, operations: What it computes and runs, each once.

    Thread-safety: safe to call from any thread.
    """

    def __init__(self, legacy: LegacyGraph, fetches: Any, feeds: Sequence[Any]) -> None:
        where = "LegacyGraph.function()"
        self.legacy = legacy
        self.feeds = tuple(map(_in_parts, feeds))
        self.fed = tuple(legacy.element(each, where) for each in _leaves(self.feeds))
        self._fetches = _in_parts(fetches)
        elements = [legacy.element(each, where) for each in _leaves(self._fetches)]
        fed = {tensor.name for tensor in self.fed}
        self.operations = list({each.name: each for each in elements if isinstance(each, tf.Operation)}.values())
        tensors = [each for each in elements if not isinstance(each, tf.Operation)]
        self.tensors = list({each.name: each for each in tensors if each.name not in fed}.values())
        places = {each.name: (False, index) for index, each in enumerate(self.tensors)}
        places |= {each.name: (True, index) for index, each in enumerate(self.fed)}
        #: Of each leaf: whether it is a fed value, and which one; None for an operation.
        self._places = [None if isinstance(each, tf.Operation) else places[each.name] for each in elements]
        self._changes = legacy.changes
        self._calls: dict[tuple[str, ...], GraphFunction] = {}
        self._reads = _read_variables([*self.operations, *(each.op for each in self.tensors)], fed)
        self._unset = frozenset(self._reads)  # replaced as a whole: threads may be at it
        self._uses, self._writes = _variables_used([*self.operations, *(each.op for each in self.tensors)], fed)
        self._unfed: Any = None  # a placeholder that is needed and not fed: calls raise what a session does
        with private.context.eager_mode():
            if legacy.distribution is None:
                try:
                    self._call_with(()).prepare()
                except ConversionError as error:
                    self._unfed = _unfed_placeholder(legacy, error)
                    if self._unfed is None:
                        raise

    def __call__(self, *values: Any) -> Any:
        """Compute the fetches.

        Args:
            *values: One for each of :attr:`feeds`.

        Returns:
            Arrays in the structure of the fetches, None for an operation, as ``session.run`` gives.
        """
        flat = self.flat(values)
        return self.packed(flat, self.compute(flat))

    def flat(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values of :attr:`fed`.

        Raises:
            TypeError: There are more values than feeds, or fewer.
        """
        if len(values) != len(self.feeds):
            names = ", ".join(tensor.name for tensor in self.fed) or "nothing"
            raise TypeError(f"the function takes {names}, and {len(values)} values were given")
        if len(self.fed) == len(self.feeds):
            return values
        return [each for feed, value in zip(self.feeds, values, strict=True) for each in _matched(feed, value)]

    def compute(self, values: Sequence[Any], extras: Sequence[Any] = ()) -> list[Any]:
        """The values of :attr:`tensors` and of further tensors of the graph, computed together."""
        if private.context.executing_eagerly():  # entering that mode anew takes longer than asking
            return self._compute(values, extras)
        with private.context.eager_mode():
            return self._compute(values, extras)

    def _compute(self, values: Sequence[Any], extras: Sequence[Any]) -> list[Any]:
        if self._unfed is not None:
            dtype = _DTYPES_OF_ERRORS.get(name := self._unfed.outputs[0].dtype.name, name)
            text = f"You must feed a value for placeholder tensor '{self._unfed.name}' with dtype {dtype}"
            raise tf.errors.InvalidArgumentError(self._unfed.node_def, self._unfed, text)
        if self._writes:  # the others read what there is: with several workers, only changes are made by all
            self.legacy.settle(self._uses)
        if self._changes != self.legacy.changes:
            self._changes, self._unset = self.legacy.changes, frozenset(self._reads)
            self._calls.clear()
        if self._unset:
            _refuse_unset({name: self.legacy[name] for name in self._unset})
            self._unset = frozenset()
        call = self._call_with(tuple([tensor.name for tensor in extras]))
        made = call(**dict(zip(call.inputs, values, strict=True)))
        return [made[name].numpy() for name in call.outputs]

    def packed(self, values: Sequence[Any], computed: Sequence[Any]) -> Any:
        """Put the values of feeds and computed tensors into the structure of the fetches."""
        leaves: list[Any] = []
        for place in self._places:
            if place is None:
                leaves.append(None)
            elif place[0]:
                tensor = self.fed[place[1]]
                leaves.append(np.asarray(values[place[1]], tensor.dtype.as_numpy_dtype))
            else:
                leaves.append(computed[place[1]])
        return _packed(self._fetches, iter(leaves))

    def _call_with(self, extras: tuple[str, ...]) -> GraphFunction:
        if extras not in self._calls:
            inputs = {
                f"feed_{index}": TensorSpec(f"feed_{index}", tensor.name, tensor.dtype.base_dtype, tensor.shape)
                for index, tensor in enumerate(self.fed)
            }
            names = [*(tensor.name for tensor in self.tensors), *extras]
            outputs = {f"fetch_{index}": name for index, name in enumerate(names)}
            effects = [operation.name for operation in self.operations]
            parts = self.legacy.graph_parts()
            distribution = self.legacy.distribution
            make = GraphFunction if distribution is None else distribution.make
            self._calls[extras] = make("function", parts, inputs, outputs, effects)
        return self._calls[extras]


def _unfed_placeholder(legacy: LegacyGraph, error: ConversionError) -> Any:
    """The placeholder that is missing among the feeds, where that is the error; else None."""
    operations = [legacy.graph.get_operation_by_name(name) for name in getattr(error, "nodes", ()) if legacy.has(name)]
    return next((each for each in operations if each.type in ("Placeholder", "PlaceholderV2")), None)


def _refuse_unset(variables: Mapping[str, Any]) -> None:
    """Raise as a session does where a variable has no value: a function would read nothing, without a word."""
    for name, variable in variables.items():
        if not bool(variable.is_initialized()):
            raise tf.errors.FailedPreconditionError(None, None, f"Attempting to use uninitialized value {name}")


def _variables_used(operations: Sequence[Any], fed: set[str]) -> tuple[frozenset[str], bool]:
    """The variables that operations need, read or set; and whether something may be set."""
    seen = {operation.name: operation for operation in operations}
    waiting = list(operations)
    while waiting:
        operation = waiting.pop()
        inputs = [tensor.op for tensor in operation.inputs if tensor.name not in fed]
        for before in [*inputs, *operation.control_inputs]:
            if before.name not in seen:
                seen[before.name] = before
                waiting.append(before)
    uses = frozenset(name for name, operation in seen.items() if operation.type in REFERENCES | HANDLES)
    sets = (
        UPDATES.match(each.type) or [*functions_named(each.node_def.attr.values(), False)] for each in seen.values()
    )
    return uses, any(sets)


def _read_variables(operations: Sequence[Any], fed: set[str]) -> set[str]:
    """The variables that operations read for certain, and do not set: what is behind a condition may not be read."""
    read, written = {operation.name for operation in operations if operation.type in REFERENCES}, set()
    seen = {operation.name for operation in operations}
    waiting = list(operations)
    while waiting:
        operation = waiting.pop()
        inputs = [tensor for tensor in operation.inputs if tensor.name not in fed]
        if inputs and inputs[0].op.type in REFERENCES | HANDLES:
            if operation.type in _READS:
                read.add(inputs[0].op.name)
            elif operation.type in _SETS:
                written.add(inputs[0].op.name)
        for before in [*(tensor.op for tensor in inputs), *operation.control_inputs]:
            if before.name not in seen:
                seen.add(before.name)
                waiting.append(before)
    return read - written


def _in_parts(structure: Any) -> Any:
    """A structure of fetches with what a session gives for sparse tensors and slices in place of these."""
    return _packed(structure, map(_parts, _leaves(structure)))


def _parts(leaf: Any) -> Any:
    if isinstance(leaf, tf.SparseTensor):
        return tf.SparseTensorValue(leaf.indices, leaf.values, leaf.dense_shape)
    if isinstance(leaf, tf.IndexedSlices) and leaf.dense_shape is not None:
        return private.indexed_slices.IndexedSlicesValue(leaf.values, leaf.indices, leaf.dense_shape)
    return leaf


def _leaves(structure: Any) -> Iterator[Any]:
    """The fetches in lists, tuples and dicts, in the order in which :func:`_packed` takes their values."""
    if isinstance(structure, Mapping):
        for value in structure.values():
            yield from _leaves(value)
    elif isinstance(structure, list | tuple):
        for value in structure:
            yield from _leaves(value)
    else:
        yield structure


def _matched(structure: Any, value: Any) -> Iterator[Any]:
    """The values of the leaves of a structure."""
    if isinstance(structure, list | tuple):
        for inner, each in zip(structure, value, strict=True):
            yield from _matched(inner, each)
    else:
        yield value


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, list | tuple):
        values = [_packed(value, leaves) for value in structure]
        return type(structure)(*values) if hasattr(structure, "_fields") else type(structure)(values)
    if isinstance(structure, Mapping):
        packed = {key: _packed(value, leaves) for key, value in structure.items()}
        return packed if type(structure) is dict else type(structure)(packed)  # type: ignore[call-arg]
    return next(leaves)


def _structure_key(structure: Any) -> Any:
    if isinstance(structure, Mapping):
        return ("dict", *((key, _structure_key(value)) for key, value in structure.items()))
    if isinstance(structure, list | tuple):
        return (type(structure), *map(_structure_key, structure))
    return _identity(structure)


def _identity(element: Any) -> Any:
    return element if isinstance(element, str) else id(element)
