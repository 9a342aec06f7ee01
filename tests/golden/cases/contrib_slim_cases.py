"""Cases of ``tf.contrib.slim``: decoding of examples, and readers and queues as graphs; see contrib_record.py."""

import base64

import numpy as np

CASES = {}

JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEBLAEsAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYV"
    "pQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAE"
    "AAYDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhBy"
    "JxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKT"
    "lJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAA"
    "AAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRom"
    "JygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExc"
    "bHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwAuwLGKyubcKJLm2V33KHAzyQAcgD/AUUUV2YeKnC8ldnr4SEXF"
    "3XVn/9k="
)
PIXELS = np.random.RandomState(0).randint(0, 256, (3, 4, 3))


def example(tf, features):
    """A serialized example of ``{name: list of values}``."""

    def feature(values):
        if isinstance(values[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        if isinstance(values[0], int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))

    made = tf.train.Example(features=tf.train.Features(feature={key: feature(v) for key, v in features.items() if v}))
    return tf.constant(made.SerializeToString())


def handler(name, features, kinds, make):
    """Decodes an example of ``features`` with the handler that ``make`` gives; ``kinds`` says how they are parsed."""

    def build(tf, contrib):
        decoders = contrib.slim.tfexample_decoder
        parsed = kinds(tf)
        decoder = decoders.TFExampleDecoder(parsed, {"item": make(tf, contrib, decoders)})
        (item,) = decoder.decode(example(tf, features))
        if isinstance(item, tf.SparseTensor):
            return {"outputs": {"indices": item.indices, "values": item.values, "shape": item.dense_shape}}
        return {"outputs": {"item": item, "shape": tf.shape(item)}}

    CASES[name] = build


def fixed(**sizes):
    return lambda tf: {key: tf.FixedLenFeature(size, tf.float32) for key, size in sizes.items()}


def varied(**dtypes):
    return lambda tf: {key: tf.VarLenFeature(getattr(tf, dtype)) for key, dtype in dtypes.items()}


SIX = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
handler("tensor fixed", {"a": SIX}, fixed(a=[2, 3]), lambda tf, c, d: d.Tensor("a"))
handler("tensor shape", {"a": SIX}, fixed(a=[6]), lambda tf, c, d: d.Tensor("a", shape=[3, 2]))
handler("tensor varied", {"a": SIX}, varied(a="float32"), lambda tf, c, d: d.Tensor("a"))
handler("tensor varied shape", {"a": SIX}, varied(a="float32"), lambda tf, c, d: d.Tensor("a", shape=(2, 3)))
handler("tensor absent", {"a": []}, varied(a="float32"), lambda tf, c, d: d.Tensor("a", default_value=7))
SHAPED = {"a": SIX, "s": [3, 2], "h": [2], "w": [3]}
KINDS = varied(a="float32", s="int64", h="int64", w="int64")
handler("tensor shape key", SHAPED, KINDS, lambda tf, c, d: d.Tensor("a", shape_keys="s"))
handler("tensor shape keys", SHAPED, KINDS, lambda tf, c, d: d.Tensor("a", shape_keys=["h", "w"]))
handler("tensor both", SHAPED, KINDS, lambda tf, c, d: d.Tensor("a", shape_keys="s", shape=[6]))
handler("no feature", SHAPED, KINDS, lambda tf, c, d: d.BoundingBox(keys=["a"]))
SIDES = {"b/ymin": [0.1, 0.2], "b/xmin": [0.3, 0.4], "b/ymax": [0.5, 0.6], "b/xmax": [0.7, 0.8]}
handler("boxes", SIDES, varied(**dict.fromkeys(SIDES, "float32")), lambda tf, c, d: d.BoundingBox(prefix="b/"))
handler("boxes keys", SIDES, fixed(**{key: [2] for key in SIDES}), lambda tf, c, d: d.BoundingBox(keys=sorted(SIDES)))
PAIR = {"indices": [4, 1], "values": [0.5, 0.25], "size": [6]}
PAIR_KINDS = varied(indices="int64", values="float32", size="int64")


def _sized(tf):
    return dict(PAIR_KINDS(tf), size=tf.FixedLenFeature([1], tf.int64))


handler("sparse shape", PAIR, PAIR_KINDS, lambda tf, c, d: d.SparseTensor(shape=[5]))
handler("sparse own shape", PAIR, PAIR_KINDS, lambda tf, c, d: d.SparseTensor())
handler("sparse shape key", PAIR, _sized, lambda tf, c, d: d.SparseTensor(shape_key="size"))
handler(
    "sparse dense",
    {"indices": [1, 4], "values": [0.5, 0.25]},
    varied(indices="int64", values="float32"),
    lambda tf, c, d: d.SparseTensor("indices", "values", shape=[5], densify=True, default_value=-1),
)
handler(
    "callback",
    SHAPED,
    KINDS,
    lambda tf, c, d: d.ItemHandlerCallback(["a", "h"], lambda found: found["a"].values * 2.0),
)
for _name, _first in (("backup unused", SIX), ("backup", [])):
    handler(
        _name,
        {"a": _first, "b": [9.0]},
        varied(a="float32", b="float32"),
        lambda tf, c, d: d.BackupHandler(d.Tensor("a"), d.Tensor("b")),
    )
handler("backup wrong", SHAPED, KINDS, lambda tf, c, d: d.BackupHandler(d.Tensor("a"), "b"))
handler(
    "lookup",
    {"a": [b"x", b"z", b"y"]},
    varied(a="string"),
    lambda tf, c, d: d.LookupTensor("a", c.lookup.index_table_from_tensor(["x", "y"], default_value=5)),
)


def image(name, encode, format_name="png", **settings):
    def build(tf, contrib):
        decoder = contrib.slim.tfexample_decoder.Image(**settings)
        buffer = encode(tf)
        keys = {"image/encoded": buffer, "image/format": tf.constant(format_name)}
        decoded = decoder.tensors_to_item(keys)
        return {"outputs": {"image": decoded, "shape": tf.shape(decoded)}}

    CASES["image " + name] = build


def png(tf, dtype="uint8", channels=3):
    return tf.image.encode_png(tf.constant(PIXELS[:, :, :channels].astype(dtype)))


image("png", png)
image("png shape", png, shape=[3, 4, 3])
image("png gray", lambda tf: png(tf, channels=1), channels=1)
image("png 16", lambda tf: png(tf, "uint16"), dtype=np.uint16)
image("png float", png, dtype=np.float32)
image("jpeg", lambda tf: tf.constant(JPEG), "jpeg")
image("jpeg accurate", lambda tf: tf.constant(JPEG), "JPEG", dct_method="INTEGER_ACCURATE")
image("jpeg named png", lambda tf: tf.constant(JPEG), "png")
image("raw", lambda tf: tf.constant(PIXELS.astype("uint8").tobytes()), "raw", shape=[3, 4, 3])
image("raw float", lambda tf: tf.constant(PIXELS.astype("f").tobytes()), "RAW", shape=[3, 4, 3], dtype=np.float32)
image("repeated", lambda tf: tf.stack([png(tf), png(tf)]), repeated=True)


def graph(name, make):
    """A graph of readers or queues, of which only names and collections are recorded."""

    def build(tf, contrib):
        made = make(tf, contrib.slim)
        return {"outputs": {"number": tf.constant(len(made)), "names": tf.constant([str(one) for one in made])}}

    CASES["graph " + name] = build


def _names(tensors):
    return [tensor.name for tensor in tensors]


def _read(**settings):
    def make(tf, slim):
        return _names(slim.parallel_reader.parallel_read(["a", "b"], tf.TFRecordReader, num_readers=2, **settings))

    return make


def _prefetch(**settings):
    def make(tf, slim):
        tensors = {"b": tf.zeros([2]), "a": tf.constant(1)}
        queue = slim.prefetch_queue.prefetch_queue(tensors, num_threads=2, **settings)
        return _names(value for _, value in sorted(queue.dequeue().items())) + [queue.name] + queue.names

    return make


def _provider(tf, slim):
    decoders = slim.tfexample_decoder
    decoder = decoders.TFExampleDecoder({"a": tf.FixedLenFeature([1], tf.int64)}, {"x": decoders.Tensor("a")})
    data = slim.dataset.Dataset(["f"], tf.TFRecordReader, decoder, 6, {"x": "a number"}, num_classes=3)
    provider = slim.dataset_data_provider.DatasetDataProvider(data, num_epochs=1, scope="p")
    found = provider.get(["x", "record_key"])
    return _names(found) + sorted(provider.list_items()) + [provider.num_samples(), data.num_classes]


def _reader(tf, slim):
    queue = tf.FIFOQueue(8, [tf.string, tf.string])
    reader = slim.parallel_reader.ParallelReader(tf.TFRecordReader, queue, num_readers=3)
    files = tf.train.string_input_producer(["a"])
    numbers = [reader.num_records_produced(name="np"), reader.num_work_units_completed(name="nw")]
    return _names([*reader.read(files, "r"), *reader.read_up_to(files, 2, "u"), *numbers]) + [reader.num_readers]


def _taken(tf, slim):
    decoders = slim.tfexample_decoder
    decoder = decoders.TFExampleDecoder({"a": tf.FixedLenFeature([1], tf.int64)}, {"x": decoders.Tensor("a")})
    data = slim.dataset.Dataset(["f"], tf.TFRecordReader, decoder, 6, {})
    return slim.dataset_data_provider.DatasetDataProvider(data, record_key="x").list_items()


graph("read", _read(shuffle=False))
graph("read shuffled", _read(num_epochs=2, capacity=16, min_after_dequeue=4, seed=1))
graph("single", lambda tf, slim: _names(slim.parallel_reader.single_pass_read("a", tf.TextLineReader, scope="one")))
graph("prefetch", _prefetch())
graph("prefetch padded", _prefetch(dynamic_pad=True, capacity=3, name="pf", shared_name="s"))
graph("prefetch unknown", lambda tf, slim: slim.prefetch_queue.prefetch_queue([tf.placeholder(tf.float32)]).names)
graph("provider", _provider)
graph("reader", _reader)
graph("record key", _taken)
graph("no item", lambda tf, slim: slim.data_provider.DataProvider({"a": 1}, 1).get(["b"]))
graph(
    "reader of one",
    lambda tf, slim: slim.parallel_reader.ParallelReader(tf.TFRecordReader, tf.FIFOQueue(8, [tf.string])).num_readers,
)


def _sizes(tf, slim):
    variables = [tf.get_variable("a", [2, 3]), tf.get_variable("b", [4], tf.int64)]
    tensor = tf.placeholder(tf.float32, [None, 2])
    return [
        *slim.model_analyzer.analyze_vars(variables),
        slim.model_analyzer.tensor_description(tensor),
        slim.model_analyzer.tensor_description(tf.zeros([])),
    ]


graph("sizes", _sizes)


def small(name):
    """A case of ``function(tf, slim)``, which gives tensors by their names, or a tensor."""

    def add(function):
        def build(tf, contrib):
            made = function(tf, contrib.slim)
            return {"outputs": made if isinstance(made, dict) else {"made": made}}

        assert name not in CASES
        CASES[name] = build
        return function

    return add


def _unknown(tf, values):
    """``values``, whose sizes are known only when they are there."""
    return tf.placeholder_with_default(tf.constant(values), [None] * np.ndim(values))


def _exact(tf, numbers):
    """Large numbers as text, which is compared to the last digit."""
    return numbers if numbers.dtype == tf.string else tf.as_string(numbers)


def _columns(tf):
    words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], _unknown(tf, ["a", "b", "c"]), [2, 2])
    return [words, _unknown(tf, np.array([[1, -2], [3, 1 << 40]]))]


