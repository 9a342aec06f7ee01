"""Cases of ``tf.contrib.metrics``: name -> function of (tf, contrib); see contrib_record.py. Runs on Python 3.7 too."""

CASES = {}

FLOATS = [[0.1, 0.8, 0.4, 0.6], [0.9, 0.3, 0.7, 0.2]]
TRUTH = [[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0]]
WEIGHTS = [[1.0, 2.0, 0.0, 1.0], [0.5, 1.0, 1.0, 3.0]]


def case(name, metric, predictions=FLOATS, labels=TRUTH, weights=(None, WEIGHTS)):
    for number, weight in enumerate(weights):

        def build(tf, contrib, weight=weight):
            w = None if weight is None else tf.constant(weight)
            made = metric(tf, contrib.metrics, tf.constant(predictions), tf.constant(labels), w)
            found = {"outputs": {"value": made}}
            if type(made) is tuple:
                value, update = made
                parts = dict(value._asdict()) if hasattr(value, "_asdict") else {"value": value}
                found = {
                    "outputs": {key: part if isinstance(part, tf.Tensor) else part + 0 for key, part in parts.items()},
                    "each_run": update,
                    "runs": 2,
                }
                found["outputs"]["locals"] = tf.constant([v.shape.num_elements() for v in tf.local_variables()])
            # names of local variables: metrics are looked up by them, to reset them
            for variable in tf.local_variables():
                tf.add_to_collection("local_variables_by_name", variable)
            found["as_initialized"] = True
            return found

        CASES["%s %d" % (name, number)] = build


for _name in (
    "accuracy precision recall mean_absolute_error mean_squared_error root_mean_squared_error false_negatives "
    "false_positives true_negatives true_positives false_negative_rate false_positive_rate covariance "
    "pearson_correlation"
).split():
    case(
        _name,
        lambda tf, M, p, y, w, name=_name: getattr(M, "streaming_" + name)(
            tf.round(p) if name.startswith(("acc", "prec", "rec", "false", "true")) else p, y, w
        ),
    )
case("mean", lambda tf, M, p, y, w: M.streaming_mean(p, w))
case("mean_tensor", lambda tf, M, p, y, w: M.streaming_mean_tensor(p, w))
case("count", lambda tf, M, p, y, w: M.count(p, w))
case("percentage_less", lambda tf, M, p, y, w: M.streaming_percentage_less(p, 0.5, w))
case("auc", lambda tf, M, p, y, w: M.streaming_auc(p, y, w))
case("auc PR", lambda tf, M, p, y, w: M.streaming_auc(p, y, w, 50, curve="PR", name="a"))
case("precision_at_thresholds", lambda tf, M, p, y, w: M.streaming_precision_at_thresholds(p, y, [0.3, 0.5], w))
case("recall_at_thresholds", lambda tf, M, p, y, w: M.streaming_recall_at_thresholds(p, y, [0.3, 0.5], w))
case("sensitivity", lambda tf, M, p, y, w: M.streaming_sensitivity_at_specificity(p, y, 0.6, w))
case("specificity", lambda tf, M, p, y, w: M.streaming_specificity_at_sensitivity(p, y, 0.6, w))
case("cosine", lambda tf, M, p, y, w: M.streaming_mean_cosine_distance(p, y, 1, w), weights=(None,))
case("iou", lambda tf, M, p, y, w: M.streaming_mean_iou(tf.cast(tf.round(p), tf.int64), tf.cast(y, tf.int64), 2, w))
case("relative", lambda tf, M, p, y, w: M.streaming_mean_relative_error(p, y, y + 1.0, w))
case(
    "recall_at_k", lambda tf, M, p, y, w: M.streaming_recall_at_k(p, y, 2, w), labels=[1, 3], weights=(None, [1.0, 3.0])
)
for _name in ("streaming_sparse_recall_at_k", "streaming_sparse_precision_at_k"):
    case(
        _name,
        lambda tf, M, p, y, w, name=_name: getattr(M, name)(p, tf.cast(y, tf.int64), 2, weights=w),
        labels=[[1], [3]],
        weights=(None, [1.0, 3.0]),
    )
    case(
        _name + " class",
        lambda tf, M, p, y, w, name=_name: getattr(M, name)(p, tf.cast(y, tf.int64), 2, 1, w),
        labels=[[1], [3]],
        weights=(None, [1.0, 3.0]),
    )
