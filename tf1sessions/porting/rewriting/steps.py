"""The steps of a port in their order, and the rules of each; ``inputs`` is made where it is asked for."""

from __future__ import annotations

from . import python_rules
from .rule import Rule
from .rules import (
    clean_contrib,
    clean_names,
    functions_requests,
    inputs_queues,
    native_code,
    v1_arguments,
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
    "py3": python_rules.RULES,
    "v1": (
        v1_first_names.RULE,
        v1_arguments.RULE,
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
