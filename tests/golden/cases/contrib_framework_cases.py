"""Cases of ``tf.contrib.framework``: name -> function of (tf, contrib); see contrib_record.py.

Runs on Python 3.7 too.
"""

import os
import tempfile

CASES = {}


def case(name, call):
    """``call`` makes variables and returns a tensor, or something whose text is compared."""

    def build(tf, contrib):
        made = call(tf, contrib.framework)
        if not isinstance(made, tf.Tensor) and not hasattr(made, "assign_add"):
            made = tf.constant(_text(made))
        return {"outputs": {"made": tf.convert_to_tensor(made)}}

    assert name not in CASES
    CASES[name] = build


def _text(made):
    if isinstance(made, (list, tuple)):
        return repr([_text(item) for item in made])
    return made.op.name if hasattr(made, "op") else str(made)


def variables(call):
    def build(tf, F):
        with tf.variable_scope("A"):
            with F.arg_scope([F.variable], collections=None):
                F.model_variable("a", [5], initializer=tf.ones_initializer())
                F.variable("b", [2], trainable=False)
        with tf.variable_scope("B"):
            F.model_variable("a", [3], collections=["c", "d"], regularizer=lambda v: tf.reduce_sum(v, name="r"))
            F.variable("ab", [], collections=["e"])
        F.local_variable(1.0, name="local")
        F.global_variable(2.0, name="global")
        return call(tf, F)

    return build


for _name, _call in {
    "all": lambda tf, F: F.get_variables(),
    "scope": lambda tf, F: F.get_variables("A"),
    "suffix": lambda tf, F: F.get_variables(suffix="a"),
    "scope and suffix": lambda tf, F: F.get_variables("B", suffix="a"),
    "collection": lambda tf, F: F.get_variables(collection="c"),
    "by name": lambda tf, F: F.get_variables_by_name("a"),
    "by name and scope": lambda tf, F: F.get_variables_by_name("a", "A"),
    "by suffix": lambda tf, F: F.get_variables_by_suffix("b"),
    "model": lambda tf, F: F.get_model_variables(),
    "local": lambda tf, F: F.get_local_variables(),
    "trainable": lambda tf, F: F.get_trainable_variables(),
    "trainable scope": lambda tf, F: F.get_trainable_variables("B"),
    "unique": lambda tf, F: F.get_unique_variable("A/a"),
    "wrong unique": lambda tf, F: F.get_unique_variable("a"),
    "full name": lambda tf, F: F.get_variable_full_name(F.get_unique_variable("A/a")),
    "restore": lambda tf, F: F.get_variables_to_restore(),
    "restore some": lambda tf, F: F.get_variables_to_restore(["A"], ["A/b"]),
    "restore not": lambda tf, F: F.get_variables_to_restore(exclude=["B"]),
    "wrong restore": lambda tf, F: F.get_variables_to_restore("A"),
    "filter": lambda tf, F: F.filter_variables(F.get_variables(), ["a"], ["B"]),
    "filter match": lambda tf, F: F.filter_variables(F.get_variables(), ["a"], None, reg_search=False),
    "add": lambda tf, F: [F.add_model_variable(F.get_unique_variable("A/b")), F.get_model_variables()][1],
}.items():
    case("variables " + _name, variables(_call))

case("global step", lambda tf, F: [F.get_global_step(), F.create_global_step(), F.get_or_create_global_step()])
case("wrong global step", lambda tf, F: [F.create_global_step(), F.create_global_step()])
case("assert global step", lambda tf, F: F.assert_global_step(F.create_global_step()))
case("wrong assert global step", lambda tf, F: F.assert_global_step(tf.get_variable("x", [])))
case(
    "assert or get",
    lambda tf, F: [F.assert_or_get_global_step(), F.create_global_step(), F.assert_or_get_global_step()],
)


def scoped(tf, F, inner=None, **arguments):
    @F.add_arg_scope
    def first(x, a=1, b=2, **rest):
        return [x, a, b, sorted(rest.items())]

    @F.add_arg_scope
    def second(a=None, c=3):
        return [a, c]

    return inner(F, first, second)


