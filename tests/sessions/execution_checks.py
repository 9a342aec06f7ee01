"""Where a request runs, what is compiled, and what many threads may do. Run by test_execution.py in one process."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import re
import signal
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow
from support import raises, wait_for

import tf1sessions
from tf1sessions import errors, runtime
from tf1sessions.sessions import calls, operations, plans, session_calls, session_methods, watchdog

tf1sessions.enable_v1_behavior()
tf = tf1sessions.tf1

DEADLINE_SECS = 60.0


@contextlib.contextmanager
def new_session(**settings: Any) -> Iterator[Any]:
    with tf.Graph().as_default(), tf1sessions.Session(**settings) as session:
        yield session


def in_threads(count: int, work: Callable[[int], Any], deadline: float = DEADLINE_SECS) -> list[Any]:
    """Runs ``work(number)`` in ``count`` threads that start together; returns results, with exceptions among them."""
    barrier = threading.Barrier(count)
    results: list[Any] = [None] * count

    def run(number: int) -> None:
        try:
            barrier.wait(deadline)
            results[number] = work(number)
        except BaseException as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + deadline
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return results


@contextlib.contextmanager
def counted() -> Iterator[list[Any]]:
    """Notes what the runtime compiles."""
    made: list[Any] = []
    base = runtime.private.session.BaseSession
    original = base._make_callable_from_options

    def make(self: Any, options: Any) -> Any:
        made.append((tuple(options.feed), tuple(options.fetch), tuple(options.target)))
        return original(self, options)

    base._make_callable_from_options = make
    try:
        yield made
    finally:
        base._make_callable_from_options = original


def last_request(session: Any) -> Any:
    return list(session._tf1sessions_calls.requests.values())[-1]


# ------------------------------------------------------------------------------------------------- where it runs


def check_the_allow_list_names_operations_that_start_nothing() -> None:
    definitions = tensorflow.core.framework.op_def_pb2 if hasattr(tensorflow, "core") else None
    if definitions is None:
        from tensorflow.core.framework import op_def_pb2 as definitions
    every = definitions.OpList()
    pywrap = runtime.private.pywrap_session
    every.ParseFromString(pywrap.TF_GetBuffer(pywrap.TF_GetAllOpList()))
    registered = {definition.name: definition for definition in every.op}
    assert not sorted(operations.CALLER_SAFE - set(registered)), "not operations of this TensorFlow"
    assert not sorted(operations.BLOCKING - set(registered)), "not operations of this TensorFlow"
    assert not operations.CALLER_SAFE & operations.BLOCKING
    # Making a queue and looking at one waits for nothing: see the check of queues that others wait for.
    looks = {name for name in operations.CALLER_SAFE if re.fullmatch(r"\w+Queue(V2)?|Queue(Size|IsClosed)(V2)?", name)}
    assert len(looks) == 12
    for name in sorted(operations.CALLER_SAFE - looks):
        definition = registered[name]
        assert not any("func" in attribute.type for attribute in definition.attr), f"{name} runs a function"
        for word in ("Queue", "Barrier", "Iterator", "Dataset", "Recv", "Send", "Collective", "Stage", "PyFunc", "Py"):
            assert word not in name, f"{name} may wait"
        assert not any(argument.type_attr == "dataset" for argument in definition.input_arg)


def check_looking_at_a_queue_does_not_wait_with_those_who_do() -> None:
    """In the calling thread, while the one thread of the pool is in Python and others wait for both ends."""
    with new_session(config=tf.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)) as session:
        full, empty = tf.FIFOQueue(1, tf.float32, [[]]), tf.PriorityQueue(1, tf.float32, [[]])
        session.run(full.enqueue(1.0))
        inside, leave = threading.Event(), threading.Event()

        def stays(value: Any) -> Any:
            inside.set()
            assert leave.wait(60)
            return value

        looks = calls.CompiledCall(session, [], [full.size(), empty.size(), full.is_closed(), empty.is_closed()], None)
        assert looks.in_caller
        waits = [full.enqueue(2.0), empty.dequeue(), tf.py_func(stays, [1.0], tf.float32)]
        threads = [threading.Thread(target=_run_until_closed, args=(session, each), daemon=True) for each in waits]
        for thread in threads[:2]:
            thread.start()
        in_flight = watchdog.watchdog.calls
        wait_for(lambda: len([call for call in in_flight() if call.session is session]) == 2, "two calls that wait")
        threads[2].start()
        assert inside.wait(60)
        for _ in range(100):
            assert [int(value) for value in looks()] == [1, 0, 0, 0]
        leave.set()
        session.run([full.close(cancel_pending_enqueues=True), empty.close()])
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()


def _run_until_closed(session: Any, fetches: Any) -> None:
    with contextlib.suppress(tf.errors.CancelledError, tf.errors.OutOfRangeError):
        session.run(fetches)


def check_auto_uses_the_callers_thread_for_plain_graphs_only() -> None:
    with new_session() as session:
        x = tf.placeholder(tf.float32, [])
        variable, other = tf.Variable(1.0, use_resource=False), tf.Variable(1.0, use_resource=False)
        train = tf.train.AdamOptimizer().minimize(tf.square(variable * x))
        session.run(tf.global_variables_initializer())
        queue = tf.FIFOQueue(3, tf.float32, [[]])
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1.0]), 0.0)
        item = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(1.0).repeat()).get_next()
        session.run(table.initializer)

        @tensorflow.function
        def function(value: Any) -> Any:
            return value * 2.0

        for fetch, in_caller in (
            (x * 2.0, True),
            (train, True),
            (variable, True),
            ([train, tf.identity(variable)], False),  # in the calling thread the variable would always be the old one
            ([train, variable], False),
            ([train, other], True),
            ([variable.assign(x), variable.op.outputs[0]], False),
            (variable.assign(x), True),  # ordered: it is the variable as assigned
            (tf.random_uniform([2]), True),
            (tf.nn.softmax(tf.layers.dense(tf.reshape(x, [1, 1]), 2)), True),
            (queue.enqueue(x), False),
            (queue.dequeue() * x, False),
            (queue.size(), True),
            (table.lookup(tf.constant(["a"])), False),
            (item + x, False),
            (tf.py_func(lambda value: value, [x], tf.float32), False),
            (tf.while_loop(lambda i: i < 3.0, lambda i: i + x, [0.0]), False),
            (tf.cond(x > 0.0, lambda: x, lambda: x * 2.0), False),
            (function(x), False),
            (tf.read_file("/dev/null"), False),
            (tf.Print(x, [x]), False),
        ):
            session.run(tf.global_variables_initializer())
            session.run(fetch, {x: 1.0})
            assert last_request(session).in_caller is in_caller, fetch
            compiled = tf1sessions.CompiledCall(session, [x], fetch, None)
            assert compiled.in_caller is in_caller


def check_a_feed_cuts_off_what_is_not_safe() -> None:
    with new_session() as session:
        queue = tf.FIFOQueue(3, tf.float32, [[]])
        item = queue.dequeue()
        out = item * 2.0
        assert session.run(out, {item: 3.0}) == 6.0
        assert last_request(session).in_caller
        with tf.control_dependencies([item]):
            late = tf.constant(1.0)
        session.run(queue.enqueue(5.0))
        assert session.run(late, {item: 3.0}) == 1.0  # a control edge still runs the dequeue
        assert not last_request(session).in_caller
        assert session.run(queue.size()) == 0


def check_prune_sees_what_the_runtime_runs() -> None:
    """Each case has a queue operation that does or does not run; the queue's size says which."""
    with new_session() as session:
        queue = tf.FIFOQueue(9, tf.float32, [[]])
        x = tf.placeholder(tf.float32, [], name="x")
        taken = queue.dequeue()
        default = tf.placeholder_with_default(taken, [])
        with tf.control_dependencies([default]):
            after_default = tf.identity(x)
        with tf.control_dependencies([taken]):
            guarded = tf.identity(x)
        split = tf.split(tf.stack([x, x]), 2)
        with tf.control_dependencies([x]):
            after_fed = tf.constant(2.0)
        for fetches, feeds in (
            (after_default, {x: 1.0, default: 2.0}),
            (default * 2.0, {default: 2.0}),
            (default * 2.0, {}),
            (guarded * 2.0, {guarded: 1.0}),
            (guarded * 2.0, {x: 1.0}),
            (guarded.op, {guarded: 1.0, x: 1.0}),
            (split[0] + split[1], {split[0]: [1.0], x: 1.0}),
            ([after_fed, x], {x: 1.0}),
            (taken.op, {taken: 1.0}),
        ):
            session.run(queue.enqueue_many([[1.0]]))
            before = session.run(queue.size())
            found = operations.prune(_tensors(fetches), _operations(fetches), list(feeds))
            session.run(fetches, feeds)
            ran = session.run(queue.size()) < before
            assert ran == any(operation.type.startswith("QueueDequeue") for operation in found), (fetches, feeds)


