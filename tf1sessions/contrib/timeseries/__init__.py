"""``tf.contrib.timeseries``: estimators of time series.

::

    ar_model.py           autoregressive models
    estimators.py         ARRegressor, TimeSeriesRegressor
    feature_keys.py       names of features
    head.py               training, evaluation, predictions and exports of a model
    input_pipeline.py     series from arrays and files; windows of them
    math_utils.py         statistics of a series
    model.py              what a model is
    model_utils.py        times of predictions
    saved_model_utils.py  running an exported model
    state_management.py   the state that a batch begins with
"""

from . import saved_model_utils
from .ar_model import ARModel
from .estimators import ARRegressor, TimeSeriesRegressor
from .feature_keys import FilteringResults, TrainEvalFeatures
from .head import OneShotPredictionHead
from .input_pipeline import (
    CSVReader,
    NumpyReader,
    RandomWindowInputFn,
    WholeDatasetInputFn,
    predict_continuation_input_fn,
)

__all__ = [
    "ARModel",
    "ARRegressor",
    "CSVReader",
    "FilteringResults",
    "NumpyReader",
    "OneShotPredictionHead",
    "RandomWindowInputFn",
    "TimeSeriesRegressor",
    "TrainEvalFeatures",
    "WholeDatasetInputFn",
    "predict_continuation_input_fn",
    "saved_model_utils",
]
