"""The arguments of ``tf.group()``: what is written in them is run where the group was, and named operations before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..requests.request import NotPossible, names_in
from .statements import OPERATIONS
from .unit import Unit

__all__ = ["written_parts"]

#: Functions of Python whose result makes its parts when these are asked for.
_GENERATORS = frozenset(["enumerate", "filter", "iter", "map", "reversed", "zip"])


def written_parts(unit: Unit, node: ast.expr) -> Iterator[str]:
    """Yield the lines that run what is written in an argument of a group, in the function of a request.

    Raises:
        NotPossible: An expression has an operation in it that has no name in a function.
    """
    is_starred = isinstance(node, ast.Starred)
    value = node.value if isinstance(node, ast.Starred) else node
    if isinstance(value, ast.List | ast.Tuple):
        for each in value.elts:
            yield from written_parts(unit, each)
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        for each in (value.left, value.right):
            yield from written_parts(unit, ast.copy_location(ast.Starred(each), each))
    elif isinstance(value, ast.Call) and unit.kinds.symbol(value.func) in OPERATIONS:
        for each in value.args:
            yield from written_parts(unit, each)
    elif not _has_run(unit, value, is_starred):
        if names_in([value]) & (unit.operations | unit.updates):
            raise NotPossible(value, "An expression in a group has an operation that is made elsewhere")
        text = unit.texts.of(value)
        if is_starred and not isinstance(value, ast.ListComp):  # it may be a generator
            yield f"[*{text}]" if isinstance(value, ast.Name | ast.Call | ast.GeneratorExp) else f"[*({text})]"
        else:
            yield f"({text})" if "\n" in text and not isinstance(value, ast.Call | ast.ListComp) else text


def _has_run(unit: Unit, node: ast.expr, is_starred: bool) -> bool:
    """Whether an expression is a name, a part of what has one, or nothing: not the name of a generator."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node, is_starred = node.value, False
    if isinstance(node, ast.Constant):
        return True
    if not isinstance(node, ast.Name):
        return False
    return not (is_starred and node.id not in unit.operations | unit.updates and _is_generator(unit, node.id))


def _is_generator(unit: Unit, name: str) -> bool:
    """Whether a name may be bound to what makes its parts when these are asked for, as ``map()`` does."""
    values = [getattr(item.statement, "value", None) for item in unit.items if name in item.binds]
    return any(isinstance(each, ast.GeneratorExp | ast.Call) and _gives_generator(unit, each) for each in values)


def _gives_generator(unit: Unit, node: ast.GeneratorExp | ast.Call) -> bool:
    if isinstance(node, ast.GeneratorExp):
        return True
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    function = unit.kinds.functions.get(name)
    if function is None:
        return name in _GENERATORS
    inside = list(ast.walk(function))
    names = {each.id for each in inside if isinstance(each, ast.Name)}
    return bool(names & _GENERATORS) or any(isinstance(each, ast.GeneratorExp) for each in inside)
