"""Calls for seed_calls.py: arithmetic, linear algebra, sparse and ragged tensors, control flow, drawing, gradients."""

import numpy as np
import tensorflow as tf
from seed_calls import call, calls, gradient, ints, unknown, weights, x

# -- drawing ----------------------------------------------------------------------------------------------------------


def samples(make):
    """A case: what a distribution draws, and the logarithm of a density."""

    def build():
        distribution = make()
        distribution.log_prob(distribution.sample(3))

    return build


def sample(make):
    return lambda: make().sample(3)


def labels(*shape):
    return tf.placeholder(tf.int64, shape or (3, 1))


tfd = tf.distributions
DISTRIBUTIONS = dict(
    normal=lambda: tfd.Normal(0.0, 1.0),
    normal_tensors=lambda: tfd.Normal(x(4), x(4)),
    bernoulli=lambda: tfd.Bernoulli(probs=x(4)),
    bernoulli_logits=lambda: tfd.Bernoulli(logits=x(4), dtype=tf.float32),
    categorical=lambda: tfd.Categorical(logits=x(4, 3)),
    categorical_probs=lambda: tfd.Categorical(probs=x(None, 3)),
    uniform=lambda: tfd.Uniform(0.0, 1.0),
    uniform_scaled=lambda: tfd.Uniform(x(4), 2.0),
    exponential=lambda: tfd.Exponential(x(4)),
    gamma=lambda: tfd.Gamma(x(4), x(4)),
    beta=lambda: tfd.Beta(x(4), x(4)),
    dirichlet=lambda: tfd.Dirichlet(x(4, 3)),
    laplace=lambda: tfd.Laplace(x(4), x(4)),
    student=lambda: tfd.StudentT(x(4), x(4), x(4)),
    multinomial=lambda: tfd.Multinomial(5.0, logits=x(4, 3)),
    dirichlet_multinomial=lambda: tfd.DirichletMultinomial(5.0, x(4, 3)),
)
calls(**{"distribution_" + name: samples(make) for name, make in DISTRIBUTIONS.items()})
calls(
    distribution_kl=lambda: tfd.kl_divergence(tfd.Normal(x(4), x(4)), tfd.Normal(0.0, 1.0)),
    distribution_kl_categorical=lambda: tfd.kl_divergence(
        tfd.Categorical(logits=x(4, 3)), tfd.Categorical(logits=x(4, 3))
    ),
    distribution_entropy=lambda: [tfd.Normal(x(4), x(4)).entropy(), tfd.Categorical(logits=x(4, 3)).entropy()],
    distribution_mode=lambda: [tfd.Normal(x(4), x(4)).mode(), tfd.Bernoulli(logits=x(4)).mode()],
    distribution_seed=lambda: tfd.Normal(0.0, 1.0).sample([2, 3], seed=5),
    random_gamma_tensor=lambda: tf.random_gamma([2], x(3), x(3)),
    random_poisson_tensor=lambda: tf.random_poisson(x(3), [2]),
    random_poisson_v2=lambda: tf.random.poisson(x(3), [2]),
    random_uniform_long=lambda: tf.random_uniform([2], maxval=10, dtype=tf.int64),
    random_uniform_half=lambda: tf.random_uniform([2], dtype=tf.float16),
    random_uniform_like=lambda: tf.random_uniform(tf.shape(x(None, 3)), -1.0, 1.0),
    random_uniform_array=lambda: tf.random_uniform([2], np.float32(0.0), np.float32(1.0)),
    random_uniform_floats=lambda: tf.random_uniform([2], 0.0, 1.0),
    random_uniform_mixed=lambda: tf.random_uniform([2], 0, 1.0),
    random_uniform_high=lambda: tf.random_uniform([2], maxval=x()),
    random_normal_like=lambda: tf.random_normal(tf.shape(x(None, 3))),
    random_normal_double=lambda: tf.random_normal([2], dtype=tf.float64),
    random_truncated_tensor=lambda: tf.truncated_normal(ints(2), x(), x()),
    random_parameterized=lambda: tf.random_uniform([2], seed=3),
    random_multinomial_ints=lambda: tf.multinomial(tf.log([[10.0, 10.0]]), 5, output_dtype=tf.int32),
    random_shuffle_tensor=lambda: tf.random.shuffle(x(None, 3)),
    random_stateless=lambda: tf.random.stateless_normal([2], [1, 2]),
    random_stateless_uniform=lambda: tf.random.stateless_uniform([2], [1, 2]),
    random_sampler_uniform=lambda: tf.nn.uniform_candidate_sampler(labels(), 1, 5, True, 30),
    random_sampler_log_uniform=lambda: tf.nn.log_uniform_candidate_sampler(labels(), 1, 5, True, 30),
    random_sampler_learned=lambda: tf.nn.learned_unigram_candidate_sampler(labels(), 1, 5, True, 30),
    random_sampler_fixed=lambda: tf.nn.fixed_unigram_candidate_sampler(
        labels(), 1, 5, True, 3, unigrams=[1.0, 2.0, 3.0]
    ),
    random_sampler_all=lambda: tf.nn.all_candidate_sampler(labels(), 1, 5, True),
    random_sampler_hits=lambda: tf.nn.compute_accidental_hits(labels(), tf.placeholder(tf.int64, [5]), 1),
    random_nce_unknown=lambda: tf.nn.nce_loss(weights(30, 4), x(30), labels(None, 1), x(None, 4), 5, 30),
    random_nce_parts=lambda: tf.nn.nce_loss(
        tf.get_variable("v", [30, 4], partitioner=tf.fixed_size_partitioner(2)), x(30), labels(), x(3, 4), 5, 30
    ),
    random_sampled_unknown=lambda: tf.nn.sampled_softmax_loss(
        weights(30, 4), x(30), labels(None, 1), x(None, 4), 5, 30
    ),
    random_sampled_hits=lambda: tf.nn.sampled_softmax_loss(
        weights(30, 4), x(30), labels(), x(3, 4), 5, 30, remove_accidental_hits=False
    ),
    random_fractional_pool=lambda: tf.nn.fractional_max_pool(x(2, 8, 8, 3), [1.0, 1.4, 1.4, 1.0], True, True),
    random_dropout_one=lambda: tf.nn.dropout(x(4, 5), keep_prob=1),
    random_dropout_seed=lambda: tf.nn.dropout(x(4, 5), 0.5, seed=3),
    random_dropout_known_tensor=lambda: tf.nn.dropout(x(4, 5), tf.constant(0.5)),
    random_dropout_default=lambda: tf.nn.dropout(x(4, 5), tf.placeholder_with_default(0.5, [])),
    random_dropout_list=lambda: tf.nn.dropout([1.0, 2.0], 0.5),
    random_dropout_array=lambda: tf.nn.dropout(np.ones([4], np.float32), 0.5),
    random_dropout_noise_unknown=lambda: tf.nn.dropout(x(None, 4, 5), 0.5, [tf.shape(x(None))[0], 1, 5]),
    random_dropout_double=lambda: tf.nn.dropout(tf.placeholder(tf.float64, [4]), 0.5),
    random_dropout_variable=lambda: tf.nn.dropout(weights(4, 5), 0.5),
)

