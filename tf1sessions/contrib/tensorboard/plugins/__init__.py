"""``tf.contrib.tensorboard.plugins``."""

from . import projector

__all__ = ["projector"]
