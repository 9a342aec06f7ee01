"""Functions that read a placeholder of the module, before the graphs of a file are read: they are given it.

What is fed is an argument in TensorFlow 2, and no name of the module any more::

    def model(x):                                       def model(x, keep_prob):
        return tf.nn.dropout(x, keep_prob)     ──▶          return tf.nn.dropout(x, keep_prob)

    with legacy:                                        with legacy:
        keep_prob = tf.placeholder(tf.float32)              keep_prob = tf.placeholder(tf.float32)
        y = model(x)                                        y = model(x, keep_prob)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from ....source.edits import Edit
from ....source.uses import FileUses
from .edited import edited
from .kinds import names_read
from .separation import lead_of
from .unit import PLACEHOLDERS

__all__ = ["with_given_placeholders"]

_GRAPH = "tf1sessions.porting.LegacyGraph"


def with_given_placeholders(file: FileUses) -> FileUses:
    """Return a file whose functions are given the placeholders that they read; the file itself if there are none.

    A function that runs requests, is handed about, or takes any number of arguments stays as it is.
    """
    symbols = {use.call: use.name for use in file.uses if use.call is not None}
    edits = list(_plain(file, symbols))
    if edits:
        return with_given_placeholders(edited(file, edits))
    for name in file.bound:
        statement = _binder(file, name)
        value = None if statement is None else statement.value
        if isinstance(value, ast.Call) and symbols.get(value) in PLACEHOLDERS and (found := _given(file, name)):
            return with_given_placeholders(edited(file, found))
    return file


def _binder(file: FileUses, name: str) -> ast.Assign | None:
    """The one assignment of the module that binds a name: functions may have names of their own that are alike."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    binders = file.bound.get(name, [])
    own = [each for each in binders if not any(isinstance(one, inner) for one in [each, *file.around(each)])]
    statement = file.parents.get(own[0]) if len(own) == 1 else None
    return statement if isinstance(statement, ast.Assign) else None


def _plain(file: FileUses, symbols: Mapping[ast.Call, str]) -> Iterator[Edit]:
    """Yield the edits that make a placeholder of ``x = tf.placeholder(tf.float32) / 255.``, where x is what is fed."""
    feeds = [each for each in ast.walk(file.tree) if isinstance(each, ast.keyword) and each.arg == "feeds"]
    fed = {name.id for each in feeds for name in ast.walk(each.value) if isinstance(name, ast.Name)}
    for name in sorted(fed):
        statement = _binder(file, name)
        if statement is None or not isinstance(value := statement.value, ast.BinOp):
            continue
        call = value.left if isinstance(value.right, ast.Constant) else None
        is_placeholder = isinstance(call, ast.Call) and symbols.get(call) in PLACEHOLDERS
        if isinstance(call, ast.Call) and is_placeholder and call.args and "float32" in ast.unparse(call.args[0]):
            lead = lead_of(file, statement)
            if lead is not None:
                rest = file.positions.source(value)[len(file.positions.source(call)) :].strip()
                start, _ = file.positions.span(statement)
                what = f"# TensorFlow 1 was fed what is behind `{rest}`, so it never computed that."
                yield Edit(start, start, f"{what}{file.source.newline}{lead}")
                yield file.positions.replace(value, file.positions.source(call))


def _given(file: FileUses, name: str) -> list[Edit]:
    """The edits that give a placeholder to the functions that read it; none where one of them cannot be given it."""
    functions = {each.name: each for each in file.tree.body if isinstance(each, ast.FunctionDef)}
    reading = {each.name for each in functions.values() if name in names_read(each)}
    while more := {each.name for each in functions.values() if names_read(each) & reading} - reading:
        reading |= more
    edits: list[Edit] = []
    for each in sorted(reading):
        found = _function_edits(file, functions[each], name)
        if found is None:
            return []
        edits += found
    return edits


def _function_edits(file: FileUses, function: ast.FunctionDef, name: str) -> list[Edit] | None:
    graphs = {each for use in file.uses if use.symbol == _GRAPH for each in _targets(file, use.node)}
    arguments = function.args
    if names_read(function) & graphs or function.decorator_list or len(file.bound.get(function.name, [])) != 1:
        return None
    if arguments.vararg or arguments.kwarg:
        return None
    if name in {
        each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }:
        return None
    edits = [_parameter(file, function, name)]
    for use in (each for each in ast.walk(file.tree) if isinstance(each, ast.Name) and each.id == function.name):
        call = file.parents[use]
        if not isinstance(call, ast.Call) or call.func is not use:
            return None
        edit = _argument(file, call, name, by_name=bool(arguments.defaults or arguments.kwonlyargs or call.keywords))
        if edit is None:
            return None
        edits.append(edit)
    return edits


def _targets(file: FileUses, node: ast.AST) -> Iterator[str]:
    """The names that the statement around a node binds."""
    for each in file.around(node):
        if isinstance(each, ast.Assign):
            yield from (target.id for target in each.targets if isinstance(target, ast.Name))


def _parameter(file: FileUses, function: ast.FunctionDef, name: str) -> Edit:
    """One more parameter; behind others that have a default, it is given by its name."""
    arguments = function.args
    given = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.defaults,
        *arguments.kwonlyargs,
        *arguments.kw_defaults,
    ]
    last = max(
        (each for each in given if each is not None), key=lambda each: file.positions.span(each)[1], default=None
    )
    if last is None:
        start, _ = file.positions.span(function)
        opened = re.compile(r"def\s+\w+\s*\(").match(file.source.text, start)
        assert opened is not None
        return Edit(opened.end(), opened.end(), name)
    _, end = file.positions.span(last)
    return Edit(end, end, f", *, {name}" if arguments.defaults and not arguments.kwonlyargs else f", {name}")


def _argument(file: FileUses, call: ast.Call, name: str, *, by_name: bool) -> Edit | None:
    given = [*call.args, *call.keywords]
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return None
    end = file.positions.span(call)[1] - 1
    last = max((file.positions.span(each)[1] for each in given), default=None)
    between = file.source.text[last or end : end]
    if "#" in between:
        return None
    comma = "" if last is None or "," in between else ", "
    return Edit(end, end, f"{comma}{name}={name}" if by_name else comma + name)
