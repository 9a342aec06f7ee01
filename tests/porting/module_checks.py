"""Graphs as modules: called, differentiated, trained, saved and loaded. Run by test_modules.py in one process."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import tf1sessions
from tf1sessions import porting
from tf1sessions.errors import (
    CheckpointMismatchError,
    ConversionError,
    ModelError,
    UnknownOperationError,
    UsageError,
)
from tf1sessions.porting.staging import Staging
from tf1sessions.runtime import tf as raw

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(GOLDEN / "cases"))
import model_cases  # noqa: E402

v1 = tf1sessions.tf1
MODELS = GOLDEN / "data" / "models"
CLOSE = {"rtol": 1e-5, "atol": 1e-6}
ROWS = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)


def weight(name: str, *shape: int, **options: Any) -> Any:
    values = np.random.RandomState(len(name)).randn(*shape).astype(np.float32)
    return v1.get_variable(name, initializer=values, **options)


def dense(x: Any) -> dict[str, Any]:
    return {"y": v1.matmul(x, weight("w", 3, 2)) + weight("b", 2), "twice": [2.0 * x]}


def module_of(build: Callable[..., Any], *, shape: Any = (None, 3), **options: Any) -> Any:
    return porting.function(build, inputs={"x": tf.TensorSpec(shape)}, **options)


def raised(kind: type[Exception], call: Callable[[], Any]) -> str:
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__} was raised")


def loaded(module: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, signatures=module.export_signatures())
        return tf.saved_model.load(folder)


def operations(concrete: Any) -> set[str]:
    graph_def = concrete.graph.as_graph_def()
    return {node.op for node in [*graph_def.node, *(n for each in graph_def.library.function for n in each.node_def)]}


# -- every artifact of 1.15.5 ------------------------------------------------------------------------------------------


def examine(case: Any) -> None:
    """It gives what 1.15.5 gave, or cannot be had for the same reason for which it cannot be loaded."""
    options: dict[str, Any] = {"tags": case.tags, "signature": case.signature}
    if case.checkpoint:
        options["checkpoint"] = MODELS / case.checkpoint
    if case.unknown:
        message = raised(UnknownOperationError, lambda: module_of_tensors(case, options))
        assert all(name in message for name in case.unknown)
        return
    module = porting.function(MODELS / case.path, **options) if case.signature else module_of_tensors(case, options)
    names = {spec.tensor: name for name, spec in module.inputs.items()}
    results = module({names[full(key)]: value for key, value in case.feeds.items()})
    found = {tensor: results[name].numpy() for name, tensor in module.outputs.items()}
    assert model_cases.difference(case, [found[full(fetch)] for fetch in case.fetches]) <= case.tolerance


def module_of_tensors(case: Any, options: dict[str, Any]) -> Any:
    return porting.function(MODELS / case.path, inputs=list(case.feeds), outputs=case.fetches, **options)


def full(name: str) -> str:
    return name if ":" in name else f"{name}:0"


for _case in model_cases.CASES:
    setattr(sys.modules[__name__], f"check_artifact_{_case.name}", lambda case=_case: examine(case))


# -- functions that build graphs ---------------------------------------------------------------------------------------


def check_a_builder_with_parameters() -> None:
    module = module_of(dense)
    results = module(x=ROWS)
    assert [*results] == ["y", "twice"] and isinstance(results["twice"], list)
    w, b = module.by_name["w"], module.by_name["b"]
    np.testing.assert_allclose(results["y"], ROWS @ w.numpy() + b.numpy(), **CLOSE)
    np.testing.assert_allclose(results["twice"][0], 2.0 * ROWS)
    for same in (module(ROWS), module({"x": ROWS}), module(x=tf.constant(ROWS)), module(x=ROWS.tolist())):
        np.testing.assert_array_equal(same["y"], results["y"])
    assert [each.name for each in module.trainable_variables] == ["w:0", "b:0"]
    assert [*module.collections] == ["trainable_variables", "variables"]
    assert tf.executing_eagerly() and not v1.get_default_graph().get_operations()


def check_parameters_in_their_order() -> None:
    specs = [tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.float32)]
    module = porting.function(lambda ids, scale: v1.to_float(ids) * scale, inputs=specs)
    np.testing.assert_array_equal(module([[1, 2], 0.5]), [0.5, 1.0])
    assert module([np.array([1, 2]), 0.5]).dtype == tf.float32


def check_a_builder_with_its_own_placeholders() -> None:
    def build() -> Any:
        features = {"a": v1.placeholder(v1.float32, [None], "first"), "b": [v1.placeholder(v1.float32, [])] * 1}
        return features, (features["a"] + features["b"][0], features["a"])

    module = porting.function(build)
    np.testing.assert_array_equal(module(a=[1.0, 2.0], b=[3.0])[0], [4.0, 5.0])
    total, same = module({"a": [1.0, 2.0], "b": [3.0]})
    np.testing.assert_array_equal(total, [4.0, 5.0])
    np.testing.assert_array_equal(same, [1.0, 2.0])
    assert [*module.inputs] == ["a", "b/0"]

    def alone() -> Any:
        return v1.placeholder(v1.float32, [None], "x") * weight("w", 1)

    module = porting.function(alone)
    np.testing.assert_allclose(module(x=[2.0]), 2.0 * module.by_name["w"].numpy())


def check_builders_that_do_not_fit() -> None:
    assert "it takes x, and inputs= does not say" in raised(UsageError, lambda: porting.function(dense))
    assert "inputs= does not fit" in raised(
        UsageError, lambda: porting.function(dense, inputs={"z": tf.TensorSpec([])})
    )
    assert "it returns 3 for" in raised(UsageError, lambda: porting.function(lambda: 3))

    def finalizes() -> Any:
        variable = v1.get_variable("v", [2], use_resource=True)
        v1.get_default_graph().finalize()
        return variable

    assert "it finalizes its graph" in raised(UsageError, lambda: porting.function(finalizes))
    assert "the source is 3" in raised(UsageError, lambda: porting.function(3))  # type: ignore[arg-type]
    for option, value in (("tags", ["serve"]), ("signature", "a"), ("outputs", ["y"]), ("initialize", True)):
        message = raised(UsageError, lambda option=option, value=value: module_of(dense, **{option: value}))
        assert f"{option} is {value!r}" in message and f"Leave {option}= out" in message
    message = raised(UsageError, lambda: porting.function(dense, inputs={"x": "float"}))
    assert "inputs= has 'float' for 'x'" in message


def check_inputs_that_do_not_fit() -> None:
    module = module_of(dense)
    assert "needs the input 'x'" in raised(TypeError, lambda: module())
    assert "has no input 'z'" in raised(TypeError, lambda: module(z=1.0))
    assert "the shape [None, 3], and a value of the shape [4, 2]" in raised(ValueError, lambda: module(x=ROWS[:, :2]))
    assert "is float32, and int32 was given" in raised(ValueError, lambda: module(x=tf.constant([[1, 2, 3]])))


# -- gradients ---------------------------------------------------------------------------------------------------------


def check_gradients_are_those_of_version_1() -> None:
    def build(x: Any) -> Any:
        y = v1.reduce_sum(v1.tanh(dense(x)["y"]) ** 2)
        return {"y": y, "slopes": v1.gradients(y, v1.trainable_variables())}

    module = module_of(build)
    with tf.GradientTape() as tape:
        results = module(x=ROWS)
    found = tape.gradient(results["y"], module.trainable_variables)
    for one, other in zip(found, results["slopes"], strict=True):
        np.testing.assert_allclose(one, other, **CLOSE)

    @tf.function
    def inside(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = module(x=x)["y"]
        return tape.gradient(y, module.trainable_variables)

    for one, other in zip(inside(ROWS), found, strict=True):
        np.testing.assert_allclose(one, other, **CLOSE)


def check_dropout_is_drawn_once_for_value_and_gradient() -> None:
    module = module_of(lambda x: {"y": v1.nn.dropout(x * weight("w", 3), rate=0.5)})
    x = np.ones([200, 3], np.float32)
    draws = []
    for _ in range(2):
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = module(x=x)["y"]
        np.testing.assert_array_equal(tape.gradient(y, x).numpy() != 0.0, y.numpy() != 0.0)
        draws.append(y.numpy())
    assert 0.3 < np.mean(draws[0] != 0.0) < 0.7
    assert (draws[0] != draws[1]).any()


def check_seeds_are_kept() -> None:
    """The numbers of a session, call by call."""

    def build() -> Any:
        v1.set_random_seed(5)
        return v1.random_uniform([4], seed=7), v1.random_normal([2])

    with raw.Graph().as_default(), raw.Session() as session:
        expected = build()
        runs = [session.run(expected) for _ in range(2)]
    module = porting.function(build)
    for run in runs:
        for one, other in zip(module(), run, strict=True):
            np.testing.assert_array_equal(one, other)


# -- training ----------------------------------------------------------------------------------------------------------


def normalized(x: Any, training: Any) -> Any:
    y = v1.layers.batch_normalization(x, training=training, momentum=0.9, name="norm")
    return {"y": v1.layers.dense(y, 2, name="out")}


def check_switches_are_python_arguments() -> None:
    specs = {"x": tf.TensorSpec([None, 3]), "training": tf.TensorSpec([], tf.bool)}
    module = porting.function(normalized, inputs=specs)
    trained, plain = (module(x=ROWS, training=value)["y"] for value in (True, False))
    assert np.abs(trained - plain).max() > 0.1
    np.testing.assert_allclose(module(x=ROWS, training=tf.constant(True))["y"], trained, **CLOSE)
    np.testing.assert_allclose(module(x=ROWS, training=tf.constant(False))["y"], plain, **CLOSE)
    assert [name for name, each in module.by_name.items() if not each.trainable] == [
        "norm/moving_mean",
        "norm/moving_variance",
    ]


def check_switches_that_a_signature_does_not_name() -> None:
    """As Keras' learning phase: an input with a default that is there besides those of the signature."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with raw.Graph().as_default(), raw.Session() as session:
            x = v1.placeholder(v1.float32, [None, 3], "x")
            learning = v1.placeholder_with_default(False, [], "keras_learning_phase")
            y = v1.cond(learning, lambda: 2.0 * x, lambda: x + weight("w", 3))
            session.run(v1.global_variables_initializer())
            raw.saved_model.simple_save(session, path, {"x": x}, {"y": y})
        module = porting.function(path)
    assert [name for name, spec in module.inputs.items() if spec.optional] == ["keras_learning_phase"]
    w = module.by_name["w"].numpy()
    again = loaded(module)
    for call in (module, again):
        np.testing.assert_allclose(call(x=tf.constant(ROWS))["y"], ROWS + w, **CLOSE)
        learned = call(x=tf.constant(ROWS), keras_learning_phase=tf.constant(True))
        np.testing.assert_allclose(learned["y"], 2.0 * ROWS)
    np.testing.assert_allclose(module(x=ROWS, keras_learning_phase=True)["y"], 2.0 * ROWS)
    np.testing.assert_allclose(again.signatures["serving_default"](x=tf.constant(ROWS))["y"], ROWS + w, **CLOSE)