def _tensors(fetches: Any) -> list[Any]:
    return [item for item in (fetches if isinstance(fetches, list) else [fetches]) if isinstance(item, tf.Tensor)]


def _operations(fetches: Any) -> list[Any]:
    return [item for item in (fetches if isinstance(fetches, list) else [fetches]) if isinstance(item, tf.Operation)]


def check_caller_refuses_by_name() -> None:
    with new_session(execution="caller") as session:
        x = tf.placeholder(tf.float32, [])
        count = tf.Variable(0, use_resource=False)
        session.run(count.initializer)
        with tf.control_dependencies([count.assign_add(1)]):
            python = tf.py_func(lambda value: value, [x], tf.float32, name="my_python")
        for _ in range(2):
            error = raises(errors.ExecutionModeError, session.run, python, {x: 1.0})
            assert "'my_python'" in str(error) and "PyFunc" in str(error), error
        error = raises(errors.ExecutionModeError, tf1sessions.CompiledCall, session, [x], [python], None)
        assert "'my_python'" in str(error), error
        assert session.run(count) == 0  # refused before anything ran
        assert session.run(x * 2.0, {x: 2.0}) == 4.0 and last_request(session).in_caller
    with new_session(execution="pool") as session:
        x = tf.placeholder(tf.float32, [])
        assert session.run(x * 2.0, {x: 2.0}) == 4.0 and not last_request(session).in_caller
    raises(errors.ConfigError, lambda: tf1sessions.Session(graph=tf.Graph(), execution="fast"))


