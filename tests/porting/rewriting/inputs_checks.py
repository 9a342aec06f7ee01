"""Checks that programs compute the same with queues and with tf.data. Run by test_inputs.py in one process."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
from inputs_programs import PROGRAMS
from porting_support import after_inputs

from tf1sessions.porting.ordered_inputs import keep_order, loop_in_order

v1 = tf.compat.v1


def files() -> None:
    """Write the files that the programs read."""
    with open("a.csv", "w") as file:
        file.write("1.5,2\n-3,4\n0.25,6\n")
    with open("b.csv", "w") as file:
        file.write("7,8\r\n9,10")
    with open("fixed.bin", "wb") as file:
        file.write(bytes(range(13)))
    with v1.python_io.TFRecordWriter("examples.tfrecord") as writer:
        for count in (1, 3, 2, 0):
            numbers = tf.train.Feature(int64_list=tf.train.Int64List(value=range(count)))
            writer.write(tf.train.Example(features=tf.train.Features(feature={"n": numbers})).SerializeToString())


def printed(text: str) -> list[str]:
    """What a program prints."""
    v1.reset_default_graph()
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
    return output.getvalue().splitlines()


def same(name: str) -> None:
    before, after = after_inputs(PROGRAMS[name])
    assert "input_producer(" not in after and "start_queue_runners" not in after, after
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        stack.callback(os.chdir, os.getcwd())
        os.chdir(folder)
        files()
        keep_order(stack)
        queues, data_sets = printed(before), printed(after)
    assert len(queues) > 1 and [plain(each) for each in queues] == [plain(each) for each in data_sets], after


def plain(line: str) -> str:
    """A line, whether a list or a tuple is printed."""
    return line.replace("(", "[").replace(")", "]")


def parallel_iterations() -> set[int]:
    """How many iterations of a loop and its gradient TensorFlow begins at once, in either kind of control flow."""
    found, enable, disable = set(), v1.enable_control_flow_v2, v1.disable_control_flow_v2
    before = enable if v1.control_flow_v2_enabled() else disable
    for switch in (enable, disable):
        switch()
        with v1.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [])
            y = v1.while_loop(lambda y: y < 9.0, lambda y: (y * y,), [x], parallel_iterations=7)
            tf.gradients(y, x)
        operations = graph.get_operations()
        found |= {each.get_attr("parallel_iterations") for each in operations if each.type in ("Enter", "While")}
    before()
    return found


def check_loops_do_one_iteration_after_another() -> None:
    with contextlib.ExitStack() as stack:
        loop_in_order(stack)
        assert parallel_iterations() == {1}
    assert parallel_iterations() == {7}


def __getattr__(name: str) -> object:
    """The check of a program, by its name."""
    program = name.removeprefix("check_")
    if program not in PROGRAMS:
        raise AttributeError(name)
    return lambda: same(program)
