"""QueuePipeline: what may fill a queue, in which order, how often each item; skipped errors; the end of input."""

from __future__ import annotations

import collections
import contextlib
import itertools
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from forced import Boom, Gate, size_of, state
from support import wait_for

import tf1sessions as t1
from tf1sessions.errors import ConfigError, StageError
from tf1sessions.pipelines.stages import ERRORS_IN_A_ROW
from tf1sessions.sessions.watchdog import watchdog

tf = t1.tf1


def numbers(pipe: Any, name: str = "q", capacity: int = 4, **settings: Any) -> Any:
    return pipe.queue(name, capacity=capacity, dtypes=[tf.int64], shapes=[()], **settings)


def collect(gs: Any, producer: Any, **settings: Any) -> tuple[list[int], Any]:
    """What came out of a queue of numbers that a source has filled, and the pipeline's statistics."""
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, producer, **settings)
        found = [int(item) for item in pipe.items(queue)]
    return found, pipe.statistics()


# -- forms of a producer -----------------------------------------------------------------------------------------------


class Once:
    """An iterator that is not safe for two threads at once, and says so."""

    def __init__(self, count: int) -> None:
        self._numbers = iter(range(count))
        self._inside = threading.Lock()

    def __iter__(self) -> Once:
        return self

    def __next__(self) -> int:
        assert self._inside.acquire(blocking=False), "two threads are in the iterator"
        try:
            return next(self._numbers)
        finally:
            self._inside.release()


class Callables:
    def method(self) -> list[int]:
        return [0, 1, 2]

    def shard(self, worker: int, workers: int) -> list[int]:
        return list(range(worker, 3, workers))

    def __call__(self) -> Iterator[int]:
        yield from range(3)


def generator() -> Iterator[int]:
    yield from range(3)


