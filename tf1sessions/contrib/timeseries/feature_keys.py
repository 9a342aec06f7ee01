"""Names of features and of results."""

from __future__ import annotations

__all__ = [
    "FilteringFeatures",
    "FilteringResults",
    "PredictionFeatures",
    "PredictionResults",
    "SavedModelLabels",
    "State",
    "Times",
    "TrainEvalFeatures",
    "Values",
]


class State:
    """Keys of a model's state."""

    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"  # of the parts of one in an exported model


class Times:
    """Keys of times."""

    TIMES = "times"


class Values:
    """Keys of the series."""

    VALUES = "values"


class TrainEvalFeatures(Times, Values):
    """The keys of features for training and evaluation."""


class PredictionFeatures(Times, State):
    """The keys of features for predictions."""


class FilteringFeatures(Times, Values, State):
    """The keys of features that update a state."""


class PredictionResults(Times):
    """The keys of predictions besides those of the model."""


class FilteringResults(Times, State):
    """The keys of an evaluation's results, for predictions that go on from it."""


class SavedModelLabels:
    """Signatures of an exported model."""

    PREDICT = "serving_default"
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"
