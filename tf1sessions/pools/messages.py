"""Jobs that a worker gets in one message, from their pickling to their end."""

from __future__ import annotations

import contextlib
import operator
import time
from typing import TYPE_CHECKING

from tf1sessions.pools.call_packing import Block
from tf1sessions.pools.process_jobs import ProcessJob, Seat
from tf1sessions.pools.process_worker import Reply
from tf1sessions.pools.worker_link import WorkerGone

if TYPE_CHECKING:
    from tf1sessions.pools.processes import ProcessSessionPool

__all__ = ["Message"]

_DUE_SECS = 0.005  # after which jobs that were thought to be short give those behind them back; arbitrary
_TOGETHER_BYTES = 32 << 10  # of the pickles of jobs that go together; arbitrary
_LONG_SECS = 3600.0  # of a wait that ends when there is something; arbitrary


class Message:
    """Jobs that a worker gets in one message, from their pickling to their end. For the thread of the seat.

    The first without a reply runs. Whether one behind it has begun is known when the worker has ended, or was held.
    """

    def __init__(self, pool: ProcessSessionPool, seat: Seat, jobs: list[ProcessJob]) -> None:
        assert seat.worker is not None
        self._pool, self._seat, self._worker = pool, seat, seat.worker
        self._jobs = jobs  # once it is sent: by their numbers in it
        self._replied: set[int] = set()
        self._may_go_on = True

    def run(self, is_sent: bool = False) -> ProcessJob | None:
        """Returns a job that is to be run again, by itself.

        Args:
            is_sent: Others have begun with it: :meth:`send_at_once`, :meth:`take_in`.
        """
        try:
            return self._run(is_sent)
        finally:
            self._jobs = []  # the same may keep this

    def _run(self, is_sent: bool) -> ProcessJob | None:
        try:
            late = (is_sent or self._send()) and self._follow()
        except WorkerGone:
            begun, rest = self._worker.begun, self._left()
            if not rest:
                return self._leave()
            has_run = begun > 0 and begun - 1 not in self._replied
            return self._pool._after_death(rest, has_run, self._seat)
        if late:
            first, *others = self._left()
            self._seat.empty(kill=True)
            self._pool._give_back(others)
            return self._pool._again(first, "timed_out", self._pool._lateness(first, building=False))
        return self._leave()

    def _send(self) -> bool:
        """Sends what can be sent together; the rest is given back, or has failed. False when nothing was sent."""
        pool, jobs, self._jobs = self._pool, list(self._jobs), []
        blocks: list[Block] = []
        length = 0
        while jobs and length < _TOGETHER_BYTES:
            room = _TOGETHER_BYTES - length
            packed = pool._packer.run(jobs, self._worker.in_band, room) or _single(pool, jobs[0], self._worker.in_band)
            if isinstance(packed, Reply):
                pool._end(jobs.pop(0), packed)
                continue
            is_large = bool(packed.rest.buffers) or packed.length > room
            if blocks and is_large:
                break
            blocks.append(packed)
            length += packed.length
            self._jobs += jobs[: packed.count or 1]
            jobs = jobs[packed.count or 1 :]
            if is_large:
                break
        pool._give_back(jobs)
        jobs.clear()  # an error's traceback may keep this frame
        there = pool._attach(self._jobs, self._worker)
        if len(there) < len(self._jobs):  # some were cancelled
            self._jobs = there
            return self._send()
        if not there:
            return False
        if there[0].started is None:
            pool._start(there[0])  # if it was cancelled, its worker knows
        return self._transmit(blocks)

    def _transmit(self, blocks: list[Block]) -> bool:
        try:
            self._worker.send(blocks)
        except WorkerGone:
            raise
        except Exception as error:  # noqa: BLE001 - whatever keeps it from being sent, such as a lack of memory
            self._replied.add(0)
            self._pool._end(self._jobs[0], Reply(errors=(error,), place="pickle"))
            return False
        return True

    # -- for other threads than the seat's, while that sleeps ------------------------------------------------------

    def send_at_once(self, block: Block) -> None:
        """Sends its jobs that are in the block; the others are given back. Nothing, if one was cancelled. What has
        become of them is found when they are taken in."""
        pool, jobs, rest = self._pool, self._jobs[: block.count or 1], self._jobs[block.count or 1 :]
        self._jobs = jobs
        pool._give_back(rest)
        with pool._lock:
            if any([job.ended for job in jobs]):
                return
            self._worker.prepare(len(jobs))
            for index, job in enumerate(jobs):
                job.worker, job.index = self._worker, index
            pool._start(jobs[0])
        with contextlib.suppress(WorkerGone):
            self._transmit([block])

    def wait(self, secs: float) -> bool:
        """Whether there is something to take in, after so long at most.

        Raises:
            WorkerGone: The worker has ended.
        """
        return self._worker.wait(secs)

    def take_in(self) -> bool:
        """Ends the jobs whose replies are there, when :meth:`wait` has told so. False when that is not all there is to
        do.

        Raises:
            WorkerGone: The worker has ended.
        """
        worker = self._worker
        if worker.busy and (replies := worker.replies(None)):
            self._take(replies)
        if worker.busy or worker.doomed or len(self._replied) < len(self._jobs) or not self._may_go_on:
            return False
        self._seat.jobs += len(self._jobs)
        self._jobs = []
        return True

    def give_up(self) -> None:
        """Its jobs are cancelled, and its worker ended: nobody knows how far an interrupted thread has come."""
        self._worker.doomed = True
        self._worker.kill()
        for job in self._seat.taken:
            if job.seat is self._seat:
                job.future.cancel()

    @property
    def is_under_way(self) -> bool:
        """Whether the worker, or its end, is yet to tell something."""
        return self._worker.busy and not self._worker.doomed

    # -- for the thread of the seat --------------------------------------------------------------------------------

    def _follow(self) -> bool:
        """Until the worker has no more to do; True when the time of the job that runs is up."""
        pool, worker = self._pool, self._worker
        since = time.monotonic()
        due = since + _DUE_SECS
        at = 0  # the first without a reply
        while worker.busy:
            job = self._jobs[at] if at < len(self._jobs) else None
            secs = _LONG_SECS
            if job is not None:
                if job.started is None and worker.begun > at:
                    pool._start(job)
                if job.time_limit_secs is not None:
                    secs = since + job.time_limit_secs - time.monotonic()
                if job.started is None or at + 1 < len(self._jobs):
                    secs = min(secs, due - time.monotonic())
            if replies := worker.replies(secs):
                self._take(replies)
                while at in self._replied:
                    at += 1
                since = time.monotonic()
                continue
            now = time.monotonic()
            if job is None:
                continue
            if job.time_limit_secs is not None and now >= since + job.time_limit_secs:
                if worker.hold(at + 1) <= at + 1:
                    return True
            elif now >= due:
                due = now + _DUE_SECS
                self._hold(at)
        return False

    def _take(self, replies: list[tuple[int, Reply]]) -> None:
        replies.sort(key=operator.itemgetter(0))
        self._replied.update(index for index, _ in replies)
        self._may_go_on = self._may_go_on and all(reply.may_go_on for _, reply in replies)
        self._pool._end_all([(self._jobs[index], reply) for index, reply in replies])
        replies.clear()

    def _hold(self, at: int) -> None:
        """They take longer than was thought: lets others have what has not begun."""
        self._pool._learn(self._jobs[at].kind, _DUE_SECS)
        first = max(self._worker.begun, at + 1)
        if self._worker.hold(first) <= first:
            rest, self._jobs = self._jobs[first:], self._jobs[:first]
            self._pool._give_back(rest)

    def _left(self) -> list[ProcessJob]:
        return [job for index, job in enumerate(self._jobs) if index not in self._replied]

    def _leave(self) -> ProcessJob | None:
        """The worker has no more to do: what it did not begin is for others."""
        rest = self._left()
        again = rest.pop(0) if rest and rest[0].started is not None and not rest[0].ended else None
        self._pool._give_back(rest)
        with self._pool._lock:  # nobody stops the worker for them any more
            for job in self._jobs:
                job.worker = None
        self._seat.jobs += len(self._replied)
        if self._worker.doomed:
            self._seat.empty(kill=True)
        elif not self._may_go_on or self._pool._is_worn(self._seat):
            self._seat.empty()
        return again


def _single(pool: ProcessSessionPool, job: ProcessJob, in_band: float) -> Block | Reply:
    """A job by itself, or why it cannot be sent. A function, because the error's traceback keeps what is here."""
    try:
        return pool._packer.single(job, in_band)
    except BaseException as error:  # noqa: BLE001 - whatever a foreign __reduce__ raises
        return Reply(errors=(error,), place="pickle")
