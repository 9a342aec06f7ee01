"""``tf.contrib.summary``: summaries that are operations, which write to the current writer when they are run.

TensorFlow still has them, for its own ``tf.summary``; here they have their old names.

Example::

    writer = contrib.summary.create_file_writer(folder)
    step = tf.train.get_or_create_global_step()
    with writer.as_default(), contrib.summary.always_record_summaries():
        contrib.summary.scalar("loss", loss)
    with tf.Session() as session, writer.as_default():
        session.run(tf.global_variables_initializer())
        contrib.summary.initialize(graph=tf.get_default_graph())
        session.run(contrib.summary.all_summary_ops())
        session.run(writer.flush())
"""

from __future__ import annotations

import functools as _functools
import getpass as _getpass
import re as _re
import time as _time
from typing import Any

from ..runtime import private as _private
from ..runtime import tf1 as _tf

__all__ = [
    "SummaryWriter",
    "all_summary_ops",
    "always_record_summaries",
    "audio",
    "create_db_writer",
    "create_file_writer",
    "create_summary_file_writer",
    "eval_dir",
    "flush",
    "generic",
    "graph",
    "histogram",
    "image",
    "import_event",
    "initialize",
    "never_record_summaries",
    "record_summaries_every_n_global_steps",
    "scalar",
    "should_record_summaries",
    "summary_writer_initializer_op",
]

_ops: Any = _private.summary_ops

SummaryWriter: Any = _ops.SummaryWriter
all_summary_ops: Any = _ops.all_v2_summary_ops
always_record_summaries: Any = _ops.always_record_summaries
audio: Any = _ops.audio
create_file_writer: Any = _ops.create_file_writer
create_summary_file_writer: Any = _ops.create_file_writer
eval_dir: Any = _ops.eval_dir
flush: Any = _ops.flush
generic: Any = _ops.generic
graph: Any = _ops.graph_v1
histogram: Any = _ops.histogram
image: Any = _ops.image
import_event: Any = _ops.import_event
initialize: Any = _ops.initialize
never_record_summaries: Any = _ops.never_record_summaries
record_summaries_every_n_global_steps: Any = _ops.record_summaries_every_n_global_steps
scalar: Any = _ops.scalar
should_record_summaries: Any = _ops.should_record_summaries
summary_writer_initializer_op: Any = _ops.summary_writer_initializer_op


def create_db_writer(
    db_uri: Any,
    experiment_name: Any = None,
    run_name: Any = None,
    user_name: Any = None,
    name: str | None = None,
) -> Any:
    """A writer into a database of SQLite, whose tables are made if they are not there.

    Args:
        db_uri: The file.
        experiment_name: The experiment; today's date unless given, and "" for none.
        run_name: The run; the time of the day unless given, and "" for none.
        user_name: The user; the one that is logged in unless given.
        name: The name by which sessions share the writer.

    Raises:
        ValueError: A name has characters that it must not have, or is too long.
    """
    now = _time.localtime()
    if user_name is None:
        user_name = _getpass.getuser()
    names = {
        "experiment_name": _time.strftime("%Y-%m-%d", now) if experiment_name is None else experiment_name,
        "run_name": _time.strftime("%H:%M:%S", now) if run_name is None else run_name,
        "user_name": user_name,
    }
    for argument, pattern in _NAMES.items():
        if isinstance(names[argument], str) and not _re.search(pattern, names[argument]):
            raise ValueError(f"{argument} ({names[argument]}) must match {pattern}")
    with _tf.device("cpu:0"):
        given = {argument: _tf.convert_to_tensor(value, _tf.string) for argument, value in names.items()}
        resource = _tf.raw_ops.SummaryWriter(shared_name=name or "", container="")
        initialized = _functools.partial(_tf.raw_ops.CreateSummaryDbWriter, db_uri=db_uri, **given)
        return _ops._LegacyResourceSummaryWriter(resource, lambda writer: initialized(writer=writer))


_NAMES = {
    "experiment_name": r"^[^\x00-\x1F<>]{0,256}$",
    "run_name": r"^[^\x00-\x1F<>]{0,512}$",
    "user_name": r"^[a-z]([-a-z0-9]{0,29}[a-z0-9])?$",
}
