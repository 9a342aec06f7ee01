"""Records the cases of the canned estimators with genuine TensorFlow 1.15.5: ``python make_estimator_canned.py``.

Writes estimator_canned.json.gz beside this file, from the cases in estimator_canned_cases.py.
"""

import os
import sys

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
save(os.path.join(os.path.dirname(os.path.abspath(__file__)), "estimator_canned.json.gz"), recorded)
