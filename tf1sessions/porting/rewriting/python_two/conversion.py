"""The files that are Python 2, and their conversion in its order: syntax, then what means something else now."""

from __future__ import annotations

import ast
import dataclasses
import warnings
from collections.abc import Iterator

from ....errors import UnsupportedEnvironmentError
from ....source import notebooks
from ....source.edits import Edit, apply, overlap
from ....source.files import SourceText
from ....source.program import SourceLine
from ....source.uses import FileUses, read_file
from .. import headers
from ..rule import Change, Remark
from ..rules import python_two_modules, python_two_names
from . import division, lists, results, syntax

__all__ = ["WHAT", "Converted", "convert"]

#: Name -> what it does, of what is changed before any rule is asked.
WHAT = {
    "python-2-syntax": "Writes the syntax of Python 2 as that of Python 3.",
    "python-2-division": "Divides integers as Python 2 did, `a // b`.",
    "python-2-lists": "Makes lists where Python 2 gave lists: `list(map(...))`.",
    "python-2-results": "Gives calls that answer otherwise in Python 3 what they answered in Python 2.",
}

#: In their order; edits of an earlier one go first where two overlap.
_PARTS = (("python-2-division", division.find), ("python-2-lists", lists.find), ("python-2-results", results.find))

_Said = tuple[str, SourceLine, str, str]


@dataclasses.dataclass(frozen=True)
class Converted:
    """A file as Python 3, and what was changed: rule, place, what, kind, as :class:`~.rewrite.PortNote` has them."""

    source: SourceText
    notes: tuple[_Said, ...] = ()


def convert(source: SourceText) -> Converted:
    """Convert a file that is Python 2; any other stays as it is.

    A file is Python 2 if only Python 2 can parse it, or if it uses, in no branch for one Python, names or modules that
    only Python 2 has. Of a notebook each cell that cannot be parsed is tried by itself.

    Returns:
        The file, and notes on what was changed and what is to be done by hand. A file that neither Python can parse
        is given back as it is, and so is a cell, with a note. Without the package fissix a note says what to install.
    """
    try:
        text, notes = (_notebook if source.notebook is not None else _file)(source)
    except UnsupportedEnvironmentError as error:
        return Converted(source, (("python-2-syntax", source.place(1), str(error), "by hand"),))
    current = source.with_text(text) if text != source.text else source
    file = read_file(current)
    if not isinstance(file, FileUses) or not (current is not source or _is_python_two(file)):
        return Converted(current, tuple(notes))
    text, more = _means_the_same(file)
    return Converted(current.with_text(text), (*notes, *more))


def _is_python_two(file: FileUses) -> bool:
    """Whether a file that Python 3 can parse uses what only Python 2 has."""
    found = (*python_two_names.find_builtins(file), *python_two_modules.find(file))
    return any(isinstance(each, Change) for each in found)


# -- syntax -----------------------------------------------------------------------------------------------------------


def _file(source: SourceText) -> tuple[str, list[_Said]]:
    tree = _parsed(source.text)
    if tree is not None and not _prints(tree):
        return source.text, []
    newer = syntax.without_keywords(source.text)
    if newer is not None and _parses(newer):
        return newer, _changed(source, newer, "asyncio.async: asyncio.ensure_future (Python 3.7)")
    text = syntax.converted(source.text, has_print_statements=tree is not None)
    if text is not None and not _parses(text):  # tabs mixed with spaces
        text = syntax.with_spaces(text)
    if text is None or text == source.text or not _parses(text):
        return source.text, []
    return text, _changed(source, text, "the syntax of Python 2")


def _notebook(source: SourceText) -> tuple[str, list[_Said]]:
    """The masked cells of a notebook; those that are masked as a whole are tried as Python 2, each by itself."""
    cells, notes = [], []
    for number, cell in notebooks.unmask(source.text).items():
        plain = notebooks.mask([notebooks.Cell(number, cell)])
        masked = notebooks.mask_lines(cell)
        text = plain
        if masked is not None and not _parses(masked):
            found = syntax.converted(masked)
            what, kind = "no Python can parse this cell, which stays as it is", "by hand"
            if found is not None and _parses(found):
                text = plain.partition("\n")[0] + "\n" + found
                what, kind = "the syntax of Python 2", "change"
            notes.append(("python-2-syntax", SourceLine(source.shown, 1, number), what, kind))
        cells.append(text)
    return "\n".join(cells), notes


def _changed(source: SourceText, text: str, what: str) -> list[_Said]:
    """One note for the syntax of a file, at the first line that is another one."""
    lines = zip(source.text.split("\n"), text.split("\n"), strict=False)
    first = next((number for number, (old, new) in enumerate(lines, 1) if old != new), 1)
    return [("python-2-syntax", source.place(first), what, "change")]


def _parses(text: str) -> bool:
    return _parsed(text) is not None


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _prints(tree: ast.Module) -> bool:
    """Whether there is a print statement that Python 3 takes for an expression.

    ``print >>file, x``, a bare ``print``, ``print ("%s") % x`` and ``print (a), b`` are.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Expr):
            continue
        first = node.value.elts[0] if isinstance(node.value, ast.Tuple) and node.value.elts else node.value
        operand = first.left if isinstance(first, ast.BinOp) else first
        is_call = isinstance(operand, ast.Call)
        called = operand.func if isinstance(operand, ast.Call) else operand
        if isinstance(called, ast.Name) and called.id == "print" and not (is_call and operand is node.value):
            return True
    return False


# -- meaning ----------------------------------------------------------------------------------------------------------


def _means_the_same(file: FileUses) -> tuple[str, list[_Said]]:
    """The text with the edits of all parts made at once, and what they said."""
    edits: list[Edit] = []
    imports: list[str] = []
    notes: list[_Said] = []
    for name, found in _found(file):
        if isinstance(found, Remark):
            notes.append((name, file.place(found.node), found.what, "by hand" if found.by_hand else "good to know"))
        elif not overlap(found.edits, edits):
            edits += found.edits
            imports += found.imports
            notes.append((name, file.place(found.node), found.what, "change"))
    text = apply(file.source.text, [*edits, *headers.import_edits(file, imports)])
    return (text, notes) if _parses(text) else (file.source.text, [])


def _found(file: FileUses) -> Iterator[tuple[str, Change | Remark]]:
    for name, find in _PARTS:
        for found in find(file):
            yield name, found
