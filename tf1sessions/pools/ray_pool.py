"""RaySessionPool: many sessions on a Ray cluster, each in a process of its own.

::

    submit ─▶ RayDispatcher, a thread of the pool ─▶ an actor of Ray, on some node: ray_worker.py
    Future ◀─────┘                                    fn(session, ...), one job at a time

This module is what a user sees; ``ray_dispatcher.py`` describes how jobs get to workers, and what a lost node means.
"""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from tf1sessions.errors import UsageError
from tf1sessions.pools import preparation
from tf1sessions.pools.base import check_count, check_limit
from tf1sessions.pools.dispatched import DispatchedPool
from tf1sessions.pools.jobs import JobOptions
from tf1sessions.pools.packing import pack
from tf1sessions.pools.pool_worker_main import Setup
from tf1sessions.pools.process_jobs import ProcessFuture, ProcessJobOptions
from tf1sessions.pools.process_options import ProcessPoolOptions
from tf1sessions.pools.progress import PoolProgress
from tf1sessions.pools.ray_cluster import Connection, connect
from tf1sessions.pools.ray_dispatcher import RayDispatcher, RayJob
from tf1sessions.pools.ray_models import StoredModel, put_model
from tf1sessions.pools.ray_versions import version_reader
from tf1sessions.pools.ray_worker import IN_BAND, behavior_is_v1, joined, worker_class
from tf1sessions.sessions.division import thread_counts

__all__ = ["RaySessionPool", "StoredModel", "put_model"]


@dataclass(frozen=True)
class _RayPoolOptions(ProcessPoolOptions):
    """Arguments of :class:`RaySessionPool`, checked."""

    num_cpus: float
    num_gpus: float
    resources: Mapping[str, float] | None
    runtime_env: Mapping[str, Any] | None
    node_retries: int
    connect_limit_secs: float

    def __post_init__(self) -> None:
        super().__post_init__()
        for what, amount in (("num_cpus", self.num_cpus), ("num_gpus", self.num_gpus)):
            if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 0 <= amount < math.inf:
                raise self._error(f"{what} is {amount!r}", "Give what one worker takes: a number of 0 or more.")
        if self.num_gpus > 1 and self.num_gpus != int(self.num_gpus):
            raise self._error(f"num_gpus is {self.num_gpus!r}", "Ray takes a part of one GPU, or whole ones.")
        check_count("node_retries", self.node_retries, 0, self.name)
        check_limit(self.connect_limit_secs, self.name, "connect_limit_secs")
        for what, value in (("resources", self.resources), ("runtime_env", self.runtime_env)):
            if value is not None and not isinstance(value, Mapping):
                raise self._error(f"{what} is {value!r}", "Give a dict, as for Ray.")

    def _check_model(self) -> None:
        model: Any = self.model
        if not isinstance(model, StoredModel):
            super()._check_model()
        elif self.initializer is not None or self.config is not None or self.mode == "tf2":
            raise self._error(
                "model= is given with an initializer, a config or mode='tf2'",
                "Give its config with it: put_model(path, config=...).",
            )

    def _check_plan(self) -> None:
        if isinstance(self.plan, Mapping):
            if taken := sorted({"workers", "share"} & set(self.plan)):
                raise self._error(f"plan has {taken[0]!r}", "Each worker makes a plan for itself alone: leave it out.")
            return
        super()._check_plan()
        if self.plan is not None and self.num_gpus:
            raise self._error(
                "plan is a MemoryPlan of this machine, and num_gpus leaves it to Ray which GPU a worker gets",
                "Give the plan's arguments as a dict, such as plan={'limit_mb': 4000}, or leave num_gpus out.",
            )

    def worker_plan(self) -> dict[str, Any] | None:
        """The arguments of the plan that a worker makes for itself; None for one without, or with the pool's."""
        if self.plan is not None and not isinstance(self.plan, Mapping):
            return None
        arguments: dict[str, Any] = dict(self.plan or {})
        if 0 < self.num_gpus < 1 and not {"fraction", "limit_mb", "growth"} & set(arguments):
            arguments["share"] = self.num_gpus
        return arguments or None


