"""Records the programs of estimator_boosted_programs.py with genuine TensorFlow 1.15.5: estimator_boosted.json.gz."""

import os

import tensorflow as tf
from contrib_record import save
from estimator_boosted_programs import PROGRAMS, boosted

tf.logging.set_verbosity(tf.logging.ERROR)
save(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "estimator_boosted.json.gz"),
    {name: boosted(tf, tf.estimator, *program) for name, program in sorted(PROGRAMS.items())},
)
