"""Changes that a statement makes: names that it binds, attributes that it sets, containers that it changes in place.

A function that is called changes what its body does outside of it: attributes, global names, and what it is given.
Functions and methods are known by their names alone, so that too much may be taken for changed. A constructor is not
looked into: it sets the attributes of a new object.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable

from .graph_code import GraphCode, called_name, own_nodes

__all__ = ["Changes", "changes", "used"]

_CHANGING = frozenset(
    "append appendleft clear extend insert pop popitem popleft remove reverse setdefault sort update".split()
)
_ANY_ATTRIBUTE = "."
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@functools.lru_cache(maxsize=2)
def changes(code: GraphCode) -> Changes:
    """Analyse a program; the same object for the same one."""
    return Changes(code)


class Changes:
    """Changes that the statements of a program make. Names of attributes have a dot before them."""

    def __init__(self, code: GraphCode) -> None:
        self._of_calls: dict[str, set[str]] = {}  # function or method -> what a call of it changes
        self._of_arguments: set[str] = set()  # functions and methods that may change a container that they are given
        functions = [each for file in code.files for each in ast.walk(file.tree) if isinstance(each, _Function)]
        size = -1
        while size != (size := len(self._of_arguments) + sum(map(len, self._of_calls.values()))):
            for function in functions:
                self._note(function)

    def _note(self, function: _Function) -> None:
        nodes = [node for statement in function.body for node in own_nodes(statement)]
        arguments = function.args
        parameters = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        shared = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        bound = {name for node in nodes if (name := _bound_name(node)) is not None}
        found = set[str]().union(*map(self._in_place, nodes))
        if parameters & found:
            self._of_arguments.add(function.name)
        found -= parameters | (bound - shared)
        self._of_calls.setdefault(function.name, set()).update(found, bound & shared)

    def _in_place(self, node: ast.AST) -> set[str]:
        """Names and attributes that a node changes without binding them."""
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return _last(node if isinstance(node, ast.Attribute) else node.value)
        if not isinstance(node, ast.Call):
            return set()
        name = called_name(node) or ""
        found = set(self._of_calls.get(name, ()))
        if name in _CHANGING and isinstance(node.func, ast.Attribute):
            found |= _last(node.func.value)
        if name == "setattr" and len(node.args) > 1:
            attribute = getattr(node.args[1], "value", None)
            found.add(f".{attribute}" if isinstance(attribute, str) else _ANY_ATTRIBUTE)
        if name in self._of_arguments:
            found = found.union(*map(_last, node.args), *(_last(keyword.value) for keyword in node.keywords))
        return found

    def of(self, statement: ast.AST) -> set[str]:
        """Names and attributes that a statement binds or changes."""
        found: set[str] = set()
        for node in ast.walk(statement):
            found |= self._in_place(node)
            if (name := _bound_name(node)) is not None:
                found.add(name)
        return found


def used(expressions: Iterable[ast.expr]) -> set[str]:
    """The names and attributes in some expressions, as :class:`Changes` has them."""
    nodes = [node for each in expressions for node in ast.walk(each)]
    attributes = {f".{node.attr}" for node in nodes if isinstance(node, ast.Attribute)}
    if attributes:
        attributes.add(_ANY_ATTRIBUTE)
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


def _last(node: ast.expr) -> set[str]:
    """The last name of an expression: of ``model.layers`` it is ``.layers``."""
    if isinstance(node, ast.Name):
        return {node.id}
    return {f".{node.attr}"} if isinstance(node, ast.Attribute) else set()


def _bound_name(node: ast.AST) -> str | None:
    """The name that a node binds: by an assignment, a definition or an import."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else None
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    return (node.asname or node.name).partition(".")[0] if isinstance(node, ast.alias) else None
