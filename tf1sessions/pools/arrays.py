"""Channel: Python objects between two processes, their arrays in shared memory.

Data flow::

    send(obj)                                                              recv() -> obj
      pack() ──▶ pickle, if it is short ──▶ frame ═══ unix socket ═══▶ frame ──▶ unpack()
        └─ arrays, long pickles ─▶ Segment ─ its descriptor, once ─▶ Mapping ─▶ arrays of the object ◀─┘
                                      ▲                                           │ when the last of them is gone
                                      └──────────────── "free", in the segment ◀──┘

New pages of shared memory cost ten to thirty times what it takes to fill them, so segments are used again. Each side
has segments of its own, at most 64 MiB and 16 of them, in which it lends the contents of a message to the other; the
other makes its arrays on that very memory, and marks it as free when they are gone. It keeps no more than half of that:
what comes while a program holds on to more is copied out at once. A message for which there is no segment to lend goes
into one that is used once, and belongs to the receiver.

The arrays of an object that was received are the receiver's alone: writable, apart from the sender's, valid after the
channel is closed and the sender is gone. An array and those that came with it in one segment (each of 16 MiB or more
has one of its own) free their memory together.

Nothing is left behind, whichever process ends in whatever way, because segments have no names. This holds on Linux
(memfd) and on systems with unix sockets (unlinked temporary files: then also the disk may have to hold them).

After a ``fork`` of the receiving process, arrays that it had received are shared with its child: what one changes in
place, the other sees. The memory is not lent again in that case. The channel itself is closed in the child.
"""

from __future__ import annotations

import array
import errno
import mmap
import os
import select
import socket
import struct
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from tf1sessions.errors import ClosedError, MessageTooLargeError, PeerGoneError
from tf1sessions.pools.packing import Packed, pack, unpack
from tf1sessions.pools.segments import FREE, LENT, RETIRED, Mapping, Segment, identity_of
from tf1sessions.sessions.machine import available_memory

__all__ = ["Channel", "ChannelStatistics"]

# Measured on two cores of an AMD EPYC; they matter little between half and double.
_IN_BAND_BYTES = 64 << 10  # arrays below this stay in the pickle
_INLINE_BYTES = 128 << 10  # pickles up to this go through the socket, which holds about one of them
_ONCE_BYTES = 256 << 10  # arrays below this are copied out of a segment that is used once: mappings are limited, too

_POOL_BYTES = 64 << 20  # of segments that are used again, each direction; arbitrary
_POOL_SEGMENTS = 16  # the same; each has a descriptor until it is used the second time
_OWN_BYTES = 16 << 20  # arrays from this on have a segment of their own; arbitrary
_MOST_SEGMENTS = 32  # of a message, about; a frame carries at most 253 descriptors (SCM_MAX_FD)
_CHECKED_BYTES = 16 << 20  # messages from this on are compared with the memory that is free

