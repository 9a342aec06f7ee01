"""What test_recorder.py checks, in one process: the hooks around the sessions of today's TensorFlow."""

from __future__ import annotations

import contextlib
import gc
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tf1sessions.porting import recorder, session_matching, trace_comparison, traces
from tf1sessions.porting.rewriting import verification
from tf1sessions.runtime import private, tf

tf.disable_v2_behavior()
BASE = private.session.BaseSession
FOLDER = Path(tempfile.mkdtemp())


@contextlib.contextmanager
def recording(**options: Any) -> Iterator[Any]:
    """Records what the block does; the trace is ``found[0]`` afterwards."""
    out = FOLDER / "trace.npz"
    writer = recorder.Recorder(str(out), recorder.Options(**options), {"script": "checks", "arguments": []})
    writer.hook(BASE)
    found: list[traces.Trace] = []
    try:
        with tf.Graph().as_default():
            yield found
        writer.finish({"how": "done", "code": 0})
    finally:
        writer.close()
    found.append(traces.read(out))
    assert [path.name for path in FOLDER.iterdir()] == ["trace.npz"]
    out.unlink()


def variable(value: Any, name: str = "v", **more: Any) -> Any:
    return tf.get_variable(name, initializer=tf.constant(value), use_resource=False, **more)


def check_hooks_are_gone_afterwards() -> None:
    before = dict(vars(BASE))
    with recording(), tf.Session() as sess:
        assert BASE._do_run is not before["_do_run"]
        sess.run(tf.constant(1.0))
    assert dict(vars(BASE)) == before


def check_the_program_gets_what_it_would_get() -> None:
    with recording(tensors=["*"]) as found:
        x = tf.placeholder(tf.float32, [None], name="x")
        doubled = tf.multiply(x, 2.0, name="doubled")
        v = variable(1.0)
        sparse = tf.SparseTensor([[0, 1]], tf.constant([3.0]), [2, 2])
        operations = len(tf.get_default_graph().get_operations())
        with tf.Session() as sess:
            assert sess.run(v.initializer) is None
            result = sess.run({"a": [doubled, (v,)], "b": sparse, "c": v.initializer}, {x: [1, 2]})
            assert result["a"][0].tolist() == [2, 4] and result["a"][1] == (1.0,) and result["c"] is None
            assert result["b"].values.tolist() == [3.0]
            assert sess.run(doubled, {doubled: [7.0]}).tolist() == [7]  # nothing is run
            assert sess.make_callable(v)() == 1.0
            assert sess.make_callable([doubled], feed_list=[x])([3.0])[0].tolist() == [6]
            try:
                sess.run(doubled)
            except tf.errors.InvalidArgumentError as error:
                assert error.op.name == "x"
            else:
                raise AssertionError("a placeholder that is not fed")
            try:
                sess.make_callable(v, feed_list=3)
            except TypeError:
                pass
            else:
                raise AssertionError("no list of feeds")
        assert len(tf.get_default_graph().get_operations()) == operations
    (trace,) = found
    assert trace.count == 5, list(trace.calls)
    assert [bool(call.error) for call in trace.calls] == [False] * 4 + [True]
    assert trace.variables(1, "initial") == {"v": 1.0} == trace.variables(1)


def check_no_tensor_of_a_branch_or_a_loop_is_fetched() -> None:
    with recording(tensors=["*"]) as found:
        x = tf.placeholder(tf.float32, [], name="x")
        chosen = tf.cond(x > 0, lambda: tf.multiply(x, 2.0, name="yes"), lambda: tf.multiply(x, 3.0, name="no"))
        looped = tf.while_loop(lambda i: i < 3.0, lambda i: tf.add(i, 1.0, name="body"), [chosen])
        total = tf.add(looped, 1.0, name="total")
        with tf.Session() as sess:
            assert sess.run(total, {x: 1.0}) == 4.0
        with tf.Graph().as_default() as again:  # an imported graph has no contexts
            tf.import_graph_def(total.graph.as_graph_def(), name="")
            with tf.Session(graph=again) as sess:
                assert sess.run("total:0", {"x:0": 1.0}) == 4.0
    (trace,) = found
    built, imported = trace.kinds
    assert set(built.extras) == {"Greater/y:0", "Greater:0", "cond/Merge:0", "cond/Merge:1", "total/y:0"}
    assert set(imported.extras) == {"Greater/y:0", "Greater:0", "cond/pred_id:0", "total/y:0"}


