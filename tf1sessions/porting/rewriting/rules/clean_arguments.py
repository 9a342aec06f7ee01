"""Functions of ``tf.compat.v1`` that TensorFlow 2 has with other arguments: which calls may become which.

A call is changed only where each of its arguments has one in the new function that means the same; the graph that it
makes is then the same (tests/porting/rewriting/test_clean.py compares the graphs).
"""

from __future__ import annotations

import ast
import dataclasses

from ....source.edits import Edit
from ....source.uses import FileUses

__all__ = ["TABLE", "TARGETS", "ArgumentChange", "edits", "find", "keywords"]


@dataclasses.dataclass(frozen=True)
class ArgumentChange:
    """The change of a function's call into a call of another.

    Attributes:
        target: The new function.
        positional: How many arguments by position mean the same in both.
        names: Arguments by name: old -> new. Any other makes that the call is left alone.
    """

    target: str
    positional: int
    names: dict[str, str]


def _same(target: str, positional: int, names: str, **renamed: str) -> ArgumentChange:
    """Arguments of which ``names`` are called alike and the others are ``renamed``, old=new."""
    return ArgumentChange(target, positional, {**{name: name for name in names.split()}, **renamed})


def _reduction(name: str) -> ArgumentChange:
    names = "input_tensor axis keepdims name"
    return _same(f"tf.{name}", 4, names, keep_dims="keepdims", reduction_indices="axis")


TABLE: dict[str, ArgumentChange] = {
    **{
        f"tf.{name}": _reduction(name)
        for name in ("reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min",
                     "reduce_prod", "reduce_sum")
    },
    "tf.argmax": _same("tf.argmax", 2, "input axis output_type name", dimension="axis"),
    "tf.argmin": _same("tf.argmin", 2, "input axis output_type name", dimension="axis"),
    "tf.expand_dims": _same("tf.expand_dims", 3, "input axis name", dim="axis"),
    "tf.squeeze": _same("tf.squeeze", 3, "input axis name", squeeze_dims="axis"),
    "tf.zeros_like": ArgumentChange("tf.zeros_like", 3, {"tensor": "input", "dtype": "dtype", "name": "name"}),
    "tf.nn.softmax": _same("tf.nn.softmax", 3, "logits axis name", dim="axis"),
    "tf.nn.log_softmax": _same("tf.nn.log_softmax", 3, "logits axis name", dim="axis"),
    "tf.nn.l2_normalize": _same("tf.math.l2_normalize", 4, "x axis epsilon name", dim="axis"),
    "tf.nn.sigmoid_cross_entropy_with_logits": _same(
        "tf.nn.sigmoid_cross_entropy_with_logits", 0, "labels logits name"
    ),
    "tf.nn.sparse_softmax_cross_entropy_with_logits": _same(
        "tf.nn.sparse_softmax_cross_entropy_with_logits", 0, "labels logits name"
    ),
    "tf.nn.conv2d": _same(
        "tf.nn.conv2d", 4, "input filters strides padding data_format dilations name", filter="filters"
    ),
    "tf.count_nonzero": _same(
        "tf.math.count_nonzero", 2, "input axis keepdims dtype name", input_tensor="input", keep_dims="keepdims",
        reduction_indices="axis",
    ),
    "tf.string_to_number": ArgumentChange(
        "tf.strings.to_number", 2, {"string_tensor": "input", "out_type": "out_type", "name": "name"}
    ),
}  # fmt: skip


#: Of the functions above, those that TensorFlow 1 had as tf.math, too.
_IN_MATH = frozenset(name for name in TABLE if name.startswith("tf.reduce_") or name in ("tf.argmax", "tf.argmin"))
#: The functions of TensorFlow 2 that calls become calls of.
TARGETS = frozenset(arguments.target for arguments in TABLE.values()) | {f"tf.math.{name[3:]}" for name in _IN_MATH}


def find(name: str) -> ArgumentChange | None:
    """Return how calls of a function change, or None where the table has it not."""
    plain = name.replace("tf.math.", "tf.", 1)
    if plain != name and plain in _IN_MATH:
        return dataclasses.replace(TABLE[plain], target=name)
    return TABLE.get(name)


def edits(file: FileUses, call: ast.Call | None, arguments: ArgumentChange) -> list[Edit] | None:
    """Return the edits of a call's arguments, or None where the call, or the function by itself, has to stay."""
    if call is None or len(call.args) > arguments.positional:
        return None
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    if any(each.arg not in arguments.names for each in call.keywords):
        return None
    return [
        _keyword_edit(file, each, arguments.names[each.arg])
        for each in call.keywords
        if each.arg is not None and arguments.names[each.arg] != each.arg
    ]


def keywords(file: FileUses, call: ast.Call | None, renamed: dict[str, str]) -> list[Edit] | None:
    """Return the edits that give a call's arguments new names; None where they cannot be known."""
    if not renamed:
        return []
    if call is None or any(each.arg is None for each in call.keywords):
        return None
    return [_keyword_edit(file, each, renamed[each.arg]) for each in call.keywords if each.arg in renamed]


def _keyword_edit(file: FileUses, keyword: ast.keyword, name: str) -> Edit:
    """Give an argument another name."""
    assert keyword.arg is not None
    start, _ = file.positions.span(keyword)
    return Edit(start, start + len(keyword.arg), name)