PRODUCERS: dict[str, Any] = {
    "list": [0, 1, 2],
    "tuple": (0, 1, 2),
    "range": range(3),
    "array": np.arange(3),
    "dict": {0: "a", 1: "b", 2: "c"},
    "deque": collections.deque([0, 1, 2]),
    "generator function": generator,
    "function that returns a list": lambda: [0, 1, 2],
    "function with defaults": lambda first=0, count=3: range(first, count),
    "function with any arguments": lambda *arguments: range(3) if not arguments else [],
    "method": Callables().method,
    "object that can be called": Callables(),
    "shards": lambda worker, workers: range(worker, 3, workers),
    "shards of a method": Callables().shard,
    "shards with a default": lambda worker, workers, count=3: range(worker, count, workers),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", PRODUCERS)
def test_what_a_producer_may_be(gs: Any, name: str, threads: int) -> None:
    found, _ = collect(gs, PRODUCERS[name], threads=threads)
    assert (found if threads == 1 else sorted(found)) == [0, 1, 2]


class Pair(NamedTuple):
    first: Any
    second: Any


#: Name -> makes an item of an array that is filled again.
REFILLED: dict[str, Callable[[Any], Any]] = {
    "arrays": lambda array: (array, array),
    "a view": lambda array: (array[::1], array.reshape(2)),
    "lists": lambda array: [[array[0], array[1]], array],
    "a named tuple": lambda array: Pair(array, array),
    "a dict": lambda array: {"a": array, "b": array},
}


@pytest.mark.parametrize("made", ["generator", "function", "shards", "iterator"])
@pytest.mark.parametrize("name", REFILLED)
def test_a_producer_may_fill_its_array_again(gs: Any, name: str, made: str) -> None:
    array = np.zeros(2, np.int64)

    def items(*_: Any) -> Iterator[Any]:
        for number in range(20):
            array[:] = number
            yield REFILLED[name](array)

    names = ["a", "b"] if name == "a dict" else None
    producer = {
        "generator": items(),
        "function": items,
        "shards": lambda worker, workers: items(),
        "iterator": itertools.chain(items()),
    }
    with t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("q", capacity=50, dtypes=[tf.int64, tf.int64], shapes=[(2,), (2,)], names=names)
        pipe.source(queue, producer[made], block=20)
        found = list(pipe.items(queue))
    rows = [item["a"] if names else item[0] for item in found]
    assert [row.tolist() for row in rows] == [[number, number] for number in range(20)]


STRINGS: dict[str, Any] = {
    "arrays of one": [np.array("ä"), np.array("b"), np.array("c")],
    "arrays of one, in a generator": lambda: (np.array(each) for each in ["ä", "b", "c"]),
    "arrays of bytes": [np.array("ä".encode()), np.array(b"b"), np.array(b"c")],
    "arrays of objects": [np.array("ä", object), np.array(b"b", object), "c"],
    "an array": np.array(["ä", "b", "c"]),
    "NumPy's strings": [np.str_("ä"), np.bytes_(b"b"), "c"],
}


@pytest.mark.parametrize("name", STRINGS)
@pytest.mark.parametrize("block", [1, 3])
def test_strings_however_they_come(gs: Any, name: str, block: int) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("q", capacity=4, dtypes=[tf.string], shapes=[()])
        pipe.source(queue, STRINGS[name], block=block)
        found = list(pipe.items(queue))
    assert found == ["ä".encode(), b"b", b"c"]


def test_an_iterator_goes_in_once(gs: Any) -> None:
    """A generator object, an ``iter``: what is left of it."""
    items = iter(range(5))
    assert next(items) == 0
    assert collect(gs, items)[0] == [1, 2, 3, 4]
    assert collect(gs, (number for number in range(3)))[0] == [0, 1, 2]


def test_no_items_at_all(gs: Any) -> None:
    for producer in ([], lambda: iter(()), lambda worker, workers: ()):
        found, reported = collect(gs, producer, threads=2)
        assert found == [] and [(stage.items, stage.state) for stage in reported.stages.values()] == [(0, "ended")]


@pytest.mark.parametrize("block", [1, 256])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_each_item_once_from_one_iterator_in_its_order(gs: Any, threads: int, block: int) -> None:
    found, reported = collect(gs, Once(500), threads=threads, block=block)
    assert found == list(range(500))
    assert reported.stages["q/source"].items == 500


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_each_item_once_from_shards_in_the_order_of_each(gs: Any, threads: int) -> None:
    calls: list[tuple[int, int]] = []

    def shard(worker: int, workers: int) -> Iterator[int]:
        calls.append((worker, workers))
        yield from range(worker, 500, workers)

    found, _ = collect(gs, shard, threads=threads)
    assert sorted(calls) == [(worker, threads) for worker in range(threads)]
    assert sorted(found) == list(range(500))
    for worker in range(threads):
        mine = [number for number in found if number % threads == worker]
        assert mine == sorted(mine)


def test_items_of_a_slow_producer_go_at_once_and_not_in_blocks(gs: Any) -> None:
    """The producer makes its next item when the last has come out."""
    gate = Gate()
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(5):
            yield number
            gate.wait_for(1)

    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe, capacity=100)
        pipe.source(queue, items)
        pipe.sink("sink", queue, lambda item: (taken.append(int(item)), gate.arrive()))
    assert taken == [0, 1, 2, 3, 4]
    assert pipe.statistics().stages["q/source"].runs == 5


@pytest.mark.parametrize("block, capacity", [(1, 100), (3, 100), (100, 4)])
def test_no_more_is_taken_from_a_producer_than_a_block_before_it_goes_in(gs: Any, block: int, capacity: int) -> None:
    """Until the queue takes no more: then it stops."""
    taken = itertools.count()
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe, capacity=capacity)
        pipe.source(queue, (next(taken) for _ in itertools.repeat(None)), block=block, name="source")
        pipe.start()
        most = min(block, capacity)
        # What is in the queue, in the run that waits, in the buffer, and in the hand of the producer's thread.
        wait_for(lambda: size_of(gs, queue) == capacity and len(watchdog.calls()) == 1, "a full queue, and a run")
        doing = lambda: pipe.statistics().stages["source"].doing  # noqa: E731
        wait_for(lambda: doing() == ("waits for space in 'q'",), "a producer that waits, too")
        last = next(taken)
        pipe.stop()
    assert capacity + 1 <= last <= capacity + 2 * most + 1


def test_several_sources_of_one_queue_end_it_when_the_last_has_ended(gs: Any) -> None:
    gate = Gate()
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe, capacity=100)
        pipe.source(queue, range(10))
        pipe.source(queue, range(10, 20), threads=2)
        pipe.source(queue, (gate.stand(number) for number in range(20, 30)))
        pipe.work("puts", queue.enqueue(tf.constant(30, tf.int64)), steps=5)
        pipe.start()
        gate.wait_for(1)
        stages = lambda: pipe.statistics().stages  # noqa: E731
        assert list(stages()) == ["q/source", "q/source-2", "q/source-3", "puts"]
        wait_for(lambda: [each.state for each in stages().values()].count("ended") == 3, "three ended writers")
        assert state(pipe, queue) == "open"
        gate.open()
        found = [int(item) for item in pipe.items(queue)]
    assert sorted(found) == [*range(30), *[30] * 5]


