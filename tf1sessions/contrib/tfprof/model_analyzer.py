"""``tf.contrib.tfprof.model_analyzer``: reports on a graph."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as _tf
from .profile_context import ProfileContext

__all__ = [
    "ALL_ADVICE",
    "FLOAT_OPS_OPTIONS",
    "PRINT_ALL_TIMING_MEMORY",
    "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "ProfileContext",
    "Profiler",
    "advise",
    "print_model_analysis",
]

Profiler: Any = _tf.profiler.Profiler


def _options(**changed: Any) -> dict[str, Any]:
    """Options of a report as 1.15.5 has them; ``changed`` are those that differ."""
    return {
        "max_depth": 10000,
        "min_bytes": 0,
        "min_micros": 0,
        "min_params": 0,
        "min_float_ops": 0,
        "order_by": "name",
        "account_type_regexes": [".*"],
        "start_name_regexes": [".*"],
        "trim_name_regexes": [],
        "show_name_regexes": [".*"],
        "hide_name_regexes": [],
        "account_displayed_op_only": True,
        "output": "stdout",
        "dump_to_file": "",
        **changed,
    }


#: Which parameters the variables have that are trained.
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = _options(account_type_regexes=["_trainable_variables"], select=["params"])
#: How many operations on floats there are.
FLOAT_OPS_OPTIONS = _options(min_float_ops=1, order_by="float_ops", select=["float_ops"])
#: How long operations take, and how much memory they ask for.
PRINT_ALL_TIMING_MEMORY = _options(min_bytes=1, min_micros=1, select=["micros", "bytes"])
#: What :func:`advise` looks for.
ALL_ADVICE: dict[str, dict[str, Any]] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}

_DEFAULT = 0


def print_model_analysis(
    graph: Any, run_meta: Any = None, op_log: Any = None, tfprof_cmd: str = "scope", tfprof_options: Any = _DEFAULT
) -> Any:
    """Write a report on a graph to where its options say, and return it.

    Args:
        graph: The graph.
        run_meta: A RunMetadata of a run that was traced, for time and memory.
        op_log: An OpLogProto with more.
        tfprof_cmd: "scope", "graph", "op" or "code": by what the report is ordered.
        tfprof_options: Options such as :data:`TRAINABLE_VARS_PARAMS_STAT_OPTIONS`.

    Returns:
        A GraphNodeProto for "scope" and "graph", a MultiGraphNodeProto for the others.

    Raises:
        InvalidArgumentError: ``tfprof_cmd`` is something else.
    """
    options = {} if tfprof_options == _DEFAULT else {"options": tfprof_options}
    return _tf.profiler.profile(graph, run_meta, op_log, tfprof_cmd, **options)


def advise(graph: Any, run_meta: Any = None, tfprof_options: Any = _DEFAULT) -> Any:
    """Return an AdviceProto: what could be faster in a graph.

    Args:
        graph: The graph.
        run_meta: A RunMetadata of a run that was traced.
        tfprof_options: Options such as :data:`ALL_ADVICE`.
    """
    options = {} if tfprof_options == _DEFAULT else {"options": tfprof_options}
    return _tf.profiler.advise(graph, run_meta, **options)