def check_a_frozen_switch_leaves_no_condition() -> None:
    module = porting.function(MODELS / "frozen.pb")
    images = np.random.RandomState(7).uniform(-1, 1, [3, 4, 4, 1]).astype(np.float32)
    for training in (True, False):
        concrete = module.signatures["guessed"]._call_for(("images",), {"training": training}).concrete
        assert not operations(concrete) & {"If", "StatelessIf", "Switch"}, operations(concrete)
        one = module(images=images, training=training)["probabilities"]
        other = module(images=images, training=tf.constant(training))["probabilities"]
        np.testing.assert_allclose(one, other, **CLOSE)
    np.testing.assert_allclose(module(images=images)["probabilities"], one, **CLOSE)  # its default is False


def check_update_operations() -> None:
    specs = {"x": tf.TensorSpec([None, 3]), "training": tf.TensorSpec([], tf.bool)}
    module = porting.function(normalized, inputs=specs)
    mean = module.by_name["norm/moving_mean"]
    with tf.GradientTape() as tape:
        y = module.update(x=ROWS, training=True)["y"]
    assert all(slope is not None for slope in tape.gradient(y, module.trainable_variables))
    np.testing.assert_allclose(mean, 0.1 * ROWS.mean(0), **CLOSE)
    np.testing.assert_allclose(y, module(x=ROWS, training=True)["y"], **CLOSE)
    np.testing.assert_allclose(mean, 0.1 * ROWS.mean(0), **CLOSE)
    assert "no operations in the collection UPDATE_OPS" in raised(
        ConversionError, lambda: module_of(dense).update(x=ROWS)
    )


