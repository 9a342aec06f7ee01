"""What canned estimators refuse, and their parsing specs; prints what is wrong as JSON."""

from __future__ import annotations

import json
from typing import Any

from tf1sessions import estimator
from tf1sessions import tf1 as tf

fc = tf.feature_column
x = fc.numeric_column("x")
c = fc.categorical_column_with_vocabulary_list("c", ["a", "b"])
bucketized = fc.bucketized_column(x, [0.5])
Trees = estimator.BoostedTreesClassifier
wrong: dict[str, Any] = {}


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


#: what is done -> (the error, a word of its message)
REFUSED = {
    "no columns": (lambda: Trees([], 1), ValueError, "nonempty"),
    "categorical column": (lambda: Trees([c], 1), ValueError, "IndicatorColumn"),
    "embedding": (lambda: Trees([fc.embedding_column(c, 2)], 1), ValueError, "indicator"),
    "classes": (lambda: Trees([bucketized], 1, n_classes=3), ValueError, "multi class"),
    "trees": (lambda: Trees([bucketized], 1, n_trees=0), ValueError, "n_trees"),
    "complexity": (lambda: Trees([bucketized], 1, tree_complexity=0.1), ValueError, "pruning mode"),
    "no complexity": (lambda: Trees([bucketized], 1, pruning_mode="pre"), ValueError, "tree_complexity"),
    "pruning": (lambda: Trees([bucketized], 1, pruning_mode="x"), ValueError, "pruning_mode"),
    "dimension": (
        lambda: estimator.BoostedTreesRegressor([bucketized], 1, label_dimension=2),
        ValueError,
        "multi-dimension",
    ),
    "importances": (lambda: Trees([bucketized], 1).experimental_feature_importances(), ValueError, "trained model"),
    "argument": (lambda: estimator.DNNClassifier([1], [x], nope=1), TypeError, "nope"),
    "head's classes": (lambda: estimator.MultiClassHead(2), ValueError, "n_classes"),
    "words": (lambda: estimator.MultiClassHead(3, label_vocabulary=["a"]), ValueError, "label_vocabulary"),
    "head's names": (lambda: estimator.MultiHead([estimator.BinaryClassHead()]), ValueError, "name"),
    "no optimizer": (lambda: spec_of(estimator.BinaryClassHead()), ValueError, "both be None"),
    "two optimizers": (
        lambda: spec_of(
            estimator.BinaryClassHead(), optimizer=tf.train.AdamOptimizer(), train_op_fn=lambda loss: tf.no_op()
        ),
        ValueError,
        "both be set",
    ),
    "weight column": (lambda: spec_of(estimator.BinaryClassHead(weight_column=3)), TypeError, "Weight column"),
    "label": (lambda: estimator.classifier_parse_example_spec([x], "x"), ValueError, "label"),
    "weight": (lambda: estimator.regressor_parse_example_spec([x], "y", weight_column="x"), ValueError, "weight"),
    "no label": (lambda: estimator.regressor_parse_example_spec([x], None), ValueError, "label_key"),
}
for name, (call, error, word) in REFUSED.items():
    try:
        call()
    except error as raised:
        if word not in str(raised):
            wrong[name] = str(raised)
    else:
        wrong[name] = "no error"

spec = estimator.classifier_parse_example_spec([x, c], "y", label_dtype=tf.string, weight_column="w")
if spec != {
    "x": tf.FixedLenFeature((1,), tf.float32),
    "c": tf.VarLenFeature(tf.string),
    "y": tf.FixedLenFeature((1,), tf.string),
    "w": tf.FixedLenFeature((1,), tf.float32),
}:
    wrong["classifier spec"] = str(spec)
spec = estimator.regressor_parse_example_spec([x], "y", label_default=0.0, label_dimension=2)
if spec["y"] != tf.FixedLenFeature((2,), tf.float32, 0.0):
    wrong["regressor spec"] = str(spec)
print(json.dumps(wrong))
