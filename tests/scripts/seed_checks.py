"""What operations draw with; seed_parts.py has all that is recorded. Run by test_seeds.py in one process."""

from __future__ import annotations

import concurrent.futures
import gzip
import importlib.metadata
import json
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from tf1sessions import scripts
from tf1sessions.scripts import seeds

scripts.install()
FOLDER = Path(__file__).parents[1] / "golden"
sys.path[:0] = [str(FOLDER / "make"), str(FOLDER / "cases")]

import make_seeds  # noqa: E402
import numpy as np  # noqa: E402
import seed_calls  # noqa: E402
import tensorflow as tf  # noqa: E402

GOLDEN = json.loads(gzip.decompress((FOLDER / "data" / "seeds.json.gz").read_bytes()))
WANTED = GOLDEN["calls"]


def seeds_of(name: str) -> Any:
    return make_seeds.drawn(make_seeds.graph_of(seed_calls.CALLS[name]))


def check_a_graph_that_several_threads_build_counts_what_each_makes() -> None:
    """Whichever is first: the last seed is the number of all operations."""

    def build(graph: Any) -> None:
        with graph.as_default():
            tf.random_uniform([2])
            tf.clip_by_global_norm([tf.zeros([2])], 1.0)

    together, alone = tf.Graph(), tf.Graph()
    for graph in (together, alone):
        graph.seed = 7
    threads = [threading.Thread(target=build, args=[together]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
        build(alone)
    last = []
    for graph in (together, alone):
        with graph.as_default():
            tf.random_normal([1])
        last.append(make_seeds.drawn(graph)[-1])
    assert last[0] == last[1], last


def check_threads_with_graphs_of_their_own_do_not_count_each_others() -> None:
    names = ["dense_relu", "optimizer_adam", "random_uniform", "lstm"] * 2
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(seeds_of, names))
    assert found == [WANTED[name] for name in names], found


def check_data_sets_draw_and_shuffle_as_on_1_15() -> None:
    assert GOLDEN["draws"].keys() == seed_calls.DRAWS.keys()
    found = {name: seed_calls.draws(name) for name in seed_calls.DRAWS}
    differ = [name for name, values in found.items() if values != GOLDEN["draws"][name]]
    assert not differ, [(name, found[name], GOLDEN["draws"][name]) for name in differ]


def check_a_whole_program_computes_what_it_computed() -> None:
    found = seed_calls.program()
    assert all(abs(one - other) < 1e-5 for one, other in zip(found, GOLDEN["program"], strict=True)), found


def check_a_keras_model_of_layers_that_are_counted_takes_training() -> None:
    """Keras gives ``training`` to layers whose call takes it, by its signature."""
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2DTranspose(1, 2, input_shape=(3, 3, 1)),
            layers.TimeDistributed(layers.Dense(2)),
            layers.BatchNormalization(),
            layers.Flatten(),
        ]
    )
    assert model(tf.zeros([2, 3, 3, 1]), training=False).shape == [2, 32]


def check_sorting_of_whole_numbers_is_counted() -> None:
    """Operations of ``tf.sort`` and ``tf.argsort`` in 1.15.5, of a type, an axis and whether the rank is known."""
    counted = {
        ("int32", -1, True): (10, 9), ("int64", 0, True): (13, 12), ("int32", 0, False): (27, 26),
        ("float32", 0, False): (27, 26), ("float32", 0, True): (13, 12), ("int64", -1, False): (10, 9),
    }  # fmt: skip
    for (dtype, axis, ranked), wanted in counted.items():
        found = []
        for sort in (tf.sort, tf.argsort):
            with tf.Graph().as_default() as graph:
                values = tf.placeholder(dtype, [2, 3] if ranked else None)
                before = seeds._count(graph)
                sort(values, axis)
                found.append(seeds._count(graph) - before)
        assert tuple(found) == wanted, (dtype, axis, ranked, found)


