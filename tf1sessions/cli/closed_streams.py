"""Standard streams that are closed when a command begins."""

from __future__ import annotations

import os
import sys

__all__ = ["open_closed_streams"]


def open_closed_streams() -> None:
    """Gives the null device to the standard streams that were closed (``>&-``), for which Python has None.

    What is written there is dropped, as under plain Python; and no file that is opened later takes their numbers, and
    with them what jobs write.
    """
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: fd, as those below are open
            assert null == fd, f"the null device was opened as {null}"
            setattr(sys, name, open(fd, "r" if name == "stdin" else "w", closefd=False))
