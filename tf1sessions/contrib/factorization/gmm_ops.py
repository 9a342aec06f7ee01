"""Mixtures of Gaussians as a graph: expectation and maximization in one step.

Letters of shapes: N points, D numbers of a point, K Gaussians.
"""

from __future__ import annotations

import math
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["DIAG_COVARIANCE", "FULL_COVARIANCE", "GmmAlgorithm", "gmm"]

FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"
MEPS = 2.220446049250313e-16
_LEAST_VARIANCE = 1e-3


class GmmAlgorithm:
    """The graph of a mixture of Gaussians.

    Args:
        data: A list of tensors [N, D].
        num_classes: K.
        initial_means: The first means [K, D]; points that are drawn, without it.
        params: What is trained: "w" for weights, "m" for means, "c" for covariances, and these together.
        covariance_type: "full" or "diag".
        random_seed: Of the first means.

    Raises:
        ValueError: An unknown ``covariance_type``.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: Any,
        num_classes: int,
        initial_means: Any = None,
        params: str = "wmc",
        covariance_type: str = FULL_COVARIANCE,
        random_seed: int = 0,
    ) -> None:
        if covariance_type not in (DIAG_COVARIANCE, FULL_COVARIANCE):
            raise ValueError(f"program error, unknown covariance_type: {covariance_type}")
        self._full = covariance_type == FULL_COVARIANCE
        self._classes = num_classes
        self._params = params
        shards = [tf.convert_to_tensor(shard, tf.float32) for shard in data]
        points = tf.concat(shards, 0)
        size = points.shape.as_list()[1]
        covariance = [num_classes, size, size] if self._full else [num_classes, size]
        self._means = _variable([num_classes, 1, size], self.CLUSTERS_VARIABLE)
        self._covs = _variable(covariance, self.CLUSTERS_COVS_VARIABLE)
        self._alphas = tf.Variable(
            tf.fill([num_classes], 1 / num_classes), name=self.CLUSTERS_WEIGHT, use_resource=True
        )
        self._initialized = tf.Variable(False, name="initialized", dtype=tf.bool, use_resource=True)
        self._init = self._initialize(points, initial_means, random_seed)
        log_probs = self._log_probs(points)
        priors = tf.reduce_logsumexp(log_probs, 1, keepdims=True)
        shares = tf.exp(log_probs - priors)
        self._scores = priors
        self._likelihood = tf.reduce_logsumexp(priors)
        sizes = [tf.shape(shard)[0] for shard in shards]
        self._assignments = [tf.argmax(part, 1) for part in tf.split(shares, sizes, 0)]
        with tf.control_dependencies([shares]):
            self._train = self._maximize(points, shares)

    def is_initialized(self) -> Any:
        """Whether the means are chosen, a boolean variable."""
        return self._initialized

    def init_ops(self) -> Any:
        """The operation that chooses means and covariances, unless that is done."""
        return self._init

    def training_ops(self) -> Any:
        """The operation of a step."""
        return self._train

    def alphas(self) -> Any:
        """The weights [K]."""
        return self._alphas

    def clusters(self) -> Any:
        """The means [K, 1, D]."""
        return self._means

    def covariances(self) -> Any:
        """The covariances, [K, D, D] or their diagonals [K, D]."""
        return self._covs

    def assignments(self) -> list[list[Any]]:
        """The likeliest Gaussian [N] of each point, for each tensor of data."""
        return [self._assignments]

    def scores(self) -> Any:
        """The logarithm of each point's likelihood, [N, 1]."""
        return self._scores

    def log_likelihood_op(self) -> Any:
        """The logarithm of the sum of the likelihoods."""
        return self._likelihood

    def _initialize(self, points: Any, means: Any, seed: int) -> Any:
        def all_of_it() -> Any:
            if means is None:
                places = tf.random.uniform([self._classes], maxval=tf.shape(points)[0], seed=seed, dtype=tf.int32)
                chosen = tf.gather(points, places)
            else:
                chosen = tf.convert_to_tensor(means, tf.float32)
            from_mean = points - tf.reduce_mean(points, 0)
            count = tf.cast(tf.shape(points)[0] - 1, tf.float32)
            if self._full:
                size = points.shape.as_list()[1]
                covariance = tf.matmul(from_mean, from_mean, transpose_a=True) / count + _LEAST_VARIANCE * tf.eye(size)
            else:
                covariance = tf.reduce_sum(tf.square(from_mean), 0) / count + _LEAST_VARIANCE
            repeats = [self._classes] + [1] * covariance.shape.rank
            changes = [
                self._means.assign(chosen[:, tf.newaxis]),
                self._covs.assign(tf.tile(covariance[tf.newaxis], repeats)),
            ]
            with tf.control_dependencies(changes):
                return tf.identity(self._initialized.assign(True))

        done = self._initialized.read_value()
        return tf.group(tf.cond(done, lambda: tf.identity(done), all_of_it))

    def _log_probs(self, points: Any) -> Any:
        """The logarithm of each Gaussian's weight and density, [N, K]."""
        from_means = points[tf.newaxis] - self._means  # [K, N, D]
        if self._full:
            cholesky = tf.linalg.cholesky(self._covs + _LEAST_VARIANCE * tf.eye(points.shape.as_list()[1]))
            log_determinant = 2 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(cholesky)), 1)
            scaled = tf.linalg.triangular_solve(cholesky, tf.transpose(from_means, [0, 2, 1]))
            distance = tf.reduce_sum(tf.square(scaled), 1)
        else:
            variances = self._covs + _LEAST_VARIANCE
            log_determinant = tf.reduce_sum(tf.math.log(variances), 1)
            distance = tf.reduce_sum(tf.square(from_means) / variances[:, tf.newaxis], 2)
        constant = points.shape.as_list()[1] * math.log(2 * math.pi)
        weights = tf.math.log(self._alphas)[:, tf.newaxis]
        return tf.transpose(weights - 0.5 * (distance + constant + log_determinant[:, tf.newaxis]))

    def _maximize(self, points: Any, shares: Any) -> Any:
        """Weights, means and covariances that ``shares`` [N, K] of points give."""
        total = tf.reduce_sum(shares, 0)
        changes = []
        if "w" in self._params:
            changes.append(self._alphas.assign(total / (tf.reduce_sum(total) + MEPS)))
        means = self._means.read_value()
        if "m" in self._params:
            sums = tf.matmul(shares, points, transpose_a=True)
            means = (sums / (total + MEPS)[:, tf.newaxis])[:, tf.newaxis]
            changes.append(self._means.assign(means))
        if "c" in self._params:
            if self._full:
                weighted = tf.transpose(shares)[:, tf.newaxis] * tf.transpose(points)[tf.newaxis]  # [K, D, N]
                repeated = tf.tile(points[tf.newaxis], [self._classes, 1, 1])
                squares = tf.matmul(weighted, repeated) / (total + MEPS)[:, tf.newaxis, tf.newaxis]
                least = _LEAST_VARIANCE * tf.eye(points.shape.as_list()[1])
                covariance = squares - tf.matmul(means, means, transpose_a=True) + least
            else:
                squares = tf.matmul(shares, tf.square(points), transpose_a=True) / (total + MEPS)[:, tf.newaxis]
                covariance = squares - tf.square(means[:, 0]) + _LEAST_VARIANCE
            changes.append(self._covs.assign(covariance))
        return tf.group(*changes)


