"""A step on a worker of a cluster with parameter servers: it reads the servers' variables and changes them there.

A call is one step, on the whole of what it is given, on whichever worker is free. As many threads as there are workers
keep all of them busy; their steps do not wait for each other, as in TensorFlow 1's asynchronous training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tf1sessions.errors import DeadlineError
from tf1sessions.porting.calls import GraphFunction
from tf1sessions.runtime import tf

__all__ = ["ScheduledFunction"]

tf2: Any = tf.compat.v2


class ScheduledFunction(GraphFunction):
    """A :class:`GraphFunction` whose calls run on workers.

    Args:
        coordinator: The ``ClusterCoordinator``.
        limit_secs: How long a call waits for a worker to end it.
        guard: What each call is made in.
        arguments: As there.

    Raises:
        DeadlineError: No worker has ended a call in time.
    """

    def __init__(self, coordinator: Any, limit_secs: float, guard: Any, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._coordinator = coordinator
        self._limit_secs = limit_secs
        self._guard = guard

    def _traced(self, names: Sequence[str], fixed: Mapping[str, bool]) -> Any:
        prepared = super()._traced(names, fixed)
        return _Scheduled(self, prepared, [self.inputs[name] for name in names])

    def wait_for(self, scheduled: Any) -> Any:
        event = getattr(scheduled, "_status_available_event", None)
        if event is not None and not event.wait(self._limit_secs):
            raise DeadlineError(
                f"no worker has ended the step {self.name!r} after {self._limit_secs:g} s",
                where="porting.distribute()",
                next_step="See whether the workers and parameter servers of the cluster run, or give limit_secs=.",
            )
        with self._guard():
            return tf.nest.map_structure(tf.convert_to_tensor, scheduled.fetch())

    def schedule(self, concrete: Any, values: Sequence[Any]) -> Any:
        return self._coordinator.schedule(concrete, args=tuple(values))


class _Scheduled:
    def __init__(self, function: ScheduledFunction, prepared: Any, specs: Sequence[Any]) -> None:
        self.concrete = prepared.concrete
        self._function = function
        self._specs = specs

    def __call__(self, given: Mapping[str, Any]) -> Any:
        values = [tf.convert_to_tensor(given[spec.name], spec.dtype) for spec in self._specs]
        return self._function.wait_for(self._function.schedule(self.concrete, values))
