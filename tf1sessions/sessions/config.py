"""SessionConfig: what a session may use, checked when it is written down, and its ConfigProto.

::

    SessionConfig(...) ──▶ checked ──▶ to_proto() ──▶ tf.compat.v1.ConfigProto ──▶ from_proto() ──▶ equal config
                                                                │ every field that has no name here is kept in `rest`
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from tf1sessions.errors import ConfigError
from tf1sessions.runtime import tf
from tf1sessions.sessions.logical_devices import is_lane

__all__ = ["SessionConfig"]

_OPTIMIZATIONS = ("default", "off")
_EXECUTIONS = ("auto", "caller", "pool")


@dataclass(frozen=True)
class SessionConfig:
    """The part of a machine that a session uses. None means: not set, TensorFlow decides.

    Attributes:
        memory_fraction: Share of each visible GPU's memory, above 0 and at most 1; above 1 (unified memory) only with
            ``unified_memory=True``. It belongs to the process: TensorFlow reads the first session's and ignores others.
        unified_memory: Allows a ``memory_fraction`` above 1.
        memory_limit_mb: A hard limit in MiB on the first visible GPU, instead of a fraction.
        allow_growth: Take GPU memory as it is needed.
        visible_devices: GPUs to use, in this order, by their number among those that CUDA shows.
        intra_op_threads: Threads inside one operation, 1 or more.
        inter_op_threads: Threads that run operations, 1 or more.
        per_session_threads: A thread pool of its own instead of the process's.
        execution: ``"auto"``, ``"caller"`` or ``"pool"``; see :class:`~tf1sessions.Session`.
        soft_placement: Run an operation elsewhere when its device does not exist.
        log_device_placement: Log where each operation is placed.
        graph_optimization: ``"default"``, or ``"off"``: no grappler and no common-subexpression pass.
            With ``"off"`` an endless loop whose condition is constant can be cancelled, by close() too; the optimizers
            of TensorFlow 2.21 remove what looks for that.
        seed: Graph-level random seed, 0 or more, set by :class:`~tf1sessions.GraphSession`.
        lane: The logical device that a :class:`~tf1sessions.GraphSession` puts its whole graph on, such as
            ``"/device:GPU:1"``; given by :meth:`MemoryPlan.config`.
        rest: The serialised fields of a proto that have no name above; made by :meth:`from_proto`.

    Raises:
        ConfigError: A value is outside its range; the message names field, value and range.

    Thread-safety: immutable.

    Example:
        >>> config = SessionConfig(memory_fraction=0.4, intra_op_threads=2)
        >>> SessionConfig.from_proto(config.to_proto()) == config
        True
    """

    memory_fraction: float | None = None
    unified_memory: bool = False
    memory_limit_mb: float | None = None
    allow_growth: bool = False
    visible_devices: tuple[int, ...] | None = None
    intra_op_threads: int | None = None
    inter_op_threads: int | None = None
    per_session_threads: bool = False
    execution: str = "auto"
    soft_placement: bool = False
    log_device_placement: bool = False
    graph_optimization: str = "default"
    seed: int | None = None
    lane: str | None = None
    rest: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        for name in ("unified_memory", "allow_growth", "per_session_threads", "soft_placement", "log_device_placement"):
            if not isinstance(getattr(self, name), bool):
                raise _wrong(name, getattr(self, name), "True or False")
        if self.memory_fraction is not None:
            fraction = _number("memory_fraction", self.memory_fraction, "a number above 0 and at most 1")
            if fraction <= 0:
                raise _wrong(
                    "memory_fraction", fraction, "above 0 and at most 1; leave it out for TensorFlow's default"
                )
            if fraction > 1 and not self.unified_memory:
                raise _wrong(
                    "memory_fraction", fraction, "at most 1; above 1 means unified memory, with unified_memory=True"
                )
            if self.memory_limit_mb is not None:
                raise ConfigError(
                    f"memory_fraction is {fraction} and memory_limit_mb is {self.memory_limit_mb}",
                    where="SessionConfig",
                    next_step="Give one of the two; TensorFlow would ignore the fraction.",
                )
        elif self.unified_memory:
            raise _wrong("unified_memory", True, "used with a memory_fraction above 1")
        if self.memory_limit_mb is not None:
            if _number("memory_limit_mb", self.memory_limit_mb, "a number of MiB above 0") <= 0:
                raise _wrong("memory_limit_mb", self.memory_limit_mb, "above 0")
        for name in ("intra_op_threads", "inter_op_threads"):
            value = getattr(self, name)
            if value is not None and (not _is_int(value) or not 1 <= value < 2**31):
                raise _wrong(name, value, "an integer of 1 or more")
        if self.seed is not None and (not _is_int(self.seed) or not 0 <= self.seed < 2**63):
            raise _wrong("seed", self.seed, "an integer from 0 to 2**63 - 1")
        if self.execution not in _EXECUTIONS:
            raise _wrong("execution", self.execution, f"one of {', '.join(map(repr, _EXECUTIONS))}")
        if self.graph_optimization not in _OPTIMIZATIONS:
            raise _wrong(
                "graph_optimization", self.graph_optimization, f"one of {', '.join(map(repr, _OPTIMIZATIONS))}"
            )
        if self.lane is not None and not is_lane(self.lane):
            raise _wrong("lane", self.lane, "the name of a logical device, such as '/device:GPU:1'")
        if self.visible_devices is not None:
            self._check_devices()
        try:
            tf.ConfigProto().ParseFromString(self.rest)
        except Exception as error:  # protobuf's own DecodeError, or a TypeError
            raise _wrong("rest", self.rest, "the bytes of a ConfigProto") from error

    def _check_devices(self) -> None:
        devices = self.visible_devices
        expected = "a tuple of different GPU numbers, each 0 or more"
        if isinstance(devices, (str, bytes)) or not hasattr(devices, "__iter__"):
            raise _wrong("visible_devices", devices, expected)
        listed = tuple(devices)  # type: ignore[arg-type]
        if not listed or any(not _is_int(device) or device < 0 for device in listed) or len(set(listed)) != len(listed):
            raise _wrong("visible_devices", devices, expected)
        object.__setattr__(self, "visible_devices", listed)

    @property
    def uses_gpu_options(self) -> bool:
        """Whether a field is set that means something on a GPU only."""
        return (
            self.memory_fraction is not None
            or self.memory_limit_mb is not None
            or self.allow_growth
            or self.visible_devices is not None
            or tf.ConfigProto.FromString(self.rest).HasField("gpu_options")
        )

    def to_proto(self) -> Any:
        """Returns the ``tf.compat.v1.ConfigProto``. ``execution``, ``seed`` and ``lane`` have no field in it."""
        proto = tf.ConfigProto()
        proto.ParseFromString(self.rest)
        gpu = proto.gpu_options
        if self.memory_fraction is not None:
            gpu.per_process_gpu_memory_fraction = self.memory_fraction
        if self.memory_limit_mb is not None:
            gpu.experimental.virtual_devices.add().memory_limit_mb.append(self.memory_limit_mb)
        if self.allow_growth:
            gpu.allow_growth = True
        if self.visible_devices is not None:
            gpu.visible_device_list = ",".join(map(str, self.visible_devices))
        if self.intra_op_threads is not None:
            proto.intra_op_parallelism_threads = self.intra_op_threads
        if self.inter_op_threads is not None:
            proto.inter_op_parallelism_threads = self.inter_op_threads
        if self.per_session_threads:
            proto.use_per_session_threads = True
        if self.soft_placement:
            proto.allow_soft_placement = True
        if self.log_device_placement:
            proto.log_device_placement = True
        if self.graph_optimization == "off":
            proto.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
            proto.graph_options.rewrite_options.disable_meta_optimizer = True
        return proto

    @classmethod
    def from_proto(cls, proto: Any, *, execution: str = "auto", seed: int | None = None) -> SessionConfig:
        """Reads a ``tf.compat.v1.ConfigProto``; ``to_proto()`` of the result equals it.

        A fraction of 0.0 is what a proto has when none was set. One above 1 gives ``unified_memory=True``. What is
        outside the range of its field here (a fraction below 0, a device listed twice) is kept in ``rest``, for
        TensorFlow to judge. The one thing not kept is that an empty sub-message was there.

        Raises:
            ConfigError: ``proto`` is not a ConfigProto.
        """
        if not isinstance(proto, tf.ConfigProto):
            raise ConfigError(
                f"{proto!r} is a {type(proto).__name__}, not a ConfigProto",
                where="SessionConfig.from_proto",
                next_step="Pass a tf.compat.v1.ConfigProto.",
            )
        rest = tf.ConfigProto()
        rest.CopyFrom(proto)
        gpu, values = rest.gpu_options, dict[str, Any]()
        if 0 < gpu.per_process_gpu_memory_fraction < math.inf:
            values["memory_fraction"] = gpu.per_process_gpu_memory_fraction
            values["unified_memory"] = gpu.per_process_gpu_memory_fraction > 1
            gpu.ClearField("per_process_gpu_memory_fraction")
        virtual = gpu.experimental.virtual_devices
        if len(virtual) == 1 and "memory_fraction" not in values and len(virtual[0].ListFields()) == 1:
            if len(virtual[0].memory_limit_mb) == 1 and 0 < virtual[0].memory_limit_mb[0] < math.inf:
                values["memory_limit_mb"] = virtual[0].memory_limit_mb[0]
                gpu.experimental.ClearField("virtual_devices")
        if gpu.allow_growth:
            values["allow_growth"] = True
            gpu.ClearField("allow_growth")
        numbers = gpu.visible_device_list.split(",")
        # Only what to_proto() would write again to the letter; anything else stays in `rest`.
        if all(number.isdecimal() and str(int(number)) == number for number in numbers) and (
            len(set(numbers)) == len(numbers)
        ):
            values["visible_devices"] = tuple(map(int, numbers))
            gpu.ClearField("visible_device_list")
        for name, theirs in (
            ("intra_op_threads", "intra_op_parallelism_threads"),
            ("inter_op_threads", "inter_op_parallelism_threads"),
        ):
            if getattr(rest, theirs) > 0:  # negative: the caller's thread; kept in `rest`
                values[name] = getattr(rest, theirs)
                rest.ClearField(theirs)
        for name, theirs in (
            ("per_session_threads", "use_per_session_threads"),
            ("soft_placement", "allow_soft_placement"),
            ("log_device_placement", "log_device_placement"),
        ):
            if getattr(rest, theirs):
                values[name] = True
                rest.ClearField(theirs)
        options, rewrite = rest.graph_options.optimizer_options, rest.graph_options.rewrite_options
        if options.opt_level == tf.OptimizerOptions.L0 and rewrite.disable_meta_optimizer:
            values["graph_optimization"] = "off"
            options.ClearField("opt_level")
            rewrite.ClearField("disable_meta_optimizer")
        _drop_empty(rest)
        return cls(**values, execution=execution, seed=seed, rest=rest.SerializeToString(deterministic=True))


def _drop_empty(message: Any) -> None:
    """Clears the sub-messages that reading has left empty, so that an unset proto gives an unset config."""
    for descriptor, value in message.ListFields():
        if hasattr(value, "ListFields"):
            _drop_empty(value)
            if not value.ListFields():
                message.ClearField(descriptor.name)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(name: str, value: Any, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _wrong(name, value, expected)
    return float(value)


def _wrong(name: str, value: Any, expected: str) -> ConfigError:
    return ConfigError(
        f"{name} is {value!r}", where="SessionConfig", next_step=f"It must be {expected}.", field=name, value=value
    )
