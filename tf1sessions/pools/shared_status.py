"""SharedStatus: a page of memory in which a worker notes which jobs of a message have begun, and gives short replies.

::

    the pool's dispatcher                                      the worker
      clear(), message of n jobs ═════════ Channel ═══════════▶ begin(0), run, post(reply)
      replies()   ◀──────────── the page ────────────────────── begin(1), run, post(reply)
      hold(2): nothing from there on begins                     begin(2) is refused
      wakes up    ◀═══════════════ Channel ════════════════════ has ended

A job costs no system call this way, and no thread is woken for it. The dispatcher looks at the page when the worker has
ended all jobs, when a look is due, or when the worker has gone: the page outlives it.

Whether a job begins is settled without a lock that a dying process could take with it: the worker writes that it begins
and then reads the limit, the pool writes the limit and then reads what has begun, each with a fence in between. At
least one of them sees what the other wrote.
"""

from __future__ import annotations

import os
import struct
import threading

from tf1sessions.pools.segments import Mapping, anonymous_file, fence

__all__ = ["MOST_JOBS", "SharedStatus"]

MOST_JOBS = 250
"""Of a message; a byte counts them."""

_SIZE = 64 << 10  # bytes; arbitrary: replies that find no room here go through the channel
_BEGUN, _LIMIT, _POSTED, _FIRST = 0, 1, 2, 8  # places: three counts, and the first reply
_HEAD = struct.Struct("=B?Id")  # before a reply: its job, whether it is plain, its length, the seconds that it took


class SharedStatus:
    """The page, for both sides: the worker begins and posts, the pool does the rest.

    Only :meth:`hold` and :meth:`cancel` are safe to call simultaneously from multiple threads.

    Args:
        fd: Of the page, which stays the caller's; None makes a new page.
    """

    def __init__(self, fd: int | None = None) -> None:
        self._own_fd = -1
        if fd is None:
            self._own_fd = fd = anonymous_file()
            os.ftruncate(fd, _SIZE)
        try:
            self._bytes = Mapping(fd, _SIZE, False).export(lambda: None)
        except BaseException:
            self.close_file()
            raise
        self._lock = threading.Lock()  # held while the limit is changed
        self._end = _FIRST  # of what is posted, as far as this side has written or read it
        self._count = 0  # the same: how many replies that is

    def fileno(self) -> int:
        """The descriptor of a page that was made here, until :meth:`close_file`."""
        return self._own_fd

    def close_file(self) -> None:
        """Close the descriptor; the page stays."""
        if self._own_fd >= 0:
            os.close(self._own_fd)
            self._own_fd = -1

    def close(self) -> None:
        """Unmap the page. Calls that come later have no effect."""
        self.close_file()
        self._bytes = memoryview(bytearray(_SIZE))

    # -- the worker --

    def begin(self, index: int) -> bool:
        """Note that a job begins, before anything of it is read; False when it must not."""
        if index == 0:
            self._end, self._count = _FIRST, 0
        self._bytes[_BEGUN] = index + 1
        fence()
        return index < self._bytes[_LIMIT]

    def post(self, index: int, is_plain: bool, reply: bytes, secs: float) -> bool:
        """Leave a reply; False when there is no room for it.

        Args:
            index: Of its job.
            is_plain: Whether it is the pickle of a result, and not of a whole Reply.
            reply: The pickle.
            secs: That the job took.
        """
        start = self._end + _HEAD.size
        end = start + len(reply)
        if end > _SIZE:
            return False
        _HEAD.pack_into(self._bytes, self._end, index, is_plain, len(reply), secs)
        self._bytes[start:end] = reply
        self._end = end
        self._count += 1
        fence()
        self._bytes[_POSTED] = self._count
        return True

    # -- the pool --

    def clear(self, count: int) -> None:
        """Make it ready for a message of so many jobs, when the worker has nothing to do."""
        self._end, self._count = _FIRST, 0
        with self._lock:
            self._bytes[_BEGUN] = self._bytes[_POSTED] = 0
            self._bytes[_LIMIT] = count
        fence()

    @property
    def begun(self) -> int:
        """Return the number of jobs that have begun; the last of them may still have been refused."""
        return self._bytes[_BEGUN]

    def hold(self, first: int) -> int:
        """Let no job begin from this one on. Returns how many had begun: if it is more, one of those may be running."""
        with self._lock:
            if first < self._bytes[_LIMIT]:
                self._bytes[_LIMIT] = first
        fence()
        return self._bytes[_BEGUN]

    def cancel(self, index: int) -> bool:
        """Keep a job from beginning, and those behind it. Returns whether it is too late for that, and it may run."""
        if self.hold(index + 1) > index + 1:
            return False  # it has ended, and another one has begun
        return self.hold(index) > index

    def replies(self) -> list[tuple[int, bool, bytes, float]]:
        """Return the replies that came since the last look, each as it was given to :meth:`post`."""
        found: list[tuple[int, bool, bytes, float]] = []
        posted = self._bytes[_POSTED]
        if self._count == posted:
            return found
        fence()
        data, end = self._bytes, self._end
        for _ in range(posted - self._count):
            index, is_plain, length, secs = _HEAD.unpack_from(data, end)
            start = end + _HEAD.size
            end = start + length
            found.append((index, is_plain, bytes(data[start:end]), secs))
        self._end, self._count = end, posted
        return found
