"""``tf.contrib.legacy_seq2seq``: sequence to sequence with lists of tensors, unrolled over time.

Shapes: B examples in the batch, N inputs, a sequence is a Python list of one tensor a step. A ``loop_function`` takes
the output of a step [B, O] and the number of the next, and gives the input of the next [B, N].

A model is an encoder, whose last state is the first of a decoder::

    basic, tied                          vectors in, the cell's output out
    embedding_{rnn,tied_rnn,attention}   symbols (int32 [B]) in, scores of symbols out
    one2many                             one encoder, a decoder for each of several names
    model_with_buckets                   any of these at several lengths, and their losses
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..runtime import tf1 as tf
from .rnn.core_rnn_cell import EmbeddingWrapper, OutputProjectionWrapper, RNNCell, linear

__all__ = [
    "attention_decoder",
    "basic_rnn_seq2seq",
    "embedding_attention_decoder",
    "embedding_attention_seq2seq",
    "embedding_rnn_decoder",
    "embedding_rnn_seq2seq",
    "embedding_tied_rnn_seq2seq",
    "model_with_buckets",
    "one2many_rnn_seq2seq",
    "rnn_decoder",
    "sequence_loss",
    "sequence_loss_by_example",
    "tied_rnn_seq2seq",
]

LoopFunction = Callable[[Any, int], Any]
Projection = tuple[Any, Any]


def _check_projection(output_projection: Projection | None, num_symbols: int) -> None:
    if output_projection is not None:
        for value, shape in zip(output_projection, ([None, num_symbols], [num_symbols]), strict=True):
            tf.convert_to_tensor(value).shape.assert_is_compatible_with(shape)


def _embed_best(embedding: Any, output_projection: Projection | None, update_embedding: bool = True) -> LoopFunction:
    """A loop function: the row of ``embedding`` [symbols, N] for the symbol with the greatest score."""

    def loop_function(previous: Any, _: int) -> Any:
        if output_projection is not None:
            previous = tf.nn.xw_plus_b(previous, *output_projection)
        embedded = tf.nn.embedding_lookup(embedding, tf.argmax(previous, 1))
        return embedded if update_embedding else tf.stop_gradient(embedded)

    return loop_function


def _decoded(feed_previous: Any, decode: Callable[[bool, bool], tuple[Any, Any]]) -> tuple[Any, Any]:
    """``decode(feed, update)``; a tensor ``feed_previous`` decides in the graph, and then ``update`` is False."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def branch(feed: bool) -> Callable[[], tuple[Any, Any]]:
        def call() -> tuple[Any, Any]:
            with tf.variable_scope(tf.get_variable_scope(), reuse=None if feed else True):
                return decode(feed, False)

        return call

    outputs, state = tf.cond(feed_previous, branch(True), branch(False))
    return outputs, state


def _steps(inputs: Sequence[Any], loop_function: LoopFunction | None, step: Callable[[int, Any], Any]) -> list[Any]:
    """The outputs of ``step(i, input)``; the variables of the first are used again, and by the loop function."""
    outputs: list[Any] = []
    for i, given in enumerate(inputs):
        if loop_function is not None and outputs:
            with tf.variable_scope("loop_function", reuse=True):
                given = loop_function(outputs[-1], i)
        if i > 0:
            tf.get_variable_scope().reuse_variables()
        outputs.append(step(i, given))
    return outputs


