"""Inner addresses of 1.15.5, in a process that has the TF1 face: each section reports what it found."""

import gzip
import importlib
import json
import sys
import tempfile

import numpy as np

import tf1sessions.scripts

tf1sessions.scripts.install()

import tensorflow as tf  # noqa: E402

from tf1sessions.errors import MissingSymbolError, UnsupportedEnvironmentError  # noqa: E402


def found(call, *args, **kwargs):
    """What ``call`` returns, as text, or its error."""
    try:
        return repr(call(*args, **kwargs))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def modules():
    """The modules of 1.15.5 that cannot be imported, and those whose missing names raise something else."""
    failed, wrong = {}, []
    with gzip.open(sys.argv[1], "rt") as file:
        for line in file:
            name = line.partition("\t")[0]
            try:
                module = importlib.import_module(name)
            except Exception as error:
                failed[name] = repr(error)
                continue
            if hasattr(module, "no_such_name"):
                wrong.append(name)
            parent, _, last = name.rpartition(".")
            try:
                exec(f"from {parent} import {last}", {})
            except Exception as error:
                failed[f"{parent}, {last}"] = repr(error)
    return {"failed": failed, "wrong": wrong}


def gone():
    """Modules of which nothing is left: what reading a name, and importing it, says."""
    from tensorflow.python.training import tensorboard_logging

    texts = [found(lambda: tensorboard_logging.set_step), hasattr(tensorboard_logging, "set_step")]
    try:
        from tensorflow.python.training.tensorboard_logging import set_step  # noqa: F401
    except ImportError as error:
        texts.append(str(error))
    return texts


def early_profiler():
    """The profiler at the addresses of 1.0 to 1.2: the parameters that it counts."""
    from tensorflow.contrib.tfprof.python.tools.tfprof import model_analyzer
    from tensorflow.contrib.tfprof.python.tools.tfprof.tfprof_logger import write_op_log
    from tensorflow.tools.tfprof import tfprof_log_pb2, tfprof_options_pb2, tfprof_output_pb2

    with tf.Graph().as_default() as graph, tempfile.TemporaryDirectory() as folder:
        tf.get_variable("w", [3, 5])
        options = dict(model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS, output="none")
        report = model_analyzer.print_model_analysis(graph, tfprof_options=options)
        write_op_log(graph, folder, tfprof_log_pb2.OpLogProto())
        with open(f"{folder}/tfprof_log", "rb") as file:
            entries = tfprof_log_pb2.OpLogProto.FromString(file.read()).log_entries
    same = isinstance(report, tfprof_output_pb2.GraphNodeProto) and hasattr(tfprof_options_pb2, "OptionsProto")
    return [report.total_parameters, "w" in [entry.name for entry in entries], same]


def graph_transforms():
    """What differs from genuine TransformGraph: node by node, in what the graph computes, or in the error."""
    from tensorflow.tools.graph_transforms import TransformGraph

    sys.path.insert(0, sys.argv[3])
    import make_graph_transforms as made_there

    with gzip.open(sys.argv[4], "rt") as file:
        golden = json.load(file)
    graph_def = tf.GraphDef.FromString(bytes.fromhex(golden["graph"]))
    given = graph_def.SerializeToString(deterministic=True)
    differing = {}
    for call in golden["calls"]:
        try:
            made = TransformGraph(graph_def, ["x"], ["y"], call["transforms"])
        except tf.errors.OpError as error:
            if f"{type(error).__name__}: {error}" != call.get("error"):
                differing[str(call["transforms"])] = str(error)
            continue
        nodes = {node[0]: node for node in made_there.described(made)}
        other = [name for name, *node in call["nodes"] if nodes.pop(name, [None])[1:] != node]
        if other or nodes:
            differing[str(call["transforms"])] = [other, sorted(nodes)]
        if "computed" in call and not np.allclose(made_there.computed(made, "y"), call["computed"], atol=5e-6):
            differing[f"{call['transforms']}, computed"] = made_there.computed(made, "y")
    texts = ["quantize_nodes", "remove_nodes(Identity)", "(", "quantize_weights(minimum_size=few)"]
    return {
        "differing": differing,
        "calls": len(golden["calls"]),
        "kept": graph_def.SerializeToString(deterministic=True) == given,
        "bytes": len(TransformGraph(given, ["x"], ["y"], ["strip_unused_nodes"]).node),
        "errors": [found(TransformGraph, graph_def, ["x"], ["y"], [text]) for text in texts],
        "ignored": len(TransformGraph(graph_def, ["x"], ["none"], ["strip_unused_nodes(ignore_errors=true)"]).node),
        "inside": placeholder_inside(TransformGraph, graph_def),
    }


