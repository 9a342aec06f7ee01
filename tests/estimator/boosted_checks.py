"""What the programs of estimator_boosted_programs.py do in a TensorFlow 2 program, as JSON.

Besides, under "resumed": what a model predicts that was trained in two goes, and what its SavedModel does.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

from estimator_boosted_programs import FEATURES, NUMBERS, PROGRAMS, boosted, columns

from tf1sessions import estimator
from tf1sessions import tf1 as tf

tf.logging.set_verbosity(tf.logging.ERROR)
found = {name: boosted(tf, estimator, *program) for name, program in PROGRAMS.items()}


def input_fn():
    return tf.data.Dataset.from_tensors((FEATURES, NUMBERS)).repeat()


def receiver_fn():
    raw = {name: tf.placeholder(tf.float32, [None], name=name) for name in "ab"}
    return estimator.export.ServingInputReceiver(raw, raw)


model = estimator.BoostedTreesRegressor(columns(tf, "ab"), 1, n_trees=2, max_depth=3)
for steps in (1, 3):
    model.train(input_fn, steps=steps)
predicted = [float(one["predictions"][0]) for one in model.predict(lambda: tf.data.Dataset.from_tensors(FEATURES))]
path = model.export_saved_model(tempfile.mkdtemp(), receiver_fn)
with tf.Graph().as_default(), tf.Session() as session:
    loaded = tf.saved_model.load(session, ["serve"], path)
    output = loaded.signature_def["predict"].outputs["predictions"].name
    inputs = {info.name: FEATURES[key] for key, info in loaded.signature_def["predict"].inputs.items()}
    served = session.run(output, inputs).ravel().tolist()
found["resumed"] = {"predicted": predicted, "served": served}
print(json.dumps(found))
