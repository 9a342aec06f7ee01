"""QueuePipeline: works, stages, sinks and items; when it starts; legacy code; other sessions, other programs."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from forced import DEADLINE, Boom, Gate, empty, main_waits, nothing_leaks, once
from support import PythonRun, wait_for

import tf1sessions as t1
from tf1sessions.errors import ConcurrentGraphError, ConfigError, StageError

tf = t1.tf1


def numbers(pipe: Any, name: str = "q", capacity: int = 4, **settings: Any) -> Any:
    return pipe.queue(name, capacity=capacity, dtypes=[tf.int64], shapes=[()], **settings)


# -- works -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("steps", [1, 4, 50])
def test_steps_are_exact_over_all_threads(gs: Any, steps: int, threads: int) -> None:
    """Of those that write, too: and an item is taken in each step, none more."""
    with t1.QueuePipeline(gs) as pipe:
        count = tf.get_variable("count", initializer=0, use_resource=True)
        add = count.assign_add(1)
        queue, other = numbers(pipe, capacity=100), numbers(pipe, "other", 200)
        pipe.source(queue, itertools.count())
        gs.initialize()
        results: list[int] = []
        pipe.work(
            "take", [queue.dequeue(), add], steps=steps, threads=threads, each=lambda r: results.append(int(r[0]))
        )
        pipe.work("put", other.enqueue(np.int64(1)), steps=steps, threads=threads)
    assert gs.run(count) == steps == len(results)
    assert sorted(results) == list(range(steps))
    reported = pipe.statistics()
    assert (reported.stages["take"].runs, reported.stages["put"].runs) == (steps, steps)
    assert reported.queues["other"].size == steps


def test_a_step_that_was_skipped_is_made_good(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(100))
        value = queue.dequeue()
        check = tf.debugging.assert_none_equal(value % 3, tf.constant(0, tf.int64), message="divided by three")
        with tf.control_dependencies([check]):
            value = tf.identity(value)
        seen: list[int] = []
        pipe.work("train", value, steps=10, threads=3, on_error="skip", each=lambda item: seen.append(int(item)))
    reported = pipe.statistics().stages["train"]
    assert len(seen) == reported.runs == 10 and not [item for item in seen if item % 3 == 0] and reported.skipped >= 4


def test_more_steps_than_input(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(7))
        pipe.work("take", queue.dequeue(), steps=100, threads=3)
    assert pipe.statistics().stages["take"].runs == 7


@pytest.mark.parametrize("key", ["tensor", "name"])
def test_feeds_are_the_same_in_each_run(gs: Any, key: str) -> None:
    x = tf.placeholder(tf.int64, [2], name="x")
    scale = tf.placeholder_with_default(np.int64(1), [], name="scale")
    results: list[Any] = []
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(3))
        feeds = {x: [10, 20], scale: 2} if key == "tensor" else {"x:0": np.array([10, 20]), "scale:0": 2}
        pipe.work("feeds", {"sum": (x + queue.dequeue()) * scale}, feeds=feeds, each=results.append)
    assert [result["sum"].tolist() for result in results] == [[20, 40], [22, 42], [24, 44]]


def test_a_queues_item_that_is_fed_is_not_taken(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        item = queue.dequeue()
        seen: list[int] = []
        pipe.work("feeds", item + 1, steps=3, feeds={item: 5}, each=lambda value: seen.append(int(value)))
    assert seen == [6, 6, 6] and pipe.statistics().queues["q"].readers == ()


@pytest.mark.parametrize(
    "fetches, error",
    [(None, TypeError), ("nothing:0", (KeyError, ValueError)), (3.0, TypeError), (object(), TypeError)],
)
def test_fetches_that_cannot_be(gs: Any, fetches: Any, error: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        with pytest.raises(error):
            pipe.work("wrong", fetches)
        assert pipe.statistics().stages == {}


WRONG: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "steps 0": (lambda pipe, q: pipe.work("w", q.dequeue(), steps=0), r"steps is 0 \(from QueuePipeline.work\('w'\)\)"),
    "steps 1.0": (lambda pipe, q: pipe.work("w", q.dequeue(), steps=1.0), "steps is 1.0"),
    "threads": (lambda pipe, q: pipe.work("w", q.dequeue(), threads=0), "threads is 0"),
    "more threads than can be": (lambda pipe, q: pipe.work("w", q.dequeue(), threads=2**31), "2147483648.* to 10,000"),
    "more stage threads": (lambda pipe, q: pipe.stage("s", tf.identity, q, threads=10**30), "threads is 1.* to 10,000"),
    "a batch beyond a queue": (lambda pipe, q: pipe.stage("s", tf.identity, q, batch=2**63), "batch is 9.*2,147,483,6"),
    "steps beyond a queue": (lambda pipe, q: pipe.work("w", q.dequeue(), steps=2**63), "steps is 9.*2,147,483,647"),
    "a block beyond a queue": (lambda pipe, q: pipe.sink("s", q, print, block=2**31), "block is 2.*2,147,483,647"),
    "stage threads": (lambda pipe, q: pipe.stage("s", tf.identity, q, threads=-1), "threads is -1"),
    "stage batch": (lambda pipe, q: pipe.stage("s", tf.identity, q, batch=0), "batch is 0"),
    "stage kind": (lambda pipe, q: pipe.stage("s", tf.identity, q, kind="padding"), "kind is 'padding'"),
    "stage queue": (lambda pipe, q: pipe.stage("s", tf.identity, [1]), r"queue is \[1\]"),
    "sink queue": (lambda pipe, q: pipe.sink("s", q.size_now, print), "queue is <tf.Tensor"),
    "sink block": (lambda pipe, q: pipe.sink("s", q, print, block="a"), "block is 'a'"),
    "items block": (lambda pipe, q: pipe.items(q, block=0), "block is 0"),
    "adopt nothing": (lambda pipe, q: pipe.adopt(), "there is nothing to adopt.*tf.train.add_queue_runner"),
    "adopt an empty list": (lambda pipe, q: pipe.adopt([]), "there is nothing to adopt"),
    "adopt a number": (lambda pipe, q: pipe.adopt(3), "3 cannot be adopted.*Give the key of a collection"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_stages_that_cannot_be(gs: Any, name: str) -> None:
    declare, text = WRONG[name]
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        with pytest.raises(ConfigError, match=text):
            declare(pipe, queue)
        assert pipe.statistics().stages == {}


SETTINGS = [
    ("on_error", "raise"), ("on_error", None), ("stall_secs", 0), ("stall_secs", "1"), ("stall_secs", float("nan")),
    ("stall_secs", float("inf")), ("on_stall", "skip"), ("join_secs", -1), ("join_secs", True), ("block", 0),
    ("block", 2.0),
]  # fmt: skip


@pytest.mark.parametrize("name, value", SETTINGS)
def test_pipelines_that_cannot_be(gs: Any, name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"^{name} is {value!r} \(from QueuePipeline\)"):
        t1.QueuePipeline(gs, **{name: value})


def test_a_pipeline_needs_a_session(gs: Any) -> None:
    for wrong in (None, gs.graph, "session"):
        with pytest.raises(
            ConfigError, match=r"session is .*\(from QueuePipeline\)\. Give a GraphSession, a Session or"
        ):
            t1.QueuePipeline(wrong)


def test_an_error_of_each_is_skipped_with_its_result(gs: Any) -> None:
    asked: list[Any] = []

    def each(result: Any) -> None:
        if result == 2:
            raise Boom("two")

    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(5))
        pipe.work("each", queue.dequeue(), each=each, on_error=lambda e, i: (asked.append((str(e), i)), "skip")[1])
    assert [text for text, _ in asked] == ["two"]
    reported = pipe.statistics().stages["each"]
    assert (reported.runs, reported.skipped) == (4, 1)


def test_the_end_of_input_is_never_an_error_to_skip(gs: Any) -> None:
    """Nor is what the pipeline's own end does."""
    asked: list[Any] = []
    with t1.QueuePipeline(gs, on_error=lambda error, item: (asked.append(error), "skip")[1]) as pipe:
        queue, never = numbers(pipe), numbers(pipe, "never")
        pipe.source(queue, range(5), threads=2)
        pipe.source(never, never.enqueue(np.int64(1)), threads=2)
        pipe.stage("middle", lambda x: x, queue, batch=2)
        pipe.sink("sink", pipe.stage("second", lambda x: x, queue), print)
    assert asked == []


