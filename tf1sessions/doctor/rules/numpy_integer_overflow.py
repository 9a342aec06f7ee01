"""Integers of NumPy with numbers of Python that do not fit them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .numpy_values import LIMITS, kind_of, whole_number
from .rule import Hit, Rule

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor)


def find(code: Code) -> Iterator[Hit]:
    for node in code.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                kind, number = kind_of(code, one), whole_number(code, other)
                if kind is not None and number is not None and _is_outside(kind.dtype, number):
                    yield Hit(node, f"{number} does not fit {kind.dtype}, and is not widened any more")
        elif isinstance(node, ast.Call):
            dtype = (code.path(node.func) or "").removeprefix("np.")
            if dtype in LIMITS and (code.path(node.func) or "").startswith("np.") and len(node.args) == 1:
                number = whole_number(code, node.args[0])
                if number is not None and _is_outside(dtype, number):
                    yield Hit(node, f"np.{dtype}({number}) does not fit")


def _is_outside(dtype: str, number: int) -> bool:
    if dtype not in LIMITS:
        return False
    low, high = LIMITS[dtype]
    return not low <= number <= high


RULE = Rule(
    name="numpy-integer-overflow",
    severity=Severity.ERROR,
    what="Python integers that do not fit the NumPy integers that they are reckoned with",
    why="NumPy 1 took a wider type: np.uint8(200) + 300 was 500. NumPy 2 keeps the type of the NumPy value, and raises "
    "OverflowError where the Python number does not fit.",
    fix="Widen first: x.astype(np.int64) + 300, or np.int64(x).",
    find=find,
)
