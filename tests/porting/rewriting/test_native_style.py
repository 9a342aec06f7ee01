"""What a reviewer would not accept in a program of step native: each is a rule now, or a refusal."""

from __future__ import annotations

import functools
import re
import textwrap

import porting_support
import pytest

from tf1sessions.porting.rewriting.native.checkpoints import PARTLY_RESTORED
from tf1sessions.porting.rewriting.native.session_settings import LEFT_OUT

after = functools.partial(porting_support.after, step="native")
HEADER = "import tensorflow as tf\n"
GRAPH = """
x = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable("w", [2, 1])
y = tf.matmul(x, w)
"""
SESSION = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(y, {x: [[1, 2]]}))
"""
TRAINED = """
labels = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels={labels}, logits=y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {{x: [[1, 2]], labels: [[1]]}})
"""


def native(*texts: str) -> str:
    found = after(HEADER + "".join(map(textwrap.dedent, texts)))
    assert "LegacyGraph" not in found and "Session" not in found, found
    return found


def test_a_text_of_several_lines_stays_as_it_is():
    text = '"""\n      usage\n\n\n\n   end\nof it\n  """'
    found = native(GRAPH, f"print({text})\nz = tf.strings.join(['a', {text}])\nv = tf.Variable(0.0)\n", SESSION)
    assert found.count(text) == 2
    asked = SESSION.replace("sess.run(y", "sess.run(z")
    found = native(GRAPH, f"z = tf.strings.join([tf.as_string(x), {text}])\n", asked)
    assert found.count(text) == 1 and found.index("def run_z") < found.index("usage")


def test_comments_stay():
    found = native(
        """
        # the inputs

        x = tf.placeholder(tf.float32, [None, 2])
        # two of them

        # the weights

        w = tf.get_variable("w", [2, 1])
        # begun as Glorot says

        y = tf.matmul(x, w)
        with tf.Session() as sess:
            # goes with it
            sess.run(tf.global_variables_initializer())
            # each step
            for i in range(3):
                print(sess.run(y, {x: [[1, i]]}))
            # the end
            #print(i)
        """
    )
    for each in ("the inputs", "two of them", "the weights", "begun as Glorot says"):
        assert found.count(f"# {each}\n") == 1, each
    assert "# each step\nfor i in range(3):\n" in found
    assert "\n# the end\n#print(i)\n" in found


def test_summaries_are_written_by_one_function_and_outside_of_scopes():
    found = native(
        GRAPH,
        """
        with tf.name_scope("cost"):
            cost = tf.reduce_mean(y)
            first = tf.summary.scalar("cost", cost)
        second = tf.summary.histogram("weights", w)
        merged = tf.summary.merge_all()
        writer = tf.summary.FileWriter("logs")
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            writer.add_summary(sess.run(merged, {x: [[1, 2]]}), 0)
        """.replace(
            "writer.add_summary(sess.run(merged, {x: [[1, 2]]}), 0)",
            "s = sess.run(merged, {x: [[1, 2]]})\n            writer.add_summary(s, 0)",
        ),
    )
    assert found.count("def write_summaries") == 1
    assert not any(line.startswith(" ") for line in found.splitlines() if "def write_summaries" in line)


WRITING = """
merged = tf.summary.merge_all()
writer = tf.summary.FileWriter("logs")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    s = sess.run(merged, {x: [[1, 2]]})
    writer.add_summary(s, 0)
