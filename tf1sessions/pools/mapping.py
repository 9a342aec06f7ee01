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


_Submit = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Sequence[_Future]]
_HERE = (list, tuple, range)  # whose items take no time to come


def lazy_map(
    submit: _Submit,
    function: Callable[..., Any],
    iterables: Sequence[Iterable[Any]],
    timeout: float | None,
    chunksize: int,
    prefetch: Callable[[Callable[..., Any]], int],
    ordered: bool,
) -> Iterator[Any]:
    """Submits the first jobs, and returns the iterator of all results. See ``SessionPool.map``.

    Args:
        submit: Submits several calls of a function, whose arguments follow.
        prefetch: How many calls of such a function may be submitted, and not taken.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    together = all(type(one) in _HERE for one in iterables)
    if chunksize == 1:
        items = zip(*iterables, strict=False)
        ahead = _Ahead(submit, function, items, prefetch, ordered, together)
        ahead.fill()
        return ahead.results(deadline)
    call = Chunk(function, takes_one=len(iterables) == 1)
    chunks = _parts(iterables[0], chunksize) if call.takes_one and together else _taken(iterables, chunksize)
    ahead = _Ahead(submit, call, zip(chunks), prefetch, ordered, together)
    ahead.fill()
    return _each(ahead.results(deadline))


def _parts(items: Any, size: int) -> Iterator[Sequence[Any]]:
    """A sequence in parts, each of its own type; a range has no more to pickle than three numbers."""
    start = 0
    while part := items[start : start + size]:
        yield part
        start += size


def _taken(iterables: Sequence[Iterable[Any]], size: int) -> Iterator[Sequence[Any]]:
    """Iterate over the arguments of the calls, in lists of ``size``."""
    each = iter(iterables[0]) if len(iterables) == 1 else zip(*iterables, strict=False)
    return iter(lambda: list(itertools.islice(each, size)), [])


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
    """The jobs that are submitted, and whose results are not taken. Attention: this is **not** thread-safe!

    Args:
        submit, prefetch: As above.
        function: What each job calls.
        items: The arguments of each.
        ordered: The results come in the order of the items.
        together: The items are there, so that jobs for several can be submitted at once.
    """

    def __init__(
        self,
        submit: _Submit,
        function: Callable[..., Any],
        items: Iterator[tuple[Any, ...]],
        prefetch: Callable[[Callable[..., Any]], int],
        ordered: bool,
        together: bool,
    ) -> None:
        self._together = together
        self._submit, self._function, self._prefetch = submit, function, prefetch
        self._items, self._ordered = items, ordered
        self._pending: deque[_Future] = deque()
        self._ended: queue.SimpleQueue[_Future] = queue.SimpleQueue()
        self._enough = 0
        self._more = True
        self._error: Exception | None = None  # of the items, or of submit; raised after the results before it

    def fill(self) -> None:
        """Submits jobs until there are enough; several at once where there are many, so that they travel together."""
        if len(self._pending) > self._enough or not self._more:
            return
        most = self._prefetch(self._function)
        self._enough = most - max(1, most // 4)
        while self._more and (missing := most - len(self._pending)) > 0:
            calls: list[tuple[Any, ...]] = []
            try:
                # No job waits for the next one's item. What came before an error is kept.
                calls.extend(itertools.islice(self._items, wanted := missing if self._together else 1))
                self._more = len(calls) == wanted
            except Exception as error:  # noqa: BLE001 - whatever the items raise
                self._more, self._error = False, error
            try:
                futures = self._submit(self._function, calls)
            except Exception as error:  # noqa: BLE001 - the pool is shut down
                self._more, self._error = False, error
                return
            self._pending.extend(futures)
            if not self._ordered:
                for future in futures:
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
