"""Training and evaluation by a ``tf.distribute`` strategy: in one graph, a model for each replica.

::

    input_fn ─▶ the strategy's iterator: a batch for each replica
    call_for_each_replica(model_fn) ─▶ an EstimatorSpec for each
    combined: the losses as one, all train operations, the first replica's hooks, a scaffold

So a step takes as many batches of ``input_fn`` as there are replicas: the global batch is that many times as large.
Threads of the strategy call ``model_fn``, one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..runtime import tf1 as tf
from .model_fn import EstimatorSpec
from .util import parse_iterator_result

__all__ = ["IteratorHook", "Replicas", "check_strategy"]


class IteratorHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Initializes a strategy's iterator in each new session."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator
        self._initializer: Any = None

    def begin(self) -> None:
        self._initializer = self._iterator.initialize()

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        session.run(self._initializer)


class Replicas:
    """What ``model_fn`` returns on each replica of a strategy, whose scope must be open.

    Args:
        strategy: Of ``tf.compat.v1.distribute``.
        input_fn: Takes nothing, and returns a dataset of a replica's batches.
        model_fn: A function of features and labels.
        metrics_of: The metrics of an EstimatorSpec, where they are asked for: name -> (value, update).
    """

    def __init__(
        self,
        strategy: Any,
        input_fn: Callable[[], Any],
        model_fn: Callable[[Any, Any], EstimatorSpec],
        metrics_of: Callable[[EstimatorSpec], dict[str, Any]] | None = None,
    ) -> None:
        self._strategy = strategy
        self._specs: dict[int, EstimatorSpec] = {}
        self._metrics: dict[int, dict[str, Any]] = {}
        iterator = strategy.make_input_fn_iterator(lambda _: input_fn())
        self.input_hook = IteratorHook(iterator)

        def call(features: Any, labels: Any) -> Any:
            replica = int(tf.get_static_value(tf.distribute.get_replica_context().replica_id_in_sync_group))
            spec = self._specs[replica] = model_fn(features, labels)
            if metrics_of is not None:
                self._metrics[replica] = metrics_of(spec)
            return spec.loss

        self._losses = strategy.extended.call_for_each_replica(call, args=parse_iterator_result(iterator.get_next()))

    def spec(self) -> EstimatorSpec:
        """One EstimatorSpec for all replicas: their loss as it is told, and what trains them."""
        loss = self._strategy.reduce(tf.distribute.get_loss_reduction(), self._losses, axis=None)
        specs = [self._specs[replica] for replica in sorted(self._specs)]
        trains = [spec.train_op for spec in specs if spec.train_op is not None]
        return specs[0]._replace(
            loss=loss,
            train_op=tf.group(*trains) if trains else None,
            scaffold=_one_scaffold([spec.scaffold for spec in specs]),
        )

    def metrics(self) -> tuple[Any, dict[str, Any]]:
        """One op that updates the metrics of all replicas, and the values, which are of all replicas, by name."""
        updates = [update for metrics in self._metrics.values() for _, update in metrics.values()]
        return tf.group(*updates), {name: value for name, (value, _) in self._metrics[0].items()}


def _one_scaffold(scaffolds: Sequence[Any]) -> Any:
    """A scaffold that initializes what those of all replicas do; the rest is the first one's."""

    def of_all(name: str) -> list[Any]:
        return [value for value in (getattr(scaffold, name) for scaffold in scaffolds) if value is not None]

    def grouped(name: str) -> Any:
        found = of_all(name)
        return tf.group(*found) if found else None

    def names(name: str) -> Any:
        found = of_all(name)
        return tf.concat(found, 0) if found else None

    def feeds(name: str) -> Any:
        merged: dict[Any, Any] = {}
        for found in of_all(name):
            merged.update(found)
        return merged or None

    def init(_: Any, session: Any) -> None:
        for function in functions:
            function(session)

    functions = of_all("init_fn")
    return tf.train.Scaffold(
        init_op=grouped("init_op"),
        init_feed_dict=feeds("init_feed_dict"),
        init_fn=init if functions else None,
        ready_op=names("ready_op"),
        ready_for_local_init_op=names("ready_for_local_init_op"),
        local_init_op=grouped("local_init_op"),
        summary_op=scaffolds[0].summary_op,
        saver=scaffolds[0].saver,
    )


def check_strategy(strategy: Any, name: str) -> None:
    """Check that a strategy can train in the graph of this process.

    Args:
        strategy: The strategy.
        name: The argument of RunConfig that it came by.

    Raises:
        ValueError: It is one for several machines, or of TensorFlow 2.
    """
    if not hasattr(strategy, "make_input_fn_iterator"):
        raise ValueError(
            f"RunConfig({name}=...) got {strategy}, which has no graphs. Take the strategy of this name in "
            "tf.compat.v1.distribute."
        )
    if strategy.extended._in_multi_worker_mode():
        raise ValueError(
            f"RunConfig({name}=...) is for the devices of one machine here, and {strategy} is for the cluster of "
            "TF_CONFIG. Leave it out: train_and_evaluate() then trains by parameter servers."
        )
