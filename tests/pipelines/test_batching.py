"""Batcher: who runs what, what goes together, errors, limits, endings; at last all of it at once, at random.

A gate before each run takes the place of time: what happens while a run lasts is done while the gate is shut.
"""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import gc
import logging
import random
import threading
import time
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support import interrupted_when, wait_for

import tf1sessions as t1
from tf1sessions.errors import BatchError, ClosedError, ConfigError, DeadlineError, Overloaded, UsageError
from tf1sessions.pipelines import batching
from tf1sessions.pipelines.batching import Batcher, Percentiles
from tf1sessions.sessions.session_calls import calls_of

DEADLINE = 30.0
FOREVER_MS = 1_000_000.0  # a delay that no test lives to see the end of


@pytest.fixture(scope="module")
def tf():
    return t1.tf1


@pytest.fixture(scope="module")
def graph(tf) -> Iterator[types.SimpleNamespace]:
    """One session with what most tests feed and fetch."""
    with t1.GraphSession() as gs:
        found = types.SimpleNamespace(gs=gs)
        found.x = tf.placeholder(tf.float32, [None, 2], name="x")
        found.scale = tf.placeholder_with_default(np.float32(2.0), [], name="scale")
        found.y = tf.multiply(found.x, found.scale, name="y")
        found.checked = tf.check_numerics(found.y, "not a number", name="checked")
        found.seen = tf.identity(found.x, name="seen")
        found.labels = tf.constant([b"a", b"b"], name="labels")
        found.count = tf.get_variable("count", initializer=0)
        with tf.control_dependencies([tf.assign_add(found.count, 1)]):
            found.counted = tf.check_numerics(found.x, "not a number", name="counted")
        gs.initialize()
        gs.seal()
        yield found


@pytest.fixture(autouse=True)
def no_second_look(monkeypatch):
    """What waits for the model to be free must not depend on looking again after a while."""
    monkeypatch.setattr(batching, "_LOOK_SECS", 1000.0)


class Gate:
    """Stands before each run of a batcher: notes what runs and in which thread, and lets it pass when it is open."""

    def __init__(self, batcher: Batcher) -> None:
        self.runs: list[list[int]] = []
        self.threads: list[threading.Thread] = []
        self.is_open = threading.Event()
        self.arrived = threading.Semaphore(0)
        self._run = batcher._call.run
        batcher._call.run = self.run  # type: ignore[method-assign]

    def run(self, batch: Any, note: Any) -> Any:
        self.runs.append([rows.count for rows in batch])
        self.threads.append(threading.current_thread())
        self.arrived.release()
        assert self.is_open.wait(DEADLINE), "the gate was not opened"
        return self._run(batch, note)

    def wait_for_a_run(self) -> None:
        assert self.arrived.acquire(timeout=DEADLINE), "nothing is run"


def waiting(batcher: Batcher, count: int) -> None:
    wait_for(lambda: batcher.statistics().waiting == count, f"{count} requests in the queue")


def dispatchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "tf1sessions-batcher"]


@contextlib.contextmanager
def callers(count: int) -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    with concurrent.futures.ThreadPoolExecutor(count) as executor:
        yield executor


@contextlib.contextmanager
def busy(batcher: Batcher) -> Iterator[Gate]:
    """The model runs a first request of one row of zeros until the block opens the gate; the block's end opens it."""
    gate = Gate(batcher)
    with callers(1) as executor:
        first = executor.submit(batcher, [[0.0, 0.0]])
        gate.wait_for_a_run()
        try:
            yield gate
        finally:
            gate.is_open.set()
        first.result(DEADLINE)


def rows(*values: float) -> Any:
    return [[value, -value] for value in values] or np.zeros((0, 2))


# ------------------------------------------------------------------------------------------------- who runs what


def test_an_idle_model_answers_in_the_callers_own_thread(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=FOREVER_MS) as batcher:
        gate = Gate(batcher)
        gate.is_open.set()
        for values in ([1, 2, 3], [1, 2], [1]):
            assert batcher(rows(*values)).tolist() == [[2 * value, -2 * value] for value in values]
        assert gate.threads == [threading.current_thread()] * 3
        assert dispatchers() == []


