"""Runs canned estimators in a TensorFlow 2 program, and prints what they do as JSON: ``canned_checks.py FOLDER``.

FOLDER has a model_dir for each program of estimator_canned_programs.py, with the checkpoint that 1.15.5 wrote.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "golden" / "cases"))

import estimator_canned_programs as canned
from collector import collect_rarely

from tf1sessions import estimator
from tf1sessions import tf1 as tf

fc = tf.feature_column


def restored(folder: str) -> dict[str, Any]:
    """What 1.15.5's checkpoints predict, and what they predict after more steps here; and how near a warm start is."""
    found = {}
    for name, (make, labels) in canned.PROGRAMS.items():
        model = make(tf, estimator, config=estimator.RunConfig(model_dir=f"{folder}/{name}", tf_random_seed=1))
        moments = {"restored": canned.results(tf, model, labels)}
        warm = make(tf, estimator, config=estimator.RunConfig(tf_random_seed=1), warm_start_from=model.model_dir)
        model.train(lambda labels=labels: canned.input_fn(tf, labels), steps=3)
        moments["resumed"] = canned.results(tf, model, labels)
        warm.train(lambda labels=labels: canned.input_fn(tf, labels), steps=1)
        kernels = [name for name in model.get_variable_names() if name.endswith("kernel")]
        moments["warm"] = max(
            float(abs(model.get_variable_value(name) - warm.get_variable_value(name)).max()) for name in kernels
        )
        found[name] = moments
    return found


def spec_of(head: Any, mode: str = "train", **arguments: Any) -> Any:
    with tf.Graph().as_default():
        tf.train.create_global_step()
        logits = tf.get_variable("logits", [2, 1])
        return head.create_estimator_spec(
            features={"w": tf.constant([1.0, 2.0])},
            mode=mode,
            logits=logits,
            labels=tf.constant([[0], [1]]),
            **arguments,
        )


def wrongly_accepted() -> dict[str, str]:
    """What should be refused, and is not, or with another message."""
    x = fc.numeric_column("x")
    binary = estimator.BinaryClassHead
    refused = {
        "argument": (lambda: estimator.DNNClassifier([1], [x], nope=1), TypeError, "nope"),
        "head's classes": (lambda: estimator.MultiClassHead(2), ValueError, "n_classes"),
        "words": (lambda: estimator.MultiClassHead(3, label_vocabulary=["a"]), ValueError, "label_vocabulary"),
        "head's names": (lambda: estimator.MultiHead([binary()]), ValueError, "name"),
        "no optimizer": (lambda: spec_of(binary()), ValueError, "both be None"),
        "two optimizers": (
            lambda: spec_of(binary(), optimizer=tf.train.AdamOptimizer(), train_op_fn=lambda loss: tf.no_op()),
            ValueError,
            "both be set",
        ),
        "weight column": (lambda: spec_of(binary(weight_column=3)), TypeError, "Weight column"),
        "label": (lambda: estimator.classifier_parse_example_spec([x], "x"), ValueError, "label"),
        "weight": (lambda: estimator.regressor_parse_example_spec([x], "y", weight_column="x"), ValueError, "weight"),
        "no label": (lambda: estimator.regressor_parse_example_spec([x], None), ValueError, "label_key"),
    }
    wrong = {}
    for name, (call, error, word) in refused.items():
        try:
            call()
        except error as raised:
            if word not in str(raised):
                wrong[name] = str(raised)
        else:
            wrong[name] = "no error"
    return wrong


def parsing_specs() -> list[str]:
    x, c = fc.numeric_column("x"), fc.categorical_column_with_vocabulary_list("c", ["a", "b"])
    specs = (
        estimator.classifier_parse_example_spec([x, c], "y", label_dtype=tf.string, weight_column="w"),
        estimator.regressor_parse_example_spec([x], "y", label_default=0.0, label_dimension=2),
    )
    return [str(sorted(spec.items())) for spec in specs]


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    collect_rarely()
    found = {
        "restored": restored(sys.argv[1]),
        "wrongly accepted": wrongly_accepted(),
        "parsing specs": parsing_specs(),
    }
    print(json.dumps(found))
