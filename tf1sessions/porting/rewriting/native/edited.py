"""A file with edits, read again: what is done to a file before its graphs are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from ....source.edits import Edit, apply
from ....source.uses import FileUses, read_file

__all__ = ["edited"]


def edited(file: FileUses, edits: Iterable[Edit]) -> FileUses:
    """Return a file with edits among its project's files; the file itself where there are none."""
    found = list(edits)
    if not found:
        return file
    source = dataclasses.replace(file.source, text=apply(file.source.text, found))
    new = read_file(source, file.module, is_package=file.is_package)
    if not isinstance(new, FileUses):  # a text that is no Python would be no port
        return file
    new.siblings = tuple(new if each is file else each for each in file.siblings)
    return new
