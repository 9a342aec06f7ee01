"""Names of ``tensorflow_estimator``'s inner files that programs use, though they were private: heads, optimizers.

A head is the public one, given all the arguments by their names; only the default of ``loss_reduction`` differs.
"""

from __future__ import annotations

from typing import Any

from .head import BinaryClassHead, MultiClassHead, RegressionHead
from .old_head import OldHead, OldHeadBase, classification_head
from .optimizers import optimizer_instance

__all__ = ["get_optimizer_instance"]

_SUM = "weighted_sum"
_Head = OldHeadBase
get_optimizer_instance = optimizer_instance
_binary_logistic_or_multi_class_head = classification_head


def _multi_class_head_with_softmax_cross_entropy_loss(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _SUM,
    loss_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    return OldHead(MultiClassHead(**locals()))


def _binary_logistic_head_with_sigmoid_cross_entropy_loss(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _SUM,
    loss_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    return OldHead(BinaryClassHead(**locals()))


def _regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _SUM,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    return OldHead(RegressionHead(**locals()))