def check_patterns_losses_and_every() -> None:
    def program() -> None:
        x = tf.placeholder(tf.float32, [40], name="x")
        y = tf.identity(tf.multiply(x, 2.0, name="twice"), name="y")
        loss = tf.losses.mean_squared_error(x, y)
        with tf.Session() as sess:
            for number in range(7):
                sess.run([y, tf.get_default_graph().get_tensor_by_name("twice:0")], {x: np.full(40, number)})
                sess.run(loss.op, {x: np.full(40, number)})

    with recording(every=3) as found:
        program()
    (trace,) = found
    assert trace.columns(trace.find("fetch", name="y:0")[0])["calls"].tolist() == [1, 7, 13]
    (loss,) = trace.losses.values()
    assert loss[0].tolist() == [2, 4, 6, 8, 10, 12, 14]
    assert [trace.find("extra", name=name) for name in ("mean_squared_error/Mean:0",)] == [[]]
    with recording(losses=False, tensors=["mean_squared_error/Squared*"]) as found:
        program()
    assert not found[0].losses
    assert {series.name for series in found[0].find("extra")} == {"mean_squared_error/SquaredDifference:0"}


def check_variables_at_chosen_calls() -> None:
    with recording(variables_every=2) as found:
        v = variable([1.0, 2.0])
        with tf.Session() as sess:
            sess.run(v.initializer)
            for _ in range(4):
                sess.run(v.assign_add([1.0, 1.0]).op)
    (series,) = found[0].find("variable")
    columns = found[0].columns(series)
    assert columns["calls"].tolist() == [2, 4] and columns["values"].tolist() == [[2, 3], [4, 5]]


def check_what_is_too_large_is_summarised_and_what_is_too_much_left_out() -> None:
    with recording(whole_kb=8, max_mb=1) as found:
        x = tf.placeholder(tf.float32, [None], name="x")
        words = tf.placeholder(tf.string, [None], name="words")
        v = variable(np.arange(50_000, dtype=np.float32))
        doubled = tf.multiply(x, 2.0)
        with tf.Session() as sess:
            sess.run(v.initializer)
            sess.run([doubled, tf.identity(words)], {x: np.zeros(3000), words: ["a" * 9000]})
            for _ in range(300):
                sess.run(doubled, {x: np.arange(1500.0)})
            for _ in range(50):
                sess.run(tf.get_default_graph().get_tensor_by_name("Mul/y:0"))
            sess.run(v.assign_add(tf.ones([50_000])).op)
    (trace,) = found
    assert {series.form for series in trace.find("fetch")} == {"whole", "summary", "digest"}
    assert trace.count == 353 and list(trace.left_out) == ["values"]
    assert trace.find("fetch", name="Mul/y:0")[0].rows == 50  # small values are kept when large ones are not
    # Room for the last values of a variable was kept.
    assert trace.variables(1)["v"][:3].tolist() == [1, 2, 3]
    kept = sum(array.nbytes for series in trace.series for array in trace.columns(series).values())
    assert kept < 1.05 * (1 << 20)


def check_many_small_values_take_little_memory_and_file() -> None:
    with recording() as found:
        one = tf.constant(1.5, name="one")
        with tf.Session() as sess:
            for _ in range(800):
                sess.run(one)
    (series,) = found[0].find("fetch")
    assert (series.rows, series.pieces) == (800, 1)


def check_threads_and_sessions() -> None:
    errors: list[BaseException] = []
    with recording() as found:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, 2.0, name="y")
        graph = tf.get_default_graph()
        barrier = threading.Barrier(6, timeout=60)

        def work(number: int) -> None:
            try:
                with tf.Session(graph=graph) as sess:
                    barrier.wait()
                    for value in range(20):
                        assert sess.run(y, {x: value}) == 2 * value
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,), name=f"worker {number}") for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors, errors
    (trace,) = found
    assert trace.count == 120 and len(trace.sessions) == 6 and len(trace.graphs) == 1
    assert trace.table[:, 0].tolist() == list(range(1, 121))
    assert {call.thread for call in trace.calls} == {f"worker {number}" for number in range(6)}
    for number in range(1, 7):
        (series,) = trace.find("fetch", number)
        assert trace.columns(series)["values"].tolist() == [2.0 * value for value in range(20)]


