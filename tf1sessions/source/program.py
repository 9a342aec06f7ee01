"""Reads a script, a module or a notebook, with the modules beside it that it imports. Nothing of it is run.

Data flow: :func:`read_script` or :func:`read_module` gives a :class:`Program` of :class:`SourceFile`: the text as a
syntax tree, whose line numbers :meth:`SourceFile.place` turns into a line of a file, or of a notebook's cell. Modules
are looked for in the script's folder, at most :data:`MOST_FILES` of them; those of the installation are not read.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import io
import os
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path

from ..errors import PythonTwoError, ScriptUsageError
from ..files import read_whole
from . import notebooks, python2

__all__ = [
    "MOST_FILES",
    "Program",
    "SourceFile",
    "SourceLine",
    "Unread",
    "read_module",
    "read_script",
    "read_text",
    "too_deep",
]

#: How many files are read for one script, itself included; arbitrary.
MOST_FILES = 60
#: The largest file that is read, in bytes; generated tables can be larger than any program.
LARGEST = 4_000_000
#: How deeply the nodes of a file may be nested: well below what Python's own stack takes. A sum of N terms has N
#: levels, as has a chain of N elif. Of 1,600 files of installed libraries the deepest has 87, the next one 31.
DEEPEST = 500


@dataclasses.dataclass(frozen=True)
class SourceLine:
    """A line of a file; of a notebook, a line of a cell.

    Attributes:
        file: As the user named it, or relative to the folder that the command was called in where it lies below that.
        line: From 1.
        cell: Of a notebook: which code cell, from 1; ``line`` counts within it.
    """

    file: str
    line: int
    cell: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.cell is None else f"{self.file}, cell {self.cell}, line {self.line}"


@dataclasses.dataclass(frozen=True)
class SourceFile:
    """A file as a syntax tree.

    Attributes:
        module: The name that it is imported by; ``"__main__"`` for the script.
        file: As places name it.
        tree: Of a notebook: its cells, one after the other.
        lines: Of the text that ``tree`` was made from.
        cells: Of a notebook: for each line of ``lines`` the cell's number and the line in it.
    """

    module: str
    file: str
    tree: ast.Module
    lines: tuple[str, ...]
    cells: tuple[tuple[int, int], ...] | None = None

    def place(self, node: ast.AST) -> SourceLine:
        """Return the beginning of ``node``."""
        line = int(getattr(node, "lineno", 1))
        if self.cells is None:
            return SourceLine(self.file, line)
        cell, inner = self.cells[line - 1]
        return SourceLine(self.file, inner, cell)

    def statement(self, place: SourceLine) -> str:
        """The text of a place's line; of all lines of a statement that goes over several."""
        line = place.line if self.cells is None else self.cells.index((place.cell or 0, place.line)) + 1
        first = last = line
        for node in ast.walk(self.tree):
            if (
                isinstance(node, ast.stmt)
                and not hasattr(node, "body")
                and node.lineno <= line <= (node.end_lineno or 0)
            ):
                first, last = node.lineno, node.end_lineno or node.lineno
        return "\n".join(self.lines[first - 1 : last])


@dataclasses.dataclass(frozen=True)
class Unread:
    """A file that belongs to a program and could not be read, and why."""

    place: SourceLine
    reason: str


@dataclasses.dataclass(frozen=True)
class Program:
    """A script and what it imports from its own folder; the script first."""

    files: tuple[SourceFile, ...]
    unread: tuple[Unread, ...] = ()


