"""Exports while a model is trained and evaluated: the latest, the best, or the last one."""

from __future__ import annotations

import abc
import glob
import inspect
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..runtime import tf1 as tf
from .summaries import events
from .util import log

__all__ = ["BestExporter", "Exporter", "FinalExporter", "LatestExporter"]

ReceiverFn = Callable[[], Any]
_LOSS = "loss"


class Exporter(abc.ABC):
    """Something that is called with each evaluated checkpoint."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The folder that exports go to, below ``export`` in ``model_dir``."""

    @abc.abstractmethod
    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
    ) -> Any:
        """Exports, or not.

        Args:
            estimator: The model.
            export_path: The folder of this exporter.
            checkpoint_path: The checkpoint.
            eval_result: What its evaluation gave.
            is_the_final_export: Whether training has ended.

        Returns:
            The path of the export; None if there is none.
        """


class _SavedModels(Exporter):
    """Exports SavedModels."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: ReceiverFn | None,
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
    ) -> None:
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self) -> str:
        return self._name

    def _export(self, estimator: Any, export_path: str, checkpoint_path: str) -> Any:
        return estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )


class FinalExporter(_SavedModels):
    """Exports once, when training has ended.

    Args:
        name: The folder's.
        serving_input_receiver_fn: Returns a ``ServingInputReceiver``.
        assets_extra: Path below assets.extra -> file to copy.
        as_text: Whether it is written as text.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: ReceiverFn,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
    ) -> Any:
        if not is_the_final_export:
            return None
        log.info("Performing the final export in the end of training.")
        return self._export(estimator, export_path, checkpoint_path)


class LatestExporter(_SavedModels):
    """Exports each time, and keeps some.

    Args:
        name: The folder's.
        serving_input_receiver_fn: Returns a ``ServingInputReceiver``.
        assets_extra: Path below assets.extra -> file to copy.
        as_text: Whether it is written as text.
        exports_to_keep: How many; None keeps all.

    Raises:
        ValueError: ``exports_to_keep`` is not positive.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: ReceiverFn,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be positive number")
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._exports_to_keep = exports_to_keep

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
    ) -> Any:
        path = self._export(estimator, export_path, checkpoint_path)
        _remove_old(export_path, self._exports_to_keep)
        return path


def _loss_smaller(best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]) -> bool:
    """Whether the loss has become smaller."""
    for name, result in (("best_eval_result", best_eval_result), ("current_eval_result", current_eval_result)):
        if not result or _LOSS not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return bool(best_eval_result[_LOSS] > current_eval_result[_LOSS])


class BestExporter(_SavedModels):
    """Exports what is better than all before it.

    Args:
        name: The folder's.
        serving_input_receiver_fn: Returns a ``ServingInputReceiver``.
        event_file_pattern: The event files below ``model_dir`` with the evaluations of before, the newest of which is
            in them already; None knows of none.
        compare_fn: A function of ``best_eval_result`` and ``current_eval_result`` that says whether the latter is
            better.
        assets_extra: Path below assets.extra -> file to copy.
        as_text: Whether it is written as text.
        exports_to_keep: How many; None keeps all.

    Raises:
        ValueError: ``compare_fn`` takes other arguments, or ``exports_to_keep`` is not positive.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: ReceiverFn | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        arguments = list(inspect.signature(compare_fn).parameters)
        for needed in ("best_eval_result", "current_eval_result"):
            if needed not in arguments:
                raise ValueError(f"compare_fn ({compare_fn}) must include {needed} argument.")
        unknown = sorted(set(arguments) - {"best_eval_result", "current_eval_result"})
        if unknown:
            raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {unknown}")
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}")
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._event_file_pattern = event_file_pattern
        self._compare_fn = compare_fn
        self._exports_to_keep = exports_to_keep
        self._best: Mapping[str, Any] | None = None
        self._model_dir: str | None = None

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
    ) -> Any:
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            log.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._best = self._best_of_events(estimator.model_dir, self._event_file_pattern)
        if self._best is not None and not self._compare_fn(
            best_eval_result=self._best, current_eval_result=eval_result
        ):
            return None
        log.info("Performing best model export.")
        self._best = eval_result
        path = self._export(estimator, export_path, checkpoint_path)
        _remove_old(export_path, self._exports_to_keep)
        return path

    def _best_of_events(self, folder: str, pattern: str) -> Mapping[str, Any] | None:
        best = None
        for path in _matching(folder, pattern):
            for event in events(path):
                if not event.HasField("summary"):
                    continue
                result = {
                    value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")
                }
                if result and (best is None or self._compare_fn(best_eval_result=best, current_eval_result=result)):
                    best = result
        return best


def _matching(folder: str, pattern: str) -> list[str]:
    if not tf.io.gfile.isdir(os.path.dirname(os.path.join(folder, pattern))):
        return []
    return sorted(tf.io.gfile.glob(os.path.join(glob.escape(folder), pattern)))


def _remove_old(folder: str, keep: int | None) -> None:
    """Removes all but the ``keep`` newest exports of ``folder``."""
    if keep is None:
        return
    exports = sorted(
        name for entry in tf.io.gfile.listdir(folder) if re.fullmatch(r"\d{10}", name := entry.rstrip("/"))
    )
    for name in exports[:-keep]:
        path = os.path.join(folder, name)
        try:
            tf.io.gfile.rmtree(path)
        except tf.errors.NotFoundError as error:
            log.warning("Can not delete %s recursively: %s", path, error)
