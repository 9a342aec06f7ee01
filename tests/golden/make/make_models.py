"""Write the folder models/: artifacts of TensorFlow 1.15.5 and, for each case of model_cases.py, its outputs.

Run it with genuine TensorFlow 1.15.5: ``python make_models.py``. It works inside the folder, so that no artifact names
a path of this machine. Each function of ``BUILDERS`` builds one graph and writes it as one or more artifacts. The
outputs are those of 1.15.5 after it read the artifact back; a graph that needs other hardware has a twin that is asked
in its place.
"""

import gzip
import json
import os
import shutil
import sys

from folders import DATA  # noqa: F401 - its import puts the cases on the path

# isort: split
import model_cases
import model_reading
import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow import contrib
from tensorflow.contrib.reduce_slice_ops.python.ops import reduce_slice_ops
from tensorflow.contrib.session_bundle import exporter
from tensorflow.python.framework import function
from tensorflow.python.ops import gen_lookup_ops

FOLDER = model_cases.FOLDER
BUILDERS = {}


def artifact(build):
    """``build`` writes below models/ and may return the graph that answers for it."""
    BUILDERS[build.__name__] = build
    return build


def weights(name, *shape, **rest):
    """A variable whose values come from its name's length and its shape, so that each run writes the same."""

    def initial(shape, dtype=None, partition_info=None):
        offset = sum(partition_info.var_offset) if partition_info else 0
        return tf.constant(values(name, shape) + offset, dtype)

    return tf.get_variable(name, shape, initializer=initial, **rest)


def values(name, shape):
    return np.random.RandomState(len(name)).uniform(-1, 1, shape).astype(np.float32)


def started():
    session = tf.Session()
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    return session


def write(graph_def, name):
    tf.train.write_graph(graph_def, ".", name, as_text=name.endswith("txt"))


def freeze(session, outputs, *names):
    graph_def = tf.graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(), outputs)
    for name in names:
        write(graph_def, name)
    return graph_def


def network():
    """Images [N, 4, 4, 1] to probabilities [N, 3]."""
    images = tf.placeholder(tf.float32, [None, 4, 4, 1], name="images")
    training = tf.placeholder_with_default(False, [], name="training")
    hidden = tf.layers.conv2d(images, 2, 3, padding="same", name="conv")
    hidden = tf.nn.relu(tf.layers.batch_normalization(hidden, training=training, name="norm"))
    logits = tf.layers.dense(tf.layers.flatten(hidden), 3, name="logits")
    return images, tf.nn.softmax(logits, name="probabilities")


def learn(probabilities):
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.name_scope("loss"):
        loss = -tf.reduce_mean(tf.log(tf.reduce_sum(probabilities * tf.one_hot(labels, 3), 1)))
    tf.summary.scalar("loss_summary", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_or_create_global_step(), name="step")
    tf.summary.merge_all(name="summaries")


# ------------------------------------------------------------------------------------------------- graphs, checkpoints


@artifact
def frozen():
    tf.set_random_seed(1)
    network()
    freeze(started(), ["probabilities"], "frozen.pb")


@artifact
def training():
    tf.set_random_seed(1)
    images, probabilities = network()
    learn(probabilities)
    session = started()
    session.run("step", {"images:0": model_cases.IMAGES, "labels:0": [0, 1, 2]})
    tf.train.Saver().save(session, "training/model.ckpt", global_step=7)


@artifact
def checkpoint_v1():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.add(tf.matmul(x, weights("w", 4, 3)), weights("bias", 3), name="y")
    tf.train.Saver(write_version=tf.train.SaverDef.V1).save(started(), "v1_format/model.ckpt")
    with open("v1_format/checkpoint", "w") as file:  # as if the folder had been moved here
        file.write('model_checkpoint_path: "/home/somebody/run_3/model.ckpt"\n')


@artifact
def checkpoint_sharded():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.add(tf.matmul(x, weights("w", 4, 3)), weights("bias", 3), name="y")
    tf.train.Saver(sharded=True).save(started(), "sharded/model.ckpt")
    write(tf.get_default_graph().as_graph_def(), "sharded/graph.pb")


@artifact
def variables():
    """Ref, resource, partitioned, integer, local variables; slots of a partitioned one."""
    ids = tf.placeholder(tf.int64, [None], name="ids")
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    table = weights("table", 7, 2, partitioner=tf.fixed_size_partitioner(3))
    embedded = tf.nn.embedding_lookup(table, ids, partition_strategy="div", name="embedded")
    resource = weights("resource", 4, 2, use_resource=True)
    scale = tf.get_variable("scale", initializer=np.int64(3), trainable=False)
    y = tf.identity(tf.matmul(x, resource) * tf.cast(scale, tf.float32) + weights("ref", 2), name="y")
    wide = weights("wide", 2, 6, use_resource=True, partitioner=tf.fixed_size_partitioner(2, axis=1))
    tf.matmul(embedded + y, tf.convert_to_tensor(wide), name="both")
    tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(embedded), name="step")
    session = started()
    session.run("step", {ids: [1, 2], x: model_cases.ROWS[:2]})
    tf.train.Saver().save(session, "variables/model.ckpt")


