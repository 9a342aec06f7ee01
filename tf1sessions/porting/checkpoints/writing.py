"""A checkpoint written variable by variable, whole or not at all.

::

    add(name, array) ──▶ a shard of at most SHARD_BYTES ──▶ a folder beside the target ──▶ finish(): renamed, index last

TensorFlow writes a shard at a time, so that no more than one is in memory; readers see shards as one checkpoint. Until
``finish()`` nothing is at the target, and when something fails the folder is removed; after SIGKILL by the next one.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np

from tf1sessions.errors import UsageError
from tf1sessions.porting.checkpoints.reading import OBJECT_GRAPH, VALUE_SUFFIX
from tf1sessions.porting.hidden_folders import REPLACED, hidden_folder
from tf1sessions.runtime import private, tf
from tf1sessions.texts import brief

__all__ = ["SHARD_BYTES", "CheckpointWriter", "check_target", "why_no_name"]

#: How much is held before it is written. Large enough that the files are few, small next to a checkpoint that matters.
SHARD_BYTES = 32 * 1024 * 1024
_COUNTER = "save_counter"
#: How a file of a checkpoint of the first format ends, as any sorted table of LevelDB does (its page "Table format").
_TABLE_END = bytes.fromhex("57fb808b247547db")


def why_no_name(name: object) -> str | None:
    """Return why no value of a checkpoint can have a name; None where one can.

    TensorFlow aborts the process for the empty name, under which a checkpoint has its header.
    """
    if name == "":
        return "a variable of a checkpoint cannot have the empty name"
    if not _is_text(name):
        return f"{brief(name)} cannot be the name of a variable: it is no text that UTF-8 has"
    if name == OBJECT_GRAPH:
        return f"{name!r} cannot be the name of a variable: a checkpoint of objects has their graph there"
    return None


def _is_text(value: object) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def check_target(path: str | os.PathLike[str], force: bool = False) -> str:
    """Returns the absolute prefix, if a checkpoint may be written there.

    Raises:
        UsageError: Something is there and ``force`` is not set, or it is no checkpoint; or the folder cannot be
            written to.
    """
    given = os.fspath(path)
    if not _is_text(given) or "\0" in given:
        raise UsageError(
            f"{given!r} is no path that TensorFlow can write to",
            where="the checkpoint to be written",
            next_step="Give the prefix of its files as a text without NUL, such as 'folder/model.ckpt'.",
        )
    prefix = os.path.abspath(given)
    folder, name = os.path.split(prefix)
    if not name or str(path).endswith(("/", os.sep)) or os.path.isdir(prefix):
        raise UsageError(
            f"{os.fspath(path)!r} is a folder",
            where="the checkpoint to be written",
            next_step="Give the prefix of its files, such as 'folder/model.ckpt'.",
        )
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):
        state = "cannot be written to" if os.path.isdir(folder) else "is not there"
        raise UsageError(
            f"the folder {folder!r} {state}",
            where="the checkpoint to be written",
            next_step="Make it, or give a path in another one.",
        )
    present = _files(prefix)
    if present and not force:
        raise UsageError(
            f"there is already {os.path.basename(present[0])!r} in {folder!r}",
            where="the checkpoint to be written",
            next_step="Give another path, or force=True to replace it.",
        )
    if os.path.lexists(prefix) and not _is_table(prefix):
        raise UsageError(
            f"{name!r} in {folder!r} is no checkpoint, so it is not replaced by one",
            where="the checkpoint to be written",
            next_step="Give another path, or move it away.",
        )
    return prefix


def _is_table(path: str) -> bool:
    """Whether a file ends as the one file of a checkpoint of the first format does."""
    try:
        with open(path, "rb") as file:
            file.seek(-len(_TABLE_END), os.SEEK_END)
            return file.read() == _TABLE_END
    except OSError:  # it has less bytes, or cannot be read
        return False


def _files(prefix: str) -> list[str]:
    """The files of a checkpoint of either format that are there; its index first."""
    names = [prefix + ".index", prefix, prefix + ".meta"]
    return [name for name in names if os.path.lexists(name)] + sorted(glob.glob(glob.escape(prefix) + ".data-*-of-*"))


class CheckpointWriter:
    """Writes a checkpoint of the second format; a context manager.

    On a plain end of its block the checkpoint is there; when the block raises, nothing is.

    Args:
        path: The prefix of the checkpoint.
        force: Whether to replace what is there. The old files are moved aside first and put back if that fails.

    Example:
        >>> import tempfile, numpy as np
        >>> from tf1sessions.porting.checkpoints.reading import read
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with CheckpointWriter(folder + "/model.ckpt") as writer:
        ...         writer.add("dense/kernel", np.ones([2, 3], "f"))
        ...     print(read(folder + "/model.ckpt").specs["dense/kernel"])
        dense/kernel float32[2,3]

    Attention: this is **not** thread-safe!
    """

    def __init__(self, path: str | os.PathLike[str], force: bool = False) -> None:
        self.path = check_target(path, force)
        self._force = force
        self._folder = ""
        self._stack = contextlib.ExitStack()
        self._waiting: dict[str, Any] = {}
        self._waiting_bytes = 0
        self._names: set[str] = set()
        self._parts: list[str] = []

    def __enter__(self) -> CheckpointWriter:
        try:
            self._folder = self._stack.enter_context(hidden_folder(self.path))
        except OSError as error:
            raise _unwritable(self.path, str(error)) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._stack.close()

    def add(self, name: str, value: Any) -> None:
        """Adds a value. It is written before much more is taken, and must not be changed before.

        Raises:
            UsageError: The name or the value is none that a checkpoint can have, or the name is there already.
        """
        if reason := why_no_name(name):
            raise UsageError(reason, where=f"the checkpoint {self.path!r}", next_step="Give it another name.")
        self._add(name, self._as_array(name, value))

    def add_object_graph(self, keys: Mapping[str, str], root: str) -> None:
        """Makes it a checkpoint of objects: a dictionary ``root`` of variables, and a ``save_counter``.

        Args:
            keys: Name of a variable -> the key under which its value was added.
            root: The name of the dictionary.
        """
        self._add(_COUNTER + VALUE_SUFFIX, np.asarray(np.int64(1)))
        self._add(OBJECT_GRAPH, np.array(_object_graph(keys, root), object))

    def _as_array(self, name: str, value: Any) -> Any:
        try:
            array = np.asarray(value)
            tf.as_dtype(array.dtype)
            if array.dtype.kind in "OU":
                for each in array.flat:
                    tf.compat.as_bytes(each)
        except (TypeError, ValueError, NotImplementedError) as error:
            raise UsageError(
                f"the value of {name!r} cannot be in a checkpoint: {brief(value)}",
                where=f"the checkpoint {self.path!r}",
                next_step="Give an array of numbers, truth values or texts.",
            ) from error
        return array

    def _add(self, name: str, array: Any) -> None:
        if name in self._names:
            raise UsageError(
                f"two variables have the name {name!r}",
                where=f"the checkpoint {self.path!r}",
                next_step="Give one of them another name by names=.",
            )
        self._names.add(name)
        if self._waiting and self._waiting_bytes + array.nbytes > SHARD_BYTES:
            self._write_waiting()
        self._waiting[name] = array
        self._waiting_bytes += array.nbytes
        if self._waiting_bytes >= SHARD_BYTES:
            self._write_waiting()

    def _write_waiting(self) -> None:
        part = os.path.join(self._folder, f"part-{len(self._parts):05d}")
        values, self._waiting, self._waiting_bytes = self._waiting, {}, 0
        _save(part, values, self.path)
        self._parts.append(part)

    def _finish(self) -> None:
        if not self._names:
            raise UsageError(
                "there is nothing to write",
                where=f"the checkpoint {self.path!r}",
                next_step="Give objects that have variables.",
            )
        if self._waiting:
            self._write_waiting()
        whole = os.path.join(self._folder, "whole")
        with _small_session() as session:
            merged = tf.raw_ops.MergeV2Checkpoints(
                checkpoint_prefixes=self._parts, destination_prefix=whole, delete_old_dirs=False
            )
            _run(session, merged, {}, self.path)
        check_target(self.path, self._force)  # again: it has taken a while
        self._move(whole)

    def _move(self, whole: str) -> None:
        old = os.path.join(self._folder, REPLACED)
        moved: list[tuple[str, str]] = []
        try:
            os.mkdir(old)
            for file in _files(self.path):  # its index first: what is half there is no checkpoint
                if not file.endswith(".meta"):
                    moved.append(_rename(file, os.path.join(old, os.path.basename(file))))
            for file in reversed(_files(whole)):  # the index last
                moved.append(_rename(file, self.path + file.removeprefix(whole)))
        except BaseException as error:
            for source, target in reversed(moved):
                with contextlib.suppress(OSError):
                    os.rename(target, source)
            if isinstance(error, OSError):
                raise _unwritable(self.path, str(error)) from error
            raise


def _rename(source: str, target: str) -> tuple[str, str]:
    os.rename(source, target)
    return source, target


@contextlib.contextmanager
def _small_session() -> Any:
    """A session of an own graph, without GPUs: it works whether or not the program is eager."""
    config = tf.ConfigProto(device_count={"GPU": 0})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        yield session


def _save(part: str, values: Mapping[str, Any], path: str) -> None:
    with _small_session() as session:
        fed = [tf.placeholder(tf.as_dtype(value.dtype), value.shape) for value in values.values()]
        names = list(values)
        save = tf.raw_ops.SaveV2(prefix=part, tensor_names=names, shape_and_slices=[""] * len(names), tensors=fed)
        _run(session, save, dict(zip(fed, values.values(), strict=True)), path)


def _run(session: Any, operation: Any, feeds: Mapping[Any, Any], path: str) -> None:
    try:
        session.run(operation, feeds)
    except tf.errors.OpError as error:
        raise _unwritable(path, error.message.splitlines()[0]) from error


def _unwritable(path: str, what: str) -> UsageError:
    return UsageError(
        f"the checkpoint cannot be written: {what}",
        where=repr(path),
        next_step="Free space or give another path; nothing was left there.",
    )


def _object_graph(keys: Mapping[str, str], root: str) -> bytes:
    """The graph of a checkpoint whose root has a dictionary ``root`` of variables, and a ``save_counter``.

    Args:
        keys: Name of a variable -> the key of its value.
    """
    graph = private.object_graph_pb2.TrackableObjectGraph()
    graph.nodes.add().children.add(node_id=1, local_name=root)
    graph.nodes[0].children.add(node_id=2, local_name="save_counter")
    container = graph.nodes.add()
    counter = graph.nodes.add()
    counter.attributes.add(
        name="VARIABLE_VALUE", full_name="save_counter", checkpoint_key="save_counter/.ATTRIBUTES/VARIABLE_VALUE"
    )
    for name, key in keys.items():
        container.children.add(node_id=len(graph.nodes), local_name=name)
        graph.nodes.add().attributes.add(name="VARIABLE_VALUE", full_name=name, checkpoint_key=key)
    for node in graph.nodes:
        node.has_checkpoint_values.value = True
    return bytes(graph.SerializeToString())
