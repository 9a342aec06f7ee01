"""Runs the programs of estimator_boosted_programs.py with genuine TensorFlow 1.15.5.

Writes estimator_boosted.json.gz (the results) and estimator_boosted_checkpoints.tar.gz (folders without graphs).
"""

import io
import os
import tarfile
import tempfile

from folders import DATA

# isort: split
import tensorflow as tf
from contrib_record import save
from estimator_boosted_programs import CHECKPOINTS, PROGRAMS, boosted, input_fn, results

tf.logging.set_verbosity(tf.logging.ERROR)
found = {name: boosted(tf, tf.estimator, *program) for name, program in sorted(PROGRAMS.items())}
found["checkpoints"] = {}
with tarfile.open(os.path.join(DATA, "estimator_boosted_checkpoints.tar.gz"), "w:gz") as archive:
    for name, (make, labels, steps) in sorted(CHECKPOINTS.items()):
        folder = tempfile.mkdtemp()
        model = make(tf, tf.estimator, model_dir=folder)
        model.train(lambda labels=labels: input_fn(tf, labels), max_steps=steps)
        files = {"checkpoint": b'model_checkpoint_path: "model.ckpt-%d"\n' % steps}
        for file_name in os.listdir(folder):
            if file_name.startswith("model.ckpt-%d." % steps) and not file_name.endswith(".meta"):
                with open(os.path.join(folder, file_name), "rb") as file:
                    files[file_name] = file.read()
        for path, content in sorted(files.items()):
            info = tarfile.TarInfo("%s/%s" % (name, path))
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        moments = {"restored": results(tf, model, labels, name == "classifier")}
        model.train(lambda labels=labels: input_fn(tf, labels), max_steps=50)
        moments["resumed"] = results(tf, model, labels)
        found["checkpoints"][name] = moments
save(os.path.join(DATA, "estimator_boosted.json.gz"), found)
