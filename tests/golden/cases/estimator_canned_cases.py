"""Cases of the canned estimators: name -> function of (tf, tf.estimator, tf.contrib.estimator). Python 3.7 too."""

import numpy as np

CASES = {}

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, -6.0]], np.float32)
C = np.array([["a"], ["b"], ["other"]])
D = np.array([["red"], ["blue"], ["red"]])
W = np.array([1.0, 2.0, 0.5], np.float32)
TWO = np.array([[0], [1], [1]])
THREE = np.array([[2], [0], [1]])
REAL = np.array([[0.5], [-1.0], [2.0]], np.float32)
REAL2 = np.array([[0.5, 1.0], [-1.0, 0.0], [2.0, 3.0]], np.float32)
WORDS = np.array([["yes"], ["no"], ["no"]])
MANY = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]])


def features():
    return {"x": X, "c": C, "d": D, "w": W}


def columns(tf):
    """A numeric column, an embedding and an indicator."""
    fc = tf.feature_column
    return [
        fc.numeric_column("x", shape=(2,)),
        fc.embedding_column(fc.categorical_column_with_vocabulary_list("c", ["a", "b"]), 2),
        fc.indicator_column(fc.categorical_column_with_hash_bucket("d", 4)),
    ]


def wide(tf):
    """A numeric column, two categorical ones, their cross and a bucketized one."""
    fc = tf.feature_column
    c = fc.categorical_column_with_vocabulary_list("c", ["a", "b"])
    d = fc.categorical_column_with_hash_bucket("d", 4)
    price = fc.numeric_column("w")
    return [
        fc.numeric_column("x", shape=(2,)),
        c,
        d,
        fc.crossed_column(["c", "d"], 5),
        fc.bucketized_column(price, [0.7, 1.5]),
    ]


def case(name, make, labels, modes=("train", "eval", "infer"), **more):
    def build(tf, estimator, contrib):
        return dict(
            {"estimator": make(tf, estimator), "features": features(), "labels": labels, "modes": modes}, **more
        )

    assert name not in CASES, name
    CASES[name] = build


#: What is the same in all modes is looked at in one of them.
ONE = ("train",)


# -------------------------------------------------------------------------------------------------------------- DNN
def dnn(**kwargs):
    def make(tf, estimator):
        return estimator.DNNClassifier([4, 3], columns(tf), **kwargs)

    return make


case("DNNClassifier", dnn(), TWO, ("train", "infer"))
case("DNNClassifier weights", dnn(weight_column="w"), TWO, ("train", "eval"))
case("DNNClassifier flat labels", dnn(), TWO[:, 0], ONE)
case("DNNClassifier float labels", dnn(), TWO.astype(np.float32), ONE)
case("DNNClassifier 3", dnn(n_classes=3), THREE)
case("DNNClassifier words", dnn(label_vocabulary=["no", "yes"]), WORDS, ("train", "infer"))
case(
    "DNNClassifier 3 words",
    dnn(n_classes=3, label_vocabulary=["no", "yes", "maybe"], weight_column="w"),
    WORDS,
    ("train", "infer"),
)
case("DNNClassifier batch norm", dnn(batch_norm=True), TWO, ("train", "infer"))
case("DNNClassifier dropout", dnn(dropout=0.5), TWO, ("train", "infer"), random="train")
case("DNNClassifier mean", dnn(loss_reduction="weighted_mean", weight_column="w"), TWO, ONE)
case("DNNClassifier batch", dnn(loss_reduction="weighted_sum_over_batch_size", weight_column="w"), TWO, ONE)
case("DNNClassifier Adam", dnn(optimizer="Adam"), TWO, ONE)
case("DNNClassifier RMSProp", lambda tf, e: dnn(optimizer="RMSProp", activation_fn=tf.nn.tanh)(tf, e), TWO, ONE)
case("DNNClassifier SGD", dnn(optimizer="SGD"), TWO, ONE)
case("DNNClassifier Ftrl", dnn(optimizer="Ftrl"), TWO, ONE)
case("DNNClassifier callable", lambda tf, e: dnn(optimizer=lambda: tf.train.AdamOptimizer(0.1))(tf, e), TWO, ONE)
case(
    "DNNClassifier partitioner",
    lambda tf, e: dnn(input_layer_partitioner=tf.fixed_size_partitioner(2))(tf, e),
    TWO,
    ONE,
)
case("DNNClassifier wrong optimizer", dnn(optimizer="Nope"), TWO, ONE)
case("DNNClassifier wrong labels", dnn(), REAL, ONE)
case("DNNClassifier labels too great", dnn(n_classes=3), THREE + 1, ONE)
case("DNNClassifier one class", dnn(n_classes=1), TWO)
case("DNNClassifier wrong reduction", dnn(loss_reduction="nope"), TWO)
case("DNNClassifier no labels", dnn(), None, ONE)
case("DNNClassifier weights of words", dnn(weight_column="c"), TWO, ONE)
case("DNNClassifier missing weights", dnn(weight_column="missing"), TWO, ONE)
case("DNNClassifier labels shape", dnn(), REAL2, ONE)
case("DNNClassifier short vocabulary", dnn(label_vocabulary=["yes"]), WORDS, ONE)


