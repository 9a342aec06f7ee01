"""classify and regress: ``tf.train.Example`` messages in, classes with scores or values out."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf1sessions.models.model import Signature
from tf1sessions.runtime import tf
from tf1sessions.serving.answers import RequestError

__all__ = ["CLASSIFY", "REGRESS", "check_method", "classes_and_scores", "example_input", "of_json", "regressed"]

CLASSIFY = "tensorflow/serving/classify"
REGRESS = "tensorflow/serving/regress"


def check_method(signature: Signature, method: str, wanted: str) -> None:
    """Raises RequestError when a signature is not for this method."""
    if method != wanted:
        raise RequestError(
            f"Expected the method name of the signature {signature.name!r} to be {wanted}, and it is {method or 'none'}"
        )


def example_input(signature: Signature) -> str:
    """The input of a signature that takes serialized examples.

    Raises:
        RequestError: It has none.
    """
    (name, spec), *more = signature.inputs.items()
    if more or spec.dtype != tf.string:
        raise RequestError(f"The signature {signature.name!r} does not take tf.Example messages")
    return name


def of_json(request: Mapping[str, Any]) -> NDArray[Any]:
    """The serialized examples of a classify or regress request.

    Raises:
        RequestError: ``examples`` is no list of objects, or a value is none of a feature.
    """
    examples, context = request.get("examples"), request.get("context", {})
    if not isinstance(examples, list) or not examples or not isinstance(context, dict):
        raise RequestError("'examples' is not a list with an object for each example, or 'context' is no object")
    found = np.empty(len(examples), object)
    for number, each in enumerate(examples):
        if not isinstance(each, dict) or context.keys() & each.keys():
            raise RequestError(f"examples[{number}] is no object of features, or repeats one of the context")
        example = tf.train.Example()
        for name, value in {**context, **each}.items():
            _set(example.features.feature[name], value, name)
        found[number] = example.SerializeToString()
    return found


def _set(feature: Any, value: Any, name: str) -> None:
    values = value if isinstance(value, list) else [value]
    if all(isinstance(each, bool) or not isinstance(each, (int, float)) for each in values):
        feature.bytes_list.value.extend(_bytes(each, name) for each in values)
        return
    if any(isinstance(each, bool) or not isinstance(each, (int, float)) for each in values):
        raise RequestError(f"The feature {name!r} has values of several types")
    try:
        if all(isinstance(each, int) for each in values):
            feature.int64_list.value.extend(values)
        else:
            feature.float_list.value.extend(map(float, values))
    except (ValueError, OverflowError) as error:
        raise RequestError(f"A number of the feature {name!r} is out of range: {error}") from None


def _bytes(value: Any, name: str) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    if isinstance(value, dict) and value.keys() == {"b64"} and isinstance(value["b64"], str):
        try:
            return base64.b64decode(value["b64"], validate=True)
        except (binascii.Error, ValueError):
            raise RequestError(f"A value of the feature {name!r} is no base64") from None
    raise RequestError(f"A value of the feature {name!r} is neither a number, a string nor an object with b64")


def classes_and_scores(outputs: Mapping[str, NDArray[Any]]) -> list[list[tuple[str, float]]]:
    """For each example its classes, with their scores; ``""`` or 0.0 for what the model does not give.

    Raises:
        RequestError: The outputs are not those of a classifier.
    """
    classes, scores = outputs.get("classes"), outputs.get("scores")
    first = classes if classes is not None else scores
    if (
        first is None
        or first.ndim != 2
        or (classes is not None and scores is not None and classes.shape != scores.shape)
    ):
        raise RequestError("The model does not give 'classes' and 'scores' of the shape [examples, classes]")
    names: Sequence[Any] = [[""] * first.shape[1]] * first.shape[0] if classes is None else classes.tolist()
    values = np.zeros(first.shape) if scores is None else scores
    return [
        [(_text(name), float(score)) for name, score in zip(row, each, strict=True)]
        for row, each in zip(names, values, strict=True)
    ]


def regressed(outputs: Mapping[str, NDArray[Any]]) -> list[float]:
    """For each example its value.

    Raises:
        RequestError: The outputs are not those of a regressor.
    """
    values = outputs.get("outputs")
    if values is None or values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] != 1):
        raise RequestError("The model does not give 'outputs' of the shape [examples] or [examples, 1]")
    return [float(each) for each in values.reshape(-1)]


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
