"""Nested values, leaf by leaf: flattened to arrays by path, compared, kept in a file.

A leaf is anything that is no dict, list or tuple; its path is ``"probs"``, ``"[1]"`` or ``"layers[0].bias"``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tf1sessions import files
from tf1sessions.errors import UsageError

__all__ = ["differences", "flatten", "read", "write"]

#: How many differences of two values are named. Arbitrary.
_MOST = 5


def flatten(tree: Any) -> dict[str, Any]:
    """Return the leaves as arrays, by their paths. A single value has the path ``""``.

    Raises:
        UsageError: A leaf is no number, text, boolean or array of them.
    """
    found = {}
    for path, leaf in _leaves(tree, ""):
        array = np.asarray(leaf)
        if array.dtype == object:
            if not all(isinstance(each, (bytes, str)) for each in array.ravel()):
                raise UsageError(
                    f"{path or 'the value'} is a {type(leaf).__name__}, which cannot be compared",
                    where="a result",
                    next_step="Give numbers, texts, or arrays of them.",
                )
            array = np.asarray([each.encode() if isinstance(each, str) else each for each in array.ravel()], bytes)
            array = array.reshape(np.shape(leaf))
        found[path] = array
    return found


def _leaves(tree: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, Mapping):
        for key in sorted(tree, key=str):
            yield from _leaves(tree[key], f"{path}.{key}" if path else str(key))
    elif isinstance(tree, tuple) and hasattr(tree, "_fields"):
        for name, each in zip(tree._fields, tree, strict=True):
            yield from _leaves(each, f"{path}.{name}" if path else name)
    elif isinstance(tree, (list, tuple)):
        for number, each in enumerate(tree):
            yield from _leaves(each, f"{path}[{number}]")
    elif tree is not None:  # what an operation gives
        yield path, tree


def differences(found: Mapping[str, Any], expected: Mapping[str, Any], rtol: float, atol: float) -> list[str]:
    """Return how two flattened values differ, a sentence a leaf; at most a few."""
    sentences = [f"{path or 'the value'} is missing" for path in expected if path not in found]
    sentences += [f"{path or 'the value'} was not expected" for path in found if path not in expected]
    for path in expected:
        if path in found and (difference := _difference(found[path], expected[path], rtol, atol)):
            sentences.append(f"{path or 'the value'} {difference}")
    return [*sentences[:_MOST], f"and {len(sentences) - _MOST} more"] if len(sentences) > _MOST else sentences


def _difference(found: Any, expected: Any, rtol: float, atol: float) -> str:
    if found.shape != expected.shape:
        return f"has the shape {list(found.shape)} instead of {list(expected.shape)}"
    if found.dtype.kind != expected.dtype.kind:
        return f"is {found.dtype} instead of {expected.dtype}"
    if not found.size:
        return ""
    if found.dtype.kind not in "fc":
        wrong = found != expected
    else:
        with np.errstate(invalid="ignore"):
            near = np.abs(found - expected) <= atol + rtol * np.abs(expected)
        wrong = ~(near | (found == expected) | (np.isnan(found) & np.isnan(expected)))
    if not wrong.any():
        return ""
    places = np.argwhere(wrong)
    place = tuple(places[0])
    if found.dtype.kind in "fc" and (both := wrong & np.isfinite(found) & np.isfinite(expected)).any():
        error = np.where(both, np.abs(np.where(both, found, 0) - np.where(both, expected, 0)), 0)
        place = tuple(np.unravel_index(int(np.argmax(error)), error.shape))
    where = f" at {[int(each) for each in place]}" if place else ""
    values = f"is {found[place]!s} instead of {expected[place]!s}{where}"
    return values + (f"; {len(places)} of {found.size} values differ" if found.size > 1 else "")


def write(path: str | os.PathLike[str], tree: Mapping[str, Any]) -> None:
    """Write a flattened value as an ``.npz``, whole or not at all."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            # A path may be what savez calls its own argument; and "" is no name of a file.
            np.savez_compressed(file, **{f"leaf {key}": value for key, value in tree.items()})
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what :func:`write` has written.

    Raises:
        UsageError: The file is not there, or is none of these.
    """
    try:
        with files.open_regular(path) as opened, np.load(opened, allow_pickle=False) as file:
            return {key.removeprefix("leaf "): files.read_array(file, key) for key in file.files}
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no file {os.fspath(path)}",
            where="golden",
            next_step="Make it once with --update-goldens (update=True), look at it, and commit it.",
        ) from error
    except files.NOT_ARRAYS as error:
        raise UsageError(
            f"{os.fspath(path)} is no .npz of arrays: {error}", where="golden", next_step="Make it again."
        ) from error
