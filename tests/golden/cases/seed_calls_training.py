"""Calls for seed_calls.py: layers, Keras, recurrent networks, decoders, losses, optimizers, whole trainings."""

import numpy as np
import tensorflow as tf
from seed_calls import call, calls, graphs, ints, step, weights, x

contrib = tf.contrib
layers = tf.layers
keras = tf.keras
L = keras.layers

# -- layers -----------------------------------------------------------------------------------------------------------


def images():
    return x(None, 8, 8, 3)


def sequences():
    return x(None, 6, 3)


def trained(of, inputs=images):
    """Cases: a layer; the gradients of what it gives with respect to its variables and what comes in."""

    def gradients():
        given = inputs()
        given = given * tf.get_variable("scale", given.shape[-1:], initializer=tf.ones_initializer())
        tf.gradients(of(given), tf.trainable_variables())

    return lambda: of(inputs()), gradients


def layer(inputs=images, **functions):
    for name, function in functions.items():
        plain, gradients = trained(function, inputs)
        calls(**{"layer_" + name: plain, "layer_gradient_" + name: gradients})


layer(
    conv2d=lambda value: layers.conv2d(value, 4, 3),
    conv2d_same=lambda value: layers.conv2d(value, 4, 3, padding="same", activation=tf.nn.relu),
    conv2d_strides=lambda value: layers.conv2d(value, 4, 3, 2, use_bias=False),
    conv2d_dilated=lambda value: layers.conv2d(value, 4, 3, dilation_rate=2),
    conv2d_regularized=lambda value: layers.conv2d(
        value,
        4,
        3,
        kernel_regularizer=contrib.layers.l2_regularizer(0.1),
        kernel_initializer=tf.truncated_normal_initializer(),
    ),
    conv2d_constrained=lambda value: layers.conv2d(value, 4, 3, bias_initializer=tf.random_normal_initializer()),
    conv2d_leaky=lambda value: layers.conv2d(value, 4, 3, activation=tf.nn.leaky_relu),
    conv2d_batch_norm=lambda value: tf.nn.relu(layers.batch_normalization(layers.conv2d(value, 4, 3), training=True)),
    conv2d_transpose=lambda value: layers.conv2d_transpose(value, 4, 3, 2, padding="same"),
    conv2d_transpose_valid=lambda value: layers.conv2d_transpose(value, 4, 3, use_bias=False),
    separable=lambda value: layers.separable_conv2d(value, 4, 3),
    max_pooling=lambda value: layers.max_pooling2d(value, 2, 2),
    average_pooling=lambda value: layers.average_pooling2d(value, 2, 2, "same"),
    flatten=layers.flatten,
    flatten_dense=lambda value: layers.dense(layers.flatten(value), 4),
    dense=lambda value: layers.dense(value, 4, activation=tf.nn.relu),
    dropout=lambda value: layers.dropout(value, 0.4, training=True),
    dropout_off=lambda value: layers.dropout(value, 0.4),
    dropout_tensor=lambda value: layers.dropout(value, 0.4, training=tf.placeholder(tf.bool, [])),
    dropout_default=lambda value: layers.dropout(value, 0.4, training=tf.placeholder_with_default(False, [])),
    dropout_noise=lambda value: layers.dropout(value, 0.4, noise_shape=[None, 1, 1, 3], training=True),
    batch_norm=lambda value: layers.batch_normalization(value, training=True),
    batch_norm_inference=lambda value: layers.batch_normalization(value),
    batch_norm_tensor=lambda value: layers.batch_normalization(value, training=tf.placeholder(tf.bool, [])),
    batch_norm_first=lambda value: layers.batch_normalization(value, 1, training=True),
    batch_norm_plain=lambda value: layers.batch_normalization(value, fused=False, training=True),
    batch_norm_plain_tensor=lambda value: layers.batch_normalization(
        value, fused=False, training=tf.placeholder(tf.bool, [])
    ),
    batch_norm_no_scale=lambda value: layers.batch_normalization(value, scale=False, center=False, training=True),
    batch_norm_renorm=lambda value: layers.batch_normalization(value, renorm=True, training=True),
    batch_norm_virtual=lambda value: layers.batch_normalization(
        tf.reshape(value, [4, 8, 8, 3]), virtual_batch_size=2, training=True
    ),
    residual=lambda value: value + layers.conv2d(value, 3, 3, padding="same"),
    global_pooling=lambda value: layers.dense(tf.reduce_mean(value, [1, 2]), 4),
    global_max=lambda value: tf.reduce_max(value, [1, 2]),
    inception=lambda value: tf.concat(
        [
            layers.conv2d(value, 2, 1),
            layers.conv2d(value, 2, 3, padding="same"),
            layers.max_pooling2d(value, 3, 1, "same"),
        ],
        3,
    ),
    squeeze_excite=lambda value: (
        value * layers.dense(tf.reduce_mean(value, [1, 2], keepdims=True), 3, activation=tf.nn.sigmoid)
    ),
    upsample=lambda value: tf.image.resize_images(layers.conv2d(value, 4, 3, padding="same"), [16, 16]),
    upsample_nearest=lambda value: tf.image.resize_nearest_neighbor(value, [16, 16]),
    pad_conv=lambda value: layers.conv2d(tf.pad(value, [[0, 0], [1, 1], [1, 1], [0, 0]]), 4, 3),
    lrn=lambda value: tf.nn.lrn(value, 4, 1.0, 0.001 / 9.0, 0.75),
    instance_norm=lambda value: contrib.layers.instance_norm(value),
    layer_norm=lambda value: contrib.layers.layer_norm(value),
    group_norm=lambda value: contrib.layers.group_norm(value, 3),
    contrib_conv=lambda value: contrib.layers.conv2d(value, 4, 3),
    contrib_conv_norm=lambda value: contrib.layers.conv2d(
        value, 4, 3, normalizer_fn=contrib.layers.batch_norm, normalizer_params={"is_training": True}
    ),
    contrib_conv_inference=lambda value: contrib.layers.conv2d(
        value, 4, 3, normalizer_fn=contrib.layers.batch_norm, normalizer_params={"is_training": False, "scale": True}
    ),
    contrib_transpose=lambda value: contrib.layers.conv2d_transpose(value, 4, 3, 2),
    contrib_separable=lambda value: contrib.layers.separable_conv2d(value, 4, 3, 1),
    contrib_separable_depth=lambda value: contrib.layers.separable_conv2d(value, None, 3, 1),
    contrib_in_plane=lambda value: contrib.layers.conv2d_in_plane(value, 3),
    contrib_flatten=lambda value: contrib.layers.fully_connected(contrib.layers.flatten(value), 4),
    contrib_dropout=lambda value: contrib.layers.dropout(value, 0.5),
    contrib_softmax=lambda value: contrib.layers.softmax(value),
    contrib_maxout=lambda value: contrib.layers.maxout(contrib.layers.conv2d(value, 4, 3), 2),
    contrib_unit_norm=lambda value: contrib.layers.unit_norm(value, 3),
    contrib_spatial_softmax=lambda value: contrib.layers.spatial_softmax(value),
    contrib_spatial_softmax_first=lambda value: contrib.layers.spatial_softmax(value, data_format="NCHW"),
    contrib_max_pool=lambda value: contrib.layers.max_pool2d(value, 2),
    contrib_repeat=lambda value: contrib.layers.repeat(value, 2, contrib.layers.conv2d, 4, 3),
    contrib_batch_norm_tensor=lambda value: contrib.layers.batch_norm(value, is_training=tf.placeholder(tf.bool, [])),
    contrib_batch_norm_fused=lambda value: contrib.layers.batch_norm(value, fused=True, scale=True),
    contrib_batch_norm_now_tensor=lambda value: contrib.layers.batch_norm(
        value, is_training=tf.placeholder(tf.bool, []), updates_collections=None
    ),
    contrib_batch_norm_now_plain=lambda value: contrib.layers.batch_norm(
        value, is_training=tf.placeholder(tf.bool, []), updates_collections=None, fused=False, scale=True
    ),
    contrib_batch_norm_now_flat=lambda value: contrib.layers.batch_norm(
        tf.reduce_mean(value, [1, 2]), is_training=tf.placeholder(tf.bool, []), updates_collections=None, center=False
    ),
    contrib_batch_norm_now_inference=lambda value: contrib.layers.batch_norm(
        value, is_training=False, updates_collections=None
    ),
    contrib_batch_norm_plain=lambda value: contrib.layers.batch_norm(value, fused=False),
    contrib_batch_norm_plain_flat=lambda value: contrib.layers.batch_norm(tf.reduce_mean(value, [1, 2]), fused=False),
    contrib_batch_norm_others=lambda value: contrib.layers.batch_norm(
        value, is_training=tf.placeholder(tf.bool, []), updates_collections="other", fused=False
    ),
    contrib_batch_norm_first=lambda value: contrib.layers.batch_norm(
        value[:, :5, :5], data_format="NCHW", fused=False, updates_collections=None
    ),
    contrib_batch_norm_debias=lambda value: contrib.layers.batch_norm(value, zero_debias_moving_mean=True),
    contrib_batch_norm_weights=lambda value: contrib.layers.batch_norm(value, batch_weights=tf.ones([4])),
    contrib_batch_norm_renorm=lambda value: contrib.layers.batch_norm(value, renorm=True),
    nn_conv2d=lambda value: tf.nn.conv2d(value, tf.get_variable("v", [3, 3, 3, 4]), [1, 1, 1, 1], "SAME"),
    nn_conv2d_transpose=lambda value: tf.nn.conv2d_transpose(
        value, tf.get_variable("v", [3, 3, 4, 3]), tf.stack([tf.shape(value)[0], 16, 16, 4]), [1, 2, 2, 1]
    ),
    nn_depthwise=lambda value: tf.nn.depthwise_conv2d(value, tf.get_variable("v", [3, 3, 3, 2]), [1, 1, 1, 1], "SAME"),
    nn_separable=lambda value: tf.nn.separable_conv2d(
        value, tf.get_variable("v", [3, 3, 3, 2]), tf.get_variable("w", [1, 1, 6, 4]), [1, 1, 1, 1], "SAME"
    ),
    nn_atrous=lambda value: tf.nn.atrous_conv2d(value, tf.get_variable("v", [3, 3, 3, 4]), 2, "SAME"),
    nn_pool=lambda value: tf.nn.pool(value, [2, 2], "MAX", "SAME"),
    nn_argmax=lambda value: tf.nn.max_pool_with_argmax(value, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[0],
)
layer(
    lambda: x(4, 6, 6, 4),
    group_norm_known=lambda value: contrib.layers.group_norm(value, 2),
    group_norm_plain=lambda value: contrib.layers.group_norm(value, 2, scale=False, center=False),
    group_norm_close=lambda value: contrib.layers.group_norm(value, 2, mean_close_to_zero=True),
    group_norm_first=lambda value: contrib.layers.group_norm(value, 2, channels_axis=1, reduction_axes=[2, 3]),
    layer_norm_square=contrib.layers.layer_norm,
)
calls(
    with_same_shape=lambda: contrib.framework.with_same_shape(x(None, 3), x(None, 3)),
    with_same_shape_known=lambda: contrib.framework.with_same_shape(x(4, 3), x(None, 3)),
    with_shape_partial=lambda: contrib.framework.with_shape(tf.TensorShape([None, 3]), x(None, 3)),
    with_shape_scalar=lambda: contrib.framework.with_shape([], x()),
    with_shape_any_scalar=lambda: contrib.framework.with_shape([], tf.placeholder(tf.float32)),
    with_shape_tensor=lambda: contrib.framework.with_shape(tf.shape(x(4, 3)), x(4, 3)),
)
layer(
    sequences,
    conv1d=lambda value: layers.conv1d(value, 4, 3, padding="same"),
    conv1d_causal=lambda value: layers.conv1d(tf.pad(value, [[0, 0], [2, 0], [0, 0]]), 4, 3),
    conv1d_dilated=lambda value: layers.conv1d(value, 4, 3, dilation_rate=2, padding="same"),
    separable1d=lambda value: layers.separable_conv1d(value, 4, 3),
    max_pooling1d=lambda value: layers.max_pooling1d(value, 2, 2),
    average_pooling1d=lambda value: layers.average_pooling1d(value, 2, 2),
    dense_3d=lambda value: layers.dense(value, 4),
    dense_last=lambda value: layers.dense(value[:, -1], 4),
    batch_norm_3d=lambda value: layers.batch_normalization(value, training=True),
    nn_conv1d=lambda value: tf.nn.conv1d(value, tf.get_variable("v", [3, 3, 4]), 1, "SAME"),
    max_over_time=lambda value: tf.reduce_max(layers.conv1d(value, 4, 3), 1),
    text_cnn=lambda value: tf.nn.max_pool(
        layers.conv2d(tf.expand_dims(value, -1), 4, [2, 3], activation=tf.nn.relu), [1, 5, 1, 1], [1, 1, 1, 1], "VALID"
    ),
    attention=lambda value: tf.matmul(
        tf.nn.softmax(tf.matmul(layers.dense(value, 4), layers.dense(value, 4), transpose_b=True) / 2.0),
        layers.dense(value, 4),
    ),
    attention_heads=lambda value: tf.concat(tf.split(layers.dense(value, 4), 2, axis=2), 0),
    attention_additive=lambda value: tf.reduce_sum(
        value * tf.nn.softmax(tf.reduce_sum(tf.tanh(layers.dense(value, 4)), 2, keepdims=True), 1), 1
    ),
    layer_norm_last=lambda value: contrib.layers.layer_norm(value, begin_norm_axis=-1, begin_params_axis=-1),
    position=lambda value: value + tf.get_variable("p", [6, 3])[None],
    fully_connected_3d=lambda value: contrib.layers.fully_connected(value, 4),
)
layer(
    lambda: x(None, 6, 6, 6, 3),
    conv3d=lambda value: layers.conv3d(value, 4, 3),
    conv3d_transpose=lambda value: layers.conv3d_transpose(value, 4, 3, 2),
    max_pooling3d=lambda value: layers.max_pooling3d(value, 2, 2),
    average_pooling3d=lambda value: layers.average_pooling3d(value, 2, 2),
    batch_norm_5d=lambda value: layers.batch_normalization(value, training=True),
    contrib_conv3d=lambda value: contrib.layers.conv3d(value, 4, 3),
)
layer(
    lambda: x(None, 6, 6, 6, 3),
    batch_norm_5d_inference=lambda value: layers.batch_normalization(value),
    batch_norm_5d_tensor=lambda value: layers.batch_normalization(value, training=tf.placeholder(tf.bool, [])),
    batch_norm_5d_first=lambda value: layers.batch_normalization(value, axis=1, training=True),
    keras_batch_norm_5d=lambda value: L.BatchNormalization()(value, training=True),
)
layer(
    lambda: x(4, 8, 8, 3),
    batch_norm_virtual_inference=lambda value: layers.batch_normalization(value, virtual_batch_size=2),
    batch_norm_virtual_tensor=lambda value: layers.batch_normalization(
        value, virtual_batch_size=2, training=tf.placeholder(tf.bool, [])
    ),
    contrib_spatial_softmax_known=lambda value: contrib.layers.spatial_softmax(value, temperature=0.5),
)
layer(
    lambda: x(4, 5, 3),
    contrib_unit_norm_first=lambda value: contrib.layers.unit_norm(value, 0),
    contrib_unit_norm_last=lambda value: contrib.layers.unit_norm(value, 2),
    known_regularized_keras_l1=lambda value: layers.dense(value, 2, kernel_regularizer=keras.regularizers.l1(0.1)),
    known_regularized_keras=lambda value: layers.dense(value, 2, kernel_regularizer=keras.regularizers.l1_l2(0.1, 0.2)),
    keras_layer_norm_axis=lambda value: L.LayerNormalization(axis=1)(value),
    keras_layer_norm_axes=lambda value: L.LayerNormalization(axis=[1, 2], center=False)(value),
    keras_dot_first=lambda value: L.Dot([1, 1])([value, value]),
    keras_dot_vectors=lambda value: L.Dot(1, normalize=True)([value[:, 0], value[:, 1]]),
    keras_dot_vector=lambda value: L.Dot([2, 1])([value, value[:, 0]]),
    keras_dot_vector_first=lambda value: L.Dot([1, 2])([value[:, 0], value]),
    keras_attention_scaled=lambda value: L.Attention(use_scale=True)([value, value]),
    keras_attention_additive=lambda value: L.AdditiveAttention()([value, value]),
    keras_locally_1d=lambda value: L.LocallyConnected1D(4, 2)(value),
)
layer(
    lambda: x(4, 3),
    known_dense=lambda value: layers.dense(value, 4),
    known_batch_norm=lambda value: layers.batch_normalization(value, training=True),
    known_batch_norm_inference=lambda value: layers.batch_normalization(value),
    known_batch_norm_tensor=lambda value: layers.batch_normalization(value, training=tf.placeholder(tf.bool, [])),
    known_contrib_norm=lambda value: contrib.layers.batch_norm(value),
    known_contrib_norm_scale=lambda value: contrib.layers.batch_norm(value, scale=True, is_training=False),
    known_fully_connected=lambda value: contrib.layers.fully_connected(value, 4),
    known_linear=lambda value: contrib.layers.linear(value, 4),
    known_layer_norm=lambda value: contrib.layers.layer_norm(value),
    known_highway=lambda value: (
        layers.dense(value, 3, tf.sigmoid) * layers.dense(value, 3, tf.nn.relu)
        + (1.0 - layers.dense(value, 3, tf.sigmoid)) * value
    ),
    known_prelu=lambda value: keras.layers.PReLU()(value),
    known_embedding=lambda value: contrib.layers.embed_sequence(ints(4, 5), 10, 3),
    known_dense_reused=lambda value: _reused(value),
    known_regularized=lambda value: layers.dense(value, 4, kernel_regularizer=contrib.layers.l1_regularizer(0.1)),
    known_regularized_both=lambda value: layers.dense(
        value, 4, kernel_regularizer=contrib.layers.l1_l2_regularizer(0.1, 0.1)
    ),
)


def _reused(value):
    with tf.variable_scope("a"):
        layers.dense(value, 4, name="d")
    with tf.variable_scope("a", reuse=True):
        return layers.dense(value, 4, name="d")


# -- Keras ------------------------------------------------------------------------------------------------------------

layer(
    keras_conv2d=lambda value: L.Conv2D(4, 3)(value),
    keras_conv2d_relu=lambda value: L.Conv2D(4, 3, padding="same", activation="relu")(value),
    keras_conv2d_transpose=lambda value: L.Conv2DTranspose(4, 3, strides=2)(value),
    keras_separable=lambda value: L.SeparableConv2D(4, 3)(value),
    keras_depthwise=lambda value: L.DepthwiseConv2D(3)(value),
    keras_max_pooling=lambda value: L.MaxPooling2D()(value),
    keras_average_pooling=lambda value: L.AveragePooling2D()(value),
    keras_global_max=lambda value: L.GlobalMaxPooling2D()(value),
    keras_global_average=lambda value: L.GlobalAveragePooling2D()(value),
    keras_flatten=lambda value: L.Dense(4)(L.Flatten()(value)),
    keras_batch_norm=lambda value: L.BatchNormalization()(value, training=True),
    keras_batch_norm_phase=lambda value: L.BatchNormalization()(value),
    keras_dropout=lambda value: L.Dropout(0.5)(value, training=True),
    keras_dropout_phase=lambda value: L.Dropout(0.5)(value),
    keras_spatial_dropout=lambda value: L.SpatialDropout2D(0.5)(value, training=True),
    keras_noise=lambda value: L.GaussianNoise(0.5)(value, training=True),
    keras_gaussian_dropout=lambda value: L.GaussianDropout(0.5)(value, training=True),
    keras_alpha_dropout=lambda value: L.AlphaDropout(0.5)(value, training=True),
    keras_zero_padding=lambda value: L.ZeroPadding2D()(value),
    keras_cropping=lambda value: L.Cropping2D(1)(value),
    keras_upsampling=lambda value: L.UpSampling2D()(value),
    keras_upsampling_bilinear=lambda value: L.UpSampling2D(interpolation="bilinear")(value),
    keras_reshape=lambda value: L.Reshape([64, 3])(value),
    keras_permute=lambda value: L.Permute([2, 1, 3])(value),
    keras_activation=lambda value: L.Activation("softmax")(value),
    keras_leaky=lambda value: L.LeakyReLU()(value),
    keras_elu=lambda value: L.ELU()(value),
    keras_relu=lambda value: L.ReLU(6.0)(value),
    keras_softmax=lambda value: L.Softmax()(value),
    keras_prelu=lambda value: L.PReLU(shared_axes=[1, 2])(value),
    keras_lambda=lambda value: L.Lambda(lambda inside: inside * 2.0)(value),
    keras_add=lambda value: L.Add()([value, value]),
    keras_multiply=lambda value: L.Multiply()([value, value]),
    keras_concatenate=lambda value: L.Concatenate()([value, value]),
    keras_maximum=lambda value: L.Maximum()([value, value]),
    keras_average=lambda value: L.Average()([value, value]),
    keras_layer_norm=lambda value: L.LayerNormalization()(value),
    keras_locally=lambda value: L.LocallyConnected2D(4, 3)(value),
    keras_regularized=lambda value: L.Conv2D(4, 3, kernel_regularizer=keras.regularizers.l2(0.1))(value),
    keras_regularized_l1=lambda value: L.Conv2D(4, 3, kernel_regularizer=keras.regularizers.l1_l2(0.1, 0.1))(value),
    keras_activity=lambda value: L.Conv2D(4, 3, activity_regularizer=keras.regularizers.l1(0.1))(value),
    keras_initializer=lambda value: L.Conv2D(4, 3, kernel_initializer="he_normal", bias_initializer="ones")(value),
)
layer(
    sequences,
    keras_dense=lambda value: L.Dense(4, activation="relu")(value),
    keras_conv1d=lambda value: L.Conv1D(4, 3)(value),
    keras_conv1d_causal=lambda value: L.Conv1D(4, 3, padding="causal")(value),
    keras_lstm=lambda value: L.LSTM(4)(value),
    keras_lstm_sequences=lambda value: L.LSTM(4, return_sequences=True)(value),
    keras_lstm_dropout=lambda value: L.LSTM(4, dropout=0.3, recurrent_dropout=0.3)(value, training=True),
    keras_lstm_unrolled=lambda value: L.LSTM(4, unroll=True)(value),
    keras_gru=lambda value: L.GRU(4)(value),
    keras_simple=lambda value: L.SimpleRNN(4)(value),
    keras_bidirectional=lambda value: L.Bidirectional(L.LSTM(4))(value),
    keras_masking=lambda value: L.LSTM(4)(L.Masking()(value)),
    keras_cells=lambda value: L.RNN([L.LSTMCell(4), L.GRUCell(3)])(value),
    keras_time=lambda value: L.TimeDistributed(L.Dense(4))(value),
    keras_repeat=lambda value: L.RepeatVector(3)(L.Flatten()(value)),
    keras_global_1d=lambda value: L.GlobalMaxPooling1D()(value),
    keras_pooling_1d=lambda value: L.MaxPooling1D()(value),
    keras_embedding=lambda value: L.Embedding(10, 3)(ints(None, 5)) + tf.reduce_sum(value),
    keras_embedding_mask=lambda value: L.LSTM(4)(L.Embedding(10, 3, mask_zero=True)(ints(None, 5))),
    keras_dot=lambda value: L.Dot([2, 2])([value, value]),
    keras_attention=lambda value: L.Attention()([value, value]),
)


def model(loss="mse", optimizer="sgd", metrics=None, layers=(), shape=(8,), outputs=3, fit=True):
    """A case: a Keras model, and all that it makes when it is trained and asked."""

    def build():
        given = keras.Input(shape)
        value = given
        for one in layers:
            value = one()(value)
        made = keras.Model(given, L.Dense(outputs)(value))
        made.compile(optimizer() if callable(optimizer) else optimizer, loss, metrics)
        if fit:
            width = 1 if loss == "sparse_categorical_crossentropy" else outputs
            arrays = np.ones((4,) + tuple(shape), np.float32), np.ones([4, width], np.float32)
            made.fit(*arrays, epochs=1, batch_size=2, verbose=0)
            made.evaluate(*arrays, verbose=0)
            made.predict(arrays[0])

    return build


calls(
    model_compiled=model(fit=False),
    model_plain=model(),
    model_adam=model(optimizer="adam"),
    model_rmsprop=model(optimizer="rmsprop"),
    model_adagrad=model(optimizer="adagrad"),
    model_momentum=model(optimizer=lambda: keras.optimizers.SGD(0.1, momentum=0.9)),
    model_tf_optimizer=model(optimizer=lambda: tf.train.AdamOptimizer(0.1)),
    model_dropout=model(layers=[lambda: L.Dense(5, activation="relu"), lambda: L.Dropout(0.5)]),
    model_batch_norm=model(layers=[lambda: L.BatchNormalization()]),
    model_crossentropy=model("categorical_crossentropy", metrics=["accuracy"]),
    model_sparse=model("sparse_categorical_crossentropy", metrics=["accuracy"]),
    model_binary=model("binary_crossentropy", metrics=["accuracy"], outputs=1),
    model_mae=model("mae", metrics=["mse"]),
    model_conv=model(shape=(8, 8, 3), layers=[lambda: L.Conv2D(4, 3), lambda: L.MaxPooling2D(), lambda: L.Flatten()]),
    model_lstm=model(shape=(6, 3), layers=[lambda: L.LSTM(4)]),
)


@call
def model_sequential():
    made = keras.Sequential(
        [L.Dense(4, activation="relu", input_shape=(3,)), L.Dropout(0.5), L.Dense(2, activation="softmax")]
    )
    made.compile("adam", "sparse_categorical_crossentropy", ["accuracy"])
    made.fit(np.ones([4, 3], np.float32), np.ones([4]), batch_size=2, verbose=0)


@call
def model_sequential_deferred():
    made = keras.Sequential([L.Flatten(), L.Dense(4, activation="relu"), L.Dense(2)])
    made(x(None, 8, 8))


@call
def model_regularized():
    given = keras.Input([6])
    hidden = L.BatchNormalization()(L.Dense(8, activation="relu", kernel_initializer="he_normal")(given))
    made = keras.Model(given, L.Dense(1, kernel_regularizer=keras.regularizers.l2(0.01))(hidden))
    made.compile(keras.optimizers.SGD(lr=0.05, momentum=0.9), "mse")
    made.train_on_batch(np.ones([8, 6], np.float32), np.ones([8, 1], np.float32))


@call
def model_functional_in_graph():
    """A Keras network as a part of a TF1 program."""
    value = x(None, 8, 8, 3)
    for one in (L.Conv2D(4, 3, activation="relu"), L.BatchNormalization(), L.Flatten(), L.Dropout(0.5), L.Dense(3)):
        value = one(value)
    loss = tf.reduce_mean(keras.losses.categorical_crossentropy(x(None, 3), value, from_logits=True))
    tf.train.AdamOptimizer(0.1).minimize(loss)


# -- recurrent networks and decoders ----------------------------------------------------------------------------------

cells = tf.nn.rnn_cell


def dynamic(make, shape=(None, 5, 3), **options):
    """Cases: a cell along a sequence, and the gradients of that."""

    def build(gradients=False):
        if gradients:
            given = tf.get_variable("given", [2, 5, 3]) if None not in shape else x(*shape)
        else:
            given = x(*shape)
        made, _ = tf.nn.dynamic_rnn(make(), given, dtype=tf.float32, **options)
        if gradients:
            tf.gradients(tf.reduce_mean(made), tf.trainable_variables())

    return build, lambda: build(True)


def rnn(**functions):
    for name, made in functions.items():
        plain, gradients = made if isinstance(made, tuple) else dynamic(made)
        calls(**{"rnn_" + name: plain, "rnn_gradient_" + name: gradients})


rnn(
    basic=lambda: cells.BasicRNNCell(4),
    basic_lstm=lambda: cells.BasicLSTMCell(4),
    basic_lstm_flat=lambda: cells.BasicLSTMCell(4, state_is_tuple=False),
    basic_lstm_known=dynamic(lambda: cells.BasicLSTMCell(4), (2, 5, 3)),
    lstm=lambda: cells.LSTMCell(4),
    lstm_initializer=lambda: cells.LSTMCell(4, initializer=tf.orthogonal_initializer()),
    lstm_peepholes=lambda: cells.LSTMCell(4, use_peepholes=True, cell_clip=1.0),
    lstm_projection=lambda: cells.LSTMCell(4, num_proj=3, proj_clip=1.0),
    gru=lambda: cells.GRUCell(4),
    gru_known=dynamic(lambda: cells.GRUCell(4), (2, 5, 3)),
    gru_initializer=lambda: cells.GRUCell(4, kernel_initializer=tf.orthogonal_initializer()),
    multi=lambda: cells.MultiRNNCell([cells.BasicLSTMCell(4), cells.BasicLSTMCell(4)]),
    multi_flat=lambda: cells.MultiRNNCell([cells.GRUCell(4), cells.GRUCell(4)], state_is_tuple=False),
    residual=lambda: cells.ResidualWrapper(cells.GRUCell(3)),
    device=lambda: cells.DeviceWrapper(cells.GRUCell(3), "/cpu:0"),
    dropout_output=lambda: cells.DropoutWrapper(cells.BasicLSTMCell(4), output_keep_prob=0.5),
    dropout_state=lambda: cells.DropoutWrapper(cells.BasicLSTMCell(4), 0.5, 0.5, 0.5),
    dropout_tensor=lambda: cells.DropoutWrapper(cells.GRUCell(4), output_keep_prob=x()),
    dropout_variational=lambda: cells.DropoutWrapper(
        cells.GRUCell(4), 0.5, 0.5, 0.5, variational_recurrent=True, input_size=3, dtype=tf.float32
    ),
    dropout_multi=lambda: cells.MultiRNNCell(
        [cells.DropoutWrapper(cells.BasicLSTMCell(4), output_keep_prob=0.5) for _ in range(2)]
    ),
    lengths=dynamic(lambda: cells.BasicLSTMCell(4), (2, 5, 3), sequence_length=[3, 4]),
    lengths_gru=dynamic(lambda: cells.GRUCell(4), (2, 5, 3), sequence_length=[3, 4]),
    time=dynamic(lambda: cells.GRUCell(4), time_major=True),
    swap=dynamic(lambda: cells.GRUCell(4), swap_memory=True),
    any_time=dynamic(lambda: cells.BasicLSTMCell(4), (None, None, 3)),
    contrib_lstm=lambda: contrib.rnn.BasicLSTMCell(4, forget_bias=0.0),
    contrib_layer_norm=lambda: contrib.rnn.LayerNormBasicLSTMCell(4, dropout_keep_prob=0.5),
    contrib_block=lambda: contrib.rnn.LSTMBlockCell(4),
    contrib_block_gru=lambda: contrib.rnn.GRUBlockCellV2(4),
    contrib_coupled=lambda: contrib.rnn.CoupledInputForgetGateLSTMCell(4),
    contrib_attention=lambda: contrib.rnn.AttentionCellWrapper(cells.BasicLSTMCell(4), 3, state_is_tuple=True),
    contrib_input=lambda: contrib.rnn.InputProjectionWrapper(cells.GRUCell(4), 3),
    contrib_output=lambda: contrib.rnn.OutputProjectionWrapper(cells.GRUCell(4), 3),
    contrib_ugrnn=lambda: contrib.rnn.UGRNNCell(4),
    contrib_nas=lambda: contrib.rnn.NASCell(4),
    contrib_independent=lambda: contrib.rnn.IndRNNCell(4),
    contrib_sru=lambda: contrib.rnn.SRUCell(3),
    contrib_glstm=lambda: contrib.rnn.GLSTMCell(4, number_of_groups=1),
    contrib_highway=lambda: contrib.rnn.HighwayWrapper(cells.GRUCell(3)),
)


def static(make, **options):
    def build(gradients=False):
        given = [x(None, 3) for _ in range(3)]
        made = make(given)
        if gradients:
            tf.gradients(made[0][-1], tf.trainable_variables())

    return build, lambda: build(True)


rnn(
    static=static(lambda given: tf.nn.static_rnn(cells.BasicLSTMCell(4), given, dtype=tf.float32)),
    static_gru=static(lambda given: tf.nn.static_rnn(cells.GRUCell(4), given, dtype=tf.float32)),
    static_lengths=static(
        lambda given: tf.nn.static_rnn(cells.GRUCell(4), given, dtype=tf.float32, sequence_length=ints(None))
    ),
    static_state=static(lambda given: tf.nn.static_rnn(cells.GRUCell(4), given, initial_state=x(None, 4))),
    static_bidirectional=static(
        lambda given: tf.nn.static_bidirectional_rnn(
            cells.BasicLSTMCell(4), cells.BasicLSTMCell(4), given, dtype=tf.float32
        )
    ),
    static_unstacked=static(
        lambda given: contrib.rnn.static_rnn(cells.BasicLSTMCell(4), tf.unstack(x(None, 5, 3), 5, 1), dtype=tf.float32)
    ),
    bidirectional=static(
        lambda given: tf.nn.bidirectional_dynamic_rnn(
            cells.LSTMCell(4), cells.LSTMCell(4), x(None, 5, 3), ints(None), dtype=tf.float32
        )
    ),
    bidirectional_concat=static(
        lambda given: [
            tf.unstack(
                tf.concat(
                    tf.nn.bidirectional_dynamic_rnn(
                        cells.GRUCell(4), cells.GRUCell(4), x(None, 5, 3), dtype=tf.float32
                    )[0],
                    2,
                ),
                axis=1,
            )
        ]
    ),
    bidirectional_stack=static(
        lambda given: contrib.rnn.stack_bidirectional_dynamic_rnn(
            [cells.GRUCell(4)], [cells.GRUCell(4)], x(None, 5, 3), dtype=tf.float32
        )
    ),
    fused_block=static(lambda given: [[contrib.rnn.LSTMBlockFusedCell(4)(x(5, 2, 3), dtype=tf.float32)[0]]]),
    raw=static(lambda given: [[_raw()]]),
)


def _raw():
    cell = cells.GRUCell(4)
    inputs = tf.TensorArray(tf.float32, 5).unstack(x(5, 2, 3))

    def loop(time, output, state, _):
        state = cell.zero_state(2, tf.float32) if output is None else state
        finished = time >= ints(2)
        given = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([2, 3]), lambda: inputs.read(time))
        return finished, given, state, output, None

    return tf.nn.raw_rnn(cell, loop)[0].stack()


