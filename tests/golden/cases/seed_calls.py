"""Public calls of TensorFlow 1 that make operations, for both TensorFlows: which seeds follow from how many they make.

``CALLS`` has functions by name; each is called in a graph of its own with a seed. Python 3.6 and later.
"""

import random

import tensorflow as tf

CALLS = {}
GRAPHS = {}  # functions that make graphs of their own, and give them


def call(function):
    CALLS[function.__name__] = function
    return function


def calls(**functions):
    assert not CALLS.keys() & functions.keys(), CALLS.keys() & functions.keys()
    CALLS.update(functions)


def graphs(**functions):
    assert not GRAPHS.keys() & functions.keys(), GRAPHS.keys() & functions.keys()
    GRAPHS.update(functions)


def x(*shape):
    return tf.placeholder(tf.float32, shape)


def ints(*shape):
    return tf.placeholder(tf.int32, shape)


def weights(*shape):
    """A variable whose initial value draws nothing."""
    return tf.get_variable("weights", shape, initializer=tf.zeros_initializer())


# -- drawing ----------------------------------------------------------------------------------------------------------

calls(
    random_uniform=lambda: tf.random_uniform([2, 3]),
    random_uniform_scaled=lambda: tf.random_uniform([2, 3], -1, 1),
    random_uniform_from_zero=lambda: tf.random_uniform([2, 3], maxval=2.0),
    random_uniform_tensors=lambda: tf.random_uniform(ints(2), tf.constant(0.0), tf.constant(1.0)),
    random_uniform_ints=lambda: tf.random_uniform([2, 3], 0, 10, tf.int32),
    random_uniform_double=lambda: tf.random_uniform([2, 3], dtype=tf.float64),
    random_normal=lambda: tf.random_normal([2, 3]),
    random_normal_tensors=lambda: tf.random_normal(ints(2), x(), x()),
    truncated_normal=lambda: tf.truncated_normal([2, 3], stddev=0.1),
    random_shuffle=lambda: tf.random_shuffle(ints(5)),
    random_crop=lambda: tf.random_crop(x(8, 8, 3), [6, 6, 3]),
    random_gamma=lambda: tf.random_gamma([2], 1.0),
    random_poisson=lambda: tf.random_poisson(1.0, [2]),
    multinomial=lambda: tf.multinomial(x(2, 3), 4),
    random_categorical=lambda: tf.random.categorical(x(2, 3), 4),
    dropout_keep=lambda: tf.nn.dropout(x(4, 5), 0.5),
    dropout_rate=lambda: tf.nn.dropout(x(4, 5), rate=0.5),
    dropout_keep_tensor=lambda: tf.nn.dropout(x(4, 5), x()),
    dropout_rate_tensor=lambda: tf.nn.dropout(x(4, 5), rate=x()),
    dropout_nothing=lambda: tf.nn.dropout(x(4, 5), 1.0),
    dropout_noise_shape=lambda: tf.nn.dropout(x(4, 5), 0.5, noise_shape=[4, 1]),
    dropout_unknown_shape=lambda: tf.nn.dropout(tf.placeholder(tf.float32), 0.5),
    dropout_twice=lambda: tf.nn.dropout(tf.nn.dropout(x(4, 5), 0.5), 0.5),
)

# -- variables and initializers ---------------------------------------------------------------------------------------

calls(
    get_variable=lambda: tf.get_variable("v", [3, 4]),
    get_variable_ints=lambda: tf.get_variable("v", [3, 4], tf.int32),
    get_variable_zeros=lambda: tf.get_variable("v", [3], initializer=tf.zeros_initializer()),
    get_variable_constant=lambda: tf.get_variable("v", [3], initializer=tf.constant_initializer(1.0)),
    get_variable_resource=lambda: tf.get_variable("v", [3, 4], use_resource=True),
    get_variable_regularized=lambda: tf.get_variable("v", [3, 4], regularizer=tf.keras.regularizers.l2(0.1)),
    get_variable_partitioned=lambda: tf.get_variable("v", [4, 4], partitioner=tf.fixed_size_partitioner(2)),
    initializer_normal=lambda: tf.get_variable("v", [3, 4], initializer=tf.random_normal_initializer()),
    initializer_truncated=lambda: tf.get_variable("v", [3, 4], initializer=tf.truncated_normal_initializer()),
    initializer_uniform=lambda: tf.get_variable("v", [3, 4], initializer=tf.random_uniform_initializer(-1, 1)),
    initializer_unit=lambda: tf.get_variable("v", [3, 4], initializer=tf.random_uniform_initializer(0, 1)),
    initializer_scaling=lambda: tf.get_variable("v", [3, 4], initializer=tf.variance_scaling_initializer()),
    initializer_orthogonal=lambda: tf.get_variable("v", [3, 4], initializer=tf.orthogonal_initializer()),
    initializer_glorot_normal=lambda: tf.get_variable("v", [3, 4], initializer=tf.glorot_normal_initializer()),
    initializer_he=lambda: tf.get_variable("v", [3, 4], initializer=tf.initializers.he_normal()),
    initializer_identity=lambda: tf.get_variable("v", [3, 3], initializer=tf.initializers.identity()),
    variable=lambda: tf.Variable(tf.truncated_normal([3, 4])),
    variable_of_function=lambda: tf.Variable(lambda: tf.truncated_normal([3, 4])),
    variable_resource=lambda: tf.Variable(tf.zeros([3]), use_resource=True),
    global_variables_initializer=lambda: [tf.get_variable("v", [3]), tf.global_variables_initializer()],
    assign=lambda: tf.assign(weights(3), x(3)),
    assign_add=lambda: tf.assign_add(weights(3), x(3)),
    saver=lambda: [weights(3), tf.train.Saver()],
    global_step=lambda: tf.train.get_or_create_global_step(),
    moving_average=lambda: tf.train.ExponentialMovingAverage(0.9).apply([weights(3)]),
    moving_average_steps=lambda: tf.train.ExponentialMovingAverage(0.9, tf.train.get_or_create_global_step()).apply(
        [weights(3)]
    ),
    moving_average_tensor=lambda: tf.train.ExponentialMovingAverage(0.9).apply([tf.reduce_sum(x(3))]),
)

# -- arithmetic -------------------------------------------------------------------------------------------------------

