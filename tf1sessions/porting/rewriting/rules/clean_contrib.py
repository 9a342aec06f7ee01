"""What ``tf.contrib`` only had under a second name is taken from where it always was."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source import symbols
from ....source.edits import Edit
from ....source.uses import FileUses
from ..rule import Change, Rule

__all__ = ["RULE", "find"]

_OURS = "tf1sessions.contrib"
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
    others = [sibling for sibling in file.siblings if sibling is not file]
    for each in file.imports:
        statement = each.statement
        if (
            each.meaning in (_OURS, "tf1sessions.estimator")
            and each.bound in ("tf_contrib", "tf_estimator")  # what v1 imported, and not the program
            and each.bound not in file.chains
            and len(statement.names) == 1
            and not any(other.bound == each.bound for sibling in others for other in sibling.imports)
        ):
            yield Change(statement, f"{each.meaning}: not used any more", (_without_line(file, statement),))


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