# -- operations --------------------------------------------------------------------------------------------------------


def count_up(name: str, limit: int) -> Any:
    """A tensor that counts up in each run, and ends the input at a limit."""
    variable = tf.get_variable(name, initializer=tf.constant(0, tf.int64), use_resource=False)
    return tf.count_up_to(variable, limit)


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "enqueue operation": lambda queue, value: queue.enqueue(value),
    "operation of TensorFlow's queue": lambda queue, value: queue.queue.enqueue([value]),
    "enqueue many": lambda queue, value: queue.enqueue_many(value[None]),
    "list of one": lambda queue, value: [queue.enqueue(value)],
    "tensor": lambda queue, value: value,
    "tuple of a tensor": lambda queue, value: (value,),
    "group": lambda queue, value: tf.group(queue.enqueue(value), tf.no_op()),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_that_fill_a_queue_until_their_input_ends(gs: Any, name: str, threads: int) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        operation = OPERATIONS[name](queue, count_up("count", 20))
        gs.initialize()
        pipe.source(queue, operation, threads=threads)
        found = [int(item) for item in pipe.items(queue)]
    assert sorted(found) == list(range(20))
    reported = pipe.statistics().stages["q/source"]
    assert (reported.runs, reported.items, reported.state) == (20, 20, "ended")


def test_a_list_of_operations_has_threads_for_each(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe, capacity=1)
        operations = [queue.enqueue(count_up(name, 10)) for name in ("a", "b")]
        gs.initialize()
        pipe.source(queue, operations, threads=2)
        pipe.start()
        names = sorted(thread.name for thread in threading.enumerate() if thread.name.startswith(pipe.name + "/q"))
        assert names == [f"{pipe.name}/q/source-{number}" for number in range(1, 5)]
        found = [int(item) for item in pipe.items(queue)]
    assert sorted(found) == sorted([*range(10)] * 2)


