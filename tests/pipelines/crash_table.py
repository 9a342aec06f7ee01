"""Every place of a pipeline in which an error can come, and every state that its queue can be in then.

A *scene* is a pipeline with a queue ``q`` of two items. An *actor* is a part of it that stands at a gate, in a thread
of its own, until the queue is in the state that is asked for; then the gate is opened, and the actor fails::

    scene = Scene(gs, pipe, threads)          q, and nothing that reads or writes it
    actor = ACTORS["sink"](scene)             declares the actor; where it reads from q it will stand there with an item
    STATES["full"](scene, actor)              starts, makes q full with threads that wait for space in it
    scene.gate.open()                         the actor raises `scene.error`, or its operation fails

Actors that read from ``q`` are its consumers, those that write to it its producers; where the state cannot be (nothing
writes to a queue whose input has ended) an actor is given a queue beside it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from forced import Boom, Gate, empty, full, is_closed, size_of, state, waiting_in
from support import wait_for

import tf1sessions as t1

TEXT = "the reactor leaks"
CAPACITY = 2


@dataclasses.dataclass
class Actor:
    """What stands at the gate, and what must be raised when it fails.

    Attributes:
        stands: How many threads come to the gate.
        reads: How many items they take from the queue before that.
        stage: The name of the stage that fails; None: the body.
        item: What the error says that it was at.
        raised: Whether ``scene.error`` itself is the cause; else an operation's error.
        line: The source line where it was raised, or its beginning.
        operation: The name of the operation that fails.
        fails: For an actor in the body: fails in this thread.
        context: The type of the error's ``__context__``.
    """

    stands: int = 1
    reads: int = 0
    stage: str | None = None
    item: str | None = None
    raised: bool = True
    line: str = "raise self.error"
    operation: str | None = None
    fails: Callable[[], None] | None = None
    context: type[BaseException] | None = None


class Scene:
    """See the module."""

    def __init__(self, gs: Any, pipe: Any, threads: int, beside: bool = False, prefix: str = "") -> None:
        self.tf = t1.tf1
        self.gs = gs
        self.pipe = pipe
        self.threads = threads
        self.gate = Gate()
        self.error = Boom(TEXT)
        self.prefix = prefix
        self.q = self.queue("q")
        #: Where producers write to.
        self.target = self.queue("beside", capacity=100) if beside else self.q
        #: Threads of the scene's own, which end with the pipeline.
        self.helpers: list[threading.Thread] = []
        self._tickets = itertools.count()

    def queue(self, name: str, capacity: int = CAPACITY) -> Any:
        return self.pipe.queue(self.prefix + name, capacity=capacity, dtypes=[self.tf.float32], shapes=[()])

    def fail(self, value: Any = None) -> Any:
        """Stands at the gate; the first to come raises, the others go on."""
        first = next(self._tickets) == 0
        self.gate.stand()
        if first:
            raise self.error
        return value

    def spoil(self, value: Any) -> Any:
        """Stands at the gate; the first to come gets what is no number."""
        first = next(self._tickets) == 0
        self.gate.stand()
        return np.float32(np.nan) if first else np.float32(value)

    # -- operations that fail --------------------------------------------------------------------------------------

    def python_operation(self, value: Any) -> Any:
        made = self.tf.py_func(self.fail, [value], self.tf.float32, name=self.prefix + "calls_python")
        made.set_shape(())
        return made

    def checked_operation(self, value: Any) -> Any:
        made = self.tf.py_func(self.spoil, [value], self.tf.float32)
        made.set_shape(())
        return self.tf.check_numerics(made, TEXT, name=self.prefix + "checked")

    # -- other parts -----------------------------------------------------------------------------------------------

    def feed(self, count: int | None = None, name: str = "feeder") -> None:
        """Declares what fills ``q``: for ever, with as many threads as the scene has, or so many items."""
        name = self.prefix + name
        if count is None:
            self.pipe.source(self.q, self.q.enqueue(1.0), threads=self.threads, name=name)
        else:
            self.pipe.source(self.q, [1.0] * count, name=name)

    def put(self, count: int) -> None:
        """Puts items into ``q`` from outside of the pipeline."""
        with self.gs.graph.as_default():
            put = self.q.enqueue(2.0)
        for _ in range(count):
            self.gs.session.run(put)


# -- actors ------------------------------------------------------------------------------------------------------------

ACTORS: dict[str, Callable[[Scene], Actor]] = {}
#: Actors that write to the queue; they get one beside it where nothing can write to it.
PRODUCERS = {"producer", "producer shards", "enqueue python", "enqueue checked", "queue runner"}
#: Actors in a thread that is no part of the pipeline; there is one.
SINGLE = {"body", "body run", "thread"}


def actor(build: Callable[[Scene], Actor]) -> Callable[[Scene], Actor]:
    ACTORS[build.__name__.replace("_", " ")] = build
    return build


@actor
def producer(scene: Scene) -> Actor:
    """An iterator that all threads share."""

    def items() -> Iterator[float]:
        yield scene.fail(1.0)

    name = f"{scene.target.name}/source"
    scene.pipe.source(scene.target, items, threads=scene.threads)
    return Actor(stage=name)


@actor
def producer_shards(scene: Scene) -> Actor:
    def items(worker: int, workers: int) -> Iterator[float]:
        yield scene.fail(1.0)

    scene.pipe.source(scene.target, items, threads=scene.threads, name=scene.prefix + "shards")
    return Actor(stands=scene.threads, stage=scene.prefix + "shards")


@actor
def enqueue_python(scene: Scene) -> Actor:
    name = scene.prefix + "enqueue"
    operation = scene.target.enqueue(scene.python_operation(1.0))
    scene.pipe.source(scene.target, operation, threads=scene.threads, name=name)
    return Actor(stands=scene.threads, stage=name, raised=False, operation=scene.prefix + "calls_python")


@actor
def enqueue_checked(scene: Scene) -> Actor:
    name = scene.prefix + "enqueue"
    operation = scene.target.enqueue(scene.checked_operation(1.0))
    scene.pipe.source(scene.target, [operation], threads=scene.threads, name=name)
    return Actor(stands=scene.threads, stage=name, raised=False, operation=scene.prefix + "checked")


@actor
def middle(scene: Scene) -> Actor:
    name = scene.prefix + "middle"
    scene.pipe.stage(name, scene.checked_operation, scene.q, threads=scene.threads)
    return Actor(
        stands=scene.threads, reads=scene.threads, stage=name, raised=False, operation=scene.prefix + "checked"
    )


@actor
def middle_batch(scene: Scene) -> Actor:
    name = scene.prefix + "middle"
    scene.pipe.stage(name, lambda x: scene.python_operation(x[0])[None], scene.q, batch=1, threads=scene.threads)
    return Actor(
        stands=scene.threads, reads=scene.threads, stage=name, raised=False, operation=scene.prefix + "calls_python"
    )


@actor
def work(scene: Scene) -> Actor:
    name = scene.prefix + "train"
    scene.pipe.work(name, scene.checked_operation(scene.q.dequeue()), threads=scene.threads)
    return Actor(
        stands=scene.threads, reads=scene.threads, stage=name, raised=False, operation=scene.prefix + "checked"
    )


@actor
def work_steps(scene: Scene) -> Actor:
    name = scene.prefix + "train"
    scene.pipe.work(name, [scene.python_operation(scene.q.dequeue_many(1)[0])], steps=100, threads=scene.threads)
    return Actor(
        stands=scene.threads, reads=scene.threads, stage=name, raised=False, operation=scene.prefix + "calls_python"
    )


@actor
def each(scene: Scene) -> Actor:
    name = scene.prefix + "train"
    scene.pipe.work(name, scene.q.dequeue(), threads=scene.threads, each=scene.fail)
    return Actor(stands=scene.threads, reads=scene.threads, stage=name, item="the result, ")


@actor
def sink(scene: Scene) -> Actor:
    name = scene.prefix + "sink"
    scene.pipe.sink(name, scene.q, scene.fail, threads=scene.threads, block=1)
    return Actor(stands=scene.threads, reads=scene.threads, stage=name, item="item 0, ")


@actor
def on_error_of_a_sink(scene: Scene) -> Actor:
    name = scene.prefix + "sink"

    def function(item: Any) -> None:
        raise ValueError("what on_error is asked about")

    def ask(error: BaseException, item: Any) -> str:
        assert isinstance(error, ValueError) and item is not None
        scene.fail()
        return "skip"

    scene.pipe.sink(name, scene.q, function, threads=scene.threads, block=1, on_error=ask)
    return Actor(stands=scene.threads, reads=scene.threads, stage=name, item="item 0, ", context=ValueError)


@actor
def on_error_of_a_work(scene: Scene) -> Actor:
    name = scene.prefix + "train"
    fetch = scene.tf.check_numerics(scene.q.dequeue() * np.float32(np.nan), "what on_error is asked about")

    def ask(error: BaseException, item: Any) -> str:
        assert isinstance(error, scene.tf.errors.InvalidArgumentError)
        scene.fail()
        return "skip"

    scene.pipe.work(name, fetch, threads=scene.threads, on_error=ask)
    return Actor(stands=scene.threads, reads=scene.threads, stage=name, context=scene.tf.errors.InvalidArgumentError)


@actor
def queue_runner(scene: Scene) -> Actor:
    operations = [scene.target.enqueue(scene.python_operation(1.0))] * scene.threads
    scene.pipe.adopt(scene.tf.train.QueueRunner(scene.target.queue, operations))
    return Actor(stands=scene.threads, stage=scene.target.name, raised=False, operation=scene.prefix + "calls_python")


@actor
def thread(scene: Scene) -> Actor:
    """A thread of legacy code, which reports to the coordinator."""

    def main() -> None:
        with scene.pipe.coordinator.stop_on_exception():
            scene.fail()

    scene.pipe.adopt(threading.Thread(target=main, name=scene.prefix + "legacy", daemon=True))
    return Actor(stage=scene.prefix + "legacy")


@actor
def body(scene: Scene) -> Actor:
    scene.gate.arrive()
    return Actor(fails=scene.fail)


@actor
def body_run(scene: Scene) -> Actor:
    """A run of the body's own."""
    scene.gate.arrive()
    fetch = scene.checked_operation(1.0)
    return Actor(raised=False, operation=scene.prefix + "checked", fails=lambda: scene.gs.run(fetch))


