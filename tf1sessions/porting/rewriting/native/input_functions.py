"""Functions that give the next elements of a data set, before the graphs of a file are read: they give the data set.

In TensorFlow 2 an iterator is made once, and the functions of requests take elements of it::

    def input_fn():                                                def input_fn():
        dataset = ...                                                  dataset = ...
        return dataset.make_one_shot_iterator().get_next()   ──▶      return dataset

    with legacy:                                                   with legacy:
        x, y = input_fn()                                              iterator = input_fn().make_one_shot_iterator()
                                                                       x, y = iterator.get_next()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses
from .edited import edited
from .separation import lead_of

__all__ = ["with_datasets"]

_FUNCTION = "tf.data.make_one_shot_iterator"
_METHOD = "make_one_shot_iterator"


def with_datasets(file: FileUses) -> FileUses:
    """Return a file whose functions give data sets in place of their next elements; the file itself if it has none.

    A function that does something else with the iterator, or is called in another expression, stays.
    """
    functions = [each for each in file.tree.body if isinstance(each, ast.FunctionDef)]
    edits = [edit for function in functions for edit in _edits(file, function)]
    return edited(file, edits)


def _edits(file: FileUses, function: ast.FunctionDef) -> Iterator[Edit]:
    returns = [each for each in ast.walk(function) if isinstance(each, ast.Return)]
    last = function.body[-1]
    if len(returns) != 1 or returns[0] is not last or (dataset := _dataset(file, function)) is None:
        return
    uses = [each for each in ast.walk(file.tree) if isinstance(each, ast.Name) and each.id == function.name]
    calls = [file.parents[each] for each in uses]
    statements = [file.parents[each] for each in calls]
    for name, call, statement in zip(uses, calls, statements, strict=True):
        is_call = isinstance(call, ast.Call) and call.func is name
        if not is_call or not isinstance(statement, ast.Assign) or lead_of(file, statement) is None:
            return
    expression, made = dataset
    assert isinstance(last, ast.Return) and last.value is not None
    yield file.positions.replace(last.value, file.positions.source(expression))
    if made is not None:
        begin = file.positions.line_start(made.lineno)
        yield Edit(begin, file.positions.line_start((made.end_lineno or 0) + 1), "")
    taken: set[str] = set()
    for call, statement in zip(calls, statements, strict=True):
        assert isinstance(statement, ast.Assign)
        iterator, number = (wish := _iterator_name(function)), 1
        while file.taken(iterator) or iterator in taken:
            number += 1
            iterator = f"{wish}_{number}"
        taken.add(iterator)
        start, _ = file.positions.span(statement)
        line = f"{iterator} = {file.positions.source(call)}.{_METHOD}()"
        yield Edit(start, start, f"{line}{file.source.newline}{lead_of(file, statement)}")
        yield file.positions.replace(call, f"{iterator}.get_next()")


def _iterator_name(function: ast.FunctionDef) -> str:
    """Return the name of the iterator of a function's data set: ``train_iterator`` for that of ``train_input_fn()``."""
    name = function.name.strip("_").removesuffix("_fn").removesuffix("_input")
    return f"{name.removeprefix('get_').removeprefix('make_')}_iterator"


def _dataset(file: FileUses, function: ast.FunctionDef) -> tuple[ast.expr, ast.stmt | None] | None:
    """The data set whose next elements a function gives, and the statement that makes an iterator of it."""
    value = function.body[-1].value  # type: ignore[attr-defined]
    if not isinstance(value, ast.Call) or value.args or value.keywords or not isinstance(value.func, ast.Attribute):
        return None
    if value.func.attr != "get_next":
        return None
    iterator = value.func.value
    if not isinstance(iterator, ast.Name):
        found = _iterated(file, iterator)
        return None if found is None else (found, None)
    uses = [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == iterator.id]
    made = file.parents[uses[0]]
    if len(uses) != 2 or not isinstance(made, ast.Assign) or made not in function.body or len(made.targets) != 1:
        return None
    found = _iterated(file, made.value)
    return None if found is None or lead_of(file, made) is None else (found, made)


def _iterated(file: FileUses, node: ast.expr) -> ast.expr | None:
    """The data set that a one-shot iterator is made of; None for anything else."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    symbols = {use.call: use.name for use in file.uses if use.call is not None}
    if symbols.get(node) == _FUNCTION:
        return node.args[0] if len(node.args) == 1 else None
    is_method = isinstance(node.func, ast.Attribute) and node.func.attr == _METHOD and not node.args
    return node.func.value if is_method else None  # type: ignore[attr-defined]