# -- stages ------------------------------------------------------------------------------------------------------------


def test_a_stage_of_whole_batches(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe, capacity=20)
        pipe.source(queue, range(10))
        batches = pipe.stage("batches", lambda x: (x, tf.reduce_sum(x)), queue, batch=4, unbatch=False)
        assert batches.capacity == 2
        found = [(rows.tolist(), int(total)) for rows, total in pipe.items(batches)]
    assert found == [([0, 1, 2, 3], 6), ([4, 5, 6, 7], 22), ([8, 9], 17)]


@pytest.mark.parametrize(("batch", "count"), [(None, 10), (4, 3)])
@pytest.mark.parametrize("function", [lambda x: 3.0, lambda x: tf.random_uniform([]) + 1.0])
def test_a_stage_that_does_not_use_its_input_ends_with_it(
    gs: Any, function: Callable[[Any], Any], batch: int | None, count: int
) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(10))
        made = pipe.stage("made", function, queue, batch=batch, unbatch=False)
        found = list(itertools.islice(pipe.items(made), 20))
    assert len(found) == count and min(found) >= 1.0


def test_parts_on_two_devices_overlap() -> None:
    """Part 1 of a batch runs while part 2 is at the one before: they meet, in pairs, each inside its run."""
    batches = 5
    meeting = threading.Barrier(2)
    together: list[tuple[str, int]] = []

    def meets(part: str) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            number = int(x[0, 0])
            if not (part == "part 1" and number == 0) and not (part == "part 2" and number == batches - 1):
                meeting.wait(
                    DEADLINE
                )  # the first batch has none before it in part 2, the last none behind it in part 1
                together.append((part, number))
            return x

        return run

    def place(part: str) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            met = tf.py_func(meets(part), [x], tf.float32)
            met.set_shape(x.shape)
            return tf.matmul(met, weights, name=part.replace(" ", ""))

        return function

    with t1.GraphSession(tf.ConfigProto(device_count={"CPU": 2}, inter_op_parallelism_threads=4)) as gs:
        weights = tf.constant(np.eye(3, dtype=np.float32))
        with t1.QueuePipeline(gs) as pipe:
            queue = pipe.queue("q", dtypes=[tf.float32], shapes=[(2, 3)])
            pipe.source(queue, [np.full((2, 3), number, np.float32) for number in range(batches)])
            middle = pipe.stage("part 1", place("part 1"), queue, device="/cpu:0")
            end = pipe.stage("part 2", place("part 2"), middle, device="/cpu:1")
            found = [int(batch[0, 0]) for batch in pipe.items(end)]
        devices = [gs.graph.get_operation_by_name(name).device for name in ("part1", "part2")]
    assert found == list(range(batches))
    assert devices == ["/device:CPU:0", "/device:CPU:1"]
    pairs = [set(together[at : at + 2]) for at in range(0, len(together), 2)]
    assert pairs == [{("part 1", number + 1), ("part 2", number)} for number in range(batches - 1)]


