"""Running tensors of the default graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["infer", "run_feeds", "run_n"]


def run_feeds(
    output_dict: Mapping[str, Any], feed_dicts: Iterable[Any], restore_checkpoint_path: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yields the values of the tensors for each dict of feeds, in one session.

    Args:
        output_dict: Tensors by name.
        feed_dicts: Feeds of each run; None for none.
        restore_checkpoint_path: The checkpoint that variables come from; they are initialized without it.

    Raises:
        ValueError: There are no tensors, or they are not of one graph.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    graphs = {id(tensor.graph): tensor.graph for tensor in output_dict.values()}
    if len(graphs) != 1:
        raise ValueError(f"output_dict has tensors of {len(graphs)} graphs.")
    (graph,) = graphs.values()
    with graph.as_default(), tf.Session() as session:
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        if restore_checkpoint_path:
            saver = tf.get_collection(tf.GraphKeys.SAVERS)
            (saver[0] if saver else tf.train.Saver()).restore(session, restore_checkpoint_path)
        else:
            session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord=coordinator)
        try:
            for feed_dict in feed_dicts:
                yield session.run(dict(output_dict), feed_dict)
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=120)


def run_n(
    output_dict: Mapping[str, Any],
    feed_dict: Any = None,
    restore_checkpoint_path: str | None = None,
    n: int = 1,
) -> list[dict[str, Any]]:
    """The values of the tensors in each of ``n`` runs; see :func:`run_feeds`."""
    return list(run_feeds(output_dict, [feed_dict] * n, restore_checkpoint_path))


def infer(restore_checkpoint_path: str, output_dict: Mapping[str, Any], feed_dict: Any = None) -> dict[str, Any]:
    """The values of the tensors with a checkpoint's variables; see :func:`run_feeds`."""
    return run_n(output_dict, feed_dict, restore_checkpoint_path)[0]
