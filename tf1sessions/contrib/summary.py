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

from typing import Any

from ..runtime import private as _private

__all__ = [
    "SummaryWriter",
    "all_summary_ops",
    "always_record_summaries",
    "audio",
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
