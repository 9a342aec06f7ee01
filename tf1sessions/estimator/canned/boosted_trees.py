"""Gradient boosted trees: ``BoostedTreesClassifier``, ``BoostedTreesRegressor`` and ``BoostedTreesEstimator``.

TensorFlow still names the operations that these were made from, but has no kernels for them any more. So here plain
operations grow a forest and predict with it; they also run from a SavedModel. Trees and checkpoints are 1.15.5's.

Data flow of a step, layer by layer: features -> buckets [B, F] -> the leaves that examples are in [B, T] -> logits ->
gradients -> their sums for each (node, feature, bucket) over ``n_batches_per_layer`` batches -> the best split of each
node of the layer. Numeric columns have their buckets from the first ``n_batches_per_layer`` batches, which are no
steps; Python finds them. Shapes: a batch of B, F features, T trees, C columns.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...runtime import tf1 as tf
from ..estimator import Estimator
from ..model_fn import EstimatorSpec, ModeKeys
from .boosted_trees_growing import TreeParams, num_finished
from .boosted_trees_proto import FEATURE, Forest, decode
from .boosted_trees_quantiles import boundaries
from .boosted_trees_state import Grower, StoredForest, add_saveable, child, leaves, logits, new_variable
from .dnn import checked_features, no_model_variables
from .head_parts import weights_of
from .old_head import classification_head, regression_head

__all__ = [
    "BoostedTreesClassifier",
    "BoostedTreesEstimator",
    "BoostedTreesRegressor",
    "boosted_trees_classifier_train_in_memory",
    "boosted_trees_regressor_train_in_memory",
]

_SCOPE = "boosted_trees"
_PRUNING = ("none", "post", "pre")


class _TreesError(ValueError, AssertionError):
    """An error that 1.15.5 documents as a ValueError, and raises as an AssertionError."""


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
        TypeError: It is no iterable.
        ValueError: There are none, two have one name, or one is of a kind that trees cannot split.
    """
    columns = tuple(columns)
    if not columns:
        raise ValueError("feature_columns must be a nonempty iterable of feature columns.")
    for column in columns:
        if _kind(column) is None:
            if hasattr(column, "num_buckets"):
                raise ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
            raise ValueError(f"feature_columns must be bucketized, numeric or indicator columns, got: {column}")
    ordered: tuple[Any, ...] = tuple(sorted(columns, key=lambda column: str(column.name)))
    for one, other in itertools.pairwise(ordered):
        if one.name == other.name:
            raise ValueError(f"Duplicate feature column name found for columns: {one} and {other}.")
    return ordered


def _name(column: Any) -> str:
    """Return a column's name as importances have it."""
    return str(column.categorical_column.name if _kind(column) == "IndicatorColumn" else column.name)


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
                limits = [float(limit) for limit in column.boundaries]
                buckets, size = tf.raw_ops.Bucketize(input=values, boundaries=limits), len(limits) + 1
            elif kind == "NumericColumn":
                buckets, size = quantiles.buckets(_dense(features, column)), quantiles.n_buckets
            else:
                buckets, size = tf.minimum(tf.cast(_dense(features, column), tf.int32), 1), 2
            width = buckets.shape.as_list()[-1]
            found += [_Feature(_name(column), buckets[:, number], size) for number in range(width)]
    return found


