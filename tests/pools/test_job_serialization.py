"""Jobs as bytes: what arrives, and that no pickle is kept that another one would differ from."""

from __future__ import annotations

import inspect
import linecache
import math
import pickle
import sys
import threading
import types
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
import numpy as np
import pytest

from tf1sessions.pools import function_pickles
from tf1sessions.pools.function_pickles import FunctionPickles, FunctionReader
from tf1sessions.pools.job_serialization import is_plain, pack_message, read_message
from tf1sessions.pools.mapping import Chunk
from tf1sessions.pools.packing import pack, unpack
from tf1sessions.pools.shared_status import MOST_JOBS

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


@dataclass
class Unknown:
    """What only a closer look can pickle."""

    data: Any


def messages_of(calls, in_band=math.inf, pickles=None):
    """As a pool packs them; what cannot be pickled is raised."""
    pickles = pickles or FunctionPickles()
    while calls:
        message = pack_message(calls, in_band, pickles)
        for _, error in message.failed:
            raise error
        yield message
        calls = message.rest


def arrive(*calls, in_band=math.inf, pickles=None, reader=None):
    """Through messages, as the other process would see them."""
    found, reader = [], reader or FunctionReader()
    for message in messages_of(calls, in_band, pickles):
        stream = memoryview(bytearray(b"".join(message.content.stream)))
        buffers = [bytearray(buffer.tobytes()) for buffer in message.content.buffers]
        found += [job.call(buffers, reader) for job in read_message(stream)]
    return found


def result(function, *args, **kwargs):
    (call,) = arrive(Call(function, args, kwargs))
    assert call[3] == "a job"
    return call[0](*call[1], **call[2])


def test_calls_arrive_in_one_message():
    calls = [
        Call(math.sqrt, (9.0,), {}, "a"),
        Call(math.sqrt, (4.0,), {}, "b"),
        Call(lambda x: x + FACTOR, (1,), {}, "c"),
        Call(max, (1, 2), {"key": abs}, "d"),
    ]
    assert [f(*args, **kwargs) for f, args, kwargs, _ in arrive(*calls)] == [3.0, 2.0, 3, 2]
    assert [name for *_, name in arrive(*calls)] == ["a", "b", "c", "d"]
    assert [len(message.jobs) for message in messages_of(calls)] == [4]


def test_a_message_is_no_longer_than_it_may_be():
    calls = [Call(len, (bytes([number]) * 1000,)) for number in range(100)]
    messages = list(messages_of(calls))
    assert [job for message in messages for job in message.jobs] == calls
    assert [len(message.jobs) for message in messages] == [33, 33, 33, 1]
    assert sum(len(message.jobs) for message in messages_of([Call(abs, (-1,))] * 300)) == 300
    assert max(len(message.jobs) for message in messages_of([Call(abs, (-1,))] * 300)) == MOST_JOBS


def test_a_job_that_cannot_be_pickled_keeps_no_other_from_it():
    calls = [Call(abs, (-1,)), Call(abs, (threading.Lock(),)), Call(abs, (-2,)), Call(threading.Lock().acquire)]
    message = pack_message(calls, math.inf, FunctionPickles())
    assert (message.jobs, message.rest) == ([calls[0], calls[2]], [])
    assert [(job, type(error)) for job, error in message.failed] == [(calls[1], TypeError), (calls[3], TypeError)]


@pytest.mark.parametrize("long", [bytes(1 << 20), [Unknown(bytes(1 << 20))], np.ones(1000)], ids=["plain", "", "array"])
def test_a_long_job_has_a_message_of_its_own(long):
    calls = [Call(abs, (-1,)), Call(len, (long,)), Call(abs, (-2,))]
    messages = list(messages_of(calls, in_band=100))
    assert [len(message.jobs) for message in messages] in ([1, 1, 1], [2, 1])
    assert [args for _, args, _, _ in arrive(*calls, in_band=100)][::2] == [(-1,), (-2,)]
    np.testing.assert_equal(arrive(*calls, in_band=100)[1][1][0], long)