# --------------------------------------------------------------------------------------------------------- SavedModels


def signature(inputs, outputs, method=tf.saved_model.signature_constants.PREDICT_METHOD_NAME):
    info = tf.saved_model.build_tensor_info
    return tf.saved_model.build_signature_def(
        {key: info(tensor) for key, tensor in inputs.items()},
        {key: info(tensor) for key, tensor in outputs.items()},
        method,
    )


@artifact
def saved_training():
    """With its gradients, whose recorded shapes today's TensorFlow does not infer."""
    tf.set_random_seed(1)
    images, probabilities = network()
    learn(probabilities)
    tf.saved_model.simple_save(started(), "saved_training", {"images": images}, {"probabilities": probabilities})


@artifact
def saved_signatures():
    constants = tf.saved_model.signature_constants
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    scale = tf.placeholder_with_default(tf.constant(1.0), [], name="scale")
    w = weights("w", 4, 3)
    scores = tf.multiply(tf.matmul(x, w), scale, name="scores")
    examples = tf.placeholder(tf.string, [None], name="examples")
    parsed = tf.parse_example(examples, {"x": tf.FixedLenFeature([4], tf.float32)})["x"]
    of_examples = tf.matmul(parsed, w, name="scores_of_examples")
    classes = tf.tile(tf.constant([["a", "b", "c"]]), [tf.shape(examples)[0], 1], name="classes")
    regressed = tf.reduce_sum(of_examples, 1, keepdims=True, name="regressed")
    builder = tf.saved_model.Builder("saved_signatures")
    builder.add_meta_graph_and_variables(
        started(),
        ["serve"],
        {
            constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature({"x": x, "scale": scale}, {"scores": scores}),
            "classify": signature(
                {constants.CLASSIFY_INPUTS: examples},
                {constants.CLASSIFY_OUTPUT_CLASSES: classes, constants.CLASSIFY_OUTPUT_SCORES: of_examples},
                constants.CLASSIFY_METHOD_NAME,
            ),
            "regress": signature(
                {constants.REGRESS_INPUTS: examples},
                {constants.REGRESS_OUTPUTS: regressed},
                constants.REGRESS_METHOD_NAME,
            ),
        },
        strip_default_attrs=True,
    )
    builder.save()


@artifact
def saved_tags():
    """Three graphs on the same variables."""
    builder = tf.saved_model.Builder("saved_tags")
    for index, tags in enumerate((["serve"], ["serve", "gpu"], ["train"])):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, 4], name="x")
            w = weights("w", 4, 2)
            if "train" in tags:
                out = tf.reduce_mean(tf.nn.softplus(tf.matmul(x, w)), name="loss")
            elif "gpu" in tags:
                with tf.device("/job:serving/task:1/device:GPU:3"):
                    out = tf.multiply(tf.matmul(x, w), 2.0, name="y_gpu")
            else:
                out = tf.matmul(x, w, name="y")
            signatures = {"serving_default": signature({"x": x}, {"out": out})}
            if index:
                tf.train.Saver()
                builder.add_meta_graph(tags, signatures)
            else:
                builder.add_meta_graph_and_variables(started(), tags, signatures)
    builder.save()


def _vocabulary():
    file = "vocabulary.txt"
    with open(file, "w") as out:
        out.write("a\nb\nc\n")
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, tf.constant(file, name="vocabulary"))
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.TextFileInitializer(
            tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)[0],
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        ),
        num_oov_buckets=1,
    )
    words = tf.placeholder(tf.string, [None], name="words")
    return words, tf.add(table.lookup(words), tf.cast(weights("shift", 1) * 0, tf.int64), name="ids")


def _saved_with_assets(name, **init):
    words, ids = _vocabulary()
    init = {key: make() for key, make in init.items()}
    builder = tf.saved_model.Builder(name)
    builder.add_meta_graph_and_variables(
        started(),
        ["serve"],
        {"serving_default": signature({"words": words}, {"ids": ids})},
        assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
        **init,
    )
    builder.save()
    os.remove("vocabulary.txt")


@artifact
def saved_legacy_init_op():
    _saved_with_assets("saved_legacy_init_op", legacy_init_op=tf.tables_initializer)


@artifact
def saved_main_op():
    _saved_with_assets("saved_main_op", main_op=tf.saved_model.main_op.main_op)


