"""The options of a ProcessSessionPool, checked when they are made."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tf1sessions.errors import UsageError
from tf1sessions.pools.base import check_count, check_initializer, check_limit
from tf1sessions.pools.fork_server import WorkerServer

__all__ = ["ProcessPoolOptions"]


@dataclass(frozen=True)
class ProcessPoolOptions:
    """Arguments of :class:`~tf1sessions.ProcessSessionPool`, which describes them.

    Raises:
        UsageError: A wrong one.
    """

    name: str
    max_workers: int
    config: Any
    initializer: Callable[..., Any] | None
    initargs: tuple[Any, ...]
    mode: Literal["tf1", "tf2"]
    model: str | os.PathLike[str] | Mapping[str, Any] | None
    plan: Any
    retries: int
    build_limit_secs: float | None
    max_jobs_per_worker: int | None
    max_memory_mb: float | None
    method: Literal["fork", "spawn"] | None
    server: WorkerServer | None

    def __post_init__(self) -> None:
        check_initializer(self.initializer, self.initargs, self.name)
        if self.mode not in ("tf1", "tf2"):
            raise self._error(f"mode is {self.mode!r}", 'Give "tf1" or "tf2".')
        if self.mode == "tf2" and self.config is not None:
            raise self._error("mode='tf2' has no sessions, and got a config", "Use plan=.")
        if self.method not in (None, "fork", "spawn"):
            raise self._error(f"method is {self.method!r}", 'Give "fork", "spawn" or None.')
        if self.server is not None and not isinstance(self.server, WorkerServer):
            raise self._error(f"server is {self.server!r}", "Make it with make_server().")
        self._check_model()
        self._check_plan()
        check_count("retries", self.retries, 0, self.name)
        if self.max_jobs_per_worker is not None:
            check_count("max_jobs_per_worker", self.max_jobs_per_worker, 1, self.name)
        check_limit(self.build_limit_secs, self.name, "build_limit_secs")
        check_limit(self.max_memory_mb, self.name, "max_memory_mb", "a number of MiB above 0")

    @property
    def model_arguments(self) -> Mapping[str, Any] | None:
        """The arguments of :func:`tf1sessions.load`, with a path that does not depend on the working directory."""
        if self.model is None or isinstance(self.model, Mapping):
            return self.model
        path = os.fspath(self.model)
        return {"path": path if "://" in path else os.path.abspath(path)}

    def _check_model(self) -> None:
        if self.model is None:
            return
        if self.initializer is not None or self.config is not None or self.mode == "tf2":
            raise self._error(
                "model= is given with an initializer, a config or mode='tf2'",
                'Load it in the initializer, or give its config with it: model={"path": ..., "config": ...}.',
            )
        if not isinstance(self.model, (str, os.PathLike, Mapping)):
            raise self._error(f"model is {self.model!r}", "Give a path, or the arguments of load().")

    def _check_plan(self) -> None:
        if self.plan is None:
            return
        if not all(hasattr(self.plan, what) for what in ("workers", "apply", "environment")):
            raise self._error(f"plan is {self.plan!r}", f"Give a MemoryPlan(workers={self.max_workers}).")
        if self.plan.workers < self.max_workers:
            raise self._error(
                f"the plan has {self.plan.workers} workers for a pool of {self.max_workers}",
                f"Make it with MemoryPlan(workers={self.max_workers}).",
            )

    def _error(self, text: str, next_step: str) -> UsageError:
        return UsageError(text, where=self.name, next_step=next_step)
