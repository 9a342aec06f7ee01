"""Arrays of strings as bytes: each with its length before it, in 32 bits, little-endian; as KServe's v2 has them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack_strings", "unpack_strings"]


def pack_strings(array: NDArray[Any]) -> bytes:
    """The bytes of an array of ``bytes`` or ``str`` objects, in C's order."""
    pieces = []
    for value in array.reshape(-1).tolist():
        data = value if isinstance(value, bytes) else str.encode(value, "utf-8")  # str() of NumPy's cuts zeros off
        pieces.append(struct.pack("<I", len(data)) + data)
    return b"".join(pieces)


def unpack_strings(data: bytes | memoryview, shape: list[int]) -> NDArray[Any]:
    """An array of ``bytes`` objects.

    Raises:
        ValueError: The bytes are cut off, or are not those of so many strings.
    """
    found, position = [], 0
    while position < len(data):
        end = position + 4
        length = struct.unpack_from("<I", data, position)[0] if end <= len(data) else 0
        if end + length > len(data):
            raise ValueError("the strings are cut off")
        found.append(bytes(data[end : end + length]))
        position = end + length
    count = 1
    for size in shape:
        count *= size
    if len(found) != count:
        raise ValueError(f"there are {len(found)} strings, and the shape {shape} has {count}")
    array = np.empty(count, object)
    array[:] = found
    return array.reshape(shape)
