"""``tf.contrib.periodic_resample``: a tensor whose dimension becomes smaller, so that others become larger."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from ..runtime import tf1 as tf

__all__ = ["periodic_resample"]


def periodic_resample(values: Any, shape: Any, name: str | None = None) -> Any:
    """Give a tensor another shape, as a subpixel convolution does; see https://arxiv.org/abs/1609.05158.

    Args:
        values: The tensor, of any rank.
        shape: A size for each dimension, at least as large as in ``values``; None for one dimension, which is made as
            much smaller as is needed.
        name: Of the operation.

    Returns:
        A tensor of the dtype of ``values`` and the sizes of ``shape``. Where a size is no multiple of that in
        ``values``, there can be places for which there is no element; they are 0.

    Raises:
        UsageError: ``shape`` has not one size for each dimension, or not None for just one, or a size is too small. It
            is a ValueError, too.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     gs.run(t1.contrib.periodic_resample.periodic_resample([[0, 1, 2, 3], [4, 5, 6, 7]], [4, None])).tolist()
        [[0, 1], [2, 3], [4, 5], [6, 7]]
    """
    with tf.name_scope(name, "PeriodicResample", [values]) as scope:
        values = tf.convert_to_tensor(values, name="values")
        desired = [None if size in (None, -1) else int(size) for size in tf.TensorShape(shape).as_list()]
        given = values.shape.with_rank(len(desired)).as_list()
        free = _free_dimension(given, desired)
        sizes = tf.shape(values, out_type=tf.int64)
        wanted = tf.constant([1 if size is None else size for size in desired], tf.int64)
        rest = tf.reduce_prod(sizes) // tf.reduce_prod(wanted)
        lengths = [rest if size is None else tf.constant(size, tf.int64) for size in desired]
        indices, is_there = _indices(sizes, wanted, lengths, free)
        found = tf.gather_nd(values, tf.where(_wide(is_there, indices), indices, tf.zeros_like(indices)))
        found = tf.where(is_there, found, tf.zeros_like(found), name=scope)
        if None not in given:
            count, others = 1, 1
            for size in given:
                count *= size
            for size in desired:
                others *= size or 1
            desired[free] = count // others
        found.set_shape(desired)
        return found


def _free_dimension(given: list[int | None], desired: list[int | None]) -> int:
    """Return the dimension of ``desired`` that is None; the others are checked."""
    if desired.count(None) != 1:
        raise UsageError(
            f"shape has {desired.count(None)} sizes that are None",
            where="tf.contrib.periodic_resample.periodic_resample",
            next_step="Leave one dimension open.",
        )
    for dimension, (size, wish) in enumerate(zip(given, desired, strict=True)):
        if size is not None and wish is not None and wish < size:
            raise UsageError(
                f"dimension {dimension} of shape is {wish}, which is less than the {size} of the values",
                where="tf.contrib.periodic_resample.periodic_resample",
                next_step="Leave the dimension open that is to become smaller.",
            )
    return desired.index(None)


def _wide(mask: Any, like: Any) -> Any:
    """The mask, with one more dimension: that of ``like``."""
    return tf.broadcast_to(tf.expand_dims(mask, -1), tf.shape(like))


def _indices(sizes: Any, wanted: Any, lengths: list[Any], free: int) -> tuple[Any, Any]:
    """For each element of the result, the indices ``[..., rank]`` of where it comes from; and whether there it is."""
    rank = len(lengths)
    factors = -(-wanted // sizes)  # how many of the result come from one place, rounded up
    grids = tf.meshgrid(*[tf.range(length) for length in lengths], indexing="ij")
    places = [grids[dimension] // factors[dimension] for dimension in range(rank)]
    along, group = grids[free], tf.constant(1, tf.int64)
    for dimension in range(rank):
        if dimension != free:
            along += lengths[free] * group * (grids[dimension] % factors[dimension])
            group *= factors[dimension]
    places[free] = along
    return tf.stack(places, -1), along < sizes[free]
