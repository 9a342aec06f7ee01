"""Names of TensorFlow 1 that nothing has today: remarks with what to use instead."""

from __future__ import annotations

from collections.abc import Iterator

from ....source import symbols
from ....source.uses import FileUses
from ..rule import Remark, Rule
from ..scopes import is_tried
from . import v1_first_names

__all__ = ["RULE"]


def _find(file: FileUses) -> Iterator[Remark]:
    replaced = {change.node for change in v1_first_names.find(file)}
    for use in file.uses:
        name = use.name
        if name.startswith("tf1sessions.contrib."):
            name = f"tf.contrib.{name.removeprefix('tf1sessions.contrib.')}"
        if not name.startswith("tf.") or name.startswith("tf.python."):
            continue
        symbol = symbols.find(name)
        if symbol is not None and symbol.verdict == "gone" and use.node not in replaced:
            sentence = f" {symbol.sentence}." if symbol.sentence else ""
            what = f"{name} is not in today's TensorFlow, nor in tf1sessions.{sentence}"
            yield Remark(use.node, what, by_hand=not is_tried(file, use.node, name))


RULE = Rule("v1-missing", "Names what nothing has today, with what to use instead.", _find)
