"""Nothing that a call returns or was fed is connected with anything else: found by writing into arrays.

Run by test_aliasing.py in one process. Each check builds a graph, keeps copies of what it got, writes into the arrays,
runs again, and compares.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import tf1sessions

tf1sessions.enable_v1_behavior()
tf = tf1sessions.tf1

LARGE = 1024  # LARGE x LARGE float32 is 4 MiB: what the rule for large results is for
SIDES = (3, 64, LARGE)


def _value(side: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random((side, side), np.float32)


def _flat(result: Any) -> list[Any]:
    """The arrays in a result, each once: a tensor fetched twice is one array in two places, as in run()."""
    found: list[Any] = []
    if isinstance(result, np.ndarray):
        found = [result]
    elif isinstance(result, dict):
        found = [array for item in result.values() for array in _flat(item)]
    elif isinstance(result, (list, tuple)):
        found = [array for item in result for array in _flat(item)]
    return list({id(array): array for array in found}.values())


def _scribble(arrays: list[Any]) -> None:
    for array in arrays:
        array[...] = 77


def _independent(session: Any, fetches: Any, feeds: Any = None, *, same: bool = True) -> None:
    """Runs a request four times and checks that results, feeds and later results are all separate arrays.

    Args:
        same: Whether each run gives the same values.
    """
    feeds = feeds or {}
    runs = [_flat(session.run(fetches, feeds)) for _ in range(4)]
    arrays = [array for run in runs for array in run]
    assert arrays
    for number, array in enumerate(arrays):
        for other in arrays[:number]:
            assert not np.shares_memory(array, other), f"results {number} share memory"
        for value in feeds.values():
            assert not isinstance(value, np.ndarray) or not np.shares_memory(array, value), "a result is a feed"
    if not same:
        return
    kept = [array.copy() for array in runs[0]]
    fed = [np.array(value) for value in feeds.values()]
    for run in runs:
        for array, expected in zip(run, kept, strict=True):
            np.testing.assert_array_equal(array, expected)
    for number in range(len(runs[0])):  # one result at a time: the others of its run stay as they are
        runs[0][number][...] = 77
        for other in range(number + 1, len(runs[0])):
            np.testing.assert_array_equal(runs[0][other], kept[other])
    _scribble(runs[1])
    for array, expected in zip(runs[2], kept, strict=True):
        np.testing.assert_array_equal(array, expected)
    for value, expected in zip(feeds.values(), fed, strict=True):
        np.testing.assert_array_equal(value, expected)
    for array, expected in zip(_flat(session.run(fetches, feeds)), kept, strict=True):
        np.testing.assert_array_equal(array, expected)


def check_constants_and_chains() -> None:
    for side in SIDES:
        with tf.Graph().as_default(), tf1sessions.Session() as session:
            constant = tf.constant(_value(side))
            chain = tf.reshape(tf.identity(constant), [side * side])
            _independent(session, [constant, tf.identity(constant), chain, tf.cast(constant, tf.int32), chain + 0.0])
            _independent(session, {"a": constant, "b": [constant, constant]})
            _independent(session, constant)
            _independent(session, [tf.zeros([side, side]), tf.matmul(constant, tf.zeros([side, side]))])


def check_variables_and_chains() -> None:
    for side in SIDES:
        for resource in (False, True):
            with tf.Graph().as_default(), tf1sessions.Session() as session:
                variable = tf.Variable(_value(side), use_resource=resource)
                chain = [
                    variable,
                    variable.value(),
                    tf.identity(variable),
                    tf.reshape(variable, [-1]),
                    tf.bitcast(variable, tf.int32),
                    variable + 0.0,
                    variable * 1.0,
                    tf.stop_gradient(variable),
                    tf.squeeze(tf.expand_dims(variable, 0)),
                    variable[:],
                    tf.transpose(variable),
                ]
                session.run(variable.initializer)
                _independent(session, chain)
                for fetch in chain:
                    _independent(session, fetch)
                kept = [array.copy() for array in session.run(chain)]
                held = session.run(chain)
                for change in (
                    variable.assign_add(np.ones((side, side), np.float32)),
                    variable.assign(np.zeros((side, side), np.float32)),
                    tf.scatter_update(variable, [0], np.ones((1, side), np.float32)),
                ):
                    session.run(change.op if hasattr(change, "op") else change)
                for array, expected in zip(held, kept, strict=True):
                    np.testing.assert_array_equal(array, expected, "a result changed with its variable")


def check_results_of_assignments() -> None:
    for side in SIDES:
        for resource in (False, True):
            with tf.Graph().as_default(), tf1sessions.Session() as session:
                variable = tf.Variable(np.zeros((side, side), np.float32), use_resource=resource)
                x = tf.placeholder(tf.float32, [side, side])
                product = tf.matmul(x, x)
                assigned = variable.assign(product)
                added = variable.assign_add(x)
                session.run(variable.initializer)
                value = np.eye(side, dtype=np.float32)
                for fetch in (assigned, [assigned, product], [product, added], added):
                    before = session.run(fetch, {x: value})
                    kept = [array.copy() for array in _flat(before)]
                    inside = session.run(variable)
                    _scribble(_flat(before)[:1])
                    np.testing.assert_array_equal(session.run(variable), inside, "a result is the variable's memory")
                    session.run(added, {x: value})
                    for array, expected in zip(_flat(before)[1:], kept[1:], strict=True):
                        np.testing.assert_array_equal(array, expected)


def check_a_fed_array_that_changes_later() -> None:
    for side in SIDES:
        with tf.Graph().as_default(), tf1sessions.Session() as session:
            x = tf.placeholder(tf.float32, [side, side])
            ref = tf.Variable(np.zeros((side, side), np.float32), use_resource=False)
            resource = tf.Variable(np.zeros((side, side), np.float32), use_resource=True)
            uninitialised = tf.Variable(x, use_resource=False)
            queue = tf.FIFOQueue(4, [tf.float32], [[side, side]])
            seen: list[Any] = []
            python = tf.py_func(lambda array, seen=seen: seen.append(array) or np.float32(0), [x], tf.float32)
            session.run([ref.initializer, resource.initializer])
            for keep, look in (
                (ref.assign(x), ref),
                (ref.assign(tf.identity(x)).op, ref),
                (resource.assign(x), resource),
                (resource.assign(tf.reshape(tf.identity(x), [side, side])).op, resource),
                (uninitialised.initializer, uninitialised),
                (queue.enqueue(x), queue.dequeue()),
                (queue.enqueue_many([x[None]]), queue.dequeue()),
            ):
                for _ in range(3):  # the slow way and the fast one
                    value = _value(side, 5)
                    session.run(keep, {x: value})
                    value[...] = -1
                    np.testing.assert_array_equal(session.run(look), _value(side, 5), f"{keep} kept the fed array")
                    value = _value(side, 6)
                    call = tf1sessions.CompiledCall(session, [x], keep, None)
                    call(value)
                    value[...] = -1
                    np.testing.assert_array_equal(session.run(look), _value(side, 6), f"{keep} kept the fed array")
            for _ in range(2):
                value = _value(side, 7)
                session.run(python, {x: value})
                value[...] = -1
                np.testing.assert_array_equal(seen[-1], _value(side, 7), "a Python function kept the fed array")


def check_tensors_both_fed_and_fetched() -> None:
    value = tf.SparseTensorValue(np.array([[0, 0]]), np.array([1.0], np.float32), np.array([2, 2]))
    ragged = tf.ragged.constant_value([[1.0], [2.0, 3.0]], dtype=np.float32)
    with tf.Graph().as_default(), tf1sessions.Session() as session:
        x = tf.placeholder(tf.float32, [3, 3])
        y = tf.placeholder(tf.float32, [3, 3])
        array = _value(3)
        _independent(session, [x, x + 1.0], {x: array})
        _independent(session, {"x": x, "more": [x, (x,)]}, {x: array})
        readonly = _value(3)
        readonly.flags.writeable = False
        session.run(x, {x: readonly})[...] = 1  # it is the caller's, whatever the fed array was

        def separate(fetches: Any, feeds: Any, arrays: list[Any]) -> None:
            for _ in range(2):
                for result in _parts(session.run(fetches, feeds)):
                    assert not any(np.shares_memory(result, fed) for fed in arrays)

        other = _value(3, 1)
        separate([x, y], {(x, (y,)): (array, (other,))}, [array, other])
        separate([x, y], {(x, y): [array, other]}, [array, other])
        sparse = tf.sparse_placeholder(tf.float32)
        separate(sparse, {sparse: value}, list(value))
        separate([sparse.values, x], {sparse: value, (x,): (array,)}, [*value, array])
        place = tf.ragged.placeholder(tf.float32, 1)
        separate(place, {place: ragged}, [ragged.values, ragged.row_splits])


def _parts(result: Any) -> list[Any]:
    if hasattr(result, "row_splits"):
        return [result.values, result.row_splits]
    return _flat(result)


def check_equal_operations_share_no_buffer() -> None:
    """The runtime merges equal operations; their results must still be two arrays."""
    for side in SIDES:
        with tf.Graph().as_default(), tf1sessions.Session() as session:
            x = tf.placeholder(tf.float32, [side, side])
            y = tf.placeholder(tf.float32, [side, side])
            feeds = {x: _value(side, 1), y: _value(side, 2)}
            _independent(session, [tf.matmul(x, y), tf.matmul(x, y)], feeds)
            _independent(session, [tf.nn.relu(tf.matmul(x, y)), tf.nn.relu(tf.matmul(x, y))], feeds)
            _independent(session, [tf.matmul(x, y), tf.matmul(tf.identity(x), y * 1.0)], feeds)
            image = tf.reshape(x, [1, side, side, 1])
            kernel = tf.ones([1, 1, 1, 1])
            _independent(
                session, [tf.nn.conv2d(image, kernel, 1, "SAME"), tf.nn.conv2d(image, kernel, 1, "SAME")], feeds
            )


def check_what_the_optimizer_can_know() -> None:
    for side in SIDES:
        with tf.Graph().as_default(), tf1sessions.Session() as session:
            x = tf.placeholder(tf.float32, [side, side])
            y = tf.placeholder(tf.float32, [side, side])
            feeds = {x: _value(side, 1), y: _value(side, 2)}
            zeros = tf.zeros([side, side])
            for known in (zeros, tf.zeros_like(y), y - y, y * 0.0, y * zeros, tf.fill([side, side], 0.0), zeros + 0.0):
                _independent(session, tf.matmul(x, known), feeds)
                _independent(session, tf.nn.relu(tf.matmul(known, x)), feeds)
                _independent(session, [tf.matmul(known, known)], feeds)
            _independent(session, tf.matmul(x * 1.0, y + 0.0), feeds)


def check_a_variable_that_takes_a_product() -> None:
    for side in SIDES:
        with tf.Graph().as_default(), tf1sessions.Session() as session:
            x = tf.placeholder(tf.float32, [side, side])
            variable = tf.Variable(np.zeros((side, side), np.float32), use_resource=True)
            assigned = variable.assign(tf.matmul(x, x)).op
            twin = tf.matmul(x, x)
            session.run(variable.initializer)
            for _ in range(3):
                result = session.run([twin, assigned], {x: np.eye(side, dtype=np.float32)})[0]
                result[...] = 9
                np.testing.assert_array_equal(session.run(variable), np.eye(side), "the variable took the result")


_UNARY = (
    lambda t: tf.nn.relu(t),
    lambda t: tf.tanh(t),
    lambda t: tf.nn.softmax(t),
    lambda t: tf.identity(t),
    lambda t: tf.stop_gradient(t),
    lambda t: tf.transpose(t),
    lambda t: tf.reshape(tf.reshape(t, [-1]), t.shape),
    lambda t: tf.cast(t, tf.float32),
    lambda t: tf.zeros_like(t),
    lambda t: tf.squeeze(t[None], [0]),
    lambda t: t * 1.0,
    lambda t: t + 0.0,
    lambda t: t * 0.0,
    lambda t: tf.negative(tf.negative(t)),
    lambda t: tf.nn.relu6(t),
    lambda t: tf.concat([t], 0),
    lambda t: tf.tile(t, [1, 1]),
    lambda t: tf.pad(t, [[0, 0], [0, 0]]),
    lambda t: tf.slice(t, [0, 0], [-1, -1]),
    lambda t: tf.reverse(tf.reverse(t, [0]), [0]),
    lambda t: tf.unstack(tf.stack([t, t]))[0],
    lambda t: tf.split(t, 1)[0],
    lambda t: tf.clip_by_value(t, -1e9, 1e9),
    lambda t: tf.nn.bias_add(t, tf.zeros([t.shape[1]])),
    lambda t: tf.reduce_sum(t[None], 0),
    lambda t: tf.nn.conv2d(t[None, :, :, None], tf.ones([1, 1, 1, 1]), 1, "SAME")[0, :, :, 0],
    lambda t: tf.nn.max_pool(t[None, :, :, None], 1, 1, "SAME")[0, :, :, 0],
    lambda t: tf.broadcast_to(t, t.shape),
    lambda t: tf.gather(t, tf.range(t.shape[0])),
)
# What the rule for fresh results looks through.
_LAYERS = (
    lambda t: tf.nn.relu(t),
    lambda t: tf.nn.softmax(t),
    lambda t: tf.identity(t),
    lambda t: tf.transpose(t),
    lambda t: tf.reshape(t, t.shape),
    lambda t: tf.nn.bias_add(t, tf.zeros([t.shape[1]])),
    lambda t: tf.nn.conv2d(tf.reshape(t, [1, *t.shape, 1]), tf.reshape(t, [*t.shape, 1, 1])[:1, :1], 1, "SAME"),
)
_BINARY = (
    lambda a, b: tf.matmul(a, b, transpose_b=True),
    lambda a, b: tf.squeeze(tf.matmul(tf.expand_dims(a, 0), tf.expand_dims(b, 0)), [0]),
    lambda a, b: tf.matmul(a[None], b[None]),
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: tf.maximum(a, b),
    lambda a, b: tf.where(tf.ones(a.shape, tf.bool), a, b),
)


def _any_graph(chance: random.Random, side: int) -> tuple[list[Any], dict[Any, Any]]:
    """Some tensors of a random graph of operations that share, fold, merge or write anew."""
    x = tf.placeholder(tf.float32, [side, side])
    y = tf.placeholder(tf.float32, [side, side])
    tensors = [
        x,
        y,
        tf.Variable(_value(side, 3), use_resource=False),
        tf.Variable(_value(side, 4), use_resource=True),
    ]
    if chance.random() < 0.4:
        tensors += [tf.zeros([side, side]), tf.eye(side), tf.constant(_value(side, 5))]
    given = len(tensors)
    tensors = [tf.convert_to_tensor(tensor) for tensor in tensors]
    for _ in range(chance.randint(2, 8)):
        kind = chance.random()
        if kind < 0.3:
            made = chance.choice(_LAYERS)(chance.choice(tensors))
        elif kind < 0.6:
            made = tf.matmul(chance.choice(tensors), chance.choice(tensors))
        elif kind < 0.8:
            made = chance.choice(_UNARY)(chance.choice(tensors))
        else:
            made = chance.choice(_BINARY)(chance.choice(tensors), chance.choice(tensors))
        tensors.append(tf.reshape(made, [side, side]) if made.shape.rank != 2 else made)
    made = tensors[given:-1]
    return [tensors[-1], *chance.sample(made, chance.randint(0, min(2, len(made))))], {
        x: _value(side, 1),
        y: _value(side, 2),
    }


def check_random_graphs(count: int = 60, seed: int = 1) -> None:
    chance = random.Random(seed)
    fresh = 0
    for number in range(count):
        with tf.Graph().as_default(), tf1sessions.Session() as session:
            fetches, feeds = _any_graph(chance, chance.choice((2, 16, 128)))
            session.run(tf.global_variables_initializer())
            variables = session.run(tf.global_variables())
            try:
                _independent(session, fetches, feeds)
                for variable, expected in zip(session.run(tf.global_variables()), variables, strict=True):
                    np.testing.assert_array_equal(variable, expected)
            except AssertionError as error:
                nodes = "\n".join(
                    f"{op.name} {op.type} {[t.name for t in op.inputs]}"
                    for op in tf.get_default_graph().get_operations()
                )
                raise AssertionError(f"graph {number}, fetches {fetches}\n{nodes}") from error
            fresh += sum(sum(request.judgement.fresh) for request in session._tf1sessions_calls.requests.values())
    assert fresh > count / 20, f"only {fresh} results were taken as they are; the check has lost its point"


def check_large_products_are_not_copied() -> None:
    """The rule is there for these: a dense network's output, and one convolution."""
    with tf.Graph().as_default(), tf1sessions.Session() as session:
        x = tf.placeholder(tf.float32, [None, 8])
        image = tf.placeholder(tf.float32, [None, 8, 8, 1])
        hidden = tf.layers.dense(x, 8, tf.nn.relu, name="one")
        out = tf.nn.softmax(tf.layers.dense(hidden, 8, name="two"))
        convolved = tf.layers.conv2d(image, 4, 3, activation=tf.nn.relu)
        noise = tf.random_normal([4, 4]).op.inputs[0].op.inputs[0]
        session.run(tf.global_variables_initializer())
        for fetch, feeds, expected in (
            (out, {x: np.ones((2, 8), np.float32)}, True),
            (convolved, {image: np.ones((1, 8, 8, 1), np.float32)}, True),
            (noise, {}, True),
            (tf.random.stateless_uniform([2, 2], [1, 2]), {}, False),
            (hidden + 1.0, {x: np.ones((2, 8), np.float32)}, False),
        ):
            session.run(fetch, feeds)
            request = session._tf1sessions_calls.requests[
                tuple(sorted(tensor.name for tensor in feeds)), (fetch.name,), (), None
            ]
            assert request.judgement.fresh == (expected,), fetch
