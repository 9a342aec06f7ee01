"""Graphs that would bring TensorFlow down, or that it would misread: each is an error that names the node.

What these do to TensorFlow itself was seen when they were found, by `fuzzing.py`; the last test here feeds it a bounded
number of damaged models. 100,000 were loaded once: `migration_notes/4-figures.md`.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import PythonRun

#: Name -> (what is done to a sound graph, words of the error). ``node`` is by name; ``new`` adds one.
CASES = {
    "two of one name": ("new('x', 'NoOp')", "two nodes are called 'x'"),
    "no name": ("new('', 'NoOp')", "no name"),
    "no operation": ("new('n', '')", "no operation"),
    "a name that is none": ("new('^a', 'NoOp')", "a node has the name '^a'"),
    "an input that is not there": ("node['sum'].input[0] = 'nobody'", "'nobody', which is not there"),
    "a control input that is not there": ("node['sum'].input.append('^nobody')", "'nobody', which is not there"),
    # TensorFlow 2.21: segmentation fault
    "an output beyond 32 bits": ("node['sum'].input[0] = 'x:2147483648'", "which has no such output"),
    "an output that it has not": ("node['sum'].input[0] = 'x:1'", "which has no such output"),
    "data after control": ("node['sum'].input.insert(0, '^x')", "after a control input"),
    "too few inputs": ("del node['sum'].input[1]", "has 1 inputs where its operation AddV2 takes 2"),
    # makes as many inputs as it says, for minutes
    "a number of inputs of 2**31": (
        "pack = new('p', 'Pack', 'x', N=2**31 - 1, axis=0); pack.attr['T'].type = 1",
        "'N' of the node 'p' is 2147483647",
    ),
    # 9 GB and more, from a file of 1 MB
    "outputs without number": (
        "for i in range(5): new(f's{i}', 'Split', 'shape', 'x', num_split=2**20).attr['T'].type = 1",
        "more than 4,194,304 outputs, 1,048,576 of 's3'",
    ),
    "constants of one number each": (
        "one = lambda c: (c.attr['dtype'].__setattr__('type', 1), c.attr['value'].tensor.__setattr__('dtype', 1),"
        " c.attr['value'].tensor.float_val.append(0), c.attr['value'].tensor.tensor_shape.dim.add(size=2**29))\n"
        "for i in range(3): one(new(f'c{i}', 'Const'))",
        "constants ask for more than 4 GB that the file does not have, 536,870,912 elements in 'c2'",
    ),
    "a negative number": ("new('p', 'Pack', N=-1, axis=0).attr['T'].type = 1", "'N' of the node 'p' is -1"),
    # "Check failed: dtype() == expected_dtype", aborts
    "another type than the operation takes": (
        "node['flat'].input[1] = 'x'",
        "'flat' takes 'x', which is float32 and not int32",
    ),
    "an unknown type": ("node['sum'].attr['T'].type = 5000", "unknown type 5000"),
    "an attribute that is missing": ("del node['sum'].attr['T']", "lacks the attribute 'T'"),
    "an attribute of another kind": ("node['sum'].attr['T'].i = 1", "is i, not type"),
    "a constant of another type": ("node['shape'].attr['dtype'].type = 9", "of another type than its own"),
    "a constant with too few bytes": (
        "t = node['shape'].attr['value'].tensor; t.ClearField('int_val'); t.tensor_content = b'123'",
        "with 3 bytes",
    ),
    "a constant with too many values": (
        "t = node['shape'].attr['value'].tensor; t.ClearField('tensor_content'); t.int_val.extend([1] * 9)",
        "'value' of the node 'shape' is a tensor of",
    ),
    "a constant with a negative size": (
        "node['shape'].attr['value'].tensor.tensor_shape.dim[0].size = -5",
        "a dimension of -5",
    ),
    "a constant with a size that overflows": (
        "for _ in range(5): node['shape'].attr['value'].tensor.tensor_shape.dim.add(size=2**40)",
        "claims the shape",
    ),
    "300 dimensions": ("for _ in range(300): node['x'].attr['shape'].shape.dim.add(size=1)", "of 301 dimensions"),
    "a handle in a constant": (
        "node['shape'].attr['dtype'].type = 20; node['shape'].attr['value'].tensor.dtype = 20",
        "resource, which no file can hold",
    ),
    "strings with raw bytes": (
        "t = new('s', 'Const', dtype='type').attr['value'].tensor; node_s = graph_def.node[-1]; "
        "node_s.attr['dtype'].type = 7; t.dtype = 7; t.tensor_content = b'abc'",
        "strings with raw bytes",
    ),
    # "Must have a one element tensor", aborts in the optimiser
    "a switch by several": (
        "c = new('pred', 'Const'); c.attr['dtype'].type = 10; c.attr['value'].tensor.dtype = 10; "
        "c.attr['value'].tensor.tensor_shape.dim.add(size=4); c.attr['value'].tensor.bool_val.extend([True] * 4); "
        "new('s', 'Switch', 'x', 'pred').attr['T'].type = 1",
        "of the shape [4] for a single value",
    ),
    # "Must have a one element tensor", "Asking for tensor of 1 dimensions", abort while the graph is imported
    "a number of elements that is several": (
        "q = new('q', 'FIFOQueueV2'); q.attr['component_types'].list.type.append(1); "
        "d = new('d', 'QueueDequeueManyV2', 'q', 'shape'); d.attr['component_types'].list.type.append(1)",
        "of the shape [2] for a single value",
    ),
    "sizes of parts that are one number": (
        "t = node['shape'].attr['value'].tensor; t.Clear(); t.dtype = 3; t.int_val.append(1); "
        "t.tensor_shape.SetInParent(); "
        "v = new('v', 'SplitV', 'x', 'shape', 'shape', num_split=1); v.attr['T'].type = 1; v.attr['Tlen'].type = 3",
        "of the shape [] for a vector",
    ),
    # "rank must not be negative", aborts
    "255 dimensions of batches": (
        "g = new('g', 'GatherV2', 'x', 'shape', 'axis', batch_dims=255); g.attr['Tparams'].type = 1; "
        "g.attr['Tindices'].type = 3; g.attr['Taxis'].type = 3; node['shape'].name = 'axis'",
        "claims 255 dimensions",
    ),
    "a name without end": (
        "e = new('e', 'Enter', 'x'); e.attr['T'].type = 1; e.attr['frame_name'].s = b'x' * 100000",
        "'frame_name' of the node 'e' is a name of 100000 characters",
    ),
    "a circle": (
        "node['sum'].input[0] = 'late'; new('late', 'Identity', 'sum').attr['T'].type = 1",
        "wait for each other in a circle",
    ),
    # recursion until the stack ends
    "a function that calls itself": ("function('f', 'f')", "'f' calls itself: f -> f"),
    "functions that call each other": ("function('f', 'g'); function('g', 'f')", "calls itself: f -> g -> f"),
    "a gradient that calls its function": (
        "function('f', 'NoOp'); function('g', 'f'); "
        "graph_def.library.gradient.add(function_name='f', gradient_func='g')",
        "calls itself",
    ),
    "functions 200 deep": ("[function(f'f{i}', f'f{i + 1}') for i in range(200)]; function('f200', 'NoOp')", "nested"),
    # import_graph_def follows each call of each function, for ever
    "functions that multiply": (
        "[function(f'f{i}', f'f{i + 1}', f'f{i + 1}') for i in range(40)]; function('f40', 'NoOp')",
        "makes more than 65,536 calls",
    ),
    "functions that multiply by their attributes": (
        "for i in range(40):\n"
        "    for body in function(f'f{i}', 'PartitionedCall', 'StatefulPartitionedCall').node_def:\n"
        "        body.attr['f'].func.name = f'f{i + 1}'\n"
        "function('f40', 'NoOp')",
        "makes more than 65,536 calls",
    ),
    "a graph that multiplies functions": (
        "for i in range(300): new(f'c{i}', 'f')\nfunction('f', *['g'] * 300); function('g', 'NoOp')",
        "its nodes make more than 65,536 calls",
    ),
    "two functions of one name": ("function('f', 'NoOp'); function('f', 'NoOp')", "two functions are called 'f'"),
    "two nodes of one name in a function": (
        "f = function('f', 'NoOp'); f.node_def.add().CopyFrom(f.node_def[0])",
        "two nodes of the function 'f'",
    ),
}

_PROGRAM = """
import json, sys
import tf1sessions as t1
from tf1sessions.errors import ModelFileError
from tf1sessions.models import checks
from tf1sessions.models.files import Artifact

