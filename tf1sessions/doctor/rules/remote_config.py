"""GPU options or threads given to a session on another server."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code
from ..findings import Severity
from .rule import Hit, Rule

_THREADS = ("intra_op_parallelism_threads", "inter_op_parallelism_threads", "use_per_session_threads")
_TARGETS = {
    "tf.Session": (0, "target"),
    "tf.InteractiveSession": (0, "target"),
    "tf.train.MonitoredTrainingSession": (0, "master"),
    "tf.train.Supervisor().managed_session": (0, "master"),
    "tf.train.Supervisor().prepare_or_wait_for_session": (0, "master"),
}


def find(code: Code) -> Iterator[Hit]:
    for call in code.calls:
        path = code.path(call.func)
        if path not in _TARGETS:
            continue
        target = code.argument(call, *_TARGETS[path])
        if target is None or not _is_remote(code, target):
            continue
        argument = code.argument(call, 2 if "Session" in path and "train" not in path else None, "config")
        config = None if argument is None else code.config(argument)
        lost = sorted({_named(name) for name in config or {} if name.startswith("gpu_options") or name in _THREADS})
        if lost:
            yield Hit(call, f"{', '.join(lost)} given to a session on a server")


def _named(name: str) -> str:
    return name.removeprefix("gpu_options.")


def _is_remote(code: Code, target: ast.expr) -> bool:
    text = code.names.literal(target)
    if isinstance(text, str):
        return text.startswith("grpc")
    return code.path(target) == "tf.train.Server().target"


RULE = Rule(
    name="remote-config",
    severity=Severity.WARNING,
    what="GPU options or threads given to a session on a tf.train.Server",
    why="A session on a server uses the server's devices and threads, which were made with the server: GPU options and "
    "thread settings of the session are ignored without a word.",
    fix="Give them to the server: tf.train.Server(cluster, job_name=..., task_index=..., config=config).",
    find=find,
)
