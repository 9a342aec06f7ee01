"""The bar of ``progress=True``, and the log lines where there is no terminal."""

from __future__ import annotations

import io
import logging

import pytest
from rich.console import Console

from tf1sessions.pools.base import PoolProgress, PoolStatistics
from tf1sessions.pools.progress import PoolBar

EVENTS = [
    PoolProgress("a", "running", 0.0, PoolStatistics(2, submitted=3, waiting=2, running=1)),
    PoolProgress("a", "succeeded", 1.5, PoolStatistics(2, submitted=3, waiting=2, succeeded=1)),
    PoolProgress("b", "timed_out", 9.0, PoolStatistics(2, submitted=4, waiting=2, succeeded=1, timed_out=1)),
]


def test_a_terminal_gets_a_bar():
    out = io.StringIO()
    bar = PoolBar("MyPool", Console(file=out, force_terminal=True, width=100))
    for event in EVENTS:
        bar(event)
    bar(EVENTS[0])  # late: it must not turn the bar back
    bar.close()
    bar.close()
    last = out.getvalue()[out.getvalue().rindex("MyPool") :]
    assert "2/4" in last and "1 timed out" in last


def test_without_a_terminal_the_log_gets_a_line_for_each_end(caplog: pytest.LogCaptureFixture):
    out = io.StringIO()
    with caplog.at_level(logging.INFO, "tf1sessions"):
        bar = PoolBar("MyPool", Console(file=out))
        for event in EVENTS:
            bar(event)
        bar.close()
    assert out.getvalue() == ""
    assert caplog.messages == [
        "MyPool: job 'a' succeeded after 1.5 s; 1 of 3 have ended",
        "MyPool: job 'b' timed out after 9.0 s; 2 of 4 have ended",
    ]
