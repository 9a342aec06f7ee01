"""float32 arrays that a float64 scalar makes float64."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .numpy_values import BY_RUN, kind_of, operands
from .rule import Hit, Rule

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod)


def find(code: Code) -> Iterator[Hit]:
    for node in code.nodes:
        sides = operands(code, node, _OPERATORS)
        if sides is None:
            continue
        left, right = kind_of(code, sides[0]), kind_of(code, sides[1])
        if left is None or right is None or _is_cast(code, node):
            continue
        for array, scalar, text in ((left, right, sides[1]), (right, left, sides[0])):
            if array.is_array and array.dtype == "float32" and not scalar.is_array and scalar.dtype == "float64":
                yield Hit(node, f"a float32 array becomes float64 by {_short(text)}")


def _is_cast(code: Code, node: ast.AST) -> bool:
    """Whether the result is cast at once: ``(x * y).astype(...)``, ``np.float32(x * y)``."""
    for parent in code.names.parents(node):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, ast.Attribute) and parent.attr == "astype":
            return True
        if isinstance(parent, ast.Call):
            path = code.path(parent.func) or ""
            if path.startswith("np.float") or any(keyword.arg == "dtype" for keyword in parent.keywords):
                return True
    return False


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else text[:37] + "..."


RULE = Rule(
    name="numpy-float64-scalar",
    severity=Severity.WARNING,
    what="float32 arrays with NumPy's float64 scalars",
    why="NumPy 1 kept float32 where the other side was a scalar; NumPy 2 makes the array float64, as np.sqrt(2.0) and "
    "np.float64(2) are: twice the memory, and an error where TensorFlow wants float32.",
    fix=f"Use a Python number, float(np.sqrt(2.0)), or cast the result: (...).astype(np.float32). {BY_RUN}",
    find=find,
)