calls(
    add=lambda: x(3) + 1,
    subtract=lambda: 1 - x(3),
    divide=lambda: x(3) / 2,
    divide_ints=lambda: ints(3) / 2,
    floor_divide=lambda: ints(3) // 2,
    power=lambda: x(3) ** 2,
    negative=lambda: -x(3),
    compare=lambda: x(3) > 0.5,
    matmul=lambda: tf.matmul(x(2, 3), x(3, 4)),
    tensordot=lambda: tf.tensordot(x(2, 3, 4), x(4, 5), 1),
    tensordot_unknown=lambda: tf.tensordot(x(None, 3, 4), x(4, 5), 1),
    reduce_sum=lambda: tf.reduce_sum(x(4, 3), 1),
    reduce_mean=lambda: tf.reduce_mean(x(4, 3)),
    reduce_mean_unknown=lambda: tf.reduce_mean(tf.placeholder(tf.float32)),
    reduce_max=lambda: tf.reduce_max(x(4, 3), [0], keepdims=True),
    reduce_logsumexp=lambda: tf.reduce_logsumexp(x(4, 3), 1),
    argmax=lambda: tf.argmax(x(4, 3), 1),
    cast=lambda: tf.cast(ints(3), tf.float32),
    cast_same=lambda: tf.to_float(x(3)),
    equal=lambda: tf.equal(ints(3), ints(3)),
    norm=lambda: tf.norm(x(4, 3)),
    l2_normalize=lambda: tf.nn.l2_normalize(x(4, 3), 1),
    l2_loss=lambda: tf.nn.l2_loss(x(3)),
    clip_by_value=lambda: tf.clip_by_value(x(3), -1, 1),
    clip_by_norm=lambda: tf.clip_by_norm(x(3), 1.0),
    clip_by_global_norm=lambda: tf.clip_by_global_norm([x(3), x(4)], 1.0),
    global_norm=lambda: tf.global_norm([x(3), x(4)]),
    einsum=lambda: tf.einsum("ij,jk->ik", x(2, 3), x(3, 4)),
    cumsum=lambda: tf.cumsum(x(4)),
    add_n=lambda: tf.add_n([x(3), x(3)]),
    where=lambda: tf.where(tf.placeholder(tf.bool, [3]), x(3), x(3)),
    where_indices=lambda: tf.where(tf.placeholder(tf.bool, [3])),
    lin_space=lambda: tf.lin_space(0.0, 1.0, 5),
    range=lambda: tf.range(5),
    floor_mod=lambda: ints(3) % 2,
    confusion_matrix=lambda: tf.confusion_matrix(ints(4), ints(4), 3),
    top_k=lambda: tf.nn.top_k(x(5), 2),
    in_top_k=lambda: tf.nn.in_top_k(x(4, 3), ints(4), 1),
)

# -- arrays -----------------------------------------------------------------------------------------------------------

calls(
    slice_=lambda: x(4, 3)[:, 1],
    slice_new_axis=lambda: x(4, 3)[:, None, ...],
    reshape=lambda: tf.reshape(x(4, 3), [-1]),
    transpose=lambda: tf.transpose(x(4, 3)),
    transpose_axes=lambda: tf.transpose(x(4, 3, 2), [0, 2, 1]),
    transpose_unknown=lambda: tf.transpose(tf.placeholder(tf.float32)),
    concat=lambda: tf.concat([x(2, 3), x(2, 3)], 0),
    stack=lambda: tf.stack([x(3), x(3)]),
    unstack=lambda: tf.unstack(x(3, 2)),
    split=lambda: tf.split(x(4, 6), 3, 1),
    split_sizes=lambda: tf.split(x(4, 6), [2, 4], 1),
    tile=lambda: tf.tile(x(4, 3), [1, 2]),
    pad=lambda: tf.pad(x(4, 3), [[1, 1], [0, 0]]),
    gather=lambda: tf.gather(x(4, 3), ints(2)),
    gather_nd=lambda: tf.gather_nd(x(4, 3), ints(2, 2)),
    one_hot=lambda: tf.one_hot(ints(3), 4),
    zeros=lambda: tf.zeros([2, 3]),
    zeros_large=lambda: tf.zeros([200, 30]),
    zeros_unknown=lambda: tf.zeros(ints(2)),
    zeros_like=lambda: tf.zeros_like(x(3)),
    ones_like=lambda: tf.ones_like(x(3)),
    ones_like_unknown=lambda: tf.ones_like(tf.placeholder(tf.float32)),
    ones=lambda: tf.ones([2, 3]),
    fill=lambda: tf.fill([2, 3], 1.0),
    shape=lambda: tf.shape(x(None, 3)),
    shape_known=lambda: tf.shape(x(4, 3)),
    size=lambda: tf.size(x(4, 3)),
    rank=lambda: tf.rank(x(4, 3)),
    squeeze=lambda: tf.squeeze(x(4, 1)),
    expand_dims=lambda: tf.expand_dims(x(4), 1),
    boolean_mask=lambda: tf.boolean_mask(x(4, 3), tf.placeholder(tf.bool, [4])),
    sequence_mask=lambda: tf.sequence_mask(ints(4), 5),
    reverse=lambda: tf.reverse(x(4, 3), [0]),
    reverse_sequence=lambda: tf.reverse_sequence(x(4, 3), ints(4), 1),
    meshgrid=lambda: tf.meshgrid(x(3), x(4)),
    scatter_nd=lambda: tf.scatter_nd(ints(2, 1), x(2), [4]),
    dynamic_partition=lambda: tf.dynamic_partition(x(4), ints(4), 2),
    unique=lambda: tf.unique(ints(4)),
    batch_to_space=lambda: tf.batch_to_space_nd(x(4, 2, 2, 1), [2, 2], [[0, 0], [0, 0]]),
    space_to_depth=lambda: tf.space_to_depth(x(1, 4, 4, 1), 2),
    sparse_to_dense=lambda: tf.sparse_to_dense(ints(2), [4], x(2)),
    string_split=lambda: tf.string_split(tf.placeholder(tf.string, [2])),
    py_func=lambda: tf.py_func(lambda value: value, [x(3)], tf.float32),
    identity=lambda: tf.identity(x(3)),
    stop_gradient=lambda: tf.stop_gradient(x(3)),
    group=lambda: tf.group(weights(3).initializer),
    tuple_=lambda: tf.tuple([x(3), x(3)]),
    assert_equal=lambda: tf.assert_equal(ints(3), ints(3)),
    assert_less=lambda: tf.assert_less(ints(3), 5),
    assert_rank=lambda: tf.assert_rank(tf.placeholder(tf.float32), 2),
    check_numerics=lambda: tf.check_numerics(x(3), "bad"),
    print_=lambda: tf.Print(x(3), [x(3)]),
    hash_table=lambda: tf.contrib.lookup.index_table_from_tensor(["a", "b"]).lookup(tf.placeholder(tf.string, [2])),
)

# -- networks ---------------------------------------------------------------------------------------------------------

