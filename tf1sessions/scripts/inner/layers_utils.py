"""``tensorflow.python.layers.utils``: lengths of convolutions, arguments of layers, conditions."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = [
    "constant_value",
    "conv_input_length",
    "conv_output_length",
    "convert_data_format",
    "deconv_output_length",
    "get_reachable_from_inputs",
    "normalize_data_format",
    "normalize_padding",
    "normalize_tuple",
    "object_list_uid",
    "smart_cond",
    "static_shape",
]

_RANKS = {3: "W", 4: "HW", 5: "DHW"}


def convert_data_format(data_format: str, ndim: int) -> str:
    """The name of a format in ``tf.nn``: "NHWC" for "channels_last" and tensors of rank 4.

    Raises:
        ValueError: There is no such format, or none of that rank.
    """
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in _RANKS:
        raise ValueError("Input rank not supported:", ndim)
    return f"N{_RANKS[ndim]}C" if data_format == "channels_last" else f"NC{_RANKS[ndim]}"


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """``value`` as a tuple of ``n`` integers: itself, or ``n`` times an integer.

    Raises:
        ValueError: It is neither; the message has ``name``.
    """
    if isinstance(value, int):
        return (value,) * n
    wrong = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        values = tuple(value)
    except TypeError:
        raise ValueError(wrong) from None
    if len(values) != n:
        raise ValueError(wrong)
    for each in values:
        try:
            int(each)
        except (ValueError, TypeError):
            raise ValueError(f"{wrong} including element {each} of type {type(each)}") from None
    return values


def normalize_data_format(value: str) -> str:
    """``value`` in lower case, if it is a format.

    Raises:
        ValueError: It is none.
    """
    return _one_of(value, "data_format", '"channels_first", "channels_last"')


def normalize_padding(value: str) -> str:
    """``value`` in lower case, if it is a padding of a convolution.

    Raises:
        ValueError: It is none.
    """
    return _one_of(value, "padding", '"valid", "same"')


def _one_of(value: str, name: str, allowed: str) -> str:
    lower = value.lower()
    if f'"{lower}"' not in allowed.split(", "):
        raise ValueError(f"The `{name}` argument must be one of {allowed}. Received: {value}")
    return lower


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The length that a convolution gives; None where that of its input is not known.

    Args:
        input_length: The length of the input.
        filter_size: The length of the filter.
        padding: "same", "valid" or "full".
        stride: The steps of the filter.
        dilation: The distance of its elements.
    """
    if input_length is None:
        return None
    assert padding in {"same", "valid", "full"}
    reach = (filter_size - 1) * dilation
    length = input_length + {"same": 0, "valid": -reach, "full": reach}[padding]
    return (length + stride - 1) // stride


def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The length of the input from which a convolution gives ``output_length``; see :func:`conv_output_length`."""
    if output_length is None:
        return None
    assert padding in {"same", "valid", "full"}
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The length that a transposed convolution gives; see :func:`conv_output_length`."""
    if input_length is None:
        return None
    more = {"valid": max(filter_size - stride, 0), "full": -(stride + filter_size - 2)}.get(padding, 0)
    return input_length * stride + more


def smart_cond(
    pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: Any = None
) -> Any:
    """``tf.cond``, or what one of its functions returns where ``pred`` is a constant."""
    tf: Any = sys.modules["tensorflow"]
    if isinstance(pred, tf.Variable):
        return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    smart: Any = importlib.import_module("tensorflow.python.framework.smart_cond")
    return smart.smart_cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def constant_value(pred: Any) -> bool | None:
    """The bool that a tensor is known to be, or that ``pred`` is (1 and 0, too); None where that is not known.

    Raises:
        TypeError: ``pred`` is something else.
    """
    tf: Any = sys.modules["tensorflow"]
    if isinstance(pred, tf.Variable):
        return None
    if isinstance(pred, tf.Tensor):
        value: bool | None = tf.get_static_value(pred)
        return value
    if isinstance(pred, (bool, int)) and pred in (0, 1):
        return bool(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")


def object_list_uid(object_list: Any) -> str:
    """A name for these very objects, in this order."""
    values: Iterable[Any] = object_list if isinstance(object_list, (list, tuple)) else [object_list]
    return ", ".join(str(abs(id(value))) for value in values)


def static_shape(x: Any) -> tuple[int | None, ...] | None:
    """The shape of ``x`` as a tuple; None if its rank is not known."""
    try:
        return tuple(x.get_shape().as_list())
    except ValueError:
        return None


def get_reachable_from_inputs(inputs: Any, targets: Any = None) -> set[Any]:
    """The tensors that depend on ``inputs``, and those; only until ``targets`` are found, if there are any.

    Raises:
        TypeError: One is neither a tensor, a variable nor an operation.
    """
    tf: Any = sys.modules["tensorflow"]
    found: set[Any] = _by_identity(inputs)
    wanted = _by_identity(targets)
    waiting: list[Any] = list(found)
    while waiting:
        value = waiting.pop()
        if isinstance(value, tf.Operation):
            following: Sequence[Any] = value.outputs
        elif isinstance(value, tf.Tensor):
            following = value.consumers()
        elif isinstance(value, tf.Variable):
            following = [value.op] if hasattr(value, "op") else []
        else:
            raise TypeError(f"Expected Operation, Variable, or Tensor, got {value}")
        for each in following:
            if each not in found:
                waiting.append(each)
                if not isinstance(each, tf.Operation):
                    found.add(each)
        if targets is not None and wanted <= found:
            return found
    return found


def _by_identity(values: Any) -> set[Any]:
    flat: Iterable[Any] = values if isinstance(values, (list, tuple, set)) else [] if values is None else [values]
    return set(flat)
