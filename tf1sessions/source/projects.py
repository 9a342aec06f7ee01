"""The files of a project, which import names from each other.

Data flow: :func:`read_files` reads each file by itself (uses.py); :func:`connect` then follows what files import from
each other, until nothing changes. :func:`read_project` does both. A file that another process has read takes part by
its :meth:`~tf1sessions.source.uses.FileUses.interface`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from ..garbage import collector_paused
from .files import SourceText
from .program import Unread
from .uses import FileUses, ImportedName, Modules, bind, read_file, resolve

__all__ = ["Project", "connect", "read_files", "read_project"]

_DEEPEST = 5  # how far re-exports are followed: a file that imports what another one imported from a third one


@dataclasses.dataclass(frozen=True)
class Project:
    """Files that import each other, and those that could not be read."""

    files: tuple[FileUses, ...]
    unread: tuple[Unread, ...] = ()


def read_project(sources: Iterable[SourceText | Unread], roots: Iterable[Path] = ()) -> Project:
    """Read the uses in all files of a project.

    Args:
        sources: The files, and those that could not be read, which are passed on.
        roots: Folders from which modules of the project are imported, besides those that the files are in.

    Example:
        >>> from tf1sessions.source import files
        >>> read_project(map(files.read, files.find(["src"]))).files   # doctest: +SKIP
    """
    with collector_paused():  # which looked at all syntax trees for most of the time
        read = read_files(sources, roots)
        files = tuple(each for each in read if isinstance(each, FileUses))
        connect(files)
    return Project(files, tuple(each for each in read if isinstance(each, Unread)))


def read_files(sources: Iterable[SourceText | Unread], roots: Iterable[Path] = ()) -> list[FileUses | Unread]:
    """Read the uses in each file by itself; see :func:`read_project`."""
    folders = [root.resolve() for root in roots]
    read: list[FileUses | Unread] = []
    for source in sources:
        if isinstance(source, SourceText):
            module, is_package = _module_of(source.path, folders)
            read.append(read_file(source, module, is_package=is_package))
        else:
            read.append(source)
    return read


def connect(files: Sequence[FileUses], others: Collection[FileUses] = ()) -> None:
    """Resolve what the files of a project import from each other.

    Args:
        files: All of them.
        others: Those of them that are interfaces: their names count, and their uses are another process's.
    """
    by_module = {file.module: file for file in files}
    tops = {module.partition(".")[0] for module in by_module}
    by_folder: dict[Path, dict[str, FileUses]] = {}  # a script imports what lies beside it by a bare name
    for file in files:
        by_folder.setdefault(file.source.path.parent, {})[file.source.path.stem] = file
    visible = {file: Modules(by_module, by_folder[file.source.path.parent], tops) for file in files}
    importers = [file for file in files if any(_imports_from(each, visible[file]) for each in file.imports)]
    for _ in range(_DEEPEST):
        known = {file: file.meanings for file in importers}
        for file in importers:
            bind(file, visible[file])
        if known == {file: file.meanings for file in importers}:
            break
    for file in importers:
        if file not in others:
            resolve(file, visible[file])
    siblings = tuple(files)
    for file in files:
        file.siblings = siblings


def _imports_from(each: ImportedName, project: Modules) -> bool:
    names = (each.meaning, each.module, each.module.partition(".")[0])
    return any(project.get(name) is not None for name in names)


def _module_of(path: Path, roots: Collection[Path]) -> tuple[str, bool]:
    """The name that a file is imported by: from the first root that it is below, or from above its packages."""
    full = path.resolve()
    root = next((root for root in roots if full.is_relative_to(root)), None)
    if root is None:
        root = full.parent
        while os.path.isfile(root / "__init__.py") and root != root.parent:
            root = root.parent
    parts = list(full.relative_to(root).with_suffix("").parts)
    is_package = parts[-1] == "__init__"
    return ".".join(parts[:-1] if is_package else parts), is_package
