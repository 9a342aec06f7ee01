"""Names that ``tf.contrib`` only had as second names are taken from where they always were."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....source import symbols
from ....source.edits import Edit
from ....source.uses import FileUses
from ..rule import Change, Rule

__all__ = ["RULE", "find"]

_OURS = "tf1sessions.contrib"
_LIBRARY = ("tf1sessions.contrib.", "tf1sessions.estimator.")
_V1 = "tensorflow.compat.v1"


def find(file: FileUses) -> Iterator[Change]:
    """Yield the changes of a file that still imports tensorflow.compat.v1: names first, then imports without use."""
    tensorflow = next((each.bound for each in file.imports if each.meaning == _V1 and each.bound != "*"), None)
    if tensorflow is not None and tensorflow not in file.bound:
        for use in file.uses:
            if use.symbol.startswith(f"{_OURS}.") and isinstance(use.node, ast.Attribute):
                found = symbols.find(f"tf.contrib{use.symbol.removeprefix(_OURS)}")
                if found is not None and found.kind != "module" and _is_core(found.equal):
                    assert found.equal is not None
                    new = f"{tensorflow}{found.equal[2:]}"
                    yield Change(use.node, f"{found.name}: {found.equal}", (file.positions.replace(use.node, new),))
    yield from _unused(file)


def _is_core(name: str | None) -> bool:
    """Whether TensorFlow still has a first name: those of tf.estimator are in tf1sessions, too."""
    found = symbols.find(name) if name is not None else None
    return found is not None and found.verdict not in ("ours", "gone")


def _unused(file: FileUses) -> Iterator[Change]:
    """Yield the imports of tf1sessions that are not needed any more: what they gave is taken from TensorFlow now."""
    for each in file.imports:
        statement = each.statement
        if (
            f"{each.meaning}.".startswith(_LIBRARY)
            and each.bound != "*"
            and each.bound not in file.chains
            and each.bound not in file.bound
            and len(statement.names) == 1
            and each.bound not in file.names_in_texts
            and not _is_exported(file, each.bound)
        ):
            yield Change(statement, f"{each.meaning}: not used any more", (_without_line(file, statement),))


def _is_exported(file: FileUses, name: str) -> bool:
    """Whether something else may take a name that a file imports: another file of the project, or a text."""
    if file.source.path.stem == "__init__" or re.search(rf"[\"']{name}[\"']", file.source.text):
        return True
    stem = file.module.rpartition(".")[2]
    importers = (
        sibling
        for sibling in file.siblings
        if sibling is not file
        and any(stem in (*each.module.split("."), *each.meaning.split(".")) for each in sibling.imports)
    )
    return any(
        any(each.bound == "*" or each.alias.name == name for each in sibling.imports)
        or f".{name}" in sibling.source.text
        for sibling in importers
    )


def _without_line(file: FileUses, statement: ast.stmt) -> Edit:
    """Take a statement out, with its line where nothing else is on it."""
    start, end = file.positions.span(statement)
    first = file.positions.line_start(statement.lineno)
    after = file.positions.line_start((statement.end_lineno or statement.lineno) + 1)
    text = file.source.text
    alone = not text[first:start].strip() and not text[end:after].strip()
    siblings = getattr(file.parents[statement], "body", [])
    if not alone or len(siblings) < 2:
        return Edit(start, end, "pass")
    return Edit(first, after, "")


RULE = Rule("clean-contrib", "Takes second names of `tf.contrib` from their first: `tf.nn.rnn_cell`, `tf.train`.", find)
