"""Cases of the feature columns of ``tf.contrib.layers``; see contrib_record.py."""

import os
import tempfile

import numpy as np
from contrib_record import feed

CASES = {}

VOCABULARY = os.path.join(tempfile.gettempdir(), "contrib_feature_columns_vocabulary.txt")
with open(VOCABULARY, "w") as _file:
    _file.write("x\ny\nw\n")


def features(tf):
    def sparse(values):
        return tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant(values), [3, 2])

    return {
        "i": sparse(np.array([1, 2, 3])),
        "j": sparse(np.array([4, 2, 1])),
        "h": sparse(["x", "y", "z"]),
        "k": sparse(["a", "b", "c"]),
        "w": sparse([0.5, 2.0, 1.0]),
        "r": tf.constant([[0.5], [1.5], [-1.0]]),
        "r2": tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        "whole": tf.constant([[1], [2], [3]], tf.int64),
        "flat": tf.constant([1.0, 2.0, 3.0]),
        "dense": tf.constant([["x", ""], ["y", "z"], ["q", "q"]]),
        "ids": tf.constant([[1, -1], [2, 3], [4, 0]], tf.int64),
        "one": tf.constant([1, 2, 3], tf.int64),
    }


def columns(L, tf):
    """All kinds of columns, by name."""
    found = {
        "ids": L.sparse_column_with_integerized_feature("i", 10),
        "hash": L.sparse_column_with_hash_bucket("h", 7),
        "hash mean": L.sparse_column_with_hash_bucket("h", 7, combiner="mean"),
        "hash whole": L.sparse_column_with_hash_bucket("i", 7, dtype=tf.int64),
        "hash strong": L.sparse_column_with_hash_bucket("h", 20, hash_keys=[[1, 2], [3, 4]]),
        "keys": L.sparse_column_with_keys("k", ["a", "b"]),
        "keys default": L.sparse_column_with_keys("k", ("a", "b"), default_value=1),
        "file": L.sparse_column_with_vocabulary_file("h", VOCABULARY, vocab_size=3),
        "file buckets": L.sparse_column_with_vocabulary_file("h", VOCABULARY, num_oov_buckets=2, vocab_size=3),
        "dense": L.sparse_column_with_hash_bucket("dense", 7),
        "dense ids": L.sparse_column_with_integerized_feature("ids", 5, combiner="sqrtn"),
        "flat ids": L.sparse_column_with_integerized_feature("one", 5),
        "real": L.real_valued_column("r"),
        "real two": L.real_valued_column("r2", dimension=2, default_value=[1.0, 2.0], normalizer=lambda x: x * 2.0),
        "real whole": L.real_valued_column("whole", dtype=tf.int64),
        "real flat": L.real_valued_column("flat"),
    }
    found["buckets"] = L.bucketized_column(found["real"], [0.0, 1.0, 2.0])
    found["buckets two"] = L.bucketized_column(found["real two"], [0.0, 5.0])
    found["weighted"] = L.weighted_sparse_column(found["ids"], "w")
    found["cross"] = L.crossed_column([found["hash"], found["keys"]], 50)
    found["cross ids"] = L.crossed_column([found["ids"], found["hash"]], 1000)
    found["cross buckets"] = L.crossed_column([found["buckets two"], found["hash"]], 50)
    found["cross cross"] = L.crossed_column([found["hash"], L.crossed_column([found["keys"], found["ids"]], 9)], 50)
    found["cross mixed"] = L.crossed_column([found["ids"], found["cross"]], 50)
    found["cross key"] = L.crossed_column([found["hash"], found["keys"]], 50, hash_key=7)
    return found


def case(name, build):
    def built(tf, contrib):
        outputs = build(tf, contrib.layers, columns(contrib.layers, tf), features(tf))
        return outputs if "outputs" in outputs else {"outputs": outputs}

    CASES[name] = built


def dense(name, make, **settings):
    """The input of a network, and a train step."""

    def build(tf, L, kinds, found):
        output = L.input_from_feature_columns(found, make(L, kinds), **settings)
        made = {"outputs": {"input": output, "names": tf.constant(sorted(c.name for c in make(L, kinds)))}}
        if tf.trainable_variables():
            made["loss"] = tf.reduce_sum(tf.square(output))
        return made

    case("input " + name, build)


def linear(name, make, number=2, function="weighted_sum_from_feature_columns", **settings):
    def build(tf, L, kinds, found):
        chosen = make(L, kinds)
        sums, variables, bias = getattr(L, function)(found, chosen, number, **settings)
        if isinstance(variables, dict):
            variables = ["%s: %s" % (c.name, [v.op.name for v in variables[c]]) for c in chosen]
        else:
            variables = [v.op.name for v in variables]
        made = {"sums": sums, "names": tf.constant(variables + [bias.op.name])}
        return {"outputs": made, "loss": tf.reduce_sum(tf.square(sums - 1.0))}

    case("linear " + name, build)


