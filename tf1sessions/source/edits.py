"""Edits of a text at the places of syntax nodes: what is not edited stays as it is, formatting and comments included.

Nodes of :mod:`ast` give lines and UTF-8 columns. :class:`Positions` turns them into offsets in the text, :class:`Edit`
replaces what is between two offsets, and :func:`apply` makes all edits of a text at once.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable

__all__ = ["Edit", "Positions", "apply", "overlap"]


@dataclasses.dataclass(frozen=True, order=True)
class Edit:
    """Put ``text`` in place of the characters from ``start`` up to ``end``; an insertion where they are equal."""

    start: int
    end: int
    text: str


class Positions:
    """The offsets of lines and nodes in a text.

    Example:
        >>> text = "x = 1\\nñ = x + y\\n"
        >>> total = ast.parse(text).body[1].value
        >>> start, end = Positions(text).span(total)
        >>> text[start:end]
        'x + y'
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]

    def line_start(self, line: int) -> int:
        """Return where a line begins, counted from 1; the end of the text for the line after the last one."""
        return self._starts[line - 1] if line <= len(self._starts) else len(self.text)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a UTF-8 column of a line."""
        start = self.line_start(line)
        end = self.line_start(line + 1)
        content = self.text[start:end]
        return start + (column if content.isascii() else len(content.encode()[:column].decode()))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node, which has a position, begins and ends."""
        found: ast.expr = node  # type: ignore[assignment]  # an expression, statement, alias or keyword: all have these
        assert found.end_lineno is not None and found.end_col_offset is not None
        return self.offset(found.lineno, found.col_offset), self.offset(found.end_lineno, found.end_col_offset)

    def source(self, node: ast.AST) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Put ``text`` in place of a node."""
        return Edit(*self.span(node), text)


def overlap(edits: Iterable[Edit], others: Iterable[Edit]) -> bool:
    """Whether an edit of one collection and one of the other change the same characters.

    Two insertions at one place do not overlap, nor does an insertion at either end of a replacement.
    """
    others = list(others)
    return any(one.start < other.end and other.start < one.end for one in edits for other in others)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return ``text`` with all edits made. Insertions at one place are made in the order in which they are given.

    Raises:
        ValueError: Two edits overlap.
    """
    parts: list[str] = []
    end = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < end:
            raise ValueError(f"two edits overlap at {edit.start}: {edit.text!r}")
        parts += [text[end : edit.start], edit.text]
        end = edit.end
    return "".join([*parts, text[end:]])
