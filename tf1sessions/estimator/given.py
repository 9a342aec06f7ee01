"""Checks of the values that an Estimator is given: its configuration, its ``model_fn``, hooks and listeners."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from ..runtime import tf1 as tf
from .run_config import RunConfig, default_session_config
from .util import function_args, log

__all__ = ["check_positive", "checked_hooks", "checked_listeners", "complete_config", "verify_model_fn_args"]

_MODEL_FN_ARGS = {"features", "labels", "mode", "params", "self", "config"}


def complete_config(config: RunConfig | None, model_dir: str | None) -> RunConfig:
    """``config`` with a folder and a session's configuration."""
    if config is None:
        config = RunConfig()
        log.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if config.session_config is None:
        config = RunConfig.replace(config, session_config=default_session_config())
    if model_dir is not None:
        if config.model_dir is not None and config.model_dir != model_dir:
            raise ValueError(
                "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
                f"'{model_dir}', in `RunConfig`: '{config.model_dir}' "
            )
        config = RunConfig.replace(config, model_dir=model_dir)
    elif config.model_dir is None:
        model_dir = tempfile.mkdtemp()
        log.warning("Using temporary folder as model directory: %s", model_dir)
        config = RunConfig.replace(config, model_dir=model_dir)
    return config


def verify_model_fn_args(model_fn: Callable[..., Any], params: Any) -> None:
    """Checks that ``model_fn`` takes what an Estimator passes.

    Raises:
        ValueError: It does not.
    """
    args = function_args(model_fn)
    if "features" not in args:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in args:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to Estimator."
        )
    if params is None and "params" in args:
        log.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.", model_fn
        )
    unknown = [name for name in args if name not in _MODEL_FN_ARGS]
    if unknown:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {unknown}")


def check_positive(name: str, value: int | None) -> None:
    if value is not None and value <= 0:
        raise ValueError(f"Must specify {name} > 0, given: {value}")


def checked_hooks(hooks: Sequence[Any] | None) -> list[Any]:
    hooks = list(hooks or [])
    for hook in hooks:
        if not isinstance(hook, tf.train.SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def checked_listeners(listeners: Sequence[Any] | None) -> list[Any]:
    listeners = list(listeners or [])
    for listener in listeners:
        if not isinstance(listener, tf.train.CheckpointSaverListener):
            raise TypeError(f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}")
    return listeners
