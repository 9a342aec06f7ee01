"""Cases of ``tf.contrib.layers``: name -> function of (tf, contrib); see contrib_record.py. Runs on Python 3.7 too."""

import importlib

from contrib_record import feed

CASES = {}


def case(name, shape, layer, dtype="float32", **rest):
    """A case of one layer on one input; its loss is the sum of the squared output."""

    def build(tf, contrib):
        x = tf.placeholder(dtype, shape, name="x")
        y = layer(tf, contrib.layers, x)
        size = [2 if n is None else n for n in shape]
        found = {
            "outputs": {"y": y},
            "loss": tf.reduce_sum(tf.square(tf.cast(y, tf.float32))),
            "feeds": {x: feed(size)},
        }
        found.update(rest)
        return found

    assert name not in CASES
    CASES[name] = build


def wrong(name, shape, layer, dtype="float32"):
    """A case whose layer raises when the graph is built."""
    case("wrong " + name, shape, layer, dtype)


FLAT, IMAGE, VOLUME = [3, 4], [2, 5, 6, 4], [2, 4, 5, 4, 2]

case("fc", FLAT, lambda tf, L, x: L.fully_connected(x, 5))
case("fc rank 3", [3, 2, 4], lambda tf, L, x: L.fully_connected(x, 5, activation_fn=None))
case("fc unknown batch", [None, 4], lambda tf, L, x: L.fully_connected(x, 5))
case(
    "fc regularized",
    FLAT,
    lambda tf, L, x: L.fully_connected(
        x,
        5,
        weights_regularizer=L.l2_regularizer(0.1),
        biases_regularizer=L.l1_regularizer(0.1),
        variables_collections=["vc"],
        outputs_collections=["oc"],
        scope="s/foo",
    ),
)
case(
    "fc batch_norm",
    FLAT,
    lambda tf, L, x: L.fully_connected(
        x, 5, normalizer_fn=L.batch_norm, normalizer_params={"scale": True, "decay": 0.9}, outputs_collections="oc"
    ),
)
case(
    "fc dict of collections",
    FLAT,
    lambda tf, L, x: L.fully_connected(
        x, 5, variables_collections={"weights": ["w"], "biases": ["b"]}, trainable=False
    ),
)
case("fc no biases", FLAT, lambda tf, L, x: L.fully_connected(x, 5, biases_initializer=None))
case("fc double", FLAT, lambda tf, L, x: L.fully_connected(tf.cast(x, tf.float64), 5))
case("fc twice", FLAT, lambda tf, L, x: L.fully_connected(L.fully_connected(x, 5), 6))
case(
    "fc reused",
    FLAT,
    lambda tf, L, x: L.fully_connected(
        L.fully_connected(x, 4, scope="s", weights_regularizer=L.l2_regularizer(0.1), variables_collections=["vc"]),
        4,
        scope="s",
        reuse=True,
        weights_regularizer=L.l2_regularizer(0.1),
        variables_collections=["vc"],
    ),
)
case("linear", FLAT, lambda tf, L, x: L.linear(x, 5))
case("relu6", FLAT, lambda tf, L, x: L.relu6(x, 5))
case("elu", FLAT, lambda tf, L, x: L.elu(x, 5))
case("fc partitioned", FLAT, lambda tf, L, x: _partitioned(tf, L, x))


def _scoped(tf, contrib):
    L, x = contrib.layers, tf.constant(feed([3, 4]))
    with contrib.framework.arg_scope([L.fully_connected], activation_fn=tf.nn.tanh, biases_initializer=None):
        with contrib.framework.arg_scope(
            [L.fully_connected, L.conv2d], weights_regularizer=L.l2_regularizer(0.5)
        ) as scope:
            x = L.fully_connected(x, 3)
    with contrib.framework.arg_scope(scope):
        y = L.fully_connected(x, 2, activation_fn=tf.nn.sigmoid)
    return {"outputs": {"y": y}, "loss": tf.reduce_sum(y)}


CASES["arg_scope"] = _scoped


def _partitioned(tf, L, x):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        return L.fully_connected(x, 6)


