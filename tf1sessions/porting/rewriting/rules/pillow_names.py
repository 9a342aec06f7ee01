"""Pillow: filters and measures of texts that Pillow 10 removed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.old_names import PILLOW_FILTERS
from ....source.uses import FileUses
from ..renames import Row, find_names, imports_library, method_call
from ..rule import Change, Remark, Rule

__all__ = ["RULE", "find"]

_SINCE = "Pillow 10"
_TABLE = {f"PIL.Image.{old}": Row(f"PIL.Image.{new}", _SINCE) for old, new in PILLOW_FILTERS.items()}
_BOXES = {"textsize": "textbbox", "multiline_textsize": "multiline_textbbox"}


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find what Pillow no longer has."""
    if not imports_library(file, "PIL"):
        return
    yield from find_names(file, _TABLE)
    for function, call in file.calls.items():
        method = method_call(file, function, *_BOXES, "getsize")
        if method is None or len(call.args) != 1:
            continue
        if method.attr == "getsize" and not _has_fonts(file):
            continue
        if any(keyword.arg != "font" for keyword in call.keywords):
            yield Remark(
                call,
                f".{method.attr}() is gone since Pillow 10: .{_box(method.attr)}() gives left, top, right, bottom.",
            )
            continue
        yield _measured(file, method, call)


def _has_fonts(file: FileUses) -> bool:
    return any("ImageFont" in each.meaning for each in file.imports)


def _box(name: str) -> str:
    return _BOXES.get(name, "getbbox")


def _measured(file: FileUses, method: ast.Attribute, call: ast.Call) -> Change:
    """Width and height are the right and the bottom of the box."""
    new = _box(method.attr)
    end = file.positions.span(method)[1]
    first, after = file.positions.span(call.args[0])[0], file.positions.span(call)[1]
    origin = "" if new == "getbbox" else "(0, 0), "
    edits = (Edit(end - len(method.attr), end, new), Edit(first, first, origin), Edit(after, after, "[2:]"))
    return Change(method, f".{method.attr}(): .{new}()[2:] ({_SINCE})", edits)


RULE = Rule("pillow-names", "Gives names of Pillow that are gone their new ones.", find)