def test_a_stage_on_a_device_and_beside_the_scopes_around_it(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        made: list[Any] = []

        def function(x: Any) -> Any:
            made.append(tf.add(x, 1, name="plus"))
            return made[0]

        with tf.name_scope("around"), tf.device("/cpu:0"), tf.control_dependencies([tf.no_op("before")]):
            outputs = pipe.stage("part", function, queue, device="/device:CPU:0", threads=2)
        assert made[0].name == "plus:0" and "CPU:0" in made[0].device
        assert not queue.queue.queue_ref.op.control_inputs
        pipe.source(queue, range(10))
        assert sorted(map(int, pipe.items(outputs))) == list(range(1, 11))


def test_a_function_of_a_stage_that_fails_declares_nothing(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)

        def function(x: Any) -> Any:
            raise Boom("while it is built")

        with pytest.raises(Boom):
            pipe.stage("part", function, queue)
        assert pipe.statistics().stages == {} and list(pipe.statistics().queues) == ["q"]


def test_a_priority_queue_before_a_stage(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe, kind="priority")
        with pytest.raises(ConfigError, match="batch is 2 for the priority queue 'q', which loses what is left"):
            pipe.stage("part", lambda priority, x: x, queue, batch=2)
        pipe.source(queue, [(number, number) for number in range(4)])
        pipe.start()
        closed = queue.is_closed()
        wait_for(lambda: gs.run(closed), "all items in the queue")
        outputs = pipe.stage("part", lambda priority, x: x * priority, queue)
        assert list(map(int, pipe.items(outputs))) == [0, 1, 4, 9]


# -- items -------------------------------------------------------------------------------------------------------------


def test_items_in_several_threads(gs: Any) -> None:
    found: list[int] = []
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(200))
        readers = [pipe.items(queue, block=3) for _ in range(4)]
        threads = [
            threading.Thread(target=lambda items=items: found.extend(map(int, items)), daemon=True) for items in readers
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
    assert sorted(found) == list(range(200))


def test_items_that_are_left_early(gs: Any) -> None:
    """The rest of the block is lost with the iterator; the pipeline ends."""
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, itertools.count(), threads=3)
        for item in pipe.items(queue):
            if item >= 10:
                break
    assert pipe.statistics().queues["q"].state == "cancelled"