def read_script(path: str | os.PathLike[str]) -> Program:
    """Read the script or notebook at ``path``, and the modules beside it that it imports.

    Raises:
        ScriptUsageError: There is no such file, it is a folder, empty, no text, no Python, or cannot be read.
        PythonTwoError: It is Python 2.
    """
    shown = os.fspath(path)
    file = Path(path)
    if os.path.isdir(file):
        inner = file / "__main__.py"
        if not os.path.isfile(inner):
            raise ScriptUsageError(f"{shown} is a folder", next_step="Give the script in it.")
        return read_script(inner)
    try:
        data = read_whole(file)
    except FileNotFoundError:
        raise ScriptUsageError(
            f"there is no file {shown}", next_step="Give the path of a script or notebook."
        ) from None
    except OSError as error:
        raise ScriptUsageError(
            f"{shown} cannot be read: {error.strerror}", next_step="Look at its owner and permissions."
        ) from error
    if file.suffix == ".ipynb":
        main, unread = _notebook(_text(data, shown), shown)
    else:
        main, unread = _script(_text(data, shown), "__main__", shown), []
    return _with_imports(main, unread, file.parent, file)


def read_module(name: str) -> Program:
    """Read the module ``name`` as ``python -m`` would find it from the current folder; of a package its ``__main__``.

    Raises:
        ScriptUsageError: There is no such module, or its source cannot be read.
        PythonTwoError: It is Python 2.
    """
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        raise ScriptUsageError(f"{name!r} is not the name of a module", next_step="Give a name such as package.train.")
    roots = [Path()]
    try:  # only the top is asked for: looking for package.module would run the package
        spec = importlib.util.find_spec(parts[0])
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.submodule_search_locations:
        roots += [Path(location).parent for location in spec.submodule_search_locations]
    elif spec is not None and spec.origin and len(parts) == 1:
        roots.append(Path(spec.origin).parent)
    for root in roots:
        base = root.joinpath(*parts)
        for file in (base.with_name(f"{base.name}.py"), base / "__main__.py"):
            if os.path.isfile(file):
                shown = min(os.path.relpath(file), str(file), key=len)
                package = ".".join(parts if file.name == "__main__.py" else parts[:-1])
                main = _script(_text(read_whole(file), shown), "__main__", shown)
                return _with_imports(main, [], root, file, package)
        if os.path.isdir(base):
            raise ScriptUsageError(
                f"{name} is a package without __main__.py", next_step=f"Give a module of it: -m {name}.MODULE."
            )
    raise ScriptUsageError(
        f"there is no module {name}", where=f"the folder {os.getcwd()}", next_step="Call it from where python -m works."
    )


def read_text(text: str, file: str = "script.py") -> Program:
    """The program that ``text`` is, by itself."""
    return Program((_script(text, "__main__", file),))


# -- one file ---------------------------------------------------------------------------------------------------------


def _text(data: bytes, shown: str) -> str:
    if not data.strip():
        raise ScriptUsageError(f"{shown} is empty", next_step="Give a script or notebook with a program in it.")
    if len(data) > LARGEST:
        raise ScriptUsageError(f"{shown} has {len(data):,} bytes, which is no script", next_step="Give a script.")
    if b"\0" in data:
        raise ScriptUsageError(f"{shown} is not a text", next_step="Give Python source, not what was compiled from it.")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding, newline=None).read()
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise ScriptUsageError(
            f"{shown} is not a text in the encoding that it declares: {error}", next_step="Save it as UTF-8."
        ) from error


def _script(text: str, module: str, shown: str) -> SourceFile:
    return SourceFile(module, shown, _parse(text, shown), tuple(text.split("\n")))