for _name, _arguments in {
    "text": {},
    "numbers": {"hashed_output": True},
    "buckets": {"hashed_output": True, "num_buckets": 100},
    "key": {"hashed_output": True, "num_buckets": 1000, "hash_key": 956888297470},
    "key numbers": {"hashed_output": True, "hash_key": 5},
    "text key": {"hash_key": 5, "num_buckets": 10},
}.items():

    @small("cross " + _name)
    def _(tf, slim, arguments=_arguments):
        crossed = slim.sparse_feature_cross(_columns(tf), **arguments)
        return {"values": _exact(tf, crossed.values), "indices": crossed.indices, "shape": crossed.dense_shape}


@small("cross signs")
def _(tf, slim):
    numbers = np.random.RandomState(3).randint(-(1 << 62), 1 << 62, [40, 2])
    return _exact(tf, slim.sparse_feature_cross([_unknown(tf, numbers), _unknown(tf, numbers[:, :1])], True).values)


small("wrong cross")(lambda tf, slim: slim.sparse_feature_cross(tf.constant([[1]], tf.int64)).values)
small("bucketize")(lambda tf, slim: slim.bucketize([[1.0, 2.0], [5.0, 20.0]], [2.0, 10.0]))
small("bucketize name")(lambda tf, slim: slim.bucketize([1, 5, 20], (2, 10), name="mine"))
small("wrong bucketize")(lambda tf, slim: slim.bucketize([1.0, 5.0], 2.0))


