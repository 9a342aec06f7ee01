"""The configuration of an Estimator: :class:`RunConfig`, with the machines of ``TF_CONFIG`` in the environment."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import Any

from ..runtime import tf1 as tf
from .util import function_args, log

__all__ = ["RunConfig", "TaskType"]

_USE_DEFAULT: Any = object()
_DEFAULT_SAVE_SECS = 600
_REPLACEABLE = [
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
]


class TaskType:
    """The kinds of tasks of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


class RunConfig:
    """The configuration of an Estimator; it does not change, see :meth:`replace`.

    Args:
        model_dir: Where checkpoints and summaries go.
        tf_random_seed: The seed of each graph.
        save_summary_steps: Steps between summaries.
        save_checkpoints_steps: Steps between checkpoints; not together with ``save_checkpoints_secs``.
        save_checkpoints_secs: Seconds between checkpoints, 600 unless steps are given. None for both: no checkpoints.
        session_config: A ``tf.ConfigProto``.
        keep_checkpoint_max: How many checkpoints are kept; None or 0 means all.
        keep_checkpoint_every_n_hours: Hours between checkpoints that are kept for ever.
        log_step_count_steps: Steps between lines in the log.
        train_distribute: A ``tf.distribute.Strategy`` to train with; ``input_fn`` makes the batches of one replica.
        device_fn: A function of the argument ``op`` that gives its device.
        protocol: That of servers: None, "grpc" or "grpc+verbs".
        eval_distribute: A strategy to evaluate with.
        experimental_distribute: Both strategies in one object.
        experimental_max_worker_delay_secs: The most seconds that a worker waits before it starts.
        session_creation_timeout_secs: The most seconds that a worker waits for a session.

    Raises:
        ValueError: An argument or ``TF_CONFIG`` is wrong.
    """

    _model_dir: str | None
    _tf_random_seed: int | None
    _save_summary_steps: int | None
    _save_checkpoints_steps: int | None
    _save_checkpoints_secs: float | None
    _session_config: Any
    _keep_checkpoint_max: int | None
    _keep_checkpoint_every_n_hours: float
    _log_step_count_steps: int | None
    _train_distribute: Any
    _device_fn: Callable[..., str] | None
    _protocol: str | None
    _eval_distribute: Any
    _experimental_distribute: Any
    _experimental_max_worker_delay_secs: float | None
    _session_creation_timeout_secs: float

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _USE_DEFAULT,
        save_checkpoints_secs: float | None = _USE_DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Callable[..., str] | None = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: float | None = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        if save_checkpoints_steps is _USE_DEFAULT and save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_steps, save_checkpoints_secs = None, _DEFAULT_SAVE_SECS
        elif save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _USE_DEFAULT:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError(_BOTH_SAVES)

        if experimental_distribute is not None:
            train_distribute = _either(train_distribute, experimental_distribute, "train_distribute")
            eval_distribute = _either(eval_distribute, experimental_distribute, "eval_distribute")
        if train_distribute is not None or eval_distribute is not None:
            log.info("Initializing RunConfig with distribution strategies.")
            log.info("Not using Distribute Coordinator.")
        tf_config = _read_tf_config()
        if tf_config:
            log.info("TF_CONFIG environment variable: %s", tf_config)
        model_dir = _model_dir(tf_config, os.fspath(model_dir) if hasattr(model_dir, "__fspath__") else model_dir)
        self._set(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute,
            device_fn=device_fn,
            protocol=protocol,
            eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        self._init_cluster(tf_config)

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            if value is not None and name in _CHECKS:
                good, problem = _CHECKS[name]
                if not good(value):
                    raise ValueError(problem)
        for name, value in values.items():
            setattr(self, f"_{name}", value)

    def _init_cluster(self, tf_config: dict[str, Any]) -> None:
        """Sets what follows from ``TF_CONFIG`` about this process and the others."""
        service = tf_config.get("service")
        if service is not None and not isinstance(service, dict):
            raise TypeError(f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}')
        self._service: dict[str, Any] | None = service
        cluster: dict[str, Any] = tf_config.get("cluster", {})
        self._cluster_spec: Any = tf.train.ClusterSpec(cluster)
        task: dict[str, Any] = tf_config.get("task", {})
        if not cluster:
            self._init_single(task, tf_config)
            return

        _check_cluster(cluster)
        if not task.get("type"):
            raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
        if task.get("index") is None:
            raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
        self._task_type: str = task["type"]
        self._task_id = int(task["index"])
        if self._task_id < 0:
            raise ValueError("Task index must be non-negative number.")
        self._evaluation_master = ""
        if self._task_type == TaskType.EVALUATOR:
            if TaskType.MASTER in cluster:
                raise ValueError("If `master` node exists in `cluster`, task_type `evaluator` is not supported.")
            self._cluster_spec = tf.train.ClusterSpec({})
            self._master = ""
            self._num_ps_replicas = self._num_worker_replicas = 0
            self._global_id_in_cluster: int | None = None
            self._is_chief = False
            return
        self._master = str(tf_config.get("session_master", "")) or _address(
            self._cluster_spec, self._task_type, self._task_id
        )
        main = TaskType.MASTER if TaskType.MASTER in cluster else TaskType.CHIEF
        self._num_ps_replicas = len(cluster.get(TaskType.PS, []))
        self._num_worker_replicas = len(cluster.get(TaskType.WORKER, [])) + 1
        self._global_id_in_cluster = _global_id(self._cluster_spec, self._task_type, self._task_id, main)
        self._is_chief = self._task_type == main
        if self._session_config is None:
            self._session_config = _session_config(self._task_type, self._task_id)

    def _init_single(self, task: dict[str, Any], tf_config: dict[str, Any]) -> None:
        self._task_type = task.get("type", TaskType.WORKER)
        self._task_id = int(task.get("index", 0))
        self._global_id_in_cluster = 0
        if self._task_type != TaskType.WORKER:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
        if self._task_id != 0:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
        self._master = str(tf_config.get("session_master", ""))
        self._evaluation_master = str(tf_config.get("eval_session_master", ""))
        self._is_chief = True
        self._num_ps_replicas = 0
        self._num_worker_replicas = 1

    @property
    def cluster_spec(self) -> Any:
        return self._cluster_spec

    @property
    def device_fn(self) -> Callable[..., str] | None:
        return self._device_fn

    @property
    def evaluation_master(self) -> str:
        return self._evaluation_master

    @property
    def is_chief(self) -> bool:
        return self._is_chief

    @property
    def master(self) -> str:
        return self._master

    @property
    def num_ps_replicas(self) -> int:
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        return self._num_worker_replicas

    @property
    def task_id(self) -> int:
        return self._task_id

    @property
    def global_id_in_cluster(self) -> int | None:
        """This process's number among all of the cluster's, the chief being 0; None for an evaluator."""
        return self._global_id_in_cluster

    @property
    def task_type(self) -> str:
        return self._task_type

    @property
    def tf_random_seed(self) -> int | None:
        return self._tf_random_seed

    @property
    def save_summary_steps(self) -> int | None:
        return self._save_summary_steps

    @property
    def save_checkpoints_secs(self) -> float | None:
        return self._save_checkpoints_secs

    @property
    def session_config(self) -> Any:
        return self._session_config

    @property
    def save_checkpoints_steps(self) -> int | None:
        return self._save_checkpoints_steps

    @property
    def keep_checkpoint_max(self) -> int | None:
        return self._keep_checkpoint_max

    @property
    def session_creation_timeout_secs(self) -> float:
        return self._session_creation_timeout_secs

    @property
    def keep_checkpoint_every_n_hours(self) -> float:
        return self._keep_checkpoint_every_n_hours

    @property
    def log_step_count_steps(self) -> int | None:
        return self._log_step_count_steps

    @property
    def experimental_max_worker_delay_secs(self) -> float | None:
        return self._experimental_max_worker_delay_secs

    @property
    def model_dir(self) -> str | None:
        return self._model_dir

    @property
    def service(self) -> dict[str, Any] | None:
        """The service that runs this, by ``TF_CONFIG``."""
        return self._service

    @property
    def train_distribute(self) -> Any:
        return self._train_distribute

    @property
    def eval_distribute(self) -> Any:
        return self._eval_distribute

    @property
    def protocol(self) -> str | None:
        return self._protocol

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with other values of some of the constructor's arguments.

        Raises:
            ValueError: There is no such argument, or a value is wrong.
        """
        return self._replace(_REPLACEABLE, **kwargs)

    def _replace(self, allowed: list[str], **kwargs: Any) -> RunConfig:
        for name in kwargs:
            if name not in allowed:
                raise ValueError(f"Replacing {name} is not supported. Allowed properties are {allowed}.")
        steps, secs = kwargs.get("save_checkpoints_steps"), kwargs.get("save_checkpoints_secs")
        if steps is not None and secs is not None:
            raise ValueError(_BOTH_SAVES)
        new = copy.deepcopy(self)
        if "save_checkpoints_steps" in kwargs or "save_checkpoints_secs" in kwargs:
            kwargs = {"save_checkpoints_steps": None, "save_checkpoints_secs": None, **kwargs}
        new._set(**kwargs)
        return new


def _either(strategy: Any, both: Any, name: str) -> Any:
    """The strategy of ``experimental_distribute`` or of the argument of its own."""
    if strategy is not None and getattr(both, name) is not None:
        raise ValueError(f"Either `{name}` or`experimental_distribute.{name}` can be set.")
    return strategy if strategy is not None else getattr(both, name)


_BOTH_SAVES = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model_dir": (bool, "model_dir should be non-empty"),
    "save_summary_steps": (lambda value: value >= 0, "save_summary_steps should be >= 0"),
    "save_checkpoints_steps": (lambda value: value >= 0, "save_checkpoints_steps should be >= 0"),
    "save_checkpoints_secs": (lambda value: value >= 0, "save_checkpoints_secs should be >= 0"),
    "session_config": (
        lambda value: isinstance(value, tf.ConfigProto),
        "session_config must be instance of ConfigProto",
    ),
    "keep_checkpoint_max": (lambda value: value >= 0, "keep_checkpoint_max should be >= 0"),
    "keep_checkpoint_every_n_hours": (lambda value: value > 0, "keep_checkpoint_every_n_hours should be > 0"),
    "log_step_count_steps": (lambda value: value > 0, "log_step_count_steps should be > 0"),
    "session_creation_timeout_secs": (lambda value: value > 0, "session_creation_timeout_secs should be > 0"),
    "tf_random_seed": (lambda value: _is_integer(value), "tf_random_seed must be integer."),
    "device_fn": (
        lambda value: callable(value) and set(function_args(value)) == {"op"},
        'device_fn must be callable with exactly one argument "op".',
    ),
    "protocol": (lambda value: value in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs"),
}


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) or (type(value).__module__ == "numpy" and value.dtype.kind in "iu")


def _read_tf_config() -> dict[str, Any]:
    text = os.environ.get("TF_CONFIG", "{}")
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(f"the variable TF_CONFIG is not JSON: {error.msg}", error.doc, error.pos) from None
    if not isinstance(found, dict):
        raise ValueError(f"the variable TF_CONFIG is {text!r}, and not a JSON object with a cluster and a task")
    return found


def _model_dir(tf_config: dict[str, Any], given: str | None) -> str | None:
    """The folder, of ``TF_CONFIG`` and of the constructor."""
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    configured: str | None = tf_config.get("model_dir")
    if configured == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if configured is None:
        return given
    if given is not None and given != configured:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in "
            f'TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: {configured}.\n'
        )
    log.info("Using model_dir in TF_CONFIG: %s", configured)
    return configured


def _check_cluster(cluster: dict[str, Any]) -> None:
    main = TaskType.MASTER if TaskType.MASTER in cluster else TaskType.CHIEF
    if main == TaskType.MASTER and TaskType.CHIEF in cluster:
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    if not cluster.get(main):
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{main}" node.')
    if len(cluster[main]) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{main}" node.')


def _address(cluster_spec: Any, task_type: str, task_id: int) -> str:
    where = f"\n{cluster_spec}\n\nNote that these values may be coming from the TF_CONFIG environment variable."
    jobs = cluster_spec.as_dict()
    if task_type not in jobs:
        raise ValueError(f"{task_type} is not a valid task_type in the cluster_spec:{where}")
    if task_id >= len(jobs[task_type]):
        raise ValueError(f"{task_id} is not a valid task_id for task_type {task_type} in the cluster_spec:{where}")
    if len(jobs) == 1 and len(jobs[task_type]) == 1:
        return ""
    return f"grpc://{jobs[task_type][task_id]}"


def _global_id(cluster_spec: Any, task_type: str, task_id: int, main: str) -> int:
    order = [main, *sorted(job for job in cluster_spec.jobs if job not in (main, TaskType.PS)), TaskType.PS]
    before = order[: order.index(task_type)]
    earlier: int = sum(cluster_spec.num_tasks(job) for job in before if job in cluster_spec.jobs)
    return earlier + task_id


def _session_config(task_type: str, task_id: int) -> Any:
    """A session that sees the parameter servers and itself only; None for tasks of other kinds."""
    seen = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }
    if task_type not in seen:
        return None
    config = default_session_config()
    config.device_filters.extend(seen[task_type])
    return config


def default_session_config() -> Any:
    """The ``tf.ConfigProto`` of an Estimator that was given none."""
    config = tf.ConfigProto(allow_soft_placement=True)
    rewrites = config.graph_options.rewrite_options
    rewrites.meta_optimizer_iterations = rewrites.ONE
    return config
