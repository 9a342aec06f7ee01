"""QueuePipeline: items go in and come out as they were, one by one and in blocks; and those that do not fit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from forced import Gate, is_closed
from support import wait_for

import tf1sessions as t1
from tf1sessions.errors import ConfigError, StageError

tf = t1.tf1

KINDS = ["fifo", "padding", "shuffle", "priority"]
BLOCKS = [1, 3, 256]


class Items:
    """Items for a queue, and how they compare.

    Args:
        dtypes, shapes: Of the components, the priority not among them.
        make: ``make(number)`` is the item: a value, or a tuple.
    """

    def __init__(self, dtypes: Any, shapes: Any, make: Callable[[int], Any], names: Any = None) -> None:
        self.dtypes, self.shapes, self.make, self.names = dtypes, shapes, make, names

    def of(self, kind: str, number: int) -> Any:
        """The item as a producer gives it."""
        item = self.make(number)
        if self.names:
            values = dict(zip(self.names, item, strict=True))
            return {"priority": number, **values} if kind == "priority" else values
        if kind == "priority":
            return (number, *(item if isinstance(item, tuple) else (item,)))
        return item


def plain(item: Any) -> Any:
    """An item, wherever it comes from, as something that can be compared."""
    if isinstance(item, dict):
        return tuple((name, plain(value)) for name, value in sorted(item.items()))
    if isinstance(item, tuple):
        return tuple(map(plain, item))
    array = np.asarray(item)
    if array.dtype.kind in "OSU":
        values = [each.encode() if isinstance(each, str) else bytes(each) for each in array.ravel().tolist()]
        return ("text", array.shape, tuple(values))
    return (array.shape, tuple(array.ravel().tolist()))


CONTENTS = {
    "numbers": Items([tf.float32], [()], float),
    "Python ints": Items([tf.int64], [()], lambda number: 2**62 + number),
    "arrays": Items([tf.float32], [(2, 3)], lambda number: np.full((2, 3), number, np.float32)),
    "nested lists": Items([tf.int32], [(2,)], lambda number: [number, -number]),
    "two components": Items([tf.int32, tf.string], [(), (2,)], lambda number: (number, [b"a", b"%d" % number])),
    "a list for a tuple": Items([tf.int32, tf.int32], [(), ()], lambda number: (number, number + 1)),
    "tuple of one": Items([tf.int32], [()], lambda number: (number,)),
    "names": Items([tf.int32, tf.bool], [(), ()], lambda number: (number, number % 2 == 0), ["a", "b"]),
    "one name": Items([tf.int32], [()], lambda number: (number,), ["only"]),
    "empty": Items([tf.float32], [(0,)], lambda number: np.zeros(0, np.float32)),
    "texts": Items([tf.string], [()], lambda number: f"Gruß {number}"),
    "bytes": Items([tf.string], [()], lambda number: b"\x00\xff%d" % number),
    "texts and bytes": Items([tf.string], [()], lambda number: f"{number}" if number % 2 else b"%d" % number),
    "numpy texts": Items([tf.string], [(1,)], lambda number: np.array([f"n{number}"])),
}  # fmt: skip
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
          "float32", "float64", "complex64", "complex128"]  # fmt: skip
for each in DTYPES:
    dtype = getattr(tf, each)
    CONTENTS[each] = Items([dtype], [(2,)], lambda number, dtype=dtype: np.array([number, 1], dtype.as_numpy_dtype))


def make_queue(pipe: Any, kind: str, items: Items, name: str = "q", **settings: Any) -> Any:
    names = items.names
    if names and kind == "priority":
        names = ["priority", *names]
    if kind == "shuffle":
        settings = {"min_after_dequeue": 0, "seed": 1, **settings}
    return pipe.queue(name, capacity=40, dtypes=items.dtypes, shapes=items.shapes, kind=kind, names=names, **settings)


def expected(items: Items, kind: str, number: int) -> Any:
    item = items.of(kind, number)
    if isinstance(item, tuple) and len(item) == 1:
        item = item[0]
    return plain(item)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", CONTENTS)
def test_items_come_out_as_they_went_in(gs: Any, name: str, block: int) -> None:
    items = CONTENTS[name]
    with t1.QueuePipeline(gs, block=block) as pipe:
        queues = {kind: make_queue(pipe, kind, items, name=kind) for kind in KINDS}
        for kind, queue in queues.items():
            pipe.source(queue, [items.of(kind, number) for number in range(10)])
        iterators = {kind: pipe.items(queue) for kind, queue in queues.items()}
        found = {kind: list(iterator) for kind, iterator in iterators.items()}
    for kind, queue in queues.items():
        reported = [plain(item) for item in found[kind]]
        wanted = [expected(items, kind, number) for number in range(10)]
        if kind in ("fifo", "padding"):
            assert reported == wanted
        else:
            assert sorted(reported, key=repr) == sorted(wanted, key=repr)
        # As run() gives what dequeue() does: arrays and their scalars, of the queue's dtypes.
        first = found[kind][0]
        values = first.values() if queue.names else first if isinstance(first, tuple) else [first]
        for dtype, value in zip(queue.dtypes, values, strict=True):
            assert isinstance(value, (np.ndarray, np.generic) if dtype != tf.string else (np.ndarray, bytes))
            assert dtype == tf.string or value.dtype == dtype.as_numpy_dtype


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_in_a_queue_comes_out_in_its_order(gs: Any, kind: str, block: int) -> None:
    """All of it is in the queue before the first comes out."""
    numbers = list(range(30))
    random.Random(3).shuffle(numbers)
    items = CONTENTS["numbers"]
    with t1.QueuePipeline(gs) as pipe:
        queue = (
            make_queue(pipe, kind, items, min_after_dequeue=10) if kind == "shuffle" else make_queue(pipe, kind, items)
        )
        pipe.source(queue, [items.of(kind, number) for number in numbers], block=block)
        pipe.start()
        wait_for(lambda: is_closed(gs, queue), "all items in the queue")
        found = [float(item[-1] if kind == "priority" else item) for item in pipe.items(queue, block=block)]
    assert sorted(found) == sorted(numbers)
    if kind == "priority":
        assert found == sorted(numbers)
    elif kind == "shuffle":
        assert found != numbers
    else:
        assert found == numbers


@pytest.mark.parametrize("block", [2, 256])
def test_blocks_are_used_where_shapes_allow_it(gs: Any, block: int) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = make_queue(pipe, "fifo", CONTENTS["numbers"])
        gate = Gate()
        pipe.source(queue, (gate.stand(float(number)) for number in range(40)), block=block, name="source")
        taken: list[float] = []
        pipe.sink("sink", queue, taken.append, block=block)
        gate.open()
    runs = pipe.statistics().stages["source"].runs
    assert len(taken) == 40 and 40 / min(block, 40) <= runs <= 40
    assert pipe.statistics().stages["sink"].items == 40


def test_a_whole_queue_is_read_in_one_run(gs: Any) -> None:
    """And one that keeps some back to mix them gives the others first."""
    for kind, settings, first in (("fifo", {}, 40), ("shuffle", {"min_after_dequeue": 15}, 25), ("priority", {}, 40)):
        items = CONTENTS["numbers"]
        with t1.QueuePipeline(gs) as pipe:
            queue = make_queue(pipe, kind, items, name=kind, **settings)
            with gs.graph.as_default():
                put = queue.enqueue(items.of(kind, 1))
            for _ in range(40):
                gs.run(put)
            seen: list[int] = []
            size = queue.size_now
            sink = Gate()

            def note(item: Any, seen: Any = seen, size: Any = size, sink: Any = sink) -> None:
                seen.append(int(gs.run(size)))
                sink.arrive()

            pipe.sink("sink", queue, note)
            pipe.start()
            sink.wait_for(first)
            assert seen[:first] == [40 - first] * first
            pipe.stop()


# -- sizes that differ, and unknown shapes -----------------------------------------------------------------------------


@pytest.mark.parametrize("block", BLOCKS)
def test_a_padding_queue_takes_items_of_different_sizes(gs: Any, block: int) -> None:
    items = [np.arange(size, dtype=np.int32) for size in (3, 3, 0, 5, 5, 5, 1, 2)]
    with t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("q", capacity=20, dtypes=[tf.int32], shapes=[(None,)], kind="padding")
        pipe.source(queue, items, block=block)
        found = list(pipe.items(queue, block=block))
    assert [item.tolist() for item in found] == [item.tolist() for item in items]


def test_dequeue_many_of_a_padding_queue_fills_up(gs: Any) -> None:
    found: list[Any] = []
    with t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("q", capacity=20, dtypes=[tf.int32, tf.int32], shapes=[(None, 2), ()], kind="padding")
        pipe.source(queue, [(np.ones((size, 2)), size) for size in (1, 3, 2, 2, 0)])
        pipe.work("take", queue.dequeue_up_to(2), each=found.append)
    assert [rows.shape for rows, _ in found] == [(2, 3, 2), (2, 2, 2), (1, 0, 2)]
    assert [rows.sum(axis=(1, 2)).tolist() for rows, _ in found] == [[2, 6], [4, 4], [0]]
    assert [sizes.tolist() for _, sizes in found] == [[1, 3], [2, 2], [0]]


@pytest.mark.parametrize("kind", ["fifo", "shuffle"])
@pytest.mark.parametrize("block", BLOCKS)
def test_a_queue_without_shapes_takes_everything(gs: Any, kind: str, block: int) -> None:
    items = [(np.ones(shape), b"x") for shape in [(), (2,), (2,), (2, 0), (1, 1, 1), ()]]
    settings = {"min_after_dequeue": 0} if kind == "shuffle" else {}
    with t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("q", capacity=20, dtypes=[tf.float64, tf.string], kind=kind, **settings)
        pipe.source(queue, items, block=block)
        found = list(pipe.items(queue, block=block))
    assert sorted(item[0].shape for item in found) == sorted(item[0].shape for item in items)


def test_one_unknown_dimension_is_read_one_by_one(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("q", capacity=20, dtypes=[tf.int32], shapes=[(None, 3)], kind="padding")
        pipe.source(queue, [np.ones((size, 3)) for size in range(5)])
        found: list[int] = []
        pipe.sink("sink", queue, lambda item: found.append(len(item)), threads=2)
    assert sorted(found) == list(range(5))


@pytest.mark.parametrize("function", ["stage", "batch", "whole"])
def test_items_through_a_stage(gs: Any, function: str) -> None:
    """Names in, names out; shapes that the function makes unknown are no hindrance."""
    with t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("q", dtypes=[tf.int32, tf.int32], shapes=[(), ()], names=["a", "b"])
        pipe.source(queue, [{"a": number, "b": 1} for number in range(7)])
        batch = None if function == "stage" else 3
        outputs = pipe.stage(
            "sums", lambda a, b: {"sum": a + b, "twice": 2 * a}, queue, batch=batch, unbatch=function == "batch"
        )
        assert outputs.names == ("sum", "twice") and outputs.name == "sums"
        found = list(pipe.items(outputs))
    if function == "whole":
        assert [item["sum"].tolist() for item in found] == [[1, 2, 3], [4, 5, 6], [7]]
    else:
        assert [int(item["sum"]) for item in found] == list(range(1, 8))
        assert [int(item["twice"]) for item in found] == list(range(0, 14, 2))
    assert pipe.statistics().stages["sums"].items == 7


@pytest.mark.parametrize("known", [True, False], ids=["known shapes", "unknown shapes"])
def test_rows_without_elements_are_an_error_of_the_stage(gs: Any, known: bool) -> None:
    """TensorFlow 2.21 dies of them in enqueue_many."""

    def cut(rows: Any) -> Any:
        return rows[:, :0] if known else tf.boolean_mask(rows, rows[0] > 1.0, axis=1)

    with pytest.raises(StageError, match="the rows of the results of stage .*cut.* have no elements") as caught:
        with t1.QueuePipeline(gs) as pipe:
            queue = pipe.queue("q", dtypes=[tf.float32], shapes=[(3,)])
            pipe.source(queue, np.ones((5, 3), np.float32))
            list(pipe.items(pipe.stage("cut", cut, queue, batch=2)))
    assert caught.value.stage == "cut"


# -- items that do not fit ---------------------------------------------------------------------------------------------

BAD: dict[str, tuple[str, Any, type[Exception], str]] = {
    "text for a number": ("numbers", "no number", ValueError, "could not convert string to float"),
    "None for a number": ("Python ints", None, TypeError, "NoneType"),
    "shape": ("arrays", np.ones((3, 2)), ValueError, r"the item has shape \(3, 2\), and queue 'q' takes \(2, 3\)"),
    "rank": ("numbers", [1.0], ValueError, r"the item has shape \(1,\), and queue 'q' takes \(\)"),
    "ragged": ("nested lists", [1, [2]], ValueError, "inhomogeneous|sequence"),
    "too few components": (
        "two components", (1,), ConfigError, r"an item for queue 'q' is \(1\).*Its items are tuples of 2 values\."
    ),
    "too many components": ("two components", (1, [b"a", b"b"], 3), ConfigError, "Its items are tuples of 2 values"),
    "no tuple": ("two components", 5, ConfigError, "an item for queue 'q' is 5"),
    "component's shape": (
        "two components", (1, [b"a"]), ValueError, r"component 1 of the item has shape \(1,\), and queue 'q' takes \(2"
    ),
    "no dict": ("names", (1, True), ConfigError, r"Its items are dicts with the keys \['a', 'b'\]"),
    "key missing": ("names", {"a": 1}, ConfigError, r"Its items are dicts with the keys \['a', 'b'\]"),
    "key too many": ("names", {"a": 1, "b": True, "c": 1}, ConfigError, "Its items are dicts"),
}  # fmt: skip
if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # before, it is another number without a word
    BAD["too large"] = ("int8", [1000, 1], OverflowError, "out of bounds")


def some_items(name: str, bad: Any, positions: set[int], count: int) -> Iterator[Any]:
    items = CONTENTS[name]
    for number in range(count):
        yield bad if number in positions else items.of("fifo", number)


@pytest.mark.parametrize("name", BAD)
def test_an_item_that_does_not_fit_stops_it_and_is_named(gs: Any, name: str) -> None:
    content, bad, kind, text = BAD[name]
    with pytest.raises(StageError, match=text) as caught:
        with t1.QueuePipeline(gs) as pipe:
            queue = make_queue(pipe, "fifo", CONTENTS[content])
            pipe.source(queue, some_items(content, bad, {2}, 5))
            list(pipe.items(queue))
    error = caught.value
    assert type(error.__cause__) is kind
    assert error.stage == "q/source" and error.item.startswith("item 2, ")
    assert str(error).startswith(
        f"stage 'q/source' of {pipe.name} failed at {error.item}: {type(error.__cause__).__name__}"
    )


@pytest.mark.parametrize("block", [1, 4, 256])
@pytest.mark.parametrize("name", BAD)
def test_items_that_do_not_fit_are_skipped_wherever_they_are_in_a_block(gs: Any, name: str, block: int) -> None:
    """The first, the last, two in a row, alone: those around them go in, in order."""
    content, bad, kind, _text = BAD[name]
    asked: list[Any] = []
    wrong = {0, 3, 4, 8, 11}
    with t1.QueuePipeline(gs) as pipe:
        queue = make_queue(pipe, "fifo", CONTENTS[content])
        given = list(some_items(content, bad, wrong, 12))
        pipe.source(queue, given, block=block, on_error=lambda error, item: (asked.append((error, item)), "skip")[1])
        found = [plain(item) for item in pipe.items(queue)]
    assert found == [expected(CONTENTS[content], "fifo", number) for number in range(12) if number not in wrong]
    assert all(isinstance(error, kind) and item is bad for error, item in asked) and len(asked) == len(wrong)
    reported = pipe.statistics().stages["q/source"]
    assert (reported.items, reported.skipped) == (7, 5)


@pytest.mark.parametrize("position", range(6))
def test_what_was_before_a_bad_item_has_gone_in(gs: Any, position: int) -> None:
    """A block of six, all of which wait in the buffer while the first item is held up in the queue."""
    went: list[float] = []
    with pytest.raises(StageError) as caught:
        with t1.QueuePipeline(gs) as pipe:
            queue = make_queue(pipe, "fifo", CONTENTS["numbers"])
            pipe.source(queue, some_items("numbers", "bad", {position}, 6), block=6)
            pipe.start()
            list_of = pipe.items(queue)
            went.extend(float(item) for item in list_of)
    assert caught.value.item == f"item {position}, 'bad'"
    assert went == [float(number) for number in range(len(went))] and len(went) <= position
    assert pipe.statistics().stages["q/source"].items == position


def test_a_bad_item_of_several_threads_has_its_number(gs: Any) -> None:
    asked: list[Any] = []
    with t1.QueuePipeline(gs) as pipe:
        queue = make_queue(pipe, "fifo", CONTENTS["numbers"])
        pipe.source(queue, some_items("numbers", "bad", set(range(0, 200, 7)), 200), threads=5,
                    on_error=lambda error, item: (asked.append(item), "skip")[1])  # fmt: skip
        found = sorted(float(item) for item in pipe.items(queue))
    assert found == [float(number) for number in range(200) if number % 7] and asked == ["bad"] * 29


# -- queues that are not what they seem --------------------------------------------------------------------------------

WRONG_QUEUES: dict[str, tuple[dict[str, Any], str]] = {
    "kind": ({"dtypes": tf.int32, "kind": "lifo"}, "kind is 'lifo'.*'fifo', 'padding', 'shuffle', 'priority'"),
    "capacity 0": ({"dtypes": tf.int32, "capacity": 0}, "capacity is 0 .*-1 for no bound"),
    "capacity -2": ({"dtypes": tf.int32, "capacity": -2}, "capacity is -2"),
    "capacity True": ({"dtypes": tf.int32, "capacity": True}, "capacity is True"),
    "capacity 2**31": ({"dtypes": tf.int32, "capacity": 2**31}, "capacity is 2147483648 "),
    "capacity 1.5": ({"dtypes": tf.int32, "capacity": 1.5}, "capacity is 1.5"),
    "no dtypes": ({}, r"dtypes is missing \(from QueuePipeline.queue\('q'\)\)"),
    "seed": ({"dtypes": tf.int32, "seed": 1}, "seed is 1, which a fifo queue does not have"),
    "min": ({"dtypes": tf.int32, "min_after_dequeue": 0}, "min_after_dequeue is 0, which a fifo queue does not have"),
    "padding": ({"dtypes": tf.int32, "kind": "padding"}, "shapes is missing .*None where sizes differ"),
    "priority": ({"dtypes": tf.int32, "kind": "priority"}, "shapes is missing"),
}


@pytest.mark.parametrize("name", WRONG_QUEUES)
def test_queues_that_cannot_be(gs: Any, name: str) -> None:
    settings, text = WRONG_QUEUES[name]
    with t1.QueuePipeline(gs) as pipe:
        with pytest.raises(ConfigError, match=text):
            pipe.queue("q", **settings)
        assert pipe.statistics().queues == {}


def test_tensorflows_own_queues_are_taken_over(gs: Any) -> None:
    """Made before the pipeline, or given to one of its methods, or found in what a work runs; each once."""
    mine = tf.FIFOQueue(5, tf.int32, [()], name="mine")
    seen = tf.RandomShuffleQueue(5, 0, tf.int32, [()], name="seen")
    with t1.QueuePipeline(gs) as pipe:
        taken = pipe.queue(mine)
        assert taken is pipe.queue(mine) is pipe.queue(taken)
        assert (taken.name, taken.kind, taken.capacity) == ("mine", "fifo", 5)
        pipe.source(mine, range(4))
        pipe.work("puts", seen.enqueue(mine.dequeue()))
        found = sorted(int(item) for item in pipe.items(seen))
    assert found == list(range(4))
    reported = pipe.statistics().queues
    assert (reported["mine"].writers, reported["mine"].readers) == (("mine/source",), ("puts",))
    assert (reported["seen"].writers, reported["seen"].readers, reported["seen"].kind) == (
        ("puts",),
        ("items()",),
        "shuffle",
    )


def test_an_unbounded_queue(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("q", capacity=-1, dtypes=[tf.int32], shapes=[()])
        pipe.source(queue, range(1000), block=50)
        pipe.start()
        wait_for(lambda: is_closed(gs, queue), "all items in the queue")
        assert pipe.statistics().queues["q"].size == 1000
        assert sorted(map(int, pipe.items(queue))) == list(range(1000))


@pytest.mark.parametrize("threads", [1, 4])
def test_many_writers_and_readers_at_random(gs: Any, threads: int) -> None:
    """Each item once, whatever the kinds of queues, blocks and threads on its way."""
    chance = random.Random(threads)
    for number in range(12):
        kind, second_kind = chance.choice(KINDS[:3]), chance.choice(KINDS[:3])
        with t1.QueuePipeline(gs, block=chance.choice([1, 2, 7, 256])) as pipe:
            first = make_queue(pipe, kind, CONTENTS["numbers"], name=f"first{number}")
            sources = chance.randint(1, 3)
            for source in range(sources):
                pipe.source(first, range(source * 100, source * 100 + 100), threads=threads)
            batch = chance.choice([None, 1, 5, 64])
            second = pipe.stage(
                f"second{number}", lambda x: x + 0.5, first, batch=batch, threads=threads,
                kind="shuffle" if second_kind == "shuffle" else "fifo",
            )  # fmt: skip
            found: list[float] = []
            for sink in range(chance.randint(1, 3)):
                pipe.sink(f"sink{sink}", second, lambda item, found=found: found.append(float(item)), threads=threads)
        assert sorted(found) == [value + 0.5 for value in range(100 * sources)]
