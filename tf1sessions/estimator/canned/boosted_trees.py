"""Gradient boosted trees: ``BoostedTreesClassifier``, ``BoostedTreesRegressor`` and ``BoostedTreesEstimator``.

TensorFlow still names the operations that these were made from, but has no kernels for them any more. So here a forest
is a few variables, and plain operations grow it and predict with it; they also run from a SavedModel. The trees are
those that 1.15.5 grows; the checkpoints are not, since the variables are others.

Data flow of a step, layer by layer: features -> buckets [B, F] -> the leaves that examples are in [B, T] -> logits ->
gradients -> their sums for each (node, feature, bucket) over ``n_batches_per_layer`` batches -> the best split of each
node of the layer. Shapes: a batch of B, F features, T trees, K buckets, M nodes a tree: node ``i`` has the children
``2 i + 1`` and ``2 i + 2``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from ..estimator import Estimator
from ..model_fn import EstimatorSpec, ModeKeys
from .dnn import checked_features, no_model_variables
from .old_head import classification_head, regression_head

__all__ = ["BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor"]

_SCOPE = "boosted_trees"
_PRUNING = ("none", "pre")
_CENTERED = 0.01  # arbitrary: the bias is centered when it changes by less than this part of itself


class _TreeParams(NamedTuple):
    """How trees grow; see :class:`BoostedTreesEstimator`."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str


# --------------------------------------------------------------------------------------------------------- features


class _Feature(NamedTuple):
    """One feature of the trees: a column, or one dimension of it.

    Attributes:
        column: The name of its column.
        buckets: [B] int32.
        n_buckets: How many there are.
    """

    column: str
    buckets: Any
    n_buckets: int


def _checked_columns(columns: Any) -> tuple[Any, ...]:
    """The columns, sorted by name.

    Raises:
        ValueError: There are none, or one is of a kind that trees cannot split.
    """
    columns = tuple(columns or ())
    if not columns:
        raise ValueError("feature_columns must be a nonempty iterable of feature columns.")
    for column in columns:
        if _kind(column) is None:
            if hasattr(column, "num_buckets"):
                raise ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
            raise ValueError(f"feature_columns must be bucketized, numeric or indicator columns, got: {column}")
    return tuple(sorted(columns, key=lambda column: str(column.name)))


def _kind(column: Any) -> str | None:
    kind = type(column).__name__.lstrip("_")
    return kind if kind in ("BucketizedColumn", "NumericColumn", "IndicatorColumn") else None


def _dense(features: Any, column: Any) -> Any:
    """The values of a dense column, [B, n]."""
    with no_model_variables():
        return tf.feature_column.input_layer(features, [column])


def _split_features(features: Any, columns: Sequence[Any], quantiles: _Quantiles) -> list[_Feature]:
    found = []
    with tf.name_scope("transform_features"):
        for column in columns:
            kind = _kind(column)
            if kind == "BucketizedColumn":
                values = _dense(features, column.source_column)
                boundaries = [float(boundary) for boundary in column.boundaries]
                buckets, size = tf.raw_ops.Bucketize(input=values, boundaries=boundaries), len(boundaries) + 1
            elif kind == "NumericColumn":
                buckets, size = quantiles.buckets(column, _dense(features, column)), quantiles.number + 1
            else:
                buckets, size = tf.minimum(tf.cast(_dense(features, column), tf.int32), 1), 2
            name = column.categorical_column.name if kind == "IndicatorColumn" else column.name
            width = buckets.shape.as_list()[-1]
            found += [_Feature(name, buckets[:, number], size) for number in range(width)]
    return found


class _Quantiles:
    """The boundaries between the buckets of numeric columns: quantiles of the first batch that training sees.

    Args:
        epsilon: The part of the examples that a bucket has.
    """

    def __init__(self, epsilon: float) -> None:
        self.number = max(1, round(1.0 / epsilon))
        self._found: list[Any] = []

    def buckets(self, column: Any, values: Any) -> Any:
        """The buckets [B, n] of ``values``; makes the variable with the boundaries."""
        width = values.shape.as_list()[-1]
        boundaries = tf.get_variable(
            f"{column.name}/bucket_boundaries",
            [width, self.number],
            initializer=tf.zeros_initializer(),
            trainable=False,
            use_resource=True,
        )
        ordered = tf.sort(tf.transpose(values), axis=1)
        last = tf.cast(tf.shape(ordered)[1] - 1, tf.float32)
        places = tf.cast(tf.round(tf.linspace(0.0, 1.0, self.number) * last), tf.int32)
        self._found.append((boundaries, tf.gather(ordered, places, axis=1)))
        return tf.transpose(tf.searchsorted(boundaries.read_value(), tf.transpose(values), side="left"))

    def train(self, grow: Callable[[], Any]) -> Any:
        """``grow()``; in the first step of all, the boundaries are set in its place."""
        if not self._found:
            return grow()
        ready = tf.get_variable(
            "are_boundaries_ready",
            initializer=tf.constant(False),
            trainable=False,
            use_resource=True,
        )

        def set_boundaries() -> Any:
            return tf.group(ready.assign(True), *(variable.assign(values) for variable, values in self._found))

        return tf.cond(ready.read_value(), lambda: tf.group(grow()), set_boundaries)


