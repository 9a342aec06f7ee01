"""What must be true of models.upgrades: each function asserts one thing; all run in one process with TensorFlow.

``CHECKS`` has them by name. Graphs are built from short lines, so that they can be what no TensorFlow writes any more.
"""

from __future__ import annotations

import functools
import gzip
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tf1sessions.models import upgrades
from tf1sessions.models.upgrades import loose_ends, operations, table
from tf1sessions.models.upgrades.compositions import COMPOSED, composition
from tf1sessions.models.upgrades.lost import LOST
from tf1sessions.runtime import private
from tf1sessions.runtime import tf1 as tf

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "data"
CHECKS: dict[str, Callable[[], None]] = {}


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS[function.__name__] = function
    return function


# ---------------------------------------------------------------------------------------------- building

F, INT, S = tf.float32, tf.int32, tf.string


def value(given: Any) -> Any:
    """An attribute: a DType, number, bool, text, list of those, array or ("func", name)."""
    made = tf.AttrValue()
    if isinstance(given, tf.DType):
        made.type = given.as_datatype_enum
    elif isinstance(given, bool):
        made.b = given
    elif isinstance(given, int):
        made.i = given
    elif isinstance(given, float):
        made.f = given
    elif isinstance(given, str):
        made.s = given.encode()
    elif isinstance(given, np.ndarray):
        made.tensor.CopyFrom(tf.make_tensor_proto(given))
    elif isinstance(given, tuple):
        made.func.name = given[1]
    else:
        made.list.SetInParent()
        for item in given:
            kind = value(item).WhichOneof("value")
            getattr(made.list, kind).append(getattr(value(item), kind))
    return made


def put(nodes: Any, op: str, name: str, inputs: str = "", device: str = "", **attrs: Any) -> None:
    node = nodes.add(op=op, name=name, device=device, input=inputs.split())
    for key, given in attrs.items():
        node.attr[key].CopyFrom(value(given))


def constant(nodes: Any, name: str, array: Any) -> None:
    array = np.asarray(array)
    put(nodes, "Const", name, dtype=tf.as_dtype(array.dtype), value=array)


def new(producer: int = 134) -> Any:
    graph_def = tf.GraphDef()
    graph_def.versions.producer = producer
    return graph_def


def placeholder(nodes: Any, name: str = "x", dtype: Any = F) -> None:
    put(nodes, "Placeholder", name, dtype=dtype)


def in_function(graph_def: Any, name: str, dtypes: list[Any], result: str, output: Any = F) -> Any:
    """Adds a function of ``a``, ``b``, … that returns ``result``, and a node ``called`` that calls it; its nodes."""
    function = graph_def.library.function.add()
    function.signature.name = name
    for letter, dtype in zip("abcdef", dtypes, strict=False):
        function.signature.input_arg.add(name=letter, type=dtype.as_datatype_enum)
        placeholder(graph_def.node, letter, dtype)
    function.signature.output_arg.add(name="out", type=output.as_datatype_enum)
    function.ret["out"] = result
    put(graph_def.node, name, "called", " ".join("abcdef"[: len(dtypes)]))
    return function.node_def