calls(
    rnn_zero_state_unknown=lambda: cells.MultiRNNCell([cells.BasicLSTMCell(4), cells.GRUCell(4)]).zero_state(
        tf.shape(x(None))[0], tf.float32
    ),
    rnn_call=lambda: cells.BasicLSTMCell(4)(x(None, 3), cells.LSTMStateTuple(x(None, 4), x(None, 4))),
    rnn_loop=lambda: _unrolled(),
    rnn_last=lambda: layers.dense(
        tf.transpose(tf.nn.dynamic_rnn(cells.BasicLSTMCell(4), x(None, 5, 3), dtype=tf.float32)[0], [1, 0, 2])[-1], 3
    ),
    rnn_cudnn_compatible=lambda: tf.nn.dynamic_rnn(
        contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4), x(None, 5, 3), dtype=tf.float32
    ),
)


def _unrolled():
    """The tutorial of language models: steps that are made one by one, in one scope."""
    cell = cells.MultiRNNCell([cells.BasicLSTMCell(4) for _ in range(2)])
    state = cell.zero_state(2, tf.float32)
    given = tf.nn.dropout(x(2, 5, 4), 0.5)
    with tf.variable_scope("RNN"):
        for time in range(5):
            if time > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(given[:, time, :], state)
    loss = tf.reduce_sum(output)
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(gradients, variables))


