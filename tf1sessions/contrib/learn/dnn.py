"""Deep networks: estimators of classes and numbers, and of what a head says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...runtime import tf1 as tf
from .. import layers
from .estimator import Estimator
from .head import multi_class_head, regression_head
from .model_fn import ModelFnOps
from .predicting import ClassifierPredictions, RegressorPredictions

__all__ = [
    "DNNClassifier",
    "DNNEstimator",
    "DNNRegressor",
    "dnn_logits",
    "dnn_optimizer",
    "is_core_column",
    "partitioner",
]

_LEARNING_RATE = 0.05


def is_core_column(columns: Any) -> bool:
    """Whether the columns are those of ``tf.feature_column``."""
    return bool(columns) and all(type(column).__module__.startswith("tensorflow.") for column in columns)


def dnn_optimizer(optimizer: Any) -> Any:
    """An optimizer: the one given, by itself, by name or by a function; Adagrad if there is none."""
    if optimizer is None:
        return tf.train.AdagradOptimizer(learning_rate=_LEARNING_RATE)
    return optimizer() if callable(optimizer) else optimizer


def partitioner(config: Any, min_slice_size: int) -> Any:
    """Splits large variables among the parameter servers; even without them variables are named as parts."""
    replicas = config.num_ps_replicas if config is not None else 0
    return tf.min_max_variable_partitioner(max_partitions=max(replicas, 1), min_slice_size=min_slice_size)


def dnn_logits(
    features: dict[str, Any],
    columns: Sequence[Any],
    hidden_units: Sequence[int],
    logits_dimension: int,
    mode: str,
    config: Any,
    activation_fn: Any,
    dropout: float | None,
    scope: Any,
    input_slice_size: int,
    separator: str,
) -> Any:
    """The logits [B, D] of a deep network, in the variable scope "dnn" that its caller is in.

    Args:
        features: Tensors by name.
        columns: What the network reads of them.
        hidden_units: The sizes of its layers.
        logits_dimension: D.
        mode: One of ``ModeKeys``.
        config: The ``RunConfig``.
        activation_fn: Of the layers.
        dropout: The share of each layer's outputs that training leaves out.
        scope: The variable scope.
        input_slice_size: The least size of a part of the inputs' variables.
        separator: Between a layer's name and those of its summaries.
    """
    values = tuple(features.values())
    with tf.variable_scope(
        "input_from_feature_columns", values=values, partitioner=partitioner(config, input_slice_size)
    ) as input_scope:
        if is_core_column(columns):
            net = tf.feature_column.input_layer(features, columns, weight_collections=["dnn"])
        else:
            net = layers.input_from_feature_columns(
                columns_to_tensors=features,
                feature_columns=columns,
                weight_collections=["dnn"],
                scope=input_scope,
            )
    for number, units in enumerate(hidden_units):
        with tf.variable_scope(f"hiddenlayer_{number}", values=(net,)) as layer_scope:
            net = layers.fully_connected(
                net, units, activation_fn=activation_fn, variables_collections=["dnn"], scope=layer_scope
            )
            if dropout is not None and mode == "train":
                net = layers.dropout(net, keep_prob=1.0 - dropout)
        _summarize(net, f"{scope.name}/{layer_scope.name.rpartition('/')[2]}", separator)
    with tf.variable_scope("logits", values=(net,)) as logits_scope:
        logits = layers.fully_connected(
            net, logits_dimension, activation_fn=None, variables_collections=["dnn"], scope=logits_scope
        )
    _summarize(logits, f"{scope.name}/logits", separator)
    return logits


def _summarize(value: Any, tag: str, separator: str) -> None:
    tf.summary.scalar(f"{tag}{separator}fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf.summary.histogram(f"{tag}{separator}activation", value)


def _dnn_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any) -> ModelFnOps:
    head = params["head"]
    features = features if isinstance(features, dict) else {"": features}
    replicas = config.num_ps_replicas if config is not None else 0
    slices = tf.min_max_variable_partitioner(max_partitions=max(replicas, 1))
    with tf.variable_scope("dnn", values=tuple(features.values()), partitioner=slices) as scope:
        logits = dnn_logits(
            features,
            params["feature_columns"],
            params["hidden_units"],
            head.logits_dimension,
            mode,
            config,
            params["activation_fn"],
            params["dropout"],
            scope,
            params["input_layer_min_slice_size"] or 64 << 20,
            "_",
        )

        def train_op(loss: Any) -> Any:
            return layers.optimize_loss(
                loss=loss,
                global_step=tf.train.get_global_step(),
                learning_rate=_LEARNING_RATE,
                optimizer=dnn_optimizer(params["optimizer"]),
                clip_gradients=params["gradient_clip_norm"],
                name="dnn",
                summaries=[],
            )

        ops: ModelFnOps = head.create_model_fn_ops(features, mode, labels, train_op_fn=train_op, logits=logits)
        return ops


class DNNEstimator(Estimator):
    """A deep network under a head.

    Args:
        head: The head.
        hidden_units: The sizes of the layers.
        feature_columns: What the network reads, of ``contrib.layers`` or of ``tf.feature_column``.
        model_dir: Where checkpoints and summaries go.
        optimizer: An optimizer, its name, or a function that makes one; Adagrad with 0.05 without it.
        activation_fn: Of the layers.
        dropout: The share of each layer's outputs that training leaves out.
        gradient_clip_norm: The most that the gradients' norm may be.
        config: A ``RunConfig``.
        feature_engineering_fn: A function of (features, labels) that returns others.
        embedding_lr_multipliers: None: learning rates of single embeddings cannot be had.
        input_layer_min_slice_size: The least size in bytes of a part of the inputs' variables.
    """

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        if embedding_lr_multipliers:
            raise ValueError(f"{type(self).__name__}: embedding_lr_multipliers is not available")
        super().__init__(
            model_fn=_dnn_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "hidden_units": hidden_units,
                "feature_columns": tuple(feature_columns or ()),
                "optimizer": optimizer,
                "activation_fn": activation_fn,
                "dropout": dropout,
                "gradient_clip_norm": gradient_clip_norm,
                "input_layer_min_slice_size": input_layer_min_slice_size,
            },
            feature_engineering_fn=feature_engineering_fn,
        )


class DNNClassifier(ClassifierPredictions, DNNEstimator):
    """A deep network that chooses one of several classes; see :class:`DNNEstimator`.

    Args:
        hidden_units: The sizes of the layers.
        feature_columns: What the network reads.
        model_dir: Where checkpoints and summaries go.
        n_classes: How many classes.
        weight_column_name: Which feature has the weights of examples.
        optimizer: See there.
        activation_fn: See there.
        dropout: See there.
        gradient_clip_norm: See there.
        enable_centered_bias: Whether a bias is learned for all examples.
        config: A ``RunConfig``.
        feature_engineering_fn: See there.
        embedding_lr_multipliers: See there.
        input_layer_min_slice_size: See there.
        label_keys: The classes' names, if labels are texts.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            multi_class_head(
                n_classes,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys,
            ),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            input_layer_min_slice_size,
        )


class DNNRegressor(RegressorPredictions, DNNEstimator):
    """A deep network for numbers; see :class:`DNNEstimator`.

    Args:
        hidden_units: The sizes of the layers.
        feature_columns: What the network reads.
        model_dir: Where checkpoints and summaries go.
        weight_column_name: Which feature has the weights of examples.
        optimizer: See there.
        activation_fn: See there.
        dropout: See there.
        gradient_clip_norm: See there.
        enable_centered_bias: Whether a bias is learned for all examples.
        config: A ``RunConfig``.
        feature_engineering_fn: See there.
        label_dimension: How many numbers each example has.
        embedding_lr_multipliers: See there.
        input_layer_min_slice_size: See there.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        super().__init__(
            regression_head(
                weight_column_name=weight_column_name,
                label_dimension=label_dimension,
                enable_centered_bias=enable_centered_bias,
            ),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            input_layer_min_slice_size,
        )
