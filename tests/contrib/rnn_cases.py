"""Cells and functions of contrib.rnn: what they make and compute must be what 1.15.5 made and computed.

Each case is a function of ``(tf, rnn)`` that builds a graph and returns the tensors to look at. The file has to run on
Python 3.7 too.
"""

import zlib

import numpy as np

BATCH, TIME = 3, 4

# name -> (what makes the cell, size of the input)
CELLS = {
    "basic_rnn": (lambda tf, rnn: rnn.BasicRNNCell(5), 4),
    "basic_lstm": (lambda tf, rnn: rnn.BasicLSTMCell(5), 4),
    "basic_lstm_concatenated": (lambda tf, rnn: rnn.BasicLSTMCell(5, state_is_tuple=False), 4),
    "lstm": (lambda tf, rnn: rnn.LSTMCell(5, use_peepholes=True, num_proj=3, cell_clip=0.5, proj_clip=0.4), 4),
    "gru": (lambda tf, rnn: rnn.GRUCell(5), 4),
    "multi": (lambda tf, rnn: rnn.MultiRNNCell([rnn.BasicLSTMCell(5), rnn.GRUCell(3)]), 4),
    "residual": (lambda tf, rnn: rnn.ResidualWrapper(rnn.GRUCell(4)), 4),
    "device": (lambda tf, rnn: rnn.DeviceWrapper(rnn.GRUCell(4), "/cpu:0"), 4),
    "dropout": (lambda tf, rnn: rnn.DropoutWrapper(rnn.GRUCell(4), output_keep_prob=1.0), 4),
    "layer_norm": (lambda tf, rnn: rnn.LayerNormBasicLSTMCell(5), 4),
    "layer_norm_off": (lambda tf, rnn: rnn.LayerNormBasicLSTMCell(5, layer_norm=False, forget_bias=0.3), 4),
    "layer_norm_gain": (
        lambda tf, rnn: rnn.LayerNormBasicLSTMCell(5, norm_gain=0.5, norm_shift=0.1, activation=tf.nn.relu),
        4,
    ),
    "lstm_block": (lambda tf, rnn: rnn.LSTMBlockCell(5), 4),
    "lstm_block_peephole": (lambda tf, rnn: rnn.LSTMBlockCell(5, use_peephole=True, cell_clip=0.3, forget_bias=0.0), 4),
    "lstm_block_named": (lambda tf, rnn: rnn.LSTMBlockCell(5, name="basic_lstm_cell"), 4),
    "gru_block": (lambda tf, rnn: rnn.GRUBlockCell(5), 4),
    "gru_block_v2": (lambda tf, rnn: rnn.GRUBlockCellV2(5), 4),
    "attention": (lambda tf, rnn: rnn.AttentionCellWrapper(rnn.BasicLSTMCell(5), attn_length=3), 4),
    "attention_sizes": (
        lambda tf, rnn: rnn.AttentionCellWrapper(rnn.GRUCell(5), 2, attn_size=6, attn_vec_size=3, input_size=7),
        4,
    ),
    "attention_concatenated": (
        lambda tf, rnn: rnn.AttentionCellWrapper(rnn.GRUCell(5), 2, state_is_tuple=False),
        4,
    ),
    "coupled": (lambda tf, rnn: rnn.CoupledInputForgetGateLSTMCell(5), 4),
    "coupled_peephole": (
        lambda tf, rnn: rnn.CoupledInputForgetGateLSTMCell(5, use_peepholes=True, num_proj=3, proj_clip=0.4),
        4,
    ),
    "coupled_layer_norm": (
        lambda tf, rnn: rnn.CoupledInputForgetGateLSTMCell(
            5, use_peepholes=True, layer_norm=True, norm_gain=0.7, norm_shift=0.1
        ),
        4,
    ),
    "coupled_concatenated": (lambda tf, rnn: rnn.CoupledInputForgetGateLSTMCell(5, state_is_tuple=False), 4),
    "input_projection": (lambda tf, rnn: rnn.InputProjectionWrapper(rnn.GRUCell(5), 3), 4),
    "input_projection_relu": (lambda tf, rnn: rnn.InputProjectionWrapper(rnn.GRUCell(5), 3, activation=tf.nn.relu), 4),
    "output_projection": (lambda tf, rnn: rnn.OutputProjectionWrapper(rnn.GRUCell(5), 3), 4),
    "output_projection_tanh": (lambda tf, rnn: rnn.OutputProjectionWrapper(rnn.LSTMCell(5), 3, activation=tf.tanh), 4),
    "ugrnn": (lambda tf, rnn: rnn.UGRNNCell(5), 4),
    "intersection": (lambda tf, rnn: rnn.IntersectionRNNCell(5, num_in_proj=5), 4),
    "intersection_same": (lambda tf, rnn: rnn.IntersectionRNNCell(4), 4),
    "nas": (lambda tf, rnn: rnn.NASCell(5), 4),
    "nas_projection": (lambda tf, rnn: rnn.NASCell(5, num_proj=3, use_bias=True), 4),
    "highway": (lambda tf, rnn: rnn.HighwayWrapper(rnn.GRUCell(4)), 4),
    "highway_uncoupled": (
        lambda tf, rnn: rnn.HighwayWrapper(rnn.GRUCell(4), couple_carry_transform_gates=False, carry_bias_init=0.5),
        4,
    ),
    "glstm": (lambda tf, rnn: rnn.GLSTMCell(6, number_of_groups=2), 4),
    "glstm_projection": (lambda tf, rnn: rnn.GLSTMCell(6, num_proj=4, number_of_groups=2), 4),
    "glstm_one": (lambda tf, rnn: rnn.GLSTMCell(6), 4),
    "indrnn": (lambda tf, rnn: rnn.IndRNNCell(5), 4),
    "indygru": (lambda tf, rnn: rnn.IndyGRUCell(5), 4),
    "indylstm": (lambda tf, rnn: rnn.IndyLSTMCell(5), 4),
    "sru": (lambda tf, rnn: rnn.SRUCell(5), 5),
    "sru_projected": (lambda tf, rnn: rnn.SRUCell(5), 4),
    "coupled_shards": (
        lambda tf, rnn: rnn.CoupledInputForgetGateLSTMCell(5, num_unit_shards=2, num_proj=3, num_proj_shards=3),
        4,
    ),
}

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def sequence(size, time=TIME, batch=BATCH):
    return np.random.RandomState(7).uniform(-1, 1, [batch, time, size]).astype(np.float32)


