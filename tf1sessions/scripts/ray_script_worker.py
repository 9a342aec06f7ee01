"""An actor of Ray that runs one script on its node, for ``tf1sessions run --ray``.

::

    run(request) ─▶ paths below the job's folder become those of the copy here ─▶ a fork server, and the job in it
    read()       ─▶ what the job has written since the last call
    signal()     ─▶ to the job's process group
"""

from __future__ import annotations

import contextlib
import io
import os
import tarfile
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf1sessions.pools.fork_server import WorkerServer, WorkerSpec
from tf1sessions.pools.ray_models import folder_on_node
from tf1sessions.pools.ray_versions import version_reader
from tf1sessions.pools.user_servers import PRELOADS
from tf1sessions.sessions import gpus
from tf1sessions.sessions.division import CONTEXT_MB

__all__ = ["ScriptWorker", "moved", "packed_folder"]

_REPORTS = ("seed_report", "deprecations")  # settings that name a file which goes back to the caller


class ScriptWorker:
    """Runs a script. Its methods are called from several threads at once, ``run`` once."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._folder = self._stack.enter_context(folder_on_node("tf1sessions-ray-"))
        self._lock = threading.Lock()  # protects what stands below it
        self._handle: Any = None
        self._positions = [0, 0]

    def run(self, request: dict[str, Any], wanted: dict[str, str], files: Any) -> dict[str, Any]:
        """Run a job to its end. Returns its result, or this machine's versions where they are not those wanted."""
        found = version_reader()()
        if found != wanted:
            return {"versions": found, "node": self.node()}
        here = self._unpacked(files)
        before = _state_of(here)
        payload, reports = self._payload(request, here)
        env = os.environ | request["env"]
        if not request["num_gpus"]:  # to Ray a GPU is a number: a job that has none of it would see them all
            env["CUDA_VISIBLE_DEVICES"] = request["env"].get("CUDA_VISIBLE_DEVICES", "")
        paths = self._paths()
        with contextlib.ExitStack() as stack:
            stdout = stack.enter_context(open(paths[0], "wb", buffering=0))
            stderr = stdout if request["one_stream"] else stack.enter_context(open(paths[1], "wb", buffering=0))
            server = stack.enter_context(WorkerServer(PRELOADS["scripts"], env))
            spec = WorkerSpec(
                name=request["name"],
                target=request["target"],
                payload=payload,
                env=env,
                cwd=here,
                stdin=None,
                stdout=stdout.fileno(),
                stderr=stderr.fileno(),
            )
            handle = server.spawn(spec)
            with self._lock:
                self._handle = handle
            result = handle.wait()
        files = {}
        for there, path in reports.items():
            with contextlib.suppress(OSError), open(path, "rb") as file:
                files[there] = file.read()
        assert result is not None
        return {
            "result": result._asdict(),
            "files": files,
            "written": self._written(here, before),
            "cold_reasons": handle.cold_reasons,
        }

    def close(self) -> None:
        """Remove what is here of the job."""
        self._stack.close()

    def node(self) -> str:
        """Ray's name of the node."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def read(self) -> list[bytes]:
        """Return what was written to stdout and to stderr since the last call."""
        found = []
        for number, path in enumerate(self._paths()):
            data = b""
            with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
                file.seek(self._positions[number])
                data = file.read(8 << 20)
            self._positions[number] += len(data)
            found.append(data)
        return found

    def signal(self, signum: int) -> None:
        """Send a signal to the job's process group."""
        with self._lock:
            handle = self._handle
        if handle is not None:
            handle.signal(signum)

    def pass_on(self, signum: int) -> None:
        """Send a signal to the job's main process."""
        with self._lock:
            handle = self._handle
        if handle is not None:
            handle.pass_on(signum)

    def _unpacked(self, files: Any) -> str:
        here = os.path.join(self._folder, "job")
        trusted: Any = {"filter": "fully_trusted"} if hasattr(tarfile, "data_filter") else {}
        with tarfile.open(fileobj=io.BytesIO(memoryview(files)), mode="r:") as archive:
            archive.extractall(here, **trusted)  # it is the caller's, as the script is
        return here

    def _written(self, here: str, before: dict[str, tuple[int, int]]) -> NDArray[np.uint8] | None:
        """The files that the job has made or changed in its folder, as an archive; None where there are none."""
        changed = [path for path, state in _state_of(here).items() if before.get(path) != state]
        if not changed:
            return None
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path in changed:
                with contextlib.suppress(FileNotFoundError):
                    archive.add(os.path.join(here, path), path)
        return np.frombuffer(packed.getbuffer(), np.uint8)

    def _paths(self) -> list[str]:
        return [os.path.join(self._folder, name) for name in ("stdout", "stderr")]

    def _payload(self, request: dict[str, Any], here: str) -> tuple[dict[str, Any], dict[str, str]]:
        """The job's payload with paths of this machine, and, by their names there, the reports that go back."""
        payload = dict(request["payload"])
        settings = dict(payload["settings"])
        cwd = os.path.realpath(request["cwd"])
        for key in ("path", "path0"):
            if payload["kind"] != "module" or key == "path0":
                payload[key] = moved(payload[key], cwd, here)
        reports = {}
        for key in _REPORTS:
            if settings.get(key) is not None:
                reports[settings[key]] = os.path.join(self._folder, key)
                settings[key] = reports[settings[key]]
        settings["claims_dir"] = os.path.join(self._folder, "claims")
        threads = max(1, int(request["num_cpus"]))
        settings["intra_op_threads"] = settings["intra_op_threads"] or threads
        settings["inter_op_threads"] = settings["inter_op_threads"] or max(2, threads)
        share = request["num_gpus"]
        if 0 < share < 1 and settings["memory_fraction"] is None and settings["memory_limit_mb"] is None:
            found = gpus.look().gpus
            if found:
                settings["memory_limit_mb"] = int(share * min(gpu.total_mb for gpu in found) - CONTEXT_MB)
        payload["settings"] = settings
        return payload, reports


def _state_of(folder: str) -> dict[str, tuple[int, int]]:
    """The files in a folder by their paths, each with its size and when it was changed."""
    found = {}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = os.path.join(parent, name)
            with contextlib.suppress(FileNotFoundError):
                status = os.lstat(path)
                found[os.path.relpath(path, folder)] = (status.st_size, status.st_mtime_ns)
    return found


def packed_folder(folder: str, left_out: Sequence[str]) -> NDArray[np.uint8]:
    """The files of a folder as bytes, without ``.git``, ``__pycache__``, ``runs`` and those left out.

    Raises:
        OSError: One cannot be read.
    """
    without = {os.path.realpath(each) for each in (*left_out, os.path.join(folder, "runs"))}

    def wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        name = os.path.basename(member.name)
        path = os.path.realpath(os.path.join(folder, member.name))
        is_sent = member.isfile() or member.isdir() or member.issym()
        return None if not is_sent or name in (".git", "__pycache__") or path in without else member

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, ".", filter=wanted)
    return np.frombuffer(packed.getbuffer(), np.uint8)


def moved(path: str, folder: str, here: str) -> str:
    """A path below a folder as one below its copy; another one as it is."""
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    if real == folder or real.startswith(folder.rstrip(os.sep) + os.sep):
        return os.path.join(here, os.path.relpath(real, folder)) if real != folder else here
    return path
