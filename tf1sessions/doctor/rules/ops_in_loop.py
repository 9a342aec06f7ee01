"""Operations that are made anew in each step of a loop that runs a session."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...source.effects import is_session
from ...source.names import FunctionNode
from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule

#: A loop over so few items is no training loop; arbitrary.
_FEW = 20
_FRESH = frozenset(
    ["tf.reset_default_graph", "tf.Graph", "tf.keras.backend.clear_session", "keras.backend.clear_session"]
)
_FINITE = re.compile(
    r"(var|param|layer|tensor|weight|grad|scope|collection|node|key|dict|op)s?\b|_(vars|ops|dict)|\bt?vars",
    re.IGNORECASE,
)
_CACHES = re.compile(r"cache|property|memo|scope|tf_function|function", re.IGNORECASE)

_Loop = ast.For | ast.AsyncFor | ast.While


def find(code: Code) -> Iterator[Hit]:
    if not code.uses_tensorflow:
        return
    for loop in code.nodes:
        if isinstance(loop, _Loop) and not _is_short(code, loop):
            inside = list(_inside(loop.body))
            calls = [node for node in inside if isinstance(node, ast.Call)]
            paths = [code.path(call.func) for call in calls]
            runs = [call for call in calls if code.is_run(call)]
            if any(path in _FRESH or is_session(path) for path in paths) or not runs:
                continue
            if not _counts(code, loop) and not any(len(run.args) > 1 or run.keywords for run in runs):
                continue  # over a few parts of something, more likely than over data
            for node in inside:
                if _is_outermost(code, node) and not _happens_once(code, node, loop):
                    yield Hit(
                        node, f"{_said(code, node)} is made anew in each step of the loop in line {_line(code, loop)}"
                    )
            for call in calls:
                if not _happens_once(code, call, loop):
                    yield from _called(code, call, loop)


def _called(code: Code, call: ast.Call, loop: _Loop) -> Iterator[Hit]:
    """Yield what a function of the program makes that the loop calls."""
    function = code.names.functions.get(code.path(call.func) or "")
    if not isinstance(function, ast.FunctionDef) or function.name.startswith("__"):
        return
    if any(_CACHES.search(ast.unparse(decorator)) for decorator in function.decorator_list):
        return
    inside = list(_inside(function.body))
    paths = [code.path(node.func) for node in inside if isinstance(node, ast.Call)]
    if any(path in _FRESH or is_session(path) for path in paths):
        return
    for node in inside:
        if _is_outermost(code, node) and not _happens_once(code, node, function):
            title = f"{_said(code, node)} is made anew at each call of {function.name}(), by a loop that runs a session"
            yield Hit(node, title, others=(call,))
            return  # one is enough to show it


def _is_short(code: Code, loop: _Loop) -> bool:
    """Whether a loop has few steps, or as many as a graph has parts: no training loop."""
    if isinstance(loop, ast.While):
        return False
    length = code.length(loop.iter)
    if length is not None:
        return length <= _FEW
    if any(path.startswith("tf.") and not path.startswith(("tf.python_io", "tf.gfile")) for path in _calls(code, loop)):
        return True
    if _counts(code, loop):
        return False
    return _FINITE.search(ast.unparse(loop.iter)) is not None


def _counts(code: Code, loop: _Loop) -> bool:
    """Whether a loop goes on until something happens, or counts its steps."""
    return isinstance(loop, ast.While) or not {"builtins.range", "builtins.xrange"}.isdisjoint(_calls(code, loop))


def _calls(code: Code, loop: ast.For | ast.AsyncFor) -> list[str]:
    """Return what is called to get what a loop goes over."""
    return [code.path(node.func) or "" for node in ast.walk(loop.iter) if isinstance(node, ast.Call)]


def _inside(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node of a block that runs with it: not what functions in it do when they are called."""
    for statement in body:
        yield from _nodes(statement)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, FunctionNode | ast.ClassDef):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _nodes(child)


def _is_outermost(code: Code, node: ast.AST) -> bool:
    """Whether a node adds operations, and is not part of an expression that does."""
    if not code.growing(node):
        return False
    for parent in code.names.parents(node):
        if isinstance(parent, ast.stmt):
            return True
        if code.growing(parent):
            return False
    return True


def _happens_once(code: Code, node: ast.AST, within: ast.AST) -> bool:
    """Whether a branch makes sure that a node runs in one step only, or that the loop ends with it."""
    child: ast.AST = node
    for parent in code.names.parents(node):
        if parent is within:
            break
        if isinstance(parent, ast.If):
            if isinstance(within, ast.FunctionDef) or _is_once(parent.test) or _ends_itself(parent):
                return True
            branch = parent.body if child in parent.body else parent.orelse
            if branch and isinstance(branch[-1], ast.Break | ast.Return | ast.Raise):
                return True
        if isinstance(parent, ast.ExceptHandler | ast.IfExp):
            return True
        if isinstance(parent, ast.With) and any("graph" in ast.unparse(item).lower() for item in parent.items):
            return True
        child = parent
    body = getattr(within, "body", [])
    return not isinstance(within, ast.FunctionDef) and bool(body) and isinstance(body[-1], ast.Break | ast.Return)


def _is_once(test: ast.expr) -> bool:
    """``step == 0``, ``x is None``, ``not built``; but not ``step % 10 == 0``."""
    if isinstance(test, ast.BoolOp):
        return any(_is_once(value) for value in test.values)
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not)
    if isinstance(test, ast.Compare):
        if any(isinstance(operator, ast.Is | ast.NotIn) for operator in test.ops):
            return True
        return isinstance(test.ops[0], ast.Eq) and not any(
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test)
        )
    return False


def _ends_itself(node: ast.If) -> bool:
    """``if first: first = False; ...``."""
    assigned = {
        each.id
        for statement in node.body
        for each in ast.walk(statement)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    return isinstance(node.test, ast.Name) and node.test.id in assigned


def _said(code: Code, node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        path = code.path(node.func) or ""
        return f"{path.replace('()', '')}()"
    text = ast.unparse(node)
    return f"the operation {text if len(text) <= 40 else text[:37] + '...'}"


def _line(code: Code, node: ast.AST) -> int:
    return code.file(node).place(node).line


RULE = Rule(
    name="ops-in-loop",
    severity=Severity.WARNING,
    what="operations made in each step of a loop that runs a session",
    why="Each step adds operations to the graph, and each change of the graph makes the next run slower: from 3 ms at "
    "step 5 to 57 ms at step 1000 in a tiny graph. Memory grows as well.",
    fix="Make the operation once before the loop, and run it in the loop; feed what changes by a placeholder. "
    "tf.get_default_graph().finalize() before the loop makes what is left an error.",
    find=find,
)
