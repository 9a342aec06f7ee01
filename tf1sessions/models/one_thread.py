"""Graphs of functions that one thread runs as fast as two: the hand-overs between threads are most of what they cost.

TensorFlow runs a function by an executor: its usual one hands operations to the threads of a pool, another one runs
them one after the other in the thread that calls.
"""

from __future__ import annotations

from typing import Any

from tf1sessions.sessions.operations import CALLER_SAFE, MAX_CALLER_OPERATIONS, MAX_CALLER_OVERLAP, overlap

__all__ = ["suits_one_thread"]

#: Operations that cost nothing to speak of: they hand on what is there.
_TRIFLES = {"Placeholder", "Const", "Identity", "NoOp", "ReadVariableOp", "Shape", "Reshape", "Squeeze", "ExpandDims"}
#: Besides those that do not wait: the next elements of a data set, which threads of its own make, and what takes the
#: place of the random operations of a graph.
_SAFE = CALLER_SAFE | {
    "IteratorGetNext",
    "IteratorGetNextSync",
    "IteratorV2",
    "StatelessRandomNormalV2",
    "StatelessRandomUniformV2",
    "StatelessTruncatedNormalV2",
}


def suits_one_thread(graph: Any, sizes_known: bool) -> bool:
    """Whether one thread runs the graph of a function at least as fast as several.

    That is so where each operation works on what the one before it gives; and where there is little to run side by
    side, by the bounds below which a compiled call of a session runs in the thread that calls.

    Args:
        graph: Of the function.
        sizes_known: Whether the shapes of its inputs are those that it gets.
    """
    return _is_chain(graph) or (sizes_known and _is_small(graph))


def _is_small(graph: Any) -> bool:
    operations = graph.get_operations()
    working = [each for each in operations if each.type not in _TRIFLES]
    return (
        len(working) <= MAX_CALLER_OPERATIONS
        and all(each.type in _SAFE for each in operations)
        and overlap(operations) <= MAX_CALLER_OVERLAP
    )


def _is_chain(graph: Any) -> bool:
    """Whether each operation of a graph works on what the one before it gives, so that no two can run side by side.

    Those with a state are none, as they may wait for other calls; nor those that run functions, such as loops.
    """
    depths: dict[str, int] = {}
    taken = set()
    for operation in graph.get_operations():
        before = [*(each.op for each in operation.inputs), *operation.control_inputs]
        depth = max((depths.get(each.name, 0) for each in before), default=0)  # 0: it was made to wait, later on
        if operation.type not in _TRIFLES:
            depth += 1
            described = operation.op_def
            if described.is_stateful or depth in taken or any("func" in each.type for each in described.attr):
                return False
            taken.add(depth)
        depths[operation.name] = depth
    return True
