"""The source of the state that a batch begins with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...estimator.model_fn import ModeKeys
from . import math_utils
from .feature_keys import FilteringFeatures
from .model import ModelOutputs, TimeSeriesModel

__all__ = ["FilteringOnlyStateManager", "PassthroughStateManager"]


class PassthroughStateManager:
    """Each batch begins with the model's start state."""

    def initialize_graph(
        self, model: TimeSeriesModel, input_statistics: math_utils.InputStatistics | None = None
    ) -> None:
        """Makes what :meth:`define_loss` needs, in the default graph."""

    def define_loss(self, model: TimeSeriesModel, features: Mapping[str, Any], mode: str) -> ModelOutputs:
        """The model's outputs for a batch.

        Raises:
            ValueError: ``features`` have a state.
        """
        if FilteringFeatures.STATE_TUPLE in features:
            raise ValueError(
                "Overriding start state is not supported for this model. (but a value for feature "
                f"{FilteringFeatures.STATE_TUPLE} was specified)."
            )
        return model.define_loss(features, mode)


class FilteringOnlyStateManager(PassthroughStateManager):
    """A batch begins with the state in its features, if there is one and this is no training."""

    def define_loss(self, model: TimeSeriesModel, features: Mapping[str, Any], mode: str) -> ModelOutputs:
        if FilteringFeatures.STATE_TUPLE not in features:
            return model.define_loss(features, mode)
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for feature "
                f"{FilteringFeatures.STATE_TUPLE} was specified)."
            )
        return model.get_batch_loss(features=features, mode=mode, state=features[FilteringFeatures.STATE_TUPLE])
