"""Python producers, in blocks.

::

    producer threads ── next(iterator) ──▶ Buffer (bounded) ──▶ one enqueuing thread ── BlockWriter ──▶ queue
                        one iterator under a lock,              takes all that is there
                        or a shard for each thread

One thread enqueues, so a block is whatever has gathered while the last one went: items of a slow producer go one by one
at once, those of a fast one by the hundred, and nothing waits for a block to fill.
"""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tf1sessions.errors import ConfigError
from tf1sessions.pipelines.blocks import BlockWriter, ItemError
from tf1sessions.pipelines.queues import short
from tf1sessions.pipelines.refilled import keeps_its_items, own
from tf1sessions.pipelines.stages import UNSEEN, Stage, StageThread

__all__ = ["Buffer", "PythonSource", "shards_of"]

#: How often a thread that waits for its turn at a producer looks whether it still wants one.
_LOOK_SECS = 0.1


class _Shared:
    """One iterator that several threads take from, each item once; or one alone, which needs no lock. Numbers them.

    ``_lock`` is held from the taking of an item until it has been handed on: so items keep their order.
    """

    def __init__(
        self, make: Callable[[], Iterable[Any]], numbers: Iterator[int], over: threading.Event, alone: bool
    ) -> None:
        self._make = make
        self._alone = alone
        self._numbers = numbers
        self._over = over
        self._lock = threading.Lock()
        self._iterator: Iterator[Any] | None = None
        self._kept = False

    def pass_on(self, worker: StageThread, put: Callable[[tuple[int, Any]], bool]) -> bool:
        """Takes the next item and hands it, numbered, to ``put``, before another thread takes one.

        Returns:
            False at the end, or when the pipeline takes no more items. The worker notes which item could not be made.
        """
        if not self._alone:
            while not self._lock.acquire(timeout=_LOOK_SECS):
                if self._over.is_set():
                    return False  # and not when the thread that is inside the producer comes back from it
        try:
            numbered = self._take(worker)
            return numbered is not None and put(numbered)
        finally:
            if not self._alone:
                self._lock.release()

    def _take(self, worker: StageThread) -> tuple[int, Any] | None:
        try:
            if self._iterator is None:
                iterable = self._make()  # in a producer's thread: it may take long
                self._kept = keeps_its_items(iterable)
                self._iterator = iter(iterable)
            for item in self._iterator:
                return next(self._numbers), item if self._kept else own(item)
        except BaseException:
            worker.item = (f"item {next(self._numbers)}", UNSEEN)
            raise
        return None

    def close(self) -> None:
        """Ends a generator, so that its ``finally`` runs now and not when it is collected."""
        if inspect.isgenerator(self._iterator):
            self._iterator.close()


def shards_of(producer: Any, threads: int, over: threading.Event, where: str) -> list[_Shared]:
    """Return what each of ``threads`` threads takes its items from.

    Args:
        producer: An iterable or a function without parameters that returns one, which the threads share; or a function
            of ``(worker, workers)``, which is called once a thread.
        over: Set when the pipeline takes no more items.

    Raises:
        ConfigError: It is none of these.
    """
    numbers = itertools.count()
    if isinstance(producer, Iterable):
        return [_Shared(lambda: producer, numbers, over, threads == 1)] * threads
    if not callable(producer):
        raise ConfigError(
            f"producer is {short(producer)}",
            where=where,
            next_step="Give an iterable, a function that returns one, or enqueue operations.",
        )
    if _parameters(producer, where) == 0:
        return [_Shared(lambda: _iterable(producer(), producer), numbers, over, threads == 1)] * threads

    def shard(worker: int) -> _Shared:
        return _Shared(lambda: _iterable(producer(worker, threads), producer), numbers, over, True)

    return [shard(worker) for worker in range(threads)]


def _parameters(producer: Callable[..., Any], where: str) -> int:
    """0 or 2: how many arguments a producer is called with."""
    try:
        signature = inspect.signature(producer)
    except (TypeError, ValueError):
        return 0  # a builtin without a signature
    for count in (0, 2):
        try:
            signature.bind(*[None] * count)
        except TypeError:
            continue
        return count
    raise ConfigError(
        f"the producer {getattr(producer, '__qualname__', producer)!s} has the parameters {signature}",
        where=where,
        next_step="It is called with none, or with (worker, workers).",
    )


def _iterable(made: Any, producer: Any) -> Iterable[Any]:
    if not isinstance(made, Iterable):
        raise TypeError(
            f"the producer {getattr(producer, '__qualname__', producer)!s} returned {short(made)}, which cannot be "
            "iterated over; it is to return an iterable, or to yield its items"
        )
    return made


