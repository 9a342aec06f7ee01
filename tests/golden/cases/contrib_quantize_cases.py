"""Cases of ``tf.contrib.quantize``: name -> function of (tf, contrib). See contrib_record.py. Runs on Python 3.7 too.

Recorded are the operations that round and that fold, with who takes them; the variables; and, of graphs that train, the
loss of each step, and all variables after the last one.
"""

from contrib_record import feed

CASES = {}
STEPS = 4


def start(shape, dtype=None, partition_info=None):
    """Initial values of a variable, between -1 and 1."""
    shape = [int(size) for size in shape]
    return feed(shape, seed=sum(shape))


def plain(tf, slim, x, training):
    net = slim.conv2d(x, 3, [3, 3], scope="c1")
    net = slim.separable_conv2d(net, None, [3, 3], 1, scope="dw")
    return slim.fully_connected(slim.flatten(net), 3, activation_fn=None, scope="fc")


def normalized(tf, slim, x, training, fused=True, scale=True):
    norm = dict(is_training=training, fused=fused, scale=scale, decay=0.9)
    layers = [slim.conv2d, slim.separable_conv2d]
    with (
        slim.arg_scope(layers, normalizer_fn=slim.batch_norm, activation_fn=tf.nn.relu6, normalizer_params=norm),
        slim.arg_scope(layers, weights_regularizer=slim.l2_regularizer(0.01)),
    ):
        net = slim.conv2d(x, 4, [3, 3], scope="c1")
        net = slim.separable_conv2d(net, None, [3, 3], 1, scope="dw")
    return slim.fully_connected(tf.reduce_mean(net, [1, 2]), 3, activation_fn=None, scope="fc")


def composed(tf, slim, x, training):
    return normalized(tf, slim, x, training, fused=False)


def unscaled(tf, slim, x, training):
    return normalized(tf, slim, x, training, fused=False, scale=False)


def residual(tf, slim, x, training):
    net = slim.conv2d(x, 4, [3, 3], scope="c1")
    with tf.variable_scope("res"):
        net = tf.nn.relu(slim.conv2d(net, 4, [3, 3], activation_fn=None, scope="c2") + net)
    return slim.fully_connected(tf.reduce_mean(net, [1, 2]), 3, activation_fn=None, scope="fc")


