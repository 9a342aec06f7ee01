"""Calls whose result is not looked at: ``lock.acquire(False)`` or ``event.wait(1.0)`` as a statement by itself."""

from __future__ import annotations

import dis
import functools
from types import CodeType, FrameType

__all__ = ["ignores_result"]


def ignores_result(frame: FrameType | None) -> bool:
    """Say whether a frame throws away the result of the call that it is in."""
    return frame is not None and frame.f_lasti in _thrown_away(frame.f_code)


@functools.lru_cache(maxsize=10_000)
def _thrown_away(code: CodeType) -> frozenset[int]:
    """Return the offsets of the calls in front of an instruction that drops their result, caches included."""
    found: set[int] = set()
    last = None
    for each in dis.get_instructions(code):
        if each.opname == "POP_TOP" and last is not None and last.opname.startswith("CALL"):
            found.update(range(last.offset, each.offset))
        last = each
    return frozenset(found)