def _nested(F, first, second):
    with F.arg_scope([first, second], a=10):
        with F.arg_scope([first], b=20, z=0) as scope:
            found = [first(1), first(1, a=5), second(), second(c=4)]
    with F.arg_scope(scope):
        found.append(first(2))
    return found + [first(3), F.has_arg_scope(first), F.has_arg_scope(len), F.arg_scoped_arguments(second)]


def _undecorated(F, first, second):
    with F.arg_scope([len], a=1):
        return 0


def _no_list(F, first, second):
    with F.arg_scope(first, a=1):
        return 0


def _scope_and_arguments(F, first, second):
    with F.arg_scope([first], a=1) as scope:
        pass
    with F.arg_scope(scope, a=2):
        return 0


def _wrong_argument(F, first, second):
    with F.arg_scope([second], q=1):
        return second()


for _call in (_nested, _undecorated, _no_list, _scope_and_arguments, _wrong_argument):
    case("arg_scope " + _call.__name__, lambda tf, F, call=_call: scoped(tf, F, call))

X = [[1.0, 2.0, 3.0]]
case("with_shape", lambda tf, F: F.with_shape([1, 3], tf.constant(X)))
case("with_shape late", lambda tf, F: F.with_shape([1, 3], tf.placeholder_with_default(X, None)))
case("with_shape tensor", lambda tf, F: F.with_shape(tf.placeholder_with_default([1, 3], [2]), tf.constant(X)))
case("wrong with_shape", lambda tf, F: F.with_shape([3, 1], tf.constant(X)))
case("with_same_shape", lambda tf, F: F.with_same_shape(tf.constant(X), tf.placeholder_with_default(X, [None, 3])))
for _first, _second in (([2, 1], [2]), ([2], [2, 1]), ([2], [2]), ([2, 2], [2])):
    case(
        "squeezable %s %s" % (_first, _second),
        lambda tf, F, a=_first, b=_second: [
            t.shape.as_list() for t in F.remove_squeezable_dimensions(tf.zeros(a), tf.zeros(b))
        ],
    )
case(
    "squeezable late",
    lambda tf, F: tf.concat(
        [
            tf.shape(t)
            for t in F.remove_squeezable_dimensions(tf.placeholder_with_default([[1.0]], None), tf.zeros([1]))
        ],
        0,
    ),
)
case("reduce_sum_n", lambda tf, F: F.reduce_sum_n([tf.constant(X), tf.constant(1.0)]))
case("wrong reduce_sum_n", lambda tf, F: F.reduce_sum_n([]))
case("is_tensor", lambda tf, F: [F.is_tensor(x) for x in (tf.constant(1), 1, tf.get_variable("x", []))])
case("scalar_int", lambda tf, F: F.assert_scalar_int(tf.constant(3)))
case("wrong scalar_int", lambda tf, F: F.assert_scalar_int(tf.constant(3.0)))
case("wrong scalar", lambda tf, F: F.assert_scalar(tf.constant(X)))
case("float types", lambda tf, F: F.assert_same_float_dtype([tf.constant(1.0)], tf.float32).name)
case("wrong float types", lambda tf, F: F.assert_same_float_dtype([tf.constant(1.0)], tf.float64))
case("sort", lambda tf, F: F.sort(tf.constant([3.0, 1.0, 2.0]), direction="DESCENDING"))
case("argsort", lambda tf, F: F.argsort(tf.constant([3.0, 1.0, 2.0])))
case(
    "nest",
    lambda tf, F: [
        F.nest.flatten({"b": 1, "a": (2, [3])}),
        F.nest.is_sequence([1]),
        F.nest.is_sequence(1),
        F.nest.map_structure(lambda x: x + 1, [1, (2, 3)]),
        F.nest.pack_sequence_as([0, (0, 0)], [1, 2, 3]),
        F.nest.flatten_up_to([0, 0], [[1], 2]),
    ],
)


def conditions(tf, F, known):
    pred = tf.constant(known) if known is not None else tf.placeholder_with_default(True, [])
    first = F.smart_cond(pred, lambda: tf.constant(1.0, name="yes"), lambda: tf.constant(2.0, name="no"))
    second = F.smart_case([(pred, lambda: tf.constant(3.0))], default=lambda: tf.constant(4.0))
    few = known is None or len(tf.get_default_graph().get_operations()) < 10
    return tf.stack([first, second, float(few)])


