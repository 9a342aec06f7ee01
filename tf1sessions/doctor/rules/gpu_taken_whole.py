"""Sessions in several processes or threads, none of which limits its GPU memory."""

from __future__ import annotations

from collections.abc import Iterator

from ...source.effects import is_session
from ..code import Code
from ..findings import Severity
from .late_visible_devices import sets_variable
from .rule import Hit, Rule


def find(code: Code) -> Iterator[Hit]:
    if any(sets_variable(code, step) for steps in code.order.sequences() for step in steps):
        return  # each process may have a GPU of its own, or none
    for worker in code.workers:
        if not worker.many:
            continue
        for step in code.steps_of(worker):
            if step.call is None or not is_session(step.path) or step.call.args[:1]:
                continue
            config = code.config_of(step.call)
            if config is None or any(name.startswith(("gpu_options", "device_count")) for name in config):
                continue
            if any(keyword.arg in ("target", "master") for keyword in step.call.keywords):
                continue
            if worker.kind == "process":
                title = "each of several processes makes a session without growth or a fraction"
                yield Hit(step.node, title, others=(worker.maker,))
            else:
                yield Hit(
                    step.node,
                    "sessions in several threads without growth or a fraction",
                    others=(worker.maker,),
                    severity=Severity.NOTE,
                    why="The threads' sessions share one allocator, which takes nearly all of the GPU's memory at once "
                    "and keeps it until the process ends: another program that wants that GPU gets none.",
                )


RULE = Rule(
    name="gpu-taken-whole",
    severity=Severity.WARNING,
    what="several processes whose sessions set neither growth nor a fraction",
    why="A session without GPU options takes nearly all of the GPU's memory for its process: the first process gets "
    "it, the others fail with out of memory.",
    fix="Give each its part: tf1sessions.MemoryPlan(workers=N).apply(worker=K), or gpu_options with allow_growth=True "
    "or per_process_gpu_memory_fraction.",
    find=find,
)
