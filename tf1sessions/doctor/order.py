"""In which order a program does things, as far as its text shows.

Data flow: :class:`Order` walks the script from its first line, goes into the program's own functions where they are
called and into its modules where they are imported, and notes each call and assignment as a :class:`ProgramStep`, with
what it is in: branches, loops, ``with`` blocks and calls. A function without a call is a sequence of its own.
:meth:`Order.follows` says whether one step may come after another, which two branches of an ``if`` do not.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence

from ..source.names import FunctionNode, Names
from ..source.nodes import is_main_guard
from ..source.program import SourceFile

__all__ = ["EnclosingBlock", "Order", "ProgramStep"]

#: How many steps are noted for a program, and how often each function is gone into.
_MOST_STEPS = 30_000
_MOST_VISITS = 3
#: How many calls within calls are gone into.
_MOST_CALLS = 25

_ENDS_PROGRAM = frozenset(["sys.exit", "os._exit", "builtins.exit", "builtins.quit", "os.abort"])
_MAIN_RUNNERS = frozenset(["tf.app.run", "absl.app.run", "tf.compat.app.run"])


@dataclasses.dataclass(frozen=True)
class EnclosingBlock:
    """One thing that a step is in.

    Attributes:
        kind: ``"branch"``, ``"loop"``, ``"with"`` or ``"call"``.
        node: The ``if``, ``try``, ``for``, ``while``, ``with`` or call.
        branch: Which of the branches that exclude each other.
        ends: How the branch ends: ``"return"``, ``"program"`` or ``""`` for going on.
    """

    kind: str
    node: ast.AST
    branch: int = 0
    ends: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class ProgramStep:
    """A call or an assignment, what it means, and what it is in, from the outside in.

    ``number`` counts the steps of a sequence.
    """

    number: int
    node: ast.AST
    path: str | None
    frames: tuple[EnclosingBlock, ...]

    @property
    def call(self) -> ast.Call | None:
        return self.node if isinstance(self.node, ast.Call) else None


class Order:
    """The sequences of a program. For one thread at a time."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._visits: dict[ast.AST, int] = {}
        self._main: list[ProgramStep] | None = None
        self._main_visits: dict[ast.AST, int] = {}
        self._from: dict[ast.AST, list[ProgramStep]] = {}
        self._steps: list[ProgramStep] = []
        self._frames: list[EnclosingBlock] = []
        self._inside: set[ast.AST] = set()

    def main(self) -> list[ProgramStep]:
        """Return what the script does, from its first line."""
        if self._main is None:
            self._main = self._walk(self.names.program.files[0].tree)
        return self._main

    def sequences(self) -> list[list[ProgramStep]]:
        """The script, and each function that it does not call."""
        found = [self.main()]
        reached = set(self._main_visits)
        for function in self.names.functions.values():
            if function not in reached:
                found.append(self.of(function))
                reached |= self._visits.keys()
        return found

    def of(self, function: ast.AST) -> list[ProgramStep]:
        """Return what a function does when it is called."""
        if function not in self._from:
            self.main()
            self._from[function] = self._walk(function)
        return self._from[function]

    def follows(self, later: ProgramStep, earlier: ProgramStep) -> bool:
        """Whether ``later`` may come after ``earlier`` in one run of the program."""
        if later.number <= earlier.number:
            return False
        ours, theirs = earlier.frames, later.frames
        same = 0
        while same < min(len(ours), len(theirs)) and ours[same] == theirs[same]:
            same += 1
        if same < min(len(ours), len(theirs)):
            one, other = ours[same], theirs[same]
            if one.kind == other.kind == "branch" and one.node is other.node:
                return False
        called = False  # a return ends only the function that was called since the two parted
        for frame in ours[same:]:
            called = called or frame.kind == "call"
            if frame.ends == "program" or (frame.ends == "return" and not called):
                return False
        return True

    # -- walking ------------------------------------------------------------------------------------------------------

    def _walk(self, start: ast.AST) -> list[ProgramStep]:
        self._steps, self._frames, self._inside, self._visits = [], [], {start}, {}
        body = getattr(start, "body", [])
        if isinstance(body, list):
            self._block(body)
        else:
            self._expression(body)
        if isinstance(start, ast.Module):
            self._main_visits = dict(self._visits)
        return self._steps

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if len(self._steps) > _MOST_STEPS:
                return
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                self._expression(decorator)
        elif isinstance(node, ast.ClassDef):
            self._block([each for each in node.body if not isinstance(each, FunctionNode)])
        elif isinstance(node, ast.If):
            self._if(node)
        elif isinstance(node, ast.Try):
            self._branches(node, [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)])
            self._block(node.finalbody)
        elif isinstance(node, ast.For | ast.AsyncFor):
            self._expression(node.iter)
            self._framed(EnclosingBlock("loop", node), node.body)
            self._block(node.orelse)
        elif isinstance(node, ast.While):
            self._frames.append(EnclosingBlock("loop", node))
            self._expression(node.test)
            self._frames.pop()
            self._framed(EnclosingBlock("loop", node), node.body)
            self._block(node.orelse)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                self._expression(item.context_expr)
            self._framed(EnclosingBlock("with", node), node.body)
        elif isinstance(node, ast.Match):
            self._expression(node.subject)
            self._branches(node, [case.body for case in node.cases])
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node)
        else:
            self._expression(node)
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
                self._step(node, None)

    def _if(self, node: ast.If) -> None:
        """All branches of ``if`` and its ``elif`` exclude each other."""
        branches = []
        each = node
        while True:
            self._expression(each.test)
            branches.append(each.body)
            if len(each.orelse) != 1 or not isinstance(each.orelse[0], ast.If):
                break
            each = each.orelse[0]
        self._branches(node, [*branches, each.orelse])

    def _branches(self, node: ast.stmt, branches: Sequence[Sequence[ast.stmt]]) -> None:
        if isinstance(node, ast.If) and is_main_guard(node.test):
            self._block(branches[0])
            return
        for number, body in enumerate(branches):
            self._framed(EnclosingBlock("branch", node, number, self._ending(body)), body)

    def _ending(self, body: Sequence[ast.stmt]) -> str:
        last = body[-1] if body else None
        if isinstance(last, ast.Return):
            return "return"
        if isinstance(last, ast.Raise):
            return "program"
        if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
            return "program" if self.names.path(last.value.func) in _ENDS_PROGRAM else ""
        return ""

    def _framed(self, frame: EnclosingBlock, body: Sequence[ast.stmt]) -> None:
        self._frames.append(frame)
        self._block(body)
        self._frames.pop()

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        names = {alias.name for alias in node.names}
        base = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        wanted = {base, *names, *(f"{base}.{name}" for name in names)}
        for file in self.names.program.files[1:]:
            if any(name == file.module or name.startswith(file.module + ".") for name in wanted):
                self._module(file)

    def _module(self, file: SourceFile) -> None:
        if file.tree in self._inside or self._visits.get(file.tree):
            return
        self._visits[file.tree] = 1
        self._inside.add(file.tree)
        self._block([each for each in file.tree.body if not (isinstance(each, ast.If) and is_main_guard(each.test))])
        self._inside.discard(file.tree)

    def _expression(self, node: ast.AST) -> None:
        if node not in self.names.calling or isinstance(node, FunctionNode | ast.ClassDef):
            return
        if isinstance(node, ast.IfExp):
            self._expression(node.test)
            for number, each in enumerate([node.body, node.orelse]):
                self._frames.append(EnclosingBlock("branch", node, number))
                self._expression(each)
                self._frames.pop()
            return
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            self._frames.append(EnclosingBlock("loop", node))
            for child in ast.iter_child_nodes(node):
                self._expression(child)
            self._frames.pop()
            return
        for child in ast.iter_child_nodes(node):
            self._expression(child)
        if isinstance(node, ast.Call):
            path = self.names.path(node.func)
            self._step(node, path)
            self._enter(node, path)

    def _enter(self, node: ast.Call, path: str | None) -> None:
        function = self.names.function(path)
        if function is None and path in _MAIN_RUNNERS:
            main = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "main"), None)
            module = self.names.file(node).module
            function = self.names.function(self.names.path(main) if main is not None else f"{module}.main")
        if len(self._inside) > _MOST_CALLS:
            return
        if function is None or function in self._inside or self._visits.get(function, 0) >= _MOST_VISITS:
            return
        self._visits[function] = self._visits.get(function, 0) + 1
        self._inside.add(function)
        self._frames.append(EnclosingBlock("call", node))
        if isinstance(function.body, list):
            self._block(function.body)
        else:
            self._expression(function.body)
        self._frames.pop()
        self._inside.discard(function)

    def _step(self, node: ast.AST, path: str | None) -> None:
        if len(self._steps) <= _MOST_STEPS:
            self._steps.append(ProgramStep(len(self._steps), node, path, tuple(self._frames)))
