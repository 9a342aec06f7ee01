"""The steps of a port in their order, and the rules of each; ``inputs`` is made where it is asked for."""

from __future__ import annotations

from .rule import Rule
from .rules import (
    clean_contrib,
    clean_names,
    functions_requests,
    h5py_names,
    inputs_queues,
    native_code,
    networkx_names,
    numpy_names,
    pandas_names,
    pillow_names,
    python_two_modules,
    python_two_names,
    scipy_names,
    sklearn_names,
    small_names,
    stdlib_names,
    v1_contrib,
    v1_estimator,
    v1_examples,
    v1_first_names,
    v1_imports,
    v1_inner,
    v1_keras,
    v1_missing,
)

__all__ = ["RULES", "STEPS", "steps_to"]

#: The rules of each step, in the order in which they are asked; the steps are in the order of a port.
RULES: dict[str, tuple[Rule, ...]] = {
    "py3": (
        python_two_names.RULE,
        python_two_modules.RULE,
        stdlib_names.RULE,
        numpy_names.RULE,
        scipy_names.RULE,
        sklearn_names.RULE,
        pandas_names.RULE,
        networkx_names.RULE,
        pillow_names.RULE,
        h5py_names.RULE,
        small_names.RULE,
    ),
    "v1": (
        v1_first_names.RULE,
        v1_imports.RULE,
        v1_keras.RULE,
        v1_contrib.RULE,
        v1_estimator.RULE,
        v1_examples.RULE,
        v1_inner.RULE,
        v1_missing.RULE,
    ),
    "clean": (clean_contrib.RULE, clean_names.RULE),
    "inputs": (inputs_queues.RULE,),
    "functions": (functions_requests.RULE,),
    "native": (native_code.RULE,),
}

#: The steps that ``--to`` names.
STEPS = tuple(step for step in RULES if step != "inputs")


def steps_to(step: str, *, inputs: bool = False) -> tuple[str, ...]:
    """Return the steps up to ``step``, itself included.

    Args:
        step: The last one of :data:`STEPS`.
        inputs: With the step ``inputs``: before ``functions``, or at the end.
    """
    steps = STEPS[: STEPS.index(step) + 1]
    if not inputs:
        return steps
    graph = tuple(each for each in steps if each not in ("functions", "native"))
    return (*graph, "inputs", *steps[len(graph) :])