def test_items_of_a_pipeline_that_has_failed(gs: Any) -> None:
    """What raises is the cause, each time, and in the block's own hands."""
    error = Boom("in the producer")

    def producer() -> Iterator[int]:
        yield 1
        raise error

    with pytest.raises(StageError) as outer:
        with t1.QueuePipeline(gs) as pipe:
            queue = numbers(pipe)
            pipe.source(queue, producer)
            items = pipe.items(queue)
            with pytest.raises(StageError) as inner:
                list(items)
            assert list(items) == []  # a generator that has raised
            with pytest.raises((StageError, ConfigError, RuntimeError)):
                next(pipe.items(queue))
    assert outer.value is inner.value and outer.value.__cause__ is error and outer.value.others == ()


def test_items_end_when_the_pipeline_is_stopped(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        with once(main_waits, pipe.stop, "a wait for items"):
            assert list(pipe.items(queue)) == []


# -- when it starts ----------------------------------------------------------------------------------------------------


def test_nothing_runs_before_it_starts(gs: Any) -> None:
    began = threading.Event()

    def producer() -> list[int]:
        began.set()
        return [1, 2, 3]

    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, producer)
        pipe.sink("sink", queue, print)
        gs.run(queue.size())  # does not wait for anything
        reported = pipe.statistics()
        assert {stage.state for stage in reported.stages.values()} == {"declared"} and not began.is_set()
        assert repr(pipe) == f"<QueuePipeline {pipe.name!r} declared, 1 queues, 2 stages>"
        pipe.start()
        pipe.start()
        assert began.wait(DEADLINE)
        assert repr(pipe) == f"<QueuePipeline {pipe.name!r} running, 1 queues, 2 stages>"
    assert repr(pipe) == f"<QueuePipeline {pipe.name!r} ended, 1 queues, 2 stages>"


@pytest.mark.parametrize("way", ["dequeue", "many", "enqueue", "other thread", "another queue's"])
def test_it_starts_by_itself_when_a_thread_waits_for_its_queues(gs: Any, way: str) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue, full = numbers(pipe), numbers(pipe, "full", 1)
        pipe.source(queue, range(8))
        seen = Gate()
        pipe.sink("sink", full, lambda item: seen.arrive())
        if way == "dequeue":
            assert [int(gs.run(queue.dequeue())) for _ in range(3)] == [0, 1, 2]
        elif way == "many":
            assert gs.run(queue.dequeue_many(8)).tolist() == list(range(8))
        elif way == "enqueue":
            for _ in range(3):
                gs.run(full.enqueue(np.int64(7)))
            seen.wait_for(3)
        elif way == "other thread":
            item = queue.dequeue()
            found: list[int] = []
            thread = threading.Thread(target=lambda: found.append(int(gs.run(item))), daemon=True)
            thread.start()
            thread.join(DEADLINE)
            assert found == [0]
        else:
            copied = pipe.stage("copied", lambda x: x, queue)
            assert int(gs.run(copied.dequeue())) == 0
        pipe.stop()  # nothing else ends the queue that the body has written to


def test_a_wait_for_something_else_does_not_start_it(gs: Any) -> None:
    other = tf.FIFOQueue(1, tf.float32)
    item, put = other.dequeue(), other.enqueue(1.0)
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, [1])
        ticks = Gate()
        tend = pipe._flow.monitor()._tend

        def tick(*arguments: Any) -> Any:
            ticks.arrive()
            return tend(*arguments)

        pipe._flow.monitor()._tend = tick

        def looked_at() -> None:
            ticks.wait_for(5)
            assert not pipe._flow.started
            gs.session.run(put)

        with once(main_waits, looked_at, "a wait for another queue"):
            gs.run(item)


