"""Report at the end of a process which of its seeds are exact: what ``--seeds report`` shows.

seed_report.py ──▶ :func:`lines` ──▶ stderr, as many as fit; all of them in a file beside the job's log, if there is one
"""

from __future__ import annotations

import inspect
import logging
import multiprocessing.util
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from . import seed_report
from .seed_report import GraphSeeds, ProgramCall, SeedReport

__all__ = ["begin", "lines", "write_report"]

#: How many lines are shown where a file has all of them. Arbitrary: a screenful.
_SHOWN = 30
#: How many seeds of a call are shown. Arbitrary.
_SEEDS = 6
_PREFIXES = ("tensorflow.compat.v1", "tensorflow", "tf_keras", "tf1sessions.contrib")

_log = logging.getLogger("tf1sessions")
_report: SeedReport | None = None
_path: Path | None = None


def begin(path: str | None) -> SeedReport:
    """Begin a report that is written when this process ends; each process that multiprocessing forks writes its own.

    Args:
        path: A file for all of it; those of children have their process's number in their names. None: all is shown.
    """
    global _report, _path
    _report = SeedReport(seed_report.measured())
    _path = None if path is None else Path(path)
    if _path is not None and multiprocessing.process.parent_process() is not None:
        _path = _of_child(_path)
    multiprocessing.util.Finalize(None, write_report, exitpriority=0)
    multiprocessing.util.register_after_fork(_report, _begin_in_child)
    return _report


def _begin_in_child(report: SeedReport) -> None:
    global _path
    if report is _report:
        report.forget_draws()
        _path = None if _path is None else _of_child(_path)
        multiprocessing.util.Finalize(None, write_report, exitpriority=0)


def _of_child(path: Path) -> Path:
    return path.with_name(f"{path.stem}-{os.getpid()}{path.suffix}")


def write_report() -> None:
    """Write this process's report, if it has one that was not written. For the end of the process."""
    global _report
    report, _report = _report, None
    if report is None:
        return
    graphs = report.graphs()
    draws = sum(len(seeds.draws) for seeds in graphs)
    if not draws:
        if multiprocessing.process.parent_process() is None:
            _log.warning(
                "seeds: TensorFlow chose none: no graph has a seed (tf.set_random_seed), or each random operation has "
                "one of its own"
            )
        return
    exact = sum(seeds.is_exact(draw) for seeds in graphs for draw in seeds.draws)
    report_lines = list(lines(graphs))
    heading = (
        f"seeds: of the {draws} that TensorFlow chose by counting operations"
        + (f" in {len(graphs)} graphs" if len(graphs) > 1 else "")
        + f", {exact} are exactly TensorFlow 1's"
        + (f", and {draws - exact} may differ" if exact < draws else "")
    )
    if not seed_report.is_measured():
        first, *_, last = seed_report.MEASURED_ON
        heading += f"; the counts were measured on TensorFlow {first} to {last}, and this is another version"
    shown = report_lines
    if _path is not None:
        _path.write_text("\n".join([heading, *report_lines, ""]), encoding="utf-8", errors="backslashreplace")
        if len(report_lines) > _SHOWN:
            shown = [*report_lines[:_SHOWN], f"  and {len(report_lines) - _SHOWN} more lines in {_path}"]
    _log.warning("\n".join([heading, *shown]))


def lines(graphs: Sequence[GraphSeeds]) -> Iterator[str]:
    """Return a report as text: where the seeds of each graph begin to be unknown, and its seeds by call."""
    names = _names()
    for number, seeds in enumerate(graphs, 1):
        which = f"  graph {number}, seed {seeds.seed}: " if len(graphs) > 1 else "  "
        if seeds.unknown is None or all(map(seeds.is_exact, seeds.draws)):
            if len(graphs) > 1:
                yield f"{which}all exact"
        else:
            where = _called(seeds.unknown, names)
            yield f"{which}unknown from {where} on: how many operations TensorFlow 1 made in it was not measured"
        groups: dict[tuple[str, str], list[int]] = {}
        for draw in seeds.draws:
            mark = "exact  " if seeds.is_exact(draw) else "unknown"
            groups.setdefault((mark, _called(draw.call, names)), []).append(draw.seed)
        for (mark, called), values in groups.items():
            yield f"    {mark} {called}: {_values(values)}"


def _values(values: list[int]) -> str:
    if len(values) <= _SEEDS:
        return ", ".join(map(str, values))
    return f"{', '.join(map(str, values[:_SEEDS]))}, ... {values[-1]}: {len(values)} seeds"


def _called(call: ProgramCall, names: dict[Any, str]) -> str:
    method = "" if call.code.co_name in ("__call__", "__init__") else f".{call.code.co_name}"
    if call.owner is not None:
        name = names.get(call.owner, f"{call.owner.__module__}.{call.owner.__qualname__}") + method
    else:
        name = names.get(call.code) or f"{_module(call.code)}.{call.code.co_name}"
    return f"{name} ({_place(call.where)})"


def _place(where: tuple[str, int]) -> str:
    path, line = where
    here = os.path.relpath(path)
    return f"{path if here.startswith(os.pardir) else here}:{line}"


def _module(code: CodeType) -> str:
    """The module of a function, by its file."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == code.co_filename:
            return module.__name__
    return code.co_filename


def _names() -> dict[Any, str]:
    """Public names of TensorFlow's functions (by their code) and classes, the shortest of each."""
    names: dict[Any, str] = {}
    seen: set[int] = set()
    waiting = [("tf", sys.modules["tensorflow"])]
    while waiting:
        path, module = waiting.pop(0)
        for name, value in [*vars(module).items(), *vars(vars(module).get("_tfmw_wrapped_module", module)).items()]:
            if name.startswith("_"):
                continue
            if isinstance(value, ModuleType):
                if id(value) not in seen and value.__name__.startswith(_PREFIXES):
                    seen.add(id(value))
                    waiting.append((f"{path}.{name}", value))
            elif isinstance(value, type):
                names.setdefault(value, f"{path}.{name}")
            elif isinstance(value, FunctionType):  # of others nothing is asked: FLAGS would parse the arguments
                value = inspect.unwrap(value)
                if isinstance(value, FunctionType):
                    names.setdefault(value.__code__, f"{path}.{name}")
    return names
