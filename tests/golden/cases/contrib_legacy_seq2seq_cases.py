"""Cases of ``tf.contrib.legacy_seq2seq``: name -> function of (tf, contrib); see contrib_record.py. Python 3.7 too."""

import numpy as np
from contrib_record import feed

CASES = {}

BATCH, ENCODED, DECODED, SYMBOLS, EMBEDDED, UNITS = 2, 3, 3, 5, 2, 3


def vectors(tf, count, seed, size=EMBEDDED):
    return [tf.constant(feed([BATCH, size], seed + i)) for i in range(count)]


def symbols(tf, count, seed):
    rng = np.random.RandomState(seed)
    return [tf.constant(rng.randint(0, SYMBOLS, [BATCH]).astype(np.int32)) for _ in range(count)]


def cell_of(tf, kind, size=UNITS):
    if kind == "gru":
        return tf.nn.rnn_cell.GRUCell(size)
    if kind == "stack":
        return tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(size) for _ in range(2)])
    return tf.nn.rnn_cell.BasicLSTMCell(size)


def projection(tf, rows=UNITS):
    return tf.get_variable("projection_w", [rows, SYMBOLS]), tf.get_variable("projection_b", [SYMBOLS])


def flat(tf, structure):
    if isinstance(structure, (list, tuple)):
        return [tensor for item in structure for tensor in flat(tf, item)]
    return [structure]


def case(name, train=True):
    """Adds a case: a function that gives (outputs, states), of which everything is recorded."""

    def add(function):
        def build(tf, contrib):
            outputs, states = function(tf, contrib.legacy_seq2seq)
            found = {
                "%s%d" % (what, i): tf.identity(tensor, name="%s%d" % (what, i))
                for what, structure in (("y", outputs), ("state", states))
                for i, tensor in enumerate(flat(tf, structure))
            }
            loss = 0.05 * tf.add_n([tf.reduce_sum(tf.square(y)) for y in flat(tf, outputs)])
            return {"outputs": found, "loss": loss if train else None}

        CASES[name] = build
        return function

    return add


def each(name, **kinds):
    """Adds a case for each of ``kinds``, the keyword arguments of which the function gets."""

    def add(function):
        for kind, arguments in kinds.items():
            case("%s %s" % (name, kind))(lambda tf, s, a=arguments: function(tf, s, **a))
        return function

    return add


@each("basic", lstm={"kind": "lstm"}, gru={"kind": "gru"}, stack={"kind": "stack"})
def basic(tf, s, kind):
    return s.basic_rnn_seq2seq(vectors(tf, ENCODED, 1), vectors(tf, DECODED, 10), cell_of(tf, kind))


@each("tied", plain={}, loop={"loop_function": lambda previous, i: previous[:, :EMBEDDED] * float(i)})
def tied(tf, s, **kwargs):
    return s.tied_rnn_seq2seq(vectors(tf, ENCODED, 1), vectors(tf, DECODED, 10), cell_of(tf, "lstm"), **kwargs)


@each("decoder", plain={}, loop={"loop_function": lambda previous, i: previous[:, :EMBEDDED] + float(i)})
def decoder(tf, s, **kwargs):
    state = tf.constant(feed([BATCH, UNITS], 3))
    return s.rnn_decoder(vectors(tf, DECODED, 10), state, cell_of(tf, "gru"), scope="mine", **kwargs)


@each(
    "embedding decoder",
    plain={},
    fed={"feed_previous": True},
    fed_fixed={"feed_previous": True, "update_embedding_for_previous": False},
    projected={"projected": True, "feed_previous": True},
    wrong={"output_projection": (np.zeros([3, 3], np.float32), np.zeros([SYMBOLS], np.float32))},
)
def embedding_decoder(tf, s, projected=False, **kwargs):
    if projected:
        kwargs["output_projection"] = projection(tf)
    state = tf.constant(feed([BATCH, UNITS], 3))
    size = SYMBOLS if not projected and kwargs.get("feed_previous") else UNITS
    state = tf.constant(feed([BATCH, size], 3))
    cell = cell_of(tf, "gru", size)
    return s.embedding_rnn_decoder(symbols(tf, DECODED, 10), state, cell, SYMBOLS, EMBEDDED, **kwargs)


def switch(tf, way):
    return {"yes": tf.constant(True), "no": tf.constant(False)}.get(way, way)


FED = {"plain": {}, "fed": {"fed": True}, "fed_yes": {"fed": "yes"}, "fed_no": {"fed": "no"}}
PROJECTED = {"projected": {"projected": True}, "projected_yes": {"projected": True, "fed": "yes"}}
KINDS = dict(FED, stack={"kind": "stack"}, gru={"kind": "gru", "fed": True}, **PROJECTED)


@each("embedding", **KINDS)
def embedding(tf, s, kind="lstm", fed=False, projected=False):
    return s.embedding_rnn_seq2seq(
        symbols(tf, ENCODED, 1),
        symbols(tf, DECODED, 10),
        cell_of(tf, kind),
        SYMBOLS,
        SYMBOLS,
        EMBEDDED,
        output_projection=projection(tf) if projected else None,
        feed_previous=switch(tf, fed),
    )


