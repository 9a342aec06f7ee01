"""Cases of ``tf.contrib.distributions``: name -> function of (tf, contrib); see contrib_record.py. Runs on Python 3.7 too.

A case is a distribution: all that its methods give, or the kind of their error; seeded samples; gradients of the density
and of samples by the parameters. Each is made of float32 and float64 tensors of known shapes, of float32 ones of unknown
shapes, and with checks of the arguments.
"""

import numpy as np
from contrib_record import feed

CASES = {}

STATISTICS = ("mean", "mode", "variance", "stddev", "entropy", "covariance")
DENSITIES = ("log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function")
KINDS = {"": (np.float32, True, False), " double": (np.float64, True, False), " unknown": (np.float32, False, False)}
KINDS[" validated"] = (np.float32, True, True)


class Tensors:
    """Makes the tensors of a case, and remembers them for gradients."""

    def __init__(self, tf, dtype, known):
        self.tf, self.dtype, self.known, self.made = tf, dtype, known, []

    def __call__(self, value):
        value = np.asarray(value, self.dtype)
        if self.known:
            made = self.tf.constant(value)
        else:
            made = self.tf.placeholder_with_default(value, [None] * value.ndim)
        self.made.append(made)
        return made


def shape_of(shape):
    return str(shape.as_list()) if shape.ndims is not None else "?"


def call(tf, outputs, key, function):
    """The tensor of ``function``, or the error's kind, as the output ``key``."""
    try:
        y = function()
    except (NotImplementedError, ValueError, TypeError) as error:
        kinds = (NotImplementedError, ValueError, TypeError)
        outputs[key] = tf.constant(next(kind.__name__ for kind in kinds if isinstance(error, kind)))
        return None
    y = tf.convert_to_tensor(y)
    outputs[key] = tf.identity(y, name=key.replace(" ", "_"))
    return y


def gradients(tf, outputs, key, y, parameters):
    if y is None or not y.dtype.is_floating or not parameters:
        return
    y = tf.where(tf.is_finite(y), y, tf.zeros_like(y))
    for number, gradient in enumerate(tf.gradients(tf.reduce_sum(y), parameters)):
        if gradient is not None:
            outputs["%s by %d" % (key, number)] = gradient


def everything(tf, d, points, parameters, seeded=True, quantiles=False):
    """All that the distribution ``d`` gives; points are of its samples' dtype."""
    outputs = {}
    call(tf, outputs, "batch", d.batch_shape_tensor)
    call(tf, outputs, "event", d.event_shape_tensor)
    outputs["static"] = tf.constant(
        [shape_of(d.batch_shape), shape_of(d.event_shape), d.dtype.name, str(d.reparameterization_type)[-23:], d.name]
    )
    outputs["parameters"] = tf.constant(sorted(key for key in d.parameters if key != "is_vector"))
    for key in STATISTICS:
        call(tf, outputs, key, getattr(d, key))
    for key in DENSITIES:
        y = call(tf, outputs, key, lambda: getattr(d, key)(points))
        if key in ("log_prob", "cdf"):
            gradients(tf, outputs, key, y, parameters + ([points] if points.dtype.is_floating else []))
    if quantiles:
        call(tf, outputs, "quantile", lambda: d.quantile(tf.cast([0.1, 0.5, 0.9], d.dtype)[:, None, None]))
    if seeded:
        y = call(tf, outputs, "sample", lambda: d.sample([2, 3], seed=42))
        if "FULLY" in str(d.reparameterization_type):
            gradients(tf, outputs, "sample", y, parameters)
        call(tf, outputs, "one sample", lambda: d.sample(seed=7))
    return outputs


def case(name, build, points, kinds=tuple(KINDS), **keywords):
    """``build(ds, t, **arguments)`` makes the distribution; ``t`` makes its tensors."""
    for kind in kinds:

        def run(tf, contrib, kind=kind):
            dtype, known, validate = KINDS[kind]
            tensors = Tensors(tf, dtype, known)
            d = build(contrib.distributions, tensors, {"validate_args": True} if validate else {})
            at = np.asarray(points, d.dtype.as_numpy_dtype)
            at = tf.constant(at) if known else tf.placeholder_with_default(at, [None] * at.ndim)
            return {"outputs": everything(tf, d, at, [t for t in tensors.made if t.dtype == d.dtype], **keywords)}

        CASES[name + kind] = run


def only(name):
    def add(function):
        def run(tf, contrib):
            found = function(tf, contrib.distributions)
            return {"outputs": {k: tf.identity(tf.convert_to_tensor(y), name="out_" + k) for k, y in found.items()}}

        CASES[name] = run
        return function

    return add


