"""Small files that a user names, read and written as a whole.

A name may be anything: a device has no end, a pipe may never answer, and neither must be replaced by a file.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile

__all__ = ["open_own", "read_whole", "write_whole"]

#: The most bytes that are read, where the caller says nothing: no program, table or description is longer.
MOST_BYTES = 64 << 20


def open_own(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file of a folder that is ours, in which others may have put something else under its name.

    Args:
        path: The file; a symbolic link is not followed, and nothing is waited for.
        flags: Of :func:`os.open`.

    Returns:
        The descriptor, which is the caller's to close.

    Raises:
        OSError: It cannot be opened, or it is not a regular file.
    """
    if os.path.islink(path):  # O_NOFOLLOW alone would say "Too many levels of symbolic links"
        raise OSError(errno.ELOOP, "it is a symbolic link", os.fspath(path))
    handle = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    os.set_blocking(handle, True)
    return handle


def read_whole(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """Return what a file has.

    Raises:
        OSError: It cannot be read, it is not a regular file, or it has more than ``most`` bytes.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe is opened without waiting
    with open(handle, "rb") as file:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", os.fspath(path))
    return data


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a file so that a reader sees the old one, or all of the new one.

    Of a symbolic link the target is written, which need not be there yet. What is there and is not a regular file, such
    as ``/dev/stdout``, is written to, and never replaced.

    Raises:
        OSError: It cannot be written; what was there is as it was.
    """
    path = os.fspath(path)
    if os.path.islink(path) and (os.path.isfile(path) or not os.path.exists(path)):
        given, path = path, os.path.realpath(path)
        if os.path.islink(path):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), given)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return
    handle, beside = tempfile.mkstemp(prefix=".tf1sessions-", dir=os.path.dirname(os.path.abspath(path)))
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(beside, 0o666 & ~umask)  # mkstemp's files are for their owner only
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
