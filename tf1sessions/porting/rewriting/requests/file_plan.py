"""The edits by which a file's requests become functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TypeGuard

from ....source import notebooks
from ....source.edits import Edit, apply
from ....source.uses import FileUses, bodies
from .. import headers
from ..indentation import Indentation, lines_in_strings
from .graph_code import GraphCode, own_nodes
from .request import NotPossible

__all__ = ["FilePlan", "graph_of_session", "header_end", "switches"]

#: What takes a session, or makes one -> what takes a LegacyGraph, in our module ``porting``.
_OURS = {
    "tf.train.Saver": "LegacySaver",
    "tf.train.ChiefSessionCreator": "LegacySessionCreator",
    "tf.train.MonitoredTrainingSession": "monitored_training_session",
}
_GRAPH = "tf.Graph"
_DATA_SETS = "tf1sessions.contrib.learn.datasets"  # are shuffled by the seed of the default graph
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def graph_of_session(node: ast.AST) -> ast.expr | None:
    """The graph that a call makes a session of."""
    if not isinstance(node, ast.Call):
        return None
    return next(iter([*(each.value for each in node.keywords if each.arg == "graph"), *node.args[1:2]]), None)


def _has_name(node: ast.AST) -> bool:
    """Whether an expression is a name, or an attribute of self."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "self"
    return isinstance(node, ast.Name)


def switches(file: FileUses) -> list[ast.Expr]:
    """The statements that switch version 2's behaviour off."""
    nodes = {use.call for use in file.uses if use.name == "tf.disable_v2_behavior" and use.call is not None}
    return [each for each in ast.walk(file.tree) if isinstance(each, ast.Expr) and each.value in nodes]


