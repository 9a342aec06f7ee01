"""``a / b``: in Python 2 the quotient of two integers was an integer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses
from ..rule import Change, Remark
from ..scopes import names_of
from .integers import Integers

__all__ = ["find"]

_RANGES = frozenset(["range", "xrange"])


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find divisions: ``//`` where both sides are integers or the result must be one, else a remark for the line."""
    if any(each.meaning == "__future__.division" for each in file.imports):
        return
    integers = Integers(file)
    wanted = _Wanted(file)
    said: set[int] = set()
    for node in ast.walk(file.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            left, right = node.left, node.right
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            left, right = node.target, node.value
        else:
            continue
        if integers.are(left, right):
            yield _change(file, node, left, right, "a / b of two integers: a // b, as Python 2 computed it")
        elif integers.is_no_integer(left) or integers.is_no_integer(right):
            continue
        elif isinstance(node, ast.BinOp) and wanted.is_integer(node):
            yield _change(file, node, left, right, "a / b that has to be an integer here: a // b")
        elif node.lineno not in said:
            said.add(node.lineno)
            likely = (integers.are(left) or integers.are(right)) and not _is_made_an_integer(file, node)
            yield Remark(node, _SENTENCE, by_hand=likely)


_SENTENCE = "a / b: Python 2 rounded down where both are integers. If they can be, write a // b."


def _change(file: FileUses, node: ast.AST, left: ast.expr, right: ast.expr, what: str) -> Change:
    start, end = file.positions.span(left)[1], file.positions.span(right)[0]
    between = re.sub(r"#[^\r\n]*", lambda found: " " * len(found[0]), file.source.text[start:end])  # not in comments
    place = start + between.index("/")
    return Change(node, what, (Edit(place, place + 1, "//"),))


def _is_made_an_integer(file: FileUses, node: ast.AST) -> bool:
    parent = file.parents.get(node)
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "int"


class _Wanted:
    """The expressions that have to be integers: indices, bounds of slices and ranges, and variables that become one."""

    def __init__(self, file: FileUses) -> None:
        self._file = file
        self._names = names_of(file)
        self._homes = {
            self._names.home(node)
            for node in ast.walk(file.tree)
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and self._is_place(node)
        }
        self._homes.discard(None)

    def is_integer(self, node: ast.expr) -> bool:
        """Whether the result of a division has to be an integer."""
        outer: ast.AST = node
        while isinstance(parent := self._file.parents.get(outer), ast.BinOp) and isinstance(
            parent.op, ast.Add | ast.Sub | ast.Mult
        ):
            outer = parent
        if self._is_place(outer):
            return True
        parent = self._file.parents.get(outer)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            (target,) = parent.targets
            home = self._names.home(target) if isinstance(target, ast.Name | ast.Attribute) else None
            return home in self._homes and self._names.is_bound_once(target)
        return False

    def _is_place(self, node: ast.AST) -> bool:
        """Whether a node is an index, a bound of a slice, or an argument of range()."""
        parent = self._file.parents.get(node)
        if isinstance(parent, ast.Slice):
            return True
        if isinstance(parent, ast.Call):
            return isinstance(parent.func, ast.Name) and parent.func.id in _RANGES and node in parent.args
        return False
