"""Whether a line of the program's own files calls: the lines that get what a library did in the program's time."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["by_program", "of_program"]

_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
_TYPED_IN = ("<stdin>", "<ipython-input")
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_ASSERTIONS = os.path.join(os.path.dirname(os.__file__), "unittest", "case.py")  # assertEqual(a, b) compares for a test
_kinds: dict[str, bool | None] = {}  # file -> whether it is one of the program's own; None: its caller is asked


def by_program() -> bool:
    """Whether a line of the program's own files called the function that asks.

    Between the two there may be only our files and the assertions of ``unittest``.
    """
    try:
        frame: Any = sys._getframe(2)
        known = _kind(frame.f_code.co_filename)
        while known is None:
            frame = frame.f_back
            known = _kind(frame.f_code.co_filename)
    except (ValueError, AttributeError):  # no line of Python: C code in a thread of its own
        return False
    return known


def of_program(kind: type) -> bool:
    """Whether a class is defined in one of the program's own files."""
    codes = (getattr(value, "__code__", None) for value in vars(kind).values())
    return any(_kind(code.co_filename) for code in codes if code is not None)


def _kind(path: str) -> bool | None:
    try:
        return _kinds[path]
    except KeyError:
        pass
    kind: bool | None
    if path.startswith(_OURS) or path == _ASSERTIONS:
        kind = None
    else:
        from tf1sessions.sessions.watchdog import is_program  # here: an audit reads tables that come along with this

        generated = path.startswith("<") and not path.startswith(_TYPED_IN)  # a dataclass's methods, and the like
        kind = not generated and is_program(path) and not any(name in path for name in _INSTALLED)
    _kinds[path] = kind
    return kind
