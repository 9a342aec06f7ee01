"""Pooling of images and volumes.

In the shapes, B is the batch, D, H and W depth, height and width, and C the channels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from .._named import named
from ..framework.arg_scope import add_arg_scope
from .utils import collect_named_outputs, n_positive_integers

__all__ = ["avg_pool2d", "avg_pool3d", "max_pool2d", "max_pool3d", "pool"]


def _pooling(function: Any, name: str, default: str, formats: tuple[str, str], doc: str) -> Callable[..., Any]:
    """A pooling layer.

    Args:
        function: The operation of ``tf.nn``.
        name: The layer's name.
        default: The name of its operations, unless the call gives another.
        formats: The ``data_format`` with the channels last, the default, and that with the channels second.
        doc: Its docstring.
    """
    last, first = formats
    n = len(last) - 2

    @add_arg_scope
    @named(name, doc)
    def layer(
        inputs: Any,
        kernel_size: Any,
        stride: Any = 2,
        padding: str = "VALID",
        data_format: str = last,
        outputs_collections: Any = None,
        scope: Any = None,
    ) -> Any:
        if data_format not in formats:
            raise ValueError(f"data_format has to be either {first} or {last}.")
        with tf.name_scope(scope, default, [inputs]) as sc:
            inputs = tf.convert_to_tensor(inputs)
            if inputs.shape.rank not in (None, n + 2):
                raise ValueError(
                    f"{default} expects inputs of rank {n + 2}, and {inputs.name} has rank {inputs.shape.rank}."
                )
            window, strides = n_positive_integers(n, kernel_size), n_positive_integers(n, stride)
            outputs = function(
                inputs,
                ksize=[1, *window, 1] if data_format == last else [1, 1, *window],
                strides=[1, *strides, 1] if data_format == last else [1, 1, *strides],
                padding=padding.upper(),
                data_format=data_format,
                name=default.removesuffix("2D"),
            )
            return collect_named_outputs(outputs_collections, sc, outputs)

    return layer


max_pool2d = _pooling(
    tf.nn.max_pool2d,
    "max_pool2d",
    "MaxPool2D",
    ("NHWC", "NCHW"),
    """The greatest value in each window.

    Args:
        inputs: [B, H, W, C]; or [B, C, H, W] with ``data_format`` "NCHW".
        kernel_size: The window's size: a number, or height and width.
        stride: A number, or two.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        outputs_collections: Collections of the output.
        scope: The name of the operations.

    Raises:
        ValueError: ``data_format``, the rank, or a size is wrong.
    """,
)
avg_pool2d = _pooling(
    tf.nn.avg_pool2d,
    "avg_pool2d",
    "AvgPool2D",
    ("NHWC", "NCHW"),
    "The mean of each window; the arguments are those of :func:`max_pool2d`.",
)
max_pool3d = _pooling(
    tf.nn.max_pool3d,
    "max_pool3d",
    "MaxPool3D",
    ("NDHWC", "NCDHW"),
    "The greatest value in each window of [B, D, H, W, C]; the arguments are like those of :func:`max_pool2d`.",
)
avg_pool3d = _pooling(
    tf.nn.avg_pool3d,
    "avg_pool3d",
    "AvgPool3D",
    ("NDHWC", "NCDHW"),
    "The mean of each window of [B, D, H, W, C]; the arguments are like those of :func:`max_pool2d`.",
)


@add_arg_scope
def pool(
    inputs: Any,
    kernel_size: Any,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: Any = 1,
    stride: Any = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Pooling in any number N of spatial dimensions S, with dilation.

    Args:
        inputs: [B, S..., C]; or [B, C, S...] where ``data_format`` starts with "NC".
        kernel_size: The window's size: a number, or one for each S.
        pooling_type: "AVG" or "MAX".
        padding: "SAME" or "VALID".
        data_format: Channels last unless it starts with "NC".
        dilation_rate: A number, or one for each S.
        stride: A number, or one for each S.
        outputs_collections: Collections of the output.
        scope: The name of the operations.

    Raises:
        ValueError: The rank is not known, or a size is wrong.
    """
    with tf.name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        n = rank - 2
        outputs = tf.nn.pool(
            inputs,
            window_shape=n_positive_integers(n, kernel_size),
            pooling_type=pooling_type,
            padding=padding,
            data_format=data_format,
            dilation_rate=n_positive_integers(n, dilation_rate),
            strides=n_positive_integers(n, stride),
            name=sc,
        )
        return collect_named_outputs(outputs_collections, sc, outputs)
