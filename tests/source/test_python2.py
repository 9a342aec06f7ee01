"""Python 2 is recognised, and Python 3 that is broken or odd is not taken for it."""

from __future__ import annotations

import pickle

import pytest

from tf1sessions.errors import PythonTwoError
from tf1sessions.source import python2


def explain(source: str) -> PythonTwoError | None:
    with pytest.raises(SyntaxError) as caught:
        compile(source, "old.py", "exec")
    return python2.explain_syntax(source, caught.value)


@pytest.mark.parametrize(
    ("line", "construct"),
    [
        ('print "hello"', "print"),
        ("print x, y", "print"),
        ("if 1: print 'a'", "print"),
        ("print 'a', ", "print"),
        ("for i in range(3): print i", "print"),
        ("exec 'x = 1'", "exec"),
        ("try:\n  pass\nexcept ValueError, error:\n  pass", "except"),
        ("try:\n  pass\nexcept (ValueError, TypeError), error:\n  pass", "except"),
        ("raise ValueError, 'no'", "raise"),
        ("mode = 0755", "octal"),
        ("big = 10L", "long"),
        ("mask = 0xFFL", "long"),
        ("if 1 <> 2: pass", "<>"),
        ("text = ur'a'", "ur''"),
        ("text = `1`", "backquotes"),
        ("f = lambda (a, b): a", "tuple"),
        ("def f(a, (b, c)):\n  pass", "tuple"),
        ("if 1:\n        x = 1\n\ty = 2", "tabs"),
    ],
)
def test_python_2_is_named_with_its_line(line, construct):
    error = explain("import os\n" + line + "\n")
    assert error is not None and construct in str(error)
    assert error.filename == "old.py" and error.lineno >= 2
    assert f"old.py, line {error.lineno}," in str(error) and "2to3" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.lineno) == (str(error), error.lineno)


@pytest.mark.parametrize(
    "source",
    [
        "print('a'",
        "x = (1,",
        "def f(:\n  pass",
        "if True\n  pass",
        "print('%s' % )",
        "x = 'print hello",
        "printer = 1 2",
        "x = 1 2  # print x",
        "raise ValueError('a', 'b'",
        "except_ = 1 2",
        "lambda x: (x",
        "  x = 1\n y = 2",
        "class A(object)\n  pass",
        "async = 1",
        "x = 'a <> b' 1",
    ],
)
def test_python_3_that_is_broken_is_not_python_2(source):
    assert explain(source) is None


def raised(code: str) -> BaseException:
    with pytest.raises(Exception) as caught:
        exec(code, {"__name__": "program"})
    return caught.value


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        ("xrange(3)", "xrange is range"),
        ("raw_input()", "raw_input is input"),
        ("import cPickle", "cPickle is pickle"),
        ("import urllib2", "urllib2 is urllib.request"),
        ("{}.iteritems()", "iteritems is items()"),
        ("{}.has_key(1)", "has_key is `key in d`"),
        ("import sys; sys.maxint", "maxint is sys.maxsize"),
        ("import itertools; itertools.izip", "izip is zip"),
        ("import urllib; urllib.urlretrieve('')", "urlretrieve is urllib.request.urlretrieve"),
        ("iter([]).next()", "next is next(iterator)"),
        ("import sys; print >>sys.stderr, 'text'", "print(text, file=file)"),
    ],
)
def test_a_name_of_python_2_gets_a_hint(code, reported):
    text = python2.hint(raised(code))
    assert text is not None and reported in text and "2to3" in text


@pytest.mark.parametrize(
    "code",
    [
        "undefined_name",
        "import no_such_module",
        "object().iteritems_",
        "class A: pass\nA().iteritems()",
        "class A: pass\nA().next()",
        "1 / 0",
        "raise ImportError('xrange')",
        "raise AttributeError",
    ],
)
def test_other_errors_get_no_hint(code):
    assert python2.hint(raised(code)) is None


def test_an_imported_module_of_python_2_gets_a_hint(tmp_path, monkeypatch):
    (tmp_path / "old_helper.py").write_text("x = 1\nprint x\n")
    (tmp_path / "broken_helper.py").write_text("x = (\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = python2.hint(raised("import old_helper"))
    assert text is not None and "old_helper.py, line 2, is Python 2: the print statement" in text
    assert python2.hint(raised("import broken_helper")) is None