def test_a_dict_of_tensors_for_a_queue_with_names(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("q", dtypes=[tf.int64, tf.string], shapes=[(), ()], names=["a", "b"])
        value = count_up("count", 3)
        gs.initialize()
        pipe.source(queue, {"a": value, "b": tf.as_string(value)})
        found = list(pipe.items(queue))
    assert [(int(item["a"]), item["b"]) for item in found] == [(0, b"0"), (1, b"1"), (2, b"2")]


# -- what it must not be -----------------------------------------------------------------------------------------------


def f_one(worker: int) -> list[int]:
    return [worker]


def f_three(a: int, b: int, c: int) -> list[int]:
    return [a, b, c]


def f_keyword(*, must: int) -> list[int]:
    return [must]


BAD: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "number": (lambda pipe, q: pipe.source(q, 3), r"producer is 3 \(from QueuePipeline.source\('q'\)\)\. Give an"),
    "None": (lambda pipe, q: pipe.source(q, None), "producer is None"),
    "one parameter": (
        lambda pipe, q: pipe.source(q, f_one),
        r"the producer f_one has the parameters \(worker: '?int'?\).*It is called with none, or with \(w",
    ),
    "three parameters": (lambda pipe, q: pipe.source(q, f_three), "the producer f_three has the parameters"),
    "keyword": (lambda pipe, q: pipe.source(q, f_keyword), "the producer f_keyword has the parameters"),
    "no threads": (lambda pipe, q: pipe.source(q, [1], threads=0), r"threads is 0 \(from QueuePipeline.source\('q'"),
    "threads that are none": (lambda pipe, q: pipe.source(q, [1], threads=True), "threads is True"),
    "block": (lambda pipe, q: pipe.source(q, [1], block=0), "block is 0"),
    "on_error": (lambda pipe, q: pipe.source(q, [1], on_error="raise"), "on_error is 'raise' .*Give \"stop\", \"s"),
    "queue": (lambda pipe, q: pipe.source("q", [1]), r"queue is 'q' \(from QueuePipeline.source\)"),
    "another queue": (
        lambda pipe, q: pipe.source(q, numbers(pipe, "r").enqueue(np.int64(1))),
        "operation 'r_enqueue' does not enqueue to 'q'.*Make it with q.enqueue",
    ),
    "no enqueue": (lambda pipe, q: pipe.source(q, tf.no_op("nothing")), "operation 'nothing' does not enqueue to 'q'"),
    "dequeue": (lambda pipe, q: pipe.source(q, q.dequeue().op), "operation 'q_Dequeue' does not enqueue to 'q'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_a_source_must_not_be(gs: Any, name: str) -> None:
    declare, text = BAD[name]
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        with pytest.raises(ConfigError, match=text):
            declare(pipe, queue)
        assert pipe.statistics().stages == {}


def test_a_queue_of_another_graph(gs: Any) -> None:
    with tf.Graph().as_default():
        other = tf.FIFOQueue(3, tf.int64, name="elsewhere")
    with t1.QueuePipeline(gs) as pipe:
        with pytest.raises(ConfigError, match="'elsewhere' is not in the graph of the pipeline's session"):
            pipe.source(other, [1])


def test_a_name_that_is_taken_gets_a_number_unless_it_was_given(gs: Any) -> None:
    with t1.QueuePipeline(gs, "mine") as pipe:
        queue = numbers(pipe)
        pipe.source(queue, [1])
        pipe.source(queue, [2])
        pipe.source(queue, [3], name="third")
        with pytest.raises(ConfigError, match=r"there is a stage 'third' already \(from mine\)\. Give it another name"):
            pipe.work("third", queue.dequeue())
        assert list(pipe.statistics().stages) == ["q/source", "q/source-2", "third"]


@pytest.mark.parametrize("made", [None, 7, 1.5])
def test_a_function_that_returns_no_iterable_fails_in_the_stage(gs: Any, made: Any) -> None:
    def produce() -> Any:
        return made

    with pytest.raises(StageError, match="'q/source'.*TypeError: the producer .*produce returned .*cannot be iterated"):
        collect(gs, produce)


# -- errors ------------------------------------------------------------------------------------------------------------


class Faulty:
    """An iterator that goes on after it has raised."""

    def __init__(self, count: int, wrong: Callable[[int], bool]) -> None:
        self._numbers = iter(range(count))
        self._wrong = wrong

    def __iter__(self) -> Faulty:
        return self

    def __next__(self) -> int:
        number = next(self._numbers)
        if self._wrong(number):
            raise Boom(f"at {number}")
        return number


@pytest.mark.parametrize("threads", [1, 4])
def test_errors_of_a_producer_are_skipped_and_counted(gs: Any, threads: int) -> None:
    found, reported = collect(gs, Faulty(30, lambda number: number % 3 == 0), threads=threads, on_error="skip")
    assert sorted(found) == [number for number in range(30) if number % 3]
    assert (reported.stages["q/source"].skipped, reported.stages["q/source"].items) == (10, 20)
    assert re.search(r"^q/source +source +ended +\d+ +10 ", str(reported), re.MULTILINE)


def test_an_error_without_a_text_is_the_stages_error(gs: Any) -> None:
    class Unprintable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def numbers() -> Any:
        yield 1.0
        raise Unprintable

    with (
        pytest.raises(StageError, match="Unprintable: its str.. raises RuntimeError") as caught,
        t1.QueuePipeline(gs) as pipe,
    ):
        queue = pipe.queue("q", capacity=9, dtypes=[tf.float32], shapes=[()])
        pipe.source(queue, numbers())
        list(pipe.items(queue))
    assert isinstance(caught.value.__cause__, Unprintable)


def test_a_generator_that_has_raised_has_ended(gs: Any) -> None:
    def items() -> Iterator[int]:
        yield 0
        raise Boom("the rest is lost")
        yield 1

    found, reported = collect(gs, items, on_error="skip")
    assert found == [0] and reported.stages["q/source"].skipped == 1


@pytest.mark.parametrize("wrong", [0, 1, 9])
def test_on_error_is_asked_and_decides(gs: Any, wrong: int) -> None:
    asked: list[tuple[str, Any]] = []

    def decide(error: BaseException, item: Any) -> str:
        asked.append((str(error), item))
        return "skip" if len(asked) < 2 else "stop"

    found, _ = collect(gs, Faulty(10, lambda number: number == wrong), on_error=decide)
    assert found == [number for number in range(10) if number != wrong]
    assert asked == [(f"at {wrong}", None)]
    asked.clear()
    with pytest.raises(StageError, match="Boom: at 2"):
        collect(gs, Faulty(10, lambda number: number in (1, 2)), on_error=decide)
    assert len(asked) == 2


@pytest.mark.parametrize("answer", [None, True, "go on", 0])
def test_on_error_that_answers_something_else_is_an_error(gs: Any, answer: Any) -> None:
    with pytest.raises(StageError, match="ConfigError: on_error returned .* for Boom .*stage 'q/source'") as caught:
        collect(gs, Faulty(3, lambda number: number == 1), on_error=lambda error, item: answer)
    assert isinstance(caught.value.__cause__, ConfigError)
    assert isinstance(caught.value.__cause__.__cause__, Boom)


def test_the_pipelines_on_error_holds_where_a_stage_has_none(gs: Any) -> None:
    wrong = lambda number: number == 1  # noqa: E731
    for of_pipeline, of_source, raises in [("skip", None, False), ("stop", "skip", False), ("skip", "stop", True)]:
        with pytest.raises(StageError) if raises else contextlib.nullcontext():
            with t1.QueuePipeline(gs, on_error=of_pipeline) as pipe:
                pipe.source(numbers(pipe, f"q{of_pipeline}{of_source}"), Faulty(3, wrong), on_error=of_source)
                pipe.start()
                wait_for(lambda: all(not each.threads for each in pipe.statistics().stages.values()), "the end of it")
        (reported,) = pipe.statistics().stages.values()
        assert reported.skipped == (not raises)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_producer_that_only_raises_is_not_asked_for_ever(gs: Any, threads: int) -> None:
    """The error that is one too many need not be the latest: its thread may have been slow."""
    producer = Faulty(10**9, lambda number: True)
    with pytest.raises(StageError, match="'q/source'.*Boom: at ") as caught:
        collect(gs, producer, threads=threads, on_error="skip")
    number, asked = int(str(caught.value.__cause__).split()[1]), next(producer._numbers)
    assert number < ERRORS_IN_A_ROW + threads and asked > ERRORS_IN_A_ROW
    assert threads > 1 or number == ERRORS_IN_A_ROW


def test_errors_in_a_row_are_counted_from_the_last_success(gs: Any) -> None:
    """999 and 1000 errors, one item, and again: none is one too many."""

    def wrong(number: int) -> bool:
        return number not in (0, ERRORS_IN_A_ROW + 1)

    taken: list[int] = []

    class Waits(Faulty):
        """After an item it waits until that has gone in: only then is it a success."""

        def __next__(self) -> int:
            wait_for(lambda: pipe.statistics().stages["q/source"].items == self.given, "the item is in, and counted")
            number = super().__next__()
            self.given += 1
            return number

        given = 0

    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, Waits(2 * ERRORS_IN_A_ROW + 2, wrong), on_error="skip")
        pipe.sink("sink", queue, lambda item: taken.append(int(item)))
    assert taken == [0, ERRORS_IN_A_ROW + 1]
    assert pipe.statistics().stages["q/source"].skipped == 2 * ERRORS_IN_A_ROW


# -- the end of input --------------------------------------------------------------------------------------------------


def test_a_generator_is_closed_when_the_pipeline_is_stopped(gs: Any) -> None:
    closed = Gate()

    def items() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.arrive()

    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, items, threads=2)
        pipe.work("take", queue.dequeue(), steps=3)
    closed.wait_for(1)


