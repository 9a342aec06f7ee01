"""Wide and deep models: a linear model and a deep network whose logits are added.

:class:`DNNLinearCombinedClassifier`, :class:`DNNLinearCombinedRegressor`, :class:`DNNLinearCombinedEstimator`; each of
the two parts has an optimizer of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf
from ..estimator import Estimator
from ..model_fn import EstimatorSpec
from .dnn import add_layer_summary, checked_features, dnn_logit_fn_builder, input_partitioner, partitioner
from .linear import linear_learning_rate, linear_logit_fn_builder
from .old_head import classification_head, regression_head
from .optimizers import optimizer_instance

__all__ = ["DNNLinearCombinedClassifier", "DNNLinearCombinedEstimator", "DNNLinearCombinedRegressor"]

# https://arxiv.org/abs/1606.07792 trains both parts jointly; these are what TensorFlow 1.15 takes
_DNN_LEARNING_RATE = 0.001
_LINEAR_LEARNING_RATE = 0.005


def _model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    linear_feature_columns: Any,
    linear_optimizer: Any,
    dnn_feature_columns: Any,
    dnn_optimizer: Any,
    dnn_hidden_units: Sequence[int] | None,
    dnn_activation_fn: Any,
    dnn_dropout: float | None,
    input_layer_partitioner: Any,
    config: Any,
    batch_norm: bool,
    linear_sparse_combiner: str,
) -> EstimatorSpec:
    values = tuple(tf.nest.flatten(checked_features(features)))
    input_layer_partitioner = input_partitioner(input_layer_partitioner, config)
    parts = []  # (name of the scope, logits, optimizer)
    if dnn_feature_columns:
        if not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        optimizer = optimizer_instance(dnn_optimizer, _DNN_LEARNING_RATE)
        with tf.variable_scope("dnn", values=values, partitioner=partitioner(config), use_resource=True) as scope:
            logit_fn = dnn_logit_fn_builder(
                units=head.logits_dimension,
                hidden_units=dnn_hidden_units,
                feature_columns=dnn_feature_columns,
                activation_fn=dnn_activation_fn,
                dropout=dnn_dropout,
                input_layer_partitioner=input_layer_partitioner,
                batch_norm=batch_norm,
            )
            parts.append((scope.name, logit_fn(features, mode), optimizer))
    if linear_feature_columns:
        rate = linear_learning_rate(len(linear_feature_columns), _LINEAR_LEARNING_RATE)
        optimizer = optimizer_instance(linear_optimizer, rate)
        with tf.variable_scope(
            "linear", values=values, partitioner=input_layer_partitioner, use_resource=True
        ) as scope:
            logit_fn = linear_logit_fn_builder(head.logits_dimension, linear_feature_columns, linear_sparse_combiner)
            linear_logits = logit_fn(features)
            add_layer_summary(linear_logits, scope.name)
            parts.append((scope.name, linear_logits, optimizer))

    def train_op_fn(loss: Any) -> Any:
        """Each part's step, and then one more global step."""
        steps = [
            optimizer.minimize(loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=name))
            for name, _, optimizer in parts
        ]
        with tf.control_dependencies([tf.group(*steps)]):
            return tf.assign_add(tf.train.get_global_step(), 1).op

    logits = parts[0][1] if len(parts) == 1 else parts[0][1] + parts[1][1]
    spec: EstimatorSpec = head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits
    )
    return spec


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and a deep network with a head of your choice.

    Args:
        head: A head of ``tf.estimator`` or ``tf.contrib.estimator``.
        model_dir: Where checkpoints and summaries go.
        linear_feature_columns: The columns of the linear part.
        linear_optimizer: A ``tf.train.Optimizer``, its name, or a function that returns one.
        dnn_feature_columns: The columns of the deep part.
        dnn_optimizer: As ``linear_optimizer``.
        dnn_hidden_units: The widths of the hidden layers.
        dnn_activation_fn: Their activation.
        dnn_dropout: The part of each hidden layer that is dropped in training.
        input_layer_partitioner: Splits the variables of the input layers.
        config: A ``RunConfig``.
        linear_sparse_combiner: "sum", "mean" or "sqrtn": how several values of a categorical column are added.

    Raises:
        ValueError: Neither part has columns.
    """

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        linear_sparse_combiner: str = "sum",
        *,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        linear_columns, dnn_columns = tuple(linear_feature_columns or ()), tuple(dnn_feature_columns or ())
        if not linear_columns and not dnn_columns:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            return _model_fn(
                features,
                labels,
                mode,
                head,
                linear_columns,
                linear_optimizer,
                dnn_columns,
                dnn_optimizer,
                dnn_hidden_units,
                dnn_activation_fn,
                dnn_dropout,
                input_layer_partitioner,
                config,
                batch_norm,
                linear_sparse_combiner,
            )

        super().__init__(model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """A wide and deep model that predicts classes; see :class:`DNNLinearCombinedEstimator` for what is not here.

    Args:
        n_classes: The number of classes.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        label_vocabulary: The labels of the classes, if labels are strings.
        warm_start_from: A checkpoint or ``WarmStartSettings``.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
        batch_norm: Whether hidden layers end with batch normalization.
    """

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "weighted_sum",
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            classification_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            linear_sparse_combiner,
            warm_start_from=warm_start_from,
            batch_norm=batch_norm,
        )


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """A wide and deep model that predicts numbers; see :class:`DNNLinearCombinedEstimator` for what is not here.

    Args:
        label_dimension: How many numbers an example has.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        warm_start_from: A checkpoint or ``WarmStartSettings``.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
        batch_norm: Whether hidden layers end with batch normalization.
    """

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "weighted_sum",
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            regression_head(label_dimension, weight_column, loss_reduction),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            linear_sparse_combiner,
            warm_start_from=warm_start_from,
            batch_norm=batch_norm,
        )
