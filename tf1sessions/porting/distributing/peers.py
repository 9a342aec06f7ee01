"""peers_within(): a limit of time for the other workers to come, while a strategy is made."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator

from tf1sessions.errors import UsageError
from tf1sessions.scripts import cluster_peers

__all__ = ["peers_within"]


@contextlib.contextmanager
def peers_within(limit_secs: float) -> Iterator[None]:
    """End this process if other tasks of the cluster in ``TF_CONFIG`` have not come in time.

    For the line that makes a ``MultiWorkerMirroredStrategy``, in which TensorFlow waits for the other workers for ever.
    The message on stderr names those that are missing, and the process is killed (SIGKILL): TensorFlow holds Python's
    lock meanwhile, and heeds no other signal. Without a ``TF_CONFIG``, or other tasks in it, there is no limit.

    Args:
        limit_secs: How long the others may take.

    Raises:
        UsageError: The limit is none.

    Thread-safety: it is safe from any thread.

    Example:
        >>> import tensorflow as tf
        >>> import tf1sessions as t1
        >>> with t1.porting.peers_within(120):
        ...     strategy = tf.distribute.OneDeviceStrategy("CPU:0")  # or MultiWorkerMirroredStrategy()
    """
    if not isinstance(limit_secs, int | float) or not limit_secs > 0:
        raise UsageError(
            f"limit_secs is {limit_secs!r}", where="porting.peers_within()", next_step="Give seconds, more than 0."
        )
    others = cluster_peers.others(os.environ.get("TF_CONFIG", ""))
    if not others:
        yield
        return
    given = json.dumps({"pid": os.getpid(), "limit_secs": limit_secs, "others": others})
    command = [sys.executable, "-I", "-S", cluster_peers.__file__, given]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as watcher:
        try:
            yield
        finally:
            assert watcher.stdin is not None
            watcher.stdin.close()