case(
    "top_k",
    lambda tf, M, p, y, w: M.streaming_sparse_precision_at_top_k(tf.cast(y, tf.int64), tf.cast(y, tf.int64), weights=w),
    labels=[[1, 2], [3, 0]],
    weights=(None, [1.0, 3.0]),
)
case(
    "average",
    lambda tf, M, p, y, w: M.streaming_sparse_average_precision_at_k(p, tf.cast(y, tf.int64), 2, w),
    labels=[[1], [3]],
    weights=(None, [1.0, 3.0]),
)
case("plain accuracy", lambda tf, M, p, y, w: M.accuracy(tf.cast(tf.round(p), tf.int32), tf.cast(y, tf.int32), w))
case("confusion_matrix", lambda tf, M, p, y, w: M.confusion_matrix(y, p, 3), [0, 2, 1], [0, 1, 1], (None,))
case(
    "set_size",
    lambda tf, M, p, y, w: tf.reshape(M.set_size(M.set_intersection(p, y)), [2]),
    [[1, 2], [3, 4]],
    [[2, 2], [3, 5]],
    (None,),
)
case("wrong type", lambda tf, M, p, y, w: M.accuracy(p, y), weights=(None,))
case("wrong shape", lambda tf, M, p, y, w: M.streaming_accuracy(p, y), labels=[1.0, 2.0, 3.0], weights=(None,))
case("aggregate", lambda tf, M, p, y, w: M.aggregate_metric_map({"a": M.streaming_mean(p)})[0]["a"], weights=(None,))

MANY = [[0.1, 0.5, 0.9, 0.3, 0.7, 0.7], [0.2, 0.4, 0.4, 0.95, 0.6, 0.05]]
MANY_TRUTH = [[0.0, 1.0, 1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]]
MANY_WEIGHTS = (None, [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.5, 1.0, 0.0, 3.0, 2.0, 1.0]], 2.0)


def many(name, metric, labels=MANY_TRUTH, weights=MANY_WEIGHTS):
    case(name, metric, MANY, labels, weights)


def kappa(tf, M, p, y, w, **arguments):
    guesses = tf.constant([0, 2, 2, 1, 0, 1])
    return M.cohen_kappa(tf.constant([0, 1, 2, 1, 0, 0]), guesses, 3, None if w is None else w[0], **arguments)


many("cohen_kappa", kappa, weights=MANY_WEIGHTS[:2])
many("cohen_kappa named", lambda tf, M, p, y, w: kappa(tf, M, p, y, w, name="k", metrics_collections=["m"]))
many("wrong cohen_kappa", lambda tf, M, p, y, w: M.cohen_kappa(y[0], y[0], 1), weights=(None,))
many("wrong cohen_kappa shape", lambda tf, M, p, y, w: M.cohen_kappa(y[0], y[0][:2], 2), weights=(None,))
many("f1_score", lambda tf, M, p, y, w: M.f1_score(y, p, w))
many("f1_score few", lambda tf, M, p, y, w: M.f1_score(y, p, w, 5, ["m"], ["u"], "best"))
for _target in (0.0, 0.3, 0.7, 0.9, 1.0):
    many(
        "precision_at_recall %s" % _target,
        lambda tf, M, p, y, w, target=_target: M.precision_at_recall(y, p, target, w, 11),
        weights=MANY_WEIGHTS[:2],
    )
    for _strict in (False, True):
        many(
            "recall_at_precision %s %s" % (_target, _strict),
            lambda tf, M, p, y, w, target=_target, strict=_strict: M.recall_at_precision(
                y, p, target, w, 11, strict_mode=strict
            ),
            weights=MANY_WEIGHTS[:2],
        )
