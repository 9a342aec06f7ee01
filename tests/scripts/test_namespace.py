"""The TF1 face against the names of genuine TensorFlow 1.15.5, and everything that an old import can be."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tf1sessions.errors import MissingModuleError, MissingSymbolError, UnsupportedEnvironmentError

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "data"

# Classes that are made otherwise today; a program does not construct them.
CONSTRUCTED_BY_TENSORFLOW = {
    "tf.OptionalSpec", "tf.data.experimental.OptionalStructure", "tf.Operation", "tf.RaggedTensor", "tf.Tensor",
    "tf.errors.UnknownError",
}  # fmt: skip
# Members of 1.15 that are not given back, and why.
MEMBERS_LOST = {
    "RegisterExtension": "of protocol buffers, for extensions; there were none",
    "autotune": "of tf.data's optimization options; set options.autotune instead",
    "autotune_algorithm": "of tf.data's optimization options",
    "autotune_buffers": "of tf.data's optimization options",
    "autotune_cpu_budget": "of tf.data's optimization options",
    "auto_shard": "of tf.data's distribute options; set auto_shard_policy instead",
    "experimental_stateful_whitelist": "of tf.data's options",
    "experimental_stats": "of tf.data's options; tf.data collects no statistics any more",
    "filter_with_random_uniform_fusion": "of tf.data's optimization options",
    "hoist_random_uniform": "of tf.data's optimization options",
    "map_vectorization": "of tf.data's optimization options",
    "none_from_structure": "of tf.data.experimental.Optional; use empty",
    "value_structure": "of tf.data.experimental.Optional; use element_spec",
    "get_losses_for": "the layers that a TF1 program makes have it; the class of eager programs has not",
    "get_updates_for": "the layers that a TF1 program makes have it; the class of eager programs has not",
    "sample_weights": "internal to Keras' training loop",
    "traceback_with_start_lines": "of tf.Operation; use traceback",
}
# (name, argument) that 1.15 took and nothing replaces, or that today's **kwargs take.
ARGUMENTS_LOST = {
    ("tf.autograph.experimental.set_loop_options", "back_prop"),
    ("tf.keras.preprocessing.text.Tokenizer", "document_count"),
    ("tf.keras.utils.GeneratorEnqueuer", "sequence"),
    ("tf.keras.utils.deserialize_keras_object", "identifier"),
    ("tf.keras.utils.deserialize_keras_object", "module_objects"),
    ("tf.keras.utils.deserialize_keras_object", "printable_module_name"),
}

FACE = """
import gzip, inspect, sys
import tf1sessions.scripts
tf1sessions.scripts.install()
tf1sessions.scripts.install()
import tensorflow as tf
from tf1sessions.scripts import arguments, missing
from tf1sessions.source import replacements

def find(name):
    value = tf
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value

unexplained, silent, wrong_kind, lost_arguments, lost_members = [], [], [], [], []
for line in gzip.open(sys.argv[1], "rt"):
    name, kind, rest = line.rstrip("\\n").split("\\t")
    try:
        value = find(name)
    except AttributeError as error:
        if replacements.find(name) is None:
            unexplained.append(name)
        elif not isinstance(error, missing.MissingSymbolError):
            wrong_kind.append(name)
        continue
    old = rest.split(",") if rest else []
    if kind in ("function", "class") and rest != "?" and not name.startswith("tf.raw_ops."):
        try:
            parameters = inspect.signature(value.__init__ if kind == "class" else value).parameters.values()
        except (TypeError, ValueError):
            continue
        names = {p.name for p in parameters}
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            accepted = names | set(arguments.RENAMED.get(name[3:], ())) | {"_sentinel"}
            lost_arguments += [(name, a) for a in old if not a.startswith("*") and a not in accepted]
    elif kind == "members":
        lost_members += [(name, m) for m in old if not hasattr(value, m)]
report(unexplained=unexplained, wrong_kind=wrong_kind, lost_arguments=lost_arguments, lost_members=lost_members)

