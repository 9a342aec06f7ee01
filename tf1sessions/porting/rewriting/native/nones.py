"""Arguments that are None, or may be: TensorFlow 1 takes what is then usual, as all variables for ``var_list``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.nodes import is_none
from ....source.uses import FileUses
from ..requests.arguments import arguments

__all__ = ["none_or_not"]

_DEEPEST = 5  # names that are bound to names
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def none_or_not(file: FileUses, node: ast.expr, depth: int = 0) -> bool | None:
    """Whether an expression is None in any case; None itself where it may be, and may be something else.

    Args:
        file: The file.
        node: The expression. Of a name all values count that are bound to it where it is read, in any order.
        depth: How many names lead to it.
    """
    if isinstance(node, ast.Constant):
        return node.value is None
    if isinstance(node, ast.IfExp):
        return _joined([none_or_not(file, each, depth) for each in (node.body, node.orelse)])
    if isinstance(node, ast.BoolOp):
        return _joined([none_or_not(file, each, depth) for each in node.values])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        found = [each for each in file.tree.body if isinstance(each, _Function) and each.name == node.func.id]
        returns = [each.value for one in found for each in ast.walk(one) if isinstance(each, ast.Return)]
        return None if any(each is None or is_none(each) for each in returns) else False
    if not isinstance(node, ast.Name) or depth > _DEEPEST:
        return False
    values = list(_values(file, node))
    found_out = _joined([False if each is None else none_or_not(file, each, depth + 1) for each in values])
    return False if found_out is None and _is_filled_in(file, node) else found_out


def _joined(values: list[bool | None]) -> bool | None:
    if not values:
        return False
    return values[0] if len(set(values)) == 1 else None


def _values(file: FileUses, name: ast.Name) -> Iterator[ast.expr | None]:
    """The values that are bound to a name where it is read; None for those that are no expression of their own."""
    inside = [each for each in file.around(name) if isinstance(each, _Function)]
    for scope in [*inside, file.tree]:
        bound = [each for each in file.bound.get(name.id, ()) if _scope(file, each) is scope]
        for each in bound:
            parent = file.parents[each]
            if isinstance(each, ast.arg) and isinstance(scope, _Function):
                yield from _given(file, scope, each.arg)
            elif isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr):
                yield parent.value
            else:
                yield None
        if bound:
            return


def _scope(file: FileUses, node: ast.AST) -> ast.AST:
    return next((each for each in file.around(node) if isinstance(each, _Function | ast.Lambda)), file.tree)


def _given(file: FileUses, function: _Function, name: str) -> Iterator[ast.expr | None]:
    """The default of a parameter, and what the calls of its function give it."""
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults = dict(zip([each.arg for each in reversed(positional)], reversed(function.args.defaults), strict=False))
    keyed = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    defaults |= {each.arg: default for each, default in keyed if default is not None}
    calls = [each for each in ast.walk(file.tree) if isinstance(each, ast.Call)]
    calls = [each for each in calls if isinstance(each.func, ast.Name) and each.func.id == function.name]
    for call in calls:
        if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
            yield defaults.get(name)
            continue
        yield arguments(call, [each.arg for each in positional]).get(name, defaults.get(name))
    if not calls:
        yield defaults.get(name)


def _is_filled_in(file: FileUses, name: ast.Name) -> bool:
    """Whether ``if name is None: name = ...`` stands before a name is read."""
    for node in ast.walk(_scope(file, name)):
        if isinstance(node, ast.If) and node.lineno < name.lineno:
            if ast.unparse(node.test) in (f"{name.id} is None", f"not {name.id}", f"{name.id} == None"):
                last = [each for each in node.body if isinstance(each, ast.Assign)]
                filled = [each for each in last if any(ast.unparse(one) == name.id for one in each.targets)]
                return bool(filled) and none_or_not(file, filled[-1].value, _DEEPEST) is False
    return False