class RaySessionPool(DispatchedPool):
    """A :class:`~tf1sessions.ProcessSessionPool` whose workers are on the machines of a Ray cluster.

    Jobs are called as there, and futures, errors, limits and ``map`` are the same. A worker is an actor of Ray, started
    when there is a job for it. It has the environment, the working directory and ``sys.path`` that Ray gives it
    (``runtime_env``), and the TensorFlow behaviour (v1 or v2) of this process.

    Arrays of 64 KiB or more travel by Ray's object store: an argument is copied into it once, and read by the worker
    where it is; so is a result here. Such arrays are read-only, as Ray's are: ``np.array(x)`` is a copy to write to. A
    reference that ``ray.put()`` gave, as an argument of a job, arrives as the object, which is stored once for all jobs
    that get it.

    Args:
        max_workers: How many jobs may run at once, where the cluster has room for as many workers.
        address: ``"host:port"`` of the cluster's head node, or ``"auto"`` for the one on this machine. By default the
            one that this process is connected to (``ray.init``), that RAY_ADDRESS names, or one that is started here.
        num_cpus, num_gpus, resources: What a worker takes of its node, as Ray counts. A worker's TensorFlow gets
            ``num_cpus`` threads (unless TF_NUM_INTRAOP_THREADS is set). To Ray a GPU is a number, so the worker sees
            to it: with ``num_gpus=0`` it has no GPU, with ``num_gpus=0.25`` a quarter of the memory of one, the CUDA
            context included, and no more.
        runtime_env: As for Ray: packages, files and environment variables of the workers.
        config, initializer, initargs, time_limit_secs, progress, name, mode, build_limit_secs, max_jobs_per_worker: As
            for ProcessSessionPool.
        max_memory_mb: As for ProcessSessionPool; of the whole process.
        model: A path on the worker's machine, or the arguments of :func:`tf1sessions.load`; or what :func:`put_model`
            has put into the object store. Each worker loads it once.
        plan: The arguments of a :class:`~tf1sessions.MemoryPlan` as a dict, of which each worker makes one for itself
            on its machine; or a MemoryPlan of this machine, for a cluster that is this machine.
        retries: How many times a job is run again when its worker died or its time was up.
        node_retries: How many times a job is run again when its node was lost, or can no longer be reached. Its code
            may run twice, and where a node only seems lost, at the same time. The default is that of Ray's tasks.
        connect_limit_secs: How long ``address`` may take to answer.

    Raises:
        UsageError: A wrong argument.
        UnsupportedEnvironmentError: Ray is not installed, or its cluster does not answer.

    A Future's exception is a :class:`JobError`, a :class:`JobTimeoutError` or a :class:`WorkerDiedError`, as there; or
    an UnsupportedEnvironmentError that names the versions of Python, TensorFlow or tf1sessions in which a worker's
    machine differs. Each ``WorkerDiedError`` has ``node``, Ray's id of the node.

    Workers end with the pool, and, by Ray, with this process, however that ends.

    Thread-safety: all methods are safe from any thread; callbacks as for ProcessSessionPool.
    """

    def __init__(
        self,
        max_workers: int = 4,
        *,
        address: str | None = None,
        num_cpus: float = 1,
        num_gpus: float = 0,
        resources: Mapping[str, float] | None = None,
        runtime_env: Mapping[str, Any] | None = None,
        config: Any = None,
        initializer: Callable[..., Any] | None = None,
        initargs: tuple[Any, ...] = (),
        time_limit_secs: float | None = None,
        progress: Callable[[PoolProgress], None] | bool | None = None,
        name: str = "RaySessionPool",
        mode: Literal["tf1", "tf2"] = "tf1",
        model: str | os.PathLike[str] | Mapping[str, Any] | StoredModel | None = None,
        plan: Any = None,
        retries: int = 0,
        node_retries: int = 3,
        build_limit_secs: float | None = None,
        max_jobs_per_worker: int | None = None,
        max_memory_mb: float | None = None,
        connect_limit_secs: float = 30.0,
    ) -> None:
        super().__init__(max_workers, name=name, time_limit_secs=time_limit_secs, progress=progress)
        if address is not None and (not isinstance(address, str) or not address):
            raise UsageError(f"address is {address!r}", where=name, next_step='Give "host:port", "auto" or None.')
        self._pool_options = _RayPoolOptions(
            name=name,
            max_workers=max_workers,
            config=config,
            initializer=initializer,
            initargs=initargs,
            mode=mode,
            model=cast(Any, model),
            plan=plan,
            retries=retries,
            build_limit_secs=build_limit_secs,
            max_jobs_per_worker=max_jobs_per_worker,
            max_memory_mb=max_memory_mb,
            method=None,
            server=None,
            num_cpus=num_cpus,
            num_gpus=num_gpus,
            resources=resources,
            runtime_env=runtime_env,
            node_retries=node_retries,
            connect_limit_secs=connect_limit_secs,
        )
        self._connection = connect(address, connect_limit_secs, name, RaySessionPool.end_all)
        self._open()
        self._end_with_process()

    def _open(self) -> None:
        """Make what the pool works with, now that the process is connected."""
        self._process = os.getpid()
        start_worker = _ActorStarter(self._pool_options, self._connection)
        # It does not hold the pool, as in ProcessSessionPool.
        self._dispatcher = dispatcher = RayDispatcher(
            self._pool_options,
            self._pool_options.node_retries,
            self._connection,
            self._accounts,
            start_worker,
            start_worker.versions,
            self._connection.close,
        )
        limit, retries = self._options.time_limit_secs, self._pool_options.retries
        self._options = ProcessJobOptions(
            self._submit, dispatcher.cancel, None, limit, dispatcher.is_current_thread, retries
        )
        weakref.finalize(self, dispatcher.shut_down).atexit = False

    def _new_job(
        self, options: JobOptions, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], number: int
    ) -> RayJob:
        return RayJob(ProcessFuture(), fn, args, kwargs, options, number)


