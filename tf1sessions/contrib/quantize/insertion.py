"""Tensors of a graph that are quantized: the weights of its layers, and what comes out of them.

Of a layer, that is the activation after its bias, or the bias itself where none follows. A tensor that is added to the
layer's output before the activation, or to the activation, makes the sums quantized as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .fold_batch_norms import LAYERS, is_read, scope_of
from .quant_ops import ACTIVATION, SUMMAND, WEIGHTS, Role, Settings, quantized

__all__ = ["insert"]

_ACTIVATIONS = ("Relu", "Relu6", "Identity")
_ADDITIONS = ("Add", "AddV2")
_HANDED_ON = ("BatchToSpaceND", "Reshape")  # between a layer and its bias


@dataclass(frozen=True)
class _Layer:
    """A layer, and what of its output is quantized."""

    op: Any
    weights: Any  # before they are quantized, which two layers may share
    biased: Any  # the operation that adds the bias, or the layer
    sum: Any = None  # the addition before the activation
    activation: Any = None
    sum_after: Any = None  # the addition after it


class _Insertion:
    """One graph whose tensors are quantized."""

    def __init__(self, settings: Settings, scope: str | None) -> None:
        self.settings = settings
        self.scope = "" if not scope else scope.rstrip("/") + "/"
        self.done: set[str] = set()  # names of tensors

    def quantize_weights(self, tensor: Any, name: str) -> None:
        """Let the operations in the scope that take ``tensor`` take it quantized."""
        takers = [op for op in tensor.consumers() if op.name.startswith(self.scope)]
        if takers:
            self._quantize(tensor, takers, name, WEIGHTS)

    def quantize_activation(self, tensor: Any, name: str, role: Role = ACTIVATION) -> None:
        """Let all operations that take ``tensor``, if that is in the scope, take it quantized."""
        if tensor.op.name.startswith(self.scope):
            self._quantize(tensor, tensor.consumers(), name, role)

    def _quantize(self, tensor: Any, takers: list[Any], name: str, role: Role) -> None:
        if tensor.name in self.done:
            return
        self.done.add(tensor.name)
        rounded = quantized(tensor, name, self.settings, role)
        for op in takers:
            for index in [index for index, taken in enumerate(op.inputs) if taken is tensor]:
                op._update_input(index, rounded)

    def quantize_layer(self, layer: _Layer) -> None:
        scope = scope_of(layer.op)
        self.quantize_weights(layer.weights, f"{scope}weights_quant")
        if layer.activation is None:
            self.quantize_activation(layer.biased.outputs[0], f"{scope}act_quant")
            return
        around = scope_of(layer.sum) if layer.sum is not None else scope
        self.quantize_activation(layer.activation.outputs[0], f"{around}act_quant")
        if layer.sum is not None:
            self.quantize_activation(layer.biased.outputs[0], f"{scope}conv_quant", SUMMAND)
        after = layer.sum_after
        if after is not None:
            self.quantize_activation(after.outputs[0], f"{scope_of(after)}post_activation_bypass_quant", SUMMAND)


def insert(graph: Any, settings: Settings, scope: str | None) -> None:
    """Quantize the weights and activations of ``graph``, the default graph.

    Args:
        graph: The graph.
        settings: How.
        scope: The beginning of the names of what is looked at; None, if all is.
    """
    insertion = _Insertion(settings, scope)
    layers = list(_layers(graph))
    for layer in layers:
        if layer.activation is not None:
            insertion.quantize_layer(layer)
    for layer in layers:
        if layer.activation is None and (layer.biased is not layer.op or _is_before_layer(layer.op)):
            insertion.quantize_layer(layer)


def _layers(graph: Any) -> Iterator[_Layer]:
    for op in list(graph.get_operations()):
        if op.type in LAYERS and _are_weights(op.inputs[1]) and not _is_of_tensordot(op):
            yield _with_activation(_Layer(op, op.inputs[1], _biased(op)))


def _is_before_layer(op: Any) -> bool:
    return any(taker.type in LAYERS for taker in op.outputs[0].consumers())


def _is_of_tensordot(op: Any) -> bool:
    """Whether ``op`` is of tf.tensordot, which in 1.15.5 reshapes the weights: they are not found there."""
    scope: str = scope_of(op).rstrip("/").rpartition("/")[2]
    return scope.lower().startswith("tensordot")


def _are_weights(tensor: Any) -> bool:
    """Whether ``tensor`` is read from a variable, or comes from a normalization that was folded."""
    return is_read(tensor) or (tensor.op.type == "Mul" and _is_named(tensor.op, "mul_fold"))


def _is_named(op: Any, *names: str) -> bool:
    """Whether ``op`` has one of these names in its scope, or one of them and a number."""
    last: str = op.name.rpartition("/")[2]
    return last.startswith(names)


def _biased(layer: Any) -> Any:
    """The operation that adds the bias to a layer's output, or what a folded normalization adds; or the layer."""
    op = layer
    while True:
        takers = [
            taker for taker in op.outputs[0].consumers() if taker.inputs[0] is op.outputs[0] or taker.type == "Mul"
        ]
        bias = next((taker for taker in takers if taker.type == "BiasAdd" or _adds_bias(taker)), None)
        if bias is not None:
            return bias
        on = [taker for taker in takers if taker.type in _HANDED_ON or _corrects(taker)]
        if not on:
            return layer
        op = on[0]


def _corrects(op: Any) -> bool:
    """Whether ``op`` is of the correction of a folded normalization."""
    return _is_named(op, "post_conv_mul", "correction_add")


def _adds_bias(op: Any) -> bool:
    if op.type not in _ADDITIONS:
        return False
    return _is_named(op, "add_fold") or is_read(op.inputs[1])


def _with_activation(layer: _Layer) -> _Layer:
    output = layer.biased.outputs[0]
    found = _activation_of(output)
    added = None
    if found is None:
        for taker in output.consumers():
            if taker.type in _ADDITIONS and _activation_of(taker.outputs[0]) is not None:
                added, found = taker, _activation_of(taker.outputs[0])
                break
    if found is None:
        return layer
    after = next((taker for taker in found.outputs[0].consumers() if taker.type in _ADDITIONS), None)
    if after is not None and _activation_of(after.outputs[0]) is not None:
        after = None  # the activation after it is quantized
    return replace(layer, sum=added, activation=found, sum_after=after)


def _activation_of(tensor: Any) -> Any:
    return next((op for op in tensor.consumers() if op.type in _ACTIVATIONS), None)
