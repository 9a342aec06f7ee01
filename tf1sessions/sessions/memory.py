"""MemoryPlan: one place that decides how the sessions of a machine share it.

::

    what the machine has (gpus.py) ──▶ divide() (division.py) ──▶ MemoryPlan
      plan.config(worker)          ──▶ SessionConfig ──▶ GraphSession, tf.Session(config=….to_proto())
      plan.apply(worker)           ──▶ this process: its sessions (gpu_settings.py), eager TensorFlow, environment
      plan.wait_for_memory(worker) ──▶ until the worker's share is free

A worker is a process, because TensorFlow's GPU memory belongs to the process. Sessions within a worker share what it
has, or get a lane each.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tf1sessions.errors import MemoryPlanConflict, MemoryPlanError, MemoryWaitError
from tf1sessions.runtime import tf
from tf1sessions.sessions import gpu_settings
from tf1sessions.sessions import gpus as _gpus
from tf1sessions.sessions.config import SessionConfig
from tf1sessions.sessions.division import Division, Share, divide, mps_environment
from tf1sessions.sessions.gpus import Machine
from tf1sessions.sessions.graphs import caller_place

__all__ = ["MemoryPlan"]

_log = logging.getLogger("tf1sessions")


@dataclass(frozen=True)
class MemoryPlan:
    """A division of a machine's GPUs and cores among ``workers`` processes.

    Without ``fraction``, ``limit_mb`` and ``growth`` the workers of a GPU get equal parts of what is free on it now.

    Args:
        workers: How many processes.
        gpus: ``"auto"`` for all that CUDA shows, or their numbers as CUDA counts them; ``()`` is the CPU only.
        fraction: What each worker may take, as a share of a whole GPU.
        limit_mb: The same in MiB, as TensorFlow's hard limit of a logical device.
        growth: Memory is taken as it is needed; with a fraction, up to that.
        reserve: MiB of each GPU that are left alone.
        strategy: ``"spread"`` puts each worker on the GPU with most room, ``"pack"`` fills one GPU after another.
        lanes: Splits each worker's GPU into so many logical devices, each with a hard cap and a compute stream of its
            own, for sessions that must not take each other's memory. Where there is no GPU they are CPU devices, so
            that the same program runs. Lanes cost: what one leaves unused helps no other, each has its own handles of
            cuDNN and cuBLAS, and tensors that go from one to another are copied.
        machine: A :class:`~tf1sessions.sessions.gpus.Machine`, or the path of a description in JSON, to plan for
            another machine; by default what is here now.

    Attributes:
        division: The shares of all workers, and ``division.notes``: what a reader of the plan should know.

    Raises:
        MemoryPlanError: An argument is out of its range, or the shares do not fit what is free.

    Thread-safety: immutable; it pickles, so that one process plans for all.

    Example:
        >>> import tf1sessions as t1
        >>> plan = t1.MemoryPlan(workers=2, machine={"gpus": [{"total_mb": 16000}], "cores": 8})
        >>> plan.share(1).memory_mb, plan.config(1).memory_fraction, plan.config(1).intra_op_threads
        (7392.0, 0.462, 4)
    """

    workers: int = 1
    gpus: str | tuple[int, ...] = "auto"
    fraction: float | None = None
    limit_mb: float | None = None
    growth: bool = False
    reserve: float = 0.0
    strategy: str = "spread"
    lanes: int = 1
    machine: Any = None
    division: Division = field(init=False, repr=False)

    def __post_init__(self) -> None:
        machine = self.machine
        if machine is None:
            machine = _gpus.look()
        elif isinstance(machine, (str, os.PathLike)):
            machine = Machine.read(machine)
        elif not isinstance(machine, Machine):
            machine = Machine.from_dict(machine)
        given: Any = self.gpus if isinstance(self.gpus, str) or not hasattr(self.gpus, "__iter__") else tuple(self.gpus)
        division = divide(
            machine,
            self.workers,
            gpus=given,
            fraction=self.fraction,
            limit_mb=self.limit_mb,
            growth=self.growth,
            reserve=self.reserve,
            strategy=self.strategy,
            lanes=self.lanes,
        )
        for name, value in (("machine", machine), ("gpus", given), ("division", division)):
            object.__setattr__(self, name, value)

    def share(self, worker: int = 0) -> Share:
        """Return what a worker gets.

        Raises:
            MemoryPlanError: There is no such worker.
        """
        if isinstance(worker, bool) or not isinstance(worker, int) or not 0 <= worker < self.workers:
            raise MemoryPlanError(
                f"worker is {worker!r}",
                where="MemoryPlan",
                next_step=f"This plan has the workers 0 to {self.workers - 1}.",
            )
        return self.division.shares[worker]

    def lane(self, lane: int = 0, worker: int = 0) -> str:
        """The device string of a lane, for ``tf.device``: ``"/device:GPU:1"``; ``CPU`` for a worker without a GPU.

        Raises:
            MemoryPlanError: There is no such lane.
        """
        share = self.share(worker)
        if isinstance(lane, bool) or not isinstance(lane, int) or not 0 <= lane < share.lanes:
            raise MemoryPlanError(
                f"lane is {lane!r}", where="MemoryPlan", next_step=f"This plan has the lanes 0 to {share.lanes - 1}."
            )
        return f"/device:{'CPU' if share.gpu is None else 'GPU'}:{lane}"

    def config(self, worker: int = 0, lane: int | None = None, **more: Any) -> SessionConfig:
        """The configuration of a worker's sessions.

        Args:
            worker: Its number.
            lane: Puts the whole graph of a :class:`~tf1sessions.GraphSession`, and of a model that is loaded with this
                configuration, on one lane.
            **more: Other fields of :class:`~tf1sessions.SessionConfig`, such as ``seed``.

        Raises:
            MemoryPlanError: There is no such worker or lane, or ``more`` sets what the plan decides.
        """
        ours = {"memory_fraction", "unified_memory", "memory_limit_mb", "allow_growth", "visible_devices", "rest"}
        if taken := sorted(ours & set(more)):
            raise MemoryPlanError(
                f"config() got {taken[0]}={more[taken[0]]!r}",
                where="MemoryPlan.config",
                next_step="The plan decides that; give it to MemoryPlan.",
            )
        if lane is not None:
            more = {"soft_placement": True, **more, "lane": self.lane(lane, worker)}
        return dataclasses.replace(SessionConfig.from_proto(self._proto(self.share(worker))), **more)

    def environment(self, worker: int = 0) -> dict[str, str]:
        """Environment variables for a worker's process, to be set before it uses CUDA; empty without MPS."""
        share = self.share(worker)
        if share.mps_percentage is None:
            return {}
        planned = [gpu for gpu in self.machine.gpus if gpu.index == share.gpu and share.memory_mb is not None]
        return mps_environment(share.mps_percentage, dict.fromkeys(planned, share.needed_mb))

    def apply(self, worker: int = 0) -> None:
        """Makes this process that worker. For its first lines, before anything touches a GPU.

        Every later :class:`~tf1sessions.Session` and GraphSession of the process gets the worker's share, and one that
        asks for another is a ``MemoryPlanConflict``. In a program with eager execution TensorFlow 2 gets it too: as
        ``set_memory_growth``, logical devices and thread counts. Applying the same again does nothing.

        Raises:
            MemoryPlanConflict: The process has another share already, or TensorFlow was used before.
            MemoryPlanError: There is no such worker.
        """
        share = self.share(worker)
        proto = self._proto(share)
        place, caller = caller_place(), f"MemoryPlan.apply(worker={worker})"
        agreement = gpu_settings.Agreement(
            gpu_settings.GpuSettings.of(proto),
            caller,
            place,
            proto.SerializeToString(deterministic=True),
            share.gpu is not None,
        )
        if gpu_settings.settle(agreement) is not agreement:
            return
        for name, value in self.environment(worker).items():
            os.environ.setdefault(name, value)
        if tf.executing_eagerly_outside_functions():
            try:
                _apply_to_eager(tf.config, share, self.gpus == (), place)
            except MemoryPlanConflict:
                gpu_settings.withdraw(agreement)
                raise
        for note in self.division.notes:
            _log.info("%s: %s", caller, note)

    def applied(self) -> int | None:
        """Return the plan's worker that :meth:`apply` made of this process; None when it is none of them.

        Of workers whose shares are equal it is the first.
        """
        agreement = gpu_settings.current()
        if agreement is None or agreement.config is None:
            return None
        for share in self.division.shares:
            if self._proto(share).SerializeToString(deterministic=True) == agreement.config:
                return share.worker
        return None

    def wait_for_memory(self, worker: int = 0, *, timeout_secs: float = 600.0, poll_secs: float = 1.0) -> None:
        """Waits until a worker's share, and a CUDA context beside it, is free on its GPU.

        To be called before the worker's first session. Two that wait for the same memory may both see it free: start
        workers one after another, or in the share that the plan gives each. Returns at once for a worker without a GPU.

        Args:
            worker: Its number.
            timeout_secs: How long.
            poll_secs: How often the driver is asked.

        Raises:
            MemoryWaitError: It did not become free in time; names what holds the memory.
            MemoryPlanError: The plan is for another machine, or the GPU is gone.
        """
        share = self.share(worker)
        if share.gpu is None:
            return
        if not self.machine.is_here:
            raise MemoryPlanError(
                f"the plan is for the machine of {self.machine.source}",
                where="MemoryPlan.wait_for_memory",
                next_step="Make the plan on the machine where the workers run.",
            )
        planned = next(gpu for gpu in self.machine.gpus if gpu.index == share.gpu)
        deadline = time.monotonic() + timeout_secs
        never = threading.Event()
        while True:
            found = [gpu for gpu in _gpus.look().gpus if (gpu.uuid, gpu.number) == (planned.uuid, planned.number)]
            if not found:
                raise MemoryPlanError(
                    f"GPU {planned.index} ({planned.name}) is not there any more",
                    where="MemoryPlan.wait_for_memory",
                    next_step="See nvidia-smi, and make a new plan.",
                )
            if found[0].free_mb >= share.needed_mb:
                return
            left = deadline - time.monotonic()
            if left <= 0:
                raise _late(found[0], share, timeout_secs)
            never.wait(min(poll_secs, left))

    def _proto(self, share: Share) -> Any:
        proto = tf.ConfigProto()
        gpu = proto.gpu_options
        if share.gpu is None:
            if self.gpus == ():
                proto.device_count["GPU"] = 0
            if share.lanes > 1:
                proto.device_count["CPU"] = share.lanes
        else:
            gpu.visible_device_list = str(share.gpu)
            if share.lane_mb is not None and (share.by_limit or share.lanes > 1):
                gpu.experimental.virtual_devices.add().memory_limit_mb.extend([share.lane_mb] * share.lanes)
            elif share.fraction is not None:
                gpu.per_process_gpu_memory_fraction = share.fraction
            if share.growth:
                gpu.allow_growth = True
        proto.intra_op_parallelism_threads = share.intra_op_threads or 0
        proto.inter_op_parallelism_threads = share.inter_op_threads or 0
        return proto