@artifact
def saved_no_signature():
    tf.matmul(tf.placeholder(tf.float32, [None, 4], name="x"), weights("w", 4, 3), name="y")
    builder = tf.saved_model.Builder("saved_no_signature")
    builder.add_meta_graph_and_variables(started(), ["serve"])
    builder.save(as_text=True)


# ----------------------------------------------------------------------------------------------------- session bundles


@artifact
def bundle_regression():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.add(tf.matmul(x, weights("w", 4, 1)), weights("bias", 1), name="y")
    session = started()
    export = exporter.Exporter(tf.train.Saver(sharded=True))
    export.init(session.graph.as_graph_def(), default_graph_signature=exporter.regression_signature(x, y))
    export.export("bundle_regression", tf.constant(3), session)


@artifact
def bundle_classification():
    words, ids = _vocabulary()
    scores = tf.nn.softmax(tf.gather(weights("rows", 4, 2), ids), name="scores")
    classes = tf.gather(tf.constant(["no", "yes"]), tf.argmax(scores, 1), name="classes")
    session = started()
    export = exporter.Exporter(tf.train.Saver())
    export.init(
        init_op=tf.group(tf.tables_initializer(), name="init_op"),
        default_graph_signature=exporter.classification_signature(words, classes, scores),
        named_graph_signatures={"ids": exporter.generic_signature({"words": words, "ids": ids})},
        assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
    )
    export.export("bundle_classification", tf.constant(1), session)
    os.remove("vocabulary.txt")


# --------------------------------------------------------------------------------------------------- what can be inside


@artifact
def tables():
    words = tf.placeholder(tf.string, [None], name="words")
    keys = tf.constant(["a", "b", "c"])
    lookup = tf.lookup
    table = contrib.lookup.HashTable(contrib.lookup.KeyValueTensorInitializer(keys, tf.range(3, dtype=tf.int64)), -1)
    ids = tf.identity(table.lookup(words), name="ids")
    with_buckets = contrib.lookup.index_table_from_tensor(keys, num_oov_buckets=2)
    tf.identity(with_buckets.lookup(words), name="hashed")
    static = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(keys, tf.constant([0.5, 1.5, 2.5])), 9.0)
    tf.identity(static.lookup(words), name="values")
    names = contrib.lookup.index_to_string_table_from_tensor(keys, default_value="?")
    tf.identity(names.lookup(ids), name="names")
    mutable = contrib.lookup.MutableHashTable(tf.string, tf.int64, 7)
    tf.identity(mutable.lookup(words), name="found_later")
    outputs = ["ids", "hashed", "values", "names", "found_later"]
    freeze(started(), outputs + ["init_all_tables"], "tables.pb")


@artifact
def tables_old():
    """The table of TensorFlow 0.x, whose handle is a reference to strings."""
    words = tf.placeholder(tf.string, [None], name="words")
    table = gen_lookup_ops.hash_table(tf.string, tf.int64, name="table")
    init = gen_lookup_ops.initialize_table(table, tf.constant(["a", "b"]), tf.constant([5, 6], tf.int64), name="init")
    gen_lookup_ops.lookup_table_find(table, words, tf.constant(-1, tf.int64), name="ids")
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, init)
    freeze(started(), ["ids", "init_all_tables"], "tables_old.pb")


@artifact
def control_flow():
    x = tf.placeholder(tf.float32, [1], name="x")
    w = weights("w", 1)
    chosen = tf.cond(x[0] > 1, lambda: (x * 2 + w, tf.constant(1)), lambda: (x - w, tf.constant(0)))
    inner = lambda i, v: tf.while_loop(lambda j, _: j < i, lambda j, u: (j + 1, u + w), [0, v])[1]  # noqa: E731
    looped = tf.while_loop(lambda i, _: i < 4, lambda i, v: (i + 1, inner(i, v) * 1.5), [0, x])[1]
    tf.identity(chosen[0], name="chosen")
    tf.identity(looped, name="looped")
    tf.identity(tf.gradients([chosen[0], looped], x)[0], name="slope")
    freeze(started(), ["chosen", "looped", "slope"], "control_flow.pb")


@artifact
def control_flow_v2():
    """If and While, which 1.15 writes with functions in the graph's library."""
    tf.enable_control_flow_v2()
    try:
        x = tf.placeholder(tf.float32, [1], name="x")
        chosen = tf.cond(x[0] > 1, lambda: x * 2, lambda: x - 1)
        looped = tf.while_loop(lambda i, _: i < 4, lambda i, v: (i + 1, v * 1.5 + x), [0, x])[1]
        tf.stack([chosen, looped], name="both")
        write(tf.get_default_graph().as_graph_def(), "control_flow_v2.pb")
    finally:
        tf.disable_control_flow_v2()


