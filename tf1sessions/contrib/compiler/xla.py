"""``tf.contrib.compiler.xla``: a computation that XLA compiles as a whole."""

from __future__ import annotations

from typing import Any

from ...runtime import private as _private
from ...runtime import tf1 as _tf

__all__ = ["check_function_argument_count", "compile"]

check_function_argument_count: Any = _private.xla.check_function_argument_count
compile: Any = _tf.xla.experimental.compile
