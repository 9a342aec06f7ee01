"""Descriptions of the rules, by step: for ``--explain`` and the page."""

from __future__ import annotations

from . import requirements_files
from .python_two import conversion
from .steps import RULES

__all__ = ["described"]


def described() -> dict[str, dict[str, str]]:
    """Return step -> rule -> what it does, in the order in which rules are asked.

    Example:
        >>> print(described()["v1"]["v1-keras"])
        Imports the package Keras as `tensorflow.compat.v1.keras`, which is Keras 2.
    """
    found = {step: {rule.name: rule.what for rule in rules} for step, rules in RULES.items()}
    found["py3"] = conversion.WHAT | found["py3"]
    for step in sorted(requirements_files.STEPS):
        found[step][requirements_files.RULE] = requirements_files.WHAT
    return found
