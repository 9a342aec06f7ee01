"""What test_diagnosis.py checks, in one process: recordings with a planted cause, held against the golden one."""

from __future__ import annotations

import os
import re

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # as scripts compute

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tf1sessions.porting.diagnosis.diagnose import diagnose
from tf1sessions.porting.diagnosis.record import CAUSES, Diagnosis
from tf1sessions.porting.parity.html_report import page
from tf1sessions.porting.trace_comparison import ComparedTraces
from tf1sessions.porting.trace_graphs import TraceGraph
from tf1sessions.porting.traces import Trace, read
from tf1sessions.runtime import tf

GOLDENS = Path(__file__).resolve().parent.parent / "golden" / "data"
GOLDEN, OLD = GOLDENS / "verify.npz", GOLDENS / "recorded.npz"
FOLDER = Path(tempfile.mkdtemp())
DROPOUT = "dropout/random_uniform/RandomUniform"
KERNEL = "hidden/kernel/Initializer/random_normal/RandomStandardNormal"


class Edit:
    """A copy of a recording that a check changes."""

    def __init__(self, path: Path = GOLDEN) -> None:
        with np.load(path) as file:
            self.arrays = {name: file[name] for name in file.files}
        self.index = json.loads(self.arrays["index"].tobytes())
        self.graph = tf.GraphDef.FromString(self.arrays["graph.1"].tobytes())

    def node(self, name: str) -> Any:
        return next(node for node in self.graph.node if node.name == name)

    def constant(self, name: str, value: Any) -> None:
        tensor = self.node(name).attr["value"].tensor
        tensor.CopyFrom(tf.make_tensor_proto(value, tensor.dtype))

    def add(self, role: str, name: str, value: Any, first: int = 0) -> None:
        """Adds something to the values of a tensor, from one of its rows on."""
        number = next(n for n, each in enumerate(self.index["series"]) if (each["role"], each["name"]) == (role, name))
        values = self.arrays[f"series.{number}.values.0"]
        values[first:] += np.asarray(value, values.dtype)

    def seeds(self, name: str, *pair: int) -> None:
        for key, value in zip(("seed", "seed2"), pair, strict=True):
            self.node(name).attr[key].i = value
        self.index["graphs"][0]["seeds"][name] = list(pair)

    def trace(self) -> Trace:
        known = {each["number"] for each in self.index["sessions"]}
        others = {each["session"] for each in self.index["series"]} - known
        self.index["sessions"] += [{**self.index["sessions"][0], "number": number, "calls": 0} for number in others]
        self.arrays["graph.1"] = np.frombuffer(self.graph.SerializeToString(), np.uint8)
        self.arrays["index"] = np.frombuffer(json.dumps(self.index).encode(), np.uint8)
        path = FOLDER / f"{len(list(FOLDER.iterdir()))}.npz"
        np.savez(path, **self.arrays)
        return read(path)


def held(right: Edit, left: Edit | None = None) -> ComparedTraces:
    return ComparedTraces((left or Edit()).trace(), right.trace())


def diagnosed(right: Edit, again: Any = None, left: Edit | None = None) -> Diagnosis:
    diagnosis = diagnose(held(right, left), again)
    assert (
        diagnosis.cause in CAUSES and next(iter(diagnosis.lines)) == f"diagnosis: {diagnosis.cause}: {diagnosis.text}"
    )
    return diagnosis


def said(diagnosis: Diagnosis) -> str:
    return "\n".join(diagnosis.lines)


def check_nothing_parts() -> None:
    assert diagnosed(Edit()).cause == "none" and "to the bit" in diagnosed(Edit()).text
    near = Edit()
    near.add("fetch", "loss:0", 1e-7)
    assert diagnosed(near).cause == "none" and "loss:0" in said(diagnosed(near))


# -- code --------------------------------------------------------------------------------------------------------------


def check_another_constant() -> None:
    right = Edit()
    right.constant("GradientDescent/learning_rate", 0.2)
    right.add("fetch", "loss:0", 0.1, first=1)
    diagnosis = diagnosed(right)
    assert diagnosis.cause == "code" and diagnosis.about["operation"] == "GradientDescent/learning_rate", said(
        diagnosis
    )
    assert "it was the constant 0.1 and is 0.2" in diagnosis.text
    assert diagnosis.about["line"] == "verify_program.py:20"
    assert "train_op = tf.train.GradientDescentOptimizer(RATE).minimize(loss)" in said(diagnosis)


