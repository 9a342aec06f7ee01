"""Shapes, whose dimensions are numbers in TensorFlow 2: ``x.get_shape()[1].value`` is ``x.shape[1]``."""

from __future__ import annotations

import ast

from ....source.uses import FileUses
from .texts import Texts

__all__ = ["write_shapes"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def write_shapes(file: FileUses, texts: Texts) -> None:
    """Note the changes of all shapes, and of what takes a number from a dimension."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "get_shape" and not node.args and not node.keywords:
                texts.replace_end(node, node.func.value, ".shape")
        if isinstance(node, ast.Attribute) and node.attr == "value" and isinstance(node.ctx, ast.Load):
            if _is_dimension(file, node.value):
                texts.replace_end(node, node.value, "")


_Binders = frozenset[ast.AST]  # those that were looked at: of `shape = shape[1:]` the others decide


def _is_shape(file: FileUses, node: ast.expr, seen: _Binders = frozenset()) -> bool:
    """Whether an expression is the shape of a tensor, or a part of one."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "get_shape"
    if isinstance(node, ast.Attribute):
        return node.attr == "shape"
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and _is_shape(file, node.value, seen)
    binders = _binders(file, node)
    values = [_assigned(file, each) for each in binders - seen]
    return bool(binders) and all(value is not None and _is_shape(file, value, seen | binders) for value in values)


def _is_dimension(file: FileUses, node: ast.expr, seen: _Binders = frozenset()) -> bool:
    """Whether an expression is a dimension of the shape of a tensor."""
    if isinstance(node, ast.Subscript):
        return not isinstance(node.slice, ast.Slice) and _is_shape(file, node.value)
    binders = _binders(file, node)
    return bool(binders) and all(_is_bound_to_dimension(file, each, seen | binders) for each in binders - seen)


def _is_bound_to_dimension(file: FileUses, binder: ast.AST, seen: _Binders) -> bool:
    """Whether a name is bound to a dimension: by a loop over a shape, or by an assignment."""
    if (value := _assigned(file, binder)) is not None:
        return _is_dimension(file, value, seen)
    parent = file.parents.get(binder)
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
        return parent.target is binder and _is_shape(file, parent.iter)
    if isinstance(parent, ast.Tuple | ast.List):  # width, height = x.shape
        statement = file.parents.get(parent)
        return isinstance(statement, ast.Assign) and _is_shape(file, statement.value)
    return False


def _assigned(file: FileUses, binder: ast.AST) -> ast.expr | None:
    """The value that an assignment of one name gives it; None for what else binds a name."""
    statement = file.parents.get(binder)
    return statement.value if isinstance(statement, ast.Assign) and binder in statement.targets else None


def _binders(file: FileUses, node: ast.expr) -> _Binders:
    """The places in the function around a name that bind it."""
    if not isinstance(node, ast.Name):
        return frozenset()
    function = _function(file, node)
    return frozenset(each for each in file.bound.get(node.id, ()) if _function(file, each) is function)


def _function(file: FileUses, node: ast.AST) -> ast.AST | None:
    return next((each for each in file.around(node) if isinstance(each, _FUNCTIONS)), None)