def placeholder_inside(transform, graph_def):
    """The placeholder that an input in the middle of a graph becomes."""
    text = 'strip_unused_nodes(name=pool, type_for_name=float, shape_for_name="1,4,4,4")'
    node = next(node for node in transform(graph_def, ["pool"], ["y"], [text]).node if node.name == "pool")
    return [
        node.op,
        list(node.input),
        tf.as_dtype(node.attr["dtype"].type).name,
        str(tf.TensorShape(node.attr["shape"].shape)),
    ]


def same():
    """Names that 1.15.5 had in two places, or that have another place today."""
    import tensorflow.python as inner
    import tensorflow.python.keras.optimizer_v2.adam as adam
    from tensorflow.contrib.rnn.python.ops.core_rnn import static_rnn
    from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _Linear as contrib_linear
    from tensorflow.python import array_ops, control_flow_ops, math_ops, ops, state_ops  # noqa: F401
    from tensorflow.python.distribute import distribution_strategy_context
    from tensorflow.python.eager import tape
    from tensorflow.python.framework import config as inner_config
    from tensorflow.python.framework import ops as framework_ops
    from tensorflow.python.framework.tensor_like import _TensorLike
    from tensorflow.python.keras import backend
    from tensorflow.python.keras.engine.network import Network
    from tensorflow.python.keras.layers.convolutional import Conv
    from tensorflow.python.keras.layers.merge import _Merge
    from tensorflow.python.keras.layers.pooling import Pooling2D
    from tensorflow.python.keras.layers.recurrent import RNN, _standardize_args
    from tensorflow.python.keras.optimizer_v2 import learning_rate_schedule, optimizer_v2
    from tensorflow.python.keras.utils.generic_utils import CustomObjectScope
    from tensorflow.python.ops import gen_nn_ops, nn_impl, resource_variable_ops
    from tensorflow.python.ops.losses.loss_reduction import ReductionV2
    from tensorflow.python.ops.rnn_cell_impl import _Linear
    from tensorflow.python.platform import tf_logging
    from tensorflow.python.saved_model import loader_impl
    from tensorflow.python.tpu import tpu_config
    from tensorflow.python.training import training_ops
    from tensorflow.python.util import deprecation_wrapper, module_wrapper

    star = {}
    exec("from tensorflow.python.ops.rnn_cell import *", star)
    return {
        "star": star["vs"] is math_ops.vs
        and star["array_ops"] is array_ops
        and star["GRUCell"] is tf.nn.rnn_cell.GRUCell,
        "tensor-like": _TensorLike is framework_ops._TensorLike,
        "private": callable(framework_ops._eval_using_default_session)
        and callable(array_ops._slice_helper)
        and loader_impl._parse_saved_model is loader_impl.parse_saved_model,
        "public": inner_config.set_virtual_device_configuration
        is tf.config.experimental.set_virtual_device_configuration
        and nn_impl.compute_average_loss is tf.nn.compute_average_loss
        and ReductionV2.AUTO == "auto",
        "python.ops": ops.control_dependencies is framework_ops.control_dependencies,
        "python.math_ops": math_ops is importlib.import_module("tensorflow.python.ops.math_ops"),
        "python names": inner.placeholder is tf.placeholder and inner.convert_to_tensor is tf.convert_to_tensor,
        "adam": adam.Adam is tf.keras.optimizers.Adam and issubclass(adam.Adam, optimizer_v2.OptimizerV2),
        "schedule": issubclass(tf.keras.experimental.CosineDecay, learning_rate_schedule.LearningRateSchedule),
        "strategy": distribution_strategy_context.get_strategy is tf.distribute.get_strategy,
        "tape": callable(tape.stop_recording),
        "backend": backend.get_graph() is tf.get_default_graph() and backend.floatx is tf.keras.backend.floatx,
        "network": issubclass(tf.keras.Sequential, Network),
        "keras parts": issubclass(tf.keras.layers.Conv2D, Conv)
        and issubclass(tf.keras.layers.Add, _Merge)
        and issubclass(tf.keras.layers.MaxPool2D, Pooling2D)
        and RNN is tf.keras.layers.RNN
        and callable(_standardize_args),
        "scope": CustomObjectScope is tf.keras.utils.CustomObjectScope,
        "early gen": gen_nn_ops._relu_grad is gen_nn_ops.relu_grad,
        "protos": callable(resource_variable_ops._to_proto_fn) and callable(resource_variable_ops._from_proto_fn),
        "linear": _Linear is contrib_linear,
        "logger": tf_logging._get_logger().name == "tensorflow",
        "tpu config": tpu_config.TPUConfig is tf.estimator.tpu.TPUConfig,
        "training ops": callable(training_ops.apply_adam),
        "wrapper": deprecation_wrapper is module_wrapper,
        "core_rnn": static_rnn is tf.nn.static_rnn,
        "tpu experimental": tf.estimator.tpu.experimental is not None,
    }


