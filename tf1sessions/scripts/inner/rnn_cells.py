"""Names of ``tensorflow.python.ops.rnn_cell_impl`` that programs use: checks of cells, the linear layer, and modules.

Programs take ``array_ops`` and others from it by ``from tensorflow.python.ops.rnn_cell import *``.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["assert_like_rnncell"]

_MODULES = {
    "array_ops": "ops.array_ops",
    "clip_ops": "ops.clip_ops",
    "constant_op": "framework.constant_op",
    "context": "eager.context",
    "dtypes": "framework.dtypes",
    "init_ops": "ops.init_ops",
    "logging": "platform.tf_logging",
    "math_ops": "ops.math_ops",
    "nest": "util.nest",
    "nn_ops": "ops.nn_ops",
    "ops": "framework.ops",
    "partitioned_variables": "ops.partitioned_variables",
    "tensor_shape": "framework.tensor_shape",
    "tensor_util": "framework.tensor_util",
    "tf_variables": "ops.variables",
    "vs": "ops.variable_scope",
}
globals().update(
    {name: importlib.import_module(f"tensorflow.python.{module}") for name, module in _MODULES.items()},
)

ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"


def _flaws(cell: Any) -> list[str]:
    return [
        text
        for lacks, text in (
            (not hasattr(cell, "output_size"), "'output_size' property is missing"),
            (not hasattr(cell, "state_size"), "'state_size' property is missing"),
            (
                not hasattr(cell, "zero_state") and not hasattr(cell, "get_initial_state"),
                "either 'zero_state' or 'get_initial_state' method is required",
            ),
            (not callable(cell), "is not callable"),
        )
        if lacks
    ]


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Raises a TypeError if ``cell`` is not an RNNCell, or has not what one has.

    Args:
        cell_name: What the caller calls it, for the message.
        cell: Any object.
    """
    flaws = _flaws(cell)
    if flaws:
        raise TypeError(f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(flaws)}.")


def _like_rnncell(cell: Any) -> bool:
    """Whether ``cell`` has what an RNNCell has; the name of 1.2 to 1.7."""
    return not _flaws(cell)


def __getattr__(name: str) -> Any:
    if name in ("_Linear", "_linear"):
        return getattr(importlib.import_module("tf1sessions.contrib.rnn.core_rnn_cell"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
