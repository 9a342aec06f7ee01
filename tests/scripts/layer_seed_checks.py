"""With which seeds layers of Keras draw, beside genuine 1.15.5. Run by test_layer_seeds.py in one process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tf1sessions import scripts
from tf1sessions.scripts import seeds

scripts.install()
sys.path.insert(0, str(Path(__file__).parents[1] / "golden" / "cases"))

import layer_seeds  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

WANTED = json.loads(Path(layer_seeds.GOLDEN).read_text("utf-8"))


def check_layers_draw_with_the_seeds_of_1_15() -> None:
    assert layer_seeds.CASES.keys() == WANTED.keys()
    found = {name: layer_seeds.seeds(name) for name in WANTED}
    differ = {name: (found[name], WANTED[name]) for name in WANTED if found[name] != WANTED[name]}
    assert not differ, differ


def check_they_are_tensorflows_own_with_its_own_seeds() -> None:
    seeds.choose("tf2")
    try:
        assert layer_seeds.seeds("alpha dropout with a seed")[1][2] == 4
    finally:
        seeds.choose("tf1")


def check_numpys_generator_decides_on_noise() -> None:
    def noise(seed: int) -> list[float]:
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(5)
            np.random.seed(seed)
            made = tf.keras.layers.GaussianNoise(1.0)(tf.zeros([3]), training=True)
            return list(session.run(made))

    assert noise(1) == noise(1) != noise(2)
