"""The process's working directory, which may have been deleted."""

from __future__ import annotations

import os

from tf1sessions.errors import UsageError

__all__ = ["absolute", "current_folder"]


def current_folder(where: str) -> str:
    """Return the process's working directory.

    Args:
        where: Who asks.

    Raises:
        UsageError: It was deleted.
    """
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        text = "the current folder was deleted"
        raise UsageError(text, where=where, next_step="Change to one that exists.") from error


def absolute(path: str, where: str) -> str:
    """Return a path in full; one that is given in full needs no working directory.

    Raises:
        UsageError: The working directory was deleted.
    """
    return os.path.abspath(path if os.path.isabs(path) else os.path.join(current_folder(where), path))