# ----------------------------------------------------------------------------------------------------------- forest


class _Forest:
    """Trees of equal capacity in variables, which are [T * M]: the tree ``t`` begins at ``t * M``.

    Args:
        params: How they grow.
    """

    def __init__(self, params: _TreeParams) -> None:
        self.params = params
        self.nodes = 2 ** (params.max_depth + 1) - 1
        size = params.n_trees * self.nodes
        self.feature = self._variable("split_feature", tf.fill([size], -1))  # -1: a leaf
        self.threshold = self._variable("split_threshold", tf.zeros([size], tf.int32))
        self.gain = self._variable("split_gain", tf.zeros([size]))
        self.value = self._variable("node_value", tf.zeros([size]))
        self.finished = self._variable("num_finalized_trees", tf.constant(0))
        self.layer = self._variable("num_layers_grown", tf.constant(0))
        self.attempts = self._variable("num_attempted_layers", tf.constant(0))

    @staticmethod
    def _variable(name: str, initial: Any) -> Any:
        return tf.get_variable(name, initializer=initial, trainable=False, use_resource=True)

    def leaves(self, buckets: Any) -> Any:
        """The node of each tree that each example is in: [B, F] -> [B, T]."""
        first = tf.range(self.params.n_trees) * self.nodes
        feature, threshold = self.feature.read_value(), self.threshold.read_value()
        place = tf.zeros([tf.shape(buckets)[0], self.params.n_trees], tf.int32)
        for _ in range(self.params.max_depth):
            chosen = tf.gather(feature, first + place)
            bucket = tf.gather(buckets, tf.maximum(chosen, 0), axis=1, batch_dims=1)
            right = tf.cast(bucket > tf.gather(threshold, first + place), tf.int32)
            place = tf.where(chosen < 0, place, 2 * place + 1 + right)
        return place

    def logits(self, leaves: Any) -> Any:
        """[B, T] -> [B, 1]."""
        first = tf.range(self.params.n_trees) * self.nodes
        return tf.reduce_sum(tf.gather(self.value.read_value(), first + leaves), axis=1, keepdims=True)

    def started(self) -> Any:
        """The number of trees with a split."""
        roots = tf.gather(self.feature.read_value(), tf.range(self.params.n_trees) * self.nodes)
        return tf.reduce_sum(tf.cast(roots >= 0, tf.int32))


