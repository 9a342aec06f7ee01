"""Classes whose ``__init__`` builds a graph, as functions: before the graphs of a file are read.

A Unit is a function that builds and asks, with names. So a class is written as one first: attributes that have a part
of the graph become names (``Net__self__loss``), ``__init__`` gets a LegacyGraph of its own, and each request in a
method becomes a function of it::

    class Net:                                      class Net:
        def __init__(self, sess):                       def __init__(self):
            self.sess = sess                                legacy_2 = porting.LegacyGraph()
            self._build()                                   with legacy_2:
                                            ──▶                 Net__self__x = tf.placeholder(tf.float32)
        def _build(self):                                       Net__self__y = Net__self__x * 2.0
            self.x = tf.placeholder(tf.float32)             Net__self__run_y = legacy_2.function(Net__self__y, ...)
            self.y = self.x * 2.0

        def double(self, x):                            def double(self, x):
            return self.sess.run(self.y, {self.x: x})       return Net__self__run_y(x)

attributes.py turns such names back, when all is TensorFlow 2.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence

from ....source.edits import Edit, apply
from ....source.uses import FileUses
from .. import headers
from ..requests.request import NotPossible, function_name
from .class_refusals import check_class, check_graph_wide
from .edited import edited
from .graph_class import GraphClass, self_attribute, without_docstring
from .texts import indented
from .unit import MARK

__all__ = ["NAME", "LoweredFile", "lowered"]

#: The name that stands for an attribute: of a class, and its own.
NAME = re.compile(rf"([A-Za-z_]\w*?){MARK}(\w+)")


@dataclasses.dataclass(frozen=True)
class LoweredFile:
    """A file whose classes are written as functions.

    Attributes:
        file: It; the file itself where no class builds.
        classes: The names of those classes.
    """

    file: FileUses
    classes: frozenset[str]


def lowered(file: FileUses) -> LoweredFile:
    """Write the classes of a file that build in ``__init__`` and run a session in methods as functions.

    Raises:
        NotPossible: Such a class does something that has no such form.
    """
    found = [each for node in file.tree.body if (each := _WrittenClass.of(file, node)) is not None]
    if not found or file.source.notebook is not None:
        return LoweredFile(file, frozenset())
    if NAME.search(file.source.text):
        raise NotPossible(file.tree.body[0], f"The program has names with {MARK!r} in them")
    check_graph_wide(file, found)
    new = edited(file, [edit for each in found for edit in each.edits()])
    if new is file:
        raise NotPossible(found[0].node, f"The class {found[0].node.name} is written in a way that is not known")
    return LoweredFile(new, frozenset(each.node.name for each in found))


class _WrittenClass(GraphClass):
    """A GraphClass and its new text."""

    def __init__(self, file: FileUses, node: ast.ClassDef, init: ast.FunctionDef) -> None:
        super().__init__(file, node, init)
        self._functions: dict[tuple[str, tuple[str, ...]], str] = {}
        self._definitions: list[str] = []
        self._legacy = _free_name(file, "legacy", node)
        self._kept = frozenset(self.statements)
        self._calls = frozenset(self.requests)
        self._taken = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)} | set(self.methods)

    @classmethod
    def of(cls, file: FileUses, node: ast.stmt) -> _WrittenClass | None:
        """Read a class; None for one that does not build, or runs no session."""
        if not isinstance(node, ast.ClassDef):
            return None
        init = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
        if init is None or not init.args.args or init.args.args[0].arg != "self":
            return None
        tensorflow = {use.node for use in file.uses if use.name.startswith("tf.")}
        if not any(each in tensorflow for each in ast.walk(node)):
            return None
        found = cls(file, node, init)
        return found if found.sessions and found.attributes else None

    def edits(self) -> Iterator[Edit]:
        """The edits that write the class as functions.

        Raises:
            NotPossible: It cannot be written so.
        """
        check_class(self)
        positions, newline = self.file.positions, self.file.source.newline
        inside = list(self._inner_edits())
        first, last = self.init.body[0], self.init.body[-1]
        lead = " " * first.col_offset
        legacy = self._legacy
        ours = headers.free_name(self.file, "porting", "tf1sessions.porting")
        lines = [f"{legacy} = {ours}.LegacyGraph()", f"with {legacy}:"]
        for statement in without_docstring(self.statements):
            lines += indented(self._lines(statement, inside))
        lines += self._definitions
        start = positions.line_start(self._first_line(without_docstring(self.init.body)[0]))
        end = positions.line_start((last.end_lineno or last.lineno) + 1)
        replaced = [Edit(start, end, "".join((lead + line if line.strip() else "") + newline for line in lines))]
        replaced += [
            Edit(positions.line_start(each.lineno), positions.line_start((each.end_lineno or 0) + 1), "")
            for each in self.inlined
        ]
        yield from replaced
        for edit in inside:
            if not any(each.start <= edit.start and edit.end <= each.end for each in replaced):
                yield edit
        yield from self._argument_edits()

    def _inner_edits(self) -> Iterator[Edit]:
        """Attributes become names, and requests calls of functions."""
        done = [self._request(call) for call in self.requests]
        yield from done
        for each in ast.walk(self.node):
            name = self_attribute(each)
            if name in self.sessions and not self._is_dropped(each):
                self._check_session(each)
            start, end = self.file.positions.span(each) if name is not None else (0, 0)
            if any(edit.start <= start and end <= edit.end for edit in done):
                continue
            if name in self.attributes:
                yield self.file.positions.replace(each, self._marked(name))
            elif name in self.sessions and not self._is_dropped(each):
                yield self.file.positions.replace(each, self._legacy)

    def _check_session(self, node: ast.AST) -> None:
        """Refuse uses of the session but for requests of methods, and ``self.sess.graph`` in what builds."""
        parent = self.file.parents[node]
        call = self.file.parents[parent]
        is_request = isinstance(call, ast.Call) and call.func is parent and self.init not in self.file.around(node)
        is_graph = isinstance(parent, ast.Attribute) and parent.attr == "graph"
        if not is_request and not (is_graph and self._is_built(node)):
            raise NotPossible(node, "A session of a class is used in a way that is not known")

    def _is_built(self, node: ast.AST) -> bool:
        """Whether a node is in a statement that builds."""
        return any(each in self._kept for each in self.file.around(node))

    def _is_dropped(self, node: ast.AST) -> bool:
        """Whether a node is in a statement of ``__init__`` that is about the session."""
        return self.init in self.file.around(node) and not self._is_built(node)

    def _marked(self, name: str | None) -> str:
        return f"{self.node.name}{MARK}{name}"

    def _request(self, call: ast.Call) -> Edit:
        assert isinstance(call.func, ast.Attribute)
        method = next(each for each in self.methods.values() if each in self.file.around(call))
        if any(each in self._calls for each in ast.walk(call) if each is not call):
            raise NotPossible(call, "A request of a class is in another one")
        named = {each.arg: each.value for each in call.keywords}
        given = [*call.args, *(named.pop(name) for name in ("fetches", "feed_dict") if name in named)]
        if call.func.attr != "run" or not given or len(given) > 2 or named:
            raise NotPossible(call, "A session of a class is used in a way that is not known")
        fetches = given[0]
        keys, values = self._feeds(given[1], method) if len(given) == 2 else ([], "")
        if self.is_initializer(fetches):
            raise NotPossible(call, "Variables are initialised in a method, which may be called again")
        if not all(self._is_fixed(each) for each in [fetches, *keys]):
            raise NotPossible(call, "A request is put together while the program runs")
        fetched, fed = self._text(fetches), tuple(map(self._text, keys))
        name = self._functions.get((fetched, fed))
        if name is None:
            name = self._functions[fetched, fed] = self._function_name(fetches)
            feeding = f", feeds=[{', '.join(fed)}]" if fed else ""
            self._definitions.append(f"{self._marked(name)} = {self._legacy}.function({fetched}{feeding})")
        return self.file.positions.replace(call, f"{self._marked(name)}({values})")

    def _feeds(self, feed: ast.expr, method: ast.FunctionDef) -> tuple[list[ast.expr], str]:
        if isinstance(feed, ast.Dict) and None not in feed.keys:
            return [*filter(None, feed.keys)], ", ".join(map(self._text, feed.values))
        if isinstance(feed, ast.Name):
            found: list[list[ast.expr]] = []
            for node in ast.walk(method):
                if not isinstance(node, ast.Name) or node.id != feed.id:
                    continue
                parent = self.file.parents[node]
                if isinstance(parent, ast.Assign) and isinstance(parent.value, ast.Dict):
                    found.append([*filter(None, parent.value.keys)])
                elif not isinstance(parent, ast.Call | ast.keyword):
                    found.append([])
            texts = {tuple(map(self._text, keys)) for keys in found}
            if len(texts) == 1 and found[0]:
                return found[0], f"*{feed.id}.values()"
        raise NotPossible(feed, "A request is put together while the program runs")

    def _is_fixed(self, node: ast.expr) -> bool:
        """Whether an expression is of attributes of the graph alone."""
        if isinstance(node, ast.List | ast.Tuple):
            return all(map(self._is_fixed, node.elts))
        return self_attribute(node) in self.attributes

    def _text(self, node: ast.expr) -> str:
        """The text of an expression with names in place of attributes, on one line."""
        start, end = self.file.positions.span(node)
        edits = [
            Edit(at - start, to - start, self._marked(name))
            for each in ast.walk(node)
            if (name := self_attribute(each)) in self.attributes
            for at, to in [self.file.positions.span(each)]
        ]
        text = apply(self.file.source.text[start:end], edits)
        if "#" in text and "\n" in text:
            return ast.unparse(ast.parse(f"({text}\n)", mode="eval"))
        return re.sub(r"\s*\r?\n\s*", " ", text)

    def _function_name(self, fetches: ast.expr) -> str:
        wish = name = function_name(fetches)
        number = 1
        while name in self._taken or self.file.taken(name):
            number += 1
            name = f"{wish}_{number}"
        self._taken.add(name)
        return name

    def _lines(self, statement: ast.stmt, inside: Iterable[Edit]) -> list[str]:
        """The lines of a statement with the comments right before it, moved out to the left."""
        positions = self.file.positions
        lines = self.file.source.text.splitlines()
        first = self._first_line(statement)
        blank = [""] if first > 1 and not lines[first - 2].strip() else []
        start, end = positions.line_start(first), positions.line_start((statement.end_lineno or 0) + 1)
        own = [Edit(e.start - start, e.end - start, e.text) for e in inside if start <= e.start and e.end <= end]
        text = apply(self.file.source.text[start:end], own)
        width = statement.col_offset
        moved = [line[width:] if not line[:width].strip() else line.lstrip() for line in text.splitlines()]
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.lineno != node.end_lineno:
                if not isinstance(self.file.parents[node], ast.Expr):
                    raise NotPossible(node, "A text of several lines is in what builds a class")
        return [*blank, *moved]

    def _first_line(self, statement: ast.stmt) -> int:
        """The first line of a statement, or of the comments right before it."""
        lines = self.file.source.text.splitlines()
        first = statement.lineno
        while first > 1 and lines[first - 2].lstrip().startswith("#"):
            first -= 1
        return first

    def _argument_edits(self) -> Iterator[Edit]:
        """The session is no parameter any more."""
        if self.parameter is None:
            return
        arguments = self.init.args
        names = [each.arg for each in arguments.args]
        if self.parameter not in names or arguments.posonlyargs or arguments.vararg:
            raise NotPossible(self.init, "A class is given a session in a way that is not known")
        place = names.index(self.parameter)
        yield from _removed(self.file, arguments.args, place, arguments.defaults)
        for each in ast.walk(self.init):
            if isinstance(each, ast.Name) and each.id == self.parameter:
                if self._is_built(each):
                    raise NotPossible(each, "A session of a class is used in a way that is not known")
        for node in ast.walk(self.file.tree):
            if not isinstance(node, ast.Name) or node.id != self.node.name:
                continue
            call = self.file.parents[node]
            if not isinstance(call, ast.Call) or call.func is not node:
                raise NotPossible(node, f"The class {node.id} is handed about")
            given = [*call.args, *call.keywords]
            keyed = [i for i, each in enumerate(given) if isinstance(each, ast.keyword) and each.arg == self.parameter]
            index = keyed[0] if keyed else place - 1
            if any(isinstance(each, ast.Starred) for each in call.args) or index >= len(given):
                raise NotPossible(call, f"The class {node.id} is made in a way that is not known")
            yield from _removed(self.file, given, index)


def _removed(file: FileUses, nodes: Sequence[ast.AST], index: int, defaults: Iterable[ast.expr] = ()) -> Iterator[Edit]:
    """Take one of several nodes with commas between them away."""
    ends = {each: file.positions.span(each) for each in nodes}
    if len(nodes) > index + 1:
        yield Edit(ends[nodes[index]][0], ends[nodes[index + 1]][0], "")
        return
    end = max([ends[nodes[index]][1], *(file.positions.span(each)[1] for each in defaults)])
    yield Edit(ends[nodes[index - 1]][1] if index else ends[nodes[index]][0], end, "")


def _free_name(file: FileUses, wish: str, node: ast.ClassDef) -> str:
    name = f"{wish}_of_{node.name}"
    while file.taken(name):
        name += "_"
    return name
