"""Requests that one device computes: those that change nothing, and those whose changes do not depend on a batch.

Initializers, assignments, predictions and evaluations run on the first replica of the process. What they change is
copied to the other replicas.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.porting.calls import GraphFunction, GraphParts
from tf1sessions.runtime import tf

__all__ = ["LocalFunction", "in_replica", "inside"]

tf2: Any = tf.compat.v2


def in_replica() -> bool:
    """Whether the caller is inside of ``strategy.run``."""
    return bool(tf2.distribute.has_strategy() and not tf2.distribute.in_cross_replica_context())


def inside(name: str) -> UsageError:
    """The error that a call which brings replicas together was made in one of them."""
    return UsageError(
        f"{name!r} changes variables, and was called inside of strategy.run",
        where="porting.distribute()",
        next_step="Call it outside: it brings the replicas together itself.",
    )


class LocalFunction(GraphFunction):
    """A :class:`GraphFunction` that runs on one device; in a replica of ``strategy.run``, on that.

    Args:
        after: Called after a call that changes variables; None if it changes none.
        guard: What calls that change variables are made in.
        local: The graph with the variables of one device.
        parts: The graph with the variables of the strategy, for calls in a replica.
        name, arguments: As there, and the other arguments in their order.
    """

    def __init__(
        self,
        after: Callable[[], None] | None,
        guard: Callable[[], AbstractContextManager[None]],
        local: GraphParts,
        parts: GraphParts,
        name: str,
        *arguments: Any,
    ) -> None:
        super().__init__(name, local, *arguments)
        self._after = after
        self._guard = guard
        self._replica = GraphFunction(name, parts, *arguments)

    def __call__(self, values: Any = None, /, *more: Any, **named: Any) -> Any:
        if in_replica():
            return self._in_replica(values, *more, **named)
        if self._after is None:
            return super().__call__(values, *more, **named)
        with self._guard():
            made = super().__call__(values, *more, **named)
            self._after()
            return made

    def _in_replica(self, values: Any, *more: Any, **named: Any) -> Any:
        if self._after is not None:
            raise inside(self.name)
        if tf.executing_eagerly():
            raise UsageError(
                f"{self.name!r} was called inside of strategy.run, outside of a tf.function",
                where="porting.distribute()",
                next_step="Put @tf.function on the function that calls strategy.run.",
            )
        return self._replica.inlined(values, *more, **named)
