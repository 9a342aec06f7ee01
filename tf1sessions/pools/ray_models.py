"""Models in Ray's object store: put there once, read once by each worker.

::

    put_model(path) ─▶ the files as one array of bytes ─▶ ray.put() ─▶ StoredModel, which RaySessionPool(model=) takes
    on a worker: StoredFiles.unpacked() ─▶ a temporary folder, while the worker lives; what killed ones left goes first
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tf1sessions.errors import UsageError
from tf1sessions.pools.ray_cluster import the_ray

__all__ = ["StoredModel", "folder_on_node", "put_model", "unpacked"]

_PREFIX = "tf1sessions-model-"


@dataclass(frozen=True)
class StoredModel:
    """A model in the object store, made by :func:`put_model`.

    Attributes:
        reference: Ray's reference to its files.
        name: Of the file or folder, or of the checkpoint.
        arguments: Further ones for :func:`tf1sessions.load`.
        path: Where it was, for messages.
    """

    reference: Any
    name: str
    arguments: Mapping[str, Any]
    path: str


def put_model(path: str | os.PathLike[str], **arguments: Any) -> StoredModel:
    """Put the files of a model into Ray's object store, for workers on machines that do not have them.

    The process must be connected to a cluster (``ray.init()``).

    Args:
        path: A file, a folder, or the prefix of a checkpoint, as :func:`tf1sessions.load` takes them.
        **arguments: Further ones for :func:`tf1sessions.load`.

    Raises:
        UsageError: There is nothing at the path, or the process is not connected.
        UnsupportedEnvironmentError: Ray is not installed.
    """
    ray = the_ray("put_model()")
    if not ray.is_initialized():
        raise UsageError(
            "this process is not connected to a Ray cluster",
            where="put_model()",
            next_step="Call ray.init(address=...) first, and make the pool without an address.",
        )
    given = os.path.abspath(os.fspath(path))
    if os.path.exists(given):
        files = [given]
    else:
        files = sorted(glob.glob(glob.escape(given) + ".*"))
    if not files:
        raise UsageError(f"there is no model at {given}", where="put_model()", next_step="Give the path of one.")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", dereference=True) as archive:
        for file in files:
            archive.add(file, os.path.basename(file))
    return StoredModel(ray.put(np.frombuffer(packed.getbuffer(), np.uint8)), os.path.basename(given), arguments, given)


@contextlib.contextmanager
def unpacked(files: Any, name: str) -> Iterator[str]:
    """The path of a model whose files came from the store; they are removed at the end."""
    with folder_on_node(_PREFIX) as folder:
        with tarfile.open(fileobj=io.BytesIO(memoryview(files)), mode="r:") as archive:
            filters: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(folder, **filters)
        yield os.path.join(folder, name)


@contextlib.contextmanager
def folder_on_node(prefix: str) -> Iterator[str]:
    """A temporary folder of a worker, which Ray may kill at any time: what killed ones have left is removed first.

    A lock on the folder's own descriptor says that it is in use: it goes when its process does, however that ends.
    """
    _remove_abandoned(prefix)
    folder = tempfile.mkdtemp(prefix=prefix)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _remove_abandoned(prefix: str) -> None:
    for folder in Path(tempfile.gettempdir()).glob(prefix + "*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # One that was made just now, and is not locked yet, is empty.
                if os.stat(folder).st_uid == os.getuid() and any(folder.iterdir()):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)