# -- states ------------------------------------------------------------------------------------------------------------

STATES: dict[str, Callable[[Scene, Actor], None]] = {}
#: States of a queue in which nothing more can be written to it.
BESIDE = {"ended with items left"}


def queue_state(build: Callable[[Scene, Actor], None]) -> Callable[[Scene, Actor], None]:
    STATES[build.__name__.replace("_", " ")] = build
    return build


def _actor_stands(scene: Scene, actor: Actor) -> None:
    """Starts, and waits until the threads of the actor stand at the gate, each with the item that it needs."""
    scene.put(actor.reads)
    scene.pipe.start()
    scene.gate.wait_for(actor.stands)


@queue_state
def full_with_blocked_producers(scene: Scene, actor: Actor) -> None:
    _actor_stands(scene, actor)
    scene.feed()
    full(scene.gs, scene.pipe, scene.q, scene.prefix + "feeder", scene.threads)


@queue_state
def empty_with_blocked_consumers(scene: Scene, actor: Actor) -> None:
    _actor_stands(scene, actor)
    name = scene.prefix + "reader"
    scene.pipe.work(name, scene.q.dequeue(), threads=scene.threads)
    empty(scene.gs, scene.pipe, scene.q, name, scene.threads)


@queue_state
def ended_with_items_left(scene: Scene, actor: Actor) -> None:
    _actor_stands(scene, actor)
    scene.feed(CAPACITY)
    wait_for(lambda: is_closed(scene.gs, scene.q), "the end of input")
    assert size_of(scene.gs, scene.q) == CAPACITY and state(scene.pipe, scene.q) == "ended"


