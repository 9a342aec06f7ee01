"""Jobs of a pool: a function's call, its future, its options, and the error of one that raised."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from tf1sessions.errors import JobError
from tf1sessions.texts import text_of

__all__ = ["JobOptions", "PoolFuture", "PoolJob", "job_error"]


class PoolFuture(concurrent.futures.Future[Any]):
    """The future of a job. It has the job until that has ended: a future that is kept shall not keep the arguments."""

    job: PoolJob | None = None

    def cancel(self) -> bool:
        """As the base class."""
        cancelled = super().cancel()
        if cancelled and (job := self.job) is not None:
            job.options.on_cancelled(job)
        return cancelled


@dataclass(eq=False)
class PoolJob:
    """One call of a function with a session. ``started`` and ``ended`` change under the lock of the accounts."""

    takes_future_at_start: ClassVar[bool] = True  # from then on the future cannot be cancelled; else until the job ends
    future: PoolFuture
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    options: JobOptions
    number: int
    started: float | None = None
    ended: bool = False
    session: Any = None

    def __post_init__(self) -> None:
        self.future.job = self

    @property
    def name(self) -> str:
        """The name from its options, or its function's and a number."""
        return self.options.name or f"{getattr(self.function, '__name__', type(self.function).__name__)}-{self.number}"

    @property
    def time_limit_secs(self) -> float | None:
        """Its own limit, or the pool's."""
        return self.options.time_limit_secs


@dataclass(frozen=True)
class JobOptions:
    """Submits jobs with a name or a time limit of their own; made by :meth:`SessionPool.job`.

    Attributes:
        submit_call: The pool's method that submits a call with options.
        on_cancelled: What is to be called when the future of a job was cancelled.
        name, time_limit_secs: Of the job.
    """

    submit_call: Callable[[JobOptions, Callable[..., Any], tuple[Any, ...], dict[str, Any]], PoolFuture]
    on_cancelled: Callable[[Any], None]
    name: str | None
    time_limit_secs: float | None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """As :meth:`SessionPool.submit`."""
        return self.submit_call(self, fn, args, kwargs)


def job_error(
    where: str, job: PoolJob, cause: BaseException, how: str = "raised", next_step: str | None = None
) -> JobError:
    """The error of a job that raised; it keeps the original exception and its traceback as ``__cause__``."""
    first_line = text_of(cause).partition("\n")[0]
    error = JobError(
        f"job {job.name!r} {how} {type(cause).__name__}: {first_line}".rstrip(": "),
        where=where,
        next_step=next_step or "The exception it raised is this one's __cause__, with its traceback.",
        job=job.name,
    )
    error.__cause__ = cause
    return error
