"""What is at a path, read without trusting it.

::

    path ──▶ locate() ──▶ a file and its kind ──▶ a walk over its fields ──▶ protos, and where their large tensors are

A file is walked field by field before anything is parsed: a length that the file does not have is found here, and the
bytes of a large constant are left in the file, to be read once, straight to where they are needed (`weights.py`). The
numbers of the fields are those of TensorFlow's public ``graph.proto``, ``node_def.proto``, ``attr_value.proto``,
``tensor.proto``, ``meta_graph.proto`` and ``saved_model.proto``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import glob
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from tf1sessions.errors import ModelFileError, UsageError
from tf1sessions.models.graph_index import tensor_name
from tf1sessions.runtime import private, tf

__all__ = [
    "LARGE_BYTES",
    "READ_ERRORS",
    "Artifact",
    "Content",
    "bad_checkpoint",
    "checkpoint_prefix",
    "checkpoint_reader",
    "read",
]

#: What TensorFlow's reader of checkpoints raises; of a file that is cut off an IndexError.
READ_ERRORS = (tf.errors.OpError, ValueError, OSError, RuntimeError, SystemError, IndexError)

#: From this size on the bytes of a constant are left in the file. Below it are shapes, axes, the vectors of batch
#: normalisation: what TensorFlow's optimiser must see as a constant. Measured: `migration_notes/4-figures.md`.
LARGE_BYTES = 16 * 1024


@dataclasses.dataclass(frozen=True)
class Content:
    """Where the bytes of a tensor are: ``length`` bytes at ``offset`` of a file.

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


@dataclasses.dataclass(frozen=True)
class Artifact:
    """A model's files, read.

    Attributes:
        path: Where it is.
        kind: ``"graph"``, ``"meta graph"``, ``"checkpoint"``, ``"saved model"`` or ``"session bundle"``.
        graph_def: The GraphDef. The bytes of large constants are left out: their ``value`` has only dtype and shape.
        contents: Name of a node -> where the bytes of its constant are.
        meta_graph: The MetaGraphDef, its ``graph_def`` empty; None for a plain graph.
        checkpoint: The prefix of the variables' checkpoint, or None.
        tags: Of a SavedModel.
        assets: Name of a tensor -> the file whose path it is fed with.
        signatures: Name -> SignatureDef.
        notes: What was chosen where there was a choice, in sentences.
    """

    path: str
    kind: str
    graph_def: Any
    contents: Mapping[str, Content] = dataclasses.field(default_factory=dict)
    meta_graph: Any = None
    checkpoint: str | None = None
    tags: tuple[str, ...] = ()
    assets: Mapping[str, str] = dataclasses.field(default_factory=dict)
    signatures: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def whole_graph_def(self) -> Any:
        """A copy of ``graph_def`` with the large constants in it."""
        whole = tf.GraphDef()
        whole.CopyFrom(self.graph_def)
        for node in whole.node:
            if content := self.contents.get(node.name):
                node.attr["value"].tensor.tensor_content = content.array(np.uint8, [-1]).tobytes()
        return whole


def read(path: str | os.PathLike[str], tags: Sequence[str] | None = None) -> Artifact:
    """Reads what TensorFlow 1 wrote.

    Args:
        path: A GraphDef (``.pb``, or ``.pbtxt`` in text form), a MetaGraphDef (``.meta``), the prefix of a checkpoint
            or one of its files, a folder with checkpoints, a SavedModel, an export of ``session_bundle``, or a folder
            with numbered exports, of which the last is taken.
        tags: Which graph of a SavedModel; needed only where there are several and none is tagged "serve" alone.

    Raises:
        ModelFileError: There is no such file, or it is not one of these, or it is malformed.
        UsageError: ``tags`` do not choose one graph.
    """
    name = os.fspath(path)
    if not isinstance(name, str) or not name:
        raise UsageError(f"path is {path!r}", where="load()", next_step="Give the path of a model.")
    if "\0" in name:
        raise UsageError(f"path is {name!r}, with a null byte", where="load()", next_step="Give the path of a model.")
    remote = "://" in name
    name = name if remote else os.path.abspath(name)
    if _is_folder(name):
        return _read_folder(name, tags)
    if os.path.basename(name) in _SAVED_MODEL_FILES:
        return _read_saved_model(os.path.dirname(name), name, tags)
    prefix = re.sub(r"\.(meta|index|data-\d{5}-of-\d{5})$", "", name)
    if prefix != name and _has_values(prefix):
        return _read_checkpoint(prefix)
    if not _exists(name):
        if _exists(name + ".meta") or _exists(name + ".index"):
            return _read_checkpoint(name)
        raise ModelFileError(
            f"there is no model at {name!r}",
            where="load()",
            next_step="Give a .pb, .pbtxt or .meta file, the prefix of a checkpoint, or a folder of an export.",
            path=name,
        )
    if _exists(name + ".meta"):  # a checkpoint of the first format has its prefix as its name
        return _read_checkpoint(name)
    return _read_file(name, tags)