@queue_state
def closed_by_the_user_with_items_left(scene: Scene, actor: Actor) -> None:
    _actor_stands(scene, actor)
    scene.put(CAPACITY)
    with scene.gs.graph.as_default():
        scene.gs.session.run(scene.q.close())
    assert size_of(scene.gs, scene.q) == CAPACITY and is_closed(scene.gs, scene.q)


@queue_state
def closing_behind_blocked_producers(scene: Scene, actor: Actor) -> None:
    """A close operation waits until those that waited for space before it have had their turn."""
    full_with_blocked_producers(scene, actor)
    with scene.gs.graph.as_default():
        close = scene.q.close()

    def close_until_cancelled() -> None:
        with contextlib.suppress(t1.tf1.errors.CancelledError):  # by the end of the pipeline
            scene.gs.session.run(close)

    closing = threading.Thread(target=close_until_cancelled, name="closes", daemon=True)
    scene.helpers.append(closing)
    closing.start()
    wait_for(lambda: waiting_in(close.name), "a close operation that waits")
    assert not is_closed(scene.gs, scene.q)


@queue_state
def cancelled_by_the_user(scene: Scene, actor: Actor) -> None:
    """Those who wait get a CancelledError, which is an error of the stage: but one that gives way."""
    full_with_blocked_producers(scene, actor)
    with scene.gs.graph.as_default():
        scene.gs.session.run(scene.q.close(cancel_pending_enqueues=True))
    wait_for(scene.pipe.coordinator.should_stop, "the feeder's CancelledError")


@queue_state
def stopped(scene: Scene, actor: Actor) -> None:
    full_with_blocked_producers(scene, actor)
    scene.pipe.stop()
    wait_for(lambda: state(scene.pipe, scene.q) == "cancelled", "cancelled queues")
