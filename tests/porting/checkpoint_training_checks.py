"""Optimizers of checkpoints, both ways: training on follows 1.15.5. Run by test_checkpoints_training.py."""

from __future__ import annotations

import functools
import tempfile
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from checkpoint_cases import (
    BEFORE,
    BETWEEN,
    LIBRARIES,
    OPTIMIZERS,
    file_of,
    losses,
    made,
    network,
    numbers,
    optimizer_of,
    recorded,
    write_back,
)

from tf1sessions.errors import CheckpointMismatchError, ConversionError, UsageError
from tf1sessions.porting import checkpoints
from tf1sessions.porting.checkpoints.optimizers import power_of, steps_of
from tf1sessions.porting.checkpoints.settings import settings_of

CLOSE = {"rtol": 0, "atol": 1e-5}


a_network = functools.cache(network)  # the same one each time: its values are restored


def examine(library: str, name: str) -> None:
    """What each pair of a library and an optimizer must do: the same state, and the losses of 1.15.5 from there."""
    case = recorded()[f"train_{name}"]
    model, optimizer = a_network(LIBRARIES[library][0]), optimizer_of(library, name)
    plan = checkpoints.restore(file_of(f"train_{name}"), model, optimizer)
    assert int(optimizer.iterations.numpy()) == BEFORE
    assert {old for row in plan.rows for old in row.sources} | set(plan.unused) == case["values"].keys()
    with tempfile.TemporaryDirectory() as folder:
        back = checkpoints.save_named(model, f"{folder}/back", optimizer)
        again = dict(checkpoints.read(f"{folder}/back"))
    assert not back.problems and not back.unused
    assert again.keys() == case["values"].keys()
    for key, value in case["values"].items():
        if name == "rmsprop" and key.endswith("RMSProp_1"):  # momentum is 0, and what it multiplies has no effect
            value = np.zeros_like(value)
        np.testing.assert_allclose(again[key], value, rtol=1e-6, atol=1e-7, err_msg=key)
        assert again[key].dtype == (np.int64 if key == "global_step" else np.float32), key
    np.testing.assert_allclose(losses(model, optimizer, case["shape"]), case["losses"], **CLOSE)


def __getattr__(name: str) -> Any:
    """A check for each library and optimizer: ``check_keras_adam``."""
    for library in sorted(LIBRARIES, key=len, reverse=True):
        prefix = f"check_{library}_"
        if name.startswith(prefix) and name.removeprefix(prefix) in OPTIMIZERS:
            return functools.partial(examine, library, name.removeprefix(prefix))
    raise AttributeError(name)


def raised(error: type[Exception], call: Any) -> Any:
    try:
        call()
    except error as found:
        return found
    raise AssertionError("nothing was raised")


# --------------------------------------------------------------------------------------------------------- the way back


def check_what_1_15_has_restored_is_what_is_written() -> None:
    """1.15.5's Saver has restored these values, and its losses from there were those without any conversion."""
    reported = recorded("checkpoints_back.json.gz")
    with tempfile.TemporaryDirectory() as folder:
        write_back(folder)
        for name, record in reported.items():
            written = checkpoints.read(f"{folder}/{name}")
            assert written.keys() == record["values"].keys(), name
            for key, value in record["values"].items():
                np.testing.assert_allclose(written[key], value, rtol=2e-5, atol=2e-6, err_msg=f"{name}: {key}")
    for name, record in reported.items():
        case = recorded()[name]
        key = "losses" if "losses" in case else "output"
        np.testing.assert_allclose(record[key], case[key][BETWEEN if key == "losses" else 0 :], **CLOSE)
    assert len(reported) == len(OPTIMIZERS) + 4


def check_a_plain_optimizer_needs_no_slots() -> None:
    model = network(keras)
    with tempfile.TemporaryDirectory() as folder:
        checkpoints.save_named(model, f"{folder}/plain")
        assert len(checkpoints.read(f"{folder}/plain")) == 4


# --------------------------------------------------------------------------------------------- slots that lie otherwise