def trained(x: Any, y: Any) -> Any:
    v1.set_random_seed(3)
    h = v1.nn.dropout(v1.nn.relu(v1.matmul(x, weight("w", 3, 8))), rate=0.25, seed=11)
    loss = v1.reduce_mean((v1.matmul(h, weight("out", 8, 1)) - y) ** 2)
    step = v1.train.get_or_create_global_step()
    v1.train.AdamOptimizer(0.05).minimize(loss, global_step=step, name="step")
    return {"loss": loss}


def check_the_train_operation() -> None:
    """The losses of a session, step by step: the same masks, the same slots."""
    y = ROWS.sum(1, keepdims=True)
    with raw.Graph().as_default() as graph, raw.Session() as session:
        fed = v1.placeholder(v1.float32, [None, 3]), v1.placeholder(v1.float32, [None, 1])
        loss = trained(*fed)["loss"]
        session.run(v1.global_variables_initializer())
        step = graph.get_operation_by_name("step")
        expected = [session.run([loss, step], dict(zip(fed, (ROWS, y), strict=True)))[0] for _ in range(5)]
    specs = {"x": tf.TensorSpec([None, 3]), "y": tf.TensorSpec([None, 1])}
    module = porting.function(trained, inputs=specs, train=True)
    found = [float(module.train({"x": ROWS, "y": y})["loss"]) for _ in range(3)]
    assert {"w/Adam", "w/Adam_1", "out/Adam", "out/Adam_1", "beta1_power", "beta2_power"} <= {*module.by_name}
    assert [each.name for each in module.trainable_variables] == ["w:0", "out:0"]
    assert int(module.by_name["global_step"]) == 3
    again = loaded(module)
    other = loaded(module)
    np.testing.assert_allclose(found, expected[:3], **CLOSE)
    assert int(again.by_name["global_step"]) == 3 and len(again.trainable_variables) == 2
    before = [each.numpy() for each in again.trainable_variables]
    again.train(x=tf.constant(ROWS), y=tf.constant(y))
    assert int(again.by_name["global_step"]) == 4
    assert all((one != two.numpy()).any() for one, two in zip(before, again.trainable_variables, strict=True))
    assert int(other.by_name["global_step"]) == 3
    assert "made without its train operation" in raised(UsageError, lambda: module_of(dense).train(x=ROWS))
    assert "has no train operations" in raised(ConversionError, lambda: module_of(dense, train=True))
    assert "no operation 'nothing'" in raised(UsageError, lambda: module_of(dense, train="nothing"))


