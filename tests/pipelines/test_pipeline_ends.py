"""QueuePipeline: how it ends. Each error in each state of the queue, who wins, and that nothing is left then."""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import random
import re
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow
from crash_table import ACTORS, BESIDE, PRODUCERS, STATES, TEXT, Actor, Scene
from forced import (
    DEADLINE,
    Boom,
    Gate,
    descriptors,
    last_line,
    main_waits,
    nothing_leaks,
    once,
    session,
    threads_now,
    wait_for,
)
from support import PythonRun

import tf1sessions as t1
from tf1sessions.errors import ClosedError, StageError, StragglerError, UsageError
from tf1sessions.pipelines.coordinator import is_consequence
from tf1sessions.pipelines.flow import Flow
from tf1sessions.pipelines.monitor_thread import MonitorThread
from tf1sessions.sessions import session_methods

tf = t1.tf1


# -- the crash table ---------------------------------------------------------------------------------------------------


def check_error(scene: Scene, actor: Actor, caught: BaseException) -> None:
    """The error that came is the actor's, with all that is to be known about it."""
    cause: Any = caught
    if actor.stage is not None:
        assert type(caught) is StageError
        assert caught.stage == actor.stage
        if actor.item:
            assert (caught.item or "").startswith(actor.item)
        else:  # of operations, the run is known, and with one thread what it takes
            assert caught.item is None or re.fullmatch(r"(run|item) \d+|items \d+ to \d+", caught.item)
        cause = caught.__cause__
        at = f" at {caught.item}" if caught.item else ""
        assert str(caught).startswith(
            f"stage {actor.stage!r} of {scene.pipe.name} failed{at}: {type(cause).__name__}: "
        ), str(caught)
        assert TEXT in str(caught)
        again = pickle.loads(pickle.dumps(caught))
        assert (str(again), again.stage, again.item) == (str(caught), caught.stage, caught.item)
    if actor.raised:
        assert cause is scene.error
        assert last_line(cause) == actor.line
    else:
        assert isinstance(cause, scene.tf.errors.OpError) and not is_consequence(cause)
        assert TEXT in cause.message and cause.op.name == actor.operation
        if actor.stage is not None:
            shown = "".join(traceback.format_exception(caught))
            assert "tf1sessions/sessions" not in shown and shown.count("InvalidArgumentError") <= 3, shown
    context = cause.__context__ if actor.context else None
    assert type(context) is (actor.context or type(None))


#: States in which the user closes the queue, while threads of the pipeline still write to it.
CLOSED = {"closed by the user with items left", "closing behind blocked producers", "cancelled by the user"}
CASES = [pytest.param(*case, id="-".join(map(str, case))) for case in itertools.product(ACTORS, STATES, (1, 3))]


@pytest.mark.parametrize("actor_name, state_name, threads", CASES)
def test_an_error_in_each_place_and_each_state(gs: Any, actor_name: str, state_name: str, threads: int) -> None:
    before = threads_now()
    with pytest.raises((StageError, Boom, t1.tf1.errors.OpError)) as caught:
        with t1.QueuePipeline(gs) as pipe:
            scene = Scene(gs, pipe, threads, beside=state_name in BESIDE and actor_name in PRODUCERS)
            actor = ACTORS[actor_name](scene)
            STATES[state_name](scene, actor)
            scene.gate.open()
            if actor.fails is not None:
                actor.fails()
    for helper in scene.helpers:
        helper.join(DEADLINE)
    assert threads_now() <= before
    check_error(scene, actor, caught.value)
    others = getattr(caught.value, "others", ())
    assert all(is_consequence(other.__cause__ or other) for other in others), others
    stages = {other.stage for other in others if isinstance(other, StageError)}
    if actor.stage is not None and state_name == "cancelled by the user":
        assert stages == {"feeder"}
    elif actor.stage is not None and state_name in CLOSED:
        assert stages <= {"feeder", actor.stage}  # its other threads, if they were fast enough
    else:
        assert others == ()
    assert {reported.state for reported in pipe.statistics().queues.values()} <= {"cancelled", "ended"}
    assert actor.stage is None or pipe.statistics().stages[actor.stage].state == "failed"
    assert {reported.threads for reported in pipe.statistics().stages.values()} <= {0}


