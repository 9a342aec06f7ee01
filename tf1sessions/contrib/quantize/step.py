"""The variable that counts the runs of a rewritten graph, for what begins or ends after some."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["counted_step"]

_NAME = "fake_quantization_step"


def counted_step() -> Any:
    """Return the number of this run of the default graph, from 1, int64; what reads it counts the run."""
    graph = tf.get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_NAME}/Identity:0")
    except KeyError:
        pass
    outermost = tf.variable_scope(tf.VariableScope(False, name=""), auxiliary_name_scope=False)
    with graph.name_scope(None), graph.control_dependencies(None), outermost:
        step = tf.get_variable(
            _NAME, [], tf.int64, tf.zeros_initializer(), trainable=False, collections=[tf.GraphKeys.GLOBAL_VARIABLES]
        )
        with tf.name_scope(f"{_NAME}/"):
            return tf.identity(tf.assign_add(step, 1, name="AssignAdd"), name="Identity")
