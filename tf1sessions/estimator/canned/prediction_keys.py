"""The names of the canned estimators' predictions, as ``tensorflow_estimator``'s file of this name had them."""

from __future__ import annotations

__all__ = ["PredictionKeys"]


class PredictionKeys:
    """Name of a prediction -> its key in what ``predict`` yields."""

    CLASSES = "classes"
    CLASS_IDS = "class_ids"
    ALL_CLASSES = "all_classes"
    ALL_CLASS_IDS = "all_class_ids"
    LOGISTIC = "logistic"
    LOGITS = "logits"
    PREDICTIONS = "predictions"
    PROBABILITIES = "probabilities"
    TOP_K = "top_k"
