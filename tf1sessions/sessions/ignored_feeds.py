"""Feeds that today's TensorFlow ignores: of tensors that its arithmetic optimizer computes in another way.

TensorFlow 1.15.5 left a tensor that is fed alone. Today's arithmetic optimizer rewrites ``x * x`` and the like, and
what reads the tensor then reads the new operation, so that a value that is fed to the old one changes nothing. The
kinds below came out of 2,328 pairs of a fed operation and what reads it, on 2.21.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tf1sessions.errors import UsageError
from tf1sessions.runtime import tf

__all__ = ["refuse_ignored_feeds"]

#: Of one and the same tensor: TensorFlow makes a product with a number, or a square, of them.
_OF_EQUALS = frozenset({"Add", "AddV2", "AddN", "Mul"})
_TURNS = frozenset({"Transpose", "ConjugateTranspose", "Conj"})
#: Operation → those which it takes back, or becomes one with.
_TAKES_BACK = {name: frozenset({name}) for name in ("Neg", "Reciprocal", "Inv", "LogicalNot", "Invert")}
_TAKES_BACK |= dict.fromkeys(_TURNS, _TURNS)
_REWRITTEN = _OF_EQUALS | _TAKES_BACK.keys()
#: How far back two operations are compared. Arbitrary: what a line of a program makes.
_DEPTH = 8


def refuse_ignored_feeds(feeds: Iterable[Any], config: Any) -> None:
    """Raise where a value that is fed would change nothing.

    Args:
        feeds: Tensors.
        config: The session's ConfigProto.

    Raises:
        UsageError: TensorFlow would ignore the value of one of them.
    """
    found = [tensor for tensor in feeds if tensor.op.type in _REWRITTEN and _is_rewritten(tensor.op)]
    rewrites = config.graph_options.rewrite_options
    if not found or rewrites.disable_meta_optimizer or rewrites.arithmetic_optimization == rewrites.OFF:
        return
    name = found[0].name
    raise UsageError(
        f"a value that is fed to {name!r} would change nothing: today's TensorFlow computes this "
        f"{found[0].op.type} in another way, whatever is fed to it",
        where="feed_dict",
        next_step=f"Feed tf.identity({name.partition(':')[0]}) and let what follows read that, or give the session a "
        "ConfigProto with graph_options.rewrite_options.arithmetic_optimization = RewriterConfig.OFF.",
    )


def _is_rewritten(operation: Any) -> bool:
    inputs = [_source(tensor) for tensor in operation.inputs]
    if operation.type in _OF_EQUALS:
        return len(inputs) > 1 and all(_is_same(inputs[0], other, _DEPTH) for other in inputs[1:])
    inner = inputs[0].op
    if inner.type not in _TAKES_BACK[operation.type]:
        return False
    if operation.type == inner.type == "Transpose":
        turns = [tf.get_static_value(each.inputs[1]) for each in (inner, operation)]
        return all(turn is not None for turn in turns) and bool(np.all(np.diff(turns[0][turns[1]]) == 1))
    return True


def _source(tensor: Any) -> Any:
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def _is_same(tensor: Any, other: Any, depth: int) -> bool:
    """Whether TensorFlow takes two tensors for one: the same operation of the same inputs."""
    tensor, other = _source(tensor), _source(other)
    if tensor is other:
        return True
    one, two = tensor.op, other.op
    if not depth or one.type != two.type or tensor.value_index != other.value_index:
        return False
    if one.op_def.is_stateful or len(one.inputs) != len(two.inputs):
        return False
    return dict(one.node_def.attr) == dict(two.node_def.attr) and all(
        _is_same(*pair, depth - 1) for pair in zip(one.inputs, two.inputs, strict=True)
    )
