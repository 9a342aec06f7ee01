"""Functions that build and are called once, put in place of their call: a request may need one of their results alone.

A function of a program that gives placeholders, operations or training steps has no form in TensorFlow 2, where what is
fed is an argument and a step is a call. Called once, it is as good as a part of the code that calls it::

    def model(units):
        x = tf.placeholder(tf.float32)              with legacy:
        out = tf.layers.dense(x, units)     ──▶         inputs = tf.placeholder(tf.float32)
        return x, out                                   out = tf.layers.dense(inputs, 4)

    with legacy:
        inputs, out = model(4)

All other functions stay functions, or become classes of tf.Module.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from ....source.edits import Edit, apply
from ....source.nodes import parameter_names
from ....source.uses import FileUses
from ..requests.arguments import arguments
from ..requests.graph_code import own_nodes
from ..requests.request import NotPossible
from .edited import edited
from .kinds import Kinds, creates, names_read
from .scopes import is_name_scope
from .statements import OPERATIONS, is_any_block
from .unit import PLACEHOLDERS

__all__ = ["inlined"]

_SYMBOLS = (
    frozenset(PLACEHOLDERS)
    | OPERATIONS
    | frozenset(
        "tf.train.ExponentialMovingAverage tf.train.QueueRunner tf.train.get_or_create_global_step "
        "tf.train.create_global_step tf.losses.add_loss tf.losses.get_total_loss tf.losses.get_losses "
        "tf1sessions.porting.LegacySaver".split()
    )
)
_METHODS = frozenset(
    "minimize apply_gradients enqueue enqueue_many make_one_shot_iterator make_initializable_iterator".split()
)
_MOST = 20  # functions that are put into one another


def inlined(file: FileUses) -> FileUses:
    """Return a file without the functions that build what requests ask for apart, and are called once.

    The file itself where there is none. A function that has no such form stays, and so does what calls it.
    """
    if file.source.notebook is not None:
        return file
    for _ in range(_MOST):
        found = next(_found(file), None)
        if found is None:
            break
        file = edited(file, found)
    return file


def _found(file: FileUses) -> Iterator[list[Edit]]:
    """Yield the edits that put a function in place of its call."""
    kinds = Kinds(file)
    for function in kinds.functions.values():
        if isinstance(function, ast.FunctionDef) and _builds_apart(kinds, function):
            call = _only_call(kinds, function)
            if call is not None:
                try:
                    yield _Inlined(kinds, function, call).edits()
                except NotPossible:
                    continue


def _builds_apart(kinds: Kinds, function: ast.FunctionDef) -> bool:
    """Whether a function makes placeholders, operations, or what only a graph has."""
    for node in own_nodes(function):
        if isinstance(node, ast.Call):
            symbol = kinds.symbol(node.func) or ""
            if symbol in _SYMBOLS or symbol.startswith("tf.summary.") or creates(symbol) in ("metric", "iterator"):
                return True
            if not symbol and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
                return True
    return False


def _only_call(kinds: Kinds, function: ast.FunctionDef) -> ast.Call | None:
    """The one use of a function, if that is a call which is a statement of a graph, or all that one assigns."""
    file = kinds.file
    uses = [each for each in ast.walk(file.tree) if isinstance(each, ast.Name) and each.id == function.name]
    call = file.parents[uses[0]] if len(uses) == 1 else None
    if not isinstance(call, ast.Call) or call.func is not uses[0] or function in file.around(call):
        return None
    statement = file.parents[call]
    is_whole = isinstance(statement, ast.Expr) or (isinstance(statement, ast.Assign) and len(statement.targets) == 1)
    if not is_whole:
        return None
    for each in file.around(statement):
        if not isinstance(each, ast.With):
            return None
        if is_any_block(each):
            return call if ast.unparse(each.items[0].context_expr) in _graphs(file) else None
        if not all(is_name_scope(kinds, item) for item in each.items):
            return None
    return None


def _graphs(file: FileUses) -> set[str]:
    """The names of the LegacyGraphs of a file."""
    calls = [use.call for use in file.uses if use.symbol == "tf1sessions.porting.LegacyGraph" and use.call is not None]
    made = [file.parents[each] for each in calls]
    return {ast.unparse(target) for each in made if isinstance(each, ast.Assign) for target in each.targets}


class _Inlined:
    """A function in place of its call.

    Args:
        kinds: Of the file.
        function: The function.
        call: Its call, which is all of a statement or all that one assigns.
    """

    def __init__(self, kinds: Kinds, function: ast.FunctionDef, call: ast.Call) -> None:
        self.file, self.function, self.call = kinds.file, function, call
        statement = self.file.parents[call]
        assert isinstance(statement, ast.Assign | ast.Expr)
        self.statement = statement
        self.nodes = [each for one in function.body for each in ast.walk(one)]
        self.parameters = [
            each.arg for each in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        ]
        self.rebound = _stored(function)
        self.free = names_read(function) - self.rebound - set(self.parameters)
        around = self.file.around(call)
        self.scope = next(each for each in around if isinstance(each, ast.FunctionDef | ast.Module))
        self.names: dict[str, str] = {}  # its own names -> what they are called in their new place
        self._taken = self._names_outside()

    def edits(self) -> list[Edit]:
        """The edits: the function goes, and its statements stand in place of the call.

        Raises:
            NotPossible: They cannot stand there.
        """
        self._check()
        before = self._bind_arguments()
        pairs = self._name_results()
        for name in sorted(self.rebound - self.names.keys()):
            self.names[name] = self._free(name)
        self._check_names()
        positions, newline = self.file.positions, self.file.source.newline
        start, end = positions.line_start(self.statement.lineno), self.statement.end_lineno or 0
        lead = " " * self.statement.col_offset
        lines = [*self._comments(), *before, *self._lines(list(self._results(pairs)))]
        text = "".join((lead + line if line.strip() else "") + newline for line in lines)
        own = _with_comments(self.file, self.function), (self.function.end_lineno or 0) + 1
        return [
            Edit(positions.line_start(own[0]), positions.line_start(own[1]), ""),
            Edit(start, positions.line_start(end + 1), text),
        ]

    def _names_outside(self) -> set[str]:
        """The names that a name of the function would be mistaken for where it is called."""
        found = {each.bound for each in self.file.imports} | self.free
        for each in self.file.tree.body:
            found |= {each.name} if isinstance(each, ast.FunctionDef | ast.ClassDef) else set()
            if isinstance(self.scope, ast.Module) and isinstance(each, ast.FunctionDef | ast.ClassDef):
                found |= names_read(each) if each is not self.function else set()
        nodes = own_nodes(self.scope) if isinstance(self.scope, ast.Module) else ast.walk(self.scope)
        for node in nodes:
            found |= {node.id} if isinstance(node, ast.Name) else {node.arg} if isinstance(node, ast.arg) else set()
        return found

    def _free(self, wish: str) -> str:
        inside = {each.id for each in self.nodes if isinstance(each, ast.Name)} - {wish}
        name, number = wish, 1
        while name in self._taken | inside:
            number += 1
            name = f"{wish}_{number}"
        self._taken.add(name)
        return name

    def _check(self) -> None:
        """Refuse a function that does not run from its first statement to its last one, or sees other names there."""
        function, last = self.function, self.function.body[-1]
        returns = [each for each in self.nodes if isinstance(each, ast.Return) and self._is_own(each)]
        if function.decorator_list or function.args.vararg or function.args.kwarg or returns not in ([], [last]):
            raise NotPossible(function, "It has decorators or *arguments, or may end early")
        if any(isinstance(each, _NOT_MOVED) for each in self.nodes):
            raise NotPossible(function, "It has classes, imports or names of others in it")
        if function.lineno == function.body[0].lineno:
            raise NotPossible(function, "It is written on one line")
        if isinstance(self.scope, ast.FunctionDef) and self.free & (_stored(self.scope) | parameter_names(self.scope)):
            raise NotPossible(function, "A name that it reads means something else where it is called")
        for each in self.nodes:
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.lineno != each.end_lineno:
                if each is not self._docstring():
                    raise NotPossible(each, "It has a text of several lines")

    def _is_own(self, node: ast.AST) -> bool:
        around = self.file.around(node)
        return next(each for each in around if isinstance(each, ast.FunctionDef | ast.Lambda)) is self.function

    def _docstring(self) -> ast.Constant | None:
        first = self.function.body[0]
        value = first.value if isinstance(first, ast.Expr) else None
        return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None

    # -- names -----------------------------------------------------------------------------------------------------

    def _bind_arguments(self) -> list[str]:
        """Give parameters the names of what is handed on; return the lines that bind the others."""
        starred = [each.value for each in self.call.args if isinstance(each, ast.Starred)]
        arguments_ = self.function.args
        if starred:
            plain = arguments_.posonlyargs or arguments_.kwonlyargs or arguments_.defaults or self.call.keywords
            if plain or len(self.call.args) > 1 or len(self.parameters) < 2:
                raise NotPossible(self.call, "Its arguments are handed on with stars")
            self.names |= {name: self._free(name) for name in self.parameters}
            return [f"{', '.join(self.names.values())} = {self._source(starred[0])}"]
        lines = []
        given = self._defaults() | arguments(self.call, self.parameters)
        for name in self.parameters:
            if name not in given:
                raise NotPossible(self.call, f"It is not given its {name}")
            value = given[name]
            if isinstance(value, ast.Name) and name not in self.rebound and value.id not in self.rebound:
                self.names[name] = value.id
            else:
                self.names[name] = self._free(name)
                lines.append(f"{self.names[name]} = {self._source(value)}")
        return lines

    def _defaults(self) -> dict[str, ast.expr]:
        arguments_ = self.function.args
        positional = [each.arg for each in [*arguments_.posonlyargs, *arguments_.args]]
        found = dict(zip(reversed(positional), reversed(arguments_.defaults), strict=False))
        keyed = zip(arguments_.kwonlyargs, arguments_.kw_defaults, strict=True)
        found |= {each.arg: default for each, default in keyed if default is not None}
        return {name: value for name, value in found.items() if self._is_fixed(value)}

    def _is_fixed(self, node: ast.expr) -> bool:
        """Whether a default is the same where the function is called: it is written out, or has one value for ever."""
        if not isinstance(node, ast.Name):
            return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and self._is_fixed(node.operand))
        nodes = ast.walk(self.file.tree)
        bound = [each for each in nodes if isinstance(each, ast.Name) and each.id == node.id]
        stored = [each for each in bound if not isinstance(each.ctx, ast.Load)]
        return len(stored) == 1 and self.file.parents[self.file.parents[stored[0]]] is self.file.tree

    def _source(self, node: ast.AST) -> str:
        """The text of an expression outside of the function, on one line."""
        source = self.file.positions.source(node)
        return ast.unparse(node) if "\n" in source else source

    def _name_results(self) -> list[tuple[str, ast.expr]]:
        """Give results the names that they are assigned to; return the others: (target, value)."""
        last = self.function.body[-1]
        value = last.value if isinstance(last, ast.Return) else None
        if isinstance(self.statement, ast.Expr):
            has_calls = value is not None and any(isinstance(each, ast.Call) for each in ast.walk(value))
            return [("", value)] if value is not None and has_calls else []
        target = self.statement.targets[0]
        value = ast.Constant(None) if value is None else value
        is_pair = isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)
        if not is_pair or len(target.elts) != len(value.elts):  # type: ignore[attr-defined]
            return [] if self._named(target, value) else [(self._source(target), value)]
        both = zip(target.elts, value.elts, strict=True)  # type: ignore[attr-defined]
        return [(self._source(one), other) for one, other in both if not self._named(one, other)]

    def _named(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether a name of the function can have the name of what it is assigned to, which it then gets."""
        if not isinstance(target, ast.Name) or not isinstance(value, ast.Name):
            return False
        if value.id not in self.rebound or value.id in self.names:
            return False
        inside = {each.id for each in self.nodes if isinstance(each, ast.Name)} - {value.id}
        if target.id in self.free | inside | set(self.names.values()):
            return False
        self.names[value.id] = target.id
        return True

    def _check_names(self) -> None:
        """Refuse new names where a function inside, or a text, has the old or the new one."""
        changed = {name for name, new in self.names.items() if name != new}
        changed |= {self.names[name] for name in changed}
        inner = {each.arg for each in self.nodes if isinstance(each, ast.arg)}
        inner |= {
            each.name for each in self.nodes if isinstance(each, ast.FunctionDef | ast.ExceptHandler) and each.name
        }
        texts = [each for each in self.nodes if isinstance(each, ast.JoinedStr)]
        inner |= {each.id for one in texts for each in ast.walk(one) if isinstance(each, ast.Name)}
        if both := sorted(changed & inner):
            raise NotPossible(self.function, f"It has {both[0]!r} in a function or in an f-string")

    # -- text ------------------------------------------------------------------------------------------------------

    def _comments(self) -> list[str]:
        """The comments above the function, and the first paragraph of its documentation."""
        first = _with_comments(self.file, self.function)
        lines = [each.strip() for each in self.file.source.text.splitlines()[first - 1 : self.function.lineno - 1]]
        found = self._docstring()
        text = inspect.cleandoc(str(found.value)).partition("\n\n")[0] if found is not None else ""
        return [*lines, *(f"# {line}".rstrip() for line in text.splitlines())]

    def _renames(self, node: ast.AST, start: int) -> list[Edit]:
        spans = [
            (self.file.positions.span(each)[0] - start, each.id)
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and self.names.get(each.id, each.id) != each.id
        ]
        return [Edit(at, at + len(name), self.names[name]) for at, name in spans]

    def _results(self, pairs: list[tuple[str, ast.expr]]) -> Iterator[str]:
        """The assignments of the results that have other names."""
        texts = []
        for _, value in pairs:
            has_place = hasattr(value, "lineno")
            start, end = self.file.positions.span(value) if has_place else (0, 0)
            text = self.file.source.text[start:end] if has_place else ast.unparse(value)
            texts.append(apply(text, self._renames(value, start) if has_place else []))
        targets = [target for target, _ in pairs]
        if len(set(targets) & {self.names.get(name, name) for name in self.rebound | set(self.parameters)}) > 0:
            yield f"{', '.join(targets)} = {', '.join(texts)}"
        else:
            yield from (f"{target} = {text}" if target else text for target, text in zip(targets, texts, strict=True))

    def _lines(self, results: list[str]) -> list[str]:
        """The statements of the function, and in place of what it returns the assignments of its results."""
        positions, text = self.file.positions, self.file.source.text
        body = self.function.body[self._docstring() is not None :]
        if not body:
            return results
        lines = text.splitlines()
        first, last = body[0], self.function.body[-1]
        line = first.lineno
        docstring = self._docstring()
        header = self._header() if docstring is None else docstring.end_lineno or 0
        while line - 1 > header and (not lines[line - 2].strip() or lines[line - 2].lstrip().startswith("#")):
            line -= 1
        start, end = positions.line_start(line), positions.line_start((last.end_lineno or 0) + 1)
        is_returned = isinstance(last, ast.Return)
        edits = [edit for each in body if not (is_returned and each is last) for edit in self._renames(each, start)]
        if is_returned:
            at, to = positions.span(last)
            edits.append(Edit(at - start, to - start, f"\n{' ' * last.col_offset}".join(results)))
        found = apply(text[start:end], edits).splitlines()
        width = first.col_offset
        moved = [each[width:] if not each[:width].strip() else each.lstrip() for each in found]
        while moved and not moved[0].strip():
            moved.pop(0)
        while moved and not moved[-1].strip():
            moved.pop()
        return moved if is_returned else [*moved, *results]

    def _header(self) -> int:
        """The last line of the function's first statement's header."""
        ends = [each.end_lineno or 0 for each in ast.walk(self.function.args) if isinstance(each, ast.arg | ast.expr)]
        return max([self.function.lineno, *ends])


#: What a function has that cannot stand elsewhere.
_NOT_MOVED = (
    ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.Delete,
    ast.AsyncFunctionDef, ast.NamedExpr,
)  # fmt: skip


def _stored(function: ast.FunctionDef) -> set[str]:
    """The names that a function binds besides its parameters: those of its comprehensions as well."""
    own = [each for each in own_nodes(function) if each is not function]
    found = {each.id for each in own if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    found |= {each.name for each in own if isinstance(each, ast.ExceptHandler) and each.name}
    inner = [each for one in own_nodes(function) for each in ast.iter_child_nodes(one)]
    return found | {each.name for each in inner if isinstance(each, ast.FunctionDef)}


def _with_comments(file: FileUses, function: ast.FunctionDef) -> int:
    """The line of a function, or of the comments right above it."""
    lines = file.source.text.splitlines()
    line = function.lineno
    while line > 1 and lines[line - 2].startswith("#") and line > 2:
        line -= 1
    return line