def decoder(helper=None, attention=None, beam=None, gradients=False, **options):
    """A case: a decoder of sequences."""

    def build():
        seq2seq = contrib.seq2seq
        embedding = tf.get_variable("embedding", [10, 3])
        cell = cells.BasicLSTMCell(4)
        batch = 2
        if attention is not None:
            memory = x(2, 5, 6)
            if beam:
                memory = seq2seq.tile_batch(memory, beam)
            cell = seq2seq.AttentionWrapper(cell, attention(memory), attention_layer_size=4, **options)
        project = layers.Dense(10) if not gradients else layers.Dense(10, use_bias=False)
        if beam:
            state = cell.zero_state(batch * beam, tf.float32)
            made = seq2seq.BeamSearchDecoder(cell, embedding, [1, 1], 2, state, beam, project)
        else:
            state = cell.zero_state(batch, tf.float32)
            made = seq2seq.BasicDecoder(cell, helper(embedding), state, project)
        outputs, _, _ = seq2seq.dynamic_decode(made, maximum_iterations=7)
        if gradients:
            loss = seq2seq.sequence_loss(outputs.rnn_output, ints(2, None), x(2, None))
            tf.train.AdamOptimizer(0.1).minimize(loss)

    return build


def training_helper(embedding):
    return contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, ints(2, 5)), [4, 5])


