"""Predictions of a batch: those that are asked for, and their parts for single examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["chosen_predictions", "examples_of"]


def chosen_predictions(predictions: Any, keys: Any) -> Any:
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    chosen = {key: value for key, value in predictions.items() if key in keys}
    if not chosen:
        raise ValueError(f"Expected to run at least one output from {predictions.keys()}, provided {keys}.")
    return chosen


def examples_of(values: Any) -> Iterator[Any]:
    """The predictions for each example of a batch."""
    if not isinstance(values, dict):
        yield from values
        return
    for i in range(_batch_size(values)):
        yield {key: value[i] for key, value in values.items()}


def _batch_size(values: Mapping[str, Any]) -> int:
    size = None
    for key, value in values.items():
        size = size or value.shape[0]
        if value.shape[0] != size:
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different batch length than others."
            )
    if size is None:
        raise TypeError("The predictions are empty; yield_single_examples=True needs at least one.")
    return int(size)
