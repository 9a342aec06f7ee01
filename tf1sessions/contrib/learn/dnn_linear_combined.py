"""Deep networks and linear models together: wide and deep."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...runtime import tf1 as tf
from .. import layers
from .dnn import dnn_logits, dnn_optimizer, partitioner
from .estimator import Estimator
from .head import multi_class_head, regression_head
from .linear import linear_learning_rate, linear_logits
from .model_fn import ModelFnOps
from .predicting import ClassifierPredictions, RegressorPredictions

__all__ = ["DNNLinearCombinedClassifier", "DNNLinearCombinedEstimator", "DNNLinearCombinedRegressor"]

_DNN_LEARNING_RATE = 0.05


def _combined_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any) -> ModelFnOps:
    head = params["head"]
    features = features if isinstance(features, dict) else {"": features}
    parts = []
    if params["dnn_feature_columns"]:
        parts.append(_network(features, mode, params, config))
    if params["linear_feature_columns"]:
        parts.append(_linear_model(features, params, config))
    logits = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    ops: ModelFnOps = head.create_model_fn_ops(
        features, mode, labels, train_op_fn=functools.partial(_train_op, params=params), logits=logits
    )
    return ops


def _network(features: dict[str, Any], mode: str, params: dict[str, Any], config: Any) -> Any:
    if not params["dnn_hidden_units"]:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
    replicas = config.num_ps_replicas if config is not None else 0
    slices = tf.min_max_variable_partitioner(max_partitions=max(replicas, 1))
    with tf.variable_scope("dnn", values=tuple(features.values()), partitioner=slices) as scope:
        return dnn_logits(
            features,
            params["dnn_feature_columns"],
            params["dnn_hidden_units"],
            params["head"].logits_dimension,
            mode,
            config,
            params["dnn_activation_fn"],
            params["dnn_dropout"],
            scope,
            64 << 20,
            "/",
        )


def _linear_model(features: dict[str, Any], params: dict[str, Any], config: Any) -> Any:
    slices = partitioner(config, 64 << 20)
    with tf.variable_scope("linear", values=tuple(features.values()), partitioner=slices) as scope:
        logits = linear_logits(
            features,
            params["linear_feature_columns"],
            params["head"].logits_dimension,
            params["joint_linear_weights"],
            scope,
        )
        tf.summary.scalar("linear/fraction_of_zero_values", tf.nn.zero_fraction(logits))
        tf.summary.histogram("linear/activation", logits)
    return logits


def _train_op(loss: Any, params: dict[str, Any]) -> Any:
    """A step of each part's optimizer on the part's variables."""
    global_step = tf.train.get_global_step()
    counted = params["fix_global_step_increment_bug"]

    def optimized(part: str, learning_rate: Any, optimizer: Any) -> Any:
        return layers.optimize_loss(
            loss=loss,
            global_step=global_step,
            learning_rate=learning_rate,
            optimizer=optimizer,
            clip_gradients=params["gradient_clip_norm"],
            variables=tf.get_collection(part),
            name=part,
            summaries=[],
            increment_global_step=not counted,
        )

    steps = []
    if params["dnn_feature_columns"]:
        steps.append(optimized("dnn", _DNN_LEARNING_RATE, dnn_optimizer(params["dnn_optimizer"])))
    if params["linear_feature_columns"]:
        optimizer = params["linear_optimizer"]
        rate = linear_learning_rate(params["linear_feature_columns"])
        if optimizer is None:
            optimizer = tf.train.FtrlOptimizer(learning_rate=rate)
        elif callable(optimizer):
            optimizer = optimizer()
        steps.append(optimized("linear", rate, optimizer))
    step = tf.group(*steps)
    if not counted:
        return step
    with tf.control_dependencies([step]):
        return tf.assign_add(global_step, 1).op


class DNNLinearCombinedEstimator(Estimator):
    """A deep network plus a linear model, under a head.

    Args:
        head: The head.
        model_dir: Where checkpoints and summaries go.
        linear_feature_columns: What the linear model reads.
        linear_optimizer: That of the linear model; Ftrl without it.
        _joint_linear_weights: False: one variable for all columns cannot be had.
        dnn_feature_columns: What the network reads.
        dnn_optimizer: That of the network; Adagrad without it.
        dnn_hidden_units: The sizes of the network's layers.
        dnn_activation_fn: Of the layers; relu without it.
        dnn_dropout: The share of each layer's outputs that training leaves out.
        gradient_clip_norm: The most that the norm of either's gradients may be.
        config: A ``RunConfig``.
        feature_engineering_fn: A function of (features, labels) that returns others.
        embedding_lr_multipliers: None: learning rates of single embeddings cannot be had.
        fix_global_step_increment_bug: Whether a step counts as one; each part counted by itself in 1.15.5.
        input_layer_partitioner: None.

    Raises:
        ValueError: There are no columns.
    """

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
        embedding_lr_multipliers: Any = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Any = None,
    ) -> None:
        if embedding_lr_multipliers or input_layer_partitioner:
            raise ValueError(
                f"{type(self).__name__}: embedding_lr_multipliers and input_layer_partitioner are not available"
            )
        linear_columns, dnn_columns = tuple(linear_feature_columns or ()), tuple(dnn_feature_columns or ())
        if not linear_columns and not dnn_columns:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        super().__init__(
            model_fn=_combined_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "linear_feature_columns": linear_columns,
                "linear_optimizer": linear_optimizer,
                "joint_linear_weights": _joint_linear_weights,
                "dnn_feature_columns": dnn_columns,
                "dnn_optimizer": dnn_optimizer,
                "dnn_hidden_units": dnn_hidden_units,
                "dnn_activation_fn": dnn_activation_fn or tf.nn.relu,
                "dnn_dropout": dnn_dropout,
                "gradient_clip_norm": gradient_clip_norm,
                "fix_global_step_increment_bug": fix_global_step_increment_bug,
            },
            feature_engineering_fn=feature_engineering_fn,
        )


class DNNLinearCombinedClassifier(ClassifierPredictions, DNNLinearCombinedEstimator):
    """Chooses one of several classes; see :class:`DNNLinearCombinedEstimator` and ``DNNClassifier``."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        del input_layer_min_slice_size
        super().__init__(
            multi_class_head(
                n_classes,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys,
            ),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            _joint_linear_weights,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            fix_global_step_increment_bug,
        )


class DNNLinearCombinedRegressor(RegressorPredictions, DNNLinearCombinedEstimator):
    """Numbers; see :class:`DNNLinearCombinedEstimator` and ``DNNRegressor``."""

    def __init__(
        self,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        del input_layer_min_slice_size
        super().__init__(
            regression_head(
                weight_column_name=weight_column_name,
                label_dimension=label_dimension,
                enable_centered_bias=enable_centered_bias,
            ),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            _joint_linear_weights,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            fix_global_step_increment_bug,
        )
