"""The conformance table: everything that ``Session.run`` accepts or refuses, as small cases.

A case builds its part of a fresh graph and returns steps; a step is what is given to ``run``, or a function that is
given the session. :func:`compare` runs all steps of a case, each three times in a row, on TensorFlow's own session and
on the one under test, and returns how they differ: in values, types, dtypes, shapes, containers, or in the exception's
type, text, ``op`` and ``node_def``. On our session the first of the three goes the slow way and the others the fast
one, or, with ``compiled``, all go through ``compile``.

The table is plain data until it is run: importing this module imports no TensorFlow.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import os
import re
import tempfile
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

REPEATS = 3


@dataclasses.dataclass
class Step:
    """One request. ``options`` and ``metadata`` are functions that make the protos."""

    fetches: Any
    feeds: Any = None
    options: Callable[[], Any] | None = None
    metadata: Callable[[], Any] | None = None
    times: int = REPEATS


Case = Callable[[Any], Any]
CASES: dict[str, Case] = {}
#: Cases that need v1 control flow or other things that a step through ``compile`` cannot express.
WITHOUT_COMPILE: set[str] = set()


def case(build: Case) -> Case:
    CASES[build.__name__] = build
    return build


def run_only(build: Case) -> Case:
    """A case whose steps are functions or containers that ``compile`` does not take."""
    WITHOUT_COMPILE.add(build.__name__)
    return case(build)


# ------------------------------------------------------------------------------------------------ what is compared


def _array(value: Any) -> Any:
    flags = (value.flags.c_contiguous, value.flags.writeable)
    if value.dtype.hasobject:
        return ("array", "object", value.shape, flags, [describe(item) for item in value.ravel().tolist()])
    return ("array", value.dtype.str, value.dtype.name, value.shape, flags, value.tobytes().hex())


def describe(value: Any) -> Any:
    """A result as plain data that is equal exactly when nothing could tell two results apart."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, np.ndarray):
        return (kind, _array(value))
    if isinstance(value, np.generic):
        return (kind, value.dtype.str, value.tobytes().hex())
    if isinstance(value, collections.defaultdict):
        return (kind, repr(value.default_factory), [(repr(key), describe(item)) for key, item in value.items()])
    if isinstance(value, dict):
        return (kind, [(type(key).__name__, repr(key), describe(item)) for key, item in value.items()])
    if isinstance(value, (list, tuple)):
        return (kind, [describe(item) for item in value])
    if hasattr(type(value), "__attrs_attrs__"):
        return (kind, [describe(getattr(value, item.name)) for item in type(value).__attrs_attrs__])
    if kind.endswith("RaggedTensorValue"):
        return (kind, describe(value.values), describe(value.row_splits))
    if kind.endswith("TensorHandle"):
        return (kind, describe(value.eval()))
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return (kind, repr(value))
    raise TypeError(f"the table cannot compare a {kind}")


def _text(message: str) -> str:
    """A message without what differs between two graphs: addresses, and how much of a kind was made before."""
    message = re.sub(r"0x[0-9a-f]+", "0x", message)
    return re.sub(r"(Dataset:|pyfunc_|'_)\d+", r"\1", message)


def outcome(call: Callable[[], Any]) -> Any:
    try:
        result = call()
    except Exception as error:  # noqa: BLE001 - the exception is the result
        operation = getattr(error, "op", None)
        return (
            "raised",
            f"{type(error).__module__}.{type(error).__qualname__}",
            _text(str(error)),
            None if operation is None else operation.name,
            _text(str(getattr(error, "node_def", None))),
            getattr(error, "error_code", None),
        )
    return ("returned", describe(result))


# ------------------------------------------------------------------------------------------------------- running


def _compiled_run(compile_call: Callable[..., Any], session: Any) -> Callable[..., Any]:
    """``run`` by way of ``compile``, for the requests that it can express; one compiled call for each step."""
    calls: dict[int, Any] = {}

    def run(step: Step) -> Any:
        if step.options is not None or step.metadata is not None:
            return session.run(
                step.fetches, step.feeds, step.options and step.options(), step.metadata and step.metadata()
            )
        feeds = step.feeds or {}
        if id(step) not in calls:
            calls[id(step)] = compile_call(list(feeds), step.fetches)
        return calls[id(step)](*feeds.values())

    return run


def outcomes(tf: Any, build: Case, make_session: Callable[[Any], Any], compile_call: Any = None) -> list[Any]:
    """Builds a case and runs it on one session."""
    found = []
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(7)
        steps = build(tf)
        steps = [steps] if isinstance(steps, Step) or callable(steps) else list(steps)
        session = make_session(graph)
        try:
            compiled = compile_call and _compiled_run(compile_call(session), session)
            for step in steps:
                if callable(step):
                    for _ in range(REPEATS):
                        found.append(outcome(lambda step=step: step(session)))
                    continue
                for _ in range(step.times):
                    if compiled:
                        found.append(outcome(lambda step=step: compiled(step)))
                    else:
                        found.append(
                            outcome(
                                lambda step=step: session.run(
                                    step.fetches,
                                    step.feeds,
                                    step.options and step.options(),
                                    step.metadata and step.metadata(),
                                )
                            )
                        )
        finally:
            session.close()
    return found


def compare(
    tf: Any, name: str, plain: Callable[[Any], Any], tested: Callable[[Any], Any], compile_call: Any = None
) -> list[str]:
    """The differences between TensorFlow's session and the tested one in a case; none is how it should be."""
    try:
        # In one line, because the graph's errors name the line that built them.
        expected, found = (outcomes(tf, CASES[name], *way) for way in ((plain, None), (tested, compile_call)))
    except Exception:  # noqa: BLE001 - the case is wrong, or the session cannot even be made
        return [traceback.format_exc()]
    return [
        f"outcome {number}: {_first_difference(str(wanted), str(got))}"
        for number, (wanted, got) in enumerate(zip(expected, found, strict=True))
        if wanted != got
    ]