# -- arithmetic and arrays --------------------------------------------------------------------------------------------


def calculated(**functions):
    """Cases: a function of a tensor [4, 3], and of one [?, 3]; their gradients."""
    for name, function in functions.items():
        calls(
            **{
                "math_" + name: lambda function=function: function(x(4, 3)),
                "math_gradient_" + name: gradient(function),
                "math_unknown_" + name: unknown(function),
            }
        )


calculated(
    all_any=lambda value: tf.where(tf.reduce_all(value > 0, 1), tf.reduce_sum(value, 1), tf.reduce_max(value, 1)),
    reduce_std=lambda value: tf.math.reduce_std(value, 0),
    reduce_variance=lambda value: tf.math.reduce_variance(value),
    reduce_euclidean=lambda value: tf.math.reduce_euclidean_norm(value, 1),
    reduce_min=lambda value: tf.reduce_min(value, 1),
    reduce_min_keep=lambda value: tf.reduce_min(value, 0, keepdims=True),
    reduce_max_all=tf.reduce_max,
    reduce_prod_all=tf.reduce_prod,
    reduce_mean_keep=lambda value: tf.reduce_mean(value, 1, keepdims=True),
    reduce_sum_both=lambda value: tf.reduce_sum(value, [0, 1]),
    reduce_sum_negative=lambda value: tf.reduce_sum(value, -1),
    reduce_sum_axis_tensor=lambda value: tf.reduce_sum(value, ints()),
    reduce_logsumexp_all=tf.reduce_logsumexp,
    norm_axis=lambda value: tf.norm(value, axis=1),
    norm_one=lambda value: tf.norm(value, 1, 1, keepdims=True),
    norm_inf=lambda value: tf.norm(value, np.inf),
    norm_matrix=lambda value: tf.norm(value, "fro", [0, 1]),
    l2_normalize_all=lambda value: tf.nn.l2_normalize(value, [0, 1]),
    zero_fraction=lambda value: tf.nn.zero_fraction(value),
    softplus=tf.nn.softplus,
    softsign=tf.nn.softsign,
    elu=tf.nn.elu,
    selu=tf.nn.selu,
    relu6=tf.nn.relu6,
    crelu=tf.nn.crelu,
    leaky_relu=tf.nn.leaky_relu,
    leaky_relu_alpha=lambda value: tf.nn.leaky_relu(value, 0.1),
    swish=tf.nn.swish,
    prelu=lambda value: tf.maximum(0.0, value) + 0.5 * (value - tf.abs(value)),
    gelu=lambda value: 0.5 * value * (1.0 + tf.erf(value / tf.sqrt(2.0))),
    log_sigmoid=tf.log_sigmoid,
    softmax_axis=lambda value: tf.nn.softmax(value, 0),
    log_softmax_axis=lambda value: tf.nn.log_softmax(value, 0),
    square_root=lambda value: tf.sqrt(tf.abs(value)),
    rsqrt=lambda value: tf.rsqrt(tf.abs(value) + 1.0),
    reciprocal=tf.reciprocal,
    expm1=tf.expm1,
    log1p=tf.log1p,
    trigonometric=lambda value: tf.sin(value) + tf.cos(value) * tf.tan(value),
    inverse=lambda value: tf.asin(value) + tf.acos(value) + tf.atan(value) + tf.atan2(value, value),
    hyperbolic=lambda value: tf.sinh(value) + tf.cosh(value) + tf.asinh(value),
    erf=lambda value: tf.erf(value) + tf.erfc(value),
    lgamma=lambda value: tf.lgamma(value) + tf.digamma(value),
    igamma=lambda value: tf.igamma(value, value),
    betainc=lambda value: tf.lbeta(tf.abs(value)),
    rounded=lambda value: tf.round(value) + tf.floor(value) + tf.ceil(value) + tf.sign(value),
    powers=lambda value: 2.0**value + value**3.0,
    power_tensors=lambda value: tf.pow(value, value),
    modulo=lambda value: value % 2.0,
    floor_division=lambda value: value // 2.0,
    division=lambda value: 1.0 / value,
    division_no_nan=lambda value: tf.div_no_nan(value, value),
    division_old=lambda value: tf.div(value, 3.0),
    multiply_no_nan=lambda value: tf.math.multiply_no_nan(value, value),
    xlogy=lambda value: tf.math.xlogy(value, value),
    squared_scalar=lambda value: tf.squared_difference(value, 1.0),
    maximum_column=lambda value: tf.maximum(value, tf.reduce_mean(value, 1, keepdims=True)),
    minimum_both=lambda value: tf.minimum(tf.maximum(value, -1.0), 1.0),
    subtract_row=lambda value: value - tf.reduce_mean(value, 0),
    subtract_column=lambda value: value - tf.reduce_max(value, 1, keepdims=True),
    multiply_scalar_tensor=lambda value: value * tf.reduce_sum(value),
    multiply_variables=lambda value: value * tf.get_variable("scale", [3], initializer=tf.ones_initializer()),
    add_variable_scalar=lambda value: value + tf.get_variable("scale", [], initializer=tf.ones_initializer()),
    expand_broadcast=lambda value: value[:, None, :] - value[None, :, :],
    accumulate=lambda value: tf.accumulate_n([value, value]),
    add_n=lambda value: tf.add_n([value, value, value]),
    clip_norm=lambda value: tf.clip_by_norm(value, 1.0),
    clip_norm_axes=lambda value: tf.clip_by_norm(value, 1.0, [1]),
    clip_average_norm=lambda value: tf.clip_by_average_norm(value, 1.0),
    clip_global=lambda value: tf.clip_by_global_norm([value, 2.0 * value], 1.0)[0],
    clip_value_tensors=lambda value: tf.clip_by_value(value, tf.constant(0.0), tf.reduce_max(value)),
    cumsum=lambda value: tf.cumsum(value, 1, exclusive=True),
    cumsum_reverse=lambda value: tf.cumsum(value, reverse=True),
    cumprod=lambda value: tf.cumprod(value, 1),
    cast_double=lambda value: tf.cast(value, tf.float64),
    matmul_self=lambda value: tf.matmul(value, value, transpose_a=True),
    matmul_transposed=lambda value: tf.matmul(value, value, transpose_b=True),
    matmul_batches=lambda value: tf.matmul(tf.expand_dims(value, 0), tf.expand_dims(value, 0), transpose_b=True),
    matmul_batch_broadcast=lambda value: tf.matmul(tf.tile(value[None], [2, 1, 1]), x(3, 2)),
    matmul_sparse=lambda value: tf.matmul(value, x(3, 2), a_is_sparse=True),
    matvec=lambda value: tf.linalg.matvec(value, x(3)),
    tensordot=lambda value: tf.tensordot(value, x(3, 2), 1),
    tensordot_axes=lambda value: tf.tensordot(value, x(2, 3), [[1], [1]]),
    tensordot_3d=lambda value: tf.tensordot(value[None], x(3, 2), [[2], [0]]),
    tensordot_outer=lambda value: tf.tensordot(value, x(2), 0),
    einsum=lambda value: tf.einsum("ij,jk->ik", value, x(3, 2)),
    einsum_batch=lambda value: tf.einsum("bij,jk->bik", value[None], x(3, 2)),
    einsum_dot=lambda value: tf.einsum("ij,ij->i", value, value),
    einsum_outer=lambda value: tf.einsum("ij,ik->ijk", value, value),
    einsum_sum=lambda value: tf.einsum("ij->j", value),
    einsum_transpose=lambda value: tf.einsum("ij->ji", value),
    xw_plus_b=lambda value: tf.nn.xw_plus_b(value, x(3, 2), x(2)),
    relu_layer=lambda value: tf.nn.relu_layer(value, x(3, 2), x(2)),
    reshape_known=lambda value: tf.reshape(value, [-1, 3, 1]),
    reshape_tensor=lambda value: tf.reshape(value, [tf.shape(value)[0], 3, 1]),
    reshape_stacked=lambda value: tf.reshape(value, tf.stack([tf.shape(value)[0], -1])),
    reshape_concat=lambda value: tf.reshape(value, tf.concat([tf.shape(value)[:1], [3, 1]], 0)),
    transpose_axes=lambda value: tf.transpose(value[None], [1, 0, 2]),
    matrix_transpose=lambda value: tf.matrix_transpose(value),
    slice_rows=lambda value: value[1:3],
    slice_last=lambda value: value[-1],
    slice_step=lambda value: value[::2, ::-1],
    slice_tensor=lambda value: value[: ints()],
    slice_axis=lambda value: value[..., tf.newaxis],
    slice_op=lambda value: tf.slice(value, [0, 1], [-1, 2]),
    strided_slice=lambda value: tf.strided_slice(value, [0, 0], [2, 2]),
    boolean=lambda value: tf.boolean_mask(value, value[:, 0] > 0),
    boolean_whole=lambda value: tf.boolean_mask(value, value > 0),
    gather=lambda value: tf.gather(value, [0, 2]),
    gather_axis=lambda value: tf.gather(value, ints(2), axis=1),
    gather_batch=lambda value: tf.gather(value, ints(None, 2), batch_dims=1, axis=1),
    gather_nd=lambda value: tf.gather_nd(value, tf.stack([ints(5), ints(5)], 1)),
    batch_gather=lambda value: tf.batch_gather(value, ints(None, 2)),
    concat_self=lambda value: tf.concat([value, value], 1),
    concat_negative=lambda value: tf.concat([value, value, value], -1),
    concat_rows=lambda value: tf.concat([value, x(None, 3)], 0),
    concat_one=lambda value: tf.concat([value], 0),
    split_last=lambda value: tf.split(value, 3, -1)[1],
    split_all=lambda value: tf.split(value, 3, 1),
    split_sizes=lambda value: tf.split(value, [1, 2], 1)[1],
    stack_axis=lambda value: tf.stack([value, value], -1),
    stack_three=lambda value: tf.stack([value, value, value]),
    unstack_last=lambda value: tf.unstack(value, axis=-1)[2],
    tile=lambda value: tf.tile(value, [2, 3]),
    tile_tensor=lambda value: tf.tile(value, tf.stack([ints(), 1])),
    repeat=lambda value: tf.repeat(value, 2, 0),
    pad=lambda value: tf.pad(value, [[1, 1], [2, 0]]),
    pad_reflect=lambda value: tf.pad(value, [[0, 0], [1, 1]], "REFLECT"),
    pad_value=lambda value: tf.pad(value, [[0, 0], [1, 1]], constant_values=1.0),
    expand_squeeze=lambda value: tf.squeeze(tf.expand_dims(tf.expand_dims(value, 1), -1)),
    broadcast_to=lambda value: tf.broadcast_to(value[None], [2, 4, 3]),
    reverse=lambda value: tf.reverse(value, [1]),
    reverse_sequence=lambda value: tf.reverse_sequence(value, ints(None), 1),
    roll=lambda value: tf.roll(value, 1, 0),
    sort=lambda value: tf.sort(value, 1),
    sort_descending=lambda value: tf.sort(value, direction="DESCENDING"),
    argsort=lambda value: tf.gather(value, tf.argsort(value[:, 0])),
    sort_whole=lambda value: tf.sort(tf.cast(value, tf.int32), 1),
    argsort_whole=lambda value: tf.argsort(tf.cast(value, tf.int32), 0),
    top_k=lambda value: tf.nn.top_k(value, 2)[0],
    where_broadcast=lambda value: tf.where(value > 0, value, tf.zeros_like(value)),
    where_rows=lambda value: tf.where(value[:, 0] > 0, value, 2.0 * value),
    where_v2=lambda value: tf.where_v2(value > 0, value, 0.0),
    one_hot=lambda value: value * tf.one_hot(tf.argmax(value, 1), 3),
    one_hot_on=lambda value: value * tf.one_hot(tf.argmax(value, 1), 3, 0.9, 0.1),
    diag=lambda value: tf.matmul(tf.diag(value[0]), value, transpose_b=True),
    matrix_diag=lambda value: tf.matrix_diag(value),
    matrix_diag_part=lambda value: tf.matrix_diag_part(tf.matmul(value, value, transpose_b=True)),
    matrix_set_diag=lambda value: tf.matrix_set_diag(tf.matmul(value, value, transpose_a=True), value[0]),
    band_part=lambda value: tf.matrix_band_part(tf.matmul(value, value, transpose_a=True), -1, 0),
    eye=lambda value: value + tf.reduce_sum(tf.eye(3), 0),
    trace=lambda value: tf.trace(tf.matmul(value, value, transpose_a=True)),
    scatter_nd=lambda value: tf.scatter_nd(ints(4, 1), value[:, 0], [8]),
    tensor_scatter=lambda value: tf.tensor_scatter_update(value, [[0]], x(1, 3)),
    dynamic_partition=lambda value: tf.dynamic_partition(value, ints(None), 2)[0],
    dynamic_stitch=lambda value: tf.dynamic_stitch([[0, 1], [2]], [value[:2], value[:1]]),
    segment_sum=lambda value: tf.segment_sum(value, ints(None)),
    segment_mean=lambda value: tf.segment_mean(value, ints(None)),
    segment_max=lambda value: tf.segment_max(value, ints(None)),
    unsorted_sum=lambda value: tf.unsorted_segment_sum(value, ints(None), 3),
    unsorted_mean=lambda value: tf.unsorted_segment_mean(value, ints(None), 3),
    unsorted_max=lambda value: tf.unsorted_segment_max(value, ints(None), 3),
    unsorted_sqrt=lambda value: tf.unsorted_segment_sqrt_n(value, ints(None), 3),
    sequence_mask=lambda value: value * tf.sequence_mask(ints(None), 3, tf.float32),
    space_to_batch=lambda value: tf.space_to_batch(tf.reshape(value, [1, -1, 3, 1]), [[0, 0], [0, 1]], 2),
    depth_to_space=lambda value: tf.depth_to_space(tf.tile(tf.reshape(value, [1, -1, 3, 1]), [1, 1, 1, 4]), 2),
    check_numerics=lambda value: tf.check_numerics(value, "bad"),
    print_=lambda value: tf.Print(value, [value], "value"),
    identity_n=lambda value: tf.identity_n([value, value])[0],
    stop_gradient=lambda value: value * tf.stop_gradient(tf.reduce_sum(value)),
    prevent_gradient=lambda value: tf.identity(value),
    py_func=lambda value: tf.stop_gradient(tf.py_func(lambda array: array, [value], tf.float32)) * tf.reduce_sum(value),
    ensure_shape=lambda value: tf.ensure_shape(value, [None, 3]),
    control=lambda value: tf.tuple([value, value * 2.0])[0],
    dependencies=lambda value: _after(value),
    complex_=lambda value: tf.abs(tf.complex(value, value)),
    fft=lambda value: tf.abs(tf.fft(tf.cast(value, tf.complex64))),
    rfft=lambda value: tf.real(tf.spectral.rfft(value, [4])),
    histogram=lambda value: value * tf.cast(tf.histogram_fixed_width(value, [0.0, 1.0], 3), tf.float32),
    bincount=lambda value: value * tf.bincount(ints(None), minlength=3, maxlength=3, dtype=tf.float32),
    moments=lambda value: tf.nn.moments(value, [0])[1],
    moments_all=lambda value: tf.nn.moments(value, [0, 1])[0],
    weighted_moments=lambda value: tf.nn.weighted_moments(value, [0], tf.ones_like(value))[0],
    sufficient=lambda value: tf.nn.normalize_moments(*tf.nn.sufficient_statistics(value, [0])[:3], shift=None)[0],
    cosine=lambda value: tf.losses.cosine_distance(tf.nn.l2_normalize(value, 1), x(4, 3), 1),
    map_fn=lambda value: tf.map_fn(lambda row: row * tf.reduce_sum(row), value),
    map_random=lambda value: tf.map_fn(lambda row: row + tf.random_normal([3]), value),
    map_types=lambda value: tf.map_fn(lambda row: tf.argmax(row), value, tf.int64),
    scan=lambda value: tf.scan(lambda total, row: total * 0.5 + row, value, tf.zeros([3])),
    scan_two=lambda value: tf.scan(
        lambda total, row: (total[0] + row[0], row[1]), (value, value), (tf.zeros([3]), tf.zeros([3]))
    )[0],
    scan_reverse=lambda value: tf.scan(lambda total, row: total + row, value, reverse=True),
    foldl=lambda value: tf.foldl(lambda total, row: total + row, value, tf.zeros([3])),
    foldr=lambda value: tf.foldr(lambda total, row: total + row, value),
    while_variable=lambda value: tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, tf.matmul(v, x(3, 3))), [tf.constant(0), value]
    )[1],
    while_variant=lambda value: tf.while_loop(
        lambda i, v: i < 3,
        lambda i, v: (i + 1, tf.concat([v, v], 0)),
        [tf.constant(0), value],
        [tf.TensorShape([]), tf.TensorShape([None, 3])],
    )[1],
    while_random=lambda value: tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, v + tf.random_normal([3])), [tf.constant(0), value]
    )[1],
    while_dropout=lambda value: tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, tf.nn.dropout(v, 0.5)), [tf.constant(0), value]
    )[1],
    while_maximum=lambda value: tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, v + 1.0), (tf.constant(0), value), maximum_iterations=5
    )[-1],
    while_no_back=lambda value: (
        value
        * tf.reduce_sum(
            tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [tf.constant(0), value], back_prop=False)[
                1
            ]
        )
    ),
    while_parallel=lambda value: tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, v * value), [tf.constant(0), value], parallel_iterations=1
    )[1],
    while_while=lambda value: tf.while_loop(
        lambda i, v: i < 3,
        lambda i, v: (i + 1, tf.while_loop(lambda j, w: j < i, lambda j, w: (j + 1, w * 2.0), [0, v])[1]),
        [tf.constant(0), value],
    )[1],
    while_cond=lambda value: tf.while_loop(
        lambda i, v: i < 3,
        lambda i, v: (i + 1, tf.cond(i > 1, lambda: v * 2.0, lambda: tf.sigmoid(v))),
        [tf.constant(0), value],
    )[1],
    while_array=lambda value: tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, value[i])), [0, tf.TensorArray(tf.float32, 3)]
    )[1].stack(),
    while_array_read=lambda value: _array_loop(value),
    cond=lambda value: tf.cond(tf.placeholder(tf.bool, []), lambda: value * 2.0, lambda: tf.sigmoid(value)),
    cond_random=lambda value: tf.cond(
        tf.placeholder(tf.bool, []), lambda: value + tf.random_normal([3]), lambda: tf.nn.dropout(value, 0.3)
    ),
    cond_two=lambda value: tf.cond(
        tf.placeholder(tf.bool, []), lambda: (value, value + 1.0), lambda: (value * 2.0, value)
    )[1],
    cond_cond=lambda value: tf.cond(
        tf.placeholder(tf.bool, []),
        lambda: tf.cond(tf.placeholder(tf.bool, []), lambda: value * 2.0, lambda: value + 1.0),
        lambda: value,
    ),
    cond_while=lambda value: tf.cond(
        tf.placeholder(tf.bool, []),
        lambda: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [tf.constant(0), value])[1],
        lambda: value,
    ),
    cond_variable=lambda value: tf.cond(
        tf.placeholder(tf.bool, []), lambda: tf.matmul(value, x(3, 3)), lambda: tf.reduce_mean(value, 0, keepdims=True)
    ),
    cond_known=lambda value: tf.cond(tf.constant(True), lambda: value * 2.0, lambda: value),
    case=lambda value: tf.case(
        [(tf.placeholder(tf.bool, []), lambda: value * 2.0), (tf.placeholder(tf.bool, []), lambda: value * 3.0)],
        lambda: value,
    ),
    case_exclusive=lambda value: tf.case(
        {tf.placeholder(tf.bool, []): lambda: value * 2.0, tf.placeholder(tf.bool, []): lambda: value * 3.0},
        exclusive=True,
    ),
    switch_case=lambda value: tf.switch_case(ints(), [lambda: value * 2.0, lambda: value * 3.0]),
    custom=lambda value: _custom(value),
    gradient_of_gradient=lambda value: tf.gradients(tf.reduce_sum(tf.square(value) * value), value)[0],
    gradient_penalty=lambda value: tf.square(
        tf.sqrt(tf.reduce_sum(tf.square(tf.gradients(tf.tanh(value), value)[0]), [1])) - 1.0
    ),
    gradient_penalty_leaky=lambda value: tf.square(
        tf.norm(tf.gradients(tf.nn.leaky_relu(tf.matmul(value, x(3, 2))), value)[0], axis=1) - 1.0
    ),
    gradient_penalty_relu=lambda value: tf.reduce_sum(
        tf.gradients(tf.nn.relu(tf.matmul(value, x(3, 2))) ** 2, value)[0] ** 2
    ),
    gradient_penalty_softmax=lambda value: tf.reduce_sum(tf.gradients(tf.nn.softmax(value)[:, 0], value)[0] ** 2),
    gradient_of_cross_entropy=lambda value: tf.reduce_sum(
        tf.gradients(tf.nn.softmax_cross_entropy_with_logits_v2(labels=x(None, 3), logits=value), value)[0] ** 2
    ),
)