def test_no_two_jobs_share_what_can_change():
    items, array = [1], np.zeros(3)
    (_, first, _, _), (_, second, _, _) = arrive(*[Call(max, (items, array))] * 2)
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
    ((_, (here, number), _, _),) = arrive(Call(len, (array, 5)))
    assert number == 5
    np.testing.assert_array_equal(here, array)
    assert (here.dtype, here.shape, here.flags.writeable) == (array.dtype, array.shape, True)
    assert here.flags.fnc == array.flags.fnc


def test_each_job_has_a_function_of_its_own():
    """What a job has changed in its function, or the globals of it, the next one does not see."""
    space = {"count": 0}
    exec("def counts(value):\n    global count\n    count += value\n    counts.more = value\n    return count", space)
    first, second = arrive(*[Call(space["counts"], (1,))] * 2)
    assert first[0](1) == second[0](1) == 1 and first[0] is not second[0]
    assert [call[0] for call in arrive(*[Call(math.sqrt, (4.0,))] * 2)] == [math.sqrt] * 2


def of_main(text, **space):
    """A function of a main program."""
    space["__name__"] = "__main__"
    exec(text, space)
    return space[next(name for name in space if name.startswith("job"))]


def test_a_function_of_the_main_program_is_pickled_and_read_once(monkeypatch):
    pickles, reader = FunctionPickles(), FunctionReader()
    job = of_main("def job(x):\n    return math.sqrt(x)", math=math)
    ((first, _, _, _),) = arrive(Call(job, (4.0,)), pickles=pickles, reader=reader)
    monkeypatch.setattr(function_pickles, "pack", lambda *_: 1 / 0)
    ((second, args, _, _),) = arrive(Call(job, (9.0,)), pickles=pickles, reader=reader)
    assert first is second and second(*args) == 3.0


@pytest.mark.parametrize(
    "text",
    [
        "def job():\n    global count\n    count = globals().get('count', 0) + 1\n    return count",
        "def job():\n    globals()['more'] = globals().get('more', 0) + 1\n    return globals()['more']",
        "def job(known=[]):\n    known.append(1)\n    return len(known)",
    ],
)
def test_what_a_job_changes_in_a_kept_function_is_not_seen(text):
    pickles, reader, job = FunctionPickles(), FunctionReader(), of_main(text)
    for _ in range(3):
        ((there, _, _, _),) = arrive(Call(job), pickles=pickles, reader=reader)
        assert there() == 1


def test_what_has_changed_in_a_function_of_the_main_program_is_sent():
    pickles, reader = FunctionPickles(), FunctionReader()
    job = of_main("def job():\n    return factor if 'factor' in globals() else math.sqrt(4.0)", math=math)

    def there():
        ((function, _, _, _),) = arrive(Call(job), pickles=pickles, reader=reader)
        return function()

    assert there() == there() == 2.0
    job.__globals__["factor"] = 5
    assert there() == 5
    job.__code__ = (lambda: 7).__code__
    assert there() == there() == 7
    functions = [of_main(f"def job():\n    return {number}") for number in range(100)]
    assert [arrive(Call(one), pickles=pickles, reader=reader)[0][0]() for one in functions] == list(range(100))
    assert len(pickles._kept) <= 32 and len(reader._kept) <= 32


def test_a_function_keeps_its_file_s_name():
    def inner():
        return sys._getframe().f_code.co_filename

    assert result(inner) == result(lambda: inner()) == __file__


def test_the_text_of_a_notebook_s_cell_goes_with_its_functions(monkeypatch):
    lines = ["def job():\n", "    return (lambda: 1)\n"]
    monkeypatch.setitem(linecache.cache, "<cell 1>", (sum(map(len, lines)), None, lines, "<cell 1>"))
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile("".join(lines), "<cell 1>", "exec"), space)
    packed = pack(space["job"], math.inf)
    monkeypatch.delitem(linecache.cache, "<cell 1>")
    arrived = unpack(b"".join(packed.stream), [])
    assert inspect.getsource(arrived) == "".join(lines) and arrived().__code__.co_filename == "<cell 1>"


