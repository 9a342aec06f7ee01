"""``tf.contrib.distributions``: those that TensorFlow still has, and the others anew.

Files::

    common.py                    the base class for scalars, and helpers
    bijectors/                   contrib.distributions.bijectors
    transformed_distribution.py  TransformedDistribution, and the conditional ones
    mvn_linear_operator.py       normal and other vectors, scaled by a linear operator
    distribution_util.py         makes the operators of the arguments
    continuous.py                continuous scalars
    discrete.py                  counts
    deterministic.py             what is always the same
    onehot.py                    one-hot vectors, and relaxed ones
    wishart.py                   matrices
    wrappers.py                  distributions that change another one's shapes or values
    mixture.py                   mixtures
    quadrature.py                compounds of a grid of points
    divergences.py               registers the divergences
    estimator.py                 a head of contrib.learn
    statistics.py                percentiles, moving averages, a normal prior
"""

import importlib as _importlib
import sys as _sys
from typing import Any

from ...runtime import private as _private
from ...runtime import tf1 as _tf
from . import bijectors
from . import divergences as _divergences  # noqa: F401 - registers them
from .continuous import (
    Cauchy,
    Chi2,
    Chi2WithAbsDf,
    HalfNormal,
    InverseGamma,
    InverseGammaWithSoftplusConcentrationRate,
    Kumaraswamy,
    Logistic,
)
from .deterministic import Deterministic, VectorDeterministic
from .discrete import Binomial, Geometric, NegativeBinomial, Poisson
from .estimator import estimator_head_distribution_regression
from .mixture import Mixture, MixtureSameFamily
from .mvn_linear_operator import (
    MultivariateNormalDiag,
    MultivariateNormalDiagPlusLowRank,
    MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance,
    MultivariateNormalTriL,
    VectorExponentialDiag,
    VectorLaplaceDiag,
)
from .onehot import ExpRelaxedOneHotCategorical, OneHotCategorical, RelaxedBernoulli, RelaxedOneHotCategorical
from .quadrature import (
    PoissonLogNormalQuadratureCompound,
    VectorDiffeomixture,
    quadrature_scheme_lognormal_gauss_hermite,
    quadrature_scheme_lognormal_quantiles,
    quadrature_scheme_softmaxnormal_gauss_hermite,
    quadrature_scheme_softmaxnormal_quantiles,
)
from .statistics import (
    SeedStream,
    assign_log_moving_mean_exp,
    assign_moving_mean_variance,
    auto_correlation,
    moving_mean_variance,
    normal_conjugates_known_scale_posterior,
    normal_conjugates_known_scale_predictive,
    percentile,
)
from .transformed_distribution import (
    ConditionalDistribution,
    ConditionalTransformedDistribution,
    TransformedDistribution,
)
from .wishart import WishartCholesky, WishartFull
from .wrappers import (
    Autoregressive,
    BatchReshape,
    Independent,
    QuantizedDistribution,
    SinhArcsinh,
    VectorSinhArcsinhDiag,
)

__all__ = [
    "FULLY_REPARAMETERIZED",
    "NOT_REPARAMETERIZED",
    "Autoregressive",
    "BatchReshape",
    "Bernoulli",
    "Beta",
    "BetaWithSoftplusConcentration",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Chi2WithAbsDf",
    "ConditionalDistribution",
    "ConditionalTransformedDistribution",
    "Deterministic",
    "Dirichlet",
    "DirichletMultinomial",
    "Distribution",
    "ExpRelaxedOneHotCategorical",
    "Exponential",
    "ExponentialWithSoftplusRate",
    "Gamma",
    "GammaWithSoftplusConcentrationRate",
    "Geometric",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "InverseGammaWithSoftplusConcentrationRate",
    "Kumaraswamy",
    "Laplace",
    "LaplaceWithSoftplusScale",
    "Logistic",
    "Mixture",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormalDiag",
    "MultivariateNormalDiagPlusLowRank",
    "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance",
    "MultivariateNormalTriL",
    "NegativeBinomial",
    "Normal",
    "NormalWithSoftplusScale",
    "OneHotCategorical",
    "Poisson",
    "PoissonLogNormalQuadratureCompound",
    "QuantizedDistribution",
    "RegisterKL",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReparameterizationType",
    "SeedStream",
    "SinhArcsinh",
    "StudentT",
    "StudentTWithAbsDfSoftplusScale",
    "TransformedDistribution",
    "Uniform",
    "VectorDeterministic",
    "VectorDiffeomixture",
    "VectorExponentialDiag",
    "VectorLaplaceDiag",
    "VectorSinhArcsinhDiag",
    "WishartCholesky",
    "WishartFull",
    "assign_log_moving_mean_exp",
    "assign_moving_mean_variance",
    "auto_correlation",
    "bijectors",
    "estimator_head_distribution_regression",
    "fill_triangular",
    "fill_triangular_inverse",
    "kl_divergence",
    "matrix_diag_transform",
    "moving_mean_variance",
    "normal_conjugates_known_scale_posterior",
    "normal_conjugates_known_scale_predictive",
    "percentile",
    "quadrature_scheme_lognormal_gauss_hermite",
    "quadrature_scheme_lognormal_quantiles",
    "quadrature_scheme_softmaxnormal_gauss_hermite",
    "quadrature_scheme_softmaxnormal_quantiles",
    "reduce_weighted_logsumexp",
    "softplus_inverse",
    "tridiag",
]