IDS = ("ids", "hash", "hash mean", "hash whole", "hash strong", "keys", "keys default", "file", "file buckets")
IDS += ("dense", "dense ids", "flat ids")
CROSSES = ("cross", "cross ids", "cross buckets", "cross cross", "cross mixed", "cross key")
NUMBERS = ("real", "real two", "real whole", "real flat", "buckets", "buckets two")
for _kind in NUMBERS:
    dense(_kind, lambda L, kinds, kind=_kind: [kinds[kind]])
for _kind in IDS + CROSSES + ("weighted",):
    dense(_kind, lambda L, kinds, kind=_kind: [kinds[kind]])
    dense("embedding of " + _kind, lambda L, kinds, kind=_kind: [L.embedding_column(kinds[kind], 3)])
    dense("one hot of " + _kind, lambda L, kinds, kind=_kind: [L.one_hot_column(kinds[kind])])
for _kind in IDS + CROSSES + NUMBERS + ("weighted",):
    linear(_kind, lambda L, kinds, kind=_kind: [kinds[kind]])
for _combiner in ("sum", "mean", "sqrtn"):
    dense(
        "combiner " + _combiner,
        lambda L, kinds, combiner=_combiner: [L.embedding_column(kinds["weighted"], 2, combiner, max_norm=1.0)],
    )
    dense(
        "scattered " + _combiner,
        lambda L, kinds, combiner=_combiner: [L.scattered_embedding_column("h", 20, 4, 5, combiner)],
    )
dense("several", lambda L, kinds: [kinds["real"], kinds["buckets"], L.embedding_column(kinds["hash"], 2)], scope="net")
dense(
    "shared",
    lambda L, kinds: L.shared_embedding_columns([kinds["ids"], L.sparse_column_with_integerized_feature("j", 10)], 3),
    weight_collections=["wc"],
)
dense(
    "shared named",
    lambda L, kinds: L.shared_embedding_columns([kinds["ids"], kinds["weighted"]], 3, shared_embedding_name="one"),
)
dense("frozen", lambda L, kinds: [L.embedding_column(kinds["hash"], 2, trainable=False)])
dense("not trained", lambda L, kinds: [L.embedding_column(kinds["hash"], 2)], trainable=False)
dense("twice", lambda L, kinds: [kinds["real"], kinds["real"]])
linear("all", lambda L, kinds: [kinds[k] for k in ("real", "buckets", "hash", "cross")], 1, scope="lin")
linear("collections", lambda L, kinds: [kinds["real"], kinds["ids"]], 1, weight_collections=["wc"], trainable=True)
linear("embedding", lambda L, kinds: [L.embedding_column(kinds["hash"], 2)])
JOINT = "joint_weighted_sum_from_feature_columns"
linear("joint", lambda L, kinds: [kinds[k] for k in ("hash", "keys", "cross")], 1, JOINT)


def transformed(name, kind):
    def build(tf, L, kinds, found):
        value = L.transform_features(found, [kinds[kind]])[kinds[kind]]
        parts = value if isinstance(value, tuple) else (value,)
        outputs = {}
        for number, part in enumerate(parts):
            if isinstance(part, tf.SparseTensor):
                outputs["values %d" % number] = tf.boolean_mask(part.values, tf.fill(tf.shape(part.values), True))
                outputs["indices %d" % number] = part.indices
            else:
                outputs["dense %d" % number] = part
        return outputs

    case("transform " + name, build)


for _kind in IDS + CROSSES + NUMBERS + ("weighted",):
    transformed(_kind, _kind)


def _parsed(tf, L, kinds, found):
    def feature(**kind):
        return tf.train.Feature(**kind)

    records = []
    for number, word in ((1.5, b"x"), (2.5, b"y")):
        parts = {
            "r": feature(float_list=tf.train.FloatList(value=[number])),
            "h": feature(bytes_list=tf.train.BytesList(value=[word])),
        }
        example = tf.train.Example(features=tf.train.Features(feature=parts))
        records.append(example.SerializeToString())
    embedding = L.embedding_column(kinds["hash"], 2)
    chosen = [kinds["real two"], kinds["buckets"], embedding]
    parsed = L.parse_feature_columns_from_examples(tf.constant(records), chosen)
    return {
        "keys": tf.constant(sorted(key if isinstance(key, str) else key.name for key in parsed)),
        "default": parsed["r2"],
        "buckets": parsed[kinds["buckets"]],
        "ids": parsed[embedding].values,
        "input": L.input_from_feature_columns(parsed, chosen),
    }


case("parse", _parsed)