def check_slots_of_a_cell() -> None:
    for library in (keras, tf_keras):
        model = made(library, (4, 3), library.layers.LSTM(2), library.layers.Dense(1))
        optimizer = library.optimizers.Adam(0.05, epsilon=1e-8)
        checkpoints.restore(file_of("train_lstm"), model, optimizer)
        case = recorded()["train_lstm"]
        np.testing.assert_allclose(losses(model, optimizer, case["shape"]), case["losses"], **CLOSE)


def check_slots_of_partitioned_variables() -> None:
    for name in ("partitioned_v1", "partitioned_v2", "sharded_v1", "sharded_v2"):
        dense = keras.layers.Dense
        model = made(keras, (3,), dense(5, use_bias=False, name="hidden"), dense(1, name="out"))
        optimizer = keras.optimizers.Adam(0.05, epsilon=1e-8)
        checkpoints.restore(file_of(name), model, optimizer)
        case = recorded()[name]
        np.testing.assert_allclose(losses(model, optimizer, case["shape"]), case["losses"], **CLOSE)


def check_two_optimizers_of_one_kind() -> None:
    """A GAN: each optimizer by a call of its own, which says what is the other's."""
    case = recorded()["train_gan"]
    dense = keras.layers.Dense
    generator, judge = made(keras, (3,), dense(3)), made(keras, (3,), dense(1))
    adam_g, adam_d = keras.optimizers.Adam(0.02, epsilon=1e-8), keras.optimizers.Adam(0.05, epsilon=1e-8)
    error = raised(
        CheckpointMismatchError,
        lambda: checkpoints.restore(file_of("train_gan"), judge, adam_d, unused={"G/.*": "not here"}),
    )
    assert set(error.extra) == {"beta1_power", "beta1_power_1", "beta2_power", "beta2_power_1"}
    checkpoints.restore(
        file_of("train_gan"), judge, adam_d, unused={"G/.*": "the generator's", "beta._power_1": "the generator's"}
    )
    checkpoints.restore(
        file_of("train_gan"), generator, adam_g, unused={"D/.*": "the judge's", "beta._power": "the judge's"}
    )
    found = []
    for step in range(BEFORE, BEFORE + len(case["losses"])):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_mean(tf.square(judge(generator(numbers(step, 5, 3))) - 1.0))
        for model, optimizer, sign in ((judge, adam_d, -1.0), (generator, adam_g, 1.0)):
            gradients = tape.gradient(loss, [variable.value for variable in model.trainable_variables])
            optimizer.apply_gradients(zip([sign * g for g in gradients], model.trainable_variables, strict=True))
        found.append(float(loss))
    np.testing.assert_allclose(found, case["losses"], **CLOSE)


# ------------------------------------------------------------------------------------------------------ moving averages


def check_averages_for_an_optimizer() -> None:
    case = recorded()["train_average"]
    for library in (keras, tf_keras):
        model = made(library, (3,), library.layers.Dense(2))
        optimizer = library.optimizers.Adam(0.05, epsilon=1e-8, use_ema=True, ema_momentum=0.9)
        checkpoints.restore(file_of("train_average"), model, optimizer, optimizer_name="Mine")
        average = optimizer._model_variables_moving_average[0].numpy()
        np.testing.assert_allclose(average, case["values"]["training/dense/kernel/ExponentialMovingAverage"], rtol=1e-6)
        np.testing.assert_allclose(losses(model, optimizer, case["shape"]), case["losses"], **CLOSE)


def check_averages_for_the_variables() -> None:
    values = recorded()["train_average"]["values"]
    model = made(keras, (3,), keras.layers.Dense(2))
    plan = checkpoints.restore(file_of("train_average"), model, optimizer=False, averages="variables")
    kernel, bias = model.get_weights()
    np.testing.assert_allclose(kernel, values["training/dense/kernel/ExponentialMovingAverage"], rtol=1e-6)
    np.testing.assert_allclose(bias, values["training/dense/bias/ExponentialMovingAverage"], rtol=1e-6)
    assert plan.unused["dense/kernel"] == "its moving average is taken"
    assert plan.unused["global_step"] == plan.unused["training/dense/kernel/Mine_1"] == "optimizer=False"


