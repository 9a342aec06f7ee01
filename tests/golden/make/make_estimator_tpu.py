"""Records what tests/estimator/tpu_cases.py does on genuine TensorFlow 1.15.5: ``python make_estimator_tpu.py``."""

import os

from folders import DATA

# isort: split
import tensorflow as tf
import tpu_cases
from contrib_record import save
from tensorflow import contrib

save(os.path.join(DATA, "estimator", "tpu.json.gz"), tpu_cases.run(tf, contrib))
