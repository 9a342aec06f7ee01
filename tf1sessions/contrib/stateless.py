"""``tf.contrib.stateless``: random numbers that a seed alone decides, as ``tf.random`` has them under other names."""

from __future__ import annotations

from typing import Any

from ..runtime import tf1 as _tf

__all__ = [
    "stateless_multinomial",
    "stateless_random_normal",
    "stateless_random_uniform",
    "stateless_truncated_normal",
]

stateless_multinomial: Any = _tf.random.stateless_multinomial
stateless_random_normal: Any = _tf.random.stateless_normal
stateless_random_uniform: Any = _tf.random.stateless_uniform
stateless_truncated_normal: Any = _tf.random.stateless_truncated_normal
