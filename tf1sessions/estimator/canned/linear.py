"""Linear models: :class:`LinearClassifier`, :class:`LinearRegressor`, :class:`LinearEstimator`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...runtime import tf1 as tf
from ..estimator import Estimator
from ..model_fn import EstimatorSpec
from .dnn import checked_features, input_partitioner, no_model_variables
from .old_head import classification_head, regression_head
from .optimizers import optimizer_instance

__all__ = ["LinearClassifier", "LinearEstimator", "LinearRegressor", "linear_learning_rate", "linear_logit_fn_builder"]

_LEARNING_RATE = 0.2


def linear_learning_rate(n_columns: int, greatest: float = _LEARNING_RATE) -> float:
    """The learning rate for so many columns."""
    return min(greatest, 1.0 / math.sqrt(n_columns))


def _zero_fraction(parts: Sequence[Any]) -> Any:
    """The part of all numbers in ``parts`` that is zero."""
    zeros = [tf.reduce_sum(tf.cast(tf.equal(part, 0), tf.float32)) for part in parts]
    sizes = [tf.cast(tf.size(part), tf.float32) for part in parts]
    return tf.add_n(zeros) / tf.add_n(sizes)


def linear_logit_fn_builder(units: int, feature_columns: Any, sparse_combiner: str = "sum") -> Callable[..., Any]:
    """A function of features that builds the linear model and returns its logits [B, units].

    Args:
        units: The number of logits.
        feature_columns: Its columns.
        sparse_combiner: How the values of a categorical column with several in an example are added: "sum", "mean" or
            "sqrtn".
    """

    def linear_logit_fn(features: Any) -> Any:
        columns_to_variables: dict[Any, Any] = {}
        with no_model_variables():
            logits = tf.feature_column.linear_model(
                features=features,
                feature_columns=feature_columns,
                units=units,
                sparse_combiner=sparse_combiner,
                cols_to_vars=columns_to_variables,
            )
        bias = columns_to_variables.pop("bias")
        bias = bias[0] if isinstance(bias, (list, tuple)) else bias
        if units > 1:
            tf.summary.histogram("bias", bias)
        else:
            tf.summary.scalar("bias", tf.squeeze(bias))
        parts = [part for variables in columns_to_variables.values() for part in tf.nest.flatten(_parts(variables))]
        tf.summary.scalar("fraction_of_zero_weights", _zero_fraction(parts))
        return logits

    return linear_logit_fn


def _parts(variables: Any) -> Any:
    return list(variables) if isinstance(variables, (list, tuple)) else [variables]


class LinearEstimator(Estimator):
    """A linear model with a head of your choice.

    Args:
        head: A head of ``tf.estimator`` or ``tf.contrib.estimator``.
        feature_columns: Feature columns, dense and categorical.
        model_dir: Where checkpoints and summaries go.
        optimizer: A ``tf.train.Optimizer``, its name, or a function that returns one.
        config: A ``RunConfig``.
        partitioner: Splits the variables.
        sparse_combiner: "sum", "mean" or "sqrtn": how several values of a categorical column are added.
    """

    def __init__(
        self,
        head: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        sparse_combiner: str = "sum",
        *,
        warm_start_from: Any = None,
    ) -> None:
        columns = tuple(feature_columns or ())

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            values = tuple(tf.nest.flatten(checked_features(features)))
            trainer = optimizer_instance(optimizer, linear_learning_rate(len(columns)))
            with tf.variable_scope(
                "linear", values=values, partitioner=input_partitioner(partitioner, config), use_resource=True
            ):
                logit_fn = linear_logit_fn_builder(head.logits_dimension, columns, sparse_combiner)
                spec: EstimatorSpec = head.create_estimator_spec(
                    features=features, mode=mode, labels=labels, optimizer=trainer, logits=logit_fn(features)
                )
                return spec

        super().__init__(model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    """A linear model that predicts classes; see :class:`LinearEstimator` for what is not here.

    Args:
        feature_columns: Feature columns, dense and categorical.
        model_dir: Where checkpoints and summaries go.
        n_classes: The number of classes.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        label_vocabulary: The labels of the classes, if labels are strings.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
        warm_start_from: A checkpoint or ``WarmStartSettings``.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "weighted_sum",
        sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            classification_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            feature_columns,
            model_dir,
            optimizer,
            config,
            partitioner,
            sparse_combiner,
            warm_start_from=warm_start_from,
        )


class LinearRegressor(LinearEstimator):
    """A linear model that predicts numbers; see :class:`LinearEstimator` for what is not here.

    Args:
        feature_columns: Feature columns, dense and categorical.
        model_dir: Where checkpoints and summaries go.
        label_dimension: How many numbers an example has.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
        warm_start_from: A checkpoint or ``WarmStartSettings``.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "weighted_sum",
        sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            regression_head(label_dimension, weight_column, loss_reduction),
            feature_columns,
            model_dir,
            optimizer,
            config,
            partitioner,
            sparse_combiner,
            warm_start_from=warm_start_from,
        )
