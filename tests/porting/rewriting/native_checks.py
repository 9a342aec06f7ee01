"""Checks that native TensorFlow 2 computes what TensorFlow 1's code did. Run by test_native.py in one process."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from absl import flags
from native_programs import PROGRAMS
from native_state_programs import STATE_PROGRAMS
from native_value_programs import MNIST_PROGRAM, VALUE_PROGRAMS, write_mnist
from support import ROOT

sys.path.append(str(ROOT / "benchmarks"))
from ported_code import with_fewer_calls

from tf1sessions import porting
from tf1sessions.porting import ordered_inputs
from tf1sessions.porting.legacy_graph import LegacyFunction
from tf1sessions.porting.rewriting import native_run, printed
from tf1sessions.porting.rewriting.native.checkpoints import RESTORED_COMMENT
from tf1sessions.porting.rewriting.rewrite import port
from tf1sessions.source.files import SourceText

v1 = tf.compat.v1


def ported(text: str) -> dict[str, str]:
    """The program after each step."""
    steps = port([SourceText(Path("p.py"), "p.py", text)], "native", inputs=True)
    return {step.step: step.files[0].after.text for step in steps}


def in_sessions(text: str, *place: Any) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Run what step ``clean`` gives: what it prints, the initial values of variables, and the last ones."""
    values: dict[str, dict[str, Any]] = {"initial": {}, "last": {}}
    run = v1.Session.run

    def noted(session: Any, *args: Any, **kwargs: Any) -> Any:
        result = run(session, *args, **kwargs)
        variables = session.graph.get_collection("variables")
        with contextlib.suppress(tf.errors.FailedPreconditionError):  # before they have values
            values["last"] = dict(zip((v.op.name for v in variables), run(session, variables), strict=True))
            values["initial"] = values["initial"] or values["last"]
        return result

    v1.Session.run = noted
    v1.disable_control_flow_v2()
    v1.disable_resource_variables()  # as TensorFlow 1 has it: a fetched variable has its value after the updates
    reset = v1.reset_default_graph
    try:
        with contextlib.ExitStack() as graphs:
            v1.reset_default_graph = lambda: graphs.enter_context(tf.Graph().as_default())
            v1.reset_default_graph()
            text = re.sub(r".*disable_v2_behavior.*\n", "\n", text)  # AutoGraph reads the file by its lines
            return executed(text, *place), values["initial"], values["last"]
    finally:
        v1.Session.run, v1.reset_default_graph = run, reset
        v1.enable_resource_variables()
        v1.enable_control_flow_v2()


def executed(text: str, path: str = "program.py", arguments: tuple[str, ...] = ()) -> str:
    """What a program prints."""
    printed_text = io.StringIO()
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.argv = [path, *arguments]
    with contextlib.redirect_stdout(printed_text), contextlib.suppress(SystemExit):
        exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
    return printed_text.getvalue()


def in_functions(text: str, initial: dict[str, Any], *place: Any) -> tuple[str, dict[str, Any]]:
    """Run what step ``native`` gives, from the same initial values."""
    v1.keras.backend.clear_session()  # the names of layers are counted anew
    tf.random.set_seed(None)  # of the program before
    values = native_run.GivenValues(initial)
    with contextlib.ExitStack() as stack:
        values.watch(stack)
        return executed(text, *place), values.last()


def check_programs() -> None:
    failed = []
    for name, text in (PROGRAMS | STATE_PROGRAMS | VALUE_PROGRAMS).items():
        steps = ported(text)
        if "tf1sessions" in steps["native"] or "Session" in steps["native"]:
            failed.append(f"{name}: not ported")
            continue
        before, initial, last_before = in_sessions(steps["clean"])
        after, last = in_functions(steps["native"], initial)
        trained = {key for key, value in initial.items() if (value != last_before[key]).any()}
        found = printed.compared(before, after, {key: last_before[key] for key in trained if key in last}, last)
        if found.difference or not found.numbers:
            failed.append(f"{name}: {found.difference or 'no numbers'}")
    assert not failed, "\n".join(failed)


def check_initial_values_that_are_nudged() -> None:
    with porting.LegacyGraph() as legacy:
        w = v1.get_variable("w", initializer=[1.0, 0.0])
        step = v1.get_variable("step", initializer=3)
        initialize, read = legacy.function(v1.global_variables_initializer()), legacy.function([w, step])
    noted = native_run._NotedValues(is_nudged=True)
    initialize()
    noted._note(legacy)
    noted._note(legacy)
    (one, zero), three = read()
    assert (one, zero, three) == (np.nextafter(np.float32(1.0), np.float32(2.0)), 0.0, 3)
    assert noted.initial["w"].tolist() == [1.0, 0.0]