def error(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error), isinstance(error, (AttributeError, ImportError))]

def imported(code):
    names = {}
    try:
        exec(compile(code, "inner.py", "exec"), names)
    except ImportError as error:
        return [type(error).__name__, str(error)]
    return names

import tensorflow.compat.v1 as v1
import tensorflow.keras, keras
from tensorflow import flags
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, control_flow_ops, rnn_cell, rnn_cell_impl, variables
from tensorflow.python.layers import core
import tensorflow.python.keras.backend as inner_backend
import tensorflow.nn as nn
import tensorflow.compat.v2 as v2
from keras.layers.core import Dense as from_core
from keras.engine.topology import Layer as from_topology
report(same={
    "tf.compat.v1": v1 is tf, "attribute": tf.compat.v1 is tf, "flags": flags is tf.flags is tf.app.flags,
    "keras": keras.Model is tf.keras.Model and keras.backend is tf.keras.backend,
    "package": [keras.__name__, keras.__version__] == ["keras", "2.2.4"] and "Model" in imported("from keras import *"),
    "tf.keras": tensorflow.keras is tf.keras, "nn": nn is tf.nn,
    "ops.Tensor": ops.Tensor is tf.Tensor, "stack": array_ops.stack is tf.stack,
    "while": control_flow_ops.while_loop is tf.while_loop,
    "cell": rnn_cell.GRUCell is rnn_cell_impl.GRUCell is tf.nn.rnn_cell.GRUCell,
    "ref": variables.RefVariable is not None,
    "dropout cell": rnn_cell_impl.DropoutWrapper is tf.nn.rnn_cell.DropoutWrapper,
    "layers": core.Dense is tf.layers.Dense, "backend": inner_backend.set_session is tf.keras.backend.set_session,
    "keras.layers": imported("from tensorflow.keras.layers import Dense")["Dense"] is tf.keras.layers.Dense,
    "python.keras": imported("from tensorflow.python.keras.layers import Dense")["Dense"] is tf.keras.layers.Dense,
    "keras alone": imported("from keras.layers import Dense")["Dense"] is tf.keras.layers.Dense,
    "engine": imported("import keras")["keras"].engine.Layer is tf.keras.layers.Layer,
    "modules": imported("import keras")["keras"].layers.core.Dense is tf.keras.layers.Dense,
    "names": imported("from keras.backend import identity, slice")["identity"] is tf.identity,
    "zero": imported("import keras")["keras"].initializers.zero is tf.keras.initializers.zeros,
    "core": from_core is tf.keras.layers.Dense, "topology": from_topology is tf.keras.layers.Layer,
    "version 2 stays": v2.__name__ != "tensorflow" and not hasattr(v2, "placeholder"),
})
def contrib_module():
    import tensorflow.contrib.no_such_part as module

def contrib_from():
    from tensorflow.contrib import no_such_part

def contrib_name():
    from tensorflow.contrib.framework import no_such_name

import tensorflow.contrib.framework as tcf
from tensorflow.contrib import framework
from tensorflow.contrib.framework import add_arg_scope, arg_scope
from tensorflow.contrib.framework.python.ops import add_arg_scope as below
from tensorflow.contrib.framework.python.ops.arg_scope import arg_scope as inner
import importlib
arg_scope_file = importlib.import_module("tensorflow.contrib.framework.python.ops.arg_scope")
from tensorflow.contrib.framework.python.ops import arg_scope as function
from tensorflow.contrib.image.python.ops import dense_image_warp as image_file
import tf1sessions
report(same_contrib={
    "function": function is arg_scope and arg_scope_file.arg_scope is arg_scope,
    "file": image_file.dense_image_warp is tf.contrib.image.dense_image_warp and image_file is not tf.contrib.image,
    "attribute": tcf is framework is tf.contrib.framework, "compat": v1.contrib is tf.contrib,
    "names": arg_scope is inner is tcf.arg_scope is tf1sessions.contrib.framework.arg_scope,
    "folder": below is add_arg_scope,
    "star": imported("from tensorflow.contrib.framework import *")["arg_scope"] is arg_scope,
    "all of it": {"contrib", "estimator", "python", "core", "placeholder"} <= set(imported("from tensorflow import *")),
    "dir": "arg_scope" in dir(tf.contrib.framework) and "framework" in dir(tf.contrib),
})

