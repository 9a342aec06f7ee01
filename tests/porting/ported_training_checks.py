"""How each kind of model that 1.15.5 has trained learns on: gradients of its losses, ten steps, updates.

Run by test_ported_training.py in one process.
"""

from __future__ import annotations

import sys
from typing import Any

import ported_models
import tensorflow as tf
from ported_models import Record, compare
from ported_sources import record_of, training

#: Their loops take long to differentiate; ported_checks.py has gradients of theirs.
LOOPS = {"lstm", "lstm_resource", "gru", "bidirectional", "seq2seq", "conditions"}


def learn(record: Record) -> None:
    """Ten steps, each with the loss that 1.15.5 had; the variables at the end, slots and averages among them."""
    module = training(record)
    if record.name not in LOOPS:
        compare_gradients(record, module)
    curve = [
        [float(module.steps[f"train_{index}"](batch)[f"loss_{index}"]) for index in range(len(record.trains))]
        for batch in record.batches
    ]
    compare(curve, record.curve, f"{record.name}: the losses")
    for name, value in record.arrays("end").items():
        compare(module.by_name[name], value, f"{record.name}: {name} at the end")


def check_joined_partitions() -> None:
    """One variable for the parts that 1.15.5 trained, and one for their slots; by rows and by columns."""
    record = record_of("partitioned")
    module = training(record, partitions="joined")
    kept = training(record)
    for batch, losses in zip(record.batches, record.curve, strict=True):
        compare([float(module.steps["train_0"](batch)["loss_0"])], losses, "the losses of joined partitions")
        kept.steps["train_0"](batch)
    assert {"wide", "wide/Ftrl", "wide/Ftrl_1", "table", "table/Ftrl", "table/Ftrl_1"} <= {*module.by_name}
    for name, axis in (("wide", 1), ("wide/Ftrl", 1), ("table/Ftrl_1", 0)):
        whole, _, slot = name.partition("/")
        parts = [f"{whole}/part_{number}" + f"/{slot}" * bool(slot) for number in range(3)]
        joined = tf.concat([kept.by_name[part] for part in parts if part in kept.by_name], axis)
        compare(module.by_name[name], joined.numpy(), name)


def compare_gradients(record: Record, module: Any) -> None:
    first = {name: tf.constant(value) for name, value in record.batches[0].items()}
    for index, gradients in enumerate(record.gradients):
        with tf.GradientTape() as tape:
            loss = module(first)[f"loss_{index}"]
        slopes = tape.gradient(loss, {name: module.by_name[name] for name in gradients})
        for name, value in gradients.items():
            compare(tf.convert_to_tensor(slopes[name]), value, f"{record.name}: gradient of {name}")


def check_update_operations() -> None:
    """The moving averages of batch normalization, from one batch."""
    record = record_of("cnn")
    module = training(record)
    module.update(record.batches[0])
    expected = record.arrays("updated")
    assert len(expected) == 4, expected
    for name, value in expected.items():
        compare(module.by_name[name], value, name)


for _name in ported_models.names():
    setattr(sys.modules[__name__], f"check_{_name}", lambda name=_name: learn(record_of(name)))
