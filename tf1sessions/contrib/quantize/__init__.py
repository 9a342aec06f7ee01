"""``tf.contrib.quantize``: graphs that compute as if weights and activations had few bits.

Files::

    quantize_graph.py   what programs call: a graph is rewritten in place, for training or for evaluation
    fold_batch_norms.py   batch normalizations, which become part of the layers before them
    insertion.py        which tensors of a graph are quantized
    quant_ops.py        one tensor: its range, and the operation that rounds it
    step.py             the variable that counts the runs, for what begins later
"""

from .quantize_graph import (
    create_eval_graph,
    create_training_graph,
    experimental_create_eval_graph,
    experimental_create_training_graph,
)

__all__ = [
    "create_eval_graph",
    "create_training_graph",
    "experimental_create_eval_graph",
    "experimental_create_training_graph",
]
