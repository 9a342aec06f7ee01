"""Cases of ``tf.contrib.crf``: name -> function of (tf, contrib); see contrib_record.py. Runs on Python 3.7 too."""

import numpy as np
from contrib_record import feed

CASES = {}

BATCH, TIME, TAGS = 4, 5, 3
LENGTHS = [5, 3, 1, 0]
INDICES = np.random.RandomState(3).randint(0, TAGS, [BATCH, TIME]).astype(np.int32)
BITMAP = np.random.RandomState(4).uniform(size=[BATCH, TIME, TAGS]) < 0.6
BITMAP[:, :, 1] |= ~BITMAP.any(2)
TRANSITIONS = feed([TAGS, TAGS], 5, -2.0, 2.0)
SCORES = feed([BATCH, TIME, TAGS], 6, -3.0, 3.0)


class Data:
    """What the functions take: tensors with known or unknown dimensions, and lengths of either type."""

    def __init__(self, tf, time, lengths, dtype, known):
        def tensor(value):
            return tf.constant(value) if known else tf.placeholder_with_default(value, [None] * np.ndim(value))

        self.transitions = tf.get_variable("given", [TAGS, TAGS])
        x = tf.get_variable("x", [BATCH, time, TAGS])
        self.inputs = x + tensor(SCORES[:, :time]) if known else tf.placeholder_with_default(x, [None, None, TAGS])
        self.indices = tensor(INDICES[:, :time])
        self.bitmap = tensor(BITMAP[:, :time])
        self.lengths = tensor(np.minimum(lengths, time).astype(dtype))


def case(name, function, loss=True):
    kinds = {
        "": (TIME, LENGTHS, np.int32, True),
        " int64": (TIME, LENGTHS, np.int64, True),
        " unknown": (TIME, LENGTHS, np.int32, False),
        " one step": (1, [1, 1, 0, 1], np.int32, True),
        " one step unknown": (1, [1, 1, 0, 1], np.int64, False),
    }
    for kind, arguments in kinds.items():

        def build(tf, contrib, arguments=arguments):
            result = function(tf, contrib.crf, Data(tf, *arguments))
            results = result if isinstance(result, tuple) else (result,)
            if not arguments[-1]:  # the static shape is that of whichever condition this TensorFlow makes
                results = tuple(tf.reshape(y, [-1], name="flat") for y in results)
            outputs = {"y%d" % i: tf.identity(y, name="y%d" % i) for i, y in enumerate(results)}
            return {"outputs": outputs, "loss": tf.reduce_sum(results[0]) if loss else None}

        CASES[name + kind] = build


case("log_likelihood", lambda tf, crf, d: crf.crf_log_likelihood(d.inputs, d.indices, d.lengths))
case("log_likelihood given", lambda tf, crf, d: crf.crf_log_likelihood(d.inputs, d.indices, d.lengths, d.transitions))
case("log_norm", lambda tf, crf, d: crf.crf_log_norm(d.inputs, d.lengths, d.transitions))
case("sequence_score", lambda tf, crf, d: crf.crf_sequence_score(d.inputs, d.indices, d.lengths, d.transitions))
case(
    "multitag_sequence_score",
    lambda tf, crf, d: crf.crf_multitag_sequence_score(d.inputs, d.bitmap, d.lengths, d.transitions),
)
case("unary_score", lambda tf, crf, d: crf.crf_unary_score(d.indices, d.lengths, d.inputs))
case("binary_score", lambda tf, crf, d: crf.crf_binary_score(d.indices, d.lengths, d.transitions))
case("decode", lambda tf, crf, d: crf.crf_decode(d.inputs, d.transitions, d.lengths), loss=False)
case("decode constant", lambda tf, crf, d: crf.crf_decode(d.inputs, TRANSITIONS, d.lengths), loss=False)


def only(name):
    def add(function):
        CASES[name] = lambda tf, contrib: {
            "outputs": {key: tf.identity(y, name=key) for key, y in function(tf, contrib.crf).items()}
        }
        return function

    return add


@only("viterbi_decode")
def viterbi_decode(tf, crf):
    tags, score = crf.viterbi_decode(SCORES[0], TRANSITIONS)
    single, single_score = crf.viterbi_decode(SCORES[1, :1], TRANSITIONS)
    assert isinstance(tags, list)
    return {key: tf.constant(value) for key, value in dict(t=tags, s=score, t1=single, s1=single_score).items()}


@only("forward cell")
def forward_cell(tf, crf):
    cell = crf.CrfForwardRnnCell(tf.constant(TRANSITIONS))
    y, state = cell(tf.constant(SCORES[0]), tf.constant(SCORES[1]))
    return {"y": y, "state": state, "sizes": tf.constant([cell.state_size, cell.output_size])}


@only("decode forward cell")
def decode_forward_cell(tf, crf):
    cell = crf.CrfDecodeForwardRnnCell(TRANSITIONS)
    y, state = cell(tf.constant(SCORES[0]), tf.constant(SCORES[1]))
    return {"y": y, "state": state, "sizes": tf.constant([cell.state_size, cell.output_size])}


@only("decode backward cell")
def decode_backward_cell(tf, crf):
    cell = crf.CrfDecodeBackwardRnnCell(TAGS)
    y, state = cell(tf.constant([[0, 2, 1], [1, 1, 2]]), tf.constant([[1], [2]]))
    return {"y": y, "state": state, "sizes": tf.constant([cell.state_size, cell.output_size])}


@only("wrong transitions")
def wrong_transitions(tf, crf):
    crf.crf_log_norm(tf.constant(SCORES), tf.constant(LENGTHS), tf.constant(TRANSITIONS[:, :2]))
