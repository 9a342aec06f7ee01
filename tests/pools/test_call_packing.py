"""Jobs as bytes: what arrives, and that no pickle is kept that another one would differ from."""

from __future__ import annotations

import math
import sys
import textwrap
import types
import weakref

import cloudpickle
import numpy as np
import pytest

from tf1sessions.pools.call_packing import CallPacker, is_plain, joined, split, unpack_call
from tf1sessions.pools.mapping import Chunk

cloudpickle.register_pickle_by_value(sys.modules[__name__])

FACTOR = 2
OFFSETS = [1]


def arrive(packer, *calls):
    """Through a message, as the other process would see them."""
    packed = joined([packer(call, float("inf")) for call in calls])
    stream = memoryview(bytearray(b"".join(packed.stream)))
    return [unpack_call(call, packed.buffers) for call in split(stream)]


def result(packer, function, *args, **kwargs):
    (call,) = arrive(packer, (function, args, kwargs, "a job"))
    assert call[3] == "a job"
    return call[0](*call[1], **call[2])


def test_calls_arrive_in_one_message():
    packer = CallPacker()
    calls = [(math.sqrt, (9.0,), {}, "a"), (lambda x: x + FACTOR, (1,), {}, "b"), (max, (1, 2), {"key": abs}, "c")]
    assert [f(*args, **kwargs) for f, args, kwargs, _ in arrive(packer, *calls)] == [3.0, 3, 2]
    assert [name for *_, name in arrive(packer, *calls)] == ["a", "b", "c"]


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


def test_a_job_of_one_with_an_array_keeps_it_out():
    array = np.ones(1000)
    function, rest = CallPacker()((np.sum, (array,), {}, "sum"), 100)
    assert function == b"" and len(rest.buffers) == 1
    ((_, args, _, _),) = [
        unpack_call(call, [bytearray(rest.buffers[0].tobytes())])
        for call in split(memoryview(bytearray(b"".join(joined([(function, rest)]).stream))))
    ]
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
    "value", [1, 2.5, "a", b"b", None, True, 1j, (1, (2, "c")), [1, 2], list(range(10_000)), [(1,), (2,)]]
)
def test_plain_values(value):
    assert is_plain(value)


class Number(int):
    """Looks like one."""


@pytest.mark.parametrize(
    "value",
    [Number(1), np.float32(1), {}, (1, Number(2)), [[[[1]]]], [(1,)] * 2000, [1, np.int64(2)], types, lambda: 1],
)
def test_values_that_need_a_closer_look(value):
    assert not is_plain(value)
