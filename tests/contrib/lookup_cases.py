"""Programs that use contrib.lookup: what each returns must be what 1.15.5 returned. They run on Python 3.7 too."""

import os
import tempfile

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def evaluate(tf, *tensors):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        values = [value.tolist() if hasattr(value, "tolist") else value for value in session.run(list(tensors))]
    text = lambda item: item.decode() if isinstance(item, bytes) else item  # noqa: E731
    return [[text(item) for item in value] if isinstance(value, list) else text(value) for value in values]


def words():
    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as file:
        file.write("emerson\nlake\npalmer\n")
    return path


@case
def hash_table(tf, lookup):
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([3, 4], tf.int64)), -7)
    found = table.lookup(tf.constant(["b", "x", "a"]))
    with tf.Session() as session:
        session.run(table.init)
        own = session.run(found).tolist()
    lookup.HashTable(lookup.KeyValueTensorInitializer(["a"], [3]), -7, shared_name="shared", name="mine")
    made = tf.get_default_graph().get_operation_by_name("mine")
    own += [made.type, made.get_attr("shared_name").decode()]
    return [own, evaluate(tf, found, table.size()), table.key_dtype.name, table.value_dtype.name]


@case
def mutable_tables(tf, lookup):
    table = lookup.MutableHashTable(tf.string, tf.int64, -1)
    dense = lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-2)
    with tf.Session() as session:
        session.run(table.insert(tf.constant(["x", "y"]), tf.constant([1, 2], tf.int64)))
        session.run(dense.insert(tf.constant([5, 6], tf.int64), tf.constant([1, 2], tf.int64)))
        session.run(dense.remove(tf.constant([5], tf.int64)))
        return [
            session.run(table.lookup(tf.constant(["y", "z"]))).tolist(),
            session.run(dense.lookup(tf.constant([5, 6], tf.int64))).tolist(),
            int(session.run(table.size())),
            sorted(key.decode() for key in session.run(table.export())[0]),
        ]


@case
def from_tensor(tf, lookup):
    keys = tf.constant(["lake", "and", "palmer", "or"])
    mapping = tf.constant(["emerson", "lake", "palmer"])
    numbers = lookup.index_table_from_tensor([7, 9], dtype=tf.int64)
    strong = lookup.StrongHashSpec([1, 2])
    return evaluate(
        tf,
        lookup.index_table_from_tensor(mapping).lookup(keys),
        lookup.index_table_from_tensor(mapping, num_oov_buckets=5).lookup(keys),
        lookup.index_table_from_tensor(mapping, num_oov_buckets=5, hasher_spec=strong).lookup(keys),
        lookup.string_to_index_table_from_tensor(mapping, default_value=9).lookup(keys),
        lookup.string_to_index(keys, mapping, default_value=8),
        numbers.lookup(tf.constant([9, 8], tf.int64)),
        lookup.index_to_string_table_from_tensor(mapping).lookup(tf.constant([0, 2, 5], tf.int64)),
        lookup.index_to_string(tf.constant([1, 4], tf.int64), mapping, default_value="?"),
    )


@case
def from_file(tf, lookup):
    keys = tf.constant(["lake", "and", "palmer"])
    return evaluate(
        tf,
        lookup.index_table_from_file(words(), num_oov_buckets=2).lookup(keys),
        lookup.index_table_from_file(words(), vocab_size=2).lookup(keys),
        lookup.string_to_index_table_from_file(words(), default_value=5).lookup(keys),
        lookup.index_to_string_table_from_file(words()).lookup(tf.constant([0, 3], tf.int64)),
        lookup.HashTable(lookup.TextFileIdTableInitializer(words()), -1).lookup(keys),
        lookup.HashTable(lookup.TextFileStringTableInitializer(words()), "-").lookup(tf.constant([1, 9], tf.int64)),
    )


@case
def errors(tf, lookup):
    found = []
    for function in (
        lookup.index_table_from_tensor,
        lookup.index_to_string_table_from_tensor,
        lookup.string_to_index_table_from_tensor,
        lambda _: lookup.index_table_from_file(None),
        lambda _: lookup.index_table_from_tensor(["a"], num_oov_buckets=-1),
    ):
        try:
            found.append(str(function(None)))
        except (TypeError, ValueError) as problem:
            found.append([type(problem).__name__, str(problem).replace("`", "")])
    return found


def run(tf, lookup):
    """The answers of all cases."""
    answers = {}
    for name, function in CASES.items():
        with tf.Graph().as_default():
            answers[name] = function(tf, lookup)
    return answers
