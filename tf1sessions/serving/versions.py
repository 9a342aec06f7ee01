"""The versions of a model that are on disk: numbered folders, or the one thing at a path, which may be replaced."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from tf1sessions.files import is_folder, walk

__all__ = ["Found", "replaced", "versions_on_disk"]

_MOST_FILES = 10_000  # of a version that are looked at; arbitrary
_NUMBERED = ("numbered",)  # in place of a stamp: that the path was a folder of numbers. An empty folder's stamp is ()


@dataclass(frozen=True)
class Found:
    """A version on disk.

    Attributes:
        version: Its number.
        path: Where it is.
        stamp: Changes when its files do.
        only: There is no other version of the model.
    """

    version: int
    path: str
    stamp: tuple[Any, ...]
    only: bool


def versions_on_disk(path: str, count: int, known: dict[tuple[Any, ...], int]) -> list[Found]:
    """The versions to serve, the lowest number first; none when a folder had numbered ones, and has none now.

    Args:
        path: A folder with numbered folders, or a model.
        count: How many of the numbered ones, the highest.
        known: Of this model, kept for it between calls: stamp -> number, of versions without numbers; changed here.

    Raises:
        OSError: The path is not there, or cannot be read.
    """
    numbered = _numbered(path)
    if numbered:
        chosen = sorted(numbered)[-count:]
        known[_NUMBERED] = 0
        return [Found(number, numbered[number], _stamp(numbered[number]), len(numbered) == 1) for number in chosen]
    stamp = _stamp(path)
    if _NUMBERED in known:
        return []
    if stamp not in known:
        known[stamp] = max(known.values(), default=0) + 1
    return [Found(known[stamp], path, stamp, only=True)]


def replaced(loaded: Set[int], wanted: Set[int]) -> list[int]:
    """Return which of the versions that are loaded shall go, the lowest first.

    Args:
        loaded: Those that are loaded.
        wanted: The highest that are on disk. Higher ones are there no more.
    """
    if not wanted & loaded:  # what does not load replaces nothing
        return []
    others = sorted(loaded - wanted)
    lower = [number for number in others if number < max(wanted)]
    stay = len(wanted - loaded)  # in the places of those that do not load
    return lower[: max(0, len(lower) - stay)] + [number for number in others if number > max(wanted)]


def _numbered(path: str) -> dict[int, str]:
    """Number -> folder, of those whose names are numbers."""
    if not os.path.isdir(path):
        return {}
    found = {}
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name.isascii() and entry.name.isdigit() and len(entry.name) < 19 and is_folder(entry):
                found[int(entry.name)] = entry.path
    return found


def _stamp(path: str) -> tuple[Any, ...]:
    """Return a value that changes when the files of a model do: names, times and sizes.

    The time of the last change of the inode is among them: archives and copies set the time of modification to what
    it was elsewhere, models of one architecture have one size, and file systems give a freed inode's number again.
    """
    if os.path.isdir(path):
        files = [os.path.join(folder, name) for folder, _, names in walk(path) for name in names]
    elif os.path.exists(path):
        files = [path]
    else:  # the prefix of a checkpoint
        files = glob.glob(glob.escape(path) + ".*")
    if not files and not os.path.isdir(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    stamps = []
    for name in sorted(files)[:_MOST_FILES]:
        try:
            status = os.stat(name)
        except OSError:  # it went meanwhile
            continue
        stamps.append((name, status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino))
    return tuple(stamps)
