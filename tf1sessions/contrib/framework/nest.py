"""``tf.contrib.framework.nest``: nested structures of tensors, flattened, mapped and packed again.

It is TensorFlow's own ``nest`` with the name that one of its functions had; ``tf.nest`` where TensorFlow hides it.
"""

from __future__ import annotations

from typing import Any

from ...runtime import private
from ...runtime import tf1 as tf

_nest: Any = private.nest or tf.nest


def is_sequence(o: Any) -> bool:
    """Whether ``o`` is a structure: a list, tuple, dict or their like."""
    return bool(_nest.is_nested(o))


def is_sequence_or_composite(o: Any) -> bool:
    """Whether ``o`` is a structure, or a tensor that is made of several, such as a ``SparseTensor``."""
    return bool(_nest.is_nested_or_composite(o))


def __getattr__(name: str) -> Any:
    return getattr(_nest, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_nest)})