def layers_utils():
    """Its functions on the arguments of the golden, and on tensors."""
    import json

    from tensorflow.python.layers import utils

    with gzip.open(sys.argv[2], "rt") as file:
        cases = json.load(file)
    wrong = [
        [name, args, seen, now] for name, args, seen in cases if (now := found(getattr(utils, name), *args)) != seen
    ]
    fed, constant, variable = tf.placeholder(tf.bool, []), tf.constant(True), tf.Variable(True)
    start = tf.placeholder(tf.float32, [2], name="start")
    middle = start + 1
    end = middle * 2
    return {
        "cases": len(cases),
        "wrong": wrong,
        "constants": [str(utils.constant_value(each)) for each in (constant, fed, variable)],
        "cond": [utils.smart_cond(constant, lambda: 1, lambda: 2), utils.smart_cond(1, lambda: 1, lambda: 2)],
        "variable": utils.smart_cond(variable, lambda: tf.constant(1), lambda: tf.constant(2)).op.type,
        "shapes": [utils.static_shape(tf.placeholder("float", shape)) for shape in ([2, None], None)],
        "reachable": [utils.get_reachable_from_inputs([start]) == {start, middle, end},
                      utils.get_reachable_from_inputs([start], [middle]) == {start, middle}],
    }  # fmt: skip


