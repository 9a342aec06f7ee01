"""Reads notebooks as Python: the code cells of a ``.ipynb`` file, with magics and shell lines as calls.

Data flow: :func:`read` turns a file's text into its code cells; :func:`translate` turns a cell into Python, where
magics and shell lines become calls of ``get_ipython()``. What runs them is scripts/notebooks.py.

To change the code of a notebook, :func:`mask` gives all cells as one text of Python, in which a magic or shell line is
a statement with the line in a comment; :func:`unmask` takes the changed text apart again, and :func:`replace_cells`
puts the cells into the notebook.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import Any

from ..errors import ScriptUsageError

__all__ = [
    "Cell",
    "begins_cell",
    "cell_lines",
    "is_masked",
    "mask",
    "mask_lines",
    "read",
    "replace_cells",
    "translate",
    "unmask",
]


@dataclass(frozen=True)
class Cell:
    """A code cell. ``number`` counts the code cells that are not empty, from 1, as a notebook's In [1] does."""

    number: int
    source: str
    may_raise: bool = False


def read(text: str, name: str) -> list[Cell]:
    """The code cells of a notebook's text; ``name`` is for messages.

    Raises:
        ScriptUsageError: The text is not a notebook, or not one of Python.
    """
    try:
        notebook = json.loads(text)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        metadata = notebook.get("metadata", {})
        language = metadata.get("kernelspec", {}).get("language") or metadata.get("language_info", {}).get("name")
        found = _code_cells(cells)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ScriptUsageError(
            f"{name} is not a notebook: {error}", next_step="Give a .ipynb file that Jupyter can open."
        ) from error
    if not str(language or "python").lower().startswith(("python", "ipython")):
        raise ScriptUsageError(f"{name} is a notebook of {language}", next_step="Only Python notebooks can be run.")
    return found


def _code_cells(cells: Any) -> list[Cell]:
    found: list[Cell] = []
    for cell in cells:
        source = cell.get("source", cell.get("input", ""))
        source = source if isinstance(source, str) else "".join(source)
        source.encode()  # a ValueError, where JSON has half of a character
        if cell.get("cell_type") == "code" and source.strip():
            tags = cell.get("metadata", {}).get("tags", [])
            found.append(Cell(len(found) + 1, source, "raises-exception" in tags))
    return found


def translate(source: str) -> str:
    """A cell as Python. Lines keep their numbers; ``%magic``, ``!command`` and ``x = !command`` become calls.

    Example:
        >>> print(translate("!ls\\nx = 1"))
        get_ipython().system('ls')
        x = 1
    """
    first = re.match(r"\s*%%(\w+)[ \t]*(.*)\n?", source)
    if first:
        body = source[first.end() :]
        blank = "\n" * source[: first.end()].count("\n")
        if first.group(1) in ("time", "prun", "capture"):
            return blank + translate(body)
        return f"get_ipython().run_cell_magic({first.group(1)!r}, {first.group(2).strip()!r}, {body!r})"
    try:
        ast.parse(source)
    except SyntaxError:
        pass
    else:
        return source
    return "\n".join(_translate_line(line) for line in _joined(source.split("\n")))


def _joined(lines: list[str]) -> list[str]:
    """Shell and magic lines that end in a backslash, joined; empty lines keep the numbers of those after."""
    result: list[str] = []
    waiting = 0
    for line in lines:
        if waiting:
            result[-waiting] = result[-waiting][:-1] + " " + line.strip()
            result.append("")
            waiting = waiting + 1 if line.endswith("\\") else 0
            continue
        result.append(line)
        waiting = 1 if re.match(r"\s*[!%]", line) and line.endswith("\\") else 0
    return result


def _translate_line(line: str) -> str:
    # no two parts of the pattern match the same spaces: a line that begins with hundreds of them would take seconds
    found = re.match(r"(\s*)(?:(\w(?:[\w, ]*[\w,])?)\s*=\s*)?(!!?|%)(?!=)\s*(\w.*|[./~$\"'({].*)$", line)
    if found:
        indent, target, mark, rest = found.groups()
        assigned = f"{target} = " if target else ""
        if mark == "%":
            name, _, argument = rest.partition(" ")
            return f"{indent}{assigned}get_ipython().run_line_magic({name!r}, {argument.strip()!r})"
        return f"{indent}{assigned}get_ipython().{'getoutput' if target else 'system'}({rest!r})"
    found = re.match(r"(\s*)(\?{1,2}[\w.]+|[\w.]+\?{1,2})\s*$", line)
    return f"{found.group(1)}pass  # help" if found else line