def test_requests_that_come_while_the_model_runs_become_one_run(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher, callers(3) as executor:
        with busy(batcher) as gate:
            futures = [executor.submit(batcher, rows(*values)) for values in ([1], [2, 3], [4, 5, 6])]
            waiting(batcher, 3)
        results = [future.result(DEADLINE).tolist() for future in futures]
        assert [sorted(run) for run in gate.runs] == [[1], [1, 2, 3]]
        assert results == [[[2 * a, -2 * a] for a in values] for values in ([1], [2, 3], [4, 5, 6])]
        assert batcher.statistics().batch_sizes == {1: 1, 6: 1}


def test_submit_returns_at_once_and_acall_waits_in_its_loop(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher:
        with busy(batcher):
            future = batcher.submit(rows(1))
            assert isinstance(future, concurrent.futures.Future) and not future.done()
        assert future.result(DEADLINE).tolist() == [[2, -2]]

        async def both() -> list[Any]:
            return await asyncio.wait_for(asyncio.gather(batcher.acall(rows(1)), batcher.acall(x=rows(2))), DEADLINE)

        assert [each.tolist() for each in asyncio.run(both())] == [[[2, -2]], [[4, -4]]]
        assert len(dispatchers()) == 1
    assert dispatchers() == []


def test_an_array_may_be_filled_again_once_it_is_submitted(graph):
    row = np.array(rows(1), np.float32)
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher:
        with busy(batcher):
            futures = []
            for value in range(4):
                row[:] = value
                futures.append(batcher.submit(row))
        assert [future.result(DEADLINE)[0, 0] for future in futures] == [0, 2, 4, 6]

        async def several() -> list[Any]:
            tasks = []
            for value in range(4):
                row[:] = value
                tasks.append(asyncio.ensure_future(batcher.acall(row)))
                await asyncio.sleep(0)
            return await asyncio.wait_for(asyncio.gather(*tasks), DEADLINE)

        assert [each[0, 0] for each in asyncio.run(several())] == [0, 2, 4, 6]


def test_a_batch_has_no_more_rows_than_allowed_and_starts_with_the_oldest(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_batch_size=4, max_delay_ms=0) as batcher:
        with busy(batcher) as gate:
            futures = [batcher.submit(rows(*range(count))) for count in (3, 2, 1, 4, 1)]
        for future, count in zip(futures, (3, 2, 1, 4, 1), strict=True):
            assert future.result(DEADLINE).shape == (count, 2)
        assert gate.runs == [[1], [3, 1], [2, 1], [4]]


def test_the_callers_of_the_last_run_are_waited_for_and_no_others(graph):
    feeds = {"x": graph.x, "scale": graph.scale}
    with Batcher(graph.gs, feeds, graph.y, max_delay_ms=FOREVER_MS) as batcher:
        with busy(batcher) as gate:
            first = [batcher.submit(x=rows(1)), batcher.submit(x=rows(2))]
            other = batcher.submit(x=rows(3), scale=5.0)  # does not go with the two
        gate.is_open.clear()
        assert batcher.statistics().waiting == 3, "the two wait for the caller that was answered"
        first.append(batcher.submit(x=rows(7)))
        gate.wait_for_a_run()
        gate.is_open.set()
        assert [future.result(DEADLINE).tolist()[0][0] for future in first] == [2, 4, 14]
        assert other.result(DEADLINE).tolist() == [[15, -15]], "no other is expected with it"
        assert gate.runs == [[1], [1, 1, 1], [1]]
        assert batcher(x=rows(1)).tolist() == [[2, -2]], "the last run answered one"


def test_all_callers_of_a_batch_are_expected_back(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=FOREVER_MS) as batcher, callers(2) as executor:
        with busy(batcher) as gate:
            futures = [batcher.submit(rows(1)), batcher.submit(rows(2))]
        futures.append(batcher.submit(rows(0)))  # the first caller is back
        for number in range(3):
            for future in futures:
                assert future.result(DEADLINE).shape == (1, 2)
            sync = [executor.submit(batcher, rows(number)), executor.submit(batcher, rows(number))]
            waiting(batcher, 2)  # although the model is idle
            futures = [*sync, batcher.submit(rows(number))]
        for future in futures:
            future.result(DEADLINE)
        assert gate.runs == [[1]] + [[1, 1, 1]] * 4


def test_a_request_whose_time_would_run_out_is_not_kept_waiting(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=FOREVER_MS) as batcher:
        with busy(batcher) as gate:
            future = batcher.submit(rows(1), deadline_secs=FOREVER_MS / 2000)
        assert future.result(DEADLINE).tolist() == [[2, -2]]
        assert gate.runs == [[1], [1]]


def test_a_caller_who_does_not_come_back_is_waited_for_no_longer_than_the_delay(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=1) as batcher:
        with busy(batcher) as gate:
            future = batcher.submit(rows(1))
        assert future.result(DEADLINE).tolist() == [[2, -2]]
        assert gate.runs == [[1], [1]]


def test_callers_who_do_not_come_back_are_not_waited_for_each_time(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=300) as batcher:

        def two_at_once() -> list[Any]:
            with busy(batcher):
                futures = [batcher.submit(rows(1)) for _ in range(2)]
            return [future.result(DEADLINE) for future in futures]

        two_at_once()  # the caller that made it busy is waited for, in vain; the two that came are not
        two_at_once()  # again; and after it three runs wait for nothing, of which this has one
        assert (batcher._in_vain, batcher._pause) == (2, 2)
        batcher._delay_secs = FOREVER_MS
        two_at_once()
        assert (batcher._in_vain, batcher._pause) == (2, 0)
        with busy(batcher):
            futures = [batcher.submit(rows(1)) for _ in range(2)]
        assert batcher.statistics().waiting == 2, "it is tried again"
        futures.append(batcher.submit(rows(1)))
        assert [future.result(DEADLINE)[0, 0] for future in futures] == [2, 2, 2]
        assert (batcher._in_vain, batcher._pause) == (0, 0), "and was not in vain"


def test_the_dispatcher_ends_when_there_is_nothing_to_do_and_starts_again(graph, monkeypatch):
    monkeypatch.setattr(batching, "_IDLE_SECS", 0.01)
    with Batcher(graph.gs, graph.x, graph.y) as batcher:
        for _ in range(2):
            assert batcher.submit(rows(1)).result(DEADLINE).tolist() == [[2, -2]]
            wait_for(lambda: not dispatchers(), "the thread ends")


def test_a_request_that_comes_while_the_dispatcher_ends_gets_another(graph, monkeypatch):
    monkeypatch.setattr(batching, "_IDLE_SECS", 0.01)
    with Batcher(graph.gs, graph.x, graph.y) as batcher:
        found: concurrent.futures.Future[Any] = concurrent.futures.Future()
        serve = batcher._serve_batch

        def serve_and_meet_a_caller(thread: threading.Thread) -> bool:
            goes_on = serve(thread)
            if not goes_on and not found.done():
                found.set_result(batcher.submit(rows(1)))
            return goes_on

        monkeypatch.setattr(batcher, "_serve_batch", serve_and_meet_a_caller)
        batcher.submit(rows(1)).result(DEADLINE)
        assert found.result(DEADLINE).result(DEADLINE).tolist() == [[2, -2]]


# --------------------------------------------------------------------------------------------- what goes together


def together(batcher: Batcher, *requests: Any) -> tuple[list[list[int]], list[Any]]:
    """Runs requests that all come while the model is busy; returns the rows of each run, and the answers."""
    with busy(batcher) as gate:
        futures = [batcher.submit(*request) for request in requests]
    answers = [future.result(DEADLINE) for future in futures]
    return gate.runs[1:], answers


def test_inputs_without_rows_must_be_the_same(graph):
    with Batcher(graph.gs, [graph.x, graph.scale], graph.y, max_delay_ms=0) as batcher:
        call = {"x": rows(1)}
        runs, answers = together(
            batcher,
            (call,),
            (rows(1), 3.0),
            (rows(1), np.float64(3)),
            ({**call, "scale": 2.0},),
            (rows(1), -0.0),
            (rows(1), 0.0),  # 1 / it is another number
            (call,),
        )
        assert [answer[0, 0] for answer in answers] == [2, 3, 3, 2, 0, 0, 2]
        assert runs == [[1, 1], [1, 1], [1], [1], [1]]


def test_inner_shapes_and_strings(tf):
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.int32, [None, None], name="x")
        words = tf.placeholder(tf.string, [None], name="words")
        joined = tf.string_join([words, tf.as_string(tf.reduce_sum(x, 1))], "=")
        with Batcher(
            gs, {"x": x, "words": words}, {"joined": joined}, max_delay_ms=0, allowed_batch_sizes=[1, 8]
        ) as batcher:
            gate = Gate(batcher)
            with callers(1) as executor:
                first = executor.submit(batcher, x=[[1]], words=["a"])
                gate.wait_for_a_run()
                futures = [
                    batcher.submit(x=value, words=names)
                    for value, names in (
                        ([[1, 2], [3, 4]], ["b", b"\xc3\xa9"]),
                        ([[1, 2, 3]], np.array(["d"])),
                        (np.ones((1, 2), np.int64), ["e"]),
                    )
                ]
                gate.is_open.set()
            assert first.result(DEADLINE)["joined"].tolist() == [b"a=1"]
            assert [future.result(DEADLINE)["joined"].tolist() for future in futures] == [
                [b"b=3", b"\xc3\xa9=7"],
                [b"d=6"],
                [b"e=2"],
            ]
            assert gate.runs == [[1], [2, 1], [1]]
            assert batcher.statistics().padded_rows == 5
            assert batcher(x=np.zeros((0, 2)), words=[])["joined"].tolist() == []


def test_structures_of_fetches_and_several_outputs(graph):
    pair = collections.namedtuple("pair", "y labels")
    fetches = {"b": [graph.y, "seen:0"], "a": pair(graph.y, graph.labels), "op": graph.y.op, "v": graph.count}
    with Batcher(graph.gs, "x:0", fetches, max_delay_ms=0) as batcher:
        expected = graph.gs.run(fetches, {graph.x: rows(3)})
        _, answers = together(batcher, (rows(1),), (rows(3),))
        for answer in (batcher(rows(3)), answers[1]):
            assert list(answer) == list(fetches) and type(answer["a"]) is pair and answer["op"] is None
            assert answer["v"] == expected["v"]
            np.testing.assert_array_equal(answer["a"].labels, expected["a"].labels)
            for one, other in ((answer["b"][0], expected["b"][0]), (answer["b"][1], expected["b"][1])):
                np.testing.assert_array_equal(one, other)
                assert one.dtype == other.dtype


def test_requests_in_every_form(graph):
    with Batcher(graph.gs, {"images": graph.x, "k": graph.scale}, graph.y) as batcher, graph.gs.graph.as_default():
        for args, named in (
            ((rows(1), 3.0), {}),
            ((), {"images": rows(1), "k": 3}),
            (({"images": rows(1), "scale": 3.0},), {}),
            (({"x:0": rows(1)},), {"k": 3.0}),
            (({graph.x: np.array(rows(1)), "k": 3.0},), {}),
        ):
            assert batcher(*args, **named).tolist() == [[3, -3]]


def test_padding_repeats_the_last_row_and_is_not_seen(graph):
    with Batcher(
        graph.gs, graph.x, {"y": graph.y, "seen": graph.seen}, allowed_batch_sizes=[4, 2, 8], shared=["seen"]
    ) as batcher:
        answer = batcher(rows(1, 2, 3))
        assert answer["y"].tolist() == [[2, -2], [4, -4], [6, -6]]
        assert answer["seen"].tolist() == rows(1, 2, 3, 3)
        runs, answers = together(batcher, (rows(1),), (rows(2),), (rows(),), (rows(3, 4, 5),))
        assert runs == [[1, 1, 0, 3]]
        assert [answer["seen"].tolist() for answer in answers] == [rows(1, 2, 3, 4, 5, 5, 5, 5)] * 4
        assert [answer["y"][:, 0].tolist() for answer in answers] == [[2], [4], [], [6, 8, 10]]
        statistics = batcher.statistics()
        assert (statistics.rows, statistics.padded_rows) == (3 + 1 + 5, 1 + 1 + 3)
        assert statistics.batch_sizes == {1: 1, 3: 1, 5: 1}


def test_no_rows(graph):
    with (
        Batcher(graph.gs, graph.x, graph.y) as plain,
        Batcher(graph.gs, graph.x, graph.y, allowed_batch_sizes=[2]) as padded,
    ):
        for batcher in (plain, padded):
            answer = batcher(np.zeros((0, 2)))
            assert answer.shape == (0, 2) and answer.dtype == np.float32
        assert plain.statistics().padded_rows == 0 and padded.statistics().padded_rows == 2


def test_a_graph_that_fixes_the_number_of_rows_is_fed_that_many(tf):
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [4, 2], name="x")
        other = tf.placeholder(tf.float32, [4], name="other")
        y = tf.reduce_sum(x, 1) + other
        with Batcher(gs, [x, other], y, max_delay_ms=0) as batcher:
            assert batcher([[1, 2]], [10]).tolist() == [13]
            assert batcher(np.ones((9, 2)), range(9)).tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 10]
            assert batcher.statistics().batch_sizes == {1: 2, 4: 2}
        with pytest.raises(ConfigError, match="4 rows, always"):
            Batcher(gs, [x, other], y, allowed_batch_sizes=[2, 4])
        with pytest.raises(ConfigError, match="has rows"):
            Batcher(gs, [x, other], y, shared=[other])


