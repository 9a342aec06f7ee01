"""The model at a path, read without trusting it.

::

    path ──▶ read(): which files, and their kind ──▶ parsing.py: protos, and where their large tensors are ──▶ Artifact
"""

from __future__ import annotations

import dataclasses
import glob
import os
import re
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import ModelFileError, UsageError
from tf1sessions.models.graph_index import tensor_name
from tf1sessions.models.parsing import CHECK_SIZE, Content, bytes_fields, parse_file
from tf1sessions.runtime import private, tf
from tf1sessions.sessions.checkpoint_index import bad_checkpoint, check_index
from tf1sessions.sessions.checkpoint_paths import folder_pattern, link_plainly, plain_path
from tf1sessions.sessions.working_folder import absolute

__all__ = [
    "READ_ERRORS",
    "Artifact",
    "bad_checkpoint",
    "check_index",
    "check_is_file",
    "checkpoint_prefix",
    "checkpoint_reader",
    "read",
    "read_tensor",
    "restore_now",
]

#: What TensorFlow's reader of checkpoints raises; of a file that is cut off an IndexError.
READ_ERRORS = (tf.errors.OpError, ValueError, OSError, RuntimeError, SystemError, IndexError)


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
        UsageError: ``tags`` do not choose one graph, or this is no SavedModel.
    """
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    if not isinstance(name, str) or not name:
        raise UsageError(f"path is {path!r}", where="load()", next_step="Give the path of a model.")
    if "\0" in name:
        raise UsageError(f"path is {name!r}, with a null byte", where="load()", next_step="Give the path of a model.")
    try:
        artifact = _read_at(name if "://" in name else absolute(name, "load()"), tags)
    except OSError as error:  # such as of a folder that may not be entered
        raise ModelFileError(
            f"{error.filename or name} cannot be read: {error.strerror or error}",
            where="load()",
            next_step="Check the path and its permissions.",
            path=name,
        ) from error
    except tf.errors.OpError as error:
        if "://" not in name:
            raise
        raise ModelFileError(
            f"{name} cannot be read: {error.message.partition(chr(10))[0]}",
            where="load()",
            next_step="Copy the model to this machine, and give its path.",
            path=name,
        ) from error
    if tags is not None and artifact.kind != "saved model":
        raise UsageError(
            f"{name} is no SavedModel: it has one graph ({artifact.kind}), and no tags",
            where="tags=",
            next_step="Leave the tags out: they choose a graph of a SavedModel.",
        )
    return artifact


def _read_at(name: str, tags: Sequence[str] | None) -> Artifact:
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
    folder, file = os.path.split(name)
    if file == "checkpoint" and glob.glob(os.path.join(glob.escape(folder), "*.index")):
        return _read_folder(folder, tags)  # which names the newest checkpoint, as the folder does
    return _read_file(name, tags)


def checkpoint_prefix(path: str | os.PathLike[str]) -> str:
    """The prefix of the checkpoint at ``path``: itself, one of its files, or a folder whose newest it is.

    Raises:
        ModelFileError: There is none.
    """
    name = os.fspath(path)
    if "://" not in name:
        name = absolute(name, "load()")
    if _is_folder(name):
        return _latest_checkpoint(name)
    prefix = re.sub(r"\.(index|meta|data-\d{5}-of-\d{5})$", "", name)
    if not _has_values(prefix) and not glob.glob(folder_pattern(prefix)):
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
            check_is_file(file)
    check_index(prefix)
    path, links = link_plainly(prefix)
    try:
        reader = tf.train.NewCheckpointReader(path)
        reader.get_variable_to_shape_map()  # which decodes the names
        types = {tf.as_dtype(number) for number in reader.get_variable_to_dtype_map().values()}
    except (*READ_ERRORS, TypeError) as error:
        raise bad_checkpoint(prefix, error) from error
    for dtype in types:
        if dtype._is_ref_dtype:  # of which TensorFlow stops the process when it reads a value
            raise bad_checkpoint(prefix, f"a value of it is of the type {dtype.name}")
    if links is not None:
        weakref.finalize(reader, links.cleanup)  # it opens the files when it reads a value
    return reader


def read_tensor(reader: Any, prefix: str, name: str) -> Any:
    """Read a value of a checkpoint; the parts of a partitioned variable in the first format are joined.

    Args:
        reader: Of :func:`checkpoint_reader`, for ``prefix``.

    Raises:
        Exception: One of :data:`READ_ERRORS`.
    """
    try:
        return reader.get_tensor(name)
    except tf.errors.UnimplementedError:  # the reader knows no parts; the operation does
        dtype = tf.as_dtype(reader.get_variable_to_dtype_map()[name])
    with (
        plain_path(prefix) as path,
        tf.Graph().as_default(),
        tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as session,
    ):
        return session.run(_restore(path, name, dtype))


def restore_now(prefix: str, name: str, dtype: Any) -> Any:
    """Read a value of a checkpoint as a tensor, where operations are run eagerly."""
    with plain_path(prefix) as path:
        return _restore(path, name, dtype)


def _restore(path: str, name: str, dtype: Any) -> Any:
    (whole,) = tf.raw_ops.RestoreV2(prefix=path, tensor_names=[name], shape_and_slices=[""], dtypes=[dtype])
    return whole


# ------------------------------------------------------------------------------------------------------ kinds of files

_KINDS = ("saved model", "graph", "meta graph")
_HUGE_STATE = 16 * 1024 * 1024  # a line a checkpoint; TensorFlow would read all of it at once
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
    numbers = [name for name in _list(folder) if name.strip("/").isdecimal()]
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
    parsed = parse_file(file, ("saved model",))
    found = {frozenset(meta.meta_info_def.tags): (meta, contents) for meta, contents in parsed.graphs}
    if not found:
        raise ModelFileError(f"{file} has no graph", where="load()", next_step=CHECK_SIZE, path=file)
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
                next_step=CHECK_SIZE,
                path=folder,
            ) from error
    return {
        tensor_name(asset.tensor_info.name): _inside(folder, os.path.join("assets", asset.filename)) for asset in listed
    }


def _read_file(file: str, tags: Sequence[str] | None) -> Artifact:
    kinds = ("meta graph", "graph", "saved model") if file.endswith(".meta") else _KINDS
    parsed = parse_file(file, kinds)
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
        for number, payload in bytes_fields(value):
            if number == 1:
                signatures["default"] = _bundle_signature(payload)
            elif number == 2:
                entry = dict(bytes_fields(payload))
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
        entry = dict(bytes_fields(value))
        tensor = dict(bytes_fields(entry.get(1, b""))).get(1, b"").decode("utf-8", "replace")
        assets[tensor] = _inside(folder, os.path.join("assets", entry.get(2, b"").decode("utf-8", "replace")))
    return signatures, assets


def _bundle_signature(payload: bytes) -> Any:
    signature = _signature_def()
    roles = {
        1: ("tensorflow/serving/regress", {1: "inputs", 2: "outputs"}),
        2: ("tensorflow/serving/classify", {1: "inputs", 2: "classes", 3: "scores"}),
    }
    for kind, body in bytes_fields(payload):
        if kind in roles:
            signature.method_name, names = roles[kind]
            for number, binding in bytes_fields(body):
                if number in names:
                    side = signature.inputs if number == 1 else signature.outputs
                    side[names[number]].name = dict(bytes_fields(binding)).get(1, b"").decode("utf-8", "replace")
        elif kind == 3:  # which are inputs and which outputs is not said: interface.py finds out
            for number, entry in bytes_fields(body):
                parts = dict(bytes_fields(entry))
                if number == 1:
                    tensor = dict(bytes_fields(parts.get(2, b""))).get(1, b"").decode("utf-8", "replace")
                    signature.inputs[parts.get(1, b"").decode("utf-8", "replace")].name = tensor
    return signature


def _signature_def() -> Any:
    return private.meta_graph_pb2.SignatureDef()


def _any_values(meta: Any, collection: str) -> list[bytes]:
    if collection not in meta.collection_def:
        return []
    return [item.value for item in meta.collection_def[collection].any_list.value]


# -------------------------------------------------------------------------------------------------------------- files


def check_is_file(path: str) -> None:
    """Refuses what TensorFlow would read without an end: a pipe, a device.

    Raises:
        ModelFileError: It is one. A file, a folder and nothing at all are none.
    """
    if "://" not in path and os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise ModelFileError(
            f"{path} is a pipe, a socket or a device, and no file", where="load()", next_step=CHECK_SIZE, path=path
        )


def _exists(path: str) -> bool:
    return bool(tf.gfile.Exists(path)) if "://" in path else os.path.isfile(path)


def _is_folder(path: str) -> bool:
    return bool(tf.gfile.IsDirectory(path)) if "://" in path else os.path.isdir(path)


def _list(folder: str) -> list[str]:
    return list(tf.gfile.ListDirectory(folder)) if "://" in folder else os.listdir(folder)


def _has_values(prefix: str) -> bool:
    for file in (prefix + ".index", prefix):
        check_is_file(file)
    return _exists(prefix + ".index") or _exists(prefix)


def _latest_checkpoint(folder: str) -> str:
    """The newest checkpoint of a folder. Its file may name it by an absolute path of another machine."""
    file = os.path.join(folder, "checkpoint")
    check_is_file(file)
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
    if "\0" in name:
        raise ModelFileError(
            f"an asset of {folder} is called {name!r}, as no file can be",
            where="load()",
            next_step="The file is damaged, or was made to do harm: copy it again from where it was made.",
            path=folder,
        )
    path = os.path.normpath(os.path.join(folder, name))
    if "://" in folder:
        return path
    if not path.startswith(os.path.normpath(folder) + os.sep):
        raise ModelFileError(
            f"an asset of {folder} is called {name!r}, outside of it",
            where="load()",
            next_step="Do not load this model, unless you trust its source.",
            path=folder,
        )
    if not os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep):
        raise ModelFileError(
            f"{name!r} of {folder} is a symbolic link to {os.path.realpath(path)!r}, outside of it",
            where="load()",
            next_step="If you trust the link, copy the model without links: cp -rL.",
            path=folder,
        )
    check_is_file(path)
    return path
