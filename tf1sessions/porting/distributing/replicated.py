"""A training step of a graph, with a part of the batch on each replica of a strategy.

::

    step(x, y) ──▶ strategy.run ─┬─ replica 0: its rows ─▶ Replay ─╂─ combined ─╂─▶ its copies of the variables ─┐
                                 └─ replica 1: its rows ─▶ Replay ─╂─ combined ─╂─▶ its copies of the variables ─┤
                                                                                            results, combined ◀──┘
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from tf1sessions.errors import ConversionError, UsageError
from tf1sessions.models.graph_index import GraphIndex, node_of
from tf1sessions.models.interface import TensorSpec
from tf1sessions.models.signature_inference import SOURCES
from tf1sessions.porting.calls import GraphFunction, PreparedFunction, argument_names
from tf1sessions.porting.distributing.combining import BatchPart, Combiner
from tf1sessions.porting.distributing.local import in_replica, inside
from tf1sessions.porting.distributing.plans import Rules, StepPlan, plan_step
from tf1sessions.porting.graphs.references import HANDLES, REFERENCES
from tf1sessions.porting.graphs.replay import GraphReplay
from tf1sessions.porting.graphs.structure import key_of
from tf1sessions.runtime import tf

__all__ = ["ReplicatedFunction"]

tf2: Any = tf.compat.v2

#: Far beyond what a stream of random numbers reaches: where those of the next replica begin.
_STREAM = 1 << 48


class ReplicatedFunction(GraphFunction):
    """A :class:`GraphFunction` whose calls run on all replicas; takes whole batches, and gives results of these.

    Args:
        strategy: What its variables were made under.
        combiner: Combines over its replicas.
        rules: How.
        axes: The inputs that are split, each with the dimension that has the rows.
        guard: What each call is made in.
        arguments: As there.

    Raises:
        ConversionError: The step keeps a state that is not in variables.
    """

    def __init__(
        self,
        strategy: Any,
        combiner: Combiner,
        rules: Rules,
        axes: Mapping[str, int],
        guard: Callable[[], AbstractContextManager[None]],
        *arguments: Any,
    ) -> None:
        super().__init__(*arguments)
        self._strategy = strategy
        self._combiner = combiner
        self._rules = rules
        self._axes = dict(axes)
        self._guard = guard
        self._index = GraphIndex(self._parts.graph_def)
        self._refuse_state()

    def _refuse_state(self) -> None:
        """Refuse queues, iterators and tables that a graph makes: they are on one device, and the replicas are not."""
        cut = [spec.tensor for spec in self.inputs.values()]
        for name in sorted(self._index.ancestors(self._ends(), cut)):
            node = self._index.nodes[name]
            keeps = "shared_name" in node.attr and node.op not in REFERENCES | HANDLES and self._parts.container
            if node.op in SOURCES or keeps:
                raise ConversionError(
                    f"node {name!r}, a {node.op}, keeps its data on one device, and the step runs on several",
                    where=self._parts.where,
                    next_step="Feed what the step takes from there, so that it can be split.",
                    nodes=(name,),
                )

    def __call__(self, values: Any = None, /, *more: Any, **named: Any) -> Any:
        if in_replica():
            raise inside(self.name)
        return super().__call__(values, *more, **named)

    def _fixed(self, given: Mapping[str, Any]) -> tuple[dict[str, bool], dict[str, Any]]:
        """As there; a switch that is an array is one, too: what is in a condition cannot be combined."""
        known = {name: bool(given[name]) for name in self._switches if isinstance(given.get(name), np.ndarray)}
        return super()._fixed({**given, **known})

    def _ends(self) -> list[str]:
        """The nodes that a step computes and runs."""
        given = {spec.tensor for spec in self.inputs.values()}
        return [*(node_of(tensor) for tensor in self.outputs.values() if tensor not in given), *self.effects]

    def _traced(self, names: Sequence[str], fixed: Mapping[str, bool]) -> Any:
        replay, body = self._body(names, fixed)
        given = [self.inputs[name].tensor for name in (*names, *fixed)]
        split = {name: self._axes[name] for name in names if name in self._axes}
        tensors = [self.inputs[name].tensor for name in split]
        plan = plan_step(self._index, self._ends(), given, tensors, self._rules, self._parts.where)
        replicas = self._strategy.num_replicas_in_sync
        first = next(iter(split), None)
        place = list(names).index(first) if first is not None else -1

        def replica(*values: Any) -> list[Any]:
            with tf.device("CPU:0"):  # a part goes to its device, and not the whole
                rows = tf.shape(values[place])[split[first]] if first is not None else tf.constant(replicas)
                part = BatchPart.of(rows, replicas)
                mine = [
                    part.take(value, split[name]) if name in split else value
                    for name, value in zip(names, values, strict=True)
                ]
            for value, name in zip(mine, names, strict=True):
                value.set_shape(self.inputs[name].shape)
            made = body(mine, False, False, streams=self._streams_of(replay), changes=self._changes(plan, part))
            return self._results_of(tf.nest.flatten(made), plan, part)

        def everywhere(*values: Any) -> Any:
            made = self._strategy.run(replica, args=values)
            ones = [self._strategy.experimental_local_results(each)[0] for each in made]
            return tf.nest.pack_sequence_as(self._results, ones)

        specs = [self._whole(self.inputs[name], split.get(name), replicas) for name in names]
        arguments = argument_names(names)
        with tf.init_scope():
            made = tf2.function(everywhere, autograph=False)
            concrete = made.get_concrete_function(
                *[tf.TensorSpec(spec.shape, spec.dtype, arguments[spec.name]) for spec in specs]
            )
        return _Checked(PreparedFunction(concrete, specs), split, replicas, self._guard)

    @staticmethod
    def _whole(spec: TensorSpec, axis: int | None, replicas: int) -> TensorSpec:
        """A part's input as that of the whole batch."""
        if axis is None or spec.shape.rank is None:
            return spec
        dims = spec.shape.as_list()
        dims[axis] = None if dims[axis] is None else dims[axis] * replicas
        return TensorSpec(spec.name, spec.tensor, spec.dtype, tf.TensorShape(dims), spec.optional)

    def _changes(self, plan: StepPlan, part: BatchPart) -> list[Any]:
        def change(ways: Mapping[Any, str], keys: Sequence[Any], values: Sequence[Any]) -> list[Any]:
            combined = self._combiner(values, [ways[key] for key in keys], part.share)
            for one, value, key in zip(combined, values, keys, strict=True):
                if not ways[key].startswith("concat"):
                    one.set_shape(value.shape)
            return combined

        return [(list(ways), functools.partial(change, ways)) for ways in plan.stages]

    def _streams_of(self, replay: GraphReplay) -> dict[str, Any]:
        return {name: _ReplicaStream(stream) for name, stream in self._parts.streams.items()}

    def _results_of(self, values: Sequence[Any], plan: StepPlan, part: BatchPart) -> list[Any]:
        """The results of the whole batch: what does not vary is the same everywhere."""
        combined = {key for ways in plan.stages for key in ways}
        found = list(values)
        ways = {}
        for place, (name, value) in enumerate(zip(self.output_names, values, strict=True)):
            tensor = self.outputs[name]
            if node_of(tensor) in plan.varying and key_of(tensor) not in combined:
                ways[place] = self._way(name, tensor, value)
        made = self._combiner([values[place] for place in ways], list(ways.values()), part.share)
        found = [tf.identity(value) for value in found]
        for place, value in zip(ways, made, strict=True):
            found[place] = value
        return found

    def _rows(self) -> list[list[int | None]]:
        """Return the first dimensions that a result with the rows may have: open, or that of a part of the batch."""
        shapes = [(self.inputs[name].shape, axis) for name, axis in self._axes.items()]
        return [[None], *([shape.as_list()[axis]] for shape, axis in shapes if shape.rank is not None)]

    def _way(self, name: str, tensor: str, value: Any) -> str:
        """Return the way to combine a result: as ``combine=`` says; else rows are joined, and numbers are a mean."""
        for said in (name, tensor, node_of(tensor)):
            if said in self._rules.named:
                return self._rules.named[said]
        shape = value.shape
        if shape.rank is None and self._parts.shape_of is not None:
            shape = self._parts.shape_of(tensor)
        dims = None if shape.rank is None else shape.as_list()
        if dims != [] and any(self._axes.values()):
            raise self._not_known(tensor, value, "and which dimension has its rows is not known")
        if dims is None or dims[:1] in self._rows():
            return "concat"
        if value.dtype == tf.string and not dims:
            return "first"
        if value.dtype.is_floating and None not in dims:
            return "mean"
        raise self._not_known(tensor, value, "and another one on each part of the batch")

    @staticmethod
    def _not_known(tensor: str, value: Any, why: str) -> UsageError:
        return UsageError(
            f"{tensor!r} is {value.dtype.name} {value.shape}, {why}",
            where="porting.distribute()",
            next_step=f"Say what becomes of them: combine={{{tensor!r}: 'sum'}}, 'mean', 'concat' or 'first'; or fetch "
            "it by a request of its own: those that change nothing run on one device.",
        )


