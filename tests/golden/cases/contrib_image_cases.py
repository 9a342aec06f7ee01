"""Cases of ``tf.contrib.image``: name -> function of (tf, contrib); see contrib_record.py. Runs on Python 3.7 too."""

import importlib

import numpy as np
from contrib_record import feed

CASES = {}


def case(name, make, gradient=None):
    """A case of what ``make(tf, contrib.image)`` returns, a tensor or several; ``gradient``: the input to train."""

    def build(tf, contrib):
        found = make(tf, contrib.image)
        found = found if isinstance(found, (list, tuple)) else [found]
        return {"outputs": {"y%d" % i: tf.identity(y, name="y%d" % i) for i, y in enumerate(found)}}

    assert name not in CASES
    CASES[name] = build


def trained(name, make):
    """A case whose image is a variable, so that its gradient is compared, too."""

    def build(tf, contrib):
        y = make(tf, contrib.image, tf.get_variable("image", [2, 4, 5, 2]))
        return {"outputs": {"y": tf.identity(y, name="y")}, "loss": tf.reduce_sum(tf.square(y))}

    CASES[name] = build


def distort():
    """Where 1.15.5 had the colours, and where we have them."""
    try:
        return importlib.import_module("tensorflow.contrib.image.python.ops.distort_image_ops")
    except ImportError:
        return importlib.import_module("tf1sessions.contrib.image")


BATCH, IMAGE, PLANE = feed([2, 4, 5, 3], 1), feed([4, 5, 3], 2), feed([5, 4], 3)
PROJECTION = [1.1, 0.2, -0.3, -0.1, 0.9, 0.4, 0.01, 0.02]

for way in ("NEAREST", "BILINEAR"):
    case("rotate batch " + way, lambda tf, im, way=way: im.rotate(BATCH, [0.3, -1.0], way))
    case("rotate image " + way, lambda tf, im, way=way: im.rotate(IMAGE, 0.5, way))
    case("translate " + way, lambda tf, im, way=way: im.translate(BATCH, [1.0, -1.5], way))
    case("transform " + way, lambda tf, im, way=way: im.transform(PLANE, PROJECTION, way))
    trained("transform gradient " + way, lambda tf, im, x, way=way: im.transform(x, PROJECTION, way))
case("rotate integers", lambda tf, im: im.rotate(np.arange(20).reshape(4, 5).astype("uint8"), np.pi / 2))
case("translate each", lambda tf, im: im.translate(BATCH, [[1.0, 0.0], [0.0, 2.0]]))
case("transform larger", lambda tf, im: im.transform(PLANE, PROJECTION, output_shape=[7, 6]))
case(
    "transform unknown",
    lambda tf, im: im.transform(tf.placeholder_with_default(BATCH, [None, None, None, 3]), PROJECTION),
)
case("angles", lambda tf, im: im.angles_to_projective_transforms([0.1, 2.0], 4.0, 6.0))
case("translations", lambda tf, im: im.translations_to_projective_transforms([2.0, 3.0]))
case(
    "compose",
    lambda tf, im: im.compose_transforms(
        im.angles_to_projective_transforms(0.4, 4.0, 6.0),
        im.translations_to_projective_transforms([2.0, 3.0]),
        PROJECTION,
    ),
)
case(
    "matrices",
    lambda tf, im: [im.flat_transforms_to_matrices(PROJECTION), im.matrices_to_flat_transforms(feed([2, 3, 3]))],
)

trained("dense_image_warp", lambda tf, im, x: im.dense_image_warp(x, tf.constant(feed([2, 4, 5, 2], 5, -3, 3))))
POINTS, VALUES, QUERIES = (
    feed(shape, seed, 0, 4).astype("float64") for shape, seed in (([2, 6, 2], 6), ([2, 6, 3], 7), ([2, 4, 2], 8))
)
for order in (1, 2, 3, 4):
    case("spline %d" % order, lambda tf, im, order=order: im.interpolate_spline(POINTS, VALUES, QUERIES, order))
case("spline smooth", lambda tf, im: im.interpolate_spline(POINTS, VALUES, QUERIES, 2, 0.1))
for edge in (0, 1, 2, 3):
    case(
        "sparse_image_warp %d" % edge,
        lambda tf, im, edge=edge: im.sparse_image_warp(
            tf.constant(feed([2, 6, 7, 1], 9).astype("float64")),
            tf.constant(feed([2, 4, 2], 10, 1, 4).astype("float64")),
            tf.constant(feed([2, 4, 2], 11, 1, 4).astype("float64")),
            num_boundary_points=edge,
        ),
    )

COLOURS = feed([3, 2, 3], 12, 0.1, 0.9)
case("yiq hue", lambda tf, im: distort().adjust_hsv_in_yiq(tf.constant(COLOURS), 0.7))
case("yiq all", lambda tf, im: distort().adjust_hsv_in_yiq(tf.constant(COLOURS), -0.4, 0.8, 0.9))
case("yiq bytes", lambda tf, im: distort().adjust_hsv_in_yiq(tf.constant((COLOURS * 200).astype("uint8")), 0.3, 0.9))
case("yiq random", lambda tf, im: distort().random_hsv_in_yiq(tf.constant(COLOURS), 0.0, 0.5, 0.5, 0.7, 0.7))

for rows in (-1, 3, 0):
    for most in (-1, 2):
        case(
            "bipartite_match %d %d" % (rows, most),
            lambda tf, im, rows=rows, most=most: im.bipartite_match(tf.constant(feed([5, 4], 13)), rows, most),
        )
MAZE = np.random.RandomState(3).randint(0, 3, [3, 7, 9])
SPIRAL = np.array([[int(c) for c in row] for row in "1111111 0000001 1111101 1000101 1011101 1000001 1111111".split()])
case("components", lambda tf, im: im.connected_components(tf.constant(MAZE)))
case("components bool", lambda tf, im: im.connected_components(tf.constant(MAZE > 0)))
case("components spiral", lambda tf, im: im.connected_components(tf.constant(SPIRAL)))
case("components none", lambda tf, im: im.connected_components(tf.zeros([3, 4], tf.int32)))

case("wrong rank", lambda tf, im: im.transform(tf.zeros([4]), PROJECTION))
case("wrong type", lambda tf, im: im.transform(tf.zeros([4, 4], tf.complex64), PROJECTION))
case("wrong transforms", lambda tf, im: im.transform(tf.zeros([4, 4]), tf.zeros([1, 1, 8])))
case("wrong output", lambda tf, im: im.transform(tf.zeros([4, 4]), PROJECTION, output_shape=[1, 2, 3]))
case("wrong angles", lambda tf, im: im.rotate(tf.zeros([4, 4]), tf.zeros([1, 1])))
case("wrong translations", lambda tf, im: im.translate(tf.zeros([4, 4]), [[[1.0, 2.0]]]))
case("wrong flat", lambda tf, im: im.flat_transforms_to_matrices(tf.zeros([1, 1, 8])))
case("wrong flow", lambda tf, im: im.dense_image_warp(tf.zeros([4, 4, 1]), tf.zeros([4, 4, 2])))
case("wrong components", lambda tf, im: im.connected_components(tf.zeros([4], tf.int32)))
