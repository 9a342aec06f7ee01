"""Cases of ``tf.contrib.seq2seq``: name -> function of (tf, contrib); see contrib_record.py. Runs on Python 3.7 too.

Variables start from values of both signs, so that decoders do not say the same symbol again and again.
"""

import numpy as np
from contrib_record import feed

CASES = {}

BATCH, TIME, MEMORY, SYMBOLS, UNITS = 3, 5, 4, 7, 4
LENGTHS = [3, 5, 2]
MEMORY_LENGTHS = [4, 1, 3]
START, END = 1, 2


def start(shape, dtype=None, partition_info=None, **unused):
    """The first value of a variable, from its shape."""
    return feed(list(shape), 7 + int(np.sum(shape)), -2.0, 2.0)


def flat(tf, structure):
    """The tensors of nested tuples, an array as what it holds."""
    if isinstance(structure, dict):
        return [tensor for key in sorted(structure) for tensor in flat(tf, structure[key])]
    if isinstance(structure, (list, tuple)):
        return [tensor for item in structure for tensor in flat(tf, item)]
    return [structure.stack() if isinstance(structure, tf.TensorArray) else structure]


def case(name, train=True, **data):
    """Adds a case: a function that gives tensors, of which everything is recorded."""

    def add(function):
        def build(tf, contrib):
            with tf.variable_scope("model", initializer=start):
                tensors = flat(tf, function(tf, contrib.seq2seq))
            outputs = {"y%d" % i: tf.identity(tensor, name="y%d" % i) for i, tensor in enumerate(tensors)}
            for key, tensor in outputs.items():
                if tensor.shape.ndims is None:
                    outputs[key] = tf.reshape(tensor, [-1])
            floats = [tf.reduce_sum(tf.square(y)) for y in tensors if y.dtype.is_floating]
            loss = 0.05 * tf.add_n(floats) if train and floats and tf.trainable_variables() else None
            return dict({"outputs": outputs, "loss": loss, "as_initialized": True}, **data)

        CASES[name] = build
        return function

    return add


def each(name, train=True, **kinds):
    """Adds a case for each of ``kinds``, the keyword arguments of which the function gets."""

    def add(function):
        for kind, arguments in kinds.items():
            case("%s %s" % (name, kind), train)(lambda tf, s, a=arguments: function(tf, s, **a))
        return function

    return add


def known(tf, value, batch_known=True):
    """``value`` as a tensor, its first dimension known or not."""
    value = np.asarray(value)
    if batch_known:
        return tf.constant(value)
    return tf.placeholder_with_default(value, [None] + list(value.shape[1:]))


def memory_of(tf, batch_known=True):
    memory = tf.get_variable("memory", [BATCH, MEMORY, 3])
    return memory if batch_known else tf.placeholder_with_default(memory, [None, None, 3])


# --------------------------------------------------------------------------------------------------------- attention


def mechanism_of(tf, s, kind, lengths=True, batch_known=True, memory=None, **kwargs):
    memory = memory_of(tf, batch_known) if memory is None else memory
    if lengths is True:
        lengths = known(tf, np.array(MEMORY_LENGTHS, np.int32), batch_known)
    return getattr(s, kind)(UNITS, memory, memory_sequence_length=lengths, **kwargs)