import importlib.util
report(
    versions=[tf.__version__, tf.VERSION, tf.version.VERSION, tf.keras.__version__], version_2=v2.__version__,
    contrib=[hasattr(tf, "contrib"), hasattr(tf.contrib, "no_such_part"),
             importlib.util.find_spec("tensorflow.contrib.no_such_part") is None,
             importlib.util.find_spec("tensorflow.keras") is not None],
    missing_symbol=error(lambda: tf.contrib.ffmpeg.decode_audio()),
    missing_contrib_name=error(lambda: tf.contrib.framework.no_such_name),
    missing_below=error(lambda: tf.keras.experimental.PeepholeLSTMCell),
    missing_unknown=error(lambda: tf.nn.no_such_thing),
    slips=[error(each)[1] for each in (
        lambda: tf.contrib.layers.fully_conected, lambda: tf.contrib.rnn.LSTMcell, lambda: tf.placehoder,
        lambda: tf.contrib.lyers, lambda: tf.train.AdamOptimiser)],
    missing_module=error(contrib_module),
    missing_from=error(contrib_from),
    missing_contrib_import=error(contrib_name),
    missing_inner=error(lambda: control_flow_ops.no_such_thing),
    tried=imported("try:\\n    import tensorflow.contrib.no_such\\nexcept ImportError:\\n    found = False")["found"],
)

losses = tf.nn.softmax_cross_entropy_with_logits
report(
    sentinel=error(lambda: losses(tf.zeros([2, 3]), tf.zeros([2, 3]))),
    positional=tf.matmul(tf.zeros([2, 3]), tf.zeros([3, 2]), False, False, False, False, False, False, "product").name,
    top_k=tf.nn.top_k(tf.zeros([4]), 2, True, "best").indices.name,
    pickled=__import__("pickle").loads(__import__("pickle").dumps(tf.float32)).name,
    dimension=tf.placeholder(tf.float32, [None, 4]).shape[1].value,
    ref=type(tf.Variable(1.0)).__name__, eager=tf.executing_eagerly(),
)
from tensorflow.python.framework import op_def_registry
resource = tf.Variable([3.0], use_resource=True)
before = resource.initialized_value()
with tf.Session() as session:
    early = session.run(before).tolist()
    session.run(resource.assign([4.0]))
    report(initialized=[early, session.run(before).tolist()])
report(matmul=op_def_registry.get_registered_ops()["MatMul"].name)

from tensorflow.python import debug as tf_debug
import logging, os, tempfile
warnings_given = []
logging.getLogger("tf1sessions").addFilter(lambda record: warnings_given.append(record.getMessage()))
with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
    value = tf.log(tf.zeros([2]), name="infinite")
    folder += "/dumps"
    tf_debug.DumpingDebugWrapperSession(session, folder, log_usage=False).run(value)
    tf_debug.DumpingDebugWrapperSession(session, folder + "_2", None, None, None, True)
    shown = [tf_debug.LocalCLIDebugWrapperSession(session, None, False), tf_debug.LocalCLIDebugHook("curses"),
             tf_debug.LocalCLIDebugWrapperSession(session, None, False, "curses", "a thread"),
             tf_debug.DumpingDebugHook(folder + "_3", log_usage=False)]
    dumps = tf_debug.DebugDumpDir(folder + "/" + os.listdir(folder)[0])
    def watch(fetches, feeds):
        return tf_debug.WatchOptions(node_name_regex_whitelist="inf", op_type_regex_whitelist="Log")
    tf_debug.DumpingDebugWrapperSession(tf.Session(), folder + "_4", watch).run(value)
    only = tf_debug.DebugDumpDir(folder + "_4/" + os.listdir(folder + "_4")[0]).dumped_tensor_data
    asked, url = [tf.RunOptions(), tf.RunOptions()], "file:///dumps"
    tf_debug.watch_graph(asked[0], session.graph, debug_urls=url, node_name_regex_whitelist="infinite")
    tf_debug.watch_graph_with_blacklists(asked[1], session.graph, debug_urls=url, node_name_regex_blacklist="infinite")
    report(watched=[[datum.node_name for datum in only], watch(0, 0).op_type_regex_whitelist,
                    [[each.node_name for each in one.debug_options.debug_tensor_watch_opts
                      if each.node_name == "infinite"] for one in asked]])
    report(debugger=[dumps.find(tf_debug.has_inf_or_nan)[0].node_name, shown[2]._thread_name_filter_pattern.pattern,
                     len(warnings_given)])
