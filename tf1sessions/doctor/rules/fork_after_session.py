"""Processes forked after TensorFlow was used, which use it too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...source.effects import STARTS_CUDA, is_session
from ..code import Code, WorkerCall
from ..findings import Severity
from ..order import ProgramStep
from .rule import Hit, Rule

_STRATEGY = re.compile(r"tf\.distribute\.(\w+\.)?\w*Strategy|tf\.contrib\.distribute\.\w*Strategy")


def find(code: Code) -> Iterator[Hit]:
    if _sets_start_method(code):
        return
    forks = {_forks_at(worker): worker for worker in code.workers if _may_fork(code, worker)}
    for steps in code.order.sequences():
        starts = [step for step in steps if is_session(step.path) or step.path in STARTS_CUDA]
        for step in steps:
            worker = forks.get(step.node) if isinstance(step.node, ast.Call) else None
            if worker is None and step.path != "os.fork":
                continue
            first = next((start for start in starts if code.order.follows(step, start)), None)
            if first is None:
                continue
            if worker is None:
                yield Hit(step.node, f"os.fork() after {first.path}", others=(first.node,), severity=Severity.WARNING)
            elif any(_uses_tensorflow(code, other) for other in code.workers if other.maker is worker.maker):
                name = getattr(worker.target, "name", "a lambda")
                title = f"{name}() uses TensorFlow in a process that is forked after {first.path}"
                yield Hit(step.node, title, others=(first.node,))


def _sets_start_method(code: Code) -> bool:
    return any(
        code.path(call.func) in ("multiprocessing.set_start_method", "multiprocessing.context.set_start_method")
        and code.names.literal(code.argument(call, 0, "method")) != "fork"
        for call in code.calls
    )


def _may_fork(code: Code, worker: WorkerCall) -> bool:
    """Whether a worker's process is forked: not where another context is asked for."""
    if worker.kind != "process":
        return False
    if code.argument(worker.maker, None, "mp_context") is not None or code.argument(worker.maker, None, "context"):
        return False
    path = code.path(worker.maker.func) or ""
    if "get_context()" in path and isinstance(worker.maker.func, ast.Attribute):
        context = code.made_by(worker.maker.func.value)
        return context is not None and code.names.literal(code.argument(context, 0, "method")) in (None, "fork")
    return True


def _forks_at(worker: WorkerCall) -> ast.Call:
    """A Pool forks when it is made, an executor when it gets its first work."""
    return worker.node if ast.unparse(worker.maker.func).endswith("Executor") else worker.maker


def _uses_tensorflow(code: Code, worker: WorkerCall) -> bool:
    return any(_is_use(code, step) for step in code.steps_of(worker))


def _is_use(code: Code, step: ProgramStep) -> bool:
    made = step.path if isinstance(step.node, ast.Call) else None
    return is_session(step.path) or code.is_run(step.node) or bool(made and _STRATEGY.fullmatch(made))


RULE = Rule(
    name="fork-after-session",
    severity=Severity.ERROR,
    what="processes that are forked after a session was made, and use TensorFlow",
    why="A fork copies TensorFlow's locks, but not its threads: the child waits for ever at its first use of "
    "TensorFlow. A session, an eager operation or a look at the GPUs in the parent is enough.",
    fix="Start the processes before the first session, with multiprocessing.get_context('spawn'), or with "
    "tf1sessions.ProcessSessionPool.",
    find=find,
)
