"""hammer(): a function called by many threads at once, each result compared with what it gives alone."""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tf1sessions.errors import HammerError, UsageError
from tf1sessions.testing import nested_values
from tf1sessions.testing.limits import MOST_THREADS, check_secs, is_threads
from tf1sessions.texts import brief, text_of

__all__ = ["hammer"]


def hammer(
    function: Callable[[Any], Any],
    threads: int = 8,
    calls: int = 100,
    *,
    feeds: Sequence[Any] | Callable[[int], Any] = lambda number: number,
    rtol: float = 0.0,
    atol: float = 0.0,
    seed: int = 0,
    timeout_secs: float = 120.0,
    folder: str | None = None,
) -> int:
    """Call a function from many threads at once and compare each result with the one it gives alone.

    First each feed is tried alone. Then the threads begin together, at a barrier, and take the calls in an order of
    their own each, drawn from ``seed``.

    Args:
        function: Gets a feed; gives numbers, texts or arrays, nested in dicts, lists and tuples.
        threads: How many.
        calls: How many in each thread.
        feeds: What the function is called with, in turn; or a function of the number of the call.
        rtol, atol: How far results may be apart: ``abs(found - alone) <= atol + rtol * abs(alone)``. By default they
            are equal, NaN included.
        seed: What the orders depend on.
        timeout_secs: When the threads are given up.
        folder: Where the feed of the first difference is saved; by default a new temporary folder.

    Returns:
        How many calls were compared.

    Raises:
        HammerError: A result differs, or a call raised when others ran beside it (``__cause__``). ``saved`` is the file
            with its feed, ``number`` that of the feed.
        UsageError: An argument is out of its range.

    Example:
        >>> import numpy as np
        >>> hammer(lambda number: np.sqrt(number), threads=4, calls=25)
        100
    """
    if not is_threads(threads) or not isinstance(calls, int) or calls < 1:
        raise UsageError(
            f"threads={brief(threads)}, calls={brief(calls)}",
            where="hammer()",
            next_step=f"Both must be whole numbers from 1 on, and there are at most {MOST_THREADS:,} threads.",
        )
    check_secs("timeout_secs", timeout_secs, "hammer()")
    if not callable(feeds) and not len(feeds):
        raise UsageError("feeds is empty", where="hammer()", next_step="Give at least one feed, or leave it out.")
    given = [feeds(number) for number in range(calls)] if callable(feeds) else list(feeds)
    attack = _Attack(function, given, rtol, atol)
    stuck = attack.run(threads, calls, seed, timeout_secs)
    if attack.first is not None:
        number, what, error = attack.first
        saved = _save(given[number], folder)
        raise HammerError(
            f"call {number} of {len(given)} {what}",
            where=f"hammer() with {threads} threads",
            next_step=f"Its feed is in {saved}." if saved else "Its feed cannot be saved as arrays.",
            number=number,
            saved=saved,
        ) from error
    if stuck:
        raise HammerError(
            f"after {timeout_secs:g} s {', '.join(stuck)} had not ended",
            where="hammer()",
            next_step="See where they are with py-spy or faulthandler; or give them longer (timeout_secs).",
            number=None,
            saved=None,
        )
    return threads * calls


class _Attack:
    """The calls, and what they give alone. ``first`` is set once, under the lock: the first failure of a thread."""

    def __init__(self, function: Callable[[Any], Any], given: Sequence[Any], rtol: float, atol: float) -> None:
        self._function = function
        self._given = given
        self._tolerance = rtol, atol
        self._lock = threading.Lock()
        self._alone = [nested_values.flatten(function(feed)) for feed in given]
        self.first: tuple[int, str, BaseException | None] | None = None
        self._stopped = False
        again = self._differences(0)
        if again:
            raise HammerError(
                f"alone, the same call gives two results: {again[0]}",
                where="hammer()",
                next_step="Set the seeds inside the function, or compare with rtol= and atol=.",
                number=0,
                saved=None,
            )

    def _differences(self, number: int) -> list[str]:
        found = nested_values.flatten(self._function(self._given[number]))
        return nested_values.differences(found, self._alone[number], *self._tolerance)

    def run(self, threads: int, calls: int, seed: int, timeout_secs: float) -> list[str]:
        """Call the function from all threads; returns the names of those that have not ended in time."""
        begin, draw, workers = threading.Barrier(threads), random.Random(seed), []
        due = time.monotonic() + timeout_secs
        for name in (f"hammer-{number}" for number in range(threads)):
            order = [number % len(self._given) for number in range(calls)]
            draw.shuffle(order)
            workers.append(threading.Thread(target=self._work, args=(begin, order), name=name, daemon=True))
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(max(0.0, due - time.monotonic()))
        self._stopped = True
        return [worker.name for worker in workers if worker.is_alive()]

    def _work(self, begin: threading.Barrier, order: Sequence[int]) -> None:
        begin.wait()
        for number in order:
            if self._stopped:
                return
            try:
                wrong = self._differences(number)
            except BaseException as error:  # raised by hammer(), in the caller's thread
                return self._fail(number, f"raised {type(error).__name__}: {text_of(error)}", error)
            if wrong:
                return self._fail(number, f"gives another result than alone: {'; '.join(wrong)}", None)

    def _fail(self, number: int, what: str, error: BaseException | None) -> None:
        with self._lock:
            if self.first is None:
                self.first = number, what, error
            self._stopped = True


def _save(feed: Any, folder: str | None) -> str | None:
    try:
        arrays = nested_values.flatten(feed)
    except UsageError:
        return None
    path = Path(folder or tempfile.mkdtemp(prefix="tf1sessions-hammer-")) / "feed.npz"
    nested_values.write(path, arrays)
    return str(path)
