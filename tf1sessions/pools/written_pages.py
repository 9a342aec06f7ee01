"""The pages of memory that a fork of a server writes to, copied before it has to. For Linux; standard library only.

A fork shares its memory with the server, and each page that it writes to is copied first, when that happens. A small
job writes to thousands, as to use an object of Python is to count its references: that was a third of its time. Which
pages these are is much the same for all jobs. So the server makes a fork that does what a job does, and ends; that one
looks which pages have become its own::

    server's process              a fork of it: written_pages()         a later fork, before it has a job
    pages = written_pages([f]) ─▶ f(); _own_pages()
            ◀── their addresses ── end
                                                                          copy_pages(pages, …)

Nothing but the addresses comes from the one to the other. A page that is copied has the content that it had.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import mmap
import os
import signal
from collections.abc import Callable, Iterable, Iterator

__all__ = ["copy_pages", "written_pages"]

_MADV_POPULATE_WRITE = 23  # linux/mman.h, since Linux 5.14
_PRESENT, _EXCLUSIVE = 1 << 63, 1 << 56  # Documentation/admin-guide/mm/pagemap.rst
_LOOK_EVERY = 100  # ranges, about a millisecond; arbitrary
_SECS = 60  # how long the fork may take, before it is given up; arbitrary


def written_pages(rehearsals: Iterable[Callable[[], None]]) -> array.array[int]:
    """Call functions in a fork of this process each, and return which of the memory they have written to.

    What it writes to the standard streams is dropped, and so is the list where it fails or takes a minute.

    Returns:
        Addresses and lengths in bytes, in turn.
    """
    ranges = array.array("Q")
    for rehearse in rehearsals:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            _rehearse(rehearse, writing)
        os.close(writing)
        with open(reading, "rb") as file:
            data = file.read()
        _, status = os.waitpid(pid, 0)
        if status == 0:
            ranges.frombytes(data)
    return ranges


def _rehearse(rehearse: Callable[[], None], writing: int) -> None:
    """In the fork: call the function, send the list, and end."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_SECS)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        regions = list(_regions())  # before: what the fork maps itself is not there in another one
        rehearse()
        ranges = array.array("Q")
        for begin, end in regions:
            ranges.extend(_own_pages(begin, end))
        with open(writing, "wb") as file:
            file.write(ranges.tobytes())
        os._exit(0)
    finally:
        os._exit(1)


def copy_pages(ranges: array.array[int], is_wanted: Callable[[], bool]) -> None:
    """Copy the memory at these addresses if this process shares it; do nothing where there is none, or Linux is old.

    Args:
        ranges: As :func:`written_pages` gives them.
        is_wanted: Asked now and then whether this process has something else to do; then the rest is left.
    """
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    for number, (begin, length) in enumerate(zip(ranges[::2], ranges[1::2], strict=True)):
        if number % _LOOK_EVERY == 0 and is_wanted():
            break
        madvise(begin, length, _MADV_POPULATE_WRITE)


def _regions() -> Iterator[tuple[int, int]]:
    """The memory that a process may write to, and that is its own: no other one sees what it writes."""
    with open("/proc/self/maps") as file:
        for line in file:
            addresses, permissions, *_ = line.split(None, 2)
            if permissions == "rw-p":
                begin, end = (int(word, 16) for word in addresses.split("-"))
                yield begin, end


def _own_pages(begin: int, end: int) -> Iterator[int]:
    """The beginnings and lengths of runs of pages in a region that are no other process's."""
    entries = array.array("Q")
    with contextlib.suppress(OSError), open("/proc/self/pagemap", "rb", buffering=0) as file:
        file.seek(begin // mmap.PAGESIZE * entries.itemsize)
        entries.frombytes(file.read((end - begin) // mmap.PAGESIZE * entries.itemsize))
    first = None
    for number, entry in enumerate(entries):
        own = entry & _PRESENT and entry & _EXCLUSIVE
        if own and first is None:
            first = number
        elif not own and first is not None:
            yield begin + first * mmap.PAGESIZE
            yield (number - first) * mmap.PAGESIZE
            first = None
    if first is not None:
        yield begin + first * mmap.PAGESIZE
        yield (len(entries) - first) * mmap.PAGESIZE
