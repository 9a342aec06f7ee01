"""Keys of requests: the fetches and feeds of a ``run`` without the values, in a form that can be hashed."""

from __future__ import annotations

from typing import Any

from tf1sessions.runtime import tf

__all__ = ["NotPlannable", "leaf_types", "leaves", "request_shape"]


class NotPlannable(Exception):
    """Not an error: this request goes the slow way each time."""


# type -> True (key by identity), False (not plannable). Filled as types are met; a dict write is atomic.
leaf_types: dict[type, bool] = {}


def is_leaf(kind: type) -> bool:
    known = leaf_types.get(kind)
    if known is None:
        known = issubclass(kind, (tf.Tensor, tf.Operation, tf.Variable, tf.SparseTensor, tf.IndexedSlices))
        leaf_types[kind] = known
    return known


# Types whose equal values are the same dict key to a reader. A bool is not among them: True == 1.
_NAME_TYPES = {str, int}


def request_shape(item: Any) -> Any:
    kind = type(item)
    if is_leaf(kind):
        return id(item)
    if kind is list or kind is tuple:
        return (kind, *[request_shape(each) for each in item])
    if kind is str:
        return item
    if kind is dict and {*map(type, item)} <= _NAME_TYPES:
        return (dict, *item, *[request_shape(each) for each in item.values()])
    if isinstance(item, tuple) and hasattr(kind, "_fields") and not hasattr(kind, "__attrs_attrs__"):
        return (kind, *[request_shape(each) for each in item])
    raise NotPlannable


def leaves(item: Any) -> list[Any]:
    """Return what a key's ids stand for; a plan holds these, so that no other object can get the same id."""
    if isinstance(item, (list, tuple)):
        return [leaf for each in item for leaf in leaves(each)]
    if isinstance(item, dict):
        return [leaf for each in item.values() for leaf in leaves(each)]
    return [item]