calls(
    relu=lambda: tf.nn.relu(x(3)),
    leaky_relu=lambda: tf.nn.leaky_relu(x(3)),
    softmax=lambda: tf.nn.softmax(x(4, 3)),
    softmax_3d=lambda: tf.nn.softmax(x(2, 4, 3), 1),
    log_softmax=lambda: tf.nn.log_softmax(x(4, 3)),
    swish=lambda: tf.nn.swish(x(3)),
    bias_add=lambda: tf.nn.bias_add(x(4, 3), x(3)),
    conv2d=lambda: tf.nn.conv2d(x(2, 8, 8, 3), x(3, 3, 3, 4), [1, 1, 1, 1], "SAME"),
    conv2d_dilated=lambda: tf.nn.conv2d(x(2, 8, 8, 3), x(3, 3, 3, 4), [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1]),
    conv1d=lambda: tf.nn.conv1d(x(2, 8, 3), x(3, 3, 4), 1, "SAME"),
    conv2d_transpose=lambda: tf.nn.conv2d_transpose(x(2, 4, 4, 3), x(3, 3, 5, 3), [2, 8, 8, 5], [1, 2, 2, 1]),
    depthwise_conv2d=lambda: tf.nn.depthwise_conv2d(x(2, 8, 8, 3), x(3, 3, 3, 2), [1, 1, 1, 1], "SAME"),
    separable_conv2d=lambda: tf.nn.separable_conv2d(x(2, 8, 8, 3), x(3, 3, 3, 2), x(1, 1, 6, 4), [1, 1, 1, 1], "SAME"),
    atrous_conv2d=lambda: tf.nn.atrous_conv2d(x(2, 8, 8, 3), x(3, 3, 3, 4), 2, "SAME"),
    convolution=lambda: tf.nn.convolution(x(2, 8, 8, 3), x(3, 3, 3, 4), "SAME"),
    max_pool=lambda: tf.nn.max_pool(x(2, 8, 8, 3), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
    avg_pool=lambda: tf.nn.avg_pool(x(2, 8, 8, 3), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
    lrn=lambda: tf.nn.lrn(x(2, 8, 8, 3)),
    moments=lambda: tf.nn.moments(x(4, 3), [0]),
    moments_keep=lambda: tf.nn.moments(x(4, 3), [0], keep_dims=True),
    batch_normalization=lambda: tf.nn.batch_normalization(x(4, 3), x(3), x(3), x(3), x(3), 1e-3),
    fused_batch_norm=lambda: tf.nn.fused_batch_norm(x(4, 8, 8, 3), x(3), x(3)),
    fused_batch_norm_inference=lambda: tf.nn.fused_batch_norm(x(4, 8, 8, 3), x(3), x(3), x(3), x(3), is_training=False),
    embedding_lookup=lambda: tf.nn.embedding_lookup(weights(30, 4), ints(3)),
    embedding_lookup_parts=lambda: tf.nn.embedding_lookup([weights(30, 4), x(30, 4)], ints(3)),
    softmax_cross_entropy=lambda: tf.nn.softmax_cross_entropy_with_logits(labels=x(4, 3), logits=x(4, 3)),
    softmax_cross_entropy_v2=lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=x(4, 3), logits=x(4, 3)),
    sparse_softmax_cross_entropy=lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ints(4), logits=x(4, 3)),
    sigmoid_cross_entropy=lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=x(4), logits=x(4)),
    weighted_cross_entropy=lambda: tf.nn.weighted_cross_entropy_with_logits(labels=x(4), logits=x(4), pos_weight=2.0),
    nce_loss=lambda: tf.nn.nce_loss(weights(30, 4), x(30), tf.placeholder(tf.int64, [3, 1]), x(3, 4), 5, 30),
    sampled_softmax=lambda: tf.nn.sampled_softmax_loss(
        weights(30, 4), x(30), tf.placeholder(tf.int64, [3, 1]), x(3, 4), 5, 30
    ),
    ctc_loss=lambda: tf.nn.ctc_loss(tf.sparse_placeholder(tf.int32), x(5, 2, 4), ints(2)),
)

# -- layers -----------------------------------------------------------------------------------------------------------

calls(
    dense=lambda: tf.layers.dense(x(4, 5), 3),
    dense_relu=lambda: tf.layers.dense(x(None, 5), 3, activation=tf.nn.relu),
    dense_3d=lambda: tf.layers.dense(x(None, 4, 5), 3),
    dense_no_bias=lambda: tf.layers.dense(x(4, 5), 3, use_bias=False),
    dense_regularized=lambda: tf.layers.dense(x(4, 5), 3, kernel_regularizer=tf.keras.regularizers.l2(0.1)),
    dense_object=lambda: tf.layers.Dense(3)(x(4, 5)),
    layers_conv2d=lambda: tf.layers.conv2d(x(4, 8, 8, 3), 6, 3),
    layer_conv2d_unknown=lambda: tf.layers.conv2d(x(None, 8, 8, 3), 6, 3, padding="same", activation=tf.nn.relu),
    layers_conv2d_dilated=lambda: tf.layers.conv2d(x(4, 8, 8, 3), 6, 3, dilation_rate=2),
    layers_conv1d=lambda: tf.layers.conv1d(x(4, 8, 3), 6, 3),
    layers_conv3d=lambda: tf.layers.conv3d(x(4, 8, 8, 8, 3), 6, 3),
    layers_conv2d_transpose=lambda: tf.layers.conv2d_transpose(x(4, 8, 8, 3), 6, 3, strides=2),
    layer_conv2d_transpose_unknown=lambda: tf.layers.conv2d_transpose(x(None, 8, 8, 3), 6, 3, strides=2),
    layer_separable_conv2d=lambda: tf.layers.separable_conv2d(x(4, 8, 8, 3), 6, 3),
    layers_batch_norm=lambda: tf.layers.batch_normalization(x(4, 8, 8, 3), training=True),
    layer_batch_norm_unknown=lambda: tf.layers.batch_normalization(x(None, 8, 8, 3), training=True),
    layers_batch_norm_inference=lambda: tf.layers.batch_normalization(x(4, 8, 8, 3)),
    layer_batch_norm_switch=lambda: tf.layers.batch_normalization(x(4, 8, 8, 3), training=tf.placeholder(tf.bool, [])),
    layer_batch_norm_2d=lambda: tf.layers.batch_normalization(x(4, 3), training=True),
    layer_batch_norm_2d_inference=lambda: tf.layers.batch_normalization(x(4, 3)),
    layer_batch_norm_2d_switch=lambda: tf.layers.batch_normalization(x(4, 3), training=tf.placeholder(tf.bool, [])),
    layers_dropout=lambda: tf.layers.dropout(x(4, 5), 0.5, training=True),
    layers_dropout_off=lambda: tf.layers.dropout(x(4, 5), 0.5),
    layer_dropout_switch=lambda: tf.layers.dropout(x(4, 5), 0.5, training=tf.placeholder(tf.bool, [])),
    layer_max_pooling2d=lambda: tf.layers.max_pooling2d(x(4, 8, 8, 3), 2, 2),
    layers_max_pooling1d=lambda: tf.layers.max_pooling1d(x(4, 8, 3), 2, 2),
    layers_flatten=lambda: tf.layers.flatten(x(None, 8, 8, 3)),
    layer_flatten_known=lambda: tf.layers.flatten(x(4, 8, 8, 3)),
    keras_dense=lambda: tf.keras.layers.Dense(3)(x(4, 5)),
    keras_dropout=lambda: tf.keras.layers.Dropout(0.5)(x(4, 5), training=True),
    keras_embedding=lambda: tf.keras.layers.Embedding(10, 3)(ints(4, 5)),
    keras_lstm=lambda: tf.keras.layers.LSTM(3)(x(2, 4, 5)),
    contrib_fully_connected=lambda: tf.contrib.layers.fully_connected(x(4, 5), 3),
    contrib_conv2d=lambda: tf.contrib.layers.conv2d(x(4, 8, 8, 3), 6, 3),
    contrib_batch_norm=lambda: tf.contrib.layers.batch_norm(x(4, 8, 8, 3), is_training=True),
    contrib_dropout=lambda: tf.contrib.layers.dropout(x(4, 5), 0.5, is_training=True),
    contrib_xavier=lambda: tf.get_variable("v", [3, 4], initializer=tf.contrib.layers.xavier_initializer()),
    contrib_l2=lambda: tf.get_variable("v", [3, 4], regularizer=tf.contrib.layers.l2_regularizer(0.1)),
    contrib_flatten=lambda: tf.contrib.layers.flatten(x(None, 8, 8, 3)),
    contrib_embed=lambda: tf.contrib.layers.embed_sequence(ints(4, 5), 10, 3),
)

# -- contrib ----------------------------------------------------------------------------------------------------------


def images():
    return x(None, 8, 8, 3)