MECHANISMS = {
    "bahdanau": {"kind": "BahdanauAttention"},
    "bahdanau_normalized": {"kind": "BahdanauAttention", "normalize": True},
    "bahdanau_whole": {"kind": "BahdanauAttention", "lengths": None},
    "bahdanau_unknown": {"kind": "BahdanauAttention", "batch_known": False},
    "luong": {"kind": "LuongAttention"},
    "luong_scaled": {"kind": "LuongAttention", "scale": True},
    "luong_unknown": {"kind": "LuongAttention", "batch_known": False},
    "luong_masked": {"kind": "LuongAttention", "score_mask_value": -3.0},
    "bahdanau_monotonic": {"kind": "BahdanauMonotonicAttention"},
    "bahdanau_monotonic_normalized": {
        "kind": "BahdanauMonotonicAttention",
        "normalize": True,
        "score_bias_init": -0.5,
        "mode": "recursive",
    },
    "luong_monotonic": {"kind": "LuongMonotonicAttention"},
    "luong_monotonic_scaled": {
        "kind": "LuongMonotonicAttention",
        "scale": True,
        "score_bias_init": 0.5,
        "mode": "hard",
        "score_mask_value": -9.0,
    },
    "luong_monotonic_noise": {"kind": "LuongMonotonicAttention", "sigmoid_noise": 0.5, "sigmoid_noise_seed": 3},
    "luong_monotonic_unknown": {"kind": "LuongMonotonicAttention", "batch_known": False},
}


@each("mechanism", **MECHANISMS)
def mechanism(tf, s, **kwargs):
    attend = mechanism_of(tf, s, **kwargs)
    query = tf.constant(feed([BATCH, UNITS], 3, -2.0, 2.0))
    alignments, state = attend(query, attend.initial_state(BATCH, tf.float32))
    again, _ = attend(query * 0.5, state)
    return alignments, again, attend.keys, attend.values, attend.initial_alignments(BATCH, tf.float32)


@each("mechanism own", hardmax={"hard": True}, key_value={"hard": False})
def mechanism_own(tf, s, hard):
    own = {"probability_fn": s.hardmax} if hard else {"custom_key_value_fn": lambda keys, values: (keys * 2.0, values)}
    attend = mechanism_of(tf, s, "LuongAttention", **own)
    alignments, _ = attend(tf.constant(feed([BATCH, UNITS], 3, -2.0, 2.0)), None)
    return alignments, attend.keys, attend.values


@case("mechanism wrong depth")
def wrong_depth(tf, s):
    return mechanism_of(tf, s, "LuongAttention")(tf.zeros([BATCH, UNITS + 1]), None)


@case("mechanism unknown memory")
def unknown_memory(tf, s):
    return s.BahdanauAttention(UNITS, tf.placeholder(tf.float32, [None, None, None])).keys


WRAPPERS = {
    "luong": {},
    "layer": {"attention_layer_size": 5},
    "history": {"attention_layer_size": 5, "alignment_history": True},
    "cell_output": {"output_attention": False, "kind": "BahdanauAttention"},
    "two": {"two": True, "alignment_history": True},
    "two_layers": {"two": True, "attention_layer_size": [2, 3]},
    "two_wrong": {"two": True, "attention_layer_size": [2]},
    "unknown": {"batch_known": False, "attention_layer_size": 5},
    "monotonic": {"kind": "BahdanauMonotonicAttention", "attention_layer_size": 5},
    "input": {"cell_input_fn": lambda inputs, attention: inputs * 2.0},
    "started": {"started": True},
    "own_layer": {"own_layer": True},
    "own_function": {"own_function": True, "attention_layer_size": 3},
    "wrong_input": {"cell_input_fn": 3},
}


def wrapped_cell(tf, s, kind="LuongAttention", two=False, batch_known=True, own_layer=False, started=False, **kwargs):
    attend = mechanism_of(tf, s, kind, batch_known=batch_known)
    if two:
        attend = [
            attend,
            mechanism_of(tf, s, "BahdanauAttention", memory=tf.constant(feed([BATCH, 6, 2], 4)), lengths=None),
        ]
    if own_layer:
        kwargs["attention_layer"] = tf.layers.Dense(6, activation=tf.tanh)
    if started:
        value = tf.constant(feed([BATCH, UNITS], 8))
        kwargs["initial_cell_state"] = tf.nn.rnn_cell.LSTMStateTuple(value, value * 2.0)
    if kwargs.pop("own_function", False):

        def own(mechanism, cell_output, attention_state, attention_layer):
            alignments, state = mechanism(cell_output, attention_state)
            return attention_layer(tf.concat([cell_output, alignments], 1)), alignments, state

        kwargs["attention_fn"] = own
    return s.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(UNITS), attend, **kwargs)


