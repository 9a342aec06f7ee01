"""k-means as a graph: operations that choose the first centers, that train, and that compute distances.

Data flow: the init operation is run until ``initialized`` is true; it adds centers from its batch to ``clusters``.
Then the training operation is run, for a whole iteration over the inputs or for a batch of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "COSINE_DISTANCE",
    "KMEANS_PLUS_PLUS_INIT",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
    "KMeans",
    "nearest_neighbors",
]

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"

CLUSTERS_VAR_NAME = "clusters"


def nearest_neighbors(points: Any, centers: Any, k: Any, name: str | None = None) -> tuple[Any, Any]:
    """Find the nearest centers of each point.

    Args:
        points: ``[N, D]``, float32.
        centers: ``[K, D]``, float32.
        k: How many centers are wanted for each point; at most K are found.
        name: Of the operation.

    Returns:
        The numbers of the centers, int64, and their squared distances, float32, both ``[N, min(k, K)]``, the nearest
        one first.

    Example:
        >>> import tf1sessions as t1
        >>> from tf1sessions.contrib.factorization import clustering_ops
        >>> with t1.GraphSession() as gs:
        ...     numbers, distances = clustering_ops.nearest_neighbors([[1.0, 1.0]], [[0.0, 0.0], [1.0, 2.0]], 2)
        ...     gs.run(numbers).tolist(), gs.run(distances).tolist()
        ([[1, 0]], [[1.0, 2.0]])
    """
    found = tf.raw_ops.NearestNeighbors(points=points, centers=centers, k=k, name=name)
    return tuple(found)


class KMeans:
    """The graph of k-means, with all inputs at each step or with batches of them.

    Args:
        inputs: [N, D] floats, or a list of such tensors.
        num_clusters: K, a number or a scalar tensor.
        initial_clusters: The first centers [K, D], a function of the list of inputs and a number that returns up to
            so many centers, or a name: "random", "kmeans_plus_plus" or "kmc2".
        distance_metric: "squared_euclidean" or "cosine".
        use_mini_batch: Whether a step is a batch, after which a center moves by the share of its new points.
        mini_batch_steps_per_iteration: After how many batches the new centers are used.
        random_seed: Of the choice of centers.
        kmeans_plus_plus_num_retries: How many more points are drawn for each center of k-means++.
        kmc2_chain_length: The length of the chains of k-MC2.

    Raises:
        ValueError: On building, an unknown ``initial_clusters`` or ``distance_metric``.
    """

    def __init__(
        self,
        inputs: Any,
        num_clusters: Any,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric: {distance_metric}")
        if isinstance(initial_clusters, str) and initial_clusters not in (
            RANDOM_INIT,
            KMEANS_PLUS_PLUS_INIT,
            KMC2_INIT,
        ):
            raise ValueError(f"Unsupported initialization algorithm `{initial_clusters}`")
        self._inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        self._num_clusters = num_clusters
        self._initial_clusters = initial_clusters
        self._cosine = distance_metric == COSINE_DISTANCE
        self._use_mini_batch = use_mini_batch
        self._steps = int(mini_batch_steps_per_iteration)
        self._seed = random_seed
        self._retries = kmeans_plus_plus_num_retries
        self._chain = kmc2_chain_length

    @property
    def _keeps_length_1(self) -> bool:
        """Whether the variable has centers of length 1, and not only what is computed from it."""
        return self._cosine and (not self._use_mini_batch or self._steps > 1)

    def training_graph(self) -> tuple[Any, ...]:
        """Builds it.

        Returns:
            For each tensor of inputs the distances to all centers [N, K], the numbers of the nearest centers [N] and
            the distances to those [N], each as a tuple; the boolean variable ``initialized``; the operation that
            chooses centers; the operation that trains.
        """
        first = self._initial_clusters
        if not isinstance(first, str) and not callable(first):
            first = tf.convert_to_tensor(first, tf.float32)
            self._initial_clusters = first
            self._num_clusters = tf.shape(first)[0]
        count = tf.convert_to_tensor(self._num_clusters)
        inputs = [tf.convert_to_tensor(x, tf.float32) for x in self._inputs]
        if self._cosine:
            inputs = [tf.nn.l2_normalize(x, axis=1) for x in inputs]

        clusters = _variable(tf.constant([], tf.float32), CLUSTERS_VAR_NAME)
        initialized = _variable(False, "initialized")
        updated, in_steps = clusters, None
        if self._use_mini_batch:
            if self._steps > 1:
                updated = _variable(tf.constant([], tf.float32), "clusters_updated")
                in_steps = _variable(tf.constant(self._steps, tf.int64), "update_in_steps")
                first_counts = tf.zeros(tf.reshape(count, [1]), tf.int64)
            else:
                first_counts = tf.ones(tf.reshape(count, [1]), tf.int64)
            counts = _variable(first_counts, None)

        init_op = self._init_op(inputs, count, clusters, updated, initialized)
        centers = clusters.read_value()
        if self._cosine and not self._keeps_length_1:
            centers = tf.nn.l2_normalize(centers, axis=1)
        found = [self._nearest(x, centers) for x in inputs]
        all_scores, indices, scores = zip(*found, strict=True)
        if not self._use_mini_batch:
            train = self._full_step(inputs, count, indices, clusters)
        else:
            with tf.control_dependencies(indices):  # by the centers of before
                synced = self._sync(clusters, updated, counts, in_steps)
            with tf.control_dependencies([synced]):
                train = self._batch_step(inputs, indices, updated, counts)
        return all_scores, indices, scores, initialized, init_op, train

    def _nearest(self, x: Any, centers: Any) -> tuple[Any, Any, Any]:
        """The distances [N, K], the nearest [N] and its distance [N]."""
        product = tf.matmul(x, centers, transpose_b=True)
        if self._cosine:
            distances = 1 - product
        else:
            squares, center_squares = (tf.reduce_sum(tf.square(t), 1, keepdims=True) for t in (x, centers))
            distances = squares - 2 * product + tf.transpose(center_squares)
        indices, nearest = tf.raw_ops.NearestNeighbors(points=x, centers=centers, k=1)
        scores = tf.squeeze(nearest, [-1])
        return distances, tf.squeeze(indices, [-1]), scores * 0.5 if self._cosine else scores

    def _full_step(self, inputs: list[Any], count: Any, indices: Any, clusters: Any) -> Any:
        """The means of the points of each center."""
        sums, sizes = [], []
        for x, index in zip(inputs, indices, strict=True):
            sums.append(tf.math.unsorted_segment_sum(x, index, count))
            sizes.append(tf.math.unsorted_segment_sum(tf.ones_like(x[:, :1]), index, count))
        means = tf.add_n(sums) / (tf.add_n(sizes) + 1e-6)
        if self._keeps_length_1:
            means = tf.nn.l2_normalize(means, axis=1)
        return clusters.assign(means)

    def _sync(self, clusters: Any, updated: Any, counts: Any, in_steps: Any) -> Any:
        """Every so many steps, gives ``clusters`` the new centers, and begins to count again."""
        if in_steps is None:
            return tf.no_op()
        left = in_steps.read_value()
        due = left <= 0
        new, old = updated.read_value(), clusters.read_value()
        new = tf.nn.l2_normalize(new, axis=1) if self._keeps_length_1 else new
        total = counts.read_value()
        with tf.control_dependencies([new, old, total]):
            changes = [
                clusters.assign(tf.cond(due, lambda: new, lambda: old)),
                counts.assign(tf.where(tf.fill(tf.shape(total), due), tf.zeros_like(total), total)),
                in_steps.assign(tf.where(due, tf.constant(self._steps - 1, tf.int64), left - 1)),
            ]
        return tf.group(*changes)

    def _batch_step(self, inputs: list[Any], indices: Any, updated: Any, counts: Any) -> Any:
        """Moves each center that has points by the share of these in all points that it had."""
        changes = []
        for x, index in zip(inputs, indices, strict=True):
            places, inner, sizes = tf.unique_with_counts(index, out_idx=tf.int32)
            number = tf.size(places)
            now, total = updated.read_value(), counts.read_value()
            sizes = tf.cast(sizes, tf.int64)
            sums = tf.math.unsorted_segment_sum(x, inner, number)
            weight = tf.cast(sizes, tf.float32)[:, None]
            share = 1 / tf.cast(tf.gather(total, places) + sizes, tf.float32)[:, None]
            moves = (sums - weight * tf.gather(now, places)) * share
            with tf.control_dependencies([moves, share]):
                changes.append(updated.scatter_add(tf.IndexedSlices(moves, places)))
                changes.append(counts.scatter_add(tf.IndexedSlices(sizes, places)))
        return tf.group(*changes)

    # ------------------------------------------------------------------------------------------- the first centers

    def _init_op(self, inputs: list[Any], count: Any, clusters: Any, updated: Any, initialized: Any) -> Any:
        """Adds centers to ``clusters`` until there are K; then it does nothing."""
        known = clusters.read_value()
        width = inputs[0].shape.as_list()[1]
        batch = tf.concat(inputs, 0) if len(inputs) > 1 else inputs[0]
        have = tf.cond(tf.equal(tf.size(known), 0), lambda: 0, lambda: tf.shape(known)[0])
        so_far = tf.reshape(known, [have, tf.shape(batch)[1] if width is None else width])
        missing = tf.cast(count, tf.int32) - have
        done = initialized.read_value()

        def added() -> Any:
            chosen = tf.cast(self._choose(inputs, batch, missing, so_far, have), tf.float32)
            if self._keeps_length_1 or (self._cosine and self._steps == 1):
                chosen = tf.nn.l2_normalize(chosen, axis=1)
            return tf.concat([so_far, chosen], 0)

        new = tf.cond(done, lambda: so_far, added)
        size = tf.shape(new)[0]
        with tf.control_dependencies([tf.assert_less_equal(size, tf.cast(count, tf.int32), name="check_number")]):
            new = tf.identity(new)
        with tf.control_dependencies([new, done]):
            changes = [clusters.assign(new)]
            if updated is not clusters:
                # once there are all of them, the new centers are no more those of the beginning
                kept = updated.read_value()
                with tf.control_dependencies([kept]):
                    changes.append(updated.assign(tf.cond(done, lambda: kept, lambda: new)))
            changes.append(initialized.assign(tf.equal(size, tf.cast(count, tf.int32))))
        return tf.group(*changes)

    def _choose(self, inputs: list[Any], batch: Any, missing: Any, so_far: Any, have: Any) -> Any:
        """Up to ``missing`` centers from ``batch``."""
        first = self._initial_clusters
        if callable(first):
            return first(inputs, missing)
        if not isinstance(first, str):
            return first
        size = tf.shape(batch)[0]
        choosers: dict[str, Callable[[], Any]] = {
            RANDOM_INIT: lambda: tf.gather(
                batch, tf.random.uniform(tf.reshape(missing, [-1]), maxval=size, seed=self._seed, dtype=tf.int32)
            ),
            KMEANS_PLUS_PLUS_INIT: lambda: self._plus_plus(batch, missing),
            KMC2_INIT: lambda: self._kmc2(batch, so_far, have),
        }
        if first == KMC2_INIT:
            return choosers[first]()
        # a batch that is too small is taken as a whole
        return tf.cond(size <= missing, lambda: tf.identity(batch), choosers[first])

    def _plus_plus(self, batch: Any, missing: Any) -> Any:
        return tf.raw_ops.KmeansPlusPlusInitialization(
            points=batch,
            num_to_sample=tf.cast(missing, tf.int64),
            seed=tf.constant(self._seed, tf.int64),
            num_retries_per_sample=tf.constant(self._retries, tf.int64),
        )

    def _kmc2(self, batch: Any, so_far: Any, have: Any) -> Any:
        """One more center, the end of a chain over some points of the batch."""
        size = tf.shape(batch)[0]

        def chain() -> Any:
            length = tf.minimum(size, self._chain)
            start = tf.random.uniform([], maxval=size - length + 1, seed=self._seed, dtype=tf.int32)
            points = batch[start : start + length]
            _, distances = tf.raw_ops.NearestNeighbors(points=points, centers=so_far, k=1)
            place = tf.raw_ops.KMC2ChainInitialization(
                distances=tf.squeeze(distances, [-1]), seed=tf.constant(self._seed, tf.int64)
            )
            return tf.gather(points, tf.reshape(place, [1]))

        def any_point() -> Any:
            place = tf.random.uniform([1], maxval=size, seed=self._seed, dtype=tf.int32)
            return tf.gather(batch, place)

        return tf.cond(tf.equal(have, 0), any_point, chain)


def _variable(value: Any, name: str | None) -> Any:
    """A variable whose shape may change; a resource, as a ref would change under what has read it."""
    return tf.Variable(value, name=name, validate_shape=False, shape=tf.TensorShape(None), use_resource=True)
