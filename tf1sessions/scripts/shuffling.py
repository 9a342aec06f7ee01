"""``Dataset.shuffle(n).repeat(k)`` and ``shuffle_and_repeat`` in TensorFlow 1's order.

1.15.5 ran the two as one: it drew for all epochs from one stream of random numbers, where today's kernels begin a new
one for each. No kernel can be determined to go on, so this is composed of data sets::

    elements ──▶ blocks of them, in each epoch ──▶ scan: what waits + a block ──▶ what leaves, what waits ──▶ elements

Elements that are small and of one shape are blocks as they are. Others are wrapped, each as one variant, so that none
is copied. Which element leaves is decided by seeds, the buffer's size and how many elements there are: :func:`_moves`.
All of it is operations of the graph. A block is read at once, so that the source is up to a block ahead.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from . import seeds

__all__ = ["apply"]

_OPS = "tensorflow.python.data.ops."
#: A block is an eighth of the buffer, so that what waits is copied eight times at most; and one of few elements would
#: cost more than they do.
_PART, _LEAST = 8, 64
#: Bytes of an element from which on wrapping it costs less than copying it as often as that.
_LARGE = 4096
_PLAIN = frozenset("bool float16 float32 float64 int8 int16 int32 int64 uint8 uint16".split())
_PHILOX = 1
#: What 1.15.5 left out: which number of which attribute says that a data set does nothing.
_IDLE = {
    "take_op:_TakeDataset": ("_count", -1),
    "skip_op:_SkipDataset": ("_count", 0),
    "repeat_op:_RepeatDataset": ("_count", 1),
    "prefetch_op:_PrefetchDataset": ("_buffer_size", 0),
}


def apply(face: Any) -> None:
    """Replace what ``Dataset.repeat`` and ``shuffle_and_repeat`` call. Once a process."""
    repeat_op: Any = importlib.import_module(_OPS + "repeat_op")
    shuffle_ops: Any = importlib.import_module("tensorflow.python.data.experimental.ops.shuffle_ops")
    repeat_op._repeat = _after_shuffle(repeat_op._repeat, face)
    shuffle_ops.shuffle_and_repeat = _at_once(shuffle_ops.shuffle_and_repeat, face)
    face.data.experimental.shuffle_and_repeat = shuffle_ops.shuffle_and_repeat


def _after_shuffle(original: Callable[..., Any], tf: Any) -> Any:
    @functools.wraps(original)
    def repeat(input_dataset: Any, count: Any, name: Any) -> Any:
        repeated = original(input_dataset, count, name)
        shuffled = _shuffled(tf, input_dataset) if seeds.are_counted() else None
        if shuffled is None or tf.get_static_value(repeated._count) == 1:
            return repeated
        return _in_one_stream(tf, shuffled, repeated)

    return repeat


def _at_once(original: Callable[..., Any], tf: Any) -> Any:
    @functools.wraps(original)
    def shuffle_and_repeat(*args: Any, **kwargs: Any) -> Any:
        repeat = original(*args, **kwargs)

        def apply_to(dataset: Any) -> Any:
            repeated = repeat(dataset)
            return _in_one_stream(tf, repeated, repeated) if seeds.are_counted() else repeated

        return apply_to

    return shuffle_and_repeat


def _shuffled(tf: Any, dataset: Any) -> Any:
    """The shuffle that 1.15.5 would have made one with a repeat of ``dataset``, or None."""
    dataset_ops: Any = importlib.import_module(_OPS + "dataset_ops")
    shuffle_op: Any = importlib.import_module(_OPS + "shuffle_op")

    def inner(one: Any) -> Any:
        while isinstance(one, dataset_ops.DatasetV1Adapter):
            one = one._dataset
        return one

    dataset = inner(dataset)
    wanted = dataset._options_attr.experimental_optimization  # options() warns
    is_wanted = wanted.shuffle_and_repeat_fusion
    if is_wanted is False or (is_wanted is None and wanted.apply_default_optimizations is False):
        return None
    while isinstance(dataset, dataset_ops._OptionsDataset) or _is_idle(tf, dataset):
        dataset = inner(dataset._input_dataset)
    is_shuffle = isinstance(dataset, shuffle_op._ShuffleDataset)
    return dataset if is_shuffle and dataset._reshuffle_each_iteration in (None, True) else None


def _is_idle(tf: Any, dataset: Any) -> bool:
    kind = type(dataset)
    attribute, number = _IDLE.get(f"{kind.__module__.removeprefix(_OPS)}:{kind.__name__}", (None, None))
    return attribute is not None and tf.get_static_value(getattr(dataset, attribute)) == number


def _in_one_stream(tf: Any, shuffled: Any, repeated: Any) -> Any:
    """The elements of ``repeated``, which is ``shuffled`` again and again, by numbers of one stream.

    Without a seed, and where an argument is not allowed, it is ``repeated``.
    """
    buffer_size, count = shuffled._buffer_size, repeated._count
    known_size, known_count = tf.get_static_value(buffer_size), tf.get_static_value(count)
    is_allowed = (known_size is None or known_size > 0) and (known_count in (None, -1) or known_count > 0)
    is_seeded = [tf.get_static_value(one) for one in (shuffled._seed, shuffled._seed2)] != [0, 0]
    if not (is_allowed and is_seeded):
        return repeated
    with seeds.uncounted("shuffle_and_repeat"):
        return _composed(tf, shuffled._input_dataset, buffer_size, count, shuffled._seed, shuffled._seed2)


def _composed(tf: Any, source: Any, buffer_size: Any, count: Any, seed: Any, seed2: Any) -> Any:
    plainly = tf.autograph.experimental.do_not_convert
    spec = source.element_spec
    is_plain = _is_plain(tf, spec)
    items = source if is_plain else _mapped(source, plainly(functools.partial(_wrapped, spec)))
    nothing = functools.partial(_nothing, tf, items.element_spec)
    blocks = items.batch(tf.maximum(buffer_size // _PART, _LEAST)).enumerate()
    blocks = blocks.map(plainly(lambda number, block: (tf.equal(number, 0), False, block)))
    end = tf.data.Dataset.from_tensors(0).map(plainly(lambda _: (False, True, nothing())))
    scan_op: Any = importlib.import_module(_OPS + "scan_op")
    moved = scan_op._ScanDataset(
        blocks.repeat(count).concatenate(end),
        (tf.constant(0, tf.int64), nothing()),
        plainly(functools.partial(_step, tf, buffer_size, seed, seed2)),
    )
    items = moved.unbatch()
    return items if is_plain else _mapped(items, plainly(functools.partial(_unwrapped, spec)))


# -- elements ---------------------------------------------------------------------------------------------------------


def _is_plain(tf: Any, spec: Any) -> bool:
    """Whether elements are small tensors, of one shape each."""
    specs = tf.nest.flatten(spec)
    are_alike = all(isinstance(one, tf.TensorSpec) and one.shape.is_fully_defined() for one in specs)
    if not are_alike or any(one.dtype.name not in _PLAIN for one in specs):
        return False
    return bool(sum(one.shape.num_elements() * one.dtype.size for one in specs) <= _LARGE)


def _mapped(dataset: Any, function: Callable[..., Any]) -> Any:
    dataset_ops: Any = importlib.import_module(_OPS + "dataset_ops")
    map_op: Any = importlib.import_module(_OPS + "map_op")
    return dataset_ops.DatasetV1Adapter(map_op._MapDataset(dataset, function, use_inter_op_parallelism=False))


def _wrapped(spec: Any, *element: Any) -> Any:
    """An element as one variant."""
    structure: Any = importlib.import_module("tensorflow.python.data.util.structure")
    gen_optional_ops: Any = importlib.import_module("tensorflow.python.ops.gen_optional_ops")
    whole = element if type(spec) is tuple else element[0]  # as tf.data gives arguments
    return gen_optional_ops.optional_from_value(structure.to_tensor_list(spec, whole))


def _unwrapped(spec: Any, variant: Any) -> Any:
    optional_ops: Any = importlib.import_module(_OPS + "optional_ops")
    return optional_ops._OptionalImpl(variant, spec).get_value()


def _nothing(tf: Any, spec: Any) -> Any:
    """A block of no elements; TensorFlow may not know that there are none."""

    def none(one: Any) -> Any:
        if one.dtype == tf.variant:
            gen_optional_ops: Any = importlib.import_module("tensorflow.python.ops.gen_optional_ops")
            found = tf.reshape(gen_optional_ops.optional_none(), [1])[:0]
        else:
            found = tf.zeros([0, *one.shape], one.dtype)
        return tf.placeholder_with_default(found, [None, *one.shape])

    return tf.nest.map_structure(none, spec)


# -- order ------------------------------------------------------------------------------------------------------------


def _step(tf: Any, buffer_size: Any, seed: Any, seed2: Any, state: Any, block: Any) -> Any:
    """One step: what waits now, and what leaves.

    Args:
        state: How many elements have left, and those that wait, in the order of their places.
        block: Whether a new epoch begins with it, whether it is the end, and the elements of it.
    """
    left, waiting = state
    is_new, is_end, new = block
    old, added = (tf.shape(tf.nest.flatten(one)[0], out_type=tf.int64)[0] for one in (waiting, new))
    total = old + added
    is_complete = tf.logical_or(is_new, is_end)  # the epoch of those that wait
    leaving = tf.maximum(total - buffer_size, tf.where(is_complete, old, tf.zeros_like(old)))
    steps = tf.range(leaving)
    ends = tf.where(tf.logical_and(is_complete, steps < old), tf.fill([leaving], old), steps + buffer_size)
    chosen = steps + _draws(tf, seed, seed2, left, leaving) % (ends - steps)
    out, stay = _moves(tf, steps, chosen, total)

    def all_of(one: Any, other: Any) -> Any:
        places = [tf.range(tf.cast(old, tf.int32)), tf.range(tf.cast(old, tf.int32), tf.cast(total, tf.int32))]
        return tf.dynamic_stitch(places, [one, other])  # tf.concat takes no variants

    both = tf.nest.map_structure(all_of, waiting, new)
    out, stay = (tf.nest.map_structure(lambda one, at=at: tf.gather(one, at), both) for at in (out, stay))
    return (left + leaving, stay), out


def _draws(tf: Any, seed: Any, seed2: Any, first: Any, count: Any) -> Any:
    """``count`` numbers of the stream (Philox, four at a time), from the ``first`` on."""
    ops: Any = importlib.import_module("tensorflow.python.ops.gen_stateless_random_ops_v2")
    skipped = first % 4
    key, counter = (tf.bitcast(tf.stack(one), tf.uint64) for one in ([seed], [first // 4, seed2]))
    words = ops.stateless_random_uniform_full_int_v2([skipped + count], key, counter, _PHILOX, tf.uint32)
    return tf.cast(words[skipped:], tf.int64)


def _moves(tf: Any, steps: Any, chosen: Any, total: Any) -> tuple[Any, Any]:
    """From which places the elements are that leave, and those that stay, of ``total`` places.

    The step ``s`` takes the element at the place ``chosen[s] >= s``, and puts there the one at ``s``, which is not
    looked at again. So what a step finds at a place is what the last step before it found at its own, if any chose that
    place; this is followed for all steps at once.
    """
    missing = -tf.ones_like(steps)
    count = tf.size(steps, out_type=tf.int64)
    filled = tf.unsorted_segment_max(tf.where(chosen > steps, steps, missing), chosen, total)  # by which step, last
    origins = tf.where(filled[:count] < 0, steps, filled[:count])  # of what a step finds at its own place
    origins = tf.while_loop(
        lambda one: tf.reduce_any(tf.not_equal(one, tf.gather(one, one))), lambda one: tf.gather(one, one), [origins]
    )
    by_place = tf.argsort(chosen, stable=True)
    places = tf.gather(chosen, by_place)
    is_again = tf.equal(places, tf.concat([[-1], places], 0)[:-1])
    before = tf.where(is_again, tf.concat([[-1], tf.cast(by_place, tf.int64)], 0)[:-1], missing)
    before = tf.gather(before, tf.invert_permutation(by_place))  # which step chose the same, last
    found = tf.concat([origins, [0]], 0)  # there may be no step
    out = tf.where(before < 0, chosen, tf.gather(found, tf.maximum(before, 0)))
    rest, filled = tf.range(count, total), filled[count:]
    return out, tf.where(filled < 0, rest, tf.gather(found, tf.maximum(filled, 0)))