# -- where the main thread is ------------------------------------------------------------------------------------------

IN_THREADS = [name for name in ACTORS if not name.startswith("body")]


@pytest.mark.parametrize("place", ["run", "items"])
@pytest.mark.parametrize("actor_name", IN_THREADS)
def test_an_error_while_the_body_waits_for_a_queue(gs: Any, actor_name: str, place: str) -> None:
    with contextlib.ExitStack() as stack, pytest.raises(StageError) as caught:
        with t1.QueuePipeline(gs) as pipe:
            scene = Scene(gs, pipe, 1, beside=actor_name in PRODUCERS)
            actor = ACTORS[actor_name](scene)
            if actor_name not in PRODUCERS:  # held by a stage that waits itself
                pipe.work("feeder", scene.q.enqueue(scene.queue("nothing").dequeue()))
            STATES["empty with blocked consumers"](scene, actor)
            item = scene.queue("never").dequeue()
            stack.enter_context(once(main_waits, scene.gate.open, "the body in a run"))
            if place == "run":
                gs.run(item)
            else:
                next(pipe.items(scene.queue("ever")))
    check_error(scene, actor, caught.value)
    assert [type(other) for other in caught.value.others if not isinstance(other, tf.errors.OpError)] == []
    assert all(map(is_consequence, caught.value.others)) and len(caught.value.others) == (place == "run")


# -- who wins ----------------------------------------------------------------------------------------------------------

RIVALS = ["producer", "enqueue checked", "middle", "work", "each", "sink", "on error of a sink", "queue runner",
          "thread", "body"]  # fmt: skip


@pytest.mark.parametrize("second_name", RIVALS)
@pytest.mark.parametrize("first_name", RIVALS)
def test_the_first_error_is_raised_and_the_second_attached(gs: Any, first_name: str, second_name: str) -> None:
    if first_name == second_name == "body":
        return
    with contextlib.ExitStack() as stack, pytest.raises((StageError, Boom)) as caught:
        with t1.QueuePipeline(gs) as pipe:
            scenes = [Scene(gs, pipe, 1, prefix=prefix) for prefix in ("first_", "second_")]
            actors = [ACTORS[name](scene) for name, scene in zip((first_name, second_name), scenes, strict=True)]
            for scene, actor in zip(scenes, actors, strict=True):
                STATES["empty with blocked consumers"](scene, actor)
            stopping = pipe.coordinator.should_stop
            stack.enter_context(once(stopping, scenes[1].gate.open, "the first error"))
            scenes[0].gate.open()
            for actor in actors:
                if actor.fails is not None:
                    actor.fails()
    error = caught.value
    check_error(scenes[0], actors[0], error)
    if first_name == "body":
        assert [note.partition(":")[0] for note in error.__notes__] == ["StageError"]
        assert f"stage {actors[1].stage!r}" in error.__notes__[0] and TEXT in error.__notes__[0]
    else:
        assert len(error.others) == 1
        check_error(scenes[1], actors[1], error.others[0])


@pytest.mark.parametrize("many", [2, 20])
def test_errors_of_many_threads_at_once_are_all_reported_once(gs: Any, many: int) -> None:
    """All stand at one gate: who is first is chance, but one is, and the others are attached, each once."""
    with pytest.raises(StageError) as caught:
        with t1.QueuePipeline(gs) as pipe:
            together = threading.Barrier(many)
            errors = [Boom(f"error {number}") for number in range(many)]
            queue = pipe.queue("q", capacity=many, dtypes=[tf.int32], shapes=[()])
            pipe.source(queue, range(many))

            def fails(item: Any) -> None:
                together.wait(DEADLINE)
                raise errors[int(item)]

            pipe.sink("sink", queue, fails, threads=many, block=1)
    everything = [caught.value, *caught.value.others]
    assert {id(error.__cause__) for error in everything} == set(map(id, errors)) and len(everything) == many
    assert all(error.others == () for error in caught.value.others)
    for error in everything:  # each thread has its first item
        assert re.fullmatch(rf"item 0, (np\.int32\()?{error.__cause__.args[0][6:]}\)?", error.item), error.item


