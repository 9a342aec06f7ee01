"""Cases of ``tf.contrib.distributions.bijectors``: name -> function of (tf, contrib); see contrib_record.py.

A case is a bijector: both its directions, the Jacobians for each number of an event's dimensions, its shapes, and the
gradients by its parameters. Runs on Python 3.7 too.
"""

import numpy as np
from contrib_distributions_cases import (
    FACTOR,
    KINDS,
    LOC,
    SCALE,
    TRIL,
    UNIT,
    USUAL,
    VALUES,
    Tensors,
    call,
    gradients,
    shape_of,
)
from contrib_record import feed

CASES = {}
POSITIVE = np.abs(VALUES) + np.float32(0.1)
SIMPLEX = np.exp(VALUES) / np.exp(VALUES).sum(-1, keepdims=True)
MATRICES = np.tril(feed([4, 3, 3], 11)) + 1.5 * np.eye(3, dtype=np.float32)


def facts(tf, b, shape, image):
    """What is known of the bijector ``b``, and of the shapes that it makes of ``shape`` and of ``image``."""
    outputs = {
        "facts": tf.constant(
            [b.name, str(b.forward_min_event_ndims), str(b.inverse_min_event_ndims), str(b.is_constant_jacobian)],
            name="facts",
        )
    }
    for way, of in (("forward", shape), ("inverse", image)):
        try:
            known = shape_of(getattr(b, way + "_event_shape")(tf.TensorShape(of)))
        except ValueError:
            known = "ValueError"
        outputs[way + " shape"] = tf.constant(known, name="known")
        call(tf, outputs, way + " shape tensor", getattr(b, way + "_event_shape_tensor"), of)
    return outputs


def both_ways(tf, b, x, y, parameters):
    shapes = [each.shape.as_list()[1:] if each.shape.is_fully_defined() else [2, 3] for each in (x, y)]
    least = (b.forward_min_event_ndims, b.inverse_min_event_ndims)
    outputs = facts(tf, b, *[shape[-1:] if ndims == 1 else shape for shape, ndims in zip(shapes, least)])
    for way, at in (("forward", x), ("inverse", y)):
        found = call(tf, outputs, way, getattr(b, way), at)
        gradients(tf, outputs, way, found, [at] + parameters)
        least = getattr(b, way + "_min_event_ndims")
        for ndims in range(least, (at.shape.ndims or 3) + 1):
            key = "%s jacobian %d" % (way, ndims)
            found = call(tf, outputs, key, getattr(b, way + "_log_det_jacobian"), at, ndims)
            if ndims == least:
                gradients(tf, outputs, key, found, [at] + parameters)
    # what is remembered of the way there
    call(tf, outputs, "round", lambda: b.inverse(b.forward(x)))
    return outputs


def case(name, build, x, y, kinds=USUAL):
    for kind in kinds:

        def run(tf, contrib, kind=kind):
            dtype, known, validate = KINDS[kind]
            t = Tensors(tf, dtype, known)
            b = build(contrib.distributions.bijectors, t, {"validate_args": True} if validate else {})
            parameters = [tensor for tensor in t.made if tensor.dtype.is_floating]
            t.known = True
            return {"outputs": both_ways(tf, b, t(x), t(y), parameters)}

        CASES[name + kind] = run


