"""Calls that keep the loops of TensorFlow 1, against calls under a tape. Run by test_kept_loops.py in one process."""

from __future__ import annotations

import contextlib
import functools
import itertools
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import replay_checks
import tensorflow as tf
import training_graph_checks
from ported_sources import inference, record_of, training

import tf1sessions
from tf1sessions import porting
from tf1sessions.errors import ConversionError
from tf1sessions.porting.graphs.known import Known, Stacks, Value
from tf1sessions.porting.graphs.replay import GraphReplay
from tf1sessions.porting.graphs.structure import CONTROL, key_of

v1 = tf1sessions.tf1
ROWS = (np.arange(12, dtype=np.float32) / 8.0).reshape(4, 3)
#: The graphs of 1.15.5 whose loops cannot be kept: a loop in a branch, a function, a variable that is changed.
NOT_KEPT = {
    *("cond_of_loop", "function_in_loop", "assigned_in_loop_and_branch", "loop_of_branches_in_a_branch"),
    *("loop_of_loops_in_a_branch", "masks_of_steps_in_a_branch", "recurrent_in_a_branch", "recurrent_in_a_loop"),
    *("recurrent_in_both_branches", "recurrent_in_nested_branches", "tagged_in_a_branch"),
}
#: Those of them in which a loop hands on another shape than it got, or may do so.
VARIED = {"loop_that_grows"}


@contextlib.contextmanager
def graph_as_it_is() -> Iterator[None]:
    """Without TensorFlow's optimiser, which fuses other parts of one form of a graph than of the other."""
    before = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False, **before})


def kinds_in(function: Any) -> list[str]:
    return [each.type for each in function.concrete.graph.get_operations()]


def is_kept(call: Any, *names: str) -> bool:
    """Whether a call of these inputs, made before and without a tape, ran a function with frames of TensorFlow 1."""
    inner = call._call_for(names or call._required(), {})
    functions = [*inner._by_shapes.values(), *filter(None, [inner._general])]
    kinds = {kind for each in functions or [inner] for kind in kinds_in(each)}
    assert "Enter" not in {each.type for each in inner.concrete.graph.get_operations()}
    return "Enter" in kinds and not kinds & {"While", "StatelessWhile"}


def under_a_tape(call: Callable[[], Any]) -> Any:
    with tf.GradientTape():
        return call()


def equal(found: Any, expected: Any, message: str) -> None:
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=f"{message}: {name}")


def looping(body: Callable[..., Any]) -> Callable[..., Any]:
    """A function that builds a graph, with the control flow of version 1."""

    @functools.wraps(body)
    def build(*inputs: Any, **named: Any) -> Any:
        version_2 = v1.control_flow_v2_enabled()
        v1.disable_control_flow_v2()
        try:
            return body(*inputs, **named)
        finally:
            if version_2:
                v1.enable_control_flow_v2()

    return build


def module_of(body: Callable[..., Any], **options: Any) -> Any:
    return porting.function(looping(body), inputs={"x": tf.TensorSpec((None, 3))}, **options)


def own(module: Any) -> Any:
    return module.signatures["serving_default"]


# -- what 1.15.5 has written -------------------------------------------------------------------------------------------


def kept_replays(cases: dict[str, Any], outputs: Callable[[Any], Any], graph: Callable[[Any], Any]) -> Iterator[Any]:
    """The cases whose loops can be kept; all that have loops, except for those of which it is known."""
    for name, case in cases.items():
        replay = GraphReplay(graph(case), outputs(case), [key_of(each) for each in case["fed"]], name)
        can = replay.can_keep_loops
        assert can == bool(replay._structure.loops and name not in NOT_KEPT), name
        if can:
            yield name, case, replay


