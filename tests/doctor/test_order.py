"""In which order a program does things, and what its names mean."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tf1sessions.doctor.code import UNKNOWN, Code
from tf1sessions.doctor.order import Order, ProgramStep
from tf1sessions.source.names import Names
from tf1sessions.source.program import Program, read_script, read_text

HEAD = "import os, sys, tensorflow as tf\n"


def order_of(program: Program | str) -> Order:
    return Order(Names(read_text(HEAD + program) if isinstance(program, str) else program))


def said(steps: list[ProgramStep]) -> list[str]:
    """What a sequence prints: the arguments of its calls of print(), as text."""
    return [ast.unparse(step.call.args[0]).strip("'") for step in steps if step.path == "builtins.print" and step.call]


def follows(text: str) -> bool:
    """Whether print("b") may come after print("a")."""
    order = order_of(text)
    (a,) = (step for step in order.main() if said([step]) == ["a"])
    (b,) = (step for step in order.main() if said([step]) == ["b"])
    return order.follows(b, a)


def test_functions_are_gone_into_where_they_are_called() -> None:
    text = """
def late():
    print("f")
class C:
    print("class body")
    def __init__(self):
        print("init")
    def method(self):
        print("method")
        late()
def never():
    print("never")
print("first")
c = C()
c.method()
(lambda: print("lambda, not called"))
if __name__ == "__main__":
    print("main")
for x in [print("iterable")]:
    print("body")