case("conv", IMAGE, lambda tf, L, x: L.conv2d(x, 3, 3, 2, "VALID", outputs_collections="oc"))
case("conv window", IMAGE, lambda tf, L, x: L.conv2d(x, 3, [3, 2], [2, 1], weights_regularizer=L.l2_regularizer(0.1)))
case("conv rate", IMAGE, lambda tf, L, x: L.conv2d(x, 3, 3, rate=2))
case("conv no bias", IMAGE, lambda tf, L, x: L.conv2d(x, 3, 1, biases_initializer=None, activation_fn=None, scope="c"))
case("conv batch_norm", IMAGE, lambda tf, L, x: L.conv2d(x, 3, 3, normalizer_fn=L.batch_norm))
case("conv unknown size", [None, None, None, 2], lambda tf, L, x: L.conv2d(x, 3, 3, stride=2))
case("conv reused", IMAGE, lambda tf, L, x: L.conv2d(L.conv2d(x, 4, 3, scope="s"), 4, 3, scope="s", reuse=True))
case("convolution", [2, 5, 4], lambda tf, L, x: L.convolution(x, 3, 3))
case("conv1d", [2, 5, 4], lambda tf, L, x: L.conv1d(x, 3, 3, rate=2))
case("conv3d", VOLUME, lambda tf, L, x: L.conv3d(x, 3, [3, 2, 3], 2))
case("conv2d_transpose", IMAGE, lambda tf, L, x: L.conv2d_transpose(x, 3, 3, 2))
case(
    "conv2d_transpose valid",
    [2, None, 6, 4],
    lambda tf, L, x: L.conv2d_transpose(x, 3, [3, 5], [2, 3], "VALID", weights_regularizer=L.l2_regularizer(0.1)),
)
case("conv3d_transpose", VOLUME, lambda tf, L, x: L.conv3d_transpose(x, 3, 3, 2))
case("conv2d_in_plane", IMAGE, lambda tf, L, x: L.conv2d_in_plane(x, 3, weights_regularizer=L.l2_regularizer(0.1)))
case(
    "separable",
    IMAGE,
    lambda tf, L, x: L.separable_conv2d(
        x,
        3,
        3,
        2,
        2,
        weights_regularizer=L.l2_regularizer(0.1),
        variables_collections={"weights": ["w"], "biases": ["b"]},
    ),
)
case(
    "separable depthwise",
    IMAGE,
    lambda tf, L, x: L.separable_conv2d(
        x, None, [3, 3], 2, rate=2, weights_regularizer=L.l2_regularizer(0.1), biases_regularizer=L.l2_regularizer(0.1)
    ),
)
case("separable batch_norm", IMAGE, lambda tf, L, x: L.separable_conv2d(x, None, 3, 1, normalizer_fn=L.batch_norm))

case("bn", IMAGE, lambda tf, L, x: L.batch_norm(x, decay=0.9, outputs_collections="oc"))
case("bn scale", IMAGE, lambda tf, L, x: L.batch_norm(x, decay=0.9, scale=True))
case("bn flat", FLAT, lambda tf, L, x: L.batch_norm(x, decay=0.9, scale=True))
case("bn flat unknown batch", [None, 4], lambda tf, L, x: L.batch_norm(x, decay=0.9))
case("bn flat unfused", FLAT, lambda tf, L, x: L.batch_norm(x, scale=True, decay=0.9, fused=False))
case("bn rank 3", [2, 3, 4], lambda tf, L, x: L.batch_norm(x, decay=0.9, scale=True))
case("bn rank 5", VOLUME, lambda tf, L, x: L.batch_norm(x, decay=0.9))
case("bn unfused", IMAGE, lambda tf, L, x: L.batch_norm(x, decay=0.9, fused=False))
case("bn unfused scope", IMAGE, lambda tf, L, x: L.batch_norm(x, decay=0.9, fused=False, scope="b"))
case("bn inference flat unfused", FLAT, lambda tf, L, x: L.batch_norm(x, is_training=False, fused=False, scope="b"))
case("bn not trainable flat", FLAT, lambda tf, L, x: L.batch_norm(x, trainable=False, decay=0.9))
case("bn no updates", IMAGE, lambda tf, L, x: L.batch_norm(x, decay=0.9, updates_collections=None))
case(
    "bn no updates unfused",
    IMAGE,
    lambda tf, L, x: L.batch_norm(x, decay=0.9, fused=False, scale=True, updates_collections=None),
)
case("bn no updates flat", FLAT, lambda tf, L, x: L.batch_norm(x, decay=0.9, scale=True, updates_collections=None))
case("bn other updates", IMAGE, lambda tf, L, x: L.batch_norm(x, scale=True, updates_collections=["foo", "bar"]))
case("bn zero debias", IMAGE, lambda tf, L, x: L.batch_norm(x, decay=0.9, zero_debias_moving_mean=True))
case(
    "bn zero debias unfused",
    IMAGE,
    lambda tf, L, x: L.batch_norm(x, decay=0.9, fused=False, scale=True, zero_debias_moving_mean=True),
)
case("bn weights", IMAGE, lambda tf, L, x: L.batch_norm(x, decay=0.9, batch_weights=tf.constant([1.0, 3.0])))
case("bn inference", IMAGE, lambda tf, L, x: L.batch_norm(x, is_training=False))
case("bn inference flat", FLAT, lambda tf, L, x: L.batch_norm(x, is_training=False, scale=True))
case("bn inference unfused", IMAGE, lambda tf, L, x: L.batch_norm(x, is_training=False, fused=False))
case("bn inference no updates", IMAGE, lambda tf, L, x: L.batch_norm(x, is_training=False, updates_collections=None))
for _fused in (None, False):
    for _training in (True, False):
        for _updates in ("update_ops", None):
            case(
                "bn tensor %s %s %s" % (_fused, _training, _updates),
                IMAGE,
                lambda tf, L, x, f=_fused, t=_training, u=_updates: L.batch_norm(
                    x, decay=0.9, fused=f, is_training=tf.placeholder_with_default(t, []), updates_collections=u
                ),
            )
