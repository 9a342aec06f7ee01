"""Arguments of seaborn's plots: ``lmplot("x", "y", df, size=6)``, which took x, y and data by position until 0.12."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses
from ..renames import argument_edit
from ..rule import Change, Rule

__all__ = ["RULE"]

#: Plot -> its first parameters in release 0.9.
_FIRST = {
    **dict.fromkeys(("lmplot", "regplot", "residplot", "jointplot"), ("x", "y", "data")),
    **dict.fromkeys(("scatterplot", "lineplot", "relplot"), ("x", "y", "hue")),
    **dict.fromkeys(
        ("barplot", "boxplot", "countplot", "pointplot", "violinplot", "stripplot", "swarmplot", "catplot",
         "factorplot"), ("x", "y", "hue", "data"),
    ),
}  # fmt: skip
_WITH_SIZE = frozenset(["lmplot", "jointplot", "pairplot", "catplot", "factorplot", "FacetGrid"])


def _find(file: FileUses) -> Iterator[Change]:
    for use in file.uses:
        if use.call is None or not use.symbol.startswith("seaborn."):
            continue
        name = use.symbol.removeprefix("seaborn.")
        edits = [*_by_name(file, use.call, _FIRST.get(name, ())), *_height(file, use.call, name)]
        if edits:
            yield Change(use.node, f"{name}(): arguments by their names (seaborn 0.12)", tuple(edits))


def _by_name(file: FileUses, call: ast.Call, names: tuple[str, ...]) -> list[Edit]:
    """Name the arguments of a call that gives x and y by position. One alone may be the data, as it is today."""
    given = {keyword.arg for keyword in call.keywords}
    if not 2 <= len(call.args) <= len(names) or any(isinstance(each, ast.Starred) for each in call.args):
        return []
    if given & set(names[: len(call.args)]):
        return []
    starts = [file.positions.span(each)[0] for each in call.args]
    return [Edit(start, start, f"{name}=") for start, name in zip(starts, names, strict=False)]


def _height(file: FileUses, call: ast.Call, name: str) -> Iterator[Edit]:
    for keyword in call.keywords:
        if keyword.arg == "size" and name in _WITH_SIZE:
            yield argument_edit(file, call, keyword, "height")


RULE = Rule("seaborn-arguments", "Gives seaborn's plots x, y and data by their names, and `height` for `size`.", _find)
