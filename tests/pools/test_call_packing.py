"""Jobs as bytes: what arrives, and that no pickle is kept that another one would differ from."""

from __future__ import annotations

import math
import sys
import textwrap
import types
import weakref
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
import numpy as np
import pytest

from tf1sessions.pools.call_packing import (
    CallPacker,
    FunctionReader,
    is_plain,
    joined,
    pickled_plain,
    read_plain,
    split,
)
from tf1sessions.pools.mapping import Chunk

cloudpickle.register_pickle_by_value(sys.modules[__name__])

FACTOR = 2
OFFSETS = [1]


@dataclass
class Call:
    """A job, as far as its packing goes."""

    function: Any
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    name: str = "a job"


def blocks_of(packer, calls, in_band=math.inf, most_bytes=1 << 20):
    """As a pool packs them."""
    blocks = []
    while calls:
        block = packer.run(calls, in_band, most_bytes) or packer.single(calls[0], in_band)
        blocks.append(block)
        calls = calls[block.count or 1 :]
    return blocks


def arrive(packer, *calls, reader=None, **options):
    """Through a message, as the other process would see them."""
    packed = joined(blocks_of(packer, calls, **options))
    stream = memoryview(bytearray(b"".join(packed.stream)))
    buffers = [bytearray(buffer.tobytes()) for buffer in packed.buffers]
    reader = reader or FunctionReader()
    return [block.call(number, buffers, reader) for block, number in split(stream)]


def result(packer, function, *args, **kwargs):
    (call,) = arrive(packer, Call(function, args, kwargs))
    assert call[3] == "a job"
    return call[0](*call[1], **call[2])


def test_calls_arrive_in_one_message():
    packer = CallPacker()
    calls = [
        Call(math.sqrt, (9.0,), {}, "a"),
        Call(math.sqrt, (4.0,), {}, "b"),
        Call(lambda x: x + FACTOR, (1,), {}, "c"),
        Call(max, (1, 2), {"key": abs}, "d"),
    ]
    assert [f(*args, **kwargs) for f, args, kwargs, _ in arrive(packer, *calls)] == [3.0, 2.0, 3, 2]
    assert [name for *_, name in arrive(packer, *calls)] == ["a", "b", "c", "d"]
    assert [name for *_, name in arrive(CallPacker(with_names=False), *calls)] == ["", "", "", "d"]
    assert [block.count for block in blocks_of(packer, calls)] == [2, 1, 0]


def test_a_block_is_no_longer_than_it_may_be():
    calls = [Call(len, (bytes([number]) * 1000,)) for number in range(20)]
    blocks = blocks_of(CallPacker(), calls, most_bytes=3000)
    assert sum(block.count for block in blocks) == 20 and 7 <= len(blocks) <= 20
    assert all(block.length <= 3000 for block in blocks)
    assert [block.count for block in blocks_of(CallPacker(), calls[:2], most_bytes=10)] == [1, 1]


def test_no_two_jobs_share_what_can_change():
    items, array = [1], np.zeros(3)
    (_, first, _, _), (_, second, _, _) = arrive(CallPacker(), *[Call(max, (items, array))] * 2)
    first[0].append(2)
    first[1][:] = 1.0
    assert second[0] == [1] and not second[1].any()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0),
        np.arange(6).reshape(2, 3).T,
        np.arange(12.0)[::2],
        np.array(3),
        np.zeros((0, 3)),
        np.array(["a", "bcd"]),
        np.frombuffer(b"read-only", np.uint8),
        np.arange(3, dtype=">i4"),
        np.array([None, 1]),
        np.array([(1, 2.0)], "i4,f8"),
    ],
)
def test_arrays_that_stay_in_the_pickle_arrive_as_they_are(array):
    ((_, (here, number), _, _),) = arrive(CallPacker(), Call(len, (array, 5)))
    assert number == 5
    np.testing.assert_array_equal(here, array)
    assert (here.dtype, here.shape, here.flags.writeable) == (array.dtype, array.shape, True)
    assert here.flags.fnc == array.flags.fnc


def test_a_function_that_a_job_has_changed_is_sent_anew():
    """What is kept in the other process is used only while it is as it came."""
    packer, reader = CallPacker(), FunctionReader()
    space = {"count": 0}
    exec("def plain(x):\n    return count + x", space)
    exec("def counts():\n    global count\n    count += 1\n    return count", space)
    exec("def adds():\n    globals()['more'] = 1", space)

    def call(function, *args):
        ((there, args, _, _),) = arrive(packer, Call(function, args), reader=reader)
        there(*args)
        return there

    assert call(space["plain"], 1) is call(space["plain"], 2)
    for name in ("counts", "adds"):
        first, second = call(space[name]), call(space[name])
        assert first is not second and second.__globals__ is not first.__globals__
    changed = call(space["plain"], 1)
    changed.__defaults__ = (5,)
    assert call(space["plain"], 1) is not changed
    assert call(math.sqrt, 4.0) is math.sqrt


def test_an_imported_function_is_read_again_only_when_its_module_has_another(monkeypatch):
    packer, reader = CallPacker(), FunctionReader()

    def read():
        ((there, _, _, _),) = arrive(packer, Call(Chunk(math.sqrt, takes_one=True), [4.0]), reader=reader)
        return there

    first = read()
    assert read() is first
    sent = packer._function(Chunk(math.sqrt, takes_one=True))
    monkeypatch.setattr(math, "sqrt", lambda value: -value)
    assert reader(sent)([4.0]) == [-4.0]


def test_a_range_goes_as_what_it_is_made_of():
    packer = CallPacker()
    assert is_plain((range(10**12), 1), 0)
    ((_, (there, number), _, _),) = arrive(packer, Call(len, (range(5, 10**12, 7), 3)))
    assert (there, number) == (range(5, 10**12, 7), 3)