case("bn tensor flat", FLAT, lambda tf, L, x: L.batch_norm(x, is_training=tf.placeholder_with_default(False, [])))
case("bn not trainable", IMAGE, lambda tf, L, x: L.batch_norm(x, trainable=False))
case("bn no center", IMAGE, lambda tf, L, x: L.batch_norm(x, center=False, epsilon=0.1))
case(
    "bn parameters",
    IMAGE,
    lambda tf, L, x: L.batch_norm(
        x,
        scale=True,
        param_regularizers={"beta": L.l2_regularizer(0.1)},
        param_initializers={"moving_mean": tf.ones_initializer(), "gamma": tf.zeros_initializer()},
        variables_collections={"beta": ["bb"], "moving_mean": ["mm"]},
        activation_fn=tf.nn.relu,
    ),
)
case("bn channels first", IMAGE, lambda tf, L, x: L.batch_norm(x, fused=False, data_format="NCHW", scale=True))
case("bn half", IMAGE, lambda tf, L, x: L.batch_norm(tf.cast(x, tf.float16), scale=True))
case("bn reused", IMAGE, lambda tf, L, x: L.batch_norm(L.batch_norm(x, scope="b"), scope="b", reuse=True))

case("layer_norm", [2, 3, 4], lambda tf, L, x: L.layer_norm(x, outputs_collections="oc", variables_collections=["vc"]))
case("layer_norm last", [2, 3, 4], lambda tf, L, x: L.layer_norm(x, begin_norm_axis=-1, activation_fn=tf.nn.relu))
case("layer_norm wide", [2, 3, 4], lambda tf, L, x: L.layer_norm(x, begin_params_axis=1, scope="ln"))
case("layer_norm plain", [2, 3, 4], lambda tf, L, x: L.layer_norm(x, center=False, scale=False))
case("layer_norm half", FLAT, lambda tf, L, x: L.layer_norm(tf.cast(x, tf.float16)))
case("group_norm", IMAGE, lambda tf, L, x: L.group_norm(x, groups=2))
case(
    "group_norm first",
    IMAGE,
    lambda tf, L, x: L.group_norm(
        x, groups=5, channels_axis=-3, reduction_axes=(-2, -1), activation_fn=tf.nn.relu, outputs_collections="oc"
    ),
)
case(
    "group_norm near zero",
    [None, 5, 6, 4],
    lambda tf, L, x: L.group_norm(
        x, groups=4, mean_close_to_zero=True, param_initializers={"gamma": tf.zeros_initializer()}
    ),
)
case("group_norm plain", IMAGE, lambda tf, L, x: L.group_norm(x, groups=1, center=False, scale=False))
case("instance_norm", IMAGE, lambda tf, L, x: L.instance_norm(x, outputs_collections="oc"))
case("instance_norm first", IMAGE, lambda tf, L, x: L.instance_norm(x, data_format="NCHW", epsilon=0.1))
case("instance_norm plain", [2, 5, 4], lambda tf, L, x: L.instance_norm(x, center=False, scale=False))

case("dropout off", FLAT, lambda tf, L, x: L.dropout(x, is_training=False, outputs_collections="oc"))
case("dropout off tensor", FLAT, lambda tf, L, x: L.dropout(x, is_training=tf.placeholder_with_default(False, [])))
case("dropout", FLAT, lambda tf, L, x: L.dropout(x, 0.8, seed=3, scope="d"))
case("dropout noise", FLAT, lambda tf, L, x: L.dropout(x, tf.constant(0.5), noise_shape=[3, 1], seed=3))
case("flatten", [2, 3, 4], lambda tf, L, x: L.flatten(x, outputs_collections="oc"))
case("flatten unknown", [None, 3, None], lambda tf, L, x: L.flatten(x, scope="f"))
case("flatten vector", [3], lambda tf, L, x: L.flatten(x))
case("max_pool2d", IMAGE, lambda tf, L, x: L.max_pool2d(x, 2, outputs_collections="oc"))
case("max_pool2d same", IMAGE, lambda tf, L, x: L.max_pool2d(x, [3, 2], [2, 1], "SAME", scope="p"))
case("avg_pool2d", IMAGE, lambda tf, L, x: L.avg_pool2d(x, 3, 1))
case("max_pool3d", VOLUME, lambda tf, L, x: L.max_pool3d(x, 2))
case("avg_pool3d", VOLUME, lambda tf, L, x: L.avg_pool3d(x, [2, 3, 2]))
case(
    "bias_add",
    FLAT,
    lambda tf, L, x: L.bias_add(
        x, tf.nn.relu, regularizer=L.l2_regularizer(0.1), variables_collections=["vc"], outputs_collections="oc"
    ),
)
case("unit_norm", FLAT, lambda tf, L, x: L.unit_norm(x, 1))
case("spatial_softmax", IMAGE, lambda tf, L, x: L.spatial_softmax(x))
case(
    "spatial_softmax hot", [None, 5, None, 4], lambda tf, L, x: L.spatial_softmax(x, 2.0, "q", ["vc"], trainable=False)
)
case("spatial_softmax first", IMAGE, lambda tf, L, x: L.spatial_softmax(x, data_format="NCHW"))
case("maxout", [2, 6], lambda tf, L, x: L.maxout(x, 3))
case("maxout inner", [None, 6, 5], lambda tf, L, x: L.maxout(x, 2, axis=1))
case("softmax", [2, 3, 4], lambda tf, L, x: L.softmax(x))
case("stack", FLAT, lambda tf, L, x: L.stack(x, L.fully_connected, [3, 4]))
case(
    "stack scope", IMAGE, lambda tf, L, x: L.stack(x, L.conv2d, [(3, [3, 3]), (4, [1, 1])], scope="st", padding="VALID")
)
case("repeat", FLAT, lambda tf, L, x: L.repeat(x, 3, L.fully_connected, 4, scope="r"))
case("repeat conv", IMAGE, lambda tf, L, x: L.repeat(x, 2, L.conv2d, 4, [3, 3]))

