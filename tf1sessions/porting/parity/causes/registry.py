"""All rules, in the order of how much they say, and what they say together."""

from __future__ import annotations

from collections.abc import Callable

from tf1sessions.porting.parity.causes import attributes, contents, patterns
from tf1sessions.porting.parity.causes.evidence import Evidence, Half, close
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
#: Those that say something of an input by its values.
_OF_VALUES = (
    contents.transposed,
    contents.reversed_axis,
    contents.gate_order,
    patterns.precision,
    patterns.constant_factor,
    contents.other_value,
)
#: How many causes are reported. Arbitrary: later ones say less.
_MOST = 3


def find_causes(found: Evidence) -> tuple[Cause, ...]:
    """The likely causes, the likeliest first; one of rule ``"unknown"`` where no rule finds its evidence."""
    causes: dict[str, Cause] = {}
    near = close(found.left.value, found.right.value)
    for rule in RULES:
        cause = None if near and rule in _FAR_APART else rule(found)
        if cause is not None:
            causes.setdefault(cause.rule, cause)
    found_causes = tuple(causes.values())[:_MOST] or given_otherwise(found)
    return found_causes or (Cause("unknown", "unknown"),)


def given_otherwise(found: Evidence) -> tuple[Cause, ...]:
    """Return why operations of two sides got other inputs, where they did: the inputs have other names."""
    left, right = found.left, found.right
    if not found.known or left.op != right.op or not len(left.sources) == len(right.sources) > 0:
        return ()
    for index, (mine, theirs) in enumerate(zip(left.inputs, right.inputs, strict=True)):
        if mine is None or theirs is None or close(mine, theirs):
            continue
        inner = Evidence(Half(mine, left.sources[index]), Half(theirs, right.sources[index]))
        causes = [cause for rule in _OF_VALUES if (cause := rule(inner)) is not None]
        name = left.sources[index].name if left.sources[index] is not None else "what is fed"
        text = f"its input {index}, {name}, has another value"
        if causes:
            return (Cause(causes[0].rule, f"{text}: {causes[0].text}", causes[0].evidence),)
        return (Cause("other input", text, "it is among what both sides do not have under one name"),)
    return ()