def rnn_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    cell: Any,
    loop_function: LoopFunction | None = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs ``cell`` on a list of inputs.

    Args:
        decoder_inputs: Tensors [B, N].
        initial_state: The cell's first state.
        cell: The cell.
        loop_function: Makes the inputs after the first from the outputs, in place of ``decoder_inputs``.
        scope: The variable scope or its name; None for ``rnn_decoder``.

    Returns:
        ``(outputs, state)``: a list of [B, O] and the last state.
    """
    state = initial_state

    def step(_: int, given: Any) -> Any:
        nonlocal state
        output, state = cell(given, state)
        return output

    with tf.variable_scope(scope or "rnn_decoder"):
        return _steps(decoder_inputs, loop_function, step), state


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any, dtype: Any = tf.float32, scope: Any = None
) -> tuple[list[Any], Any]:
    """An encoder and a decoder with cells of one kind, and variables of their own.

    Args:
        encoder_inputs: Tensors [B, N].
        decoder_inputs: Tensors [B, N].
        cell: The decoder's cell; the encoder gets a copy.
        dtype: Of the first state.
        scope: The variable scope or its name; None for ``basic_rnn_seq2seq``.

    Returns:
        ``(outputs, state)``: the decoder's, a list of [B, O] and the last state.
    """
    with tf.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = tf.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    loop_function: LoopFunction | None = None,
    dtype: Any = tf.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """An encoder and a decoder that share one cell.

    Args:
        encoder_inputs: Tensors [B, N].
        decoder_inputs: Tensors [B, N].
        cell: The cell.
        loop_function: See :func:`rnn_decoder`.
        dtype: Of the first state.
        scope: The name of the shared variables' scope; None for ``tied_rnn_seq2seq``.

    Returns:
        ``(outputs, state)``: the decoder's, a list of [B, O] and the last state.
    """
    with tf.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = tf.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        tf.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Projection | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs ``cell`` on the rows of a variable ``embedding`` for a list of symbols.

    Args:
        decoder_inputs: Symbols, int32 [B].
        initial_state: The cell's first state.
        cell: The cell.
        num_symbols: The rows of the variable.
        embedding_size: Its columns.
        output_projection: Weights [O, num_symbols] and biases [num_symbols] that make scores of the outputs; None if
            they are scores.
        feed_previous: Whether the inputs after the first are the symbols with the greatest score of the step before.
        update_embedding_for_previous: Whether these train the variable.
        scope: The variable scope or its name; None for ``embedding_rnn_decoder``.

    Returns:
        ``(outputs, state)``: a list of [B, O] and the last state.

    Raises:
        ValueError: ``output_projection`` has another shape.
    """
    with tf.variable_scope(scope or "embedding_rnn_decoder") as scope:
        _check_projection(output_projection, num_symbols)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop = _embed_best(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        embedded = [tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs]
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop)


def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Projection | None = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """An encoder and a decoder of symbols, each with an embedding.

    Args:
        encoder_inputs: Symbols, int32 [B].
        decoder_inputs: Symbols, int32 [B].
        cell: The decoder's cell; the encoder gets a copy.
        num_encoder_symbols: How many symbols go in.
        num_decoder_symbols: How many come out.
        embedding_size: The columns of the embeddings.
        output_projection: See :func:`embedding_rnn_decoder`; None to project in the model.
        feed_previous: See there; may be a scalar tensor.
        dtype: Of the first state; float32 if None.
        scope: The variable scope or its name; None for ``embedding_rnn_seq2seq``.

    Returns:
        ``(outputs, state)``: a list of [B, O], O symbols unless ``output_projection`` is given, and the last state.
    """
    with tf.variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
        return _decoded(
            feed_previous,
            lambda feed, update: embedding_rnn_decoder(
                decoder_inputs,
                state,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=feed,
                update_embedding_for_previous=update,
            ),
        )


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Projection | None = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """An encoder and a decoder of symbols that share one cell and one embedding.

    Args:
        encoder_inputs: Symbols, int32 [B].
        decoder_inputs: Symbols, int32 [B].
        cell: The cell.
        num_symbols: The rows of the embedding.
        embedding_size: Its columns.
        num_decoder_symbols: How many symbols come out, the first of them; None for all.
        output_projection: See :func:`embedding_rnn_decoder`; None to project in the model.
        feed_previous: See there; may be a scalar tensor.
        dtype: Of the first state; float32 if None.
        scope: The variable scope or its name; None for ``embedding_tied_rnn_seq2seq``.

    Returns:
        ``(outputs, state)``: a list of [B, O], O symbols unless ``output_projection`` is given, and the last state.

    Raises:
        ValueError: ``output_projection`` has another shape.
    """
    with tf.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as scope:
        _check_projection(output_projection, num_symbols)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size], dtype=scope.dtype)
        encoded = [tf.nn.embedding_lookup(embedding, symbols) for symbols in encoder_inputs]
        decoded = [tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs]
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols or num_symbols)
        return _decoded(
            feed_previous,
            lambda feed, update: tied_rnn_seq2seq(
                encoded,
                decoded,
                cell,
                loop_function=_embed_best(embedding, output_projection, update) if feed else None,
                dtype=scope.dtype,
            ),
        )


