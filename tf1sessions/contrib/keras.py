"""``tf.contrib.keras``: Keras 2, as ``tf.keras`` of TensorFlow 1 had it; the package tf_keras has it today."""

from __future__ import annotations

import importlib
from types import ModuleType

from ..runtime import tf1 as tf

__all__ = [
    "activations",
    "applications",
    "backend",
    "callbacks",
    "constraints",
    "datasets",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "models",
    "optimizers",
    "preprocessing",
    "regularizers",
    "utils",
]

# tf.layers comes from that package, too, whichever Keras the program uses
_ROOT = tf.layers.Dense.__module__.partition(".")[0] + ".api._v1.keras"


def _copy(source: ModuleType, name: str) -> ModuleType:
    """A module ``name`` with the public names of ``source`` and of the modules in it."""
    module = ModuleType(name, source.__doc__)
    for key, value in vars(source).items():
        if not key.startswith("_"):
            inner = isinstance(value, ModuleType) and value.__name__.startswith(f"{_ROOT}.")
            setattr(module, key, _copy(value, f"{name}.{key}") if inner else value)
    return module


def _module(name: str) -> ModuleType:
    return _copy(importlib.import_module(f"{_ROOT}.{name}"), f"{__name__}.{name}")


activations = _module("activations")
applications = _module("applications")
backend = _module("backend")
callbacks = _module("callbacks")
constraints = _module("constraints")
datasets = _module("datasets")
initializers = _module("initializers")
layers = _module("layers")
losses = _module("losses")
metrics = _module("metrics")
models = _module("models")
optimizers = _module("optimizers")
preprocessing = _module("preprocessing")
regularizers = _module("regularizers")
utils = _module("utils")
