"""The program of a RaySessionPool's worker, an actor of Ray: builds once, then runs one job after another.

::

    the pool's dispatcher                          an actor, in a process of its own on some node
      set_up(versions, payload, Setup) ─────────▶ versions compared; threads, GPUs; memory plan; session, graph, model
      ◀── versions, a WorkerAnswer ─────────────── ready, or why not
      run(job, *objects of the store) ──────────▶ unpickle, run, pickle
      ◀── WorkerAnswer ─────────────────────────── result, or exception; whether this worker may go on
      close() ───────────────────────────────────▶ sessions are closed

The class of the actor is made by :func:`worker_class`, so that Ray sends it by value: what it does first, on a machine
of which nothing is known, is to say which versions it has (ray_versions.py).
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tf1sessions.pools.packing import Packed, pack, unpack
from tf1sessions.pools.pool_worker_main import Reply, SessionJobs, Setup, worker_failure
from tf1sessions.sessions.machine import resident_mb

__all__ = [
    "IN_BAND",
    "RayWorker",
    "StoredObject",
    "WorkerAnswer",
    "behavior_is_v1",
    "joined",
    "plan_here",
    "worker_class",
]

IN_BAND = 64 << 10
"""Arrays with fewer bytes than this are copied into the pickle of a job, and are writable; arbitrary. Larger ones are
read where Ray's object store has them."""


@dataclass(frozen=True)
class StoredObject:
    """Stands in the arguments of a job for an object of the store, which Ray brings to the worker."""

    index: int


class WorkerAnswer(NamedTuple):
    """The end of a job: a packed :class:`Reply`, and what the pool asks without unpickling it."""

    stream: bytes
    buffers: list[Any] = []
    may_go_on: bool = True
    memory_mb: float = 0.0  # the worker's resident memory after it; 0.0 where the pool does not ask

    def is_stream_alone(self) -> bool:
        """Whether all but the pickle is as by default, and need not be sent."""
        return not self.buffers and self.may_go_on and not self.memory_mb


def worker_class() -> type:
    """The class of the actor. What it needs is imported inside of its methods."""

    class SessionWorker:
        """A worker of a RaySessionPool."""

        def set_up(
            self, versions: Any, wanted: dict[str, str], payload: Any, stream: bytes, buffers: list[Any], *files: Any
        ) -> tuple[dict[str, str], int, str, Any]:
            """Make what jobs need. Returns the versions, the process, the node, and a WorkerAnswer or None."""
            import importlib
            import os

            import ray

            found = versions()
            answer: Any = None
            if found == wanted:
                module = importlib.import_module("tf1sessions.pools.ray_worker")
                self._worker = module.RayWorker()
                answer = tuple(self._worker.set_up(payload, stream, buffers, files))
                self._run = self._worker.run
            return found, os.getpid(), ray.get_runtime_context().get_node_id(), answer

        def ping(self) -> None:
            """Answer."""

        def run(self, stream: bytes, buffers: Any = (), *objects: Any) -> Any:
            """Run a job. Bytes alone where the answer has no more, else a plain tuple: Ray takes longer for others."""
            answer = self._run(stream, buffers, objects)
            return answer.stream if answer.is_stream_alone() else tuple(answer)

        def close(self) -> None:
            """Close what was made."""
            self._worker.close()

    return SessionWorker


