"""Cases of small modules of ``tf.contrib``: name -> function of (tf, contrib); see contrib_record.py.

``nn``, ``staging``, ``copy_graph``, ``checkpoint``, ``tfprof``, ``compiler``, and what programs import from inner
addresses of other modules.
"""

import importlib
import os
import tempfile

import numpy as np
from contrib_record import feed

CASES = {}

SIGNED = feed([4, 3], 1, -3.0, 3.0)
SHARES = np.abs(feed([4, 3], 2)) / np.abs(feed([4, 3], 2)).sum(1, keepdims=True)


def case(function):
    CASES[function.__name__.replace("_", " ")] = function
    return function


def inner(contrib, address, short):
    """The module at an address of 1.15's, or what the library has for it."""
    if contrib.__name__ == "tf1sessions.contrib":
        return importlib.import_module("tf1sessions.contrib." + short)
    return importlib.import_module("tensorflow.contrib." + address)


def said(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return "raises " + type(error).__name__


def is_text(value):
    return isinstance(value, str)


def text(tf, *values):
    return tf.constant([str(value) for value in values])


@case
def nn_nth_element(tf, contrib):
    x = tf.get_variable("x", [4, 5])
    y = contrib.nn.nth_element(x, 2)
    outputs = {"y": y, "reverse": contrib.nn.nth_element(x, n=1, reverse=True, name="mine")}
    outputs["vector"] = contrib.nn.nth_element(tf.constant([3, 1, 2]), 0)
    return {"outputs": outputs, "loss": tf.reduce_sum(y * [1.0, 2.0, 3.0, 4.0])}


@case
def nn_conv1d_transpose(tf, contrib):
    x, kernel = tf.get_variable("x", [2, 3, 4]), tf.get_variable("k", [3, 5, 4])
    y = contrib.nn.conv1d_transpose(x, kernel, [2, 6, 5], 2)
    return {"outputs": {"y": tf.identity(y, name="y")}, "loss": tf.reduce_sum(y)}


@case
def nn_flipped_losses(tf, contrib):
    logits = tf.get_variable("logits", [4, 3])
    softmax = contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, SHARES)
    sparse = contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [0, 2, 1, 1])
    sigmoid = contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, SHARES)
    outputs = {"softmax": softmax, "sparse": sparse, "sigmoid": sigmoid}
    loss = sum(tf.reduce_sum(value) for value in outputs.values())
    return {"outputs": {name: tf.identity(value, name=name) for name, value in outputs.items()}, "loss": loss}


@case
def nn_scaled_softplus(tf, contrib):
    x, alpha = tf.get_variable("x", [4, 3]), tf.get_variable("alpha", [3])
    plain = contrib.nn.scaled_softplus(x + SIGNED, alpha)
    clipped = contrib.nn.scaled_softplus(x * SIGNED, 0.3, clip=0.5, name="mine")
    return {"outputs": {"plain": plain, "clipped": clipped}, "loss": tf.reduce_sum(plain) + tf.reduce_sum(clipped)}


@case
def staging_order(tf, contrib):
    area = contrib.staging.StagingArea([tf.float32, tf.int32], [[2], []], capacity=3)
    put = area.put((tf.constant([1.0, 2.0]), tf.constant(7)))
    with tf.control_dependencies([put]):
        size = area.size()
    with tf.control_dependencies([size]):
        peeked = area.peek(0)
        with tf.control_dependencies([peeked[0]]):
            got = area.get()
    outputs = {"size": size, "peeked": peeked[1], "got": got[0], "number": got[1], "put": text(tf, put.name, put.type)}
    outputs["properties"] = text(tf, area.dtypes, [str(s) for s in area.shapes], area.names, area.capacity)
    return {"outputs": outputs}


@case
def staging_names(tf, contrib):
    area = contrib.staging.StagingArea([tf.float32], names=["x"], shared_name="shared", memory_limit=1000)
    with tf.control_dependencies([area.put({"x": tf.constant([1.0, 2.0])})]):
        got = area.get()
    wrong = [said(area.put, tf.constant(1.0)), said(area.put, {"y": tf.constant(1.0)})]
    wrong.append(said(contrib.staging.StagingArea, [tf.float32], [[1], [2]]))
    properties = text(tf, area.name, area.capacity, area.memory_limit, sorted(got), wrong)
    return {"outputs": {"got": tf.reshape(got["x"], [2], name="got"), "properties": properties}}