def check_a_constant_that_came_later_is_not_why() -> None:
    """The rate does not matter for what was computed before anything was trained."""
    right = Edit()
    right.constant("GradientDescent/learning_rate", 0.2)
    right.add("extra", "hidden/Tanh:0", 1e-3)
    assert diagnosed(right).cause == "kernel"


def check_another_type() -> None:
    right = Edit()
    right.node("hidden/Tanh").op = "Sigmoid"
    right.add("extra", "hidden/Tanh:0", 0.1)
    diagnosis = diagnosed(right)
    assert diagnosis.cause == "code" and "hidden/Tanh: it was a Tanh and is a Sigmoid" in diagnosis.text, said(
        diagnosis
    )


def check_another_attribute() -> None:
    right = Edit()
    right.node("hidden/MatMul").attr["transpose_b"].b = True
    right.add("extra", "hidden/MatMul:0", 0.1)
    diagnosis = diagnosed(right)
    assert diagnosis.cause == "code" and "hidden/MatMul: transpose_b was b: false" in diagnosis.text, said(diagnosis)


def check_other_inputs() -> None:
    right = Edit()
    right.node("sub").input[:] = reversed(right.node("sub").input)
    right.add("fetch", "loss:0", 0.1)
    diagnosis = diagnosed(right)
    assert diagnosis.cause == "code" and "sub: it took out/BiasAdd and takes y" in diagnosis.text, said(diagnosis)


def check_what_one_side_alone_has() -> None:
    right = Edit()
    for node in right.graph.node:
        node.input[:] = ["hidden/Relu" if each == "hidden/Tanh" else each for each in node.input]
    right.node("hidden/Tanh").MergeFrom(tf.NodeDef(name="hidden/Relu", op="Relu"))
    right.add("fetch", "loss:0", 0.1)
    diagnosis = diagnosed(right)
    assert diagnosis.cause == "code" and "hidden/Tanh: a Tanh that only the recording has" in said(diagnosis), said(
        diagnosis
    )
    assert "hidden/Relu: a Relu that the recording has not" in said(diagnosis)


def check_what_tensorflow_makes_otherwise_is_not_code() -> None:
    """Newer forms of operations, other gradients, other arithmetic of TensorFlow's own functions."""
    right = Edit()
    for node in right.graph.node:
        node.op = {"Add": "AddV2", "Select": "SelectV2"}.get(node.op, node.op)
        if "gradients/" in node.name and node.op == "TanhGrad":
            node.op = "SigmoidGrad"
        if node.name == "dropout/mul":
            node.op = "SelectV2"
    right.graph.node.add(name="dropout/Const_9", op="Const").attr["value"].tensor.CopyFrom(tf.make_tensor_proto(1.0))
    right.arrays["graph.1.places"] = np.append(right.arrays["graph.1.places"], right.arrays["graph.1.places"][-1])
    right.node("dropout/mul").input.append("dropout/Const_9")
    right.add("fetch", "loss:0", 1e-3, first=1)
    assert diagnosed(right).cause == "kernel", said(diagnosed(right))


def check_a_new_line_is_code_whatever_it_makes() -> None:
    right = Edit()
    made = right.graph.node.add(name="twice", op="Mul", input=["sub", "two"])
    made.attr["T"].type = tf.float32.as_datatype_enum
    right.graph.node.add(name="two", op="Const").attr["value"].tensor.CopyFrom(tf.make_tensor_proto(2.0))
    for node in right.graph.node:
        if node.name == "Square":
            node.input[:] = ["twice"]
    right.index["sources"][0]["lines"].append(7)
    right.index["lines"].append([0, 30, "diff = 2 * (out - y)"])
    right.index["places"].append([len(right.index["lines"]) - 1])
    place = len(right.index["places"]) - 1
    right.arrays["graph.1.places"] = np.append(right.arrays["graph.1.places"], np.int32([place, place]))
    right.add("fetch", "loss:0", 1.0)
    diagnosis = diagnosed(right)
    assert "two: a Const" not in said(diagnosis)  # of the line that is reported already
    assert diagnosis.cause == "code" and "twice: a Mul that the recording has not" in diagnosis.text, said(diagnosis)
    assert "verify_program.py:30: diff = 2 * (out - y)" in said(diagnosis)


