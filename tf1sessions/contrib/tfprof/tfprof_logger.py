"""``tf.contrib.tfprof.tfprof_logger``: a file with what the profiler reads beside the graph."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as _tf

__all__ = ["write_op_log"]


def write_op_log(graph: Any, log_dir: str, op_log: Any = None, run_meta: Any = None, add_trace: bool = True) -> None:
    """Write "tfprof_log" into a folder: the types and numbers of operations that ``tf.profiler`` counts.

    Args:
        graph: The graph.
        log_dir: The folder.
        op_log: An OpLogProto with more.
        run_meta: A RunMetadata, from which static shapes are read.
        add_trace: Whether the lines of the program are written, too.
    """
    _tf.profiler.write_op_log(graph, log_dir, op_log, run_meta, add_trace)
