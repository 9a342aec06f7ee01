"""Messages between ranks: a header in JSON and raw arrays. Nothing is pickled, and nothing is copied twice.

::

    4 bytes   the length of the header, little-endian
    header    JSON; "arrays": [[dtype, shape, whether its bytes are sent], ...]
    arrays    the bytes of those that are sent, one after the other
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["receive", "send"]

_LENGTH = struct.Struct("<I")
_SMALL = 1 << 16  # bytes up to which arrays go with the header, in one packet; arbitrary


def send(
    connection: socket.socket,
    header: Mapping[str, Any],
    arrays: Sequence[NDArray[Any]] = (),
    left_out: Collection[int] = (),
) -> None:
    """Send a header and arrays of numbers. Not for several threads at once on one connection.

    Args:
        connection: A connection that blocks.
        header: What JSON can carry.
        arrays: Any layout; they arrive in C's.
        left_out: Numbers of arrays of which only dtype and shape are sent; zeros arrive.

    Raises:
        OSError: The other side has gone, or takes nothing for as long as the time-out of the connection.
    """
    described = [[array.dtype.name, list(array.shape), number not in left_out] for number, array in enumerate(arrays)]
    head = json.dumps({**header, "arrays": described}).encode()
    sent = [array for number, array in enumerate(arrays) if number not in left_out and array.size]
    pieces: list[Any] = [np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in sent]
    start = _LENGTH.pack(len(head)) + head
    while pieces and pieces[0].nbytes <= _SMALL:
        start += pieces.pop(0).tobytes()
    connection.sendall(start)
    for piece in pieces:
        connection.sendall(piece)


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Receive a header and its arrays, which are the caller's.

    Raises:
        EOFError: The other side has gone.
        OSError: The connection is broken.
    """
    (length,) = _LENGTH.unpack(_filled(connection, bytearray(_LENGTH.size)))
    header = json.loads(_filled(connection, bytearray(length)))
    arrays: list[NDArray[Any]] = []
    for dtype, shape, is_sent in header.pop("arrays"):
        if is_sent:
            array = np.empty(shape, np.dtype(dtype))
            if array.size:
                _filled(connection, array.reshape(-1).view(np.uint8))
        else:
            array = np.broadcast_to(np.zeros((), np.dtype(dtype)), shape)
        arrays.append(array)
    return header, arrays


def _filled(connection: socket.socket, buffer: Any) -> Any:
    left = memoryview(buffer)
    while left.nbytes:
        count = connection.recv_into(left)
        if not count:
            raise EOFError("the other side has gone")
        left = left[count:]
    return buffer
