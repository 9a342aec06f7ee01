"""Arguments that functions of TensorFlow 1.15 took and today's do not, or take elsewhere: ``_sentinel=None``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....scripts.arguments import NAMED_ONLY, ORDERS, RENAMED
from ....source.edits import Edit
from ....source.nodes import is_none
from ....source.uses import FileUses
from ..renames import argument_edit
from ..rule import Change, Rule
from . import clean_arguments

__all__ = ["RULE"]


def _find(file: FileUses) -> Iterator[Change]:
    for use in file.uses:
        name = use.name.removeprefix("tf.")
        if use.call is None or name == use.name or any(isinstance(each, ast.Starred) for each in use.call.args):
            continue
        edits = _edits(file, use.call, name)
        if edits:
            yield Change(use.node, f"{use.name}(): arguments of 1.15", tuple(edits))


def _edits(file: FileUses, call: ast.Call, name: str) -> list[Edit] | None:
    if name in RENAMED:
        return clean_arguments.keywords(file, call, RENAMED[name])
    order = ORDERS.get(name, ())
    if order and len(call.args) == len(order):
        start, _ = file.positions.span(call.args[-1])
        return [Edit(start, start, f"{order[-1]}=")]
    if name in NAMED_ONLY:
        sentinels = [each for each in call.keywords if each.arg == "_sentinel" and is_none(each.value)]
        return [argument_edit(file, call, each, None) for each in sentinels]
    return None


RULE = Rule(
    "v1-arguments",
    "Gives arguments of 1.15 that today's functions lack or take elsewhere their form of today.",
    _find,
)
