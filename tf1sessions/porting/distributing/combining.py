"""Tensors of all replicas as one: their sum, the mean over the batch, their rows one after another.

Within a process there is no collective operation: what the replicas have is copied to one device, combined there, and
read by all. Collectives are known by numbers that strategies count for themselves, so two strategies in a process take
each other's (tensorflow#61314, #35878). Between processes they are the only way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from tf1sessions.runtime import tf

__all__ = ["BatchPart", "Combiner"]

tf2: Any = tf.compat.v2


@dataclasses.dataclass(frozen=True)
class BatchPart:
    """The part of a batch that a replica has. Made in a replica.

    Attributes:
        begin, size: Where its rows begin, and how many they are: scalars.
        share: Which part of all rows these are: a float scalar.
    """

    begin: Any
    size: Any
    share: Any

    @classmethod
    def of(cls, rows: Any, replicas: int) -> BatchPart:
        """The part of this replica; the first ones have one row more where the rows do not divide.

        Args:
            rows: How many rows the batch has: an int32 scalar.
            replicas: How many replicas there are.
        """
        place = tf.cast(tf2.distribute.get_replica_context().replica_id_in_sync_group, tf.int32)
        each, left = rows // replicas, rows % replicas
        size = each + tf.cast(place < left, tf.int32)
        return cls(place * each + tf.minimum(place, left), size, tf.cast(size, tf.float32) / tf.cast(rows, tf.float32))

    def take(self, value: Any, axis: int) -> Any:
        """Take these rows of a value."""
        places = [slice(None)] * axis + [slice(self.begin, self.begin + self.size)]
        return value[tuple(places)]


class Combiner:
    """Combines in a replica of a strategy.

    Args:
        collective: Whether replicas are in several processes.
        limit_secs: How long a collective waits for the other processes.
    """

    def __init__(self, collective: bool, limit_secs: float) -> None:
        self._options = tf2.distribute.experimental.CommunicationOptions(timeout_seconds=limit_secs)
        self._collective = collective

    def __call__(self, values: Sequence[Any], ways: Sequence[str], share: Any = None) -> list[Any]:
        """Combine tensors.

        Args:
            values: What this replica has of each.
            ways: How each is combined: ``"mean"``, ``"sum"``, ``"concat"``, ``"concat_mean"`` or ``"first"``.
            share: This replica's part of the batch, for means.

        Returns:
            The tensors, the same on each replica.
        """
        if not values:
            return []
        weighted = [
            value * tf.cast(share, value.dtype) if way.endswith("mean") else tf.identity(value)
            for value, way in zip(values, ways, strict=True)
        ]
        kinds = [{"mean": "sum", "concat_mean": "concat"}.get(way, way) for way in ways]
        if self._collective:
            return self._between_processes(weighted, kinds)
        context = tf2.distribute.get_replica_context()
        return list(context.merge_call(_merged, args=(tuple(kinds), *weighted)))

    def _between_processes(self, values: Sequence[Any], kinds: Sequence[str]) -> list[Any]:
        context = tf2.distribute.get_replica_context()
        is_first = tf.equal(context.replica_id_in_sync_group, 0)
        found = list(values)
        summed = {}
        for place, (value, kind) in enumerate(zip(values, kinds, strict=True)):
            if value.dtype == tf.string:
                continue  # there is no collective for text: each process has its own
            if kind == "concat":
                found[place] = context.all_gather(value, axis=0, options=self._options)
            elif kind == "sum":
                summed[place] = value
            else:
                number = tf.cast(value, tf.int32) if value.dtype == tf.bool else value
                summed[place] = tf.where(is_first, number, tf.zeros_like(number))
        if summed:
            totals = context.all_reduce(tf2.distribute.ReduceOp.SUM, list(summed.values()), options=self._options)
            for place, total in zip(summed, totals, strict=True):
                found[place] = tf.cast(total, values[place].dtype)
        return found


def _merged(strategy: Any, kinds: Sequence[str], *values: Any) -> tuple[Any, ...]:
    """Combine what the replicas of this process have; called once for all of them."""
    made = []
    for kind, value in zip(kinds, values, strict=True):
        parts = strategy.experimental_local_results(value)
        if kind == "sum":
            made.append(tf.add_n(parts))
        else:
            made.append(tf.concat(parts, 0) if kind == "concat" else parts[0])
    return tuple(made)
