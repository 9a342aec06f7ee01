"""Service: what all protocols of a server share: one request in, arrays out, within the limits, and counted.

::

    the repository's version ─▶ HTTP, a coroutine: infer(), check() ──────────────▶ ServedModel.ask() ──┐
                                a local client's thread: infer_here(), check() ──▶ ServedModel.call() ─┼─▶ arrays
                                gRPC, a thread: check() ─────────────────────────▶ ServedModel.call() ─┘
    each answer ─▶ note(): counted
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tf1sessions.errors import DeadlineError
from tf1sessions.models.model import Signature
from tf1sessions.serving.answers import RequestError, TooLarge
from tf1sessions.serving.deadlines import Deadlines
from tf1sessions.serving.metrics import Metrics
from tf1sessions.serving.repository import ModelRepository
from tf1sessions.serving.served_model import ServedModel
from tf1sessions.serving.settings import Limits

__all__ = ["Service", "end_pool"]

_T = TypeVar("_T")

_LONG_BYTES = 64 << 10  # of JSON, from which on it is not read in the event loop; arbitrary
_END_SECS = 5.0  # for threads at the end, whose runs have been ended; arbitrary
_THREADS = 32  # that run signatures without a batcher; arbitrary


class Service:
    """Answers requests from the models of a repository.

    Attributes:
        repository: The models.
        metrics: What was done.

    Thread-safety: safe to use from any number of threads.
    """

    def __init__(self, repository: ModelRepository, metrics: Metrics | None = None) -> None:
        self.repository = repository
        self.limits: Limits = repository.limits
        self.metrics = metrics or Metrics()
        self._deadlines = Deadlines(self.limits.deadline_secs)
        self.executor = concurrent.futures.ThreadPoolExecutor(_THREADS, thread_name_prefix="tf1sessions-serving")

    def close(self) -> None:
        """End the threads, after what they run; what does not end is given up. The models are to be closed first."""
        end_pool(self.executor)

    def check(self, inputs: Mapping[str, NDArray[Any]]) -> None:
        """Raises TooLarge for more rows or bytes than a request may have, and RequestError for an empty batch."""
        is_empty = bool(inputs)
        for name, array in inputs.items():
            rows = len(array) if array.ndim else 1
            if rows > self.limits.rows:
                raise TooLarge(f"The input {name!r} has {rows} rows, and a request at most {self.limits.rows}")
            is_empty = is_empty and not rows
        total = _bytes(inputs)
        if total > self.limits.decoded_bytes:
            raise TooLarge(f"The inputs have {total} bytes, and a request at most {self.limits.decoded_bytes}")
        if is_empty:
            raise RequestError("The batch is empty: no input has a row")

    def check_outputs(self, outputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The outputs; raises TooLarge for more bytes than an answer may have.

        A value that a client sends may decide how large an output is, and the text of it is many times that.
        """
        total = _bytes(outputs)
        if total > self.limits.decoded_bytes:
            raise TooLarge(f"The outputs have {total} bytes, and an answer at most {self.limits.decoded_bytes}")
        return outputs

    async def infer(
        self, served: ServedModel, signature: Signature, inputs: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Answer a request without blocking the event loop. ``served`` has been entered, and is left here.

        Raises:
            Exception: What the model raises; DeadlineError past the deadline.
        """
        secs = self.limits.deadline_secs
        try:
            self.check(inputs)
            waiting, withdraw = served.ask(signature, inputs, secs, self.executor)
        except BaseException:
            served.leave()
            raise
        self._deadlines.start(waiting.cancel)  # a request that runs goes on, and is thrown away
        try:
            return self.check_outputs(await waiting)
        except asyncio.CancelledError:
            withdraw()
            if self._deadlines.stop(waiting.cancel):
                raise
            raise DeadlineError(
                f"the request was not answered within {secs:g} s", where="Limits(deadline_secs=)"
            ) from None
        finally:
            self._deadlines.stop(waiting.cancel)

    async def work(self, size: int, function: Callable[..., _T], *args: Any) -> _T:
        """Return what a function gives; where it has so many bytes to do that others would wait, from a thread."""
        if size < _LONG_BYTES:
            return function(*args)
        return await asyncio.get_running_loop().run_in_executor(self.executor, function, *args)

    def infer_here(
        self,
        name: str,
        version: int | None,
        signature: str | None,
        inputs: Mapping[str, NDArray[Any]],
        deadline_secs: float | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Answer a request in this thread.

        Raises:
            Exception: What the model raises.
        """
        secs = min(deadline_secs or self.limits.deadline_secs, self.limits.deadline_secs)
        served = self.repository.enter(name, version)
        try:
            return self.answer_here(served, served.signature(signature), inputs, secs)
        finally:
            served.leave()

    def answer_here(
        self, served: ServedModel, signature: Signature, inputs: Mapping[str, NDArray[Any]], secs: float
    ) -> dict[str, NDArray[Any]]:
        """As :meth:`infer_here`, of a version that has been entered, and is left by the caller."""
        self.check(inputs)
        return self.check_outputs(served.call(signature, inputs, secs))

    def note(self, name: str, protocol: str, status: int, started: float) -> None:
        """Count a request; a name that is not served is not a label of its own, as anybody can make up names."""
        known = name if name in self.repository else ""
        self.metrics.note(known, protocol, status, time.monotonic() - started)


def end_pool(executor: concurrent.futures.Executor, secs: float = _END_SECS) -> None:
    """Shut down an executor, and wait for its threads, but not for ever."""
    ending = threading.Thread(
        target=executor.shutdown, kwargs={"cancel_futures": True}, name="tf1sessions-end", daemon=True
    )
    ending.start()
    ending.join(secs)


def _bytes(arrays: Mapping[str, NDArray[Any]]) -> int:
    total = 0
    for array in arrays.values():
        total += array.nbytes if array.dtype.kind != "O" else sum(map(_length, array.flat))
    return total


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (bytes, str)) else np.asarray(value).nbytes