def check_it_can_be_turned_off_and_belongs_to_graphs() -> None:
    seeds.choose("tf2")
    try:
        assert seeds_of("random_uniform") == [["RandomUniform", 0], ["RandomStandardNormal", 1]]
        assert seeds_of("get_variable_regularized")[-1][1] == 1
    finally:
        seeds.choose("tf1")
    with tf.Graph().as_default():
        assert tf.random_uniform([2]).op.get_attr("seed2") == 0  # no seed, nothing to count for
        tf.set_random_seed(1)
        assert tf.random_uniform([2], seed=5).op.get_attr("seed2") == 5
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            assert tf.random_normal([2]).op.inputs[0].op.inputs[0].op.get_attr("seed2") == 3


def check_a_graph_that_was_written_keeps_its_count() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            tf.random_uniform([2])
            written = tf.train.export_meta_graph(f"{folder}/written.meta")
            part = tf.train.export_meta_graph(export_scope="random_uniform")
        assert seeds._count(graph) > len(graph.get_operations())
        assert part.meta_info_def.any_info.ByteSize() == 0  # which operations are missing, is not known
        for source in (written, f"{folder}/written.meta"):
            with tf.Graph().as_default() as again:
                tf.train.import_meta_graph(source)
            assert seeds._count(again) == seeds._count(graph)


ARRAY = np.ones([3, 3], np.float32)


def _anything() -> Any:
    return tf.placeholder(tf.float32)


def _two() -> Any:
    return tf.constant(2)


#: Calls with arguments that a counting wrapper could trip over, and how many operations 1.15.5 has when it has made one
#: and the shape of the next: the second seed of what draws then.
ODD_ARGUMENTS = [
    (lambda: tf.reduce_sum([[1.0, 2.0]]), 10),
    (lambda: tf.reduce_sum(ARRAY), 10),
    (lambda: tf.reduce_mean(3.0), 10),
    (lambda: tf.reduce_sum(_anything()), 9),
    (lambda: tf.split(ARRAY, 3, axis=1), 7),
    (lambda: tf.split(ARRAY, tf.constant([1, 2]), 1), 7),
    (lambda: tf.transpose(ARRAY), 6),
    (lambda: tf.transpose([[1, 2]]), 6),
    (lambda: tf.transpose(_anything(), [1, 0]), 6),
    (lambda: tf.tensordot(ARRAY, ARRAY, [[1], [1]]), 16),
    (lambda: tf.tensordot([1.0, 2.0], [3.0, 4.0], 1), 16),
    (lambda: tf.tensordot(ARRAY, _anything(), 1), 38),
    (lambda: tf.tensordot(_anything(), ARRAY, [[1], [0]]), 38),
    (lambda: tf.tensordot(ARRAY, ARRAY, tf.constant([[1], [1]])), 64),
    (lambda: tf.zeros(3), 6),
    (lambda: tf.zeros([]), 4),
    (lambda: tf.zeros(tf.TensorShape([2])), 4),
    (lambda: tf.zeros(np.array([2, 3])), 4),
    (lambda: tf.ones([_two(), 3]), 12),
    (lambda: tf.ones((_two(), _two(), 2)), 14),
    (lambda: tf.zeros([tf.Dimension(2), _two()]), 12),
    (lambda: tf.random_uniform([2], 0, 5, "int32"), 7),
    (lambda: tf.random_uniform(shape=[2], dtype=np.float64), 10),
    (lambda: tf.random_uniform([2], _two(), 5, tf.int32), 7),
    (lambda: tf.nn.dropout(ARRAY, 0.5), 20),
    (lambda: tf.nn.dropout(tf.constant(ARRAY), rate=tf.constant(0.4)), 20),
    (lambda: tf.cond(_two() > 1, lambda: tf.nn.dropout(ARRAY, 0.5), lambda: tf.constant(ARRAY)), 29),
    (lambda: tf.clip_by_global_norm([tf.constant(ARRAY), None], 1.0)[0][0], 24),
    (lambda: tf.nn.swish(ARRAY), 8),
    (lambda: tf.parse_example([b""], {"a": tf.FixedLenFeature([], tf.float32, 0.0)}), 10),
    (lambda: tf.train.polynomial_decay(0.1, _two(), 100), 19),
    (lambda: tf.TensorArray(tf.float32, _two()).size(), 6),
]


