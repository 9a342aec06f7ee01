"""Trains the programs of estimator_canned_programs.py with genuine TensorFlow 1.15.5, and packs their checkpoints.

Writes estimator_canned_checkpoints.tar.gz (a folder each, without graphs) and estimator_canned_results.json.gz beside
this file: what each predicts, and what it predicts after three more steps.
"""

import io
import os
import tarfile
import tempfile

from folders import DATA

# isort: split
import tensorflow as tf
from contrib_record import save
from estimator_canned_programs import PROGRAMS, input_fn, results

STEPS = 20
tf.logging.set_verbosity(tf.logging.ERROR)
found = {}
with tarfile.open(os.path.join(DATA, "estimator_canned_checkpoints.tar.gz"), "w:gz") as archive:
    for name, (make, labels) in sorted(PROGRAMS.items()):
        folder = tempfile.mkdtemp()
        config = tf.estimator.RunConfig(model_dir=folder, tf_random_seed=7)
        model = make(tf, tf.estimator, config=config)
        model.train(lambda labels=labels: input_fn(tf, labels), steps=STEPS)
        files = {"checkpoint": b'model_checkpoint_path: "model.ckpt-%d"\n' % STEPS}
        for file_name in os.listdir(folder):
            if file_name.startswith("model.ckpt-%d." % STEPS) and not file_name.endswith(".meta"):
                with open(os.path.join(folder, file_name), "rb") as file:
                    files[file_name] = file.read()
        for path, content in sorted(files.items()):
            info = tarfile.TarInfo("%s/%s" % (name, path))
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        found[name] = {"restored": results(tf, model, labels)}
        model.train(lambda labels=labels: input_fn(tf, labels), steps=3)
        found[name]["resumed"] = results(tf, model, labels)
save(os.path.join(DATA, "estimator_canned_results.json.gz"), found)
