"""The networks of contrib.slim.nets: structure and outputs of 1.15.5, and checkpoints that 1.15.5 wrote."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN / "cases"))
import slim_nets_record as recorder  # noqa: E402

BIG = recorder.DIGESTS | {"inception_v4", "inception_resnet_v2"}

PROLOGUE = """
import sys, tarfile, tempfile, types
import numpy as np
golden = sys.argv[1]
sys.path.insert(0, golden + "/cases")
import contrib_record, slim_nets_record as recorder
from tf1sessions import contrib, tf1 as tf
slim = contrib.slim
modules = {name: module for name, module in vars(slim.nets).items() if isinstance(module, types.ModuleType)}
nets = types.SimpleNamespace(arg_scope=slim.arg_scope, **modules)
recorded = contrib_record.load(golden + "/data/contrib/slim_nets.json.gz")
import json
"""

STRUCTURE = """
found = {}
for name in sorted(sys.argv[2:], key=lambda name: name in recorder.DIGESTS):
    if name in recorder.DIGESTS:
        # Each variable of a layer is looked for among all others, whose hashes then take half of the time. That tensors
        # of the same layers can do without is seen in the smaller networks, before.
        tf.disable_tensor_equality()
    now = json.loads(json.dumps(recorder.structure(tf, nets, {**recorder.NETWORKS, **recorder.PUBLISHED}[name])))
    before = recorded["structure"][name]
    if name in recorder.DIGESTS:
        now = recorder.digests(now)
    assert before.keys() == now.keys() and before["variables"]
    for part in before:
        if before[part] == now[part]:
            continue
        if isinstance(now[part], str):
            lines = "another digest"
        else:
            pairs = (before[part], now[part]), (now[part], before[part])
            lines = [[one for one in side if one not in other][:5] for side, other in pairs]
        found.setdefault(name, {})[part] = lines
report(found=found)
"""

VALUES = """
found = {}
def compare(name, before, value):
    now = recorder.summary(value)
    scale = 1e-4 * before["size"]
    near = np.allclose(now["some"], before["some"], rtol=0, atol=scale)
    same = now["shape"] == before["shape"] and near and abs(now["sum"] - before["sum"]) < scale * value.size
    if not same or not before["size"] > 0.001:
        found[name] = [before, now]

for name, case in {**recorder.VALUES, **recorder.PUBLISHED_VALUES}.items():
    compare(name, recorded["values"][name], recorder.outputs(tf, nets, case))

with tempfile.TemporaryDirectory() as folder:
    with tarfile.open(golden + "/data/contrib/slim_nets_checkpoints.tar.gz") as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    for name, case in recorder.CHECKPOINTS.items():
        restore = lambda: slim.assign_from_checkpoint_fn(folder + "/" + name, slim.get_model_variables())
        compare("checkpoint " + name, recorded["checkpoints"][name], recorder.outputs(tf, nets, case, restore))
        stored = dict(tf.train.list_variables(folder + "/" + name))
        assert len(stored) > 50 and all(size is not None for size in stored.values())
report(found=found, cases=len(recorded["values"]) + len(recorded["checkpoints"]))
"""


@pytest.mark.slow
def test_outputs_are_those_of_1_15(run_python: Callable[..., Any]) -> None:
    found = run_python(PROLOGUE + VALUES, str(GOLDEN), deadline=170).results
    assert found["found"] == {}
    assert found["cases"] == len(recorder.VALUES) + len(recorder.PUBLISHED_VALUES) + len(recorder.CHECKPOINTS) == 15


# These are built of the same blocks as the ResNets of fewer layers, whose structure is compared.
OF_MORE_UNITS = {
    "resnet_v1_101": [3, 4, 23, 3],
    "resnet_v1_200": [3, 24, 36, 3],
    "resnet_v2_152": [3, 8, 36, 3],
    "resnet_v2_200": [3, 24, 36, 3],
}
_COMPARED = {*recorder.NETWORKS, *recorder.PUBLISHED} - OF_MORE_UNITS.keys()
_SMALL, _BIG = sorted(_COMPARED - BIG), sorted(_COMPARED & BIG)


@pytest.mark.parametrize(
    ("chosen", "count"),
    [(_SMALL, 11), pytest.param(_BIG, 7, marks=pytest.mark.slow)],
    ids=["small", "big"],
)
def test_structure_is_that_of_1_15(run_python: Callable[..., Any], chosen: list[str], count: int) -> None:
    assert len(chosen) == count
    found = run_python(PROLOGUE + STRUCTURE, str(GOLDEN), *chosen, deadline=170).results
    assert found["found"] == {}


UNITS = """
from tf1sessions.contrib.slim.nets import resnet_utils

