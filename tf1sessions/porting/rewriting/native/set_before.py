"""Variables that TensorFlow 2 makes, and initialises, at another time than a program of TensorFlow 1.

The program is gone through in the order in which it runs, functions where they are called. An assignment or a
checkpoint that may come before an initializer would win over it in TensorFlow 2; and what is saved before the first
step lacks the variables that this makes.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable

from ....source.nodes import is_none
from ..requests.request import NotPossible, names_in
from . import checkpoints, iterators, outputs, slices
from .called_again import gives_variables_values, is_restored_next
from .effects import ASSIGNMENTS
from .unit import Unit, UnitRequest

__all__ = ["check_set_before"]

_ENDS = frozenset(["sys.exit", "exit", "quit", "os._exit"])
_LISTED = ("tf.variables_initializer", "tf.initialize_variables", "tf.initializers.variables")
_SETTING = ASSIGNMENTS | {"minimize", "apply_gradients"}


def check_set_before(unit: Unit) -> None:
    """Refuse initializers that run when variables may have been assigned, trained or restored.

    Notes as well which requests may have run where a checkpoint is written.

    Raises:
        NotPossible: There is such a one.
    """
    if not unit.has_variables():
        return
    walk = _Walk(unit)
    walk.body(unit.node.body, _Progress())
    for function in walk.functions.values():  # those that something else calls
        if function not in walk.seen and any(
            each in unit.initializations or _saves(each) for each in ast.walk(function)
        ):
            walk.body(function.body, _Progress())
    unit.run_before |= walk.run_before


@dataclasses.dataclass(frozen=True)
class _Setting:
    """A statement that gives variables values.

    Attributes:
        names: Their names, and others; None for all variables.
        is_restored: Whether they are those of a checkpoint.
        conditions: The conditions that hold there: the texts of tests, and their values.
    """

    names: frozenset[str] | None
    is_restored: bool
    conditions: tuple[tuple[str, bool], ...]


@dataclasses.dataclass(frozen=True)
class _Progress:
    """The requests and assignments that have been executed where a statement begins.

    Attributes:
        settings: What may have given variables values.
        ran: The names of what requests that change variables have surely computed.
    """

    settings: frozenset[_Setting] = frozenset()
    ran: frozenset[str] = frozenset()

    def behind(self, setting: _Setting, ran: Iterable[str] = ()) -> _Progress:
        return _Progress(self.settings | {setting}, self.ran | frozenset(ran))


_State = _Progress | None  # None where nothing is executed any more


class _Walk:
    """Goes through a program in the order of its execution.

    Args:
        unit: The graph.

    Attributes:
        functions: The functions and methods of the file by name, those that have the same name left out.
        seen: Those that were gone through.
        run_before: What writes a checkpoint -> the names of what requests that change variables have computed before,
            first those that they have surely computed.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._requests = {each.name: each for each in unit.requests}
        self._classes = {each.name: each for each in ast.walk(unit.file.tree) if isinstance(each, ast.ClassDef)}
        found = [each for each in ast.walk(unit.file.tree) if isinstance(each, ast.FunctionDef)]
        names = [each.name for each in found]
        self.functions = {each.name: each for each in found if names.count(each.name) == 1}
        self.seen: set[ast.FunctionDef] = set()
        self.run_before: dict[ast.Call, tuple[frozenset[str], frozenset[str]]] = {}
        calls = [each.func for each in ast.walk(unit.node) if isinstance(each, ast.Call)]
        self._restores = any(isinstance(each, ast.Attribute) and each.attr == "restore" for each in calls)
        self._ends: list[list[_State]] = [[]]  # the states where the functions around return, the outermost first
        self._failing: list[list[_State]] = []  # those where the statements of a try begin
        self._leaving: list[list[_State]] = []  # those where a loop is left, or goes on
        self._conditions: list[tuple[str, bool]] = []
        self._results: dict[tuple[ast.FunctionDef, _State, tuple[tuple[str, bool], ...]], _State] = {}

    # -- statements ------------------------------------------------------------------------------------------------

    def body(self, body: Iterable[ast.stmt], state: _State) -> _State:
        """Go through statements; return the state behind them."""
        for each in body:
            if state is None:
                return None
            state = self._statement(each, state)
        return state

    def _statement(self, node: ast.stmt, state: _State) -> _State:
        if self._failing and not _is_message(node):
            self._failing[-1].append(state)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return state
        if isinstance(node, ast.If):
            return self._choice(node, state)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return self._loop(node, state)
        if isinstance(node, ast.With | ast.AsyncWith):
            for each in node.items:
                state = self._expression(each.context_expr, state)
            return self.body(node.body, state)
        if isinstance(node, ast.Try):
            return self._try(node, state)
        for child in ast.iter_child_nodes(node):
            state = self._expression(child, state)
        if isinstance(node, ast.Return):
            self._ends[-1].append(state)
        if isinstance(node, ast.Break | ast.Continue) and self._leaving:
            self._leaving[-1].append(state)
        return None if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue) else state

    def _choice(self, node: ast.If, state: _State) -> _State:
        state = self._expression(node.test, state)
        text, is_true = self._test(node.test)
        found = []
        for body, value in ((node.body, is_true), (node.orelse, not is_true)):
            self._conditions.append((text, value))
            found.append(self.body(body, state))
            self._conditions.pop()
        return _either(*found)

    def _test(self, node: ast.expr) -> tuple[str, bool]:
        """The text of a test and its value in the branch; an empty text where the value may be another one later."""
        is_true = True
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node, is_true = node.operand, not is_true
        end = ""
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and is_none(node.comparators[0]):
            is_true = is_true is isinstance(node.ops[0], ast.Is | ast.Eq)
            node, end = node.left, " is None"
        names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        is_kept = all(len(self._unit.file.bound.get(each, ())) <= 1 for each in names)
        has_calls = any(isinstance(each, ast.Call | ast.Subscript | ast.NamedExpr) for each in ast.walk(node))
        return (ast.unparse(node) + end if is_kept and not has_calls else ""), is_true

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, state: _State) -> _State:
        state = self._expression(node.test if isinstance(node, ast.While) else node.iter, state)
        self._leaving.append([])
        behind = self.body(node.body, state)
        behind = _either(behind, *self._leaving.pop())
        if not _is_entered(node):
            behind = _either(state, behind)
        elif behind is not None and state is not None:  # it may end before its first turn does
            behind = dataclasses.replace(behind, settings=behind.settings | state.settings)
        return self.body(node.orelse, behind)

    def _try(self, node: ast.Try, state: _State) -> _State:
        self._failing.append([])
        behind = self.body(node.body, state)
        failed = _either(*self._failing.pop())
        behind = self.body(node.orelse, behind)
        behind = _either(behind, *(self.body(each.body, failed) for each in node.handlers))
        return self.body(node.finalbody, behind)

    # -- expressions -----------------------------------------------------------------------------------------------

    def _expression(self, node: ast.AST, state: _State) -> _State:
        if isinstance(node, ast.Lambda):
            return state
        for child in ast.iter_child_nodes(node):
            state = self._expression(child, state)
        return self._call(node, state) if isinstance(node, ast.Call) and state is not None else state

    def _call(self, node: ast.Call, state: _Progress) -> _State:
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        owner = getattr(function.value, "id", "") if isinstance(function, ast.Attribute) else ""
        is_method = isinstance(function, ast.Attribute)
        if not is_method and name in self._requests:
            return self._request(node, self._requests[name], state)
        if owner == self._unit.legacy:
            if name == "reset":
                return _Progress(ran=state.ran)
            return state.behind(self._set(node.args, [], False)) if self._sets(node.args) else state
        if name == "save" and self._unit.legacy in names_in(node.args):
            names = frozenset().union(*(each.names or () for each in state.settings if not each.is_restored))
            surely = state.ran if self._restores else names  # its loops may have nothing left to do
            known = self.run_before.get(node, (surely, names))
            self.run_before[node] = surely & known[0], names & known[1]
        if name == "restore" and self._unit.legacy in names_in(node.args):
            return state.behind(_Setting(self._saved(owner), True, tuple(self._conditions)))
        if ast.unparse(function) in _ENDS:
            return None
        if ast.unparse(function).endswith("app.run"):
            given = [*node.args, *(each.value for each in node.keywords if each.arg == "main")][:1]
            name = getattr(given[0], "id", "") if given else "main"
        elif name in self._classes and not is_method:
            body = self._classes[name].body
            made = next((each for each in body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
            return state if made is None else self._called(made, state)
        called = self.functions.get(name)
        return state if called is None else self._called(called, state)

    def _called(self, function: ast.FunctionDef, state: _State) -> _State:
        """Go through a function that is called; one that calls itself once."""
        self.seen.add(function)
        key = function, state, tuple(self._conditions)
        if key not in self._results:
            self._results[key] = state
            self._ends.append([])
            leaving, self._leaving = self._leaving, []
            behind = self.body(function.body, state)
            self._leaving = leaving
            self._results[key] = _either(behind, *self._ends.pop())
        return self._results[key]

    # -- requests --------------------------------------------------------------------------------------------------

    def _request(self, call: ast.Call, request: UnitRequest, state: _Progress) -> _State:
        unit = self._unit
        if not all(map(unit.is_initializer, request.leaves)):
            items = slices.needed(unit.items, names_in(request.leaves), request.feeds)
            nodes = [*request.leaves, *(item.statement for item in items)]
            nodes += [each.context_expr for item in items for block in item.context for each in block.items]
            names = [name for item in items for name in item.binds | item.reads]
            if not self._sets(nodes):
                return state
            setting = self._set(request.leaves, names, False)
            return state.behind(setting, setting.names or ())
        statement = unit.file.statement(call)
        if statement not in unit.initializations or not gives_variables_values(unit, request):
            return state
        begun = self._initialised(request)
        for each in sorted(state.settings, key=lambda one: one.is_restored):
            if self._is_reset(each, begun) and not (
                is_restored_next(unit, statement) or outputs.has_others_behind(unit, statement)
            ):
                what = "they were restored" if each.is_restored else "a request has given them others"
                raise NotPossible(call, f"Variables are given their initial values after {what}")
        return _Progress(ran=state.ran) if begun is None else state

    def _is_reset(self, setting: _Setting, names: frozenset[str] | None) -> bool:
        """Whether an initializer may take the values again that something has set."""
        tests = dict(self._conditions)
        if any(text and tests.get(text, value) is not value for text, value in setting.conditions):
            return False
        return names is None or setting.names is None or bool(names & setting.names)

    def _initialised(self, request: UnitRequest) -> frozenset[str] | None:
        """The names of the variables that initializers give values; None for all, or where they are not known."""
        names: set[str] = set()
        for part in (part for leaf in request.leaves for part in iterators.parts(self._unit, leaf)):
            if isinstance(part, ast.Attribute):
                names |= names_in([part.value])
            elif isinstance(part, ast.Call) and self._unit.kinds.symbol(part.func) in _LISTED and part.args:
                listed = part.args[0]
                if not isinstance(listed, ast.List | ast.Tuple):
                    return None
                names |= names_in(listed.elts)
            elif isinstance(part, ast.Call) and _gives_all(self._unit, part):
                return None
        return frozenset(names)

    def _set(self, leaves: Iterable[ast.expr], names: Iterable[str], is_restored: bool) -> _Setting:
        return _Setting(frozenset([*names_in(leaves), *names]), is_restored, tuple(self._conditions))

    def _saved(self, saver: str) -> frozenset[str] | None:
        """The names of the variables of a saver; none where they are not known, None for all."""
        made = [getattr(item.statement, "value", None) for item in self._unit.items if saver in item.binds]
        for call in made:
            if isinstance(call, ast.Call) and checkpoints.is_saver(self._unit.kinds, call):
                given = [*call.args, *(each.value for each in call.keywords if each.arg == "var_list")]
                return frozenset(names_in(given[:1])) if given else None
        return frozenset()

    def _sets(self, nodes: Iterable[ast.AST]) -> bool:
        """Whether code assigns variables, functions of the program included that it calls."""
        entered: set[str] = set()
        left = list(nodes)
        while left:
            for each in ast.walk(left.pop()):
                if not isinstance(each, ast.Call):
                    continue
                symbol = self._unit.kinds.symbol(each.func)
                name = symbol.rpartition(".")[2] if symbol else getattr(each.func, "attr", "")
                if name in _SETTING or name.startswith("scatter_"):
                    return True
                called = getattr(each.func, "id", "")
                if called in self.functions and called not in entered:
                    entered.add(called)
                    left.append(self.functions[called])
        return False


def _saves(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "save"


def _is_entered(node: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether a loop surely has a first turn: ``for i in range(10):``."""
    if isinstance(node, ast.While):
        return isinstance(node.test, ast.Constant) and bool(node.test.value)
    call = node.iter
    given = call.args if isinstance(call, ast.Call) and ast.unparse(call.func) in ("range", "xrange") else []
    return len(given) == 1 and isinstance(given[0], ast.Constant) and bool(given[0].value)


def _gives_all(unit: Unit, part: ast.Call) -> bool:
    """Whether an initializer is that of all variables that are not local."""
    symbol = unit.kinds.symbol(part.func) or ""
    return not iterators.is_local(unit, part) and "table" not in symbol and iterators.iterator_of(unit, part) is None


def _either(*states: _State) -> _State:
    found = [each for each in states if each is not None]
    if not found:
        return None
    settings = frozenset().union(*(each.settings for each in found))
    return _Progress(settings, frozenset.intersection(*(each.ran for each in found)))


def _is_message(node: ast.stmt) -> bool:
    """Whether a statement prints or logs something, which does not fail."""
    call = node.value if isinstance(node, ast.Expr) else None
    function = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    return function == "print" or ".info" in function or "logging." in function
