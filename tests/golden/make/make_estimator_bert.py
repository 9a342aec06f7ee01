"""Records what tests/estimator/bert_like.py does on genuine TensorFlow 1.15.5: ``python make_estimator_bert.py``.

Writes estimator/bert.json.gz in ../data. The program's first run writes the records, trains and evaluates; the
second one goes on from its checkpoint. Both begin with the values of ``init_checkpoint``, which are made from the
variables' names.
"""

import os
import subprocess
import sys
import tempfile

from folders import DATA, TESTS

# isort: split
from contrib_record import save, values

PROGRAM = os.path.join(TESTS, "estimator", "bert_like.py")
COMMON = ["--noshuffle", "--dropout=0", "--do_train", "--do_eval"]
RUNS = [["--do_write", "--num_train_steps=12"], ["--num_train_steps=20", "--do_predict"]]

SHAPES = {"bert/embeddings/word_embeddings": [40, 16], "bert/embeddings/token_type_embeddings": [2, 16]}
SHAPES.update({"bert/embeddings/position_embeddings": [64, 16], "loss/output_weights": [2, 16]})
SHAPES.update({"loss/output_bias": [2]})


def _dense(scope, inputs, outputs):
    SHAPES.update({scope + "/kernel": [inputs, outputs], scope + "/bias": [outputs]})


def _norm(scope):
    SHAPES.update({scope + "/LayerNorm/beta": [16], scope + "/LayerNorm/gamma": [16]})


_dense("bert/pooler/dense", 16, 16)
_norm("bert/embeddings")
for _layer in ("bert/encoder/layer_0", "bert/encoder/layer_1"):
    for _part in ("query", "key", "value"):
        _dense("%s/attention/self/%s" % (_layer, _part), 16, 16)
    _dense(_layer + "/attention/output/dense", 16, 16)
    _dense(_layer + "/intermediate/dense", 16, 32)
    _dense(_layer + "/output/dense", 32, 16)
    _norm(_layer + "/attention/output")
    _norm(_layer + "/output")


def make_checkpoint(tf, path):
    """A checkpoint with a value for each variable of the model: around 0, and around 1 for gamma."""
    with tf.Graph().as_default(), tf.Session() as session:
        for name, shape in sorted(SHAPES.items()):
            value = values(name, shape) - 0.6
            initial = (1.0 + 0.1 * value) if name.endswith("gamma") else 0.4 * value
            tf.get_variable(name, initializer=initial.astype("float32"))
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, path)


def read(folder):
    """What the program wrote to its output folder."""

    def lines(name):
        with open(os.path.join(folder, name)) as file:
            return file.read().splitlines()

    return {
        "losses": [float(line) for line in lines("losses.txt")],
        "results": {line.split(" = ")[0]: float(line.split(" = ")[1]) for line in lines("eval_results.txt")},
        "checkpoint": lines("checkpoint"),
    }


def run(command, folder, checkpoint):
    """Both runs of the program, by ``command``; what they wrote, and the predictions."""
    found = []
    for arguments in RUNS:
        places = ["--data_dir", folder, "--output_dir", os.path.join(folder, "out"), "--init_checkpoint", checkpoint]
        done = subprocess.run(
            command(COMMON + arguments + places), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=150
        )
        if done.returncode:
            raise RuntimeError(done.stdout.decode()[-4000:])
        found.append(read(os.path.join(folder, "out")))
    with open(os.path.join(folder, "out", "test_results.tsv")) as file:
        predictions = [[float(field) for field in line.split("\t")] for line in file]
    return {"runs": found, "predictions": predictions}


def variables(tf, folder):
    return [[name, shape] for name, shape in tf.train.list_variables(os.path.join(folder, "out"))]


if __name__ == "__main__":
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        recorded = run(
            lambda arguments: [sys.executable, PROGRAM] + arguments,
            folder,
            make_checkpoint(tf, os.path.join(folder, "init.ckpt")),
        )
        recorded["variables"] = variables(tf, folder)
    save(os.path.join(DATA, "estimator", "bert.json.gz"), recorded)