def check_other_feeds() -> None:
    right = Edit()
    number = next(n for n, each in enumerate(right.index["series"]) if (each["role"], each["name"]) == ("feed", "x:0"))
    right.arrays[f"series.{number}.values.0"][1] = right.arrays[f"series.{number}.values.0"][1][::-1].copy()
    right.add("fetch", "loss:0", 0.3, first=1)
    asked = []

    def again(given: tuple[str, ...]) -> ComparedTraces:
        asked.append(given)
        return held(Edit())

    diagnosis = diagnosed(right, again)
    assert diagnosis.cause == "code" and diagnosis.about == {"feed": "x:0", "call": 3, "line": "verify_program.py:25"}
    assert "the same rows in another order" in said(diagnosis) and "sess.run([train_op, loss]" in said(diagnosis)
    assert asked == [("feeds",)] and diagnosis.then is not None and diagnosis.then.cause == "none"
    assert "run again with the recording's feeds: none" in said(diagnosis)


def check_other_calls() -> None:
    right = Edit()
    right.arrays["calls.0"] = right.arrays["calls.0"][:-2]
    diagnosis = diagnosed(right)
    assert diagnosis.cause == "code" and "other calls" in diagnosis.text and "5 times on the left" in said(diagnosis)


def check_fewer_training_steps_are_the_cause_of_other_last_values() -> None:
    """The dropout draws the same numbers in all steps that both sides make: it must not be accused."""
    right = Edit()
    right.arrays["calls.0"] = right.arrays["calls.0"][:-2]
    right.add("last", "hidden/kernel", 0.1)
    right.index["ended"] = {"how": "exception", "code": 1, "message": "ValueError: boom"}
    diagnosis = diagnosed(right)
    assert diagnosis.cause == "code" and "the program makes other calls" in diagnosis.text, said(diagnosis)
    assert "is made 3 times, in the recording 5 times" in diagnosis.text
    assert diagnosis.about["line"] == "verify_program.py:25" and "ended by ValueError: boom" in said(diagnosis)


def check_calls_that_raise_on_one_side_are_other_calls() -> None:
    right = Edit()
    right.arrays["calls.0"][-2:, 4] = 1
    right.index["errors"] = [{"type": "InvalidArgumentError", "message": "boom"}]
    right.add("last", "hidden/kernel", 0.1)
    diagnosis = diagnosed(right)
    assert diagnosis.cause == "code" and "is made 3 times, in the recording 5 times" in diagnosis.text, said(diagnosis)


def check_an_additional_call_that_changes_a_variable_is_the_cause() -> None:
    """As of ``variable.load``, or an evaluation that draws nothing and changes nothing, which is not."""
    for target, cause in (("hidden/kernel/Assign", "code"), ("hidden/Tanh", "kernel")):
        right = Edit()
        table = right.arrays["calls.0"]
        kind = dict(right.index["kinds"][0], fetches=[], targets=[target], feeds=[], extras=[], random={}, races={})
        right.index["kinds"].append(kind | {"order": {}})
        row = table[:1].copy()
        row[0, 3] = len(right.index["kinds"]) - 1
        table = np.concatenate([table[:1], row, table[1:]])
        table[:, 0] = np.arange(1, len(table) + 1)
        for name in filter(re.compile(r"series\.\d+\.calls\.").match, right.arrays):
            right.arrays[name] = right.arrays[name] + (right.arrays[name] > 1)
        right.arrays["calls.0"] = table
        right.index["calls"]["count"] = len(table)
        right.add("fetch", "loss:0", 0.5)
        diagnosis = diagnosed(right)
        assert diagnosis.cause == cause, said(diagnosis)
        assert (f"run({target}) is made once, in the recording not at all" in diagnosis.text) is (cause == "code")