def checkpoint_prefix(path: str | os.PathLike[str]) -> str:
    """The prefix of the checkpoint at ``path``: itself, one of its files, or a folder whose newest it is.

    Raises:
        ModelFileError: There is none.
    """
    name = os.fspath(path)
    if "://" not in name:
        name = os.path.abspath(name)
    if _is_folder(name):
        return _latest_checkpoint(name)
    prefix = re.sub(r"\.(index|meta|data-\d{5}-of-\d{5})$", "", name)
    if not _has_values(prefix) and not glob.glob(prefix):
        raise ModelFileError(
            f"there is no checkpoint at {os.fspath(path)!r}",
            where="checkpoint=",
            next_step="Give the prefix that the saver wrote: the path of the .index file without its ending.",
            path=name,
        )
    return prefix


def checkpoint_reader(prefix: str) -> Any:
    """Opens a checkpoint by ``tf.train.NewCheckpointReader``.

    Args:
        prefix: As the saver wrote it; for the first format in shards a pattern.

    Raises:
        ModelFileError: Its files are not there, not readable, damaged, or no files.
    """
    if "://" not in prefix:
        for file in (prefix, prefix + ".index", *glob.glob(glob.escape(prefix) + ".data-*")):
            _check_is_file(file)
    try:
        reader = tf.train.NewCheckpointReader(prefix)
        reader.get_variable_to_shape_map()  # which decodes the names
        return reader
    except READ_ERRORS as error:
        raise bad_checkpoint(prefix, error) from error


def bad_checkpoint(prefix: str, error: BaseException) -> ModelFileError:
    """The error to raise for what TensorFlow says of a checkpoint."""
    text = str(getattr(error, "message", None) or error).partition("\n")[0]
    return ModelFileError(
        f"the checkpoint {prefix} cannot be read: {text}",
        next_step="It may be incomplete: copy all of its files (.index and .data-…) again.",
        path=prefix,
    )


# ------------------------------------------------------------------------------------------------------ kinds of files

_SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")


def _read_folder(folder: str, tags: Sequence[str] | None) -> Artifact:
    for file in _SAVED_MODEL_FILES:
        if _exists(os.path.join(folder, file)):
            return _read_saved_model(folder, os.path.join(folder, file), tags)
    if _exists(os.path.join(folder, "export.meta")):
        return _read_session_bundle(folder)
    if _exists(os.path.join(folder, "checkpoint")):
        prefix = _latest_checkpoint(folder)
        artifact = _read_checkpoint(prefix)
        note = f"{os.path.basename(prefix)} is the newest checkpoint of {folder}"
        return dataclasses.replace(artifact, notes=(note, *artifact.notes))
    numbers = [name for name in _list(folder) if name.strip("/").isdigit()]
    if numbers:
        newest = max((name.strip("/") for name in numbers), key=int)
        artifact = _read_folder(os.path.join(folder, newest), tags)
        note = f"{newest} is the newest of the {len(numbers)} exports in {folder}"
        return dataclasses.replace(artifact, notes=(note, *artifact.notes))
    files = sorted(name for name in _list(folder) if name.endswith((".meta", ".pb", ".pbtxt")))
    raise ModelFileError(
        f"the folder {folder!r} has no saved_model.pb, export.meta or checkpoint file",
        where="load()",
        next_step=f"Give one of its files: {', '.join(files[:5])}." if files else "Give the folder of an export.",
        path=folder,
    )


def _read_checkpoint(prefix: str) -> Artifact:
    meta = prefix + ".meta"
    if not _exists(meta):
        raise ModelFileError(
            f"the checkpoint {prefix!r} has no {os.path.basename(meta)!r}: it has values and no graph",
            where="load()",
            next_step="Load the graph and name the checkpoint: load('graph.pb', checkpoint=prefix).",
            path=prefix,
        )
    artifact = _read_file(meta, None)
    if _has_values(prefix):
        artifact = dataclasses.replace(artifact, kind="checkpoint", checkpoint=prefix)
    return artifact


