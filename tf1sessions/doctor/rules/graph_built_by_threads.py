"""Threads that add operations to a graph that they share."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source.effects import makes_operations
from ...source.names import FunctionNode
from ..code import Code, WorkerCall
from ..findings import Severity
from ..order import ProgramStep
from .rule import Hit, Rule


def find(code: Code) -> Iterator[Hit]:
    for worker in code.workers:
        if worker.kind != "thread" or worker.target is None:
            continue
        steps = code.steps_of(worker)
        if any(step.path in ("tf.Graph", "tf.reset_default_graph", "t1.GraphSession") for step in steps):
            continue  # a graph of its own
        for step in steps:
            if makes_operations(step.path) and _is_shared(code, worker, step):
                assert step.path is not None
                name = getattr(worker.target, "name", "a lambda")
                title = (
                    f"{step.path.replace('()', '')}() in {name}(), which threads run, adds to a graph that they share"
                )
                yield Hit(step.node, title, others=(worker.maker,))
                break


def _is_shared(code: Code, worker: WorkerCall, step: ProgramStep) -> bool:
    """Whether an operation surely goes to a graph from outside the thread: by ``as_default()``, or by its inputs."""
    for frame in step.frames:
        if frame.kind == "with" and isinstance(frame.node, ast.With):
            if any(_enters_graph(code, item.context_expr) for item in frame.node.items):
                return True
    if step.call is None:
        return False
    inputs = [*step.call.args, *(keyword.value for keyword in step.call.keywords)]
    return any(code.is_tensor(each) and _from_outside(code, worker.target, each) for each in inputs)


def _enters_graph(code: Code, node: ast.expr) -> bool:
    """Whether ``with node:`` makes a graph the default one: ``sess.as_default()`` does not."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "as_default":
        return False
    return code.path(node.func.value) == "tf.Graph()" or "graph" in ast.unparse(node.func.value).lower()


def _from_outside(code: Code, function: FunctionNode | None, node: ast.expr) -> bool:
    values = code.names.values(node) if isinstance(node, ast.Name | ast.Attribute) else None
    return bool(values) and all(
        function not in list(code.names.parents(value)) for value in values or [] if value is not node
    )


RULE = Rule(
    name="graph-built-by-threads",
    severity=Severity.WARNING,
    what="threads that add operations to a graph that they share",
    why="Running one session from many threads is safe; adding to one graph from several, or while it runs, is not: "
    "names, scopes and control inputs get mixed up, and runs fail or give wrong results now and then.",
    fix="Build the graph in one thread before the others start, and finalize() it; or give each thread a graph of its "
    "own, as tf1sessions.ThreadSessionPool does.",
    find=find,
)
