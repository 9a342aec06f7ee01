"""``tf.contrib.training``: HParams, training and evaluation loops, batches by bucket."""

from .hparam import HParams, parse_values

__all__ = ["HParams", "parse_values"]
