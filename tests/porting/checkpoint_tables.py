"""Write an index of a checkpoint that claims anything: a sorted table as LevelDB writes it, of one block of entries."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from tensorflow.core.protobuf import tensor_bundle_pb2

BundleEntry = tensor_bundle_pb2.BundleEntryProto


def write(prefix: str, entries: Sequence[tuple[bytes, bytes]]) -> None:
    """Writes a checkpoint with these entries, and 64 bytes of values."""
    header = tensor_bundle_pb2.BundleHeaderProto(num_shards=1)
    header.version.producer = 1
    Path(prefix + ".index").write_bytes(table([(b"", header.SerializeToString()), *entries]))
    Path(prefix + ".data-00000-of-00001").write_bytes(bytes(64))


def entry(dtype: int = 1, dims: Sequence[int] = (4,), size: int = 16) -> BundleEntry:
    """An entry whose value are ``size`` zeros."""
    made = BundleEntry(dtype=dtype, size=size, crc32c=_masked(_crc(bytes(size))))
    for dim in dims:
        made.shape.dim.add(size=dim)
    return made


def table(entries: Sequence[tuple[bytes, bytes]], compression: int = 0, restarts: Sequence[int] | None = None) -> bytes:
    data = b""

    def put(block: bytes, kind: int = 0) -> bytes:
        nonlocal data
        handle = _number(len(data)) + _number(len(block))
        data += block + bytes([kind]) + struct.pack("<I", _masked(_crc(block + bytes([kind]))))
        return handle

    contents = put(_block(entries, restarts), compression)
    metadata = put(_block([]))
    index = put(_block([(entries[-1][0] + b"\xff", contents)]))
    return data + (metadata + index).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


def _block(entries: Sequence[tuple[bytes, bytes]], restarts: Sequence[int] | None = None) -> bytes:
    block, starts = b"", []
    for key, value in entries:
        starts.append(len(block))
        block += _number(0) + _number(len(key)) + _number(len(value)) + key + value
    starts = list(restarts) if restarts is not None else starts or [0]
    return block + struct.pack(f"<{len(starts) + 1}I", *starts, len(starts))


def _number(number: int) -> bytes:
    text = b""
    while number > 127:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


def _crc(data: bytes) -> int:
    found = 0xFFFFFFFF
    for byte in data:
        found ^= byte
        for _ in range(8):
            found = (found >> 1) ^ 0x82F63B78 if found & 1 else found >> 1
    return found ^ 0xFFFFFFFF


def _masked(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