def check_averages_for_an_object_and_back() -> None:
    values = recorded()["train_average"]["values"]
    weights = {"dense/kernel": tf.Variable(tf.zeros([3, 2])), "dense/bias": tf.Variable(tf.zeros([2]))}
    average, step = tf.train.ExponentialMovingAverage(0.9), tf.Variable(0, dtype=tf.int32, trainable=False)
    average.apply(list(weights.values()))
    checkpoints.restore(file_of("train_average"), weights, False, averages=average, step=step)
    assert int(step) == BEFORE
    found = average.average(weights["dense/kernel"]).numpy()
    np.testing.assert_allclose(found, values["training/dense/kernel/ExponentialMovingAverage"], rtol=1e-6)
    with tempfile.TemporaryDirectory() as folder:
        checkpoints.save_named(weights, f"{folder}/back", averages=average, step=step)
        again = dict(checkpoints.read(f"{folder}/back"))
    np.testing.assert_array_equal(again["dense/kernel/ExponentialMovingAverage"], found)
    assert again["global_step"] == BEFORE and again["global_step"].dtype == np.int64


def check_averages_are_not_dropped() -> None:
    model = made(keras, (3,), keras.layers.Dense(2, name="dense"))
    error = raised(CheckpointMismatchError, lambda: checkpoints.restore(file_of("train_average"), model, False))
    assert set(error.extra) == {
        "training/dense/bias/ExponentialMovingAverage",
        "training/dense/kernel/ExponentialMovingAverage",
    }
    assert "averages=" in str(error)
    checkpoints.restore(file_of("train_average"), model, False, averages=False)


# --------------------------------------------------------------------------------------------------- counting the steps


def written(folder: str, **values: Any) -> str:
    """A checkpoint of a dense layer and its Adam after some steps, some of it otherwise."""
    given = {"kernel": np.ones([2, 1], "f"), "kernel/Adam": np.ones([2, 1], "f"), "kernel/Adam_1": np.ones([2, 1], "f")}
    given |= {"beta1_power": power_of(0.9, 7), "beta2_power": power_of(0.999, 7), "global_step": np.int64(7)} | values
    with checkpoints.CheckpointWriter(f"{folder}/model", force=True) as writer:
        for name, value in given.items():
            if value is not None:
                writer.add(name, value)
    return f"{folder}/model"


def counted(**values: Any) -> tuple[int, str]:
    """The iterations that an Adam gets, and what is reported."""
    kernel, optimizer = tf.Variable(tf.zeros([2, 1])), keras.optimizers.Adam()
    with tempfile.TemporaryDirectory() as folder:
        plan = checkpoints.restore(written(folder, **values), {"kernel": kernel}, optimizer)
    return int(optimizer.iterations.numpy()), " ".join(plan.notes)


def check_steps() -> None:
    assert counted()[0] == 7
    assert counted(global_step=None)[0] == 7
    many, reported = counted(beta1_power=np.float32(0.0), beta2_power=np.float32(0.0), global_step=np.int64(200_000))
    assert many == 200_000 and "so small" in reported
    assert counted(beta1_power=np.float32(0.0), beta2_power=power_of(0.999, 20_000), global_step=None)[0] == 20_000
    between, reported = counted(beta1_power=np.float32(0.9**8.5), beta2_power=np.float32(0.999**8.5), global_step=None)
    assert between in (7, 8) and "no whole number" in reported
    other, reported = counted(beta2_power=power_of(0.99, 7), global_step=None)
    assert other in (7, 76) and "betas here are not those" in reported


def check_a_count_of_steps_that_is_not_the_optimizers() -> None:
    kernel, optimizer, step = tf.Variable(tf.zeros([2, 1])), keras.optimizers.Adam(), tf.Variable(0, dtype=tf.int64)
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, global_step=np.int64(5000))
        error = raised(CheckpointMismatchError, lambda: checkpoints.restore(path, {"kernel": kernel}, optimizer))
        assert error.extra == ("global_step",)
        plan = checkpoints.restore(path, {"kernel": kernel}, optimizer, step=step)
    assert int(step) == 5000 and int(optimizer.iterations.numpy()) == 7
    assert "5000" not in " ".join(plan.notes) or "7 steps" in " ".join(plan.notes)


