"""Following the beams back from their last step."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["gather_tree"]


def gather_tree(
    step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any, name: str | None = None
) -> Any:
    """The symbols of whole beams, from the symbols of each step and the beams that they continue.

    1.15 had an operation of its own for this, which is gone; this is a loop over the steps.

    Args:
        step_ids: int32 [T, B, K].
        parent_ids: int32 [T, B, K], below K.
        max_sequence_lengths: int32 [B]: the steps of each example, the same for its beams.
        end_token: int32, a scalar: fills up each beam behind its first ``end_token`` and behind its steps.
        name: The name of the operations.

    Returns:
        int32 [T, B, K].
    """
    with tf.name_scope(name, "GatherTree", [step_ids, parent_ids, max_sequence_lengths, end_token]):
        step_ids = tf.convert_to_tensor(step_ids, tf.int32)
        parent_ids = tf.convert_to_tensor(parent_ids, tf.int32)
        end_token = tf.convert_to_tensor(end_token, tf.int32)
        steps, batch, beams = tf.unstack(tf.shape(step_ids))
        inside = tf.sequence_mask(max_sequence_lengths, steps)  # [B, T]
        inside = tf.tile(tf.expand_dims(tf.transpose(inside), 2), [1, 1, beams])

        def back(carried: tuple[Any, Any], step: tuple[Any, Any, Any]) -> tuple[Any, Any]:
            _, beam = carried
            ids, parents, within = step
            found = tf.where(within, tf.gather(ids, beam, axis=1, batch_dims=1), tf.fill([batch, beams], end_token))
            return found, tf.where(within, tf.gather(parents, beam, axis=1, batch_dims=1), beam)

        last = tf.tile(tf.expand_dims(tf.range(beams), 0), [batch, 1])
        found, _ = tf.scan(back, (step_ids, parent_ids, inside), initializer=(last, last), reverse=True)
        ended = tf.cumsum(tf.cast(tf.equal(found, end_token), tf.int32), axis=0, exclusive=True) > 0
        found = tf.where(ended, tf.fill(tf.shape(found), end_token), found)
        found.set_shape(step_ids.shape)
        return found
