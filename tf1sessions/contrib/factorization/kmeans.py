"""An estimator of k-means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ...estimator.estimator import Estimator
from ...estimator.export import PredictOutput
from ...estimator.model_fn import EstimatorSpec
from ...estimator.util import log
from ...runtime import tf1 as tf
from . import clustering_ops

__all__ = ["InitializeClustersHook", "KMeansClustering", "LossRelativeChangeHook", "Training", "as_matrix"]


class LossRelativeChangeHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Stops a training when the loss changes by less than a share of it.

    Args:
        loss: A scalar.
        tolerance: The share.
    """

    def __init__(self, loss: Any, tolerance: float) -> None:
        self._loss = loss
        self._tolerance = tolerance
        self._previous: Any = None

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss = run_values.results
        if self._previous is not None and abs(loss - self._previous) < self._tolerance * abs(self._previous):
            run_context.request_stop()
        self._previous = loss


class InitializeClustersHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Runs the operation that chooses centers until there are all of them.

    Args:
        init_op: Chooses some.
        is_initialized: A boolean scalar.
    """

    def __init__(self, init_op: Any, is_initialized: Any) -> None:
        self._init_op = init_op
        self._is_initialized = is_initialized

    def after_create_session(self, session: Any, coord: Any) -> None:
        while not coord.should_stop() and not session.run(self._is_initialized):
            log.info("Initializing cluster centers.")
            session.run(self._init_op)


class Training(NamedTuple):
    """The parts of the estimators of k-means, here and in ``contrib.learn``.

    Attributes:
        all_distances: [N, K], of each input to each center.
        indices: [N], of the nearest center.
        loss: The sum of the distances to the nearest centers.
        train_op: One step.
        hooks: Choose the first centers, and end the training.
    """

    all_distances: Any
    indices: Any
    loss: Any
    train_op: Any
    hooks: list[Any]

    @classmethod
    def of(
        cls, kmeans: clustering_ops.KMeans, relative_tolerance: float | None, loss_name: str | None = None
    ) -> Training:
        """Builds the graph of ``kmeans``, with the operations around it."""
        all_distances, indices, scores, initialized, init_op, train = kmeans.training_graph()
        loss = tf.reduce_sum(scores[0], name=loss_name)
        tf.summary.scalar("loss/raw", loss)
        with tf.control_dependencies([train]):
            step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        hooks: list[Any] = [InitializeClustersHook(init_op, initialized)]
        if relative_tolerance is not None:
            hooks.append(LossRelativeChangeHook(loss, relative_tolerance))
        return cls(all_distances[0], indices[0], loss, tf.group(step), hooks)


class KMeansClustering(Estimator):
    """An estimator of k-means: of all inputs in each step, or of batches.

    Args:
        num_clusters: How many centers there are; that of ``initial_clusters`` if these are an array.
        model_dir: Where checkpoints and summaries go.
        initial_clusters: The first centers [K, D], a function of inputs and a number that returns up to so many
            centers, :attr:`RANDOM_INIT` or :attr:`KMEANS_PLUS_PLUS_INIT`.
        distance_metric: :attr:`SQUARED_EUCLIDEAN_DISTANCE` or :attr:`COSINE_DISTANCE`.
        random_seed: Of the choice of centers.
        use_mini_batch: Whether a step is a batch; otherwise it is all of the input.
        mini_batch_steps_per_iteration: After how many batches the new centers are used.
        kmeans_plus_plus_num_retries: How many more points are drawn for each center of k-means++.
        relative_tolerance: Training stops when the loss changes by less than this share of it.
        config: A ``tf.estimator.RunConfig``.
        feature_columns: Of inputs that are dicts; all of their features without it.

    Raises:
        ValueError: An unknown ``initial_clusters`` or ``distance_metric``.
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
    RANDOM_INIT = clustering_ops.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = clustering_ops.CLUSTERS_VAR_NAME

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
        feature_columns: Iterable[Any] | None = None,
    ) -> None:
        if isinstance(initial_clusters, str) and initial_clusters not in (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT):
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (self.SQUARED_EUCLIDEAN_DISTANCE, self.COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")

        def model_fn(features: Any, mode: str) -> EstimatorSpec:
            kmeans = clustering_ops.KMeans(
                as_matrix(features, feature_columns),
                num_clusters,
                initial_clusters,
                distance_metric,
                use_mini_batch,
                mini_batch_steps_per_iteration,
                random_seed,
                kmeans_plus_plus_num_retries,
            )
            training = Training.of(kmeans, relative_tolerance)
            return EstimatorSpec(
                mode,
                predictions={self.ALL_DISTANCES: training.all_distances, self.CLUSTER_INDEX: training.indices},
                loss=training.loss,
                train_op=training.train_op,
                eval_metric_ops={self.SCORE: tf.metrics.mean(training.loss)},
                training_hooks=training.hooks,
                export_outputs={
                    self.ALL_DISTANCES: PredictOutput(training.all_distances),
                    self.CLUSTER_INDEX: PredictOutput(training.indices),
                    tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(training.indices),
                },
            )

        super().__init__(model_fn, model_dir, config)

    def predict_cluster_index(self, input_fn: Callable[[], Any]) -> Iterator[Any]:
        """Yields the number of the nearest center of each input."""
        return self._predict_one(input_fn, self.CLUSTER_INDEX)

    def transform(self, input_fn: Callable[[], Any]) -> Iterator[Any]:
        """Yields the distances [K] of each input to the centers."""
        return self._predict_one(input_fn, self.ALL_DISTANCES)

    def _predict_one(self, input_fn: Callable[[], Any], key: str) -> Iterator[Any]:
        for found in self.predict(input_fn, predict_keys=[key]):
            yield found[key]

    def score(self, input_fn: Callable[[], Any]) -> Any:
        """The sum of the distances of the first batch's inputs to their nearest centers."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def cluster_centers(self) -> Any:
        """The centers [K, D] in the latest checkpoint."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


def as_matrix(features: Any, feature_columns: Iterable[Any] | None = None) -> Any:
    """The inputs [N, D]: ``features`` itself, or those of a dict side by side, in the order of their names."""
    if not isinstance(features, dict):
        return features
    columns = feature_columns or [
        tf.feature_column.numeric_column(name, shape=features[name].shape.as_list()[1:]) for name in features
    ]
    return tf.feature_column.input_layer(features, list(columns))