def losses(kind: str, y: Any, p: Any) -> Any:
    if kind == "named":
        return v1.reduce_mean((p - y) ** 2, name="my_cost")
    if kind == "a sum":
        return v1.reduce_mean((p - y) ** 2) + 0.5 * v1.nn.l2_loss(p)
    if kind == "regularized":
        return v1.add_n([v1.reduce_mean((p - y) ** 2), 0.5 * v1.nn.l2_loss(p)])
    if kind == "scaled":
        return 128.0 * v1.reduce_mean((p - y) ** 2)
    v1.losses.mean_squared_error(y, p)
    if kind == "total of two":
        v1.losses.absolute_difference(y, p)
    return v1.losses.get_total_loss(name="total")


def check_a_train_step_gives_its_loss() -> None:
    """What the gradients were taken of, in whatever way they were applied; without a collection that says so."""
    given = {"x": ROWS, "y": ROWS.sum(1, keepdims=True)}
    for kind in ("named", "a sum", "regularized", "scaled", "one of losses", "total of two"):
        for clipped in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                with raw.Graph().as_default(), raw.Session() as session:
                    fed = {"x:0": given["x"], "y:0": given["y"]}
                    x, y = v1.placeholder(v1.float32, [None, 3], "x"), v1.placeholder(v1.float32, [None, 1], "y")
                    loss = losses(kind, y, v1.matmul(x, weight("w", 3, 1), name="p"))
                    optimizer = v1.train.AdamOptimizer()
                    gradients = optimizer.compute_gradients(loss)
                    if clipped:  # without what compute_gradients() puts between the gradients of each operation
                        variables = v1.trainable_variables()
                        clean = v1.clip_by_global_norm(v1.gradients(loss, variables), 1.0)[0]
                        gradients = list(zip(clean, variables, strict=True))
                    with v1.control_dependencies([optimizer.apply_gradients(gradients)]):
                        v1.no_op(name="step")
                    session.run(v1.global_variables_initializer())
                    expected = session.run(loss, fed)
                    prefix = v1.train.Saver().save(session, f"{folder}/model")
                module = porting.function(prefix, train=True, outputs=["p"])
                again = loaded(module)
            assert "loss" not in module(x=ROWS)
            np.testing.assert_allclose(module.train(given)["loss"], expected, **CLOSE)
            tensors = {name: tf.constant(value) for name, value in given.items()}
            np.testing.assert_allclose(again.train(**tensors)["loss"], expected, **CLOSE)


def check_a_loss_that_cannot_be_found() -> None:
    """Gradients that the program has made itself."""
    with tempfile.TemporaryDirectory() as folder:
        with raw.Graph().as_default(), raw.Session() as session:
            w = weight("w", 3, 1)
            v1.matmul(v1.placeholder(v1.float32, [None, 3], "x"), w, name="p")
            v1.train.GradientDescentOptimizer(0.1).apply_gradients([(v1.ones_like(w), w)], name="step")
            session.run(v1.global_variables_initializer())
            prefix = v1.train.Saver().save(session, f"{folder}/model")
        module = porting.function(prefix, train=True, outputs=["p"])
    assert "--output loss=NAME" in module.notes and module.train(x=ROWS).keys() == {"p"}


def check_outputs_come_before_changes() -> None:
    """Where nothing orders the two."""

    def build(x: Any) -> Any:
        w = v1.get_variable("w", initializer=np.float32([1.0, 2.0, 3.0]))
        v1.group(w.assign_add(v1.reduce_mean(x, 0)), name="step")
        return {"w": w * 1.0}

    module = module_of(build, train="step")
    ones = np.ones([2, 3], np.float32)
    for taken in range(3):
        np.testing.assert_array_equal(module.train(x=ones)["w"], np.float32([1.0, 2.0, 3.0]) + taken)


# -- variables ---------------------------------------------------------------------------------------------------------


def embedded(ids: Any) -> Any:
    table = v1.get_variable(
        "table",
        [7, 3],
        initializer=v1.random_uniform_initializer(seed=1),
        partitioner=v1.fixed_size_partitioner(3),
    )
    return {"rows": v1.nn.embedding_lookup(table, ids, "div"), "whole": v1.identity(table)}


def check_partitioned_variables() -> None:
    specs = {"ids": tf.TensorSpec([None], tf.int32)}
    joined = porting.function(embedded, inputs=specs)
    kept = porting.function(embedded, inputs=specs, partitions="kept")
    assert [*joined.by_name] == ["table"] and [*kept.by_name] == [f"table/part_{number}" for number in range(3)]
    assert joined.by_name["table"].shape == [7, 3]
    for module in (joined, kept):
        parts = [each.numpy() for each in module.variables]
        with tf.GradientTape() as tape:
            results = module(ids=[0, 6, 3, 0])
        np.testing.assert_allclose(results["rows"], np.concatenate(parts)[[0, 6, 3, 0]])
        np.testing.assert_allclose(results["whole"], np.concatenate(parts))
        slopes = [tf.convert_to_tensor(each) for each in tape.gradient(results["rows"], module.trainable_variables)]
        np.testing.assert_allclose(np.concatenate(slopes).sum(1), [6.0, 0.0, 0.0, 3.0, 0.0, 0.0, 3.0])
        again = loaded(module)(ids=tf.constant([0, 6, 3, 0]))
        np.testing.assert_allclose(again["rows"], results["rows"])


