"""Layers of Keras 1 that Keras 2 kept for old programs, in ``keras.legacy.layers`` and ``keras.layers``."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = [
    "AtrousConvolution1D",
    "AtrousConvolution2D",
    "ConvLSTM2DCell",
    "ConvRNN2D",
    "ConvRecurrent2D",
    "Highway",
    "MaxoutDense",
    "Recurrent",
    "merge",
]

_layers: Any = importlib.import_module("tf_keras.api._v1.keras.layers")
_conv_rnn: Any = importlib.import_module("tf_keras.src.layers.rnn.base_conv_rnn")
_conv_lstm: Any = importlib.import_module("tf_keras.src.layers.rnn.base_conv_lstm")
_keras: Any = importlib.import_module("tf_keras.api._v1.keras")
Recurrent: Any = _layers.RNN
AtrousConvolution1D: Any = _layers.Conv1D
AtrousConvolution2D: Any = _layers.Conv2D


class ConvRNN2D(_conv_rnn.ConvRNN):  # type: ignore[misc]
    """The base of recurrent layers whose cells convolve images.

    Args:
        cell: The cell, or a list of them.
        named: What ``RNN`` takes.
    """

    def __init__(self, cell: Any, *args: Any, **named: Any) -> None:
        super().__init__(2, cell, *args, **named)


class ConvLSTM2DCell(_conv_lstm.ConvLSTMCell):  # type: ignore[misc]
    """The cell of ``ConvLSTM2D``, whose arguments it takes."""

    def __init__(self, filters: int, kernel_size: Any, *args: Any, **named: Any) -> None:
        super().__init__(2, filters, kernel_size, *args, **named)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of a cell like this one."""
        return {name: value for name, value in super().get_config().items() if name != "rank"}


ConvRecurrent2D = ConvRNN2D