def _sampled_batch():
    batch = tf.placeholder(tf.int32, [])
    _decoded(lambda embedding: contrib.seq2seq.SampleEmbeddingHelper(embedding, tf.fill([batch], 1), 2), batch)


def _scheduled_batch():
    batch = tf.placeholder(tf.int32, [])
    _decoded(
        lambda embedding: contrib.seq2seq.ScheduledEmbeddingTrainingHelper(
            tf.nn.embedding_lookup(embedding, ints(None, 5)), tf.fill([batch], 3), embedding, x()
        ),
        batch,
    )


def _decoded(helper, batch):
    cell, embedding = cells.BasicLSTMCell(4), tf.get_variable("embedding", [10, 3])
    state = cell.zero_state(batch, tf.float32)
    made = contrib.seq2seq.BasicDecoder(cell, helper(embedding), state, layers.Dense(10))
    contrib.seq2seq.dynamic_decode(made, maximum_iterations=7)


calls(
    decoder_training=decoder(training_helper),
    decoder_training_gradient=decoder(training_helper, gradients=True),
    decoder_greedy=decoder(lambda embedding: contrib.seq2seq.GreedyEmbeddingHelper(embedding, [1, 1], 2)),
    decoder_sample=decoder(lambda embedding: contrib.seq2seq.SampleEmbeddingHelper(embedding, [1, 1], 2)),
    decoder_scheduled=decoder(
        lambda embedding: contrib.seq2seq.ScheduledEmbeddingTrainingHelper(
            tf.nn.embedding_lookup(embedding, ints(2, 5)), [4, 5], embedding, 0.3
        )
    ),
    decoder_sample_temperature=decoder(
        lambda embedding: contrib.seq2seq.SampleEmbeddingHelper(embedding, [1, 1], 2, softmax_temperature=x())
    ),
    decoder_sample_unknown=_sampled_batch,
    decoder_scheduled_output=decoder(
        lambda embedding: contrib.seq2seq.ScheduledOutputTrainingHelper(x(2, 5, 10), [4, 5], 0.3)
    ),
    decoder_scheduled_unknown=_scheduled_batch,
    decoder_luong=decoder(training_helper, lambda memory: contrib.seq2seq.LuongAttention(4, memory)),
    decoder_luong_lengths=decoder(
        training_helper, lambda memory: contrib.seq2seq.LuongAttention(4, memory, [4, 5], scale=True)
    ),
    decoder_luong_gradient=decoder(
        training_helper, lambda memory: contrib.seq2seq.LuongAttention(4, memory), gradients=True
    ),
    decoder_bahdanau=decoder(training_helper, lambda memory: contrib.seq2seq.BahdanauAttention(4, memory)),
    decoder_bahdanau_normed=decoder(
        training_helper, lambda memory: contrib.seq2seq.BahdanauAttention(4, memory, ints(2), normalize=True)
    ),
    decoder_bahdanau_gradient=decoder(
        training_helper, lambda memory: contrib.seq2seq.BahdanauAttention(4, memory), gradients=True
    ),
    decoder_history=decoder(
        training_helper, lambda memory: contrib.seq2seq.LuongAttention(4, memory), alignment_history=True
    ),
    decoder_beam=decoder(beam=3),
    decoder_beam_attention=decoder(attention=lambda memory: contrib.seq2seq.LuongAttention(4, memory), beam=3),
    decoder_tile=lambda: contrib.seq2seq.tile_batch(x(None, 3), 3),
    decoder_legacy=lambda: contrib.legacy_seq2seq.basic_rnn_seq2seq(
        [x(None, 3)] * 2, [x(None, 3)] * 2, cells.BasicLSTMCell(4)
    ),
    decoder_legacy_embedding=lambda: contrib.legacy_seq2seq.embedding_rnn_seq2seq(
        [ints(None)] * 2, [ints(None)] * 2, cells.BasicLSTMCell(4), 10, 10, 4
    ),
    decoder_legacy_attention=lambda: contrib.legacy_seq2seq.embedding_attention_seq2seq(
        [ints(None)] * 2, [ints(None)] * 2, cells.GRUCell(4), 10, 10, 4
    ),
    decoder_legacy_loss=lambda: contrib.legacy_seq2seq.sequence_loss_by_example(
        [x(None, 3)], [ints(None)], [tf.ones([4])]
    ),
    decoder_legacy_rnn=lambda: contrib.legacy_seq2seq.rnn_decoder(
        [x(2, 3)] * 2, cells.BasicLSTMCell(4).zero_state(2, tf.float32), cells.BasicLSTMCell(4)
    ),
)