def _after(value):
    with tf.control_dependencies([tf.assert_greater(value, -1e9)]):
        return tf.identity(value)


@tf.custom_gradient
def _custom(value):
    return value * 2.0, lambda grad: grad * 2.0


def _array_loop(value):
    array = tf.TensorArray(tf.float32, 3).unstack(value)
    return tf.while_loop(
        lambda i, total: i < 3, lambda i, total: (i + 1, total + array.read(i)), [tf.constant(0), tf.zeros([3])]
    )[1]


def square():
    return tf.matmul(weights(4, 3), weights_again(), transpose_b=True)


def weights_again():
    return tf.get_variable("again", [4, 3], initializer=tf.zeros_initializer())


def of_square(function):
    """A case: the gradients of a function of a matrix [4, 4]."""
    return lambda: tf.gradients(function(square()), tf.trainable_variables())


calls(
    linalg_inverse=of_square(tf.matrix_inverse),
    linalg_determinant=of_square(tf.matrix_determinant),
    linalg_log_determinant=of_square(lambda value: tf.linalg.slogdet(value)[1]),
    linalg_logdet=of_square(tf.linalg.logdet),
    linalg_cholesky=of_square(tf.cholesky),
    linalg_solve=of_square(lambda value: tf.matrix_solve(value, x(4, 2))),
    linalg_triangular=of_square(lambda value: tf.matrix_triangular_solve(value, x(4, 2))),
    linalg_cholesky_solve=of_square(lambda value: tf.cholesky_solve(value, x(4, 2))),
    linalg_least_squares=of_square(lambda value: tf.matrix_solve_ls(value, x(4, 2))),
    linalg_eigen=of_square(lambda value: tf.self_adjoint_eig(value)[0]),
    linalg_eigenvalues=of_square(tf.self_adjoint_eigvals),
    linalg_svd=of_square(lambda value: tf.svd(value)[0]),
    linalg_svd_values=of_square(lambda value: tf.svd(value, compute_uv=False)),
    linalg_qr=of_square(lambda value: tf.qr(value)[0]),
    linalg_expm=of_square(tf.linalg.expm),
    linalg_logm=lambda: tf.linalg.logm(tf.placeholder(tf.complex64, [4, 4])),
    linalg_cross=of_square(lambda value: tf.cross(value[:, :3], value[:, 1:])),
    linalg_adjoint=of_square(tf.linalg.adjoint),
    linalg_kronecker=lambda: tf.linalg.LinearOperatorKronecker(
        [tf.linalg.LinearOperatorFullMatrix(x(2, 2))] * 2
    ).to_dense(),
    linalg_operator=lambda: tf.linalg.LinearOperatorDiag(x(4)).matmul(x(4, 2)),
    linalg_operator_tril=lambda: tf.linalg.LinearOperatorLowerTriangular(x(4, 4)).solve(x(4, 2)),
    linalg_global_norm=lambda: tf.global_norm([x(None, 3), tf.IndexedSlices(x(2, 3), ints(2)), None]),
    linalg_toeplitz=lambda: tf.linalg.tensor_diag_part(x(4, 4)),
    linalg_set_diag=lambda: tf.linalg.set_diag(x(4, 4), x(4)),
    linalg_diag_offset=lambda: tf.linalg.diag(x(3), k=1),
    spectral_ifft=lambda: tf.spectral.irfft(tf.placeholder(tf.complex64, [3])),
    spectral_fft2d=lambda: tf.fft2d(tf.placeholder(tf.complex64, [3, 3])),
    spectral_dct=lambda: tf.spectral.dct(x(2, 8)),
    spectral_dct_norm=lambda: tf.spectral.idct(x(2, 8), norm="ortho"),
    spectral_stft=lambda: tf.contrib.signal.stft(x(2, 64), 16, 8),
    spectral_frame=lambda: tf.contrib.signal.frame(x(2, 64), 16, 8),
    spectral_mel=lambda: tf.contrib.signal.linear_to_mel_weight_matrix(),
    spectral_window=lambda: tf.contrib.signal.hann_window(16),
    sparse_tensor=lambda: tf.SparseTensor([[0, 1]], [1.0], [2, 3]),
    sparse_matmul=lambda: tf.sparse_tensor_dense_matmul(tf.sparse_placeholder(tf.float32, [2, 4]), weights(4, 3)),
    sparse_matmul_gradient=gradient(
        lambda value: tf.sparse_tensor_dense_matmul(tf.sparse_placeholder(tf.float32, [2, 4]), value)
    ),
    sparse_dense=lambda: tf.sparse_tensor_to_dense(tf.sparse_placeholder(tf.float32)),
    sparse_dense_default=lambda: tf.sparse_tensor_to_dense(tf.sparse_placeholder(tf.int32, [3, 4]), -1),
    sparse_add=lambda: tf.sparse_add(tf.sparse_placeholder(tf.float32), tf.sparse_placeholder(tf.float32)),
    sparse_concat=lambda: tf.sparse_concat(1, [tf.sparse_placeholder(tf.float32, [2, 3])] * 2),
    sparse_reshape=lambda: tf.sparse_reshape(tf.sparse_placeholder(tf.float32, [2, 3]), [3, 2]),
    sparse_sum=lambda: tf.sparse_reduce_sum(tf.sparse_placeholder(tf.float32, [2, 3]), 1),
    sparse_softmax=lambda: tf.sparse_softmax(tf.sparse_placeholder(tf.float32, [2, 3])),
    sparse_slice=lambda: tf.sparse_slice(tf.sparse_placeholder(tf.float32), [0, 0], [1, 1]),
    sparse_retain=lambda: tf.sparse_retain(tf.sparse_placeholder(tf.float32), tf.placeholder(tf.bool, [None])),
    sparse_reorder=lambda: tf.sparse_reorder(tf.sparse_placeholder(tf.float32)),
    sparse_transpose=lambda: tf.sparse_transpose(tf.sparse_placeholder(tf.float32, [2, 3])),
    sparse_fill=lambda: tf.sparse_fill_empty_rows(tf.sparse_placeholder(tf.int32), 0),
    sparse_merge=lambda: tf.sparse_merge(tf.sparse_placeholder(tf.int64), tf.sparse_placeholder(tf.float32), 10),
    sparse_indicator=lambda: tf.sparse_to_indicator(tf.sparse_placeholder(tf.int64), 10),
    sparse_multiply=lambda: tf.sparse_placeholder(tf.float32) * x(2, 3),
    sparse_from_dense=lambda: tf.contrib.layers.dense_to_sparse(ints(2, 3)),
    sparse_expand=lambda: tf.sparse.expand_dims(tf.sparse_placeholder(tf.float32, [2, 3]), 0),
    sparse_sets=lambda: tf.sets.set_intersection(ints(2, 3), ints(2, 3)),
    sparse_edit=lambda: tf.edit_distance(tf.sparse_placeholder(tf.int32), tf.sparse_placeholder(tf.int32)),
    sparse_lookup=lambda: tf.nn.embedding_lookup_sparse(
        weights(30, 4), tf.sparse_placeholder(tf.int64), None, combiner="mean"
    ),
    sparse_lookup_weights=lambda: tf.nn.embedding_lookup_sparse(
        weights(30, 4), tf.sparse_placeholder(tf.int64), tf.sparse_placeholder(tf.float32), combiner="sqrtn"
    ),
    sparse_lookup_gradient=lambda: tf.gradients(
        tf.nn.embedding_lookup_sparse(weights(30, 4), tf.sparse_placeholder(tf.int64), None, combiner="sum"),
        tf.trainable_variables(),
    ),
    sparse_lookup_safe=lambda: tf.nn.safe_embedding_lookup_sparse([weights(30, 4)], tf.sparse_placeholder(tf.int64)),
    sparse_lookup_contrib=lambda: tf.contrib.layers.safe_embedding_lookup_sparse(
        [weights(30, 4)], tf.sparse_placeholder(tf.int64)
    ),
    lookup_norm=lambda: tf.nn.embedding_lookup(weights(30, 4), ints(3), max_norm=1.0),
    lookup_parts=lambda: tf.nn.embedding_lookup(
        tf.get_variable("v", [30, 4], partitioner=tf.fixed_size_partitioner(3)), ints(3)
    ),
    lookup_parts_div=lambda: tf.nn.embedding_lookup(
        tf.get_variable("v", [30, 4], partitioner=tf.fixed_size_partitioner(3)), ints(3), "div"
    ),
    lookup_parts_gradient=lambda: tf.gradients(
        tf.nn.embedding_lookup(tf.get_variable("v", [30, 4], partitioner=tf.fixed_size_partitioner(3)), ints(3)),
        tf.trainable_variables(),
    ),
    lookup_resource=lambda: tf.nn.embedding_lookup(tf.get_variable("v", [30, 4], use_resource=True), ints(3)),
    lookup_2d=lambda: tf.nn.embedding_lookup(weights(30, 4), ints(None, None)),
    ragged_constant=lambda: tf.ragged.constant([[1], [2, 3]]),
    ragged_splits=lambda: tf.RaggedTensor.from_row_splits(x(5), [0, 2, 5]).to_tensor(),
    ragged_lengths=lambda: tf.RaggedTensor.from_row_lengths(x(5), ints(2)),
    ragged_from=lambda: tf.RaggedTensor.from_tensor(x(2, 3)),
    ragged_sum=lambda: tf.reduce_sum(tf.ragged.constant([[1.0], [2.0, 3.0]]), 1),
    ragged_map=lambda: tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1.0], [2.0, 3.0]])),
    ragged_sparse=lambda: tf.ragged.constant([[1.0], [2.0, 3.0]]).to_sparse(),
    ragged_range=lambda: tf.ragged.range([3, 5]),
)

