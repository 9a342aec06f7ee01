"""Outputs that would wait for ever: they take from a queue, or its like, that nothing in the model fills.

Graphs of trainings are such models. A session would wait as TensorFlow 1's does, which no signal ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from tf1sessions.errors import ModelError
from tf1sessions.models.graph_index import node_of
from tf1sessions.models.model import Model, Signature

__all__ = ["refuse_starved"]

#: What waits until there is something to take.
_TAKES = re.compile(
    r"^(QueueDequeue(Many|UpTo)?(V2)?|ReaderRead(UpTo)?(V2)?|(OrderedMap|Map)?Unstage|BarrierTakeMany|"
    r"(Sparse|Resource)?AccumulatorTakeGradient)$"
)
#: What puts something there, or says that nothing more will come.
_FILLS = re.compile(
    r"^(QueueEnqueue|QueueClose|(OrderedMap|Map)?Stage|Barrier(Insert|Close)|(\w*)AccumulatorApply)\w*$"
)
#: What may leave a branch out.
_SWITCHES = frozenset({"Switch", "RefSwitch", "_SwitchN"})


def refuse_starved(model: Model, signature: Signature) -> None:
    """Refuse a model that only its own operations can fill, where an output surely waits for what none of them fills.

    Args:
        model: A model that was loaded from a file. No other caller enqueues in its session.
        signature: Which of its signatures is to run.

    Raises:
        ModelError: It names the operation, and what to do.
    """
    feeds, fetches = signature.tensors()
    name = _starved(model, fetches.values(), feeds.values())
    if name is not None:
        node = model.plan.graph_index.nodes[name]
        raise ModelError(
            f"the signature {signature.name!r} waits for {name!r} ({node.op}), which takes what nothing in the model "
            "puts there",
            where=model.path,
            next_step=f"Make what it gives an input: load(..., inputs=[..., '{name}:0']), or convert --input {name}:0. "
            "Or choose another signature.",
        )


def _starved(model: Model, fetches: Collection[str], feeds: Collection[str]) -> str | None:
    graph_index = model.plan.graph_index
    ops = {name: node.op for name, node in graph_index.nodes.items()}
    needed = graph_index.ancestors(map(node_of, fetches), feeds)
    if any(_FILLS.match(ops[name]) for name in needed | graph_index.ancestors(model.plan.main)):
        return None
    for name in sorted(name for name in needed if _TAKES.match(ops[name])):
        if not any(ops[before] in _SWITCHES for before in graph_index.ancestors([name], feeds)):
            return name
    return None