@artifact
def functions():
    @function.Defun(tf.float32, tf.float32, func_name="inner")
    def inner(a, b):
        return tf.matmul(a, b, transpose_b=True)

    @function.Defun(tf.float32, func_name="outer")
    def outer(a):
        return tf.nn.relu(inner(a, a)) - 0.25

    tf.identity(outer(tf.placeholder(tf.float32, [None, 4], name="x")), name="called")
    write(tf.get_default_graph().as_graph_def(), "functions.pb")


@artifact
def recurrent():
    tf.set_random_seed(1)
    sequences = tf.placeholder(tf.float32, [None, 5, 3], name="sequences")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    steps = tf.unstack(sequences, axis=1)[:2]
    static, _ = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), steps, dtype=tf.float32)
    tf.stack(static, 1, name="static")
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(2)])
    dynamic, state = tf.nn.dynamic_rnn(cell, sequences, lengths, dtype=tf.float32)
    tf.identity(dynamic, name="dynamic")
    tf.identity(state[-1].h, name="last")
    freeze(started(), ["static", "dynamic", "last"], "recurrent.pb")


@artifact
def recurrent_checkpoint():
    tf.set_random_seed(1)
    sequences = tf.placeholder(tf.float32, [None, 5, 3], name="sequences")
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), sequences, dtype=tf.float32)
    tf.identity(outputs, name="outputs")
    tf.train.Saver().save(started(), "recurrent/model.ckpt")


@artifact
def strings():
    serialized = tf.placeholder(tf.string, [None], name="serialized")
    features = {"x": tf.FixedLenFeature([4], tf.float32), "words": tf.VarLenFeature(tf.string)}
    parsed = tf.parse_example(serialized, features, name="example")
    tf.multiply(parsed["x"], 2.0, name="doubled")
    words = tf.sparse_to_dense(
        parsed["words"].indices, parsed["words"].dense_shape, parsed["words"].values, "", name="parsed/SparseToDense"
    )
    tf.string_join([tf.constant("hello "), words], name="greeting")
    tf.strings.length(words, name="lengths")
    write(tf.get_default_graph().as_graph_def(), "strings.pb")


@artifact
def queue():
    """The input pipeline of a TF1 tutorial: file names, lines, columns, batches of any size."""
    names = tf.train.string_input_producer(["nowhere/a.csv", "nowhere/b.csv"], name="names")
    _, line = tf.TextLineReader().read(names)
    columns = tf.stack(tf.decode_csv(line, [[0.0], [0.0]]))
    batch = tf.train.shuffle_batch([columns], 2, 20, 5, allow_smaller_final_batch=True, name="batching")
    batch = tf.identity(batch, name="batch")
    tf.matmul(batch, weights("w", 2, 3), name="y")
    runners = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    freeze(started(), ["y"] + [each.name for runner in runners for each in runner.enqueue_ops], "queue.pb")


@artifact
def dtypes():
    int32 = tf.placeholder(tf.int32, [None, 2], name="int32")
    int64 = tf.placeholder(tf.int64, [None, 2], name="int64")
    boolean = tf.placeholder(tf.bool, [None, 2], name="bool")
    float64 = tf.placeholder(tf.float64, [None, 2], name="float64")
    half = tf.placeholder(tf.float16, [None, 2], name="half")
    uint8 = tf.placeholder(tf.uint8, [None, 2], name="uint8")
    complex64 = tf.placeholder(tf.complex64, [None, 2], name="complex64")
    tf.add(tf.cast(int32, tf.int64) * 3, int64, name="ints")
    tf.where(boolean, float64, -float64, name="chosen")
    tf.multiply(half, tf.constant(0.5, tf.float16), name="halves")
    tf.cast(tf.floordiv(tf.cast(uint8, tf.int32), 2), tf.uint8, name="bytes")
    tf.conj(complex64, name="conjugates")
    tf.reduce_any(boolean, 1, name="any")
    write(tf.get_default_graph().as_graph_def(), "dtypes.pb")


@artifact
def odd_names():
    rows = tf.placeholder(tf.float32, [None, 4], name="net/image-tensor.1")
    chosen = tf.placeholder(tf.int32, [None], name="class")
    factor = tf.placeholder(tf.float32, [], name="2x")
    other = tf.placeholder(tf.float32, [None, 4], name="net_1/x")
    scaled = tf.multiply(rows, factor, name="net/a.b/c-d")
    tf.multiply(tf.gather(tf.eye(4), chosen), scaled + other, name="out/2")
    write(tf.get_default_graph().as_graph_def(), "odd_names.pb")
    write(tf.get_default_graph().as_graph_def(), "odd_names.pbtxt")


