"""Ctrl-C in all the places where the main thread can be; run by test_pipeline_ends.py in a process of its own.

Each scenario is a function whose name begins with ``check_``; a second thread sends the signal once the main thread is
where it is to be.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from forced import DEADLINE, Gate, nothing_leaks, session
from support import wait_for

import tf1sessions as t1
from tf1sessions.sessions.watchdog import watchdog

tf = t1.tf1
MAIN = threading.main_thread()

with session() as _first:  # what TensorFlow opens once is no leak
    _first.run(tf.py_func(lambda: 1.0, [], tf.float64))


def wake_up_descriptor() -> int:
    number = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(number)
    return number


@contextlib.contextmanager
def interrupted(*conditions: Callable[[], Any], number: int = signal.SIGINT) -> Iterator[None]:
    """Sends the signal each time the next condition is met; the block raises a KeyboardInterrupt, if it is SIGINT."""

    def send() -> None:
        for position, condition in enumerate(conditions):
            wait_for(condition, f"condition {position}")
            os.kill(os.getpid(), number)

    before = wake_up_descriptor()
    with nothing_leaks(), session() as gs:
        interrupted.gs = gs  # type: ignore[attr-defined]
        sender = threading.Thread(target=send, name="sends", daemon=True)
        sender.start()
        try:
            yield
        except KeyboardInterrupt:
            assert number == signal.SIGINT
        else:
            assert number != signal.SIGINT, "no KeyboardInterrupt"
        sender.join(DEADLINE)
        assert not sender.is_alive()
        assert wake_up_descriptor() == before, "the wake-up descriptor is not what it was"


def main_runs() -> bool:
    return watchdog.call_of(MAIN.ident) is not None


def left(pipe: Any) -> Callable[[], bool]:
    """Whether the main thread waits for works: it has left the body, and has let the lock go."""

    def waits() -> bool:
        flow = pipe[0]._flow if pipe else None
        if flow is None or not flow._body_left:
            return False
        with flow._changed:
            return True

    return waits


def blocked_pipeline(pipe: Any) -> Any:
    """A pipeline all of whose threads wait: for items, for space."""
    empty = pipe.queue("empty", capacity=2, dtypes=[tf.float32], shapes=[()])
    full = pipe.queue("full", capacity=2, dtypes=[tf.float32], shapes=[()])
    pipe.source(full, iter(lambda: 1.0, None), threads=2)
    pipe.source(full, full.enqueue(1.0), threads=2, name="puts")
    pipe.work("train", empty.dequeue(), threads=2)
    pipe.sink("sink", empty, print, threads=2)
    pipe.stage("middle", lambda x: x, empty, batch=2)
    return empty


def check_in_a_run_of_a_dequeue_that_nothing_feeds() -> None:
    with interrupted(main_runs):
        with t1.QueuePipeline(interrupted.gs) as pipe:
            item = blocked_pipeline(pipe).dequeue()
            interrupted.gs.run(item)
            raise AssertionError("the run came back")


def check_in_a_run_before_anything_is_declared() -> None:
    with interrupted(main_runs):
        with t1.QueuePipeline(interrupted.gs) as pipe:
            interrupted.gs.run(pipe.queue("empty", dtypes=[tf.float32]).dequeue())


def check_in_a_run_behind_a_full_queue() -> None:
    with interrupted(main_runs):
        with t1.QueuePipeline(interrupted.gs) as pipe:
            queue = pipe.queue("q", capacity=1, dtypes=[tf.float32], shapes=[()])
            put = queue.enqueue(1.0)
            interrupted.gs.run(put)
            interrupted.gs.run(put)


def check_in_a_close_that_waits() -> None:
    with interrupted(main_runs):
        with t1.QueuePipeline(interrupted.gs) as pipe:
            queue = pipe.queue("q", capacity=1, dtypes=[tf.float32], shapes=[()])
            pipe.source(queue, queue.enqueue(1.0), threads=2, name="puts")
            close = queue.close()
            pipe.start()
            wait_for(lambda: len(watchdog.calls()) == 2 and pipe.statistics().stages["puts"].runs == 1, "a full queue")
            interrupted.gs.run(close)


def check_in_items() -> None:
    with interrupted(main_runs):
        with t1.QueuePipeline(interrupted.gs) as pipe:
            blocked_pipeline(pipe)
            for _ in pipe.items(pipe.queue("alone", dtypes=[tf.float32], shapes=[()])):
                raise AssertionError("an item came")


def check_while_it_waits_for_works() -> None:
    made: list[Any] = []
    with interrupted(left(made)):
        with t1.QueuePipeline(interrupted.gs) as pipe:
            blocked_pipeline(pipe)
            made.append(pipe)


def check_in_join_without_a_with_block() -> None:
    made: list[Any] = []
    with interrupted(left(made)):
        pipe = t1.QueuePipeline(interrupted.gs)
        blocked_pipeline(pipe)
        made.append(pipe)
        pipe.join()


def check_in_python() -> None:
    there = threading.Event()
    with interrupted(there.is_set):
        with t1.QueuePipeline(interrupted.gs) as pipe:
            blocked_pipeline(pipe)
            pipe.start()
            there.set()
            time.sleep(DEADLINE)  # is interrupted


def straggling(pipe: Any, gate: Gate) -> None:
    queue = pipe.queue("q", capacity=1, dtypes=[tf.float32], shapes=[()])
    pipe.source(queue, (gate.stand(1.0) for _ in range(1)), name="stands")
    pipe.start()
    gate.wait_for(1)


def no_threads_of(name: str) -> None:
    wait_for(lambda: not [each for each in threading.enumerate() if each.name.startswith(name)], f"the end of {name}")


def check_while_it_joins_a_straggler() -> None:
    """The thread that does not end stays; the monitor thread, and what it has put into the process, do not."""
    gate = Gate()
    made: list[Any] = []
    with interrupted(lambda: made and made[0].coordinator.should_stop()):
        try:
            with t1.QueuePipeline(interrupted.gs, "slow", join_secs=1e5) as pipe:
                straggling(pipe, gate)
                made.append(pipe)
        finally:
            names = [each.name for each in threading.enumerate() if each.name.startswith("slow/")]
            gate.open()
            no_threads_of("slow/")
            assert names == ["slow/stands"], names


def check_a_second_time_while_it_joins_after_the_first() -> None:
    gate = Gate()
    made: list[Any] = []
    with interrupted(main_runs, lambda: made[0].coordinator.should_stop() and made[1]):
        try:
            with t1.QueuePipeline(interrupted.gs, "slow", join_secs=1e5) as pipe:
                straggling(pipe, gate)
                item = pipe.queue("empty", dtypes=[tf.float32]).dequeue()
                made.append(pipe)
                made.append(None)
                try:
                    interrupted.gs.run(item)
                finally:
                    made[1] = "the first has come"
        finally:
            names = [each.name for each in threading.enumerate() if each.name.startswith("slow/")]
            gate.open()
            no_threads_of("slow/")
            assert names == ["slow/stands"], names


def check_the_inner_of_two_pipelines() -> None:
    """Both end, and each gives back what it has found."""
    made: list[Any] = []
    with interrupted(left(made)):
        with t1.QueuePipeline(interrupted.gs) as outer:
            queue = outer.queue("outer", dtypes=[tf.float32])
            outer.work("waits", queue.dequeue())
            outer.start()
            before = wake_up_descriptor()
            try:
                with t1.QueuePipeline(interrupted.gs) as inner:
                    inner.work("waits", inner.queue("inner", dtypes=[tf.float32]).dequeue())
                    made.append(inner)
            finally:
                assert wake_up_descriptor() == before


def check_a_handler_that_stops_it() -> None:
    def handle(number: int, frame: Any) -> None:
        made[0].stop()

    made: list[Any] = []
    signal.signal(signal.SIGUSR1, handle)
    try:
        with interrupted(left(made), number=signal.SIGUSR1):
            with t1.QueuePipeline(interrupted.gs) as pipe:
                blocked_pipeline(pipe)
                made.append(pipe)
    finally:
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)


def check_asyncio_gets_its_signals() -> None:
    """Those that come while the pipeline runs, in a run that holds the loop up, and those after it."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        seen: asyncio.Queue[int] = asyncio.Queue()
        loop.add_signal_handler(signal.SIGUSR1, seen.put_nowait, 1)
        loop.add_signal_handler(signal.SIGUSR2, seen.put_nowait, 2)
        before = wake_up_descriptor()
        assert before != -1
        with session() as gs, t1.QueuePipeline(gs) as pipe:
            queue = pipe.queue("q", dtypes=[tf.float32], shapes=[()])
            pipe.sink("sink", queue, lambda item: os.kill(os.getpid(), signal.SIGUSR1))
            pipe.source(queue, [1.0])
        assert wake_up_descriptor() == before
        os.kill(os.getpid(), signal.SIGUSR2)
        assert [await asyncio.wait_for(seen.get(), DEADLINE) for _ in range(2)] == [1, 2]

    asyncio.run(main())


