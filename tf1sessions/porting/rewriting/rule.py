"""Rules: each finds one kind of place in a file, and says how its text changes, or what is to be done by hand."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable

from ...source.edits import Edit
from ...source.uses import FileUses

__all__ = ["Change", "Remark", "Rule"]


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of a file's text.

    Attributes:
        node: What it is about; the change is reported at its line.
        what: The change in one line: ``"tf.contrib.layers: from tf1sessions.contrib"``.
        edits: Of the text; the change is made as a whole or not at all.
        imports: Import statements that the new text needs, in full. One that the file has is not added.
        places: Of a change of many places: each of them, and what it becomes. Reported instead of ``what``.
    """

    node: ast.AST
    what: str
    edits: tuple[Edit, ...]
    imports: tuple[str, ...] = ()
    places: tuple[tuple[ast.AST, str], ...] = ()


@dataclasses.dataclass(frozen=True)
class Remark:
    """Something that a rule saw and does not change.

    Attributes:
        node: What it is about.
        what: What is there and what to do, in one or two sentences.
        by_hand: Whether the program needs the reader's hand to run, or to compute the same; else it is good to know.
    """

    node: ast.AST
    what: str
    by_hand: bool = True


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule of a step.

    Attributes:
        name: For ``--explain`` and the page: ``"v1-import"``.
        what: What it does, as a sentence.
        find: Gives the changes and remarks for a file. It is called again on the changed file until no rule of its
            step gives a change, so a change must not match its own result.
    """

    name: str
    what: str
    find: Callable[[FileUses], Iterable[Change | Remark]]
