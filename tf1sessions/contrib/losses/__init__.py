"""``tf.contrib.losses``: the older losses, and those for embeddings, in metric_learning.py.

Files::

    loss_ops.py         the older losses
    metric_learning.py  losses for embeddings
"""

from . import loss_ops, metric_learning
from .loss_ops import *  # noqa: F403

__all__ = [*loss_ops.__all__, "metric_learning"]

__all__.sort()
