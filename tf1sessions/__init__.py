"""Run, test and port TensorFlow 1 programs on today's TensorFlow.

General layout, a room for each thing that a user wants to do. A room imports from the rooms above it, never from those
below, and there are no circles::

    errors.py          the tree of exceptions
    texts.py           reports as lines of text
    sarif.py           findings in code, for editors and code hosts
    files.py           small files that a user names, read and written as a whole
    garbage.py         Python's collector of garbage, paused where much is made that stays
    source/            programs as text: files, notebooks, encodings, the meanings of names
    forks.py           the fork guard: an error in a forked child in which TensorFlow would hang
    runtime.py         the import of TensorFlow, for all but what runs in a script's process; tf1; enable_v1_behavior()
    sessions/          one graph and its session: GraphSession, compiled calls, memory plans
    pipelines/         concurrent work inside one session: Batcher, WorkQueue, QueuePipeline
    models/            models that TensorFlow 1 wrote: load(), inspection
    pools/             many sessions at once: pools of threads, of processes and on Ray, the fork server
    serving/           one process has the device and the models, others call it: by HTTP, gRPC, shared memory
    estimator/         tf.estimator of 1.15
    contrib/           tf.contrib of 1.15: a module here for each module there
    horovod/           Horovod's API, where Horovod is not installed: ranks on this machine
    scripts/           unmodified TF1 programs: `tf1sessions run`, and the TF1 face of a process
    cluster/           distributed TF1 programs: `tf1sessions launch`, a cluster on this machine
    porting/           leaving TensorFlow 1: models, checkpoints, recordings, verify; and code: audit, port
    doctor/            problems of a machine or in a script, found before they bite
    testing/           testing that sessions are safe in threads: races, leaks, schedules, the pytest plugin
    cli/               the command line: a file a command
    __main__.py        python -m tf1sessions

Importing this package imports neither TensorFlow nor numpy: a public name is fetched from its module when it is used
first.

PYTEST_DONT_REWRITE: under ``tf1sessions run -m pytest`` this module is there before pytest, which would warn of that.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tf1sessions import errors

if TYPE_CHECKING:
    from tf1sessions import contrib, estimator, porting, scripts, testing
    from tf1sessions.models.model import Model, load
    from tf1sessions.pipelines.batching import Batcher
    from tf1sessions.pipelines.pipeline import QueuePipeline
    from tf1sessions.pipelines.work import WorkQueue
    from tf1sessions.pools.processes import ProcessSessionPool
    from tf1sessions.pools.ray_pool import RaySessionPool
    from tf1sessions.pools.threads import ThreadSessionPool
    from tf1sessions.runtime import enable_v1_behavior, tf1
    from tf1sessions.serving.session_client import SessionClient
    from tf1sessions.serving.session_server import SessionServer
    from tf1sessions.sessions.calls import CompiledCall, Session
    from tf1sessions.sessions.config import SessionConfig
    from tf1sessions.sessions.memory import MemoryPlan
    from tf1sessions.sessions.session import GraphSession

__version__ = "0.1.0"

__all__ = [
    "Batcher",
    "CompiledCall",
    "GraphSession",
    "MemoryPlan",
    "Model",
    "ProcessSessionPool",
    "QueuePipeline",
    "RaySessionPool",
    "Session",
    "SessionClient",
    "SessionConfig",
    "SessionServer",
    "ThreadSessionPool",
    "WorkQueue",
    "__version__",
    "contrib",
    "enable_v1_behavior",
    "errors",
    "estimator",
    "load",
    "porting",
    "scripts",
    "testing",
    "tf1",
]

# Public name -> the module that defines it. A name that is a module itself has None.
_HOMES: dict[str, str | None] = {
    "Batcher": "tf1sessions.pipelines.batching",
    "CompiledCall": "tf1sessions.sessions.calls",
    "GraphSession": "tf1sessions.sessions.session",
    "MemoryPlan": "tf1sessions.sessions.memory",
    "Model": "tf1sessions.models.model",
    "ProcessSessionPool": "tf1sessions.pools.processes",
    "QueuePipeline": "tf1sessions.pipelines.pipeline",
    "RaySessionPool": "tf1sessions.pools.ray_pool",
    "Session": "tf1sessions.sessions.calls",
    "SessionClient": "tf1sessions.serving.session_client",
    "SessionConfig": "tf1sessions.sessions.config",
    "SessionServer": "tf1sessions.serving.session_server",
    "ThreadSessionPool": "tf1sessions.pools.threads",
    "WorkQueue": "tf1sessions.pipelines.work",
    "contrib": None,
    "enable_v1_behavior": "tf1sessions.runtime",
    "estimator": None,
    "load": "tf1sessions.models.model",
    "porting": None,
    "scripts": None,
    "testing": None,
    "tf1": "tf1sessions.runtime",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if home is None:
        return importlib.import_module(f"{__name__}.{name}")  # importing a submodule sets the name here too
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    """The public names only: what a prompt offers is what a program may use."""
    return list(__all__)