def inverted(tf, slim, x, training):
    """A block as in MobileNet: narrow, wide, narrow, and around it an addition without an activation."""
    norm = dict(is_training=training)
    with slim.arg_scope(
        [slim.conv2d, slim.separable_conv2d],
        normalizer_fn=slim.batch_norm,
        activation_fn=tf.nn.relu6,
        normalizer_params=norm,
    ):
        narrow = slim.conv2d(x, 3, [1, 1], scope="a")
        with tf.variable_scope("block"):
            net = slim.conv2d(narrow, 6, [1, 1], scope="expand")
            net = slim.separable_conv2d(net, None, [3, 3], 1, scope="dw")
            net = slim.conv2d(net, 3, [1, 1], activation_fn=None, scope="project")
            net = tf.identity(net, name="out") + narrow
        net = slim.conv2d(net, 3, [1, 1], scope="z")
    net = slim.avg_pool2d(net, [6, 6], scope="pool")
    net = slim.conv2d(net, 3, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
    return tf.squeeze(net, [1, 2], name="squeeze")


def layers(tf, slim, x, training):
    net = tf.layers.conv2d(x, 3, 3, name="c1", use_bias=False, kernel_initializer=start)
    net = tf.nn.relu(tf.layers.batch_normalization(net, training=training, name="b1"))
    net = tf.reduce_mean(net, [1, 2])
    return tf.layers.dense(net, 3, name="fc", kernel_initializer=start)


def keras(tf, slim, x, training):
    net = tf.keras.layers.Conv2D(3, 3, use_bias=False, name="c1", kernel_initializer=start)(x)
    net = tf.keras.layers.BatchNormalization(name="b1")(net, training=training)
    net = tf.keras.layers.ReLU(6.0)(net)
    net = tf.reduce_mean(net, [1, 2])
    return tf.keras.layers.Dense(3, name="fc", kernel_initializer=start)(net)


def bare(tf, slim, x, training):
    """Operations on variables in no scope."""
    w, b = tf.get_variable("w", [3, 3, 2, 3]), tf.get_variable("b", [3])
    net = tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME") + b)
    net = tf.matmul(tf.reduce_mean(net, [1, 2]), tf.get_variable("w2", [3, 3]))
    return tf.nn.bias_add(net, tf.get_variable("b2", [3]))


def others(tf, slim, x, training):
    """Other activations, no bias, no activation, weights of two layers, and a product of activations."""
    a = slim.conv2d(x, 2, [1, 1], activation_fn=None, scope="a")
    b = slim.conv2d(x, 2, [1, 1], biases_initializer=None, scope="b")
    c = slim.max_pool2d(tf.concat([a, b], 3, name="cat"), [2, 2], scope="pool")
    d = slim.conv2d(c, 4, [1, 1], activation_fn=tf.nn.elu, scope="d")
    e = slim.conv2d(d, 4, [1, 1], biases_initializer=None, activation_fn=None, scope="e")
    f = slim.conv2d(e, 4, [1, 1], scope="d", reuse=True)
    g = slim.conv2d(f, 3, [3, 3], scope="g")
    h = tf.matmul(tf.reduce_mean(g, [1, 2]), tf.get_variable("w", [3, 3]), name="h")
    return tf.matmul(tf.matmul(h, h, transpose_b=True, name="square"), h, name="cube")


def chosen(key, net, training, rewrite="create_{}_graph", **options):
    def build(tf, contrib):
        graph = tf.get_default_graph()
        x = tf.placeholder(tf.float32, [2, 6, 6, 2], name="x")
        slim = contrib.slim
        kinds = [slim.conv2d, slim.separable_conv2d, slim.fully_connected]
        with tf.variable_scope("", initializer=start), slim.arg_scope(kinds, weights_initializer=start):
            out = net(tf, slim, x, training)
        before = {op.name for op in graph.get_operations()}
        getattr(contrib.quantize, rewrite.format("training" if training else "eval"))(**options)
        kinds = ("FakeQuantWithMinMaxVars", "GreaterEqual", "Conv2D", "DepthwiseConv2dNative", "MatMul")
        lines = []
        for op in graph.get_operations():
            if op.type in kinds or op.name.endswith(("_fold", "_correction_scale", "Undo_Bessel_Correction", "_mul")):
                lines.append("%s(%s)" % (op.name, ", ".join(tensor.name for tensor in op.inputs)))
        lines.extend(sorted(op.name for op in graph.get_operations() if op.name not in before and op.type == "Assign"))
        return trained(tf, x, out, lines) if training else evaluated(tf, x, out, lines)

    CASES[key] = build


def evaluated(tf, x, out, lines):
    return {
        "outputs": {"out": out, "text": tf.constant(lines)},
        "feeds": {x: feed([2, 6, 6, 2])},
        "as_initialized": True,
    }


def trained(tf, x, out, lines):
    loss = tf.reduce_sum(tf.square(out - [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]))
    changed = tf.global_variables()
    # without UPDATE_OPS: a correction reads moving averages before or after a step's update of them, by chance
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    losses = tf.Variable(tf.zeros([STEPS]), name="losses", trainable=False)
    noted = tf.assign(losses, tf.concat([losses[1:], [loss]], 0))
    outputs = {variable.op.name: tf.identity(variable, name="after") for variable in changed}
    outputs.update({"losses": tf.identity(losses, name="after"), "text": tf.constant(lines)})
    return {
        "outputs": {key: tf.identity(tensor, name="found") for key, tensor in sorted(outputs.items())},
        "feeds": {x: feed([2, 6, 6, 2])},
        "as_initialized": True,
        "runs": STEPS,
        "each_run": [step, noted],
    }


for _net in (plain, normalized, composed, unscaled, residual, inverted, layers, keras, bare, others):
    chosen("train " + _net.__name__, _net, True)
    chosen("eval " + _net.__name__, _net, False)
chosen("delay", plain, True, quant_delay=3)
chosen("delay normalized", normalized, True, quant_delay=2)
chosen("experimental freeze", normalized, True, "experimental_create_{}_graph", quant_delay=1, freeze_bn_delay=3)
chosen("experimental freeze composed", composed, True, "experimental_create_{}_graph", freeze_bn_delay=3)
chosen("experimental symmetric", residual, True, "experimental_create_{}_graph", symmetric=True, weight_bits=4)
chosen("experimental bits", plain, False, "experimental_create_{}_graph", activation_bits=4, quant_delay=1)
chosen("experimental scope", normalized, False, "experimental_create_{}_graph", scope="dw")
chosen("experimental scope slash", plain, True, "experimental_create_{}_graph", scope="dw/")