def test_a_request_with_too_many_rows_is_run_in_parts(graph):
    fetches = {"y": graph.y, "labels": graph.labels}
    with Batcher(graph.gs, [graph.x, graph.scale], fetches, max_batch_size=5, allowed_batch_sizes=[2, 4]) as batcher:
        answer = batcher(rows(*range(11)))
        assert answer["y"].tolist() == rows(*range(0, 22, 2))
        assert answer["labels"].tolist() == [b"a", b"b"]
        assert batcher(rows(*range(11)), 3.0)["y"].tolist() == rows(*range(0, 33, 3))
        assert batcher.statistics().batch_sizes == {3: 2, 4: 4}
        assert batcher.statistics().padded_rows == 2
        runs, answers = together(batcher, (rows(1),), (rows(*range(6)),), (rows(2),))
        assert runs == [[1, 1], [6]]
        assert [len(answer["y"]) for answer in answers] == [1, 6, 1]
    with Batcher(graph.gs, graph.x, graph.counted, max_batch_size=4) as batcher:
        before = graph.gs.run(graph.count)
        with pytest.raises(UsageError, match="5 rows.*AssignAdd|5 rows.*AssignAddVariableOp"):
            batcher(rows(*range(5)))
        assert graph.gs.run(graph.count) == before


def test_results_are_the_callers_own(graph):
    with Batcher(
        graph.gs, graph.x, {"y": graph.y, "v": graph.labels}, max_delay_ms=0, allowed_batch_sizes=[1, 4]
    ) as batcher:
        fed = np.array(rows(1, 2), np.float32)
        _, answers = together(batcher, (fed,), (rows(3),))
        answers += [batcher(fed), batcher(rows(3))]
        arrays = [array for answer in answers for array in answer.values()]
        for index, one in enumerate(arrays):
            assert one.flags.writeable
            others = [*arrays[:index], *arrays[index + 1 :], fed]
            assert not any(np.shares_memory(one, other) for other in others)
            assert not isinstance(one.base, np.ndarray) or one.base.nbytes == one.nbytes, "it keeps other rows alive"
        answers[0]["v"][:] = b"changed"
        answers[0]["y"][:] = 7.0
        assert batcher(fed)["v"].tolist() == [b"a", b"b"]
        assert answers[1]["y"].tolist() == [[6, -6]]