@case
def copy_graph(tf, contrib):
    make, to = contrib.copy_graph, tf.Graph()
    with tf.Graph().as_default():
        v = tf.get_variable("v", [2], initializer=tf.constant_initializer([3.0, 4.0]), use_resource=False)
        u = tf.Variable([1.0, 2.0], name="u", trainable=False, use_resource=False)
        x = tf.placeholder_with_default([10.0, 20.0], [2], name="x")
        with tf.name_scope("foo"):
            y = tf.subtract(v, x, name="y")
            with tf.control_dependencies([x]):
                z = tf.multiply(y, u, name="z")
        tf.add_to_collection("mine", z)
        tf.add_to_collection("mine", u)
    copies = [make.copy_variable_to_graph(each, to) for each in (v, u)]
    inside = [make.copy_variable_to_graph(each, to, "in") for each in (v, u)]
    found = [make.copy_op_to_graph(z, to, copies), make.copy_op_to_graph(z.op, to, inside, "in")]
    found += [make.copy_op_to_graph(y, to, copies), make.get_copied_op(z, to, "in"), make.get_copied_op(x, to)]
    wrong = [
        said(make.copy_variable_to_graph, z, to),
        said(make.get_copied_op, z, to, "nowhere"),
        said(make.get_copied_op, z.op, to, "nowhere"),
    ]
    with tf.Session(graph=to) as session:
        session.run([each.initializer for each in copies + inside])
        values = [value.tolist() for value in session.run([found[0], found[3]])]
    lines = ["%s %s %s" % (op.name, op.type, [t.name for t in op.inputs]) for op in to.get_operations()]
    lines += [
        "%s %s" % (key, [item.name for item in to.get_collection(key)])
        for key in sorted(filter(is_text, to.collections))
    ]
    return {
        "outputs": {
            "graph": text(tf, *sorted(lines)),
            "found": text(tf, [each.name for each in found + copies + inside], wrong, values),
            "kinds": text(tf, *[isinstance(each, tf.Operation) for each in found]),
        }
    }


LABELS = np.array([[1.0], [0.0], [1.0], [0.0]], np.float32)
WEIGHTS = np.array([[1.0], [2.0], [0.5], [1.5]], np.float32)
LOSSES = {"exp": (), "full_exp": (), "logistic": (), "quantile_regression": (0.3,), "squared": (), "squared_hinge": ()}


def boosted(name, arguments):
    def build(tf, contrib):
        losses = inner(contrib, "boosted_trees.python.utils.losses", "boosted_trees.losses")
        predictions = tf.get_variable("predictions", [4, 1]) * [[0.5], [-3.0], [0.1], [2.0]]
        function = getattr(losses, "per_example_%s_loss" % name)
        loss, update = function(tf.constant(LABELS), tf.constant(WEIGHTS), predictions, *arguments)
        return {"outputs": {"loss": loss, "update": text(tf, update.type)}, "loss": tf.reduce_sum(loss)}

    CASES["boosted_trees " + name] = build


for _name, _arguments in LOSSES.items():
    boosted(_name, _arguments)


def maxent(kind, labels):
    def build(tf, contrib):
        losses = inner(contrib, "boosted_trees.python.utils.losses", "boosted_trees.losses")
        logits = tf.get_variable("logits", [4, 3]) * [[1.0, 2.0, 3.0], [0.0, 80.0, -5.0], [-50.0, 0.0, 60.0], [1.0] * 3]
        loss, update = losses.per_example_maxent_loss(tf.constant(labels), tf.constant(WEIGHTS), logits, 3)
        return {"outputs": {"loss": loss, "update": text(tf, update.type)}, "loss": tf.reduce_sum(loss)}

    CASES["boosted_trees maxent" + kind] = build


maxent("", np.array([[2.0], [0.0], [1.0], [1.0]], np.float32))
maxent(" vector", np.array([2, 0, 1, 1]))


