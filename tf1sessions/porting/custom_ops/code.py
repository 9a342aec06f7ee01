"""C++ source as rules see it: the text, and beside it the text without comments and the insides of strings."""

from __future__ import annotations

import re

__all__ = ["CppSource"]

_HIDDEN = re.compile(
    r"""
      //(?:[^\n\\]|\\\r?\n|\\.)*                                                  # a comment to the end of its line
    | /\*.*?(?:\*/|\Z)
    | (?<!\w)(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"            # a raw string
    | "(?:[^"\\\n]|\\\r?\n|\\.)*"
    | (?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)+'                                         # a character; 1'000 is a number
    """,
    re.DOTALL | re.VERBOSE,
)
_OPENING, _CLOSING = "([{", ")]}"


class CppSource:
    """A C++ source.

    Attributes:
        text: All of it.
        bare: As long as ``text``, with spaces for comments, strings and characters; ends of lines are kept. What a
            pattern finds here is code, at the same place in ``text``.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.bare = _HIDDEN.sub(lambda found: re.sub(r"[^\r\n]", " ", found[0]), text)

    def closing(self, opening: int) -> int | None:
        """Return where the bracket at ``opening`` is closed, or None where it is not."""
        depth = 0
        for place in range(opening, len(self.bare)):
            if self.bare[place] in _OPENING:
                depth += 1
            elif self.bare[place] in _CLOSING:
                depth -= 1
                if depth == 0:
                    return place
        return None

    def arguments(self, opening: int) -> list[str] | None:
        """Return the arguments between the bracket at ``opening`` and its end, or None where it has none.

        Also None where there is a ``//`` among them: a comment would take in what is put behind it.
        """
        closing = self.closing(opening)
        if closing is None or "//" in self.text[opening:closing]:
            return None
        cuts, depth = [opening], 0
        for place in range(opening + 1, closing):
            sign = self.bare[place]
            depth += (sign in _OPENING) - (sign in _CLOSING)
            if sign == "," and depth == 0:
                cuts.append(place)
        ends = [*cuts[1:], closing]
        texts = [self.text[start + 1 : end] for start, end in zip(cuts, ends, strict=True)]
        found = [re.sub(r"\\\r?\n", " ", text).strip() for text in texts]  # inside a macro lines are continued
        return found if found != [""] else []

    def receiver(self, dot: int) -> int:
        """Return where the expression begins whose member the ``.`` or ``->`` at ``dot`` takes: ``f(x)->a[0].b``."""
        place = dot
        while True:
            start = self._operand(place)
            if start == place:
                return place
            place = start
            joined = re.search(r"(?:\.|->|::)\s*\Z", self.bare[max(0, place - 40) : place])
            if joined is None:
                return place
            place -= len(joined[0])

    def _operand(self, end: int) -> int:
        """Return where a name with its calls and indices begins that ends at ``end``."""
        place = end - (len(self.bare[:end]) - len(self.bare[:end].rstrip()))
        while place and self.bare[place - 1] in ")]":
            opening = self._opening(place - 1)
            if opening is None:
                return end
            place = opening
        name = re.search(r"\w*\Z", self.bare[max(0, place - 200) : place])
        return place - len(name[0]) if name else place

    def _opening(self, closing: int) -> int | None:
        depth = 0
        for place in range(closing, -1, -1):
            if self.bare[place] in _CLOSING:
                depth += 1
            elif self.bare[place] in _OPENING:
                depth -= 1
                if depth == 0:
                    return place
        return None
