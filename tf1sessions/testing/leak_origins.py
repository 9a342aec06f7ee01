"""The line of the program that makes something, read off the calling thread's stack.

Owners are objects such as pools and pipelines, which start threads and processes of their own: what their methods make
was made where the owner was made.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import sysconfig
import threading
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tf1sessions.testing.frames import is_library

__all__ = [
    "Line",
    "Origin",
    "body_is_of_program",
    "format_line",
    "is_program",
    "origin",
    "owner_types",
    "program_line",
    "register_owner",
]

_INSTALLED = tuple(os.path.join(os.sep, part, "") for part in ("site-packages", "dist-packages"))
_OURS = tuple(
    os.path.join(path, "")
    for path in (sysconfig.get_path("scripts"), os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
)
_TESTING = __name__.rpartition(".")[0]
#: Runs the tests: what is outside of it on a stack has started pytest, as an IDE's runner does, and is not the program.
_SESSION = "_pytest.main"

#: The classes of owners.
owner_types: list[type] = []
_owner_code: dict[int, CodeType] = {}  # by identity: to hash one takes longer than all else here


def register_owner(owner: type) -> None:
    """Let objects of a class be owners."""
    if owner not in owner_types:
        methods = (inspect.unwrap(each) for kind in owner.__mro__ for each in vars(kind).values() if callable(each))
        code = (each.__code__ for each in methods if hasattr(each, "__code__"))
        _owner_code.update((id(each), each) for each in code if each.co_argcount)
        owner_types.append(owner)


@functools.cache
def _is_installed(path: str) -> bool:
    """Say whether a file is of an installed package or command, or of tf1sessions, and not of the program."""
    return path.startswith(_OURS) or any(part in path for part in _INSTALLED)


@functools.cache
def is_program(path: str) -> bool:
    """Say whether a file is the program's. What ``python -c`` runs is not, as test runners start workers by it."""
    return path != "<string>" and not is_library(path) and not _is_installed(path)


Line = tuple[CodeType, int]


class Origin(NamedTuple):
    """The part of the program that calls, read off the calling thread's stack."""

    line: Line | None  # the program's innermost line; None if only libraries are on the stack
    # The innermost line of an installed library that the program called, if it is not TensorFlow's.
    through: Line | None
    owners: tuple[Any, ...]  # the owners whose methods are between that line and here, the innermost first
    packages: frozenset[str]  # the installed packages, and TensorFlow, whose code is between that line and here
    frame: FrameType | None  # the frame of the line

    @property
    def place(self) -> str | None:
        """The line in words."""
        if self.line is None:
            return None
        return format_line(self.line) + (f", through {format_line(self.through)}" if self.through else "")


def format_line(line: Line) -> str:
    """Return ``file:line in function``."""
    code, number = line
    return f"{code.co_filename}:{number} in {getattr(code, 'co_qualname', code.co_name)}"


def origin() -> Origin:
    """Return the part of the program whose call our caller serves."""
    frame: FrameType | None = sys._getframe(1)
    through: Line | None = None
    alone: FrameType | None = None  # `python -c`, if nothing else is the program's
    owners: list[Any] = []
    packages: set[str] = set()
    while frame is not None:
        code = frame.f_code
        if is_program(code.co_filename):
            return Origin((code, frame.f_lineno), through, tuple(owners), frozenset(packages), frame)
        if not is_library(code.co_filename):
            if code.co_filename != "<string>":
                through = through or (code, frame.f_lineno)
            elif through is None:
                alone = alone or frame
        name = frame.f_globals.get("__name__", "")
        if name == _SESSION:
            break
        if _is_installed(code.co_filename) and not name.startswith(_TESTING):
            packages.add(name.partition(".")[0])
        if id(code) in _owner_code:
            owners.append(_first_argument(frame))
        frame = frame.f_back
    line = alone and (alone.f_code, alone.f_lineno)
    return Origin(line, None, tuple(owners), frozenset(packages), alone)


def program_line() -> Line | None:
    """Return the program's innermost line on the calling thread's stack."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != _SESSION:
        if is_program(frame.f_code.co_filename):
            return frame.f_code, frame.f_lineno
        frame = frame.f_back
    return None


def _first_argument(frame: FrameType) -> Any:
    names = frame.f_locals
    first = names.get(frame.f_code.co_varnames[0])
    if sys.version_info < (3, 13):
        names.clear()  # a copy, which would keep all of them for as long as the function runs
    return first


def body_is_of_program(frame: FrameType | None) -> bool:
    """Say whether the function that the calling thread was started for is the program's, and not a pool's."""
    body = None
    while frame is not None:
        if frame.f_code.co_filename != threading.__file__:
            body = frame
        frame = frame.f_back
    return body is not None and is_program(body.f_code.co_filename)
