"""Prints what boosted trees do, as JSON; the folder with 1.15.5's checkpoints is the argument."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "golden" / "cases"))

import estimator_boosted_programs as trees
from collector import collect_rarely

from tf1sessions import contrib, estimator
from tf1sessions import tf1 as tf
from tf1sessions.estimator.canned.boosted_trees import boosted_trees_classifier_train_in_memory as train_in_memory

fc = tf.feature_column


def checkpoints(folder: str) -> dict[str, Any]:
    """What 1.15.5's checkpoints give here, what they give after more training, and what is in our checkpoints."""
    found = {}
    for name, (make, labels, steps) in trees.CHECKPOINTS.items():
        original = f"{folder}/{name}"
        model = make(tf, estimator, model_dir=original)
        moments: dict[str, Any] = {"restored": trees.results(tf, model, labels, name == "classifier")}
        moments["saved again"] = saved_again(model, labels) == entries(f"{original}/model.ckpt-{steps}")
        moments["served"] = served(model)
        model.train(lambda labels=labels: trees.input_fn(tf, labels), max_steps=50)
        moments["resumed"] = trees.results(tf, model, labels)
        moments["keys"] = [
            sorted(entries(path)) for path in (f"{original}/model.ckpt-{steps}", model.latest_checkpoint())
        ]
        found[name] = moments
    return found


def entries(checkpoint: str) -> dict[str, Any]:
    """Key -> dtype, shape and bytes."""
    reader = tf.train.load_checkpoint(checkpoint)
    values = {key: reader.get_tensor(key) for key in reader.get_variable_to_shape_map()}
    return {
        key: (
            str(getattr(value, "dtype", "")),
            getattr(value, "shape", ()),
            getattr(value, "tobytes", lambda v=value: v)(),
        )
        for key, value in values.items()
    }


def saved_again(model: Any, labels: Any) -> dict[str, Any]:
    """The entries of a checkpoint that is written as soon as the model's latest is read."""
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.create_global_step()
        features, labels = tf.data.make_one_shot_iterator(trees.input_fn(tf, labels)).get_next()
        model.model_fn(features, labels, "train", model.config)
        saver = tf.train.Saver()
        saver.restore(session, model.latest_checkpoint())
        return entries(saver.save(session, f"{folder}/again"))


def served(model: Any) -> list[float]:
    """What the model's SavedModel predicts."""

    def receiver_fn() -> Any:
        raw = {
            name: tf.placeholder((trees.FEATURES[name].dtype.kind == "U" and tf.string) or tf.float32, [None])
            for name in "abc"
        }
        return estimator.export.ServingInputReceiver(raw, raw)

    path = model.export_saved_model(tempfile.mkdtemp(), receiver_fn)
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.load(session, ["serve"], path).signature_def["predict"]
        inputs = {info.name: trees.FEATURES[key] for key, info in signature.inputs.items()}
        output = signature.outputs.get("logits") or signature.outputs["predictions"]
        answers: list[float] = session.run(output.name, inputs).ravel().tolist()
        return answers


def in_memory() -> list[Any]:
    """The metrics of a program when its data are in memory, from a dataset that is never repeated."""
    _make, labels, _, _ = trees.PROGRAMS["classifier"]
    model = train_in_memory(
        lambda: tf.data.Dataset.from_tensors((trees.FEATURES, labels)), trees.columns(tf, "abc"), n_trees=2, max_depth=2
    )
    return [type(model).__name__, trees.results(tf, model, labels), train_in_memory is contrib_train_in_memory()]


def contrib_train_in_memory() -> Any:
    return contrib.estimator.boosted_trees_classifier_train_in_memory


def with_head() -> list[float]:
    """A regressor's loss, and that of trees with the head of a regressor."""
    arguments = {"n_batches_per_layer": 1, "n_trees": 1, "max_depth": 1}
    losses = []
    for make in (
        lambda columns: estimator.BoostedTreesRegressor(columns, **arguments),
        lambda columns: estimator.BoostedTreesEstimator(columns, head=estimator.RegressionHead(), **arguments),
    ):
        model = make(trees.columns(tf, "ab"))
        model.train(lambda: trees.input_fn(tf, trees.NUMBERS))
        losses.append(float(model.evaluate(lambda: trees.input_fn(tf, trees.NUMBERS), steps=1)["average_loss"]))
    return losses


def wrongly_accepted() -> dict[str, str]:
    """What should be refused, and is not, or with another message."""
    x = fc.numeric_column("a")
    c = fc.categorical_column_with_vocabulary_list("c", ["a", "b"])
    bucketized = fc.bucketized_column(x, [0.5])
    classifier, regressor = estimator.BoostedTreesClassifier, estimator.BoostedTreesRegressor

    def train(n_batches_per_layer: Any = 1, **arguments: Any) -> None:
        model = classifier([bucketized, x], n_batches_per_layer, **arguments)
        model.train(lambda: trees.input_fn(tf, trees.CLASSES), steps=1)

    refused = {
        "no columns": (lambda: classifier([], 1), ValueError, "nonempty"),
        "not columns": (lambda: classifier(None, 1), TypeError, "iterable"),
        "twice": (lambda: classifier([x, x], 1), ValueError, "Duplicate"),
        "categorical column": (lambda: classifier([c], 1), ValueError, "IndicatorColumn"),
        "embedding": (lambda: classifier([fc.embedding_column(c, 2)], 1), ValueError, "indicator"),
        "classes": (lambda: classifier([bucketized], 1, n_classes=3), ValueError, "multi class"),
        "class": (lambda: classifier([bucketized], 1, n_classes=1), ValueError, "binary"),
        "dimension": (lambda: regressor([bucketized], 1, label_dimension=2), ValueError, "multi-dimension"),
        "depth": (lambda: train(max_depth=0), ValueError, "max_depth"),
        "complexity": (lambda: train(tree_complexity=0.1), ValueError, "pruning mode"),
        "no complexity": (lambda: train(pruning_mode="post"), ValueError, "tree_complexity"),
        "pruning": (lambda: train(pruning_mode="x"), ValueError, "pruning_mode"),
        "epsilon": (lambda: train(quantile_sketch_epsilon=1.5), ValueError, "quantile_sketch_epsilon"),
        "half a batch": (lambda: train(0.5), TypeError, "n_batches_per_layer"),
        "in memory": (lambda: train(2, train_in_memory=True), AssertionError, "train_in_memory"),
        "untrained": (lambda: classifier([bucketized], 1).experimental_feature_importances(), ValueError, "trained"),
        "not centered": (
            lambda: next(classifier([bucketized], 1).experimental_predict_with_explanations(lambda: None)),
            ValueError,
            "center_bias",
        ),
    }
    wrong = {}
    for name, (call, error, word) in refused.items():
        try:
            call()
        except error as caught:
            if word not in str(caught):
                wrong[name] = str(caught)
        else:
            wrong[name] = "accepted"
    return wrong


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    collect_rarely()
    folder = tempfile.mkdtemp()
    shutil.copytree(sys.argv[1], folder, dirs_exist_ok=True)
    found = {
        "checkpoints": checkpoints(folder),
        "refused": wrongly_accepted(),
        "in memory": in_memory(),
        "head": with_head(),
    }
    if "all" in sys.argv:
        found["programs"] = {name: trees.boosted(tf, estimator, *program) for name, program in trees.PROGRAMS.items()}
    print(json.dumps(found))
