"""The texts of a file's statements and expressions with their changes, to be written at another place."""

from __future__ import annotations

import ast
import functools
import io
import itertools
import re
import tokenize
from collections.abc import Iterable

from ....source.edits import Edit, apply
from ....source.notebooks import begins_cell
from ....source.uses import FileUses
from ..indentation import lines_in_strings
from ..requests.request import NotPossible

__all__ = ["INDENT", "MARK", "VERBATIM", "Texts", "indented", "with_spaces"]

INDENT = "    "
#: What a line begins with that is inside of a string, until the file is written: it is not moved in or out.
VERBATIM = "\ufdd0"  # no character: no text has it
MARK = "\0"  # around a name that is written otherwise in the constructor than in the call


def indented(lines: Iterable[str], depth: int = 1, lead: str = INDENT) -> list[str]:
    """Lines moved in."""
    return [lead * depth + line if line.strip() and not line.startswith(VERBATIM) else line for line in lines]


def with_spaces(lines: Iterable[str]) -> list[str]:
    """Lines that are indented by spaces where they had tabs: what is written around them has spaces."""
    return [re.sub(r"^[ \t]+", lambda found: found[0].replace("\t", INDENT), line) for line in lines]


class Texts:
    """The new texts of a file's nodes.

    Args:
        file: The file.
    """

    def __init__(self, file: FileUses) -> None:
        self.file = file
        self._edits: list[Edit] = []
        self._deleted: list[Edit] = []
        self.lines = file.source.text.splitlines()
        self._comment_lines = _comment_lines(file.source.text)
        self._commented: set[ast.stmt] = set()  # statements that were written with all comments

    @functools.cached_property
    def tensorflow(self) -> str:
        """The name of TensorFlow in the file."""
        names = [each.bound for each in self.file.imports if each.meaning == "tensorflow" and each.bound != "*"]
        return names[0] if names else "tf"

    def replace(self, node: ast.AST, text: str) -> None:
        """Have a node become a text, whatever is in it.

        Raises:
            NotPossible: It is inside of an f-string.
        """
        self._check_place(node)
        edit = self.file.positions.replace(node, text)
        if any(each.start <= edit.start and edit.end <= each.end and each != edit for each in self._edits):
            if not any(each.start == edit.start and each.end == edit.end for each in self._edits):
                raise NotPossible(node, "An expression would be changed that is a part of a changed one")
        self._edits = [each for each in self._edits if not (edit.start <= each.start and each.end <= edit.end)]
        self._edits.append(edit)

    def replace_end(self, node: ast.expr, part: ast.expr, text: str) -> None:
        """Have what a node has behind its first part become a text; what is in that part may change besides.

        Raises:
            NotPossible: It is inside of an f-string.
        """
        self._check_place(node)
        (_, start), (_, end) = self.file.positions.span(part), self.file.positions.span(node)
        self._edits.append(Edit(start, end, text))

    def _check_place(self, node: ast.AST) -> None:
        """Refuse a place in an f-string, where Python 3.11 does not know the places of nodes."""
        inside = itertools.takewhile(lambda each: not isinstance(each, ast.stmt), self.file.around(node))
        if any(isinstance(each, ast.JoinedStr) for each in inside):
            raise NotPossible(node, "An f-string has something of the graph in it")

    def put_before(self, statement: ast.stmt, lines: Iterable[str]) -> None:
        """Put lines right before a statement, or the one around it that begins its line. Called after all replacing."""
        around = [statement, *(each for each in self.file.around(statement) if isinstance(each, ast.stmt))]
        place = next(each for each in around if self._begins_line(each))
        at, _ = self.file.positions.span(place)
        text = "".join(f"{line}{self.file.source.newline}{self.lead(place)}" for line in lines)
        self._edits.append(Edit(at, at, text))

    def _begins_line(self, statement: ast.stmt) -> bool:
        """Whether a statement is the first of its line, and no ``elif``."""
        line = self.lines[statement.lineno - 1].lstrip(" \t")
        at, _ = self.file.positions.span(statement)
        is_first = at == self.file.positions.line_start(statement.lineno) + len(self.lead(statement))
        return is_first and not (isinstance(statement, ast.If) and line.startswith("elif"))

    def add_argument(self, call: ast.Call, name: str) -> None:
        """Have a call give one more argument, which is called as its parameter is."""
        _, end = self.file.positions.span(call)
        before = self.file.source.text[: end - 1].rstrip()
        has_stars = any(isinstance(each, ast.Starred) for each in call.args)
        separator = "" if before[-1] in "(," else ", "
        self._edits.append(Edit(end - 1, end - 1, f"{separator}{name}={name}" if has_stars else separator + name))

    def delete(self, statement: ast.stmt) -> None:
        """Have the lines of a statement go."""
        positions = self.file.positions
        last = statement.end_lineno or statement.lineno
        self._deleted.append(Edit(positions.line_start(statement.lineno), positions.line_start(last + 1), ""))

    def of(self, node: ast.AST) -> str:
        """Return the new text of an expression."""
        return self._between(*self.file.positions.span(node))

    def _between(self, start: int, end: int) -> str:
        inside = [edit for edit in self.edits if start <= edit.start and edit.end <= end]
        if not any(start <= edit.start and edit.end <= end for edit in self._deleted):  # a part of what is deleted
            inside = [edit for edit in self._edits if start <= edit.start and edit.end <= end]
        moved = [Edit(edit.start - start, edit.end - start, edit.text) for edit in inside]
        return apply(self.file.source.text[start:end], moved)

    @property
    def edits(self) -> list[Edit]:
        """All changes, without those in deleted lines."""
        kept = [
            edit
            for edit in self._edits
            if not any(gone.start <= edit.start and edit.end <= gone.end for gone in self._deleted)
        ]
        return kept + self._deleted

    def first_line(self, statement: ast.stmt) -> int:
        """The line that a statement begins on, with its decorators and the comments right above it."""
        line = min(int(each.lineno) for each in [statement, *getattr(statement, "decorator_list", [])])
        while line - 1 in self._comment_lines:
            line -= 1
        return line

    def statement(self, statement: ast.stmt) -> list[str]:
        """The lines of a statement and the comments right above it, without its indentation."""
        first, last = self.first_line(statement), statement.end_lineno or statement.lineno
        positions = self.file.positions
        text = self._between(positions.line_start(first), positions.line_start(last + 1))
        lead = len(self.lead(statement))
        inside = set(lines_in_strings(text.replace(MARK, "")))  # of which Python 3.13 makes no tokens
        return [
            VERBATIM + line if number in inside else line[lead:] if not line[:lead].strip() else line.lstrip()
            for number, line in enumerate(text.splitlines(), 1)
        ]

    def with_comments(self, statement: ast.stmt) -> list[str]:
        """The lines of a statement, the first time with all comments that belong to it.

        Those are the comments up to the statement before, but for what stands right below that, and those right below
        the statement itself.
        """
        if statement in self._commented:
            return self.statement(statement)
        self._commented.add(statement)
        column = len(self.lead(statement))
        above: list[str] = []
        line = self.first_line(statement) - 1
        while line > 0 and (line in self._comment_lines or not self.lines[line - 1].strip()):
            above.append(self.lines[line - 1].strip())
            line -= 1
        while line > 0 and above and above[-1] and not _opens_block(self.lines[line - 1]):
            above.pop()  # right below the statement before
        below: list[str] = []
        line = (statement.end_lineno or statement.lineno) + 1
        while line in self._comment_lines and len(self.lines[line - 1]) - len(self.lines[line - 1].lstrip()) == column:
            below.append(self.lines[line - 1].strip())
            line += 1
        if line <= len(self.lines) and self.lines[line - 1][:column].strip() == "" and self.lines[line - 1].strip():
            below = []  # right above the next one
        return [*(each for each in reversed(above) if each), *self.statement(statement), *below]

    def lead(self, statement: ast.stmt) -> str:
        """The white space that a statement's first line begins with."""
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip(" \t"))]


def _opens_block(line: str) -> bool:
    return line.split("#")[0].rstrip().endswith(":")


def _comment_lines(text: str) -> set[int]:
    """The lines that have a comment and nothing else."""
    lines = text.splitlines()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError):
        return set()
    comments = [each.start for each in tokens if each.type == tokenize.COMMENT]
    own = {line for line, column in comments if not lines[line - 1][:column].strip()}
    return {line for line in own if not begins_cell(lines[line - 1])}