class FilePlan:
    """The changes of a file.

    Args:
        code: Of the program.
        file: The file.
        is_shared: Whether its default graph is that of other files, too.

    Attributes:
        edits, places: As a :class:`~..rule.Change` has them.
        indentation: By how much lines are moved.
        module_functions: Names of the functions of requests that the module makes.
        graphs: Names, and attributes of self, that are bound to a LegacyGraph.
        begun: The statements that begin a session of a graph that may have had one before, and the graph's name.
        makes_default: Whether it makes a LegacyGraph of the default graph.
        makes_when_imported: Whether it does so when it is imported.
        new_graph: What makes a LegacyGraph.
        session_count: In how many places the file makes a session, those left out that are used where they are made.
    """

    def __init__(self, code: GraphCode, file: FileUses, is_shared: bool = False) -> None:
        self.code, self.file, self.is_shared = code, file, is_shared
        self.makes_default = self.makes_when_imported = False
        self.edits: list[Edit] = []
        self._imports: list[str] = []
        self._porting = headers.free_name(file, "porting", "tf1sessions.porting")
        self.new_graph = f"{self._porting}.LegacyGraph()"
        self.places: list[tuple[ast.AST, str]] = []
        self.indentation = Indentation(file)
        self.module_functions: set[str] = set()
        self.graphs: set[str] = set()
        self.begun: list[tuple[ast.stmt, str]] = []
        at_once = [
            node.func.value
            for node in ast.walk(file.tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and code.is_request(file, node)
        ]
        made = [node for node in ast.walk(file.tree) if code.makes_session(file, node) and node not in at_once]
        self.session_count = len(made) - len(code.session_makers[file])
        #: The only session of the program, which all functions are given; None where there may be others.
        self.only_session = made[0] if self.session_count == 1 == len(file.connected) and len(made) == 1 else None
        self._lines = file.source.text.splitlines()
        self._in_strings = frozenset(lines_in_strings(file.source.text))
        self._before: dict[int, list[str]] = {}  # line -> lines that are put before it
        self._behind: dict[int, tuple[int, list[str]]] = {}  # line -> first line of its statement, lines behind it
        self._replaced: list[Edit] = []
        for statement in switches(file):
            self._switch_eager_execution_on(statement)
        self._change_names()

    def _switch_eager_execution_on(self, statement: ast.Expr) -> None:
        if self._is_switched_before(statement):
            self.delete_lines(statement.lineno, statement.end_lineno or statement.lineno)
            return
        call = statement.value
        assert isinstance(call, ast.Call)
        name = self.text(call.func).rpartition(".")[0]
        newline = self.file.source.newline + self.indentation.around(statement.lineno)
        self.replace(statement, f"{self.text(statement)}{newline}{name}.enable_eager_execution()")
        self.places.append((statement, "eager execution is on; the graph is built as in TensorFlow 1"))

    def _is_switched_before(self, statement: ast.Expr) -> bool:
        """Whether a switch is in a function, and what imports this file has one: inside of a block it would end that.

        Raises:
            NotPossible: It is in a function, and only a part of what imports this file has one.
        """
        users = [each for each in self.file.connected if self.file in each.reached - {each}]
        if not self._is_in_function(self.file, statement) or not users:
            return False
        if all(any(not self._is_in_function(each, one) for one in switches(each)) for each in users):
            return True
        raise NotPossible(statement, "TensorFlow is imported inside of a function, and used by several files")

    @staticmethod
    def _is_in_function(file: FileUses, node: ast.AST) -> bool:
        return any(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in file.around(node))

    def _change_names(self) -> None:
        for use in self.file.uses:
            if use.name in _OURS and use.call is not None:
                self.replace(use.node, f"{self._porting}.{_OURS[use.name]}")
                self.need_import()
        for node in ast.walk(self.file.tree):
            if isinstance(node, ast.Assign) and self.is_new_graph(node.value):
                self.replace(node.value, self.new_graph)
                self.need_import()
                self.graphs |= {ast.unparse(target) for target in node.targets if _has_name(target)}
        self._check_graphs()
        for node in ast.walk(self.file.tree):
            if self.is_graph(node) and isinstance(node.ctx, ast.Load) and not self._is_entered(node):
                self.replace(node, f"{ast.unparse(node)}.graph")

    def is_graph(self, node: ast.AST | None) -> TypeGuard[ast.Name | ast.Attribute]:
        """Whether an expression is a name, or an attribute of self, that is bound to a LegacyGraph."""
        return isinstance(node, ast.Name | ast.Attribute) and _has_name(node) and ast.unparse(node) in self.graphs

    def _check_graphs(self) -> None:
        """Refuse graphs that are not known by a name.

        Raises:
            NotPossible: A graph is a part of something, or an attribute that is more than the graph of its class.
        """
        for node in ast.walk(self.file.tree):
            if isinstance(node, ast.Assign) and self.is_new_graph(node.value) and not all(map(_has_name, node.targets)):
                raise NotPossible(node, "A graph has no name of its own")
            given = graph_of_session(node) if self.code.makes_session(self.file, node) else None
            if isinstance(given, ast.Attribute) and not self.is_graph(given):
                raise NotPossible(node, "A graph has no name of its own")
        names = {each.partition(".")[2] for each in self.graphs} - {""}
        self._check_sessions()
        for file in self.code.files:
            for node in ast.walk(file.tree):
                if not isinstance(node, ast.Attribute) or node.attr not in names or self.code.is_session(node.value):
                    continue
                made = file.parents[node]
                value = made.value if isinstance(made, ast.Assign) else None
                is_bound = isinstance(value, ast.Call) and self.code.symbol(file, value.func) == _GRAPH
                if not _has_name(node) or not (isinstance(node.ctx, ast.Load) or is_bound):
                    what = "An attribute has the graph of its class, and is used in a way that is not known"
                    raise NotPossible(self.file.tree.body[0] if file is not self.file else node, what)

    def _check_sessions(self) -> None:
        """Refuse a class that makes several sessions of a graph in an attribute: each has variables of its own.

        Raises:
            NotPossible: There is one.
        """
        for node in ast.walk(self.file.tree):
            inside = list(ast.walk(node)) if isinstance(node, ast.ClassDef) else []
            made = [each for each in inside if self.code.makes_session(self.file, each)]
            if len(made) > 1 and any(isinstance(each, ast.Attribute) and self.is_graph(each) for each in inside):
                raise NotPossible(made[1], "A class makes several sessions of its graph")

    def _is_entered(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a graph is what a ``with`` enters, or what a session is made of."""
        parent = self.file.parents[node]
        if isinstance(parent, ast.keyword):
            parent = self.file.parents[parent]
        is_default = isinstance(parent, ast.Attribute) and parent.attr == "as_default"
        return is_default or self.code.makes_session(self.file, parent)

    def enter_graphs(self) -> None:
        """Have graphs entered that are so where no session is used: ``with graph.as_default():``."""
        for node in ast.walk(self.file.tree):
            function = node.func if isinstance(node, ast.Call) else None
            if not isinstance(function, ast.Attribute) or function.attr != "as_default":
                continue
            if self.is_graph(function.value) and not self.is_gone(node):  # type: ignore[arg-type]
                is_entered = isinstance(self.file.parents[node], ast.withitem)
                graph = self.text(function.value)
                self.replace(node if is_entered else function.value, graph if is_entered else f"{graph}.graph")

    def is_new_graph(self, node: ast.AST) -> bool:
        """Whether an expression is ``tf.Graph()``."""
        return isinstance(node, ast.Call) and self.code.symbol(self.file, node.func) == _GRAPH

    def is_of_default_graph(self, statement: ast.stmt, graph: str) -> bool:
        """Whether a statement sets the seed of the default graph, or reads data by it, above ``graph = tf.Graph()``.

        Args:
            statement: One that builds.
            graph: The name of the graph that the sessions of its scope use.

        Raises:
            NotPossible: It builds something else in the default graph.
        """
        if graph not in self.graphs:
            return False
        scope = next(each for each in self.file.around(statement) if isinstance(each, (ast.Module, *_DEFINITIONS)))
        assigned = [each for each in own_nodes(scope) if isinstance(each, ast.Assign)]
        bound = [each for each in assigned if graph in map(ast.unparse, each.targets)]
        if not bound or not all(self.is_new_graph(each.value) and statement.lineno < each.lineno for each in bound):
            return False
        call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
        symbol = (self.code.symbol(self.file, call.func) if isinstance(call, ast.Call) else None) or ""
        if symbol != "tf.set_random_seed" and not symbol.startswith(_DATA_SETS):
            what = "The default graph is built, and then another one is made, which sessions use"
            raise NotPossible(statement, what)
        return True

    def cell(self, statement: ast.stmt) -> int:
        """The cell of a notebook that a statement is in; 0 in a script."""
        return self.file.source.place(statement.lineno).cell or 0

    def is_masked(self, statement: ast.stmt) -> bool:
        """Whether a statement stands for a magic line of a notebook."""
        source, positions = self.file.source, self.file.positions
        start, end = positions.line_start(statement.lineno), positions.line_start(statement.lineno + 1)
        return source.notebook is not None and notebooks.is_masked(source.text[start:end])

    # -- edits -----------------------------------------------------------------------------------------------------

    def text(self, node: ast.AST) -> str:
        """The text of a node as it becomes, on one line where that is possible."""
        start, end = self.file.positions.span(node)
        inside = [edit for edit in _outermost(self._replaced) if start <= edit.start and edit.end <= end]
        moved = [Edit(edit.start - start, edit.end - start, edit.text) for edit in inside]
        text = apply(self.file.source.text[start:end], moved)
        return text if "#" in text or '"""' in text or "'''" in text else re.sub(r"\s*\r?\n\s*", " ", text)

    def replace(self, node: ast.AST, text: str) -> None:
        """Put a text in place of a node."""
        self._replaced.append(self.file.positions.replace(node, text))

    def replace_all(self, edits: Iterable[Edit]) -> None:
        """Make edits of which each is in none that was made before."""
        self._replaced += edits

    def is_gone(self, node: ast.expr) -> bool:
        """Whether an expression is in what is replaced or deleted, and is not in what comes in its place."""
        start, end = self.file.positions.span(node)
        text = self.file.positions.source(node)
        around = [edit for edit in self._replaced if edit.start <= start and end <= edit.end]
        return bool(around) and not any(text in edit.text for edit in around)

    def delete_lines(self, first: int, last: int) -> None:
        """Delete whole lines."""
        positions = self.file.positions
        self._replaced.append(Edit(positions.line_start(first), positions.line_start(last + 1), ""))

    def make_default(self, name: str, statement: ast.stmt) -> None:
        """Have the LegacyGraph of the default graph made before a statement.

        Where a file builds when it is imported, and another one builds or runs what that has built, they share it.
        """
        made = f"{self._porting}.LegacyGraph.default()" if self.is_shared else self.new_graph
        self.put_before(statement, f"{name} = {made}")
        self.need_import()
        self.makes_default = True
        inside = (ast.If, *_DEFINITIONS)  # `if __name__ == "__main__":`
        self.makes_when_imported |= not any(isinstance(each, inside) for each in self.file.around(statement))

    def need_import(self) -> None:
        """Have the file import what it needs of this package."""
        alias = "" if self._porting == "porting" else f" as {self._porting}"
        self._imports = [f"from tf1sessions import porting{alias}"]

    def put_before(self, statement: ast.stmt, text: str) -> None:
        """Put a line before a statement, outside of the block that the statement is moved into."""
        self._before.setdefault(self._line_of_its_own(statement), []).append(text)

    def put_behind(self, statement: ast.stmt, text: str) -> None:
        """Put a line behind a statement, into the block that it is moved into."""
        last = statement.end_lineno or statement.lineno
        self._behind.setdefault(last, (self._line_of_its_own(statement), []))[1].append(text)

    def move_behind(self, before: ast.stmt, text: str, behind: ast.stmt) -> None:
        """Have a line that was put before a statement stand behind another one, in its block."""
        self._before[self._line_of_its_own(before)].remove(text)
        self.put_behind(behind, text)

    def move_into_block(self, statements: list[ast.stmt], header: str) -> None:
        """Put statements into a block."""
        self.put_before(statements[0], header)
        last = max(each.end_lineno or each.lineno for each in statements)
        self.indentation.move_in(self._first_line(statements[0]), last)

    def _line_of_its_own(self, statement: ast.stmt) -> int:
        """The line that a statement begins on, as :meth:`_first_line` has it.

        Raises:
            NotPossible: The block that it is in begins there: ``def show(sess): print(sess.run(x))``.
        """
        beside = [each for body in bodies(self.file.parents[statement]) if statement in body for each in body]
        first = next((each for each in beside if each.end_lineno == statement.lineno), statement)
        if self._lines[first.lineno - 1].encode()[: first.col_offset].strip():
            raise NotPossible(statement, "Two statements are on one line")
        return self._first_line(statement)

    def _first_line(self, statement: ast.stmt) -> int:
        """The line that a statement begins on, with its decorators and the comments right above it."""
        line = min(
            statement.lineno, *(int(each.lineno) for each in [statement, *getattr(statement, "decorator_list", [])])
        )
        while line > 1 and self._is_comment(line - 1, statement.col_offset):
            line -= 1
        return line

    def _is_comment(self, line: int, column: int) -> bool:
        """Whether a line has a comment and nothing else, at a column."""
        text = self._lines[line - 1]
        is_comment = text.lstrip().startswith("#") and len(text) - len(text.lstrip()) == column
        is_cell = notebooks.begins_cell(text) or notebooks.is_masked(text)
        return is_comment and not is_cell and line not in self._in_strings

    def end_with_comments(self, statement: ast.stmt) -> int:
        """Return the last line of the last statement of a block, with the comments behind it that are in the block."""
        last = statement.end_lineno or statement.lineno
        for line in range(last + 1, len(self._lines) + 1):
            text = self._lines[line - 1]
            if not text.strip():
                continue
            if not text.lstrip().startswith("#") or len(text) - len(text.lstrip()) < statement.col_offset:
                break
            last = line
        return last

    def finish(self) -> None:
        """Put all edits together."""
        positions, newline = self.file.positions, self.file.source.newline
        replaced = _outermost(self._replaced)
        # At one place they are made in this order.
        early = self._before_tensorflow()
        if early is None:
            self.edits += headers.import_edits(self.file, self._imports)
        else:
            self._before.setdefault(self._first_line(early), [])[:0] = self._imports
        for line, (first, texts) in self._behind.items():
            lead = self.indentation.around(first)
            lead += self.indentation.unit(lead)
            self.edits.append(_insertion(positions.line_start(line + 1), (lead + text + newline for text in texts)))
        for line, texts in self._before.items():
            lead = self.indentation.inside(line)
            self.edits.append(_insertion(positions.line_start(line), (lead + text + newline for text in texts)))
        self.edits += [*self.indentation.edits(replaced), *replaced]

    def _before_tensorflow(self) -> ast.stmt | None:
        """The first statement of the module that a line is put before, if TensorFlow is imported behind it.

        It builds by a module of the program, which has imported TensorFlow.
        """
        found = headers.tensorflow_statements(self.file)
        imports = [each for each in found if not headers.is_in_function(self.file, each)]
        if not imports or not self._imports or headers.has_import(self.file, self._imports[0]):
            return None
        for statement in self.file.tree.body:
            first, last = self._first_line(statement), statement.end_lineno or statement.lineno
            if imports[0].lineno <= last:
                return None
            if not isinstance(statement, _DEFINITIONS) and any(first <= line <= last for line in self._before):
                return statement
        return None


def _insertion(start: int, lines: Iterable[str]) -> Edit:
    return Edit(start, start, "".join(lines))


def _outermost(edits: list[Edit]) -> list[Edit]:
    """Without those that are inside of another one, which has them in its text; of two of one place the later one."""
    insertions = [edit for edit in dict.fromkeys(edits) if edit.start == edit.end]
    edits = [*insertions, *{(edit.start, edit.end): edit for edit in edits if edit.start < edit.end}.values()]
    return [
        one
        for one in edits
        if not any(other is not one and other.start <= one.start and one.end <= other.end for other in edits)
    ]


def header_end(file: FileUses, statement: ast.With) -> int:
    """The last line of ``with ...:``."""
    last = max((item.optional_vars or item.context_expr).end_lineno or 0 for item in statement.items)
    lines = file.source.text.splitlines()
    while last < statement.body[0].lineno - 1 and not lines[last - 1].split("#")[0].rstrip().endswith(":"):
        last += 1
    return last
