"""Methods that classes of 1.15 had and today's have not, what Keras' saving and progress bars did, what a dimension is.

Data flow: :func:`apply` adds each method of the table to the class that has to have it, so that all classes below it
have it too.
"""

from __future__ import annotations

import functools
import importlib
import sys
from types import ModuleType
from typing import Any

__all__ = ["apply"]


def _apply_layer(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    return self(inputs, *args, **kwargs)


def _predict_proba(self: Any, x: Any, batch_size: Any = 32, verbose: int = 0) -> Any:
    """The probabilities for each sample, [N, classes]."""
    return self.predict(x, batch_size=batch_size, verbose=verbose)


def _predict_classes(self: Any, x: Any, batch_size: Any = 32, verbose: int = 0) -> Any:
    """The class of each sample: [N] for many classes, [N, 1] of 0 and 1 for a single output."""
    probabilities = self.predict(x, batch_size=batch_size, verbose=verbose)
    if probabilities.shape[-1] > 1:
        return probabilities.argmax(axis=-1)
    return (probabilities > 0.5).astype("int32")


def _run_v2(self: Any, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
    return self.run(fn, args, kwargs)


def _initialized_value(self: Any) -> Any:
    """The value, or the initial value as long as there is none. Only ref variables still have it in today's graphs."""
    tf: Any = sys.modules["tensorflow"]
    with tf.init_scope():
        return tf.cond(tf.is_variable_initialized(self), self.read_value, lambda: self.initial_value)


def _listed(name: str, operation: Any) -> list[Any]:
    return list(getattr(operation, name))


def apply(face: ModuleType) -> None:
    """Add the methods, once a process."""
    layer = importlib.import_module("tf_keras.src.engine.base_layer").Layer
    sequential = importlib.import_module("tf_keras.src.engine.sequential").Sequential
    for owner, name, method in (
        (layer, "apply", _apply_layer),
        (sequential, "predict_classes", _predict_classes),
        (sequential, "predict_proba", _predict_proba),
        (face.distribute.Strategy, "experimental_run_v2", _run_v2),
    ):
        if not hasattr(owner, name):
            setattr(owner, name, method)
    for name in ("inputs", "outputs", "control_inputs"):  # programs that rewire graphs read the private names
        if not hasattr(face.Operation, f"_{name}"):
            setattr(face.Operation, f"_{name}", property(functools.partial(_listed, name)))
    resource = importlib.import_module("tensorflow.python.ops.resource_variable_ops").BaseResourceVariable
    if "initialized_value" not in vars(resource):  # what it inherits only raises
        resource.initialized_value = _initialized_value
    _save_as_hdf5()
    _show_metrics_only()
    _take_whole_dimensions()


def _save_as_hdf5() -> None:
    """Without a format, ``model.save(path)`` is HDF5 whatever the path's ending, as in TF1; and so is "x.keras"."""
    saving: Any = importlib.import_module("tf_keras.src.saving.saving_api")
    original = saving.get_save_format

    def get_save_format(filepath: Any, save_format: str | None) -> Any:
        return original(filepath, save_format) if save_format else "h5"

    saving.get_save_format = get_save_format


def _show_metrics_only() -> None:
    """Show only metrics in the progress bar with ``steps_per_epoch``, not the number and the size of the batch."""
    logger: Any = importlib.import_module("tf_keras.src.callbacks").ProgbarLogger
    original = logger._batch_update_progbar

    def update(self: Any, batch: int, logs: Any = None) -> None:
        if self.use_steps and logs:
            logs = {name: value for name, value in logs.items() if name not in ("batch", "size", "num_steps")}
        original(self, batch, logs)

    logger._batch_update_progbar = update


def _take_whole_dimensions() -> None:
    """A dimension may be any number that is whole, as ``28 / 2``, or its digits."""
    numpy: Any = importlib.import_module("numpy")
    dimension: Any = importlib.import_module("tensorflow.python.framework.tensor_shape").Dimension
    original = dimension.__init__

    def make(self: Any, value: Any) -> None:
        if isinstance(value, numpy.ndarray) and value.size == 1:
            value = value.item()
        if isinstance(value, (float, numpy.floating, str, bytes)):
            whole = int(value)
            if isinstance(value, (float, numpy.floating)) and whole != value:
                raise ValueError(f"Ambiguous dimension: {value}")
            value = whole
        original(self, value)

    dimension.__init__ = make
