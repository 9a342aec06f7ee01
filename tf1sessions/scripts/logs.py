"""Reads the ends of jobs' logs, to show them: only the last bytes of a log are read, however long it is.

Logs are bytes that any program may have written. What is returned is text that a terminal shows and does not act on.
Everything here may be called from any thread, while the log grows.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
from pathlib import Path

from tf1sessions.files import open_own

__all__ = ["count_deprecations", "error_line", "last_line", "log_tail", "our_messages", "traceback_tail"]

#: How many characters of an error's line are kept. Arbitrary.
_LONGEST = 500

_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-Z\\-_])")
_TRACEBACK = "Traceback (most recent call last)"
_SYNTAX_ERROR = re.compile(r"(SyntaxError|IndentationError|TabError): ")  # of the script itself: without a traceback
_OUR_MESSAGE = re.compile(rb"^tf1sessions: ([^\r\n]{1,500})", re.MULTILINE)


def log_tail(path: Path, max_bytes: int = 65536, start: int = 0) -> list[str]:
    """The last lines of a log, safe to show: what a terminal would act on is taken out.

    Args:
        path: The log; one that is not there, or cannot be read, has no lines.
        max_bytes: How much of its end is read.
        start: Where to begin, in bytes, if that is later.
    """
    try:
        with open(open_own(path, os.O_RDONLY), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(start, size - max_bytes))
            data = file.read()
    except OSError:  # jobs can do what they like with their logs
        return []
    text = _ESCAPES.sub("", data.decode("utf-8", "replace"))
    # Of a progress bar, what stands last on its line.
    return [_shown(line.rstrip("\r").rpartition("\r")[2]) for line in text.split("\n")]


def _shown(line: str) -> str:
    return "".join(char if char.isprintable() else "�" for char in line.expandtabs()).rstrip()


def last_line(path: Path) -> str:
    """The last line of a log that is not empty, or ``""``."""
    return next((line for line in reversed(log_tail(path, 4096)) if line), "")


def error_line(path: Path, start: int = 0, exit_code: int | None = 1) -> str | None:
    """Say why a job failed: the error of the traceback that its log ends with, else its exit code and its last line.

    Args:
        path: The log.
        start: Where to begin, in bytes.
        exit_code: The job's; None if it has none. Python gives 1 after a traceback.
    """
    lines = [line for line in log_tail(path, start=start) if line]
    if exit_code in (1, None):
        begins = [number for number, line in enumerate(lines) if line.startswith(_TRACEBACK)]
        errors = [line for line in lines[begins[-1] + 1 :] if not line.startswith(" ")] if begins else lines[-1:]
        if errors and (begins or exit_code is None or _SYNTAX_ERROR.match(errors[0])):
            return errors[0][:_LONGEST]
    if exit_code is None:
        return None
    said = f"the last that it wrote: {lines[-1][:_LONGEST]}" if lines else "it wrote nothing"
    return f"exit code {exit_code}; {said}"


def our_messages(path: Path, start: int = 0, limit: int = 20) -> tuple[str, ...]:
    """Return what tf1sessions itself said in a job's log (lines that begin with ``tf1sessions:``), each once.

    Args:
        path: The log.
        start: Where to begin, in bytes.
        limit: How many at most.
    """
    found: dict[str, None] = {}
    with contextlib.suppress(OSError, ValueError):  # ValueError: nothing is in it
        with (
            open(open_own(path, os.O_RDONLY), "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            for match in _OUR_MESSAGE.finditer(data, start):
                found[_shown(match[1].decode("utf-8", "replace"))] = None
                if len(found) == limit:
                    break
    return tuple(found)


def traceback_tail(path: Path, limit: int = 20) -> list[str]:
    """The end of a failed job's log: its last traceback, or its last lines where there is none.

    Args:
        path: The log.
        limit: How many lines at most; of a longer traceback the first line and the end are kept.
    """
    lines = log_tail(path)
    while lines and not lines[-1]:
        lines.pop()
    starts = [index for index, line in enumerate(lines) if line.startswith(_TRACEBACK)]
    if not starts:
        return [line for line in lines if line][-5:]
    found = lines[starts[-1] :]
    if len(found) > limit:
        found = [found[0], "  ...", *found[-(limit - 2) :]]
    return found


def count_deprecations(path: Path) -> int:
    """Return the number of warnings in a file of TensorFlow's deprecation warnings; 0 when there is none."""
    try:
        with open(open_own(path, os.O_RDONLY), encoding="utf-8", errors="replace") as file:
            return sum(line.startswith("WARNING:tensorflow:") for line in file)
    except OSError:
        return 0
