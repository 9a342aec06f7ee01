"""``tf.estimator`` becomes ``tf1sessions.estimator``, imported by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.uses import FileUses
from .. import headers
from ..rule import Change, Remark, Rule

__all__ = ["RULE"]

_OLD = ("tensorflow.estimator", "tensorflow.compat.v1.estimator")
_NEW = "tf1sessions.estimator"
_INNER = ("tensorflow.python.estimator", "tensorflow_estimator")


def _find(file: FileUses) -> Iterator[Change | Remark]:
    for each in file.imports:
        statement = each.statement
        if isinstance(statement, ast.Import):
            if each.alias.asname and each.module in _OLD:
                edit = file.positions.replace(each.alias, f"{_NEW} as {each.bound}")
                yield Change(statement, f"{each.module}: {_NEW}", (edit,))
            elif each.module.startswith(_INNER):
                yield Remark(statement, f"{each.module} is gone: take its names from {_NEW}.")
        elif each.meaning in _OLD:
            name = f"estimator as {each.alias.asname}" if each.alias.asname else "estimator"
            if len(statement.names) == 1:
                edit = file.positions.replace(statement, f"from tf1sessions import {name}")
                yield Change(statement, f"tf.estimator: {_NEW}", (edit,))
            else:
                yield _taken_out(file, statement, each.alias, name)
        elif each.module in _OLD and each.alias is statement.names[0]:
            yield Change(statement, f"{each.module}: {_NEW}", (headers.module_edit(file, statement, _NEW),))
        elif each.module.startswith(_INNER) and each.alias is statement.names[0]:
            yield Remark(statement, f"{each.module} is gone: take its names from {_NEW}.")
    yield from _uses(file)


def _taken_out(file: FileUses, statement: ast.ImportFrom, alias: ast.alias, name: str) -> Change:
    """``from tensorflow import estimator, flags``: two statements."""
    others = [each for each in statement.names if each is not alias]
    names = ", ".join(f"{each.name} as {each.asname}" if each.asname else each.name for each in others)
    lines = [f"from {statement.module} import {names}", f"from tf1sessions import {name}"]
    text = f"{file.source.newline}{headers.indentation(file, statement)}".join(lines)
    return Change(statement, f"tf.estimator: {_NEW}", (file.positions.replace(statement, text),))


def _uses(file: FileUses) -> Iterator[Change]:
    for use in file.uses:
        if not use.name.startswith("tf.estimator") or isinstance(use.node, ast.Constant):
            continue
        root = next((part for old in _OLD if (part := file.part_of(use.node, old)) is not None), None)
        if not isinstance(root, ast.Attribute):
            continue  # it begins with a name that an import binds, which is changed there
        name = headers.free_name(file, "tf_estimator", _NEW)
        yield Change(
            use.node,
            f"{use.name}: {name}",
            (file.positions.replace(root, name),),
            (f"from tf1sessions import estimator as {name}",),
        )


RULE = Rule("v1-estimator", "Takes what was in `tf.estimator` from `tf1sessions.estimator`.", _find)
