"""Summaries: requests give their values, and a function writes these with tf.summary."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence

from ....source.uses import FileUses
from ..requests.arguments import arguments
from ..requests.request import NotPossible
from .kinds import Kind, Kinds
from .op_names import OpNames
from .statements import Item
from .texts import INDENT, Texts, indented

__all__ = [
    "SUMMARIES",
    "SummaryCall",
    "are_traced",
    "check_tags",
    "is_merge",
    "merged",
    "summary",
    "write_events_read",
    "writing_function",
]

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
        scope: What stands before a tag that is computed.
        options: The text of further arguments.
        loop: The loop over variables that makes one of each; then the value is a variable.
    """

    function: str
    name: ast.expr
    literal: str
    value: ast.expr
    names: frozenset[str]
    loop: ast.For | None = None
    scope: str = ""
    options: str = ""

    def tag(self, texts: Texts) -> str:
        """The text of its tag."""
        if self.literal:
            return self.literal
        name = texts.of(self.name)
        if not self.scope:
            return name
        is_plain = isinstance(self.name, ast.Name | ast.Attribute | ast.Call | ast.BinOp | ast.Constant)
        return f'"{self.scope}" + {name}' if is_plain else f'"{self.scope}" + ({name})'


def summary(kinds: Kinds, texts: Texts, item: Item, names: OpNames) -> list[SummaryCall]:
    """Read the summaries that a statement makes; those that a loop makes of variables are taken out of it.

    Raises:
        NotPossible: It makes one in another loop or a condition, or with arguments that tf.summary has not.
    """
    found = []
    nodes = [each for each in ast.walk(item.statement) if isinstance(each, ast.Call)]
    calls = tuple(each for each in nodes if kinds.symbol(each.func) in SUMMARIES)
    names.note(item, calls)
    for call in calls:
        parent = texts.file.parents[call]
        loop = item.statement if isinstance(item.statement, ast.For) and item.kind < Kind.CONSTANT else None
        is_plain = parent is item.statement and isinstance(parent, ast.Expr | ast.Assign)
        is_in_loop = loop is not None and isinstance(parent, ast.Expr) and parent in loop.body
        if not is_plain and not is_in_loop:
            raise NotPossible(call, "A summary is made inside of a loop or another expression")
        if is_in_loop:
            assert isinstance(parent, ast.Expr)
            texts.delete(parent)
        function = (kinds.symbol(call.func) or "").removeprefix("tf.summary.")
        given = _arguments(call, function)
        literal = _literal(texts, names, None if is_in_loop else names.scope(item), given["name"])
        bound, around = frozenset(item.binds), loop if is_in_loop else None
        scope = names.scope(item) or ""
        found.append(
            SummaryCall(function, given["name"], literal, given["tensor"], bound, around, scope, _options(given))
        )
    return found


def _arguments(call: ast.Call, function: str) -> dict[str, ast.expr]:
    parameters = ("name", "tensor", "max_outputs") if function == "image" else ("name", "tensor")
    given = {{"values": "tensor"}.get(name, name): value for name, value in arguments(call, parameters).items()}
    rest = set(given) - {"collections", "family", "name", "tensor"}
    if rest - {*parameters} or not {"name", "tensor"} <= set(given):
        raise NotPossible(call, "A summary has arguments beside its name and its value")
    if "max_outputs" in given and not isinstance(given["max_outputs"], ast.Constant):
        raise NotPossible(call, "A summary has arguments beside its name and its value")
    return given


def _options(given: dict[str, ast.expr]) -> str:
    """The text of how many images are shown, where it is not three."""
    most = given.get("max_outputs")
    return f", max_outputs={most.value!r}" if isinstance(most, ast.Constant) and most.value != 3 else ""


def _literal(texts: Texts, names: OpNames, scope: str | None, name: ast.expr) -> str:
    """The text of a tag as TensorFlow 1 writes it; empty where it, or a scope around it, is not written out."""
    if scope is None or not isinstance(name, ast.Constant):
        return ""
    quote = texts.of(name)[0] if texts.of(name)[:1] in "'\"" else '"'
    return f"{quote}{names.unique(scope, str(name.value))}{quote}"


def check_tags(texts: Texts, found: Sequence[SummaryCall]) -> None:
    """Refuse tags that are computed and equal: TensorFlow 1 gives each one of its own.

    Raises:
        NotPossible: There are such.
    """
    tags = [each.tag(texts) for each in found if each.loop is None]
    for each in found:
        if not each.literal and each.loop is None and tags.count(each.tag(texts)) > 1:
            raise NotPossible(each.value, "Two summaries have the same tag, which the program computes")


def write_events_read(file: FileUses, kinds: Kinds, texts: Texts) -> None:
    """Have a program that reads the events it wrote find the values where tf.summary puts them.

    Raises:
        NotPossible: It reads histograms, images or sounds.
    """
    symbols = {kinds.symbol(use.node) for use in file.uses}
    if "tf.train.summary_iterator" not in symbols or not symbols & {"tf.summary.FileWriter", *SUMMARIES}:
        return
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Attribute):
            continue
        if node.attr in ("histo", "image", "audio"):
            raise NotPossible(node, f"Events are read by {node.attr}")
        if node.attr == "simple_value":
            texts.replace(node, f"{texts.tensorflow}.make_ndarray({texts.of(node.value)}.tensor).item()")


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


def are_traced(summaries: Sequence[SummaryCall]) -> bool:
    """Whether a tf.function writes them: eagerly a histogram takes some 15 ms for its buckets, traced below 0.5 ms."""
    return any(each.function == "histogram" for each in summaries)


def writing_function(
    texts: Texts, name: str, base: str, summaries: Sequence[SummaryCall], is_traced: bool
) -> list[str]:
    """The lines of the function that writes the values of summaries."""
    lines: list[str] = []
    loop: ast.For | None = None
    for each in summaries:
        tag = each.tag(texts)
        value = f"values[{tag}]" if each.loop is None else texts.of(each.value)
        if each.loop is not None and each.loop is not loop:
            lines.append(f"for {texts.of(each.loop.target)} in {texts.of(each.loop.iter)}:")
        loop = each.loop
        line = f"{base}.summary.{each.function}({tag}, {value}, step=step{each.options})"
        lines.append(INDENT + line if loop is not None else line)
    decorators = [f"@{base}.function"] if is_traced else []
    return [
        *decorators,
        f"def {name}(writer, values, step):",
        *indented(["with writer.as_default():", *indented(lines)]),
    ]
