"""The nodes of the code that makes a graph, found once by the names that they bind, change and read."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..requests.graph_code import own_nodes
from .kinds import Function, base_names, changes_object

__all__ = ["OwnNodes", "changed_arguments", "changed_in_place"]


def changed_in_place(node: ast.AST) -> set[str]:
    """Return the names whose values a node changes: ``a[0] = 1``, ``a.append(1)``."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return base_names(node)
    if not isinstance(node, ast.Call):
        return set()
    if changes_object(node):
        return base_names(node.func)
    is_shuffle = isinstance(node.func, ast.Attribute) and node.func.attr == "shuffle"  # of random, or of a generator
    is_next = isinstance(node.func, ast.Name) and node.func.id == "next"
    return set().union(*map(base_names, node.args[:1])) if is_shuffle or is_next else set()


def changed_arguments(node: ast.AST, functions: Mapping[str, Function]) -> set[str]:
    """Return the names of what a call gives to a function of the program that changes its argument."""
    function = functions.get(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
    if function is None or not isinstance(node, ast.Call):
        return set()
    names = [each.arg for each in [*function.args.posonlyargs, *function.args.args]]
    changed = set().union(*map(changed_in_place, own_nodes(function)))
    changed |= {each.target.id for each in own_nodes(function) if _is_added_to(each)}  # type: ignore[attr-defined]
    given = [*zip(names, node.args, strict=False), *((each.arg, each.value) for each in node.keywords)]
    return set().union(*(base_names(value) for name, value in given if name in changed))


def _is_added_to(node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)


def _defined(node: ast.AST) -> str | None:
    """The name that a definition binds."""
    if isinstance(node, ast.alias):
        return (node.asname or node.name).partition(".")[0]
    is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler)
    return node.name if is_definition else None  # type: ignore[attr-defined]


def _aliases(node: ast.AST) -> list[tuple[str, str]]:
    """Names that are bound to the value of another one, or to a part of it."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Subscript):
        return [
            (each.id, name) for each in node.targets if isinstance(each, ast.Name) for name in base_names(node.value)
        ]
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        return [(node.target.id, name) for name in base_names(node.iter)]
    return []


class OwnNodes:
    """The nodes of the module or function that makes a LegacyGraph, by the names that they bind and change.

    Attributes:
        binders: Name -> the nodes that bind it.
        definitions: Name -> the functions, classes, imports and ``except ... as`` that bind it.
        changes: Name -> the nodes that change its value in place, by another name for it, too.
        read: The names that are read in the area of the LegacyGraph -> the nodes.
    """

    def __init__(self, node: ast.AST, area: ast.AST, functions: Mapping[str, Function]) -> None:
        self.binders: dict[str, list[ast.Name]] = {}
        self.definitions: dict[str, list[ast.AST]] = {}
        self.changes: dict[str, list[ast.AST]] = {}
        aliases: list[tuple[str, str]] = []
        added_to: dict[str, list[ast.AST]] = {}
        for each in own_nodes(node):
            for inner in ast.iter_child_nodes(each):
                if name := _defined(inner):
                    self.definitions.setdefault(name, []).append(inner)
            aliases += _aliases(each)
            if _is_added_to(each):
                added_to.setdefault(each.target.id, []).append(each)  # type: ignore[attr-defined]
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                self.binders.setdefault(each.id, []).append(each)
            for name in changed_in_place(each) | changed_arguments(each, functions):
                self.changes.setdefault(name, []).append(each)
        for one, other in aliases:
            for name, alias in ((one, other), (other, one)):
                by_alias = [*self.changes.get(alias, []), *added_to.get(alias, [])]
                self.changes.setdefault(name, []).extend(each for each in by_alias if each not in self.changes[name])
        self.changes = {name: nodes for name, nodes in self.changes.items() if nodes}
        self.read: dict[str, list[ast.Name]] = {}
        for each in ast.walk(area):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                self.read.setdefault(each.id, []).append(each)
