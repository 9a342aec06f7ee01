"""Names that ``tf.flags`` had until 1.4, before its flags became those of absl.

``FLAGS._parse_flags()``, ``_FlagValues``, and that a program may define ``log_dir``: absl's logging has a flag of that
name, and since it is imported by TensorFlow, such programs were refused (DuplicateFlagError).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["apply"]


def _parse_flags(self: Any, args: Sequence[str] | None = None) -> None:
    """Read the flags that are known from the command line, or from ``args``; others are left."""
    self(sys.argv if args is None else [sys.argv[0], *args], known_only=True)


def apply(face: Any) -> None:
    """Give the old names back, once a process, and ``log_dir`` to the program that defines it."""
    values = type(vars(face.flags.FLAGS)["__wrapped"])  # what absl calls FlagValues
    values._parse_flags = _parse_flags
    face.flags._FlagValues = values
    for name in {"log_dir"} & set(face.flags.FLAGS):
        face.flags.FLAGS[name].allow_override = True
