"""Blocks that are compressed with Snappy, as in the indices of checkpoints that were written inside Google.

TensorFlow's own savers do not compress an index, and its readers take both. The format:
https://github.com/google/snappy/blob/main/format_description.txt
"""

from __future__ import annotations

__all__ = ["decompress"]


def decompress(data: bytes, most: int) -> bytes:
    """The bytes of a block.

    Args:
        data: The compressed bytes.
        most: How many bytes it may have.

    Raises:
        ValueError: It is cut off, copies what is not there, or has another size than it says.
    """
    try:
        size, position = _size(data)
        if size > most:
            raise ValueError(f"a block claims {size} bytes")
        found = bytearray()
        while position < len(data):
            position = _element(data, position, found)
            if len(found) > size:
                raise ValueError("a block has more bytes than it claims")
    except IndexError:
        raise ValueError("a block is cut off") from None
    if len(found) != size:
        raise ValueError(f"a block has {len(found)} bytes and claims {size}")
    return bytes(found)


def _size(data: bytes) -> tuple[int, int]:
    """The size that the block claims, and where its elements begin."""
    size = 0
    for position in range(5):
        size |= (data[position] & 127) << 7 * position
        if data[position] < 128:
            return size, position + 1
    raise ValueError("a block claims no size")


def _element(data: bytes, position: int, found: bytearray) -> int:
    """Append what the element at a position stands for; returns where the next one is."""
    tag = data[position]
    kind, upper = tag & 3, tag >> 2
    position += 1
    if kind == 0:  # bytes as they are
        extra = max(0, upper - 59)
        length = 1 + (_little_endian(data, position, extra) if extra else upper)
        position += extra
        if position + length > len(data):
            raise IndexError
        found += data[position : position + length]
        return position + length
    if kind == 1:  # a short copy of what came before
        length, offset, extra = 4 + (upper & 7), (tag >> 5) << 8 | data[position], 1
    else:
        extra = 2 if kind == 2 else 4
        length, offset = 1 + upper, _little_endian(data, position, extra)
    if not 0 < offset <= len(found):
        raise ValueError("a block copies what is not there")
    start = len(found) - offset
    piece = found[start : start + length]
    found += (piece * (length // len(piece) + 1))[:length]  # it may go on into what it makes
    return position + extra


def _little_endian(data: bytes, position: int, size: int) -> int:
    if position + size > len(data):
        raise IndexError
    return int.from_bytes(data[position : position + size], "little")