def check_graphs_to_the_bit() -> None:
    cases = replay_checks.recorded()
    varied = set()
    for name, case, replay in kept_replays(cases, lambda _: [("y", 0)], replay_checks.graph_of):
        inputs = [key_of(each) for each in case["fed"]]
        given = [tf.constant(value, tf.float32) for value in case["fed"].values()]

        def made(replay: Any = replay, inputs: Any = inputs, case: Any = case, **how: bool) -> Any:
            shapes = [each.shape for each in given] if "known_shapes" in how else case["shapes"].values()  # noqa: B023
            return tf.function(
                lambda *values: replay.run(dict(zip(inputs, values, strict=True)), **how)["y", 0],
                input_signature=[tf.TensorSpec(shape, tf.float32) for shape in shapes],
                autograph=False,
            )

        with graph_as_it_is():
            expected = made()(*given)
            np.testing.assert_array_equal(made(keep_loops=True)(*given), expected, err_msg=name)
            try:
                found = made(keep_loops=True, known_shapes=True)(*given)
            except ConversionError:
                varied.add(name)
            else:
                np.testing.assert_array_equal(found, expected, err_msg=name)
    assert varied == VARIED, varied


def check_training_graphs_to_the_bit() -> None:
    def graph(case: Any) -> Any:
        return v1.GraphDef.FromString(bytes.fromhex(case["graph"]))

    cases = training_graph_checks.recorded()
    for name, case, replay in kept_replays(cases, lambda case: [*map(key_of, case["run"])], graph):
        with graph_as_it_is():
            expected = steps(case, replay)
            for known_shapes in (False, True):
                found = steps(case, replay, keep_loops=True, known_shapes=known_shapes)
                for one, other in zip(found, expected, strict=True):
                    np.testing.assert_array_equal(one, other, err_msg=name)


def steps(case: dict[str, Any], replay: GraphReplay, **how: bool) -> list[Any]:
    """The losses of a few training steps, and the variables at the end."""
    module = training_graph_checks.Step(case)
    inputs = [key_of(each) for each in case["fed"]]
    results = [key for key in map(key_of, case["run"]) if key[1] != CONTROL]

    def step(*values: Any) -> list[Any]:
        made = replay.run(dict(zip(inputs, values, strict=True)), module.by_name, **how)
        return [made[key] for key in results]

    run = tf.function(step, autograph=False)
    found = [each.numpy() for _ in case["results"] for each in run(*module.given)]
    return [*found, *(module.by_name[name].numpy() for name in sorted(module.by_name))]


def check_outputs_of_models_to_the_bit() -> None:
    for name in ("bidirectional", "seq2seq"):
        given = record_of(name).arrays("given")
        with graph_as_it_is():
            module = inference(record_of(name))
            equal(module(**given), under_a_tape(lambda: module(**given)), name)  # noqa: B023
        assert all(map(is_kept, module.signatures.values())), name


def check_training_of_a_model_to_the_bit() -> None:
    """Losses, and all variables after three steps, slots included."""
    record = record_of("lstm_resource")
    with graph_as_it_is():
        ours, other = training(record), training(record)
        for batch in record.batches[:3]:
            found = ours.steps["train_0"](batch)
            equal(found, under_a_tape(lambda: other.steps["train_0"](batch)), "losses")  # noqa: B023
    assert is_kept(ours.steps["train_0"], *record.batches[0])
    equal(ours.by_name, other.by_name, "variables")


def check_gradients_and_saving_after_a_call() -> None:
    """What a call keeps is not what a tape, a function and a SavedModel get."""
    record = record_of("lstm")
    given = {name: tf.constant(value) for name, value in record.arrays("given").items()}
    module = inference(record)
    expected = module(**given)
    assert is_kept(next(iter(module.signatures.values())))
    around = tf.function(lambda given: module(**given), autograph=False)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, signatures=module.export_signatures())
        loaded = tf.saved_model.load(folder)
    for call in (lambda: module(**given), lambda: around(given), lambda: loaded(**given)):
        with tf.GradientTape() as tape:
            found = call()
            probe = tf.reduce_sum(tf.square(found["outputs"]))
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-6, atol=1e-6)
        variables = loaded.variables if "loaded" in call.__code__.co_freevars else module.variables
        assert any(slope is not None and np.any(slope) for slope in tape.gradient(probe, variables))


# -- what follows from shapes ----------------------------------------------------------------------------------------


