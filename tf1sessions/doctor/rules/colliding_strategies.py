"""Strategies on different devices of one process, which take each other's collective operations."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source.names import FunctionNode
from ..code import Code, WorkerCall
from ..findings import Severity
from .rule import Hit, Rule

_STRATEGIES = frozenset(["tf.distribute.MirroredStrategy", "tf.contrib.distribute.MirroredStrategy"])
_COPYING = ("cross_device_ops", "cross_tower_ops")  # whatever is given there is taken for one without collectives


def find(code: Code) -> Iterator[Hit]:
    sites = [call for call in code.calls if code.path(call.func) in _STRATEGIES and _is_collective(code, call)]
    if not sites:
        return
    for call in sites:
        if _changes_in_loop(code, call):
            yield Hit(call, "a loop makes strategies on other devices each time, in one process")
    threads = [worker for worker in code.workers if worker.kind == "thread" and worker.target is not None]
    for worker in threads:
        if worker.many or sum(other.target is worker.target for other in threads) > 1:
            yield from _in_threads(code, worker, sites)
    yield from _one_after_another(code, sites)


def _in_threads(code: Code, worker: WorkerCall, sites: list[ast.Call]) -> Iterator[Hit]:
    """Strategies whose devices each thread gets as an argument."""
    assert worker.target is not None
    arguments = worker.target.args
    own = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for step in code.steps_of(worker):
        if step.call in sites and _names(_devices(code, step.call)) & own:
            name = getattr(worker.target, "name", "a lambda")
            yield Hit(step.node, f"{name}(), which threads run, makes a strategy of its own devices", (worker.maker,))


def _one_after_another(code: Code, sites: list[ast.Call]) -> Iterator[Hit]:
    """Strategies in the order in which the program makes them, whose devices are literals that differ."""
    for steps in code.order.sequences():
        made = [step for step in steps if step.call in sites]
        for later in made:
            devices = _literal_devices(code, later.call)
            for first in made:
                if first is later or not code.order.follows(later, first):
                    continue
                others = _literal_devices(code, first.call)
                if devices and others and devices != others:
                    yield Hit(later.node, "a second strategy in one process, on other devices", others=(first.node,))
                    break


def _is_collective(code: Code, call: ast.Call) -> bool:
    return all(keyword.arg not in (None, *_COPYING) for keyword in call.keywords) and len(call.args) < 2


def _devices(code: Code, call: ast.Call | None) -> ast.expr | None:
    return None if call is None else code.argument(call, 0, "devices")


def _literal_devices(code: Code, call: ast.Call | None) -> frozenset[str]:
    """The devices of a strategy with several, where the text says which; else nothing."""
    node = _devices(code, call)
    values = None if node is None else code.names.values(node)
    if values is None or len(values) != 1 or not isinstance(values[0], ast.List | ast.Tuple):
        return frozenset()
    names = [each.value for each in values[0].elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if len(names) < max(2, len(values[0].elts)):
        return frozenset()
    return frozenset(name.lower().replace("/device:", "/").lstrip("/") for name in names)


def _changes_in_loop(code: Code, call: ast.Call) -> bool:
    used = _names(_devices(code, call))
    for parent in code.names.parents(call):
        if isinstance(parent, FunctionNode):
            return False
        targets = []
        if isinstance(parent, ast.For):
            targets = [parent.target]
        elif isinstance(parent, ast.ListComp | ast.GeneratorExp):
            targets = [each.target for each in parent.generators]
        if any(used & _names(target) for target in targets):
            return True
    return False


def _names(node: ast.AST | None) -> set[str]:
    return set() if node is None else {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


RULE = Rule(
    name="colliding-strategies",
    severity=Severity.ERROR,
    what="several MirroredStrategies on different devices in one process",
    why="Strategies number the groups of their collective operations from 1, each for itself. The second one, in a "
    "thread or when the first has ended, finds its group taken by other devices: TensorFlow says 'Collective ops is "
    "aborted by: ... group that is already full', or waits for ever, and only a new process helps.",
    fix="Give each cross_device_ops=tf.distribute.ReductionToOneDevice(), which uses no collective operations, or a "
    "process of its own: tf1sessions.ProcessSessionPool(mode='tf2', max_jobs_per_worker=1).",
    find=find,
)
