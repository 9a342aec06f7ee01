"""QueuePipeline: what is reported while it runs and after it: stalls, statistics, the bottleneck, the trace."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import gzip
import json
import logging
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from forced import Boom, Gate, empty, full
from support import wait_for

import tf1sessions as t1
from tf1sessions.errors import ClosedError, ConfigError, StageError, StallError
from tf1sessions.pipelines.coordinator import is_consequence
from tf1sessions.sessions.watchdog import watchdog

tf = t1.tf1

STALL_SECS = 0.05


def numbers(pipe: Any, name: str = "q", capacity: int = 2, **settings: Any) -> Any:
    return pipe.queue(name, capacity=capacity, dtypes=[tf.int64], shapes=[()], **settings)


# -- stalls ------------------------------------------------------------------------------------------------------------


def full_by_operations(gs: Any, pipe: Any) -> None:
    queue = numbers(pipe)
    pipe.source(queue, queue.enqueue(np.int64(1)), name="puts")


def full_by_python(gs: Any, pipe: Any) -> None:
    pipe.source(numbers(pipe), iter(lambda: 1, None), name="puts")


def full_with_a_reader_that_does_not_read(gs: Any, pipe: Any) -> None:
    queue, other = numbers(pipe), numbers(pipe, "other")
    pipe.source(queue, queue.enqueue(np.int64(1)), name="puts")
    pipe.work("both", other.dequeue() + queue.dequeue())


def full_with_a_reader_that_has_ended(gs: Any, pipe: Any) -> None:
    queue = numbers(pipe)
    pipe.source(queue, queue.enqueue(np.int64(1)), name="puts")
    pipe.work("takes", queue.dequeue(), steps=3)


def nothing_feeds(gs: Any, pipe: Any) -> None:
    pipe.work("takes", numbers(pipe).dequeue())


def nothing_feeds_a_sink(gs: Any, pipe: Any) -> None:
    pipe.sink("takes", numbers(pipe), print)


def a_writer_that_does_not_write(gs: Any, pipe: Any) -> None:
    queue, other = numbers(pipe), numbers(pipe, "other")
    pipe.work("takes", queue.dequeue())
    pipe.work("passes", queue.enqueue(other.dequeue()))


def more_than_will_come(gs: Any, pipe: Any) -> None:
    queue = numbers(pipe, capacity=10)
    with gs.graph.as_default():
        put = queue.enqueue_many(np.arange(3))
    gs.run(put)
    pipe.work("takes", queue.dequeue_many(8))


def more_than_a_runner_brings(gs: Any, pipe: Any) -> None:
    """Its own close operation does nothing, so its end is no one's end of input."""
    queue = numbers(pipe, capacity=10)
    variable = tf.get_variable("count", initializer=np.int64(0), use_resource=False)
    put = queue.enqueue(tf.count_up_to(variable, 3))
    gs.initialize()
    pipe.adopt(tf.train.QueueRunner(queue.queue, [put], close_op=tf.no_op(), cancel_op=tf.no_op()), name="brings")
    pipe.start()
    wait_for(lambda: pipe.statistics().stages["brings"].state == "ended", "the end of the runner")
    pipe.work("takes", queue.dequeue_many(8))


def a_stage_that_waits_for_a_batch(gs: Any, pipe: Any) -> None:
    queue = numbers(pipe, capacity=10)
    pipe.stage("takes", lambda x: x, queue, batch=4)