def test_what_is_declared_after_the_start_starts_at_once(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        pipe.start()
        queue = numbers(pipe)
        pipe.work("train", queue.dequeue(), threads=2)
        empty(gs, pipe, queue, "train", 2)
        pipe.source(queue, range(10))
        wait_for(lambda: pipe.statistics().stages["train"].state == "ended", "the end of input")
        with pytest.raises(ConfigError, match=r"the input of queue 'q' has ended before stage 'late' was declared"):
            pipe.source(queue, [1], name="late")
        pipe.sink("reads", queue, print)  # finds the end
    assert pipe.statistics().stages["train"].runs == 10
    assert list(pipe.statistics().stages) == ["train", "q/source", "reads"]


def test_the_end_of_input_in_the_body_is_a_clean_end(gs: Any) -> None:
    taken = 0
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(5))
        item = queue.dequeue()
        while True:
            gs.run(item)
            taken += 1
    assert taken == 5


def test_an_end_of_input_that_is_not_the_pipelines_is_the_bodys_own(gs: Any) -> None:
    variable = tf.get_variable("count", initializer=0, use_resource=False)
    count = tf.count_up_to(variable, 1)
    gs.initialize()
    with pytest.raises(tf.errors.OutOfRangeError):
        with t1.QueuePipeline(gs):
            gs.run(count)
            gs.run(count)


