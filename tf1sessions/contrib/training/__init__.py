"""``tf.contrib.training``: HParams, training and evaluation loops, batches by bucket.

Files::

    bucket_ops.py            batches of examples that are alike
    device_setter.py         which parameter server gets a variable
    evaluation.py            waiting for checkpoints, and evaluating them
    feeding_queue_runner.py  a queue runner that feeds
    hparam.py                HParams
    resample.py              examples more or less often
    sampling_ops.py          batches by rejection
    training.py              create_train_op and train
"""

from typing import Any

from ...runtime import tf1 as _tf
from .bucket_ops import bucket, bucket_by_sequence_length
from .device_setter import GreedyLoadBalancingStrategy, RandomStrategy, byte_size_load_fn
from .evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    checkpoints_iterator,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
    wait_for_new_checkpoint,
)
from .feeding_queue_runner import FeedingQueueRunner
from .hparam import HParams, parse_values
from .resample import resample_at_rate, weighted_resample
from .sampling_ops import rejection_sample, stratified_sample
from .training import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)

FinalOpsHook: Any = _tf.train.FinalOpsHook

__all__ = [
    "FeedingQueueRunner",
    "FinalOpsHook",
    "GreedyLoadBalancingStrategy",
    "HParams",
    "RandomStrategy",
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "add_gradients_summaries",
    "bucket",
    "bucket_by_sequence_length",
    "byte_size_load_fn",
    "checkpoints_iterator",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "multiply_gradients",
    "parse_values",
    "rejection_sample",
    "resample_at_rate",
    "stratified_sample",
    "train",
    "wait_for_new_checkpoint",
    "weighted_resample",
]