case(
    "one_hot_encoding",
    [3],
    lambda tf, L, x: (
        L.one_hot_encoding(tf.constant([1, 0, 4], tf.int32), 5, 2.0, 1.0, outputs_collections="oc")
        + 0 * tf.reduce_sum(x)
    ),
)
case("embed_sequence", [1], lambda tf, L, x: x * L.embed_sequence(tf.constant([[1, 2], [2, 0]]), 5, 3))
case(
    "embed_sequence unique",
    [1],
    lambda tf, L, x: (
        x
        * L.embed_sequence(
            tf.constant([[1, 2], [2, 0]]), 5, 3, unique=True, scope="e", regularizer=L.l2_regularizer(0.1)
        )
    ),
)
case(
    "embed_sequence reused",
    [1],
    lambda tf, L, x: (
        x
        * (
            L.embed_sequence(tf.constant([[1]]), 5, 3, scope="e")
            + L.embed_sequence(tf.constant([[2]]), 5, 3, scope="e", reuse=True)
        )
    ),
)
case("bow_encoder", [1], lambda tf, L, x: x * L.bow_encoder(tf.constant([[1, 2, 0], [0, 0, 0]]), 5, 3))
case("bow_encoder dense", [1], lambda tf, L, x: x * L.bow_encoder(tf.constant([[1, 2, 0]]), 5, 3, sparse_lookup=False))

for _name, _make in {
    "l1": lambda L: L.l1_regularizer(0.1),
    "l1 scope": lambda L: L.l1_regularizer(0.1, scope="foo"),
    "l2": lambda L: L.l2_regularizer(0.1),
    "l1_l2": lambda L: L.l1_l2_regularizer(0.1, 0.2),
    "l1_l2 zero": lambda L: L.l1_l2_regularizer(0.0, 0.2),
    "sum": lambda L: L.sum_regularizer([L.l1_regularizer(0.1), None, L.l2_regularizer(0.2)]),
}.items():
    case("regularizer " + _name, FLAT, lambda tf, L, x, make=_make: make(L)(x))


def _apply(tf, L, x):
    tf.add_to_collection("weights", x)
    tf.add_to_collection("weights", tf.ones([3]))
    return L.apply_regularization(L.l2_regularizer(0.5))


case("apply_regularization", FLAT, _apply)

for _name, _make in {
    "xavier": lambda L: L.xavier_initializer(seed=3),
    "xavier normal": lambda L: L.xavier_initializer(False, seed=3),
    "xavier conv": lambda L: L.xavier_initializer_conv2d(seed=3),
    "scaling": lambda L: L.variance_scaling_initializer(seed=1),
    "scaling out": lambda L: L.variance_scaling_initializer(mode="FAN_OUT", seed=1, uniform=True),
    "scaling average": lambda L: L.variance_scaling_initializer(factor=1.0, mode="FAN_AVG", seed=1),
}.items():
    for _shape in ([], [5], [3, 4], [2, 2, 3, 4]):
        case("initializer %s %s" % (_name, _shape), [1], lambda tf, L, x, make=_make, shape=_shape: make(L)(shape))
case(
    "initializer in a variable",
    [1],
    lambda tf, L, x: x * tf.get_variable("w", [3, 4], initializer=L.xavier_initializer(seed=3)),
    as_initialized=True,
)
case(
    "initializer in parts",
    [1],
    lambda tf, L, x: (
        x
        * tf.get_variable(
            "w", [4, 3], initializer=L.xavier_initializer(seed=3), partitioner=tf.fixed_size_partitioner(2)
        )
    ),
    as_initialized=True,
)

