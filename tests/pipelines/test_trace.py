"""Trace: files in the Trace Event Format, held to it by a strict reader; limits, threads, and what is in the way.

The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. The reader allows less
than it does: what Perfetto and Chrome show alike.
"""

from __future__ import annotations

import gzip
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tf1sessions as t1
from tf1sessions.errors import ConfigError
from tf1sessions.pipelines import trace as module
from tf1sessions.pipelines.trace import Trace

DEADLINE = 30.0
TRAIN = ("train", "p/train-0")


# -- the reader --------------------------------------------------------------------------------------------------------

PHASES = {"M": {"args"}, "X": {"dur"}, "C": {"args"}, "i": {"s"}}  # what each has beside the common keys
COMMON = {"ph", "pid", "tid", "ts", "name"}


def no_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    assert len(found) == len(pairs), f"a key is there twice: {pairs}"
    return found


def read(text: str) -> dict[str, Any]:
    """A trace, once it is seen to be one."""
    found = json.loads(text, parse_constant=no_constant, object_pairs_hook=without_doubles)
    assert found.keys() == {"displayTimeUnit", "otherData", "traceEvents"}
    assert found["displayTimeUnit"] in ("ms", "ns")
    names = names_of(found["traceEvents"])
    spans: dict[int, list[tuple[int, int]]] = {}
    last = 0
    for event in found["traceEvents"]:
        extra = event.keys() - COMMON
        assert event.keys() >= COMMON and PHASES[event["ph"]] <= extra <= PHASES[event["ph"]] | {"args"}, event
        assert all(type(event[key]) is int and event[key] >= 0 for key in ("ts", "pid", "tid")), event
        assert type(event["name"]) is str and event["name"], event
        assert event.get("args") is None or (type(event["args"]) is dict and event["args"]), event
        if event["ph"] == "M":
            continue
        assert (event["pid"], 0) in names and (event["pid"], event["tid"]) in names, f"without a name: {event}"
        assert event["ts"] >= last, "not in order"
        last = event["ts"]
        if event["ph"] == "X":
            assert type(event["dur"]) is int and event["dur"] >= 0, event
            spans.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] == "C":
            ((_, value),) = event["args"].items()
            assert type(value) in (int, float), event
        else:
            assert event["s"] == "t", event
    for track in spans.values():
        check_nesting(track)
    return found


def names_of(events: list[dict[str, Any]]) -> dict[tuple[int, int], str]:
    """(process, 0) and (process, thread) -> name; each is named once, has a place, and a thread has one process."""
    names: dict[tuple[int, int], str] = {}
    placed, threads = [], []
    for event in events:
        if event["ph"] == "M":
            kind, what = event["name"].split("_", 1)
            place = (event["pid"], 0 if kind == "process" else event["tid"])
            ((key, value),) = event["args"].items()
            assert kind in ("process", "thread") and (key, type(value)) in (("name", str), ("sort_index", int)), event
            assert what == key and 0 < event["pid"] < 2**31 and event["tid"] < 2**31, event
            if key == "name":
                assert place not in names and value, event
                names[place] = value
                threads += [event["tid"]] if kind == "thread" else []
            else:
                placed.append(place)
    assert sorted(placed) == sorted(names) and len(set(threads)) == len(threads) and 0 not in threads
    return names


def check_nesting(spans: list[tuple[int, int]]) -> None:
    """In the file's order, each span is in the one that is open, or after it."""
    open_spans: list[int] = []
    for begin, end in spans:
        while open_spans and open_spans[-1] <= begin:
            open_spans.pop()
        assert not open_spans or end <= open_spans[-1], f"{begin} to {end} ends after what is around it"
        open_spans.append(end)


def written(trace: Trace) -> dict[str, Any]:
    trace.write()
    assert os.listdir(os.path.dirname(trace.path)) == [os.path.basename(trace.path)]
    data = Path(trace.path).read_bytes()
    return read((gzip.decompress(data) if trace.path.endswith(".gz") else data).decode("ascii"))


def events(found: Mapping[str, Any], phases: str = "XCi") -> list[dict[str, Any]]:
    """The events of a file, each with the names of its process and thread in place of their numbers."""
    names = names_of(found["traceEvents"])
    return [
        {**event, "pid": names[event["pid"], 0], "tid": names[event["pid"], event["tid"]]}
        for event in found["traceEvents"]
        if event["ph"] in phases
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ts", 1.5),
        ("ts", -1),
        ("ts", True),
        ("ph", "B"),
        ("pid", 9),
        ("tid", 9),
        ("tid", "1"),
        ("name", ""),
        ("dur", -1),
        ("dur", 21),
        ("cat", "x"),
        ("args", {}),
        ("args", []),
        ("ts", 9),
    ],
)
def test_reader_refuses_what_is_wrong(tmp_path: Path, key: str, value: Any) -> None:
    trace = at_zero(tmp_path)
    trace.span(TRAIN, "outer", 10e-6, 30e-6)
    trace.span(TRAIN, "inner", 10e-6, 20e-6)
    found = written(trace)
    inner = found["traceEvents"][-1]
    assert inner["name"] == "inner" and inner["dur"] <= 10
    inner[key] = value
    with pytest.raises((AssertionError, KeyError)):
        read(json.dumps(found))