class _ActorStarter:
    """Starts the workers of a pool; of one thread.

    Attributes:
        versions: Those that workers must have.
    """

    def __init__(self, options: _RayPoolOptions, connection: Connection) -> None:
        self._options = options
        self._connection = connection
        self._read_versions = version_reader()
        self.versions = self._read_versions()
        self._actor_class = connection.ray.remote(worker_class())
        self._actor_options = self._make_actor_options()
        self._payload = self._make_payload()

    def _make_actor_options(self) -> dict[str, Any]:
        options = self._options
        environment = dict(options.runtime_env or {})
        if options.plan is not None and not isinstance(options.plan, Mapping):  # the plan says which GPU it is
            variables = dict(environment.get("env_vars") or {})
            environment["env_vars"] = variables | {"RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES": "1"}
        return {
            "num_cpus": options.num_cpus,
            "num_gpus": options.num_gpus,
            "resources": dict(options.resources or {}) or None,
            "runtime_env": environment or None,
            "max_restarts": 0,
            "max_task_retries": 0,
        }

    def _make_payload(self) -> dict[str, Any]:
        options = self._options
        threads = max(1, int(options.num_cpus))
        intra_op, inter_op = thread_counts(threads, 1)
        given = {"TF_NUM_INTRAOP_THREADS": str(intra_op), "TF_NUM_INTEROP_THREADS": str(inter_op)}
        own_plan = options.plan is not None and not isinstance(options.plan, Mapping)
        return {
            "mode": options.mode,
            "v1": behavior_is_v1(),
            "prepare": preparation.code if options.mode == "tf1" else "",
            "environment": {} if own_plan else given,
            "hide_gpus": not options.num_gpus and not own_plan,
            "plan": options.worker_plan(),
            "reports_memory": options.max_memory_mb is not None,
            "model_name": options.model.name if isinstance(options.model, StoredModel) else None,
        }

    def __call__(self, number: int) -> tuple[Any, Any]:
        options, model = self._options, self._options.model
        stored = isinstance(model, StoredModel)
        arguments = model.arguments if isinstance(model, StoredModel) else options.model_arguments
        plan = None if isinstance(options.plan, Mapping) else options.plan
        setup = Setup(options.config, options.initializer, options.initargs, arguments, plan, number)
        stream, buffers = joined(pack(setup, IN_BAND))
        where = {}
        if lost := self._connection.lost_nodes():
            where = {"label_selector": {"ray.io/node-id": f"!in({','.join(lost)})"}}
        actor = self._actor_class.options(**self._actor_options, **where).remote()
        files = [cast(Any, model).reference] if stored else []
        versions = self._read_versions, self.versions
        return actor, actor.set_up.remote(*versions, self._payload, stream, buffers, *files)
