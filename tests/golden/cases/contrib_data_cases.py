"""Cases of ``tf.contrib.data``: name -> function of (tf, contrib); see contrib_record.py. Runs on Python 3.7 too."""

import os
import tempfile

CASES = {}


def case(name, call, pad=(), padding=-1):
    """``call`` returns a dataset of tensors; what is compared is all of its elements, padded to one shape."""

    def build(tf, contrib):
        dataset = call(tf, contrib.data)
        if isinstance(dataset, dict):
            return {"outputs": dataset}
        shape = list(pad)
        types = tf.data.get_output_types(dataset)
        known = tf.data.get_output_shapes(dataset)
        every = tf.data.experimental.get_single_element(
            dataset.padded_batch(100, shape, tf.constant(padding, types)) if shape else dataset.batch(100)
        )
        return {"outputs": {"every": every, "shape": tf.constant(str(known.as_list()))}}

    assert name not in CASES
    CASES[name] = build


def numbers(tf, count=7):
    return tf.data.Dataset.range(count)


for _arguments in (
    dict(window_size=3),
    dict(window_size=3, stride=2),
    dict(window_size=2, window_shift=3),
    dict(window_size=3, window_shift=2, window_stride=2),
    dict(window_size=3, stride=2, window_shift=2),
):
    case(
        "sliding %s" % sorted(_arguments.items()),
        lambda tf, D, arguments=_arguments: numbers(tf).apply(D.sliding_window_batch(**arguments)),
        [None],
    )
case(
    "sliding of structures",
    lambda tf, D: (
        numbers(tf)
        .map(lambda n: {"a": n, "b": tf.stack([n, -n])})
        .apply(D.sliding_window_batch(3, window_shift=2))
        .map(lambda window: window["b"] + tf.expand_dims(window["a"], 1))
    ),
    [3, 2],
)
case("shape", lambda tf, D: numbers(tf, 6).batch(2).apply(D.assert_element_shape(tf.TensorShape([2]))), [2])
case(
    "shape of structures",
    lambda tf, D: (
        numbers(tf, 6)
        .batch(2)
        .map(lambda n: (n, {"b": n}))
        .apply(D.assert_element_shape((tf.TensorShape([2]), {"b": tf.TensorShape([None])})))
        .map(lambda n, more: n + more["b"])
    ),
    [2],
)
case(
    "wrong shape",
    lambda tf, D: numbers(tf, 6).batch(2, drop_remainder=True).apply(D.assert_element_shape(tf.TensorShape([3]))),
    [3],
)
case(
    "reduce",
    lambda tf, D: {
        "sum": D.reduce_dataset(
            numbers(tf),
            D.Reducer(lambda _: tf.constant(1, tf.int64), lambda state, n: state + n, lambda state: state * 10),
        )
    },
)
case("wrong reduce", lambda tf, D: D.reduce_dataset(3, None))
case("batch_and_drop", lambda tf, D: numbers(tf).apply(D.batch_and_drop_remainder(2)), [2])
case(
    "padded_batch_and_drop",
    lambda tf, D: (
        numbers(tf, 5)
        .map(lambda n: tf.fill([n], n))
        .apply(D.padded_batch_and_drop_remainder(2, [None], -tf.ones([], tf.int64)))
    ),
    [2, None],
)
case(
    "bucket_by_sequence_length",
    lambda tf, D: (
        numbers(tf, 10)
        .map(lambda n: tf.fill([n], n))
        .apply(D.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2]))
    ),
    [None, None],
)
case("enumerate", lambda tf, D: numbers(tf).apply(D.enumerate_dataset(5)).map(lambda at, n: at * 100 + n))
case(
    "group_by_window",
    lambda tf, D: numbers(tf, 10).apply(
        D.group_by_window(lambda n: n % 3, lambda key, window: window.batch(4), window_size=4)
    ),
    [None],
)
case(
    "group_by_reducer",
    lambda tf, D: numbers(tf, 10).apply(
        D.group_by_reducer(
            lambda n: n % 3,
            D.Reducer(lambda _: tf.constant(0, tf.int64), lambda state, n: state + n, lambda state: state),
        )
    ),
)
case("map_and_batch", lambda tf, D: numbers(tf).apply(D.map_and_batch(lambda n: n * n, 3)), [None])
case(
    "map_and_batch dropping",
    lambda tf, D: numbers(tf).apply(D.map_and_batch(lambda n: n * n, 3, drop_remainder=True)),
    [None],
)
case(
    "parallel_interleave",
    lambda tf, D: numbers(tf, 4).apply(
        D.parallel_interleave(lambda n: tf.data.Dataset.from_tensors(n).repeat(3), cycle_length=2, block_length=2)
    ),
)
case(
    "scan",
    lambda tf, D: numbers(tf).apply(D.scan(tf.constant(0, tf.int64), lambda old, n: (old + n, old * 2 + n))),
)
case("shuffle_and_repeat", lambda tf, D: numbers(tf).apply(D.shuffle_and_repeat(1, count=2, seed=1)))
case("unbatch", lambda tf, D: numbers(tf).batch(3).apply(D.unbatch()))
case("unique", lambda tf, D: numbers(tf).map(lambda n: n // 2).apply(D.unique()))
case(
    "ignore_errors",
    lambda tf, D: (
        tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0])
        .map(lambda x: tf.check_numerics(1.0 / x, "no number"))
        .apply(D.ignore_errors())
    ),
)
case("counter", lambda tf, D: D.Counter(3, 2).take(4))
case(
    "choose",
    lambda tf, D: D.choose_from_datasets(
        [numbers(tf), numbers(tf).map(lambda n: -n)],
        tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 1], tf.int64)),
    ),
)
case("random", lambda tf, D: D.RandomDataset(seed=3).take(5))
case(
    "rejection_resample",
    lambda tf, D: (
        numbers(tf)
        .map(lambda n: n % 2)
        .apply(D.rejection_resample(lambda n: tf.cast(n, tf.int32), [1.0, 0.0], [0.5, 0.5], seed=1))
        .map(lambda label, n: n)
    ),
)


def csv(tf, D):
    path = os.path.join(tempfile.mkdtemp(), "data.csv")
    with open(path, "w") as file:
        file.write("a,b\n1,2.5\n3,4.5\n")
    return D.CsvDataset(path, [tf.int32, tf.float32], header=True).map(lambda a, b: tf.cast(a, tf.float32) + b)


def made_csv(tf, D):
    path = os.path.join(tempfile.mkdtemp(), "data.csv")
    with open(path, "w") as file:
        file.write("a,b\n1,2.5\n3,4.5\n")
    dataset = D.make_csv_dataset(path, 2, label_name="b", num_epochs=1, shuffle=False)
    return dataset.map(lambda features, label: tf.cast(features["a"], tf.float32) + label)


def records(tf):
    path = os.path.join(tempfile.mkdtemp(), "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(4):
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
            writer.write(tf.train.Example(features=tf.train.Features(feature={"n": feature})).SerializeToString())
    return path


def batched(tf, D):
    features = {"n": tf.FixedLenFeature([], tf.int64)}
    dataset = D.make_batched_features_dataset(records(tf), 2, features, shuffle=False, num_epochs=1)
    return dataset.map(lambda batch: batch["n"])


def read(tf, D):
    features = {"n": tf.FixedLenFeature([], tf.int64)}
    return D.read_batch_features(records(tf), 3, features, randomize_input=False, num_epochs=1)


case("csv", csv, padding=-1.0)
case("make_csv", made_csv, [None], -1.0)
case("make_batched_features", batched, [None])
case("read_batch_features", read)
