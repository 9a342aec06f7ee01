"""k-means as an estimator of ``contrib.learn``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from ..factorization import clustering_ops
from ..factorization.kmeans import Training
from .estimator import Estimator
from .model_fn import ModelFnOps

__all__ = ["KMeansClustering"]


class KMeansClustering(Estimator):
    """An estimator of k-means; see ``tf.contrib.factorization.KMeansClustering``.

    Args:
        num_clusters: How many centers there are.
        model_dir: Where checkpoints and summaries go.
        initial_clusters: The first centers [K, D], a function of inputs and a number that returns up to so many
            centers, :attr:`RANDOM_INIT` or :attr:`KMEANS_PLUS_PLUS_INIT`.
        distance_metric: :attr:`SQUARED_EUCLIDEAN_DISTANCE` or :attr:`COSINE_DISTANCE`.
        random_seed: Of the choice of centers.
        use_mini_batch: Whether a step is a batch; otherwise it is all of the input.
        mini_batch_steps_per_iteration: After how many batches the new centers are used.
        kmeans_plus_plus_num_retries: How many more points are drawn for each center of k-means++.
        relative_tolerance: Training stops when the loss changes by less than this share of it.
        config: A ``RunConfig``.
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
    RANDOM_INIT = clustering_ops.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = clustering_ops.CLUSTERS_VAR_NAME
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self,
        num_clusters: Any,
        model_dir: Any = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
            del labels
            if isinstance(features, dict):
                features = tf.concat([features[name] for name in sorted(features)], 1)
            kmeans = clustering_ops.KMeans(
                features,
                num_clusters,
                initial_clusters,
                distance_metric,
                use_mini_batch,
                mini_batch_steps_per_iteration,
                random_seed,
                kmeans_plus_plus_num_retries,
            )
            training = Training.of(kmeans, relative_tolerance, self.LOSS_OP_NAME)
            return ModelFnOps(
                mode,
                predictions={self.ALL_SCORES: training.all_distances, self.CLUSTER_IDX: training.indices},
                loss=training.loss,
                train_op=training.train_op,
                eval_metric_ops={self.SCORES: tf.metrics.mean(training.loss)},
                training_hooks=training.hooks,
            )

        super().__init__(model_fn, model_dir, config)

    def predict_cluster_idx(self, input_fn: Callable[[], Any] | None = None) -> Any:
        """Yields the number of the nearest center of each input."""
        for found in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX], as_iterable=True):
            yield found[self.CLUSTER_IDX]

    def score(self, input_fn: Callable[[], Any] | None = None, steps: int | None = None) -> Any:
        """The sum of the distances of inputs to their nearest centers."""
        return self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES]

    def transform(self, input_fn: Callable[[], Any] | None = None, as_iterable: bool = False) -> Any:
        """The distances [N, K] of inputs to the centers, or an iterator of them."""
        found = self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable)
        return found if as_iterable else found[self.ALL_SCORES]

    def clusters(self) -> Any:
        """The centers [K, D] in the latest checkpoint."""
        return self.get_variable_value(self.CLUSTERS)