# -- losses and metrics -----------------------------------------------------------------------------------------------


def loss(**functions):
    """Cases: a loss of known and of unknown sizes, and the step of an optimizer."""
    for name, function in functions.items():

        def build(size, function=function):
            value = tf.matmul(x(size, 4), weights(4, 3))
            tf.train.GradientDescentOptimizer(0.1).minimize(function(value, size))

        calls(
            **{
                "loss_known_" + name: lambda function=function: function(x(4, 3), 4),
                "loss_step_" + name: lambda build=build: build(4),
                "loss_unknown_" + name: lambda build=build: build(None),
            }
        )


loss(
    softmax=lambda value, size: tf.losses.softmax_cross_entropy(x(size, 3), value),
    softmax_weighted=lambda value, size: tf.losses.softmax_cross_entropy(x(size, 3), value, x(size)),
    softmax_smooth=lambda value, size: tf.losses.softmax_cross_entropy(x(size, 3), value, 2.0, 0.1),
    softmax_none=lambda value, size: tf.losses.softmax_cross_entropy(
        x(size, 3), value, reduction=tf.losses.Reduction.NONE
    ),
    softmax_mean=lambda value, size: tf.losses.softmax_cross_entropy(
        x(size, 3), value, reduction=tf.losses.Reduction.MEAN
    ),
    softmax_one_hot=lambda value, size: tf.losses.softmax_cross_entropy(tf.one_hot(ints(size), 3), value),
    sparse=lambda value, size: tf.losses.sparse_softmax_cross_entropy(ints(size), value),
    sparse_weighted=lambda value, size: tf.losses.sparse_softmax_cross_entropy(ints(size), value, x(size)),
    sparse_long=lambda value, size: tf.losses.sparse_softmax_cross_entropy(tf.placeholder(tf.int64, [size]), value),
    sigmoid=lambda value, size: tf.losses.sigmoid_cross_entropy(x(size, 3), value),
    sigmoid_smooth=lambda value, size: tf.losses.sigmoid_cross_entropy(x(size, 3), value, label_smoothing=0.1),
    sigmoid_weighted=lambda value, size: tf.losses.sigmoid_cross_entropy(ints(size, 3), value, x(size, 1)),
    mse=lambda value, size: tf.losses.mean_squared_error(x(size, 3), value),
    mse_weighted=lambda value, size: tf.losses.mean_squared_error(x(size, 3), value, x(size, 3)),
    mse_sum=lambda value, size: tf.losses.mean_squared_error(x(size, 3), value, reduction=tf.losses.Reduction.SUM),
    absolute=lambda value, size: tf.losses.absolute_difference(x(size, 3), value),
    huber=lambda value, size: tf.losses.huber_loss(x(size, 3), value),
    hinge=lambda value, size: tf.losses.hinge_loss(x(size, 3), value),
    log=lambda value, size: tf.losses.log_loss(x(size, 3), tf.sigmoid(value)),
    cosine=lambda value, size: tf.losses.cosine_distance(x(size, 3), value, axis=1),
    pairwise=lambda value, size: tf.losses.mean_pairwise_squared_error(x(size, 3), value),
    computed=lambda value, size: tf.losses.compute_weighted_loss(tf.reduce_sum(value, 1), 2.0),
    regularized=lambda value, size: (
        tf.losses.mean_squared_error(x(size, 3), value)
        + tf.add_n([0.1 * tf.nn.l2_loss(one) for one in tf.trainable_variables() + [value]])
    ),
    regularization=lambda value, size: (
        tf.losses.mean_squared_error(
            x(size, 2), layers.dense(value, 2, kernel_regularizer=contrib.layers.l2_regularizer(0.1))
        )
        + tf.losses.get_regularization_loss()
    ),
    total=lambda value, size: [tf.losses.mean_squared_error(x(size, 3), value), tf.losses.get_total_loss()][1],
    contrib_softmax=lambda value, size: contrib.losses.softmax_cross_entropy(value, x(size, 3)),
    contrib_mse=lambda value, size: contrib.losses.mean_squared_error(value, x(size, 3)),
    contrib_sigmoid=lambda value, size: contrib.losses.sigmoid_cross_entropy(value, x(size, 3)),
    by_hand=lambda value, size: tf.reduce_mean(
        -tf.reduce_sum(x(size, 3) * tf.log(tf.clip_by_value(tf.nn.softmax(value), 1e-10, 1.0)), axis=[1])
    ),
    by_hand_logits=lambda value, size: tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits(labels=x(size, 3), logits=value)
    ),
    by_hand_square=lambda value, size: tf.reduce_sum(tf.pow(value - x(size, 3), 2)) / (2 * 20),
    by_hand_sigmoid=lambda value, size: tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(value), logits=value)
    ),
    by_hand_weighted=lambda value, size: tf.reduce_mean(
        tf.nn.weighted_cross_entropy_with_logits(x(size, 3), value, 2.0)
    ),
    by_hand_root=lambda value, size: tf.sqrt(tf.reduce_mean(tf.squared_difference(value, x(size, 3)))),
    variational=lambda value, size: (
        -0.5 * tf.reduce_mean(1.0 + value - tf.square(value) - tf.exp(value), 1)[0]
        + tf.reduce_mean(value + tf.exp(0.5 * value) * tf.random_normal(tf.shape(value)))
    ),
    triplet=lambda value, size: contrib.losses.metric_learning.triplet_semihard_loss(ints(size), value),
    ctc=lambda value, size: tf.reduce_mean(
        tf.nn.ctc_loss(tf.sparse_placeholder(tf.int32), tf.reshape(value, [2, -1, 3]), ints(None))
    ),
    nce=lambda value, size: tf.reduce_mean(
        tf.nn.nce_loss(tf.get_variable("n", [30, 3]), tf.zeros([30]), tf.placeholder(tf.int64, [size, 1]), value, 5, 30)
    ),
    sampled=lambda value, size: tf.reduce_mean(
        tf.nn.sampled_softmax_loss(
            tf.get_variable("n", [30, 3]), tf.zeros([30]), tf.placeholder(tf.int64, [size, 1]), value, 5, 30
        )
    ),
    keras=lambda value, size: keras.losses.mean_squared_error(x(size, 3), value),
    keras_crossentropy=lambda value, size: keras.losses.categorical_crossentropy(x(size, 3), value),
    keras_sparse=lambda value, size: keras.losses.sparse_categorical_crossentropy(ints(size), value),
    keras_binary=lambda value, size: keras.backend.binary_crossentropy(x(size, 3), value),
    keras_class=lambda value, size: keras.losses.CategoricalCrossentropy(from_logits=True)(x(size, 3), value),
)


def metric(**functions):
    """Cases: a metric of known and of unknown sizes."""
    for name, function in functions.items():
        calls(
            **{
                "metric_known_" + name: lambda function=function: function(4),
                "metric_unknown_" + name: lambda function=function: function(None),
            }
        )


