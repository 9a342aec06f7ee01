"""Cases of ``tf.contrib.distributions``: name -> function of (tf, contrib); see contrib_record.py.

A case is a distribution: all that its methods give, or the kind of their error; seeded samples; gradients of the
density and of samples by the parameters. Each is made of float32 and float64 tensors of known shapes, of float32 ones
of unknown shapes, and with checks of the arguments. Runs on Python 3.7 too.
"""

import numpy as np
from contrib_record import feed

CASES = {}

STATISTICS = ("mean", "mode", "variance", "stddev", "entropy", "covariance")
DENSITIES = ("log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function")
KINDS = {"": (np.float32, True, False), " double": (np.float64, True, False), " unknown": (np.float32, False, False)}
KINDS[" validated"] = (np.float32, True, True)
USUAL = ("", " unknown", " validated")


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


def call(tf, outputs, key, function, *arguments):
    """The tensor of ``function``, or the error's kind, as the output ``key``."""
    try:
        y = function(*arguments)
    except (NotImplementedError, ValueError, TypeError) as error:
        kinds = (NotImplementedError, ValueError, TypeError)
        outputs[key] = tf.constant(next(kind.__name__ for kind in kinds if isinstance(error, kind)), name="error")
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
            outputs["%s by %d" % (key, number)] = tf.reshape(gradient, [-1], name="gradient")


def everything(tf, d, points, parameters, seeded=True, quantiles=False, omit=()):
    """All that the distribution ``d`` gives; points are of its samples' dtype.

    With ``parameters``, also gradients by these and by the points.
    """
    outputs = {}
    call(tf, outputs, "batch", d.batch_shape_tensor)
    call(tf, outputs, "event", d.event_shape_tensor)
    outputs["static"] = tf.constant(
        [shape_of(d.batch_shape), shape_of(d.event_shape), d.dtype.name, str(d.reparameterization_type)[-23:]],
        name="static",
    )
    if "name" not in omit:
        outputs["name"] = tf.constant(d.name, name="name")
    if "parameters" not in omit:
        outputs["parameters"] = tf.constant(
            sorted(key for key in d.parameters if key != "is_vector"), name="parameters"
        )
    for key in (key for key in STATISTICS if key not in omit):
        call(tf, outputs, key, getattr(d, key))
    for key in (key for key in DENSITIES if key not in omit):
        y = call(tf, outputs, key, getattr(d, key), points)
        if parameters is not None and key in ("log_prob", "cdf"):
            gradients(tf, outputs, key, y, parameters + ([points] if points.dtype.is_floating else []))
    if quantiles:
        call(tf, outputs, "quantile", lambda: d.quantile(tf.cast([0.1, 0.5, 0.9], d.dtype)[:, None, None]))
    if seeded:
        y = call(tf, outputs, "sample", lambda: d.sample([2, 3], seed=42))
        if parameters is not None and "FULLY" in str(d.reparameterization_type):
            gradients(tf, outputs, "sample", y, parameters)
        call(tf, outputs, "one sample", lambda: d.sample(seed=7))
    return outputs