def gmm(
    inp: Any,
    initial_clusters: Any,
    num_clusters: int,
    random_seed: int,
    covariance_type: str = FULL_COVARIANCE,
    params: str = "wmc",
) -> tuple[Any, ...]:
    """Builds the graph of a mixture of Gaussians.

    Args:
        inp: A tensor [N, D] or a list of them.
        initial_clusters: The first means [K, D], or "random".
        num_clusters: K.
        random_seed: Of random means.
        covariance_type: "full" or "diag".
        params: See :class:`GmmAlgorithm`.

    Returns:
        The log-likelihood; scores [N, 1]; assignments; the training operation; the operation that initializes;
        and whether that is done.
    """
    means = None if isinstance(initial_clusters, str) and initial_clusters == "random" else initial_clusters
    data = list(inp) if isinstance(inp, (list, tuple)) else [inp]
    found = GmmAlgorithm(data, num_clusters, means, params, covariance_type, random_seed)
    return (
        found.log_likelihood_op(),
        found.scores(),
        found.assignments(),
        found.training_ops(),
        found.init_ops(),
        found.is_initialized(),
    )


def _variable(shape: list[int], name: str) -> Any:
    """A variable that is empty at first."""
    return tf.Variable(
        tf.constant([], tf.float32), name=name, validate_shape=False, shape=tf.TensorShape(None), use_resource=True
    )
