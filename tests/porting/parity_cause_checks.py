"""Seeded faults: each is found at its tensor and reported by its rule. Run by test_parity_causes.py in one process."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf1sessions.porting.parity.causes.evidence import Evidence, Half
from tf1sessions.porting.parity.causes.registry import RULES, find_causes
from tf1sessions.porting.parity.comparison import Parting
from tf1sessions.porting.parity.verifying import verify

_numbers = itertools.count()


def values(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def written(build: Callable[[Any], Any], shape: tuple[int | None, ...] = (None, 8, 8, 3)) -> str:
    """A frozen graph of what ``build`` makes of an input; the path of its file."""
    with tf.Graph().as_default() as graph:
        tf.identity(build(tf.placeholder(tf.float32, shape, name="x")), name="out")
    return tf.io.write_graph(graph, ".", f"graph{next(_numbers)}.pb", as_text=False)


def first(left: Callable[[Any], Any], right: Callable[[Any], Any], **options: Any) -> Parting:
    shape = options.pop("shape", (None, 8, 8, 3))
    found = verify(written(left, shape), written(right, shape), all_tensors=True, **options)
    assert not found.equal and found.first is not None
    return found.first


def rules(parting: Parting) -> list[str]:
    return [cause.rule for cause in parting.causes]


def said(parting: Parting) -> str:
    return "; ".join(f"{cause.text} ({cause.evidence})" for cause in parting.causes)


def only_values(left: Any, right: Any) -> list[str]:
    """The rules that are evident from values alone."""
    return [cause.rule for cause in find_causes(Evidence(Half(left), Half(right)))]


def conv(x: Any, kernel: Any, **options: Any) -> Any:
    return tf.nn.conv2d(
        x, tf.constant(kernel, name="kernel"), name="conv", **{"padding": "SAME", "strides": 1, **options}
    )


def norm(x: Any, epsilon: float = 1e-3, is_training: bool = False) -> Any:
    ones = np.ones(3, np.float32)
    mean, variance = (None, None) if is_training else (ones * 0.1, ones * 0.02)
    return tf.nn.fused_batch_norm(x, ones, ones, mean, variance, epsilon, is_training=is_training, name="norm")[0]


# ------------------------------------------------------------------------------------------ attributes and operations


def check_padding() -> None:
    kernel = values(3, 3, 3, 4)
    parting = first(lambda x: conv(x, kernel), lambda x: conv(x, kernel, padding="VALID"))
    assert (parting.tensor.name, parting.tensor.op) == ("conv:0", "Conv2D")
    assert parting.tensor.problem == "shape [3, 8, 8, 4] against [3, 6, 6, 4]"
    assert rules(parting) == ["padding"] and "SAME against VALID" in said(parting)
    assert [each.name for each in parting.inputs] == ["kernel:0"] and parting.inputs[0].same


def check_strides() -> None:
    kernel = values(3, 3, 3, 4)
    parting = first(lambda x: conv(x, kernel), lambda x: conv(x, kernel, dilations=2))
    assert rules(parting) == ["attribute"] and "dilations [1, 1, 1, 1] against [1, 2, 2, 1]" in said(parting)


def check_epsilon() -> None:
    parting = first(norm, lambda x: norm(x, 1e-5))
    assert (parting.tensor.name, parting.tensor.op) == ("norm:0", "FusedBatchNormV3")
    assert rules(parting)[0] == "epsilon" and "0.001 against 1e-05" in said(parting)
    assert len(parting.inputs) == 4 and all(each.same for each in parting.inputs)


def check_epsilon_of_what_is_no_fused_norm() -> None:
    """Only the values tell: the other side computes it by itself."""

    def by_hand(x: Any) -> Any:
        ones = np.ones(3, np.float32)
        scaled = tf.nn.batch_normalization(x, ones * 0.1, ones * 0.02, ones, ones, 1e-5, name="other")
        return tf.identity(scaled, name="norm")

    parting = first(norm, by_hand)
    assert parting.tensor.name == "norm:0"
    assert rules(parting)[0] == "epsilon" and "0.001 against 1e-05" in said(parting)


def check_training_mode() -> None:
    ones = np.ones(3, np.float32)

    def by_batch(x: Any) -> Any:
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        return tf.identity(tf.nn.batch_normalization(x, mean, variance, ones, ones, 1e-3, name="other"), name="norm")

    parting = first(norm, by_batch)
    assert rules(parting)[0] == "training mode", said(parting)


def check_training_mode_by_attribute() -> None:
    left, right = (tf.NodeDef(name="n", op="FusedBatchNormV3") for _ in range(2))
    left.attr["is_training"].b, right.attr["is_training"].b = True, False
    x = values(2, 4, 4, 3)
    found = Evidence(Half(x, left, (x,)), Half(values(2, 4, 4, 3, seed=1), right, (x,)))
    assert find_causes(found)[0].rule == "training mode"


def check_data_format() -> None:
    left, right = (tf.NodeDef(name="n", op="BiasAdd") for _ in range(2))
    left.attr["data_format"].s, right.attr["data_format"].s = b"NHWC", b"NCHW"
    x = values(3, 3, 3, 3)
    found = Evidence(Half(x + 0, left, (x,)), Half(values(3, 3, 3, 3, seed=1), right, (x,)))
    (cause,) = find_causes(found)
    assert (cause.rule, cause.text) == ("data format", "another data format: data_format NHWC against NCHW")


def check_resizing() -> None:
    parting = first(
        lambda x: tf.image.resize_bilinear(x, [5, 5], name="resize"),
        lambda x: tf.image.resize_bilinear(x, [5, 5], align_corners=True, name="resize"),
    )
    assert rules(parting) == ["resizing"] and "align_corners False against True" in said(parting)


def check_other_operation() -> None:
    parting = first(
        lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME", name="pool"),
        lambda x: tf.nn.avg_pool2d(x, 2, 2, "SAME", name="pool"),
    )
    assert rules(parting) == ["other operation"] and "MaxPool against AvgPool" in said(parting)


def check_op_version() -> None:
    left, right = tf.NodeDef(name="n", op="TopK"), tf.NodeDef(name="n", op="TopKV2")
    x = values(2, 5)
    (cause,) = find_causes(Evidence(Half(x, left, (x,)), Half(values(2, 5, seed=1), right, (x,))))
    assert (cause.rule, cause.text) == ("op version", "two versions of an operation: TopK against TopKV2")


def check_attributes_say_nothing_where_inputs_differ() -> None:
    left, right = (tf.NodeDef(name="n", op="Conv2D") for _ in range(2))
    left.attr["padding"].s, right.attr["padding"].s = b"SAME", b"VALID"
    x = values(2, 5)
    found = Evidence(Half(x, left, (x,)), Half(values(2, 5, seed=1), right, (x + 1,)))
    assert [cause.rule for cause in find_causes(found)] == ["unknown"]


def check_random_numbers() -> None:
    parting = first(
        lambda x: x + tf.random_uniform([1], name="noise", seed=1),
        lambda x: x + tf.random_uniform([1], name="noise", seed=2),
    )
    assert "random numbers" in rules(parting) and "noise" in said(parting)


# ---------------------------------------------------------------------------------------------- variables, constants


def weights(value: Any, size: tuple[int, ...] = (None, 6)) -> tuple[Callable[[Any], Any], Any]:
    return lambda x: tf.matmul(x, tf.constant(value, name="kernel"), name="product"), size


def check_transposed_kernel() -> None:
    kernel = values(6, 6)
    parting = first(weights(kernel)[0], weights(np.ascontiguousarray(kernel.T))[0], shape=(None, 6))
    assert parting.tensor.name == "kernel:0"
    assert rules(parting)[0] == "transposed" and "a transposed matrix" in said(parting)


def check_what_has_another_name() -> None:
    """The kernels have other names, so the product parts first; its cause is the kernel."""

    def build(kernel: Any, name: str) -> Callable[[Any], Any]:
        return lambda x: tf.matmul(x, tf.constant(kernel, name=name), name="product")

    kernel = values(6, 6)
    parting = first(build(kernel, "a"), build(np.ascontiguousarray(kernel.T), "b"), shape=(None, 6))
    assert parting.tensor.name == "product:0" and not parting.inputs
    assert rules(parting) == ["transposed"] and "its input 1, a, has another value" in said(parting)
    parting = first(build(kernel, "a"), build(values(6, 6, seed=1), "b"), shape=(None, 6))
    assert rules(parting) == ["other value"] and "36 of 36 elements differ" in said(parting)


def check_gate_order() -> None:
    kernel = values(6, 8)
    i, j, f, o = np.split(kernel, 4, 1)
    parting = first(weights(kernel)[0], weights(np.concatenate([i, f, j, o], 1))[0], shape=(None, 6))
    assert rules(parting)[0] == "gate order" and "[0, 2, 1, 3]" in said(parting)


def check_reversed_channels() -> None:
    kernel = values(3, 3, 3, 4)
    parting = first(lambda x: conv(x, kernel), lambda x: conv(x, np.ascontiguousarray(kernel[:, :, ::-1])))
    assert rules(parting)[0] == "reversed" and "axis 2" in said(parting)


def check_other_weights() -> None:
    parting = first(weights(values(6, 5))[0], weights(values(6, 5, seed=1))[0], shape=(None, 6))
    assert rules(parting) == ["other value"] and "30 of 30 elements differ" in said(parting)


def check_other_constant() -> None:
    parting = first(
        lambda x: tf.add(x, tf.constant(1e-3, name="eps")), lambda x: tf.add(x, tf.constant(1e-5, name="eps"))
    )
    assert rules(parting) == ["other value"] and "0.001 against 1e-05" in said(parting)


def check_large_constants_too() -> None:
    """Constants of 16 KB and more are variables when they are loaded."""
    kernel = values(64, 80)
    changed = kernel.copy()
    changed[3, 4] += 1
    parting = first(weights(kernel)[0], weights(changed)[0], shape=(None, 64))
    assert parting.tensor.name == "kernel:0" and parting.tensor.difference is not None
    assert parting.tensor.difference.worst == (3, 4)
    assert rules(parting) == ["other value"] and "1 of 5,120 elements differ" in said(parting)


# ------------------------------------------------------------------------------------------------------------ patterns


def check_dropout() -> None:
    x = np.abs(values(4, 50)) + 0.1
    mask = np.random.default_rng(1).random(x.shape) < 0.8
    assert only_values(x, (x * mask / 0.8).astype(np.float32)) == ["dropout"]
    (cause,) = find_causes(Evidence(Half(x), Half((x * mask / 0.8).astype(np.float32))))
    assert "on the right side" in cause.text and "keeps 0.80" in cause.evidence
    assert "dropout" not in only_values(x, (values(4, 50, seed=2) * mask).astype(np.float32))
    assert "dropout" not in only_values(x, np.maximum(x - 0.5, 0))


def check_precision() -> None:
    x = values(6, 50)
    assert only_values(x, x.astype(np.float16).astype(np.float32)) == ["precision"]
    half = (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    (cause,) = find_causes(Evidence(Half(x), Half(half)))
    assert (cause.rule, cause.text) == ("precision", "the right side computes in bfloat16")
    assert only_values(x, (x * 1.001).astype(np.float32)) != ["precision"]


def check_dtype() -> None:
    x = values(6, 5)
    (cause,) = find_causes(Evidence(Half(x), Half(x.astype(np.float64))))
    assert (cause.rule, cause.text) == ("dtype", "another dtype: float32 against float64")
    assert cause.evidence


def check_activation() -> None:
    x = values(6, 5)
    e = np.exp(x)
    for other, name in ((e / e.sum(-1, keepdims=True), "softmax"), (np.tanh(x), "tanh"), (np.maximum(x, 0), "relu")):
        (cause,) = find_causes(Evidence(Half(x), Half(other)))
        assert cause.rule == "activation" and name in cause.text and "on the right side" in cause.text
        (cause,) = find_causes(Evidence(Half(other), Half(x)))
        assert cause.rule == "activation" and "on the left side" in cause.text


def check_factor_and_offset() -> None:
    x = values(6, 5)
    assert only_values(x, x * np.float32(0.5)) == ["factor"]
    assert only_values(x, x + 1) == ["offset"]
    assert only_values(x, x + values(5, seed=1)) == ["offset"]
    assert only_values(np.arange(5), np.arange(5) + 1) == ["offset"]
    assert only_values(x, x + values(6, 5, seed=1)) == ["unknown"]


def check_shift() -> None:
    x = values(2, 9, 9, 3)
    assert only_values(x[:, :-1, :-1], x[:, 1:, 1:]) == ["padding"]
    assert only_values(x[:, :-1], x[:, 1:]) == ["padding"]
    channels_first = x.transpose(0, 3, 1, 2)
    assert only_values(channels_first[:, :, 1:], channels_first[:, :, :-1]) == ["padding"]
    assert only_values(x[:, 2:], x[:, :-2]) == ["unknown"]


def check_border() -> None:
    x = values(2, 9, 9, 3)
    padded = x.copy()
    padded[:, 0], padded[:, -1], padded[:, :, 0], padded[:, :, -1] = 0, 0, 0, 0
    assert only_values(x, padded) == ["padding"]


def check_layout() -> None:
    x = values(2, 4, 5, 3)
    (cause,) = find_causes(Evidence(Half(x), Half(x.transpose(0, 3, 1, 2))))
    assert cause.rule == "transposed" and "NHWC against NCHW" in cause.text
    time_major = values(4, 6, 3)
    (cause,) = find_causes(Evidence(Half(time_major), Half(time_major.transpose(1, 0, 2))))
    assert "batch and time are swapped" in cause.text


def check_not_finite() -> None:
    parting = first(lambda x: tf.log(tf.abs(x), name="log"), lambda x: tf.log(tf.identity(x, name="Abs"), name="log"))
    assert parting.tensor.name == "Abs:0"
    x = values(3, 4)
    node = tf.NodeDef(name="log", op="Log")
    with np.errstate(invalid="ignore"):
        found = Evidence(Half(np.log(np.abs(x)), node, (np.abs(x),)), Half(np.log(x), node, (x,)))
    cause = find_causes(found)[0]
    assert cause.rule == "not finite" and "on the right side only" in cause.evidence
    assert f"Log was given {x.min():g}" in cause.evidence


def check_texts() -> None:
    words = np.array([b"Alpha", b"beta"], object)
    assert only_values(words, np.array([b"alpha", b"beta"], object)) == ["text"]
    assert only_values(words, np.array([b"Alpha ", b"beta"], object)) == ["text"]
    assert only_values(words, np.array([b"alpha", b"gamma"], object)) == ["unknown"]


def check_rounding() -> None:
    node = tf.NodeDef(name="n", op="MatMul")
    x = values(5, 5)
    found = Evidence(Half(x, node, (x,)), Half(x * np.float32(1 + 3e-5), node, (x,)))
    assert [cause.rule for cause in find_causes(found)] == ["rounding"]
    other = Evidence(Half(x, node, (x,)), Half(x * np.float32(1 + 3e-5), node, (x * np.float32(1 + 1e-6),)))
    assert [cause.rule for cause in find_causes(other)] == ["unknown"]


# ------------------------------------------------------------------------------------------------------ nothing made up


def check_noise_is_no_cause() -> None:
    """Whatever the shape: no rule sees in noise what it looks for."""
    for shape in ((7,), (6, 8), (8, 8), (4, 6, 4), (2, 6, 6, 4), (3, 3, 3, 3)):
        for seed in range(3):
            left, right = values(*shape, seed=seed), values(*shape, seed=seed + 100)
            assert only_values(left, right) == ["unknown"], (shape, only_values(left, right))


def check_small_errors_are_no_movement() -> None:
    x = np.full((4, 4), 2, np.float32)
    x[0] += np.arange(4, dtype=np.float32)
    symmetric = x + x.T
    assert only_values(symmetric, symmetric * np.float32(1 + 3e-5)) == ["unknown"]


def check_rules_bear_any_values() -> None:
    odd = [
        np.zeros((0, 3), np.float32),
        np.float32(1).reshape(()),
        np.array(b"a", object),
        np.array([b"a", b"b"], object),
        np.array([True, False, True, True]),
        np.arange(6).reshape(2, 3),
        np.array([1 + 1j, 2, 3, 4]),
        np.full((2, 3), np.nan, np.float32),
        np.full((2, 3), np.inf, np.float32),
        np.zeros((2, 3), np.float32),
        values(2, 3).astype(tf.bfloat16.as_numpy_dtype),
        values(2, 2, 2, 2, 2, 2),
        np.full((4, 4), np.iinfo(np.int64).max),
        np.arange(5, dtype=np.uint8),
    ]
    for left, right in itertools.product(odd, odd):
        for rule in RULES:
            rule(Evidence(Half(left), Half(right)))
