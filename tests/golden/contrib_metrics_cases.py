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
            if isinstance(made, tuple):
                found = {"outputs": {"value": made[0]}, "each_run": made[1], "runs": 2}
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