for _known in (True, False, None):
    case("smart %s" % _known, lambda tf, F, known=_known: conditions(tf, F, known))
case("smart constant", lambda tf, F: [F.smart_constant_value(tf.constant(True)), F.smart_constant_value(1)])
case("wrong smart cond", lambda tf, F: F.smart_cond(True, 1, lambda: 2))
case("wrong smart case", lambda tf, F: F.smart_case(3))
case("wrong smart constant", lambda tf, F: F.smart_constant_value("x"))


def case_of_several(tf, F):
    open_ = tf.placeholder_with_default(False, [])
    pairs = [(False, lambda: tf.constant(1.0)), (open_, lambda: tf.constant(2.0)), (open_, lambda: tf.constant(3.0))]
    return F.smart_case(pairs, default=lambda: tf.constant(4.0))


case("smart case of several", case_of_several)


def scopes(tf, F):
    with tf.name_scope("a"), tf.name_scope("b"):
        inside = F.get_name_scope()
    return [inside, F.get_name_scope(), F.prepend_name_scope("x/y", "s"), F.strip_name_scope("s/x/y", "s")]


case("name scopes", scopes)


def placeholders(tf, F):
    tf.placeholder(tf.float32, name="p")
    tf.placeholder_with_default(1.0, [], name="q")
    tf.sparse_placeholder(tf.float32, name="r")
    return F.get_placeholders(tf.get_default_graph())


case("placeholders", placeholders)
case("wrong placeholders", lambda tf, F: F.get_placeholders(3))


def graphs(tf, F):
    here = tf.get_default_graph()
    return [F.get_graph_from_inputs([1, tf.constant(2.0)]) is here, F.get_graph_from_inputs([1], tf.Graph()) is here]


case("graph from inputs", graphs)
case("wrong graph from inputs", lambda tf, F: F.get_graph_from_inputs(tf.constant(1.0)))
case("other graph from inputs", lambda tf, F: F.get_graph_from_inputs([tf.constant(1.0)], tf.Graph()))


def function(tf, F):
    def both(x, more, scale=1.0):
        return {"a": (x + more["y"]) * scale, "b": x}

    found = F.py_func(
        both,
        [tf.constant([1.0, 2.0]), {"y": tf.constant([3.0, 4.0])}],
        {"scale": tf.constant(2.0)},
        {"a": tf.float32, "b": tf.float32},
        {"a": [2], "b": [2]},
        name="f",
    )
    single = F.py_func(lambda x: x * 3.0, [tf.constant([1.0])], output_types=tf.float32, output_shapes=[1])
    return tf.concat([found["a"], found["b"], single], 0)


case("py_func", function)
case("wrong py_func", lambda tf, F: F.py_func(lambda x: x, tf.constant(1.0), output_types=tf.float32))


def devices(tf, F, **arguments):
    found = []
    for chooser in (F.VariableDeviceChooser(**arguments), F.VariableDeviceChooser(num_tasks=2, **arguments)):
        with tf.Graph().as_default(), tf.device(chooser):
            found += [tf.get_variable("v%d" % (len(found) + place), [2]).device for place in range(3)]
    return found


case("device chooser", devices)
case("device chooser gpu", lambda tf, F: devices(tf, F, job_name="p", device_type="GPU", device_index=1, replica=3))


for _name, _shape in {
    "delta_orthogonal": [3, 3, 2, 4],
    "orthogonal_1d": [3, 2, 4],
    "orthogonal_2d": [3, 3, 2, 4],
}.items():
    case(
        "convolutional " + _name,
        lambda tf, F, name=_name, shape=_shape: tf.reduce_sum(
            tf.square(getattr(F, "convolutional_" + name)(gain=2.0, seed=3)(shape))
        ),
    )
case("bounded spec", lambda tf, F: [F.BoundedTensorSpec([2], tf.int32, 0, 3).minimum.tolist()])