tf = t1.tf1
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None], name="x")
    tf.reshape(tf.raw_ops.AddV2(x=x, y=x, name="sum"), tf.constant([-1, 2], name="shape"), name="flat")
sound = graph.as_graph_def()

def attempt(change):
    graph_def = tf.GraphDef(); graph_def.CopyFrom(sound)
    node = {each.name: each for each in graph_def.node}
    def new(name, op, *inputs, **numbers):
        added = graph_def.node.add(name=name, op=op, input=inputs)
        for key, value in numbers.items():
            if isinstance(value, int): added.attr[key].i = value
        return added
    def function(name, *calls):
        added = graph_def.library.function.add()
        added.signature.name = name
        for number, called in enumerate(calls):
            added.node_def.add(name=f"body{number}", op=called)
        return added
    exec(change, dict(node=node, new=new, function=function, graph_def=graph_def))
    try:
        checks.check(graph_def, Artifact("the file", "graph", graph_def))
    except ModelFileError as error:
        return str(error)
    return "passed"

for name, change in json.loads(sys.argv[1]).items():
    report(**{name: attempt(change)})
report(sound=attempt("pass"), functions=attempt("function('f', 'g'); function('g', 'h'); function('h', 'NoOp')"),
       loop=attempt("m = new('m', 'Merge', 'x', 'n', N=2); m.attr['T'].type = 1; "
                    "new('n', 'NextIteration', 'm').attr['T'].type = 1"))
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    changes = {name: change for name, (change, _) in CASES.items()}
    results: dict[str, Any] = run_python(_PROGRAM, json.dumps(changes)).results
    return results


