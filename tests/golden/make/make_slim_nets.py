"""Records the networks of ``tf.contrib.slim.nets`` with genuine TensorFlow 1.15.5: ``python make_slim_nets.py MODELS``.

MODELS is the folder research/slim of TensorFlow's models, whose ``nets`` are recorded, too. Writes
contrib/slim_nets.json.gz and contrib/slim_nets_checkpoints.tar.gz in ../data.
"""

import gzip
import io
import os
import sys
import tarfile
import tempfile
import types

from folders import DATA

# isort: split
import numpy as np
import slim_nets_record as recorder
import tensorflow as tf
from contrib_record import save
from tensorflow.contrib import slim
from tensorflow.contrib.slim import nets as genuine

tf.logging.set_verbosity(tf.logging.ERROR)
sys.path.insert(0, sys.argv[1])
from nets import inception_resnet_v2, inception_v4, mobilenet_v1  # noqa: E402
from nets.mobilenet import mobilenet_v2  # noqa: E402

CONTRIB = os.path.join(DATA, "contrib")
nets = types.SimpleNamespace(
    arg_scope=slim.arg_scope,
    inception_resnet_v2=inception_resnet_v2,
    inception_v4=inception_v4,
    mobilenet_v1=mobilenet_v1,
    mobilenet_v2=mobilenet_v2,
    **{name: getattr(genuine, name) for name in ("alexnet", "inception", "overfeat", "resnet_v1", "resnet_v2", "vgg")},
)

recorded = {"structure": {}, "values": {}, "checkpoints": {}}
for name, network in {**recorder.NETWORKS, **recorder.PUBLISHED}.items():
    found = recorder.structure(tf, nets, network)
    recorded["structure"][name] = recorder.digests(found) if name in recorder.DIGESTS else found
for name, case in {**recorder.VALUES, **recorder.PUBLISHED_VALUES}.items():
    recorded["values"][name] = recorder.summary(recorder.outputs(tf, nets, case))


def filled_and_saved(path):
    def restore():
        fills = [
            v.assign(recorder.fill(v.op.name, v.shape.as_list()).astype(np.float32)) for v in tf.global_variables()
        ]
        saver = tf.train.Saver()

        def call(session):
            session.run(fills)
            saver.save(session, path, write_meta_graph=False, write_state=False)

        return call

    return restore


with tempfile.TemporaryDirectory() as folder:
    for name, case in recorder.CHECKPOINTS.items():
        value = recorder.outputs(tf, nets, case, filled_and_saved(os.path.join(folder, name)))
        recorded["checkpoints"][name] = recorder.summary(value)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file in sorted(os.listdir(folder)):
            entry = archive.gettarinfo(os.path.join(folder, file), file)
            entry.mtime = entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            with open(os.path.join(folder, file), "rb") as content:
                archive.addfile(entry, content)
save(os.path.join(CONTRIB, "slim_nets.json.gz"), recorded)
with open(os.path.join(CONTRIB, "slim_nets_checkpoints.tar.gz"), "wb") as raw:
    with gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
        file.write(packed.getvalue())