LOC = feed([2, 3], 1)
SCALE = feed([2, 3], 2, 0.5, 2.0)
VALUES = feed([4, 2, 3], 3, -3.0, 3.0)
POSITIVE = np.abs(VALUES) + np.float32(0.1)
COUNTS = np.random.RandomState(4).poisson(2.0, [4, 2, 3])
LOGITS = feed([2, 3], 5, -2.0, 2.0)
TRIL = np.tril(feed([2, 3, 3], 6)) + 1.5 * np.eye(3, dtype=np.float32)
FULL = np.matmul(TRIL, TRIL.transpose([0, 2, 1]))
FACTOR = feed([2, 3, 1], 7, 0.1, 1.0)
UNIT = feed([4, 2, 3], 8, 0.05, 0.95)
ONE_HOT = np.eye(3)[np.random.RandomState(9).randint(0, 3, [4, 2])]
SIMPLEX = np.exp(VALUES) / np.exp(VALUES).sum(-1, keepdims=True)

# scalars
case("Cauchy", lambda ds, t, a: ds.Cauchy(t(LOC), t(SCALE), **a), VALUES, quantiles=True)
case("Cauchy strict", lambda ds, t, a: ds.Cauchy(t(0.0), t(SCALE), allow_nan_stats=False, **a), VALUES)
case("Logistic", lambda ds, t, a: ds.Logistic(t(LOC), t(SCALE), **a), VALUES)
case("Logistic broadcast", lambda ds, t, a: ds.Logistic(t(LOC), t(0.7), **a), VALUES)
case("HalfNormal", lambda ds, t, a: ds.HalfNormal(t(SCALE), **a), POSITIVE, quantiles=True)
case("InverseGamma", lambda ds, t, a: ds.InverseGamma(t(2 * SCALE), t(SCALE), **a), POSITIVE)
case("InverseGamma strict", lambda ds, t, a: ds.InverseGamma(t(2 + SCALE), t(1.5), allow_nan_stats=False, **a), POSITIVE)
case(
    "InverseGamma softplus",
    lambda ds, t, a: ds.InverseGammaWithSoftplusConcentrationRate(t(LOC), t(LOC + 1), **a),
    POSITIVE,
)
case("Chi2", lambda ds, t, a: ds.Chi2(t(3 * SCALE), **a), POSITIVE)
case("Chi2 abs", lambda ds, t, a: ds.Chi2WithAbsDf(t(-3 * SCALE - 1), **a), POSITIVE)
case("Kumaraswamy", lambda ds, t, a: ds.Kumaraswamy(t(SCALE), t(SCALE + 1), **a), UNIT)
case("SinhArcsinh", lambda ds, t, a: ds.SinhArcsinh(t(LOC), t(SCALE), t(0.3), t(LOC + 1.5), **a), VALUES)
case("SinhArcsinh plain", lambda ds, t, a: ds.SinhArcsinh(t(LOC), t(SCALE), **a), VALUES, ("", " double"))
case("Binomial", lambda ds, t, a: ds.Binomial(t(12.0), logits=t(LOGITS), **a), COUNTS)
case("Binomial counts", lambda ds, t, a: ds.Binomial(t([9.0, 10.0, 11.0]), probs=t(UNIT[0]), **a), COUNTS)
case("Geometric", lambda ds, t, a: ds.Geometric(logits=t(LOGITS), **a), COUNTS)
case("Geometric probs", lambda ds, t, a: ds.Geometric(probs=t(UNIT[0]), **a), COUNTS)
case("NegativeBinomial", lambda ds, t, a: ds.NegativeBinomial(t(2 * SCALE), logits=t(LOGITS), **a), COUNTS)
case("NegativeBinomial probs", lambda ds, t, a: ds.NegativeBinomial(t(3.0), probs=t(UNIT[0]), **a), COUNTS)
case("Poisson", lambda ds, t, a: ds.Poisson(t(3 * SCALE), **a), COUNTS)
case("Poisson log", lambda ds, t, a: ds.Poisson(log_rate=t(LOC), **a), COUNTS)
case("Deterministic", lambda ds, t, a: ds.Deterministic(t(LOC), **a), np.stack([LOC, LOC - 1, LOC + 1]))
case("Deterministic wide", lambda ds, t, a: ds.Deterministic(t(LOC), t(0.1), t(0.2), **a), np.stack([LOC, LOC + 0.1]))
case("VectorDeterministic", lambda ds, t, a: ds.VectorDeterministic(t(LOC), **a), np.stack([LOC, LOC + 0.1]))
case("Quantized", lambda ds, t, a: ds.QuantizedDistribution(ds.Normal(t(LOC), t(SCALE)), -1.0, 2.0, **a), np.round(VALUES))
case("Quantized open", lambda ds, t, a: ds.QuantizedDistribution(ds.Logistic(t(LOC), t(SCALE)), **a), np.round(VALUES))

