"""Cases of ``tf.contrib.resampler`` and ``periodic_resample``: name -> function of (tf, contrib).

See contrib_record.py. Runs on Python 3.7 too.
"""

import numpy as np
from contrib_record import feed

CASES = {}

POINTS = [[0, 0], [0.5, 0.25], [-0.5, 0.5], [-1, 0], [4, 3], [4.5, 2.5], [5, 3], [np.nan, 1], [1, np.nan], [np.inf, 0]]
POINTS += [[1e9, 0], [-0.999, -0.999], [3.999, 2.999], [1, -1], [0, 3.5], [2.25, -0.25]]


def points(shape, dtype="float32"):
    """[2, *shape, 2]: corners, margins, what is outside, and what is no number."""
    return np.resize(np.array(POINTS, dtype), (2,) + tuple(shape) + (2,))


def resampled(name, warp, data_shape=(2, 4, 5, 3), known=True, dtype="float32"):
    def build(tf, contrib):
        v = tf.get_variable("data", data_shape, dtype=dtype)
        w = tf.get_variable("warp", warp.shape, dtype=dtype)
        data, where = v * 1.0, warp + 0.0 * w
        if known is False:
            data, where = tf.placeholder_with_default(data, None), tf.placeholder_with_default(where, None)
        elif known == "partly":
            data = tf.placeholder_with_default(data, [None, None, 5, None])
            where = tf.placeholder_with_default(where, [None] + list(warp.shape[1:]))
        y = contrib.resampler.resampler(data, where)
        weights = np.resize(feed([7, 11], 3), y.shape.as_list()) if y.shape.is_fully_defined() else 1.5
        by_data, by_warp = tf.gradients(tf.reduce_sum(y * weights), [data, where])
        outputs = {
            "y": y,
            "by_data": tf.identity(by_data, name="by_data"),
            "by_warp": tf.identity(by_warp, name="by_warp"),
        }
        if known is False:
            outputs = {key: tf.reshape(value, [-1], name="flat") for key, value in outputs.items()}
        return {"outputs": outputs}

    CASES["resampler " + name] = build


resampled("vector", points([16]))
resampled("grid", points([4, 4]))
resampled("one", points([]))
resampled("wide", points([2, 3, 4]), (2, 4, 5, 1))
resampled("unknown", points([16]), known=False)
resampled("partly", points([4, 4]), known="partly")
resampled("double", points([16], "float64"), dtype="float64")


def dtypes(tf, contrib):
    contrib.resampler.resampler(tf.zeros([1, 2, 2, 1]), tf.zeros([1, 2], tf.float64))


def names(tf, contrib):
    data = tf.constant(feed([1, 3, 3, 2]))
    warp = tf.constant(feed([1, 4, 2], 2, 0.0, 2.0))
    return {
        "outputs": {
            "first": contrib.resampler.resampler(data, warp),
            "second": contrib.resampler.resampler(data, warp),
            "named": contrib.resampler.resampler(data=data, warp=warp, name="mine"),
        }
    }


CASES.update({"resampler dtypes": dtypes, "resampler names": names})


def periodic(name, given, shape, dtype="float32", known=True, gradient=True):
    def build(tf, contrib):
        values = np.arange(np.prod(given)).reshape(given).astype(dtype)
        x = tf.constant(values) if known else tf.placeholder_with_default(values, [None] + list(given[1:]))
        y = contrib.periodic_resample.periodic_resample(x, shape)
        outputs = {"y": y, "named": contrib.periodic_resample.periodic_resample(values=x, shape=shape, name="mine")}
        if gradient:
            outputs["gradient"] = tf.identity(tf.gradients(y * y, x)[0], name="gradient")
        return {"outputs": outputs}

    CASES["periodic_resample " + name] = build


periodic("rows", [3, 4], [6, None])
periodic("minus one", [3, 4], [6, -1])
periodic("columns", [3, 4], [None, 8])
periodic("uneven", [3, 4], [5, None])
periodic("last of three", [2, 2, 4], [4, 4, None])
periodic("middle", [2, 4, 4], [2, None, 8])
periodic("first", [4, 2, 2], [None, 4, 2])
periodic("image", [1, 3, 3, 8], [1, 6, 6, None])
periodic("whole numbers", [3, 4], [6, None], "int32", gradient=False)
periodic("double", [3, 4], [6, None], "float64")
periodic("unknown", [3, 4], [6, None], known=False, gradient=False)