# ------------------------------------------------------------------------------------------------ wrong requests


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((3.0,), {}, r"input 'x' takes float32 values of shape \[rows, 2\], and got float32 values of shape \[\]"),
        (([1.0, 2.0],), {}, r"input 'x' .* shape \[rows, 2\], and got float32 values of shape \[2\].*list of one"),
        (([[1.0]],), {}, r"input 'x' .* got float32 values of shape \[1, 1\]"),
        (([["a", "b"]],), {}, "input 'x' takes float32 .* got list"),
        (([[1.0, 2.0], [3.0]],), {}, "input 'x' takes float32 .* got list"),
        ((rows(1), [2.0]), {}, r"input 'scale' takes float32 values of shape \(\), and got list .* no rows"),
        ((), {}, "input 'x' is missing.*The inputs are x, scale"),
        ((rows(1), 2.0, 3.0), {}, "3 values were given in order, and 0 by name.*once: x, scale"),
        ((), {"scale": 2.0}, "input 'x' is missing"),
        ((), {"X": rows(1)}, "there is no input 'X'"),
        ((rows(1),), {"scale": 2.0}, "1 values were given in order, and 1 by name"),
        ((rows(1), 2.0), {"deadline_secs": -1}, "deadline_secs is -1"),
    ],
)
def test_wrong_requests_are_refused_before_they_are_queued(graph, args, named, message):
    with Batcher(graph.gs, [graph.x, graph.scale], graph.y) as batcher:
        for ask in (batcher, batcher.submit, lambda *args, **named: asyncio.run(batcher.acall(*args, **named))):
            with pytest.raises(UsageError, match=message):
                ask(*args, **named)
        assert batcher.statistics().requests == 0


def test_inputs_of_a_request_have_the_same_number_of_rows(tf):
    with t1.GraphSession() as gs:
        a, b = (tf.placeholder(tf.float32, [None], name=name) for name in "ab")
        with Batcher(gs, [a, b], a * b) as batcher, pytest.raises(UsageError, match="'b' has 3 rows, and 'a' has 2"):
            batcher([1, 2], [1, 2, 3])


def test_settings_are_checked(graph, tf):
    x, y = graph.x, graph.y
    for settings, message in (
        ({"max_batch_size": 0}, "max_batch_size is 0"),
        ({"max_batch_size": 2.5}, "max_batch_size is 2.5"),
        ({"queue_limit": True}, "queue_limit is True"),
        ({"max_delay_ms": -1}, "max_delay_ms is -1"),
        ({"max_delay_ms": float("nan")}, "max_delay_ms is nan"),
        ({"max_delay_ms": float("inf")}, "max_delay_ms is inf"),
        ({"deadline_secs": "1"}, "deadline_secs is '1'"),
        ({"allowed_batch_sizes": []}, r"allowed_batch_sizes is \[\]"),
        ({"allowed_batch_sizes": [0, 1]}, "allowed_batch_sizes is 0"),
        ({"allowed_batch_sizes": [1, 65]}, "65.* and max_batch_size 64"),
        ({"shared": [x]}, "none of the feeds .* has rows"),
        ({"allowed_batch_sizes": 3}, "allowed_batch_sizes is 3"),
        ({"allowed_batch_sizes": "8"}, "a size of allowed_batch_sizes is '8'"),
        ({"shared": 3}, "shared is 3"),
        ({"shared": None}, "shared is None"),
        ({"shared": x}, "shared is <tf.Tensor"),
        ({"row_wise": 3}, "row_wise is 3"),
        ({"row_wise": None}, "row_wise is None"),
    ):
        with pytest.raises(ConfigError, match=message):
            Batcher(graph.gs, x, y, **settings)
    for feeds, fetches, message in (
        ([graph.scale], y, "none of the feeds .* has rows"),
        ([], y, "none of the feeds"),
        ({"a": x, "b": "x:0"}, y, "a tensor is fed twice"),
        ("nothing:0", y, "'nothing:0' is no tensor"),
        (x, "nothing:0", "'nothing:0' is no tensor or operation"),
        (x, [], "no tensor among the fetches"),
        (x, [x.op], "no tensor among the fetches"),
        (x, object(), "is no tensor or operation"),
    ):
        with pytest.raises(ConfigError, match=message):
            Batcher(graph.gs, feeds, fetches)
    with pytest.raises(ConfigError, match="session is 'session'"):
        Batcher("session", x, y)