def partitioned(optimizer: Any, resource: bool) -> Callable[[Any], Any]:
    """Trains parts of rows that are looked up, of columns, and of a vector."""

    def build(ids: Any) -> Any:
        with v1.variable_scope("", use_resource=resource, initializer=v1.random_uniform_initializer(seed=1)):
            table = v1.get_variable("table", [7, 3], partitioner=v1.fixed_size_partitioner(3))
            wide = v1.get_variable("wide", [3, 4], partitioner=v1.fixed_size_partitioner(2, axis=1))
            long = v1.get_variable("long", [6], partitioner=v1.fixed_size_partitioner(2))
            rows = v1.nn.embedding_lookup(table, ids, "div")
            made = v1.tanh(v1.matmul(rows, v1.convert_to_tensor(wide)))
            loss = v1.reduce_mean(made**2) + v1.reduce_sum(v1.convert_to_tensor(long) ** 2)
            optimizer().minimize(loss)
            return {"loss": loss}

    return build


TRAINED = {
    "GradientDescent": lambda: v1.train.GradientDescentOptimizer(0.1),
    "Nesterov": lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Momentum": lambda: v1.train.MomentumOptimizer(0.1, 0.9),
    "Adam": lambda: v1.train.AdamOptimizer(0.1),
    "RMSProp": lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5),
    "CenteredRMSProp": lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
    "Adagrad": lambda: v1.train.AdagradOptimizer(0.1),
    "Adadelta": lambda: v1.train.AdadeltaOptimizer(1.0),
    "Ftrl": lambda: v1.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.01, l2_shrinkage_regularization_strength=0.1
    ),
}


def train_partitions(optimizer: Any, resource: bool) -> None:
    """The joined variables, slots too, become what their parts become."""
    build = partitioned(optimizer, resource)
    options: dict[str, Any] = {"inputs": {"ids": tf.TensorSpec([None], tf.int32)}, "train": True}
    kept, joined = (porting.function(build, partitions=way, **options) for way in ("kept", "joined"))
    again = loaded(joined)
    ids = tf.constant([1, 5, 1, 6])
    for _ in range(4):
        losses = [float(module.train(ids=ids)["loss"]) for module in (kept, joined, again)]
        np.testing.assert_allclose(losses[1:], losses[:1] * 2, **CLOSE)
    for name, variable in joined.by_name.items():
        whole, _, slot = name.partition("/")
        parts = [kept.by_name.get(f"{whole}/part_{number}" + f"/{slot}" * bool(slot)) for number in range(3)]
        expected = [part for part in parts if part is not None] or [kept.by_name[name][..., None]]
        axis = int(whole == "wide")
        np.testing.assert_allclose(variable, np.concatenate(expected, axis).reshape(variable.shape), **CLOSE)
        np.testing.assert_array_equal(again.by_name[name], variable)


for _optimizer, _make in TRAINED.items():
    _check = lambda make=_make, name=_optimizer: train_partitions(make, name in ("Momentum", "Adam", "Ftrl"))  # noqa: E731
    setattr(sys.modules[__name__], f"check_joined_partitions_{_optimizer}", _check)


def check_partitions_that_cannot_be_trained() -> None:
    build = partitioned(lambda: v1.train.ProximalAdagradOptimizer(0.1), False)
    options: dict[str, Any] = {"inputs": {"ids": tf.TensorSpec([None], tf.int32)}, "train": True}
    message = raised(ConversionError, lambda: porting.function(build, **options))
    assert "ApplyProximalAdagrad" in message and "partitions='kept'" in message
    assert porting.function(build, partitions="kept", **options).train(ids=[1])["loss"] > 0


def check_variables_shared_by_name() -> None:
    """Two nodes of one variable, as towers and copies of a graph have them."""

    def build(x: Any) -> Any:
        first = weight("w", 3)
        second = raw.raw_ops.VarHandleOp(dtype=v1.float32, shape=[3], shared_name="w", name="copy")
        return x * first, x * raw.raw_ops.ReadVariableOp(resource=second, dtype=v1.float32)

    module = module_of(build)
    assert [*module.by_name] == ["w"]
    module.by_name["w"].assign([1.0, 2.0, 3.0])
    for result in module(x=ROWS):
        np.testing.assert_allclose(result, ROWS * [1.0, 2.0, 3.0], **CLOSE)


def check_which_constants_are_trained() -> None:
    module = porting.function(MODELS / "frozen.pb")
    names = ["conv/kernel", "conv/bias", "norm/gamma", "norm/beta", "logits/kernel", "logits/bias"]
    assert sorted(each.name for each in module.trainable_variables) == sorted(f"{name}:0" for name in names)
    assert {*module.by_name} - {*names} == {"norm/moving_mean", "norm/moving_variance"}
    chosen = porting.function(MODELS / "frozen.pb", trainable=["logits/*", "conv/bias:0"])
    assert [each.name for each in chosen.trainable_variables] == ["conv/bias:0", "logits/kernel:0", "logits/bias:0"]
    by_function = porting.function(MODELS / "frozen.pb", trainable=lambda name: name.startswith("norm/"))
    assert len(by_function.trainable_variables) == 4
    message = raised(UsageError, lambda: porting.function(MODELS / "frozen.pb", trainable="nothing*"))
    assert "no variable is called 'nothing*'" in message


