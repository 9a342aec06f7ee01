"""Objects of a graph that requests call: queues, and moving averages; which calls of these give operations."""

from __future__ import annotations

import ast

from .kinds import Kinds

__all__ = ["OPERATIONS", "is_apply", "is_operation_call", "queue_element"]

#: Methods of a queue that have no value.
OPERATIONS = frozenset(["enqueue", "enqueue_many", "close"])
_ELEMENTS = frozenset(["dequeue", "dequeue_many", "dequeue_up_to"])
#: Queue -> where its dtypes are among its arguments.
_DTYPES = {"tf.FIFOQueue": 1, "tf.PaddingFIFOQueue": 1, "tf.RandomShuffleQueue": 2}


def is_operation_call(kinds: Kinds, node: ast.AST | None) -> bool:
    """Whether an expression puts elements into a queue, closes it, or updates moving averages."""
    return _method(kinds, node) in OPERATIONS or is_apply(kinds, node)


def is_apply(kinds: Kinds, node: ast.AST | None) -> bool:
    """Whether an expression updates moving averages."""
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return False
    return function.attr == "apply" and function.value.id in kinds.averages


def queue_element(kinds: Kinds, node: ast.AST) -> bool:
    """Whether an expression is one tensor of a queue: its size, or what comes out of one of single tensors."""
    method = _method(kinds, node)
    if method not in _ELEMENTS:
        return method == "size"
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    made = kinds.queues[node.func.value.id]
    position = _DTYPES.get(f"tf.{(kinds.symbol(made.func) or '').rpartition('.')[2]}", 9)
    given = [each.value for each in made.keywords if each.arg == "dtypes"] or made.args[position : position + 1]
    is_one = bool(given) and (kinds.symbol(given[0]) is not None or isinstance(given[0], ast.Constant))
    return is_one and not isinstance(given[0], ast.List | ast.Tuple)


def _method(kinds: Kinds, node: ast.AST | None) -> str | None:
    """The method of a queue that an expression calls."""
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return None
    return function.attr if function.value.id in kinds.queues else None