def test_a_fetch_that_mixes_rows_is_refused(tf):
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        k = tf.placeholder(tf.float32, [], name="k")
        mean, twice, halved = tf.reduce_mean(x, name="mean"), tf.concat([x, x], 0, name="twice"), k / 2.0
        with pytest.raises(ConfigError, match="'mean:0' of shape .* depends on those of all requests"):
            Batcher(gs, [x, k], [x * 2.0, mean])
        with Batcher(gs, [x, k], {"y": x * 2.0, "halved": halved, "m": mean}, shared=["m"], max_delay_ms=0) as batcher:
            _, answers = together_two_feeds(batcher)
            assert [answer["halved"] for answer in answers] == [2.0, 2.0]
            assert [answer["m"] for answer in answers] == [1.5, 1.5], "as it was asked for"
        default = tf.placeholder_with_default(tf.reduce_mean(x), [], name="default")
        with pytest.raises(ConfigError, match="depends on those of all requests"):
            Batcher(gs, [x, default], [x * 2.0, default + 1.0])
        with pytest.raises(ConfigError, match="'twice' of type ConcatV2 may mix them.*row_wise="):
            Batcher(gs, [x, k], twice)
        with Batcher(gs, [x, k], twice, max_delay_ms=0, row_wise=True) as batcher:
            for count in (1, 3):  # alone, too: not only once there are others
                with pytest.raises(
                    UsageError, match=rf"'twice:0' has shape \[{2 * count}, 2\] after a run of {count} rows"
                ):
                    batcher(np.ones((count, 2)), 1.0)


def together_two_feeds(batcher: Batcher) -> tuple[list[list[int]], list[Any]]:
    gate = Gate(batcher)
    with callers(1) as executor:
        first = executor.submit(batcher, [[0.0, 0.0]], 1.0)
        gate.wait_for_a_run()
        futures = [batcher.submit([[value, value]], 4.0) for value in (1.0, 2.0)]
        gate.is_open.set()
        first.result(DEADLINE)
    answers = [future.result(DEADLINE) for future in futures]
    return gate.runs[1:], answers


# ------------------------------------------------------------------------------------------------ failing requests

NAN = float("nan")


def failing(batcher: Batcher, values: list[float]) -> tuple[Gate, list[BaseException | None]]:
    with busy(batcher) as gate:
        futures = [batcher.submit(rows(value)) for value in values]
    return gate, [future.exception(DEADLINE) for future in futures]


@pytest.mark.parametrize("bad", [[3], [0, 7], list(range(8)), []], ids=str)
def test_a_failing_request_fails_alone(graph, tf, bad):
    with Batcher(graph.gs, graph.x, graph.checked, max_delay_ms=0) as batcher:
        gate, errors = failing(batcher, [NAN if index in bad else index for index in range(8)])
        assert [index for index, error in enumerate(errors) if error is not None] == bad
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            graph.gs.run(graph.checked, {graph.x: rows(NAN)})
        for index in bad:
            error = errors[index]
            assert type(error) is type(caught.value)
            assert (error.op, error.node_def) == (caught.value.op, caught.value.node_def)
            assert error.message.partition("[[")[0] == caught.value.message.partition("[[")[0]
        assert len({id(error) for error in errors if error}) == len(bad), "each has a traceback of its own"
        statistics = batcher.statistics()
        assert (statistics.succeeded, statistics.failed) == (9 - len(bad), len(bad))
        # the whole, then halves: of 3 alone [8] [4 4] [2 2] [1 1]
        assert len(gate.runs) - 1 == {0: 1, 1: 7, 2: 11, 8: 15}[len(bad)]
        with pytest.raises(tf.errors.InvalidArgumentError):
            batcher(rows(NAN))


def test_a_graph_that_changes_something_is_never_run_twice(graph, tf):
    with Batcher(graph.gs, graph.x, graph.counted, max_delay_ms=0) as batcher:
        before = graph.gs.run(graph.count)
        gate, errors = failing(batcher, [1.0, NAN, 2.0])
        assert gate.runs == [[1], [1, 1, 1]]
        assert graph.gs.run(graph.count) == before + 2
        for error in errors:
            assert type(error) is BatchError and "AssignAdd" in str(error)
            assert isinstance(error.__cause__, tf.errors.InvalidArgumentError)
        assert len({id(error) for error in errors}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError):
            batcher(rows(NAN))  # alone it is the one to blame


def test_a_batch_that_takes_too_long_is_not_run_again_in_parts(tf):
    """Each of the parts could take as long."""
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float64, [None, 2])
        steps = tf.reduce_max(x)
        loop = tf.while_loop(lambda step: step < steps, lambda step: step + 1, [tf.zeros([], tf.float64)])
        fetch = tf.identity(x + loop)
        calls_of(gs.session).run_limit_secs = 0.2
        with Batcher(gs, x, fetch, row_wise=True) as batcher:
            gate, errors = failing(batcher, [1.0, 1e15, 2.0])
            assert gate.runs == [[1], [1, 1, 1]]
            assert {type(error) for error in errors} == {DeadlineError} and len({id(error) for error in errors}) == 3


def test_a_session_that_is_closed_answers_everybody(tf):
    gs = t1.GraphSession()
    with gs.as_default():
        x = tf.placeholder(tf.float32, [None, 2])
        y = x * 2.0
    with Batcher(gs, x, y, max_delay_ms=0) as batcher:
        gate = Gate(batcher)
        futures = [batcher.submit(rows(1)) for _ in range(5)]
        gate.wait_for_a_run()
        gs.close()
        gate.is_open.set()
        for future in futures:
            assert isinstance(future.exception(DEADLINE), RuntimeError)
        with pytest.raises(RuntimeError, match="closed Session"):
            batcher(rows(1))


@pytest.mark.parametrize("kind", ["Session", "InteractiveSession"])
def test_a_session_of_tensorflow_runs_in_the_pool(tf, kind):
    with tf.Graph().as_default(), contextlib.closing(getattr(tf, kind)()) as session:
        x = tf.placeholder(tf.float32, [None, 2])
        with Batcher(session, x, x * 2.0) as batcher:
            assert batcher(rows(1)).tolist() == [[2, -2]]
            assert [call.in_caller for call in batcher._call._calls.values()] == [False]


