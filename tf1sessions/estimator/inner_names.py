"""Names of inner files of ``tf.estimator`` that programs use, though they were private."""

from __future__ import annotations

from typing import Any

from .canned.head import LossSpec
from .estimator import _saved_step
from .given import verify_model_fn_args
from .tpu import TPUEstimatorSpec
from .tpu_util import MultiHostDatasetInitializerHook
from .training import EvalSpec
from .util import DatasetInitializerHook, function_args, parse_input_fn_result, parse_iterator_result

__all__ = [
    "LossSpec",
    "MultiHostDatasetInitializerHook",
    "fn_args",
    "parse_input_fn_result",
    "parse_iterator_result",
    "verify_model_fn_args",
]

fn_args = function_args
_DatasetInitializerHook = DatasetInitializerHook
_TPUEstimatorSpec = TPUEstimatorSpec
_load_global_step_from_checkpoint_dir = _saved_step
_verify_model_fn_args = verify_model_fn_args


def _assert_eval_spec(eval_spec: Any) -> None:
    """Raises a TypeError if ``eval_spec`` is no ``tf.estimator.EvalSpec``."""
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")
