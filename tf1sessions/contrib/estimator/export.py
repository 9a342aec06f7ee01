"""Exports, and what they receive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...estimator.estimator import Estimator
from ...estimator.export import SupervisedInputReceiver, build_raw_supervised_input_receiver_fn
from ...estimator.model_fn import ModeKeys
from ...estimator.util import parse_input_fn_result
from ...runtime import tf1 as tf

__all__ = [
    "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
    "export_all_saved_models",
    "export_saved_model_for_mode",
]


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """An ``input_receiver_fn`` that is fed what ``input_fn`` returns.

    Args:
        input_fn: Returns a dataset of (features, labels), or these as tensors or dicts of tensors.
        input_fn_args: What it is called with.
    """
    with tf.Graph().as_default():
        features, labels, _ = parse_input_fn_result(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)


def export_saved_model_for_mode(
    estimator: Estimator,
    export_dir_base: Any,
    input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = ModeKeys.PREDICT,
) -> bytes:
    """Exports the model built for ``mode``; see ``Estimator.export_saved_model``."""
    return export_all_saved_models(
        estimator, export_dir_base, {mode: input_receiver_fn}, assets_extra, as_text, checkpoint_path
    )


def export_all_saved_models(
    estimator: Estimator,
    export_dir_base: Any,
    input_receiver_fn_map: Mapping[str, Callable[[], Any]],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Exports the model built for each mode of the map; see ``Estimator.export_saved_model``."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
    )