class _Quantiles:
    """The boundaries between the buckets of numeric columns: quantiles of what the first batches have.

    Args:
        epsilon: The part of the examples that a bucket has.
    """

    def __init__(self, epsilon: float) -> None:
        self._epsilon = epsilon
        self.n_buckets = max(int(1.0 / epsilon), 2) + 1
        self._values: list[Any] = []
        self._boundaries: list[Any] = []

    def buckets(self, values: Any) -> Any:
        """The buckets [B, n] of ``values``; makes a variable with the boundaries for each of the n."""
        found = []
        for column in tf.unstack(values, axis=1):
            limits = new_variable(f"bucket_boundaries_{len(self._values)}", tf.zeros([0]), [None])
            self._values.append(column)
            self._boundaries.append(limits)
            last = tf.maximum(tf.size(limits.read_value()) - 1, 0)
            found.append(tf.minimum(tf.searchsorted(limits.read_value(), column), last))
        return tf.stack(found, axis=1)

    def save(self) -> None:
        """Lets checkpoints have the boundaries."""
        if self._boundaries:
            token = tf.size(self._boundaries[0].read_value(), name="QuantileAccumulator")
            tensors = {
                f"bucket_boundaries_{number}": limits.read_value() for number, limits in enumerate(self._boundaries)
            }
            add_saveable(token, tensors, lambda *found: self._assign(found))

    def _assign(self, found: Sequence[Any]) -> Any:
        return tf.group(*(limits.assign(values) for limits, values in zip(self._boundaries, found, strict=True)))

    def train(self, grow: Callable[[], Any], weights: Any, n_batches: int) -> Any:
        """``grow()``; in the first steps of all, the boundaries are found in its place.

        Args:
            grow: Makes the operation of a step.
            weights: Of the examples: [B], or [1].
            n_batches: How many batches there must be.
        """
        ready = _flag("are_boundaries_ready", not self._boundaries)
        if not self._boundaries:
            return grow()
        values = new_variable(
            "quantile_values", tf.zeros([len(self._values), 0]), [len(self._values), None], local=True
        )
        weighed = new_variable("quantile_weights", tf.zeros([0]), [None], local=True)
        sizes = new_variable("quantile_sizes", tf.zeros([0], tf.int32), [None], local=True)

        def found(values: Any, weights: Any, sizes: Any) -> list[Any]:
            ends = np.cumsum(sizes)[:-1]
            parts = np.split(weights, ends)
            return [boundaries(list(zip(np.split(one, ends), parts, strict=True)), self._epsilon) for one in values]

        def look() -> Any:
            batch = tf.stack(self._values)
            more = [
                values.assign(tf.concat([values.read_value(), batch], axis=1)),
                weighed.assign(tf.concat([weighed.read_value(), weights * tf.ones_like(batch[0])], axis=0)),
                sizes.assign(tf.concat([sizes.read_value(), tf.shape(batch)[1:]], axis=0)),
            ]
            with tf.control_dependencies(more):
                return tf.cond(tf.size(sizes.read_value()) >= n_batches, lambda: tf.group(finish()), tf.no_op)

        def finish() -> Any:
            seen = [values.read_value(), weighed.read_value(), sizes.read_value()]
            limits = tf.numpy_function(found, seen, [tf.float32] * len(self._values), name="quantiles")
            limits = [tf.ensure_shape(one, [None]) for one in limits]
            with tf.control_dependencies([self._assign(limits)]):
                empty = [values.assign(tf.zeros([len(self._values), 0])), weighed.assign(tf.zeros([0]))]
                return tf.group(ready.assign(True), *empty)

        return tf.cond(ready.read_value(), lambda: tf.group(grow()), lambda: tf.group(look()))


def _flag(name: str, initial: bool) -> Any:
    return tf.get_variable(name, initializer=tf.constant(initial), trainable=False, use_resource=True)


# ------------------------------------------------------------------------------------------------------------ model


