"""Watching the workers of a TPU. Without one there are no such workers: hooks do nothing, and no watchdog starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "CoordinatorResetError",
    "GracefulShutdownHook",
    "ResetComputation",
    "ShutdownAllWorkers",
    "ShutdownLameWorkers",
    "WorkerHeartbeatManager",
    "all_worker_devices",
    "start_worker_watchdog",
]


class CoordinatorResetError(tf.errors.AbortedError):  # type: ignore[misc]
    """The session is to be made anew."""

    def __init__(self) -> None:
        super().__init__(None, None, "Resetting session loop due to worker shutdown.")


class WorkerHeartbeatManager:
    """The workers that answer to heartbeats: of a session without TPUs, none."""

    @staticmethod
    def from_devices(session: Any, devices: Sequence[str]) -> WorkerHeartbeatManager:
        """The workers of ``devices``."""
        del session, devices
        return WorkerHeartbeatManager()

    def num_workers(self) -> int:
        return 0

    def ping(self, request: Any = None, timeout_in_ms: int = 5000) -> list[Any]:
        """The answers of the workers."""
        del request, timeout_in_ms
        return []

    def lame_workers(self) -> WorkerHeartbeatManager:
        """The workers that are to end."""
        return self

    def configure(self, message: Any) -> None:
        """Does nothing."""

    def shutdown(self, wait_time_in_ms: int = 60000) -> None:
        """Does nothing."""


def all_worker_devices(session: Any) -> list[str]:
    """The devices of a TPU's workers: none."""
    del session
    return []


def start_worker_watchdog(
    session: Any, devices: Any = None, ping_interval: int = 60, shutdown_timeout: int = 3600
) -> None:
    """Does nothing: there is no worker to watch."""


class GracefulShutdownHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Saves a checkpoint when a worker is to end, which none is.

    Args:
        checkpoint_prefix: Of the checkpoint.
        saver: What saves it.
        on_shutdown_hooks: Functions (run_context, workers).
    """

    def __init__(self, checkpoint_prefix: str, saver: Any = None, on_shutdown_hooks: Any = None) -> None:
        self._checkpoint_prefix = checkpoint_prefix
        self._saver = saver
        self._on_shutdown_hooks = list(on_shutdown_hooks or [])


class ResetComputation:
    """Raises :class:`CoordinatorResetError`, so that a monitored session starts anew."""

    def __call__(self, run_context: Any, workers: Any) -> None:
        del run_context, workers
        raise CoordinatorResetError


RestartComputation = ResetComputation  # its name until 1.13


class ShutdownLameWorkers:
    """Ends the workers that are to end."""

    def __call__(self, run_context: Any, workers: Any) -> None:
        del run_context
        workers.lame_workers().shutdown()


class ShutdownAllWorkers:
    """Ends all workers."""

    def __call__(self, run_context: Any, workers: Any) -> None:
        del run_context
        workers.shutdown()
