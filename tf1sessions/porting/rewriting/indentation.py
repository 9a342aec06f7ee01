"""Statements moved in or out of a block: edits of what their lines begin with."""

from __future__ import annotations

import io
import itertools
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator

from ...source.edits import Edit
from ...source.uses import FileUses

__all__ = ["Indentation", "lines_in_strings"]


class Indentation:
    """The distance by which the lines of a file are moved.

    Args:
        file: The file.
    """

    def __init__(self, file: FileUses) -> None:
        self._file = file
        self._in: dict[int, list[int]] = defaultdict(list)  # line -> the first lines of the blocks that it is put into
        self._out: dict[int, int] = defaultdict(int)
        self._texts = file.source.text.splitlines(keepends=True)
        self._has_tabs = any(line.startswith("\t") for line in self._texts)
        self._spaces = " " * self._width()

    def _width(self) -> int:
        widths = [len(line) - len(line.lstrip(" ")) for line in self._texts if line.strip()]
        steps = [after - before for before, after in itertools.pairwise(widths) if after > before]
        return max(2, min(max(set(steps), key=steps.count), 8)) if steps else 4

    def unit(self, lead: str) -> str:
        """Return what one level more is behind an indentation, as the file has it: tabs and spaces do not mix."""
        return "\t" if self._has_tabs and lead.strip("\t") == "" else self._spaces

    def move_in(self, first: int, last: int) -> None:
        """Move lines in by one level, behind the indentation of the first; lines are counted from 1."""
        for line in range(first, last + 1):
            self._in[line].append(first)

    def move_out(self, first: int, last: int, characters: int) -> None:
        """Move lines out by so many characters."""
        for line in range(first, last + 1):
            self._out[line] += characters

    def around(self, line: int) -> str:
        """Return the indentation of the block that this line's new block stands in."""
        text = self._texts[line - 1]
        lead = text[: len(text) - len(text.lstrip(" \t"))]
        return lead[: max(0, len(lead) - self._out[line])]

    def inside(self, line: int) -> str:
        """Return the indentation of what is put before a line: it is in the blocks that begin further up."""
        return self._moved(line, [first for first in self._in.get(line, ()) if first < line])

    def _moved(self, line: int, blocks: Iterable[int]) -> str:
        new = self.around(line)
        for first in blocks:
            base = self.around(first)
            new = new[: len(base)] + self.unit(base) + new[len(base) :]
        return new

    def edits(self, replaced: Iterable[Edit]) -> Iterator[Edit]:
        """Yield the edits, without lines that begin inside of a text or of what is replaced anyway."""
        spans = [(edit.start, edit.end) for edit in replaced]
        inside = set(lines_in_strings(self._file.source.text))
        for line in sorted({*self._in, *self._out}):
            text = self._texts[line - 1]
            start = self._file.positions.line_start(line)
            lead = len(text) - len(text.lstrip(" \t"))
            if not text.strip() or line in inside or any(one < start + lead and start < end for one, end in spans):
                continue
            new = self._moved(line, self._in.get(line, ()))
            if new != text[:lead]:
                yield Edit(start, start + lead, new)


def lines_in_strings(text: str) -> Iterator[int]:
    """Yield the lines that begin inside of a string of several lines, counted from 1."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.start[0] != token.end[0] and token.type not in (tokenize.NEWLINE, tokenize.NL):
                yield from range(token.start[0] + 1, token.end[0] + 1)
    except (tokenize.TokenError, IndentationError):
        return
