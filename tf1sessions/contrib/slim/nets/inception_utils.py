"""The arg scope of Inception networks."""

from __future__ import annotations

from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import arg_scope

__all__ = ["inception_arg_scope"]


def inception_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    activation_fn: Any = tf.nn.relu,
    batch_norm_updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    batch_norm_scale: bool = False,
) -> Any:
    """The arg scope in which Inception networks of version 4 are built.

    Args:
        weight_decay: Scales the L2 penalty of weights.
        use_batch_norm: Whether batch normalization follows each convolution.
        batch_norm_decay: The decay of its moving averages.
        batch_norm_epsilon: Added to its variances.
        activation_fn: The activation of convolutions.
        batch_norm_updates_collections: The collections of the averages' updates.
        batch_norm_scale: Whether there is the factor ``gamma``.
    """
    return convolutions_scope(
        weight_decay,
        {
            "decay": batch_norm_decay,
            "epsilon": batch_norm_epsilon,
            "updates_collections": batch_norm_updates_collections,
            "fused": None,
            "scale": batch_norm_scale,
        }
        if use_batch_norm
        else None,
        activation_fn,
    )


def convolutions_scope(weight_decay: float, normalization: dict[str, Any] | None, activation_fn: Any) -> Any:
    """An arg scope with an L2 penalty of weights and, given its arguments, batch normalization of convolutions."""
    with (
        arg_scope([layers.conv2d, layers.fully_connected], weights_regularizer=layers.l2_regularizer(weight_decay)),
        arg_scope(
            [layers.conv2d],
            weights_initializer=layers.variance_scaling_initializer(),
            activation_fn=activation_fn,
            normalizer_fn=None if normalization is None else layers.batch_norm,
            normalizer_params={} if normalization is None else normalization,
        ) as scope,
    ):
        return scope


def moving_averages_in(collection: str) -> dict[str, Any]:
    """The argument ``variables_collections`` of batch normalization that puts its moving averages there."""
    return {"beta": None, "gamma": None, "moving_mean": [collection], "moving_variance": [collection]}
