"""``tf.estimator``'s helpers for TPUs that need none: numbers, iterations of a loop, iterators of several hosts."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..runtime import tf1 as tf

__all__ = [
    "IterationsPerLoopCounter",
    "MultiHostDatasetInitializerHook",
    "check_positive_integer",
    "parse_iterations_per_loop",
]

_SECONDS = {"s": 1, "m": 60, "h": 3600}


class IterationsPerLoopCounter(NamedTuple):
    """The length of a loop: a number of steps ("count"), or of seconds ("seconds")."""

    value: int
    unit: str


def check_positive_integer(value: Any, name: str) -> None:
    """Checks an argument called ``name``.

    Raises:
        TypeError: It is no integer.
        ValueError: It is not above 0.
    """
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


def parse_iterations_per_loop(iterations_per_loop: int | str) -> IterationsPerLoopCounter:
    """Parse the length of a loop, such as 100, "100", "30s", "5m" or "1h".

    Raises:
        ValueError: It is nothing of the kind.
    """
    found = re.fullmatch(r"([1-9]\d*)([smh]?)", str(iterations_per_loop))
    if found is None:
        raise ValueError(
            f"Invalid TPUConfig `iterations_per_loop` value {iterations_per_loop!r}. Value must be positive integer "
            "value or time-based value `<N><s|m|h>`, such as `3600s`, `60m`, `1h`."
        )
    value, unit = int(found.group(1)), found.group(2)
    return IterationsPerLoopCounter(value * _SECONDS.get(unit, 1), "seconds" if unit else "count")


class MultiHostDatasetInitializerHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Runs the initializers of the hosts' iterators in each new session.

    Args:
        dataset_initializers: Operations.
    """

    def __init__(self, dataset_initializers: Any) -> None:
        self._initializers = dataset_initializers

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        session.run(self._initializers)