def slim_of(function):
    """A case: a function of slim under the scope that old networks have."""

    def build():
        slim = tf.contrib.slim
        with (
            slim.arg_scope(
                [slim.conv2d, slim.fully_connected],
                weights_initializer=tf.truncated_normal_initializer(stddev=0.1),
                weights_regularizer=slim.l2_regularizer(0.01),
                normalizer_fn=slim.batch_norm,
            ),
            slim.arg_scope([slim.batch_norm, slim.dropout], is_training=True),
        ):
            function(slim)

    return build


calls(
    contrib_conv2d_unknown=lambda: tf.contrib.layers.conv2d(images(), 6, 3),
    contrib_conv2d_linear=lambda: tf.contrib.layers.conv2d(images(), 6, [3, 3], 2, activation_fn=None),
    contrib_conv2d_rate=lambda: tf.contrib.layers.conv2d(images(), 6, 3, rate=2),
    contrib_conv2d_no_biases=lambda: tf.contrib.layers.conv2d(images(), 6, 3, biases_initializer=None),
    contrib_conv2d_norm=lambda: tf.contrib.layers.conv2d(images(), 6, 3, normalizer_fn=tf.contrib.layers.batch_norm),
    contrib_conv2d_transpose=lambda: tf.contrib.layers.conv2d_transpose(images(), 6, 3, stride=2),
    contrib_separable=lambda: tf.contrib.layers.separable_conv2d(images(), 6, 3, 1),
    contrib_max_pool2d=lambda: tf.contrib.layers.max_pool2d(images(), 2),
    contrib_avg_pool2d=lambda: tf.contrib.layers.avg_pool2d(images(), 2),
    contrib_batch_norm_unknown=lambda: tf.contrib.layers.batch_norm(images()),
    contrib_batch_norm_scale=lambda: tf.contrib.layers.batch_norm(images(), scale=True, decay=0.9),
    contrib_batch_norm_inference=lambda: tf.contrib.layers.batch_norm(images(), is_training=False),
    contrib_batch_norm_switch=lambda: tf.contrib.layers.batch_norm(images(), is_training=tf.placeholder(tf.bool, [])),
    contrib_batch_norm_now=lambda: tf.contrib.layers.batch_norm(images(), updates_collections=None),
    contrib_batch_norm_2d=lambda: tf.contrib.layers.batch_norm(x(None, 3)),
    contrib_batch_norm_2d_inference=lambda: tf.contrib.layers.batch_norm(x(None, 3), is_training=False),
    contrib_batch_norm_unfused=lambda: tf.contrib.layers.batch_norm(images(), fused=False),
    contrib_layer_norm=lambda: tf.contrib.layers.layer_norm(x(None, 3)),
    contrib_instance_norm=lambda: tf.contrib.layers.instance_norm(images()),
    contrib_fully_connected_unknown=lambda: tf.contrib.layers.fully_connected(x(None, 5), 3),
    contrib_fully_connected_3d=lambda: tf.contrib.layers.fully_connected(x(None, 4, 5), 3),
    contrib_fully_connected_norm=lambda: tf.contrib.layers.fully_connected(
        x(None, 5), 3, normalizer_fn=tf.contrib.layers.batch_norm
    ),
    contrib_flatten_known=lambda: tf.contrib.layers.flatten(x(4, 8, 8, 3)),
    contrib_flatten_open=lambda: tf.contrib.layers.flatten(x(None, None, 3)),
    contrib_dropout_off=lambda: tf.contrib.layers.dropout(x(4, 5), 0.5, is_training=False),
    contrib_dropout_switch=lambda: tf.contrib.layers.dropout(x(4, 5), 0.5, is_training=tf.placeholder(tf.bool, [])),
    contrib_one_hot=lambda: tf.contrib.layers.one_hot_encoding(ints(None), 4),
    contrib_bias_add=lambda: tf.contrib.layers.bias_add(x(None, 3)),
    contrib_stack=lambda: tf.contrib.layers.stack(x(None, 5), tf.contrib.layers.fully_connected, [4, 3]),
    contrib_variance_scaling=lambda: tf.get_variable(
        "v", [3, 4], initializer=tf.contrib.layers.variance_scaling_initializer()
    ),
    contrib_apply_regularization=lambda: tf.contrib.layers.apply_regularization(
        tf.contrib.layers.l2_regularizer(0.1), [weights(3)]
    ),
    contrib_optimize_loss=lambda: tf.contrib.layers.optimize_loss(
        tf.reduce_sum(weights(3) ** 2), tf.train.get_or_create_global_step(), 0.1, "Adam"
    ),
    contrib_layer_norm_lstm=lambda: tf.nn.dynamic_rnn(
        tf.contrib.rnn.LayerNormBasicLSTMCell(4), x(2, 5, 3), dtype=tf.float32
    ),
    contrib_block_lstm=lambda: tf.nn.dynamic_rnn(tf.contrib.rnn.LSTMBlockCell(4), x(2, 5, 3), dtype=tf.float32),
    contrib_sequence_loss=lambda: tf.contrib.seq2seq.sequence_loss(x(None, 5, 3), ints(None, 5), x(None, 5)),
    contrib_crf=lambda: tf.contrib.crf.crf_log_likelihood(x(None, 5, 3), ints(None, 5), ints(None)),
    slim_conv2d=slim_of(lambda slim: slim.conv2d(images(), 4, 3)),
    slim_network=slim_of(
        lambda slim: slim.fully_connected(
            slim.dropout(slim.flatten(slim.max_pool2d(slim.conv2d(images(), 4, 3), 2)), 0.5), 3
        )
    ),
    slim_repeat=slim_of(lambda slim: slim.repeat(images(), 2, slim.conv2d, 4, [3, 3])),
    slim_training=slim_of(
        lambda slim: slim.learning.create_train_op(
            tf.losses.mean_squared_error(
                x(None, 3), slim.fully_connected(slim.flatten(slim.conv2d(images(), 4, 3)), 3)
            ),
            tf.train.AdamOptimizer(0.1),
        )
    ),
)

# -- losses, metrics, gradients, optimizers ---------------------------------------------------------------------------

calls(
    loss_softmax=lambda: tf.losses.softmax_cross_entropy(x(4, 3), x(4, 3)),
    loss_softmax_smooth=lambda: tf.losses.softmax_cross_entropy(x(4, 3), x(4, 3), label_smoothing=0.1),
    loss_sparse_softmax=lambda: tf.losses.sparse_softmax_cross_entropy(ints(4), x(4, 3)),
    loss_sparse_softmax_unknown=lambda: tf.losses.sparse_softmax_cross_entropy(ints(None), x(None, 3)),
    loss_sigmoid=lambda: tf.losses.sigmoid_cross_entropy(x(4, 3), x(4, 3)),
    loss_mse=lambda: tf.losses.mean_squared_error(x(4, 3), x(4, 3)),
    loss_mse_unknown=lambda: tf.losses.mean_squared_error(x(None, 3), x(None, 3)),
    loss_mse_weighted=lambda: tf.losses.mean_squared_error(x(4, 3), x(4, 3), weights=x(4, 1)),
    loss_absolute=lambda: tf.losses.absolute_difference(x(4, 3), x(4, 3)),
    loss_huber=lambda: tf.losses.huber_loss(x(4, 3), x(4, 3)),
    loss_hinge=lambda: tf.losses.hinge_loss(x(4, 3), x(4, 3)),
    loss_log=lambda: tf.losses.log_loss(x(4, 3), x(4, 3)),
    loss_cosine=lambda: tf.losses.cosine_distance(x(4, 3), x(4, 3), axis=1),
    loss_total=lambda: [tf.losses.mean_squared_error(x(4, 3), x(4, 3)), tf.losses.get_total_loss()],
    metric_accuracy=lambda: tf.metrics.accuracy(ints(4), ints(4)),
    metric_mean=lambda: tf.metrics.mean(x(4)),
    metric_auc=lambda: tf.metrics.auc(tf.placeholder(tf.bool, [4]), x(4)),
    metric_precision=lambda: tf.metrics.precision(ints(4), ints(4)),
    exponential_decay=lambda: tf.train.exponential_decay(0.1, tf.train.get_or_create_global_step(), 100, 0.9),
    piecewise_constant=lambda: tf.train.piecewise_constant(
        tf.train.get_or_create_global_step(), [10, 20], [0.1, 0.01, 0.001]
    ),
    polynomial_decay=lambda: tf.train.polynomial_decay(0.1, tf.train.get_or_create_global_step(), 100),
    cosine_decay=lambda: tf.train.cosine_decay(0.1, tf.train.get_or_create_global_step(), 100),
)