KNOWN = ("", " double", " validated")
FLOAT = ("", " validated")
case("AffineScalar", lambda b, t, a: b.AffineScalar(t(0.5), t(-2.0), **a), VALUES, VALUES)
case("AffineScalar shift", lambda b, t, a: b.AffineScalar(t(LOC), **a), VALUES, VALUES, FLOAT)
case("AffineScalar scale", lambda b, t, a: b.AffineScalar(scale=t(SCALE), **a), VALUES, VALUES, FLOAT)
case("AffineScalar nothing", lambda b, t, a: b.AffineScalar(**a), VALUES, VALUES, FLOAT)
case("Exp", lambda b, t, a: b.Exp(**a), VALUES, POSITIVE, KNOWN)
case("Power", lambda b, t, a: b.PowerTransform(0.5, **a), np.abs(VALUES), POSITIVE, KNOWN)
case("Power none", lambda b, t, a: b.PowerTransform(**a), VALUES, POSITIVE, FLOAT)
case("Gumbel", lambda b, t, a: b.Gumbel(t(0.3), t(1.5), **a), VALUES, UNIT)
case("Kumaraswamy", lambda b, t, a: b.Kumaraswamy(t(2.0), t(SCALE), **a), UNIT, UNIT)
case("Sigmoid", lambda b, t, a: b.Sigmoid(**a), VALUES, UNIT, KNOWN)
case("SinhArcsinh", lambda b, t, a: b.SinhArcsinh(t(0.3), t(SCALE), **a), VALUES, VALUES)
case("SinhArcsinh nothing", lambda b, t, a: b.SinhArcsinh(**a), VALUES, VALUES, FLOAT)
case("Softplus", lambda b, t, a: b.Softplus(**a), VALUES, POSITIVE, ("", " double"))
case("Softplus hinge", lambda b, t, a: b.Softplus(t(SCALE), **a), VALUES, POSITIVE)
case("Softsign", lambda b, t, a: b.Softsign(**a), VALUES, UNIT, KNOWN)
case("Square", lambda b, t, a: b.Square(**a), POSITIVE, POSITIVE, KNOWN)
case("Identity", lambda b, t, a: b.Identity(**a), VALUES, VALUES, FLOAT)

