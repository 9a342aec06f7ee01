"""A step whose batch comes out of the graph itself: of an iterator, a queue or a table.

These are on one device. So what the step takes from them is computed there first, as by a request of its own, and the
step is given it, as if it were fed::

    step() ──▶ on the first device: IteratorGetNext ──▶ the step with this batch, on all replicas

Where the graph has fixed how many rows a batch has, each replica needs as many, and a batch is drawn for each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tf1sessions.models.arguments import output_types
from tf1sessions.models.graph_index import GraphIndex, node_of
from tf1sessions.models.interface import TensorSpec
from tf1sessions.porting.calls import GraphFunction, GraphParts
from tf1sessions.porting.graphs.structure import key_of
from tf1sessions.runtime import tf

__all__ = ["DrawingFunction", "drawing", "drawn_tensors", "is_fixed"]

_DRAWS = {
    *("QueueDequeueMany", "QueueDequeueManyV2", "QueueDequeueUpTo", "QueueDequeueUpToV2"),
    *("IteratorGetNext", "IteratorGetNextSync", "LookupTableFind", "LookupTableFindV2"),
}


def drawing(
    index: GraphIndex,
    needed: Collection[str],
    local: GraphParts,
    inputs: Mapping[str, TensorSpec],
    fetched: Iterable[str],
) -> GraphFunction | None:
    """Return a function that draws the batch of a step; None where it takes nothing from iterators, queues and tables.

    Args:
        index: The graph.
        needed: The nodes of the step.
        local: The graph with the variables of one device.
        inputs, fetched: What the step takes and gives.
    """
    entries = [entry for name in needed for entry in index.nodes[name].input if not entry.startswith("^")]
    labels = []
    for name, place in sorted({key_of(entry) for entry in (*entries, *fetched)}):
        node = index.nodes.get(name)
        drawn = name in needed and node is not None and node.op in _DRAWS
        if drawn and output_types(node)[place].base_dtype not in (tf.resource, tf.variant):
            labels.append(f"{name}:{place}")
    if not labels or local.container is None:  # a module has tables that the replicas share, and nothing else of these
        return None
    before = index.ancestors(map(node_of, labels))
    taken = {name: spec for name, spec in inputs.items() if node_of(spec.tensor) in before}
    return GraphFunction("batch", local, taken, {label: label for label in labels})


def drawn_tensors(draw: GraphFunction, parts: GraphParts) -> dict[str, TensorSpec]:
    """Return the tensors that are drawn, as inputs of a step."""
    found = {}
    for label, made in draw.concrete.structured_outputs.items():
        shape = made.shape
        if shape.rank is None and parts.shape_of is not None:
            shape = parts.shape_of(label)
        found[label] = TensorSpec(label, label, made.dtype, shape)
    return found


def is_fixed(drawn: Mapping[str, TensorSpec]) -> bool:
    """Whether the graph has fixed how many rows there are in what is drawn."""
    return any(spec.shape.rank and spec.shape.as_list()[0] is not None for spec in drawn.values())


class DrawingFunction(GraphFunction):
    """A :class:`GraphFunction` that draws a batch, and gives it to a step.

    Args:
        step: The function of the step, which takes what is drawn as inputs.
        draw: What draws it.
        times: How many batches the step takes.
        arguments: As there, without what is drawn.
    """

    def __init__(self, step: GraphFunction, draw: GraphFunction, times: int, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._step = step
        self._draw = draw
        self._times = times

    def _traced(self, names: Sequence[str], fixed: Mapping[str, bool]) -> Any:
        return _Drawn(self._step, self._draw, self._times, fixed)


class _Drawn:
    """A call of a :class:`DrawingFunction` with certain inputs."""

    def __init__(self, step: GraphFunction, draw: GraphFunction, times: int, fixed: Mapping[str, bool]) -> None:
        self._step = step
        self._draw = draw
        self._times = times
        self._fixed = fixed

    @property
    def concrete(self) -> Any:
        return self._step.concrete

    def __call__(self, given: Mapping[str, Any]) -> Any:
        every = {**self._fixed, **given}
        needs = {name: every[name] for name in self._draw.inputs if name in every}
        batches = [self._draw(needs) for _ in range(self._times)]
        batch = {label: _rows(*(each[label] for each in batches)) for label in batches[0]}
        return self._step({**every, **batch})


def _rows(first: Any, *others: Any) -> Any:
    return tf.concat([first, *others], 0) if others and first.shape.rank else first
