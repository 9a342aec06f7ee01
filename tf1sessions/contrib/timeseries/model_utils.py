"""Times of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .feature_keys import FilteringResults

__all__ = ["canonicalize_times_or_steps_from_output"]


def canonicalize_times_or_steps_from_output(
    times: Any, steps: int | None, previous_model_output: Mapping[str, Any]
) -> Any:
    """The times [B, W] to predict after what a model returned.

    Args:
        times: The times, [B, W] or [W] for one series; or
        steps: How many there are, right after the last one of ``previous_model_output``.
        previous_model_output: Has "times" [B, ...].

    Raises:
        ValueError: Both or neither are given, or ``times`` are not of B series or not later.
    """
    if times is None and steps is None:
        raise ValueError("One of `steps` and `times` must be specified.")
    if times is not None and steps is not None:
        raise ValueError("Only one of `steps` and `times` may be specified.")
    previous = np.asarray(previous_model_output[FilteringResults.TIMES])
    if steps is not None:
        return previous[:, -1:] + 1 + np.arange(steps, dtype=previous.dtype)
    times = np.array(times)
    if times.ndim != 2:
        times = times[np.newaxis]
    if len(times) != len(previous):
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output (got a batch dimension of "
            f"{len(times)} for `times` and {len(previous)} for the previous model output)."
        )
    if not np.all(times[:, 0] > previous[:, -1]):
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    return times