"""

#: Statements that make a summary, and its tag in TensorFlow 1.15.5.
TAGS = {
    "m = tf.reduce_mean(x)\ntf.summary.scalar('mean', m)": "mean_1",
    "l = tf.reduce_mean(x, name='loss')\ntf.summary.scalar('Loss', l)": "Loss_1",
    "with tf.name_scope('acc'):\n    a = tf.reduce_sum(x)\ntf.summary.scalar('acc', a)": "acc_1",
    "tf.summary.histogram('w', w)": "w_1",
    "with tf.name_scope('a'):\n    tf.summary.scalar('mean', tf.reduce_mean(x))": "a/mean_1",
    "o = tf.train.AdamOptimizer(0.1, name='train').minimize(y)\ntf.summary.scalar('train', y[0, 0])": "train_1",
    "tf.summary.scalar('mean', y[0, 0])": "mean",
}


@pytest.mark.parametrize(("statements", "tag"), TAGS.items(), ids=TAGS.values())
def test_tags_are_those_of_tensorflow_1(statements: str, tag: str):
    found = native(GRAPH, statements, WRITING)
    assert f"('{tag}', values['{tag}'], step=step)" in found


@pytest.mark.parametrize("kind", ["scalar", "histogram"])
def test_histograms_are_written_by_a_traced_function(kind: str):
    found = native(GRAPH, f"tf.summary.{kind}('w', y[0, 0])", WRITING.replace("s, 0", "s, i + 1"))
    traced = kind == "histogram"
    assert ("@tf.function\ndef write_summaries(writer, values, step):" in found) == traced
    # A number of Python would be a trace for each step.
    step = "tf.cast(i + 1, tf.int64)" if traced else "i + 1"
    assert f"write_summaries(writer, s, {step})" in found


def test_a_file_writer_for_each_step_is_no_trace_for_each():
    made = 'writer = tf.summary.FileWriter("logs")\n'
    loop = WRITING.replace(made, "").replace("    s = sess", "    for i in range(3):\n      s = sess")
    loop = loop.replace("    writer.add", f"      {made}      writer.add")
    found = native(GRAPH, "tf.summary.histogram('w', y[0, 0])", loop)
    assert "def write_summaries" in found and "@tf.function\ndef write_summaries" not in found


def test_one_summary_is_fetched_as_what_is_merged_is():
    found = native(
        GRAPH, "shown = tf.summary.scalar('y', y[0, 0])", WRITING.replace("sess.run(merged", "sess.run(shown")
    )
    assert "s = tf.nest.map_structure(lambda value: value.numpy(), run_shown(" in found


READING = f"""
tf.summary.scalar("a", y[0, 0])
{WRITING}
for event in tf.train.summary_iterator("logs/events"):
    print([each.simple_value for each in event.summary.value])
"""


def test_events_are_read_as_they_are_written():
    assert "[tf.make_ndarray(each.tensor).item() for each in" in native(GRAPH, READING)
    text = HEADER + GRAPH + READING.replace("simple_value", "histo.max")
    assert "LegacyGraph" in after(text)


def test_a_scope_without_names_goes():
    found = native(
        """
        with tf.name_scope("inputs"):
            x = tf.placeholder(tf.float32, [None, 2])
        with tf.name_scope("layer"):
            w = tf.Variable(tf.zeros([2, 1]), name="w")
        y = tf.reduce_sum(tf.matmul(x, w))
        with tf.name_scope("train"):
            train = tf.train.GradientDescentOptimizer(0.1).minimize(y)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(train, {x: [[1, 2]]})
        """
    )
    assert 'tf.name_scope("layer")' in found and '"inputs"' not in found and '"train"' not in found


def test_os_is_imported_once():
    assert native("import os\nprint(os.sep)\n", GRAPH, TRAINED.format(labels="labels")).count("import os\n") == 1


def test_gradients_of_labels_are_stopped_where_there_are_some():
    assert "stop_gradient" not in native(GRAPH, TRAINED.format(labels="labels"))
    assert "stop_gradient" not in native(GRAPH, TRAINED.format(labels="tf.one_hot(tf.argmax(labels, 1), 1)"))
    assert "labels=tf.stop_gradient(tf.sigmoid(y))" in native(GRAPH, TRAINED.format(labels="tf.sigmoid(y)"))
    losses = TRAINED.format(labels="tf.sigmoid(y)").replace(
        "tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=tf.sigmoid(y), logits=y))",
        "tf.losses.softmax_cross_entropy(tf.sigmoid(y), y)",
    )
    assert "labels=tf.stop_gradient(tf.sigmoid(y))" in native(GRAPH, losses)


@pytest.mark.parametrize(
    "graph",
    [
        "y, _ = tf.nn.moments(x, [0])\ny = tf.reshape(y, [-1])\n",
        "def layer(x, f=None):\n    if f is None:\n        z = x * 2\n    else:\n        z = f(x)\n    return z\n"
        "y = layer(x, tf.nn.relu)\n",
    ],
)
def test_one_tensor_is_known_as_one(graph: str):
    found = native("x = tf.placeholder(tf.float32, [None, 2])\n", graph, SESSION)
    assert ".numpy())" in found and "map_structure" not in found


TUPLES = """
x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable([[1.0], [2.0]])
def both(z):
    y = tf.matmul(z, w)
    return RETURNED
