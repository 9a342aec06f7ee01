"""Graphs of one call with random arguments, for both TensorFlows: ``python seed_arguments.py [FIRST COUNT FILE]``.

Writes what they draw with to seed_arguments.json.gz, or of COUNT graphs from FIRST on to FILE: the second seed of each
operation that draws, None where a call fails. To be run with the Python of genuine 1.15. Graph N is the same wherever
it is made: one of some 380 calls, with arguments of random kinds (shapes known, open or unknown, types, constants,
variables, None), alone or among elementwise ones, with or without a gradient or the step of an optimizer.
"""

import gzip
import json
import os
import random
import sys

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
#: The graphs that make_measured_traits.py learns from, and those that it never sees.
LEARNT = range(4000)
HELD_OUT = range(1000000, 1000400)

contrib = tf.contrib
cells = tf.nn.rnn_cell
FLOATS = [tf.float32] * 8 + [tf.float64, tf.float16]


class Draw(random.Random):
    """What is drawn for one graph. Draws follow from its number alone, never from what TensorFlow gave."""

    def __init__(self, number):
        super(Draw, self).__init__(number)
        self.inputs = []
        self.dtype = self.pick(FLOATS)

    def pick(self, choices):
        choices = list(choices)
        return choices[int(self.random() * len(choices))]

    def often(self, value, *others):
        """The usual value half of the time."""
        return value if self.random() < 0.5 else self.pick(others)

    def maybe(self, value, other=None):
        return value if self.random() < 0.5 else other

    def flag(self):
        return self.random() < 0.5

    def sizes(self, rank=None):
        return [self.pick([1, 2, 3, 4, 6]) for _ in range(self.pick([0, 1, 2, 2, 3, 4]) if rank is None else rank)]

    def x(self, *shape, **options):
        """A tensor of a random kind whose shape, as far as it is known, is this one."""
        dtype = options.get("dtype") or self.dtype
        kind, name = self.random(), "input%d" % len(self.inputs)
        shape = list(shape)
        if kind < 0.4:
            value = tf.placeholder(dtype, shape)
        elif kind < 0.62:
            value = tf.placeholder(dtype, [None] * bool(shape) + shape[1:])
        elif kind < 0.68:
            value = tf.placeholder(dtype, shape[:-1] + [None] * bool(shape))
        elif kind < 0.72:
            value = tf.placeholder(dtype, [None] * len(shape))
        elif kind < 0.75 and not options.get("ranked"):
            value = tf.placeholder(dtype)
        elif kind < 0.82:
            value = tf.constant(np.ones(shape), dtype)
        elif kind < 0.86 and dtype.is_floating:
            value = tf.Variable(tf.zeros(shape, dtype))
        elif kind < 0.9 and dtype.is_floating:
            value = tf.get_variable(name, shape, dtype)
        elif kind < 0.93 and dtype.is_floating:
            value = tf.random_uniform(shape, dtype=dtype)
        elif kind < 0.95:
            value = tf.zeros(shape, dtype)
        elif kind < 0.97:
            value = tf.placeholder_with_default(np.ones(shape, dtype.as_numpy_dtype), [None] * len(shape))
        elif dtype.is_floating:
            value = tf.tanh(tf.placeholder(dtype, shape))
        else:
            value = tf.placeholder(dtype, shape) + 1
        if dtype.is_floating:
            self.inputs.append(value)
            if self.random() < 0.1:
                value = getattr(tf, self.pick(["exp", "sigmoid", "square", "identity"]))(value)
        return value

    def any(self, rank=None, **options):
        return self.x(*self.sizes(rank), **options)

    def ints(self, *shape, **options):
        return self.x(*shape, dtype=self.often(tf.int32, tf.int64), **options)

    def bools(self, *shape):
        return tf.placeholder(tf.bool, self.often(list(shape), [None] * len(shape)))

    def number(self, *choices):
        """A number as programs give it: plain, as an array, or as a tensor."""
        value = self.pick(choices or [0.5, 2.0, 3.0])
        kind = self.random()
        if kind < 0.55:
            return value
        if kind < 0.65:
            return np.float32(value) if isinstance(value, float) else np.int32(value)
        if kind < 0.8:
            return tf.constant(value, self.dtype if isinstance(value, float) else tf.int32)
        return tf.placeholder(self.dtype if isinstance(value, float) else tf.int32, [])

    def axis(self, rank):
        kind = self.random()
        if kind < 0.2:
            return None
        one = int(self.random() * rank) - self.pick([0, rank])
        if kind < 0.7:
            return one
        if kind < 0.8:
            return [one]
        if kind < 0.92:
            return sorted({0, rank - 1})
        return tf.constant(one) if kind < 0.96 else tf.placeholder(tf.int32, [])

    def shape(self, *sizes):
        """A shape as programs give it."""
        kind = self.random()
        sizes = list(sizes)
        if kind < 0.5:
            return sizes
        if kind < 0.6:
            return tuple(sizes)
        if kind < 0.7:
            return tf.TensorShape(sizes)
        if kind < 0.78:
            return np.array(sizes, np.int32)
        if kind < 0.86:
            return [tf.placeholder(tf.int32, [])] * bool(sizes) + sizes[1:]
        if kind < 0.93:
            return tf.shape(tf.placeholder(tf.float32, [None] * len(sizes)))
        return tf.constant(sizes, tf.int32)


def given(draw, **choices):
    """Some of the arguments, each with one of its values."""
    return {name: draw.pick(values) for name, values in sorted(choices.items()) if draw.random() < 0.4}


CALLS = {}


def named(*names):
    """Adds a case for each public function of these names: what makes it takes the draw and the function."""

    def add(function):
        for name in names:
            CALLS["%s %s" % (function.__name__, name)] = lambda draw, name=name: function(draw, public(name))
        return function

    return add


def case(function):
    CALLS[function.__name__] = function
    return function


def cases(**functions):
    CALLS.update(functions)


def public(name):
    value = tf
    for part in name.split("."):
        value = getattr(value, part)
    return value


# -- arithmetic -------------------------------------------------------------------------------------------------------

UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc exp expm1 floor identity lgamma log log1p
log_sigmoid negative ones_like reciprocal rint round rsqrt sigmoid sign sin sinh sqrt square stop_gradient tan tanh
zeros_like nn.relu nn.relu6 nn.elu nn.selu nn.softplus nn.softsign nn.leaky_relu nn.softmax nn.log_softmax nn.l2_loss
nn.crelu nn.swish is_nan is_finite is_inf shape size rank real conj to_float to_double to_int32 to_int64 count_nonzero
nn.zero_fraction""".split()


@named(*UNARY)
def unary(draw, function):
    if draw.random() < 0.06:
        return function([[1.0, 2.0], [3.0, 4.0]])
    return function(draw.any())


@named(
    *"""add subtract multiply divide div div_no_nan floordiv floormod mod truediv maximum minimum pow
squared_difference atan2 realdiv equal not_equal less less_equal greater greater_equal""".split()
)
def binary(draw, function):
    sizes = draw.sizes()
    other = draw.random()
    first = draw.x(*sizes)
    if other < 0.35:
        return function(first, draw.x(*sizes))
    if other < 0.5:
        return function(first, draw.x(*sizes[1:]))
    if other < 0.6:
        return function(first, draw.x(*[1 for _ in sizes]))
    if other < 0.7:
        return function(draw.number(2.0), first)
    return function(first, draw.number(2.0))


OPERATORS = [
    lambda one, other: one + other,
    lambda one, other: one - other,
    lambda one, other: other - one,
    lambda one, other: one * other,
    lambda one, other: other * one,
    lambda one, other: one / other,
    lambda one, other: other / one,
    lambda one, other: one // other,
    lambda one, other: one % other,
    lambda one, other: one**other,
    lambda one, other: -one,
    lambda one, other: abs(one),
    lambda one, other: one > other,
    lambda one, other: one <= other,
    lambda one, other: other + one,
]


@case
def operators(draw):
    sizes, operator, kind = draw.sizes(), draw.pick(OPERATORS), draw.random()
    one = draw.x(*sizes)
    return operator(one, draw.x(*sizes) if kind < 0.3 else draw.x(*sizes[1:]) if kind < 0.5 else draw.number(2.0, 2))


@case
def operators_of_integers(draw):
    sizes, operator = draw.sizes(), draw.pick(OPERATORS)
    dtype = draw.pick([tf.int32, tf.int64])
    return operator(draw.x(*sizes, dtype=dtype), draw.often(2, draw.x(*sizes, dtype=dtype)))


@case
def slices(draw):
    value = draw.any(3)
    now = tf.placeholder(tf.int32, [])
    return draw.pick(
        [
            lambda: value[0],
            lambda: value[:, 1:],
            lambda: value[..., None],
            lambda: value[::2],
            lambda: value[now],
            lambda: value[:, -1],
            lambda: value[now:, 0],
            lambda: value[:, :, ::-1],
            lambda: value[tf.newaxis],
            lambda: value[:now],
            lambda: value[..., 0],
            lambda: value[1:-1, None, 0],
            lambda: tf.slice(value, [0, 0, 0], [-1, 1, 1]),
            lambda: tf.slice(value, [now, 0, 0], [1, 1, 1]),
            lambda: tf.strided_slice(value, [0, 0], [1, 1]),
            lambda: value[tf.shape(value)[0] - 1],
        ]
    )()


@named(
    *"""reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_logsumexp math.reduce_std
