"""Attacks on QueuePipeline, which is ended, left, closed and stopped anywhere."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attacks.trial import Trial

#: Longer than any pipeline here takes. What is still there then hangs.
DEADLINE_SECS = 30.0


class Boom(Exception):
    """What parts of the pipelines raise."""


def own_threads(pipe: Any) -> list[str]:
    """The threads that a pipeline has left behind."""
    return [each.name for each in threading.enumerate() if each.name.startswith(f"{pipe.name}/")]


def check_end(pipe: Any) -> str:
    """What is wrong with a pipeline that has ended; "" for nothing."""
    reported = pipe.statistics()
    wrong = [f"threads {own_threads(pipe)}"] if own_threads(pipe) else []
    wrong += [f"stage {name} {each.state}" for name, each in reported.stages.items() if each.state == "running"]
    wrong += [f"queue {name} {each.state}" for name, each in reported.queues.items() if each.state == "open"]
    widths = {len(line) for line in str(reported).splitlines()}
    return "; ".join(wrong + (["no table"] if reported.queues and max(widths) > 400 else []))


def chain(pipe: Any, rng: random.Random, count: int, fails: Any = None) -> tuple[Any, list[int]]:
    """Declares a source of ``range(count)`` and up to four stages that hand every item on.

    Returns the last queue, and how many threads the source and the stages have.
    ``fails`` is (position, item): at that position of the chain, 0 for the source, that item raises.
    """
    import numpy as np

    import tf1sessions as t1

    tf = t1.tf1
    where, wrong = fails or (-1, -1)

    def numbers() -> Iterator[int]:
        for number in range(count):
            if where == 0 and number == wrong:
                raise Boom(f"source at {number}")
            if rng.random() < 0.02:
                time.sleep(0.001)
            yield number

    kind = rng.choice(["fifo", "fifo", "padding"])
    queue = pipe.queue("q0", rng.choice([1, 2, 7, 50, -1]), [tf.int64], [()], kind)
    if fails is None and rng.random() < 0.2:
        pipe.source(queue, tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(count)).get_next(), name="s0")
    else:
        pipe.source(queue, numbers, name="s0", block=rng.choice([1, 3, 256]))
    several = [1]
    for position in range(1, rng.randint(1, 4) if where < 1 else max(where, rng.randint(1, 4)) + 1):
        how = rng.choice(["gather", "python"])

        def function(value: Any, position: int = position, how: str = how) -> Any:
            if position != where:
                return value + np.int64(0)
            if how == "gather":
                with tf.control_dependencies([tf.debugging.assert_none_equal(value, np.int64(wrong), message="wrong")]):
                    return tf.identity(value)

            def check(given: Any) -> Any:
                if wrong in np.ravel(given):
                    raise Boom(f"stage at {wrong}\n" * 50)
                return given

            made = tf.py_func(check, [value], tf.int64)
            made.set_shape(value.shape)
            return made

        batch = rng.choice([None, 1, 4, 9])
        threads = rng.choice([1, 1, 2, 3])
        queue = pipe.stage(f"s{position}", function, queue, batch, threads=threads, capacity=rng.choice([1, 5, 60]))
        several.append(threads)
    return queue, several


def consume(pipe: Any, queue: Any, rng: random.Random, found: list[int]) -> None:
    """Reads everything, in one of the ways that there are."""
    how = rng.choice(["items", "sink", "each", "items in a thread"])
    if how == "items":
        found.extend(map(int, pipe.items(queue, block=rng.choice([1, 5, None]))))
    elif how == "sink":
        pipe.sink("out", queue, lambda item: found.append(int(item)), threads=rng.choice([1, 3]))
    elif how == "each":
        pipe.work("out", queue.dequeue(), each=lambda item: found.append(int(item)))
    else:
        items = pipe.items(queue)
        thread = threading.Thread(target=lambda: found.extend(map(int, items)))
        thread.start()
        thread.join(DEADLINE_SECS)


def clean(folder: Path, rng: random.Random) -> str:
    import tf1sessions as t1

    found: list[int] = []
    count = rng.choice([0, 1, 10, 300])
    with t1.GraphSession() as gs:
        with t1.QueuePipeline(gs) as pipe:
            queue, _ = chain(pipe, rng, count)
            consume(pipe, queue, rng, found)
        reported = pipe.statistics()
    states = {each.state for each in reported.queues.values()}
    wrong = check_end(pipe)
    if sorted(found) != list(range(count)) or wrong:
        return f"{wrong}, {len(found)} of {count}"
    words = "cancelled" in str(reported) or "nobody" in str(reported)
    return "all items, and every queue has ended" if states == {"ended"} and not words else f"{states}: {reported}"


def failure(folder: Path, rng: random.Random) -> str:
    import tf1sessions as t1

    count = rng.choice([20, 200])
    where, wrong = rng.randint(0, 3), rng.randrange(count)
    found: list[int] = []
    with t1.GraphSession() as gs:
        try:
            with t1.QueuePipeline(gs) as pipe:
                queue, several = chain(pipe, rng, count, (where, wrong))
                consume(pipe, queue, rng, found)
        except t1.errors.StageError as error:
            bounds = [int(number) for number in re.findall(r"\d+", error.item or "")]
            # Several threads before it hand the items on in any order.
            anywhere = max(several[:where], default=1) > 1 or (error.item or "").startswith("run ")
            within = bool(bounds) and (bounds[0] <= wrong <= bounds[-1] or anywhere)
            lines = str(error).splitlines()
            if error.stage != f"s{where}" or not within or len(lines) > 5 or check_end(pipe):
                return f"{error.stage} for s{where}, {error.item} for {wrong}, {len(lines)} lines, {check_end(pipe)}"
            long = error.__cause__ is not None and len(str(error.__cause__)) >= len("source at 0")
            return "a StageError of few lines that names stage and item" if long else "no cause"
    return f"no error: {len(found)} of {count}"


def early_break(folder: Path, rng: random.Random) -> str:
    import tf1sessions as t1

    count, most = rng.choice([10, 1000]), rng.choice([0, 1, 9])
    with t1.GraphSession() as gs:
        with t1.QueuePipeline(gs) as pipe:
            queue, _ = chain(pipe, rng, count)
            items = pipe.items(queue, block=rng.choice([1, 4, None]))
            for _ in range(most):
                next(items)
            if rng.random() < 0.5:
                items.close()  # type: ignore[attr-defined]
            before = time.monotonic()
        return check_end(pipe) or ("ends at once" if time.monotonic() - before < 5 else "ends late")


def closed_session(folder: Path, rng: random.Random) -> str:
    """Another thread closes the session while items are read: all ends, with an error or well."""
    import tf1sessions as t1

    gs = t1.GraphSession()
    found = 0
    try:
        with gs.as_default(), t1.QueuePipeline(gs) as pipe:
            queue, _ = chain(pipe, rng, 100_000)
            items = pipe.items(queue)
            when = rng.randrange(200)
            closer = threading.Thread(target=gs.close)
            for _ in items:
                found += 1
                if found == when:
                    closer.start()
    except (t1.errors.StageError, RuntimeError, t1.tf1.errors.OpError, t1.errors.ClosedError):
        pass
    if closer.ident is not None:
        closer.join(DEADLINE_SECS)
    gs.close()
    left = own_threads(pipe)
    return f"threads {left}" if left or closer.is_alive() else "ends"


def source_raises(folder: Path, rng: random.Random) -> str:
    """A generator, an iterator, a shard, a constructor or len() raises; also something that is no Exception."""
    import tf1sessions as t1

    wrong = rng.randrange(5)
    error: BaseException = rng.choice(
        [Boom("boom"), KeyError(), StopIteration(), SystemExit(3), MemoryError("m" * 10**6)]
    )

    class Faulty:
        def __init__(self) -> None:
            self.number = 0

        def __iter__(self) -> Faulty:
            return self

        def __next__(self) -> int:
            self.number += 1
            if self.number > wrong:
                raise error
            return self.number

    def shards(worker: int, workers: int) -> Iterator[int]:
        yield from range(wrong)
        raise error

    producer = rng.choice([Faulty, Faulty(), shards])
    threads = rng.choice([1, 3])
    with t1.GraphSession() as gs:
        try:
            with t1.QueuePipeline(gs) as pipe:
                queue = pipe.queue("q", 3, [t1.tf1.int64], [()])
                pipe.source(queue, producer, threads=threads, name="source")
                found = list(pipe.items(queue))
        except t1.errors.StageError as caught:
            short = len(str(caught)) < 2000 and caught.stage == "source" and (caught.item or "").startswith("item ")
            return check_end(pipe) or ("the source's error, or its end" if short else f"{caught.item}: {caught}"[:300])
        if isinstance(error, StopIteration) and producer is not shards:
            return check_end(pipe) or "the source's error, or its end"
    return f"no error: {found}"


def sink_stops(folder: Path, rng: random.Random) -> str:
    """A sink raises, stops the pipeline, or stands still while the pipeline is stopped by another thread."""
    import tf1sessions as t1

    how = rng.choice(["raises", "stops", "stands"])
    wrong = rng.randrange(30)
    free = threading.Event()
    with t1.GraphSession() as gs:
        try:
            with t1.QueuePipeline(gs) as pipe:
                queue, _ = chain(pipe, rng, 100)

                def sink(item: Any) -> None:
                    if item == wrong and how == "raises":
                        raise Boom("sink")
                    if item == wrong and how == "stops":
                        pipe.stop()
                    if item == wrong and how == "stands":
                        threading.Timer(0.01, lambda: (pipe.stop(), free.set())).start()
                        free.wait(DEADLINE_SECS)

                pipe.sink("sink", queue, sink, threads=rng.choice([1, 2]), block=rng.choice([1, 7, None]))
        except t1.errors.StageError as error:
            seen = (
                "sink" if how == "raises" and error.stage == "sink" and isinstance(error.__cause__, Boom) else "other"
            )
            return check_end(pipe) or ("ends as it must" if seen == "sink" else f"{how}: {error}")
        return check_end(pipe) or ("ends as it must" if how != "raises" else "no error")


def skipping(folder: Path, rng: random.Random) -> str:
    import tf1sessions as t1

    wrong = {rng.randrange(60) for _ in range(rng.randrange(1, 20))}
    found: list[int] = []

    def sink(item: Any) -> None:
        if int(item) in wrong:
            raise Boom("skip me")
        found.append(int(item))

    with t1.GraphSession() as gs:
        with t1.QueuePipeline(gs, on_error=rng.choice(["skip", lambda error, item: "skip"])) as pipe:
            queue, _ = chain(pipe, rng, 60)
            pipe.sink("sink", queue, sink, threads=rng.choice([1, 3]), block=rng.choice([1, 9]))
        reported = pipe.statistics().stages["sink"]
    right = sorted(found) == sorted(set(range(60)) - wrong) and reported.skipped == len(wrong)
    return check_end(pipe) or (
        "the others, and a count" if right else f"{len(found)}, {reported.skipped}, {len(wrong)}"
    )


def stopped(folder: Path, rng: random.Random) -> str:
    """stop() from another thread after a random time, while others ask for statistics."""
    import tf1sessions as t1

    wrong: list[str] = []
    with t1.GraphSession() as gs:
        with t1.QueuePipeline(gs) as pipe:
            queue, _ = chain(pipe, rng, 10**7)
            pipe.sink("sink", queue, lambda item: None, threads=2)

            def look() -> None:
                while not own_end.is_set():
                    text = str(pipe.statistics())
                    if "q0 " not in text:
                        wrong.append(text)

            own_end = threading.Event()
            lookers = [threading.Thread(target=look) for _ in range(2)]
            for each in lookers:
                each.start()
            threading.Timer(rng.uniform(0, 0.1), pipe.stop).start()
        own_end.set()
        for each in lookers:
            each.join(DEADLINE_SECS)
    return check_end(pipe) or ("ends without an error" if not wrong else wrong[0])


def nested(folder: Path, rng: random.Random) -> str:
    """A pipeline in the block, in a sink or in the source of another one, of the same session or of its own."""
    import tf1sessions as t1

    tf = t1.tf1
    how = rng.choice(["block", "sink", "source"])
    fails = rng.random() < 0.3
    totals: list[int] = []

    def inner(gs: Any, name: str) -> int:
        with t1.QueuePipeline(gs) as pipe:
            queue = pipe.queue(name, 4, [tf.int64], [()])
            pipe.source(queue, range(10))
            total = sum(map(int, pipe.items(queue)))
        if fails:
            raise Boom("inner")
        return total

    def apart(item: Any = None) -> int:
        with t1.GraphSession() as other:
            totals.append(inner(other, "inner"))
        return totals[-1]

    def producing() -> Iterator[int]:
        for _ in range(3):
            yield apart()

    with t1.GraphSession() as gs:
        try:
            with t1.QueuePipeline(gs) as pipe:
                queue = pipe.queue("outer", 2, [tf.int64], [()])
                pipe.source(queue, producing if how == "source" else range(3), name="source")
                if how == "sink":
                    pipe.sink("sink", queue, apart)
                else:
                    totals.extend(
                        inner(gs, f"inner{number}") for number, _ in enumerate(pipe.items(queue)) if how == "block"
                    )
        except (Boom, t1.errors.StageError) as error:
            cause = error if isinstance(error, Boom) else error.__cause__
            return check_end(pipe) or ("right, or its error" if fails and isinstance(cause, Boom) else repr(error))
    return check_end(pipe) or ("right, or its error" if totals == [45] * 3 and not fails else f"{how} {totals}")


def shared_iterators(folder: Path, rng: random.Random) -> str:
    """Several threads read one queue with iterators of their own; one of them leaves early."""
    import tf1sessions as t1

    found: list[int] = []
    leaves = rng.randrange(20)
    with t1.GraphSession() as gs:
        with t1.QueuePipeline(gs) as pipe:
            queue, _ = chain(pipe, rng, 200)
            readers = [pipe.items(queue, block=1) for _ in range(4)]

            def read(number: int) -> None:
                for position, item in enumerate(readers[number]):
                    found.append(int(item))
                    if number == 0 and position == leaves:
                        return

            threads = [threading.Thread(target=read, args=[number]) for number in range(4)]
            for each in threads:
                each.start()
            for each in threads:
                each.join(DEADLINE_SECS)
        alive = any(each.is_alive() for each in threads)
    right = sorted(found) == list(range(200)) and not alive
    states = {each.state for each in pipe.statistics().queues.values()}
    return check_end(pipe) or (
        "each item once, all ended" if right and states == {"ended"} else f"{len(found)} {states}"
    )


_OPEN = """
import sys, threading, itertools, time
import tf1sessions as t1
tf = t1.tf1
how = sys.argv[1]
gs = t1.GraphSession().__enter__()
pipe = t1.QueuePipeline(gs)
pipe.__enter__()
queue = pipe.queue("q", 4, [tf.int64], [()])
pipe.source(queue, itertools.count(), threads=2)
if how == "sink":
    pipe.sink("s", pipe.stage("x", lambda x: x + 1, queue), lambda item: None)
