"""The end of a program that raised: the exit code, and the text for stderr, as Python's own end has them.

What a program raises, and its ``sys.excepthook``, may raise once more when they are looked at. Python copes with that;
here each step does what the interpreter does then, so that no frame of ours is ever shown.
"""

from __future__ import annotations

import contextlib
import os
import sys
from builtins import BaseException, Exception, getattr, hasattr, isinstance, str, type  # noqa: UP029 - may be replaced
from typing import Any

from ..errors import PythonTwoError, ScriptUsageError, Tf1SessionsError
from ..source import python2
from ..texts import printable
from . import frames

__all__ = ["exit_code", "flush", "report"]

_display = sys.__excepthook__  # the program may delete it, as it may sys.excepthook
_LARGEST = 2**63 - 1  # of a C long, in which Python looks for an exit code


def flush() -> None:
    """Flush stderr and stdout when the program's last line has run, as Python does.

    What it printed then stands before its traceback where both go to one file, and none of it is lost where a thread or
    a function given to ``atexit`` calls ``os._exit`` later.
    """
    for name in ("stderr", "stdout"):
        with contextlib.suppress(Exception):  # there is no such stream, or it takes no more
            getattr(sys, name).flush()


def exit_code(error: SystemExit) -> int:
    """Return the exit code of ``sys.exit(code)``: an integer's last byte, 0 for None; the rest is printed, for 1."""
    code: Any
    try:
        code = error.code
    except BaseException:  # noqa: BLE001 - a property of the program's own
        code = error
    if code is None:
        return 0
    if isinstance(code, int):
        number = int.__index__(code)  # whatever a subclass makes of comparisons
        return (number if -_LARGEST - 1 <= number <= _LARGEST else -1) & 0xFF
    stream = getattr(sys, "stderr", None)
    with contextlib.suppress(BaseException):  # of its __str__, or of a stream of the program's own
        if stream is None:
            _write(str(code))
        else:
            stream.write(str(code))
    _write("\n")
    return 1


def report(error: BaseException) -> int:
    """Print what Python would print for ``error``, without our frames, and return the exit code."""
    if isinstance(error, (PythonTwoError, ScriptUsageError)) and not frames.outside(error.__traceback__):
        _write(printable(str(error), keep="\n") + "\n")  # found before any line of the program ran
        return 1
    frames.strip(error)
    if not hasattr(sys, "excepthook"):
        _write("sys.excepthook is missing\n")
        _show(error)
        return 1
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit as end:
        return exit_code(end)
    except BaseException as second:  # noqa: BLE001 - whatever the program's hook raises
        second.__context__ = None if second.__context__ is error else second.__context__
        frames.strip(second)
        _write("Error in sys.excepthook:\n")
        _show(second)
        _write("\nOriginal exception was:\n")
        _show(error)
    hint = None
    with contextlib.suppress(Exception):  # it looks at objects of the program
        hint = None if isinstance(error, Tf1SessionsError) else python2.hint(error)
    if hint:
        _write(hint + "\n")
    return 1


def _show(error: BaseException) -> None:
    if getattr(sys, "stderr", None) is not None:
        _display(type(error), error, error.__traceback__)


def _write(text: str) -> None:
    """Write a text to ``sys.stderr``, or to its descriptor where that is not there or fails."""
    try:
        sys.stderr.write(text)
    except BaseException:  # noqa: BLE001 - of a stream of the program's own
        with contextlib.suppress(OSError):
            os.write(2, text.encode("utf-8", "backslashreplace"))