def check_a_session_that_was_not_closed() -> None:
    with recording() as found:
        v = variable(3.0)

        def program() -> None:
            sess = tf.Session()
            sess.run(v.initializer)
            sess.run(v.assign(4.0).op)

        program()
        gc.collect()
    assert found[0].variables(1) == {"v": 4.0} and found[0].variables(1, "initial") == {"v": 3.0}


def check_resource_variables_and_bfloat16() -> None:
    with recording() as found:
        v = tf.get_variable("v", initializer=tf.constant([1.5, -2.0]), use_resource=True)
        half = tf.cast(v, tf.bfloat16, name="half")
        with tf.Session() as sess:
            sess.run(v.initializer)
            sess.run(half)
            sess.run(v.assign_add([1.0, 1.0]).op)
    (trace,) = found
    assert trace.variables(1, "initial")["v"].tolist() == [1.5, -2] and trace.variables(1)["v"].tolist() == [2.5, -1]
    (series,) = trace.find("fetch")
    assert series.dtype == "bfloat16" and trace.value(series, 0).tolist() == [0x3FC0, 0xC000]


def check_races_are_reported() -> None:
    with recording() as found:
        step = variable(0, "step")
        weight = variable(1.0, "weight")
        read = tf.add(step, 0, name="read")
        loss = tf.multiply(weight, weight, name="loss")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run([train, loss, read])
            sess.run([loss, read])
    _, training, plain = found[0].kinds
    assert (training.races, plain.races) == ({"read:0": ("step",)}, {}), (training.races, plain.races)


def raced(value: int, factor: float = 1.0) -> traces.Trace:
    """Record a call that fetches a step and changes it, in no order; ``value`` makes what it gets surely another."""
    with recording() as found:
        step = variable(0, "step")
        fetches = [step.assign_add(1).op, tf.add(step, value, name="read"), tf.multiply(2.0, factor, name="loss")]
        with tf.Session() as sess:
            sess.run(step.initializer)
            sess.run(fetches)
    return found[0]


def check_a_verified_step_may_differ_by_chance_alone() -> None:
    before = raced(0)
    found = verification._compared("functions", before, raced(5), "tf2")
    assert found.is_kept and found.outcome == "equal", found.text
    assert found.text.endswith("equal, but for read:0: before or after the same call changes step is chance"), (
        found.text
    )
    found = verification._compared("functions", before, raced(5, factor=2.0), "tf2")
    assert not found.is_kept and found.outcome == "different", found.text


def check_the_order_of_fetches_does_not_matter() -> None:
    recorded = []
    for turned in (False, True):
        with recording() as found, tf.Session() as sess:
            fetches = [tf.constant(1.0, name="one"), tf.constant([2, 3], name="two")]
            sess.run(fetches[::-1] if turned else fetches)
        recorded.append(found[0])
    result = trace_comparison.compare(*recorded)
    assert result.same and result.calls == 1 and not result.notes, result


def check_questions_for_missing_values_are_no_calls_of_a_legacy_graph() -> None:
    recorded = []
    for asks in (True, False):
        with recording() as found:
            value = variable(1.0)
            ready = tf.report_uninitialized_variables(name="ready")
            text = tf.constant([b"x"], name="text")
            with tf.Session() as sess:
                sess.run(value.initializer)
                if asks:
                    assert not sess.run(ready).size
                sess.run(text)
        recorded.append(found[0])
    assert trace_comparison.compare(*recorded).unmatched
    result = trace_comparison.compare(*map(session_matching.as_one_session, recorded))
    assert result.same and result.calls == 2, result


def check_a_rate_of_a_counter_is_reported() -> None:
    """As BERT's optimizer has it; one that waits for the step, as minimize() does, is ordered."""
    recorded = []
    for more in (0.0, 1.0):
        with recording() as found:
            step, weight = variable(0, "step"), variable(1.0, "weight")
            changed = weight.assign(weight * (tf.cast(step, tf.float32) + more))
            train = tf.group(changed, step.assign(step + 1))
            with tf.control_dependencies([changed]):
                ordered = tf.group(step.assign_add(1))
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                sess.run(ordered)
                sess.run(train)
        _, waits, races = found[0].kinds
        assert waits.races == {} and races.races == {"": ("step",)}, (waits.races, races.races)
        recorded.append(found[0])
    parted = trace_comparison.compare(*recorded).first
    reported = "the training step reads step, which the same call changes: which of the two comes first is chance"
    assert parted is not None and reported in parted.causes, parted
