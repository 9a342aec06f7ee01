"""float32 scalars that a Python number no longer widens."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .numpy_values import BY_RUN, is_number, kind_of, operands
from .rule import Hit, Rule


def find(code: Code) -> Iterator[Hit]:
    for node in code.nodes:
        sides = operands(code, node, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow))
        for one, other in () if sides is None else (sides, sides[::-1]):
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
    fix=f"Where the digits matter, write float(x) or np.float64(x). {BY_RUN}",
    find=find,
)
