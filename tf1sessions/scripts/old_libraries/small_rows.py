"""Libraries with a row or two."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from .. import missing
from .rows import Arguments, Module, Name, OtherChange, Table, Wrapped

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


# What modules of TensorFlow 1 are made of and used by.
_HUB_NAMES = frozenset({
    "ImageModuleInfo", "LatestModuleExporter", "Module", "ModuleSpec", "add_signature", "attach_image_module_info",
    "attach_message", "create_module_spec", "eval_function_for_module", "get_expected_image_size",
    "get_num_image_channels", "image_embedding_column", "load_module_spec", "register_module_for_export",
    "sparse_text_embedding_column", "text_embedding_column",
})  # fmt: skip


def _name_hub_release(hub: ModuleType) -> None:
    """Let the error for a name of modules of TensorFlow 1 say which release has them."""

    def getattr_(name: str) -> Any:
        if name in _HUB_NAMES:
            raise missing.library_error(hub, name, 'Install a release that has it: pip install "tensorflow_hub<0.16"')
        raise AttributeError(f"module {hub.__name__!r} has no attribute {name!r}")

    vars(hub).setdefault("__getattr__", getattr_)


_GIN_LISTS = {"whitelist": "allowlist", "blacklist": "denylist"}

TABLES = {
    "gin": Table(
        changes=[
            Arguments("gin.config", name, "0.5", renamed=_GIN_LISTS)
            for name in ("configurable", "external_configurable")
        ]
    ),
    "seaborn": Table(
        changes=[
            Name("seaborn", "", "tsplot", "0.10", _tsplot),
            Name("seaborn", "", "factorplot", "0.11", "catplot"),
        ]
    ),
    "yaml": Table(changes=[Wrapped("yaml", "load", "6.0", _load_yaml), Wrapped("yaml", "load_all", "6.0", _load_yaml)]),
    "tensorflow_hub": Table(changes=[OtherChange("tensorflow_hub", "0.16", _name_hub_release)]),
    "moviepy": Table(modules=[Module("moviepy.editor", "2.0", "moviepy")]),
    "nose_parameterized": Table(modules=[Module("nose_parameterized", "0.6", "parameterized")]),
}