def gradient(of):
    """A case: the gradients of what ``of(value)`` gives for a variable [4, 3]."""
    return lambda: tf.gradients(of(weights(4, 3)), tf.trainable_variables())


calls(
    gradient_sum=gradient(tf.reduce_sum),
    gradient_mean=gradient(tf.reduce_mean),
    gradient_mean_axis=gradient(lambda value: tf.reduce_mean(value, 1)),
    gradient_max=gradient(tf.reduce_max),
    gradient_prod=gradient(lambda value: tf.reduce_prod(value, 1)),
    gradient_square=gradient(tf.square),
    gradient_matmul=gradient(lambda value: tf.matmul(x(2, 4), value)),
    gradient_bias=gradient(lambda value: tf.nn.bias_add(x(2, 12), tf.reshape(value, [12]))),
    gradient_add=gradient(lambda value: value + x(3)),
    gradient_add_unknown=gradient(lambda value: value + x(None, 3)),
    gradient_multiply=gradient(lambda value: value * x(4, 3)),
    gradient_multiply_scalar=gradient(lambda value: value * 2.0),
    gradient_divide=gradient(lambda value: value / x(4, 3)),
    gradient_subtract=gradient(lambda value: value - x(4, 1)),
    gradient_power=gradient(lambda value: value**2),
    gradient_relu=gradient(tf.nn.relu),
    gradient_sigmoid=gradient(tf.sigmoid),
    gradient_tanh=gradient(tf.tanh),
    gradient_exp=gradient(tf.exp),
    gradient_log=gradient(tf.log),
    gradient_sqrt=gradient(tf.sqrt),
    gradient_abs=gradient(tf.abs),
    gradient_maximum=gradient(lambda value: tf.maximum(value, 0.0)),
    gradient_softmax=gradient(tf.nn.softmax),
    gradient_log_softmax=gradient(tf.nn.log_softmax),
    gradient_softmax_cross_entropy=gradient(
        lambda value: tf.nn.softmax_cross_entropy_with_logits_v2(labels=x(4, 3), logits=value)
    ),
    gradient_sparse_softmax=gradient(
        lambda value: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ints(4), logits=value)
    ),
    gradient_sigmoid_cross_entropy=gradient(
        lambda value: tf.nn.sigmoid_cross_entropy_with_logits(labels=x(4, 3), logits=value)
    ),
    gradient_loss_softmax=gradient(lambda value: tf.losses.softmax_cross_entropy(x(4, 3), value)),
    gradient_loss_mse=gradient(lambda value: tf.losses.mean_squared_error(x(4, 3), value)),
    gradient_reshape=gradient(lambda value: tf.reshape(value, [-1])),
    gradient_transpose=gradient(tf.transpose),
    gradient_concat=gradient(lambda value: tf.concat([value, x(2, 3)], 0)),
    gradient_split=gradient(lambda value: tf.split(value, 2)[0]),
    gradient_stack=gradient(lambda value: tf.stack([value, x(4, 3)])),
    gradient_slice=gradient(lambda value: value[:, 1]),
    gradient_gather=gradient(lambda value: tf.gather(value, ints(2))),
    gradient_embedding=gradient(lambda value: tf.nn.embedding_lookup(value, ints(2))),
    gradient_tile=gradient(lambda value: tf.tile(value, [1, 2])),
    gradient_pad=gradient(lambda value: tf.pad(value, [[1, 1], [0, 0]])),
    gradient_expand=gradient(lambda value: tf.expand_dims(value, 0)),
    gradient_where=gradient(lambda value: tf.where(tf.placeholder(tf.bool, [4, 3]), value, value * 2.0)),
    gradient_clip=gradient(lambda value: tf.clip_by_value(value, -1, 1)),
    gradient_dropout=gradient(lambda value: tf.nn.dropout(value, 0.5)),
    gradient_conv2d=gradient(
        lambda value: tf.nn.conv2d(x(2, 8, 8, 1), tf.reshape(value, [2, 2, 1, 3]), [1, 1, 1, 1], "SAME")
    ),
    gradient_max_pool=gradient(
        lambda value: tf.nn.max_pool(tf.reshape(value, [1, 4, 3, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    ),
    gradient_avg_pool=gradient(
        lambda value: tf.nn.avg_pool(tf.reshape(value, [1, 4, 3, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    ),
    gradient_batch_norm=gradient(
        lambda value: tf.layers.batch_normalization(tf.reshape(value, [1, 4, 3, 1]), training=True)
    ),
    gradient_batch_norm_2d=gradient(lambda value: tf.layers.batch_normalization(value, training=True)),
    gradient_l2_normalize=gradient(lambda value: tf.nn.l2_normalize(value, 1)),
    gradient_l2_loss=gradient(tf.nn.l2_loss),
    gradient_while=gradient(
        lambda value: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [tf.constant(0), value])[1]
    ),
    gradient_cond=gradient(
        lambda value: tf.cond(tf.placeholder(tf.bool, []), lambda: value * 2.0, lambda: value * 3.0)
    ),
    gradient_norm=gradient(lambda value: tf.clip_by_global_norm([value], 1.0)[0]),
    gradient_dense=gradient(lambda value: tf.layers.dense(value, 2, activation=tf.nn.relu)),
    gradient_dense_3d=gradient(lambda value: tf.layers.dense(value[None], 2)),
    gradient_batch_matmul=gradient(lambda value: tf.matmul(x(5, 2, 4), tf.tile(value[None], [5, 1, 1]))),
    gradient_reduce_logsumexp=gradient(lambda value: tf.reduce_logsumexp(value, 1)),
    hessians=lambda: tf.hessians(tf.reduce_sum(weights(3) ** 2), tf.trainable_variables()),
)


def unknown(of):
    """A case: the same for a tensor [?, 3] that is computed from a variable."""
    return gradient(lambda value: of(tf.matmul(x(None, 4), value)))


calls(
    unknown_sum=unknown(tf.reduce_sum),
    unknown_sum_axis=unknown(lambda value: tf.reduce_sum(value, 1)),
    unknown_sum_first=unknown(lambda value: tf.reduce_sum(value, 0)),
    unknown_sum_keep=unknown(lambda value: tf.reduce_sum(value, 1, keepdims=True)),
    unknown_mean=unknown(tf.reduce_mean),
    unknown_mean_axis=unknown(lambda value: tf.reduce_mean(value, [1])),
    unknown_mean_first=unknown(lambda value: tf.reduce_mean(value, 0)),
    unknown_max=unknown(lambda value: tf.reduce_max(value, 1)),
    unknown_add=unknown(lambda value: value + x(3)),
    unknown_add_same=unknown(lambda value: value + x(None, 3)),
    unknown_add_scalar=unknown(lambda value: value + 1.0),
    unknown_subtract=unknown(lambda value: 1.0 - value),
    unknown_multiply=unknown(lambda value: value * x(None, 3)),
    unknown_multiply_scalar=unknown(lambda value: value * 2.0),
    unknown_multiply_column=unknown(lambda value: value * x(None, 1)),
    unknown_divide=unknown(lambda value: value / x(None, 3)),
    unknown_divide_scalar=unknown(lambda value: value / 2.0),
    unknown_divide_column=unknown(lambda value: value / tf.reduce_sum(value, 1, keepdims=True)),
    unknown_square=unknown(tf.square),
    unknown_power=unknown(lambda value: value**2),
    unknown_maximum=unknown(lambda value: tf.maximum(value, 0.0)),
    unknown_maximum_same=unknown(lambda value: tf.maximum(value, x(None, 3))),
    unknown_clip=unknown(lambda value: tf.clip_by_value(value, -1, 1)),
    unknown_squared_difference=unknown(lambda value: tf.squared_difference(value, x(None, 3))),
    unknown_relu=unknown(tf.nn.relu),
    unknown_softmax=unknown(tf.nn.softmax),
    unknown_bias=unknown(lambda value: tf.nn.bias_add(value, x(3))),
    unknown_cross_entropy=unknown(
        lambda value: tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=x(None, 3), logits=value))
    ),
    unknown_sparse_cross_entropy=unknown(
        lambda value: tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ints(None), logits=value))
    ),
    unknown_sigmoid_cross_entropy=unknown(
        lambda value: tf.nn.sigmoid_cross_entropy_with_logits(labels=x(None, 3), logits=value)
    ),
    unknown_loss_softmax=unknown(lambda value: tf.losses.softmax_cross_entropy(x(None, 3), value)),
    unknown_loss_sparse=unknown(lambda value: tf.losses.sparse_softmax_cross_entropy(ints(None), value)),
    unknown_loss_mse=unknown(lambda value: tf.losses.mean_squared_error(x(None, 3), value)),
    unknown_dropout=unknown(lambda value: tf.nn.dropout(value, 0.5)),
    unknown_dropout_tensor=unknown(lambda value: tf.nn.dropout(value, x())),
    unknown_dense=unknown(lambda value: tf.layers.dense(value, 2, activation=tf.nn.relu)),
    unknown_dense_3d=unknown(lambda value: tf.layers.dense(tf.reshape(value, [-1, 5, 3]), 2)),
    unknown_conv2d=unknown(lambda value: tf.layers.conv2d(tf.reshape(value, [-1, 4, 4, 3]), 2, 3)),
    unknown_max_pool=unknown(lambda value: tf.layers.max_pooling2d(tf.reshape(value, [-1, 4, 4, 3]), 2, 2)),
    unknown_batch_norm=unknown(
        lambda value: tf.layers.batch_normalization(tf.reshape(value, [-1, 4, 4, 3]), training=True)
    ),
    unknown_batch_norm_2d=unknown(lambda value: tf.layers.batch_normalization(value, training=True)),
    unknown_moments=unknown(lambda value: tf.nn.moments(value, [0])),
    unknown_flatten=unknown(lambda value: tf.layers.flatten(tf.reshape(value, [-1, 4, 4, 3]))),
    unknown_reshape=unknown(lambda value: tf.reshape(value, [-1])),
    unknown_slice=unknown(lambda value: value[:, 1]),
    unknown_last=unknown(lambda value: tf.reshape(value, [-1, 5, 3])[:, -1]),
    unknown_concat=unknown(lambda value: tf.concat([value, x(None, 3)], 1)),
    unknown_stack=unknown(lambda value: tf.stack([value, value], 1)),
    unknown_unstack=unknown(lambda value: tf.unstack(tf.reshape(value, [-1, 5, 3]), axis=1)[0]),
    unknown_split=unknown(lambda value: tf.split(value, 3, 1)[0]),
    unknown_expand=unknown(lambda value: tf.expand_dims(value, 1)),
    unknown_squeeze=unknown(lambda value: tf.squeeze(tf.expand_dims(value, 1), [1])),
    unknown_transpose=unknown(tf.transpose),
    unknown_gather=unknown(lambda value: tf.gather(value, ints(None))),
    unknown_one_hot=unknown(lambda value: tf.reduce_sum(value * tf.one_hot(ints(None), 3), 1)),
    unknown_log_likelihood=unknown(lambda value: -tf.reduce_sum(x(None, 3) * tf.log(tf.nn.softmax(value)), 1)),
    unknown_l2_normalize=unknown(lambda value: tf.nn.l2_normalize(value, 1)),
    unknown_l2_loss=unknown(tf.nn.l2_loss),
    unknown_matmul=unknown(lambda value: tf.matmul(value, value, transpose_b=True)),
    unknown_cond=unknown(lambda value: tf.cond(tf.placeholder(tf.bool, []), lambda: value * 2.0, lambda: value)),
    unknown_lstm=unknown(
        lambda value: tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.BasicLSTMCell(4), tf.reshape(value, [-1, 5, 3]), dtype=tf.float32
        )[0]
    ),
    unknown_lstm_lengths=unknown(
        lambda value: tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.LSTMCell(4), tf.reshape(value, [-1, 5, 3]), ints(None), dtype=tf.float32
        )[0]
    ),
    unknown_gru=unknown(
        lambda value: tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), tf.reshape(value, [-1, 5, 3]), dtype=tf.float32)[0]
    ),
    gradient_map_fn=gradient(lambda value: tf.map_fn(tf.sigmoid, value)),
    gradient_map_two=gradient(lambda value: tf.map_fn(lambda pair: pair[0], (value, value), dtype=tf.float32)),
    gradient_map_pair=gradient(lambda value: tf.map_fn(lambda row: (row, row), value, (tf.float32, tf.float32))),
    gradient_scan=gradient(lambda value: tf.scan(lambda total, row: total + row, value)),
    gradient_foldl=gradient(lambda value: tf.foldl(lambda total, row: total + row, value)),
    gradient_tensor_array=gradient(lambda value: tf.TensorArray(tf.float32, 4).unstack(value).read(1)),
    gradient_tensor_array_write=gradient(lambda value: tf.TensorArray(tf.float32, 4).write(1, value).stack()),
)


