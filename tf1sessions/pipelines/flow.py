"""The start of a pipeline's stages, the consequences when one of them ends or fails, and their common end.

::

    a stage has ended ──▶ settle ──▶ all that write to a queue have ended:   "ended", what is in it is still read
                                ──▶ all that read from it, and the body:    "cancelled", so that its writers end, too
    an error, stop(), Ctrl-C; or works, sinks and the body have ended ──▶ cancel ──▶ every queue "cancelled"
    the monitor thread closes queues as they are marked ──▶ threads come back ──▶ end() joins them, and raises the cause

``lock`` guards the stages, their states and the queues' marks; it is held for moments, never during a run. It is
re-entrant, because stop() may come from a signal handler.
"""

from __future__ import annotations

import atexit
import logging
import re
import signal
import threading
import time
import weakref
from typing import Any

from tf1sessions import forks, texts
from tf1sessions.errors import ClosedError, ConfigError, StageError, StallError, StragglerError, UsageError
from tf1sessions.pipelines.coordinator import Coordinator, is_consequence, join_all, whereabouts
from tf1sessions.pipelines.monitor_thread import TICK_SECS, MonitorThread
from tf1sessions.pipelines.observer import Observer
from tf1sessions.pipelines.queues import PipelineQueue, queue_of
from tf1sessions.pipelines.stages import Stage, StageThread
from tf1sessions.pipelines.trace import Trace
from tf1sessions.runtime import tf
from tf1sessions.sessions.calls import CompiledCall
from tf1sessions.sessions.watchdog import ActiveCall, made_at, program_traceback, watchdog

__all__ = ["Flow"]

logger = logging.getLogger("tf1sessions")

_OutOfRange: Any = tf.errors.OutOfRangeError
#: How often a thread that waits for the pipeline looks up, so that Ctrl-C is seen on every platform.
_LOOK_SECS = 0.5
#: A thread that declares nothing, and waits so long for a queue of a pipeline that was not started, starts it.
#: Arbitrary: longer than declaring takes.
_START_SECS = 1.0
#: How long threads have after a Ctrl-C while they are waited for. Arbitrary: what is cancelled ends in milliseconds.
_HURRY_SECS = 0.5
#: How long the threads of a pipeline that was left open have at the interpreter's end. Arbitrary.
_EXIT_SECS = 5.0
#: How much of an error's first line is in the text of a StageError; all of it is in its cause. Arbitrary.
_LONGEST_LINE = 500
#: How long a run in the main thread may go on after a SIGINT that the program handles itself. Arbitrary.
_HANDLER_SECS = 2.0


class _FlowCoordinator(Coordinator):
    """The coordinator of legacy code in a pipeline: a stop request stops the pipeline, and the other way round."""

    def __init__(self, flow: Flow) -> None:
        super().__init__()
        self._flow = flow

    def request_stop(self, ex: Any = None) -> None:
        error = ex[1] if isinstance(ex, tuple) and len(ex) == 3 else ex
        with self._flow.lock:  # whoever sees the stop request and fails because of it comes second
            super().request_stop(ex)
            if isinstance(error, BaseException) and not isinstance(error, _OutOfRange):
                self._flow.worker_failed(self._flow.worker_of(threading.current_thread()), error)
            else:
                self._flow.stop()