def _attention(memory: Any, num_heads: int, dtype: Any) -> Callable[[Any], list[Any]]:
    """A function of a cell's state that gives the attention of each head, [B, A], with ``memory`` [B, L, A]."""
    length, size = memory.shape.as_list()[1:]
    memory = tf.reshape(memory, [-1, tf.shape(memory)[1] if length is None else length, 1, size])
    features, vectors = [], []
    for head in range(num_heads):
        kernel = tf.get_variable(f"AttnW_{head}", [1, 1, size, size], dtype=dtype)
        features.append(tf.nn.conv2d(memory, kernel, [1, 1, 1, 1], "SAME"))
        vectors.append(tf.get_variable(f"AttnV_{head}", [size], dtype=dtype))

    def attend(state: Any) -> list[Any]:
        query = tf.nest.flatten(state)
        if len(query) > 1:
            query = [tf.concat(query, 1)]
        attentions = []
        for head in range(num_heads):
            with tf.variable_scope(f"Attention_{head}"):
                projected = tf.reshape(tf.cast(linear(query, size), dtype), [-1, 1, 1, size])
                scores = tf.reduce_sum(vectors[head] * tf.tanh(features[head] + projected), [2, 3])
                weights = tf.cast(tf.nn.softmax(tf.cast(scores, tf.float32)), dtype)
                attention = tf.reduce_sum(tf.expand_dims(tf.expand_dims(weights, -1), -1) * memory, [1, 2])
                attentions.append(tf.reshape(attention, [-1, size]))
        return attentions

    return attend


def attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: LoopFunction | None = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Runs ``cell`` on a list of inputs and what it attends to (arXiv:1412.7449).

    A step gives the cell a projection of the input and the last attentions, weighs ``attention_states`` by the softmax
    of V · tanh(W · attention_states + U · state), and projects the cell's output and the new attentions.

    Args:
        decoder_inputs: Tensors [B, N].
        initial_state: The cell's first state.
        attention_states: [B, L, A], L and A known, or L in the graph only.
        cell: The cell.
        output_size: O; the cell's if None.
        num_heads: How many attentions there are.
        loop_function: See :func:`rnn_decoder`.
        dtype: Of the first attentions; the scope's if None.
        scope: The variable scope or its name; None for ``attention_decoder``.
        initial_state_attention: Whether the first attentions come from ``initial_state``, in place of zeros.

    Returns:
        ``(outputs, state)``: a list of [B, O] and the last state.

    Raises:
        ValueError: There are no inputs or heads, or A or N is not known.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    size = attention_states.shape.as_list()[2]
    if size is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    output_size = cell.output_size if output_size is None else output_size

    with tf.variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = scope.dtype
        batch = tf.shape(decoder_inputs[0])[0]
        attend = _attention(attention_states, num_heads, dtype)

        state = initial_state
        if initial_state_attention:
            attentions = attend(state)
        else:
            attentions = [tf.zeros([batch, size], dtype=dtype) for _ in range(num_heads)]
            for attention in attentions:
                attention.set_shape([None, size])

        def step(i: int, given: Any) -> Any:
            nonlocal state, attentions
            columns = given.shape.with_rank(2).as_list()[1]
            if columns is None:
                raise ValueError(f"Could not infer input size from input: {given.name}")
            given = tf.cast(given, dtype)
            output, state = cell(linear([given, *attentions], columns), state)
            if i == 0 and initial_state_attention:
                with tf.variable_scope(tf.get_variable_scope(), reuse=True):
                    attentions = attend(state)
            else:
                attentions = attend(state)
            with tf.variable_scope("AttnOutputProjection"):
                return linear([tf.cast(output, dtype), *attentions], output_size)

        return _steps(decoder_inputs, loop_function, step), state