# vectors
case("MVN diag", lambda ds, t, a: ds.MultivariateNormalDiag(t(LOC), t(SCALE), **a), VALUES)
case("MVN diag loc", lambda ds, t, a: ds.MultivariateNormalDiag(t(LOC), **a), VALUES)
case("MVN diag scale", lambda ds, t, a: ds.MultivariateNormalDiag(scale_diag=t(SCALE[0]), **a), VALUES)
case("MVN diag vector", lambda ds, t, a: ds.MultivariateNormalDiag(t(LOC[0]), t(SCALE[0]), **a), VALUES[:, 0])
case("MVN diag multiplier", lambda ds, t, a: ds.MultivariateNormalDiag(t(LOC[0]), None, t([0.5, 2.0]), **a), VALUES)
case("MVN diag both", lambda ds, t, a: ds.MultivariateNormalDiag(t(LOC), t(SCALE[0]), t(0.5), **a), VALUES)
case("MVN softplus", lambda ds, t, a: ds.MultivariateNormalDiagWithSoftplusScale(t(LOC), t(LOC), **a), VALUES)
case("MVN tril", lambda ds, t, a: ds.MultivariateNormalTriL(t(LOC), t(TRIL), **a), VALUES)
case("MVN tril one", lambda ds, t, a: ds.MultivariateNormalTriL(t(LOC), t(TRIL[0]), **a), VALUES)
case("MVN tril loc", lambda ds, t, a: ds.MultivariateNormalTriL(t(LOC), **a), VALUES)
case("MVN full", lambda ds, t, a: ds.MultivariateNormalFullCovariance(t(LOC), t(FULL), **a), VALUES)
case("MVN low rank", lambda ds, t, a: ds.MultivariateNormalDiagPlusLowRank(t(LOC), t(SCALE), None, t(FACTOR), **a), VALUES)
case(
    "MVN low rank diag",
    lambda ds, t, a: ds.MultivariateNormalDiagPlusLowRank(t(LOC), t(SCALE), t(0.3), t(FACTOR), t([[0.5], [0.7]]), **a),
    VALUES,
)
case("VectorExponential", lambda ds, t, a: ds.VectorExponentialDiag(t(LOC), t(SCALE), **a), POSITIVE + 1)
case("VectorLaplace", lambda ds, t, a: ds.VectorLaplaceDiag(t(LOC), t(SCALE), **a), VALUES)
case("VectorSinhArcsinh", lambda ds, t, a: ds.VectorSinhArcsinhDiag(t(LOC), t(SCALE), None, t(0.2), t(1.3), **a), VALUES)
case("OneHot", lambda ds, t, a: ds.OneHotCategorical(logits=t(LOGITS), **a), ONE_HOT)
case("OneHot float", lambda ds, t, a: ds.OneHotCategorical(probs=t(SIMPLEX[0]), dtype=t.tf.as_dtype(t.dtype), **a), ONE_HOT)
case("OneHot vector", lambda ds, t, a: ds.OneHotCategorical(logits=t(LOGITS[0]), **a), ONE_HOT[:, 0])
case("Relaxed", lambda ds, t, a: ds.RelaxedOneHotCategorical(t(0.7), logits=t(LOGITS), **a), SIMPLEX)
case("Relaxed each", lambda ds, t, a: ds.RelaxedOneHotCategorical(t([0.5, 2.0]), probs=t(SIMPLEX[0]), **a), SIMPLEX)
case("ExpRelaxed", lambda ds, t, a: ds.ExpRelaxedOneHotCategorical(t(0.7), logits=t(LOGITS), **a), np.log(SIMPLEX))
case("RelaxedBernoulli", lambda ds, t, a: ds.RelaxedBernoulli(t(0.7), logits=t(LOGITS), **a), UNIT)
case("RelaxedBernoulli probs", lambda ds, t, a: ds.RelaxedBernoulli(t(0.7), probs=t(UNIT[0]), **a), UNIT)

# matrices
case("Wishart full", lambda ds, t, a: ds.WishartFull(t(5.0), t(FULL[0]), **a), FULL)
case("Wishart cholesky", lambda ds, t, a: ds.WishartCholesky(t([4.0, 5.0]), t(TRIL), **a), np.stack([FULL, 2 * FULL]))
case("Wishart factors", lambda ds, t, a: ds.WishartCholesky(t(4.0), t(TRIL[1]), True, **a), TRIL)