def check_known_numbers_are_those_of_the_operations() -> None:
    shapes = [shape for rank in range(4) for shape in itertools.product((1, 2, 3), repeat=rank)]

    def found(rule: Any, *values: Any) -> list[list[int]]:
        known = Known(Stacks(None, ()), {}, lambda key: None, lambda key: None)  # type: ignore[arg-type]
        keys = [(f"value{number}", 0) for number in range(len(values))]
        known._values.update(
            {key: Value(np.array(value, np.int32), ("after",)) for key, value in zip(keys, values, strict=True)}
        )
        return [each.numbers.tolist() for each in rule(known, None, keys)]

    compared = 0
    for one, other in itertools.product(shapes, repeat=2):
        if all(1 in pair or pair[0] == pair[1] for pair in zip(one[::-1], other[::-1], strict=False)):
            expected = tf.raw_ops.BroadcastGradientArgs(s0=tf.constant(one, tf.int32), s1=tf.constant(other, tf.int32))
            assert found(Known._dimensions_to_sum, one, other) == [each.numpy().tolist() for each in expected]
            compared += 1
    assert compared > 500, compared
    for axis in (0, 1, -1):
        parts = [[[2, 3], [5, 3], [1, 3]], [[2, 3], [2, 1], [2, 4]]][axis]
        expected = tf.raw_ops.ConcatOffset(concat_dim=axis, shape=[tf.constant(part) for part in parts])
        assert found(Known._offsets, axis, *parts) == [each.numpy().tolist() for each in expected]


def check_shapes_that_gradients_sum() -> None:
    """Of what was stretched, in a branch and outside of it; for more shapes than are kept apart."""

    def build(x: Any) -> Any:
        w = v1.get_variable("w", initializer=np.float32([1.0, 0.5, 2.0]))
        c = v1.get_variable("c", initializer=np.float32([[0.25]]))

        def body(i: Any, y: Any) -> Any:
            column = v1.reduce_mean(y, 1, keepdims=True) * c
            y = v1.tanh(y * w + column)
            return i + 1, v1.cond(i % 2 > 0, lambda: y * column + w, lambda: v1.concat([y[:, :1], y[:, 1:] + c], 1))

        y = v1.while_loop(lambda i, y: i < 4, body, [v1.constant(0), x])[1]
        loss = v1.reduce_sum(v1.square(y))
        v1.train.GradientDescentOptimizer(0.01).minimize(loss, name="step")
        return {"loss": loss}

    with graph_as_it_is():
        ours, other = (module_of(build, train="step") for _ in range(2))
        for rows in (4, 1, 2, 4, 3, 1, 5, 6, 4):
            x = np.resize(ROWS, (rows, 3))
            equal(ours.train(x=x), under_a_tape(lambda: other.train(x=x)), f"{rows} rows")  # noqa: B023
            equal(ours.by_name, other.by_name, f"variables after {rows} rows")
    inner = ours.steps["train"]._call_for(("x",), {})
    assert is_kept(ours.steps["train"]) and len(inner._by_shapes) == 4, inner._by_shapes.keys()
    assert inner._general is not None
    for each in inner._by_shapes.values():
        counts = {kind: kinds_in(each).count(kind) for kind in ("BroadcastGradientArgs", "StackPushV2")}
        assert counts["StackPushV2"] < kinds_in(inner._general).count("StackPushV2"), counts
        assert counts["BroadcastGradientArgs"] == 0 < kinds_in(inner._general).count("BroadcastGradientArgs"), counts


def check_numbers_made_of_shapes() -> None:
    """Where an iteration hands them on, and where only one of two branches has them."""

    def build(x: Any) -> Any:
        def body(i: Any, size: Any, shape: Any, total: Any, y: Any) -> Any:
            half = v1.cond(i % 2 > 0, lambda: v1.shape(y), lambda: v1.shape(y)[::-1])
            half = v1.cond(i % 2 > 0, lambda: half, lambda: v1.shape(v1.transpose(y)))
            return i + 1, v1.size(y), v1.shape(y), total + v1.rank(y) + size + v1.reduce_sum(half * [1, i]), y + 1.0

        start = [v1.constant(0), v1.constant(0), v1.constant([7, 7]), v1.constant(0), x]
        _, size, shape, total, y = v1.while_loop(lambda i, *_: i < 5, body, start)
        return {"size": size, "shape": shape, "total": total, "y": y}

    module = module_of(build)
    for rows in (4, 1, 2):
        x = np.resize(ROWS, (rows, 3))
        halves = [(rows, 3 * i) if i % 2 else (3, rows * i) for i in range(5)]
        expected = {"size": 3 * rows, "shape": [rows, 3], "y": x + 5.0}
        expected["total"] = 5 * 2 + 4 * 3 * rows + sum(map(sum, halves))
        equal(module(x=x), expected, f"{rows} rows")
    inner = own(module)._call_for(("x",), {})
    assert is_kept(own(module)) and len(inner._by_shapes) == 3
    assert not {"Size", "Rank"} & set(kinds_in(next(iter(inner._by_shapes.values()))))