many("wrong precision_at_recall", lambda tf, M, p, y, w: M.precision_at_recall(y, p, 1.2), weights=(None,))
many("wrong recall_at_precision", lambda tf, M, p, y, w: M.recall_at_precision(y, p, -0.1), weights=(None,))
many("f1_score rows", lambda tf, M, p, y, w: M.f1_score(y, p, w), weights=([1.0, 2.0], [[[1.0]]]))
many("wrong weights", lambda tf, M, p, y, w: M.f1_score(y, p, w), weights=([[1.0, 2.0]], [[[1.0, 2.0]]]))
case(
    "average_precision_at_top_k sparse",
    lambda tf, M, p, y, w: M.streaming_sparse_average_precision_at_top_k(
        tf.cast(p, tf.int64), tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 5, 2], tf.int64), [2, 2]), w
    ),
    [[1, 2, 5], [0, 3, 2]],
    [0],
    (None, 2.0),
)
for _curve in ("ROC", "PR", "other"):
    many("curve_points " + _curve, lambda tf, M, p, y, w, c=_curve: M.streaming_curve_points(y, p, w, 7, curve=c))
    many("dynamic_auc " + _curve, lambda tf, M, p, y, w, c=_curve: M.streaming_dynamic_auc(y, p, c, weights=w))
many("dynamic_auc alike", lambda tf, M, p, y, w: M.streaming_dynamic_auc(y, p), [[1.0] * 6] * 2, (None,))
many("auc interval", lambda tf, M, p, y, w: M.auc_with_confidence_intervals(y, p, w))
many(
    "auc interval plain",
    lambda tf, M, p, y, w: M.auc_with_confidence_intervals(y, p, w, alpha=0.8, logit_transformation=False, name="a"),
)
many("auc interval alike", lambda tf, M, p, y, w: M.auc_with_confidence_intervals(y, p, w), [[1.0] * 6] * 2, (None,))
many("wrong auc interval", lambda tf, M, p, y, w: M.auc_with_confidence_intervals(y, p, alpha=1.0), weights=(None,))
many(
    "auc histogram",
    lambda tf, M, p, y, w: M.auc_using_histogram(tf.reshape(y, [-1]) > 0, tf.reshape(p, [-1]), [0.0, 1.0], 10),
    weights=(None,),
)
many(
    "auc histogram clipped",
    lambda tf, M, p, y, w: M.auc_using_histogram(
        tf.reshape(y, [-1]) > 0, tf.reshape(p, [-1]), [0.2, 0.5], 4, ["local_variables", "own"], False, "h"
    ),
    weights=(None,),
)
many("equal_thresholds", lambda tf, M, p, y, w: M.precision_recall_at_equal_thresholds(y > 0, p, w, 5))
many(
    "equal_thresholds double",
    lambda tf, M, p, y, w: M.precision_recall_at_equal_thresholds(y > 0, tf.cast(p, tf.float64), name="e"),
    weights=(None,),
)
many("wrong equal_thresholds", lambda tf, M, p, y, w: M.precision_recall_at_equal_thresholds(y, p), weights=(None,))
for _name in (
    "false_negative_rate false_positive_rate false_negatives false_positives true_negatives true_positives"
).split():
    many(
        _name + "_at_thresholds",
        lambda tf, M, p, y, w, name=_name: getattr(M, "streaming_%s_at_thresholds" % name)(p, y, [0.3, 0.5, 0.7], w),
    )
for _arguments in ({}, {"axis": 1, "max_size": 8}, {"axis": -1, "name": "n"}, {"max_size": 3}, {"axis": 2}):
    many(
        "concat %s" % sorted(_arguments.items()),
        lambda tf, M, p, y, w, arguments=_arguments: M.streaming_concat(p, metrics_collections=["m"], **arguments),
        weights=(None,),
    )
for _shape in (None, [None, None]):
    many(
        "wrong concat %s" % _shape,
        lambda tf, M, p, y, w, shape=_shape: M.streaming_concat(tf.placeholder(tf.float32, shape)),
        weights=(None,),
    )
TOP = [[1, 2, 5], [0, 3, 2]]
for _class in (None, 1, 2):
    case(
        "recall_at_top_k %s" % _class,
        lambda tf, M, p, y, w, k=_class: M.sparse_recall_at_top_k(tf.cast(y, tf.int64), tf.cast(p, tf.int64), k, w),
        TOP,
        [[1, 5], [3, 1]],
        (None, [1.0, 3.0]),
    )
for _labels in ([[1, 5], [3, 1]], [[1, 1, 5, 2], [3, 3, 3, 0]], [1, 2], [[7], [8]]):
    case(
        "average_precision_at_top_k %s" % _labels,
        lambda tf, M, p, y, w: M.streaming_sparse_average_precision_at_top_k(
            tf.cast(p, tf.int64), tf.cast(y, tf.int64), w
        ),
        TOP,
        _labels,
        (None, [1.0, 3.0]),
    )