def check_rounding_of_a_power() -> None:
    """Products of float32, as 1.15.5 makes them, tell their number within what is said."""
    for beta in (0.9, 0.99, 0.999):
        power, value = np.float32(beta), {}
        for steps in range(1, 5001):
            power *= np.float32(beta)
            value[steps] = float(power)
        for steps in (1, 10, 100, 500, 5000):
            found = steps_of(value[steps], beta)
            if found is not None:
                assert abs(found[0] - steps) <= found[1], (beta, steps, found)
            else:
                assert value[steps] < 1.2e-38


# ---------------------------------------------------------------------------------------------------- what is reported


def check_formulas_that_part_are_reported() -> None:
    def notes(library: str, name: str, **settings: Any) -> str:
        model = network(LIBRARIES[library][0])
        kind, given = OPTIMIZERS[name]
        optimizer = getattr(LIBRARIES[library][1], kind)(**{**given, **settings})
        return " ".join(checkpoints.plan(file_of(f"train_{name}"), model, optimizer).notes)

    assert "epsilon is 1e-07 here; TensorFlow 1's default is 1e-8" in notes("keras", "adam", epsilon=1e-7)
    assert notes("keras", "adam") == ""
    assert "amsgrad" in notes("tf_keras", "adam", amsgrad=True)
    assert "default is 1e-10" in notes("keras", "rmsprop", epsilon=1e-7)
    assert "under the root" in notes("legacy", "rmsprop")
    assert notes("legacy", "rmsprop_momentum") == ""
    assert "to the root" in notes("legacy", "adagrad") and notes("keras", "adagrad") == ""
    assert "learning_rate_power" in notes("keras", "ftrl")
    assert "constant rate" in notes("keras", "momentum") and notes("keras", "sgd") == ""


def check_the_graph_beside_a_checkpoint_gives_its_settings() -> None:
    assert settings_of(file_of("train_lstm"), {"dense/kernel", "rnn/basic_lstm_cell/kernel"}) == given(
        learning_rate=0.05, beta_1=0.9, beta_2=0.999, epsilon=1e-8
    )
    assert settings_of(file_of("train_lstm"), {"others"}) == settings_of(file_of("train_adam"), {"out/bias"}) == {}
    model = made(keras, (4, 3), keras.layers.LSTM(2), keras.layers.Dense(1))
    plan = checkpoints.plan(file_of("train_lstm"), model, keras.optimizers.Adam(0.1, beta_1=0.8, epsilon=1e-8))
    notes = " ".join(plan.notes)
    assert "learning_rate is 0.1 here and 0.05 in the checkpoint's graph" in notes
    assert "beta_1 is 0.8 here and 0.9" in notes and "epsilon" not in notes and "beta_2" not in notes
    plan = checkpoints.plan(file_of("train_lstm"), model, keras.optimizers.Adam(0.05))
    assert "epsilon is 1e-07 here and 1e-08 in the checkpoint's graph" in " ".join(plan.notes)


def given(**settings: float) -> Any:
    return pytest.approx(settings, rel=1e-5)


def check_settings_of_each_optimizer_are_found() -> None:
    """In the graphs that today's TensorFlow makes, with gradients of rows and of whole variables."""
    train = tf.compat.v1.train
    for optimizer, settings in (
        (train.GradientDescentOptimizer(0.3), given(learning_rate=0.3)),
        (train.MomentumOptimizer(0.3, 0.8), given(learning_rate=0.3, momentum=0.8)),
        (train.AdamOptimizer(0.3, 0.8, 0.99, 1e-3), given(learning_rate=0.3, beta_1=0.8, beta_2=0.99, epsilon=1e-3)),
        (train.RMSPropOptimizer(0.3, 0.8, 0.1), given(learning_rate=0.3, rho=0.8, momentum=0.1, epsilon=1e-10)),
        (
            train.RMSPropOptimizer(0.3, 0.8, 0.1, centered=True),
            given(learning_rate=0.3, rho=0.8, momentum=0.1, epsilon=1e-10),
        ),
        (train.AdagradOptimizer(0.3), given(learning_rate=0.3)),
        (train.AdadeltaOptimizer(0.3, 0.8, 1e-3), given(learning_rate=0.3, rho=0.8, epsilon=1e-3)),
        (
            train.FtrlOptimizer(0.3, -0.4, 0.1, 0.01, 0.02),
            # l2 is computed in a graph of today's, from beta
            given(learning_rate=0.3, learning_rate_power=-0.4, l1_regularization_strength=0.01),
        ),
    ):
        with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
            table = tf.compat.v1.get_variable("table", [4, 2])
            dense = tf.compat.v1.get_variable("dense", [2])
            loss = tf.reduce_sum(tf.square(tf.gather(table, [1, 2]) * dense))
            optimizer.minimize(loss)
            with tf.compat.v1.Session() as session:
                session.run(tf.compat.v1.global_variables_initializer())
                train.Saver().save(session, f"{folder}/x")
            composed = isinstance(
                optimizer, train.AdamOptimizer | train.GradientDescentOptimizer
            )  # their steps of rows
            for names in ({"dense"}, {"dense", "table"}, *([] if composed else [{"table"}])):
                assert settings_of(f"{folder}/x", names) == settings, (optimizer.get_name(), names)