def at_zero(folder: Path, **arguments: Any) -> Trace:
    """A trace that began when ``time.monotonic()`` was 0."""
    trace = Trace(folder / "out.json", **arguments)
    trace._begin = 0.0
    return trace


# -- what is recorded --------------------------------------------------------------------------------------------------


def test_events_are_written_as_they_were(tmp_path: Path) -> None:
    trace = at_zero(tmp_path, title="reader")
    trace.span(TRAIN, "run", 3.0, 4.25, {"step": 7})
    trace.span(("files", "p/files-1"), "python", 1.0, 2.0)
    trace.counter("words", {"size": 5}, 2.5)
    found = written(trace)
    assert events(found) == [
        {"ph": "X", "pid": "files", "tid": "p/files-1", "name": "python", "ts": 1_000_000, "dur": 1_000_000},
        {"ph": "C", "pid": "reader", "tid": "events", "name": "words", "ts": 2_500_000, "args": {"size": 5}},
        {
            "ph": "X",
            "pid": "train",
            "tid": "p/train-0",
            "name": "run",
            "ts": 3_000_000,
            "dur": 1_250_000,
            "args": {"step": 7},
        },
    ]
    assert found["otherData"] == {
        "producer": "tf1sessions",
        "title": "reader",
        "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(trace._begin_clock)),
        "dropped_events": 0,
    }


def test_times_are_from_the_start_of_the_trace(tmp_path: Path) -> None:
    before = time.monotonic()
    trace = Trace(tmp_path / "out.json")
    after = time.monotonic()
    trace.span(TRAIN, "now", after + 1.0, after + 2.0)
    (event,) = events(written(trace))
    assert 1_000_000 - 1 <= event["ts"] <= (after + 1.0 - before) * 1e6


def test_what_began_before_the_trace_is_cut_off(tmp_path: Path) -> None:
    trace = at_zero(tmp_path)
    trace.span(TRAIN, "both", -2.0, 1.0)
    trace.span(TRAIN, "before", -2.0, -1.0)
    assert [(event["name"], event["ts"], event["dur"]) for event in events(written(trace))] == [
        ("both", 0, 1_000_000),
        ("before", 0, 0),
    ]


def test_threads_of_a_stage_are_in_one_process_and_stages_in_the_order_of_time(tmp_path: Path) -> None:
    trace = at_zero(tmp_path)
    for number, track in enumerate([("b", "b-0"), ("a", "same"), ("b", "b-1"), ("c", "same")]):
        trace.span(track, "run", number, number + 1)
    found = written(trace)
    assert [(event["pid"], event["tid"]) for event in events(found)] == [
        *[("b", "b-0"), ("a", "same"), ("b", "b-1"), ("c", "same")]
    ]
    processes = {event["pid"]: event["args"] for event in found["traceEvents"] if event["name"] == "process_sort_index"}
    assert [processes[number]["sort_index"] for number in sorted(processes)] == [1, 2, 3, 4]
    assert [event["args"]["name"] for event in found["traceEvents"] if event["name"] == "process_name"] == [
        *["pipeline", "b", "a", "c"]
    ]


def test_an_empty_trace_is_one(tmp_path: Path) -> None:
    assert events(written(Trace(tmp_path / "out.json"))) == []


@pytest.mark.parametrize("unit", [1e-9, 3.7e-7, 1e-6])
def test_rounding_keeps_what_is_nested_and_what_is_one_after_the_other(tmp_path: Path, unit: float) -> None:
    """The reader refuses what is not: the same spans with times rounded to the nearest would not pass."""
    trace = at_zero(tmp_path)
    step = 1000.0
    for number in range(200):
        begin = step + number * unit * 7
        inner = [(begin + unit * part, begin + unit * (part + 1)) for part in range(1, 6)]
        for span in inner:
            trace.span(TRAIN, "inner", *span)
        trace.span(TRAIN, "outer", begin, begin + unit * 7)
    found = events(written(trace))
    assert len(found) == 1200
    for event in found:
        assert Fraction(event["ts"]) >= 1_000_000_000 - 1