@pytest.mark.parametrize("name", CASES)
def test_malformed(found: dict[str, Any], name: str) -> None:
    assert found[name].startswith("the graph is malformed")
    assert CASES[name][1] in found[name]


def test_sound_graphs_pass(found: dict[str, Any]) -> None:
    assert (found["sound"], found["functions"], found["loop"]) == ("passed", "passed", "passed")


_COMPUTED = """
import numpy as np
import tf1sessions as t1
from tf1sessions.models import checks

tf = t1.tf1

def load(make, **named):
    with tf.Graph().as_default() as graph:
        make(tf.placeholder(tf.float32, [4], name="x"))
    graph_def = graph.as_graph_def()
    node = graph_def.node.add(name="late", op=named.pop("op"), input=named.pop("input"))
    for key, value in named.items():
        node.attr[key].CopyFrom(value)
    with open("model.pb", "wb") as file:
        file.write(graph_def.SerializeToString())
    try:
        t1.load("model.pb", outputs=["late:0"], allow_ops=None).close()
    except t1.errors.ModelError as error:
        return str(error)
    return "loads"

number, types = (lambda n: tf.AttrValue(i=n)), tf.AttrValue()
types.list.type.append(1)
split = dict(op="SplitV", T=tf.AttrValue(type=1), Tlen=tf.AttrValue(type=3), num_split=number(1))
parts = dict(split, input=["x", "sizes", "axis"])
dequeue = dict(op="QueueDequeueManyV2", input=["fifo_queue", "count"], component_types=types)

def sizes(make):
    return lambda x: (tf.constant(0, name="axis"), tf.identity(make(x), name="sizes"))

def count(make):
    return lambda x: (tf.FIFOQueue(9, tf.float32, []), tf.identity(make(x), name="count"))

def in_a_function(x):
    @tf.function(input_signature=[tf.TensorSpec([4])])
    def parted(x):
        return tf.split(x, tf.constant([4]), 0)[0]
    tf.identity(parted(x), name="y")

report(
    constant=load(sizes(lambda x: tf.constant(4)), **parts),
    computed=load(sizes(lambda x: tf.constant(3) + 1), **parts),
    from_a_shape=load(sizes(lambda x: tf.rank(x) * 4), **parts),
    counts=load(count(lambda x: tf.shape(x)[:1] + [2, 3]), **dequeue),
    right=load(sizes(lambda x: tf.shape(x)), **parts),
    right_count=load(count(lambda x: tf.rank(x)), **dequeue),
)
with tf.Graph().as_default() as graph:
    in_a_function(tf.placeholder(tf.float32, [4], name="x"))
graph_def = graph.as_graph_def()
def write_and_call():
    with open("function.pb", "wb") as file:
        file.write(graph_def.SerializeToString())
    with t1.load("function.pb", outputs=["y:0"]) as model:
        return model(x=np.arange(4.0))["y"].tolist()
report(right_function=write_and_call())
for node in graph_def.library.function[0].node_def:
    if node.op == "Const" and node.attr["value"].tensor.tensor_shape.dim:
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(4))
        node.attr.pop("_output_shapes", None)
    node.experimental_type.type_id = 10003  # damaged
graph_def.node[0].experimental_type.type_id = 10003
hardened = checks.hardened(graph_def)
report(types=[node.HasField("experimental_type") for node in (*hardened.node, *hardened.library.function[0].node_def)],
       were=graph_def.node[0].HasField("experimental_type"))
try:
    report(function=write_and_call())
except t1.errors.ModelError as error:
    report(function=str(error))
"""