def test_what_is_no_session_is_refused(tf):
    with pytest.raises(ConfigError, match=r"session is 7 \(from Batcher\)\. .*InteractiveSession"):
        Batcher(7, "x:0", "y:0")


# ------------------------------------------------------------------------------------- limits and withdrawn requests


def test_a_request_whose_time_is_up_is_not_run(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0, deadline_secs=DEADLINE) as batcher, callers(2) as executor:
        with busy(batcher) as gate:
            late = batcher.submit(rows(1), deadline_secs=0)
            sync = executor.submit(batcher, rows(2), deadline_secs=0.01)
            in_loop = executor.submit(lambda: asyncio.run(batcher.acall(rows(3), deadline_secs=0.01)))
            fine = batcher.submit(rows(4))
            for future in (sync, in_loop):  # at once, while the model is still busy
                error = future.exception(DEADLINE)
                assert isinstance(error, DeadlineError) and isinstance(error, TimeoutError)
                assert "deadline_secs=0.01" in str(error)
            assert not late.done()
        assert isinstance(late.exception(DEADLINE), DeadlineError)
        assert fine.result(DEADLINE).tolist() == [[8, -8]]
        assert gate.runs == [[1], [1]]
        assert batcher.statistics().expired == 3
        assert batcher(rows(1), deadline_secs=0).tolist() == [[2, -2]], "an idle model keeps no caller waiting"


def test_a_request_that_has_begun_is_not_ended_by_its_deadline(graph):
    with Batcher(graph.gs, graph.x, graph.y) as batcher, callers(1) as executor:
        with busy(batcher) as gate:
            future = executor.submit(batcher, rows(1), deadline_secs=DEADLINE)
            waiting(batcher, 1)
            (request,) = batcher._queue
            gate.is_open.set()
            gate.wait_for_a_run()
        request.deadline = 0.0
        assert future.result(DEADLINE).tolist() == [[2, -2]]


def test_a_full_queue_refuses_at_once(graph):
    with Batcher(graph.gs, graph.x, graph.y, queue_limit=2, max_delay_ms=0) as batcher:
        with busy(batcher) as gate:
            futures = [batcher.submit(rows(1)), batcher.submit(rows(2), deadline_secs=0)]
            accepted = batcher.submit(rows(3))  # the place of the one whose time is up
            assert isinstance(futures[1].exception(DEADLINE), DeadlineError)
            for ask in (batcher, batcher.submit, lambda value: asyncio.run(batcher.acall(value))):
                with pytest.raises(Overloaded, match="2 requests wait already.*queue_limit=2"):
                    ask(rows(4))
            assert futures[0].cancel()
            again = batcher.submit(rows(5))  # a cancelled one leaves its place, too
        assert accepted.result(DEADLINE).tolist() == [[6, -6]]
        assert again.result(DEADLINE).tolist() == [[10, -10]]
        assert gate.runs == [[1], [1, 1]]
        statistics = batcher.statistics()
        assert (statistics.overloaded, statistics.expired, statistics.cancelled) == (3, 1, 1)


def test_cancelled_requests_are_not_run(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher:
        with busy(batcher) as gate:
            futures = [batcher.submit(rows(value)) for value in (1, 2, 3)]
            assert futures[1].cancel() and futures[1].cancel()
            assert concurrent.futures.wait([futures[1]], DEADLINE).done == {futures[1]}  # those that wait are woken
            assert batcher.statistics().waiting == 2

            async def give_up() -> None:
                task = asyncio.ensure_future(batcher.acall(rows(4)))
                wait = asyncio.get_running_loop().run_in_executor
                await wait(None, lambda: None)  # the task has begun
                assert batcher.statistics().waiting == 3
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

            asyncio.run(give_up())
            assert batcher.statistics().waiting == 2
        assert [futures[index].result(DEADLINE)[0, 0] for index in (0, 2)] == [2, 6]
        assert not futures[0].cancel()
        assert futures[1].cancelled()
        assert gate.runs == [[1], [1, 1]]
        assert batcher.statistics().cancelled == 2


def test_a_request_that_is_cancelled_when_its_time_is_up_is_one_of_the_two(graph):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher:
        with busy(batcher) as gate:
            future = batcher.submit(rows(1), deadline_secs=0)
            assert concurrent.futures.Future.cancel(future)  # and before it has left the queue, the dispatcher comes
        wait_for(lambda: batcher.statistics().waiting == 0, "the dispatcher has seen it")
        assert future.cancelled() and gate.runs == [[1]]
        assert (batcher.statistics().cancelled, batcher.statistics().expired) == (1, 0)


def test_a_request_that_runs_cannot_be_cancelled(graph):
    with Batcher(graph.gs, graph.x, graph.y) as batcher:
        gate = Gate(batcher)
        future = batcher.submit(rows(1))
        gate.wait_for_a_run()
        assert not future.cancel() and future.running()
        gate.is_open.set()
        assert future.result(DEADLINE).tolist() == [[2, -2]]


# --------------------------------------------------------------------------------------------- interrupted callers


def test_a_waiting_caller_that_is_interrupted_disturbs_no_other(graph):
    """SIGINT meets the main thread while it waits for its answer."""
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher:
        with busy(batcher) as gate:
            with pytest.raises(KeyboardInterrupt), interrupted_when(lambda: batcher.statistics().waiting == 1):
                batcher(rows(1))
            assert batcher.statistics().waiting == 0
            future = batcher.submit(rows(2))
        assert future.result(DEADLINE).tolist() == [[4, -4]]
        assert gate.runs == [[1], [1]]
        assert batcher.statistics().cancelled == 1


def test_a_caller_that_is_interrupted_while_it_runs_gives_the_turn_back(graph, monkeypatch):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher:

        def interrupted(batch: Any, note: Any) -> Any:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(batcher._call, "run", interrupted)
            with pytest.raises(KeyboardInterrupt):
                batcher(rows(1))
        assert batcher(rows(1)).tolist() == [[2, -2]]
        assert dispatchers() == []
        assert (batcher.statistics().failed, batcher.statistics().succeeded) == (1, 1)


@pytest.mark.parametrize("lives", [True, False], ids=["thread lives", "thread has ended"])
def test_a_turn_that_was_not_given_back_is_taken_away(graph, monkeypatch, lives):
    """The interrupt comes after the caller got the turn, and before it can do anything about it."""
    monkeypatch.setattr(batching, "_LOOK_SECS", 0.01)
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher:

        def interrupted(request: Any) -> Any:
            raise KeyboardInterrupt

        def ask() -> None:
            with monkeypatch.context() as patched:
                patched.setattr(batcher, "_run_here", interrupted)
                with pytest.raises(KeyboardInterrupt):
                    batcher(rows(1))

        if lives:
            ask()
        else:
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join(DEADLINE)
        assert batcher._turn is not None
        assert batcher.submit(rows(2)).result(DEADLINE).tolist() == [[4, -4]]
        assert batcher(rows(3)).tolist() == [[6, -6]]


def test_a_turn_is_not_taken_from_a_caller_that_runs(graph, monkeypatch):
    looked = threading.Semaphore(0)
    real = batching._runs
    monkeypatch.setattr(batching, "_LOOK_SECS", 0.001)
    monkeypatch.setattr(batching, "_runs", lambda request: (real(request), looked.release())[0])
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher:
        with busy(batcher) as gate:
            future = batcher.submit(rows(1))
            for _ in range(3):
                assert looked.acquire(timeout=DEADLINE)
            assert gate.runs == [[1]]
        assert future.result(DEADLINE).tolist() == [[2, -2]]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dispatcher_that_dies_is_replaced(graph, monkeypatch):
    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher:

        def broken() -> Any:
            raise MemoryError

        with monkeypatch.context() as patched:
            patched.setattr(batcher, "_take_batch", broken)
            first = batcher.submit(rows(1))
            wait_for(lambda: not dispatchers(), "the thread ends")
        second = batcher.submit(rows(2))
        assert [future.result(DEADLINE)[0, 0] for future in (first, second)] == [2, 4]


# ---------------------------------------------------------------------------------------------------- the answers


def test_a_future_that_is_kept_keeps_neither_the_batcher_nor_what_was_fed(graph):
    batcher = Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0)
    fed = np.array(rows(1), np.float32)
    with busy(batcher):
        futures = [batcher.submit(fed), batcher.submit(fed)]
        futures[1].cancel()
    assert futures[0].result(DEADLINE).tolist() == [[2, -2]]
    batcher.close()
    kept = [weakref.ref(batcher), weakref.ref(fed)]
    del batcher, fed
    wait_for(lambda: gc.collect() == 0 and [each() for each in kept] == [None, None], "both are collected")