report(loss=losses(_sentinel=None, labels=tf.zeros([2, 3]), logits=tf.zeros([2, 3])).shape.as_list())
"""


@pytest.fixture(scope="module")
def face(run_python: Callable[..., Any]) -> dict[str, Any]:
    return run_python(FACE, str(GOLDEN / "namespace_1_15.txt.gz")).results


def test_golden_is_whole():
    with gzip.open(GOLDEN / "namespace_1_15.txt.gz", "rt") as file:
        names = [line.split("\t")[0] for line in file]
    assert len(names) > 3500 and {"tf.Session", "tf.layers.dense", "tf.train.Saver", "tf.raw_ops.MatMul"} <= set(names)


def test_every_name_of_1_15_is_there_or_has_a_replacement(face):
    assert face["unexplained"] == []
    assert face["wrong_kind"] == []


def test_every_argument_of_1_15_is_taken(face):
    lost = {(name, argument) for name, argument in face["lost_arguments"] if name not in CONSTRUCTED_BY_TENSORFLOW}
    assert lost <= ARGUMENTS_LOST


def test_every_method_of_1_15_is_there(face):
    lost = [(name, member) for name, member in face["lost_members"] if name not in CONSTRUCTED_BY_TENSORFLOW]
    assert [(name, member) for name, member in lost if member not in MEMBERS_LOST] == []


def test_every_import_gives_the_same_objects(face):
    assert [what for what, same in face["same"].items() if not same] == []
    assert [what for what, same in face["same_contrib"].items() if not same] == []


def test_versions_are_those_of_1_15(face):
    assert face["versions"] == ["1.15.5", "1.15.5", "1.15.5", "2.2.4-tf"]
    assert face["version_2"].startswith("2.")


def test_version_1_behaviour(face):
    assert (face["dimension"], face["ref"], face["eager"], face["pickled"]) == (4, "RefVariable", False, "float32")


def test_what_only_ref_variables_kept_and_a_lost_function(face):
    assert face["initialized"] == [[3.0], [4.0]]
    assert face["matmul"] == "MatMul"


def test_feature_tests_of_old_programs_say_no(face):
    assert face["contrib"] == [True, False, True, True]
    assert face["tried"] is False


def test_missing_symbol_names_itself_its_line_and_its_replacement(face):
    kind, text, old_kind = face["missing_symbol"]
    assert (kind, old_kind) == (MissingSymbolError.__name__, True)
    assert text.startswith("tf.contrib.ffmpeg.decode_audio is not available") and "code.py:" in text
    assert "Use tf.audio.decode_wav" in text
    kind, text, old_kind = face["missing_contrib_name"]
    assert (kind, old_kind) == (MissingSymbolError.__name__, True)
    assert text.startswith("tf.contrib.framework.no_such_name is not available") and "code.py:" in text
    assert "LSTMCell(use_peepholes=True)" in face["missing_below"][1]
    meant = (
        "contrib.layers.fully_connected",
        "contrib.rnn.LSTMCell",
        "placeholder",
        "contrib.layers",
        "train.AdamOptimizer",
    )
    for text, name in zip(face["slips"], meant, strict=True):
        assert text.endswith(f"Did you mean tf.{name}?")
    assert "code.py:" in face["missing_unknown"][1] and "no known replacement" in face["missing_unknown"][1]
    assert "tensorflow.python.ops.control_flow_ops.no_such_thing" in face["missing_inner"][1]


def test_missing_module_names_itself_its_line_and_its_replacement(face):
    for name in ("missing_module", "missing_from", "missing_contrib_import"):
        kind, text, old_kind = face[name]
        assert (kind, old_kind) == (MissingModuleError.__name__, True), text
        assert "code.py:" in text
    assert "look for a counterpart in tf.layers" in face["missing_module"][1]
    assert face["missing_module"][1].startswith("tensorflow.contrib.no_such_part is not available")
    assert face["missing_from"][1].startswith("tensorflow.contrib.no_such_part is not available")
    assert face["missing_contrib_import"][1].startswith("tensorflow.contrib.framework.no_such_name is not available")


def test_old_arguments_by_position_and_by_name(face):
    assert face["positional"] == "product:0"
    assert face["top_k"] == "best:1"
    assert face["loss"] == [2]
    assert face["debugger"] == ["infinite", "a thread", 2]
    assert face["watched"] == [["infinite"], "Log", [["infinite"], []]]
    assert face["sentinel"][0] == "ValueError" and "named arguments" in face["sentinel"][1]


WRONG_WAY = """
import sys, types
kind = sys.argv[1]
if kind == "keras":
    sys.modules["keras"] = types.ModuleType("keras")
    sys.modules["keras"].__version__ = "3.4.1"
