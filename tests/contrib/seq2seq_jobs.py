"""The jobs of test_seq2seq.py: functions of ``(tf, contrib)`` that return JSON."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import numpy as np

RNG = np.random.RandomState(0)


def error(call: Any) -> str:
    try:
        call()
    except Exception as found:
        return f"{type(found).__name__}: {found}"
    return "none"


def crf(tf: Any, contrib: Any) -> dict[str, Any]:
    steps, tags, lengths = 4, 3, [4, 2, 1]
    inputs = RNG.uniform(-2, 2, [3, steps, tags]).astype(np.float32)
    transitions = RNG.uniform(-2, 2, [tags, tags]).astype(np.float32)
    allowed = RNG.uniform(size=inputs.shape) < 0.7
    allowed[:, :, 0] = True

    def score(example: int, sequence: tuple[int, ...]) -> float:
        unary = sum(inputs[example, step, tag] for step, tag in enumerate(sequence))
        return float(unary + sum(transitions[pair] for pair in itertools.pairwise(sequence)))

    def all_scores(example: int) -> dict[tuple[int, ...], float]:
        return {
            sequence: score(example, sequence) for sequence in itertools.product(range(tags), repeat=lengths[example])
        }

    def fits(example: int, sequence: tuple[int, ...]) -> bool:
        return all(allowed[example, step, tag] for step, tag in enumerate(sequence))

    known = [all_scores(example) for example in range(3)]
    best = [max(scores, key=scores.__getitem__) for scores in known]
    module = contrib.crf
    with tf.Graph().as_default(), tf.Session() as session:
        every = np.array(list(itertools.product(range(tags), repeat=steps)), np.int32)
        likelihood, _ = module.crf_log_likelihood(
            tf.tile(inputs[:1], [len(every), 1, 1]), every, [steps] * len(every), tf.constant(transitions)
        )
        norm, multi, (decoded, decoded_scores), probability = session.run(
            [
                module.crf_log_norm(inputs, lengths, transitions),
                module.crf_multitag_sequence_score(inputs, allowed, lengths, transitions),
                module.crf_decode(inputs, transitions, lengths),
                tf.reduce_sum(tf.exp(likelihood)),
            ]
        )
    viterbi = [module.viterbi_decode(inputs[i, : lengths[i]], transitions)[0] for i in range(3)]
    return {
        "log_norm": norm.tolist(),
        "all_log_norm": [float(np.log(np.sum(np.exp(list(scores.values()))))) for scores in known],
        "multitag": multi.tolist(),
        "allowed_log_norm": [
            float(np.log(np.sum(np.exp([value for sequence, value in known[i].items() if fits(i, sequence)]))))
            for i in range(3)
        ],
        "best_tags": [decoded[i, : lengths[i]].tolist() for i in range(3)],
        "viterbi_tags": viterbi,
        "viterbi_types": [type(viterbi[0]).__name__, type(viterbi[0][0]).__name__],
        "all_best_tags": [list(sequence) for sequence in best],
        "best_score": decoded_scores.tolist(),
        "all_best_score": [known[i][best[i]] for i in range(3)],
        "probability": float(probability),
    }


class Markov:
    """A cell that is no layer: the scores of the next symbol are a row of a table, its state counts the steps."""

    def __init__(self, tf: Any, table: Any) -> None:
        self._tf = tf
        self._table = table
        self.output_size = len(table)
        self.state_size = 1

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return self._tf.zeros([batch_size, 1], dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        return self._tf.matmul(inputs, self._table), state + 1.0


def beams(tf: Any, contrib: Any) -> dict[str, Any]:
    """All 4^3 sequences of a Markov chain, against beams that can hold all of them; symbol 0 ends a sequence."""
    # The best first symbol leads nowhere good, so that looking one step ahead goes wrong.
    table = np.array([[0, 0, 0, 0], [1.0, -1.0, 1.5, 1.2], [-2.0, 0.1, 0.2, 0.3], [4.0, -2.0, -1.0, -3.0]], np.float32)
    log_probs = table - np.log(np.exp(table).sum(1, keepdims=True))

    def score(sequence: tuple[int, ...]) -> float:
        return float(sum(log_probs[pair] for pair in itertools.pairwise((1, *sequence))))

    ended = {
        sequence
        for steps in (1, 2, 3)
        for sequence in itertools.product(range(4), repeat=steps)
        if 0 not in sequence[:-1] and (sequence[-1] == 0 or steps == 3)
    }
    ordered = sorted(ended, key=score, reverse=True)[:5]
    with tf.Graph().as_default(), tf.Session() as session:
        cell, one_hot = Markov(tf, table), tf.one_hot(tf.range(4), 4)
        module = contrib.seq2seq

        def search(width: int) -> Any:
            state = tf.zeros([width, 1])
            decoder = module.BeamSearchDecoder(cell, one_hot, [1], 0, state, width)
            outputs, state, _ = module.dynamic_decode(decoder, maximum_iterations=3)
            return outputs.predicted_ids[0], state.log_probs[0]

        greedy = module.BasicDecoder(cell, module.GreedyEmbeddingHelper(one_hot, [1], 0), tf.zeros([1, 1]))
        (found, scores), (one, _), followed = session.run(
            [search(40), search(1), module.dynamic_decode(greedy, maximum_iterations=3)[0].sample_id]
        )
    return {
        "found": [found[:, beam].tolist() for beam in range(5)],
        "all_best": [[*sequence, 0, 0][:3] for sequence in ordered],
        "scores": scores[:5].tolist(),
        "all_scores": [score(sequence) for sequence in ordered],
        "one_beam": one[:, 0].tolist(),
        "greedy": followed[0].tolist(),
    }


def tree(tf: Any, contrib: Any) -> dict[str, Any]:
    steps, batch, width, end = 5, 2, 3, 1
    ids = RNG.randint(0, 6, [steps, batch, width]).astype(np.int32)
    parents = RNG.randint(0, width, [steps, batch, width]).astype(np.int32)
    lengths = [5, 3]
    followed = np.full([steps, batch, width], end)
    for example, beam in itertools.product(range(batch), range(width)):
        at = beam
        for step in reversed(range(lengths[example])):
            followed[step, example, beam] = ids[step, example, at]
            at = parents[step, example, at]
        ends = np.flatnonzero(followed[:, example, beam] == end)
        if len(ends):
            followed[ends[0] :, example, beam] = end
    module = contrib.seq2seq
    with tf.Graph().as_default(), tf.device("/cpu:0"), tf.Session() as session:
        found = module.gather_tree(tf.placeholder_with_default(ids, [None, 2, 3]), parents, lengths, end)
        wrong = module.gather_tree(ids, parents + width, lengths, end)
        return {
            "found": session.run(found).tolist(),
            "followed": followed.tolist(),
            "wrong_parent": error(lambda: session.run(wrong)),
            "shape": found.shape.as_list(),
        }


def own(tf: Any, contrib: Any) -> dict[str, Any]:
    """What programs derive from: Decoder, TrainingHelper with nested inputs, an attention mechanism."""
    module = contrib.seq2seq

    class Counter(module.Decoder):
        batch_size = 2
        output_size = tf.TensorShape([])
        output_dtype = tf.float32

        def initialize(self, name: Any = None) -> Any:
            return tf.constant([False, False]), tf.zeros([2]), tf.constant([3, 2])

        def step(self, time: Any, inputs: Any, state: Any, name: Any = None) -> Any:
            return inputs, state, inputs + 1.0, tf.equal(time + 1, state)

        def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
            return outputs, "finalized"

    class OwnAttention(module.BahdanauAttention):
        """Sees where it looked last, and starts at the first step."""

        def __call__(self, query: Any, state: Any) -> Any:
            with tf.variable_scope(None, "own_attention", [query]):
                seen = tf.layers.dense(tf.expand_dims(state, 2), 4, use_bias=False, name="location")
                score = tf.reduce_sum(tf.tanh(self.keys + seen + tf.expand_dims(query, 1)), [2])
            alignments = self._probability_fn(score, state)
            return alignments, state + alignments

        def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
            return tf.one_hot(tf.zeros([batch_size], tf.int32), self._alignments_size, dtype=dtype)

    inputs = RNG.uniform(-1, 1, [2, 3, 4]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        outputs, state, lengths = module.dynamic_decode(Counter(), impute_finished=True)

        def decode(given: Any, join: Any) -> Any:
            class Joined(Markov):
                def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
                    return super().__call__(join(inputs), state)

            cell = Joined(tf, np.eye(4, dtype=np.float32))
            decoder = module.BasicDecoder(cell, module.TrainingHelper(given, [3, 2]), tf.zeros([2, 1]))
            return module.dynamic_decode(decoder)[0].rnn_output

        nested = decode((inputs, {"twice": inputs * 2.0}), lambda pair: pair[0] + pair[1]["twice"])
        summed = decode(inputs * 3.0, lambda given: given)

        attention = OwnAttention(4, RNG.uniform(-1, 1, [2, 5, 3]).astype(np.float32), [5, 2])
        cell = module.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), attention, alignment_history=True)
        helper = module.TrainingHelper(inputs, [3, 3])
        decoder = module.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
        history = module.dynamic_decode(decoder, scope="own")[1].alignment_history.stack()
        session.run(tf.global_variables_initializer())
        values = session.run([outputs, lengths, nested, summed, tf.reduce_sum(history, 2)])
        return {
            "outputs": [values[0].tolist(), values[1].tolist(), state],
            "nested": np.round(values[2], 5).tolist(),
            "summed": np.round(values[3], 5).tolist(),
            "variables": [variable.name for variable in tf.trainable_variables("own/")],
            "alignment_sums": values[4].ravel().tolist(),
        }


class _Warnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record.getMessage())


def wrong(tf: Any, contrib: Any) -> dict[str, Any]:
    module = contrib.seq2seq
    with tf.Graph().as_default(), tf.Session() as session:

        def cell_for(memory: Any, lengths: Any = None) -> Any:
            mechanism = module.LuongAttention(4, memory, lengths)
            return module.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, alignment_history=True)

        known = cell_for(tf.zeros([2, 3, 5]))
        rows = tf.placeholder_with_default(np.zeros([2, 3, 5], np.float32), [None, 3, 5])
        late = cell_for(rows).zero_state(4, tf.float32).cell_state
        empty = cell_for(tf.zeros([2, 3, 5]), tf.placeholder_with_default([3, 0], [None]))
        aligned = empty(tf.zeros([2, 4]), empty.zero_state(2, tf.float32))[0]
        session.run(tf.global_variables_initializer())
        result = {
            "now": error(lambda: known.zero_state(4, tf.float32)),
            "late": error(lambda: session.run(late)),
            "empty": error(lambda: session.run(aligned)),
            "state": error(lambda: known(tf.zeros([2, 4]), (tf.zeros([2, 4]), tf.zeros([2, 5])))),
        }

        def history(memory: Any, batch: Any, scope: str) -> Any:
            cell = cell_for(module.tile_batch(memory, 2))
            state = cell.zero_state(batch * 2, tf.float32)
            starts = tf.fill([batch], 1)
            decoder = module.BeamSearchDecoder(cell, tf.ones([4, 4]), starts, 0, state, 2, tf.layers.Dense(4))
            return module.dynamic_decode(decoder, maximum_iterations=2, scope=scope)[1].cell_state.alignment_history

        seen = _Warnings()
        logger = logging.getLogger("tensorflow")
        logger.addHandler(seen)
        try:
            as_written = history(tf.zeros([2, 3, 5]), 2, "a")
            ordered = history(rows, tf.shape(rows)[0], "b")
        finally:
            logger.removeHandler(seen)
        result["order"] = [isinstance(as_written, tf.TensorArray), "Tensor" if tf.is_tensor(ordered) else "array"]
        result["warned"] = sum("TensorArray reordering" in text for text in seen.found)
    return result


def learnt(tf: Any, contrib: Any) -> dict[str, Any]:
    """Reverses three symbols, 3 to 6; 1 starts and 2 ends."""
    module, size = contrib.seq2seq, 24
    source = np.array(list(itertools.islice(itertools.permutations(range(3, 7), 3), size)), np.int32)
    target = np.concatenate([source[:, ::-1], np.full([size, 1], 2, np.int32)], 1)
    given = np.concatenate([np.full([size, 1], 1, np.int32), target[:, :-1]], 1)

    def build(beams: int, reuse: bool | None) -> Any:
        with tf.variable_scope("model", reuse=reuse):
            table = tf.get_variable("embedding", [7, 16])
            memory, state = tf.nn.dynamic_rnn(
                tf.nn.rnn_cell.GRUCell(24), tf.nn.embedding_lookup(table, source), dtype=tf.float32
            )
            if beams > 1:
                memory, state = module.tile_batch((memory, state), beams)
            cell = module.AttentionWrapper(
                tf.nn.rnn_cell.GRUCell(24), module.LuongAttention(24, memory, scale=True), attention_layer_size=24
            )
            state = cell.zero_state(size * beams, tf.float32).clone(cell_state=state)
            layer = tf.layers.Dense(7, name="symbols")
            if beams > 1:
                decoder = module.BeamSearchDecoder(cell, table, tf.fill([size], 1), 2, state, beams, layer)
                return module.dynamic_decode(decoder, maximum_iterations=4)
            helper = module.TrainingHelper(tf.nn.embedding_lookup(table, given), [4] * size)
            return module.dynamic_decode(module.BasicDecoder(cell, helper, state, layer))

    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        outputs, _, _ = build(1, None)
        loss = module.sequence_loss(outputs.rnn_output, target, tf.ones([size, 4]))
        step = tf.train.AdamOptimizer(0.02).minimize(loss)
        said, state, _ = build(2, True)
        session.run(tf.global_variables_initializer())
        losses = [float(session.run([loss, step])[0]) for _ in range(120)]
        found, alignments = session.run([said.predicted_ids[:, :, 0], state.cell_state.alignments])
    return {
        "losses": losses[::40] + losses[-1:],
        "said": found.tolist(),
        "wanted": target.tolist(),
        "alignments": [alignments.ndim, alignments.shape[-1]],
    }


def buckets(tf: Any, contrib: Any) -> dict[str, Any]:
    module = contrib.legacy_seq2seq

    def variables(sizes: list[tuple[int, int]]) -> tuple[list[str], int]:
        with tf.Graph().as_default():
            symbols = [tf.zeros([2], tf.int32) for _ in range(4)]
            _, losses = module.model_with_buckets(
                symbols,
                symbols,
                symbols,
                [tf.ones([2]) for _ in range(4)],
                sizes,
                lambda x, y: module.embedding_tied_rnn_seq2seq(x, y, tf.nn.rnn_cell.GRUCell(3), 5, 3),
            )
            return [variable.name for variable in tf.global_variables()], len(losses)

    found, losses = variables([(2, 2), (4, 4)])
    with tf.Graph().as_default():
        cell = tf.nn.rnn_cell.GRUCell(3)
        not_a_cell = error(lambda: module.one2many_rnn_seq2seq([], {"a": []}, cell, {"a": 3}, 5, {"a": 5}, 3))
    return {
        "variables": found,
        "variables_of_one": variables([(4, 4)])[0],
        "losses": losses,
        "short": error(lambda: variables([(4, 9)])),
        "not_a_cell": not_a_cell,
    }


JOBS = {
    "crf": crf,
    "beams": beams,
    "tree": tree,
    "own": own,
    "wrong": wrong,
    "learnt": learnt,
    "buckets": buckets,
}
