"""Settings that a session was made with, of which nothing is left to use them."""

from __future__ import annotations

import ast

from ....source.uses import FileUses
from .kinds import Kinds

__all__ = ["LEFT_OUT", "unused_settings"]

#: What is said where they go.
LEFT_OUT = "Settings of a session, which a tf.function has none of, are left out: tf.config has those that still count."
_MESSAGES = frozenset(["tf.ConfigProto", "tf.GPUOptions", "tf.GraphOptions", "tf.OptimizerOptions"])


def unused_settings(file: FileUses, kinds: Kinds) -> list[ast.stmt]:
    """The statements that make messages of settings, or set their fields, where nothing else reads these."""
    made = {name for name, binders in file.bound.items() if all(_makes(file, kinds, each) for each in binders)}
    uses = {name: [each for each in ast.walk(file.tree) if _is_read(each, name)] for name in made}
    unused = set(made)
    while True:  # those that are read elsewhere are used, and so are those that the former are made of
        gone = {file.statement(each) for name in unused for each in file.bound[name]}
        used = {name for name in unused if not all(_is_setting(file, kinds, each, gone) for each in uses[name])}
        if not used:
            gone |= {file.statement(each) for name in unused for each in uses[name]}
            return sorted(gone, key=lambda each: each.lineno)
        unused -= used


def _is_read(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _makes(file: FileUses, kinds: Kinds, node: ast.AST) -> bool:
    """Whether what binds a name is ``name = tf.ConfigProto(...)``."""
    statement = file.parents.get(node)
    if (
        not isinstance(statement, ast.Assign)
        or statement.targets != [node]
        or not isinstance(statement.value, ast.Call)
    ):
        return False
    return kinds.symbol(statement.value.func) in _MESSAGES and _is_plain(kinds, statement)


def _is_setting(file: FileUses, kinds: Kinds, node: ast.AST, gone: set[ast.stmt]) -> bool:
    """Whether a message is read to set a field, ``config.gpu_options.allow_growth = True``, or to make another one."""
    if _makes_another(file, kinds, node):
        return file.statement(node) in gone
    while isinstance(file.parents[node], ast.Attribute):
        node = file.parents[node]
    statement = file.parents[node]
    return isinstance(statement, ast.Assign) and statement.targets == [node] and _is_plain(kinds, statement)


def _makes_another(file: FileUses, kinds: Kinds, node: ast.AST) -> bool:
    statement = file.statement(node)
    return isinstance(statement, ast.Assign) and any(_makes(file, kinds, each) for each in statement.targets)


def _is_plain(kinds: Kinds, statement: ast.stmt) -> bool:
    """Whether a statement calls nothing but what makes such messages."""
    return all(kinds.symbol(each.func) in _MESSAGES for each in ast.walk(statement) if isinstance(each, ast.Call))