wrong("fc units", FLAT, lambda tf, L, x: L.fully_connected(x, 5.0))
wrong("fc unknown", [3, None], lambda tf, L, x: L.fully_connected(x, 5))
wrong("fc argument", FLAT, lambda tf, L, x: L.fully_connected(x, 5, activation=None))
wrong("conv rank", [2, 5, 4], lambda tf, L, x: L.conv2d(x, 4, 3))
wrong("conv format", IMAGE, lambda tf, L, x: L.conv2d(x, 4, 3, data_format="FOO"))
wrong("conv rate and stride", IMAGE, lambda tf, L, x: L.conv2d(x, 4, 3, rate=2, stride=2))
wrong("conv kernel", IMAGE, lambda tf, L, x: L.conv2d(x, 4, [3, 3, 3]))
wrong("conv padding", IMAGE, lambda tf, L, x: L.conv2d(x, 4, 3, padding="FOO"))
wrong("transpose format", IMAGE, lambda tf, L, x: L.conv2d_transpose(x, 4, 3, data_format="NDHWC"))
wrong("bn format", IMAGE, lambda tf, L, x: L.batch_norm(x, data_format="X"))
wrong("bn unknown", [5, None], lambda tf, L, x: L.batch_norm(x))
case("bn weights fused", IMAGE, lambda tf, L, x: L.batch_norm(x, batch_weights=tf.ones([2]), fused=True))
wrong("layer_norm unknown", [None, None], lambda tf, L, x: L.layer_norm(x))
wrong("layer_norm axis", FLAT, lambda tf, L, x: L.layer_norm(x, begin_norm_axis=2))
wrong("layer_norm parameters", FLAT, lambda tf, L, x: L.layer_norm(x, begin_params_axis=2))
wrong("group_norm groups", IMAGE, lambda tf, L, x: L.group_norm(x, groups=3))
wrong("group_norm many", IMAGE, lambda tf, L, x: L.group_norm(x))
wrong("group_norm axes", IMAGE, lambda tf, L, x: L.group_norm(x, groups=2, reduction_axes=(1, 3)))
wrong("instance_norm unknown", [2, 3, 3, None], lambda tf, L, x: L.instance_norm(x))
wrong("pool format", IMAGE, lambda tf, L, x: L.max_pool2d(x, 2, data_format="A"))
wrong("pool rank", FLAT, lambda tf, L, x: L.max_pool2d(x, 2))
wrong("flatten scalar", [], lambda tf, L, x: L.flatten(x))
wrong("embed sizes", FLAT, lambda tf, L, x: L.embed_sequence(tf.cast(x, tf.int32)))
wrong("embed reuse", FLAT, lambda tf, L, x: L.embed_sequence(tf.cast(x, tf.int32), 5, 3, reuse=True))
wrong("one_hot floats", [3], lambda tf, L, x: L.one_hot_encoding(x, 10))
wrong("unit_norm", FLAT, lambda tf, L, x: L.unit_norm(x, 3))
wrong("spatial_softmax", [2, 3, 3, None], lambda tf, L, x: L.spatial_softmax(x))
wrong("maxout", [2, 5], lambda tf, L, x: L.maxout(x, 3))
wrong("stack", FLAT, lambda tf, L, x: L.stack(x, L.fully_connected, 3))
wrong("l2 whole", FLAT, lambda tf, L, x: L.l2_regularizer(1))
wrong("l2 negative", FLAT, lambda tf, L, x: L.l2_regularizer(-1.0))
wrong("l1 bool", FLAT, lambda tf, L, x: L.l1_regularizer(True))
wrong("l1_l2 whole", FLAT, lambda tf, L, x: L.l1_l2_regularizer(1, 0.2))
wrong("no weights", FLAT, lambda tf, L, x: L.apply_regularization(L.l2_regularizer(0.5)))
wrong("mode", FLAT, lambda tf, L, x: L.variance_scaling_initializer(mode="FOO"))
wrong("initializer type", FLAT, lambda tf, L, x: L.variance_scaling_initializer(dtype=tf.int32))


def optimize(case_name, **arguments):
    def build(tf, contrib):
        L = contrib.layers
        x = tf.constant(feed([3, 4]))
        y = L.fully_connected(x, 2, activation_fn=None)
        step = tf.train.get_or_create_global_step()
        chosen = {key: value(tf, L) if callable(value) else value for key, value in arguments.items()}
        chosen.setdefault("optimizer", "SGD")
        chosen.setdefault("learning_rate", 0.1)
        train = L.optimize_loss(tf.reduce_sum(tf.square(y)), step, **chosen)
        values = [variable.read_value() for variable in tf.trainable_variables()[:2]]
        return {
            "outputs": dict(zip(["w", "b"], values), step=step.read_value()),
            "as_initialized": False,
            "each_run": train,
            "runs": 3,
            "names": {"train": train},
        }

    CASES["optimize_loss " + case_name] = build


for _name in ("Adagrad", "Adam", "Ftrl", "Momentum", "RMSProp", "SGD"):
    optimize(_name, optimizer=_name)
optimize("all summaries", summaries=lambda tf, L: L.OPTIMIZER_SUMMARIES, clip_gradients=1.0)
optimize("multipliers", gradient_multipliers={"fully_connected/weights": 2.0, "fully_connected/biases:0": 0.5})
optimize("class", optimizer=lambda tf, L: tf.train.AdagradOptimizer)
optimize("instance", optimizer=lambda tf, L: tf.train.MomentumOptimizer(0.1, 0.9), learning_rate=None, name="train")
optimize("function", optimizer=lambda tf, L: lambda rate: tf.train.GradientDescentOptimizer(rate * 2))
optimize(
    "decay", learning_rate_decay_fn=lambda tf, L: lambda rate, step: tf.train.exponential_decay(rate, step, 1, 0.5)
)
optimize("tensor", learning_rate=lambda tf, L: tf.constant(0.05), increment_global_step=False)
optimize("clip function", clip_gradients=lambda tf, L: lambda pairs: [(g * 0.5, v) for g, v in pairs])
optimize("some variables", variables=lambda tf, L: tf.trainable_variables()[:1])
for _name, _arguments in {
    "name": {"optimizer": "Foo"},
    "optimizer": {"optimizer": 3},
    "summaries": {"summaries": ["x"]},
    "clip": {"clip_gradients": "a"},
    "no variables": {"variables": []},
    "no rate": {"learning_rate": None},
    "negative rate": {"learning_rate": -0.1},
    "text rate": {"learning_rate": "s"},
    "function": {"optimizer": lambda tf, L: lambda rate: 3},
}.items():
    optimize("wrong " + _name, **_arguments)


