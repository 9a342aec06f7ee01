"""Builds the networks of ``tf.contrib.slim.nets`` and records them; the same code for TensorFlow 1.15.5 and for ours.

Of each network: its variables (name, shape, type, initializer), collections, end points, and the convolutions and
poolings of the graph. Of narrow ones also what comes out, with values made from the variables' names; of two of them,
with the values of a checkpoint. Runs on Python 3.7 too.
"""

import hashlib
import json
import zlib

import numpy as np
from contrib_record import session_of

#: network -> (module, function, arg scope's function, image's size, other arguments)
NETWORKS = {
    "alexnet_v2": ("alexnet", "alexnet_v2", "alexnet_v2_arg_scope", 224, {}),
    "overfeat": ("overfeat", "overfeat", "overfeat_arg_scope", 231, {}),
    "vgg_a": ("vgg", "vgg_a", "vgg_arg_scope", 224, {"num_classes": 10}),
    "vgg_16": ("vgg", "vgg_16", "vgg_arg_scope", 224, {}),
    "vgg_19": ("vgg", "vgg_19", "vgg_arg_scope", 256, {"spatial_squeeze": False}),
    "inception_v1": ("inception", "inception_v1", "inception_v1_arg_scope", 224, {}),
    "inception_v2": ("inception", "inception_v2", "inception_v2_arg_scope", 224, {}),
    "inception_v3": ("inception", "inception_v3", "inception_v3_arg_scope", 299, {"num_classes": 1001}),
    "resnet_v1_50": ("resnet_v1", "resnet_v1_50", "resnet_arg_scope", 224, {"num_classes": 1000}),
    "resnet_v1_101": (
        "resnet_v1",
        "resnet_v1_101",
        "resnet_arg_scope",
        321,
        {"global_pool": False},
    ),
    "resnet_v1_152": ("resnet_v1", "resnet_v1_152", "resnet_arg_scope", 224, {}),
    "resnet_v1_200": ("resnet_v1", "resnet_v1_200", "resnet_arg_scope", 224, {}),
    "resnet_v2_50": ("resnet_v2", "resnet_v2_50", "resnet_arg_scope", 224, {"num_classes": 1001}),
    "resnet_v2_101": (
        "resnet_v2",
        "resnet_v2_101",
        "resnet_arg_scope",
        321,
        {"global_pool": False},
    ),
    "resnet_v2_152": ("resnet_v2", "resnet_v2_152", "resnet_arg_scope", 224, {}),
    "resnet_v2_200": ("resnet_v2", "resnet_v2_200", "resnet_arg_scope", 224, {}),
}
#: Those that came with TensorFlow's models: they are recorded from the modules ``nets`` of those.
PUBLISHED = {
    "inception_v4": ("inception_v4", "inception_v4", "inception_v4_arg_scope", 299, {}),
    "inception_resnet_v2": ("inception_resnet_v2", "inception_resnet_v2", "inception_resnet_v2_arg_scope", 299, {}),
    "mobilenet_v1": ("mobilenet_v1", "mobilenet_v1", "mobilenet_v1_arg_scope", 224, {"num_classes": 1001}),
    "mobilenet_v1_025": ("mobilenet_v1", "mobilenet_v1_025", "mobilenet_v1_arg_scope", 128, {"is_training": False}),
    "mobilenet_v2": ("mobilenet_v2", "mobilenet", "training_scope", 224, {}),
    "mobilenet_v2_035": ("mobilenet_v2", "mobilenet_v2_035", "training_scope", 96, {"num_classes": 5}),
}
#: Of these only a digest of each part is kept: they have the layers of those above many times.
DIGESTS = {"vgg_16", "vgg_19", "overfeat"} | {
    "resnet_%s_%s" % (version, layers) for version in ("v1", "v2") for layers in (101, 152, 200)
}
KINDS = ("Conv2D", "DepthwiseConv2dNative", "MaxPool", "AvgPool", "SpaceToBatchND", "Pad")


# ------------------------------------------------------------------------------------------------------ structure


def _shape(item):
    return list(item.shape.as_list())


