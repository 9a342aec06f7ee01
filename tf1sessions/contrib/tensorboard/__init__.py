"""``tf.contrib.tensorboard``: what programs write for plugins of TensorBoard."""

from . import plugins

__all__ = ["plugins"]
