"""Starting from the values of another checkpoint."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from ..runtime import tf1 as tf
from .util import log

__all__ = ["WarmStartSettings", "settings_of"]


class _Fields(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: dict[str, Any]
    var_name_to_prev_var_name: dict[str, str]


class WarmStartSettings(_Fields):
    """The variables to take from which checkpoint; see ``tf.train.warm_start``.

    Args:
        ckpt_to_initialize_from: A checkpoint, or a folder with some.
        vars_to_warm_start: A regular expression for trainable variables; a list of them for all variables; a list of
            variables; or None.
        var_name_to_vocab_info: variable -> ``tf.train.VocabInfo``.
        var_name_to_prev_var_name: variable -> its name in the checkpoint.

    Raises:
        ValueError: The checkpoint is missing.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: dict[str, Any] | None = None,
        var_name_to_prev_var_name: dict[str, str] | None = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def settings_of(warm_start_from: Any) -> WarmStartSettings | None:
    """The settings that the argument of an Estimator stands for: itself, or for all of a checkpoint or SavedModel.

    Raises:
        ValueError: It is of another kind.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if isinstance(warm_start_from, (str, bytes)):
        path = os.fsdecode(warm_start_from)
        if tf.saved_model.contains_saved_model(path):
            log.info("Warm-starting from a SavedModel")
            path = os.path.join(path, tf.saved_model.VARIABLES_DIRECTORY, tf.saved_model.VARIABLES_FILENAME)
        return WarmStartSettings(ckpt_to_initialize_from=path)
    raise ValueError(f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from)}")