TARGET = both(x)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    found = sess.run(first, {x: [[1, 2]]})
"""


@pytest.mark.parametrize(
    ("returned", "target", "is_tensor"),
    [
        ("y, y + 1", "first, _", True),
        ("tf.nn.sigmoid(y), tf.split(y, 1)", "first, second", True),
        ("y, tf.split(y, 1)", "_, first", False),
        ("y, tf.split(y, 1)", "first", False),
        ("tf.split(tf.concat([y, y], 0), 2)", "first, _", False),  # of one call, whose number is not known here
        ("y, y, y", "_, *first", False),
    ],
)
def test_a_result_of_several_is_one_tensor(returned: str, target: str, is_tensor: bool):
    found = native(TUPLES.replace("RETURNED", returned).replace("TARGET", target))
    assert ("found = run_first([[1, 2]]).numpy()" in found) is is_tensor
    assert ("map_structure" in found) is not is_tensor


def test_names_of_optimizers_and_objects():
    found = native(
        """
        def CNN(x):
            return tf.layers.dense(x, 1, name="d")
        x = tf.placeholder(tf.float32, [None, 2])
        y = CNN(x)
        loss = tf.reduce_mean(y)
        train_D = tf.train.AdamOptimizer(0.1).minimize(loss)
        G_opt = tf.train.AdamOptimizer(0.1).minimize(-loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            a, b = sess.run([y, loss, train_D, G_opt], {x: [[1, 2]]})[:2]
        """
    )
    assert "cnn = CNN()" in found and "D_optimizer = tf.keras" in found and "G_opt = tf.keras" in found
    assert "a, b = [value.numpy() for value in run_y_and_loss_and_2_more([[1, 2]])]\n" in found
    assert "None, None" not in found


def test_tabs_are_not_mixed_with_spaces():
    found = native(
        "def f(x):\n\tif 1:\n\t\tx = tf.square(x)\n\treturn tf.layers.dense(x, 1)\n",
        GRAPH.replace("tf.matmul(x, w)", "f(x)"),
        SESSION,
    )
    assert "\t" not in found


def test_a_second_session_draws_the_numbers_of_a_seed_anew():
    text = HEADER + "c = tf.random_uniform([], seed=2)\n" + "with tf.Session() as sess:\n    print(sess.run(c))\n" * 2
    assert "LegacyGraph" in after(text)
    assert "LegacyGraph" not in after(text.replace(", seed=2", ""))


#: What names something of the graph -> None, or a part of what it becomes.
NAMED = {
    SESSION.replace("sess.run(y", "sess.run('MatMul:0'"): None,
    "with tf.name_scope('a') as scope:\n    y = tf.square(y, name=scope)\n"
    + SESSION: "tf.name_scope('a') as scope:\n        y",
    "with tf.name_scope('a') as scope:\n    y = tf.square(y)\nprint(scope)\n" + SESSION: None,
    "def net(x):\n    return tf.layers.dense(x, 1, name='d')\n"
    "with tf.variable_scope('a') as scope:\n    y = net(x)\n    scope.reuse_variables()\n    y += net(x)\n"
    + SESSION: None,
}


@pytest.mark.parametrize(("text", "found"), NAMED.items())
def test_what_is_used_by_a_name_of_the_graph(text: str, found: str | None):
    if found is None:
        assert "LegacyGraph" in after(HEADER + GRAPH + text)
    else:
        assert found in native(GRAPH, text)


def test_graphs_without_names_of_their_own_keep_their_sessions():
    text = "g, h = tf.Graph(), tf.Graph()\nwith g.as_default():\n    a = tf.constant(1)\n"
    text += "print(tf.Session(graph=g).run(a))\n"
    assert "Session" in after(HEADER + text)


def test_an_assignment_whose_result_nothing_reads():
    found = native(GRAPH, SESSION + "    sess.run(tf.assign(w, [[1.0], [2.0]]))\n")
    assert "\nw.assign([[1.0], [2.0]])\n" in found


SAVED = """
import os
FOLDER = "models"
BEFORE
step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", [2, 1])
more = step.assign_add(1)
saver = tf.train.Saver()
BEHIND
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run(more)
        saver.save(sess, PATH, global_step=step)
    saver.save(sess, PATH, global_step=step)
"""


@pytest.mark.parametrize(
    ("path", "before", "behind", "is_kept"),
    [
        ('os.path.join(FOLDER, "a")', "", "", True),
        ('FOLDER + "/a"', "", "", True),
        ('"./models/a"', "", "", True),
        ("path", 'path = os.path.join(FOLDER, "a")', "", True),
        ("path", "", 'path = os.path.join(FOLDER, "a")', False),
        ("path", 'path = "a"', 'path = "b"', False),
        ("path", 'path = "a"', "def change():\n    global path\n    path = 'b'\nchange()", False),
        ('os.path.join(os.getcwd(), "a")', "", "", False),
        ('os.path.join(FOLDER, "%d" % i)', "i = 1", "", False),
    ],
)
def test_a_manager_of_checkpoints_is_made_once_where_its_path_is_known(
    path: str, before: str, behind: str, is_kept: bool
):
    found = native(SAVED.replace("PATH", path).replace("BEFORE", before).replace("BEHIND", behind))
    assert found.count("CheckpointManager(") == (1 if is_kept else 2)
    assert found.count("manager.save(checkpoint_number=int(step))") == (2 if is_kept else 0)
    assert ("Checkpoint(step=step, w=w)\nmanager = tf.train.CheckpointManager(saver, " in found) is is_kept


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ("# Growing memory.\nconfig = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n", []),
        ("gpu = tf.GPUOptions(allow_growth=True)\nconfig = tf.ConfigProto(gpu_options=gpu)\n", []),
        ("config = tf.ConfigProto(allow_soft_placement=True)\nprint(config)\n", ["config = tf", "print(config)"]),
        (
            "gpu = tf.GPUOptions()\nconfig = tf.ConfigProto(gpu_options=gpu)\nprint(config)\n",
            ["gpu = ", "config = tf", "print(config)"],
        ),
        ("gpu = tf.GPUOptions()\nconfig = tf.ConfigProto(gpu_options=gpu)\nprint(gpu)\n", ["gpu = ", "print(gpu)"]),
        ("config = tf.ConfigProto(intra_op_parallelism_threads=ask())\n", ["config = tf"]),
        ("config = tf.ConfigProto()\nconfig.intra_op_parallelism_threads = ask()\n", ["config = tf", "= ask()\n"]),
        ("config = None\nconfig = tf.ConfigProto()\n", ["config = None", "config = tf"]),
    ],
)
@pytest.mark.parametrize("is_main", [False, True])
def test_settings_of_a_session_that_nothing_uses_go(settings: str, left: list[str], is_main: bool):
    graph = GRAPH + settings + SESSION.replace("Session()", "Session(config=config)")
    text = "def main():\n" + textwrap.indent(graph, "    ") + "main()\n" if is_main else graph
    found = native("def ask():\n    return 2\n\n", text)
    for each in ("gpu = ", "config = None", "config = tf", "print(config)", "print(gpu)", "= ask()\n"):
        assert (each in found) is (each in left), each
    assert left or ("onfigProto" not in found and "memory" not in found)
    notes = porting_support.remarks(HEADER + "def ask():\n    return 2\n\n" + text, "native", "good to know")
    assert (LEFT_OUT in notes) is ("print(gpu)" in left or not left)


@pytest.mark.parametrize(
    ("made", "saves", "most"),
    [
        ("", "saver.save(sess, './m')", None),
        ("", "for i in range(9):\n        saver.save(sess, './m')", None),
        ("", "saver.save(sess, './m')\n    saver.save(sess, './n')", None),
        ("max_to_keep=None", "for i in range(9):\n        saver.save(sess, './m%d' % i)", None),
        ("max_to_keep=0", "for i in range(9):\n        saver.save(sess, './m%d' % i)", None),
        ("", "for i in range(9):\n        saver.save(sess, './m%d' % i)", "5"),
        ("max_to_keep=3", "for i in range(9):\n        saver.save(sess, './m' + str(i))", "3"),
        ("max_to_keep=1", "saver.save(sess, './m')\n    saver.save(sess, './n')", "1"),
    ],
)
def test_old_checkpoints_are_deleted_where_paths_change(made: str, saves: str, most: str | None):
    text = f"{HEADER}w = tf.Variable(1.0)\nsaver = tf.train.Saver({made})\nwith tf.Session() as sess:\n"
    found = porting_support.after(
        f"{text}    sess.run(tf.global_variables_initializer())\n    print(sess.run(w * 2.0))\n    {saves}\n", "native"
    )
    assert "LegacyGraph" not in found and "write_checkpoint(saver" in found
    assert ("remove(file)" in found) is (most is not None)
    assert most is None or f", max_to_keep={most})" in found


def test_a_step_is_traced_before_a_checkpoint_that_may_be_written_before_it():
    text = (
        f"{HEADER}n = 3\nw = tf.Variable(1.0)\nv = tf.Variable(1.0)\ntrain = tf.train.OPTIMIZER.minimize(w * w)\n"
        "other = tf.train.AdamOptimizer(0.1).minimize(v * v)\nsaver = tf.train.Saver()\nwith tf.Session() as sess:\n"
        "    sess.run(tf.global_variables_initializer())\n    FIRST    saver.save(sess, './m')\n"
        "    sess.run(train)\n    sess.run(other)\n"
    )
    both = "sess.run(train)\n    sess.run(other)"
    loop = f"for i in range(n):\n        {both.replace('    ', '        ')}"
    restore = "saver.restore(sess, './m')\n    "
    for optimizer, first, traced in (
        ("AdamOptimizer(0.1)", "", ["train", "other"]),
        ("AdamOptimizer(0.1)", "print(sess.run(w * 2.0))", ["train", "other"]),
        ("AdamOptimizer(0.1)", "sess.run(train)", ["other"]),
        ("GradientDescentOptimizer(0.1)", "sess.run(other)", []),  # as in TensorFlow 1 it has nothing to save
        ("AdamOptimizer(0.1)", both, []),
        ("AdamOptimizer(0.1)", loop, []),
        ("AdamOptimizer(0.1)", restore + loop, ["train", "other"]),  # of a run that has ended, none is left to do
        ("AdamOptimizer(0.1)", restore + loop.replace("(n)", "(3)"), []),
        ("AdamOptimizer(0.1)", restore + both, []),
    ):
        before = text.replace("OPTIMIZER", optimizer).replace("    FIRST", f"    {first}\n" if first else "")
        found = porting_support.after(before, "native")
        assert re.findall(r"run_(\w+)\.get_concrete_function\(\)", found) == traced, (optimizer, first, found)
    text = text.replace("OPTIMIZER", "GradientDescentOptimizer(0.1)").replace("FIRST", "sess.run(other)\n")
    assert "train.Checkpoint(w=w, v=v, other_optimizer=" in porting_support.after(text, "native")


def test_it_is_said_where_another_saver_writes_what_one_of_some_variables_may_not_read():
    text = (
        f"{HEADER}w = tf.Variable(1.0)\nv = tf.Variable(1.0)\nsome = tf.train.Saver(LIST)\nsaver = tf.train.Saver()\n"
        "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n    print(sess.run(w * v))\n"
        "    SAVE.save(sess, './m')\n    some.restore(sess, './m')\n"
    )
    for listed, saver, is_said in (
        ("[each for each in [w, v] if each.name == 'w:0']", "saver", True),
        ("[each for each in [w, v] if each.name == 'w:0']", "some", False),
        ("[w]", "saver", False),
        ("tf.global_variables()", "saver", False),
    ):
        said = porting_support.remarks(text.replace("LIST", listed).replace("SAVE", saver), "native", "good to know")
        assert (PARTLY_RESTORED in said) is is_said, listed