def step(optimizer):
    """A case: a step of an optimizer."""
    return lambda: optimizer().minimize(tf.reduce_sum(tf.square(weights(4, 3))), tf.train.get_or_create_global_step())


calls(
    optimizer_sgd=step(lambda: tf.train.GradientDescentOptimizer(0.1)),
    optimizer_momentum=step(lambda: tf.train.MomentumOptimizer(0.1, 0.9)),
    optimizer_adam=step(lambda: tf.train.AdamOptimizer(0.1)),
    optimizer_adagrad=step(lambda: tf.train.AdagradOptimizer(0.1)),
    optimizer_adadelta=step(lambda: tf.train.AdadeltaOptimizer(0.1)),
    optimizer_rmsprop=step(lambda: tf.train.RMSPropOptimizer(0.1)),
    optimizer_rmsprop_centered=step(lambda: tf.train.RMSPropOptimizer(0.1, centered=True)),
    optimizer_ftrl=step(lambda: tf.train.FtrlOptimizer(0.1)),
    optimizer_proximal=step(lambda: tf.train.ProximalGradientDescentOptimizer(0.1)),
    optimizer_decay=step(
        lambda: tf.train.GradientDescentOptimizer(
            tf.train.exponential_decay(0.1, tf.train.get_or_create_global_step(), 100, 0.9)
        )
    ),
    optimizer_sparse=lambda: tf.train.GradientDescentOptimizer(0.1).minimize(
        tf.reduce_sum(tf.nn.embedding_lookup(weights(30, 4), ints(3)))
    ),
    optimizer_adam_sparse=lambda: tf.train.AdamOptimizer(0.1).minimize(
        tf.reduce_sum(tf.nn.embedding_lookup(weights(30, 4), ints(3)))
    ),
)