def check_a_loop_of_unknown_shapes_among_inputs_of_known_ones() -> None:
    """An element of an array has no shape that is known: what is added to it has, and the next iteration's has not."""

    def build(x: Any) -> Any:
        array = v1.TensorArray(tf.float32, 4).unstack(x)
        return v1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * 0.5 + array.read(i)), [0, 0.0])[1]

    legacy = porting.LegacyGraph()
    with legacy:
        x = v1.placeholder(tf.float32, [4])
        last = legacy.function(looping(build)(x), feeds=[x])
    assert last([1.0, 2.0, 3.0, 4.0]) == last([1.0, 2.0, 3.0, 4.0]) == 6.125
    inner = next(iter(last._calls.values()))
    assert is_kept(inner)


# -- order, and what is in loops ---------------------------------------------------------------------------------------


def check_outputs_come_before_changes() -> None:
    """Of what a loop reads in it, by the handle, as of what it takes; and a step changes once."""

    def build(x: Any) -> Any:
        w = v1.get_variable("w", initializer=np.float32([1.0, 2.0, 3.0]), use_resource=True)
        rows = v1.get_variable("rows", initializer=np.zeros([2, 3], np.float32), use_resource=True)
        total = v1.while_loop(
            lambda i, y: i < 50,
            lambda i, y: (i + 1, y + w * 2.0 + v1.nn.embedding_lookup(rows, i % 2)),
            [v1.constant(0), x],
        )[1]
        v1.group(w.assign_add([1.0, 1.0, 1.0]), rows.assign_add([[1.0] * 3, [3.0] * 3]), name="step")
        return {"y": total}

    module = module_of(build, train="step")
    for taken in range(20):
        w = np.float32([1.0, 2.0, 3.0]) + taken
        expected = ROWS + 50.0 * 2.0 * w + 25.0 * 4.0 * taken
        np.testing.assert_allclose(module.train(x=ROWS)["y"], expected, rtol=1e-6, atol=1e-4)
    np.testing.assert_array_equal(module.by_name["w"], np.float32([21.0, 22.0, 23.0]))
    assert is_kept(module.steps["train"])


def check_shapes_that_grow_and_loops_in_loops() -> None:
    def build(x: Any) -> Any:
        def outer(i: Any, grown: Any) -> Any:
            inner = v1.while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y * 2.0 + x), [0, x])[1]
            return i + 1, v1.cond(i % 2 > 0, lambda: v1.concat([grown, inner], 0), lambda: grown + 1.0)

        shapes = [v1.TensorShape([]), v1.TensorShape([None, 3])]
        return {"y": v1.while_loop(lambda i, grown: i < 5, outer, [v1.constant(0), x], shapes)[1]}

    module = module_of(build)
    found = module(x=ROWS)["y"]
    assert found.shape == [12, 3] and is_kept(own(module))
    np.testing.assert_array_equal(found, under_a_tape(lambda: module(x=ROWS)["y"]))


def check_draws_go_by_their_seed() -> None:
    """One of its own in each iteration, the same in both forms; without one, another in each call."""

    def build(x: Any) -> Any:
        def body(i: Any, y: Any, z: Any) -> Any:
            return i + 1, v1.nn.dropout(y, rate=0.5, seed=7), v1.nn.dropout(z, rate=0.5)

        _, y, z = v1.while_loop(
            lambda i, y, z: i < 2, body, [v1.constant(0), x, v1.tile(x, [10, 1])], parallel_iterations=1
        )
        return {"y": y, "z": z}

    ones = np.ones([50, 3], np.float32)
    kept, other = module_of(build), module_of(build)
    found = [kept(x=ones) for _ in range(3)]
    assert is_kept(own(kept)) and 10 < np.count_nonzero(found[0]["y"]) < 70
    assert np.any(found[0]["y"] != found[1]["y"]) and np.any(found[0]["z"] != found[1]["z"])
    for each in found:
        np.testing.assert_array_equal(each["y"], under_a_tape(lambda: other(x=ones)["y"]))


