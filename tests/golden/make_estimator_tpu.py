"""Records what tests/estimator/tpu_cases.py does on genuine TensorFlow 1.15.5: ``python make_estimator_tpu.py``."""

import os
import sys

import tensorflow as tf
from contrib_record import save
from tensorflow import contrib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "estimator"))
import tpu_cases  # noqa: E402

save(os.path.join(HERE, "estimator", "tpu.json.gz"), tpu_cases.run(tf, contrib))