[print("item") for x in range(3)]
"""
    order = order_of(text)
    assert said(order.main()) == ["class body", "first", "init", "method", "f", "main", "iterable", "body", "item"]
    assert [said(steps) for steps in order.sequences()[1:]] == [["never"]]


@pytest.mark.parametrize("call", ["tf.app.run()", "tf.app.run(main)", "tf.compat.v1.app.run(main=main)", "main(0)"])
def test_ways_to_run_main(call: str) -> None:
    assert said(order_of(f'def main(_):\n    print("x")\n{call}\n').main()) == ["x"]


def test_functions_that_call_themselves_and_each_other() -> None:
    text = 'def f(n):\n    print("f")\n    g(n)\ndef g(n):\n    print("g")\n    f(n)\nf(1)\n'
    assert said(order_of(text).main()) == ["f", "g"]


def test_many_calls_of_many_functions_are_no_many_steps() -> None:
    functions = [f"def f{n}():\n    print({n})\n" + f"    f{n + 1}()\n" * 9 for n in range(20)]
    order = order_of("".join(functions) + "def f20():\n    pass\n" + "f0()\n" * 50)
    assert len(order.main()) < 1000
    assert set(said(order.main())) == {str(n) for n in range(20)}


def test_deep_calls_and_long_chains_of_elif_are_no_recursion() -> None:
    functions = "".join(f"def f{n}():\n    print({n})\n    f{n + 1}()\n" for n in range(200))
    assert said(order_of(functions + "f0()\n").main())[:20] == [str(n) for n in range(20)]
    chain = "".join(f"elif x == {n}:\n    print({n})\n" for n in range(90))
    assert said(order_of(f"if x:\n    pass\n{chain}").main()) == [str(n) for n in range(90)]


def test_modules_run_where_they_are_imported_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.py").write_text('print("a")\nimport part\nfrom part import f\nf()\nimport part\nimport partial\n')
    (tmp_path / "part.py").write_text(
        'print("part")\ndef f():\n    print("f")\nif __name__ == "__main__":\n    print("never")\n'
    )
    (tmp_path / "partial.py").write_text('import part\nprint("partial")\n')
    assert said(order_of(read_script("main.py")).main()) == ["a", "part", "f", "partial"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('print("a")\nprint("b")\n', True),
        ('print("b")\nprint("a")\n', False),
        ('if x:\n    print("a")\nelse:\n    print("b")\n', False),
        ('if x:\n    print("a")\nelif y:\n    print("b")\n', False),
        ('if x:\n    print("a")\nprint("b")\n', True),
        ('if x:\n    print("a")\nif x:\n    print("b")\n', True),
        ('try:\n    print("a")\nexcept E:\n    print("b")\n', False),
        ('try:\n    print("a")\nfinally:\n    print("b")\n', True),
        ('if x:\n    print("a")\n    sys.exit()\nprint("b")\n', False),
        ('if x:\n    print("a")\n    raise E\nprint("b")\n', False),
        ('def f():\n    if x:\n        print("a")\n        return\n    print("b")\nf()\n', False),
        ('def f():\n    if x:\n        print("a")\n        return\nf()\nprint("b")\n', True),
        ('def f():\n    if x:\n        print("a")\n        sys.exit(1)\nf()\nprint("b")\n', False),
        ('print("a") if x else print("b")\n', False),
        ('def f():\n    print("b")\nprint("a")\nf()\n', True),
        ('match x:\n    case 1:\n        print("a")\n    case _:\n        print("b")\n', False),
    ],
)
def test_what_may_follow(text: str, expected: bool) -> None:
    assert follows(text) is expected


# -- names ------------------------------------------------------------------------------------------------------------


def path_of(text: str) -> str | None:
    """The path of the last expression statement."""
    program = read_text(HEAD + text)
    last = program.files[0].tree.body[-1]
    assert isinstance(last, ast.Expr)
    return Names(program).path(last.value)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("tf.train.Saver().restore", "tf.train.Saver().restore"),
        ("s = tf.Session()\ns.run", "tf.Session().run"),
        ("with tf.Session() as s:\n    pass\ns.run", "tf.Session().run"),
        ("with tf.Graph().as_default() as g:\n    pass\ng", "tf.Graph()"),
        ("s = None\ns = tf.Session()\ns", "tf.Session()"),
        ("s = tf.Session() if x else tf.Session(target)\ns", "tf.Session()"),
        ("a, b = tf.Session(), 1\na", "tf.Session()"),
        ("def f():\n    return tf.Session()\nf()", "tf.Session()"),
        ("def f():\n    global s\n    s = tf.Session()\ns", "tf.Session()"),
        ("class C:\n    def __init__(self):\n        self.s = tf.Session()\nC().s.run", "tf.Session().run"),
        ("class C:\n  def g(self):\n    self.s = tf.Graph()\n  def f(self):\n    return self.s\nC().f()", "tf.Graph()"),
        ("class B:\n    def f(self):\n        pass\nclass C(B):\n    pass\nC().f", "__main__.B.f"),
        ("class B:\n    def f(self):\n        pass\nclass C(B):\n    pass\nC", "__main__.C"),
        ("ss = [tf.Session() for i in x]\nfor s in ss:\n    pass\ns", "tf.Session()"),
        ("ss = []\nss.append(tf.Session())\nss[0]", "tf.Session()"),
        ("range", "builtins.range"),
    ],
)  # fmt: skip
def test_paths(text: str, path: str) -> None:
    assert path_of(text) == path


@pytest.mark.parametrize(
    "text",
    [
        "s = tf.Session()\ns = other()\ns",
        "def f(s):\n    pass\ns",
        "for s in things:\n    pass\ns",
        "a, b = tf.Session()\na",
        "s = s.next\ns",
        "s = t\nt = s\ns",
        "def f():\n    return f()\nf().x",
        "ss = [tf.Session(), 1]\nss[0]",
        "def f():\n    if x:\n        return tf.Session()\n    return other\ng = f()\ng.y()",
        "s = tf.Session()\ns += 1\ns",
        "x = tf.ConfigProto() or 1\nx",
    ],
)
def test_what_is_not_known_has_no_path(text: str) -> None:
    assert path_of(text) in (None, "__main__.f()", "__main__.f().x", "__main__.f().y", "__main__.f().y()")


def test_names_made_of_each_other_take_no_time() -> None:
    text = (
        "x = load()\n" + "".join(f"x = x.map(y{n}, y{n - 1})\ny{n} = x.batch(y{n - 1}, x)\n" for n in range(300)) + "x"
    )
    assert path_of(text) is None


# -- configurations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("tf.Session()", {}),
        ("tf.Session(config=None)", {}),
        ("tf.Session(config=given)", None),
        ("tf.Session(**given)", None),
        ("tf.Session('', None, tf.ConfigProto(inter_op_parallelism_threads=2))", {"inter_op_parallelism_threads": 2}),
        ("tf.Session(config=tf.ConfigProto(**given))", None),
        ("c = tf.ConfigProto()\nc.gpu_options.allow_growth = True\ntf.Session(config=c)",
         {"gpu_options.allow_growth": True}),
        ("c = tf.ConfigProto()\ntf.Session(config=c)\nc.gpu_options.allow_growth = True", {}),
        ("o = tf.GPUOptions(allow_growth=x)\ntf.Session(config=tf.ConfigProto(gpu_options=o))",
         {"gpu_options.allow_growth": UNKNOWN}),
        ("tf.Session(config=tf.ConfigProto(gpu_options=given))", {"gpu_options": UNKNOWN}),
        ("def config():\n    c = tf.ConfigProto()\n    c.gpu_options.allow_growth = True\n    return c\n"
         "tf.Session(config=config())", {"gpu_options.allow_growth": True}),
        ("c = tf.ConfigProto()\nd = tf.ConfigProto()\nd.log_device_placement = True\ntf.Session(config=c)", {}),
    ],
)  # fmt: skip
def test_config(text: str, config: dict[str, object] | None) -> None:
    code = Code(read_text(HEAD + text))
    (session,) = code.sessions()
    assert code.config_of(session) == config


def test_a_name_that_is_bound_often_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    path = Names.path
    monkeypatch.setattr(Names, "path", lambda names, node: asked.append(node) or path(names, node))
    count = 300
    program = read_text("import tensorflow as tf\n" + "x = tf.log(1.)\n" * count + "y = x\nz = x\n" * count)
    names = Names(program)
    for statement in program.files[0].tree.body[1:]:
        assert names.path(statement.value) == "tf.log()"
    assert len(asked) < 10 * count
