"""The step ``native``: training steps of optimizers and variables that the port does not see through stay."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

HEAD = """import functools
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.ones([2, 1]))
b = tf.Variable(1.0)
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b))
SGD = tf.train.GradientDescentOptimizer
"""
RUN = """with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([train, loss], {x: [[1.0, 2.0]]}))
"""
NOT_KNOWN = "is called of what is not known to be an optimizer"

#: What gives an optimizer that is not seen to be one.
HIDDEN = [
    "opts = {'sgd': SGD}\nopt = opts['sgd'](0.1)\ntrain = opt.minimize(loss)",
    "train = {'sgd': SGD}['sgd'](0.1).minimize(loss)",
    "opt = getattr(tf.train, 'AdamOptimizer')(0.1)\ntrain = opt.minimize(loss)",
    "opt = functools.partial(tf.train.MomentumOptimizer, momentum=0.9)(0.1)\ntrain = opt.minimize(loss)",
    "def get(name):\n    return {'sgd': SGD}[name](0.1)\nopt = get('sgd')\ntrain = opt.minimize(loss)",
    "opt = (SGD, SGD)[0](0.1)\npairs = opt.compute_gradients(loss)\ntrain = opt.apply_gradients(pairs)",
]
#: The same, where it is.
SEEN = [
    "opt = SGD(0.1)\ntrain = opt.minimize(loss)",
    "opts = {'sgd': SGD(0.1)}\nopt = opts['sgd']\ntrain = opt.minimize(loss)",
    "def get(name):\n    if name == 'sgd':\n        return tf.train.GradientDescentOptimizer(0.1)\n"
    "    return tf.train.AdamOptimizer(0.1)\nopt = get('sgd')\ntrain = opt.minimize(loss)",
    "def build(loss, opt):\n    return opt.minimize(loss)\ntrain = build(loss, tf.train.AdamOptimizer(0.1))",
    "def build(loss, opt):\n    return opt(0.1).minimize(loss)\ntrain = build(loss, tf.train.AdamOptimizer)",
    "opt = SGD(0.1)\npairs = opt.compute_gradients(loss)\ntrain = opt.apply_gradients(pairs)",
]


@pytest.mark.parametrize("lines", HIDDEN)
def test_an_optimizer_that_is_not_seen_stays(lines: str):
    (remark,) = remarks(f"{HEAD}{lines}\n{RUN}", "native")
    assert NOT_KNOWN in remark


@pytest.mark.parametrize("lines", SEEN)
def test_an_optimizer_that_is_seen_is_ported(lines: str):
    found = after(f"{HEAD}{lines}\n{RUN}", "native")
    assert "LegacyGraph" not in found and ".apply_gradients(" in found and "minimize" not in found


@pytest.mark.parametrize("made", ["tf.train.AdamOptimizer(0.1)", "tf.train.AdamOptimizer"])
def test_an_optimizer_that_a_class_is_given_stays(made: str):
    call = "" if made.endswith(")") else "(0.1)"
    text = f"""import tensorflow as tf
class Net(object):
    def __init__(self, optimizer={made}):
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.w = tf.Variable(tf.ones([2, 1]))
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w)))
        self.train = optimizer{call}.minimize(self.loss)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())
    def fit(self, x):
        return self.sess.run([self.train, self.loss], {{self.x: x}})[1]