def run(graph_def: Any, fetch: str, **feeds: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return session.run(fetch, {f"{name}:0": fed for name, fed in feeds.items()})


def upgraded(graph_def: Any, *notes: str, **options: Any) -> Any:
    """The upgraded graph: with one note for each of ``notes``, that has its words; it is done in one go."""
    before = graph_def.SerializeToString(deterministic=True)
    found, reported = upgrades.upgrade(graph_def, **options)
    assert graph_def.SerializeToString(deterministic=True) == before, "the caller's graph was changed"
    assert len(reported) == len(notes), reported
    for note, words in zip(reported, notes, strict=True):
        assert words in note, (words, note)
    if notes:
        again, reported = upgrades.upgrade(found, **options)
        assert again is found and reported == (), f"the second time: {reported}"
    else:
        assert found is graph_def
    return found


ROWS = np.float32([[1, -2, 3], [0, 5, -6]])

# ---------------------------------------------------------------------------------------------- the lists of operations


@functools.cache
def operations_1_15() -> dict[str, Any]:
    with gzip.open(GOLDEN / "operations_1_15.json.gz", "rt") as file:
        found: dict[str, Any] = json.load(file)
    return found


@check
def every_operation_that_is_gone_has_a_row_or_is_listed_as_lost() -> None:
    gone = {op for op in operations_1_15() if private.op_def_registry.get(op) is None}
    made_up_for = {
        *(op for op, _ in COMPOSED),
        "ImageProjectiveTransform",
        "SparseFeatureCross",
        "SparseFeatureCrossV2",
    }
    mkl = {"_MklMaximum", "_MklMul", "_MklSquaredDifference", "_MklSub"}
    assert gone - LOST.keys() <= made_up_for | mkl, sorted(gone - LOST.keys() - made_up_for - mkl)
    assert not made_up_for & LOST.keys() - {"SparseFeatureCross"}
    for op, home in LOST.items():
        assert not table.runs(op) or home == "the core", op  # an older TensorFlow still has some of the core's
        if op in operations_1_15():
            assert operations_1_15()[op]["from"] == home or op.startswith(("BoostedTrees", "IsBoostedTrees")), op


@check
def every_other_operation_takes_what_1_15_wrote() -> None:
    """Its attributes are known, new ones have defaults, inputs and outputs are as many and of types that fit."""
    rows = {"_FusedConv2D"}  # TArgs
    different = []
    for op, old in operations_1_15().items():
        definition = private.op_def_registry.get(op)
        if definition is None or op in LOST:
            continue
        attrs = {attr.name: attr for attr in definition.attr}
        lost = old["attrs"].keys() - attrs.keys()
        needed = [key for key, attr in attrs.items() if key not in old["attrs"] and not attr.HasField("default_value")]
        for args, now in ((old["inputs"], definition.input_arg), (old["outputs"], definition.output_arg)):
            if len(args) != len(now) and op not in rows:
                different.append(op)
            for (kind, number, is_ref), arg in zip(args, now, strict=False):
                if is_ref != arg.is_ref or number != arg.number_attr:
                    different.append(op)
                if isinstance(kind, int) and arg.type != kind:  # a fixed type: now an attribute with that default
                    attr = attrs.get(arg.type_attr)
                    if attr is None or attr.default_value.type != kind:
                        different.append(op)
        if lost or (needed and op not in rows):
            different.append(op)
    assert set(different) <= rows, sorted(set(different))


@check
def an_operation_without_usable_kernels_is_unknown() -> None:
    graph_def = new()
    constant(graph_def.node, "handle", np.float32(1))
    put(graph_def.node, "BoostedTreesPredict", "trees", "handle")
    put(graph_def.node, "TileGrad", "tile", "handle handle")
    put(graph_def.node, "AccumulateNV2", "sum", "handle", N=1, T=F)  # TensorFlow replaces it before it runs
    put(graph_def.node, "XlaSparseGradientsStack", "stack", "handle")  # a scalar ends the process while it is imported
    put(graph_def.node, "_QuantizedMatMul", "product", "handle")  # as does this one
    unknown = {"BoostedTreesPredict": ["trees"], "TileGrad": ["tile"], "XlaSparseGradientsStack": ["stack"]}
    unknown["_QuantizedMatMul"] = ["product"]
    assert upgrades.unknown_operations(graph_def) == unknown


@check
def unknown_operations_are_found_through_functions() -> None:
    graph_def = new()
    body = in_function(graph_def, "outer", [F], "i:out:0")
    put(body, "inner", "i", "a")
    inner = graph_def.library.function.add()
    inner.signature.name = "inner"
    put(inner.node_def, "NoSuchOp", "deep", "a")
    uncalled = graph_def.library.function.add()
    uncalled.signature.name = "uncalled"
    put(uncalled.node_def, "OtherNoSuchOp", "there")
    put(graph_def.node, "PartitionedCall", "by_attribute", "a", f=("func", "inner"), Tin=[F], Tout=[F])
    put(graph_def.node, "While", "by_list", "a", cond=("func", "nothing"), body=("func", "outer"), T=[F])
    put(graph_def.node, "NoSuchOp", "here", "a")
    assert upgrades.unknown_operations(graph_def) == {
        "NoSuchOp": ["here", "called", "by_attribute", "by_list", "deep in the function inner"]
    }


@check
def a_function_that_has_the_name_of_an_operation_is_that_function() -> None:
    for name in ("Resampler", "TopK", "TRTEngineOp", "_MklNothing"):
        graph_def = new()
        put(in_function(graph_def, name, [F], "r:y:0"), "Relu", "r", "a", T=F)
        assert upgrades.unknown_operations(graph_def) == {}
        upgraded(graph_def)


@check
def functions_that_call_each_other_end() -> None:
    graph_def = new()
    for name, other in (("f", "g"), ("g", "f")):
        function = graph_def.library.function.add()
        function.signature.name = name
        put(function.node_def, other, "again")
        put(function.node_def, "NoSuchOp", "n")
    put(graph_def.node, "f", "start")
    assert upgrades.unknown_operations(graph_def) == {
        "NoSuchOp": ["start", "n in the function f", "n in the function g"]
    }


# ---------------------------------------------------------------------------------------------- nothing


@check
def a_graph_of_today_is_left_alone() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(F, [None, 4], name="x")
        with tf.device("/device:CPU:0"):
            y = tf.layers.dense(x, 3)
        with tf.device("/device:GPU:1"):
            z = tf.math.top_k(y, 2)
        with tf.device("/job:localhost/replica:0/task:0/device:CPU:0"):
            tf.cond(z[0][0, 0] > 0, lambda: z[0], lambda: -z[0])
        tf.train.AdamOptimizer().minimize(tf.reduce_sum(y))
        tf.train.Saver()
    upgraded(graph.as_graph_def(add_shapes=True))
    upgraded(tf.GraphDef())


# -------------------------------------------------------------------------------------------- operations that are gone


@check
def top_k() -> None:
    graph_def = new(6)
    placeholder(graph_def.node)
    put(graph_def.node, "TopK", "top", "x", T=F, k=2, sorted=True)
    put(graph_def.node, "Identity", "where", "top:1", T=INT)
    constant(graph_def.node, "top/k", np.int32(7))  # the name that would be taken
    found = upgraded(graph_def, "TopK is TopKV2: top")
    assert run(found, "where:0", x=ROWS).tolist() == [[2, 0], [1, 0]]
    assert run(found, "top/k:0").tolist() == 7
    for missing in ("k", "T"):  # nothing to go by: TensorFlow says what is wrong
        broken = new(6)
        broken.CopyFrom(graph_def)
        del broken.node[1].attr[missing]
        upgraded(broken)


@check
def top_k_in_a_function() -> None:
    graph_def = new(6)
    body = in_function(graph_def, "best", [F], "best:values:0")
    put(body, "TopK", "best", "a", T=F, k=1)
    found = upgraded(graph_def, "best in the function best")
    assert run(found, "called:0", a=ROWS).tolist() == [[3], [5]]


@check
def projective_transform() -> None:
    images = np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1)
    shift = np.float32([[1, 0, 1, 0, 1, 0, 0, 0]])
    wanted = [[1, 2, 0], [4, 5, 0], [7, 8, 0]]
    graph_def = new()
    placeholder(graph_def.node, "images")
    placeholder(graph_def.node, "by")
    put(graph_def.node, "ImageProjectiveTransform", "moved", "images by", dtype=F, interpolation="NEAREST")
    found = upgraded(graph_def, "ImageProjectiveTransformV2: moved")
    assert run(found, "moved:0", images=images, by=shift)[0, ..., 0].tolist() == wanted
    graph_def = new()
    body = in_function(graph_def, "moves", [F, F], "m:transformed_images:0")
    put(body, "ImageProjectiveTransform", "m", "a b", dtype=F, interpolation="NEAREST")
    found = upgraded(graph_def, "m in the function moves")
    assert run(found, "called:0", a=images, b=shift)[0, ..., 0].tolist() == wanted


