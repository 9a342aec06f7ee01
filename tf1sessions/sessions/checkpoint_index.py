"""The index of a checkpoint, checked before TensorFlow reads it.

TensorFlow stops the process where an entry of an index claims a shape, or a part of one, that no tensor can have, and
reads beyond a value where a part is smaller than its place. An index of the second format is a sorted table as LevelDB
writes it: blocks of keys and values, a block that says where they are, and at the end a footer that says where that
one is. The entry without a key is about the whole; that of a variable in parts names them, and each has an entry.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

from tf1sessions.errors import ModelFileError
from tf1sessions.runtime import private, tf
from tf1sessions.sessions import snappy

__all__ = ["bad_checkpoint", "check_index"]

_MAGIC = 0xDB4775248B80FB57.to_bytes(8, "little")
_FOOTER_SIZE = 48
_TRAILER_SIZE = 5  # how a block is compressed, and a checksum
#: Of a block. Savers begin another one after 256 kB; a file may have a hole of any size.
_MOST_BYTES = 2**26
_MOST_DIMENSIONS = 254
_MOST_ELEMENTS = 2**62
#: Bytes of a variable that no part of it has. TensorFlow makes room for them; a saver may write some parts only.
_MOST_MISSING = 2**32


class _MalformedIndex(Exception):
    """An error in the index, in words."""


def check_index(prefix: str) -> None:
    """Check the index of a checkpoint of the second format; does nothing where there is none.

    Args:
        prefix: As the saver wrote it.

    Raises:
        ModelFileError: TensorFlow must not read it.
    """
    path = prefix + ".index"
    if "://" not in path and not os.path.isfile(path):
        return
    try:
        with tf.gfile.GFile(path, "rb") as file:
            entries = dict(_sorted(_entries(file)))
            _check_entries(prefix, entries)
    except tf.errors.OpError:
        return  # TensorFlow's reader says why it cannot be opened
    except _MalformedIndex as error:
        raise bad_checkpoint(prefix, str(error)) from error


def bad_checkpoint(prefix: str, error: BaseException | str) -> ModelFileError:
    """The error to raise for what TensorFlow says of a checkpoint, or for what is wrong with it in words."""
    text = str(getattr(error, "message", None) or error).partition("\n")[0]
    return ModelFileError(
        f"the checkpoint {prefix} cannot be read: {text}",
        next_step="It may be incomplete: copy all of its files (.index and .data-…) again.",
        path=prefix,
    )


def _sorted(entries: Iterator[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    before: bytes | None = None
    for key, value in entries:
        if before is not None and key <= before:
            raise _MalformedIndex("its keys are not in order")
        before = key
        yield key, value


def _check_entries(prefix: str, values: Mapping[bytes, bytes]) -> None:
    bundle = private.tensor_bundle_pb2
    entries = {key: _parsed(key, value, bundle.BundleEntryProto) for key, value in values.items() if key}
    header = _parsed(b"", values.get(b"", b""), bundle.BundleHeaderProto)
    sizes: dict[int, int | None] = {}  # of the files with the values
    for key, entry in entries.items():
        name = _shown(key)
        _check_entry(name, entry)
        if entry.slices:
            _check_parts(key, entry, entries)
        if entry.shard_id not in sizes:
            sizes[entry.shard_id] = _file_size(f"{prefix}.data-{entry.shard_id:05d}-of-{header.num_shards:05d}")
        size = sizes[entry.shard_id]
        if not entry.slices and size is not None and entry.size > size:
            raise _MalformedIndex(f"{name} claims {entry.size} bytes of a file that has {size}")


def _shown(key: bytes) -> str:
    return repr(key.decode("utf-8", "replace"))


def _file_size(path: str) -> int | None:
    """Return the size of a file; None where there is none."""
    try:
        return int(tf.gfile.Stat(path).length)
    except tf.errors.OpError:
        return None


def _parsed(key: bytes, value: bytes, message: Any) -> Any:
    try:
        return message.FromString(value)
    except Exception as error:  # DecodeError of whichever protobuf is installed
        raise _MalformedIndex(f"the entry of {_shown(key)} cannot be read") from error


def _dims(entry: Any) -> list[int]:
    return [dim.size for dim in entry.shape.dim]


def _width(dtype: Any) -> int:
    """The least bytes that an element has."""
    return 1 if dtype in (tf.string, tf.variant, tf.resource) else int(dtype.size)


def _check_entry(name: str, entry: Any) -> None:
    try:
        dtype = tf.as_dtype(entry.dtype)
    except TypeError as error:
        raise _MalformedIndex(f"{name} is of the unknown type {entry.dtype}") from error
    if dtype._is_ref_dtype:  # TensorFlow stops the process when it reads a value
        raise _MalformedIndex(f"{name} is of the type {dtype.name}")
    dims = _dims(entry)
    if entry.shape.unknown_rank or len(dims) > _MOST_DIMENSIONS or min(dims, default=0) < 0:
        raise _MalformedIndex(f"{name} has a shape that no tensor has")
    if math.prod(max(size, 1) for size in dims) > _MOST_ELEMENTS:
        raise _MalformedIndex(f"{name} claims the shape {dims}")
    if not entry.slices and (entry.size < math.prod(dims) * _width(dtype)):  # it makes room before it compares the two
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


def _check_parts(key: bytes, whole: Any, entries: Mapping[bytes, Any]) -> None:
    """Compare the parts of a variable with their entries: TensorFlow copies from them without a look."""
    name, dims = _shown(key), _dims(whole)
    held = 0
    for part in whole.slices:
        shape = [
            extent.length if extent.HasField("length") else size for extent, size in zip(part.extent, dims, strict=True)
        ]
        entry = entries.get(_part_key(key, part))
        if entry is None:
            continue  # TensorFlow's reader says so
        if entry.dtype != whole.dtype or _dims(entry) != shape or entry.slices:
            raise _MalformedIndex(f"a part of {name} is of another type or shape than {name} says")
        held += math.prod(shape)
    if (math.prod(dims) - held) * _width(tf.as_dtype(whole.dtype)) > _MOST_MISSING:
        raise _MalformedIndex(f"{name} claims the shape {dims}, and its parts have {held} elements")


# ---------------------------------------------------------------------------------------------------- keys of parts


def _part_key(name: bytes, part: Any) -> bytes:
    """The key of a part: TensorFlow's encoding of 0, the name, the rank, and the start and length of each dimension."""
    key = b"\0" + b"".join(_ESCAPED.get(byte, bytes([byte])) for byte in name) + b"\0\1"
    rank = len(part.extent)
    key += bytes([1, rank]) if rank else b"\0"
    for extent in part.extent:
        key += _signed(extent.start) + _signed(extent.length if extent.HasField("length") else -1)
    return key


_ESCAPED = {0x00: b"\x00\xff", 0xFF: b"\xff\x00"}


def _signed(number: int) -> bytes:
    """A number as bytes that sort as numbers do: the sign, and as many ones as more bytes follow, and then the bits."""
    length = 1 + (number if number >= 0 else ~number).bit_length() // 7
    marks = (0xFFFF << (16 - length)) & 0xFFFF  # the header, for the first two bytes
    first = number.to_bytes(max(length, 2), "big", signed=True)
    if length == 1:
        return bytes([first[1] ^ 0x80])
    return bytes([first[0] ^ marks >> 8, first[1] ^ marks & 0xFF]) + first[2:]


# -------------------------------------------------------------------------------------------------------- the table


def _entries(file: Any) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a table."""
    footer = _read(file, file.size() - _FOOTER_SIZE, _FOOTER_SIZE)
    if not footer.endswith(_MAGIC):
        raise _MalformedIndex("its last bytes are not those of an index")
    position = 0
    for _ in range(2):  # offset and size of the metaindex block, which is not needed
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
