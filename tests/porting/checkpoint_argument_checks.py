"""Arguments that checkpoints cannot take. Run by test_checkpoint_arguments.py in one process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tf1sessions.errors import CheckpointMismatchError, UsageError
from tf1sessions.porting import checkpoints

GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


def refused(call: Callable[[], Any], *words: str, error: type[Exception] = UsageError) -> None:
    """A typed error with these words; it says where the value came from, and what to do."""
    try:
        call()
    except error as found:
        assert all(word in str(found) for word in words), (words, str(found))
        assert found.where and found.next_step, found  # type: ignore[attr-defined]
    else:
        raise AssertionError(f"nothing was raised, of which {words} are words")


def save(path: str, **values: Any) -> str:
    with checkpoints.CheckpointWriter(path) as writer:
        for name, value in values.items():
            writer.add(name, value)
    return path


def added(path: str, name: Any, value: Any) -> None:
    with checkpoints.CheckpointWriter(path) as writer:
        writer.add("first", np.ones(2, "f"))
        writer.add(name, value)


def check_the_empty_name_does_not_end_the_process() -> None:
    """TensorFlow's writer aborts for it, so a process of its own looks."""
    code = """
import os, sys
import tensorflow as tf
from tf1sessions.errors import Tf1SessionsError
from tf1sessions.porting import checkpoints
seen = []
for call in (
    lambda: checkpoints.save_named({"": tf.Variable(1.0)}, "out"),
    lambda: checkpoints.CheckpointWriter("out").__enter__().add("", [1.0]),
    lambda: checkpoints.save_named({"": tf.Variable(1.0)}, "out", dry_run=True).check(),
):
    try:
        call()
    except Tf1SessionsError as error:
        seen.append("empty name" in str(error))
assert seen == [True] * 3, seen
"""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


def check_names_that_no_value_can_have() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("\ud800", 3, None, b"x", GRAPH):
            refused(lambda name=name: added(f"{folder}/x", name, np.ones(2)), repr(name))
            assert os.listdir(folder) == [], name
        for name in (GRAPH, ""):
            refused(
                lambda name=name: checkpoints.save_named({name: tf.Variable(1.0)}, f"{folder}/x"),
                "name", "names=", error=CheckpointMismatchError,
            )  # fmt: skip
            save(f"{folder}/y", a=np.ones(2))
            refused(lambda name=name: checkpoints.convert(f"{folder}/y", f"{folder}/z", names=[("a", GRAPH)]), GRAPH)
            for file in os.listdir(folder):
                os.remove(f"{folder}/{file}")
        for name in ("a\0b", " ", "/", "ü", "a:0"):  # which TensorFlow takes
            added(f"{folder}/x", name, np.ones(2))
            assert set(checkpoints.read(f"{folder}/x")) == {"first", name}
            for file in os.listdir(folder):
                os.remove(f"{folder}/{file}")


