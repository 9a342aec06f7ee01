"""Choice of the next variable's parameter server: a strategy for ``tf.train.replica_device_setter``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["GreedyLoadBalancingStrategy", "RandomStrategy", "byte_size_load_fn"]


class GreedyLoadBalancingStrategy:
    """Gives each variable to the task that has the least load so far.

    Attention: this is **not** thread-safe.

    Args:
        num_tasks: The number of parameter servers.
        load_fn: The load of a variable's op, a number.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]) -> None:
        self._load_fn = load_fn
        self._ps_loads = [0.0] * num_tasks

    def __call__(self, op: Any) -> int:
        task = self._ps_loads.index(min(self._ps_loads))
        self._ps_loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Any) -> int:
    """The bytes of the one output of ``op``.

    Raises:
        ValueError: It has several outputs, or one whose shape is not known.
    """
    handle = op.type == "VarHandleOp"
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    shape = tf.TensorShape(op.get_attr("shape")) if handle else op.outputs[0].shape
    dtype = op.get_attr("dtype") if handle else op.outputs[0].dtype
    if not shape.is_fully_defined():
        raise ValueError(f"Op {op} must have a fully-defined output shape, and has {shape}")
    return int(shape.num_elements()) * int(dtype.size)


class RandomStrategy:
    """Gives each variable to a parameter server by a hash of its name, the same one each time.

    Args:
        num_ps_tasks: The number of parameter servers.
        seed: Makes another choice.
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op: Any) -> int:
        return (
            int(hashlib.md5(f"{op.name}_{self._seed}".encode(), usedforsecurity=False).hexdigest(), 16)
            % self._num_tasks
        )
