"""Cases of ``tf.contrib.framework``: name -> function of (tf, contrib); see contrib_record.py.

Runs on Python 3.7 too.
"""

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