def test_a_function_added_to_a_future_may_call_the_batcher(graph):
    with Batcher(graph.gs, graph.x, graph.y) as batcher, busy(batcher) as gate:
        found: concurrent.futures.Future[Any] = concurrent.futures.Future()
        future = batcher.submit(rows(1))
        batcher.submit(rows(2))  # so that callers are expected back, and a new one would be queued
        future.add_done_callback(lambda done: found.set_result((batcher(rows(5)), threading.current_thread())))
        gate.is_open.set()
        answer, thread = found.result(DEADLINE)
    assert answer.tolist() == [[10, -10]]
    assert thread.name == "tf1sessions-batcher"


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, ValueError])
def test_a_function_added_to_a_future_that_raises_disturbs_nothing(graph, caplog, kind):
    def wrong(future: Any) -> None:
        raise kind("wrong")

    with Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0) as batcher:
        with busy(batcher), caplog.at_level(logging.ERROR):
            futures = [batcher.submit(rows(value)) for value in (1, 2)]
            futures[0].add_done_callback(wrong)
        assert [future.result(DEADLINE)[0, 0] for future in futures] == [2, 4]
        assert "wrong" in caplog.text
        assert batcher.submit(rows(3)).result(DEADLINE)[0, 0] == 6


def test_closing_ends_the_requests_that_wait_and_lets_the_run_end(graph):
    batcher = Batcher(graph.gs, graph.x, graph.y, max_delay_ms=0)
    gate = Gate(batcher)
    with callers(2) as executor:
        running = batcher.submit(rows(1))
        gate.wait_for_a_run()
        queued = [batcher.submit(rows(2)), executor.submit(batcher, rows(3))]
        waiting(batcher, 2)
        closing = executor.submit(batcher.close)
        for future in queued:
            assert isinstance(future.exception(DEADLINE), ClosedError)
        assert not closing.done()
        gate.is_open.set()
        closing.result(DEADLINE)
        assert running.result(DEADLINE).tolist() == [[2, -2]]
    assert batcher.closed and dispatchers() == []
    batcher.close()
    for ask in (batcher, batcher.submit, lambda value: asyncio.run(batcher.acall(value))):
        with pytest.raises(ClosedError):
            ask(rows(1))
    assert graph.gs.run(graph.y, {graph.x: rows(1)}).tolist() == [[2, -2]], "the session is open"


def test_closing_while_callers_are_waited_for(graph):
    batcher = Batcher(graph.gs, graph.x, graph.y, max_delay_ms=FOREVER_MS)
    with busy(batcher):
        future = batcher.submit(rows(1))
    batcher.close()
    assert isinstance(future.exception(DEADLINE), ClosedError)
    assert dispatchers() == []


def test_closing_from_a_function_added_to_a_future(graph):
    batcher = Batcher(graph.gs, graph.x, graph.y)
    gate = Gate(batcher)
    future = batcher.submit(rows(1))
    gate.wait_for_a_run()
    found: list[Any] = []
    future.add_done_callback(lambda done: found.append((batcher.close(), batcher.closed)))
    gate.is_open.set()
    future.result(DEADLINE)
    wait_for(lambda: not dispatchers(), "the thread ends")
    assert found == [(None, True)]


def test_percentiles():
    assert Percentiles.of([]) == Percentiles(0.0, 0.0, 0.0, 0.0)
    assert Percentiles.of([3.0]) == Percentiles(3.0, 3.0, 3.0, 3.0)
    assert Percentiles.of(range(1000, 0, -1)) == Percentiles(500, 900, 990, 1000)
    assert Percentiles.of([1, 2, 3]) == Percentiles(2, 3, 3, 3)


