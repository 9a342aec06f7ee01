"""The errors for names of TensorFlow 1.15 that today's TensorFlow has not.

They say what to use instead (source/replacements.py and symbols.py). They are kinds of ``AttributeError`` and
``ImportError``, so that ``hasattr(tf, "contrib")`` and ``try: import`` in old programs work, and they name the line of
the program: the first one on the stack that is not ours.
"""

from __future__ import annotations

import difflib
import functools
import linecache
import os
import re
import sys
from types import FrameType, ModuleType
from typing import Any

from ..errors import MissingModuleError, MissingSymbolError
from ..source import replacements, symbols

__all__ = ["library_error", "module_error", "symbol_error"]

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: How much of a slip and of the name that was meant is alike at least. Arbitrary.
_ALIKE = 0.85
_PASSED_THROUGH = os.path.join("tensorflow", "python", "util", "module_wrapper.py")  # reads attributes for others


def symbol_error(symbol: str) -> MissingSymbolError:
    """The error for reading ``symbol`` ("tf.contrib"), which is not there."""
    frame = _caller()
    full = replacements.as_written(symbol, frame)
    name = symbol.rpartition(".")[2]
    return MissingSymbolError(
        f"{full} is not available in TensorFlow {_version()}",
        where=_place(frame),
        next_step=_sentence(full),
        name=name,
        symbol=full,
    )


def library_error(library: ModuleType, name: str, next_step: str) -> MissingSymbolError:
    """The error for reading a name that the installed release of another library has not."""
    symbol = f"{library.__name__}.{name}"
    release = getattr(library, "__version__", "")
    return MissingSymbolError(
        f"{symbol} is not available in {library.__name__} {release}".rstrip(),
        where=_place(_caller()),
        next_step=f"{next_step}.",
        name=name,
        symbol=symbol,
    )


def module_error(module: str) -> MissingModuleError:
    """The error for importing ``module`` ("tensorflow.contrib.rnn"), which is not there."""
    frame = _caller()
    written = _as_imported(module, frame)
    symbol = re.sub(r"^tensorflow(\.compat\.v1)?(?=\.)", "tf", written)
    return MissingModuleError(
        f"{written} is not available in TensorFlow {_version()}",
        where=_place(frame),
        next_step=_sentence(symbol),
        name=module,
        symbol=symbol,
    )


def _sentence(symbol: str) -> str:
    symbol = re.sub(r"^tensorflow(?=\.)", "tf", symbol)
    near = None if symbol in replacements.REPLACEMENTS else _nearest(symbol)
    if near is not None:
        return f"Did you mean {near}?"
    text = replacements.find(symbol)
    if text:
        return f"{text}."
    known = symbols.find(symbol)
    same = {symbol, re.sub(r"^tf(?=\.)", "tensorflow", symbol)}
    if known is not None and known.target is not None and known.target not in same:
        return f"Use {known.target}."
    return "It has no known replacement."


def _nearest(symbol: str) -> str | None:
    """The name of the same module that a name may be a slip of; None when none is near."""
    module, _, name = symbol.rpartition(".")
    found: Any = sys.modules.get("tensorflow")
    path = "tensorflow"
    for part in module.split(".")[1:]:  # not by getattr(), which may come here again
        path += f".{part}"
        found = vars(found).get(part, sys.modules.get(path)) if isinstance(found, ModuleType) else None
    names = [each for each in dir(found) if not each.startswith("_")]
    alike = {each.lower().replace("_", ""): each for each in names}
    near = difflib.get_close_matches(name.lower().replace("_", ""), alike, 1, _ALIKE)
    return f"{module}.{alike[near[0]]}" if near else None


@functools.lru_cache(maxsize=1)
def _version() -> str:
    """The version of the TensorFlow that is really running."""
    from importlib import metadata  # with all of email: rows of old libraries are read without it

    return metadata.version("tensorflow")


def _caller() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_OURS, "<frozen importlib")) and not name.endswith(_PASSED_THROUGH):
            return frame
        frame = frame.f_back
    return None


def _place(frame: FrameType | None) -> str | None:
    return None if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _as_imported(module: str, frame: FrameType | None) -> str:
    """``module`` with what the program's line imports of it: "tensorflow.contrib.rnn" for "tensorflow.contrib"."""
    if frame is None:
        return module
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    found = re.search(rf"\b{re.escape(module)}((?:\.\w+)*)(?:\s+import\s+(\w+))?", line)
    if not found:
        return module
    return module + found.group(1) + (f".{found.group(2)}" if found.group(2) else "")
