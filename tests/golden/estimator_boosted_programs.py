"""Programs of BoostedTrees: name -> function of (tf, estimator) that returns the model, its labels and batches.

See boosted(), which trains them; the same code for 1.15.5 and for tf1sessions. Runs on Python 3.7 too.
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
    return lambda tf, estimator: estimator.BoostedTreesClassifier(columns(tf, kinds), **kwargs)


def regressor(kinds, **kwargs):
    return lambda tf, estimator: estimator.BoostedTreesRegressor(columns(tf, kinds), **kwargs)


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
    "classifier numeric": (classifier("nm", n_batches_per_layer=1, n_trees=2, max_depth=2), CLASSES, 1, 50),
    "regressor": (regressor("abc", n_batches_per_layer=2, n_trees=2, max_depth=2), NUMBERS, 2, 50),
    "regressor weights": (
        regressor("ab", n_batches_per_layer=1, n_trees=2, max_depth=3, weight_column="w"),
        NUMBERS,
        1,
        50,
    ),
    "regressor center": (
        regressor("ab", n_batches_per_layer=1, n_trees=2, max_depth=2, center_bias=True),
        NUMBERS,
        1,
        50,
    ),
    "regressor partial": (regressor("ab", n_batches_per_layer=1, n_trees=2, max_depth=3), NUMBERS, 1, 4),
}


def boosted(tf, estimator, make, labels, batches, steps):
    """The step, metrics, predictions and importances after training, as JSON-able data."""
    model = make(tf, estimator)

    def input_fn():
        return tf.data.Dataset.from_tensor_slices((FEATURES, labels)).batch(N // batches).repeat()

    model.train(input_fn, max_steps=steps)
    evaluated = model.evaluate(lambda: tf.data.Dataset.from_tensors((FEATURES, labels)), steps=1)
    predicted = list(model.predict(lambda: tf.data.Dataset.from_tensors(FEATURES)))
    return {
        "metrics": {key: float(value) for key, value in evaluated.items()},
        "predictions": {
            key: [
                item.decode() if isinstance(item, bytes) else item
                for one in predicted
                for item in np.asarray(one[key]).ravel().tolist()
            ]
            for key in sorted(predicted[0])
        },
        "importances": [
            sorted((key, float(value)) for key, value in model.experimental_feature_importances(normal).items())
            for normal in (False, True)
        ],
    }
