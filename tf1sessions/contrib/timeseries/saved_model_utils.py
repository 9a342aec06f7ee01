"""Running an exported model: new states from observations, and predictions from a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import head, model_utils
from .feature_keys import FilteringFeatures, FilteringResults, PredictionResults, SavedModelLabels, State

__all__ = ["cold_start_filter", "filter_continuation", "predict_continuation"]


def cold_start_filter(signatures: Any, session: Any, features: Mapping[str, Any]) -> dict[str, Any]:
    """The state after observations, from the start.

    Args:
        signatures: The ``MetaGraphDef`` that ``tf.saved_model.load`` returned.
        session: Where it was loaded.
        features: "times", "values" and exogenous features as arrays: of one time, of a sequence, or of a batch of them.

    Returns:
        The state by names, and "times", for the other functions.
    """
    return _filtered(signatures, session, SavedModelLabels.COLD_START_FILTER, features, {})


def filter_continuation(
    continue_from: Mapping[str, Any], signatures: Any, session: Any, features: Mapping[str, Any]
) -> dict[str, Any]:
    """The state after observations, from another state.

    Args:
        continue_from: What an evaluation or one of these functions returned.
        signatures: See :func:`cold_start_filter`, as for the others.
        session: See there.
        features: See there.
    """
    return _filtered(signatures, session, SavedModelLabels.FILTER, features, _state_of(continue_from))


def predict_continuation(
    continue_from: Mapping[str, Any],
    signatures: Any,
    session: Any,
    steps: int | None = None,
    times: Any = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Predictions from a state.

    Args:
        continue_from: What an evaluation or one of these functions returned.
        signatures: See :func:`cold_start_filter`.
        session: See there.
        steps: How many times to predict, right after that; or
        times: The times, [B, W], or [W] if B is 1.
        exogenous_features: Those of the times, [B, W, ...], by name.

    Raises:
        ValueError: Both or neither of ``steps`` and ``times`` are given, or the times do not fit.
    """
    times = model_utils.canonicalize_times_or_steps_from_output(times, steps, continue_from)
    given = {**(exogenous_features or {}), PredictionResults.TIMES: times, **_state_of(continue_from)}
    return {**_run(signatures, session, SavedModelLabels.PREDICT, given), PredictionResults.TIMES: times}


def _filtered(
    signatures: Any, session: Any, label: str, features: Mapping[str, Any], state: Mapping[str, Any]
) -> dict[str, Any]:
    times = np.asarray(features[FilteringFeatures.TIMES])
    given = {name: _batched(np.asarray(value), times.ndim) for name, value in features.items()}
    if given[FilteringFeatures.VALUES].ndim == 2:
        given[FilteringFeatures.VALUES] = given[FilteringFeatures.VALUES][..., np.newaxis]
    found = _run(signatures, session, label, {**given, **state})
    return {**found, FilteringResults.TIMES: given[FilteringFeatures.TIMES]}


def _batched(value: Any, rank_of_times: int) -> Any:
    """``value`` [B, W, ...], of one time or of one sequence."""
    return value[(np.newaxis,) * (2 - rank_of_times)]


def _state_of(continue_from: Mapping[str, Any]) -> dict[str, Any]:
    if FilteringResults.STATE_TUPLE in continue_from:
        return head.state_to_dictionary(continue_from[FilteringResults.STATE_TUPLE])
    return {name: value for name, value in continue_from.items() if name.startswith(State.STATE_PREFIX)}


def _run(signatures: Any, session: Any, label: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of a signature, for those of ``given`` that it takes."""
    signature = signatures.signature_def[label]
    feeds = {tensor.name: given[name] for name, tensor in signature.inputs.items() if name in given}
    found: dict[str, Any] = session.run({name: tensor.name for name, tensor in signature.outputs.items()}, feeds)
    return found
