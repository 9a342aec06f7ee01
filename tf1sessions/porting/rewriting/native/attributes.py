"""Names that stand for attributes of a class (see classes.py), as attributes and local names again."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ....source.edits import Edit, Positions, apply
from ..requests.request import NotPossible
from .classes import NAME
from .graph_class import self_attribute
from .unit import without_marks

__all__ = ["with_attributes"]


def with_attributes(text: str, classes: Iterable[str]) -> str:
    """Write the names that stand for attributes as such: in the functions of requests as local names.

    A text that is no Python stays.

    Raises:
        NotPossible: A function of a request reads an attribute that a method sets.
    """
    names = set(classes)
    try:
        tree = ast.parse(text)
    except SyntaxError:  # the caller says so
        return text
    positions = Positions(text)
    edits: list[Edit] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in names:
            edits += _class_edits(node, positions, text)
    text = apply(text, edits)
    return without_marks(text, names)  # name="..." of what is fed


def _class_edits(node: ast.ClassDef, positions: Positions, text: str) -> Iterator[Edit]:
    init = next(each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
    functions = [each for each in init.body if isinstance(each, ast.FunctionDef)]
    _check_settings(node, init, functions)
    inside: dict[ast.AST, dict[str, str]] = {}
    for function in functions:
        local = _local_names(function)
        for statement in [*function.body, function.args]:
            inside |= dict.fromkeys(ast.walk(statement), local)
        if (found := NAME.fullmatch(function.name)) is not None:
            start = text.index(function.name, positions.line_start(function.lineno))
            yield Edit(start, start + len(function.name), found[2])
            end = positions.line_start((function.end_lineno or 0) + 1)
            newline = "\r\n" if "\r\n" in text else "\n"
            yield Edit(end, end, f"{newline}{' ' * function.col_offset}self.{found[2]} = {found[2]}{newline}")
    for each in ast.walk(node):
        name = each.id if isinstance(each, ast.Name) else each.arg if isinstance(each, ast.arg) else ""
        found = NAME.fullmatch(name)
        if found is None:
            continue
        new = inside.get(each, {}).get(name, f"self.{found[2]}")
        start = positions.span(each)[0]
        yield Edit(start, start + len(name), new)


def _local_names(function: ast.FunctionDef) -> dict[str, str]:
    """New names for the attributes that a function binds as local variables, by the names that stand for them."""
    nodes = [node for each in [*function.body, function.args] for node in ast.walk(each)]
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    plain = bound | {node.id for node in nodes if isinstance(node, ast.Name)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names: dict[str, str] = {}
    for name in sorted(bound):
        if (found := NAME.fullmatch(name)) is None:
            continue
        short = found[2]
        while short in plain:
            short += "_"
        names[name] = short
    return names


def _check_settings(node: ast.ClassDef, init: ast.FunctionDef, functions: list[ast.FunctionDef]) -> None:
    """Refuse functions that read what a method sets: a graph had the value of the time when it was built.

    Raises:
        NotPossible: One does.
    """
    own = set(ast.walk(init))
    later = {
        each.attr for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and not isinstance(each.ctx, ast.Load) and each not in own
    }  # fmt: skip
    for function in functions:
        for each in ast.walk(function):
            if self_attribute(each) in later:
                raise NotPossible(each, f"{self_attribute(each)!r} is set anew after the graph was built with it")