def _initializers(tf, graph):
    """Of each variable, the operation that makes its first value, and the numbers that it has."""
    constants = {}
    for op in graph.get_operations():
        name, found, constant = op.name.partition("/Initializer/")
        if found and op.type == "Const":
            value = tf.get_static_value(op.outputs[0])
            if value.dtype.kind == "f" and value.size:
                constants.setdefault(name, []).append([constant, round(float(np.ravel(value)[0]), 7)])
    return [
        [v.initializer.inputs[1].op.name.rpartition("/Initializer/")[2], sorted(constants.get(v.op.name, []))]
        for v in tf.global_variables()
    ]


def _operation(op):
    if op.type in ("SpaceToBatchND", "Pad"):
        return [op.name, op.type]
    padding = op.get_attr("padding")
    window = _shape(op.inputs[1]) if "Conv" in op.type else list(op.get_attr("ksize"))
    padding = padding.decode() if isinstance(padding, bytes) else padding
    return [op.name, op.type, window, list(op.get_attr("strides")), padding]


def _operation_name(item):
    """Without what today's dropout and assignment are called."""
    name = getattr(item, "name", None) or str(item)
    return name.replace("/AssignSubVariableOp", "").replace("/SelectV2:", "/mul_1:")


def structure(tf, nets, network):
    """The structure of ``network``, a value of the tables above, as JSON-able data."""
    module, function, scope, size, arguments = network
    home = getattr(nets, module)
    with tf.Graph().as_default() as graph:
        with nets.arg_scope(getattr(home, scope)()):
            logits, end_points = getattr(home, function)(tf.placeholder(tf.float32, [2, size, size, 3]), **arguments)
        return {
            "logits": _shape(logits),
            "variables": [[v.op.name, _shape(v), v.dtype.base_dtype.name] for v in tf.global_variables()],
            "initializers": _initializers(tf, graph),
            "end_points": [[key, _operation_name(tensor), _shape(tensor)] for key, tensor in end_points.items()],
            "collections": {
                str(key): sorted(_operation_name(item) for item in graph.get_collection(key))
                for key in graph.get_all_collection_keys()
                if graph.get_collection(key) and not str(key).startswith("cond")
            },
            "operations": [_operation(op) for op in graph.get_operations() if op.type in KINDS],
        }


def digests(parts):
    return {
        part: hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest() for part, value in parts.items()
    }


# --------------------------------------------------------------------------------------------------------- values


def _resnet(version, **settings):
    def build(nets, images):
        home = getattr(nets, "resnet_" + version)
        block = getattr(home, "resnet_%s_block" % version)
        blocks = [block("block1", 4, 2, 2), block("block2", 8, 2, 2), block("block3", 8, 1, 1)]
        with nets.arg_scope(home.resnet_arg_scope()):
            return getattr(home, "resnet_" + version)(images, blocks, 10, is_training=False, **settings)

    return build


def _network(module, function, scope, **settings):
    def build(nets, images):
        home = getattr(nets, module)
        with nets.arg_scope(getattr(home, scope)()):
            return getattr(home, function)(images, is_training=False, **settings)

    return build


def _base(module, function, **settings):
    return lambda nets, images: getattr(getattr(nets, module), function)(images, **settings)


