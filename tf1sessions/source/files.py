"""Reads source files so that they can be written back as they were: encoding, byte order mark, line ends.

Data flow: :func:`find` gives the files below what a user named, :func:`read` gives a :class:`SourceText` of one, or an
:class:`~tf1sessions.source.program.Unread` with the reason, and :meth:`SourceText.encode` gives the bytes for a changed
text. The text of a notebook is its code cells one after the other (notebooks.py: :func:`~.notebooks.mask`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import os
import tokenize
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..errors import ScriptUsageError
from ..files import read_whole, walk
from . import notebooks
from .program import SourceLine, Unread

__all__ = ["SourceText", "find", "is_environment", "is_missing", "is_source", "read"]

#: The largest file that is read, in bytes: a million lines of code have about 40 MB.
LARGEST = 64_000_000
#: From how many bytes on the machine is asked whether it has the memory for a file's syntax tree.
_LARGE = 8_000_000
#: How many bytes of a syntax tree there are for each byte of a text: a million lines of 41 MB took 5.7 GB.
_OF_TREE = 150
_SUFFIXES = (".py", ".pyw", ".ipynb")
_SKIPPED = frozenset(["__pycache__", "node_modules", "site-packages"])


@dataclasses.dataclass(frozen=True)
class SourceText:
    """A file of a program.

    Attributes:
        path: Where it is.
        shown: As places name it.
        text: Its text, with its own line ends; of a notebook its masked cells.
        encoding: ``"utf-8-sig"`` where it has a byte order mark.
        notebook: Of a notebook: its JSON text.
    """

    path: Path
    shown: str
    text: str
    encoding: str = "utf-8"
    notebook: str | None = None

    @property
    def newline(self) -> str:
        """The line end of the file's first line, ``"\\n"`` where it has only one line."""
        end = self.text.find("\n")
        if end > 0 and self.text[end - 1] == "\r":
            return "\r\n"
        return "\r" if end < 0 and "\r" in self.text else "\n"

    def encode(self) -> bytes:
        """Return the bytes of the file.

        Raises:
            UnicodeEncodeError: The text has a character that the file's encoding has not.
        """
        if self.notebook is None:
            return self.text.encode(self.encoding)
        return notebooks.replace_cells(self.notebook, notebooks.unmask(self.text)).encode(self.encoding)

    def with_text(self, text: str) -> SourceText:
        """Return the file with another text; of a notebook with other cells, masked in the same way."""
        return dataclasses.replace(self, text=text)

    def place(self, line: int) -> SourceLine:
        """Return where line ``line`` of the text is; of a notebook the cell and the line in it."""
        if self.notebook is None:
            return SourceLine(self.shown, line)
        lines = self._cell_lines
        cell, inner = lines[min(line, len(lines)) - 1]
        return SourceLine(self.shown, inner, cell)

    @functools.cached_property
    def _cell_lines(self) -> list[tuple[int, int]]:
        return notebooks.cell_lines(self.text)


def is_missing(path: str | os.PathLike[str]) -> bool:
    """Whether there is nothing at a path, as far as this user may see: what is there may be unreadable.

    Example:
        >>> is_missing("."), is_missing("no_such_file.py")
        (False, True)
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):  # a folder above it may not be looked into; no path at all
        return False
    return False


def is_source(name: str) -> bool:
    """Whether a file of this name is a Python file or a notebook."""
    return name.endswith(_SUFFIXES)


def find(
    paths: Iterable[str | os.PathLike[str]], is_wanted: Callable[[str], bool] = is_source
) -> Iterator[Path | Unread]:
    """Yield the source files that ``paths`` name: files as they are, and of folders the Python files and notebooks.

    Hidden folders, virtual environments, and links to folders (which may lead in a circle) are left out. A file that
    is named twice is given once.

    Args:
        paths: Files and folders.
        is_wanted: Says of a file's name whether it is given, where it lies in a folder.
    """
    seen: set[Path] = set()
    for path in map(Path, paths):
        for found in _below(path, is_wanted) if os.path.isdir(path) else [path]:
            if isinstance(found, Unread):
                yield found
            elif (real := _resolved(found)) not in seen:
                seen.add(real)
                yield found


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a link to itself: reading it says so
        return path.absolute()


def _below(root: Path, is_wanted: Callable[[str], bool]) -> Iterator[Path | Unread]:
    failed: list[OSError] = []
    for folder, folders, files in walk(root, failed.append):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in _SKIPPED and not is_environment(os.path.join(folder, name))
        )
        yield from (Path(folder, name) for name in sorted(files) if is_wanted(name))
        while failed:
            yield _unread_folder(failed.pop())
    yield from map(_unread_folder, failed)


def is_environment(folder: str) -> bool:
    """Whether a folder is a virtual environment, of virtualenv's first releases, too, which wrote no pyvenv.cfg."""
    return any(os.path.exists(os.path.join(folder, name)) for name in ("pyvenv.cfg", "bin/activate_this.py"))


def _unread_folder(error: OSError) -> Unread:
    return Unread(SourceLine(os.fspath(Path(error.filename)), 1), f"the folder cannot be read: {error.strerror}")


def read(path: Path, shown: str | None = None) -> SourceText | Unread:
    """Read one file.

    Returns:
        The file, or why it cannot be read, is no text, or is no notebook.
    """
    shown = shown or os.fspath(path)
    try:
        data = read_whole(path, LARGEST)
    except FileNotFoundError:
        return Unread(SourceLine(shown, 1), "there is no such file")
    except OSError as error:
        return Unread(SourceLine(shown, 1), f"it cannot be read: {error.strerror}")
    if len(data) > _LARGE and len(data) * _OF_TREE > (free := _available_memory()):
        size = f"its syntax tree takes about {len(data) * _OF_TREE / 1e9:.1f} GB, of which {free / 1e9:.1f} are free"
        return Unread(SourceLine(shown, 1), f"it cannot be read: {size}")
    if b"\0" in data:
        return Unread(SourceLine(shown, 1), "it is not a text")
    try:
        encoding = "utf-8" if path.suffix == ".ipynb" else tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        text = data.decode(encoding)
        text.encode(encoding)  # what was changed is to be written: idna can read what it cannot write
    except (SyntaxError, UnicodeError, LookupError) as error:
        return Unread(SourceLine(shown, 1), f"it is not a text in the encoding that it declares: {error}")
    if path.suffix != ".ipynb":
        return SourceText(path, shown, text, encoding)
    try:
        return SourceText(path, shown, notebooks.mask(notebooks.read(text, shown)), encoding, notebook=text)
    except ScriptUsageError as error:
        return Unread(SourceLine(shown, 1), str(error).partition("\n")[0])


def _available_memory() -> float:
    """The bytes that this process can still have, by the machine and by the limit of its container."""
    found = [float("inf")]
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path("/proc/meminfo").read_text("ascii")
        found.append(float(text.split("MemAvailable:")[1].split()[0]) * 1024)
    with contextlib.suppress(OSError, ValueError):
        limit, used = (Path("/sys/fs/cgroup", name).read_text("ascii") for name in ("memory.max", "memory.current"))
        found.append(float(limit) - float(used))
    return min(found)
