"""The settings of this process's GPUs, and whether a session agrees with it.

TensorFlow builds a GPU's allocator once in a process, for whoever comes first, and ignores what later sessions ask for.
So the first one is remembered, here::

    MemoryPlan.apply() ──────────────┐
    first Session that sees a GPU ───┼──▶ Agreement ──▶ later Session of ours: gets the same, or MemoryPlanConflict
    eager operation before them ─────┘           └──▶ session of an unmodified script: one warning, TF1's behaviour

Where TensorFlow sees no GPU and no plan was applied, nothing is settled, and any options are taken.

``_lock`` guards the module's state. It is held while a session is made as long as nothing is settled and a GPU may be
there, so that of two first sessions one is second. A forked child has settled nothing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import MemoryPlanConflict
from tf1sessions.runtime import private, tf
from tf1sessions.sessions.graphs import caller_place

__all__ = ["Agreement", "GpuSettings", "current", "joining", "nothing_to_agree_on", "settle", "withdraw"]

_log = logging.getLogger("tf1sessions")

WAYS_OUT = (
    "Two ways out. One plan for the process: `plan = MemoryPlan(...)`, then `plan.apply()` before the first session, "
    "and no GPU options in the others. Or a hard cap for each session: `plan = MemoryPlan(lanes=2)`, then "
    "`GraphSession(plan.config(lane=1))`."
)


@dataclass(frozen=True)
class GpuSettings:
    """The wishes of a ConfigProto for the process's GPUs; each field's default means that it asks for nothing."""

    fraction: float = 0.0
    growth: bool = False
    visible: str = ""
    limits_mb: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def of(cls, config: Any) -> GpuSettings:
        """Return the settings of a ConfigProto; None asks for nothing."""
        if config is None:
            return cls()
        gpu = config.gpu_options
        limits = tuple(tuple(device.memory_limit_mb) for device in gpu.experimental.virtual_devices)
        return cls(gpu.per_process_gpu_memory_fraction, gpu.allow_growth, gpu.visible_device_list, limits)

    def write(self, config: Any) -> None:
        """Puts them into a ConfigProto, whatever was there."""
        gpu = config.gpu_options
        gpu.per_process_gpu_memory_fraction = self.fraction
        gpu.allow_growth = self.growth
        gpu.visible_device_list = self.visible
        gpu.experimental.ClearField("virtual_devices")
        for limits in self.limits_mb:
            gpu.experimental.virtual_devices.add().memory_limit_mb.extend(limits)

    def unlike(self, asked: GpuSettings) -> list[str]:
        """Return what ``asked`` asks for and is otherwise here, in words."""
        names = {
            "fraction": "per_process_gpu_memory_fraction",
            "growth": "allow_growth",
            "visible": "visible_device_list",
            "limits_mb": "virtual_devices",
        }
        found = []
        for field, name in names.items():
            mine, theirs = getattr(self, field), getattr(asked, field)
            if theirs and theirs != mine:
                found.append(f"{name} {theirs!r} (settled: {mine if mine else 'not set'!r})")
        return found


@dataclass(frozen=True)
class Agreement:
    """The settings that were agreed on, by which caller, and in which line of the program.

    Attributes:
        config: A plan's whole ConfigProto, for threads and numbers of devices; None from a session.
        gpu: Whether it is about a GPU. A plan without one leaves GPU options alone, which have no effect then.
    """

    settings: GpuSettings
    caller: str
    where: str
    config: bytes | None = None
    gpu: bool = True


_lock = threading.RLock()
_agreement: Agreement | None = None
_no_gpu = False
_warned = False


def current() -> Agreement | None:
    """Return what this process has settled; None before."""
    return _agreement


def nothing_to_agree_on() -> bool:
    """Whether it is known that there is no GPU, and no plan was applied: :func:`joining` would do nothing, slowly."""
    return _no_gpu and _agreement is None


def settle(agreement: Agreement) -> Agreement:
    """Settles it for this process. The same settings again are fine; the first agreement is returned.

    Raises:
        MemoryPlanConflict: Something else has been settled.
    """
    global _agreement
    with _lock:
        if _agreement is None:
            _agreement = agreement
        elif _agreement.settings != agreement.settings or (
            None not in (_agreement.config, agreement.config) and _agreement.config != agreement.config
        ):
            differences = _agreement.settings.unlike(agreement.settings) or ["another share of the machine"]
            raise _conflict(agreement.caller, differences, agreement.where)
        return _agreement


def withdraw(agreement: Agreement) -> None:
    """Takes back what could not be carried out."""
    global _agreement
    with _lock:
        if _agreement is agreement:
            _agreement = None


@contextlib.contextmanager
def joining(config: Any, target: Any, refuse: bool = True) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Around the making of a session: gives the config to use, and a function to call with the session.

    Args:
        config: A ConfigProto or None. Anything else is left to TensorFlow.
        target: The session's; over a network the GPU options are the server's affair.
        refuse: Whether a disagreement is an error, and what was settled is filled in. Otherwise there is one warning
            in the life of the process.

    Raises:
        MemoryPlanConflict: With ``refuse``, when ``config`` asks for something else than was settled.
    """
    ours = config is None or isinstance(config, tf.ConfigProto)
    if target or not ours or (config is not None and config.device_count.get("GPU", 1) == 0):
        yield config, _ignore
        return
    if _agreement is None and not _no_gpu:
        with _lock:
            if _agreement is None and not _ask_eager():
                yield config, lambda session: _made(session, config)
                return
    yield (_agreed(config, refuse) if _agreement is not None else config), _ignore


