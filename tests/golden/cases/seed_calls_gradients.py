"""Calls for seed_calls.py: gradients of gradients, as penalties and second derivatives have them, and of odd shapes."""

import numpy as np
import tensorflow as tf
from seed_calls import calls, ints, x


def twice(function, *operands):
    """Gradients of the squares of gradients."""
    first = [one for one in tf.gradients(function(*operands), list(operands)) if one is not None]
    tf.gradients([tf.reduce_sum(one * one) for one in first], list(operands))


def penalty(function, *shape):
    """A step that keeps gradients near 1."""
    value = x(*shape)
    gradient = tf.gradients(function(value), value)[0]
    slopes = tf.sqrt(tf.reduce_sum(tf.square(gradient), list(range(1, len(shape)))))
    tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.square(slopes - 1.0)))


# -- gradients of what has two operands -------------------------------------------------------------------------------

BINARY = dict(
    add=lambda one, other: one + other,
    subtract=lambda one, other: one - other,
    multiply=lambda one, other: one * other,
    divide=lambda one, other: one / other,
    difference=tf.squared_difference,
    power=lambda one, other: one**other,
    maximum=tf.maximum,
    minimum=tf.minimum,
    remainder=tf.floormod,
    divide_no_nan=tf.div_no_nan,
)
SHAPES = dict(
    same=((2, 3), (2, 3)),
    row=((2, 3), (3,)),
    column=((2, 3), (2, 1)),
    scalar=((2, 3), ()),
    one_row=((1, 3), (3,)),
    rows=((None, 3), (None, 3)),
    rows_row=((None, 3), (3,)),
    rows_column=((None, 3), (None, 1)),
    rows_one=((None, 3), (1, 3)),
    rows_scalar=((None, 3), ()),
    scalar_rows=((), (None, 3)),
    unknown=((None, None), (None, None)),
)
WAYS = dict(
    square=lambda function, one, other: twice(lambda one, other: tf.square(function(one, other)), one, other),
    first=lambda function, one, other: twice(lambda one: tf.tanh(function(one, other)), one),
    added=lambda function, one, other: twice(
        lambda one, other: tf.square(tf.sigmoid(one) + function(tf.sigmoid(one), other) * one), one, other
    ),
    once=lambda function, one, other: tf.gradients(function(one, other), [one, other]),
)
for kind, function in BINARY.items():
    for shapes, (one, other) in SHAPES.items():
        for way, build in WAYS.items():
            calls(**{
                "twice_%s_%s_%s" % (kind, shapes, way): (
                    lambda build=build, function=function, one=one, other=other: build(function, x(*one), x(*other))
                )
            })  # fmt: skip
    for rows in (2, None):
        calls(**{
            "twice_%s_number_%s" % (kind, rows): (
                lambda function=function, rows=rows: twice(
                    lambda value: tf.tanh(function(value * 1.5, 0.2)) + tf.tanh(function(0.2, value * 1.5)), x(rows, 3)
                )
            ),
            "twice_%s_itself_%s" % (kind, rows): (
                lambda function=function, rows=rows: twice(
                    lambda value: tf.tanh(function(value, 0.2 * value)), x(rows, 3)
                )
            ),
            "twice_%s_double_%s" % (kind, rows): (
                lambda function=function, rows=rows: (
                    lambda value: twice(lambda value: tf.tanh(function(value, value)), value)
                )(tf.placeholder(tf.float64, [rows, 3]))
            ),
        })  # fmt: skip

# -- penalties --------------------------------------------------------------------------------------------------------


def batch_norm(value):
    return tf.layers.batch_normalization(value, training=True)


