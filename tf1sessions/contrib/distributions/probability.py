"""Names of ``tf.contrib.distributions`` that live on in the package tensorflow-probability, where it is installed."""

from __future__ import annotations

import sys
from typing import Any

from ...errors import MissingSymbolError

__all__ = ["lookup"]

_INSTALL = "It is in tensorflow-probability: run `pip install tensorflow-probability[tf]`."
# what has another name or place there
_MOVED = {
    "WishartCholesky": "distributions.WishartTriL",
    "WishartFull": "distributions.WishartLinearOperator",
    "SeedStream": "util.SeedStream",
    "auto_correlation": "stats.auto_correlation",
    "fill_triangular_inverse": "math.fill_triangular_inverse",
    "percentile": "stats.percentile",
    "quadrature_scheme_lognormal_gauss_hermite": "distributions.quadrature_scheme_lognormal_gauss_hermite",
    "Affine": "bijectors.Affine",
    "Gumbel": "bijectors.GumbelCDF",
    "Kumaraswamy": "bijectors.KumaraswamyCDF",
    "Ordered": "bijectors.Ascending",
    "masked_dense": "bijectors.masked_dense",
}


def lookup(module: str, name: str) -> Any:
    """``name`` of tensorflow-probability's ``module``, "distributions" or "bijectors".

    Raises:
        MissingSymbolError: It is not installed, or has no such name.
    """
    symbol = (
        f"tf.contrib.distributions.{name}" if module == "distributions" else f"tf.contrib.distributions.{module}.{name}"
    )
    line = sys._getframe(2)
    where = f"{line.f_code.co_filename}:{line.f_lineno}"
    try:
        import tensorflow_probability as found  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise MissingSymbolError(
            f"{symbol} is not available", where=where, next_step=_INSTALL, name=name, symbol=symbol
        ) from error
    path = _MOVED.get(name, "")
    path = path if path.startswith(module) or (module == "distributions" and path) else f"{module}.{name}"
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise MissingSymbolError(
            f"{symbol} is not available",
            where=where,
            next_step="tensorflow-probability has nothing of this name either.",
            name=name,
            symbol=symbol,
        )
    return found