NO_READER = "no stage of the pipeline reads from it"
NO_WRITER = "no stage of the pipeline writes to it"
FULL = "space in queue 'q', which is full with . items"
HELD = "besides those that this run has taken"
STALLS: list[tuple[Callable[[Any, Any], None], str, str]] = [
    (full_by_operations, "puts", f"{FULL}; {NO_READER}"),
    (full_by_python, "puts", f"{FULL}; {NO_READER}"),
    (full_with_a_reader_that_does_not_read, "puts", f"{FULL}; 'both' reads from it"),
    (full_with_a_reader_that_has_ended, "puts", f"{FULL}; 'takes' reads from it no more"),
    (nothing_feeds, "takes", f"1 item of queue 'q', which has 0; {NO_WRITER}"),
    (nothing_feeds_a_sink, "takes", f"1 item of queue 'q', which has 0; {NO_WRITER}"),
    (a_writer_that_does_not_write, "takes", "1 item of queue 'q', which has 0; 'passes' writes to it"),
    (more_than_will_come, "takes", f"8 items of queue 'q', which has 0 {HELD}; {NO_WRITER}"),
    (more_than_a_runner_brings, "takes", f"8 items of queue 'q', which has 0 {HELD}; 'brings' writes to it no more"),
    (a_stage_that_waits_for_a_batch, "takes", f"4 items of queue 'q', which has 0 {HELD}; {NO_WRITER}"),
]
IDS = [declare.__name__.replace("_", " ") for declare, _, _ in STALLS]


def warnings_of(caplog: Any) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "tf1sessions"]


def recorded_statistics(pipe: Any) -> list[t1.PipelineStatistics]:
    """Everything that the pipeline's observer takes as its statistics from now on."""
    taken: list[t1.PipelineStatistics] = []
    observer = pipe._flow.observer
    take = observer.statistics

    def recorded() -> t1.PipelineStatistics:
        taken.append(take())
        return taken[-1]

    observer.statistics = recorded
    return taken


@pytest.mark.parametrize("declare, stage, text", STALLS, ids=IDS)
def test_a_stall_is_reported_with_the_state_of_everything(
    gs: Any, caplog: Any, declare: Any, stage: str, text: str
) -> None:
    about = re.compile(rf"^stalls: stage '{stage}' has waited \d+\.\d s for {text}\.\n", re.MULTILINE)
    with t1.QueuePipeline(gs, "stalls", stall_secs=STALL_SECS) as pipe:
        declare(gs, pipe)
        taken = recorded_statistics(pipe)
        pipe.start()
        wait_for(lambda: any(map(about.match, warnings_of(caplog))), "a warning")
        now = pipe.statistics()
        pipe.stop()
    (warning,) = filter(about.match, warnings_of(caplog))
    _reported, _, rest = warning.partition("\n")
    statistics = next(each for each in taken if str(each) == rest)
    assert list(statistics.queues) == list(now.queues) and list(statistics.stages) == list(now.stages)
    assert re.search(rf"^{stage} .*waits for (items of|space in) 'q'", rest, re.MULTILINE), rest
    assert {record.levelno for record in caplog.records if record.name == "tf1sessions"} == {logging.WARNING}


@pytest.mark.parametrize("declare, stage, text", STALLS, ids=IDS)
def test_a_stall_can_stop_it(gs: Any, caplog: Any, declare: Any, stage: str, text: str) -> None:
    with pytest.raises(StallError) as caught:
        with t1.QueuePipeline(gs, "stalls", stall_secs=STALL_SECS, on_stall="stop") as pipe:
            declare(gs, pipe)
            gs.run(numbers(pipe, "never").dequeue())  # starts it
    error = caught.value
    assert isinstance(error, TimeoutError) and error.__cause__ is None
    # Which is reported first, of those that wait for each other, is chance.
    assert re.match(r"stalls: stage '\w+' has waited \d+\.\d s for ", str(error))
    assert set(error.statistics.stages) == set(pipe.statistics().stages) and str(error.statistics) in str(error)
    assert all(isinstance(other, StallError) or is_consequence(other) for other in error.others)
    assert warnings_of(caplog) == []


