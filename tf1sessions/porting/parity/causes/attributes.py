"""Rules about the operations on both sides, and their attributes.

A difference of attributes is evidence only where both were given the same and gave something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tf1sessions.porting.parity.causes.evidence import Evidence, close
from tf1sessions.porting.parity.comparison import Cause
from tf1sessions.runtime import tf

__all__ = [
    "batch_statistics",
    "data_format",
    "epsilon",
    "fused_epsilon",
    "op_version",
    "other_attributes",
    "other_dtype",
    "other_operation",
    "padding",
    "random_numbers",
    "resizing",
    "rounding",
    "training_mode",
]

# What says nothing about values: types, names, what was said about devices, and what a session wrote down for itself.
_SILENT = frozenset(
    "T Tidx Tshape Tparams Tindices Tpaddings dtype container shared_name use_cudnn_on_gpu value seed seed2".split()
)
# What has a rule of its own.
_OWN_RULE = frozenset(
    "padding explicit_paddings data_format src_format epsilon is_training align_corners half_pixel_centers".split()
)
_SAME_GIVEN = "both were given the same, and give another value"
_BATCH_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
#: What programs add to a variance: Keras, TensorFlow's layers, slim, PyTorch, papers.
_EPSILONS = (1e-3, 1e-5, 1e-4, 1e-6, 1e-7, 1e-8, 1e-12, 1.001e-5, 2e-5, 0.0)


def random_numbers(found: Evidence) -> Cause | None:
    """Return what parts is made of random numbers."""
    drawn = found.left.random or found.right.random
    if not drawn:
        return None
    return Cause(
        "random numbers",
        "random numbers, which each side draws for itself: dropout that is on, sampling, noise",
        f"it depends on {', '.join(drawn[:3])}",
    )


def op_version(found: Evidence) -> Cause | None:
    """Two versions of one operation."""
    left, right = found.left.op, found.right.op
    if not left or not right or left == right or _plain_name(left) != _plain_name(right):
        return None
    if not found.given_alike:
        return None
    return Cause("op version", f"two versions of an operation: {left} against {right}", _SAME_GIVEN)


def other_operation(found: Evidence) -> Cause | None:
    """Two operations that have one name in the two graphs."""
    left, right = found.left.op, found.right.op
    if not left or not right or _plain_name(left) == _plain_name(right) or not found.given_alike:
        return None
    return Cause("other operation", f"another operation: {left} against {right}", _SAME_GIVEN)


def other_dtype(found: Evidence) -> Cause | None:
    """The sides compute in other dtypes."""
    left, right = found.left.value.dtype, found.right.value.dtype
    if left == right or found.left.value.shape != found.right.value.shape:
        return None
    numbers = "iufcbV"
    alike = left.kind in numbers and right.kind in numbers
    same = alike and close(found.left.value.astype(np.float64), found.right.value.astype(np.float64))
    return Cause(
        "dtype",
        f"another dtype: {left} against {right}",
        "the values are equal as far as the coarser of the two can show" if same else "",
    )


def padding(found: Evidence) -> Cause | None:
    """SAME against VALID, or other explicit paddings."""
    for name in ("padding", "explicit_paddings"):
        for cause in _attribute(found, name, "padding"):
            return cause
    return None


def data_format(found: Evidence) -> Cause | None:
    """NHWC against NCHW."""
    for name in ("data_format", "src_format"):
        for cause in _attribute(found, name, "data format"):
            return cause
    return None


def epsilon(found: Evidence) -> Cause | None:
    """Another number is added to a variance, by an attribute."""
    return next(_attribute(found, "epsilon", "epsilon"), None)


def training_mode(found: Evidence) -> Cause | None:
    """Batch normalisation by the batch's own statistics against that by those that were gathered."""
    found_attribute = next(_attribute(found, "is_training", "training mode"), None)
    if found_attribute is None:
        return None
    return Cause(
        "training mode",
        "batch normalisation in training mode on one side: by the batch's own mean and variance",
        found_attribute.evidence,
    )


def resizing(found: Evidence) -> Cause | None:
    """Images are resized with other corners or centers."""
    for name in ("align_corners", "half_pixel_centers"):
        for cause in _attribute(found, name, "resizing"):
            return cause
    return None