def case(name, build, points, kinds=USUAL, **keywords):
    """``build(ds, t, **arguments)`` makes the distribution; ``t`` makes its tensors."""
    for kind in kinds:

        def run(tf, contrib, kind=kind):
            dtype, known, validate = KINDS[kind]
            tensors = Tensors(tf, dtype, known)
            d = build(contrib.distributions, tensors, {"validate_args": True} if validate else {})
            at = np.asarray(points, d.dtype.as_numpy_dtype)
            at = tf.constant(at) if known else tf.placeholder_with_default(at, [None] * at.ndim)
            # with checks, or without shapes, the gradients are those of the same operations
            by = [t for t in tensors.made if t.dtype == d.dtype] if known and not validate else None
            return {"outputs": everything(tf, d, at, by, **keywords)}

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
case(
    "HalfNormal",
    lambda ds, t, a: ds.HalfNormal(t(SCALE), **a),
    POSITIVE,
    quantiles=True,
    omit=("log_survival_function", "mode"),
)
case("InverseGamma", lambda ds, t, a: ds.InverseGamma(t(2 * SCALE), t(SCALE), **a), POSITIVE)
case(
    "InverseGamma strict", lambda ds, t, a: ds.InverseGamma(t(2 + SCALE), t(1.5), allow_nan_stats=False, **a), POSITIVE
)
case(
    "InverseGamma softplus",
    lambda ds, t, a: ds.InverseGammaWithSoftplusConcentrationRate(t(LOC), t(LOC + 1), **a),
    POSITIVE,
)
case("Chi2", lambda ds, t, a: ds.Chi2(t(3 * SCALE), **a), POSITIVE)
case("Chi2 abs", lambda ds, t, a: ds.Chi2WithAbsDf(t(-3 * SCALE - 1), **a), POSITIVE)
case("Kumaraswamy", lambda ds, t, a: ds.Kumaraswamy(t(SCALE), t(SCALE + 1), **a), UNIT, omit=("parameters",))
case("SinhArcsinh", lambda ds, t, a: ds.SinhArcsinh(t(LOC), t(SCALE), t(0.3), t(LOC + 1.5), **a), VALUES)
case("SinhArcsinh plain", lambda ds, t, a: ds.SinhArcsinh(t(LOC), t(SCALE), **a), VALUES, ("", " double"))
case("Binomial", lambda ds, t, a: ds.Binomial(t(12.0), logits=t(LOGITS), **a), COUNTS)
case("Binomial counts", lambda ds, t, a: ds.Binomial(t([9.0, 10.0, 11.0]), probs=t(UNIT[0]), **a), COUNTS)
case("Geometric", lambda ds, t, a: ds.Geometric(logits=t(LOGITS), **a), COUNTS, omit=("log_survival_function",))
case("Geometric probs", lambda ds, t, a: ds.Geometric(probs=t(UNIT[0]), **a), COUNTS, omit=("log_survival_function",))
case(
    "NegativeBinomial",
    lambda ds, t, a: ds.NegativeBinomial(t(2 * SCALE), logits=t(LOGITS), **a),
    COUNTS,
    omit=("cdf", "log_cdf", "survival_function", "log_survival_function"),
)
case(
    "NegativeBinomial probs",
    lambda ds, t, a: ds.NegativeBinomial(t(3.0), probs=t(UNIT[0]), **a),
    COUNTS,
    omit=("cdf", "log_cdf", "survival_function", "log_survival_function"),
)
case("NegativeBinomial one", lambda ds, t, a: ds.NegativeBinomial(t(2 * SCALE), logits=t(LOGITS), **a), COUNTS[0])
case("Poisson", lambda ds, t, a: ds.Poisson(t(3 * SCALE), **a), COUNTS)
case("Poisson log", lambda ds, t, a: ds.Poisson(log_rate=t(LOC), **a), COUNTS)
case("Deterministic", lambda ds, t, a: ds.Deterministic(t(LOC), **a), np.stack([LOC, LOC - 1, LOC + 1]))
case("Deterministic wide", lambda ds, t, a: ds.Deterministic(t(LOC), t(0.1), t(0.2), **a), np.stack([LOC, LOC + 0.1]))
case(
    "VectorDeterministic",
    lambda ds, t, a: ds.VectorDeterministic(t(LOC), **a),
    np.stack([LOC, LOC + 0.1]),
    ("", " double", " validated"),
)
case(
    "Quantized",
    lambda ds, t, a: ds.QuantizedDistribution(ds.Normal(t(LOC), t(SCALE)), -1.0, 2.0, **a),
    np.round(VALUES),
    ("", " unknown", " validated"),
)
case("Quantized open", lambda ds, t, a: ds.QuantizedDistribution(ds.Logistic(t(LOC), t(SCALE)), **a), np.round(VALUES))

