"""The body of a test, run in several threads at once and several times, or in many orders of threads.

Data flow::

    repeat() ──▶ N threads ──▶ Barrier ──▶ each M times: body(ThreadInfo) ──▶ a Failure for each error
    main thread                waits for all of them, or for what ends the test before: a time-out, Ctrl-C
    raise_first() ◀── failures ──▶ the worst is the test's; a section of its report for each of the others
    explore() ──▶ exploration.py ──▶ body(ThreadInfo) in each order

Each thread runs the body once, at least; none begins another iteration when one has failed.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tf1sessions.errors import ScheduleError
from tf1sessions.testing.hangs import free
from tf1sessions.testing.settings import ItemPlan, ThreadInfo

if TYPE_CHECKING:
    from tf1sessions.testing.suppressions import Suppressions

__all__ = ["BodyFailure", "explore", "raise_first", "repeat"]

#: How long threads may take to begin, and how long to end once their sessions are closed. Arbitrary.
_BEGIN_SECS = 60.0
_END_SECS = 1.0
#: Between two looks at whether the test's time is up. Arbitrary.
_LOOK_SECS = 0.05

#: Whose frames are above the test's in its threads.
_OURS = (__name__, f"{__package__}.plugin")
_NO_FAILURE = (pytest.skip.Exception, pytest.xfail.Exception)
_END_ALL = (pytest.exit.Exception, KeyboardInterrupt)


@dataclass(frozen=True)
class BodyFailure:
    """Error that the body raised, and its thread."""

    thread: ThreadInfo
    error: BaseException


def repeat(
    body: Callable[[ThreadInfo], None],
    threads: int | None,
    iterations: int,
    switch_interval: float,
    is_over: Callable[[], bool],
) -> list[BodyFailure]:
    """Call the body ``iterations`` times in each of ``threads`` threads; without threads, in the calling one.

    Args:
        body: The body.
        threads: How many there are; None for none.
        iterations: How often each calls it.
        switch_interval: Seconds after which Python lets another thread run; it is put back.
        is_over: Whether the threads are to be given up. Then, as after any exception in the calling thread, the
            sessions that they wait in are closed, and those that do not end are left.

    Returns:
        What was raised, in the order in which it was.
    """
    failures: list[BodyFailure] = []
    lock = threading.Lock()  # guards failures
    begin = threading.Barrier(threads or 1, timeout=_BEGIN_SECS)

    def work(number: int) -> None:
        thread = ThreadInfo(number, threads or 1)
        try:
            begin.wait()
            for iteration in range(iterations):
                thread = ThreadInfo(number, threads or 1, iteration)
                if failures and iteration:
                    return
                body(thread)
        except BaseException as error:  # raised in the main thread, with all others
            with lock:
                failures.append(BodyFailure(thread, error))

    if threads is None:
        work(0)
        return failures
    workers = [
        threading.Thread(target=work, args=(number,), name=f"tf1-thread-{number}", daemon=True)
        for number in range(threads)
    ]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(switch_interval)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.is_alive() and not is_over():
                worker.join(_LOOK_SECS)
    finally:
        sys.setswitchinterval(interval)
        begin.abort()
        is_over()  # looks at what they wait for before that is closed
        _end(workers)
    return list(failures)


def _end(workers: Sequence[threading.Thread]) -> None:
    """End threads that still run, as far as closing what they wait in ends them."""
    due = time.monotonic() + _END_SECS
    while alive := [worker for worker in workers if worker.is_alive()]:
        free(worker.ident for worker in alive)
        alive[0].join(_LOOK_SECS)
        if time.monotonic() > due:
            return


def explore(
    body: Callable[[ThreadInfo], None],
    plan: ItemPlan,
    sections: list[tuple[str, str]],
    is_over: Callable[[], bool],
    suppressions: Suppressions | None,
) -> None:
    """Call the body in many orders of its threads, or in one; the iteration is the number of the order.

    Args:
        body: The body.
        plan: The test's; with ``threads`` the body is called in each of them, otherwise in the calling one.
        sections: Gets what was covered, or how to run again the order that went wrong.
        is_over: Whether what is raised ends the test, and is no failure of an order.
        suppressions: Of the run of pytest: what is no hazard.

    Raises:
        ScheduleError: An order went wrong.
        Skipped, XFailed: The body has asked for that.
    """
    __tracebackhide__ = True
    from tf1sessions.testing.exploration import MAX_STEPS, PATIENCE_SECS, TIMEOUT_SECS, OrdersOf
    from tf1sessions.testing.scheduler import TaskWatcher

    count = plan.threads or 1
    ended: list[BaseException] = []

    def function(number: int) -> Callable[[], None]:
        orders = itertools.count()

        def call() -> None:
            try:
                body(ThreadInfo(number, count, next(orders)))
            except _NO_FAILURE as error:
                ended.append(error)

        return call

    functions = [function(number) for number in range(count)]
    most, replay = (plan.explore, None) if isinstance(plan.explore, int) else (1, plan.explore)
    try:
        with TaskWatcher(PATIENCE_SECS, TIMEOUT_SECS) as watcher:
            orders = OrdersOf(functions, None, None, plan.seed or 0, (), MAX_STEPS, watcher, is_over, suppressions)
            found = orders.explore(most, None, replay)
    except ScheduleError as error:
        order: str = error.schedule  # type: ignore[attr-defined]
        sections.append(("tf1sessions", f"@pytest.mark.tf1(explore={order!r}) runs the order alone that went wrong"))
        raise
    if ended:
        raise ended[0]
    sections.append(("tf1sessions", f"explored {found}"))


def raise_first(failures: Sequence[BodyFailure], sections: list[tuple[str, str]]) -> None:
    """Raise what ends a test with these failures: what ends the session, else an error, else xfail() or skip().

    Args:
        failures: Those of all threads, in the order in which they came.
        sections: Gets a title and a text for each of the others, and one for the thread of that which is raised.
    """
    __tracebackhide__ = True
    if not failures:
        return
    chosen = min(failures, key=lambda failure: _rank(failure.error))  # the first of several
    if chosen.thread.threads > 1 or chosen.thread.iteration:
        where = f"raised in thread {chosen.thread.number} of {chosen.thread.threads}, "
        where += f"iteration {chosen.thread.iteration}; {len(failures)} of the threads raised"
        sections.append(("tf1sessions", where))
    others: dict[str, list[BodyFailure]] = {}
    for failure in failures:
        if failure is not chosen:
            others.setdefault(_traceback(failure.error), []).append(failure)
    for text, same in others.items():
        numbers = ", ".join(f"{each.thread.number} (iteration {each.thread.iteration})" for each in same)
        sections.append((f"thread{'s' * (len(same) > 1)} {numbers}", text))
    raise chosen.error


def _rank(error: BaseException) -> int:
    if isinstance(error, _END_ALL):
        return 0
    return 2 if isinstance(error, _NO_FAILURE) else 1


def _traceback(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in _OURS:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace)).rstrip()
