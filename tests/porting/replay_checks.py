"""Graphs of TensorFlow 1.15.5 made again: values, gradients, saved and loaded. Run by test_replay.py in one process."""

from __future__ import annotations

import base64
import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tf1sessions.errors import ConversionError
from tf1sessions.porting.graphs.functions import Functions
from tf1sessions.porting.graphs.replay import GraphReplay
from tf1sessions.porting.graphs.structure import key_of

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "data" / "control_flow.json.gz"
#: What a graph of TensorFlow 1's own control flow is made of; none of it may be left.
OLD = {"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "StackV2", "TensorArrayV3"}
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def recorded() -> dict[str, Any]:
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as file:
        cases: dict[str, Any] = json.load(file)
    return cases


def graph_of(case: dict[str, Any]) -> Any:
    graph_def = tf.compat.v1.GraphDef()
    graph_def.ParseFromString(base64.b64decode(case["graph"]))
    return graph_def


def function_of(case: dict[str, Any]) -> Any:
    inputs = [key_of(name) for name in case["fed"]]
    replay = GraphReplay(graph_of(case), [("y", 0)], inputs, "the golden")
    specs = [tf.TensorSpec(shape, tf.float32) for shape in case["shapes"].values()]
    return tf.function(
        lambda *values: replay.run(dict(zip(inputs, values, strict=True)))["y", 0],
        input_signature=specs,
        autograph=False,
    )


def operations(function: Any) -> set[str]:
    """The types of all operations of a concrete function, those in its loops and branches included."""
    graph_def = function.graph.as_graph_def()
    nodes = [*graph_def.node, *(node for each in graph_def.library.function for node in each.node_def)]
    return {node.op for node in nodes}


def examine(case: dict[str, Any]) -> None:
    """What each case must do."""
    function = function_of(case)
    concrete = function.get_concrete_function()
    assert not operations(concrete) & OLD, operations(concrete) & OLD
    given = [tf.constant(value, tf.float32) for value in case["fed"].values()]
    with tf.GradientTape() as tape:
        tape.watch(given)
        y = concrete(*given)
        loss = tf.reduce_sum(y * tf.cos(y))
    np.testing.assert_allclose(y, np.asarray(case["y"], np.float32), **CLOSE)
    gradient = tape.gradient(loss, given[0])
    assert gradient is not None and np.isfinite(gradient).all()
    if case["gradient"] is not None:
        np.testing.assert_allclose(gradient, np.asarray(case["gradient"], np.float32), **CLOSE)
    else:
        compare_with_differences(concrete, given, gradient)
    module = tf.Module()
    module.function = function
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
        again = tf.saved_model.load(folder).function(*given)
    np.testing.assert_allclose(again, y, rtol=1e-6)  # what is optimised together may be other parts


def compare_with_differences(concrete: Any, given: list[Any], gradient: Any) -> None:
    """Gradients that 1.15.5 could not be asked for: of what is a gradient itself."""
    direction = np.random.RandomState(0).randn(*given[0].shape).astype(np.float32)
    step = 1e-2

    def loss(sign: float) -> float:
        y = concrete(given[0] + sign * step * direction, *given[1:]).numpy().astype(np.float64)
        return float(np.sum(y * np.cos(y)))

    expected = (loss(1.0) - loss(-1.0)) / (2.0 * step)
    found = float(np.sum(gradient.numpy() * direction))
    assert abs(expected - found) <= 2e-2 * max(1.0, abs(expected), abs(found)), (expected, found)


def raised(graph_def: Any, outputs: list[Any], inputs: list[Any]) -> ConversionError:
    try:
        replay = GraphReplay(graph_def, outputs, inputs, "old.pb")
        with tf.Graph().as_default():
            replay.run({key: tf.constant(1.0) for key in inputs})
    except ConversionError as error:
        assert "old.pb" in str(error) and error.next_step is not None
        return error
    raise AssertionError("nothing was raised")


def node(graph_def: Any, name: str, operation: str, *inputs: str) -> Any:
    made = graph_def.node.add(name=name, op=operation, input=inputs)
    made.attr["T"].type = tf.float32.as_datatype_enum
    return made


# -- what is not the same for each case --------------------------------------------------------------------------------


def check_a_draw_is_made_once() -> None:
    """Two outputs of one condition share what is in it; made twice, first - 2 * second would not be 0."""
    case = recorded()["cond_of_one_draw"]
    concrete = function_of(case).get_concrete_function()
    library = concrete.graph.as_graph_def().library.function
    found = [one.op for function in library for one in function.node_def if one.op == "RandomUniform"]
    assert found == ["RandomUniform"], found


def check_a_function_with_a_gradient_of_its_own_in_a_loop() -> None:
    """Where an operation calls it, TensorFlow 2 would compute another gradient."""
    graph_def = graph_of(recorded()["function_with_gradient"])
    around = node(graph_def, "loop", "StatelessWhile", "x")
    for key in ("cond", "body"):
        around.attr[key].func.name = "around"
    error = raised(graph_def, [("loop", 0)], [("x", 0)])
    assert "function 'steep' has a gradient of its own" in str(error) and list(error.nodes) == ["steep"]


def check_a_function_with_a_variable_of_its_own() -> None:
    graph_def = graph_of(recorded()["functions_in_functions"])
    inner = graph_def.library.function[0].node_def.add(name="kept", op="VarHandleOp")
    inner.attr["dtype"].type = tf.float32.as_datatype_enum
    error = raised(graph_def, [("y", 0)], [("x", 0)])
    assert "has a variable or a table of its own: kept" in str(error) and error.nodes == ("kept",)


def check_a_merge_of_three() -> None:
    """As hand-made graphs have it: whichever of three branches is taken."""
    graph_def = tf.compat.v1.GraphDef()
    for name, dtype in (("x", tf.float32), ("p", tf.bool), ("q", tf.bool)):
        node(graph_def, name, "Placeholder").attr["dtype"].type = dtype.as_datatype_enum
    node(graph_def, "first", "Switch", "x", "p")
    node(graph_def, "second", "Switch", "first:0", "q")
    for number, source in enumerate(("first:1", "second:0", "second:1")):
        node(graph_def, f"branch{number}", ("Neg", "Square", "Exp")[number], source)
    node(graph_def, "y", "Merge", *(f"branch{number}" for number in range(3))).attr["N"].i = 3
    inputs = [("x", 0), ("p", 0), ("q", 0)]
    replay = GraphReplay(graph_def, [("y", 0)], inputs)
    function = tf.function(lambda *given: replay.run(dict(zip(inputs, given, strict=True)))["y", 0], autograph=False)
    for p, q, expected in ((True, True, -2.0), (True, False, -2.0), (False, False, 4.0), (False, True, np.exp(2.0))):
        np.testing.assert_allclose(function(*map(tf.constant, (2.0, p, q))), expected, **CLOSE)
    assert "are not the two sides" in str(raised(graph_def, [("y", 1)], inputs))


def check_two_libraries_with_one_name() -> None:
    """Each graph has its own function of the name."""
    case = recorded()["functions_in_functions"]
    other = graph_of(case)
    for function in other.library.function:
        for one in function.node_def:
            if one.op == "Mul":
                one.op = "AddV2"
    x = tf.constant(case["fed"]["x:0"])
    np.testing.assert_allclose(function_of(case)(x), case["y"], **CLOSE)
    replay = GraphReplay(other, [("y", 0)], [("x", 0)])
    found = tf.function(lambda x: replay.run({("x", 0): x})["y", 0], autograph=False)(x)
    np.testing.assert_allclose(found, 4.0 * x + 1.0, **CLOSE)


def check_a_part_by_its_inputs() -> None:
    """An input in the middle: what is behind it is not made."""
    case = recorded()["loop_after_loop"]
    graph_def = graph_of(case)
    middle = next(each.input[0] for each in graph_def.node if each.name == "Abs")
    replay = GraphReplay(graph_def, [("y", 0)], [key_of(middle), ("x", 0)])
    function = tf.function(lambda first, x: replay.run({key_of(middle): first, ("x", 0): x})["y", 0], autograph=False)
    given = tf.constant([1.0, 2.0, 0.5])
    times = int(2.0 * 2.0) + 1
    np.testing.assert_allclose(function(given, tf.zeros(3)), times * given.numpy(), **CLOSE)
    concrete = function.get_concrete_function(tf.TensorSpec([3]), tf.TensorSpec([3]))
    loops = [one for one in concrete.graph.get_operations() if one.type in ("While", "StatelessWhile")]
    assert len(loops) == 1


def check_in_a_graph_of_version_1() -> None:
    """Where TensorFlow makes loops as version 1 does, the graph computes the same."""
    for name in ("loop_of_cond", "gradient_of_loop", "rnn_lstm"):
        case = recorded()[name]
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            x = tf.compat.v1.placeholder(tf.float32, case["shapes"]["x:0"])
            y = GraphReplay(graph_of(case), [("y", 0)], [("x", 0)]).run({("x", 0): x})["y", 0]
            np.testing.assert_allclose(session.run(y, {x: case["fed"]["x:0"]}), case["y"], **CLOSE)


def check_effects_keep_their_order() -> None:
    """An assignment in a branch, and one that waits for the condition, are seen by what waits for them."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name="count", name="count")
        begin = tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(1.0))
        tf.compat.v1.disable_control_flow_v2()
        with tf.control_dependencies([begin]):
            after = tf.compat.v1.cond(
                x > 0,
                lambda: with_dependency(tf.raw_ops.AssignAddVariableOp(resource=handle, value=x), x),
                lambda: x * 1.0,
            )
        with tf.control_dependencies([after]):
            tf.identity(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32), name="y")
    replay = GraphReplay(graph.as_graph_def(), [("y", 0)], [("x", 0)])
    assert replay.variables == ["count"]
    count = {"count": tf.Variable(0.0)}
    function = tf.function(lambda x: replay.run({("x", 0): x}, count)["y", 0], autograph=False)
    assert [float(function(tf.constant(value))) for value in (5.0, -5.0, 2.0)] == [6.0, 1.0, 3.0]


def with_dependency(operation: Any, value: Any) -> Any:
    with tf.control_dependencies([operation]):
        return tf.identity(value)


def check_ten_thousand_operations_in_a_row() -> None:
    graph_def = tf.compat.v1.GraphDef()
    node(graph_def, "x", "Placeholder").attr["dtype"].type = tf.float32.as_datatype_enum
    for number in range(10_000):
        node(graph_def, f"n{number}", "Neg", f"n{number - 1}" if number else "x")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        result = GraphReplay(graph_def, [("n9999", 0)], [("x", 0)]).run({("x", 0): tf.constant(3.0)})
        assert session.run(result["n9999", 0]) == 3.0


def check_errors_name_the_nodes() -> None:
    lost = tf.compat.v1.GraphDef()
    node(lost, "a", "Neg", "b")
    error = raised(lost, [("a", 0)], [])
    assert "no node 'b'" in str(error) and list(error.nodes) == ["b"]
    assert "no node 'z'" in str(raised(lost, [("z", 0)], []))

    cycle = tf.compat.v1.GraphDef()
    node(cycle, "a", "Neg", "b")
    node(cycle, "b", "Neg", "a")
    assert "a cycle that is no loop" in str(raised(cycle, [("a", 0)], []))

    merged = tf.compat.v1.GraphDef()
    for name in "xy":
        node(merged, name, "Placeholder").attr["dtype"].type = tf.float32.as_datatype_enum
    node(merged, "either", "Merge", "x", "y")
    error = raised(merged, [("either", 0)], [("x", 0), ("y", 0)])
    assert "'either' takes x:0, y:0, which are not the two sides of one condition" in str(error)

    needed = tf.compat.v1.GraphDef()
    node(needed, "x", "Placeholder").attr["dtype"].type = tf.float32.as_datatype_enum
    node(needed, "y", "Neg", "x")
    error = raised(needed, [("y", 0)], [])
    assert "placeholder 'x' is needed" in str(error) and list(error.nodes) == ["x"]

    left = tf.compat.v1.GraphDef()
    node(left, "x", "Const")
    node(left, "out", "Exit", "x")
    assert "'out' leaves a loop that nothing enters" in str(raised(left, [("out", 0)], []))


def check_a_function_that_takes_a_list() -> None:
    library = tf.compat.v1.GraphDef().library
    function = library.function.add()
    function.signature.name = "joins"
    function.signature.input_arg.add(name="parts", number_attr="N")
    library.gradient.add(function_name="joins", gradient_func="slope")
    try:
        Functions(library, "old.pb").body("joins")
    except ConversionError as error:
        assert "function 'joins'" in str(error) and "parts" in str(error) and "old.pb" in str(error), error
    else:
        raise AssertionError("nothing was raised")


for _name, _case in recorded().items():
    setattr(sys.modules[__name__], f"check_{_name}", lambda case=_case: examine(case))