#: name -> (function of ``nets`` and images, the image's size, the end point whose values count; None for the output).
VALUES = {
    "alexnet_v2": (_network("alexnet", "alexnet_v2", "alexnet_v2_arg_scope"), 99, "alexnet_v2/pool5"),
    "vgg_a": (_network("vgg", "vgg_a", "vgg_arg_scope"), 48, "vgg_a/pool5"),
    "inception_v1": (
        _network("inception", "inception_v1", "inception_v1_arg_scope", spatial_squeeze=False, num_classes=5),
        202,
        None,
    ),
    "inception_v2": (
        _network("inception", "inception_v2", "inception_v2_arg_scope", depth_multiplier=0.2, num_classes=5),
        96,
        None,
    ),
    "resnet_v2": (_resnet("v2"), 49, None),
    "resnet_v1 dense": (_resnet("v1", global_pool=False, output_stride=8, scope="r"), 65, None),
    "resnet_v2 dense": (_resnet("v2", global_pool=False, output_stride=8, scope="r"), 65, None),
    "resnet_v1 bare": (_resnet("v1", include_root_block=False, output_stride=2), 17, None),
}
PUBLISHED_VALUES = {
    "inception_v4": (_base("inception_v4", "inception_v4_base", final_endpoint="Mixed_6b"), 75, None),
    "mobilenet_v1": (
        _network("mobilenet_v1", "mobilenet_v1_025", "mobilenet_v1_arg_scope", num_classes=5),
        65,
        None,
    ),
    "mobilenet_v1 dense": (
        _base("mobilenet_v1", "mobilenet_v1_base", output_stride=8, use_explicit_padding=True, depth_multiplier=0.1),
        49,
        None,
    ),
    "mobilenet_v2": (_network("mobilenet_v2", "mobilenet_v2_035", "training_scope", num_classes=5), 65, None),
    "mobilenet_v2 dense": (
        _base(
            "mobilenet_v2",
            "mobilenet",
            output_stride=8,
            use_explicit_padding=True,
            depth_multiplier=0.1,
            min_depth=4,
            divisible_by=2,
            base_only=True,
        ),
        49,
        None,
    ),
}
#: Those whose variables come from a checkpoint that 1.15.5 wrote.
CHECKPOINTS = {
    "resnet_v1": (_resnet("v1"), 49, None),
    "inception_v3": (
        _network(
            "inception",
            "inception_v3",
            "inception_v3_arg_scope",
            depth_multiplier=0.04,
            min_depth=3,
            num_classes=7,
        ),
        139,
        None,
    ),
}


def fill(name, shape):
    """Values for the variable ``name`` with which numbers keep their size; sixty-fourths, so that they pack well."""
    rng = np.random.RandomState(zlib.crc32(name.encode()) % (2**32))
    kind = name.rpartition("/")[2]
    if kind in ("gamma", "moving_variance"):
        value = rng.uniform(0.5, 1.5, shape)
    elif kind in ("beta", "biases", "moving_mean"):
        value = rng.uniform(-0.25, 0.25, shape)
    else:
        seen = shape[0] * shape[1] * (1 if kind == "depthwise_weights" else shape[2]) if len(shape) == 4 else shape[0]
        value = rng.uniform(-1, 1, shape) * np.sqrt(6.0 / seen)
        return np.round(value * 2048) / 2048
    return np.round(value * 64) / 64


def images(size):
    return np.random.RandomState(0).uniform(-1, 1, [1, size, size, 3]).astype(np.float32)


def outputs(tf, nets, case, restore=None):
    """What ``case``, a value of the tables above, gives.

    Args:
        tf: TensorFlow.
        nets: The modules of networks.
        case: The case.
        restore: A function that returns one of the session that sets the variables; filled by name without it.
    """
    build, size, end_point = case
    with tf.Graph().as_default():
        unknown = end_point is not None  # the classifier is not run, and need not fit
        placeholder = tf.placeholder(tf.float32, [1, None, None, 3] if unknown else [1, size, size, 3])
        result, end_points = build(nets, placeholder)
        needed = [v for v in tf.global_variables() if "/fc" not in v.op.name or not unknown]
        if restore is None:
            fills = [v.assign(fill(v.op.name, _shape(v)).astype(np.float32)) for v in needed]
        else:
            call = restore()
        with session_of(tf) as session:
            if restore is None:
                session.run(fills)
            else:
                call(session)
            return session.run(end_points[end_point] if unknown else result, {placeholder: images(size)})


def summary(value):
    """Some of the numbers of an output, and the sum of all."""
    flat = np.asarray(value, np.float64).ravel()
    return {
        "shape": list(np.shape(value)),
        "some": [float("%.8g" % number) for number in flat[:: max(1, flat.size // 40)]],
        "size": float("%.8g" % np.abs(flat).mean()),
        "sum": float("%.8g" % flat.sum()),
    }
