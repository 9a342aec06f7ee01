"""``tf1sessions run --ray``: takes the place of the fork server, and runs each job on a node of a Ray cluster.

::

    runner.py ─▶ RayServer.spawn(WorkerSpec) ─▶ RayJobHandle.wait(), in the job's watcher thread
                     the job's folder, in the object store   │ ▲  what the job writes, into its log;
    ─────────────────────────────────────────────────────────│─│───────────── its files, when it has ended
    a node                                                   ▼ │
                     ray_script_worker.py: ScriptWorker, an actor: a fork server, and the script as a job of that

A node that is lost costs nothing that has ended; the job that ran there starts again on another one.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import tarfile
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from tf1sessions.errors import (
    ScriptUsageError,
    Tf1SessionsError,
    UnsupportedEnvironmentError,
    WorkerDiedError,
    WorkerStartError,
)
from tf1sessions.pools.ray_cluster import Connection, connect
from tf1sessions.pools.ray_versions import version_reader
from tf1sessions.pools.workers import WorkerResult, WorkerSpec
from tf1sessions.scripts.ray_script_worker import ScriptWorker, packed_folder

__all__ = ["RayJobHandle", "RayServer"]

NODE_RETRIES = 3
"""How often a job starts again because its node was lost; as Ray's tasks do."""

_POLL_SECS = 0.25  # how often what a job writes is fetched; arbitrary
_MANY_BYTES = 200 << 20  # of a folder, from which on it is worth a word; arbitrary
_CLOSE_SECS = 10.0  # for a node to remove what is there of a job; arbitrary
_NODE_DIED = "its node has died"


class RayServer:
    """Runs jobs on a cluster; the part of a WorkerServer that a run needs. Safe to use from any thread.

    Args:
        address: Of the cluster, as for :class:`~tf1sessions.RaySessionPool`.
        num_cpus, num_gpus: What a job takes of its node.
        connect_limit_secs: How long the address may take to answer.

    Raises:
        UnsupportedEnvironmentError: Ray is not installed, or the cluster does not answer.
        UsageError: The address is none.
    """

    on_note: Callable[[str], None]

    def __init__(
        self, address: str, num_cpus: float = 1, num_gpus: float = 0, connect_limit_secs: float = 30.0
    ) -> None:
        self.num_cpus = num_cpus
        self.num_gpus = num_gpus
        self.connection: Connection = connect(address, connect_limit_secs, "--ray", _nothing)
        self.versions = version_reader()()
        self.on_note = _nothing
        self._handles: set[RayJobHandle] = set()
        self._lock = threading.Lock()  # protects what stands below it
        self._stored: dict[str, Any] = {}

    def __call__(self, env: Mapping[str, str]) -> RayServer:
        """Itself: what :class:`~tf1sessions.scripts.runner.RunSettings` wants as its ``server``."""
        return self

    @property
    def room(self) -> int:
        """Return the number of jobs that the cluster can run at once now, by its CPUs and GPUs; at least 1."""
        has = self.connection.ray.cluster_resources()
        counts = [has.get("CPU", 0) / self.num_cpus if self.num_cpus else math.inf]
        if self.num_gpus:
            counts.append(has.get("GPU", 0) / self.num_gpus)
        least = min(counts)
        return max(1, int(least)) if least < math.inf else 1

    def start(self) -> None:
        """Nothing is to be started before there is a job."""

    def wait_ready(self, timeout: float) -> None:
        """The cluster has answered."""

    def spawn(self, spec: WorkerSpec) -> RayJobHandle:
        """Have a job run; its process starts in :meth:`RayJobHandle.wait`.

        Raises:
            ScriptUsageError: The script is not in the job's folder, which is what goes to the node.
        """
        path0 = str(spec.payload["path0"])
        if spec.payload["kind"] != "module" and not _is_in(path0, spec.cwd):
            raise ScriptUsageError(
                f"{spec.payload['path']} is not in {spec.cwd}, the folder that goes to the cluster",
                where="--ray",
                next_step="Start the run in a folder that has the scripts, and what they need, in it.",
            )
        handle = RayJobHandle(self, spec)
        self._handles.add(handle)
        return handle

    def stored(self, folder: str, run_folder: str) -> Any:
        """Ray's reference to the files of a folder as they were when its first job began, without those of runs.

        Raises:
            ScriptUsageError: They cannot be read.
        """
        with self._lock:
            if folder not in self._stored:
                try:
                    files = packed_folder(folder, [run_folder])
                except OSError as error:
                    raise ScriptUsageError(f"{folder} cannot be sent to the cluster: {error}", where="--ray") from error
                if files.nbytes > _MANY_BYTES:
                    self.note(f"{files.nbytes >> 20} MiB of {folder} go to each job; start the run in a smaller folder")
                self._stored[folder] = self.connection.ray.put(files)
            return self._stored[folder]

    def note(self, text: str) -> None:
        """Give the user a note."""
        self.on_note(text)

    def close(self) -> None:
        """End what runs, and leave the cluster."""
        for handle in list(self._handles):
            handle.kill()
        self.connection.close()


