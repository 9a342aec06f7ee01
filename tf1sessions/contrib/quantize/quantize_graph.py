"""Functions that programs call: the default graph, or another one, is rewritten in place."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from . import fold_batch_norms, insertion
from .quant_ops import Settings

__all__ = [
    "create_eval_graph",
    "create_training_graph",
    "experimental_create_eval_graph",
    "experimental_create_training_graph",
]


def create_training_graph(input_graph: Any = None, quant_delay: int = 0) -> None:
    """Rewrite a graph so that it is trained as if weights and activations had 8 bits.

    Batch normalizations become part of the layers before them. Call this before the gradients are made, and from one
    thread.

    Args:
        input_graph: The graph; the default graph, if it is None.
        quant_delay: Runs of the graph before anything is rounded.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     weights = tf.get_variable("weights", [2, 1], initializer=tf.constant_initializer([[1.0], [0.3]]))
        ...     bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
        ...     output = tf.nn.bias_add(tf.matmul(tf.constant([[1.0, 0.0]]), weights, name="layer/MatMul"), bias)
        ...     t1.contrib.quantize.create_training_graph()
        ...     [variable.op.name for variable in tf.global_variables()][2:4]
        ['layer/weights_quant/min', 'layer/weights_quant/max']
    """
    _rewrite(input_graph, Settings(True, delay=quant_delay), None, None)


def create_eval_graph(input_graph: Any = None) -> None:
    """Rewrite a graph so that it computes as if weights and activations had 8 bits, with the ranges of a checkpoint.

    Args:
        input_graph: The graph; the default graph, if it is None.
    """
    _rewrite(input_graph, Settings(False), None, None)


def experimental_create_training_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """Rewrite a graph as :func:`create_training_graph` does, with more to choose.

    Args:
        input_graph: The graph; the default graph, if it is None.
        weight_bits: Of weights.
        activation_bits: Of activations.
        symmetric: Let ranges have 0 in their middle.
        quant_delay: Runs of the graph before anything is rounded.
        freeze_bn_delay: Runs after which normalizations keep their moving averages and use them; None, if never.
        scope: The beginning of the names of the operations that are looked at; None, if all are.
    """
    settings = Settings(True, weight_bits, activation_bits, symmetric, quant_delay)
    _rewrite(input_graph, settings, freeze_bn_delay, scope)


def experimental_create_eval_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """Rewrite a graph as :func:`create_eval_graph` does, with more to choose.

    Args:
        input_graph: The graph; the default graph, if it is None.
        weight_bits: Of weights.
        activation_bits: Of activations.
        symmetric: Let ranges have 0 in their middle.
        quant_delay: Runs of the graph before anything is rounded.
        scope: The beginning of the names of the operations that are looked at; None, if all are.
    """
    _rewrite(input_graph, Settings(False, weight_bits, activation_bits, symmetric, quant_delay), None, scope)


def _rewrite(graph: Any, settings: Settings, freeze_delay: int | None, scope: str | None) -> None:
    graph = tf.get_default_graph() if graph is None else graph
    with graph.as_default():
        fold_batch_norms.fold(graph, freeze_delay)
        insertion.insert(graph, settings, scope)