# vectors
case("MVN diag", lambda ds, t, a: ds.MultivariateNormalDiag(t(LOC), t(SCALE), **a), VALUES)
case("MVN diag loc", lambda ds, t, a: ds.MultivariateNormalDiag(t(LOC), **a), VALUES, ("", " double", " validated"))
case("MVN diag scale", lambda ds, t, a: ds.MultivariateNormalDiag(scale_diag=t(SCALE[0]), **a), VALUES)
case("MVN diag vector", lambda ds, t, a: ds.MultivariateNormalDiag(t(LOC[0]), t(SCALE[0]), **a), VALUES[:, 0])
case(
    "MVN diag multiplier",
    lambda ds, t, a: ds.MultivariateNormalDiag(t(LOC[0]), None, t([0.5, 2.0]), **a),
    VALUES,
    ("", " double", " validated"),
)
case("MVN diag both", lambda ds, t, a: ds.MultivariateNormalDiag(t(LOC), t(SCALE[0]), t(0.5), **a), VALUES)
case("MVN softplus", lambda ds, t, a: ds.MultivariateNormalDiagWithSoftplusScale(t(LOC), t(LOC), **a), VALUES)
case("MVN tril", lambda ds, t, a: ds.MultivariateNormalTriL(t(LOC), t(TRIL), **a), VALUES)
case("MVN tril one", lambda ds, t, a: ds.MultivariateNormalTriL(t(LOC), t(TRIL[0]), **a), VALUES)
case("MVN tril loc", lambda ds, t, a: ds.MultivariateNormalTriL(t(LOC), **a), VALUES)
case("MVN full", lambda ds, t, a: ds.MultivariateNormalFullCovariance(t(LOC), t(FULL), **a), VALUES)
case(
    "MVN low rank",
    lambda ds, t, a: ds.MultivariateNormalDiagPlusLowRank(t(LOC), t(SCALE), None, t(FACTOR), **a),
    VALUES,
)
case(
    "MVN low rank diag",
    lambda ds, t, a: ds.MultivariateNormalDiagPlusLowRank(t(LOC), t(SCALE), t(0.3), t(FACTOR), t([[0.5], [0.7]]), **a),
    VALUES,
)
case("VectorExponential", lambda ds, t, a: ds.VectorExponentialDiag(t(LOC), t(SCALE), **a), POSITIVE + 1)
case("VectorLaplace", lambda ds, t, a: ds.VectorLaplaceDiag(t(LOC), t(SCALE), **a), VALUES, omit=("name",))
case(
    "VectorSinhArcsinh", lambda ds, t, a: ds.VectorSinhArcsinhDiag(t(LOC), t(SCALE), None, t(0.2), t(1.3), **a), VALUES
)
case("OneHot", lambda ds, t, a: ds.OneHotCategorical(logits=t(LOGITS), **a), ONE_HOT, ("", " double", " unknown"))
case(
    "OneHot float",
    lambda ds, t, a: ds.OneHotCategorical(probs=t(SIMPLEX[0]), dtype=t.tf.as_dtype(t.dtype), **a),
    ONE_HOT,
    ("", " double", " unknown"),
)
case(
    "OneHot vector",
    lambda ds, t, a: ds.OneHotCategorical(logits=t(LOGITS[0]), **a),
    ONE_HOT[:, 0],
    ("", " double", " unknown"),
)
case(
    "Relaxed",
    lambda ds, t, a: ds.RelaxedOneHotCategorical(t(0.7), logits=t(LOGITS), **a),
    SIMPLEX,
    omit=("parameters",),
)
case("ExpRelaxed", lambda ds, t, a: ds.ExpRelaxedOneHotCategorical(t(0.7), logits=t(LOGITS), **a), np.log(SIMPLEX))
case("RelaxedBernoulli", lambda ds, t, a: ds.RelaxedBernoulli(t(0.7), logits=t(LOGITS), **a), UNIT)
case("RelaxedBernoulli probs", lambda ds, t, a: ds.RelaxedBernoulli(t(0.7), probs=t(UNIT[0]), **a), UNIT)

# matrices
case("Wishart full", lambda ds, t, a: ds.WishartFull(t(5.0), t(FULL[0]), **a), FULL)
case(
    "Wishart cholesky",
    lambda ds, t, a: ds.WishartCholesky(t([4.0, 5.0]), t(TRIL), **a),
    np.stack([FULL, 2 * FULL]),
    ("", " double", " validated"),
    omit=("mean", "variance", "stddev", "mode"),
)
case("Wishart factors", lambda ds, t, a: ds.WishartCholesky(t(4.0), t(TRIL[1]), True, **a), TRIL)

# of others
case("Independent", lambda ds, t, a: ds.Independent(ds.Normal(t(LOC), t(SCALE)), **a), VALUES)
case("Independent all", lambda ds, t, a: ds.Independent(ds.Normal(t(LOC), t(SCALE)), 2, **a), VALUES)
case("Independent none", lambda ds, t, a: ds.Independent(ds.Laplace(t(LOC), t(SCALE)), 0, **a), VALUES)
case(
    "Independent vectors", lambda ds, t, a: ds.Independent(ds.MultivariateNormalDiag(t(LOC), t(SCALE)), 1, **a), VALUES
)
case(
    "BatchReshape",
    lambda ds, t, a: ds.BatchReshape(ds.Normal(t(LOC), t(SCALE)), [3, -1], **a),
    VALUES.reshape([4, 3, 2]),
)
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
        **a,
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
case("Mixture", lambda ds, t, a: mixture(ds, t, **a), VALUES, ("", " double", " validated"))
case(
    "Mixture static", lambda ds, t, a: mixture(ds, t, use_static_graph=True, **a), VALUES, ("", " double", " validated")
)
case("Mixture vectors", lambda ds, t, a: vectors(ds, t, **a), VALUES, ("", " double", " validated"))
case(
    "Mixture vectors static",
    lambda ds, t, a: vectors(ds, t, use_static_graph=True, **a),
    VALUES,
    ("", " double", " validated"),
)
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