@each("wrapper", **WRAPPERS)
def wrapper(tf, s, **kwargs):
    cell = wrapped_cell(tf, s, **kwargs)
    state = cell.zero_state(BATCH, tf.float32)
    output, state = cell(tf.constant(feed([BATCH, 2], 5)), state)
    output, state = cell(tf.constant(feed([BATCH, 2], 6)), state)
    return output, tuple(state)


@case("wrapper clone")
def clone(tf, s):
    cell = wrapped_cell(tf, s)
    value = tf.constant(feed([BATCH, UNITS], 8))
    state = cell.zero_state(BATCH, tf.float32).clone(cell_state=tf.nn.rnn_cell.LSTMStateTuple(value, value * 2.0))
    return cell(tf.constant(feed([BATCH, 2], 5)), state)[0], state.cell_state


@case("wrapper clone wrong")
def clone_wrong(tf, s):
    value = tf.constant(feed([BATCH, UNITS + 1], 8))
    cell = wrapped_cell(tf, s)
    return cell.zero_state(BATCH, tf.float32).clone(cell_state=tf.nn.rnn_cell.LSTMStateTuple(value, value))


@each(
    "monotonic attention",
    recursive={"mode": "recursive"},
    parallel={"mode": "parallel"},
    hard={"mode": "hard"},
    wrong={"mode": "soft"},
)
def monotonic(tf, s, mode):
    p = tf.sigmoid(tf.get_variable("p", [BATCH, TIME]))
    if mode == "hard":
        p = tf.round(p)
    return s.monotonic_attention(p, tf.nn.softmax(tf.constant(feed([BATCH, TIME], 3))), mode)


@case("hardmax")
def hardmax(tf, s):
    return s.hardmax(tf.constant(feed([2, 3, 4], 3))), s.hardmax([1.0, 3.0, 3.0])


@case("safe_cumprod")
def safe_cumprod(tf, s):
    x = tf.get_variable("x", initializer=np.array([[0.0, 0.5, 0.1], [0.9, 1.0, 1.5]], np.float32))
    return s.safe_cumprod(x, axis=1), s.safe_cumprod(x, axis=1, exclusive=True, reverse=True)


# -------------------------------------------------------------------------------------------------------------- loss


def loss_case(name, **kwargs):
    @case("loss " + name)
    def loss(tf, s):
        weights = tf.constant([[1.0, 0.5, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]])
        logits = tf.get_variable("logits", [3, 3, SYMBOLS])
        return s.sequence_loss(logits, tf.constant([[1, 2, 3], [0, 0, 0], [6, 5, 4]]), weights, **kwargs)


for over_time in ("average", "sum", "none"):
    for over_batch in ("average", "sum", "none"):
        loss_case(
            "%s %s" % (over_time, over_batch),
            average_across_timesteps=over_time == "average",
            sum_over_timesteps=over_time == "sum",
            average_across_batch=over_batch == "average",
            sum_over_batch=over_batch == "sum",
        )
loss_case("both", average_across_timesteps=True, sum_over_timesteps=True)
loss_case("own", softmax_loss_function=lambda labels, logits: logits[:, 0] * logits[:, 1])


@case("loss wrong rank")
def loss_wrong(tf, s):
    return s.sequence_loss(tf.zeros([3, 4]), tf.zeros([3, 3], tf.int32), tf.zeros([3, 3]))


# ---------------------------------------------------------------------------------------------------------- decoders


def embedding_of(tf):
    return tf.get_variable("embedding", [SYMBOLS, 2])


def sequences(tf, batch_known=True):
    return known(tf, feed([BATCH, TIME, SYMBOLS], 11), batch_known)


