"""Queues of a graph: they are made once, and requests put elements in and take elements out."""

from __future__ import annotations

import ast
import dataclasses

from ....source.edits import Edit, apply
from ....source.uses import FileUses, read_file
from .kinds import Kinds, creates

__all__ = ["is_queue_operation", "queue_element", "separated"]

_OPERATIONS = frozenset(["enqueue", "enqueue_many", "close"])  # which have no value
_ELEMENTS = frozenset(["dequeue", "dequeue_many", "dequeue_up_to"])
#: Queue -> where its dtypes are among its arguments.
_DTYPES = {"tf.FIFOQueue": 1, "tf.PaddingFIFOQueue": 1, "tf.RandomShuffleQueue": 2}


def is_queue_operation(kinds: Kinds, node: ast.AST | None) -> bool:
    """Whether an expression puts elements into a queue, or closes it."""
    return _method(kinds, node) in _OPERATIONS


def queue_element(kinds: Kinds, node: ast.AST) -> bool:
    """Whether an expression is one tensor of a queue: its size, or what comes out of one of single tensors."""
    method = _method(kinds, node)
    if method not in _ELEMENTS:
        return method == "size"
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    made = kinds.queues[node.func.value.id]
    position = _DTYPES.get(f"tf.{(kinds.symbol(made.func) or '').rpartition('.')[2]}", 9)
    given = [each.value for each in made.keywords if each.arg == "dtypes"] or made.args[position : position + 1]
    return bool(given) and not isinstance(given[0], ast.List | ast.Tuple) and kinds.symbol(given[0]) is not None


def _method(kinds: Kinds, node: ast.AST | None) -> str | None:
    """The method of a queue that an expression calls."""
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return None
    return function.attr if function.value.id in kinds.queues else None


def separated(file: FileUses) -> FileUses:
    """Return a file with ``put, take = queue.enqueue(x), queue.dequeue()`` as two statements: no request runs both."""
    symbols = {use.node: use.name for use in file.uses}
    if not any(creates(name) == "queue" for name in symbols.values()):
        return file
    edits = [edit for node in ast.walk(file.tree) if isinstance(node, ast.Assign) for edit in _statements(file, node)]
    if not edits:
        return file
    source = dataclasses.replace(file.source, text=apply(file.source.text, edits))
    new = read_file(source, file.module, is_package=file.is_package)
    assert isinstance(new, FileUses)
    new.siblings = tuple(new if each is file else each for each in file.siblings)
    return new


def _statements(file: FileUses, node: ast.Assign) -> list[Edit]:
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(node.targets) > 1:
        return []
    methods = [
        each.func.attr for each in value.elts if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
    ]
    if len(target.elts) != len(value.elts) or not _OPERATIONS & set(methods):
        return []
    names = {each.id for each in target.elts if isinstance(each, ast.Name)}
    read = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
    if len(names) != len(target.elts) or names & read:
        return []
    line = file.positions.line_start(node.lineno)
    start, _ = file.positions.span(node)
    lead = file.source.text[line:start]
    if lead.strip():
        return []
    lines = [
        f"{file.positions.source(one)} = {file.positions.source(other)}"
        for one, other in zip(target.elts, value.elts, strict=True)
    ]
    return [file.positions.replace(node, f"{file.source.newline}{lead}".join(lines))]
