"""Variables of one rank, given to all: ``broadcast_variables`` and the hook that does it for a training session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import UsageError
from ..runtime import tf1 as tf
from . import operations, ranks
from .reductions import ExchangePart

__all__ = ["BroadcastGlobalVariablesHook", "bcast", "broadcast_global_variables", "broadcast_variables"]


def broadcast_variables(variables: Sequence[Any], root_rank: int) -> Any:
    """Give variables the values that they have on one rank. They must have a value on all of them.

    Args:
        variables: The same ones on all ranks, in one order.
        root_rank: The rank whose values they get.

    Returns:
        In a graph, the operation that does it; None in eager mode, where it is done.
    """
    variables = list(variables)
    if ranks.size() == 1 or not variables:
        return None if tf.executing_eagerly() else tf.no_op("HorovodBroadcast")
    parts = [ExchangePart("broadcast", operations._root(root_rank))] * len(variables)
    values = [variable.read_value() for variable in variables]
    received = operations.exchanged("HorovodBroadcast", parts, values)
    if tf.executing_eagerly():
        for variable, value in zip(variables, received, strict=True):
            variable.assign(value)
        return None
    return tf.group(*[variable.assign(value) for variable, value in zip(variables, received, strict=True)])


def bcast(root_rank: int, variables: Sequence[Any]) -> Any:
    """The old name of :func:`broadcast_variables`, with its arguments the other way round."""
    return broadcast_variables(variables, root_rank)


def broadcast_global_variables(root_rank: int) -> Any:
    """Return an operation that gives all global variables of the graph the values that they have on one rank.

    Args:
        root_rank: The rank whose values they get.

    Raises:
        UsageError: In eager mode, where there is no list of all variables.
    """
    if tf.executing_eagerly():
        raise UsageError(
            "hvd.broadcast_global_variables() does not support eager execution",
            next_step="Please use hvd.broadcast_variables(<model/optimizer variables>) instead.",
        )
    return broadcast_variables(tf.global_variables(), root_rank)


class BroadcastGlobalVariablesHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Gives all global variables the values of one rank when a session begins: initial ones, or a checkpoint's.

    Args:
        root_rank: The rank whose values they get.
        device: Ignored: exchanges are on the CPU.
    """

    def __init__(self, root_rank: int, device: str = "") -> None:
        super().__init__()
        self.root_rank = root_rank
        self.device = device
        self.bcast_op: Any = None

    def begin(self) -> None:
        """Build the operation, once in each graph."""
        if self.bcast_op is None or self.bcast_op.graph is not tf.get_default_graph():
            self.bcast_op = broadcast_global_variables(self.root_rank)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Run it."""
        session.run(self.bcast_op)