@case
def inner_transpose_batch_time(tf, contrib):
    decoder = inner(contrib, "seq2seq.python.ops.decoder", "seq2seq.decoder")
    x = tf.constant(feed([2, 3, 4]))
    y = decoder._transpose_batch_time(x)
    partly = decoder._transpose_batch_time(tf.placeholder_with_default(x, [None, 3, None]))
    return {"outputs": {"y": y, "partly": partly, "vector": decoder._transpose_batch_time(tf.constant([1, 2]))}}


@case
def inner_linear(tf, contrib):
    cells = inner(contrib, "rnn.python.ops.core_rnn_cell", "rnn.core_rnn_cell")
    x, y = tf.constant(feed([2, 3])), tf.constant(feed([2, 4], 2))
    with tf.variable_scope("two"):
        two = cells._Linear([x, y], 5, True)([x, y])
    with tf.variable_scope("one"):
        linear = cells._Linear(x, 5, False, None, tf.ones_initializer())
        one, again = linear(x), linear(2.0 * x)
    with tf.variable_scope("at_once"):
        at_once = cells._linear([x, y], 2, True, tf.ones_initializer())
    with tf.variable_scope("without"):
        without = cells._linear(x, 2, False)
    wrong = [
        said(cells._Linear, None, 3, True),
        said(cells._Linear, [], 3, True),
        said(cells._Linear, [tf.ones([2])], 3, True),
        said(cells._linear, None, 3, True),
        said(cells._linear, [tf.placeholder(tf.float32, [2, None])], 3, True),
    ]
    outputs = {"two": two, "one": one, "again": again, "at_once": at_once, "without": without}
    loss = sum(tf.reduce_sum(value * value) for value in outputs.values())
    return {"outputs": dict(outputs, wrong=text(tf, *wrong)), "loss": loss}


@case
def inner_cudnn_constants(tf, contrib):
    ops = inner(contrib, "cudnn_rnn.python.ops.cudnn_rnn_ops", "cudnn_rnn.cudnn_rnn_ops")
    return {"outputs": {"all": text(tf, *[(n, getattr(ops, n)) for n in sorted(dir(ops)) if n.startswith("CUDNN_")])}}


@case
def inner_nearest_neighbors(tf, contrib):
    ops = inner(contrib, "factorization.python.ops.clustering_ops", "factorization.clustering_ops")
    points, centers = tf.constant(feed([5, 3])), tf.constant(feed([4, 3], 2))
    numbers, distances = ops.nearest_neighbors(points, centers, 2)
    all_numbers, all_distances = ops.nearest_neighbors(points, centers, tf.constant(9, tf.int64), name="mine")
    found = {"n": numbers, "d": distances, "all_n": all_numbers, "all_d": all_distances}
    names = text(tf, *[found[key].name for key in sorted(found)])
    return {"outputs": dict({key: tf.reshape(value, [-1], name=key) for key, value in found.items()}, names=names)}


@case
def compiler_jit_scope(tf, contrib):
    with contrib.compiler.jit.experimental_jit_scope():
        y = tf.multiply(tf.constant([1.0, 2.0]), 3.0, name="y")
    with contrib.compiler.jit.experimental_jit_scope(compile_ops=lambda node: node.op == "Add"):
        z = tf.multiply(y, 3.0, name="z")
    return {"outputs": {"z": z, "compiled": text(tf, y.op.get_attr("_XlaCompile"), z.op.get_attr("_XlaCompile"))}}


