"""Several sessions of one process that ask for different shares of the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from ...source.effects import is_session
from ..code import UNKNOWN, Code
from ..findings import Severity
from ..order import ProgramStep
from .rule import Hit, Rule

_FIELDS = {
    "gpu_options.per_process_gpu_memory_fraction": ("per_process_gpu_memory_fraction", 0.0),
    "gpu_options.allow_growth": ("allow_growth", False),
    "gpu_options.visible_device_list": ("visible_device_list", ""),
}


def find(code: Code) -> Iterator[Hit]:
    for steps in code.order.sequences():
        sessions = [step for step in steps if is_session(step.path) and _is_local(code, step)]
        for number, later in enumerate(sessions):
            first = next((step for step in sessions[:number] if code.order.follows(later, step)), None)
            if first is None or first.node is later.node:
                continue
            hit = _difference(code, first, later)
            if hit is not None:
                yield hit


def _is_local(code: Code, step: ProgramStep) -> bool:
    call = step.call
    return call is not None and code.argument(call, 0, "target") is None and code.argument(call, 0, "master") is None


def _difference(code: Code, first: ProgramStep, later: ProgramStep) -> Hit | None:
    assert first.call is not None and later.call is not None
    before, after = code.config_of(first.call), code.config_of(later.call)
    if before is None or after is None or any(name.startswith("device_count") for name in (*before, *after)):
        return None
    if "gpu_options" in before or "gpu_options" in after:
        return None
    for field, (name, default) in _FIELDS.items():
        wanted, had = after.get(field, default), before.get(field, default)
        if field not in after or UNKNOWN in (wanted, had) or wanted == had:
            continue
        title = f"{name}={wanted!r} is ignored: this process's first session has {_said(name, had, default)}"
        if name == "visible_device_list":
            return Hit(
                later.node,
                f"visible_device_list={wanted!r}, but this process's first session has {_said(name, had, default)}",
                others=(first.node,),
                severity=Severity.ERROR,
                why="The GPUs of a process are settled by its first session; another list raises AlreadyExistsError.",
            )
        return Hit(later.node, title, others=(first.node,))
    return None


def _said(name: str, value: object, default: object) -> str:
    return f"no {name}" if value == default else f"{value!r}"


RULE = Rule(
    name="memory-of-several-sessions",
    severity=Severity.WARNING,
    what="sessions of one process that ask for different fractions, growth or GPUs",
    why="A GPU's memory is given to a process once, by whatever touches the GPU first; the fraction and the growth "
    "that a later session asks for are ignored without a word.",
    fix="Give every session of the process the same options, or split the GPU into lanes: "
    "tf1sessions.MemoryPlan(lanes=2).",
    find=find,
)
