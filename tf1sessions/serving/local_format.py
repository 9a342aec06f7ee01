"""Messages between a SessionClient and its server: a header in JSON and raw arrays. Nothing is pickled.

::

    4 bytes   the length of the header, little-endian
    header    JSON: what is asked or answered; "arrays": [[name, dtype, shape, bytes here, or -1], ...]
    arrays    the bytes of those that are small, one after the other
              the others are in shared memory, in the order of the header (pools/arrays.py: Channel), unless the
              sender can have none: then they are all here
"""

from __future__ import annotations

import functools
import json
import logging
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf1sessions.errors import MessageTooLargeError, UsageError
from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.packing import Packed
from tf1sessions.serving.byte_strings import pack_strings, unpack_strings

__all__ = ["LocalFormatError", "as_array", "decode", "send"]

logger = logging.getLogger("tf1sessions.serving")

_LENGTH = struct.Struct("<I")
_MOST_HEADER = 1 << 20  # bytes of a header; arbitrary
_MOST_ARRAYS = 1000  # of a message; arbitrary
_KEPT = 256  # headers whose JSON is kept, each way; arbitrary
_KEPT_BYTES = 4096  # of a header that is kept; arbitrary
_STRINGS = "strings"
_DTYPES = {
    name: np.dtype(name)
    for name in (
        *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_Described = tuple[str, str, tuple[int, ...], int]  # an array's name, dtype, shape, and bytes here or -1


class LocalFormatError(ValueError):
    """A message that does not have this format."""


def send(
    channel: Channel,
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
    *,
    repeated: bool = False,
    most_bytes: float = float("inf"),
) -> None:
    """Send a header and arrays; through the socket alone where no shared memory can be had.

    Args:
        channel: To the other side.
        header: What is asked or answered.
        arrays: Name -> array, or what NumPy makes one of.
        repeated: Whether such headers come again and again, with values that are hashable: their JSON is kept.
        most_bytes: What the other side takes.

    Raises:
        TypeError: A value is no array of numbers, strings or booleans. Nothing was sent.
        UsageError: They have more bytes. Nothing was sent.
        PeerGoneError, MessageTooLargeError, ClosedError: As :meth:`Channel.send`.
    """
    try:
        _send(channel, header, arrays, repeated, most_bytes)
    except (OSError, MessageTooLargeError) as error:
        why = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(why, OSError) or channel.closed or not channel.lends:
            raise
        logger.warning("no shared memory can be had (%s): arrays go through the socket, which is slower", why)
        channel.stop_lending()
        _send(channel, header, arrays, repeated, most_bytes)


def _send(
    channel: Channel, header: Mapping[str, Any], arrays: Mapping[str, Any], repeated: bool, most_bytes: float
) -> None:
    described: list[_Described] = []
    inline: list[bytes] = []
    packed = Packed()
    for name, value in arrays.items():
        array, dtype = _sendable(name, value)
        is_long = dtype != _STRINGS and array.nbytes >= channel.in_band
        data = b"" if is_long else pack_strings(array) if dtype == _STRINGS else array.tobytes()
        described.append((name, dtype, array.shape, -1 if is_long else len(data)))
        if is_long:
            packed.buffers.append(np.ascontiguousarray(array))
        elif data:
            inline.append(data)
    encode = _encoded if repeated else _encoded.__wrapped__
    packed.stream = [encode(tuple(header.items()), tuple(described)), *inline]
    if packed.nbytes > most_bytes:
        raise UsageError(
            f"the inputs have {packed.nbytes} bytes, and a request at most {most_bytes}",
            where=", ".join(arrays),
            next_step="Send fewer rows at a time, or start the server with limits=Limits(decoded_bytes=...).",
        )
    channel.send_packed(packed)


@functools.lru_cache(_KEPT)
def _encoded(header: tuple[tuple[str, Any], ...], described: tuple[_Described, ...]) -> bytes:
    """A header as JSON, with its length before it."""
    head = json.dumps({**dict(header), "arrays": described}).encode("utf-8")
    return _LENGTH.pack(len(head)) + head


def decode(stream: memoryview, buffers: Sequence[Any]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a message. Large arrays are views of shared memory, the others are copies.

    Raises:
        LocalFormatError: It is none.
    """
    try:
        (length,) = _LENGTH.unpack_from(stream)
        if length > min(_MOST_HEADER, len(stream) - _LENGTH.size):
            raise LocalFormatError(f"the header has {length} bytes")
        position = _LENGTH.size + length
        parse = _parsed if length <= _KEPT_BYTES else _parsed.__wrapped__
        header, described = parse(bytes(stream[_LENGTH.size : position]))
        arrays: dict[str, NDArray[Any]] = {}
        waiting = list(buffers)
        for name, dtype, shape, size in described:
            if size == -1:
                arrays[name] = _array(waiting.pop(0), dtype, shape)
                continue
            if position + size > len(stream):
                raise LocalFormatError(f"the array {name!r} is cut off")
            arrays[name] = _array(bytearray(stream[position : position + size]), dtype, shape)
            position += size
        if waiting or position != len(stream):
            raise LocalFormatError("there is more than the header says")
    except LocalFormatError:
        raise
    except (struct.error, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise LocalFormatError(f"it is no message: {type(error).__name__}: {error}") from None
    return header.copy(), arrays


@functools.lru_cache(_KEPT)
def _parsed(head: bytes) -> tuple[dict[str, Any], tuple[_Described, ...]]:
    """A header, which is not to be changed, and what it says of the arrays.

    Raises:
        LocalFormatError, ValueError, TypeError, KeyError, AttributeError, RecursionError: It is none.
    """
    header = json.loads(head)
    listed = header.pop("arrays")
    if not isinstance(listed, list) or len(listed) > _MOST_ARRAYS:
        raise LocalFormatError("the arrays are not listed")
    described: dict[str, _Described] = {}
    for name, dtype, shape, size in listed:
        if not isinstance(name, str) or name in described or type(size) is not int or size < -1:
            raise LocalFormatError(f"the array {name!r} is not described")
        if dtype != _STRINGS and dtype not in _DTYPES:
            raise LocalFormatError(f"the dtype is {dtype!r:.200}")
        if not isinstance(shape, list) or not all(type(each) is int and 0 <= each < 2**48 for each in shape):
            raise LocalFormatError(f"the shape is {shape!r:.200}")
        described[name] = name, dtype, tuple(shape), size
    return header, tuple(described.values())


def as_array(value: Any) -> NDArray[Any]:
    """NumPy's array of a value; strings become objects, as NumPy's own strings lose the zeros at their ends."""
    try:
        array = np.asarray(value)
    except UnicodeDecodeError:  # str and bytes, which NumPy's own strings cannot both be
        return np.asarray(value, object)
    return array if isinstance(value, np.ndarray) or array.dtype.kind not in "SU" else np.asarray(value, object)


def _sendable(name: str, value: Any) -> tuple[NDArray[Any], str]:
    array = as_array(value)
    known = _NAMES.get(array.dtype)
    if known is not None:
        return array, known
    if array.dtype.kind in "SUO":
        if array.dtype.kind == "O" and not all(isinstance(each, (bytes, str)) for each in array.flat):
            raise TypeError(f"the value of {name!r} is no array of numbers, strings or booleans: {value!r:.200}")
        return array, _STRINGS
    array = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.name not in _DTYPES:
        raise TypeError(f"the value of {name!r} is of the dtype {array.dtype}, which is not sent")
    return array, array.dtype.name


def _array(data: Any, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if dtype == _STRINGS:
        return unpack_strings(bytes(data), list(shape))
    return np.frombuffer(data, _DTYPES[dtype]).reshape(shape)