@case
def checkpoint_containers(tf, contrib):
    make = contrib.checkpoint

    class Model(make.Checkpointable):
        def __init__(self):
            self.slots = make.UniqueNameTracker()
            self.listed = make.List([tf.Variable(1.0)])
            self.mapped = make.Mapping({})
            self.left_out = make.NoDependency(tf.Variable(9.0))
            self.arrays = make.NumpyState()

    model = Model()
    names = ["x", "y", "x", "x", "x_1", "y"]
    held = [model.slots.track(tf.Variable(float(number)), name) for number, name in enumerate(names)]
    model.listed.append(tf.Variable(2.0))
    model.mapped["k"] = tf.Variable(3.0)
    model.arrays.z, model.arrays.t = np.arange(3.0), np.float32(4)
    seen = [len(held), len(model.slots.variables), len(model.listed.variables), type(model.arrays.t).__name__]
    wrong = [said(model.slots.track, 3, "a"), said(setattr, model.arrays, "a", 3), said(getattr, model.arrays, "none")]
    wrong.append(hasattr(model.arrays, "none"))
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        session.run(tf.global_variables_initializer())
        checkpoint = tf.train.Checkpoint(model=model)
        manager = make.CheckpointManager(checkpoint, folder, max_to_keep=2)
        session.run(checkpoint.save_counter.initializer)
        paths = [manager.save() for _ in range(3)]
        kept = [os.path.basename(path) for path in manager.checkpoints + [manager.latest_checkpoint]]
        keys = [name for name, _ in tf.train.list_variables(paths[-1]) if "OBJECT_GRAPH" not in name]
        model.arrays.z[1], model.arrays.t = 77.0, np.float32(5)
        checkpoint.restore(paths[-1])
        seen += [model.arrays.z.tolist(), model.arrays.t.tolist()]
        new = Model()
        tf.train.Checkpoint(model=new).restore(paths[-1])
        seen += [new.arrays.z.tolist(), new.arrays.t.tolist()]
        metadata = make.object_metadata(paths[-1])
        seen += [isinstance(metadata, make.CheckpointableObjectGraph), len(make.list_objects(checkpoint))]
    seen += [isinstance(model, make.CheckpointableBase), issubclass(make.NumpyState, make.CheckpointableBase)]
    return {"outputs": {"seen": text(tf, *seen), "wrong": text(tf, *wrong), "keys": text(tf, *(sorted(keys) + kept))}}


@case
def tfprof_parameters(tf, contrib):
    analyzer = contrib.tfprof.model_analyzer
    x = tf.placeholder_with_default(feed([4, 3]), [4, 3])
    with tf.variable_scope("a"):
        hidden = tf.matmul(x, tf.get_variable("w", [3, 5])) + tf.get_variable("b", [5])
    tf.get_variable("untrained", [100], trainable=False)
    y = tf.matmul(hidden, tf.get_variable("w", [5, 2]), name="y")
    graph, names = tf.get_default_graph(), [name for name in dir(analyzer) if name.isupper() and name[0] != "_"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        options = dict(analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS, output="file:outfile=" + path)
        found = [analyzer.print_model_analysis(graph, tfprof_options=options)]
        with open(path) as file:
            report = file.read().splitlines()
        options = dict(analyzer.FLOAT_OPS_OPTIONS, output="none", account_type_regexes=["MatMul"])
        found.append(analyzer.print_model_analysis(graph, tfprof_cmd="op", tfprof_options=options))
        contrib.tfprof.tfprof_logger.write_op_log(graph, folder)
        files = sorted(os.listdir(folder))
    outputs = {
        "report": text(tf, *report),
        "found": text(tf, *[type(each).__name__ for each in found]),
        "counts": tf.constant([found[0].total_parameters, found[1].total_float_ops]),
        "files": text(tf, *files),
        "options": text(tf, *[(name, sorted(getattr(analyzer, name).items())) for name in names]),
        "y": y,
    }
    return {"outputs": outputs}


@case
def tfprof_context(tf, contrib):
    y = tf.matmul(tf.constant(feed([4, 3])), tf.constant(feed([3, 2])), name="y")
    options = dict(tf.profiler.ProfileOptionBuilder.time_and_memory(), output="none")
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        with contrib.tfprof.ProfileContext(folder, trace_steps=range(2, 5), dump_steps=[4]) as context:
            context.add_auto_profiling("op", options, [3, 6])
            context.add_auto_profiling("scope", options, [2])
            for _ in range(8):
                session.run(y)
            steps = [sorted(context.get_profiles(cmd)) for cmd in ("op", "scope")]
            steps.append(said(context.get_profiles, "graph"))
        files = sorted(os.listdir(folder))
        with contrib.tfprof.ProfileContext(folder, trace_steps=[], dump_steps=[], debug=True) as context:
            session.run(y)
            context.trace_next_step()
            session.run(y)
            context.dump_next_step()
            session.run(y)
            session.run(y)
        files += sorted(os.listdir(folder))
        with contrib.tfprof.ProfileContext(os.path.join(folder, "no"), enabled=False) as context:
            context.trace_next_step()
            session.run(y)
            steps.append(context.profiler)
        files += sorted(os.listdir(folder))
        session.run(y)
    return {"outputs": {"steps": text(tf, *steps), "files": text(tf, *files), "y": y}}