def check_odd_arguments_are_counted() -> None:
    if not importlib.metadata.version("tensorflow").startswith("2.21."):
        return  # operations were counted on that release only; see test_seed_calls.py
    found = []
    for call, _ in ODD_ARGUMENTS:
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            call()
            tf.random_uniform([2])
            found.append([op for op in graph.get_operations() if op.type == "RandomUniform"][-1].get_attr("seed2"))
    assert found == [count for _, count in ODD_ARGUMENTS]


def check_what_is_composed_computes_the_same() -> None:
    random = np.random.RandomState(1)
    shapes = {letter: size for size, letter in enumerate("abijkZ", 2)}
    cases = [
        ("ij,jk->ik", None), ("ij,kj->ik", None), ("bij,bjk", None), ("bij,bkj->bik", "b"), ("aij,bjk->abik", "ij"),
        ("ij,ij->i", "j"), ("i,j->ji", None), ("abij->ba", None), ("ji->ij", "i"), ("ij,jk,kb->ib", "k"),
        ("bjk,kij->bi", "bk"), ("i,i", "i"), ("aij,kb->ab", None),
    ]  # fmt: skip
    for equation, unknown in cases:
        operands = equation.split("->")[0].split(",")
        arrays = [random.rand(*(shapes[axis] for axis in axes)) for axes in operands]
        with tf.Graph().as_default(), tf.Session() as session:
            given = [
                tf.placeholder(tf.float64, [None if axis in (unknown or "") else shapes[axis] for axis in axes])
                for axes in operands
            ]
            made = tf.einsum(equation, *given)
            types = {op.type for op in made.graph.get_operations()}
            found = session.run(made, dict(zip(given, arrays, strict=True)))
        assert "Einsum" not in types, (equation, types)
        np.testing.assert_allclose(found, np.einsum(equation, *arrays), err_msg=equation)
    with tf.Graph().as_default(), tf.Session() as session:
        one, other = random.rand(2, 3, 4, 5), random.rand(5, 6)
        found = session.run(tf.einsum("...ij,jk->...ik", tf.constant(one), tf.constant(other)))
        np.testing.assert_allclose(found, np.einsum("...ij,jk->...ik", one, other))
        np.testing.assert_allclose(
            session.run(tf.einsum("ii", tf.constant(one[0, 0, :3, :3]))), one[0, 0, :3, :3].trace()
        )
        softmax = session.run(tf.keras.activations.softmax(tf.constant(one), axis=1))
        np.testing.assert_allclose(softmax, np.exp(one) / np.exp(one).sum(1, keepdims=True))


def check_what_is_composed_as_it_was_computes_the_same() -> None:
    random = np.random.RandomState(1)
    values, image = random.randn(4, 3).astype("f"), random.rand(4, 5, 3).astype("f")
    sigmoid, weights = 1 / (1 + np.exp(-values)), np.abs(values)
    mean = (weights * values).sum(0) / weights.sum(0)
    variance = (weights * (values - mean) ** 2).sum(0) / weights.sum(0)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(3)
        given, anything = tf.constant(values), tf.placeholder(tf.float32)
        swish = tf.nn.swish(given)
        made = [swish, tf.gradients(swish, given)[0], *tf.nn.weighted_moments(given, [0], tf.constant(weights))]
        wanted = [values * sigmoid, sigmoid * (1 + values * (1 - sigmoid)), mean, variance]
        for one, want in zip(session.run([*made, tf.math.bessel_i0(given)]), [*wanted, np.i0(values)], strict=True):
            np.testing.assert_allclose(one, want, rtol=1e-4)
        assert {"DivNoNan", "BesselI0"}.isdisjoint(op.type for op in graph.get_operations())
        flipped, drawn = tf.image.flip_left_right(anything), tf.image.random_flip_left_right(anything)
        np.testing.assert_array_equal(session.run(flipped, {anything: image}), image[:, ::-1])
        found = {session.run(drawn, {anything: image}).tobytes() for _ in range(20)}
    assert found == {image.tobytes(), image[:, ::-1].tobytes()}
