"""Operations that can be at the end of an input: those that hand out something that runs out.

::

    OutOfRangeError ─▶ its operation ─▶ may_end_input ─▶ the end of a stage's input, or an error

TensorFlow says the end of a queue, a reader or an iterator by an OutOfRangeError. Other operations raise one, too:
``crop_and_resize`` for a box of an image that is not there, ``write_file`` for a file that gets larger than it may.
Taken for an end, such an error would lose the rest of the items in silence.
"""

from __future__ import annotations

import re
from typing import Any

from tf1sessions.pipelines.retry_safety import changed_by, functions_of
from tf1sessions.runtime import private, tf

__all__ = ["may_end_input"]

#: Operations with effects that read or write all of a file: these have no place in an input that could reach its end.
_WHOLE_FILES = frozenset(
    """
    CloseSummaryWriter FlushSummaryWriter InitializeTableFromTextFile InitializeTableFromTextFileV2
    MergeV2Checkpoints Restore RestoreSlice RestoreV2 Save SaveSlices SaveV2 WriteAudioSummary WriteFile
    WriteGraphSummary WriteHistogramSummary WriteImageSummary WriteRawProtoSummary WriteScalarSummary WriteSummary
    """.split()
)
#: How an eager operation's error ends; how a node of a function's body is named.
_EAGER, _NODE = re.compile(r"\[Op:(\w+)\]"), re.compile(r"\{\{node ([^}]+)\}\}")


def may_end_input(error: BaseException, graph: Any = None) -> bool:
    """Whether an OutOfRangeError can say that an input has ended: its operation holds a place in something.

    One whose operation is not known can. The bodies of functions are looked into.

    Args:
        error: The error of a run of a session, or of an eager operation.
        graph: Where an operation in a function is looked for, which errors name by its place in that.
    """
    if not isinstance(error, tf.errors.OutOfRangeError):
        return False
    operation: Any = error.op
    if operation is not None:
        if operation.type in _WHOLE_FILES:
            return False
        return "PyFunc" in operation.type or changed_by(operation.graph, [operation]) is not None
    eager, node = _EAGER.search(str(error)), _NODE.search(str(error))
    kinds = {eager.group(1)} if eager is not None else set()
    if node is not None and graph is not None:
        kinds |= {each.op for body in functions_of(graph).values() for each in body.node_def if each.name == node[1]}
    return not kinds or any(map(_holds_a_place, kinds))


def _holds_a_place(kind: str) -> bool:
    """Whether operations of a type do, as far as the type alone tells."""
    definition = private.op_def_registry.get(kind)
    if definition is None or "PyFunc" in kind or any("func" in each.type for each in definition.attr):
        return True
    changes = definition.is_stateful or any(argument.is_ref for argument in definition.input_arg)
    return changes and kind not in _WHOLE_FILES