def test_a_function_with_large_arrays_keeps_them_out():
    array = np.ones(1000)
    (message,) = messages_of([Call(lambda value: array + value, (1,))], in_band=100)
    assert [buffer.nbytes for buffer in message.content.buffers] == [8000]
    ((function, args, _, _),) = arrive(Call(lambda value: array + value, (1,)), in_band=100)
    np.testing.assert_array_equal(function(*args), array + 1)


def test_chunks_arrive():
    assert result(Chunk(abs, takes_one=True), [-4, 2]) == [4, 2]
    assert result(Chunk(abs), [(-4,), (3,)]) == [4, 3]


def test_a_range_goes_as_what_it_is_made_of():
    assert is_plain((range(10**12), 1), 0)
    ((_, (there, number), _, _),) = arrive(Call(len, (range(5, 10**12, 7), 3)))
    assert (there, number) == (range(5, 10**12, 7), 3)


def test_functions_share_globals_with_those_that_are_arguments():
    space = {"total": 0}
    exec("def job(add):\n    add()\n    return total", space)
    exec("def add():\n    global total\n    total += 1", space)
    assert result(space["job"], space["add"]) == 1


def test_what_has_changed_since_is_seen():
    space = {"factor": 2, "offsets": [1], "helper": lambda x: x}
    exec("def job(x, more=1):\n    return helper(x) * factor + offsets[0] * more", space)
    job = space["job"]
    assert result(job, 10) == 21
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
            assert result(job, 10) == job(10)


def test_a_changed_closure_and_attribute_are_seen():
    rate = 1

    def job():
        return rate, getattr(job, "more", None)

    def alone():
        return rate

    for rate in (1, 2, 3):
        assert result(alone) == rate
        job.more = [rate]
        assert result(job) == (rate, [rate])


def test_objects_that_may_change_are_pickled_each_time():
    class Adder:
        def __init__(self):
            self.more = 1

        def __call__(self, x):
            return x + self.more

        add = __call__

    adder = Adder()
    for adder.more in (1, 2):
        assert result(adder, 1) == result(adder.add, 1) == 1 + adder.more


def test_another_function_at_the_same_address_is_another(monkeypatch):
    seen = []
    for number in range(50):
        seen.append(result(eval(f"lambda: {number}")))
    assert seen == list(range(50))


def test_a_module_of_a_class_of_its_own_goes_by_its_name(monkeypatch):
    class Face(types.ModuleType):
        """As scripts' tensorflow is."""

        def __reduce_ex__(self, protocol):
            raise TypeError("it was pickled")

    face = Face("the_face")
    monkeypatch.setitem(sys.modules, "the_face", face)
    assert result(lambda: face) is face
    assert result(lambda *modules: modules, [face], {"a": face}) == ([face], {"a": face})


@pytest.mark.parametrize(
    "value", [1, 2.5, "a", b"b", None, True, 1j, (1, (2, "c")), [1, 2], list(range(10_000)), [(1,), (2,)], np.ones(12)]
)
def test_plain_values(value):
    assert is_plain(value, 100)
    again = pickle.loads(pickle.dumps(value, 5))
    assert type(again) is type(value)
    np.testing.assert_equal(again, value)


def test_an_array_that_is_there_twice_arrives_once():
    array = np.ones(3)
    for value in [(array, array), (array, [array])]:
        first, second = pickle.loads(pickle.dumps(value, 5))
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


def test_the_program_s_module_in_a_spawned_child_goes_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Multiprocessing gives it a name there that a worker of a pool in that child does not know."""
    module: Any = types.ModuleType("__mp_main__")
    exec("def twice(value): return 2 * value", module.__dict__)
    monkeypatch.setitem(sys.modules, "__mp_main__", module)
    try:
        packed = pack(module.twice, math.inf)
    finally:
        if "__mp_main__" in cloudpickle.list_registry_pickle_by_value():
            cloudpickle.unregister_pickle_by_value(module)
    monkeypatch.delitem(sys.modules, "__mp_main__")
    assert unpack(b"".join(packed.stream), [])(3) == 6
