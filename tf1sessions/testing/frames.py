"""Whose code a frame runs: the program's, or a library's that no user would look at."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Iterator
from types import FrameType

__all__ = [
    "STACK",
    "asked_by_library",
    "format_frame",
    "in_package",
    "is_library",
    "program_frame",
    "program_frames",
    "program_place",
]

#: How many frames of the program a stack shows. Arbitrary.
STACK = 8

_STANDARD = tuple(
    os.path.join(path, "") for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")} if path
)
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_RUNNER = os.path.join(_PACKAGE, "scripts", "program.py")  # what is outside of it started a script, and is not its
_INSTALLED = tuple(os.path.join(part, "") for part in ("site-packages", "dist-packages"))
_LIBRARIES = tuple(os.path.join(part, "") for part in ("tensorflow", "tf_keras", "keras", "numpy"))


@functools.cache
def is_library(path: str) -> bool:
    """Say whether a file is of the standard library, TensorFlow, Keras, NumPy or tf1sessions."""
    if path.startswith((_PACKAGE, "<frozen")):
        return True
    for installed in _INSTALLED:
        _, found, inside = path.rpartition(installed)
        if found:
            return inside.startswith(_LIBRARIES)
    return path.startswith(_STANDARD)


def asked_by_library(depth: int = 2) -> bool:
    """Say whether the function that calls our caller is a library's."""
    return is_library(sys._getframe(depth).f_code.co_filename)


def in_package(frame: FrameType) -> bool:
    """Say whether a frame is of tf1sessions itself."""
    return frame.f_code.co_filename.startswith(_PACKAGE)


def program_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the program's frames, from a frame outwards."""
    while frame is not None and (path := frame.f_code.co_filename) != _RUNNER:
        if not is_library(path):
            yield frame
        frame = frame.f_back


def program_frame(depth: int = 1) -> FrameType | None:
    """Return the innermost frame of the program; those that are less deep are known to be a library's."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and is_library(path := frame.f_code.co_filename):  # program_frames(), without a generator
        if path == _RUNNER:
            return None
        frame = frame.f_back
    return frame


def program_place() -> tuple[str, int]:
    """Return the file and the line of the program that the calling function was called by."""
    frame = program_frame(2)
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("an unknown place", 0)


def format_frame(frame: FrameType) -> str:
    """Return ``file:line in function``."""
    name: str = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)  # from Python 3.11 on
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {name}"
