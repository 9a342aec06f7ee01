"""Arguments by their names in Keras 1, which the package ``keras`` 2.2 took in layers and models.

``Convolution2D(32, 3, 3, border_mode="same")`` has a kernel of [3, 3] there; in ``tf.keras`` the second 3 is the
stride. What tests/golden/make/make_keras_one_arguments.py recorded of Keras 2.2.4 is what the test compares with.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["apply"]

#: By names of Keras 1: those of Keras 2, of which a class has one at most.
_RENAMED = {
    "W_constraint": "kernel_constraint embeddings_constraint",
    "W_regularizer": "kernel_regularizer embeddings_regularizer",
    "U_regularizer": "recurrent_regularizer",
    "atrous_rate": "dilation_rate",
    "b_constraint": "bias_constraint",
    "b_regularizer": "bias_regularizer",
    "beta_init": "beta_initializer",
    "bias": "use_bias",
    "border_mode": "padding",
    "consume_less": "implementation",
    "dim_ordering": "data_format",
    "dropout_U": "recurrent_dropout",
    "dropout_W": "dropout",
    "filter_length": "kernel_size",
    "gamma_init": "gamma_initializer",
    "init": "kernel_initializer embeddings_initializer alpha_initializer",
    "inner_activation": "recurrent_activation",
    "inner_init": "recurrent_initializer",
    "input": "inputs",
    "input_dtype": "dtype",
    "length": "size",
    "nb_filter": "filters",
    "output": "outputs",
    "output_dim": "units",
    "p": "rate",
    "pool_length": "pool_size",
    "sigma": "stddev",
    "stride": "strides",
    "subsample": "strides",
    "subsample_length": "strides",
}
#: What became of values, by names of Keras 1.
_VALUES: dict[str, dict[Any, Any]] = {
    "consume_less": {"cpu": 0, "mem": 1, "gpu": 2},
    "dim_ordering": {"tf": "channels_last", "th": "channels_first", "default": None},
}
_ROWS = ("nb_row", "nb_col")
#: By layers: the arguments that together were the size of a kernel.
_KERNELS = {
    **dict.fromkeys(("Conv2D", "Conv2DTranspose", "ConvLSTM2D", "LocallyConnected2D", "SeparableConv2D"), _ROWS),
    "Conv3D": ("kernel_dim1", "kernel_dim2", "kernel_dim3"),
}
#: By layers: arguments without an effect in Keras 2. The bias of forgetting is 1 whatever was asked for.
_WITHOUT_EFFECT = {
    **dict.fromkeys(("ConvLSTM2D", "LSTM"), "forget_bias_init"),
    "Conv2DTranspose": "output_shape",
    "Embedding": "dropout",
}
_SEQUENCES = ("Conv1D", "LocallyConnected1D")  # whose input may be given by its length and its number of features
_LAYERS = (
    "AveragePooling1D AveragePooling2D AveragePooling3D BatchNormalization Conv1D Conv2D Conv2DTranspose Conv3D"
    " ConvLSTM2D Cropping2D Cropping3D Dense Dropout Embedding GRU GaussianDropout GaussianNoise InputLayer LSTM"
    " LocallyConnected1D LocallyConnected2D MaxPooling1D MaxPooling2D MaxPooling3D PReLU SeparableConv2D SimpleRNN"
    " SpatialDropout1D SpatialDropout2D SpatialDropout3D UpSampling1D UpSampling2D UpSampling3D ZeroPadding2D"
    " ZeroPadding3D"
)
_TRAINING = {
    "max_q_size": "max_queue_size",
    "nb_epoch": "epochs",
    "nb_val_samples": "validation_steps",
    "nb_worker": "workers",
    "pickle_safe": "use_multiprocessing",
    "val_samples": "steps",
}


def apply(keras: Any) -> None:
    """Let layers and models take these arguments. Idempotent.

    Args:
        keras: ``tf.keras``.
    """
    model: Any = importlib.import_module("tf_keras.src.engine.training").Model
    if hasattr(model.__init__, "of_keras_one"):
        return
    for name in _LAYERS.split():
        layer = getattr(keras.layers, name)
        accepted = _arguments(layer) | ({"implementation"} if issubclass(layer, keras.layers.RNN) else set())
        _put(layer, "__init__", functools.partial(_of_layer, name, accepted))
    functional: Any = importlib.import_module("tf_keras.src.engine.functional").Functional
    of_model = functools.partial(_renamed, frozenset(("inputs", "outputs")))
    for kind, method in ((model, "__new__"), (model, "__init__"), (functional, "__init__")):
        _put(kind, method, lambda args, named: (args, of_model(named)))
    graph_model: Any = importlib.import_module("tf_keras.src.engine.training_v1").Model
    for method in ("fit", "fit_generator", "evaluate_generator", "predict_generator"):
        for kind in (model, graph_model):
            _put(kind, method, functools.partial(_of_training, method == "fit"))


def _arguments(layer: Any) -> set[str]:
    """Return the names of what a layer takes, its bases' included."""
    inits = [vars(kind)["__init__"] for kind in layer.__mro__ if "__init__" in vars(kind)]
    return {name for init in inits[:-1] for name in inspect.signature(init).parameters}