@pytest.mark.parametrize("cancel", [False, True])
def test_a_queue_that_the_user_closes_under_its_writer_is_the_error_if_there_is_no_other(gs: Any, cancel: bool) -> None:
    """Nothing else says why it has ended early: its writer has lost items."""
    with pytest.raises(StageError, match="'feeder'.*(Cancelled|closed)") as caught:
        with t1.QueuePipeline(gs) as pipe:
            scene = Scene(gs, pipe, 1)
            gate = Gate()
            scene.pipe.source(scene.q, (gate.stand(float(number)) for number in range(3)), name="feeder")
            pipe.start()
            gate.wait_for(1)
            gs.run(scene.q.close(cancel_pending_enqueues=cancel))
            gate.open()
            wait_for(pipe.coordinator.should_stop, "the feeder's error")
    assert isinstance(caught.value.__cause__, tf.errors.CancelledError) and caught.value.others == ()


# -- what cannot be closed at once, or not at all ----------------------------------------------------------------------


def test_a_close_that_waits_for_something_outside_does_not_outlast_an_error(gs: Any, monkeypatch: Any) -> None:
    """The input has ended, the queue is full, and the body waits for space in it: the close waits behind the body."""
    with pytest.raises(StageError, match="'sink'") as caught:
        with t1.QueuePipeline(gs) as pipe:
            queue = pipe.queue("q", capacity=1, dtypes=[tf.float32], shapes=[()])
            other = pipe.queue("other", capacity=1, dtypes=[tf.float32], shapes=[()])
            put = queue.enqueue(1.0)
            source, closing, sink, error = Gate(), Gate(), Gate(), Boom(TEXT)

            def items() -> Iterator[float]:
                source.stand()
                yield from ()

            def fails(item: Any) -> None:
                sink.stand()
                raise error

            def compile_call(feeds: Any, fetches: Any, targets: Any) -> Any:
                made = t1.CompiledCall(gs.session, feeds, fetches, targets)
                return (lambda: (closing.arrive(), made())[1]) if targets == [queue.end_now] else made

            monkeypatch.setattr(pipe._flow, "compile_call", compile_call)
            pipe.source(queue, items)
            pipe.source(other, [1.0])
            pipe.sink("sink", other, fails)
            gs.run(put)
            pipe.start()
            sink.wait_for(1)

            def end_of_input() -> None:
                source.open()
                closing.wait_for(1)
                sink.open()

            with once(main_waits, end_of_input, "the body in an enqueue"):
                gs.run(put)
    assert caught.value.__cause__ is error


def test_a_thread_of_the_pipeline_cannot_join_it(gs: Any) -> None:
    raised: list[BaseException] = []

    def sink(value: Any) -> None:
        for end in (pipe.join, lambda: pipe.__exit__(None, None, None)):
            with pytest.raises(UsageError, match="joined by a thread of its own, 'ends/s'") as caught:
                end()
            raised.append(caught.value)

    with t1.QueuePipeline(gs, "ends") as pipe:
        queue = pipe.queue("q", capacity=1, dtypes=[tf.float32], shapes=[()])
        pipe.source(queue, [1.0, 2.0])
        pipe.sink("s", queue, sink)
    assert len(raised) == 4


@pytest.mark.parametrize("moment", ["enter", "exit"])
def test_ctrl_c_before_the_end_begins_leaves_no_thread(gs: Any, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt), nothing_leaks():
        with monkeypatch.context() as patch:
            if moment == "enter":  # the monitor thread runs, and start() has not returned
                start = MonitorThread.start

                def interrupted(self: MonitorThread) -> None:
                    start(self)
                    raise KeyboardInterrupt

                patch.setattr(MonitorThread, "start", interrupted)
            with t1.QueuePipeline(gs) as pipe:
                if moment == "exit":
                    patch.setattr(Flow, "_end", interrupt)
                pipe.start()
    assert set(threading.enumerate()) <= before


def interrupt(*args: Any) -> Any:
    raise KeyboardInterrupt


