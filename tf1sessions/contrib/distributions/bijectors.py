"""``tf.contrib.distributions.bijectors``: those of tensorflow-probability, where it is installed."""

from __future__ import annotations

from typing import Any

from .probability import lookup

_NAMES = frozenset(
    (
        "AbsoluteValue Affine AffineLinearOperator AffineScalar BatchNormalization Bijector Chain CholeskyOuterProduct "
        "ConditionalBijector Exp FillTriangular Gumbel Identity Inline Invert Kumaraswamy MaskedAutoregressiveFlow "
        "MatrixInverseTriL Ordered Permute PowerTransform RealNVP Reshape ScaleTriL Sigmoid SinhArcsinh "
        "SoftmaxCentered Softplus Softsign Square TransformDiagonal masked_autoregressive_default_template "
        "masked_dense real_nvp_default_template"
    ).split()
)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return lookup("bijectors", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
