"""``tensorflow.estimator`` of a TF1 program, and the addresses that its parts had.

Data flow: the import hooks ask :func:`find` for an address. ``tensorflow.estimator`` is our package; each module that
1.15 had below ``tensorflow_estimator.python.estimator`` is a module of that name, which looks a name up in our file for
that module, if there is one, and then in all of ours.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .. import estimator
from . import missing

__all__ = ["find", "is_ours"]

_PUBLIC = (
    "tensorflow.estimator",
    "tensorflow.compat.v1.estimator",
    "tensorflow_estimator.estimator",
    "tensorflow_estimator._api.v1.estimator",
    "tensorflow_estimator.python.estimator.api._v1.estimator",
)
_INNER = ("tensorflow_estimator.python.estimator", "tensorflow.python.estimator")
_PACKAGES = ("tensorflow_estimator", "tensorflow_estimator.python", "tensorflow_estimator._api")

# module below tensorflow_estimator.python.estimator -> files of ours that have its names first
_FILES = {
    "": "",
    "canned": "",
    "canned.baseline": "canned.baseline",
    "canned.boosted_trees": "canned.boosted_trees",
    "canned.boosted_trees_utils": "",
    "canned.dnn": "canned.dnn",
    "canned.dnn_linear_combined": "canned.dnn_linear_combined",
    "canned.head": "canned.inner_names canned.head",
    "canned.kmeans": "canned.kmeans",
    "canned.linear": "canned.linear",
    "canned.metric_keys": "canned.metric_keys",
    "canned.optimizers": "canned.optimizers canned.inner_names",
    "canned.parsing_utils": "canned.parsing_utils",
    "canned.prediction_keys": "canned.prediction_keys",
    "early_stopping": "early_stopping",
    "estimator": "estimator warm_start inner_names",
    "estimator_lib": "",
    "export": "export",
    "export.export": "export",
    "export.export_lib": "export",
    "export.export_output": "export",
    "exporter": "exporter",
    "extenders": "extenders",
    "gc": "gc",
    "head": "canned.head",
    "head.base_head": "canned.head",
    "head.binary_class_head": "canned.head",
    "head.head_utils": "canned.head",
    "head.multi_class_head": "canned.head",
    "head.multi_head": "canned.multi_head",
    "head.multi_label_head": "canned.head",
    "head.regression_head": "canned.head",
    "hooks": "hooks",
    "hooks.basic_session_run_hooks": "",
    "hooks.hooks": "hooks",
    "hooks.session_run_hook": "",
    "inputs": "inputs",
    "inputs.inputs": "inputs",
    "inputs.numpy_io": "inputs",
    "inputs.pandas_io": "inputs",
    "inputs.queues": "feeding",
    "inputs.queues.feeding_functions": "feeding",
    "inputs.queues.feeding_queue_runner": "feeding",
    "keras": "keras",
    "keras_lib": "keras",
    "mode_keys": "model_fn",
    "model_fn": "model_fn inner_names",
    "run_config": "run_config",
    "tpu": "tpu",
    "tpu._tpu_estimator_embedding": "tpu",
    "tpu.error_handling": "tpu_errors",
    "tpu.iteration_count_estimator": "",
    "tpu.tpu_config": "tpu",
    "tpu.tpu_context": "tpu",
    "tpu.tpu_estimator": "tpu",
    "tpu.util": "tpu_util",
    "training": "training inner_names",
    "util": "util inner_names",
}


class _Inner(ModuleType):
    """A module named ``name`` with the names of our ``files``, and then of all."""

    def __init__(self, name: str, files: list[str]) -> None:
        super().__init__(name, estimator.__doc__)
        self.__path__: list[str] = []
        self.__dict__["_files"] = files

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        below = f"{self.__name__}.{name}"
        if find(below):
            value = importlib.import_module(below)
        else:
            sources = [*map(_source, self.__dict__["_files"]), estimator]
            source = next((source for source in sources if hasattr(source, name)), None)
            if source is None:
                raise missing.symbol_error(f"tf.estimator.{name}")
            value = getattr(source, name)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return sorted(
            {*self.__dict__, *estimator.__all__, *(n for f in self.__dict__["_files"] for n in dir(_source(f)))}
        )


def _source(file: str) -> Any:
    return importlib.import_module(f"{estimator.__name__}.{file}")


class _Public(ModuleType):
    """``tensorflow.estimator``."""

    def __init__(self) -> None:
        super().__init__("tensorflow.estimator", estimator.__doc__)
        self.__path__: list[str] = []
        self.__all__ = estimator.__all__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name not in estimator.__all__:
            raise missing.symbol_error(f"tf.estimator.{name}")
        value = self.__dict__[name] = getattr(estimator, name)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *estimator.__all__})


def is_ours(fullname: str) -> bool:
    """Whether ``fullname`` is, or is below, an address that tf.estimator had."""
    return (fullname + ".").startswith(("tensorflow_estimator.", *(f"{address}." for address in (*_PUBLIC, *_INNER))))


def find(fullname: str) -> Callable[[], ModuleType] | None:
    """Return a function that makes the module ``fullname``; None if there is no such one."""
    for prefix in _PUBLIC:
        if fullname == prefix:
            return _public
        below = fullname.removeprefix(prefix + ".")
        if below != fullname and below in estimator._MODULES:
            return functools.partial(importlib.import_module, f"{estimator.__name__}.{below}")
    for prefix in _INNER:
        below = fullname.removeprefix(prefix).removeprefix(".")
        if (fullname + ".").startswith(prefix + ".") and below in _FILES:
            return functools.partial(_Inner, fullname, [file for file in _FILES[below].split() if _exists(file)])
    if fullname in _PACKAGES:
        return functools.partial(_Inner, fullname, [])
    return None


@functools.lru_cache(maxsize=1)
def _public() -> ModuleType:
    return _Public()


def _exists(file: str) -> bool:
    return importlib.util.find_spec(f"{estimator.__name__}.{file}") is not None