def test_a_wait_is_reported_once(gs: Any, caplog: Any) -> None:
    """And by the pipeline alone: not by the session's watchdog, too."""
    with t1.QueuePipeline(gs, "stalls", stall_secs=STALL_SECS) as pipe:
        queue = numbers(pipe)
        pipe.work("takes", queue.dequeue())
        pipe.start()
        wait_for(lambda: warnings_of(caplog), "a warning")
        (call,) = watchdog.calls()
        ticks = Gate()
        look = pipe._flow.observer.look

        def counted(calls: Any) -> None:
            look(calls)
            ticks.arrive()

        pipe._flow.observer.look = counted
        ticks.wait_for(10)
        assert len(warnings_of(caplog)) == 1 and call.named
        # A new wait is another one.
        with gs.graph.as_default():
            gs.run(queue.enqueue(np.int64(1)))
        wait_for(lambda: len(warnings_of(caplog)) == 2, "another warning")
        pipe.stop()


def test_a_pipeline_that_moves_does_not_stall(gs: Any, caplog: Any) -> None:
    """Each run ends in time, all of them together do not."""
    gate = Gate()
    with t1.QueuePipeline(gs, "moves", stall_secs=30.0) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(50))
        pipe.sink("takes", queue, lambda item: gate.arrive())
    gate.wait_for(50)
    assert warnings_of(caplog) == []


# -- statistics --------------------------------------------------------------------------------------------------------


def test_statistics_of_what_has_not_begun(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(5), name="in")
        pipe.work("out", queue.dequeue())
        reported = pipe.statistics()
        assert (reported.queues["q"].size, reported.queues["q"].state, reported.queues["q"].capacity) == (0, "open", 2)
        assert (reported.queues["q"].writers, reported.queues["q"].readers) == (("in",), ("out",))
        for name, kind in (("in", "source"), ("out", "work")):
            stage = reported.stages[name]
            assert (stage.kind, stage.state, stage.threads, stage.runs, stage.items) == (kind, "declared", 0, 0, 0)
            assert (stage.secs, stage.busy, stage.items_per_sec, dict(stage.waiting_secs)) == (0.0, 0.0, 0.0, {})
        assert reported.bottleneck is None
        pipe.stop()


def test_statistics_are_a_picture_that_does_not_change(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(5))
        pipe.work("out", queue.dequeue())
        before = pipe.statistics()
    assert before.stages["out"].runs == 0 and pipe.statistics().stages["out"].runs == 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        before.bottleneck = "out"
    with pytest.raises(TypeError):
        before.stages["more"] = None
    assert pipe.statistics() is pipe.statistics()


def test_what_each_thread_does_now(gs: Any) -> None:
    """In Python it is a line of the program's, in TensorFlow a queue or a run."""
    stands, runs = Gate(), Gate()
    with t1.QueuePipeline(gs, "doing") as pipe:
        short, empty_one, long = numbers(pipe, "short"), numbers(pipe, "empty_one"), numbers(pipe, "long", 100)
        pipe.source(long, (stands.stand(number) for number in range(1)), name="stands")
        pipe.source(short, short.enqueue(np.int64(1)), threads=2, name="puts")
        pipe.work("takes", empty_one.dequeue())
        pipe.work("runs", tf.py_func(runs.stand, [np.int64(1)], tf.int64), steps=1)
        pipe.start()
        stands.wait_for(1)
        runs.wait_for(1)
        full(gs, pipe, short, "puts", 2)
        empty(gs, pipe, empty_one, "takes")
        doing = lambda: {name: reported.doing for name, reported in pipe.statistics().stages.items()}  # noqa: E731
        wait_for(
            lambda: "waits" in str(doing()["takes"]) and str(doing()["puts"]).count("waits") == 2,
            "a look of the monitor thread",
        )
        reported = doing()
        assert reported["puts"] == ("waits for space in 'short'",) * 2
        assert reported["takes"] == ("waits for items of 'empty_one'",)
        assert reported["runs"] == ("runs",)
        assert re.fullmatch(r"is at .*(forced|test_pipeline_observed)\.py:\d+", reported["stands"][0])
        table = str(pipe.statistics())
        stands.open()
        runs.open()
        pipe.stop()
    lines = table.splitlines()
    assert [line.split()[:1] for line in lines[:5]] == [["queue"], ["short"], ["empty_one"], ["long"], []]
    assert re.match(r"short +2 +2  open +\d+% +\d+%  puts +no stage", lines[1])
    assert lines[5].split()[:3] == ["stage", "kind", "state"]
    assert [line.split()[0] for line in lines[6:]][: len(reported)] == list(reported)
    assert {stage.doing for stage in pipe.statistics().stages.values()} == {()}


