"""Protos of TensorFlow, parsed without trusting the file.

::

    a file and the kinds that it may be ──▶ a walk over its fields ──▶ protos, and where their large tensors are

A file is walked field by field before anything is parsed: a length that the file does not have is found here, and the
bytes of a large constant are left in the file, to be read once, straight to where they are needed (`weights.py`). The
numbers of the fields are those of TensorFlow's public ``graph.proto``, ``node_def.proto``, ``attr_value.proto``,
``tensor.proto``, ``meta_graph.proto`` and ``saved_model.proto``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from tf1sessions.errors import ModelFileError
from tf1sessions.runtime import private, tf

__all__ = ["CHECK_SIZE", "LARGE_BYTES", "MESSAGES", "Content", "Parsed", "bytes_fields", "parse_file"]

#: From this size on the bytes of a constant are left in the file. Below it are shapes, axes, the vectors of batch
#: normalisation: what TensorFlow's optimiser must see as a constant. Measured: `migration_notes/4-figures.md`.
LARGE_BYTES = 16 * 1024


@dataclasses.dataclass(frozen=True)
class Content:
    """The place of a tensor's bytes: ``length`` bytes at ``offset`` of a file.

    Thread-safety: reading is safe from any thread.
    """

    file: str
    offset: int
    length: int
    memory: bytes | None = dataclasses.field(default=None, repr=False, compare=False)

    def array(self, dtype: Any, shape: Sequence[int]) -> Any:
        """Reads the tensor into an array of its own, aligned so that TensorFlow can take it over without a copy.

        Raises:
            ModelFileError: The file is shorter than it was, or cannot be read.
        """
        raw = np.empty(self.length + 64, np.uint8)
        start = -raw.ctypes.data % 64
        values = raw[start : start + self.length]
        done = 0
        try:
            with self._open() as stream:
                stream.seek(self.offset)
                while got := stream.readinto(values[done:].data):  # at most 2 GB at a time
                    done += got
        except OSError as error:
            raise _unreadable(self.file, error) from error
        if done != self.length:
            raise ModelFileError(
                f"{self.file} was cut off while it was read",
                where=f"{self.length} bytes at offset {self.offset}",
                next_step="Load it again when it is complete.",
                path=self.file,
            )
        return values.view(dtype).reshape(shape)

    def _open(self) -> io.BytesIO | io.FileIO:
        return io.BytesIO(self.memory) if self.memory is not None else io.FileIO(self.file)


CHECK_SIZE = "It may be incomplete: compare its size with the original's."
MESSAGES: dict[str, Callable[[], Any]] = {
    "graph": lambda: tf.GraphDef(),
    "meta graph": lambda: tf.MetaGraphDef(),
    "saved model": lambda: private.saved_model_pb2.SavedModel(),
}
_HUGE_TEXT = 512 * 1024 * 1024


@dataclasses.dataclass
class Parsed:
    kind: str
    graphs: list[tuple[Any, dict[str, Content]]]  # GraphDef or MetaGraphDef, and its large constants


def parse_file(file: str, kinds: Sequence[str]) -> Parsed:
    """Parses a file as the first of ``kinds`` that it is."""
    problems = []
    with _open(file) as (stream, size, memory):
        if not size:
            raise ModelFileError(f"{file} is empty", where="load()", next_step=CHECK_SIZE, path=file)
        if _is_text(stream, size):
            return _parse_text(file, stream, size, kinds)
        for kind in kinds:
            walk = _Walk(file, stream, memory)
            try:
                return walk.parse(kind, size)
            except _Malformed as error:
                problems.append((error.reached, kind, error))
    reached, kind, problem = max(problems, key=lambda entry: entry[0])
    raise ModelFileError(
        f"{file} is not a model that TensorFlow wrote, or is damaged: read as a {kind}, {problem}",
        where=f"byte {reached} of {size}",
        next_step=CHECK_SIZE,
        path=file,
    )


class _Malformed(Exception):
    """The bytes are not such a message; ``reached`` is how far they could be read as one."""

    def __init__(self, text: str, reached: int) -> None:
        super().__init__(text)
        self.reached = reached


class _Walk:
    """A walk over one file: cuts the bytes of large constants out of what is parsed."""

    def __init__(self, file: str, stream: BinaryIO, memory: bytes | None) -> None:
        self.file = file
        self.stream = stream
        self.memory = memory
        self.contents: dict[str, Content] = {}
        self.graphs: list[tuple[bytes, dict[str, Content]]] = []

    def parse(self, kind: str, size: int) -> Parsed:
        self._look(kind, size)
        if kind == "saved model":
            self._copy(0, size, {2: self._saved_meta_graph})
            if not self.graphs:
                raise _Malformed("it has no graph", 0)
            kept = [(raw, contents, "meta graph") for raw, contents in self.graphs]
        elif kind == "graph":
            kept = [(self._copy(0, size, {1: self._node}), self.contents, kind)]
        else:
            kept = [(self._copy(0, size, {2: self._graph}), self.contents, kind)]
        parsed = []
        for raw, contents, form in kept:
            message = MESSAGES[form]()
            try:
                message.ParseFromString(raw)
            except Exception as error:  # DecodeError of whichever protobuf is installed
                raise _Malformed(f"its bytes cannot be parsed ({error})", 0) from error
            _plausible(message, form)
            parsed.append((message, contents))
        return Parsed(kind, parsed)

    def _look(self, kind: str, size: int) -> None:
        """Refuses another kind of message by its first fields, before any of its bytes are read."""
        for field in self._fields(0, size):
            wire = _WIRES[kind].get(field.number)
            if wire is not None and field.wire != wire:
                raise _Malformed(f"its field {field.number} is of another type", field.tag)
            if kind == "graph" and field.number == 1:
                names = {part.number for part in self._fields(field.start, field.end) if part.wire == _LENGTH}
                if not {1, 2} <= names:
                    raise _Malformed("its first node has no name or no operation", field.tag)
                return

    # Each of the following returns the bytes of a message whose large tensors are left out.

    def _saved_meta_graph(self, start: int, end: int) -> bytes:
        self.contents = {}
        self.graphs.append((self._copy(start, end, {2: self._graph}), self.contents))
        return b""

    def _graph(self, start: int, end: int) -> bytes:
        return self._copy(start, end, {1: self._node})

    def _node(self, start: int, end: int) -> bytes:
        """A Const node loses the bytes of its value, if they are all there is of it."""
        if end - start < LARGE_BYTES:
            return self._bytes(start, end)
        cuts: list[Content] = []
        slim = self._copy(start, end, {5: functools.partial(self._attribute, cuts)})
        if len(cuts) != 1:
            return self._bytes(start, end)
        fields = dict(bytes_fields(slim))
        name = fields.get(1, b"").decode("utf-8", "replace")
        if fields.get(2) != b"Const" or not name or name in self.contents:
            return self._bytes(start, end)
        self.contents[name] = cuts[0]
        return slim

    def _attribute(self, cuts: list[Content], start: int, end: int) -> bytes:
        fields = list(self._fields(start, end))
        key = [self._bytes(field.start, field.end) for field in fields if field.number == 1]
        if key != [b"value"] or len(fields) != 2:
            return self._bytes(start, end)
        return self._copy(start, end, {2: functools.partial(self._value, cuts)})

    def _value(self, cuts: list[Content], start: int, end: int) -> bytes:
        if len(list(self._fields(start, end))) != 1:
            return self._bytes(start, end)
        return self._copy(start, end, {8: functools.partial(self._tensor, cuts)})

    def _tensor(self, cuts: list[Content], start: int, end: int) -> bytes:
        slim, large = b"", []
        for field in self._fields(start, end):
            if field.wire == _LENGTH and field.number in _RAW_VALUES and field.end - field.start >= LARGE_BYTES:
                large.append(field)
            else:
                slim += self._bytes(field.tag, field.end)
        if len(large) == 1:
            tensor = private.tensor_pb2.TensorProto()
            try:
                tensor.ParseFromString(slim)
            except Exception as error:  # as above
                raise _Malformed(f"a tensor cannot be parsed ({error})", start) from error
            dtype = _RAW_DTYPES.get(tensor.dtype)
            only = {field.name for field, _ in tensor.ListFields()}
            dims = [dim.size for dim in tensor.tensor_shape.dim]
            size = large[0].end - large[0].start
            if (
                dtype is not None
                and only <= {"dtype", "tensor_shape", "version_number"}
                and _RAW_VALUES[large[0].number] in (None, tensor.dtype)
                and not tensor.tensor_shape.unknown_rank
                and all(dim >= 0 for dim in dims)
                and functools.reduce(lambda a, b: a * b, dims, dtype.itemsize) == size
            ):
                cuts.append(Content(self.file, large[0].start, size, self.memory))
                return slim
        return self._bytes(start, end)

    # -- the wire format of protobuf: https://protobuf.dev/programming-guides/encoding/

    def _copy(self, start: int, end: int, inner: Mapping[int, Callable[[int, int], bytes]]) -> bytes:
        pieces = []
        for field in self._fields(start, end):
            if field.wire == _LENGTH and field.number in inner:
                body = inner[field.number](field.start, field.end)
                pieces += [_varint(field.number << 3 | _LENGTH), _varint(len(body)), body]
            else:
                pieces.append(self._bytes(field.tag, field.end))
        return b"".join(pieces)

    def _fields(self, start: int, end: int) -> Iterator[_Field]:
        position = start
        while position < end:
            tag = position
            key, position = self._read_varint(position, end)
            number, wire = key >> 3, key & 7
            if not number:
                raise _Malformed("a field has the number 0", tag)
            if wire == _LENGTH:
                size, position = self._read_varint(position, end)
            elif wire == _VARINT:
                _, after = self._read_varint(position, end)
                size = after - position
            elif wire in _FIXED:
                size = _FIXED[wire]
            else:
                raise _Malformed(f"a field has the unknown wire type {wire}", tag)
            if size > end - position:
                raise _Malformed(f"a field claims {size} bytes where {end - position} are left", tag)
            yield _Field(number, wire, tag, position, position + size)
            position += size

    def _read_varint(self, position: int, end: int) -> tuple[int, int]:
        self.stream.seek(position)
        raw = self.stream.read(min(10, end - position))
        value = 0
        for index, byte in enumerate(raw):
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                return value, position + index + 1
        raise _Malformed("a number does not end", position)

    def _bytes(self, start: int, end: int) -> bytes:
        self.stream.seek(start)
        raw = self.stream.read(end - start)
        if len(raw) != end - start:
            raise _Malformed("the file ends", start + len(raw))
        return raw


@dataclasses.dataclass(frozen=True, slots=True)
class _Field:
    number: int
    wire: int
    tag: int  # where its key begins
    start: int  # where its payload begins
    end: int


_VARINT, _LENGTH = 0, 2
_FIXED = {1: 8, 5: 4}
# Of what type the fields of each message are.
_WIRES: dict[str, dict[int, int]] = {
    "graph": {1: _LENGTH, 2: _LENGTH, 3: _VARINT, 4: _LENGTH},
    "meta graph": dict.fromkeys(range(1, 8), _LENGTH),
    "saved model": {1: _VARINT, 2: _LENGTH},
}


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def bytes_fields(raw: bytes) -> list[tuple[int, bytes]]:
    """The length-delimited fields of a message in memory; what is malformed ends the list."""
    walk = _Walk("", io.BytesIO(raw), raw)
    found = []
    with contextlib.suppress(_Malformed):  # of a collection that we only look into
        for field in walk._fields(0, len(raw)):
            if field.wire == _LENGTH:
                found.append((field.number, raw[field.start : field.end]))
    return found


# TensorProto's fields whose bytes are those of the array -> the dtype that they are for (None: any)
_RAW_VALUES: dict[int, int | None] = {4: None, 5: 1, 6: 2}  # tensor_content, float_val, double_val
# DataType -> numpy's; what a variable can hold and an array has the bytes of
_RAW_DTYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.float32),
    2: np.dtype(np.float64),
    3: np.dtype(np.int32),
    4: np.dtype(np.uint8),
    5: np.dtype(np.int16),
    6: np.dtype(np.int8),
    8: np.dtype(np.complex64),
    9: np.dtype(np.int64),
    18: np.dtype(np.complex128),
    19: np.dtype(np.float16),
}


def _plausible(message: Any, kind: str) -> None:
    """Refuses a message that parses by chance: protobuf keeps the fields it does not know."""
    graph = message if kind == "graph" else message.graph_def
    if not graph.node:
        raise _Malformed("it has no node", 0)
    for index, node in enumerate(graph.node):
        if not node.name or not node.op:
            raise _Malformed(f"its node {index} has no name or no operation", 0)


# --------------------------------------------------------------------------------------------------------------- text


def _is_text(stream: BinaryIO, size: int) -> bool:
    stream.seek(0)
    start = stream.read(min(size, 4096))
    if any(byte < 9 or 13 < byte < 32 for byte in start):
        return False
    return re.match(rb"\s*(#|\w+\s*[:{<])", start) is not None


def _parse_text(file: str, stream: BinaryIO, size: int, kinds: Sequence[str]) -> Parsed:
    if size > _HUGE_TEXT:
        raise ModelFileError(
            f"{file} is a text of {size / 2**20:.0f} MB",
            where="load()",
            next_step="Convert it to the binary form, a tenth of the size.",
            path=file,
        )
    stream.seek(0)
    raw = stream.read(size)
    problem = None
    for kind in kinds:
        message = MESSAGES[kind]()
        try:
            private.text_format.Parse(raw.decode("utf-8"), message, allow_unknown_extension=True)
            if kind == "saved model":
                if not message.meta_graphs:
                    raise _Malformed("it has no graph", 0)
                return Parsed(kind, [(meta, {}) for meta in message.meta_graphs])
            _plausible(message, kind)
        except (private.text_format.ParseError, UnicodeDecodeError, RecursionError, _Malformed) as error:
            problem = problem or error
            line = getattr(error, "GetLine", lambda: None)()
            if line is not None and line > (getattr(problem, "GetLine", lambda: 0)() or 0):
                problem = error  # the kind that was readable furthest
            continue
        return Parsed(kind, [(message, {})])
    raise ModelFileError(
        f"{file} is a text, and not one that TensorFlow wrote: {problem}",
        where="load()",
        next_step="Give the text form of a GraphDef, a MetaGraphDef or a SavedModel.",
        path=file,
    ) from problem


# -------------------------------------------------------------------------------------------------------------- files


@contextlib.contextmanager
def _open(file: str) -> Iterator[tuple[BinaryIO, int, bytes | None]]:
    """The file, its size, and for a remote one its bytes."""
    try:
        if "://" in file:
            with tf.gfile.GFile(file, "rb") as remote:
                memory = remote.read()
            yield io.BytesIO(memory), len(memory), memory
        else:
            with open(file, "rb") as stream:
                yield stream, os.fstat(stream.fileno()).st_size, None
    except (OSError, tf.errors.OpError) as error:
        raise _unreadable(file, error) from error


def _unreadable(file: str, error: BaseException) -> ModelFileError:
    reason = getattr(error, "strerror", None) or getattr(error, "message", None) or str(error)
    return ModelFileError(
        f"{file} cannot be read: {reason}", where="load()", next_step="Check the path and its permissions.", path=file
    )