class Buffer:
    """Items on their way from producer threads to the one that enqueues. Safe for any number of threads.

    Adding to a deque and taking from it are atomic; ``_lock`` guards the waiting. take() says that it is hungry, looks
    again, and only then waits; offer() adds, and only then looks whether take() is hungry: one of them sees the other.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._ready = threading.Condition(self._lock)
        self._space = threading.Condition(self._lock)
        self._items: collections.deque[tuple[int, Any]] = collections.deque()
        self._hungry = False
        self._ended = False
        self._cancelled = False

    def offer(self, item: tuple[int, Any]) -> bool:
        """Adds an item, unless there is no space or nobody wants it: then returns False, and put() says which."""
        items = self._items
        if len(items) >= self._limit or self._cancelled:
            return False
        items.append(item)
        if self._hungry:
            with self._lock:
                self._hungry = False
                self._ready.notify()
        return True

    def put(self, item: tuple[int, Any]) -> bool:
        """Adds an item; waits for space. False when the pipeline takes no more."""
        with self._lock:
            while len(self._items) >= self._limit and not self._cancelled:
                self._space.wait()
            if self._cancelled:
                return False
            self._items.append(item)
            if self._hungry:
                self._hungry = False
                self._ready.notify()
            return True

    def take(self, most: int) -> list[tuple[int, Any]]:
        """Waits for items and takes up to ``most``; none at the end."""
        with self._lock:
            items = self._items
            while not items and not self._ended and not self._cancelled:
                self._hungry = True
                if not items:
                    self._ready.wait()
            self._hungry = False
            if self._cancelled:
                return []
            taken = [items.popleft() for _ in range(min(most, len(items)))]
            self._space.notify_all()
            return taken

    def end(self) -> None:
        """No more items will be put."""
        with self._lock:
            self._ended = True
            self._ready.notify_all()

    def cancel(self) -> None:
        """Drops all items, and wakes all threads that wait."""
        with self._lock:
            self._cancelled = True
            self._items.clear()
            self._ready.notify_all()
            self._space.notify_all()


class PythonSource:
    """The work of a source's threads whose items come from Python.

    Args:
        stage: The source.
        producer, threads: As for :meth:`QueuePipeline.source`.
        writer: Enqueues the items.
        most: How many at a time, and how many are taken from the producer before they are enqueued.
    """

    def __init__(self, stage: Stage, producer: Any, threads: int, writer: BlockWriter, most: int, where: str) -> None:
        self._stage = stage
        self._over = threading.Event()
        self._shards = shards_of(producer, threads, self._over, where)
        self._writer = writer
        self._most = most
        self._buffer = Buffer(most)
        self._lock = threading.Lock()
        self._producing = threads
        stage.compile = lambda: writer.compile(stage.pipeline.compile_call)
        stage.cancel = self._cancel
        stage.operations = {operation.name: stage.writes[0] for operation in writer.operations}
        for number, shard in enumerate(self._shards, 1):
            stage.add_worker(functools.partial(self._produce, shard), f"{number}" if threads > 1 else "")
        stage.add_worker(self._enqueue, "enqueues", counts=False)

    def _cancel(self) -> None:
        self._over.set()
        self._buffer.cancel()

    def _produce(self, shard: _Shared, worker: StageThread) -> None:
        offer = self._buffer.offer

        def put(numbered: tuple[int, Any]) -> bool:
            if offer(numbered):
                return True
            worker.waits("space")
            wanted = self._buffer.put(numbered)
            worker.waits("python")
            return wanted

        try:
            while self._stage.step():
                try:
                    if not shard.pass_on(worker, put):
                        break
                except Exception as error:
                    if not self._stage.excuse(worker, error, None):
                        raise
        finally:
            with self._lock:
                self._producing -= 1
                last = self._producing == 0
            if last:
                self._buffer.end()
                for each in {id(shard): shard for shard in self._shards}.values():
                    each.close()

    def _enqueue(self, worker: StageThread) -> None:
        while True:
            worker.waits("items")
            numbered = self._buffer.take(self._most)
            worker.waits("python")
            if not numbered:
                return
            numbers = [number for number, _ in numbered]
            items = [item for _, item in numbered]
            while items:
                try:
                    worker.run(self._writer.write, items, self._stage.ran)
                    break
                except ItemError as error:
                    position = error.position
                    worker.item = (numbers[position], items[position])
                    if not self._stage.excuse(worker, error.cause, items[position]):
                        raise error.cause from None
                    numbers, items = numbers[position + 1 :], items[position + 1 :]
