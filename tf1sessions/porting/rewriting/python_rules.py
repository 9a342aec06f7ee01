"""The rules of the step ``py3``, of Python and its libraries; an audit needs these, and not the other steps'."""

from __future__ import annotations

from .rule import Rule
from .rules import (
    h5py_names,
    networkx_names,
    numpy_names,
    pandas_names,
    pillow_names,
    python_two_modules,
    python_two_names,
    scipy_names,
    seaborn_arguments,
    sklearn_names,
    small_names,
    stdlib_names,
)

__all__ = ["RULES"]

#: In the order in which they are asked.
RULES: tuple[Rule, ...] = (
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
    seaborn_arguments.RULE,
)