class Stopped(Exception):
    pass

def stop(net, blocks, output_stride, outputs_collections):
    raise Stopped(blocks)

resnet_utils.stack_blocks_dense = slim.add_arg_scope(stop)
found = {}
for name in sys.argv[2:]:
    module = modules[name.rpartition("_")[0]]
    block = getattr(module, module.__name__.rpartition(".")[2] + "_block")
    try:
        getattr(module, name)(tf.zeros([1, 33, 33, 3]))
    except Stopped as error:
        (blocks,) = error.args
        units = [len(each.args) for each in blocks]
        strides = zip(units, [2, 2, 2, 1])
        expected = [block(f"block{i + 1}", 64 * 2**i, *each) for i, each in enumerate(strides)]
        found[name] = units if blocks == expected else blocks
report(found=found)
"""


def test_deeper_resnets_have_more_units(run_python: Callable[..., Any]) -> None:
    assert run_python(PROLOGUE + UNITS, str(GOLDEN), *OF_MORE_UNITS).results["found"] == OF_MORE_UNITS


ERRORS = """
from tf1sessions.contrib.slim.nets import (
    inception, inception_resnet_v2, inception_v3, mobilenet_v1, mobilenet_v2, resnet_utils, resnet_v1
)
def error(call):
    with tf.Graph().as_default():
        try:
            call(tf.placeholder(tf.float32, [1, 224, 224, 3]))
        except Exception as error:
            return [type(error).__name__, str(error)]

report(errors=[
    error(lambda x: inception.inception_v1_base(x, final_endpoint="Mixed_9")),
    error(lambda x: inception.inception_v3(x, depth_multiplier=0)),
    error(lambda x: inception.inception_v2(x, depth_multiplier=-1.0)),
    error(lambda x: resnet_v1.resnet_v1_50(x, output_stride=6)),
    error(lambda x: resnet_v1.resnet_v1_50(x, output_stride=12)),
    error(lambda x: mobilenet_v1.mobilenet_v1_base(x, output_stride=3)),
    error(lambda x: mobilenet_v1.mobilenet_v1(x[0])),
    error(lambda x: mobilenet_v2.mobilenet(x, output_stride=7)),
    error(lambda x: mobilenet_v2.mobilenet(x, conv_defs=1)),
    error(lambda x: inception_resnet_v2.inception_resnet_v2_base(x, output_stride=4)),
])

with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [None, 49, 49, 3])
    block = resnet_v1.resnet_v1_block("b", 2, 2, 2)
    report(block=[block.scope, block.args, isinstance(block, resnet_utils.Block)])
    with slim.arg_scope(resnet_v1.resnet_arg_scope(weight_decay=0.5)):
        train, _ = resnet_v1.resnet_v1(x, [block], 3, is_training=True, scope="net")
        variables = len(tf.global_variables())
        test, ends = resnet_v1.resnet_v1(x, [block], 3, is_training=False, scope="net", reuse=True)
    same, tensor = resnet_utils.subsample(x, 1), resnet_utils.subsample(x, 2)
    report(reuse=[variables, len(tf.global_variables()), test.shape.as_list(), sorted(ends)[-1]],
           subsample=[same is x, tensor.shape.as_list()])
    loss = slim.losses.softmax_cross_entropy(tf.squeeze(train, [1, 2]), [[1.0, 0.0, 0.0]] * 2)
    train_op = slim.learning.create_train_op(slim.losses.get_total_loss(), tf.train.MomentumOptimizer(0.01, 0.9))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feeds = {x: np.random.RandomState(1).rand(2, 49, 49, 3)}
        losses = [float(session.run(train_op, feeds)) for _ in range(8)]
        predictions = session.run(ends["predictions"], feeds)
    report(losses=losses, sums=predictions.sum(-1).ravel().tolist())

