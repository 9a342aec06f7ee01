"""Cases of ``tf.contrib.recurrent``: name -> function of (tf, contrib); see contrib_record.py. For Python 3.7 too."""

from contrib_record import feed

CASES = {}

LENGTHS = [3, 0, 2]


def recorded(tf, values):
    """The values, flat and of unknown size: 1.15.5 does not know the shapes of what its functions return."""
    flat = {key: tf.reshape(value, [-1]) for key, value in values.items()}
    values = {key: tf.placeholder_with_default(value, [None], name=key) for key, value in flat.items()}
    return {"outputs": values, "loss": sum(tf.reduce_sum(value * value) for value in values.values())}


def rnn(name, cell="GRUCell", **kwargs):
    def build(tf, contrib):
        x = tf.get_variable("x", [4, 3, 2] if kwargs.get("time_major") else [3, 4, 2])
        made = getattr(tf.nn.rnn_cell, cell)(5)
        arguments = dict(kwargs)
        if arguments.pop("initial", False):
            arguments["initial_state"] = tf.constant(feed([3, 5]))
        else:
            arguments["dtype"] = tf.float32
        outputs, state = contrib.recurrent.functional_rnn(made, x, **arguments)
        values = {"state%d" % number: value for number, value in enumerate(tf.nest.flatten(state))}
        return recorded(tf, dict(values, outputs=outputs))

    CASES["functional_rnn " + name] = build


rnn("plain")
rnn("lstm", "BasicLSTMCell", sequence_length=LENGTHS)
rnn("lengths", sequence_length=LENGTHS)
rnn("time major", time_major=True, sequence_length=LENGTHS)
rnn("initial state", initial=True, scope="mine")
rnn("reverse", reverse=True)
rnn("reverse lstm", "LSTMCell", reverse=True)
rnn("reverse lengths", reverse=True, sequence_length=LENGTHS)
rnn("reverse time major", reverse=True, time_major=True, sequence_length=LENGTHS)
rnn("tpu", use_tpu=True, sequence_length=LENGTHS)


def both(name, **kwargs):
    def build(tf, contrib):
        x = tf.get_variable("x", [4, 3, 2] if kwargs.get("time_major") else [3, 4, 2])
        cells = tf.nn.rnn_cell.GRUCell(5), tf.nn.rnn_cell.BasicRNNCell(4)
        outputs, states = contrib.recurrent.bidirectional_functional_rnn(*cells, inputs=x, dtype=tf.float32, **kwargs)
        return recorded(tf, {"fw": outputs[0], "bw": outputs[1], "state_fw": states[0], "state_bw": states[1]})

    CASES["bidirectional " + name] = build


both("plain")
both("lengths", sequence_length=LENGTHS)
both("time major", sequence_length=LENGTHS, time_major=True, scope="mine")
both("fast", fast_reverse=True)
both("fast lengths", fast_reverse=True, sequence_length=[3, 3, 3])
both("fast time major", fast_reverse=True, time_major=True)
both("fast uneven", fast_reverse=True, sequence_length=LENGTHS)
both("tpu fast", use_tpu=True, fast_reverse=True)
both("tpu fast lengths", use_tpu=True, fast_reverse=True, sequence_length=LENGTHS)


def recurrent(name, gradient=False, length=None, **kwargs):
    def build(tf, contrib):
        theta = {"w": tf.get_variable("w", [2, 2]) * 1.0, "b": tf.get_variable("b", [2]) * 1.0}
        inputs = {"x": tf.get_variable("x", [4, 3, 2]) * 1.0}
        state0 = {"h": tf.get_variable("h", [3, 2]) * 1.0, "n": tf.zeros([])}

        def cell(theta, state, given):
            product = tf.matmul(state["h"], theta["w"]) + given["x"] * theta["b"]
            return {"h": tf.sigmoid(product), "n": state["n"] + 1.0}, {"product": product}

        def cell_grad(theta, state, given, extras, of_new):
            outer = of_new["h"] * 3.0
            back = tf.matmul(outer, theta["w"], transpose_b=True)
            of_theta = {"w": tf.matmul(state["h"], outer, transpose_a=True), "b": tf.reduce_sum(outer * given["x"], 0)}
            of_state = {"h": back + 0.0 * extras["product"], "n": of_new["n"]}
            return of_theta, of_state, {"x": outer * theta["b"]}

        if gradient:
            kwargs["cell_grad"] = cell_grad
        if length is not None:
            kwargs["max_input_length"] = tf.constant(length)
        states, last = contrib.recurrent.Recurrent(theta, state0, inputs, cell, **kwargs)
        values = {"h": states["h"], "n": states["n"], "last_h": last["h"], "last_n": last["n"]}
        found = recorded(tf, values)
        if kwargs.get("aligned_end"):
            del found["loss"]  # 1.15.5 gets its gradient wrong: it goes through steps that were not computed
        return found

    CASES["Recurrent " + name] = build


recurrent("plain")
recurrent("cut", length=2)
recurrent("cut at the beginning", length=3, aligned_end=True)
recurrent("gradient", gradient=True)