def _ignore(session: Any) -> None:
    pass


def _made(session: Any, config: Any) -> None:
    """The first session of the process is there: if it has a GPU, its options are settled."""
    global _no_gpu
    if any(device.device_type == "GPU" for device in session.list_devices()):
        settle(Agreement(GpuSettings.of(config), "the first session", caller_place()))
    else:
        _no_gpu = True


def _ask_eager() -> bool:
    """Settles what eager operations have, if they came first and there is a GPU."""
    context = private.context and private.context.context_safe()
    if not getattr(context, "_initialized", False) or not tf.config.list_physical_devices("GPU"):
        return False
    settle(Agreement(GpuSettings.of(context.config), "an eager operation", "an earlier line"))
    return True


def _agreed(config: Any, refuse: bool) -> Any:
    global _warned
    assert _agreement is not None
    differences = _agreement.settings.unlike(GpuSettings.of(config)) if _agreement.gpu else []
    if not refuse:
        if differences and not _warned:
            _warned = True
            _log.warning(
                "%s: a session asks for %s, which TensorFlow ignores or refuses: GPU memory belongs to the process, "
                "and %s at %s came first",
                *(caller_place(), " and ".join(differences), _agreement.caller, _agreement.where),
            )
        return config
    if differences:
        raise _conflict("this session", differences, caller_place())
    filled = tf.ConfigProto()
    if config is not None:
        filled.CopyFrom(config)
    if _agreement.gpu:
        _agreement.settings.write(filled)
    if _agreement.config is not None:
        _fill(filled, _agreement.config)
    return filled


def _fill(config: Any, plan: bytes) -> None:
    """Sets the threads and the numbers of devices that a plan gives, where ``config`` leaves them open."""
    planned = tf.ConfigProto.FromString(plan)
    for name in ("intra_op_parallelism_threads", "inter_op_parallelism_threads"):
        if not getattr(config, name) and not config.use_per_session_threads and not config.session_inter_op_thread_pool:
            setattr(config, name, getattr(planned, name))
    for kind, count in planned.device_count.items():
        if kind not in config.device_count:
            config.device_count[kind] = count


def _conflict(caller: str, differences: list[str], where: str) -> MemoryPlanConflict:
    assert _agreement is not None
    return MemoryPlanConflict(
        f"{caller} asks for {' and '.join(differences)}, but GPU memory belongs to the process, and "
        f"{_agreement.caller} at {_agreement.where} came first",
        where=where,
        next_step=WAYS_OUT,
        first=_agreement.caller,
        first_where=_agreement.where,
    )


def _forget() -> None:
    global _agreement, _lock, _no_gpu, _warned
    _agreement, _lock, _no_gpu, _warned = None, threading.RLock(), False, False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
