"""Runs canned estimators in a TensorFlow 2 program, and prints what they do as JSON: ``canned_checks.py FOLDER``.

FOLDER has a model_dir for each program of estimator_canned_programs.py, with the checkpoint that 1.15.5 wrote.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

import estimator_boosted_programs as trees
import estimator_canned_programs as canned

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


def resumed_trees() -> dict[str, Any]:
    """What a model predicts that was trained in two goes, and what its SavedModel does."""

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors((trees.FEATURES, trees.NUMBERS)).repeat()

    def receiver_fn() -> Any:
        raw = {name: tf.placeholder(tf.float32, [None], name=name) for name in "ab"}
        return estimator.export.ServingInputReceiver(raw, raw)

    model = estimator.BoostedTreesRegressor(trees.columns(tf, "ab"), 1, n_trees=2, max_depth=3)
    for steps in (1, 3):
        model.train(input_fn, steps=steps)
    predicted = [
        one["predictions"].item() for one in model.predict(lambda: tf.data.Dataset.from_tensors(trees.FEATURES))
    ]
    path = model.export_saved_model(tempfile.mkdtemp(), receiver_fn)
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.load(session, ["serve"], path).signature_def["predict"]
        inputs = {info.name: trees.FEATURES[key] for key, info in signature.inputs.items()}
        served = session.run(signature.outputs["predictions"].name, inputs).ravel().tolist()
    return {"predicted": predicted, "served": served}


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
    c = fc.categorical_column_with_vocabulary_list("c", ["a", "b"])
    bucketized = fc.bucketized_column(x, [0.5])
    classifier, regressor, binary = (
        estimator.BoostedTreesClassifier,
        estimator.BoostedTreesRegressor,
        estimator.BinaryClassHead,
    )
    refused = {
        "no columns": (lambda: classifier([], 1), ValueError, "nonempty"),
        "categorical column": (lambda: classifier([c], 1), ValueError, "IndicatorColumn"),
        "embedding": (lambda: classifier([fc.embedding_column(c, 2)], 1), ValueError, "indicator"),
        "classes": (lambda: classifier([bucketized], 1, n_classes=3), ValueError, "multi class"),
        "trees": (lambda: classifier([bucketized], 1, n_trees=0), ValueError, "n_trees"),
        "complexity": (lambda: classifier([bucketized], 1, tree_complexity=0.1), ValueError, "pruning mode"),
        "no complexity": (lambda: classifier([bucketized], 1, pruning_mode="pre"), ValueError, "tree_complexity"),
        "pruning": (lambda: classifier([bucketized], 1, pruning_mode="x"), ValueError, "pruning_mode"),
        "dimension": (lambda: regressor([bucketized], 1, label_dimension=2), ValueError, "multi-dimension"),
        "untrained": (lambda: classifier([bucketized], 1).experimental_feature_importances(), ValueError, "trained"),
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
    found = {
        "restored": restored(sys.argv[1]),
        "trees": {name: trees.boosted(tf, estimator, *program) for name, program in trees.PROGRAMS.items()},
        "resumed trees": resumed_trees(),
        "wrongly accepted": wrongly_accepted(),
        "parsing specs": parsing_specs(),
    }
    print(json.dumps(found))
