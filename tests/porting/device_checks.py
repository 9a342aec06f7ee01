"""Calls of converted models where there are two devices. Run by test_devices.py in one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

import tf1sessions
from tf1sessions import porting

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)


def check_calls_are_where_they_are_placed() -> None:
    """The variable is on the first device."""

    def build(x: Any) -> Any:
        return tf1sessions.tf1.matmul(x, tf1sessions.tf1.get_variable("w", initializer=np.eye(3, dtype=np.float32)))

    module = porting.function(build, inputs={"x": tf.TensorSpec([None, 3])})
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    for device in ("CPU:0", "CPU:1"):
        with tf.device(device):
            found = module(x=rows)
            other = module(x=tf.constant(rows))
        assert found.device.endswith(device) and other.device == found.device
        np.testing.assert_array_equal(found, rows)
        np.testing.assert_array_equal(other, rows)
    assert module(x=rows).device.endswith("CPU:0")