def check_variables_without_values() -> None:
    graph = MODELS / "sharded" / "graph.pb"
    message = raised(ModelError, lambda: porting.function(graph))
    assert "have no values" in message
    fresh = porting.function(graph, initialize=True)
    assert len(fresh.variables) == 2
    wrong = MODELS / "training" / "model.ckpt-7"
    assert "it lacks" in raised(CheckpointMismatchError, lambda: porting.function(graph, checkpoint=wrong))


def check_values_of_another_precision() -> None:
    """A checkpoint has more digits than the graph: they are rounded, and the variable is the graph's."""
    with tempfile.TemporaryDirectory() as folder:
        for dtype in (v1.float64, v1.float32):  # the last one's graph beside the first one's checkpoint
            with v1.Graph().as_default(), v1.Session() as session:
                w = v1.get_variable("w", initializer=v1.constant([1 / 3, 2.0], dtype))
                v1.multiply(w, 2, name="y")
                session.run(v1.global_variables_initializer())
                saver = v1.train.Saver()
                if dtype == v1.float64:
                    saver.save(session, f"{folder}/model.ckpt", write_meta_graph=False)
                saver.export_meta_graph(f"{folder}/model.ckpt.meta")
        module = porting.function(f"{folder}/model.ckpt", inputs={}, outputs={"y": "y:0"})
        assert module.by_name["w"].dtype == tf.float32
        np.testing.assert_array_equal(module()["y"], np.float32([2 / 3, 4.0]))


def check_values_of_a_model_that_is_open() -> None:
    """What its session holds by then."""
    with tf1sessions.load(MODELS / "training") as model:
        module = porting.function(model)
        images = np.random.RandomState(7).uniform(-1, 1, [3, 4, 4, 1]).astype(np.float32)
        np.testing.assert_allclose(
            module(images=images)["probabilities"], model(images=images)["probabilities"], **CLOSE
        )


def check_version_2_is_refused() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module_of(dense), folder)
        message = raised(ConversionError, lambda: porting.function(folder))
    assert "SavedModel of TensorFlow 2 already" in message and "tf.saved_model.load(path)" in message


# -- tables, queues ----------------------------------------------------------------------------------------------------


def check_assets_go_along() -> None:
    module = porting.function(MODELS / "saved_main_op")
    words = np.array([b"b", b"zebra", b"a", b"c"])
    (expected,) = module(words=words).values()
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, os.path.join(folder, "one"), signatures=module.export_signatures())
        assert os.listdir(os.path.join(folder, "one", "assets"))
        os.rename(os.path.join(folder, "one"), os.path.join(folder, "two"))
        (found,) = tf.saved_model.load(os.path.join(folder, "two"))(words=tf.constant(words)).values()
    np.testing.assert_array_equal(found, expected)


def looked_up(words: Any) -> Any:
    fixed = v1.lookup.StaticHashTable(v1.lookup.KeyValueTensorInitializer(["a", "b"], [3, 4]), -1)
    grows = v1.lookup.experimental.DenseHashTable(v1.string, v1.int64, v1.constant(-1, v1.int64), "", "gone")
    return {"fixed": fixed.lookup(words), "grows": grows.lookup(words), "size": grows.size()}


def check_tables_of_a_builder() -> None:
    module = porting.function(looked_up, inputs={"words": tf.TensorSpec([None], tf.string)})
    for each in (module, loaded(module)):
        results = each(words=tf.constant(["b", "z"]))
        assert results["fixed"].numpy().tolist() == [4, -1]
        assert results["grows"].numpy().tolist() == [-1, -1] and int(results["size"]) == 0


def check_tables_of_a_checkpoint() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with raw.Graph().as_default(), raw.Session() as session:
            words = v1.placeholder(v1.string, [None], "words")
            grows = v1.lookup.experimental.MutableHashTable(v1.string, v1.int64, v1.constant(-1, v1.int64))
            options = {"empty_key": v1.constant(-9, v1.int64), "deleted_key": v1.constant(-8, v1.int64)}
            dense_one = v1.lookup.experimental.DenseHashTable(v1.int64, v1.float32, v1.constant(-1.0), **options)
            ids = v1.identity(grows.lookup(words), "ids")
            v1.identity(dense_one.lookup(ids), "values")
            session.run([grows.insert(["a", "b"], np.int64([5, 6])), dense_one.insert(np.int64([5, 6]), [0.5, 0.6])])
            v1.train.Saver({"grows": grows, "dense": dense_one}).save(session, os.path.join(folder, "model"))
        module = porting.function(os.path.join(folder, "model"), outputs=["ids", "values"])
    for each in (module, loaded(module)):
        results = each(words=tf.constant(["a", "z", "b"]))
        assert results["ids"].numpy().tolist() == [5, -1, 6]
        np.testing.assert_allclose(results["values"], [0.5, -1.0, 0.6])


def check_queues_are_named() -> None:
    message = raised(ConversionError, lambda: porting.function(MODELS / "queue.pb", inputs=[], outputs=["y"]).concrete)
    assert "takes data from a queue" in message and "inputs=['batching:0']" in message


# -- life after --------------------------------------------------------------------------------------------------------


