"""What TF1 programs read: graphs that TF1 wrote, MNIST, and the NumPy, SciPy and Python of their time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import unpack

GOLDEN = Path(__file__).resolve().parent.parent / "golden"

GRAPHS = """
import sys, json
import tf1sessions.scripts
tf1sessions.scripts.install()
import numpy as np
import tensorflow as tf
folder = sys.argv[1]
expected = json.load(open(folder + "/expected.json"))
images, wanted = np.array(expected["images"], np.float32), np.array(expected["probabilities"])

def check(load):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        prefix = load(session) or ""
        return [float(np.abs(session.run(prefix + "probabilities:0", {prefix + "images:0": images}) - wanted).max()),
                len(graph.get_operations())]

def meta(session):
    tf.train.import_meta_graph(folder + "/model.ckpt.meta").restore(session, folder + "/model.ckpt")
    session.run("step", {"images:0": images, "labels:0": [0, 1, 2], "training:0": True})
    tf.train.Saver().restore(session, folder + "/model.ckpt")

def read(name):
    graph_def = tf.GraphDef()
    with tf.gfile.GFile(folder + name, "rb") as file:
        graph_def.ParseFromString(file.read())
    return graph_def

def frozen(session):
    tf.import_graph_def(read("/frozen.pb"))
    return "import/"

def training_graph(session):
    saved = tf.MetaGraphDef()
    saved.ParseFromString(open(folder + "/model.ckpt.meta", "rb").read())
    tf.import_graph_def(saved.graph_def)
    return "import/"

def names_of_a_second_import():
    with tf.Graph().as_default() as graph:
        saved = tf.MetaGraphDef()
        saved.ParseFromString(open(folder + "/model.ckpt.meta", "rb").read())
        prefixes = []
        for _ in range(2):
            (operation,) = tf.import_graph_def(saved.graph_def, return_elements=["probabilities"])
            prefixes.append(operation.name)
        return prefixes

def broken():
    graph_def = read("/frozen.pb")
    graph_def.node[0].attr["dtype"].type = 999
    try:
        with tf.Graph().as_default():
            tf.import_graph_def(graph_def)
    except Exception as error:
        return type(error).__name__

report(meta=check(meta), frozen=check(frozen), names=names_of_a_second_import(), broken=broken(),
       saved=check(lambda session: tf.saved_model.loader.load(session, ["serve"], folder + "/saved") and None))

# ------------------------------------------------------------------------------------------------------- MNIST
import importlib.util, os, tempfile
spec = importlib.util.spec_from_file_location("make_mnist", sys.argv[2])
make_mnist = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_mnist)
from tensorflow.examples.tutorials.mnist import input_data
import tensorflow.examples.tutorials.mnist.input_data as again
from tensorflow.examples.tutorials import mnist
from tensorflow.examples.tutorials.mnist import mnist as model
plain, below = tempfile.mkdtemp(), tempfile.mkdtemp()
make_mnist.write_files(plain, compressed=False)
os.mkdir(below + "/MNIST")
make_mnist.write_files(below + "/MNIST")
def error(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)]
wrong = tempfile.mkdtemp()
make_mnist.write_files(wrong, compressed=False)
os.rename(wrong + "/t10k-labels-idx1-ubyte", wrong + "/train-images-idx3-ubyte")
lacking = tempfile.mkdtemp()
make_mnist.write_files(lacking)
os.remove(lacking + "/train-labels-idx1-ubyte.gz")
report(
    mnist=[make_mnist.batches(case, folder, tf, input_data)
           for case, folder in zip(make_mnist.CASES, [plain, below] * 3)],
    same_module=again is input_data is mnist.input_data,
    nothing=error(lambda: input_data.read_data_sets(tempfile.mkdtemp())),
    lacking=error(lambda: input_data.read_data_sets(lacking)),
    wrong_kind=error(lambda: input_data.read_data_sets(wrong)),
    too_many=error(lambda: input_data.read_data_sets(plain, validation_size=51)),
    float64=error(lambda: input_data.read_data_sets(plain, validation_size=5, dtype=tf.float64)),
)
fake = input_data.read_data_sets("", fake_data=True, one_hot=True).train.next_batch(3, fake_data=True)
report(fake=[len(fake[0]), len(fake[0][0]), fake[1][0]])
with tf.Graph().as_default(), tf.Session() as session:
    x, labels = tf.placeholder(tf.float32, [4, 784]), tf.constant([1, 2, 3, 4])
    logits = model.inference(x, 8, 8)
    train = model.training(model.loss(logits, labels), 0.1)
    session.run(tf.global_variables_initializer())
    session.run(train, {x: np.ones((4, 784))})
    report(model=[logits.shape.as_list(), int(session.run("global_step:0"))])
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("old")
    unpack(GOLDEN / "data" / "old_graph.tar.gz", folder)
    return run_python(GRAPHS, str(folder / "old_graph"), str(GOLDEN / "make" / "make_mnist.py")).results


