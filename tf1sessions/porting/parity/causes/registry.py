"""All rules, in the order of how much they say, and what they say together."""

from __future__ import annotations

from collections.abc import Callable

from tf1sessions.porting.parity.causes import attributes, contents, patterns
from tf1sessions.porting.parity.causes.evidence import Evidence, close
from tf1sessions.porting.parity.comparison import Cause

__all__ = ["RULES", "find_causes"]

Rule = Callable[[Evidence], Cause | None]

#: The first that finds its evidence is the likeliest cause.
RULES: tuple[Rule, ...] = (
    patterns.not_finite,
    attributes.other_dtype,
    contents.transposed,
    contents.reversed_axis,
    contents.gate_order,
    attributes.padding,
    attributes.data_format,
    attributes.epsilon,
    attributes.training_mode,
    attributes.resizing,
    attributes.other_attributes,
    attributes.fused_epsilon,
    attributes.batch_statistics,
    patterns.dropout,
    patterns.precision,
    patterns.activation,
    patterns.constant_factor,
    patterns.constant_offset,
    patterns.shifted,
    patterns.border,
    patterns.text_form,
    contents.other_value,
    attributes.rounding,
    attributes.other_operation,
    attributes.op_version,
    attributes.random_numbers,
)
#: Those that would also find the values of one side moved about, or changed a little, in what differs by rounding only.
_FAR_APART = {
    contents.transposed,
    contents.reversed_axis,
    contents.gate_order,
    attributes.fused_epsilon,
    attributes.batch_statistics,
    patterns.dropout,
    patterns.activation,
    patterns.constant_factor,
    patterns.constant_offset,
    patterns.shifted,
    patterns.border,
}
#: How many causes are told. Arbitrary: what comes later says less.
_MOST = 3


def find_causes(found: Evidence) -> tuple[Cause, ...]:
    """The likely causes, the likeliest first; one of rule ``"unknown"`` where no rule finds its evidence."""
    causes: dict[str, Cause] = {}
    near = close(found.left.value, found.right.value)
    for rule in RULES:
        cause = None if near and rule in _FAR_APART else rule(found)
        if cause is not None:
            causes.setdefault(cause.rule, cause)
    return tuple(causes.values())[:_MOST] or (Cause("unknown", "unknown"),)