# -- changing the code of a notebook ----------------------------------------------------------------------------------

_CELL = "# %% tf1sessions cell "
_MASKED = "  # tf1sessions masks "


def mask(cells: list[Cell]) -> str:
    """Return the cells as one text: a comment line before each, and every line that is not Python behind a comment.

    A cell with a cell magic is not Python and becomes comments as a whole, as does one that cannot be parsed.

    Example:
        >>> print(mask([Cell(1, "x = !ls")]))
        # %% tf1sessions cell 1
        x = None  # tf1sessions masks 'x = !ls'
    """
    return "\n".join(f"{_CELL}{cell.number}\n{_masked(cell.source)}" for cell in cells)


def _masked(source: str) -> str:
    lines = source.split("\n")
    translated = translate(source)
    try:
        ast.parse(translated)
        whole = source.lstrip().startswith("%%")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        whole = True
    if whole:
        return "\n".join(f"#{_MASKED}{line!r}" for line in lines)
    return _mask_lines(lines, translated)


def mask_lines(source: str) -> str | None:
    """Return a cell with its magic and shell lines masked, whether the rest can be parsed or not.

    None where the cell has a cell magic, and so is no Python.
    """
    return None if source.lstrip().startswith("%%") else _mask_lines(source.split("\n"), translate(source))


def _mask_lines(lines: list[str], translated: str) -> str:
    return "\n".join(
        line if line == new else f"{_placeholder(line) if new else '#'}{_MASKED}{line!r}"
        for line, new in zip(lines, translated.split("\n"), strict=True)
    )


def _placeholder(line: str) -> str:
    """A statement in place of a magic line, with its indentation and the names that it assigns."""
    found = re.match(r"(\s*)(?:(\w+(?:\s*,\s*\w+)*)\s*=)?", line)
    assert found is not None
    indent, target = found.groups()
    return f"{indent}{target.strip()} = None" if target else f"{indent}pass"


def unmask(text: str) -> dict[int, str]:
    """Return the source of each cell, by its number, from a masked text."""
    cells: dict[int, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith(_CELL):
            lines = cells[int(line.removeprefix(_CELL))] = []
        else:
            _, masked, original = line.partition(_MASKED)
            lines.append(ast.literal_eval(original) if masked else line)
    return {number: "\n".join(lines) for number, lines in cells.items()}


def begins_cell(line: str) -> bool:
    """Whether a line of a masked text stands for the beginning of a cell."""
    return line.startswith(_CELL)


def is_masked(line: str) -> bool:
    """Whether a line of a masked text stands for one that is no Python."""
    return _MASKED in line


def has_masked_cells(text: str) -> bool:
    """Whether a masked text has a cell that is masked as a whole: it is no Python 3, or has a cell magic."""
    return re.search(rf"^{_CELL}\d+\n#{_MASKED}", text, re.MULTILINE) is not None


def cell_lines(text: str) -> list[tuple[int, int]]:
    """Return for each line of a masked text the cell that it is in, and the line in it; the first one before all cells.

    Example:
        >>> cell_lines(mask([Cell(1, "x = 1"), Cell(2, "y = 2")]))
        [(1, 1), (1, 1), (2, 1), (2, 1)]
    """
    found: list[tuple[int, int]] = []
    cell, inner = 1, 1
    begun = False
    for line in text.split("\n"):
        if line.startswith(_CELL):
            cell, inner, begun = int(line.removeprefix(_CELL)), 0, True
        elif begun:
            inner += 1
        found.append((cell, max(1, inner)))
    return found


def replace_cells(text: str, sources: dict[int, str]) -> str:
    """Return a notebook's text with the sources of its code cells replaced; the rest of the text stays as it is.

    Args:
        text: The JSON text.
        sources: The source of each cell, by the number that :func:`read` gives it.
    """
    notebook = json.loads(text)
    cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
    number = 0
    for cell in cells:
        key = "source" if "source" in cell else "input"
        old = cell.get(key, "")
        joined = old if isinstance(old, str) else "".join(old)
        if cell.get("cell_type") == "code" and joined.strip():
            number += 1
            if sources[number] != joined:
                cell[key] = sources[number] if isinstance(old, str) else sources[number].splitlines(True)
    if notebook == json.loads(text):
        return text
    indent = re.match(r"\{\r?\n( *)", text)
    ascii_only = text.isascii()
    return json.dumps(notebook, indent=len(indent[1]) if indent else None, ensure_ascii=ascii_only) + (
        "\n" if text.endswith("\n") else ""
    )