case("Affine", lambda b, t, a: b.Affine(t(LOC[0]), scale_tril=t(TRIL[0]), **a), VALUES, VALUES, KNOWN)
case("Affine identity", lambda b, t, a: b.Affine(t(LOC[0]), t(1.5), **a), VALUES, VALUES)
case("Affine nothing", lambda b, t, a: b.Affine(**a), VALUES, VALUES, FLOAT)
case("Affine shift", lambda b, t, a: b.Affine(t(LOC), **a), VALUES, VALUES, FLOAT)
case("Affine diag", lambda b, t, a: b.Affine(t(LOC[0]), scale_diag=t(SCALE), **a), VALUES, VALUES)
case("Affine both", lambda b, t, a: b.Affine(None, t(0.3), t(SCALE[0]), t(TRIL[0]), **a), VALUES, VALUES, FLOAT)
case(
    "Affine low rank",
    lambda b, t, a: b.Affine(t(LOC[0]), None, t(SCALE[0]), None, t(FACTOR[0]), **a),
    VALUES,
    VALUES,
    KNOWN,
)
case(
    "Affine perturbed",
    lambda b, t, a: b.Affine(None, t(0.9), None, None, t(FACTOR[0]), t([0.5]), **a),
    VALUES,
    VALUES,
    KNOWN,
)
case(
    "AffineLinearOperator",
    lambda b, t, a: b.AffineLinearOperator(
        t(LOC[0]), t.tf.linalg.LinearOperatorLowerTriangular(t(TRIL[0]), is_non_singular=True), **a
    ),
    VALUES,
    VALUES,
    KNOWN,
)
case("AffineLinearOperator nothing", lambda b, t, a: b.AffineLinearOperator(**a), VALUES, VALUES, FLOAT)
case("Ordered", lambda b, t, a: b.Ordered(**a), np.sort(VALUES, -1), VALUES, KNOWN)
case("Permute", lambda b, t, a: b.Permute([2, 0, 1], **a), VALUES, VALUES, KNOWN)
case("Reshape", lambda b, t, a: b.Reshape([3, 2], [6], **a), VALUES.reshape([4, 6]), VALUES.reshape([4, 3, 2]), KNOWN)
case("Reshape open", lambda b, t, a: b.Reshape([-1, 2], **a), VALUES.reshape([4, 6]), VALUES.reshape([4, 3, 2]), FLOAT)
case("SoftmaxCentered", lambda b, t, a: b.SoftmaxCentered(**a), VALUES, SIMPLEX, KNOWN)
case(
    "CholeskyOuterProduct",
    lambda b, t, a: b.CholeskyOuterProduct(**a),
    MATRICES,
    MATRICES @ MATRICES.transpose([0, 2, 1]),
    KNOWN,
)
case("FillTriangular", lambda b, t, a: b.FillTriangular(**a), VALUES.reshape([4, 6]), MATRICES, KNOWN)
case("FillTriangular upper", lambda b, t, a: b.FillTriangular(True, **a), VALUES.reshape([4, 6]), MATRICES, FLOAT)
case("MatrixInverseTriL", lambda b, t, a: b.MatrixInverseTriL(**a), MATRICES, MATRICES, FLOAT)
case("ScaleTriL", lambda b, t, a: b.ScaleTriL(**a), VALUES.reshape([4, 6]), MATRICES, ("", " double"))
case("ScaleTriL exp", lambda b, t, a: b.ScaleTriL(b.Exp(), None, **a), VALUES.reshape([4, 6]), MATRICES, FLOAT)
case("TransformDiagonal", lambda b, t, a: b.TransformDiagonal(b.Exp(), **a), MATRICES, MATRICES, KNOWN)
case("Chain", lambda b, t, a: b.Chain([b.Exp(), b.AffineScalar(t(0.5), t(2.0))], **a), VALUES, POSITIVE)
case("Chain empty", lambda b, t, a: b.Chain([], **a), VALUES, VALUES, FLOAT)
case(
    "Chain vectors",
    lambda b, t, a: b.Chain([b.Softplus(), b.Affine(scale_tril=t(TRIL[0])), b.Sigmoid()], **a),
    VALUES,
    POSITIVE,
    FLOAT,
)
case(
    "Chain shapes",
    lambda b, t, a: b.Chain([b.SoftmaxCentered(), b.Affine(t(LOC[0])), b.Exp()], **a),
    VALUES,
    np.concatenate([SIMPLEX / 2, SIMPLEX[..., :1] * 0 + 0.5], -1),
    FLOAT,
)
case("Invert", lambda b, t, a: b.Invert(b.Softplus(), **a), POSITIVE, VALUES, KNOWN)
case("Invert shapes", lambda b, t, a: b.Invert(b.FillTriangular(), **a), MATRICES, VALUES.reshape([4, 6]), FLOAT)
case(
    "Inline",
    lambda b, t, a: b.Inline(
        forward_fn=t.tf.exp,
        inverse_fn=t.tf.log,
        inverse_log_det_jacobian_fn=lambda y: -t.tf.log(y),
        forward_min_event_ndims=0,
        name="mine",
        **a,
    ),
    VALUES,
    POSITIVE,
    KNOWN,
)
case(
    "RealNVP",
    lambda b, t, a: b.RealNVP(1, lambda x, n: (x * t.tf.ones([n]), t.tf.tanh(x * t.tf.ones([n]))), **a),
    VALUES[:, 0],
    VALUES[:, 0],
    FLOAT,
)
case(
    "RealNVP shift",
    lambda b, t, a: b.RealNVP(2, lambda x, n: (x[..., :1] * t.tf.ones([n]), None), **a),
    VALUES[:, 0],
    VALUES[:, 0],
    FLOAT,
)
case(
    "MaskedAutoregressiveFlow",
    lambda b, t, a: b.MaskedAutoregressiveFlow(
        lambda x: (t.tf.cumsum(x, -1, exclusive=True), t.tf.tanh(t.tf.cumsum(x, -1, exclusive=True))), **a
    ),
    VALUES,
    VALUES,
    FLOAT,
)
case(
    "MaskedAutoregressiveFlow unrolled",
    lambda b, t, a: b.MaskedAutoregressiveFlow(
        lambda x: (t.tf.cumsum(x, -1, exclusive=True), None), unroll_loop=True, **a
    ),
    VALUES,
    VALUES,
    FLOAT,
)


def network(name, **more):
    """A case with variables: the function gives tensors, by name. ``more`` goes to the case."""

    def add(function):
        def run(tf, contrib):
            found = function(tf, contrib.distributions)
            outputs = {key: tf.identity(y, name="out_" + key) for key, y in found.items()}
            return dict(more, outputs=outputs, loss=tf.add_n([tf.reduce_sum(y) for y in outputs.values()]))

        CASES["network " + name] = run
        return function

    return add


@network("masked_dense")
def masked_dense(tf, ds):
    x = tf.constant(VALUES[:, 0])
    return {
        "first": ds.bijectors.masked_dense(x, 6, 3, exclusive=True, name="first"),
        "second": ds.bijectors.masked_dense(x, 3, 3, name="second", activation=tf.nn.relu),
    }


