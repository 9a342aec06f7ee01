"""What the programs of estimator_canned_programs.py do with the checkpoints that 1.15.5 wrote, as JSON.

``python canned_programs_checks.py FOLDER``: a folder with a model_dir for each; in a TensorFlow 2 program.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

from estimator_canned_programs import PROGRAMS, input_fn, results

from tf1sessions import estimator
from tf1sessions import tf1 as tf

tf.logging.set_verbosity(tf.logging.ERROR)
found = {}
for name, (make, labels) in PROGRAMS.items():
    config = estimator.RunConfig(model_dir=f"{sys.argv[1]}/{name}", tf_random_seed=1)
    model = make(tf, estimator, config=config)
    found[name] = {"restored": results(tf, model, labels)}
    warm = make(tf, estimator, config=estimator.RunConfig(tf_random_seed=1), warm_start_from=model.model_dir)
    model.train(lambda labels=labels: input_fn(tf, labels), steps=3)
    found[name]["resumed"] = results(tf, model, labels)
    warm.train(lambda labels=labels: input_fn(tf, labels), steps=1)
    values = [model.get_variable_value(key) for key in model.get_variable_names() if key.endswith("kernel")]
    warmed = [warm.get_variable_value(key) for key in warm.get_variable_names() if key.endswith("kernel")]
    found[name]["warm"] = max(float(abs(a - b).max()) for a, b in zip(values, warmed, strict=True))
print(json.dumps(found))
