"""The statements of a module or a function: what builds goes into ``with legacy:``, and requests become calls."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import NamedTuple, TypeGuard

from ....source.uses import FileUses, bodies
from .alive import check_alive
from .changes import changes, used
from .file_plan import FilePlan, graph_of_session, header_end
from .graph_code import GraphCode, called_name, own_nodes
from .known import is_map, refuse_built, user_before
from .request import NotPossible, Request, function_name, names_in
from .session_parameters import drop_parameters

__all__ = ["RUNNERS", "planned"]

RUNNERS = "tf.train.start_queue_runners"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: Parts of an expression of names alone.
_NAMES = (ast.Name, ast.List, ast.Tuple, ast.Dict, ast.Constant, ast.expr_context)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)


class _Block(NamedTuple):
    """The last statement that builds before a session, those up to the session, and those that use the session."""

    last: ast.stmt
    between: list[ast.stmt]
    statements: list[ast.stmt]


def planned(code: GraphCode, file: FileUses, is_shared: bool = False) -> FilePlan:
    """Return what changes in a file, whose default graph may be that of other files, too.

    Raises:
        NotPossible: It cannot change.
    """
    plan = FilePlan(code, file, is_shared)
    scopes: dict[ast.AST, _ScopePlan] = {}
    for node in ast.walk(file.tree):  # a scope comes before those inside of it
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if _makes_a_session(node, code, file) or not any(code.has_requests(file, each) for each in node.body):
                continue
        elif not isinstance(node, ast.Module):
            continue
        scopes[node] = _ScopePlan(plan, node, [scopes[each] for each in file.around(node) if each in scopes])
        scopes[node].port()
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Lambda):
            _keep_requests(node, plan, [scopes[each] for each in file.around(node) if each in scopes])
    needing = {node for node, scope in scopes.items() if scope.names_legacy and scope.legacy in scope.parameters()}
    drop_parameters(plan, needing.union(*(file.around(node) for node in needing)))
    for statement in file.tree.body:
        if _makes_a_session(statement, code, file):
            if all(plan.is_gone(node) for node in ast.walk(file.tree) if _is_name(node, statement.name)):
                plan.delete_lines(statement.lineno, statement.end_lineno or statement.lineno)
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and code.makes_session(file, node) and not plan.is_gone(node.func):
            raise NotPossible(node, "A session is made in a way that is not known")
    check_alive(code, file, plan.begun)
    plan.enter_graphs()
    plan.finish()
    return plan


def _makes_a_session(node: ast.AST, code: GraphCode, file: FileUses) -> TypeGuard[ast.FunctionDef]:
    """Whether a node defines a function that only makes a session: nothing calls it afterwards."""
    return isinstance(node, ast.FunctionDef) and node.name in code.session_makers[file]


def _keep_requests(function: ast.Lambda, plan: FilePlan, around: list[_ScopePlan]) -> None:
    """Have the requests of a lambda be ones of the LegacyGraph: there is no place for a function before them.

    Raises:
        NotPossible: One adds to the graph where it is called, and that place is not known.
    """
    code, file = plan.code, plan.file
    calls = [node for node in ast.walk(function.body) if isinstance(node, ast.Call) and code.is_request(file, node)]
    for call in sorted(calls, key=lambda each: file.positions.span(each)[0], reverse=True):
        has_name = isinstance(file.parents[function], ast.Assign)
        if not around or (code.builds(file, Request.of(code, file, call).fetches) and not has_name):
            raise NotPossible(call, "A lambda without a name adds to the graph, and runs a session")
        request = Request.of(code, file, call)
        if request.session is None and not around[0].is_made:
            raise NotPossible(call, "A function runs a session that it is not given")
        around[0].keep(request)


def _is_name(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name


class _ScopePlan:
    """See the module.

    Args:
        plan: Of the file.
        node: The module or function.
        around: The scopes around it, the nearest first.

    Attributes:
        legacy: The name of its LegacyGraph.
        is_made: Whether the name is bound to one where the walk is; and afterwards, when the scope has run.
        names_legacy: Whether what is put into the scope has that name in it.
        groups: The last statement of each group of statements that builds, whenever the scope runs.
    """

    def __init__(
        self, plan: FilePlan, node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef, around: list[_ScopePlan]
    ) -> None:
        self.plan, self.code, self.file, self.node = plan, plan.code, plan.file, node
        self._nodes: list[ast.AST] | None = None  # without those of functions and classes in it
        legacy = next((each.legacy for each in around if each.is_made), None)
        #: The scope in which the only session is made, if this one is inside of it.
        self._home = next((each for each in around if each.groups and each.has_only_session()), None)
        self.is_made: bool = legacy is not None
        self._sessions = self._own_sessions()
        self._builds = any(self._is_building(each) for each in node.body)
        self._block: _Block | None = None
        self.names_legacy = False
        self.groups: list[ast.stmt] = []
        self._always: set[ast.AST] = {node}  # the scope, and what is dissolved in it: their statements are run with it
        self._lists: set[str] = set()
        self._in_scope = False  # whether the walk is in a ``with`` of TensorFlow's that is put into a block as a whole
        self._between: list[ast.stmt] = []  # statements between what builds and the statement where the walk is
        # Whether no session was made of the graph where the walk is.
        self._is_first = legacy is None or (plan.session_count == 1 and self._runs_once())
        # By what they fetch and feed: the name, and the branch in which it is bound.
        self._functions: dict[tuple[str, str, int], tuple[str, ast.AST | None]] = {}
        self._names: set[str] = set()  # of the functions
        self._late: dict[str, tuple[ast.stmt, str]] = {}  # those of them that are made before a statement, by a line
        self.legacy: str = self._own_name() or legacy or self._new_name()
        self._is_first &= "." not in self.legacy  # another method may have made a session of the graph of its class
        has_session = any(self.code.makes_session(self.file, each) for each in self._own_nodes())
        #: Whether it makes functions itself: one that is called again and again would make them each time.
        self._makes_functions = has_session or self._runs_once()

    # -- names -----------------------------------------------------------------------------------------------------

    def _own_nodes(self) -> list[ast.AST]:
        if self._nodes is None:
            inside = [each for each in self.node.body if not isinstance(each, _DEFINITIONS)]
            self._nodes = [node for each in inside for node in own_nodes(each)]
        return self._nodes

    def _own_sessions(self) -> set[str]:
        """The names that this scope binds to a session."""
        found = set()
        for node in self._own_nodes():
            if isinstance(node, ast.Assign) and self.code.makes_session(self.file, node.value):
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.withitem) and self.code.makes_session(self.file, node.context_expr):
                if isinstance(node.optional_vars, ast.Name):
                    found.add(node.optional_vars.id)
        return found

    def _own_name(self) -> str | None:
        """The name of a graph that the scope makes or is given, or of a session that it is given."""
        for node in self._own_nodes():
            if isinstance(node, ast.withitem) and self._is_default_graph(node.context_expr):
                name = node.optional_vars or self._graph_of(node.context_expr)
                if isinstance(name, ast.Name) or self.plan.is_graph(name):
                    self.is_made = self.is_made or self.plan.is_graph(name)
                    return ast.unparse(name)
            if isinstance(node, ast.Call) and self.code.makes_session(self.file, node):
                if self.plan.is_graph(each := graph_of_session(node)):
                    self.is_made = True
                    return ast.unparse(each)
        given = next((each for each in self.parameters() if each in self.code.sessions), None)
        if isinstance(self.node, ast.Module):
            given = self._imported_session()
        self.is_made = self.is_made or given is not None
        has_default = isinstance(self.node, ast.Module) or bool(self.node.args.defaults or self.node.args.kw_defaults)
        in_class = isinstance(self.file.parents.get(self.node), ast.ClassDef)
        if given is not None and self._home is not None and not (has_default or in_class):
            self._sessions.add(given)  # it can only be given the session of that scope
            return self._home.legacy
        if given is None and not self.is_made and not isinstance(self.node, ast.Module):
            given = self._session_of_an_object()
            self.is_made = given is not None
        return given

    def _session_of_an_object(self) -> str | None:
        """The session, ``self.sess``, of all requests of a function, if there is one and it is no monitored one."""
        if any(self.code.makes_session(self.file, each) for each in self._own_nodes()):
            return None
        calls = [each for each in self._own_nodes() if self.code.is_request(self.file, each)]
        sessions = [Request.of(self.code, self.file, each).session for each in calls if isinstance(each, ast.Call)]
        if len({None if each is None else ast.unparse(each) for each in sessions}) != 1:
            return None
        found = sessions[0]
        if not isinstance(found, ast.Attribute) or not isinstance(found.value, ast.Name):
            return None
        return None if found.attr in self.code.monitored else ast.unparse(found)

    def _imported_session(self) -> str | None:
        """The name of a session that the module imports from another file of the program."""
        for each in self.file.imports:
            other = self.file.files_of_imports.get(each.module)
            if other is None:
                continue
            assigned = [node for node in ast.walk(other.tree) if isinstance(node, ast.Assign)]
            made = [node for node in assigned if self.code.makes_session(other, node.value)]
            if any(_is_name(target, each.alias.name) for node in made for target in node.targets):
                return each.bound
        return None

    def _new_name(self) -> str:
        name = "legacy"
        while self.file.taken(name):
            name += "_"
        return name

    def has_only_session(self) -> bool:
        """Say whether the code inside of this scope can only get the one session that the program makes in it.

        What a module makes as the main program alone is not all: another file may import its functions.
        """
        session = self.plan.only_session
        if session is None or self.node not in (around := list(self.file.around(session))):
            return False
        is_module = isinstance(self.node, ast.Module)
        return not (is_module and any(isinstance(each, ast.If | ast.FunctionDef | ast.ClassDef) for each in around))

    def _runs_once(self) -> bool:
        """Whether the function runs once at most, as a ``main`` does."""
        if isinstance(self.node, ast.Module):
            return True
        if isinstance(self.file.parents[self.node], ast.ClassDef):
            return False
        uses = [node for node in ast.walk(self.file.tree) if isinstance(node, ast.Name) and node.id == self.node.name]
        inside: list[ast.AST] = list(uses)
        for node in inside:
            if (parent := self.file.parents.get(node)) is not None:
                inside.append(parent)
        again = (*_LOOPS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        return len(uses) <= 1 and not any(isinstance(node, again) or is_map(node) for node in inside)

    def _function_name(self, fetches: ast.expr) -> str:
        """A name for the function of a request, which nothing has that the scope sees."""
        name = free = function_name(fetches)
        number = 1
        while self.file.taken(free) or free in self.plan.module_functions or free in self._names:
            number += 1
            free = f"{name}_{number}"
        self._names.add(free)
        if isinstance(self.node, ast.Module):
            self.plan.module_functions.add(free)
        return free

    def parameters(self) -> list[str]:
        if isinstance(self.node, ast.Module):
            return []
        arguments = self.node.args
        return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]

    # -- the whole -------------------------------------------------------------------------------------------------

    def port(self) -> None:
        """Plan the edits.

        Raises:
            NotPossible: It runs a session in a way that cannot change.
        """
        nodes = list(self._own_nodes())
        has_session = any(
            self.code.makes_session(self.file, node) or self.code.is_monitored(self.file, node) for node in nodes
        )
        has_requests = any(self.code.has_requests(self.file, node) for node in nodes)
        is_module = isinstance(self.node, ast.Module)
        if not (has_session or has_requests or (self._builds and is_module)):
            return
        if not (self.is_made or has_session or is_module):
            if self._builds or any(self._is_of_default_session(node) for node in nodes):
                raise NotPossible(self.node, "A function runs a session that it is not given")
            return
        self._name_the_graph()
        self._statements(self.node.body, None)

    def _is_of_default_session(self, node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Call)
            and self.code.is_request(self.file, node)
            and Request.of(self.code, self.file, node).session is None
        )

    def _name_the_graph(self) -> None:
        """Put the LegacyGraph in place of the session where that is named; the calls come later."""
        for node in ast.walk(self.node):
            if isinstance(node, ast.Name) and node.id in self._sessions - {self.legacy}:
                if isinstance(node.ctx, ast.Load) and self.code.scope_of(node) is self.node:
                    self.plan.replace(node, self.legacy)
        for node in self._own_nodes():
            if isinstance(node, ast.Call) and self.code.symbol(self.file, node.func) == RUNNERS:
                given = [f"coord={self.plan.text(each)}" for each in node.args[1:2]]
                given += [self.plan.text(each) for each in node.keywords if each.arg != "sess"]
                self.names_legacy = True
                self.plan.replace(node, f"{self.legacy}.start_queue_runners({', '.join(given)})")

    # -- statements ------------------------------------------------------------------------------------------------

    def _statements(self, statements: list[ast.stmt], outer: ast.stmt | None) -> None:
        """Port a list of statements. ``outer`` is the outermost loop around it: functions are made before that."""
        group: list[ast.stmt] = []  # what builds, with what is between
        others: list[ast.stmt] = []  # what may follow into the group
        for index, statement in enumerate(statements):
            if index and self.plan.cell(statement) != self.plan.cell(statements[index - 1]):
                self._close(group)
                group, others = [], []
            if isinstance(statement, (*_DEFINITIONS, ast.Import, ast.ImportFrom)) or self.plan.is_masked(statement):
                self._close(group)
                group, others = [], []
                if (value := self.code.defined_with(self.file, statement)) is not None:
                    raise NotPossible(value, "A definition computes with a part of the graph when it is executed")
            elif self._has_to_change(statement):
                self._refuse_shared_line(statements, statement)
                before, self._between, group, others = group, others, [], []
                if before:
                    self._make(before[0])
                self._statement(statement, outer or statement, before)
                is_session = isinstance(statement, ast.Assign) and self.code.makes_session(self.file, statement.value)
                if before and is_session and not self._in_scope:
                    self._block = _Block(before[-1], self._between, statements[index + 1 :])
                self._close(before)
            elif self._is_building(statement) and not self.plan.is_of_default_graph(statement, self.legacy):
                if not group:  # with what is on the same line
                    others = [each for each in others if each.end_lineno == statement.lineno]
                group += [*others, statement]
                others = []
            else:
                others.append(statement)
        self._close(group)

    def _is_building(self, statement: ast.stmt) -> bool:
        if isinstance(statement, (*_DEFINITIONS, ast.Import, ast.ImportFrom)):
            return False
        return self.code.builds(self.file, statement)

    def _has_to_change(self, statement: ast.stmt) -> bool:
        """Whether a statement runs a session, or makes or enters a graph."""
        if self.code.has_requests(self.file, statement):
            return True
        nodes = list(own_nodes(statement))
        names_session = any(isinstance(node, ast.Name) and node.id in self._sessions for node in nodes)
        return (names_session and not self._is_building(statement)) or any(map(self._is_of_graph, nodes))

    def _is_of_graph(self, node: ast.AST) -> bool:
        return (
            self.plan.is_new_graph(node)
            or self._resets(node)
            or (isinstance(node, ast.withitem) and self._is_default_graph(node.context_expr))
        )

    def _resets(self, node: ast.AST) -> bool:
        """Whether an expression is ``tf.reset_default_graph()``."""
        symbol = self.code.symbol(self.file, node.func) if isinstance(node, ast.Call) else None
        return (symbol or "").endswith("reset_default_graph")

    def _graph_of(self, node: ast.expr) -> ast.expr | None:
        """Return the expression ``graph`` of ``graph.as_default()``; None for anything else."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "as_default":
            return node.func.value
        return None

    def _is_default_graph(self, node: ast.expr) -> bool:
        """Whether it is ``graph.as_default()`` or ``tf.Graph().as_default()``."""
        graph = self._graph_of(node)
        if graph is None:
            return False
        return self.plan.is_new_graph(graph) or self.plan.is_graph(graph)

    @staticmethod
    def _refuse_shared_line(statements: list[ast.stmt], statement: ast.stmt) -> None:
        for other in statements:
            first, last = max(other.lineno, statement.lineno), min(other.end_lineno or 0, statement.end_lineno or 0)
            if other is not statement and first <= last:
                raise NotPossible(statement, "Two statements are on one line")

    def _statement(self, statement: ast.stmt, place: ast.stmt, group: list[ast.stmt]) -> None:
        """Port a statement that has to change.

        Args:
            statement: The statement.
            place: Before this one, functions are made: the statement, or the outermost loop around it.
            group: What builds right before the statement.
        """
        if self.code.is_monitored(self.file, statement):  # its hooks add to the graph
            self._close([statement])
            return
        if isinstance(statement, ast.With) and self._dissolved(statement, place, group):
            return
        if isinstance(statement, ast.Assign) and self.code.makes_session(self.file, statement.value):
            self._session_assigned(statement, place, group)
            return
        if isinstance(statement, ast.Assign) and self.plan.is_new_graph(statement.value):
            self._is_first = True
        if isinstance(statement, ast.Expr):
            if self._is_call_of_session(statement.value, "close"):
                self._delete(statement)
                return
            if self._resets(statement.value):
                if self.plan.is_shared:
                    raise NotPossible(statement, "The default graph of several files is reset")
                is_named = self.is_made or not isinstance(self.node, ast.Module)
                if not is_named and (user := user_before(self.code, self.file, statement)) is not None:
                    self._make(user)
                self.plan.replace(statement, f"{self.legacy} = {self.plan.new_graph}")
                self.plan.need_import()
                self.is_made = self._is_first = True
                return
        inner = bodies(statement)
        if not inner:
            if self._requests(statement, place) or self._is_building(statement):  # LegacySaver().save(...)
                self._close([statement])
            return
        for header in _headers(statement):
            if self._requests(header, place):
                raise NotPossible(header, "What decides about a block adds to the graph")
            computes = isinstance(statement, ast.For) and self.code.computes(self.file, header)
            if computes or (not isinstance(statement, ast.With) and self.code.asks_graph(self.file, header)):
                self._listed(statement, header)
        is_loop = isinstance(statement, _LOOPS) or place is not statement
        is_entered = isinstance(statement, ast.With) and self._scope_entered(statement)
        if isinstance(statement, ast.With) and not self._in_scope:
            refuse_built(self.code, self.file, statement)
        for body in inner:
            self._statements(body, place if is_loop else None)
        self._in_scope &= not is_entered

    def _scope_entered(self, statement: ast.With) -> bool:
        """Put a ``with`` of requests into a block as a whole, if it is a scope of the graph that reaches what is in it.

        It is one of TensorFlow's, as ``tf.name_scope("a")``, or of the program's own, and something in it builds.
        """
        nodes = [node for each in statement.body for node in own_nodes(each)]
        entered = [item.context_expr for item in statement.items]
        is_scope = any(self.code.builds(self.file, each) or self.code.is_value(self.file, each) for each in entered)
        if self._in_scope or not is_scope or not any(map(self._may_build, nodes)):
            return False
        if any(map(self._is_of_graph, nodes)):
            raise NotPossible(statement, "Another graph is made or entered inside of a scope")
        if any(self.plan.is_masked(each) for each in nodes if isinstance(each, ast.stmt)):
            raise NotPossible(statement, "A magic line of the notebook is where a session is used")
        self._make(statement)
        self.names_legacy = True
        self.plan.move_into_block([statement], f"with {self.legacy}:")
        self._in_scope = True
        return True

    def _may_build(self, node: ast.AST) -> bool:
        """Whether an expression builds, or calls a function that runs a session and may build as well."""
        if isinstance(node, ast.Call) and called_name(node) in self.code.requesters:
            return True
        return isinstance(node, ast.expr) and self.code.builds(self.file, node)

    def _listed(self, statement: ast.stmt, header: ast.AST) -> None:
        """Have the graph that a loop goes over, ``for v in tf.global_variables():``, asked before it, in the block."""
        if not isinstance(statement, ast.For):
            raise NotPossible(header, "What decides about a block adds to the graph")
        name, number = "listed", 1
        while self.file.taken(name) or name in self._lists:
            number += 1
            name = f"listed_{number}"
        self._lists.add(name)
        self._make(statement)
        self.names_legacy = True
        indent = self.plan.indentation.unit(self.plan.indentation.around(statement.lineno))
        self.plan.put_before(statement, f"with {self.legacy}:")
        self.plan.put_before(statement, f"{indent}{name} = {self.plan.text(header)}")
        self.plan.replace(header, name)

    def _is_call_of_session(self, node: ast.expr, name: str) -> bool:
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == name
            and self.code.is_session(node.func.value)
        )

    def _delete(self, statement: ast.stmt) -> None:
        parent = self.file.parents[statement]
        if any(body == [statement] for body in bodies(parent)):
            self.plan.replace(statement, "pass")
        else:
            self.plan.delete_lines(statement.lineno, statement.end_lineno or statement.lineno)

    # -- sessions and graphs ---------------------------------------------------------------------------------------

    def _session_begins(self, statement: ast.stmt, place: ast.stmt, group: list[ast.stmt]) -> None:
        """Have the LegacyGraph be as a session finds it: made, and without the values of an earlier session."""
        self._make(group[0] if group else statement)
        if not self._is_first or place is not statement:
            self.plan.put_before(statement, f"{self.legacy}.reset()")
            self.plan.begun.append((statement, self.legacy))
        self._is_first = False

    def _session_assigned(self, statement: ast.Assign, place: ast.stmt, group: list[ast.stmt]) -> None:
        self._refuse_second_session(statement)
        self._session_begins(statement, place, group)
        if all(isinstance(target, ast.Name) and not self._is_seen(target.id) for target in statement.targets):
            self._delete(statement)
        else:  # self.sess = tf.Session()
            self.plan.replace(statement.value, self.legacy)
        self.plan.places.append((statement, "the session: functions of a LegacyGraph"))

    def _is_seen(self, name: str) -> bool:
        """Whether a session that has this name here has it in other scopes or files, too."""
        if any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in self._own_nodes()):
            return True
        if not isinstance(self.node, ast.Module):
            return False
        others = [each for each in self.file.connected if self.file in each.reached - {each}]
        nodes = [node for each in others for node in ast.walk(each.tree)]
        is_imported = any(isinstance(node, ast.alias) and node.name in (name, "*") for node in nodes)
        return is_imported or any(isinstance(node, ast.Attribute) and node.attr == name for node in nodes)

    def _refuse_second_session(self, statement: ast.Assign) -> None:
        names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
        lines: dict[str, list[int]] = {}
        for node in self._own_nodes():
            if isinstance(node, ast.Name) and node.id in self._sessions - names:
                lines.setdefault(node.id, []).append(node.lineno)
        if any(min(each) < statement.lineno < max(each) for each in lines.values()):
            raise NotPossible(statement, "Two sessions are used in turn, each with variables of its own")

    def _dissolved(self, statement: ast.With, place: ast.stmt, group: list[ast.stmt]) -> bool:
        """Take a ``with`` of a session or of a graph away, and port what is in it. False if it is no such."""
        sessions = [item for item in statement.items if self._is_of_session(item)]
        graphs = [item for item in statement.items if self._is_default_graph(item.context_expr)]
        if not sessions and not graphs:
            return False
        if not sessions and not any(self.code.has_requests(self.file, each) for each in statement.body):
            for item in graphs:  # it only builds
                self._enter(item)
                self.is_made = self.is_made or _last_name(item.optional_vars) == self.legacy
            return True
        if len(sessions) + len(graphs) != len(statement.items):
            raise NotPossible(statement, "A `with` has a session and something else")
        first, last = statement.body[0], statement.body[-1]
        if first.lineno == statement.lineno:
            raise NotPossible(statement, "A session is used on the line that makes it")
        if any(self.plan.is_masked(each) for each in ast.walk(statement) if isinstance(each, ast.stmt)):
            raise NotPossible(statement, "A magic line of the notebook is where a session is used")
        if graphs:
            self._new_graph(graphs[0], statement)
        if any(self.code.makes_session(self.file, item.context_expr) for item in sessions):
            self._session_begins(statement, place, group)
        header = header_end(self.file, statement)
        self.plan.delete_lines(statement.lineno, header)
        width = first.col_offset - statement.col_offset
        self.plan.indentation.move_out(header + 1, self.plan.end_with_comments(last), width)
        self.plan.places.append((statement, "the session: functions of a LegacyGraph"))
        if group and sessions and not self._in_scope:
            self._block = _Block(group[-1], self._between, statement.body)
        if self.file.parents[statement] in self._always:
            self._always.add(statement)
        self._statements(statement.body, None)
        return True

    def _is_of_session(self, item: ast.withitem) -> bool:
        """Whether it is ``tf.Session() as sess``, ``sess`` or ``sess.as_default()``."""
        node = item.context_expr
        if self.code.makes_session(self.file, node) or self.code.is_session(node):
            return True
        return self._is_call_of_session(node, "as_default")

    def _enter(self, item: ast.withitem) -> None:
        graph = self._graph_of(item.context_expr)
        assert graph is not None
        if self.plan.is_new_graph(graph):
            self.plan.replace(item.context_expr, self.plan.new_graph)
            self.plan.need_import()
            self._is_first = True
        else:
            self.plan.replace(item.context_expr, self.plan.text(graph))

    def _new_graph(self, item: ast.withitem, statement: ast.With) -> None:
        if not self.plan.is_graph(self._graph_of(item.context_expr)):
            self.plan.put_before(statement, f"{self.legacy} = {self.plan.new_graph}")
            self.plan.need_import()
            self._is_first = True
        self.is_made = True

    # -- blocks that build -----------------------------------------------------------------------------------------

    def _make(self, statement: ast.stmt) -> None:
        """Have the LegacyGraph made before a statement, or what uses it before that, unless it is made."""
        if not self.is_made:
            user = user_before(self.code, self.file, statement) if isinstance(self.node, ast.Module) else None
            self.plan.make_default(self.legacy, user or statement)
            self.is_made = True
            self._is_first &= not self.plan.is_shared

    def _close(self, group: list[ast.stmt]) -> None:
        """Put statements into ``with legacy:``, unless they are in one."""
        if group and not self._in_scope:
            if self.file.parents[group[-1]] in self._always:
                self.groups.append(group[-1])
            self._make(group[0])
            self.names_legacy = True
            self.plan.move_into_block(group, f"with {self.legacy}:")

    # -- requests --------------------------------------------------------------------------------------------------

    def _requests(self, node: ast.AST, place: ast.stmt) -> bool:
        """Port the requests of a statement; return whether one of them adds to the graph where it stands."""
        calls = [each for each in own_nodes(node) if isinstance(each, ast.Call)]
        inner_first = sorted(calls, key=lambda call: self.file.positions.span(call)[0], reverse=True)
        return any([self._request(call, place) for call in inner_first if self.code.is_request(self.file, call)])

    def _request(self, call: ast.Call, place: ast.stmt) -> bool:
        request = Request.of(self.code, self.file, call)
        keys, given = self._feeds(request)
        place = self._before_branches(place, request, keys or [])
        is_fixed = keys is not None and self._is_fixed(request, keys, place)
        if keys is not None and self._made_outside(request, keys, given):
            return False
        is_built_here = self._home is not None or self._in_scope
        is_built_here &= self.code.builds(self.file, request.fetches)
        is_fixed &= self._makes_functions and not is_built_here
        if keys is None or not is_fixed or isinstance(request.session, ast.Attribute):
            self.keep(request)
            return self.code.builds(self.file, request.fetches)
        fetched, fed = self.plan.text(request.fetches), ", ".join(map(self.plan.text, keys))
        known = fetched, fed, self._count_changes(request, keys)
        name, branch = self._functions.get(known, (None, None))
        if name is None or (branch is not None and branch not in self.file.around(call)):
            name = self._function_name(request.fetches)
            self._functions[known] = name, next(self._branches(place), None)
            feeding = f", feeds=[{fed}]" if fed else ""
            self._define(name, f"{self.legacy}.function({fetched}{feeding})", request, keys, place)
        self.plan.replace(call, f"{name}({given})")
        self.plan.places.append((call, f"a request: {name}()"))
        return False

    def _made_outside(self, request: Request, keys: list[ast.expr], given: str) -> bool:
        """Have the function of a request made where the graph is, once, instead of at each call of this function."""
        home = self._home
        built = None if home is None else home.builds_for_good([request.fetches, *keys])
        if home is None or built is None:
            return False
        fetched, fed = self.plan.text(request.fetches), ", ".join(map(self.plan.text, keys))
        known = (
            name for (*texts, _), (name, branch) in home._functions.items() if texts == [fetched, fed] and not branch
        )
        name = next(known, None)
        if name in home._late:  # this function may be called before that line
            self.plan.move_behind(*home._late.pop(name), built)
        if name is None:
            name = home._function_name(request.fetches)
            home._functions[fetched, fed, -1] = name, None
            feeding = f", feeds=[{fed}]" if fed else ""
            self.plan.put_behind(built, f"{name} = {home.legacy}.function({fetched}{feeding})")
        self.plan.replace(request.call, f"{name}({given})")
        self.plan.places.append((request.call, f"a request: {name}()"))
        return True

    def builds_for_good(self, parts: list[ast.expr]) -> ast.stmt | None:
        """Return the end of what builds these expressions, if they are names that this scope binds once, and there."""
        nodes = [node for each in parts for node in ast.walk(each)]
        names = {node.id: node for node in nodes if isinstance(node, ast.Name)}
        initializers = {node for node in nodes if isinstance(node, ast.Attribute) and node.attr == "initializer"}
        if not names or not all(isinstance(node, _NAMES) for node in nodes if node not in initializers):
            return None
        lines: dict[str, list[int]] = {name: [] for name in names}
        for node in ast.walk(self.file.tree):
            if isinstance(node, ast.Global | ast.Nonlocal) and names.keys() & set(node.names):
                return None
            if isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load):
                if self.code.scope_of(node) is self.node:
                    lines[node.id].append(node.lineno)
        if not all(self.code.scope_of(node) is self.node and len(lines[name]) == 1 for name, node in names.items()):
            return None
        last = max(line for (line,) in lines.values())
        later = [node for node in self._own_nodes() if isinstance(node, ast.stmt) and node.lineno > last]
        if any(names.keys() & changes(self.code).of(node) for node in later):  # a list that grows
            return None
        behind = [each for each in self.groups if (each.end_lineno or each.lineno) >= last]
        return min(behind, key=lambda each: each.lineno, default=None)  # a group may have been closed after inner ones

    def _branches(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """The statements around one that may not run it, the nearest first."""
        for each in itertools.takewhile(lambda each: each is not self.node, self.file.around(statement)):
            if isinstance(each, ast.If | ast.For | ast.While | ast.Try):
                yield each

    def _before_branches(self, place: ast.stmt, request: Request, keys: list[ast.expr]) -> ast.stmt:
        """The outermost statement around a place before which the function of a request can be made."""
        for each in self._branches(place):
            has_session = any(self.code.makes_session(self.file, node) for node in ast.walk(each))
            if has_session or self._is_changed_by(each, request, keys):
                break
            place = each
        return place

    def _feeds(self, request: Request) -> tuple[list[ast.expr] | None, str]:
        """The tensors that a request feeds, and the text of their values; None where they are not written out."""
        if request.feed is None:
            return [], ""
        if isinstance(request.feed, ast.Dict):
            if None in request.feed.keys:
                return None, ""
            return [*filter(None, request.feed.keys)], ", ".join(map(self.plan.text, request.feed.values))
        if isinstance(request.feed, ast.Name) and (keys := self._keys_of(request.feed.id)) is not None:
            return keys, f"*{request.feed.id}.values()"
        return None, ""

    def _keys_of(self, name: str) -> list[ast.expr] | None:
        """The keys of a dict, if all that the scope binds to the name has the same ones, and nothing changes it."""
        found: list[list[ast.expr]] = []
        for node in self._own_nodes():
            if isinstance(node, ast.Name) and node.id == name:
                parent = self.file.parents[node]
                if isinstance(parent, ast.Assign) and node in parent.targets:
                    if not isinstance(parent.value, ast.Dict) or None in parent.value.keys:
                        return None
                    found.append([*filter(None, parent.value.keys)])
                elif not isinstance(parent, ast.Call | ast.keyword):  # feed[x] = y, feed.update(...)
                    return None
        texts = {tuple(map(self.plan.text, keys)) for keys in found}
        return found[0] if len(texts) == 1 else None

    def _is_fixed(self, request: Request, keys: list[ast.expr], place: ast.stmt) -> bool:
        """Whether a request means the same each time: nothing in a statement changes that, nor does a caller."""
        # ``loss = sess.run(loss)``: what is bound is bound after the request.
        before = place.value if isinstance(place, ast.Assign) else place
        is_given = bool(names_in([request.fetches, *keys]) & set(self.parameters()))
        return not is_given and not self._is_changed_by(before, request, keys)

    def _is_changed_by(self, node: ast.AST, request: Request, keys: list[ast.expr]) -> bool:
        """Whether a request may mean another after a statement, or an expression, than before it.

        The names and attributes in it have another value then, or its fetches call what depends on the graph, as
        ``tf.global_variables_initializer()`` does, and the statement adds to the graph.
        """
        parts = [request.fetches, *keys]
        if (used(parts) | {self.legacy}) & changes(self.code).of(node) or any(map(self._resets, ast.walk(node))):
            return True
        return any(map(self.code.calls, parts)) and self.code.builds(self.file, node)

    def _count_changes(self, request: Request, keys: list[ast.expr]) -> int:
        """Count the statements before a request, in the order of the text, that make it mean another."""
        return sum(
            node.lineno < request.call.lineno and self._is_changed_by(node, request, keys)
            for node in self._own_nodes()
            if isinstance(node, ast.stmt)
        )

    def _define(self, name: str, made: str, request: Request, keys: list[ast.expr], place: ast.stmt) -> None:
        """Put the line that makes a function before a statement, or to what builds before the session."""
        self.names_legacy = True
        line = f"{name} = {made}"
        if self._block is not None and place in self._block.statements:
            after = self._block.statements[: self._block.statements.index(place)]
            between = [*self._block.between, *after]
            if not any(self._is_changed_by(each, request, keys) for each in between):
                self.plan.put_behind(self._block.last, line)
                return
        is_inside = self.file.parents[place] not in self._always  # of another statement
        built = self.builds_for_good([request.fetches, *keys]) if is_inside and self.has_only_session() else None
        if built is not None:
            self.plan.put_behind(built, line)
            return
        self._make(place)
        if self.code.builds(self.file, request.fetches):
            self.plan.put_before(place, f"with {self.legacy}:")
            line = self.plan.indentation.unit(self.plan.indentation.around(place.lineno)) + line
        else:
            self._late[name] = place, line
        self.plan.put_before(place, line)

    def keep(self, request: Request) -> None:
        """Have a request that is put together while the program runs be one of the LegacyGraph."""
        session, call = request.session, request.call
        if session is not None and self.code.is_new_session(self.file, session):
            self.names_legacy = True
            self.plan.replace(session, self.legacy)
            return
        if session is not None and isinstance(call.func, ast.Attribute) and call.func.value is session:
            return  # its name is that of the LegacyGraph now
        self.names_legacy = True
        name = self.legacy if session is None or not self.code.is_session(session) else self.plan.text(session)
        fed = "" if request.feed is None else f", {self.plan.text(request.feed)}"
        self.plan.replace(call, f"{name}.run({self.plan.text(request.fetches)}{fed})")


def _last_name(node: ast.AST | None) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _headers(statement: ast.stmt) -> list[ast.AST]:
    """The expressions of a compound statement, outside of its bodies."""
    found = [getattr(statement, field, None) for field in ("test", "iter", "items", "subject")]
    return [each for value in found if value is not None for each in (value if isinstance(value, list) else [value])]