@pytest.mark.parametrize("readers", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 7, 50])
def test_the_end_of_input_goes_through_three_queues(gs: Any, count: int, readers: int) -> None:
    """source ─▶ a ─▶ square ─▶ b ─▶ put ─▶ c ─▶ sink: all items arrive, and then all of it ends."""
    found: list[int] = []
    with t1.QueuePipeline(gs) as pipe:
        first = numbers(pipe, "a", capacity=3)
        pipe.source(first, range(count))
        second = pipe.stage("b", lambda x: x * x, first, threads=readers)
        third = numbers(pipe, "c", capacity=2)
        pipe.work("put", third.enqueue(second.dequeue() + 1), threads=readers)
        pipe.sink("sink", third, lambda item: found.append(int(item)), threads=readers)
    assert sorted(found) == [number * number + 1 for number in range(count)]
    if readers == 1:
        assert found == sorted(found)
    reported = pipe.statistics()
    assert {stage.state for stage in reported.stages.values()} == {"ended"}
    assert [stage.items for stage in reported.stages.values()] == [count] * 4
    assert [queue.size for queue in reported.queues.values()] == [0, 0, 0]


@pytest.mark.parametrize("kind", ["fifo", "shuffle"])
def test_what_is_left_of_a_dequeue_many_stays_in_the_queue_and_of_up_to_is_taken(gs: Any, kind: str) -> None:
    taken: dict[str, list[int]] = {"many": [], "up to": []}
    with t1.QueuePipeline(gs) as pipe:
        settings = {"min_after_dequeue": 0} if kind == "shuffle" else {}
        many, up_to = (numbers(pipe, name, 20, kind=kind, **settings) for name in ("many", "up_to"))
        for queue in (many, up_to):
            pipe.source(queue, range(10))
        pipe.work("many", many.dequeue_many(4), each=lambda rows: taken["many"].extend(rows.tolist()))
        pipe.work("up to", up_to.dequeue_up_to(4), each=lambda rows: taken["up to"].extend(rows.tolist()))
    assert len(taken["many"]) == len(set(taken["many"])) == 8 and sorted(taken["up to"]) == list(range(10))
    reported = pipe.statistics()
    assert (reported.stages["many"].runs, reported.stages["up to"].runs) == (2, 3)
    assert reported.queues["many"].size == 2 and reported.queues["up_to"].size == 0
    if kind == "fifo":
        assert taken["many"] == list(range(8))


