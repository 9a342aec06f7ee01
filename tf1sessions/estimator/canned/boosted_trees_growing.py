"""Growth of trees: a layer from sums of gradients, and pruning of a finished tree. Forest -> forest.

Shapes: T trees, N nodes of the largest tree, W nodes of a layer at most, F features, K buckets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from .boosted_trees_proto import COUNT, FEATURE, FINALIZED, LAYERS, LEFT, PRUNED, RIGHT, THRESHOLD, Forest

__all__ = ["TreeParams", "center", "grow", "last_layer", "num_finished"]

_CENTERED = 0.01  # arbitrary: the bias is centered when it changes by less than this part of itself


class TreeParams(NamedTuple):
    """The parameters of growing trees; see ``BoostedTreesEstimator``."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str

    @property
    def width(self) -> int:
        """The greatest number of nodes that are split at once."""
        return 1 << max(self.max_depth - 1, 0)


def last_layer(forest: Forest) -> tuple[Any, Any]:
    """The first node and the end of the layer that is split next, int32."""
    start, end = tf.unstack(tf.cast(forest.growth[2:], tf.int32))
    return start, tf.maximum(end, 1)


def num_finished(forest: Forest) -> Any:
    return tf.reduce_sum(forest.trees[:, FINALIZED])


def center(forest: Forest, sums: Any, params: TreeParams) -> tuple[Forest, Any]:
    """Moves the bias, which is the value of the first tree's root, and returns whether it has to be moved again.

    Args:
        forest: It has no splits yet.
        sums: [2], of gradients and Hessians.
        params: How trees grow.
    """
    forest = _with_room(forest, tf.equal(tf.size(forest.weights), 0), 0)
    change = _weight(sums, params)
    bias = forest.values[0, 0] + change
    forest = forest._replace(values=tf.tensor_scatter_nd_update(forest.values, [[0, 0]], bias[None]))
    return forest, tf.abs(change) > _CENTERED * tf.abs(bias)


def grow(forest: Forest, sums: Any, params: TreeParams) -> Forest:
    """Splits the nodes of the last layer, where that is of use.

    Args:
        forest: The forest.
        sums: [W, F, K, 2], of gradients and Hessians.
        params: How trees grow.
    """
    start, end = last_layer(forest)
    gain, feature, threshold, contributions = _best_splits(sums, params)
    node = start + tf.range(params.width)
    splits = tf.logical_and(node < end, tf.reduce_sum(sums[:, 0, :, 1], axis=1) >= params.min_node_weight)
    if params.pruning_mode == "pre":
        splits = tf.logical_and(splits, gain >= 0.0)
    node, gain, feature, threshold, contributions = (
        tf.boolean_mask(values, splits) for values in (node, gain, feature, threshold, contributions)
    )
    n_new = 2 * tf.size(node)
    forest = _with_room(forest, tf.equal(tf.size(forest.weights), 0), n_new)
    tree = tf.size(forest.weights) - 1
    count, layers = forest.trees[-1, COUNT], forest.trees[-1, LAYERS]
    left = count + 2 * tf.range(tf.size(node))
    children = tf.range(count, count + n_new)
    before = tf.gather(forest.values[-1], node)
    layers_after = layers + tf.cast(n_new > 0, tf.int32)
    finished = layers_after >= params.max_depth

    def of_tree(nodes: Any) -> Any:
        return tf.stack([tf.fill(tf.shape(nodes), tree), nodes], axis=1)

    values = tf.reshape(before[:, None] + params.learning_rate * contributions, [-1])
    grown = forest._replace(
        nodes=tf.tensor_scatter_nd_update(
            forest.nodes, of_tree(node), tf.stack([feature, threshold, left, left + 1], axis=1)
        ),
        values=tf.tensor_scatter_nd_update(forest.values, of_tree(children), values),
        gains=tf.tensor_scatter_nd_update(forest.gains, of_tree(node), gain),
        trees=tf.concat(
            [forest.trees[:-1], [[count + n_new, layers_after, tf.cast(finished, tf.int32), 0]]],
            axis=0,
        ),
        growth=_growth(forest.growth, tf.equal(layers, 0), n_new > 0, count, count + n_new),
    )
    return _chosen(finished, lambda: _with_new_tree(_pruned(grown) if params.pruning_mode == "post" else grown), grown)