class _Checked:
    """A prepared function whose batch must have rows for each replica, and as many in each of its inputs."""

    def __init__(
        self,
        prepared: PreparedFunction,
        split: Mapping[str, int],
        replicas: int,
        guard: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._guard = guard
        self.concrete = prepared.concrete
        self._prepared = prepared
        self._split = split
        self._replicas = replicas

    def __call__(self, given: Mapping[str, Any]) -> Any:
        rows = {name: tf.TensorShape(_shape(given[name])).as_list()[axis] for name, axis in self._split.items()}
        fewest = min(rows.values(), default=self._replicas)
        if fewest < self._replicas or len(set(rows.values())) > 1:
            counts = ", ".join(f"{name} {count}" for name, count in rows.items())
            raise UsageError(
                f"a batch cannot be split over {self._replicas} replicas; the rows of its inputs: {counts}",
                where="porting.distribute()",
                next_step="Give a row or more for each replica, and the same rows in all inputs; "
                "split={name: None} is for an input that each replica gets whole.",
            )
        with self._guard():
            return self._prepared(given)


def _shape(value: Any) -> Any:
    return value.shape if hasattr(value, "shape") else tf.convert_to_tensor(value).shape


class _ReplicaStream:
    """The stream of a random operation in a replica: beside those of the others, and on its own device."""

    def __init__(self, stream: Any) -> None:
        self._handle = stream.handle

    def read_value(self) -> Any:
        place = tf.raw_ops.ReadVariableOp(resource=self._handle, dtype=tf.int64)
        replica = tf.cast(tf2.distribute.get_replica_context().replica_id_in_sync_group, tf.int64)
        return place + replica * _STREAM

    def assign_add(self, count: Any) -> None:
        tf.raw_ops.AssignAddVariableOp(resource=self._handle, value=count)
