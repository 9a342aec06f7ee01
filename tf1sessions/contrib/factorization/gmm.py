"""An estimator of mixtures of Gaussians."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...runtime import tf1 as tf
from ..learn.estimator import Estimator
from ..learn.model_fn import ModelFnOps
from . import gmm_ops
from .kmeans import InitializeClustersHook

__all__ = ["GMM"]


class GMM(Estimator):
    """An estimator of a mixture of Gaussians; each step of its training is one of all inputs.

    Args:
        num_clusters: How many Gaussians there are.
        model_dir: Where checkpoints and summaries go.
        random_seed: Of the first means.
        params: What is trained: "w" for weights, "m" for means, "c" for covariances, and these together.
        initial_clusters: The first means [K, D], or "random".
        covariance_type: "full" or "diag".
        config: A ``tf.contrib.learn.RunConfig``.
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: Any = None,
        random_seed: int = 0,
        params: str = "wmc",
        initial_clusters: Any = "random",
        covariance_type: str = gmm_ops.FULL_COVARIANCE,
        config: Any = None,
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
            del labels
            if isinstance(features, dict):
                features = tf.concat([features[name] for name in sorted(features)], 1)
            likelihood, scores, assignments, train, init_op, initialized = gmm_ops.gmm(
                features, initial_clusters, num_clusters, random_seed, covariance_type, params
            )
            with tf.control_dependencies([train]):
                step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
            tf.summary.scalar("loss", likelihood)
            return ModelFnOps(
                mode,
                predictions={self.ASSIGNMENTS: assignments[0][0]},
                loss=likelihood,
                train_op=tf.group(step),
                eval_metric_ops={self.SCORES: _latest(scores)},
                training_hooks=[InitializeClustersHook(init_op, initialized)],
            )

        super().__init__(model_fn, model_dir, config)

    def predict_assignments(
        self, input_fn: Callable[[], Any] | None = None, batch_size: int | None = None, outputs: Any = None
    ) -> Iterator[Any]:
        """Yields the likeliest Gaussian of each input; see ``predict``."""
        for found in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs, as_iterable=True):
            yield found[self.ASSIGNMENTS]

    def score(
        self, input_fn: Callable[[], Any] | None = None, batch_size: int | None = None, steps: int | None = None
    ) -> Any:
        """The log-likelihood of the inputs; see ``evaluate``."""
        return self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)[self.LOG_LIKELIHOOD]

    def weights(self) -> Any:
        """The weights [K] in the latest checkpoint."""
        return self.get_variable_value(gmm_ops.GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> Any:
        """The means [K, D] in the latest checkpoint."""
        return self.get_variable_value(gmm_ops.GmmAlgorithm.CLUSTERS_VARIABLE)[:, 0]

    def covariances(self) -> Any:
        """The covariances, [K, D, D] or [K, D], in the latest checkpoint."""
        return self.get_variable_value(gmm_ops.GmmAlgorithm.CLUSTERS_COVS_VARIABLE)


def _latest(value: Any) -> tuple[Any, Any]:
    """A metric that is the latest value of a tensor."""
    variable = tf.Variable(
        tf.zeros([], value.dtype),
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        trainable=False,
        validate_shape=False,
        shape=tf.TensorShape(None),
        name="scores_metric",
        use_resource=True,
    )
    return tf.ensure_shape(variable.read_value(), value.shape), variable.assign(value, read_value=False)
