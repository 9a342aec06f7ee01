"""A hook that saves checkpoints."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["AsyncCheckpointSaverHook"]


class AsyncCheckpointSaverHook(tf.train.CheckpointSaverHook):  # type: ignore[misc]
    """``tf.train.CheckpointSaverHook``: what 1.15.5 saved in a thread beside the training is saved in between steps.

    Args:
        checkpoint_dir: The folder.
        save_secs: Seconds from a checkpoint to the next; or
        save_steps: steps.
        saver: What saves; or
        checkpoint_basename: the name of the checkpoints, and
        scaffold: what has the saver.
        listeners: ``CheckpointSaverListener``\\s.

    Raises:
        ValueError: Both seconds and steps are given, or neither; or saver and scaffold.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: int | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Any = None,
    ) -> None:
        super().__init__(checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold, listeners)