@check
def crosses_that_hash_otherwise_are_lost() -> None:
    shared = {"N": 0, "sparse_types": [], "out_type": tf.int64, "internal_type": tf.int64, "num_buckets": 9}
    for op, hashed, note in (
        ("SparseFeatureCross", True, None),
        ("SparseFeatureCross", False, "SparseCross: cross"),
        ("SparseFeatureCrossV2", True, "SparseCross: cross"),
    ):
        graph_def = new()
        placeholder(graph_def.node)
        put(graph_def.node, op, "cross", "x", hashed_output=hashed, dense_types=[tf.int64], **shared)
        if note is None:
            upgraded(graph_def)
            assert upgrades.unknown_operations(graph_def) == {op: ["cross"]}
        else:
            assert upgraded(graph_def, note).node[1].op == "SparseCross"


@check
def a_table_that_knows_no_deleted_key() -> None:
    first = operations._KEYS[9][0]
    for dtype, empty, key in ((tf.int64, -1, 5), (tf.int64, first, 5), (S, "", "a"), (F, 0.0, 5.0)):
        graph_def = new(24)
        constant(graph_def.node, "empty", np.array(empty, dtype.as_numpy_dtype))
        put(graph_def.node, "MutableDenseHashTableV2", "t", "empty", key_dtype=dtype, value_dtype=F)
        constant(graph_def.node, "key", np.array([key], dtype.as_numpy_dtype))
        constant(graph_def.node, "value", np.float32([7]))
        put(graph_def.node, "LookupTableInsertV2", "insert", "t key value", Tin=dtype, Tout=F)
        constant(graph_def.node, "default", np.float32(-1))
        put(graph_def.node, "LookupTableFindV2", "y", "t key default ^insert", Tin=dtype, Tout=F)
        if dtype == F:  # a key that today's kernels do not have
            assert len(upgraded(graph_def, "what was deleted: t").node) > len(graph_def.node)
            continue
        found = upgraded(graph_def, "what was deleted: t")
        assert run(found, "y:0").tolist() == [7]


@check
def a_table_whose_handle_is_of_strings() -> None:
    graph_def = new(19)
    constant(graph_def.node, "empty", np.int64(-1))
    put(graph_def.node, "MutableDenseHashTable", "t", "empty", key_dtype=tf.int64, value_dtype=F)
    constant(graph_def.node, "key", np.int64([5]))
    constant(graph_def.node, "value", np.float32([7]))
    put(graph_def.node, "LookupTableInsert", "insert", "t key value", Tin=tf.int64, Tout=F)
    constant(graph_def.node, "default", np.float32(-1))
    put(graph_def.node, "LookupTableFind", "y", "t key default ^insert", Tin=tf.int64, Tout=F)
    assert run(upgraded(graph_def, "what was deleted: t"), "y:0").tolist() == [7]
    put(graph_def.node, "RefIdentity", "handle", "t", T=S)  # would need a resource too
    upgraded(graph_def)
    assert upgrades.unknown_operations(graph_def) == {"MutableDenseHashTable": ["t"]}


@check
def variables_were_created_by_an_operation() -> None:
    graph_def = new(19)
    put(graph_def.node, "VarHandleOp", "v", dtype=F)
    graph_def.node[0].attr["shape"].shape.SetInParent()
    constant(graph_def.node, "one", np.float32(1))
    put(graph_def.node, "CreateVariableOp", "set", "v one", dtype=F)
    put(graph_def.node, "ReadVariableOp", "y", "v ^set", dtype=F)
    assert run(upgraded(graph_def, "that it has today: set"), "y:0") == 1


@check
def lists_of_tensors_had_fewer_inputs() -> None:
    graph_def = new(26)
    constant(graph_def.node, "shape", np.int32([2]))
    put(graph_def.node, "EmptyTensorList", "empty", "shape", element_dtype=F, shape_type=INT)
    constant(graph_def.node, "value", np.float32([1, 2]))
    put(graph_def.node, "TensorListPushBack", "one", "empty value", element_dtype=F)
    put(graph_def.node, "TensorListPushBack", "two", "one value", element_dtype=F)
    put(graph_def.node, "TensorListStack", "y", "two", element_dtype=F, num_elements=-1)
    constant(graph_def.node, "index", np.int32(1))
    put(graph_def.node, "TensorListGetItem", "z", "two index", element_dtype=F)
    put(graph_def.node, "TensorListPopBack", "popped", "two", element_dtype=F)
    found = upgraded(graph_def, "of any length: empty, z, popped, y")
    assert run(found, "y:0").tolist() == [[1, 2], [1, 2]]
    assert run(found, "z:0").tolist() == run(found, "popped:1").tolist() == [1, 2]