def check_what_a_session_rules_out() -> None:
    xla = tf.ConfigProto()
    xla.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    for config, in_caller, reason in (
        (tf.ConfigProto(), True, ""),
        (tf.ConfigProto(device_count={"CPU": 2}), False, "more than one device"),
        (xla, False, "XLA"),
    ):
        with new_session(config=config) as session:
            x = tf.placeholder(tf.float32, [])
            session.run(x * 2.0, {x: 1.0})
            assert last_request(session).in_caller is in_caller
            assert reason in (last_request(session).judgement.unsafe_in_caller or "")
    with new_session() as session:
        x = tf.placeholder(tf.float32, [])
        y = x
        for _ in range(operations.MAX_CALLER_OPERATIONS + 1):
            y = tf.tanh(y)
        session.run(y, {x: 1.0})
        assert not last_request(session).in_caller


def check_a_pool_of_one_thread_is_left_to_others() -> None:
    """It could run nothing side by side, so that the calling thread takes requests of any size, if they are safe."""
    own = tf.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)
    pools = tf.ConfigProto(inter_op_parallelism_threads=1)
    pools.session_inter_op_thread_pool.add(num_threads=2)
    per_session = tf.ConfigProto(use_per_session_threads=True)
    for config, environment, in_caller in (
        (tf.ConfigProto(inter_op_parallelism_threads=1), None, True),
        (own, None, True),
        (pools, None, False),
        (tf.ConfigProto(inter_op_parallelism_threads=2), None, False),
        (tf.ConfigProto(inter_op_parallelism_threads=2), "1", False),
        (tf.ConfigProto(), None, False),
        (tf.ConfigProto(), "2", False),
        (tf.ConfigProto(), "1", True),
        (per_session, "1", False),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("TF_NUM_INTEROP_THREADS", raising=False)
            if environment is not None:
                patch.setenv("TF_NUM_INTEROP_THREADS", environment)
            with new_session(config=config) as session:
                x = tf.placeholder(tf.float32, [512, 512])
                many = x
                for _ in range(operations.MAX_CALLER_OPERATIONS + 1):
                    many = tf.tanh(many)
                for large in (many, tf.add_n([tf.tanh(x + float(index)) for index in range(8)])):
                    session.run(large, {x: np.ones((512, 512))})
                    assert last_request(session).in_caller is in_caller, (config, environment)
                waits = tf.py_func(lambda value: value, [many], tf.float32)
                session.run(waits, {x: np.ones((512, 512))})
                assert not last_request(session).in_caller


def check_large_operations_side_by_side_go_to_the_pool() -> None:
    def trained(width: int) -> Any:
        weights = [tf.Variable(tf.zeros([width, width]), use_resource=False) for _ in range(2)]
        x = tf.ones([32, width])
        for each in weights:
            x = tf.nn.relu(tf.matmul(x, each))
        return tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(x))

    with new_session() as session:
        image = tf.placeholder(tf.float32, [None, 32, 32, 8])
        filters = [tf.zeros([3, 3, 8, 8]) for _ in range(2)]
        convolved = [tf.nn.conv2d(image, each, 1, "SAME") for each in filters]
        for fetch, in_caller in (
            (trained(8), True),
            (trained(512), False),
            (tf.add_n([tf.tanh(tf.zeros([8, 8]) + float(index)) for index in range(8)]), True),
            (tf.add_n([tf.tanh(tf.zeros([512, 512]) + float(index)) for index in range(8)]), False),
            (convolved[0], True),
            (convolved, False),  # each alone may run in the calling thread, both at once would rather not
        ):
            session.run(tf.global_variables_initializer())
            session.run(fetch, {image: np.ones((2, 32, 32, 8))})
            assert last_request(session).in_caller is in_caller, fetch
        x = tf.placeholder(tf.float32, [None, 512])
        weights = [tf.Variable(tf.zeros([512, 512]), use_resource=False) for _ in range(4)]
        chain = x
        for each in weights:
            chain = tf.nn.relu(tf.matmul(chain, each))
        session.run(tf.global_variables_initializer())
        session.run(chain, {x: np.ones((2, 512))})
        assert last_request(session).in_caller  # nothing of it could run side by side
        error = raises(errors.ExecutionModeError, _in_caller, trained(512))
        assert "MatMul" in str(error), error

        x = tf.placeholder(tf.float32, [None, 64])
        constant = tf.constant(np.zeros((64, 512), np.float32))
        one, other = tf.matmul(x, constant), tf.matmul(constant, x, transpose_a=True, transpose_b=True)
        alone = [operations.overlap(operations.prune([each], [], [x])) for each in (one, other)]
        together = operations.overlap(operations.prune([one, other], [], [x]))
        cost = operations._ELEMENT * 32 * 512 + operations._TERM * 32 * 64 * 512
        assert np.allclose(alone, 0.0, atol=1e-6) and np.isclose(together, cost), (alone, together, cost)
        loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        assert operations.overlap(operations.prune([loop], [], [])) < 1.0


