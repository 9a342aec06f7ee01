"""Division of a machine's GPUs and cores among workers: the arithmetic of a plan, without TensorFlow.

::

    Machine, workers, fraction | limit_mb | growth ──▶ divide() ──▶ Division: a Share for each worker, notes
                                                          └──▶ MemoryPlanError: what does not fit, by how much

Sizes are in MiB. Everything here is a value or a pure function, so it may be used from any thread.
"""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import MemoryPlanError
from tf1sessions.sessions.gpus import Gpu, Machine

__all__ = [
    "CONTEXT_MB",
    "MPS_MEMORY_LIMIT",
    "MPS_PERCENTAGE",
    "Division",
    "Share",
    "divide",
    "mps_environment",
    "thread_counts",
]

#: What a process holds of a GPU besides TensorFlow's share: the CUDA context and the handles of cuBLAS and cuDNN.
#: Measured: 589 MiB on an H100 with driver 580, after matrix products. It depends on GPU, driver and libraries.
CONTEXT_MB = 600.0
#: The environment variable by which a process under MPS gets a part of a GPU's multiprocessors. NVIDIA documents it.
MPS_PERCENTAGE = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
#: The environment variable by which a process under MPS cannot have more of a GPU's memory. NVIDIA documents it.
MPS_MEMORY_LIMIT = "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"
#: The least share that is worth starting a worker for. Arbitrary.
LEAST_MB = 64.0

#: Arbitrary, and more than any machine has: a slip of the keyboard is not to fill the memory.
_LARGEST = sys.float_info.max  # of what is a number of MiB; neither infinity nor NaN is
_MOST_WORKERS = 100_000

STRATEGIES = ("spread", "pack")


@dataclass(frozen=True)
class Share:
    """The share of one worker, a process.

    Attributes:
        worker: Its number, from 0.
        gpu: Its GPU, by its number among those that CUDA shows; None for a worker on the CPU.
        memory_mb: What TensorFlow may take of the GPU; None when that has no limit.
        fraction: The same as a share of the whole GPU.
        by_limit: Whether the limit is given to TensorFlow in MiB (a logical device), and not as a fraction.
        growth: Whether memory is taken as it is needed.
        lanes: Into how many logical devices its GPU is split, or its CPU where it has none.
        intra_op_threads, inter_op_threads: Its part of the cores; None when TensorFlow decides.
        mps_percentage: Its part of the GPU's multiprocessors under MPS; None without.
    """

    worker: int
    gpu: int | None = None
    memory_mb: float | None = None
    fraction: float | None = None
    by_limit: bool = False
    growth: bool = False
    lanes: int = 1
    intra_op_threads: int | None = None
    inter_op_threads: int | None = None
    mps_percentage: int | None = None

    @property
    def lane_mb(self) -> float | None:
        """The hard cap of each lane."""
        return None if self.memory_mb is None else float(math.floor(self.memory_mb / self.lanes))

    @property
    def needed_mb(self) -> float:
        """The memory that has to be free before the worker starts; with growth alone, that which its start takes."""
        return CONTEXT_MB + (self.memory_mb or 0.0)


@dataclass(frozen=True)
class Division:
    """The shares of all workers, in their order, and what a reader of the plan should know."""

    machine: Machine
    shares: tuple[Share, ...]
    reserve_mb: float = 0.0
    notes: tuple[str, ...] = ()

    def planned_mb(self, gpu: int) -> float:
        """Return what the workers on a GPU may take together, with contexts; growth without a limit is nothing."""
        return sum(share.needed_mb for share in self.shares if share.gpu == gpu)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return dataclasses.asdict(self)