# of others
case("Independent", lambda ds, t, a: ds.Independent(ds.Normal(t(LOC), t(SCALE)), **a), VALUES)
case("Independent all", lambda ds, t, a: ds.Independent(ds.Normal(t(LOC), t(SCALE)), 2, **a), VALUES)
case("Independent none", lambda ds, t, a: ds.Independent(ds.Laplace(t(LOC), t(SCALE)), 0, **a), VALUES)
case("Independent vectors", lambda ds, t, a: ds.Independent(ds.MultivariateNormalDiag(t(LOC), t(SCALE)), 1, **a), VALUES)
case("BatchReshape", lambda ds, t, a: ds.BatchReshape(ds.Normal(t(LOC), t(SCALE)), [3, -1], **a), VALUES.reshape([4, 3, 2]))
case(
    "BatchReshape vectors",
    lambda ds, t, a: ds.BatchReshape(ds.MultivariateNormalDiag(t(LOC), t(SCALE)), [2, 1], **a),
    VALUES[:, :, None],
)
case(
    "Autoregressive",
    lambda ds, t, a: ds.Autoregressive(
        lambda x: ds.Independent(ds.Normal(0.5 * x[..., ::-1] + t.made[0], 1.0 + t.made[0] * 0), 1),
        sample0=t(LOC) * 0,
        num_steps=2,
        **a
    ),
    VALUES,
    ("", " validated"),
)


def mixture(ds, t, **a):
    parts = [ds.Normal(t(LOC), t(SCALE)), ds.Normal(t(LOC + 1), t(0.5 * SCALE)), ds.Normal(t(LOC * 0), t(2 * SCALE))]
    return ds.Mixture(ds.Categorical(logits=t(np.stack([LOGITS, LOC, SCALE], -1))), parts, **a)


def vectors(ds, t, **a):
    parts = [ds.MultivariateNormalDiag(t(LOC), t(SCALE)), ds.MultivariateNormalDiag(t(LOC + 1), t(0.5 * SCALE))]
    return ds.Mixture(ds.Categorical(probs=t([[0.2, 0.8], [0.6, 0.4]])), parts, **a)


CHECKLESS = ("", " double", " unknown")  # with checks, 1.15.5 fails by an AttributeError of its own
case("Mixture", lambda ds, t, a: mixture(ds, t, **a), VALUES)
case("Mixture static", lambda ds, t, a: mixture(ds, t, use_static_graph=True, **a), VALUES)
case("Mixture vectors", lambda ds, t, a: vectors(ds, t, **a), VALUES)
case("Mixture vectors static", lambda ds, t, a: vectors(ds, t, use_static_graph=True, **a), VALUES)
case(
    "MixtureSameFamily",
    lambda ds, t, a: ds.MixtureSameFamily(ds.Categorical(logits=t(LOGITS[0])), ds.Normal(t(LOC), t(SCALE)), **a),
    VALUES[:, :, 0],
    CHECKLESS,
    seeded=False,
)
case(
    "MixtureSameFamily vectors",
    lambda ds, t, a: ds.MixtureSameFamily(
        ds.Categorical(logits=t(LOGITS[0, :2])), ds.MultivariateNormalDiag(t(LOC), t(SCALE)), **a
    ),
    VALUES[:, 0],
    CHECKLESS,
    seeded=False,
)


def transformed(name, build, points, **keywords):
    case("Transformed " + name, lambda ds, t, a: build(ds, t, ds.bijectors, a), points, **keywords)


transformed("exp", lambda ds, t, b, a: ds.TransformedDistribution(ds.Normal(t(LOC), t(SCALE)), b.Exp(), **a), POSITIVE, quantiles=True)
transformed("identity", lambda ds, t, b, a: ds.TransformedDistribution(ds.Normal(t(LOC), t(SCALE)), **a), VALUES)
transformed(
    "affine", lambda ds, t, b, a: ds.TransformedDistribution(ds.Normal(t(0.0), t(1.0)), b.AffineScalar(t(1.0), t(2.0)), [2, 3], **a), VALUES
)
transformed(
    "event",
    lambda ds, t, b, a: ds.TransformedDistribution(ds.Normal(t(0.0), t(1.0)), b.Affine(t(LOC[0]), scale_tril=t(TRIL[0])), [2], [3], **a),
    VALUES,
)
transformed(
    "rotated",
    lambda ds, t, b, a: ds.TransformedDistribution(ds.Normal(t(LOC[:, 0]), t(1.0)), b.Affine(scale_tril=t(TRIL[0])), None, [3], **a),
    VALUES,
)
transformed("absolute", lambda ds, t, b, a: ds.TransformedDistribution(ds.Normal(t(LOC), t(SCALE)), b.AbsoluteValue(), **a), POSITIVE)
transformed(
    "chain", lambda ds, t, b, a: ds.TransformedDistribution(ds.Normal(t(LOC), t(SCALE)), b.Chain([b.Softplus(), b.AffineScalar(t(0.5))]), **a), POSITIVE
)
transformed(
    "simplex",
    lambda ds, t, b, a: ds.TransformedDistribution(ds.MultivariateNormalDiag(t(LOC[:, :2]), t(SCALE[:, :2])), b.SoftmaxCentered(), **a),
    SIMPLEX,
)