def check_what_has_an_order_is_not_kept() -> None:
    """Calls of Python, and changes of variables, have TensorFlow 2's order."""
    seen: list[int] = []

    def called(i: Any, y: Any) -> Any:
        def note(i: Any) -> Any:
            seen.append(int(i))
            return np.int32(i + 1)

        return v1.numpy_function(note, [i], v1.int32), y + 1.0

    def changed(i: Any, y: Any) -> Any:
        count = v1.get_variable("count", initializer=np.float32(0.0), use_resource=True)
        with v1.control_dependencies([count.assign_add(1.0)]):
            return i + 1, y + 1.0

    for body in (called, changed):

        def build(x: Any, body: Any = body) -> Any:
            with v1.variable_scope("", reuse=v1.AUTO_REUSE):
                if body is changed:
                    v1.get_variable("count", initializer=np.float32(0.0), use_resource=True)
                i = v1.constant(0)
                ended = v1.while_loop(
                    lambda i, y: i < 3, body, [i, x], [v1.TensorShape(None), x.shape], parallel_iterations=1
                )
            return {"y": ended[1]}

        module = module_of(build)
        np.testing.assert_array_equal(module(x=ROWS)["y"], ROWS + 3.0)
        assert not is_kept(own(module)), body
    assert seen == [0, 1, 2] and float(module.by_name["count"]) == 3.0


def check_branches_in_a_loop() -> None:
    """Decided by a tensor or for good."""

    def build() -> Any:
        x = v1.placeholder(v1.float32, [None, 3], name="x")
        labels = v1.placeholder(v1.float32, [None, 3], name="labels")
        trains = v1.placeholder_with_default(False, [], name="trains")
        ended = v1.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, v1.cond(trains, lambda: y + labels, lambda: y + 1.0)),
            [v1.constant(0), x],
        )
        return {"x": x, "labels": labels, "trains": trains}, {"y": ended[1]}

    module = porting.function(looping(build))
    for trains in (True, False):
        expected = ROWS + 3.0 * (2.0 if trains else 1.0)
        for given in (trains, np.array(trains), tf.constant(trains)):
            np.testing.assert_array_equal(module(x=ROWS, labels=0 * ROWS + 2.0, trains=given)["y"], expected)
    assert is_kept(own(module), "x", "labels", "trains")


def check_inputs_inside_of_a_loop() -> None:
    """What is given in the place of a tensor in a loop is the same in all iterations."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(v1.float32, [], name="x")

        def body(i: Any, y: Any) -> Any:
            return i + 1, y + v1.multiply(v1.cast(i, v1.float32), 2.0, name="inside")

        looping(lambda: v1.while_loop(lambda i, y: i < 3, body, [v1.constant(0), x], name="loop"))()
    exits = [each.name for each in graph.get_operations() if each.type == "Exit"]
    replay = GraphReplay(graph.as_graph_def(), [(exits[-1], 0)], [("x", 0), ("loop/inside", 0)])
    assert replay.can_keep_loops

    def made(x: Any, inside: Any) -> Any:
        found = replay.run({("x", 0): x, ("loop/inside", 0): inside}, keep_loops=True)
        return found[exits[-1], 0]

    assert float(tf.function(made, autograph=False)(tf.constant(1.0), tf.constant(5.0))) == 16.0


def check_first_calls_of_many_threads() -> None:
    """One of them traces; all have the same."""
    module = inference(record_of("lstm"))
    given = record_of("lstm").arrays("given")
    barrier, found, errors = threading.Barrier(8, timeout=60), [], []

    def call() -> None:
        try:
            barrier.wait()
            found.extend(module(**given)["logits"].numpy() for _ in range(5))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    assert not errors and len(found) == 40, errors
    assert is_kept(next(iter(module.signatures.values())))
    for each in found:
        np.testing.assert_array_equal(each, found[0])