@call
def optimizer_clipped():
    optimizer = tf.train.AdamOptimizer(0.1)
    pairs = optimizer.compute_gradients(tf.reduce_sum(tf.square(weights(4, 3))))
    optimizer.apply_gradients([(tf.clip_by_norm(gradient, 1.0), variable) for gradient, variable in pairs])


# -- control flow, recurrent networks ---------------------------------------------------------------------------------


def rnn(make, **options):
    return lambda: tf.nn.dynamic_rnn(make(), x(2, 5, 3), dtype=tf.float32, **options)


calls(
    while_loop=lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]),
    cond=lambda: tf.cond(tf.placeholder(tf.bool, []), lambda: tf.constant(1.0), lambda: tf.constant(2.0)),
    case=lambda: tf.case([(tf.placeholder(tf.bool, []), lambda: tf.constant(1.0))], lambda: tf.constant(2.0)),
    map_fn=lambda: tf.map_fn(lambda value: value * 2.0, x(4, 3)),
    scan=lambda: tf.scan(lambda total, value: total + value, x(4, 3)),
    foldl=lambda: tf.foldl(lambda total, value: total + value, x(4, 3)),
    tensor_array=lambda: tf.TensorArray(tf.float32, 3).write(0, x(2)).stack(),
    basic_rnn=rnn(lambda: tf.nn.rnn_cell.BasicRNNCell(4)),
    basic_lstm=rnn(lambda: tf.nn.rnn_cell.BasicLSTMCell(4)),
    lstm=rnn(lambda: tf.nn.rnn_cell.LSTMCell(4)),
    lstm_peepholes=rnn(lambda: tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=3)),
    gru=rnn(lambda: tf.nn.rnn_cell.GRUCell(4)),
    lstm_lengths=lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), x(2, 5, 3), ints(2), dtype=tf.float32),
    lstm_unknown=lambda: tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.BasicLSTMCell(4), x(None, None, 3), ints(None), dtype=tf.float32
    ),
    multi_rnn=rnn(lambda: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4)])),
    dropout_wrapper=rnn(
        lambda: tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=0.5, input_keep_prob=0.5)
    ),
    time_major=rnn(lambda: tf.nn.rnn_cell.GRUCell(4), time_major=True),
    static_rnn=lambda: tf.nn.static_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), [x(2, 3), x(2, 3)], dtype=tf.float32),
    bidirectional=lambda: tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4), x(2, 5, 3), dtype=tf.float32
    ),
    zero_state=lambda: tf.nn.rnn_cell.BasicLSTMCell(4).zero_state(2, tf.float32),
    gradient_lstm=lambda: tf.gradients(
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), x(2, 5, 3), dtype=tf.float32)[0], tf.trainable_variables()
    ),
    gradient_gru=lambda: tf.gradients(
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x(2, 5, 3), dtype=tf.float32)[0], tf.trainable_variables()
    ),
)

# -- images, data, summaries ------------------------------------------------------------------------------------------

calls(
    random_flip=lambda: tf.image.random_flip_left_right(x(8, 8, 3)),
    random_flip_batch=lambda: tf.image.random_flip_left_right(x(4, 8, 8, 3)),
    random_flip_up=lambda: tf.image.random_flip_up_down(x(8, 8, 3)),
    random_brightness=lambda: tf.image.random_brightness(x(8, 8, 3), 0.2),
    random_contrast=lambda: tf.image.random_contrast(x(8, 8, 3), 0.2, 1.8),
    random_saturation=lambda: tf.image.random_saturation(x(8, 8, 3), 0.2, 1.8),
    random_hue=lambda: tf.image.random_hue(x(8, 8, 3), 0.1),
    per_image_standardization=lambda: tf.image.per_image_standardization(x(8, 8, 3)),
    resize_images=lambda: tf.image.resize_images(x(8, 8, 3), [4, 4]),
    resize_bilinear=lambda: tf.image.resize_bilinear(x(2, 8, 8, 3), [4, 4]),
    crop_or_pad=lambda: tf.image.resize_image_with_crop_or_pad(x(8, 8, 3), 10, 6),
    central_crop=lambda: tf.image.central_crop(x(8, 8, 3), 0.5),
    convert_image_dtype=lambda: tf.image.convert_image_dtype(tf.placeholder(tf.uint8, [8, 8, 3]), tf.float32),
    rgb_to_grayscale=lambda: tf.image.rgb_to_grayscale(x(8, 8, 3)),
    decode_jpeg=lambda: tf.image.decode_jpeg(tf.placeholder(tf.string, [])),
    data_shuffle=lambda: tf.data.Dataset.range(10).shuffle(5).batch(2).make_one_shot_iterator().get_next(),
    data_map=lambda: tf.data.Dataset.range(10).map(lambda value: value * 2).make_one_shot_iterator().get_next(),
    data_initializable=lambda: tf.data.Dataset.from_tensor_slices(x(4, 3)).make_initializable_iterator().get_next(),
    string_input_producer=lambda: tf.train.string_input_producer(["a", "b"]),
    shuffle_batch=lambda: tf.train.shuffle_batch([x(3)], 2, 20, 5),
    batch=lambda: tf.train.batch([x(3)], 2),
    queue=lambda: tf.FIFOQueue(5, [tf.float32]).enqueue([x()]),
    random_shuffle_queue=lambda: tf.RandomShuffleQueue(5, 1, [tf.float32], shapes=[[]]).dequeue(),
    summary_scalar=lambda: tf.summary.scalar("a", x()),
    summary_histogram=lambda: tf.summary.histogram("a", x(3)),
    summary_merge=lambda: [tf.summary.scalar("a", x()), tf.summary.merge_all()],
    parse_example=lambda: tf.parse_example(
        tf.placeholder(tf.string, [2]), {"a": tf.FixedLenFeature([3], tf.float32), "b": tf.VarLenFeature(tf.int64)}
    ),
)


# -- graphs of random calls -------------------------------------------------------------------------------------------

