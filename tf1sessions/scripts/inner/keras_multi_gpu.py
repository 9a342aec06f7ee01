"""``tf.keras.utils.multi_gpu_model``: a model whose batches are divided among GPUs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["multi_gpu_model"]


def multi_gpu_model(model: Any, gpus: int | Sequence[int], cpu_merge: bool = True, cpu_relocation: bool = False) -> Any:
    """A model that gives what ``model`` gives, computed in parts on several GPUs.

    Args:
        model: The model, with inputs; its variables are shared.
        gpus: How many, at least 2, or their numbers.
        cpu_merge: Whether the results are put together on the CPU.
        cpu_relocation: Whether the model's variables are made anew on the CPU.

    Raises:
        ValueError: There are fewer than two, or one is not on this machine.
    """
    tf: Any = sys.modules["tensorflow"]
    keras: Any = importlib.import_module("tf_keras.api._v1.keras")
    numbers = list(range(gpus)) if isinstance(gpus, int) else list(gpus)
    if len(numbers) <= 1:
        raise ValueError(
            f"For multi-gpu usage to be effective, call `multi_gpu_model` with `gpus >= 2`. Received: `gpus={gpus}`"
        )
    there = ["/cpu:0", *(f"/gpu:{i}" for i in range(len(tf.config.list_logical_devices("GPU"))))]
    for device in ["/cpu:0", *(f"/gpu:{i}" for i in numbers)]:
        if device not in there:
            raise ValueError(
                f"To call `multi_gpu_model` with `gpus={gpus}`, we expect the following devices to be available: "
                f"{['/cpu:0', *(f'/gpu:{i}' for i in numbers)]}. However this machine only has: {there}. "
                "Try reducing `gpus`."
            )
    if cpu_relocation:
        with tf.device("/cpu:0"):
            model = keras.models.clone_model(model)
    parts = [_on_gpu(tf, keras, model, gpu, at, len(numbers)) for at, gpu in enumerate(numbers)]
    with tf.device("/cpu:0" if cpu_merge else f"/gpu:{numbers[0]}"):
        merged = [
            keras.layers.concatenate(list(outputs), axis=0, name=name)
            for name, outputs in zip(model.output_names, zip(*parts, strict=True), strict=True)
        ]
    return keras.Model(model.inputs, merged)


def _on_gpu(tf: Any, keras: Any, model: Any, gpu: int, at: int, count: int) -> list[Any]:
    """The outputs of ``model`` for part ``at`` of ``count`` of the batch, computed on a GPU."""

    def part(value: Any) -> Any:
        size = tf.shape(value)[0] // count
        return value[at * size :] if at == count - 1 else value[at * size : (at + 1) * size]

    with tf.device(f"/gpu:{gpu}"), tf.name_scope(f"replica_{gpu}"):
        inputs = [keras.layers.Lambda(part)(each) for each in model.inputs]
        outputs = model(inputs[0] if len(inputs) == 1 else inputs)
    return outputs if isinstance(outputs, list) else [outputs]
