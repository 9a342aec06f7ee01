"""Runs an Experiment, as the configuration of this process says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...estimator.run_config import RunConfig as _CoreRunConfig
from .experiment import Experiment

__all__ = ["run"]

_SCHEDULES = {"master": "train_and_evaluate", "chief": "train_and_evaluate", "ps": "run_std_server", "worker": "train"}


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Makes an Experiment and runs it.

    Args:
        experiment_fn: A function of ``output_dir``; or, if there is a ``run_config``, of it and ``hparams``.
        output_dir: Where checkpoints and summaries go.
        schedule: The Experiment's method to run; without it what this process is to do in its cluster, and without a
            cluster ``train_and_evaluate``.
        run_config: A ``RunConfig`` with a ``model_dir``, in place of ``output_dir``.
        hparams: ``HParams``.

    Returns:
        What the method returned.

    Raises:
        ValueError: Arguments contradict, or there is no such method.
        TypeError: ``experiment_fn`` cannot be called, or returned no Experiment.
    """
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if run_config is not None:
        if not isinstance(run_config, _CoreRunConfig):
            raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
        if not run_config.model_dir:
            raise ValueError("Must have a model_dir in `run_config`, got None")
        experiment = experiment_fn(run_config=run_config, hparams=hparams)
    else:
        if hparams is not None:
            raise ValueError("Must have `run_config` to provide `hparams`")
        if not output_dir:
            raise ValueError("Must specify an output directory")
        experiment = experiment_fn(output_dir=output_dir)
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead.")
    schedule = schedule or _default_schedule(experiment.estimator.config)
    task = getattr(experiment, schedule, None)
    if task is None or not callable(task):
        methods = [name for name in dir(experiment) if not name.startswith("_") and callable(getattr(experiment, name))]
        raise ValueError(f"Schedule references non-existent task {schedule}. Valid schedules are: {methods}")
    return task()


def _default_schedule(config: Any) -> str:
    if not config.cluster_spec.jobs:
        return "train_and_evaluate"
    if config.task_type not in _SCHEDULES:
        raise ValueError(f"No default schedule for task type: {config.task_type}. Please specify a schedule.")
    return _SCHEDULES[config.task_type]