def summarize(name, summary):
    def build(tf, contrib):
        y = contrib.layers.fully_connected(tf.constant(feed([3, 4])), 2, scope="fc")
        tf.add_to_collection(tf.GraphKeys.ACTIVATIONS, y)
        made = summary(tf, contrib.layers, y)
        return {"outputs": {"number": tf.constant(len(made) if isinstance(made, list) else 1), "y": y}}

    CASES["summarize " + name] = build


summarize("tensor", lambda tf, L, y: L.summarize_tensor(y))
summarize("scalar", lambda tf, L, y: L.summarize_tensor(tf.reduce_mean(y), tag="tag"))
summarize("tensors", lambda tf, L, y: L.summarize_tensors([y, y]))
summarize("collection", lambda tf, L, y: L.summarize_collection("model_variables"))
summarize("some", lambda tf, L, y: L.summarize_collection("model_variables", name_filter=".*weights"))
summarize("activations", lambda tf, L, y: L.summarize_activations())
summarize("relu6", lambda tf, L, y: L.summarize_activation(tf.nn.relu6(y)))
summarize("identity", lambda tf, L, y: L.summarize_activation(tf.identity(y)))


case("images to sequence", IMAGE, lambda tf, L, x: L.images_to_sequence(x, outputs_collections="ends"))
case("images to sequence first", IMAGE, lambda tf, L, x: L.images_to_sequence(x, data_format="NCHW", scope="s"))
wrong("images to sequence", IMAGE, lambda tf, L, x: L.images_to_sequence(x, data_format="HWC"))
case("sequence to images", [6, 10, 4], lambda tf, L, x: L.sequence_to_images(x, 5, outputs_collections="ends"))
case("sequence to images first", [6, 10, 4], lambda tf, L, x: L.sequence_to_images(x, 5, "channels_first"))
case("legacy", FLAT, lambda tf, L, x: L.legacy_fully_connected(x, 5))
case(
    "legacy regularized",
    FLAT,
    lambda tf, L, x: L.legacy_fully_connected(
        x, 5, weight_regularizer=L.l2_regularizer(0.1), bias_regularizer=L.l1_regularizer(0.2), trainable=False
    ),
)
case(
    "legacy rank 3",
    [3, 2, 4],
    lambda tf, L, x: L.legacy_fully_connected(x, 5, tf.nn.relu, bias_init=None, name="n", output_collections=["o"]),
)
case("legacy unknown", [None, None, 4], lambda tf, L, x: L.legacy_relu(x, 5))
case("legacy linear", FLAT, lambda tf, L, x: L.legacy_linear(x, 5, weight_collections=["w"], bias_collections=None))
wrong("legacy rank 1", [4], lambda tf, L, x: L.legacy_linear(x, 5))
wrong("legacy unknown channels", [3, None], lambda tf, L, x: L.legacy_linear(x, 5))


def _sparse(tf, contrib):
    found = contrib.layers.dense_to_sparse(tf.constant([[1, 0, 2], [0, 7, 3]]), eos_token=7)
    return {"outputs": {"indices": found.indices, "values": found.values, "shape": found.dense_shape}}


CASES["dense to sparse"] = _sparse


case("gdn", [2, 3, 4], lambda tf, L, x: L.gdn(x))
case("gdn image", [None, 5, 6, 4], lambda tf, L, x: L.gdn(x, beta_min=0.1, gamma_init=0.3, reparam_offset=0.01))
case("gdn volume", VOLUME, lambda tf, L, x: L.gdn(x, inverse=True, name="inverse"))
case("gdn double", [2, 3, 4], lambda tf, L, x: L.gdn(tf.cast(x, tf.float64)))
case("gdn fixed", [2, 3, 4], lambda tf, L, x: L.gdn(x, trainable=False, activity_regularizer=L.l2_regularizer(0.1)))
case("gdn reused", [2, 3, 4], lambda tf, L, x: L.gdn(L.gdn(L.gdn(x, name="n"), name="n", reuse=True)))
for _name, _shape, _arguments in (
    ("rank 2", FLAT, {}),
    ("rank 6", [2, 2, 2, 2, 2, 2], {}),
    ("unknown channels", [2, 3, None], {}),
    ("format", [2, 3, 4], {"data_format": "NHWC"}),
):
    wrong("gdn " + _name, _shape, lambda tf, L, x, arguments=_arguments: L.gdn(x, **arguments))


def _gdn_layer(tf, contrib):
    """As it starts, and its gradients beyond its bounds."""
    layer = contrib.layers.GDN(gamma_init=0.2, name="k")
    y = layer(tf.constant(feed([2, 3, 4])))
    outputs = {"y": y, "beta": layer.beta, "gamma": layer.gamma}
    for variable, bound in zip(tf.trainable_variables(), (layer.beta, layer.gamma)):
        for sign in (1.0, -1.0):
            slope = tf.gradients(sign * tf.reduce_sum(bound), variable)[0]
            outputs["%s %s" % (variable.op.name, sign)] = tf.identity(slope, name="slope")
    return {"outputs": outputs, "as_initialized": True}