def dnn_regressor(**kwargs):
    def make(tf, estimator):
        return estimator.DNNRegressor([4], columns(tf), **kwargs)

    return make


case("DNNRegressor", dnn_regressor(), REAL)
case("DNNRegressor flat", dnn_regressor(weight_column="w"), REAL[:, 0], ONE)
case("DNNRegressor 2", dnn_regressor(label_dimension=2, weight_column="w"), REAL2, ("train", "eval"))
case("DNNRegressor mean", dnn_regressor(loss_reduction="weighted_mean", weight_column="w"), REAL, ONE)
case("DNNRegressor wrong dimension", dnn_regressor(label_dimension=2), REAL, ONE)


# ----------------------------------------------------------------------------------------------------------- linear
def linear(**kwargs):
    def make(tf, estimator):
        return estimator.LinearClassifier(wide(tf), **kwargs)

    return make


case("LinearClassifier", linear(), TWO)
case("LinearClassifier weights", linear(weight_column="w", loss_reduction="weighted_mean"), TWO, ONE)
case("LinearClassifier 3", linear(n_classes=3), THREE, ONE)
case("LinearClassifier words", linear(label_vocabulary=["no", "yes"]), WORDS, ("infer",))
case("LinearClassifier Adagrad mean", linear(optimizer="Adagrad", sparse_combiner="mean"), TWO, ONE)
case("LinearClassifier partitioner", lambda tf, e: linear(partitioner=tf.fixed_size_partitioner(2))(tf, e), TWO, ONE)
case("LinearRegressor", lambda tf, e: e.LinearRegressor(wide(tf)), REAL, ("eval", "infer"))
case("LinearRegressor 2", lambda tf, e: e.LinearRegressor(wide(tf), label_dimension=2, weight_column="w"), REAL2, ONE)
case("LinearClassifier dense column", lambda tf, e: e.LinearClassifier(columns(tf)), TWO, ONE)


# --------------------------------------------------------------------------------------------------------- combined
def combined(kind, **kwargs):
    def make(tf, estimator):
        return getattr(estimator, kind)(
            linear_feature_columns=wide(tf), dnn_feature_columns=columns(tf), dnn_hidden_units=[4, 3], **kwargs
        )

    return make


case("DNNLinearCombinedClassifier", combined("DNNLinearCombinedClassifier"), TWO)
case(
    "DNNLinearCombinedClassifier 3",
    combined("DNNLinearCombinedClassifier", n_classes=3, weight_column="w"),
    THREE,
    ("train", "eval"),
)
case("DNNLinearCombinedClassifier bn", combined("DNNLinearCombinedClassifier", batch_norm=True), TWO, ONE)
case("DNNLinearCombinedRegressor", combined("DNNLinearCombinedRegressor"), REAL)
case(
    "DNNLinearCombinedRegressor Adam",
    combined("DNNLinearCombinedRegressor", dnn_optimizer="Adam", linear_optimizer="SGD", label_dimension=2),
    REAL2,
    ONE,
)
case(
    "DNNLinearCombinedClassifier linear only",
    lambda tf, e: e.DNNLinearCombinedClassifier(linear_feature_columns=wide(tf)),
    TWO,
    ONE,
)
case(
    "DNNLinearCombinedClassifier dnn only",
    lambda tf, e: e.DNNLinearCombinedClassifier(dnn_feature_columns=columns(tf), dnn_hidden_units=[3]),
    TWO,
    ONE,
)
case("DNNLinearCombinedClassifier none", lambda tf, e: e.DNNLinearCombinedClassifier(), TWO)
case(
    "DNNLinearCombinedClassifier no units",
    lambda tf, e: e.DNNLinearCombinedClassifier(dnn_feature_columns=columns(tf)),
    TWO,
    ONE,
)

# --------------------------------------------------------------------------------------------------------- baseline
case("BaselineClassifier", lambda tf, e: e.BaselineClassifier(), TWO)
case("BaselineClassifier 3", lambda tf, e: e.BaselineClassifier(n_classes=3, weight_column="w"), THREE, ONE)
case("BaselineRegressor", lambda tf, e: e.BaselineRegressor(), REAL)
case("BaselineRegressor 2", lambda tf, e: e.BaselineRegressor(label_dimension=2, optimizer="Adam"), REAL2, ONE)


# ------------------------------------------------------------------- heads of tf.estimator, on the least of models
def head(kind, *args, **kwargs):
    def make(tf, estimator):
        return on_head(tf, estimator, getattr(estimator, kind)(*args, **kwargs))

    return make


def on_head(tf, estimator, one):
    return estimator.DNNLinearCombinedEstimator(
        one, dnn_feature_columns=[tf.feature_column.numeric_column("x", shape=(2,))], dnn_hidden_units=[3]
    )