LAYERS = [  # each takes and gives [N, 3]
    tf.nn.relu,
    tf.sigmoid,
    tf.nn.softmax,
    tf.square,
    lambda value: tf.layers.dense(value, 3),
    lambda value: tf.layers.dense(value, 3, activation=tf.tanh, use_bias=False),
    lambda value: tf.layers.dropout(value, 0.5, training=True),
    lambda value: tf.nn.dropout(value, 0.9),
    lambda value: tf.layers.batch_normalization(value, training=True),
    lambda value: tf.layers.batch_normalization(tf.reshape(value, [-1, 1, 1, 3]), training=True)[:, 0, 0],
    lambda value: value + tf.random_normal([3]),
    lambda value: value * 2.0 + 1.0,
    lambda value: 1.0 - value,
    lambda value: value / 3.0,
    lambda value: value - tf.reduce_mean(value, 1, keepdims=True),
    lambda value: value / (1e-3 + tf.reduce_sum(tf.abs(value), 1, keepdims=True)),
    lambda value: value - tf.reduce_max(value, 1, keepdims=True),
    lambda value: value - tf.reduce_mean(value),
    lambda value: value * tf.reduce_sum(value, 0),
    lambda value: tf.nn.l2_normalize(value, 1),
    lambda value: tf.clip_by_value(value, -1.0, 1.0),
    lambda value: tf.maximum(value, 0.1),
    lambda value: tf.minimum(value, tf.random_uniform([3])),
    lambda value: tf.concat([value[:, :1], value[:, 1:]], 1),
    lambda value: tf.concat(tf.split(value, 3, 1), 1),
    lambda value: tf.add_n([value, value]),
    lambda value: tf.transpose(tf.transpose(value)),
    lambda value: tf.squeeze(tf.expand_dims(value, 1), 1),
    lambda value: tf.stack(tf.unstack(value, axis=1), 1),
    lambda value: tf.where(value > 0, value, -value),
    lambda value: tf.matmul(value, tf.truncated_normal([3, 3])),
    lambda value: tf.nn.bias_add(value, tf.random_uniform([3], -1.0, 1.0)),
    lambda value: tf.layers.flatten(tf.layers.max_pooling1d(tf.tile(value[:, None], [1, 2, 1]), 2, 2)),
    lambda value: tf.layers.conv1d(value[:, None], 3, 1)[:, 0],
    lambda value: tf.squared_difference(value, tf.random_normal([3])),
    lambda value: tf.pow(tf.abs(value) + 1.0, 2.0),
    lambda value: tf.exp(-value),
    lambda value: tf.log(tf.abs(value) + 1.0),
    lambda value: tf.cond(tf.placeholder(tf.bool, []), lambda: value * 3.0, lambda: tf.nn.dropout(value, 0.5)),
    lambda value: value + tf.one_hot(tf.argmax(value, 1), 3),
    lambda value: value * tf.stop_gradient(value),
]
LOSSES = [
    lambda value: tf.reduce_mean(tf.square(value)),
    lambda value: tf.nn.l2_loss(value),
    lambda value: tf.losses.mean_squared_error(tf.zeros_like(value), value),
    lambda value: tf.losses.softmax_cross_entropy(tf.ones_like(value), value),
    lambda value: tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(tf.zeros_like(value)), logits=value)
    ),
    lambda value: tf.reduce_mean(tf.reduce_sum(value, 1)) + tf.reduce_sum(value) / 2.0,
]
OPTIMIZERS = [
    lambda: tf.train.GradientDescentOptimizer(0.1),
    lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    lambda: tf.train.AdamOptimizer(0.1),
    lambda: tf.train.RMSPropOptimizer(0.1),
    lambda: tf.train.AdagradOptimizer(0.1),
]


def random_graph(number):
    """A case: a network of random layers, a loss and a step of an optimizer."""

    def build():
        draw = random.Random(number)
        pick = lambda choices: choices[int(draw.random() * len(choices))]  # noqa: E731
        value = tf.layers.dense(x(pick([4, None]), 5), 3)
        for _ in range(3 + int(draw.random() * 9)):
            value = pick(LAYERS)(value)
        pick(OPTIMIZERS)().minimize(pick(LOSSES)(value))

    return build


calls(**{"random_graph_{}".format(number): random_graph(number) for number in range(60)})


# -- what is drawn, where more than seeds decides it: in functions of data sets, in order ------------------------------


def elements(dataset):
    """A case: the next element, once the iterator was initialised in the default session."""
    iterator = dataset.make_initializable_iterator()
    tf.get_default_session().run(iterator.initializer)
    return iterator.get_next()


def mapped(function):
    return lambda: elements(tf.data.Dataset.range(5).map(function))


def some(size=50):
    return tf.data.Dataset.range(size)


DRAWS = dict(
    once=lambda: some().map(lambda _: tf.random_uniform([2])).make_one_shot_iterator().get_next(),
    uniform=mapped(lambda _: tf.random_uniform([2])),
    scaled=mapped(lambda _: tf.random_uniform([2], -1, 1) + tf.random_normal([2])),
    dropout=mapped(lambda _: tf.nn.dropout(tf.ones([4]), 0.5)),
    flip=mapped(lambda _: tf.image.random_flip_left_right(tf.reshape(tf.range(12.0), [2, 2, 3]))),
    crop=mapped(lambda _: tf.random_crop(tf.reshape(tf.range(16.0), [4, 4]), [2, 2])),
    calculated=mapped(lambda value: (value * 2 + 1) * tf.random_uniform([], 0, 9, tf.int64)),
    shuffle=lambda: elements(some().shuffle(20)),
    shuffle_seed=lambda: elements(some().shuffle(20, seed=3)),
    shuffle_batch=lambda: elements(some().shuffle(20).batch(4)),
    shuffle_once=lambda: some().shuffle(20).batch(4).make_one_shot_iterator().get_next(),
    shuffle_twice=lambda: elements(some().shuffle(20).map(lambda value: value + 1).shuffle(5).batch(4)),
    shuffle_slices=lambda: elements(tf.data.Dataset.from_tensor_slices(tf.range(40)).shuffle(10).batch(3)),
    shuffle_filtered=lambda: elements(some().filter(lambda value: value % 2 < 1).shuffle(20).batch(4)),
    loop=lambda: tf.while_loop(
        lambda i, _: i < 3, lambda i, total: (i + 1, total + tf.random_uniform([2])), [0, tf.zeros([2])]
    )[1],
    condition=lambda: tf.cond(tf.constant(True), lambda: tf.random_uniform([2]), lambda: tf.random_normal([2])),
    shuffled=lambda: tf.stack([tf.random_shuffle(tf.range(5)), tf.random_shuffle(tf.range(5))]),
    multinomial=lambda: tf.multinomial(tf.zeros([1, 4]), 5),
)


def draws(name):
    """What a case of ``DRAWS`` gives the first three times."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(5)
        made = DRAWS[name]()
        return [session.run(made).tolist() for _ in range(3)]


def program():
    """Numbers that a program prints: losses of a network with dropout, and noise that is made last."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        images = x(None, 8, 8, 1)
        hidden = tf.layers.conv2d(images, 4, 3, activation=tf.nn.relu)
        hidden = tf.layers.batch_normalization(tf.layers.flatten(hidden), training=True)
        hidden = tf.nn.dropout(tf.layers.dense(hidden, 5, activation=tf.nn.relu), 0.5)
        labels = ints(None)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(hidden, 3))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            step = tf.train.AdamOptimizer(0.01).minimize(loss)
        noise = tf.random_uniform([2])
        session.run(tf.global_variables_initializer())
        fed = {images: [[[[(row * column) % 7] for row in range(8)] for column in range(i, i + 8)] for i in range(4)]}
        fed[labels] = [0, 1, 2, 0]
        losses = [float(session.run([loss, step], fed)[0]) for _ in range(3)]
        return losses + session.run(noise).tolist()
