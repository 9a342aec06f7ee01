"""``tensorflow.examples.tutorials.mnist``: the data of the tutorials, read by ``tf1sessions.contrib.learn``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.uses import FileUses
from .. import headers
from ..rule import Change, Remark, Rule

__all__ = ["RULE"]

_OLD = "tensorflow.examples.tutorials.mnist"
_DATA = f"{_OLD}.input_data"
_NEW = "tf1sessions.contrib.learn.datasets"


def _find(file: FileUses) -> Iterator[Change | Remark]:
    for each in file.imports:
        statement = each.statement
        if not each.module.startswith("tensorflow.examples"):
            continue
        if isinstance(statement, ast.Import) and each.alias.asname and each.module == _DATA:
            edit = file.positions.replace(each.alias, f"{_NEW}.mnist as {each.bound}")
            yield Change(statement, f"{_DATA}: {_NEW}.mnist", (edit,))
        elif isinstance(statement, ast.ImportFrom) and each.meaning == _DATA and len(statement.names) == 1:
            edit = file.positions.replace(statement, f"from {_NEW} import mnist as {each.bound}")
            yield Change(statement, f"{_DATA}: {_NEW}.mnist", (edit,))
        elif isinstance(statement, ast.ImportFrom) and each.module == _DATA:
            edit = headers.module_edit(file, statement, f"{_NEW}.mnist")
            if each.alias is statement.names[0]:
                yield Change(statement, f"{_DATA}: {_NEW}.mnist", (edit,))
        elif each.alias.asname or isinstance(statement, ast.ImportFrom):
            yield Remark(statement, f"{each.meaning} is not in TensorFlow 2: copy what is used of it into the program.")
    for use in file.uses:
        if use.name.startswith(_DATA.replace("tensorflow", "tf", 1)) and isinstance(use.node, ast.Attribute):
            root = file.part_of(use.node, _DATA)
            if isinstance(root, ast.Attribute):
                name = headers.free_name(file, "mnist_data", f"{_NEW}.mnist")
                edit = file.positions.replace(root, name)
                yield Change(use.node, f"{_DATA}: {name}", (edit,), (f"from {_NEW} import mnist as {name}",))


RULE = Rule("v1-examples", "Reads the tutorials' MNIST by `tf1sessions.contrib.learn.datasets.mnist`.", _find)
