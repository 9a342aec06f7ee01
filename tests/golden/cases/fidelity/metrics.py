"""Streaming metrics over batches of an evaluation: accuracy, AUC, precision and recall, mean IOU, percentiles."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(36)
rng = np.random.RandomState(36)
truth = rng.randint(0, 2, size=(6, 25))
scores = np.clip(truth * 0.3 + rng.rand(6, 25) * 0.7, 0, 1).astype(np.float32)

labels = tf.placeholder(tf.int64, [None])
predictions = tf.placeholder(tf.float32, [None])
classes = tf.cast(predictions > 0.5, tf.int64)
weights = tf.random_uniform(tf.shape(predictions))
metrics = {
    "accuracy": tf.metrics.accuracy(labels, classes),
    "weighted": tf.metrics.accuracy(labels, classes, weights=weights),
    "auc": tf.metrics.auc(labels, predictions, num_thresholds=50),
    "auc_pr": tf.metrics.auc(labels, predictions, curve="PR", summation_method="careful_interpolation"),
    "precision": tf.metrics.precision(labels, classes),
    "recall": tf.metrics.recall(labels, classes),
    "mean_iou": tf.metrics.mean_iou(labels, classes, 2),
    "mse": tf.metrics.mean_squared_error(tf.to_float(labels), predictions),
    "rmse": tf.metrics.root_mean_squared_error(tf.to_float(labels), predictions),
    "cosine": tf.metrics.mean_cosine_distance(
        tf.nn.l2_normalize(tf.to_float(labels), 0), tf.nn.l2_normalize(predictions, 0), 0),
    "fn": tf.metrics.false_negatives(labels, classes),
    "at_thresholds": tf.metrics.recall_at_thresholds(labels, predictions, [0.3, 0.6]),
    "contrib_auc": tf.contrib.metrics.streaming_auc(predictions, labels),
    "covariance": tf.contrib.metrics.streaming_covariance(predictions, tf.to_float(labels)),
    "pearson": tf.contrib.metrics.streaming_pearson_correlation(predictions, tf.to_float(labels)),
}
values = {name: metric[0] for name, metric in metrics.items()}
updates = [metric[1] for metric in metrics.values()]
confusion = tf.confusion_matrix(labels, classes)
top = tf.nn.in_top_k(tf.stack([1 - predictions, predictions], 1), labels, 1)

with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    for i in range(6):
        sess.run(updates, {labels: truth[i], predictions: scores[i]})
        if i in (2, 5):
            for name, value in sorted(sess.run(values).items()):
                print(i, name, value)
    feed = {labels: truth[0], predictions: scores[0]}
    print(sess.run(confusion, feed), sess.run(tf.reduce_sum(tf.to_int32(top)), feed))
    print("local variables", len(tf.local_variables()))