def test_what_tensorflow_would_trust(run_python: Callable[..., PythonRun]) -> None:
    """TensorFlow 2.21 ends where operands of SplitV or a dequeue have another rank, or full types are damaged."""
    found = run_python(_COMPUTED).results
    assert found.pop("were") is True and set(found.pop("types")) == {False}
    for name in ("constant", "computed", "from_a_shape", "function"):
        assert "Shape must be rank 1 but is rank 0" in found.pop(name)
    assert "Shape must be rank 0 but is rank 1" in found.pop("counts")
    assert found == {"right": "loads", "right_count": "loads", "right_function": [0.0, 1.0, 2.0, 3.0]}


_NEGATIVE = """
import tf1sessions as t1
from tf1sessions.models import files, inspection

tf = t1.tf1
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, 4, 4, 3], name="x")
    tf.image.resize_bilinear(x, tf.constant([2, 3], name="size"), name="y")
graph_def = graph.as_graph_def()
node = next(each for each in graph_def.node if each.name == "size")
node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto([-5, 3]))
with open("model.pb", "wb") as file:
    file.write(graph_def.SerializeToString())
try:
    t1.load("model.pb")
except t1.errors.ModelError as error:
    report(load=str(error))
report(inspect=inspection.inspect(files.read("model.pb")).notes)
"""


def test_a_negative_size_that_tensorflow_infers(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(_NEGATIVE).results
    assert "the shape of 'y:0': Dimension -5 must be >= 0" in found["load"]
    assert any("the shape of 'y:0': Dimension -5 must be >= 0" in note for note in found["inspect"])


@pytest.mark.slow
def test_damaged_models_end_in_errors_of_ours() -> None:
    """600 damaged models, one process. A case that kills it or escapes is repeated by its number: see fuzzing.py."""
    fuzzer = Path(__file__).with_name("fuzzing.py")
    done = subprocess.run(
        [sys.executable, str(fuzzer), "1000000", "1000600"], capture_output=True, text=True, timeout=170
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
    assert [line for line in done.stdout.splitlines() if re.match(r"\d", line)] == []
    counts = ast.literal_eval(re.search(r"counts (\{.*\})", done.stdout)[1])  # type: ignore[index]
    assert sum(counts.values()) == 600
    assert counts["loads"] > 30 and counts["ModelFileError"] > 200 and counts["ModelError"] > 10
