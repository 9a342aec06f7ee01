"""Reports of jobs: what those who hear of them raise ends neither a thread of the pool nor a caller's submit()."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tf1sessions.pools.accounts import JobAccounts, JobEnd, News
from tf1sessions.pools.jobs import JobOptions, PoolFuture, PoolJob
from tf1sessions.pools.progress import PoolProgress


def announced(error: type[BaseException], by: str) -> tuple[list[str], list[Any], BaseException | None]:
    """Two jobs end in this thread; ``by`` raises at each report. Returns reports, results, and what came out."""
    heard: list[str] = []

    def progress(event: PoolProgress) -> None:
        heard.append(event.state)
        if by == "progress":
            raise error

    def called(future: Any) -> None:
        if by == "callback":
            raise error

    accounts, news, futures = JobAccounts(1, progress, "pool"), News(), []
    options = JobOptions(lambda *_: PoolFuture(), lambda _: None, None, None)
    for number in range(2):
        future = PoolFuture()
        future.add_done_callback(called)
        job = PoolJob(future, print, (), {}, options, number)
        accounts.submitted(job)
        accounts.start(job, news)
        accounts.end([JobEnd(job, "succeeded", number, None, 0.0)], news)
        futures.append(future)
    try:
        accounts.announce(news)
    except BaseException as found:
        return heard, [future.result(0) for future in futures], found
    return heard, [future.result(0) for future in futures], None


@pytest.mark.parametrize("by", ["progress", "callback"])
@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit])
def test_all_is_announced_whatever_a_report_raises(error: type[BaseException], by: str) -> None:
    heard, results, raised = announced(error, by)
    assert heard == ["running", "succeeded"] * 2 and results == [0, 1]
    assert type(raised) is (KeyboardInterrupt if error is KeyboardInterrupt else type(None))  # Ctrl-C is not swallowed


@pytest.mark.parametrize("by", ["progress", "callback"])
def test_no_report_ends_another_thread(by: str) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(announced(KeyboardInterrupt, by)))
    thread.start()
    thread.join(60)
    assert found == [(["running", "succeeded"] * 2, [0, 1], None)]
