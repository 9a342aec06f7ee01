"""Reports as lines of text: rows in columns, long texts over several lines, sizes. Pure functions."""

from __future__ import annotations

import logging
import reprlib
import shlex
import textwrap
from collections.abc import Iterable, Sequence

__all__ = [
    "ROWS",
    "PrintableFormatter",
    "amount",
    "brief",
    "counted",
    "figures",
    "printable",
    "quoted",
    "size",
    "some",
    "table",
    "text_of",
    "wrapped",
]

_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 60
_BRIEF_BITS = 200

#: How many rows of a table are shown. Arbitrary.
ROWS = 12


def text_of(error: BaseException) -> str:
    """Return the text of an exception, or why it has none: the ``__str__`` of a program's own may raise as well.

    Example:
        >>> text_of(ValueError("no such step"))
        'no such step'
    """
    try:
        return str(error)
    except BaseException as other:  # noqa: BLE001 - whatever a foreign __str__ raises; the error itself is reported
        return f"its str() raises {type(other).__name__}"


def printable(text: str, keep: str = "") -> str:
    r"""Returns a text that a terminal only shows: what is not printable is escaped as in a string of Python.

    Names of jobs, models, nodes, files and processes are anybody's. Escaped are control characters (ESC, and those of
    C1 that do the same in one character), line ends, marks that change the direction of writing, and bytes of file
    names that are no text.

    Args:
        text: Any text.
        keep: Characters that stay as they are, such as ``"\n"`` in a text of several lines.

    Example:
        >>> print(printable("\x1b[2Jjob\u202e \udcff"))
        \x1b[2Jjob\u202e \udcff
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in keep else each.encode("unicode_escape").decode() for each in text
    )


def brief(value: object) -> str:
    """Returns a value as it stands in a program, cut where it is long: for messages, which must stay readable.

    Example:
        >>> print(brief("x" * 1000), brief([1] * 1000), brief(10**5000), sep="\\n")
        'xxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxx'
        [1, 1, 1, 1, 1, 1, ...]
        a number of 16610 bits
    """
    if isinstance(value, int) and value.bit_length() > _BRIEF_BITS:
        return f"a number of {value.bit_length()} bits"
    return _BRIEF.repr(value)


def quoted(text: str) -> str:
    r"""Returns a text as a word for a shell to read: in quotes where it needs them, and always printable.

    What is not printable is written as bash, zsh and ksh read it, ``$'...'``, byte for byte.

    Example:
        >>> print(quoted("run.toml"), quoted("a b"), quoted("\x1b[2J"))
        run.toml 'a b' $'\033[2J'
    """
    if text.isprintable():
        return shlex.quote(text)
    parts = []
    for each in text:
        if each in "\\'":
            parts.append("\\" + each)
        elif each.isprintable():
            parts.append(each)
        else:
            errors = "surrogateescape" if "\udc80" <= each <= "\udcff" else "surrogatepass"
            parts += [f"\\{byte:03o}" for byte in each.encode("utf-8", errors)]
    return f"$'{''.join(parts)}'"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns; the last column is as wide as it is."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]


def figures(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A table under headers: columns of numbers are aligned right, as their headers are, and others left.

    Args:
        headers: One for each column.
        rows: Integers are shown with thousands' commas, floats with a digit, None as ``?``.

    Example:
        >>> print(*figures(["queue", "items", "state"], [["numbers", 1200, "open"], ["rest", 7, "ended"]]), sep="\\n")
        queue    items  state
        numbers  1,200  open
        rest         7  ended
    """
    shown = [[_figure(cell) for cell in row] for row in rows]
    right = [bool(rows) and all(row[column][:1] in "?-0123456789" for row in shown) for column in range(len(headers))]
    widths = [max(map(len, column)) for column in zip(headers, *shown, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in [headers, *shown]
    ]


def _figure(cell: object) -> str:
    if cell is None:
        return "?"
    return f"{cell:,.1f}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else str(cell)


def some(rows: Sequence[str], total: int | None = None) -> list[str]:
    """The first rows, and how many more there are of all, or of a total."""
    more = (len(rows) if total is None else total) - ROWS
    return [*rows[:ROWS], f"and {more:,} more"] if more > 0 else list(rows)


def wrapped(texts: Iterable[str], width: int) -> list[str]:
    """Texts as a list, each over as many lines as it takes; a word that is longer than a line stays whole."""
    return [
        line
        for text in texts
        for line in textwrap.wrap(
            text, width - 2, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
        )
    ]


def counted(count: int, what: str) -> str:
    """``1, "node"`` -> ``1 node``; ``2000, "node"`` -> ``2,000 nodes``."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def size(count: int) -> str:
    """``1234567`` -> ``1.2 MB``."""
    return _scaled(count, (" bytes", " kB", " MB", " GB", " TB"))


def amount(count: int) -> str:
    """``1234567`` -> ``1.2 million``."""
    return _scaled(count, ("", " thousand", " million", " billion", " trillion", " quadrillion"))


def _scaled(count: int, units: Sequence[str]) -> str:
    value, power = float(count), 0
    while value >= 999.5 and power < len(units) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.{1 if power and value < 9.95 else 0}f}{units[power]}"


class PrintableFormatter(logging.Formatter):
    """Messages of which no name of a file, folder, thread or request can steer the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), keep="\n")