def check_a_python_function_may_run_the_session() -> None:
    one = tf.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)
    with new_session(config=one) as session:
        x = tf.placeholder(tf.float32, [])
        inner = x * 3.0
        outer = tf.py_func(lambda value: session.run(inner, {x: value}), [x], tf.float32)
        for _ in range(3):
            assert in_threads(1, lambda _: session.run(outer, {x: 2.0})) == [6.0]


def check_long_loops() -> None:
    with new_session() as session:
        queue = tf.FIFOQueue(9, tf.int32, [[]])

        def body(i: Any) -> Any:
            with tf.control_dependencies([queue.enqueue(i), queue.dequeue()]):
                return i + 1

        plain = tf.while_loop(lambda i: i < 50_000, lambda i: i + 1, [0])
        queued = tf.while_loop(lambda i: i < 1_000, body, [0])
        for _ in range(2):
            assert session.run(plain) == 50_000
            assert session.run(queued) == 1_000
        raises(errors.ExecutionModeError, _in_caller, plain)
        raises(errors.ExecutionModeError, _in_caller, queued)


def _in_caller(fetch: Any) -> Any:
    with tf1sessions.Session(graph=fetch.graph, execution="caller") as session:
        return session.run(fetch)


# --------------------------------------------------------------------------------------------- what is compiled


def check_one_compilation_for_one_request() -> None:
    with new_session() as session, counted() as made:
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.placeholder(tf.float32, [None], name="y")
        total = tf.add(x, y, name="total")
        product = tf.multiply(x, y, name="product")
        for feeds in (
            {x: [1.0], y: [2.0]},
            {y: [2.0], x: [1.0]},
            {"x:0": [1.0], "y:0": [2.0]},
            {(x, y): (np.ones(1), np.ones(1))},
        ):
            for fetches in (
                [total, product],
                [product, total],
                (total, product, total),
                {"a": total, "b": [product]},
                ["total:0", product],
                [total, [product, {"k": total}]],
            ):
                for _ in range(2):
                    session.run(fetches, feeds)
        tf1sessions.CompiledCall(session, [x, y], [total, product], None)([1.0], [2.0])
        tf1sessions.CompiledCall(session, [y, x], (product, total), None)([2.0], [1.0])
        session.run([total, product], {x: [1.0], y: [2.0]}, tf.RunOptions(), tf.RunMetadata())
        assert made == [(("x:0", "y:0"), ("product:0", "total:0"), ())], made
        raises(ValueError, session.run, [total, product], {x: 1.0, y: 2.0})
        raises(tf.errors.InvalidArgumentError, session.run, [total, product], {x: [1.0, 2.0], y: [1.0, 2.0, 3.0]})
        assert len(made) == 1
        session.run([total, product, total.op], {x: [1.0], y: [2.0]})
        assert len(made) == 2
        tf1sessions.CompiledCall(session, [x, y], None, total.op)([1.0], [2.0])
        session.run(total.op, {x: [1.0], y: [2.0]})
        session.run([total.op], {x: [1.0], y: [2.0]})
        assert len(made) == 3
        session.make_callable(total.op)
        tf.multiply(total, 2.0)
        session.run(total.op, {x: [1.0], y: [2.0]})
        assert len(made) == 3, "a graph that grew was compiled again"


def check_the_second_call_is_the_fast_one() -> None:
    """Without this, the conformance table would prove nothing about the fast way."""
    with new_session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        y = x * 2.0
        slow: list[int] = []
        original = session._run
        session._run = lambda *args: slow.append(1) or original(*args)
        for value in ([1.0], (1.0, 2.0), np.float64(3.0), np.array([1.0]), np.ones(3, np.float32), True, 3, [[1.0]][0]):
            with contextlib.suppress(ValueError):
                session.run({"y": [y, y.op]}, {x: value})
        assert len(slow) == 1 + 3, slow  # the first, and the three of a shape that is refused


def check_compile_with_targets() -> None:
    with new_session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        variable = tf.Variable(0.0, use_resource=False)
        session.run(variable.initializer)
        add = variable.assign_add(x).op
        for targets in (add, [add], (add, tf.no_op())):
            session.run(variable.initializer)
            assert tf1sessions.CompiledCall(session, x, x * 2.0, targets)(3.0) == 6.0
            assert tf1sessions.CompiledCall(session, [x], {"a": [x + 1.0]}, targets)(3.0) == {"a": [4.0]}
            assert tf1sessions.CompiledCall(session, "x:0", None, targets)(3.0) is None
            assert session.run(variable) == 9.0
        call = tf1sessions.CompiledCall(session, [x], x * 2.0, None)
        assert "takes 1 value" in str(raises(TypeError, call))
        assert "takes 1 value" in str(raises(TypeError, call, 1.0, 2.0))
        raises(TypeError, tf1sessions.CompiledCall, session, [x], None, None)
        for feed in (add, "nope:0"):
            assert "Cannot interpret feed_dict key" in str(
                raises(TypeError, tf1sessions.CompiledCall, session, [feed], x, None)
            )
        assert "'x:0'" in str(raises(ValueError, tf1sessions.CompiledCall, session, [x, x], x * 2.0, None))
        assert tf1sessions.CompiledCall(session, None, variable, None)() == 9.0
        with tf.Graph().as_default():
            other = tf.placeholder(tf.float32)
        raises(TypeError, tf1sessions.CompiledCall, session, [other], x * 2.0, None)
        raises(ValueError, tf1sessions.CompiledCall, session, [x], other, None)
        session.close()
        assert "closed" in str(raises(RuntimeError, call, 1.0))
        assert "closed" in str(raises(RuntimeError, tf1sessions.CompiledCall, session, [x], x, None))


