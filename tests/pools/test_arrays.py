"""Channels: what arrives is what was sent, is the receiver's own, and nothing is left whatever happens on the way."""

from __future__ import annotations

import contextlib
import datetime
import errno
import gc
import os
import pickle
import random
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tf1sessions.errors import ClosedError, MessageTooLargeError, PeerGoneError
from tf1sessions.pools import arrays, packing, segments
from tf1sessions.pools.arrays import Channel

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at descriptors and mappings through /proc"),
]

MB = 1 << 20
Ends = tuple[Channel, Channel]


def descriptors() -> dict[str, str]:
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            found[name] = os.readlink(f"/proc/self/fd/{name}")
    return found


def mappings() -> list[str]:
    """Shared memory of this process, with a name or without."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [line for line in lines if "memfd:tf1sessions" in line or "/dev/shm" in line]


def pair(**names: str) -> Ends:
    here, there = socket.socketpair()
    return Channel(here, **names), Channel(there, **names)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Neither a descriptor nor a mapping; and so no segment, because none has a name, as is tested below."""
    gc.collect()
    before = descriptors(), mappings()
    yield
    gc.collect()
    assert (descriptors(), mappings()) == before


@pytest.fixture
def ends() -> Iterator[Ends]:
    here, there = pair()
    with here, there:
        yield here, there


def through(ends: Ends, obj: Any) -> Any:
    ends[0].send(obj)
    return ends[1].recv(timeout=60)


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way that an array can take, with kilobytes."""
    monkeypatch.setattr(arrays, "_IN_BAND_BYTES", 64)
    monkeypatch.setattr(arrays, "_INLINE_BYTES", 512)
    monkeypatch.setattr(arrays, "_ONCE_BYTES", 1024)
    monkeypatch.setattr(arrays, "_POOL_BYTES", 64 << 10)
    monkeypatch.setattr(arrays, "_POOL_SEGMENTS", 4)
    monkeypatch.setattr(arrays, "_OWN_BYTES", 8192)


# ------------------------------------------------------------------------------------------------- what arrives


def same(left: Any, right: Any) -> bool:
    """Whether two objects are alike in type and in all that they hold."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ma.MaskedArray):
        masks = np.ma.getmask(left), np.ma.getmask(right)
        return (
            (masks[0] is np.ma.nomask) == (masks[1] is np.ma.nomask)
            and np.array_equal(*masks)
            and same(left.data, right.data)
            and left.fill_value == right.fill_value
            and left.hardmask == right.hardmask
        )
    if isinstance(left, np.ndarray):
        if (left.dtype, left.shape, left.flags.fnc) != (right.dtype, right.shape, right.flags.fnc):
            return False
        if left.dtype.hasobject:
            return all(same(*both) for both in zip(left.ravel().tolist(), right.ravel().tolist(), strict=True))
        if left.dtype.names:  # what is between them is no one's
            return all(same(np.asarray(left)[name], np.asarray(right)[name]) for name in left.dtype.names)
        return left.tobytes() == right.tobytes()
    if isinstance(left, memoryview):
        return (left.format, left.shape, left.readonly, left.tobytes()) == (
            right.format,
            right.shape,
            right.readonly,
            right.tobytes(),
        )
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    return bool(left == right)


class Plain(np.ndarray[Any, Any]):
    """A subclass that pickles as ndarray does."""


class Labelled(np.ndarray[Any, Any]):
    """A subclass with a pickling of its own."""

    label = ""

    def __reduce__(self) -> tuple[Any, ...]:
        return _labelled, (np.asarray(self), self.label)


def _labelled(data: Any, label: str) -> Any:
    new = data.view(Labelled)
    new.label = label
    return new


def readonly(array: Any) -> Any:
    array.flags.writeable = False
    return array


def numbers(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape)


PADDED = np.dtype({"names": ["a", "b"], "formats": ["i1", "f8"], "offsets": [0, 16], "itemsize": 32})

