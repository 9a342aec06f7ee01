"""Modules of the program that use TensorFlow, and are none of the files to port."""

from __future__ import annotations

import ast
import dataclasses
import stat
from collections.abc import Iterator
from pathlib import Path

from ...files import read_whole
from ...source.files import LARGEST
from ...source.uses import FileUses

__all__ = ["UnportedImport", "unported_imports"]


@dataclasses.dataclass(frozen=True)
class UnportedImport:
    """An import of a module that is not ported.

    Attributes:
        statement: The statement.
        module: The name of the module.
        error: Why it cannot be read; empty if it was read.
    """

    statement: ast.stmt
    module: str
    error: str = ""


def unported_imports(file: FileUses) -> Iterator[UnportedImport]:
    """Yield the imports of modules beside a file, or beside its package, that may use TensorFlow and are not ported.

    They are looked for on the disk, and read.
    """
    folders = {file.source.path.parent, file.source.path.absolute().parents[file.module.count(".")]}
    ported = {other.source.path.absolute() for other in file.siblings}
    for each in file.imports:
        for module in filter(None, (each.module, each.meaning)):
            if module.partition(".")[0] == "tf1sessions":  # what step clean writes, even beside this package
                continue
            places = [folder.joinpath(*module.split(".")) for folder in folders]
            paths = [path for place in places for path in (place.with_name(f"{place.name}.py"), place / "__init__.py")]
            error = next((found for path in paths if (found := _looked_at(path, ported)) is not None), None)
            if error is not None:
                yield UnportedImport(each.statement, module, error)


def _looked_at(path: Path, ported: set[Path]) -> str | None:
    """Return why a file cannot be read, and "" if it has TensorFlow's name; None if it has not, or is not there."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) or path.absolute() in ported:
            return None
        return "" if b"tensorflow" in read_whole(path, LARGEST) else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return error.strerror or type(error).__name__