# ------------------------------------------------------------------------------------------------- many threads


def check_first_use_by_many_threads() -> None:
    for _ in range(5):
        with new_session() as session, counted() as made:
            x = tf.placeholder(tf.float32, [], name="x")
            fetches = [x * float(number) for number in range(3)]
            results = in_threads(9, lambda number, s=session, f=fetches, p=x: s.run(f[number % 3], {p: 2.0}))
            assert results == [2.0 * (number % 3) for number in range(9)], results
            assert len(made) == 3, made


def check_the_cache_is_bounded_and_frees() -> None:
    with new_session() as session:
        session._tf1sessions_calls = calls.SessionCalls(session, capacity=4)
        x = tf.placeholder(tf.float32, [], name="x")
        fetches = [x + float(number) for number in range(12)]
        seen: list[Any] = []

        def work(number: int) -> None:
            for step in range(60):
                index = (number * 7 + step * 5) % 12
                assert session.run(fetches[index], {x: 1.0}) == 1.0 + index
                cache = session._tf1sessions_calls
                assert len(cache.requests) <= 4 and len(cache.plans) <= 4
                if number == 0:
                    seen.extend(weakref.ref(request) for request in list(cache.requests.values()))

        assert in_threads(6, work) == [None] * 6
        alive = {id(ref()) for ref in seen if ref() is not None}
        assert alive == {id(request) for request in session._tf1sessions_calls.requests.values()} & alive
        assert len(alive) <= 4 < len({id(ref) for ref in seen if ref() is None}), "evicted requests were not freed"
        assert all(plan.request in cache_values(session) for plan in session._tf1sessions_calls.plans.values())


def cache_values(session: Any) -> list[Any]:
    return list(session._tf1sessions_calls.requests.values())


def check_freed_requests_are_released_in_the_runtime() -> None:
    released: list[int] = []
    pywrap = runtime.private.pywrap_session

    class Pywrap:
        def TF_SessionReleaseCallable(self, session: Any, handle: int) -> None:
            released.append(handle)
            pywrap.TF_SessionReleaseCallable(session, handle)

    with new_session() as session:
        session._tf1sessions_calls = calls.SessionCalls(session, capacity=2)
        tensors = [tf.constant(float(number)) for number in range(6)]
        runtime.private.pywrap_session = Pywrap()
        try:
            for tensor in tensors:
                session.run(tensor)
            assert len(released) == 4, released
        finally:
            runtime.private.pywrap_session = pywrap


def check_the_collector_may_run_the_session_during_a_compilation() -> None:
    """As ``TensorHandle.__del__`` does: TensorFlow deletes a handle's tensor by a run of the session."""
    original = session_calls.judge
    with new_session() as session:
        session._tf1sessions_calls = calls.SessionCalls(session, capacity=2)
        tensors = [tf.constant(float(number)) for number in range(5)]
        inner = [tf.constant(float(number)) for number in range(5)]
        left = [0, 1, 2, 3, 4]
        nested: dict[int, Any] = {}

        def collecting(*args: Any, **settings: Any) -> Any:
            if left:
                number = left.pop()
                nested[number] = session.run(inner[number])
            return original(*args, **settings)

        session_calls.judge = collecting
        try:
            assert in_threads(1, lambda _: session.run(tensors), deadline=20) == [[0.0, 1.0, 2.0, 3.0, 4.0]]
        finally:
            session_calls.judge = original
        assert nested == {number: float(number) for number in range(5)}, nested


def check_a_session_without_close_is_collected() -> None:
    gc.collect()
    gc.disable()
    try:
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [])
            session = tf1sessions.Session()
            assert session.run(x * 2.0, {x: 1.0}) == 2.0
            queue = tf.FIFOQueue(1, tf.float32)
            session.run(queue.enqueue(1.0))  # watched
            call = tf1sessions.CompiledCall(session, [x], x * 2.0, None)
            assert call(1.0) == 2.0
            request = weakref.ref(last_request(session))
            dead = weakref.ref(session)
            del call, session
        assert dead() is None, "a cycle keeps the session"
        assert request() is None
    finally:
        gc.enable()