else:
    sys.modules["tensorflow"] = types.ModuleType("tensorflow")
    sys.modules["tensorflow"]._tf_uses_legacy_keras = False
import os, tf1sessions.scripts
before = dict(os.environ)
try:
    tf1sessions.scripts.install()
except Exception as error:
    report(kind=type(error).__name__, text=str(error))
report(untouched=before == dict(os.environ), hooked=[type(f).__name__ for f in sys.meta_path])
"""


@pytest.mark.parametrize("kind", ["tensorflow", "keras"])
def test_install_after_the_wrong_import_is_an_error_that_changes_nothing(run_python, kind):
    results = run_python(WRONG_WAY, kind).results
    assert results["kind"] == UnsupportedEnvironmentError.__name__
    assert "install()" in results["text"] and kind in results["text"]
    assert results["untouched"] and "Finder" not in results["hooked"]


OWN_KERAS = """
import logging, os, sys
os.mkdir("keras")
open("keras/__init__.py", "w").write("raise RuntimeError")
sys.path.insert(0, os.getcwd())
messages = []
handler = logging.Handler()
handler.emit = lambda record: messages.append(record.getMessage())
logging.getLogger("tf1sessions").addHandler(handler)
import tf1sessions.scripts
tf1sessions.scripts.install()
import keras
from keras.layers import Dense
import keras.models
import tensorflow as tf
report(messages=messages, same=keras.Model is tf.keras.Model, own=os.path.join(os.getcwd(), "keras", "__init__.py"))
"""


def test_a_keras_of_the_programs_own_is_said_to_be_left(run_python):
    results = run_python(OWN_KERAS).results
    assert results["same"]
    assert results["messages"] == [f"import keras gives tf_keras, as tf.keras is: {results['own']} is not used"]


KERAS_FUNCTIONS = """
import tf1sessions.scripts
tf1sessions.scripts.install()
import h5py, numpy as np
import keras, keras.backend as K
import tensorflow as tf
from keras.engine import get_source_inputs, saving
from keras.engine.topology import get_source_inputs as from_topology, load_weights_from_hdf5_group_by_name, Network
from keras.legacy import interfaces
from keras.legacy.interfaces import legacy_get_updates_support, generate_legacy_interface
from keras.utils.generic_utils import object_list_uid, to_list, transpose_shape, unpack_singleton
from keras.utils.layer_utils import convert_all_kernels_in_model, convert_kernel
from keras.backend.tensorflow_backend import tf as backends, control_flow_ops
from keras.backend.common import _EPSILON

