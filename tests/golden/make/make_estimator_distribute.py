"""Records what tests/estimator/distribute_cases.py does on genuine TensorFlow 1.15.5.

    python tests/golden/make/make_estimator_distribute.py

writes ``estimator/distribute.json.gz``.
"""

import os

from folders import DATA

# isort: split
import distribute_cases
import tensorflow as tf
from contrib_record import save

save(os.path.join(DATA, "estimator", "distribute.json.gz"), distribute_cases.run(tf, tf.estimator))
