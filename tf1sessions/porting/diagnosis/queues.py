"""Queues that several threads fill or empty: in which order is chance, on TensorFlow 1, too."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from tf1sessions.porting.trace_comparison import ComparedTensor
from tf1sessions.porting.trace_graphs import Node, TraceGraph
from tf1sessions.porting.traces import Trace

__all__ = ["queue_of_threads", "same_values"]

_TAKES = re.compile(r"QueueDequeue|ReaderRead")
_PUTS = re.compile(r"QueueEnqueue")
#: How near the values of both sides must be, as a part of the largest, to be the same in another order. Arbitrary.
_NEAR = 1e-4


def queue_of_threads(
    traces: Sequence[Trace], session: int, graph: TraceGraph, region: Collection[str]
) -> tuple[Node, str] | None:
    """Return an operation among some that takes from a queue which several threads fill or empty, and which they do.

    Args:
        traces: Of both sides: one of them is enough.
        session: Whose calls.
        graph: Its graph.
        region: The operations between a value and what is known.
    """
    for name in graph.ordered(region):
        node = graph.nodes[name]
        if not _TAKES.search(node.op):
            continue
        for trace in traces:
            for what, pattern in (("fill", _PUTS), ("empty", _TAKES)):
                if _threads(trace, session, graph, {*node.inputs}, pattern) > 1:
                    return node, what
    return None


def _threads(trace: Trace, session: int, graph: TraceGraph, queues: Collection[str], pattern: re.Pattern[str]) -> int:
    """Count the threads that run operations of some types on some queues."""
    calls = trace.table[(trace.table[:, 1] == session) & (trace.table[:, 3] >= 0)]
    kinds = {
        number
        for number in set(calls[:, 3].tolist())
        for node in map(graph.nodes.__getitem__, graph.ran([trace.kinds[number]]))
        if pattern.search(node.op) and not {*node.inputs}.isdisjoint(queues)
    }
    return len({thread for thread, kind in calls[:, 2:4].tolist() if kind in kinds})


def same_values(tensor: ComparedTensor) -> bool:
    """Whether both sides have the same values at all calls, but for rounding, in another order."""
    pairs = [tensor.values(row) for row in range(min(tensor.rows, 1000))]
    sides = [[np.asarray(pair[side]) for pair in pairs] for side in (0, 1)]
    if any(value.dtype.kind not in "fiub" or value.shape != sides[0][0].shape for side in sides for value in side):
        return False
    flat = [np.stack(side).astype(np.float64).reshape(len(side), -1) for side in sides]
    if not flat[0].size:
        return False
    left, right = (values[np.argsort(values[:, 0], kind="stable")] for values in flat)
    return bool(np.allclose(left, right, rtol=_NEAR, atol=_NEAR * float(np.abs(left).max())))
