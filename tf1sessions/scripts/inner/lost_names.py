"""Public names of 1.15.5 that today's TensorFlow lost, put back: models on several GPUs, tables on a TPU, devices."""

from __future__ import annotations

import functools
import importlib
import types
from types import ModuleType
from typing import Any

from . import keras_multi_gpu, keras_saved_models, keras_wrappers

__all__ = ["apply"]

_TABLES = ("AdagradParameters", "AdamParameters", "StochasticGradientDescentParameters")


def apply(face: Any) -> None:
    """Give the names back, once a process."""
    keras = face.keras
    keras.wrappers = keras_wrappers
    vars(keras.utils)["multi_gpu_model"] = keras_multi_gpu.multi_gpu_model
    vars(keras.utils)["HDF5Matrix"] = importlib.import_module(f"{__package__}.keras_files").HDF5Matrix  # has NumPy
    for name in keras_saved_models.__all__:
        vars(keras.experimental)[name] = getattr(keras_saved_models, name)
    keras.mixed_precision.experimental = importlib.import_module(f"{__package__}.keras_mixed_precision")
    face.config.experimental_list_devices = _list_devices
    _read_late(face.tpu.experimental, dict.fromkeys(_TABLES, f"{__package__}.tpu_embedding"))
    _read_late(face.compat.v2, {"estimator": "tensorflow.estimator"})


def _list_devices() -> list[str]:
    """The names of the devices of this process, as "/job:localhost/replica:0/task:0/device:CPU:0"."""
    context = importlib.import_module("tensorflow.python.eager.context").context()
    context.ensure_initialized()
    found: list[str] = context.devices()
    return found


def _read_late(module: ModuleType, homes: dict[str, str]) -> None:
    """Let ``module`` find each name in a module, or as the module itself, that is imported when it is read first."""
    module = getattr(module, "_tfmw_wrapped_module", module)
    vars(module)["__getattr__"] = functools.partial(_late, module, homes, vars(module).get("__getattr__"))


def _late(module: ModuleType, homes: dict[str, str], earlier: Any, name: str) -> Any:
    if name in homes:
        home = importlib.import_module(homes[name])
        value = getattr(home, name) if isinstance(getattr(home, name, None), (type, types.FunctionType)) else home
        vars(module)[name] = value
        return value
    if earlier is not None:
        return earlier(name)
    raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