class _StopHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Ends training when all trees are grown, or no more splits are found."""

    def __init__(self, forest: Forest, params: TreeParams) -> None:
        self._state = (num_finished(forest), forest.growth[1])
        self._trees, self._attempts = params.n_trees, 2 * params.n_trees * params.max_depth

    def after_run(self, run_context: Any, run_values: Any) -> None:
        del run_values
        finished, attempts = run_context.session.run(self._state)
        if finished >= self._trees or attempts > self._attempts:
            run_context.request_stop()


class _Model(NamedTuple):
    """The arguments of the model's function.

    Attributes:
        head: A head.
        columns: Of the features, by name.
        params: How trees grow.
        n_batches: How many batches a layer is grown from.
        epsilon: The part of the examples in a bucket of a numeric column.
        weight_column: Of the examples; for the buckets.
        in_memory: Whether a batch is all the data.
    """

    head: Any
    columns: Sequence[Any]
    params: TreeParams
    n_batches: int
    epsilon: float
    weight_column: Any
    in_memory: bool


def _model_fn(features: Any, labels: Any, mode: str, model: _Model, explain: bool = False) -> EstimatorSpec:
    head, params = model.head, model.params
    if head.logits_dimension != 1:
        raise ValueError(f"Trees have one logit; the head has {head.logits_dimension}.")
    training = mode == ModeKeys.TRAIN
    if training:
        _check_training(model)
    with tf.variable_scope(_SCOPE, values=tuple(tf.nest.flatten(checked_features(features)))) as scope:
        stored, quantiles = StoredForest(scope.original_name_scope), _Quantiles(model.epsilon)
        split = _split_features(features, model.columns, quantiles)
        quantiles.save()
        buckets = tf.stack([feature.buckets for feature in split], axis=1)
        forest = stored.read()
        place = leaves(forest, buckets)
        logit = logits(forest, place)
        if training:
            grower = Grower(stored, params, [feature.n_buckets for feature in split], model.n_batches)
            center_needed = _flag("center_bias_needed", params.center_bias)
            tf.summary.scalar("ensemble/num_trees", tf.size(forest.weights))
            tf.summary.scalar("ensemble/num_finalized_trees", num_finished(forest))
            tf.summary.scalar("ensemble/num_attempted_layers", forest.growth[1])

    def train_op_fn(loss: Any) -> Any:
        gradient = tf.gradients(loss, logit, name="Gradients")[0]
        gradients = tf.concat([gradient, tf.gradients(gradient, logit, name="Hessians")[0]], 1)
        weights = tf.reshape(weights_of(model.weight_column, features, logit, per_logit=False), [-1])

        def layer() -> Any:
            return tf.group(grower.grow(place, buckets, gradients))

        def step() -> Any:
            def bias() -> Any:
                return tf.group(grower.center(gradients, center_needed))

            growing = tf.cond(center_needed.read_value(), bias, layer) if params.center_bias else layer()
            with tf.control_dependencies([growing]):
                return tf.assign_add(tf.train.get_global_step(), 1)

        with tf.variable_scope(scope, auxiliary_name_scope=False):
            return tf.group(quantiles.train(step, weights, model.n_batches))

    with nullcontext() if training else tf.name_scope(f"{_SCOPE}/"):
        spec: EstimatorSpec = head.create_estimator_spec(
            features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logit
        )
    if explain:
        is_class = "logistic" in spec.predictions
        return spec._replace(
            predictions={**spec.predictions, **_explanations(forest, buckets, place, model.columns, split, is_class)}
        )
    if training:
        return spec._replace(training_hooks=(*spec.training_hooks, _StopHook(forest, params)))
    return spec


def _explanations(
    forest: Forest, buckets: Any, place: Any, columns: Sequence[Any], split: Sequence[_Feature], is_class: bool
) -> dict[str, Any]:
    """Return the parts of a prediction: "bias" [B], and "dfc" [B, C], the part of each column.

    A tree is gone down, and what the prediction changes by at a node is due to the feature that the node splits by.
    """
    names = [_name(column) for column in columns]
    column_of = tf.constant([names.index(feature.column) for feature in split])
    tree = tf.zeros_like(place) + tf.range(tf.size(forest.weights))

    def at(values: Any, place: Any) -> Any:
        return tf.gather_nd(values, tf.stack([tree, place], axis=-1))

    def predicted(place: Any) -> Any:
        value = tf.cast(before + at(forest.values, place), tf.float64)
        return tf.sigmoid(value) if is_class else value

    def descend(here: Any, found: Any) -> tuple[Any, Any]:
        node = at(forest.nodes, here)
        is_split = node[..., FEATURE] >= 0
        there = tf.where(is_split, child(node, buckets), here)
        column = tf.one_hot(tf.gather(column_of, tf.maximum(node[..., FEATURE], 0)), len(names), dtype=tf.float64)
        return there, found + tf.reduce_sum((predicted(there) - predicted(here))[..., None] * column, axis=1)

    before = tf.cumsum(at(forest.values, place), axis=1, exclusive=True)
    start = [tf.zeros_like(place), tf.zeros([tf.shape(place)[0], len(names)], tf.float64)]
    _, found = tf.while_loop(lambda here, found: tf.reduce_any(tf.not_equal(here, place)), descend, start)
    bias = tf.cast(forest.values[0, 0], tf.float64)
    return {"bias": tf.fill(tf.shape(place)[:1], tf.sigmoid(bias) if is_class else bias), "dfc": found}


def _check_training(model: _Model) -> None:
    params = model.params
    if model.n_batches != int(model.n_batches):
        raise TypeError(f"n_batches_per_layer must be an integer. Given: {model.n_batches}")
    if params.max_depth < 1:
        raise ValueError(f"max_depth must be at least 1. Given: {params.max_depth}")
    if model.epsilon <= 0.0 or model.epsilon > 1.0:
        raise ValueError(f"quantile_sketch_epsilon must be between 0 and 1. Given: {model.epsilon}")
    if params.pruning_mode not in _PRUNING:
        raise ValueError(f"pruning_mode must be one of: {', '.join(_PRUNING)}. Given: {params.pruning_mode}")
    if params.pruning_mode == "none" and params.tree_complexity > 0:
        raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
    if params.pruning_mode != "none" and params.tree_complexity <= 0:
        raise ValueError("For pruning, tree_complexity must be positive.")
    if model.in_memory and model.n_batches != 1:
        raise _TreesError(
            "When train_in_memory is enabled, input_fn should return the entire dataset as a single batch, and "
            f"n_batches_per_layer should be set as 1. Given: {model.n_batches}"
        )


# ------------------------------------------------------------------------------------------------------- estimators


#: The arguments of estimators that are fields of TreeParams, in their order.
_GROWTH = (
    "n_trees",
    "max_depth",
    "learning_rate",
    "l1_regularization",
    "l2_regularization",
    "tree_complexity",
    "min_node_weight",
    "center_bias",
    "pruning_mode",
)


class _BoostedTrees(Estimator):
    """The base of the estimators of trees."""

    def __init__(self, head: Any, given: Mapping[str, Any]) -> None:
        """``given`` are the arguments of a subclass's ``__init__``, by their names."""
        self._model = _Model(
            head,
            _checked_columns(given["feature_columns"]),
            TreeParams(*(given[name] for name in _GROWTH)),
            given["n_batches_per_layer"],
            given["quantile_sketch_epsilon"],
            given["weight_column"],
            given.get("train_in_memory", False),
        )

        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            return _model_fn(features, labels, mode, self._model)

        super().__init__(model_fn, model_dir=given["model_dir"], config=given["config"])

    def _assert_members_are_not_overridden(self) -> None:
        """``_call_input_fn`` is."""

    def _call_input_fn(self, input_fn: Any, mode: str) -> Any:
        """For training in memory, the first batch again and again."""
        found = super()._call_input_fn(input_fn, mode)
        once = self._model.in_memory and mode == ModeKeys.TRAIN and isinstance(found, tf.data.Dataset)
        return found.take(1).cache().repeat() if once else found

    def experimental_feature_importances(self, normalize: bool = False) -> OrderedDict[str, float]:
        """Return by how much each column made the loss less, the greatest first.

        Args:
            normalize: Whether they add up to 1.

        Raises:
            ValueError: There is no checkpoint yet; or they cannot add up to 1, since there are no splits or some made
                the loss greater.
        """
        serialized = self.get_variable_value(f"{_SCOPE}:0_serialized")
        with tf.Graph().as_default(), tf.Session() as session:
            forest = session.run(decode(tf.constant(serialized)))
        features = self._split_names()
        found = {_name(column): 0.0 for column in self._model.columns}
        is_split = forest.nodes[..., FEATURE] >= 0
        for feature, gain in zip(
            forest.nodes[..., FEATURE][is_split].tolist(), forest.gains[is_split].tolist(), strict=True
        ):
            found[features[feature]] += gain
        if normalize:
            total = sum(found.values())
            if not is_split.any() or total == 0.0:
                raise _TreesError("Trees are all empty or contain only a root node.")
            if min(found.values()) < 0.0:
                raise _TreesError("Feature importances that are negative cannot be normalized: see pruning_mode.")
            found = {name: value / total for name, value in found.items()}
        return OrderedDict((name, found[name]) for name in sorted(found, key=lambda name: -found[name]))

    def _split_names(self) -> list[str]:
        """The column of each feature of the trees."""
        names = []
        for column in self._model.columns:
            source = getattr(column, "source_column", column)
            shape = source.variable_shape if hasattr(source, "variable_shape") else source.shape
            names += [_name(column)] * (tf.TensorShape(shape).num_elements() or 1)
        return names

    def experimental_predict_with_explanations(
        self,
        input_fn: Any,
        predict_keys: Any = None,
        hooks: Any = None,
        checkpoint_path: Any = None,
    ) -> Iterator[dict[str, Any]]:
        """Yields the predictions for each example with how they came to be.

        Args:
            input_fn: As for :meth:`predict`.
            predict_keys: Which predictions; None means all.
            hooks: ``SessionRunHook`` objects.
            checkpoint_path: The checkpoint; None takes the latest.

        Yields:
            The predictions, "bias" (the prediction for the mean of the training data), and "dfc": column -> what it
            added to that, the greatest first.

        Raises:
            ValueError: The bias is not centered, or there is no checkpoint.
        """
        if not self._model.params.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        if not (checkpoint_path or self.latest_checkpoint()):
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")

        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            return _model_fn(features, labels, mode, self._model, explain=True)

        keys = None if predict_keys is None else [*predict_keys, "bias", "dfc"]
        names = [_name(column) for column in self._model.columns]
        explaining = Estimator(model_fn, model_dir=self.model_dir, config=self.config)
        for found in explaining.predict(input_fn, keys, hooks, checkpoint_path):
            added = dict(zip(names, found["dfc"].tolist(), strict=True))
            found["dfc"] = OrderedDict(
                (name, added[name]) for name in sorted(added, key=lambda name: -abs(added[name]))
            )
            yield found