def test_statistics_have_bounds_and_do_not_change_afterwards(graph, monkeypatch):
    monkeypatch.setattr(batching, "_RECENT", 3)
    with Batcher(graph.gs, graph.x, graph.y) as batcher:
        for _ in range(5):
            batcher(rows(1))
        before = batcher.statistics()
        assert len(batcher._record.latencies) == len(batcher._record.runs) == len(batcher._record.queued) == 3
        assert 0 < before.run_secs.p50 <= before.latency_secs.largest
        batcher(rows(1))
        assert (before.requests, before.succeeded, dict(before.batch_sizes)) == (5, 5, {1: 5})
        with pytest.raises(TypeError):
            before.batch_sizes[1] = 2  # type: ignore[index]


# ------------------------------------------------------------------------------------------------------ processes


def test_forks_and_exits(run_python):
    done = run_python(
        """
        import os, signal, sys, threading
        import tf1sessions as t1
        from tf1sessions.pipelines.batching import Batcher

        tf = t1.tf1
        gs = t1.GraphSession()
        with gs.as_default():
            x = tf.placeholder(tf.float32, [None, 512])
            y = x
            for _ in range(20):
                y = tf.matmul(y, tf.ones([512, 512]) * 1e-3)
        batcher = Batcher(gs, x, y)
        row = [[1.0] * 512]
        batcher.submit(row).result()
        read, write = os.pipe()
        with batcher._lock:  # as another thread could hold it at the fork
            child = os.fork()
        if not child:
            signal.alarm(30)
            found = []
            batcher._lock = threading.Lock()
            batcher._lock.acquire()
            for ask in (batcher, batcher.submit):
                try:
                    ask(row)
                except t1.errors.ForkedAfterSessionError:
                    found.append("forked")
            batcher.close()
            os.write(write, " ".join(found).encode())
            os._exit(0)
        os.close(write)
        report(child=os.read(read, 100).decode(), status=os.waitpid(child, 0)[1])
        # What is still waiting when the program ends does not hold it up.
        for _ in range(50):
            batcher.submit(row * 64)
        print("end", flush=True)
        """
    )
    assert done.results == {"child": "forked forked", "status": 0}
    assert done.stdout == "end\n"


# ----------------------------------------------------------------------------------------------------------- stress


def test_everything_at_once_at_random(graph, tf):
    """64 threads, sizes, failures, cancellations, deadlines: each answer is checked against its own request."""
    wrong: list[Any] = []
    outcomes: collections.Counter[str] = collections.Counter()
    lock = threading.Lock()
    expected_errors = {
        tf.errors.InvalidArgumentError: "failed",
        concurrent.futures.CancelledError: "cancelled",
        asyncio.CancelledError: "cancelled",
        DeadlineError: "expired",
        Overloaded: "overloaded",
    }

    def work(number: int, batcher: Batcher, barrier: threading.Barrier) -> None:
        draw = random.Random(number)
        barrier.wait(DEADLINE)
        for turn in range(40):
            count = draw.choice([0, 1, 1, 1, 2, 3, 7, 20, 40])
            scale = draw.choice([None, None, 2.0, 3.0])
            value = np.full((count, 2), number * 1000 + turn, np.float32) + np.arange(count)[:, None]
            is_bad = count > 0 and draw.random() < 0.1
            if is_bad:
                value[draw.randrange(count), draw.randrange(2)] = np.nan
            named = {"x": value} if scale is None else {"x": value, "scale": scale}
            deadline = draw.choice([None, None, None, 0.001, DEADLINE])
            way = draw.randrange(4)
            cancels = False
            try:
                if way < 2:
                    answer = batcher(named, deadline_secs=deadline)
                elif way == 2:
                    future = batcher.submit(named, deadline_secs=deadline)
                    cancels = draw.random() < 0.3 and future.cancel()
                    answer = future.result(DEADLINE)
                else:
                    answer = asyncio.run(asyncio.wait_for(batcher.acall(named, deadline_secs=deadline), DEADLINE))
            except BaseException as error:  # noqa: BLE001 - all of them are looked at
                outcome = expected_errors.get(type(error), "unknown")
                may = {
                    "failed": is_bad,
                    "cancelled": cancels,
                    "expired": deadline == 0.001,
                    "overloaded": True,
                    "unknown": False,
                }
                if not may[outcome]:
                    wrong.append((number, turn, repr(error)))
            else:
                outcome = "succeeded"
                if is_bad or cancels or not np.array_equal(answer["y"], value * (scale or 2.0)):
                    wrong.append((number, turn, count, is_bad, cancels))
                if answer["labels"].tolist() != [b"a", b"b"]:
                    wrong.append((number, turn, "labels"))
                answer["y"][:] = np.nan  # it is its own
                answer["labels"][:] = b""
            with lock:
                outcomes[outcome] += 1

    barrier = threading.Barrier(64)
    feeds = {"x": graph.x, "scale": graph.scale}
    fetches = {"y": graph.checked, "labels": graph.labels}
    with Batcher(
        graph.gs, feeds, fetches, max_batch_size=32, queue_limit=56, allowed_batch_sizes=[1, 2, 8, 32]
    ) as batcher:
        threads = [threading.Thread(target=work, args=(number, batcher, barrier), daemon=True) for number in range(64)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 120
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        assert not any(thread.is_alive() for thread in threads), "a caller hangs"
        wait_for(lambda: batcher._turn is None, "the last turn")
        statistics = batcher.statistics()
    assert wrong == []
    assert sum(outcomes.values()) == 64 * 40
    assert outcomes["succeeded"] > 500 and min(outcomes[name] for name in ("failed", "cancelled", "expired")) > 5, (
        outcomes
    )
    for name, count in outcomes.items():
        assert getattr(statistics, name) == count, (name, outcomes, statistics)
    assert statistics.waiting == 0 and statistics.requests == 64 * 40
    assert max(statistics.batch_sizes) <= 32 and len(statistics.batch_sizes) > 5
    assert dispatchers() == []
