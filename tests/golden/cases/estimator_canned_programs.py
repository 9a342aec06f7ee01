"""Programs of canned estimators whose checkpoints 1.15.5 wrote: name -> (estimator, features, labels). Python 3.7."""

import numpy as np

N = 24
rng = np.random.RandomState(3)
FEATURES = {
    "x": rng.uniform(-1.0, 1.0, (N, 2)).astype(np.float32),
    "c": np.array(["a", "b", "c", "other"] * (N // 4)),
    "w": rng.uniform(0.5, 1.5, N).astype(np.float32),
}
WORDS = np.array([["yes"] if x > 0 else ["no"] for x in FEATURES["x"].sum(1)])
NUMBERS = (FEATURES["x"][:, :1] * 2.0 + (FEATURES["c"] == "b")[:, None]).astype(np.float32)


def _columns(tf):
    fc = tf.feature_column
    c = fc.categorical_column_with_vocabulary_list("c", ["a", "b", "c"])
    return fc.numeric_column("x", shape=(2,)), c, fc.embedding_column(c, 2)


def classifier(tf, estimator, **kwargs):
    x, _, embedded = _columns(tf)
    return estimator.DNNClassifier(
        [4, 3], [x, embedded], label_vocabulary=["no", "yes"], weight_column="w", batch_norm=True, **kwargs
    )


def combined(tf, estimator, **kwargs):
    x, c, embedded = _columns(tf)
    return estimator.DNNLinearCombinedRegressor(
        linear_feature_columns=[x, c], dnn_feature_columns=[x, embedded], dnn_hidden_units=[4], **kwargs
    )


PROGRAMS = {"classifier": (classifier, WORDS), "combined": (combined, NUMBERS)}


def input_fn(tf, labels):
    """All of it as one batch, again and again."""
    return tf.data.Dataset.from_tensors((FEATURES, labels)).repeat()


def results(tf, model, labels):
    """Predictions and metrics, as JSON-able data."""
    evaluated = model.evaluate(lambda: input_fn(tf, labels), steps=1)
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
    }