def check_a_difference_before_other_calls_has_another_cause() -> None:
    right = Edit()
    right.arrays["calls.0"] = right.arrays["calls.0"][:-1]
    right.add("extra", "hidden/Tanh:0", 1e-3)
    assert diagnosed(right).cause == "kernel", said(diagnosed(right))
    right.constant("GradientDescent/learning_rate", 0.2)
    right.add("fetch", "loss:0", 0.1, first=1)
    assert diagnosed(right).cause == "kernel"
    rate = Edit()
    rate.arrays["calls.0"] = rate.arrays["calls.0"][:-1]
    rate.constant("GradientDescent/learning_rate", 0.2)
    rate.add("last", "hidden/kernel", 0.1)
    assert diagnosed(rate).about["operation"] == "GradientDescent/learning_rate", said(diagnosed(rate))


# -- threads -----------------------------------------------------------------------------------------------------------


def of_threads(order: tuple[int, ...] = (0, 1, 2, 3, 4)) -> Edit:
    """The recording with its five steps in another order, made by two threads."""
    side = Edit()
    side.index["threads"].append("Thread-1")
    side.arrays["calls.0"][2::2, 2] = 1
    for number, series in enumerate(side.index["series"]):
        values = f"series.{number}.values.0"
        if series["role"] == "variable":  # of the steps in the recording's order: compared with nothing
            series["session"] = 10 + order[0]
        if series["role"] in ("feed", "fetch", "extra") and len(side.arrays[values]) == len(order):
            side.arrays[values] = side.arrays[values][list(order)]
    return side


def check_calls_of_threads_are_matched_by_feeds_where_results_round_otherwise() -> None:
    right = of_threads((3, 1, 4, 0, 2))
    right.add("fetch", "loss:0", 1e-7)
    found = held(right, of_threads())
    assert found.result.equal and not found.result.same, str(found.result)
    assert found.alignment.calls == {1: 1, 2: 5, 3: 3, 4: 6, 5: 2, 6: 4}
    assert any("matched by their values, 4 in another order" in note for note in found.result.notes)


def check_a_constant_is_found_though_threads_call() -> None:
    right = of_threads((3, 1, 4, 0, 2))
    right.constant("dropout/rate", 0.4)
    right.add("fetch", "loss:0", 0.5)
    diagnosis = diagnosed(right, left=of_threads())
    assert diagnosis.cause == "code" and diagnosis.about["operation"] == "dropout/rate", said(diagnosis)


def check_calls_of_threads_with_the_same_feeds_are_matched_by_the_nearest_results() -> None:
    sides = [of_threads(), of_threads((3, 1, 4, 0, 2))]
    for side in sides:
        for number, series in enumerate(side.index["series"]):
            if series["role"] == "feed":
                side.arrays[f"series.{number}.values.0"][:] = 1
    sides[1].add("fetch", "loss:0", 1e-7)
    assert held(sides[1], sides[0]).alignment.calls == {1: 1, 2: 5, 3: 3, 4: 6, 5: 2, 6: 4}


def check_a_call_that_a_thread_leaves_out_moves_no_other() -> None:
    right = of_threads((3, 1, 4, 0, 2))
    right.arrays["calls.0"] = right.arrays["calls.0"][:-1]  # that of the third
    found = held(right, of_threads())
    assert found.alignment.calls == {1: 1, 2: 5, 3: 3, 5: 2, 6: 4}
    assert diagnose(found).cause == "code" and "makes other calls" in diagnose(found).text


def two_sessions(second: int, threads: int = 2) -> Edit:
    """The recording with its session twice: that of the number ``second`` has another initial bias and other losses."""
    side = Edit()
    first = 3 - second
    side.index["threads"].append("Thread-1")
    side.index["sessions"].append(dict(side.index["sessions"][0], number=2))
    table = side.arrays["calls.0"]
    other = table.copy()
    other[:, 0] += len(table)
    table[:, 1], other[:, 1], other[:, 2] = first, second, threads - 1
    side.arrays["calls.0"] = np.concatenate([table, other])
    side.index["calls"]["count"] *= 2
    for number, series in list(enumerate(side.index["series"])):
        copied = len(side.index["series"])
        side.index["series"].append(dict(series, session=second))
        series["session"] = first
        for name in [each for each in side.arrays if each.startswith(f"series.{number}.")]:
            array = side.arrays[name].copy()
            if ".calls." in name:
                array += len(table)
            elif (series["role"], series["name"]) in (("initial", "hidden/bias"), ("fetch", "loss:0")):
                array = array + np.float32(0.25)
            side.arrays[name.replace(f"series.{number}.", f"series.{copied}.")] = array
    return side


