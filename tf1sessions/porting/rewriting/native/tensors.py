"""Whether an expression is one tensor, or may be a list of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from . import summaries
from .kinds import Kinds, bound_names, creates

__all__ = ["is_tensor"]

#: Functions of TensorFlow that give several.
_SEVERAL = frozenset(
    "split unstack unpack moments top_k meshgrid while_loop cond map_fn scan batch shuffle_batch gradients tuple "
    "clip_by_global_norm dynamic_rnn static_rnn bidirectional_dynamic_rnn get_next unique py_func "
    "compute_gradients".split()
)


def is_tensor(kinds: Kinds, node: ast.expr | None, statements: Sequence[ast.stmt]) -> bool:
    """Whether an expression, among statements that bind its names, is surely one tensor."""
    if isinstance(node, ast.Name):
        binders = [each for each in statements if node.id in bound_names(each)]
        if not binders:
            return node.id in kinds.placeholders
        plain = [each for each in binders if not isinstance(each, ast.AugAssign)]  # a tensor and more is one
        others = [each for each in statements if each not in binders]
        return bool(plain) and all(
            isinstance(each, ast.Assign)
            and all(isinstance(target, ast.Name) for target in each.targets)
            and not summaries.is_merge(kinds, each.value)
            and is_tensor(kinds, each.value, others)
            for each in plain
        )
    if isinstance(node, ast.Call):
        symbol = kinds.symbol(node.func)
        if isinstance(node.func, ast.Name) and (function := kinds.functions.get(node.func.id)) is not None:
            inner = [each for each in ast.walk(function) if isinstance(each, ast.stmt)]
            returns = [each for each in inner if isinstance(each, ast.Return)]
            plain = [each for each in inner if not isinstance(each, ast.With | ast.FunctionDef | ast.Return)]
            return bool(returns) and all(is_tensor(kinds, each.value, plain) for each in returns)
        return symbol is not None and symbol.rpartition(".")[2] not in _SEVERAL
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):  # a metric's update
        return creates(kinds.symbol(node.value.func)) == "metric"
    return isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare)
