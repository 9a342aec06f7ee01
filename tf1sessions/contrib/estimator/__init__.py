"""``tf.contrib.estimator``: heads as the canned estimators have them, and more estimators.

head.py                   the heads
rnn.py                    estimators of recurrent networks
replicate_model_fn.py     a model on several devices
saved_model_estimator.py  an Estimator of a SavedModel
extenders.py              estimators made from others, and an optimizer that clips
export.py                 exports, and what they receive
"""

from ...estimator.canned.boosted_trees import (
    boosted_trees_classifier_train_in_memory,
    boosted_trees_regressor_train_in_memory,
)
from ...estimator.canned.dnn import DNNEstimator, dnn_logit_fn_builder
from ...estimator.canned.dnn_linear_combined import DNNLinearCombinedEstimator
from ...estimator.canned.linear import LinearEstimator, linear_logit_fn_builder
from ...estimator.early_stopping import (
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from ...estimator.hooks import InMemoryEvaluatorHook
from ...estimator.model_fn import call_logit_fn
from .export import (
    build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,
    export_all_saved_models,
    export_saved_model_for_mode,
)
from .extenders import add_metrics, clip_gradients_by_norm, forward_features
from .head import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
)
from .replicate_model_fn import TowerOptimizer, replicate_model_fn
from .rnn import RNNClassifier, RNNEstimator
from .saved_model_estimator import SavedModelEstimator

__all__ = [
    "DNNEstimator",
    "DNNLinearCombinedEstimator",
    "InMemoryEvaluatorHook",
    "LinearEstimator",
    "RNNClassifier",
    "RNNEstimator",
    "SavedModelEstimator",
    "TowerOptimizer",
    "add_metrics",
    "binary_classification_head",
    "boosted_trees_classifier_train_in_memory",
    "boosted_trees_regressor_train_in_memory",
    "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
    "call_logit_fn",
    "clip_gradients_by_norm",
    "dnn_logit_fn_builder",
    "export_all_saved_models",
    "export_saved_model_for_mode",
    "forward_features",
    "linear_logit_fn_builder",
    "logistic_regression_head",
    "make_early_stopping_hook",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
    "replicate_model_fn",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]
