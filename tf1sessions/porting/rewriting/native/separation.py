"""Statements that share a line, or are one: a request may need one of two and not the other."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from itertools import pairwise

from ....source.edits import Edit
from ....source.uses import FileUses
from .edited import edited
from .effects import ASSIGNMENTS, is_effect
from .kinds import creates
from .queues import OPERATIONS
from .statements import is_any_block

__all__ = ["METRIC_VALUE", "lead_of", "separated"]

#: The attribute by which the value of a metric is read, of its update.
METRIC_VALUE = "metric_value"


def separated(file: FileUses) -> FileUses:
    """Return a file whose graph has one statement a line; the file itself where it is like that.

    ``put, take = queue.enqueue(x), queue.dequeue()`` becomes two statements, too, and so do assignments to variables.
    """
    stack: list[ast.stmt] = [each for each in ast.walk(file.tree) if isinstance(each, ast.With) and is_any_block(each)]
    has_queues = any(creates(use.name) == "queue" for use in file.uses)
    edits = list(_imports(file))
    taken: set[str] = set()
    for block in stack:  # and scopes of names in it; a loop is one statement of the graph
        assert isinstance(block, ast.With)
        edits += _lines(file, block.body)
        for each in block.body:
            if isinstance(each, ast.Assign):
                edits += _metric(file, each)
                edits += _parts(file, each, ASSIGNMENTS | OPERATIONS if has_queues else ASSIGNMENTS)
            elif isinstance(each, ast.With) and each not in stack:
                stack.append(each)
                edits += _dependencies(file, each, taken)
    return edited(file, edits)


def _lines(file: FileUses, body: list[ast.stmt]) -> Iterator[Edit]:
    """Begin a line before each statement that shares the line of the one before it."""
    lead = lead_of(file, body[0])
    for one, other in pairwise(body) if lead is not None else ():
        if one.end_lineno == other.lineno:
            _, end = file.positions.span(one)
            start, _ = file.positions.span(other)
            yield Edit(end, start, f"{file.source.newline}{lead}")


def _imports(file: FileUses) -> Iterator[Edit]:
    """Begin a line before each statement on the line of an import of this package, which will go."""
    ours = {each.statement.lineno for each in file.imports if each.meaning.startswith("tf1sessions")}
    body = [each for each in file.tree.body if each.lineno in ours]
    yield from _lines(file, body) if body else ()


def _parts(file: FileUses, node: ast.Assign, operations: frozenset[str]) -> Iterator[Edit]:
    """Write an assignment of several values, of which one is such an operation, as several assignments."""
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(node.targets) > 1:
        return
    functions = [each.func for each in value.elts if isinstance(each, ast.Call)]
    methods = {each.attr for each in functions if isinstance(each, ast.Attribute)}
    names = {each.id for each in target.elts if isinstance(each, ast.Name)}
    read = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
    lead = lead_of(file, node)
    if (
        not len(names) == len(target.elts) == len(value.elts)
        or names & read
        or not operations & methods
        or lead is None
    ):
        return
    parts = zip(target.elts, value.elts, strict=True)
    lines = [f"{file.positions.source(one)} = {file.positions.source(other)}" for one, other in parts]
    yield file.positions.replace(node, f"{file.source.newline}{lead}".join(lines))


def _dependencies(file: FileUses, node: ast.With, taken: set[str]) -> Iterator[Edit]:
    """Write ``with tf.control_dependencies([tf.assign(w, x)]):`` as two lines: the requests in it run the first."""
    context, lead = node.items[0].context_expr, lead_of(file, node)
    symbols = {use.call: use.name for use in file.uses if use.call is not None}
    if not isinstance(context, ast.Call) or symbols.get(context) != "tf.control_dependencies" or lead is None:
        return
    functions = {each.name for each in file.tree.body if isinstance(each, ast.FunctionDef)}
    start, _ = file.positions.span(node)
    for given in [*context.args, *(each.value for each in context.keywords)] if len(node.items) == 1 else ():
        called = [each.func for each in ast.walk(given) if isinstance(each, ast.Call)]
        has_effect = any(isinstance(each, ast.Attribute) and _is_done(each.attr) for each in called)
        if has_effect or any(isinstance(each, ast.Name) and each.id in functions for each in called):
            numbered = (f"updates_{number}" if number > 1 else "updates" for number in itertools.count(1))
            name = next(each for each in numbered if not file.taken(each) and each not in taken)
            taken.add(name)
            yield Edit(start, start, f"{name} = {file.positions.source(given)}{file.source.newline}{lead}")
            yield file.positions.replace(given, name)


def _is_done(name: str) -> bool:
    """Whether a function of TensorFlow assigns, checks or prints: what waits for it must not run without it."""
    return is_effect(name) or name.lower().startswith(("assert", "print", "check_numerics"))


def _metric(file: FileUses, node: ast.Assign) -> Iterator[Edit]:
    """Write ``value, update = tf.metrics.mean(x)`` as its update and its value: requests ask for one of the two."""
    target, call = node.targets[0], node.value
    symbols = {use.call: use.name for use in file.uses if use.call is not None}
    if not isinstance(target, ast.Tuple) or not isinstance(call, ast.Call) or len(node.targets) > 1:
        return
    names = [each.id for each in target.elts if isinstance(each, ast.Name)]
    lead = lead_of(file, node)
    if creates(symbols.get(call)) != "metric" or len(names) != 2 or len(target.elts) != 2 or lead is None:
        return
    value, update = names
    if update == "_":
        update = f"{value}_update"
        while file.taken(update):
            update += "_"
    lines = [f"{update} = {file.positions.source(call)}[1]"]
    lines += [f"{value} = {update}.{METRIC_VALUE}"] if value != "_" else []
    yield file.positions.replace(node, f"{file.source.newline}{lead}".join(lines))


def lead_of(file: FileUses, statement: ast.stmt) -> str | None:
    """The white space before the first statement of a line; None for one behind another, or behind a header."""
    start, _ = file.positions.span(statement)
    before = file.source.text[file.positions.line_start(statement.lineno) : start]
    return None if before.strip() else before
