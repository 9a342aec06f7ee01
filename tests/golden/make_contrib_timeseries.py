"""Writes contrib/timeseries.json.gz with genuine TensorFlow 1.15.5: ``python make_contrib_timeseries.py``.

The cases are tests/contrib/timeseries_cases.py.
"""

import os
import sys

import tensorflow as tf
from contrib_record import save

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "contrib"))
import timeseries_cases  # noqa: E402

save(os.path.join(HERE, "contrib", "timeseries.json.gz"), timeseries_cases.run(tf, tf.contrib))