class BoostedTreesEstimator(_BoostedTrees):
    """Trees with a head of your choice, of one logit.

    Args:
        feature_columns: Bucketized, indicator and numeric columns.
        n_batches_per_layer: How many batches a layer of a tree is grown from.
        head: A head of ``tf.estimator`` or ``tf.contrib.estimator``.
        model_dir: Where checkpoints and summaries go.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples in the quantiles of
            numeric columns. The loss has those of the head.
        n_trees: How many trees are grown.
        max_depth: Their greatest depth.
        learning_rate: What the value of a leaf is multiplied by.
        l1_regularization: What is taken from the sums of gradients.
        l2_regularization: What is added to the sums of Hessians.
        tree_complexity: What is taken from the gain of a split, for pruning.
        min_node_weight: The least sum of Hessians, for the mean of a batch, of a node that is split.
        config: A ``RunConfig``.
        center_bias: Whether the first steps make the mean of the predictions that of the labels.
        pruning_mode: "none"; "pre": no split with a negative gain; "post": those with one that have none without below
            them are taken back when a tree is finished.
        quantile_sketch_epsilon: The part of the examples in a bucket of a numeric column.

    Raises:
        ValueError: There are no columns, or one is of a kind that trees cannot split. Other arguments are looked
            at when the model is trained.
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
        super().__init__(head, locals())


class BoostedTreesClassifier(_BoostedTrees):
    """Trees that predict two classes; see :class:`BoostedTreesEstimator` for what is not here.

    Args:
        n_classes: 2.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        label_vocabulary: The labels of both classes, if labels are strings.
        train_in_memory: Whether the first batch is all the data, and is used for all steps.

    Raises:
        ValueError: There are more classes, or fewer.
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
        if n_classes > 2:
            raise ValueError(f"For now pruning is not supported with multi class. n_classes given as {n_classes}")
        if n_classes != 2:
            raise ValueError(f"For now only binary classification is supported. n_classes given as {n_classes}")
        head = classification_head(2, weight_column, label_vocabulary, tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
        super().__init__(head, locals())


class BoostedTreesRegressor(_BoostedTrees):
    """Trees that predict a number; see :class:`BoostedTreesEstimator` for what is not here.

    Args:
        label_dimension: 1.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        train_in_memory: Whether the first batch is all the data, and is used for all steps.

    Raises:
        ValueError: There are more numbers.
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
        if label_dimension != 1:
            raise ValueError(
                "For now pruning is not supported with multi-dimension regression. "
                f"label_dimension given as {label_dimension}"
            )
        head = regression_head(1, weight_column, tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
        super().__init__(head, locals())


_Trees = TypeVar("_Trees", BoostedTreesClassifier, BoostedTreesRegressor)


def _trained_in_memory(
    kind: type[_Trees], train_input_fn: Callable[[], Any], feature_columns: Any, train_hooks: Any, **settings: Any
) -> _Trees:
    model = kind(feature_columns, n_batches_per_layer=1, train_in_memory=True, **settings)
    model.train(train_input_fn, hooks=train_hooks)
    return model


def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Any,
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
    train_hooks: Any = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesClassifier:
    """A ``BoostedTreesClassifier`` that was trained with one batch of all the data.

    Args:
        train_input_fn: Returns a dataset of that batch, or tensors: features and labels.
        train_hooks: ``SessionRunHook`` objects.
    """
    return _trained_in_memory(BoostedTreesClassifier, **locals())


def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Any,
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
    train_hooks: Any = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesRegressor:
    """A ``BoostedTreesRegressor`` that was trained with one batch of all the data.

    Args:
        train_input_fn: Returns a dataset of that batch, or tensors: features and labels.
        train_hooks: ``SessionRunHook`` objects.
    """
    return _trained_in_memory(BoostedTreesRegressor, **locals())