# -- more of arrays, and what has no gradient --------------------------------------------------------------------------

calls(
    math_range_tensors=lambda: tf.range(ints(), ints(), 2),
    math_range_limit=lambda: tf.range(tf.shape(x(None))[0]),
    math_linspace_tensor=lambda: tf.linspace(x(), 1.0, 5),
    math_linspace_count=lambda: tf.linspace(0.0, 1.0, ints()),
    math_eye_batch=lambda: tf.eye(3, batch_shape=[2]),
    math_eye_tensor=lambda: tf.eye(tf.shape(x(None))[0]),
    math_eye_wide=lambda: tf.eye(3, 4),
    math_zeros_like_unknown=lambda: tf.zeros_like(x(None, 3)),
    math_zeros_like_type=lambda: tf.zeros_like(x(4, 3), tf.int32),
    math_fill_tensor=lambda: tf.fill(tf.stack([ints(), 3]), 1.0),
    math_constant_shape=lambda: tf.constant(0.1, shape=[3, 4]),
    math_constant_array=lambda: tf.constant(np.ones([2, 3], np.float32)),
    math_convert=lambda: tf.convert_to_tensor([x(), x()]),
    math_convert_array=lambda: x(2, 3) + np.ones([2, 3], np.float32),
    math_logical=lambda: tf.logical_and(x(3) > 0, tf.logical_not(x(3) < 1)),
    math_logical_xor=lambda: tf.logical_xor(tf.placeholder(tf.bool, [3]), tf.placeholder(tf.bool, [3])),
    math_operators=lambda: (x(3) > 0) & (x(3) < 1) | ~(x(3) <= 2),
    math_bool=lambda: [tf.reduce_all(x(3) > 0), tf.reduce_any(x(3) > 0, 0)],
    math_ints=lambda: abs(-ints(3) * 2 + 1 - ints(3) // 3),
    math_truediv=lambda: tf.truediv(ints(3), 2),
    math_truncatediv=lambda: tf.truncatediv(ints(3), 2),
    math_arg_min=lambda: tf.argmin(x(4, 3), 0, output_type=tf.int32),
    math_count_nonzero=lambda: tf.count_nonzero(x(4, 3)),
    math_count_nonzero_axis=lambda: tf.count_nonzero(x(4, 3), 1),
    math_saturate=lambda: tf.saturate_cast(x(3), tf.uint8),
    math_bitcast=lambda: tf.bitcast(x(3), tf.int32),
    math_unique_counts=lambda: tf.unique_with_counts(ints(4)),
    math_setdiff=lambda: tf.setdiff1d(ints(4), ints(4)),
    math_invert=lambda: tf.invert_permutation(ints(4)),
    math_searchsorted=lambda: tf.searchsorted(x(4), x(3)),
    math_meshgrid_ij=lambda: tf.meshgrid(tf.range(3), tf.range(4), indexing="ij"),
    math_reduced_shape=lambda: tf.required_space_to_batch_paddings([4, 4], [2, 2]),
    math_shape_n=lambda: tf.shape_n([x(3), x(None)]),
    math_size_unknown=lambda: tf.size(x(None, 3)),
    math_rank_unknown=lambda: tf.rank(tf.placeholder(tf.float32)),
    math_broadcast_shape=lambda: tf.broadcast_dynamic_shape(ints(2), ints(2)),
    math_confusion=lambda: tf.confusion_matrix(ints(None), ints(None)),
    math_confusion_weights=lambda: tf.confusion_matrix(ints(4), ints(4), 3, weights=x(4), dtype=tf.float32),
    math_bincount_all=lambda: tf.bincount(ints(4)),
    math_quantize=lambda: tf.quantization.fake_quant_with_min_max_args(x(3)),
    math_quantize_vars=lambda: tf.quantization.fake_quant_with_min_max_vars(x(3), x(), x()),
    math_polyval=lambda: tf.math.polyval([1.0, 2.0, 3.0], x(3)),
    math_bessel=lambda: tf.math.bessel_i0(x(3)),
    math_cumulative_logsumexp=lambda: tf.math.cumulative_logsumexp(x(3)),
    math_sigmoid_dot=lambda: tf.nn.sigmoid(tf.reduce_sum(tf.multiply(x(None, 3), x(None, 3)), 1)),
    math_in_top_k=lambda: tf.reduce_mean(tf.cast(tf.nn.in_top_k(x(None, 3), ints(None), 1), tf.float32)),
    math_accuracy=lambda: tf.reduce_mean(
        tf.cast(tf.equal(tf.argmax(x(None, 3), 1), tf.argmax(x(None, 3), 1)), tf.float32)
    ),
    math_while_simple=lambda: tf.while_loop(lambda i, t: i < ints(), lambda i, t: (i + 1, t + i), [0, 0]),
    math_while_dict=lambda: tf.while_loop(
        lambda state: state["i"] < 3, lambda state: [{"i": state["i"] + 1}], [{"i": tf.constant(0)}]
    ),
    math_cond_assign=lambda: tf.cond(
        tf.placeholder(tf.bool, []), lambda: tf.assign(weights(3), x(3)), lambda: tf.identity(x(3))
    ),
    math_cond_no_op=lambda: tf.cond(tf.placeholder(tf.bool, []), lambda: tf.group(weights(3).initializer), tf.no_op),
    math_cond_print=lambda: tf.cond(x() > 0, lambda: tf.Print(x(), ["a"]), lambda: tf.constant(0.0)),
    math_print_v2=lambda: tf.print("a", x(3)),
    math_assert=lambda: tf.Assert(x() > 0, [x()]),
    math_assert_positive=lambda: tf.assert_positive(x(3)),
    math_assert_non_negative=lambda: tf.assert_non_negative(x(3)),
    math_assert_near=lambda: tf.debugging.assert_near(x(3), x(3)),
    math_assert_type=lambda: tf.assert_type(x(3), tf.float32),
    math_assert_greater=lambda: tf.assert_greater_equal(ints(3), 0, message="low", data=[x(3)]),
    math_assert_equal_known=lambda: tf.assert_equal(tf.constant(1), 1),
    math_assert_rank_at_least=lambda: tf.assert_rank_at_least(tf.placeholder(tf.float32), 2),
    math_assert_shapes=lambda: tf.debugging.assert_shapes([(x(None, 3), ("N", 3))]),
    math_add_check=lambda: [tf.square(x(3)), tf.add_check_numerics_ops()],
    math_with_dependencies=lambda: tf.group(tf.no_op(), weights(3).initializer, name="g"),
    math_name_scope=lambda: _scoped(),
    math_device=lambda: _on_device(),
    math_defun=lambda: tf.contrib.eager.defun(lambda value: tf.nn.dropout(value, 0.5))(x(3)),
    math_function=lambda: tf.function(lambda value: value * 2.0)(x(3)),
    math_template=lambda: tf.make_template("t", lambda value: tf.layers.dense(value, 3))(x(4, 5)),
    math_import=lambda: tf.import_graph_def(_constant_graph(), name=""),
    math_session_handle=lambda: tf.get_session_handle(x(3)),
    math_histogram_bins=lambda: tf.histogram_fixed_width_bins(x(5), [0.0, 1.0]),
    math_rev_block=lambda: tf.contrib.layers.rev_block(
        x(4, 2), x(4, 2), lambda value: tf.layers.dense(value, 2), lambda value: tf.layers.dense(value, 2), num_layers=2
    ),
)


def _scoped():
    with tf.name_scope("a"), tf.variable_scope("b", reuse=tf.AUTO_REUSE, initializer=tf.random_normal_initializer()):
        return tf.get_variable("v", [3]) + tf.get_variable("w", [3]) + tf.get_variable("v", [3])


def _on_device():
    with tf.device("/cpu:0"):
        return tf.random_normal([3]) + tf.get_variable("v", [3])


def _constant_graph():
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="imported")
        return graph.as_graph_def()


