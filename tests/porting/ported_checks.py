"""Each kind of model that 1.15.5 has written, converted: what it computes, and its gradients.

Run by test_ported_models.py in one process. How these models learn on is in ported_training_checks.py.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import ported_models
import tensorflow as tf
from ported_models import Record, compare
from ported_sources import inference, record_of

from tf1sessions import porting

#: Outputs whose kernels (products of matrices, sums, relu, lookups) are the same in both: equal to the bit on one
#: processor.
SAME_KERNELS = {("mlp_resource", "logits"), ("towers", "logits"), ("words", "logits")}
#: How far these may be from what 1.15.5 gave on another processor, which adds the terms of a product in another order:
#: genuine 1.15.5 itself parts from its recording by up to 9e-8.
TOLERANCE_OF_PRODUCTS = 1e-6


def examine(record: Record, module: Any) -> None:
    """Its outputs and their gradients with respect to variables and inputs."""
    given, expected = record.arrays("given"), record.arrays("slopes")
    inputs = {name: tf.constant(value) for name, value in given.items() if name in expected}
    with tf.GradientTape() as tape:
        tape.watch(list(inputs.values()))
        outputs = module(**{**given, **inputs})
        probe = tf.add_n([tf.reduce_sum(tf.square(each)) for each in outputs.values() if each.dtype.is_floating])
    compare_outputs(record, outputs)
    slopes = tape.gradient(probe, {name: inputs.get(name, module.by_name.get(name)) for name in expected})
    for name, value in expected.items():
        assert slopes[name] is not None, f"{record.name}: no gradient of {name}"
        compare(tf.convert_to_tensor(slopes[name]), value, f"{record.name}: gradient of {name}")


def compare_outputs(record: Record, outputs: Any) -> None:
    for name, value in record.arrays("found").items():
        tolerance = TOLERANCE_OF_PRODUCTS if (record.name, name) in SAME_KERNELS else 1e-5
        compare(outputs[name], value, f"{record.name}: {name}", tolerance)


# -- what is not the same for each model -------------------------------------------------------------------------------


def check_saved_models() -> None:
    """By their signatures; the training graph is in them."""
    for name in ("mlp", "mlp_resource", "cnn", "partitioned", "gan"):
        record = record_of(name)
        module = porting.function(record.folder / "saved_model")
        assert [*module.signatures] == ["serving_default"], module.signatures
        compare_outputs(record, module(**record.arrays("given")))


def check_frozen_graphs() -> None:
    """Their constants are variables again, under the names that those had."""
    for name in ("mlp", "cnn", "gru", "gan"):
        record = record_of(name)
        module = inference(record, str(record.folder / "frozen.pb"))
        assert {*record.arrays("slopes")} <= {*module.by_name, *record.inputs}, name
        examine(record, module)
    record = record_of("seq2seq")
    compare_outputs(record, inference(record, str(record.folder / "frozen.pb"))(**record.arrays("given")))


def check_a_frozen_graph_learns() -> None:
    """Steps that go by the gradients of a frozen graph make its loss smaller."""
    record = record_of("mlp")
    module = inference(record, str(record.folder / "frozen.pb"))
    x, labels = record.batches[0]["x"], record.batches[0]["labels"]
    losses = []
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, module(x=x)["logits"]))
        slopes = tape.gradient(loss, module.trainable_variables)
        for variable, slope in zip(module.trainable_variables, slopes, strict=True):
            variable.assign_sub(0.5 * slope)
        losses.append(float(loss))
    assert losses[-1] < 0.7 * losses[0], losses


def check_masks_of_dropout_are_drawn_once() -> None:
    """The gradient of what was masked is the mask of that execution; each execution has another."""
    module = inference(record_of("dropout"))
    x = tf.ones([50, 4])
    with tf.GradientTape() as tape:
        tape.watch(x)
        masked = module(x=x, rate=0.5)["masked"]
    slopes = tape.gradient(masked, x)
    assert 50 < np.count_nonzero(masked) < 150
    np.testing.assert_array_equal(slopes, masked)
    first, second = (module(x=x, rate=0.5)["masked"].numpy() for _ in range(2))
    assert (first != second).any()


def check_variables_of_towers_are_shared() -> None:
    """One of each, although two towers on devices of their own use them."""
    found = inference(record_of("towers")).by_name
    assert sorted(found) == ["net/hidden/biases", "net/hidden/weights", "net/logits/biases", "net/logits/weights"]


def check_partitions_are_joined_or_kept() -> None:
    record = record_of("partitioned")
    options = {"inputs": record.inputs, "outputs": record.outputs}
    joined = porting.function(record.meta, partitions="joined", **options)
    kept = porting.function(record.meta, partitions="kept", **options)
    assert joined.by_name["table"].shape == [7, 4] and joined.by_name["wide"].shape == [6, 2]
    assert kept.by_name["table/part_0"].shape == [3, 4] and "table" not in kept.by_name
    for module in (joined, kept):
        compare_outputs(record, module(**record.arrays("given")))
    examine(record, kept)


def check_trainable_flags() -> None:
    for name in ("cnn", "lstm", "gan"):
        record = record_of(name)
        found = [key for key, each in inference(record).by_name.items() if each.trainable]
        assert {*found} <= {*record.trainable} and {*record.arrays("slopes")} & {*record.trainable} <= {*found}, found


for _name in ported_models.names():
    if _name != "partitioned":  # whose parts are joined: see above
        _check = lambda name=_name: examine(record_of(name), inference(record_of(name)))  # noqa: E731
        setattr(sys.modules[__name__], f"check_{_name}", _check)
