"""Training graphs of 1.15.5 with variables of TensorFlow 2. Run by test_training_graphs.py in one process."""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import tf1sessions
from tf1sessions.errors import ConversionError
from tf1sessions.porting.graphs import counters
from tf1sessions.porting.graphs.replay import GraphReplay
from tf1sessions.porting.graphs.structure import CONTROL, Structure, key_of

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "data"
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def recorded() -> dict[str, Any]:
    cases: dict[str, Any] = {}
    for name in ("training_graphs", "training_conditions"):
        with lzma.open(GOLDEN / f"{name}.json.xz", "rt", encoding="utf-8") as file:
            cases |= json.load(file)
    return cases


class Step(tf.Module):
    """One run of a training graph, and its variables as they were at the beginning."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__()
        graph_def = tf.compat.v1.GraphDef()
        graph_def.ParseFromString(bytes.fromhex(case["graph"]))
        inputs = [key_of(name) for name in case["fed"]]
        outputs = [key_of(name) for name in case["run"]]
        replay = GraphReplay(graph_def, outputs, inputs, "the golden")
        assert {*replay.variables} <= {*case["begin"]}
        self.by_name = {
            name: tf.Variable(np.asarray(value, dtype), name=name.replace("/", "_"))
            for name, (dtype, value) in case["begin"].items()
        }
        results = [key for key in outputs if key[1] != CONTROL]

        def step(*values: Any) -> list[Any]:
            made = replay.run(dict(zip(inputs, values, strict=True)), self.by_name)
            return [made[key] for key in results]

        self.given = [tf.constant(np.asarray(value, case["dtypes"][name])) for name, value in case["fed"].items()]
        specs = [tf.TensorSpec(value.shape, value.dtype) for value in self.given]
        self.step = tf.function(step, input_signature=specs, autograph=False)


def operations(graph_def: Any) -> Counter[str]:
    """How often there is an operation of each type, in functions as well."""
    nodes = [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]
    return Counter(node.op for node in nodes)


def examine(case: dict[str, Any]) -> None:
    """Each run gives what 1.15.5 gave, and the variables end as they did there; also after saving and loading."""
    module = Step(case)
    kinds = operations(module.step.get_concrete_function().graph.as_graph_def())
    assert not kinds.keys() & {"VariableV2", "Assign", "Switch", "Merge", "Enter", "StackV2", "TensorArrayV3"}, kinds
    old = tf.compat.v1.GraphDef()
    old.ParseFromString(bytes.fromhex(case["graph"]))
    drawn = operations(old)["RandomUniform"]  # twice would be other masks for the gradient
    assert kinds["RandomUniform"] == drawn, f"{drawn} random operations have become {kinds['RandomUniform']}"
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
        loaded = tf.saved_model.load(folder)
    for one in (module, loaded):
        for expected in case["results"]:
            found = iter(one.step(*module.given))
            for name, value in zip(case["run"], expected, strict=True):
                if not name.startswith("^"):
                    np.testing.assert_allclose(next(found), value, err_msg=name, **CLOSE)
        for name, value in case["end"].items():
            np.testing.assert_allclose(one.by_name[name], value, err_msg=name, **CLOSE)


def decided(name: str, even: bool, given: bool) -> tuple[list[Any], Counter[str]]:
    """Losses of three steps with one branch, and the variables; with what decides given as a tensor or for good."""
    case = recorded()[name]
    graph_def = tf.compat.v1.GraphDef()
    graph_def.ParseFromString(bytes.fromhex(case["graph"]))
    train, loss = map(key_of, case["run"])
    replay = GraphReplay(graph_def, [train, loss], [("x", 0), ("even", 0)], name)
    variables = {key: tf.Variable(np.asarray(*begin[::-1])) for key, begin in case["begin"].items()}
    x = tf.constant(np.asarray(case["fed"]["x:0"], np.float32))

    def step(tensor: Any) -> Any:
        made = replay.run({("x", 0): x, ("even", 0): even if given else tensor}, variables)
        with tf.control_dependencies([made[train]]):
            return tf.identity(made[loss])

    run = tf.function(step, autograph=False)
    found = [float(run(tf.constant(even))) for _ in range(3)]
    kinds = operations(run.get_concrete_function(tf.constant(even)).graph.as_graph_def())
    return [found, *(variable.numpy() for variable in variables.values())], kinds


def check_what_decides_is_given() -> None:
    """True or False, only one branch is made, and its gradient."""
    for name in ("recurrent_in_both_branches", "recurrent_in_nested_branches"):
        for even in (True, False):
            ours, kinds = decided(name, even, given=True)
            assert kinds["If"] == 0 or (even and "nested" in name), kinds
            for one, other in zip(ours, decided(name, even, given=False)[0], strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6, err_msg=f"{name} {even}")


def check_gradients_with_respect_to_variables() -> None:
    """What TensorFlow 2 computes of the loss is what the graph's own train operation goes by."""
    case = recorded()["gradient_descent"]
    graph_def = tf.compat.v1.GraphDef()
    graph_def.ParseFromString(bytes.fromhex(case["graph"]))
    loss = key_of(case["run"][1])
    replay = GraphReplay(graph_def, [loss], [("x", 0)], "the golden")
    variables = {name: tf.Variable(np.asarray(*case["begin"][name][::-1])) for name in replay.variables}
    function = tf.function(lambda x: replay.run({("x", 0): x}, variables)[loss], autograph=False)
    x = tf.constant(np.asarray(case["fed"]["x:0"], np.float32))
    for _ in case["results"]:
        with tf.GradientTape() as tape:
            value = function(x)
        for variable, gradient in zip(variables.values(), tape.gradient(value, [*variables.values()]), strict=True):
            variable.assign_sub(0.1 * gradient)
    for name, variable in variables.items():
        np.testing.assert_allclose(variable, case["end"][name], **CLOSE)