@pytest.mark.parametrize("form", ["meta", "saved", "frozen"])
def test_graph_of_1_15_computes_what_it_computed_there(found, form):
    difference, operations = found[form]
    assert difference < 1e-6 and operations > 20


def test_an_import_that_is_tried_again_leaves_names_as_they_were(found):
    assert found["names"] == ["import/probabilities", "import_1/probabilities"]


def test_a_graph_that_is_wrong_otherwise_is_still_an_error(found):
    assert found["broken"] in ("ValueError", "InvalidArgumentError")


def test_mnist_batches_are_those_of_1_15(found):
    assert found["mnist"] == json.loads((GOLDEN / "data" / "mnist.json").read_text())
    assert found["same_module"]


def test_mnist_that_is_not_there_names_the_files_and_the_place(found):
    kind, text = found["nothing"]
    assert kind == "FileNotFoundError"
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3", "t10k-labels-idx1", "/"):
        assert name in text
    kind, text = found["lacking"]
    assert kind == "FileNotFoundError" and ": train-labels-idx1-ubyte is missing" in text


def test_mnist_files_of_the_wrong_kind_and_wrong_arguments(found):
    assert found["wrong_kind"][0] in ("ValueError", "FileNotFoundError")
    assert found["too_many"] == ["ValueError", "Validation size should be between 0 and 50. Received: 51."]
    assert found["float64"][0] == "TypeError"


def test_mnist_fake_data_and_the_tutorials_network(found):
    assert found["fake"] == [3, 784, [1] + [0] * 9]
    assert found["model"] == [[4, 10], 1]


LIBRARIES = """
import sys, threading, warnings
import tf1sessions.scripts
tf1sessions.scripts.install()
loaded_early = [name for name in ("numpy", "tensorflow", "keras") if name in sys.modules]
import numpy as np
def lacks(name):
    try:
        return not hasattr(np, name)
    except RuntimeError:  # of NumPy 1.26, for a name that it has removed
        return True
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    missing = list(filter(lacks, open(sys.argv[1]).read().split()))
report(loaded_early=loaded_early, missing=missing)
printed = []
def show():
    printed.append(str([np.float32(1.5), np.int64(2)]))
show()
thread = threading.Thread(target=show)
thread.start()
thread.join()
array = np.arange(6.).reshape(2, 3)
array.itemset(1, 7.)
array.itemset((1, 2), 9.)
def fails(call):
    try:
        return repr(call())
    except Exception as error:
        return type(error).__name__
report(printed=printed, itemset=array.tolist(), tostring=np.array([1], np.uint8).tostring() == b"\\x01",
       ptp=float(array.ptp()), swapped=int(np.array([1], np.int16).newbyteorder()[0]),
       ragged=[np.array([[1], [2, 3]]).dtype.name, fails(lambda: np.array([[1], [2, 3]], dtype=np.float32)),
               fails(lambda: np.array([[1], [2, 3]], np.float32)), np.array([[1], [2]]).dtype.name,
               np.asarray([[1], [2, 3]]).shape[0]],
       values=[np.asscalar(np.float32(2)), np.product([2, 3]).item(), bool(np.alltrue([True])),
               np.in1d([1, 2], [2]).tolist(),
               np.trapz([1, 2, 3]).item(), np.float is float, np.row_stack(([1], [2])).tolist(),
               np.cumproduct([2, 3]).tolist(),
               np.cast[np.int32](2.7).item(), np.nbytes[np.float64], np.find_common_type([np.float32], [np.int64]).name,
               np.rank([[1]]), np.NaN != np.NaN, np.asfarray([1]).dtype.name, np.mat([[1, 2]]).shape,
               np.unicode is str])

import collections, time, fractions, inspect, json, random, base64
from distutils.version import LooseVersion
from distutils.util import strtobool
import imp
def function(a, b=1, *c, **d): pass
random.seed(1)
first = random.sample({3, 1, 2}, 2)
random.seed(1)
shuffled = list(range(5))
random.shuffle(shuffled, lambda: 0.0)
open("a.txt", "w").write("a\\n")
report(library=[
    issubclass(dict, collections.Mapping), time.clock() > 0, fractions.gcd(4, 6), list(inspect.getargspec(function)),
    json.loads("[1]", encoding="utf-8"), len(first), shuffled, random.randint(4 / 2, 2), open("a.txt", "rU").read(),
    base64.encodestring(b"a"), LooseVersion("1.15.5") > "1.4", LooseVersion("1.4") >= LooseVersion("1.10"),
    bool(strtobool("yes")),
    callable(imp.load_source), threading.Thread(target=show).isAlive(),
    fails(lambda: random.randint(0, 1.5)) in ("ValueError", "TypeError"),
].__repr__())
try:
    from scipy import special
    from PIL import Image
except ImportError:
    pass
else:
    import scipy.misc
    from scipy.misc import imread, imsave, imresize
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    imsave("a.png", pixels)
    report(scipy=[bool((imread("a.png") == pixels).all()), imresize(pixels, (2, 8)).shape,
                  imresize(pixels, 0.5).shape,
                  imresize(pixels, 200).shape,
                  scipy.misc.toimage(np.array([[0., 1.]])).getpixel((1, 0)),
                  scipy.misc.imread("a.png", flatten=True).dtype.name])
"""


