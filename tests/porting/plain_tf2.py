"""What becomes of converted models where there is only TensorFlow 2: loaded, called, trained, saved, loaded again.

    python plain_tf2.py CONVERTED MODELS NAME ...

Started by ported_checks.py. Prints, as JSON, ``"lives"`` or what went wrong for each name. Must not import tf1sessions.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import tensorflow as tf
from ported_models import Record, compare

#: Rates of what plain gradient descent trained, for ten steps from the checkpoint on.
RATES = {"mlp": [0.2 * 0.9 ** (step // 2) for step in range(3, 13)]}


def tensors(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tf.constant(value) for name, value in values.items()}


def infer(record: Record, loaded: Any) -> None:
    """Its outputs, by a call and by the signature; and their gradients."""
    given, expected = tensors(record.arrays("given")), record.arrays("slopes")
    variables = {name: loaded.by_name[name] for name in expected if name in {*loaded.by_name}}  # parts are joined
    with tf.GradientTape() as tape:
        outputs = loaded(**given)
        probe = tf.add_n([tf.reduce_sum(tf.square(each)) for each in outputs.values() if each.dtype.is_floating])
    for name, value in record.arrays("found").items():
        compare(outputs[name], value, name)
    for name, slope in tape.gradient(probe, variables).items():
        compare(tf.convert_to_tensor(slope), expected[name], f"gradient of {name}")
    signature = next(iter(loaded.signatures.values()))
    taken = signature.structured_input_signature[1]
    for name, value in signature(**{name: given[name] for name in taken}).items():
        compare(value, record.arrays("found")[name], f"{name} by the signature")


def train(record: Record, loaded: Any, begin: int, end: int) -> None:
    """The steps of the graph's own train operations, whose slots came along."""
    for index in range(begin, end):
        for number in range(len(record.trains)):
            outputs = getattr(loaded, f"train_{number}")(**tensors(record.batches[index]))
            compare(outputs[f"loss_{number}"], record.curve[index, number], f"loss of step {index}")


def train_by_keras(record: Record, loaded: Any) -> None:
    """An optimizer of today goes on where the graph's own, without slots, had stopped."""
    variables = [loaded.by_name[name] for name in record.trainable]
    optimizer = tf.keras.optimizers.SGD(0.0)
    for index, rate in enumerate(RATES[record.name]):
        optimizer.learning_rate.assign(rate)
        with tf.GradientTape() as tape:
            loss = loaded(**tensors(record.batches[index]))["loss_0"]
        compare(loss, record.curve[index, 0], f"loss of step {index}")
        slopes = [tf.convert_to_tensor(each) for each in tape.gradient(loss, variables)]
        optimizer.apply_gradients(zip(slopes, variables, strict=True))
    end = record.arrays("end")
    for name, variable in zip(record.trainable, variables, strict=True):
        compare(variable, end[name], f"{name} at the end")


def live(record: Record, folder: Path) -> None:
    infer(record, tf.saved_model.load(str(folder / "inference")))
    loaded = tf.saved_model.load(str(folder / "training"))
    train(record, loaded, 0, 5)
    tf.saved_model.save(loaded, str(folder / "again"), signatures=loaded.signatures)
    again = tf.saved_model.load(str(folder / "again"))
    train(record, again, 5, 10)
    for name, value in record.arrays("end").items():
        compare(again.by_name[name], value, f"{name} at the end")
    if record.name in RATES:
        train_by_keras(record, tf.saved_model.load(str(folder / "training")))


def main(converted: str, models: str, *names: str) -> None:
    found = {}
    for name in names:
        try:
            live(Record(Path(models, name)), Path(converted, name))
        except Exception:  # reported for each model
            found[name] = traceback.format_exc()
        else:
            found[name] = "lives"
    assert "tf1sessions" not in sys.modules
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
