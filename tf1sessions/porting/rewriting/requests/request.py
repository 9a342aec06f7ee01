"""One request to a session: what it fetches and feeds, and what the function is called that it becomes."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable

from ....source.uses import FileUses
from .graph_code import GraphCode, called_name

__all__ = ["NotPossible", "Request", "function_name", "names_in", "refuse_code_in_texts"]

_MOST_NAMES = 3


class NotPossible(Exception):
    """The reason why a program stays at the step before, and where that is seen."""

    def __init__(self, node: ast.AST, what: str) -> None:
        super().__init__(what)
        self.node = node
        self.what = what


def refuse_code_in_texts(file: FileUses) -> None:
    """Refuse a file with code in texts: what such code uses has to keep its name and its meaning.

    Raises:
        NotPossible: A text that is run as code has a name of the file in it.
    """
    for name, node in file.names_in_texts.items():
        raise NotPossible(node, f"A text that is run as code uses {name}")


@dataclasses.dataclass(frozen=True)
class Request:
    """The fetches and feeds of a call.

    Attributes:
        call: ``session.run(...)``, ``tensor.eval(...)``, ``operation.run(...)`` or ``tf.train.global_step(...)``.
        fetches: Its fetches, as one expression.
        feed: Its feed_dict, as one expression; None for none.
        session: The expression that is the session; None for the default one.
    """

    call: ast.Call
    fetches: ast.expr
    feed: ast.expr | None
    session: ast.expr | None

    @classmethod
    def of(cls, code: GraphCode, file: FileUses, call: ast.Call) -> Request:
        """Read a call for which :meth:`GraphCode.is_request` holds."""
        if code.symbol(file, call.func) == "tf.train.global_step":
            return cls(call, call.args[1], None, call.args[0])
        assert isinstance(call.func, ast.Attribute)
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        base = call.func.value
        session: ast.expr | None = base
        if call.func.attr == "run" and (code.is_session(base) or code.is_new_session(file, base)):
            given = [*call.args, *(named[name] for name in ("fetches",) if name in named)]
            if not given:
                raise NotPossible(call, "A request names no fetches")
            fetches, rest = given[0], given[1:]
        else:
            sessions = [each for each in call.args if code.is_session(each)]  # variable.eval(session), by its place
            rest = [each for each in call.args if each not in sessions]
            fetches, session = base, named.get("session", sessions[0] if sessions else None)
        feed = named.get("feed_dict", rest[0] if rest else None)
        if isinstance(feed, ast.Constant) and feed.value is None:
            feed = None
        return cls(call, fetches, feed, session)


def names_in(expressions: Iterable[ast.expr]) -> set[str]:
    """The names in some expressions."""
    return {node.id for each in expressions for node in ast.walk(each) if isinstance(node, ast.Name)}


def function_name(fetches: ast.expr) -> str:
    """A name that says what is fetched.

    Example:
        >>> function_name(ast.parse("[train_op, model.loss]").body[0].value)
        'run_train_op_and_loss'
    """
    leaves = [fetches]
    if isinstance(fetches, ast.List | ast.Tuple):
        leaves = fetches.elts
    elif isinstance(fetches, ast.Dict):
        leaves = fetches.values
    names = list(dict.fromkeys(map(_short_name, leaves)))
    if len(names) == 1 and isinstance(leaves[0], ast.Call) and re.search("(?<!un)initial", names[0]):
        return "initialize"
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1}_more"]
    return "run_" + "_and_".join(names)


def _short_name(node: ast.expr) -> str:
    found: str | None = None
    if isinstance(node, ast.Call):
        found = called_name(node)
    elif isinstance(node, ast.Name):
        found = node.id
    elif isinstance(node, ast.Attribute):
        found = node.attr
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        found = re.sub(r"\W+", "_", node.value.partition(":")[0])
    elif isinstance(node, ast.Subscript):
        return _short_name(node.value)
    return (found or "").strip("_") or "result"