def _described(tf, L, kinds, found):
    """What columns say of themselves."""
    kinds = dict(kinds)
    kinds.update(
        embedding=L.embedding_column(kinds["weighted"], 2),
        one_hot=L.one_hot_column(kinds["keys"]),
        scattered=L.scattered_embedding_column("s", 20, 4, 5),
        shared=L.shared_embedding_columns([kinds["ids"]], 3)[0],
    )
    lines = []
    for name in sorted(kinds):
        column = kinds[name]
        if "file" not in name:
            lines += [name, column.name, str(getattr(column, "length", None)), str(sorted(column.config))]
            if name not in ("buckets two", "cross buckets", "real two"):  # a function's name has an address
                lines.append(column.key)
    spec = L.create_feature_spec_for_parsing([kinds[name] for name in sorted(kinds)])
    for name in sorted(spec):
        lines += [name, type(spec[name]).__name__, spec[name].dtype.name, str(getattr(spec[name], "shape", None))]
    places = L.make_place_holder_tensors_for_base_features([kinds["real two"], kinds["hash"]])
    lines += [places["r2"].name, str(places["r2"].shape.as_list()), places["h"].values.name, places["h"].dtype.name]
    inferred = L.infer_real_valued_columns({"a": tf.zeros([2, 3]), "b": tf.zeros([4], tf.int64)})
    lines += sorted(column.key for column in inferred) + [
        column.key for column in L.infer_real_valued_columns(found["r"])
    ]
    return {"lines": tf.constant(lines)}


case("described", _described)

WRONG = {
    "no ids": lambda tf, L, kinds: L.sparse_column_with_integerized_feature("i", 0),
    "ids dtype": lambda tf, L, kinds: L.sparse_column_with_integerized_feature("i", 2, dtype=tf.string),
    "hash dtype": lambda tf, L, kinds: L.sparse_column_with_hash_bucket("i", 5, dtype=tf.float32),
    "no dimension": lambda tf, L, kinds: L.real_valued_column("a", dimension=0),
    "text dimension": lambda tf, L, kinds: L.real_valued_column("a", dimension="x"),
    "default length": lambda tf, L, kinds: L.real_valued_column("a", dimension=2, default_value=[1.0]),
    "default text": lambda tf, L, kinds: L.real_valued_column("a", default_value="x"),
    "real dtype": lambda tf, L, kinds: L.real_valued_column("a", dtype=tf.string),
    "no boundaries": lambda tf, L, kinds: L.bucketized_column(kinds["real"], []),
    "boundaries": lambda tf, L, kinds: L.bucketized_column(kinds["real"], [2, 1]),
    "buckets of ids": lambda tf, L, kinds: L.bucketized_column(kinds["hash"], [1]),
    "one crossed": lambda tf, L, kinds: L.crossed_column([kinds["hash"]], 5),
    "crossed numbers": lambda tf, L, kinds: L.crossed_column([kinds["hash"], kinds["real"]], 5),
    "crossed size": lambda tf, L, kinds: L.crossed_column([kinds["hash"], kinds["keys"]], 1),
    "initializer": lambda tf, L, kinds: L.embedding_column(kinds["hash"], 2, initializer=3),
    "checkpoint": lambda tf, L, kinds: L.embedding_column(kinds["hash"], 2, ckpt_to_load_from="x"),
    "scattered": lambda tf, L, kinds: L.scattered_embedding_column("s", 0, 2, 1),
    "scattered combiner": lambda tf, L, kinds: L.scattered_embedding_column("s", 3, 2, 1, combiner="x"),
    "shared none": lambda tf, L, kinds: L.shared_embedding_columns([], 2),
    "shared text": lambda tf, L, kinds: L.shared_embedding_columns("ab", 2),
    "shared numbers": lambda tf, L, kinds: L.shared_embedding_columns([kinds["real"]], 2),
    "shared sizes": lambda tf, L, kinds: L.shared_embedding_columns([kinds["hash"], kinds["ids"]], 2),
    "weights dtype": lambda tf, L, kinds: L.weighted_sparse_column(kinds["hash"], "w", dtype=tf.string),
    "no vocabulary": lambda tf, L, kinds: L.sparse_column_with_vocabulary_file("v", "f"),
    "dict": lambda tf, L, kinds: L.check_feature_columns({}),
    "infer text": lambda tf, L, kinds: L.infer_real_valued_columns({"a": tf.constant(["x"])}),
}
for _name, _wrong in WRONG.items():
    case("wrong " + _name, lambda tf, L, kinds, found, wrong=_wrong: {"none": tf.constant(str(wrong(tf, L, kinds)))})


# --------------------------------------------------------------------------------------------------------- sequences


