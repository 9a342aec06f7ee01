"""``tf.contrib.tensorboard``: what programs write for plugins of TensorBoard.

Files::

    plugins/  its plugins
"""

from . import plugins

__all__ = ["plugins"]