@check
def a_pooling_with_places_is_of_floats() -> None:
    graph_def = new(19)
    placeholder(graph_def.node)
    pooled = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    put(graph_def.node, "MaxPoolWithArgmax", "y", "x", **pooled)
    found = upgraded(graph_def, "of floats: y")
    assert run(found, "y:1", x=np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)).ravel().tolist() == [3]


@check
def compare_and_bitpack() -> None:
    composed = _alone("CompareAndBitpack", [F, F], "output")
    if composed is None:
        return  # this TensorFlow still has it
    values = np.float32([[1, 0, 0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 9, 0, 3, 0]])
    assert run(composed, "n:0", a=values, b=np.float32(0.5)).tolist() == [[0b10000001], [0b00001010]]


@check
def bucketize() -> None:
    composed = _alone("BucketizeWithInputBoundaries", [tf.int64, F], "output")
    assert run(composed, "n:0", a=np.int64([[0, 1, 5]]), b=np.float32([1, 1, 3])).tolist() == [[0, 2, 3]]


def _alone(op: str, dtypes: list[Any], prefix: str) -> Any:
    """The graph of one operation, upgraded; None where TensorFlow has it."""
    if private.op_def_registry.get(op) is not None:
        return None
    graph_def = new()
    for letter, dtype in zip("abcd", dtypes, strict=False):
        placeholder(graph_def.node, letter, dtype)
    put(graph_def.node, op, "n", " ".join("abcd"[: len(dtypes)]), T=dtypes[0])
    return upgraded(graph_def, "composed of others: n")


@check
def gather_tree_under_its_names_and_types() -> None:
    steps = np.int32([[[5, 6]], [[7, 2]], [[8, 9]]])
    parents = np.int32([[[0, 0]], [[1, 0]], [[1, 1]]])
    wanted = [[[5, 5]], [[2, 2]], [[2, 2]]]  # 2 ends a beam
    for op in ("GatherTree", "Addons>GatherTree"):
        graph_def = _alone(op, [INT, INT, INT, INT], "")
        found = run(graph_def, "n:0", a=steps, b=parents, c=np.int32([3]), d=np.int32(2))
        assert found.tolist() == wanted, found
        found = run(graph_def, "n:0", a=steps, b=parents, c=np.int32([1]), d=np.int32(2))
        assert found.tolist() == [[[5, 6]], [[2, 2]], [[2, 2]]], found
    for dtype, count in ((S, 4), (INT, 5), (F, 4)):  # of a type, and with as many inputs, as it never had
        graph_def = new()
        placeholder(graph_def.node)
        put(graph_def.node, "GatherTree", "n", " ".join(["x"] * count), T=dtype)
        upgraded(graph_def)
        assert upgrades.unknown_operations(graph_def) == {"GatherTree": ["n"]}


@check
def gather_tree_of_1_4() -> None:
    """As 1.4.1 gave it: each beam has its own length, and -1 behind it."""
    steps = np.int32([[[1, 1, 3, 0], [2, 0, 3, 3]], [[4, 2, 1, 5], [4, 1, 0, 3]], [[2, 0, 3, 1], [5, 4, 2, 0]]])
    parents = np.int32([[[0, 3, 1, 0], [2, 1, 1, 0]], [[1, 2, 0, 3], [2, 2, 0, 1]], [[0, 1, 1, 3], [1, 3, 2, 0]]])
    lengths = np.int32([[3, 1, 2, 3], [2, 3, 3, 1]])
    wanted = [[[1, 1, 1, 0], [3, 0, 2, 3]], [[4, -1, 1, 5], [4, 3, 0, -1]], [[2, -1, -1, 1], [-1, 4, 2, -1]]]
    graph_def = _alone("GatherTree", [INT, INT, INT], "")
    assert run(graph_def, "n:0", a=steps, b=parents, c=lengths).tolist() == wanted


@check
def resampler_half_way_and_at_the_border() -> None:
    data = np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)  # 0 1 / 2 3
    points = np.float32([[[0.5, 0.5], [1, 1], [1.5, 1], [-1, 0], [0, 2], [9, 9]]])
    wanted = [1.5, 3, 1.5, 0, 0, 0]
    for dtype in (F, tf.float64, tf.float16):
        graph_def = _alone("Resampler", [dtype, dtype], "")
        kind = dtype.as_numpy_dtype
        assert run(graph_def, "n:0", a=data.astype(kind), b=points.astype(kind)).ravel().tolist() == wanted


@check
def every_composition_builds_for_every_type_that_it_takes() -> None:
    for (op, count), (_, kinds, _) in COMPOSED.items():
        old = operations_1_15()[op]
        assert count == len(old["inputs"]) or (op, count) == ("GatherTree", 3)
        for kind in kinds:
            with tf.Graph().as_default():
                tf.import_graph_def(composition(op, count, kind))


@check
def a_composition_keeps_what_it_waits_for_and_where_it_is() -> None:
    graph_def = new()
    placeholder(graph_def.node, "a")
    placeholder(graph_def.node, "b")
    put(graph_def.node, "NoOp", "first")
    put(graph_def.node, "Resampler", "n", "a b ^first", device="/device:CPU:0", T=F)
    found = upgraded(graph_def, "composed")
    nodes = {node.name: node for node in found.node}
    assert nodes["n"].op == "Identity" and nodes["n"].input[-1] == "^first"
    assert {node.device for name, node in nodes.items() if name.startswith("n/")} == {"/device:CPU:0"}


