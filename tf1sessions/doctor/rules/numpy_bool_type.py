"""np.bool and np.long where Python's types were meant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule

_TYPES = ("np.bool", "np.long")


def find(code: Code) -> Iterator[Hit]:
    for node in code.nodes:
        if isinstance(node, ast.Call) and len(node.args) == 2:
            if code.path(node.func) not in ("builtins.isinstance", "builtins.issubclass"):
                continue
            kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
            compared = [kind for kind in kinds if code.path(kind) in _TYPES]
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if not all(isinstance(one, ast.Is | ast.IsNot) for one in node.ops) and not any(
                isinstance(side, ast.Call) and code.path(side.func) == "builtins.type" for side in sides
            ):
                continue
            compared = [side for side in sides if code.path(side) in _TYPES]
        else:
            continue
        for kind in compared:
            name = (code.path(kind) or "").removeprefix("np.")
            yield Hit(
                node, f"np.{name} is NumPy's own type now, and not Python's {'bool' if name == 'bool' else 'int'}"
            )


RULE = Rule(
    name="numpy-bool-type",
    severity=Severity.WARNING,
    what="np.bool or np.long where it is asked what type a value has",
    why="In NumPy 1 they were Python's bool and int. In NumPy 2 they are NumPy's own types: isinstance(True, np.bool) "
    "is False, and isinstance(np.bool_(True), np.bool) is True. As a dtype they mean what they meant.",
    fix="Write bool or int; for values of either kind isinstance(x, (bool, np.bool_)).",
    find=find,
)