@call
def math_two_gradients():
    """What was looked up for the first remains known for the second."""
    value = tf.matmul(x(2, 4), weights(4, 3)) + 1.0
    tf.gradients(tf.reduce_sum(value, 1), tf.trainable_variables())
    tf.gradients(tf.reduce_sum(value * 2.0, 1), tf.trainable_variables())


# -- loops and conditions inside each other ----------------------------------------------------------------------------


def loop(body, value):
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, body(v)), [tf.constant(0), value])[1]


def choice(body, value):
    return tf.cond(tf.placeholder(tf.bool, []), lambda: body(value), lambda: tf.sigmoid(value))


AROUND = dict(
    loop_loop=lambda body, value: loop(lambda v: loop(body, v), value),
    loop_choice=lambda body, value: loop(lambda v: choice(body, v), value),
    choice_loop=lambda body, value: choice(lambda v: loop(body, v), value),
    loop_choice_loop=lambda body, value: loop(lambda v: choice(lambda w: loop(body, w), v), value),
)
for name, around in AROUND.items():
    calculated(
        **{
            name + "_multiply": lambda value, around=around: around(lambda v: v * 2.0, value),
            name + "_divide": lambda value, around=around: around(lambda v: v / x(3), value),
            name + "_maximum": lambda value, around=around: around(lambda v: tf.maximum(v, 0.0), value),
            name + "_product": lambda value, around=around: around(
                lambda v: v * tf.reduce_prod(v, 1, keepdims=True), value
            ),
        }
    )