def bools(*shape):
    return tf.placeholder(tf.bool, shape)


metric(
    accuracy=lambda size: tf.metrics.accuracy(ints(size), ints(size)),
    accuracy_weighted=lambda size: tf.metrics.accuracy(ints(size), ints(size), x(size)),
    accuracy_long=lambda size: tf.metrics.accuracy(ints(size), tf.argmax(x(size, 3), 1)),
    mean=lambda size: tf.metrics.mean(x(size)),
    mean_weighted=lambda size: tf.metrics.mean(x(size), x(size)),
    mean_tensor=lambda size: tf.metrics.mean_tensor(x(4)),
    auc=lambda size: tf.metrics.auc(bools(size), x(size)),
    auc_pr=lambda size: tf.metrics.auc(bools(size), x(size), curve="PR"),
    precision=lambda size: tf.metrics.precision(ints(size), ints(size)),
    recall=lambda size: tf.metrics.recall(bools(size), bools(size), x(size)),
    precision_at=lambda size: tf.metrics.precision_at_thresholds(bools(size), x(size), [0.3, 0.6]),
    recall_at=lambda size: tf.metrics.recall_at_thresholds(bools(size), x(size), [0.3, 0.6]),
    recall_at_k=lambda size: tf.metrics.recall_at_k(tf.placeholder(tf.int64, [size]), x(size, 3), 2),
    precision_at_k=lambda size: tf.metrics.precision_at_k(tf.placeholder(tf.int64, [size, 1]), x(size, 3), 2),
    average_precision=lambda size: tf.metrics.average_precision_at_k(
        tf.placeholder(tf.int64, [size, 1]), x(size, 3), 2
    ),
    sensitivity=lambda size: tf.metrics.sensitivity_at_specificity(bools(size), x(size), 0.5),
    true_positives=lambda size: tf.metrics.true_positives(bools(size), bools(size)),
    false_negatives=lambda size: tf.metrics.false_negatives(bools(size), bools(size)),
    mse=lambda size: tf.metrics.mean_squared_error(x(size), x(size)),
    rmse=lambda size: tf.metrics.root_mean_squared_error(x(size), x(size)),
    absolute=lambda size: tf.metrics.mean_absolute_error(x(size), x(size)),
    relative=lambda size: tf.metrics.mean_relative_error(x(size), x(size), x(size)),
    cosine=lambda size: tf.metrics.mean_cosine_distance(x(size, 3), x(size, 3), 1),
    iou=lambda size: tf.metrics.mean_iou(ints(size), ints(size), 3),
    per_class=lambda size: tf.metrics.mean_per_class_accuracy(ints(size), ints(size), 3),
    percentage=lambda size: tf.metrics.percentage_below(x(size), 0.5),
    streaming=lambda size: contrib.metrics.streaming_accuracy(ints(size), ints(size)),
    streaming_mean=lambda size: contrib.metrics.streaming_mean(x(size)),
    streaming_auc=lambda size: contrib.metrics.streaming_auc(x(size), bools(size)),
    streaming_covariance=lambda size: contrib.metrics.streaming_covariance(x(size), x(size)),
    streaming_pearson=lambda size: contrib.metrics.streaming_pearson_correlation(x(size), x(size)),
    contrib_accuracy=lambda size: contrib.metrics.accuracy(ints(size), ints(size)),
    f1=lambda size: contrib.metrics.f1_score(bools(size), x(size)),
    keras_accuracy=lambda size: keras.metrics.categorical_accuracy(x(size, 3), x(size, 3)),
    keras_sparse=lambda size: keras.metrics.sparse_categorical_accuracy(ints(size, 1), x(size, 3)),
)

# -- optimizers -------------------------------------------------------------------------------------------------------

train = tf.train


def looked_up(optimizer):
    """A case: a step on rows that were looked up."""
    return lambda: optimizer().minimize(
        tf.reduce_sum(tf.square(tf.nn.embedding_lookup(tf.get_variable("v", [30, 4]), ints(3))))
    )


def in_resource(optimizer):
    return lambda: optimizer().minimize(
        tf.reduce_sum(tf.square(tf.get_variable("v", [4, 3], use_resource=True))), train.get_or_create_global_step()
    )


def in_parts(optimizer):
    """A case: a step on a variable in parts."""
    return lambda: optimizer().minimize(
        tf.nn.l2_loss(tf.convert_to_tensor(tf.get_variable("v", [4, 3], partitioner=tf.fixed_size_partitioner(2))))
    )


OPTIMIZERS = dict(
    sgd=lambda: train.GradientDescentOptimizer(0.1),
    sgd_tensor=lambda: train.GradientDescentOptimizer(x()),
    sgd_locked=lambda: train.GradientDescentOptimizer(0.1, use_locking=True),
    momentum=lambda: train.MomentumOptimizer(0.1, 0.9),
    nesterov=lambda: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    adam=lambda: train.AdamOptimizer(0.1, beta1=0.5),
    adagrad=lambda: train.AdagradOptimizer(0.1),
    adagrad_da=lambda: train.AdagradDAOptimizer(0.1, train.get_or_create_global_step()),
    adadelta=lambda: train.AdadeltaOptimizer(0.1),
    rmsprop=lambda: train.RMSPropOptimizer(0.1, 0.9, 0.5),
    ftrl=lambda: train.FtrlOptimizer(0.1, l1_regularization_strength=0.1),
    ftrl_shrinkage=lambda: train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1),
    proximal=lambda: train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.1),
    proximal_adagrad=lambda: train.ProximalAdagradOptimizer(0.1),
    adamw=lambda: contrib.opt.AdamWOptimizer(0.01, 0.1),
    momentumw=lambda: contrib.opt.MomentumWOptimizer(0.01, 0.1, 0.9),
    lazy_adam=lambda: contrib.opt.LazyAdamOptimizer(0.1),
    adamax=lambda: contrib.opt.AdaMaxOptimizer(0.1),
    nadam=lambda: contrib.opt.NadamOptimizer(0.1),
    power_sign=lambda: contrib.opt.PowerSignOptimizer(0.1),
    add_sign=lambda: contrib.opt.AddSignOptimizer(0.1),
    lars=lambda: contrib.opt.LARSOptimizer(0.1),
    averaged=lambda: contrib.opt.MovingAverageOptimizer(train.AdamOptimizer(0.1)),
    ggt=lambda: contrib.opt.GGTOptimizer(0.1),
    variable_clip=lambda: contrib.opt.VariableClippingOptimizer(train.AdamOptimizer(0.1), {}, 1.0),
    multitask=lambda: contrib.opt.MultitaskOptimizerWrapper(train.AdamOptimizer(0.1)),
)
calls(**{"optimizer_step_" + name: step(make) for name, make in OPTIMIZERS.items()})
calls(**{"optimizer_rows_" + name: looked_up(make) for name, make in OPTIMIZERS.items() if name != "ggt"})
calls(**{"optimizer_resource_" + name: in_resource(make) for name, make in OPTIMIZERS.items()})
calls(**{"optimizer_parts_" + name: in_parts(make) for name, make in OPTIMIZERS.items()})


def looked_up_in_resource(optimizer):
    table = {"use_resource": True, "initializer": tf.ones_initializer()}
    return lambda: optimizer().minimize(
        tf.reduce_sum(tf.nn.embedding_lookup(tf.get_variable("v", [9, 4], **table), [2]))
    )


calls(**{"optimizer_resource_rows_" + name: looked_up_in_resource(OPTIMIZERS[name]) for name in ("sgd", "sgd_tensor")})


def rate(function):
    return lambda: train.GradientDescentOptimizer(function(train.get_or_create_global_step())).minimize(
        tf.reduce_sum(tf.square(weights(4, 3))), train.get_or_create_global_step()
    )


RATES = dict(
    exponential=lambda now: train.exponential_decay(0.1, now, 100, 0.9),
    exponential_stairs=lambda now: train.exponential_decay(0.1, now, 100, 0.9, staircase=True),
    exponential_tensor=lambda now: train.exponential_decay(x(), now * 32, 100, 0.9),
    piecewise=lambda now: train.piecewise_constant(now, [10, 20], [0.1, 0.01, 0.001]),
    piecewise_long=lambda now: train.piecewise_constant(tf.to_int32(now), [10, 20, 30], [0.1, 0.01, 0.001, 0.0]),
    polynomial=lambda now: train.polynomial_decay(0.1, now, 100),
    polynomial_cycle=lambda now: train.polynomial_decay(0.1, now, 100, cycle=True),
    natural=lambda now: train.natural_exp_decay(0.1, now, 100, 0.9),
    inverse=lambda now: train.inverse_time_decay(0.1, now, 100, 0.9),
    inverse_stairs=lambda now: train.inverse_time_decay(0.1, now, 100, 0.9, True),
    cosine=lambda now: train.cosine_decay(0.1, now, 100),
    cosine_restarts=lambda now: train.cosine_decay_restarts(0.1, now, 100),
    linear_cosine=lambda now: train.linear_cosine_decay(0.1, now, 100),
    noisy=lambda now: train.noisy_linear_cosine_decay(0.1, now, 100),
    warmup=lambda now: tf.cond(
        now < 10, lambda: 0.01 * tf.to_float(now), lambda: train.exponential_decay(0.1, now, 100, 0.9)
    ),
    noam=lambda now: 4.0**-0.5 * tf.minimum(tf.to_float(now + 1) * 10.0**-1.5, tf.to_float(now + 1) ** -0.5),
)
calls(**{"rate_" + name: rate(make) for name, make in RATES.items()})


@call
def optimizer_clipped_global():
    optimizer = train.AdamOptimizer(0.1)
    gradients, variables = zip(*optimizer.compute_gradients(tf.reduce_sum(tf.square(weights(4, 3)))))
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    optimizer.apply_gradients(zip(gradients, variables), train.get_or_create_global_step())


