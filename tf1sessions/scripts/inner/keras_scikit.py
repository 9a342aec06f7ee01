"""``tf.keras.wrappers.scikit_learn``: models of Keras as estimators of scikit-learn."""

from __future__ import annotations

import copy
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

__all__ = ["BaseWrapper", "KerasClassifier", "KerasRegressor"]


class BaseWrapper:
    """The common base of both wrappers.

    Args:
        build_fn: A function, or an object that is called, that returns a compiled model; None if a subclass has
            ``__call__``.
        **sk_params: Its arguments, and those of the model's ``fit``, ``predict``, ``predict_proba`` and ``evaluate``.

    Raises:
        ValueError: None of these functions has an argument of such a name.
    """

    def __init__(self, build_fn: Callable[..., Any] | None = None, **sk_params: Any) -> None:
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def check_params(self, params: Iterable[str]) -> None:
        """Raises a ValueError for a name that is no argument of the functions that get them."""
        sequential: Any = importlib.import_module("tf_keras.src.engine.sequential").Sequential
        methods = (sequential.fit, sequential.predict, sequential.predict_classes, sequential.evaluate)
        known = {"nb_epoch"}.union(*map(_arguments, (*methods, self._builder())))
        for name in params:
            if name not in known:
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params: Any) -> dict[str, Any]:
        """The parameters, as scikit-learn asks for them."""
        del params
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> BaseWrapper:
        """Changes parameters; returns this object."""
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Builds a model and trains it.

        Args:
            x: Samples [N, ...].
            y: Labels or values [N] or [N, M].
            **kwargs: Arguments of the model's ``fit``, before those of the object.

        Returns:
            The model's History.
        """
        builder = self._builder()
        self.model = builder(**self.filter_sk_params(builder))
        loss = getattr(self.model.loss, "__name__", self.model.loss)
        if loss == "categorical_crossentropy" and np.ndim(y) != 2:
            y = importlib.import_module("tf_keras.src.utils.np_utils").to_categorical(y)
        return self.model.fit(x, y, **{**self.filter_sk_params(type(self.model).fit), **kwargs})

    def filter_sk_params(self, fn: Callable[..., Any], override: dict[str, Any] | None = None) -> dict[str, Any]:
        """The parameters that ``fn`` takes, with those of ``override``."""
        taken = _arguments(fn)
        return {**{name: value for name, value in self.sk_params.items() if name in taken}, **(override or {})}

    def _builder(self) -> Callable[..., Any]:
        own: Any = self  # a subclass with __call__
        return own.__call__ if self.build_fn is None else self.build_fn


class KerasClassifier(BaseWrapper):
    """A classifier; see :class:`BaseWrapper`."""

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """See :meth:`BaseWrapper.fit`.

        Args:
            x: Samples [N, ...].
            y: The class of each sample, [N] or [N, 1], of any values; or [N, classes] of 0 and 1.
            **kwargs: Arguments of the model's ``fit``.

        Raises:
            ValueError: ``y`` has another shape.
        """
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The class of each sample: [N], of a model with one output [N, 1]."""
        model_class = type(self.model)
        probabilities = self.model.predict(x, **self.filter_sk_params(model_class.predict, kwargs))
        if probabilities.shape[-1] > 1:
            return self.classes_[probabilities.argmax(axis=-1)]
        return self.classes_[(probabilities > 0.5).astype("int32")]

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """The probability of each class, [N, classes]; of a model with one output [N, 2]."""
        probabilities = self.model.predict(x, **self.filter_sk_params(type(self.model).predict, kwargs))
        if probabilities.shape[1] == 1:
            probabilities = np.hstack([1 - probabilities, probabilities])
        return probabilities

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The mean accuracy on ``x`` and ``y``.

        Raises:
            ValueError: The model was compiled without it.
        """
        y = np.searchsorted(self.classes_, y)
        loss = getattr(self.model.loss, "__name__", self.model.loss)
        if loss == "categorical_crossentropy" and y.ndim != 2:
            y = importlib.import_module("tf_keras.src.utils.np_utils").to_categorical(y)
        outputs = self.model.evaluate(x, y, **self.filter_sk_params(type(self.model).evaluate, kwargs))
        values = outputs if isinstance(outputs, list) else [outputs]
        for name, value in zip(self.model.metrics_names, values, strict=True):
            if name in ("accuracy", "acc"):
                return float(value)
        raise ValueError(
            'The model is not configured to compute accuracy. You should pass `metrics=["accuracy"]` to the '
            "`model.compile()` method."
        )


class KerasRegressor(BaseWrapper):
    """A model that gives numbers; see :class:`BaseWrapper`."""

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """Return the model's predictions, without axes of one element."""
        return np.squeeze(self.model.predict(x, **self.filter_sk_params(type(self.model).predict, kwargs)))

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The loss on ``x`` and ``y``, negative: the greater the better."""
        loss = self.model.evaluate(x, y, **self.filter_sk_params(type(self.model).evaluate, kwargs))
        return -float(loss[0] if isinstance(loss, list) else loss)


def _arguments(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters)
