"""The errors of jobs of a ProcessSessionPool, from what its workers reply and how they end."""

from __future__ import annotations

import itertools
import reprlib

from tf1sessions.errors import JobTimeoutError, RemoteTracebackError, WorkerDiedError, WorkError, WorkerStartError
from tf1sessions.pools.fork_server import WorkerResult
from tf1sessions.pools.jobs import PoolJob, job_error
from tf1sessions.pools.packing import pack
from tf1sessions.pools.pool_worker_main import Reply
from tf1sessions.pools.resource_limits import limit_step
from tf1sessions.pools.worker_proxy import WorkerEnd

__all__ = ["build_time_error", "death_error", "job_time_error", "reply_error"]

_PLACES = {  # what a job did, by the place of an exception; its type follows
    "unpickle": "cannot be read by its worker: unpickling it raised",
    "build": "has no worker: building it raised",
    "run": "raised",
    "return": "returned what cannot be sent: pickling it raised",
    "result": "returned what cannot be read here: unpickling it raised",
    "set up": "has no worker: pickling the pool's initializer, initargs, config or model raised",
}
_SEND = "Make it in the job, or send what it can be made from, such as the name of a file."
_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 100


def reply_error(where: str, job: PoolJob, reply: Reply) -> BaseException:
    """The error of a job from a reply with errors."""
    for error, cause in itertools.pairwise(reply.errors):
        error.__cause__ = cause
    if reply.traceback:
        reply.errors[-1].__cause__ = RemoteTracebackError(reply.traceback)
    if reply.place == "pickle":
        how = f"cannot be sent to a worker: pickling {_unpicklable(job)} raised"
    else:
        how = _PLACES[reply.place]
    return job_error(where, job, reply.errors[0], how, _SEND if reply.place in ("pickle", "set up") else None)


def death_error(where: str, job: PoolJob, end: WorkerEnd, is_building: bool) -> WorkError:
    """The error of a job whose worker ended."""
    result = end.result
    text = f"job {job.name!r}: its worker (pid {end.pid})"
    stderr = f"The end of its stderr:\n{end.stderr}" if end.stderr else None
    if isinstance(result, WorkerResult) and not result.started:
        next_step = limit_step(result.start_error + end.stderr) or result.start_error or stderr
        return WorkerStartError(f"{text} did not start", where=where, next_step=next_step, job=job.name)
    code, signal_name = None, None
    if isinstance(result, WorkError):
        how, signal_name = f"died: {result}", getattr(result, "signal_name", None)
    else:
        code, signal_name = result.returncode, result.signal_name
        how = f"was killed by {signal_name}" if signal_name else f"ended with exit code {code}"
    return WorkerDiedError(
        f"{text} {how} while it {'was built' if is_building else 'ran'}",
        where=where,
        next_step="\n".join(filter(None, [limit_step(end.stderr), stderr])) or None,
        job=job.name,
        signal_name=signal_name,
        returncode=code,
        stderr=end.stderr,
    )


def job_time_error(where: str, job: PoolJob) -> JobTimeoutError:
    """The error of a job whose time was up."""
    text = f"job {job.name!r} did not end within {job.time_limit_secs:g} s"
    next_step = "Give it more time (time_limit_secs), or less to do."
    return JobTimeoutError(text, where=where, next_step=next_step, job=job.name)


def build_time_error(where: str, job: PoolJob, limit_secs: float | None) -> JobTimeoutError:
    """The error of a job whose worker was not ready in time."""
    text = f"the worker of job {job.name!r} was not built within {limit_secs:g} s"
    return JobTimeoutError(text, where=where, next_step="Give it more time (build_limit_secs).", job=job.name)


def _unpicklable(job: PoolJob) -> str:
    """The part of a job that cannot be pickled."""
    parts = [("its function", job.function)]
    parts += [(f"argument {number}", value) for number, value in enumerate(job.args)]
    parts += [(f"argument {name!r}", value) for name, value in job.kwargs.items()]
    for part, value in parts:
        try:
            pack(value, float("inf") if part == "its function" else 0)
        except BaseException:  # noqa: BLE001 - whatever a foreign __reduce__ raises
            return f"{part}, {_SHORT.repr(value)},"
    return "it"