def decode(tf, s, helper, cell=None, state=None, layer=True, **kwargs):
    cell = cell or tf.nn.rnn_cell.GRUCell(UNITS)
    state = tf.constant(feed([BATCH, UNITS], 12)) if state is None else state
    decoder = s.BasicDecoder(cell, helper, state, output_layer=tf.layers.Dense(SYMBOLS) if layer else None)
    return s.dynamic_decode(decoder, **kwargs)


KINDS = {
    "plain": {},
    "imputed": {"impute_finished": True},
    "limited": {"maximum_iterations": 2, "impute_finished": True},
    "time_major": {"output_time_major": True},
    "no_layer": {"layer": False},
    "scope": {"scope": "mine"},
    "wrong_limit": {"maximum_iterations": [2]},
}


@each("training", unknown={"batch_known": False, "impute_finished": True}, **KINDS)
def training(tf, s, batch_known=True, **kwargs):
    helper = s.TrainingHelper(sequences(tf, batch_known), known(tf, np.array(LENGTHS, np.int32), batch_known))
    return decode(tf, s, helper, **kwargs)


@case("training by time, one of length 0")
def training_by_time(tf, s):
    by_time = np.transpose(feed([BATCH, TIME, SYMBOLS], 11), [1, 0, 2])
    helper = s.TrainingHelper(tf.constant(by_time), [3, 0, 2], time_major=True)
    return decode(tf, s, helper, impute_finished=True), helper.inputs, helper.sequence_length


@each("greedy", **KINDS)
def greedy(tf, s, **kwargs):
    if "layer" in kwargs:
        return []
    kwargs.setdefault("maximum_iterations", 6)
    return decode(tf, s, s.GreedyEmbeddingHelper(embedding_of(tf), tf.fill([BATCH], START), END), **kwargs)


del CASES["greedy no_layer"]


@case("greedy function, attention", train=False)
def greedy_attention(tf, s):
    table = embedding_of(tf)
    cell = wrapped_cell(tf, s, attention_layer_size=UNITS, alignment_history=True)
    helper = s.GreedyEmbeddingHelper(lambda ids: tf.nn.embedding_lookup(table, ids), tf.fill([BATCH], START), END)
    return decode(tf, s, helper, cell=cell, state=cell.zero_state(BATCH, tf.float32), maximum_iterations=6)


@each("sample", False, plain={"seed": 3}, cold={"softmax_temperature": 0.5, "seed": 4})
def sample(tf, s, **kwargs):
    helper = s.SampleEmbeddingHelper(embedding_of(tf), tf.fill([BATCH], START), END, **kwargs)
    return decode(tf, s, helper, maximum_iterations=6, parallel_iterations=1)


# Random numbers of a step do not wait for the last step: parallel_iterations=1, here and above.
def targets(tf):
    return tf.nn.embedding_lookup(embedding_of(tf), np.random.RandomState(5).randint(0, SYMBOLS, [BATCH, TIME]))


@each(
    "scheduled embedding",
    never={"p": 0.0},
    always={"p": 1.0},
    sometimes={"p": 0.5},
    wrong={"p": [[0.5]]},
)
def scheduled_embedding(tf, s, p):
    inputs = targets(tf)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        table = embedding_of(tf)
    helper = s.ScheduledEmbeddingTrainingHelper(inputs, LENGTHS, table, p, seed=1, scheduling_seed=2)
    return decode(tf, s, helper, parallel_iterations=1)


@each(
    "scheduled output",
    never={"p": 0.0},
    always={"p": 1.0},
    sometimes={"p": 0.5},
    function={"p": 0.5, "function": True},
    auxiliary={"p": 0.5, "auxiliary": True},
)
def scheduled_output(tf, s, p, function=False, auxiliary=False):
    helper = s.ScheduledOutputTrainingHelper(
        sequences(tf),
        LENGTHS,
        p,
        seed=1,
        next_inputs_fn=(lambda outputs: outputs * 2.0) if function else None,
        auxiliary_inputs=tf.constant(feed([BATCH, TIME, 2], 13)) if auxiliary else None,
    )
    outputs, state, ends = decode(tf, s, helper, parallel_iterations=1)
    return outputs.rnn_output, tf.reshape(outputs.sample_id, [-1]), state, ends