def _close_in_the_middle() -> list[Any]:
    """Six threads, one in a dequeue, one in a long loop, the others in short calls; then the session is closed."""
    session = tf1sessions.Session()
    x = tf.placeholder(tf.float32, [])
    item = tf.FIFOQueue(1, tf.float32, [[]]).dequeue()
    loop = tf.while_loop(lambda i: i < 10_000_000.0, lambda i: i + x, [0.0])
    plain = x * 2.0
    compiled = tf1sessions.CompiledCall(session, [x], plain, None)
    started = threading.Semaphore(0)

    def work(number: int) -> Any:
        started.release()
        if number == 0:
            return session.run(item)
        if number == 1:
            return session.run(loop, {x: 1.0})
        while True:
            compiled(1.0) if number % 2 else session.run(plain, {x: 1.0})

    def close() -> None:
        for _ in range(6):
            assert started.acquire(timeout=DEADLINE_SECS)
        wait_for(lambda: watchdog.watchdog._calls, "the dequeue has started")
        session.close()
        session.close()

    closer = threading.Thread(target=close, daemon=True)
    closer.start()
    results = in_threads(6, work)
    closer.join(DEADLINE_SECS)
    assert not closer.is_alive()
    return results


def check_close_while_others_run_or_wait() -> None:
    for _ in range(5):
        with tf.Graph().as_default():
            results = _close_in_the_middle()
        for result in results:
            assert isinstance(result, (tf.errors.CancelledError, RuntimeError)), result
            assert isinstance(result, tf.errors.OpError) or "closed Session" in str(result), result
        assert isinstance(results[0], tf.errors.CancelledError), results[0]


def check_close_lets_calls_in_their_own_threads_end() -> None:
    """TensorFlow crashes if it is closed during one; by compiled calls, run() and the slow way, in turn."""
    for number in range(100):
        with tf.Graph().as_default():
            session = tf1sessions.Session()
            x = tf.placeholder(tf.float32, [])
            y, z = x * 2.0, tf.placeholder(tf.float32, [])
            compiled = tf1sessions.CompiledCall(session, [x, z], [y, z + x], None)
            assert compiled.in_caller
            calls = [
                lambda y=y, x=x, session=session: session.run(y, {x: 1.0}),
                lambda compiled=compiled: compiled(1.0, 2.0),
                lambda y=y, x=x, session=session: session._run(None, y, {x: 1.0}, None, None),
            ]
            begun = threading.Semaphore(0)

            def work(index: int, calls: Any = calls, begun: Any = begun) -> None:
                call = calls[index % 3]
                call()
                begun.release()
                while True:
                    call()

            def close(session: Any = session, begun: Any = begun) -> None:
                for _ in range(6):
                    assert begun.acquire(timeout=DEADLINE_SECS)
                session.close()

            closer = threading.Thread(target=close, daemon=True)
            closer.start()
            for result in in_threads(6, work):
                # the second when the slow way was on its way already, as with TensorFlow's own run
                assert isinstance(result, (RuntimeError, tf.errors.CancelledError)), (number, result)
                assert "closed" in str(result), (number, result)
            closer.join(DEADLINE_SECS)
            assert not closer.is_alive()


def check_a_session_may_be_closed_in_the_middle_of_its_own_call() -> None:
    """As a signal handler does, which Python runs between two lines of ours."""
    with new_session() as session:
        x = tf.placeholder(tf.float32, [])
        y = x * 2.0
        assert session.run(y, {x: 1.0}) == 2.0 and session.run(y, {x: 1.0}) == 2.0
        run_callable, closed = plans.run_callable, []

        def interrupted(*args: Any) -> Any:
            session.close()
            closed.append(session._closed)
            return run_callable(*args)

        plans.run_callable = interrupted
        try:
            error = raises((RuntimeError, tf.errors.CancelledError), session.run, y, {x: 1.0})
        finally:
            plans.run_callable = run_callable
        assert closed == [True] and "closed" in str(error), error


def check_a_result_is_not_lost_to_a_close() -> None:
    """The session is closed after a first run has ended and before its plan is made."""
    session = tf1sessions.Session(graph=tf.Graph())
    with session.graph.as_default():
        y = tf.constant(3.0)
    original = session._run

    def run(*args: Any) -> Any:
        result = original(*args)
        session.close()
        return result

    session._run = run
    assert session.run(y) == 3.0


def check_many_threads_train_in_their_own_threads() -> None:
    with new_session() as session:
        x = tf.placeholder(tf.float32, [None, 4])
        ref = tf.get_variable("ref", [4, 2], use_resource=False)
        resource = tf.get_variable("resource", [2], use_resource=True)
        loss = tf.reduce_mean(tf.square(tf.matmul(x, ref) + resource))
        count = tf.Variable(0, use_resource=True)
        train = [
            tf.train.AdamOptimizer(1e-3, use_locking=True).minimize(loss),
            tf.train.MomentumOptimizer(1e-3, 0.9, use_locking=True).minimize(loss),
            tf.train.AdagradOptimizer(1e-3).minimize(tf.reduce_sum(tf.gather(ref, [0, 1]))),
            count.assign_add(1).op,
        ]
        session.run(tf.global_variables_initializer())
        value = np.ones((8, 4), np.float32)

        def work(number: int) -> Any:
            for _ in range(50):
                session.run([train[number % 4], loss], {x: value})
            return last_request(session).in_caller

        assert in_threads(8, work) == [True] * 8
        assert session.run(count) == 100