def _put(kind: Any, method: str, converted: Callable[[Any, Any], Any]) -> None:
    """Put a function before a method of a class, which gets the arguments that the function returns."""
    original = vars(kind)[method]
    original = getattr(original, "__func__", original)  # __new__ is a static method

    @functools.wraps(original)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        args, named = converted(args, named)
        return original(self, *args, **named)

    vars(call).update(__signature__=inspect.signature(original), of_keras_one=True)
    setattr(kind, method, staticmethod(call) if method == "__new__" else call)


def _renamed(accepted: set[str] | frozenset[str], named: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(named)
    for old in named.keys() & _RENAMED.keys() - accepted:
        for new in accepted.intersection(_RENAMED[old].split()):
            if new in found:
                raise _given_twice(new, old)
            value = found.pop(old)
            found[new] = _VALUES[old].get(value, value) if old in _VALUES else value
    return found


def _of_layer(
    name: str, accepted: set[str], args: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    found = _renamed(accepted, named)
    found.pop(_WITHOUT_EFFECT.get(name, ""), None)
    if name == "BatchNormalization" and found.pop("mode", 0):
        raise TypeError("BatchNormalization has no mode= but 0 in Keras 2")
    if name in _SEQUENCES and "input_dim" in found:
        found["input_shape"] = (found.pop("input_length", None), found.pop("input_dim"))
    sides = _KERNELS.get(name, ())
    if sides and found.keys() >= set(sides):
        found["kernel_size"] = tuple(found.pop(side) for side in sides)
    end = 1 + len(sides)
    if sides and len(args) >= end and all(isinstance(size, int) for size in args[1:end]):
        if "padding" in named:
            raise ValueError(
                f"{name}{args} with padding= is of Keras 1 by its numbers and of Keras 2 by that name. Give the kernel "
                "as one argument, kernel_size=(3, 3), and the strides by their name."
            )
        rest = args[end + 1 :] if name == "Conv2DTranspose" else args[end:]  # without output_shape
        args = (args[0], tuple(args[1:end]), *rest)
    return args, found


def _given_twice(new: str, old: str) -> TypeError:
    return TypeError(f"{new!r} is given twice, as {old!r}, its name in Keras 1, as well")


def _of_training(
    is_old_first: bool, args: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Convert arguments of a training; ``is_old_first`` is whether those of Keras 1 count where both are given."""
    found = dict(named)
    for old in named.keys() & _TRAINING.keys():
        if _TRAINING[old] in named and not is_old_first:
            raise _given_twice(_TRAINING[old], old)
        found[_TRAINING[old]] = found.pop(old)
    if "samples_per_epoch" in found:
        size = getattr(args[0] if args else found.get("generator"), "batch_size", 1)
        found["steps_per_epoch"] = found.pop("samples_per_epoch") // size
    return args, found