class Flow:
    """The stages and queues of a pipeline, once they are declared.

    Attributes:
        stopping: Nothing more is to be begun.
        tracing: Where runs are recorded, or None.
        queues, others: By name: those of the pipeline; those that the graph has besides, as far as they matter.
        lock: See the module.
    """

    def __init__(self, session: Any, name: str, *, stall_secs: float, on_stall: str, join_secs: float) -> None:
        self.session = session
        self.name = name
        self.coordinator = _FlowCoordinator(self)
        self.stopping = False
        self.started = False
        self.finished = False
        self.tracing: Trace | None = None
        self.queues: dict[str, PipelineQueue] = {}
        self.others: dict[str, PipelineQueue] = {}  # in the graph, and perhaps what an adopted thread waits for
        self.stages: dict[str, Stage] = {}
        self.observer = Observer(self, stall_secs, stop=on_stall == "stop")
        self._join_secs = join_secs
        self.lock = threading.RLock()
        self._changed = threading.Condition(self.lock)
        self._declarer = threading.get_ident()
        self._body_left = False
        self._cancelled_at = 0.0
        self._errors: list[tuple[str | None, str | None, BaseException]] = []  # stage, item, error
        self._raised: dict[int, Any] = {}  # id of an error -> what is raised for it, which holds it
        self._monitor: MonitorThread | None = None
        self._starting: threading.Thread | None = None
        self._blind = False  # the observer has failed
        self._closing: list[threading.Thread] = []

    # -- declaring -------------------------------------------------------------------------------------------------

    def compile_call(self, feeds: Any, fetches: Any, targets: Any) -> CompiledCall:
        """Compiles a request of the session."""
        return CompiledCall(self.session, feeds, fetches, targets)

    def check_open(self, what: str) -> None:
        """Raises ClosedError once the pipeline is ending, and ForkedAfterSessionError in a child of its process."""
        if forks.forked():
            raise forks.error(self.name)
        if self.finished or self.stopping:
            raise ClosedError(f"{self.name} has ended", where=what, next_step="Make a new QueuePipeline.")

    def add_queue(self, queue: PipelineQueue) -> PipelineQueue:
        """Takes a queue in, once."""
        with self.lock:
            return self.queues.setdefault(queue.name, queue)

    def add_stage(self, stage: Stage) -> None:
        """Takes a stage in; starts it if the pipeline was started.

        Raises:
            ConfigError: A queue that it writes to has had its end of input.
        """
        with self.lock:
            self.check_open(f"stage {stage.name!r}")
            for queue in stage.writes:
                if queue.wanted != "open":
                    raise ConfigError(
                        f"the input of queue {queue.name!r} has ended before stage {stage.name!r} was declared",
                        where=self.name,
                        next_step="Declare all that write to a queue before the pipeline starts: that is when the "
                        "`with` block ends, at start(), or when the block first waits for one of the queues.",
                    )
            self.stages[stage.name] = stage
            if self.started:
                self._start(stage)

    # -- starting --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts all stages; does nothing the second time."""
        with self.lock:
            if self.started:
                return
            self.check_open("start()")
            _running.add(self)
            self.monitor().wake()
            for stage in self.stages.values():
                stage.compile()
            self.started = True
            for stage in list(self.stages.values()):
                self._start(stage, compiled=True)
            self.settle()

    def _start(self, stage: Stage, compiled: bool = False) -> None:
        if not compiled:
            stage.compile()
        stage.begun = time.monotonic()
        stage.state = "running"
        for thread in (*[worker.thread for worker in stage.workers], *stage.helpers):
            if thread.ident is None:
                self._starting = thread
                thread.start()
        self._starting = None

    def monitor(self) -> MonitorThread:
        """The monitor thread, which is there from the first use of the pipeline as a context manager, or its start."""
        with self.lock:
            if self._monitor is None:
                self._monitor = MonitorThread(self._tend, self.name)
                self._monitor.start()
            return self._monitor

    # -- what happens, by workers and by the monitor thread ------------------------------------------------

    def worker_of(self, thread: threading.Thread) -> StageThread | None:
        """The worker that a thread is."""
        workers = (worker for stage in list(self.stages.values()) for worker in stage.workers)
        return next((worker for worker in workers if worker.thread is thread), None)

    def worker_failed(self, worker: StageThread | None, error: BaseException) -> None:
        """A thread, of a worker or not, raised: at the end of its input, as a consequence, or of an error."""
        if isinstance(error, _OutOfRange) and not (worker is not None and worker.calls):
            return
        with self.lock:
            if worker is None or worker.stage.kind == "thread":  # which queues it uses, nobody knows
                queues: Any = self.queues.values()
            else:
                queues = (*worker.stage.reads, *worker.stage.writes)
            ours = self.stopping or any(queue.state == "cancelled" and not queue.closed_by_others for queue in queues)
            if ours and is_consequence(error):
                return
            self.failed(worker, error)

    def failed(self, worker: StageThread | None, error: BaseException) -> None:
        """Notes an error and cancels everything."""
        with self.lock:
            if any(error is known for _, _, known in self._errors):
                return
            if worker is None:
                self._errors.append((None, None, error))
            else:
                worker.stage.state = "failed"
                self._errors.append((worker.stage.name, worker.at(), error))
            self._cancel()

    def worker_ended(self, worker: StageThread) -> None:
        """A worker has ended; if it was the last of its stage, so has the stage."""
        stage = worker.stage
        with self.lock:
            if any(each.ended is None for each in stage.workers):
                return
            if stage.state == "running":
                stage.state = "ended"
            self.settle()
            self._changed.notify_all()
            if self._monitor is not None:
                self._monitor.wake()

    def stop(self) -> None:
        """Ends the pipeline, without an error."""
        with self.lock:
            self._cancel()

    def _cancel(self) -> None:
        """Begins the end: nobody takes another step, and the monitor thread frees all that wait. With ``lock`` held."""
        if self.stopping:
            return
        self.stopping = True
        self._cancelled_at = time.monotonic()
        for stage in self.stages.values():
            stage.cancel()
        for queue in self.queues.values():
            queue.wanted = "cancelled"
        if not self.coordinator.should_stop():
            self.coordinator.request_stop()
        self._changed.notify_all()
        if self._monitor is not None:
            self._monitor.wake()

    def settle(self) -> None:
        """Marks the queues that are to be closed, now that a stage or the body has ended. With ``lock`` held."""
        if not self.started or self.stopping:
            return
        stages = self.stages.values()
        for queue in self.queues.values():
            writers = [stage for stage in stages if queue in stage.writes]
            if queue.wanted == "open" and writers and not any(stage.active for stage in writers):
                queue.input_ended = True
                if any(stage.closes for stage in writers):
                    queue.wanted = "ended"
            readers = [stage for stage in stages if queue in stage.reads]
            if self._body_left and queue.wanted != "cancelled" and readers and not any(map(_is_active, readers)):
                queue.wanted = "cancelled"

    def _no_longer_wanted(self, stage: Stage, queue: PipelineQueue) -> None:
        """Ends a stage that writes to a queue which nobody reads any more. With ``lock`` held."""
        stage.cancel()
        cut = [other.name for other in stage.writes if other is not queue and other.wanted == "open"]
        if cut:
            logger.warning(
                "%s: nobody reads queue %r any more, so %r ends; queue %s gets no more of its items",
                self.name, queue.name, stage.name, ", ".join(map(repr, cut)),
            )  # fmt: skip

    # -- the look of the monitor thread ------------------------------------------------------------------------------

    def _tend(self, interrupted: float | None) -> bool:
        """Return what the monitor thread does at each look; see there."""
        calls = [call for call in watchdog.calls() if call.session is self.session]
        workers = {worker.thread.ident: worker for stage in [*self.stages.values()] for worker in stage.workers}
        for call in calls:
            if call.thread in workers:
                call.named = True  # reported by the observer, with what it knows besides
        others = [call for call in calls if call.thread not in workers]
        noticed = interrupted is None or self._see_to_interrupt(interrupted, others)
        if not self.started and not self.stopping and any(map(self._waits_for_us, others)):
            try:
                self.start()
            except Exception as error:  # raised where the pipeline ends
                self.failed(None, error)
        self._look_at_adopted(calls, workers)
        self._close_queues()
        self._note_ends_of_adopted()
        if self.started and not self._blind:
            try:
                self.observer.look({call.thread: call for call in calls})
            except Exception as error:
                self._blind = True
                self.failed(None, error)
        return noticed

    def _note_ends_of_adopted(self) -> None:
        """Note which threads have ended that the program made: they do not say so themselves."""
        for stage in list(self.stages.values()):
            for worker in stage.workers:
                thread = worker.thread
                if worker.adopted and worker.ended is None and thread.ident is not None and not thread.is_alive():
                    worker.ends()

    def _see_to_interrupt(self, secs: float, calls: list[ActiveCall]) -> bool:
        """Frees the main thread if it cannot notice a SIGINT because it waits in TensorFlow. True when that is done."""
        if secs < TICK_SECS:
            return False
        main = threading.main_thread().ident
        if not any(call.thread == main and time.monotonic() - call.since > secs for call in calls):
            return True
        # A handler of the program's own may want the run to end well: it gets the time for one that does not wait.
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler and secs < _HANDLER_SECS:
            return False
        self.stop()
        return True

    def _look_at_adopted(self, calls: list[ActiveCall], workers: dict[int | None, StageThread]) -> None:
        """Learns by what an adopted thread waits for what it does, and frees it at the end."""
        for call in calls:
            worker = workers.get(call.thread)
            if worker is None or worker.stage.kind != "thread":
                continue
            for name, kind in call.operations:
                worker.stage.feeds = worker.stage.feeds or kind.startswith("QueueEnqueue")
                operation = queue_of(self.session.graph.get_operation_by_name(name))
                queue = None if operation is None else self.others.get(operation.name)
                if queue is not None and self.stopping and queue.state != "cancelled":
                    queue.state = "cancelled"
                    self._close(queue.cancel_now)

    def _waits_for_us(self, call: ActiveCall) -> bool:
        """Whether a thread waits for a queue of a pipeline that was not started."""
        if call.thread != self._declarer and time.monotonic() - call.since < _START_SECS:
            return False
        operations = (self.session.graph.get_operation_by_name(name) for name, _ in call.operations)
        return any(queue is not None and queue.name in self.queues for queue in map(queue_of, operations))

    def _close_queues(self) -> None:
        """Closes queues as they are marked.

        Cancelling does not wait. Ending does, behind those that wait for space; of the pipeline's own there are none
        then, but of others there may be: so it is left to a thread of its own.
        """
        for queue in list(self.queues.values()):
            if queue.wanted == queue.state or self.session._closed:
                continue
            if queue.wanted == "cancelled":
                self._cancel_queue(queue)
            else:
                queue.state = "ended"
                thread = threading.Thread(
                    target=self._close, args=(queue.end_now,), name=f"{self.name}/closes {queue.name}", daemon=True
                )
                self._closing.append(thread)
                thread.start()

    def _cancel_queue(self, queue: PipelineQueue) -> None:
        if not self.stopping and queue.state == "open":
            # Then its readers have ended because the program has closed it, while threads write to it:
            # what they have still got is lost, and is not to be lost without a word.
            queue.closed_by_others = bool(self.compile_call(None, queue.closed_now, None)())
        with self.lock:
            queue.state = "cancelled"
            if not self.stopping and not queue.closed_by_others:
                for stage in list(self.stages.values()):
                    if queue in stage.writes and stage.active:
                        self._no_longer_wanted(stage, queue)
        self._close(queue.cancel_now)

    def _close(self, operation: Any) -> None:
        try:
            self.compile_call(None, None, [operation])()
        except Exception as error:
            # A consequence: legacy code has closed it already, or the session is closed.
            if not is_consequence(error):
                self.failed(None, error)

    # -- the end ---------------------------------------------------------------------------------------------------

    def end(self, error: BaseException | None) -> bool:
        """Ends the pipeline, whose body has raised ``error``; returns whether that is dealt with, or raises.

        See :class:`~tf1sessions.QueuePipeline` for what is raised.
        """
        me = threading.current_thread()
        if self.worker_of(me) or any(me in stage.helpers for stage in list(self.stages.values())):
            raise UsageError(
                f"{self.name} is to be joined by a thread of its own, {me.name!r}",
                where="join()",
                next_step="Call stop(), and let the thread that made the pipeline join it.",
            )
        try:
            return self._end(error)
        except KeyboardInterrupt:
            if not self.finished:  # it came before anything was ended
                self._finish(time.monotonic() + _HURRY_SECS)
            raise

    def _end(self, error: BaseException | None) -> bool:
        if forks.forked():
            if error is not None:
                return False
            self.check_open("the end of the pipeline")
        with self.lock:
            if self.finished:
                return False
            follows = error is not None and is_consequence(error) and (self.stopping or isinstance(error, _OutOfRange))
            known = [each for _, _, each in self._errors]
            first = (
                error is not None
                and not follows
                and (not known or (all(map(is_consequence, known)) and not is_consequence(error)))
            )
        interrupt: BaseException | None = None
        if (error is None or follows) and not self._errors:
            try:
                self._wait_for_works()
            except BaseException as caught:  # Ctrl-C; raised below
                interrupt = caught
        try:
            late = self._finish()
        except KeyboardInterrupt as caught:  # wherever it came: once more, in a hurry; a second one is not caught
            interrupt = interrupt or caught
            late = self._finish(time.monotonic() + _HURRY_SECS)
        with self.lock:
            failed = self._error()
        raised = interrupt or error
        if raised is not None and (
            interrupt is not None or first or raised is failed or not isinstance(raised, Exception)
        ):
            for other in (failed, *late):
                if other is not None and other is not raised:
                    _add_note(raised, f"{type(other).__name__}: {texts.text_of(other)}")
            if interrupt is not None:
                raise interrupt
            return False
        if failed is None:
            if late:
                raise late[0]
            return True
        failed.others += (*(() if error is None else (error,)), *late)
        raise failed from failed.__cause__

    def _wait_for_works(self) -> None:
        """Starts what was not started, and waits until works, sinks and adopted threads have ended, or all must."""
        with self.lock:
            if not self.started and not self.stopping:
                self.start()
            self._body_left = True
            self.settle()
            self.monitor().wake()
            while not self.stopping and any(stage.terminal and stage.active for stage in self.stages.values()):
                self._changed.wait(_LOOK_SECS)

    def _finish(self, until: float | None = None) -> list[Exception]:
        """Cancels what is left and joins every thread; returns what went wrong with that, the worst first.

        May be called again, after a Ctrl-C has interrupted it.
        """
        errors: list[Exception] = []
        late: list[threading.Thread] = []
        self.stop()
        monitor = self.monitor()
        if until is None:
            until = self._cancelled_at + self._join_secs
        try:
            stages = self.stages.values()
            threads = [worker.thread for stage in stages for worker in stage.workers]
            threads += [thread for stage in stages for thread in stage.helpers]
            if self._starting is not None:  # Ctrl-C came between its start and the moment when it says that it runs
                limit = time.monotonic() + _START_SECS
                while self._starting.ident is None and time.monotonic() < limit:
                    time.sleep(0.001)
            late = join_all([thread for thread in threads if thread.ident is not None], until)
        except BaseException:
            until = 0.0
            raise
        finally:
            if not monitor.end(max(0.5, until - time.monotonic())):
                late.append(monitor.thread)
            late += join_all(
                self._closing, max(until, time.monotonic() + 0.5)
            )  # the monitor thread starts no more of them
            self.finished = True
            _running.discard(self)
            if self.tracing is not None:
                try:
                    self.tracing.write()
                except OSError as error:  # raised, unless there is something worse to report
                    errors.append(error)
        if late:
            errors.insert(0, self._stragglers(late))
        self._note_ends_of_adopted()  # the monitor thread may have looked before they ended
        self.observer.last_look()
        return errors

    def _stragglers(self, late: list[threading.Thread]) -> StragglerError:
        places = {thread.name: whereabouts(thread) for thread in late}
        keeping = [thread.name for thread in late if not thread.daemon]
        return StragglerError(
            f"{self.name}: {len(late)} of its threads did not end within {self._join_secs:g} s: "
            + "; ".join(f"{name!r}: {place}" for name, place in places.items()),
            next_step="Give what they wait for a limit of its own"
            + (f"; {', '.join(map(repr, keeping))} will keep the process." if keeping else "."),
            threads=places,
        )

    def error(self) -> Any:
        """The error that the pipeline ends with, or None: the first that does not just follow from another one."""
        with self.lock:
            return self._error()

    def _error(self) -> Any:
        if not self._errors:
            return None
        causes = [each for each in self._errors if not is_consequence(each[2])] or self._errors
        error = self._as_error(*causes[0])
        error.others = tuple(self._as_error(*each) for each in self._errors if each is not causes[0])
        return error

    def _as_error(self, stage: str | None, at: str | None, cause: BaseException) -> Any:
        found = self._raised.get(id(cause))
        if found is None:
            if isinstance(cause, StallError):
                found = cause
            else:
                actor = f"stage {stage!r}" if stage is not None else "a thread"
                found = StageError(
                    f"{actor} of {self.name} failed{f' at {at}' if at else ''}: {type(cause).__name__}: {_text(cause)}",
                    stage=stage,
                    item=at,
                )
                found.__cause__ = cause
                # Of what is shown, the program's lines; TensorFlow's error is there once, with what the library added.
                cause.__traceback__ = program_traceback(cause.__traceback__)
                if isinstance(cause, tf.errors.OpError) and isinstance(cause.__context__, tf.errors.OpError):
                    cause.__suppress_context__ = True
            found.others = ()
            self._raised[id(cause)] = found
        return found


