"""``tf.contrib.tensorboard.plugins``.

Files::

    projector.py  which embeddings the projector shows
"""

from . import projector

__all__ = ["projector"]
