"""A loss averaged over the part of the batch that a replica has, whose gradients are then summed over the replicas."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...source.names import FunctionNode
from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule

_RUNS = frozenset(["run", "experimental_run_v2", "call_for_each_replica"])
_STRATEGY = re.compile(r"(self\.)?_?(\w+_)?strategy\d*")
_MEANS = frozenset(["tf.reduce_mean", "tf.math.reduce_mean", "tf.losses.mean_squared_error"])
_APPLIES = frozenset(["apply_gradients", "minimize"])
#: Words of a step that counts the replicas, or averages over them itself.
_COUNTS = frozenset(
    """
    num_replicas_in_sync compute_average_loss global_batch_size scale_regularization_loss scale_loss all_reduce
    batch_reduce_to reduce_to merge_call
    """.split()
)


def find(code: Code) -> Iterator[Hit]:
    for call in code.calls:
        step = _replica_step(code, call)
        if step is None:
            continue
        names = {each.attr for each in ast.walk(step) if isinstance(each, ast.Attribute)}
        names |= {each.id for each in ast.walk(step) if isinstance(each, ast.Name)}
        names |= {each.arg or "" for each in ast.walk(step) if isinstance(each, ast.keyword)}
        if not names & _APPLIES or names & _COUNTS:
            continue
        mean = next((each for each in _losses(step) if code.path(each.func) in _MEANS), None)
        if mean is not None:
            title = f"each replica takes the mean of its part of the batch: {ast.unparse(mean.func)}()"
            yield Hit(mean, title, others=(call,))


def _replica_step(code: Code, call: ast.Call) -> FunctionNode | None:
    """The program's function that a call has a strategy run on each replica."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _RUNS or not call.args:
        return None
    path = code.path(call.func.value)
    named = _STRATEGY.fullmatch(ast.unparse(call.func.value)) is not None
    if named if path is None else path.startswith("tf.distribute.") and path.endswith("Strategy()"):
        return code.names.function(code.path(call.args[0]))
    return None


def _losses(step: FunctionNode) -> Iterator[ast.Call]:
    """The calls whose result is bound to a name with "loss" or "cost" in it, or is given to minimize()."""
    for node in ast.walk(step):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if any(re.search("loss|cost", ast.unparse(target).lower()) for target in node.targets):
                yield node.value


RULE = Rule(
    name="mean-in-replica",
    severity=Severity.WARNING,
    what="a loss that is the mean of a replica's part of the batch, under a strategy that sums gradients",
    why="A strategy sums the gradients of its replicas. A mean of each part of the batch makes steps as many times as "
    "large as there are replicas: with two, the learning rate is doubled without a word.",
    fix="Divide by the size of the whole batch: tf.nn.compute_average_loss(losses, global_batch_size=...), or multiply "
    "by 1 / strategy.num_replicas_in_sync.",
    find=find,
)
