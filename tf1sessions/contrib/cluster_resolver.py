"""``tf.contrib.cluster_resolver``: where the machines of a cluster are, from the environment or from their managers."""

from __future__ import annotations

from typing import Any

from ..runtime import tf1 as tf

__all__ = [
    "ClusterResolver",
    "GCEClusterResolver",
    "KubernetesClusterResolver",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
    "TPUClusterResolver",
    "UnionClusterResolver",
]

_resolvers: Any = tf.distribute.cluster_resolver

ClusterResolver: Any = _resolvers.ClusterResolver
GCEClusterResolver: Any = _resolvers.GCEClusterResolver
KubernetesClusterResolver: Any = _resolvers.KubernetesClusterResolver
SimpleClusterResolver: Any = _resolvers.SimpleClusterResolver
SlurmClusterResolver: Any = _resolvers.SlurmClusterResolver
TFConfigClusterResolver: Any = _resolvers.TFConfigClusterResolver
UnionClusterResolver: Any = _resolvers.UnionResolver


class TPUClusterResolver(_resolvers.TPUClusterResolver):  # type: ignore[misc]
    """The address of a Cloud TPU.

    Args:
        tpu: Its name or its address, ``grpc://...``. "" and "local" stand for this machine, as programs write that
            run with and without a TPU.
        zone: Its zone.
        project: Its project.
        job_name: The name of the job of its workers.
        coordinator_name: The name of the coordinator's job.
        coordinator_address: The coordinator's address.
        credentials: For Google's services; "default" takes those of the environment.
        service: The client of the TPU's API.
        discovery_url: Where that API is described.
    """

    def __init__(
        self,
        tpu: Any = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        name = tpu[0] if isinstance(tpu, (list, tuple)) and tpu else tpu
        if isinstance(name, bytes):
            name = name.decode()
        self._here: str | None = name if name in ("", "local") else None
        super().__init__(
            "local" if self._here is not None else tpu,
            zone=zone,
            project=project,
            job_name=job_name,
            coordinator_name=coordinator_name,
            coordinator_address=coordinator_address,
            credentials=credentials,
            service=service,
            discovery_url=discovery_url,
        )

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> Any:
        """The address for a session; of a task, if one is given."""
        return super().master(task_type, task_id, rpc_layer) if self._here is None else self._here

    def get_master(self) -> Any:
        """:meth:`master`, by its older name."""
        return self.master()

    def cluster_spec(self) -> Any:
        """The ``ClusterSpec`` of its workers; None if there is no TPU."""
        return super().cluster_spec() if self._here is None else None

    @property
    def environment(self) -> str:
        """ "google" if there is no TPU, else ""."""
        return "" if self._here is None else "google"

    @property
    def rpc_layer(self) -> str | None:
        """The protocol, "grpc"; None if there is no TPU."""
        return "grpc" if self._here is None else None
