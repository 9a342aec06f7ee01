"""Sessions that are asked again after another one has begun: a LegacyGraph has the values of one session."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from ....source.uses import FileUses
from .graph_code import GraphCode, called_name, own_nodes
from .request import NotPossible, Request

__all__ = ["check_alive"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_KEEPING = frozenset(["append", "add", "extend", "insert", "setdefault", "update"])
_WHAT = "A session is asked again after another one has begun, which has variables of its own"

_Place = tuple[int, int]


def check_alive(code: GraphCode, file: FileUses, begun: list[tuple[ast.stmt, str]]) -> None:
    """Refuse a file with a session that takes the values from another one that is still used.

    Args:
        code: Of the program.
        file: The file.
        begun: The statements that begin a session of a graph that may have had one before, with the name of the graph.

    Raises:
        NotPossible: There is one.
    """
    for statement, legacy in begun:
        inside = _End(code, file, statement)
        if inside.is_followed():
            raise NotPossible(statement, _WHAT)
        function = _around(file, statement)
        names = _names(function, file)
        ends = [_End(code, other, call) for other, call in _calls(code, names)]
        for each in ends:
            each.own |= _of_new_object(each.file, each.node, statement, names)
        if any(each.is_followed() for each in ends):
            raise NotPossible(statement, _WHAT)
        # An attribute, ``self.graph``, is a graph for each object.
        if "." not in legacy and _is_kept(file, statement) and _are_used_in_turn(code, file, statement, function):
            raise NotPossible(statement, _WHAT)


def _around(file: FileUses, node: ast.AST) -> ast.AST:
    """The function or module that a node is in."""
    return next((each for each in file.around(node) if isinstance(each, (*_FUNCTIONS, ast.Module))), file.tree)


def _names(function: ast.AST, file: FileUses) -> set[str]:
    """The names by which a function is called: a constructor by that of its class, a method as ``".train"``."""
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    parent = file.parents[function]
    if not isinstance(parent, ast.ClassDef):
        return {function.name}
    return {parent.name if function.name == "__init__" else f".{function.name}"}


def _called(file: FileUses, call: ast.Call) -> str | None:
    """The name of :func:`_names` that a call has."""
    name = called_name(call)
    if not isinstance(call.func, ast.Attribute):
        return name
    is_of_module = isinstance(call.func.value, ast.Name) and call.func.value.id in {each.bound for each in file.imports}
    return name if is_of_module else f".{name}"


def _calls(code: GraphCode, names: set[str]) -> Iterator[tuple[FileUses, ast.Call]]:
    """Yield the calls of functions of these names, and of those that call them."""
    names, known = set(names), set[str]()
    while names - known:
        new, known = names - known, set(names)
        for file, call in _calls_of(code, new):
            names |= _names(_around(file, call), file)
            yield file, call


def _calls_of(code: GraphCode, names: set[str]) -> Iterator[tuple[FileUses, ast.Call]]:
    for file in code.files:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Call) and _called(file, node) in names and not code.is_request(file, node):
                yield file, node


def _of_new_object(file: FileUses, call: ast.AST, begun: ast.stmt, names: set[str]) -> set[str]:
    """Return the sessions that begin by ``self.sess = tf.Session()`` in a constructor, as the call has them.

    They are ``agent.sess`` for ``agent = Agent()``, if nothing else binds that name.
    """
    made = file.parents[call]
    name = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    if not isinstance(name, ast.Name) or not isinstance(begun, ast.Assign) or any(each[0] == "." for each in names):
        return set()
    if not isinstance(call, ast.Call) or {_called(file, call)} != names:
        return set()
    bound = [each for each in ast.walk(file.tree) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)]
    if sum(each.id == name.id for each in bound) > 1:
        return set()
    kept = [each for each in begun.targets if isinstance(each, ast.Attribute) and ast.unparse(each.value) == "self"]
    return {f"{name.id}.{each.attr}" for each in kept}


def _start(node: ast.AST) -> _Place:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.AST) -> _Place:
    return node.end_lineno or 0, node.end_col_offset or 0  # type: ignore[attr-defined]


class _End:
    """A place where the values of earlier sessions end: a statement that begins a session, or a call that does.

    Attributes:
        own: The sessions that begin here, as they are written.
    """

    def __init__(self, code: GraphCode, file: FileUses, node: ast.AST) -> None:
        self.code, self.file, self.node = code, file, node
        self._scope = _around(file, node)
        body = getattr(self._scope, "body", [])
        self._nodes = [each for one in (body if isinstance(body, list) else [body]) for each in own_nodes(one)]
        around = itertools.takewhile(lambda each: each is not self._scope, file.around(node))
        self._around = [each for each in around if isinstance(each, ast.stmt) and each is not node]
        self.own: set[str] = set()
        if isinstance(node, ast.With):
            self.own = {ast.unparse(each.optional_vars) for each in node.items if each.optional_vars is not None}
        elif isinstance(node, ast.Assign):
            self.own = {ast.unparse(each) for each in node.targets}

    def is_followed(self) -> bool:
        """Whether an earlier session is asked behind it, or before it in the next turn of a loop."""
        sessions = [each for each in self._nodes if self.code.is_session(each) and self._is_asked(each)]
        used = [each for each in sessions if ast.unparse(each) not in self.own]
        return any(self._is_behind(each, ast.unparse(each)) for each in used) or self._default_is_asked()

    def _is_asked(self, node: ast.AST) -> bool:
        if not isinstance(getattr(node, "ctx", None), ast.Load):
            return False
        parent = self.file.parents[node]
        return not (isinstance(parent, ast.Attribute) and parent.attr in ("close", "graph"))

    def _is_behind(self, node: ast.AST, session: str) -> bool:
        bindings = [each for each in self._nodes if self._binds(each, session)]
        begins = _start(self.node) if isinstance(self.node, ast.With) else _end(self.node)
        if bindings and not any(_start(each) < _start(self.node) for each in bindings):
            return False
        if _start(node) > begins:
            return not any(begins < _start(each) < _start(node) for each in bindings)
        for loop in self._around:
            inside = set(ast.walk(loop)) if isinstance(loop, _LOOPS) else set()
            if node in inside and inside.isdisjoint(bindings):
                return True
        return False

    @staticmethod
    def _binds(node: ast.AST, session: str) -> bool:
        is_target = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)
        return is_target and ast.unparse(node) == session

    def _default_is_asked(self) -> bool:
        """Whether a request to the default session, which began before, comes behind."""
        entered = [each for each in self._around if isinstance(each, ast.With) and self._enters(each)]
        interactive = [each for each in self._nodes if isinstance(each, ast.Call) and self._is_interactive(each)]
        is_made = any(_start(each) < _start(self.node) for each in interactive)
        for call in self._nodes:
            if not isinstance(call, ast.Call) or not self.code.is_request(self.file, call):
                continue
            if Request.of(self.code, self.file, call).session is not None or call in ast.walk(self.node):
                continue
            inside = any(call in ast.walk(each) for each in entered)
            if (inside or is_made) and self._is_behind(call, ""):
                return _start(call) > _end(self.node) or inside
        return False

    def _enters(self, statement: ast.With) -> bool:
        given = [item.context_expr for item in statement.items]
        is_default = [isinstance(each, ast.Call) and called_name(each) == "as_default" for each in given]
        return any(self.code.makes_session(self.file, each) for each in given) or any(is_default)

    def _is_interactive(self, call: ast.Call) -> bool:
        return self.code.symbol(self.file, call.func) == "tf.InteractiveSession"


def _is_kept(file: FileUses, statement: ast.stmt) -> bool:
    """Whether the session that a statement begins is kept behind the function, or the turn of the loop, around it."""
    if not isinstance(statement, ast.Assign):
        return False
    if any(not isinstance(each, ast.Name) for each in statement.targets):
        return True
    names = {each.id for each in statement.targets if isinstance(each, ast.Name)}
    return any(_keeps(file, names, node) for node in ast.walk(_around(file, statement)))


def _keeps(file: FileUses, names: set[str], node: ast.AST) -> bool:
    """Whether a node is one of some names, where something keeps its value."""
    if not isinstance(node, ast.Name) or node.id not in names or not isinstance(node.ctx, ast.Load):
        return False
    parent = file.parents[node]
    while isinstance(parent, ast.Tuple | ast.List | ast.Dict):
        parent = file.parents[parent]
    if isinstance(parent, ast.Call):
        return called_name(parent) in _KEEPING and node is not parent.func
    if isinstance(parent, ast.Assign):
        return not all(isinstance(each, ast.Name) for each in parent.targets)
    return isinstance(parent, ast.Return | ast.Yield)


def _are_used_in_turn(code: GraphCode, file: FileUses, statement: ast.stmt, function: ast.AST) -> bool:
    """Whether several of the sessions that a statement begins are kept: its function is called for each of them."""
    if isinstance(function, ast.Module):
        return any(isinstance(each, _LOOPS) for each in file.around(statement))
    parent = file.parents[function]
    names = {parent.name} if isinstance(parent, ast.ClassDef) else _names(function, file)
    calls = list(_calls_of(code, names))
    for other, call in calls:
        made = other.parents[call]
        name = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
        inside = [*itertools.takewhile(lambda each: not isinstance(each, _FUNCTIONS), other.around(call))]
        if any(isinstance(each, _COMPREHENSIONS) for each in inside):
            return True
        if not isinstance(name, ast.Name):
            if any(isinstance(each, _LOOPS) for each in inside) and not isinstance(made, ast.Attribute | ast.withitem):
                return True
            continue
        if any(isinstance(each, _LOOPS) for each in inside) and _is_kept(other, made):  # type: ignore[arg-type]
            return True
        if any(_is_used_behind(other, name, call, later) for _, later in calls):
            return True
    statements = [next(each for each in other.around(call) if isinstance(each, ast.stmt)) for other, call in calls]
    return len(set(statements)) < len(statements)


def _is_used_behind(file: FileUses, name: ast.Name, call: ast.Call, later: ast.Call) -> bool:
    """Whether a name that a call binds is read behind a later one, which does not bind it anew."""
    scope = _around(file, call)
    if later is call or later not in ast.walk(scope) or _start(later) < _start(call):
        return False
    named = [each for each in ast.walk(scope) if isinstance(each, ast.Name) and each.id == name.id]
    bound = [_start(each) for each in named if not isinstance(each.ctx, ast.Load)]
    behind = file.parents[later]
    anew = [each for each in ast.walk(behind) if isinstance(behind, ast.Assign) and each in named]
    read = [_start(each) for each in named if isinstance(each.ctx, ast.Load) and _start(each) > _end(later)]
    return not anew and any(not any(_end(later) < one < each for one in bound) for each in read)