# Pipelines that were started, and whose end has not come.
_running: weakref.WeakSet[Flow] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """Ends what the program has left open: a thread inside TensorFlow at the interpreter's end aborts the process."""
    if forks.forked():  # the threads are the parent's
        return
    for flow in list(_running):
        flow._finish(time.monotonic() + _EXIT_SECS)


def _is_active(stage: Stage) -> bool:
    return stage.active


def _text(error: BaseException) -> str:
    """Return what an error says; TensorFlow's without the stack of the operation, which its own traceback shows."""
    message = getattr(error, "message", None)
    text = (message if isinstance(message, str) and message else texts.text_of(error)).strip() or "no message"
    found = re.search(r"\nNode: ('[^\n]*')\n(.*?)(?:\n\t \[\[\{\{node|\Z)", text, re.DOTALL)
    if not found:
        return _short(text)
    line = made_at(error.op) if getattr(error, "op", None) is not None else None  # type: ignore[attr-defined]
    return f"{_short(found[2].strip())} (operation {found[1]}{f', made at {line}' if line else ''})"


def _short(text: str) -> str:
    """The first line of a text: of a Python function in the graph, a whole traceback follows it."""
    line, _, more = text.partition("\n")
    return f"{line[:_LONGEST_LINE]}…" if len(line) > _LONGEST_LINE or more else line


def _add_note(error: BaseException, note: str) -> None:
    """Add a note to an error, as ``add_note`` of Python 3.11 does."""
    if hasattr(error, "add_note"):
        error.add_note(note)
    else:
        error.__notes__ = [*getattr(error, "__notes__", ()), note]  # type: ignore[attr-defined]
