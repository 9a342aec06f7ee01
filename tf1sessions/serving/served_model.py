"""ServedModel: one loaded version of a model, with a batcher for each signature whose rows can be computed together.

Data flow::

    call(signature, inputs) ──▶ admitted? ──▶ Batcher, where the signature has one ──▶ rows of many callers in one run
                                   │          else a thread of the server's pool ──▶ the signature itself
                                   └─ the bound on waiting requests is reached: Overloaded
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tf1sessions.errors import ClosedError, ConfigError, Overloaded, UnsafeModelError
from tf1sessions.models.interface import TensorSpec
from tf1sessions.models.model import Model, Signature, load
from tf1sessions.pipelines.batching import Batcher, BatcherStatistics
from tf1sessions.serving.answers import RequestError
from tf1sessions.serving.json_arrays import JsonInputs
from tf1sessions.serving.settings import Limits, ModelSettings
from tf1sessions.sessions.config import SessionConfig
from tf1sessions.sessions.session_calls import calls_of

__all__ = ["ServedModel", "spec_shape"]


class ServedModel:
    """A version of a model that answers requests.

    Args:
        settings: Of the model.
        version: Its number.
        path: Of this version.
        limits: On requests.
        config: Of its session, or None.

    Attributes:
        model: The :class:`~tf1sessions.Model`.
        json_inputs: Signature -> its inputs, as requests in JSON give them.
        unbatched: Signature -> why its requests are run one by one; those with a batcher are not in it.

    Thread-safety: safe to use from any number of threads.
    """

    def __init__(self, settings: ModelSettings, version: int, path: str, limits: Limits, config: Any = None) -> None:
        self.name = settings.name
        self.version = version
        self.path = path
        self._limit = limits.waiting
        self._max_rows = settings.max_batch_size
        self.model: Model = load(path, config=config or _config(settings), **settings.load_options())
        # A run whose requests have got no answer in time would keep the model from all others, one that never ends for
        # ever. Loading has no such limit.
        calls_of(self.model._gs.session).run_limit_secs = limits.deadline_secs
        self.json_inputs = {name: JsonInputs(each.inputs) for name, each in self.model.signatures.items()}
        self._batchers: dict[str, Batcher] = {}
        self.unbatched: dict[str, str] = {}
        # Protects what stands below it; held for moments only.
        self._lock = threading.Lock()
        self._drained = threading.Condition(self._lock)
        self._active = 0
        self._retired = False
        try:
            for name in self.model.signatures:
                self._add_batcher(name, settings, limits)
        except BaseException:
            self.close()
            raise

    def _add_batcher(self, name: str, settings: ModelSettings, limits: Limits) -> None:
        if not settings.batch:
            self.unbatched[name] = "batch = false"
            return
        try:
            self._batchers[name] = self.model.batched(
                signature=name,
                inputs=list(self.model.signatures[name].inputs),
                max_batch_size=settings.max_batch_size,
                max_delay_ms=settings.max_delay_ms,
                queue_limit=limits.waiting,
            )
        except (ConfigError, UnsafeModelError) as error:
            self.unbatched[name] = str(error)

    # -- requests

    def signature(self, name: str | None) -> Signature:
        """The signature of that name; the model's own for None or ``""``.

        Raises:
            RequestError: There is none.
        """
        if not name:
            return self.model.signature
        if name not in self.model.signatures:
            known = ", ".join(map(repr, self.model.signatures))
            raise RequestError(
                f'Serving signature name: "{name}" not found in signature def of the model {self.name!r}. '
                f"There are {known}."
            )
        return self.model.signatures[name]

    def enter(self) -> bool:
        """Count a request that begins; False when this version is retired, and another is to be asked for.

        Raises:
            Overloaded: So many requests run or wait already.
        """
        with self._lock:
            if self._retired:
                return False
            if self._active >= self._limit:
                raise Overloaded(
                    f"{self._active} requests of the model {self.name!r} run or wait already",
                    where=f"Limits(waiting={self._limit})",
                    next_step="Try again later, or allow more.",
                )
            self._active += 1
            return True

    def leave(self) -> None:
        """Count a request that has ended."""
        with self._lock:
            self._active -= 1
            if self._retired and not self._active:
                self._drained.notify_all()

    def call(self, signature: Signature, inputs: Mapping[str, Any], deadline_secs: float) -> dict[str, Any]:
        """Answer a request in this thread, which waits.

        Raises:
            Exception: What the model raises; DeadlineError when it has waited too long for its run.
        """
        batcher = self._batcher(signature, inputs)
        if batcher is None:
            return _answer(signature, inputs)
        result: dict[str, Any] = batcher(dict(inputs), deadline_secs=deadline_secs)
        return result

    def ask(
        self,
        signature: Signature,
        inputs: Mapping[str, Any],
        deadline_secs: float,
        executor: concurrent.futures.Executor,
    ) -> tuple[asyncio.Future[dict[str, Any]], Callable[[], object]]:
        """Answer a request in the background, for the event loop; :meth:`leave` is called when it has ended.

        Returns:
            The future of the answer, and what is to be called when that is not awaited any more: a request that waits
            is then not run.
        """
        batcher = self._batcher(signature, inputs)
        if batcher is None:
            run = executor.submit(_answer, signature, inputs)
            run.add_done_callback(lambda done: self.leave())
            return asyncio.wrap_future(run), run.cancel
        request = batcher._ask((), inputs, deadline_secs, self.leave)
        return request.answer, lambda: batcher._withdraw(request, "cancelled")

    def _batcher(self, signature: Signature, inputs: Mapping[str, Any]) -> Batcher | None:
        """The batcher for a request; None for one that has no room for others, and need not be parted for them.

        Ranks that the graph leaves open, and that are new, go to the signature itself, which checks them.
        """
        batcher = self._batchers.get(signature.name)
        if not signature.knows_ranks(inputs):
            return None
        for value in inputs.values():
            if value.ndim and value.shape[0] >= self._max_rows:
                return None
        return batcher

    # -- what it is

    @property
    def active(self) -> int:
        """The number of requests that run or wait."""
        return self._active

    def statistics(self) -> dict[str, BatcherStatistics]:
        """Signature -> the counts of its batcher."""
        return {name: batcher.statistics() for name, batcher in self._batchers.items()}

    def method_name(self, signature: str) -> str:
        """Return the method name of a signature in the file: ``"tensorflow/serving/predict"``, or ``""``."""
        found = self.model.plan.artifact.signatures.get(signature)
        return str(found.method_name) if found is not None else ""

    def memory_bytes(self) -> int:
        """The bytes of its variables and large constants, as the graph has them."""
        total = 0
        for node in self.model.graph.get_operations():
            if node.type in ("VariableV2", "Variable", "VarHandleOp"):
                dtype, shape = node.get_attr("dtype"), node.get_attr("shape")
                if dtype.size and not shape.unknown_rank:
                    count = 1
                    for dim in shape.dim:
                        count *= max(dim.size, 0)
                    total += count * dtype.size
        return total

    # -- the end

    def retire(self, deadline_secs: float) -> bool:
        """Take no more requests, wait for those that have begun, and free the memory.

        Returns:
            Whether all had ended by the deadline; those that had not get an error.
        """
        until = time.monotonic() + deadline_secs
        with self._lock:
            self._retired = True
            while self._active and (left := until - time.monotonic()) > 0:
                self._drained.wait(left)
            drained = not self._active
        self.close()
        return drained

    def close(self) -> None:
        """Free the memory. Requests that run end with an error."""
        with self._lock:
            self._retired = True
        for batcher in self._batchers.values():
            batcher.close(join_secs=1.0)  # closing the model ends what still runs
        self.model.close()

    def check_open(self) -> None:
        """Raises ClosedError when this version was retired."""
        if self._retired:
            raise ClosedError(f"version {self.version} of the model {self.name!r} was unloaded", where=self.path)


def _answer(signature: Signature, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call a signature for its outputs as arrays: of a single string TensorFlow gives ``bytes``.

    A Batcher's outputs have rows, and are arrays as they come.
    """
    found = signature(dict(inputs))
    for name, value in found.items():
        if isinstance(value, bytes):
            found[name] = np.array(value, object)  # NumPy's own strings lose the zeros at their ends
    return found


def _config(settings: ModelSettings) -> SessionConfig | None:
    """The configuration of a model's session: a pool of its own for operations, if it has a share of the threads.

    Threads inside an operation are the process's: TensorFlow has one pool for all sessions.
    """
    if settings.threads is None:
        return None
    return SessionConfig(soft_placement=True, inter_op_threads=settings.threads, per_session_threads=True)


def spec_shape(spec: TensorSpec) -> list[int] | None:
    """The shape of an input or output, -1 for what is open; None without a rank."""
    if spec.shape is None or spec.shape.rank is None:
        return None
    return [-1 if size is None else size for size in spec.shape.as_list()]
