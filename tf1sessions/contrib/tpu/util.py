"""Checks of numbers, iterations of a loop, and iterators of several hosts."""

from ...estimator.tpu_util import (
    IterationsPerLoopCounter,
    MultiHostDatasetInitializerHook,
    check_positive_integer,
    parse_iterations_per_loop,
)

__all__ = [
    "IterationsPerLoopCounter",
    "MultiHostDatasetInitializerHook",
    "check_positive_integer",
    "parse_iterations_per_loop",
]