def check_sessions_that_threads_make_are_paired_by_their_content() -> None:
    swapped = held(two_sessions(1), two_sessions(2))
    assert swapped.result.same, str(swapped.result)
    assert swapped.alignment.calls == {number: number for number in range(1, 13)}
    assert held(two_sessions(2), two_sessions(2)).result.same
    # By one thread their order is the program's.
    assert not held(two_sessions(1, threads=1), two_sessions(2, threads=1)).result.equal


def fed_by_a_queue(*threads: int) -> Edit:
    """The recording of a program that takes its inputs from a queue, which some threads fill."""
    side = Edit()
    side.index["threads"].append("Thread-1")
    for name, op, inputs in (
        ("queue", "FIFOQueueV2", []),
        ("take", "QueueDequeueV2", ["queue"]),
        ("put", "QueueEnqueueV2", ["queue", "x"]),
    ):
        side.graph.node.add(name=name, op=op, input=inputs)
    places = side.arrays["graph.1.places"]
    side.arrays["graph.1.places"] = np.append(places, np.repeat(places[-1:], 3))
    side.node("hidden/MatMul").input[0] = "take"
    kind = dict(side.index["kinds"][0], fetches=[], targets=["put"], feeds=[], extras=[], random={}, races={}, order={})
    side.index["kinds"].append(kind)
    rows = np.repeat(side.arrays["calls.0"][-1:], len(threads), axis=0)
    rows[:, 0] += np.arange(1, len(threads) + 1)
    rows[:, 2], rows[:, 3] = threads, len(side.index["kinds"]) - 1
    side.arrays["calls.0"] = np.concatenate([side.arrays["calls.0"], rows])
    side.index["calls"]["count"] += len(threads)
    for series in side.index["series"]:
        if series["role"] == "extra":
            series["session"] = 9
    return side


def check_the_order_of_a_queue_that_threads_fill_is_no_kernel() -> None:
    right = fed_by_a_queue(0, 1)
    number = next(n for n, each in enumerate(right.index["series"]) if each["name"] == "loss:0")
    right.arrays[f"series.{number}.values.0"] = right.arrays[f"series.{number}.values.0"][::-1].copy()
    diagnosis = diagnosed(right, left=fed_by_a_queue(0, 1))
    assert diagnosis.cause == "code" and "several threads fill: the order is chance" in diagnosis.text, said(diagnosis)
    assert diagnosis.about["operation"] == "take" and "the same values of loss:0, in another order" in said(diagnosis)
    other = fed_by_a_queue(0, 1)
    other.add("fetch", "loss:0", 0.5)
    diagnosis = diagnosed(other, left=fed_by_a_queue(0, 1))
    assert diagnosis.about["operation"] == "take" and "in another order" not in said(diagnosis), said(diagnosis)
    small = fed_by_a_queue(0, 1)
    small.add("fetch", "loss:0", 1e-4)
    assert diagnosed(small, left=fed_by_a_queue(0, 1)).cause == "kernel"
    alone = fed_by_a_queue(0, 0)
    alone.add("fetch", "loss:0", 0.5)
    assert "take" not in diagnosed(alone, left=fed_by_a_queue(0, 0)).text


# -- seeds -------------------------------------------------------------------------------------------------------------


def moved() -> Edit:
    right = Edit()
    right.seeds(DROPOUT, 11, 99)
    right.add("fetch", "loss:0", 0.3)
    return right