@check
def a_composition_in_a_branch_that_is_not_taken() -> None:
    graph_def = new()
    placeholder(graph_def.node, "a")
    placeholder(graph_def.node, "b")
    placeholder(graph_def.node, "p", tf.bool)
    put(graph_def.node, "Switch", "sa", "a p", T=F)
    put(graph_def.node, "Switch", "sb", "b p", T=F)
    put(graph_def.node, "Resampler", "n", "sa:1 sb:1", T=F)
    put(graph_def.node, "Merge", "either", "sa n", T=F, N=2)
    found = upgraded(graph_def, "composed")
    data, points = np.ones([1, 2, 2, 1], np.float32), np.zeros([1, 1, 2], np.float32)
    assert run(found, "either:0", a=data, b=points, p=False).shape == (1, 2, 2, 1)
    assert run(found, "either:0", a=data, b=points, p=True).tolist() == [[[1.0]]]


# ---------------------------------------------------------------------------------------------- other hardware


@check
def tpu_cluster_in_a_function() -> None:
    graph_def = new()
    body = in_function(graph_def, "replicated", [F], "o:outputs:0")
    put(body, "TPUReplicatedInput", "i", "a", T=F, N=1)
    put(body, "Neg", "n", "i:output:0", T=F, device="/device:TPU_REPLICATED_CORE:0", _tpu_replicate="cluster")
    put(body, "TPUReplicatedOutput", "o", "n:y:0", T=F, num_replicas=1)
    found = upgraded(graph_def, "passes them on", "neither a CPU nor a GPU")
    assert run(found, "called:0", a=ROWS).tolist() == (-ROWS).tolist()


@check
def tpu_marks_go_with_the_cluster() -> None:
    for metadata in (True, False):
        graph_def = new()
        placeholder(graph_def.node)
        put(graph_def.node, "Neg", "n", "x", T=F, _tpu_replicate="cluster", _tpu_output_identity=True)
        if metadata:
            put(graph_def.node, "TPUReplicateMetadata", "meta", "^n", num_replicas=1)
        notes = ("runs where it is: n", "does nothing: meta") if metadata else ()  # without, they mark nothing
        found = upgraded(graph_def, *notes)
        assert ("_tpu_replicate" in found.node[1].attr) is not metadata
        if metadata:
            assert found.node[2].op == "NoOp" and list(found.node[2].input) == ["^n"]


@check
def tpu_replicate() -> None:
    for op in ("TPUReplicate", "_TPUReplicate"):
        graph_def = new()
        body = in_function(graph_def, "f", [F, F], "d:z:0")
        put(body, "Sub", "d", "a b", T=F)
        kinds = {"Tinputs": [F], "Tbroadcast_inputs": [F], "NumVariables": 0, "output_types": [F]}
        put(graph_def.node, op, "y", "a b", computation=("func", "f"), num_replicas=1, **kinds)
        found = upgraded(graph_def, "is called: y")
        assert run(found, "y:0", a=ROWS, b=2 * ROWS).tolist() == (-ROWS).tolist()
        graph_def.node[-1].attr["num_replicas"].i = 2
        upgraded(graph_def)


@check
def sums_over_replicas() -> None:
    for inputs in ("x", "x x"):
        graph_def = new()
        placeholder(graph_def.node)
        put(graph_def.node, "CrossReplicaSum", "y", inputs, T=F)
        assert run(upgraded(graph_def, "over one replica"), "y:0", x=ROWS).tolist() == ROWS.tolist()
    put(graph_def.node, "TPUReplicateMetadata", "meta", num_replicas=2)
    upgraded(graph_def)
    assert upgrades.unknown_operations(graph_def) == {"CrossReplicaSum": ["y"], "TPUReplicateMetadata": ["meta"]}


@check
def tpu_partitioned_call() -> None:
    graph_def = new()
    in_function(graph_def, "f", [F], "a")
    put(graph_def.node, "TPUOrdinalSelector", "which")
    put(graph_def.node, "TPUPartitionedCall", "y", "a which ^called", f=("func", "f"), Tin=[F], Tout=[F])
    put(graph_def.node, "TPUPartitionedCall", "z", "a which", f=("func", "elsewhere"), Tin=[F], Tout=[F])
    found = upgraded(graph_def, "is called: y", "is not chosen: which")
    assert upgrades.unknown_operations(found) == {"TPUPartitionedCall": ["z"]}
    del found.node[-1]
    assert run(found, "y:0", a=ROWS).tolist() == ROWS.tolist()


@check
def tpu_replicas_are_not_one() -> None:
    graph_def = new()
    placeholder(graph_def.node)
    put(graph_def.node, "TPUReplicatedInput", "i", "x x", T=F, N=2)
    put(graph_def.node, "TPUReplicatedOutput", "o", "i", T=F, num_replicas=2)
    upgraded(graph_def)
    assert upgrades.unknown_operations(graph_def) == {"TPUReplicatedInput": ["i"], "TPUReplicatedOutput": ["o"]}


@check
def tpu_system() -> None:
    graph_def = new()
    put(graph_def.node, "ConfigureDistributedTPU", "configure", device="/device:TPU_SYSTEM:0")
    put(graph_def.node, "ShutdownDistributedTPU", "shutdown", "^configure")
    found = upgraded(graph_def, "does nothing: shutdown", "configure", "neither a CPU nor a GPU")
    assert run(found, "configure:0") == b"" and run(found, "shutdown") is None


