"""The cases of golden/make/make_checkpoints.py as Keras has them: for the checks of checkpoints.

``python checkpoint_cases.py FOLDER`` writes what 1.15.5 is to restore: see golden/make/make_checkpoints.py.
"""

from __future__ import annotations

import functools
import gzip
import json
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tf_keras

from tf1sessions.porting import checkpoints

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "data"
BEFORE, AFTER, BETWEEN = 4, 6, 2  # as in make_checkpoints.py

#: Case -> the class of its optimizer and its settings; an epsilon is TensorFlow 1's default.
OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"learning_rate": 0.1}),
    "momentum": ("SGD", {"learning_rate": 0.05, "momentum": 0.9}),
    "nesterov": ("SGD", {"learning_rate": 0.05, "momentum": 0.9, "nesterov": True}),
    "adam": ("Adam", {"learning_rate": 0.05, "epsilon": 1e-8}),
    "rmsprop": ("RMSprop", {"learning_rate": 0.02, "epsilon": 1e-10}),
    "rmsprop_momentum": ("RMSprop", {"learning_rate": 0.02, "momentum": 0.5, "epsilon": 1e-10}),
    "rmsprop_centered": ("RMSprop", {"learning_rate": 0.02, "momentum": 0.5, "centered": True, "epsilon": 1e-10}),
    "adagrad": ("Adagrad", {"learning_rate": 0.1, "epsilon": 0.0}),
    "adadelta": ("Adadelta", {"learning_rate": 1.0, "epsilon": 1e-8}),
    "ftrl": (
        "Ftrl",
        {"learning_rate": 0.1, "l1_regularization_strength": 0.001, "l2_regularization_strength": 0.001},
    ),
}
LIBRARIES = {
    "keras": (keras, keras.optimizers),
    "tf_keras": (tf_keras, tf_keras.optimizers),
    "legacy": (tf_keras, tf_keras.optimizers.legacy),
}


@functools.cache
def recorded(file: str = "checkpoints.json.gz") -> dict[str, Any]:
    """What 1.15.5 did, by case."""
    with gzip.open(GOLDEN / file, "rt", encoding="utf-8") as stream:
        cases: dict[str, Any] = json.load(stream)
    return cases


@functools.cache
def _folder() -> Any:
    folder = tempfile.TemporaryDirectory()
    with tarfile.open(GOLDEN / "checkpoints.tar.gz") as archive:
        archive.extractall(folder.name)
    return folder


def file_of(case: str) -> str:
    """The checkpoint that 1.15.5 wrote."""
    return f"{_folder().name}/{recorded()[case]['files']}"


def numbers(seed: int, *shape: int) -> Any:
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def made(library: Any, shape: tuple[int, ...], *layers: Any) -> Any:
    return library.Sequential([library.Input(shape), *layers])


def network(library: Any) -> Any:
    """The network of the golden's ``trained()``, with other values."""
    dense = library.layers.Dense
    return made(library, (3,), dense(4, "tanh", name="hidden"), dense(1, name="out"))


def cnn(library: Any) -> Any:
    layers = library.layers
    return made(
        library,
        (8, 8, 3),
        layers.Conv2D(4, 3, padding="same", activation="relu"),
        layers.BatchNormalization(),
        layers.Conv2D(4, 3, padding="same", activation="relu"),
        layers.BatchNormalization(),
        layers.SeparableConv2D(5, 3, padding="same"),
        layers.Conv2DTranspose(2, 3, strides=2, padding="same"),
        layers.Flatten(),
        layers.Dense(6, "relu"),
        layers.Dense(3),
    )


def slim_cnn(library: Any) -> Any:
    layers = library.layers
    return made(
        library,
        (8, 8, 3),
        layers.Conv2D(4, 3, padding="same", use_bias=False),
        layers.BatchNormalization(scale=False),
        layers.ReLU(),
        layers.Conv2D(4, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(6, "relu"),
        layers.Dense(3),
    )


def optimizer_of(library: str, name: str) -> Any:
    kind, settings = OPTIMIZERS[name]
    return getattr(LIBRARIES[library][1], kind)(**settings)


def losses(model: Any, optimizer: Any, shape: list[int], first: int = BEFORE, count: int = AFTER) -> list[float]:
    """Trains on as the golden did; by hand, so that any optimizer is used in the same way."""
    found = []
    for step in range(first, first + count):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(numbers(step, *shape), training=True) - 1.0))
        variables = model.trainable_variables
        gradients = tape.gradient(loss, [v.value if isinstance(v, keras.Variable) else v for v in variables])
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        found.append(float(loss))
    return found


# -------------------------------------------------------------------------------------- what 1.15.5 is given to restore


def write_back(folder: str) -> None:
    """Restores each case, trains on for BETWEEN steps where it is one of training, and writes TensorFlow 1's form."""
    for index, name in enumerate(OPTIMIZERS):
        case = f"train_{name}"
        library = "keras" if index % 2 else "tf_keras"
        model, optimizer = network(LIBRARIES[library][0]), optimizer_of(library, name)
        checkpoints.restore(file_of(case), model, optimizer)
        losses(model, optimizer, recorded()[case]["shape"], count=BETWEEN)
        checkpoints.save_named(model, f"{folder}/{case}", optimizer)
    _write_recurrent(folder)
    model = cnn(keras)
    checkpoints.restore(file_of("layers_cnn"), model)
    checkpoints.save_named(model, f"{folder}/layers_cnn", like=file_of("layers_cnn"))
    model = made(tf_keras, (5, 3), tf_keras.layers.GRU(4, return_sequences=True, reset_after=False, name="top"))
    checkpoints.restore(file_of("gru"), model)
    checkpoints.save_named(model, f"{folder}/gru", names={"top/gru_cell": "rnn/gru_cell"})


def _write_recurrent(folder: str) -> None:
    layers, adam = keras.layers, keras.optimizers.Adam
    model = made(keras, (4, 3), layers.LSTM(2, name="lstm"), layers.Dense(1, name="dense"))
    optimizer = adam(0.05, epsilon=1e-8)
    checkpoints.restore(file_of("train_lstm"), model, optimizer)
    losses(model, optimizer, [5, 4, 3], count=BETWEEN)
    names = [("lstm/lstm_cell(/.*)?", r"rnn/basic_lstm_cell\1")]
    checkpoints.save_named(model, f"{folder}/train_lstm", optimizer, names=names)

    model = made(keras, (3,), layers.Dense(2, name="dense"))
    optimizer = adam(0.05, epsilon=1e-8, use_ema=True, ema_momentum=0.9)
    checkpoints.restore(file_of("train_average"), model, optimizer, optimizer_name="Mine")
    losses(model, optimizer, [5, 3], count=BETWEEN)
    like = file_of("train_average")
    checkpoints.save_named(model, f"{folder}/train_average", optimizer, like=like, optimizer_name="Mine")


if __name__ == "__main__":
    write_back(sys.argv[1])
