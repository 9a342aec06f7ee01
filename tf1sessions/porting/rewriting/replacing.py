"""A process that gives files their new contents: all of them or none, also when the one that asked for it is killed.

It is run as a script, in a session of its own, and reads lines from stdin::

    {"path": …, "new": …, "old": …}   a file; beside it its new content and a copy of the old one, in hidden files
    "commit"                          no more files: each new one is renamed to its path, copies are removed
    (the end, without "commit")       the hidden files are removed, and nothing has changed

So it ends what was begun when Ctrl-C or SIGKILL ends the other process. Where a rename fails, those before it are put
back. What happened is one line of JSON on stdout, ``{"error": …, "lost": …}``; it exits with 0 if all was done.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence

__all__ = ["Replacement", "put_back", "settle"]

Replacement = dict[str, str]


def _main() -> int:
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    replacements: list[Replacement] = []
    is_committed = False
    for line in sys.stdin:
        if not line.endswith("\n"):
            break  # the other process was killed in the middle of it
        each = json.loads(line)
        if each == "commit":
            is_committed = True
            break
        replacements.append(each)
    error = _replace(replacements) if is_committed else None
    lost = []
    if error or not is_committed:
        lost = put_back(replacements)
    else:
        for each in replacements:
            _remove(each["old"])
    try:
        os.write(1, json.dumps({"error": error, "lost": lost}).encode() + b"\n")
    except OSError:  # nobody reads it any more
        pass
    return 0 if is_committed and not error else 1


def _replace(replacements: Sequence[Replacement]) -> list[object] | None:
    """Rename the new files; return the error that one of them met, as arguments of OSError."""
    for each in replacements:
        try:
            os.replace(each["new"], each["path"])
        except OSError as error:
            return [error.errno, error.strerror, each["path"]]
    return None


def settle(replacements: Sequence[Replacement]) -> tuple[bool, list[list[str]]]:
    """End what a process of this program was killed at: the copies of old files go only when all new ones are in place.

    Returns:
        Whether all files are new, and what :func:`put_back` returns where they are not.
    """
    is_done = all(os.path.lexists(each["path"]) and not os.path.lexists(each["new"]) for each in replacements)
    if not is_done:
        return False, put_back(replacements)
    for each in replacements:
        _remove(each["old"])
    return True, []


def put_back(replacements: Sequence[Replacement]) -> list[list[str]]:
    """Give all files their old contents, and remove the hidden ones.

    Args:
        replacements: The files, as lines of stdin give them.

    Returns:
        ``[path, why, copy]`` of each that could not be put back: its copy is left.
    """
    lost: list[list[str]] = []
    for each in replacements:
        if not os.path.lexists(each["new"]) and os.path.lexists(each["old"]):  # it has been renamed
            try:
                os.replace(each["old"], each["path"])
            except OSError as error:
                lost.append([each["path"], str(error.strerror), each["old"]])
                continue
        _remove(each["new"])
        _remove(each["old"])
    return lost


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


if __name__ == "__main__":
    sys.exit(_main())
