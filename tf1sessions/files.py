"""Small files that a user names, read and written as a whole; folders that are there for a while, removed.

A name may be anything: a device has no end, a pipe may never answer, and neither must be replaced by a file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

__all__ = [
    "NOT_ARRAYS",
    "open_own",
    "open_regular",
    "read_array",
    "read_whole",
    "remove_folder",
    "temporary_folder",
    "walk",
    "write_whole",
]

#: What ``np.load`` raises of a file that is no archive of arrays, or a damaged one, which may claim any size.
NOT_ARRAYS = (
    ValueError, KeyError, TypeError, OSError, EOFError, MemoryError, NotImplementedError, SyntaxError, RecursionError,
    tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
#: The most bytes that are read, where the caller says nothing: no program, table or description is longer.
MOST_BYTES = 64 << 20
_PIECE = 1 << 20


def read_array(archive: Mapping[str, Any], name: str) -> Any:
    """Read an array of what ``np.load`` gave of an archive.

    Raises:
        ValueError: It claims elements of no bytes. Any number of them fits into a file, and each takes time or memory.
        Exception: Another of :data:`NOT_ARRAYS`.
    """
    found = archive[name]
    if getattr(found, "size", 0) and not found.nbytes:  # NumPy gives bytes for what is no array
        raise ValueError(f"{name} claims {found.size} elements without a byte")
    return found


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


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to read it; the caller closes it.

    Raises:
        OSError: It cannot be read, or it is not a regular file: nothing is waited for.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe is opened without waiting
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        text = os.strerror(number) if stat.S_ISDIR(mode) else "it is not a regular file"
        raise OSError(number, text, os.fspath(path))
    return open(handle, "rb")


def read_whole(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """Return what a file has.

    Raises:
        OSError: It cannot be read, it is not a regular file, or it has more than ``most`` bytes.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size  # read() takes the memory for what it is asked for, before it reads
        data: bytes | None = file.read(min(size, most) + 1)
        while data and size < len(data) <= most and (more := file.read(_PIECE)):  # it has grown; /proc says 0 bytes
            data += more
    if data is None:  # one of the kernel's own, such as /proc/kmsg, which looks regular
        raise OSError(errno.EAGAIN, "it gives nothing now, and is not waited for", os.fspath(path))
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", os.fspath(path))
    return data


def walk(
    top: str | os.PathLike[str], onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield what ``os.walk(top)`` yields, at any depth: before Python 3.12 that ends with RecursionError below 1,000.

    Args:
        top: The folder to begin with.
        onerror: Called with the error of a folder that cannot be read; without it such a one is passed over.

    Yields:
        Each folder before those in it: its path, the names of its folders, of which the caller may take some out of the
        list, and the names of all else. Links to folders are named, and not followed.
    """
    waiting = [os.fspath(top)]
    while waiting:
        folder = waiting.pop()
        folders: list[str] = []
        others: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    (folders if is_folder(entry) else others).append(entry.name)
        except OSError as error:
            if onerror is not None:
                onerror(error)
            continue
        yield folder, folders, others
        paths = [os.path.join(folder, name) for name in folders]
        waiting += [path for path in reversed(paths) if not os.path.islink(path)]


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, or a link to one. A link to itself, or into a folder that cannot be entered, is none."""
    try:
        return entry.is_dir()
    except OSError:  # of what is not there is_dir() says so itself, of the rest it raises
        return False


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[str]:
    """Give a new folder among the temporary ones, and remove it at the end by :func:`remove_folder`."""
    import tempfile  # here: what only reads starts sooner

    folder = tempfile.mkdtemp(prefix=prefix)
    try:
        yield folder
    finally:
        remove_folder(folder)


def remove_folder(folder: str | os.PathLike[str]) -> None:
    """Remove a folder of this program with all that is in it, as far as that can be removed.

    What others have put in its place, such as a link or a pipe, is removed itself, and neither followed nor opened.
    Read-only folders go, too, and it goes where no descriptor but one is left, or none and no file is in it:
    ``shutil.rmtree`` needs two, and one more for each level.
    """
    import shutil

    if os.path.islink(folder) or not os.path.isdir(folder):
        with contextlib.suppress(OSError):
            os.unlink(folder)
        return
    with contextlib.suppress(RecursionError):  # before Python 3.13, below 1,000 levels
        shutil.rmtree(folder, ignore_errors=True)
    folders = [os.fspath(folder)] if os.path.lexists(folder) else []
    for inner in folders:  # which grows
        with contextlib.suppress(OSError):
            os.chmod(inner, 0o700)
        try:
            with os.scandir(inner) as entries:
                found = list(entries)
        except OSError:
            continue
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
    for inner in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(inner)


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
    import tempfile  # here: what only reads starts sooner

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
