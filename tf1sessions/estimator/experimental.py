"""``tf.estimator.experimental``."""

from __future__ import annotations

from .canned.dnn import dnn_logit_fn_builder
from .canned.linear import linear_logit_fn_builder
from .early_stopping import (
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from .export import build_raw_supervised_input_receiver_fn
from .hooks import InMemoryEvaluatorHook, make_stop_at_checkpoint_step_hook
from .model_fn import call_logit_fn

__all__ = [
    "InMemoryEvaluatorHook",
    "build_raw_supervised_input_receiver_fn",
    "call_logit_fn",
    "dnn_logit_fn_builder",
    "linear_logit_fn_builder",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]