def check_an_epsilon_that_matters() -> None:
    """Keras's own, 1e-7, changes Adadelta's losses and none of the others', as the guide says."""
    for name in ("adam", "rmsprop", "rmsprop_centered", "adagrad", "adadelta"):
        case, (kind, given) = recorded()[f"train_{name}"], OPTIMIZERS[name]
        model = network(keras)
        optimizer = getattr(keras.optimizers, kind)(**{key: v for key, v in given.items() if key != "epsilon"})
        plan = checkpoints.restore(file_of(f"train_{name}"), model, optimizer)
        assert "epsilon" in " ".join(plan.notes)
        difference = np.abs(np.subtract(losses(model, optimizer, case["shape"]), case["losses"])).max()
        assert (difference > 1e-2) == (name == "adadelta") and (difference > 1e-5) == (name == "adadelta"), name


def check_a_rate_of_zero_is_refused() -> None:
    model = network(keras)
    optimizer = keras.optimizers.SGD(0.0, momentum=0.9)
    error = raised(UsageError, lambda: checkpoints.restore(file_of("train_momentum"), model, optimizer))
    assert "learning rate is 0" in str(error)


def check_optimizers_without_a_like_are_refused() -> None:
    model = network(keras)
    error = raised(ConversionError, lambda: checkpoints.restore(file_of("train_adam"), model, keras.optimizers.Nadam()))
    assert "Nadam" in str(error)


def check_slots_of_another_optimizer() -> None:
    model = network(keras)
    before = model.get_weights()
    optimizer = keras.optimizers.Adagrad()
    error = raised(CheckpointMismatchError, lambda: checkpoints.restore(file_of("train_adam"), model, optimizer))
    assert "hidden/kernel/Adagrad" in error.missing and "hidden/kernel/Adam" in error.extra
    assert "slots of Adam" in str(error)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    assert not optimizer.built


def check_planning_changes_nothing() -> None:
    model, optimizer = network(tf_keras), tf_keras.optimizers.Adam()
    before = model.get_weights()
    plan = checkpoints.restore(file_of("train_adam"), model, optimizer, dry_run=True)
    assert str(plan) == str(checkpoints.plan(file_of("train_adam"), model, optimizer)) and not plan.problems
    assert "hidden/kernel/Adam_1" in str(plan) and not getattr(optimizer, "_built", False)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def check_fit_goes_on_with_the_slots() -> None:
    """Keras's own training loop takes the optimizer as it is."""
    case = recorded()["train_adam"]
    for library in (keras, tf_keras):
        model, optimizer = network(library), library.optimizers.Adam(0.05, epsilon=1e-8)
        checkpoints.restore(file_of("train_adam"), model, optimizer)
        model.compile(optimizer, "mse")
        x = numbers(BEFORE, *case["shape"])
        model.fit(x, np.ones([5, 1], "f"), batch_size=5, epochs=1, verbose=0)
        loss = float(np.mean(np.square(model(numbers(BEFORE + 1, *case["shape"])) - 1.0)))
        assert abs(loss - case["losses"][1]) <= 1e-5, library.__name__
        assert int(optimizer.iterations.numpy()) == BEFORE + 1