def check_other_seeds() -> None:
    diagnosis = diagnosed(moved(), lambda given: held(Edit()))
    assert diagnosis.cause == "seeds" and diagnosis.given == ("seeds",), said(diagnosis)
    recorded = diagnosis.about["recorded"]
    assert diagnosis.about["operation"] == DROPOUT and recorded[0] == 11 and diagnosis.about["now"] == [11, 99]
    assert diagnosis.about["counted"] and f"seed={recorded[1]} for this operation" in said(diagnosis)
    assert diagnosis.about["line"] == "verify_program.py:17"
    assert diagnosis.then is not None and diagnosis.then.cause == "none"
    tf2 = diagnose(held(moved()), None, "tf2")
    assert tf2.then is None and "leave --seeds tf2 away" in said(tf2) and "counts of operations" not in said(tf2)


def check_seeds_that_are_not_why() -> None:
    """With the recorded seeds the difference stays where it is: something else is the cause."""
    still = Edit()
    still.node("hidden/MatMul").attr["transpose_b"].b = True
    still.add("fetch", "loss:0", 0.25)
    diagnosis = diagnosed(moved(), lambda given: held(still))
    assert diagnosis.cause == "code" and "that is not why" in said(diagnosis), said(diagnosis)
    less = Edit()
    less.add("fetch", "loss:0", 1e-4)
    assert diagnosed(moved(), lambda given: held(less)).cause == "seeds"


def check_seeds_that_do_not_matter_are_not_blamed() -> None:
    right = Edit()
    right.seeds(DROPOUT, 11, 99)
    right.add("extra", "hidden/Tanh:0", 1e-3)
    assert diagnosed(right).cause == "kernel"


def check_where_counts_part() -> None:
    right = Edit()
    nodes = list(right.graph.node)
    extra = tf.NodeDef(name="unused", op="Const")
    extra.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(1.0))
    del right.graph.node[:]
    right.graph.node.extend([*nodes[:2], extra, *nodes[2:]])
    right.arrays["graph.1.places"] = np.insert(right.arrays["graph.1.places"], 2, -1)
    right.seeds(KERNEL, 11, right.node(KERNEL).attr["seed2"].i + 1)
    right.add("initial", "hidden/kernel", 0.5)
    diagnosis = diagnosed(right)
    assert diagnosis.cause == "seeds" and "part after y (Placeholder)" in said(diagnosis), said(diagnosis)
    assert "the script now unused (Const)" in said(diagnosis) and "it is 1 more than the 2" in said(diagnosis)
    same = Edit()
    same.seeds(KERNEL, 11, 77)
    same.add("initial", "hidden/kernel", 0.5)
    assert "counts of operations part" not in said(diagnosed(same))


def check_no_seed() -> None:
    sides = [Edit(), Edit()]
    for side in sides:
        side.seeds(KERNEL, 0, 0)
    sides[1].add("initial", "hidden/kernel", 0.5)
    asked = []

    def again(given: tuple[str, ...]) -> ComparedTraces:
        asked.append(given)
        return held(Edit())

    diagnosis = diagnosed(sides[1], again, left=sides[0])
    assert diagnosis.cause == "seeds" and f"{KERNEL} has no seed" in diagnosis.text and asked == [("variables",)]


# -- kernels -----------------------------------------------------------------------------------------------------------


def check_a_kernel_is_found_among_all() -> None:
    """The operation that gives another result of its recorded inputs; its neighbours do not."""
    left = Edit()
    left.add("extra", "hidden/Tanh:0", 1e-3, first=2)
    diagnosis = diagnosed(Edit(), left=left)
    assert diagnosis.cause == "kernel" and diagnosis.about["operation"] == "hidden/Tanh", said(diagnosis)
    assert diagnosis.about["type"] == "Tanh" and diagnosis.about["share"] > 100 and diagnosis.about["call"] == 4
    assert 0.9e-3 < diagnosis.about["error"] < 1.1e-3 and diagnosis.about["line"] == "verify_program.py:16"
    assert "along the steps: 1: 0.0e+00, 2: 0.0e+00, 3: 1.0e-03" in said(diagnosis)
    assert "BiasAdd" not in said(diagnosis)


