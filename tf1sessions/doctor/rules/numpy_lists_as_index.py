"""Lists of lists, or of slices, as an index."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule


def find(code: Code) -> Iterator[Hit]:
    for node in code.nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.List):
            for part in node.slice.elts:
                if isinstance(part, ast.List):
                    yield Hit(node, "a list of lists as an index, which is one array now")
                elif isinstance(part, ast.Call) and code.path(part.func) == "builtins.slice":
                    yield Hit(node, "a list of slices as an index, which raises IndexError now")


RULE = Rule(
    name="numpy-lists-as-index",
    severity=Severity.ERROR,
    what="lists of lists, or of slices, as an index of an array",
    why="NumPy 1 took a[[[0, 1], [1, 0]]] as a[[0, 1], [1, 0]]: two values. Since NumPy 1.23 it is one index, of the "
    "first axis: rows.",
    fix="Index by a tuple: a[tuple(index)], or a[[0, 1], [1, 0]].",
    find=find,
)
