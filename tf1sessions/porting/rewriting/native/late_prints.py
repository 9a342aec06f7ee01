"""Prints in what builds the graph that become a part of functions: they print when TensorFlow traces these."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .purity import called_functions
from .refusals import is_print
from .statements import Item
from .unit import Unit

__all__ = ["LATE_PRINT", "note_late_prints"]

#: What is said at such a print.
LATE_PRINT = (
    "It printed once, when the graph was built; now it prints when TensorFlow traces a function: with the first call "
    "of each function that it is a part of, and again for new shapes."
)


def note_late_prints(unit: Unit, moved: Sequence[Item]) -> None:
    """Note prints in statements that requests compute, and in the functions that these call."""
    for item in moved:
        for node in [item.statement, *called_functions(unit, item.statement)]:
            for each in ast.walk(node):
                if isinstance(each, ast.stmt) and is_print(each) and each not in unit.replaced:
                    unit.late_prints[each] = None