ROWS = dict(
    relu=tf.nn.relu,
    leaky_relu=tf.nn.leaky_relu,
    maximum=lambda value: tf.maximum(value, 0.2 * value),
    elu=tf.nn.elu,
    sigmoid=tf.sigmoid,
    softplus=tf.nn.softplus,
    relu6=tf.nn.relu6,
    absolute=tf.abs,
    swish=tf.nn.swish,
    softmax=tf.nn.softmax,
    clip=lambda value: tf.clip_by_value(value, -1.0, 1.0),
    where=lambda value: tf.where(value > 0, value, 0.1 * value),
    norm=lambda value: value / tf.norm(value, axis=1, keepdims=True),
    l2_normalize=lambda value: tf.nn.l2_normalize(value, 1),
    layer_norm=lambda value: tf.contrib.layers.layer_norm(value),
    batch_norm=batch_norm,
    batch_norm_contrib=lambda value: tf.contrib.layers.batch_norm(value),
    concat=lambda value: tf.concat([value, value * 2.0], 1),
    gather=lambda value: tf.nn.embedding_lookup(tf.tanh(value), [0, 1]),
    column=lambda value: value[:, 1:],
    distances=lambda value: tf.squared_difference(value[:, None], value[:, :, None])[:, 0],
    dropout=lambda value: tf.nn.dropout(value, 0.5),
)
IMAGES = dict(
    batch_norm=lambda value: batch_norm(tf.layers.conv2d(value, 3, 3)),
    batch_norm_contrib=lambda value: tf.contrib.layers.conv2d(value, 3, 3, normalizer_fn=tf.contrib.layers.batch_norm),
    batch_norm_not=lambda value: tf.layers.batch_normalization(tf.layers.conv2d(value, 3, 3)),
    batch_norm_fed=lambda value: tf.layers.batch_normalization(
        tf.layers.conv2d(value, 3, 3), training=tf.placeholder(tf.bool, [])
    ),
    batch_norm_parts=lambda value: tf.layers.batch_normalization(
        tf.layers.conv2d(value, 3, 3), training=True, fused=False
    ),
    strided=lambda value: tf.layers.dense(tf.layers.flatten(tf.nn.leaky_relu(tf.layers.conv2d(value, 3, 3, 2))), 1),
    critic=lambda value: tf.layers.dense(
        tf.layers.flatten(tf.nn.leaky_relu(batch_norm(tf.layers.conv2d(value, 3, 3, 2)))), 1
    ),
    pooled=lambda value: tf.layers.dense(
        tf.layers.flatten(tf.layers.max_pooling2d(tf.layers.conv2d(value, 3, 3), 2, 2)), 1
    ),
    pooled_average=lambda value: tf.layers.average_pooling2d(tf.layers.conv2d(value, 3, 3), 2, 2),
    mean=lambda value: tf.layers.dense(tf.reduce_mean(tf.layers.conv2d(value, 3, 3), [1, 2]), 1),
    residual=lambda value: value + tf.layers.conv2d(tf.nn.relu(value), 3, 3, padding="same"),
    layer_norm=lambda value: tf.contrib.layers.layer_norm(tf.layers.conv2d(value, 3, 3)),
    instance_norm=lambda value: tf.contrib.layers.instance_norm(tf.layers.conv2d(value, 3, 3)),
)
for rows in (5, None):
    for name, layer in ROWS.items():
        calls(**{
            "penalty_%s_%s" % (name, rows): (
                lambda layer=layer, rows=rows: penalty(
                    lambda value: tf.layers.dense(layer(tf.layers.dense(value, 4)), 1), rows, 4
                )
            ),
            "twice_%s_%s" % (name, rows): lambda layer=layer, rows=rows: twice(layer, x(rows, 4)),
        })  # fmt: skip
    for name, layer in IMAGES.items():
        calls(**{
            "penalty_image_%s_%s" % (name, rows): lambda layer=layer, rows=rows: penalty(layer, rows, 8, 8, 3)
        })  # fmt: skip
    calls(**{
        "penalty_sequence_%s" % rows: (
            lambda rows=rows: penalty(
                lambda value: tf.layers.dense(tf.tanh(tf.layers.dense(value, 4)), 4), rows, 4, 3
            )
        ),
        "twice_product_%s" % rows: (
            lambda rows=rows: twice(lambda one, other: tf.tanh(tf.matmul(one, other)), x(rows, 4, 3), x(rows, 3, 2))
        ),
        "twice_tensordot_%s" % rows: (
            lambda rows=rows: twice(lambda one, other: tf.tanh(tf.tensordot(one, other, 1)), x(rows, 4, 3), x(3, 2))
        ),
        "twice_pooled_%s" % rows: (
            lambda rows=rows: twice(
                lambda value: tf.tanh(tf.nn.max_pool(value, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")), x(rows, 4, 4, 3)
            )
        ),
        "twice_large_%s" % rows: (
            lambda rows=rows: twice(
                lambda value: tf.tanh(tf.nn.relu(tf.nn.max_pool(value, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"))),
                x(rows, 64, 64, 3),
            )
        ),
    })  # fmt: skip

# -- gradients of odd shapes ------------------------------------------------------------------------------------------


def once(function, *shape):
    return lambda: (lambda value: tf.gradients(function(value), value))(x(*shape))


def unranked(function):
    return lambda: (lambda value: tf.gradients(function(value), value))(tf.placeholder(tf.float32))


def solved(one, other):
    matrix, right = x(*one), x(*other)
    return tf.gradients(tf.matrix_triangular_solve(matrix, right), [matrix, right])


calls(
    once_sum_first=once(lambda value: tf.reduce_sum(value, 0), 3),
    once_mean_first=once(lambda value: tf.reduce_mean(value, 0), 3),
    once_sum_first_unknown=once(lambda value: tf.reduce_sum(value, 0), None),
    once_sum_axes=once(lambda value: tf.reduce_sum(value, [0]), 3),
    once_sum_none=once(lambda value: tf.reduce_sum(value, []), 3),
    once_frames=once(lambda value: tf.contrib.signal.frame(value, 4, 2), 16),
    once_spectrum=once(lambda value: tf.abs(tf.contrib.signal.stft(value, 8, 4)), 16),
    once_patches=once(
        lambda value: tf.extract_image_patches(value, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"), None, 6, 6, 3
    ),
    once_saturated=once(lambda value: tf.saturate_cast(value, tf.float16), 2, 3),
    once_saturated_same=once(lambda value: tf.saturate_cast(value, tf.float32), None, 3),
    once_solved=lambda: solved((None, 3, 3), (None, 3, 2)),
    once_solved_known=lambda: solved((2, 3, 3), (2, 3, 2)),
    once_diagonal=once(tf.matrix_diag_part, None, 2, 3),
    once_diagonal_set=once(lambda value: tf.matrix_set_diag(value, x(None, 3)), None, 3, 3),
    once_diagonal_set_known=once(lambda value: tf.matrix_set_diag(value, x(3)), 3, None),
    once_double=lambda: (lambda value: tf.gradients(value * value * value, value))(tf.placeholder(tf.float64, [3])),
    once_clipped=once(lambda value: tf.clip_by_global_norm([value, value * 2.0], 1.0)[0], 2, 3),
    once_fallen=lambda: (lambda value, kernel: tf.gradients(tf.nn.conv3d(value, kernel, [1] * 5, "SAME"), [value]))(
        x(2, 4, 4, 4, 3), x(3, 3, 3, 3, 2)
    ),
    odd_fill=lambda: tf.fill([], 1.0),
    odd_tile=lambda: tf.tile(x(), []),
    odd_broadcast=lambda: tf.broadcast_to(x(), []),
    odd_transpose=lambda: tf.transpose(x()),
    odd_transpose_order=lambda: tf.transpose(x(), []),
    odd_clip_tensor=lambda: tf.clip_by_norm(x(2, 3), x()),
    odd_clip_array=lambda: tf.clip_by_norm(x(2, 3), np.array(1.0, np.float32)),
    odd_crop=lambda: tf.image.central_crop(x(None, None, 3), 1.0),
    odd_rot90=lambda: tf.image.rot90(tf.placeholder(tf.float32)),
    odd_transpose_image=lambda: tf.image.transpose_image(tf.placeholder(tf.float32)),
    odd_segments=lambda: tf.unsorted_segment_mean(x(4, 2), ints(4), tf.constant(3)),
    odd_segments_scalars=lambda: tf.unsorted_segment_sqrt_n(x(4), ints(4), ints()),
    odd_array=lambda: tf.TensorArray(tf.float32, 3).unstack(x(3, 2, 3)).concat(),
    odd_array_tensor=lambda: tf.TensorArray(tf.float32, ints()).unstack(x(3, 2, 3)).concat(),
    odd_rfft=lambda: tf.spectral.rfft(x(2, 16), [ints()]),
    odd_stft=lambda: tf.contrib.signal.stft(x(2, 64), ints(), 8),
    odd_concat=lambda: tf.sparse_concat(1, [tf.SparseTensor([[0, 0]], [1.0], [3, 4])] * 2, expand_nonconcat_dim=True),
    odd_rejection=lambda: tf.contrib.training.rejection_sample(
        [x(3)], lambda tensors: tf.constant(0.5), 4, runtime_checks=True
    ),
)
for padding in ("SAME", "VALID"):
    for name, shape in dict(known=(4, 4, 4, 3), rows=(None, 4, 4, 3), part=(None, 4, None, 3)).items():
        calls(**{
            "odd_transposed_%s_%s" % (padding, name): (
                lambda padding=padding, shape=shape: tf.contrib.layers.conv2d_transpose(
                    x(*shape), 4, 3, stride=2, padding=padding
                )
            ),
            "odd_transposed_layer_%s_%s" % (padding, name): (
                lambda padding=padding, shape=shape: tf.layers.conv2d_transpose(x(*shape), 4, 3, 2, padding)
            ),
        })  # fmt: skip
for rate in ("constant", "variable", "resource"):
    calls(**{
        "odd_descent_%s" % rate: (
            lambda rate=rate: tf.train.GradientDescentOptimizer(
                0.1
                if rate == "constant"
                else tf.get_variable("rate", [], initializer=tf.zeros_initializer(), use_resource=rate == "resource")
            ).minimize(
                tf.reduce_sum(tf.nn.embedding_lookup(tf.get_variable("v", [9, 3], use_resource=True), ints(4)))
            )
        )
    })  # fmt: skip
for name, cell in dict(lstm=tf.keras.layers.LSTM, gru=tf.keras.layers.GRU, simple=tf.keras.layers.SimpleRNN).items():
    for rows in (4, None):
        calls(**{
            "keras_dropout_%s_%s" % (name, rows): lambda cell=cell, rows=rows: cell(4, dropout=0.2)(x(rows, 6, 3)),
            "keras_dropouts_%s_%s" % (name, rows): (
                lambda cell=cell, rows=rows: tf.train.AdamOptimizer().minimize(
                    tf.reduce_sum(cell(4, dropout=0.2, recurrent_dropout=0.2, return_sequences=True)(x(rows, 6, 3)))
                )
            ),
        })  # fmt: skip


# -- casts of references ----------------------------------------------------------------------------------------------


def cast(kind, result, dtype):
    v = tf.get_variable("v", [3], initializer=tf.zeros_initializer(), use_resource=kind == "resource")
    tf.cast(result(v), dtype)
    tf.random_normal([2])


RESULTS = dict(
    variable=lambda v: v,
    assigned=lambda v: tf.assign(v, [1.0, 2.0, 3.0]),
    added=lambda v: tf.assign_add(v, [1.0, 2.0, 3.0]),
    scattered=lambda v: tf.scatter_update(v, [0], [1.0]),
    read=lambda v: v.read_value(),
)
for kind in ("reference", "resource"):
    for name, result in RESULTS.items():
        for dtype in (tf.float32, tf.int32):
            calls(**{
                "cast_%s_%s_%s" % (kind, name, dtype.name): (
                    lambda kind=kind, result=result, dtype=dtype: cast(kind, result, dtype)
                )
            })  # fmt: skip
for name, shape in dict(known=(2, 3), rows=(None, 3)).items():
    calls(**{
        "twice_sign_%s" % name: lambda shape=shape: twice(tf.sign, x(*shape)),
        "twice_sign_times_%s" % name: lambda shape=shape: twice(lambda one: tf.sign(one) * one, x(*shape)),
    })  # fmt: skip
