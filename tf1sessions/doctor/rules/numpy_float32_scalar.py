"""float32 scalars that a Python number no longer widens."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .numpy_values import is_number, kind_of
from .rule import Hit, Rule


def find(code: Code) -> Iterator[Hit]:
    for node in code.nodes:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
            continue
        for one, other in ((node.left, node.right), (node.right, node.left)):
            kind = kind_of(code, one)
            if (
                kind is not None
                and not kind.is_array
                and kind.dtype in ("float16", "float32")
                and is_number(code, other)
            ):
                yield Hit(node, f"a {kind.dtype} scalar stays {kind.dtype} beside a Python number")


RULE = Rule(
    name="numpy-float32-scalar",
    severity=Severity.NOTE,
    what="NumPy's float32 scalars with Python numbers",
    why="NumPy 1 computed np.float32(3) + 3.0 as float64; NumPy 2 keeps float32, so the last digits differ.",
    fix="Where the digits matter, write float(x) or np.float64(x).",
    find=find,
)