transformed(
    "exp",
    lambda ds, t, b, a: ds.TransformedDistribution(ds.Normal(t(LOC), t(SCALE)), b.Exp(), **a),
    POSITIVE,
    quantiles=True,
)
transformed("identity", lambda ds, t, b, a: ds.TransformedDistribution(ds.Normal(t(LOC), t(SCALE)), **a), VALUES)
transformed(
    "affine",
    lambda ds, t, b, a: ds.TransformedDistribution(
        ds.Normal(t(0.0), t(1.0)), b.AffineScalar(t(1.0), t(2.0)), [2, 3], **a
    ),
    VALUES,
)
transformed(
    "event",
    lambda ds, t, b, a: ds.TransformedDistribution(
        ds.Normal(t(0.0), t(1.0)), b.Affine(t(LOC[0]), scale_tril=t(TRIL[0])), [2], [3], **a
    ),
    VALUES,
)
transformed(
    "rotated",
    lambda ds, t, b, a: ds.TransformedDistribution(
        ds.Normal(t(LOC[:, 0]), t(1.0)), b.Affine(scale_tril=t(TRIL[0])), None, [3], **a
    ),
    VALUES,
)
transformed(
    "absolute",
    lambda ds, t, b, a: ds.TransformedDistribution(ds.Normal(t(LOC), t(SCALE)), b.AbsoluteValue(), **a),
    POSITIVE,
)
transformed(
    "chain",
    lambda ds, t, b, a: ds.TransformedDistribution(
        ds.Normal(t(LOC), t(SCALE)), b.Chain([b.Softplus(), b.AffineScalar(t(0.5))]), **a
    ),
    POSITIVE,
)
transformed(
    "simplex",
    lambda ds, t, b, a: ds.TransformedDistribution(
        ds.MultivariateNormalDiag(t(LOC[:, :2]), t(SCALE[:, :2])), b.SoftmaxCentered(), **a
    ),
    SIMPLEX,
)


@only("divergences")
def divergences(tf, ds):
    def normals(a, b):
        return ds.kl_divergence(a, b)

    diag = ds.MultivariateNormalDiag(LOC, SCALE)
    tril = ds.MultivariateNormalTriL(LOC + 1, TRIL)
    other = ds.MultivariateNormalDiagWithSoftplusScale(LOC[0], SCALE[1])
    low_rank = ds.MultivariateNormalDiagPlusLowRank(LOC, SCALE, None, FACTOR)
    a, b = ds.OneHotCategorical(logits=LOGITS), ds.OneHotCategorical(probs=SIMPLEX[0].astype(np.float32))
    inner = [ds.Independent(ds.Normal(LOC + i, SCALE), 1) for i in (0.0, 0.5)]
    both = [ds.Independent(ds.Normal(LOC + i, SCALE), 2) for i in (0.0, 0.5)]
    return {
        "diag_diag": normals(diag, other),
        "diag_tril": normals(diag, tril),
        "tril_diag": normals(tril, diag),
        "tril_tril": normals(tril, ds.MultivariateNormalTriL(LOC, TRIL[1])),
        "low_rank": normals(low_rank, diag),
        "to_low_rank": normals(diag, low_rank),
        "one_hot": ds.kl_divergence(a, b),
        "independent": inner[0].kl_divergence(inner[1]),
        "independent_all": ds.kl_divergence(*both),
        "cross_entropy": diag.cross_entropy(other),
    }


@only("divergence that is not there")
def no_divergence(tf, ds):
    outputs = {}
    call(tf, outputs, "none", ds.kl_divergence, ds.Cauchy(0.0, 1.0), ds.Cauchy(0.0, 2.0))
    call(tf, outputs, "other", ds.kl_divergence, ds.MultivariateNormalDiag([0.0]), ds.Normal(0.0, 1.0))
    return outputs