@check
def a_tensorrt_engine_without_its_segment_is_unknown() -> None:
    for attrs in ({}, {"segment_func": ("func", "nowhere")}, {"segment_funcdef_name": "nowhere"}, {"segment_func": 3}):
        graph_def = new()
        placeholder(graph_def.node)
        put(graph_def.node, "TRTEngineOp", "engine", "x", InT=[F], OutT=[F], **attrs)
        upgraded(graph_def)
        there = private.op_def_registry.get("TRTEngineOp") is not None  # TensorFlow 2.16 was built with it
        assert upgrades.unknown_operations(graph_def) == ({} if there else {"TRTEngineOp": ["engine"]})


@check
def a_tensorrt_engine_in_a_function() -> None:
    graph_def = new()
    body = in_function(graph_def, "around", [F], "engine:out_tensor:0")
    put(body, "TRTEngineOp", "engine", "a", InT=[F], OutT=[F], segment_func=("func", "segment"))
    segment = graph_def.library.function.add()
    segment.signature.name = "segment"
    segment.signature.input_arg.add(name="i", type=1)
    segment.signature.output_arg.add(name="o", type=1)
    put(segment.node_def, "Neg", "n", "i", T=F)
    segment.ret["o"] = "n:y:0"
    found = upgraded(graph_def, "TensorRT")
    assert run(found, "called:0", a=ROWS).tolist() == (-ROWS).tolist()


@check
def mkl_variants() -> None:
    graph_def = new()
    placeholder(graph_def.node)
    constant(graph_def.node, "w", np.ones([1, 1, 1, 2], np.float32))
    constant(graph_def.node, "b", np.float32([10, 20]))
    constant(graph_def.node, "meta", np.uint8([0] * 8))
    conv = {"T": F, "strides": [1, 1, 1, 1], "padding": "SAME", "_kernel": "MklLayoutDependentOp"}
    put(graph_def.node, "_MklConv2DWithBias", "c", "x w b meta meta meta", data_format="NHWC", **conv)
    put(graph_def.node, "_MklNativeConv2D", "d", "x w", is_filter_const=True, **conv)
    put(graph_def.node, "_MklInputConversion", "both", "c d c:2 meta", T=F, data_format="NHWC")
    put(graph_def.node, "_MklMul", "m", "both both:1 both:2 both:3", T=F)
    put(graph_def.node, "_MklToTf", "y", "m m:1", T=F, data_format="NHWC")
    found = upgraded(graph_def, "MKL")
    image = np.float32([[[[2]]]])
    assert run(found, "y:0", x=image).tolist() == [[[[24, 44]]]]
    assert not any(node.op.startswith("_Mkl") for node in found.node)


@check
def mkl_in_a_function() -> None:
    graph_def = new()
    body = in_function(graph_def, "rectified", [F], "r:activations:0")
    put(body, "_MklRelu", "r", "a", T=F, _kernel="MklNameChangeOp")
    found = upgraded(graph_def, "r in the function rectified")
    assert run(found, "called:0", a=ROWS).min() == 0


@check
def mkl_that_is_not_understood_is_left() -> None:
    for op, inputs in (("_MklRelu", "x x x"), ("_MklNoSuchOp", "x"), ("_MklConv2DWithBias", "x x")):
        graph_def = new()
        placeholder(graph_def.node)
        put(graph_def.node, op, "n", inputs, T=F)
        upgraded(graph_def)


@check
def mkl_that_would_be_several_nodes_in_a_function_is_left() -> None:
    for op, inputs in (("_MklInputConversion", "a a a a"), ("_MklConv2DWithBias", "a a a")):
        graph_def = new()
        put(in_function(graph_def, "f", [F], "n:output_0:0"), op, "n", inputs, T=F)
        upgraded(graph_def)


@check
def devices() -> None:
    wanted = {
        "/job:worker/replica:0/task:3/device:GPU:1": "/device:GPU:1",
        "/job:ps/task:0": "",
        "/job:worker/task:0/cpu:0": "/device:CPU:0",
        "/device:TPU:0": "",
        "/job:tpu_worker/device:TPU_SYSTEM:0": "",
        "/device:HPU:0": "",
        "/job:localhost/replica:0/task:1/device:CPU:0": "/device:CPU:0",
    }
    graph_def = new()
    for index, device in enumerate(wanted):
        put(graph_def.node, "NoOp", f"n{index}", device=device)
    found = upgraded(graph_def, "another host")
    assert [node.device for node in found.node] == list(wanted.values())
    upgraded(graph_def, hardware=False)
    near = new()
    for index, device in enumerate(
        ["", "/cpu:0", "/GPU:0", "/device:CPU:1", "/job:localhost/replica:0/task:0/device:GPU:0"]
    ):
        put(near.node, "NoOp", f"n{index}", device=device)
    upgraded(near)


# ---------------------------------------------------------------------------------------------- loose ends


@check
def colocation() -> None:
    graph_def = new()
    constant(graph_def.node, "a", ROWS)
    put(graph_def.node, "Identity", "b", "a", T=F, _class=["loc:@a", "loc:@gone", "other"])
    put(graph_def.node, "Identity", "c", "a", T=F, _class=["loc:@gone"])
    put(graph_def.node, "Identity", "d", "a", T=F, _class=["loc:@a"])
    found = upgraded(graph_def, "not there: b, c")
    nodes = {node.name: node for node in found.node}
    assert list(nodes["b"].attr["_class"].list.s) == [b"loc:@a", b"other"]
    assert "_class" not in nodes["c"].attr and "_class" in nodes["d"].attr


