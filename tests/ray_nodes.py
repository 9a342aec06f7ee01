"""A Ray cluster of several nodes on this machine, for tests; and Ray itself, which is set up before it is imported."""

from __future__ import annotations

import os

os.environ["RAY_AUTH_MODE"] = "disabled"  # no token is made in the user's home
os.environ["RAY_DEDUP_LOGS"] = "0"

import atexit
from typing import Any

import ray
from ray.cluster_utils import Cluster

__all__ = ["NODE", "ray", "start_cluster"]

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}  # bytes
_ATTEMPTS = 3


def start_cluster() -> tuple[Any, list[Any]]:
    """Return a cluster, which ends with this process, and its two nodes of one CPU; its head node has none.

    Ray gives a node thirty seconds to start, which is not always enough on a machine that is busy: it is tried again.
    """
    for attempts_left in reversed(range(_ATTEMPTS)):
        found = None
        try:
            found = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0, "include_dashboard": False})
            nodes = [found.add_node(wait=False, **NODE) for _ in range(2)]
            found.wait_for_nodes(timeout=120)
        except Exception:
            if found is not None:
                found.shutdown()
            if not attempts_left:
                raise
        else:
            atexit.register(found.shutdown)
            return found, nodes
    raise AssertionError("unreachable")