@artifact
def quantized():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.quantization.fake_quant_with_min_max_vars(x, -1.0, 1.0, name="fake")
    q, low, high = tf.quantization.quantize(x, -1.0, 1.0, tf.quint8, mode="MIN_FIRST", name="q")
    w = tf.constant(values("w", (4, 2)))
    qw, low_w, high_w = tf.quantization.quantize(w, -1.0, 1.0, tf.quint8, mode="MIN_FIRST", name="qw")
    tf.quantization.dequantize(q, low, high, mode="MIN_FIRST", name="restored")
    product, low_p, high_p = tf.raw_ops.QuantizedMatMul(
        a=q, b=qw, min_a=low, max_a=high, min_b=low_w, max_b=high_w, name="quantized_product"
    )
    out, low_o, high_o = tf.raw_ops.QuantizeDownAndShrinkRange(
        input=product, input_min=low_p, input_max=high_p, out_type=tf.quint8
    )
    tf.quantization.dequantize(out, low_o, high_o, mode="MIN_FIRST", name="product")
    write(tf.get_default_graph().as_graph_def(), "quantized.pb")


# --------------------------------------------------------------------------------------- as older versions wrote them


def by_text(text, name, producer=8):
    """A graph from nodes as text, with what 0.5 to 0.8 wrote as its version, or none."""
    graph_def = text_format.Parse(text, tf.GraphDef())
    if producer:
        graph_def.versions.producer = producer
    write(graph_def, name)


def node(op, name, inputs=(), **attrs):
    lines = ['name: "%s" op: "%s"' % (name, op)] + ['input: "%s"' % source for source in inputs]
    lines += ['attr { key: "%s" value { %s } }' % item for item in sorted(attrs.items())]
    return "node { %s }\n" % " ".join(lines)


def constant(name, array):
    array = np.asarray(array)
    proto = tf.make_tensor_proto(array)
    kind = tf.as_dtype(array.dtype).as_datatype_enum
    return node("Const", name, dtype="type: %d" % kind, value="tensor { %s }" % text_format.MessageToString(proto))


FLOAT, INT = "type: DT_FLOAT", "type: DT_INT32"


def placeholder(name):
    return node("Placeholder", name, dtype=FLOAT, shape="shape { }")  # before 1.5 that meant: any shape


@artifact
def old_ops():
    """Before 0.9: no versions, no dilations, data_format, half_pixel_centers, axis of Pack; shape { } is unknown."""
    channels = [constant(name, values(name, 2)) for name in ("mean", "beta", "gamma")]
    text = placeholder("images") + "".join(channels) + constant("variance", np.float32([0.5, 2.0]))
    text += node(
        "BatchNormWithGlobalNormalization",
        "normalized",
        ["images", "mean", "variance", "beta", "gamma"],
        T=FLOAT,
        scale_after_normalization="b: true",
        variance_epsilon="f: 0.001",
    )
    text += constant("size", np.int32([3, 7])) + constant("axis", np.int32(3))
    text += node("ResizeBilinear", "resized", ["normalized", "size"], T=FLOAT)
    text += node("ResizeNearestNeighbor", "nearest", ["images", "size"], T=FLOAT)
    text += node("Concat", "joined", ["axis", "images", "normalized"], N="i: 2", T=FLOAT)
    text += node("Split", "half_0", ["axis", "joined"], T=FLOAT, num_split="i: 2")
    text += node("Pack", "packed", ["images", "half_0:1"], N="i: 2", T=FLOAT)
    text += constant("kernel", values("kernel", (3, 3, 2, 1)))
    strides = "list { i: 1 i: 1 i: 1 i: 1 }"
    text += node("Conv2D", "convolved", ["images", "kernel"], T=FLOAT, padding='s: "SAME"', strides=strides)
    window = dict(ksize="list { i: 1 i: 4 i: 4 i: 1 }", strides=strides, padding='s: "VALID"')
    text += node("MaxPool", "pooled", ["convolved"], **window)
    text += node("Squeeze", "squeezed", ["pooled"], T=FLOAT, squeeze_dims="list { i: 1 i: 2 }")
    by_text(text, "old_ops.pbtxt", producer=0)


@artifact
def old_arrays():
    """TopK, the Batch… operations and arrays of tensors, before they were replaced."""
    text = placeholder("rows")
    text += node("TopK", "top", ["rows"], T=FLOAT, k="i: 1")
    text += node("BatchMatrixDeterminant", "determinants", ["rows"], T=FLOAT)
    text += node("BatchMatrixDiagPart", "diagonal", ["rows"], T=FLOAT)
    text += node("Sum", "scalars", ["rows", "axes"], T=FLOAT, keep_dims="b: false")
    text += constant("axes", np.int32([1, 2]))
    by_text(text, "old_arrays.pbtxt", producer=6)


