"""h5py: the mode of a file that is opened without one, ``dataset.value``, and what strings of a file are read as."""

from __future__ import annotations

import importlib
import os
from typing import Any

from ..callers import by_program
from .rows import Name, Table, Wrapped

__all__ = ["TABLES"]


def _open(original: Any, self: Any, name: Any, mode: Any = None, *args: Any, **named: Any) -> Any:
    """Without a mode, a file was opened to be written, if it may be, and made where there was none, up to 2.10."""
    if mode is None and isinstance(name, (str, bytes, os.PathLike)) and by_program():
        mode = "r" if os.path.exists(name) and not os.access(name, os.W_OK) else "a"
    return original(self, name, *(() if mode is None else (mode,)), *args, **named)


def _encoding(dtype: Any) -> str | None:
    """The encoding of strings of any length; None for all other types."""
    info = importlib.import_module("h5py").check_string_dtype(dtype)
    return info.encoding if info is not None and info.length is None else None


def _attribute(original: Any, self: Any, name: Any) -> Any:
    """A string that was written as bytes, such as Keras's ``model_config``, was read as bytes: programs decode it."""
    value = original(self, name)
    if isinstance(value, str) and by_program() and _encoding(self.get_id(name).dtype) == "ascii":
        return value.encode()
    return value


def _part(original: Any, self: Any, args: Any, *more: Any, **named: Any) -> Any:
    """Strings of a data set were texts."""
    value = original(self, args, *more, **named)
    if self.dtype.kind != "O" or not by_program() or _encoding(self.dtype) != "utf-8":
        return value
    if isinstance(value, bytes):
        return value.decode()
    numpy: Any = importlib.import_module("numpy")
    texts = numpy.empty_like(value)
    texts.flat = [one.decode() if isinstance(one, bytes) else one for one in value.flat]
    return texts


TABLES = {
    "h5py": Table(
        changes=[
            Wrapped("h5py", "File.__init__", "3.0", _open),
            Name("h5py", "Dataset", "value", "3.0", lambda kind, name: property(lambda self: self[()])),
            Wrapped("h5py", "AttributeManager.__getitem__", "3.0", _attribute),
            Wrapped("h5py", "Dataset.__getitem__", "3.0", _part),
        ]
    )
}
