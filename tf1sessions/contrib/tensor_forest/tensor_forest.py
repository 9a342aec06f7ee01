"""Random forests in a graph: :class:`ForestHParams` and :class:`RandomForestGraphs`.

The forest is in variables, which checkpoints have; the operations that read and change it call NumPy (trees.py). Its
trees are not those of 1.15.5, whose operations are gone: they grow by the same rules from other random numbers. A
checkpoint of 1.15.5 does not load.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...runtime import tf1 as tf
from .trees import FIELDS, Shape, empty, feature_importances, grow, predict

__all__ = ["ForestHParams", "RandomForestGraphs"]

#: At most so many leaves of a tree may grow at a time, unless ``max_fertile_nodes`` says another number; arbitrary.
_SLOTS = 256


class ForestHParams:
    """The parameters of a forest. :meth:`fill` completes them.

    Args:
        num_trees: How many trees.
        max_nodes: The most nodes of a tree.
        bagging_fraction: The share of examples that a tree sees.
        num_splits_to_consider: The candidates for a leaf's split; 0 for the root of ``num_features``, at least 10.
        feature_bagging_fraction: The share of features that a tree sees.
        max_fertile_nodes: The most leaves of a tree that may grow at a time; 0 for half of ``max_nodes``, at most 256.
        split_after_samples: The examples that a leaf needs to split.
        valid_leaf_threshold: Of no effect, as are all arguments below but ``split_name``.
        dominate_method: See above.
        dominate_fraction: See above.
        model_name: See above.
        split_finish_name: See above.
        split_pruning_name: See above.
        prune_every_samples: See above.
        early_finish_check_every_samples: See above.
        collate_examples: See above.
        checkpoint_stats: See above.
        use_running_stats_method: See above.
        initialize_average_splits: See above.
        inference_tree_paths: See above.
        param_file: See above.
        split_name: "less_or_equal" or "less".
        **kwargs: ``num_classes`` and ``num_features``, which are needed, and ``regression``.
    """

    def __init__(
        self,
        num_trees: int = 100,
        max_nodes: int = 10000,
        bagging_fraction: float = 1.0,
        num_splits_to_consider: int = 0,
        feature_bagging_fraction: float = 1.0,
        max_fertile_nodes: int = 0,
        split_after_samples: int = 250,
        valid_leaf_threshold: int = 1,
        dominate_method: str = "bootstrap",
        dominate_fraction: float = 0.99,
        model_name: str = "all_dense",
        split_finish_name: str = "basic",
        split_pruning_name: str = "none",
        prune_every_samples: int = 0,
        early_finish_check_every_samples: int = 0,
        collate_examples: bool = False,
        checkpoint_stats: bool = False,
        use_running_stats_method: bool = False,
        initialize_average_splits: bool = False,
        inference_tree_paths: bool = False,
        param_file: str | None = None,
        split_name: str = "less_or_equal",
        **kwargs: Any,
    ) -> None:
        values = {name: value for name, value in locals().items() if name not in ("self", "kwargs")}
        vars(self).update({**values, **kwargs})

    def values(self) -> dict[str, Any]:
        """The parameters by name."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def fill(self) -> ForestHParams:
        """Completes the parameters, and returns them.

        Raises:
            ValueError: ``num_classes`` or ``num_features`` is missing, or a parameter is out of its range.
        """
        for name in ("num_classes", "num_features"):
            if not hasattr(self, name):
                raise ValueError(f"ForestHParams: {name} must be given")
        given = self.values()
        if given["max_nodes"] < 3 or given["num_trees"] < 1:
            raise ValueError("ForestHParams: max_nodes must be at least 3 and num_trees at least 1")
        features = given["num_features"]
        regression = bool(given.get("regression", False))
        vars(self).update(
            regression=regression,
            bagged_num_features=int(given["feature_bagging_fraction"] * features),
            num_outputs=given["num_classes"] if regression else 1,
            num_output_columns=given["num_classes"] + 1,
            num_splits_to_consider=given["num_splits_to_consider"] or max(10, math.floor(math.sqrt(features))),
            base_random_seed=given.get("base_random_seed", 0),
        )
        return self


