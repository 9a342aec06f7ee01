"""What ``--seeds report`` says. Run by test_seed_report.py in one process."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tf1sessions import scripts
from tf1sessions.scripts import op_counts, seed_report, seed_words, seeds
from tf1sessions.scripts.seed_report import Measured, MeasuredFunction

scripts.install()
FOLDER = Path(__file__).parents[1] / "golden"
sys.path[:0] = [str(FOLDER / "make"), str(FOLDER / "cases")]

import make_measured_traits  # noqa: E402
import make_seeds  # noqa: E402
import seed_calls  # noqa: E402
import tensorflow as tf  # noqa: E402


@contextlib.contextmanager
def watched(*without: Callable[[], Any]) -> Iterator[Callable[[], list[seed_report.GraphSeeds]]]:
    """Gives what was found, as if some calls had not been measured."""
    left_out = set().union(*map(traits_of, without)) - traits_of(lambda: None)
    functions = {
        name: MeasuredFunction(
            frozenset(trait for trait in function.traits if (name, trait) not in left_out), function.level
        )
        for name, function in seed_report.measured().functions.items()
    }
    report = seed_report.SeedReport(Measured(functions))
    seeds.watch(report)
    try:
        yield report.graphs
    finally:
        seeds.watch(None)


def traits_of(call: Callable[[], Any]) -> set[tuple[str, str]]:
    _, drawing = make_measured_traits.noted(lambda: make_seeds.graph_of(call))
    return {
        (function, trait)
        for _, asked in drawing
        for _, function, traits in asked
        for level in traits
        for trait in level
    }


def relu() -> Any:
    return tf.nn.relu(tf.placeholder(tf.float32, [3]))


def marks(found: list[seed_report.GraphSeeds]) -> list[list[tuple[int, bool]]]:
    return [[(draw.seed, graph.is_exact(draw)) for draw in graph.draws] for graph in found]


def text(found: list[seed_report.GraphSeeds]) -> str:
    return "\n".join(seed_words.lines(found))


def check_seeds_are_exact_up_to_the_first_call_that_was_not_measured() -> None:
    with watched(relu) as found, tf.Graph().as_default():
        tf.set_random_seed(1)
        value = tf.random_normal([2])
        tf.random_normal([2], seed=5)  # has a seed of its own
        made = tf.nn.relu(value)
        line = sys._getframe().f_lineno - 1
        tf.layers.dense(made[None], 3)
    (graph,) = found()
    assert [exact for _, exact in marks([graph])[0]] == [True, False]
    assert graph.unknown is not None and graph.unknown.where[1] == line, (graph.unknown, line)
    reported = text([graph])
    assert f"unknown from tf.nn.relu ({seed_words._place((__file__, line))}) on" in reported, reported
    assert "exact   tf.random_normal" in reported and "unknown tf.layers.dense" in reported, reported


def check_a_difference_that_is_not_counted_is_not_exact() -> None:
    """What is wrong without an entry of the table, is unknown without it."""
    differs: Any = op_counts.FUNCTIONS["tensorflow.python.ops.array_ops:split"]
    code = differs.__code__
    differs.__code__ = (lambda *_, **__: (0, 0)).__code__
    try:
        with watched() as found:
            made = make_seeds.drawn(make_seeds.graph_of(seed_calls.CALLS["split"]))
    finally:
        differs.__code__ = code
    assert made != make_measured_traits.wanted()["calls"]["split"], made
    assert [exact for _, exact in marks(found())[0]] == [False], text(found())


def check_graphs_are_distinguished_and_threads_may_build_them() -> None:
    graphs = [tf.Graph() for _ in range(4)]
    for graph in graphs:
        graph.seed = 3
    begin = threading.Barrier(8, timeout=60)
    failed: list[BaseException] = []

    def build(number: int) -> None:
        try:
            begin.wait()
            with graphs[number % 4].as_default():
                for _ in range(5):
                    tf.random_normal([2])
                if number % 4 == 1:
                    tf.nn.relu(tf.zeros([2]))
                tf.random_normal([2])
        except BaseException as error:
            failed.append(error)

    with watched(relu) as found:
        threads = [threading.Thread(target=build, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, failed
        by_draws = sorted((sum(exact for _, exact in one), len(one)) for one in marks(found()))
    assert by_draws[1:] == [(12, 12)] * 3 and by_draws[0][0] < 12, by_draws


def check_what_happens_in_bodies_and_functions() -> None:
    def body(i: Any, total: Any) -> Any:
        return i + 1, tf.nn.relu(total) + tf.random_uniform([2])

    with watched(relu) as found, tf.Graph().as_default():
        tf.set_random_seed(2)
        tf.random_normal([2])
        tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([2])])
        first = found()[0].unknown
        assert first is not None and first.where[0] == __file__
        assert [exact for _, exact in marks(found())[0]] == [True, False]
    with watched(relu) as found, tf.Graph().as_default():
        tf.set_random_seed(2)
        tf.data.Dataset.range(5).map(lambda _: tf.nn.relu(tf.zeros([2])) + tf.random_normal([2])).shuffle(3)
        assert [one[0][1] for one in marks(found())] == [False, True] or [one[0][1] for one in marks(found())] == [
            True,
            False,
        ], text(found())


def check_graphs_that_are_loaded_count_as_they_are() -> None:
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant(1.0), 2.0)
    with watched() as found, tf.Graph().as_default():
        tf.set_random_seed(2)
        tf.import_graph_def(graph.as_graph_def(), name="")
        tf.random_normal([2])
        seed = len(graph.get_operations()) + 3  # and the shape, the mean and the deviation
    assert marks(found()) == [[(seed, True)]], text(found())


def check_operations_before_the_seed_count() -> None:
    with tf.Graph().as_default():
        tf.nn.dropout(tf.zeros([4, 5]), 0.5)
        tf.set_random_seed(7)
        late = tf.random_normal([1]).op.inputs[0].op.inputs[0].op.get_attr("seed2")
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        tf.nn.dropout(tf.zeros([4, 5]), 0.5)
        assert late == tf.random_normal([1]).op.inputs[0].op.inputs[0].op.get_attr("seed2")


def check_other_releases_know_nothing() -> None:
    with watched() as found, tf.Graph().as_default():
        tf.set_random_seed(2)
        found.__self__._measured = Measured({})  # type: ignore[attr-defined]
        tf.random_normal([2])
    assert [exact for _, exact in marks(found())[0]] == [False]


def check_much_is_reported_in_few_lines_and_nothing_is_lost(folder: Path = Path("seed_report")) -> None:
    folder.mkdir(exist_ok=True)
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("tf1sessions").addHandler(handler)
    try:
        seeds.choose("report", str(folder / "all.seeds.txt"))
        source = "\n".join("tf.random_normal([1])" for _ in range(60)) + "\nfor _ in range(9): tf.random_normal([1])"
        with tf.Graph().as_default():
            tf.set_random_seed(2)
            exec(compile(source, "many.py", "exec"), {"tf": tf})
        seed_words.write_report()
        seed_words.write_report()  # once
    finally:
        logging.getLogger("tf1sessions").removeHandler(handler)
        seeds.choose("tf1")
    (message,) = messages
    assert message.startswith(
        "seeds: of the 69 that TensorFlow chose by counting operations, 69 are exactly TensorFlow 1's\n"
    ), message
    assert "and 31 more lines in" in message, message
    kept = (folder / "all.seeds.txt").read_text()
    assert len(kept.splitlines()) == 62, kept
    assert kept.splitlines()[-1].endswith(": 9 seeds"), kept


def check_what_is_measured_is_in_the_file() -> None:
    """Of every hundredth graph; see make_measured_traits.py for all of them."""
    for key, (build, wanted) in list(make_measured_traits.graphs().items())[::100]:
        made, drawing = make_measured_traits.noted(build)
        missing = [one for _, asked in drawing for _, *one in asked if not is_in_the_file(*one)]
        assert made != wanted or not missing, (key, "run make_measured_traits.py")


def is_in_the_file(function: str, traits: tuple[tuple[str, ...], ...]) -> bool:
    known = seed_report.measured().functions.get(function, MeasuredFunction(frozenset()))
    return known.level == seed_report.NEVER or known.traits.issuperset(traits[known.level])


def check_a_function_that_was_counted_wrongly_is_looked_at_more_closely() -> None:
    """As closely as distinguishes the wrong case from the right ones; it is never measured where nothing does."""

    def case(is_right: bool, function: str, traits: tuple[str, ...], seed: int = 5) -> Any:
        return is_right, [["Op", 5]], [([(1, seed)], [(0, function, tuple((trait,) for trait in traits))])]

    def measured(**functions: tuple[str, int]) -> Measured:
        return Measured(
            {name: MeasuredFunction(frozenset(traits.split()), level) for name, (traits, level) in functions.items()}
        )

    judged = make_measured_traits.judged
    right, other = case(True, "f", ("u", "c", "cc")), case(True, "g", ("1", "2", "3"))
    found = judged({1: right, 2: case(False, "f", ("u", "x", "xx"), 6), 3: other})
    assert found == measured(f=("c", seed_report.CLOSE), g=("1", seed_report.USUAL)), found
    found = judged({1: right, 2: case(False, "f", ("u", "c", "xx"), 6), 3: other})
    assert found == measured(f=("cc", seed_report.CLOSEST), g=("1", seed_report.USUAL)), found
    found = judged({1: right, 2: case(False, "f", ("u", "c", "cc"), 6), 3: other})
    assert found == measured(f=("", seed_report.NEVER), g=("1", seed_report.USUAL)), found
    found = judged({1: right, 2: case(False, "f", ("y", "c", "cc"), 6)})  # unknown as it is
    assert found == measured(f=("u", seed_report.USUAL)), found


def check_names_are_found_without_parsing_the_programs_arguments() -> None:
    tf.flags.DEFINE_integer("of_the_report", 3, "")
    before, sys.argv = sys.argv, ["train.py", "--unknown_to_absl"]
    try:
        assert seed_words._names()[tf.random.normal.__wrapped__.__code__].startswith("tf.")
        assert not tf.flags.FLAGS.is_parsed()
    finally:
        sys.argv = before
