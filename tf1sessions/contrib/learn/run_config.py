"""The configuration of an Estimator of ``contrib.learn``."""

from __future__ import annotations

from typing import Any

from ...estimator.run_config import RunConfig as _RunConfig
from ...estimator.run_config import TaskType as _TaskType
from ...runtime import tf1 as tf

__all__ = ["RunConfig", "TaskType"]


class TaskType:
    """The kinds of tasks of a cluster."""

    MASTER = _TaskType.MASTER
    PS = _TaskType.PS
    WORKER = _TaskType.WORKER


class RunConfig(_RunConfig):
    """A ``tf.estimator.RunConfig`` with the arguments that ``contrib.learn`` had.

    Args:
        master: The address of the session.
        num_cores: How many cores are used; 0 for all.
        log_device_placement: Whether the placement of operations is logged.
        gpu_memory_fraction: The share of a GPU's memory.
        tf_random_seed: The seed of each graph.
        save_summary_steps: Steps between summaries.
        save_checkpoints_secs: Seconds between checkpoints; 0 stands for 600, or for None if steps are given.
        save_checkpoints_steps: Steps between checkpoints.
        keep_checkpoint_max: How many checkpoints are kept.
        keep_checkpoint_every_n_hours: Hours between checkpoints that are kept for ever.
        log_step_count_steps: Steps between lines in the log.
        protocol: That of servers.
        evaluation_master: The address of the evaluations' session.
        model_dir: Where checkpoints and summaries go.
        session_config: A ``tf.ConfigProto``, in place of the one that the first arguments make.
        session_creation_timeout_secs: The most seconds that a worker waits for a session.
    """

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: float | None = 0,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: Any = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        if save_checkpoints_secs == 0:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        if not self._cluster_spec.jobs:
            self._num_worker_replicas = 0
        if master is not None:
            self._master = master
        if evaluation_master:
            self._evaluation_master = evaluation_master
        self._tf_config = tf.ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )

    @property
    def tf_config(self) -> Any:
        """The ``tf.ConfigProto`` of sessions, unless ``session_config`` was given."""
        return self._tf_config

    @property
    def environment(self) -> str:
        return "local"

    def uid(self, whitelist: Any = None) -> str:
        """A text that distinguish configurations; ``whitelist`` are properties that do not count."""
        ignored = {"_tf_random_seed", "_model_dir"} if whitelist is None else {f"_{name}" for name in whitelist}
        return ", ".join(f"{name}={value!r}" for name, value in sorted(vars(self).items()) if name not in ignored)
