"""Small things that the files of this room share."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

from ..runtime import private
from ..runtime import tf1 as tf

__all__ = [
    "DatasetInitializerHook",
    "function_args",
    "is_dataset",
    "is_metric",
    "log",
    "parse_input_fn_result",
    "parse_iterator_result",
]

log = logging.getLogger("tensorflow")  # the one that tf.logging writes to


def function_args(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that a caller can pass to ``function``, without ``self`` and what is bound.

    Raises:
        TypeError: It cannot be called.
    """
    if not callable(function):
        raise TypeError("unsupported callable")
    bound: set[str] = set()
    taken = 0
    while isinstance(function, functools.partial):
        bound |= function.keywords.keys()
        taken += len(function.args)
        function = function.func
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [name for name, parameter in inspect.signature(function).parameters.items() if parameter.kind in kinds]
    return tuple(name for name in names[taken:] if name not in bound)


def is_metric(value: Any) -> bool:
    """Whether ``value`` is a metric of some Keras."""
    return all(hasattr(value, name) for name in ("update_state", "result", "updates", "variables"))


class DatasetInitializerHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Initializes the iterator of a dataset in each new session."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator
        self._initializer: Any = None

    def begin(self) -> None:
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        session.run(self._initializer)


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[Any]]:
    """Features, labels (or None) and hooks of what an ``input_fn`` returned.

    Raises:
        ValueError: It was a tuple of other than two.
    """
    hooks = []
    if is_dataset(result):
        iterator = tf.data.make_initializable_iterator(result)
        hooks.append(DatasetInitializerHook(iterator))
        result = iterator.get_next()
    return (*parse_iterator_result(result), hooks)


def parse_iterator_result(result: Any) -> tuple[Any, Any]:
    """Features and labels (or None) of what an iterator gave.

    Raises:
        ValueError: It was a tuple of other than two.
    """
    if isinstance(result, (list, tuple)):
        if len(result) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return result[0], result[1]
    return result, None


def is_dataset(result: Any) -> bool:
    """Whether ``result`` is a dataset of TensorFlow 1 or 2."""
    return isinstance(result, (tf.data.Dataset, private.dataset_ops.DatasetV2))