CASES["gdn layer"] = _gdn_layer


def _scaled(tf, L, x):
    y = L.scale_gradient(x, 0.5, name="half")
    w = tf.get_variable("w", [4])
    return y * y + L.scale_gradient(x * w, tf.constant([1.0, 2.0, 3.0, 4.0]), name="each")


case("scale_gradient", FLAT, _scaled)


def repeated(name, build):
    """A case with variables that are resources."""

    def whole(tf, contrib):
        x = tf.placeholder(tf.float32, [2, 4], name="x")
        with tf.variable_scope("v", use_resource=True):
            outputs = build(tf, contrib.layers, x)
        found = {str(i): y for i, y in enumerate(outputs)}
        loss = tf.add_n([tf.reduce_sum(tf.square(y)) for y in outputs])
        found["slope"] = tf.identity(tf.gradients(loss, x)[0], name="slope")
        return {"outputs": found, "loss": loss, "feeds": {x: feed([2, 4])}}

    CASES[name] = whole


def _dense(tf, L, size, activation=None):
    def function(x, side=None):
        y = tf.layers.dense(x, size, activation, kernel_regularizer=L.l2_regularizer(0.1))
        return y if side is None else y * side[0]

    return function


def _told(tf, L):
    def function(x, is_recomputing=False):
        return L.batch_norm(x, fused=False, updates_collections=None if is_recomputing else "update_ops")

    return function


for _name, _arguments in {
    "recompute_grad": {},
    "recompute_grad tuple": {"tupleize_grads": True},
    "recompute_grad data": {"use_data_dep": True},
    "recompute_grad tuple data": {"use_data_dep": True, "tupleize_grads": True},
}.items():
    repeated(
        _name,
        lambda tf, L, x, arguments=_arguments: [
            (L.recompute_grad(**arguments) if arguments else L.recompute_grad)(
                lambda x: tf.layers.dense(_dense(tf, L, 3, tf.tanh)(x), 2)
            )(x)
        ],
    )
repeated("recompute_grad list", lambda tf, L, x: L.recompute_grad(lambda x: [x * 2, _dense(tf, L, 3)(x)])(x))
repeated("recompute_grad told", lambda tf, L, x: [L.recompute_grad(_told(tf, L))(x)])
wrong("recompute_grad closure", FLAT, lambda tf, L, x: L.recompute_grad(lambda y: y * x))
wrong("recompute_grad keyword", FLAT, lambda tf, L, x: L.recompute_grad(lambda y: y)(y=x))


def reversible(name, **arguments):
    def build(tf, L, x):
        given = dict(arguments)
        f_side = g_side = None
        if given.pop("side", False):
            f_side, g_side = [tf.tanh(x[:, 2:])], [tf.sin(x[:, :2])]
        f = given.pop("f", lambda tf, L: _dense(tf, L, 2, tf.tanh))(tf, L)
        x1, x2 = tf.split(x, 2, axis=1)
        return L.rev_block(x1, x2, f, _dense(tf, L, 2), f_side_input=f_side, g_side_input=g_side, **given)

    repeated("rev_block " + name, build)


reversible("one")
reversible("three", num_layers=3)
reversible("side", num_layers=2, side=True)
reversible("plain", num_layers=2, is_training=False)
reversible("functions", num_layers=2, f=lambda tf, L: [lambda x: x * 2, _dense(tf, L, 2)])


def _layer(tf, L, x):
    block = L.RevBlock(_dense(tf, L, 2, tf.tanh), _dense(tf, L, 2), num_layers=2, name="mine")
    y1, y2 = block.forward(*tf.split(x, 2, axis=1))
    again = block.backward(y1, y2)
    return list(block([y1, y2])) + list(again)


repeated("RevBlock", _layer)


def target(name, make, logits, labels, weights=None, metrics=None):
    """The losses, predictions and metrics of a target column."""

    def build(tf, contrib):
        column = make(tf, contrib)
        features = {} if weights is None else {"w": tf.constant(weights)}
        x, y = tf.constant(logits), tf.constant(labels)
        found = {"loss": column.loss(x, y, features), "training_loss": column.training_loss(x, y, features)}
        for proba in (False, True):
            try:
                found["predictions %s" % proba] = column.logits_to_predictions(x, proba=proba)
            except ValueError as error:
                found["predictions %s" % proba] = tf.constant(str(error))
        chosen = metrics and {key: metric(contrib.metrics) for key, metric in metrics.items()}
        made = column.get_eval_ops(features, x, y, metrics=chosen)
        found.update({"metric %s" % (key,): value[0] for key, value in made.items()})
        described = "%s %s %s" % (column.num_label_columns, column.problem_type, column.weight_column_name)
        found["column"] = tf.constant(described)
        return {"outputs": found, "each_run": [value[1] for value in made.values()], "runs": 2}

    CASES["target " + name] = build