@only("copies")
def copies(tf, ds):
    diag = ds.MultivariateNormalDiag(LOC, SCALE, name="mine")
    copied = diag.copy(loc=LOC + 1)
    mixture = ds.MixtureSameFamily(ds.Categorical(logits=LOGITS[0]), ds.Normal(LOC, SCALE))
    return {
        "names": tf.constant([diag.name, copied.name, type(copied).__name__]),
        "diag": copied.log_prob(VALUES),
        "logistic": ds.Logistic(LOC, SCALE).copy(scale=2.0).log_prob(VALUES),
        "mixture": mixture.copy(components_distribution=ds.Logistic(LOC, SCALE)).mean(),
        "independent": ds.Independent(ds.Normal(LOC, SCALE)).copy(reinterpreted_batch_ndims=2).log_prob(VALUES),
        "entropy": mixture_of_two(ds).entropy_lower_bound(),
    }


def mixture_of_two(ds):
    return ds.Mixture(ds.Categorical(probs=[0.3, 0.7]), [ds.Normal(0.0, 1.0), ds.Normal(1.0, 2.0)])


@only("shapes of parameters")
def parameter_shapes(tf, ds):
    outputs = {}
    for kind in (ds.Logistic, ds.Cauchy, ds.HalfNormal, ds.Chi2, ds.InverseGamma, ds.RelaxedBernoulli, ds.Poisson):
        try:
            found = str(sorted((k, v.as_list()) for k, v in kind.param_static_shapes([2, 3]).items()))
        except NotImplementedError:
            found = "NotImplementedError"
        outputs[kind.__name__] = tf.constant(found)
    return outputs


WRONG = {
    "MVN sizes": lambda tf, ds: ds.MultivariateNormalDiag(LOC, SCALE[:, :2]),
    "MVN nothing": lambda tf, ds: ds.MultivariateNormalDiag(),
    "MVN tril nothing": lambda tf, ds: ds.MultivariateNormalTriL(),
    "mixture classes": lambda tf, ds: ds.Mixture(ds.Categorical(probs=[0.3, 0.7]), [ds.Normal(0.0, 1.0)] * 3),
    "mixture no list": lambda tf, ds: ds.Mixture(ds.Categorical(probs=[0.3, 0.7]), []),
    "mixture no categorical": lambda tf, ds: ds.Mixture(ds.Normal(0.0, 1.0), [ds.Normal(0.0, 1.0)]),
    "mixture dtypes": lambda tf, ds: ds.Mixture(
        ds.Categorical(probs=[0.3, 0.7]), [ds.Normal(0.0, 1.0), ds.Normal(tf.constant(0.0, tf.float64), 1.0)]
    ),
    "family sizes": lambda tf, ds: ds.MixtureSameFamily(ds.Categorical(probs=[0.3, 0.7]), ds.Normal(LOC, SCALE)),
    "independent": lambda tf, ds: ds.Independent(ds.Normal(LOC, SCALE), 3),
    "reshape size": lambda tf, ds: ds.BatchReshape(ds.Normal(LOC, SCALE), [4, 2]),
    "both rates": lambda tf, ds: ds.Poisson(1.0, 1.0),
    "no rate": lambda tf, ds: ds.Poisson(),
    "integer rate": lambda tf, ds: ds.Poisson(1),
    "override": lambda tf, ds: ds.TransformedDistribution(ds.Normal(LOC, SCALE), ds.bijectors.Exp(), batch_shape=[2]),
    "wishart": lambda tf, ds: ds.WishartFull(2.0, FULL),
    "dtypes": lambda tf, ds: ds.Logistic(tf.constant(0.0, tf.float64), tf.constant(1.0)),
}
for key in sorted(WRONG):
    only("wrong " + key)(lambda tf, ds, key=key: {"never": WRONG[key](tf, ds).batch_shape_tensor()})


