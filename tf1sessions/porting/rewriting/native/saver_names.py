"""Savers that are used where they are made, before the graphs of a file are read: they get a name.

``LegacySaver().save(legacy, path)`` saves the variables that there are, as does a saver that is made right before the
statement of the program that this is in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses
from .edited import edited
from .separation import lead_of

__all__ = ["with_named_savers"]


def with_named_savers(file: FileUses) -> FileUses:
    """Return a file whose savers of all variables have names; the file itself where they do."""
    taken: set[str] = set()
    edits: list[Edit] = []
    for use in file.uses:
        if use.symbol == "tf1sessions.porting.LegacySaver" and use.call is not None:
            edits += _edits(file, use.call, taken)
    return edited(file, edits)


def _edits(file: FileUses, made: ast.Call, taken: set[str]) -> Iterator[Edit]:
    method = file.parents[made]
    call = file.parents.get(method)
    if made.args or made.keywords or not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call):
        return
    around = [made, *file.around(made)]
    functions = (ast.FunctionDef, ast.Module)
    number = next(number for number, each in enumerate(around) if isinstance(each, functions))
    statement, legacy = around[number - 1], call.args[0] if call.args else None
    if not isinstance(statement, ast.stmt) or not isinstance(legacy, ast.Name) or lead_of(file, statement) is None:
        return
    name, count = "saver", 1
    while file.taken(name) or name in taken:
        count += 1
        name = f"saver_{count}"
    taken.add(name)
    lead, newline = lead_of(file, statement), file.source.newline
    text = f"{lead}with {legacy.id}:{newline}{lead}    {name} = {file.positions.source(made)}{newline}"
    start = file.positions.line_start(statement.lineno)
    yield Edit(start, start, text)
    yield file.positions.replace(made, name)
