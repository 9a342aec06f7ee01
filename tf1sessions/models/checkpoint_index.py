"""The index of a checkpoint, checked before TensorFlow reads it.

TensorFlow stops the process where an entry of an index claims a shape, or a part of one, that no tensor can have. An
index of the second format is a sorted table as LevelDB writes it: blocks of keys and values, a block that says where
they are, and at the end a footer that says where that one is.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from typing import Any

from tf1sessions.models import snappy
from tf1sessions.runtime import private, tf

__all__ = ["index_problem"]

_MAGIC = 0xDB4775248B80FB57.to_bytes(8, "little")
_FOOTER_SIZE = 48
_TRAILER_SIZE = 5  # how a block is compressed, and a checksum
#: Of a block. Savers begin another one after 256 kB; a file may have a hole of any size.
_MOST_BYTES = 2**26
_MOST_DIMENSIONS = 254
_MOST_ELEMENTS = 2**62


class _MalformedIndex(Exception):
    """An error in the index, in words."""


def index_problem(path: str) -> str | None:
    """Return the fault of the index at ``path``, in words; None where TensorFlow may read it, or it is not there."""
    if "://" not in path and not os.path.isfile(path):
        return None
    try:
        with tf.gfile.GFile(path, "rb") as file:
            for key, value in _entries(file):
                if key:  # the first, without a key, is about the whole
                    _check_entry(repr(key.decode("utf-8", "replace")), value)
    except tf.errors.OpError:
        return None  # TensorFlow's reader says why it cannot be opened
    except _MalformedIndex as error:
        return str(error)
    return None


def _check_entry(name: str, value: bytes) -> None:
    try:
        entry = private.tensor_bundle_pb2.BundleEntryProto.FromString(value)
    except Exception as error:  # DecodeError of whichever protobuf is installed
        raise _MalformedIndex(f"the entry of {name} cannot be read") from error
    try:
        dtype = tf.as_dtype(entry.dtype)
    except TypeError as error:
        raise _MalformedIndex(f"{name} is of the unknown type {entry.dtype}") from error
    dims = [dim.size for dim in entry.shape.dim]
    if entry.shape.unknown_rank or len(dims) > _MOST_DIMENSIONS or min(dims, default=0) < 0:
        raise _MalformedIndex(f"{name} has a shape that no tensor has")
    if math.prod(max(size, 1) for size in dims) > _MOST_ELEMENTS:
        raise _MalformedIndex(f"{name} claims the shape {dims}")
    count, width = math.prod(dims), 1 if dtype in (tf.string, tf.variant, tf.resource) else dtype.size
    if not entry.slices and (entry.size < count * width):  # TensorFlow makes room before it compares the two
        raise _MalformedIndex(f"{name} claims the shape {dims} and has {entry.size} bytes")
    for part in entry.slices:
        whole = [not extent.HasField("length") for extent in part.extent]
        starts = [extent.start for extent in part.extent]
        ends = [extent.start + extent.length for extent in part.extent]
        if len(starts) != len(dims) or any(
            start if all_of_it else not 0 <= start <= end <= size
            for start, end, size, all_of_it in zip(starts, ends, dims, whole, strict=True)
        ):
            raise _MalformedIndex(f"{name} has a part that does not lie in its shape {dims}")


# -------------------------------------------------------------------------------------------------------- the table


def _entries(file: Any) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a table."""
    footer = _read(file, file.size() - _FOOTER_SIZE, _FOOTER_SIZE)
    if not footer.endswith(_MAGIC):
        raise _MalformedIndex("its last bytes are not those of an index")
    position = 0
    for _ in range(2):  # where the block of metadata is, which nobody uses
        _, position = _number(footer, position)
    for _, handle in _block(file, *_handle(footer, position)):
        yield from _block(file, *_handle(handle, 0))


def _read(file: Any, offset: int, size: int) -> bytes:
    if not 0 <= offset <= offset + size <= file.size() or size > _MOST_BYTES:
        raise _MalformedIndex("a block of it lies outside of the file")
    file.seek(offset)
    return bytes(file.read(size))


def _block(file: Any, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a block, each key without what it has in common with the one before."""
    block = _read(file, offset, size + _TRAILER_SIZE)
    compression, block = block[size], block[:size]
    if compression > 1:
        raise _MalformedIndex("a block of it is compressed in a way that TensorFlow does not read")
    if compression:
        try:
            block = snappy.decompress(block, _MOST_BYTES)
        except ValueError as error:
            raise _MalformedIndex(f"it is compressed, and {error}") from None
    size = len(block)
    count = int.from_bytes(block[size - 4 : size], "little")
    end = size - 4 - 4 * count
    if end < 0:
        raise _MalformedIndex("a block of it has no entries")
    restarts = {int.from_bytes(block[at : at + 4], "little") for at in range(end, size - 4, 4)}
    key, position = b"", 0
    wholes = {0}  # where entries with a whole key begin: TensorFlow's search may begin at any of the restarts
    while position < end:
        begin = position
        shared, position = _number(block, position)
        rest, position = _number(block, position)
        length, position = _number(block, position)
        if shared > len(key) or position + rest + length > end:
            raise _MalformedIndex("an entry of it does not end")
        if not shared:
            wholes.add(begin)
        key = key[:shared] + block[position : position + rest]
        position += rest
        yield key, block[position : position + length]
        position += length
    if not restarts <= wholes:
        raise _MalformedIndex("an entry of it begins in the midst of another")


def _handle(data: bytes, position: int) -> tuple[int, int]:
    offset, position = _number(data, position)
    return offset, _number(data, position)[0]


def _number(data: bytes, position: int) -> tuple[int, int]:
    """A number of seven bits a byte, lowest first, and where it ends."""
    number = 0
    for shift in itertools.count(0, 7):
        if position >= len(data) or shift > 63:
            raise _MalformedIndex("a number of it does not end")
        number |= (data[position] & 127) << shift
        position += 1
        if data[position - 1] < 128:
            return number, position
    raise AssertionError("unreachable")
