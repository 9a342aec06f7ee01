"""``tf.estimator`` as TensorFlow 1.15 had it, on today's TensorFlow.

``from tf1sessions import estimator`` and then ``estimator.Estimator(...)``; scripts of ``tf1sessions run`` get the same
as ``tf.estimator``. Everything runs in graphs of its own, so that it works in a TensorFlow 2 program too.

A name is fetched from its file when it is used first; importing this package imports no TensorFlow.

Files::

    canned/            models that are ready
    distributed.py     training and evaluation by a strategy, on several replicas
    early_stopping.py  stop_if_lower_hook and its kin
    estimator.py       Estimator: train, evaluate, predict, export
    evaluation.py      evaluating a graph at a checkpoint; its summaries
    experimental.py    tf.estimator.experimental
    export.py          tf.estimator.export: what served models get and give
    exporter.py        LatestExporter, BestExporter, FinalExporter
    extenders.py       add_metrics
    feeding.py         arrays that threads feed to a queue
    gc.py              which exports are kept
    given.py           what an Estimator is given, checked
    hooks.py           InMemoryEvaluatorHook and its like
    inner_names.py     private names that programs use
    inputs.py          tf.estimator.inputs
    keras.py           an Estimator of a Keras model
    model_fn.py        EstimatorSpec, ModeKeys
    predictions.py     predictions that are asked for, of single examples
    run_config.py      RunConfig, TF_CONFIG
    saved_models.py    models as SavedModels
    summaries.py       event files, read
    tpu.py             tf.estimator.tpu, without a TPU
    tpu_errors.py      errors of a TPU's threads
    tpu_experimental.py  tf.estimator.tpu.experimental
    tpu_util.py        helpers for TPUs that need none
    training.py        train_and_evaluate
    util.py            what the files of this room share
    warm_start.py      starting from another checkpoint's values
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ..errors import MissingSymbolError

#: File here, or "train" for ``tf.train`` -> its names in ``tf.estimator``.
_FILES = {
    "canned.baseline": "BaselineClassifier BaselineEstimator BaselineRegressor",
    "canned.boosted_trees": "BoostedTreesClassifier BoostedTreesEstimator BoostedTreesRegressor",
    "canned.dnn": "DNNClassifier DNNEstimator DNNRegressor",
    "canned.dnn_linear_combined": ("DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor"),
    "canned.head": (
        "BinaryClassHead Head LogisticRegressionHead MultiClassHead MultiLabelHead PoissonRegressionHead RegressionHead"
    ),
    "canned.linear": "LinearClassifier LinearEstimator LinearRegressor",
    "canned.multi_head": "MultiHead",
    "canned.parsing_utils": "classifier_parse_example_spec regressor_parse_example_spec",
    "estimator": "Estimator",
    "exporter": "BestExporter Exporter FinalExporter LatestExporter",
    "extenders": "add_metrics",
    "model_fn": "EstimatorSpec ModeKeys",
    "run_config": "RunConfig",
    "train": (
        "CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook "
        "NanLossDuringTrainingError NanTensorHook ProfilerHook SecondOrStepTimer SessionRunArgs SessionRunContext "
        "SessionRunHook SessionRunValues StepCounterHook StopAtStepHook SummarySaverHook VocabInfo"
    ),
    "training": "EvalSpec TrainSpec train_and_evaluate",
    "warm_start": "WarmStartSettings",
}
_HOMES = {name: file for file, names in _FILES.items() for name in names.split()}
#: Files that are modules of ``tf.estimator`` themselves.
_MODULES = ("experimental", "export", "inputs", "tpu")

__all__ = sorted([*_HOMES, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise _missing(name)
    home = _HOMES[name]
    source = importlib.import_module("..runtime", __name__).tf.train if home == "train" else _file(home)
    value = globals()[name] = getattr(source, name)
    return value


def _file(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}")


def _missing(name: str) -> AttributeError:
    if name.startswith("__"):
        return AttributeError(f"module {__name__!r} has no attribute {name!r}")
    line = sys._getframe(2)
    return MissingSymbolError(
        f"tf.estimator.{name} is not available",
        where=f"{line.f_code.co_filename}:{line.f_lineno}",
        next_step=f"The names of tf.estimator that are: {', '.join(__all__)}.",
        name=name,
        symbol=f"tf.estimator.{name}",
    )


def __dir__() -> list[str]:
    return sorted(__all__)