def other_attributes(found: Evidence) -> Cause | None:
    """Any other attribute that differs."""
    if found.left.op != found.right.op:
        return None
    names = [name for name in _differing(found) if name not in _SILENT | _OWN_RULE and not name.startswith("_")]
    if not names or not found.given_alike:
        return None
    text = "; ".join(_described(found, name) for name in names)
    return Cause("attribute", f"another attribute: {text}", _SAME_GIVEN)


def rounding(found: Evidence) -> Cause | None:
    """Both were given the same to the bit, and what they give is nearly the same."""
    mine, theirs = found.left.inputs, found.right.inputs
    if not found.floats or not found.given_alike or not close(found.left.value, found.right.value):
        return None
    if not mine or any(not np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True)):
        return None
    return Cause(
        "rounding",
        f"rounding: another kernel of {found.left.op}, which adds up in another order or approximates otherwise",
        "both were given the same to the bit, and give nearly the same",
    )


def fused_epsilon(found: Evidence) -> Cause | None:
    """A batch normalisation equals the other side with another epsilon."""
    parts = _batch_norm(found)
    if parts is None:
        return None
    x, scale, offset, mean, variance, other, own = parts
    for number in _EPSILONS:
        if abs(number - own) > 1e-9 and close((x - mean) / np.sqrt(variance + number) * scale + offset, other):
            return Cause(
                "epsilon",
                f"another epsilon in a batch normalisation: {own:g} against {number:g}",
                f"with epsilon {number:g} the inputs of one side give the values of the other",
            )
    return None


def batch_statistics(found: Evidence) -> Cause | None:
    """A batch normalisation equals the other side with the statistics of the batch."""
    parts = _batch_norm(found)
    if parts is None:
        return None
    x, scale, offset, _, _, other, own = parts
    axes = tuple(range(x.ndim - 1))
    if not close((x - x.mean(axes)) / np.sqrt(x.var(axes) + own) * scale + offset, other):
        return None
    return Cause(
        "training mode",
        "batch normalisation in training mode on one side: by the batch's own mean and variance",
        "with the mean and the variance of this batch the inputs of one side give the values of the other",
    )


# ------------------------------------------------------------------------------------------------------------ parts


def _plain_name(op: str) -> str:
    """``"FusedBatchNormV3"`` as ``"FusedBatchNorm"``; a fused operation as what it is fused of first."""
    head = op.rstrip("0123456789")
    return head[:-1] if head != op and head.endswith("V") else op


def _attribute(found: Evidence, name: str, rule: str) -> Iterator[Cause]:
    """The cause that an attribute differs in two operations that were given the same."""
    if name in _differing(found) and found.given_alike:
        yield Cause(rule, f"another {rule}: {_described(found, name)}", _SAME_GIVEN)


def _differing(found: Evidence) -> list[str]:
    if not found.known:
        return []
    left, right = found.left.node.attr, found.right.node.attr
    names = sorted(set(left) & set(right))
    return [name for name in names if left[name].SerializeToString() != right[name].SerializeToString()]


def _described(found: Evidence, name: str) -> str:
    left, right = (_plain(half.node.attr[name]) for half in (found.left, found.right))
    return f"{name} {left} against {right}"


def _plain(value: Any) -> str:
    which = value.WhichOneof("value")
    if which == "s":
        return str(value.s.decode(errors="replace"))
    if which == "type":
        return str(tf.as_dtype(value.type).name)
    if which == "list":
        items = [*value.list.i, *value.list.f, *value.list.b, *(each.decode(errors="replace") for each in value.list.s)]
        return str(items)
    if which in ("i", "b"):
        return str(getattr(value, which))
    return f"{value.f:g}" if which == "f" else str(which)


def _batch_norm(found: Evidence) -> tuple[Any, ...] | None:
    """Return what a batch normalisation in inference was given on one side, the value of the other, and its epsilon."""
    for mine, theirs in ((found.left, found.right), (found.right, found.left)):
        if mine.op not in _BATCH_NORMS or mine.node.attr["is_training"].b or len(mine.inputs) != 5:
            continue
        layout = mine.node.attr["data_format"].s
        if layout not in (b"NHWC", b"") or any(each is None for each in mine.inputs):
            continue
        given = [each.astype(np.float64) for each in mine.inputs]
        if mine.value.shape == theirs.value.shape == given[0].shape:
            return (*given, theirs.value, float(mine.node.attr["epsilon"].f))
    return None
