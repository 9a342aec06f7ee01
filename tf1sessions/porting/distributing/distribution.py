"""distribute(): a ported graph under a strategy of ``tf.distribute``.

::

    distribute(legacy or module, strategy)
      └─ Distribution ─┬─ variables: made under the strategy's scope, with the values that there are
                       └─ make(): a request, by what it does
                            applies gradients ──▶ replicated.py, or with parameter servers scheduled.py
                            anything else ──────▶ local.py
"""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from tf1sessions.errors import DeadlineError, PeerGoneError, UsageError
from tf1sessions.models.graph_index import GraphIndex, listed, node_of
from tf1sessions.models.interface import TensorSpec
from tf1sessions.models.signature_inference import GRADIENTS, OPTIMIZES
from tf1sessions.porting.calls import GraphFunction, GraphParts
from tf1sessions.porting.distributing.combining import Combiner
from tf1sessions.porting.distributing.drawing import DrawingFunction, drawing, drawn_tensors, is_fixed
from tf1sessions.porting.distributing.local import LocalFunction
from tf1sessions.porting.distributing.plans import Rules, written_variables
from tf1sessions.porting.distributing.replicated import ReplicatedFunction
from tf1sessions.porting.distributing.scheduled import ScheduledFunction
from tf1sessions.porting.graphs.references import VariablePart
from tf1sessions.porting.legacy_graph import LegacyGraph
from tf1sessions.porting.modules import GraphModule, require_eager
from tf1sessions.runtime import tf

__all__ = ["Distribution", "distribute"]

tf2: Any = tf.compat.v2

Ported = TypeVar("Ported", LegacyGraph, GraphModule)

_WHERE = "porting.distribute()"
_WAYS = ("mean", "sum", "concat", "first")


def distribute(
    source: Ported,
    strategy: Any,
    *,
    split: Mapping[str, int | None] | None = None,
    gradients: str = "mean",
    combine: Mapping[str, str] | None = None,
    limit_secs: float = 600.0,
) -> Ported:
    """Have a ported graph train under a strategy.

    Its variables become variables of the strategy, with the values that they have. Each call that applies gradients
    runs on all replicas, each with its part of the batch, and changes all copies of the variables in the same way: by
    gradients that are combined. Calls stay what they were: they take a whole batch, and give results of it.

    Args:
        source: A :class:`LegacyGraph`, as ``port --to functions`` writes it, or what :func:`function` has made. It is
            changed in place; functions of a LegacyGraph that are there stay valid.
        strategy: A ``tf.distribute.MirroredStrategy``, ``MultiWorkerMirroredStrategy``, ``ParameterServerStrategy`` or
            ``OneDeviceStrategy``; None for one device again, without a strategy.
        split: Input -> the dimension that has the rows of a batch, or None for an input that each replica gets whole.
            By default inputs are split whose first dimension is open, or whose shape is; and what a LegacyGraph draws
            from its iterators, queues and tables.
        gradients: ``"mean"`` for a loss that is a mean over the batch, ``"sum"`` for one that is a sum.
        combine: Variable or output -> ``"mean"`` or ``"sum"`` of what the replicas have, ``"concat"`` for rows one
            after another, ``"first"`` for that of the first replica; instead of the rules on the page.
        limit_secs: How long a step waits for other processes of a cluster.

    Returns:
        The source.

    Raises:
        ConversionError: From a call: something depends on the batch that cannot be combined; ``nodes`` names it.
        UsageError: An argument is wrong; or, from a call, a batch cannot be split.

    Thread-safety: calls are safe from any thread; those of a MultiWorkerMirroredStrategy are for one thread. Attention:
    to distribute is not safe while others call.

    Example:
        >>> import tensorflow as tf
        >>> import tf1sessions as t1
        >>> v1 = tf.compat.v1
        >>> legacy = t1.porting.LegacyGraph()
        >>> with legacy:
        ...     x = v1.placeholder(tf.float32, [None])
        ...     w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        ...     loss = tf.reduce_mean((x - w) ** 2)
        ...     train = v1.train.GradientDescentOptimizer(0.5).minimize(loss)
        ...     initialize = legacy.function(v1.global_variables_initializer())
        ...     step = legacy.function([train, loss], feeds=[x])
        >>> legacy = t1.porting.distribute(legacy, tf.distribute.MirroredStrategy(["CPU:0"]))
        >>> initialize()
        >>> print(step([1.0, 3.0])[1], legacy[w].numpy())
        5.0 2.0
    """
    require_eager(_WHERE)
    if not isinstance(source, LegacyGraph | GraphModule):
        raise UsageError(
            f"the source is {source!r}",
            where=_WHERE,
            next_step="Give a porting.LegacyGraph, or what porting.function() has made.",
        )
    _check(split, gradients, combine, limit_secs)
    for option, names in (("split", split), ("combine", combine)):
        for name in names or ():
            if not source.has(name):
                raise UsageError(
                    f"{option}= names {name!r}, which the graph does not have",
                    where=_WHERE,
                    next_step="Name a variable, an input or an output, or a tensor: 'x' or 'x:0'.",
                )
    if isinstance(source, LegacyGraph):
        of_metrics = source.graph.get_collection(tf.GraphKeys.METRIC_VARIABLES)
        summed = frozenset(variable.op.name for variable in of_metrics)
    else:
        metrics = {id(each) for each in source.collections.get(tf.GraphKeys.METRIC_VARIABLES, ())}
        summed = frozenset(name for name, variable in source.by_name.items() if id(variable) in metrics)
    rules = Rules(gradients, dict(combine or {}), summed)
    made = None if strategy is None else Distribution(strategy, dict(split or {}), rules, limit_secs)
    source.distributed(made)
    return source