def test_threads_that_do_not_end_are_named_with_their_place(gs: Any) -> None:
    gate = Gate()
    with pytest.raises(StragglerError) as caught:
        with t1.QueuePipeline(gs, "slow", join_secs=0.2) as pipe:
            queue = pipe.queue("q", capacity=1, dtypes=[tf.float32], shapes=[()])
            pipe.source(queue, (gate.stand(1.0) for _ in range(1)), name="reads")
            stands = tf.py_func(gate.stand, [1.0], tf.float32, name="stands")
            pipe.work("train", [queue.size(), stands])
            pipe.start()
            gate.wait_for(2)
            pipe.stop()
    reported = caught.value.threads
    gate.open()
    assert reported.keys() == {"slow/reads", "slow/train"}
    assert os.path.basename(__file__) in reported["slow/reads"] or "forced.py" in reported["slow/reads"]
    assert "'stands' (PyFunc)" in reported["slow/train"] and reported["slow/train"].startswith("waits in Session.run")
    text = str(caught.value)
    assert text.startswith("slow: 2 of its threads did not end within 0.2 s: ")
    assert all(repr(name) in text and place in text for name, place in reported.items())
    wait_for(lambda: not [each for each in threading.enumerate() if each.name.startswith("slow/")], "their end")


def test_an_error_is_raised_before_stragglers_and_has_them_attached(gs: Any) -> None:
    gate = Gate()
    with pytest.raises(StageError, match="'sink'") as caught:
        with t1.QueuePipeline(gs, "slow", join_secs=0.2) as pipe:
            queue = pipe.queue("q", capacity=1, dtypes=[tf.float32], shapes=[()])

            def items() -> Iterator[float]:
                yield 1.0
                gate.stand()

            def fails(item: Any) -> None:
                gate.wait_for(1)
                raise Boom(TEXT)

            pipe.source(queue, items, name="reads")
            pipe.sink("sink", queue, fails)
    (straggler,) = caught.value.others
    gate.open()
    assert type(straggler) is StragglerError and straggler.threads.keys() == {"slow/reads"}
    wait_for(lambda: not [each for each in threading.enumerate() if each.name.startswith("slow/")], "their end")


def test_the_bodys_error_has_stragglers_as_a_note(gs: Any) -> None:
    gate = Gate()
    with pytest.raises(Boom) as caught:
        with t1.QueuePipeline(gs, "slow", join_secs=0.2) as pipe:
            queue = pipe.queue("q", capacity=1, dtypes=[tf.float32], shapes=[()])
            pipe.source(queue, (gate.stand(1.0) for _ in range(1)), name="reads")
            pipe.start()
            gate.wait_for(1)
            raise Boom(TEXT)
    gate.open()
    (note,) = caught.value.__notes__
    assert note.startswith("StragglerError: slow: 1 of its threads did not end within 0.2 s: 'slow/reads'")
    wait_for(lambda: not [each for each in threading.enumerate() if each.name.startswith("slow/")], "their end")


def test_it_ends_when_all_of_tensorflows_own_threads_are_taken(tensorflow_has_started: None) -> None:
    """Nothing can be run then, not even what closes a queue."""
    gate = Gate()
    with session(threads=1) as gs:
        with pytest.raises(StragglerError) as caught:
            with t1.QueuePipeline(gs, "taken", join_secs=0.5) as pipe:
                queue = pipe.queue("q", capacity=1, dtypes=[tf.float32], shapes=[()])
                pipe.work("train", [queue.size(), tf.py_func(gate.stand, [1.0], tf.float32, name="stands")])
                pipe.start()
                gate.wait_for(1)
                pipe.stop()
        gate.open()
        assert "'stands' (PyFunc)" in caught.value.threads["taken/train"]
        wait_for(lambda: not [each for each in threading.enumerate() if each.name.startswith("taken/")], "their end")


# -- stop() ------------------------------------------------------------------------------------------------------------


def _in_a_producer(pipe: Any, queue: Any, stop: Callable[[], None]) -> None:
    pipe.source(queue, (stop() or 1.0 for _ in range(5)), name="stops")


def _in_an_operation(pipe: Any, queue: Any, stop: Callable[[], None]) -> None:
    pipe.work("stops", tf.py_func(lambda: stop() or 1.0, [], tf.float64))


def _in_each(pipe: Any, queue: Any, stop: Callable[[], None]) -> None:
    pipe.work("stops", tf.constant(1.0) + 1.0, each=lambda result: stop())