@artifact
def old_fused():
    """As an optimised graph was saved: fused operations, whose arguments were of one type in 1.x."""
    images = tf.placeholder(tf.float32, [None, 4, 4, 1], name="images")
    kernel = tf.constant(values("kernel", (3, 3, 1, 2)), name="kernel")
    bias = tf.constant(values("bias", 2), name="bias")
    tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, kernel, 1, "SAME"), bias), name="fused")
    rows = tf.reshape(images, [-1, 16], name="rows")
    matrix = tf.constant(values("matrix", (16, 2)), name="matrix")
    tf.nn.bias_add(tf.matmul(rows, matrix), bias, name="product")
    twin = tf.get_default_graph().as_graph_def()
    old = tf.GraphDef(versions=twin.versions)
    old.node.extend(each for each in twin.node if each.op in ("Placeholder", "Const", "Reshape"))
    conv = dict(padding='s: "SAME"', strides="list { i: 1 i: 1 i: 1 i: 1 }", num_args="i: 1", T=FLOAT)
    fused = 'list { s: "BiasAdd" s: "Relu" }'
    text = node("_FusedConv2D", "fused", ["images", "kernel", "bias"], fused_ops=fused, **conv)
    text += node(
        "_FusedMatMul",
        "product",
        ["rows", "matrix", "bias"],
        fused_ops='list { s: "BiasAdd" }',
        num_args="i: 1",
        T=FLOAT,
    )
    text_format.Merge(text, old)
    write(old, "old_fused.pb")
    return twin


def _normalized(training):
    images = tf.placeholder(tf.float32, [None, 4, 4, 1], name="images")
    hidden = contrib.layers.conv2d(images, 2, 3, activation_fn=None, biases_initializer=None, scope="conv")
    hidden = contrib.layers.batch_norm(hidden, is_training=training, updates_collections=None, scale=True, fused=False)
    tf.nn.relu(hidden, name="normalized")
    session = started()
    for index, variable in enumerate(tf.global_variables()):
        variable.load(np.abs(values("v" * index, variable.shape.as_list())) + 0.1, session)
    return session


@artifact
def frozen_references():
    """Variables became constants, and what assigns to them stayed: a well-known failure of frozen graphs."""
    with tf.Graph().as_default():
        twin = freeze(_normalized(False), ["normalized"])
    session = _normalized(tf.placeholder_with_default(False, [], name="training"))
    tf.train.Saver()
    graph_def = session.graph.as_graph_def()
    for each in graph_def.node:
        if each.op == "VariableV2":
            kind = each.attr["dtype"].type
            value = tf.make_tensor_proto(session.run(each.name + ":0"))
            each.op = "Const"
            each.ClearField("attr")
            each.attr["dtype"].type = kind
            each.attr["value"].tensor.CopyFrom(value)
    write(graph_def, "frozen_references.pb")
    return twin


@artifact
def frozen_resources():
    """The same with resource variables, by a tool that knows the others only."""
    ids = tf.placeholder(tf.int32, [None], name="ids")
    table = weights("table", 4, 3, use_resource=True)
    tf.matmul(tf.nn.embedding_lookup(table, ids), weights("w", 3, 2, use_resource=True), name="y")
    session = started()
    twin = freeze(session, ["y"])
    graph_def = tf.graph_util.extract_sub_graph(session.graph.as_graph_def(), ["y"])
    for each in graph_def.node:
        if each.op == "VarHandleOp":
            value = tf.make_tensor_proto(session.run(each.name + "/Read/ReadVariableOp:0"))
            each.op = "Const"
            each.ClearField("attr")
            each.attr["dtype"].type = value.dtype
            each.attr["value"].tensor.CopyFrom(value)
    write(graph_def, "frozen_resources.pb")
    return twin


