"""``tf.contrib.nccl``, which 1.15 had no more: in a script, and over the logical devices of a CPU."""

from __future__ import annotations

from collections.abc import Callable

from support import PythonRun

PROGRAM = """
import tf1sessions.scripts
tf1sessions.scripts.install()
import numpy as np
import tensorflow as tf
import tensorflow.contrib.nccl as imported
from tensorflow.contrib import nccl
from tensorflow.contrib.nccl.python.ops import nccl_ops

report(same=imported.all_sum is nccl.all_sum is nccl_ops.all_sum is tf.contrib.nccl.all_sum)
parts = []
for number in range(3):
    with tf.device(f"/cpu:{number}"):
        parts.append(tf.get_variable(f"v{number}", [2], initializer=tf.constant_initializer([number + 2.0, -number])))
found = {name: getattr(nccl, name)(parts) for name in ("all_sum", "all_prod", "all_min", "all_max")}
report(devices={name: [tensor.device for tensor in tensors] for name, tensors in found.items()})
loss = tf.add_n([(number + 1.0) * tensor for number, tensor in enumerate(found["all_sum"])])
with tf.device("/cpu:1"):
    total = nccl.reduce_sum(parts)
sent = nccl.broadcast(parts[2])
with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
    session.run(tf.global_variables_initializer())
    report(values={name: [value.tolist() for value in session.run(tensors)] for name, tensors in found.items()},
           total=session.run(total).tolist(), total_device=total.device, sent=session.run(sent).tolist(),
           sent_device=sent.device, gradients=[g.tolist() for g in session.run(tf.gradients(loss, parts))])
try:
    nccl.all_sum([])
except ValueError as error:
    report(none=type(error).__name__)
"""


def test_sums_and_copies_over_devices(run_python: Callable[..., PythonRun]) -> None:
    results = run_python(PROGRAM, fresh=True).results
    assert results["same"] is True
    devices = [f"/device:CPU:{number}" for number in range(3)]
    assert set(map(tuple, results["devices"].values())) == {tuple(devices)}
    assert results["values"] == {
        "all_sum": [[9.0, -3.0]] * 3,
        "all_prod": [[24.0, 0.0]] * 3,
        "all_min": [[2.0, -2.0]] * 3,
        "all_max": [[4.0, 0.0]] * 3,
    }
    assert results["total"] == [9.0, -3.0] and results["total_device"] == devices[1]
    assert results["sent"] == [4.0, -2.0] and results["sent_device"] == devices[2]
    assert results["gradients"] == [[6.0, 6.0]] * 3
    assert results["none"] == "UsageError"
