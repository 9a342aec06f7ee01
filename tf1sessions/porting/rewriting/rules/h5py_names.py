"""h5py: the mode of a file that is opened without one, and ``dataset.value``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses, Use
from ..renames import imports_library
from ..rule import Change, Remark, Rule
from ..scopes import names_of

__all__ = ["RULE", "find"]

_READING = frozenset(["keys", "values", "items", "get", "close", "visit", "name", "filename"])


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find files that are opened without a mode, and values of data sets."""
    if not imports_library(file, "h5py"):
        return
    for use in file.uses:
        if use.symbol == "h5py.File" and use.call is not None and use.direct:
            yield from _open(file, use, use.call)
    names = names_of(file)
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and node.attr == "value" and isinstance(node.value, ast.Subscript):
            base: ast.expr = node.value
            while isinstance(base, ast.Subscript):
                base = base.value
            start, end = file.positions.span(node.value)[1], file.positions.span(node)[1]
            if (names.path(base) or "").startswith("h5py.File()"):
                yield Change(node, "dataset.value: dataset[()] (h5py 3.0)", (Edit(start, end, "[()]"),))
            elif _is_text(node.value.slice):
                yield Remark(node, "If this is a data set of h5py, .value is [()] since h5py 3.0.")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _open(file: FileUses, use: Use, call: ast.Call) -> Iterator[Change]:
    if len(call.args) != 1 or any(keyword.arg in ("mode", None) for keyword in call.keywords):
        return
    mode = "r" if _is_only_read(file, call) else "a"
    end = file.positions.span(call.args[0])[1]
    why = "it is only read" if mode == "r" else "which it was by itself up to h5py 2.10"
    what = f'h5py.File(path): "{mode}", {why}'
    yield Change(use.node, what, (Edit(end, end, f', "{mode}"'),))


def _is_only_read(file: FileUses, call: ast.Call) -> bool:
    """Whether the file has one name, and all uses of that surely read."""
    parent = file.parents.get(call)
    if isinstance(parent, ast.withitem):
        target = parent.optional_vars
    elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target = parent.targets[0]
    else:
        return False
    names = names_of(file)
    if not isinstance(target, ast.Name) or not names.is_bound_once(target):
        return False
    home = names.home(target)
    uses = [node for node in ast.walk(file.tree) if isinstance(node, ast.Name) and node.id == target.id
            and node is not target and names.home(node) == home]  # fmt: skip
    return bool(uses) and all(_reads(file, node) for node in uses)


def _reads(file: FileUses, node: ast.expr) -> bool:
    """Whether a use of a file is one of its parts, of which all is read: ``f["x"][:]``, ``f.keys()``."""
    parent = file.parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        if not isinstance(parent.ctx, ast.Load):
            return False
        outer = file.parents.get(parent)
        if isinstance(outer, ast.Subscript) and outer.value is parent:
            return isinstance(outer.ctx, ast.Load)
        if isinstance(outer, ast.Attribute):
            return outer.attr in ("value", "shape", "dtype", "size")
        return isinstance(outer, ast.Call) and parent in outer.args and not isinstance(outer.func, ast.Attribute) and (
            isinstance(outer.func, ast.Name) and outer.func.id in ("len", "list"))  # fmt: skip
    return isinstance(parent, ast.Attribute) and parent.attr in _READING


RULE = Rule(
    "h5py-names", "Opens files of h5py in the mode that was the default, and reads values as it is done now.", find
)
