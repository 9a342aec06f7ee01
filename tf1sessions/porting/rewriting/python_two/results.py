"""Functions that take or give something else than in Python 2: input, pickle, csv, sorting by cmp, next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses
from ..rule import Change, Remark
from ..scopes import is_free, names_of

__all__ = ["find"]

_LOADS = frozenset(["pickle.load", "pickle.loads", "cPickle.load", "cPickle.loads"])
_BINARY = _LOADS | {"pickle.dump", "cPickle.dump"}
_TEXT = frozenset(["csv.reader", "csv.writer", "csv.DictReader", "csv.DictWriter", "json.dump"])


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find what a Python 2 program takes for granted of these."""
    for function, call in file.calls.items():
        if isinstance(function, ast.Name) and is_free(file, function):
            yield from _builtin(file, function, call)
        elif isinstance(function, ast.Attribute):
            yield from _method(file, function, call)
    opened: set[ast.expr] = set()
    for use in file.uses:
        if use.call is None:
            continue
        if use.symbol in _LOADS:
            yield from _load(file, use.call)
        if use.symbol in _BINARY | _TEXT:
            yield from _mode(file, use.call, use.symbol, opened)
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ClassDef):
            yield from _iterator(file, node)


def _builtin(file: FileUses, function: ast.Name, call: ast.Call) -> Iterator[Change | Remark]:
    start, end = file.positions.span(call)
    if function.id == "input" and not _is_argument_of(file, call, "eval"):
        yield Change(
            call, "input(): eval(input()), as Python 2 gave", (Edit(start, start, "eval("), Edit(end, end, ")"))
        )
    elif function.id == "sorted" and call.args:
        yield from _comparison(file, call, 1)
    elif function.id == "round":
        yield Remark(
            call, "round() gave a float, and rounded halves away from 0; now to the even number.", by_hand=False
        )


def _is_argument_of(file: FileUses, call: ast.Call, name: str) -> bool:
    parent = file.parents.get(call)
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == name


def _method(file: FileUses, function: ast.Attribute, call: ast.Call) -> Iterator[Change | Remark]:
    if function.attr == "sort" and not _is_module(file, function.value):
        yield from _comparison(file, call, 0)
    elif function.attr == "next" and not call.args and not call.keywords and not _is_self(function.value):
        start, end = file.positions.span(function.value)
        after = file.positions.span(call)[1]
        yield Change(call, "x.next(): next(x)", (Edit(start, start, "next("), Edit(end, after, ")")))
    elif function.attr == "decode" and call.args and isinstance(call.args[0], ast.Constant):
        if call.args[0].value in ("hex", "string_escape", "base64", "zlib"):
            yield Remark(call, f'x.decode("{call.args[0].value}") is codecs.decode(x, ...) of bytes.')


def _is_module(file: FileUses, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in file.meanings


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _comparison(file: FileUses, call: ast.Call, place: int) -> Iterator[Change]:
    """``sort(compare)``: the function is the argument ``cmp``, by its place or its name."""
    named = [keyword for keyword in call.keywords if keyword.arg == "cmp"]
    node: ast.expr | None = named[0].value if named else None
    start = file.positions.span(named[0])[0] if named else -1
    if node is None and len(call.args) > place and isinstance(call.args[place], ast.Name | ast.Lambda | ast.Attribute):
        node = call.args[place]
        start = file.positions.span(node)[0]
        others = {keyword.arg for keyword in call.keywords}
        if "key" in others or "axis" in others:
            return
    if node is None:
        return
    inner, end = file.positions.span(node)
    edits = (Edit(start, inner, "key=functools.cmp_to_key("), Edit(end, end, ")"))
    yield Change(call, "cmp= of a sort: key=functools.cmp_to_key(...)", edits, ("import functools",))


def _load(file: FileUses, call: ast.Call) -> Iterator[Change]:
    if len(call.args) != 1 or call.keywords:
        return
    end = file.positions.span(call.args[0])[1]
    what = 'pickle.load(file): encoding="latin1", for what Python 2 wrote'
    yield Change(call, what, (Edit(end, end, ', encoding="latin1"'),))


def _mode(file: FileUses, call: ast.Call, symbol: str, opened: set[ast.expr]) -> Iterator[Change]:
    """The mode of a file that is opened for pickle, which takes bytes, or for csv and json, which take text."""
    place = 1 if symbol.endswith(".dump") else 0
    if len(call.args) <= place:
        return
    for value in _opening(file, call.args[place]):
        if not isinstance(value, ast.Call) or value in opened or not isinstance(value.func, ast.Name):
            continue
        if value.func.id not in ("open", "file") or not value.args or len(value.args) > 2 or value.keywords:
            continue
        mode = value.args[1] if len(value.args) > 1 else None
        known = mode.value if isinstance(mode, ast.Constant) else ("r" if mode is None else None)
        if not isinstance(known, str):
            continue
        wants_bytes = symbol in _BINARY
        new = known.replace("b", "").replace("U", "").replace("t", "") + ("b" if wants_bytes else "")
        opened.add(value)
        if new == known or (not wants_bytes and "b" not in known):
            continue
        more = ', newline=""' if symbol.startswith("csv") else ""
        if mode is None:
            end = file.positions.span(value.args[0])[1]
            edit = Edit(end, end, f', "{new}"')
        else:
            edit = file.positions.replace(mode, f'"{new}"{more}')
        yield Change(value, f'open(..., "{known}") for {symbol}: "{new}"', (edit,))


def _opening(file: FileUses, node: ast.expr) -> list[ast.expr]:
    """Find the call that opens a file: the ``with`` around it with its name, else what its name is bound to once."""
    inner: ast.AST = node
    while isinstance(node, ast.Name) and (parent := file.parents.get(inner)) is not None:
        for item in parent.items if isinstance(parent, ast.With) else ():
            if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == node.id:
                return [item.context_expr]
        inner = parent
    names = names_of(file)
    if isinstance(node, ast.Name) and not names.is_bound_once(node):
        return []
    return names.values(node) or []


def _iterator(file: FileUses, node: ast.ClassDef) -> Iterator[Change]:
    """``def next(self)``: the class keeps it, and gets ``__next__``."""
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    method = methods.get("next")
    assigned = {target.id for each in node.body if isinstance(each, ast.Assign)
                for target in each.targets if isinstance(target, ast.Name)}  # fmt: skip
    if method is None or "__next__" in methods or "__next__" in assigned or len(method.args.args) != 1:
        return
    if method.args.vararg or method.args.kwonlyargs or method.args.kwarg or method.decorator_list:
        return
    indent = file.source.text[file.positions.line_start(method.lineno) : file.positions.span(method)[0]]
    end = file.positions.span(method)[1]
    if indent.strip():
        return
    text = f"{file.source.newline * 2}{indent}__next__ = next"
    yield Change(method, "next() of an iterator: __next__ as well", (Edit(end, end, text),))