def _first_difference(expected: str, found: str) -> str:
    same = len(os.path.commonprefix([expected, found]))
    start = max(0, same - 200)
    return f"expected ...{expected[start : same + 400]}\n     got ...{found[start : same + 400]}"


# ------------------------------------------------------------------------------------------------ fetch structures


def _pair(tf: Any) -> tuple[Any, Any]:
    return tf.constant([1.0, 2.0], name="a"), tf.constant(3, name="b")


@case
def tensor(tf: Any) -> Any:
    return Step(_pair(tf)[0])


@case
def scalar_is_a_numpy_scalar(tf: Any) -> Any:
    return Step(_pair(tf)[1])


@case
def operation_gives_none(tf: Any) -> Any:
    return [Step(tf.no_op()), Step(_pair(tf)[0].op), Step([tf.no_op(), tf.constant(1)])]


@case
def names_of_tensors_and_operations(tf: Any) -> Any:
    _pair(tf)
    return [Step("a:0"), Step("b"), Step(["a:0", "a", "b:0"]), Step({"x": "b:0"})]


@case
def names_that_do_not_exist(tf: Any) -> Any:
    _pair(tf)
    return [Step("c:0"), Step("c"), Step("a:1"), Step("a:0:0"), Step(""), Step("^a"), Step(["a:0", "nope"])]


@case
def nested_structures(tf: Any) -> Any:
    a, b = _pair(tf)
    return [
        Step([a, b]),
        Step((a, b)),
        Step([a, (b, [a, [b]])]),
        Step({"one": a, "two": [b, {"three": a}]}),
        Step({}),
        Step([[], (), {}]),
        Step([a, a, b, a]),
        Step(([a], tf.no_op())),
        Step([a, a.op, "a:0", "a"]),
    ]


@case
def empty_list(tf: Any) -> Any:
    _pair(tf)
    return [Step([]), Step(())]


@case
def dict_keys_of_all_kinds(tf: Any) -> Any:
    a, b = _pair(tf)
    return [
        Step({1: a}),
        Step({True: a}),
        Step({1.0: a}),
        Step({"1": a}),
        Step({(1, 2): a, None: b, b"k": a}),
        Step({(True, 2): a}),
        Step({(1, 2): a}),
        Step({3: a, "z": b, "a": a}),
    ]


@case
def other_mappings(tf: Any) -> Any:
    a, b = _pair(tf)
    default = collections.defaultdict(list)
    default["k"] = a
    default[2] = b
    return [
        Step(collections.OrderedDict([("z", a), ("a", b)])),
        Step(collections.OrderedDict([("a", b), ("z", a)])),
        Step(default),
    ]


_Two = collections.namedtuple("_Two", "first second")


class _Sub(_Two):
    """A subclass with a method, as TF1 code made of its model outputs."""

    __slots__ = ()

    def total(self) -> Any:
        return self.first


@case
def named_tuples(tf: Any) -> Any:
    a, b = _pair(tf)
    return [Step(_Two(a, [b])), Step(_Sub(a, b)), Step({"x": _Two(_Two(a, a), b)})]


class _List(list):  # type: ignore[type-arg]
    pass


class _Tuple(tuple):  # type: ignore[type-arg]
    pass


@case
def subclasses_of_list_and_tuple(tf: Any) -> Any:
    a, b = _pair(tf)
    return [Step(_List([a, b])), Step(_Tuple([a, b]))]


@case
def attrs_classes(tf: Any) -> Any:
    # What the library attrs leaves on a class, and all that run() looks at.
    class Model:
        __attrs_attrs__ = (_Two("x", 0), _Two("y", 0))

        def __init__(self, x: Any, y: Any) -> None:
            self.x, self.y = x, y

    field = collections.namedtuple("field", "name")
    Model.__attrs_attrs__ = (field("x"), field("y"))
    a, b = _pair(tf)
    return [Step(Model(a, b)), Step([Model(b, [a])])]


@case
def dict_changed_between_calls(tf: Any) -> Any:
    a, b = _pair(tf)
    wanted = {"x": a}

    def change(session: Any) -> Any:
        wanted.clear()
        wanted.update({"other": b, "y": a})
        return session.run({"x": a}), session.run(wanted)

    def change_list(session: Any, fetches: list[Any] = []) -> Any:  # noqa: B006 - one list for all calls, on purpose
        fetches.append(b)
        return session.run(list(fetches))

    return [Step(wanted, times=1), change, lambda session: change_list(session, [])]


WITHOUT_COMPILE.add("dict_changed_between_calls")


@case
def refused_fetches(tf: Any) -> Any:
    a, _ = _pair(tf)
    return [Step(None), Step([a, None]), Step(1), Step(1.5), Step({"x": object}), Step([[a], {"k": 2}])]


@case
def fetches_of_another_graph(tf: Any) -> Any:
    a, _ = _pair(tf)
    with tf.Graph().as_default():
        other = tf.constant(1.0, name="other")
        twin = tf.constant(5.0, name="a")
        variable = tf.Variable(1.0, name="v")
        placeholder = tf.placeholder(tf.float32, [], name="p")
    return [
        Step(other),
        Step(twin),
        Step([a, other]),
        Step(other.op),
        Step(variable),
        Step(a, {placeholder: 1.0}),
        Step(a, {twin: 1.0}),
    ]


@case
def not_fetchable(tf: Any) -> Any:
    a, _ = _pair(tf)
    tf.get_default_graph().prevent_fetching(a.op)
    return [Step(a), Step(a.op)]


@case
def not_feedable(tf: Any) -> Any:
    a, _ = _pair(tf)
    tf.get_default_graph().prevent_feeding(a)
    return [Step(a * 2.0, {a: [1.0, 1.0]}), Step(a * 2.0)]


