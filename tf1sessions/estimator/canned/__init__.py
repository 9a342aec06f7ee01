"""The models that ``tf.estimator`` has ready.

    optimizers.py, parsing_utils.py, metric_keys.py, prediction_keys.py
    head_parts.py -> head.py -> multi_head.py -> old_head.py -> inner_names.py
                               what makes of logits predictions, a loss, metrics and signatures
    boosted_trees_proto.py -> boosted_trees_growing.py -> boosted_trees_state.py, boosted_trees_quantiles.py
                               trees as tensors, and how they grow and are stored -> boosted_trees.py
    dnn.py -> linear.py, baseline.py, boosted_trees.py -> dnn_linear_combined.py

Names of variables and of most operations, keys of checkpoints, predictions and metrics, and tags of summaries are
1.15.5's.
"""
