"""Writes contrib/timeseries.json.gz with genuine TensorFlow 1.15.5: ``python make_contrib_timeseries.py``.

The cases are tests/contrib/timeseries_cases.py.
"""

import os

from folders import DATA

# isort: split
import tensorflow as tf
import timeseries_cases
from contrib_record import save

save(os.path.join(DATA, "contrib", "timeseries.json.gz"), timeseries_cases.run(tf, tf.contrib))
