"""Names of kinds of problems, of metrics and of predictions."""

from __future__ import annotations

from ..layers.target_column import ProblemType

__all__ = ["MetricKey", "PredictionKey", "ProblemType"]


class PredictionKey:
    """Names of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class MetricKey:
    """Names of metrics."""

    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    ACCURACY = "accuracy"
    PREDICTION_MEAN = "labels/prediction_mean"
    LABEL_MEAN = "labels/actual_label_mean"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"
    CLASS_PREDICTION_MEAN = "labels/prediction_mean/class%d"
    CLASS_LABEL_MEAN = "labels/actual_label_mean/class%d"
    CLASS_AUC = "auc/class%d"
    CLASS_AUC_PR = "auc_precision_recall/class%d"