if how != "declared":
    items = pipe.items(queue)
    print(int(next(items)) >= 0)
if how == "thread":
    threading.Thread(target=lambda: [None for _ in items], daemon=True).start()
if how == "raises":
    raise SystemExit(0)
print("end")
"""


def left_open(folder: Path, rng: random.Random) -> str:
    """The interpreter ends, and nothing has left the block."""
    how = rng.choice(["declared", "iterator", "thread", "sink", "raises"])
    try:
        ended = subprocess.run(
            [sys.executable, "-c", _OPEN, how], cwd=folder, capture_output=True, text=True, timeout=90, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{how} hangs"
    loud = "Traceback" in ended.stderr or "Fatal" in ended.stderr
    return "ends with 0" if ended.returncode == 0 and not loud else f"{how}: {ended.returncode} {ended.stderr[-500:]}"


def used_again(folder: Path, rng: random.Random) -> str:
    """What comes after the end is refused, and nothing starts again."""
    import tf1sessions as t1

    with t1.GraphSession() as gs:
        with t1.QueuePipeline(gs) as pipe:
            queue, _ = chain(pipe, rng, 5)
            list(pipe.items(queue))
        calls: list[Callable[[], Any]] = [
            pipe.start,
            pipe.__enter__,
            lambda: pipe.source(queue, [1]),
            lambda: pipe.queue("later", 3, [t1.tf1.int64]),
            lambda: pipe.sink("late", queue, print),
        ]
        for call in rng.sample(calls, len(calls)):
            try:
                call()
            except t1.errors.ClosedError:
                continue
            except t1.errors.ConfigError:
                continue
            if call != pipe.start:  # of a pipeline that was started: does nothing
                return f"{call} was taken"
        pipe.stop()
        pipe.join()
        return check_end(pipe) or "refused"


def straggler(folder: Path, rng: random.Random) -> str:
    """A producer that never comes back is named."""
    import tf1sessions as t1

    free = threading.Event()

    def producer() -> Iterator[int]:
        yield 1
        free.wait(DEADLINE_SECS)

    with t1.GraphSession() as gs:
        try:
            with t1.QueuePipeline(gs, join_secs=0.3) as pipe:
                queue = pipe.queue("q", 4, [t1.tf1.int64], [()])
                pipe.source(queue, producer, name="stuck")
                next(pipe.items(queue))
        except t1.errors.StragglerError as error:
            named = any("stuck" in name for name in error.threads)  # type: ignore[attr-defined]
            return "names the thread" if named and __file__ in str(error) else str(error)
        finally:
            free.set()
    return "no error"


def interrupted_at_its_start(folder: Path, rng: random.Random) -> str:
    """Ctrl-C at a random moment of the block."""
    import os
    import signal

    import tf1sessions as t1

    tf = t1.tf1
    begun = threading.Event()
    delay = rng.random() * 0.01

    def send() -> None:
        begun.wait(DEADLINE_SECS)
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        with t1.GraphSession() as session, t1.QueuePipeline(session, join_secs=3) as pipe:
            queue = pipe.queue("q", capacity=10, dtypes=[tf.int64], shapes=[()])
            pipe.source(queue, range(10))
            begun.set()
            pipe.start()
        sender.join()
        time.sleep(1.0)
    except KeyboardInterrupt:
        pass
    sender.join()
    left = [each.name for each in threading.enumerate() if "QueuePipeline" in each.name]
    return f"threads {left}" if left else "no thread is left"


def joined_by_its_own_thread(folder: Path, rng: random.Random) -> str:
    import tf1sessions as t1

    tf = t1.tf1
    seen = []

    def sink(value: Any) -> None:
        try:
            rng.choice([pipe.join, lambda: pipe.__exit__(None, None, None)])()
        except t1.errors.UsageError:
            seen.append(value)

    with t1.GraphSession() as session, t1.QueuePipeline(session, join_secs=3) as pipe:
        queue = pipe.queue("q", capacity=10, dtypes=[tf.int64], shapes=[()])
        pipe.source(queue, range(5))
        pipe.sink("s", queue, sink)
    return "a UsageError each time" if len(seen) == 5 else f"{len(seen)} errors"


def unused_input(folder: Path, rng: random.Random) -> str:
    """A stage whose operations do not use what it takes: it ends with its input all the same."""
    import itertools

    import tf1sessions as t1

    tf = t1.tf1
    items, batch, threads = rng.randrange(30), rng.choice([None, 1, 4]), rng.choice([1, 3])
    function = rng.choice([lambda x: 3.0, lambda x: tf.random_uniform([]), lambda x: tf.zeros([2]), lambda x: "text"])
    with t1.GraphSession() as session, t1.QueuePipeline(session, join_secs=5) as pipe:
        queue = pipe.queue("q", capacity=10, dtypes=[tf.int64], shapes=[()])
        pipe.source(queue, range(items))
        made = pipe.stage("made", function, queue, batch=batch, unbatch=False, threads=threads)
        found = sum(1 for _ in itertools.islice(pipe.items(made), 1000))
    least = items if batch is None else -(-items // batch)
    return "as many as were taken" if least <= found <= items else f"{found} of {items}, batch {batch}"


TRIALS = [
    Trial("a stage that does not use its input", "as many as were taken", unused_input, 20),
    Trial("Ctrl-C at a random moment of the block", "no thread is left", interrupted_at_its_start, 300),
    Trial("a sink joins its pipeline", "a UsageError each time", joined_by_its_own_thread, 10),
    Trial("random pipeline, all read", "all items, and every queue has ended", clean, 60),
    Trial(
        "random failure at a random item of a random stage",
        "a StageError of few lines that names stage and item",
        failure,
        60,
    ),
    Trial("early break", "ends at once", early_break, 30),
    Trial("session closed during reading", "ends", closed_session, 15),
    Trial("exceptions in sources", "the source's error, or its end", source_raises, 40),
    Trial("sinks that raise, stop or stand still", "ends as it must", sink_stops, 25),
    Trial("random errors that are skipped", "the others, and a count", skipping, 25),
    Trial("stop() at a random moment", "ends without an error", stopped, 25),
    Trial("nested pipelines", "right, or its error", nested, 25),
    Trial("iterators of several threads, one leaves", "each item once, all ended", shared_iterators, 15),
    Trial("interpreter ends with a pipeline open", "ends with 0", left_open, 6, 100.0),
    Trial("a pipeline that has ended is used again", "refused", used_again, 10),
    Trial("a producer that never comes back", "names the thread", straggler, 5),
]
