"""Records what tests/contrib/learn_cases.py does on genuine TensorFlow 1.15.5: ``python make_contrib_learn.py``."""

import os
import sys

import tensorflow as tf
from contrib_record import save
from tensorflow import contrib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "contrib"))
import learn_cases  # noqa: E402

save(os.path.join(HERE, "contrib", "learn.json.gz"), learn_cases.run(tf, contrib))
