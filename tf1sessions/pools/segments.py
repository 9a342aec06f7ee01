"""Anonymous memory that two processes share: written here, mapped there, gone when neither has it any more.

A segment has no name. On Linux it is a memfd, which ``/dev/shm`` and its limits have nothing to do with; on other
systems that can pass descriptors, a temporary file that is unlinked as soon as it is made. The kernel frees it when no
process has it open or mapped, however they ended.

Mappings are made with the C library's ``mmap``, because Python's keeps a descriptor open for each (until 3.13), and a
program may keep thousands of results.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import functools
import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FREE", "LENT", "RETIRED", "Mapping", "Segment", "anonymous_file", "fence", "identity_of"]

FREE, LENT, RETIRED = 0, 1, 2
"""States of a segment, in a byte behind its contents: its maker may write to it, must not now, never must again."""

_PAGE = mmap.ALLOCATIONGRANULARITY
_PROTECTION = 3  # PROT_READ | PROT_WRITE
_MAP_FLAGS = 1 | getattr(mmap, "MAP_POPULATE", 0)  # MAP_SHARED; all page tables at once take a third of the time
_MAP_FAILED = ctypes.c_void_p(-1).value
_HIGH = 512  # the least descriptor of a segment; arbitrary, below the 1024 of select()
_WRITE_BYTES = 64 << 20  # at a time, so that Ctrl-C is heard; arbitrary


def identity_of(fd: int) -> tuple[int, int] | None:
    """Return the identity of the file of a descriptor; None where it is closed.

    A program may close all descriptors, as daemons do, and open files of its own, which then have the numbers of ours:
    what we keep while it runs is to be looked at before it is used, or closed.
    """
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Mapping:
    """Shared memory in this process's address space, unmapped when this object and all that it exported are gone.

    Args:
        fd: The segment's descriptor, which is not needed afterwards.
        size: Its bytes.
        has_state: Whether it has a state, because it is used again.

    Raises:
        ValueError: It is smaller than that.
        OSError: There is no room for it.
    """

    def __init__(self, fd: int, size: int, has_state: bool) -> None:
        length = size + _PAGE * has_state
        if size < 0 or os.fstat(fd).st_size < length:  # to touch what is not there would end the process
            raise ValueError(f"the segment does not have the {size} bytes that were announced")
        address = _libc().mmap(None, length, _PROTECTION, _MAP_FLAGS, fd, 0)
        if address == _MAP_FAILED:
            raise OSError(ctypes.get_errno(), f"{size} bytes of shared memory cannot be mapped")
        self._address: int = address
        self.size = size
        weakref.finalize(self, _libc().munmap, address, length).atexit = False

    @property
    def state(self) -> int:
        """One of the three above."""
        return ctypes.c_ubyte.from_address(self._address + self.size).value

    @state.setter
    def state(self, state: int) -> None:
        fence()
        ctypes.c_ubyte.from_address(self._address + self.size).value = state

    def export(self, ended: Callable[..., object], *args: Any) -> memoryview:
        """Return a view of all bytes; when the last view of it is gone, ``ended(*args)`` is called.

        Attention: that happens wherever the last reference is dropped, in the garbage collector too, so that it must
        not wait for a lock.
        """
        exporter = (ctypes.c_char * self.size).from_address(self._address)
        weakref.finalize(exporter, _end_export, self, ended, *args).atexit = False
        return memoryview(exporter).cast("B")


def fence() -> None:
    """Keep what was read and written before this call before what is read and written after it, for all processes.

    With a lock of its own, because garbage collection may call it in the midst of itself.
    """
    lock = threading.Lock()
    lock.acquire()
    lock.release()  # what stands above stays above
    lock.acquire()  # what stands below stays below


def _end_export(mapping: Mapping, ended: Callable[..., object], *args: Any) -> None:
    """Say that an export has ended; until then the reference to this call's arguments keeps the mapping."""
    ended(*args)


class Segment:
    """Shared memory that this process made and writes to. Attention: this is **not** thread-safe!

    Args:
        size: Its bytes; whole pages, if it is used again.
        number: What both processes call it; 0 is for one that is used once, and has no state.

    Raises:
        OSError: It cannot be made, or not be written to for lack of memory.
    """

    def __init__(self, size: int, number: int) -> None:
        self.size = size
        self.number = number
        self.known = False  # the other process has mapped it
        self._mapping: Mapping | None = None
        self._bytes: NDArray[np.uint8] | None = None  # of the mapping
        self._fd = anonymous_file()
        self._identity = identity_of(self._fd)
        try:
            os.ftruncate(self._fd, size + _PAGE * bool(number))
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """Its descriptor, which is there until something is written a second time.

        Raises:
            OSError: The program has closed it, by its number; what has that now is the program's.
        """
        if identity_of(self._fd) != self._identity:
            raise OSError(errno.EBADF, "the program has closed the descriptor of a segment")
        return self._fd

    @property
    def state(self) -> int:
        """Whether the other process has it. Only for segments that are used again."""
        return self._mapping.state if self._mapping else os.pread(self.fileno(), 1, self.size)[0]

    @state.setter
    def state(self, state: int) -> None:
        if self._mapping:
            self._mapping.state = state
        else:
            os.pwrite(self.fileno(), bytes([state]), self.size)

    def write(self, offset: int, source: NDArray[Any]) -> None:
        """Copy an array into it, in the order of its memory if it is contiguous, else in C's.

        New pages cost several times what it takes to fill them, and most when they are touched through a mapping: the
        first message is written to the file, later ones into a mapping of it.
        """
        flat = _flat(source)
        if flat is not None and self._bytes is None and not self.known:
            data, fd = flat.data, self.fileno()
            while data:
                written = os.pwrite(fd, data[:_WRITE_BYTES], offset)
                offset, data = offset + written, data[written:]
            return
        if self._bytes is None:
            self._mapping = Mapping(self.fileno(), self.size, bool(self.number))
            self._bytes = np.frombuffer(self._mapping.export(_nothing), np.uint8)
        if flat is not None:
            np.copyto(self._bytes[offset : offset + flat.size], flat)
        else:
            np.copyto(np.ndarray(source.shape, source.dtype, self._bytes.data, offset), source)
        if self.known:
            self._close_file()

    def close(self) -> None:
        """Give up this process's share of it."""
        self._bytes = self._mapping = None
        self._close_file()

    def _close_file(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            if identity_of(fd) == self._identity:
                os.close(fd)

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            self._close_file()


def _nothing() -> None:
    """Do nothing when the mapping ends."""


def _flat(array: NDArray[Any]) -> NDArray[np.uint8] | None:
    """The bytes of a contiguous array, without copying them."""
    array = array.view(np.ndarray)
    if not array.flags.c_contiguous:
        array = array.T
    return array.reshape(-1).view(np.uint8) if array.flags.c_contiguous else None


def anonymous_file() -> int:
    """The descriptor of an empty file that has no name.

    It is a high one where it may be: a job that writes to descriptors which it has closed, or never had, writes to low
    ones, and would change what others have been given.
    """
    if hasattr(os, "memfd_create"):
        low = os.memfd_create("tf1sessions")
    else:
        with tempfile.TemporaryFile(prefix="tf1sessions-") as file:
            low = os.dup(file.fileno())
    try:
        high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    except OSError:  # so many files may not be open
        return low
    os.close(low)
    return high


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return libc