def looked_up(case, parts=True, weighted=True, **arguments):
    @small("looked up " + case)
    def _(tf, slim):
        params = [tf.constant(np.arange(6.0).reshape(3, 2) + 6 * part, tf.float32) for part in range(2)]
        rows = _unknown(tf, np.array([[0, 0], [0, 1], [1, 0], [3, 0]]))
        ids = tf.SparseTensor(rows, tf.constant([0, 5 if parts else 2, 0, 1], tf.int64), [6, 2])
        weights = tf.SparseTensor(rows, tf.constant([1.0, 2.0, 3.0, -1.0]), [6, 2]) if weighted else None
        given = dict({"params": params if parts else params[0], "sp_ids": ids, "sp_weights": weights}, **arguments)
        given = {key: value(tf) if callable(value) else value for key, value in given.items()}
        return slim.embedding_lookup_sparse_with_distributed_aggregation(**given)


looked_up("mean")
looked_up("one part", parts=False)
looked_up("unweighted", weighted=False)
looked_up("sum", combiner="sum", partition_strategy="div", name="mine")
looked_up("sqrtn", combiner="sqrtn", weighted=False)
looked_up("sqrtn weighted", combiner="sqrtn")
looked_up("max_norm", max_norm=1.0, combiner="sum")
looked_up("wrong combiner", combiner="max")
looked_up("wrong strategy", partition_strategy="hash")
looked_up("wrong ids", sp_ids=lambda tf: tf.constant([[1]]))
looked_up("wrong weights", sp_weights=lambda tf: tf.constant([[1.0]]))
looked_up("wrong params", params=None)