print(Net().fit([[1.0, 2.0]]))
"""
    (remark,) = remarks(text, "native")
    assert NOT_KNOWN in remark
    text = text.replace(f"optimizer={made}", "rate=0.1").replace(f"optimizer{call}.", "tf.train.AdamOptimizer(rate).")
    assert "LegacyGraph" not in after(text, "native")


def test_an_optimizer_that_a_function_is_given_stays():
    lines = [line for line in f"{HEAD}train = opt(0.1).minimize(loss)\n{RUN}".splitlines() if "import" not in line]
    body = "".join(f"    {line}\n" for line in lines)
    text = f"import tensorflow as tf\ndef run(opt=tf.train.AdamOptimizer):\n{body}run()\n"
    (remark,) = remarks(text, "native")
    assert NOT_KNOWN in remark
    assert "LegacyGraph" not in after(text.replace("opt(0.1)", "tf.train.AdamOptimizer(0.1)"), "native")


STEP = "opt = SGD(0.1)\ntrain = opt.minimize(loss, GIVEN)"
COUNT = "count = tf.Variable(0, trainable=False)\n"

#: Lines before a training step, and what it is given: None.
NONE = [
    ("", "var_list=None"),
    ("", "global_step=None, var_list=None"),
    ("which = None", "var_list=which"),
    ("which = None\nfew = which", "var_list=few"),
    ("which = None", "global_step=which"),
    ("which = None if len([1]) else None", "None, which"),
]
#: What may be None, and may be something else.
MAYBE = [
    ("which = [w] if len([1]) > 2 else None", "var_list=which"),
    ("which = len([1]) > 2 and [w] or None", "var_list=which"),
    ("which = None\nif len([1]) > 2:\n    which = [w]", "var_list=which"),
    ("which = None\nfor name in ('w',):\n    which = [w]", "var_list=which"),
    ("def pick(n):\n    if n:\n        return [w]\n    return None\nwhich = pick(0)", "var_list=which"),
    (f"{COUNT}which = count if len([1]) > 2 else None", "global_step=which"),
]
#: What is not.
GIVEN = [
    ("", "var_list=[w]"),
    ("which = [w]", "var_list=which"),
    ("which = None\nif which is None:\n    which = tf.trainable_variables()", "var_list=which"),
    (f"{COUNT}which = count", "global_step=which"),
]


@pytest.mark.parametrize(("lines", "given"), NONE)
def test_none_is_as_if_nothing_was_given(lines: str, given: str):
    found = after(f"{HEAD}{lines}\n{STEP.replace('GIVEN', given)}\n{RUN}", "native")
    assert "LegacyGraph" not in found and "assign_add" not in found
    assert "    variables = tape.watched_variables()\n" in found


@pytest.mark.parametrize(("lines", "given"), MAYBE)
def test_what_may_be_none_stays(lines: str, given: str):
    (remark,) = remarks(f"{HEAD}{lines}\n{STEP.replace('GIVEN', given)}\n{RUN}", "native")
    assert "of a training step may be None" in remark


@pytest.mark.parametrize(("lines", "given"), GIVEN)
def test_what_is_not_none_is_given(lines: str, given: str):
    found = after(f"{HEAD}{lines}\n{STEP.replace('GIVEN', given)}\n{RUN}", "native")
    assert "LegacyGraph" not in found and ("which" in found or "[w]" in found)


@pytest.mark.parametrize(
    ("calls", "is_ported"),
    [("build()", True), ("build(None)", True), ("build(which=None)", True), ("build()\nbuild(True)", False)],
)
def test_a_parameter_has_its_default_and_what_calls_give(calls: str, is_ported: bool):
    lines = [line for line in f"{HEAD}LIST\n{STEP}\n{RUN}".splitlines() if "import" not in line]
    body = "".join(f"    {line}\n" for line in lines).replace("GIVEN", "var_list=which").replace("LIST", "print(which)")
    text = f"import tensorflow as tf\ndef build(which=None):\n{body}{calls}\n"
    assert ("LegacyGraph" not in after(text, "native")) is is_ported


def test_defaults_of_a_function_that_is_put_in_place_of_its_call_are_none():
    build = "def build(opt, var_list=None, step=None):\n    return opt.minimize(loss, step, var_list)\n"
    found = after(f"{HEAD}{build}train = build(tf.train.AdamOptimizer(0.1))\n{RUN}", "native")
    assert "LegacyGraph" not in found and "variables = tape.watched_variables()" in found


def test_a_training_step_without_its_pairs_stays():
    (remark,) = remarks(f"{HEAD}opt = SGD(0.1)\ntrain = opt.apply_gradients(name='train')\n{RUN}", "native")
    assert "does not get its grads_and_vars" in remark