def test_join_is_leaving_without_a_with_block(gs: Any) -> None:
    seen: list[int] = []
    pipe = t1.QueuePipeline(gs)
    queue = numbers(pipe)
    pipe.source(queue, range(5))
    pipe.sink("sink", queue, lambda item: seen.append(int(item)))
    pipe.join()
    assert seen == [0, 1, 2, 3, 4]
    failing = t1.QueuePipeline(gs)
    failing.source(numbers(failing, "failing"), lambda: 1 // 0)
    failing.start()
    wait_for(failing.coordinator.should_stop, "the error")
    with pytest.raises(StageError, match="ZeroDivisionError"):
        failing.join()


# -- legacy code -------------------------------------------------------------------------------------------------------


def test_tf_train_batch_and_readers_are_adopted(gs: Any, tmp_path: Any) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("".join(f"{number * 10 + line}\n" for line in range(4)))
    with t1.QueuePipeline(gs) as pipe:
        files = tf.train.string_input_producer(
            sorted(map(str, tmp_path.iterdir())), num_epochs=2, shuffle=False, name="files"
        )
        _, line = tf.TextLineReader().read(files)
        value = tf.string_to_number(line, tf.int64)
        batch = tf.train.batch([value], 5, num_threads=2, allow_smaller_final_batch=True, name="batch")
        pipe.adopt(tf.GraphKeys.QUEUE_RUNNERS)
        gs.initialize()
        gs.run(tf.local_variables_initializer())
        found: list[int] = []
        pipe.work("train", batch, each=lambda rows: found.extend(rows.tolist()))
    assert sorted(found) == sorted([number * 10 + line for number in range(3) for line in range(4)] * 2)
    reported = pipe.statistics()
    assert {stage.kind for stage in reported.stages.values()} == {"runner", "work"}
    assert {stage.state for stage in reported.stages.values()} == {"ended"}
    (reader,) = (stage for name, stage in reported.stages.items() if "batch" in name)
    assert (reader.runs, reader.items, reader.threads) == (24, 24, 0)
    assert reported.queues["files"].readers and reported.queues["files"].writers == ("files",)


def test_shuffle_batch_join_and_steps(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        inputs = [tf.train.range_input_producer(100, shuffle=False, name=f"range{k}").dequeue() for k in range(2)]
        batch = tf.train.shuffle_batch_join([[value] for value in inputs], 8, capacity=64, min_after_dequeue=16)
        pipe.adopt()
        gs.initialize()
        rows: list[int] = []
        pipe.work("train", batch, steps=10, threads=2, each=lambda values: rows.extend(values.tolist()))
    assert len(rows) == 80 and pipe.statistics().stages["train"].runs == 10


def test_a_runners_close_op_runs_at_the_end_of_input_and_its_cancel_op_at_a_stop(gs: Any) -> None:
    for way in ("end", "stop"):
        queue = tf.FIFOQueue(2, tf.int64, [()], name=way)
        variable = tf.get_variable(f"{way}_count", initializer=np.int64(0), use_resource=False)
        put = queue.enqueue(tf.count_up_to(variable, 3 if way == "end" else 10**6))
        closed = tf.get_variable(f"{way}_closed", initializer="", use_resource=False)
        close, cancel = (
            tf.group(tf.assign(closed, name), queue.close(cancel_pending_enqueues=cancels))
            for name, cancels in (("close", False), ("cancel", True))
        )
        gs.initialize()
        runner = tf.train.QueueRunner(queue, [put] * 2, close_op=close, cancel_op=cancel)
        with t1.QueuePipeline(gs) as pipe:
            pipe.adopt(runner, name="mine")
            pipe.work("take", queue.dequeue(), steps=None if way == "end" else 5)
        assert runner.exceptions_raised == []
        assert gs.run(closed) in ([b"close", b"cancel"] if way == "end" else [b"cancel"])
        assert pipe.statistics().stages["take"].runs == (3 if way == "end" else 5)
        assert list(pipe.statistics().stages) == ["mine", "take"]


def test_a_queue_of_a_runner_is_closed_by_the_runner_alone(gs: Any) -> None:
    """By its close_op, which may leave it open for others."""
    queue = tf.FIFOQueue(10, tf.int64, [()], name="q")
    variable = tf.get_variable("count", initializer=np.int64(0), use_resource=False)
    more = queue.enqueue_many(np.arange(5))
    runner = tf.train.QueueRunner(queue, [queue.enqueue(tf.count_up_to(variable, 3))], close_op=tf.no_op())
    gs.initialize()
    found: list[int] = []
    with t1.QueuePipeline(gs) as pipe:
        pipe.adopt(runner)
        pipe.work("take", queue.dequeue_many(8), steps=1, each=found.extend)
        pipe.start()
        wait_for(lambda: pipe.statistics().stages["q"].state == "ended", "the end of the runner")
        looks = Gate()
        look = pipe._flow.observer.look
        pipe._flow.observer.look = lambda calls: (look(calls), looks.arrive())
        looks.wait_for(3)  # of the monitor thread, which would have closed it
        assert pipe.statistics().queues["q"].state == "open"
        gs.run(more)
    assert sorted(map(int, found)) == sorted([0, 1, 2, *range(5)])


def test_threads_are_adopted_started_or_not(gs: Any) -> None:
    gates = [Gate(), Gate()]
    ended = Gate()
    with t1.QueuePipeline(gs) as pipe:

        def main(gate: Gate) -> None:
            gate.stand()
            while not pipe.coordinator.should_stop():
                pipe.coordinator.request_stop()
            ended.arrive()

        threads = [threading.Thread(target=main, args=[gate], name="legacy", daemon=True) for gate in gates]
        threads[0].start()
        gates[0].wait_for(1)
        pipe.adopt(threads)
        assert threads[1].ident is None
        pipe.start()
        gates[1].wait_for(1)
        for gate in gates:
            gate.open()
    ended.wait_for(2)
    assert list(pipe.statistics().stages) == ["legacy", "legacy-2"]
    assert {stage.kind for stage in pipe.statistics().stages.values()} == {"thread"}


def test_the_coordinator_waits_and_reports_as_legacy_code_expects(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        coordinator = pipe.coordinator
        assert isinstance(coordinator, tf.train.Coordinator) and not coordinator.should_stop()
        pipe.adopt(threading.Thread(target=coordinator.wait_for_stop, name="waits", daemon=True))
        pipe.start()
        coordinator.request_stop()
        assert coordinator.should_stop()
    coordinator.join()


# -- other sessions, other programs ------------------------------------------------------------------------------------


def test_a_sealed_session(gs: Any) -> None:
    """What was declared before runs, and ends, and is looked at, without another operation."""
    found: list[int] = []
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(10), threads=2)
        pipe.sink("sink", pipe.stage("twice", lambda x: 2 * x, queue, batch=3), lambda item: found.append(int(item)))
        gs.seal()
        count = len(gs.graph.get_operations())
        pipe.start()
        pipe.statistics()
        for declare in (lambda: numbers(pipe, "more"), lambda: pipe.items(queue), queue.dequeue):
            with pytest.raises(ConcurrentGraphError, match="sealed"):
                declare()
    assert sorted(found) == list(range(0, 20, 2)) and len(gs.graph.get_operations()) == count


def test_two_pipelines_in_one_session(gs: Any) -> None:
    """One after the other has begun, side by side, and one inside the other; an error of one is that one's."""
    found: list[int] = []
    with t1.QueuePipeline(gs, "outer") as outer:
        queue = numbers(outer)
        gate = Gate()
        outer.source(queue, (gate.stand(number) for number in range(5)))
        outer.sink("sink", queue, lambda item: found.append(int(item)))
        outer.start()
        gate.wait_for(1)
        with pytest.raises(StageError, match="'sink' of inner"):
            with t1.QueuePipeline(gs, "inner") as inner:
                mine = numbers(inner, "mine")
                inner.source(mine, [1])
                inner.sink("sink", mine, lambda item: 1 // 0)
        assert not outer.coordinator.should_stop()
        with t1.QueuePipeline(gs, "last") as last:
            assert list(map(int, _through(last, range(3)))) == [0, 1, 2]
        gate.open()
    assert found == [0, 1, 2, 3, 4]


def _through(pipe: Any, producer: Any) -> Iterator[Any]:
    queue = numbers(pipe, f"of_{pipe.name}")
    pipe.source(queue, producer)
    return pipe.items(queue)


def test_a_pipeline_that_reads_what_another_writes(gs: Any) -> None:
    """The outer one's queue is the inner one's input: its end reaches through both."""
    with t1.QueuePipeline(gs, "outer") as outer:
        first = numbers(outer)
        outer.source(first, range(20))
        outer.start()
        with t1.QueuePipeline(gs, "inner") as inner:
            second = inner.stage("second", lambda x: x + 1, inner.queue(first))
            found = sorted(map(int, inner.items(second)))
    assert found == list(range(1, 21))


@pytest.mark.parametrize("make", ["tf.Session", "t1.Session", "InteractiveSession"])
def test_other_sessions(tensorflow_has_started: None, make: str) -> None:
    found: list[int] = []
    with nothing_leaks(), tf.Graph().as_default() as graph:
        made = {
            "tf.Session": tf.Session,
            "t1.Session": t1.Session,
            "InteractiveSession": tf.InteractiveSession,
        }[make](graph=graph)
        with t1.QueuePipeline(made) as pipe:
            assert pipe.session is made
            queue = numbers(pipe)
            pipe.source(queue, range(10), threads=2)
            twice = pipe.stage("twice", lambda x: 2 * x, queue, batch=3)
            pipe.sink("sink", twice, lambda item: found.append(int(item)))
        assert sorted(found) == list(range(0, 20, 2))
        with pytest.raises(StageError, match="Boom: in the producer"):
            with t1.QueuePipeline(made) as pipe:
                other = numbers(pipe, "other")

                def fails() -> Iterator[int]:
                    yield 1
                    raise Boom("in the producer")

                pipe.source(other, fails)
                pipe.work("take", other.dequeue())
                never = numbers(pipe, "never").dequeue()
                pipe.start()
                made.run(never)
        made.close()


@pytest.mark.parametrize("make", ["Session", "InteractiveSession"])
def test_other_sessions_start_by_themselves(tensorflow_has_started: None, make: str) -> None:
    with nothing_leaks(), tf.Graph().as_default() as graph:
        made = getattr(tf, make)(graph=graph)
        with t1.QueuePipeline(made) as pipe:
            queue = numbers(pipe)
            pipe.source(queue, [7])
            item = queue.dequeue()
            taken = threading.Event()

            def end() -> None:  # what hangs otherwise
                if not taken.wait(10.0):
                    made.run(queue.cancel_now)

            ends = threading.Thread(target=end, daemon=True)
            ends.start()
            assert int(made.run(item)) == 7
            taken.set()
        assert taken.is_set(), "it has not started"
        ends.join(DEADLINE)
        made.close()


def test_in_a_thread_that_builds(gs: Any) -> None:
    """No signals are its business there."""
    found: list[int] = []
    errors: list[BaseException] = []

    def main() -> None:
        try:
            with gs.building(), t1.QueuePipeline(gs) as pipe:
                found.extend(map(int, _through(pipe, range(10))))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=main, daemon=True)
    thread.start()
    thread.join(DEADLINE)
    assert errors == [] and found == list(range(10))


def test_in_a_tf2_program(gs: Any) -> None:
    """Which is what this process is: the program's own tensors are eager before it, after it, and in its functions."""
    import tensorflow as tf2

    def eager() -> bool:
        return isinstance(tf2.constant(1.0) + 1.0, tf2.__internal__.EagerTensor)

    found: list[int] = []
    seen: list[bool] = []

    def main() -> None:
        assert eager()
        with gs.building(), t1.QueuePipeline(gs) as pipe:
            queue = numbers(pipe)
            pipe.source(queue, (int(tf2.constant(number)) for number in range(10)))
            pipe.sink("sink", queue, lambda item: (found.append(int(tf2.constant(item) + 1)), seen.append(eager())))
        assert eager()

    thread = threading.Thread(target=main, daemon=True)  # the test itself is inside of the session's graph
    thread.start()
    thread.join(DEADLINE)
    assert found == list(range(1, 11)) and seen == [True] * 10


_V1_PROGRAM = """
import tensorflow as tf2
import tf1sessions as t1

t1.enable_v1_behavior()
assert not tf2.executing_eagerly()
tf = t1.tf1
with tf.Session() as session:
    found = []
    with t1.QueuePipeline(session) as pipe:
        queue = pipe.queue("q", capacity=4, dtypes=[tf.int64], shapes=[()])
        pipe.source(queue, range(20), threads=2)
        squares = pipe.stage("square", lambda x: x * x, queue, batch=3)
        pipe.sink("sink", squares, lambda item: found.append(int(item)))
    # and all that legacy code does, by itself, on the coordinator of a pipeline
    with t1.QueuePipeline(session) as pipe:
        name = tf.train.string_input_producer(["a", "b"], num_epochs=1, shuffle=False).dequeue()
        session.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(session, coord=pipe.coordinator)
        names = []
        try:
            while not pipe.coordinator.should_stop():
                names.append(session.run(name).decode())
        except tf.errors.OutOfRangeError:
            pass
        pipe.coordinator.request_stop()
        pipe.coordinator.join(threads)
    report(squares=sorted(found), names=names)
"""


def test_a_program_of_tensorflow_1(run_python: Callable[..., PythonRun]) -> None:
    done = run_python(_V1_PROGRAM)
    assert done.results == {"squares": [number * number for number in range(20)], "names": ["a", "b"]}


# -- errors of functions that look like the end of input ---------------------------------------------------------------


class EndOfSomethingElse:
    """Called with each item; an iterator that it reads has ended at item 3."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __call__(self, item: Any) -> None:
        if item == 3:
            raise tf.errors.OutOfRangeError(None, None, "End of sequence")
        self.seen.append(int(item))


def read_with(pipe: Any, kind: str, function: Any, on_error: Any) -> None:
    queue = numbers(pipe, capacity=20)
    pipe.source(queue, range(10))
    if kind == "sink":
        pipe.sink("read", queue, function, on_error=on_error)
    else:
        pipe.work("read", queue.dequeue(), each=function, on_error=on_error)


@pytest.mark.parametrize("kind", ["sink", "each"])
def test_an_out_of_range_error_of_a_function_is_no_end_of_input(gs: Any, kind: str) -> None:
    function = EndOfSomethingElse()
    with pytest.raises(StageError) as caught, t1.QueuePipeline(gs) as pipe:
        read_with(pipe, kind, function, "stop")
    assert caught.value.stage == "read" and isinstance(caught.value.__cause__, tf.errors.OutOfRangeError)
    assert function.seen == [0, 1, 2]


@pytest.mark.parametrize("kind", ["sink", "each"])
def test_an_out_of_range_error_of_a_function_can_be_skipped(gs: Any, kind: str) -> None:
    function = EndOfSomethingElse()
    with t1.QueuePipeline(gs) as pipe:
        read_with(pipe, kind, function, "skip")
    assert function.seen == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert pipe.statistics().stages["read"].skipped == 1


# -- items() that end early --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [None, 1, 3])
@pytest.mark.parametrize("taken", [1, 2, 5])
def test_items_that_end_early_leave_the_rest_to_the_next(gs: Any, taken: int, block: int | None) -> None:
    found: list[int] = []
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe, capacity=100)
        pipe.source(queue, range(100))
        for part in (taken, taken, 1000):
            found.extend(int(item) for item in itertools.islice(pipe.items(queue, block), part))
    assert found == list(range(100))


def test_the_rest_comes_to_an_iterator_that_has_met_the_end_of_input(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe, capacity=100)
        pipe.source(queue, range(10))
        first, second = pipe.items(queue), pipe.items(queue)
        found = [next(first)]
        while len(found) + len(queue.returned) < 10 and (item := next(second, None)) is not None:
            found.append(item)
        first.close()
        found.extend(pipe.items(queue))
    assert sorted(map(int, found)) == list(range(10))
