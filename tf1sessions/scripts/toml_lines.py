"""Finds the line of each key of a TOML text, and what would be too much for the parser, before it parses.

tomllib gives values without their lines, and takes time that grows with the square of a key's parts, and the stack for
nested brackets. One pass over the text, in time that grows with its length only, knows lines, parts and brackets; that
the text is TOML is left to tomllib: where it is none, the pass ends.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

__all__ = ["TOO_DEEP", "TOO_LONG", "TOO_MANY_PARTS", "TomlLines", "TooMuch"]

#: How many brackets may be open at a place, how many parts a key may have (``a.b.c`` has three), and how long a word
#: without quotes may be. Arbitrary: no job file needs more.
TOO_DEEP, TOO_MANY_PARTS, TOO_LONG = 16, 16, 1000

_KEY_PART = re.compile(r"""[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*""")
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)+")
_IN_VALUE = re.compile(r"""["'#\[\]{},=.\n]""")
_WORD = re.compile(rf"[0-9A-Za-z_+-]{{{TOO_LONG + 1}}}")
_ENDS = {
    '"""': re.compile(r'\\.|"""', re.DOTALL),
    "'''": re.compile(r"'''"),
    '"': re.compile(r'\\.|"|\n'),
    "'": re.compile(r"'|\n"),
}


class TooMuch(ValueError):
    """A text that the parser must not get. ``line`` is the line, from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


class TomlLines:
    """The lines of a TOML text's keys.

    Args:
        text: The text, which need not be TOML.

    Raises:
        TooMuch: Brackets, a key or a word are beyond the limits.

    Example:
        >>> lines = TomlLines('[[job]]\\nscript = "a.py"\\n[[job]]\\nscript = "b.py"\\n[job.grid]\\nrate = [1]\\n')
        >>> lines.of("job", 2, "grid", "rate"), lines.of("job", 2, "args"), lines.of("defaults")
        (6, 3, 1)
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._known: dict[tuple[str | int, ...], int] = {}
        for path, at in self._statements():
            for length in range(1, len(path) + 1):
                self._known.setdefault(path[:length], self._line(at))

    @property
    def last(self) -> int:
        """The number of the last line."""
        return len(self._starts) - (len(self._starts) > 1 and self._starts[-1] == len(self._text))

    def of(self, *path: str | int) -> int:
        """Returns the line of a key, or of what is nearest around it; tables of an array have numbers, from 1."""
        while path and path not in self._known:
            path = path[:-1]
        return self._known[path] if path else 1

    def _line(self, at: int) -> int:
        return bisect_right(self._starts, at)

    def _statements(self) -> Iterator[tuple[tuple[str | int, ...], int]]:
        """The full name of each header and each key at the beginning of a line, and where it begins."""
        text, at = self._text, 0
        header: tuple[str | int, ...] = ()
        tables: dict[tuple[str | int, ...], int] = {}
        while True:
            if blank := _BLANK.match(text, at):
                at = blank.end()
            if at == len(text):
                return
            begin = at
            brackets = 2 if text.startswith("[[", at) else int(text[at] == "[")
            parts, at = self._key(at + brackets)
            if not parts:
                return
            if not brackets:
                yield (*header, *parts), begin
                if not text.startswith("=", at):
                    return
                at = self._after_value(at + 1)
            else:
                path: tuple[str | int, ...] = ()
                for number, part in enumerate(parts):
                    path = (*path, part)
                    if brackets == 2 and number == len(parts) - 1:
                        tables[path] = tables.get(path, 0) + 1
                    if path in tables:
                        path = (*path, tables[path])
                header = path
                yield header, begin
                if not text.startswith("]" * brackets, at):
                    return
                at += brackets
            if at < 0:
                return

    def _key(self, at: int) -> tuple[list[str], int]:
        """The parts of a key, and where it ends."""
        parts: list[str] = []
        begin = at
        while found := _KEY_PART.match(self._text, at):
            parts.append(next(each for each in found.groups() if each is not None))
            at = found.end()
            if len(parts) > TOO_MANY_PARTS:
                raise TooMuch(self._line(begin), f"a key has more than {TOO_MANY_PARTS} parts")
            if not self._text.startswith(".", at):
                break
            at += 1
        return parts, at

    def _after_value(self, at: int) -> int:
        """Return the end of a value's line; -1 if it never ends."""
        text, depth, dots = self._text, 0, 0
        while found := _IN_VALUE.search(text, at):
            self._refuse_long_word(at, found.start())
            at, what = found.end(), found[0]
            if what in "\"'":
                at = self._after_string(found.start())
                if at < 0:
                    return -1
            elif what == "#":
                at = text.find("\n", at)
                if at < 0:
                    return -1
            elif what == "\n" and depth <= 0:
                return at
            elif what in "[{":
                depth += 1
                if depth > TOO_DEEP:
                    raise TooMuch(self._line(found.start()), f"brackets are nested more than {TOO_DEEP} deep")
            elif what in "]}":
                depth -= 1
            elif what == ".":
                dots += 1
                if dots > TOO_MANY_PARTS:
                    raise TooMuch(self._line(found.start()), f"a key has more than {TOO_MANY_PARTS} parts")
            if what in "[{,=\n":
                dots = 0
        self._refuse_long_word(at, len(text))
        return -1

    def _after_string(self, at: int) -> int:
        """Return the end of the string that begins here; -1 if it never ends."""
        text = self._text
        quote = text[at : at + 3] if text.startswith((text[at] * 3), at) else text[at]
        at += len(quote)
        while found := _ENDS[quote].search(text, at):
            at = found.end()
            if found[0] == "\n":
                return -1
            if found[0] == quote:
                while len(quote) == 3 and text.startswith(quote[0], at):  # two more may belong to the string
                    at += 1
                return at
        return -1

    def _refuse_long_word(self, begin: int, end: int) -> None:
        if end - begin > TOO_LONG and _WORD.search(self._text, begin, end):
            raise TooMuch(self._line(begin), f"a word has more than {TOO_LONG:,} characters, and no quotes")