@artifact
def broken_references():
    """Colocated with nodes that were cut off, on hosts and devices of a cluster that is gone."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    with tf.device("/job:ps/replica:0/task:3/device:GPU:1"):
        y = tf.matmul(x, tf.constant(values("w", (4, 2))), name="y")
    twin = tf.get_default_graph().as_graph_def()
    old = tf.GraphDef()
    old.CopyFrom(twin)
    for each in old.node:
        if each.name == y.op.name:
            each.attr["_class"].list.s.extend([b"loc:@w_that_was_cut/read", b"loc:@x"])
            each.attr["_output_shapes"].list.shape.add().dim.add().size = 5
    write(old, "broken_references.pb")
    for each in twin.node:
        each.device = ""
    return twin


# ------------------------------------------------------------------------------------------- what today does not have


@artifact
def contrib_ops():
    """Operations of contrib that others make up for, one of them in a function."""
    images = tf.placeholder(tf.float32, [None, 4, 4, 1], name="images")
    steps = tf.placeholder(tf.int32, [None, None, None], name="steps")
    parents = tf.placeholder(tf.int32, [None, None, None], name="parents")
    lengths = tf.placeholder(tf.int32, [None], name="max_lengths")
    tf.identity(contrib.seq2seq.gather_tree(steps, parents, lengths, 0), name="beams")
    warp = tf.placeholder(tf.float32, [None, None, 2], name="warp")
    tf.identity(contrib.resampler.resampler(images, warp), name="resampled")
    transforms = tf.placeholder(tf.float32, [None, 8], name="transforms")
    tf.identity(contrib.image.transform(images, transforms), name="moved")
    in_loop = lambda i, points: (i + 1, points + tf.tile(contrib.resampler.resampler(images, points), [1, 1, 2]))  # noqa: E731
    tf.identity(tf.while_loop(lambda i, _: i < 3, in_loop, [0, warp])[1], name="followed")

    @function.Defun(tf.float32, tf.float32, func_name="calls_resampler")
    def calls_resampler(data, where):
        return contrib.resampler.resampler(data, where)

    tf.identity(calls_resampler(images, warp), name="inner")
    words = tf.placeholder(tf.string, [3], name="words")
    column = contrib.layers.sparse_column_with_hash_bucket("words", 50)
    other = contrib.layers.sparse_column_with_integerized_feature("numbers", 50)
    crossed = contrib.layers.crossed_column([column, other], 1000, hash_key=77)
    where = ([[0, 0], [1, 0], [2, 0]], [3, 1])
    numbers = tf.constant([7, 8, 9], tf.int64)
    features = {
        "words": tf.SparseTensor(where[0], words, where[1]),
        "numbers": tf.SparseTensor(where[0], numbers, where[1]),
    }
    found = contrib.layers.transform_features(features, [crossed])[crossed]
    tf.identity(found.values, name="crossed")
    write(tf.get_default_graph().as_graph_def(), "contrib_ops.pb")


@artifact
def unknown():
    """Operations of contrib that are gone for good, in a graph whose main branch does without."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.reduce_mean(x, 1, name="known")
    slices = tf.constant([[0, 2], [1, 3]])
    tf.identity(reduce_slice_ops.reduce_slice_sum(x, slices, 0), name="sliced")

    @function.Defun(tf.float32, func_name="slices")
    def calls_slices(data):
        return reduce_slice_ops.reduce_slice_max(data, tf.constant([[0, 1]]), 1)

    tf.identity(calls_slices(x), name="inner")
    write(tf.get_default_graph().as_graph_def(), "unknown.pb")


# ------------------------------------------------------------------------------------------------- TPU, TensorRT, MKL


@artifact
def saved_tpu():
    """The two graphs that TPUEstimator exports: for the CPU, and with the computation for one TPU core."""
    builder = tf.saved_model.Builder("saved_tpu")
    for tags in (["serve"], ["serve", "tpu"]):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, 4], name="x")
            compute = lambda data: tf.nn.relu(tf.matmul(data, weights("w", 4, 3, use_resource=True)))  # noqa: E731
            out = contrib.tpu.rewrite(compute, [x])[0] if "tpu" in tags else compute(x)
            y = tf.identity(out, name="y")
            signatures = {"serving_default": signature({"x": x}, {"y": y})}
            if "tpu" in tags:
                tf.train.Saver()
                builder.add_meta_graph(tags, signatures)
            else:
                builder.add_meta_graph_and_variables(started(), tags, signatures)
    builder.save()


def _in_a_function(name):
    """x @ w in the function ``name`` of a graph's library, and the nodes around it."""

    @function.Defun(tf.float32, tf.float32, func_name=name)
    def compute(data, matrix):
        return tf.nn.relu(tf.matmul(data, matrix))

    x = tf.placeholder(tf.float32, [None, 4], name="x")
    w = tf.constant(values("w", (4, 3)), name="w")
    tf.identity(compute(x, w), name="y")
    twin = tf.get_default_graph().as_graph_def()
    graph_def = tf.GraphDef()
    graph_def.CopyFrom(twin)
    call = next(each for each in graph_def.node if each.op == name)
    call.ClearField("attr")
    return twin, graph_def, call


def _float_list(call, key):
    call.attr[key].list.type.append(tf.float32.as_datatype_enum)


