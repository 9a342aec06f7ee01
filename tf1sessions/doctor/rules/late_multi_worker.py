"""A strategy of several workers made when TensorFlow was used already."""

from __future__ import annotations

from collections.abc import Iterator

from ...source.effects import makes_operations
from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule

_STRATEGIES = frozenset(
    f"tf.distribute.{name}" for name in ("MultiWorkerMirroredStrategy", "experimental.MultiWorkerMirroredStrategy")
)
_STARTS = frozenset(["tf.config.list_logical_devices", "tf.config.experimental.list_logical_devices"])
#: Programs that have one of these compute eagerly outside of graphs.
_EAGER = frozenset(["tf.function", "tf.GradientTape", "tf.enable_v2_behavior", "tf.enable_eager_execution"])


def find(code: Code) -> Iterator[Hit]:
    if code.sessions() or not any(code.path(node) in _EAGER for node in code.nodes):
        return
    for steps in code.order.sequences():
        for step in steps:
            if step.path not in _STRATEGIES:
                continue
            first = next((one for one in steps if _starts(one.path) and code.order.follows(step, one)), None)
            if first is not None:
                title = f"a strategy of several workers is made after {first.path}()"
                yield Hit(step.node, title, others=(first.node,))


def _starts(path: str | None) -> bool:
    return path in _STARTS or (makes_operations(path) and path not in _EAGER)


RULE = Rule(
    name="late-multi-worker",
    severity=Severity.ERROR,
    what="MultiWorkerMirroredStrategy made after TensorFlow was used",
    why="The strategy starts this worker's server, which has to be there before TensorFlow's devices are: by the first "
    "eager operation, or a look at the logical devices, it is too late, and TensorFlow raises RuntimeError.",
    fix="Make the strategy in the first lines, right after the import of TensorFlow. tf.config.list_physical_devices "
    "may come before it.",
    find=find,
)
