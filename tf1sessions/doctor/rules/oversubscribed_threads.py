"""Several processes, each of which takes every core."""

from __future__ import annotations

from collections.abc import Iterator

from ...sessions.machine import usable_cores
from ...source.effects import is_session
from ..code import UNKNOWN, Code
from ..findings import Severity
from .rule import Hit, Rule

_VARIABLES = ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")


def find(code: Code) -> Iterator[Hit]:
    if any(any(name in line for name in _VARIABLES) for file in code.program.files for line in file.lines):
        return
    cores = usable_cores()
    for worker in code.workers:
        if worker.kind != "process" or not worker.many:
            continue
        for step in code.steps_of(worker):
            if step.call is None or not is_session(step.path):
                continue
            if any(code.argument(step.call, 0, name) is not None for name in ("target", "master")):
                continue  # the server's threads
            config = code.config_of(step.call)
            threads = None if config is None else config.get("intra_op_parallelism_threads", 0)
            if threads is None or threads is UNKNOWN or not isinstance(threads, int):
                continue
            if threads == 0:
                yield Hit(step.node, "each of several processes takes all cores for its session", (worker.maker,))
            elif worker.count is not None and threads * worker.count > cores and threads > 1:
                title = f"{worker.count} processes with {threads} threads each, on {cores} core{'s' * (cores > 1)}"
                yield Hit(step.node, title, (worker.maker,))


RULE = Rule(
    name="oversubscribed-threads",
    severity=Severity.NOTE,
    what="several processes whose sessions have more threads than there are cores",
    why="A session's process has a thread for every core unless its config sets less: N processes have N times as many "
    "threads as there are cores, and slow each other down.",
    fix="Divide the cores: intra_op_parallelism_threads = cores / processes in each ConfigProto, or "
    "tf1sessions.MemoryPlan(workers=N).apply(worker=K), which does that.",
    find=find,
)