def _parse(text: str, shown: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a string: the program's own business
            tree = ast.parse(text, shown)
    except SyntaxError as error:
        two = python2.explain_syntax(text, error)
        if two is not None:
            raise two from None
        raise ScriptUsageError(
            f"{shown} is not Python: {error.msg}, line {error.lineno}", next_step="Give a script that Python can read."
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:  # null characters; thousands of brackets
        raise ScriptUsageError(f"{shown} is not Python: {error}", next_step="Give a Python script.") from error
    deep = too_deep(_levels(tree))
    if deep is not None:
        raise ScriptUsageError(
            f"{shown} {deep}", next_step="Break long expressions and chains of elif into several statements."
        )
    return tree


def too_deep(levels: int) -> str | None:
    """Return why a tree of so many levels cannot be looked at, if it has more than :data:`DEEPEST`; else None."""
    return f"is nested {levels} levels deep, and {DEEPEST} can be looked at" if levels > DEEPEST else None


def _levels(tree: ast.AST) -> int:
    count, level = 0, [tree]
    while level:
        count += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return count


def _notebook(text: str, shown: str) -> tuple[SourceFile, list[Unread]]:
    lines: list[str] = []
    cells: list[tuple[int, int]] = []
    unread: list[Unread] = []
    found = notebooks.read(text, shown)
    if not found:
        raise ScriptUsageError(f"{shown} has no code", next_step="Give a notebook with code cells.")
    for cell in found:
        source = notebooks.translate(cell.source)
        try:
            _parse(source, f"{shown}, cell {cell.number}")
        except ScriptUsageError as error:  # half-written cells are common, and the others are still worth reading
            unread.append(Unread(SourceLine(shown, 1, cell.number), _reason(error)))
            continue
        for number, line in enumerate(source.split("\n"), 1):
            lines.append(line)
            cells.append((cell.number, number))
    tree = _parse("\n".join(lines), shown)
    return SourceFile("__main__", shown, tree, tuple(lines), tuple(cells)), unread


def _reason(error: Exception) -> str:
    """Return what is wrong with a file, without what to do about it."""
    text = str(error).partition("\n")[0]
    return text.removesuffix(getattr(error, "next_step", None) or "").rstrip(". ")


# -- the files beside it ----------------------------------------------------------------------------------------------


def _with_imports(main: SourceFile, unread: list[Unread], root: Path, path: Path, package: str = "") -> Program:
    files = [main]
    seen = {path.resolve()}
    packages = {main.module: package}
    for file in files:
        for name, node in _imports(file.tree, packages[file.module]):
            found = _file_of(root, name)
            if found is None or found.resolve() in seen:
                continue
            if len(files) == MOST_FILES:
                unread.append(Unread(file.place(node), f"more than {MOST_FILES} files; {name} was not read"))
                return Program(tuple(files), tuple(unread))
            seen.add(found.resolve())
            try:
                shown = os.path.relpath(found) if not os.path.isabs(main.file) else str(found)
                files.append(_script(_text(read_whole(found), shown), name, shown))
                packages[name] = name if found.name == "__init__.py" else name.rpartition(".")[0]
            except (ScriptUsageError, PythonTwoError, OSError) as error:
                if "is empty" not in str(error):
                    unread.append(Unread(file.place(node), _reason(error)))
    return Program(tuple(files), tuple(unread))


def _imports(tree: ast.Module, package: str) -> Iterator[tuple[str, ast.AST]]:
    """The dotted names that a file imports, ``from a import b`` as ``a`` and ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from ((name, node) for name in _prefixes(alias.name))
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, package)
            if base:
                yield from ((name, node) for name in _prefixes(base))
            for alias in node.names:
                yield f"{base}.{alias.name}".lstrip("."), node


def _prefixes(name: str) -> Iterator[str]:
    parts = name.split(".")
    yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The module of a ``from`` import; relative ones are seen from ``package``, ``""`` for the script's folder."""
    if not node.level:
        return node.module or ""
    parents = package.split(".") if package else []
    parents = parents[: max(0, len(parents) - node.level + 1)]
    return ".".join([*parents, *([node.module] if node.module else [])])


def _file_of(root: Path, name: str) -> Path | None:
    if not name or name.partition(".")[0] in ("tensorflow", "numpy", "tf1sessions", "keras", "tf_keras"):
        return None
    base = root.joinpath(*name.split("."))
    for file in (base.with_name(f"{base.name}.py"), base / "__init__.py"):
        if os.path.isfile(file):
            return file
    return None