def check_values_that_no_checkpoint_has() -> None:
    strange = [
        [1, [2]], np.datetime64("2020"), np.zeros(2, [("a", "f4")]), np.longdouble(1), None, {}, 10**30,
        np.array([None], object), np.array(["a", 3], object), "\ud800",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for value in strange:
            refused(lambda value=value: added(f"{folder}/x", "second", value), "the value of 'second'")
            assert os.listdir(folder) == [], value
        for value in (3, True, "text", b"\xff", ["a", "b"], np.zeros([0, 3]), tf.Variable(2.0)):
            added(f"{folder}/x", "second", value)
            for file in os.listdir(folder):
                os.remove(f"{folder}/{file}")


def check_paths_that_tensorflow_cannot_write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = save(f"{folder}/x", a=np.ones(2, "f"))
        before = os.listdir(folder)
        for path in (f"{folder}/nul\0l", f"{folder}/\udcff", f"{folder}/b".encode()):
            refused(lambda path=path: checkpoints.convert(source, path), repr(path))
            refused(lambda path=path: checkpoints.save_named({"a": tf.Variable(1.0)}, path), repr(path))
        assert os.listdir(folder) == before


def check_objects_that_are_no_variables() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = save(f"{folder}/x", a=np.ones(2, "f"))
        for value in (None, np.ones(2), {"b": tf.Variable(1.0)}, "text", [tf.Variable(1.0)]):
            target = {"a": value}
            for call in (
                lambda target=target: checkpoints.plan(source, target),
                lambda target=target: checkpoints.restore(source, target),
                lambda target=target: checkpoints.save_named(target, f"{folder}/y"),
            ):
                refused(call, "is no variable", "'a'")
        refused(lambda: checkpoints.restore(source, {"a": tf.constant([1.0, 2.0])}), "it has no assign")
        checkpoints.save_named({"a": tf.constant([1.0, 2.0])}, f"{folder}/y")


def check_a_variable_of_any_shape() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = save(f"{folder}/x", a=np.ones([3, 4], "f"))
        free = tf.Variable(np.zeros([3, 4], "f"), shape=tf.TensorShape(None))
        checkpoints.restore(source, {"a": free})
        assert free.numpy().tolist() == np.ones([3, 4]).tolist()
        checkpoints.save_named({"a": free}, f"{folder}/y")
        other = tf.Variable(np.zeros(2, "f"), shape=tf.TensorShape(None))
        refused(lambda: checkpoints.restore(source, {"a": other}), "[2]", error=CheckpointMismatchError)


def check_names_that_are_no_rules() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = save(f"{folder}/x", a=np.ones(2, "f"))
        wrong: list[tuple[Any, str]] = [
            (3, "3"), ("a", "'a'"), ([("a",)], "('a',)"), ([("a", "b", "c")], "'c'"), (["ab"], "'ab'"),
            ([("a", 3)], "3"), ({"a": 3}, "3"), ({3: "a"}, "3"), ({"a": None}, "None"),
            ([("(.*)", r"\9")], r"\9"), ([("a", r"\g<x>")], "g<x>"), (lambda name: 3, "3"), (lambda: "a", "lambda"),
        ]  # fmt: skip
        for names, word in wrong:
            target = {"a": tf.Variable([0.0, 0.0])}
            refused(lambda names=names, target=target: checkpoints.restore(source, target, names=names), word, "names=")
            refused(lambda names=names: checkpoints.convert(source, f"{folder}/y", names=names), word, "names=")
            refused(
                lambda names=names, target=target: checkpoints.save_named(target, f"{folder}/y", names=names),
                word, "names=",
            )  # fmt: skip
            assert target["a"].numpy().tolist() == [0.0, 0.0]

        def own_error(name: str) -> str:
            raise KeyError(name)

        try:
            checkpoints.restore(source, {"a": tf.Variable([0.0, 0.0])}, names=own_error)
        except KeyError:
            pass
        else:
            raise AssertionError("the function's own error")


def check_other_arguments() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = save(f"{folder}/x", a=np.ones(2, "f"))
        wrong: list[dict[str, Any]] = [
            *({"unused": each} for each in (3, ["a"], {3: "x"}, {"(": "x"}, {"a": None}, {"a": 3})),
            *({"kept": each} for each in (3, ["a"], {3: "x"}, {"(": "x"}, {"a": None})),
            *({"averages": each} for each in (3, 0, True, "zz", {"a": None}, np.zeros(2))),
            *({"step": each} for each in (3, "a", tf.constant(1))),
            *({"optimizer_name": each} for each in (3, True)),
            *({"forget_bias": each} for each in ("x", None, float("nan"))),
        ]
        for options in wrong:
            (name,) = options
            target = {"a": tf.Variable([0.0, 0.0])}
            refused(lambda o=options, t=target: checkpoints.restore(source, t, **o), name)
            assert target["a"].numpy().tolist() == [0.0, 0.0]
        checkpoints.restore(source, {"a": tf.Variable([0.0, 0.0])}, forget_bias=np.float32(0), averages={})


def check_a_variable_under_two_names() -> None:
    """It cannot have two values; where both are equal, it is tied."""
    with tempfile.TemporaryDirectory() as folder:
        source = save(f"{folder}/x", a=np.array([1.0], "f"), b=np.array([2.0], "f"))
        one = tf.Variable([0.0])
        both = {"a": one, "b": one}
        plan = checkpoints.plan(source, both)
        assert [problem.kind for problem in plan.problems] == ["names"], plan
        assert "'a'" in str(plan) and "'b'" in str(plan)
        refused(lambda: checkpoints.restore(source, both), "'a'", "'b'", error=CheckpointMismatchError)
        assert one.numpy() == [0.0]
        checkpoints.restore(source, both, kept={"b": "tied"}, unused={"b": "tied"})
        assert one.numpy() == [1.0]
        checkpoints.save_named(both, f"{folder}/tied")
        one.assign([5.0])
        checkpoints.restore(f"{folder}/tied", both)
        assert one.numpy() == [1.0]
        counted = save(f"{folder}/z", steps=np.int64(3), global_step=np.int64(4))
        step = tf.Variable(0, dtype=tf.int64)
        refused(
            lambda: checkpoints.restore(counted, {"steps": step}, step=step),
            "'steps'", "'step'", error=CheckpointMismatchError,
        )  # fmt: skip


def check_a_variable_that_is_named_as_the_steps_are() -> None:
    """The titles of what is not among the objects take no name of the objects'."""
    with tempfile.TemporaryDirectory() as folder:
        source = save(f"{folder}/x", step=np.float32(2.5), iterations=np.float32(3.5), global_step=np.int64(7))
        have = {"step": tf.Variable(0.0), "iterations": tf.Variable(0.0)}
        counter, optimizer = tf.Variable(0, dtype=tf.int64), tf.keras.optimizers.SGD()
        checkpoints.restore(source, have, step=counter)
        assert [float(each) for each in have.values()] == [2.5, 3.5] and int(counter) == 7
        have["iterations"].assign(0.0)
        checkpoints.restore(source, have, optimizer)
        assert float(have["iterations"]) == 3.5 and int(optimizer.iterations) == 7


def check_what_a_killed_writer_left_is_removed_by_the_next() -> None:
    code = """
import os, sys
import numpy as np
from tf1sessions.porting import checkpoints
with checkpoints.CheckpointWriter(sys.argv[1]) as writer:
    writer.add("a", np.ones(2))
    os.kill(os.getpid(), 9)
"""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", code, f"{folder}/x"], timeout=120, check=False)
        assert done.returncode == -9 and len(os.listdir(folder)) == 1, os.listdir(folder)
        with checkpoints.CheckpointWriter(f"{folder}/x") as one:
            one.add("a", np.zeros(2))
            save(f"{folder}/x", a=np.ones(2))
            assert len([name for name in os.listdir(folder) if name.startswith(".")]) == 1  # one's own
            os.remove(f"{folder}/x.index")
            os.remove(f"{folder}/x.data-00000-of-00001")
        assert sorted(os.listdir(folder)) == ["x.data-00000-of-00001", "x.index"]
        assert checkpoints.read(f"{folder}/x")["a"].tolist() == [0.0, 0.0]