with tf.Graph().as_default():
    # within training_scope the network trains; without, it does not
    def trains(**settings):
        with tf.Graph().as_default():
            mobilenet_v2.mobilenet(tf.ones([1, 32, 32, 3]), 3, depth_multiplier=0.1, **settings)
            return bool(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    outside = trains()
    with slim.arg_scope(mobilenet_v2.training_scope()):
        inside = [trains(), trains(is_training=False)]
    report(trains=[outside, *inside])
"""


def test_arguments_reuse_and_training(run_python: Callable[..., Any]) -> None:
    found = run_python(PROLOGUE + ERRORS, str(GOLDEN)).results
    kinds = [kind for kind, _ in found["errors"]]
    assert kinds == ["ValueError"] * 8 + ["TypeError", "ValueError"]
    texts = "\n".join(text for _, text in found["errors"])
    for part in (
        "Unknown final endpoint Mixed_9",
        "depth_multiplier is not greater than zero.",
        "multiple of 4",
        "cannot be reached",
        "8, 16, 32",
        "expected 4, was: 3",
        "multiple of 2",
        "conv_defs",
        "output_stride must be 8 or 16",
    ):
        assert part in texts
    units = [{"depth": 8, "depth_bottleneck": 2, "stride": stride} for stride in (1, 2)]
    assert found["block"] == ["b", units, True]
    before, after, shape, last = found["reuse"]
    assert before == after > 10 and shape == [None, 1, 1, 3] and last == "predictions"
    assert found["subsample"] == [True, [None, 25, 25, 3]]
    assert found["losses"][-1] < found["losses"][0]
    assert found["sums"] == pytest.approx([1.0, 1.0], abs=1e-5)
    assert found["trains"] == [False, True, False]


SCRIPT = """
import tf1sessions.scripts
tf1sessions.scripts.install()
import tensorflow as tf
import tensorflow.contrib.slim as slim
import tensorflow.contrib.slim.nets as all_nets
from tensorflow.contrib.slim.nets import resnet_v1, vgg
from tensorflow.contrib.slim.python.slim.nets import inception_v3, resnet_utils
from tensorflow.contrib.slim.python.slim.nets.resnet_v1 import bottleneck, resnet_v1_50
import tensorflow.contrib.slim.python.slim.nets.alexnet as alexnet

report(same=[
    resnet_v1.resnet_v1_50 is resnet_v1_50, resnet_v1.bottleneck is bottleneck, vgg.vgg_16 is slim.nets.vgg.vgg_16,
    all_nets.inception.inception_v3 is inception_v3.inception_v3, alexnet.alexnet_v2 is all_nets.alexnet.alexnet_v2,
    resnet_utils.Block is all_nets.resnet_utils.Block, tf.contrib.slim.nets.overfeat.overfeat is not None,
])
with slim.arg_scope(inception_v3.inception_v3_arg_scope()):
    logits, ends = inception_v3.inception_v3(tf.zeros([1, 299, 299, 3]), 5, depth_multiplier=0.05, is_training=False)
report(shapes=[logits.shape.as_list(), ends["AuxLogits"].shape.as_list()],
       variable=[v.op.name for v in tf.global_variables()][:2])
"""


def test_addresses_of_scripts(run_python: Callable[..., Any]) -> None:
    found = run_python(SCRIPT, fresh=True).results
    assert found["same"] == [True] * 7
    assert found["shapes"] == [[1, 5], [1, 5]]
    assert found["variable"] == ["InceptionV3/Conv2d_1a_3x3/weights", "InceptionV3/Conv2d_1a_3x3/BatchNorm/beta"]