def check_the_first_changes_are_noted() -> None:
    """After the calls that change variables, not after those that read them: the same before the step and after it."""
    with porting.LegacyGraph() as legacy:
        w = v1.get_variable("w", initializer=[1.0])
        initialize, read = legacy.function(v1.global_variables_initializer()), legacy.function(w)
        add = legacy.function(w.assign_add([2.0]))
    noted = native_run._NotedValues()
    call = LegacyFunction.__call__
    try:
        noted._watch_functions()
        for function in (initialize, read, add, read, add, *[read] * 94, add, add):
            function()
    finally:
        LegacyFunction.__call__ = call  # type: ignore[method-assign]
    given = native_run.GivenValues({"v": np.array([1.0], np.float32)})
    functions = type(tf.function(len))
    with contextlib.ExitStack() as stack:
        call = functions.__call__
        given.watch(stack)
        v = tf.Variable([0.0], name="v")
        outer = tf.function(lambda: inner())
        inner = tf.function(lambda: v.assign_add([2.0]))
        for _ in range(6):
            outer()
    assert functions.__call__ is call
    assert [each["w"].item() for each in noted.changes.noted] == [3.0, 5.0, 7.0]  # and no more after 100 calls
    assert [each["v"].item() for each in given.changes.noted] == [3.0, 5.0, 7.0, 9.0, 11.0]


def check_the_reader_of_mnist() -> None:
    steps = ported(MNIST_PROGRAM)
    assert "tf1sessions" not in steps["native"] and "tf1sessions" in steps["clean"]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        stack.callback(os.chdir, os.getcwd())
        os.chdir(folder)
        Path("digits").mkdir()
        write_mnist("digits")
        before, initial, _ = in_sessions(steps["clean"])
        after, _ = in_functions(steps["native"], initial)
    first, *rest = zip(before.splitlines(), after.splitlines(), strict=True)
    assert [one.startswith("Extracting") for one in first] == [True, True]
    found = printed.compared("\n".join(one for one, _ in rest[3:]), "\n".join(other for _, other in rest[3:]))
    assert not found.difference and found.numbers > 20, found


#: Initializers that a program makes once and uses for several variables.
KEPT = (
    "tf.random_normal_initializer(0.0, 0.3)",
    "tf.random_uniform_initializer(-1.0, 1.0)",
    "tf.truncated_normal_initializer(stddev=0.1)",
    "tf.glorot_uniform_initializer()",
    "tf.variance_scaling_initializer()",
    "tf.orthogonal_initializer()",
    "tf.contrib.layers.xavier_initializer()",
)
KEPT_PROGRAM = """
import tensorflow as tf
first = INITIALIZER
def layer(x, name, init=INITIALIZER):
    return tf.layers.dense(x, 3, kernel_initializer=init, name=name)
x = tf.placeholder(tf.float32, [None, 3])
a = tf.get_variable('a', [3, 3], initializer=first)
b = tf.get_variable('b', [3, 3], initializer=first)
y, z = layer(x, 'y'), layer(x, 'z')
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    found = sess.run([y, z], {x: [[1, 2, 3]]})
    print((sess.run(a) != sess.run(b)).all(), (found[0] != found[1]).all())
"""


def check_initializers_draw_again() -> None:
    """In Keras 2 an initializer without a seed draws the same numbers whenever it is called."""
    for each in KEPT:
        text = ported(KEPT_PROGRAM.replace("INITIALIZER", each))["native"]
        assert "tf1sessions" not in text, each
        assert executed(text) == "True True\n", f"{each}: {text}"


#: Examples: arguments, and what a line begins with that differs: the order in which a module lists its variables, and
#: what the program finds in a file of events, which tf.summary writes in another form; and what it prints of the graph.
EXAMPLES = {
    "while_loop_orbits.py": (("--small_steps", "200"), None),
    "gan_digits.py": (("--steps", "100"), ("D: ",)),
    "digits_cnn.py": (("--steps", "80"), ("test losses in the event file",)),
    "string_queue.py": ((), None),
    "two_queues.py": ((), None),
    "iris_dataset_iterator.py": (("--steps", "250"), None),
    "csv_queue_regression.py": (("--steps", "100"), None),
    "batchnorm_mlp.py": ((), ("   layer1/", "6 updates of", "27 variables restored")),
}


def check_the_loop_of_small_steps() -> None:
    page = (ROOT / "migration_notes" / "port-native.md").read_text("utf-8").partition("### Small steps")[2]
    by_calls, by_loop = re.findall(r"```py\n(.*?)```", page, re.DOTALL)[:2]
    begin = by_calls.partition("\nfor i in range")[0] + "\n"
    texts = []
    with tempfile.TemporaryDirectory() as folder:
        for text in (by_calls, begin + by_loop):
            path = Path(folder) / "program.py"
            path.write_text(text)  # AutoGraph reads it there
            texts.append(executed(text, str(path)))
    found = printed.compared(*texts)
    assert not found.difference and found.numbers == 6, found