@each("inference", False, samples={}, function={"function": True})
def inference(tf, s, function=False):
    helper = s.InferenceHelper(
        lambda outputs: outputs,
        [SYMBOLS],
        tf.float32,
        tf.constant(feed([BATCH, SYMBOLS], 14)),
        lambda samples: tf.reduce_any(samples > 2.5, 1),
        (lambda samples: samples * 2.0) if function else None,
    )
    return decode(tf, s, helper, maximum_iterations=4)


@case("custom", False)
def custom(tf, s):
    zeros = tf.zeros([BATCH, SYMBOLS])

    def more(time, outputs, state, sample_ids):
        return time + sample_ids >= 5, outputs * 0.5, state

    helper = s.CustomHelper(
        lambda: (tf.fill([BATCH], False), zeros),
        lambda time, outputs, state: tf.cast(tf.argmax(outputs, 1), tf.int32),
        more,
    )
    return decode(tf, s, helper)


@case("not a decoder")
def not_a_decoder(tf, s):
    return s.dynamic_decode(3)


@case("not a helper")
def not_a_helper(tf, s):
    return decode(tf, s, 3)


@case("not a layer")
def not_a_layer(tf, s):
    helper = s.TrainingHelper(sequences(tf), LENGTHS)
    return s.dynamic_decode(s.BasicDecoder(tf.nn.rnn_cell.GRUCell(UNITS), helper, tf.zeros([BATCH, UNITS]), 3))


@case("not a vector")
def not_a_vector(tf, s):
    return s.GreedyEmbeddingHelper(embedding_of(tf), START, END).batch_size


# ------------------------------------------------------------------------------------------------------- beam search


@each("tile_batch", known={}, unknown={"batch_known": False}, scalar={"scalar": True})
def tile_batch(tf, s, batch_known=True, scalar=False):
    value = tf.constant(1.0) if scalar else known(tf, feed([BATCH, 2], 3), batch_known)
    return s.tile_batch((value, tf.constant([1, 2, 3])), 2)


@case("gather_tree")
def gather_tree(tf, s):
    rng = np.random.RandomState(6)
    ids = rng.randint(0, SYMBOLS, [6, 4, 3]).astype(np.int32)
    parents = rng.randint(0, 3, [6, 4, 3]).astype(np.int32)
    return s.gather_tree(ids, parents, [6, 3, 0, 9], END), s.gather_tree(ids, parents, [6, 6, 6, 6], 99)


def beams(
    tf,
    s,
    attention=False,
    batch_known=True,
    width=3,
    coverage=0.0,
    length=0.0,
    reorder=True,
    stacked=False,
    layer=True,
    steps=6,
    **kwargs,
):
    """Beam search with the variables of ``model``; with ``attention`` to a memory, and with what that looked at."""
    tokens = known(tf, np.full([BATCH], START, np.int32), batch_known)
    rows = BATCH * width if batch_known else tf.size(tokens) * width
    if attention:
        memory = s.tile_batch(memory_of(tf, batch_known), width)
        lengths = s.tile_batch(known(tf, np.array(MEMORY_LENGTHS, np.int32), batch_known), width)
        attend = s.LuongAttention(UNITS, memory, memory_sequence_length=lengths)
        cell = tf.nn.rnn_cell.LSTMCell(UNITS)
        cell = s.AttentionWrapper(cell, attend, attention_layer_size=UNITS, alignment_history=attention == "history")
        if stacked:
            cell = tf.nn.rnn_cell.MultiRNNCell([cell, tf.nn.rnn_cell.GRUCell(UNITS)])
        state = cell.zero_state(rows, tf.float32)
    else:
        cell = tf.nn.rnn_cell.GRUCell(UNITS if layer else SYMBOLS)
        state = s.tile_batch(known(tf, feed([BATCH, UNITS if layer else SYMBOLS], 12), batch_known), width)
    decoder = s.BeamSearchDecoder(
        cell,
        embedding_of(tf),
        tokens,
        END,
        state,
        width,
        output_layer=tf.layers.Dense(SYMBOLS) if layer else None,
        length_penalty_weight=length,
        coverage_penalty_weight=coverage,
        reorder_tensor_arrays=reorder,
    )
    return s.dynamic_decode(decoder, maximum_iterations=steps, **kwargs)


