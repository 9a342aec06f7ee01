"""The GPUs of a machine: what they are, what is free, which processes hold the rest. Without TensorFlow or CUDA.

::

    look() ──▶ NVML (nvidia-ml-py) ──▶ nvidia-smi, where NVML does not answer ──▶ no GPU, with the reason
                     └──────────────────────┴──▶ as CUDA_VISIBLE_DEVICES shows them ──▶ Machine
    Machine.read(path)   a description in JSON, to plan for a machine that is not this one

Asking NVML or nvidia-smi starts no CUDA: a process may look, and fork afterwards. Everything here may be called from
any thread. Sizes are in MiB.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import math
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tf1sessions import files
from tf1sessions.errors import MemoryPlanError
from tf1sessions.sessions.machine import usable_cores

__all__ = ["Gpu", "Machine", "MemoryHolder", "look"]

MIB = 2**20
#: How long nvidia-smi may take. Arbitrary: without the persistence daemon it needs some seconds to wake the driver.
SMI_SECS = 30.0
#: Of a description. Arbitrary, and more than any machine has.
_MOST_GPUS = 1024


@dataclass(frozen=True)
class MemoryHolder:
    """A process that holds memory of a GPU; ``used_mb`` is None where the driver does not say, as in containers."""

    pid: int
    used_mb: float | None
    name: str = ""


@dataclass(frozen=True)
class Gpu:
    """One GPU.

    Attributes:
        index: Its number among those that CUDA shows this process, which TensorFlow's ``GPU:0`` counts.
        number: Its number for nvidia-smi, in the order of the PCI bus.
        name, uuid: As the driver gives them.
        total_mb, free_mb: Its memory, and what of it nobody holds.
        holders: The processes that hold the rest, as far as the driver shows.
        mig: Whether it is divided into instances (MIG), which CUDA shows in its place.
    """

    index: int
    name: str
    total_mb: float
    free_mb: float
    number: int = 0
    uuid: str = ""
    holders: tuple[MemoryHolder, ...] = ()
    mig: bool = False


@dataclass(frozen=True)
class Machine:
    """The GPUs and cores that there are to share.

    Attributes:
        gpus: In CUDA's order, those that CUDA_VISIBLE_DEVICES hides left out.
        cores: Processor cores that this process may keep busy.
        source: Where this is from: ``"NVML"``, ``"nvidia-smi"``, ``"none"`` or the path of a description.
        mps: Whether NVIDIA's Multi-Process Service runs, which lets kernels of several processes run at once.
        notes: What a reader should know: why there are no GPUs, or that their order is not sure.
    """

    gpus: tuple[Gpu, ...] = ()
    cores: int = 1
    source: str = "none"
    mps: bool = False
    notes: tuple[str, ...] = ()

    @property
    def is_here(self) -> bool:
        """Whether this is the machine that the process runs on, and not one that was described."""
        return self.source in ("NVML", "nvidia-smi", "none")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, which :meth:`from_dict` takes back."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, given: Any, source: str = "a description") -> Machine:
        """A machine from plain values; ``{"gpus": [{"total_mb": 16384}], "cores": 16}`` is enough.

        A GPU's ``free_mb`` is by default its ``total_mb``, and ``count`` makes several of one line. What
        ``tf1sessions memory --json`` printed on another machine is taken as it is.

        Raises:
            MemoryPlanError: Something is missing, unknown or of the wrong kind; it is named.
        """
        if isinstance(given, Mapping) and isinstance(given.get("machine"), Mapping):
            given = given["machine"]
        _check_keys(given, {field.name for field in dataclasses.fields(cls)}, "a machine", source)
        gpus: list[Gpu] = []
        listed = given.get("gpus", [])
        if not isinstance(listed, list | tuple):
            raise _wrong(f"gpus is {listed!r}", "It must be a list of GPUs.", source)
        for entry in listed:
            known = {field.name for field in dataclasses.fields(Gpu)} | {"count"}
            _check_keys(entry, known, f"GPU {len(gpus)}", source)
            total = _size(entry.get("total_mb"), f"total_mb of GPU {len(gpus)}", source)
            if not total:
                raise _wrong(f"total_mb of GPU {len(gpus)} is 0", "It must be more.", source)
            free = _size(entry.get("free_mb", total), f"free_mb of GPU {len(gpus)}", source)
            if free > total:
                raise _wrong(f"free_mb of GPU {len(gpus)} is {free:g}", f"It has {total:g} MiB in all.", source)
            count = _whole(entry.get("count", 1), f"count of GPU {len(gpus)}", source)
            if len(gpus) + count > _MOST_GPUS:
                raise _wrong(f"count of GPU {len(gpus)} is {count}", f"A machine has {_MOST_GPUS} at most.", source)
            for _ in range(count):
                gpus.append(
                    Gpu(len(gpus), str(entry.get("name", "GPU")), total, free, len(gpus), str(entry.get("uuid", "")))
                )
        cores = _whole(given.get("cores", usable_cores()), "cores", source)
        mps = given.get("mps", False)
        if not isinstance(mps, bool):
            raise _wrong(f"mps is {mps!r}", "It must be true or false.", source)
        return cls(tuple(gpus), cores, source, mps)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Machine:
        """A machine from a description in JSON; see :meth:`from_dict`.

        Raises:
            MemoryPlanError: The file cannot be read, or is no description.
        """
        shown = os.fspath(path)
        try:
            given = json.loads(files.read_whole(path).decode("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) else f"it is no JSON: {error}"
            raise _wrong(
                f"{shown} cannot be read: {reason}", "Give a description of a machine in JSON.", shown
            ) from error
        return cls.from_dict(given, shown)


def look(environ: Mapping[str, str] | None = None) -> Machine:
    """Return what this machine has now.

    Args:
        environ: Where CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER and CUDA_MPS_PIPE_DIRECTORY are read; by default
            ``os.environ``.
    """
    environ = os.environ if environ is None else environ
    try:
        gpus, source, reason = _ask_nvml(), "NVML", ""
    except _Unanswered as nvml:
        try:
            gpus, source, reason = _ask_nvidia_smi(), "nvidia-smi", ""
        except _Unanswered as smi:
            gpus, source, reason = [], "none", f"no GPU: {nvml}; {smi}"
    notes = [reason] if reason else []
    for gpu in gpus:
        if gpu.mig:
            notes.append(f"GPU {gpu.number} is divided by MIG, and left out: describe its instances in JSON")
    whole = [gpu for gpu in gpus if not gpu.mig]
    gpus = [dataclasses.replace(gpu, index=index) for index, gpu in enumerate(whole)]
    shown = _visible(gpus, environ.get("CUDA_VISIBLE_DEVICES"), notes)
    in_bus_order = environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    if len({gpu.name for gpu in gpus}) > 1 and not in_bus_order:
        notes.append(
            "the GPUs differ, and CUDA counts the fastest first where nvidia-smi counts by the bus: "
            "set CUDA_DEVICE_ORDER=PCI_BUS_ID so that both mean the same"
        )
    pipes = Path(environ.get("CUDA_MPS_PIPE_DIRECTORY") or "/tmp/nvidia-mps")  # the default that NVIDIA documents
    return Machine(tuple(shown), usable_cores(), source, bool(shown) and (pipes / "control").exists(), tuple(notes))


# -- where the facts come from -----------------------------------------------------------------------------------------


class _Unanswered(Exception):
    """One way to ask gave no answer; says why."""


def _ask_nvml() -> list[Gpu]:
    try:
        import pynvml as nvml
    except ImportError as error:
        raise _Unanswered(f"nvidia-ml-py is not installed ({error})") from error
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        raise _Unanswered(f"NVML: {error}") from error
    try:
        gpus = []
        for number in range(nvml.nvmlDeviceGetCount()):
            handle = nvml.nvmlDeviceGetHandleByIndex(number)
            memory = nvml.nvmlDeviceGetMemoryInfo(handle)
            try:
                running = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
            except nvml.NVMLError:  # not shown to this user, or in this container
                running = []
            holders = [
                MemoryHolder(process.pid, None if process.usedGpuMemory is None else process.usedGpuMemory / MIB)
                for process in running
            ]
            name, uuid = (_text(ask(handle)) for ask in (nvml.nvmlDeviceGetName, nvml.nvmlDeviceGetUUID))
            sizes = (memory.total / MIB, memory.free / MIB)
            gpus.append(Gpu(number, name, *sizes, number, uuid, _named(holders), _is_divided(nvml, handle)))
        return gpus
    except nvml.NVMLError as error:
        raise _Unanswered(f"NVML: {error}") from error
    finally:
        with contextlib.suppress(nvml.NVMLError):  # what was asked is known, or its error is on the way
            nvml.nvmlShutdown()


def _is_divided(nvml: Any, handle: Any) -> bool:
    try:
        return bool(nvml.nvmlDeviceGetMigMode(handle)[0])
    except nvml.NVMLError:  # a GPU that cannot be
        return False


def _ask_nvidia_smi() -> list[Gpu]:
    gpus, holders = list[Gpu](), dict[str, list[MemoryHolder]]()
    for row in _smi("--query-compute-apps=gpu_uuid,pid,used_memory", 3, needed=False):
        if row[1].isdigit():
            holders.setdefault(row[0], []).append(MemoryHolder(int(row[1]), _mebibytes(row[2])))
    for number, name, uuid, total, free in _smi("--query-gpu=index,name,uuid,memory.total,memory.free", 5):
        sizes = (_mebibytes(total), _mebibytes(free))
        if not number.isdigit() or sizes[0] is None or sizes[1] is None:
            raise _Unanswered(f"nvidia-smi does not give the memory of {name}: {total}, {free}")
        gpus.append(Gpu(len(gpus), name, sizes[0], sizes[1], int(number), uuid, _named(holders.get(uuid, ()))))
    return gpus


def _smi(query: str, columns: int, needed: bool = True) -> list[list[str]]:
    command = ["nvidia-smi", query, "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SMI_SECS)
    except FileNotFoundError as error:
        raise _Unanswered("nvidia-smi is not installed") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _Unanswered(f"nvidia-smi: {error}") from error
    if done.returncode:
        if not needed:
            return []
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise _Unanswered(f"nvidia-smi: {said[0] if said else f'exit code {done.returncode}'}")
    rows = [[cell.strip() for cell in row] for row in csv.reader(done.stdout.splitlines(), skipinitialspace=True)]
    return [row for row in rows if len(row) == columns]


def _mebibytes(cell: str) -> float | None:
    """A number of nvidia-smi; None for its ``[N/A]``, ``[Not Supported]`` and ``[Insufficient Permissions]``."""
    try:
        return float(cell)
    except ValueError:
        return None


def _named(holders: Iterable[MemoryHolder]) -> tuple[MemoryHolder, ...]:
    return tuple(dataclasses.replace(holder, name=_process_name(holder.pid)) for holder in holders)


def _process_name(pid: int) -> str:
    """The command of a process, shortened; empty where /proc does not show it (another container's)."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    return " ".join([os.path.basename(words[0]), *filter(None, words[1:])])[:60]


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value  # bytes before nvidia-ml-py 11.5


def _visible(gpus: list[Gpu], wanted: str | None, notes: list[str]) -> list[Gpu]:
    """The GPUs as CUDA shows them: in the order of CUDA_VISIBLE_DEVICES, up to its first entry that is none."""
    if wanted is None:
        return gpus
    shown: list[Gpu] = []
    for entry in (part.strip() for part in wanted.split(",")):
        if entry.startswith("MIG-"):
            notes.append(f"CUDA_VISIBLE_DEVICES names {entry}: parts of a GPU are not planned; describe them in JSON")
            break
        found = [
            gpu for gpu in gpus if entry == str(gpu.number) or (entry.startswith("GPU-") and gpu.uuid.startswith(entry))
        ]
        if len(found) != 1 or found[0].number in {gpu.number for gpu in shown}:
            break
        shown.append(dataclasses.replace(found[0], index=len(shown)))
    if len(shown) < len(gpus):
        notes.append(f"CUDA_VISIBLE_DEVICES={wanted!r} shows {len(shown)} of {len(gpus)} GPUs")
    return shown


# -- descriptions -----------------------------------------------------------------------------------------------------


def _check_keys(given: Any, known: set[str], what: str, source: str) -> None:
    if not isinstance(given, Mapping):
        raise _wrong(f"{what} is {given!r}", f"It must be an object with the keys {', '.join(sorted(known))}.", source)
    if unknown := sorted(set(given) - known):
        raise _wrong(f"{what} has the key {unknown[0]!r}", f"It may have {', '.join(sorted(known))}.", source)


def _size(value: Any, what: str, source: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise _wrong(f"{what} is {value!r}", "It must be a number of MiB.", source)
    return float(value)


def _whole(value: Any, what: str, source: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _wrong(f"{what} is {value!r}", "It must be an integer of 1 or more.", source)
    return value


def _wrong(what: str, next_step: str, source: str) -> MemoryPlanError:
    return MemoryPlanError(what, where=source, next_step=next_step)
