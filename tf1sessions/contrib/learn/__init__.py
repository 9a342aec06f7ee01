"""``tf.contrib.learn``: the estimators from before ``tf.estimator``, data sets and texts as numbers.

::

    constants.py            names of predictions, metrics and problems
    data_feeder.py          arrays in batches
    datasets/               iris, MNIST, tables
    dnn.py                  deep networks
    dnn_linear_combined.py  ... together with linear models
    estimator.py            Estimator, SKCompat
    experiment.py           Experiment
    export_strategy.py      what an Experiment exports
    graph_actions.py        run_n
    head.py                 loss, predictions and metrics from logits
    io/                     arrays, data frames and generators as inputs
    kmeans.py               k-means
    learn_runner.py         runs an Experiment
    linear.py               linear models
    logistic_regressor.py   LogisticRegressor
    metric_spec.py          MetricSpec
    model_fn.py             ModelFnOps
    monitored_session.py    sessions with hooks
    monitors.py             ValidationMonitor
    predicting.py           predict_classes and its kin
    preprocessing/          VocabularyProcessor
    rnn_common.py           cells and outputs of recurrent networks
    run_config.py           RunConfig
    utils/                  inputs of served models
"""

from . import datasets, head, io, learn_runner, monitors, preprocessing, utils
from .constants import PredictionKey, ProblemType
from .dnn import DNNClassifier, DNNEstimator, DNNRegressor
from .dnn_linear_combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from .estimator import (
    BaseEstimator,
    Estimator,
    NotFittedError,
    SKCompat,
    infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn,
)
from .experiment import Experiment
from .export_strategy import ExportStrategy, make_export_strategy
from .graph_actions import infer, run_feeds, run_n
from .head import (
    Head,
    binary_svm_head,
    multi_class_head,
    multi_head,
    multi_label_head,
    no_op_train_fn,
    poisson_regression_head,
    regression_head,
)
from .io import extract_pandas_data, extract_pandas_labels, extract_pandas_matrix
from .kmeans import KMeansClustering
from .linear import LinearClassifier, LinearEstimator, LinearRegressor
from .logistic_regressor import LogisticRegressor
from .metric_spec import MetricSpec
from .model_fn import ModeKeys, ModelFnOps
from .monitors import NanLossDuringTrainingError
from .run_config import RunConfig, TaskType
from .utils import InputFnOps, build_parsing_serving_input_fn

__all__ = [
    "BaseEstimator",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "Experiment",
    "ExportStrategy",
    "Head",
    "InputFnOps",
    "KMeansClustering",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LogisticRegressor",
    "MetricSpec",
    "ModeKeys",
    "ModelFnOps",
    "NanLossDuringTrainingError",
    "NotFittedError",
    "PredictionKey",
    "ProblemType",
    "RunConfig",
    "SKCompat",
    "TaskType",
    "binary_svm_head",
    "build_parsing_serving_input_fn",
    "datasets",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "head",
    "infer",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
    "io",
    "learn_runner",
    "make_export_strategy",
    "monitors",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "no_op_train_fn",
    "poisson_regression_head",
    "preprocessing",
    "regression_head",
    "run_feeds",
    "run_n",
    "utils",
]