def _read_session_bundle(folder: str) -> Artifact:
    artifact = _read_file(os.path.join(folder, "export.meta"), None)
    prefix = os.path.join(folder, "export")
    if not _exists(prefix + ".index"):
        shards = sorted(glob.glob(glob.escape(prefix) + "-*-of-*"))
        if shards:  # the first format, in shards
            prefix = os.path.join(folder, "export-?????-of-?????")
        elif not _exists(prefix):
            raise ModelFileError(
                f"the export {folder!r} has no file export-?????-of-????? with its values",
                where="load()",
                next_step="Copy the whole folder of the export.",
                path=folder,
            )
    signatures, assets = _bundle_collections(artifact.meta_graph, folder)
    return dataclasses.replace(
        artifact, path=folder, kind="session bundle", checkpoint=prefix, signatures=signatures, assets=assets
    )


def _read_saved_model(folder: str, file: str, tags: Sequence[str] | None) -> Artifact:
    parsed = _parse_file(file, ("saved model",))
    found = {frozenset(meta.meta_info_def.tags): (meta, contents) for meta, contents in parsed.graphs}
    if not found:
        raise ModelFileError(f"{file} has no graph", where="load()", next_step=_WHOLE, path=file)
    every = ", ".join(repr(sorted(names)) for names in found)
    notes: tuple[str, ...] = ()
    if isinstance(tags, str):
        tags = (tags,)
    if tags is not None:
        chosen = frozenset(tags)
        if chosen not in found:
            raise UsageError(
                f"no graph of {folder} has the tags {sorted(chosen)}",
                where="tags=",
                next_step=f"Its graphs have the tags {every}.",
            )
    elif len(found) == 1:
        (chosen,) = found
    elif frozenset({"serve"}) in found:
        chosen = frozenset({"serve"})
        notes = (f"of the graphs with the tags {every}, the one for serving was taken",)
    else:
        raise UsageError(
            f"{folder} has {len(found)} graphs", where="load()", next_step=f"Choose one by tags=: {every}."
        )
    meta, contents = found[chosen]
    prefix = os.path.join(folder, "variables", "variables")
    for each in _list(os.path.dirname(prefix)) if _is_folder(os.path.dirname(prefix)) else ():
        _inside(folder, os.path.join("variables", each))
    return _from_meta_graph(
        meta,
        contents,
        path=folder,
        kind="saved model",
        checkpoint=prefix if _has_values(prefix) else None,
        tags=tuple(sorted(chosen)),
        assets=_saved_assets(meta, folder),
        notes=notes,
    )


def _saved_assets(meta: Any, folder: str) -> dict[str, str]:
    """Assets are listed in the MetaGraph, or, before 1.13, in a collection of it."""
    listed = list(meta.asset_file_def)
    for raw in _any_values(meta, "saved_model_assets"):
        try:
            listed.append(private.meta_graph_pb2.AssetFileDef.FromString(raw))
        except Exception as error:  # DecodeError of whichever protobuf is installed
            raise ModelFileError(
                f"the list of assets of {folder} cannot be parsed: {error}",
                where="load()",
                next_step=_WHOLE,
                path=folder,
            ) from error
    return {
        tensor_name(asset.tensor_info.name): _inside(folder, os.path.join("assets", asset.filename)) for asset in listed
    }


def _read_file(file: str, tags: Sequence[str] | None) -> Artifact:
    kinds = ("meta graph", "graph", "saved model") if file.endswith(".meta") else _ORDER
    parsed = _parse_file(file, kinds)
    if parsed.kind == "saved model":
        return _read_saved_model(os.path.dirname(file), file, tags)
    if parsed.kind == "graph":
        ((graph_def, contents),) = parsed.graphs
        return Artifact(file, "graph", graph_def, contents)
    ((meta, contents),) = parsed.graphs
    return _from_meta_graph(meta, contents, path=file, kind="meta graph")


def _from_meta_graph(meta: Any, contents: Mapping[str, Content], **rest: Any) -> Artifact:
    graph_def = tf.GraphDef()
    graph_def.CopyFrom(meta.graph_def)
    meta.ClearField("graph_def")
    return Artifact(
        graph_def=graph_def, contents=contents, meta_graph=meta, signatures=dict(meta.signature_def), **rest
    )