@check
def references_to_values_are_followed() -> None:
    graph_def = new()
    constant(graph_def.node, "v", np.float32([1, 2]))
    constant(graph_def.node, "delta", np.float32([10, 20]))
    constant(graph_def.node, "p", np.array(True))
    put(graph_def.node, "RefSwitch", "s", "v p", T=F)
    put(graph_def.node, "RefIdentity", "i", "s:1", T=F)
    put(graph_def.node, "AssignSub", "minus", "i delta", T=F, use_locking=False)
    put(graph_def.node, "AssignAdd", "plus", "minus delta", T=F)
    put(graph_def.node, "Assign", "set", "plus delta", T=F, validate_shape=True, use_locking=True)
    found = upgraded(graph_def, "gives the value: ")
    assert run(found, "minus:0").tolist() == [-9, -18]
    assert run(found, "plus:0").tolist() == [1, 2] and run(found, "set:0").tolist() == [10, 20]
    was = {node.name: node.attr[upgrades.WAS].s for node in found.node if upgrades.WAS in node.attr}
    assert was == {"minus": b"AssignSub", "plus": b"AssignAdd", "set": b"Assign"}


@check
def references_to_variables_stay() -> None:
    graph_def = new()
    put(graph_def.node, "VariableV2", "v", dtype=F, shape=None or [])
    del graph_def.node[0].attr["shape"]
    graph_def.node[0].attr["shape"].shape.SetInParent()
    constant(graph_def.node, "one", np.float32(1))
    constant(graph_def.node, "p", np.array(True))
    put(graph_def.node, "Assign", "set", "v one", T=F)
    put(graph_def.node, "RefSwitch", "s", "v p ^set", T=F)
    put(graph_def.node, "AssignAdd", "plus", "s:1 one", T=F)
    put(graph_def.node, "NoSuchOp", "unknown")
    put(graph_def.node, "Assign", "what", "unknown one", T=F)
    upgraded(graph_def)


@check
def a_long_chain_of_references_takes_no_time() -> None:
    graph_def = new()
    constant(graph_def.node, "n0", np.float32(1))
    for index in range(20_000):
        put(graph_def.node, "RefIdentity", f"n{index + 1}", f"n{index}", T=F)
    put(graph_def.node, "RefIdentity", "circle", "circle", T=F)
    found = upgraded(graph_def, "and 19994 more")  # at a step a pair of nodes this would run into the test's time limit
    assert found.node[-1].op == "RefIdentity" and found.node[-2].op == "Identity"


@check
def resource_reads_of_constants() -> None:
    graph_def = new()
    constant(graph_def.node, "table", ROWS)
    constant(graph_def.node, "ids", np.int32([1]))
    put(graph_def.node, "ResourceGather", "rows", "table ids", dtype=F, Tindices=INT, validate_indices=True)
    put(graph_def.node, "ReadVariableOp", "whole", "table", dtype=F)
    found = upgraded(graph_def, "gives the constant")
    assert run(found, "rows:0").tolist() == ROWS[1:].tolist() and run(found, "whole:0").tolist() == ROWS.tolist()
    graph_def.node[2].attr["batch_dims"].i = 1
    assert {node.op for node in upgraded(graph_def, "constant: whole").node} >= {"ResourceGather", "Identity"}


# ---------------------------------------------------------------------------------------------- attributes, versions


@check
def newer_attributes() -> None:
    defaults = {"new_flag": False, "new_axis": 0, "axis": -1, "new_text": "", "new_list": [], "metadata": "made by me"}
    graph_def = new()
    placeholder(graph_def.node)
    put(graph_def.node, "Relu", "y", "x", T=F, _mine="kept", **defaults)
    found = upgraded(graph_def, "has its default and is dropped: y")
    assert sorted(found.node[1].attr) == ["T", "_mine"]
    for key, given in (("new_flag", True), ("new_axis", 3), ("axis", 0), ("new_list", [1]), ("new_text", "NCHW")):
        near = new()
        placeholder(near.node)
        put(near.node, "Relu", "y", "x", T=F, **{key: given})
        upgraded(near)  # it may matter: TensorFlow refuses it


@check
def types_of_the_arguments_of_a_fused_convolution() -> None:
    graph_def = new()
    constant(graph_def.node, "x", np.ones([1, 1, 1, 1], np.float32))
    attrs = {"T": F, "strides": [1, 1, 1, 1], "padding": "SAME", "fused_ops": ["BiasAdd"]}
    constant(graph_def.node, "bias", np.float32([7]))
    put(graph_def.node, "_FusedConv2D", "y", "x x bias", num_args=1, **attrs)
    found = upgraded(graph_def, "of its type: y")
    assert list(found.node[2].attr["TArgs"].list.type) == [1] and run(found, "y:0").ravel().tolist() == [8]
    graph_def.node[2].attr["num_args"].i = 10**9  # a claim that nothing should fill
    upgraded(graph_def)


@check
def shapes_of_the_gradient_of_batch_normalization() -> None:
    for op, notes in (("FusedBatchNormGradV3", ("anew: g",)), ("FusedBatchNormV3", ())):
        graph_def = new()
        placeholder(graph_def.node)
        put(graph_def.node, op, "g", "x x x x x x"[: 11 if op.startswith("FusedBatchNormG") else 9], T=F, U=F)
        graph_def.node[1].attr["_output_shapes"].list.shape.add()
        found = upgraded(graph_def, *notes)
        assert ("_output_shapes" in found.node[1].attr) is (not notes)