def divide(
    machine: Machine,
    workers: int = 1,
    *,
    gpus: str | Sequence[int] = "auto",
    fraction: float | None = None,
    limit_mb: float | None = None,
    growth: bool = False,
    reserve: float = 0.0,
    strategy: str = "spread",
    lanes: int = 1,
    environ: Mapping[str, str] | None = None,
) -> Division:
    """Divides a machine among workers; the arguments are those of :class:`~tf1sessions.MemoryPlan`.

    Args:
        environ: Where TF_FORCE_GPU_ALLOW_GROWTH and TF_GPU_ALLOCATOR are read; by default ``os.environ``.

    Raises:
        MemoryPlanError: An argument is out of its range, or the shares do not fit what is free.
    """
    environ = os.environ if environ is None else environ
    _check(workers, fraction, limit_mb, growth, reserve, strategy, lanes)
    chosen = _chosen(machine, gpus)
    notes = list(machine.notes)
    growth = _growth(growth, lanes, environ, notes)
    if not chosen:
        if fraction is not None or limit_mb is not None or growth:
            notes.append("there is no GPU to share: the memory options have no effect")
        places: list[Gpu | None] = [None] * workers
        sizes: list[float | None] = [None] * workers
    else:
        if fraction is None and limit_mb is None:
            assigned = _by_room(chosen, workers, reserve, strategy)
            sizes = _sizes_by_room(chosen, assigned, reserve, growth, notes)
        else:
            wanted = {gpu.index: limit_mb or gpu.total_mb * (fraction or 0.0) for gpu in chosen}
            assigned = _by_size(chosen, workers, reserve, strategy, lambda gpu: wanted[gpu.index])
            sizes = [wanted[gpu.index] for gpu in assigned]
        places = list(assigned)
    counts = Counter(gpu.index for gpu in places if gpu is not None)
    idle = [str(gpu.index) for gpu in chosen if not counts[gpu.index]]
    if idle:
        notes.append(f"no worker uses GPU {', '.join(idle)}: a worker gets one GPU")
    if chosen and environ.get("TF_GPU_ALLOCATOR") == "cuda_malloc_async":
        notes.append("TF_GPU_ALLOCATOR=cuda_malloc_async: a share is what stays with the process, and no hard cap")
    intra_op, inter_op = (None, None) if workers == 1 else thread_counts(machine.cores, workers)
    mps = machine.mps and any(places)
    notes += _notes_on_turns(machine, workers, mps)
    shares = tuple(
        Share(
            worker,
            gpu=None if gpu is None else gpu.index,
            memory_mb=size,
            fraction=None if gpu is None or size is None else size / gpu.total_mb,
            by_limit=limit_mb is not None and gpu is not None,
            growth=growth and gpu is not None,
            lanes=lanes,
            intra_op_threads=intra_op,
            inter_op_threads=inter_op,
            mps_percentage=max(1, 100 // counts[gpu.index]) if mps and gpu is not None else None,
        )
        for worker, (gpu, size) in enumerate(zip(places, sizes, strict=True))
    )
    division = Division(machine, shares, float(reserve), tuple(notes))
    if chosen and lanes > 1:
        _check_lanes(division)
    return division


def thread_counts(cores: int, workers: int) -> tuple[int, int]:
    """Return the threads within an operation, and between operations, that each of several workers gets."""
    threads = max(1, cores // workers)
    # Two at least: with one, a Python function in a graph that runs its session waits for itself.
    return threads, max(2, threads)


def mps_environment(percentage: int, memory_mb: Mapping[Gpu, float]) -> dict[str, str]:
    """Environment variables that make the share of a process under MPS a hard cap.

    Args:
        percentage: Its part of the multiprocessors.
        memory_mb: For each GPU, how much the process may have, its CUDA context included; empty for no cap.
    """
    limits = ",".join(f"{gpu.uuid or gpu.index}={math.ceil(size)}M" for gpu, size in memory_mb.items())
    return {MPS_PERCENTAGE: str(percentage)} | ({MPS_MEMORY_LIMIT: limits} if limits else {})


# -- arguments --------------------------------------------------------------------------------------------------------


def _check(workers: Any, fraction: Any, limit_mb: Any, growth: Any, reserve: Any, strategy: Any, lanes: Any) -> None:
    for name, count in (("workers", workers), ("lanes", lanes)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise _wrong(f"{name} is {count!r}", "It must be an integer of 1 or more.")
        if count > _MOST_WORKERS:
            raise _wrong(f"{name} is {count}", f"More than {_MOST_WORKERS:,} are not planned for.")
    for name, value, low in (
        ("fraction", fraction, "above 0"),
        ("limit_mb", limit_mb, "above 0"),
        ("reserve", reserve, "0 or more"),
    ):
        if value is None and name != "reserve":
            continue
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not value <= _LARGEST or value < 0 or (value == 0 and low == "above 0"):
            raise _wrong(f"{name} is {value!r}", f"It must be a number {low}.")
    if fraction is not None and fraction > 1:
        raise _wrong(
            f"fraction is {fraction:g}",
            "It must be at most 1; unified memory is no share of a GPU: SessionConfig(unified_memory=True) has it.",
        )
    if not isinstance(growth, bool):
        raise _wrong(f"growth is {growth!r}", "It must be True or False.")
    if strategy not in STRATEGIES:
        raise _wrong(f"strategy is {strategy!r}", f"It must be {' or '.join(map(repr, STRATEGIES))}.")
    if fraction is not None and limit_mb is not None:
        raise _wrong(f"fraction is {fraction:g} and limit_mb is {limit_mb:g}", "Give one of the two.")
    if growth and (limit_mb is not None or lanes > 1):
        other = f"lanes is {lanes}" if lanes > 1 else f"limit_mb is {limit_mb:g}"
        raise _wrong(
            f"growth is True and {other}",
            "TensorFlow 2 has no growth on logical devices: leave growth out, or give a fraction with it.",
        )


def _chosen(machine: Machine, gpus: Any) -> list[Gpu]:
    if gpus == "auto":
        return list(machine.gpus)
    listed = [] if isinstance(gpus, (str, bytes)) or not isinstance(gpus, Iterable) else list(gpus)
    if isinstance(gpus, (str, bytes)) or not isinstance(gpus, Iterable) or len(set(listed)) != len(listed):
        raise _wrong(f"gpus is {gpus!r}", "It must be 'auto', or different GPU numbers such as (0, 1); () is none.")
    known = {gpu.index: gpu for gpu in machine.gpus}
    for number in listed:
        if number not in known or isinstance(number, bool):
            there = f"GPU{'s' * (len(known) > 1)} {', '.join(map(str, known))}" if known else "no GPU"
            raise _wrong(
                f"gpus names {number!r}, and there {'are' if len(known) > 1 else 'is'} {there}",
                "Give numbers as CUDA counts them." if known else "Give 'auto', or () for the CPU.",
                machine,
            )
    return [known[number] for number in listed]


def _growth(growth: bool, lanes: int, environ: Mapping[str, str], notes: list[str]) -> bool:
    """Whether memory will grow: TensorFlow lets TF_FORCE_GPU_ALLOW_GROWTH decide."""
    forced = environ.get("TF_FORCE_GPU_ALLOW_GROWTH")
    if forced == "false" and growth:
        raise _wrong(
            "growth is True, and TensorFlow would ignore it for TF_FORCE_GPU_ALLOW_GROWTH=false",
            "Unset that environment variable.",
        )
    if forced == "true" and not growth:
        notes.append("TF_FORCE_GPU_ALLOW_GROWTH=true: memory is taken as it is needed, up to each share")
    return growth


# -- which worker goes where -------------------------------------------------------------------------------------------


def _room(gpu: Gpu, reserve: float) -> float:
    return gpu.free_mb - reserve


def _by_room(gpus: Sequence[Gpu], workers: int, reserve: float, strategy: str) -> list[Gpu]:
    """A GPU for each worker when no size was said: the roomiest for all, or where each gets most."""
    if strategy == "pack":
        return [max(gpus, key=lambda gpu: gpu.free_mb)] * workers
    assigned: list[Gpu] = []
    counts = dict.fromkeys((gpu.index for gpu in gpus), 0)
    for _ in range(workers):
        roomiest = max(gpus, key=lambda gpu: _room(gpu, reserve) / (counts[gpu.index] + 1))
        counts[roomiest.index] += 1
        assigned.append(roomiest)
    return assigned


def _by_size(gpus: Sequence[Gpu], workers: int, reserve: float, strategy: str, size_of: Any) -> list[Gpu]:
    """A GPU for each worker, where its share still fits."""
    left = {gpu: _room(gpu, reserve) for gpu in gpus}
    assigned: list[Gpu] = []
    for worker in range(workers):
        fitting = [gpu for gpu in gpus if left[gpu] >= size_of(gpu) + CONTEXT_MB]
        if not fitting:
            raise _too_much(gpus, workers, worker, reserve, size_of)
        gpu = fitting[0] if strategy == "pack" else max(fitting, key=lambda gpu: left[gpu])
        left[gpu] -= size_of(gpu) + CONTEXT_MB
        assigned.append(gpu)
    return assigned


def _notes_on_turns(machine: Machine, workers: int, mps: bool) -> Iterator[str]:
    if workers > machine.cores:
        yield f"{workers} workers on {machine.cores} cores: they take turns"
    if mps:
        yield f"MPS runs: a worker's part of a GPU is a hard cap, by {MPS_PERCENTAGE} and {MPS_MEMORY_LIMIT}"


def _sizes_by_room(
    chosen: Sequence[Gpu], assigned: Sequence[Gpu], reserve: float, growth: bool, notes: list[str]
) -> list[float | None]:
    """The memory of each worker, as equal parts of what is free; None for all of them with growth."""
    if growth:
        notes.append("growth without fraction or limit_mb has no upper end: one worker may take what others need later")
        return [None] * len(assigned)
    counts = Counter(gpu.index for gpu in assigned)
    equal = {gpu.index: _equal_share(gpu, counts[gpu.index], reserve) for gpu in chosen if counts[gpu.index]}
    return [equal[gpu.index] for gpu in assigned]


def _equal_share(gpu: Gpu, workers: int, reserve: float) -> float:
    """Return what each of ``workers`` gets of a GPU's free memory, rounded down to a thousandth of the GPU."""
    size = _room(gpu, reserve) / workers - CONTEXT_MB
    if size < LEAST_MB:
        raise _wrong(
            f"GPU {gpu.index} ({gpu.name}) has {gpu.free_mb:.0f} of {gpu.total_mb:.0f} MiB free; for {workers} "
            f"worker{'s' * (workers > 1)} at {CONTEXT_MB:.0f} MiB of CUDA each"
            + (f" and {reserve:.0f} MiB in reserve" if reserve else "")
            + " that leaves nothing",
            f"{_ways_out(workers, reserve, [gpu]).capitalize()}{_held(gpu)}.",
        )
    return math.floor(size / gpu.total_mb * 1000) / 1000 * gpu.total_mb


def _too_much(gpus: Sequence[Gpu], workers: int, fit: int, reserve: float, size_of: Any) -> MemoryPlanError:
    free = "; ".join(f"GPU {gpu.index}: {size_of(gpu):.0f} of {gpu.free_mb:.0f} free" for gpu in gpus)
    share = _largest(gpus, workers, reserve)
    advice = f"Up to fraction={share} fits {workers}" if share else f"Not even small shares fit {workers}"
    return _wrong(
        f"only {fit} of {workers} workers fit at {CONTEXT_MB:.0f} MiB of CUDA each beside their share (in MiB, {free}"
        + (f"; {reserve:.0f} in reserve)" if reserve else ")"),
        f"{advice}; or {_ways_out(workers, reserve, gpus)}{''.join(_held(gpu) for gpu in gpus)}.",
    )


def _ways_out(workers: int, reserve: float, gpus: Sequence[Gpu]) -> str:
    """Return what makes room on GPUs, as far as there is something to change."""
    ways = ["plan fewer workers"] * (workers > 1) + ["reserve less"] * (reserve > 0)
    if any(gpu.free_mb < gpu.total_mb for gpu in gpus):
        ways.append("end what holds memory")
    return ", or ".join(ways or ["use a larger GPU"])


def _largest(gpus: Sequence[Gpu], workers: int, reserve: float) -> float | None:
    """The largest fraction, in hundredths, that this many workers can have."""
    for hundredths in range(100, 0, -1):
        cost = [gpu.total_mb * hundredths / 100 + CONTEXT_MB for gpu in gpus]
        if sum(max(0, _room(gpu, reserve)) // each for gpu, each in zip(gpus, cost, strict=True)) >= workers:
            return hundredths / 100
    return None


def _held(gpu: Gpu) -> str:
    """The processes that hold memory of a GPU, for a message."""
    processes = [f"process {holder.pid} {holder.name}".rstrip() for holder in gpu.holders[:3]]
    return f" ({', '.join(processes)})" if processes else ""


def _check_lanes(division: Division) -> None:
    for share in division.shares:
        if share.lane_mb is not None and share.lane_mb < LEAST_MB:
            raise _wrong(
                f"{share.lanes} lanes in {share.memory_mb:.0f} MiB leave {share.lane_mb:.0f} MiB for each",
                "Use fewer lanes.",
            )


def _wrong(what: str, next_step: str, machine: Machine | None = None) -> MemoryPlanError:
    where = "MemoryPlan" if machine is None or machine.is_here else machine.source
    return MemoryPlanError(what, where=where, next_step=next_step)