def check_nothing_is_added_to_a_graph_while_a_request_reads_it() -> None:
    """As in TensorFlow, whose sessions can start while another thread builds on."""
    judge = session_calls.judge
    with new_session() as session:
        x = tf.nn.softmax(tf.constant([[1.0, 2.0]]))
        builder = threading.Thread(target=tf.identity, args=[x], daemon=True)
        added: list[bool] = []

        def judge_slowly(*args: Any, **kwargs: Any) -> Any:
            builder.start()
            builder.join(0.3)
            added.append(not builder.is_alive())
            return judge(*args, **kwargs)

        session_calls.judge = judge_slowly
        try:
            session.run(x)
        finally:
            session_calls.judge = judge
        builder.join(DEADLINE_SECS)
        assert added == [False]
        assert len(x.consumers()) == 1


def check_a_forked_child_gets_an_error() -> None:
    with new_session() as session:
        x = tf.placeholder(tf.float32, [])
        y = x * 2.0
        session.run(y, {x: 1.0})
        compiled = tf1sessions.CompiledCall(session, [x], y, None)
        for use in (
            lambda: session.run(y, {x: 1.0}),
            lambda: session.run(y * 1.0, {x: 1.0}),
            lambda: compiled(1.0),
            lambda: compiled([1.0]),
            lambda: tf1sessions.Session(),
            lambda: tf1sessions.GraphSession(),
            lambda: session.make_callable(y.op)(),
            lambda: session.make_callable(y, [x])(1.0),
            lambda: session.partial_run(session.partial_run_setup([y], [x]), y, {x: 1.0}),
            lambda: session.run(y, {x: 1.0}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()),
        ):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    use()
                except errors.ForkedAfterSessionError as error:
                    code = 0 if "spawn" in str(error) else 2
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(code)
            where = f"the child in {use.__code__.co_firstlineno}"
            try:
                ended = wait_for(lambda child=child: _ended(child), f"the end of {where}")
            except AssertionError:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise
            assert ended == [0], where
        assert session.run(y, {x: 1.0}) == 2.0  # the parent goes on


def _ended(child: int) -> list[int]:
    """Returns the exit code of a child that has ended; nothing before."""
    pid, status = os.waitpid(child, os.WNOHANG)
    return [os.waitstatus_to_exitcode(status)] if pid else []


def check_errors_leave_everything_usable() -> None:
    with new_session() as session:
        x = tf.placeholder(tf.int32, [])
        quotient = tf.floordiv(10, x)

        def work(number: int) -> Any:
            found = []
            for value in (2, 0, 5) * 10:
                try:
                    found.append(int(session.run(quotient, {x: value})))
                except tf.errors.InvalidArgumentError as error:
                    assert error.op is quotient.op and "Detected at node" in str(error)
                    found.append(-1)
            return found

        for result in in_threads(4, work):
            assert result == [5, -1, 2] * 10, result


# ------------------------------------------------------------------------------------------------------ watchdog


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


@contextlib.contextmanager
def watched(stall_secs: float) -> Iterator[tuple[Any, list[str]]]:
    users = (plans, session_methods, calls)
    original, own = plans.watchdog, watchdog.Watchdog(stall_secs, look_secs=0.01)
    for module in users:
        module.watchdog = own
    handler = _Records()
    logging.getLogger("tf1sessions").addHandler(handler)
    try:
        yield own, handler.texts
    finally:
        logging.getLogger("tf1sessions").removeHandler(handler)
        for module in users:
            module.watchdog = original


def check_a_stall_is_named_once() -> None:
    with watched(0.05) as (dog, texts), tf.Graph().as_default():
        session = tf1sessions.Session()
        queue = tf.FIFOQueue(1, tf.float32, [[]], name="nobody_fills_it")
        item = queue.dequeue()
        other = tf.FIFOQueue(1, tf.float32, [[]], name="another").dequeue()
        looks: list[int] = []
        results: list[Any] = []
        thread = threading.Thread(target=lambda: results.append(session.run(item)), name="the reader", daemon=True)
        thread.start()
        wait_for(lambda: texts, "the stall is reported")
        original, dog._calls = dog._calls, _Counting(dog._calls, looks)
        wait_for(lambda: len(looks) > 5, "the watchdog looks again")
        dog._calls = original
        assert len(texts) == 1, texts
        line = work_line(check_a_stall_is_named_once, "session.run(item)")
        for word in ("'the reader'", f"{__file__}:{line}", "nobody_fills_it", "QueueDequeue"):
            assert word in texts[0], (word, texts[0])
        assert "another" not in texts[0]
        session.run(queue.enqueue(4.0))
        thread.join(DEADLINE_SECS)
        assert results == [4.0]
        second = threading.Thread(target=lambda: raises(tf.errors.CancelledError, session.run, other), daemon=True)
        second.start()
        wait_for(lambda: len(texts) == 2, "another stall is reported as well")
        assert "another" in texts[1]
        watcher = dog._thread
        assert watcher is not None and watcher.is_alive()
        session.close()
        second.join(DEADLINE_SECS)
        wait_for(lambda: not watcher.is_alive(), "the watchdog ends with the last session")


