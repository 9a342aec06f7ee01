"""TensorFlow Probability.

Up to 0.8 a distribution had both of its parameters, ``probs`` and ``logits``, whichever of them it was made with; since
0.9 the other one is None, and a method ``probs_parameter()`` computes it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..callers import by_program
from .rows import OtherChange, Table

__all__ = ["TABLES"]

_PAIRS = ("probs", "logits", "rate", "log_rate")


def _computed(name: str, original: property) -> property:
    """The property, with the value that ``<name>_parameter()`` computes where the distribution keeps none."""

    def value(self: Any) -> Any:
        found = original.__get__(self)
        return getattr(self, f"{name}_parameter")() if found is None and by_program() else found

    return property(value, doc=original.__doc__)


def _both_parameters(distributions: ModuleType) -> None:
    for kind in vars(distributions).values():
        if not isinstance(kind, type):
            continue
        for name in _PAIRS:
            original = vars(kind).get(name)
            if isinstance(original, property) and hasattr(kind, f"{name}_parameter"):
                setattr(kind, name, _computed(name, original))


TABLES = {
    "tensorflow_probability": Table(
        changes=[OtherChange("tensorflow_probability.python.distributions", "0.9", _both_parameters)]
    )
}