@case
def forbidden_after_the_first_call(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x + 1.0

    def forbid_feeding(session: Any) -> Any:
        tf.get_default_graph().prevent_feeding(x)

    def forbid_fetching(session: Any) -> Any:
        tf.get_default_graph().prevent_fetching(y.op)

    step = Step(y, {x: [1.0, 2.0]})
    return [step, forbid_fetching, step, forbid_feeding, Step(y * 2.0, {x: [1.0, 2.0]})]


# --------------------------------------------------------------------------------------------------- variables


def _variables(tf: Any) -> tuple[Any, Any, Any]:
    ref = tf.Variable([1.0, 2.0], use_resource=False, name="ref")
    resource = tf.Variable([3.0, 4.0], use_resource=True, name="resource")
    return ref, resource, Step(tf.global_variables_initializer(), times=1)


@case
def variables(tf: Any) -> Any:
    ref, resource, init = _variables(tf)
    return [
        init,
        Step(ref),
        Step(resource),
        Step([ref, resource, ref.value(), resource.value(), ref.initial_value]),
        Step({"r": ref, "i": ref.initializer}),
        Step("ref:0"),
        Step(resource.handle.op),
    ]


@case
def variables_assigned_between_calls(tf: Any) -> Any:
    ref, resource, init = _variables(tf)
    new = tf.placeholder(tf.float32, [2])
    return [
        init,
        Step([ref, resource]),
        Step(ref.assign_add([1.0, 1.0])),
        Step(resource.assign_add([1.0, 1.0])),
        Step([ref, resource]),
        Step([ref.assign(new).op, resource.assign(new).op], {new: np.array([9.0, 8.0], np.float32)}),
        Step([ref, resource]),
    ]


@case
def variables_fed(tf: Any) -> Any:
    ref, resource, init = _variables(tf)
    return [
        init,
        Step(ref * 2.0, {ref: [5.0, 6.0]}),
        Step(resource * 2.0, {resource: [5.0, 6.0]}),
        Step(ref, {ref: [5.0, 6.0]}),
        Step([ref, ref * 1.0], {"ref:0": [5.0, 6.0]}),
        Step([ref, resource]),
    ]


@case
def uninitialised_variables(tf: Any) -> Any:
    ref, resource, _ = _variables(tf)
    return [Step(ref), Step(resource), Step(ref * 2.0), Step(resource + 1.0), Step(ref.assign_add([1.0, 1.0]))]


@case
def optimizer_steps(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 2])
    ref, resource, _ = _variables(tf)
    loss = tf.reduce_mean(tf.square(x * ref - resource))
    train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_or_create_global_step())
    return [
        Step(tf.global_variables_initializer(), times=1),
        Step([train, loss], {x: [[1, 2], [3, 4]]}, times=6),
        Step([ref, resource, tf.train.get_global_step()]),
    ]


# ---------------------------------------------------------------------------------------------- composite tensors


@case
def sparse_tensors(tf: Any) -> Any:
    constant = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
    fed = tf.sparse_placeholder(tf.float32)
    shaped = tf.sparse_placeholder(tf.float32, [2, 2])
    value = tf.SparseTensorValue(np.array([[0, 0], [1, 1]]), np.array([1.0, 2.0], np.float32), np.array([2, 2]))
    dense = tf.sparse_tensor_to_dense(fed)
    return [
        Step(constant),
        Step([constant, constant.values]),
        Step(dense, {fed: value}),
        Step(fed, {fed: value}),
        Step({"s": fed, "d": dense}, {fed: ([[0, 0]], [1.0], [1, 1])}),
        Step(tf.sparse_tensor_to_dense(shaped), {shaped: value}),
        Step(dense, {fed: 1}),
        Step(dense, {fed: ([[0, 0]], [1.0])}),
        Step(fed.values),
    ]


@case
def indexed_slices(tf: Any) -> Any:
    params = tf.constant([[1.0], [2.0], [3.0]])
    gradient = tf.gradients(tf.gather(params, [0, 2]), params)[0]
    bare = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    place = tf.IndexedSlices(
        tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [1])
    )
    from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

    fed = IndexedSlicesValue(np.array([1.0], np.float32), np.array([0], np.int32), np.array([3], np.int32))
    total = tf.reduce_sum(place.values) + tf.cast(place.dense_shape[0], tf.float32)
    return [Step(gradient), Step([bare, bare]), Step(total, {place: fed}), Step(place, {place: fed})]


@case
def ragged_tensors(tf: Any) -> Any:
    constant = tf.ragged.constant([[1, 2], [], [3]])
    fed = tf.ragged.placeholder(tf.float32, 1)
    value = tf.ragged.constant_value([[1.0], [2.0, 3.0]], dtype=np.float32)
    return [
        Step(constant),
        Step({"k": [constant]}),
        Step(fed.to_tensor(), {fed: value}),
        Step(fed, {fed: value}),
        Step(fed.to_tensor(), {fed: [1.0]}),
    ]


# --------------------------------------------------------------------------------------------------------- feeds


@case
def feed_keys(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    total = x + y
    return [
        Step(total, {x: [1.0], y: [2.0]}),
        Step(total, {y: [2.0], x: [1.0]}),
        Step(total, {"x:0": [1.0], y: [2.0]}),
        Step(total, {"y:0": [1.0], "x:0": [3.0]}),
        Step(total, {(x, y): ([1.0], [4.0])}),
        Step(total, {(x, (y,)): ([1.0], ([4.0],))}),
        Step(total, {"x": [1.0], y: [2.0]}),
        Step(total, {"nope:0": [1.0]}),
        Step(total, {x.op: [1.0], y: [2.0]}),
        Step(total, {1: 2}),
        Step(total, {None: 2}),
        Step(total, {(x, y): ([1.0],)}),
        Step(total, {x: [1.0], "x:0": [5.0], y: [2.0]}),
        Step(x + 1.0, {}),
        Step(total, {x: [1.0]}),
    ]


@run_only
def feeds_that_are_no_dict(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None], name="x")
    return [
        Step(x + 1.0, [(x, [1.0])]),
        Step(x + 1.0, collections.OrderedDict([(x, [1.0])])),
        Step(x + 1.0, collections.ChainMap({x: [1.0]})),
        Step(x + 1.0, "x:0"),
        Step(tf.constant(1.0), []),
        Step(tf.constant(1.0), 0),
    ]