def test_of_spans_that_begin_together_the_longer_one_is_first(tmp_path: Path) -> None:
    trace = at_zero(tmp_path)
    trace.span(TRAIN, "inner", 1.0, 2.0)
    trace.span(TRAIN, "outer", 1.0, 3.0)
    assert [event["name"] for event in events(written(trace))] == ["outer", "inner"]


def test_several_numbers_are_several_counters(tmp_path: Path) -> None:
    trace = at_zero(tmp_path)
    trace.counter("words", {"size": np.int64(5), "waiting": 0.5, "rate": float("nan"), "of": float("inf")}, 1.0)
    assert [(event["name"], event["args"]) for event in events(written(trace))] == [
        ("words size", {"size": 5}),
        ("words waiting", {"waiting": 0.5}),
    ]


class Odd:
    def __str__(self) -> str:
        return "odd " * 100


def test_args_are_what_json_can_hold(tmp_path: Path) -> None:
    trace = at_zero(tmp_path)
    args = {
        "text": 'a "b"\n',
        "none": None,
        "true": True,
        "int": np.int32(3),
        "float": np.float32(0.5),
        "nan": float("nan"),
        "list": [1, (2,)],
        "dict": {3: b"c"},
        "odd": Odd(),
        "\ud800": "\ud800",
    }
    trace.span(TRAIN, 'the "name" ü', 1.0, 2.0, args)
    (event,) = events(written(trace))
    assert event["name"] == 'the "name" ü'
    assert event["args"] == {
        "text": 'a "b"\n',
        "none": None,
        "true": True,
        "int": 3,
        "float": 0.5,
        "nan": "nan",
        "list": [1, [2]],
        "dict": {"3": "b'c'"},
        "odd": ("odd " * 100)[:199] + "…",
        "\ud800": "\ud800",
    }
    assert event["args"]["true"] is True


# -- the limit ---------------------------------------------------------------------------------------------------------


def test_newest_events_are_kept_and_the_others_counted(tmp_path: Path) -> None:
    trace = at_zero(tmp_path, limit=3)
    for number in range(3):
        trace.span(TRAIN, f"run {number}", number, number + 1)
    assert [event["name"] for event in events(written(trace))] == ["run 0", "run 1", "run 2"]
    for number in range(3, 1005):
        trace.span(TRAIN, f"run {number}", number, number + 1)
    found = written(trace)
    reported = "1,002 earlier events were dropped: the trace keeps the last 3"
    assert [event["name"] for event in events(found)] == [reported, "run 1002", "run 1003", "run 1004"]
    assert events(found)[0]["ts"] == events(found)[1]["ts"]
    assert found["otherData"]["dropped_events"] == 1002


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, None, "9"])
def test_limit_is_a_positive_integer(tmp_path: Path, limit: Any) -> None:
    with pytest.raises(ConfigError, match="limit is"):
        Trace(tmp_path / "out.json", limit=limit)


# -- threads -----------------------------------------------------------------------------------------------------------


