"""``tf.keras.experimental.export_saved_model`` and ``load_from_saved_model``: Keras models as SavedModels."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

__all__ = ["export_saved_model", "load_from_saved_model"]


def export_saved_model(
    model: Any,
    saved_model_path: str,
    custom_objects: Mapping[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes ``model`` as a SavedModel, with the optimizer's state unless ``serving_only``.

    Args:
        model: A model of ``tf.keras`` with known inputs.
        saved_model_path: The folder, which is made.
        custom_objects: Of no effect: the model is not built anew.
        as_text: Not supported any more.
        input_signature: Shapes and types of the inputs, if the model does not know them.
        serving_only: Whether the model is only to be served.

    Raises:
        NotImplementedError: ``as_text`` is true.
    """
    if as_text:
        raise NotImplementedError("as_text: Keras writes SavedModels as bytes only; leave it out")
    models: Any = importlib.import_module("tf_keras.api._v1.keras.models")
    models.save_model(
        model,
        saved_model_path,
        include_optimizer=not serving_only,
        save_format="tf",
        signatures=input_signature,
    )


def load_from_saved_model(saved_model_path: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The model that :func:`export_saved_model` wrote."""
    models: Any = importlib.import_module("tf_keras.api._v1.keras.models")
    return models.load_model(saved_model_path, custom_objects=custom_objects)
