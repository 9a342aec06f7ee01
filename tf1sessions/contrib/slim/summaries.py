"""slim.summaries: summaries outside the collections, of one tensor or of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "add_histogram_summaries",
    "add_histogram_summary",
    "add_image_summaries",
    "add_image_summary",
    "add_scalar_summaries",
    "add_scalar_summary",
    "add_zero_fraction_summaries",
    "add_zero_fraction_summary",
]


def _name(tensor: Any, name: str | None, prefix: str | None, postfix: str | None = None) -> str:
    name = name or tensor.op.name
    return "/".join(part for part in (prefix, name, postfix) if part)


def _summary(make: Callable[[str, Any], Any], tensor: Any, name: str, print_summary: bool) -> Any:
    made = make(name, tensor)
    if not print_summary:
        return made
    printed = tf.Print(tensor, [tensor], name)
    tf.add_to_collection(tf.GraphKeys.SUMMARIES, printed)
    return printed


def add_histogram_summary(tensor: Any, name: str | None = None, prefix: str | None = None) -> Any:
    """A histogram named ``prefix/name``; the name is the operation's unless given."""
    return tf.summary.histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """An image summary of [B, H, W, C] named ``prefix/name``; ``print_summary`` prints the tensor at each step, too."""
    return _summary(tf.summary.image, tensor, _name(tensor, name, prefix), print_summary)


def add_scalar_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """A scalar summary named ``prefix/name``; ``print_summary`` prints it at each step, too."""
    return _summary(tf.summary.scalar, tensor, _name(tensor, name, prefix), print_summary)


def add_zero_fraction_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """Write the share of zeros in ``tensor`` as a scalar summary ``prefix/name/Fraction_of_Zero_Values``."""
    title = _name(tensor, name, prefix, "Fraction_of_Zero_Values")
    return _summary(tf.summary.scalar, tf.nn.zero_fraction(tensor), title, print_summary)


def add_histogram_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """:func:`add_histogram_summary` of each."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """:func:`add_image_summary` of each."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(tensors: Iterable[Any], prefix: str | None = None, print_summary: bool = False) -> list[Any]:
    """:func:`add_scalar_summary` of each."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """:func:`add_zero_fraction_summary` of each."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