def check_saved_loaded_trained_and_saved_again() -> None:
    again = loaded(module_of(dense))
    optimizer = tf.keras.optimizers.SGD(0.1)
    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(again(x=tf.constant(ROWS))["y"] ** 2)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, again.trainable_variables), again.trainable_variables, strict=True)
        )
        losses.append(float(loss))
    assert losses[0] > losses[1] > losses[2]
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(again, folder)
        third = tf.saved_model.load(folder)
    np.testing.assert_allclose(third(x=tf.constant(ROWS))["y"], again(x=tf.constant(ROWS))["y"])
    signature = loaded(module_of(dense)).signatures["serving_default"]
    assert sorted(signature(x=tf.constant(ROWS))) == ["twice/0", "y"]


def check_a_checkpoint_that_is_cut_off() -> None:
    """Its index is whole, so that only reading finds it; in a session, too."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "model.ckpt")
        with v1.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [None, 8], name="x")
            v1.identity(v1.matmul(x, weight("large", 8, 400)), name="y")
            session.run(v1.global_variables_initializer())
            v1.train.Saver().save(session, prefix)
        os.truncate(prefix + ".data-00000-of-00001", 3000)
        for call in (
            lambda: porting.function(prefix),
            lambda: tf1sessions.load(prefix)(x=[[1.0] * 8]),
        ):
            reported = raised(ModelError, call)
            assert prefix in reported and "cannot be read" in reported and "copy all of its files" in reported, reported


def check_calls_from_many_threads() -> None:
    module = module_of(dense)
    expected = ROWS @ module.by_name["w"].numpy() + module.by_name["b"].numpy()
    found: list[Any] = []
    start = threading.Barrier(8, timeout=30)

    def call() -> None:
        start.wait()
        found.append(module(x=ROWS)["y"].numpy())

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 8
    for one in found:
        np.testing.assert_allclose(one, expected, **CLOSE)
    assert len(module.signatures["serving_default"]._calls) == 1


# -- calls that go straight to the function ----------------------------------------------------------------------------


def kept(x: Any) -> dict[str, Any]:
    """Gives what it was given, and keeps that in a variable."""
    with v1.control_dependencies([v1.assign(weight("kept", 4, 3), x, name="step")]):
        return {"same": v1.identity(x), "part": v1.reshape(x, [3, 4])}


def aligned(values: Any) -> Any:
    """A copy that begins where TensorFlow would take over the memory as it is."""
    memory = np.empty(values.nbytes + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    found = memory[begin : begin + values.nbytes].view(values.dtype).reshape(values.shape)
    found[...] = values
    return found


class Lent:
    """What NumPy makes an array of that shares its memory."""

    dtype = np.dtype(np.float32)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.array


def check_arrays_that_change_afterwards() -> None:
    module = module_of(kept, shape=(4, 3), train="step")
    for call in (module, module.train):
        for given in (lambda x: x, Lent, lambda x: x.T.copy().T, lambda x: np.asfortranarray(x)):
            x = aligned(ROWS)
            results = call(x=given(x))
            x[...] = 100.0
            np.testing.assert_array_equal(results["same"], ROWS)
            np.testing.assert_array_equal(results["part"], ROWS.reshape(3, 4))
            np.testing.assert_array_equal(module.by_name["kept"], ROWS)
    results["same"].numpy()[...] = 7.0
    np.testing.assert_array_equal(module.by_name["kept"], ROWS)


def check_results_that_are_what_was_given() -> None:
    """Each call's stay what they are while others are made, whatever holds them."""
    module = module_of(kept, shape=(4, 3))
    held = [module(x=number + ROWS) for number in range(20)]
    views = [np.asarray(memoryview(module(x=number + ROWS)["part"])) for number in range(20)]
    for number in range(20):
        np.testing.assert_array_equal(held[number]["same"], number + ROWS)
        np.testing.assert_array_equal(held[number]["part"], number + ROWS.reshape(3, 4))
        np.testing.assert_array_equal(views[number], number + ROWS.reshape(3, 4))
    found: list[Any] = []

    def call(number: int) -> None:
        for more in range(200):
            results = module(x=1000.0 * number + more + ROWS)
            found.append(np.array_equal(results["same"], 1000.0 * number + more + ROWS))

    threads = [threading.Thread(target=call, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 1600 and all(found)


def check_memory_is_used_again_when_nothing_holds_it() -> None:
    staging = Staging(np.dtype(np.float32), "/device:CPU:0")
    x = np.ones([64, 64], np.float32)

    def begins(tensor: Any) -> int:
        return int(np.asarray(memoryview(tensor)).ctypes.data)

    first = staging.tensor(x)
    place = begins(first)
    assert place % 64 == 0
    second = staging.tensor(x)
    assert begins(second) != place
    same = tf.reshape(first, [-1])  # shares the memory
    del first
    assert begins(same) == place and begins(staging.tensor(x)) != place
    del same
    assert begins(staging.tensor(x[:5])) == place
    many = [staging.tensor(x) for _ in range(20)]
    del many
    assert len(staging._kept) <= 4
    staging.tensor(np.ones([2**24 + 1], np.float32))  # more than is kept
    assert max(each.size for each in staging._kept) == x.nbytes


def check_arrays_of_all_kinds() -> None:
    """Of each dtype, in each order of bytes, empty, of no dimension, and of a shape that changes."""
    for dtype in (tf.bool, tf.int8, tf.uint16, tf.int32, tf.int64, tf.half, tf.bfloat16, tf.double, tf.complex64):
        module = porting.function(v1.identity, inputs=[tf.TensorSpec(None, dtype)])
        for shape in ((2, 3), (0, 3), (), (1000, 3), (1, 1, 5)):
            value = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2
            value = value.astype(dtype.as_numpy_dtype)
            for given in (value, value.astype(value.dtype.newbyteorder()), value[::-1] if shape else value):
                result = module(given)
                assert result.dtype == dtype and result.shape == shape
                np.testing.assert_array_equal(result.numpy(), given.astype(value.dtype))


def check_a_call_is_the_same_wherever_it_is_made() -> None:
    module = module_of(dense)
    w, b = module.by_name["w"], module.by_name["b"]
    for value in (ROWS, 3.0 * ROWS):  # changed variables are seen
        w.assign(value[:3, :2])
        expected = ROWS @ value[:3, :2] + b.numpy()
        np.testing.assert_allclose(module(x=ROWS)["y"], expected, **CLOSE)
        with tf.device("CPU:0"):
            np.testing.assert_allclose(module(x=ROWS)["y"], expected, **CLOSE)
        with tf.GradientTape() as tape:
            y = module(x=ROWS)["y"]
        np.testing.assert_allclose(y, expected, **CLOSE)
        np.testing.assert_allclose(tape.gradient(y, w), ROWS.T @ np.ones([4, 2]), **CLOSE)
        with tf.autodiff.ForwardAccumulator(w, tf.ones_like(w)) as forward:
            y = module(x=ROWS)["y"]
        np.testing.assert_allclose(forward.jvp(y), ROWS @ np.ones([3, 2]), **CLOSE)
        with tf.GradientTape() as tape, tape.stop_recording():
            np.testing.assert_allclose(module(x=ROWS)["y"], expected, **CLOSE)
    nested = tf.function(lambda x: module(x=x)["y"])
    np.testing.assert_allclose(nested(ROWS), expected, **CLOSE)
    w.assign(tf.zeros_like(w))
    np.testing.assert_allclose(nested(ROWS), np.tile(b.numpy(), (4, 1)), **CLOSE)


def check_an_error_names_the_operation() -> None:
    """By a call, and by the concrete function: in the same words."""

    def build(x: Any) -> Any:
        return v1.check_numerics(x, "not finite", name="checked")

    module = module_of(build)
    given = np.full([1, 3], np.nan, np.float32)
    reported = raised(tf.errors.InvalidArgumentError, lambda: module(x=given))
    assert reported == raised(tf.errors.InvalidArgumentError, lambda: module.concrete(tf.constant(given)))
    assert "not finite" in reported and "{{node checked}}" in reported, reported


def check_results_that_are_no_arrays() -> None:
    """Of a list of tensors TensorFlow knows what is in it, for functions that it is given to."""

    def build(x: Any) -> Any:
        return tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=[3])

    @tf.function
    def first(rows: Any) -> Any:
        row = tf.raw_ops.TensorListGetItem(input_handle=rows, index=0, element_shape=-1, element_dtype=tf.float32)
        assert row.shape == [3]
        return row

    np.testing.assert_array_equal(first(module_of(build)(x=ROWS)), ROWS[0])


def check_one_thread_runs_what_has_no_work_for_two() -> None:
    """And a caller's own choice of an executor stands, before and after."""

    def one_thread(build: Any, shape: Any = (None, 3)) -> bool:
        call = module_of(build, shape=shape).signatures["serving_default"]._call_for(("x",), {})
        found: bool = call._function.one_thread
        return found

    def chain(x: Any) -> Any:
        h = v1.nn.relu(v1.matmul(x, weight("w", 3, 3)) + weight("b", 3))
        return v1.nn.softmax(v1.matmul(v1.reshape(h, [-1, 3]), weight("out", 3, 2)))

    def two_chains(x: Any) -> Any:
        return v1.matmul(x, weight("w", 3, 3)) + v1.matmul(x, weight("out", 3, 3))

    def many_chains(x: Any) -> Any:
        return v1.add_n([v1.exp(v1.sin(x + float(i))) for i in range(40)])

    assert one_thread(chain)
    assert not one_thread(two_chains)  # how many rows there will be is not known
    assert one_thread(two_chains, (4, 3))
    assert not one_thread(two_chains, (90_000, 3))
    assert not one_thread(many_chains, (4, 3))
    assert one_thread(lambda x: v1.nn.dropout(x, rate=0.5), (4, 3))  # its state is a variable
    assert not one_thread(lambda x: v1.py_func(np.cos, [x], tf.float32), (4, 3))  # which may wait
    assert not one_thread(lambda x: v1.while_loop(lambda y: v1.reduce_sum(y) < 9.0, lambda y: y + 1.0, [x]))
    assert one_thread(kept, (4, 3))
    module = module_of(chain)
    expected = module.concrete(tf.constant(ROWS))
    np.testing.assert_array_equal(module(x=ROWS), expected)
    with tf.experimental.function_executor_type("no such executor"):
        raised(tf.errors.NotFoundError, lambda: module(x=ROWS))
        raised(tf.errors.NotFoundError, lambda: module(x=ROWS))
    np.testing.assert_array_equal(module(x=ROWS), expected)