def check_a_kernel_that_cannot_be_singled_out() -> None:
    """Where only the loss was recorded: which operations it may be, and how to learn more."""
    sides = [Edit(), Edit()]
    for side in sides:
        for series in side.index["series"]:
            if series["role"] == "extra":
                series["session"] = 9
    sides[1].add("fetch", "loss:0", [1e-6, 4e-6, 1e-5, 4e-5, 1e-4])
    diagnosis = diagnosed(sides[1], left=sides[0])
    assert diagnosis.cause == "kernel" and {"MatMul", "Tanh"} <= set(diagnosis.about["suspects"]), said(diagnosis)
    assert "Assign" not in diagnosis.about["suspects"] and "--tensors" in said(diagnosis)
    assert "grows along the steps" in said(diagnosis) and "grows from call to call" in said(diagnosis)


def check_variables_read_as_references_are_not_taken_for_inputs() -> None:
    """What was fetched of a variable beside its own update may be its next value: alone, products are equal.

    On another processor than the recording's they are so but for the order of their terms.
    """
    left = Edit()
    left.add("fetch", "loss:0", 1e-3, first=2)
    diagnosis = diagnosed(Edit(), left=left)
    assert diagnosis.cause == "kernel", said(diagnosis)
    off = re.search(r"hidden/MatMul\) is off by (\S+)", said(diagnosis))
    assert off is None or float(off[1]) < 1e-6, said(diagnosis)


def check_initializers_of_equal_variables_are_not_blamed() -> None:
    right = Edit()
    right.constant("hidden/kernel/Initializer/random_normal/stddev", 0.4)
    right.seeds(KERNEL, 11, 77)
    right.add("extra", "hidden/Tanh:0", 1e-3)
    assert diagnosed(right).cause == "kernel"


def check_what_draws_otherwise_with_the_same_seeds() -> None:
    """The golden has no operations to compute alone where nothing beside the loss was recorded."""
    sides = [Edit(), Edit()]
    for side in sides:
        for series in side.index["series"]:
            if series["role"] == "extra":
                series["session"] = 9
    sides[1].add("fetch", "loss:0", 0.5)
    diagnosis = diagnosed(sides[1], left=sides[0])
    assert diagnosis.cause == "kernel" and diagnosis.about["operation"] == DROPOUT, said(diagnosis)
    assert "draws otherwise with the same seeds (11, " in diagnosis.text


def check_seeds_of_data_sets() -> None:
    """They are inputs, and TensorFlow computes the second one."""
    side = Edit()
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(11)
        tf.data.make_initializable_iterator(tf.data.Dataset.range(9).shuffle(9, seed=5))
    side.graph = graph.as_graph_def()
    del side.index["graphs"][0]["places"]
    found = TraceGraph(side.trace(), 1)
    (name,) = [node.name for node in found.top if node.op == "ShuffleDataset"]
    assert found.seeds(name) == (11, 5) and found.draws(found.nodes) == [name]


# -- what a recording lacks --------------------------------------------------------------------------------------------


def check_a_recording_of_an_older_recorder() -> None:
    right = Edit(OLD)
    right.constant("Momentum/learning_rate", 0.5)
    right.add("fetch", "mean_squared_error/value:0", 0.1, first=2)
    diagnosis = diagnosed(right, left=Edit(OLD))
    assert diagnosis.cause == "code" and diagnosis.about["operation"] == "Momentum/learning_rate", said(diagnosis)
    assert diagnosis.about["line"] == "" and "did not note where operations were made" in said(diagnosis)


def check_a_graph_that_was_not_kept() -> None:
    sides = [Edit(), Edit()]
    for side in sides:
        side.index["graphs"][0]["kept"] = False
    sides[1].add("fetch", "loss:0", 0.1)
    diagnosis = diagnosed(sides[1], left=sides[0])
    assert diagnosis.cause == "unknown" and "too large to be kept" in diagnosis.text


def check_the_page_shows_it() -> None:
    found = held(moved())
    text = page(dataclasses.replace(found.result, diagnosis=diagnose(found)))
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert data["diagnosis"]["cause"] == "seeds" and DROPOUT in data["diagnosis"]["text"]
    assert [title for title, lines in data["diagnosis"]["parts"] if lines] == ["Evidence", "To do"]
    assert 'element("h2", `Diagnosis: ${data.diagnosis.cause}`)' in text