def embedding_attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Projection | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """:func:`attention_decoder` on the rows of a variable ``embedding`` for a list of symbols.

    Args:
        decoder_inputs: Symbols, int32 [B].
        initial_state: The cell's first state.
        attention_states: [B, L, A].
        cell: The cell.
        num_symbols: The rows of the variable.
        embedding_size: Its columns.
        num_heads: How many attentions there are.
        output_size: O; the cell's if None.
        output_projection: See :func:`embedding_rnn_decoder`.
        feed_previous: See there.
        update_embedding_for_previous: See there.
        dtype: Of the first attentions; the scope's if None.
        scope: The variable scope or its name; None for ``embedding_attention_decoder``.
        initial_state_attention: See :func:`attention_decoder`.

    Returns:
        ``(outputs, state)``: a list of [B, O] and the last state.

    Raises:
        ValueError: ``output_projection`` has another shape.
    """
    with tf.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        _check_projection(output_projection, num_symbols)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop = _embed_best(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        return attention_decoder(
            [tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size=output_size,
            num_heads=num_heads,
            loop_function=loop,
            initial_state_attention=initial_state_attention,
        )


def embedding_attention_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Projection | None = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """An encoder and a decoder of symbols; the decoder attends to the encoder's outputs.

    Args:
        encoder_inputs: Symbols, int32 [B].
        decoder_inputs: Symbols, int32 [B].
        cell: The decoder's cell; the encoder gets a copy.
        num_encoder_symbols: How many symbols go in.
        num_decoder_symbols: How many come out.
        embedding_size: The columns of the embeddings.
        num_heads: How many attentions there are.
        output_projection: See :func:`embedding_rnn_decoder`; None to project in the model.
        feed_previous: See there; may be a scalar tensor.
        dtype: Of the first state; float32 if None.
        scope: The variable scope or its name; None for ``embedding_attention_seq2seq``.
        initial_state_attention: See :func:`attention_decoder`.

    Returns:
        ``(outputs, state)``: a list of [B, O], O symbols unless ``output_projection`` is given, and the last state.
    """
    with tf.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        encoded, state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        attention_states = tf.concat([tf.reshape(output, [-1, 1, cell.output_size]) for output in encoded], 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols
        return _decoded(
            feed_previous,
            lambda feed, update: embedding_attention_decoder(
                decoder_inputs,
                state,
                attention_states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=output_size,
                output_projection=output_projection,
                feed_previous=feed,
                update_embedding_for_previous=update,
                initial_state_attention=initial_state_attention,
            ),
        )


def one2many_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs_dict: Mapping[str, Sequence[Any]],
    enc_cell: Any,
    dec_cells_dict: Mapping[str, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: Mapping[str, int],
    embedding_size: int,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """One encoder and several decoders of symbols (arXiv:1511.06114).

    Args:
        encoder_inputs: Symbols, int32 [B].
        decoder_inputs_dict: Name -> the decoder's symbols, int32 [B].
        enc_cell: The encoder's cell.
        dec_cells_dict: Name -> the decoder's cell.
        num_encoder_symbols: How many symbols go in.
        num_decoder_symbols_dict: Name -> how many come out.
        embedding_size: The columns of the embeddings.
        feed_previous: See :func:`embedding_rnn_decoder`; may be a scalar tensor.
        dtype: Of the first state; float32 if None.
        scope: The variable scope or its name; None for ``one2many_rnn_seq2seq``.

    Returns:
        ``(outputs, states)``: name -> a list of [B, symbols], and name -> the last state.

    Raises:
        TypeError: A cell is not an ``RNNCell``.
        ValueError: There is not one cell for each decoder.
    """
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}.")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decoder_inputs_dict")
    for name, cell in dec_cells_dict.items():
        if not isinstance(cell, RNNCell):
            raise TypeError(f"dec_cells_dict[{name!r}] is not an RNNCell: {type(cell)}.")

    outputs, states = {}, {}
    with tf.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, encoded = tf.nn.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with tf.variable_scope("one2many_decoder_" + str(name)):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(
                    feed: bool, _: bool, inputs: Any = inputs, cell: Any = cell, symbols: int = symbols
                ) -> tuple[Any, Any]:
                    return embedding_rnn_decoder(inputs, encoded, cell, symbols, embedding_size, feed_previous=feed)

                outputs[name], states[name] = _decoded(feed_previous, decode)
    return outputs, states


def sequence_loss_by_example(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross-entropy of each sequence.

    Args:
        logits: Tensors [B, symbols].
        targets: Symbols, int32 [B].
        weights: Tensors [B].
        average_across_timesteps: Whether the sum is divided by the weights' sum.
        softmax_loss_function: ``f(labels=..., logits=...)`` that gives [B], in place of the softmax.
        name: The name of the operations; None for ``sequence_loss_by_example``.

    Returns:
        [B].

    Raises:
        ValueError: The lists differ in length.
    """
    if not len(logits) == len(targets) == len(weights):
        raise ValueError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, {len(targets)}."
        )
    loss = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    with tf.name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                target = tf.reshape(target, [-1])
            losses.append(loss(labels=target, logits=logit) * weight)
        total = tf.add_n(losses)
        return total / (tf.add_n(list(weights)) + 1e-12) if average_across_timesteps else total


def sequence_loss(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross-entropy of all sequences, a scalar.

    Args:
        logits: Tensors [B, symbols].
        targets: Symbols, int32 [B].
        weights: Tensors [B].
        average_across_timesteps: Whether the sum of each sequence is divided by its weights' sum.
        average_across_batch: Whether the sum over the sequences is divided by B.
        softmax_loss_function: See :func:`sequence_loss_by_example`.
        name: The name of the operations; None for ``sequence_loss``.

    Raises:
        ValueError: The lists differ in length.
    """
    with tf.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        losses = sequence_loss_by_example(
            logits,
            targets,
            weights,
            average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function,
        )
        cost = tf.reduce_sum(losses)
        return cost / tf.cast(tf.shape(targets[0])[0], cost.dtype) if average_across_batch else cost


def model_with_buckets(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[[Any, Any], tuple[Any, Any]],
    softmax_loss_function: Callable[..., Any] | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """A model at several lengths, with the same variables.

    Args:
        encoder_inputs: The encoder's tensors, for the longest.
        decoder_inputs: The decoder's.
        targets: Symbols, int32 [B].
        weights: Tensors [B].
        buckets: The lengths: pairs of how many tensors the encoder and the decoder get, the longest last.
        seq2seq: Makes ``(outputs, state)`` of the two lists, as :func:`basic_rnn_seq2seq` does.
        softmax_loss_function: See :func:`sequence_loss_by_example`.
        per_example_loss: Whether losses are [B], in place of scalars.
        name: The name of the operations; None for ``model_with_buckets``.

    Returns:
        ``(outputs, losses)``: for each bucket what ``seq2seq`` gave, and its loss.

    Raises:
        ValueError: A list is shorter than the last bucket.
    """
    for what, given, needed in (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]),
        ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    ):
        if len(given) < needed:
            raise ValueError(f"Length of {what} ({len(given)}) must be at least that of last bucket ({needed}).")

    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    with tf.name_scope(name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]):
        for i, (encoded, decoded) in enumerate(buckets):
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if i > 0 else None):
                found, _ = seq2seq(encoder_inputs[:encoded], decoder_inputs[:decoded])
                outputs.append(found)
                losses.append(
                    loss(
                        outputs[-1],
                        targets[:decoded],
                        weights[:decoded],
                        softmax_loss_function=softmax_loss_function,
                    )
                )
    return outputs, losses