@case
def extra_feeds(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None], name="x")
    unused = tf.placeholder(tf.float32, [None], name="unused")
    return [Step(x + 1.0, {x: [1.0], unused: [1.0]}), Step(tf.no_op(), {unused: [1.0]})]


@case
def fed_and_fetched(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None], name="x")
    y = x * 2.0
    array = np.array([1.0, 2.0], np.float32)
    return [
        Step(x, {x: array}),
        Step([x, y], {x: array}),
        Step({"in": x, 3: y, None: x}, {x: array}),
        Step(_Two(x, y), {x: [1, 2]}),
        Step([y, y + 1.0], {y: array}),
        Step([x.op, y], {y: array}),
        Step(collections.OrderedDict([("z", x), ("a", y)]), {x: array}),
        Step((x,), {x: 1.0}),
        Step("x:0", {x: array}),
    ]


@case
def intermediate_fed(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    hidden = x + 1.0
    out = hidden * 2.0
    constant = tf.constant([1.0, 2.0])
    return [
        Step(out, {hidden: [1.0, 1.0]}),
        Step(out, {hidden: [1.0, 1.0], x: [0.0, 0.0]}),
        Step(constant * 2.0, {constant: [7.0, 7.0]}),
        Step(constant * 3.0, {constant: [7.0, 7.0, 7.0]}),
    ]


@case
def placeholder_with_default(tf: Any) -> Any:
    x = tf.placeholder_with_default(tf.constant([1.0, 2.0]), [None])
    return [Step(x * 2.0), Step(x * 2.0, {x: [5.0]}), Step(x), Step(x, {x: [3.0]}), Step(x * 2.0, {x: [[5.0]]})]


@case
def values_for_floats(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, name="x")
    y = x + 1.0
    return [
        Step(y, {x: value})
        for value in (
            1,
            1.5,
            True,
            [1, 2],
            (1.0, 2),
            [[1], [2]],
            [],
            [[]],
            np.float64(1.5),
            np.int32(3),
            np.bool_(True),
            np.float16(2),
            np.array(2.5),
            np.array([1, 2], np.int64),
            np.array([1.5, 2.5]),
            np.arange(6, dtype=">f4"),
            np.arange(12, dtype=np.float32)[::2],
            np.arange(12, dtype=np.float32)[::-1],
            np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
            np.broadcast_to(np.float32(2), (2, 3)),
            np.zeros((0, 3), np.float32),
            np.matrix([[1.0, 2.0]], dtype=np.float32),
            np.ma.masked_array(np.array([1.0, 2.0], np.float32), mask=[True, False]),
            np.array([1, 2.5], object),
            np.array(["1.5", "2"]),
            np.array([b"1.5"]),
            "1.5",
            b"2.5",
            ["1", "x"],
            "x",
            None,
            [None, 1.0],
            [[1.0], [2.0, 3.0]],
            {"a": 1},
            {1, 2},
            range(3),
            1 + 2j,
            np.complex64(1 + 0j),
            float("nan"),
            float("inf"),
            1e300,
            10**10,
            16777217,
            2**70,
            10**400,
            -(2**63),
            object(),
            memoryview(b"abcd"),
            bytearray(b"ab"),
            slice(1),
            np.datetime64("2020-01-01"),
            iter([1.0]),
        )
    ]


@case
def readonly_and_unaligned_values(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, name="x")
    readonly = np.arange(3, dtype=np.float32)
    readonly.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + np.arange(4, dtype=np.float32).tobytes(), np.uint8)[1:].view(np.float32)
    record = np.zeros(3, [("a", "i1"), ("b", "<f4")])["b"]
    return [Step(x + 1.0, {x: value}) for value in (readonly, unaligned, record)]


@case
def values_for_integers(tf: Any) -> Any:
    steps = []
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        x = tf.placeholder(dtype, name=dtype)
        y = tf.identity(x)
        limits = np.iinfo(dtype)
        for value in (
            0,
            int(limits.max),
            int(limits.max) + 1,
            int(limits.min),
            int(limits.min) - 1,
            2**64,
            -1,
            True,
            1.0,
            1.9,
            [1.9, 2],
            [int(limits.max) + 1],
            np.float32(2.0),
            np.float64(-1.5),
            np.int64(-1),
            np.uint64(2**63),
            np.array([1, 2]),
            np.array([1.5]),
            np.array([1, 2], ">i8"),
            np.array([1, 2], np.dtype(dtype).newbyteorder()),
            "3",
            float("nan"),
        ):
            steps.append(Step(y, {x: value}, times=2))
    return steps


@case
def values_for_booleans(tf: Any) -> Any:
    x = tf.placeholder(tf.bool, name="x")
    y = tf.logical_not(x)
    return [
        Step(y, {x: value})
        for value in (True, False, 0, 1, 2, 0.0, 1.5, [True, 0], "", "a", None, np.bool_(False), np.array([0, 2]))
    ]


@case
def values_for_strings(tf: Any) -> Any:
    x = tf.placeholder(tf.string, name="x")
    y = tf.strings.join([x, "!"])
    return [
        Step(fetch, {x: value}, times=2)
        for fetch in (y, tf.identity(x))
        for value in (
            "a",
            b"\xff\0b",
            "\u00fc\0",
            ["a", b"b"],
            [["a"], ["b"]],
            np.array(["a", "bc"]),
            np.array([b"a", b"bc\0"]),
            np.array(["a", b"b"], object),
            np.str_("s"),
            np.bytes_(b"s"),
            [],
            np.zeros((0, 2), object),
            1,
            True,
            1.5,
            None,
            [1, 2],
            [None],
            np.array([1, 2]),
            np.array([["a", 1]], object),
            [["a"], ["b", "c"]],
            np.array(["abc", "d"], ">U3"),
            bytearray(b"x"),
        )
    ]