@call
def optimizer_clipped_values():
    optimizer = train.RMSPropOptimizer(0.1)
    pairs = optimizer.compute_gradients(tf.reduce_sum(tf.square(weights(4, 3))))
    optimizer.apply_gradients([(tf.clip_by_value(one, -1.0, 1.0), variable) for one, variable in pairs])


@call
def optimizer_averages():
    averages = train.ExponentialMovingAverage(0.99, train.get_or_create_global_step())
    step_ = train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.square(weights(4, 3))))
    with tf.control_dependencies([step_]):
        averages.apply(tf.trainable_variables())
    averages.average(tf.trainable_variables()[0])
    averages.variables_to_restore()


@call
def optimizer_towers():
    optimizer, towers = train.GradientDescentOptimizer(0.1), []
    for number in range(2):
        with tf.variable_scope("net", reuse=number > 0), tf.name_scope("tower_%d" % number):
            value = layers.dense(x(4, 5), 3, name="d")
            towers.append(optimizer.compute_gradients(tf.losses.mean_squared_error(x(4, 3), value)))
    averaged = []
    for pairs in zip(*towers):
        averaged.append((tf.reduce_mean(tf.concat([tf.expand_dims(one, 0) for one, _ in pairs], 0), 0), pairs[0][1]))
    optimizer.apply_gradients(averaged)


@call
def optimizer_two_losses():
    """As adversarial networks have them."""
    noise = tf.random_normal([4, 3])
    with tf.variable_scope("g"):
        made = layers.dense(layers.dense(noise, 6, tf.nn.leaky_relu), 5, tf.tanh)
    judged = []
    for number, value in enumerate((x(4, 5), made)):
        with tf.variable_scope("d", reuse=number > 0):
            hidden = layers.dropout(layers.dense(value, 6, tf.nn.leaky_relu, name="a"), 0.3, training=True)
            judged.append(layers.dense(hidden, 1, name="b"))
    cost = lambda value, wanted: tf.reduce_mean(  # noqa: E731
        tf.nn.sigmoid_cross_entropy_with_logits(logits=value, labels=wanted)
    )
    real = cost(judged[0], tf.ones_like(judged[0])) + cost(judged[1], tf.zeros_like(judged[1]))
    train.AdamOptimizer(0.1, 0.5).minimize(real, var_list=tf.trainable_variables("d"))
    train.AdamOptimizer(0.1, 0.5).minimize(
        cost(judged[1], tf.ones_like(judged[1])), var_list=tf.trainable_variables("g")
    )


@call
def optimizer_penalty():
    """As improved Wasserstein networks have it."""

    def critic(value):
        with tf.variable_scope("d", reuse=tf.AUTO_REUSE):
            return layers.dense(tf.nn.leaky_relu(layers.dense(value, 6, name="a")), 1, name="b")

    real, made = x(None, 5), layers.dense(tf.random_normal([4, 3]), 5)
    between = real + tf.random_uniform([tf.shape(real)[0], 1], 0.0, 1.0) * (made - real)
    slopes = tf.sqrt(tf.reduce_sum(tf.square(tf.gradients(critic(between), [between])[0]), 1))
    cost = tf.reduce_mean(critic(made)) - tf.reduce_mean(critic(real)) + 10.0 * tf.reduce_mean((slopes - 1.0) ** 2)
    train.AdamOptimizer(1e-4, 0.5, 0.9).minimize(cost, var_list=tf.trainable_variables("d"))


calls(
    optimizer_replicas=lambda: train.SyncReplicasOptimizer(train.AdamOptimizer(0.1), 2, 2).minimize(
        tf.reduce_sum(tf.square(weights(4, 3))), train.get_or_create_global_step()
    ),
    optimizer_colocated=lambda: train.AdamOptimizer(0.1).minimize(
        tf.reduce_sum(tf.square(weights(4, 3))), colocate_gradients_with_ops=True
    ),
    optimizer_gate_graph=lambda: train.AdamOptimizer(0.1).minimize(
        tf.reduce_sum(tf.square(weights(4, 3))), gate_gradients=train.Optimizer.GATE_GRAPH
    ),
    optimizer_gate_none=lambda: train.AdamOptimizer(0.1).minimize(
        tf.reduce_sum(tf.square(weights(4, 3))), gate_gradients=train.Optimizer.GATE_NONE
    ),
    optimizer_accumulated=lambda: train.AdamOptimizer(0.1).minimize(
        tf.reduce_sum(tf.square(weights(4, 3))), aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE
    ),
    optimizer_optimize_loss=lambda: contrib.layers.optimize_loss(
        tf.reduce_sum(weights(3) ** 2), train.get_or_create_global_step(), 0.1, "SGD", clip_gradients=5.0
    ),
    optimizer_optimize_noise=lambda: contrib.layers.optimize_loss(
        tf.reduce_sum(weights(3) ** 2),
        train.get_or_create_global_step(),
        0.1,
        "Adam",
        gradient_noise_scale=0.1,
        learning_rate_decay_fn=lambda value, now: train.exponential_decay(value, now, 100, 0.9),
    ),
    optimizer_slim_clipped=lambda: contrib.slim.learning.create_train_op(
        tf.reduce_sum(weights(3) ** 2), train.AdamOptimizer(0.1), clip_gradient_norm=4.0, summarize_gradients=True
    ),
    optimizer_training=lambda: contrib.training.create_train_op(
        tf.reduce_sum(weights(3) ** 2), train.AdamOptimizer(0.1)
    ),
    saver_more=lambda: [tf.get_variable("v", [3]), weights(3), train.Saver(max_to_keep=2, sharded=True)],
    saver_dict=lambda: train.Saver({"w": weights(3)}),
    saver_resource=lambda: [tf.get_variable("v", [3], use_resource=True), train.Saver()],
    saver_parts=lambda: [
        tf.get_variable("v", [4, 3], partitioner=tf.fixed_size_partitioner(2)),
        train.Saver(),
    ],
    saver_steps=lambda: [
        train.get_or_create_global_step(),
        weights(3),
        train.Saver(),
        tf.global_variables_initializer(),
    ],
    initializers_each=lambda: [weights(3), tf.local_variables_initializer(), tf.report_uninitialized_variables()],
    variables_initializer=lambda: tf.variables_initializer([weights(3)]),
    initialized=lambda: tf.Variable(weights(3).initialized_value()),
    is_variable_initialized=lambda: tf.is_variable_initialized(weights(3)),
    variables_scatter=lambda: tf.scatter_update(weights(4, 3), ints(2), x(2, 3)),
    variables_scatter_resource=lambda: tf.scatter_add(
        tf.get_variable("v", [4, 3], use_resource=True), ints(2), x(2, 3)
    ),
    variables_scatter_nd=lambda: tf.scatter_nd_add(weights(4, 3), ints(2, 1), x(2, 3)),
    variables_slice=lambda: weights(4, 3)[1].assign(x(3)),
    variables_load=lambda: weights(4, 3).assign_sub(x(4, 3)),
    variables_count=lambda: tf.count_up_to(tf.Variable(0), 5),
    variables_local=lambda: tf.get_local_variable("l", [3]),
    variables_contrib=lambda: contrib.framework.model_variable(
        "v", [3, 4], regularizer=contrib.layers.l2_regularizer(0.1)
    ),
    variables_contrib_step=lambda: contrib.framework.get_or_create_global_step(),
    variables_assign_from=lambda: (
        contrib.framework.assign_from_values({"weights": np.zeros([3], np.float32)}) if weights(3) is not None else None
    ),
    variables_custom_getter=lambda: _custom_getter(),
    initializer_orthogonal_gain=lambda: tf.get_variable("v", [3, 3, 4], initializer=tf.orthogonal_initializer(2.0)),
    initializer_orthogonal_wide=lambda: tf.get_variable("v", [3, 5], initializer=tf.orthogonal_initializer()),
    initializer_uniform_scaling=lambda: tf.get_variable("v", [3, 4], initializer=tf.uniform_unit_scaling_initializer()),
    initializer_scaling_uniform=lambda: tf.get_variable(
        "v", [3, 4], initializer=tf.variance_scaling_initializer(2.0, "fan_avg", "uniform")
    ),
    initializer_scaling_untruncated=lambda: tf.get_variable(
        "v", [3, 4], initializer=tf.variance_scaling_initializer(distribution="untruncated_normal")
    ),
    initializer_lecun=lambda: tf.get_variable("v", [3, 4], initializer=tf.keras.initializers.lecun_normal()),
    initializer_lecun_uniform=lambda: tf.get_variable("v", [3, 4], initializer=tf.initializers.lecun_uniform()),
    initializer_he_uniform=lambda: tf.get_variable("v", [3, 4], initializer=tf.initializers.he_uniform()),
    initializer_constant_array=lambda: tf.get_variable(
        "v", initializer=tf.constant_initializer(np.ones([3, 4])), shape=[3, 4]
    ),
    initializer_tensor=lambda: tf.get_variable("v", initializer=tf.random_uniform([3, 4], -1.0, 1.0)),
    initializer_array=lambda: tf.get_variable("v", initializer=np.ones([3], np.float32)),
    initializer_ones_double=lambda: tf.get_variable("v", [3], tf.float64, tf.ones_initializer()),
    initializer_bool=lambda: tf.get_variable("v", [3], tf.bool),
    initializer_identity_wide=lambda: tf.get_variable("v", [3, 4], initializer=tf.initializers.identity()),
    initializer_xavier=lambda: tf.get_variable("v", [3, 4], initializer=contrib.layers.xavier_initializer()),
    initializer_xavier_normal=lambda: tf.get_variable(
        "v", [3, 4], initializer=contrib.layers.xavier_initializer(False)
    ),
    initializer_xavier_conv=lambda: tf.get_variable(
        "v", [3, 3, 3, 4], initializer=contrib.layers.xavier_initializer_conv2d()
    ),
    initializer_contrib_scaling=lambda: tf.get_variable(
        "v", [3, 4], initializer=contrib.layers.variance_scaling_initializer(1.0, "FAN_AVG", True)
    ),
    initializer_uniform_ints=lambda: tf.get_variable(
        "v", [3, 4], tf.int32, initializer=tf.random_uniform_initializer(0, 5, dtype=tf.int32)
    ),
    initializer_truncated_scaled=lambda: tf.get_variable(
        "v", [3, 4], initializer=tf.truncated_normal_initializer(mean=0.1, stddev=0.02)
    ),
    initializer_parts_xavier=lambda: tf.get_variable(
        "v", [8, 4], initializer=contrib.layers.xavier_initializer(), partitioner=tf.fixed_size_partitioner(4)
    ),
    initializer_parts_regularized=lambda: tf.get_variable(
        "v", [8, 4], regularizer=contrib.layers.l2_regularizer(0.1), partitioner=tf.variable_axis_size_partitioner(64)
    ),
    regularizer_sum=lambda: contrib.layers.sum_regularizer(
        [contrib.layers.l1_regularizer(0.1), contrib.layers.l2_regularizer(0.1)]
    )(weights(3)),
    regularizer_variable=lambda: tf.get_variable("v", [3], regularizer=contrib.layers.l1_regularizer(0.1)),
    regularizer_function=lambda: tf.get_variable("v", [3], regularizer=lambda value: 0.1 * tf.nn.l2_loss(value)),
    regularizer_scope=lambda: _regularized_scope(),
)