def _growth(growth: Any, is_first_layer: Any, is_grown: Any, start: Any, end: Any) -> Any:
    layer = tf.where(is_grown, tf.cast(tf.stack([start, end]), tf.int64), growth[2:])
    return tf.concat([growth[:2] + tf.stack([tf.cast(is_first_layer, tf.int64), 1]), layer], axis=0)


def _chosen(condition: Any, make: Any, otherwise: Forest) -> Forest:
    return Forest(*tf.cond(condition, lambda: list(make()), lambda: [tf.identity(part) for part in otherwise]))


def _with_new_tree(forest: Forest) -> Forest:
    """Return the forest with one more tree, which is a leaf."""
    forest = _with_room(forest, tf.constant(True), 0)
    return forest._replace(growth=tf.concat([forest.growth[:2], tf.constant([0, 1], tf.int64)], axis=0))


def _with_room(forest: Forest, needs_tree: Any, n_nodes: Any) -> Forest:
    """Return the forest with a new tree if ``needs_tree``, and room for ``n_nodes`` more nodes in the last tree."""
    new = tf.cast(needs_tree, tf.int32)
    capacity = tf.shape(forest.values)[1]
    used = tf.reduce_max(tf.concat([forest.trees[-1:, COUNT], [1]], axis=0))
    more = tf.maximum(used + n_nodes - capacity, 0)

    def padded(values: Any, columns: Any, filling: Any = 0) -> Any:
        paddings = [[0, new], [0, columns], *[[0, 0]] * (values.shape.ndims - 2)]
        return tf.pad(values, paddings, constant_values=filling)

    return forest._replace(
        nodes=padded(forest.nodes, more, -1),
        values=padded(forest.values, more),
        gains=padded(forest.gains, more),
        trees=tf.concat([forest.trees, tf.tile([[1, 0, 0, 0]], [new, 1])], axis=0),
        weights=tf.concat([forest.weights, tf.ones([new])], axis=0),
        moved=padded(forest.moved, 0),
        changes=padded(forest.changes, 0),
    )


# ------------------------------------------------------------------------------------------------------- best splits


def _shrunk(sums: Any, params: TreeParams) -> Any:
    """The sums of gradients without what L1 takes away."""
    gradient = sums[..., 0]
    return tf.sign(gradient) * tf.maximum(tf.abs(gradient) - params.l1, 0.0) if params.l1 > 0 else gradient


def _weight(sums: Any, params: TreeParams) -> Any:
    """The best value of a node with these ``sums`` [..., 2]."""
    hessian = sums[..., 1] + params.l2
    return tf.where(hessian > 0.0, -tf.math.divide_no_nan(_shrunk(sums, params), hessian), tf.zeros_like(hessian))


def _gain(sums: Any, params: TreeParams) -> Any:
    """Return by how much that value makes the loss less."""
    return -_shrunk(sums, params) * _weight(sums, params)


def _best_splits(sums: Any, params: TreeParams) -> tuple[Any, Any, Any, Any]:
    """Return for each node the gain [W], feature [W], threshold [W], and what both children add [W, 2]."""
    left = tf.cumsum(sums, axis=2)
    total = left[:, :, -1:]
    right = total - left
    gains = _gain(left, params) + _gain(right, params)
    gains = gains - _gain(total, params) - params.tree_complexity
    n_buckets = sums.shape.as_list()[2]
    choices = tf.reshape(gains, [params.width, -1])
    best = tf.argmax(choices, axis=1, output_type=tf.int32)

    def of_best(values: Any) -> Any:
        return tf.gather(tf.reshape(values, tf.shape(choices)), best, axis=1, batch_dims=1)

    children = tf.stack([of_best(_weight(left, params)), of_best(_weight(right, params))], axis=1)
    return of_best(choices), best // n_buckets, best % n_buckets, children


# ----------------------------------------------------------------------------------------------------------- pruning


