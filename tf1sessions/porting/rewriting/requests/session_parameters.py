"""Parameters of functions that were given the session, and have no use for it once their requests are functions."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import NamedTuple

from ....source.edits import Edit
from ....source.uses import FileUses
from .file_plan import FilePlan

__all__ = ["drop_parameters"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _CallArguments(NamedTuple):
    """The arguments of a call, or of a thread that makes the call."""

    arguments: list[ast.expr]
    keywords: list[ast.keyword]
    thread: ast.Tuple | None  # ``args=(sess, coord)``


def drop_parameters(plan: FilePlan, needing: Collection[ast.AST]) -> None:
    """Take the session away from functions that do not use it any more, and from all calls of them.

    A function keeps its parameter where a use of its name is no call that gives the session, and in a program of
    several files, where another one may call it.

    Args:
        plan: What changes in the file.
        needing: Functions that are given text that uses a session.
    """
    file = plan.file
    if len(file.connected) > 1:
        return
    functions = [node for node in ast.walk(file.tree) if isinstance(node, _Function) and node not in needing]
    waiting = [(each, index) for each in functions for index in _session_parameters(plan, each)]
    while waiting:  # a session that only goes to a function that drops it is not used either
        done = [pair for pair in waiting if _drop(plan, *pair)]
        if not done:
            return
        waiting = [pair for pair in waiting if pair not in done]


def _session_parameters(plan: FilePlan, function: _Function) -> list[int]:
    """The positions of a function's parameters that have a session, if its calls can be known."""
    arguments = function.args
    is_plain = not (arguments.vararg or arguments.kwarg or arguments.posonlyargs or function.decorator_list)
    in_class = isinstance(plan.file.parents[function], ast.ClassDef)
    if not is_plain or in_class or len(plan.file.bound[function.name]) > 1:
        return []
    without_default = arguments.args[: len(arguments.args) - len(arguments.defaults)]
    return [index for index, each in enumerate(without_default) if each.arg in plan.code.sessions]


def _drop(plan: FilePlan, function: _Function, index: int) -> bool:
    parameter = function.args.args[index]
    inside = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == parameter.arg]
    if not all(plan.is_gone(node) for node in inside):
        return False
    uses = [node for node in ast.walk(plan.file.tree) if isinstance(node, ast.Name) and node.id == function.name]
    calls = [_given(plan.file, use) for use in uses]
    edits = [_without(plan, each, index, parameter.arg) for each in calls if each is not None]
    if None in calls or None in edits:
        return False
    plan.replace_all([_without_item(plan.file, function.args.args, index), *filter(None, edits)])
    return True


def _given(file: FileUses, use: ast.Name) -> _CallArguments | None:
    """The arguments that a use of a function's name gives it; None where that is not known."""
    parent = file.parents[use]
    if isinstance(parent, ast.Call) and parent.func is use:
        if any(isinstance(each, ast.Starred) for each in parent.args) or any(
            each.arg is None for each in parent.keywords
        ):
            return None
        return _CallArguments(parent.args, parent.keywords, None)
    call = file.parents.get(parent)
    if not isinstance(parent, ast.keyword) or parent.arg != "target" or not isinstance(call, ast.Call):
        return None
    named = {each.arg: each.value for each in call.keywords}
    thread = named.get("args")
    if (
        not isinstance(thread, ast.Tuple)
        or "kwargs" in named
        or any(isinstance(each, ast.Starred) for each in thread.elts)
    ):
        return None
    return _CallArguments(thread.elts, [], thread)


def _without(plan: FilePlan, given: _CallArguments, index: int, name: str) -> Edit | None:
    """The edit that takes the session out of arguments; None where they do not give it."""
    file, positions = plan.file, plan.file.positions
    if given.thread is not None:
        if index >= len(given.arguments) or not plan.code.is_session(given.arguments[index]):
            return None
        rest = [plan.text(each) for at, each in enumerate(given.arguments) if at != index]
        return positions.replace(given.thread, f"({', '.join(rest)}{',' if len(rest) == 1 else ''})")
    items: list[ast.expr | ast.keyword] = [*given.arguments, *given.keywords]
    if index < len(given.arguments):
        return _without_item(file, items, index) if plan.code.is_session(given.arguments[index]) else None
    for at, each in enumerate(given.keywords):
        if each.arg == name and plan.code.is_session(each.value):
            return _without_item(file, items, len(given.arguments) + at)
    return None


def _without_item(file: FileUses, items: list[ast.expr | ast.keyword] | list[ast.arg], index: int) -> Edit:
    """Delete an item of a list, with the comma beside it."""
    start, end = file.positions.span(items[index])
    if index + 1 < len(items):
        end, _ = file.positions.span(items[index + 1])
    elif index:
        _, start = file.positions.span(items[index - 1])
    return Edit(start, end, "")
