"""Libraries with a row or two."""

from __future__ import annotations

import importlib
from typing import Any

from .rows import Module, Name, Table, Wrapped

__all__ = ["TABLES"]


def _load_yaml(original: Any, stream: Any, Loader: Any = None) -> Any:
    """``yaml.load(stream)``: with the loader that PyYAML 5.1 chose, which makes no objects of a program's classes."""
    return original(stream, Loader=Loader or importlib.import_module("yaml").FullLoader)


def _tsplot(seaborn: Any, name: str) -> Any:
    """Means over units with their band, of a DataFrame in long form."""

    def tsplot(
        data: Any, time: str | None = None, unit: str | None = None, condition: str | None = None,
        value: str | None = None, ax: Any = None, color: Any = None, **rest: Any,
    ) -> Any:  # fmt: skip
        if time is None or value is None or not hasattr(data, "columns"):
            raise NotImplementedError("seaborn.tsplot is gone: of arrays there is no such plot, use seaborn.lineplot")
        return seaborn.lineplot(data=data, x=time, y=value, hue=condition, ax=ax, color=color)

    return tsplot


TABLES = {
    "seaborn": Table(
        changes=[
            Name("seaborn", "", "tsplot", "0.10", _tsplot),
            Name("seaborn", "", "factorplot", "0.11", "catplot"),
        ]
    ),
    "yaml": Table(changes=[Wrapped("yaml", "load", "6.0", _load_yaml), Wrapped("yaml", "load_all", "6.0", _load_yaml)]),
    "moviepy": Table(modules=[Module("moviepy.editor", "2.0", "moviepy")]),
    "nose_parameterized": Table(modules=[Module("nose_parameterized", "0.6", "parameterized")]),
}
