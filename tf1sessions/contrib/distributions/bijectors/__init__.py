"""``tf.contrib.distributions.bijectors``: invertible maps, with the logarithms of their Jacobians' determinants.

Files::

    base.py         the base class, and ConditionalBijector
    affine.py       affine maps of vectors
    compose.py      Chain, Inline, Invert, ScaleTriL
    elementwise.py  maps of each element by itself
    flows.py        masked autoregressive flows, RealNVP, BatchNormalization
    matrices.py     maps of matrices, and of vectors to triangles
    vectors.py      Ordered, Permute, Reshape, SoftmaxCentered
    weibull.py      Weibull's own address
"""

from . import weibull
from .affine import Affine, AffineLinearOperator
from .base import Bijector, ConditionalBijector, Identity
from .compose import Chain, Inline, Invert, ScaleTriL
from .elementwise import (
    AbsoluteValue,
    AffineScalar,
    Exp,
    Gumbel,
    Kumaraswamy,
    PowerTransform,
    Sigmoid,
    SinhArcsinh,
    Softplus,
    Softsign,
    Square,
)
from .flows import (
    BatchNormalization,
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
)
from .matrices import CholeskyOuterProduct, FillTriangular, MatrixInverseTriL, TransformDiagonal
from .vectors import Ordered, Permute, Reshape, SoftmaxCentered

__all__ = [
    "AbsoluteValue",
    "Affine",
    "AffineLinearOperator",
    "AffineScalar",
    "BatchNormalization",
    "Bijector",
    "Chain",
    "CholeskyOuterProduct",
    "ConditionalBijector",
    "Exp",
    "FillTriangular",
    "Gumbel",
    "Identity",
    "Inline",
    "Invert",
    "Kumaraswamy",
    "MaskedAutoregressiveFlow",
    "MatrixInverseTriL",
    "Ordered",
    "Permute",
    "PowerTransform",
    "RealNVP",
    "Reshape",
    "ScaleTriL",
    "Sigmoid",
    "SinhArcsinh",
    "SoftmaxCentered",
    "Softplus",
    "Softsign",
    "Square",
    "TransformDiagonal",
    "masked_autoregressive_default_template",
    "masked_dense",
    "real_nvp_default_template",
    "weibull",
]
