"""``tf.contrib.metrics``: metrics that stream over batches, as pairs of a value and an operation that updates it.

Files::

    accumulated.py  areas under curves, of all values
    common.py       local variables, collections
    metric_ops.py   streaming_accuracy and its kin
    thresholds.py   counts at thresholds
"""

from . import accumulated, metric_ops, thresholds
from .accumulated import *  # noqa: F403
from .metric_ops import *  # noqa: F403
from .thresholds import *  # noqa: F403

__all__ = sorted({*accumulated.__all__, *metric_ops.__all__, *thresholds.__all__} - {"AucData", "PrecisionRecallData"})