def _in_a_sink(pipe: Any, queue: Any, stop: Callable[[], None]) -> None:
    other = pipe.queue("other", dtypes=[tf.float32], shapes=[()])
    pipe.source(other, itertools.repeat(1.0), name="other")
    pipe.sink("stops", other, lambda item: stop())


def _in_on_error(pipe: Any, queue: Any, stop: Callable[[], None]) -> None:
    fails = tf.check_numerics(float("nan"), "no number")
    pipe.work("stops", fails, on_error=lambda error, item: stop() or "skip")


def _in_a_thread(pipe: Any, queue: Any, stop: Callable[[], None]) -> None:
    pipe.adopt(threading.Thread(target=stop, name="legacy", daemon=True))


def _by_the_coordinator(pipe: Any, queue: Any, stop: Callable[[], None]) -> None:
    pipe.adopt(threading.Thread(target=pipe.coordinator.request_stop, name="legacy", daemon=True))


def _in_the_body(pipe: Any, queue: Any, stop: Callable[[], None]) -> None:
    pipe.start()
    stop()


def _before_the_start(pipe: Any, queue: Any, stop: Callable[[], None]) -> None:
    stop()


STOPS = [_in_a_producer, _in_an_operation, _in_each, _in_a_sink, _in_on_error, _in_a_thread, _by_the_coordinator,
         _in_the_body, _before_the_start]  # fmt: skip


@pytest.mark.parametrize("place", STOPS, ids=lambda place: place.__name__[1:].replace("_", " "))
def test_stop_ends_it_without_an_error(gs: Any, place: Callable[..., None]) -> None:
    with t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("q", capacity=2, dtypes=[tf.float32], shapes=[()])
        never = pipe.queue("never", capacity=2, dtypes=[tf.float32], shapes=[()])
        pipe.source(queue, itertools.repeat(1.0), threads=2, name="fills")
        pipe.work("waits", never.dequeue(), threads=2)
        place(pipe, queue, pipe.stop)
    reported = pipe.statistics()
    assert {queue.state for queue in reported.queues.values()} == {"cancelled"}
    assert {stage.state for stage in reported.stages.values()} <= {"ended", "declared"}
    assert pipe.coordinator.should_stop()
    pipe.stop()  # again, after the end: nothing
    pipe.join()
    assert repr(pipe).split()[2] == "ended,"


def test_nothing_can_be_declared_or_started_after_the_end(gs: Any) -> None:
    with t1.QueuePipeline(gs, "over") as pipe:
        queue = pipe.queue("q", dtypes=[tf.float32], shapes=[()])
        pipe.stop()
        for call in (lambda: pipe.queue("r", dtypes=tf.float32), lambda: pipe.source(queue, [1.0]), pipe.start,
                     lambda: pipe.trace("out.json"), lambda: pipe.sink("s", queue, print)):  # fmt: skip
            with pytest.raises(ClosedError, match="^over has ended"):
                call()
    for call in (pipe.start, pipe.__enter__, lambda: pipe.queue("s", dtypes=tf.float32)):
        with pytest.raises(ClosedError, match="^over has ended"):
            call()


def test_a_session_that_is_closed_under_it(gs: Any) -> None:
    """Its threads end; what they say is no more than that."""
    with session() as closed:
        pass
    gate = Gate()
    made = t1.GraphSession()
    with made.as_default(), pytest.raises((StageError, RuntimeError)) as caught:
        with t1.QueuePipeline(made) as pipe:
            queue = pipe.queue("q", capacity=2, dtypes=[tf.float32], shapes=[()])
            pipe.source(queue, itertools.repeat(1.0))
            pipe.sink("sink", queue, gate.stand)
            pipe.start()
            gate.wait_for(1)
            made.close()
            gate.open()
    assert "closed" in str(caught.value).lower() or "cancelled" in str(caught.value).lower()
    with pytest.raises(RuntimeError, match="closed Session"):
        closed.run(1)


# -- again and again ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_300_starts_and_stops_of_all_kinds(tensorflow_has_started: None) -> None:
    """What is started is stopped in many ways, and nothing grows."""
    chance = random.Random(5)
    for _ in range(20):
        with nothing_leaks(), t1.GraphSession() as gs:  # a queue that was closed stays so: each needs another
            for number in range(15):
                before, files = threads_now(), len(descriptors())
                way = _one_start_and_stop(gs, chance, f"q{number}")
                assert threads_now() <= before and len(descriptors()) <= files, (number, way)


