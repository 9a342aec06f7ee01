"""In which order elements of data sets come, beside genuine 1.15.5. Run by test_data_orders.py in one process."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

from tf1sessions import scripts
from tf1sessions.scripts import seed_report, seeds

scripts.install()
sys.path.insert(0, str(Path(__file__).parents[1] / "golden" / "cases"))

import data_orders  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

WANTED = json.loads(Path(data_orders.GOLDEN).read_text("utf-8"))


def elements(dataset: Any, count: int = 1000) -> list[Any]:
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found: list[Any] = []
    with tf.Session() as session:
        while len(found) < count:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                break
    return found


def repeated(seed: int | None = 3) -> Any:
    return tf.data.Dataset.range(20).shuffle(8, seed=seed).repeat(3)


def types_of(graph: Any) -> list[str]:
    return [op.type for op in graph.get_operations()]


def check_all_cases_are_in_the_golden() -> None:
    assert data_orders.CASES.keys() == WANTED.keys()


def check_elements_come_in_the_order_of_1_15() -> None:
    found = {name: data_orders.order(name) for name in WANTED}
    differ = {name: (found[name], WANTED[name]) for name in WANTED if found[name] != WANTED[name]}
    assert not differ, differ


def check_it_is_tensorflows_own_with_its_own_seeds() -> None:
    seeds.choose("tf2")
    try:
        with tf.Graph().as_default() as graph:
            own = elements(repeated())
            assert "ScanDataset" not in types_of(graph)
    finally:
        seeds.choose("tf1")
    with tf.Graph().as_default() as graph:
        assert elements(repeated()) != own
        assert "ScanDataset" in types_of(graph)


def check_without_a_seed_it_is_tensorflows_own() -> None:
    with tf.Graph().as_default() as graph:
        assert sorted(elements(repeated(None))) == sorted([*range(20)] * 3)
        tf.data.Dataset.range(20).apply(tf.data.experimental.shuffle_and_repeat(8, 3))
        assert "ScanDataset" not in types_of(graph)


def check_names_and_counts_are_those_of_1_15() -> None:
    """Its repeat made two operations: the count and the data set."""
    with tf.Graph().as_default() as graph:
        dataset = tf.data.Dataset.range(20).map(lambda x: tf.fill([3, 2], x)).shuffle(8, seed=3)
        names = {op.name for op in graph.get_operations()}
        before = seeds._count(graph)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dataset.repeat(3)
        assert seeds._count(graph) == before + 2
        new = {op.name for op in graph.get_operations()} - names
        assert {name.partition("/")[0] for name in new} == {"count", "RepeatDataset", "shuffle_and_repeat"}, new


def check_threads_that_build_one_graph_count_their_own() -> None:
    graph = tf.Graph()

    def build() -> None:
        with graph.as_default():
            for _ in range(3):
                repeated()

    with tf.Graph().as_default() as alone:
        repeated()
    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seeds._count(graph) == 12 * seeds._count(alone)


def check_the_report_sees_what_1_15_made_alone() -> None:
    seen: list[str] = []

    class Report(seed_report.SeedReport):
        def __init__(self) -> None:
            """Keeps the types of operations alone."""

        def made(self, graph: Any, operation: str) -> None:
            seen.append(operation)

        def counted(self, what: str, before: int, after: int) -> None:
            pass

        def drew(self, graph: Any, seed: int | None) -> None:
            pass

    seeds.watch(Report())
    try:
        with tf.Graph().as_default():
            repeated()
    finally:
        seeds.watch(None)
    assert seen[-1] == "RepeatDataset" and "ScanDataset" not in seen, seen


def check_arguments_that_are_not_allowed_have_tensorflows_errors() -> None:
    for buffer_size in (0, -1):
        with tf.Graph().as_default():
            try:
                elements(tf.data.Dataset.range(9).shuffle(buffer_size, seed=3).repeat(2))
            except tf.errors.InvalidArgumentError as error:
                assert "buffer_size must be greater than zero" in str(error)
            else:
                raise AssertionError(buffer_size)


def check_an_iterator_goes_on_from_a_checkpoint() -> None:
    for to_text in (False, True):
        with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder, tf.Session() as session:
            dataset = tf.data.Dataset.range(20)
            dataset = (dataset.map(tf.as_string) if to_text else dataset).shuffle(8, seed=3).repeat()
            iterator = tf.data.make_initializable_iterator(dataset)
            element = iterator.get_next()
            saver = tf.train.Saver({"iterator": tf.data.experimental.make_saveable_from_iterator(iterator)})
            session.run(iterator.initializer)
            for _ in range(27):
                session.run(element)
            path = saver.save(session, f"{folder}/model")
            wanted = [session.run(element) for _ in range(40)]
            session.run(iterator.initializer)
            saver.restore(session, path)
            assert [session.run(element) for _ in range(40)] == wanted


def check_an_error_of_the_source_arrives() -> None:
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(20).map(lambda x: tf.check_numerics(1.0 / tf.cast(15 - x, tf.float32), "here"))
        try:
            elements(dataset.shuffle(8, seed=3).repeat(2))
        except tf.errors.InvalidArgumentError as error:
            assert "here" in str(error)
        else:
            raise AssertionError("no error")


def check_specs_and_values_are_those_of_the_source() -> None:
    with tf.Graph().as_default():
        rows = {"x": np.arange(12, dtype=np.float32).reshape(6, 2), "name": np.array([b"a", b"bb"] * 3)}
        source = tf.data.Dataset.from_tensor_slices((rows, np.arange(6)))
        made = source.shuffle(4, seed=1).repeat(2)
        for both in ("output_types", "output_shapes", "output_classes"):
            assert getattr(made, both) == getattr(source, both), both
        found = elements(made)
        assert sorted(label for _, label in found) == sorted([*range(6)] * 2)
        for row, label in found:
            np.testing.assert_array_equal(row["x"], rows["x"][label])
            assert row["name"] == rows["name"][label]
