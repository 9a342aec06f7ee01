"""``tf.load_op_library`` and ``tf.load_library``: libraries of another TensorFlow are named as such, and what to do."""

from __future__ import annotations

import functools
import importlib
import os
import platform
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tf1sessions.texts import quoted

from .shared_libraries import SharedLibrary, read_shared_library

__all__ = ["apply", "explanation"]

_FUNCTIONS = ("load_op_library", "load_library", "load_file_system_library")
_MODULE = "tensorflow.python.framework.load_library"


def apply(face: Any, release: str) -> None:
    """Put the functions that load libraries into the face, and into the inner module that old programs import.

    Args:
        face: The TF1 face.
        release: The TensorFlow that is installed, such as ``"2.21.0"``.
    """
    inner = importlib.import_module(_MODULE)
    for name in _FUNCTIONS:
        if (original := getattr(face, name, None)) is not None:
            changed = _explaining(original, face, release)
            setattr(face, name, changed)
            if hasattr(inner, name):
                setattr(inner, name, changed)


def _explaining(original: Callable[[Any], Any], face: Any, release: str) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def load(library_filename: Any) -> Any:
        try:
            loaded = original(library_filename)
        except face.errors.NotFoundError as error:
            text = explanation(library_filename, error.message, release)
            if text is None:
                raise
            raise face.errors.NotFoundError(error.node_def, error.op, text) from None
        if isinstance(loaded, ModuleType):
            _complete(loaded)
        return loaded

    if original.__name__ == "load_library":

        @functools.wraps(original)
        def load_any(library_location: Any) -> Any:
            return load(library_location)

        return load_any
    return load


def _complete(loaded: Any) -> None:
    """Give a module of operations what TensorFlow 1 had in it beside its functions: ``OP_LIST``."""
    if hasattr(loaded, "OP_LIST"):
        return
    registry = importlib.import_module("tensorflow.python.framework.op_def_registry")
    protos = importlib.import_module("tensorflow.core.framework.op_def_pb2")
    functions = [name for name in vars(loaded) if f"{name}_eager_fallback" in vars(loaded)]
    wanted = {name.replace("_", "").lower() for name in functions}
    found = [
        registry.get(name) for name in vars(loaded) if name.replace("_", "").lower() in wanted and name[:1].isupper()
    ]
    loaded.OP_LIST = protos.OpList(op=[each for each in found if each is not None])


def explanation(location: Any, said: str, here: str) -> str | None:
    """Return the text of an error that a library did not load, or None where its cause is another.

    Args:
        location: What was to be loaded: a library, or a folder of libraries.
        said: TensorFlow's words.
        here: The TensorFlow of this process, such as ``"2.21.0"``.
    """
    try:
        path = os.fspath(location)
    except TypeError:
        return None
    if not isinstance(path, str):
        path = os.fsdecode(path)
    paths = [path]
    if os.path.isdir(path):
        paths = sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(".so"))
    for each in paths:
        library = read_shared_library(each)
        cause = None if library is None else _cause(library, said, each in said or len(paths) == 1)
        if cause is not None:
            return _text(each, said, cause, here)
    return None


def _cause(library: SharedLibrary, said: str, meant: bool) -> str | None:
    if library.machine.replace("64-bit ARM", "aarch64").replace("x86-64", "x86_64") != platform.machine():
        return f"it was built for another processor, {library.machine}"
    absent = next((name for name in library.needed if f"{name}: cannot open" in said), None)
    symbol = next((name for name in library.undefined if f"undefined symbol: {name}" in said), None)
    if absent is None and symbol is None:
        return None
    made = library.tensorflow
    if made is None:
        return None  # TensorFlow's words say which library is missing
    shown = [f"it needs {absent}" if absent else f"it needs the symbol {symbol}"]
    if library.old_abi:
        shown.append("its C++ strings are those of _GLIBCXX_USE_CXX11_ABI=0")
    if library.cuda:
        shown.append(f"it needs {library.cuda}")
    return f"it was built for {made} ({'; '.join(shown)})"


def _text(path: str, said: str, cause: str, here: str) -> str:
    target = os.path.basename(path)
    return (
        f"{said}\n{path} cannot be loaded: {cause}, and this is TensorFlow {here}. A library of operations loads "
        "into the release that it was built for only. Compile its sources anew: "
        f"tf1sessions build-op SRC.cc... -o {quoted(target)}"
    )
