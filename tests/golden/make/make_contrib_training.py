"""Runs the table of contrib.training programs on genuine TensorFlow 1.15 and keeps what they return.

    python tests/golden/make/make_contrib_training.py

To be run with the Python of an environment that has TensorFlow 1.15.
"""

import os

from folders import DATA

# isort: split
import tensorflow as tf
import training_cases
from contrib_record import save
from tensorflow.contrib import training

save(os.path.join(DATA, "contrib", "training.json.gz"), training_cases.run(tf, training))