@network("maf")
def maf(tf, ds):
    b = ds.bijectors.MaskedAutoregressiveFlow(ds.bijectors.masked_autoregressive_default_template([6, 9]))
    d = ds.TransformedDistribution(ds.Normal(0.0, 1.0), b, event_shape=[3])
    x = tf.constant(VALUES[:, 0])
    return {"log_prob": d.log_prob(x), "inverse": b.inverse(x)}


@network("maf shift")
def maf_shift(tf, ds):
    template = ds.bijectors.masked_autoregressive_default_template(
        [4], shift_only=True, activation=tf.nn.tanh, name="mine"
    )
    b = ds.bijectors.MaskedAutoregressiveFlow(template, unroll_loop=True)
    x = tf.constant(VALUES[:, 0])
    return {"forward": b.forward(x), "inverse": b.inverse(x)}


@network("maf clipped")
def maf_clipped(tf, ds):
    template = ds.bijectors.masked_autoregressive_default_template([], log_scale_min_clip=-0.1, log_scale_max_clip=0.1)
    x = tf.constant(VALUES[:, 0])
    return dict(zip(("shift", "scale"), template(x)))


@network("real_nvp")
def real_nvp(tf, ds):
    b = ds.bijectors.RealNVP(2, ds.bijectors.real_nvp_default_template([5, 4]))
    d = ds.TransformedDistribution(ds.MultivariateNormalDiag(tf.zeros([3])), b)
    x = tf.constant(VALUES[:, 0])
    return {
        "log_prob": d.log_prob(x),
        "forward": b.forward(x),
        "jacobian": b.forward_log_det_jacobian(x, event_ndims=1),
    }


@network("real_nvp shift")
def real_nvp_shift(tf, ds):
    b = ds.bijectors.RealNVP(1, ds.bijectors.real_nvp_default_template([5], True, tf.nn.tanh, "mine"))
    return {"forward": b.forward(tf.constant(VALUES[:, 1])), "inverse": b.inverse(tf.constant(VALUES[:, 0]))}


@network("batch_normalization", gradients_first=True)  # forward reads the averages that inverse updates
def batch_normalization(tf, ds):
    b = ds.bijectors.BatchNormalization()
    x = tf.constant(VALUES[:, 0])
    return {
        "inverse": b.inverse(x),
        "ildj": b.inverse_log_det_jacobian(x, event_ndims=1),
        "forward": b.forward(tf.constant(VALUES[:, 1])),
        "fldj": b.forward_log_det_jacobian(tf.constant(VALUES[:, 1]), event_ndims=1),
    }


@network("batch_normalization inference")
def batch_normalization_inference(tf, ds):
    b = ds.bijectors.BatchNormalization(tf.layers.BatchNormalization(axis=-1, name="mine"), training=False)
    d = ds.TransformedDistribution(ds.MultivariateNormalDiag(tf.zeros([3])), b)
    return {"log_prob": d.log_prob(tf.constant(VALUES[:, 0]))}


@network("conditional")
def conditional(tf, ds):
    class Shift(ds.bijectors.ConditionalBijector):
        def __init__(self):
            super(Shift, self).__init__(forward_min_event_ndims=1, is_constant_jacobian=True, name="shift")

        def _forward(self, x, by=0.0):
            return x + by

        def _inverse(self, y, by=0.0):
            return y - by

        def _inverse_log_det_jacobian(self, y, by=0.0):
            return tf.zeros([], y.dtype) + by

        def _forward_log_det_jacobian(self, x, by=0.0):
            return tf.zeros([], x.dtype) - by

    d = ds.ConditionalTransformedDistribution(ds.MultivariateNormalDiag(tf.constant(LOC), tf.constant(SCALE)), Shift())
    x, by = tf.constant(VALUES), {"by": tf.constant(2.0)}
    return {
        "log_prob": d.log_prob(x, bijector_kwargs=by),
        "prob": d.prob(x, bijector_kwargs=by),
        "sample": d.sample([2], seed=5, bijector_kwargs=by),
        "plain": d.log_prob(x),
        "forward": Shift().forward(x, by=1.0),
        "jacobian": Shift().forward_log_det_jacobian(x, event_ndims=1, by=1.0),
    }
