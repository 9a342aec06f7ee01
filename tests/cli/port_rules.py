"""Small rules of a port, for the tests of its command; as a program, the command with them alone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from tf1sessions.cli.main import cli
from tf1sessions.porting.rewriting import steps
from tf1sessions.porting.rewriting.rule import Change, Remark, Rule
from tf1sessions.source.edits import Edit
from tf1sessions.source.uses import FileUses


def renamed(old: str, new: str) -> Rule:
    """A rule that renames an attribute."""

    def find(file: FileUses) -> Iterator[Change]:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Attribute) and node.attr == old:
                _, end = file.positions.span(node)
                yield Change(node, f"{old} is {new}", (Edit(end - len(old), end, new),))

    return Rule(f"rename-{old}", f"Calls {old} by its name of today, {new}.", find)


def _remarks(file: FileUses) -> Iterator[Remark]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and node.attr in ("gone", "slow"):
            yield Remark(node, f"{node.attr}: write it anew", by_hand=node.attr == "gone")


RULES = {
    "py3": (),
    "v1": (renamed("old", "middle"), Rule("by-hand", "Remarks.", _remarks)),
    "clean": (renamed("middle", "new"),),
}

if __name__ == "__main__":
    steps.RULES.update(RULES)
    cli(["port", *sys.argv[1:]], prog_name="tf1sessions")
