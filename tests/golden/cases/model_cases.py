"""What the artifacts in ``models/`` are, and what is asked of each: read by make_models.py and by the tests.

The artifacts were written by genuine TensorFlow 1.15.5, or built by hand as older versions wrote them (``by_hand``);
``models/expected.json.gz`` holds 1.15.5's outputs, bit by bit. Runs on Python 3.7 too.
"""

import gzip
import json
import os
from collections import namedtuple

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "models")

#: ``artifact`` is the name of its builder; ``path`` is below models/; ``feeds`` has tensor name -> array and
#: ``fetches`` lists tensors. ``signature`` is the one that has these, where it is not the default one; ``checkpoint``
#: is a prefix to be given beside a graph; ``unknown`` lists the operations that today's TensorFlow lacks and these
#: fetches need; ``tolerance`` is that of :func:`difference`: 0 where results are equal to the bit.
_FIELDS = "name artifact path feeds fetches tags signature checkpoint unknown tolerance by_hand"
Case = namedtuple("Case", _FIELDS)


def case(name, artifact, path, feeds, fetches, **rest):
    values = dict(tags=None, signature=None, checkpoint=None, unknown=(), tolerance=1e-6, by_hand=False)
    values.update(rest)
    return Case(name, artifact, path, feeds, fetches, **values)


def written(array):
    """An array as JSON-able data: dtype, shape and its bytes; strings as a list."""
    if array.dtype == object:
        return ["string", list(array.shape), [item.decode() for item in array.ravel()]]
    return [array.dtype.name, list(array.shape), array.tobytes().hex()]


def expected():
    """The outputs of 1.15.5: case -> tensor -> array."""
    with gzip.open(os.path.join(FOLDER, "expected.json.gz"), "rt") as file:
        found = json.load(file)
    return {name: {key: _read(*value) for key, value in outputs.items()} for name, outputs in found.items()}


def _read(dtype, shape, content):
    if dtype == "string":
        return strings(*[item.encode() for item in content]).reshape(shape)
    return np.frombuffer(bytes.fromhex(content), dtype).reshape(shape)


def difference(case, found):
    """How far the values ``found`` of what ``case`` fetches are from 1.15.5's at most; 2 for another type or shape."""
    wanted = expected()[case.name]
    return max(_difference(np.asarray(value), wanted[tensor]) for tensor, value in zip(case.fetches, found))


def _difference(value, wanted):
    if value.shape != wanted.shape or (value.dtype != wanted.dtype and wanted.dtype != object):
        return 2.0
    if wanted.dtype.kind not in "fc":
        return 0.0 if value.tolist() == wanted.tolist() else 1.0
    if not wanted.size:
        return 0.0
    return float(np.max(np.abs(value - wanted) / np.maximum(1, np.abs(wanted))))


def floats(*shape, **kind):
    values = np.random.RandomState(7).uniform(-1, 1, shape)
    return values.astype(kind.get("dtype", np.float32))


def strings(*values):
    return np.array(values, dtype=object)


IMAGES = floats(3, 4, 4, 1)
ROWS = floats(3, 4)
SEQUENCES = floats(2, 5, 3)
WORDS = strings(b"b", b"zebra", b"a", b"c")
EXAMPLES = strings(  # two tf.train.Example: x = four floats, words = strings
    b"\n/\n\x12\n\x05words\x12\t\n\x07\n\x01a\n\x02bc\n\x19\n\x01x\x12\x14\x12\x12\n\x10\x00\x00\x00?\x00\x00\x80\xbf\x00\x00\x00@\x00\x00\x00\x00",
    b"\n+\n\x0e\n\x05words\x12\x05\n\x03\n\x01d\n\x19\n\x01x\x12\x14\x12\x12\n\x10\x00\x00\x80?\x00\x00\x00\x00\x00\x00\x80>\x00\x00\x00\xbf",
)
CLOSE = 1e-5  # softmax, exp, fused batch normalisation differ that much between the two TensorFlows

_NETWORK = ({"images:0": IMAGES}, ["probabilities:0"])
_TRAINED = ({"images:0": IMAGES}, ["probabilities:0", "logits/BiasAdd:0"])
_LEARNING = ({"images:0": IMAGES, "training:0": np.array(True)}, ["probabilities:0"])
_ODD = (
    {"net/image-tensor.1:0": ROWS, "class:0": np.int32([0, 1, 3]), "2x:0": np.float32(3), "net_1/x:0": ROWS},
    ["net/a.b/c-d:0", "out/2:0"],
)
_VOCABULARY = ({"words:0": WORDS}, ["ids:0"])

