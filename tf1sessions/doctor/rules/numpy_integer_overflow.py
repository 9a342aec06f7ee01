"""Integers of NumPy with numbers of Python that do not fit them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .numpy_values import BY_RUN, LIMITS, kind_of, operands, whole_number
from .rule import Hit, Rule

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor)


def find(code: Code) -> Iterator[Hit]:
    for node in code.nodes:
        sides = operands(code, node, _OPERATORS)
        if sides is not None:
            for one, other in (sides, sides[::-1]):
                kind, number = kind_of(code, one), whole_number(code, other)
                if kind is not None and number is not None and _is_outside(kind.dtype, number):
                    yield Hit(node, f"{number} does not fit {kind.dtype}, and is not widened any more")
        elif isinstance(node, ast.Call):
            yield from _made(code, node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript):
                    yield from _stored(code, node, target.value, node.value)


def _made(code: Code, node: ast.Call) -> Iterator[Hit]:
    """np.uint8(300), np.full(3, 300, np.uint8) and x.fill(300)."""
    path = code.path(node.func) or ""
    dtype = path.removeprefix("np.")
    if path == "np.full" and len(node.args) > 1:
        kind, number = kind_of(code, node), whole_number(code, node.args[1])
        if kind is not None and number is not None and _is_outside(kind.dtype, number):
            yield Hit(node, f"{number} does not fit {kind.dtype}")
    elif path.startswith("np.") and dtype in LIMITS and len(node.args) == 1:
        number = whole_number(code, node.args[0])
        if number is not None and _is_outside(dtype, number):
            yield Hit(node, f"np.{dtype}({number}) does not fit")
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "fill" and len(node.args) == 1:
        yield from _stored(code, node, node.func.value, node.args[0])


def _stored(code: Code, node: ast.AST, array: ast.expr, value: ast.expr) -> Iterator[Hit]:
    kind = kind_of(code, array)
    for one in value.elts if isinstance(value, ast.List | ast.Tuple) else [value]:
        number = whole_number(code, one)
        if kind is not None and number is not None and _is_outside(kind.dtype, number):
            yield Hit(node, f"{number} does not fit {kind.dtype}, and is no longer cut to what fits")


def _is_outside(dtype: str, number: int) -> bool:
    if dtype not in LIMITS:
        return False
    low, high = LIMITS[dtype]
    return not low <= number <= high


RULE = Rule(
    name="numpy-integer-overflow",
    severity=Severity.ERROR,
    what="Python integers that do not fit the NumPy integers that they are reckoned with, or stored in",
    why="NumPy 1 took a wider type: np.uint8(200) + 300 was 500, and cut what it stored: np.uint8(-1) was 255. NumPy 2 "
    "keeps the type of the NumPy value, and raises OverflowError where the Python number does not fit.",
    fix=f"Widen first: x.astype(np.int64) + 300, or np.int64(x); to cut, np.array(300).astype(np.uint8). {BY_RUN}",
    find=find,
)