def check_examples() -> None:
    """After step ``native``, and with the changes by hand that its page shows."""
    page = (ROOT / "migration_notes" / "port-native.md").read_text("utf-8")
    changed = []
    with contextlib.ExitStack() as stack:
        ordered_inputs.draw_by_shape(stack)
        for name, (arguments, differing) in EXAMPLES.items():
            steps = ported((ROOT / "examples" / name).read_text("utf-8"))
            assert "tf1sessions" not in steps["native"], name
            programs = {step: steps[step] for step in ("clean", "native")}
            by_hand = with_fewer_calls(name, steps["native"], page)
            if by_hand != steps["native"]:
                programs["fewer calls"] = by_hand
                changed.append(name)
            texts = []
            initial: dict[str, Any] = {}
            for step, program in programs.items():
                known = set(flags.FLAGS)
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                (folder / "data").symlink_to(ROOT / "examples" / "data")
                (folder / name).write_text(program)  # AutoGraph reads it there
                place = str(folder / name), arguments
                if step == "clean":
                    text, initial, _ = in_sessions(program, *place)
                else:
                    text, _ = in_functions(program, initial, *place)
                for flag in set(flags.FLAGS) - known:
                    delattr(flags.FLAGS, flag)
                lines = text.replace(tempfile.gettempdir(), "").splitlines(keepends=True)
                texts.append("".join(line for line in lines if differing is None or not line.startswith(differing)))
            for text in texts[1:]:
                found = printed.compared(texts[0], text)
                assert not found.difference and found.numbers > 10, f"{name}: {found}"
    assert changed == ["while_loop_orbits.py", "gan_digits.py", "iris_dataset_iterator.py"]


OLD_PROGRAM = """
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
def network(x):
    with tf.variable_scope('net'):
        return tf.layers.dense(x, 1, kernel_initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(network(x)))
train_op = OPTIMIZER.minimize(loss)
saver = tf.train.Saver()
data = np.array([[1.0, 2.0], [3.0, 1.0]])
def main():
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        BEGIN
        for i in range(3):
            sess.run(train_op, {x: data})
            print(sess.run(loss, {x: data}))
if __name__ == '__main__':
    main()
"""
TRAINED = """for i in range(3):
            sess.run(train_op, {x: data})
        saver.save(sess, PATH)"""


def _printed_after_training(program: str, folder: str, stack: contextlib.ExitStack) -> str:
    """What a program prints when it has trained and written old/model.ckpt, in a folder that is left by the stack."""
    stack.callback(os.chdir, os.getcwd())
    os.chdir(folder)
    Path("old").mkdir()
    return in_sessions(ported(program.replace("BEGIN", TRAINED.replace("PATH", "'old/model.ckpt'")))["clean"])[0]


def check_an_old_checkpoint_is_converted() -> None:
    page = (ROOT / "migration_notes" / "port-native.md").read_text("utf-8").partition("### Old checkpoints")[2]
    convert = re.findall(r"```py\n(.*?)```", page, re.DOTALL)[0]
    for optimizer in ("AdamOptimizer(0.1)", "MomentumOptimizer(0.01, 0.9)"):
        program = OLD_PROGRAM.replace("OPTIMIZER", f"tf.train.{optimizer}")
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            before = _printed_after_training(program, folder, stack)
            text = ported(program.replace("BEGIN", "saver.restore(sess, 'new/model.ckpt')"))["native"]
            assert "tf1sessions" not in text and RESTORED_COMMENT in text, text
            v1.keras.backend.clear_session()
            module = sys.modules["train"] = types.ModuleType("train")
            stack.callback(sys.modules.pop, "train")
            exec(compile(text, "train.py", "exec", dont_inherit=True), module.__dict__)
            executed(convert, "convert.py")
            printed_text = io.StringIO()
            with contextlib.redirect_stdout(printed_text):
                module.main()
            found = printed.compared(before, printed_text.getvalue())
            assert not found.difference and found.numbers == 3, (optimizer, found)


def check_an_old_checkpoint_is_read_where_the_learning_rate_changes() -> None:
    """It has no value for a learning rate that an optimizer would keep."""
    program = OLD_PROGRAM.replace("OPTIMIZER", "tf.train.GradientDescentOptimizer(0.01 * tf.reduce_mean(x))")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        before = _printed_after_training(program, folder, stack)
        text = ported(program.replace("BEGIN", "saver.restore(sess, 'old/model.ckpt')"))["native"]
        assert "tf1sessions" not in text and "lambda: learning_rate" in text, text
        v1.keras.backend.clear_session()
        found = printed.compared(before, executed(text))
        assert not found.difference and found.numbers == 3, found
