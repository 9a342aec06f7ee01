"""Arguments of ``tf.parse_example`` for a canned estimator: its features, its label and its weight."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["classifier_parse_example_spec", "regressor_parse_example_spec"]


def classifier_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = tf.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Feature -> its ``FixedLenFeature`` or ``VarLenFeature``, for a classifier.

    Args:
        feature_columns: Those of the classifier.
        label_key: The feature of the examples that is the label.
        label_dtype: ``tf.int64``, or ``tf.string`` for a classifier with a vocabulary.
        label_default: The label of examples without one.
        weight_column: That of the classifier.

    Raises:
        ValueError: The label or the weight is among the features, or is no key or column.
    """
    label = tf.FixedLenFeature((1,), label_dtype, label_default)
    return _add_label_and_weight(
        tf.feature_column.make_parse_example_spec(feature_columns), label_key, label, weight_column
    )


def regressor_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = tf.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Feature -> its ``FixedLenFeature`` or ``VarLenFeature``, for a regressor.

    Args:
        feature_columns: Those of the regressor.
        label_key: The feature of the examples that is the label.
        label_dtype: A type of numbers.
        label_default: The label of examples without one.
        label_dimension: How many numbers it has.
        weight_column: That of the regressor.

    Raises:
        ValueError: The label or the weight is among the features, or is no key or column.
    """
    label = tf.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _add_label_and_weight(
        tf.feature_column.make_parse_example_spec(feature_columns), label_key, label, weight_column
    )


def _add_label_and_weight(spec: dict[str, Any], label_key: str, label: Any, weight_column: Any) -> dict[str, Any]:
    if label_key is None:
        raise ValueError("label_key should not be None.")
    if label_key in spec:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}, features: {sorted(spec)}")
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = tf.feature_column.numeric_column(weight_column)
    if not hasattr(weight_column, "normalizer_fn"):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column.  "
            f"Given type: {type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            f"weight_column should not be used as feature. weight_column: {weight_column.key}, features: {sorted(spec)}"
        )
    spec.update(tf.feature_column.make_parse_example_spec([weight_column]))
    return spec
