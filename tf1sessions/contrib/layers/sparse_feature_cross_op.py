"""Crossing sparse features: a number for every combination of their values, the one that 1.15 had for it.

1.15 had operations of its own for it. That with a key is still in TensorFlow, as ``tf.sparse.cross_hashed``; the other
one's arithmetic is done here: ``h ^ (x + c + (h << 10) + (h >> 4))`` of 64 bits, with a sign, over the values x of a
combination, each a number or the fingerprint of a string.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY", "sparse_feature_cross"]

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE
_SEED = 0xDECAFCAFFE
_STEP = 0x9E3779B97F4A7800 - (1 << 64)  # as an int64
_LARGEST = (1 << 63) - 1


def sparse_feature_cross(
    inputs: Sequence[Any],
    hashed_output: bool = False,
    num_buckets: int = 0,
    name: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """The combinations of the values of each row, as text or as numbers.

    Args:
        inputs: Sparse tensors [B, ?] or dense ones [B, N], of strings or whole numbers.
        hashed_output: Whether a combination is a number; otherwise it is such as "a_X_1".
        num_buckets: How many numbers there are; those of int64 that are not negative if it is 0.
        name: The name of the operations.
        hash_key: The key; the arithmetic without a key if it is None.

    Returns:
        A sparse tensor of int64 or strings, [B, ?]; the last of ``inputs`` changes first.

    Raises:
        TypeError: ``inputs`` is no list.
    """
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not hashed_output:
        return tf.sparse.cross(inputs, name=name)
    if hash_key is not None:
        return tf.sparse.cross_hashed(inputs, num_buckets, hash_key, name=name)
    with tf.name_scope(name, "cross"):
        places, hashes = [], []
        for column in inputs:
            values = column.values if isinstance(column, tf.SparseTensor) else tf.reshape(column, [-1])
            hashes.append(_fingerprints(values) if values.dtype == tf.string else tf.cast(values, tf.int64))
            number = tf.range(tf.size(values, out_type=tf.int64))
            if isinstance(column, tf.SparseTensor):
                places.append(tf.SparseTensor(column.indices, number, column.dense_shape))
            else:
                places.append(tf.reshape(number, tf.shape(column)))
        combinations = tf.sparse.cross(places)  # which values: "3_X_0" are the fourth of the first and the first
        split = tf.string_split(combinations.values, delimiter="_X").values
        chosen = tf.reshape(tf.strings.to_number(split, tf.int64), [-1, len(places)])
        combined = functools.reduce(
            _combine,
            [tf.gather(values, chosen[:, number]) for number, values in enumerate(hashes)],
            tf.fill([tf.shape(chosen)[0]], tf.constant(_SEED, tf.int64)),
        )
        numbers = _modulo(combined, num_buckets) if num_buckets else _modulo_largest(combined)
        return tf.SparseTensor(combinations.indices, numbers, combinations.dense_shape)


def _fingerprints(strings: Any) -> Any:
    """The 64-bit fingerprints of strings, as int64."""
    rest = tf.string_to_hash_bucket_fast(strings, _LARGEST)
    odd = tf.string_to_hash_bucket_fast(strings, 2)  # the divisor is odd, so this says how often it was taken away
    return tf.where(tf.equal(tf.math.mod(rest, 2), odd), rest, rest + _LARGEST)


def _combine(combined: Any, values: Any) -> Any:
    shifted = tf.bitwise.left_shift(combined, 10) + tf.bitwise.right_shift(combined, 4)
    return tf.bitwise.bitwise_xor(combined, values + _STEP + shifted)


def _modulo(values: Any, divisor: int) -> Any:
    """``values``, int64 that stand for unsigned numbers, modulo ``divisor``."""
    half = tf.bitwise.bitwise_and(tf.bitwise.right_shift(values, 1), _LARGEST)
    return tf.math.mod(tf.math.mod(half, divisor) * 2 + tf.bitwise.bitwise_and(values, 1), divisor)


def _modulo_largest(values: Any) -> Any:
    """Return the numbers modulo the largest int64, of which 2^63 is one more."""
    highest = tf.cast(values < 0, tf.int64)
    return tf.math.mod(tf.math.mod(tf.bitwise.bitwise_and(values, _LARGEST), _LARGEST) + highest, _LARGEST)