class RayWorker:
    """The state of an actor, once its versions are known to be right. For its main thread."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._jobs: SessionJobs | None = None
        self._reports_memory = False

    def set_up(
        self, payload: Mapping[str, Any], stream: bytes, buffers: Sequence[Any], files: Sequence[Any]
    ) -> WorkerAnswer:
        """Settle this process's share of its machine, before TensorFlow is imported, and make what jobs need."""
        self._reports_memory = payload["reports_memory"]
        try:
            for name, value in payload["environment"].items():
                os.environ.setdefault(name, value)
            if payload["hide_gpus"]:  # to Ray a GPU is a number: a process that has none of it sees them all
                os.environ["CUDA_VISIBLE_DEVICES"] = ""
            if payload["prepare"]:
                exec(payload["prepare"], {})
            elif payload["mode"] == "tf1":  # sessions that jobs make themselves cost what ours do
                importlib.import_module("tf1sessions.sessions.calls").install_fast_path()
            setup: Setup = unpack(stream, buffers)
            if payload["plan"] is not None:
                setup = dataclasses.replace(setup, plan=plan_here(payload["plan"]), number=0)
            if files:
                unpacked = importlib.import_module("tf1sessions.pools.ray_models").unpacked
                path = self._stack.enter_context(unpacked(files[0], payload["model_name"]))
                setup = dataclasses.replace(setup, model={**(setup.model or {}), "path": path})
            self._jobs = SessionJobs(payload["mode"], payload["v1"], setup, self._stack)
            return _answer(Reply())
        except BaseException as error:  # noqa: BLE001 - it is the first job's, whatever it is
            return _answer(worker_failure(error, "build"))

    def run(self, stream: bytes, buffers: Sequence[Any], objects: Sequence[Any]) -> WorkerAnswer:
        """Run a job to its end."""
        assert self._jobs is not None
        start = time.monotonic()
        try:
            function, args, kwargs, name = unpack(stream, buffers)
        except BaseException as error:  # noqa: BLE001 - whatever a foreign __setstate__ raises
            return _answer(worker_failure(error, "unpickle"))
        if objects:
            args = tuple(_of_store(value, objects) for value in args)
            kwargs = {key: _of_store(value, objects) for key, value in kwargs.items()}
        reply = self._jobs.run(function, args, kwargs, name)
        del function, args, kwargs  # so that the store may have their memory back
        reply.seconds = time.monotonic() - start
        return _answer(reply, self._reports_memory)

    def close(self) -> None:
        """Close sessions and models."""
        self._stack.close()


def plan_here(wanted: Mapping[str, Any]) -> Any:
    """The MemoryPlan of this worker alone, on the GPUs that Ray has given it.

    Args:
        wanted: Arguments of MemoryPlan, and ``share``: the part of one GPU that it asked Ray for, with its context.
    """
    gpus = importlib.import_module("tf1sessions.sessions.gpus")
    division = importlib.import_module("tf1sessions.sessions.division")
    arguments = dict(wanted)
    share, machine = arguments.pop("share", None), arguments.get("machine")
    machine = gpus.look() if machine is None else gpus.Machine.from_dict(machine)
    if share is not None:
        if machine.gpus:
            arguments["limit_mb"] = share * min(gpu.total_mb for gpu in machine.gpus) - division.CONTEXT_MB
        if machine.mps:
            os.environ.setdefault(division.MPS_PERCENTAGE, str(max(1, int(100 * share))))
    if arguments.get("limit_mb") is not None or arguments.get("fraction") is not None:
        # Whether it is free is a matter of waiting: a worker that was just killed may still have it.
        free = tuple(dataclasses.replace(gpu, free_mb=gpu.total_mb) for gpu in machine.gpus)
        machine = dataclasses.replace(machine, gpus=free)
    arguments["machine"] = machine
    return importlib.import_module("tf1sessions.sessions.memory").MemoryPlan(**arguments)


def _of_store(value: Any, objects: Sequence[Any]) -> Any:
    return objects[value.index] if type(value) is StoredObject else value


def _answer(reply: Reply, with_memory: bool = False) -> WorkerAnswer:
    try:
        stream, buffers = joined(pack(reply.parts(), IN_BAND))
    except BaseException as error:  # noqa: BLE001 - whatever a foreign __reduce__ raises
        stream, buffers = joined(pack(worker_failure(error, "return", reply.may_go_on).parts(), IN_BAND))
    return WorkerAnswer(stream, buffers, reply.may_go_on, resident_mb(os.getpid()) if with_memory else 0.0)


def joined(packed: Packed) -> tuple[bytes, list[Any]]:
    """A packed object as Ray takes it: its pickle, and arrays whose memory Ray's own pickle leaves out."""
    return b"".join(packed.stream), packed.buffers


def behavior_is_v1() -> bool:
    """Whether this process's TensorFlow behaves as version 1; not so where it is not imported."""
    behavior = sys.modules.get("tensorflow.python.tf2")
    return behavior is not None and not behavior.enabled()