def _custom_getter():
    def getter(getter, *args, **kwargs):
        return getter(*args, **kwargs) * 2.0

    with tf.variable_scope("s", custom_getter=getter):
        return layers.dense(x(4, 5), 3)


def _regularized_scope():
    with tf.variable_scope("s", regularizer=contrib.layers.l2_regularizer(0.1)):
        layers.dense(x(4, 5), 3)
        tf.get_variable("v", [3])
    tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))


@call
def regularizer_read_twice():
    """Each part of the loss is made when its variable is made, and only then."""
    tf.get_variable("v", [3], regularizer=contrib.layers.l2_regularizer(0.1))
    tf.get_variable("w", [3], regularizer=keras.regularizers.l2(0.1))
    tf.random_uniform([2])
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    tf.random_uniform([2])
    tf.gradients(tf.add_n(losses), tf.trainable_variables())
    tf.losses.get_total_loss()


# -- feature columns --------------------------------------------------------------------------------------------------

column = tf.feature_column


def strings():
    return tf.placeholder(tf.string, [None, 1])


FEATURES = dict(
    numeric=lambda: (column.numeric_column("a"), {"a": x(None, 1)}),
    numeric_normalized=lambda: (column.numeric_column("a", normalizer_fn=lambda value: value / 2.0), {"a": x(None, 1)}),
    bucketized=lambda: (column.bucketized_column(column.numeric_column("a"), [0.0, 1.0]), {"a": x(None, 1)}),
    vocabulary=lambda: (
        column.indicator_column(column.categorical_column_with_vocabulary_list("a", ["p", "q"])),
        {"a": strings()},
    ),
    hash_=lambda: (column.indicator_column(column.categorical_column_with_hash_bucket("a", 10)), {"a": strings()}),
    identity=lambda: (
        column.indicator_column(column.categorical_column_with_identity("a", 10)),
        {"a": ints(None, 1)},
    ),
    embedding=lambda: (
        column.embedding_column(column.categorical_column_with_hash_bucket("a", 10), 3),
        {"a": strings()},
    ),
    embedding_mean=lambda: (
        column.embedding_column(
            column.categorical_column_with_vocabulary_list("a", ["p", "q"], default_value=0), 3, "sum"
        ),
        {"a": strings()},
    ),
    crossed=lambda: (
        column.indicator_column(column.crossed_column(["a", "b"], 10)),
        {"a": strings(), "b": strings()},
    ),
)
for name_, make_ in FEATURES.items():
    calls(
        **{
            "feature_input_" + name_: lambda make=make_: column.input_layer(make()[1], [make()[0]]),
        }
    )
for name_ in ("numeric", "bucketized"):
    calls(**{"feature_linear_" + name_: lambda make=FEATURES[name_]: column.linear_model(make()[1], [make()[0]])})
calls(
    feature_linear_hash=lambda: column.linear_model(
        {"a": strings()}, [column.categorical_column_with_hash_bucket("a", 10)]
    ),
    feature_linear_crossed=lambda: column.linear_model(
        {"a": strings(), "b": strings()}, [column.crossed_column(["a", "b"], 10)]
    ),
    feature_example_spec=lambda: tf.parse_example(
        tf.placeholder(tf.string, [None]), column.make_parse_example_spec([column.numeric_column("a", [3])])
    ),
)

# -- trainings --------------------------------------------------------------------------------------------------------


class Last(tf.train.SessionRunHook):
    """Draws when all else was made, and keeps the graph."""

    def __init__(self):
        self.graphs = []

    def begin(self):
        tf.random_normal([1])
        self.graphs.append(tf.get_default_graph())


def monitored(**options):
    """A case: the graph that a session for training is made of."""

    def build():
        last = Last()
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            now = train.get_or_create_global_step()
            layers.dropout(layers.dense(x(4, 5), 3), 0.5, training=True)
            loss = tf.losses.mean_squared_error(tf.ones([4, 3]), layers.dense(tf.ones([4, 2]), 3))
            train_step = train.AdamOptimizer(0.1).minimize(loss, now)
            hooks = [make(loss) for make in options.get("hooks", [])]
            with train.MonitoredTrainingSession(
                hooks=hooks + [last],
                checkpoint_dir=options.get("folder") and options["folder"](),
                **options.get("more", {}),
            ) as session:
                session.run(train_step)
        return last.graphs

    return build


def folder():
    import tempfile

    return tempfile.mkdtemp()


graphs(
    monitored=monitored(),
    monitored_saving=monitored(folder=folder),
    monitored_saving_only=monitored(folder=folder, more=dict(save_summaries_steps=None, log_step_count_steps=None)),
    monitored_stop=monitored(hooks=[lambda loss: train.StopAtStepHook(5)]),
    monitored_log=monitored(hooks=[lambda loss: train.LoggingTensorHook([loss], 10)]),
    monitored_nan=monitored(hooks=[lambda loss: train.NanTensorHook(loss)]),
    monitored_counter=monitored(hooks=[lambda loss: train.StepCounterHook(output_dir=folder())]),
    monitored_summary=monitored(
        hooks=[lambda loss: train.SummarySaverHook(10, output_dir=folder(), summary_op=tf.summary.scalar("l", loss))]
    ),
    monitored_final=monitored(hooks=[lambda loss: train.FinalOpsHook(loss)]),
)


def features():
    return {"a": np.ones([8, 2], np.float32)}


def estimated(make, labels=None, evaluate=False, predict=False, data=False):
    """A case: the graphs that an estimator makes."""

    def build():
        last = Last()
        wanted = np.array([0, 1] * 4, np.int32) if labels is None else labels
        estimator = make(tf.estimator.RunConfig(tf_random_seed=7, model_dir=folder()))
        if data:
            given = lambda: tf.data.Dataset.from_tensor_slices((features(), wanted)).shuffle(8).repeat(2).batch(4)  # noqa: E731
        else:
            given = tf.estimator.inputs.numpy_input_fn(features(), wanted, 4, 1, True)
        estimator.train(given, hooks=[last], steps=1)
        if evaluate:
            estimator.evaluate(given, hooks=[last], steps=1)
        if predict:
            list(estimator.predict(given, hooks=[last]))
        return last.graphs

    return build


def columns():
    return [column.numeric_column("a", [2])]


def model_fn(features, labels, mode, params=None):
    value = layers.dense(features["a"], 6, activation=tf.nn.relu)
    value = layers.dropout(value, 0.4, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = layers.dense(value, 2)
    predictions = {"classes": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions)
    cost = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, predictions["classes"])}
        return tf.estimator.EstimatorSpec(mode, loss=cost, eval_metric_ops=metrics)
    train_step = train.AdamOptimizer(0.01).minimize(cost, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=cost, train_op=train_step)


graphs(
    estimator_custom=estimated(lambda config: tf.estimator.Estimator(model_fn, config=config), None, True, True),
    estimator_custom_data=estimated(lambda config: tf.estimator.Estimator(model_fn, config=config), data=True),
    estimator_dnn=estimated(
        lambda config: tf.estimator.DNNClassifier([4, 3], columns(), config=config), None, True, True
    ),
    estimator_dnn_classes=estimated(
        lambda config: tf.estimator.DNNClassifier([4], columns(), n_classes=3, dropout=0.3, config=config), None, True
    ),
    estimator_dnn_optimizer=estimated(
        lambda config: tf.estimator.DNNClassifier(
            [4], columns(), optimizer=lambda: train.AdamOptimizer(0.1), batch_norm=True, config=config
        )
    ),
    estimator_dnn_regressor=estimated(
        lambda config: tf.estimator.DNNRegressor([4], columns(), config=config), np.ones([8], np.float32), True
    ),
    estimator_linear=estimated(
        lambda config: tf.estimator.LinearClassifier(columns(), config=config), None, True, True
    ),
    estimator_linear_regressor=estimated(
        lambda config: tf.estimator.LinearRegressor(columns(), config=config), np.ones([8], np.float32)
    ),
    estimator_combined=estimated(
        lambda config: tf.estimator.DNNLinearCombinedClassifier(
            linear_feature_columns=columns(), dnn_feature_columns=columns(), dnn_hidden_units=[4], config=config
        )
    ),
    estimator_baseline=estimated(lambda config: tf.estimator.BaselineClassifier(config=config)),
)
