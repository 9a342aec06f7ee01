"""Deep networks: :class:`DNNClassifier`, :class:`DNNRegressor`, :class:`DNNEstimator`.

``dnn/input_from_feature_columns`` -> ``dnn/hiddenlayer_<i>`` -> ``dnn/logits``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...runtime import tf1 as tf
from ..estimator import Estimator
from ..model_fn import EstimatorSpec, ModeKeys
from .old_head import classification_head, regression_head
from .optimizers import optimizer_instance

__all__ = ["DNNClassifier", "DNNEstimator", "DNNRegressor", "checked_features", "dnn_logit_fn_builder", "partitioner"]

_LEARNING_RATE = 0.05


def partitioner(config: Any, least_bytes: int = 256 << 10) -> Any:
    """Splits variables of at least ``2 * least_bytes`` over the parameter servers."""
    return tf.min_max_variable_partitioner(
        max_partitions=max(1, config.num_ps_replicas if config else 0), min_slice_size=least_bytes
    )


def input_partitioner(given: Any, config: Any) -> Any:
    """``given``, or one that splits very large embeddings."""
    return given or partitioner(config, 64 << 20)


def checked_features(features: Any) -> dict[str, Any]:
    """``features``, which have to be a dict.

    Raises:
        ValueError: They are something else.
    """
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")
    return features


@contextmanager
def no_model_variables() -> Iterator[None]:
    """Keeps what is made inside out of MODEL_VARIABLES, where ``tf.feature_column`` adds it by itself."""
    known = tf.get_collection_ref(tf.GraphKeys.MODEL_VARIABLES)
    before = len(known)
    yield
    del known[before:]


def add_layer_summary(value: Any, tag: str) -> None:
    """Shows how much of a layer's output is zero, and its distribution."""
    tf.summary.scalar(f"{tag}/fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf.summary.histogram(f"{tag}/activation", value)


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Any,
    activation_fn: Any,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., Any]:
    """A function of (features, mode) that builds the network and returns its logits [B, units].

    Args:
        units: The number of logits.
        hidden_units: The widths of the hidden layers.
        feature_columns: What the input layer is made from.
        activation_fn: That of the hidden layers.
        dropout: The part of each hidden layer that is dropped in training.
        input_layer_partitioner: Splits the variables of the input layer.
        batch_norm: Whether hidden layers end with batch normalization.

    Raises:
        ValueError: ``units`` is no int.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features: Any, mode: str) -> Any:
        training = mode == ModeKeys.TRAIN
        values = tuple(features.values())
        with tf.variable_scope("input_from_feature_columns", values=values, partitioner=input_layer_partitioner):
            with no_model_variables():
                net = tf.feature_column.input_layer(features, feature_columns)
        for number, width in enumerate(hidden_units):
            with tf.variable_scope(f"hiddenlayer_{number}", values=(net,)) as scope:
                net = _dense(net, width, activation_fn, scope)
                if dropout is not None and training:
                    net = tf.layers.Dropout(rate=dropout)(net, training=True)
                if batch_norm:
                    name = f"batchnorm_{number}"
                    norm = tf.layers.BatchNormalization(momentum=0.999, name=name, _scope=name)
                    net = norm(net, training=training)
            add_layer_summary(net, scope.name)
        with tf.variable_scope("logits", values=(net,)) as scope:
            logits = _dense(net, units, None, scope)
        add_layer_summary(logits, scope.name)
        return logits

    return dnn_logit_fn


def _dense(inputs: Any, units: int, activation: Any, scope: Any) -> Any:
    layer = tf.layers.Dense(
        units, activation=activation, kernel_initializer=tf.glorot_uniform_initializer(), name=scope, _scope=scope
    )
    return layer(inputs)


class DNNEstimator(Estimator):
    """A deep network with a head of your choice.

    Args:
        head: A head of ``tf.estimator`` or ``tf.contrib.estimator``.
        hidden_units: The widths of the hidden layers.
        feature_columns: Dense feature columns.
        model_dir: Where checkpoints and summaries go.
        optimizer: A ``tf.train.Optimizer``, its name, or a function that returns one.
        activation_fn: That of the hidden layers.
        dropout: The part of each hidden layer that is dropped in training.
        input_layer_partitioner: Splits the variables of the input layer.
        config: A ``RunConfig``.
        warm_start_from: A checkpoint or ``WarmStartSettings``.
        batch_norm: Whether hidden layers end with batch normalization.
    """

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        columns = tuple(feature_columns or ())

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            values = tuple(tf.nest.flatten(checked_features(features)))
            trainer = optimizer_instance(optimizer, _LEARNING_RATE)
            with tf.variable_scope("dnn", values=values, partitioner=partitioner(config), use_resource=True):
                logit_fn = dnn_logit_fn_builder(
                    units=head.logits_dimension,
                    hidden_units=hidden_units,
                    feature_columns=columns,
                    activation_fn=activation_fn,
                    dropout=dropout,
                    input_layer_partitioner=input_partitioner(input_layer_partitioner, config),
                    batch_norm=batch_norm,
                )
                spec: EstimatorSpec = head.create_estimator_spec(
                    features=features, mode=mode, labels=labels, optimizer=trainer, logits=logit_fn(features, mode)
                )
                return spec

        super().__init__(model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """A deep network that predicts classes; see :class:`DNNEstimator` for what is not here.

    Args:
        hidden_units: The widths of the hidden layers.
        feature_columns: Dense feature columns.
        model_dir: Where checkpoints and summaries go.
        n_classes: The number of classes.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        label_vocabulary: The labels of the classes, if labels are strings.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "weighted_sum",
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            classification_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


class DNNRegressor(DNNEstimator):
    """A deep network that predicts numbers; see :class:`DNNEstimator` for what is not here.

    Args:
        hidden_units: The widths of the hidden layers.
        feature_columns: Dense feature columns.
        model_dir: Where checkpoints and summaries go.
        label_dimension: How many numbers an example has.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "weighted_sum",
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            regression_head(label_dimension, weight_column, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )
