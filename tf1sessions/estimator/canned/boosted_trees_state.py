"""A forest in variables: checkpoints as 1.15.5 has them, the way of an example through the trees, and training.

Shapes: a batch of B, F features, T trees, K buckets, W nodes of a layer at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...runtime import private
from ...runtime import tf1 as tf
from .boosted_trees_growing import TreeParams, center, grow, last_layer
from .boosted_trees_proto import FEATURE, LEFT, RIGHT, THRESHOLD, Forest, decode, empty_forest, encode

__all__ = ["Grower", "StoredForest", "add_saveable", "child", "leaves", "logits", "new_variable"]


_SHAPES = Forest(
    nodes=[None, None, 4],
    values=[None, None],
    gains=[None, None],
    trees=[None, 4],
    weights=[None],
    moved=[None, None],
    changes=[None, None],
    growth=[4],
)


class _Resource(NamedTuple):
    """An entry of ``tf.GraphKeys.RESOURCES``."""

    handle: Any
    create: Any
    is_initialized: Any


def new_variable(name: str, initial: Any, shape: Sequence[int | None], local: bool = False) -> Any:
    """A variable whose value may have another shape later.

    It is no global variable, since checkpoints have it in another form, but it is initialized with them.

    Args:
        name: Its name.
        initial: Its first value.
        shape: What its values have in common; None where they differ.
        local: Whether it begins anew in each session.
    """
    variable = tf.Variable(
        initial,
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES] if local else [],
        validate_shape=False,
        name=name,
        use_resource=True,
        shape=tf.TensorShape(shape),
    )
    if not local:
        resource = _Resource(
            variable.handle, variable.initializer, tf.raw_ops.VarIsInitializedOp(resource=variable.handle)
        )
        tf.add_to_collection(tf.GraphKeys.RESOURCES, resource)
    return variable


class _Saveable(private.saveable_object.SaveableObject):  # type: ignore[misc,name-defined]
    """Some tensors in checkpoints.

    Args:
        op: The operation that they belong to.
        tensors: Key -> tensor.
        restore: Takes what was read, and returns the operation that stores it.
    """

    def __init__(self, op: Any, tensors: dict[str, Any], restore: Callable[..., Any]) -> None:
        specs = [private.saveable_object.SaveSpec(tensor, "", f"{op.name}_{key}") for key, tensor in tensors.items()]
        super().__init__(op, specs, op.name)
        self._restore = restore

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        del restored_shapes
        return self._restore(*restored_tensors)


def add_saveable(op: Any, tensors: dict[str, Any], restore: Callable[..., Any]) -> None:
    """Lets checkpoints have ``tensors`` as "<name of op>_<key>"."""
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, _Saveable(op, tensors, restore))


class StoredForest:
    """A forest in variables.

    Args:
        name: The name of its operation; ends with a slash. In checkpoints it has this name, too.
    """

    def __init__(self, name: str) -> None:
        parts = zip(Forest._fields, empty_forest(), _SHAPES, strict=True)
        self._parts = Forest(*(new_variable(name, initial, shape) for name, initial, shape in parts))
        self._stamp = new_variable("stamp", tf.constant(0, tf.int64), [])
        token = tf.identity(self._stamp.read_value(), name=name)
        add_saveable(token, {"stamp": token, "serialized": encode(self.read())}, self._restore)

    def _restore(self, stamp: Any, serialized: Any) -> Any:
        return tf.group(self._stamp.assign(stamp), self._assign(decode(serialized)))

    def _assign(self, forest: Forest) -> Any:
        return tf.group(*(part.assign(value) for part, value in zip(self._parts, forest, strict=True)))

    def read(self) -> Forest:
        return Forest(*(part.read_value() for part in self._parts))

    def update(self, forest: Forest) -> Any:
        """The operation that makes it ``forest``, after a step of training."""
        return tf.group(self._assign(forest), self._stamp.assign_add(1))


def leaves(forest: Forest, buckets: Any) -> Any:
    """The node of each tree that each example is in: [B, F] -> [B, T]."""
    tree = tf.zeros([tf.shape(buckets)[0], 1], tf.int32) + tf.range(tf.size(forest.weights))

    def nodes(place: Any) -> Any:
        return tf.gather_nd(forest.nodes, tf.stack([tree, place], axis=-1))

    def descend(place: Any, node: Any) -> tuple[Any, Any]:
        place = tf.where(node[..., FEATURE] < 0, place, child(node, buckets))
        return place, nodes(place)

    start = tf.zeros_like(tree)
    place, _ = tf.while_loop(lambda place, node: tf.reduce_any(node[..., FEATURE] >= 0), descend, [start, nodes(start)])
    return place


def child(node: Any, buckets: Any) -> Any:
    """Return the nodes to which examples go from nodes that are split: [B, T, 4], [B, F] -> [B, T]."""
    bucket = tf.gather(buckets, tf.maximum(node[..., FEATURE], 0), axis=1, batch_dims=1)
    return tf.where(bucket > node[..., THRESHOLD], node[..., RIGHT], node[..., LEFT])


def logits(forest: Forest, place: Any) -> Any:
    """Return what the trees say together: [B, T] -> [B, 1]."""
    values = tf.gather(forest.values, tf.transpose(place), axis=1, batch_dims=1)  # [T, B]
    return tf.reduce_sum(values * forest.weights[:, None], axis=0)[:, None]


class Grower:
    """Sums up gradients, and grows a forest by a layer with them.

    Args:
        forest: What grows.
        params: How it grows.
        n_buckets: How many each feature has.
        n_batches: How many batches are summed up for a layer.
    """

    def __init__(self, forest: StoredForest, params: TreeParams, n_buckets: Sequence[int], n_batches: int) -> None:
        self._forest, self._params, self._n_batches = forest, params, n_batches
        self._shape = [params.width, len(n_buckets), max(n_buckets), 2]
        self._sums = self._zeros("sums", self._shape)
        self._center = self._zeros("center_sums", [2])
        self._count = tf.Variable(0, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], use_resource=True)

    @staticmethod
    def _zeros(name: str, shape: Sequence[int]) -> Any:
        """A variable that begins anew in each session."""
        return tf.Variable(
            tf.zeros(shape),
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES],
            name=name,
            use_resource=True,
        )

    def grow(self, place: Any, buckets: Any, gradients: Any) -> Any:
        """The operation of a step.

        Args:
            place: [B, T], the nodes that examples are in.
            buckets: [B, F].
            gradients: [B, 2], of first and second order.
        """
        width, n_features, n_buckets, _ = self._shape
        forest = self._forest.read()
        start, _ = last_layer(forest)
        # Without a tree, all are in the root of the first one.
        node = tf.pad(place, [[0, 0], [1, 0]])[:, -1] - start
        fits = tf.debugging.assert_less(
            buckets, n_buckets, message="There are more buckets: quantile_sketch_epsilon was smaller before."
        )
        with tf.control_dependencies([fits]):
            buckets = tf.identity(buckets)
        ids = (node[:, None] * n_features + tf.range(n_features)) * n_buckets + buckets
        counts = tf.logical_and(node >= 0, node < width)
        ids = tf.where(tf.broadcast_to(counts[:, None], tf.shape(ids)), ids, -tf.ones_like(ids))
        data = tf.tile(gradients[:, None, :], [1, n_features, 1])
        sums = tf.math.unsorted_segment_sum(data, ids, width * n_features * n_buckets)

        def grown() -> Any:
            sums = self._sums.read_value() / self._n_batches
            with tf.control_dependencies([self._forest.update(grow(self._forest.read(), sums, self._params))]):
                return self._reset()

        return self._when_enough(self._sums.assign_add(tf.reshape(sums, self._shape)), grown)

    def center(self, gradients: Any, needed: Any) -> Any:
        """The operation of a step that moves the bias; it sets ``needed`` to False when it hardly moved."""

        def moved() -> Any:
            forest, again = center(self._forest.read(), self._center.read_value() / self._n_batches, self._params)
            with tf.control_dependencies([self._forest.update(forest), needed.assign(again)]):
                return self._reset()

        return self._when_enough(self._center.assign_add(tf.reduce_sum(gradients, axis=0)), moved)

    def _when_enough(self, summing: Any, then: Callable[[], Any]) -> Any:
        with tf.control_dependencies([summing]):
            count = self._count.assign_add(1)
            return tf.cond(count >= self._n_batches, lambda: tf.group(then()), tf.no_op)

    def _reset(self) -> Any:
        return tf.group(*(part.assign(tf.zeros_like(part)) for part in (self._sums, self._center, self._count)))
