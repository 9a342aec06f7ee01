"""The value of an expression of NumPy: its dtype, and whether it is an array or a scalar. For the rules about NumPy."""

from __future__ import annotations

import ast
import dataclasses
import re

from ..code import Code

__all__ = ["BY_RUN", "LIMITS", "NumpyValue", "is_number", "kind_of", "operands", "whole_number"]

#: For the rules about operators.
BY_RUN = (
    "(`tf1sessions run` gives operators in the program's own files NumPy 1's result; np.add(x, y) and the like not.)"
)
#: The smallest and the largest value of integer dtypes.
LIMITS = {
    f"{sign}int{bits}": ((0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
    for sign in ("u", "")
    for bits in (8, 16, 32, 64)
}
_SCALARS = {*LIMITS, "float16", "float32", "float64"}
_FILLED = {"zeros": 1, "ones": 1, "empty": 1, "array": 1, "asarray": 1, "full": 2, "arange": None, "linspace": None,
           "frombuffer": 1, "fromstring": 1, "ascontiguousarray": 1, "zeros_like": 1, "ones_like": 1}  # fmt: skip
#: What computes as an operator does.
_FUNCTIONS: dict[type[ast.operator], tuple[str, ...]] = {
    ast.Add: ("add",), ast.Sub: ("subtract",), ast.Mult: ("multiply",), ast.Div: ("divide", "true_divide"),
    ast.FloorDiv: ("floor_divide",), ast.Mod: ("mod", "remainder"), ast.Pow: ("power",),
    ast.BitAnd: ("bitwise_and",), ast.BitOr: ("bitwise_or",), ast.BitXor: ("bitwise_xor",),
}  # fmt: skip
#: Functions that make a float64 scalar of a Python number.
_OF_A_NUMBER = frozenset(["sqrt", "log", "log2", "log10", "exp", "sin", "cos", "tanh"])
#: What Python numbers are made of.
_NUMBER_MAKERS = frozenset(["builtins.float", "builtins.int", "builtins.len"])


@dataclasses.dataclass(frozen=True)
class NumpyValue:
    """A dtype's name, and whether it is an array or a scalar of NumPy's."""

    dtype: str
    is_array: bool


def operands(code: Code, node: ast.AST, operators: tuple[type[ast.operator], ...]) -> tuple[ast.expr, ast.expr] | None:
    """The two sides of one of ``operators``, or of NumPy's function that does the same; maximum and minimum, too."""
    if isinstance(node, ast.BinOp):
        return (node.left, node.right) if isinstance(node.op, operators) else None
    if isinstance(node, ast.Call) and len(node.args) > 1:
        names = ["maximum", "minimum", *(name for operator in operators for name in _FUNCTIONS[operator])]
        path = code.path(node.func) or ""
        if path.startswith("np.") and path.removeprefix("np.") in names:
            return node.args[0], node.args[1]
    return None


def kind_of(code: Code, node: ast.AST, depth: int = 0) -> NumpyValue | None:
    """The kind of an expression where the text shows it surely."""
    if depth > 8:
        return None
    if isinstance(node, ast.Name | ast.Attribute):
        values = code.names.values(node)
        if not values or values == [node] or len(values) != 1:
            return None
        return kind_of(code, values[0], depth + 1)
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return kind_of(code, node.operand, depth + 1)
    if isinstance(node, ast.BinOp):
        return _reckoned(code, node, depth)
    if isinstance(node, ast.Call):
        return _called(code, node)
    return None


def _reckoned(code: Code, node: ast.BinOp, depth: int) -> NumpyValue | None:
    left, right = kind_of(code, node.left, depth + 1), kind_of(code, node.right, depth + 1)
    if left is not None and right is not None:
        return NumpyValue(left.dtype, left.is_array or right.is_array) if left.dtype == right.dtype else None
    known, other = (left, node.right) if left is not None else (right, node.left)
    if known is not None and known.dtype.startswith("float") and is_number(code, other):
        return known
    return None


def _called(code: Code, node: ast.Call) -> NumpyValue | None:
    path = code.path(node.func) or ""
    name = path.removeprefix("np.")
    if path.startswith("np.") and name in _SCALARS:
        one = len(node.args) == 1 and (is_number(code, node.args[0]) or kind_of(code, node.args[0]) is not None)
        inner = kind_of(code, node.args[0]) if one else None
        return NumpyValue(name, inner.is_array if inner is not None else False) if one else None
    if path.startswith("np.") and name in _FILLED:
        dtype = _dtype(code, code.argument(node, _FILLED[name], "dtype"))
        return None if dtype is None else NumpyValue(dtype, True)
    if path.startswith("np.") and name in _OF_A_NUMBER and len(node.args) == 1 and is_number(code, node.args[0]):
        return NumpyValue("float64", False)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "astype" and not path.startswith("tf."):
        dtype = _dtype(code, code.argument(node, 0, "dtype"))
        return None if dtype is None else NumpyValue(dtype, True)
    return None


def _dtype(code: Code, node: ast.expr | None) -> str | None:
    if node is None:
        return None
    text = code.names.literal(node)
    name = text if isinstance(text, str) else (code.path(node) or "").removeprefix("np.")
    name = {"float": "float64", "f4": "float32", "f8": "float64", "u1": "uint8", "ubyte": "uint8"}.get(name, name)
    return name if re.fullmatch(r"u?int\d+|float\d+", name) and name in _SCALARS else None


def is_number(code: Code, node: ast.AST) -> bool:
    """Whether an expression is surely a Python number."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return is_number(code, node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(code, node.left) and is_number(code, node.right)
    if isinstance(node, ast.Call):
        return code.path(node.func) in _NUMBER_MAKERS
    if isinstance(node, ast.Name | ast.Attribute):
        if code.path(node) in ("np.pi", "np.e", "math.pi", "math.e"):
            return True
        values = code.names.values(node)
        return bool(values) and values != [node] and len(values or []) == 1 and is_number(code, (values or [node])[0])
    return False


def whole_number(code: Code, node: ast.AST) -> int | None:
    """The int that an expression is: a literal, or powers, products and sums of literals."""
    if isinstance(node, ast.BinOp):
        left, right = whole_number(code, node.left), whole_number(code, node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Pow) and 0 <= right <= 64 and abs(left) <= 16:
            return int(left**right)
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Add | ast.Sub):
            return left + right if isinstance(node.op, ast.Add) else left - right
        return None
    if isinstance(node, ast.Constant | ast.UnaryOp | ast.Name):
        value = code.names.literal(node)
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    return None