def _check(split: Any, gradients: Any, combine: Any, limit_secs: Any) -> None:
    wrong = None
    if gradients not in ("mean", "sum"):
        wrong = f"gradients is {gradients!r}", "Give 'mean' or 'sum'."
    for name, axis in (split or {}).items():
        if axis is not None and (type(axis) is not int or axis < 0):
            wrong = f"split[{name!r}] is {axis!r}", "Give the number of a dimension, from 0, or None."
    for name, way in (combine or {}).items():
        if way not in _WAYS:
            wrong = f"combine[{name!r}] is {way!r}", f"Give one of {', '.join(map(repr, _WAYS))}."
    if not isinstance(limit_secs, int | float) or not limit_secs > 0:
        wrong = f"limit_secs is {limit_secs!r}", "Give seconds, more than 0."
    if wrong:
        raise UsageError(wrong[0], where=_WHERE, next_step=wrong[1])


class Distribution:
    """A strategy, and how graphs are distributed under it.

    Args:
        strategy: The strategy.
        split, limit_secs: As :func:`distribute` takes them.
        rules: How what varies is combined.

    Attributes:
        writes: Whether this process is the one that writes checkpoints.

    Raises:
        UsageError: The strategy is of another kind.
    """

    def __init__(self, strategy: Any, split: Mapping[str, int | None], rules: Rules, limit_secs: float) -> None:
        kinds = tf2.distribute
        self._servers = isinstance(strategy, kinds.experimental.ParameterServerStrategy)
        self._workers = isinstance(strategy, kinds.MultiWorkerMirroredStrategy)
        if not (self._servers or self._workers) and not isinstance(
            strategy, kinds.MirroredStrategy | kinds.OneDeviceStrategy
        ):
            raise UsageError(
                f"the strategy is {strategy!r}",
                where=_WHERE,
                next_step="Give a MirroredStrategy, MultiWorkerMirroredStrategy, ParameterServerStrategy or "
                "OneDeviceStrategy of tf.distribute.",
            )
        self.strategy = strategy
        self.writes = not self._workers or bool(strategy.extended.should_checkpoint)
        self._split = split
        self._rules = rules
        self._limit_secs = limit_secs
        self._lock = threading.RLock()  # held while variables change
        self._combiner = Combiner(self._workers, limit_secs)
        self._coordinator = _coordinator(strategy) if self._servers else None
        if self._workers:
            _end_on_sigterm()

    # -- variables

    def variable(self, old: Any) -> Any:
        """A variable of the strategy with the value and the properties of another one."""
        with self.strategy.scope():
            return like(old, self.local(old).numpy())

    def meet(self) -> None:
        """Wait for the other workers before variables are made: that has no limit of time in TensorFlow."""
        if self._workers:
            with self.guard():
                tf2.function(lambda: self.strategy.run(self._count), autograph=False)()

    def _count(self) -> Any:
        return self._combiner([tf.constant(1)], ["sum"])

    def alone(self, variable: Any) -> Any:
        """A variable without a strategy, with the value of one."""
        return like(variable, self.local(variable).numpy())

    def local(self, variable: Any) -> Any:
        """The copy of a variable on the first device of this process."""
        return variable if self._servers else self.strategy.experimental_local_results(variable)[0]

    def copy_changed(self, variables: Sequence[Any]) -> None:
        """Copy variables from the first replica to all others, where these have copies. Called in :meth:`guard`."""
        variables = [each for each in variables if not self._servers and self.local(each) is not each]
        if self.strategy.num_replicas_in_sync == 1 or not variables:
            return

        def replica() -> None:
            values = [variable.read_value() for variable in variables]
            ones = self._combiner(values, ["first"] * len(values))
            for variable, value in zip(variables, ones, strict=True):
                tf.raw_ops.AssignVariableOp(resource=variable.handle, value=value)

        tf2.function(lambda: self.strategy.run(replica), autograph=False)()

    @contextlib.contextmanager
    def guard(self) -> Iterator[None]:
        """Run calls that change variables one after another; a process that does not answer is an error of ours.

        Raises:
            DeadlineError: Another process has not done its part in time.
            PeerGoneError: Another process has ended.
            UsageError: Another thread makes such calls, too.
        """
        if self._workers:
            _take_collective_thread()
        try:
            # Replicas would take the steps of several threads in different orders, and come apart.
            with contextlib.nullcontext() if self._servers else self._lock:
                yield
        except tf.errors.DeadlineExceededError as error:
            if not self._workers:
                raise
            raise DeadlineError(
                f"another process has not done its part of this step in {self._limit_secs:g} s: {_first_line(error)}",
                where=_WHERE,
                next_step="All workers make the same calls in the same order. See the log of the one that did not, or "
                "give limit_secs=.",
            ) from error
        except (tf.errors.UnavailableError, tf.errors.AbortedError) as error:
            if not (self._workers or self._servers):
                raise
            raise PeerGoneError(
                f"another process of the cluster has ended: {_first_line(error)}",
                where=_WHERE,
                next_step="See its log. Start all again: training goes on from the last checkpoint that was restored.",
            ) from error

    # -- functions

    def make(
        self,
        name: str,
        parts: GraphParts,
        inputs: Mapping[str, TensorSpec],
        outputs: Mapping[str, str],
        effects: Sequence[str] = (),
        structures: tuple[Any, Any] | None = None,
    ) -> GraphFunction:
        """A :class:`GraphFunction` under the strategy."""
        index = GraphIndex(parts.graph_def)
        ends = [*map(node_of, outputs.values()), *effects]
        cut = [spec.tensor for spec in inputs.values()]
        request = name, parts, inputs, outputs, effects, structures
        changed = written_variables(index, ends, cut)
        needed = index.ancestors(ends, cut)
        applies = any(OPTIMIZES.match(index.nodes[each].op) or GRADIENTS.search(each) for each in needed)
        if not (changed and applies):
            return self._local(changed, *request)
        draw = drawing(index, needed, self._alone(parts), inputs, outputs.values())
        if draw is not None:
            drawn = drawn_tensors(draw, parts)
            times = 1 if self._servers or not is_fixed(drawn) else self.strategy.num_replicas_in_sync
            if times > 1 and self._axes(inputs):
                raise UsageError(
                    f"{listed(sorted(drawn))} has as many rows as the graph has fixed; {listed(sorted(inputs))} is fed",
                    where=_WHERE,
                    next_step="Feed the whole batch, or split={name: None} for an input that each replica gets whole.",
                )
            results = None if structures is None else (None, structures[1])
            step = self._step(name, parts, {**inputs, **drawn}, outputs, effects, results, drawn)
            return DrawingFunction(step, draw, times, *request)
        return self._step(*request)

    def _step(
        self,
        name: str,
        parts: GraphParts,
        inputs: Mapping[str, TensorSpec],
        outputs: Mapping[str, str],
        effects: Sequence[str],
        structures: tuple[Any, Any] | None,
        drawn: Mapping[str, TensorSpec] | None = None,
    ) -> GraphFunction:
        """Return the function that applies gradients to its arguments; dimension 0 of drawn ones has the rows."""
        request = name, parts, inputs, outputs, effects, structures
        if self._coordinator is not None:
            return ScheduledFunction(self._coordinator, self._limit_secs, self.guard, *request)
        scalars = {name for name, spec in (drawn or {}).items() if spec.shape.rank == 0}
        axes = {**dict.fromkeys((drawn or {}).keys() - scalars, 0), **self._axes(inputs)}
        if not axes:
            ends = [*map(node_of, outputs.values()), *effects]
            raise UsageError(
                f"{listed(ends)} trains, and none of its inputs has rows to split: "
                f"{listed([f'{spec.tensor} {spec.shape}' for spec in inputs.values()]) or 'it has no inputs'}",
                where=_WHERE,
                next_step="Feed the batch, and say which dimension has its rows: split={'x': 0}.",
            )
        return ReplicatedFunction(self.strategy, self._combiner, self._rules, axes, self.guard, *request)

    def _axes(self, inputs: Mapping[str, TensorSpec]) -> dict[str, int]:
        """The inputs that are split, each with the dimension that has the rows."""
        found = {}
        for name, spec in inputs.items():
            node = node_of(spec.tensor)
            said = [self._split[each] for each in (name, spec.tensor, node) if each in self._split]
            if said:
                axis = said[0]
            else:
                axis = 0 if spec.shape.rank is None or spec.shape.as_list()[:1] == [None] else None
            if axis is not None and spec.shape.rank is not None and axis >= spec.shape.rank:
                raise UsageError(
                    f"split[{node!r}] is {axis}, and {spec.tensor} has the shape {spec.shape}",
                    where=_WHERE,
                    next_step="Give one of its dimensions, or None.",
                )
            if axis is not None:
                found[name] = axis
        return found

    def _alone(self, parts: GraphParts) -> GraphParts:
        """A graph with the copies of its variables that are on the first device."""
        return dataclasses.replace(
            parts,
            variables=_Locals(parts.variables, self.local),
            constants=_Locals(parts.constants, self.local),
            streams=_Locals(parts.streams, self.local),
        )

    def _local(self, changed: Mapping[str, Any], name: str, parts: GraphParts, *request: Any) -> GraphFunction:
        local = self._alone(parts)
        after = None
        if changed:
            names = sorted(changed.keys() & parts.variables.keys())
            after = lambda: self.copy_changed([_whole(parts.variables[name]) for name in names])  # noqa: E731
        return LocalFunction(after, self.guard, local, parts, name, *request)


