"""TensorFlow's deprecation warnings, kept out of a program's output: a queue's few lines of output drown in them.

:func:`divert` has what TensorFlow's own handler would print of them written to a file beside the job's log; for the
job's record logs.py counts them. Handlers that the program itself adds get them as ever.
"""

from __future__ import annotations

import logging
import os

from tf1sessions.files import open_own

__all__ = ["divert"]


class _IntoFile(logging.Filter):
    """Writes the warnings of TensorFlow's decorators for deprecated names to a file, and lets all else pass."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def filter(self, record: logging.LogRecord) -> bool:
        if record.filename != "deprecation.py":  # the module of TensorFlow in which the decorators are
            return True
        try:
            handle = open_own(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                line = f"{record.levelname}:{record.name}:{record.getMessage()}\n"
                os.write(handle, line.encode(errors="backslashreplace"))
            finally:
                os.close(handle)
        except OSError:  # the run's folder is gone, or the disk full
            return True
        return False


def divert(path: str) -> None:
    """Writes deprecation warnings to this file from now on. TensorFlow must be imported. Once a process."""
    for handler in logging.getLogger("tensorflow").handlers:
        handler.addFilter(_IntoFile(path))