_HEADER = struct.Struct("=IIQ")  # the next line, the bytes of the _MessageFrame and of the pickle, which both follow
_LEAST_BYTES = 512  # of a message; most that bring one array or a few short jobs need no more, and are read at once
_MAGIC = 0x74316672
_MOST_LENGTH = 1 << 47  # bytes that a process can address
_STEP_BYTES = 1 << 20  # of room for a message, which grows with what has come; arbitrary
_NO_MESSAGE = (ValueError, TypeError, LookupError, OverflowError)  # what taking a frame apart raises that is none
_PAGE = mmap.ALLOCATIONGRANULARITY
_NO_MEMORY = (errno.ENOMEM, errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_NO_SIGNAL = int(getattr(socket, "MSG_NOSIGNAL", 0))
_TRUNCATED = int(getattr(socket, "MSG_CTRUNC", 0))  # as an enum member it takes microseconds to compare
_DO_NOT_WAIT = int(getattr(socket, "MSG_DONTWAIT", 0))
_CLOSE_ON_EXEC = int(getattr(socket, "MSG_CMSG_CLOEXEC", 0))
_RIGHTS_SPACE = socket.CMSG_SPACE(4 * (_MOST_SEGMENTS + 2))


@dataclass(frozen=True)
class ChannelStatistics:
    """The counts of a channel, and the memory that it has.

    Attributes:
        sent: Messages.
        received: The same.
        bytes_sent: Of pickles and arrays.
        bytes_received: The same.
        segments: Those that this side has made to be used again.
        segment_bytes: Their size.
        lent_bytes: What of it the other side has not given back, as far as is known here.
        borrowed_bytes: Memory of the other side's segments that arrays here still use.
    """

    sent: int
    received: int
    bytes_sent: int
    bytes_received: int
    segments: int
    segment_bytes: int
    lent_bytes: int
    borrowed_bytes: int


@dataclass(eq=False)
class _Lease:
    """Another side's segment in use here."""

    number: int
    size: int
    forked: bool = False  # a child of this process has it, too: it must never be written to again


@dataclass
class _MessageFrame:
    """A message's segments; it goes through the socket as 64-bit integers."""

    segments: list[tuple[int, int, int]]  # number, size, and 1 if its descriptor comes with this frame
    places: list[tuple[int, int, int]]  # which of the segments, offset, size; of the arrays, and last of a long pickle
    long: bool  # the pickle is in a segment
    dropped: list[int]  # numbers of segments that will not be used again

    def encode(self) -> bytes:
        numbers = array.array("q", (self.long, len(self.segments), len(self.places), len(self.dropped)))
        for triple in (*self.segments, *self.places):
            numbers.extend(triple)
        numbers.extend(self.dropped)
        return numbers.tobytes()

    @classmethod
    def decode(cls, data: memoryview) -> _MessageFrame:
        long, segments, places, dropped, *numbers = data.cast("q").tolist()
        if min(segments, places, dropped) < 0 or len(numbers) != 3 * (segments + places) + dropped:
            raise ValueError(f"it has {len(numbers)} numbers")
        triples = list(zip(*[iter(numbers[: 3 * (segments + places)])] * 3, strict=True))
        return cls(triples[:segments], triples[segments:], bool(long), numbers[len(numbers) - dropped :])


_NO_SEGMENTS = _MessageFrame([], [], False, [])  # of most messages; nothing is sent for it


class Channel:
    """Sends Python objects to another process, and receives those that it sends.

    It is safe to call its methods simultaneously from multiple threads; a message goes to one of those that receive.
    An array must not change while :meth:`send` has it; afterwards it may.

    Args:
        connection: One end of a ``socket.socketpair()``, which is the channel's from now on. The other end has another.
        name: Of the other side, for messages.
        most_bytes: A message with more ends the channel, before memory is taken for it; for a side that is not trusted.

    Example:
        >>> here, there = (Channel(end) for end in socket.socketpair())
        >>> here.send({"images": np.zeros([1000, 1000])})
        >>> there.recv()["images"].shape
        (1000, 1000)
    """

    def __init__(
        self, connection: socket.socket, name: str = "the other process", most_bytes: int | None = None
    ) -> None:
        connection.setblocking(True)
        self._most_bytes = float("inf") if most_bytes is None else most_bytes
        self._socket = connection
        self._identity = identity_of(connection.fileno())
        self._name = name
        self._lends = True
        self._closed = False
        self._broken = ""  # why nothing can be sent or received any more
        self.has_lost_descriptor = False  # the program has closed it, by its number

        # Protects what stands below it, and that messages do not mix. Taken after _receiving where both are, to close.
        # Both are re-entrant, so that a signal's handler may close what it has interrupted.
        self._sending = threading.RLock()
        self._own: dict[int, Segment] = {}  # by number, the longest unused first
        self._last_number = 0
        self._dropped: list[int] = []  # numbers that the other side still knows
        self._sent = self._bytes_sent = 0

        # Protects what stands below it.
        self._receiving = threading.RLock()
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._incoming = bytearray(_LEAST_BYTES)
        self._filled = 0
        self._descriptors: deque[int] = deque()
        self._theirs: dict[int, Mapping] = {}
        self._received = self._bytes_received = 0

        # Needs no lock. It changes when arrays end, which may be anywhere.
        self._leases: dict[int, _Lease] = {}
        with _LEASING:
            _CHANNELS.add(self)

    def __enter__(self) -> Channel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Channel to {self._name}, {'closed' if self._closed else self._broken or 'open'}>"

    def fileno(self) -> int:
        """The socket's descriptor, for ``select``: it is readable when :meth:`recv` has something to do."""
        return self._socket.fileno()

    @property
    def closed(self) -> bool:
        """Whether it was closed, or broke: nothing can be sent any more."""
        return self._closed or bool(self._broken)

    def statistics(self) -> ChannelStatistics:
        """Return the counts so far, and the memory in use. It waits for a message that is being sent."""
        with self._sending:
            own = [(segment.size, segment.state) for segment in self._own.values()]
        return ChannelStatistics(
            sent=self._sent,
            received=self._received,
            bytes_sent=self._bytes_sent,
            bytes_received=self._bytes_received,
            segments=len(own),
            segment_bytes=sum(size for size, _ in own),
            lent_bytes=sum(size for size, state in own if state != FREE),
            borrowed_bytes=sum(lease.size for lease in list(self._leases.values())),
        )

    # -- sending --

    def send(self, obj: Any) -> None:
        """Send an object. It waits for the other side only when several messages wait there already.

        Raises:
            PeerGoneError: The other side has gone, or this channel broke before.
            MessageTooLargeError: It does not fit into the memory that is free. Nothing was sent.
            ClosedError: This channel was closed.
            Exception: What pickling raises. Nothing was sent.

        Ctrl-C, or another exception, in the midst of writing to the socket breaks the channel.
        """
        self.send_packed(pack(obj, self.in_band))

    @property
    def in_band(self) -> float:
        """Arrays with fewer bytes than this are to stay in the pickle."""
        return _IN_BAND_BYTES if self._lends else float("inf")

    @property
    def lends(self) -> bool:
        """Whether long messages are sent in shared memory."""
        return self._lends

    def stop_lending(self) -> None:
        """Send everything through the socket from now on, as no shared memory can be had; the other side may differ."""
        self._lends = False

    def send_packed(self, packed: Packed) -> None:
        """Send what was pickled with ``pack(obj, channel.in_band)``, or anything else in its place: :meth:`send`."""
        length = packed.length
        if not packed.buffers and length <= _INLINE_BYTES:  # most messages
            with self._sending:
                self._check_open()
                self._transmit([], [], packed, length, False)
                self._sent += 1
                self._bytes_sent += length
            return
        long = self._lends and length > _INLINE_BYTES
        sizes = [buffer.nbytes for buffer in packed.buffers] + [length] * long
        with self._sending:
            self._check_open()
            segments: list[Segment] = []
            try:
                places = self._fill(segments, packed, sizes) if sizes else []
                self._transmit(segments, places, packed, length, long)
            finally:
                for segment in segments:
                    if not segment.number:
                        segment.close()
            self._sent += 1
            self._bytes_sent += length + sum(sizes[: len(packed.buffers)])

    def _lent(self) -> set[int]:
        """The numbers of own segments that the other side has. Those that it had and must not get again are dropped."""
        states = {number: own.state for number, own in self._own.items()}
        for number in [number for number, state in states.items() if state == RETIRED]:
            self._drop(number)
        return {number for number, state in states.items() if state == LENT}

    def _check_memory(self, size: int) -> None:
        if size < _CHECKED_BYTES:
            return
        free = available_memory()
        if free is not None and size > free:
            raise _too_large(self._name, size, f", and {free / 2**20:.1f} MiB are free")

    def _fill(self, segments: list[Segment], packed: Packed, sizes: Sequence[int]) -> list[tuple[int, int, int]]:
        """Copy a message into segments, which are appended to the list. Returns the places of its parts."""
        self._check_memory(sum(sizes))
        lent = self._lent()
        busy = set(lent)
        places: list[tuple[int, int, int]] = [(0, 0, 0)] * len(sizes)
        try:
            for group in _groups(sizes):
                offset = 0
                for index in group:
                    places[index] = (len(segments), offset, sizes[index])
                    offset += -(-sizes[index] // _PAGE) * _PAGE
                segments.append(segment := self._segment(offset, busy))
                for index in group:
                    offset = places[index][1]
                    if index < len(packed.buffers):
                        segment.write(offset, packed.buffers[index])
                        continue
                    for piece in packed.stream:
                        segment.write(offset, np.frombuffer(piece, np.uint8))
                        offset += len(piece)
        except BaseException as error:
            for number in self._own.keys() - lent:
                self._own[number].state = FREE
            if isinstance(error, OSError) and error.errno in _NO_MEMORY:
                raise _too_large(self._name, sum(sizes), f": {error}") from error
            raise
        return places

    def _segment(self, size: int, busy: set[int]) -> Segment:
        """One that is not busy, a new one, or one that is used once."""
        idle = [own for number, own in self._own.items() if number not in busy]
        fitting = [own for own in idle if size <= own.size <= max(4 * size, 1 << 20)]
        if fitting:
            segment = min(reversed(fitting), key=lambda own: own.size)  # the last one used is in the processor's cache
            self._own[segment.number] = self._own.pop(segment.number)
        else:
            granule = max(_PAGE, 1 << (size.bit_length() - 3))  # so that a message a little longer finds a segment, too
            rounded = -(-size // granule) * granule
            busy_bytes = sum(self._own[number].size for number in busy)
            if len(busy) >= _POOL_SEGMENTS or busy_bytes + rounded > _POOL_BYTES:
                return Segment(size, 0)
            for own in idle:
                if len(self._own) < _POOL_SEGMENTS and self._own_bytes() + rounded <= _POOL_BYTES:
                    break
                self._drop(own.number)
            self._last_number += 1
            segment = self._own[self._last_number] = Segment(rounded, self._last_number)
        busy.add(segment.number)
        segment.state = LENT
        return segment

    def _own_bytes(self) -> int:
        return sum(own.size for own in self._own.values())

    def _drop(self, number: int) -> None:
        segment = self._own.pop(number)
        if segment.known:
            self._dropped.append(number)
        segment.close()

    def _transmit(
        self, segments: list[Segment], places: list[tuple[int, int, int]], packed: Packed, length: int, long: bool
    ) -> None:
        try:
            new: list[Segment] = []
            frame = b""
            if segments or self._dropped:
                new = [segment for segment in segments if not segment.known]
                described = [(segment.number, segment.size, int(not segment.known)) for segment in segments]
                frame = _MessageFrame(described, places, long, self._dropped).encode()
            head = _HEADER.pack(_MAGIC, len(frame), 0 if long else length)
            data = b"".join([head, frame, *([] if long else packed.stream)])
            self._write(data.ljust(_LEAST_BYTES, b"\0"), [own.fileno() for own in new])
            self._dropped = []
            for segment in new:
                segment.known = True
        except ConnectionError as error:  # what the other side had sent before can still be received
            raise PeerGoneError(f"A message cannot be sent: {self._name} has gone") from error
        except BaseException:  # it is unknown how much was sent
            self._break("sending was interrupted in the midst of a message")
            raise

    def _write(self, frame: bytes, descriptors: list[int]) -> None:
        if descriptors:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
            sent = self._socket.sendmsg([frame], rights, _NO_SIGNAL)
        else:
            sent = self._socket.send(frame, _NO_SIGNAL)
        while sent < len(frame):
            sent += self._socket.send(memoryview(frame)[sent:], _NO_SIGNAL)

    # -- receiving --

    def poll(self, timeout: float | None = 0.0) -> bool:
        """Wait until there is something to receive, be it that the other side has gone.

        Args:
            timeout: Seconds; None waits for ever.

        Returns:
            False when the time is up.
        """
        with self._receiving:
            self._check_open()
            return self._is_readable(timeout)

    def recv(self, timeout: float | None = None) -> Any:
        """Wait for the next object.

        Args:
            timeout: Seconds until the whole message must be there; None waits for ever.

        Raises:
            TimeoutError: The time is up. Nothing is lost: it can be received later.
            PeerGoneError: The other side has gone, or this channel broke before.
            ClosedError: This channel was closed.
            Exception: What unpickling raises. The message is lost; the next one can be received.
        """
        return unpack(*self.recv_packed(timeout))

    def recv_packed(self, timeout: float | None = None) -> tuple[memoryview, list[Any]]:
        """Wait for the next message: its pickle, or what was sent in its place, and the memory of its arrays.

        Raises:
            As :meth:`recv`, except for unpickling.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._receiving:
            self._check_open()
            while not self._is_complete():
                if deadline is not None and _DO_NOT_WAIT and self._receive_some(_DO_NOT_WAIT):
                    continue  # what is there needs no call of poll
                if not self._filled or deadline is not None:  # the rest of a message comes at once
                    self._wait(deadline)
                self._receive_some(0)
            try:
                frame, stream = self._take_frame()
                if frame is _NO_SEGMENTS:
                    self._received += 1
                    self._bytes_received += len(stream)
                    return stream, []
                may_keep = self._may_keep()
                views = self._borrow(frame)
                for number in frame.dropped:
                    self._theirs.pop(number, None)
                self._received += 1
                self._bytes_received += len(stream) + sum(size for _, _, size in frame.places)
                parts = _parts(frame, views, may_keep)
                del views
                return (parts.pop() if frame.long else stream), parts
            except _NO_MESSAGE as error:
                self._break(f"what arrived is no message: {type(error).__name__}: {error}")
                raise PeerGoneError(f"The channel to {self._name} has ended: {self._broken}") from error
            except BaseException:
                self._break("a message could not be taken in")
                raise

    def _is_complete(self) -> bool:
        """Whether a whole message is here; makes room for what comes next."""
        if self._filled < len(self._incoming):
            return False
        magic, frame_length, stream_length = _HEADER.unpack_from(self._incoming)
        if magic != _MAGIC or stream_length > _MOST_LENGTH:
            self._break("what arrived is no message")
            self._check_open()
        if frame_length + stream_length > self._most_bytes:
            self._break(f"a message of {frame_length + stream_length} bytes is larger than {self._most_bytes}")
            self._check_open()
        missing = _HEADER.size + frame_length + stream_length - self._filled
        if missing > 0:  # step by step: zeros for all that is announced could take the memory, and seconds
            self._incoming += bytes(min(missing, max(self._filled, _STEP_BYTES)))
        return bool(missing <= 0)

    def _wait(self, deadline: float | None) -> None:
        if not self._is_readable(None if deadline is None else max(0.0, deadline - time.monotonic())):
            begun = f": {self._filled} bytes of a message are here" if self._filled else ""
            raise TimeoutError(f"No message came from {self._name} in time{begun}")
        self._check_open()

    def _is_readable(self, timeout: float | None) -> bool:
        return bool(self._poll.poll(None if timeout is None else timeout * 1000))

    def _receive_some(self, flags: int) -> bool:
        """Takes in what is there; False when that is nothing, and it must not wait."""
        room = memoryview(self._incoming)[self._filled :]
        try:
            if self._filled < _LEAST_BYTES:  # descriptors come with a frame's first byte
                count, ancillary, got, _ = self._socket.recvmsg_into([room], _RIGHTS_SPACE, flags | _CLOSE_ON_EXEC)
                for _, _, data in ancillary:
                    self._descriptors.extend(array.array("i", data[: len(data) // 4 * 4]))
                if got & _TRUNCATED:
                    raise OSError(errno.EMFILE, f"Arrays from {self._name} cannot be opened: too many files are open")
            else:
                count = self._socket.recv_into(room, 0, flags)
            self._filled += count
        except BlockingIOError:
            return False
        except ConnectionError:
            count = 0
        except BaseException:  # it is unknown how much was received
            self._break("receiving was interrupted in the midst of a message")
            raise
        finally:
            room.release()
        if not count:
            where = f" in the midst of a message, after {self._filled} bytes" if self._filled else ""
            self._break(f"{self._name} has gone{where}")
            self._check_open()
        return True

    def _take_frame(self) -> tuple[_MessageFrame, memoryview]:
        data = memoryview(self._incoming)
        self._incoming, self._filled = bytearray(_LEAST_BYTES), 0
        _, frame_length, stream_length = _HEADER.unpack_from(data)
        end = _HEADER.size + frame_length
        frame = _MessageFrame.decode(data[_HEADER.size : end]) if frame_length else _NO_SEGMENTS
        return frame, data[end : end + stream_length]

    def _may_keep(self) -> bool:
        """Whether arrays may be made on the other side's segments, or else are copied out of them."""
        leases = list(self._leases.values())
        return sum(lease.size for lease in leases) < _POOL_BYTES // 2 and len(leases) < _POOL_SEGMENTS // 2

    def _borrow(self, frame: _MessageFrame) -> list[memoryview]:
        """The memory of the segments that a message came in."""
        views = []
        if sum(size for _, size, _ in frame.segments) > 4 * self._most_bytes:  # a segment may be larger than its arrays
            raise MessageTooLargeError(f"A message of {self._name} is larger than {self._most_bytes} bytes")
        for number, size, new in frame.segments:
            mapping = self._map(number, size) if new else self._theirs[number]
            lease = _Lease(number, size)
            with _LEASING:
                if number:
                    self._leases[number] = lease
                views.append(mapping.export(_end_lease, lease, self._leases, mapping))
        return views

    def _map(self, number: int, size: int) -> Mapping:
        fd = self._descriptors.popleft()
        try:
            mapping = Mapping(fd, size, bool(number))
        finally:
            os.close(fd)
        if number:
            self._theirs[number] = mapping
        return mapping

    # -- the end --

    def close(self) -> None:
        """Close it. What was received stays valid. Threads that wait in it get an error. It may be called again."""
        self._closed = True
        self._shut_down()
        with self._receiving, self._sending:
            self._close_socket()
            self._forget()

    def _break(self, why: str) -> None:
        self._broken = self._broken or why
        self._shut_down()

    def _is_ours(self) -> bool:
        """Whether the socket's descriptor is still that of the socket; the program may have closed all."""
        return identity_of(self._socket.fileno()) == self._identity

    def _close_socket(self) -> None:
        if self._is_ours():
            self._socket.close()
        else:
            self._socket.detach()

    def _shut_down(self) -> None:
        if not self._is_ours():
            return
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes those that wait, here and there
        except OSError:  # it is closed, or the other side is
            pass

    def _forget(self) -> None:
        for segment in self._own.values():
            segment.close()
        self._own, self._theirs = {}, {}
        while self._descriptors:
            os.close(self._descriptors.popleft())

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError(f"The channel to {self._name} was closed")
        if not self._broken and not self._is_ours():
            self._broken, self.has_lost_descriptor = "the program has closed its descriptor", True
        if self._broken:
            raise PeerGoneError(f"The channel to {self._name} has ended: {self._broken}")

    def __del__(self) -> None:
        if hasattr(self, "_descriptors"):
            self._forget()


def _end_lease(lease: _Lease, leases: dict[int, _Lease], mapping: Mapping) -> None:
    if lease.number:
        leases.pop(lease.number, None)
        mapping.state = RETIRED if lease.forked else FREE


def _parts(frame: _MessageFrame, views: list[memoryview], may_keep: bool) -> list[Any]:
    """The memory of each array, and the pickle if it is long: parts of segments to be kept, or else copies."""
    parts: list[Any] = []
    for index, (which, offset, size) in enumerate(frame.places):
        part = views[which][offset : offset + size]
        is_pickle = frame.long and index == len(frame.places) - 1
        is_once = not frame.segments[which][0]
        keep = is_pickle or (size >= _ONCE_BYTES if is_once else may_keep)
        parts.append(part if keep else _copy(part))
    return parts


def _copy(part: memoryview) -> memoryview:
    copy = np.empty(len(part), np.uint8)
    np.copyto(copy, np.frombuffer(part, np.uint8))
    return copy.data


def _groups(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Return the parts of a message that share a segment: long ones have their own."""
    least = max(_OWN_BYTES, sum(sizes) // _MOST_SEGMENTS)
    together = [index for index, size in enumerate(sizes) if size < least]
    if together:
        yield together
    yield from ([index] for index, size in enumerate(sizes) if size >= least)


def _too_large(name: str, size: int, why: str) -> MessageTooLargeError:
    return MessageTooLargeError(
        f"A message of {size / 2**20:.1f} MiB to {name} does not fit into the memory{why}",
        next_step="Send it in parts, or send the name of a file that has it.",
        size=size,
    )


# -- forks of this process --

_CHANNELS: weakref.WeakSet[Channel] = weakref.WeakSet()
_LEASING = threading.RLock()  # held while a segment is borrowed, and while the process forks


def _before_fork() -> None:
    _LEASING.acquire()
    for channel in list(_CHANNELS):
        for lease in list(channel._leases.values()):
            lease.forked = True


def _in_child() -> None:
    for channel in list(_CHANNELS):  # it is the parent's; its locks may be held by threads that are not here
        channel._closed = True
        channel._close_socket()
        channel._sending, channel._receiving = threading.RLock(), threading.RLock()
        channel._forget()
    _LEASING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_LEASING.release, after_in_child=_in_child)
