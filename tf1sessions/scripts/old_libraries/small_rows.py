"""Libraries with a row or two."""

from __future__ import annotations

import importlib
from typing import Any

from .rows import Module, Table, Wrapped

__all__ = ["TABLES"]


def _load_yaml(original: Any, stream: Any, Loader: Any = None) -> Any:
    """``yaml.load(stream)``: with the loader that PyYAML 5.1 chose, which makes no objects of a program's classes."""
    return original(stream, Loader=Loader or importlib.import_module("yaml").FullLoader)


TABLES = {
    "yaml": Table(changes=[Wrapped("yaml", "load", "6.0", _load_yaml), Wrapped("yaml", "load_all", "6.0", _load_yaml)]),
    "moviepy": Table(modules=[Module("moviepy.editor", "2.0", "moviepy")]),
}
