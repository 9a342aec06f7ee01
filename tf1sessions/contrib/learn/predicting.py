"""Predictions of the classifiers and regressors of ``contrib.learn``: classes, probabilities, scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .constants import PredictionKey
from .estimator import BaseEstimator

__all__ = ["ClassifierPredictions", "RegressorPredictions"]


class _OneOutput(BaseEstimator):
    def _predict_one(
        self,
        key: str,
        x: Any,
        input_fn: Callable[[], Any] | None,
        batch_size: int | None,
        as_iterable: bool,
    ) -> Any:
        found = super().predict(x=x, input_fn=input_fn, batch_size=batch_size, outputs=[key], as_iterable=as_iterable)
        return (prediction[key] for prediction in found) if as_iterable else found[key]


class ClassifierPredictions(_OneOutput):
    """A classifier's predictions."""

    def predict(  # type: ignore[override]
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The classes; with ``outputs`` these predictions by name. See ``Estimator.predict``."""
        if not outputs:
            return self.predict_classes(x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable)

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The classes. See ``Estimator.predict``."""
        return self._predict_one(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probabilities of all classes. See ``Estimator.predict``."""
        return self._predict_one(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class RegressorPredictions(_OneOutput):
    """A regressor's predictions."""

    def predict(  # type: ignore[override]
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The scores; with ``outputs`` these predictions by name. See ``Estimator.predict``."""
        if not outputs:
            return self.predict_scores(x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable)

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The scores. See ``Estimator.predict``."""
        return self._predict_one(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)
