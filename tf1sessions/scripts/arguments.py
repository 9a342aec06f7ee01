"""Arguments that functions of 1.15 took and today's do not, or take elsewhere.

Data flow: :func:`apply` replaces the functions of the table on the face by ones that accept 1.15's arguments, by
position and by name, and hand them on. A function reachable under several names is replaced under each of them.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["NAMED_ONLY", "ORDERS", "RENAMED", "apply", "renamed", "replace"]

_TENSOR_SCATTER = ("tensor", "indices", "updates", "name")

# function -> 1.15's arguments, of which the last is elsewhere today
ORDERS: dict[str, tuple[str, ...]] = {
    "image.adjust_jpeg_quality": ("image", "jpeg_quality", "name"),
    "linalg.matmul": (
        "a", "b", "transpose_a", "transpose_b", "adjoint_a", "adjoint_b", "a_is_sparse", "b_is_sparse", "name",
    ),
    "matmul": (
        "a", "b", "transpose_a", "transpose_b", "adjoint_a", "adjoint_b", "a_is_sparse", "b_is_sparse", "name",
    ),
    "math.top_k": ("input", "k", "sorted", "name"),
    "nn.top_k": ("input", "k", "sorted", "name"),
    "numpy_function": ("func", "inp", "Tout", "name"),
    "scatter_nd": ("indices", "updates", "shape", "name"),
    "manip.scatter_nd": ("indices", "updates", "shape", "name"),
    "tensor_scatter_add": _TENSOR_SCATTER,
    "tensor_scatter_nd_add": _TENSOR_SCATTER,
    "tensor_scatter_sub": _TENSOR_SCATTER,
    "tensor_scatter_nd_sub": _TENSOR_SCATTER,
}  # fmt: skip

# function -> {1.15's name of an argument: today's}
RENAMED: dict[str, dict[str, str]] = {
    "config.experimental.set_virtual_device_configuration": {"virtual_devices": "logical_devices"},
    "random.experimental.create_rng_state": {"algorithm": "alg"},
    "keras.preprocessing.text.one_hot": {"text": "input_text"},
    "keras.preprocessing.text.text_to_word_sequence": {"text": "input_text"},
    "keras.utils.serialize_keras_object": {"instance": "obj"},
}

# losses whose first argument was a sentinel, which made all others named
NAMED_ONLY = (
    "nn.sigmoid_cross_entropy_with_logits",
    "nn.softmax_cross_entropy_with_logits",
    "nn.sparse_softmax_cross_entropy_with_logits",
)


def apply(face: ModuleType) -> None:
    """Replace the functions of the tables on ``face``, once."""
    for path, order in ORDERS.items():
        replace(face, path, functools.partial(_ordered, order=order))
    for path, names in RENAMED.items():
        replace(face, path, functools.partial(renamed, names=names))
    for path in NAMED_ONLY:
        replace(face, path, _named_only)


def replace(face: ModuleType, path: str, wrap: Callable[[Any], Any]) -> None:
    """Replace the function at ``path`` of the face by ``wrap(function)``, so that it can be pickled as before."""
    *modules, name = path.split(".")
    owner: Any = face
    for module in modules:
        owner = getattr(owner, module)
    original = getattr(owner, name, None)
    if original is None:
        return
    inside = sys.modules.get(original.__module__)
    own: Any = getattr(inside, original.__name__, None)
    if own is original and isinstance(own, types.FunctionType):  # it stays the public one: so it can be pickled
        own = wrap(original)
        setattr(inside, own.__name__, own)
    setattr(owner, name, own if getattr(own, "__wrapped__", None) is original else wrap(original))


def _ordered(original: Callable[..., Any], order: tuple[str, ...]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) == len(order):  # the last one is what moved
            *args, kwargs[order[-1]] = args  # type: ignore[assignment]
        return original(*args, **kwargs)

    return call


def renamed(original: Callable[..., Any], names: dict[str, str]) -> Callable[..., Any]:
    """A function that takes arguments by 1.15's names: {1.15's: today's}; not all versions have renamed all of them."""
    known = inspect.signature(original).parameters
    names = {old: new for old, new in names.items() if new in known or old not in known}

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **{names.get(key, key): value for key, value in kwargs.items()})

    return call


def _named_only(original: Callable[..., Any]) -> Callable[..., Any]:
    """1.15 refuses labels and logits by position: their order had changed with TensorFlow 1.0."""

    @functools.wraps(original)
    def call(*args: Any, _sentinel: Any = None, **kwargs: Any) -> Any:
        if args or _sentinel is not None:
            raise ValueError(
                f"Only call `{original.__name__}` with named arguments (labels=..., logits=..., ...): TensorFlow 1 "
                "refuses them by position."
            )
        return original(**kwargs)

    return call