def test_what_a_stage_waits_for_is_counted(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue, never = numbers(pipe), numbers(pipe, "never")
        pipe.source(queue, queue.enqueue(np.int64(1)), threads=2, name="puts")
        pipe.work("takes", never.dequeue())
        pipe.start()
        waiting = lambda name: pipe.statistics().stages[name].waiting_secs  # noqa: E731
        wait_for(lambda: waiting("puts").get("q", 0) > 0.2 and waiting("takes").get("never", 0) > 0.1, "some waiting")
        reported = pipe.statistics()
        assert reported.queues["q"].full > 0.5 and reported.queues["never"].empty == 1.0
        assert 0.0 < reported.queues["q"].mean_size <= 2.0 and reported.queues["never"].mean_size == 0.0
        pipe.stop()
    reported = pipe.statistics()
    for name in ("puts", "takes"):
        stage = reported.stages[name]
        assert 0 < sum(stage.waiting_secs.values()) <= stage.secs
        assert stage.busy == pytest.approx(1.0 - sum(stage.waiting_secs.values()) / stage.secs)


@pytest.mark.parametrize("place", ["producer", "operation", "middle", "sink", "each"])
def test_the_bottleneck_is_who_all_others_wait_for(gs: Any, place: str) -> None:
    """in ─▶ a ─▶ middle ─▶ b ─▶ out: one stands at a gate, those before it wait for space, those after it for items."""
    gate = Gate()
    with t1.QueuePipeline(gs, block=1) as pipe:

        def stand(name: str, value: Any) -> Any:
            return gate.stand(value) if name == place else value

        def operation(name: str, value: Any) -> Any:
            if name != place:
                return value
            made = tf.py_func(gate.stand, [value], tf.int64)
            made.set_shape(())
            return made

        first = numbers(pipe, "a")
        if place == "operation":
            pipe.source(first, first.enqueue(operation("operation", np.int64(1))), name="in")
        else:
            pipe.source(first, (stand("producer", number) for number in range(10**6)), name="in")
        second = pipe.stage("middle", lambda x: operation("middle", x), first)
        if place == "sink":
            pipe.sink("out", second, lambda item: stand("sink", item))
        else:
            pipe.work("out", second.dequeue(), each=lambda item: stand("each", item))
        pipe.start()
        gate.wait_for(1)
        wanted = {"producer": "in", "operation": "in", "middle": "middle"}.get(place, "out")
        wait_for(lambda: pipe.statistics().bottleneck == wanted, f"the bottleneck {wanted}")
        assert str(pipe.statistics()).splitlines()[-1] == f"bottleneck: {wanted}"
        pipe.stop()
        gate.open()


def test_no_bottleneck_where_all_wait(gs: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        for name in ("one", "two"):
            pipe.work(name, numbers(pipe, f"q_{name}").dequeue())
        pipe.start()
        waiting = lambda: pipe.statistics().stages  # noqa: E731
        wait_for(lambda: all(sum(each.waiting_secs.values()) > 0.4 for each in waiting().values()), "some waiting")
        assert pipe.statistics().bottleneck is None
        pipe.stop()


def test_statistics_when_the_session_was_closed(tensorflow_has_started: None) -> None:
    with t1.GraphSession() as gs:
        with t1.QueuePipeline(gs) as pipe:
            queue = numbers(pipe)
            pipe.source(queue, range(5))
            pipe.work("out", queue.dequeue(), steps=3)
    reported = pipe.statistics()
    assert reported.stages["out"].runs == 3 and reported.queues["q"].size is not None and "out" in str(reported)


def test_statistics_from_many_threads_while_it_runs(gs: Any) -> None:
    """They never fail, and what they count never goes back."""
    with t1.QueuePipeline(gs) as pipe, concurrent.futures.ThreadPoolExecutor(3) as executor:
        queue = numbers(pipe)
        pipe.source(queue, range(10**9))
        pipe.work("out", queue.dequeue(), steps=300, threads=2)

        def look() -> bool:
            last = -1
            while last < 300:
                runs = pipe.statistics().stages["out"].runs
                assert last <= runs
                last = runs
            return True

        looks = [executor.submit(look) for _ in range(3)]
        pipe.start()
        assert [each.result(30.0) for each in looks] == [True] * 3


# -- the trace ---------------------------------------------------------------------------------------------------------


def read_trace(path: Any) -> list[dict[str, Any]]:
    text = gzip.open(path, "rt").read() if str(path).endswith(".gz") else path.read_text("utf-8")
    events: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    return events


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_a_trace_has_runs_by_stage_and_thread_and_the_queues(gs: Any, tmp_path: Any, name: str) -> None:
    path = tmp_path / name
    gate = Gate()
    with t1.QueuePipeline(gs, "traced") as pipe:
        pipe.trace(path)
        queue = numbers(pipe)
        pipe.source(queue, range(6), name="in", block=1)
        pipe.work("train", queue.dequeue(), threads=2, each=lambda item: gate.stand() if item == 3 else None)
        pipe.start()
        gate.wait_for(1)
        wait_for(lambda: pipe.statistics().queues["q"].mean_size >= 0.0 and _sampled(pipe), "a sample")
        assert not path.exists()
        gate.open()
    events = read_trace(path)
    processes = {each["pid"]: each["args"]["name"] for each in events if each["name"] == "process_name"}
    threads = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
    assert set(processes.values()) == {"traced", "in", "train"}
    spans = [each for each in events if each["ph"] == "X"]
    by_stage = [processes[each["pid"]] for each in spans]
    assert by_stage.count("in") == 6 and 6 <= by_stage.count("train") <= 8  # two that found the end of the input
    assert {threads[each["tid"]] for each in spans} <= {"traced/in-enqueues", "traced/train-1", "traced/train-2"}
    assert {each["name"] for each in spans} == {"run"} and all(each["dur"] >= 0 for each in spans)
    counters = [each for each in events if each["ph"] == "C"]
    assert {each["name"] for each in counters} == {"queue q"}
    assert all(0 <= each["args"]["items"] <= 2 for each in counters)


def _sampled(pipe: Any) -> bool:
    return pipe._flow.observer._seen["q"].samples > 1 if pipe._flow.observer._seen else False


def test_a_trace_of_a_pipeline_that_fails_is_written(gs: Any, tmp_path: Any) -> None:
    path = tmp_path / "out.json"
    with pytest.raises(StageError):
        with t1.QueuePipeline(gs) as pipe:
            queue = numbers(pipe)

            def producer() -> Iterator[int]:
                yield 1
                raise Boom("in the producer")

            pipe.source(queue, producer)
            pipe.trace(path)
            pipe.work("train", queue.dequeue())
    assert any(each["ph"] == "X" for each in read_trace(path))


def test_a_trace_that_begins_later(gs: Any, tmp_path: Any) -> None:
    path = tmp_path / "out.json"
    gate = Gate()
    with t1.QueuePipeline(gs) as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(10), name="in")
        pipe.work("train", queue.dequeue(), each=lambda item: gate.stand() if item == 5 else None)
        pipe.start()
        gate.wait_for(1)
        pipe.trace(path)
        gate.open()
    processes = {each["pid"]: each["args"]["name"] for each in read_trace(path) if each["name"] == "process_name"}
    runs = [processes[each["pid"]] for each in read_trace(path) if each["ph"] == "X"]
    assert 4 <= runs.count("train") <= 5


def test_a_trace_that_cannot_be_written(gs: Any, tmp_path: Any) -> None:
    with t1.QueuePipeline(gs) as pipe:
        with pytest.raises(ConfigError, match="is no folder"):
            pipe.trace(tmp_path / "nowhere" / "out.json")
        with pytest.raises(ConfigError, match="is a folder"):
            pipe.trace(tmp_path)
    with pytest.raises(ClosedError):
        pipe.trace(tmp_path / "out.json")
    # Found only at the end: it is reported, and hides no error.
    for fails in (False, True):
        folder = tmp_path / str(fails)
        folder.mkdir()
        with pytest.raises(StageError if fails else OSError) as caught:
            with t1.QueuePipeline(gs) as pipe:
                queue = numbers(pipe, f"q_{fails}")
                pipe.source(queue, range(3))
                pipe.sink("sink", queue, lambda item, divisor=1 - fails: 1 // divisor)
                pipe.trace(folder / "out.json")
                folder.rmdir()
        assert not fails or [type(other) for other in caught.value.others] == [FileNotFoundError]


# -- what is said at the end ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reader", ["items", "sink", "work", "stage", "break"])
def test_what_was_read_to_its_end_is_not_cancelled(gs: Any, reader: str) -> None:
    with t1.QueuePipeline(gs, "clean") as pipe:
        queue = numbers(pipe)
        pipe.source(queue, range(10), name="puts")
        if reader == "sink":
            pipe.sink("takes", queue, lambda item: None)
        elif reader == "work":
            pipe.work("takes", queue.dequeue())
        else:
            read = pipe.stage("takes", lambda x: 2 * x, queue) if reader == "stage" else queue
            for item in pipe.items(read):
                if reader == "break" and item == 3:
                    break
    queues = pipe.statistics().queues
    assert {reported.state for reported in queues.values()} == ({"cancelled"} if reader == "break" else {"ended"})
    assert queues["q"].readers == (("items()",) if reader in ("items", "break") else ("takes",))
    assert reader != "stage" or queues["takes"].readers == ("items()",)
    assert "nobody" not in str(pipe.statistics())


@pytest.mark.parametrize(
    ("batch", "threads", "at"), [(None, 1, "item 3"), (2, 1, "items 2 to 3"), (None, 3, r"run \d")], ids=str
)
def test_error_of_an_operation_names_item_and_line_and_is_short(
    gs: Any, batch: int | None, threads: int, at: str
) -> None:
    with pytest.raises(StageError) as caught, t1.QueuePipeline(gs, "pipe") as pipe:
        queue = numbers(pipe)
        pipe.source(queue, [0, 1, 2, 9, 0, 1], name="puts")
        looked_up = pipe.stage("looks", lambda x: tf.gather([1.0, 2.0, 3.0], x), queue, batch=batch, threads=threads)
        list(pipe.items(looked_up))
    line = test_error_of_an_operation_names_item_and_line_and_is_short.__code__.co_firstlineno + 9
    assert re.fullmatch(
        rf"stage 'looks' of pipe failed at {at}: InvalidArgumentError: indices.* = 9 is not in \[0, 3\) "
        rf"\(operation '.*GatherV2.*', made at {re.escape(__file__)}:{line}\)",
        str(caught.value),
    ), str(caught.value)
    assert re.fullmatch(at, caught.value.item or "")
    shown = "".join(traceback.format_exception(caught.value))
    frames = re.findall(r'^  File "(.*?)", line', shown.partition("The above exception")[2], re.MULTILINE)
    assert len([path for path in frames if "tf1sessions/pipelines" in path]) == 1  # where it is raised
    assert "tf1sessions/sessions" not in shown and "During handling" not in shown
