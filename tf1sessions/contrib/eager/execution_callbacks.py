"""Callbacks that see every operation of eager execution, and what is done about values that are no finite number.

TensorFlow still calls them, as callbacks of operations; those that it calls while a function is traced are left out.
Each thread has its own.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...runtime import private
from ...runtime import tf1 as tf

__all__ = [
    "ExecutionCallback",
    "InfOrNanError",
    "add_execution_callback",
    "clear_execution_callbacks",
    "errstate",
    "inf_callback",
    "inf_nan_callback",
    "nan_callback",
    "seterr",
]

_local = threading.local()  # .action: what seterr set; .callback: what checks for it, if anything does


class ExecutionCallback(enum.Enum):
    """The actions that are taken about a value."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """A result of an operation has values that are infinite or no number."""


def inf_nan_callback(
    op_type: Any,
    inputs: Any,
    attrs: Any,
    outputs: Sequence[Any],
    op_name: Any,
    check_inf: bool = True,
    check_nan: bool = True,
    action: Any = ExecutionCallback.RAISE,
) -> None:
    """A callback for :func:`add_execution_callback` that looks for values that are infinite or no number.

    Args:
        op_type: The kind of the operation.
        inputs: Of no effect.
        attrs: Of no effect.
        outputs: The results, tensors.
        op_name: The operation's name, or None.
        check_inf: Whether infinite values are looked for.
        check_nan: Whether values that are no number are looked for.
        action: An :class:`ExecutionCallback` or its value.

    Raises:
        InfOrNanError: There are such values, and ``action`` is to raise.
        ValueError: There is no such ``action``.
    """
    action = ExecutionCallback(action)
    for number, output in enumerate(outputs, 1):
        if not output.dtype.is_floating:
            continue
        value = np.asarray(output)
        counts = {
            "inf": int(np.isinf(value).sum()) if check_inf else 0,
            "nan": int(np.isnan(value).sum()) if check_nan else 0,
        }
        if not any(counts.values()):
            continue
        found = " and ".join(f"{count} {kind}(s)" for kind, count in counts.items() if count)
        message = (
            f"Output {number} of {len(outputs)} of TFE operation {op_type} (name: {op_name!r}) contains {found} out "
            f"of a total of {value.size} element(s). Tensor value: {value}"
        )
        if action is ExecutionCallback.RAISE:
            raise InfOrNanError(message)
        if action is ExecutionCallback.WARN:
            tf.logging.warning(message)
        elif action is ExecutionCallback.PRINT:
            sys.stdout.write(f"Warning: {message}\n")


def inf_callback(
    op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any, action: Any = ExecutionCallback.RAISE
) -> None:
    """:func:`inf_nan_callback` for infinite values only."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_nan=False, action=action)


def nan_callback(
    op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any, action: Any = ExecutionCallback.RAISE
) -> None:
    """:func:`inf_nan_callback` for values that are no number only."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_inf=False, action=action)


def add_execution_callback(callback: Callable[..., Any]) -> None:
    """Has ``callback(op_type, inputs, attrs, outputs, op_name)`` called after each operation from now on."""
    _added(callback)


def clear_execution_callbacks() -> None:
    """Takes all callbacks away, that of :func:`seterr` too."""
    private.op_callbacks.clear_op_callbacks()
    _local.action, _local.callback = ExecutionCallback.IGNORE, None


def seterr(inf_or_nan: Any = None) -> dict[str, ExecutionCallback]:
    """Says what is done about infinite values and such that are no number, from now on.

    Args:
        inf_or_nan: An :class:`ExecutionCallback` or its value; None leaves it as it is.

    Returns:
        What was done: ``{"inf_or_nan": an ExecutionCallback}``.

    Raises:
        ValueError: There is no such action.
    """
    old = getattr(_local, "action", ExecutionCallback.IGNORE)
    action = old if inf_or_nan is None else ExecutionCallback(inf_or_nan)
    if action is not old:
        if (callback := getattr(_local, "callback", None)) is not None:
            private.op_callbacks.remove_op_callback(callback)
        ignored = action is ExecutionCallback.IGNORE
        _local.callback = None if ignored else _added(functools.partial(inf_nan_callback, action=action))
        _local.action = action
    return {"inf_or_nan": old}


@contextlib.contextmanager
def errstate(inf_or_nan: Any = None) -> Iterator[None]:
    """:func:`seterr` within it; afterwards it is as before."""
    old = seterr(inf_or_nan)
    try:
        yield
    finally:
        seterr(**old)


def _added(callback: Callable[..., Any]) -> Callable[..., None]:
    def call(op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        if graph is None:
            callback(op_type, list(inputs), attrs, list(outputs), op_name)

    private.op_callbacks.add_op_callback(call)
    return call
