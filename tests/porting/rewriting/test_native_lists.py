"""The step ``native``: lists of variables, and objects that have some; a list's scope is a regular expression."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

TEXT = """import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
h = tf.layers.dense(x, 2, name='hidden1')
y = tf.layers.dense(h, 1, name='outputs')
LIST
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(y), var_list=variables)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: [[1, 2]]})
"""
_ALL = ("tf.trainable_variables(", "tf.global_variables(", "tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, ")


def native(lines: str) -> str:
    found = after(TEXT.replace("LIST", lines), "native")
    assert "LegacyGraph" not in found
    return found


@pytest.mark.parametrize("called", _ALL)
@pytest.mark.parametrize("scope", ["hidden[12]|outputs", "^out", "hidden.", "(hidden1|outputs)/kernel", r"out\\w"])
def test_a_scope_that_is_no_plain_text_is_a_regular_expression(called: str, scope: str):
    found = native(f"variables = {called}scope='{scope}')")
    assert f"if re.match('{scope}', each.name)]" in found
    assert found.count("import re\n") == 1


@pytest.mark.parametrize("called", _ALL)
@pytest.mark.parametrize("scope", ["hidden1", "hidden1/kernel", "out-put_1", ""])
def test_a_plain_text_is_what_names_begin_with(called: str, scope: str):
    found = native(f"variables = {called}'{scope}')")
    assert f"if each.name.startswith('{scope}')]" in found
    assert "import re\n" not in found


@pytest.mark.parametrize("scope", ["scope", "scope + '/kernel'", "'%s/' % scope", "scopes[0]"])
def test_a_scope_that_is_computed_may_be_any_expression(scope: str):
    found = native(f"scope = 'hidden.'\nscopes = [scope]\nvariables = tf.trainable_variables({scope})")
    assert f"if re.match({scope}, each.name)]" in found


def test_without_a_scope_all_are_listed():
    assert "each.name" not in native("variables = tf.global_variables(scope=None)")


@pytest.mark.parametrize(
    ("before", "wanted", "count"),
    [
        ("import re\nprint(re.escape('a'))", "if re.match(", 1),
        ("def f():\n    import re\n    return re", "if re.match(", 2),
        ("re = 3\nprint(re)", "if re_.match(", 0),
    ],
)
def test_the_module_is_imported_where_it_is_not(before: str, wanted: str, count: int):
    found = native(f"{before}\nvariables = tf.trainable_variables('out.')")
    assert wanted in found
    assert found.count("import re\n") == count
    assert ("import re as re_\n" in found) is (count == 0)


def test_arguments_with_stars_are_refused():
    text = TEXT.replace("LIST", "arguments = ['out']\nvariables = tf.trainable_variables(*arguments)")
    assert "gets its arguments with stars" in remarks(text, "native")[0]


HELD = """import functools
import types
import tensorflow as tf
class Params(object):
    pass
def build():
    pass
w = tf.Variable(2.0)
p = Params()
MAKE
up = w.assign_add(1.0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(up)
    print(sess.run(y))
"""


@pytest.mark.parametrize(
    "made",
    [
        "p.w = w\ny = p.w * 3.0",
        "p.w = w\ny = -p.w",
        "p.w = w\ny = p.w + 1.0",
        "p.w = w\nz = p.w\ny = z + 1.0",
        "p = types.SimpleNamespace()\np.w = w\ny = 3.0 - p.w",
        "build.w = w\ny = build.w * 3.0",
        "Params.w = w\ny = Params.w * 3.0",
        "setattr(p, 'w', w)\ny = p.w * 3.0",
        "several = [w, w]\ny = sum(several)",
        "a, *several = [w, w, w]\ny = a + sum(several)",
        "several = [w, w]\ny = functools.reduce(lambda a, b: a + b, several)",
        "y = abs(w)",
    ],
)
def test_what_is_computed_of_held_variables_is_a_part_of_the_request(made: str):
    found = after(HELD.replace("MAKE", made), "native")
    line = next(each for each in found.splitlines() if each.strip().startswith("y = "))
    assert line.startswith("    ")


@pytest.mark.parametrize(
    "test", ["isinstance(v, tf.Variable)", "type(v) == tf.Variable", "isinstance(v, (tf.Variable,))"]
)
def test_the_class_of_variables_is_another_one(test: str):
    made = f"several = [v for v in [w] if {test}]\ny = tf.add_n(several)"
    assert any("tf.Variable is handed about" in each for each in remarks(HELD.replace("MAKE", made), "native"))