@case
def values_for_other_dtypes(tf: Any) -> Any:
    steps = []
    for dtype in (tf.half, tf.bfloat16, tf.double, tf.complex64, tf.complex128, tf.qint8, tf.quint8, tf.qint32):
        x = tf.placeholder(dtype, name="x")
        y = tf.identity(x)
        kind = dtype.as_numpy_dtype
        for value in (
            1,
            1.5,
            True,
            2049,
            70000,
            2**53 + 1,
            2**1024,
            [1, 2],
            [1.5],
            np.array([1.5, 2.5]),
            1 + 2j,
            np.arange(3).astype(kind),
            np.arange(6).astype(kind).reshape(2, 3).T,
            np.arange(6).astype(kind)[::2],
        ):
            steps.append(Step(y, {x: value}, times=2))
    return steps


@case
def tensors_as_values(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, name="x")
    other = tf.constant(1.0, name="other")
    variable = tf.Variable(1.0, name="v")
    return [Step(x + 1.0, {x: other}), Step(x + 1.0, {x: [other]}), Step(x + 1.0, {x: variable}), Step(x, {x: [x]})]


@case
def wrong_shapes(tf: Any) -> Any:
    steps = []
    for shape in ([], [2], [None], [None, 4], [2, None, 3]):
        x = tf.placeholder(tf.float32, shape, name="x")
        y = x + 1.0
        for value in (
            1.0,
            [1.0],
            [1.0, 2.0],
            [[1.0] * 4],
            [[1.0] * 5],
            np.zeros((0, 4), np.float32),
            np.zeros((2, 0, 3), np.float32),
            np.zeros((2, 1, 3), np.float64),
        ):
            steps.append(Step(y, {x: value}, times=2))
    return steps


@run_only
def shape_narrowed_between_calls(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, None, name="x")
    y = x + 1.0

    def narrow(shape: Any) -> Callable[[Any], Any]:
        return lambda session: x.set_shape(shape)

    def feed(value: Any) -> Step:
        return Step(y, {x: np.zeros(value, np.float32)})

    return [feed([3]), feed([2, 2]), narrow([None, 2]), feed([3]), feed([2, 2]), narrow([3, None]), feed([2, 2])]


@case
def unfed_placeholder(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.placeholder(tf.float32, [2], name="y")
    return [Step(x), Step(x + y, {x: [1.0, 2.0]}), Step(x + 1.0), Step((x + y).op, {y: [1.0, 2.0]})]


@case
def unfed_placeholder_of_unknown_shape(tf: Any) -> Any:
    return Step(tf.placeholder(tf.string, name="x"))


# ------------------------------------------------------------------------------------------- handles, partial runs


@run_only
def tensor_handles(tf: Any) -> Any:
    a = tf.constant([1.0, 2.0])
    handle = tf.get_session_handle(a * 3.0)
    holder, value = tf.get_session_tensor(_handle_text(tf), tf.float32)

    def use(session: Any) -> Any:
        kept = session.run(handle)
        return session.run(value + 1.0, {holder: kept.handle}), session.run([value, a], {holder: kept.handle}), kept

    def feed_directly(session: Any) -> Any:
        x = tf.placeholder(tf.float32, [2])
        return session.run([x * 2.0, x], {x: session.run(handle)})

    def drop(session: Any) -> Any:
        kept = session.run([handle, a])[0]
        first = session.run(value, {holder: kept.handle})
        kept.delete()
        return first

    return [use, feed_directly, drop]


def _handle_text(tf: Any) -> Any:
    """A handle to build the reading operations with; its device is what get_session_tensor reads from it."""
    with tf.Session() as session:
        return session.run(tf.get_session_handle(tf.constant(1.0))).handle


@run_only
def partial_runs(tf: Any) -> Any:
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    first = a + b
    second = first * c

    def run(session: Any) -> Any:
        handle = session.partial_run_setup([first, second], [a, b, c])
        result = session.partial_run(handle, first, {a: 1, b: 2})
        return result, session.partial_run(handle, second, {c: result}), session.run(second, {a: 1, b: 2, c: 3})

    def too_many(session: Any) -> Any:
        handle = session.partial_run_setup([first, second], [a, b, c])
        session.partial_run(handle, first, {a: 1, b: 2})
        return session.partial_run(handle, first, {a: 1, b: 2})

    return [run, too_many]


# ---------------------------------------------------------------------------------------------- options and metadata


@run_only
def options_and_metadata(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x * 2.0

    def traced(session: Any) -> Any:
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        result = session.run(y, {x: [1.0, 2.0]}, options, metadata)
        nodes = {stats.node_name for device in metadata.step_stats.dev_stats for stats in device.node_stats}
        return result, "mul" in nodes

    def empty(session: Any) -> Any:
        metadata = tf.RunMetadata()
        result = session.run(y, {x: [1.0, 2.0]}, tf.RunOptions(), metadata)
        return result, metadata.SerializeToString()

    def used_before(session: Any) -> Any:
        metadata = tf.RunMetadata()
        metadata.step_stats.dev_stats.add().device = "old"
        with contextlib.suppress(ValueError):
            session.run(y, {x: [1.0]}, run_metadata=metadata)
        kept = metadata.SerializeToString()
        session.run(y, {x: [1.0, 2.0]}, run_metadata=metadata)
        return kept, metadata.SerializeToString()

    def partitions(session: Any) -> Any:
        metadata = tf.RunMetadata()
        session.run(y, {x: [1.0, 2.0]}, tf.RunOptions(output_partition_graphs=True), metadata)
        return len(metadata.partition_graphs) > 0

    def timeout(session: Any) -> Any:
        queue = tf.FIFOQueue(1, tf.float32, name="q")
        return session.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=50))

    def positional(session: Any) -> Any:
        return session.run(y, {x: [1.0, 2.0]}, None, None)

    def wrong(options: Any, metadata: Any) -> Callable[[Any], Any]:
        return lambda session: session.run(y, {x: [1.0, 2.0]}, options, metadata)

    return [
        traced,
        empty,
        used_before,
        partitions,
        timeout,
        positional,
        wrong("text", None),
        wrong(None, "text"),
        wrong({}, {}),
        wrong(0, None),
        wrong(tf.RunMetadata(), None),
    ]


