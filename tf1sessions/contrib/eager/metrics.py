"""``tf.contrib.eager.metrics``: metrics that are objects with variables of their own.

Called with values, a metric adds these; ``result()`` is what it is so far. In a graph, both return what is to be run,
and the variables are local ones.
"""

from __future__ import annotations

import re
from typing import Any

from ...runtime import tf1 as tf
from .. import summary

__all__ = ["Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "Mean", "Metric", "SparseAccuracy"]


class Metric:
    """Base of metrics: subclasses give ``build``, which makes variables, ``call``, which changes them, and ``result``.

    Args:
        name: Of the scope of the variables; the name of the class without it.
        use_global_variables: Whether the variables in a graph are global ones.
    """

    def __init__(self, name: str | None = None, use_global_variables: bool = False) -> None:
        self._built = False
        self._variables: list[Any] = []
        self._initial: list[Any] = []
        self._use_global_variables = use_global_variables
        name = name or type(self).__name__
        scope = re.sub("[^A-Za-z0-9.]", "", name) if not tf.executing_eagerly() else name
        with tf.variable_scope(None, default_name=scope, use_resource=True, reuse=False) as found:
            self._scope = found.name
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def variables(self) -> list[Any]:
        return self._variables

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds values; returns what ``call`` returns."""
        if not self._built:
            with tf.init_scope():
                self.build(*args, **kwargs)
            self._built = True
        return self.call(*args, **kwargs)

    def init_variables(self) -> Any:
        """Sets the variables to what they began with; in a graph, the operation that does so."""
        if tf.executing_eagerly():
            for variable, initial in zip(self._variables, self._initial, strict=True):
                variable.assign(initial)
            return None
        return tf.group(*[variable.initializer for variable in self._variables])

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables; called before the first ``call``, with the same arguments."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Adds values."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Any:
        """Return what the metric is so far."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Any:
        """Return ``result()``."""
        return self.result()

    def aggregate(self, metrics: Any) -> None:
        """Adds what metrics of the same kind have."""
        for metric in metrics:
            if type(metric) is not type(self):
                raise TypeError(f"aggregate() takes metrics of type {type(self).__name__}, and {metric} is none")
            for mine, theirs in zip(self._variables, metric._variables, strict=True):
                mine.assign_add(theirs)

    def add_variable(self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None) -> Any:
        """Makes a variable; only in ``build``."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        collection = tf.GraphKeys.GLOBAL_VARIABLES if self._use_global_variables else tf.GraphKeys.LOCAL_VARIABLES
        dtype = tf.as_dtype(dtype or tf.float32)
        initializer = initializer or tf.zeros_initializer()
        variable = tf.Variable(
            lambda: initializer(shape or (), dtype=dtype),
            trainable=False,
            collections=[collection],
            dtype=dtype,
            name=f"{self._scope}/{name}",
            use_resource=True,
        )
        self._variables.append(variable)
        if tf.executing_eagerly():
            self._initial.append(variable.numpy())
        return variable


class Mean(Metric):
    """The mean of values, with weights.

    Args:
        name: Of the scope of the variables ``numer`` and ``denom``.
        dtype: Of the variables.
        use_global_variables: Whether the variables in a graph are global ones.
    """

    def __init__(self, name: str | None = None, dtype: Any = tf.float64, use_global_variables: bool = False) -> None:
        super().__init__(name, use_global_variables)
        self.dtype = dtype

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables."""
        self.numer = self.add_variable("numer", shape=(), dtype=self.dtype)
        self.denom = self.add_variable("denom", shape=(), dtype=self.dtype)

    def call(self, values: Any, weights: Any = None) -> Any:
        """Adds ``values``, of any shape, with ``weights`` that broadcast to them; returns its arguments."""
        values = tf.convert_to_tensor(values)
        given = values
        if weights is None:
            count = tf.cast(tf.size(values), self.dtype)
            total = tf.reduce_sum(tf.cast(values, self.dtype))
        else:
            weights = tf.cast(weights, self.dtype)
            values = tf.cast(values, self.dtype) * weights
            count, total = tf.reduce_sum(weights * tf.ones_like(values)), tf.reduce_sum(values)
            given = values, weights
        with tf.control_dependencies([self.denom.assign_add(count), self.numer.assign_add(total)]):
            return tf.nest.map_structure(tf.identity, given)

    def result(self, write_summary: bool = True) -> Any:
        """The mean, which is written as a summary, too, where there is a writer."""
        mean = self.numer / self.denom
        if write_summary:
            summary.scalar(name=self.name, tensor=mean)
        return mean


class _Matches(Mean):
    """Base: the share of examples of which ``_matches`` is true."""

    def __init__(self, name: str | None = None, dtype: Any = tf.float64) -> None:
        super().__init__(name=name, dtype=dtype)

    def _matches(self, labels: Any, predictions: Any) -> Any:
        raise NotImplementedError

    def call(self, labels: Any, predictions: Any, weights: Any = None) -> Any:  # type: ignore[override]
        """Adds examples; returns its arguments."""
        labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
        matches = tf.cast(self._matches(labels, predictions), self.dtype)
        super().call(matches, weights=weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class Accuracy(_Matches):
    """The share of ``predictions`` that are the ``labels``, of the same shape."""

    def _matches(self, labels: Any, predictions: Any) -> Any:
        labels.shape.assert_is_compatible_with(predictions.shape)
        return tf.equal(labels, tf.cast(predictions, labels.dtype))


class CategoricalAccuracy(_Matches):
    """The share of ``predictions`` [B, N] whose greatest element is where ``labels`` [B, N] have it."""

    def _matches(self, labels: Any, predictions: Any) -> Any:
        labels.shape.assert_is_compatible_with(predictions.shape)
        return tf.equal(tf.argmax(labels, axis=-1), tf.argmax(predictions, axis=-1))


class SparseAccuracy(_Matches):
    """The share of ``predictions`` [B, N] whose greatest element is at ``labels`` [B]."""

    def _matches(self, labels: Any, predictions: Any) -> Any:
        return tf.equal(tf.cast(labels, tf.int64), tf.argmax(predictions, axis=-1))


class BinaryAccuracy(_Matches):
    """The share of ``predictions`` that are above ``threshold`` where ``labels`` are, and not where they are not.

    Args:
        threshold: Between the two classes.
        name: As in :class:`Mean`.
        dtype: As in :class:`Mean`.
    """

    def __init__(self, threshold: float, name: str | None = None, dtype: Any = tf.float64) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def _matches(self, labels: Any, predictions: Any) -> Any:
        labels.shape.assert_is_compatible_with(predictions.shape)
        return tf.equal(labels > self.threshold, predictions > self.threshold)