calculated(
    loop_add_multiply=lambda value: loop(lambda v: (v + 1.0) * 2.0 + 3.0, value),
    loop_center=lambda value: loop(lambda v: v - tf.reduce_mean(v, 0), value),
    loop_keep=lambda value: loop(lambda v: v * tf.reduce_sum(v, 1, keepdims=True), value),
    loop_slices=lambda value: loop(lambda v: tf.concat([v[:, :1], v[:, 1:]], 1), value),
    loop_loop_add=lambda value: loop(lambda v: loop(lambda w: w + 1.0, v), value),
)

# -- gradients of gradients --------------------------------------------------------------------------------------------


def again(function):
    return lambda value: tf.reduce_sum(tf.gradients(function(value), value)[0] ** 2)


calculated(
    twice_bias=again(lambda value: tf.nn.relu(tf.matmul(value, x(3, 4)) + tf.get_variable("bias", [4]))),
    twice_power=again(lambda value: (value + 1.0) ** 3.0),
    twice_divide=again(lambda value: value / x(3)),
    twice_scale=again(lambda value: value * value * x(3)),
    twice_maximum=again(lambda value: tf.maximum(value, 0.1) ** 2),
    twice_sum=again(lambda value: value * tf.reduce_sum(value, 1, keepdims=True)),
    twice_mean=again(lambda value: tf.reduce_mean(value * value, 1) ** 2),
    twice_subtract=again(lambda value: tf.square(value - x(3))),
)