def _in_steps(tf):
    indices, shape = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 2, 1]], [2, 3, 2]
    return {
        "a": tf.constant(feed([2, 3, 2])),
        "flat": tf.constant(feed([2, 3])),
        "deep": tf.constant(feed([2, 3, 2, 2])),
        "short": tf.constant(feed([2])),
        "unknown": tf.placeholder_with_default(feed([2, 3, 2]), None),
        "open": tf.placeholder_with_default(feed([2, 3, 2]), [None, None, 2]),
        "s": tf.SparseTensor(indices, tf.constant([1, 2, 3, 0], tf.int64), shape),
        "t": tf.SparseTensor(indices, tf.constant([0, 4, 3, 0], tf.int64), shape),
        "w": tf.SparseTensor(indices, tf.constant([1.0, 2.0, 3.0, 0.5]), shape),
        "k": tf.SparseTensor(indices, tf.constant(["a", "b", "c", "x"]), shape),
        "two": tf.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 2]], tf.constant([1, 2, 3, 0], tf.int64), [2, 3]),
    }


def steps(name, columns, **arguments):
    """A case of the input of a recurrent network."""

    def build(tf, contrib):
        made = columns(tf, contrib.layers)
        y = contrib.layers.sequence_input_from_feature_columns(_in_steps(tf), made, **arguments)
        return {"outputs": {"y": y}, "loss": tf.reduce_sum(tf.square(y))}

    CASES["steps " + name] = build


def _ids(L, name="s"):
    return L.sparse_column_with_integerized_feature(name, 5)


steps("numbers", lambda tf, L: [L.real_valued_column("a", dimension=2)])
steps("numbers flat", lambda tf, L: [L.real_valued_column("flat", normalizer=lambda x: x * 2)])
steps("numbers deep", lambda tf, L: [L.real_valued_column("deep", dimension=4)])
steps("numbers open", lambda tf, L: [L.real_valued_column("open", dimension=2)])
steps("embedding", lambda tf, L: [L.embedding_column(_ids(L), 3)])
steps("embedding two", lambda tf, L: [L.embedding_column(_ids(L, "two"), 3, combiner="sum", max_norm=1.0)])
steps("embedding weights", lambda tf, L: [L.embedding_column(L.weighted_sparse_column(_ids(L), "w"), 3)])
steps("shared", lambda tf, L: L.shared_embedding_columns([_ids(L), _ids(L, "t")], 3))
steps("one hot", lambda tf, L: [L.one_hot_column(_ids(L))])
steps("one hot two", lambda tf, L: [L.one_hot_column(_ids(L, "two"))])
steps("one hot weights", lambda tf, L: [L.one_hot_column(L.weighted_sparse_column(_ids(L), "w"))])
steps(
    "several",
    lambda tf, L: [
        L.embedding_column(L.sparse_column_with_keys("k", ["a", "b", "c"]), 2),
        L.real_valued_column("flat"),
        L.one_hot_column(_ids(L)),
    ],
    scope="here",
    weight_collections=["wc"],
    trainable=False,
)
steps("wrong bucketized", lambda tf, L: [L.bucketized_column(L.real_valued_column("a"), [0.0])])
steps("wrong sparse", lambda tf, L: [_ids(L)])
steps("wrong scattered", lambda tf, L: [L.scattered_embedding_column("k", 12, 3, hash_key=3)])
steps("wrong crossed", lambda tf, L: [L.embedding_column(L.crossed_column([_ids(L), _ids(L, "t")], 5), 3)])
steps("wrong rank", lambda tf, L: [L.real_valued_column("short")])
steps("wrong unknown rank", lambda tf, L: [L.real_valued_column("unknown")])


def _sequence_example(tf, contrib):
    L = contrib.layers
    example = tf.train.SequenceExample()
    example.context.feature["c"].float_list.value.append(2.0)
    example.context.feature["k"].bytes_list.value.extend([b"a", b"b"])
    for values in ([1.0], [2.0], [3.0]):
        example.feature_lists.feature_list["a"].feature.add().float_list.value.extend(values)
    for values in ([1, 2], [], [3]):
        example.feature_lists.feature_list["s"].feature.add().int64_list.value.extend(values)
    serialized = tf.constant(example.SerializeToString())
    context, lists = L.parse_feature_columns_from_sequence_examples(
        serialized,
        [L.real_valued_column("c"), L.embedding_column(L.sparse_column_with_keys("k", ["a", "b"]), 2)],
        [L.real_valued_column("a"), L.embedding_column(_ids(L), 3)],
        name="parsed",
        example_name="first",
    )
    assert sorted(context) == ["c", "k"] and sorted(lists) == ["a", "s"]
    nothing, only = L.parse_feature_columns_from_sequence_examples(serialized, None, [L.real_valued_column("a")])
    assert not nothing
    return {
        "outputs": {
            "c": context["c"],
            "k": context["k"].values,
            "a": lists["a"],
            "s": lists["s"].values,
            "indices": lists["s"].indices,
            "only": only["a"],
        }
    }


CASES["steps parsed"] = _sequence_example
