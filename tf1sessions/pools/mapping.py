"""``map`` of a pool: jobs for the items of an iterator that may be endless, no further ahead than asked for."""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import queue
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from typing import Any

__all__ = ["Chunk", "lazy_map"]

_Future = concurrent.futures.Future[Any]


def lazy_map(
    submit: Callable[..., _Future],
    function: Callable[..., Any],
    items: Iterator[tuple[Any, ...]],
    timeout: float | None,
    chunksize: int,
    prefetch: Callable[[], int],
    ordered: bool,
) -> Iterator[Any]:
    """Submits the first jobs, and returns the iterator of all results. See ``SessionPool.map``."""
    deadline = None if timeout is None else time.monotonic() + timeout
    if chunksize == 1:
        ahead = _Ahead(lambda item: submit(function, *item), items, prefetch, ordered)
        ahead.fill()
        return ahead.results(deadline)
    call = Chunk(function)
    chunks = iter(lambda: list(itertools.islice(items, chunksize)), [])
    ahead = _Ahead(lambda chunk: submit(call, chunk), chunks, prefetch, ordered)
    ahead.fill()
    return _each(ahead.results(deadline))


def _each(lists: Generator[list[Any], None, None]) -> Iterator[Any]:
    with contextlib.closing(lists):
        for results in lists:
            yield from results


class Chunk:
    """A job of several items: calls the function for each, with what the pool puts first."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__qualname__ = f"{getattr(function, '__qualname__', self.__name__)} in chunks"

    def __call__(self, *first_and_chunk: Any) -> list[Any]:
        *first, chunk = first_and_chunk
        return [self.function(*first, *item) for item in chunk]


class _Ahead:
    """The jobs that are submitted, and whose results are not taken. Attention: this is **not** thread-safe!"""

    def __init__(
        self, submit: Callable[[Any], _Future], items: Iterator[Any], prefetch: Callable[[], int], ordered: bool
    ) -> None:
        self._submit, self._items, self._prefetch, self._ordered = submit, items, prefetch, ordered
        self._pending: OrderedDict[_Future, None] = OrderedDict()  # by items; a dict's first key is slow to find
        self._ended: queue.SimpleQueue[_Future] = queue.SimpleQueue()
        self._enough = 0
        self._more = True
        self._error: Exception | None = None  # of the items, or of submit; raised after the results before it

    def fill(self) -> None:
        """Submits jobs until there are enough; several at once where there are many, so that they travel together."""
        if len(self._pending) > self._enough:
            return
        most = self._prefetch()
        self._enough = most - max(1, most // 4)
        while self._more and len(self._pending) < most:
            try:
                future = self._submit(next(self._items))
            except StopIteration:
                self._more = False
            except Exception as error:  # noqa: BLE001 - whatever the items raise
                self._more, self._error = False, error
            else:
                self._pending[future] = None
                if not self._ordered:
                    future.add_done_callback(self._ended.put)

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
            future = next(iter(self._pending))
        else:
            try:
                future = self._ended.get(timeout=left)
            except queue.Empty:
                raise concurrent.futures.TimeoutError from None
        result = future.result(left)
        del self._pending[future]
        return result
