"""The user's sources with the headers that they include from their own folders, read and rewritten."""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Iterable, Sequence

from tf1sessions.errors import UsageError
from tf1sessions.files import read_whole
from tf1sessions.texts import quoted

from .code import CppSource
from .headers import includes
from .rewriting import Rewritten, rewrite

__all__ = ["Sources", "is_cuda", "read_sources"]

_CPP = (".cc", ".cpp", ".cxx", ".c++", ".C")
_CUDA = (".cu", ".cu.cc", ".cu.cpp")
_BUILT = (".so", ".o", ".a", ".dylib", ".pyd", ".dll")
_MOST_FILES = 5000
_MOST_BYTES = 16 << 20


@dataclasses.dataclass(frozen=True)
class Sources:
    """Sources, and what they include of the user's own files.

    Attributes:
        paths: Absolute paths of the sources, in the user's order.
        include: Absolute paths of the folders in which headers are looked for.
        files: Each file that was read, by its absolute path, rewritten.
    """

    paths: tuple[str, ...]
    include: tuple[str, ...]
    files: dict[str, Rewritten]

    @property
    def changed(self) -> list[Rewritten]:
        """The files that are not as they were."""
        return [file for file in self.files.values() if file.changes]

    def diff(self) -> str:
        """Return what is rewritten, as ``diff -u`` has it."""
        return "".join(file.diff() for file in self.files.values())

    def write(self, folder: str, *, numbered: bool = False) -> None:
        """Write the rewritten files into a folder, each below it under its absolute path.

        Args:
            folder: The folder.
            numbered: Begin each with a line by which a compiler names the user's file and its lines.
        """
        for path, file in self.files.items():
            copy = folder + path
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            name = path.replace("\\", "\\\\").replace('"', '\\"')
            line = f'#line 1 "{name}"\n' if numbered else ""
            with open(copy, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
                stream.write(file.added + line + file.after)

    def export(self, folder: str) -> None:
        """Write the rewritten files into a folder, as they lie beside each other.

        Raises:
            OSError: The folder cannot be written.
        """
        above = os.path.commonpath([os.path.dirname(path) for path in self.files])
        for path, file in self.files.items():
            copy = os.path.join(folder, os.path.relpath(path, above))
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            with open(copy, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
                stream.write(file.added + file.after)


def is_cuda(path: str) -> bool:
    """Whether a source is one for nvcc."""
    return path.endswith(_CUDA)


def read_sources(paths: Sequence[str], include: Iterable[str] = (), leave: Iterable[str] = ()) -> Sources:
    """Read sources and what they include, and rewrite them in memory. No file is changed.

    Args:
        paths: The sources.
        include: Folders in which headers are looked for, besides those of the files that include them.
        leave: Folders whose headers are none of the user's own, such as TensorFlow's.

    Raises:
        UsageError: A source is not there, cannot be read, or is not C++ or CUDA; or what it includes is not a file.
    """
    if not paths:
        raise UsageError("there is no source", next_step="Name the .cc and .cu files of the operation.")
    folders = tuple(os.path.abspath(folder) for folder in include)
    for folder in folders:
        if not os.path.isdir(folder):
            raise UsageError(f"there is no folder {quoted(folder)}", where="-I", next_step="Name a folder of headers.")
    left = tuple(os.path.join(os.path.realpath(folder), "") for folder in leave)
    own: dict[str, Rewritten] = {}
    waiting = list(dict.fromkeys(os.path.abspath(_checked(path)) for path in paths))
    sources = tuple(waiting)
    while waiting:
        path = waiting.pop(0)
        if path in own or len(own) >= _MOST_FILES:
            continue
        text = _text(path)
        found = {}
        for each in includes(CppSource(text)):
            header = _header(path, each.address, each.quoted, folders)
            if header is not None and not os.path.realpath(header).startswith(left):
                found[each.address] = header
        own[path] = rewrite(text, path, frozenset(found))
        waiting += found.values()
    return Sources(sources, folders, own)


def _checked(path: str) -> str:
    name = os.path.basename(path)
    if name.endswith(_BUILT):
        raise UsageError(f"{quoted(path)} is a library or an object, not a source",
                         next_step="Name its .cc and .cu files; what is to be linked follows --.")  # fmt: skip
    if not name.endswith((*_CPP, *_CUDA)):
        raise UsageError(
            f"{quoted(path)} does not end in {', '.join((*_CPP, '.cu'))} or .cu.cc",
            next_step="Name the sources only; headers that they include are found. A folder of headers is given by -I.",
        )
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UsageError(f"{quoted(path)} is not a file", next_step="Name a C++ or CUDA source.")
    except OSError as error:
        raise UsageError(f"{quoted(path)}: {error.strerror}", next_step="Name a C++ or CUDA source.") from error
    if b"\0" in _bytes(path):
        raise UsageError(f"{quoted(path)} is not text", next_step="Name a C++ or CUDA source.")
    return path


def _bytes(path: str) -> bytes:
    try:
        return read_whole(path, _MOST_BYTES)
    except OSError as error:
        raise UsageError(f"{quoted(path)}: {error.strerror}", next_step="Make the file readable.") from error


def _text(path: str) -> str:
    return _bytes(path).decode("utf-8", errors="surrogateescape")


def _header(path: str, address: str, in_quotes: bool, folders: tuple[str, ...]) -> str | None:
    """Return the file that an include of ``path`` means, where it is one of the user's."""
    places = ([os.path.dirname(path)] if in_quotes else []) + list(folders)
    for place in places:
        header = os.path.normpath(os.path.join(place, address))
        try:
            mode = os.stat(header).st_mode
        except OSError:  # not here
            continue
        if stat.S_ISREG(mode):
            return header
        if not stat.S_ISDIR(mode):  # which a compiler passes over; a pipe it would wait for
            step = "Put a header in its place, or take the #include out."
            raise UsageError(f"{quoted(header)} is not a file", where=f"#include in {path}", next_step=step)
    return None