#: The thread that takes the steps of several workers. One for the process: collective operations of all strategies are
#: numbered together.
_COLLECTIVE_THREAD: dict[str, threading.Thread] = {}


def _take_collective_thread() -> None:
    """Refuse a second thread where processes must make calls in the same order."""
    mine = threading.current_thread()
    owner = _COLLECTIVE_THREAD.setdefault("thread", mine)
    if owner is not mine and owner.is_alive():
        raise UsageError(
            f"the thread {mine.name!r} takes a step of several workers, and {owner.name!r} does so already: workers "
            "would wait for each other in another order",
            where=_WHERE,
            next_step="Take all steps of MultiWorkerMirroredStrategy in one thread, or in a process for each.",
        )
    _COLLECTIVE_THREAD["thread"] = mine


def _end_on_sigterm() -> None:
    """Let SIGTERM end the process, if nobody handles it: a strategy of several workers has TensorFlow take note of it,
    and no more (2.21)."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # which takes the place of a handler that Python does not know


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


_COORDINATORS: dict[int, tuple[Any, Any]] = {}


def _coordinator(strategy: Any) -> Any:
    """The ``ClusterCoordinator`` of a strategy: there can be one only."""
    if id(strategy) not in _COORDINATORS:
        _COORDINATORS[id(strategy)] = strategy, tf2.distribute.coordinator.ClusterCoordinator(strategy)
    return _COORDINATORS[id(strategy)][1]


def _whole(variable: Any) -> Any:
    return variable.variable if isinstance(variable, VariablePart) else variable


class _Locals(Mapping[str, Any]):
    """Variables as their copies on one device, also those that become variables of a strategy later."""

    def __init__(self, every: Mapping[str, Any], local: Callable[[Any], Any]) -> None:
        self._every = every
        self._local = local

    def __getitem__(self, name: str) -> Any:
        found = self._every[name]
        if isinstance(found, VariablePart):
            return dataclasses.replace(found, variable=self._local(found.variable))
        return self._local(found)

    def __iter__(self) -> Iterator[str]:
        return iter(self._every)

    def __len__(self) -> int:
        return len(self._every)


def like(old: Any, value: Any) -> Any:
    """A ``tf.Variable`` with the properties of another one."""
    return tf2.Variable(
        value, trainable=old.trainable, name=old.name.partition(":")[0], dtype=old.dtype.base_dtype, shape=old.shape
    )
