"""The tasks of a TensorFlow cluster: how they are named, where they are, what TF_CONFIG says to each of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tf1sessions.errors import ConfigError

__all__ = ["MAX_TASKS", "Cluster", "Task"]

MAX_TASKS = 1000
"""How many tasks a job may have. Arbitrary: far more than one machine can run."""

_JOBS = ("chief", "ps", "worker", "evaluator")


@dataclass(frozen=True)
class Task:
    """One task of a cluster.

    Attributes:
        job: ``"chief"``, ``"ps"``, ``"worker"`` or ``"evaluator"``, as TensorFlow names the jobs of a cluster.
        index: Its number in its job, from 0.
        address: ``"host:port"``; of an evaluator, which no other task calls, ``""``.
    """

    job: str
    index: int
    address: str

    @property
    def name(self) -> str:
        """Such as ``"worker:1"``."""
        return f"{self.job}:{self.index}"


@dataclass(frozen=True)
class Cluster:
    """The tasks of a cluster, in the order in which they are started.

    Example:
        >>> cluster = Cluster.at(["127.0.0.1:9001", "127.0.0.1:9002"], ps=1, workers=1)
        >>> cluster.hosts("ps"), cluster.tasks[1].name
        (('127.0.0.1:9001',), 'worker:0')
    """

    tasks: tuple[Task, ...]

    @staticmethod
    def size(ps: int, workers: int, chief: bool = False) -> int:
        """Return how many addresses a cluster needs.

        Raises:
            ConfigError: There is nobody to train, or there are too many tasks.
        """
        if workers < 1 and not chief:
            raise ConfigError("no task trains: there is no worker and no chief", next_step="Give --workers 1 or more.")
        for count, option in ((ps, "--ps"), (workers, "--workers")):
            if not 0 <= count <= MAX_TASKS:
                raise ConfigError(f"{option} is {count}, not 0 to {MAX_TASKS}", where=f"option {option}")
        return ps + workers + chief

    @classmethod
    def at(
        cls, addresses: Sequence[str], ps: int, workers: int, chief: bool = False, evaluator: bool = False
    ) -> Cluster:
        """Return a cluster whose tasks have these addresses: parameter servers first, then chief and workers."""
        left = iter(addresses)
        jobs = [("ps", ps), ("chief", int(chief)), ("worker", workers)]
        tasks = [Task(job, index, next(left)) for job, count in jobs for index in range(count)]
        if evaluator:
            tasks.append(Task("evaluator", 0, ""))
        return cls(tuple(tasks))

    def hosts(self, job: str) -> tuple[str, ...]:
        """The addresses of a job's tasks."""
        return tuple(task.address for task in self.tasks if task.job == job and task.address)

    def trains(self, task: Task, tf2: bool = False) -> bool:
        """Whether the cluster is done when this task and those like it are.

        Args:
            task: One of the cluster.
            tf2: Whether the program is TensorFlow 2. With parameter servers its workers wait for ever then for what the
                chief gives them.
        """
        return task.job == "chief" or (task.job == "worker" and not (tf2 and self.hosts("ps")))

    def spec(self) -> dict[str, list[str]]:
        """The addresses of all jobs, as ``tf.train.ClusterSpec`` takes them. An evaluator is not part of it."""
        return {job: list(self.hosts(job)) for job in _JOBS if self.hosts(job)}

    def tf_config(self, task: Task) -> str:
        """The text of the variable ``TF_CONFIG`` for a task."""
        content: Mapping[str, object] = {
            "cluster": self.spec(),
            "task": {"type": task.job, "index": task.index},
            "environment": "cloud",
        }
        return json.dumps(content)
