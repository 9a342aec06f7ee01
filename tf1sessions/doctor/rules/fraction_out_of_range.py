"""``per_process_gpu_memory_fraction`` above 1."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule

_FIELD = "per_process_gpu_memory_fraction"


def find(code: Code) -> Iterator[Hit]:
    for node in code.nodes:
        value: ast.expr | None = None
        if isinstance(node, ast.Call) and code.path(node.func) == "tf.GPUOptions":
            value = code.argument(node, None, _FIELD)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            value = node.value if node.targets[0].attr == _FIELD else None
        number = code.names.literal(value)
        if isinstance(number, int | float) and number > 1:
            assert value is not None
            yield Hit(value, f"{_FIELD} is {number}")


RULE = Rule(
    name="fraction-out-of-range",
    severity=Severity.WARNING,
    what="per_process_gpu_memory_fraction above 1",
    why="It is a share of the GPU, not megabytes or percent. Above 1 TensorFlow uses unified memory, which is swapped "
    "between the GPU and the host, and is many times slower.",
    fix="Give a share between 0 and 1: 0.4 for 40 percent.",
    find=find,
)
