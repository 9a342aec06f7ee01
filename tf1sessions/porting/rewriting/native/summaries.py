"""Summaries: requests give their values, and a function writes these with tf.summary."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence

from ..requests.arguments import arguments
from ..requests.request import NotPossible
from .kinds import Kind, Kinds
from .statements import Item
from .texts import INDENT, Texts, indented

__all__ = ["SUMMARIES", "SummaryCall", "is_merge", "merged", "numbered", "summary", "writing_function"]

#: Names of TensorFlow that make one summary -> how many arguments tf.summary's function of that name takes as they are.
SUMMARIES = frozenset(["tf.summary.scalar", "tf.summary.histogram", "tf.summary.image", "tf.summary.audio"])
_MERGES = frozenset(["tf.summary.merge_all", "tf.summary.merge"])


@dataclasses.dataclass(frozen=True)
class SummaryCall:
    """One summary.

    Attributes:
        function: The function of tf.summary that writes it.
        name: The expression of its tag.
        literal: The text of a tag that is written out, behind the scopes of names around it, as TensorFlow 1 wrote it.
        value: The expression of what it shows.
        names: The names that a statement binds to it.
        loop: The loop over variables that makes one of each; then the value is a variable.
    """

    function: str
    name: ast.expr
    literal: str
    value: ast.expr
    names: frozenset[str]
    loop: ast.For | None = None

    def tag(self, texts: Texts) -> str:
        """The text of its tag."""
        return self.literal or texts.of(self.name)


def summary(kinds: Kinds, texts: Texts, item: Item) -> list[SummaryCall]:
    """Read the summaries that a statement makes; those that a loop makes of variables are taken out of it.

    Raises:
        NotPossible: It makes one in another loop or a condition, or with arguments that tf.summary has not.
    """
    found = []
    for call in ast.walk(item.statement):
        if not isinstance(call, ast.Call) or kinds.symbol(call.func) not in SUMMARIES:
            continue
        parent = texts.file.parents[call]
        loop = item.statement if isinstance(item.statement, ast.For) and item.kind < Kind.CONSTANT else None
        is_plain = parent is item.statement and isinstance(parent, ast.Expr | ast.Assign)
        is_in_loop = loop is not None and isinstance(parent, ast.Expr) and parent in loop.body
        if not is_plain and not is_in_loop:
            raise NotPossible(call, "A summary is made inside of a loop or another expression")
        if is_in_loop:
            assert isinstance(parent, ast.Expr)
            texts.delete(parent)
        found.append(_read(kinds, texts, call, frozenset(item.binds), loop if is_in_loop else None))
    return found


def _read(kinds: Kinds, texts: Texts, call: ast.Call, names: frozenset[str], loop: ast.For | None) -> SummaryCall:
    given = {{"values": "tensor"}.get(name, name): value for name, value in arguments(call, ("name", "tensor")).items()}
    if set(given) - {"collections", "family"} != {"name", "tensor"}:
        raise NotPossible(call, "A summary has arguments beside its name and its value")
    symbol = kinds.symbol(call.func)
    assert symbol is not None
    literal = _literal(kinds, texts, call, given["name"])
    return SummaryCall(symbol.removeprefix("tf.summary."), given["name"], literal, given["tensor"], names, loop)


def _literal(kinds: Kinds, texts: Texts, call: ast.Call, name: ast.expr) -> str:
    """The text of a tag behind the names of the scopes around it; empty where one of them is not written out."""
    scopes: list[str] = []
    for block in texts.file.around(call):
        for item in reversed(block.items) if isinstance(block, ast.With) else []:
            scope = item.context_expr
            if isinstance(scope, ast.Call) and kinds.symbol(scope.func) in ("tf.name_scope", "tf.variable_scope"):
                written = next(iter([*scope.args, *(each.value for each in scope.keywords)]), None)
                scopes.append(str(written.value) if isinstance(written, ast.Constant) else "")
    if not all(scopes) or not isinstance(name, ast.Constant):
        return ""
    quote = texts.of(name)[0] if texts.of(name)[:1] in "'\"" else '"'
    return f"{quote}{'/'.join([*reversed(scopes), str(name.value)])}{quote}"


def numbered(texts: Texts, found: Sequence[SummaryCall]) -> list[SummaryCall]:
    """Give each a tag of its own, as TensorFlow 1 does: ``mean``, ``mean_1``.

    Raises:
        NotPossible: Two have the same tag, which the program computes.
    """
    taken: set[str] = set()
    new = []
    for each in found:
        tag, number = each.tag(texts), 0
        while tag in taken and each.loop is None:
            if not each.literal:
                raise NotPossible(each.value, "Two summaries have the same tag, which the program computes")
            number += 1
            tag = f"{each.literal[:-1]}_{number}{each.literal[-1]}"
        taken.add(tag)
        new.append(dataclasses.replace(each, literal=tag if each.literal else ""))
    return new


def is_merge(kinds: Kinds, node: ast.AST | None) -> bool:
    """Whether an expression merges summaries."""
    return isinstance(node, ast.Call) and kinds.symbol(node.func) in _MERGES


def merged(kinds: Kinds, call: ast.Call, summaries: Sequence[SummaryCall]) -> list[SummaryCall]:
    """The summaries that a call merges.

    Raises:
        NotPossible: It merges some that are not known by a name.
    """
    if kinds.symbol(call.func) == "tf.summary.merge_all":
        return list(summaries)
    if not call.args or not isinstance(call.args[0], ast.List | ast.Tuple):
        raise NotPossible(call, "Summaries are merged that are listed elsewhere")
    found = []
    for each in call.args[0].elts:
        named = [one for one in summaries if isinstance(each, ast.Name) and each.id in one.names]
        if len(named) != 1:
            raise NotPossible(each, "A summary is merged that has no name")
        found += named
    return found


def writing_function(texts: Texts, name: str, base: str, summaries: Sequence[SummaryCall]) -> list[str]:
    """The lines of the function that writes the values of summaries."""
    lines: list[str] = []
    loop: ast.For | None = None
    for each in summaries:
        tag = each.tag(texts)
        value = f"values[{tag}]" if each.loop is None else texts.of(each.value)
        if each.loop is not None and each.loop is not loop:
            lines.append(f"for {texts.of(each.loop.target)} in {texts.of(each.loop.iter)}:")
        loop = each.loop
        line = f"{base}.summary.{each.function}({tag}, {value}, step=step)"
        lines.append(INDENT + line if loop is not None else line)
    return [f"def {name}(writer, values, step):", *indented(["with writer.as_default():", *indented(lines)])]
