"""Functions of multi-backend Keras 2 for authors of layers, models and weights, which tf_keras has otherwise or not.

``keras.utils.generic_utils.unpack_singleton``, ``keras.engine.saving.load_weights_from_hdf5_group_by_name``,
``keras.backend.set_image_dim_ordering``, ... . Most are their new names; what tf_keras has in no form is written here.
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

__all__ = [
    "BACKEND",
    "Recurrent",
    "clip_norm",
    "collect_previous_mask",
    "convert_all_kernels_in_model",
    "convert_kernel",
    "deserialize_model",
    "get_source_inputs",
    "get_variable_shape",
    "image_dim_ordering",
    "is_all_none",
    "is_placeholder",
    "load_weights_from_hdf5_group",
    "load_weights_from_hdf5_group_by_name",
    "object_list_uid",
    "preprocess_weights_for_loading",
    "py_all",
    "py_any",
    "py_slice",
    "py_sum",
    "save_weights_to_hdf5_group",
    "serialize_model",
    "set_image_dim_ordering",
    "transpose_shape",
    "unpack_singleton",
]

_backend: Any = importlib.import_module("tf_keras.src.backend")
_formats: Any = importlib.import_module("tf_keras.src.saving.legacy.hdf5_format")
Recurrent: Any = importlib.import_module("tf_keras.src.layers").RNN
get_source_inputs: Any = importlib.import_module("tf_keras.src.utils.layer_utils").get_source_inputs
preprocess_weights_for_loading: Any = _formats.preprocess_weights_for_loading
is_placeholder: Any = _backend.is_placeholder
py_all, py_any, py_slice, py_sum = builtins.all, builtins.any, builtins.slice, builtins.sum

BACKEND = "tensorflow"

#: What the axes of images were called in Keras 1, and what they are called since.
_ORDERINGS = {"tf": "channels_last", "th": "channels_first"}


def unpack_singleton(x: Any) -> Any:
    """Return the only element of a sequence of one, or else the sequence."""
    return x[0] if len(x) == 1 else x


def object_list_uid(object_list: Any) -> str:
    """Return a text that names these objects, or this one, by where they are in memory."""
    objects = object_list if isinstance(object_list, list | tuple) else [object_list]
    return ", ".join(str(abs(id(one))) for one in objects)


def is_all_none(iterable_or_element: Any) -> bool:
    """Whether a list or tuple has nothing but None, or a single object is None."""
    found = iterable_or_element if isinstance(iterable_or_element, list | tuple) else [iterable_or_element]
    return all(one is None for one in found)


def transpose_shape(shape: Iterable[Any], target_format: str, spatial_axes: Sequence[int]) -> tuple[Any, ...]:
    """Return a shape with channels last in another order of axes: its channels first, or as it is.

    Args:
        shape: The shape of a batch, channels last.
        target_format: "channels_first" or "channels_last".
        spatial_axes: The axes between batch and channels.
    """
    given = tuple(shape)
    if target_format == "channels_last":
        return given
    if target_format != "channels_first":
        raise ValueError(f'`data_format` is "channels_first" or "channels_last", not {target_format!r}')
    return (*given[: spatial_axes[0]], given[-1], *(given[axis] for axis in spatial_axes))


def get_variable_shape(x: Any) -> Any:
    """Return the static shape of a variable or tensor, as a tuple."""
    return _backend.int_shape(x)


def image_dim_ordering() -> str:
    """Return "tf" where channels are last and "th" where they are first, as Keras 1 called them."""
    return next(old for old, new in _ORDERINGS.items() if new == _backend.image_data_format())


def set_image_dim_ordering(dim_ordering: str) -> None:
    """Set the order of axes by its name in Keras 1, "tf" or "th"."""
    if dim_ordering not in _ORDERINGS:
        raise ValueError(f"Unknown dim_ordering: {dim_ordering!r}; it is 'tf' or 'th'")
    _backend.set_image_data_format(_ORDERINGS[dim_ordering])


def clip_norm(g: Any, c: Any, n: Any) -> Any:
    """Return a gradient scaled by ``c / n`` where the norm ``n`` is at least ``c``.

    Args:
        g: The gradient, dense or of some rows (``tf.IndexedSlices``).
        c: The largest norm; not positive for any.
        n: The norm, of all gradients perhaps.
    """
    if c <= 0:
        return g
    tf: Any = importlib.import_module("tensorflow")
    scale = tf.where(n >= c, c / n, tf.ones_like(n))
    if isinstance(g, tf.IndexedSlices):
        return tf.IndexedSlices(g.values * scale, g.indices, g.dense_shape)
    return g * scale


def convert_kernel(kernel: Any) -> Any:
    """Return a kernel of a convolution turned round along its spatial axes, as between Theano and TensorFlow."""
    array = np.asarray(kernel)
    if not 3 <= array.ndim <= 5:
        raise ValueError(f"Invalid kernel shape: {array.shape}")
    return np.flip(array, axis=tuple(range(array.ndim - 2))).copy()


def convert_all_kernels_in_model(model: Any) -> None:
    """Turn the kernels of all convolutions of a model round, in place."""
    for layer in model.layers:
        if type(layer).__name__.startswith(("Conv1D", "Conv2D", "Conv3D")):
            _backend.set_value(layer.kernel, convert_kernel(_backend.get_value(layer.kernel)))


class _Layers:
    """Layers in the place of a model, whose weights were saved and loaded by them alone in Keras 2."""

    def __init__(self, layers: Iterable[Any]) -> None:
        self.layers = list(layers)
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []

    def _flatten_layers(self, recursive: bool = True, include_self: bool = True) -> Iterable[Any]:
        return iter(self.layers)


def _by_layers(function: Callable[..., Any]) -> Callable[..., Any]:
    def with_layers(f: Any, layers: Any, **options: Any) -> Any:
        return function(f, layers if hasattr(layers, "layers") else _Layers(layers), **options)

    return with_layers


save_weights_to_hdf5_group = _by_layers(_formats.save_weights_to_hdf5_group)
_load = _by_layers(_formats.load_weights_from_hdf5_group)
_load_by_name = _by_layers(_formats.load_weights_from_hdf5_group_by_name)


def load_weights_from_hdf5_group(f: Any, layers: Any, reshape: bool = False) -> None:
    """Set the weights of layers from a group of an HDF5 file, in their order.

    Args:
        f: The group.
        layers: Layers, or a model.
        reshape: Whether weights of another shape may be reshaped; that is not done here.
    """
    _refuse_reshape(reshape)
    _load(f, layers)


def load_weights_from_hdf5_group_by_name(
    f: Any, layers: Any, skip_mismatch: bool = False, reshape: bool = False
) -> None:
    """Set the weights of layers from a group of an HDF5 file that has layers of their names.

    Args:
        f: The group.
        layers: Layers, or a model.
        skip_mismatch: Whether layers whose weights have another shape or number are left as they are.
        reshape: Whether weights of another shape may be reshaped; that is not done here.
    """
    _refuse_reshape(reshape)
    _load_by_name(f, layers, skip_mismatch=skip_mismatch)


def _refuse_reshape(reshape: bool) -> None:
    if reshape:
        raise NotImplementedError("Loading weights with reshape=True is not available: tf_keras does not reshape")


def collect_previous_mask(input_tensors: Any) -> Any:
    """Return the mask that came with a tensor of a layer, or a list of them; None for none."""
    tensors = input_tensors if isinstance(input_tensors, list | tuple) else [input_tensors]
    return unpack_singleton([getattr(tensor, "_keras_mask", None) for tensor in tensors])


def serialize_model(model: Any, f: Any, include_optimizer: bool = True) -> None:
    """Write a model into an open HDF5 file, or the ``H5Dict`` of one."""
    _formats.save_model_to_hdf5(model, getattr(f, "data", f), include_optimizer=include_optimizer)


def deserialize_model(f: Any, custom_objects: Any = None, compile: bool = True) -> Any:
    """Return the model that is in an open HDF5 file, or in the ``H5Dict`` of one."""
    return _formats.load_model_from_hdf5(getattr(f, "data", f), custom_objects, compile)
