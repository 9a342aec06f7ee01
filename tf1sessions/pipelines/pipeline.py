"""QueuePipeline: sources, queues, stages and consumers of one session, that start together and always end.

::

    source ──▶ queue ──▶ stage ──▶ queue ──▶ work, sink, or the body of the `with` block

This module is what users declare a pipeline with; flow.py is what then happens.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from tf1sessions import forks
from tf1sessions.errors import ConfigError
from tf1sessions.pipelines.blocks import BlockReader, BlockWriter
from tf1sessions.pipelines.coordinator import Coordinator, is_consequence
from tf1sessions.pipelines.flow import Flow
from tf1sessions.pipelines.queues import QUEUE_OPERATIONS, PipelineQueue, make_queue, queue_from, queues_of
from tf1sessions.pipelines.sources import PythonSource
from tf1sessions.pipelines.stages import Stage, StageThread, check_policy
from tf1sessions.pipelines.statistics import PipelineStatistics
from tf1sessions.pipelines.trace import Trace
from tf1sessions.runtime import tf
from tf1sessions.sessions.calls import watched_session
from tf1sessions.texts import brief

__all__ = ["QueuePipeline"]

_numbers = itertools.count(1)
_OutOfRange: Any = tf.errors.OutOfRangeError
#: The longest time that can be asked for. Arbitrary: below what a lock can wait for.
_LONGEST_SECS = 1e6


class QueuePipeline:
    """Queues of one session, the threads that fill and empty them, and their common end.

    Args:
        session: A :class:`~tf1sessions.GraphSession`, or a session.
        name: For messages and for the names of threads.
        on_error: What an error in a stage does, where the stage does not say so itself: "stop" the pipeline, which then
            raises it; "skip" it and go on, counted; or a function of (error, item) that returns one of the two. After
            1000 errors in a row with no success between them the next one stops the pipeline.
        stall_secs: A stage that has waited so long for a queue, in one and the same run, is reported in the log
            ``tf1sessions``, with the state of all queues and stages.
        on_stall: "warn", or "stop": then the pipeline ends with a :class:`~tf1sessions.errors.StallError`.
        join_secs: How long threads have to end once they must.
        block: The most items that Python producers and consumers move in one run.

    Use it as a context manager. In the block, make queues and declare stages; they start together when the block ends,
    at :meth:`start`, or when the block first waits for one of the queues in a run of the session. A clean block then
    waits until all works and sinks have had their steps, or the end of input; with none of them, it ends the pipeline
    at once. An error in the block cancels everything. Leaving joins every thread.

    An item that was taken from a producer is lost if the pipeline is cancelled before it is enqueued.

    Raises on leaving:
        StageError: A stage failed; its ``__cause__`` is the error. Of several, the first that does not just follow from
            another; ``others`` are the rest. If the block has failed before, or was interrupted, its own error comes.
        StallError: Something waited longer than ``stall_secs``, with ``on_stall="stop"``.
        StragglerError: Threads did not end within ``join_secs``; says where they are.

    The block's own OutOfRangeError, of a queue of the pipeline whose input has ended, is a clean end. One that a
    stage's Python makes itself is an error; that of a session which a producer runs is the end of its input.

    Raises:
        ConfigError: For a setting that is out of its range.

    Thread-safety: declaring, and calling ``items``, belong to the thread that builds the graph. The iterator of
    ``items``, ``stop``, ``statistics`` and the attributes may be used from any thread.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     total = tf.Variable(0.0)
        ...     with t1.QueuePipeline(gs) as pipe:
        ...         numbers = pipe.queue("numbers", capacity=8, dtypes=[tf.float32], shapes=[()])
        ...         pipe.source(numbers, range(10), threads=2)
        ...         add = tf.assign_add(total, numbers.dequeue())
        ...         gs.initialize()
        ...         pipe.work("add", add)
        ...     print(gs.run(total))
        45.0
    """

    def __init__(
        self,
        session: Any,
        name: str | None = None,
        *,
        on_error: Any = "stop",
        stall_secs: float = 60.0,
        on_stall: str = "warn",
        join_secs: float = 10.0,
        block: int = 256,
    ) -> None:
        session = watched_session(session, "QueuePipeline")
        if on_stall not in ("warn", "stop"):
            raise ConfigError(f"on_stall is {on_stall!r}", where="QueuePipeline", next_step='Give "warn" or "stop".')
        self._on_error = check_policy(on_error, "QueuePipeline")
        self._block = _count("block", block, "QueuePipeline")
        self._flow = Flow(
            session,
            name or f"QueuePipeline-{next(_numbers)}",
            stall_secs=_seconds("stall_secs", stall_secs),
            on_stall=on_stall,
            join_secs=_seconds("join_secs", join_secs),
        )

    @property
    def name(self) -> str:
        """Its name."""
        return self._flow.name

    @property
    def session(self) -> Any:
        """The session that it runs in."""
        return self._flow.session

    @property
    def coordinator(self) -> Coordinator:
        """A ``tf.train.Coordinator`` for legacy code: its stop request stops the pipeline, and the other way round."""
        return self._flow.coordinator

    # -- declaring -------------------------------------------------------------------------------------------------

    def queue(
        self,
        name: Any,
        capacity: int = 32,
        dtypes: Any = None,
        shapes: Any = None,
        kind: str = "fifo",
        *,
        names: Sequence[str] | None = None,
        min_after_dequeue: int | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
    ) -> PipelineQueue:
        """Makes a queue, or takes over one that the graph has.

        Args:
            name: The name of its operation; or a ``tf.QueueBase``, and then nothing else.
            capacity: The most items that it holds; -1 for no bound.
            dtypes: One for each component of an item.
            shapes: One for each component, without the dimension of a batch. Unknown by default; such a queue has no
                ``dequeue_many``.
            kind: "fifo"; "padding", whose ``dequeue_many`` fills up dimensions that are None in ``shapes``; "shuffle";
                or "priority", whose items begin with an int64 that is not among ``dtypes``: the lowest goes first.
            names: One for each component: items are dicts then.
            min_after_dequeue: Of a shuffle queue: so many items stay in it, to be mixed. Default: half of its capacity.
            seed: Of a shuffle queue.
            shared_name: As for ``tf.FIFOQueue``.

        Raises:
            ConfigError: An argument is out of its range, or the pipeline has ended.
        """
        self._flow.check_open(f"queue({name!r:.80})")
        if isinstance(name, PipelineQueue):
            name = name.queue
        if isinstance(name, tf.QueueBase):
            return self._queue_of(name, "queue")
        return self._flow.add_queue(
            make_queue(
                self._flow.session.graph,
                str(name),
                capacity=capacity,
                dtypes=dtypes,
                shapes=shapes,
                kind=kind,
                names=names,
                min_after_dequeue=min_after_dequeue,
                seed=seed,
                shared_name=shared_name,
            )
        )

    def source(
        self,
        queue: Any,
        producer: Any,
        threads: int = 1,
        name: str | None = None,
        *,
        on_error: Any = None,
        block: int | None = None,
    ) -> None:
        """Fills a queue from Python, or by operations.

        When all that write to a queue have ended, it is closed, and what is in it can still be read.

        Args:
            queue: A queue of the pipeline, or a ``tf.QueueBase``.
            producer: An iterable, or a function without parameters that returns one (a generator function, for example;
                it is called in a thread of the source): its items are shared by the threads, each goes in once, one
                thread at a time asks for the next. A function of ``(worker, workers)`` returning an iterable is called
                once a thread, for a shard each. Items are what the queue takes: a value; a tuple of several components'
                values; a dict, if the components have names. A generator may fill the same arrays again for each. Or an
                enqueue operation, or a list of them, each run by so many threads until the end of its input; or a
                tensor, or a tuple of them, to enqueue in each run.
            threads: How many threads take items from the producer. Items that they share reach the queue in the order
                in which they were taken, and so do those of a shard.
            name: Of the stage.
            on_error: As for the pipeline. A generator that has raised has ended: skipping its error skips its rest. A
                producer's OutOfRangeError, of what it reads in a session, is the end of its items.
            block: The most items that go to the queue in one run, and that are taken from the producer before they do.

        Raises:
            ConfigError: The producer is none of these, a count is below 1, or the queue's input has ended already.
        """
        queue = self._queue_of(queue, "source")
        where = f"QueuePipeline.source({queue.name!r})"
        _count("threads", threads, where)
        name = self._stage_name(name or f"{queue.name}/source", made_up=name is None)
        policy = self._policy(on_error, where)
        operations = _operations(producer, queue)
        if operations is not None:
            use = self._use(operations)
            if queue not in use.writes:
                raise ConfigError(
                    f"operation {operations[0].name!r} does not enqueue to {queue.name!r}",
                    where=where,
                    next_step=f"Make it with {queue.name}.enqueue(...).",
                )
            stage = Stage(self._flow, name, "source", reads=use.reads, writes=use.writes, on_error=policy)
            stage.operations = use.operations
            self._repeat(stage, [[operation] for operation in operations], threads, {}, None)
            return
        most = _count("block", self._block if block is None else block, where)
        if queue.capacity > 0:
            most = min(most, queue.capacity)
        stage = Stage(self._flow, name, "source", writes=[queue], on_error=policy)
        PythonSource(stage, producer, threads, BlockWriter(queue), most, where)
        self._flow.add_stage(stage)

    def work(
        self,
        name: str,
        fetches: Any,
        steps: int | None = None,
        threads: int = 1,
        *,
        feeds: Mapping[Any, Any] | None = None,
        each: Callable[[Any], Any] | None = None,
        on_error: Any = None,
    ) -> None:
        """Runs operations again and again: a train_op, an enqueue operation of the next queue, a summary.

        Which queues it reads and writes is seen in the graph, those of legacy code included. It ends after ``steps``
        runs, at the end of its input, and when nobody is left to read what it writes.

        Args:
            name: Of the stage.
            fetches: As for ``Session.run``.
            steps: How many runs, of all its threads together. By default until the end of its input.
            threads: How many run it at once.
            feeds: Tensors (or names) and their values, the same in each run.
            each: Called with the result of each run, in the thread that ran it.
            on_error: As for the pipeline.

        Raises:
            ConfigError: A count is below 1, or the name is taken.
            TypeError, ValueError: As ``Session.run``, for what is not in this graph.
        """
        where = f"QueuePipeline.work({name!r:.80})"
        _count("threads", threads, where)
        if steps is not None:
            _count("steps", steps, where)
        graph = self._flow.session.graph
        fed = {graph.as_graph_element(tensor, allow_operation=False): value for tensor, value in (feeds or {}).items()}
        use = self._use(fetches, list(fed))
        stage = Stage(
            self._flow,
            self._stage_name(name),
            "work",
            reads=use.reads,
            writes=use.writes,
            on_error=self._policy(on_error, where),
            steps=steps,
        )
        stage.operations = use.operations
        self._repeat(stage, [fetches], threads, fed, each)

    def stage(
        self,
        name: str,
        function: Callable[..., Any],
        inputs: Any,
        batch: int | None = None,
        *,
        unbatch: bool = True,
        device: Any = None,
        threads: int = 1,
        capacity: int | None = None,
        kind: str = "fifo",
        on_error: Any = None,
    ) -> PipelineQueue:
        """Puts a part of a model, or any other function of tensors, between two queues: queue → operations → queue.

        Several stages with a device each run side by side: part 1 of the next batch while part 2 is at this one.

        Args:
            name: Of the stage, and of the queue that it makes ("_" for what an operation's name cannot have).
            function: Called once, here, with a tensor for each component of an item, by name if they have names;
                returns a tensor, a tuple or a dict of them, the components of the items of the new queue.
            inputs: The queue to read.
            batch: How many items a run takes, the last one what is left: tensors have a dimension more then, the first.
                By default one item as it is.
            unbatch: With ``batch``: whether the rows of the results become items again, or the whole of them one item.
            device: For the operations of ``function``, as for ``tf.device``.
            threads: How many run it at once.
            capacity: Of the new queue. By default that of ``inputs``; 2 for whole batches.
            kind: Of the new queue: "fifo" or "shuffle".
            on_error: As for the pipeline.

        Returns:
            The new queue. It ends when the stage does.

        Raises:
            ConfigError: A count is below 1, ``kind`` is another, or the name is taken.
        """
        where = f"QueuePipeline.stage({name!r:.80})"
        name = self._stage_name(name)
        inputs = self._queue_of(inputs, "stage")
        _count("threads", threads, where)
        if batch is not None:
            _count("batch", batch, where)
        if kind not in ("fifo", "shuffle"):
            raise ConfigError(f"kind is {kind!r}", where=where, next_step='Give "fifo" or "shuffle".')
        rows = batch is not None and unbatch
        if batch is not None and inputs.kind == "priority":
            raise ConfigError(
                f"batch is {batch} for the priority queue {inputs.name!r}, which loses what is left at its end",
                where=where,
                next_step="Leave batch out.",
            )
        with self._flow.session.graph.as_default():
            taken = inputs.dequeue() if batch is None else inputs.dequeue_up_to(batch)
            with tf.device(device) if device is not None else contextlib.nullcontext(), tf.name_scope(None):
                made = function(**taken) if inputs.names else function(*inputs.tensors(taken))
            values, names = _components(made)
            shapes = [value.shape[1:] if rows and value.shape.rank else value.shape for value in values]
            known = all(shape.is_fully_defined() for shape in shapes)
            if capacity is None:
                capacity = 2 if batch is not None and not rows else inputs.capacity
            outputs = self.queue(
                _operation_name(name),
                capacity=capacity,
                dtypes=[value.dtype for value in values],
                shapes=shapes if known else None,
                kind=kind,
                names=names,
            )
            if rows:
                values = [_with_elements(value, name) for value in values]
            item = outputs.item(values)
            with tf.control_dependencies(inputs.tensors(taken)):  # what does not use its input has as many items, too
                enqueue = outputs.enqueue_many(item) if rows else outputs.enqueue(item)
            request = [enqueue] if batch is None else [enqueue, tf.shape(inputs.tensors(taken)[0])[0]]
        use = self._use([enqueue])
        stage = Stage(
            self._flow, name, "stage", reads=use.reads, writes=use.writes, on_error=self._policy(on_error, where)
        )
        stage.operations = use.operations
        self._repeat(stage, [request], threads, {}, None, None if batch is None else lambda result: int(result[1]))
        return outputs

    def sink(
        self,
        name: str,
        queue: Any,
        function: Callable[[Any], Any],
        threads: int = 1,
        *,
        on_error: Any = None,
        block: int | None = None,
    ) -> None:
        """Calls a Python function for each item of a queue, until the end of its input.

        Args:
            name: Of the stage.
            queue: The queue to read.
            function: Called with an item: an array, a tuple of several components' arrays, or a dict by name. Arrays of
                one block share memory.
            threads: How many call it at once.
            on_error: As for the pipeline; an error of ``function`` skips that item.
            block: The most items that are taken in one run: of those that are there, it waits for one only.

        Raises:
            ConfigError: A count is below 1, or the name is taken.
        """
        where = f"QueuePipeline.sink({name!r:.80})"
        queue = self._queue_of(queue, "sink")
        _count("threads", threads, where)
        reader = BlockReader(queue, _count("block", self._block if block is None else block, where))
        stage = Stage(
            self._flow, self._stage_name(name), "sink", reads={queue: 1}, on_error=self._policy(on_error, where)
        )
        stage.operations = {reader.operation.name: queue}
        stage.compile = lambda: reader.compile(self._flow.compile_call)
        for number in range(1, threads + 1):
            stage.add_worker(functools.partial(stage.consume, reader, function), f"{number}" if threads > 1 else "")
        self._flow.add_stage(stage)

    def items(self, queue: Any, block: int | None = None) -> Iterator[Any]:
        """The items of a queue, one after the other, in this thread. Starts the pipeline; ends with the queue's input.

        Args:
            queue: The queue to read. Call it in the thread that builds the graph; the iterator may go to another. One
                that is ended early, by ``break``, leaves what it has taken out of the queue to the queue's next one.
            block: As for :meth:`sink`.

        Raises:
            StageError: While iterating: the pipeline has failed.
        """
        queue = self._queue_of(queue, "items")
        reader = BlockReader(queue, _count("block", self._block if block is None else block, "QueuePipeline.items"))
        reader.compile(self._flow.compile_call)
        queue.iterated = True
        return self._iterate(queue, reader)

    def _iterate(self, queue: PipelineQueue, reader: BlockReader) -> Iterator[Any]:
        self.start()
        while True:
            if forks.forked():  # the lock may have been held at the fork
                self._flow.check_open("items()")
            try:
                with reader.lock:
                    items = queue.take_returned() or reader.read()
            except Exception as error:
                if queue.returned:
                    continue
                failed = self._flow.error()
                if is_consequence(error) and failed is not None:
                    raise failed from failed.__cause__
                if isinstance(error, _OutOfRange) or (is_consequence(error) and self._flow.stopping):
                    return
                raise
            rest = iter(items)
            try:
                yield from rest
            finally:  # ended early; without a lock, as the garbage collection may do that anywhere
                queue.returned.extendleft(reversed(list(rest)))

    def adopt(self, what: Any = tf.GraphKeys.QUEUE_RUNNERS, name: str | None = None) -> None:
        """Takes over queue runners or threads of legacy code, as they are, on the pipeline's coordinator.

        Args:
            what: The key of a collection of ``tf.train.QueueRunner``s, such a runner, a ``threading.Thread`` that was
                not started yet or runs, or a list of these. A runner's threads are its own, daemons, started with the
                pipeline; at the end of their input they run its ``close_op``, at a stop its ``cancel_op``. A thread is
                started with the pipeline, and waited for at its end as a work is, unless it was seen to wait for space
                in a queue; the queues that the graph has are cancelled where it waits for them. What it raises is an
                error of the pipeline; of a thread that runs already, only what it reports to the coordinator is known.
            name: Of the stage; of a runner that of its queue by default, of a thread that of the thread.

        Raises:
            ConfigError: It is none of these, or a collection holds none.
        """
        where = f"QueuePipeline.adopt({what!r:.80})"
        found = self._flow.session.graph.get_collection(what) if isinstance(what, str) else what
        if isinstance(found, (list, tuple, set)):
            if not found:
                raise ConfigError(
                    "there is nothing to adopt",
                    where=where,
                    next_step="Build the input pipeline first; tf.train.add_queue_runner puts runners there.",
                )
            for each in list(found):
                self.adopt(each, name if len(found) == 1 else None)
        elif isinstance(found, tf.train.QueueRunner):
            self._adopt_runner(found, name)
        elif isinstance(found, threading.Thread):
            self._adopt_thread(found, name)
        else:
            raise ConfigError(
                f"{what!r:.80} cannot be adopted",
                where=where,
                next_step="Give the key of a collection, QueueRunners, or threads.",
            )

    def _adopt_thread(self, thread: threading.Thread, name: str | None) -> None:
        stage = Stage(self._flow, self._stage_name(name or thread.name, made_up=name is None), "thread")
        worker = StageThread(stage, thread, adopted=thread.ident is not None)
        stage.workers = [worker]
        if not worker.adopted:
            run = thread.run
            thread.run = lambda: worker.main(lambda worker: run())  # type: ignore[method-assign]
        graph = self._flow.session.graph
        for operation in graph.get_operations():
            if operation.type in QUEUE_OPERATIONS and operation.name not in {*self._flow.queues, *self._flow.others}:
                self._flow.others[operation.name] = queue_from(operation)
        self._flow.add_stage(stage)

    def _adopt_runner(self, runner: Any, name: str | None) -> None:
        use = self._use(list(runner.enqueue_ops))
        stage = Stage(self._flow, self._stage_name(name or runner.name, made_up=name is None), "runner",
                      reads=use.reads, writes=use.writes)  # fmt: skip
        stage.closes = False  # the runner does, by an operation of its own
        stage.operations = use.operations
        session = _CountingSession(self._flow, stage, runner.enqueue_ops)
        threads = runner.create_threads(session, coord=self.coordinator, daemon=True, start=False)
        enqueuing = len(runner.enqueue_ops)
        stage.workers = [StageThread(stage, thread, adopted=True) for thread in threads[:enqueuing]]
        stage.helpers = threads[enqueuing:]  # that which runs cancel_op after a stop
        self._flow.add_stage(stage)

    # -- starting and ending ---------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts everything that was declared. What is declared later starts at once. Starting again does nothing.

        Raises:
            ClosedError: The pipeline has ended.
        """
        self._flow.start()

    def stop(self) -> None:
        """Ends the pipeline, without an error: cancels all that its threads wait for, and returns at once.

        Safe to call from any thread, of the pipeline or not, and from signal handlers; more than once.
        """
        self._flow.stop()

    def join(self) -> None:
        """Ends as leaving a clean block does: waits for works and sinks, then joins every thread.

        For programs without a ``with`` block.

        Raises:
            StageError, StallError, StragglerError: As leaving the block.
        """
        self._flow.end(None)

    def __enter__(self) -> QueuePipeline:
        self._flow.check_open("with")
        try:
            self._flow.monitor()
        except BaseException as error:  # Ctrl-C: __exit__ will not be called
            self._flow.end(error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return self._flow.end(error)

    # -- looking ---------------------------------------------------------------------------------------------------

    def statistics(self) -> PipelineStatistics:
        """The state of all queues and stages, now, or as it was at the end. ``print`` it for a table."""
        return self._flow.observer.statistics()

    def trace(self, path: str | os.PathLike[str]) -> None:
        """Records what happens from now on, and writes it when the pipeline has ended.

        The file shows, in https://ui.perfetto.dev or chrome://tracing, the runs of the session in each thread of each
        stage, and how full the queues were.

        Args:
            path: A file; compressed if its name ends in ``.gz``.

        Raises:
            ConfigError: The file cannot be written there, or there is a trace already.
        """
        self._flow.check_open("trace()")
        if self._flow.tracing is not None:
            raise ConfigError(
                f"{self.name} is traced already, to {self._flow.tracing.path!r}",
                where=f"trace({os.fspath(path)!r:.200})",
                next_step="A pipeline has one trace.",
            )
        self._flow.tracing = Trace(path, title=self.name)

    def __repr__(self) -> str:
        flow = self._flow
        state = "ended" if flow.finished else "ending" if flow.stopping else "running" if flow.started else "declared"
        return f"<QueuePipeline {self.name!r} {state}, {len(flow.queues)} queues, {len(flow.stages)} stages>"

    # -- inside ----------------------------------------------------------------------------------------------------

    def _queue_of(self, queue: Any, method: str) -> PipelineQueue:
        """The pipeline's own form of a queue that was given to one of its methods."""
        if isinstance(queue, PipelineQueue):
            queue = queue.queue
        if not isinstance(queue, tf.QueueBase):
            raise ConfigError(
                f"queue is {queue!r:.200}",
                where=f"QueuePipeline.{method}",
                next_step="Give what queue() or stage() returned, or a tf.QueueBase.",
            )
        operation = queue.queue_ref.op
        if operation.graph is not self._flow.session.graph:
            raise ConfigError(
                f"queue {operation.name!r} is not in the graph of the pipeline's session",
                where=f"QueuePipeline.{method}",
                next_step="Make it with this pipeline's queue().",
            )
        return self._flow.queues.get(operation.name) or self._flow.add_queue(PipelineQueue(queue))

    def _use(self, fetches: Any, fed: Sequence[Any] = ()) -> _PipelineQueueUse:
        """Return the queues that a request reads and writes; those of legacy code are taken over."""
        graph = self._flow.session.graph
        elements = [graph.as_graph_element(each, allow_tensor=True, allow_operation=True) for each in _flat(fetches)]
        tensors = [each for each in elements if isinstance(each, tf.Tensor)]
        found = queues_of(tensors, [each for each in elements if not isinstance(each, tf.Tensor)], fed)
        known = self._flow.queues

        def taken_over(operation: Any) -> PipelineQueue:
            return known.get(operation.name) or self._flow.add_queue(queue_from(operation))

        return _PipelineQueueUse(
            {taken_over(queue): count for queue, count in found.reads.items()},
            [taken_over(queue) for queue in found.writes],
            {name: taken_over(queue) for name, queue in found.operations.items()},
        )

    def _repeat(
        self,
        stage: Stage,
        requests: Sequence[Any],
        threads: int,
        feeds: Mapping[Any, Any],
        each: Callable[[Any], Any] | None,
        count: Callable[[Any], int] | None = None,
    ) -> None:
        """Gives a stage ``threads`` threads for each request, and declares it."""
        calls: list[Any] = []
        values = tuple(feeds.values())
        items = max(stage.reads.values(), default=1)
        count = count or (lambda result: items)

        def compile_all() -> None:
            calls.extend(self._flow.compile_call(list(feeds), request, None) for request in requests)

        def loop(number: int, worker: StageThread) -> None:
            call = calls[number]
            stage.repeat((lambda: call(*values)) if values else call, count, each, worker)

        stage.compile = compile_all
        for number in range(len(requests)):
            for thread in range(threads):
                several = len(requests) * threads > 1
                suffix = f"{number * threads + thread + 1}" if several else ""
                stage.add_worker(functools.partial(loop, number), suffix)
        self._flow.add_stage(stage)

    def _policy(self, on_error: Any, where: str) -> Any:
        return self._on_error if on_error is None else check_policy(on_error, where)

    def _stage_name(self, name: str, *, made_up: bool = False) -> str:
        """A name that no other stage has."""
        taken = self._flow.stages
        if name in taken and not made_up:
            raise ConfigError(f"there is a stage {name!r} already", where=self.name, next_step="Give it another name.")
        names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        return next(each for each in names if each not in taken)


def _operation_name(name: str) -> str:
    """A name that an operation can have."""
    name = re.sub(r"[^A-Za-z0-9_.\\/>-]", "_", name)
    return name if re.match(r"[A-Za-z0-9.]", name) else f"stage{name}"


def _components(made: Any) -> tuple[list[Any], tuple[str, ...] | None]:
    """Return the tensors that the function of a stage has returned, and their names, if it was a dict."""
    names = tuple(made) if isinstance(made, dict) else None
    values = [*made.values()] if names else [*made] if isinstance(made, (list, tuple)) else [made]
    return [tf.convert_to_tensor(value) for value in values], names


def _with_elements(value: Any, stage: str) -> Any:
    """The value, and an error when it is run if its rows have no elements: TensorFlow 2.21 dies of such rows."""
    if value.shape.rank is not None and value.shape[1:].is_fully_defined() and value.shape[1:].num_elements():
        return value
    fits = tf.logical_or(tf.size(value) > 0, tf.equal(tf.shape(value)[0], 0))
    text = f"the rows of the results of stage {stage!r} have no elements; use unbatch=False"
    with tf.control_dependencies([tf.Assert(fits, [text, tf.shape(value)])]):
        return tf.identity(value)


class _PipelineQueueUse(NamedTuple):
    """:class:`~tf1sessions.pipelines.queues.QueueUse`, with the pipeline's queues."""

    reads: dict[PipelineQueue, int]
    writes: list[PipelineQueue]
    operations: dict[str, PipelineQueue]


class _CountingSession:
    """The session as an adopted QueueRunner sees it: its runs are the stage's."""

    def __init__(self, flow: Flow, stage: Stage, enqueue_ops: Sequence[Any]) -> None:
        self._flow = flow
        self._stage = stage
        self._counted_ops = {id(operation) for operation in enqueue_ops}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._flow.session, name)

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        call = functools.partial(self._flow.session.run, fetches)
        return self._counted(call, *args, **kwargs) if id(fetches) in self._counted_ops else call(*args, **kwargs)

    def make_callable(self, fetches: Any, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        call: Callable[..., Any] = self._flow.session.make_callable(fetches, *args, **kwargs)
        return functools.partial(self._counted, call) if id(fetches) in self._counted_ops else call

    def _counted(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        worker = self._flow.worker_of(threading.current_thread())
        if worker is None:  # the thread that runs cancel_op
            return call(*args, **kwargs)
        result = worker.run(lambda: call(*args, **kwargs))
        self._stage.ran(1)
        return result


def _flat(fetches: Any) -> list[Any]:
    """The tensors, operations and names in a structure of fetches."""
    if isinstance(fetches, Mapping):
        return [leaf for each in fetches.values() for leaf in _flat(each)]
    if isinstance(fetches, (list, tuple)):
        return [leaf for each in fetches for leaf in _flat(each)]
    if isinstance(fetches, (tf.SparseTensor, tf.IndexedSlices)):
        return [fetches.op]
    return [fetches]


def _operations(producer: Any, queue: PipelineQueue) -> list[Any] | None:
    """The enqueue operations that a producer is, or None: it is Python's."""
    several = list(producer) if isinstance(producer, (list, tuple)) else [producer]
    if several and all(isinstance(each, tf.Operation) for each in several):
        return several
    values = several if not isinstance(producer, dict) else list(producer.values())
    if values and all(isinstance(each, (tf.Tensor, tf.Variable)) for each in values):
        return [queue.enqueue(producer)]
    return None


#: What TensorFlow's queues can count; and how many threads a stage may have, which is arbitrary.
_MOST_ITEMS = 2**31 - 1
_MOST_THREADS = 10_000


def _count(what: str, value: Any, where: str) -> int:
    most = _MOST_THREADS if what == "threads" else _MOST_ITEMS
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ConfigError(f"{what} is {brief(value)}", where=where, next_step=f"Give an integer from 1 to {most:,}.")
    return value


def _seconds(what: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value <= _LONGEST_SECS:
        raise ConfigError(f"{what} is {value!r}", where="QueuePipeline", next_step="Give a number of seconds above 0.")
    return float(value)
