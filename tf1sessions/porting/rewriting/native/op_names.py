"""The names that TensorFlow 1 gives operations: a summary's tag is one, so that it may get a number."""

from __future__ import annotations

import ast

from .kinds import Kinds
from .rest import calls_inner_first
from .statements import Item

__all__ = ["OpNames"]

_SCOPES = ("tf.name_scope", "tf.variable_scope")
#: Functions of which an operation gets its name where the program gives it none; other names are no one's tag.
_OWN_NAMES = {f"tf.reduce_{each}": each for each in ("mean", "sum", "max", "min", "prod", "any", "all")}


class OpNames:
    """The names that are taken where the walk over the statements is, as far as they are written out.

    TensorFlow 1 takes ``loss`` and ``Loss`` for the same name, and calls the second one ``Loss_1``. What functions of
    the program take is not known.
    """

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._taken: dict[str, int] = {}
        self._scopes: dict[ast.With, str | None] = {}  # None: the name of one is computed

    def note(self, item: Item, but: tuple[ast.Call, ...]) -> None:
        """Note the names that a statement takes, those of some calls left out."""
        scope = self.scope(item)
        for call in calls_inner_first(item.statement):
            symbol = self._kinds.symbol(call.func) or ""
            if scope is None or call in but or not symbol.startswith("tf."):
                continue
            given = next((each.value for each in call.keywords if each.arg == "name"), None)
            if given is None and symbol == "tf.get_variable" and call.args:
                given = call.args[0]
            name = given.value if isinstance(given, ast.Constant) else _OWN_NAMES.get(symbol)
            if isinstance(name, str):
                self.unique(scope, name)

    def scope(self, item: Item) -> str | None:
        """The names of the scopes around a statement, each with a slash; None where one is computed."""
        path: str | None = ""
        for block in item.context:
            if block not in self._scopes:
                self._scopes[block] = self._entered(path, block)
            path = self._scopes[block]
        return path

    def _entered(self, path: str | None, block: ast.With) -> str | None:
        for each in block.items:
            call = each.context_expr
            if path is None or not isinstance(call, ast.Call) or self._kinds.symbol(call.func) not in _SCOPES:
                continue
            given = next(iter([*call.args, *(one.value for one in call.keywords)]), None)
            is_written = isinstance(given, ast.Constant) and isinstance(given.value, str)
            path = f"{self.unique(path, given.value)}/" if is_written else None  # type: ignore[union-attr]
        return path

    def unique(self, scope: str, name: str) -> str:
        """Return the name as TensorFlow 1 writes it, and take it."""
        key = base = f"{scope}{name}".lower()
        number = 0
        while key in self._taken:
            self._taken[base] += 1
            number = self._taken[base]
            key = f"{base}_{number}"
        self._taken[key] = 0
        return f"{scope}{name}_{number}" if number else f"{scope}{name}"
