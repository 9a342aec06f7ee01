"""Why two sides part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tf1sessions.porting.parity.comparison import Cause, Compared
from tf1sessions.porting.parity.sides import Side

__all__ = ["find_causes"]


def find_causes(
    left: Side,
    right: Side,
    tensor: Compared,
    fed_left: Mapping[str, Any],
    fed_right: Mapping[str, Any],
    is_output: bool,
) -> tuple[Cause, ...]:
    """The likely causes."""
    return (Cause("unknown", "unknown"),)
