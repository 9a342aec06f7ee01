"""Bounds for the threads and seconds that are asked for: Python waits no longer, and no machine starts more."""

from __future__ import annotations

from typing import Any

from tf1sessions.errors import UsageError

__all__ = ["MOST_SECS", "MOST_THREADS", "check_secs", "is_secs", "is_threads"]

#: Beyond 292 years ``threading`` raises OverflowError, in whatever thread waits.
MOST_SECS = 1_000_000_000
MOST_THREADS = 10_000  # as a job's; arbitrary


def is_secs(value: Any) -> bool:
    """Whether this is a number of seconds above 0 for which a thread can wait."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= MOST_SECS


def is_threads(value: Any) -> bool:
    """Whether so many threads can be started."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_THREADS


def check_secs(what: str, value: Any, where: str, *, or_none_at_all: bool = False) -> None:
    """Refuse what is no number of seconds for which a thread can wait.

    Args:
        what: The argument.
        value: Its value, in seconds.
        where: Whose argument it is.
        or_none_at_all: 0 is right, too.

    Raises:
        UsageError: It is none.
    """
    if not is_secs(value) and not (or_none_at_all and not isinstance(value, bool) and value == 0):
        from tf1sessions.texts import brief  # a project that does not use the plugin loads next to nothing

        least = "from 0 on" if or_none_at_all else "above 0"
        raise UsageError(
            f"{what} is {brief(value)}",
            where=where,
            next_step=f"Give a number of seconds {least}, and at most {MOST_SECS:,}.",
        )