@artifact
def tpu_function():
    twin, graph_def, call = _in_a_function("tpu_computation")
    call.op = "TPUPartitionedCall"
    call.input.append("ordinal")
    _float_list(call, "Tin"), _float_list(call, "Tin"), _float_list(call, "Tout")
    call.attr["f"].func.name = "tpu_computation"
    graph_def.node.add(name="ordinal", op="TPUOrdinalSelector")
    graph_def.library.function[0].node_def[0].device = "/device:TPU_REPLICATED_CORE"
    write(graph_def, "tpu_function.pb")
    return twin


def _engine(name, segment):
    twin, graph_def, call = _in_a_function(segment)
    call.op = "TRTEngineOp"
    for key in ("InT", "InT", "OutT"):
        _float_list(call, key)
    call.attr["static_engine"].b = True
    call.attr["serialized_segment"].s = b"a plan that only TensorRT reads"
    call.attr["workspace_size_bytes"].i = 1 << 20
    call.attr["precision_mode"].s = b"FP32"
    return twin, graph_def, call


@artifact
def trt():
    twin, graph_def, call = _engine("trt", "TRTEngineOp_0_native_segment")
    call.attr["segment_func"].func.name = "TRTEngineOp_0_native_segment"
    write(graph_def, "trt.pb")
    return twin


@artifact
def trt_1_13():
    twin, graph_def, call = _engine("trt_1_13", "my_trt_op_0_native_segment")
    call.attr["segment_funcdef_name"].s = b"my_trt_op_0_native_segment"
    write(graph_def, "trt_1_13.pb")
    return twin


@artifact
def mkl():
    """As Intel's build rewrote a graph: a second half of inputs and outputs gives the layouts."""
    images = tf.placeholder(tf.float32, [None, 4, 4, 1], name="images")
    kernel = tf.constant(values("kernel", (3, 3, 1, 2)), name="kernel")
    bias = tf.constant(values("bias", 2), name="bias")
    convolved = tf.nn.conv2d(images, kernel, 1, "SAME", name="conv")
    joined = tf.concat(
        [tf.nn.relu(tf.nn.bias_add(convolved, bias, name="biased"), name="relu"), convolved], 3, "joined"
    )
    pooled = tf.nn.max_pool(joined, 2, 2, "SAME", name="pooled")
    tf.multiply(pooled, 2.0, name="y")
    twin = tf.get_default_graph().as_graph_def()
    old = tf.GraphDef()
    old.CopyFrom(twin)
    old.node.extend(text_format.Parse(constant("DMT/_0", np.uint8([0] * 8)), tf.GraphDef()).node)
    nodes = {each.name: each for each in old.node}
    meta = {"images": "DMT/_0", "kernel": "DMT/_0", "bias": "DMT/_0", "joined/axis": "DMT/_0"}
    outputs = {"Conv2D": 2, "Relu": 1, "BiasAdd": 1, "ConcatV2": 1, "MaxPool": 2}
    for each in old.node:
        if each.op in outputs:
            each.input.extend([meta[source] for source in each.input])
            meta[each.name] = "%s:%d" % (each.name, outputs[each.op])
            each.op = "_Mkl" + each.op
            each.attr["_kernel"].s = b"MklLayoutDependentOp"
    back = old.node.add(name="Mkl2Tf/_1", op="_MklToTf", input=["pooled", meta["pooled"]])
    back.attr["T"].type = tf.float32.as_datatype_enum
    back.attr["data_format"].s = b"NHWC"
    back.attr["_kernel"].s = b"MklOp"
    nodes["y"].input[0] = "Mkl2Tf/_1"
    write(old, "mkl.pb")
    return twin


# ---------------------------------------------------------------------------------------------------------- the answers


def answer(case, twin):
    with tf.Graph().as_default():
        if twin is not None:
            session = tf.Session()
            model_reading.import_graph(tf, session, twin)
        else:  # 1.15.5 on a CPU takes the graph for one
            tags = [tag for tag in case.tags or ["serve"] if tag != "tpu"]
            session = model_reading.read(tf, case._replace(tags=tags), ".")
        with session:
            return model_reading.ask(session, case)


def main():
    tf.logging.set_verbosity(tf.logging.ERROR)
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name in ("v1_format", "sharded"):  # the other writers make their folders
        os.makedirs(os.path.join(FOLDER, name))
    os.chdir(FOLDER)
    twins = {}
    for name, build in BUILDERS.items():
        with tf.Graph().as_default():
            twins[name] = build()
    expected = {}
    for case in model_cases.CASES:
        try:
            answers = answer(case, twins[case.artifact])
        except Exception:
            print("case", case.name, file=sys.stderr)
            raise
        for fetch, value in zip(case.fetches, answers):
            expected.setdefault(case.name, {})[fetch] = model_cases.written(np.asarray(value))
    with open("expected.json.gz", "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed:
        packed.write(json.dumps(expected, sort_keys=True).encode())


if __name__ == "__main__":
    main()
