"""Cases of ``tf.contrib.cudnn_rnn``: its cells; see contrib_record.py. Runs on Python 3.7 too.

The layers, which 1.15.5 runs on GPUs only, are in tests/contrib/test_cudnn_rnn.py.
"""

from contrib_record import feed

CASES = {}


def case(name, make, initialized=False):
    def build(tf, contrib):
        y, state = tf.nn.dynamic_rnn(make(tf, contrib.cudnn_rnn), tf.constant(feed([2, 4, 5])), dtype=tf.float32)
        found = {"outputs": {"y": y}, "loss": tf.reduce_sum(tf.square(y))}
        for i, part in enumerate(state if isinstance(state, tuple) else [state]):
            found["outputs"]["state%d" % i] = part
        if initialized:  # biases only: what kernels begin with is random
            variables = [v for v in tf.global_variables() if "bias" in v.name]
            found = {"outputs": {v.op.name: tf.identity(v) for v in variables}, "as_initialized": True}
        return found

    CASES[name] = build


case("lstm", lambda tf, c: c.CudnnCompatibleLSTMCell(3))
case("gru", lambda tf, c: c.CudnnCompatibleGRUCell(3))
case("gru initializer", lambda tf, c: c.CudnnCompatibleGRUCell(3, kernel_initializer=tf.ones_initializer()))
case("lstm biases", lambda tf, c: c.CudnnCompatibleLSTMCell(3), initialized=True)
case("gru biases", lambda tf, c: c.CudnnCompatibleGRUCell(3), initialized=True)
case(
    "several",
    lambda tf, c: tf.nn.rnn_cell.MultiRNNCell([c.CudnnCompatibleGRUCell(3), c.CudnnCompatibleGRUCell(2)]),
)
case("wrong argument", lambda tf, c: c.CudnnCompatibleLSTMCell(3, forget_bias=1.0))