# ---------------------------------------------------------------------------------------------------- the session


@run_only
def empty_graph(tf: Any) -> Any:
    return [Step("a:0"), Step([]), Step(None), Step([], {"x": 1})]


@run_only
def closed_session(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x + 1.0

    def close(session: Any) -> Any:
        return session.close()

    return [
        Step(y, {x: [1.0, 2.0]}),
        close,
        Step(y, {x: [1.0, 2.0]}),
        Step(y, {x: [1.0]}),
        Step(None),
        lambda session: session.partial_run_setup([y], [x]),
    ]


@run_only
def graph_that_grows(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x + 1.0
    step = Step(y, {x: [1.0, 2.0]})
    grown: list[Any] = []

    def grow(session: Any) -> Any:
        grown.append(tf.multiply(y, float(len(grown) + 2), name=f"grown{len(grown)}"))
        return session.run([y, grown[-1], f"grown{len(grown) - 1}:0"], {x: [1.0, 2.0]})

    return [step, grow, step, grow, step]


@run_only
def default_session(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x + 1.0
    variable = tf.Variable([1.0, 2.0])
    init = tf.global_variables_initializer()

    def run(session: Any) -> Any:
        with session.as_default():
            init.run()
            return (
                y.eval({x: [1.0, 2.0]}),
                variable.eval(),
                (y * 2.0).eval(feed_dict={x: [0.0, 0.0]}),
                y.op.run({x: [1, 2]}),
            )

    return run


@run_only
def public_make_callable(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x + 1.0
    constant = tf.constant([1.0])

    def run(session: Any) -> Any:
        return (
            session.make_callable(y, [x])([1.0, 2.0]),
            session.make_callable(constant)(),
            session.make_callable([constant, constant.op])(),
            session.make_callable(constant.op)(),
        )

    made: list[Any] = []

    def keep(session: Any) -> Any:
        made[:] = [session.make_callable([constant]), session.make_callable(y, [x])]
        return made[0]()

    def after_close(session: Any) -> Any:
        session.close()
        return made[1]([1.0, 2.0])

    def wrong(session: Any) -> Any:
        return session.make_callable("nope:0")

    def wrong_feeds(session: Any) -> Any:
        return session.make_callable(y, x)

    def with_options(session: Any) -> Any:
        metadata = tf.RunMetadata()
        call = session.make_callable(constant, accept_options=True)
        result = call(options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        return result, len(metadata.step_stats.dev_stats) > 0

    return [run, Step(constant), run, wrong, wrong_feeds, with_options, keep, after_close]


@run_only
def errors_inside_a_python_function(tf: Any) -> Any:
    """A Python function that runs the session, and fails in it."""
    x = tf.placeholder(tf.int32, [], name="x")
    inner = tf.floordiv(10, x, name="inner")

    def run(session: Any) -> Any:
        outer = tf.py_func(lambda value: session.run(inner, {x: value}), [x], tf.int32, name="outer")
        good = session.run(outer, {x: 5})
        try:
            session.run(outer, {x: 0})
        except tf.errors.OpError as error:
            return good, type(error).__name__, error.op is outer.op
        return "no error"

    return run


@run_only
def monitored_sessions(tf: Any) -> Any:
    """These make sessions of TensorFlow's own class, and pass an empty RunOptions and RunMetadata in each step."""
    x = tf.placeholder(tf.float32, [2], name="x")
    variable = tf.Variable([1.0, 2.0])
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(x * variable)
    before = [tf.identity(loss), tf.identity(step), tf.identity(variable)]
    with tf.control_dependencies(before):  # else each run would read either before or after the step
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)

    class Seen(tf.train.SessionRunHook):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.values: list[Any] = []

        def before_run(self, context: Any) -> Any:
            return tf.train.SessionRunArgs({"loss": before[0], "both": before[1:]})

        def after_run(self, context: Any, values: Any) -> None:
            self.values.append(values.results)

    def run(session: Any) -> Any:
        seen = Seen()
        hooks = [seen, tf.train.StopAtStepHook(3), tf.train.NanTensorHook(before[0])]
        with tf.train.MonitoredTrainingSession(hooks=hooks) as monitored:
            results = []
            while not monitored.should_stop():
                results.append(monitored.run([train, before[0]], {x: [1.0, 2.0]}))
        return results, seen.values

    return run


@run_only
def supervisor(tf: Any) -> Any:
    variable = tf.Variable([1.0, 2.0])
    add = variable.assign_add([1.0, 1.0])
    init = tf.global_variables_initializer()

    def run(session: Any) -> Any:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(session.graph.as_graph_def(), name="")
            managed = tf.train.Supervisor(graph=graph, logdir=None, init_op=graph.get_operation_by_name(init.name))
            with managed.managed_session() as own:
                name = "Variable:0"
                return own.run([add.name, name]), own.run(name), managed.should_stop()

    return run


@run_only
def subclass_overrides_are_seen(tf: Any) -> Any:
    """tf_debug and others wrap a session; what they call on it must be there."""
    y = tf.constant(1.0)
    return lambda session: (session.run(fetches=y, feed_dict=None), session.graph is y.graph, session.sess_str)


# ------------------------------------------------------------------------------------------------- runtime errors


def _counted(tf: Any, failing: Any) -> Any:
    """``failing`` after a counter, and the steps that show how often it ran."""
    count = tf.Variable(0, use_resource=False, name="count", trainable=False)
    with tf.control_dependencies([count.assign_add(1)]):
        guard = tf.constant(0)
    with tf.control_dependencies([guard]):
        fetch = failing()
    return count, fetch


def _fails(tf: Any, failing: Callable[[], Any], feeds: Any = None, good: Any = None) -> list[Step]:
    count, fetch = _counted(tf, failing)
    steps = [Step(tf.variables_initializer([count]), times=1)]
    if good is not None:
        steps.append(Step(fetch, good))
    steps += [Step(fetch, feeds), Step(count)]
    if good is not None:
        steps += [Step(fetch, good), Step(count)]
    return steps


@case
def matmul_of_wrong_shapes(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, None], name="x")
    good = {x: np.ones((2, 2), np.float32)}
    return _fails(tf, lambda: tf.matmul(x, tf.ones([2, 2]), name="product"), {x: np.ones((2, 3))}, good)


@case
def assert_fails(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")

    def build() -> Any:
        with tf.control_dependencies([tf.Assert(x > 0.0, [x, "is not above 0"], name="check")]):
            return tf.identity(x)

    return _fails(tf, build, {x: -1.0}, {x: 1.0})


@case
def division_by_zero(tf: Any) -> Any:
    x = tf.placeholder(tf.int32, [], name="x")
    return _fails(tf, lambda: tf.floordiv(5, x, name="quotient"), {x: 0}, {x: 2})


@case
def index_out_of_range(tf: Any) -> Any:
    x = tf.placeholder(tf.int32, [], name="x")
    return _fails(tf, lambda: tf.gather([1.0, 2.0], x, name="picked"), {x: 7}, {x: 1})


@case
def numerics_checked(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    return _fails(tf, lambda: tf.check_numerics(x, "the loss", name="checked"), {x: float("nan")}, {x: 1.0})


@case
def reshape_impossible(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None], name="x")
    return _fails(tf, lambda: tf.reshape(x, [2, 2]), {x: [1.0] * 3}, {x: [1.0] * 4})


@case
def shapes_that_do_not_broadcast(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, None, name="x")
    return _fails(tf, lambda: x + tf.ones([3]), {x: [1.0, 2.0]}, {x: [1.0]})


@case
def wrong_labels(tf: Any) -> Any:
    x = tf.placeholder(tf.int32, [None], name="x")
    logits = tf.constant([[1.0, 2.0], [0.0, 1.0]])
    return _fails(
        tf,
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=x, logits=logits),
        {x: [0, 1, 2]},
        {x: [0, 1]},
    )


@case
def text_that_is_no_number(tf: Any) -> Any:
    x = tf.placeholder(tf.string, [None], name="x")
    return _fails(tf, lambda: tf.string_to_number(x), {x: ["a"]}, {x: ["1.5"]})


@case
def image_that_is_none(tf: Any) -> Any:
    x = tf.placeholder(tf.string, [], name="x")
    return _fails(tf, lambda: tf.image.decode_png(x), {x: b"not an image"})


@case
def file_that_does_not_exist(tf: Any) -> Any:
    return _fails(tf, lambda: tf.read_file("/nonexistent/file"))


@case
def operation_without_kernel(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/device:GPU:7"):
        y = x + 1.0
    return [Step(y, {x: [1.0, 2.0]}), Step(x * 2.0, {x: [1.0, 2.0]})]


@case
def python_function(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    calls: list[int] = []

    def double(value: Any) -> Any:
        calls.append(1)
        return (value * 2).astype(np.float32)

    return [Step(tf.py_func(double, [x], tf.float32), {x: [1.0, 2.0]}), lambda session: len(calls)]


@case
def python_function_raises(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    calls: list[int] = []

    def refuse(value: Any) -> Any:
        calls.append(1)
        raise KeyError("no such thing")

    def stop(value: Any) -> Any:
        calls.append(1)
        raise StopIteration

    return [
        Step(tf.py_func(refuse, [x], tf.float32, name="refuse"), {x: [1.0, 2.0]}),
        lambda session: len(calls),
        Step(tf.py_func(stop, [x], tf.float32, name="stop"), {x: [1.0, 2.0]}),
        lambda session: len(calls),
    ]


@case
def queues(tf: Any) -> Any:
    queue = tf.FIFOQueue(20, tf.float32, [[]], name="queue")
    x = tf.placeholder(tf.float32, [], name="x")
    many = tf.placeholder(tf.float32, [None], name="many")
    item = queue.dequeue()
    return [
        Step(queue.enqueue(x), {x: 1.5}),
        Step(queue.enqueue_many([many]), {many: [2.0, 3.0]}),
        Step(queue.size()),
        Step(item),
        Step(queue.dequeue_many(2)),
        Step(queue.close(), times=1),
        Step(item),
        Step(queue.dequeue_up_to(2)),
        Step(queue.enqueue(x), {x: 1.5}),
        Step(queue.size()),
    ]


@case
def a_dequeue_that_fails_takes_one_item(tf: Any) -> Any:
    queue = tf.FIFOQueue(20, tf.int32, [[]], name="queue")
    item = tf.floordiv(10, queue.dequeue())
    return [
        Step(queue.enqueue_many([tf.constant([0, 0, 0, 0, 0, 2])]), times=1),
        Step(item),
        Step(queue.size()),
        Step(item),
    ]


# --------------------------------------------------------------------------------------------- state and randomness


@case
def random_numbers(tf: Any) -> Any:
    seeded = tf.random_uniform([2], seed=3)
    graph_seeded = tf.random_normal([2])
    x = tf.placeholder(tf.float32, [4], name="x")
    return [
        Step(seeded),
        Step([seeded, graph_seeded]),
        Step(graph_seeded),
        Step(tf.nn.dropout(x, 0.5, seed=1), {x: [1.0] * 4}),
        Step(tf.random_shuffle(x, seed=5), {x: [1.0, 2.0, 3.0, 4.0]}),
        Step(tf.multinomial([[1.0, 2.0]], 3, seed=1)),
        Step(tf.truncated_normal([2], seed=1)),
        Step(seeded),
    ]


@case
def strings(tf: Any) -> Any:
    x = tf.constant([b"a", b"\xff\0", b""])
    return [
        Step(x),
        Step(x[0]),
        Step([tf.as_string(tf.constant([1, 2])), x]),
        Step(tf.string_split(["a b"])),
        Step(tf.zeros([0], tf.string)),
    ]


@case
def dtypes_of_results(tf: Any) -> Any:
    return [
        Step([tf.cast(tf.constant([0, 1, 2]), dtype), tf.cast(tf.constant(3), dtype)])
        for dtype in (
            tf.float16,
            tf.bfloat16,
            tf.float32,
            tf.float64,
            tf.complex64,
            tf.complex128,
            tf.int8,
            tf.uint8,
            tf.int16,
            tf.uint16,
            tf.int32,
            tf.int64,
            tf.uint32,
            tf.uint64,
            tf.bool,
        )
    ]


@case
def shapes_of_results(tf: Any) -> Any:
    return [Step([tf.zeros(shape), tf.ones(shape, tf.int64)]) for shape in ([], [0], [1], [2, 0, 3], [1, 1, 1], [3, 2])]


@case
def resources_and_variants(tf: Any) -> Any:
    variable = tf.Variable(1.0, use_resource=True, name="v")
    return [
        Step(tf.global_variables_initializer(), times=1),
        Step(variable.handle.op),
        Step([variable.handle.op, variable]),
        Step(tf.raw_ops.EmptyTensorList(element_shape=tf.constant(-1), max_num_elements=3, element_dtype=tf.float32)),
    ]


@run_only
def resource_handles_fetched_and_fed(tf: Any) -> Any:
    variable = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    init = tf.global_variables_initializer()
    place = tf.placeholder(tf.resource, [], name="place")
    value = tf.raw_ops.ReadVariableOp(resource=place, dtype=tf.float32)

    def run(session: Any) -> Any:
        session.run(init)
        handle = session.run(variable.handle)
        again = session.run([variable.handle, variable])[1]
        return type(handle).__name__, again, session.run(value, {place: handle})

    return [run, Step(value, {place: 1}), Step(value, {place: "text"}), Step(value, {place: None})]


@case
def loops_and_branches(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    total = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + x), [0, 0.0])
    branch = tf.cond(x > 0.0, lambda: x * 2.0, lambda: x - 1.0)
    gradient = tf.gradients(total[1], x)[0]
    chosen = tf.case([(x > 5.0, lambda: tf.constant(1))], default=lambda: tf.constant(2))
    scanned = tf.scan(lambda a, b: a + b, tf.range(5))
    array = tf.TensorArray(tf.float32, 2).write(0, x).write(1, x).stack()
    return [Step([total, branch, gradient, chosen, scanned, array], {x: value}) for value in (1.5, -2.0, [1.0], 7)]


@case
def a_branch_that_fails(tf: Any) -> Any:
    x = tf.placeholder(tf.int32, [], name="x")
    return Step(tf.cond(x > 0, lambda: x, lambda: tf.floordiv(1, x)), {x: 0})


@case
def defined_functions(tf: Any) -> Any:
    import tensorflow

    @tensorflow.function
    def double(value: Any) -> Any:
        return tf.floordiv(value * 4, 2 + 0 * value)

    @tensorflow.function
    def divide(value: Any) -> Any:
        return tf.floordiv(10, value)

    x = tf.placeholder(tf.int32, [], name="x")
    return [Step(double(x), {x: 3}), Step(divide(x), {x: 5}), Step(divide(x), {x: 0})]


@case
def tables(tf: Any) -> Any:
    keys = tf.constant(["a", "b"])
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.constant([1, 2])), -1)
    x = tf.placeholder(tf.string, [None], name="x")
    found = table.lookup(x)
    return [
        Step(found, {x: ["a"]}),
        Step(tf.tables_initializer(), times=2),
        Step(found, {x: ["b", "z"]}),
        Step(table.size()),
    ]


@case
def iterators(tf: Any) -> Any:
    dataset = tf.data.Dataset.range(7).map(lambda i: i * 2)
    iterator = tf.data.make_initializable_iterator(dataset)
    item = iterator.get_next()
    return [
        Step(item),
        Step(iterator.initializer, times=1),
        Step(item, times=9),
        Step(iterator.initializer, times=1),
        Step([item, item + 1]),
    ]


@case
def one_shot_iterator_in_an_error(tf: Any) -> Any:
    dataset = tf.data.Dataset.from_tensor_slices([1, 0, 2]).map(lambda i: tf.floordiv(2, i))
    item = tf.data.make_one_shot_iterator(dataset).get_next()
    return Step(item, times=5)


@case
def summaries(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    tf.summary.scalar("loss", x)
    tf.summary.histogram("h", tf.stack([x, x + 1.0]))
    return Step(tf.summary.merge_all(), {x: 1.5})


@run_only
def saver(tf: Any) -> Any:
    ref, resource, init = _variables(tf)
    saved = tf.train.Saver()
    change = [ref.assign_add([1.0, 1.0]), resource.assign_add([1.0, 1.0])]

    def round_trip(session: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = saved.save(session, f"{folder}/model", global_step=3)
            session.run([item.op for item in change])
            changed = session.run([ref, resource])
            saved.restore(session, path)
            return changed, session.run([ref, resource])

    def missing(session: Any) -> Any:
        saved.restore(session, "/nonexistent/model")

    return [init, round_trip, missing]


@case
def feeds_beside_targets_and_duplicates(tf: Any) -> Any:
    ref, _, init = _variables(tf)
    x = tf.placeholder(tf.float32, [2], name="x")
    add = ref.assign_add(x)
    return [init, Step([add.op, add.op, x + 1.0], {x: [1.0, 1.0]}), Step(add.op, {x: [1.0, 1.0]}), Step(ref)]
