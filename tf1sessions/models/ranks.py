"""Inputs whose number of dimensions a graph leaves open: whether it takes those that a call gives.

Some kernels of TensorFlow do not look at the number of dimensions of what they get, and end the process where it is
another than they count on. Its shape inference does look, so it is asked before ranks are run that were not seen yet::

    part of the graph ─▶ inputs: placeholders of these ranks ─▶ imported into a graph of its own ─▶ taken, or why not
                         outputs of Switch: of any rank, as a branch that does not run may be refused
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tf1sessions.models.graph_index import GraphIndex, node_of, tensor_name
from tf1sessions.models.subgraphs import subgraph
from tf1sessions.runtime import tf

__all__ = ["RankCheck", "RankedCall"]

_MOST_KEPT = 1024  # answers; arbitrary
_SWITCHES = frozenset({"Switch", "RefSwitch"})


class RankCheck:
    """Tells whether a graph takes inputs of some ranks. Nothing is run.

    Args:
        graph_index: The graph.
        feeds: The tensors that are fed, with their dtypes.
        fetches: The tensors and operations that are fetched.
        open_feeds: Those of ``feeds`` whose ranks the graph leaves open.

    Attributes:
        open_feeds: As given.

    Thread-safety: safe to use from any number of threads.
    """

    def __init__(
        self, graph_index: GraphIndex, feeds: dict[str, Any], fetches: Sequence[str], open_feeds: Sequence[str]
    ) -> None:
        self._graph_index = graph_index
        self._feeds = feeds
        self._fetches = list(fetches)
        self.open_feeds = list(open_feeds)
        self._lock = threading.Lock()  # protects what stands below it; held while a graph is imported
        self._part: Any = None
        self._answers: dict[tuple[int, ...], str] = {}

    def knows(self, values: Sequence[Any]) -> bool:
        """Whether values of these ranks, in the order of the open feeds, have come before and are taken."""
        ranks = _ranks(values)
        return ranks is not None and self._answers.get(ranks) == ""

    def require(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Check the values of the open feeds, which the error calls ``names``.

        Raises:
            ValueError: The graph does not take the ranks of these values.
        """
        ranks = _ranks(values)
        if ranks is not None and (why := self.refusal(ranks)):
            given = ", ".join(f"{name!r} with {rank}" for name, rank in zip(names, ranks, strict=True))
            raise ValueError(f"the model does not take this number of dimensions ({given}): {why:.500}")

    def refusal(self, ranks: tuple[int, ...]) -> str:
        """Return why the graph does not take these ranks; empty where it does, or where that cannot be found out."""
        found = self._answers.get(ranks)
        if found is not None:
            return found
        with self._lock:
            if self._part is None:
                self._part = self._prepared()
                if self._refused([None] * len(self.open_feeds)):  # so the graph cannot be imported like this at all
                    self._part = tf.GraphDef()
            found = self._answers.get(ranks)
            if found is None:
                found = self._refused([[None] * rank for rank in ranks]) if self._part.node else ""
                if len(self._answers) >= _MOST_KEPT:
                    self._answers = {}
                self._answers[ranks] = found
        return found

    def _prepared(self) -> Any:
        """The part of the graph that is needed, with placeholders for what is fed and for what Switch gives."""
        stand_ins = {tensor: dtype.as_datatype_enum for tensor, dtype in self._feeds.items()}
        for node in self._graph_index.graph_def.node:
            if node.op in _SWITCHES:
                stand_ins |= {f"{node.name}:{index}": node.attr["T"].type for index in range(2)}
        needed = self._graph_index.ancestors(map(node_of, self._fetches), stand_ins)
        part = subgraph(self._graph_index, needed)
        used = {}
        for node in part.node:
            node.attr.pop("_output_shapes", None)
            for index, entry in enumerate(node.input):
                tensor = tensor_name(entry)
                if tensor in stand_ins and not entry.startswith("^"):
                    node.input[index] = _stand_in(tensor)
                    used[tensor] = stand_ins[tensor]
        for tensor, dtype in used.items():
            node = part.node.add(name=_stand_in(tensor), op="Placeholder")
            node.attr["dtype"].type = dtype
            node.attr["shape"].shape.unknown_rank = True
        return part

    def _refused(self, shapes: Sequence[list[None] | None]) -> str:
        """Return why TensorFlow does not import the part with these shapes of the open inputs; empty where it does."""
        part = tf.GraphDef()
        part.CopyFrom(self._part)
        wanted = {_stand_in(tensor): shape for tensor, shape in zip(self.open_feeds, shapes, strict=True)}
        for node in list(part.node):
            shape = wanted.get(node.name)
            if shape is not None:
                node.attr["shape"].shape.CopyFrom(tf.TensorShape(shape).as_proto())
            if shape == []:  # in graphs up to version 21 a placeholder without dimensions has any rank
                unknown = part.node.add(name=node.name + "/unknown", op="Placeholder")
                unknown.attr["dtype"].CopyFrom(node.attr["dtype"])
                node.op = "PlaceholderWithDefault"
                node.input.append(unknown.name)
        try:
            with tf.Graph().as_default():
                tf.import_graph_def(part, name="")
        except ValueError as error:
            return str(error) or "TensorFlow refuses it"
        return ""


class RankedCall:
    """A compiled call that asks a :class:`RankCheck` before it runs.

    Args:
        call: What runs.
        check: Of its graph.
        names: The inputs, in the order of the call's values.
        open_names: Those of them whose ranks are checked, in the order of the check's.

    Thread-safety: as that of ``call``.
    """

    def __init__(
        self, call: Callable[..., Any], check: RankCheck, names: Sequence[str], open_names: Sequence[str]
    ) -> None:
        self._call = call
        self._check = check
        self._names = list(open_names)
        self._places = [list(names).index(name) for name in open_names]

    def __call__(self, *values: Any) -> Any:
        """Run the call.

        Raises:
            ValueError: The graph does not take the ranks of these values.
        """
        self._check.require(self._names, self._open(values))
        return self._call(*values)

    def knows(self, values: Sequence[Any]) -> bool:
        """Whether values of these ranks have come before, and are taken."""
        return self._check.knows(self._open(values))

    def _open(self, values: Sequence[Any]) -> list[Any]:
        return [values[place] for place in self._places]


def _ranks(values: Sequence[Any]) -> tuple[int, ...] | None:
    try:
        return tuple([np.ndim(value) for value in values])
    except ValueError:  # ragged lists: the run says it
        return None


def _stand_in(tensor: str) -> str:
    return "tf1sessions_rank/" + tensor.replace(":", "_")