def value(name, shape):
    """A value for the variable ``name``: the same wherever it has that name and shape."""
    return np.random.RandomState(zlib.crc32(name.encode()) % 2**31).uniform(-0.7, 0.7, shape).astype(np.float32)


def initial(array):
    """What is fixed about how a variable starts: its value if that is one number, else only that it is random."""
    return float(array.flat[0]) if np.all(array == array.flat[0]) else "random"


def session_of(tf):
    """A session that runs the graph as it is: to optimize it takes most of the time of a small one that runs once."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return tf.Session(config=config)


def answer(tf, fetches, positive=()):
    """The variables, how they start, the values of ``fetches``, and the gradients of the sum of their squares."""
    found = tf.global_variables()
    flat = [tensor for tensor in tf.nest.flatten(fetches) if tensor.dtype == tf.float32]
    loss = tf.add_n([tf.reduce_sum(tf.square(tensor)) for tensor in flat])
    trained = tf.trainable_variables()
    grads = tf.gradients(loss, trained)
    with session_of(tf) as session:
        session.run(tf.global_variables_initializer())
        starts = [initial(start) for start in session.run(found)]
        feeds = {}
        for variable in found:
            new = value(variable.op.name, variable.shape.as_list())
            if any(word in variable.op.name for word in positive):
                new = np.abs(new) + 0.2
            feeds[variable.initializer.inputs[1]] = new
        session.run([variable.initializer for variable in found], feeds)
        values, slopes = session.run(
            [tf.nest.flatten(fetches), [tf.convert_to_tensor(grad) for grad in grads if grad is not None]]
        )
    return {
        "variables": [
            [variable.name, variable.shape.as_list(), variable.dtype.base_dtype.name, start]
            for variable, start in zip(found, starts)  # noqa: B905
        ],
        "trainable": [variable.name for variable in trained],
        "values": [array.tolist() for array in values],
        "gradients": [
            variable.name if grad is None else [variable.name, float(np.sum(slope)), float(np.sum(np.abs(slope)))]
            for variable, grad, slope in pair_up(trained, grads, slopes)
        ],
    }


def pair_up(trained, grads, slopes):
    slopes = iter(slopes)
    return [(variable, grad, None if grad is None else next(slopes)) for variable, grad in zip(trained, grads)]  # noqa: B905


def shape_of(size):
    return size.as_list() if hasattr(size, "as_list") else size


def describe(tf, cell):
    return {
        "sizes": [shape_of(size) for size in tf.nest.flatten(cell.state_size)] + [shape_of(cell.output_size)],
        "state": type(cell.state_size).__name__,
    }


def run_cell(tf, rnn, name):
    make, size = CELLS[name]
    cell = make(tf, rnn)
    found = describe(tf, cell)
    inputs = tf.constant(sequence(size))
    outputs, state = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32, sequence_length=[4, 2, 3])
    found.update(answer(tf, [outputs, state]))
    return found


@case
def one_step(tf, rnn):
    """The cells once in a scope of their own: the ops' names count too."""
    found = {}
    for name in "layer_norm lstm_block gru_block_v2 attention coupled ugrnn nas glstm highway".split():
        make, size = CELLS[name]
        with tf.variable_scope(name):
            cell = make(tf, rnn)
            output, state = cell(tf.constant(sequence(size)[:, 0]), cell.zero_state(BATCH, tf.float32))
            found[name] = [output.name] + [tensor.name for tensor in tf.nest.flatten(state)]
    return found


