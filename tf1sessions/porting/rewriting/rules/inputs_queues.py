"""Queues that are filled from files or arrays become tf.data with the same elements."""

from __future__ import annotations

from collections.abc import Iterator

from ....source.uses import FileUses
from ..inputs.pipelines import rewritten
from ..requests.request import NotPossible
from ..rule import Change, Remark, Rule

__all__ = ["RULE"]


def _find(file: FileUses) -> Iterator[Change | Remark]:
    try:
        found = rewritten(file)
    except NotPossible as error:
        yield Remark(error.node, f"{error.what}, so this file keeps its queues.")
        return
    if found is not None:
        yield Change(file.tree, "tf.data", found.edits, places=found.places)


RULE = Rule("inputs-queues", "Queues of files and arrays become data sets of `tf.data` with the same elements.", _find)