class _Grower:
    """Sums up gradients, and grows a forest by a layer with them.

    Args:
        forest: What grows.
        features: What its nodes split by.
        n_batches: How many batches are summed up for a layer.
    """

    def __init__(self, forest: _Forest, features: Sequence[_Feature], n_batches: int) -> None:
        self._forest, self._features, self._n_batches = forest, features, n_batches
        self._width = 2 ** (forest.params.max_depth - 1)  # the nodes of the last layer that is split
        self._buckets = max(feature.n_buckets for feature in features)
        self._sums = self._local("sums", tf.zeros([self._width * len(features) * self._buckets, 2]))
        self._center = self._local("center_sums", tf.zeros([2]))
        self._count = self._local("count", tf.constant(0))

    @staticmethod
    def _local(name: str, initial: Any) -> Any:
        """A variable that begins anew in each session."""
        return tf.get_variable(
            name,
            initializer=initial,
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )

    def grow(self, leaves: Any, buckets: Any, gradients: Any) -> Any:
        """The operation of a step.

        Args:
            leaves: [B, T].
            buckets: [B, F].
            gradients: [B, 2], of first and second order.
        """
        forest = self._forest
        tree = tf.minimum(forest.finished.read_value(), forest.params.n_trees - 1)
        start = tf.bitwise.left_shift(1, forest.layer.read_value()) - 1
        node = tf.gather(leaves, tree, axis=1) - start
        ids = (node[:, None] * len(self._features) + tf.range(len(self._features))) * self._buckets + buckets
        ids = tf.where(tf.broadcast_to(node[:, None] < 0, tf.shape(ids)), -tf.ones_like(ids), ids)
        data = tf.tile(gradients[:, None, :], [1, len(self._features), 1])
        sums = tf.math.unsorted_segment_sum(data, ids, self._sums.shape.as_list()[0])
        return self._when_enough([self._sums.assign_add(sums)], lambda: self._grow_layer(tree, start))

    def center(self, gradients: Any, needed: Any) -> Any:
        """The operation of a step that moves the bias; it sets ``needed`` to False when it hardly moved."""
        forest = self._forest

        def move() -> Any:
            change = self._weight(self._center.read_value() / self._n_batches)
            bias = forest.value.read_value()[0] + change
            settled = tf.abs(change) <= _CENTERED * tf.abs(bias)
            moved = [tf.scatter_add(forest.value, [0], change[None]), needed.assign(tf.logical_not(settled))]
            with tf.control_dependencies(moved):
                return self._reset()

        return self._when_enough([self._center.assign_add(tf.reduce_sum(gradients, axis=0))], move)

    def _when_enough(self, summing: Sequence[Any], then: Callable[[], Any]) -> Any:
        with tf.control_dependencies(list(summing)):
            count = self._count.assign_add(1)
            return tf.cond(count >= self._n_batches, lambda: tf.group(then()), tf.no_op)

    def _reset(self) -> Any:
        return tf.group(*(part.assign(tf.zeros_like(part)) for part in (self._sums, self._center, self._count)))

    def _shrunk(self, sums: Any) -> Any:
        """The sums of gradients without what L1 takes away."""
        gradient = sums[..., 0]
        return tf.sign(gradient) * tf.maximum(tf.abs(gradient) - self._forest.params.l1, 0.0)

    def _weight(self, sums: Any) -> Any:
        """The best value of a node with these ``sums`` [..., 2]."""
        return -tf.math.divide_no_nan(self._shrunk(sums), sums[..., 1] + self._forest.params.l2)

    def _gain(self, sums: Any) -> Any:
        """By how much that value makes the loss less."""
        return tf.math.divide_no_nan(tf.square(self._shrunk(sums)), sums[..., 1] + self._forest.params.l2)

    def _grow_layer(self, tree: Any, start: Any) -> Any:
        forest, params = self._forest, self._forest.params
        shape = [self._width, len(self._features), self._buckets, 2]
        left = tf.cumsum(tf.reshape(self._sums.read_value(), shape) / self._n_batches, axis=2)
        total = left[:, :, -1:]
        right = total - left
        gains = self._gain(left) + self._gain(right)
        choices = [self._width, -1]
        best = tf.argmax(tf.reshape(gains, choices), axis=1, output_type=tf.int32)  # [W]
        without = total[:, 0, 0]  # [W, 2]; the same for each feature
        gain = tf.reduce_max(tf.reshape(gains, choices), axis=1) - self._gain(without) - params.tree_complexity
        splits = tf.logical_and(without[:, 1] >= params.min_node_weight, without[:, 1] > 0.0)
        splits = tf.logical_and(splits, forest.finished.read_value() < params.n_trees)
        if params.pruning_mode == "pre":
            splits = tf.logical_and(splits, gain > 0.0)

        def of_best(values: Any) -> Any:
            return tf.boolean_mask(tf.gather(tf.reshape(values, choices), best, axis=1, batch_dims=1), splits)

        local = tf.boolean_mask(start + tf.range(self._width), splits)
        node, first = tree * forest.nodes + local, tree * forest.nodes + 2 * local + 1
        before = tf.gather(forest.value.read_value(), node)
        rate = params.learning_rate
        updates = [
            tf.scatter_update(forest.feature, node, tf.boolean_mask(best // self._buckets, splits)),
            tf.scatter_update(forest.threshold, node, tf.boolean_mask(best % self._buckets, splits)),
            tf.scatter_update(forest.gain, node, tf.boolean_mask(gain, splits)),
            tf.scatter_update(
                forest.value,
                tf.concat([first, first + 1], 0),
                tf.concat(
                    [before + rate * of_best(self._weight(left)), before + rate * of_best(self._weight(right))], 0
                ),
            ),
        ]
        with tf.control_dependencies(updates):
            return tf.group(self._next_layer(tf.reduce_any(splits)), self._reset())

    def _next_layer(self, grown: Any) -> Any:
        """A tree is done when it is deep enough; a layer without splits is tried again, as 1.15.5 does."""
        forest = self._forest
        layer = forest.layer.read_value() + tf.cast(grown, tf.int32)
        done = tf.equal(layer, forest.params.max_depth)
        return tf.group(
            forest.finished.assign_add(tf.cast(done, tf.int32)),
            forest.layer.assign(tf.where(done, 0, layer)),
            forest.attempts.assign_add(1),
        )


class _StopHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Ends training when all trees are grown, or no more splits are found."""

    def __init__(self, forest: _Forest) -> None:
        self._state = (forest.finished.read_value(), forest.attempts.read_value())
        self._trees, self._attempts = forest.params.n_trees, 2 * forest.params.n_trees * forest.params.max_depth

    def after_run(self, run_context: Any, run_values: Any) -> None:
        del run_values
        finished, attempts = run_context.session.run(self._state)
        if finished >= self._trees or attempts > self._attempts:
            run_context.request_stop()


# ------------------------------------------------------------------------------------------------------------ model


def _gradients(loss_spec: Any, logits: Any) -> Any:
    """Of first and second order, [B, 2], of the weighted loss."""
    loss = loss_spec.unreduced_loss * loss_spec.weights
    first = tf.gradients(loss, logits, name="Gradients")[0]
    second = tf.gradients(first, logits, name="Hessians")[0]
    return tf.concat([first, second], 1)


def _model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    columns: Sequence[Any],
    params: _TreeParams,
    n_batches_per_layer: int,
    epsilon: float,
) -> EstimatorSpec:
    if head.logits_dimension != 1:
        raise ValueError("For now pruning is not supported with multi class: trees have one logit.")
    training = mode == ModeKeys.TRAIN
    with tf.variable_scope(_SCOPE, values=tuple(tf.nest.flatten(checked_features(features)))) as scope:
        forest, quantiles = _Forest(params), _Quantiles(epsilon)
        split = _split_features(features, columns, quantiles)
        buckets = tf.stack([feature.buckets for feature in split], axis=1)
        leaves = forest.leaves(buckets)
        logits = forest.logits(leaves)
        if training:
            grower = _Grower(forest, split, n_batches_per_layer)
            tf.summary.scalar("ensemble/num_trees", forest.started())
            tf.summary.scalar("ensemble/num_finalized_trees", forest.finished.read_value())
            tf.summary.scalar("ensemble/num_attempted_layers", forest.attempts.read_value())

    def train_op_fn(loss: Any) -> Any:
        del loss
        gradients = _gradients(head.create_loss(features, mode, logits, labels), logits)
        gradients /= tf.cast(tf.shape(logits)[0], tf.float32)

        def step() -> Any:
            growing = _center_first(params, grower, gradients, lambda: grower.grow(leaves, buckets, gradients))
            with tf.control_dependencies([growing]):
                return tf.assign_add(tf.train.get_global_step(), 1)

        with tf.variable_scope(scope, auxiliary_name_scope=False):
            return tf.group(quantiles.train(step))

    with nullcontext() if training else tf.name_scope(f"{_SCOPE}/"):
        spec: EstimatorSpec = head.create_estimator_spec(
            features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits
        )
    return spec._replace(training_hooks=(*spec.training_hooks, _StopHook(forest))) if training else spec


def _center_first(params: _TreeParams, grower: _Grower, gradients: Any, grow: Callable[[], Any]) -> Any:
    """``grow()``, or while the bias is not centered, the step that centers it."""
    if not params.center_bias:
        return grow()
    needed = tf.get_variable("center_bias_needed", initializer=tf.constant(True), trainable=False, use_resource=True)
    return tf.cond(needed.read_value(), lambda: tf.group(grower.center(gradients, needed)), lambda: tf.group(grow()))


class _BoostedTrees(Estimator):
    """What the estimators of trees have in common."""

    def __init__(
        self,
        head: Any,
        feature_columns: Any,
        n_batches_per_layer: int,
        params: _TreeParams,
        model_dir: Any,
        config: Any,
        epsilon: float,
    ) -> None:
        _check(params, n_batches_per_layer)
        columns = _checked_columns(feature_columns)
        self._columns, self._tree_params = columns, params

        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            return _model_fn(features, labels, mode, head, columns, params, n_batches_per_layer, epsilon)

        super().__init__(model_fn, model_dir=model_dir, config=config)

    def experimental_feature_importances(self, normalize: bool = False) -> dict[str, float]:
        """How much each column made the loss less, the greatest first.

        Args:
            normalize: Whether they add up to 1.

        Raises:
            ValueError: There is no checkpoint yet, or its trees have no splits.
        """
        names = self._split_names()
        feature = self.get_variable_value(f"{_SCOPE}/split_feature")
        gain = self.get_variable_value(f"{_SCOPE}/split_gain")
        if (feature < 0).all():
            raise ValueError("Trees are all empty or contain only a root node.")
        found = dict.fromkeys(names, 0.0)
        for number, gained in zip(feature.tolist(), gain.tolist(), strict=True):
            if number >= 0:
                found[names[number]] += gained
        total = sum(found.values()) if normalize else 1.0
        return {name: found[name] / total for name in sorted(found, key=lambda name: -found[name])}

    def _split_names(self) -> list[str]:
        """The column of each feature of the trees."""
        names = []
        for column in self._columns:
            name = column.categorical_column.name if _kind(column) == "IndicatorColumn" else column.name
            source = getattr(column, "source_column", column)
            shape = source.variable_shape if hasattr(source, "variable_shape") else source.shape
            width = tf.TensorShape(shape).num_elements()
            names += [str(name)] * (width or 1)
        return names


def _check(params: _TreeParams, n_batches_per_layer: int) -> None:
    counts = {"n_batches_per_layer": n_batches_per_layer, "n_trees": params.n_trees, "max_depth": params.max_depth}
    for name, value in counts.items():
        if value < 1:
            raise ValueError(f"{name} must be at least 1. Given: {value}")
    if params.pruning_mode not in _PRUNING:
        raise ValueError(f"pruning_mode must be one of {_PRUNING}. Given: {params.pruning_mode}")
    if params.pruning_mode == "none" and params.tree_complexity > 0:
        raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
    if params.pruning_mode != "none" and params.tree_complexity <= 0:
        raise ValueError("For pruning, tree_complexity must be positive.")


class BoostedTreesEstimator(_BoostedTrees):
    """Trees with a head of your choice, of one logit.

    Args:
        feature_columns: Bucketized, indicator and numeric columns.
        n_batches_per_layer: How many batches a layer of a tree is grown from.
        head: A head of ``tf.contrib.estimator``.
        model_dir: Where checkpoints and summaries go.
        weight_column: Not used: the head has its own.
        n_trees: How many trees are grown.
        max_depth: Their greatest depth.
        learning_rate: What the value of a leaf is multiplied by.
        l1_regularization: What is taken from the sums of gradients.
        l2_regularization: What is added to the sums of Hessians.
        tree_complexity: The least gain of a split, for ``pruning_mode="pre"``.
        min_node_weight: The least sum of Hessians, for the mean of a batch, of a node that is split.
        config: A ``RunConfig``.
        center_bias: Whether the first steps make the mean of the predictions that of the labels.
        pruning_mode: "none", or "pre": no split with too little gain.
        quantile_sketch_epsilon: The part of the examples in a bucket of a numeric column.
    """

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: int,
        head: Any,
        model_dir: Any = None,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ) -> None:
        del weight_column
        params = _TreeParams(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
        )
        super().__init__(head, feature_columns, n_batches_per_layer, params, model_dir, config, quantile_sketch_epsilon)


class BoostedTreesClassifier(_BoostedTrees):
    """Trees that tell two classes; see :class:`BoostedTreesEstimator` for what is not here.

    Args:
        n_classes: 2.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        label_vocabulary: The labels of both classes, if labels are strings.
        train_in_memory: Whether each batch is all the data; it changes nothing here.

    Raises:
        ValueError: An argument is of no use, or there are more classes.
    """

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: int,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        del train_in_memory
        if n_classes != 2:
            raise ValueError(f"For now pruning is not supported with multi class. n_classes: {n_classes}")
        params = _TreeParams(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
        )
        head = classification_head(2, weight_column, label_vocabulary, tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
        super().__init__(head, feature_columns, n_batches_per_layer, params, model_dir, config, quantile_sketch_epsilon)


class BoostedTreesRegressor(_BoostedTrees):
    """Trees that tell a number; see :class:`BoostedTreesEstimator` for what is not here.

    Args:
        label_dimension: 1.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        train_in_memory: Whether each batch is all the data; it changes nothing here.

    Raises:
        ValueError: An argument is of no use, or there are more numbers.
    """

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: int,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        del train_in_memory
        if label_dimension != 1:
            raise ValueError(f"For now pruning is not supported with multi-dimension regression: {label_dimension}")
        params = _TreeParams(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
        )
        head = regression_head(1, weight_column, tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
        super().__init__(head, feature_columns, n_batches_per_layer, params, model_dir, config, quantile_sketch_epsilon)
