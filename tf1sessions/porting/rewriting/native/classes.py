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
from ....source.uses import FileUses, read_file
from ..requests.request import NotPossible, function_name, names_in
from .statements import is_any_block
from .texts import indented
from .unit import INITIALIZERS, MARK

__all__ = ["NAME", "LoweredFile", "lowered", "self_attribute"]

_GRAPH = "tf1sessions.porting.LegacyGraph"
_SELF = "self"
#: The name that stands for an attribute: of a class, and its own.
NAME = re.compile(rf"([A-Za-z_]\w*?){MARK}(\w+)")
_OUTSIDE = "{!r}, a part of the graph of {}, is used outside of that class"


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
    found = [each for each in map(_Class.of, [file] * len(file.tree.body), file.tree.body) if each is not None]
    if not found or file.source.notebook is not None:
        return LoweredFile(file, frozenset())
    if MARK + "_" in file.source.text or NAME.search(file.source.text):
        raise NotPossible(file.tree.body[0], f"The program has names with {MARK!r} in them")
    _check_lists(file, found)
    edits = [edit for each in found for edit in each.edits()]
    source = dataclasses.replace(file.source, text=apply(file.source.text, edits))
    new = read_file(source, file.module, is_package=file.is_package)
    if not isinstance(new, FileUses):
        raise NotPossible(found[0].node, f"The class {found[0].node.name} is written in a way that is not known")
    new.siblings = tuple(new if each is file else each for each in file.siblings)
    return LoweredFile(new, frozenset(each.node.name for each in found))


