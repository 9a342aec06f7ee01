"""Linear models: estimators of classes and numbers, and of what a head says."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...runtime import tf1 as tf
from .. import layers
from .dnn import is_core_column, partitioner
from .estimator import Estimator
from .head import multi_class_head, regression_head
from .model_fn import ModelFnOps
from .predicting import ClassifierPredictions, RegressorPredictions

__all__ = ["LinearClassifier", "LinearEstimator", "LinearRegressor", "linear_learning_rate", "linear_logits"]

_LEARNING_RATE = 0.2


def linear_learning_rate(columns: Sequence[Any]) -> float:
    """Return the learning rate of Ftrl: less for more columns."""
    return min(_LEARNING_RATE, 1.0 / math.sqrt(len(columns)))


def linear_logits(
    features: dict[str, Any],
    columns: Sequence[Any],
    logits_dimension: int,
    joint_weights: bool,
    scope: Any,
) -> Any:
    """The logits [B, D] of a linear model, in the variable scope "linear" that its caller is in."""
    if is_core_column(columns):
        return tf.feature_column.linear_model(
            features=features, feature_columns=columns, units=logits_dimension, weight_collections=["linear"]
        )
    if joint_weights:
        raise ValueError("_joint_weights=True is not available")
    logits, _, _ = layers.weighted_sum_from_feature_columns(
        columns_to_tensors=features,
        feature_columns=columns,
        num_outputs=logits_dimension,
        weight_collections=["linear"],
        scope=scope,
    )
    return logits


def _linear_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any) -> ModelFnOps:
    head = params["head"]
    columns = params["feature_columns"]
    features = features if isinstance(features, dict) else {"": features}
    with tf.variable_scope(
        "linear", values=tuple(features.values()), partitioner=partitioner(config, 64 << 20)
    ) as scope:
        logits = linear_logits(features, columns, head.logits_dimension, params["joint_weights"], scope)

        def train_op(loss: Any) -> Any:
            optimizer = params["optimizer"]
            if optimizer is None:
                optimizer = tf.train.FtrlOptimizer(learning_rate=linear_learning_rate(columns))
            elif callable(optimizer):
                optimizer = optimizer()
            elif isinstance(optimizer, str):
                named: Any = layers.OPTIMIZER_CLS_NAMES[optimizer]
                optimizer = named(learning_rate=linear_learning_rate(columns))
            variables = tf.get_collection("linear")
            gradients = tf.gradients(loss, variables)
            if params["gradient_clip_norm"]:
                gradients, _ = tf.clip_by_global_norm(gradients, params["gradient_clip_norm"])
            return optimizer.apply_gradients(
                zip(gradients, variables, strict=True), global_step=tf.train.get_global_step()
            )

        ops: ModelFnOps = head.create_model_fn_ops(features, mode, labels, train_op_fn=train_op, logits=logits)
        return ops


class LinearEstimator(Estimator):
    """A linear model under a head.

    Args:
        feature_columns: What the model reads, of ``contrib.layers`` or of ``tf.feature_column``.
        head: The head.
        model_dir: Where checkpoints and summaries go.
        weight_column_name: Of no effect: that of the head counts.
        optimizer: An optimizer, its name, or a function that makes one; Ftrl without it.
        gradient_clip_norm: The most that the gradients' norm may be.
        _joint_weights: False: one variable for all columns cannot be had.
        config: A ``RunConfig``.
        feature_engineering_fn: A function of (features, labels) that returns others.
    """

    def __init__(
        self,
        feature_columns: Any,
        head: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
    ) -> None:
        del weight_column_name
        if not feature_columns:
            raise ValueError("feature_columns must be given")
        super().__init__(
            model_fn=_linear_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "feature_columns": tuple(feature_columns),
                "optimizer": optimizer,
                "gradient_clip_norm": gradient_clip_norm,
                "joint_weights": _joint_weights,
            },
            feature_engineering_fn=feature_engineering_fn,
        )


class LinearClassifier(ClassifierPredictions, LinearEstimator):
    """A linear model that chooses one of several classes; see :class:`LinearEstimator`.

    Args:
        feature_columns: What the model reads.
        model_dir: Where checkpoints and summaries go.
        n_classes: How many classes.
        weight_column_name: Which feature has the weights of examples.
        optimizer: See there.
        gradient_clip_norm: See there.
        enable_centered_bias: Whether a bias is learned for all examples.
        _joint_weight: See there.
        config: A ``RunConfig``.
        feature_engineering_fn: See there.
        label_keys: The classes' names, if labels are texts.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            feature_columns,
            head,
            model_dir,
            weight_column_name,
            optimizer,
            gradient_clip_norm,
            _joint_weight,
            config,
            feature_engineering_fn,
        )


class LinearRegressor(RegressorPredictions, LinearEstimator):
    """A linear model for numbers; see :class:`LinearEstimator`.

    Args:
        feature_columns: What the model reads.
        model_dir: Where checkpoints and summaries go.
        weight_column_name: Which feature has the weights of examples.
        optimizer: See there.
        gradient_clip_norm: See there.
        enable_centered_bias: Whether a bias is learned for all examples.
        label_dimension: How many numbers each example has.
        _joint_weights: See there.
        config: A ``RunConfig``.
        feature_engineering_fn: See there.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
    ) -> None:
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            feature_columns,
            head,
            model_dir,
            weight_column_name,
            optimizer,
            gradient_clip_norm,
            _joint_weights,
            config,
            feature_engineering_fn,
        )