@check
def a_deprecated_operation_that_was_written_again() -> None:
    for producer, notes in ((134, ("of the time",)), (9, ("of the time",)), (8, ())):
        graph_def = new(producer)
        placeholder(graph_def.node, "x")
        for name in ("mean", "variance", "beta", "gamma"):
            constant(graph_def.node, name, np.float32([1, 2]))
        put(
            graph_def.node,
            "BatchNormWithGlobalNormalization",
            "y",
            "x mean variance beta gamma",
            T=F,
            variance_epsilon=0.0,
            scale_after_normalization=True,
        )
        found = upgraded(graph_def, *notes)
        assert found.versions.producer == 8
        assert run(found, "y:0", x=np.ones([1, 1, 1, 2], np.float32)).shape == (1, 1, 1, 2)


@check
def recorded_shapes_of_other_nodes_are_kept() -> None:
    graph_def = new()
    placeholder(graph_def.node)
    graph_def.node[0].attr["_output_shapes"].list.shape.add().dim.add().size = 7
    upgraded(graph_def)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        assert graph.get_tensor_by_name("x:0").shape.as_list() == [7]


@check
def an_import_is_tried_again_without_shapes_that_are_inconsistent() -> None:
    graph_def = new()
    constant(graph_def.node, "x", ROWS)
    put(graph_def.node, "Relu", "y", "x", T=F)
    put(graph_def.node, "Neg", "z", "y", T=F)
    for node, size in zip(graph_def.node, (2, 5, 2), strict=True):
        shape = node.attr["_output_shapes"].list.shape.add()
        shape.dim.add().size = size
        shape.dim.add().size = 3
    undone: list[str] = []
    tolerant = upgrades.importing(tf.import_graph_def, lambda: lambda: undone.append("again"))
    with tf.Graph().as_default() as graph:
        tolerant(graph_def, name="")
        assert graph.get_tensor_by_name("z:0").shape.as_list() == [2, 3]
    assert undone == ["again"] and "_output_shapes" in graph_def.node[1].attr
    graph_def.node[1].attr["T"].type = 3
    try:
        with tf.Graph().as_default():
            tolerant(graph_def)
    except ValueError as error:
        assert "incompatible" in str(error) or "inconsistent" in str(error)
    else:
        raise AssertionError("wrong in another way, and taken")


@check
def the_table_gives_what_each_row_is_about() -> None:
    reported = [row.what for row in upgrades.UPGRADES]
    assert len(set(reported)) == len(reported) >= 18
    assert all(row.since for row in upgrades.UPGRADES)


# ---------------------------------------------------------------------------------------------- whatever it is


@check
def nodes_that_are_not_as_they_should_be_raise_nothing() -> None:
    """Random nodes of every operation that the table knows: with any inputs and attributes, some of other kinds."""
    rng = random.Random(1)
    ops = [
        *(op for op, _ in COMPOSED),
        "Addons>Resampler",
        *LOST,
        *loose_ends._ON_VALUES,
        *loose_ends._ON_RESOURCES,
        "_MklConv2D",
        "_MklToTf",
    ]
    ops += ["_MklConv2DWithBias", "_MklInputConversion", "_MklAddN", "_FusedConv2D", "TRTEngineOp", "TopK", "Const"]
    ops += ["TPUReplicatedInput", "TPUReplicatedOutput", "TPUReplicateMetadata", "TPUPartitionedCall", "f", "", "Relu"]
    ops += ["ImageProjectiveTransform", "SparseFeatureCross", "TPUCompilationResult", "TPUOrdinalSelector", "Switch"]
    keys = ["T", "N", "k", "dtype", "f", "Tin", "Tout", "InT", "OutT", "segment_func", "segment_funcdef_name", "_class"]
    keys += ["num_args", "num_replicas", "_output_shapes", "hashed_output", "Tindices", "batch_dims", "axis", "_kernel"]
    values = [
        F,
        S,
        0,
        -1,
        2,
        10**12,
        1.5,
        True,
        "f",
        "\udcff".encode("utf-8", "surrogatepass").decode("latin1"),
        [F],
        [1],
    ]
    values += [[], ["loc:@n1", "loc:@"], ("func", "f"), ("func", ""), ROWS]
    for _ in range(1500):
        graph_def = new(rng.choice([0, 8, 134]))
        function = graph_def.library.function.add()
        function.signature.name = "f"
        for index in range(rng.randrange(1, 9)):
            inputs = [
                rng.choice(["", "^", ":", "^n0", "n0:7", "n1", "n2:0", "a:b:c", "n3:y:0", "gone"]) for _ in range(3)
            ]
            node = rng.choice([graph_def.node, function.node_def]).add(
                name=rng.choice([f"n{index}", "n0", ""]),
                op=rng.choice(ops),
                device=rng.choice(["", "/x", "/job:a/cpu:0"]),
            )
            node.input.extend(inputs[: rng.randrange(4)])
            for key in rng.sample(keys, rng.randrange(6)):
                node.attr[key].CopyFrom(value(rng.choice(values)))
        found, notes = upgrades.upgrade(graph_def)
        assert all(isinstance(note, str) for note in notes)
        upgrades.unknown_operations(found)


def main(report: Callable[..., None]) -> None:
    import traceback

    for name, function in CHECKS.items():
        try:
            function()
        except BaseException:
            report(**{name: traceback.format_exc()})
        else:
            report(**{name: ""})


if __name__ == "__main__":  # one check, by hand
    CHECKS[sys.argv[1]]()
