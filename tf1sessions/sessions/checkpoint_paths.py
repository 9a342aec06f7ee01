"""Paths of checkpoints as TensorFlow can read them, which takes each for a pattern.

A checkpoint in a folder ``[x]`` is not found by TensorFlow, and one in ``a?`` may be mistaken for its neighbour's in
``ab``. It is read by links of plain names, in a temporary folder that lasts as long as they are needed.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import tempfile
from collections.abc import Iterator

__all__ = ["folder_pattern", "link_plainly", "plain_path"]

# The shards of a checkpoint of the first format are meant by a pattern.
_SHARDS = re.compile(r"-\?{5}-of-(\d{5}|\?{5})$")
_SPECIAL = re.compile(r"[*?\[\\]")


def folder_pattern(path: str) -> str:
    """Return a pattern for ``glob`` whose last part alone is one; the folder is meant as it stands."""
    folder, name = os.path.split(path)
    return os.path.join(glob.escape(folder), name)


def link_plainly(prefix: str) -> tuple[str, tempfile.TemporaryDirectory[str] | None]:
    """Return a prefix by which TensorFlow reads the checkpoint, and the folder of links that it needs, if any.

    Args:
        prefix: As a saver wrote it; that of shards of the first format ends in ``-?????-of-?????``.
    """
    shards = _SHARDS.search(prefix)
    stem, ending = (prefix[: shards.start()], shards[0]) if shards else (prefix, "")
    if "://" in prefix or not _SPECIAL.search(stem):
        return prefix, None
    there = glob.glob(glob.escape(stem) + ending) if shards else _files(stem)
    if not there:
        return prefix, None
    folder = tempfile.TemporaryDirectory(prefix="tf1sessions-checkpoint-")
    plain = os.path.join(folder.name, "checkpoint")
    for file in there:
        os.symlink(os.path.abspath(file), plain + file[len(stem) :])
    return plain + ending, folder


@contextlib.contextmanager
def plain_path(prefix: str) -> Iterator[str]:
    """Give the prefix of :func:`link_plainly` for as long as a block lasts."""
    path, folder = link_plainly(prefix)
    with folder or contextlib.nullcontext():
        yield path


def _files(prefix: str) -> list[str]:
    names = [name for name in (prefix, prefix + ".index") if os.path.isfile(name)]
    return names + glob.glob(glob.escape(prefix) + ".data-*-of-*")