def _check_lists(file: FileUses, found: list[_Class]) -> None:
    """Refuse what counts the variables of a graph where several objects make some.

    Raises:
        NotPossible: The program has such.
    """
    for use in file.uses:
        if use.symbol == "tf1sessions.porting.LegacySaver" and use.call is not None:
            raise NotPossible(use.node, f"A saver saves the variables of objects of {found[0].node.name}")
    classes = {each.node.name for each in found}
    made = [
        node for node in ast.walk(file.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes
    ]  # fmt: skip
    if len(made) < 2:
        return
    for use in file.uses:
        if use.name in ("tf.trainable_variables", "tf.global_variables") and use.call is not None:
            if not use.call.args and not use.call.keywords:
                raise NotPossible(use.node, "Several objects make variables, and all of these are listed")


def self_attribute(node: ast.AST) -> str | None:
    """The name of an attribute of ``self``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == _SELF:
        return node.attr
    return None


class _Class:
    """A class that builds in ``__init__``.

    Attributes:
        node: It.
        statements: Those of ``__init__``, with those of methods that it calls once in their place.
        attributes: The attributes that have a part of the graph.
    """

    def __init__(self, file: FileUses, node: ast.ClassDef, init: ast.FunctionDef) -> None:
        self.file, self.node, self._init = file, node, init
        self._symbols = {use.node: use.name for use in file.uses}
        self._methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
        self._inlined: list[ast.FunctionDef] = []
        self._sessions: set[str] = set()
        self._parameter: str | None = None
        self._graphs = {
            target.id
            for each in ast.walk(file.tree)
            if isinstance(each, ast.Assign) and _is_graph(file, each.value)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        self.statements = list(self._flat(init.body))
        self.attributes = self._graph_attributes()
        self._functions: dict[tuple[str, tuple[str, ...]], str] = {}
        self._definitions: list[str] = []

    @classmethod
    def of(cls, file: FileUses, node: ast.stmt) -> _Class | None:
        """Read a class; None for one that does not build, or runs no session."""
        if not isinstance(node, ast.ClassDef):
            return None
        init = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
        if init is None or not init.args.args or init.args.args[0].arg != _SELF:
            return None
        tensorflow = {use.node for use in file.uses if use.name.startswith("tf.")}
        if not any(each in tensorflow for each in ast.walk(node)):
            return None
        found = cls(file, node, init)
        return found if found._sessions and found.attributes else None

    # -- what __init__ does ----------------------------------------------------------------------------------------

    def _flat(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements that build, without those that are about a session."""
        for statement in body:
            if (
                isinstance(statement, ast.With)
                and is_any_block(statement)
                and self._is_session(statement.items[0].context_expr)
            ):
                yield from self._flat(statement.body)
            elif isinstance(statement, ast.Assign) and _is_graph(self.file, statement.value):
                pass
            elif isinstance(statement, ast.Assign) and self._is_session(statement.value):
                self._note_session(statement)
            elif (call := _call_of(statement)) is not None and self._is_about_session(call):
                pass
            elif call is not None and (method := self._built_by(call)) is not None:
                self._inlined.append(method)
                yield from self._flat(_without_docstring(method.body))
            else:
                yield statement

    def _is_session(self, node: ast.expr) -> bool:
        """Whether an expression is the LegacyGraph, or what stands for the session."""
        if isinstance(node, ast.Name):
            return node.id in self._graphs or node.id in ("sess", "session")
        return self_attribute(node) in self._sessions

    def _note_session(self, statement: ast.Assign) -> None:
        for target in statement.targets:
            name = self_attribute(target)
            if name is None:
                raise NotPossible(statement, "A session has a name of its own in a class")
            self._sessions.add(name)
        if isinstance(statement.value, ast.Name) and statement.value.id not in self._graphs:
            self._parameter = statement.value.id

    def _is_about_session(self, call: ast.Call) -> bool:
        """Whether a call makes a session anew, or initializes variables, which is done when they are made."""
        if not isinstance(call.func, ast.Attribute) or not self._is_session(call.func.value):
            return False
        if call.func.attr == "reset":
            return True
        if call.func.attr != "run" or len(call.args) != 1 or call.keywords:
            return False
        return self._is_initializer(call.args[0])

    def _is_initializer(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            return self._symbols.get(node.func) in INITIALIZERS
        if isinstance(node, ast.List | ast.Tuple):
            return all(map(self._is_initializer, node.elts))
        values = [
            each.value
            for each in ast.walk(self.node)
            if isinstance(each, ast.Assign) and any(ast.dump(target) == _stored(node) for target in each.targets)
        ]
        return bool(values) and all(isinstance(each, ast.Call) and self._is_initializer(each) for each in values)

    def _built_by(self, call: ast.Call) -> ast.FunctionDef | None:
        """The method that ``self.method()`` calls, if nothing else does, it takes nothing and gives nothing."""
        name = self_attribute(call.func)
        method = self._methods.get(name or "")
        if method is None or call.args or call.keywords or len(method.args.args) != 1 or method.decorator_list:
            return None
        uses = [each for each in ast.walk(self.file.tree) if isinstance(each, ast.Attribute) and each.attr == name]
        returns = any(isinstance(each, ast.Return | ast.Yield) for each in ast.walk(method))
        if len(uses) != 1 or returns or not any(each in self._symbols for each in ast.walk(method)):
            return None
        return method

    def _graph_attributes(self) -> set[str]:
        """The attributes that have a part of the graph: what is made by TensorFlow, and of such."""
        names: set[str] = set()
        attributes: set[str] = set()
        size = -1
        builders = _builders(self.file)
        while size != (size := len(names) + len(attributes)):
            for statement in self.statements:
                for each in ast.walk(statement):
                    if not isinstance(each, ast.Assign | ast.AugAssign):
                        continue
                    if not self._has_graph(each.value, names, attributes, builders):
                        continue
                    targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                    for target in [node for one in targets for node in ast.walk(one)]:
                        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                            names.add(target.id)
                        elif (name := self_attribute(target)) is not None:
                            attributes.add(name)
        return attributes

    def _has_graph(self, value: ast.expr, names: set[str], attributes: set[str], builders: set[str]) -> bool:
        for node in ast.walk(value):
            symbol = self._symbols.get(node) if isinstance(node, ast.expr) else None
            if symbol is not None and symbol.startswith("tf."):
                return True
            if isinstance(node, ast.Name) and node.id in names | builders:
                return True
            if self_attribute(node) in attributes:
                return True
        return False

    # -- its new text ----------------------------------------------------------------------------------------------

    def edits(self) -> Iterator[Edit]:
        """The edits that write the class as functions.

        Raises:
            NotPossible: It cannot be written so.
        """
        self._check()
        positions, newline = self.file.positions, self.file.source.newline
        inside = list(self._inner_edits())
        first, last = self._init.body[0], self._init.body[-1]
        lead = " " * first.col_offset
        legacy = _free_name(self.file, "legacy", self.node)
        lines = [f"{legacy} = porting.LegacyGraph()", f"with {legacy}:"]
        for statement in _without_docstring(self.statements):
            lines += indented(self._lines(statement, inside, legacy))
        lines += [each.replace("LEGACY", legacy, 1) for each in self._definitions]
        start = positions.line_start(_without_docstring(self._init.body)[0].lineno)
        end = positions.line_start((last.end_lineno or last.lineno) + 1)
        replaced = [Edit(start, end, "".join((lead + line if line.strip() else "") + newline for line in lines))]
        replaced += [
            Edit(positions.line_start(each.lineno), positions.line_start((each.end_lineno or 0) + 1), "")
            for each in self._inlined
        ]
        yield from replaced
        for edit in inside:
            if not any(each.start <= edit.start and edit.end <= each.end for each in replaced):
                yield edit
        yield from self._argument_edits()

    def _check(self) -> None:
        name = self.node.name
        for each in ast.walk(self.file.tree):
            if isinstance(each, ast.ClassDef) and name in names_in(each.bases):
                raise NotPossible(each, f"{name}, which builds a part of the graph, has a class that is made of it")
        self._check_attributes()
        bound = {
            node.id for each in self.statements for node in ast.walk(each)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }  # fmt: skip
        outside = {node.id for node in ast.walk(self._init) if isinstance(node, ast.Name)}
        outside |= {each.arg for each in self._init.args.args}
        for method in self._inlined:
            for node in ast.walk(method):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in outside & bound:
                    raise NotPossible(method, f"{method.name}() has the name {node.id!r}, as __init__() has")
        for each in ast.walk(self.node):
            if isinstance(each, ast.JoinedStr):
                if any(self_attribute(node) in self.attributes for node in ast.walk(each)):
                    raise NotPossible(each, "An f-string has something of the graph in it")

    def _check_attributes(self) -> None:
        """Refuse what reads or sets attributes of the graph elsewhere than in ``__init__`` and in requests."""
        building = {node for each in self.statements for node in ast.walk(each)}
        own = set(ast.walk(self.node))
        for each in ast.walk(self.file.tree):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in ("getattr", "vars"):
                if each in own and any(isinstance(one, ast.Name) and one.id == _SELF for one in each.args):
                    raise NotPossible(each, f"{self.node.name} is asked for an attribute whose name is computed")
            if not isinstance(each, ast.Attribute) or each.attr not in self.attributes | self._sessions:
                continue
            if self_attribute(each) is None:
                if _first_name(each) not in self.file.imported:
                    raise NotPossible(each, _OUTSIDE.format(each.attr, self.node.name))
            elif each in own and not isinstance(each.ctx, ast.Load) and each not in building:
                if each.attr in self.attributes or self._init not in self.file.around(each):
                    raise NotPossible(each, f"{each.attr!r}, a part of the graph, is set elsewhere than in __init__()")

    def _inner_edits(self) -> Iterator[Edit]:
        """Attributes become names, and requests calls of functions."""
        done: list[Edit] = []
        for method in self._methods.values():
            if method is self._init or method in self._inlined:
                continue
            for call in ast.walk(method):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                    if self_attribute(call.func.value) in self._sessions:
                        done.append(self._request(call, method))
        yield from done
        for each in ast.walk(self.node):
            name = self_attribute(each)
            start, end = self.file.positions.span(each) if name is not None else (0, 0)
            if any(edit.start <= start and end <= edit.end for edit in done):
                continue
            if name in self.attributes:
                yield self.file.positions.replace(each, self._marked(name))
            elif name in self._sessions and not self._is_dropped(each):
                parent = self.file.parents[each]
                if not isinstance(parent, ast.Attribute) or parent.attr != "graph":
                    raise NotPossible(each, "A session of a class is used in a way that is not known")
                yield self.file.positions.replace(each, "LEGACY")

    def _is_dropped(self, node: ast.AST) -> bool:
        kept = set(self.statements)
        around = list(self.file.around(node))
        return self._init in around and not any(each in kept for each in around)

    def _marked(self, name: str | None) -> str:
        return f"{self.node.name}{MARK}{name}"

    def _request(self, call: ast.Call, method: ast.FunctionDef) -> Edit:
        assert isinstance(call.func, ast.Attribute)
        named = {each.arg: each.value for each in call.keywords}
        given = [*call.args, *(named.pop(name) for name in ("fetches", "feed_dict") if name in named)]
        if call.func.attr != "run" or not given or len(given) > 2 or named:
            raise NotPossible(call, "A session of a class is used in a way that is not known")
        fetches = given[0]
        keys, values = self._feeds(given[1], method) if len(given) == 2 else ([], "")
        if not all(self._is_fixed(each) for each in [fetches, *keys]):
            raise NotPossible(call, "A request is put together while the program runs")
        fetched, fed = self._text(fetches), tuple(map(self._text, keys))
        name = self._functions.get((fetched, fed))
        if name is None:
            name = self._functions[fetched, fed] = self._function_name(fetches)
            feeding = f", feeds=[{', '.join(fed)}]" if fed else ""
            self._definitions.append(f"{self._marked(name)} = LEGACY.function({fetched}{feeding})")
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
        taken = {each.attr for each in ast.walk(self.node) if isinstance(each, ast.Attribute)} | set(self._methods)
        number = 1
        while name in taken or name in self._functions.values() or self.file.taken(name):
            number += 1
            name = f"{wish}_{number}"
        return name

    def _lines(self, statement: ast.stmt, inside: Iterable[Edit], legacy: str) -> list[str]:
        """The lines of a statement with the comments right before it, moved out to the left."""
        positions = self.file.positions
        lines = self.file.source.text.splitlines()
        first = statement.lineno
        while first > 1 and lines[first - 2].lstrip().startswith("#"):
            first -= 1
        blank = [""] if first > 1 and not lines[first - 2].strip() else []
        start, end = positions.line_start(first), positions.line_start((statement.end_lineno or 0) + 1)
        own = [Edit(e.start - start, e.end - start, e.text) for e in inside if start <= e.start and e.end <= end]
        text = apply(self.file.source.text[start:end], own).replace("LEGACY", legacy)
        width = statement.col_offset
        moved = [line[width:] if not line[:width].strip() else line.lstrip() for line in text.splitlines()]
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.lineno != node.end_lineno:
                if not isinstance(self.file.parents[node], ast.Expr):
                    raise NotPossible(node, "A text of several lines is in what builds a class")
        return [*blank, *moved]

    def _argument_edits(self) -> Iterator[Edit]:
        """The session is no parameter any more."""
        if self._parameter is None:
            return
        arguments = self._init.args
        names = [each.arg for each in arguments.args]
        if self._parameter not in names or arguments.posonlyargs or arguments.vararg:
            raise NotPossible(self._init, "A class is given a session in a way that is not known")
        place = names.index(self._parameter)
        yield from _removed(self.file, arguments.args, place, arguments.defaults)
        kept = set(self.statements)
        for each in ast.walk(self._init):
            if isinstance(each, ast.Name) and each.id == self._parameter:
                if any(node in kept for node in self.file.around(each)):
                    raise NotPossible(each, "A session of a class is used in a way that is not known")
        for node in ast.walk(self.file.tree):
            if not isinstance(node, ast.Name) or node.id != self.node.name:
                continue
            call = self.file.parents[node]
            if not isinstance(call, ast.Call) or call.func is not node:
                raise NotPossible(node, f"The class {node.id} is handed about")
            given = [*call.args, *call.keywords]
            keyed = [i for i, each in enumerate(given) if isinstance(each, ast.keyword) and each.arg == self._parameter]
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


def _is_graph(file: FileUses, node: ast.expr) -> bool:
    """Whether an expression is ``porting.LegacyGraph()``."""
    return any(use.call is node and use.symbol == _GRAPH for use in file.uses)


def _builders(file: FileUses) -> set[str]:
    """The names of the functions of a file that use TensorFlow."""
    tensorflow = {use.node for use in file.uses if use.name.startswith("tf.")}
    functions = [each for each in file.tree.body if isinstance(each, ast.FunctionDef)]
    return {each.name for each in functions if any(node in tensorflow for node in ast.walk(each))}


def _first_name(node: ast.expr) -> str | None:
    """The name that a chain of attributes begins with; None for anything else."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _stored(node: ast.expr) -> str:
    """The dump of a name as it is assigned to."""
    return ast.dump(node).replace("Load()", "Store()")


def _call_of(statement: ast.stmt) -> ast.Call | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return statement.value
    return None


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    value = body[0].value if body and isinstance(body[0], ast.Expr) else None
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return body[1:] if is_text and len(body) > 1 else body


def _free_name(file: FileUses, wish: str, node: ast.ClassDef) -> str:
    name = f"{wish}_of_{node.name}"
    while file.taken(name):
        name += "_"
    return name
