"""Checkpoints by names of variables, in eager execution."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["Saver", "get_optimizer_variables", "restore_variables_on_create"]


class Saver:
    """``tf.train.Saver`` for variables that are listed.

    Args:
        var_list: Variables, or ``{name in the checkpoint: variable}``.

    Raises:
        RuntimeError: Execution is not eager.
    """

    def __init__(self, var_list: Any) -> None:
        if not tf.executing_eagerly():
            raise RuntimeError(
                "tfe.Saver can only be used when eager execution is enabled. Use tf.train.Saver when not."
            )
        self._saver = tf.train.Saver(var_list=var_list)

    def save(self, file_prefix: str, global_step: Any = None) -> str:
        """Writes a checkpoint and returns its prefix."""
        path: str = self._saver.save(None, file_prefix, global_step=global_step)
        return path

    def restore(self, file_prefix: str) -> None:
        """Reads a checkpoint."""
        self._saver.restore(None, file_prefix)


def get_optimizer_variables(optimizer: Any) -> Any:
    """``optimizer.variables()``."""
    return optimizer.variables()


@contextlib.contextmanager
def restore_variables_on_create(save_path: str | None, map_func: Callable[[str], str] | None = None) -> Iterator[None]:
    """Variables that are made inside it begin with their values in a checkpoint.

    Args:
        save_path: The checkpoint; without one, nothing happens.
        map_func: From the name of a variable to its name in the checkpoint; they are the same without it.

    Raises:
        ValueError: Execution is not eager, or ``map_func`` is no function.
        tf.errors.NotFoundError: On making a variable that the checkpoint lacks.
    """
    if not tf.executing_eagerly():
        raise ValueError("restore_variables_on_create can only be used when eager execution is enabled")
    if map_func is not None and not callable(map_func):
        raise ValueError("map_func must be callable.")
    if save_path is None:
        yield
        return
    reader = tf.train.NewCheckpointReader(save_path)

    def create(make: Callable[..., Any], **kwargs: Any) -> Any:
        variable = make(**kwargs)
        name = variable.name.partition(":")[0]
        name = map_func(name) if map_func else name
        if not reader.has_tensor(name):
            raise tf.errors.NotFoundError(None, None, f"{name} not found in checkpoint {save_path}")
        variable.assign(reader.get_tensor(name))
        return variable

    with tf.variable_creator_scope(create):
        yield
