"""Hidden folders, in which something is written before it is put into its place.

::

    hidden_folder(target) ──▶ removes what killed processes left ──▶ .target.tf1sessions-1a2b3c4d, locked ──▶ removed

A process that is killed removes nothing. Its lock goes with it, so the next one to write the same target sees that
no process owns the folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
from collections.abc import Iterator

from tf1sessions.files import remove_folder

__all__ = ["REPLACED", "hidden_folder"]

#: A folder inside of a hidden one, for what is being replaced: where it has something, that may be the only copy.
REPLACED = "old"
#: How much of the target's name the folder's has: a name may have 255 bytes.
_LONGEST_NAME = 50


@contextlib.contextmanager
def hidden_folder(target: str) -> Iterator[str]:
    """Gives an empty hidden folder beside a target, on the same file system, and removes it at the end.

    Folders for the same target that processes have left when they were killed are removed first.

    Args:
        target: The absolute path of what is to be written; the folder above it is there.

    Raises:
        OSError: There can be no folder.

    Thread-safety: threads and processes have folders of their own, and remove no one of another that lives.
    """
    above, base = os.path.split(target)
    stem = f".{base[:_LONGEST_NAME]}.tf1sessions-"
    _remove_left(above, stem)
    while True:
        folder, handle, is_own = os.path.join(above, stem + secrets.token_hex(4)), None, True
        try:  # around its making, too: a signal may end this process right after that
            try:
                os.mkdir(folder)  # for the user and whom the user lets, which the folders of tempfile are not
            except OSError:
                is_own = False
                raise
            handle, locked = _locked(folder)
            is_own = locked is not False  # else another process has found it before it was locked, and removes it
            if is_own and os.path.isdir(folder):
                yield folder
                return
        finally:
            if handle is not None:
                os.close(handle)  # first: it may be the last descriptor, and to remove takes one
            if is_own:
                remove_folder(folder)


def _locked(folder: str) -> tuple[int | None, bool | None]:
    """Opens and locks a folder, for as long as it is open.

    Returns:
        What it is open as, None where it cannot be; and whether it is locked now: False where another has the lock,
        None where the file system has no locks.
    """
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None, None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return handle, False
    except OSError:
        return handle, None
    return handle, True


def _remove_left(above: str, stem: str) -> None:
    pattern = re.compile(re.escape(stem) + "[0-9a-f]{8}")
    try:
        names = os.listdir(above)
    except OSError:
        return  # of others: what is in it cannot be seen, and need not be
    for name in filter(pattern.fullmatch, names):
        folder = os.path.join(above, name)
        handle, locked = _locked(folder)
        if handle is None:
            continue
        try:
            if locked and not _has_replaced(folder):
                remove_folder(folder)
        finally:
            os.close(handle)  # not before: a process that has just made it would lock it, and lose it then


def _has_replaced(folder: str) -> bool:
    try:
        return bool(os.listdir(os.path.join(folder, REPLACED)))
    except FileNotFoundError:
        return False
    except OSError:
        return True
