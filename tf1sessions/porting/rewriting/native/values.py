"""Requests in functions and loops that step ``functions`` left as ``legacy.run()``, before the graphs are read.

What such code builds of values and variables alone is computed at once in TensorFlow 2; what it asks of the graph of
the module becomes a request that is made where that is built::

    def accuracy(v_xs, v_ys):                                    def accuracy(v_xs, v_ys):
        y = legacy.run(out, feed_dict={xs: v_xs})                    y = run_out(v_xs)
        with legacy:                                   ──▶           right = tf.equal(tf.argmax(y, 1), v_ys)
            right = tf.equal(tf.argmax(y, 1), v_ys)                  return right.numpy()
        return legacy.run(right, feed_dict={xs: v_xs})
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.nodes import parameter_names
from ....source.uses import FileUses
from ..requests.request import names_in
from .edited import edited
from .kinds import Kinds, creates, is_static_symbol, names_read
from .separation import lead_of
from .unit import PLACEHOLDERS

__all__ = ["with_values"]

_GRAPH = "tf1sessions.porting.LegacyGraph"


def with_values(file: FileUses) -> FileUses:
    """Return a file without such requests; the file itself where it has none, or one of them is of another form."""
    if file.source.notebook is not None:
        return file
    graphs = [file.parents[use.call] for use in file.uses if use.symbol == _GRAPH and use.call is not None]
    names = [ast.unparse(target) for each in graphs if isinstance(each, ast.Assign) for target in each.targets]
    if len(names) != 1 or file.parents[graphs[0]] is not file.tree:
        return file
    found = _Requests(file, names[0])
    edits = found.edits()
    return edited(file, edits)


class _Requests:
    """The calls of ``legacy.run()`` of a file.

    Args:
        file: The file.
        legacy: The name of its only LegacyGraph.
    """

    def __init__(self, file: FileUses, legacy: str) -> None:
        self.file, self.legacy, self.kinds = file, legacy, Kinds(file)
        self.blocks = [each for each in file.tree.body if isinstance(each, ast.With) and self._is_block(each)]
        self.built = {name: block for block in self.blocks for name in _stored(block)}
        self.calls = [each for each in ast.walk(file.tree) if isinstance(each, ast.Call) and self._is_run(each)]
        around = [each for call in self.calls for each in file.around(call)]
        self.asking = {each.name for each in around if isinstance(each, ast.FunctionDef)}
        self.tensors: set[str] = set()
        for block in self.blocks:
            for statement in block.body:
                if self._computes(statement):
                    self.tensors |= _stored(statement)
        self.made: dict[tuple[str, tuple[str, ...]], str] = {}

    def edits(self) -> list[Edit]:
        """The edits of all of them; none where one is of another form."""
        found: list[Edit] = []
        computed: set[str] = set()
        fetched = {each.args[0].id for each in self.calls if each.args and isinstance(each.args[0], ast.Name)}
        for block in [each for each in ast.walk(self.file.tree) if self._is_block(each)]:
            assert isinstance(block, ast.With)
            is_computed = block not in self.blocks and bool(_stored(block) & fetched)
            if is_computed and not self._is_of_values(block):
                return []
            if is_computed:
                computed |= _stored(block)
            if is_computed or self._only_asks(block):
                found += list(self._unwrapped(block))
        for call in self.calls:
            edit = self._edit(call, computed)
            if edit is None:
                return []
            found += [edit, *self._globals(call)]
        return [*dict.fromkeys(found), *self._functions()] if self.calls else []

    def _computes(self, statement: ast.stmt) -> bool:
        """Whether a statement of a block computes tensors, as far as is known."""
        calls = [each.func for each in ast.walk(statement) if isinstance(each, ast.Call)]
        symbols = [self.kinds.symbol(each) for each in calls]
        of_program = {each.id for each in calls if isinstance(each, ast.Name) and each.id in self.kinds.functions}
        is_new = any(each and not is_static_symbol(each) for each in symbols) or bool(of_program - self.asking)
        return is_new or bool(names_read(statement) & self.tensors)

    def _only_asks(self, block: ast.With) -> bool:
        """Whether a block has nothing but calls of functions that ask for values."""
        calls = [each.func for each in ast.walk(block) if isinstance(each, ast.Call)]
        names = {each.id for each in calls if isinstance(each, ast.Name)}
        return bool(self.asking & names) and not _has_long_text(block) and not any(map(self._computes, block.body))

    def _is_block(self, node: ast.AST) -> bool:
        return (
            isinstance(node, ast.With)
            and len(node.items) == 1
            and isinstance(node.items[0].context_expr, ast.Name)
            and node.items[0].context_expr.id == self.legacy
        )

    def _is_run(self, call: ast.Call) -> bool:
        function = call.func
        is_method = isinstance(function, ast.Attribute) and function.attr == "run"
        return is_method and isinstance(function.value, ast.Name) and function.value.id == self.legacy  # type: ignore[attr-defined]

    # -- what is computed at once ----------------------------------------------------------------------------------

    def _is_of_values(self, block: ast.With) -> bool:
        """Whether a block assigns what it computes of values, of variables, and of what it has computed."""
        around = [each for each in self.file.around(block) if isinstance(each, ast.FunctionDef)]
        if len(around) > 1 or any(self._is_called_in_graph(each) for each in around) or _has_long_text(block):
            return False
        own = set().union(*(_stored(each) | parameter_names(each) for each in around)) if around else set()
        for statement in block.body:
            symbols = [self.kinds.symbol(each.func) for each in ast.walk(statement) if isinstance(each, ast.Call)]
            if not isinstance(statement, ast.Assign) or not all(map(_is_name, statement.targets)):
                return False
            if any(creates(each) or each in PLACEHOLDERS for each in symbols if each):
                return False
            graph = (names_read(statement) & self.tensors) - own - _stored(block)
            if any(not self._is_variable(each) for each in graph):
                return False
        return True

    def _is_called_in_graph(self, function: ast.FunctionDef) -> bool:
        uses = [each for each in ast.walk(self.file.tree) if isinstance(each, ast.Name) and each.id == function.name]
        blocks = [around for each in uses for around in self.file.around(each) if self._is_block(around)]
        return not all(isinstance(each, ast.With) and self._only_asks(each) for each in blocks)

    def _is_variable(self, name: str) -> bool:
        binders = self.file.bound.get(name, [])
        value = getattr(self.file.parents.get(binders[0]), "value", None) if len(binders) == 1 else None
        return isinstance(value, ast.Call) and creates(self.kinds.symbol(value.func)) == "variable"

    def _unwrapped(self, block: ast.With) -> Iterator[Edit]:
        """Take ``with legacy:`` away."""
        positions = self.file.positions
        start = positions.line_start(block.lineno)
        first = positions.line_start(block.lineno + 1)
        yield Edit(start, first, "")
        lead, inner = block.col_offset, block.body[0].col_offset
        for line in range(block.lineno + 1, (block.end_lineno or 0) + 1):
            at = positions.line_start(line)
            text = self.file.source.text[at : positions.line_start(line + 1)]
            if text.strip() and not text[:inner].strip():
                yield Edit(at + lead, at + inner, "")

    def _own_of_expressions(self, call: ast.Call) -> set[str]:
        """The names that the comprehensions and lambdas around a call bind: no function beside them reads these."""
        found: set[str] = set()
        for each in self.file.around(call):
            targets = [one.target for one in getattr(each, "generators", ())]
            arguments = [each.args] if isinstance(each, ast.Lambda) else []
            found |= {name.id for one in targets for name in ast.walk(one) if isinstance(name, ast.Name)}
            found |= {name.arg for one in arguments for name in ast.walk(one) if isinstance(name, ast.arg)}
        return found

    # -- what is asked for -----------------------------------------------------------------------------------------

    def _edit(self, call: ast.Call, computed: set[str]) -> Edit | None:
        """Return the new text of a call; None where its form is another one."""
        feed = next((each.value for each in call.keywords if each.arg == "feed_dict"), None)
        if len(call.args) == 2 and feed is None:
            feed = call.args[1]
        if len(call.args) not in (1, 2) or any(each.arg != "feed_dict" for each in call.keywords):
            return None
        keys = [] if feed is None else feed.keys if isinstance(feed, ast.Dict) else None
        if keys is None or not all(isinstance(each, ast.Name) for each in keys):
            return None
        fetch = call.args[0]
        if isinstance(fetch, ast.Name) and fetch.id in computed:
            values = feed.values if isinstance(feed, ast.Dict) else []
            is_plain = all(isinstance(each, ast.Name | ast.Constant | ast.Attribute) for each in values)
            return self.file.positions.replace(call, f"{fetch.id}.numpy()") if is_plain else None
        if names_in([fetch]) - self.tensors or names_in([fetch]) & (computed | self._own_of_expressions(call)):
            return None
        if not isinstance(fetch, ast.Name | ast.List | ast.Tuple):
            return None
        feeds = tuple(each.id for each in keys if isinstance(each, ast.Name))
        if self._hides(call, {*feeds, *names_in([fetch])}):
            return None
        name = self._function(fetch, feeds)
        given = [self.file.positions.source(each) for each in (feed.values if isinstance(feed, ast.Dict) else [])]
        return self.file.positions.replace(call, f"{name}({', '.join(given)})")

    def _hides(self, call: ast.Call, names: set[str]) -> bool:
        """Whether a function around a call has names of its own that are called alike."""
        functions = [each for each in self.file.around(call) if isinstance(each, ast.FunctionDef)]
        return any(names & (parameter_names(each) | _stored(each)) for each in functions)

    def _function(self, fetch: ast.expr, feeds: tuple[str, ...]) -> str:
        key = self.file.positions.source(fetch), feeds
        if key not in self.made:
            wish = "run_" + "_and_".join(sorted(names_in([fetch]), key=key[0].index))
            name, number = wish, 1
            while self.file.taken(name) or name in self.made.values():
                number += 1
                name = f"{wish}_{number}"
            self.made[key] = name
        return self.made[key]

    def _functions(self) -> Iterator[Edit]:
        """The requests, at the end of the block that builds the last of what they need."""
        for (fetch, feeds), name in self.made.items():
            needed = {*names_in([ast.parse(fetch, mode="eval").body]), *feeds}
            block = max((self.built[each] for each in needed if each in self.built), key=lambda each: each.lineno)
            last = block.body[-1]
            end = self.file.positions.line_start((block.end_lineno or 0) + 1)
            fed = f", feeds=[{', '.join(feeds)}]" if feeds else ""
            line = f"{lead_of(self.file, last) or '    '}{name} = {self.legacy}.function({fetch}{fed})"
            newline = self.file.source.newline
            before = "" if self.file.source.text[:end].endswith(("\n", "\r")) else newline
            yield Edit(end, end, f"{before}{line}{newline}")

    def _globals(self, call: ast.Call) -> Iterator[Edit]:
        """``global`` of names that the function around a call only reads goes."""
        for function in self.file.around(call):
            for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else []:
                if isinstance(node, ast.Global) and not set(node.names) & _stored(function):
                    start = self.file.positions.line_start(node.lineno)
                    yield Edit(start, self.file.positions.line_start(node.lineno + 1), "")


def _has_long_text(block: ast.AST) -> bool:
    """Whether a text has several lines, of which none may be indented otherwise."""
    texts = [each for each in ast.walk(block) if isinstance(each, ast.Constant | ast.JoinedStr)]
    return any(each.lineno != each.end_lineno for each in texts)


def _is_name(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(map(_is_name, target.elts))
    return isinstance(target, ast.Name)


def _stored(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
