"""The replacement of a use of a name."""

from __future__ import annotations

import ast
import dataclasses

from ....source.edits import Edit

__all__ = ["Replacement"]


@dataclasses.dataclass(frozen=True)
class Replacement:
    """The replacement of a use.

    Attributes:
        node: What ``text`` is put in place of.
        text: What stands there then.
        edits: Of the arguments of its call.
        imports: Statements that ``text`` needs.
    """

    node: ast.AST
    text: str
    edits: tuple[Edit, ...] = ()
    imports: tuple[str, ...] = ()