def _kept_splits(is_split: Any, left: Any, right: Any, gains: Any) -> Any:
    """Return the splits that made the loss better, or have one below them that did."""

    def collapse(stays: Any, changed: Any) -> tuple[Any, Any]:
        del changed
        below = tf.logical_or(tf.gather(stays, left), tf.gather(stays, right))
        after = tf.logical_and(stays, tf.logical_or(gains >= 0.0, below))
        return after, tf.reduce_any(tf.not_equal(after, stays))

    stays, _ = tf.while_loop(lambda stays, changed: changed, collapse, [is_split, tf.reduce_any(is_split)])
    return stays


def _owners(place: Any, parent: Any, stays: Any) -> Any:
    """The node that each became: itself, or the uppermost one above it that is a leaf now."""

    def climb(owner: Any, changed: Any) -> tuple[Any, Any]:
        del changed
        above = tf.gather(owner, parent)
        after = tf.where(tf.gather(stays, above), place, above)
        return after, tf.reduce_any(tf.not_equal(after, owner))

    owner, _ = tf.while_loop(lambda owner, changed: changed, climb, [place, tf.constant(True)])
    return owner


def _pruned(forest: Forest) -> Forest:
    """Without the last tree's splits that made the loss no better, and have none below them that did."""
    nodes, values, gains = forest.nodes[-1], forest.values[-1], forest.gains[-1]
    count = forest.trees[-1, COUNT]
    is_split = nodes[:, FEATURE] >= 0
    left, right = (tf.where(is_split, nodes[:, side], tf.zeros_like(nodes[:, side])) for side in (LEFT, RIGHT))
    place = tf.range(tf.size(values))

    stays = _kept_splits(is_split, left, right, gains)
    parents = tf.boolean_mask(place, is_split)
    children = tf.concat([tf.boolean_mask(left, is_split), tf.boolean_mask(right, is_split)], axis=0)
    parent = tf.tensor_scatter_nd_update(place, children[:, None], tf.tile(parents, [2]))

    owner = _owners(place, parent, stays)
    keeps = tf.logical_and(tf.equal(owner, place), place < count)
    number = tf.cumsum(tf.cast(keeps, tf.int32)) - 1
    is_pruned = tf.reduce_any(tf.not_equal(stays, is_split))

    def compact(row: Any, filling: Any) -> Any:
        kept = tf.boolean_mask(row, keeps)
        rest = tf.size(place) - tf.shape(kept)[0]
        return tf.pad(kept, [[0, rest], *[[0, 0]] * (row.shape.ndims - 1)], constant_values=filling)

    renumbered = tf.stack(
        [nodes[:, FEATURE], nodes[:, THRESHOLD], tf.gather(number, left), tf.gather(number, right)],
        axis=1,
    )
    renumbered = tf.where(tf.broadcast_to(stays[:, None], tf.shape(nodes)), renumbered, -tf.ones_like(nodes))
    after = tf.tensor_scatter_nd_update(
        forest.trees,
        [[tf.size(forest.weights) - 1, COUNT], [tf.size(forest.weights) - 1, PRUNED]],
        tf.stack([tf.reduce_sum(tf.cast(keeps, tf.int32)), tf.where(is_pruned, count, 0)]),
    )
    room = tf.maximum(count - tf.shape(forest.moved)[1], 0)
    moved = tf.pad(forest.moved, [[0, 0], [0, room]])
    width = tf.shape(moved)[1]

    def first(row: Any) -> Any:
        """Return an array as wide as ``moved``, with zeros where there are no nodes."""
        row = tf.where(tf.logical_and(place < count, is_pruned), row, tf.zeros_like(row))[:width]
        return tf.pad(row, [[0, width - tf.size(row)]])[None]

    change = tf.gather(values, owner) - values
    return forest._replace(
        nodes=tf.concat([forest.nodes[:-1], compact(renumbered, -1)[None]], axis=0),
        values=tf.concat([forest.values[:-1], compact(values, 0)[None]], axis=0),
        gains=tf.concat([forest.gains[:-1], compact(tf.where(stays, gains, tf.zeros_like(gains)), 0)[None]], axis=0),
        trees=after,
        moved=tf.concat([moved[:-1], first(tf.gather(number, owner))], axis=0),
        changes=tf.concat([tf.pad(forest.changes, [[0, 0], [0, room]])[:-1], first(change)], axis=0),
    )