@each("embedding tied", fewer={"num_decoder_symbols": 4}, **KINDS)
def embedding_tied(tf, s, kind="lstm", fed=False, projected=False, **kwargs):
    return s.embedding_tied_rnn_seq2seq(
        symbols(tf, ENCODED, 1),
        symbols(tf, DECODED, 10),
        cell_of(tf, kind),
        SYMBOLS,
        EMBEDDED,
        output_projection=projection(tf) if projected else None,
        feed_previous=switch(tf, fed),
        **kwargs,
    )


@each("embedding attention", heads={"num_heads": 2}, resumed={"initial_state_attention": True}, **KINDS)
def embedding_attention(tf, s, kind="lstm", fed=False, projected=False, **kwargs):
    return s.embedding_attention_seq2seq(
        symbols(tf, ENCODED, 1),
        symbols(tf, DECODED, 10),
        cell_of(tf, kind),
        SYMBOLS,
        SYMBOLS,
        EMBEDDED,
        output_projection=projection(tf) if projected else None,
        feed_previous=switch(tf, fed),
        **kwargs,
    )


@each(
    "attention decoder",
    plain={},
    sized={"output_size": 6},
    heads={"num_heads": 2, "initial_state_attention": True},
    loop={"loop_function": lambda previous, i: previous[:, :EMBEDDED] * 2.0},
    stack={"kind": "stack"},
    no_heads={"num_heads": 0},
    no_inputs={"steps": 0},
)
def attention_decoder(tf, s, kind="lstm", steps=DECODED, **kwargs):
    cell = cell_of(tf, kind)
    states = tf.constant(feed([BATCH, ENCODED, 4], 3))
    return s.attention_decoder(vectors(tf, steps, 10), cell.zero_state(BATCH, tf.float32), states, cell, **kwargs)


@each("embedding attention decoder", plain={}, sized={"output_size": SYMBOLS, "feed_previous": True})
def embedding_attention_decoder(tf, s, **kwargs):
    cell = cell_of(tf, "gru")
    states = tf.constant(feed([BATCH, ENCODED, 4], 3))
    start = tf.constant(feed([BATCH, UNITS], 4))
    return s.embedding_attention_decoder(
        symbols(tf, DECODED, 10), start, states, cell, SYMBOLS, EMBEDDED, scope="mine", **kwargs
    )


@each("one2many", plain={}, fed={"fed": True}, fed_yes={"fed": "yes"})
def one2many(tf, s, fed=False):
    outputs, states = s.one2many_rnn_seq2seq(
        symbols(tf, ENCODED, 1),
        {"a": symbols(tf, DECODED, 10), "b": symbols(tf, 2, 20)},
        cell_of(tf, "lstm"),
        {"a": cell_of(tf, "lstm"), "b": cell_of(tf, "lstm")},
        SYMBOLS,
        {"a": SYMBOLS, "b": 6},
        EMBEDDED,
        feed_previous=switch(tf, fed),
    )
    return [outputs["a"], outputs["b"]], [states["a"], states["b"]]


def scored(tf, count):
    logits = [tf.get_variable("logits%d" % i, [BATCH, SYMBOLS]) for i in range(count)]
    weights = [tf.constant(feed([BATCH], 30 + i, 0.0) * (i != 1)) for i in range(count)]
    return logits, symbols(tf, count, 20), weights


def soft(tf):
    return lambda labels, logits: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits) * 2.0


@each(
    "loss",
    plain={},
    step_sums={"average_across_timesteps": False},
    batch_sums={"average_across_batch": False, "name": "mine"},
    own={"own": True},
)
def sequence_loss(tf, s, own=False, **kwargs):
    if own:
        kwargs["softmax_loss_function"] = soft(tf)
    return s.sequence_loss(*scored(tf, 3), **kwargs), []


@each("loss by example", plain={}, sums={"average_across_timesteps": False}, own={"own": True})
def by_example(tf, s, own=False, **kwargs):
    if own:
        kwargs["softmax_loss_function"] = soft(tf)
    return s.sequence_loss_by_example(*scored(tf, 3), **kwargs), []


@case("loss of unlike lists")
def unlike(tf, s):
    logits, targets, weights = scored(tf, 3)
    return s.sequence_loss_by_example(logits, targets[:2], weights), []


@each("buckets", plain={}, by_example={"per_example_loss": True}, short={"buckets": [(4, 9)]})
def buckets(tf, s, **kwargs):
    def model(encoder, decoder):
        return s.embedding_attention_seq2seq(
            encoder, decoder, tf.nn.rnn_cell.GRUCell(UNITS), SYMBOLS, SYMBOLS, EMBEDDED, feed_previous=False
        )

    _, targets, weights = scored(tf, 4)
    kwargs.setdefault("buckets", [(2, 2), (4, 4)])
    outputs, losses = s.model_with_buckets(
        symbols(tf, 4, 1), symbols(tf, 4, 10), targets, weights, seq2seq=model, **kwargs
    )
    return losses, outputs