def check_stacks_of_a_loop_share_lists() -> None:
    """An iteration pushes on eight stacks: not eight loop variables, but one for each dtype; and none for a flow."""
    case = recorded()["recurrent"]
    old = tf.compat.v1.GraphDef()
    old.ParseFromString(bytes.fromhex(case["graph"]))
    assert operations(old)["StackV2"] == operations(old)["StackPushV2"] == 8, operations(old)
    graph_def = Step(case).step.get_concrete_function().graph.as_graph_def()
    kinds = operations(graph_def)
    assert kinds["TensorListPushBack"] == kinds["TensorListPopBack"] == 8, kinds
    assert kinds["EmptyTensorList"] == 2, kinds
    for node in graph_def.node:
        if node.op in ("While", "StatelessWhile"):
            scalars = [
                name
                for name, dtype, shape in zip(
                    node.input, node.attr["T"].list.type, node.attr["output_shapes"].list.shape, strict=True
                )
                if dtype == tf.float32.as_datatype_enum and not shape.dim and not shape.unknown_rank
            ]
            assert not scalars, scalars


def check_counting_ends_out_of_range() -> None:
    """As in TensorFlow 1, also after saving and loading."""
    case = recorded()["counted"]
    module = Step(case)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
        loaded = tf.saved_model.load(folder)
    for one in (module, loaded):
        one.by_name["limited"].assign(99)
        assert int(one.step()[0]) == 99
        try:
            one.step()
        except tf.errors.OutOfRangeError:
            assert int(one.by_name["limited"]) == 100
        else:
            raise AssertionError("nothing was raised")


def counting(resource: bool, last: bool) -> tuple[Any, dict[str, Any]]:
    """A step of what BERT's optimizer does: a rate that a counter gives, and the counter, in no order."""
    v1 = tf.compat.v1
    with v1.Graph().as_default() as graph, v1.variable_scope("", use_resource=resource):
        step = v1.get_variable("step", initializer=np.int64(0))
        weight = v1.get_variable("weight", initializer=np.float32([8.0, 8.0]))
        ordered = v1.get_variable("ordered", initializer=np.int64(0))
        rate = tf.cast(v1.convert_to_tensor(step), tf.float32, name="rate")
        changes = [weight.assign(weight - rate), step.assign(step + 1)]
        with v1.control_dependencies([rate]):
            changes.append(ordered.assign(ordered + step))
        v1.group(*(changes if last else changes[::-1]), name="train")
    return graph.as_graph_def(), {
        "step": tf.Variable(np.int64(0)),
        "weight": tf.Variable(np.float32([8.0, 8.0])),
        "ordered": tf.Variable(np.int64(0)),
    }


def check_counters_come_first() -> None:
    """As nearly always in 1.15.5, which leaves it to chance; wherever the graph happens to name the counter."""
    for resource in (False, True):
        for last in (False, True):
            graph_def, variables = counting(resource, last)
            structure = Structure(graph_def, [("train", CONTROL)], [], "the graph")
            assert [*counters.counters(structure).values()] == ["step"]
            (sentence,) = counters.notes(structure)
            assert "changes step, which rate" in sentence and "chance in TensorFlow 1" in sentence, sentence
            replay = GraphReplay(graph_def, [("train", CONTROL), ("rate", 0)], [], "the graph")

            def once(replay: Any = replay, variables: Any = variables) -> Any:
                made = replay.run({}, variables)
                with tf.control_dependencies([made["train", CONTROL]]):
                    return tf.identity(made["rate", 0])

            step = tf.function(once, autograph=False)
            assert [float(step()) for _ in range(3)] == [1.0, 2.0, 3.0], (resource, last)
            assert variables["weight"].numpy().tolist() == [2.0, 2.0], (resource, last)


