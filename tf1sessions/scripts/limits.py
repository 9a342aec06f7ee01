"""The threads and the memory of a job: what every session that its script makes is given.

Data flow: :func:`apply` keeps the job's :class:`MachineShare` and wraps ``BaseSession.__init__``, through which the
sessions of ``tf.Session``, ``MonitoredTrainingSession`` and Keras all go. What the script left open is filled in; a
memory fraction above the job's share is lowered to it, with one warning.
"""

from __future__ import annotations

import functools
import importlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import arguments
from .payload import ProgramSettings

__all__ = ["MachineShare", "apply", "limit"]

_log = logging.getLogger("tf1sessions")


@dataclass(frozen=True)
class MachineShare:
    """A job's share of the machine; None is no limit.

    Args:
        memory_fraction: Of each GPU's memory, in (0, 1].
        memory_limit_mb: Of each GPU, in MiB; needs TensorFlow's virtual devices.
        intra_op_threads: Threads within an operation, for sessions that do not set them.
        inter_op_threads: Threads between operations, for sessions that do not set them.
    """

    memory_fraction: float | None = None
    memory_limit_mb: int | None = None
    intra_op_threads: int | None = None
    inter_op_threads: int | None = None

    @classmethod
    def of(cls, settings: ProgramSettings) -> MachineShare:
        """Return the limits among the settings of a job."""
        return cls(**{name: getattr(settings, name) for name in cls.__dataclass_fields__})


def limit(config: Any, limits: MachineShare) -> str | None:
    """Put ``limits`` into a ConfigProto; the warning to give when the script's own setting was lowered."""
    if limits.intra_op_threads and not config.intra_op_parallelism_threads:
        config.intra_op_parallelism_threads = limits.intra_op_threads
    if limits.inter_op_threads and not (
        config.inter_op_parallelism_threads or config.use_per_session_threads or config.session_inter_op_thread_pool
    ):
        config.inter_op_parallelism_threads = limits.inter_op_threads
    gpu = config.gpu_options
    if limits.memory_limit_mb and not gpu.experimental.virtual_devices:
        gpu.experimental.virtual_devices.add().memory_limit_mb.append(limits.memory_limit_mb)
        gpu.per_process_gpu_memory_fraction = 0.0  # the two exclude each other
        return None
    share, asked = limits.memory_fraction, gpu.per_process_gpu_memory_fraction
    if share is None or 0.0 < asked <= share:
        return None
    gpu.per_process_gpu_memory_fraction = share
    if asked == 0.0:
        return None
    return (
        f"the script's per_process_gpu_memory_fraction {asked:g} is lowered to {share:g}, this job's share of the GPU. "
        "Run fewer jobs at once (-j) to give it more."
    )


def apply(limits: MachineShare, face: Any) -> None:
    """Give ``limits`` to every session that this process makes from now on. Once a process."""
    if limits == MachineShare():
        return
    session = importlib.import_module("tensorflow.python.client.session").BaseSession
    session.__init__ = _limited(session.__init__, limits, face, 3)
    face.train.Server.__init__ = _limited(face.train.Server.__init__, limits, face, 5)
    arguments.replace(face, "enable_eager_execution", lambda enable: _limited(enable, limits, face, 0))


def _limited(original: Callable[..., Any], limits: MachineShare, face: Any, index: int) -> Callable[..., Any]:
    """``original`` with its argument ``config``, by name or at ``index``, limited."""
    warned: list[str] = []

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = args[index] if len(args) > index else kwargs.get("config")
        if given is None or isinstance(given, face.ConfigProto):
            config = face.ConfigProto()
            if given is not None:
                config.CopyFrom(given)
            warning = limit(config, limits)
            if warning and not warned:
                warned.append(warning)
                _log.warning(warning)
            if len(args) > index:
                args = (*args[:index], config, *args[index + 1 :])
            else:
                kwargs["config"] = config
        return original(*args, **kwargs)

    return call