def test_functions_share_globals_with_those_that_are_arguments():
    space = {"total": 0}
    exec("def job(add):\n    add()\n    return total", space)
    exec("def add():\n    global total\n    total += 1", space)
    assert result(CallPacker(), space["job"], space["add"]) == 1


def test_a_function_that_cannot_have_changed_is_pickled_once(monkeypatch):
    packer = CallPacker()

    def scaled(x):
        return helper(x) * FACTOR * math.pi

    def helper(x):
        return x if x else scaled(1)

    chunk = Chunk(scaled)
    calls = [(math.sqrt, (4.0,)), (chunk, ([(1,), (2,)],)), (textwrap.shorten, ("some text", 5)), (scaled, (4.0,))]
    for function, args in calls:
        assert result(packer, function, *args) == function(*args)
    monkeypatch.setattr("tf1sessions.pools.call_packing.pack", lambda *_: 1 / 0)
    for function, args in calls:
        assert result(packer, function, *args) == function(*args)


def test_the_chunks_of_another_map_need_no_pickle_of_their_own(monkeypatch):
    packer = CallPacker()

    def check(number):
        assert result(packer, Chunk(abs, takes_one=True), [-number, 2]) == [number, 2]
        assert result(packer, Chunk(abs), [(-number,), (3,)]) == [number, 3]  # it calls the same function otherwise
        assert result(packer, abs, -number) == number

    check(4)
    monkeypatch.setattr("tf1sessions.pools.call_packing.pack", lambda *_: 1 / 0)
    check(5)


def test_what_has_changed_since_is_seen():
    packer = CallPacker()
    space = {"factor": 2, "offsets": [1], "helper": lambda x: x}
    exec("def job(x, more=1):\n    return helper(x) * factor + offsets[0] * more", space)
    job = space["job"]
    assert result(packer, job, 10) == 21
    changes = [
        lambda: space.update(factor=3),
        lambda: space["offsets"].append(space["offsets"].pop() + 1),
        lambda: setattr(job, "__defaults__", (100,)),
        lambda: space.update(helper=lambda x: x + 1),
        lambda: setattr(job, "__code__", (lambda x, more: x).__code__),
    ]
    for change in changes:
        change()
        for _ in range(2):
            assert result(packer, job, 10) == job(10)


def test_a_changed_closure_and_attribute_are_seen():
    packer = CallPacker()
    rate = 1

    def job():
        return rate, getattr(job, "more", None)

    def alone():
        return rate

    for rate in (1, 2, 3):
        assert result(packer, alone) == rate
        job.more = [rate]
        assert result(packer, job) == (rate, [rate])


def test_objects_that_may_change_are_pickled_each_time():
    class Adder:
        def __init__(self):
            self.more = 1

        def __call__(self, x):
            return x + self.more

        add = __call__

    packer = CallPacker()
    adder = Adder()
    for adder.more in (1, 2):
        assert result(packer, adder, 1) == result(packer, adder.add, 1) == 1 + adder.more


def test_another_function_at_the_same_address_is_another(monkeypatch):
    packer = CallPacker()
    seen = []
    for number in range(50):
        seen.append(result(packer, eval(f"lambda: {number}")))
    assert seen == list(range(50))


def test_functions_that_are_kept_live_no_longer():
    packer = CallPacker()
    functions = [eval("lambda: 1") for _ in range(100)]
    for function in functions:
        result(packer, function)
    assert len(packer._kept) <= 32
    gone = weakref.ref(functions[-1])
    del functions, function
    assert gone() is None


def test_a_job_with_a_large_array_keeps_it_out():
    array = np.ones(1000)
    (block,) = blocks_of(CallPacker(), [Call(len, (array,))], in_band=100)
    assert block.count == 0 and block.function and len(block.rest.buffers) == 1
    ((_, args, _, _),) = arrive(CallPacker(), Call(len, (array,)), in_band=100)
    np.testing.assert_array_equal(args[0], array)


def test_a_module_of_a_class_of_its_own_goes_by_its_name(monkeypatch):
    class Face(types.ModuleType):
        """As scripts' tensorflow is."""

        def __reduce_ex__(self, protocol):
            raise TypeError("it was pickled")

    face = Face("the_face")
    monkeypatch.setitem(sys.modules, "the_face", face)
    assert result(CallPacker(), lambda: face) is face
    assert result(CallPacker(), lambda *modules: modules, [face], {"a": face}) == ([face], {"a": face})


@pytest.mark.parametrize(
    "value", [1, 2.5, "a", b"b", None, True, 1j, (1, (2, "c")), [1, 2], list(range(10_000)), [(1,), (2,)], np.ones(12)]
)
def test_plain_values(value):
    assert is_plain(value, 100)
    again = read_plain(pickled_plain(value))
    assert type(again) is type(value)
    np.testing.assert_equal(again, value)


def test_an_array_that_is_there_twice_arrives_once():
    array = np.ones(3)
    for value in [(array, array), (array, [array])]:
        first, second = read_plain(pickled_plain(value))
        first[:] = 2.0
        np.testing.assert_equal((first, second), (value[0] * 2, [value[0] * 2] if type(second) is list else first))


class Number(int):
    """Looks like one."""


@pytest.mark.parametrize(
    "value",
    [
        Number(1),
        np.float32(1),
        {},
        (1, Number(2)),
        [[[[1]]]],
        [(1,)] * 2000,
        [1, np.int64(2)],
        types,
        np.ones(13),
        lambda: 1,
    ],
)
def test_values_that_need_a_closer_look(value):
    assert not is_plain(value, 100)
