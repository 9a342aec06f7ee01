"""Which graphs TensorFlow's optimizers are kept from: those that they would take minutes for, or make endless."""

from __future__ import annotations

from collections.abc import Callable

from support import PythonRun

#: Makes graphs of lines such as ``"y Neg x"``, and of functions of such lines, whose result is their last line's.
PROGRAM = """
from tensorflow.core.framework import graph_pb2
from tf1sessions.models.graph_index import GraphIndex
from tf1sessions.models.optimizing import better_as_it_is

def add(nodes, line):
    new = nodes.add()
    new.name, new.op, *inputs = line.split()
    new.input.extend(inputs)
    return new

def judge(name, lines, loop=None, **functions):
    graph_def = graph_pb2.GraphDef()
    for line in lines:
        new = add(graph_def.node, line)
        if new.op in ("While", "StatelessWhile"):
            new.attr["cond"].func.name, new.attr["body"].func.name = loop
    for function, body in functions.items():
        made = graph_def.library.function.add()
        made.signature.name = function
        made.signature.input_arg.add(name="x")
        last = [add(made.node_def, line) for line in body][-1]
        made.ret["result"] = f"{last.name}:y:0"
    report(**{name: better_as_it_is(GraphIndex(graph_def))})

def chain(count):
    return ["n0 Const", *(f"n{i} Neg n{i - 1}" for i in range(1, count))]

judge("small", ["a Const", "b Neg a"])
judge("long", chain(5001))
judge("wide", [f"n{i} Const" for i in range(5001)])

judge("some calls", [f"c{i} f" for i in range(99)], f=["a Neg x"])
judge("many calls", [f"c{i} f" for i in range(100)], f=["a Neg x"])
judge("calls in calls", [f"c{i} g" for i in range(10)], g=[f"d{i} f" for i in range(10)], f=["a Neg x"])
judge("not called", ["a Const"], g=[f"d{i} f" for i in range(200)], f=["a Neg x"])

loop = ["e Enter a", "m Merge e n", "s Switch m l", "n NextIteration s:1"]
judge("loop that ends", [*loop, "less Less m limit", "limit Const", "l LoopCond less", "a Const"])
judge("endless loop", [*loop, "always Const ^m", "l LoopCond always", "a Const"])
bodies = {"some": ["c Less x x"], "always": ["c Const"], "body": ["b Neg x"]}
for kind in ("While", "StatelessWhile"):
    judge(kind, [f"w {kind} a", "a Const"], ("some", "body"), **bodies)
    judge(f"endless {kind}", [f"w {kind} a", "a Const"], ("always", "body"), **bodies)
"""


def test_what_the_optimizers_are_kept_from(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(PROGRAM).results
    kept = ["long", "many calls", "calls in calls", "endless loop", "endless While", "endless StatelessWhile"]
    left = ["small", "wide", "some calls", "not called", "loop that ends", "While", "StatelessWhile"]
    assert found == dict.fromkeys(kept, True) | dict.fromkeys(left, False)