def _one_start_and_stop(gs: Any, chance: random.Random, name: str) -> str:
    way = chance.choice(["end", "stop", "error", "body", "steps", "cancelled"])
    kind = chance.choice(["fifo", "padding", "shuffle", "priority"])
    threads = chance.randint(1, 3)
    with contextlib.ExitStack() as stack:
        if way in ("error", "body", "cancelled"):
            stack.enter_context(pytest.raises((StageError, Boom)))
        pipe = stack.enter_context(t1.QueuePipeline(gs))
        queue = pipe.queue(name, capacity=4, dtypes=[tf.int32], shapes=[()], kind=kind)
        count = 10 if way == "end" else 10**9
        items: Any = range(count)
        pipe.source(queue, zip(items, items, strict=True) if kind == "priority" else items, threads=threads)
        if way == "steps":
            pipe.work("train", queue.dequeue(), steps=5, threads=threads)
        elif way != "cancelled":
            pipe.sink("sink", queue, lambda value: 1 // (way != "error"), threads=threads)
        if chance.random() < 0.5:
            pipe.start()
        if way == "stop":
            pipe.stop()
        elif way == "body":
            raise Boom(TEXT)
        elif way == "cancelled":  # by an operation that the pipeline knows nothing of
            pipe.start()
            gs.run(queue.close(cancel_pending_enqueues=True))
            wait_for(pipe.coordinator.should_stop, "the source's error")
    return way


# -- Ctrl-C, other signals and forks, in a process of its own ----------------------------------------------------------

FOLDER = Path(__file__).resolve().parent
INTERRUPTS = re.findall("^def (check_.*)\\(", (FOLDER / "interrupts.py").read_text("utf-8"), re.MULTILINE)

_RUN_INTERRUPTS = """
import faulthandler, importlib, os, sys, traceback
sys.path[:0] = [sys.argv[1], os.path.dirname(sys.argv[1])]
program = importlib.import_module("interrupts")
for name in sys.argv[2:]:
    faulthandler.dump_traceback_later(40, exit=True)
    try:
        getattr(program, name)()
    except BaseException:
        report(**{name: traceback.format_exc()})
    else:
        report(**{name: None})
"""


@pytest.fixture(scope="module")
def interrupts(run_python: Callable[..., PythonRun]) -> dict[str, str | None]:
    """What each scenario of interrupts.py found; of one that hangs, and those after it, nothing."""
    done = run_python(_RUN_INTERRUPTS, str(FOLDER), *INTERRUPTS, check=False, deadline=150)
    return {name: done.results.get(name, f"it has not ended:\n{done.stderr[-6000:]}") for name in INTERRUPTS}


@pytest.mark.parametrize("name", INTERRUPTS, ids=lambda name: name.removeprefix("check_").replace("_", " "))
def test_interrupts(interrupts: dict[str, str | None], name: str) -> None:
    assert interrupts[name] is None, interrupts[name]


def test_closing_the_session_does_not_wait_for_ever_for_a_straggler(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A Python function inside TensorFlow: close() would wait until it returns, and no user would see the error."""
    monkeypatch.setattr(session_methods, "CLOSE_SECS", 0.1)
    gate = Gate()
    with nothing_leaks():
        before = threads_now()
        with pytest.raises(StragglerError, match=r"'stuck' \(PyFunc") as caught:
            with t1.GraphSession() as gs, t1.QueuePipeline(gs, join_secs=0.1) as pipe:
                queue = pipe.queue("q", dtypes=[tf.float64], shapes=[()])
                pipe.source(queue, [1.0])
                pipe.work("work", tf.py_func(gate.stand, [queue.dequeue()], tf.float64, name="stuck"))
                pipe.start()
                gate.wait_for(1)
                pipe.stop()
        assert gs.closed and len(caught.value.threads) == 1
        (reported,) = [each.getMessage() for each in caplog.records if "closing a session" in each.getMessage()]
        assert "'stuck' (PyFunc" in reported
        gate.open()
        wait_for(lambda: not threads_now() - before, "its threads, and that which closes the session, have ended")


def test_what_is_left_open_ends_with_the_interpreter(run_python: Callable[..., PythonRun]) -> None:
    """A thread that is inside TensorFlow then would abort the process."""
    done = run_python(
        """
        import atexit, threading  # what is registered first is called last
        ours = ("open", "tf1sessions-close")
        left = lambda: [thread.name for thread in threading.enumerate() if thread.name.startswith(ours)]
        atexit.register(lambda: print("left at the end:", left()))
        import itertools
        import tf1sessions as t1
        gs = t1.GraphSession()
        pipe = t1.QueuePipeline(gs, "open")
        queue = pipe.queue("q", capacity=2, dtypes=[t1.tf1.int64], shapes=[()])
        pipe.source(queue, itertools.count(), threads=2)
        pipe.sink("takes", pipe.stage("passes", lambda x: x + 1, queue, threads=2), lambda item: None)
        pipe.start()
        print("running:", len(left()))

        # a session that its own Python function closes: the thread that does it waits in TensorFlow, too
        import time
        from tf1sessions.sessions import session_methods
        session_methods.CLOSE_SECS = 0.1
        close_now = session_methods._close_now
        session_methods._close_now = lambda session: (time.sleep(0.5), close_now(session))
        with t1.GraphSession() as other, other.graph.as_default():
            try:
                other.run(t1.tf1.py_func(lambda: other.close() or 1.0, [], t1.tf1.double) + 1)
            except t1.tf1.errors.CancelledError:
                pass
        """
    )
    running, left = done.stdout.splitlines()
    assert int(running.split()[-1]) >= 6 and left == "left at the end: []", done.stdout
    assert done.stderr.count("Traceback") == 0, done.stderr


# -- OutOfRangeError that is no end of input ---------------------------------------------------------------------------


def own_end(*ignored: Any) -> Any:
    """Raise what a session raises at the end of input."""
    raise tf.errors.OutOfRangeError(None, None, "the program's own")


def own_stop(*ignored: Any) -> Any:
    raise StopIteration("the program's own")


class OwnEnds:
    """An iterable, and an item, that fails so."""

    __iter__ = __next__ = __array__ = own_end


def _computed_by(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """A stage's function that calls Python, and gives items of a known shape."""
    return lambda item: tf.ensure_shape(tf.py_func(function, [item], tf.float32), ())


OWN_ENDS: dict[str, Callable[[Any, Any], Any]] = {
    "producer": lambda pipe, q: pipe.source(q, own_end, name="fails"),
    "iterator": lambda pipe, q: pipe.source(q, OwnEnds(), name="fails"),
    "item": lambda pipe, q: pipe.source(q, [1.0, OwnEnds()], name="fails"),
    "sink": lambda pipe, q: pipe.sink("fails", q, own_end),
    "each": lambda pipe, q: pipe.work("fails", q.dequeue(), each=own_end),
    "policy": lambda pipe, q: pipe.sink("fails", q, lambda item: 1 // 0, on_error=own_end),
    "thread": lambda pipe, q: pipe.adopt(threading.Thread(target=own_end), name="fails"),
    "operation of a source": lambda pipe, q: pipe.source(q, tf.py_func(own_end, [], tf.float32), name="fails"),
    "operation of a stage": lambda pipe, q: pipe.stage("fails", _computed_by(own_stop), q),
}


@pytest.mark.parametrize("place", OWN_ENDS)
def test_an_end_that_the_programs_own_code_raises_is_an_error(gs: Any, place: str) -> None:
    with pytest.raises(StageError, match="the program's own") as caught:
        with t1.QueuePipeline(gs) as pipe:
            q = pipe.queue("q", dtypes=[tf.float32], shapes=[()])
            pipe.source(q, [1.0] * 5)
            made = OWN_ENDS[place](pipe, q)
            if place not in ("sink", "each", "policy", "thread"):
                pipe.work("rest", (made or q).dequeue())
    assert caught.value.stage == "fails"


def test_an_end_of_a_sinks_own_run_is_its_error_and_can_be_skipped(gs: Any) -> None:
    following = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next()
    pairs: list[tuple[int, int]] = []
    with t1.QueuePipeline(gs) as pipe:
        q = pipe.queue("q", dtypes=[tf.int64], shapes=[()])
        pipe.source(q, range(5))
        pipe.sink("pair", q, lambda item: pairs.append((int(item), int(gs.run(following)))), on_error="skip")
    assert pairs == [(0, 0), (1, 1)]
    assert pipe.statistics().stages["pair"].skipped == 3


def _cropped(image: Any, box: Any) -> Any:
    """The first pixel of an image; an OutOfRangeError unless ``box``, the number of the image, is 0."""
    return tf.reduce_sum(tf.image.crop_and_resize(image, [[0.0, 0.0, 1.0, 1.0]], [box], [1, 1]))


def _nested(image: Any, box: Any) -> Any:
    @tensorflow.function
    def inner(image: Any, box: Any) -> Any:
        return _cropped(image, box)

    return tf.ensure_shape(inner(image, box), ())


def _restored(folder: Path) -> Any:
    """The value of a checkpoint whose data file is cut off: TensorFlow reads less than there should be."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("v", initializer=[1.0] * 100)
        sess.run(tf.global_variables_initializer())
        saved = tf.train.Saver().save(sess, str(folder / "cut"))
    data = Path(f"{saved}.data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:10])
    return tf.raw_ops.RestoreV2(prefix=saved, tensor_names=["v"], shape_and_slices=[""], dtypes=[tf.float32])[0]


@pytest.mark.parametrize("made_by", [_cropped, _nested])
@pytest.mark.parametrize("policy", ["stop", "skip"])
def test_an_operation_that_hands_out_nothing_does_not_end_a_stage(gs: Any, made_by: Any, policy: str) -> None:
    boxes, found = [0, 0, 1, 0, 0], []
    with pytest.raises(StageError) if policy == "stop" else contextlib.nullcontext() as caught:
        with t1.QueuePipeline(gs) as pipe:
            q = pipe.queue("q", dtypes=[tf.float32, tf.int32], shapes=[(1, 2, 2, 1), ()])
            pipe.source(q, [([[[[1.0], [1.0]], [[1.0], [1.0]]]], box) for box in boxes])
            found = [float(item) for item in pipe.items(pipe.stage("crop", made_by, q, on_error=policy))]
    if caught is not None:
        assert caught.value.stage == "crop" and "box_ind" in str(caught.value.__cause__)
    else:
        assert found == [1.0] * 4 and pipe.statistics().stages["crop"].skipped == 1


@pytest.mark.parametrize("way", ["a run in a generator", "an operation", "an eager operation"])
def test_a_file_that_is_cut_off_does_not_end_a_source(gs: Any, tmp_path: Path, way: str) -> None:
    value = tf.ensure_shape(_restored(tmp_path), (100,))

    def produced() -> Iterator[Any]:
        yield gs.run(value)

    def computed() -> Iterator[Any]:
        with tensorflow.init_scope():
            image, box = tensorflow.ones([1, 2, 2, 1]), tensorflow.ones([1, 4])
            yield tensorflow.image.crop_and_resize(image, box, [1], [1, 1]).numpy()

    made = {"an operation": value, "an eager operation": computed}.get(way, produced)
    with pytest.raises(StageError) as caught:
        with t1.QueuePipeline(gs) as pipe:
            q = pipe.queue("q", dtypes=[tf.float32], shapes=[(100,)])
            pipe.source(q, made, name="fails")
            assert list(pipe.items(q)) == []
    assert caught.value.stage == "fails" and isinstance(caught.value.__cause__, tf.errors.OutOfRangeError)


@pytest.mark.parametrize("way", ["a run in a generator", "an operation that calls Python"])
def test_the_end_of_a_data_set_or_of_a_function_ends_a_source(gs: Any, way: str) -> None:
    following = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    rows = iter(range(3))

    def produced() -> Iterator[Any]:
        while True:
            yield gs.run(following)

    with t1.QueuePipeline(gs) as pipe:
        q = pipe.queue("q", dtypes=[tf.int64], shapes=[()])
        own = tf.ensure_shape(tf.py_func(lambda: next(rows), [], tf.int64), ())
        pipe.source(q, own if way.startswith("an") else produced)
        assert [int(item) for item in pipe.items(q)] == [0, 1, 2]