def clipped(case, step=None, factors=(1.0, 2.0, 30.0, 1.0, 0.1, 500.0), **arguments):
    """The gradients after some steps, each with gradients ``factor`` times as large."""

    @small("clipped " + case)
    def _(tf, slim):
        given = dict(arguments)
        if step is not None:
            given["global_step"] = tf.constant(step, tf.int64)
        v, u = tf.get_variable("v", [3]), tf.get_variable("u", [4, 2])
        outputs = {}
        gradients = [2.0 * v, None, tf.gradients(tf.reduce_sum(tf.gather(u, [1, 3, 1])), u)[0]]
        with tf.variable_scope("clipping", reuse=tf.AUTO_REUSE):
            with tf.variable_scope("first"):
                slim.adaptive_clipping_fn(name="usual", **given)([(v, v)])
            done = []
            for number, factor in enumerate(factors):
                with tf.control_dependencies(done):
                    scaled = [
                        tf.IndexedSlices(g.values * factor, g.indices, g.dense_shape)
                        if isinstance(g, tf.IndexedSlices)
                        else g
                        if g is None
                        else g * factor
                        for g in gradients
                    ]
                    pairs = slim.adaptive_clipping_fn(name="usual", **given)(list(zip(scaled, [v, v, u])))
                assert pairs[1][0] is None
                done = [pairs[0][0], pairs[2][0].values]
                outputs.update({"dense%d" % number: done[0], "sparse%d" % number: done[1]})
        return outputs


clipped("default")
clipped("static", static_max_norm=3.0, report_summary=True)
clipped("quick", step=3, decay=0.9, std_factor=0.5)
clipped("slow", step=1000, decay=0.5)
clipped("epsilon", epsilon=0.5, std_factor=0.1)


@small("scope keys")
def _(tf, slim):
    @slim.add_arg_scope
    def layer(a=1):
        return a

    key = slim.arg_scope_func_key
    with slim.arg_scope([layer], a=2) as scope:
        return tf.constant([key(layer) in scope, key(layer) == key("x"), key(len) == str(len)])


@small("experimental")
def _(tf, slim):
    @slim.experimental
    def documented(x):
        """Doc of it.

        Args:
            x: x.
        """
        return x

    bare = slim.experimental(lambda: 3)
    return tf.constant(
        ["\n".join(line.strip() for line in text.split("\n")) for text in (documented.__doc__, bare.__doc__)]
    )


small("wrong experimental")(lambda tf, slim: slim.experimental(3))


@small("input layer")
def _(tf, slim):
    column = tf.feature_column.numeric_column("x", [2])
    words = tf.feature_column.categorical_column_with_identity("word", 5)
    layer = slim.InputLayer([column, tf.feature_column.embedding_column(words, 3)])
    features = {"x": tf.constant([[1.0, 2.0]]), "word": tf.constant([[3]], tf.int64)}
    return {"first": layer(features), "again": layer(features)}
