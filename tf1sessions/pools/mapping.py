"""``map`` of a pool: jobs for the items of an iterator that may be endless, no further ahead than asked for."""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import queue
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

__all__ = ["Chunk", "lazy_map"]

_Future = concurrent.futures.Future[Any]


def lazy_map(
    submit: Callable[..., _Future],
    function: Callable[..., Any],
    iterables: Sequence[Iterable[Any]],
    timeout: float | None,
    chunksize: int,
    prefetch: Callable[[], int],
    ordered: bool,
) -> Iterator[Any]:
    """Submits the first jobs, and returns the iterator of all results. See ``SessionPool.map``."""
    deadline = None if timeout is None else time.monotonic() + timeout
    if chunksize == 1:
        items = zip(*iterables, strict=False)
        ahead = _Ahead(lambda item: submit(function, *item), items, prefetch, ordered)
        ahead.fill()
        return ahead.results(deadline)
    call = Chunk(function, takes_one=len(iterables) == 1)
    each = iter(iterables[0]) if call.takes_one else zip(*iterables, strict=False)
    chunks = iter(lambda: list(itertools.islice(each, chunksize)), [])
    ahead = _Ahead(lambda chunk: submit(call, chunk), chunks, prefetch, ordered)
    ahead.fill()
    return _each(ahead.results(deadline))


def _each(lists: Generator[list[Any], None, None]) -> Iterator[Any]:
    with contextlib.closing(lists):
        for results in lists:
            yield from results


class Chunk:
    """A job of several items: calls the function for each, with what the pool puts first.

    Args:
        function: What the job is made of.
        takes_one: An item is the only argument, not a tuple of them.
    """

    def __init__(self, function: Callable[..., Any], takes_one: bool = False) -> None:
        self.function = function
        self.takes_one = takes_one
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__qualname__ = f"{getattr(function, '__qualname__', self.__name__)} in chunks"

    def __call__(self, *first_and_chunk: Any) -> list[Any]:
        *first, chunk = first_and_chunk
        function = self.function
        if not self.takes_one:
            return [function(*first, *item) for item in chunk]
        if not first:
            return [function(item) for item in chunk]
        return [function(*first, item) for item in chunk]


class _Ahead:
    """The jobs that are submitted, and whose results are not taken. Attention: this is **not** thread-safe!"""

    def __init__(
        self, submit: Callable[[Any], _Future], items: Iterator[Any], prefetch: Callable[[], int], ordered: bool
    ) -> None:
        self._submit, self._items, self._prefetch, self._ordered = submit, items, prefetch, ordered
        self._pending: deque[_Future] = deque()
        self._ended: queue.SimpleQueue[_Future] = queue.SimpleQueue()
        self._enough = 0
        self._more = True
        self._error: Exception | None = None  # of the items, or of submit; raised after the results before it

    def fill(self) -> None:
        """Submits jobs until there are enough; several at once where there are many, so that they travel together."""
        if len(self._pending) > self._enough or not self._more:
            return
        most = self._prefetch()
        self._enough = most - max(1, most // 4)
        submit, items, pending = self._submit, self._items, self._pending
        try:
            for _ in range(most - len(pending)):
                pending.append(future := submit(next(items)))
                if not self._ordered:
                    future.add_done_callback(self._ended.put)
        except StopIteration:
            self._more = False
        except Exception as error:  # noqa: BLE001 - whatever the items raise
            self._more, self._error = False, error

    def results(self, deadline: float | None) -> Generator[Any, None, None]:
        """Yields the results, and keeps jobs coming. Jobs whose results are not taken are cancelled."""
        try:
            while self._pending:
                result = self._take(deadline)
                self.fill()
                yield result
                del result
            if self._error is not None:
                raise self._error
        finally:
            for future in self._pending:
                future.cancel()

    def _take(self, deadline: float | None) -> Any:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if self._ordered:
            result = self._pending[0].result(left)
            self._pending.popleft()
            return result
        try:
            future = self._ended.get(timeout=left)
        except queue.Empty:
            raise concurrent.futures.TimeoutError from None
        result = future.result(left)
        self._pending.remove(future)
        return result