case("BinaryClassHead", head("BinaryClassHead"), TWO, ONE)
case("BinaryClassHead all", head("BinaryClassHead", weight_column="w", thresholds=[0.3, 0.5], name="h"), TWO)
case("BinaryClassHead words", head("BinaryClassHead", label_vocabulary=["no", "yes"]), WORDS, ("train", "infer"))
case("BinaryClassHead sum", head("BinaryClassHead", loss_reduction="sum", weight_column="w"), TWO, ONE)
case("BinaryClassHead thresholds", head("BinaryClassHead", thresholds=[1.0]), TWO)
case("MultiClassHead", head("MultiClassHead", 3), THREE)
case("MultiClassHead all", head("MultiClassHead", 3, weight_column="w", name="h"), THREE, ("train", "eval"))
case("MultiClassHead words", head("MultiClassHead", 3, label_vocabulary=["no", "yes", "maybe"]), WORDS, ("infer",))
case("MultiClassHead 2", head("MultiClassHead", 2), TWO)
case("RegressionHead", head("RegressionHead"), REAL)
case("RegressionHead all", head("RegressionHead", label_dimension=2, weight_column="w", name="h"), REAL2)
case(
    "RegressionHead functions",
    lambda tf, e: head(
        "RegressionHead", inverse_link_fn=tf.exp, loss_fn=lambda labels, logits: tf.abs(labels - logits)
    )(tf, e),
    REAL,
)
case("RegressionHead wrong loss", head("RegressionHead", loss_fn=lambda labels, other: other), REAL)
case("LogisticRegressionHead", head("LogisticRegressionHead", weight_column="w"), np.abs(REAL) / 2.0)
case("PoissonRegressionHead", head("PoissonRegressionHead"), np.abs(REAL))
case("PoissonRegressionHead short", head("PoissonRegressionHead", compute_full_loss=False), np.abs(REAL), ONE)
case("MultiLabelHead", head("MultiLabelHead", 3), MANY, ("train", "infer"))
case(
    "MultiLabelHead all",
    head(
        "MultiLabelHead", 3, weight_column="w", thresholds=[0.3, 0.5], classes_for_class_based_metrics=[0, 2], name="h"
    ),
    MANY,
    ("eval",),
)
case(
    "MultiLabelHead words",
    head("MultiLabelHead", 3, label_vocabulary=["a", "b", "c"], classes_for_class_based_metrics=["a", "c"]),
    lambda tf: tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["c", "a", "b"], [3, 2]),
)
case(
    "MultiHead",
    lambda tf, e: on_head(
        tf,
        e,
        e.MultiHead([e.BinaryClassHead(name="one"), e.RegressionHead(label_dimension=2, name="two")], [1.0, 0.5]),
    ),
    {"one": TWO, "two": REAL2},
)
case("LinearEstimator", lambda tf, e: e.LinearEstimator(e.RegressionHead(), wide(tf)), REAL, ("eval",))
case("DNNEstimator", lambda tf, e: e.DNNEstimator(e.RegressionHead(), [3], columns(tf)), REAL, ("eval",))
case("BaselineEstimator", lambda tf, e: e.BaselineEstimator(e.RegressionHead()), REAL, ("eval",))

#: The heads of tf.estimator measure with metrics of Keras in 1.15.5, whose variables and tensors have other names.
NEW_HEADS = {name for name in CASES if "Head" in name} | {"LinearEstimator", "DNNEstimator", "BaselineEstimator"}


# ------------------------------------------------------------------------------------ heads of tf.contrib.estimator
def contrib(kind, labels, modes, *args, **kwargs):
    def build(tf, estimator, heads):
        made = getattr(heads, kind)(*args, **kwargs)
        return on_old_head(tf, estimator, made, labels, modes)

    name = "contrib %s" % " ".join([kind] + sorted(kwargs))
    assert name not in CASES, name
    CASES[name] = build


def on_old_head(tf, estimator, made, labels, modes):
    columns = [tf.feature_column.numeric_column("x", shape=(2,))]
    return {
        "estimator": estimator.DNNEstimator(made, [3], columns),
        "features": features(),
        "labels": labels,
        "modes": modes,
    }


ALL = ("train", "eval", "infer")
contrib("binary_classification_head", TWO, ALL, weight_column="w", thresholds=[0.3, 0.5], name="h")
contrib("binary_classification_head", TWO, ONE)
contrib("multi_class_head", THREE, ALL, 3, weight_column="w", name="h")
contrib(
    "multi_label_head",
    MANY,
    ("eval", "infer"),
    3,
    weight_column="w",
    thresholds=[0.3],
    classes_for_class_based_metrics=[0, 2],
)
contrib("regression_head", REAL2, ALL, label_dimension=2, weight_column="w", name="h")
contrib("poisson_regression_head", np.abs(REAL), ALL, weight_column="w")
contrib("logistic_regression_head", np.abs(REAL) / 2.0, ALL, name="h")


def multi_head(tf, estimator, heads):
    made = heads.multi_head(
        [heads.binary_classification_head(name="one"), heads.regression_head(label_dimension=2, name="two")], [1.0, 0.5]
    )
    return on_old_head(tf, estimator, made, {"one": TWO, "two": REAL2}, ALL)


CASES["contrib multi_head"] = multi_head