def _shape(params: ForestHParams) -> Shape:
    given = params.values() if hasattr(params, "bagged_num_features") else params.fill().values()
    slots = given["max_fertile_nodes"] or min(_SLOTS, math.ceil(given["max_nodes"] / 2))
    return Shape(
        trees=given["num_trees"],
        nodes=given["max_nodes"],
        slots=slots,
        candidates=given["num_splits_to_consider"],
        features=given["num_features"],
        outputs=given["num_classes"],
        regression=given["regression"],
        split_after_samples=given["split_after_samples"],
        bagging_fraction=given["bagging_fraction"],
        feature_bagging_fraction=given["feature_bagging_fraction"],
        strictly_less=given["split_name"] == "less",
        seed=given["base_random_seed"],
    )


class RandomForestGraphs:
    """A forest in the default graph.

    Args:
        params: The forest's parameters.
        tree_configs: None: trees of 1.15.5 cannot be read.
        tree_stats: None, likewise.
        device_assigner: Of no effect.
        variables: Of no effect.
        tree_variables_class: Of no effect.
        tree_graphs: Of no effect.
        training: Of no effect: the forest can always grow.

    Raises:
        ValueError: The parameters are incomplete, or there are trees of 1.15.5.
    """

    def __init__(
        self,
        params: ForestHParams,
        tree_configs: Any = None,
        tree_stats: Any = None,
        device_assigner: Any = None,
        variables: Any = None,
        tree_variables_class: Any = None,
        tree_graphs: Any = None,
        training: bool = True,
    ) -> None:
        del device_assigner, variables, tree_variables_class, tree_graphs, training
        if tree_configs or tree_stats:
            raise ValueError("RandomForestGraphs: trees of TensorFlow 1.15 cannot be read")
        self.params = params
        self._shape = _shape(params)
        start = empty(self._shape)
        with tf.variable_scope("forest", reuse=tf.AUTO_REUSE):
            self._variables = {
                name: tf.get_variable(
                    name,
                    shape=start[name].shape,
                    dtype=tf.as_dtype(dtype),
                    initializer=_Initial(name, self._shape),
                    trainable=False,
                    use_resource=True,
                )
                for name, (dtype, _) in FIELDS.items()
            }

    def training_graph(
        self, input_data: Any, input_labels: Any, num_trainers: int = 1, trainer_id: int = 0, **tree_kwargs: Any
    ) -> Any:
        """The operation that lets the forest grow with a batch.

        Args:
            input_data: Features: a tensor [B, F], or a dict of tensors [B, ...] whose sizes add up to F.
            input_labels: Labels [B], or numbers [B, D].
            num_trainers: Of no effect.
            trainer_id: Of no effect.
            **tree_kwargs: Of no effect.
        """
        del num_trainers, trainer_id, tree_kwargs
        labels = tf.convert_to_tensor(input_labels)
        names = list(FIELDS)
        shape = self._shape

        def grown(data: Any, labels: Any, *values: Any) -> list[Any]:
            state = grow(shape, dict(zip(names, values, strict=True)), data, labels)
            return [np.asarray(state[name], FIELDS[name][0]) for name in names]

        with tf.name_scope("train"):
            values = [self._variables[name].read_value() for name in names]
            new = tf.py_func(
                grown, [self._data(input_data), labels, *values], [tf.as_dtype(FIELDS[name][0]) for name in names]
            )
            for name, value in zip(names, new, strict=True):
                value.set_shape(self._variables[name].shape)
            return tf.group(*[tf.assign(self._variables[name], value) for name, value in zip(names, new, strict=True)])

    def inference_graph(self, input_data: Any, **inference_args: Any) -> tuple[Any, Any, Any]:
        """Return what the forest says of a batch.

        Args:
            input_data: Features; see :meth:`training_graph`.
            **inference_args: Of no effect.

        Returns:
            Probabilities [B, classes] or numbers [B, D]; None in place of paths; the variance among the trees.
        """
        del inference_args
        shape = self._shape
        names = ["feature", "threshold", "child", "stats"]

        def answers(data: Any, *values: Any) -> tuple[Any, Any]:
            return predict(shape, dict(zip(names, values, strict=True)), data)

        with tf.name_scope("inference"):
            values = [self._variables[name].read_value() for name in names]
            mean, variance = tf.py_func(answers, [self._data(input_data), *values], [tf.float32, tf.float32])
            for tensor in (mean, variance):
                tensor.set_shape([None, shape.outputs])
            mean = tf.identity(mean, name="probabilities")
            return mean, None, variance

    def average_size(self) -> Any:
        """The mean number of the trees' nodes: a float32 scalar."""
        return tf.reduce_mean(tf.cast(self._variables["size"].read_value(), tf.float32))

    def training_loss(self, features: Any, labels: Any, name: str = "training_loss") -> Any:
        """The negative of :meth:`average_size`: it falls as long as the forest grows."""
        del features, labels
        return tf.math.negative(self.average_size(), name=name)

    def validation_loss(self, features: Any, labels: Any) -> Any:
        """:meth:`training_loss`."""
        return self.training_loss(features, labels)

    def average_impurity(self) -> Any:
        """The mean impurity of the leaves' examples, in [0, 1) for classes: a float32 scalar."""
        shape = self._shape
        stats, feature = self._variables["stats"].read_value(), self._variables["feature"].read_value()
        nodes = tf.range(shape.nodes)[None, :] < self._variables["size"].read_value()[:, None]
        leaf = tf.cast(tf.logical_and(nodes, feature < 0), tf.float32)
        if shape.regression:
            count = stats[..., 0]
            sums, squares = tf.split(stats[..., 1:], 2, axis=-1)
            impurity = tf.reduce_sum(tf.nn.relu(squares - tf.math.divide_no_nan(sums * sums, count[..., None])), -1)
        else:
            count = tf.reduce_sum(stats, -1)
            impurity = count - tf.math.divide_no_nan(tf.reduce_sum(stats * stats, -1), count)
        return tf.math.divide_no_nan(tf.reduce_sum(impurity * leaf), tf.reduce_sum(count * leaf))

    def feature_importances(self) -> Any:
        """Return the share of all improvements that splits by each feature brought: float32 [F]."""
        shape = self._shape
        names = ["feature", "gain"]

        def shares(*values: Any) -> Any:
            return feature_importances(shape, dict(zip(names, values, strict=True)))

        found = tf.py_func(shares, [self._variables[name].read_value() for name in names], tf.float32)
        found.set_shape([shape.features])
        return found

    def _data(self, data: Any) -> Any:
        """float32 [B, F]."""
        if isinstance(data, dict):
            parts = []
            for key in sorted(data):
                part = data[key]
                part = tf.sparse.to_dense(part) if isinstance(part, tf.SparseTensor) else tf.convert_to_tensor(part)
                parts.append(tf.cast(tf.reshape(part, [tf.shape(part)[0], -1]), tf.float32))
            found = tf.concat(parts, 1)
        elif isinstance(data, tf.SparseTensor):
            found = tf.cast(tf.sparse.to_dense(data), tf.float32)
        else:
            found = tf.cast(tf.convert_to_tensor(data), tf.float32)
        return tf.reshape(found, [-1, self._shape.features])


class _Initial:
    """The initializer of a part of the state; small in the graph, whatever the forest's size."""

    def __init__(self, name: str, shape: Shape) -> None:
        self._name = name
        self._start = {"feature": -1, "child": -1, "slot": -1, "candidate_feature": -1, "size": 1}.get(name, 0)
        self._shape = shape

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        del partition_info
        if self._name in ("slot", "slot_used"):  # the root may grow
            first, rest = (0, -1) if self._name == "slot" else (1, 0)
            one = tf.fill([shape[0], 1], tf.constant(first, dtype))
            return tf.concat([one, tf.fill([shape[0], shape[1] - 1], tf.constant(rest, dtype))], 1)
        return tf.fill(shape, tf.constant(self._start, dtype))
