"""The export of an Experiment when it is done."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...estimator.util import function_args
from ...runtime import tf1 as tf

__all__ = ["ExportStrategy", "make_export_strategy"]


class ExportStrategy(NamedTuple):
    """A name, which the export's folder gets, and a function that exports.

    ``export_fn`` takes ``estimator``, ``export_path`` and those of ``checkpoint_path``, ``eval_result`` and
    ``strip_default_attrs`` that it wants.
    """

    name: str
    export_fn: Callable[..., Any]
    strip_default_attrs: bool | None = None

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str | None = None, eval_result: Any = None
    ) -> Any:
        """Exports ``estimator`` to ``export_path``, and returns where to."""
        given = {
            "checkpoint_path": checkpoint_path,
            "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }
        takes = function_args(self.export_fn)
        return self.export_fn(estimator, export_path, **{key: value for key, value in given.items() if key in takes})


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """A strategy that exports a SavedModel, and keeps the latest of them.

    Args:
        serving_input_fn: See ``Estimator.export_savedmodel``.
        default_output_alternative_key: See there.
        assets_extra: See there.
        as_text: See there.
        exports_to_keep: How many are kept; None for all.
        strip_default_attrs: See there.
    """

    def export(
        estimator: Any, export_path: str, checkpoint_path: str | None = None, strip_default_attrs: bool | None = None
    ) -> Any:
        alternative = {}
        if "default_output_alternative_key" in function_args(estimator.export_savedmodel):
            alternative["default_output_alternative_key"] = default_output_alternative_key
        found = estimator.export_savedmodel(
            export_path,
            serving_input_fn,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=bool(strip_default_attrs),
            **alternative,
        )
        if exports_to_keep is not None:
            old = sorted(name.rstrip("/") for name in tf.gfile.ListDirectory(export_path) if name.rstrip("/").isdigit())
            for name in old[:-exports_to_keep] if exports_to_keep else old:
                tf.gfile.DeleteRecursively(os.path.join(export_path, name))
        return found

    return ExportStrategy("Servo", export, strip_default_attrs)