CASES = [
    # ------------------------------------------------------------------------------------------- graphs
    case("frozen", "frozen", "frozen.pb", *_NETWORK, tolerance=CLOSE),
    case(
        "graph_with_variables",
        "checkpoint_sharded",
        "sharded/graph.pb",
        {"x:0": ROWS},
        ["y:0"],
        checkpoint="sharded/model.ckpt",
    ),
    # -------------------------------------------------------------------------------------- checkpoints
    case("checkpoint", "training", "training/model.ckpt-7", *_TRAINED, tolerance=CLOSE),
    case("checkpoint_meta", "training", "training/model.ckpt-7.meta", *_TRAINED, tolerance=CLOSE),
    case("checkpoint_folder", "training", "training", *_TRAINED, tolerance=CLOSE),
    case("checkpoint_training", "training", "training/model.ckpt-7", *_LEARNING, tolerance=CLOSE),
    case("checkpoint_v1", "checkpoint_v1", "v1_format/model.ckpt", {"x:0": ROWS}, ["y:0"]),
    case("checkpoint_v1_folder", "checkpoint_v1", "v1_format", {"x:0": ROWS}, ["y:0"]),
    case("checkpoint_sharded", "checkpoint_sharded", "sharded/model.ckpt", {"x:0": ROWS}, ["y:0"]),
    case(
        "variables",
        "variables",
        "variables/model.ckpt",
        {"ids:0": np.array([0, 4, 6]), "x:0": ROWS},
        ["embedded:0", "y:0", "both:0"],
    ),
    # ------------------------------------------------------------------------------------- SavedModels
    case("saved_training", "saved_training", "saved_training", *_NETWORK, tolerance=CLOSE),
    case(
        "saved_predict", "saved_signatures", "saved_signatures", {"x:0": ROWS, "scale:0": np.float32(2)}, ["scores:0"]
    ),
    case(
        "saved_classify",
        "saved_signatures",
        "saved_signatures",
        {"examples:0": EXAMPLES},
        ["classes:0", "scores_of_examples:0"],
        signature="classify",
    ),
    case(
        "saved_regress",
        "saved_signatures",
        "saved_signatures",
        {"examples:0": EXAMPLES},
        ["regressed:0"],
        signature="regress",
    ),
    case("saved_serve", "saved_tags", "saved_tags", {"x:0": ROWS}, ["y:0"], tags=["serve"]),
    case("saved_serve_gpu", "saved_tags", "saved_tags", {"x:0": ROWS}, ["y_gpu:0"], tags=["serve", "gpu"]),
    case("saved_train", "saved_tags", "saved_tags", {"x:0": ROWS}, ["loss:0"], tags=["train"], tolerance=CLOSE),
    case("saved_legacy_init_op", "saved_legacy_init_op", "saved_legacy_init_op", *_VOCABULARY, tolerance=0),
    case("saved_main_op", "saved_main_op", "saved_main_op", *_VOCABULARY, tolerance=0),
    case("saved_no_signature", "saved_no_signature", "saved_no_signature", {"x:0": ROWS}, ["y:0"]),
    # ----------------------------------------------------------------------------------- session bundles
    case("bundle_regression", "bundle_regression", "bundle_regression/00000003", {"x:0": ROWS}, ["y:0"]),
    case(
        "bundle_classification",
        "bundle_classification",
        "bundle_classification/00000001",
        {"words:0": WORDS},
        ["classes:0", "scores:0"],
        tolerance=CLOSE,
    ),
    case(
        "bundle_generic",
        "bundle_classification",
        "bundle_classification/00000001",
        {"words:0": WORDS},
        ["ids:0"],
        signature="ids",
        tolerance=0,
    ),
    # -------------------------------------------------------------------------------------- what is inside
    case(
        "tables",
        "tables",
        "tables.pb",
        {"words:0": WORDS},
        ["ids:0", "hashed:0", "values:0", "names:0", "found_later:0"],
        tolerance=0,
    ),
    case("tables_old", "tables_old", "tables_old.pb", {"words:0": WORDS}, ["ids:0"], tolerance=0),
    case(
        "control_flow_small",
        "control_flow",
        "control_flow.pb",
        {"x:0": np.float32([0.5])},
        ["chosen:0", "looped:0", "slope:0"],
    ),
    case(
        "control_flow_big",
        "control_flow",
        "control_flow.pb",
        {"x:0": np.float32([50.0])},
        ["chosen:0", "looped:0", "slope:0"],
    ),
    case("control_flow_v2", "control_flow_v2", "control_flow_v2.pb", {"x:0": np.float32([0.5])}, ["both:0"]),
    case("functions", "functions", "functions.pb", {"x:0": ROWS}, ["called:0"]),
    case(
        "recurrent",
        "recurrent",
        "recurrent.pb",
        {"sequences:0": SEQUENCES, "lengths:0": np.array([5, 2])},
        ["static:0", "dynamic:0", "last:0"],
        tolerance=CLOSE,
    ),
    case(
        "recurrent_checkpoint",
        "recurrent_checkpoint",
        "recurrent/model.ckpt",
        {"sequences:0": SEQUENCES},
        ["outputs:0"],
        tolerance=CLOSE,
    ),
    case(
        "strings",
        "strings",
        "strings.pb",
        {"serialized:0": EXAMPLES},
        ["doubled:0", "greeting:0", "lengths:0", "parsed/SparseToDense:0"],
        tolerance=0,
    ),
    case("queue", "queue", "queue.pb", {"batch:0": floats(2, 2)}, ["y:0"]),
    case("queue_other_size", "queue", "queue.pb", {"batch:0": floats(5, 2)}, ["y:0"]),
    case(
        "dtypes",
        "dtypes",
        "dtypes.pb",
        {
            "int32:0": np.int32([[1, -2], [3, 4]]),
            "int64:0": np.int64([[5, 2**40], [7, 8]]),
            "bool:0": np.array([[True, False], [False, True]]),
            "float64:0": floats(2, 2, dtype=np.float64),
            "half:0": floats(2, 2, dtype=np.float16),
            "uint8:0": np.uint8([[0, 255], [128, 7]]),
            "complex64:0": np.complex64([[1 + 2j, 0.5j], [3, -1j]]),
        },
        ["ints:0", "chosen:0", "halves:0", "bytes:0", "conjugates:0", "any:0"],
        tolerance=0,
    ),
    case("odd_names", "odd_names", "odd_names.pb", *_ODD),
    case("odd_names_text", "odd_names", "odd_names.pbtxt", *_ODD),
    case("quantized_range", "quantized", "quantized.pb", {"x:0": ROWS}, ["fake:0"]),
    # oneDNN's kernel of QuantizeV2 rounds a value half way otherwise: one step of 256 apart
    case("quantized", "quantized", "quantized.pb", {"x:0": ROWS}, ["product:0", "restored:0"], tolerance=0.0125),
    # -------------------------------------------------------------------------- as older versions wrote them
    case(
        "old_ops",
        "old_ops",
        "old_ops.pbtxt",
        {"images": floats(2, 4, 4, 2)},
        ["normalized:0", "resized:0", "nearest:0", "joined:0", "packed:0", "half_0:0", "pooled:0", "squeezed:0"],
        by_hand=True,
        tolerance=CLOSE,
    ),
    case(
        "old_arrays",
        "old_arrays",
        "old_arrays.pbtxt",
        {"rows": floats(3, 2, 2)},
        ["top:0", "top:1", "determinants:0", "diagonal:0", "scalars:0"],
        by_hand=True,
        tolerance=CLOSE,
    ),
    case("old_fused", "old_fused", "old_fused.pb", {"images:0": IMAGES}, ["fused:0", "product:0"], by_hand=True),
    case("frozen_references", "frozen_references", "frozen_references.pb", {"images:0": IMAGES}, ["normalized:0"]),
    case("frozen_resources", "frozen_resources", "frozen_resources.pb", {"ids:0": np.int32([3, 0])}, ["y:0"]),
    case("broken_references", "broken_references", "broken_references.pb", {"x:0": ROWS}, ["y:0"], by_hand=True),
    # ------------------------------------------------------------------- operations that are gone today
    case(
        "gather_tree",
        "contrib_ops",
        "contrib_ops.pb",
        {
            "steps:0": np.int32([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]]),
            "parents:0": np.int32([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]]]),
            "max_lengths:0": np.int32([3]),
        },
        ["beams:0"],
        tolerance=0,
    ),
    case(
        "resampler",
        "contrib_ops",
        "contrib_ops.pb",
        {"images:0": IMAGES, "warp:0": floats(3, 2, 2) + 1},
        ["resampled:0", "followed:0", "inner:0"],
    ),
    case(
        "projective",
        "contrib_ops",
        "contrib_ops.pb",
        {"images:0": IMAGES, "transforms:0": np.float32([[1, 0, 1, 0, 1, 0, 0, 0]])},
        ["moved:0"],
    ),
    case("crossed", "contrib_ops", "contrib_ops.pb", {"words:0": strings(b"a", b"b", b"c")}, ["crossed:0"]),
    case("unknown_not_needed", "unknown", "unknown.pb", {"x:0": ROWS}, ["known:0"]),
    case("unknown", "unknown", "unknown.pb", {"x:0": ROWS}, ["sliced:0"], unknown=("ReduceSliceSum",)),
    case("unknown_function", "unknown", "unknown.pb", {"x:0": ROWS}, ["inner:0"], unknown=("ReduceSliceMax",)),
    # ------------------------------------------------------------------------------------- TPU, TRT, MKL
    case("saved_tpu", "saved_tpu", "saved_tpu", {"x:0": ROWS}, ["y:0"], tags=["serve", "tpu"]),
    case("saved_tpu_cpu", "saved_tpu", "saved_tpu", {"x:0": ROWS}, ["y:0"], tags=["serve"]),
    case("tpu_function", "tpu_function", "tpu_function.pb", {"x:0": ROWS}, ["y:0"], by_hand=True),
    case("trt", "trt", "trt.pb", {"x:0": ROWS}, ["y:0"], by_hand=True),
    case("trt_1_13", "trt_1_13", "trt_1_13.pb", {"x:0": ROWS}, ["y:0"], by_hand=True),
    case("mkl", "mkl", "mkl.pb", {"images:0": IMAGES}, ["y:0"], by_hand=True, tolerance=CLOSE),
]
