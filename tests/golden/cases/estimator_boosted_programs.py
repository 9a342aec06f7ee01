"""Programs of BoostedTrees: name -> function of (tf, estimator) that returns the model, its labels and batches.

See boosted(), which trains them, and CHECKPOINTS, which are kept; the same code for 1.15.5 and for tf1sessions. Runs on
Python 3.7 too.
"""

import numpy as np

N = 40
rng = np.random.RandomState(0)
FEATURES = {
    "a": rng.uniform(size=N).astype(np.float32),
    "b": rng.uniform(size=N).astype(np.float32),
    "c": np.array(["u", "v", "w", "u"] * (N // 4)),
    "w": rng.uniform(0.5, 1.5, N).astype(np.float32),
}
CLASSES = ((FEATURES["a"] > 0.5) ^ (FEATURES["b"] > 0.3)).astype(np.int32)
CLASSES[[3, 17]] = 1 - CLASSES[[3, 17]]
MORE = CLASSES.copy()  # of unequal number, so that there is a bias
MORE[:6] = 1
WORDS = np.array(["no", "yes"])[MORE]
NUMBERS = (FEATURES["a"] * 3 - FEATURES["b"] + (FEATURES["c"] == "u")).astype(np.float32)


def columns(tf, kinds):
    fc = tf.feature_column
    made = {
        "a": lambda: fc.bucketized_column(fc.numeric_column("a"), [0.2, 0.4, 0.6, 0.8]),
        "b": lambda: fc.bucketized_column(fc.numeric_column("b"), [0.2, 0.4, 0.6, 0.8]),
        "c": lambda: fc.indicator_column(fc.categorical_column_with_vocabulary_list("c", ["u", "v"])),
        "n": lambda: fc.numeric_column("a"),
        "m": lambda: fc.numeric_column("b"),
    }
    return [made[kind]() for kind in kinds]


def classifier(kinds, **kwargs):
    return lambda tf, estimator, **more: estimator.BoostedTreesClassifier(columns(tf, kinds), **kwargs, **more)


def regressor(kinds, **kwargs):
    return lambda tf, estimator, **more: estimator.BoostedTreesRegressor(columns(tf, kinds), **kwargs, **more)


#: name -> (model, labels, number of batches, greatest number of steps)
PROGRAMS = {
    "classifier": (classifier("abc", n_batches_per_layer=1, n_trees=2, max_depth=2), CLASSES, 1, 50),
    "classifier deep": (
        classifier(
            "abc",
            n_batches_per_layer=1,
            n_trees=3,
            max_depth=4,
            weight_column="w",
            l1_regularization=0.01,
            l2_regularization=0.1,
            min_node_weight=0.02,
            learning_rate=0.3,
        ),
        CLASSES,
        1,
        50,
    ),
    "classifier pre": (
        classifier("ab", n_batches_per_layer=1, n_trees=3, max_depth=3, pruning_mode="pre", tree_complexity=0.05),
        CLASSES,
        1,
        50,
    ),
    "classifier post": (
        classifier("abc", n_batches_per_layer=1, n_trees=3, max_depth=4, pruning_mode="post", tree_complexity=0.05),
        CLASSES,
        1,
        50,
    ),
    "classifier numeric weights": (
        classifier("nm", n_batches_per_layer=1, n_trees=1, max_depth=2, quantile_sketch_epsilon=0.1, weight_column="w"),
        CLASSES,
        1,
        50,
    ),
    "classifier numeric batches": (classifier("nma", n_batches_per_layer=2, n_trees=1, max_depth=2), CLASSES, 2, 50),
    "regressor": (regressor("abc", n_batches_per_layer=2, n_trees=2, max_depth=2), NUMBERS, 2, 50),
    "regressor center": (
        regressor("ab", n_batches_per_layer=1, n_trees=2, max_depth=2, center_bias=True),
        NUMBERS,
        1,
        50,
    ),
}


#: name -> (model, labels, steps before the checkpoint)
CHECKPOINTS = {
    "classifier": (
        classifier(
            "ncb",
            n_batches_per_layer=1,
            n_trees=4,
            max_depth=3,
            center_bias=True,
            label_vocabulary=["no", "yes"],
            pruning_mode="post",
            tree_complexity=0.02,
            learning_rate=0.5,
        ),
        WORDS,
        10,
    ),
    "regressor": (regressor("abc", n_batches_per_layer=1, n_trees=3, max_depth=2, l2_regularization=0.1), NUMBERS, 3),
}


def input_fn(tf, labels, batches=1):
    return tf.data.Dataset.from_tensor_slices((FEATURES, labels)).batch(N // batches).repeat()


def plain(value):
    """What JSON can hold."""
    if isinstance(value, dict):
        return [[key, plain(one)] for key, one in value.items()]
    values = np.asarray(value)
    return [item.decode() if isinstance(item, bytes) else item for item in values.ravel().tolist()]


def results(tf, model, labels, center_bias=False):
    """Metrics, predictions, importances and explanations, as JSON-able data."""
    evaluated = model.evaluate(lambda: tf.data.Dataset.from_tensors((FEATURES, labels)), steps=1)
    predicted = list(model.predict(lambda: tf.data.Dataset.from_tensors(FEATURES)))
    found = {
        "metrics": {key: float(value) for key, value in evaluated.items()},
        "predictions": {key: [item for one in predicted for item in plain(one[key])] for key in sorted(predicted[0])},
        "importances": [
            sorted((key, float(value)) for key, value in model.experimental_feature_importances(normal).items())
            for normal in (False, True)
        ],
    }
    if center_bias:
        explained = model.experimental_predict_with_explanations(lambda: tf.data.Dataset.from_tensors(FEATURES), [])
        found["explanations"] = [[one["bias"], plain(one["dfc"])] for one in explained]
    return found


def boosted(tf, estimator, make, labels, batches, steps):
    """The step, metrics, predictions and importances after training."""
    model = make(tf, estimator)
    model.train(lambda: input_fn(tf, labels, batches), max_steps=steps)
    return results(tf, model, labels)