ONE, TWO, THREE = [[1.0], [-2.0], [0.5]], [[1.0, 2.0], [0.0, -1.0]], [[1.0, 2.0, 3.0], [0.0, -1.0, 0.2]]
target("numbers", lambda tf, c: c.layers.regression_target(), ONE, [1.0, 0.0, 2.0])
target(
    "numbers weights",
    lambda tf, c: c.layers.regression_target(weight_column_name="w"),
    ONE,
    [[1], [0], [2]],
    [[1], [2], [5]],
    {"mse": lambda m: m.streaming_mean_squared_error, ("mae", None): lambda m: m.streaming_mean_absolute_error},
)
target("numbers two", lambda tf, c: c.layers.regression_target(label_dimension=2), TWO, [[1.0, 0.0], [2.0, 1.0]])
target(
    "numbers two weights",
    lambda tf, c: c.layers.regression_target(label_dimension=2, weight_column_name="w"),
    TWO,
    [[1.0, 0.0], [2.0, 1.0]],
    [1.0, 2.0],
)
target("classes two", lambda tf, c: c.layers.multi_class_target(2), ONE, [[1], [0], [0]])
target(
    "classes two weights",
    lambda tf, c: c.layers.multi_class_target(2, weight_column_name="w"),
    ONE,
    [1, 0, 0],
    [1.0, 2.0, 0.5],
    {
        ("a", "probabilities"): lambda m: lambda values, labels, weights=None: m.streaming_mean(values[:, 1], weights),
        "b": lambda m: m.streaming_accuracy,
    },
)
target("classes three", lambda tf, c: c.layers.multi_class_target(3), THREE, [[1], [0]])
target("classes three weights", lambda tf, c: c.layers.multi_class_target(3, None, "w"), THREE, [1, 2], [1.0, 2.0])
for _key in (("a", "b", "c"), ("a", None)):
    target(
        "classes %s" % (_key,),
        lambda tf, c: c.layers.multi_class_target(3),
        THREE,
        [1, 2],
        None,
        {_key: lambda m: m.streaming_accuracy},
    )
wrong("target classes", FLAT, lambda tf, L, x: L.multi_class_target(1))


def _svm(tf, contrib, weights=None):
    module = getattr(contrib.layers, "target_column", None)
    if module is None:  # in 1.15 it is at its address only
        module = importlib.import_module("tensorflow.contrib.layers.python.layers.target_column")
    return module.binary_svm_target(weight_column_name=weights)


target("svm", _svm, ONE, [1, 0, 1])
target("svm weights", lambda tf, c: _svm(tf, c, "w"), ONE, [[1], [0], [1]], [1.0, 2.0, 0.5])


for _name, _shape, _arguments in (
    ("flat", FLAT, {}),
    ("image", IMAGE, {"scale": True, "decay": 0.9, "renorm_decay": 0.8}),
    ("clipped", [None, 4], {"renorm_clipping": {"rmax": 1.1, "rmin": 0.9, "dmax": 0.1}, "scope": "clipped"}),
    ("inference", FLAT, {"is_training": False}),
    ("one operation", IMAGE, {"fused": True}),
    ("first", IMAGE, {"data_format": "NCHW", "fused": False}),
    ("volume", VOLUME, {"activation_fn": "relu", "outputs_collections": "oc", "variables_collections": ["vc"]}),
    ("fixed", FLAT, {"trainable": False, "scale": True, "variables_collections": {"beta": ["bb"]}}),
    ("adjusted", FLAT, {"adjustment": True}),
):
    _arguments = dict({"renorm": "adjustment" not in _arguments}, **_arguments)

    def _renorm(tf, L, x, arguments=_arguments):
        given = dict(arguments)
        if "activation_fn" in given:
            given["activation_fn"] = tf.nn.relu
        if "adjustment" in given:
            given["adjustment"] = lambda shape: (tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant([0.1, 0.2, 0.3, 0.4]))
        return L.batch_norm(x, **given)

    case("bn renorm " + _name, _shape, _renorm)
case("bn renorm tensor", FLAT, lambda tf, L, x: L.batch_norm(x, is_training=tf.equal(1, 1), renorm=True))
case(
    "bn renorm parameters",
    FLAT,
    lambda tf, L, x: L.batch_norm(
        x,
        scale=True,
        renorm=True,
        param_initializers={"moving_mean": tf.ones_initializer(), "gamma": tf.zeros_initializer()},
        param_regularizers={"beta": L.l2_regularizer(0.1)},
    ),
)
case(
    "bn renorm reused",
    FLAT,
    lambda tf, L, x: L.batch_norm(L.batch_norm(x, renorm=True, scope="b"), renorm=True, scope="b", reuse=True),
    loss=None,  # the second layer reads what the first one's updates change, before or after it
)
case(
    "bn adjustment ignored",
    FLAT,
    lambda tf, L, x: L.batch_norm(x, updates_collections=None, adjustment=lambda shape: (2.0, 1.0)),
)
for _name, _arguments in {
    "updates": {"updates_collections": None},
    "debias": {"zero_debias_moving_mean": True},
    "weights": {"batch_weights": [1.0, 1.0, 1.0]},
    "clipping": {"renorm_clipping": {"foo": 1.0}},
}.items():
    wrong("bn renorm " + _name, FLAT, lambda tf, L, x, arguments=_arguments: L.batch_norm(x, renorm=True, **arguments))