def framework():
    """Shape functions, registries, and what a tensor is like."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.framework import common_shapes, op_def_registry, ops
    from tensorflow.python.framework.op_def_library import OpDefLibrary

    product = tf.placeholder(tf.float32, [2], name="factor") * 2
    library = OpDefLibrary()
    library.add_op_list(op_def_pb2.OpList(op=[op_def_registry.get_registered_ops()["Unique"]]))
    own = op_def_pb2.OpDef(name="OnlyHere")
    op_def_registry.register_op_list(op_def_pb2.OpList(op=[own]))
    return {
        "shapes": [
            str(common_shapes.unknown_shape(product.op)), str(common_shapes.unchanged_shape(product.op)),
            str(common_shapes.scalar_shape(product.op)), common_shapes.no_outputs(product.op),
            found(common_shapes.unchanged_shape_with_rank(2), product.op), common_shapes.rank(product),
        ],
        "applied": [each.dtype.name for each in library.apply_op("Unique", x=[1, 1], out_idx=tf.int64, name="own")],
        "unknown": found(library.apply_op, "MatMul", a=[[1.0]], b=[[1.0]]),
        "registered": op_def_registry.get_registered_ops()["OnlyHere"] == own,
        "clash": found(op_def_registry.register_op_list, op_def_pb2.OpList(op=[op_def_pb2.OpDef(name="MatMul")])),
        "like": [isinstance(each, ops._TensorLike) for each in (product, tf.Variable(1.0), 1.0, np.ones(2))],
    }  # fmt: skip


def cells():
    """The check of cells, and the linear layer."""
    from tensorflow.python.ops import rnn_cell_impl

    with tf.variable_scope("linear"):
        left, right = tf.ones([2, 3]), tf.ones([2, 4])
        ones, twos = tf.ones_initializer(), tf.constant_initializer(2.0)
        layer = rnn_cell_impl._Linear([left, right], 5, True, kernel_initializer=ones, bias_initializer=twos)
        result = layer([left, right])
    names = [[each.op.name, each.shape.as_list()] for each in tf.global_variables("linear/")]
    with tf.variable_scope("plain"):
        plain = rnn_cell_impl._linear(left, 5, False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(result).tolist()
    return {
        "good": found(rnn_cell_impl.assert_like_rnncell, "cell", tf.nn.rnn_cell.GRUCell(2)),
        "bad": found(rnn_cell_impl.assert_like_rnncell, "cell", 3),
        "like": [rnn_cell_impl._like_rnncell(3), rnn_cell_impl._like_rnncell(tf.nn.rnn_cell.GRUCell(2))],
        "names": names,
        "values": values,
        "plain": plain.op.name,
        "errors": [found(rnn_cell_impl._linear, None, 5, True),
                   found(rnn_cell_impl._linear, [tf.placeholder(tf.float32, [2])], 5, True),
                   found(rnn_cell_impl._linear, [tf.placeholder(tf.float32, [2, None])], 5, True)],
    }  # fmt: skip


def flags():
    """What flags had before 1.5."""
    from tensorflow.python.platform import flags as inner

    inner.DEFINE_integer("steps", 3, "")
    before = sys.argv
    sys.argv = ["program", "--steps=5", "--unknown=1"]
    try:
        tf.flags.FLAGS._parse_flags()
    finally:
        sys.argv = before
    return [tf.flags.FLAGS.steps, inner._FlagValues is tf.app.flags._FlagValues, "steps" in tf.flags.FLAGS.__flags]


def keras():
    """Policies, SavedModels, and models on several GPUs."""
    experimental = tf.keras.mixed_precision.experimental
    from tensorflow.python.keras.mixed_precision.experimental import policy

    policies = [[experimental.Policy(name).compute_dtype, experimental.Policy(name).loss_scale]
                for name in ("mixed_float16", "infer", "float64")]  # fmt: skip
    refused = found(experimental.set_policy, "mixed_float16").partition(" in ")[0]
    experimental.set_policy("infer")
    with policy.policy_scope(None):
        inside = tf.keras.layers.Dense(2).dtype
    optimizer = experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1), 8)
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    samples = np.ones([4, 3], np.float32)
    before = model.predict(samples)
    with tempfile.TemporaryDirectory() as folder:
        tf.keras.experimental.export_saved_model(model, folder + "/model")
        after = tf.keras.experimental.load_from_saved_model(folder + "/model").predict(samples)
    return {
        "policies": policies,
        "set": [refused, inside],
        "scale": [bool(optimizer.dynamic), float(optimizer.initial_scale)],
        "same": bool((before == after).all()),
        "one": found(tf.keras.utils.multi_gpu_model, model, 1),
        "gpus": found(tf.keras.utils.multi_gpu_model, model, [0, 64]),
        "devices": tf.config.experimental_list_devices()[0],
    }


def scikit_learn():
    """Models as estimators of scikit-learn."""
    from keras.wrappers.scikit_learn import KerasClassifier
    from tensorflow.keras import wrappers
    from tensorflow.python.keras.wrappers import scikit_learn as inner

    def build(units=2, loss="categorical_crossentropy", metrics=("acc",)):
        model = tf.keras.Sequential(
            [tf.keras.layers.Dense(units, input_shape=(3,), kernel_initializer="zeros", activation="softmax")]
        )
        model.compile("sgd", loss, metrics=list(metrics))
        return model

    def regress():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,), kernel_initializer="zeros")])
        model.compile("sgd", "mse")
        return model

    samples, labels = np.eye(3, dtype=np.float32), np.array([5, 7, 5])
    several = KerasClassifier(build_fn=build, units=2, epochs=2, batch_size=2, verbose=0)
    history = several.fit(10 * samples, labels, shuffle=False)
    single = KerasClassifier(lambda: build(1, "binary_crossentropy"), epochs=1, verbose=0)
    single.fit(samples, np.array([0, 1, 0]))
    unmeasured = KerasClassifier(build, metrics=(), verbose=0)
    unmeasured.fit(samples, labels)
    regressor = tf.keras.wrappers.scikit_learn.KerasRegressor(regress, epochs=1, verbose=0)
    regressor.fit(samples, np.array([1.0, 2.0, 3.0]))
    parameters = several.get_params()
    return {
        "same": inner.KerasClassifier is wrappers.scikit_learn.KerasClassifier is KerasClassifier,
        "parameters": [sorted(parameters), parameters["build_fn"] is build, several.filter_sk_params(build)],
        "history": type(history).__name__,
        "classes": [several.classes_.tolist(), several.n_classes_, several.predict(10 * samples).tolist()],
        "probabilities": [list(several.predict_proba(samples).shape), list(single.predict_proba(samples).shape)],
        "single": single.predict(samples).tolist(),
        "scores": [several.score(10 * samples, labels), found(unmeasured.score, samples, labels)],
        "regressor": [list(regressor.predict(samples).shape),
                      round(regressor.score(samples, np.array([1.0, 2.0, 3.0])), 4)],
        "set": [several.set_params(epochs=3) is several, several.get_params()["epochs"]],
        "errors": [found(KerasClassifier, build, nonsense=1), found(several.set_params, bad=1),
                   found(several.fit, samples, np.zeros([1, 2, 3]))],
    }  # fmt: skip


def needing_a_tpu():
    """What needs a TPU says so; what does not, works."""
    from tensorflow.contrib.tpu.python.tpu import session_support, tpu, tpu_context, tpu_feed
    from tensorflow.python.tpu import tpu_embedding

    table = tpu_embedding.TableConfig(10, 4)
    with tf.Session() as session:
        watchdog = session_support.start_worker_watchdog(session)
        workers = session_support.WorkerHeartbeatManager.from_devices(session, [])
        hook = session_support.GracefulShutdownHook("prefix", on_shutdown_hooks=[session_support.ShutdownLameWorkers()])
        hook.after_create_session(session, None)
    errors = []
    for make in (
        lambda: tpu_context.TPUContext(None),
        lambda: tpu_embedding.TPUEmbedding({}, {}, 1, tpu_embedding.TRAINING),
        lambda: tf.contrib.tpu.keras_to_tpu_model(None),
        lambda: tf.estimator.tpu.experimental.EmbeddingConfigSpec(),
    ):
        try:
            make()
        except UnsupportedEnvironmentError as error:
            errors.append(str(error))
    return {
        "errors": errors,
        "names": [
            tpu._TPU_REPLICATE_ATTR,
            tpu_feed._PartitionedInfeedQueue.__name__,
            tpu.rewrite_for_inference.__name__,
        ],
        "table": [table.combiner, type(table.initializer).__name__, found(tpu_embedding.TableConfig, 0, 4)],
        "adam": vars(tf.tpu.experimental.AdamParameters(0.1)),
        "beta": found(tf.tpu.experimental.AdamParameters, 0.1, beta1=2),
        "watchdog": [watchdog, workers.num_workers(), session_support.all_worker_devices(None)],
        "reset": found(session_support.ResetComputation(), None, workers),
    }


def estimator():
    """Inner names of tf.estimator."""
    import os

    from tensorflow.python.estimator import estimator as file
    from tensorflow.python.estimator import gc, model_fn, training, util
    from tensorflow.python.estimator.canned import head
    from tensorflow_estimator.python.estimator.tpu import error_handling
    from tensorflow_estimator.python.estimator.tpu import util as tpu_util

    paths = [gc.Path(f"p{number}", number) for number in (3, 1, 2, 8, 9)]
    keep = {
        "largest": gc._largest_export_versions(2),
        "one of": gc._one_of_every_n_export_versions(3),
        "mod": gc._mod_export_version(2),
        "union": gc._union(gc._largest_export_versions(1), gc._mod_export_version(2)),
        "negation": gc._negation(gc._largest_export_versions(2)),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in ("10", "9", "x"):
            os.mkdir(os.path.join(folder, name))

        def parse(path):
            name = os.path.basename(path.path)
            return path._replace(export_version=int(name)) if name.isdigit() else None

        listed = [path.export_version for path in gc._get_paths(folder, parse)]
    raised = []
    for errors in (
        [tf.errors.AbortedError(None, None, "ab")],
        [tf.errors.UnavailableError(None, None, "un"), KeyError("k")],
        [ValueError("v"), KeyError("k")],
        [tf.errors.CancelledError(None, None, "ca")],
    ):
        rendezvous = error_handling.ErrorRendezvous(len(errors))
        for number, error in enumerate(errors):
            with rendezvous.catch_errors(f"source {number}"):
                raise error
        raised.append(found(rendezvous.raise_errors).partition(":")[0])
    return {
        "kept": {name: [path.export_version for path in function(paths)] for name, function in keep.items()},
        "listed": listed,
        "iterations": [list(tpu_util.parse_iterations_per_loop(each)) for each in (3, "30", "10s", "2m", "1h")],
        "no iterations": found(tpu_util.parse_iterations_per_loop, "0m").partition(" value")[0],
        "positive": [found(tpu_util.check_positive_integer, each, "n") for each in (1, 0, 1.5)],
        "raised": raised,
        "spec": found(training._assert_eval_spec, 3),
        "model_fn": found(file._verify_model_fn_args, lambda features, x: 1, None),
        "step": file._load_global_step_from_checkpoint_dir("/no/such/folder"),
        "fn_args": util.fn_args(lambda a, b=1: 1),
        "iterator": [list(util.parse_iterator_result((1, 2))), found(util.parse_iterator_result, (1, 2, 3))],
        "tpu spec": model_fn._TPUEstimatorSpec is tf.estimator.tpu.TPUEstimatorSpec,
        "heads": [isinstance(each, head._Head) for each in (head._regression_head(), tf.contrib.estimator.multi_head(
            [tf.contrib.estimator.regression_head(name="one"), tf.contrib.estimator.regression_head(name="two")]))],
        "abstract": found(lambda: head._Head().name),
        "early": tf.contrib.estimator.stop_if_no_increase_hook is tf.estimator.experimental.stop_if_no_increase_hook,
    }  # fmt: skip


def contrib():
    """Inner names of tf.contrib, and tf.contrib.distribute."""
    from tensorflow.contrib.cudnn_rnn.python.ops import cudnn_rnn_ops
    from tensorflow.contrib.learn.python.learn.monitored_session import MonitoredSession
    from tensorflow.contrib.seq2seq.python.ops.decoder import _transpose_batch_time
    from tensorflow.contrib.tensor_forest.python.ops import data_ops

    distribute = tf.contrib.distribute
    strategy = distribute.MirroredStrategy(devices=["/cpu:0"])
    with strategy.scope():
        inside = [distribute.has_distribution_strategy(), distribute.get_distribution_strategy() is strategy]
    dense, sparse, spec = data_ops.ParseDataTensorOrDict({"b": tf.constant([[1.0, 2.0]]), "a": tf.constant([[3]])})
    labels = [
        data_ops.ParseLabelTensorOrDict(value)
        for value in (tf.constant([[1], [2]]), {"l": tf.constant([1])}, tf.SparseTensor([[0, 0]], [1], [2, 1]))
    ]
    with tf.Session() as session:
        values = [each.tolist() for each in session.run([dense, *labels])]
    return {
        "cudnn": [cudnn_rnn_ops.CUDNN_RNN_UNIDIRECTION, cudnn_rnn_ops.CUDNN_LSTM_PARAMS_PER_LAYER],
        "session": MonitoredSession is tf.train.MonitoredSession,
        "transposed": _transpose_batch_time(tf.zeros([2, 3, 4])).shape.as_list(),
        "strategy": [isinstance(strategy, tf.distribute.Strategy), *inside, strategy.num_replicas_in_sync],
        "both": found(distribute.MirroredStrategy, num_gpus=1, devices=["/cpu:0"]),
        "forest": [values, sparse, spec.dense_features_size],
    }


def missing():
    """Names that left with 1.0, or came with 2.0, say what to use."""
    texts = {}
    for name in ("pack", "concat_v2", "scalar_summary", "optimizers", "batch_matrix_determinant"):
        try:
            getattr(tf, name)
        except MissingSymbolError as error:
            texts[name] = error.next_step
    return texts


for check in (
    modules, gone, early_profiler, graph_transforms, same, layers_utils, framework, cells, flags, keras, scikit_learn,
    needing_a_tpu, estimator, contrib, missing,
):  # fmt: skip
    report(**{check.__name__: check()})  # type: ignore[name-defined]  # noqa: F821