@case
def twice(tf, rnn):
    """Cells that are called again, and others of their kind beside them: which variables they share, or why not."""
    x = tf.constant(sequence(4)[:, 0])
    found = []
    for kind in (rnn.LayerNormBasicLSTMCell, rnn.LSTMBlockCell, rnn.UGRNNCell, rnn.NASCell, rnn.SRUCell, rnn.GRUCell):
        first, second = kind(5), kind(5)
        for cell in (first, first, second):
            found.append((error(cell, x, cell.zero_state(BATCH, tf.float32)) or [None])[0])
    return [found, [variable.name for variable in tf.global_variables()]]


@case
def reuse(tf, rnn):
    x = tf.constant(sequence(4)[:, 0])
    with tf.variable_scope("a"):
        rnn.LSTMBlockCell(5)(x, rnn.LSTMBlockCell(5).zero_state(BATCH, tf.float32))
    with tf.variable_scope("a", reuse=True):
        rnn.LSTMCell(5, name="lstm_cell")(x, rnn.LSTMCell(5).zero_state(BATCH, tf.float32))
    return [variable.name for variable in tf.global_variables()]


def time_freq(tf, rnn, **kwargs):
    cell = rnn.TimeFreqLSTMCell(5, feature_size=2, **kwargs)
    columns = 10 * ((4 - 2) // kwargs["frequency_skip"] + 1)
    state = tf.constant(sequence(columns, 1)[:, 0])
    found = describe(tf, cell)
    found.update(answer(tf, cell(tf.constant(sequence(4)[:, 0]), state)))
    return found


@case
def time_freq_plain(tf, rnn):
    return time_freq(tf, rnn, frequency_skip=1)


@case
def time_freq_peephole(tf, rnn):
    return time_freq(tf, rnn, use_peepholes=True, cell_clip=0.4, frequency_skip=2, num_unit_shards=2)


def phased(tf, rnn, **kwargs):
    cell = rnn.PhasedLSTMCell(5, **kwargs)
    times = np.cumsum(np.abs(sequence(1)) * 0.4, axis=1).astype(np.float32)
    outputs, state = tf.nn.dynamic_rnn(cell, (tf.constant(times), tf.constant(sequence(4))), dtype=tf.float32)
    return answer(tf, [outputs, state], positive=("period", "ratio_on"))


@case
def phased_plain(tf, rnn):
    return phased(tf, rnn)


@case
def phased_peephole(tf, rnn):
    return phased(tf, rnn, use_peepholes=True, leak=0.1, ratio_on=0.3, trainable_ratio_on=False)


def convolutional(tf, rnn, dims, **kwargs):
    shape = [3, 4, 2][:dims] + [2]
    cell = getattr(rnn, f"Conv{dims}DLSTMCell")(
        input_shape=shape, output_channels=3, kernel_shape=[3, 2, 3][:dims], **kwargs
    )
    inputs = np.random.RandomState(3).uniform(-1, 1, [2, 2] + shape).astype(np.float32)
    found = describe(tf, cell)
    found.update(answer(tf, list(tf.nn.dynamic_rnn(cell, tf.constant(inputs), dtype=tf.float32))))
    return found


@case
def conv_1d(tf, rnn):
    return convolutional(tf, rnn, 1, use_bias=False)


@case
def conv_2d(tf, rnn):
    return convolutional(tf, rnn, 2)


@case
def conv_2d_skip_connection(tf, rnn):
    cell = rnn.Conv2DLSTMCell(input_shape=[3, 4, 2], output_channels=3, kernel_shape=[2, 3], skip_connection=True)
    found = describe(tf, cell)
    inputs = np.random.RandomState(3).uniform(-1, 1, [2, 3, 4, 2]).astype(np.float32)
    found.update(answer(tf, list(cell(tf.constant(inputs), cell.zero_state(2, tf.float32)))))
    return found


@case
def conv_3d(tf, rnn):
    return convolutional(tf, rnn, 3, forget_bias=0.2)


@case
def embedding(tf, rnn):
    cell = rnn.EmbeddingWrapper(rnn.GRUCell(5), embedding_classes=6, embedding_size=4)
    words = tf.unstack(tf.constant([[1, 2, 0], [5, 5, 3]]))
    return answer(tf, list(rnn.static_rnn(cell, words, dtype=tf.float32)))


@case
def dropout_of_what_is_new(tf, rnn):
    cell = rnn.LayerNormBasicLSTMCell(50, dropout_keep_prob=0.5, dropout_prob_seed=3, layer_norm=False)
    x = tf.constant(sequence(4)[:, 0])
    ones = tf.ones([BATCH, 50])
    _, (c, _) = cell(x, rnn.LSTMStateTuple(ones * 0.0, ones))
    with session_of(tf) as session:
        session.run(tf.global_variables_initializer())
        return [int(np.sum(session.run(c) == 0.0))]


def fused(tf, rnn, cell, as_list=False, **kwargs):
    x = tf.constant(np.transpose(sequence(4), [1, 0, 2]))
    outputs, state = cell(tf.unstack(x) if as_list else x, dtype=tf.float32, **kwargs)
    return answer(tf, [outputs, state])


@case
def block_fused(tf, rnn):
    return fused(tf, rnn, rnn.LSTMBlockFusedCell(5))


@case
def block_fused_lengths(tf, rnn):
    cell = rnn.LSTMBlockFusedCell(5, use_peephole=True, cell_clip=0.3, forget_bias=0.5, name="mine")
    return fused(tf, rnn, cell, sequence_length=[4, 0, 2])


@case
def block_fused_start(tf, rnn):
    start = (tf.constant(sequence(5, 1)[:, 0]), tf.constant(sequence(5, 1)[:, 0]))
    return fused(tf, rnn, rnn.LSTMBlockFusedCell(5), initial_state=start, sequence_length=[1, 3, 2])


@case
def adaptors(tf, rnn):
    found = []
    for dynamic in (False, True):
        for as_list in (False, True):
            with tf.Graph().as_default():
                cell = rnn.FusedRNNCellAdaptor(rnn.GRUCell(5), use_dynamic_rnn=dynamic)
                found.append(fused(tf, rnn, cell, as_list, sequence_length=[4, 2, 3], scope="here"))
    return found


@case
def reversed_in_time(tf, rnn):
    found = []
    for as_list in (False, True):
        for lengths in (None, [4, 2, 3]):
            with tf.Graph().as_default():
                cell = rnn.FusedRNNCellAdaptor(rnn.GRUCell(5)) if as_list else rnn.LSTMBlockFusedCell(5)
                cell = rnn.TimeReversedFusedRNN(cell)
                found.append(fused(tf, rnn, cell, as_list, sequence_length=lengths))
    return found


@case
def static(tf, rnn):
    inputs = tf.unstack(tf.constant(sequence(4)), axis=1)
    first = rnn.static_rnn(rnn.LayerNormBasicLSTMCell(5), inputs, dtype=tf.float32, sequence_length=[4, 2, 3])
    second = rnn.static_bidirectional_rnn(rnn.LSTMBlockCell(5), rnn.GRUCell(3), inputs, dtype=tf.float32)
    attention = rnn.AttentionCellWrapper(rnn.BasicLSTMCell(5), 2)
    third = rnn.static_rnn(attention, inputs, dtype=tf.float32, scope="attended")
    return answer(tf, [first, second, third])


@case
def stacked(tf, rnn):
    inputs = tf.unstack(tf.constant(sequence(4)), axis=1)

    def cells():
        return [rnn.LSTMBlockCell(3), rnn.GRUCell(2)]

    start = [cell.zero_state(BATCH, tf.float32) for cell in cells()]
    found = rnn.stack_bidirectional_rnn(cells(), cells(), inputs, dtype=tf.float32, sequence_length=[4, 2, 3])
    again = rnn.stack_bidirectional_rnn(
        cells(), cells(), inputs, initial_states_fw=start, initial_states_bw=start, scope="again"
    )
    assert isinstance(found[1], tuple)
    return answer(tf, [found, again])


@case
def stacked_dynamic(tf, rnn):
    def cells():
        return [rnn.LayerNormBasicLSTMCell(3), rnn.GRUCell(2)]

    x = tf.constant(sequence(4))
    found = rnn.stack_bidirectional_dynamic_rnn(cells(), cells(), x, dtype=tf.float32, sequence_length=[4, 2, 3])
    again = rnn.stack_bidirectional_dynamic_rnn(
        cells(), cells(), tf.transpose(x, [1, 0, 2]), dtype=tf.float32, time_major=True, scope="again"
    )
    return answer(tf, [found, again])


@case
def helpers(tf, rnn):
    open_batch = tf.placeholder(tf.float32, [4, None, 2])
    x = tf.constant(sequence(2))
    turned = [rnn.transpose_batch_time(x), rnn.transpose_batch_time(tf.ones([3]))]
    sizes = [rnn.best_effort_input_batch_size([open_batch, x]), rnn.best_effort_input_batch_size([open_batch])]
    with session_of(tf) as session:
        values = session.run(turned + [sizes[1]], {open_batch: np.zeros([4, 5, 2])})
    return [[array.tolist() for array in values], sizes[0], [str(tensor.shape.rank) for tensor in turned]]


def error(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except (TypeError, ValueError) as problem:
        # what comes before the last line is where autograph was
        return [type(problem).__name__, str(problem).strip().splitlines()[-1].strip().replace("ValueError: ", "")]
    return None


@case
def errors(tf, rnn):
    x = tf.constant(sequence(4)[:, 0])
    gru = rnn.GRUCell(5)
    inputs = [x]

    def step(cell):
        return error(cell, x, cell.zero_state(BATCH, tf.float32))

    return [
        error(rnn.AttentionCellWrapper, None, 3)[0],
        error(rnn.AttentionCellWrapper, rnn.BasicLSTMCell(5), 3, state_is_tuple=False),
        error(rnn.AttentionCellWrapper, gru, 0),
        error(rnn.InputProjectionWrapper, None, 3)[0],
        error(rnn.OutputProjectionWrapper, None, 3)[0],
        error(rnn.OutputProjectionWrapper, gru, 0),
        error(rnn.EmbeddingWrapper, None, 3, 3)[0],
        error(rnn.EmbeddingWrapper, gru, 0, 3),
        error(rnn.GRUBlockCell),
        error(rnn.GRUBlockCell, 3, 4),
        error(rnn.ConvLSTMCell, 2, [3, 2], 3, [3, 3]),
        error(rnn.GLSTMCell, 5, number_of_groups=2),
        error(rnn.GLSTMCell, 6, num_proj=3, number_of_groups=2),
        step(rnn.GLSTMCell(6, number_of_groups=3)),
        step(rnn.IntersectionRNNCell(5)),
        error(rnn.LSTMBlockFusedCell(5), tf.zeros([2, 3, 4])),
        error(rnn.LSTMBlockCell, 5, units=3)[0],
        error(rnn.stack_bidirectional_rnn, [], [gru], inputs),
        error(rnn.stack_bidirectional_rnn, [gru], None, inputs),
        error(rnn.stack_bidirectional_rnn, (gru,), [gru], inputs),
        error(rnn.stack_bidirectional_rnn, [gru], (gru,), inputs),
        error(rnn.stack_bidirectional_rnn, [gru], [gru, gru], inputs),
        error(rnn.stack_bidirectional_rnn, [gru], [gru], inputs, [x, x], [x]),
        error(rnn.stack_bidirectional_rnn, [gru], [gru], inputs, [x], x),
        error(rnn.stack_bidirectional_dynamic_rnn, [gru], [gru, gru], x),
        error(rnn.stack_bidirectional_dynamic_rnn, [gru], [gru], x, [x, x], [x]),
        error(rnn.best_effort_input_batch_size, [tf.zeros([3], name="flat")]),
    ]


def grid(tf, rnn, kind, size, **kwargs):
    cell = getattr(rnn, kind)(5, **kwargs)
    columns = 5 if isinstance(cell.state_size, tuple) else cell.state_size
    state = [
        tf.constant(np.random.RandomState(i).uniform(-1, 1, [BATCH, columns]).astype(np.float32))
        for i, _ in enumerate(tf.nest.flatten(cell.state_size))
    ]
    state = tf.nest.pack_sequence_as(cell.state_size, state)
    found = describe(tf, cell)
    found["fields"] = getattr(cell.state_tuple_type, "_fields", None)
    inputs = tf.constant(sequence(size))
    output, new_state = cell(inputs[:, 0], state)
    found["names"] = [output.name] + [tensor.name for tensor in tf.nest.flatten(new_state)]
    found.update(answer(tf, [output, new_state, cell(inputs[:, 1], new_state)]))
    found["concatenated"] = [tensor.name for tensor in tf.get_collection("concatenated_variables")]
    return found


PART = {"feature_size": 2, "frequency_skip": 2}
TWO_BLOCKS = {"num_frequency_blocks": [2, 1], "start_freqindex_list": [0, 4], "end_freqindex_list": [4, 6]}


@case
def grid_plain(tf, rnn):
    return grid(tf, rnn, "GridLSTMCell", 4, feature_size=2, frequency_skip=1, num_frequency_blocks=[3], forget_bias=0.3)


@case
def grid_peepholes(tf, rnn):
    return grid(
        tf, rnn, "GridLSTMCell", 4, use_peepholes=True, cell_clip=0.3, num_frequency_blocks=[2], initializer=0, **PART
    )


@case
def grid_shared(tf, rnn):
    return grid(
        tf,
        rnn,
        "GridLSTMCell",
        7,
        use_peepholes=True,
        share_time_frequency_weights=True,
        feature_size=3,
        frequency_skip=4,
        num_frequency_blocks=(2,),
    )


@case
def grid_coupled(tf, rnn):
    return grid(
        tf,
        rnn,
        "GridLSTMCell",
        4,
        use_peepholes=True,
        couple_input_forget_gates=True,
        state_is_tuple=False,
        num_frequency_blocks=[2],
        **PART,
    )


@case
def grid_blocks(tf, rnn):
    return grid(tf, rnn, "GridLSTMCell", 8, share_time_frequency_weights=True, use_peepholes=True, **PART, **TWO_BLOCKS)


@case
def grid_blocks_concatenated(tf, rnn):
    return grid(tf, rnn, "GridLSTMCell", 8, state_is_tuple=False, couple_input_forget_gates=True, **PART, **TWO_BLOCKS)


@case
def grid_both_ways(tf, rnn):
    return grid(
        tf,
        rnn,
        "BidirectionalGridLSTMCell",
        5,
        backward_slice_offset=1,
        share_time_frequency_weights=True,
        couple_input_forget_gates=True,
        num_frequency_blocks=[2],
        **PART,
    )


@case
def grid_both_ways_blocks(tf, rnn):
    return grid(tf, rnn, "BidirectionalGridLSTMCell", 8, use_peepholes=True, cell_clip=0.5, **PART, **TWO_BLOCKS)


@case
def grid_shards(tf, rnn):
    """In parts, in a loop over time, for a batch of unknown size."""
    found = {}
    for kind in ("GridLSTMCell", "BidirectionalGridLSTMCell"):
        with tf.Graph().as_default():
            cell = getattr(rnn, kind)(5, num_unit_shards=5, num_frequency_blocks=[2], **PART)
            inputs = tf.placeholder_with_default(sequence(4), [None, TIME, 4])
            outputs, state = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)
            found[kind] = answer(tf, [outputs, state])
    return found


@case
def grid_errors(tf, rnn):
    def step(size=4, state=None, **kwargs):
        with tf.Graph().as_default():
            cell = rnn.GridLSTMCell(5, feature_size=2, **kwargs)
            state = cell.zero_state(BATCH, tf.float32) if state is None else state
            return error(cell, tf.placeholder(tf.float32, [BATCH, size]), state)

    found = [
        error(rnn.GridLSTMCell, 5, feature_size=2, frequency_skip=1),
        error(rnn.BidirectionalGridLSTMCell, 5, feature_size=2, frequency_skip=1),
        step(frequency_skip=1, num_frequency_blocks=[2]),
        step(frequency_skip=1, num_frequency_blocks=[4]),
        step(frequency_skip=1, num_frequency_blocks=[3, 3]),
        step(None, frequency_skip=1, num_frequency_blocks=[3]),
        step(frequency_skip=2, num_frequency_blocks=[1, 1], start_freqindex_list=[0, 2], end_freqindex_list=[4, 4]),
    ]
    kinds = [  # with other words in 1.15
        step(num_frequency_blocks=[1])[0],
        step(frequency_skip=1, num_frequency_blocks=[3], start_freqindex_list=[0])[0],
        step(frequency_skip=1, num_frequency_blocks=[1, 2], start_freqindex_list=[0], end_freqindex_list=[4])[0],
        step(frequency_skip=1, num_frequency_blocks=[3], start_freqindex_list=[0, 1], end_freqindex_list=[4])[0],
    ]
    return [found, kinds]


@case
def compiled(tf, rnn):
    """Which operations XLA is to compile, with stateful ones and without; and that it gives the cell's results."""
    found = {}
    for stateful in (False, True):
        with tf.Graph().as_default() as graph, tf.variable_scope("", use_resource=False):
            cell = rnn.CompiledWrapper(rnn.GRUCell(5), compile_stateful=stateful)
            step = cell(tf.constant(sequence(4)[:, 0]), cell.zero_state(BATCH, tf.float32))
            marks = {
                operation.name: [operation.get_attr("_XlaCompile"), operation.get_attr("_XlaScope").decode()]
                for operation in graph.get_operations()
                if "_XlaCompile" in operation.node_def.attr and operation.type in ("MatMul", "VariableV2", "Tanh")
            }
            found[str(stateful)] = [describe(tf, cell), marks, answer(tf, list(step))]
    with tf.Graph().as_default():
        cell = rnn.CompiledWrapper(rnn.GRUCell(5))
        found["loop"] = answer(tf, tf.nn.dynamic_rnn(cell, tf.constant(sequence(4)), dtype=tf.float32))
    return found


def first_of_each():
    """The names of the cells of which none before is of the same classes, with other arguments."""
    names = {}
    for name, (make, _) in CELLS.items():
        classes = [word for word in make.__code__.co_names if word[0].isupper()]
        names.setdefault(tuple(classes), name)
    return list(names.values())


def run(tf, rnn, part=None):
    """The answers of all cells and cases, or of one part: "cells", "first cells" or "functions"."""
    answers = {}
    cells = {"functions": [], "first cells": first_of_each()}.get(part, CELLS)
    for name in cells:
        with tf.Graph().as_default():
            answers["cell " + name] = run_cell(tf, rnn, name)
    for name, function in CASES.items() if part in (None, "functions") else ():
        with tf.Graph().as_default():
            answers[name] = function(tf, rnn)
    return answers