def check_a_pipeline_in_another_thread_is_left_alone() -> None:
    """Ctrl-C is the main thread's; what another one runs goes on."""
    gate = Gate()
    seen: list[Any] = []

    def main() -> None:
        with gs.building(), t1.QueuePipeline(gs) as pipe:
            queue = pipe.queue("q", dtypes=[tf.float32], shapes=[()])
            pipe.source(queue, (gate.stand(float(number)) for number in range(3)))
            pipe.sink("sink", queue, lambda item: seen.append(float(item)))

    with nothing_leaks(), session() as gs:
        thread = threading.Thread(target=main, daemon=True)
        thread.start()
        gate.wait_for(1)
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(DEADLINE)
        except KeyboardInterrupt:
            pass
        gate.open()
        thread.join(DEADLINE)
    assert seen == [0.0, 1.0, 2.0]


def check_fork_after_the_start() -> None:
    """The child has the pipeline's threads no more: it is given an error, and does not hang."""
    results = {}
    with session() as gs:
        with t1.QueuePipeline(gs) as pipe:
            queue = blocked_pipeline(pipe)
            more = pipe.items(queue)
            pipe.start()
            wait_for(lambda: len(watchdog.calls()) >= 4, "threads that wait")
            before = wake_up_descriptor()
            for name, use in {
                "run": lambda: gs.run(queue.size_now),
                "items": lambda: next(more),
                "statistics": pipe.statistics,
                "join": pipe.join,
                "leave": lambda: pipe.__exit__(None, None, None),
                "leave by an error": lambda: pipe.__exit__(KeyError, KeyError("a"), None),
                "declare": lambda: pipe.work("more", queue.size_now),
                "another": lambda: t1.QueuePipeline(gs).__enter__(),
            }.items():
                reading, writing = os.pipe()
                child = os.fork()
                if not child:
                    signal.alarm(5)  # ends it if it hangs
                    try:
                        use()
                        reported = "nothing"
                    except BaseException as error:
                        reported = type(error).__name__
                    os.write(writing, reported.encode())
                    os._exit(0)
                os.close(writing)
                with open(reading, encoding="utf-8") as file:
                    results[name] = file.read() or "killed"
                os.waitpid(child, 0)
            # The parent has noticed nothing.
            assert wake_up_descriptor() == before
            assert pipe.statistics().stages["train"].threads == 2
            pipe.stop()
    reported = {name: results.pop(name) for name in ("leave by an error", "declare", "another")}
    assert set(results.values()) == {"ForkedAfterSessionError"}, results
    assert set(reported.values()) <= {"nothing", "ForkedAfterSessionError"}, reported  # what comes next shows it
