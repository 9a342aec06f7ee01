"""Records the cases of the canned estimators with genuine TensorFlow 1.15.5: ``python make_estimator_canned.py``.

Writes estimator_canned.json.gz in ../data, from the cases in estimator_canned_cases.py.
"""

import os
import sys

from folders import DATA

# isort: split
import tensorflow as tf
from estimator_canned_cases import CASES
from estimator_canned_record import record, save
from tensorflow.contrib import estimator as contrib

tf.logging.set_verbosity(tf.logging.ERROR)
recorded = {}
for key in sorted(CASES):
    try:
        recorded[key] = record(tf, tf.estimator, contrib, CASES[key])
    except Exception:
        print("case", key, file=sys.stderr)
        raise
save(os.path.join(DATA, "estimator_canned.json.gz"), recorded)