def test_works_with_steps_end_it_though_there_is_more(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, itertools.count(), threads=2)
        pipe.work("train", queue.dequeue(), steps=10)
    reported = pipe.statistics()
    assert reported.stages["train"].runs == 10 and reported.queues["q"].state == "cancelled"


def test_a_source_without_a_reader_ends_with_the_body(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, itertools.count())
    assert pipe.statistics().queues["q"].state == "cancelled"


def test_two_readers_one_of_which_has_steps(gs: Any, caplog: Any) -> None:
    """One ends after 3 of one queue: what writes to both ends, too, and the other reader gets no more."""
    with t1.QueuePipeline(gs, "cut") as pipe:
        short, long = numbers(pipe, "short"), numbers(pipe, "long")
        up = numbers(pipe, "up")
        item = up.dequeue()
        pipe.source(up, range(100))
        pipe.work("both", [short.enqueue(item), long.enqueue(item)])
        pipe.work("few", short.dequeue(), steps=3)
        done = Gate()
        pipe.sink("all", long, lambda value: done.arrive())
    assert pipe.statistics().stages["few"].runs == 3
    (warning,) = [record.getMessage() for record in caplog.records if record.name == "tf1sessions"]
    assert warning == (
        "cut: nobody reads queue 'short' any more, so 'both' ends; queue 'long' gets no more of its items"
    )


def test_two_readers_of_one_queue_one_of_which_has_steps_and_no_warning(gs: Any, caplog: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(100))
        seen: list[int] = []
        pipe.work("few", queue.dequeue(), steps=3, each=lambda item: seen.append(int(item)))
        pipe.work("all", queue.dequeue(), each=lambda item: seen.append(int(item)))
    assert sorted(seen) == list(range(100))
    assert [record.getMessage() for record in caplog.records if record.name == "tf1sessions"] == []


def test_a_reader_that_ends_frees_its_writers_while_another_goes_on(gs: Any) -> None:
    """The writer of a queue that nothing reads any more is blocked: it ends, though the pipeline goes on."""
    hold = Gate()
    with t1.QueuePipeline(gs) as pipe:
        queue, other = numbers(pipe, "q", 1), numbers(pipe, "other", 1)
        pipe.source(queue, itertools.count(), threads=2, name="endless")
        pipe.source(queue, queue.enqueue(np.int64(1)), threads=2, name="puts")
        pipe.work("few", queue.dequeue(), steps=3)
        pipe.source(other, [1])

        def last(item: Any) -> None:
            wait_for(lambda: {stages()[name].state for name in ("endless", "puts")} == {"ended"}, "ended writers")
            hold.arrive()

        stages = lambda: pipe.statistics().stages  # noqa: E731
        pipe.sink("goes on", other, last)
    hold.wait_for(1)
    assert pipe.statistics().stages["goes on"].items == 1