# Names of 1.18 that are not given back: nothing to do with arrays any more, or unused outside NumPy.
NUMPY_LEFT_OUT = set(
    "MachAr Tester absolute_import add_newdoc_ufunc compat division fv get_array_wrap geterrobj "
    "int_asbuffer ipmt irr lookfor mafromtxt mirr nper npv numarray oldnumeric pmt ppmt "
    "print_function pv rate safe_eval sctypeNA set_numeric_ops set_string_function seterrobj source "
    "typeNA who".split()
)


@pytest.fixture(scope="module")
def libraries(run_python: Callable[..., Any]) -> dict[str, Any]:
    return run_python(LIBRARIES, str(GOLDEN / "data" / "numpy_1_18.txt"), fresh=True).results


def test_install_imports_nothing(libraries):
    assert libraries["loaded_early"] == []


def test_numpy_has_every_name_of_1_18(libraries):
    assert set(libraries["missing"]) <= NUMPY_LEFT_OUT


def test_numpy_scalars_print_as_they_did_in_every_thread(libraries):
    assert libraries["printed"] == ["[1.5, 2]", "[1.5, 2]"]


def test_numpy_array_methods_that_were_removed(libraries):
    assert libraries["itemset"] == [[0.0, 7.0, 2.0], [3.0, 4.0, 9.0]]
    assert (libraries["tostring"], libraries["ptp"], libraries["swapped"]) == (True, 9.0, 256)


def test_numpy_makes_ragged_lists_objects_unless_a_type_is_given(libraries):
    assert libraries["ragged"] == ["object", "ValueError", "ValueError", "int64", 2]


def test_numpy_functions_that_were_removed(libraries):
    assert libraries["values"] == [
        2.0, 6, True, [False, True], 4.0, True, [[1], [2]], [2, 6], 2, 8, "float32", 2, True, "float64", [1, 2], True,
    ]  # fmt: skip


def test_library_of_python_3_6(libraries):
    assert libraries["library"] == repr([
        True, True, 2, [["a", "b"], "c", "d", (1,)], [1], 2, [1, 2, 3, 4, 0], 2, "a\n", b"YQ==\n", True, False,
        True, True, False, True,
    ])  # fmt: skip


def test_scipy_misc_where_scipy_and_pillow_are(libraries):
    if "scipy" not in libraries:
        pytest.skip("SciPy and Pillow are not installed")
    assert libraries["scipy"] == [True, [2, 8, 3], [2, 2, 3], [8, 8, 3], 255, "float32"]