class RayJobHandle:
    """A job on the cluster. It is safe to call its methods simultaneously from multiple threads."""

    pid = 0  # is that of another machine

    def __init__(self, server: RayServer, spec: WorkerSpec) -> None:
        self.cold_reasons: tuple[str, ...] = ()
        self._server = server
        self._spec = spec
        self._ray = server.connection.ray
        self._lock = threading.Lock()  # protects what stands below it
        self._actor: Any = None
        self._has_begun = False
        self._node: Any = None  # Ray's reference to the name of the node
        self._killed = False

    def wait(self, timeout: float | None = None) -> WorkerResult:
        """Run the job to its end, again where its node is lost. For one thread; ``timeout`` is not heeded.

        Raises:
            WorkerStartError: Ray could not start its process.
            WorkerDiedError: Its process died, or its node was lost too often.
            UnsupportedEnvironmentError: The node has other versions.
        """
        start = time.monotonic()
        for times in range(NODE_RETRIES + 1):
            try:
                return self._attempt()
            except self._ray.exceptions.RayActorError as error:
                if self._killed:
                    break
                if not self._is_lost(error):
                    raise self._error(error) from error
                if times == NODE_RETRIES:
                    raise WorkerDiedError(
                        f"its node was lost, {times + 1} times", where="--ray", signal_name=None, returncode=None
                    ) from error
                text = "--- tf1sessions: its node was lost, started again ---"
                self._write(self._spec.stderr, f"\n{text}\n".encode())
                self._server.note(f"{self._spec.name}: its node was lost; it starts again")
            except self._ray.exceptions.RayError as error:  # the store is full, a file of the job is lost, or the like
                if isinstance(error, Tf1SessionsError):  # raised on the node
                    raise
                raise self._error(error) from error
        return WorkerResult(-9, "SIGKILL", time.monotonic() - start, 0.0, True, (), "", True)

    def signal(self, signum: int) -> None:
        """Send a signal to the job's process group."""
        with self._lock:
            actor = self._actor if self._has_begun else None
        if actor is not None:
            with contextlib.suppress(Exception):  # it has ended
                actor.signal.remote(int(signum))
        else:
            self.kill()  # it has not begun: it has nothing to clean up

    def pass_on(self, signum: int) -> None:
        """Send a signal to the job's main process; nothing happens where that has not begun."""
        with self._lock:
            actor = self._actor if self._has_begun else None
        if actor is not None:
            with contextlib.suppress(Exception):  # it has ended
                actor.pass_on.remote(int(signum))

    def kill(self) -> None:
        """End the job and everything that it started."""
        with self._lock:
            self._killed = True
            actor = self._actor
        if actor is not None:
            with contextlib.suppress(Exception):
                self._ray.kill(actor)

    def _attempt(self) -> WorkerResult:
        with self._lock:
            if self._killed:
                return WorkerResult(-9, "SIGKILL", 0.0, 0.0, True, (), "", True)
            self._has_begun = False
            self._actor = actor = self._start_actor()
        try:
            self._node = actor.node.remote()
            files = self._server.stored(self._spec.cwd, os.path.dirname(self._spec.payload["settings"]["claims_dir"]))
            ended = actor.run.remote(self._request(), self._server.versions, files)
            has_ended = False
            while True:
                written = self._ray.get(actor.read.remote())
                for descriptor, data in zip((self._spec.stdout, self._spec.stderr), written, strict=True):
                    self._write(descriptor, data)
                with self._lock:
                    self._has_begun = True
                if has_ended and not any(written):  # and not before it has been read to the end
                    result = self._result(self._ray.get(ended))
                    with contextlib.suppress(self._ray.exceptions.RayError):
                        self._ray.get(actor.close.remote(), timeout=_CLOSE_SECS)
                    return result
                has_ended = bool(self._ray.wait([ended], timeout=_POLL_SECS)[0])
        finally:
            with contextlib.suppress(Exception):
                self._ray.kill(actor)

    def _start_actor(self) -> Any:
        server = self._server
        where = {}
        if lost := server.connection.lost_nodes():
            where = {"label_selector": {"ray.io/node-id": f"!in({','.join(lost)})"}}
        kind = self._ray.remote(ScriptWorker)
        return kind.options(
            num_cpus=server.num_cpus,
            num_gpus=server.num_gpus,
            max_concurrency=4,  # a job that runs is read from, and gets signals
            max_restarts=0,
            **where,
        ).remote()

    def _request(self) -> dict[str, Any]:
        """The job, for another machine: of the environment only what is not this process's own."""
        spec = self._spec
        own = os.environ
        changed = {name: value for name, value in spec.env.items() if own.get(name) != value and name != "PWD"}
        return {
            "name": spec.name,
            "target": spec.target,
            "payload": dict(spec.payload),
            "env": changed,
            "cwd": spec.cwd,
            "one_stream": spec.stdout == spec.stderr,
            "num_cpus": self._server.num_cpus,
            "num_gpus": self._server.num_gpus,
        }

    def _result(self, found: dict[str, Any]) -> WorkerResult:
        if "versions" in found:
            wanted, there = self._server.versions, found["versions"]
            names = [name for name in wanted if wanted[name] != there[name]]
            raise UnsupportedEnvironmentError(
                f"node {found['node']} has {', '.join(f'{name} {there[name]}' for name in names)}, and this process "
                + ", ".join(f"{name} {wanted[name]}" for name in names),
                where="--ray",
                next_step="Install the same on all nodes.",
            )
        for path, data in found["files"].items():
            if path in self._spec.payload["settings"].values():  # reports that stand beside the log
                with contextlib.suppress(OSError), open(path, "wb") as file:
                    file.write(data)
        if found["written"] is not None:
            self._bring_back(found["written"])
        self.cold_reasons = tuple(found["cold_reasons"])
        return WorkerResult(**found["result"])

    def _bring_back(self, written: Any) -> None:
        """Write the files that the job has made into its folder, as it would have done on this machine."""
        filters: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        try:
            with tarfile.open(fileobj=io.BytesIO(memoryview(written)), mode="r:") as archive:
                archive.extractall(self._spec.cwd, **filters)
        except (OSError, tarfile.TarError) as error:
            self._server.note(f"{self._spec.name}: its files could not be written to {self._spec.cwd}: {error}")

    def _write(self, descriptor: int, data: bytes) -> None:
        view = memoryview(data)
        with contextlib.suppress(OSError):  # the disk is full, which the run notices by itself
            while view:
                view = view[os.write(descriptor, view) :]

    def _is_lost(self, error: BaseException) -> bool:
        lost = isinstance(error, self._ray.exceptions.ActorUnavailableError) or _NODE_DIED in str(error)
        if lost:
            with contextlib.suppress(Exception):
                self._server.connection.note_lost(self._ray.get(self._node, timeout=0.0))
        return lost

    def _error(self, error: BaseException) -> WorkerStartError | WorkerDiedError:
        lines = str(error).strip().splitlines()
        text = lines[-1].partition(" Some common causes")[0].strip() if lines else type(error).__name__
        if self._has_begun:
            return WorkerDiedError(f"its worker died: {text}", where="--ray", signal_name=None, returncode=None)
        return WorkerStartError(f"Ray did not start its worker: {text}", where="--ray")


def _nothing(*_: Any) -> None:
    """Do nothing."""


def _is_in(path: str, folder: str) -> bool:
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