ARRAYS: dict[str, Callable[[int], Any]] = {
    "C order": lambda n: numbers(n, 4),
    "Fortran order": lambda n: np.asfortranarray(numbers(n, 4)),
    "every second": lambda n: numbers(2 * n, 4)[::2],
    "backwards": lambda n: numbers(4 * n)[::-1],
    "a column": lambda n: numbers(4 * n, 3)[:, 1],
    "transposed": lambda n: numbers(2, n, 2).transpose(1, 0, 2),
    "broadcast": lambda n: np.broadcast_to(np.float64(7), (4, n)),
    "read-only": lambda n: readonly(numbers(4 * n)),
    "bool": lambda n: numbers(32 * n) > 0,
    "complex": lambda n: numbers(2 * n) * 1j,
    "big-endian": lambda n: numbers(4 * n).astype(">f8"),
    "dates": lambda n: np.arange(4 * n).astype("M8[s]"),
    "unicode": lambda n: np.array(["äö", "x" * n]),
    "bytes": lambda n: np.array([b"a", b"x" * 32 * n]),
    "structured": lambda n: np.zeros(n, [("a", "i4"), ("b", "f8", (3,)), ("c", "S4")]),
    "structured with gaps": lambda n: np.zeros(n, PADDED),
    "void": lambda n: np.zeros(n, "V32"),
    "a subclass": lambda n: numbers(4 * n).view(Plain),
    "matrix": lambda n: np.asmatrix(numbers(n, 4)),
    "records": lambda n: np.rec.fromarrays([numbers(n), np.arange(n)], names="x,y"),
    "masked": lambda n: np.ma.masked_less(numbers(4 * n), 0),
    "masked by nothing": lambda n: np.ma.MaskedArray(numbers(4 * n), fill_value=3),
    "masked hard": lambda n: np.ma.MaskedArray(numbers(n, 4), numbers(n, 4) > 0, hard_mask=True),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("n", [1, 5000, 20_000], ids=["in the pickle", "short", "long"])
@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_an_array_arrives_as_it_was_and_is_the_receivers_own(ends: Ends, make: Callable[[int], Any], n: int) -> None:
    sent, expected = make(n), make(n)
    ends[0].send(sent)
    with contextlib.suppress(ValueError):  # it is read-only
        sent.view(np.ndarray)[...] = np.zeros((), sent.dtype)  # the sender may change it now
    got = ends[1].recv(timeout=60)
    assert same(got, expected)
    assert got.flags.writeable and got.flags.aligned and not np.shares_memory(got, sent)
    unchanged = sent.copy()
    got.view(np.ndarray)[...] = np.ones((), got.dtype)
    assert same(sent.copy(), unchanged)
    assert same(through(ends, expected), expected)  # the memory of the next one is another's, or free


OTHERS: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "no dimension": lambda: np.array(3.5),
    "no element": lambda: np.zeros([0, 1000, 1000]),
    "no element of many": lambda: np.zeros([1000, 0], "U7"),
    "objects": lambda: np.array([None, "x", 3, [numbers(3000)]] * 999, dtype=object),
    "structured with objects": lambda: np.array([(1, None)] * 3000, [("a", "i4"), ("b", "O")]),
    "scalars": lambda: [np.float32(1.5), np.int64(3), np.bool_(True), np.str_("x"), np.datetime64("2020-01-01")],
    "bytes": lambda: b"abc" * MB,
    "bytearray": lambda: bytearray(b"abc" * MB),
    "text": lambda: "äöü" * MB,
    "view of bytes": lambda: memoryview(b"abc" * MB),
    "view that is cast": lambda: memoryview(bytearray(8 * 60 * 1000)).cast("d", [60, 1000]),
    "view of characters": lambda: memoryview(b"abc" * 9000).cast("c"),
    "view with gaps": lambda: memoryview(bytearray(range(256)) * 999)[::3],
    "short view": lambda: memoryview(b"abc"),
    "nested": lambda: {"a": [numbers(30_000), (numbers(3), {"b": {1, 2}})], 3: datetime.date(2020, 1, 1)},
    "many small": lambda: [numbers(10) for _ in range(3000)],
    "many large": lambda: [numbers(10_000) for _ in range(200)],
    "huge and small": lambda: [numbers(3 * MB), numbers(3 * MB), numbers(3000), numbers(3)],
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_anything_arrives_as_it_was(ends: Ends, make: Callable[[], Any]) -> None:
    sent = make()
    assert same(through(ends, sent), sent)


def test_strings_of_any_length_arrive(ends: Ends) -> None:
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("numpy 1 has no StringDType")
    sent = np.array(["a", "long " * 100] * 5000, dtype=np.dtypes.StringDType())
    got = through(ends, sent)
    assert got.dtype == sent.dtype and got.tolist() == sent.tolist()


def test_dtypes_of_other_packages_arrive(ends: Ends) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for n in (3, 300_000):
        sent = numbers(n).astype(ml_dtypes.bfloat16)
        assert same(through(ends, sent), sent)


def test_a_subclass_with_its_own_pickling_keeps_it(ends: Ends) -> None:
    sent = _labelled(numbers(300_000), "weights")
    got = through(ends, sent)
    assert type(got) is Labelled and got.label == "weights" and np.array_equal(got, sent)


def test_a_mapped_file_arrives(ends: Ends, tmp_path: Path) -> None:
    sent = np.memmap(tmp_path / "data", np.float32, "w+", shape=(300, 1000))
    sent[:] = 3
    assert same(np.asarray(through(ends, sent)), np.asarray(sent))


def test_objects_of_other_libraries_with_protocol_5_stay_out_of_the_pickle() -> None:
    class Table:
        def __init__(self, data: Any) -> None:
            self.data = data

        def __reduce_ex__(self, protocol: Any) -> Any:
            return bytes, (pickle.PickleBuffer(self.data),)

    packed = packing.pack(Table(b"x" * MB), 1000)
    assert packed.length < 1000 and [buffer.nbytes for buffer in packed.buffers] == [MB]
    assert packing.unpack(b"".join(packed.stream), packed.buffers) == b"x" * MB
    assert packing.pack(Table(b"x"), 1000).buffers == []


def test_large_arrays_stay_out_of_the_pickle_wherever_they_are() -> None:
    big = numbers(100_000)
    packed = packing.pack(
        {"a": [big, {"b": np.ma.masked_less(big, 0)}], "c": (lambda: big, big.view(Plain)[::2])}, 1000
    )
    assert sorted(buffer.nbytes for buffer in packed.buffers) == [100_000, 400_000, 800_000, 800_000]
    assert packed.length < 10_000


def test_long_bytes_are_not_copied_into_the_pickle() -> None:
    data = b"x" * MB
    assert any(piece is data for piece in packing.pack(["a", data, "b"], 1000).stream)


def test_packing_leaves_no_cycle() -> None:
    gc.collect()
    gc.disable()
    try:
        array = numbers(10_000)
        before = sys.getrefcount(array)
        packing.pack([array, lambda: array], 1000)
        assert sys.getrefcount(array) == before
    finally:
        gc.enable()


@pytest.mark.parametrize("n", [10, 10_000, 100_000])
def test_an_array_that_is_there_twice_arrives_once(ends: Ends, n: int) -> None:
    array = numbers(n)
    first, second, part = through(ends, [array, {"again": array}, array[1:]])
    assert first is second["again"]
    assert not np.shares_memory(first, part)


def random_object(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(12 if depth < 4 else 9)
    n = int(10 ** rng.uniform(0, 4))
    match kind:
        case 0:
            return rng.choice([None, True, 3, 2**70, 1.5, 2j, "ä" * n, b"x" * n])
        case 1:
            return bytearray(rng.randbytes(n))
        case 2:
            return np.frombuffer(rng.randbytes(8 * n), rng.choice(["u1", "<i4", ">i8", "M8[ns]", "S8", "V4"]))
        case 3:
            return np.asfortranarray(numbers(rng.randrange(60), rng.randrange(60)))
        case 4:
            return numbers(40, rng.randrange(60))[:: rng.choice([1, 2, -1]), :: rng.choice([1, 3, -2])]
        case 5:
            return np.ma.masked_less(numbers(n), 0)
        case 6:
            return np.array([random_object(rng, 9) for _ in range(3)] + [None], dtype=object)[:3]
        case 7:
            return memoryview(rng.randbytes(n))
        case 8:
            return np.zeros(n, PADDED)[rng.choice(["a", "b"])]
        case 9:
            return [random_object(rng, depth + 1) for _ in range(rng.randrange(6))]
        case 10:
            return tuple(random_object(rng, depth + 1) for _ in range(rng.randrange(4)))
        case _:
            return {str(key): random_object(rng, depth + 1) for key in range(rng.randrange(6))}


@pytest.mark.parametrize("seed", range(4))
def test_random_objects_arrive_as_they_were(small_limits: None, ends: Ends, seed: int) -> None:
    rng = random.Random(seed)
    kept: list[tuple[Any, Any]] = []
    for _ in range(150):
        sent = [random_object(rng) for _ in range(3)]
        got = through(ends, sent)
        assert same(got, sent)
        kept = [*kept, (sent, got)][-rng.randrange(1, 12) :]  # lent memory comes back out of order
        assert all(same(*both) for both in kept)
    assert ends[0].statistics().segment_bytes <= 64 << 10


# ------------------------------------------------------------------------------------------- memory that is lent


def test_segments_have_no_name(ends: Ends) -> None:
    ends[0].send(numbers(MB))
    files = set(descriptors().values())
    assert {file for file in files if "tf1sessions" in file} == {"/memfd:tf1sessions (deleted)"}
    got = ends[1].recv()
    assert len(mappings()) == 1 and "/memfd:tf1sessions (deleted)" in mappings()[0]
    del got


def test_memory_is_used_again(ends: Ends) -> None:
    sent = numbers(MB // 2)
    for _ in range(50):
        assert through(ends, sent)[7] == sent[7]
    done = ends[0].statistics()
    assert (done.segments, done.segment_bytes, done.lent_bytes) == (1, 4 * MB, 0)
    assert (done.sent, ends[1].statistics().received) == (50, 50)
    assert done.bytes_sent == ends[1].statistics().bytes_received > 200 * MB


def test_lent_memory_comes_back_when_the_last_array_is_gone(ends: Ends) -> None:
    got = through(ends, [numbers(MB // 8), numbers(MB // 8)])
    assert (ends[0].statistics().lent_bytes, ends[1].statistics().borrowed_bytes) == (2 * MB, 2 * MB)
    part = got[1][100:200]
    del got
    assert ends[0].statistics().lent_bytes == 2 * MB
    del part
    assert (ends[0].statistics().lent_bytes, ends[1].statistics().borrowed_bytes) == (0, 0)


def test_lent_memory_comes_back_from_the_garbage_collector(ends: Ends) -> None:
    cycle = [through(ends, numbers(MB))]
    cycle.append(cycle)  # type: ignore[arg-type]
    del cycle
    assert ends[0].statistics().lent_bytes == 8 * MB
    gc.collect()
    assert ends[0].statistics().lent_bytes == 0


def test_what_is_kept_stays_as_it_is_and_segments_stay_few(ends: Ends) -> None:
    kept = [through(ends, np.full(MB // 8, number, np.float64)) for number in range(100)]
    assert ends[1].statistics().borrowed_bytes == 8 * MB  # the others are ordinary memory
    assert ends[0].statistics().segments <= 16 and len(mappings()) <= 16
    assert [array.mean() for array in kept] == list(range(100))
    del kept
    assert ends[0].statistics().lent_bytes == 0


def test_unread_messages_have_memory_of_their_own(ends: Ends) -> None:
    for number in range(100):
        ends[0].send(np.full(MB // 4, number, np.float64))
    assert ends[0].statistics().segment_bytes <= 64 * MB
    assert [ends[1].recv(60).mean() for _ in range(100)] == list(range(100))


def test_segments_of_the_wrong_size_make_room(ends: Ends) -> None:
    for size in (30 * MB, 20 * MB, 60 * MB, MB, 64 * MB, 30 * MB):
        sent = np.full(size, 7, np.uint8)
        assert np.array_equal(through(ends, sent), sent)
        assert ends[0].statistics().segment_bytes <= 64 * MB
    mapped = sum(int(end, 16) - int(start, 16) for start, end in (line.split()[0].split("-") for line in mappings()))
    assert mapped <= 2 * 65 * MB  # both ends are here; what was dropped is not mapped any more


def test_each_large_array_frees_its_own_memory(ends: Ends) -> None:
    first, second = through(ends, [np.zeros(100 * MB, np.uint8), np.zeros(70 * MB, np.uint8)])
    both = len(mappings())
    del first
    assert len(mappings()) == both - 1
    assert not second.any()


def test_results_stay_valid_after_the_channel(ends: Ends) -> None:
    for size in (10, 10_000, 100_000, 10_000_000):
        sent = numbers(size)
        here, there = pair()
        got = through((here, there), sent)
        here.close()
        there.close()
        assert same(got, sent)
        got += 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks beside threads; the child calls nothing of theirs
def test_memory_that_a_fork_has_is_not_lent_again(ends: Ends) -> None:
    got = through(ends, np.full(MB, 1, np.float64))
    go, done = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(done)
            os.read(go, 1)  # until the parent has received into other memory
            closed = ends[1].closed and ends[1].fileno() == -1
            code = 0 if closed and got.mean() == 1 else 2
        finally:
            os._exit(code)
    os.close(go)
    try:
        del got
        assert ends[0].statistics().lent_bytes == 8 * MB
        assert through(ends, np.full(MB, 2, np.float64)).mean() == 2
    finally:
        os.close(done)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert ends[0].statistics().segments == 1  # the first was given up
    assert through(ends, np.full(MB, 3, np.float64)).mean() == 3


def test_a_thousand_messages_leave_nothing(ends: Ends) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    sizes = [10, 5000, 100_000, 400_000, 3 * MB]
    payloads = [np.zeros(size, np.uint8) for size in sizes]

    def exchange(rounds: int) -> None:
        for _ in range(rounds):
            for payload in payloads:
                assert len(through(ends, [payload, "text", payload[::2]])[0]) == len(payload)
                assert len(through((ends[1], ends[0]), payload)) == len(payload)

    exchange(5)
    gc.collect()
    before, memory = descriptors(), resident()
    exchange(100)
    gc.collect()
    assert descriptors() == before
    assert resident() < memory + 16 * MB


# --------------------------------------------------------------------------------------------------- interface


def test_a_message_that_is_not_there_in_time(ends: Ends) -> None:
    assert not ends[1].poll() and not ends[1].poll(0.01)
    with pytest.raises(TimeoutError, match="the other process"):
        ends[1].recv(timeout=0)
    ends[0].send("later")
    assert ends[1].poll() and ends[1].poll(None)
    assert select.select([ends[1]], [], [], 60)[0] == [ends[1]]
    assert ends[1].recv(timeout=0) == "later"
    assert not ends[1].poll()


def test_half_a_message_waits_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    raw, end = socket.socketpair()
    monkeypatch.setattr(Channel, "_write", lambda self, data, fds: written.append(bytes(data)))
    with Channel(raw) as here, Channel(end, name="worker 3") as there:
        here.send(["a message", numbers(100)])
        (data,) = written
        for piece in (data[:7], data[7:50], data[50:-1]):
            raw.sendall(piece)
            with pytest.raises(TimeoutError, match=r"from worker 3 .*\d+ bytes of a message are here"):
                there.recv(timeout=0)
        raw.sendall(data[-1:])
        assert same(there.recv(timeout=0), ["a message", numbers(100)])


def test_threads_send_at_once(ends: Ends) -> None:
    count, errors = 40, []

    def send(number: int) -> None:
        try:
            for index in range(count):
                ends[0].send((number, index, np.full(10 ** (index % 7), number, np.uint8)))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    got = [ends[1].recv(timeout=60) for _ in range(6 * count)]
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert all((array == number).all() for number, _, array in got)
    for number in range(6):
        assert [index for sender, index, _ in got if sender == number] == list(range(count))


def test_closing_wakes_those_that_wait() -> None:
    here, there = pair()
    errors: list[BaseException] = []
    waiting = threading.Event()

    def wait() -> None:
        try:
            waiting.set()
            there.recv()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait(60)
    there.close()
    there.close()
    thread.join(60)
    assert [type(error) for error in errors] == [ClosedError]
    with pytest.raises(ClosedError):
        there.send(1)
    with pytest.raises(PeerGoneError):
        here.send(1)
    with pytest.raises(PeerGoneError, match="has gone"):
        here.recv()
    assert here.closed and there.closed
    here.close()


def test_what_was_sent_before_the_end_arrives() -> None:
    here, there = pair()
    here.send(numbers(100_000))
    here.send("last")
    here.close()
    assert same(there.recv(), numbers(100_000)) and there.recv() == "last"
    for _ in range(2):
        with pytest.raises(EOFError, match="has gone"):
            there.recv()
    there.close()


def test_functions_go_by_value(ends: Ends) -> None:
    base = numbers(100_000)
    namespace: dict[str, Any] = {"__name__": "__main__", "base": base}
    exec("def f(x): return base.sum() + x\nclass C:\n    def g(self): return 3", namespace)
    add, function, cls = through(ends, [lambda x: base.sum() + x, namespace["f"], namespace["C"]])
    assert add(1) == function(1) == base.sum() + 1 and cls().g() == 3


# ------------------------------------------------------------------------------------------------------- errors


def fails_to_unpickle() -> Any:
    raise ValueError("bad state")


class Unreadable:
    def __reduce__(self) -> Any:
        return fails_to_unpickle, ()


def test_what_cannot_be_pickled_is_not_sent(ends: Ends) -> None:
    with pytest.raises(TypeError, match="cannot pickle"):
        ends[0].send([numbers(100_000), threading.Lock()])
    assert not ends[1].poll() and through(ends, 3) == 3


def test_what_cannot_be_unpickled_is_lost_alone(ends: Ends) -> None:
    with pytest.raises(ValueError, match="bad state"):
        through(ends, [numbers(100_000), Unreadable()])
    assert same(through(ends, numbers(100_000)), numbers(100_000))
    gc.collect()
    assert ends[0].statistics().lent_bytes == 0


def test_a_message_larger_than_memory(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "available_memory", lambda: 20 * MB)
    with pytest.raises(MessageTooLargeError, match=r"message of 24\.0 MiB .*20\.0 MiB are free") as caught:
        ends[0].send([np.zeros(3 * MB)])
    assert caught.value.size == 24 * MB and isinstance(caught.value, MemoryError)
    monkeypatch.setattr(arrays, "available_memory", lambda: None)
    assert through(ends, np.zeros(3 * MB)).nbytes == 24 * MB
    assert ends[0].statistics().sent == 1


@contextlib.contextmanager
def limit(kind: int, value: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (value, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


def test_memory_that_the_kernel_refuses(ends: Ends) -> None:
    with limit(resource.RLIMIT_FSIZE, MB), pytest.raises(MessageTooLargeError, match=r"of 8\.0 MiB .*too large"):
        ends[0].send(np.zeros(MB))
    assert ends[0].statistics().lent_bytes == 0 and through(ends, np.zeros(MB)).nbytes == 8 * MB


def test_no_descriptor_to_send_with(ends: Ends) -> None:
    array = np.zeros(MB)
    with limit(resource.RLIMIT_NOFILE, max(map(int, descriptors())) + 1):
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # numbers that are free below the limit
                while True:
                    stack.callback(os.close, os.dup(0))
            with pytest.raises(OSError) as caught:
                ends[0].send(array)
    assert caught.value.errno == errno.EMFILE
    assert through(ends, array).nbytes == 8 * MB


def test_no_descriptor_to_receive_with(ends: Ends) -> None:
    ends[0].send(np.zeros(MB))
    with limit(resource.RLIMIT_NOFILE, max(map(int, descriptors())) + 1):
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                while True:
                    stack.callback(os.close, os.dup(0))
            with pytest.raises(OSError, match="too many files are open") as caught:
                ends[1].recv()
    assert caught.value.errno == errno.EMFILE and ends[1].closed
    with pytest.raises(PeerGoneError):
        ends[0].send(1)


def test_something_else_on_the_socket() -> None:
    raw, end = socket.socketpair()
    with raw, Channel(end) as channel:
        raw.sendall(b"GET / HTTP/1.1\r\n\r\n" * 40)
        with pytest.raises(PeerGoneError, match="no message"):
            channel.recv()
        assert channel.closed


@pytest.mark.parametrize("number", [0, 1])
def test_a_segment_that_is_smaller_than_announced(number: int) -> None:
    """It would end the process, were it touched."""
    raw, end = socket.socketpair()
    frame = struct.pack("=4q3q3q", 0, 1, 1, 0, number, 1 << 20, 1, 0, 0, 1 << 20)
    with raw, Channel(end) as channel, tempfile.TemporaryFile() as small:
        data = arrays._HEADER.pack(arrays._MAGIC, len(frame), 4) + frame + b"abcd"
        socket.send_fds(raw, [data.ljust(arrays._LEAST_BYTES, b"\0")], [small.fileno()])
        with pytest.raises(PeerGoneError, match="no message: ValueError: the segment does not have the 1048576 bytes"):
            channel.recv()
        assert channel.closed


@pytest.mark.parametrize(
    "header",
    [
        arrays._HEADER.pack(arrays._MAGIC, 0, 2**64 - 1),
        arrays._HEADER.pack(arrays._MAGIC, 0, 2**62),
        arrays._HEADER.pack(arrays._MAGIC, 7, 0),  # is no whole number of 64-bit integers
        arrays._HEADER.pack(arrays._MAGIC, 8, 0),  # is too short
        arrays._HEADER.pack(arrays._MAGIC, 32, 0) + struct.pack("=qqqq", 0, 1, 0, 0),  # lacks its segment
        arrays._HEADER.pack(arrays._MAGIC, 56, 0) + struct.pack("=7q", 0, 1, 0, 0, 5, 100, 1),  # lacks its descriptor
        arrays._HEADER.pack(arrays._MAGIC, 56, 0) + struct.pack("=7q", 0, 1, 0, 0, 5, 100, 0),  # a number not known
        arrays._HEADER.pack(arrays._MAGIC, 56, 0) + struct.pack("=7q", 0, 0, 1, 0, 9, 0, 8),  # a place in no segment
        arrays._HEADER.pack(arrays._MAGIC, 32, 0) + struct.pack("=qqqq", 1, 0, 0, 0),  # a long pickle that is nowhere
    ],
    ids=range(9),
)
def test_a_frame_that_is_none(header: bytes) -> None:
    """It ends the channel, as the end of the other side does, and takes no memory."""
    raw, end = socket.socketpair()
    with raw, Channel(end) as channel:
        raw.sendall(header + bytes(600))
        with pytest.raises(PeerGoneError):
            channel.recv()
        assert channel.closed


def test_memory_is_taken_for_what_comes_and_not_for_what_is_announced() -> None:
    raw, end = socket.socketpair()
    with raw, Channel(end) as channel:
        raw.sendall(arrays._HEADER.pack(arrays._MAGIC, 0, 2**40) + bytes(600))
        with pytest.raises(TimeoutError):
            channel.recv(0.1)
        assert len(channel._incoming) < 4 * MB


def test_a_long_message_through_the_socket(ends: Ends) -> None:
    """Its room grows while it comes."""
    ends[0].stop_lending()
    sent = np.arange(MB, dtype=np.int64)
    thread = threading.Thread(target=ends[0].send, args=(sent,))
    thread.start()
    assert np.array_equal(ends[1].recv(60), sent)
    thread.join()


# --------------------------------------------------------------------------------------------------- interrupts


def interrupts(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, after: bool) -> None:
    """The function is hit by Ctrl-C once, before or after it has done its work."""
    original = getattr(owner, name)

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(owner, name, original)
        if after:
            original(*args, **kwargs)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(owner, name, interrupted)


SENDING = [(arrays, "pack"), (segments.Segment, "__init__"), (segments.Segment, "write")]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("owner, name", SENDING, ids=lambda value: getattr(value, "__name__", value))
def test_ctrl_c_before_anything_is_sent(
    ends: Ends, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, after: bool
) -> None:
    interrupts(monkeypatch, owner, name, after)
    with pytest.raises(KeyboardInterrupt):
        ends[0].send([np.zeros(MB), np.ones(4 * MB)])
    assert not ends[1].poll() and not ends[0].closed
    assert ends[0].statistics().lent_bytes == 0
    assert through(ends, [np.zeros(MB), np.ones(4 * MB)])[1].all()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_ctrl_c_while_writing_breaks_the_channel(ends: Ends, monkeypatch: pytest.MonkeyPatch, after: bool) -> None:
    interrupts(monkeypatch, Channel, "_write", after)
    with pytest.raises(KeyboardInterrupt):
        ends[0].send(np.ones(MB))
    assert ends[0].closed
    with pytest.raises(PeerGoneError, match="interrupted in the midst"):
        ends[0].send(1)
    if after:
        assert ends[1].recv().all()
    with pytest.raises(PeerGoneError):
        ends[1].recv()


def test_ctrl_c_while_waiting_loses_nothing(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupts(monkeypatch, Channel, "_is_readable", after=False)
    with pytest.raises(KeyboardInterrupt):
        ends[1].recv()
    assert through(ends, np.ones(MB)).all()


@pytest.mark.parametrize("name", ["_take_frame", "_borrow"])
def test_ctrl_c_while_taking_in_breaks_the_channel(ends: Ends, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    interrupts(monkeypatch, Channel, name, after=True)
    with pytest.raises(KeyboardInterrupt):
        through(ends, np.ones(MB))
    assert ends[1].closed
    with pytest.raises(PeerGoneError, match="could not be taken in"):
        ends[1].recv()


# -------------------------------------------------------------------------------------------- other processes


@contextlib.contextmanager
def process(code: str, *fds: int) -> Iterator[tuple[Channel, subprocess.Popen[bytes]]]:
    """A process that runs this code, its end of a channel as ``channel``, and these descriptors in ``sys.argv``."""
    here, there = socket.socketpair()
    program = "import os, signal, socket, subprocess, sys\nimport numpy as np\n"
    program += "from tf1sessions.pools import arrays, segments\nfrom tf1sessions.pools.arrays import Channel\n"
    program += f"channel = Channel(socket.socket(fileno={there.fileno()}))\n" + textwrap.dedent(code)
    with there:
        command = [sys.executable, "-c", program, *map(str, fds)]
        running = subprocess.Popen(command, pass_fds=[there.fileno(), *fds])
    with Channel(here, name="the worker") as channel:
        try:
            yield channel, running
        finally:
            running.kill()
            running.wait(60)


ECHO = """
    try:
        while True:
            obj = channel.recv()
            channel.send(obj() if callable(obj) else obj)
    except EOFError:
        pass
"""


def test_objects_to_a_process_and_back() -> None:
    big = numbers(MB // 2)
    with process(ECHO) as (channel, running):
        for obj in [3, big, {"a": [big, big[::2], b"x" * MB]}, np.asfortranarray(numbers(500, 500))]:
            channel.send(obj)
            assert same(channel.recv(timeout=60), obj)
        channel.send(lambda: (os.getpid(), big.sum()))
        assert channel.recv(timeout=60) == (running.pid, big.sum())
        for _ in range(20):
            channel.send(big)
            got = channel.recv(timeout=60)
        assert channel.statistics().segments <= 4
        running.kill()
        running.wait(60)
        assert same(got, big)
        got[:] = 0  # it is ours
        with pytest.raises(PeerGoneError, match="the worker has gone"):
            channel.recv(timeout=60)
    got[:] = 1
    assert got.sum() == got.size


# Each kills itself at another place of sending a message of 40 MB.
DEATHS = {
    "while it fills the memory": "segments.Segment.write = lambda *_: die()",
    "before it writes the frame": "Channel._write = lambda *_: die()",
    "in the midst of the frame": """
        def half(self, data, fds):
            socket.send_fds(self._socket, [data[:20]], fds)
            die()
        Channel._write = half
    """,
    "after the frame": """
        write = Channel._write
        def whole(self, data, fds):
            write(self, data, fds)
            die()
        Channel._write = whole
    """,
}


@pytest.mark.parametrize("where", DEATHS)
def test_the_sender_is_killed(where: str) -> None:
    code = textwrap.dedent("""
        channel.send(np.full(5_000_000, 2.0))
        channel.recv()
        def die():
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    code += textwrap.dedent(DEATHS[where]) + "\nchannel.send(np.full(5_000_000, 3.0))\n"
    with process(code) as (channel, running):
        first = channel.recv(timeout=60)
        channel.send("go on")
        if where == "after the frame":
            assert (channel.recv(timeout=60) == 3).all()
        midst = "in the midst of a message, after 20 bytes" if "midst" in where else "has gone$"
        with pytest.raises(PeerGoneError, match=midst):
            channel.recv(timeout=60)
        assert running.wait(60) == -signal.SIGKILL
        assert (first == 2).all() and channel.closed


def test_the_receiver_is_killed() -> None:
    with process("channel.send('ready'); channel.recv(); os.kill(os.getpid(), signal.SIGKILL)") as (channel, running):
        assert channel.recv(timeout=60) == "ready"
        channel.send(1)
        running.wait(60)
        with pytest.raises(PeerGoneError, match="the worker has gone"):
            channel.send(np.ones(50 * MB, np.uint8))
        assert channel.statistics().sent == 1


def test_the_receiver_is_killed_while_a_message_waits_for_it() -> None:
    with process("channel.send('ready'); signal.pause()") as (channel, running):
        assert channel.recv(timeout=60) == "ready"
        errors: list[BaseException] = []

        def send() -> None:
            try:
                while True:  # until the socket is full; each message has a descriptor on its way
                    channel.send([np.ones(100_000, np.uint8), "x" * 20_000])
            except BaseException as error:
                errors.append(error)

        sender = threading.Thread(target=send)
        sender.start()
        sent = -1
        while sent != (sent := channel._sent) or sent < 4:  # it does not get on any more
            sender.join(0.1)
        running.kill()
        sender.join(60)
        assert [type(error) for error in errors] == [PeerGoneError]


def test_the_parent_is_killed_in_the_midst_of_a_message() -> None:
    """A worker whose parent is killed while it sends sees the end of the channel, and nothing is left of either."""
    middle = """
        import textwrap
        mine, theirs = socket.socketpair()
        worker = subprocess.Popen([sys.executable, "-c", textwrap.dedent('''
            import os, socket, sys
            from tf1sessions.pools.arrays import Channel
            channel, reported = Channel(socket.socket(fileno=int(sys.argv[1]))), int(sys.argv[2])
            os.write(reported, b"+" if (channel.recv() == 2).all() else b"-")
            try:
                channel.recv()
            except EOFError as error:
                os.write(reported, str(error).encode())
        '''), str(theirs.fileno()), sys.argv[1]], pass_fds=[theirs.fileno(), int(sys.argv[1])])
        theirs.close()
        down = Channel(mine)
        down.send(np.full(5_000_000, 2.0))
        def half(self, data, fds):
            socket.send_fds(self._socket, [data[:20]], fds)
            os.write(int(sys.argv[1]), b"now")
            signal.pause()
        Channel._write = half
        down.send(np.full(5_000_000, 3.0))
    """
    reported, tell = os.pipe()
    with open(reported, "rb", buffering=0) as report, process(middle, tell) as (_, running):
        os.close(tell)
        said = b""
        while b"now" not in said or b"+" not in said:
            piece = report.read(100)
            assert piece, said
            said += piece
        running.kill()
        running.wait(60)
        while piece := report.read(1000):  # until the worker has ended, too
            said += piece
    assert b"in the midst of a message, after 20 bytes" in said


# ------------------------------------------------------------------------------------------------ other platforms


def test_temporary_files_where_there_is_no_memfd(ends: Ends, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for _ in range(3):
        assert same(through(ends, numbers(MB)), numbers(MB))
        assert list(tmp_path.iterdir()) == []
    assert ends[0].statistics().segments == 1


def test_the_socket_where_no_shared_memory_can_be_had() -> None:
    here, there = pair()
    here.stop_lending()
    sent = {"a": numbers(MB), "b": readonly(numbers(3)), "c": [np.ma.masked_less(numbers(100_000), 0), b"x" * MB]}
    with here, there:
        sender = threading.Thread(target=here.send, args=(sent,))  # it waits for the other side here
        sender.start()
        got = there.recv(timeout=60)
        sender.join(60)
        assert same(got["a"], sent["a"]) and got["a"].flags.writeable and got["b"].flags.writeable
        assert np.ma.allequal(got["c"][0], sent["c"][0]) and got["c"][1] == sent["c"][1]
        assert here.statistics().segments == 0


def test_a_segment_has_a_high_descriptor() -> None:
    """A job that writes to low ones, which are not its own, changes nothing that others were given."""
    segment = segments.Segment(100, 0)
    try:
        assert segment.fileno() >= 512 and not os.get_inheritable(segment.fileno())
    finally:
        segment.close()
