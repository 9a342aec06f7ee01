"""The nodes of the code that makes a graph, found once by the names that they bind, change and read."""

from __future__ import annotations

import ast

from ..requests.graph_code import own_nodes
from .kinds import CHANGING, base_names

__all__ = ["OwnNodes", "changed_in_place"]


def changed_in_place(node: ast.AST) -> set[str]:
    """Return the names whose values a node changes: ``a[0] = 1``, ``a.append(1)``."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return base_names(node)
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING
    return base_names(node.func) if is_call else set()  # type: ignore[attr-defined]


class OwnNodes:
    """The nodes of the module or function that makes a LegacyGraph, by the names that they bind and change.

    Attributes:
        binders: Name -> the nodes that bind it.
        changes: Name -> the nodes that change its value in place.
        read: The names that are read in the area of the LegacyGraph -> the nodes.
    """

    def __init__(self, node: ast.AST, area: ast.AST) -> None:
        self.binders: dict[str, list[ast.Name]] = {}
        self.changes: dict[str, list[ast.AST]] = {}
        for each in own_nodes(node):
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                self.binders.setdefault(each.id, []).append(each)
            for name in changed_in_place(each):
                self.changes.setdefault(name, []).append(each)
        self.read: dict[str, list[ast.Name]] = {}
        for each in ast.walk(area):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                self.read.setdefault(each.id, []).append(each)