# ----------------------------------------------------------------------------------------------------- session_bundle


def _bundle_collections(meta: Any, folder: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Signatures and assets as ``contrib.session_bundle`` kept them: messages in collections.

    Its ``manifest.proto``: Signatures {1 default, 2 named}; Signature {1 regression {1 input, 2 output},
    2 classification {1 input, 2 classes, 3 scores}, 3 generic {1 map}}; TensorBinding {1 tensor name};
    AssetFile {1 binding, 2 filename}.
    """
    signatures: dict[str, Any] = {}
    for value in _any_values(meta, "serving_signatures"):
        for number, payload in _bytes_fields(value):
            if number == 1:
                signatures["default"] = _bundle_signature(payload)
            elif number == 2:
                entry = dict(_bytes_fields(payload))
                signatures[entry.get(1, b"").decode("utf-8", "replace")] = _bundle_signature(entry.get(2, b""))
    # Exporters name the inputs and the outputs of a generic graph apart; together they are one signature.
    ends: Any = [signatures.get("inputs"), signatures.get("outputs")]
    if all(ends) and not any(end.outputs for end in ends):
        joined = _signature_def()
        joined.CopyFrom(ends[0])
        for name, info in ends[1].inputs.items():
            joined.outputs[name].CopyFrom(info)
        others = {name: signature for name, signature in signatures.items() if name not in ("inputs", "outputs")}
        signatures = {"inputs_and_outputs": joined} | others
    assets = {}
    for value in _any_values(meta, "serving_assets"):
        entry = dict(_bytes_fields(value))
        tensor = dict(_bytes_fields(entry.get(1, b""))).get(1, b"").decode("utf-8", "replace")
        assets[tensor] = _inside(folder, os.path.join("assets", entry.get(2, b"").decode("utf-8", "replace")))
    return signatures, assets


def _bundle_signature(payload: bytes) -> Any:
    signature = _signature_def()
    roles = {
        1: ("tensorflow/serving/regress", {1: "inputs", 2: "outputs"}),
        2: ("tensorflow/serving/classify", {1: "inputs", 2: "classes", 3: "scores"}),
    }
    for kind, body in _bytes_fields(payload):
        if kind in roles:
            signature.method_name, names = roles[kind]
            for number, binding in _bytes_fields(body):
                if number in names:
                    side = signature.inputs if number == 1 else signature.outputs
                    side[names[number]].name = dict(_bytes_fields(binding)).get(1, b"").decode("utf-8", "replace")
        elif kind == 3:  # which are inputs and which outputs is not told: interface.py finds out
            for number, entry in _bytes_fields(body):
                parts = dict(_bytes_fields(entry))
                if number == 1:
                    tensor = dict(_bytes_fields(parts.get(2, b""))).get(1, b"").decode("utf-8", "replace")
                    signature.inputs[parts.get(1, b"").decode("utf-8", "replace")].name = tensor
    return signature


def _signature_def() -> Any:
    return private.meta_graph_pb2.SignatureDef()


def _any_values(meta: Any, collection: str) -> list[bytes]:
    if collection not in meta.collection_def:
        return []
    return [item.value for item in meta.collection_def[collection].any_list.value]


# ------------------------------------------------------------------------------------------------ parsing, by a walk

_ORDER = ("saved model", "graph", "meta graph")
_WHOLE = "It may be incomplete: compare its size with the original's."
_MESSAGES: dict[str, Callable[[], Any]] = {
    "graph": lambda: tf.GraphDef(),
    "meta graph": lambda: tf.MetaGraphDef(),
    "saved model": lambda: private.saved_model_pb2.SavedModel(),
}
_HUGE_TEXT = 512 * 1024 * 1024
_HUGE_STATE = 16 * 1024 * 1024  # a line a checkpoint; TensorFlow would read all of it at once


@dataclasses.dataclass
class _Parsed:
    kind: str
    graphs: list[tuple[Any, dict[str, Content]]]  # GraphDef or MetaGraphDef, and its large constants


def _parse_file(file: str, kinds: Sequence[str]) -> _Parsed:
    """Parses a file as the first of ``kinds`` that it is."""
    problems = []
    with _open(file) as (stream, size, memory):
        if not size:
            raise ModelFileError(f"{file} is empty", where="load()", next_step=_WHOLE, path=file)
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
        next_step=_WHOLE,
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

    def parse(self, kind: str, size: int) -> _Parsed:
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
            message = _MESSAGES[form]()
            try:
                message.ParseFromString(raw)
            except Exception as error:  # DecodeError of whichever protobuf is installed
                raise _Malformed(f"its bytes cannot be parsed ({error})", 0) from error
            _plausible(message, form)
            parsed.append((message, contents))
        return _Parsed(kind, parsed)

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
        fields = dict(_bytes_fields(slim))
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


def _bytes_fields(raw: bytes) -> list[tuple[int, bytes]]:
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


def _parse_text(file: str, stream: BinaryIO, size: int, kinds: Sequence[str]) -> _Parsed:
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
        message = _MESSAGES[kind]()
        try:
            private.text_format.Parse(raw.decode("utf-8"), message, allow_unknown_extension=True)
            if kind == "saved model":
                if not message.meta_graphs:
                    raise _Malformed("it has no graph", 0)
                return _Parsed(kind, [(meta, {}) for meta in message.meta_graphs])
            _plausible(message, kind)
        except (private.text_format.ParseError, UnicodeDecodeError, RecursionError, _Malformed) as error:
            problem = problem or error
            line = getattr(error, "GetLine", lambda: None)()
            if line is not None and line > (getattr(problem, "GetLine", lambda: 0)() or 0):
                problem = error  # the kind that was readable furthest
            continue
        return _Parsed(kind, [(message, {})])
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


def _check_is_file(path: str) -> None:
    """Refuses what TensorFlow would read without an end: a pipe, a device."""
    if "://" not in path and os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise ModelFileError(
            f"{path} is a pipe, a socket or a device, and no file", where="load()", next_step=_WHOLE, path=path
        )


def _exists(path: str) -> bool:
    return bool(tf.gfile.Exists(path)) if "://" in path else os.path.isfile(path)


def _is_folder(path: str) -> bool:
    return bool(tf.gfile.IsDirectory(path)) if "://" in path else os.path.isdir(path)


def _list(folder: str) -> list[str]:
    return list(tf.gfile.ListDirectory(folder)) if "://" in folder else os.listdir(folder)


def _has_values(prefix: str) -> bool:
    for file in (prefix + ".index", prefix):
        _check_is_file(file)
    return _exists(prefix + ".index") or _exists(prefix)


def _latest_checkpoint(folder: str) -> str:
    """The newest checkpoint of a folder. Its file may name it by an absolute path of another machine."""
    file = os.path.join(folder, "checkpoint")
    _check_is_file(file)
    if "://" not in file and os.path.isfile(file) and os.path.getsize(file) > _HUGE_STATE:
        raise ModelFileError(
            f"{file} has {os.path.getsize(file):,} bytes: it is not what a saver writes",
            where="load()",
            next_step="Give the prefix of a checkpoint instead of the folder.",
            path=file,
        )
    try:
        state = tf.train.get_checkpoint_state(folder)
    except (ValueError, tf.errors.OpError) as error:  # a UnicodeDecodeError among them
        raise ModelFileError(
            f"{file} cannot be read as what a saver writes: {str(error).partition(chr(10))[0]}",
            where="load()",
            next_step="Give the prefix of a checkpoint instead of the folder.",
            path=file,
        ) from error
    named = state.model_checkpoint_path if state else ""
    for prefix in (named, os.path.join(folder, os.path.basename(named))):
        if named and (_has_values(prefix) or _exists(prefix + ".meta")):
            return prefix
    raise ModelFileError(
        f"the file 'checkpoint' of {folder!r} names {named!r}, which is not there",
        where="load()",
        next_step="Give the prefix of a checkpoint that is there.",
        path=folder,
    )


def _inside(folder: str, name: str) -> str:
    """A file of the artifact. A name that leads out of its folder is refused, and so is a symbolic link."""
    path = os.path.normpath(os.path.join(folder, name))
    if "://" in folder:
        return path
    if not path.startswith(os.path.normpath(folder) + os.sep):
        raise ModelFileError(
            f"an asset of {folder} is called {name!r}, outside of it",
            where="load()",
            next_step="Do not load this model, unless you know who wrote it.",
            path=folder,
        )
    if not os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep):
        raise ModelFileError(
            f"{name!r} of {folder} is a symbolic link to {os.path.realpath(path)!r}, outside of it",
            where="load()",
            next_step="If you know who made the link, copy the model without links: cp -rL.",
            path=folder,
        )
    return path