_distributions: Any = _tf.distributions
_util: Any = _private.distributions_util

Bernoulli: Any = _distributions.Bernoulli
Beta: Any = _distributions.Beta
Categorical: Any = _distributions.Categorical
Dirichlet: Any = _distributions.Dirichlet
DirichletMultinomial: Any = _distributions.DirichletMultinomial
Distribution: Any = _distributions.Distribution
Exponential: Any = _distributions.Exponential
FULLY_REPARAMETERIZED: Any = _distributions.FULLY_REPARAMETERIZED
Gamma: Any = _distributions.Gamma
Laplace: Any = _distributions.Laplace
Multinomial: Any = _distributions.Multinomial
NOT_REPARAMETERIZED: Any = _distributions.NOT_REPARAMETERIZED
Normal: Any = _distributions.Normal
RegisterKL: Any = _distributions.RegisterKL
ReparameterizationType: Any = _distributions.ReparameterizationType
StudentT: Any = _distributions.StudentT
Uniform: Any = _distributions.Uniform
kl_divergence: Any = _distributions.kl_divergence


def _beside(known: Any, name: str) -> Any:
    """Return what TensorFlow keeps in the module of ``known`` without exporting it."""
    return getattr(_sys.modules[known.__module__], name)


BetaWithSoftplusConcentration: Any = _beside(Beta, "BetaWithSoftplusConcentration")
ExponentialWithSoftplusRate: Any = _beside(Exponential, "ExponentialWithSoftplusRate")
GammaWithSoftplusConcentrationRate: Any = _beside(Gamma, "GammaWithSoftplusConcentrationRate")
LaplaceWithSoftplusScale: Any = _beside(Laplace, "LaplaceWithSoftplusScale")
NormalWithSoftplusScale: Any = _beside(Normal, "NormalWithSoftplusScale")
StudentTWithAbsDfSoftplusScale: Any = _beside(StudentT, "StudentTWithAbsDfSoftplusScale")
fill_triangular: Any = _util.fill_triangular
fill_triangular_inverse: Any = _util.fill_triangular_inverse
matrix_diag_transform: Any = _util.matrix_diag_transform
reduce_weighted_logsumexp: Any = _util.reduce_weighted_logsumexp
softplus_inverse: Any = _util.softplus_inverse
tridiag: Any = _util.tridiag

# what 1.15 had at the addresses of their files alone -> our file, and the name in it
_BY_ADDRESS = {
    "MultivariateNormalLinearOperator": ("mvn_linear_operator", "MultivariateNormalLinearOperator"),
    "VectorExponentialLinearOperator": ("mvn_linear_operator", "VectorExponentialLinearOperator"),
    "VectorLaplaceLinearOperator": ("mvn_linear_operator", "VectorLaplaceLinearOperator"),
    "_Gumbel": ("continuous", "Gumbel"),
    "_VectorStudentT": ("mvn_linear_operator", "VectorStudentT"),
    "_WishartLinearOperator": ("wishart", "WishartLinearOperator"),
}


def __getattr__(name: str) -> Any:
    if name not in _BY_ADDRESS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file, own = _BY_ADDRESS[name]
    return getattr(_importlib.import_module(f"{__name__}.{file}"), own)
