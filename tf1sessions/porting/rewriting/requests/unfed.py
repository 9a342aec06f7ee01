"""Placeholders that a request may need and does not feed, which TensorFlow 1 says when the request is run.

A fetch is followed by names: to what is bound to them, anywhere in the program, and what functions have in them. Too
much may be taken for needed.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator

from ....source.uses import FileUses
from .changes import used
from .graph_code import GraphCode

__all__ = ["Unfed", "unfed"]

_PLACEHOLDERS = ("tf.placeholder", "tf.sparse_placeholder")

#: What fetches all summaries, whatever they are made of.
_MERGED = frozenset([".merge_all", "merge_all", ".merge_all_summaries"])


@functools.lru_cache(maxsize=2)
def unfed(code: GraphCode) -> Unfed:
    """Analyse a program; the same object for the same one."""
    return Unfed(code)


class Unfed:
    """The names by which the placeholders of a program are known, and which names are made of which."""

    def __init__(self, code: GraphCode) -> None:
        self._made_of: dict[str, set[str]] = {}
        self._placeholders: set[str] = set()
        for file in code.files:
            for node in ast.walk(file.tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    self._note(node.name, node.body)
                for target, value in _bindings(node):
                    names = set(_names(target))
                    for name in names:
                        self._note(name, [value])
                    if any(self._makes(code, file, each) for each in ast.walk(value)):
                        self._placeholders |= names

    def _note(self, name: str, nodes: Iterable[ast.AST]) -> None:
        self._made_of.setdefault(name, set()).update(used(nodes))  # type: ignore[arg-type]

    @staticmethod
    def _makes(code: GraphCode, file: FileUses, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and code.symbol(file, node.func) in _PLACEHOLDERS

    def may_lack(self, fetches: ast.expr, keys: Iterable[ast.expr]) -> bool:
        """Whether what is fetched may need a placeholder that is none of the keys."""
        fed = {name for key in keys for name in _names(key)}
        waiting, seen = used([fetches]), set[str]()
        while waiting:
            name = waiting.pop()
            if (name in self._placeholders and name not in fed) or (name in _MERGED and self._placeholders - fed):
                return True
            if name not in seen and name not in fed:
                seen.add(name)
                waiting |= self._made_of.get(name, set())
        return False


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AugAssign | ast.For):
        yield node.target, node.value if isinstance(node, ast.AugAssign) else node.iter


def _names(node: ast.expr) -> Iterator[str]:
    """The names and attributes that an expression is, or that are parts of a tuple."""
    if isinstance(node, ast.Tuple | ast.List):
        for each in node.elts:
            yield from _names(each)
    elif isinstance(node, ast.Subscript | ast.Starred):
        yield from _names(node.value)
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield f".{node.attr}"
