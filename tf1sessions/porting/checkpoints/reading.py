"""Checkpoints as values by name, read one at a time.

A checkpoint of ``tf.train.Saver`` (either format, in shards, with partitioned variables) has the names of a graph's
variables; one of ``tf.train.Checkpoint`` has paths through objects. Both are read alike here.
"""

from __future__ import annotations

import copy
import dataclasses
import glob
import os
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from tf1sessions.errors import ModelFileError
from tf1sessions.models.files import READ_ERRORS, checkpoint_prefix, checkpoint_reader, read_tensor
from tf1sessions.runtime import private, tf

__all__ = ["OBJECT_GRAPH", "VALUE_SUFFIX", "NamedValues", "Spec", "escaped", "read", "unescaped"]

#: Where a checkpoint of objects keeps the graph of its objects, and how the keys of its values end.
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
_WHOLE = "Copy all files of the checkpoint: the .index, and every .data file."


@dataclasses.dataclass(frozen=True)
class Spec:
    """A variable without its value.

    Attributes:
        name: Its name, or its path.
        shape: Its shape; None for a dimension that may be any.
        dtype: The name of its dtype, such as ``"float32"``.
        trainable: Whether an optimizer changes it; None where that is not known, as in a checkpoint.
    """

    name: str
    shape: tuple[int | None, ...]
    dtype: str
    trainable: bool | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.dtype}[{','.join('?' if dim is None else str(dim) for dim in self.shape)}]"


class NamedValues(Mapping[str, Any]):
    """The values of a checkpoint: name -> array. An array is read when it is asked for, and not kept.

    Attributes:
        path: The prefix of the checkpoint.
        specs: Name -> what it is: known without reading a value. The parts of a partitioned variable are one whole.
        form: ``"names"`` for what ``tf.train.Saver`` wrote, ``"objects"`` for what ``tf.train.Checkpoint`` did.
        others: Keys of a checkpoint of objects that are no variables, such as the states of Python objects.

    Thread-safety: reading is safe from any thread; one value is read at a time.
    """

    def __init__(self, path: str, reader: Any) -> None:
        self.path = path
        self._reader = reader
        self._lock = threading.Lock()  # of the reader, which has one position in its files
        shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
        self.form = "objects" if OBJECT_GRAPH in shapes else "names"
        self._keys = {key: key for key in shapes}
        self.others: tuple[str, ...] = ()
        if self.form == "objects":
            self._keys = {
                unescaped(key.removesuffix(VALUE_SUFFIX)): key for key in shapes if key.endswith(VALUE_SUFFIX)
            }
            self.others = tuple(sorted(key for key in shapes if not key.endswith(VALUE_SUFFIX) and key != OBJECT_GRAPH))
        self.specs = {
            name: Spec(name, tuple(shapes[key]), tf.as_dtype(dtypes[key]).base_dtype.name)
            for name, key in sorted(self._keys.items())
        }

    def __getitem__(self, name: str) -> Any:
        """Reads a value.

        Raises:
            KeyError: There is none of that name.
            ModelFileError: It cannot be read.
        """
        key = self._keys[name]
        try:
            with self._lock:
                return read_tensor(self._reader, self.path, key)
        except READ_ERRORS as error:
            text = getattr(error, "message", error)
            raise _unreadable(self.path, f"the value of {name!r} cannot be read: {text}") from error

    def as_in_graph(self) -> NamedValues:
        """The values by the names that their variables had in a graph, where a Keras model of TensorFlow 1 was saved.

        Such a checkpoint of objects has them beside the paths. Itself, where it is none, or has no name of its own
        for each.
        """
        if self.form != "objects" or not any("layer_with_weights-" in name for name in self.specs):
            return self
        graph = private.object_graph_pb2.TrackableObjectGraph()
        with self._lock:
            graph.ParseFromString(self._reader.get_tensor(OBJECT_GRAPH))
        full_names = {each.checkpoint_key: each.full_name for node in graph.nodes for each in node.attributes}
        names = {name: full_names.get(key, "") for name, key in self._keys.items()}
        if "" in names.values() or len(set(names.values())) < len(names):
            return self
        found = copy.copy(self)
        found._keys = {names[name]: key for name, key in self._keys.items()}
        found.specs = {
            name: dataclasses.replace(spec, name=name)
            for name, spec in sorted((names[path], spec) for path, spec in self.specs.items())
        }
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)

    def __repr__(self) -> str:
        return f"<NamedValues of {self.path!r}: {len(self)} {self.form}>"


def read(path: str | os.PathLike[str]) -> NamedValues:
    """Opens a checkpoint.

    Args:
        path: The prefix that a saver wrote, one of the checkpoint's files, a folder whose newest checkpoint is meant,
            or a pattern such as ``"export-?????-of-00002"`` for shards of the first format.

    Raises:
        ModelFileError: There is no checkpoint, some of its files are not there, or it cannot be read.
    """
    prefix = _prefix(path)
    _check_shards(prefix)
    return NamedValues(prefix, checkpoint_reader(prefix))


def escaped(name: str) -> str:
    """A name as one step of a path in a checkpoint of objects."""
    return name.replace(".", "..").replace("/", ".S")


def unescaped(key: str) -> str:
    """A key of a checkpoint of objects with the names of its steps as they were."""
    return re.sub(r"\.([.S])", lambda found: "." if found[1] == "." else "/", key)


def _prefix(path: str | os.PathLike[str]) -> str:
    """As :func:`checkpoint_prefix`, and of shards of the first format by what they have in common."""
    name = os.path.abspath(os.fspath(path))
    shard = re.fullmatch(r"(.*)-\d{5}-of-(\d{5})", name)
    if shard and not name.startswith(".data", len(shard[1]) - 5) and os.path.exists(name):
        return f"{shard[1]}-?????-of-{shard[2]}"
    if not os.path.exists(name) and not os.path.exists(name + ".index"):
        counts = {found[-5:] for found in glob.glob(glob.escape(name) + "-?????-of-?????")}
        if len(counts) == 1:
            return f"{name}-?????-of-{counts.pop()}"
    return checkpoint_prefix(path)


def _check_shards(prefix: str) -> None:
    """Each shard of a checkpoint says in its name how many there are."""
    old = re.fullmatch(r"(.*)-\?{5}-of-(\d{5}|\?{5})", prefix)
    stem = old[1] + "-" if old else prefix + ".data-"
    found = glob.glob(glob.escape(stem) + "?????-of-?????")
    counts = {int(file[-5:]) for file in found if file[-5:].isdecimal()}
    if not old and not os.path.exists(prefix + ".index"):
        return  # one file of the first format
    missing = [
        os.path.basename(file)
        for count in counts
        for file in (f"{stem}{index:05d}-of-{count:05d}" for index in range(count))
        if not os.path.exists(file)
    ]
    if not counts:
        missing = [os.path.basename(stem) + "00000-of-?????"]
    if missing and (len(counts) <= 1 or old):
        raise _unreadable(prefix, f"files of it are missing: {', '.join(missing[:5])}{_more(len(missing) - 5)}")


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _unreadable(prefix: str, what: str) -> ModelFileError:
    return ModelFileError(f"{what.splitlines()[0]}", where=f"the checkpoint {prefix!r}", next_step=_WHOLE, path=prefix)