class _Linear(_layers.Layer):  # type: ignore[misc]
    """A layer of matrices that has Keras 1's arguments: initial ``weights``, ``init``, ``W_...`` and ``b_...``."""

    def __init__(
        self,
        init: Any = "glorot_uniform",
        weights: Any = None,
        W_regularizer: Any = None,
        b_regularizer: Any = None,
        activity_regularizer: Any = None,
        W_constraint: Any = None,
        b_constraint: Any = None,
        bias: bool = True,
        input_dim: int | None = None,
        **named: Any,
    ) -> None:
        if input_dim:
            named["input_shape"] = (input_dim,)
        super().__init__(activity_regularizer=activity_regularizer, **named)
        self.init, self.bias, self.input_dim = _keras.initializers.get(init), bias, input_dim
        self.W_regularizer, self.b_regularizer = map(_keras.regularizers.get, (W_regularizer, b_regularizer))
        self.W_constraint, self.b_constraint = map(_keras.constraints.get, (W_constraint, b_constraint))
        self.initial_weights = weights

    def _matrix(self, name: str, shape: tuple[int, ...], **options: Any) -> Any:
        return self.add_weight(name=name, shape=shape, initializer=self.init, **options)

    def _vector(self, name: str, shape: tuple[int, ...], initializer: Any = "zeros", **options: Any) -> Any:
        return self.add_weight(name=name, shape=shape, initializer=initializer, **options) if self.bias else None

    def _end_build(self, input_shape: Any) -> None:
        self.input_spec = _layers.InputSpec(ndim=2, axes={1: input_shape[1]})
        if self.initial_weights is not None:
            self.set_weights(self.initial_weights)
            self.initial_weights = None
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of a layer like this one."""
        config: dict[str, Any] = super().get_config()
        config["init"] = _keras.initializers.serialize(self.init)
        for name in ("W_regularizer", "b_regularizer", "activity_regularizer"):
            config[name] = _keras.regularizers.serialize(getattr(self, name))
        for name in ("W_constraint", "b_constraint"):
            config[name] = _keras.constraints.serialize(getattr(self, name))
        return {**config, "bias": self.bias, "input_dim": self.input_dim}


class MaxoutDense(_Linear):
    """The largest of several dense layers, element by element: [batch, features] to [batch, output_dim].

    Args:
        output_dim: Its number of outputs.
        nb_feature: The number of dense layers.
        named: What Keras 1's dense layers take: ``init``, ``weights``, ``W_regularizer``, ``bias``, ``input_dim``, ...
    """

    def __init__(self, output_dim: int, nb_feature: int = 4, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.output_dim, self.nb_feature = output_dim, nb_feature

    def build(self, input_shape: Any) -> None:
        """Make the variables, for inputs of this shape."""
        shape = (self.nb_feature, int(input_shape[1]), self.output_dim)
        self.W = self._matrix("W", shape, regularizer=self.W_regularizer, constraint=self.W_constraint)
        named = {"regularizer": self.b_regularizer, "constraint": self.b_constraint}
        self.b = self._vector("b", (shape[0], shape[2]), **named)
        self._end_build(input_shape)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the outputs for inputs of this one."""
        return (input_shape[0], self.output_dim)

    def call(self, x: Any) -> Any:
        """Return the outputs for a batch."""
        outputs = _keras.backend.dot(x, self.W)
        return _keras.backend.max(outputs if self.b is None else outputs + self.b, axis=1)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of a layer like this one."""
        return {**super().get_config(), "output_dim": self.output_dim, "nb_feature": self.nb_feature}


class Highway(_Linear):
    """A dense layer with a gate that lets its inputs pass: [batch, features] to the same.

    Args:
        init: How the matrices begin.
        activation: Of the dense layer; None for none.
        weights: All variables' first values, or None.
        named: What Keras 1's dense layers take: ``W_regularizer``, ``bias``, ``input_dim``, ...
    """

    def __init__(
        self, init: Any = "glorot_uniform", activation: Any = None, weights: Any = None, *args: Any, **named: Any
    ) -> None:
        super().__init__(init, weights, *args, **named)
        self.activation = _keras.activations.get(activation)

    def build(self, input_shape: Any) -> None:
        """Make the variables, for inputs of this shape."""
        size = int(input_shape[1])
        self.W = self._matrix("W", (size, size), regularizer=self.W_regularizer, constraint=self.W_constraint)
        self.W_carry = self._matrix("W_carry", (size, size))
        named = {"regularizer": self.b_regularizer, "constraint": self.b_constraint}
        self.b = self._vector("b", (size,), **named)
        self.b_carry = self._vector("b_carry", (size,), "ones")
        self._end_build(input_shape)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the outputs for inputs of this one."""
        return input_shape

    def call(self, x: Any) -> Any:
        """Return the outputs for a batch."""
        k = _keras.backend
        gate, dense = k.dot(x, self.W_carry), k.dot(x, self.W)
        if self.bias:
            gate, dense = gate + self.b_carry, dense + self.b
        gate = _keras.activations.sigmoid(gate)
        return self.activation(dense) * gate + (1 - gate) * x

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of a layer like this one."""
        return {**super().get_config(), "activation": _keras.activations.serialize(self.activation)}


_MERGES = {
    "sum": "Add",
    "mul": "Multiply",
    "ave": "Average",
    "max": "Maximum",
    "concat": "Concatenate",
    "dot": "Dot",
    "cos": "Dot",
}


def merge(
    inputs: Any,
    mode: Any = "sum",
    concat_axis: int = -1,
    dot_axes: Any = -1,
    output_shape: Any = None,
    output_mask: Any = None,
    arguments: Any = None,
    name: str | None = None,
) -> Any:
    """Combine tensors, as Keras 1 and 2.0 did it.

    Args:
        inputs: Tensors of layers.
        mode: "sum", "mul", "concat", "ave", "max", "dot" or "cos", or a function of the list of tensors.
        concat_axis: The axis along which "concat" puts them.
        dot_axes: The axis, or two, along which "dot" and "cos" multiply; or a list of axes for each tensor.
        output_shape: The shape that a function gives, without the batch.
        output_mask: The mask that a function gives.
        arguments: Named arguments of a function.
        name: Of the layer.
    """
    if callable(mode):
        layer = _layers.Lambda(mode, output_shape=output_shape, mask=output_mask, arguments=arguments, name=name)
        return layer(inputs)
    if mode not in _MERGES:
        raise ValueError(f"Invalid merge mode: {mode}")
    options: dict[str, Any] = {"name": name}
    if mode == "concat":
        options["axis"] = concat_axis
    elif _MERGES[mode] == "Dot":
        axes = dot_axes if isinstance(dot_axes, int) else tuple(a if isinstance(a, int) else a[0] for a in dot_axes)
        options.update(axes=axes, normalize=mode == "cos")
    return getattr(_layers, _MERGES[mode])(**options)(inputs)


# Models that have these layers are loaded without a word, as in Keras 2.
_keras.utils.get_custom_objects().update(
    {layer.__name__: layer for layer in (ConvLSTM2DCell, ConvRNN2D, Highway, MaxoutDense)}
)
