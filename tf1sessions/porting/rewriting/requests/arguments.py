"""The arguments of a call, by the names of its parameters."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NoReturn

from .request import NotPossible

__all__ = ["ArgumentLookup", "arguments"]


class ArgumentLookup(dict[str, ast.expr]):
    """The arguments of a call. To look up one that is missing raises NotPossible."""

    def __init__(self, call: ast.Call, given: dict[str, ast.expr]) -> None:
        super().__init__(given)
        self._call = call

    def __missing__(self, name: str) -> NoReturn:
        raise NotPossible(self._call, f"{_called(self._call)} does not get its {name}")


def arguments(call: ast.Call, parameters: Sequence[str]) -> ArgumentLookup:
    """Return the arguments of a call by the names of its parameters.

    Raises:
        NotPossible: They are handed on with stars, or are not those of the parameters.
    """
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        raise NotPossible(call, f"{_called(call)} gets its arguments with stars")
    if len(call.args) > len(parameters):
        raise NotPossible(call, f"{_called(call)} gets {len(call.args)} arguments by their order")
    found = dict(zip(parameters, call.args, strict=False))
    return ArgumentLookup(call, found | {each.arg: each.value for each in call.keywords if each.arg})


def _called(call: ast.Call) -> str:
    return f"{ast.unparse(call.func)}()"