@call
def math_penalty():
    """What improved training of Wasserstein GANs takes."""

    def critic(value):
        with tf.variable_scope("critic", reuse=tf.AUTO_REUSE):
            hidden = tf.nn.leaky_relu(tf.matmul(value, tf.get_variable("w", [4, 6])) + tf.get_variable("b", [6]))
            return tf.matmul(hidden, tf.get_variable("v", [6, 1])) + tf.get_variable("c", [1])

    real, fake = x(None, 4), x(None, 4)
    between = real + tf.random_uniform(tf.stack([tf.shape(real)[0], 1])) * (fake - real)
    slopes = tf.sqrt(tf.reduce_sum(tf.square(tf.gradients(critic(between), [between])[0]), reduction_indices=[1]))
    loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10 * tf.reduce_mean((slopes - 1.0) ** 2)
    tf.random_normal([1])
    tf.train.AdamOptimizer(1e-4).minimize(loss)


# -- neighbours of the signals, sums and sparse tensors above ----------------------------------------------------------

calculated(
    reduce_prod_keep=lambda value: tf.reduce_prod(value, 1, keepdims=True),
    weighted_moments_keep=lambda value: tf.nn.weighted_moments(value, [0], 1.0, keep_dims=True)[1],
    statistics_shift=lambda value: tf.nn.sufficient_statistics(value, [0, 1], shift=0.5)[2],
    complex_scalar=lambda value: tf.abs(tf.complex(value, 1.0)),
    bessel_scaled=lambda value: tf.math.bessel_i1(value) + tf.math.bessel_i1e(value),
    unsorted_mean_size=lambda value: tf.unsorted_segment_mean(value, ints(None), ints()),
    sparse_segment=lambda value: tf.sparse_segment_sum(value, ints(None), ints(None), num_segments=3),
    sparse_adjoint=lambda value: tf.sparse_tensor_dense_matmul(tf.sparse_placeholder(tf.float32), value, True),
    sparse_reduced=lambda value: tf.sparse_reduce_sum(_as_sparse(value, [4, 3]), 1),
    sparse_reduced_unknown=lambda value: tf.sparse_reduce_sum(_as_sparse(value, tf.placeholder(tf.int64, [2])), 1),
    sparse_transposed=lambda value: tf.sparse_transpose(_as_sparse(value, [4, 3])).values,
    spectral_frames=lambda value: tf.contrib.signal.frame(value, 2, 1),
    spectral_short_time=lambda value: tf.contrib.signal.inverse_stft(tf.contrib.signal.stft(value, 2, 1), 2, 1),
    spectral_plane=lambda value: tf.abs(tf.spectral.rfft2d(value)),
    spectral_plane_back=lambda value: tf.spectral.irfft2d(tf.complex(value, value)),
)


