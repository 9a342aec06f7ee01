"""Findings in a program's process, for another process to read: whole at every moment, or said to be lost.

Data flow::

    the program's process: write() ──▶ a file, replaced as a whole ──▶ read() in the process that waits for it
                           lose()  ──▶ a symbolic link beside it: why ──▶ lost()

A program may have replaced any function of Python by now, as tests replace ``open``, have closed all descriptors, or
have filled its disk. So what is called here is kept from before its first line, and goes through no Python code of
others. What could not be written all the same is said by a symbolic link, which needs no descriptor and no space.
"""

from __future__ import annotations

from marshal import dumps, loads
from os import O_CLOEXEC, O_CREAT, O_TRUNC, O_WRONLY, close, fchmod, fsdecode, readlink, replace, symlink
from os import open as open_file
from os import write as write_file
from typing import Any

__all__ = ["lose", "lost", "read", "write"]

_suppressed = OSError  # builtins may be replaced, too


def write(path: str, values: Any) -> None:
    """Write plain values, None, numbers, texts, lists and dicts; a reader sees these or those before, never a part."""
    data = dumps(values)
    handle = open_file(f"{path}.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try:
        fchmod(handle, 0o600)  # whatever the program's umask is
        while data:
            data = data[write_file(handle, data) :]
    finally:
        close(handle)
    replace(f"{path}.new", path)


def lose(path: str, error: BaseException) -> None:
    """Note that something could not be written, and why; the first time counts."""
    try:
        reason = f"{error!r}".encode("utf-8", "replace").replace(b"\0", b"")[:1000]
    except BaseException:  # noqa: BLE001 - the program's own may raise what it likes
        reason = b"an error that cannot be shown"
    try:
        symlink(reason, f"{path}.lost".encode())
    except _suppressed:  # there is one
        return


def read(path: str) -> Any:
    """Return what was written; None where nothing was."""
    try:
        with open(path, "rb") as file:
            return loads(file.read())
    except FileNotFoundError:
        return None


def lost(path: str) -> str | None:
    """Return why something could not be written; None where nothing was lost."""
    try:
        return fsdecode(readlink(f"{path}.lost"))
    except FileNotFoundError:
        return None
