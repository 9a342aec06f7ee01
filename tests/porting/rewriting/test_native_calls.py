"""The table of calls of the step native: each computes the same (native_call_checks.py), or is not written."""

from __future__ import annotations

import ast

import pytest

from tf1sessions.porting.rewriting.native.calls import Native, NotNative, native_call

PROGRAM = "native_call_checks.py"


def test_calls(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]


def written(text: str, symbol: str) -> Native | NotNative | None:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return native_call(call, symbol, ast.unparse, "tf", kept=False)


@pytest.mark.parametrize(
    ("text", "symbol", "made", "used"),
    [
        (
            "tf.compat.v1.Variable(0, trainable=False, name='n')",
            "tf.Variable",
            "tf.Variable(0, trainable=False, name='n')",
            "{made}",
        ),
        (
            "tf.compat.v1.get_variable('w', [2, 3])",
            "tf.get_variable",
            "tf.Variable(tf.keras.initializers.GlorotUniform()([2, 3]), name='w')",
            "{made}",
        ),
        (
            "tf.compat.v1.get_variable('w', shape=s, initializer=tf.zeros_initializer(), trainable=False)",
            "tf.get_variable",
            "tf.Variable(tf.zeros_initializer()(s), name='w', trainable=False)",
            "{made}",
        ),
        ("tf.compat.v1.assign(w, a + b)", "tf.assign", None, "w.assign((a + b))"),
        ("tf.compat.v1.name_scope('a')", "tf.name_scope", None, "tf.name_scope('a')"),
        ("tf.compat.v1.name_scope('a%d' % i)", "tf.name_scope", None, "tf.name_scope('a%d' % i)"),
        ("tf.compat.v1.device('/cpu:0')", "tf.device", None, "tf.device('/cpu:0')"),
    ],
)
def test_how_calls_are_written(text: str, symbol: str, made: str | None, used: str):
    found = written(text, symbol)
    assert isinstance(found, Native) and (found.made, found.used) == (made, used)


@pytest.mark.parametrize(
    "text",
    [
        "name_scope(None)",
        "name_scope(name)",
        "name_scope('a', 'b')",
        "name_scope('a', values=[x])",
        "device(place)",
        "device(None)",
        "where(c, x, y)",
        "where(c, x=x, y=y)",
        "gather(*args)",
    ],
)
def test_what_means_something_else_in_tensorflow_2_stays(text: str):
    assert written(f"tf.compat.v1.{text}", f"tf.{text.partition('(')[0]}") is None


@pytest.mark.parametrize(
    ("text", "symbol", "why"),
    [
        ("tf.compat.v1.layers.dense(*args)", "tf.layers.dense", "arguments that are not written out"),
        (
            "tf.compat.v1.layers.batch_normalization(x, renorm=True)",
            "tf.layers.batch_normalization",
            "the argument renorm",
        ),
        ("tf.compat.v1.get_variable('w')", "tf.get_variable", "neither a shape nor an initializer"),
        ("tf.compat.v1.get_variable('w', [1], regularizer=r)", "tf.get_variable", "the argument regularizer"),
    ],
)
def test_what_is_not_written(text: str, symbol: str, why: str):
    found = written(text, symbol)
    assert isinstance(found, NotNative) and found.reason == f"{symbol} has {why}"


def test_what_stays():
    assert written("tf.matmul(a, b)", "tf.matmul") is None
    assert written("tf.compat.v1.cond(p, a, b, strict=True)", "tf.cond") is None  # TensorFlow 2 still has it
    assert written("tf.compat.v1.while_loop(c, b, [i])", "tf.while_loop") is None
