"""Names of the package ``keras`` of multi-backend Keras 2 that ``tf.keras`` had not, and modules as attributes.

A program that imports ``keras`` gets ``tf.keras`` and these, which it need not have imported: ``keras.engine``,
``keras.layers.core``, ``keras.backend.identity``.
"""

from __future__ import annotations

import functools
import importlib
import operator
from typing import Any

__all__ = ["complete"]

#: By modules below ``keras``: its modules that programs reach as attributes.
_MODULES = {
    "": "engine legacy objectives",
    "backend": "common tensorflow_backend",
    "layers": "advanced_activations convolutional convolutional_recurrent core embeddings local merge noise"
    " normalization pooling recurrent wrappers",
    "utils": "conv_utils data_utils generic_utils io_utils layer_utils multi_gpu_utils np_utils vis_utils",
}
_FUNCTIONS = "tf1sessions.scripts.inner.keras_functions"
_BACKEND_FUNCTIONS = (
    "get_variable_shape image_dim_ordering is_placeholder py_all py_any py_slice py_sum set_image_dim_ordering"
    " transpose_shape"
)
#: What Keras' backend imported, which programs took from there.
_BACKEND_MODULES = "control_flow_ops functional_ops tensor_array_ops"
_CONVOLUTIONS = "conv1d_input conv2d_input conv3d_input padding"
_OLD_LAYERS = "tf1sessions.scripts.inner.keras_old_layers"
_OLD = "ConvLSTM2DCell ConvRNN2D ConvRecurrent2D Highway MaxoutDense Recurrent merge"
_FILES = "tf1sessions.scripts.inner.keras_files"
_OPTIMIZERS = "Adadelta Adagrad Adam Adamax Nadam RMSprop SGD"
#: By modules below ``keras``: other names, and where they are.
_NAMES = {
    "backend": {
        **{name: f"{_FUNCTIONS}:{name}" for name in _BACKEND_FUNCTIONS.split()},
        **{name: f"tensorflow.python.ops.{name}" for name in _BACKEND_MODULES.split()},
        **{f"_preprocess_{name}": f"tf_keras.src.backend:_preprocess_{name}" for name in _CONVOLUTIONS.split()},
        "ctc": "tensorflow.python.ops.ctc_ops",
        "_BACKEND": f"{_FUNCTIONS}:BACKEND",
        "_SESSION": "tf_keras.src.backend:_SESSION.session",
        "_regular_normalize_batch_in_training": "tf_keras.src.backend:_regular_normalize_batch_in_training",
        "_EPSILON": "tf_keras.src.backend_config:_EPSILON",
        "_to_tensor": "tf_keras.src.backend:_to_tensor",
        "_get_available_gpus": "tf_keras.src.backend:_get_available_gpus",
        "conv3d_transpose": "tf_keras.src.backend:conv3d_transpose",
        "identity": "tensorflow:identity",
        "has_arg": "keras.utils.generic_utils:has_arg",
        "is_tensor": "tensorflow:is_tensor",
        "moving_averages": "tensorflow.python.training.moving_averages",
        "logsumexp": "tensorflow:reduce_logsumexp",
        "normalize_data_format": "tf_keras.src.utils.conv_utils:normalize_data_format",
        "separable_conv1d": "tf_keras.src.backend:separable_conv1d",
        "np": "numpy",
        "slice": "tensorflow:slice",
        "tf": "tensorflow",
        "tf_ops": "tensorflow.python.framework.ops",
    },
    "callbacks": {"Progbar": "keras.utils:Progbar"},
    "constraints": {
        "maxnorm": "keras.constraints:MaxNorm",
        "nonneg": "keras.constraints:NonNeg",
        "unitnorm": "keras.constraints:UnitNorm",
    },
    "engine": {"get_source_inputs": f"{_FUNCTIONS}:get_source_inputs"},
    "initializers": {
        "one": "keras.initializers:Ones",
        "zero": "keras.initializers:Zeros",
        "_compute_fans": "tf_keras.src.initializers.initializers:_compute_fans",
    },
    "layers": {
        **{name: f"{_OLD_LAYERS}:{name}" for name in _OLD.split()},
        **{f"Deconv{name}{n}D": f"keras.layers:Conv{n}DTranspose" for name in ("", "olution") for n in (2, 3)},
        **{f"AtrousConv{name}{n}D": f"keras.layers:Conv{n}D" for name in ("", "olution") for n in (1, 2)},
    },
    "models": {"Input": "keras.layers:Input", "InputLayer": "keras.layers:InputLayer"},
    "optimizers": {
        **{name.lower(): f"keras.optimizers:{name}" for name in _OPTIMIZERS.split()},
        "clip_norm": f"{_FUNCTIONS}:clip_norm",
        "TFOptimizer": "tf_keras.src.optimizers:TFOptimizer",
    },
    "utils": {
        "HDF5Matrix": f"{_FILES}:HDF5Matrix",
        "convert_all_kernels_in_model": f"{_FUNCTIONS}:convert_all_kernels_in_model",
        "h5dict": f"{_FILES}:h5dict",
        "print_summary": "tf_keras.src.utils.layer_utils:print_summary",
    },
}


def complete(keras: Any) -> None:
    """Give Keras what the package of that name had. Idempotent."""
    for below in _MODULES.keys() | _NAMES.keys():
        module = getattr(keras, below) if below else keras
        found = {name: f"{'.'.join(filter(None, ['keras', below, name]))}" for name in _MODULES.get(below, "").split()}
        found |= _NAMES.get(below, {})
        earlier = vars(module).get("__getattr__")
        if not getattr(earlier, "is_of_keras_package", False):
            vars(module)["__getattr__"] = functools.partial(_find, module, found, earlier)
            vars(vars(module)["__getattr__"])["is_of_keras_package"] = True
    node = importlib.import_module("tf_keras.src.engine.node").Node
    for side in ("input", "output"):
        if not hasattr(node, f"{side}_masks"):
            setattr(node, f"{side}_masks", property(functools.partial(_masks, f"{side}_tensors")))


def _masks(tensors: str, node: Any) -> list[Any]:
    """The masks that the tensors of a layer's call have, or None for each that has none."""
    flat = importlib.import_module("tensorflow").nest.flatten(getattr(node, tensors))
    return [getattr(tensor, "_keras_mask", None) for tensor in flat]


def _find(module: Any, names: dict[str, str], earlier: Any, name: str) -> Any:
    if name in names:
        where, _, attribute = names[name].partition(":")
        found = importlib.import_module(where)
        return operator.attrgetter(attribute)(found) if attribute else found
    if earlier is None:
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    return earlier(name)