class _Counting(set):  # type: ignore[type-arg]
    """Notes each time that the watchdog looks through the calls."""

    def __init__(self, items: Any, looks: list[int]) -> None:
        super().__init__(items)
        self.looks = looks

    def __iter__(self) -> Any:
        self.looks.append(1)
        return super().__iter__()


def work_line(function: Callable[..., Any], text: str) -> int:
    import inspect

    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def check_the_watchdog_ends_with_collected_sessions() -> None:
    with watched(60.0) as (dog, texts), tf.Graph().as_default():
        queue = tf.FIFOQueue(1, tf.float32, [[]])
        session, second = tf1sessions.Session(), tf1sessions.Session()
        session.run(queue.enqueue(1.0))
        second.run(queue.enqueue(1.0))
        watcher = dog._thread
        second.close()
        assert watcher is dog._thread and watcher.is_alive()
        del session
        wait_for(lambda: not watcher.is_alive(), "the watchdog ends when the last session is collected")
        third = tf1sessions.Session()
        third.run(queue.enqueue(1.0))
        assert dog._thread is not watcher and dog._thread.is_alive()  # and begins again
        third.close()
        assert not texts


def check_sessions_closed_by_the_collector_do_not_block_the_watchdog() -> None:
    """A session in a cycle is closed wherever the collector happens to run, inside the watchdog's own lock, too."""
    with watched(60.0) as (dog, _), tf.Graph().as_default():
        queue = tf.FIFOQueue(1000, tf.float32, [[]])
        enqueue = queue.enqueue(1.0)
        other = tf1sessions.Session()

        def work(_: int) -> None:
            session = tf1sessions.Session(graph=enqueue.graph)
            session.run(enqueue)
            session.cycle = session
            with dog._lock:
                del session
                gc.collect()
            other.run(enqueue)

        done = in_threads(1, work)
        assert done == [None], done
        other.close()


def check_feeds_that_tensorflow_would_ignore_are_refused() -> None:
    off = tf.ConfigProto()
    off.graph_options.rewrite_options.arithmetic_optimization = off.graph_options.rewrite_options.OFF
    rewritten = {
        "square": lambda x: x * x,
        "twice": lambda x: x + tf.identity(x),
        "of equal constants": lambda x: tf.add_n([tf.constant([[0.7]]), tf.constant([[0.7]])]),
        "of equal operations": lambda x: tf.exp(x) * tf.exp(x),
        "a transposition taken back": lambda x: tf.transpose(tf.transpose(x)),
        "a sign taken back": lambda x: tf.negative(tf.negative(x)),
    }
    others = {
        "product": lambda x: x * (x + 1.0),
        "of draws": lambda x: tf.random.uniform([1, 1], seed=1) + tf.random.uniform([1, 1], seed=1),
        "transposition": lambda x: tf.transpose(x),
        "square that is read by identity": lambda x: tf.identity(x * x),
        "sign": lambda x: -x,
    }
    for is_refused, table in ((True, rewritten), (False, others)):
        for name, made in table.items():
            for config in (None, off):
                with new_session(config=config) as session:
                    fed = made(tf.placeholder_with_default([[0.7]], [1, 1]))
                    fetched = fed * 3.0 + 1.0
                    if is_refused and config is None:
                        error = raises(errors.UsageError, session.run, fetched, {fed: [[5.0]]})
                        assert "would change nothing" in str(error) and fed.name in str(error), error
                    else:
                        assert session.run(fetched, {fed: [[5.0]]}).tolist() == [[16.0]], name


def check_a_tensor_of_a_branch_that_is_not_taken_has_no_value() -> None:
    from tensorflow.python.ops import control_flow_ops

    tf.disable_control_flow_v2()
    with new_session() as session:
        x = tf.placeholder(tf.float32, [2])
        not_taken, taken = control_flow_ops.switch(x, x[0] > 5)
        inner = lambda: tf.cond(x[1] > 1, lambda: x * 2, lambda: x * 3)  # noqa: E731
        whole = tf.cond(x[0] > 5, inner, lambda: -x)
        _, looped = tf.while_loop(
            lambda i, _: i < 3, lambda i, a: (i + 1, tf.cond(a[0] > 0, lambda: a + 1, lambda: a)), [0, x]
        )
        text = tf.as_string(taken)
        fetches = {
            "taken": [taken, tf.identity(taken), text, (whole, text)],
            "not taken": [not_taken, tf.identity(not_taken)],
            "always": [whole, looped, *tf.gradients(whole + looped, x)],
        }
        for branch, fetched in fetches.items():
            for fetch in fetched:
                compiled = calls.CompiledCall(session, [x], fetch, None)
                assert (compiled.in_caller is None) is (branch != "always"), (branch, fetch)
                ways = [lambda v, fetch=fetch: session.run(fetch, {x: v}), compiled]
                for value, has_value in (([9.0, 2.0], branch != "not taken"), ([1.0, 2.0], branch != "taken")):
                    for way in [*ways, *ways]:
                        if has_value:
                            way(value)
                        else:
                            error = raises(tf.errors.InvalidArgumentError, way, value)
                            assert "does not have value" in str(error), (branch, fetch, value)
    tf.enable_control_flow_v2()