def remapped(tf, F, load):
    """What ``load(path, old vocabulary, new vocabulary)`` makes of a matrix, [4, 2], and of biases, [4, 1]."""
    folder = tempfile.mkdtemp()
    for name, words in (("old", "a b c d"), ("new", "c x a")):
        with open(os.path.join(folder, name), "w") as file:
            file.write(words.replace(" ", "\n") + "\n")
    path = os.path.join(folder, "model")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("matrix", initializer=[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
        tf.get_variable("biases", initializer=[[0.0], [1.0], [2.0], [3.0]])
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, path)
    return load(path, os.path.join(folder, "old"), os.path.join(folder, "new"))


def embedding(tf, F, path, old, new):
    initializer = F.load_embedding_initializer(path, "matrix", 3, 2, old, new, num_oov_buckets=1)
    return initializer([4, 2], tf.float32)[0:1] * 1.0 + initializer([4, 2], tf.float32)[2:3]


case("load embedding", lambda tf, F: remapped(tf, F, lambda *paths: embedding(tf, F, *paths)))
case(
    "load biases",
    lambda tf, F: remapped(
        tf, F, lambda *paths: F.load_linear_multiclass_bias_initializer(paths[0], "biases", 3, *paths[1:])([3, 1])
    ),
)
case(
    "load matrix",
    lambda tf, F: remapped(
        tf,
        F,
        lambda path, old, new: F.load_and_remap_matrix_initializer(
            path, "matrix", 3, 2, old_row_vocab_file=old, new_row_vocab_file=new, initializer=tf.ones_initializer()
        )([3, 2]),
    ),
)
case(
    "load slot",
    lambda tf, F: remapped(
        tf,
        F,
        lambda path, old, new: F.load_variable_slot_initializer(path, "matrix", None, 3, 2, old, new)([3, 2]),
    ),
)


def old_functions(tf, F):
    @F.deprecated("2016-01-01", "Use another.")
    def whole(x):
        return x + 1.0

    @F.deprecated_args(None, "Leave it out.", "scale", ("shift", 0.0))
    def arguments(x, scale=1.0, shift=0.0):
        return x * scale + shift

    @F.deprecated_arg_values(None, "Give another.", shift=0.0)
    def values(x, shift=1.0):
        return x + shift

    return tf.constant([whole(1.0), arguments(1.0, scale=3.0), arguments(2.0, shift=5.0), values(1.0, shift=0.0)])


case("deprecated", old_functions)
case("wrong deprecated", lambda tf, F: F.deprecated("2016-01-01", "")(lambda x: x))
case("wrong deprecated date", lambda tf, F: F.deprecated("soon", "Use another.")(lambda x: x))
case("wrong deprecated_args", lambda tf, F: F.deprecated_args("2016-01-01", "Leave it out.", "y")(lambda x: x))
case("wrong deprecated_arg_values", lambda tf, F: F.deprecated_arg_values("2016-01-01", "Give another."))


def fused(name, *arguments):
    """The nodes of a graph, a part of which was fused."""

    def call(tf, F):
        with tf.Graph().as_default() as graph:
            a, b = (tf.placeholder(tf.float32, [1], name=key) for key in "ab")
            square = tf.square(a, name="square")
            product = tf.multiply(square, tf.negative(b, name="negative"), name="product")
            tf.abs(tf.exp(product, name="exp"), name="abs")
            tf.identity(a, name="beside")
            with tf.control_dependencies([a]):
                tf.identity(square, name="controlled")
        given = list(arguments) if len(arguments) == 6 else [*arguments, [1], True, "fused", "MyOp"]
        made = F.fuse_op(graph.as_graph_def() if given[0] else None, *given)
        return [
            (
                node.op,
                node.name,
                list(node.input),
                list(node.attr["_output_types"].list.type),
                node.attr["_output_quantized"].b,
            )
            for node in made.node
        ]

    case("fuse " + name, call)


fused("two to one", ["square", "negative"], ["exp"])
fused("order", ["negative", "square"], ["exp", "abs"], [1, 2], False, "mine", "Other")
fused("kept", ["exp"], ["exp"])
fused("backwards", ["abs"], ["exp"])
fused("first", ["a"], ["square"])
fused("wrong input", ["beside"], ["exp"])
fused("wrong type", "exp", ["abs"])
fused("wrong outputs", ["exp"], "abs")
fused("no graph", [], ["abs"])