def test_threads_record_while_the_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for the file; what is recorded meanwhile is in the next one."""
    trace = at_zero(tmp_path, limit=3)
    for number in range(3):
        trace.span(TRAIN, f"{number}", number, number)
    whole, late = module._json, []

    def meanwhile(record: Mapping[str, Any]) -> str:
        if record.get("name") == "1":
            late.append(threading.Thread(target=trace.span, args=(TRAIN, "3", 3.0, 3.0)))
            late[0].start()
            late[0].join(DEADLINE)
            assert not late[0].is_alive()
        return whole(record)

    monkeypatch.setattr(module, "_json", meanwhile)
    assert [event["name"] for event in events(written(trace))] == ["0", "1", "2"]
    monkeypatch.undo()
    assert [event["name"] for event in events(written(trace))][1:] == ["1", "2", "3"]


def test_no_event_is_lost_or_counted_twice(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "out.json", limit=1000)
    barrier = threading.Barrier(4)

    def record() -> None:
        barrier.wait(DEADLINE)
        for _ in range(2000):
            trace.span(TRAIN, "tick", 1.0, 1.0)

    workers = [threading.Thread(target=record) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(DEADLINE)
    assert written(trace)["otherData"]["dropped_events"] == 7000


# -- the file ----------------------------------------------------------------------------------------------------------


def test_gz_is_compressed(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "out.json.gz")
    for number in range(1000):
        trace.span(TRAIN, "run", number, number + 1)
    assert len(events(written(trace))) == 1000
    assert os.path.getsize(trace.path) < 20_000


def test_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace(tmp_path / "out.json")
    Path(trace.path).write_text("before")
    for number in range(100):
        trace.span(TRAIN, "run", number, number + 1)
    whole, calls = module._json, []

    def fails(record: Mapping[str, Any]) -> str:
        calls.append(record)
        assert Path(trace.path).read_text() == "before"
        if len(calls) == 50:
            raise OSError("no space left on device")
        return whole(record)

    monkeypatch.setattr(module, "_json", fails)
    with pytest.raises(OSError, match="no space"):
        trace.write()
    assert Path(trace.path).read_text() == "before" and os.listdir(tmp_path) == ["out.json"]
    monkeypatch.undo()
    assert len(events(written(trace))) == 100


def test_nothing_is_written_before_write(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "out.json")
    trace.span(TRAIN, "now", time.monotonic(), time.monotonic())
    assert os.listdir(tmp_path) == []


def test_file_has_the_permissions_that_others_have(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "usual").touch()
    trace = Trace(tmp_path / "one" / "out.json")
    written(trace)
    assert os.stat(trace.path).st_mode == os.stat(tmp_path / "usual").st_mode


def test_path_is_that_of_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    trace = Trace("out.json")
    monkeypatch.chdir(tmp_path / "other")
    written(trace)
    assert (tmp_path / "here" / "out.json").exists()


def test_folder_that_is_missing_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing' is no folder.*Make it before"):
        Trace(tmp_path / "missing" / "out.json")


def test_path_that_is_a_folder_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is a folder.*path of a file"):
        Trace(tmp_path)


def test_a_pipe_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    os.mkfifo(path)
    with pytest.raises(ConfigError, match=r"out.json' is no plain file"):
        Trace(path)
    assert path.is_fifo() and os.listdir(tmp_path) == ["out.json"]


def test_a_pipe_that_appears_later_stays(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "out.json")
    os.mkfifo(trace.path)
    with pytest.raises(FileExistsError, match="no plain file"):
        trace.write()
    assert Path(trace.path).is_fifo() and os.listdir(tmp_path) == ["out.json"]


@pytest.mark.parametrize("exists", [True, False])
def test_of_a_link_the_target_is_written(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "real.json", tmp_path / "out.json"
    if exists:
        target.write_text("old")
    link.symlink_to(target)
    Trace(link).write()
    assert link.is_symlink() and "traceEvents" in target.read_text() and os.listdir(tmp_path / "far") == ["real.json"]


def test_folder_that_cannot_be_written_is_reported_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By trying: for root, and on a read-only mount, permissions do not tell."""

    def refuses(*arguments: Any, **more: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module, "open", refuses, raising=False)
    with pytest.raises(ConfigError, match=r"out.json' cannot be written: Permission denied.*where you may") as found:
        Trace(tmp_path / "out.json")
    assert isinstance(found.value.__cause__, PermissionError)


# -- of a pipeline -----------------------------------------------------------------------------------------------------


def test_pipeline_writes_its_runs_and_queues(tmp_path: Path) -> None:
    """A file at the end, with a span for each run of the session in each thread, and the sizes of the queues."""
    tf = t1.tf1
    looked = threading.Event()

    def numbers() -> Iterator[float]:
        yield from range(20)
        assert looked.wait(DEADLINE)  # not before the monitor thread has looked at the queues

    with t1.GraphSession() as gs:
        with t1.QueuePipeline(gs, name="pipe") as pipe:
            pipe.trace(tmp_path / "out.json")
            counter = pipe._flow.tracing.counter
            pipe._flow.tracing.counter = lambda *arguments: (counter(*arguments), looked.set())
            first = pipe.queue("first", capacity=4, dtypes=[tf.float32], shapes=[()])
            pipe.source(first, numbers)
            second = pipe.stage("double", lambda x: 2 * x, first, threads=2)
            pipe.work("take", second.dequeue())
            assert os.listdir(tmp_path) == []
        runs = {name: stage.runs for name, stage in pipe.statistics().stages.items()}
    found = read((tmp_path / "out.json").read_text("ascii"))
    assert found["otherData"]["title"] == "pipe"
    spans = events(found, "X")
    for stage in ("double", "take"):  # and one for each thread, that has met the end of its input
        threads = {event["tid"] for event in spans if event["pid"] == stage}
        assert sum(event["pid"] == stage for event in spans) == 20 + len(threads) == runs[stage] + len(threads)
    assert {event["tid"] for event in spans if event["pid"] == "double"} <= {"pipe/double-1", "pipe/double-2"}
    counters = events(found, "C")
    assert {event["name"] for event in counters} == {"queue first", "queue double"}
    assert all(0 <= event["args"]["items"] <= 4 for event in counters)