K.set_image_dim_ordering("th")
report(ordering=[K.image_dim_ordering(), K.image_data_format()])
K.set_image_dim_ordering("tf")
x = keras.layers.Input((4, 4, 1))
y = keras.layers.Conv2D(2, 2, name="c")(x)
model = keras.models.Model(x, keras.layers.Dense(3, name="d")(keras.layers.Flatten()(y)))
weights = model.get_weights()
with h5py.File("w.h5", "w") as file:
    saving.save_weights_to_hdf5_group(file, model.layers)
    model.set_weights([w + 1 for w in weights])
    load_weights_from_hdf5_group_by_name(file, model.layers[-1:])
    one = [bool((a == b).all()) for a, b in zip(model.get_weights(), weights)]
    saving.load_weights_from_hdf5_group(file, model.layers)
    all_ = [bool((a == b).all()) for a, b in zip(model.get_weights(), weights)]
kernel = model.layers[1].get_weights()[0]
convert_all_kernels_in_model(model)
turned = model.layers[1].get_weights()[0]
with K.tf.Session() as session:
    counted = int(session.run(K.control_flow_ops.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)])))
words = keras.layers.Input((3,))
embedded = keras.layers.Embedding(5, 2, mask_zero=True)(words)
recurrent = keras.layers.LSTM(2)
recurrent(embedded)
node = recurrent._inbound_nodes[0]
class Layer(keras.layers.Layer):
    @interfaces.legacy_add_weight_support
    def call(self, x):
        return x + 1
report(
    backend=[K.tf is tf is backends, K.tensorflow_backend.control_flow_ops is control_flow_ops, K.np is np, _EPSILON],
    weights=[one, all_], counted=counted,
    kernels=[bool((turned == kernel[::-1, ::-1]).all()), bool((convert_kernel(turned) == kernel).all())],
    inputs=[get_source_inputs(model.output)[0] is x, from_topology is get_source_inputs,
            issubclass(keras.Model, Network)],
    shapes=[transpose_shape((1, 2, 3, 4), "channels_first", (1, 2)), K.get_variable_shape(x)],
    small=[unpack_singleton([1]), unpack_singleton([1, 2]), to_list(3), object_list_uid(x) == str(id(x))],
    decorated=[Layer()(x).shape.as_list(), generate_legacy_interface(conversions=[])(len) is len,
               legacy_get_updates_support(len) is len],
    optimizers=[keras.optimizers.adam is keras.optimizers.Adam, keras.optimizers.TFOptimizer.__name__],
    masks=[node.input_masks[0] is embedded._keras_mask, node.output_masks, len(node.input_masks)],
    apart=hasattr(keras.layers, "tf"),
)
"""


def test_functions_that_keras_2_had_for_authors_of_layers(run_python):
    results = run_python(KERAS_FUNCTIONS).results
    assert results["ordering"] == ["th", "channels_first"]
    assert results["backend"] == [True, True, True, 1e-7]
    assert results["weights"] == [[False, False, True, True], [True] * 4]
    assert results["counted"] == 5
    assert results["kernels"] == results["inputs"][:2] == [True, True] and results["inputs"][2]
    assert results["shapes"] == [[1, 4, 2, 3], [None, 4, 4, 1]]
    assert results["small"] == [1, [1, 2], [3], True]
    assert results["masks"] == [True, [None], 1]
    assert results["decorated"] == [[None, 4, 4, 1], True, True]
    assert results["optimizers"] == [True, "TFOptimizer"] and not results["apart"]


def test_compat_v2_leads_back_to_tensorflow_1(run_python):
    code = """
import tf1sessions.scripts
tf1sessions.scripts.install()
import tensorflow as tf
v1 = tf.compat.v2.compat.v1
report(same=v1 is tf.compat.v1, estimator=v1.estimator.tpu.TPUEstimator.__name__)
"""
    assert run_python(code).results == {"same": True, "estimator": "TPUEstimator"}
