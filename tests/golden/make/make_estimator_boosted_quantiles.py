"""Runs the cases of estimator_boosted_quantiles.py with TensorFlow 1.15.5: estimator_boosted_quantiles.json.gz."""

import os

from folders import DATA

# isort: split
import tensorflow as tf
from contrib_record import save
from estimator_boosted_quantiles import CASES, batches
from tensorflow.python.ops import gen_boosted_trees_ops as ops


def boundaries(case):
    epsilon = case[3]
    with tf.Graph().as_default(), tf.Session() as session:
        stream = ops.boosted_trees_quantile_stream_resource_handle_op(container="", shared_name="stream")
        session.run(ops.boosted_trees_create_quantile_stream_resource(stream, epsilon, 1, max_elements=2**40))
        for values, weights in batches(*case):
            summary = session.run(ops.boosted_trees_make_quantile_summaries([values], weights, epsilon))
            session.run(ops.boosted_trees_quantile_stream_resource_add_summaries(stream, summary))
        session.run(ops.boosted_trees_quantile_stream_resource_flush(stream, num_buckets=int(1 / epsilon)))
        found = session.run(ops.boosted_trees_quantile_stream_resource_get_bucket_boundaries(stream, 1))
    return found[0].tolist()


save(os.path.join(DATA, "estimator_boosted_quantiles.json.gz"), [boundaries(case) for case in CASES])