math.reduce_variance math.reduce_euclidean_norm""".split()
)
def reductions(draw, function):
    rank = draw.pick([1, 2, 2, 3, 4])
    value = draw.any(rank)
    options = given(draw, keepdims=[True, False])
    if draw.random() < 0.2:
        return function(value, **options)
    return function(value, draw.axis(rank), **options)


@named("reduce_any", "reduce_all")
def logical_reductions(draw, function):
    return function(draw.bools(3, 4), draw.axis(2), **given(draw, keepdims=[True, False]))


@named("reduce_sum", "reduce_mean", "reduce_max")
def integer_reductions(draw, function):
    return function(draw.ints(3, 4), draw.axis(2))


@named("logical_and", "logical_or", "logical_xor")
def logical(draw, function):
    return function(draw.bools(3, 4), draw.bools(3, 4))


@named("argmax", "argmin")
def arguments(draw, function):
    return function(
        draw.any(2), draw.pick([None, 0, 1, -1, tf.constant(0)]), **given(draw, output_type=[tf.int32, tf.int64])
    )


@named("cumsum", "cumprod")
def cumulative(draw, function):
    return function(draw.any(2), draw.pick([0, 1, -1]), **given(draw, exclusive=[True, False], reverse=[True]))


@case
def matmul(draw):
    batch = draw.often([], [2], [2, 3])
    options = given(draw, transpose_a=[True], transpose_b=[True])
    one, other = ([3, 4][:: -1 if options.get("transpose_" + end) else 1] for end in "ab")
    return tf.matmul(draw.x(*(batch + one)), draw.x(*(batch + other[::-1])), **options)


@case
def tensordot(draw):
    one, other, axes = draw.pick(
        [
            ([2, 3], [3, 4], 1),
            ([2, 3, 4], [4, 5], 1),
            ([2, 3, 4], [3, 4, 2], 2),
            ([2, 3], [2, 4], [[0], [0]]),
            ([2, 3, 4], [4, 3], [[1, 2], [1, 0]]),
            ([3], [3], 1),
            ([2, 3], [4, 3], [[1], [1]]),
            ([2, 3], [3], 1),
        ]
    )
    return tf.tensordot(draw.x(*one), draw.x(*other), axes)


@case
def einsum(draw):
    equation = draw.pick(
        "ij,jk->ik ij,kj->ik bij,bjk->bik bij,jk->bik ij->ji ij,ij->i abij,bjk->abik i,i-> bi,bi->b "
        "ij->i bhid,bhjd->bhij btd,de->bte".split()
    )
    sizes = dict(zip("abdehijkt", [2, 3, 4, 5, 2, 3, 4, 2, 6]))
    return tf.einsum(equation, *[draw.x(*[sizes[one] for one in part]) for part in equation.split("->")[0].split(",")])


@case
def norm(draw):
    axis = draw.pick([None, 0, 1, -1, [0, 1]])
    order = draw.pick(["euclidean", 1, 2, np.inf] if axis != [0, 1] else ["euclidean", "fro", 1])
    return tf.norm(draw.any(2), order, axis, **given(draw, keepdims=[True]))


cases(
    l2_normalize=lambda draw: tf.nn.l2_normalize(draw.any(2), draw.pick([0, 1, -1, [0, 1], None])),
    moments=lambda draw: tf.nn.moments(
        draw.any(4), draw.pick([[0], [0, 1, 2], [1, 2], -1, [-1]]), **given(draw, keep_dims=[True, False])
    ),
    weighted_moments=lambda draw: tf.nn.weighted_moments(draw.x(3, 4), draw.pick([[0], [0, 1]]), draw.number(1.0)),
    batch_normalization=lambda draw: tf.nn.batch_normalization(
        draw.x(2, 3), draw.x(3), draw.x(3), draw.maybe(draw.x(3)), draw.maybe(draw.x(3)), draw.pick([0.1, 1e-3])
    ),
    fused_batch_norm=lambda draw: tf.nn.fused_batch_norm(
        draw.x(2, 4, 4, 3), draw.x(3), draw.x(3), **given(draw, epsilon=[0.01], data_format=["NHWC"])
    ),
    clip_by_value=lambda draw: tf.clip_by_value(draw.any(), draw.number(-1.0), draw.number(1.0)),
    clip_by_norm=lambda draw: tf.clip_by_norm(draw.any(2), draw.number(1.0), draw.pick([None, 1, [0], [1]])),
    clip_by_average_norm=lambda draw: tf.clip_by_average_norm(draw.any(2), draw.number(1.0)),
    clip_by_global_norm=lambda draw: tf.clip_by_global_norm(
        [draw.any() for _ in range(draw.pick([1, 2, 3]))] + draw.maybe([None], []),
        draw.number(1.0),
        draw.often(None, 2.0),
    )[0],
    global_norm=lambda draw: tf.global_norm([draw.any() for _ in range(draw.pick([1, 2, 3]))]),
    add_n=lambda draw: tf.add_n([draw.x(3, 2) for _ in range(draw.pick([1, 2, 3]))]),
    accumulate_n=lambda draw: tf.accumulate_n(
        [tf.placeholder(tf.float32, [3, 2]) for _ in range(draw.pick([1, 2, 3]))]
    ),
    cast=lambda draw: tf.cast(
        draw.pick([draw.any(), draw.ints(3), draw.bools(3), 1, [1.5], np.ones([2])]),
        draw.pick([tf.float32, tf.float64, tf.int32, tf.int64, tf.bool, tf.uint8, "float32"]),
    ),
    saturate_cast=lambda draw: tf.saturate_cast(draw.any(), draw.pick([tf.uint8, tf.int32, tf.float32])),
    bitcast=lambda draw: tf.bitcast(tf.placeholder(tf.float32, draw.sizes()), tf.int32),
    where=lambda draw: tf.where(draw.bools(3, 2), draw.x(3, 2), draw.x(3, 2)),
    where_rows=lambda draw: tf.where(draw.bools(3), draw.x(3, 2), draw.x(3, 2)),
    where_of=lambda draw: tf.where(draw.x(3, 2) > draw.number(0.0)),
    where_like=lambda draw: (lambda value: tf.where(value > 0, value, tf.zeros_like(value)))(draw.any()),
    confusion_matrix=lambda draw: tf.confusion_matrix(
        draw.ints(4), draw.ints(4), **given(draw, num_classes=[3], dtype=[tf.float32], weights=[tf.ones([4], tf.int32)])
    ),
    bincount=lambda draw: tf.bincount(tf.placeholder(tf.int32, [None]), **given(draw, minlength=[3], maxlength=[9])),
    linspace=lambda draw: tf.linspace(draw.number(0.0), 1.0, draw.number(5)),
    range=lambda draw: tf.range(
        *draw.pick([[draw.number(5)], [0, draw.number(5)], [0, 9, draw.number(2)], [0.0, 2.0]])
    ),
    zeros=lambda draw: tf.zeros(draw.shape(*draw.sizes()), draw.pick([tf.float32, tf.int32, tf.bool, tf.string])),
    ones=lambda draw: tf.ones(draw.shape(*draw.sizes()), draw.pick([tf.float32, tf.int32, tf.float64])),
    fill=lambda draw: tf.fill(draw.shape(*draw.sizes()), draw.number(1.0, 2)),
    zeros_like=lambda draw: tf.zeros_like(draw.any(), **given(draw, dtype=[tf.int32, tf.float32], optimize=[False])),
    ones_like=lambda draw: tf.ones_like(draw.any(), **given(draw, dtype=[tf.int32, tf.float32], optimize=[False])),
    eye=lambda draw: tf.eye(draw.number(3), **given(draw, num_columns=[4], batch_shape=[[2]], dtype=[tf.float64])),
    constant=lambda draw: tf.constant(draw.pick([1, 2.0, [1, 2], "a", [[1.0]]]), **given(draw, shape=[[2, 3], [6]])),
    convert=lambda draw: tf.convert_to_tensor(draw.pick([1, 2.0, [1, 2], [draw.x(), 1.0], [draw.x(2), draw.x(2)]])),
)

# -- arrays -----------------------------------------------------------------------------------------------------------

cases(
    reshape=lambda draw: tf.reshape(
        draw.x(4, 6), draw.pick([[-1], [2, 12], [-1, 3], [], draw.shape(6, 4), [4, 2, -1]])
    ),
    reshape_of=lambda draw: (lambda value: tf.reshape(value, [tf.shape(value)[0], -1]))(draw.any(3)),
    transpose=lambda draw: tf.transpose(
        draw.x(2, 3, 4), draw.pick([None, [1, 0, 2], [2, 1, 0], tf.constant([0, 2, 1])])
    ),
    transpose_matrix=lambda draw: tf.matrix_transpose(draw.any(draw.pick([2, 3]))),
    transpose_any=lambda draw: tf.transpose(draw.any()),
    expand_dims=lambda draw: tf.expand_dims(draw.any(), draw.pick([0, -1, 1])),
    squeeze=lambda draw: tf.squeeze(draw.x(1, 3, 1), draw.pick([None, 0, [0, 2], [-1]])),
    concat=lambda draw: tf.concat(
        [draw.x(2, 3) for _ in range(draw.pick([1, 2, 3]))], draw.pick([0, 1, -1, tf.constant(0)])
    ),
    stack=lambda draw: tf.stack([draw.x(2, 3) for _ in range(draw.pick([1, 2, 3]))], draw.pick([0, 1, -1])),
    stack_mixed=lambda draw: tf.stack([draw.x(), draw.number(2.0)]),
    unstack=lambda draw: tf.unstack(tf.placeholder(tf.float32, draw.often([3, 2], [3, None])), draw.often(None, 3)),
    split=lambda draw: tf.split(
        draw.x(6, 4),
        draw.pick([2, 1, [2, 4], [1, 5], [6], tf.constant([2, 4])]),
        draw.pick([0, tf.constant(0)]),
    ),
    split_last=lambda draw: tf.split(draw.x(3, 4), draw.pick([2, 4, [1, 3]]), draw.pick([1, -1])),
    tile=lambda draw: tf.tile(draw.x(2, 3), draw.pick([[1, 2], [2, 1], [draw.number(2), 1], draw.shape(2, 2)])),
    pad=lambda draw: tf.pad(
        draw.x(2, 3),
        draw.pick([[[0, 0], [1, 1]], tf.constant([[1, 1], [0, 2]]), np.array([[1, 0], [0, 0]])]),
        **given(draw, mode=["REFLECT", "CONSTANT", "SYMMETRIC"], constant_values=[0, 1.0]),
    ),
    gather=lambda draw: tf.gather(
        draw.x(5, 4), draw.pick([0, [0, 1], draw.ints(3), draw.ints(2, 2), draw.ints()]), **given(draw, axis=[0, 1, -1])
    ),
    gather_batch=lambda draw: tf.batch_gather(draw.x(2, 5), tf.placeholder(tf.int32, draw.often([2, 3], [None, 3]))),
    gather_nd=lambda draw: tf.gather_nd(
        draw.x(5, 4), draw.pick([[[0], [1]], [[0, 1]], draw.ints(3, 2), draw.ints(3, 1)])
    ),
    one_hot=lambda draw: tf.one_hot(
        draw.pick([draw.ints(3), draw.ints(2, 2), [0, 1], 2]),
        draw.number(3),
        **given(draw, on_value=[2.0], off_value=[0.5], axis=[0, -1], dtype=[tf.float32]),
    ),
    boolean_mask=lambda draw: tf.boolean_mask(
        draw.x(3, 4), draw.pick([draw.bools(3), tf.placeholder(tf.bool, [3, 4]), np.array([True, False, True])])
    ),
    reverse=lambda draw: tf.reverse(draw.x(2, 3), draw.pick([[0], [1], [0, 1], [-1]])),
    reverse_sequence=lambda draw: tf.reverse_sequence(draw.x(2, 3, 4), draw.ints(2), draw.pick([1, 2]), batch_axis=0),
    roll=lambda draw: tf.roll(draw.x(2, 3), draw.number(1), draw.pick([0, 1])),
    meshgrid=lambda draw: tf.meshgrid(draw.x(3), draw.x(4), **given(draw, indexing=["ij", "xy"])),
    sequence_mask=lambda draw: tf.sequence_mask(
        draw.ints(3),
        draw.pick([None, 5, tf.constant(5), tf.placeholder(tf.int32, [])]),
        **given(draw, dtype=[tf.float32]),
    ),
    unique=lambda draw: draw.pick([tf.unique, tf.unique_with_counts])(
        tf.placeholder(tf.int32, draw.often([5], [None]))
    ),
    broadcast_to=lambda draw: tf.broadcast_to(draw.x(1, 3), draw.shape(2, 3)),
    broadcast_static_shape=lambda draw: tf.broadcast_dynamic_shape(tf.shape(draw.any(2)), [2, 1]),
    diag=lambda draw: draw.pick([tf.diag, tf.diag_part, tf.matrix_diag, tf.matrix_diag_part])(draw.x(3, 3)),
    band=lambda draw: tf.matrix_band_part(draw.x(3, 3), draw.number(-1), draw.number(0)),
    set_diag=lambda draw: tf.matrix_set_diag(draw.x(3, 3), draw.x(3)),
    scatter_nd=lambda draw: tf.scatter_nd(
        tf.placeholder(tf.int32, draw.often([3, 1], [None, 1])), draw.x(3, 2), draw.shape(5, 2)
    ),
    invert=lambda draw: tf.invert_permutation(tf.placeholder(tf.int32, draw.often([3], [None]))),
    searchsorted=lambda draw: tf.searchsorted(draw.x(5), draw.x(3), **given(draw, side=["left", "right"])),
    space_to_depth=lambda draw: tf.space_to_depth(draw.x(2, 4, 4, 3), 2),
    depth_to_space=lambda draw: tf.depth_to_space(draw.x(2, 4, 4, 4), 2),
    space_to_batch=lambda draw: tf.space_to_batch_nd(draw.x(2, 4, 4, 3), [2, 2], [[0, 0], [0, 0]]),
    batch_to_space=lambda draw: tf.batch_to_space_nd(draw.x(4, 2, 2, 3), [2, 2], [[0, 0], [0, 0]]),
    patches=lambda draw: tf.extract_image_patches(draw.x(2, 6, 6, 3), [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
    partition=lambda draw: tf.dynamic_partition(draw.x(3, 2), tf.placeholder(tf.int32, draw.often([3], [None])), 2),
    stitch=lambda draw: tf.dynamic_stitch([[0], [1, 2]], [draw.x(1, 2), draw.x(2, 2)]),
    top_k=lambda draw: tf.nn.top_k(draw.x(3, 5), draw.number(2), **given(draw, sorted=[False])),
    in_top_k=lambda draw: tf.nn.in_top_k(tf.placeholder(tf.float32, [None, 5]), draw.ints(3), 2),
    sort=lambda draw: draw.pick([tf.sort, tf.argsort])(
        tf.placeholder(tf.float32, draw.often([3, 5], [None, 5])), **given(draw, axis=[-1, 0], direction=["DESCENDING"])
    ),
    identity_n=lambda draw: tf.identity_n([draw.any(), draw.any()]),
    tuple_of=lambda draw: tf.tuple([draw.any(), draw.any()]),
    group=lambda draw: tf.group(draw.any(), draw.any()),
    dependencies=lambda draw: dependent(draw.any(), draw.any()),
    ensure_shape=lambda draw: tf.ensure_shape(draw.x(2, 3), [None, 3]),
    set_difference=lambda draw: tf.setdiff1d(draw.x(3), draw.x(2)),
    edit=lambda draw: tf.stop_gradient(draw.any()) + tf.py_func(lambda: np.float32(1), [], tf.float32),
    print=lambda draw: tf.Print(draw.any(), [draw.any()], "m"),
    shape_of=lambda draw: tf.shape(draw.any(), **given(draw, out_type=[tf.int64, tf.int32])),
    shape_n=lambda draw: tf.shape_n([draw.any(), draw.any()]),
    size_of=lambda draw: tf.size(draw.any(), **given(draw, out_type=[tf.int64])),
)


def dependent(one, other):
    with tf.control_dependencies([one]):
        return tf.identity(other) * 2


@named("segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod")
def segments(draw, function):
    return function(draw.x(4, 3), tf.placeholder(tf.int32, draw.often([4], [None])))


@named("unsorted_segment_sum", "unsorted_segment_mean", "unsorted_segment_max", "unsorted_segment_sqrt_n")
def unsorted_segments(draw, function):
    return function(draw.x(4, 3), tf.placeholder(tf.int32, draw.often([4], [None])), draw.number(3))


@named("assert_equal", "assert_less", "assert_greater_equal", "assert_none_equal")
def assertions(draw, function):
    value = draw.any(2)
    return dependent(function(value, draw.often(draw.number(1.0), value), **given(draw, message=["wrong"])), value)


@named("assert_positive", "assert_non_negative", "assert_negative")
def assertions_of_one(draw, function):
    value = draw.any(2)
    return dependent(function(value), value)


cases(
    assert_rank=lambda draw: dependent(tf.assert_rank(draw.any(2), draw.number(2)), tf.zeros([2])),
    assert_rank_at_least=lambda draw: dependent(tf.assert_rank_at_least(draw.any(3), 2), tf.zeros([2])),
    assert_true=lambda draw: dependent(tf.Assert(tf.reduce_all(draw.bools(3)), [draw.any()]), tf.zeros([2])),
)


@named(
    "matrix_inverse",
    "matrix_determinant",
    "cholesky",
    "trace",
    "linalg.logdet",
    "linalg.adjoint",
    "qr",
    "self_adjoint_eig",
)
def matrices(draw, function):
    return function(draw.x(*(draw.often([], [2]) + [3, 3])))


cases(
    solve=lambda draw: tf.matrix_solve(draw.x(3, 3), draw.x(3, 2), **given(draw, adjoint=[True])),
    solve_triangular=lambda draw: tf.matrix_triangular_solve(draw.x(3, 3), draw.x(3, 2), **given(draw, lower=[False])),
    solve_ls=lambda draw: tf.matrix_solve_ls(
        draw.x(4, 3), draw.x(4, 2), **given(draw, l2_regularizer=[0.1], fast=[False])
    ),
    svd=lambda draw: tf.svd(draw.x(4, 3), **given(draw, compute_uv=[False], full_matrices=[True])),
    cross=lambda draw: tf.cross(draw.x(2, 3), draw.x(2, 3)),
    fft=lambda draw: tf.abs(
        tf.fft(tf.complex(tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 4])))
    ),
    rfft=lambda draw: tf.spectral.rfft(
        tf.placeholder(tf.float32, draw.pick([[4], [None], [2, 4]])), draw.often(None, [4])
    ),
)

# -- networks ---------------------------------------------------------------------------------------------------------

PADDING = ["SAME", "VALID"]
cases(
    conv1d=lambda draw: tf.nn.conv1d(draw.x(2, 6, 3), draw.x(3, 3, 4), draw.pick([1, 2]), draw.pick(PADDING)),
    conv2d=lambda draw: tf.nn.conv2d(
        draw.x(2, 6, 6, 3), draw.x(3, 3, 3, 4), draw.pick([[1, 1, 1, 1], [1, 2, 2, 1]]), draw.pick(PADDING)
    ),
    conv2d_dilated=lambda draw: tf.nn.conv2d(
        draw.x(2, 6, 6, 3), draw.x(3, 3, 3, 4), [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1]
    ),
    conv3d=lambda draw: tf.nn.conv3d(draw.x(2, 6, 6, 6, 3), draw.x(3, 3, 3, 3, 4), [1, 1, 1, 1, 1], draw.pick(PADDING)),
    convolution=lambda draw: tf.nn.convolution(
        draw.x(2, 6, 6, 3),
        draw.x(3, 3, 3, 4),
        draw.pick(PADDING),
        **given(draw, strides=[[2, 2]], dilation_rate=[[2, 2]]),
    ),
    conv2d_transposed=lambda draw: tf.nn.conv2d_transpose(
        draw.x(2, 3, 3, 4), draw.x(3, 3, 3, 4), draw.shape(2, 6, 6, 3), [1, 2, 2, 1]
    ),
    atrous=lambda draw: tf.nn.atrous_conv2d(
        draw.x(2, 6, 6, 3), draw.x(3, 3, 3, 4), draw.pick([1, 2]), draw.pick(PADDING)
    ),
    depthwise=lambda draw: tf.nn.depthwise_conv2d(
        draw.x(2, 6, 6, 3), draw.x(3, 3, 3, 2), [1, 1, 1, 1], draw.pick(PADDING), **given(draw, rate=[[2, 2]])
    ),
    separable=lambda draw: tf.nn.separable_conv2d(
        draw.x(2, 6, 6, 3), draw.x(3, 3, 3, 2), draw.x(1, 1, 6, 4), [1, 1, 1, 1], draw.pick(PADDING)
    ),
    pool=lambda draw: tf.nn.pool(draw.x(2, 6, 6, 3), [2, 2], draw.pick(["MAX", "AVG"]), draw.pick(PADDING)),
    max_pool=lambda draw: tf.nn.max_pool(draw.x(2, 6, 6, 3), [1, 2, 2, 1], [1, 2, 2, 1], draw.pick(PADDING)),
    avg_pool=lambda draw: tf.nn.avg_pool(draw.x(2, 6, 6, 3), [1, 2, 2, 1], [1, 2, 2, 1], draw.pick(PADDING)),
    lrn=lambda draw: tf.nn.lrn(draw.x(2, 6, 6, 3), **given(draw, depth_radius=[3], bias=[1.0], alpha=[0.1])),
    bias_add=lambda draw: tf.nn.bias_add(draw.pick([draw.x(2, 3), draw.x(2, 6, 6, 3)]), draw.x(3)),
    xw_plus_b=lambda draw: draw.pick([tf.nn.xw_plus_b, tf.nn.relu_layer])(draw.x(2, 3), draw.x(3, 4), draw.x(4)),
    dropout=lambda draw: tf.nn.dropout(
        draw.any(), draw.number(0.5, 0.8, 1.0), **given(draw, seed=[3], noise_shape=[[1], None])
    ),
    dropout_rate=lambda draw: tf.nn.dropout(draw.any(), rate=draw.number(0.5, 0.2)),
    softmax=lambda draw: draw.pick([tf.nn.softmax, tf.nn.log_softmax])(draw.any(3), **given(draw, axis=[0, 1, -1, 2])),
    leaky_relu=lambda draw: tf.nn.leaky_relu(draw.any(), **given(draw, alpha=[0.1, tf.constant(0.2, draw.dtype)])),
    cross_entropy=lambda draw: tf.nn.softmax_cross_entropy_with_logits(
        labels=draw.x(4, 3), logits=draw.x(4, 3), **given(draw, dim=[0, 1, -1])
    ),
    cross_entropy_v2=lambda draw: tf.nn.softmax_cross_entropy_with_logits_v2(
        labels=draw.x(4, 3), logits=draw.x(4, 3), **given(draw, axis=[0, 1, -1])
    ),
    cross_entropy_sparse=lambda draw: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=draw.ints(4), logits=draw.x(4, 3)
    ),
    cross_entropy_sparse_3=lambda draw: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=draw.ints(4, 2), logits=draw.x(4, 2, 3)
    ),
    cross_entropy_sigmoid=lambda draw: tf.nn.sigmoid_cross_entropy_with_logits(
        labels=draw.x(4, 3), logits=draw.x(4, 3)
    ),
    cross_entropy_weighted=lambda draw: tf.nn.weighted_cross_entropy_with_logits(
        labels=draw.x(4, 3), logits=draw.x(4, 3), pos_weight=draw.number(2.0)
    ),
    poisson=lambda draw: tf.nn.log_poisson_loss(draw.x(4), draw.x(4), **given(draw, compute_full_loss=[True])),
    lookup=lambda draw: tf.nn.embedding_lookup(
        draw.x(9, 3), draw.pick([draw.ints(4), draw.ints(4, 2), [0, 1], draw.ints()]), **given(draw, max_norm=[1.0])
    ),
    lookup_parts=lambda draw: tf.nn.embedding_lookup(
        [draw.x(5, 3), draw.x(5, 3)], draw.ints(4), **given(draw, partition_strategy=["div", "mod"])
    ),
    nce=lambda draw: draw.pick([tf.nn.nce_loss, tf.nn.sampled_softmax_loss])(
        tf.get_variable("w", [30, 4]),
        tf.get_variable("b", [30]),
        tf.placeholder(tf.int64, [draw.often(3, None), 1]),
        tf.placeholder(tf.float32, [draw.often(3, None), 4]),
        5,
        30,
        **given(draw, num_true=[1]),
    ),
    ctc=lambda draw: tf.nn.ctc_loss(
        tf.sparse_placeholder(tf.int32),
        tf.placeholder(tf.float32, draw.often([5, 2, 4], [None, None, 4])),
        tf.placeholder(tf.int32, [draw.often(2, None)]),
        **given(draw, time_major=[True]),
    ),
)

ACTIVATIONS = [tf.nn.relu, tf.tanh, tf.sigmoid, tf.nn.elu, tf.nn.leaky_relu, tf.nn.softmax, None]
INITIALIZERS = [
    tf.zeros_initializer(),
    tf.constant_initializer(0.1),
    tf.random_normal_initializer(0.0, 0.1),
    tf.truncated_normal_initializer(stddev=0.1),
    tf.random_uniform_initializer(-0.1, 0.1),
    tf.variance_scaling_initializer(),
    tf.glorot_normal_initializer(),
    tf.orthogonal_initializer(),
    None,
]
REGULARIZERS = [tf.keras.regularizers.l2(0.1), contrib.layers.l2_regularizer(0.1), contrib.layers.l1_regularizer(0.1)]


def layer(draw, **others):
    """Arguments of a layer with weights."""
    return given(
        draw,
        activation=ACTIVATIONS,
        use_bias=[True, False],
        kernel_initializer=INITIALIZERS,
        bias_initializer=[tf.zeros_initializer(), tf.constant_initializer(0.1)],
        kernel_regularizer=REGULARIZERS,
        name=["layer"],
        trainable=[True, False],
        **others,
    )


def plain(draw, *shape):
    """What a layer takes: its last axis is known."""
    return tf.placeholder(tf.float32, [draw.often(shape[0], None)] + list(shape[1:]))


def single(draw):
    draw.dtype = tf.float32
    return draw


def with_float32(function):
    return lambda draw: function(single(draw))


def float_cases(**functions):
    cases(**{name: with_float32(function) for name, function in functions.items()})


float_cases(
    layer_dense=lambda draw: tf.layers.dense(
        draw.pick([plain(draw, 4, 3), plain(draw, 4, 5, 3)]), draw.pick([1, 4]), **layer(draw)
    ),
    layer_conv1d=lambda draw: tf.layers.conv1d(
        plain(draw, 4, 8, 3), 4, 3, **layer(draw, padding=["same", "valid"], strides=[1, 2], dilation_rate=[1, 2])
    ),
    layer_conv2d=lambda draw: tf.layers.conv2d(
        plain(draw, 4, 8, 8, 3),
        4,
        draw.pick([3, [3, 3]]),
        **layer(draw, padding=["same", "valid"], strides=[1, 2], dilation_rate=[1, 2]),
    ),
    layer_conv3d=lambda draw: tf.layers.conv3d(plain(draw, 2, 4, 4, 4, 3), 4, 3, **layer(draw, padding=["same"])),
    layer_conv2d_transpose=lambda draw: tf.layers.conv2d_transpose(
        plain(draw, 4, 4, 4, 3), 4, 3, draw.pick([1, 2]), **layer(draw, padding=["same", "valid"])
    ),
    layer_separable=lambda draw: tf.layers.separable_conv2d(
        plain(draw, 4, 8, 8, 3), 4, 3, **given(draw, padding=["same"], activation=ACTIVATIONS, use_bias=[False])
    ),
    layer_pool=lambda draw: draw.pick([tf.layers.max_pooling2d, tf.layers.average_pooling2d])(
        draw.x(4, 8, 8, 3, ranked=True), 2, 2, **given(draw, padding=["same", "valid"])
    ),
    layer_pool1d=lambda draw: draw.pick([tf.layers.max_pooling1d, tf.layers.average_pooling1d])(
        draw.x(4, 8, 3, ranked=True), 2, 2, **given(draw, padding=["same", "valid"])
    ),
    layer_flatten=lambda draw: draw.pick([tf.layers.flatten, contrib.layers.flatten])(
        draw.pick([plain(draw, 4, 3), plain(draw, 4, 3, 2), plain(draw, 4, 2, 2, 2)])
    ),
    layer_dropout=lambda draw: tf.layers.dropout(
        draw.any(2, ranked=True),
        draw.number(0.5),
        **given(draw, training=[True, False, tf.placeholder(tf.bool, [])], seed=[3]),
    ),
    layer_batch_norm=lambda draw: tf.layers.batch_normalization(
        draw.pick([plain(draw, 4, 3), plain(draw, 4, 6, 3), plain(draw, 4, 6, 6, 3), plain(draw, 2, 4, 4, 4, 3)]),
        **given(
            draw,
            training=[True, False, tf.placeholder(tf.bool, [])],
            center=[False],
            scale=[False],
            momentum=[0.9],
            epsilon=[0.01],
            trainable=[True, False],
            fused=[True, False, None],
            renorm=[True],
        ),
    ),
    contrib_connected=lambda draw: contrib.layers.fully_connected(
        draw.pick([plain(draw, 4, 3), plain(draw, 4, 5, 3)]),
        4,
        **given(
            draw,
            activation_fn=ACTIVATIONS,
            normalizer_fn=[contrib.layers.batch_norm, contrib.layers.layer_norm],
            weights_initializer=INITIALIZERS[:-1],
            weights_regularizer=REGULARIZERS,
            biases_initializer=[None],
            trainable=[False],
            scope=["s"],
        ),
    ),
    contrib_conv2d=lambda draw: draw.pick([contrib.layers.conv2d, contrib.slim.conv2d])(
        plain(draw, 4, 8, 8, 3),
        4,
        draw.pick([3, [3, 3]]),
        **given(
            draw,
            activation_fn=ACTIVATIONS,
            normalizer_fn=[contrib.layers.batch_norm],
            stride=[1, 2],
            rate=[1, 2],
            weights_regularizer=REGULARIZERS,
            padding=["SAME", "VALID"],
            weights_initializer=INITIALIZERS[:-1],
        ),
    ),
    contrib_batch_norm=lambda draw: contrib.layers.batch_norm(
        draw.pick([plain(draw, 4, 3), plain(draw, 4, 6, 3), plain(draw, 4, 6, 6, 3)]),
        **given(
            draw,
            is_training=[True, False, tf.placeholder(tf.bool, [])],
            center=[False, True],
            scale=[True],
            decay=[0.9],
            fused=[True, False],
            activation_fn=ACTIVATIONS,
            updates_collections=[None],
        ),
    ),
    contrib_layer_norm=lambda draw: contrib.layers.layer_norm(
        draw.pick([plain(draw, 4, 3), plain(draw, 4, 6, 3)]), **given(draw, center=[False], scale=[False])
    ),
    contrib_pool=lambda draw: draw.pick([contrib.layers.max_pool2d, contrib.layers.avg_pool2d])(
        plain(draw, 4, 8, 8, 3), 2, **given(draw, stride=[1, 2], padding=["SAME"])
    ),
    contrib_dropout=lambda draw: contrib.layers.dropout(
        plain(draw, 4, 3), **given(draw, keep_prob=[0.3, 0.8], is_training=[False, tf.placeholder(tf.bool, [])])
    ),
    contrib_one_hot=lambda draw: contrib.layers.one_hot_encoding(draw.ints(4), 3),
    contrib_transpose=lambda draw: contrib.layers.conv2d_transpose(
        plain(draw, 4, 4, 4, 3), 4, 3, **given(draw, stride=[1, 2], activation_fn=ACTIVATIONS)
    ),
    keras_dense=lambda draw: tf.keras.layers.Dense(
        4,
        **given(
            draw,
            activation=["relu", "tanh", "softmax", None],
            use_bias=[False],
            kernel_regularizer=REGULARIZERS[:1],
            kernel_initializer=["he_normal", "zeros", "glorot_uniform"],
        ),
    )(draw.pick([plain(draw, 4, 3), plain(draw, 4, 5, 3)])),
    keras_conv=lambda draw: tf.keras.layers.Conv2D(
        4, 3, **given(draw, activation=["relu", None], padding=["same"], strides=[2], use_bias=[False])
    )(plain(draw, 4, 8, 8, 3)),
    keras_batch_norm=lambda draw: tf.keras.layers.BatchNormalization(**given(draw, momentum=[0.9], scale=[False]))(
        draw.pick([plain(draw, 4, 3), plain(draw, 4, 6, 6, 3)]), **given(draw, training=[True, False])
    ),
    keras_recurrent=lambda draw: draw.pick([tf.keras.layers.LSTM, tf.keras.layers.GRU, tf.keras.layers.SimpleRNN])(
        4, **given(draw, return_sequences=[True], dropout=[0.2])
    )(plain(draw, 4, 6, 3)),
    keras_plain=lambda draw: draw.pick(
        [
            tf.keras.layers.Flatten(),
            tf.keras.layers.Activation("relu"),
            tf.keras.layers.Dropout(0.5),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.ZeroPadding2D(),
            tf.keras.layers.UpSampling2D(),
            tf.keras.layers.LeakyReLU(),
            tf.keras.layers.PReLU(),
        ]
    )(plain(draw, 4, 8, 8, 3)),
    keras_embedding=lambda draw: tf.keras.layers.Embedding(9, 3)(tf.placeholder(tf.int32, [draw.often(4, None), 6])),
)

WEIGHTS = [lambda draw: 1.0, lambda draw: 0.5, lambda draw: draw.x(4), lambda draw: draw.x(), lambda draw: draw.x(4, 1)]
REDUCTIONS = [tf.losses.Reduction.SUM, tf.losses.Reduction.MEAN, tf.losses.Reduction.NONE]


def loss_case(name):
    def build(draw):
        single(draw)
        options = given(draw, reduction=REDUCTIONS)
        if draw.random() < 0.4:
            options["weights"] = draw.pick(WEIGHTS)(draw)
        if name == "sparse_softmax_cross_entropy":
            return tf.losses.sparse_softmax_cross_entropy(draw.ints(4), draw.x(4, 3), **options)
        if name == "cosine_distance":
            return tf.losses.cosine_distance(draw.x(4, 3), draw.x(4, 3), 1, **options)
        return getattr(tf.losses, name)(draw.x(4, 3), draw.x(4, 3), **options)

    return build


cases(
    **{
        "loss_" + name: loss_case(name)
        for name in """mean_squared_error absolute_difference huber_loss log_loss hinge_loss sigmoid_cross_entropy
        softmax_cross_entropy sparse_softmax_cross_entropy cosine_distance""".split()
    }
)


def metric_case(name):
    def build(draw):
        single(draw)
        options = {"weights": draw.pick(WEIGHTS[2:])(draw)} if draw.random() < 0.3 else {}
        if name == "mean":
            return tf.metrics.mean(draw.x(4), **options)
        if name in ("auc", "precision", "recall"):
            return getattr(tf.metrics, name)(draw.bools(4), draw.x(4), **options)
        if name == "mean_iou":
            return tf.metrics.mean_iou(draw.ints(4), draw.ints(4), 3)
        if name in ("accuracy", "mean_per_class_accuracy"):
            return getattr(tf.metrics, name)(draw.ints(4), draw.ints(4), *([3] if "per" in name else []), **options)
        return getattr(tf.metrics, name)(draw.x(4), draw.x(4), **options)

    return build


cases(
    **{
        "metric_" + name: metric_case(name)
        for name in """mean auc precision recall mean_iou accuracy mean_per_class_accuracy mean_squared_error
        root_mean_squared_error mean_absolute_error""".split()
    }
)

# -- recurrent networks -----------------------------------------------------------------------------------------------


def cell(draw):
    made = draw.pick(
        [
            lambda: cells.BasicRNNCell(4),
            lambda: cells.GRUCell(4),
            lambda: cells.BasicLSTMCell(4),
            lambda: cells.LSTMCell(4, **given(draw, use_peepholes=[True], num_proj=[3], forget_bias=[0.5])),
            lambda: cells.MultiRNNCell([cells.BasicLSTMCell(4), cells.GRUCell(4)]),
            lambda: cells.MultiRNNCell([cells.BasicLSTMCell(4) for _ in range(2)]),
            lambda: contrib.rnn.LayerNormBasicLSTMCell(4, **given(draw, dropout_keep_prob=[0.5])),
        ]
    )()
    if draw.random() < 0.25:
        made = cells.DropoutWrapper(
            made,
            **given(
                draw,
                input_keep_prob=[0.5],
                output_keep_prob=[0.8, tf.placeholder(tf.float32, [])],
                state_keep_prob=[0.5],
            ),
        )
    return cells.ResidualWrapper(made) if draw.random() < 0.05 else made


def lengths(draw):
    return draw.maybe(tf.placeholder(tf.int32, [draw.often(4, None)]))


float_cases(
    dynamic_rnn=lambda draw: tf.nn.dynamic_rnn(
        cell(draw),
        tf.placeholder(tf.float32, draw.pick([[4, 6, 3], [None, 6, 3], [None, None, 3]])),
        lengths(draw),
        dtype=tf.float32,
        **given(draw, time_major=[True], swap_memory=[True], parallel_iterations=[8]),
    ),
    dynamic_rnn_state=lambda draw: with_state(draw, cell(draw)),
    bidirectional=lambda draw: tf.nn.bidirectional_dynamic_rnn(
        cell(draw), cell(draw), plain(draw, 4, 6, 3), lengths(draw), dtype=tf.float32
    ),
    static_rnn=lambda draw: tf.nn.static_rnn(
        cell(draw), tf.unstack(plain(draw, 4, 3, 3), axis=1), dtype=tf.float32, sequence_length=lengths(draw)
    ),
    cell_call=lambda draw: (lambda one: one(plain(draw, 4, 3), one.zero_state(4, tf.float32)))(cell(draw)),
    zero_state=lambda draw: cell(draw).zero_state(draw.number(4), tf.float32),
)


def with_state(draw, made):
    value = plain(draw, 4, 6, 3)
    return tf.nn.dynamic_rnn(made, value, initial_state=made.zero_state(draw.pick([4, tf.shape(value)[0]]), tf.float32))


# -- control flow -----------------------------------------------------------------------------------------------------

BODIES = [
    lambda value: value * 2.0,
    lambda value: value + value,
    lambda value: tf.tanh(value),
    lambda value: value * 0.5 + 1.0,
    lambda value: tf.nn.relu(value - 1.0),
    lambda value: value + tf.random_normal([3]),
    lambda value: value,
    lambda value: tf.reduce_sum(value) * value,
    lambda value: tf.matmul(value, tf.ones([3, 3])),
    lambda value: tf.nn.softmax(value),
    lambda value: tf.clip_by_value(value, 0.0, 1.0),
    lambda value: tf.concat([value[..., :1], value[..., 1:]], -1),
    lambda value: value / tf.reduce_max(value),
    lambda value: value + tf.get_variable("body", [3]),
]
float_cases(
    cond=lambda draw: (
        lambda value, one, other: tf.cond(
            draw.pick([tf.placeholder(tf.bool, []), tf.reduce_sum(value) > 0]), lambda: one(value), lambda: other(value)
        )
    )(draw.x(2, 3), draw.pick(BODIES), draw.pick(BODIES)),
    case_of=lambda draw: (
        lambda value, one, other: tf.case(
            [(tf.placeholder(tf.bool, []), lambda: one(value)), (tf.placeholder(tf.bool, []), lambda: other(value))],
            **given(draw, default=[lambda: value], exclusive=[True]),
        )
    )(draw.x(2, 3), draw.pick(BODIES), draw.pick(BODIES)),
    while_loop=lambda draw: (
        lambda value, body, end: tf.while_loop(
            lambda i, _: i < end,
            lambda i, one: (i + 1, body(one)),
            [0, value],
            **given(draw, parallel_iterations=[1], back_prop=[False], swap_memory=[True], maximum_iterations=[5]),
        )[1]
    )(tf.placeholder(tf.float32, [draw.often(2, None), 3]), draw.pick(BODIES), draw.number(3)),
    while_captured=lambda draw: (
        lambda value, body: tf.while_loop(
            lambda i, _: i < 3, lambda i, one: [i + 1, body(one) + value], [tf.constant(0), tf.zeros([2, 3])]
        )[1]
    )(tf.placeholder(tf.float32, [2, 3]), draw.pick(BODIES)),
    map_fn=lambda draw: (
        lambda value, body: tf.map_fn(
            body, value, **given(draw, parallel_iterations=[1], back_prop=[False], dtype=[tf.float32])
        )
    )(tf.placeholder(tf.float32, [draw.often(4, None), 2, 3]), draw.pick(BODIES)),
    scan=lambda draw: (
        lambda value, body: draw.pick([tf.scan, tf.foldl, tf.foldr])(
            lambda total, one: total + body(one),
            value,
            **given(draw, initializer=[tf.zeros([2, 3])], back_prop=[False]),
        )
    )(tf.placeholder(tf.float32, [draw.often(4, None), 2, 3]), draw.pick(BODIES)),
    tensor_array=lambda draw: (
        lambda array: draw.pick([lambda: array.stack(), lambda: array.concat(), lambda: array.read(0)])()
    )(tf.TensorArray(tf.float32, draw.number(3), **given(draw, dynamic_size=[True])).unstack(plain(draw, 3, 2, 3))),
)

# -- images -----------------------------------------------------------------------------------------------------------


def image(draw):
    shape = draw.pick([[8, 8, 3], [None, None, 3], [2, 8, 8, 3], [None, 8, 8, 3], [None, None, None, 3], None])
    return tf.placeholder(draw.often(tf.float32, tf.uint8), shape)


cases(
    **{
        "image_" + name: lambda draw, name=name: getattr(tf.image, name)(image(draw))
        for name in """flip_left_right flip_up_down random_flip_left_right random_flip_up_down transpose_image rot90
        per_image_standardization rgb_to_grayscale rgb_to_hsv""".split()
    }
)
cases(
    **{
        "image_" + name: lambda draw, name=name, values=values: getattr(tf.image, name)(image(draw), *draw.pick(values))
        for name, values in dict(
            resize_images=[([4, 4],), ((16, 16), 1), ([4, 4], 0, True), ([4, 4], 2)],
            resize_bilinear=[([4, 4],), ([4, 4], True)],
            resize_nearest_neighbor=[([4, 4],)],
            resize_image_with_crop_or_pad=[(6, 6), (10, 10), (6, 10)],
            resize_image_with_pad=[(6, 6)],
            pad_to_bounding_box=[(1, 1, 12, 12)],
            crop_to_bounding_box=[(1, 1, 4, 4)],
            central_crop=[(0.5,), (1.0,)],
            adjust_brightness=[(0.1,)],
            adjust_contrast=[(2.0,)],
            adjust_saturation=[(2.0,)],
            adjust_hue=[(0.1,)],
            adjust_gamma=[(2.0,), ()],
            random_brightness=[(0.2,)],
            random_contrast=[(0.2, 1.8)],
            random_saturation=[(0.2, 1.8)],
            random_hue=[(0.1,)],
            convert_image_dtype=[(tf.float32,), (tf.uint8,), (tf.uint8, True), (tf.float64,)],
            total_variation=[()],
            encode_png=[()],
        ).items()
    }
)
cases(
    image_decode=lambda draw: draw.pick(
        [tf.image.decode_png, tf.image.decode_jpeg, tf.image.decode_image, tf.image.decode_bmp]
    )(tf.placeholder(tf.string, []), **given(draw, channels=[3, 1])),
    image_crop=lambda draw: tf.random_crop(draw.x(8, 8, 3), draw.shape(4, 4, 3)),
    image_boxes=lambda draw: tf.image.crop_and_resize(
        tf.placeholder(tf.float32, [draw.often(2, None), 8, 8, 3]), draw.x(2, 4, dtype=tf.float32), [0, 1], [4, 4]
    ),
    image_suppression=lambda draw: tf.image.non_max_suppression(
        tf.placeholder(tf.float32, [draw.often(5, None), 4]), tf.placeholder(tf.float32, [None]), draw.number(3)
    ),
    image_quality=lambda draw: draw.pick([tf.image.psnr, tf.image.ssim])(image(draw), image(draw), 1.0),
)

# -- drawing, variables, training, data --------------------------------------------------------------------------------


@named("random_normal", "truncated_normal")
def normal(draw, function):
    sizes = draw.sizes()
    options = given(draw, seed=[3], dtype=[tf.float32, tf.float64])
    if draw.random() < 0.4:
        single(draw)
        options = dict(mean=draw.number(0.0), stddev=draw.number(0.1))
    return function(draw.shape(*sizes), **options)


cases(
    uniform=lambda draw: tf.random_uniform(
        draw.shape(*draw.sizes()), *draw.pick([[], [-1.0, 1.0], [0, 5], [0.0, single(draw).number(2.0)], [-1, 1]])
    ),
    uniform_ints=lambda draw: tf.random_uniform(
        draw.shape(*draw.sizes()), draw.number(0), draw.number(5), draw.pick([tf.int32])
    ),
    shuffle=lambda draw: tf.random_shuffle(draw.any(draw.pick([1, 2])), **given(draw, seed=[3])),
    multinomial=lambda draw: tf.multinomial(
        draw.pick([draw.x(2, 3), [[0.1, 0.9]], tf.log(draw.x(2, 3))]),
        draw.number(4),
        **given(draw, output_dtype=[tf.int32]),
    ),
    categorical=lambda draw: tf.random.categorical(draw.x(2, 3), draw.number(4), **given(draw, dtype=[tf.int32])),
    gamma=lambda draw: tf.random_gamma(draw.shape(2), draw.number(1.0), **given(draw, beta=[2.0])),
    poisson_of=lambda draw: tf.random_poisson(draw.number(1.0), draw.shape(2)),
    distribution=lambda draw: distribution(single(draw)),
    variable=lambda draw: tf.Variable(
        draw.pick(
            [1.0, 0, [1.0, 2.0], np.zeros([2]), tf.zeros([2]), tf.random_normal([2, 3]), tf.truncated_normal([2])]
        ),
        **given(draw, trainable=[False, True], name=["v"], use_resource=[True, False]),
    ),
    get_variable=lambda draw: tf.get_variable(
        "v",
        draw.pick([[2, 3], [4], (3, 3), []]),
        **given(
            draw,
            initializer=INITIALIZERS[:6],
            regularizer=REGULARIZERS,
            trainable=[False, True],
            use_resource=[True, False],
            dtype=[tf.float32],
            partitioner=[tf.fixed_size_partitioner(2)],
            collections=[[tf.GraphKeys.GLOBAL_VARIABLES]],
            validate_shape=[True],
        ),
    ),
    get_variable_value=lambda draw: tf.get_variable(
        "v", initializer=draw.pick([1.0, tf.zeros([2]), tf.random_normal([2]), np.zeros([2], np.float32)])
    ),
    assigned=lambda draw: draw.pick([tf.assign, tf.assign_add, tf.assign_sub])(
        tf.get_variable("v", [2, 3], **given(draw, use_resource=[True], trainable=[False])),
        draw.pick([tf.ones([2, 3]), tf.placeholder(tf.float32, [2, 3])]),
        **given(draw, use_locking=[True]),
    ),
    scattered=lambda draw: draw.pick([tf.scatter_update, tf.scatter_add, tf.scatter_sub])(
        tf.get_variable("v", [5, 3], **given(draw, use_resource=[True])),
        draw.pick([[0, 1], tf.constant([0, 1]), tf.placeholder(tf.int32, [2])]),
        tf.ones([2, 3]),
    ),
    averages=lambda draw: averages(single(draw)),
    decay=lambda draw: draw.pick([tf.train.exponential_decay, tf.train.natural_exp_decay, tf.train.inverse_time_decay])(
        draw.pick([0.1, tf.constant(0.1), tf.placeholder(tf.float32, [])]),
        draw.pick(
            [tf.train.get_or_create_global_step(), tf.placeholder(tf.int32, []), tf.Variable(0, trainable=False)]
        ),
        draw.pick([100, 100.0]),
        0.9,
        **given(draw, staircase=[True]),
    ),
    decay_pieces=lambda draw: tf.train.piecewise_constant(
        draw.pick(
            [tf.train.get_or_create_global_step(), tf.placeholder(tf.int32, []), tf.Variable(0, trainable=False)]
        ),
        draw.pick([[10], [10, 20]]),
        draw.pick([[0.1, 0.01], [0.1, 0.01, 0.001]]),
    ),
    decay_cosine=lambda draw: draw.pick(
        [tf.train.cosine_decay, tf.train.linear_cosine_decay, tf.train.cosine_decay_restarts]
    )(
        0.1,
        draw.pick([tf.train.get_or_create_global_step(), tf.placeholder(tf.int32, [])]),
        100,
        **given(draw, alpha=[0.1]),
    ),
    decay_polynomial=lambda draw: tf.train.polynomial_decay(
        0.1,
        tf.train.get_or_create_global_step(),
        100,
        **given(draw, power=[2.0], cycle=[True], end_learning_rate=[0.01]),
    ),
    saver=lambda draw: [
        [tf.get_variable("v%d" % one, [2]) for one in range(draw.pick([1, 2, 4]))],
        tf.train.Saver(**given(draw, max_to_keep=[1, None], sharded=[True], save_relative_paths=[True])),
    ],
    summary=lambda draw: draw.pick([tf.summary.scalar, tf.summary.histogram])("s", draw.x()),
    summary_image=lambda draw: tf.summary.image("s", tf.placeholder(tf.float32, [None, 8, 8, 3]), draw.pick([1, 3])),
    summaries=lambda draw: [tf.summary.scalar("s", draw.x()), tf.summary.merge_all()],
    initializers=lambda draw: [
        [tf.get_variable("v%d" % one, [2]) for one in range(draw.pick([0, 1, 3]))],
        draw.pick(
            [
                tf.global_variables_initializer,
                tf.local_variables_initializer,
                tf.tables_initializer,
                tf.report_uninitialized_variables,
            ]
        )(),
    ],
    dataset=lambda draw: dataset(draw),
    queue=lambda draw: draw.pick(
        [
            lambda: tf.train.batch(
                [plain(draw, 3, 2)], 4, **given(draw, enqueue_many=[True], dynamic_pad=[True], num_threads=[2])
            ),
            lambda: tf.train.shuffle_batch(
                [tf.placeholder(tf.float32, [3])], 4, 20, 5, **given(draw, enqueue_many=[True], seed=[2])
            ),
            lambda: tf.train.slice_input_producer(
                [tf.zeros([6, 3]), tf.zeros([6])], **given(draw, shuffle=[False], num_epochs=[2])
            ),
            lambda: tf.train.string_input_producer(["a", "b"], **given(draw, shuffle=[False], num_epochs=[2])),
            lambda: tf.FIFOQueue(3, [tf.float32], **given(draw, shapes=[[[2]]])).enqueue([tf.zeros([2])]),
        ]
    )(),
    strings=lambda draw: draw.pick(
        [
            lambda one: tf.string_split(one),
            lambda one: tf.string_to_number(one),
            lambda one: tf.string_join([one, "a"]),
            lambda one: tf.regex_replace(one, "a", "b"),
            lambda one: tf.strings.length(one),
            lambda one: tf.substr(one, 0, 1),
            lambda one: tf.string_to_hash_bucket_fast(one, 5),
            lambda one: tf.decode_csv(one, [[0.0], [""]]),
            lambda one: tf.decode_raw(one, tf.uint8),
            lambda one: tf.reduce_join(one, 0),
            lambda one: tf.as_string(tf.size(one)),
        ]
    )(tf.placeholder(tf.string, [draw.often(4, None)])),
    examples=lambda draw: draw.pick([tf.parse_example, tf.parse_single_example])(
        tf.placeholder(tf.string, []) if draw.flag() else tf.placeholder(tf.string, [None]),
        {
            "a": tf.FixedLenFeature([], tf.float32, *draw.maybe([0.0], [])),
            "b": draw.pick([tf.VarLenFeature(tf.int64), tf.FixedLenFeature([2], tf.int64)]),
        },
    ),
    sparse=lambda draw: draw.pick(
        [
            lambda one: tf.sparse_tensor_to_dense(one),
            lambda one: tf.sparse_reduce_sum(one, 1),
            lambda one: tf.sparse_add(one, one),
            lambda one: tf.sparse_tensor_dense_matmul(one, draw.x(4, 2, dtype=tf.float32)),
            lambda one: tf.sparse_reorder(one),
            lambda one: one * 2.0,
            lambda one: tf.sparse_slice(one, [0, 0], [1, 1]),
        ]
    )(
        draw.pick(
            [
                tf.sparse_placeholder(tf.float32, [3, 4]),
                tf.sparse_placeholder(tf.float32),
                tf.SparseTensor([[0, 1]], [1.0], [3, 4]),
            ]
        )
    ),
    table=lambda draw: tf.contrib.lookup.index_table_from_tensor(["a", "b"], **given(draw, num_oov_buckets=[1])).lookup(
        tf.placeholder(tf.string, [draw.often(3, None)])
    ),
)


def distribution(draw):
    d = tf.distributions
    made = draw.pick(
        [
            lambda: d.Normal(draw.number(0.0), draw.number(1.0)),
            lambda: d.Bernoulli(logits=draw.x(3)),
            lambda: d.Bernoulli(probs=draw.number(0.5)),
            lambda: d.Categorical(logits=draw.x(2, 3)),
            lambda: d.Categorical(probs=draw.x(2, 3)),
            lambda: d.Uniform(draw.number(0.0), draw.number(2.0)),
            lambda: d.Exponential(draw.number(1.0)),
            lambda: d.Gamma(draw.number(1.0), draw.number(1.0)),
            lambda: d.Beta(draw.number(1.0), draw.number(1.0)),
            lambda: d.Dirichlet(draw.x(2, 3)),
            lambda: d.Laplace(draw.number(0.0), draw.number(1.0)),
            lambda: d.StudentT(2.0, draw.number(0.0), draw.number(1.0)),
        ]
    )()
    return draw.pick(
        [
            lambda: made.sample(),
            lambda: made.sample(draw.pick([3, [2, 3], tf.placeholder(tf.int32, [])])),
            lambda: made.log_prob(made.sample()),
            lambda: made.mean(),
            lambda: made.entropy(),
            lambda: made.prob(draw.x()),
        ]
    )()


def averages(draw):
    average = tf.train.ExponentialMovingAverage(
        0.9,
        *draw.pick([[], [tf.train.get_or_create_global_step()], [tf.placeholder(tf.int32, [])]]),
        **given(draw, zero_debias=[True]),
    )
    one = tf.get_variable("v", [2, 3], **given(draw, use_resource=[True]))
    draw.pick([lambda: average.apply([one]), lambda: average.apply(), lambda: average.apply([one * 2.0])])()


def transformed(draw, made):
    return draw.pick(
        [
            lambda: made.shuffle(draw.number(5), **given(draw, seed=[3], reshuffle_each_iteration=[False])),
            lambda: made.batch(draw.number(2), **given(draw, drop_remainder=[True])),
            lambda: made.repeat(*draw.pick([[], [2], [None]])),
            lambda: made.prefetch(1),
            lambda: made.take(3),
            lambda: made.skip(1),
            lambda: made.cache(),
            lambda: made.map(lambda *one: one, **given(draw, num_parallel_calls=[2])),
            lambda: made.filter(lambda *one: tf.random_uniform([]) > 0.5),
        ]
    )()


def dataset(draw):
    made = draw.pick(
        [
            lambda: tf.data.Dataset.range(9),
            lambda: tf.data.Dataset.from_tensor_slices(np.ones([9, 3], np.float32)),
            lambda: tf.data.Dataset.from_tensor_slices({"a": np.ones([9]), "b": [1] * 9}),
            lambda: tf.data.Dataset.from_tensors(tf.zeros([3])),
            lambda: tf.data.TextLineDataset(["a"]),
            lambda: tf.data.Dataset.zip((tf.data.Dataset.range(9), tf.data.Dataset.range(9))),
        ]
    )()
    for _ in range(draw.pick([1, 2, 3])):
        made = transformed(draw, made)
    return draw.pick([made.make_one_shot_iterator, made.make_initializable_iterator])().get_next()


# -- gradients --------------------------------------------------------------------------------------------------------

STEPS = [
    lambda: tf.train.GradientDescentOptimizer(0.1),
    lambda: tf.train.GradientDescentOptimizer(tf.placeholder(tf.float32, [])),
    lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    lambda: tf.train.AdamOptimizer(),
    lambda: tf.train.AdamOptimizer(tf.constant(0.1), 0.5),
    lambda: tf.train.AdagradOptimizer(0.1),
    lambda: tf.train.RMSPropOptimizer(0.1),
    lambda: tf.train.RMSPropOptimizer(0.1, centered=True, momentum=0.5),
    lambda: tf.train.AdadeltaOptimizer(),
    lambda: tf.train.FtrlOptimizer(0.1),
]


def floats(made):
    """The tensors in what a call gave that gradients can be taken of."""
    if isinstance(made, dict):
        made = [made[key] for key in sorted(made)]
    if isinstance(made, (list, tuple)):
        return [one for part in made for one in floats(part)]
    return [made] if isinstance(made, tf.Tensor) and made.dtype.is_floating else []


def differentiate(draw, made):
    values = floats(made)
    kind = draw.random()
    inputs = draw.inputs + tf.trainable_variables()
    if kind < 0.4:
        options = given(draw, gate_gradients=[True], aggregation_method=[0], colocate_gradients_with_ops=[True])
        return tf.gradients(values, inputs, **options)
    one = tf.cast(values[0], tf.float32)
    if kind < 0.5:
        return tf.gradients(
            [tf.reduce_sum(gradient * gradient) for gradient in tf.gradients(one, inputs) if gradient is not None],
            inputs,
        )
    loss = draw.pick([tf.reduce_sum, tf.reduce_mean, lambda value: tf.reduce_mean(tf.square(value))])(one)
    if kind < 0.6:
        return tf.gradients(loss, inputs)
    if not tf.trainable_variables():
        loss = loss * tf.get_variable("scale", [])
    optimizer = draw.pick(STEPS)()
    if kind < 0.85:
        options = {"global_step": tf.train.get_or_create_global_step()} if draw.flag() else {}
        return optimizer.minimize(loss, **options)
    pairs = [(one, variable) for one, variable in optimizer.compute_gradients(loss) if one is not None]
    if draw.flag():
        clipped, _ = tf.clip_by_global_norm([one for one, _ in pairs], 1.0)
        pairs = list(zip(clipped, [variable for _, variable in pairs]))
    return optimizer.apply_gradients(pairs)


AROUND = [
    tf.tanh,
    tf.square,
    tf.nn.relu,
    lambda value: value * 2.0,
    lambda value: value + 1.0,
    tf.reduce_sum,
    lambda value: tf.expand_dims(value, 0),
    tf.identity,
    lambda value: tf.reshape(value, [-1]),
]


def build(number):
    """Makes graph ``number`` in the default graph."""
    draw = Draw(number)
    made = CALLS[draw.pick(sorted(CALLS))](draw)
    if draw.random() < 0.25:
        made = [draw.pick(AROUND)(one) for one in floats(made)] or made
    if draw.random() < 0.5 and floats(made):
        differentiate(draw, made)


def seeds_of(number):
    """The seeds that graph ``number`` draws with; None where the call fails, or its gradient."""
    from make_seeds import drawn, graph_of  # of ../make, which must be on the path

    try:
        return [seed for _, seed in drawn(graph_of(lambda: build(number)))]
    except Exception:  # some arguments do not fit together; which, either TensorFlow knows
        return None


def record(numbers):
    return {str(number): seeds_of(number) for number in numbers}


def main(first=None, count=None, path=None):
    if path:
        with open(path, "w") as file:
            json.dump(record(range(int(first), int(first) + int(count))), file)
        return
    with gzip.GzipFile(os.path.join(os.path.dirname(HERE), "data", "seed_arguments.json.gz"), "wb", 9, mtime=0) as file:
        file.write(json.dumps({"learnt": record(LEARNT), "held out": record(HELD_OUT)}, sort_keys=True).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