def _apply_to_eager(config: Any, share: Share, hide: bool, place: str) -> None:
    """Gives a share to TensorFlow 2's context through ``tf.config``, which has logical devices for a fraction."""
    try:
        if share.intra_op_threads is not None:
            config.threading.set_intra_op_parallelism_threads(share.intra_op_threads)
            config.threading.set_inter_op_parallelism_threads(share.inter_op_threads)
        if share.gpu is None:
            if hide:
                config.set_visible_devices([], "GPU")
            if share.lanes > 1:
                logical: Sequence[Any] = [config.LogicalDeviceConfiguration()] * share.lanes
                config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], logical)
            return
        physical = config.list_physical_devices("GPU")
        if share.gpu >= len(physical):
            _log.info("MemoryPlan: GPU %d of the plan is not one that TensorFlow sees here", share.gpu)
            return
        device = physical[share.gpu]
        config.set_visible_devices([device], "GPU")
        if share.lane_mb is not None and not (share.growth and share.lanes == 1):
            limited = [config.LogicalDeviceConfiguration(memory_limit=int(share.lane_mb)) for _ in range(share.lanes)]
            config.set_logical_device_configuration(device, limited)
        elif share.growth:
            config.experimental.set_memory_growth(device, True)
            if share.memory_mb is not None:
                _log.warning(
                    "%s: TensorFlow 2 has no limit beside growth: unless a session comes first, eager operations may "
                    "take more than the %.0f MiB of worker %d. A plan without growth is a limit for both.",
                    *(place, share.memory_mb, share.worker),
                )
    except RuntimeError as error:  # TensorFlow's for every change after its first use
        raise MemoryPlanConflict(
            f"TensorFlow was used before the plan was applied: {error}",
            where=place,
            next_step="Call plan.apply() in the program's first lines, before any eager operation or session.",
            first="an eager operation",
            first_where="an earlier line",
        ) from error


def _late(gpu: _gpus.Gpu, share: Share, timeout_secs: float) -> MemoryWaitError:
    processes = [
        f"process {holder.pid}{' ' * bool(holder.name)}{holder.name}"
        + ("" if holder.used_mb is None else f" holds {holder.used_mb:.0f} MiB")
        for holder in gpu.holders
    ]
    return MemoryWaitError(
        f"GPU {gpu.index} ({gpu.name}) has {gpu.free_mb:.0f} MiB free and worker {share.worker} needs "
        f"{share.needed_mb:.0f}, after {timeout_secs:g} s of waiting; "
        + (", ".join(processes) or "the driver names no holder"),
        where="MemoryPlan.wait_for_memory",
        next_step="End what holds the memory, plan smaller shares, or wait longer (timeout_secs).",
        free_mb=gpu.free_mb,
        needed_mb=share.needed_mb,
    )