def check_counters_that_wait_are_left() -> None:
    """minimize() raises global_step when all is done; nothing else is a counter of that kind."""
    v1 = tf.compat.v1
    with v1.Graph().as_default() as graph:
        step = v1.get_variable("step", initializer=np.int64(0))
        weight = v1.get_variable("weight", initializer=np.float32([8.0, 8.0]))
        rate = tf.cast(v1.convert_to_tensor(step), tf.float32, name="rate")
        with v1.control_dependencies([weight.assign(weight - rate)]):
            v1.group(step.assign_add(1), name="train")
        of_another = step.assign(step + tf.cast(weight[0], tf.int64))
        v1.group(weight.assign(weight * 2.0), step.assign(7), of_another, name="no")
    for name in ("train", "no"):
        structure = Structure(graph.as_graph_def(), [(name, CONTROL)], [], "the graph")
        assert counters.counters(structure) == {} and counters.notes(structure) == []


def check_missing_variables_and_operations() -> None:
    case = recorded()["counted"]
    graph_def = tf.compat.v1.GraphDef()
    graph_def.ParseFromString(bytes.fromhex(case["graph"]))
    replay = GraphReplay(graph_def, [key_of(case["run"][0])], [], "old.pb")
    try:
        with tf.Graph().as_default():
            replay.run({}, {})
    except ConversionError as error:
        assert "variable 'limited' is needed and is not given (from old.pb)" in str(error), error
        assert error.nodes == ("limited",)
    else:
        raise AssertionError("nothing was raised")

    old = tf.compat.v1.GraphDef()
    table = old.node.add(name="table", op="VariableV2")
    table.attr["dtype"].type = tf.string.as_datatype_enum
    barrier = old.node.add(name="close", op="BarrierClose", input=["table"])
    assert barrier.op == "BarrierClose"
    try:
        with tf.Graph().as_default():
            GraphReplay(old, [("close", CONTROL)], [], "old.pb").run({}, {"table": tf.Variable("a")})
    except ConversionError as error:
        assert "node 'close' is a BarrierClose" in str(error), error
    else:
        raise AssertionError("nothing was raised")


def check_tables_of_both_kinds() -> None:
    """Tables by handles and tables by references, filled with what their initializers in the graph take."""
    for name in ("tables.pb", "tables_old.pb"):
        with tf1sessions.load(GOLDEN / "models" / name) as model:
            fed = {key: np.array([b"red", b"c", b"nothing"]) for key in model.inputs}
            expected = model(fed)
            inputs = {key: key_of(spec.tensor) for key, spec in model.inputs.items()}
            outputs = {key: key_of(spec.tensor) for key, spec in model.outputs.items()}
            replay = GraphReplay(model.graph.as_graph_def(), [*outputs.values()], [*inputs.values()], name)
            tables = {}
            for table in replay.tables:
                users = model.graph.get_operation_by_name(table).outputs[0].consumers()
                fills = [user for user in users if "Import" in user.type or "Initialize" in user.type]
                if not fills:  # one that the program fills while it runs
                    tables[table] = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
                    continue
                entries = [tf.constant(model.run(each.name)) for each in [*fills[0].inputs][1:]]
                initializer = tf.lookup.KeyValueTensorInitializer(*entries)
                tables[table] = tf.lookup.StaticHashTable(initializer, "" if entries[1].dtype == tf.string else -1)
        assert len(tables) == (5 if name == "tables.pb" else 1), tables
        handles = {table: made.resource_handle for table, made in tables.items()}
        function = tf.function(
            lambda fed, replay=replay, inputs=inputs, handles=handles: replay.run(
                {inputs[key]: value for key, value in fed.items()}, tables=handles
            ),
            autograph=False,
        )
        found = function({key: tf.constant(value) for key, value in fed.items()})
        for key, output in outputs.items():
            np.testing.assert_array_equal(found[output], expected[key], err_msg=f"{name} {key}")


for _name, _case in recorded().items():
    setattr(sys.modules[__name__], f"check_{_name}", lambda case=_case: examine(case))
