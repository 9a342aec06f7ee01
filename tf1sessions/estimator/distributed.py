"""Training and evaluation by a ``tf.distribute`` strategy: in one graph, a model for each replica.

::

    input_fn ─▶ the strategy's iterator: a batch for each replica
    call_for_each_replica(model_fn) ─▶ an EstimatorSpec for each
    combined: the losses as one, all train operations, the first replica's hooks, a scaffold

So a step takes as many batches of ``input_fn`` as there are replicas: the global batch is that many times as large.
Threads of the strategy call ``model_fn``, one at a time. A last step for which there are fewer batches does nothing; on
1.15.5 it was left to chance which replicas had updated metrics and moving averages when it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..runtime import tf1 as tf
from .model_fn import EstimatorSpec
from .util import is_dataset, log, parse_iterator_result

__all__ = ["IteratorHook", "Replicas", "checked_strategy"]


class IteratorHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Initializes a strategy's iterator in each new session, and warns once of batches that will be left out.

    Args:
        iterator: The iterator.
        batches: A tensor: how many there are, or a negative number where that is not known; or None.
        replicas: How many batches a step takes.
    """

    def __init__(self, iterator: Any, batches: Any, replicas: int) -> None:
        self._iterator = iterator
        self._batches = batches
        self._replicas = replicas
        self._initializer: Any = None

    def begin(self) -> None:
        self._initializer = self._iterator.initialize()

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        session.run(self._initializer)
        batches = -1 if self._batches is None else int(session.run(self._batches))
        self._batches = None
        if batches > 0 and batches % self._replicas:
            log.warning(
                "The last %d of %d batches are left out: each step takes one for each of %d replicas.",
                batches % self._replicas,
                batches,
                self._replicas,
            )


class Replicas:
    """The results of ``model_fn`` on each replica of a strategy, whose scope must be open.

    Args:
        strategy: Of ``tf.compat.v1.distribute``.
        input_fn: A function of the strategy's InputContext that returns a dataset of a replica's batches.
        model_fn: A function of features and labels.
        metrics_of: The metrics of an EstimatorSpec, where they are asked for: name -> (value, update).
    """

    def __init__(
        self,
        strategy: Any,
        input_fn: Callable[[Any], Any],
        model_fn: Callable[[Any, Any], EstimatorSpec],
        metrics_of: Callable[[EstimatorSpec], dict[str, Any]] | None = None,
    ) -> None:
        self._strategy = strategy
        self._specs: dict[int, EstimatorSpec] = {}
        self._metrics: dict[int, dict[str, Any]] = {}
        results: list[Any] = []

        def noting_input_fn(context: Any) -> Any:
            results.append(input_fn(context))
            return results[-1]

        iterator = strategy.make_input_fn_iterator(noting_input_fn)
        features_and_labels = parse_iterator_result(iterator.get_next())
        ready = [
            tensor
            for value in tf.nest.flatten(features_and_labels)
            for tensor in tf.nest.flatten(strategy.experimental_local_results(value), expand_composites=True)
            if tensor is not None
        ]

        def call(features: Any, labels: Any) -> Any:
            with tf.control_dependencies(ready):
                features, labels = tf.nest.map_structure(_identity, (features, labels), expand_composites=True)
            replica = int(tf.get_static_value(tf.distribute.get_replica_context().replica_id_in_sync_group))
            spec = self._specs[replica] = model_fn(features, labels)
            if metrics_of is not None:
                self._metrics[replica] = metrics_of(spec)
            return spec.loss

        self._losses = strategy.extended.call_for_each_replica(call, args=features_and_labels)
        number = strategy.num_replicas_in_sync
        only = results[0] if len(results) == 1 and is_dataset(results[0]) else None
        # Last: operations that it makes before the model would change the model's seeds.
        batches = None if only is None else tf.data.experimental.cardinality(only)
        self.input_hook = IteratorHook(iterator, batches, number)

    def spec(self) -> EstimatorSpec:
        """One EstimatorSpec for all replicas: the loss to be logged, and the train operation."""
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


def _identity(value: Any) -> Any:
    return None if value is None else tf.identity(value)


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

    first = scaffolds[0]
    init = None if first.init_fn is None else lambda _, session: first.init_fn(session)
    return tf.train.Scaffold(
        init_op=grouped("init_op"),
        init_feed_dict=feeds("init_feed_dict"),
        init_fn=init,
        ready_op=names("ready_op"),
        ready_for_local_init_op=names("ready_for_local_init_op"),
        local_init_op=grouped("local_init_op"),
        summary_op=first.summary_op,
        saver=first.saver,
    )


def checked_strategy(strategy: Any, name: str) -> Any:
    """A strategy that trains or evaluates in the graph of this process.

    Args:
        strategy: What RunConfig got; it may be None.
        name: The argument of RunConfig that it came by.

    Returns:
        The strategy, or None where the Estimator does by itself what it would do: put variables on the parameter
        servers of TF_CONFIG.

    Raises:
        ValueError: It is one for several machines.
    """
    if strategy is None or not strategy.extended._in_multi_worker_mode():
        return strategy
    servers = isinstance(strategy, tf.distribute.experimental.ParameterServerStrategy)
    if servers and strategy.num_replicas_in_sync == 1:
        return None
    raise ValueError(
        f"RunConfig({name}=...) is for the devices of one machine, or for parameter servers with a replica on each "
        f"worker, and {type(strategy).__name__} has {strategy.num_replicas_in_sync} replicas on the cluster of "
        "TF_CONFIG. Leave it out: train_and_evaluate() then trains by the cluster's parameter servers."
    )
