"""Models that ignore the features: :class:`BaselineClassifier`, :class:`BaselineRegressor`, :class:`BaselineEstimator`.

They learn a bias for each logit, so that others can be compared with them.
"""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from ..estimator import Estimator
from ..model_fn import EstimatorSpec
from .dnn import checked_features
from .old_head import classification_head, regression_head
from .optimizers import optimizer_instance

__all__ = ["BaselineClassifier", "BaselineEstimator", "BaselineRegressor"]

_LEARNING_RATE = 0.3


def _batch_size(features: dict[str, Any]) -> Any:
    """The first dimension of the features, checked to be the same in all."""
    if not features:
        raise ValueError("Features should be a nonempty dictionary.")
    sizes = [_first_dimension(features[key]) for key in sorted(features)]
    with tf.control_dependencies([tf.assert_equal(sizes[0], size) for size in sizes[1:]]):
        return tf.identity(sizes[0])


def _first_dimension(feature: Any) -> Any:
    shape = feature.dense_shape if isinstance(feature, tf.SparseTensor) else tf.shape(feature, out_type=tf.int64)
    return shape[0]


class BaselineEstimator(Estimator):
    """A bias for each logit, with a head of your choice.

    Args:
        head: A head of ``tf.estimator`` or ``tf.contrib.estimator``.
        model_dir: Where checkpoints and summaries go.
        optimizer: A ``tf.train.Optimizer``, its name, or a function that returns one.
        config: A ``RunConfig``.
    """

    def __init__(self, head: Any, model_dir: Any = None, optimizer: Any = "Ftrl", config: Any = None) -> None:
        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            trainer = optimizer_instance(optimizer, _LEARNING_RATE)
            batch_size = _batch_size(checked_features(features))
            units = head.logits_dimension
            with tf.variable_scope("baseline", values=tuple(tf.nest.flatten(features))):
                bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
                logits = tf.multiply(bias, tf.ones(tf.stack([batch_size, units])))
            spec: EstimatorSpec = head.create_estimator_spec(
                features=features, mode=mode, labels=labels, optimizer=trainer, logits=logits
            )
            return spec

        super().__init__(model_fn, model_dir=model_dir, config=config)


class BaselineClassifier(BaselineEstimator):
    """Learns how frequent each class is.

    Args:
        model_dir: Where checkpoints and summaries go.
        n_classes: The number of classes.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        label_vocabulary: The labels of the classes, if labels are strings.
        optimizer: A ``tf.train.Optimizer``, its name, or a function that returns one.
        config: A ``RunConfig``.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
    """

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = "weighted_sum",
    ) -> None:
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)


class BaselineRegressor(BaselineEstimator):
    """Learns the mean of the labels.

    Args:
        model_dir: Where checkpoints and summaries go.
        label_dimension: How many numbers an example has.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        optimizer: A ``tf.train.Optimizer``, its name, or a function that returns one.
        config: A ``RunConfig``.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
    """

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = "weighted_sum",
    ) -> None:
        super().__init__(regression_head(label_dimension, weight_column, loss_reduction), model_dir, optimizer, config)