def _as_sparse(value, shape):
    return tf.SparseTensor(tf.placeholder(tf.int64, [None, 2]), tf.reshape(value, [-1]), shape)


signal = tf.contrib.signal
calls(
    math_variance_resource=lambda: tf.math.reduce_variance(tf.get_variable("v", [4, 3], use_resource=True)),
    math_std_variable=lambda: tf.math.reduce_std(weights(4, 3)),
    math_logsumexp_resource=lambda: tf.reduce_logsumexp(tf.get_variable("v", [4, 3], use_resource=True)),
    math_sum_resource=lambda: tf.reduce_sum(tf.get_variable("v", [4, 3], use_resource=True)),
    math_manip_reshape=lambda: tf.manip.reshape(x(1), []),
    linalg_diag_part=lambda: tf.linalg.diag_part(x(4, 4)),
    lookup_resource_norm=lambda: tf.nn.embedding_lookup(
        tf.get_variable("v", [30, 4], use_resource=True), ints(3), max_norm=1.0
    ),
    spectral_frame_unknown=lambda: signal.frame(x(None, 64), 16, 8),
    spectral_frame_end=lambda: signal.frame(x(2, 64), 16, 7, pad_end=True),
    spectral_frame_end_unknown=lambda: signal.frame(x(None), 16, 8, pad_end=True),
    spectral_frame_axis=lambda: signal.frame(x(2, 64, 3), 16, 5, axis=1),
    spectral_frame_axis_tensor=lambda: signal.frame(x(2, 64), 16, 8, axis=ints()),
    spectral_frame_lengths=lambda: signal.frame(x(2, 64), ints(), 8),
    spectral_frame_lengths_end=lambda: signal.frame(x(2, 64), ints(), 8, pad_end=True),
    spectral_frame_lengths_unknown=lambda: signal.frame(x(None, 64), ints(), ints()),
    spectral_add=lambda: signal.overlap_and_add(x(2, 5, 16), 8),
    spectral_add_whole=lambda: signal.overlap_and_add(x(5, 16), 16),
    spectral_add_unknown=lambda: signal.overlap_and_add(x(None, 5, 16), 8),
    spectral_add_any=lambda: signal.overlap_and_add(tf.placeholder(tf.float32), 8),
    spectral_add_tensor=lambda: [signal.overlap_and_add(x(5, 16), ints()), signal.overlap_and_add(x(None, 16), ints())],
    spectral_window_tensor=lambda: signal.hamming_window(ints()),
    spectral_window_back=lambda: signal.inverse_stft_window_fn(8)(16, dtype=tf.float32),
    spectral_mel_float=lambda: signal.linear_to_mel_weight_matrix(8, 33, 8000.0, 80.0, 3800.0),
    spectral_mel_double=lambda: signal.linear_to_mel_weight_matrix(dtype=tf.float64),
    spectral_dct_unknown=lambda: [tf.spectral.dct(x(2, None), norm="ortho"), tf.spectral.idct(x(2, None))],
    spectral_dct_first=lambda: tf.spectral.dct(x(2, 8), type=1),
    spectral_rfft3d=lambda: tf.spectral.rfft3d(x(4, 4, 4)),
    sparse_placeholder_part=lambda: tf.sparse_placeholder(tf.float32, [None, 3]),
    sparse_sum_all=lambda: tf.sparse_reduce_sum(tf.sparse_placeholder(tf.float32, [2, 3])),
    sparse_max_sparse=lambda: tf.sparse_reduce_max_sparse(tf.sparse_placeholder(tf.float32, [2, 3])),
    sparse_transpose_unknown=lambda: tf.sparse_transpose(tf.sparse_placeholder(tf.float32)),
    sparse_transpose_order=lambda: tf.sparse_transpose(tf.sparse_placeholder(tf.float32, [2, 3]), [1, 0]),
    sparse_transpose_shape=lambda: tf.sparse_transpose(_as_sparse(x(5), tf.placeholder(tf.int64, [2]))),
    sparse_cross=lambda: tf.sparse.cross([tf.sparse_placeholder(tf.string), tf.sparse_placeholder(tf.string)]),
)