@each(
    "beams",
    False,
    plain={},
    one={"width": 1},
    long={"steps": 12},
    wide={"width": 6},
    penalized={"length": 0.8},
    negative={"length": -0.8},
    unknown={"batch_known": False},
    time_major={"output_time_major": True},
    # four steps: the rounding of states grows to five times what it was in each step of these
    attention={"attention": True, "steps": 4},
    coverage={"attention": True, "coverage": 0.4, "length": 0.6, "steps": 9},
    history={"attention": "history", "batch_known": False, "steps": 4},
    history_known={"attention": "history", "steps": 4},
    history_as_written={"attention": "history", "batch_known": False, "reorder": False, "steps": 4},
    stacked={"attention": True, "stacked": True, "coverage": 0.4},
    no_layer={"layer": False},
    imputed={"impute_finished": True},
    uncovered={"coverage": 0.4},
)
def beam_search(tf, s, **kwargs):
    # halved: after some steps the rounding of states is that of numbers above 1
    return [y * 0.5 if y.dtype.is_floating else y for y in flat(tf, beams(tf, s, **kwargs))]


# ------------------------------------------------------------------------------------------------------ a whole model


def model(tf, s, beam_width=0):
    """A translator: bidirectional encoder, attention, decoder; its loss, or with beams what it says."""
    source = tf.constant(np.random.RandomState(8).randint(0, SYMBOLS, [BATCH, MEMORY]))
    target = tf.constant(np.random.RandomState(9).randint(0, SYMBOLS, [BATCH, TIME]))
    lengths = tf.constant(MEMORY_LENGTHS)
    with tf.variable_scope("encoder"):
        table = tf.get_variable("embedding", [SYMBOLS, 3])
        outputs, states = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.LSTMCell(UNITS),
            tf.nn.rnn_cell.LSTMCell(UNITS),
            tf.nn.embedding_lookup(table, source),
            sequence_length=lengths,
            dtype=tf.float32,
        )
        memory, state = tf.concat(outputs, 2), states[0]
    with tf.variable_scope("decoder"):
        table = tf.get_variable("embedding", [SYMBOLS, 3])
        if beam_width:
            memory, state, lengths = s.tile_batch((memory, state, lengths), beam_width)
        attend = s.BahdanauAttention(UNITS, memory, memory_sequence_length=lengths, normalize=True)
        cell = s.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(UNITS), attend, attention_layer_size=UNITS)
        state = cell.zero_state(BATCH * max(1, beam_width), tf.float32).clone(cell_state=state)
        layer = tf.layers.Dense(SYMBOLS, use_bias=False, name="projection")
        if beam_width:
            decoder = s.BeamSearchDecoder(cell, table, tf.fill([BATCH], START), END, state, beam_width, layer, 0.6)
            return s.dynamic_decode(decoder, maximum_iterations=8)
        helper = s.TrainingHelper(tf.nn.embedding_lookup(table, target), LENGTHS)
        outputs, state, ends = s.dynamic_decode(s.BasicDecoder(cell, helper, state, layer), impute_finished=True)
        weights = tf.sequence_mask(LENGTHS, TIME, dtype=tf.float32)
        return s.sequence_loss(outputs.rnn_output, target, weights), outputs, state, ends


@case("model")
def whole_model(tf, s):
    trained = model(tf, s)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        said, _, _ = model(tf, s, 3)
    return trained, said
