"""The exports of a folder that are kept: functions from paths to some of them, by their versions."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..runtime import tf1 as tf

__all__ = ["Path"]


class Path(NamedTuple):
    """A folder, and the version that is exported there."""

    path: str
    export_version: int | None


Filter = Callable[[Iterable[Path]], list[Path]]


def _sorted(paths: Iterable[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: (path.export_version or 0, path.path))


def _largest_export_versions(n: int) -> Filter:
    """The ``n`` newest."""
    return lambda paths: _sorted(heapq.nlargest(n, paths, key=lambda path: (path.export_version or 0, path.path)))


def _one_of_every_n_export_versions(n: int) -> Filter:
    """The newest of each ``n`` versions: of 1 to n, of n + 1 to 2n, ..."""

    def keep(paths: Iterable[Path]) -> list[Path]:
        newest = {((path.export_version or 0) - 1) // n: path for path in _sorted(paths)}
        return _sorted(newest.values())

    return keep


def _mod_export_version(n: int) -> Filter:
    """Keep exports whose version is a multiple of ``n``."""
    return lambda paths: _sorted(path for path in paths if (path.export_version or 0) % n == 0)


def _union(lf: Filter, rf: Filter) -> Filter:
    """Keep what either function keeps."""

    def keep(paths: Iterable[Path]) -> list[Path]:
        paths = list(paths)
        return _sorted({*lf(paths), *rf(paths)})

    return keep


def _negation(f: Filter) -> Filter:
    """Keep what ``f`` does not keep."""

    def keep(paths: Iterable[Path]) -> list[Path]:
        paths = list(paths)
        return _sorted({*paths} - {*f(paths)})

    return keep


def _get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """Return the paths in ``base_dir``, by version.

    Args:
        base_dir: A folder.
        parser: It returns a path with its version, or None for one that is no export.

    Raises:
        tf.errors.NotFoundError: There is no such folder.
    """
    names = [name.rstrip("/") for name in tf.gfile.ListDirectory(base_dir)]
    found = (parser(Path(os.path.join(base_dir, name), None)) for name in names)
    return _sorted(path for path in found if path)
