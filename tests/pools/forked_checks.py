"""Checks that are made in a fork of the test's process."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable


def in_a_fork(function: Callable[[], None]) -> str:
    """Call the function in a fork, and return the traceback of what it raised there; empty where nothing was."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            function()
            os._exit(0)
        except BaseException:
            os.write(writing, traceback.format_exc().encode())
        finally:
            os._exit(1)
    os.close(writing)
    with open(reading, "rb") as file:
        text = file.read().decode()
    _, status = os.waitpid(pid, 0)
    return text or (f"it ended with status {status}" if status else "")
