"""``map``, ``filter``, ``zip``, ``range`` and the methods of dicts: they gave lists in Python 2."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses
from ..rule import Change, Remark
from ..scopes import is_free

__all__ = ["find", "is_iterated"]

_FUNCTIONS = frozenset(["map", "filter", "zip", "range"])
_METHODS = frozenset(["keys", "values", "items"])
_ITERATING = frozenset([
    "list", "tuple", "set", "frozenset", "sorted", "dict", "sum", "min", "max", "any", "all", "enumerate", "zip", "map",
    "filter", "iter", "reduce", "xrange", "izip", "imap", "ifilter", "chain", "Counter", "OrderedDict", "deque",
    "defaultdict", "islice", "tqdm", "trange", "product", "combinations", "permutations", "cycle",
])  # fmt: skip
_ITERATING_METHODS = frozenset(["join", "extend", "update", "writelines", "union", "intersection", "difference"])
_SIZED = frozenset(["len", "reversed", "choice", "sample"])  # what range() and a dict's keys can be given to


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find calls whose result is used as a list."""
    for function, call in file.calls.items():
        kind = _kind(file, function, call)
        if kind is None or is_iterated(file, call, kind):
            continue
        if kind == "map" and isinstance(call.args[0], ast.Constant) and call.args[0].value is None:
            yield Remark(call, "map(None, a, b) gave pairs: write list(itertools.zip_longest(a, b)).")
            continue
        start, end = file.positions.span(call)
        what = f"{kind}(): list({kind}(...)), as Python 2 gave a list"
        if kind in _METHODS:
            what = f".{kind}(): list(...), as Python 2 gave a list"
        yield Change(call, what, (Edit(start, start, "list("), Edit(end, end, ")")))
        if kind == "filter":
            yield Remark(call, "filter() of a string or a tuple gave one of its kind, not a list.", by_hand=False)


def _kind(file: FileUses, function: ast.expr, call: ast.Call) -> str | None:
    """Return which of the functions and methods is called."""
    if isinstance(function, ast.Name):
        known = function.id in _FUNCTIONS and bool(call.args) and is_free(file, function)
        return function.id if known else None
    if isinstance(function, ast.Attribute) and function.attr in _METHODS and not call.args and not call.keywords:
        return function.attr
    return None


def is_iterated(file: FileUses, call: ast.expr, kind: str) -> bool:
    """Whether the result of a call is only iterated over where it stands, or asked for what it has without a list."""
    parent = file.parents.get(call)
    is_range_or_view = kind == "range" or kind in _METHODS
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
        return parent.iter is call and not (kind in _METHODS and _changes_it(file, parent, call))
    if isinstance(parent, ast.Call):
        name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
        if call not in parent.args:
            return False
        if isinstance(parent.func, ast.Attribute) and name in _ITERATING_METHODS:
            return True
        return name in _ITERATING or (name == "len" and is_range_or_view) or (name in _SIZED and kind == "range")
    if isinstance(parent, ast.Starred | ast.YieldFrom):
        return True
    if isinstance(parent, ast.Assign):  # a, b = map(int, line.split())
        return all(isinstance(target, ast.Tuple | ast.List) for target in parent.targets)
    if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.In | ast.NotIn):
        return call in parent.comparators and len(parent.ops) == 1 and kind != "filter"
    if isinstance(parent, ast.Subscript) and kind == "range":
        return parent.value is call and not isinstance(parent.slice, ast.Slice)
    return False


def _changes_it(file: FileUses, loop: ast.For | ast.AsyncFor | ast.comprehension, call: ast.expr) -> bool:
    """Whether a loop over a dict takes something out of it, or puts something into it."""
    if isinstance(loop, ast.comprehension) or not isinstance(call, ast.Call):
        return False
    assert isinstance(call.func, ast.Attribute)
    owner = ast.dump(call.func.value)
    for node in (inner for statement in loop.body for inner in ast.walk(statement)):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and _like(node.value, owner):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("pop", "clear", "update", "setdefault"):
            if _like(node.value, owner):
                return True
    return False


def _like(node: ast.expr, dumped: str) -> bool:
    return ast.dump(node) == dumped