@only("statistics")
def statistics(tf, ds):
    x = tf.constant(VALUES)
    outputs = {"parzen": ds.auto_correlation(x), "lags": ds.auto_correlation(x, axis=0, max_lags=2, center=False)}
    outputs["raw"] = ds.auto_correlation(tf.cast(x, tf.float64), axis=1, normalize=False)
    for how in (None, "lower", "higher", "nearest"):
        for q in (0.0, 30.0, 50.0, 100.0):
            key = "percentile_%s_%d" % (how, q)
            outputs[key] = ds.percentile(x, q, interpolation=how)
            outputs[key + "_axis"] = ds.percentile(x, q, axis=[0, 2], interpolation=how, keep_dims=True)
            outputs[key + "_last"] = ds.percentile(x, q, axis=-1, interpolation=how, validate_args=True)
    prior = ds.Normal(tf.constant(0.5), tf.constant(2.0))
    posterior = ds.normal_conjugates_known_scale_posterior(prior, 1.5, tf.constant(3.0), 4)
    predictive = ds.normal_conjugates_known_scale_predictive(prior, 1.5, tf.constant(3.0), 4)
    for key, d in (("posterior", posterior), ("predictive", predictive)):
        outputs[key + "_loc"], outputs[key + "_scale"] = d.loc, d.scale
    stream = ds.SeedStream(7, salt="salt")
    seeds = [stream(), stream(), ds.SeedStream(stream, "other")(), stream.original_seed, ds.SeedStream(None, "salt")()]
    outputs["seeds"] = tf.constant(list(map(str, seeds)))
    return outputs


@only("moving")
def moving(tf, ds):
    with tf.variable_scope("mine"):
        mean, variance = ds.moving_mean_variance(tf.constant(LOC), 0.9)
    kept = [tf.get_variable(key, [2, 3]) for key in ("kept_mean", "kept_variance", "kept_log")]
    other = ds.assign_moving_mean_variance(kept[0], kept[1], tf.constant(SCALE), 0.8)
    log = ds.assign_log_moving_mean_exp(kept[2], tf.constant(LOC), 0.7)
    return {"mean": mean, "variance": variance, "kept_mean": other[0], "kept_variance": other[1], "log": log}


@only("quadrature")
def quadrature(tf, ds):
    loc, scale = tf.constant(LOC), tf.constant(SCALE)
    outputs = {}
    outputs["hermite"], outputs["hermite_p"] = ds.quadrature_scheme_lognormal_gauss_hermite(loc, scale, 5)
    outputs["quantiles"], outputs["quantiles_p"] = ds.quadrature_scheme_lognormal_quantiles(loc, scale, 5)
    outputs["softmax"], outputs["softmax_p"] = ds.quadrature_scheme_softmaxnormal_quantiles(loc[:, :1], scale[:, :1], 4)
    d = ds.PoissonLogNormalQuadratureCompound(loc, scale, 6)
    counts = tf.constant(COUNTS, tf.float32)
    for key, part in (
        ("plain", d),
        (
            "points",
            ds.PoissonLogNormalQuadratureCompound(
                loc, scale, quadrature_fn=ds.quadrature_scheme_lognormal_gauss_hermite
            ),
        ),
    ):
        outputs["poisson_" + key] = part.log_prob(counts)
        outputs["poisson_mean_" + key], outputs["poisson_variance_" + key] = part.mean(), part.variance()
        outputs["poisson_stddev_" + key], outputs["poisson_sample_" + key] = part.stddev(), part.sample(4, seed=3)
    return outputs


@only("diffeomixture")
def diffeomixture(tf, ds):
    operators = [
        tf.linalg.LinearOperatorScaledIdentity(3, np.float32(1.1), is_positive_definite=True),
        tf.linalg.LinearOperatorDiag(SCALE[0], is_non_singular=True, is_positive_definite=True),
    ]
    d = ds.VectorDiffeomixture([[0.0], [1.0]], [0.8], ds.Normal(0.0, 1.0), [None, LOC[0]], operators, 6)
    outputs = {"log_prob": d.log_prob(VALUES), "mean": d.mean(), "variance": d.variance(), "grid": d.grid}
    outputs.update(covariance=d.covariance(), sample=d.sample([2], seed=3), prob=d.prob(VALUES[0]))
    outputs["static"] = tf.constant([shape_of(d.batch_shape), shape_of(d.event_shape)])
    return outputs


@only("head")
def head(tf, ds):
    def from_logits(logits):
        return ds.Logistic(logits[..., 0], tf.nn.softplus(logits[..., 1]) + 0.1)

    head = ds.estimator_head_distribution_regression(from_logits, logits_dimension=2)
    outputs = {}
    logits, labels = tf.constant(LOC[:, :2]), tf.constant([[1.0], [2.0]])
    for mode in ("train", "infer"):
        ops = head.create_model_fn_ops({}, mode, None if mode == "infer" else labels, tf.identity, logits)
        outputs[mode + "_scores"] = ops.predictions["scores"]
        if mode == "train":
            outputs["loss"] = ops.loss
    outputs["dimension"] = tf.constant(head.logits_dimension)
    return outputs
